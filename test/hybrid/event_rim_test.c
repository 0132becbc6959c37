// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A cylinder on a rough floor in slanted gravity. It tips over its rim, towards a direction between the points of the
// rim that a manifold has: it stands while the slope is below r/h, and beyond it turns about the lowest point of the
// rim with the acceleration of a rigid body about that point. Tipping about the chord between two of eight points would
// begin at 0.92 r/h.                                                                     theory (H18)
#include "hybrid/moment.h"
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

// ── Drift of a rim on a plane ────────────────────────────────────────────────────────────────────

// A drum that stands with its rim on a plane face of another body, both moving at random.
typedef struct leaning {
    perp_model *model;
    pp_tree tree;
    pp_arena *arena;
    pp_machine machine;
    double turn[1], q[14], qd[12];
} leaning;

// The attitude of a drum that leans by `tilt` towards a random side, turned about its axis before.
static perp_quat lean(rng *r, double tilt)
{
    double azimuth = rng_uniform(r, -PI, PI), spin = rng_uniform(r, -PI, PI);
    double x = -sin(0.5 * tilt) * sin(azimuth), y = sin(0.5 * tilt) * cos(azimuth);
    double w = cos(0.5 * spin), z = sin(0.5 * spin), c = cos(0.5 * tilt);
    return (perp_quat){c * w, x * w + y * z, y * w - x * z, c * z};
}

// kind: of the plane face; drum_first: the drum is shape a of the contact.
static void set_leaning(leaning *out, rng *r, double tilt, int kind, bool drum_first)
{
    static const perp_shape_kind kinds[] = {PERP_SHAPE_HALFSPACE, PERP_SHAPE_BOX,
                                            PERP_SHAPE_CYLINDER};
    perp_builder *builder = perp_builder_create(NULL);
    perp_shape_def flat = perp_shape_default(), drum = perp_shape_default();
    perp_body_def def[2] = {perp_body_default(), perp_body_default()};
    perp_error error = {0};
    flat.kind = kinds[kind];
    flat.half = (perp_vec3){2.0, 2.0, 0.1};
    flat.radius = 2.0;
    flat.position_B.z = kind == 0 ? 0.0 : -0.1;
    drum.kind = PERP_SHAPE_CYLINDER;
    drum.radius = RADIUS;
    drum.half.z = HALF;
    flat.mu = drum.mu = 0.5;
    flat.mu_spin = flat.mu_roll = drum.mu_spin = drum.mu_roll = 0.01;
    def[1].position_W.z = HALF * cos(tilt) + RADIUS * sin(tilt);
    def[1].rotation_WB = lean(r, tilt);
    *out = (leaning){.arena = pp_arena_create(NULL)};
    for (int k = 0; k < 2; k++) {
        perp_body_def *d = &def[drum_first ? 1 - k : k];
        d->kind = PERP_BODY_SPATIAL;
        d->mass = d->inertia_B[0] = d->inertia_B[1] = d->inertia_B[2] = 1.0;
        perp_builder_add_shape(builder, perp_builder_add_body(builder, d),
                               d == &def[0] ? &flat : &drum);
        // Coordinates of a free body: position, quaternion.
        const double q[7] = {d->position_W.x,  d->position_W.y,  d->position_W.z, d->rotation_WB.w,
                             d->rotation_WB.x, d->rotation_WB.y, d->rotation_WB.z};
        memcpy(out->q + 7 * k, q, sizeof q);
        for (int i = 0; i < 6; i++) {
            out->qd[6 * k + i] = rng_normal(r);
        }
    }
    if (perp_model_create(builder, &out->model, &error) < 0) {
        print_error("%s\n", error.text);
        fail();
    }
    perp_builder_destroy(builder);
    assert_int_equal(pp_tree_create(&out->tree, out->model, NULL, 0, out->arena, NULL), PERP_OK);
    out->machine = (pp_machine){.model = out->model,
                                .tree = &out->tree,
                                .options = {.eps = 1e-2},
                                .turn = out->turn,
                                .length = 1.0};
}

static pp_contact *nearest_point(pp_contact *c, int count)
{
    int best = 0;
    assert_true(count > 0);
    for (int k = 1; k < count; k++) {
        best = c[k].gap < c[best].gap ? k : best;
    }
    return &c[best];
}

// Rates of the rows of the nearest point after the time s: normal, tangents, spin, rolling.
static void rates_after(const leaning *l, double s, double rate[6])
{
    double q[14];
    pp_frame body[3];
    pp_contact c[PP_POINTS_MAX];
    pp_tree_move(&l->tree, l->q, l->qd, s, q);
    pp_tree_frames(&l->tree, s, q, l->qd, body);
    const pp_contact *lowest = nearest_point(c, pp_gap_pair(l->model, body, 0, 1, HUGE_VAL, c));
    perp_vec3 n = lowest->n, t = pp_across(n), o = pp_cross(n, t);
    perp_vec3 v = pp_sub(pp_point_velocity(&body[2], lowest->point),
                         pp_point_velocity(&body[1], lowest->point));
    perp_vec3 w = pp_sub(body[2].w, body[1].w);
    const double out[6] = {pp_dot3(n, v), pp_dot3(t, v), pp_dot3(o, v),
                           pp_dot3(n, w), pp_dot3(t, w), pp_dot3(o, w)};
    memcpy(rate, out, sizeof out);
}

// The drift of all rows against differences over a time in which the point moves by a thousandth
// of the rim.
static void drift_of_a_rim_is_its_derivative(void **state)
{
    (void)state;
    rng r = rng_seed(7);
    for (int k = 0; k < 90; k++) {
        static const double tilts[] = {0.4, 1e-2, 1e-4, 1e-6, 1e-7};
        double tilt = tilts[k % 5], s = 1e-3 * tilt;
        leaning l;
        set_leaning(&l, &r, tilt, k / 5 % 3, k / 15 % 2 == 1);
        pp_holds holds = {0};
        pp_contact c[PP_POINTS_MAX];
        pp_frame body[3];
        pp_instant instant;
        pp_tree_frames(&l.tree, 0.0, l.q, l.qd, body);
        pp_contact *lowest = nearest_point(c, pp_gap_pair(l.model, body, 0, 1, 1e-9, c));
        // It stays closed: the rate of the gap is taken out of the second body, the normal is z.
        perp_vec3 v = pp_sub(pp_point_velocity(&body[2], lowest->point),
                             pp_point_velocity(&body[1], lowest->point));
        l.qd[8] -= v.z;
        lowest->listed = -1;
        lowest->mu_spin = lowest->mu_roll = 0.01;
        assert_non_null(pp_holds_add(&holds, pp_hold_contact(lowest), l.arena));
        assert_true(pp_holds_add_turning(&holds, &l.machine, lowest, l.arena));
        assert_int_equal(
            pp_instant_make(&instant, &l.machine, 0.0, l.q, l.qd, &holds, true, l.arena), PERP_OK);
        assert_int_equal(instant.rows, 6);
        pp_contact_motion motion;
        assert_true(pp_rim_motion(&l.machine, &instant, &instant.contact[0], &motion));
        // Fourth order: (f(-2s) - 8 f(-s) + 8 f(s) - f(2s)) / 12 s.
        double f[4][6], size = 0.0;
        for (int i = 0; i < 4; i++) {
            rates_after(&l, s * (i < 2 ? i - 2 : i - 1), f[i]);
        }
        for (int i = 0; i < 6; i++) {
            size = fmax(size, fabs(instant.drift[i]));
        }
        for (int i = 0; i < 6; i++) {
            double want = (f[0][i] - f[3][i] + 8.0 * (f[2][i] - f[1][i])) / (12.0 * s);
            if (!(fabs(instant.drift[i] - want) <= 1e-5 * size)) {
                print_error("case %d, tilt %g, row %d: %.12g, by differences %.12g\n", k, tilt, i,
                            instant.drift[i], want);
                fail();
            }
        }
        pp_arena_destroy(l.arena);
        perp_model_destroy(l.model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stands_below_the_slope),
        cmocka_unit_test(tips_about_its_rim_beyond),
        cmocka_unit_test(tipping_point_of_an_impact_is_found),
        cmocka_unit_test(drift_of_a_rim_is_its_derivative),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
