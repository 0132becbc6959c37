// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// From frames to coordinates: each joint is read from the frames of its two bodies, and the error
// of this is measured.
#include "tree/hinge.h"

#include <math.h>
#include <string.h>

static const double TWO_PI = 6.283185307179586;

// Frames of a joint's bodies, and the anchors and axes that its coordinates are measured by, in
// world axes.
typedef struct joint_view {
    const pp_frame *a, *b;
    perp_vec3 pa, pb;   // anchors
    perp_vec3 u, x, y;  // fixed in a
    perp_vec3 ub, zb;   // axis of b, and its direction of angle 0
} joint_view;

// Anchors and axes at the given frames.
static joint_view joint_view_of(const pp_hinge *h, const pp_frame *a, const pp_frame *b)
{
    return (joint_view){.a = a,
                        .b = b,
                        .pa = pp_point(a, h->r_A),
                        .pb = pp_point(b, h->r_B),
                        .u = pp_rotate(a, h->u),
                        .x = pp_rotate(a, h->x),
                        .y = pp_rotate(a, h->y),
                        .ub = pp_rotate(b, h->u_b),
                        .zb = pp_rotate(b, h->z_b)};
}

// The angle in the turn nearest to a previous value; NaN: unknown.
static double near(double angle, double was)
{
    return isfinite(was) ? angle + TWO_PI * round((was - angle) / TWO_PI) : angle;
}

// The joint's own angle, measured as constraint/ does.
static double angle_of(const joint_view *w)
{
    return pp_atan2(pp_dot3(w->y, w->zb), pp_dot3(w->x, w->zb));
}

// Both angles of a universal joint. rot = c c_2 K_0 + s c_2 K_1 + c s_2 K_2 + s s_2 K_3 in an
// orthonormal basis of quaternions; given the first angle, the second follows from the products
// with it.
static void universal_angles(const pp_hinge *h, const joint_view *w, perp_quat rot, double *q)
{
    double e[4];
    q[0] = angle_of(w);
    double c = pp_cos(0.5 * q[0]), s = pp_sin(0.5 * q[0]);
    for (int k = 0; k < 4; k++) {
        const perp_quat *K = &h->K[k];
        e[k] = rot.w * K->w + rot.x * K->x + rot.y * K->y + rot.z * K->z;
    }
    double angle = 2.0 * pp_atan2(c * e[2] + s * e[3], c * e[0] + s * e[1]);
    q[1] = angle - TWO_PI * round(angle / TWO_PI);
}

// Coordinates of a spatial joint. turn: the last coordinate with its full turns.
static void read_spatial(const pp_link *l, const pp_hinge *h, const joint_view *w, double turn,
                         double *q)
{
    perp_vec3 d = pp_sub(w->pb, w->pa);
    perp_quat rot = pp_quat_mul(pp_quat_conjugate(w->a->rot), w->b->rot);  // R_AB
    perp_quat own = l->turned ? pp_quat_conjugate(rot) : rot;
    // Angles continue from the last full turns, where these are known.
    switch (l->kind) {
    case PP_LINK_SCREW: {
        double along = pp_dot3(d, w->u) / h->pitch;  // else the thread shows the turns [rad]
        q[0] = near(angle_of(w), isfinite(turn) ? turn : along);
        break;
    }
    case PP_LINK_PRISMATIC:
        q[0] = pp_dot3(d, w->u);
        break;
    case PP_LINK_CYLINDRICAL:
        q[0] = pp_dot3(d, w->u);
        q[1] = angle_of(w);
        break;
    case PP_LINK_UNIVERSAL:
        universal_angles(h, w, rot, q);
        q[0] = near(q[0], turn);
        break;
    case PP_LINK_PLANE:
        q[0] = pp_dot3(d, w->x);
        q[1] = pp_dot3(d, w->y);
        q[2] = near(angle_of(w), turn);
        break;
    case PP_LINK_SPHERICAL:
        own = pp_quat_unit(own);
        memcpy(q, &own, sizeof own);
        break;
    default:
        break;
    }
}

// A free body: position and velocity in the world, quaternion, angular velocity in body axes.
static void read_free(const pp_link *l, const pp_frame *f, double *q, double *qd)
{
    const double p[3] = {f->p.x, f->p.y, f->p.z}, v[3] = {f->v.x, f->v.y, f->v.z};
    int shifts = l->nv;  // translations; a particle has no others
    if (l->kind == PP_LINK_FLAT) {
        shifts = 2;
    } else if (l->kind == PP_LINK_FREE) {
        shifts = 3;
    }
    memcpy(q, p, (size_t)shifts * sizeof *p);
    memcpy(qd, v, (size_t)shifts * sizeof *v);
    if (l->kind == PP_LINK_FLAT) {
        q[2] = f->angle;
        qd[2] = f->w.z;
    } else if (l->kind == PP_LINK_FREE) {
        perp_vec3 w = pp_mul_t(&f->R, f->w);
        perp_quat rot = pp_quat_unit(f->rot);
        memcpy(q + 3, &rot, sizeof rot);
        memcpy(qd + 3, &w, sizeof w);
    }
}

// Rates from the velocity of b's anchor and the angular velocity of b, both relative to a.
static void read_rates(const pp_link *l, const joint_view *w, double *qd)
{
    perp_vec3 spin = pp_sub(w->b->w, w->a->w), own;
    perp_vec3 v = pp_sub(pp_point_velocity(w->b, w->pb), pp_point_velocity(w->a, w->pb));
    switch (l->kind) {
    case PP_LINK_REVOLUTE:  // in the plane
    case PP_LINK_SCREW:
        qd[0] = pp_dot3(spin, w->u);
        break;
    case PP_LINK_PRISMATIC:
        qd[0] = pp_dot3(v, w->u);
        break;
    case PP_LINK_CYLINDRICAL:
        qd[0] = pp_dot3(v, w->u);
        qd[1] = pp_dot3(spin, w->u);
        break;
    case PP_LINK_UNIVERSAL: {
        // least squares in the plane of both axes, which need not be orthogonal
        double c = pp_dot3(w->u, w->ub), s = pp_dot3(spin, w->u), r = pp_dot3(spin, w->ub);
        double det = 1.0 - c * c;
        qd[0] = det > 0.0 ? (s - c * r) / det : s;
        qd[1] = det > 0.0 ? (r - c * s) / det : 0.0;
        break;
    }
    case PP_LINK_PLANE:
        qd[0] = pp_dot3(v, w->x);
        qd[1] = pp_dot3(v, w->y);
        qd[2] = pp_dot3(spin, w->u);
        break;
    case PP_LINK_SPHERICAL:
        own = l->turned ? pp_scale(-1.0, pp_mul_t(&w->a->R, spin)) : pp_mul_t(&w->b->R, spin);
        memcpy(qd, &own, sizeof own);
        break;
    default:
        break;
    }
}

// The most common joint of machines, a hinge in space: of its view only what its angle asks for.
static void read_hinge(const pp_hinge *h, const pp_frame *a, const pp_frame *b, double turn,
                       double *q, double *qd)
{
    const joint_view w = {.u = pp_rotate(a, h->u),
                          .x = pp_rotate(a, h->x),
                          .y = pp_rotate(a, h->y),
                          .zb = pp_rotate(b, h->z_b)};
    q[0] = near(angle_of(&w), turn);
    qd[0] = pp_dot3(pp_sub(b->w, a->w), w.u);
}

// Places each child on its parent by the coordinates, and compares with the given frames.
static void compare_with_bodies(const pp_tree *tree, const pp_frame *body, const double *q,
                                const double *qd, double *lost, double *lost_rate)
{
    for (int i = 0; i < tree->links; i++) {
        const pp_link *l = &tree->link[i];
        if (l->joint < 0) {
            continue;
        }
        const pp_frame *parent = &body[l->carrier], *child = &body[l->body];
        pp_frame made = *child;  // where the coordinates put the child
        perp_twist column[PP_LINK_NV], V;
        pp_hinge_place(tree, i, q + l->at_q, parent, &made);
        pp_hinge_columns(tree, i, parent, child, column);
        V = pp_twist_at(pp_frame_twist(parent), pp_sub(child->p, parent->p));
        for (int k = 0; k < l->nv; k++) {
            V = pp_twist_add(V, qd[l->at_v + k], &column[k]);
        }
        double turned =
            tree->model->spatial
                ? pp_length(pp_quat_log(pp_quat_mul(pp_quat_conjugate(made.rot), child->rot)))
                : fabs(made.angle - child->angle);
        *lost = fmax(*lost, fmax(pp_length(pp_sub(made.p, child->p)), turned));
        *lost_rate = fmax(*lost_rate, fmax(pp_length(pp_sub(V.v_W, child->v)),
                                           pp_length(pp_sub(V.w_W, child->w))));
    }
}

static bool is_hinge(const pp_tree *tree, const pp_link *l)
{
    return tree->model->spatial && l->kind == PP_LINK_REVOLUTE;
}

int pp_tree_hinge_at(const pp_tree *tree, int joint)
{
    const pp_joint *j = &tree->model->joint[joint];
    const int body[2] = {j->a, j->b};
    for (int k = 0; k < 2 && !pp_joint_couples(j); k++) {
        int link = tree->of_body[body[k]];
        if (link >= 0 && tree->link[link].joint == joint && is_hinge(tree, &tree->link[link])) {
            return tree->link[link].at_q;
        }
    }
    return -1;
}

// Reads each link by itself from the frames of its two bodies. exact: turn has the coordinates there, not of a moment ago.
static void read_links(const pp_tree *tree, const pp_frame *body, const double *turn, bool exact,
                       double *q, double *qd)
{
    for (int i = 0; i < tree->links; i++) {
        const pp_link *l = &tree->link[i];
        const pp_hinge *h = &tree->hinge[i];
        double *at_q = q + l->at_q, *at_qd = qd + l->at_v;
        if (l->joint < 0) {
            read_free(l, &body[l->body], at_q, at_qd);
            continue;
        }
        const pp_frame *parent = &body[l->carrier], *child = &body[l->body];
        if (exact && turn && is_hinge(tree, l)) {  // the axis is fixed in a, whichever of both that is
            const pp_frame *a = l->turned ? child : parent;
            at_q[0] = turn[l->joint];
            at_qd[0] = pp_dot3(pp_sub(child->w, parent->w), pp_rotate(a, h->u));
            at_qd[0] = l->turned ? -at_qd[0] : at_qd[0];
            continue;
        }
        if (is_hinge(tree, l)) {
            read_hinge(h, l->turned ? child : parent, l->turned ? parent : child,
                       turn ? turn[l->joint] : (double)NAN, at_q, at_qd);
            continue;
        }
        joint_view w = joint_view_of(h, l->turned ? child : parent, l->turned ? parent : child);
        if (tree->model->spatial) {
            read_spatial(l, h, &w, turn ? turn[l->joint] : (double)NAN, at_q);
        } else if (l->kind == PP_LINK_REVOLUTE) {
            at_q[0] = w.b->angle - w.a->angle - h->angle;
        } else if (l->kind == PP_LINK_PRISMATIC) {
            at_q[0] = pp_dot3(pp_sub(w.pb, w.pa), w.u);
        }
        read_rates(l, &w, at_qd);
    }
}

void pp_tree_from_places(const pp_tree *tree, const pp_frame *body, const double *turn, double *q,
                         double *qd)
{
    read_links(tree, body, turn, true, q, qd);
}

// Errors are measured afterwards.
void pp_tree_from_frames(const pp_tree *tree, double t, const pp_frame *body, const double *turn,
                         double *q, double *qd, double *lost, double *lost_rate)
{
    read_links(tree, body, turn, false, q, qd);
    (void)t;  // bodies that are not free are where the frames have them
    if (lost && lost_rate) {
        *lost = *lost_rate = 0.0;
        compare_with_bodies(tree, body, q, qd, lost, lost_rate);
    }
}

// Coordinates with their full turns: joints of loops continue from the last ones, joints of the
// tree have theirs in q.
void pp_tree_turns(const pp_tree_pass *pass, double *turn)
{
    const pp_tree *tree = pass->tree;
    const perp_model *m = tree->model;
    for (int i = 0; i < tree->loops; i++) {
        int joint = tree->loop[i];
        bool known = isfinite(turn[joint]);
        pp_poses at = {.t = pass->t, .body = pass->body, .turn = known ? turn : NULL};
        if (pp_joint_has_coordinate(&m->joint[joint])) {
            pp_row row;
            pp_joint_coordinate(m, &at, joint, &row);
            turn[joint] = row.value;
        }
    }
    for (int i = 0; i < tree->links; i++) {
        const pp_link *l = &tree->link[i];
        if (l->joint >= 0 && pp_joint_has_coordinate(&m->joint[l->joint])) {
            // the coordinate of a planar joint is its angle, the last one of the link
            turn[l->joint] = pass->q[l->at_q + (l->kind == PP_LINK_PLANE ? 2 : 0)];
        }
    }
}

// A step in joint coordinates ends with velocities by the columns of its start. Where the next step
// starts a link that turns has others, different by a share h w, and these decide how fast it meets
// a contact.                                                                           theory (J7)
pp_frame *pp_tree_bodies_at(const pp_tree *tree, double t, const pp_frame *body, const double *turn,
                            pp_arena *arena)
{
    double *q = PP_ARRAY(arena, double, tree->nq), *qd = PP_ARRAY(arena, double, tree->nv);
    pp_frame *moved = PP_ARRAY(arena, pp_frame, tree->model->bodies);
    if (!q || !qd || !moved) {
        return NULL;
    }
    pp_tree_from_frames(tree, t, body, turn, q, qd, NULL, NULL);
    pp_tree_frames(tree, t, q, qd, moved);
    return pp_tree_velocities_taken(tree, body, moved, arena);
}

pp_frame *pp_tree_velocities_taken(const pp_tree *tree, const pp_frame *body, const pp_frame *moved,
                                   pp_arena *arena)
{
    pp_frame *out = PP_ARRAY(arena, pp_frame, tree->model->bodies);
    if (!out) {
        return NULL;
    }
    for (int i = 0; i < tree->model->bodies; i++) {
        out[i] = body[i];
        if (tree->model->body[i].nv > 0) {
            out[i].v = moved[i].v;
            out[i].w = moved[i].w;
        }
    }
    return out;
}
