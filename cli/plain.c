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

// signal() would do under POSIX alone, where it restores the default with the first signal: a second one, which `timeout`
// and impatient users send, would end the program before it has cleaned up.
void cli_catch(void (*handle)(int number))
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = handle}, before;
    sigemptyset(&action.sa_mask);
    for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++) {
        if (sigaction(ends[k], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
            (void)sigaction(ends[k], &action, NULL);
        }
    }
}
