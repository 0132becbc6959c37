// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Signals that end the program.
#include "cli.h"

#include <signal.h>

// Not by signal(), which on strict POSIX restores the default at the first signal: a second one, which `timeout` and
// impatient users send, would end the program before it has cleaned up.
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
