// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Gaps of random shapes: true distances, rigid invariance, rates, continuity.
#include "support/cmocka.h"
#include "support/gap_scene.h"
#include "support/random.h"

#include <math.h>

static const double TURN = 6.283185307179586;

// ── Random shapes ────────────────────────────────────────────────────────────────────────────────

// Vertices on an ellipse at increasing angles are convex; aspect up to 1:1000.
static void random_polygon(rng *r, perp_shape_def *def, perp_vec3 *vertex)
{
    int n = 3 + rng_below(r, 8);
    double a = rng_uniform(r, 0.2, 1.0), b = a * pow(10.0, -rng_uniform(r, 0.0, 3.0)), angle = 0.0;
    double start = rng_uniform(r, 0.0, TURN);
    for (int k = 0; k < n; k++) {
        angle = start + TURN * (k + rng_uniform(r, -0.3, 0.3)) / n;
        vertex[k] = (perp_vec3){a * cos(angle), b * sin(angle), 0.0};
    }
    def->kind = PERP_SHAPE_POLYGON;
    def->vertices_S = vertex;
    def->vertex_count = n;
}

static perp_shape_def random_shape(rng *r, perp_shape_kind kind, perp_vec3 *vertex)
{
    perp_shape_def def = perp_shape_default();
    def.kind = kind;
    def.position_B = (perp_vec3){rng_uniform(r, -0.5, 0.5), rng_uniform(r, -0.5, 0.5), 0.0};
    def.angle = rng_uniform(r, 0.0, TURN);
    def.radius = rng_uniform(r, 0.05, 0.5);
    def.half = (perp_vec3){rng_uniform(r, 0.05, 1.0), rng_uniform(r, 0.05, 1.0), 0.0};
    if (kind == PERP_SHAPE_POLYGON) {
        random_polygon(r, &def, vertex);
    }
    return def;
}

static const perp_shape_kind KINDS[] = {PERP_SHAPE_POINT,    PERP_SHAPE_DISC,    PERP_SHAPE_BOX,
                                        PERP_SHAPE_POLYGON,  PERP_SHAPE_CAPSULE, PERP_SHAPE_SEGMENT,
                                        PERP_SHAPE_HALFPLANE};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

static void random_scene(rng *r, gap_scene *s, perp_shape_kind a, perp_shape_kind b)
{
    perp_vec3 va[GAP_SCENE_VERTICES], vb[GAP_SCENE_VERTICES];
    perp_shape_def da = random_shape(r, a, va), db = random_shape(r, b, vb);
    assert_true(gap_scene_create(s, &da, &db));
    for (int k = 1; k <= 2; k++) {
        s->body[k] = gap_scene_frame(rng_uniform(r, -1.0, 1.0), rng_uniform(r, -1.0, 1.0),
                                     rng_uniform(r, 0.0, TURN));
    }
}

typedef void scene_check(rng *r, gap_scene *s, uint64_t seed);

static void for_random_scenes(uint64_t count, scene_check *check)
{
    for (int a = 0; a < KIND_COUNT; a++) {
        for (int b = 0; b < KIND_COUNT; b++) {
            FOR_SEEDS(seed, count)
            {
                rng r = rng_seed(seed + 1000003u * (uint64_t)(a * KIND_COUNT + b));
                gap_scene s;
                random_scene(&r, &s, KINDS[a], KINDS[b]);
                if (pp_gap_possible(&s.model->shape[0], &s.model->shape[1])) {
                    check(&r, &s, seed);
                }
                gap_scene_destroy(&s);
            }
        }
    }
}

// ── Distances ────────────────────────────────────────────────────────────────────────────────────

static void check_flaws(rng *r, gap_scene *s, uint64_t seed)
{
    for (int k = 0; k < 4; k++) {
        const char *flaw = gap_scene_flaw(s);
        if (flaw) {
            print_error("kinds %d %d: %s\n", (int)s->def[0].kind, (int)s->def[1].kind, flaw);
        }
        CHECK(!flaw, seed);
        if (k == 1) {  // parallel: a side of one along a side of the other
            s->body[2] = s->body[1];
            s->body[2].p.x += rng_uniform(r, -1.0, 1.0);
        } else if (k == 2) {  // all but touching
            pp_contact c[PP_POINTS_MAX];
            pp_gap_pair(s->model, s->body, 0, 1, HUGE_VAL, c);
            s->body[2].p.x -= c[0].gap * c[0].n.x;
            s->body[2].p.y -= c[0].gap * c[0].n.y;
        } else {
            s->body[2].p.x += rng_uniform(r, -1.0, 1.0);
            s->body[2].p.y += rng_uniform(r, -1.0, 1.0);
        }
    }
}

static void true_distances(void **state)
{
    (void)state;
    for_random_scenes(300, check_flaws);
}

// Sampled outlines, with the arcs of rounded shapes, instead of cores with radii: no better than the
// distance between neighbouring samples, but nothing is shared with the code under test.
static int sample(const perp_shape_def *d, const pp_frame *f, pp_vec2 *out)
{
    enum { ARC = 120 };
    double radius = d->kind == PERP_SHAPE_DISC || d->kind == PERP_SHAPE_CAPSULE ? d->radius : 0.0;
    double half = d->kind == PERP_SHAPE_CAPSULE ? d->half.x : 0.0;
    int count = 0;
    for (int k = 0; k < ARC; k++) {
        double angle = TURN * k / ARC, along = cos(angle) >= 0.0 ? half : -half;
        double x = along + radius * cos(angle), y = radius * sin(angle);
        pp_vec2 x_B = {d->position_B.x + cos(d->angle) * x - sin(d->angle) * y,
                       d->position_B.y + sin(d->angle) * x + cos(d->angle) * y};
        out[count++] = pp_point2(f, x_B);
    }
    return count;
}

// The support of the difference in many directions bounds the separation from both sides.
static void check_sampled(rng *r, gap_scene *s, uint64_t seed)
{
    (void)r;
    pp_vec2 a[128], b[128];
    pp_contact c[PP_POINTS_MAX];
    int na = sample(&s->def[0], &s->body[1], a), nb = sample(&s->def[1], &s->body[2], b);
    int count = pp_gap_pair(s->model, s->body, 0, 1, HUGE_VAL, c);
    double gap = count == 2 ? fmin(c[0].gap, c[1].gap) : c[0].gap, best = -HUGE_VAL;
    for (int k = 0; k < 720; k++) {
        pp_vec2 n = {cos(TURN * k / 720), sin(TURN * k / 720)};
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (int i = 0; i < nb; i++) {
            low = fmin(low, n.x * b[i].x + n.y * b[i].y);
        }
        for (int i = 0; i < na; i++) {
            high = fmax(high, n.x * a[i].x + n.y * a[i].y);
        }
        best = fmax(best, low - high);
    }
    CHECK(fabs(best - gap) <= 0.03, seed);
}

static void sampled_distances(void **state)
{
    (void)state;
    static const perp_shape_kind round[] = {PERP_SHAPE_DISC, PERP_SHAPE_CAPSULE};
    for (int k = 0; k < 4; k++) {
        FOR_SEEDS(seed, 25)
        {
            rng r = rng_seed(seed);
            gap_scene s;
            random_scene(&r, &s, round[k / 2], round[k % 2]);
            check_sampled(&r, &s, seed);
            gap_scene_destroy(&s);
        }
    }
}

// ── Motions ──────────────────────────────────────────────────────────────────────────────────────

static pp_vec2 turned(perp_vec3 x, double c, double n)
{
    return (pp_vec2){c * x.x - n * x.y, n * x.x + c * x.y};
}

static void check_invariance(rng *r, gap_scene *s, uint64_t seed)
{
    pp_contact before[PP_POINTS_MAX], after[PP_POINTS_MAX];
    int count = pp_gap_pair(s->model, s->body, 0, 1, HUGE_VAL, before);
    double angle = rng_uniform(r, -3.0, 3.0), c = cos(angle), n = sin(angle);
    pp_vec2 shift = {rng_uniform(r, -100.0, 100.0), rng_uniform(r, -100.0, 100.0)};
    for (int k = 1; k <= 2; k++) {
        pp_frame *f = &s->body[k];
        pp_vec2 p = turned(f->p, c, n);
        *f = gap_scene_frame(p.x + shift.x, p.y + shift.y, f->angle + angle);
    }
    CHECK(pp_gap_pair(s->model, s->body, 0, 1, HUGE_VAL, after) == count, seed);
    for (int k = 0; k < count; k++) {
        pp_vec2 x = turned(before[k].point, c, n), m = turned(before[k].n, c, n);
        CHECK(after[k].feature == before[k].feature, seed);
        CHECK(fabs(after[k].gap - before[k].gap) <= 1e-12, seed);
        CHECK(hypot(after[k].n.x - m.x, after[k].n.y - m.y) <= 1e-11, seed);
        CHECK(hypot(after[k].point.x - x.x - shift.x, after[k].point.y - x.y - shift.y) <= 1e-11,
              seed);
    }
}

static void rigid_invariance(void **state)
{
    (void)state;
    for_random_scenes(200, check_invariance);
}

static pp_frame moved(const pp_frame *f, double dt)
{
    pp_frame g =
        gap_scene_frame(f->p.x + dt * f->v.x, f->p.y + dt * f->v.y, f->angle + dt * f->w.z);
    return g;
}

static int gaps_at(const gap_scene *s, double dt, pp_contact *c)
{
    pp_frame body[3] = {s->body[0], moved(&s->body[1], dt), moved(&s->body[2], dt)};
    return pp_gap_pair(s->model, body, 0, 1, HUGE_VAL, c);
}

// The row of a contact is the rate of its gap: at the closest point always, and at every vertex of a
// shape on a half-plane. Steps over a change of features are left out, and counted.
static int rates_checked, rates_met;

static void check_rate(rng *r, gap_scene *s, uint64_t seed)
{
    pp_contact c[PP_POINTS_MAX], low[PP_POINTS_MAX], high[PP_POINTS_MAX];
    const double dt = 1e-6;
    bool plane = s->def[0].kind == PERP_SHAPE_HALFPLANE || s->def[1].kind == PERP_SHAPE_HALFPLANE;
    for (int k = 1; k <= 2; k++) {
        double x = rng_normal(r), y = rng_normal(r);
        s->body[k].v = (perp_vec3){x, y, 0.0};
        s->body[k].w = (perp_vec3){0.0, 0.0, rng_normal(r)};
    }
    int count = gaps_at(s, 0.0, c), closest = count == 2 && c[1].gap < c[0].gap;
    int before = gaps_at(s, -dt, low), after = gaps_at(s, dt, high);
    for (int k = 0; k < count; k++) {
        rates_met++;
        if (before != count || after != count || low[k].feature != c[k].feature ||
            high[k].feature != c[k].feature || (k != closest && !plane)) {
            continue;
        }
        perp_vec3 va = pp_point_velocity(&s->body[1], c[k].point),
                  vb = pp_point_velocity(&s->body[2], c[k].point);
        double row = c[k].n.x * (vb.x - va.x) + c[k].n.y * (vb.y - va.y);
        double rate = (high[k].gap - low[k].gap) / (2.0 * dt);
        double jump = hypot(high[k].n.x - low[k].n.x, high[k].n.y - low[k].n.y);
        if (jump <= 1e-3 && fabs(low[k].gap + high[k].gap - 2.0 * c[k].gap) <= 1e-9) {
            rates_checked++;
            CHECK(fabs(row - rate) <= 1e-5 * (1.0 + fabs(rate)), seed);
        }
    }
}

static void rates_are_rows(void **state)
{
    (void)state;
    for_random_scenes(200, check_rate);
    assert_true(rates_checked > rates_met / 2);
}

// A signed distance changes by no more than the shapes move.
static void check_continuity(rng *r, gap_scene *s, uint64_t seed)
{
    pp_contact c[PP_POINTS_MAX];
    double last = 0.0, step = 1e-3, turn = 1e-3 * rng_normal(r);
    pp_vec2 v = {step * rng_normal(r), step * rng_normal(r)};
    for (int k = 0; k < 300; k++) {
        int count = pp_gap_pair(s->model, s->body, 0, 1, HUGE_VAL, c);
        double gap = count == 2 ? fmin(c[0].gap, c[1].gap) : c[0].gap;
        double reach =
            2.0 + hypot(s->body[2].p.x - s->body[1].p.x, s->body[2].p.y - s->body[1].p.y);
        CHECK(k == 0 || fabs(gap - last) <= 1.01 * (hypot(v.x, v.y) + 2.0 * reach * fabs(turn)),
              seed);
        last = gap;
        s->body[2] =
            gap_scene_frame(s->body[2].p.x + v.x, s->body[2].p.y + v.y, s->body[2].angle + turn);
    }
}

static void gaps_are_continuous(void **state)
{
    (void)state;
    for (int a = 0; a < KIND_COUNT; a++) {
        for (int b = a; b < KIND_COUNT; b++) {
            FOR_SEEDS(seed, 40)
            {
                rng r = rng_seed(seed + 77u * (uint64_t)(a * KIND_COUNT + b));
                gap_scene s;
                random_scene(&r, &s, KINDS[a], KINDS[b]);
                if (pp_gap_possible(&s.model->shape[0], &s.model->shape[1]) &&
                    !gap_scene_thin(&s)) {
                    check_continuity(&r, &s, seed);
                }
                gap_scene_destroy(&s);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(true_distances),      cmocka_unit_test(sampled_distances),
        cmocka_unit_test(rigid_invariance),    cmocka_unit_test(rates_are_rows),
        cmocka_unit_test(gaps_are_continuous),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
