// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Joints of the plane.                                                                  theory (P4)
//
//   revolute        phi = p_b - p_a                                              2 rows
//   prismatic       phi = (n . (p_b - p_a),  theta_b - theta_a - angle)          2 rows
//   weld            phi = (p_b - p_a,  theta_b - theta_a - angle)                3 rows
//   distance        phi = |p_b - p_a| - length                                   1 row
//   point on line   phi = n . (p_b - p_a)                                        1 row
//
// p_a, p_b are the anchors in the world; n is the left normal of the axis, which turns with a: the rate
// of n . (p_b - p_a) is n . (v_b - v_a) with both bodies followed at p_b.
#include "constraint/joint.h"

static const perp_vec3 EX = {1.0, 0.0, 0.0}, EY = {0.0, 1.0, 0.0}, EZ = {0.0, 0.0, 1.0};

void pp_joint_anchors(const pp_joint *j, const pp_frame *body, pp_anchors *w)
{
    w->a = pp_point(&body[j->a], j->r_A);
    w->b = pp_point(&body[j->b], j->r_B);
    w->u = pp_rotate(&body[j->a], j->axis_A);
}

void pp_joint_point_row(const pp_row_builder *k, const pp_joint *j, const pp_anchors *w,
                        perp_vec3 d, bool turning, pp_row *row)
{
    pp_row_start(row);
    row->value = pp_dot3(d, pp_sub(w->b, w->a));
    pp_row_point(k, j->b, w->b, d, 1.0, row);
    pp_row_point(k, j->a, turning ? w->b : w->a, d, -1.0, row);
}

void pp_joint_distance_row(const pp_row_builder *k, const pp_joint *j, const pp_anchors *w,
                           pp_row *row)
{
    pp_joint_point_row(k, j, w, pp_unit(pp_sub(w->b, w->a), EX), false, row);
}

// theta_b - theta_a - angle; angles of planar bodies are not wrapped.
static void planar_angle_row(const pp_row_builder *k, const pp_joint *j, pp_row *row)
{
    pp_row_start(row);
    row->value = k->poses->body[j->b].angle - k->poses->body[j->a].angle - j->angle;
    pp_row_spin(k, j->b, EZ, 1.0, row);
    pp_row_spin(k, j->a, EZ, -1.0, row);
}

// Angle of b relative to a, distance of the anchors, or the part of their difference along the axis u of a.
void pp_joint_coordinate_planar(const pp_row_builder *k, const pp_joint *j, pp_row *row)
{
    pp_anchors w;
    pp_joint_anchors(j, k->poses->body, &w);
    if (j->kind == PERP_JOINT_REVOLUTE || j->kind == PERP_JOINT_ANGLE) {
        planar_angle_row(k, j, row);
    } else if (j->kind == PERP_JOINT_DISTANCE) {
        pp_joint_distance_row(k, j, &w, row);
    } else {
        pp_joint_point_row(k, j, &w, w.u, true, row);
    }
}

// phi = 0 of the planar joints. Points coincide in W; lines are fixed to a, with n its left normal. Returns how many.
int pp_joint_equations_planar(const pp_row_builder *k, const pp_joint *j, pp_row *row)
{
    pp_anchors w;
    pp_joint_anchors(j, k->poses->body, &w);
    perp_vec3 n = pp_vec(-w.u.y, w.u.x, 0.0);
    switch (j->kind) {
    case PERP_JOINT_REVOLUTE:
    case PERP_JOINT_WELD:
        pp_joint_point_row(k, j, &w, EX, false, &row[0]);
        pp_joint_point_row(k, j, &w, EY, false, &row[1]);
        if (j->kind == PERP_JOINT_WELD) {
            planar_angle_row(k, j, &row[2]);
        }
        return j->kind == PERP_JOINT_WELD ? 3 : 2;
    case PERP_JOINT_PRISMATIC:
        pp_joint_point_row(k, j, &w, n, true, &row[0]);
        planar_angle_row(k, j, &row[1]);
        return 2;
    case PERP_JOINT_POINT_ON_LINE:
        pp_joint_point_row(k, j, &w, n, true, &row[0]);
        return 1;
    case PERP_JOINT_DISTANCE:
        if (!pp_joint_keeps_length(j)) {
            return 0;
        }
        pp_joint_distance_row(k, j, &w, &row[0]);
        row[0].value -= j->length;
        return 1;
    default:  // an angle has no equation; the rest belongs to space
        return 0;
    }
}
