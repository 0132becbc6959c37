// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the keyframe that --keyframe names; in a file of its own for the library of pages, which opens scenes by itself.
#include "cli.h"

#include <string.h>

cli_exit cli_keyframe_find(const char *path, const perp_scene *scene, const char *name,
                           perp_keyframe *to)
{
    const perp_model *model = perp_scene_model(scene);
    char list[200] = "";
    perp_keyframe found = name ? perp_model_keyframe(model, name) : *to;
    if (!name || found.i >= 0) {
        *to = found;
        return CLI_FINE;
    }
    for (int i = 0; i < perp_model_keyframes(model); i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "",
                 perp_model_keyframe_name(model, (perp_keyframe){i}));
    }
    return cli_complain("%s: there is no keyframe '%s'; the scene has %s", path, name,
                        list[0] ? list : "none");
}
