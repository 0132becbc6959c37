// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Fast bodies in a closed box: steps in which a body crosses the box several times are divided at the impacts. No
// jam, no energy, no way out.
#include "support/cmocka.h"
#include "support/space.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double HALF = 1.2, RADIUS = 0.1, H = 1.0 / 60.0;

typedef struct shot {
    perp_stepper stepper;
    perp_impact_law law;
    double speed, e, mu;
    bool space, square;
} shot;

static void wall(plane *p, const shot *s, double x, double y, double z)
{
    perp_shape_def def = perp_shape_default();
    def.kind = PERP_SHAPE_BOX;
    def.position_B = (perp_vec3){2.0 * HALF * x, 2.0 * HALF * y, 2.0 * HALF * z};
    def.half = (perp_vec3){x == 0.0 ? 3.0 * HALF : HALF, y == 0.0 ? 3.0 * HALF : HALF,
                           z == 0.0 ? 3.0 * HALF : HALF};
    def.mu = s->mu;
    def.restitution = s->e;
    perp_builder_add_shape(p->builder, PLANE_GROUND, &def);
}

static perp_body missile(plane *p, const shot *s)
{
    double inertia = 0.4 * RADIUS * RADIUS;
    perp_vec3 along = {-0.71, -0.62, s->space ? 0.33 : 0.0};
    perp_body_def def = s->space ? space_body(1.0, (perp_vec3){inertia, inertia, inertia},
                                              (perp_vec3){0.3, 0.1, -0.2})
                                 : plane_body(1.0, inertia, 0.3, 0.1, 0.4);
    def.velocity_W = space_scale(s->speed / space_length(along), along);
    perp_body body = perp_builder_add_body(p->builder, &def);
    perp_shape_def shape = perp_shape_default();
    shape.kind = s->square ? PERP_SHAPE_BOX : s->space ? PERP_SHAPE_SPHERE : PERP_SHAPE_DISC;
    shape.radius = RADIUS;
    shape.half = (perp_vec3){RADIUS, 0.8 * RADIUS, 0.6 * RADIUS};
    shape.mu = s->mu;
    shape.restitution = s->e;
    perp_builder_add_shape(p->builder, body, &shape);
    return body;
}

static double kinetic(const plane *p)
{
    return perp_sim_info(p->sim)->energy.kinetic;
}

static double farthest(const plane *p, perp_body body)
{
    perp_vec3 x = perp_sim_body_position(p->sim, body);
    return fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z)));
}

// What is wrong after a step; NULL: nothing.
static const char *wrong(const plane *p, perp_body body, perp_status status, double most)
{
    if (status < 0) {
        return perp_sim_error(p->sim)->text;
    }
    if (status != PERP_OK) {
        return "the certificate is violated";
    }
    if (!(farthest(p, body) < HALF)) {
        return "left the box";
    }
    return kinetic(p) <= most ? NULL : "energy grew";
}

static perp_body build(plane *p, const shot *s)
{
    plane_open(p);
    p->def.stepper = s->stepper;
    p->def.impact = s->law;
    p->def.limits.energy = p->def.limits.complementarity = 0.5e-9 * s->speed * s->speed;
    perp_builder_set_gravity(p->builder, (perp_vec3){0.0, 0.0, 0.0});
    perp_body body = missile(p, s);
    for (int side = -1; side <= 1; side += 2) {
        wall(p, s, side, 0.0, 0.0);
        wall(p, s, 0.0, side, 0.0);
        if (s->space) {
            wall(p, s, 0.0, 0.0, side);
        }
    }
    plane_start(p);
    return body;
}

// Returns 1 when something was wrong, which is printed.
static int shoot(const shot *s)
{
    plane p = {0};
    perp_body body = build(&p, s);
    double start = 0.5 * s->speed * s->speed, before = start;
    const char *bad = NULL;
    for (int k = 0; k < 30 && !bad; k++) {
        perp_status status = perp_sim_step(p.sim, H);
        bad = wrong(&p, body, status, before + 1e-9 * before + 1e-18 * start);
        before = bad ? before : kinetic(&p);
    }
    if (!bad && s->e == 1.0 && s->mu == 0.0 && !(before >= start * (1.0 - 1e-9))) {
        bad = "energy was lost";
    }
    if (bad) {
        for (int k = 0; k < PERP_JUDGED_COUNT; k++) {
            double over = perp_sim_info(p.sim)->certificate.relative[k];
            print_message(over > 1.0 ? "judged %d: %g of its limit\n" : "", k, over);
        }
        print_message("%s, %s, %g m/s, e = %g, mu = %g, %s%s, t = %g: %s; gap %g, %.17g J of "
                      "%.17g, in %d parts\n",
                      perp_stepper_word((int)s->stepper), perp_impact_law_word((int)s->law),
                      s->speed, s->e, s->mu, s->space ? "space" : "plane",
                      s->square ? ", square" : "", perp_sim_time(p.sim), bad,
                      perp_sim_info(p.sim)->certificate.gap, kinetic(&p), before,
                      perp_sim_info(p.sim)->parts);
    }
    plane_close(&p);
    return bad != NULL;
}

static void fly(bool space, bool square)
{
    static const perp_stepper steppers[] = {PERP_STEPPER_STEWART_TRINKLE,
                                            PERP_STEPPER_ANITESCU_POTRA, PERP_STEPPER_MOREAU_JEAN};
    static const double speeds[] = {10.0, 40.0, 120.0, 293.0, 1000.0};
    int failed = 0;
    for (int i = 0; i < 3 * 5 * 3 * 2; i++) {
        int rough = i / 45;
        shot s = {.stepper = steppers[i % 3],
                  .speed = speeds[i / 3 % 5],
                  .e = 0.5 * (i / 15 % 3),
                  .mu = 0.3 * rough,
                  .space = space,
                  .square = square};
        failed += shoot(&s);
        s.law = PERP_IMPACT_POISSON;
        if (s.stepper == PERP_STEPPER_STEWART_TRINKLE) {
            failed += shoot(&s);
        }
    }
    assert_int_equal(failed, 0);
}

static void discs(void **state)
{
    (void)state;
    fly(false, false);
}

static void squares(void **state)
{
    (void)state;
    fly(false, true);
}

static void balls(void **state)
{
    (void)state;
    fly(true, false);
}

static void boxes(void **state)
{
    (void)state;
    fly(true, true);
}

// A push along the walls acts through all parts of a step, and the impulses of the parts are reported as one sum.
static void pushed(void **state)
{
    (void)state;
    static const perp_stepper steppers[] = {PERP_STEPPER_STEWART_TRINKLE,
                                            PERP_STEPPER_ANITESCU_POTRA, PERP_STEPPER_MOREAU_JEAN};
    for (int s = 0; s < 3; s++) {
        shot two = {.stepper = steppers[s], .speed = 250.0, .e = 1.0};
        plane p = {0};
        plane_open(&p);
        p.def.stepper = two.stepper;
        perp_builder_set_gravity(p.builder, (perp_vec3){0.0, 0.0, 0.0});
        perp_body body = missile(&p, &two);
        wall(&p, &two, 0.0, 1.0, 0.0);
        wall(&p, &two, 0.0, -1.0, 0.0);
        plane_start(&p);
        double vx = 0.0, vy = 0.0, sum = 0.0;
        vx = perp_sim_body_twist(p.sim, body).v_W.x;
        vy = perp_sim_body_twist(p.sim, body).v_W.y;
        perp_sim_body_apply(p.sim, body, (perp_wrench){{6.0, 0.0, 0.0}, {0.0, 0.0, 0.0}});
        plane_step(&p, H);
        assert_true(perp_sim_info(p.sim)->parts > 1);
        int count;
        const perp_contact *c = perp_sim_contacts(p.sim, &count);
        for (int i = 0; i < count; i++) {
            sum += (c[i].a.i == 0 ? -1.0 : 1.0) * c[i].pn * c[i].normal_W.y;  // shape 0: the body
        }
        perp_vec3 v = perp_sim_body_twist(p.sim, body).v_W;
        assert_true(fabs(v.x - vx - 6.0 * H) < 1e-9);
        assert_true(fabs(v.y - vy - sum) < 1e-9);
        assert_true(perp_sim_time(p.sim) == H);
        plane_step(&p, H);  // what was applied is gone
        assert_true(fabs(perp_sim_body_twist(p.sim, body).v_W.x - v.x) < 1e-9);
        plane_close(&p);
    }
}

// Two driven walls close on a ball that bounces between them: when there is no room left the step fails, and the
// state is what it was, to the bit.
static void squeezed(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    perp_builder_set_gravity(p.builder, (perp_vec3){0.0, 0.0, 0.0});
    shot s = {.speed = 50.0, .e = 0.5};
    missile(&p, &s);
    for (int side = -1; side <= 1; side += 2) {
        perp_body_def def = plane_body(1.0, 1.0, 0.0, 0.0, 0.0);
        def.motion = PERP_MOTION_KINEMATIC;
        def.motion_x = side < 0 ? "-1.6 + 3*t" : "1.6 - 3*t";
        def.motion_y = "0";
        plane_box(&p, perp_builder_add_body(p.builder, &def), 1.0, 40.0, 0.0);
    }
    plane_start(&p);
    perp_status status = PERP_OK;
    for (int k = 0; k < 60 && status >= 0; k++) {
        uint64_t hash = perp_sim_state_hash(p.sim);
        size_t size = perp_sim_state_save_size(p.sim);
        void *before = malloc(size), *after = malloc(size);
        assert_int_equal(perp_sim_state_save(p.sim, before, size), PERP_OK);
        status = perp_sim_step(p.sim, H);
        if (status < 0) {
            assert_true(perp_sim_state_hash(p.sim) == hash);
            assert_true(perp_sim_state_save_size(p.sim) == size);
            assert_int_equal(perp_sim_state_save(p.sim, after, size), PERP_OK);
            assert_memory_equal(before, after, size);
        }
        free(before);
        free(after);
    }
    // A rebound that leaves no room is no proof of a jam: then the step is not solved.
    assert_true(status == PERP_ERR_INFEASIBLE || status == PERP_ERR_RAY);
    plane_close(&p);
}

// A fast disc meets another within a step, 0.44 m from where it started. The contact sticks, but nothing drifts that it had
// held before: friction of the next step must not drive a slip of 17 m/s.
static void what_meets_has_held_nothing(void **state)
{
    (void)state;
    static const char text[] =
        "{\"bodies\": [{\"name\": \"ball\", \"mass\": 0.0777, \"inertia\": 0.00746, \"velocity\": "
        "[1000, 19.56], \"shapes\": [{\"kind\": \"disc\", \"radius\": 0.5, \"mu\": 0.5}]}, "
        "{\"name\": \"other\", \"mass\": 0.051, \"inertia\": 0.00496, \"position\": [6.518, "
        "0.054], "
        "\"shapes\": [{\"kind\": \"disc\", \"radius\": 0.5, \"mu\": 0.5}]}]}";
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_error error;
    if (perp_scene_parse("discs", text, strlen(text), NULL, &scene, &error) < 0) {
        fail_msg("%s", error.text);
    }
    perp_sim_def def = perp_scene_sim_def(scene);
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
    int loaded = 0;
    for (int k = 0; k < 20; k++) {
        assert_true(perp_sim_step(sim, 0.000462) >= 0);
        assert_true(perp_sim_info(sim)->certificate.passed);
        int count = 0;
        const perp_contact *c = perp_sim_contacts(sim, &count);
        for (int i = 0; i < count; i++) {
            assert_true(c[i].mode != PERP_CONTACT_STICK || fabs(c[i].slip) < 1e-6);
            loaded += c[i].pn > 0.0;
        }
    }
    assert_true(loaded >= 2);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// What is in the way of a ball at 1000 m/s, of a bullet against paper and of a rod that turns by more than 50 degrees in
// a step is met in every stepper. Time steppers see the path; event locates what it meets, and does not ask.
static void nothing_is_passed(void **state)
{
    (void)state;
    static const char *const scenes[] = {
        "{\"gravity\": [0, 0], \"shapes\": [{\"kind\": \"box\", \"size\": [0.02, 4], "
        "\"position\": [1, 0]}], \"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": 0.004, "
        "\"velocity\": [1000, 0], \"shapes\": [{\"kind\": \"disc\", \"radius\": 0.05}]}]}",
        "{\"gravity\": [0, 0, 0], \"shapes\": [{\"kind\": \"box\", \"size\": [0.02, 4, 4], "
        "\"position\": [1, 0, 0]}], \"bodies\": [{\"name\": \"b\", \"kind\": \"solid\", "
        "\"velocity\": [1000, 0, 0], \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.05, "
        "\"density\": 1000}]}]}",
        "{\"gravity\": [0, 0], \"shapes\": [{\"kind\": \"segment\", \"length\": 1, "
        "\"position\": [1.003, 0], \"angle\": \"90 deg\"}], \"bodies\": [{\"name\": \"b\", "
        "\"kind\": \"particle\", \"mass\": 0.01, \"velocity\": [1000, 0], \"shapes\": "
        "[{\"kind\": \"point\"}]}]}",
        "{\"gravity\": [0, 0, 0], \"shapes\": [{\"kind\": \"box\", \"size\": [0.0001, 1, 1], "
        "\"position\": [1.003, 0, 0]}], \"bodies\": [{\"name\": \"b\", \"kind\": \"solid\", "
        "\"velocity\": [1000, 0, 0], \"shapes\": [{\"kind\": \"capsule\", \"length\": 0.02, "
        "\"radius\": 0.004, \"density\": 8000}]}]}",
        "{\"gravity\": [0, 0], \"shapes\": [{\"kind\": \"disc\", \"radius\": 0.01, \"position\": "
        "[0, 0.4], \"mu\": 0}], \"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": 0.1, "
        "\"spin\": 100, \"shapes\": [{\"kind\": \"box\", \"size\": [1, 0.02], \"mu\": 0}]}]}",
        "{\"gravity\": [0, 0, 0], \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.01, "
        "\"position\": [0, 0.4, 0], \"mu\": 0}], \"bodies\": [{\"name\": \"b\", \"kind\": "
        "\"solid\", \"spin\": [0, 0, 100], \"shapes\": [{\"kind\": \"box\", \"size\": "
        "[1, 0.02, 0.02], \"mu\": 0, \"density\": 1000}]}]}",
    };
    enum { SCENES = sizeof scenes / sizeof scenes[0], WALLS = 4 };
    static const perp_stepper steppers[] = {PERP_STEPPER_STEWART_TRINKLE,
                                            PERP_STEPPER_ANITESCU_POTRA, PERP_STEPPER_MOREAU_JEAN,
                                            PERP_STEPPER_IMPLICIT, PERP_STEPPER_EVENT};
    for (int k = 0; k < SCENES * 5; k++) {
        int which = k / 5;
        perp_scene *scene = NULL;
        perp_sim *sim = NULL;
        perp_error error;
        if (perp_scene_parse("way", scenes[which], strlen(scenes[which]), NULL, &scene, &error) <
            0) {
            fail_msg("%s", error.text);
        }
        perp_sim_def def = perp_scene_sim_def(scene);
        def.stepper = steppers[k % 5];
        assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
        bool clear = true;
        for (int step = 0; step < 3; step++) {
            assert_true(perp_sim_step(sim, 0.01) >= 0);
            clear = clear && perp_sim_info(sim)->certificate.path_clear;
        }
        perp_body b = perp_model_body(perp_scene_model(scene), "b");
        double x = perp_sim_body_position(sim, b).x;
        perp_vec3 w = perp_sim_body_twist(sim, b).w_W;
        // the rod has lost half of its spin or more at the post
        bool met = which < WALLS ? x < 1.003 + 1e-9 : fabs(w.z) < 60.0;
        if (!met || clear != (def.stepper != PERP_STEPPER_EVENT)) {
            fail_msg("scene %d, %s: at %g, spin %g, path %s", which,
                     perp_stepper_word((int)def.stepper), x, w.z, clear ? "clear" : "not clear");
        }
        perp_sim_destroy(sim);
        perp_scene_destroy(scene);
    }
}

// Contacts in the problem of one step of a disc above the ground, and whether it got through.
static int contacts_above(double radius, double gap, double down, double margin)
{
    plane p = {0};
    plane_open(&p);
    p.def.margin = margin;
    perp_builder_set_gravity(p.builder, (perp_vec3){0.0, 0.0, 0.0});
    shot s = {.e = 0.0};
    wall(&p, &s, 0.0, -1.0, 0.0);
    perp_body_def def = plane_body(1.0, 0.5 * radius * radius, 0.0, radius + gap - HALF, 0.0);
    def.velocity_W.y = -down;
    perp_body body = perp_builder_add_body(p.builder, &def);
    perp_shape_def disc = perp_shape_default();
    disc.kind = PERP_SHAPE_DISC;
    disc.radius = radius;
    perp_builder_add_shape(p.builder, body, &disc);
    plane_start(&p);
    plane_step(&p, 0.001);
    const perp_step_info *info = perp_sim_info(p.sim);
    assert_true(info->certificate.passed && info->certificate.gap < 1e-9);
    assert_true(perp_sim_body_pose(p.sim, body).p.y >= radius - HALF - 1e-9);
    int contacts = info->contacts;
    plane_close(&p);
    return contacts;
}

// What is near depends on the size of a body: 5 mm are far for a small disc at rest, and near for a large one. A fast one
// has its contact however small it is.
static void margins_by_size(void **state)
{
    (void)state;
    assert_int_equal(contacts_above(0.01, 0.005, 0.0, 0.0), 0);
    assert_int_equal(contacts_above(0.01, 0.005, 0.0, 0.01), 1);
    assert_int_equal(contacts_above(0.8, 0.005, 0.0, 0.0), 1);
    assert_int_equal(contacts_above(0.8, 0.02, 0.0, 0.0), 0);
    assert_int_equal(contacts_above(0.01, 0.005, 10.0, 0.0), 1);
    assert_int_equal(contacts_above(1e-4, 0.3, 400.0, 0.0), 1);
}

// A bullet of 1000 m/s against a sheet or a paper of 0.1 mm in the plane, also spinning. %s: the wall; spin; the bullet.
static const char BULLET[] =
    "{\"step\": 0.005, \"gravity\": [0, 0], \"shapes\": [%s], \"bodies\": [{\"name\": \"bullet\", "
    "\"velocity\": [1000, 0], \"spin\": %d, \"mass\": 1, \"inertia\": 0.01, \"shapes\": [%s]}]}";

// Nothing gets behind the wall in any stepper; what is not solved well is told by the certificate.
static void thin_walls_in_the_plane(void **state)
{
    (void)state;
    static const char *const walls[] = {
        "{\"kind\": \"segment\", \"length\": 4, \"position\": [2.013, 0.1], \"angle\": \"90 "
        "deg\"}",
        "{\"kind\": \"box\", \"size\": [0.0001, 4], \"position\": [2.013, 0.1]}"};
    static const char *const bullets[] = {
        "{\"kind\": \"point\"}", "{\"kind\": \"disc\", \"radius\": 0.05}",
        "{\"kind\": \"box\", \"size\": [0.1, 0.06]}",
        "{\"kind\": \"capsule\", \"length\": 0.2, \"radius\": 0.01}",
        "{\"kind\": \"segment\", \"length\": 0.3}"};
    static const perp_stepper steppers[] = {PERP_STEPPER_STEWART_TRINKLE,
                                            PERP_STEPPER_ANITESCU_POTRA, PERP_STEPPER_MOREAU_JEAN,
                                            PERP_STEPPER_IMPLICIT, PERP_STEPPER_EVENT};
    for (int k = 0; k < 2 * 5 * 2 * 5; k++) {
        int w = k % 2, b = k / 2 % 5, spin = k / 10 % 2 * 200, s = k / 20;
        char text[1000];
        perp_scene *scene = NULL;
        perp_sim *sim = NULL;
        perp_error error;
        snprintf(text, sizeof text, BULLET, walls[w], spin, bullets[b]);
        if (perp_scene_parse("bullet", text, strlen(text), NULL, &scene, &error) < 0) {
            fail_msg("%s", error.text);
        }
        perp_sim_def def = perp_scene_sim_def(scene);
        def.stepper = steppers[s];
        if (perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error) < 0) {
            fail_msg("%s", error.text);
        }
        for (int step = 0; step < 4; step++) {
            if (perp_sim_step(sim, 0.005) < 0) {
                fail_msg("%s, wall %d, bullet %d, spin %d: %s", perp_stepper_word((int)steppers[s]),
                         w, b, spin, perp_sim_error(sim)->text);
            }
        }
        double x = perp_sim_body_position(sim, (perp_body){1}).x;
        if (!(x < 2.014)) {
            fail_msg("%s, wall %d, bullet %d, spin %d: at x = %g m, behind the wall",
                     perp_stepper_word((int)steppers[s]), w, b, spin, x);
        }
        perp_sim_destroy(sim);
        perp_scene_destroy(scene);
    }
}

// A thin rod that whirls at 220 rad/s and is thrown to 800 rad/s by a floor: errors of turning do not fall before a part is
// short enough to resolve the turn, and overlaps count by the rod's thickness, not by the size of the scene.
static void a_whirling_rod_passes(void **state)
{
    (void)state;
    static const char text[] =
        "{\"gravity\": [0, 0, -9.81], \"shapes\": [{\"kind\": \"halfspace\", \"mu\": 0.5}, "
        "{\"kind\": "
        "\"box\", \"size\": [0.1, 4, 4], \"position\": [2, 0, 0], \"mu\": 0.5}], \"bodies\": "
        "[{\"name\": \"rod\", \"kind\": \"solid\", \"position\": [0, 0, 0.5], \"velocity\": [30, "
        "0, "
        "-20], \"spin\": [200, 0, 100], \"shapes\": [{\"kind\": \"box\", \"size\": [1, 0.02, "
        "0.02], "
        "\"density\": 500, \"mu\": 0.5}]}]}";
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    assert_int_equal(perp_scene_parse("rod", text, strlen(text), NULL, &scene, NULL), PERP_OK);
    perp_sim_def def = perp_scene_sim_def(scene);
    def.stepper = PERP_STEPPER_IMPLICIT;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
    for (int k = 0; k < 20; k++) {
        assert_int_equal(perp_sim_step(sim, 0.01), PERP_OK);
        assert_true(perp_sim_info(sim)->certificate.passed);
    }
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// A scene, run for some steps; every one is certified.
static perp_sim *certified(const char *text, double h, int steps, perp_scene **scene)
{
    perp_sim *sim = NULL;
    perp_error error = {0};
    if (perp_scene_parse("fast", text, strlen(text), NULL, scene, &error) < 0) {
        fail_msg("%s", error.text);
    }
    perp_sim_def def = perp_scene_sim_def(*scene);
    assert_int_equal(perp_sim_create(perp_scene_model(*scene), &def, NULL, &sim, NULL), PERP_OK);
    for (int k = 0; k < steps; k++) {
        assert_int_equal(perp_sim_step(sim, h), PERP_OK);
        assert_true(perp_sim_info(sim)->certificate.passed);
    }
    return sim;
}

// A box and a disc hit walls on opposite sides of a room in one step, near enough to have rows between them. What the disc
// loses to friction does not pay for what Newton's law would give the box.
static void one_body_does_not_pay_for_another(void **state)
{
    (void)state;
    static const char text[] =
        "{\"shapes\": [{\"name\": \"right\", \"kind\": \"box\", \"size\": [0.0045, 4], "
        "\"position\": [2.00227, 0], \"mu\": 0.5, \"restitution\": 1}, {\"name\": \"top\", "
        "\"kind\": "
        "\"box\", \"size\": [4, 0.0045], \"position\": [0, 2.00227], \"mu\": 0.5, "
        "\"restitution\": 1}], \"bodies\": [{\"name\": \"box\", \"position\": [1.0693, 1.75841], "
        "\"angle\": 126.76498, \"velocity\": [-52.57189, 30.36626], \"spin\": -781.75936, "
        "\"mass\": "
        "0.838388, \"inertia\": 0.0016554861, \"shapes\": [{\"kind\": \"box\", \"size\": "
        "[0.0636693, 0.0656456], \"mu\": 0.3, \"restitution\": 0.203}]}, {\"name\": \"disc\", "
        "\"position\": [1.66653, -0.09106], \"velocity\": [101.57726, -85.6216], \"spin\": "
        "223.68471, "
        "\"mass\": 2.4162, \"inertia\": 0.0424037, \"shapes\": [{\"kind\": \"disc\", \"radius\": "
        "0.246933, \"mu\": 0.3}]}]}";
    perp_scene *scene = NULL;
    perp_sim *sim = certified(text, 0.01, 1, &scene);
    perp_body box = {1};
    perp_vec3 v = perp_sim_body_twist(sim, box).v_W, w = perp_sim_body_twist(sim, box).w_W;
    double y = perp_sim_body_position(sim, box).y;
    double before = 0.5 * 0.838388 * (52.57189 * 52.57189 + 30.36626 * 30.36626) +
                    0.5 * 0.0016554861 * 781.75936 * 781.75936 + 9.81 * 0.838388 * 1.75841;
    double after = 0.5 * 0.838388 * (v.x * v.x + v.y * v.y) + 0.5 * 0.0016554861 * w.z * w.z +
                   9.81 * 0.838388 * y;
    if (!(after <= before + 0.01 * before)) {
        fail_msg("the box had %g J and has %g J", before, after);
    }
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// A thin rod that spins by two radians a step and bounces in a closed mesh: no stepper lets it out. What was deep in a sheet
// was no contact of it, so that steps were not divided and ended violated.
static void a_rod_stays_in_a_mesh(void **state)
{
    (void)state;
    static const char *const steppers[] = {"stewart-trinkle", "anitescu-potra", "moreau-jean",
                                           "implicit"};
    for (int k = 0; k < 4; k++) {
        char text[1500];
        snprintf(text, sizeof text,
                 "{\"stepper\": \"%s\", \"shapes\": [{\"kind\": \"mesh\", \"vertices\": [[-1, -1, "
                 "-1], [-1, -1, 1], [-1, 1, -1], [-1, 1, 1], [1, -1, -1], [1, -1, 1], [1, 1, -1], "
                 "[1, 1, 1]], \"triangles\": [[0, 3, 1], [0, 2, 3], [4, 7, 6], [4, 5, 7], [0, 5, "
                 "4], [0, 1, 5], [2, 7, 3], [2, 6, 7], [0, 6, 2], [0, 4, 6], [1, 7, 5], [1, 3, "
                 "7]]}], \"bodies\": [{\"kind\": \"solid\", \"position\": [0.5, -0.5, 0.24], "
                 "\"velocity\": [11.02, -2.39, -24.19], \"spin\": [18, -50, -32], \"mass\": 1, "
                 "\"inertia\": [0.01, 0.01, 0.01], \"shapes\": [{\"kind\": \"cylinder\", "
                 "\"length\": 0.3, \"radius\": 0.01, \"mu\": 0, \"restitution\": 0.9}]}]}",
                 steppers[k]);
        perp_scene *scene = NULL;
        perp_sim *sim = certified(text, 0.0375, 80, &scene);
        perp_vec3 x = perp_sim_body_position(sim, (perp_body){1});
        assert_true(fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z))) < 1.0);
        perp_sim_destroy(sim);
        perp_scene_destroy(scene);
    }
}

// A box of 0.1 m that tumbles by a radian a step strikes a mesh at 1000 m/s and flies off, turning faster: what a turn loses of
// its angular momentum fell with the length of the parts, which were not allowed to be short enough.
static void a_struck_box_keeps_its_momentum(void **state)
{
    (void)state;
    static const char *const steppers[] = {"stewart-trinkle", "anitescu-potra", "implicit"};
    for (int k = 0; k < 3; k++) {
        char text[800];
        snprintf(
            text, sizeof text,
            "{\"stepper\": \"%s\", \"gravity\": [0, 0, 0], \"shapes\": [{\"kind\": \"mesh\", "
            "\"vertices\": [[5, -3, -3], [5, 3, -3], [5, 3, 3], [5, -3, 3]], \"triangles\": "
            "[[0, 2, 1], [0, 3, 2]]}], \"bodies\": [{\"kind\": \"solid\", \"velocity\": [1000, "
            "1, 2], \"spin\": [100, 50, 0], \"shapes\": [{\"kind\": \"box\", \"size\": [0.1, "
            "0.06, 0.08], \"density\": 1000}]}]}",
            steppers[k]);
        perp_scene *scene = NULL;
        perp_sim *sim = certified(text, 0.01, 3, &scene);
        assert_true(perp_sim_body_position(sim, (perp_body){1}).x < 5.0);
        perp_sim_destroy(sim);
        perp_scene_destroy(scene);
    }
}

// Two balls meet off centre at 1600 m/s, 16 m a step, without rebound: they part as the line between their centres says where
// they meet. The implicit step took the line of where its part ended, when they had passed around each other: 120 m/s off.
static void balls_glance(void **state)
{
    (void)state;
    static const char *const steppers[] = {"anitescu-potra", "stewart-trinkle", "moreau-jean",
                                           "implicit"};
    perp_vec3 first = {0.0, 0.0, 0.0};
    for (int k = 0; k < 4; k++) {
        char text[800];
        snprintf(text, sizeof text,
                 "{\"stepper\": \"%s\", \"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"a\", "
                 "\"kind\": \"solid\", \"velocity\": [700, 0, 0], \"shapes\": [{\"kind\": "
                 "\"sphere\", \"radius\": 0.005, \"density\": 8000}]}, {\"name\": \"b\", "
                 "\"kind\": \"solid\", \"position\": [6.1, 0.002, 0], \"velocity\": [-900, 0, 0], "
                 "\"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.005, \"density\": 8000}]}]}",
                 steppers[k]);
        perp_scene *scene = NULL;
        perp_sim *sim = certified(text, 0.01, 2, &scene);
        perp_vec3 v = perp_sim_body_twist(sim, (perp_body){1}).v_W;
        first = k == 0 ? v : first;
        double off = hypot(v.x - first.x, v.y - first.y);
        print_message("%s: off by %.2f m/s\n", steppers[k], off);
        assert_true(off < 0.01 * 1600.0);
        perp_sim_destroy(sim);
        perp_scene_destroy(scene);
    }
}

// A ball with three different moments of inertia turns by nine radians a step: the steps are divided until the angular
// momentum is kept to a hundredth in each, and over forty of them to a tenth.
static void whirling_keeps_its_momentum(void **state)
{
    (void)state;
    static const char text[] =
        "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"ball\", \"kind\": \"solid\", \"mass\": "
        "154, \"inertia\": [0.0653329, 0.0541072, 0.0632947], \"spin\": [-7098, 228, -6604], "
        "\"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.0331635}]}]}";
    perp_scene *scene = NULL;
    perp_sim *sim = certified(text, 0.001, 40, &scene);
    const double J[3] = {0.0653329, 0.0541072, 0.0632947};
    perp_quat q = perp_sim_body_pose(sim, (perp_body){1}).rot;
    perp_vec3 w = perp_sim_body_twist(sim, (perp_body){1}).w_W;
    // R' w by the columns of R
    double R[3][3] = {
        {1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y - q.w * q.z), 2 * (q.x * q.z + q.w * q.y)},
        {2 * (q.x * q.y + q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z), 2 * (q.y * q.z - q.w * q.x)},
        {2 * (q.x * q.z - q.w * q.y), 2 * (q.y * q.z + q.w * q.x),
         1 - 2 * (q.x * q.x + q.y * q.y)}};
    const double in[3] = {w.x, w.y, w.z}, had[3] = {J[0] * -7098, J[1] * 228, J[2] * -6604};
    double off = 0.0, size = 0.0, L[3] = {0.0};
    for (int k = 0; k < 3; k++) {
        double body = R[0][k] * in[0] + R[1][k] * in[1] + R[2][k] * in[2];
        for (int i = 0; i < 3; i++) {
            L[i] += R[i][k] * J[k] * body;
        }
    }
    for (int i = 0; i < 3; i++) {
        off += (L[i] - had[i]) * (L[i] - had[i]);
        size += had[i] * had[i];
    }
    if (!(sqrt(off / size) < 0.1)) {
        fail_msg("the angular momentum is off by %g of it", sqrt(off / size));
    }
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// Two thousand impacts in a step: those that have no part of their own lose what the law would give back, 20 kJ of a ball with
// e = 1, and no word said so.
static void lost_restitution_is_reported(void **state)
{
    (void)state;
    static const char text[] = "{\"gravity\": [0, 0], \"shapes\": [{\"kind\": \"box\", \"size\": "
                               "[0.1, 1], \"position\": [-0.25, "
                               "0], \"mu\": 0, \"restitution\": 1}, {\"kind\": \"box\", \"size\": "
                               "[0.1, 1], \"position\": [0.25, "
                               "0], \"mu\": 0, \"restitution\": 1}], \"bodies\": [{\"name\": "
                               "\"b\", \"velocity\": [200, 0], "
                               "\"mass\": 1, \"inertia\": 0.01, \"shapes\": [{\"kind\": \"disc\", "
                               "\"radius\": 0.1, \"mu\": 0, "
                               "\"restitution\": 1}]}]}";
    for (int k = 0; k < 2; k++) {
        perp_scene *scene = NULL;
        perp_sim *sim = NULL;
        assert_int_equal(perp_scene_parse("x", text, strlen(text), NULL, &scene, NULL), PERP_OK);
        perp_sim_def def = perp_scene_sim_def(scene);
        assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
        assert_true(perp_sim_step(sim, k == 0 ? 1.0 : 0.01) >= 0);
        const perp_step_info *info = perp_sim_info(sim);
        bool kept = fabs(info->energy.kinetic - 2e4) < 1.0;
        if (kept == info->tempered || (!kept && !strstr(info->remark, "no restitution"))) {
            fail_msg("%g J, tempered %d: %s", info->energy.kinetic, info->tempered, info->remark);
        }
        assert_true(kept == (k == 1));
        perp_sim_destroy(sim);
        perp_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(discs),
        cmocka_unit_test(squares),
        cmocka_unit_test(balls),
        cmocka_unit_test(boxes),
        cmocka_unit_test(pushed),
        cmocka_unit_test(squeezed),
        cmocka_unit_test(nothing_is_passed),
        cmocka_unit_test(what_meets_has_held_nothing),
        cmocka_unit_test(margins_by_size),
        cmocka_unit_test(thin_walls_in_the_plane),
        cmocka_unit_test(a_whirling_rod_passes),
        cmocka_unit_test(one_body_does_not_pay_for_another),
        cmocka_unit_test(whirling_keeps_its_momentum),
        cmocka_unit_test(a_rod_stays_in_a_mesh),
        cmocka_unit_test(balls_glance),
        cmocka_unit_test(a_struck_box_keeps_its_momentum),
        cmocka_unit_test(lost_restitution_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
