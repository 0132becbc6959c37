// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The certificate judges exactly the pairs that contact detection looks at, by code of its own.
#include "certify/geometry/filter.h"
#include "support/cmocka.h"
#include "support/random.h"

#include <perp/perp.h>

static perp_shape_def random_shape(rng *r, bool dynamic)
{
    static const perp_shape_kind kinds[] = {PERP_SHAPE_DISC, PERP_SHAPE_POINT, PERP_SHAPE_HALFPLANE,
                                            PERP_SHAPE_BOX};
    perp_shape_def def = perp_shape_default();
    def.kind = kinds[rng_below(r, dynamic ? 2 : 4)];
    def.detect = rng_below(r, 6) > 0;
    def.group = (uint32_t)rng_below(r, 8) << (rng_below(r, 2) ? 29 : 0);
    def.mask = (uint32_t)rng_below(r, 8) << (rng_below(r, 2) ? 29 : 0);
    return def;
}

static perp_model *random_model(rng *r)
{
    perp_builder *b = perp_builder_create(NULL);
    int bodies = 2 + rng_below(r, 6), shapes = 0;
    for (int i = 0; i <= bodies; i++) {
        perp_body body = {0};
        perp_body_def def = perp_body_default();
        def.motion = (perp_motion)rng_below(r, 3);
        def.position_W = (perp_vec3){rng_uniform(r, -2.0, 2.0), rng_uniform(r, -2.0, 2.0), 0.0};
        def.mass = def.inertia_zz = 1.0;
        body = i > 0 ? perp_builder_add_body(b, &def) : body;
        for (int k = rng_below(r, 4); k > 0; k--) {
            perp_shape_def shape = random_shape(r, i > 0 && def.motion == PERP_MOTION_DYNAMIC);
            perp_builder_add_shape(b, body, &shape);
            shapes++;
        }
    }
    for (int k = rng_below(r, 4); k > 0; k--) {
        perp_joint_def def = perp_joint_default();
        def.a = (perp_body){rng_below(r, bodies)};
        def.b = (perp_body){def.a.i + 1 + rng_below(r, bodies - def.a.i)};
        perp_builder_add_joint(b, &def);
    }
    for (int k = shapes > 1 ? rng_below(r, 4) : 0; k > 0; k--) {
        perp_pair_def def = perp_pair_default();
        def.a = (perp_shape){rng_below(r, shapes)};
        def.b = (perp_shape){rng_below(r, shapes)};
        def.ignore = rng_below(r, 2);
        perp_builder_add_pair(b, &def);
        perp_contact_def contact = perp_contact_default();
        contact.a = (perp_shape){rng_below(r, shapes)};
        contact.b = (perp_shape){rng_below(r, shapes)};
        perp_builder_add_contact(b, &contact);
    }
    for (int k = rng_below(r, 4); k > 0; k--) {
        perp_body a = {rng_below(r, bodies + 1)}, other = {rng_below(r, bodies + 1)};
        if (a.i != other.i) {
            perp_builder_add_exclusion(b, a, other);
        }
    }
    perp_builder_set_listed_only(b, rng_below(r, 8) == 0);
    perp_model *model = NULL;
    if (perp_model_create(b, &model, NULL) < 0) {
        model = NULL;  // a pair of one body, a joint of two fixed ones: not asked for here
    }
    perp_builder_destroy(b);
    return model;
}

static void judged_as_detected(void **state)
{
    (void)state;
    int count[PP_PAIR_JOINED + 1] = {0};
    FOR_SEEDS(seed, 2000)
    {
        rng r = rng_seed(seed);
        perp_model *m = random_model(&r);
        if (!m) {
            continue;
        }
        pp_arena *arena = pp_arena_create(NULL);
        pp_judged_pairs pairs;
        assert_true(pp_judged_pairs_open(&pairs, m, arena));
        for (int a = 0; a < m->shapes; a++) {
            for (int b = 0; b < m->shapes; b++) {
                pp_pair_filter why = pp_model_pair_filter(m, a, b);
                bool looked_at = why == PP_PAIR_COLLIDES || why == PP_PAIR_LISTED;
                CHECK(pp_pair_is_judged(&pairs, a, b) == looked_at, seed);
                count[why]++;
            }
        }
        pp_arena_destroy(arena);
        perp_model_destroy(m);
    }
    for (int k = 0; k <= PP_PAIR_JOINED; k++) {
        assert_true(count[k] > 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(judged_as_detected)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
