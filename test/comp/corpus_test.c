// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// LCPs and MCPs with known solutions, through auto, lemke and enum: a corpus written by hand here, and
// the 250 problems of C_seeds/lcp_corpus.json where that file is present.
#include "support/cmocka.h"
#include "support/data.h"
#include "support/families.h"
#include "support/truth.h"

#include <jansson.h>
#include <math.h>
#include <perp/comp.h>
#include <string.h>

enum { MOST = 64, N_MAX = 12 };

// ── By hand ──────────────────────────────────────────────────────────────────────────────────────

#define INF HUGE_VAL

typedef struct hand {
    const char *name;
    int n;
    double A[16];  // by rows
    double b[4], lower[4], upper[4];
    int count;            // basic solutions
    double z[4][4];       // them, in any order
    bool lemke_may_fail;  // outside the class Lemke's method is proven for
} hand;

#define LCP_BOUNDS                                                                                 \
    {0},                                                                                           \
    {                                                                                              \
        INF, INF, INF, INF                                                                         \
    }

static const hand problems[] = {
    {"one, inactive", 1, {2}, {3}, LCP_BOUNDS, 1, {{0}}, false},
    {"one, active", 1, {2}, {-3}, LCP_BOUNDS, 1, {{1.5}}, false},
    {"zero row, feasible", 1, {0}, {1}, LCP_BOUNDS, 1, {{0}}, false},
    {"zero row, infeasible", 1, {0}, {-1}, LCP_BOUNDS, 0, {{0}}, false},
    {"negative, two solutions", 1, {-1}, {1}, LCP_BOUNDS, 2, {{0}, {1}}, true},
    {"negative, none", 1, {-1}, {-1}, LCP_BOUNDS, 0, {{0}}, true},
    {"nothing at all", 1, {0}, {0}, LCP_BOUNDS, 1, {{0}}, false},
    {"free variable: an equation", 1, {2}, {-3}, {-INF}, {INF}, 1, {{1.5}}, false},
    {"box, inside", 1, {2}, {-3}, {-1}, {2}, 1, {{1.5}}, false},
    {"box, at the upper bound", 1, {2}, {-3}, {-1}, {1}, 1, {{1}}, false},
    {"box, at the lower bound", 1, {2}, {3}, {-1}, {1}, 1, {{-1}}, false},
    {"box, negative: three solutions", 1, {-1}, {0}, {-1}, {1}, 3, {{-1}, {0}, {1}}, true},
    {"fixed variable", 1, {0}, {-5}, {2}, {2}, 1, {{2}}, false},
    {"upper bound only", 1, {1}, {-3}, {-INF}, {2}, 1, {{2}}, false},
    // CPS example 1.2: w = (5, 6) at z = 0 ... moved so that both are basic: 2 z1 + z2 = 5, z1 + 2 z2 = 6
    {"SPD, both active", 2, {2, 1, 1, 2}, {-5, -6}, LCP_BOUNDS, 1, {{4.0 / 3.0, 7.0 / 3.0}}, false},
    {"skew, solvable", 2, {0, 1, -1, 0}, {-1, 1}, LCP_BOUNDS, 1, {{1, 1}}, false},
    {"skew, infeasible", 2, {0, 1, -1, 0}, {1, -1}, LCP_BOUNDS, 0, {{0}}, false},
    {"PSD, infeasible", 2, {1, -1, -1, 1}, {-1, -1}, LCP_BOUNDS, 0, {{0}}, false},
    {"tie, CPS 4.4.16", 2, {1, -1, -1, 1}, {1, -1}, LCP_BOUNDS, 1, {{0, 1}}, false},
    {"ones: a segment, its ends basic",
     2,
     {1, 1, 1, 1},
     {-1, -1},
     LCP_BOUNDS,
     2,
     {{1, 0}, {0, 1}},
     false},
    {"vertex in a singular cone only", 2, {0, 0, 1, 0}, {0, -1}, LCP_BOUNDS, 1, {{1, 0}}, true},
    {"indefinite, three solutions",
     2,
     {1, 2, 2, 1},
     {-1, -1},
     LCP_BOUNDS,
     3,
     {{1, 0}, {0, 1}, {1.0 / 3.0, 1.0 / 3.0}},
     false},
    {"Kostreva",
     3,
     {1, 2, 0, 0, 1, 2, 2, 0, 1},
     {-1, -1, -1},
     LCP_BOUNDS,
     1,
     {{1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0}},
     false},
    {"Pang, isolated",
     3,
     {0, -1, -1, 1, 0, 0, -1, 0, 0},
     {0, -1, 1},
     LCP_BOUNDS,
     1,
     {{1, 0, 0}},
     true},
    // x + y = 2 with x free, y >= 0 and w_y = y - x + 1 >= 0: x = 1.5, y = 0.5
    {"equation and pair", 2, {1, 1, -1, 1}, {-2, 1}, {-INF, 0}, {INF, INF}, 1, {{1.5, 0.5}}, false},
    {"two free variables, dependent",
     2,
     {1, 1, 1, 1},
     {-1, -1},
     {-INF, -INF},
     {INF, INF},
     1,
     {{1, 0}},
     true},
    {"two free variables, contradictory",
     2,
     {1, 1, 1, 1},
     {-1, -2},
     {-INF, -INF},
     {INF, INF},
     0,
     {{0}},
     true},
    // rows in units 1e12 apart: z = (1, 1e-12)
    {"units", 2, {1, 0, 0, 1e12}, {-1, -1}, LCP_BOUNDS, 1, {{1, 1e-12}}, false},
    {"units, coupled", 2, {2e12, 1, 1, 2e-12}, {-3e6, -3e-6}, LCP_BOUNDS, 1, {{1e-6, 1e6}}, false},
    {"four: Tucker's game",
     4,
     {0, 0, 10, 20, 0, 0, 30, 15, 10, 20, 0, 0, 30, 15, 0, 0},
     {-1, -1, -1, -1},
     LCP_BOUNDS,
     3,
     {{0.1, 0, 0.1, 0}, {0, 1.0 / 15, 0, 1.0 / 15}, {1.0 / 90, 2.0 / 45, 1.0 / 90, 2.0 / 45}},
     true},
};

enum { PROBLEM_COUNT = sizeof problems / sizeof problems[0] };

static perp_mcp load(const hand *h, double *A)
{
    for (int i = 0; i < h->n; i++) {
        for (int j = 0; j < h->n; j++) {
            A[i + j * h->n] = h->A[i * h->n + j];
        }
    }
    return (perp_mcp){h->n, perp_matrix_dense(h->n, h->n, A), h->b, h->lower, h->upper};
}

static bool near(int n, const double *a, const double *b, double tolerance)
{
    for (int i = 0; i < n; i++) {
        if (!(fabs(a[i] - b[i]) <= tolerance * (fabs(b[i]) > 1.0 ? fabs(b[i]) : 1.0))) {
            return false;
        }
    }
    return true;
}

static bool listed(int n, const double *z, int count, const double *all, int stride)
{
    for (int k = 0; k < count; k++) {
        if (near(n, z, all + k * stride, 1e-7)) {
            return true;
        }
    }
    return false;
}

static void enumerates_the_solutions_by_hand(void **state)
{
    (void)state;
    for (int k = 0; k < PROBLEM_COUNT; k++) {
        const hand *h = &problems[k];
        double A[16], z[MOST * 4];
        int count = -1;
        perp_mcp mcp = load(h, A);
        assert_int_equal(perp_mcp_enumerate(&mcp, NULL, MOST, z, &count), PERP_OK);
        if (count != h->count) {
            fail_msg("%s: %d basic solutions instead of %d", h->name, count, h->count);
        }
        for (int s = 0; s < count; s++) {
            if (!listed(h->n, z + s * h->n, h->count, h->z[0], 4)) {
                fail_msg("%s: solution %d is not one of those known", h->name, s);
            }
        }
    }
}

static void solves_by_hand(const char *solver)
{
    for (int k = 0; k < PROBLEM_COUNT; k++) {
        const hand *h = &problems[k];
        double A[16], z[4];
        perp_mcp mcp = load(h, A);
        perp_comp_info info;
        perp_status status = perp_mcp_solve(solver, &mcp, NULL, NULL, z, &info);
        bool may_fail = h->lemke_may_fail && strcmp(solver, "lemke") == 0;
        if (h->count == 0 ? status >= 0 : status < 0 && !may_fail) {
            fail_msg("%s, %s: %s (%s)", solver, h->name, perp_status_word(status), info.error.text);
        }
        if (status == PERP_ERR_INFEASIBLE && h->count > 0) {
            fail_msg("%s, %s: a false proof of infeasibility", solver, h->name);
        }
        if (status >= 0 && !(truth_plain(&mcp, z) <= 1e-9)) {
            fail_msg("%s, %s: residual %g", solver, h->name, truth_plain(&mcp, z));
        }
    }
}

static void auto_solves_by_hand(void **state)
{
    (void)state;
    solves_by_hand("auto");
}

static void lemke_solves_by_hand(void **state)
{
    (void)state;
    solves_by_hand("lemke");
}

static void enum_solves_by_hand(void **state)
{
    (void)state;
    solves_by_hand("enum");
}

// ── The corpus file ──────────────────────────────────────────────────────────────────────────────

typedef struct seed {
    int n, count;
    const char *family;
    double A[N_MAX * N_MAX], b[N_MAX], z[MOST * N_MAX];
    double a_max, b_max;
    perp_mcp mcp;
} seed;

static json_t *open_corpus(void)
{
    char path[512];
    json_error_t error;
    if (!data_path("reference/C_seeds/lcp_corpus.json", path, sizeof path)) {
        return NULL;
    }
    json_t *root = json_load_file(path, 0, &error);
    assert_non_null(root);
    return root;
}

static void load_seed(const json_t *from, seed *s)
{
    const json_t *A = json_object_get(from, "A"), *b = json_object_get(from, "b");
    const json_t *known = json_object_get(from, "basic_solutions");
    s->n = (int)json_array_size(b);
    s->count = (int)json_array_size(known);
    s->family = json_string_value(json_object_get(from, "family"));
    s->a_max = s->b_max = 0.0;
    assert_true(s->n <= N_MAX && s->count <= MOST);
    for (int i = 0; i < s->n; i++) {
        s->b[i] = json_number_value(json_array_get(b, (size_t)i));
        s->b_max = fmax(s->b_max, fabs(s->b[i]));
        for (int j = 0; j < s->n; j++) {
            const json_t *row = json_array_get(A, (size_t)i);
            double a = json_number_value(json_array_get(row, (size_t)j));
            s->A[i + j * s->n] = a;
            s->a_max = fmax(s->a_max, fabs(a));
        }
        for (int k = 0; k < s->count; k++) {
            const json_t *z = json_array_get(known, (size_t)k);
            s->z[k * s->n + i] = json_number_value(json_array_get(z, (size_t)i));
        }
    }
    s->mcp = perp_mcp_from_lcp(s->n, perp_matrix_dense(s->n, s->n, s->A), s->b);
}

// The corpus' own rule: max|min(z, w)| <= 1e-9 (1 + |b| + 1e-3 |A| |z|).
static bool passes(const seed *s, const double *z)
{
    double worst = 0.0, z_max = 0.0;
    for (int i = 0; i < s->n; i++) {
        double w = s->b[i];
        for (int j = 0; j < s->n; j++) {
            w += s->A[i + j * s->n] * z[j];
        }
        worst = fmax(worst, fabs(fmin(z[i], w)));
        z_max = fmax(z_max, fabs(z[i]));
    }
    return worst <= 1e-9 * (1.0 + s->b_max + 1e-3 * s->a_max * z_max);
}

static void each_seed(void (*visit)(const seed *s, int index))
{
    json_t *root = open_corpus();
    if (!root) {
        print_message("lcp_corpus.json is not here: skipped\n");
        skip();
    }
    const json_t *list = json_object_get(root, "problems");
    seed s;
    assert_true(json_array_size(list) >= 250);
    for (size_t k = 0; k < json_array_size(list); k++) {
        load_seed(json_array_get(list, k), &s);
        visit(&s, (int)k);
    }
    json_decref(root);
}

// Whether z is fixed by the rows with w = 0 alone: the columns of z > 0 are independent in them. A
// "basis" that is regular only by rounding gives points of a segment that are not its ends.
static bool is_vertex(const seed *s, const double *z)
{
    double G[N_MAX][N_MAX];
    int rows = 0, columns = 0, rank = 0;
    for (int i = 0; i < s->n; i++) {
        double w = s->b[i];
        for (int j = 0; j < s->n; j++) {
            w += s->A[i + j * s->n] * z[j];
        }
        columns = 0;
        for (int j = 0; j < s->n; j++) {
            if (z[j] > 1e-9) {
                G[rows][columns++] = s->A[i + j * s->n];
            }
        }
        rows += fabs(w) < 1e-9;
    }
    for (int j = 0; j < columns; j++) {
        int best = rank;
        for (int i = rank; i < rows; i++) {
            best = fabs(G[i][j]) > fabs(G[best][j]) ? i : best;
        }
        if (rank == rows || fabs(G[best][j]) < 1e-9 * s->a_max) {
            return false;
        }
        for (int k = 0; k < columns; k++) {
            double t = G[rank][k];
            G[rank][k] = G[best][k], G[best][k] = t;
        }
        for (int i = rank + 1; i < rows; i++) {
            for (int k = columns - 1; k >= j; k--) {
                G[i][k] -= G[rank][k] * G[i][j] / G[rank][j];
            }
        }
        rank++;
    }
    return true;
}

static void enumerate_seed(const seed *s, int index)
{
    double z[MOST * N_MAX];
    int count = -1;
    assert_int_equal(perp_mcp_enumerate(&s->mcp, NULL, MOST, z, &count), PERP_OK);
    for (int k = 0; k < count; k++) {
        if (!passes(s, z + k * s->n)) {
            fail_msg("%d (%s): solution %d does not pass", index, s->family, k);
        }
    }
    for (int k = 0; k < s->count; k++) {
        if (is_vertex(s, s->z + k * s->n) && !listed(s->n, s->z + k * s->n, count, z, s->n)) {
            fail_msg("%d (%s): known solution %d is missing", index, s->family, k);
        }
    }
    // These two have blocks that are exactly singular, whose vertices the corpus does not list.
    bool singular = strcmp(s->family, "friction") == 0 || strcmp(s->family, "degenerate") == 0;
    if (count != s->count && !singular) {
        fail_msg("%d (%s): %d solutions instead of %d", index, s->family, count, s->count);
    }
}

static void solve_seed(const char *solver, const seed *s, int index)
{
    double z[N_MAX];
    perp_comp_info info;
    perp_status status = perp_mcp_solve(solver, &s->mcp, NULL, NULL, z, &info);
    bool must = strcmp(solver, "lemke") != 0 || strcmp(s->family, "general") != 0;
    if (s->count == 0 ? status >= 0 : must && status < 0) {
        fail_msg("%s, %d (%s, n = %d): %s, %s", solver, index, s->family, s->n,
                 perp_status_word(status), info.error.text);
    }
    if (status >= 0 && !passes(s, z)) {
        fail_msg("%s, %d (%s): accepted, but does not pass", solver, index, s->family);
    }
}

static void auto_seed(const seed *s, int index)
{
    solve_seed("auto", s, index);
}

static void lemke_seed(const seed *s, int index)
{
    solve_seed("lemke", s, index);
}

static void enum_seed(const seed *s, int index)
{
    solve_seed("enum", s, index);
}

static void enumerates_the_corpus(void **state)
{
    (void)state;
    each_seed(enumerate_seed);
}

static void auto_solves_the_corpus(void **state)
{
    (void)state;
    each_seed(auto_seed);
}

static void lemke_solves_the_corpus(void **state)
{
    (void)state;
    each_seed(lemke_seed);
}

static void enum_solves_the_corpus(void **state)
{
    (void)state;
    each_seed(enum_seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enumerates_the_solutions_by_hand),
        cmocka_unit_test(enum_solves_by_hand),
        cmocka_unit_test(auto_solves_by_hand),
        cmocka_unit_test(lemke_solves_by_hand),
        cmocka_unit_test(enumerates_the_corpus),
        cmocka_unit_test(enum_solves_the_corpus),
        cmocka_unit_test(auto_solves_the_corpus),
        cmocka_unit_test(lemke_solves_the_corpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
