// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp, through its public interface. Its rows are absent until libperp has bodies in space.
#include "run.h"

#include <stdio.h>

static void *perp_create(const peer_scene *scene, const char *setting, double h, char reason[80])
{
    (void)setting;
    (void)h;
    snprintf(reason, 80, "%d bodies in space: not in libperp yet", scene->bodies);
    return NULL;
}

const peer_engine peer_perp = {.name = "perp", .version = "-", .create = perp_create};
