// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Verbs of the perp command that need processes or servers, which WASI does not have.
#include "cli.h"

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
