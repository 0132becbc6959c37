// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The narrow phase of one pair of shapes: contact points in the plane or in space.
//
// What is filled here is geometry alone: coefficients, tangents of rules and surface speeds come from the rules of the
// pair (run.c).
#include "gap/pair.h"

static bool flat(const pp_shape *shape)  // and endless, or in space not convex
{
    return shape->kind == PERP_SHAPE_HALFPLANE || shape->kind == PERP_SHAPE_HALFSPACE ||
           shape->kind == PERP_SHAPE_MESH || shape->kind == PERP_SHAPE_HEIGHTFIELD;
}

// Two points, and two shapes that are endless or not convex, have no narrow phase.
bool pp_gap_possible(const pp_shape *a, const pp_shape *b)
{
    return !(a->kind == PERP_SHAPE_POINT && b->kind == PERP_SHAPE_POINT) && !(flat(a) && flat(b));
}

int pp_gap_pair(const perp_model *model, const pp_frame *body, int a, int b, double margin,
                pp_contact out[PP_POINTS_MAX])
{
    return pp_gap_pair_near(model, body, a, b, margin, NULL, out);
}

int pp_gap_pair_near(const perp_model *model, const pp_frame *body, int a, int b, double margin,
                     const pp_pair_hint *hint, pp_contact out[PP_POINTS_MAX])
{
    if (!pp_gap_possible(&model->shape[a], &model->shape[b])) {
        return 0;
    }
    // The same pair is always looked at from the same side, so that swapping only turns the normal.
    int low = a < b ? a : b, high = a + b - low;
    perp_vec3 origin = body[model->shape[low].body].p;
    int count;
    if (model->spatial) {
        count = pp_gap_spatial(model, body, low, high, margin, hint, out);
    } else {
        count = pp_gap_planar(model, body, low, high, margin, out);
    }
    // points come relative to the body of `low`, normals from low to high
    for (int k = 0; k < count; k++) {
        pp_contact *c = &out[k];
        c->a = a;
        c->b = b;
        c->listed = -1;
        c->mu_2 = -1.0;
        c->point = pp_add(origin, c->point);
        if (a > b) {
            c->n = pp_scale(-1.0, c->n);
        }
        // any tangent across n in space; in the plane n turned by -90 degrees, (P6)
        c->t = model->spatial ? pp_across(c->n) : pp_vec(c->n.y, -c->n.x, 0.0);
    }
    return count;
}
