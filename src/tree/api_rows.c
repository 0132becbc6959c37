// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The public face of tree/: Jacobians of points, joint coordinates and joint equations. Every
// quantity comes with its value, the rate that driven bodies give it, and its drift:
// rate = J qd + given and acceleration = J qdd + drift.
#include "tree/face.h"

#include <string.h>

// ── Jacobians ────────────────────────────────────────────────────────────────────────────────────

// The state in the form that constraint/ reads.
static pp_poses view_of(const perp_tree *tree)
{
    return (pp_poses){
        .t = tree->pass.t, .body = tree->pass.body, .turn = tree->turn, .drive = &tree->drive};
}

// The coordinate of any joint, of the tree or of a loop, in joint coordinates.
perp_status perp_tree_joint(perp_tree *tree, perp_joint joint, perp_rate *rate, double *J)
{
    if (!has_joint(tree, joint) || !pp_joint_has_coordinate(&tree->tree.model->joint[joint.i])) {
        return PERP_ERR_ARGUMENT;
    }
    const perp_model *m = tree->tree.model;
    pp_arena *arena = tree->room[tree->now];
    pp_mark mark = pp_arena_mark(arena);
    double *row_J = PP_ARRAY(arena, double, tree->tree.nv);
    if (!row_J) {
        return PERP_ERR_MEMORY;
    }
    pp_poses at = view_of(tree);
    pp_row row;
    pp_joint_coordinate(m, &at, joint.i, &row);
    double given = pp_tree_row(&tree->pass, &row, row_J);
    if (rate) {
        *rate = (perp_rate){row.value, given, pp_joint_coordinate_drift(&tree->pass, joint.i)};
    }
    if (J) {
        memcpy(J, row_J, (size_t)tree->tree.nv * sizeof *J);
    }
    pp_arena_release(arena, mark);
    return PERP_OK;
}

// The same for the equations phi = 0 of a joint, also where the tree implies them (then J is 0).
perp_status perp_tree_equations(perp_tree *tree, perp_joint joint, int *rows,
                                perp_rate rate[PERP_JOINT_MAX_ROWS], double *J)
{
    if (!has_joint(tree, joint)) {
        return PERP_ERR_ARGUMENT;
    }
    pp_arena *arena = tree->room[tree->now];
    pp_mark mark = pp_arena_mark(arena);
    double *row_J = PP_ARRAY(arena, double, tree->tree.nv), drift[PP_JOINT_EQUATIONS];
    if (!row_J) {
        return PERP_ERR_MEMORY;
    }
    pp_poses at = view_of(tree);
    pp_row row[PP_JOINT_EQUATIONS];
    int count = pp_joint_equations(tree->tree.model, &at, joint.i, row);
    pp_joint_drift(&tree->pass, joint.i, drift);
    for (int i = 0; i < count; i++) {
        double given = pp_tree_row(&tree->pass, &row[i], row_J);
        if (rate) {
            rate[i] = (perp_rate){row[i].value, given, drift[i]};
        }
        if (J) {  // column-major, count x nv
            for (int k = 0; k < tree->tree.nv; k++) {
                J[i + k * count] = row_J[k];
            }
        }
    }
    if (rows) {
        *rows = count;
    }
    pp_arena_release(arena, mark);
    return PERP_OK;
}

// Columns of the links on the path from a body to its root, at a world point; returns the twist
// that driven bodies give it there. J is 6 x nv, velocity first.
static perp_twist fill_point(const perp_tree *tree, int body, perp_vec3 at, double *J)
{
    const pp_tree *t = &tree->tree;
    perp_twist given = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    int link = t->of_body[body], root = body;
    while (link >= 0) {
        const pp_link *l = &t->link[link];
        int columns = J ? l->nv : 0;
        for (int k = l->at_v; k < l->at_v + columns; k++) {
            perp_twist S =
                pp_twist_at(tree->pass.column[k], pp_sub(at, tree->pass.body[l->body].p));
            const double column[6] = {S.v_W.x, S.v_W.y, S.v_W.z, S.w_W.x, S.w_W.y, S.w_W.z};
            memcpy(J + 6 * (size_t)k, column, sizeof column);
        }
        root = l->joint >= 0 ? l->carrier : -1;  // the driven body at the end of the path, if any
        link = l->parent;
    }
    if (root >= 0) {
        const pp_frame *f = &tree->pass.body[root];
        given = pp_twist_at(pp_frame_twist(f), pp_sub(at, f->p));
    }
    return given;
}

// Velocity of a point of a body, and angular velocity of the body, in world axes. The centripetal
// term w x (w x r) is that of the point: sigma is the acceleration of the centre of mass.
perp_status perp_tree_point(perp_tree *tree, perp_body body, perp_vec3 point_B, perp_twist *rate,
                            perp_twist *drift, double *J)
{
    if (!has_body(tree, body) || !pp_finite3(point_B)) {
        return PERP_ERR_ARGUMENT;
    }
    const pp_frame *f = &tree->pass.body[body.i];
    perp_vec3 at = pp_point(f, point_B);
    if (J) {
        memset(J, 0, 6 * (size_t)tree->tree.nv * sizeof *J);
    }
    perp_twist given = fill_point(tree, body.i, at, J);
    if (rate) {
        *rate = given;
    }
    if (drift) {
        perp_vec3 r = pp_sub(at, f->p);
        *drift = pp_twist_at(tree->pass.sigma[body.i], r);
        drift->v_W = pp_add(drift->v_W, pp_cross(f->w, pp_cross(f->w, r)));
    }
    return PERP_OK;
}
