// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Settings of a scene that are objects or lists: limits of the certificate, and the tree of joints.
#include "scene/read/json_tree.h"
#include "scene/read/reader.h"

#include <string.h>

// Limits that a scene sets for its certificate; those left out stay relative.
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

// A name that no joint has, with the nearest one that exists.
static perp_status no_such_joint(pp_reader *r, const char *name)
{
    const char *near = pp_nearest(name, strlen(name), r->joint, r->joints);
    if (near) {
        return pp_reader_fail(r, "'tree': there is no joint '%.40s'; did you mean '%s'?", name,
                              near);
    }
    return pp_reader_fail(r, "'tree': there is no joint '%.40s'", name);
}

static bool stands_before(const perp_joint *tree, int k)
{
    for (int j = 0; j < k; j++) {
        if (tree[j].i == tree[k].i) {
            return true;
        }
    }
    return false;
}

// Names of joints, in the order in which the tree uses them. They are read last, when all joints
// are known.
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
    if (status < 0) {
        pp_reader_leave(r);
        return status;
    }
    int count = (int)json_array_size(json);
    perp_joint *tree = PP_ARRAY(r->arena, perp_joint, count);
    if (!tree) {
        pp_reader_leave(r);
        return pp_reader_memory(r);
    }
    for (int k = 0; k < count; k++) {
        const json_t *item = json_array_get(json, (size_t)k);
        const char *name = json_string_value(item);
        pp_reader_enter(r, NULL, k);
        if (!name) {
            status = pp_reader_refuse(r, "tree", "a list of joint names", item);
        }
        bool made;
        if (name) {
            status = pp_reader_expand(r, "tree", name, &name, &made);
        }
        // An unknown joint is reported by name; -1 is never used.
        tree[k].i = name ? pp_names_find(&r->joint_names, name) : -1;
        if (status == PERP_OK && name && tree[k].i < 0) {
            status = no_such_joint(r, name);
        }
        if (status == PERP_OK && stands_before(tree, k)) {
            status = pp_reader_fail(r, "'tree': joint '%.40s' stands in it twice", name);
        }
        pp_reader_leave(r);
        if (status != PERP_OK) {
            break;
        }
    }
    pp_reader_leave(r);
    sim->tree = tree;
    sim->tree_count = count;
    return status;
}
