// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contact coefficients of two shapes, combined from their own.
//
// The shape of higher priority alone determines friction. Of equal priorities, one rule applies to
// both shapes: the later one of perp_combine, so that the order of the shapes does not matter.
#include "model/builder.h"

#include <math.h>

const char *perp_combine_word(int combine)
{
    static const char *const words[] = {"default", "geometric", "min", "max"};
    return combine >= PERP_COMBINE_DEFAULT && combine <= PERP_COMBINE_MAX ? words[combine] : NULL;
}

// rule: not PERP_COMBINE_DEFAULT.
static double combined(perp_combine rule, double a, double b)
{
    if (rule == PERP_COMBINE_GEOMETRIC) {
        return sqrt(a * b);
    }
    return rule == PERP_COMBINE_MIN ? fmin(a, b) : fmax(a, b);
}

// Restitution and facets have no rule of their own: the larger one.
pp_pair_rule pp_shapes_combine(const pp_shape *a, const pp_shape *b)
{
    pp_pair_rule out = {.restitution = fmax(a->restitution, b->restitution),
                        .mu_2 = -1.0,
                        .facets = a->facets > b->facets ? a->facets : b->facets};
    if (a->priority != b->priority) {
        const pp_shape *first = a->priority > b->priority ? a : b;
        out.mu = first->mu;
        out.mu_spin = first->mu_spin;
        out.mu_roll = first->mu_roll;
        return out;
    }
    perp_combine rule = a->combine > b->combine ? a->combine : b->combine;
    bool given = rule != PERP_COMBINE_DEFAULT;
    perp_combine slide = given ? rule : PERP_COMBINE_GEOMETRIC;
    perp_combine turn = given ? rule : PERP_COMBINE_MAX;
    out.mu = combined(slide, a->mu, b->mu);
    out.mu_spin = combined(turn, a->mu_spin, b->mu_spin);
    out.mu_roll = combined(turn, a->mu_roll, b->mu_roll);
    return out;
}

// Shapes that do not exist leave the definition as it is: adding it reports them.
void pp_builder_combine(const perp_builder *builder, perp_pair_def *def)
{
    int count = builder->shapes.count;
    if (def->a.i < 0 || def->a.i >= count || def->b.i < 0 || def->b.i >= count) {
        return;
    }
    const pp_shape *shape = builder->shapes.items;
    pp_pair_rule rule = pp_shapes_combine(&shape[def->a.i], &shape[def->b.i]);
    def->mu = rule.mu;
    def->restitution = rule.restitution;
    def->mu_spin = rule.mu_spin;
    def->mu_roll = rule.mu_roll;
    def->facets = rule.facets;
}
