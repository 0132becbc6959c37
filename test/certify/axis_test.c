// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Separating axes of random pairs: against the distances of gap/, which shares no code with them, and against many
// directions tried one by one.
#include "certify/geometry/convex.h"
#include "support/cmocka.h"
#include "support/gap_scene.h"
#include "support/touch_check.h"

#include <math.h>
#include <string.h>

static const double TURN = 6.283185307179586;

// No direction of many separates better; the axis found is a unit vector, and is worth what it says.
static bool is_best(const pp_placed_convex *a, const pp_placed_convex *b, perp_vec3 n, double s,
                    rng *r)
{
    perp_vec3 forced;
    bool fine = fabs(pp_length(n) - 1.0) < 1e-12 && fabs(pp_separation(a, b, n) - s) < 1e-14;
    for (int k = 0; fine && k < 400 && !pp_forced_axis(a, b, &forced); k++) {
        perp_vec3 d = {rng_uniform(r, -1.0, 1.0), rng_uniform(r, -1.0, 1.0),
                       a->convex->planar ? 0.0 : rng_uniform(r, -1.0, 1.0)};
        if (k % 2) {  // and close to it
            d = pp_along(n, pow(10.0, -rng_uniform(r, 1.0, 6.0)), d);
        }
        d = pp_unit(d, n);
        double other = pp_separation(a, b, d);
        // Where pieces overlap the search is local.
        fine = other <= s + 2e-8 || (s < 0.0 && other <= 0.8 * s);
    }
    return fine;
}

// ── The plane ────────────────────────────────────────────────────────────────────────────────────

static const perp_shape_kind KINDS[] = {PERP_SHAPE_POINT,    PERP_SHAPE_DISC,    PERP_SHAPE_BOX,
                                        PERP_SHAPE_POLYGON,  PERP_SHAPE_CAPSULE, PERP_SHAPE_SEGMENT,
                                        PERP_SHAPE_HALFPLANE};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

static perp_shape_def random_shape(rng *r, perp_shape_kind kind, perp_vec3 *vertex)
{
    perp_shape_def def = perp_shape_default();
    double wide = pow(10.0, -rng_uniform(r, 0.0, 3.0));
    def.kind = kind;
    def.position_B = (perp_vec3){rng_uniform(r, -0.5, 0.5), rng_uniform(r, -0.5, 0.5), 0.0};
    def.angle = rng_uniform(r, 0.0, TURN);
    def.radius = rng_uniform(r, 0.05, 0.5);
    def.half = (perp_vec3){rng_uniform(r, 0.05, 1.0), rng_uniform(r, 0.05, 1.0), 0.0};
    if (kind == PERP_SHAPE_POLYGON) {
        int n = 3 + rng_below(r, 8);
        for (int k = 0; k < n; k++) {
            double angle = TURN * (k + rng_uniform(r, -0.3, 0.3)) / n;
            vertex[k] = (perp_vec3){0.7 * cos(angle), wide * sin(angle), 0.0};
        }
        def.vertices_S = vertex;
        def.vertex_count = n;
    }
    return def;
}

static double found_by_gap(const gap_scene *s)
{
    pp_contact c[PP_POINTS_MAX];
    int count = pp_gap_pair(s->model, s->body, 0, 1, HUGE_VAL, c);
    double gap = c[0].gap;
    for (int k = 1; k < count; k++) {
        gap = fmin(gap, c[k].gap);
    }
    return gap;
}

static double found_here(const gap_scene *s, pp_placed_convex *a, pp_placed_convex *b,
                         pp_convex piece[2], perp_vec3 *n)
{
    for (int k = 0; k < 2; k++) {
        pp_pose X = {s->body[k + 1].p, s->body[k + 1].R};
        pp_convex_shape(&piece[k], s->model, &s->model->shape[k]);
        *(k == 0 ? a : b) = pp_convex_place(&piece[k], &X);
    }
    *n = pp_vec(0.0, 0.0, 0.0);
    return pp_axis_search(a, b, HUGE_VAL, n);
}

// Thin shapes keep a side in gap/; an axis has none.
static bool is_thin(perp_shape_kind kind)
{
    return kind == PERP_SHAPE_POINT || kind == PERP_SHAPE_SEGMENT;
}

static void check_plane(rng *r, gap_scene *s, uint64_t seed)
{
    for (int k = 0; k < 4; k++) {
        pp_placed_convex a, b;
        pp_convex piece[2];
        perp_vec3 n;
        double gap = found_by_gap(s), mine = found_here(s, &a, &b, piece, &n);
        bool thin = is_thin(s->def[0].kind) && is_thin(s->def[1].kind);
        bool same = fabs(mine - gap) <= 1e-8;
        if (!same && !thin) {
            print_error("kinds %d %d, round %d: gap %.12g, axis %.12g\n", (int)s->def[0].kind,
                        (int)s->def[1].kind, k, gap, mine);
        }
        CHECK(same || thin, seed);
        CHECK(is_best(&a, &b, n, mine, r), seed);
        s->body[2].p.x += rng_uniform(r, -1.0, 1.0);
        if (k == 1) {  // all but touching
            pp_contact c[PP_POINTS_MAX];
            pp_gap_pair(s->model, s->body, 0, 1, HUGE_VAL, c);
            double by = c[0].gap + rng_uniform(r, -1e-7, 1e-7);
            s->body[2].p.x -= by * c[0].n.x;
            s->body[2].p.y -= by * c[0].n.y;
        }
    }
}

static void agrees_in_the_plane(void **state)
{
    (void)state;
    for (int a = 0; a < KIND_COUNT; a++) {
        for (int b = 0; b < KIND_COUNT; b++) {
            FOR_SEEDS(seed, 60)
            {
                rng r = rng_seed(seed + 1000003u * (uint64_t)(a * KIND_COUNT + b));
                gap_scene s;
                perp_vec3 va[GAP_SCENE_VERTICES], vb[GAP_SCENE_VERTICES];
                perp_shape_def da = random_shape(&r, KINDS[a], va),
                               db = random_shape(&r, KINDS[b], vb);
                assert_true(gap_scene_create(&s, &da, &db));
                for (int k = 1; k <= 2; k++) {
                    s.body[k] =
                        gap_scene_frame(rng_uniform(&r, -1.0, 1.0), rng_uniform(&r, -1.0, 1.0),
                                        rng_uniform(&r, 0.0, TURN));
                }
                if (pp_gap_possible(&s.model->shape[0], &s.model->shape[1])) {
                    check_plane(&r, &s, seed);
                }
                gap_scene_destroy(&s);
            }
        }
    }
}

// ── Space ────────────────────────────────────────────────────────────────────────────────────────

static double in_space(const touch_pair *pair, pp_convex piece[2], pp_placed_convex placed[2],
                       perp_vec3 *n)
{
    const perp_model space = {.spatial = true};
    for (int k = 0; k < 2; k++) {
        pp_shape shape = {.solid = k == 0 ? pair->a : pair->b, .X_BS = {.R = pp_identity3()}};
        pp_convex_shape(&piece[k], &space, &shape);
        placed[k] = pp_convex_place(&piece[k], k == 0 ? &pair->X_WA : &pair->X_WB);
    }
    *n = pp_vec(0.0, 0.0, 0.0);
    return pp_axis_search(&placed[0], &placed[1], HUGE_VAL, n);
}

static int worse;  // overlaps that gap/ finds a shorter way out of

static void check_space(rng *r, touch_pair *pair, uint64_t seed)
{
    for (int k = 0; k < 4; k++) {
        pp_convex piece[2];
        pp_placed_convex placed[2];
        pp_touch_point t[PP_TOUCH_MAX];
        perp_vec3 n;
        double mine = in_space(pair, piece, placed, &n);
        int count = pp_solid_touch(&pair->a, &pair->X_WA, &pair->b, &pair->X_WB, HUGE_VAL, t);
        double gap = t[0].gap;
        for (int i = 1; i < count; i++) {
            gap = fmin(gap, t[i].gap);
        }
        bool same = fabs(mine - gap) <= 2e-7 || (gap < -1e-3 && mine < 0.0);
        worse += gap < -1e-3 && mine < gap - 1e-7;
        if (!same) {
            print_error("kinds %d %d, round %d: gap %.12g, axis %.12g\n", (int)pair->a.kind,
                        (int)pair->b.kind, k, gap, mine);
        }
        CHECK(same, seed);
        CHECK(is_best(&placed[0], &placed[1], n, mine, r), seed);
        double to = k == 0 ? 1e-6 : k == 1 ? -1e-6 : rng_uniform(r, -0.3, 0.3);
        pair->X_WB.p = pp_along(pair->X_WB.p, to - t[0].gap, t[0].n);
    }
}

static void agrees_in_space(void **state)
{
    (void)state;
    int all = 0;
    for (int a = 0; a < TOUCH_KINDS; a++) {
        for (int b = 0; b < TOUCH_KINDS; b++) {
            FOR_SEEDS(seed, 40)
            {
                rng r = rng_seed(seed + 1000003u * (uint64_t)(a * TOUCH_KINDS + b));
                touch_hull ha, hb;
                touch_pair pair;
                if (a == PP_SOLID_HALFSPACE && b == PP_SOLID_HALFSPACE) {
                    continue;
                }
                pair.a = touch_random_solid(&r, (pp_solid_kind)a, &ha);
                pair.b = touch_random_solid(&r, (pp_solid_kind)b, &hb);
                pair.X_WA = touch_random_pose(&r, 1.0);
                pair.X_WB = touch_random_pose(&r, 1.0);
                check_space(&r, &pair, seed);
                all += 4;
            }
        }
    }
    print_message("%d of %d overlaps are found deeper than gap/ finds them\n", worse, all);
    assert_true(worse < all / 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_in_the_plane),
        cmocka_unit_test(agrees_in_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
