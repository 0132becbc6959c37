// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Forces and accelerations in joint coordinates against numbers of an independent program: three rods in a
// chain, with a tip held, a tip held twice, a constraint on velocities, limits, an impact.
#include "hybrid/moment.h"
#include "support/cmocka.h"
#include "support/data.h"
#include "support/random.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 3 };

static json_t *states;
static double mass[N], length[N];

static void numbers(json_t *list, double *out)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        out[i] = json_number_value(json_array_get(list, i));
    }
}

static int load(void **state)
{
    (void)state;
    char path[4096];
    if (!data_path("reference/D_generalized/generalized.json", path, sizeof path)) {
        return 0;
    }
    json_t *file = json_load_file(path, 0, NULL);
    states = json_incref(json_object_get(file, "states"));
    numbers(json_object_get(file, "m"), mass);
    numbers(json_object_get(file, "L"), length);
    json_decref(file);
    return 0;
}

static int unload(void **state)
{
    (void)state;
    json_decref(states);
    return 0;
}

// Rods along x at rest, pinned to each other; tip: so many joints that hold the end at a point.
static perp_model *build_arm(int tips, perp_vec3 point)
{
    perp_builder *b = perp_builder_create(NULL);
    perp_body rod[N];
    double x = 0.0;
    for (int i = 0; i < N; i++) {
        perp_body_def def = perp_body_default();
        def.position_W.x = x + 0.5 * length[i];
        def.mass = mass[i];
        def.inertia_zz = mass[i] * length[i] * length[i] / 12.0;
        rod[i] = perp_builder_add_body(b, &def);
        perp_joint_def pin = perp_joint_default();
        pin.a = i > 0 ? rod[i - 1] : (perp_body){0};
        pin.b = rod[i];
        pin.anchor_A.x = i > 0 ? 0.5 * length[i - 1] : 0.0;
        pin.anchor_B.x = -0.5 * length[i];
        perp_builder_add_joint(b, &pin);
        x += length[i];
    }
    for (int i = 0; i < tips; i++) {
        perp_joint_def tip = perp_joint_default();
        tip.b = rod[N - 1];
        tip.anchor_A = point;
        tip.anchor_B.x = 0.5 * length[N - 1];
        perp_builder_add_joint(b, &tip);
    }
    perp_model *model = NULL;
    assert_int_equal(perp_model_create(b, &model, NULL), PERP_OK);
    perp_builder_destroy(b);
    return model;
}

static void near(double got, double want, double scale)
{
    if (!(fabs(got - want) <= 1e-10 * scale)) {
        print_error("got %.17g, want %.17g\n", got, want);
        fail();
    }
}

static double largest(const double *x, int n)
{
    return pp_norm_inf(n, x);
}

typedef struct arm {
    perp_model *model;
    pp_tree tree;
    pp_arena *arena;
    pp_machine machine;
    double turn[8];
    perp_wrench applied[4];
} arm;

// u acts between neighbours: as a pair of torques on the rods.
static void start_arm(arm *a, int tips, perp_vec3 point, const double *u, double eps)
{
    *a = (arm){.model = build_arm(tips, point), .arena = pp_arena_create(NULL)};
    const int joints[N] = {0, 1, 2};
    assert_int_equal(pp_tree_create(&a->tree, a->model, joints, N, a->arena, NULL), PERP_OK);
    for (int i = 0; i < N; i++) {
        a->applied[i + 1].tau_W.z = u[i] - (i + 1 < N ? u[i + 1] : 0.0);
    }
    a->machine = (pp_machine){.model = a->model,
                              .tree = &a->tree,
                              .options = {.eps = eps},
                              .applied = a->applied,
                              .turn = a->turn,
                              .length = 1.0};
}

static void stop_arm(arm *a)
{
    pp_arena_destroy(a->arena);
    perp_model_destroy(a->model);
}

static perp_vec3 tip_of(const double *q)
{
    perp_vec3 p = {0.0, 0.0, 0.0};
    double angle = 0.0;
    for (int i = 0; i < N; i++) {
        angle += q[i];
        p.x += length[i] * cos(angle);
        p.y += length[i] * sin(angle);
    }
    return p;
}

// The joint of the tip is a - b turned: its equations are anchor b - anchor a.
static void check_tip(json_t *state, const char *name, int tips)
{
    double q[N], qd[N], u[N], phi[2] = {0.0, 0.0}, lambda[4], qdd[N], got[N], *r;
    json_t *want = json_object_get(state, name);
    json_t *plain = json_object_get(state, "tip_plain");
    json_t *eps = json_object_get(want, "eps");
    numbers(json_object_get(state, "q"), q);
    numbers(json_object_get(state, "qd"), qd);
    numbers(json_object_get(state, "u"), u);
    numbers(json_object_get(plain, "phi"), phi);
    numbers(json_object_get(want, "lam"), lambda);
    numbers(json_object_get(want, "qdd"), qdd);
    perp_vec3 tip = tip_of(q), point = {tip.x - phi[0], tip.y - phi[1], 0.0};
    arm a;
    start_arm(&a, tips, point, u, json_is_number(eps) ? json_number_value(eps) : PP_INF);
    pp_holds holds;
    pp_instant instant;
    pp_law_info info;
    assert_int_equal(pp_holds_start(&holds, &a.machine, a.arena), PERP_OK);
    assert_int_equal(holds.count, tips);
    assert_int_equal(pp_instant_make(&instant, &a.machine, 0.0, q, qd, &holds, true, a.arena),
                     PERP_OK);
    assert_int_equal(instant.rows, 2 * tips);
    double sign = instant.value[0] * phi[0] < 0.0 ? -1.0 : 1.0;
    assert_int_equal(
        pp_accelerate(&a.machine, &instant, &holds, PP_LOADS_ANY, got, &r, &info, a.arena),
        PERP_OK);
    assert_int_equal(info.rank, 2);
    for (int i = 0; i < N; i++) {
        near(got[i], qdd[i], largest(qdd, N));
    }
    for (int i = 0; i < 2 * tips; i++) {
        near(sign * r[i], lambda[i], largest(lambda, 2 * tips));
    }
    stop_arm(&a);
}

static void test_held_tip(void **state)
{
    (void)state;
    for (size_t i = 0; i < json_array_size(states); i++) {
        check_tip(json_array_get(states, i), "tip_plain", 1);
        check_tip(json_array_get(states, i), "tip_baumgarte", 1);
        check_tip(json_array_get(states, i), "tip_duplicated", 2);
    }
    if (!states) {
        skip();
    }
}

// H and qdd without lambda of a state, for constraints that no joint expresses.
static void plain(json_t *state, const char *rates, arm *a, pp_instant *instant)
{
    static double q[N], qd[N];
    double u[N];
    pp_holds none = {0};
    numbers(json_object_get(state, "q"), q);
    numbers(json_object_get(state, "qd"), qd);
    numbers(json_object_get(state, "u"), u);
    if (rates) {
        numbers(json_object_get(json_object_get(state, rates), "qd"), qd);
    }
    start_arm(a, 0, pp_vec(0.0, 0.0, 0.0), u, 0.05);
    assert_int_equal(pp_instant_make(instant, &a->machine, 0.0, q, qd, &none, true, a->arena),
                     PERP_OK);
}

// A = J H^-1 J^T and G = H^-1 J^T for rows J given in q_dot.
static void couple(const arm *a, const pp_instant *instant, const double *J, int rows, double *G,
                   double *A)
{
    for (int j = 0; j < rows; j++) {
        memcpy(G + N * j, J + N * j, N * sizeof *G);
        pp_tree_solve(&a->tree, instant->L, G + N * j);
    }
    for (int j = 0; j < rows; j++) {
        for (int i = 0; i < rows; i++) {
            A[i + j * rows] = pp_dot(N, J + N * i, G + N * j);
        }
    }
}

// psi = qd1 + 0.5 sin(q2) qd3 - 0.3, stabilised by psi / eps.
static void test_velocity_constraint(void **state)
{
    (void)state;
    for (size_t i = 0; i < json_array_size(states); i++) {
        json_t *s = json_array_get(states, i), *want = json_object_get(s, "velocity_constraint");
        double lambda[1], qdd[N], G[N], A[1], r[1];
        numbers(json_object_get(want, "lam"), lambda);
        numbers(json_object_get(want, "qdd"), qdd);
        arm a;
        pp_instant instant;
        plain(s, NULL, &a, &instant);
        const double *q = instant.q, *qd = instant.qd;
        const double J[N] = {1.0, 0.0, 0.5 * sin(q[1])};
        double psi = pp_dot(N, J, qd) - 0.3;
        double b = pp_dot(N, J, instant.free) + 0.5 * cos(q[1]) * qd[1] * qd[2] + psi / 0.05;
        couple(&a, &instant, J, 1, G, A);
        pp_law law = {.kind = PP_LAW_EQUAL, .size = 1, .mode = PP_HELD};
        pp_laws laws = {.count = 1, .rows = 1, .law = &law, .A = A, .b = &b, .tolerance = 1e-9};
        pp_law_info info;
        assert_int_equal(pp_law_linear(&laws, r, &info, a.arena), PERP_OK);
        near(r[0], lambda[0], fabs(lambda[0]));
        for (int k = 0; k < N; k++) {
            near(instant.free[k] + G[k] * r[0], qdd[k], largest(qdd, N));
        }
        stop_arm(&a);
    }
    if (!states) {
        skip();
    }
}

static const double LIMITS[N * N] = {1, 0, 0, 0, -1, 0, 0, 0, 1};

static void fill_laws(pp_law *law)
{
    for (int i = 0; i < N; i++) {
        law[i] = (pp_law){.kind = PP_LAW_CONTACT, .at = i, .size = 1};
    }
}

static void test_limits(void **state)
{
    (void)state;
    for (size_t i = 0; i < json_array_size(states); i++) {
        json_t *s = json_array_get(states, i), *want = json_object_get(s, "limits");
        double lambda[N], qdd[N], phi[N], G[N * N], A[N * N], b[N], r[N];
        numbers(json_object_get(want, "lam"), lambda);
        numbers(json_object_get(want, "qdd"), qdd);
        numbers(json_object_get(want, "phi"), phi);
        arm a;
        pp_instant instant;
        plain(s, "limits", &a, &instant);
        couple(&a, &instant, LIMITS, N, G, A);
        for (int k = 0; k < N; k++) {
            b[k] = pp_dot(N, LIMITS + N * k, instant.free) +
                   2.0 / 0.05 * pp_dot(N, LIMITS + N * k, instant.qd) + phi[k] / (0.05 * 0.05);
        }
        pp_law law[N];
        fill_laws(law);
        pp_laws laws = {.count = N, .rows = N, .law = law, .A = A, .b = b, .tolerance = 1e-9};
        pp_law_info info;
        assert_int_equal(pp_law_solve(&laws, r, &info, NULL, a.arena), PERP_OK);
        for (int k = 0; k < N; k++) {
            near(r[k], lambda[k], fmax(1.0, largest(lambda, N)));
            double sum = instant.free[k];
            for (int j = 0; j < N; j++) {
                sum += G[k + N * j] * r[j];
            }
            near(sum, qdd[k], largest(qdd, N));
        }
        stop_arm(&a);
    }
    if (!states) {
        skip();
    }
}

// The impact of three limits is a complementarity problem: what separates gets no impulse.
static void test_impact(void **state)
{
    (void)state;
    for (size_t i = 0; i < json_array_size(states); i++) {
        json_t *s = json_array_get(states, i), *want = json_object_get(s, "impact");
        double impulse[N], after[N], G[N * N], A[N * N], b[N], r[N];
        numbers(json_object_get(want, "impulse"), impulse);
        numbers(json_object_get(want, "qd_after"), after);
        arm a;
        pp_instant instant;
        plain(s, NULL, &a, &instant);
        couple(&a, &instant, LIMITS, N, G, A);
        for (int k = 0; k < N; k++) {
            b[k] = pp_dot(N, LIMITS + N * k, instant.qd);
        }
        pp_law law[N];
        fill_laws(law);
        pp_laws laws = {.count = N, .rows = N, .law = law, .A = A, .b = b, .tolerance = 1e-10};
        pp_law_info info;
        assert_int_equal(pp_law_solve(&laws, r, &info, NULL, a.arena), PERP_OK);
        for (int k = 0; k < N; k++) {
            near(r[k], impulse[k], fmax(1.0, largest(impulse, N)));
            double sum = instant.qd[k];
            for (int j = 0; j < N; j++) {
                sum += G[k + N * j] * r[j];
            }
            near(sum, after[k], fmax(1.0, largest(after, N)));
        }
        stop_arm(&a);
    }
    if (!states) {
        skip();
    }
}

// The four conditions of Moore and Penrose, through random systems of any rank.
static void test_pseudo_inverse(void **state)
{
    (void)state;
    enum { MOST = 9 };
    pp_arena *arena = pp_arena_create(NULL);
    FOR_SEEDS(seed, 300)
    {
        rng random = rng_seed(seed);
        int n = 1 + rng_below(&random, MOST), rank = rng_below(&random, n + 1);
        double U[MOST * MOST], V[MOST * MOST], A[MOST * MOST] = {0}, copy[MOST * MOST];
        double b[MOST], x[MOST], residual[MOST];
        for (int i = 0; i < n * rank; i++) {
            U[i] = rng_uniform(&random, -1.0, 1.0);
            V[i] = rng_uniform(&random, -1.0, 1.0);
        }
        for (int k = 0; k < rank; k++) {
            pp_ger(n, n, 1.0, U + n * k, V + n * k, A, n);
        }
        for (int i = 0; i < n; i++) {
            b[i] = residual[i] = rng_uniform(&random, -1.0, 1.0);
        }
        memcpy(copy, A, sizeof copy);
        pp_arena_reset(arena);
        CHECK(pp_least_solve(n, copy, b, x, NULL, 1e-10, arena) == rank, seed);
        pp_gemv(n, n, -1.0, A, n, x, residual);
        double normal[MOST] = {0}, size = 1.0 + pp_norm_inf(n, x);
        pp_gemv_t(n, n, 1.0, A, n, residual, normal);
        CHECK(pp_norm_inf(n, normal) <= 1e-9 * size, seed);
        // x lies in the row space: across to every vector that A takes to zero.
        double other[MOST], y[MOST], part[MOST] = {0};
        memcpy(copy, A, sizeof copy);
        pp_gemv(n, n, 1.0, A, n, x, part);
        memcpy(other, part, sizeof other);
        CHECK(pp_least_solve(n, copy, other, y, NULL, 1e-10, arena) == rank, seed);
        for (int i = 0; i < n; i++) {
            CHECK(fabs(x[i] - y[i]) <= 1e-8 * size, seed);
        }
    }
    pp_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_held_tip),       cmocka_unit_test(test_velocity_constraint),
        cmocka_unit_test(test_limits),         cmocka_unit_test(test_impact),
        cmocka_unit_test(test_pseudo_inverse),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
