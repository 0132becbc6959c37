// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The pose of an included file or assembly, applied to definitions: everything that they give in world
// coordinates or world axes. What is given in the frame of a body moves with the body.
//
//   x_W = p + R x
#include "scene/read/reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PIECE = 96 };  // bytes for one number and its signs

static perp_vec3 place_point(const pp_scope *s, perp_vec3 x)
{
    pp_mat3 R = pp_quat_matrix(s->rotation);
    return pp_add(s->position, pp_mul(&R, x));
}

perp_vec3 pp_place_direction(const pp_reader *r, perp_vec3 d)
{
    pp_mat3 R = pp_quat_matrix(r->scope->rotation);
    return r->scope->placed ? pp_mul(&R, d) : d;
}

// A rotation of nothing is exact.
static bool is_turned(const pp_scope *s)
{
    return s->rotation.x != 0.0 || s->rotation.y != 0.0 || s->rotation.z != 0.0;
}

// ── Texts ────────────────────────────────────────────────────────────────────────────────────────

// offset + a[0]*(text[0]) + a[1]*(text[1]) + a[2]*(text[2]) as a text in scratch memory, without the
// terms that are 0. A text that is NULL is the number in its place. NULL: no memory.
static const char *combine(pp_reader *r, double offset, perp_vec3 a, const char *const *text,
                           perp_vec3 number)
{
    const double factor[3] = {a.x, a.y, a.z}, value[3] = {number.x, number.y, number.z};
    // Numbers are summed here, so that the text has one constant term.
    size_t size = PIECE;
    for (int k = 0; k < 3; k++) {
        size += PIECE + (text[k] ? strlen(text[k]) : 0);
        offset += text[k] ? 0.0 : factor[k] * value[k];
    }
    char *out = pp_reader_text(r, size), piece[PIECE];
    if (!out) {
        return NULL;
    }
    pp_number_print(out, size, offset);
    for (int k = 0; k < 3; k++) {
        if (!text[k] || factor[k] == 0.0) {
            continue;
        }
        size_t used = strlen(out);
        pp_number_print(piece, sizeof piece, fabs(factor[k]));
        pp_print(out + used, size - used, " %c %s*(%s)", factor[k] < 0.0 ? '-' : '+', piece,
                 text[k]);
    }
    return out;
}

// Row k of R.
static perp_vec3 row(const pp_mat3 *R, int k)
{
    const perp_vec3 e = pp_vec(k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0);
    return pp_mul_t(R, e);
}

// Components of a vector that are texts: v' = offset + R v. Components that stay constant and are
// numbers get no text.
static perp_status turn_texts(pp_reader *r, const char **text[3], perp_vec3 offset,
                              perp_vec3 number)
{
    const char *from[3], *to[3] = {NULL, NULL, NULL};
    pp_mat3 R = pp_quat_matrix(r->scope->rotation);
    const double by[3] = {offset.x, offset.y, offset.z};
    for (int k = 0; k < 3; k++) {
        from[k] = *text[k];
    }
    for (int k = 0; k < 3; k++) {
        perp_vec3 a = row(&R, k);
        bool moves = (from[0] && a.x != 0.0) || (from[1] && a.y != 0.0) || (from[2] && a.z != 0.0);
        to[k] = moves ? combine(r, by[k], a, from, number) : NULL;
        if (moves && !to[k]) {
            return PERP_ERR_MEMORY;
        }
    }
    for (int k = 0; k < 3; k++) {
        *text[k] = to[k];
    }
    return PERP_OK;
}

// ── Bodies and shapes ────────────────────────────────────────────────────────────────────────────

// Angles of a driven body add up in the plane. In space the motion is Rz Ry Rx R_0, and a turn about
// z is the only one that fits in front of it.
static perp_status place_turning(pp_reader *r, perp_body_def *def)
{
    const pp_scope *s = r->scope;
    bool turns = def->motion_rx || def->motion_ry || def->motion_angle;
    double angle = s->angle;
    if (r->spatial && turns && is_turned(s)) {
        if (s->rotation.x != 0.0 || s->rotation.y != 0.0) {
            return pp_reader_fail(r,
                                  "a driven body that turns, in a file or assembly that is rotated "
                                  "about an axis other than z; rotate the body itself");
        }
        angle = 2.0 * pp_atan2(s->rotation.z, s->rotation.w);
    }
    // A body that keeps its rotation about z starts with it; else the turn goes into the motion.
    if (r->spatial && (!turns || !is_turned(s))) {
        def->rotation_WB = pp_quat_mul(s->rotation, def->rotation_WB);
        return PERP_OK;
    }
    if (r->spatial || def->motion_angle) {
        const char *text[3] = {def->motion_angle, NULL, NULL};
        const char *sum = combine(r, angle, pp_vec(1.0, 0.0, 0.0), text, pp_vec(0.0, 0.0, 0.0));
        def->motion_angle = sum;
        return sum ? PERP_OK : PERP_ERR_MEMORY;
    }
    return PERP_OK;
}

perp_status pp_place_body(pp_reader *r, perp_body_def *def)
{
    const pp_scope *s = r->scope;
    if (!s->placed) {
        return PERP_OK;
    }
    perp_vec3 start = def->position_W;
    def->position_W = place_point(s, start);
    def->velocity_W = pp_place_direction(r, def->velocity_W);
    def->omega_W = pp_place_direction(r, def->omega_W);
    def->angle += s->angle;
    if (def->motion != PERP_MOTION_KINEMATIC) {
        def->rotation_WB =
            r->spatial ? pp_quat_mul(s->rotation, def->rotation_WB) : def->rotation_WB;
        return PERP_OK;
    }
    const char **text[3] = {&def->motion_x, &def->motion_y, &def->motion_z};
    perp_status status = turn_texts(r, text, s->position, start);
    return status < 0 ? status : place_turning(r, def);
}

// Shapes of the ground; those of bodies are in the frames of the bodies.
void pp_place_shape(const pp_reader *r, perp_shape_def *def)
{
    const pp_scope *s = r->scope;
    if (s->placed) {
        def->position_B = place_point(s, def->position_B);
        def->angle += s->angle;
        def->rotation_BS =
            r->spatial ? pp_quat_mul(s->rotation, def->rotation_BS) : def->rotation_BS;
    }
}

// The same of sites.
void pp_place_site(const pp_reader *r, perp_site_def *def)
{
    const pp_scope *s = r->scope;
    if (s->placed && def->body.i == 0) {
        def->position_B = place_point(s, def->position_B);
        def->angle += s->angle;
        def->rotation_BS =
            r->spatial ? pp_quat_mul(s->rotation, def->rotation_BS) : def->rotation_BS;
    }
}

// ── Joints and forces ────────────────────────────────────────────────────────────────────────────

// The frame of the ground is the world. The coordinate of a joint keeps its value: in the plane its
// zero turns with the part, in space it is where the bodies start.
void pp_place_joint(const pp_reader *r, pp_joint_input *joint)
{
    const pp_scope *s = r->scope;
    perp_joint_def *def = &joint->def;
    if (!s->placed) {
        return;
    }
    joint->at = place_point(s, joint->at);
    if (def->kind == PERP_JOINT_GEAR || def->kind == PERP_JOINT_COUPLING) {
        return;
    }
    // Anchors and axes of bodies of the part are in their own frames, and move with them.
    if (def->a.i == 0) {
        def->anchor_A = place_point(s, def->anchor_A);
        def->axis_A = pp_place_direction(r, def->axis_A);
        def->axis_angle += s->angle;
        def->angle += s->angle;
    }
    if (def->b.i == 0) {
        def->anchor_B = place_point(s, def->anchor_B);
        def->axis_B = pp_place_direction(r, def->axis_B);
        def->angle -= s->angle;
    }
}

// Variables of an expression as the part sees them: x is R^T (x_W - p) there, and so on.
typedef struct local_variables {
    const char *name[PP_SPATIAL_VARS], *with[PP_SPATIAL_VARS];
    int count;
} local_variables;

// Three variables that are a vector: their local components as texts of the world components.
static bool add_vector(pp_reader *r, const char *const names[3], perp_vec3 origin,
                       local_variables *all)
{
    pp_mat3 R = pp_quat_matrix(r->scope->rotation), Rt = pp_transpose3(&R);
    int n = r->spatial ? 3 : 2;
    for (int k = 0; k < n; k++) {
        perp_vec3 a = row(&Rt, k);
        const char *text[3] = {names[0], names[1], n == 3 ? names[2] : NULL};
        const char *sum = combine(r, -pp_dot3(a, origin), a, text, pp_vec(0.0, 0.0, 0.0));
        char *inside = sum ? pp_reader_text(r, strlen(sum) + 3) : NULL;
        if (!inside) {
            return false;
        }
        pp_print(inside, strlen(sum) + 3, "(%s)", sum);
        all->name[all->count] = names[k];
        all->with[all->count++] = inside;
    }
    return true;
}

// Position, velocity and angle or angular velocity. The quaternion is left out.
static bool add_variables(pp_reader *r, local_variables *all)
{
    static const char *const x[3] = {"x", "y", "z"}, *const v[3] = {"vx", "vy", "vz"};
    static const char *const w[3] = {"wx", "wy", "wz"};
    const pp_scope *s = r->scope;
    const perp_vec3 zero = pp_vec(0.0, 0.0, 0.0);
    all->count = 0;
    if (!add_vector(r, x, s->position, all)) {
        return false;
    }
    if (is_turned(s) && !add_vector(r, v, zero, all)) {
        return false;
    }
    if (r->spatial) {
        return !is_turned(s) || add_vector(r, w, zero, all);
    }
    // In the plane the part is turned by its angle; in space angles are no variables.
    char *angle = pp_reader_text(r, PIECE), number[PIECE - 16];
    if (!angle) {
        return false;
    }
    pp_number_print(number, sizeof number, s->angle);
    pp_print(angle, PIECE, "(angle - (%s))", number);
    all->name[all->count] = "angle";
    all->with[all->count++] = angle;
    return true;
}

// An expression of the state, in terms of the world.
static perp_status place_text(pp_reader *r, const local_variables *all, const char **text)
{
    static const char *const turning[3] = {"qx", "qy", "qz"}, *const nothing[3] = {"", "", ""};
    if (!*text) {
        return PERP_OK;
    }
    size_t length = strlen(*text);
    if (is_turned(r->scope) && pp_expr_replace(*text, turning, nothing, 3, NULL, 0) != length) {
        return pp_reader_fail(
            r, "a force that depends on qx, qy or qz, in a file or assembly that is rotated; write "
               "the force in the scene itself");
    }
    size_t size = pp_expr_replace(*text, all->name, all->with, all->count, NULL, 0) + 1;
    char *copy = pp_reader_text(r, size);
    if (!copy) {
        return PERP_ERR_MEMORY;
    }
    pp_expr_replace(*text, all->name, all->with, all->count, copy, size);
    *text = copy;
    return PERP_OK;
}

// A force on a body: its expressions see the frame of the part, and so do its components unless they
// are in body axes.
static perp_status place_wrench(pp_reader *r, perp_force_def *def)
{
    const char **text[6] = {&def->fx, &def->fy, &def->fz, &def->tx, &def->ty, &def->torque};
    const perp_vec3 zero = pp_vec(0.0, 0.0, 0.0);
    local_variables all;
    if (!add_variables(r, &all)) {
        return PERP_ERR_MEMORY;
    }
    for (int k = 0; k < 6; k++) {
        perp_status status = place_text(r, &all, text[k]);
        if (status < 0) {
            return status;
        }
    }
    if (def->body_axes || !is_turned(r->scope)) {
        return PERP_OK;
    }
    perp_status status = turn_texts(r, text, zero, zero);
    return status < 0 || !r->spatial ? status : turn_texts(r, text + 3, zero, zero);
}

perp_status pp_place_force(pp_reader *r, perp_force_def *def)
{
    const pp_scope *s = r->scope;
    if (!s->placed) {
        return PERP_OK;
    }
    if (def->kind == PERP_FORCE_WRENCH) {
        return place_wrench(r, def);
    }
    if (def->kind == PERP_FORCE_SPRING) {
        def->anchor_A = def->a.i == 0 ? place_point(s, def->anchor_A) : def->anchor_A;
        def->anchor_B = def->b.i == 0 ? place_point(s, def->anchor_B) : def->anchor_B;
    }
    if (def->kind == PERP_FORCE_TORSION_SPRING) {
        def->rest += def->a.i == 0 ? s->angle : 0.0;
        def->rest -= def->b.i == 0 ? s->angle : 0.0;
    }
    return PERP_OK;
}

// ── The start ────────────────────────────────────────────────────────────────────────────────────

// The value of a motion at t = 0; one that is left out stays where the body starts.
static perp_status start_value(pp_reader *r, const char *text, double *value)
{
    static const char *const names[1] = {"t"};
    const double zero[1] = {0.0};
    const pp_expr *expr;
    pp_expr_error error;
    if (!text) {
        return PERP_OK;
    }
    // The text has been checked where it stands; what can fail here is memory, or a value that is not finite.
    pp_mark mark = pp_arena_mark(r->arena);
    perp_status status = pp_expr_parse(text, names, 1, r->arena, &expr, &error);
    if (status == PERP_OK) {
        *value = pp_expr_value(expr, zero);
    }
    pp_arena_release(r->arena, mark);
    if (status == PERP_ERR_MEMORY) {
        return pp_reader_memory(r);
    }
    if (status < 0 || !isfinite(*value)) {
        return pp_reader_fail(r, "'at' needs a motion that is finite at t = 0; give 'anchor_a' and "
                                 "'anchor_b' instead");
    }
    return PERP_OK;
}

// As the model moves it: R = Rz(rz) Ry(ry) Rx(rx) R_0.
perp_status pp_initial_pose(pp_reader *r, const perp_body_def *def, perp_vec3 *position,
                            double *angle, perp_quat *rotation)
{
    const char *text[6] = {def->motion_x,  def->motion_y,  def->motion_z,
                           def->motion_rx, def->motion_ry, def->motion_angle};
    double at[6] = {def->position_W.x,
                    def->position_W.y,
                    def->position_W.z,
                    0.0,
                    0.0,
                    r->spatial ? 0.0 : def->angle};
    for (int k = 0; k < 6; k++) {
        perp_status status = start_value(r, text[k], &at[k]);
        if (status < 0) {
            return status;
        }
    }
    // Rotations about the axes of the world, x first.
    perp_quat x = pp_quat_exp(pp_vec(at[3], 0.0, 0.0)), y = pp_quat_exp(pp_vec(0.0, at[4], 0.0));
    perp_quat z = pp_quat_exp(pp_vec(0.0, 0.0, at[5]));
    *position = pp_vec(at[0], at[1], at[2]);
    *angle = at[5];
    *rotation = pp_quat_mul(z, pp_quat_mul(y, pp_quat_mul(x, pp_quat_unit(def->rotation_WB))));
    return PERP_OK;
}
