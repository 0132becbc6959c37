// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Large sparse nonlinear MCPs of fixed pattern, as a time stepper poses them: obstacle and Bratu problems on a grid,
// the journal bearing, an American option step by step with warm starts and one workspace. Compared with the linear
// solvers, with smooth solves, with published values, and with the Jacobian by coloured differences.
#include "support/cmocka.h"

#include <perp/ncp.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Laplacian of m x m inner points of the unit square with a load and a nonlinear term:
// F = -lap u - load - mu exp(u) + k u^3, written times h^2.
typedef struct grid {
    int m, n;
    double h, load, mu, cubic;
    int *p, *i;
    double *lower, *upper;
    int calls;
} grid;

static grid *grid_create(int m)
{
    grid *g = calloc(1, sizeof *g);
    assert_non_null(g);
    g->m = m;
    g->n = m * m;
    g->h = 1.0 / (m + 1);
    g->p = calloc((size_t)g->n + 1, sizeof *g->p);
    g->i = calloc(5 * (size_t)g->n, sizeof *g->i);
    g->lower = calloc((size_t)g->n, sizeof *g->lower);
    g->upper = calloc((size_t)g->n, sizeof *g->upper);
    assert_true(g->p && g->i && g->lower && g->upper);
    int used = 0;
    for (int j = 0; j < g->n; j++) {
        int x = j % m, y = j / m;
        // rows ascend
        const int row[] = {y > 0 ? j - m : -1, x > 0 ? j - 1 : -1, j, x < m - 1 ? j + 1 : -1,
                           y < m - 1 ? j + m : -1};
        for (int k = 0; k < 5; k++) {
            if (row[k] >= 0) {
                g->i[used++] = row[k];
            }
        }
        g->p[j + 1] = used;
        g->lower[j] = -HUGE_VAL;
        g->upper[j] = HUGE_VAL;
    }
    return g;
}

static void grid_destroy(grid *g)
{
    free(g->p), free(g->i), free(g->lower), free(g->upper), free(g);
}

static perp_status grid_function(void *user, const double *u, double *F)
{
    grid *g = user;
    g->calls++;
    for (int j = 0; j < g->n; j++) {
        int x = j % g->m, y = j / g->m;
        double sum = 4.0 * u[j];
        sum -= x > 0 ? u[j - 1] : 0.0;
        sum -= x < g->m - 1 ? u[j + 1] : 0.0;
        sum -= y > 0 ? u[j - g->m] : 0.0;
        sum -= y < g->m - 1 ? u[j + g->m] : 0.0;
        F[j] = sum + g->h * g->h * (g->cubic * u[j] * u[j] * u[j] - g->mu * exp(u[j]) - g->load);
    }
    return PERP_OK;
}

static perp_status grid_jacobian(void *user, const double *u, double *x)
{
    grid *g = user;
    for (int j = 0; j < g->n; j++) {
        for (int k = g->p[j]; k < g->p[j + 1]; k++) {
            double nonlinear = 3.0 * g->cubic * u[j] * u[j] - g->mu * exp(u[j]);
            x[k] = g->i[k] == j ? 4.0 + g->h * g->h * nonlinear : -1.0;
        }
    }
    return PERP_OK;
}

static perp_ncp grid_ncp(grid *g)
{
    return (perp_ncp){.n = g->n,
                      .lower = g->lower,
                      .upper = g->upper,
                      .function = grid_function,
                      .jacobian = grid_jacobian,
                      .p = g->p,
                      .i = g->i,
                      .user = g};
}

static double distance(int n, const double *a, const double *b)
{
    double most = 0.0;
    for (int k = 0; k < n; k++) {
        most = fmax(most, fabs(a[k] - b[k]));
    }
    return most;
}

// The hill under the membrane.
static void put_hill(grid *g)
{
    g->load = -8.0;
    for (int j = 0; j < g->n; j++) {
        int line = j / g->m;
        double x = (j % g->m + 1) * g->h - 0.5, y = (line + 1.0) * g->h - 0.5;
        g->lower[j] = -0.2 - x * x - y * y;
    }
}

// The membrane over a hill: linear, so that the solvers of linear MCPs have the same answer.
static void obstacle_agrees_with_the_linear_solvers(void **state)
{
    (void)state;
    grid *g = grid_create(
        40);  // linear problems that ask for more accuracy than it has take lemke hundreds of pivots
    put_hill(g);
    perp_ncp ncp = grid_ncp(g);
    double *z = calloc((size_t)g->n, sizeof *z), *linear = calloc((size_t)g->n, sizeof *z);
    double *x = calloc((size_t)g->p[g->n], sizeof *x), *b = calloc((size_t)g->n, sizeof *b);
    perp_comp_info info;
    assert_int_equal(perp_ncp_solve(NULL, &ncp, NULL, NULL, z, &info), PERP_OK);
    assert_true(info.iterations <= 4);
    grid_jacobian(g, z, x);
    for (int j = 0; j < g->n; j++) {
        b[j] = -g->h * g->h * g->load;
    }
    perp_mcp mcp = {.n = g->n,
                    .A = perp_matrix_csc(g->n, g->n, g->p, g->i, x),
                    .b = b,
                    .lower = g->lower,
                    .upper = g->upper};
    assert_int_equal(perp_mcp_solve("pivot", &mcp, NULL, NULL, linear, NULL), PERP_OK);
    assert_true(distance(g->n, z, linear) < 1e-9);
    int touching = 0;
    for (int j = 0; j < g->n; j++) {
        touching += z[j] == g->lower[j];
    }
    assert_in_range(touching, 10, g->n - 10);
    free(z), free(linear), free(x), free(b);
    grid_destroy(g);
}

// A fine grid takes as many exchanges of pivot as the contact has layers, and little more: its answer was declined where the
// rounding of a row was estimated from all variables instead of the five in the row, and other solvers took four times as long.
static void a_fine_grid_is_solved_by_exchanges(void **state)
{
    (void)state;
    enum { WIDTH = 80 };
    grid *g = grid_create(WIDTH);
    put_hill(g);
    perp_ncp ncp = grid_ncp(g);
    double *z = calloc((size_t)WIDTH * WIDTH, sizeof *z);
    perp_comp_options options = perp_comp_options_default();
    options.max_work = 40.0;  // takes 34, and 44 where other solvers follow
    assert_int_equal(perp_ncp_solve(NULL, &ncp, &options, NULL, z, NULL), PERP_OK);
    free(z);
    grid_destroy(g);
}

// -lap u = mu e^u, the branch below the fold (mu = 6.808, where the maximum is 1.39). Under a lid the answer rests on
// it, and differences find the same one.
static void bratu_with_and_without_a_lid(void **state)
{
    (void)state;
    grid *g = grid_create(21);
    g->mu = 6.0;
    perp_ncp ncp = grid_ncp(g);
    double *z = calloc((size_t)g->n, sizeof *z), *other = calloc((size_t)g->n, sizeof *z);
    perp_comp_info info;
    assert_int_equal(perp_ncp_solve(NULL, &ncp, NULL, NULL, z, &info), PERP_OK);
    assert_true(info.iterations <= 12);
    double peak = z[g->n / 2], F[21 * 21];
    assert_true(peak > 0.5 && peak < 1.39);
    grid_function(g, z, F);
    for (int j = 0; j < g->n; j++) {
        assert_true(fabs(F[j]) < 1e-10);
    }
    // the lid presses where the free answer is higher
    for (int j = 0; j < g->n; j++) {
        g->upper[j] = 0.5 * peak;
    }
    assert_int_equal(perp_ncp_solve(NULL, &ncp, NULL, NULL, z, &info), PERP_OK);
    assert_true(z[g->n / 2] == 0.5 * peak);
    ncp.jacobian = NULL;
    g->calls = 0;
    assert_int_equal(perp_ncp_solve(NULL, &ncp, NULL, NULL, other, &info), PERP_OK);
    assert_true(distance(g->n, z, other) < 1e-7);
    // a five-point pattern has few colours: far fewer evaluations than 441 a Jacobian
    assert_true(info.evaluations <= 30 * (info.jacobians + 1) + 200);
    free(z), free(other);
    grid_destroy(g);
}

// A stiff nonlinear membrane against a smooth reference: Newton on the equations, by differences of h.
static void cubic_membrane_without_contact_is_a_smooth_solve(void **state)
{
    (void)state;
    grid *g = grid_create(15);
    g->load = 100.0;
    g->cubic = 50.0;
    perp_ncp ncp = grid_ncp(g);
    double *z = calloc((size_t)g->n, sizeof *z), *F = calloc((size_t)g->n, sizeof *F);
    assert_int_equal(perp_ncp_solve(NULL, &ncp, NULL, NULL, z, NULL), PERP_OK);
    // fixed point of Gauss-Seidel sweeps, each point by scalar Newton steps
    double *u = calloc((size_t)g->n, sizeof *u);
    for (int sweep = 0; sweep < 2000; sweep++) {
        for (int j = 0; j < g->n; j++) {
            for (int k = 0; k < 3; k++) {
                int x = j % g->m, y = j / g->m;
                double sum = 4.0 * u[j] - (x > 0 ? u[j - 1] : 0.0) -
                             (x < g->m - 1 ? u[j + 1] : 0.0) - (y > 0 ? u[j - g->m] : 0.0) -
                             (y < g->m - 1 ? u[j + g->m] : 0.0);
                double h2 = g->h * g->h;
                double value = sum + h2 * (g->cubic * u[j] * u[j] * u[j] - g->load);
                u[j] -= value / (4.0 + 3.0 * h2 * g->cubic * u[j] * u[j]);
            }
        }
    }
    assert_true(distance(g->n, z, u) < 1e-9);
    free(z), free(F), free(u);
    grid_destroy(g);
}

// ── The journal bearing ──────────────────────────────────────────────────────────────────────────

// Reynolds' equation over the angle, (H^3 p')' = 6 dH/dtheta with H = 1 + eps cos theta, p >= 0 where the film breaks
// (Cryer 1971), n points of 0..2 pi.
enum { BEARING = 99 };

static perp_status bearing_function(void *user, const double *p, double *F)
{
    double eps = *(double *)user, h = 2.0 * 3.14159265358979323846 / (BEARING + 1);
    for (int i = 0; i < BEARING; i++) {
        double left = pow(1.0 + eps * cos((i + 0.5) * h), 3.0);
        double right = pow(1.0 + eps * cos((i + 1.5) * h), 3.0);
        double below = i > 0 ? p[i - 1] : 0.0, above = i < BEARING - 1 ? p[i + 1] : 0.0;
        double film = (1.0 + eps * cos((i + 1.5) * h)) - (1.0 + eps * cos((i + 0.5) * h));
        F[i] = left * (p[i] - below) + right * (p[i] - above) + h * film * 6.0;
    }
    return PERP_OK;
}

static void the_film_of_a_bearing_breaks(void **state)
{
    (void)state;
    double eps = 0.8, p[BEARING];
    perp_ncp ncp = {.n = BEARING, .function = bearing_function, .user = &eps};
    perp_comp_info info;
    assert_int_equal(perp_ncp_solve(NULL, &ncp, NULL, NULL, p, &info), PERP_OK);
    // one interval of pressure from the inlet, then cavitation, beyond the narrowest film
    int last = 0;
    for (int i = 0; i < BEARING; i++) {
        last = p[i] > 0.0 ? i : last;
    }
    assert_true(last > BEARING / 2 && last < BEARING - 5);
    for (int i = 0; i <= last; i++) {
        assert_true(p[i] > 0.0);
    }
    // F with eps is linear in p: lemke has the same answer
    double zero[BEARING] = {0}, b[BEARING], column[BEARING], lcp[BEARING];
    double *A = calloc((size_t)BEARING * BEARING, sizeof *A);
    bearing_function(&eps, zero, b);
    for (int j = 0; j < BEARING; j++) {
        zero[j] = 1.0;
        bearing_function(&eps, zero, column);
        zero[j] = 0.0;
        for (int i = 0; i < BEARING; i++) {
            A[(size_t)j * BEARING + (size_t)i] = column[i] - b[i];
        }
    }
    perp_mcp mcp = perp_mcp_from_lcp(BEARING, perp_matrix_dense(BEARING, BEARING, A), b);
    assert_int_equal(perp_mcp_solve("lemke", &mcp, NULL, NULL, lcp, NULL), PERP_OK);
    assert_true(distance(BEARING, p, lcp) < 1e-6 * lcp[BEARING / 3]);
    free(A);
}

// ── An American put, in time steps ───────────────────────────────────────────────────────────────

// Black and Scholes in x = log(S / K), Crank-Nicolson; the value is at least the payoff.
enum { PRICES = 400, STEPS = 200 };

typedef struct option {
    double payoff[PRICES], before[PRICES], lower_diagonal, diagonal, upper_diagonal;
    double low, high;  // values beyond the grid
    int p[PRICES + 1], i[3 * PRICES];
} option;

static double applied(const option *o, const double *v, int i)
{
    double below = i > 0 ? v[i - 1] : o->low, above = i < PRICES - 1 ? v[i + 1] : o->high;
    return o->lower_diagonal * below + o->diagonal * v[i] + o->upper_diagonal * above;
}

// (v - before) / dt = (L v + L before) / 2, with dt in the coefficients
static perp_status option_function(void *user, const double *v, double *F)
{
    const option *o = user;
    for (int i = 0; i < PRICES; i++) {
        F[i] = v[i] - o->before[i] - 0.5 * (applied(o, v, i) + applied(o, o->before, i));
    }
    return PERP_OK;
}

static perp_status option_jacobian(void *user, const double *v, double *x)
{
    const option *o = user;
    (void)v;
    for (int j = 0; j < PRICES; j++) {
        for (int k = o->p[j]; k < o->p[j + 1]; k++) {
            double part = o->diagonal;
            if (o->i[k] == j - 1) {
                part = o->upper_diagonal;
            } else if (o->i[k] == j + 1) {
                part = o->lower_diagonal;
            }
            x[k] = (o->i[k] == j ? 1.0 : 0.0) - 0.5 * part;
        }
    }
    return PERP_OK;
}

// S = K = 40, r = 0.06, sigma = 0.2, one year: 2.314 by finite differences (Longstaff, Schwartz 2001, table 1, S = 40).
static void an_american_put_has_its_published_value(void **state)
{
    (void)state;
    static option o;
    double K = 40.0, r = 0.06, sigma = 0.2, T = 1.0, reach = 1.5;
    double dx = 2.0 * reach / (PRICES - 1), dt = T / STEPS;
    double drift = (r - 0.5 * sigma * sigma) / (2.0 * dx), spread = 0.5 * sigma * sigma / (dx * dx);
    o.lower_diagonal = dt * (spread - drift);
    o.upper_diagonal = dt * (spread + drift);
    o.diagonal = dt * (-2.0 * spread - r);
    o.low = K;
    int used = 0;
    double v[PRICES];
    for (int j = 0; j < PRICES; j++) {
        o.payoff[j] = fmax(K - K * exp(-reach + j * dx), 0.0);
        v[j] = o.payoff[j];
        for (int i = j - 1; i <= j + 1; i++) {
            if (i >= 0 && i < PRICES) {
                o.i[used++] = i;
            }
        }
        o.p[j + 1] = used;
    }
    o.low = fmax(K - K * exp(-reach - dx), 0.0);
    perp_ncp ncp = {.n = PRICES,
                    .lower = o.payoff,
                    .function = option_function,
                    .jacobian = option_jacobian,
                    .p = o.p,
                    .i = o.i,
                    .user = &o};
    // the loop of a time stepper: one workspace, z and basis of the last step
    perp_workspace *work = perp_workspace_create(NULL);
    assert_non_null(work);
    int8_t basis[PRICES];
    perp_comp_options options = perp_comp_options_default();
    options.work = work;
    options.basis = basis;
    int iterations = 0;
    for (int step = 0; step < STEPS; step++) {
        perp_comp_info info;
        memcpy(o.before, v, sizeof v);
        options.warm_start = step > 0;
        assert_int_equal(perp_ncp_solve(NULL, &ncp, &options, NULL, v, &info), PERP_OK);
        iterations += step > 0 ? info.iterations : 0;
    }
    perp_workspace_destroy(work);
    // at S = 40, between two points of the grid
    double middle = 0.5 * (v[PRICES / 2 - 1] + v[PRICES / 2]);
    assert_true(fabs(middle - 2.314) < 0.01);
    // warm: two linear problems a step at most, on average
    assert_true(iterations <= 2 * STEPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(obstacle_agrees_with_the_linear_solvers),
        cmocka_unit_test(a_fine_grid_is_solved_by_exchanges),
        cmocka_unit_test(bratu_with_and_without_a_lid),
        cmocka_unit_test(cubic_membrane_without_contact_is_a_smooth_solve),
        cmocka_unit_test(the_film_of_a_bearing_breaks),
        cmocka_unit_test(an_american_put_has_its_published_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
