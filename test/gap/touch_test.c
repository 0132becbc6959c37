// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contact points of solids: closed forms, manifolds, and the cases where features coincide.
#include "support/cmocka.h"
#include "support/random.h"
#include "support/touch_check.h"

static const pp_solid PLANE = {.kind = PP_SOLID_HALFSPACE};

static pp_solid box_of(double x, double y, double z)
{
    return (pp_solid){.kind = PP_SOLID_BOX, .half = {x, y, z}};
}

static pp_solid round_of(pp_solid_kind kind, double radius, double half)
{
    return (pp_solid){.kind = kind, .radius = radius, .half = {0.0, 0.0, half}};
}

static pp_pose at(double x, double y, double z, double turn_x, double turn_y, double turn_z)
{
    perp_quat q = pp_quat_exp(pp_vec(turn_x, turn_y, turn_z));
    return (pp_pose){{x, y, z}, pp_quat_matrix(q)};
}

static int touch(const touch_pair *p, double margin, pp_touch_point *t)
{
    return pp_solid_touch(&p->a, &p->X_WA, &p->b, &p->X_WB, margin, t);
}

static void near(double x, double y, double slack)
{
    if (!(fabs(x - y) <= slack)) {
        print_error("%.17g is not %.17g\n", x, y);
        fail();
    }
}

static void is_vector(perp_vec3 x, double u, double v, double w, double slack)
{
    near(x.x, u, slack);
    near(x.y, v, slack);
    near(x.z, w, slack);
}

static const double QUARTER = 1.5707963267948966;

// ── Half-space ───────────────────────────────────────────────────────────────────────────────────

// Whether t has the features of the first call (k = 0), in any order.
static void same_names(const pp_touch_point *t, int k, uint32_t *name)
{
    for (int i = 0; i < 4; i++) {
        bool known = false;
        name[i] = k == 0 ? t[i].feature : name[i];
        for (int j = 0; j < 4; j++) {
            known = known || name[j] == t[i].feature || k == 0;
        }
        assert_true(known);
    }
}

static void box_rests_on_four_corners(void **state)
{
    (void)state;
    pp_touch_point t[PP_TOUCH_MAX];
    uint32_t name[4];
    for (int k = 0; k < 25; k++) {  // a tilt of roundoff either way
        double tilt = 1e-16 * (k % 2 ? k : -k);
        touch_pair p = {PLANE, box_of(0.5, 0.4, 0.3), at(0, 0, 0, 0, 0, 0),
                        at(2.0, 1.0, 0.3, tilt, -tilt, 0.7)};
        assert_int_equal(touch(&p, 0.01, t), 4);
        same_names(t, k, name);
        for (int i = 0; i < 4; i++) {
            near(t[i].gap, 0.0, 3e-16 + fabs(tilt));
            is_vector(t[i].n, 0.0, 0.0, 1.0, 0.0);
        }
    }
}

static void tilted_box_shows_far_corners(void **state)
{
    (void)state;
    pp_touch_point t[PP_TOUCH_MAX];
    double tilt = 0.05, rise = 2.0 * 0.5 * sin(tilt);
    touch_pair p = {PLANE, box_of(0.5, 0.4, 0.3), at(0, 0, 0, 0, 0, 0), at(0, 0, 1, 0, tilt, 0)};
    assert_int_equal(touch(&p, HUGE_VAL, t), 4);
    p.X_WB.p.z -= t[0].gap;
    assert_int_equal(touch(&p, 0.9 * rise, t), 2);
    assert_int_equal(touch(&p, 1.1 * rise, t), 4);
    near(t[0].gap, 0.0, 1e-15);
    near(t[3].gap, rise, 1e-15);
}

static void round_solids_on_half_space(void **state)
{
    (void)state;
    pp_touch_point t[PP_TOUCH_MAX];
    touch_pair p = {round_of(PP_SOLID_SPHERE, 0.25, 0.0), PLANE, at(1, 2, 0.2, 0, 0, 0),
                    at(0, 0, 0, 0, 0, 0)};
    assert_int_equal(touch(&p, 0.0, t), 1);
    near(t[0].gap, -0.05, 1e-16);
    is_vector(t[0].n, 0.0, 0.0, -1.0, 0.0);
    is_vector(t[0].x_a, 1.0, 2.0, -0.05, 1e-15);
    is_vector(t[0].x_b, 1.0, 2.0, 0.0, 1e-15);
    assert_int_equal(t[0].feature, 0);
    p.a = round_of(PP_SOLID_CAPSULE, 0.25, 1.0);
    p.X_WA = at(0, 0, 0.25, QUARTER, 0, 0);  // on its side
    assert_int_equal(touch(&p, 0.01, t), 2);
    near(t[0].gap, 0.0, 1e-15);
    near(t[1].gap, 0.0, 1e-15);
    p.a.kind = PP_SOLID_CYLINDER;
    assert_int_equal(touch(&p, 0.01, t), 2);
    near(t[0].gap, 0.0, 1e-15);
    near(t[1].gap, 0.0, 1e-15);
    p.X_WA = at(0, 0, 1, 0, 0, 0);  // on its base
    assert_int_equal(touch(&p, 0.01, t), 8);
    near(t[7].gap, 0.0, 1e-15);
    p.X_WA = at(0, 0, 1, 0.3, 0, 0);  // on its rim
    assert_int_equal(touch(&p, HUGE_VAL, t), 8);
    near(t[0].gap, 1.0 - cos(0.3) - 0.25 * sin(0.3), 1e-15);
    p.a = (pp_solid){.kind = PP_SOLID_ELLIPSOID, .half = {3.0, 2.0, 1.0}};
    p.X_WA = at(0, 0, 2, 0.4, 0, 0);
    assert_int_equal(touch(&p, HUGE_VAL, t), 1);
    near(t[0].gap, 2.0 - hypot(2.0 * sin(0.4), cos(0.4)), 1e-15);
    p.a = round_of(PP_SOLID_CONE, 1.0, 1.0);
    p.X_WA = at(0, 0, 1, 0, 0, 0);
    assert_int_equal(touch(&p, 0.01, t), 8);
    p.X_WA = at(0, 0, 1, 2.0 * QUARTER, 0, 0);  // on its apex
    assert_int_equal(touch(&p, 0.01, t), 1);
    near(t[0].gap, 0.0, 1e-15);
    p.X_WA = at(0, 0, 0.0, QUARTER + atan(0.5), 0, 0);  // on its side
    p.X_WA.p.z = sin(atan(0.5));
    assert_int_equal(touch(&p, 0.01, t), 2);
    near(t[1].gap, 0.0, 1e-15);
    p.a = PLANE;
    assert_int_equal(touch(&p, HUGE_VAL, t), 0);
}

// ── Faces on faces ───────────────────────────────────────────────────────────────────────────────

// Boxes stacked edge on edge: the corners of one of them, whatever the roundoff.
static void stack_keeps_four_names(void **state)
{
    (void)state;
    pp_touch_point t[PP_TOUCH_MAX];
    uint32_t name[4];
    rng r = rng_seed(7);
    for (int k = 0; k < 200; k++) {
        double e = k == 0 ? 0.0 : 1e-13;
        double x[6];
        for (int i = 0; i < 6; i++) {
            x[i] = e * rng_normal(&r);
        }
        touch_pair p = {box_of(0.5, 0.5, 0.5), box_of(0.5, 0.5, 0.5), at(0, 0, 0, 0, 0, 0),
                        at(x[0], x[1], 1.0 + x[2], x[3], x[4], x[5])};
        assert_int_equal(touch(&p, 0.01, t), 4);
        same_names(t, k, name);
        for (int i = 0; i < 4; i++) {
            near(t[i].gap, 0.0, 2e-12);
            near(t[i].n.z, 1.0, 1e-15);
        }
    }
}

static void octagon_of_two_squares(void **state)
{
    (void)state;
    pp_touch_point t[PP_TOUCH_MAX];
    touch_pair p = {box_of(0.5, 0.5, 0.5), box_of(0.5, 0.5, 0.5), at(0, 0, 0, 0, 0, 0),
                    at(0, 0, 0.999, 0, 0, 0.5 * QUARTER)};
    assert_int_equal(touch(&p, 0.01, t), 8);
    for (int i = 0; i < 8; i++) {
        near(t[i].gap, -0.001, 1e-15);
        near(hypot(t[i].x_a.x, t[i].x_a.y), 0.5 / cos(0.25 * QUARTER), 1e-14);
    }
}

static void edges_and_capsules_on_boxes(void **state)
{
    (void)state;
    pp_touch_point t[PP_TOUCH_MAX];
    double up = 0.1 * sqrt(2.0);
    touch_pair p = {box_of(1, 1, 1), box_of(0.5, 0.1, 0.1), at(0, 0, 0, 0, 0, 0),
                    at(0, 0, 1.0 + up, 0.5 * QUARTER, 0, 0)};
    assert_int_equal(touch(&p, 0.01, t), 2);  // an edge on a face
    near(t[0].gap, 0.0, 1e-15);
    near(t[1].gap, 0.0, 1e-15);
    p.X_WA = at(0, 0, -sqrt(2.0), 0, 0.5 * QUARTER, 0);
    p.X_WB = at(0, 0, up, 0.5 * QUARTER, 0, 0);
    assert_int_equal(touch(&p, 0.01, t), 1);  // an edge across an edge
    near(t[0].gap, 0.0, 1e-15);
    p.X_WA = at(0, 0, 0, 0, 0, 0);
    p.b = round_of(PP_SOLID_CAPSULE, 0.1, 0.5);
    p.X_WB = at(0, 0, 1.1, QUARTER, 0, 0);
    assert_int_equal(touch(&p, 0.01, t), 2);
    near(t[1].gap, 0.0, 1e-15);
    p.X_WB = at(1.0 + 0.07, 0, 1.0 + 0.07, QUARTER + 1e-3, 0, 0);  // nearly along an edge
    assert_int_equal(touch(&p, 0.01, t), 2);
    p.b.kind = PP_SOLID_CYLINDER;
    p.X_WB = at(0, 0, 1.1, QUARTER, 0, 0);
    assert_int_equal(touch(&p, 0.01, t), 2);
    near(t[0].gap, 0.0, 1e-15);
    near(t[1].gap, 0.0, 1e-15);
    p.X_WB = at(0, 0, 1.5, 1e-16, 1e-16, 0);
    assert_int_equal(touch(&p, 0.01, t), 8);
    near(t[7].gap, 0.0, 1e-15);
    p.X_WB.p.x = 1.09;  // over the edge, less than the eight points reach
    assert_true(touch(&p, 0.01, t) >= 1);
    near(t[0].gap, 0.0, 1e-15);
}

static void cylinders_side_by_side(void **state)
{
    (void)state;
    pp_touch_point t[PP_TOUCH_MAX];
    touch_pair p = {round_of(PP_SOLID_CYLINDER, 0.5, 1.0), round_of(PP_SOLID_CYLINDER, 0.3, 2.0),
                    at(0, 0, 0, 0, 0, 0), at(0.8, 0, 0.2, 0, 0, 1.0)};
    assert_int_equal(touch(&p, 0.01, t), 2);
    near(t[0].gap, 0.0, 1e-15);
    near(t[1].gap, 0.0, 1e-15);
    is_vector(t[0].n, 1.0, 0.0, 0.0, 1e-15);
    p.X_WB = at(0.8, 0, 0.2, 1e-3, 0, 0);
    assert_true(touch(&p, 0.01, t) >= 2);
    p.a.kind = p.b.kind = PP_SOLID_CAPSULE;
    p.X_WB = at(0.8, 0, 0.2, 0, 0, 0);
    assert_int_equal(touch(&p, 0.01, t), 2);
    p.a.kind = p.b.kind = PP_SOLID_CYLINDER;
    p.X_WB = at(0.1, 0, 3.0, 0, 0, 0);  // one on the other
    assert_int_equal(touch(&p, 0.01, t), 8);
    near(t[7].gap, 0.0, 1e-15);
}

// ── Where features coincide ──────────────────────────────────────────────────────────────────────

static void no_flaw(const touch_pair *p, double tolerance)
{
    rng r = rng_seed(3);
    const char *flaw = touch_flaw(p, tolerance, &r);
    if (flaw) {
        print_error("kinds %d and %d: %s\n", (int)p->a.kind, (int)p->b.kind, flaw);
    }
    assert_null(flaw);
}

static void all_kinds(void (*check)(touch_pair *p))
{
    for (int a = 0; a < PP_SOLID_HALFSPACE; a++) {
        for (int b = 0; b < PP_SOLID_HALFSPACE; b++) {
            rng r = rng_seed((uint64_t)(8 * a + b));
            touch_hull ha, hb;
            touch_pair p;
            p.a = touch_random_solid(&r, (pp_solid_kind)a, &ha);
            p.b = touch_random_solid(&r, (pp_solid_kind)b, &hb);
            p.X_WA = p.X_WB = at(0, 0, 0, 0, 0, 0);
            check(&p);
        }
    }
}

static void check_coincident(touch_pair *p)
{
    no_flaw(p, 1e-11);  // identical poses
    p->X_WB = at(0, 0, 0, QUARTER, 0, 0);
    no_flaw(p, 1e-11);
    p->b = p->a;
    p->X_WB = p->X_WA;
    no_flaw(p, 1e-11);
    double reach = touch_reach(&p->a, pp_vec(0, 0, 1)) + touch_reach(&p->b, pp_vec(0, 0, -1));
    p->X_WB.p.z = reach;  // just on top
    no_flaw(p, 1e-11);
}

// A drum that lies level on a box and overhangs two of its edges has more than eight points. All are
// equally close, and rounding of a tilt far below any that can be seen chooses none of them.
static void level_manifold_keeps_its_points(void **state)
{
    rng r = rng_seed(1);
    uint32_t name[PP_TOUCH_MAX];
    int first = 0;
    (void)state;
    for (int k = 0; k < 200; k++) {
        double tilt = k == 0 ? 0.0 : 1e-15;
        touch_pair p = {.a = box_of(0.287, 0.35, 0.116),
                        .b = round_of(PP_SOLID_CYLINDER, 0.314, 0.442),
                        .X_WA = at(0.013, 0.024, 0.116, 0.0, 0.0, 0.0),
                        .X_WB = at(0.0463, -0.0191, 0.674, tilt * rng_uniform(&r, -1.0, 1.0),
                                   tilt * rng_uniform(&r, -1.0, 1.0), 0.0)};
        pp_touch_point t[PP_TOUCH_MAX];
        int count = touch(&p, 0.01, t);
        first = k == 0 ? count : first;
        assert_int_equal(count, first);
        for (int i = 0; i < count; i++) {
            bool known = k == 0;
            name[i] = k == 0 ? t[i].feature : name[i];
            for (int j = 0; j < first && !known; j++) {
                known = name[j] == t[i].feature;
            }
            assert_true(known);
        }
    }
    assert_int_equal(first, 8);
}

static void coincident(void **state)
{
    (void)state;
    all_kinds(check_coincident);
}

static void scale_solid(pp_solid *s, touch_hull *h, double x, double y, double z)
{
    s->half = pp_vec(s->half.x * x, s->half.y * y, s->half.z * z);
    s->radius *= x;
    if (s->kind == PP_SOLID_HULL) {
        touch_hull_set(h, 0, s->half);
        s->hull = &h->hull;
    }
}

// Sizes 1e-6 to 1e6, and needles and plates of up to 1e4 : 1.
static void sizes(void **state)
{
    (void)state;
    for (int a = 0; a < PP_SOLID_HALFSPACE; a++) {
        for (int b = 0; b < PP_SOLID_HALFSPACE; b++) {
            for (int k = 0; k < 8; k++) {
                rng r = rng_seed((uint64_t)(64 * a + 8 * b + k));
                touch_hull ha, hb;
                touch_pair p;
                p.a = touch_random_solid(&r, (pp_solid_kind)a, &ha);
                p.b = touch_random_solid(&r, (pp_solid_kind)b, &hb);
                p.X_WA = touch_random_pose(&r, 1.0);
                p.X_WB = touch_random_pose(&r, 1.0);
                double scale = pow(10.0, 2 * k - 7);
                if (k % 2 == 0) {
                    scale_solid(&p.a, &ha, 1.0, 1.0, 1e-4);
                    scale_solid(&p.b, &hb, 1e-4, 1e-4, 1.0);
                    scale = 1.0;
                }
                scale_solid(&p.a, &ha, scale, scale, scale);
                scale_solid(&p.b, &hb, scale, scale, scale);
                p.X_WA.p = pp_scale(scale, p.X_WA.p);
                p.X_WB.p = pp_scale(scale, p.X_WB.p);
                no_flaw(&p, 1e-9);
            }
        }
    }
}

static void far_from_the_origin(void **state)
{
    (void)state;
    pp_touch_point t[PP_TOUCH_MAX], u[PP_TOUCH_MAX];
    touch_pair p = {box_of(0.5, 0.5, 0.5), box_of(0.25, 0.25, 0.25), at(0, 0, 0, 0, 0, 0),
                    at(0.125, 0, 0.8125, 0, 0, 0.3)};
    int count = touch(&p, 0.1, t);
    p.X_WA.p.x += 1048576.0;
    p.X_WB.p.x += 1048576.0;
    assert_int_equal(touch(&p, 0.1, u), count);
    for (int k = 0; k < count; k++) {
        near(u[k].gap, t[k].gap, 1e-15);  // measured from one solid, not from the origin
        assert_int_equal(u[k].feature, t[k].feature);
    }
}

// ── From the normal of a moment ago ──────────────────────────────────────────────────────────────

static const pp_touch_point *lowest_of(const pp_touch_point *t, int count)
{
    const pp_touch_point *low = t;
    for (int k = 1; k < count; k++) {
        low = t[k].gap < low->gap ? &t[k] : low;
    }
    return low;
}

// Cylinders, on their rims, against boxes, capsules and each other, apart by 1 um: a normal that is nearly right leads
// to the same one as the whole search, and to the same gap.
static void normals_of_a_moment_ago(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 300)
    {
        rng r = rng_seed(seed);
        pp_solid other[3] = {box_of(0.3, 0.2, 0.4), round_of(PP_SOLID_CAPSULE, 0.1, 0.3),
                             round_of(PP_SOLID_CYLINDER, 0.3, 0.2)};
        touch_pair p = {.a = round_of(PP_SOLID_CYLINDER, 0.25, 0.3), .b = other[seed % 3]};
        pp_touch_point t[PP_TOUCH_MAX], u[PP_TOUCH_MAX];
        p.X_WA = at(0.0, 0.0, 0.0, rng_normal(&r), rng_normal(&r), rng_normal(&r));
        p.X_WB = at(2.0, 0.3, 0.1, rng_normal(&r), rng_normal(&r), rng_normal(&r));
        for (int k = 0; k < 3; k++) {
            // the normal turns on the way: a few times
            int count = touch(&p, HUGE_VAL, t);
            const pp_touch_point *low = lowest_of(t, count);
            p.X_WB.p = pp_along(p.X_WB.p, 1e-6 - low->gap, low->n);
        }
        const pp_touch_point *low = lowest_of(t, touch(&p, 1e-3, t));
        perp_vec3 n = pp_unit(pp_along(low->n, 1e-4, pp_across(low->n)), low->n);
        int count =
            pp_solid_touch_near(&p.a, &p.X_WA, &p.b, &p.X_WB, 1e-3, (pp_touch_hint){&n, NULL}, u);
        CHECK(count > 0, seed);
        const pp_touch_point *found = lowest_of(u, count);
        CHECK(fabs(found->gap - low->gap) < 1e-12, seed);
        // between two corners s(n) = gap cos(angle), which rounding hides below 1e-5
        CHECK(pp_length(pp_sub(found->n, low->n)) < 1e-5, seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(box_rests_on_four_corners),
        cmocka_unit_test(tilted_box_shows_far_corners),
        cmocka_unit_test(round_solids_on_half_space),
        cmocka_unit_test(stack_keeps_four_names),
        cmocka_unit_test(octagon_of_two_squares),
        cmocka_unit_test(edges_and_capsules_on_boxes),
        cmocka_unit_test(cylinders_side_by_side),
        cmocka_unit_test(level_manifold_keeps_its_points),
        cmocka_unit_test(coincident),
        cmocka_unit_test(sizes),
        cmocka_unit_test(far_from_the_origin),
        cmocka_unit_test(normals_of_a_moment_ago),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
