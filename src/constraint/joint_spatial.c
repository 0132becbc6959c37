// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Joints of space.                                                                      theory (S5)
//
//   spherical       p_b - p_a = 0                                                        3 rows
//   revolute        spherical, and u_b along u: x . u_b = y . u_b = 0                    5 rows
//   universal       spherical, and u_b across u: u . u_b = 0                             4 rows
//   cylindrical     x . (p_b - p_a) = y . (p_b - p_a) = 0, and u_b along u               4 rows
//   screw           cylindrical, and u . (p_b - p_a) = pitch * angle                     5 rows
//   prismatic       x, y . (p_b - p_a) = 0, and no relative rotation                     5 rows
//   plane           u . (p_b - p_a) = 0, and u_b along u                                 3 rows
//   weld            spherical, and no relative rotation                                  6 rows
//   point on line   x . (p_b - p_a) = y . (p_b - p_a) = 0                                2 rows
//   distance        |p_b - p_a| = length                                                 1 row
//
// u is the axis fixed in a, x and y = u x x across it, u_b the axis fixed in b; x turns with a, so that
// the rate of x . (p_b - p_a) is x . (v_b - v_a) with both bodies followed at p_b, and that of x . u_b is
// (u_b x x) . (w_b - w_a). The axes of p_b - p_a = 0 also turn with a: those that the axes of the world are now. A machine
// that turns as a whole then does not change its errors, and force and reaction act at one point.
#include "constraint/joint.h"

#include <math.h>

static const perp_vec3 EX = {1.0, 0.0, 0.0}, EY = {0.0, 1.0, 0.0}, EZ = {0.0, 0.0, 1.0};
static const double TWO_PI = 6.283185307179586;

void pp_joint_triad(const pp_joint *j, const pp_frame *body, pp_triad *w)
{
    pp_joint_anchors(j, body, &w->at);
    w->x = pp_rotate(&body[j->a], j->zero_A);
    w->y = pp_cross(w->at.u, w->x);
    w->ub = pp_rotate(&body[j->b], j->axis_B);
    w->zb = j->kind == PERP_JOINT_UNIVERSAL ? w->ub : pp_rotate(&body[j->b], j->zero_B);
}

// That of the builder, or `own`, which is found.
static const pp_triad *joint_triad(const pp_row_builder *k, const pp_joint *j, pp_triad *own)
{
    if (k->triad) {
        return k->triad;
    }
    pp_joint_triad(j, k->poses->body, own);
    return own;
}

// Whether the blocks of a joint's bodies are filled as a whole: six velocities each, or none.
static bool has_whole_blocks(const pp_row_builder *k, const pp_joint *j)
{
    return k->model->body[j->a].nv % 6 == 0 && k->model->body[j->b].nv % 6 == 0 && j->a != j->b;
}

// The block of one body in a row of turn_row: (0, d).
static void add_turn(const pp_row_builder *k, int body, perp_vec3 d, pp_row *row)
{
    double rate = pp_dot3(d, k->poses->body[body].w);
    row->v_pre += rate;
    if (k->model->body[body].nv == 0) {
        row->rate += rate;
        return;
    }
    double *J = row->J[row->count];
    row->body[row->count++] = body;
    J[0] = J[1] = J[2] = 0.0;
    J[3] = 0.0 + d.x;  // 0 for -0
    J[4] = 0.0 + d.y;
    J[5] = 0.0 + d.z;
}

// d . (omega_b - omega_a), for the value of an angle or a cosine.
static void turn_row(const pp_row_builder *k, const pp_joint *j, perp_vec3 d, double value,
                     pp_row *row)
{
    pp_row_start(row);
    row->value = value;
    if (k->values_only) {
        return;
    }
    if (has_whole_blocks(k, j)) {
        add_turn(k, j->b, d, row);
        add_turn(k, j->a, pp_scale(-1.0, d), row);
        return;
    }
    pp_row_spin(k, j->b, d, 1.0, row);
    pp_row_spin(k, j->a, d, -1.0, row);
}

// d . u_b for a direction d fixed in a.
static void across_row(const pp_row_builder *k, const pp_joint *j, const pp_triad *w, perp_vec3 d,
                       pp_row *row)
{
    turn_row(k, j, pp_cross(w->ub, d), pp_dot3(d, w->ub), row);
}

// The angle of z_b about u, from x: atan2(s, c), s = y . z_b, c = x . z_b, with its exact rate
// z_b x (c y - s x) / (c^2 + s^2) . (w_b - w_a); of all its turns the one nearest to where it was.
static void axis_angle_row(const pp_row_builder *k, int joint, const pp_triad *w, pp_row *row)
{
    double c = pp_dot3(w->x, w->zb), s = pp_dot3(w->y, w->zb), r2 = c * c + s * s;
    perp_vec3 d = w->at.u;
    if (r2 > 0.0 && !k->values_only) {
        perp_vec3 side = pp_along(pp_scale(c, w->y), -s, w->x);
        d = pp_scale(1.0 / r2, pp_cross(w->zb, side));
    }
    if (k->poses->turned) {
        turn_row(k, &k->model->joint[joint], d, k->poses->turn[joint], row);
        return;
    }
    double angle = pp_atan2(s, c);
    if (k->poses->turn) {
        angle += TWO_PI * round((k->poses->turn[joint] - angle) / TWO_PI);
    }
    turn_row(k, &k->model->joint[joint], d, angle, row);
}

// Part of the anchors' difference along the axis u of a, their distance, or the angle about u.
void pp_joint_coordinate_spatial(const pp_row_builder *k, int joint, pp_row *row)
{
    const pp_joint *j = &k->model->joint[joint];
    pp_triad own;
    const pp_triad *w = joint_triad(k, j, &own);
    switch (j->kind) {
    case PERP_JOINT_PRISMATIC:
    case PERP_JOINT_CYLINDRICAL:
    case PERP_JOINT_POINT_ON_LINE:
        pp_joint_point_row(k, j, &w->at, w->at.u, true, row);
        break;
    case PERP_JOINT_DISTANCE:
        pp_joint_distance_row(k, j, &w->at, row);
        break;
    default:
        axis_angle_row(k, joint, w, row);
        break;
    }
}

// ── Equations ────────────────────────────────────────────────────────────────────────────────────

// The block of one body in the rows of coincide: +-(1, r x 1).
static void add_point(const pp_row_builder *k, int body, perp_vec3 p, double s, pp_row *row)
{
    const pp_frame *f = &k->poses->body[body];
    perp_vec3 r = pp_sub(p, f->p), v = pp_along(f->v, 1.0, pp_cross(f->w, r));
    const double rate[3] = {s * v.x, s * v.y, s * v.z};
    const double moment[3][3] = {
        {0.0, s * r.z, -s * r.y}, {-s * r.z, 0.0, s * r.x}, {s * r.y, -s * r.x, 0.0}};
    for (int d = 0; d < 3; d++) {
        row[d].v_pre += rate[d];
        if (k->model->body[body].nv == 0) {
            row[d].rate += rate[d];
            continue;
        }
        int at = row[d].count++;
        double *J = row[d].J[at];
        row[d].body[at] = body;
        for (int c = 0; c < 3; c++) {
            J[c] = c == d ? s : 0.0;
            J[c + 3] = moment[d][c];
        }
    }
}

// p_b - p_a = 0 along the axes of W, which turn with a: three rows. Where both bodies have six velocities (or none) their blocks are filled together.
static int coincide(const pp_row_builder *k, const pp_joint *j, const pp_triad *w, pp_row *row)
{
    if (has_whole_blocks(k, j)) {
        perp_vec3 off = pp_sub(w->at.b, w->at.a);
        const double value[3] = {off.x, off.y, off.z};
        for (int d = 0; d < 3; d++) {
            pp_row_start(&row[d]);
            row[d].value = value[d];
        }
        if (!k->values_only) {
            add_point(k, j->b, w->at.b, 1.0, row);
            add_point(k, j->a, w->at.b, -1.0, row);
        }
        return 3;
    }
    pp_joint_point_row(k, j, &w->at, EX, true, &row[0]);
    pp_joint_point_row(k, j, &w->at, EY, true, &row[1]);
    pp_joint_point_row(k, j, &w->at, EZ, true, &row[2]);
    return 3;
}

// The anchor of b on the axis of a.
static int on_line(const pp_row_builder *k, const pp_joint *j, const pp_triad *w, pp_row *row)
{
    pp_joint_point_row(k, j, &w->at, w->x, true, &row[0]);
    pp_joint_point_row(k, j, &w->at, w->y, true, &row[1]);
    return 2;
}

// The axis of b along that of a: two cosines vanish.
static int aligned(const pp_row_builder *k, const pp_joint *j, const pp_triad *w, pp_row *row)
{
    across_row(k, j, w, w->x, &row[0]);
    across_row(k, j, w, w->y, &row[1]);
    return 2;
}

// The rotation from the frame (x, y, u) of a to (z_b, u_b x z_b, u_b) of b as a vector, in world axes.
static int locked(const pp_row_builder *k, const pp_joint *j, const pp_triad *w, pp_row *row)
{
    pp_mat3 A = pp_mat3_columns(w->x, w->y, w->at.u);
    pp_mat3 B = pp_mat3_columns(w->zb, pp_cross(w->ub, w->zb), w->ub);
    pp_mat3 At = pp_transpose3(&A), R = pp_mat_mul(&B, &At);
    // log(R) = angle / (2 sin angle) (R - R^T)^v, where the angle is small as in any joint that holds
    perp_vec3 v = {R.m[7] - R.m[5], R.m[2] - R.m[6], R.m[3] - R.m[1]};
    double s = 0.5 * sqrt(pp_dot3(v, v)), c = 0.5 * (R.m[0] + R.m[4] + R.m[8] - 1.0);
    double angle = pp_atan2(s, c);
    perp_vec3 e = pp_scale(s > 1e-9 ? 0.5 * angle / s : 0.5, v);
    turn_row(k, j, EX, e.x, &row[0]);
    turn_row(k, j, EY, e.y, &row[1]);
    turn_row(k, j, EZ, e.z, &row[2]);
    return 3;
}

// u . (p_b - p_a) - pitch * angle
static int threaded(const pp_row_builder *k, int joint, const pp_triad *w, pp_row *row)
{
    pp_row angle;
    pp_joint_point_row(k, &k->model->joint[joint], &w->at, w->at.u, true, row);
    axis_angle_row(k, joint, w, &angle);
    pp_row_combine(row, -k->model->joint[joint].pitch, &angle);
    return 1;
}

// phi = 0 of the spatial joints, from four parts: points that coincide, a point on the axis of a, axes that are aligned,
// a rotation that is locked.
int pp_joint_equations_spatial(const pp_row_builder *k, int joint, pp_row *row)
{
    const pp_joint *j = &k->model->joint[joint];
    // the most common loop, where values alone are asked for: no triad, no rows
    if (j->kind == PERP_JOINT_SPHERICAL && k->values_only) {
        perp_vec3 off = pp_sub(pp_point(&k->poses->body[j->b], j->r_B),
                               pp_point(&k->poses->body[j->a], j->r_A));
        row[0].value = off.x;
        row[1].value = off.y;
        row[2].value = off.z;
        return 3;
    }
    pp_triad own;
    const pp_triad *w = joint_triad(k, j, &own);
    int n = 0;
    switch (j->kind) {
    case PERP_JOINT_SPHERICAL:
        return coincide(k, j, w, row);
    case PERP_JOINT_REVOLUTE:
        n = coincide(k, j, w, row);
        return n + aligned(k, j, w, row + n);
    case PERP_JOINT_UNIVERSAL:
        n = coincide(k, j, w, row);
        across_row(k, j, w, w->at.u, row + n);
        return n + 1;
    case PERP_JOINT_WELD:
        n = coincide(k, j, w, row);
        return n + locked(k, j, w, row + n);
    case PERP_JOINT_CYLINDRICAL:
        n = on_line(k, j, w, row);
        return n + aligned(k, j, w, row + n);
    case PERP_JOINT_SCREW:
        n = on_line(k, j, w, row);
        n += aligned(k, j, w, row + n);
        return n + threaded(k, joint, w, row + n);
    case PERP_JOINT_PRISMATIC:
        n = on_line(k, j, w, row);
        return n + locked(k, j, w, row + n);
    case PERP_JOINT_PLANAR:
        pp_joint_point_row(k, j, &w->at, w->at.u, true, row);
        return 1 + aligned(k, j, w, row + 1);
    case PERP_JOINT_POINT_ON_LINE:
        return on_line(k, j, w, row);
    case PERP_JOINT_DISTANCE:
        if (pp_joint_keeps_length(j)) {
            pp_joint_distance_row(k, j, &w->at, row);
            row->value -= j->length;
            return 1;
        }
        break;
    case PERP_JOINT_ANGLE:
    case PERP_JOINT_GEAR:
    case PERP_JOINT_COUPLING:
        break;
    }
    return 0;
}

// ── Bend ─────────────────────────────────────────────────────────────────────────────────────────

// (exp(h w) - 1 - h w) x r: how far a point of a body that turns with w ends beside its tangent.
static perp_vec3 bend(const perp_model *m, const pp_poses *at, double h, int body, perp_vec3 r_B,
                      const double *nu)
{
    const pp_body *b = &m->body[body];
    if (b->nv != 6) {
        return pp_vec(0.0, 0.0, 0.0);  // does not turn, or as it is told
    }
    const pp_frame *f = &at->body[body];
    const double *spin = nu ? nu + b->at + 3 : &f->w.x;
    perp_vec3 w = pp_scale(h, pp_vec(spin[0], spin[1], spin[2])), r = pp_rotate(f, r_B);
    double a2 = pp_dot3(w, w), second = 0.5,
           third = 1.0 / 6.0;  // (1 - cos a) / a^2, (a - sin a) / a^3
    if (a2 < 1e-2) {
        second -= a2 * (1.0 / 24.0 - a2 * (1.0 / 720.0 - a2 * (1.0 / 40320.0)));
        third -= a2 * (1.0 / 120.0 - a2 * (1.0 / 5040.0 - a2 * (1.0 / 362880.0)));
    } else {
        double a = sqrt(a2);
        second = (1.0 - pp_cos(a)) / a2;
        third = (a - pp_sin(a)) / (a2 * a);
    }
    perp_vec3 inward = pp_cross(w, pp_cross(w, r));
    return pp_along(pp_scale(second, inward), third, pp_cross(w, inward));
}

static bool holds_point(perp_joint_kind kind)
{
    return kind == PERP_JOINT_SPHERICAL || kind == PERP_JOINT_REVOLUTE ||
           kind == PERP_JOINT_UNIVERSAL || kind == PERP_JOINT_WELD;
}

// A point of a turning body moves on an arc: (arc - tangent) / h of both anchors, as a correction of the rate.
void pp_bilateral_curvature(const perp_model *model, const pp_poses *at, double h,
                            const pp_rows *rows, const double *nu, double *value)
{
    int i = 0;
    while (i < rows->nb) {
        int joint = rows->b[i].joint;
        const pp_joint *j = joint >= 0 ? &model->joint[joint] : NULL;
        if (j && model->spatial && holds_point(j->kind)) {
            perp_vec3 off =
                pp_sub(bend(model, at, h, j->b, j->r_B, nu), bend(model, at, h, j->a, j->r_A, nu));
            value[i++] = off.x / h;
            value[i++] = off.y / h;
            value[i++] = off.z / h;
        }
        for (; i < rows->nb && (!j || rows->b[i].joint == joint); i++) {
            value[i] = 0.0;
        }
    }
}
