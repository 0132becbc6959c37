// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The perp command under WASI: where it starts, and the verbs that need processes or servers, which WASI does not have.
#include "cli.h"

#include <stdlib.h>
#include <unistd.h>

// WASI starts at the root; relative paths are meant from where the command was called (js/node.mjs).
__attribute__((constructor)) static void enter_folder(void)
{
    const char *folder = getenv("PWD");
    if (folder) {
        (void)!chdir(folder);
    }
}

cli_exit cli_view(int count, char **words)
{
    (void)count, (void)words;
    return cli_complain("view: not in the WebAssembly build, which has no server; use the "
                        "playground, or the native perp");
}

cli_exit cli_sweep(int count, char **words)
{
    (void)count, (void)words;
    return cli_complain(
        "sweep: not in the WebAssembly build, which has no processes; use the native perp");
}

cli_exit cli_render(int count, char **words)
{
    (void)count, (void)words;
    return cli_complain(
        "render: not in the WebAssembly build, which cannot start a browser; use the native perp");
}

// WASI has no signals.
void cli_catch(void (*handle)(int number))
{
    (void)handle;
}
