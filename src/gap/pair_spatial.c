// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contact points of one pair of shapes in space: a solid and a mesh, or two convex solids (convex/pair.c). Both are placed
// relative to the body of a, near which all differences are taken.
#include "gap/mesh/mesh.h"
#include "gap/pair.h"

pp_pose pp_shape_pose_from(const pp_shape *shape, const pp_frame *frame, perp_vec3 origin)
{
    pp_pose X = {pp_sub(frame->p, origin), frame->R};
    return pp_pose_mul(&X, &shape->X_BS);
}

// Half-spaces and meshes: walls that other things lie against.
static bool endless(const pp_shape *shape)
{
    return shape->kind == PERP_SHAPE_HALFSPACE || shape->mesh != NULL;
}

// Between the witness points; on a wall, the witness on what lies against it: it moves with that.
static perp_vec3 contact_point_of(const pp_touch_point *touch, bool wall_a, bool wall_b)
{
    if (wall_a || wall_b) {
        return wall_a ? touch->x_b : touch->x_a;
    }
    return pp_scale(0.5, pp_add(touch->x_a, touch->x_b));
}

// Insertion sort: a pair has nine points at most.
void pp_contacts_sort(pp_contact *point, int count)
{
    for (int k = 1; k < count; k++) {
        pp_contact moved = point[k];
        int to = k;
        while (to > 0 && point[to - 1].feature > moved.feature) {
            point[to] = point[to - 1];
            to--;
        }
        point[to] = moved;
    }
}

int pp_gap_spatial(const perp_model *model, const pp_frame *body, int a, int b, double margin,
                   const pp_pair_hint *hint, pp_contact out[PP_POINTS_MAX])
{
    const pp_shape *sa = &model->shape[a], *sb = &model->shape[b];
    perp_vec3 origin = body[sa->body].p;
    pp_pose Xa = pp_shape_pose_from(sa, &body[sa->body], origin),
            Xb = pp_shape_pose_from(sb, &body[sb->body], origin);
    pp_touch_point touch[PP_TOUCH_MAX];
    int count;
    double turned =
        sa->mesh ? -1.0 : 1.0;  // against a mesh the solid is first: turns n back to a -> b
    if (sa->mesh) {
        count = pp_mesh_touch(&sb->solid, &Xb, sa->mesh, &Xa, margin, touch);
    } else if (sb->mesh) {
        count = pp_mesh_touch(&sa->solid, &Xa, sb->mesh, &Xb, margin, touch);
    } else {
        pp_touch_hint near = {NULL, NULL};
        perp_vec3 rim;
        if (hint && hint->has_normal) {
            near.n = &hint->n;
        }
        if (hint && hint->has_rim) {
            rim = pp_sub(hint->rim, origin);
            near.rim = &rim;
        }
        count = pp_solid_touch_near(&sa->solid, &Xa, &sb->solid, &Xb, margin, near, touch);
    }
    for (int k = 0; k < count; k++) {
        // x_a and x_b of the touch are of the first and second solid as called, which may be b and a
        bool wall_a = endless(turned > 0.0 ? sa : sb);
        bool wall_b = endless(turned > 0.0 ? sb : sa);
        out[k] = (pp_contact){.feature = touch[k].feature,
                              .point = contact_point_of(&touch[k], wall_a, wall_b),
                              .n = pp_scale(turned, touch[k].n),
                              .gap = touch[k].gap};
    }
    pp_contacts_sort(out, count);
    return count;
}

// Places are moved to the origin of a's body and back; directions are as they are.
bool pp_gap_rim(const perp_model *model, const pp_frame *body, int a, int b, perp_vec3 n,
                bool nearest, perp_vec3 aim, perp_vec3 *x)
{
    const pp_shape *sa = &model->shape[a], *sb = &model->shape[b];
    perp_vec3 origin = body[sa->body].p;
    pp_pose Xa = pp_shape_pose_from(sa, &body[sa->body], origin),
            Xb = pp_shape_pose_from(sb, &body[sb->body], origin);
    if (!model->spatial || sa->mesh || sb->mesh ||
        !pp_solid_rim(&sa->solid, &Xa, &sb->solid, &Xb, n, nearest,
                      nearest ? pp_sub(aim, origin) : aim, x)) {
        return false;
    }
    *x = pp_add(origin, *x);
    return true;
}
