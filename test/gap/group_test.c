// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Pairs are looked at from as far as they close, with what impacts around them can change, compared with groups found by
// brute force.
#include "gap/gap.h"
#include "support/cmocka.h"
#include "support/random.h"

#include <math.h>
#include <string.h>

enum { MOST = 40 };
static const double NEAR = 0.01, RADIUS = 0.1, SPAN = 1.5, BOUNCES = 1.25;  // h = 1 s

typedef enum role { FREE, DRIVEN, FIXED } role;

typedef struct crowd {
    int count;  // discs
    role role[MOST];
    perp_vec3 place[MOST];
    perp_vec3 v[MOST];
    double push[MOST + 1], travel[MOST + 1];  // bodies: the ground is 0, disc k is k + 1
    int joint[2];                             // discs that a joint connects; both the same: none
} crowd;

static perp_model *model_of(const crowd *c)
{
    const perp_motion motion[] = {[FREE] = PERP_MOTION_DYNAMIC,
                                  [DRIVEN] = PERP_MOTION_KINEMATIC,
                                  [FIXED] = PERP_MOTION_STATIC};
    perp_builder *b = perp_builder_create(NULL);
    perp_body body[MOST];
    for (int k = 0; k < c->count; k++) {
        perp_body_def d = perp_body_default();
        d.mass = d.inertia_zz = 1.0;
        d.motion = motion[c->role[k]];
        d.position_W = c->place[k];
        body[k] = perp_builder_add_body(b, &d);
        perp_shape_def disc = perp_shape_default();
        disc.kind = PERP_SHAPE_DISC;
        disc.radius = RADIUS;
        perp_builder_add_shape(b, body[k], &disc);
    }
    if (c->joint[0] != c->joint[1]) {
        perp_joint_def d = perp_joint_default();
        d.kind = PERP_JOINT_DISTANCE;
        d.a = body[c->joint[0]];
        d.b = body[c->joint[1]];
        d.length = pp_length(pp_sub(c->place[c->joint[0]], c->place[c->joint[1]]));
        perp_builder_add_joint(b, &d);
    }
    perp_model *model = NULL;
    perp_error error = {0};
    if (perp_model_create(b, &model, &error) < 0) {
        print_error("%s\n", error.text);
    }
    perp_builder_destroy(b);
    assert_non_null(model);
    return model;
}

// Of the boxes of two discs.
static double box_gap(const crowd *c, int i, int j)
{
    perp_vec3 d = pp_sub(c->place[i], c->place[j]);
    return fmax(fabs(d.x), fabs(d.y)) - 2.0 * RADIUS;
}

static double disc_gap(const crowd *c, int i, int j)
{
    return pp_length(pp_sub(c->place[i], c->place[j])) - 2.0 * RADIUS;
}

// The largest travels of all with label l: of free bodies, and of driven ones that they can touch.
static void fastest(const crowd *c, const int *label, const double *driven, int l, double out[2])
{
    out[0] = out[1] = 0.0;
    for (int k = 0; k < c->count; k++) {
        if (c->role[k] == FREE && label[k] == l) {
            out[0] = fmax(out[0], c->travel[k + 1]);
            out[1] = fmax(out[1], driven[k]);
        }
    }
}

static double closing(const crowd *c, int i, int j, bool forces)
{
    double push = forces ? c->push[i + 1] + c->push[j + 1] : 0.0;
    return pp_length(pp_sub(c->v[i], c->v[j])) + push;
}

// The largest change of the speed of disc k by an impact: of all that may close in its group.
static double impact_of(const crowd *c, const perp_model *m, const int *label, int k)
{
    double most = 0.0;
    for (int i = 0; i < c->count; i++) {
        for (int j = 0; j < c->count; j++) {
            bool in = c->role[i] == FREE && label[i] == label[k] && i != j &&
                      pp_model_pair_filter(m, i < j ? i : j, i < j ? j : i) == PP_PAIR_COLLIDES;
            if (in && box_gap(c, i, j) <= closing(c, i, j, true)) {
                most = fmax(most, BOUNCES * closing(c, i, j, false));
            }
        }
    }
    return c->role[k] == FREE ? most : 0.0;
}

// Groups by labels that spread until nothing changes; impact[k]: by how much an impact may change the speed of disc k.
static void by_brute_force(const crowd *c, const perp_model *m, double *impact)
{
    int label[MOST];
    double driven[MOST] = {0.0}, a[2], b[2];
    for (int k = 0; k < c->count; k++) {
        label[k] = k;
    }
    for (bool news = true; news;) {
        news = false;
        for (int i = 0; i < c->count; i++) {
            for (int j = 0; j < c->count; j++) {
                if (i == j || c->role[i] != FREE) {
                    continue;
                }
                bool joined = (c->joint[0] == i && c->joint[1] == j) ||
                              (c->joint[0] == j && c->joint[1] == i);
                fastest(c, label, driven, label[i], a);
                if (c->role[j] == FREE) {
                    fastest(c, label, driven, label[j], b);
                    double both = fmax(a[0], a[1]) + fmax(b[0], b[1]);
                    if (label[i] != label[j] && ((joined && c->joint[0] != c->joint[1]) ||
                                                 box_gap(c, i, j) <= fmax(NEAR, both))) {
                        int old = label[j], new = label[i];
                        for (int k = 0; k < c->count; k++) {
                            label[k] = label[k] == old ? new : label[k];
                        }
                        news = true;
                    }
                } else if (c->travel[j + 1] > driven[i] && c->travel[j + 1] > a[1] &&
                           box_gap(c, i, j) <= fmax(NEAR, fmax(a[0], a[1]) + c->travel[j + 1])) {
                    driven[i] = c->travel[j + 1];
                    news = true;
                }
            }
        }
    }
    for (int k = 0; k < c->count; k++) {
        impact[k] = impact_of(c, m, label, k);
    }
}

// What the two fastest of all can close, and more.
static double margin_of(const crowd *c)
{
    double first = 0.0, second = 0.0;
    for (int k = 1; k <= c->count; k++) {
        second = fmax(second, fmin(first, c->travel[k]));
        first = fmax(first, c->travel[k]);
    }
    return fmax(NEAR, 1.25 * (first + second));
}

// Up to which gap a pair has to be looked at.
static double reach_of(const crowd *c, const double *impact, int i, int j)
{
    double closes = SPAN * (closing(c, i, j, true) + fmax(impact[i], impact[j]));
    return fmin(fmax(NEAR, closes), margin_of(c));
}

static void set_speed(crowd *c, int k, perp_vec3 v, double push)
{
    c->v[k] = v;
    c->push[k + 1] = push;
    c->travel[k + 1] = SPAN * BOUNCES * (pp_length(v) + push);
}

static crowd random_crowd(rng *r)
{
    crowd c = {.count = 3 + rng_below(r, MOST - 3)};
    double wide = rng_uniform(r, 1.0, 6.0);
    for (int k = 0; k < c.count; k++) {
        c.role[k] = rng_below(r, 6) > 1 ? FREE : rng_below(r, 2) ? DRIVEN : FIXED;
        c.place[k] = pp_vec(rng_uniform(r, 0.0, wide), rng_uniform(r, 0.0, wide), 0.0);
        bool fast = rng_below(r, 8) == 0;
        double travel = fast ? rng_uniform(r, 0.1, 1.0) : 0.1 * NEAR * rng_uniform(r, 0.0, 8.0);
        double angle = rng_uniform(r, 0.0, 6.28), speed = travel / (SPAN * BOUNCES);
        perp_vec3 v = pp_vec(speed * cos(angle), speed * sin(angle), 0.0);
        if (c.role[k] != FIXED) {
            set_speed(&c, k, v, c.role[k] == FREE ? rng_uniform(r, 0.0, 1e-3) : 0.0);
        }
    }
    int a = rng_below(r, c.count), b = rng_below(r, c.count);
    if (c.role[a] == FREE && c.role[b] == FREE) {
        c.joint[0] = a;
        c.joint[1] = b;
    }
    return c;
}

static bool found(const pp_gaps *gaps, int a, int b)
{
    for (int k = 0; k < gaps->count; k++) {
        if ((gaps->contact[k].a == a && gaps->contact[k].b == b) ||
            (gaps->contact[k].a == b && gaps->contact[k].b == a)) {
            return true;
        }
    }
    return false;
}

// All discs at their places, looked at with the travel of each.
static pp_gaps look(const crowd *c, const perp_model *m, pp_arena *arena)
{
    pp_frame *body = PP_ZEROS(arena, pp_frame, m->bodies);
    body[0].R = pp_identity3();
    for (int k = 0; k < c->count; k++) {
        body[k + 1] = (pp_frame){.p = c->place[k], .R = pp_identity3(), .v = c->v[k]};
    }
    pp_gaps gaps;
    pp_poses at = {.body = body};
    pp_gap_search search = {.margin = margin_of(c),
                            .travel = c->travel,
                            .push = c->push,
                            .h = 1.0,
                            .span = SPAN,
                            .bounces = BOUNCES,
                            .near = NEAR};
    assert_int_equal(pp_gaps_run(&gaps, m, &at, search, arena), PERP_OK);
    return gaps;
}

static void groups_are_those_of_brute_force(void **state)
{
    (void)state;
    int dropped = 0, contacts = 0;
    FOR_SEEDS(seed, 300)
    {
        rng r = rng_seed(seed);
        crowd c = random_crowd(&r);
        perp_model *m = model_of(&c);
        pp_arena *arena = pp_arena_create(NULL);
        double impact[MOST];
        by_brute_force(&c, m, impact);
        pp_gaps gaps = look(&c, m, arena);
        for (int i = 0; i < c.count; i++) {
            for (int j = i + 1; j < c.count; j++) {
                double far = reach_of(&c, impact, i, j), gap = disc_gap(&c, i, j);
                double told = pp_gap_looked(&gaps, far, i, j);
                bool looked = pp_model_pair_filter(m, i, j) == PP_PAIR_COLLIDES;
                CHECK(told >= far && told <= 1.251 * far + 1e-15, seed);
                CHECK(!looked || gap > far || found(&gaps, i, j), seed);
                CHECK((looked && gap <= 1.251 * far) || !found(&gaps, i, j), seed);
                dropped += looked && gap > far && gap <= 1.0;
            }
        }
        contacts += gaps.count;
        pp_arena_destroy(arena);
        perp_model_destroy(m);
    }
    assert_true(dropped > 1000 && contacts > 1000);
}

// A row of discs, one of which is fast: what it can touch is looked at from afar, with all that is in touch, and no more.
static void one_fast_body_widens_its_group_only(void **state)
{
    (void)state;
    crowd c = {.count = 6};
    const double place[6] = {0.0, 0.65,  0.855,
                             5.0, 5.205, 9.0};  // 0 flies and may strike 1, which touches 2
    for (int k = 0; k < c.count; k++) {
        c.place[k] = pp_vec(place[k], 0.0, 0.0);
        set_speed(&c, k, pp_vec(k == 0 ? 0.5 : 0.0, 0.0, 0.0), 1e-4);
    }
    perp_model *m = model_of(&c);
    pp_arena *arena = pp_arena_create(NULL);
    pp_gaps gaps = look(&c, m, arena);
    double own = SPAN * 0.5, struck = SPAN * BOUNCES * 0.5;
    assert_true(pp_gap_looked(&gaps, 0.0, 0, 1) >= fmin(own + struck, margin_of(&c)));
    assert_true(pp_gap_looked(&gaps, 0.0, 1, 2) >= struck &&
                pp_gap_looked(&gaps, 0.0, 1, 2) < own + struck);
    assert_true(pp_gap_looked(&gaps, 0.0, 3, 4) == NEAR);
    assert_true(found(&gaps, 0, 1) && found(&gaps, 0, 2) && found(&gaps, 1, 2) &&
                found(&gaps, 3, 4));
    assert_int_equal(gaps.count, 4);
    pp_arena_destroy(arena);
    perp_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_those_of_brute_force),
        cmocka_unit_test(one_fast_body_widens_its_group_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
