// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The separating axis of hulls against all faces and all pairs of edges, each with its true separation; and the features of
// a hull near a support plane against all of them.
#include "gap/convex/narrow.h"
#include "support/cmocka.h"
#include "support/random.h"

#include <math.h>

enum { POINTS_MOST = 400 };

static int setup(void **state)
{
    *state = pp_arena_create(NULL);
    return *state ? 0 : 1;
}

static int teardown(void **state)
{
    pp_arena_destroy(*state);
    return 0;
}

// Points in a box, on an ellipsoid, or on a rounded prism with many corners of one height: few, some and many faces.
static const pp_hull *random_hull(rng *r, int most, pp_arena *arena)
{
    perp_vec3 point[POINTS_MOST];
    int kind = rng_below(r, 3), count = 8 + rng_below(r, most - 8);
    const double x = rng_uniform(r, 0.2, 1.0), y = rng_uniform(r, 0.2, 1.0),
                 z = rng_uniform(r, 0.1, 1.0);
    for (int k = 0; k < count; k++) {
        perp_vec3 d = pp_unit(pp_vec(rng_normal(r), rng_normal(r), rng_normal(r)), pp_vec(1, 0, 0));
        if (kind == 0) {
            d = pp_vec(rng_uniform(r, -1, 1), rng_uniform(r, -1, 1), rng_uniform(r, -1, 1));
        } else if (kind == 2) {
            double along = 0.2 * k;
            d = pp_vec(cos(along), sin(along), k % 2 ? 1.0 : -1.0);
        }
        point[k] = pp_vec(x * d.x, y * d.y, z * d.z);
    }
    const pp_hull *hull = NULL;
    perp_status status = pp_hull_create(point, count, arena, &hull, NULL);
    if (status == PERP_ERR_REFUSED) {
        skip();
    }
    return status == PERP_OK ? hull : NULL;
}

static pp_pose random_pose(rng *r, double far)
{
    perp_quat q = {rng_normal(r), rng_normal(r), rng_normal(r), rng_normal(r)};
    double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    q = (perp_quat){q.w / length, q.x / length, q.y / length, q.z / length};
    perp_vec3 p =
        pp_vec(rng_uniform(r, -far, far), rng_uniform(r, -far, far), rng_uniform(r, -far, far));
    return (pp_pose){p,
                     rng_below(r, 4) ? pp_quat_matrix(q) : pp_quat_matrix((perp_quat){1, 0, 0, 0})};
}

// By all vertices, without a walk along edges.
static double separation(const pp_placed_solid *a, const pp_placed_solid *b, perp_vec3 n)
{
    double most_a = -PP_INF, least_b = PP_INF;
    for (int k = 0; k < a->solid->hull->vertices; k++) {
        most_a = fmax(most_a, pp_dot3(n, pp_add(a->p, pp_mul(&a->R, a->solid->hull->vertex[k]))));
    }
    for (int k = 0; k < b->solid->hull->vertices; k++) {
        least_b = fmin(least_b, pp_dot3(n, pp_add(b->p, pp_mul(&b->R, b->solid->hull->vertex[k]))));
    }
    return least_b - most_a;
}

static double all_faces(const pp_placed_solid *a, const pp_placed_solid *b,
                        const pp_placed_solid *of, double sign)
{
    double most = -PP_INF;
    for (int k = 0; k < of->solid->hull->faces; k++) {
        perp_vec3 n = pp_scale(sign, pp_mul(&of->R, of->solid->hull->face_normal[k]));
        most = fmax(most, separation(a, b, n));
    }
    return most;
}

static perp_vec3 edge_of(const pp_placed_solid *s, int k)
{
    const pp_hull *hull = s->solid->hull;
    return pp_mul(&s->R, pp_sub(hull->vertex[hull->edge[k][1]], hull->vertex[hull->edge[k][0]]));
}

// A point of each edge bounds the separation of their axis: most need no more.
static double all_edges(const pp_placed_solid *a, const pp_placed_solid *b, double most)
{
    const pp_hull *ha = a->solid->hull, *hb = b->solid->hull;
    for (int i = 0; i < ha->edges; i++) {
        perp_vec3 d = edge_of(a, i), x = pp_add(a->p, pp_mul(&a->R, ha->vertex[ha->edge[i][0]]));
        for (int j = 0; j < hb->edges; j++) {
            perp_vec3 e = edge_of(b, j),
                      y = pp_add(b->p, pp_mul(&b->R, hb->vertex[hb->edge[j][0]]));
            perp_vec3 n = pp_cross(d, e);
            if (pp_length(n) < 1e-8 * pp_length(d) * pp_length(e)) {
                continue;
            }
            n = pp_unit(n, d);
            double along = pp_dot3(n, pp_sub(y, x));
            if (along > most) {
                most = fmax(most, separation(a, b, n));
            }
            if (-along > most) {
                most = fmax(most, separation(a, b, pp_scale(-1.0, n)));
            }
        }
    }
    return most;
}

// The best of all axes is found, to rounding, and it separates by what is said.
static void as_good_as_all_axes(void **state)
{
    int overlapping = 0;
    FOR_SEEDS(seed, 1000)
    {
        rng r = rng_seed(seed);
        pp_arena_reset(*state);
        // few large ones: all axes of two hulls with 200 vertices take 0.1 s
        int most = seed % 50 == 0 ? 200 : 28;
        const pp_hull *ha = random_hull(&r, most, *state), *hb = random_hull(&r, most, *state);
        if (!ha || !hb) {
            continue;
        }
        pp_solid sa = {.kind = PP_SOLID_HULL, .hull = ha}, sb = {.kind = PP_SOLID_HULL, .hull = hb};
        pp_pose A = random_pose(&r, 0.0), B = random_pose(&r, 1.0);
        pp_placed_solid a = pp_place_solid(&sa, &A, A.p), b = pp_place_solid(&sb, &B, A.p);
        a.size = pp_core_size(&sa);
        b.size = pp_core_size(&sb);
        perp_vec3 n = pp_vec(0.0, 0.0, 1.0);
        double s = pp_hull_separating_axis(&a, &b, -PP_INF, &n), slack = 2e-14 * (a.size + b.size);
        double faces = fmax(all_faces(&a, &b, &a, 1.0), all_faces(&a, &b, &b, -1.0));
        double want = faces > 0.0 ? faces : all_edges(&a, &b, faces);
        CHECK(fabs(pp_length(n) - 1.0) < 1e-14 && fabs(separation(&a, &b, n) - s) < slack, seed);
        CHECK(s > faces - slack && (s > 0.0) == (want > 0.0), seed);
        // apart, edges that are not on the Minkowski difference may have better axes: only distances are best then
        CHECK(want > 0.0 || fabs(s - want) < slack, seed);
        overlapping += want < 0.0;
    }
    print_message("%d overlapping pairs\n", overlapping);
    assert_true(overlapping > 400);
}

// Of hulls with neighbours, the cap has all vertices that are above its plane.
static void caps_are_whole(void **state)
{
    FOR_SEEDS(seed, 200)
    {
        rng r = rng_seed(seed);
        pp_arena_reset(*state);
        const pp_hull *hull = random_hull(&r, POINTS_MOST, *state);
        if (!hull || !hull->ring) {
            continue;
        }
        int cap[PP_CAP_MOST];
        perp_vec3 d =
            pp_unit(pp_vec(rng_normal(&r), rng_normal(&r), rng_normal(&r)), pp_vec(1, 0, 0));
        d = rng_below(&r, 3) ? d : pp_vec(0.0, 0.0, 1.0);
        double depth = pow(10.0, -rng_uniform(&r, 0.0, 12.0)), most = -PP_INF;
        int count = pp_hull_cap(hull, d, depth, cap);
        for (int k = 0; k < hull->vertices; k++) {
            most = fmax(most, pp_dot3(hull->vertex[k], d));
        }
        for (int k = 0; k < hull->vertices && count >= 0; k++) {
            bool in = false;
            for (int i = 0; i < count; i++) {
                in = in || cap[i] == k;
            }
            CHECK(in || pp_dot3(hull->vertex[k], d) < most - depth, seed);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(as_good_as_all_axes, setup, teardown),
        cmocka_unit_test_setup_teardown(caps_are_whole, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
