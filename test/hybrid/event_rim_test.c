// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A cylinder on a rough floor in slanted gravity. It tips over its rim, towards a direction between the points of the
// rim that a manifold has: it stands while the slope is below r/h, and beyond it turns about the lowest point of the
// rim with the acceleration of a rigid body about that point. Tipping about the chord between two of eight points would
// begin at 0.92 r/h.                                                                     theory (H18)
#include "support/cmocka.h"

#include <math.h>
#include <perp/perp.h>
#include <stdio.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stands_below_the_slope),
        cmocka_unit_test(tips_about_its_rim_beyond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
