// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Safe text output to terminals.
#include "cli.h"

#include <string.h>

enum { NAMES = 8, NAME_BYTES = 1024 };

const char *cli_plain(const char *name)
{
    static char text[NAMES][NAME_BYTES];
    static int next;
    size_t needed = perp_text_escape(name, text[next], NAME_BYTES);
    if (needed == strlen(name)) {
        return name;  // nothing to escape: returned as is, whatever its length
    }
    const char *out = text[next];
    next = (next + 1) % NAMES;
    return out;
}
