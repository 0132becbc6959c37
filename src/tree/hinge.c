// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Links: constants of a joint, pose of the child, columns of S.                        theory (J2)
#include "tree/hinge.h"

#include <math.h>

static const perp_vec3 EX = {1.0, 0.0, 0.0}, EY = {0.0, 1.0, 0.0}, EZ = {0.0, 0.0, 1.0};
static const perp_vec3 NONE = {0.0, 0.0, 0.0};
// Half turns about x and z.
static const perp_quat QI = {0.0, 1.0, 0.0, 0.0}, QK = {0.0, 0.0, 0.0, 1.0};

// A particle has as many velocities as its body, two or three.
int pp_link_nv(const perp_model *model, int body, pp_link_kind kind)
{
    static const int count[] = {
        [PP_LINK_WELD] = 0,  [PP_LINK_REVOLUTE] = 1,    [PP_LINK_PRISMATIC] = 1,
        [PP_LINK_SCREW] = 1, [PP_LINK_CYLINDRICAL] = 2, [PP_LINK_UNIVERSAL] = 2,
        [PP_LINK_PLANE] = 3, [PP_LINK_SPHERICAL] = 3,   [PP_LINK_FLAT] = 3,
        [PP_LINK_POINT] = 0, [PP_LINK_FREE] = 6,
    };
    return kind == PP_LINK_POINT ? model->body[body].nv : count[kind];
}

int pp_link_nq(const perp_model *model, int body, pp_link_kind kind)
{
    bool turns = kind == PP_LINK_SPHERICAL || kind == PP_LINK_FREE;
    return pp_link_nv(model, body, kind) + (turns ? 1 : 0);
}

// ── Constants ────────────────────────────────────────────────────────────────────────────────────

// The body in which each column of S is fixed, which decides how it changes in time. Translations
// of free bodies are fixed in the world. A single axis is fixed in both bodies, so that either
// would do.
static void make_rides(const pp_link *link, pp_axis_owner *ride)
{
    pp_axis_owner a = link->turned ? PP_AXIS_OWNER_CHILD : PP_AXIS_OWNER_PARENT;
    pp_axis_owner b = link->turned ? PP_AXIS_OWNER_PARENT : PP_AXIS_OWNER_CHILD;
    for (int k = 0; k < PP_LINK_NV; k++) {
        ride[k] = PP_AXIS_OWNER_PARENT;
    }
    if (link->kind == PP_LINK_UNIVERSAL) {
        ride[0] = a;
        ride[1] = b;
    } else if (link->kind == PP_LINK_PLANE) {
        ride[0] = ride[1] = a;
        ride[2] = b;
    } else if (link->kind == PP_LINK_SPHERICAL) {
        ride[0] = ride[1] = ride[2] = PP_AXIS_OWNER_CHILD;
    } else if (link->joint < 0) {
        int shifts = link->kind == PP_LINK_FLAT ? 2 : 3;
        for (int k = 0; k < PP_LINK_NV; k++) {
            ride[k] = k < shifts ? PP_AXIS_OWNER_NONE : PP_AXIS_OWNER_CHILD;
        }
    }
}

// Quaternion of the triad with the axes x, z x x and z.
static perp_quat triad(perp_vec3 x, perp_vec3 z)
{
    pp_mat3 F = pp_mat3_columns(x, pp_cross(z, x), z);
    return pp_matrix_quat(&F);
}

// The second angle of a universal joint is 0 at the start of the model: there the axis of a, seen
// from b and made perpendicular to b's axis, is n.
static perp_quat universal_triad(const perp_model *model, const pp_joint *j)
{
    pp_mat3 A = pp_quat_matrix(model->body[j->a].rot0), B = pp_quat_matrix(model->body[j->b].rot0);
    perp_vec3 n = pp_mul_t(&B, pp_mul(&A, j->axis_A));
    n = pp_along(n, -pp_dot3(n, j->axis_B), j->axis_B);
    n = pp_unit(n, pp_across(j->axis_B));
    return triad(j->axis_B, n);
}

// Products of the triads with the units of a turn about z (first angle) and about x (second angle).
static void make_quaternions(const perp_model *model, const pp_link *link, const pp_joint *j,
                             pp_hinge *h)
{
    bool universal = link->kind == PP_LINK_UNIVERSAL;
    perp_quat a = triad(j->zero_A, j->axis_A);
    perp_quat b = universal ? universal_triad(model, j) : triad(j->zero_B, j->axis_B);
    perp_quat back = pp_quat_conjugate(b), turned = pp_quat_mul(a, QK);
    h->K[0] = pp_quat_mul(a, back);
    h->K[1] = pp_quat_mul(turned, back);
    h->K[2] = pp_quat_mul(pp_quat_mul(a, QI), back);
    h->K[3] = pp_quat_mul(pp_quat_mul(turned, QI), back);
}

// Constants of a link. In the plane axes are along z, or in the plane for a slide.
void pp_hinge_make(const pp_tree *tree, const pp_link *link, pp_hinge *hinge)
{
    const perp_model *model = tree->model;
    *hinge = (pp_hinge){.u = EZ, .x = EX, .y = EY, .u_b = EZ};
    make_rides(link, hinge->ride);
    if (link->joint < 0) {
        return;
    }
    const pp_joint *j = &model->joint[link->joint];
    hinge->r_A = j->r_A;
    hinge->r_B = j->r_B;
    if (!model->spatial) {
        hinge->angle = j->angle;
        hinge->u = link->kind == PP_LINK_PRISMATIC ? j->axis_A : EZ;
        return;
    }
    hinge->u = j->axis_A;
    hinge->x = j->zero_A;
    hinge->y = pp_cross(j->axis_A, j->zero_A);
    hinge->u_b = j->axis_B;
    hinge->z_b = link->kind == PP_LINK_UNIVERSAL ? j->axis_B : j->zero_B;
    hinge->pitch = j->pitch;
    make_quaternions(model, link, j, hinge);
}

// ── Pose ─────────────────────────────────────────────────────────────────────────────────────────

// c a + s b.
static perp_quat mix(double c, perp_quat a, double s, perp_quat b)
{
    return (perp_quat){c * a.w + s * b.w, c * a.x + s * b.x, c * a.y + s * b.y, c * a.z + s * b.z};
}

// Normalises a quaternion that is off by rounding: one step of Newton's method for 1 / sqrt(n2).
static perp_quat settle(perp_quat q)
{
    double n2 = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, s = 1.5 - 0.5 * n2;
    return (perp_quat){s * q.w, s * q.x, s * q.y, s * q.z};
}

// Index of the angle among the coordinates of a link; -1: it has none.
static int angle_at(pp_link_kind kind)
{
    switch (kind) {
    case PP_LINK_REVOLUTE:
    case PP_LINK_SCREW:
    case PP_LINK_UNIVERSAL:
        return 0;
    case PP_LINK_CYLINDRICAL:
        return 1;
    case PP_LINK_PLANE:
        return 2;
    default:
        return -1;
    }
}

// The rotation from b to a, R_AB.
static perp_quat relative_rotation(const pp_link *link, const pp_hinge *h, const double *q)
{
    int at = angle_at(link->kind);
    if (at < 0) {
        return h->K[0];
    }
    double c, s, c_2, s_2;
    pp_sine_cosine(0.5 * q[at], &s, &c);
    perp_quat first = mix(c, h->K[0], s, h->K[1]);
    if (link->kind != PP_LINK_UNIVERSAL) {
        return first;
    }
    pp_sine_cosine(0.5 * q[1], &s_2, &c_2);
    return mix(c_2, first, s_2, mix(c, h->K[2], s, h->K[3]));
}

// Anchor of b relative to the origin of a, in a's axes.
static perp_vec3 anchor_b(const pp_link *link, const pp_hinge *h, const double *q)
{
    switch (link->kind) {
    case PP_LINK_PRISMATIC:
    case PP_LINK_CYLINDRICAL:
        return pp_along(h->r_A, q[0], h->u);
    case PP_LINK_SCREW:
        return pp_along(h->r_A, h->pitch * q[0], h->u);
    case PP_LINK_PLANE:
        return pp_along(pp_along(h->r_A, q[0], h->x), q[1], h->y);
    default:
        return h->r_A;
    }
}

// Free bodies have coordinates in the world. Particles keep the rotation that they started with.
static void place_free(const pp_body *body, const pp_link *link, const double *q, pp_frame *child)
{
    bool deep = link->kind == PP_LINK_FREE || link->nq == 3;
    child->p = pp_vec(q[0], q[1], deep && link->kind != PP_LINK_FLAT ? q[2] : 0.0);
    if (link->kind == PP_LINK_FREE) {
        pp_frame_set_rotation(child, pp_quat_unit((perp_quat){q[3], q[4], q[5], q[6]}));
    } else if (link->kind == PP_LINK_FLAT) {
        pp_frame_set_angle(child, q[2]);
    } else if (pp_body_is_spatial(body)) {
        pp_frame_set_rotation(child, body->rot0);
    } else {
        pp_frame_set_angle(child, body->angle0);
    }
}

// Rotation first; then the position, such that the child's anchor is where the parent and the joint
// put it.
void pp_hinge_place(const pp_tree *tree, int link, const double *q, const pp_frame *parent,
                    pp_frame *child)
{
    const pp_link *l = &tree->link[link];
    const pp_hinge *h = &tree->hinge[link];
    child->angle = 0.0;
    if (l->joint < 0) {
        place_free(&tree->model->body[l->body], l, q, child);
        return;
    }
    if (!tree->model->spatial) {
        double turn = h->angle + (l->kind == PP_LINK_REVOLUTE ? q[0] : 0.0);
        pp_frame_set_angle(child, parent->angle + (l->turned ? -turn : turn));
    } else if (l->kind == PP_LINK_SPHERICAL) {
        perp_quat rot = pp_quat_unit((perp_quat){q[0], q[1], q[2], q[3]});
        pp_frame_set_rotation(child, settle(pp_quat_mul(parent->rot, rot)));
    } else {
        perp_quat rot = relative_rotation(l, h, q);
        rot = l->turned ? pp_quat_conjugate(rot) : rot;
        pp_frame_set_rotation(child, settle(pp_quat_mul(parent->rot, rot)));
    }
    // The anchor of b, which the joint places in a. Either a or b is the child (`turned`: a).
    perp_vec3 b = anchor_b(l, h, q), there = l->turned ? h->r_B : b, here = l->turned ? b : h->r_B;
    child->p = pp_sub(pp_point(parent, there), pp_rotate(child, here));
}

// ── Columns ──────────────────────────────────────────────────────────────────────────────────────

// A translation along d.
static perp_twist shift(perp_vec3 d)
{
    return (perp_twist){d, NONE};
}

// A rotation about the axis w through a point at r from the centre of mass.
static perp_twist turn_about(perp_vec3 w, perp_vec3 r)
{
    return (perp_twist){pp_cross(r, w), w};
}

// Translations along the axes of the world; rotations about z, or in space about the child's own
// axes.
static void free_columns(const pp_link *l, const pp_frame *child, perp_twist *column)
{
    static const perp_vec3 axis[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    int shifts = l->nv;  // translations; a particle has no others
    if (l->kind == PP_LINK_FLAT) {
        shifts = 2;
    } else if (l->kind == PP_LINK_FREE) {
        shifts = 3;
    }
    for (int k = 0; k < shifts; k++) {
        column[k] = shift(axis[k]);
    }
    if (l->kind == PP_LINK_FLAT) {
        column[2] = turn_about(EZ, NONE);
    }
    for (int k = 3; k < l->nv; k++) {
        column[k] = turn_about(pp_mat3_column(&child->R, k - 3), NONE);
    }
}

// Twist of the child relative to its parent per unit rate, in world axes at the child's centre of
// mass. A joint moves b relative to a. Where the child is a (`turned`) it moves the other way: sign
// = -1.
void pp_hinge_columns(const pp_tree *tree, int link, const pp_frame *parent, const pp_frame *child,
                      perp_twist *column)
{
    const pp_link *l = &tree->link[link];
    const pp_hinge *h = &tree->hinge[link];
    if (l->joint < 0) {
        free_columns(l, child, column);
        return;
    }
    const pp_frame *a = l->turned ? child : parent, *b = l->turned ? parent : child;
    double sign = l->turned ? -1.0 : 1.0;
    // The child's anchor, from its centre of mass.
    perp_vec3 r = l->turned ? pp_rotate(child, h->r_A) : pp_rotate(child, h->r_B);
    perp_vec3 u = pp_scale(sign, pp_rotate(a, h->u));
    switch (l->kind) {
    case PP_LINK_REVOLUTE:
        column[0] = turn_about(u, r);
        break;
    case PP_LINK_PRISMATIC:
        column[0] = shift(u);
        break;
    case PP_LINK_SCREW:
        column[0] = turn_about(u, r);
        column[0].v_W = pp_along(column[0].v_W, h->pitch, u);
        break;
    case PP_LINK_CYLINDRICAL:
        column[0] = shift(u);
        column[1] = turn_about(u, r);
        break;
    case PP_LINK_UNIVERSAL:
        column[0] = turn_about(u, r);
        column[1] = turn_about(pp_scale(sign, pp_rotate(b, h->u_b)), r);
        break;
    case PP_LINK_PLANE:  // b turns about its own anchor
        column[0] = shift(pp_scale(sign, pp_rotate(a, h->x)));
        column[1] = shift(pp_scale(sign, pp_rotate(a, h->y)));
        column[2] = turn_about(u, pp_sub(pp_point(b, h->r_B), child->p));
        break;
    case PP_LINK_SPHERICAL:
        for (int k = 0; k < 3; k++) {
            column[k] = turn_about(pp_mat3_column(&child->R, k), r);
        }
        break;
    default:  // a weld has none
        break;
    }
}
