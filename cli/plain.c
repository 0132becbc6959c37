// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Safe text output to terminals, and signal handling.
#include "cli.h"

#include <signal.h>
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

void cli_catch(void (*handle)(int number))
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++) {
        if (signal(ends[k], handle) == SIG_IGN) {
            signal(ends[k], SIG_IGN);
        }
    }
}
