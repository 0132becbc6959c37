// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The perp command: one file a verb.
#include <perp/perp.h>

#include <stdio.h>

int main(void)
{
    printf("perp %s\n", perp_version());
    return 0;
}
