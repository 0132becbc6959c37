// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contact points of one pair of shapes where the answer is known by hand.
#include "support/cmocka.h"
#include "support/gap_scene.h"

#include <math.h>

static perp_shape_def box(double x, double y)
{
    perp_shape_def d = perp_shape_default();
    d.kind = PERP_SHAPE_BOX;
    d.half = (perp_vec3){x, y, 0.0};
    return d;
}

static perp_shape_def disc(double radius)
{
    perp_shape_def d = perp_shape_default();
    d.kind = PERP_SHAPE_DISC;
    d.radius = radius;
    return d;
}

static perp_shape_def rod(perp_shape_kind kind, double half, double radius)
{
    perp_shape_def d = perp_shape_default();
    d.kind = kind;
    d.half.x = half;
    d.radius = radius;
    return d;
}

static perp_shape_def plain(perp_shape_kind kind)
{
    perp_shape_def d = perp_shape_default();
    d.kind = kind;
    return d;
}

typedef struct pose {
    double x, y, angle;
} pose;

typedef struct expected {
    double gap, nx, ny, x, y;  // of a point; the normal is that of all
} expected;

static int points_of(gap_scene *s, const perp_shape_def *a, pose at_a, const perp_shape_def *b,
                     pose at_b, pp_contact *c)
{
    assert_true(gap_scene_create(s, a, b));
    s->body[1] = gap_scene_frame(at_a.x, at_a.y, at_a.angle);
    s->body[2] = gap_scene_frame(at_b.x, at_b.y, at_b.angle);
    int count = pp_gap_pair(s->model, s->body, 0, 1, HUGE_VAL, c);
    const char *flaw = gap_scene_flaw(s);
    if (flaw) {
        print_error("%s\n", flaw);
    }
    assert_null(flaw);
    return count;
}

// The points, in any order, are the expected ones.
static void expect(const perp_shape_def *a, pose at_a, const perp_shape_def *b, pose at_b,
                   int count, const expected *e)
{
    gap_scene s;
    pp_contact c[PP_POINTS_MAX];
    assert_int_equal(points_of(&s, a, at_a, b, at_b, c), count);
    for (int k = 0; k < count; k++) {
        bool found = false;
        for (int i = 0; i < count; i++) {
            found = found ||
                    (fabs(c[i].gap - e[k].gap) <= 1e-14 && fabs(c[i].n.x - e[k].nx) <= 1e-14 &&
                     fabs(c[i].n.y - e[k].ny) <= 1e-14 && fabs(c[i].point.x - e[k].x) <= 1e-14 &&
                     fabs(c[i].point.y - e[k].y) <= 1e-14);
        }
        if (!found) {
            print_error(
                "no point with gap %g at (%g, %g); the first: gap %g n (%g, %g) at (%g, %g)\n",
                e[k].gap, e[k].x, e[k].y, c[0].gap, c[0].n.x, c[0].n.y, c[0].point.x, c[0].point.y);
        }
        assert_true(found);
    }
    gap_scene_destroy(&s);
}

static void one(const perp_shape_def *a, pose at_a, const perp_shape_def *b, pose at_b, expected e)
{
    expect(a, at_a, b, at_b, 1, &e);
}

static void two(const perp_shape_def *a, pose at_a, const perp_shape_def *b, pose at_b, expected e,
                expected f)
{
    const expected both[2] = {e, f};
    expect(a, at_a, b, at_b, 2, both);
}

static const pose HERE = {0.0, 0.0, 0.0};

// ── One point ────────────────────────────────────────────────────────────────────────────────────

static void points_and_discs(void **state)
{
    (void)state;
    perp_shape_def d = disc(0.5), e = disc(0.25), p = plain(PERP_SHAPE_POINT), b = box(1.0, 0.5);
    perp_shape_def plane = plain(PERP_SHAPE_HALFPLANE), segment = rod(PERP_SHAPE_SEGMENT, 1.0, 0.0);
    one(&d, HERE, &e, (pose){1.0, 0.0, 2.0}, (expected){0.25, 1.0, 0.0, 0.625, 0.0});
    one(&d, HERE, &e, (pose){0.0, -0.5, 0.0}, (expected){-0.25, 0.0, -1.0, 0.0, -0.375});
    one(&p, HERE, &d, (pose){0.0, 2.0, 0.0}, (expected){1.5, 0.0, 1.0, 0.0, 0.75});
    one(&p, (pose){0.25, 0.75, 0.0}, &b, HERE, (expected){0.25, 0.0, -1.0, 0.25, 0.625});
    one(&p, (pose){0.25, 0.375, 0.0}, &b, HERE, (expected){-0.125, 0.0, -1.0, 0.25, 0.4375});
    one(&b, HERE, &d, (pose){1.3, 0.9, 0.0}, (expected){0.0, 0.6, 0.8, 1.0, 0.5});
    one(&b, HERE, &d, (pose){0.875, 0.0, 0.0}, (expected){-0.625, 1.0, 0.0, 0.6875, 0.0});
    one(&segment, HERE, &d, (pose){0.5, -2.0, 0.0}, (expected){1.5, 0.0, -1.0, 0.5, -0.75});
    one(&segment, HERE, &d, (pose){1.6, 0.8, 0.0}, (expected){0.5, 0.6, 0.8, 1.15, 0.2});
    // On a half-plane the point is the witness on the other shape.
    one(&plane, HERE, &p, (pose){3.0, 0.5, 0.0}, (expected){0.5, 0.0, 1.0, 3.0, 0.5});
    one(&d, (pose){3.0, 0.25, 1.0}, &plane, HERE, (expected){-0.25, 0.0, -1.0, 3.0, -0.25});
}

static void a_tilted_half_plane(void **state)
{
    (void)state;
    perp_shape_def plane = plain(PERP_SHAPE_HALFPLANE), d = disc(1.0);
    plane.position_B = (perp_vec3){0.0, 1.0, 0.0};
    plane.angle = atan2(3.0, 4.0);  // outward normal (-0.6, 0.8)
    one(&plane, HERE, &d, (pose){0.0, 3.5, 0.0}, (expected){1.0, -0.6, 0.8, 0.6, 2.7});
}

static void vertices_and_sides(void **state)
{
    (void)state;
    perp_shape_def b = box(1.0, 0.5), c = box(0.5, 0.5);
    double r = sqrt(0.5), quarter = atan2(1.0, 1.0);
    gap_scene s;
    pp_contact p[PP_POINTS_MAX];
    // A corner above a side; the other point is the next corner, r higher.
    int count = points_of(&s, &b, HERE, &c, (pose){0.0, 1.5, quarter}, p);
    assert_int_equal(count, 2);
    assert_true(fabs(fmin(p[0].gap, p[1].gap) - (1.0 - r)) <= 1e-15);
    assert_true(fabs(fabs(p[1].gap - p[0].gap) - r) <= 1e-15);
    assert_int_equal(pp_gap_pair(s.model, s.body, 0, 1, 1.0 - r + 0.01, p), 1);
    assert_true(fabs(p[0].point.x) <= 1e-15 && fabs(p[0].point.y - (1.5 - r + 0.5) / 2.0) <= 1e-15);
    assert_int_equal(pp_gap_pair(s.model, s.body, 0, 1, 0.99 - r, p), 0);
    gap_scene_destroy(&s);
    // Corner to corner, 0.3 and 0.4 apart, and needle to needle, end to end.
    one(&b, HERE, &c, (pose){1.8, 1.4, 0.0}, (expected){0.5, 0.6, 0.8, 1.15, 0.7});
    perp_shape_def segment = rod(PERP_SHAPE_SEGMENT, 1.0, 0.0), needle = box(1.0, 1e-13);
    one(&segment, HERE, &segment, (pose){2.5, 0.0, 0.0},
        (expected){0.5 - 2e-6, 1.0, 0.0, 1.25, 0.0});
    assert_true(points_of(&s, &needle, HERE, &needle, (pose){2.5, 0.0, 0.0}, p) >= 1);
    assert_true(p[0].n.x == 1.0 && fabs(p[0].gap - 0.5) <= 1e-12);
    gap_scene_destroy(&s);
}

// ── Two points ───────────────────────────────────────────────────────────────────────────────────

static void boxes_that_rest(void **state)
{
    (void)state;
    perp_shape_def b = box(1.0, 0.5), narrow = box(0.5, 0.5), plane = plain(PERP_SHAPE_HALFPLANE);
    two(&plane, HERE, &b, (pose){2.0, 0.5, 0.0}, (expected){0.0, 0.0, 1.0, 1.0, 0.0},
        (expected){0.0, 0.0, 1.0, 3.0, 0.0});
    two(&b, HERE, &b, (pose){0.0, 1.0, 0.0}, (expected){0.0, 0.0, 1.0, -1.0, 0.5},
        (expected){0.0, 0.0, 1.0, 1.0, 0.5});
    two(&b, HERE, &b, (pose){0.5, 1.125, 0.0}, (expected){0.125, 0.0, 1.0, -0.5, 0.5625},
        (expected){0.125, 0.0, 1.0, 1.0, 0.5625});
    two(&narrow, HERE, &b, (pose){0.25, 0.75, 0.0}, (expected){-0.25, 0.0, 1.0, -0.5, 0.375},
        (expected){-0.25, 0.0, 1.0, 0.5, 0.375});
    two(&b, HERE, &narrow, (pose){-1.5, 0.25, 0.0}, (expected){0.0, -1.0, 0.0, -1.0, -0.25},
        (expected){0.0, -1.0, 0.0, -1.0, 0.5});
    // Only corners left to face each other: one point.
    one(&b, HERE, &narrow, (pose){1.5, 1.25, 0.0}, (expected){0.25, 0.0, 1.0, 1.0, 0.625});
}

static void rods_that_rest(void **state)
{
    (void)state;
    perp_shape_def rod1 = rod(PERP_SHAPE_CAPSULE, 1.0, 0.25),
                   rod2 = rod(PERP_SHAPE_CAPSULE, 0.5, 0.5);
    perp_shape_def segment = rod(PERP_SHAPE_SEGMENT, 1.0, 0.0), plane = plain(PERP_SHAPE_HALFPLANE),
                   b = box(0.5, 0.5);
    two(&plane, HERE, &rod1, (pose){0.0, 0.25, 0.0}, (expected){0.0, 0.0, 1.0, -1.0, 0.0},
        (expected){0.0, 0.0, 1.0, 1.0, 0.0});
    two(&segment, (pose){0.0, 0.125, 0.0}, &plane, HERE, (expected){0.125, 0.0, -1.0, -1.0, 0.125},
        (expected){0.125, 0.0, -1.0, 1.0, 0.125});
    two(&rod1, HERE, &rod2, (pose){0.25, 1.0, 0.0}, (expected){0.25, 0.0, 1.0, -0.25, 0.375},
        (expected){0.25, 0.0, 1.0, 0.75, 0.375});
    two(&b, HERE, &rod1, (pose){0.0, 0.75, 0.0}, (expected){0.0, 0.0, 1.0, -0.5, 0.5},
        (expected){0.0, 0.0, 1.0, 0.5, 0.5});
    two(&segment, HERE, &b, (pose){0.75, 0.5, 0.0}, (expected){0.0, 0.0, 1.0, 0.25, 0.0},
        (expected){0.0, 0.0, 1.0, 1.0, 0.0});
    one(&rod1, HERE, &rod2, (pose){2.0, 0.0, 0.0}, (expected){-0.25, 1.0, 0.0, 1.125, 0.0});
}

// A corner just beyond the other's end, with sides that face each other all but flat: the corners are
// closest, and the far ends of the sides, which may close within a step, are the second point.
static void corners_of_facing_sides(void **state)
{
    (void)state;
    perp_shape_def b = box(1.0, 0.5), cap = rod(PERP_SHAPE_CAPSULE, 1.0, 0.5), c = box(0.5, 0.25);
    double tilt = 0.1, cosine = cos(tilt), sine = sin(tilt);
    for (int k = 0; k < 4; k++) {
        // Corner of c at (1 + e, 0.5 + g), 0 < e < g tan(tilt); its lower side rises to the left.
        double g = 0.1, e = 0.2 * (k % 2 ? 4.0 : 1.0) * g * tan(tilt), y = k < 2 ? 0.5 : 0.0;
        double radius = k < 2 ? 0.0 : 0.5, distance = hypot(e, g);
        pose at = {1.0 + e - 0.5 * cosine - 0.25 * -sine, y + g + 0.5 * sine + 0.25 * cosine,
                   -tilt};
        gap_scene s;
        pp_contact p[PP_POINTS_MAX];
        assert_int_equal(points_of(&s, k < 2 ? &b : &cap, HERE, &c, at, p), 2);
        assert_true(fabs(p[1].gap - (distance - radius)) <= 1e-14);
        assert_true(fabs(p[1].n.x - e / distance) <= 1e-14);
        assert_true(fabs(p[1].n.y - g / distance) <= 1e-14);
        // c's other corner is above the side of the box and of the rod, whose normal is (0, 1).
        assert_true(fabs(p[0].gap - (g + sine - radius)) <= 0.6 * tilt * tilt * (g + sine));
        assert_true(fabs(p[0].point.x - (1.0 + e - cosine)) <= 0.5 * tilt);
        assert_true(p[0].n.y > cosine - 1e-14);
        gap_scene_destroy(&s);
    }
}

// The same corner slides over the other's end: the far point is there all the way, and moves no faster.
static void sliding_over_an_end_is_continuous(void **state)
{
    (void)state;
    perp_shape_def b = box(1.0, 0.5), cap = rod(PERP_SHAPE_CAPSULE, 1.0, 0.2), c = box(0.5, 0.25);
    for (int k = 0; k < 4; k++) {
        double tilt = k % 2 ? 0.1 : -0.1, x = k % 2 ? 1.0 : -1.0;
        gap_scene s;
        pp_contact last = {0}, p[PP_POINTS_MAX];
        assert_true(gap_scene_create(&s, k < 2 ? &b : &cap, &c));
        for (int i = -1000; i <= 1000; i++) {
            s.body[2] = gap_scene_frame(0.5 * x + 2e-5 * i, 0.9, -tilt);
            assert_int_equal(pp_gap_pair(s.model, s.body, 0, 1, HUGE_VAL, p), 2);
            int far = p[1].gap > p[0].gap;
            if (i > -1000) {
                assert_int_equal(p[far].feature, last.feature);
                assert_true(fabs(p[far].gap - last.gap) <= 2e-3);
                assert_true(hypot(p[far].point.x - last.point.x, p[far].point.y - last.point.y) <=
                            2e-2);
            }
            last = p[far];
        }
        gap_scene_destroy(&s);
    }
}

// ── Degenerate ───────────────────────────────────────────────────────────────────────────────────

static void shapes_in_one_place(void **state)
{
    (void)state;
    perp_shape_def d = disc(0.5), e = disc(0.25), b = box(1.0, 0.5), p = plain(PERP_SHAPE_POINT),
                   segment = rod(PERP_SHAPE_SEGMENT, 1.0, 0.0),
                   rod1 = rod(PERP_SHAPE_CAPSULE, 1.0, 0.25);
    one(&d, HERE, &e, HERE, (expected){-0.75, 1.0, 0.0, 0.125, 0.0});
    one(&d, HERE, &p, HERE, (expected){-0.5, 1.0, 0.0, 0.25, 0.0});
    gap_scene s;
    pp_contact c[PP_POINTS_MAX];
    const perp_shape_def *all[] = {&d, &e, &b, &p, &segment, &rod1};
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++) {
            if (all[i] != &p || all[k] != &p) {
                assert_true(points_of(&s, all[i], HERE, all[k], HERE, c) >= 1);
                gap_scene_destroy(&s);
            }
        }
    }
}

static void vertices_in_one_place(void **state)
{
    (void)state;
    perp_shape_def b = box(0.5, 0.5), segment = rod(PERP_SHAPE_SEGMENT, 0.5, 0.0);
    gap_scene s;
    pp_contact c[PP_POINTS_MAX];
    for (int k = 0; k < 8; k++) {
        double angle = atan2(1.0, 1.0) * k, r = sqrt(0.5);
        pose at = {0.5 + r * cos(angle), 0.5 + r * sin(angle), angle - atan2(1.0, 1.0)};
        assert_true(points_of(&s, &b, HERE, &b, at, c) >= 1);
        gap_scene_destroy(&s);
        at = (pose){0.5 + 0.5 * cos(angle), 0.5 + 0.5 * sin(angle), angle};
        assert_true(points_of(&s, &b, HERE, &segment, at, c) >= 1);
        gap_scene_destroy(&s);
        at = (pose){0.5 + 0.5 * cos(angle), 0.5 * sin(angle), angle};
        assert_true(points_of(&s, &segment, HERE, &segment, at, c) >= 1);
        gap_scene_destroy(&s);
    }
}

// An end of a segment in the end of a capsule, at right angles: the normal is that of a side.
static void ends_that_meet_at_any_angle(void **state)
{
    (void)state;
    perp_shape_def segment = rod(PERP_SHAPE_SEGMENT, 1.25, 0.0),
                   cap = rod(PERP_SHAPE_CAPSULE, 1.25, 1.25);
    segment.position_B.x = 1.25;
    cap.position_B.y = 1.25;
    cap.angle = 3.0 * acos(0.0);
    for (int k = 0; k < 360; k++) {
        gap_scene s;
        pp_contact c[PP_POINTS_MAX];
        pose at = {1.25, 1.25, 0.0174532925199433 * k};
        assert_true(points_of(&s, &segment, at, &cap, at, c) >= 1);
        assert_true(fabs(c[0].gap + 1.25) <= 1e-14);
        gap_scene_destroy(&s);
        assert_true(points_of(&s, &cap, at, &segment, at, c) >= 1);
        gap_scene_destroy(&s);
    }
}

static void sizes_far_apart(void **state)
{
    (void)state;
    perp_shape_def large = box(1e6, 1e6), small = box(1e-3, 1e-3), ball = disc(1e-6);
    gap_scene s;
    pp_contact c[PP_POINTS_MAX];
    assert_int_equal(points_of(&s, &large, HERE, &small, (pose){10.0, 1e6 + 2e-3, 0.0}, c), 2);
    assert_true(fabs(c[0].gap - 1e-3) <= 1e-9 &&
                fabs(fabs(c[0].point.x - c[1].point.x) - 2e-3) <= 1e-9);
    gap_scene_destroy(&s);
    assert_int_equal(points_of(&s, &large, HERE, &ball, (pose){10.0, 1e6, 0.0}, c), 1);
    assert_true(fabs(c[0].gap + 1e-6) <= 1e-12);
    gap_scene_destroy(&s);
}

// Two sides of a needle a thousand million times as long as wide lie within rounding of each other, and
// only one of them faces the box.
static void needles_show_the_side_that_faces(void **state)
{
    (void)state;
    const double step = 0.2617993877991494;  // 15 degrees
    const perp_vec3 long_thin[4] = {{0.00189208984375, 0.0, 0.0},
                                    {0.0004971888174843263, 3920441.3816981702, 0.0},
                                    {-0.0018320815337700004, -1015197.1561253861, 0.0},
                                    {0.00099743904617732599, -3452789.9808127852, 0.0}};
    perp_shape_def b = box(0.00189208984375, 0.00189208984375), needle = plain(PERP_SHAPE_POLYGON);
    b.position_B = (perp_vec3){-0.125, -0.0004730224609375, 0.0};
    b.angle = 24.0 * step;
    needle.vertices_S = long_thin;
    needle.vertex_count = 4;
    needle.position_B = (perp_vec3){-3.25, 3.625, 0.0};
    gap_scene s;
    pp_contact c[PP_POINTS_MAX];
    assert_true(points_of(&s, &b, (pose){2.5, -1.875, 15.0 * step}, &needle,
                          (pose){-1.875, -1.875, 15.0 * step}, c) >= 1);
    assert_true(c[0].gap < 0.1);
    gap_scene_destroy(&s);
}

static void what_never_touches(void **state)
{
    (void)state;
    gap_scene s;
    pp_contact c[PP_POINTS_MAX];
    perp_shape_def p = plain(PERP_SHAPE_POINT), plane = plain(PERP_SHAPE_HALFPLANE);
    assert_int_equal(points_of(&s, &p, HERE, &p, HERE, c), 0);
    gap_scene_destroy(&s);
    assert_int_equal(points_of(&s, &plane, HERE, &plane, HERE, c), 0);
    gap_scene_destroy(&s);
}

// Points and segments have no inside: a segment keeps them off by a millionth of its length, on whichever side they are.
static void thin_shapes_keep_their_side(void **state)
{
    (void)state;
    const double skin = 2e-6;
    gap_scene s;
    pp_contact c[PP_POINTS_MAX];
    perp_shape_def p = plain(PERP_SHAPE_POINT), segment = rod(PERP_SHAPE_SEGMENT, 1.0, 0.0);
    static const double height[] = {0.5, 1e-4, 1e-6, 1e-12, -1e-12, -1e-6, -1e-4, -0.5};
    for (size_t k = 0; k < sizeof height / sizeof *height; k++) {
        double y = height[k], side = y > 0.0 ? 1.0 : -1.0;
        assert_int_equal(points_of(&s, &segment, HERE, &p, (pose){0.25, y, 0.0}, c), 1);
        assert_true(c[0].n.y == side && fabs(c[0].gap - (fabs(y) - skin)) <= 1e-15);
        gap_scene_destroy(&s);
        assert_int_equal(points_of(&s, &segment, HERE, &segment, (pose){0.25, y, 0.0}, c), 2);
        assert_true(c[0].n.y == side && fabs(c[0].gap - (fabs(y) - skin)) <= 1e-15);
        gap_scene_destroy(&s);
        assert_int_equal(points_of(&s, &p, (pose){0.25, y, 0.0}, &segment, HERE, c), 1);
        assert_true(c[0].n.y == -side && fabs(c[0].gap - (fabs(y) - skin)) <= 1e-15);
        gap_scene_destroy(&s);
    }
}

// ── Staying the same point ───────────────────────────────────────────────────────────────────────

// Noise in the pose changes points and gaps by as little, and no feature: what was known about them in
// the last step still holds.
static void rest_does_not_jitter(void **state)
{
    (void)state;
    perp_shape_def b = box(0.5, 0.5), plane = plain(PERP_SHAPE_HALFPLANE), wide = box(2.0, 0.5),
                   cap = rod(PERP_SHAPE_CAPSULE, 0.5, 0.5);
    const perp_shape_def *below[] = {&b, &plane, &wide, &cap};
    for (int k = 0; k < 4; k++) {
        gap_scene s;
        pp_contact first[PP_POINTS_MAX], c[PP_POINTS_MAX];
        double y = below[k]->kind == PERP_SHAPE_HALFPLANE ? 0.5 : 1.0;
        assert_int_equal(points_of(&s, below[k], HERE, &b, (pose){0.0, y, 0.0}, first), 2);
        for (int noise = 0; noise < 27; noise++) {
            double e = 1e-9;
            int x = noise % 3 - 1, up = noise / 3 % 3 - 1, turn = noise / 9 - 1;
            s.body[2] = gap_scene_frame(e * x, y + e * up, e * turn);
            assert_int_equal(pp_gap_pair(s.model, s.body, 0, 1, 0.01, c), 2);
            for (int i = 0; i < 2; i++) {
                assert_int_equal(c[i].feature, first[i].feature);
                assert_true(fabs(c[i].gap - first[i].gap) <= 4e-9);
                assert_true(hypot(c[i].point.x - first[i].point.x,
                                  c[i].point.y - first[i].point.y) <= 4e-9);
                assert_true(hypot(c[i].n.x - first[i].n.x, c[i].n.y - first[i].n.y) <= 4e-9);
            }
        }
        gap_scene_destroy(&s);
    }
}

// A box rocks on another from one corner to the other: both points are there all the time, and move,
// like their gaps, no faster than the box.
static void rocking_is_continuous(void **state)
{
    (void)state;
    perp_shape_def b = box(0.5, 0.5), wide = box(1.2, 0.5);
    for (int k = 0; k < 2; k++) {
        gap_scene s;
        pp_contact last[PP_POINTS_MAX], c[PP_POINTS_MAX];
        assert_int_equal(points_of(&s, k ? &wide : &b, HERE, &b, (pose){0.3, 1.01, 0.0}, last), 2);
        for (int i = -1000; i <= 1000; i++) {
            s.body[2] = gap_scene_frame(0.3, 1.01, 2e-4 * i);
            assert_int_equal(pp_gap_pair(s.model, s.body, 0, 1, 1.0, c), 2);
            for (int j = 0; j < 2 && i > -1000; j++) {
                assert_int_equal(c[j].feature, last[j].feature);
                assert_true(fabs(c[j].gap - last[j].gap) <= 4e-4);
                assert_true(hypot(c[j].point.x - last[j].point.x, c[j].point.y - last[j].point.y) <=
                            4e-4);
                assert_true(hypot(c[j].n.x - last[j].n.x, c[j].n.y - last[j].n.y) <= 4e-4);
            }
            last[0] = c[0];
            last[1] = c[1];
        }
        gap_scene_destroy(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_and_discs),
        cmocka_unit_test(a_tilted_half_plane),
        cmocka_unit_test(vertices_and_sides),
        cmocka_unit_test(boxes_that_rest),
        cmocka_unit_test(rods_that_rest),
        cmocka_unit_test(corners_of_facing_sides),
        cmocka_unit_test(sliding_over_an_end_is_continuous),
        cmocka_unit_test(shapes_in_one_place),
        cmocka_unit_test(vertices_in_one_place),
        cmocka_unit_test(sizes_far_apart),
        cmocka_unit_test(needles_show_the_side_that_faces),
        cmocka_unit_test(ends_that_meet_at_any_angle),
        cmocka_unit_test(what_never_touches),
        cmocka_unit_test(thin_shapes_keep_their_side),
        cmocka_unit_test(rest_does_not_jitter),
        cmocka_unit_test(rocking_is_continuous),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
