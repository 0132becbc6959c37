// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contact points of random pairs of solids: true distances, symmetry, rates.
#include "support/cmocka.h"
#include "support/touch_check.h"

typedef void pair_check(rng *r, const touch_pair *pair, uint64_t seed);

static const char *const NAME[TOUCH_KINDS] = {"sphere", "capsule",   "box",  "cylinder",
                                              "cone",   "ellipsoid", "hull", "half-space"};

static void for_pairs(uint64_t count, pair_check *check)
{
    for (int a = 0; a < TOUCH_KINDS; a++) {
        for (int b = 0; b < TOUCH_KINDS; b++) {
            if (a == PP_SOLID_HALFSPACE && b == PP_SOLID_HALFSPACE) {
                continue;
            }
            FOR_SEEDS(seed, count)
            {
                rng r = rng_seed(seed + 1000003u * (uint64_t)(a * TOUCH_KINDS + b));
                touch_hull ha, hb;
                touch_pair pair;
                pair.a = touch_random_solid(&r, (pp_solid_kind)a, &ha);
                pair.b = touch_random_solid(&r, (pp_solid_kind)b, &hb);
                pair.X_WA = touch_random_pose(&r, 1.0);
                pair.X_WB = touch_random_pose(&r, 1.0);
                check(&r, &pair, seed);
            }
        }
    }
}

static int touch(const touch_pair *p, pp_touch_point *t)
{
    return pp_solid_touch(&p->a, &p->X_WA, &p->b, &p->X_WB, HUGE_VAL, t);
}

static void report(const touch_pair *pair, const char *flaw)
{
    if (flaw) {
        pp_touch_point t[PP_TOUCH_MAX];
        int count = touch(pair, t);
        print_error("%s and %s: %s\n", NAME[pair->a.kind], NAME[pair->b.kind], flaw);
        for (int k = 0; k < count; k++) {
            print_error("  %08x gap %.17g at %.9g %.9g %.9g normal %.9g %.9g %.9g\n",
                        (unsigned)t[k].feature, t[k].gap, t[k].x_a.x, t[k].x_a.y, t[k].x_a.z,
                        t[k].n.x, t[k].n.y, t[k].n.z);
        }
    }
}

// ── Distances ────────────────────────────────────────────────────────────────────────────────────

static void check_flaws(rng *r, const touch_pair *given, uint64_t seed)
{
    touch_pair pair = *given;
    for (int k = 0; k < 4; k++) {
        pp_touch_point t[PP_TOUCH_MAX];
        const char *flaw = touch_flaw(&pair, 1e-12, r);
        report(&pair, flaw);
        CHECK(!flaw, seed);
        touch(&pair, t);
        if (k == 0) {  // all but touching
            pair.X_WB.p = pp_along(pair.X_WB.p, 1e-6 - t[0].gap, t[0].n);
        } else if (k == 1) {  // just overlapping
            pair.X_WB.p = pp_along(pair.X_WB.p, -1e-4 - t[0].gap, t[0].n);
        } else {  // parallel
            pair.X_WB.R = pair.X_WA.R;
        }
    }
}

static void true_distances(void **state)
{
    (void)state;
    for_pairs(50, check_flaws);
}

static void check_symmetry(rng *r, const touch_pair *pair, uint64_t seed)
{
    const char *flaw = touch_asymmetry(pair, 1e-11, r);
    report(pair, flaw);
    CHECK(!flaw, seed);
}

static void symmetric(void **state)
{
    (void)state;
    for_pairs(60, check_symmetry);
}

// ── Rates ────────────────────────────────────────────────────────────────────────────────────────

static pp_pose moved(const pp_pose *X, perp_vec3 v, perp_vec3 w, double h)
{
    pp_mat3 turn = pp_quat_matrix(pp_quat_exp(pp_scale(h, w)));
    return (pp_pose){pp_along(X->p, h, v), pp_mat_mul(&turn, &X->R)};
}

static perp_vec3 random_vec(rng *r)
{
    double x = rng_normal(r), y = rng_normal(r), z = rng_normal(r);
    return pp_vec(x, y, z);
}

// The rate of the least gap is n.(v_b - v_a) at its witness points, as long as the features stay the same.
static void check_rate(rng *r, const touch_pair *pair, uint64_t seed)
{
    const double h = 1e-6;
    pp_touch_point t[PP_TOUCH_MAX], low[PP_TOUCH_MAX], high[PP_TOUCH_MAX];
    perp_vec3 va = random_vec(r), wa = random_vec(r), vb = random_vec(r), wb = random_vec(r);
    touch_pair before = *pair, after = *pair;
    before.X_WA = moved(&pair->X_WA, va, wa, -h);
    before.X_WB = moved(&pair->X_WB, vb, wb, -h);
    after.X_WA = moved(&pair->X_WA, va, wa, h);
    after.X_WB = moved(&pair->X_WB, vb, wb, h);
    touch(pair, t);
    touch(&before, low);
    touch(&after, high);
    perp_vec3 of_a = pp_add(va, pp_cross(wa, pp_sub(t[0].x_a, pair->X_WA.p)));
    perp_vec3 of_b = pp_add(vb, pp_cross(wb, pp_sub(t[0].x_b, pair->X_WB.p)));
    double rate = pp_dot3(t[0].n, pp_sub(of_b, of_a)), twice = high[0].gap - low[0].gap;
    bool smooth = pp_length(pp_sub(high[0].x_a, low[0].x_a)) < 1e-3 &&
                  pp_length(pp_sub(high[0].n, low[0].n)) < 1e-3;
    if (smooth && fabs(twice / (2.0 * h) - rate) >= 1e-5 * (1.0 + fabs(rate))) {
        report(&before, "before");
        report(pair, "a rate that is not that of the gap");
        report(&after, "after");
    }
    CHECK(!smooth || fabs(twice / (2.0 * h) - rate) < 1e-5 * (1.0 + fabs(rate)), seed);
    touch_pair away = *pair;
    away.X_WB.p = pp_along(away.X_WB.p, 0.01, t[0].n);
    touch(&away, high);
    CHECK(t[0].gap < 0.0 || fabs(high[0].gap - t[0].gap - 0.01) < 1e-13, seed);
}

static void rates(void **state)
{
    (void)state;
    for_pairs(60, check_rate);
}

// ── Margin ───────────────────────────────────────────────────────────────────────────────────────

static void check_margin(rng *r, const touch_pair *pair, uint64_t seed)
{
    pp_touch_point t[PP_TOUCH_MAX], u[PP_TOUCH_MAX];
    int count = touch(pair, t);
    double margin = t[rng_below(r, count)].gap + rng_uniform(r, -0.1, 0.1);
    int within = 0, got = pp_solid_touch(&pair->a, &pair->X_WA, &pair->b, &pair->X_WB, margin, u);
    for (int k = 0; k < count; k++) {
        within += t[k].gap <= margin;
    }
    // Of more than PP_TOUCH_MAX the extremes are kept, and others are extreme with another margin.
    CHECK(count > 4 ? (got > 0) == (within > 0) : got == within, seed);
    for (int k = 0; k < got; k++) {
        CHECK(u[k].gap <= margin, seed);
    }
}

static void margins(void **state)
{
    (void)state;
    for_pairs(40, check_margin);
}

// ── Hulls of many points ─────────────────────────────────────────────────────────────────────────

static void rocks(void **state)
{
    (void)state;
    perp_env env = {0};
    FOR_SEEDS(seed, 60)
    {
        rng r = rng_seed(seed);
        pp_arena *arena = pp_arena_create(&env);
        perp_vec3 point[60];
        touch_hull unused;
        touch_pair pair;
        perp_error error;
        int count = 4 + rng_below(&r, 57), kind = rng_below(&r, PP_SOLID_HALFSPACE);
        for (int k = 0; k < count; k++) {
            point[k] = pp_unit(random_vec(&r), pp_vec(0.0, 0.0, 1.0));
        }
        pair.a = (pp_solid){.kind = PP_SOLID_HULL};
        perp_status status = pp_hull_create(point, count, arena, &pair.a.hull, &error);
        if (status == PERP_ERR_REFUSED) {
            print_message("skipped: built without qhull\n");
            pp_arena_destroy(arena);
            skip();
        }
        CHECK(status == PERP_OK, seed);
        pair.b = seed % 3 ? pair.a : touch_random_solid(&r, (pp_solid_kind)kind, &unused);
        pair.X_WA = touch_random_pose(&r, 1.0);
        pair.X_WB = touch_random_pose(&r, 1.0);
        check_flaws(&r, &pair, seed);
        pp_arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(true_distances), cmocka_unit_test(symmetric), cmocka_unit_test(rates),
        cmocka_unit_test(margins),        cmocka_unit_test(rocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
