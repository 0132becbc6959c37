// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A cylinder on a rough floor in slanted gravity. It tips over its rim, towards a direction between the points of the
// rim that a manifold has: it stands while the slope is below r/h, and beyond it turns about the lowest point of the
// rim with the acceleration of a rigid body about that point. Tipping about the chord between two of eight points would
// begin at 0.92 r/h.                                                                     theory (H18)
#include "support/cmocka.h"
#include "support/random.h"

#include <math.h>
#include <perp/perp.h>
#include <stdio.h>
#include <string.h>

static const double RADIUS = 0.2, HALF = 0.5, G = 10.0, PI = 3.14159265358979323846;

// share: of the slope at which it tips; azimuth of the fall [rad].
static perp_sim *stand(double share, double azimuth, perp_model **model, perp_body *body)
{
    perp_builder *builder = perp_builder_create(NULL);
    perp_shape_def floor = perp_shape_default(), shape = perp_shape_default();
    perp_body_def def = perp_body_default();
    perp_sim_def sim_def = perp_sim_default();
    perp_error error = {0};
    perp_sim *sim = NULL;
    double slant = share * G * RADIUS / HALF;
    perp_builder_set_gravity(builder, (perp_vec3){slant * cos(azimuth), slant * sin(azimuth), -G});
    floor.kind = PERP_SHAPE_HALFSPACE;
    floor.mu = shape.mu = 2.0;
    perp_builder_add_shape(builder, (perp_body){0}, &floor);
    def.kind = PERP_BODY_SPATIAL;
    def.position_W = (perp_vec3){0.0, 0.0, HALF};
    *body = perp_builder_add_body(builder, &def);
    shape.kind = PERP_SHAPE_CYLINDER;
    shape.radius = RADIUS;
    shape.half.z = HALF;
    shape.density = 100.0;
    perp_builder_add_shape(builder, *body, &shape);
    sim_def.stepper = PERP_STEPPER_EVENT;
    if (perp_model_create(builder, model, &error) < 0 ||
        perp_sim_create(*model, &sim_def, NULL, &sim, &error) < 0) {
        print_error("%s\n", error.text);
        fail();
    }
    perp_builder_destroy(builder);
    return sim;
}

static void stands_below_the_slope(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        perp_model *model = NULL;
        perp_body body;
        perp_sim *sim = stand(0.99, PI * (2.0 * k + 1.0) / 16.0, &model, &body);
        for (int i = 0; i < 10; i++) {
            assert_int_equal(perp_sim_step(sim, 0.01), PERP_OK);
        }
        perp_twist v = perp_sim_body_twist(sim, body);
        assert_true(fabs(v.w_W.x) + fabs(v.w_W.y) + fabs(v.w_W.z) < 1e-12);
        perp_sim_destroy(sim);
        perp_model_destroy(model);
    }
}

static void tips_about_its_rim_beyond(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        double share = 1.02, azimuth = PI * (2.0 * k + 1.0) / 16.0, t = 0.01;
        perp_model *model = NULL;
        perp_body body;
        perp_sim *sim = stand(share, azimuth, &model, &body);
        assert_int_equal(perp_sim_step(sim, t), PERP_OK);
        // About the point of the rim, per unit of mass; (r^2/4 + h^2/3) about the centre, across the axis.
        double inertia = RADIUS * RADIUS / 4.0 + HALF * HALF / 3.0 + RADIUS * RADIUS + HALF * HALF;
        double alpha = (share - 1.0) * G * RADIUS / inertia;
        // The moment grows as the body leans: omega' = alpha + k theta, k = (slant r + g h) / inertia.
        double k2 = (share * G * RADIUS / HALF * RADIUS + G * HALF) / inertia, w = sqrt(k2);
        double want = alpha / w * sinh(w * t);
        perp_twist v = perp_sim_body_twist(sim, body);
        double along = -v.w_W.x * sin(azimuth) + v.w_W.y * cos(azimuth);
        double across = v.w_W.x * cos(azimuth) + v.w_W.y * sin(azimuth);
        assert_true(fabs(along - want) < 1e-6 * want);
        assert_true(fabs(across) < 1e-8);
        perp_sim_destroy(sim);
        perp_model_destroy(model);
    }
}

// A box on the floor, a drum level on the box that overhangs it, both thrown along the floor and down: the drum meets
// the box with its face, and tips about a point of its rim that depends on the friction there.
static perp_sim *throw_drum(int seed, perp_model **model)
{
    rng r = rng_seed((uint64_t)seed);
    perp_builder *builder = perp_builder_create(NULL);
    perp_shape_def floor = perp_shape_default(), box = perp_shape_default(),
                   drum = perp_shape_default();
    perp_body_def lower = perp_body_default(), upper = perp_body_default();
    perp_sim_def sim_def = perp_sim_default();
    perp_error error = {0};
    perp_sim *sim = NULL;
    floor.kind = PERP_SHAPE_HALFSPACE;
    box.kind = PERP_SHAPE_BOX;
    drum.kind = PERP_SHAPE_CYLINDER;
    floor.mu = box.mu = drum.mu = rng_uniform(&r, 0.1, 1.0);
    box.half = (perp_vec3){rng_uniform(&r, 0.1, 0.4), rng_uniform(&r, 0.1, 0.4), 0.1};
    drum.radius = rng_uniform(&r, 0.1, 0.4);
    drum.half.z = rng_uniform(&r, 0.1, 0.5);
    box.density = drum.density = 10.0;
    perp_builder_add_shape(builder, (perp_body){0}, &floor);
    lower.kind = upper.kind = PERP_BODY_SPATIAL;
    lower.position_W = (perp_vec3){0.0, 0.0, 0.1};
    upper.position_W =
        (perp_vec3){rng_uniform(&r, -0.1, 0.1), rng_uniform(&r, -0.1, 0.1), 0.2 + drum.half.z};
    upper.velocity_W = (perp_vec3){rng_normal(&r), rng_normal(&r), -rng_uniform(&r, 0.1, 1.0)};
    upper.omega_W = (perp_vec3){rng_normal(&r), rng_normal(&r), rng_normal(&r)};
    perp_builder_add_shape(builder, perp_builder_add_body(builder, &lower), &box);
    perp_builder_add_shape(builder, perp_builder_add_body(builder, &upper), &drum);
    sim_def.stepper = PERP_STEPPER_EVENT;
    if (perp_model_create(builder, model, &error) < 0 ||
        perp_sim_create(*model, &sim_def, NULL, &sim, &error) < 0) {
        print_error("%s\n", error.text);
        fail();
    }
    perp_builder_destroy(builder);
    return sim;
}

// The exchange of rim points ends. With full steps it ran round in circles in these impacts.
static void tipping_point_of_an_impact_is_found(void **state)
{
    static const int seeds[] = {2, 3, 6, 9, 11, 12};
    (void)state;
    for (int k = 0; k < 6; k++) {
        int seed = seeds[k];
        perp_model *model = NULL;
        perp_sim *sim = throw_drum(seed, &model);
        int count = 0;
        perp_status status = perp_sim_step(sim, 1e-4);
        const perp_event *event = perp_sim_events(sim, &count);
        for (int i = 0; i < count; i++) {
            if (strstr(event[i].remark, "tipping point")) {
                print_error("seed %d: %s\n", seed, event[i].remark);
                fail();
            }
        }
        assert_int_equal(status, PERP_OK);
        perp_sim_destroy(sim);
        perp_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stands_below_the_slope),
        cmocka_unit_test(tips_about_its_rim_beyond),
        cmocka_unit_test(tipping_point_of_an_impact_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
