// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Names of coordinates and velocities: that of the joint, or of a free body, and a word for each.
#include "tree/tree.h"

// In the order of q.
static const char *const coordinates[][7] = {
    [PP_LINK_REVOLUTE] = {"angle"},
    [PP_LINK_PRISMATIC] = {"distance"},
    [PP_LINK_SCREW] = {"angle"},
    [PP_LINK_CYLINDRICAL] = {"distance", "angle"},
    [PP_LINK_UNIVERSAL] = {"angle", "angle_b"},
    [PP_LINK_PLANE] = {"x", "y", "angle"},
    [PP_LINK_SPHERICAL] = {"qw", "qx", "qy", "qz"},
    [PP_LINK_FLAT] = {"x", "y", "angle"},
    [PP_LINK_POINT] = {"x", "y", "z"},
    [PP_LINK_FREE] = {"x", "y", "z", "qw", "qx", "qy", "qz"},
};

// In the order of qd.
static const char *const velocities[][6] = {
    [PP_LINK_REVOLUTE] = {"rate"},
    [PP_LINK_PRISMATIC] = {"speed"},
    [PP_LINK_SCREW] = {"rate"},
    [PP_LINK_CYLINDRICAL] = {"speed", "rate"},
    [PP_LINK_UNIVERSAL] = {"rate", "rate_b"},
    [PP_LINK_PLANE] = {"vx", "vy", "rate"},
    [PP_LINK_SPHERICAL] = {"wx", "wy", "wz"},
    [PP_LINK_FLAT] = {"vx", "vy", "rate"},
    [PP_LINK_POINT] = {"vx", "vy", "vz"},
    [PP_LINK_FREE] = {"vx", "vy", "vz", "wx", "wy", "wz"},
};

// Free bodies have no joint to be named by.
static const char *owner(const pp_tree *tree, const pp_link *l)
{
    return l->joint >= 0 ? tree->model->joint[l->joint].name : tree->model->body[l->body].name;
}

// The last link that starts at or before k, by its coordinates or its velocities.
static const pp_link *link_of(const pp_tree *tree, int k, bool of_q)
{
    int low = 0, high = tree->links;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if ((of_q ? tree->link[middle].at_q : tree->link[middle].at_v) <= k) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &tree->link[low];
}

// Empty for an index out of range.
void pp_tree_name_q(const pp_tree *tree, int k, char *text, size_t size)
{
    pp_print(text, size, "%s", "");
    if (k >= 0 && k < tree->nq) {
        const pp_link *l = link_of(tree, k, true);
        pp_print(text, size, "%s.%s", owner(tree, l), coordinates[l->kind][k - l->at_q]);
    }
}

void pp_tree_name_v(const pp_tree *tree, int k, char *text, size_t size)
{
    pp_print(text, size, "%s", "");
    if (k >= 0 && k < tree->nv) {
        const pp_link *l = link_of(tree, k, false);
        pp_print(text, size, "%s.%s", owner(tree, l), velocities[l->kind][k - l->at_v]);
    }
}
