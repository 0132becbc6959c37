// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The gap stage on whole scenes: every pair that may meet is found, at a near linear cost; listed contacts,
// rules and moving surfaces.
#include "gap/broad.h"
#include "support/cmocka.h"
#include "support/fault.h"
#include "support/random.h"

#include <math.h>
#include <string.h>

static perp_shape_def shape(perp_shape_kind kind, double size)
{
    perp_shape_def d = perp_shape_default();
    d.kind = kind;
    d.radius = size;
    d.half = (perp_vec3){size, size, 0.0};
    return d;
}

static perp_body add_body(perp_builder *b, double x, double y, perp_motion drive)
{
    perp_body_def d = perp_body_default();
    d.mass = d.inertia_zz = 1.0;
    d.motion = drive;
    d.position_W = (perp_vec3){x, y, 0.0};
    return perp_builder_add_body(b, &d);
}

static perp_model *finish(perp_builder *b)
{
    perp_model *model = NULL;
    perp_error error = {0};
    if (perp_model_create(b, &model, &error) < 0) {
        print_error("%s\n", error.text);
    }
    perp_builder_destroy(b);
    assert_non_null(model);
    return model;
}

// The stage at the model's first state, at time t.
static perp_status run_at(const perp_model *m, double t, double margin, pp_arena *arena,
                          pp_kinematics *kin, pp_gaps *gaps)
{
    double *q = PP_ZEROS(arena, double, m->nv), *nu = PP_ZEROS(arena, double, m->nv);
    if (!q || !nu) {
        return PERP_ERR_MEMORY;
    }
    pp_state state = {.t = t, .q = q, .nu = nu};
    pp_state_start(m, &state);
    memset(nu, 0, (size_t)m->nv * sizeof *nu);
    perp_status status =
        pp_kinematics_run(kin, m, &state, 0.01, PERP_GYROSCOPIC_IMPLICIT, NULL, arena);
    return status < 0 ? status
                      : pp_gaps_run(gaps, m, &kin->poses, (pp_gap_search){.margin = margin}, arena);
}

static int contacts_of(const perp_model *m, double t, pp_contact *out, int most)
{
    pp_arena *arena = pp_arena_create(NULL);
    pp_kinematics kin;
    pp_gaps gaps;
    assert_int_equal(run_at(m, t, 0.01, arena, &kin, &gaps), PERP_OK);
    assert_true(gaps.count <= most);
    memcpy(out, gaps.contact, (size_t)gaps.count * sizeof *out);
    int count = gaps.count;
    pp_arena_destroy(arena);
    return count;
}

// ── Found or not ─────────────────────────────────────────────────────────────────────────────────

static const perp_shape_kind KINDS[] = {PERP_SHAPE_POINT, PERP_SHAPE_DISC, PERP_SHAPE_BOX,
                                        PERP_SHAPE_CAPSULE, PERP_SHAPE_SEGMENT};

static perp_builder *random_builder(rng *r, int bodies)
{
    perp_builder *b = perp_builder_create(NULL);
    double room = sqrt((double)bodies);
    perp_shape last = {-1};
    for (int k = 0; k < bodies; k++) {
        perp_motion drive = rng_below(r, 4) ? PERP_MOTION_DYNAMIC : PERP_MOTION_STATIC;
        perp_body body = add_body(b, rng_uniform(r, 0.0, room), rng_uniform(r, 0.0, room), drive);
        for (int i = rng_below(r, 3); i >= 0; i--) {
            perp_shape_def d = shape(KINDS[rng_below(r, 5)], rng_uniform(r, 0.02, 0.7));
            if (rng_below(r, 40) == 0) {
                d.kind = PERP_SHAPE_HALFPLANE;
            }
            if (rng_below(r, 40) == 0) {
                d.half.x = d.radius = room;  // a giant among them
            }
            d.position_B = (perp_vec3){rng_uniform(r, -0.3, 0.3), rng_uniform(r, -0.3, 0.3), 0.0};
            d.angle = rng_uniform(r, -3.0, 3.0);
            d.detect = rng_below(r, 10) > 0;
            perp_shape now = perp_builder_add_shape(b, body, &d);
            if (last.i >= 0 && i > 0 && k > 2 && rng_below(r, 3) == 0) {
                perp_pair_def pair = perp_pair_default();
                pair.a = now;
                pair.b = (perp_shape){rng_below(r, 2)};
                pair.ignore = rng_below(r, 2) == 0;
                perp_builder_add_pair(b, &pair);
            }
            last = now;
        }
        if (k > 0 && rng_below(r, 3) == 0) {
            perp_joint_def joint = perp_joint_default();
            joint.kind = (perp_joint_kind)rng_below(r, 6);
            joint.a = (perp_body){1 + rng_below(r, k)};
            joint.b = body;
            joint.length = 1.0;
            perp_builder_add_joint(b, &joint);
        }
    }
    return b;
}

static bool joined(const perp_model *m, int a, int b)
{
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        bool both = (j->a == a && j->b == b) || (j->a == b && j->b == a);
        if (both && j->kind != PERP_JOINT_DISTANCE && j->kind != PERP_JOINT_ANGLE &&
            j->kind != PERP_JOINT_GEAR) {
            return true;
        }
    }
    return false;
}

static bool should_look(const perp_model *m, int a, int b)
{
    const pp_shape *sa = &m->shape[a], *sb = &m->shape[b];
    bool rule = false;
    if (!sa->detect || !sb->detect || sa->body == sb->body ||
        (m->body[sa->body].drive != PERP_MOTION_DYNAMIC &&
         m->body[sb->body].drive != PERP_MOTION_DYNAMIC)) {
        return false;
    }
    for (int i = 0; i < m->pairs; i++) {
        if (m->pair[i].a == a && m->pair[i].b == b) {
            rule = true;
            if (m->pair[i].ignore &&
                (i + 1 == m->pairs || m->pair[i + 1].a != a || m->pair[i + 1].b != b)) {
                return false;
            }
        }
    }
    // Of a body that is not free, only shapes in which a joint is fastened are left out (model/meet).
    bool free = m->body[sa->body].nv > 0 && m->body[sb->body].nv > 0;
    return rule || !joined(m, sa->body, sb->body) ||
           (!free && pp_model_pair_filter(m, a, b) != PP_PAIR_JOINED);
}

static void same_as_all_pairs(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 60)
    {
        rng r = rng_seed(seed);
        perp_model *m = finish(random_builder(&r, 2 + rng_below(&r, 60)));
        pp_arena *arena = pp_arena_create(NULL);
        pp_kinematics kin;
        pp_gaps gaps;
        CHECK(run_at(m, 0.0, 0.05, arena, &kin, &gaps) == PERP_OK, seed);
        int at = 0;
        for (int a = 0; a < m->shapes; a++) {
            for (int b = a + 1; b < m->shapes; b++) {
                pp_contact c[PP_POINTS_MAX];
                int count =
                    should_look(m, a, b) ? pp_gap_pair(m, kin.poses.body, a, b, 0.05, c) : 0;
                for (int k = 0; k < count; k++, at++) {
                    CHECK(at < gaps.count, seed);
                    const pp_contact *g = &gaps.contact[at];
                    CHECK(g->a == a && g->b == b && g->feature == c[k].feature, seed);
                    CHECK(g->gap == c[k].gap && g->listed == -1, seed);
                }
            }
        }
        CHECK(at == gaps.count, seed);
        pp_arena_destroy(arena);
        perp_model_destroy(m);
    }
}

// ── What it costs ────────────────────────────────────────────────────────────────────────────────

typedef enum layout { PILE, ROW, MIXED, FLOWN_AWAY, LAYOUTS } layout;

static double tests_per_body(int bodies, layout how)
{
    perp_builder *b = perp_builder_create(NULL);
    rng r = rng_seed(7);
    perp_shape_def floor = shape(PERP_SHAPE_HALFPLANE, 1.0), table = shape(PERP_SHAPE_BOX, 200.0);
    table.half.y = 1.0;
    perp_builder_add_shape(b, (perp_body){0}, &floor);
    perp_builder_add_shape(b, (perp_body){0}, &table);
    int side = how == ROW ? bodies : (int)sqrt((double)bodies);
    for (int k = 0; k < bodies; k++) {
        double size = how == MIXED ? 0.5 * pow(10.0, -rng_uniform(&r, 0.0, 2.0)) : 0.5;
        int row = k / side;
        double x = k % side + rng_uniform(&r, -0.01, 0.01), y = row + 1.5;
        perp_shape_def d = shape(k % 2 ? PERP_SHAPE_BOX : PERP_SHAPE_DISC, size);
        if (how == FLOWN_AWAY && k == 0) {
            x = 1e6;
        }
        perp_builder_add_shape(b, add_body(b, x, y, PERP_MOTION_DYNAMIC), &d);
    }
    perp_model *m = finish(b);
    pp_arena *arena = pp_arena_create(NULL);
    pp_kinematics kin;
    pp_gaps gaps;
    pp_broad broad;
    assert_int_equal(run_at(m, 0.0, 0.01, arena, &kin, &gaps), PERP_OK);
    assert_int_equal(pp_broad_run(&broad, m, kin.poses.body, 0.01, NULL, arena), PERP_OK);
    double tests = (double)broad.tests / bodies;
    pp_arena_destroy(arena);
    perp_model_destroy(m);
    return tests;
}

// As many bodies more, as many tests of boxes more: 20 to 50 a body in every layout.
static void cost_is_near_linear(void **state)
{
    (void)state;
    for (int how = 0; how < LAYOUTS; how++) {
        for (int n = 1000; n <= 8000; n *= 2) {
            double tests = tests_per_body(n, (layout)how);
            print_message("layout %d: %d bodies, %.1f tests a body\n", how, n, tests);
            assert_true(tests <= 60.0);
        }
    }
}

// ── Listed contacts, coefficients, surfaces ──────────────────────────────────────────────────────

static void listed_contacts_are_always_there(void **state)
{
    (void)state;
    for (int only = 0; only < 2; only++) {
        perp_builder *b = perp_builder_create(NULL);
        perp_shape_def plane = shape(PERP_SHAPE_HALFPLANE, 1.0), box = shape(PERP_SHAPE_BOX, 0.5),
                       corner = shape(PERP_SHAPE_POINT, 0.0);
        plane.mu = 0.4;
        corner.mu = 0.9;
        corner.restitution = 0.25;
        perp_shape floor = perp_builder_add_shape(b, (perp_body){0}, &plane);
        perp_body body = add_body(b, 0.0, 5.5, PERP_MOTION_DYNAMIC),
                  other = add_body(b, 3.0, 0.5, PERP_MOTION_DYNAMIC);
        perp_shape high = perp_builder_add_shape(b, body, &box);
        corner.position_B = (perp_vec3){-0.5, -0.5, 0.0};
        perp_shape point = perp_builder_add_shape(b, body, &corner);
        perp_builder_add_shape(b, other, &box);
        perp_contact_def c = perp_contact_default();
        c.a = point, c.b = floor;
        perp_builder_add_contact(b, &c);
        c.a = floor, c.b = high, c.mu = 0.1, c.restitution = 0.0;
        perp_builder_add_contact(b, &c);
        perp_builder_set_listed_only(b, only == 1);
        perp_model *m = finish(b);
        pp_contact got[8];
        assert_int_equal(contacts_of(m, 0.0, got, 8), only ? 2 : 4);
        assert_true(got[0].a == point.i && got[0].b == floor.i && got[0].listed == 0);
        assert_true(got[0].gap == 5.0 && got[0].n.y == -1.0 && got[0].point.y == 5.0);
        assert_true(fabs(got[0].mu - 0.6) <= 1e-15 && got[0].restitution == 0.25);
        assert_true(got[1].a == floor.i && got[1].b == high.i && got[1].listed == 1);
        assert_true(got[0].feature == 0 && got[1].feature == 0);
        assert_true(got[1].gap == 5.0 && got[1].mu == 0.1 && got[1].restitution == 0.0);
        if (!only) {
            assert_true(got[2].listed == -1 && got[3].listed == -1 && got[3].b == 3);
        }
        perp_model_destroy(m);
    }
}

static void a_listed_pair_is_not_detected_again(void **state)
{
    (void)state;
    perp_builder *b = perp_builder_create(NULL);
    perp_shape_def plane = shape(PERP_SHAPE_HALFPLANE, 1.0), box = shape(PERP_SHAPE_BOX, 0.5);
    perp_contact_def c = perp_contact_default();
    c.a = perp_builder_add_shape(b, add_body(b, 0.0, 0.5, PERP_MOTION_DYNAMIC), &box);
    c.b = perp_builder_add_shape(b, (perp_body){0}, &plane);
    perp_builder_add_contact(b, &c);
    perp_model *m = finish(b);
    pp_contact got[4];
    assert_int_equal(contacts_of(m, 0.0, got, 4), 1);
    assert_true(got[0].listed == 0 && got[0].gap == 0.0 && got[0].feature == 0);
    perp_model_destroy(m);
}

static void what_cannot_touch_is_not_listed(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        perp_builder *b = perp_builder_create(NULL);
        perp_shape_def d = shape(k ? PERP_SHAPE_POINT : PERP_SHAPE_HALFPLANE, 0.0);
        perp_contact_def c = perp_contact_default();
        c.a = perp_builder_add_shape(b, (perp_body){0}, &d);
        c.b = perp_builder_add_shape(b, add_body(b, 0.0, 0.0, PERP_MOTION_DYNAMIC), &d);
        c.name = "odd";
        perp_builder_add_contact(b, &c);
        perp_error error;
        assert_int_equal(perp_builder_status(b, &error), PERP_ERR_MODEL);
        assert_string_equal(error.text, k ? "contact 'odd': two points cannot touch"
                                          : "contact 'odd': two half-planes cannot touch");
        perp_builder_destroy(b);
    }
}

// A belt carries to +x: b slides to -x on it, whatever the order of the two.
static void belts_move_surfaces(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        perp_builder *b = perp_builder_create(NULL);
        perp_shape_def belt = shape(PERP_SHAPE_HALFPLANE, 1.0), disc = shape(PERP_SHAPE_DISC, 0.5);
        belt.surface_speed = "2*t";
        perp_body body = add_body(b, 0.0, 0.5, PERP_MOTION_DYNAMIC);
        if (k) {
            disc.surface_speed = "3";  // clockwise: at its lowest point to -x
            perp_builder_add_shape(b, body, &disc);
        }
        perp_builder_add_shape(b, (perp_body){0}, &belt);
        if (!k) {
            perp_builder_add_shape(b, body, &disc);
        }
        perp_model *m = finish(b);
        pp_contact c[2];
        assert_int_equal(contacts_of(m, 0.5, c, 2), 1);
        pp_vec2 t = {c[0].n.y, -c[0].n.x};
        double floor_x = 1.0, disc_x = k ? -3.0 : 0.0;  // velocities of the surfaces along x
        double b_minus_a = k ? floor_x - disc_x : disc_x - floor_x;
        assert_true(fabs(c[0].surface.x * t.x + c[0].surface.y * t.y - b_minus_a * t.x) <= 1e-15);
        perp_model_destroy(m);
    }
}

static void rules_decide_about_pairs(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        perp_builder *b = perp_builder_create(NULL);
        perp_shape_def disc = shape(PERP_SHAPE_DISC, 0.5);
        perp_body x = add_body(b, 0.0, 0.0, PERP_MOTION_DYNAMIC),
                  y = add_body(b, 0.9, 0.0, PERP_MOTION_DYNAMIC);
        perp_pair_def pair = perp_pair_default();
        pair.a = perp_builder_add_shape(b, x, &disc);
        pair.b = perp_builder_add_shape(b, y, &disc);
        pair.mu = 0.125;
        pair.ignore = k == 3;
        perp_joint_def joint = perp_joint_default();
        joint.a = x;
        joint.b = y;
        joint.anchor_A.x = 0.45;
        joint.anchor_B.x = -0.45;
        if (k >= 1) {
            perp_builder_add_joint(b, &joint);
        }
        if (k >= 2) {
            perp_builder_add_pair(b, &pair);
        }
        perp_model *m = finish(b);
        pp_contact c[2];
        int count = contacts_of(m, 0.0, c, 2);
        assert_int_equal(count, k == 0 || k == 2 ? 1 : 0);  // alone; jointed; with a rule; ignored
        assert_true(count == 0 || c[0].mu == (k == 2 ? 0.125 : 0.5));
        perp_model_destroy(m);
    }
}

// ── Failures ─────────────────────────────────────────────────────────────────────────────────────

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_seed(3);
    perp_model *m = finish(random_builder(&r, 100));
    for (int at = 1, done = 0; !done; at++) {
        fault f = {.fail_at = at};
        perp_env env = fault_env(&f);
        pp_arena *arena = pp_arena_create(&env);
        if (arena) {
            pp_kinematics kin;
            pp_gaps gaps;
            perp_status status = run_at(m, 0.0, 0.05, arena, &kin, &gaps);
            assert_int_equal(status, f.happened ? PERP_ERR_MEMORY : PERP_OK);
            done = !f.happened;
            pp_arena_destroy(arena);
        }
        assert_true(f.live == 0 && f.confused == 0);
    }
    perp_model_destroy(m);
}

// A second step of the same scene takes no memory.
static void steady_state_allocates_nothing(void **state)
{
    (void)state;
    rng r = rng_seed(5);
    perp_model *m = finish(random_builder(&r, 300));
    fault f = {0};
    perp_env env = fault_env(&f);
    pp_arena *arena = pp_arena_create(&env);
    pp_kinematics kin;
    pp_gaps gaps;
    int calls = 0;
    for (int k = 0; k < 4; k++) {
        pp_arena_reset(arena);
        assert_true(k < 2 || f.calls == calls);
        calls = f.calls;
        assert_int_equal(run_at(m, 0.0, 0.05, arena, &kin, &gaps), PERP_OK);
        assert_true(k == 0 || f.calls == calls);
    }
    pp_arena_destroy(arena);
    perp_model_destroy(m);
}

static void poses_must_be_finite(void **state)
{
    (void)state;
    perp_builder *b = perp_builder_create(NULL);
    perp_shape_def disc = shape(PERP_SHAPE_DISC, 0.5);
    perp_builder_add_shape(b, add_body(b, 0.0, 0.0, PERP_MOTION_DYNAMIC), &disc);
    perp_model *m = finish(b);
    pp_arena *arena = pp_arena_create(NULL);
    pp_gaps gaps;
    const double places[3] = {0.0, (double)NAN, HUGE_VAL};
    for (int k = 0; k < 3; k++) {
        pp_frame body[2] = {{.R = pp_identity3()},
                            {.p = {places[k], 0.0, 0.0}, .R = pp_identity3()}};
        pp_poses at = {.body = body};
        assert_int_equal(pp_gaps_run(&gaps, m, &at, (pp_gap_search){.margin = 0.01}, arena),
                         k ? PERP_ERR_NUMERIC : PERP_OK);
    }
    pp_arena_destroy(arena);
    perp_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_all_pairs),
        cmocka_unit_test(cost_is_near_linear),
        cmocka_unit_test(listed_contacts_are_always_there),
        cmocka_unit_test(a_listed_pair_is_not_detected_again),
        cmocka_unit_test(what_cannot_touch_is_not_listed),
        cmocka_unit_test(belts_move_surfaces),
        cmocka_unit_test(rules_decide_about_pairs),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(steady_state_allocates_nothing),
        cmocka_unit_test(poses_must_be_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
