// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Distances and depths of random pairs against FCL, libccd and Bullet.
//
// Where solids are apart, the distance is unique, and others must agree as far as they converge. Where they overlap, the
// depth is the least translation that parts them. A polytope inside (EPA) that stops early tells too small a depth,
// which parts nothing; so what counts is the translation that is needed along the direction they give, and
// ours may not be larger than that. Bullet's distances, and its depths of polyhedra, must be ours but for one in a
// hundred, where it stops early.
#include "oracle/oracle.h"

#include <ccd/ccd.h>
#include <stdio.h>
#include <string.h>

#include "support/cmocka.h"
#include "support/touch_check.h"

static const char *const NAME[] = {"sphere", "capsule",   "box",  "cylinder",
                                   "cone",   "ellipsoid", "hull", "plane"};

enum { KINDS = PP_SOLID_HALFSPACE + 1, PAIRS = 200 };

static const double WIDE = 10.0;

// Relative to the sizes: what a distance of theirs may be off, and how much deeper than ours one of polyhedra may be.
typedef struct limits {
    double apart, flat;
    bool stops;  // one in a hundred of its answers may be too long by any amount, or deeper
} limits;

// Ours may be deeper than what parts along a direction of theirs by roundoff only.
static const double DEEPER = 1e-12;

typedef struct tally {
    int apart, stopped, over, flat, none, same;
    double worst_apart;    // |theirs - ours|
    double worst_smaller;  // how much smaller than ours a depth of theirs is, measured
    double worst_larger;   // and how much larger
} tally;

typedef struct answer {
    double distance;
    perp_vec3 way;
} answer;

typedef int solver(const touch_pair *pair, answer *out);

// What an oracle is asked for.
typedef enum range { APART, OVERLAPPING, BOTH } range;

static oracle_solid solid_of(const pp_solid *s, const pp_pose *X)
{
    oracle_solid o = {.kind = (int)s->kind,
                      .radius = s->radius,
                      .half = {s->half.x, s->half.y, s->half.z},
                      .R = X->R.m,
                      .p = {X->p.x, X->p.y, X->p.z}};
    if (s->kind == PP_SOLID_HALFSPACE) {  // a box that is large enough
        perp_vec3 p = pp_along(X->p, -WIDE, pp_mat3_column(&X->R, 2));
        memcpy(o.p, (double[3]){p.x, p.y, p.z}, sizeof o.p);
        memcpy(o.half, (double[3]){WIDE, WIDE, WIDE}, sizeof o.half);
        o.kind = PP_SOLID_BOX;
    }
    if (s->kind == PP_SOLID_HULL) {
        o.vertices = s->hull->vertices;
        o.faces = s->hull->faces;
        o.vertex = &s->hull->vertex[0].x;
        o.face_first = s->hull->face_first;
        o.corner = s->hull->corner;
    }
    return o;
}

static int by_fcl(const touch_pair *pair, answer *out)
{
    oracle_solid a = solid_of(&pair->a, &pair->X_WA), b = solid_of(&pair->b, &pair->X_WB);
    return oracle_fcl(&a, &b, &out->distance);
}

#ifdef ORACLE_BULLET
static int by_bullet(const touch_pair *pair, answer *out)
{
    oracle_solid a = solid_of(&pair->a, &pair->X_WA), b = solid_of(&pair->b, &pair->X_WB);
    double way[3] = {0.0, 0.0, 1.0};
    int found = oracle_bullet(&a, &b, &out->distance, way);
    out->way = pp_vec(way[0], way[1], way[2]);
    return found;
}
#endif

// ── libccd, with its own algorithms and the support points of the solids ─────────────────────────

typedef struct placed {
    const pp_solid *solid;
    const pp_pose *X;
} placed;

static void support(const void *object, const ccd_vec3_t *way, ccd_vec3_t *point)
{
    const placed *s = object;
    perp_vec3 d = pp_mul_t(&s->X->R, pp_vec(way->v[0], way->v[1], way->v[2]));
    perp_vec3 x = pp_pose_point(s->X, pp_solid_support(s->solid, d));
    ccdVec3Set(point, x.x, x.y, x.z);
}

static void centre(const void *object, ccd_vec3_t *point)
{
    const placed *s = object;
    ccdVec3Set(point, s->X->p.x, s->X->p.y, s->X->p.z);
}

static int by_ccd(const touch_pair *pair, bool mpr, answer *out)
{
    placed a = {&pair->a, &pair->X_WA}, b = {&pair->b, &pair->X_WB};
    ccd_t ccd;
    ccd_vec3_t way, at;
    ccd_real_t depth = 0.0;
    CCD_INIT(&ccd);
    ccd.support1 = ccd.support2 = support;
    ccd.center1 = ccd.center2 = centre;
    ccd.max_iterations = 500;
    ccd.epa_tolerance = ccd.mpr_tolerance = 1e-9;
    int status = mpr ? ccdMPRPenetration(&a, &b, &ccd, &depth, &way, &at)
                     : ccdGJKPenetration(&a, &b, &ccd, &depth, &way, &at);
    out->distance = -depth;
    out->way = pp_vec(way.v[0], way.v[1], way.v[2]);
    return status == 0;
}

static int by_epa(const touch_pair *pair, answer *out)
{
    return by_ccd(pair, false, out);
}

static int by_mpr(const touch_pair *pair, answer *out)
{
    return by_ccd(pair, true, out);
}

// ── Comparison ───────────────────────────────────────────────────────────────────────────────────

static bool is_flat(const pp_solid *s)
{
    return s->kind == PP_SOLID_BOX || s->kind == PP_SOLID_HULL;
}

static touch_pair random_pair(rng *r, int a, int b, touch_hull hull[2])
{
    touch_pair pair;
    pair.a = touch_random_solid(r, (pp_solid_kind)a, &hull[0]);
    pair.b = touch_random_solid(r, (pp_solid_kind)b, &hull[1]);
    for (int k = 0; k < 2; k++) {  // no triangles: they have no inside
        pp_solid *s = k ? &pair.b : &pair.a;
        if (s->kind == PP_SOLID_HULL) {
            touch_hull_set(&hull[k], rng_below(r, 5), s->half);
        }
    }
    pair.X_WA = touch_random_pose(r, 0.8);
    pair.X_WB = touch_random_pose(r, 0.8);
    return pair;
}

// GJK that stops early tells too long a distance.
static bool judge_apart(double gap, double distance, double size, const limits *l, tally *t)
{
    double error = (distance - gap) / size;
    t->apart++;
    if (error > l->apart && l->stops) {
        t->stopped++;
        return true;
    }
    t->worst_apart = fmax(t->worst_apart, fabs(error));
    return fabs(error) <= l->apart;
}

static bool judge(const touch_pair *pair, const pp_touch_point *ours, const answer *theirs,
                  const limits *l, tally *t)
{
    double size = touch_extent(&pair->a) + touch_extent(&pair->b);
    bool plane = pair->b.kind == PP_SOLID_HALFSPACE;
    if (ours->gap > 0.0) {
        return judge_apart(ours->gap, theirs->distance, size, l, t);
    }
    perp_vec3 n = pp_unit(theirs->way, ours->n);
    double parted = plane ? theirs->distance  // there is one direction only
                          : fmax(touch_parting(pair, n), touch_parting(pair, pp_scale(-1.0, n)));
    double error = (parted - ours->gap) / size;
    bool flat = is_flat(&pair->a) && (plane || is_flat(&pair->b));
    t->over++;
    t->flat += flat;
    t->same += fabs(error) <= 1e-6;
    t->worst_smaller = fmax(t->worst_smaller, error);
    t->worst_larger = fmax(t->worst_larger, -error);
    t->stopped += flat && error < -l->flat;
    return error <= (plane ? 1e-9 : DEEPER);
}

static void compare_kinds(const char *who, solver *oracle, range asked, const limits *l, int a,
                          int b, tally *t, int *failures)
{
    FOR_SEEDS(seed, PAIRS)
    {
        rng r = rng_seed(seed + 7919u * (uint64_t)(a * KINDS + b));
        touch_hull hull[2];
        touch_pair pair = random_pair(&r, a, b, hull);
        pp_touch_point out[PP_TOUCH_MAX];
        answer theirs = {0.0, {0.0, 0.0, 1.0}};
        CHECK(pp_solid_touch(&pair.a, &pair.X_WA, &pair.b, &pair.X_WB, HUGE_VAL, out) > 0, seed);
        bool over = out[0].gap < 0.0;
        if ((over && asked == APART) || (!over && asked == OVERLAPPING)) {
            continue;
        }
        if (!oracle(&pair, &theirs)) {
            t->none++;
        } else if (!judge(&pair, out, &theirs, l, t)) {
            print_error("%s, %s and %s, seed %d: %.12g, ours %.12g\n", who, NAME[a], NAME[b],
                        (int)seed, theirs.distance, out[0].gap);
            ++*failures;
        }
    }
}

static void compare(const char *who, solver *oracle, range asked, const limits *l)
{
    int failures = 0, apart = 0, flat_over = 0, stopped = 0;
    for (int a = 0; a < PP_SOLID_HALFSPACE; a++) {
        for (int b = a; b < KINDS && (asked != OVERLAPPING || b < PP_SOLID_HALFSPACE); b++) {
            tally t = {0};
            compare_kinds(who, oracle, asked, l, a, b, &t, &failures);
            apart += t.apart;
            flat_over += t.flat;
            stopped += t.stopped;
            if (t.apart + t.over > 0) {
                print_message(
                    "%-7s %-9s %-9s %3d apart to %.0e, %d stopped; %3d over, %3d the same, theirs "
                    "less deep by %.0e, deeper by %.0e; no answer %d\n",
                    who, NAME[a], NAME[b], t.apart, t.worst_apart, t.stopped, t.over, t.same,
                    t.worst_smaller, t.worst_larger, t.none);
            }
        }
    }
    assert_int_equal(failures, 0);
    assert_true(stopped * 100 <= apart + flat_over);
}

static void fcl(void **state)
{
    (void)state;
    compare("FCL", by_fcl, APART, &(limits){1e-6, 0.0, false});
}

static void epa(void **state)
{
    (void)state;
    compare("EPA", by_epa, OVERLAPPING, &(limits){0.0, HUGE_VAL, false});
}

static void mpr(void **state)
{
    (void)state;
    compare("MPR", by_mpr, OVERLAPPING, &(limits){0.0, HUGE_VAL, false});
}

#ifdef ORACLE_BULLET
static void bullet(void **state)
{
    (void)state;
    compare("Bullet", by_bullet, BOTH, &(limits){1e-9, 1e-9, true});
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fcl),
        cmocka_unit_test(epa),
        cmocka_unit_test(mpr),
#ifdef ORACLE_BULLET
        cmocka_unit_test(bullet),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
