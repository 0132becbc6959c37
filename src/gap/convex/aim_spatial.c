// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Axes of two solids: faces of both, and the line through the closest points where it will be.
//
// Along the normal of a face the other solid is seen as above the half-space of that face; of its points, those count
// that are above the face or come there in the step.
#include "gap/aim.h"
#include "gap/convex/convex.h"
#include "gap/pair.h"

#include <math.h>

// The pair while axes are tried on it.
typedef struct solid_pair {
    pp_aim_task *task;
    const pp_solid *a, *b;
    pp_pose Xa, Xb;  // seen from a's body
} solid_pair;

// Support point, in world axes from a's body.
static perp_vec3 world_support(const pp_solid *s, const pp_pose *X, perp_vec3 d)
{
    return pp_pose_point(X, pp_solid_support(s, pp_mul_t(&X->R, d)));
}

// s(n) of the separating axis test.
static double separation_spatial(const solid_pair *d, perp_vec3 n)
{
    perp_vec3 x = world_support(d->a, &d->Xa, n),
              y = world_support(d->b, &d->Xb, pp_scale(-1.0, n));
    return pp_dot3(n, pp_sub(y, x));
}

// How far a point is outside the planes that bound a solid, at most; own frame. Curved sides count as they are.
static double outside_planes(const pp_solid *s, perp_vec3 x)
{
    double most = -HUGE_VAL, across = pp_length2(x.x, x.y);
    switch (s->kind) {
    case PP_SOLID_BOX:
        return fmax(fmax(fabs(x.x) - s->half.x, fabs(x.y) - s->half.y), fabs(x.z) - s->half.z);
    case PP_SOLID_CYLINDER:
        return fmax(across - s->radius, fabs(x.z) - s->half.z);
    case PP_SOLID_CONE:
        return fmax(across - s->radius, -x.z - s->half.z);
    case PP_SOLID_HULL:
        for (int k = 0; k < s->hull->faces; k++) {
            perp_vec3 corner = s->hull->vertex[s->hull->corner[s->hull->face_first[k]]];
            most = fmax(most, pp_dot3(s->hull->face_normal[k], pp_sub(x, corner)));
        }
        return most;
    case PP_SOLID_SPHERE:
    case PP_SOLID_CAPSULE:
    case PP_SOLID_ELLIPSOID:
    case PP_SOLID_HALFSPACE:
        break;
    }
    return most;
}

// The k-th face: outward normal and a point of it, own frame. False: no more; solids without faces have none.
static bool face_of(const pp_solid *s, int k, perp_vec3 *n, perp_vec3 *x)
{
    switch (s->kind) {
    case PP_SOLID_BOX:
        if (k < 6) {
            // +x, -x, +y, -y, +z, -z
            double sign = k % 2 ? -1.0 : 1.0;
            *n = pp_vec(0.0, 0.0, sign);
            if (k / 2 == 0) {
                *n = pp_vec(sign, 0.0, 0.0);
            } else if (k / 2 == 1) {
                *n = pp_vec(0.0, sign, 0.0);
            }
            *x = pp_vec(n->x * s->half.x, n->y * s->half.y, n->z * s->half.z);
        }
        return k < 6;
    case PP_SOLID_CYLINDER:
        *n = pp_vec(0.0, 0.0, k == 0 ? 1.0 : -1.0);
        *x = pp_scale(s->half.z, *n);
        return k < 2;
    case PP_SOLID_CONE:
        *n = pp_vec(0.0, 0.0, -1.0);
        *x = pp_scale(s->half.z, *n);
        return k < 1;
    case PP_SOLID_HULL:
        if (k < s->hull->faces) {
            *n = s->hull->face_normal[k];
            *x = s->hull->vertex[s->hull->corner[s->hull->face_first[k]]];
        }
        return k < s->hull->faces;
    case PP_SOLID_SPHERE:
    case PP_SOLID_CAPSULE:
    case PP_SOLID_ELLIPSOID:
    case PP_SOLID_HALFSPACE:
        break;
    }
    return false;
}

// ── Faces ────────────────────────────────────────────────────────────────────────────────────────

// The reference solid, whose faces are the axes, and the incident one, whose points are above them.
typedef struct aim_view {
    const pp_solid *ref, *inc;
    const pp_pose *X_WR, *X_WI;
    bool ref_is_b;
} aim_view;

// touch: from the incident solid to the half-space of the face. turned: the reference is b, so n is touch->n as it is.
static void add_point_above_face(pp_aim_task *t, const pp_touch_point *touch, bool turned,
                                 pp_aim *aim)
{
    pp_contact *c = &aim->point[aim->count++];
    *c = (pp_contact){.feature = touch->feature,
                      .point = pp_scale(0.5, pp_add(touch->x_a, touch->x_b)),
                      .n = pp_scale(turned ? 1.0 : -1.0, touch->n),
                      .gap = touch->gap};
    aim->end = fmin(aim->end, pp_aim_end(t, c->point, c->n, c->gap));
}

static double lowest_gap(const pp_aim *aim)
{
    double lowest = HUGE_VAL;
    for (int k = 0; k < aim->count; k++) {
        lowest = fmin(lowest, aim->point[k].gap);
    }
    return lowest;
}

// The other solid above the half-space of a face (n, x in the world's axes).
static void offer_face_axis(pp_aim_task *t, const aim_view *v, perp_vec3 n, perp_vec3 x)
{
    perp_vec3 e = pp_across(n);
    const pp_solid plane = {.kind = PP_SOLID_HALFSPACE};
    const pp_pose X = {x, pp_mat3_columns(e, pp_cross(n, e), n)};
    pp_touch_point touch[PP_TOUCH_MAX];
    pp_aim aim = {.count = 0, .end = HUGE_VAL};
    perp_vec3 low = world_support(v->inc, v->X_WI, pp_scale(-1.0, n));
    aim.s = pp_dot3(n, pp_sub(low, x));
    if (!(aim.s >= fmin(t->best.s, 0.0) - t->touching)) {
        return;  // does not separate now
    }
    if (pp_aim_is_found(t, pp_scale(v->ref_is_b ? -1.0 : 1.0, n))) {
        return;  // before its points are looked for
    }
    int count = pp_solid_touch(v->inc, v->X_WI, &plane, &X, HUGE_VAL, touch);
    for (int k = 0; k < count; k++) {
        // touch: from the solid to the half-space
        double beyond = outside_planes(v->ref, pp_pose_local(v->X_WR, touch[k].x_b));
        if (beyond <= 2.0 * pp_aim_travel(t, touch[k].x_a) + t->touching) {
            add_point_above_face(t, &touch[k], v->ref_is_b, &aim);
        }
    }
    // beside the face, and not coming there: the axis separates by as much as its lowest point says
    if (count > 0 && lowest_gap(&aim) > touch[0].gap + t->level) {
        add_point_above_face(t, &touch[0], v->ref_is_b, &aim);
    }
    pp_contacts_sort(aim.point, aim.count);
    pp_aim_offer(t, &aim);
}

// Faces that look more than 120 degrees away from the normal that was found would turn the contact around.
static void offer_faces(pp_aim_task *t, const aim_view *v)
{
    perp_vec3 n, x;
    for (int k = 0; face_of(v->ref, k, &n, &x); k++) {
        perp_vec3 n_W = pp_mul(&v->X_WR->R, n), from = pp_scale(v->ref_is_b ? -1.0 : 1.0, n_W);
        if (pp_dot3(from, t->found) > -0.5) {
            offer_face_axis(t, v, n_W, pp_pose_point(v->X_WR, x));
        }
    }
}

// ── Closest points ───────────────────────────────────────────────────────────────────────────────

static double radius_of(const pp_solid *s)
{
    return s->kind == PP_SOLID_SPHERE || s->kind == PP_SOLID_CAPSULE ? s->radius : 0.0;
}

// Where two solids act on each other along an axis n that separates them by s: half of s from the one that has its
// closest point as a support along n as well; else from the support that is nearer to the old place. What is round keeps
// the point that its radius is about.
static perp_vec3 point_along(const solid_pair *d, const pp_contact *c, perp_vec3 n, double s)
{
    double ra = radius_of(d->a), rb = radius_of(d->b), half = 0.5 * c->gap,
           rounding = d->task->rounding;
    perp_vec3 x = pp_along(pp_along(c->point, -half - ra, c->n), ra, n),
              y = pp_along(pp_along(c->point, half + rb, c->n), -rb, n);
    perp_vec3 far_x = world_support(d->a, &d->Xa, n),
              far_y = world_support(d->b, &d->Xb, pp_scale(-1.0, n));
    if (pp_dot3(n, pp_sub(far_x, x)) <= rounding) {
        return pp_along(x, 0.5 * s, n);
    }
    if (pp_dot3(n, pp_sub(y, far_y)) <= rounding) {
        return pp_along(y, -0.5 * s, n);
    }
    perp_vec3 of_a = pp_along(far_x, 0.5 * s, n), of_b = pp_along(far_y, -0.5 * s, n);
    bool nearer_a = pp_length(pp_sub(of_a, c->point)) <= pp_length(pp_sub(of_b, c->point));
    return nearer_a ? of_a : of_b;
}

// Apart: the direction from one closest point (of what is round: its centre) to the other at the end of the step.
static void offer_closest(const solid_pair *d)
{
    pp_aim_task *t = d->task;
    const pp_contact *c = &t->best.point[0];
    if (t->changed || t->best.count != 1 || !(c->gap > 0.0)) {
        return;
    }
    // D: from the point of a to that of b at the end of the step, in the basis (n, across, other)
    double distance = c->gap + radius_of(d->a) + radius_of(d->b);
    perp_vec3 across = pp_across(c->n), other = pp_cross(c->n, across);
    perp_vec3 D = pp_scale(pp_aim_end(t, c->point, c->n, distance), c->n);
    D = pp_along(D, pp_aim_end(t, c->point, across, 0.0), across);
    D = pp_along(D, pp_aim_end(t, c->point, other, 0.0), other);
    pp_aim aim = {.count = 1, .end = HUGE_VAL};
    aim.point[0] = *c;
    aim.point[0].n = pp_unit(D, c->n);
    aim.s = aim.point[0].gap = separation_spatial(d, aim.point[0].n);
    aim.point[0].point = point_along(d, c, aim.point[0].n, aim.s);
    aim.end = pp_aim_end(t, aim.point[0].point, aim.point[0].n, aim.s);
    if (aim.s > 0.0) {
        pp_aim_offer(t, &aim);
    }
}

void pp_aim_spatial(pp_aim_task *t)
{
    const pp_shape *a = &t->model->shape[t->a], *b = &t->model->shape[t->b];
    const pp_frame *fa = &t->kin->poses.body[a->body], *fb = &t->kin->poses.body[b->body];
    solid_pair d = {.task = t,
                    .a = &a->solid,
                    .b = &b->solid,
                    .Xa = pp_shape_pose_from(a, fa, fa->p),
                    .Xb = pp_shape_pose_from(b, fb, fa->p)};
    offer_faces(t, &(aim_view){d.a, d.b, &d.Xa, &d.Xb, false});
    offer_faces(t, &(aim_view){d.b, d.a, &d.Xb, &d.Xa, true});
    offer_closest(&d);
}
