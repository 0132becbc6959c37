// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The integrator between events against closed forms: errors at the end and within steps, evaluations, stiff machines,
// right-hand sides that fail, coefficients that integrate polynomials exactly.
#include "hybrid/multistep.h"
#include "hybrid/ode.h"
#include "support/cmocka.h"

#include <math.h>

typedef struct problem {
    int n;
    pp_ode_rate rate;
    void (*exact)(double t, double *y);
    double start, end;
    int64_t evaluations;
    double fail_from, fail_to;  // [s] the right-hand side fails between them
    perp_status failure;
    double stiffness;
} problem;

// ── Problems ─────────────────────────────────────────────────────────────────────────────────────

// Kepler's problem, eccentricity 0.6 at pericentre; y = (x, z, x', z').
static const double ECCENTRICITY = 0.6;

static perp_status kepler_rate(void *user, double t, const double *y, double *f)
{
    problem *p = user;
    double r2 = y[0] * y[0] + y[1] * y[1], r3 = r2 * sqrt(r2);
    (void)t;
    p->evaluations++;
    f[0] = y[2];
    f[1] = y[3];
    f[2] = -y[0] / r3;
    f[3] = -y[1] / r3;
    return PERP_OK;
}

static void kepler(double t, double *y)
{
    double e = ECCENTRICITY, E = t;
    for (int k = 0; k < 60; k++) {
        E -= (E - e * sin(E) - t) / (1.0 - e * cos(E));
    }
    double b = sqrt(1.0 - e * e), rate = 1.0 / (1.0 - e * cos(E));
    y[0] = cos(E) - e;
    y[1] = b * sin(E);
    y[2] = -sin(E) * rate;
    y[3] = b * cos(E) * rate;
}

// y' = -k (y - cos t) - sin t: the solution cos t, whatever k.
static perp_status relaxation_rate(void *user, double t, const double *y, double *f)
{
    problem *p = user;
    p->evaluations++;
    if (t > p->fail_from && t < p->fail_to) {
        return p->failure;
    }
    f[0] = -p->stiffness * (y[0] - cos(t)) - sin(t);
    return PERP_OK;
}

static void relaxation(double t, double *y)
{
    y[0] = cos(t);
}

// ── Running ──────────────────────────────────────────────────────────────────────────────────────

typedef struct outcome {
    double error, inside;  // largest errors at ends of steps, and within steps
    int steps;
    bool stiff;
    perp_status status;
} outcome;

static double error_at(const problem *p, double t, const double *y)
{
    double exact[4], most = 0.0;
    p->exact(t, exact);
    for (int i = 0; i < p->n; i++) {
        most = fmax(most, fabs(y[i] - exact[i]));
    }
    return most;
}

static outcome integrate(problem *p, double tolerance, double longest)
{
    outcome out = {0};
    pp_ode *ode = NULL;
    double y[4], t0 = p->start, t1 = p->start;
    p->exact(p->start, y);
    p->evaluations = 0;
    out.status = pp_ode_create(&ode, p->n, p->rate, p, tolerance, tolerance, NULL);
    assert_int_equal(out.status, PERP_OK);
    assert_int_equal(pp_ode_start(ode, p->start, y, p->end), PERP_OK);
    assert_int_equal(pp_ode_limit(ode, longest), PERP_OK);
    while (t1 < p->end) {
        out.status = pp_ode_step(ode, &t0, &t1);
        if (out.status < 0) {
            break;
        }
        assert_true(t1 > t0 && t1 <= p->end && t1 - t0 <= 1.000001 * longest);
        assert_true(pp_ode_error(ode, p->n, (double[]){1.0, 1.0, 1.0, 1.0}) < 10.0 * tolerance);
        for (int k = 0; k <= 4; k++) {
            double t = t0 + 0.25 * k * (t1 - t0);
            assert_int_equal(pp_ode_at(ode, t, y), PERP_OK);
            double *most = k == 4 ? &out.error : &out.inside;
            *most = fmax(*most, error_at(p, t, y));
        }
        out.steps++;
    }
    out.stiff = pp_ode_stiff(ode);
    pp_ode_destroy(ode);
    return out;
}

// ── Tests ────────────────────────────────────────────────────────────────────────────────────────

// Three orbits, which amplify errors a thousandfold. CVODE 6.4.1, whose steps and orders are chosen by the same rules, has
// errors of 1.7e-3, 3.3e-6 and 1.5e-9 after 442, 985 and 2504 evaluations.
static void orbits(void **state)
{
    (void)state;
    const struct {
        double tolerance, error;
        int64_t evaluations;
    } cases[] = {{1e-6, 4e-3, 480}, {1e-9, 1.5e-5, 1080}, {1e-13, 4e-9, 2700}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        problem p = {.n = 4, .rate = kepler_rate, .exact = kepler, .end = 18.0};
        outcome o = integrate(&p, cases[k].tolerance, PP_INF);
        assert_true(o.status == PERP_OK && !o.stiff);
        assert_true(o.error < cases[k].error && o.inside < cases[k].error);
        assert_true(p.evaluations < cases[k].evaluations);
    }
}

// Backward differentiation takes over, and needs few evaluations: stability would limit Adams methods to steps of 2e-6 s.
static void stiff_relaxation(void **state)
{
    (void)state;
    problem p = {
        .n = 1, .rate = relaxation_rate, .exact = relaxation, .end = 6.0, .stiffness = 1e6};
    outcome o = integrate(&p, 1e-8, PP_INF);
    assert_true(o.status == PERP_OK && o.stiff);
    assert_true(o.error < 1e-7 && o.inside < 1e-7 && p.evaluations < 600);
}

static void bounded_steps(void **state)
{
    (void)state;
    problem p = {
        .n = 1, .rate = relaxation_rate, .exact = relaxation, .end = 1.0, .stiffness = 1.0};
    outcome o = integrate(&p, 1e-9, 0.01);
    assert_true(o.status == PERP_OK && o.steps >= 100 && o.error < 1e-8);
}

// Steps shrink towards a place where the right-hand side fails, and its reason is returned; lack of memory ends at once.
static void failures(void **state)
{
    (void)state;
    problem p = {.n = 1,
                 .rate = relaxation_rate,
                 .exact = relaxation,
                 .end = 2.0,
                 .stiffness = 1.0,
                 .fail_from = 1.0,
                 .fail_to = 3.0,
                 .failure = PERP_ERR_NUMERIC};
    outcome o = integrate(&p, 1e-9, PP_INF);
    assert_true(o.status == PERP_ERR_NUMERIC && o.steps > 5 && o.error < 1e-7);
    p.failure = PERP_ERR_MEMORY;
    o = integrate(&p, 1e-9, PP_INF);
    assert_true(o.status == PERP_ERR_MEMORY && !o.stiff);
    // A gap that a shorter step passes over.
    p.failure = PERP_ERR_NUMERIC;
    p.fail_to = 1.0 + 1e-9;
    o = integrate(&p, 1e-9, PP_INF);
    assert_int_equal(o.status, PERP_OK);
    assert_true(o.error < 1e-7);
}

// p(x) and p'(x).
static void polynomial(const double *l, int degree, double x, double *value, double *slope)
{
    *value = *slope = 0.0;
    for (int j = degree; j >= 0; j--) {
        *slope = *slope * x + *value;
        *value = *value * x + l[j];
    }
}

// What is added to the prediction keeps what the method keeps: y at the last point and derivatives at all of them (Adams),
// y at all of them (BDF), for steps of any length.
static void corrections_keep_the_past(void **state)
{
    (void)state;
    const double past[PP_ORDERS] = {0.7, 1.9, 0.4, 1.1, 0.8, 2.0, 0.5,
                                    1.3, 0.9, 1.6, 0.6, 1.2, 1.0};
    const double h = 1.3;
    for (int q = 1; q <= PP_ADAMS_ORDER; q++) {
        pp_multistep adams, bdf;
        double value, slope, x = -1.0;
        pp_adams_coefficients(q, h, past, &adams);
        polynomial(adams.l, q, 0.0, &value, &slope);
        assert_true(value == 1.0);
        polynomial(adams.l, q, -1.0, &value, &slope);
        assert_true(fabs(value) < 1e-12);
        for (int i = 1; i < q; i++) {
            polynomial(adams.l, q, x, &value, &slope);
            assert_true(fabs(slope) < 1e-9);
            x -= past[i - 1] / h;
        }
        if (q > PP_BDF_ORDER) {
            continue;
        }
        x = -1.0;
        pp_bdf_coefficients(q, h, past, &bdf);
        for (int i = 1; i < q; i++) {
            polynomial(bdf.l, q, x, &value, &slope);
            assert_true(fabs(value) < 1e-12);
            x -= past[i - 1] / h;
        }
        // The fixed leading coefficient: l_1 = 1 + 1/2 + ... + 1/q.
        double sum = 0.0;
        for (int i = 1; i <= q; i++) {
            sum += 1.0 / i;
        }
        assert_true(fabs(bdf.l[1] - sum) < 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orbits),
        cmocka_unit_test(stiff_relaxation),
        cmocka_unit_test(bounded_steps),
        cmocka_unit_test(failures),
        cmocka_unit_test(corrections_keep_the_past),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
