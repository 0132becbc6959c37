// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Settings of a scene that are objects or lists of their own.
#include "scene/json_tree.h"
#include "scene/reader.h"

#include <string.h>

perp_status pp_reader_limits(pp_reader *r, const json_t *root, perp_limits *limits)
{
    const json_t *json = json_object_get(root, "limits");
    uint64_t seen;
    if (!json) {
        return PERP_OK;
    }
    pp_reader_enter(r, "limits", 0);
    perp_status status = json_is_object(json)
                             ? pp_reader_fields(r, &pp_limits_object, 0, json, limits, &seen)
                             : pp_reader_refuse(r, "limits", "an object", json);
    pp_reader_leave(r);
    return status;
}

perp_status pp_reader_tree(pp_reader *r, const json_t *root, perp_sim_def *sim)
{
    const json_t *json = json_object_get(root, "tree");
    perp_status status = PERP_OK;
    if (!json) {
        return PERP_OK;
    }
    pp_reader_enter(r, "tree", 0);
    if (!json_is_array(json)) {
        status = pp_reader_refuse(r, "tree", "a list of joint names", json);
    }
    int count = (int)json_array_size(json);
    perp_joint *tree = PP_ARRAY(r->arena, perp_joint, count);
    for (int k = 0; status == PERP_OK && tree && k < count; k++) {
        const json_t *item = json_array_get(json, (size_t)k);
        const char *name = json_string_value(item);
        pp_reader_enter(r, NULL, k);
        if (!name) {
            status = pp_reader_refuse(r, NULL, "the name of a joint", item);
        }
        tree[k].i = name ? pp_names_find(&r->joint_names, name) : -1;
        if (name && tree[k].i < 0) {
            status = pp_reader_fail(r, "scene: unknown joint '%.60s'", name);
        }
        pp_reader_leave(r);
    }
    pp_reader_leave(r);
    sim->tree = tree;
    sim->tree_count = count;
    return status < 0 ? status : tree ? PERP_OK : pp_reader_memory(r);
}
