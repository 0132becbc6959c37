// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The outline that two level faces share where one of them is round: points furthest along a direction and nearest
// to a place, against closed forms and against a dense sampling of the shared region.
#include "support/cmocka.h"
#include "support/random.h"

#include "gap/convex/convex.h"
#include "math/space.h"

#include <math.h>

static const double PI = 3.14159265358979323846;
static const perp_vec3 UP = {0.0, 0.0, 1.0};

static pp_solid cylinder(double radius)
{
    return (pp_solid){.kind = PP_SOLID_CYLINDER, .radius = radius, .half = {0.0, 0.0, 0.5}};
}

static pp_solid box(double x, double y)
{
    return (pp_solid){.kind = PP_SOLID_BOX, .half = {x, y, 0.5}};
}

// The centre of a solid of height 1 whose lower face is at z = 0 (above) or whose upper face is (below).
static pp_pose place(bool above, double x, double y, double turn)
{
    perp_quat q = {cos(0.5 * turn), 0.0, 0.0, sin(0.5 * turn)};
    return (pp_pose){{x, y, above ? 0.5 : -0.5}, pp_quat_matrix(q)};
}

static void expect(bool found, perp_vec3 x, double want_x, double want_y, const char *what)
{
    if (!found || !(hypot(x.x - want_x, x.y - want_y) < 1e-12) || !(fabs(x.z) < 1e-12)) {
        fail_msg("%s: (%.15g, %.15g, %.3g), should be (%.15g, %.15g, 0)", what, x.x, x.y, x.z,
                 want_x, want_y);
    }
}

// A cylinder on a plane: the whole rim.
static void plane_and_disc(void **state)
{
    (void)state;
    pp_solid plane = {.kind = PP_SOLID_HALFSPACE}, disc = cylinder(0.3);
    pp_pose ground = {{0.0, 0.0, 0.0}, pp_quat_matrix((perp_quat){1.0, 0.0, 0.0, 0.0})},
            at = place(true, 1.0, 2.0, 0.4);
    perp_vec3 x;
    bool found = pp_solid_rim(&plane, &ground, &disc, &at, UP, false, (perp_vec3){3, 4, 7}, &x);
    expect(found, x, 1.0 + 0.3 * 0.6, 2.0 + 0.3 * 0.8, "furthest");
    found = pp_solid_rim(&plane, &ground, &disc, &at, UP, true, (perp_vec3){0, 2, 0}, &x);
    expect(found, x, 0.7, 2.0, "nearest");
    // with the roles changed the normal turns
    found = pp_solid_rim(&disc, &at, &plane, &ground, pp_scale(-1.0, UP), false,
                         (perp_vec3){0, -1, 0}, &x);
    expect(found, x, 1.0, 1.7, "the other way round");
}

// Two discs of radius 1, one apart: a lens with tips at (1/2, +-sqrt(3)/2).
static void two_discs(void **state)
{
    (void)state;
    pp_solid lower = cylinder(1.0), upper = cylinder(1.0);
    pp_pose a = place(false, 0.0, 0.0, 0.0), b = place(true, 1.0, 0.0, 0.0);
    perp_vec3 x;
    bool found = pp_solid_rim(&lower, &a, &upper, &b, UP, false, (perp_vec3){0, 1, 0}, &x);
    expect(found, x, 0.5, 0.5 * sqrt(3.0), "upper tip");
    found = pp_solid_rim(&lower, &a, &upper, &b, UP, false, (perp_vec3){1, 0, 0}, &x);
    expect(found, x, 1.0, 0.0, "right");
    found = pp_solid_rim(&lower, &a, &upper, &b, UP, false, (perp_vec3){-1, 0, 0}, &x);
    expect(found, x, 0.0, 0.0, "left");
    found = pp_solid_rim(&lower, &a, &upper, &b, UP, true, (perp_vec3){0.5, -3.0, 0}, &x);
    expect(found, x, 0.5, -0.5 * sqrt(3.0), "lower tip");
    // one inside the other: the rim of the smaller one; apart: nothing
    pp_solid small = cylinder(0.25);
    b = place(true, 0.5, 0.0, 0.0);
    found = pp_solid_rim(&lower, &a, &small, &b, UP, false, (perp_vec3){0, -1, 0}, &x);
    expect(found, x, 0.5, -0.25, "inside");
    b = place(true, 3.0, 0.0, 0.0);
    assert_false(pp_solid_rim(&lower, &a, &upper, &b, UP, false, (perp_vec3){0, 1, 0}, &x));
}

// Where there is no such region: faces out of level, round solids, two polygons.
static void no_region(void **state)
{
    (void)state;
    pp_solid lower = box(1.0, 1.0), disc = cylinder(0.5);
    pp_solid ball = {.kind = PP_SOLID_SPHERE, .radius = 0.5};
    pp_pose a = place(false, 0.0, 0.0, 0.0), b = place(true, 0.0, 0.0, 0.0);
    pp_pose tipped = b;
    perp_vec3 x;
    tipped.R = pp_quat_matrix((perp_quat){cos(0.005), sin(0.005), 0.0, 0.0});
    assert_true(pp_solid_rim(&lower, &a, &disc, &b, UP, false, (perp_vec3){1, 0, 0}, &x));
    assert_false(pp_solid_rim(&lower, &a, &disc, &tipped, UP, false, (perp_vec3){1, 0, 0}, &x));
    assert_false(pp_solid_rim(&lower, &a, &ball, &b, UP, false, (perp_vec3){1, 0, 0}, &x));
    assert_false(pp_solid_rim(&lower, &a, &lower, &b, UP, false, (perp_vec3){1, 0, 0}, &x));
}

typedef struct face {
    bool round;
    double x, y, turn, r, u, v;  // centre, angle, radius or half extents
} face;

static bool is_on(const face *f, double x, double y, double slack)
{
    double dx = x - f->x, dy = y - f->y;
    if (f->round) {
        return hypot(dx, dy) <= f->r + slack;
    }
    double along = cos(f->turn) * dx + sin(f->turn) * dy,
           across = cos(f->turn) * dy - sin(f->turn) * dx;
    return fabs(along) <= f->u + slack && fabs(across) <= f->v + slack;
}

static pp_solid solid_of(const face *f)
{
    return f->round ? cylinder(f->r) : box(f->u, f->v);
}

// Points of the outline of f, dense.
static void outline(const face *f, int k, int count, double *x, double *y)
{
    double s = (double)k / count;
    if (f->round) {
        *x = f->x + f->r * cos(2.0 * PI * s);
        *y = f->y + f->r * sin(2.0 * PI * s);
        return;
    }
    int side = (int)(4.0 * s);
    double t = 2.0 * (4.0 * s - side) - 1.0;
    const double square[4][2] = {{t, -1.0}, {1.0, t}, {-t, 1.0}, {-1.0, -t}};  // counter-clockwise
    double along = square[side][0] * f->u, across = square[side][1] * f->v;
    *x = f->x + cos(f->turn) * along - sin(f->turn) * across;
    *y = f->y + sin(f->turn) * along + cos(f->turn) * across;
}

// Random discs on discs and boxes: the point is on both faces, and no point of an outline that is on the other
// face is further along the direction, or nearer to the place.
static void random_faces(void **state)
{
    (void)state;
    enum { POINTS = 4000 };
    uint64_t seed = rng_test_seed(1);
    rng r = rng_seed(seed);
    int shared = 0;
    for (int k = 0; k < 150; k++) {
        face f[2];
        for (int i = 0; i < 2; i++) {
            f[i] = (face){.round = i == k % 2 || k % 3 == 0,
                          .x = rng_uniform(&r, -0.6, 0.6),
                          .y = rng_uniform(&r, -0.6, 0.6),
                          .turn = rng_uniform(&r, -3.0, 3.0),
                          .r = rng_uniform(&r, 0.2, 0.7),
                          .u = rng_uniform(&r, 0.2, 0.7),
                          .v = rng_uniform(&r, 0.2, 0.7)};
        }
        pp_solid a = solid_of(&f[0]), b = solid_of(&f[1]);
        pp_pose at = place(false, f[0].x, f[0].y, f[0].turn),
                bt = place(true, f[1].x, f[1].y, f[1].turn);
        perp_vec3 aim = {rng_uniform(&r, -1.0, 1.0), rng_uniform(&r, -1.0, 1.0), 0.0}, x;
        bool nearest = k % 4 < 2;
        bool found = pp_solid_rim(&a, &at, &b, &bt, UP, nearest, aim, &x);
        double best = -HUGE_VAL, got = -HUGE_VAL, size = hypot(aim.x, aim.y);
        for (int i = 0; i < 2 * POINTS; i++) {
            double px, py;
            outline(&f[i % 2], i / 2, POINTS, &px, &py);
            if (is_on(&f[1 - i % 2], px, py, 0.0)) {
                double good =
                    nearest ? -hypot(px - aim.x, py - aim.y) : (px * aim.x + py * aim.y) / size;
                best = fmax(best, good);
            }
        }
        if (found) {
            got = nearest ? -hypot(x.x - aim.x, x.y - aim.y) : (x.x * aim.x + x.y * aim.y) / size;
            assert_true(is_on(&f[0], x.x, x.y, 1e-11) && is_on(&f[1], x.x, x.y, 1e-11));
            shared++;
        }
        // samples are 1e-3 apart, so that they come within 1e-3 of the best point
        if (!(got >= best - 1e-11) || !(isinf(best) || best >= got - 2e-3)) {
            fail_msg("PERP_SEED=%llu, pair %d: %.12g, samples %.12g", (unsigned long long)seed, k,
                     got, best);
        }
    }
    assert_true(shared > 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plane_and_disc),
        cmocka_unit_test(two_discs),
        cmocka_unit_test(no_region),
        cmocka_unit_test(random_faces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
