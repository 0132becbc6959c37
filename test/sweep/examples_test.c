// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Some runs of the sweeps in scenes/sweeps, against theory.
#include "support/cmocka.h"

#include <math.h>
#include <perp/io.h>
#include <string.h>

typedef struct example {
    perp_sweep *sweep;
    double v[40];
    perp_sweep_row row;
} example;

static void open_example(example *e, const char *path)
{
    perp_error error = {0};
    *e = (example){0};
    if (perp_sweep_load(path, NULL, NULL, &e->sweep, &error) < 0) {
        fail_msg("%s:%d:%d: %s", path, error.line, error.column, error.text);
    }
    e->row.value = e->v;
}

// The value of a column of run k.
static double result(example *e, int64_t k, const char *name)
{
    int count = 0;
    const perp_sweep_column *column = perp_sweep_columns(e->sweep, &count);
    assert_true(count <= 40);
    if (e->row.index != k || e->row.status != PERP_RUN_SOLVED) {
        assert_int_equal(perp_sweep_run(e->sweep, k, NULL, NULL, &e->row), PERP_OK);
        assert_int_equal(e->row.status, PERP_RUN_SOLVED);
    }
    for (int c = 0; c < count; c++) {
        if (strcmp(column[c].name, name) == 0) {
            return e->v[c];
        }
    }
    fail_msg("no column '%s'", name);
    return 0.0;
}

// Painlevé: sliding has no consistent acceleration where mu > (1 + 3 cos^2) / (3 sin cos).
static void painleve(void **state)
{
    (void)state;
    example e;
    int above = 0, below = 0;
    open_example(&e, "scenes/sweeps/painleve.sweep.json");
    for (int64_t k = 3; k < perp_sweep_runs(e.sweep); k += 13) {
        double lean = result(&e, k, "lean") * 3.141592653589793 / 180.0, c = cos(lean);
        double limit = (1.0 + 3.0 * c * c) / (3.0 * sin(lean) * c), mu = result(&e, k, "mu");
        if (fabs(mu - limit) < 0.02) {
            continue;
        }
        assert_true((result(&e, k, "paradox") == 1.0) == (mu > limit));
        above += mu > limit;
        below += mu < limit;
    }
    assert_true(above > 10 && below > 10);
    perp_sweep_destroy(e.sweep);
}

// The box is held where 2 mu F > m g.
static void grasp(void **state)
{
    (void)state;
    example e;
    int held = 0, dropped = 0;
    open_example(&e, "scenes/sweeps/grasp.sweep.json");
    for (int64_t k = 0; k < perp_sweep_runs(e.sweep); k += 11) {
        double use = 9.81 / (2.0 * result(&e, k, "mu") * result(&e, k, "squeeze"));
        if (fabs(use - 1.0) < 0.02) {
            continue;
        }
        assert_true((result(&e, k, "held") == 1.0) == (use < 1.0));
        held += use < 1.0;
        dropped += use > 1.0;
    }
    assert_true(held > 8 && dropped > 4);
    perp_sweep_destroy(e.sweep);
}

// The thickness and friction that statics needs (tools/arch_limit): 0.14437 at 0.36, 0.10701 from 0.405 on; nothing
// stands below 0.3.
static void arch(void **state)
{
    (void)state;
    static const struct {
        double thickness, mu;
        bool stands;
    } cases[] = {{0.15, 0.36, true},
                 {0.14, 0.36, false},
                 {0.10, 0.5, false},
                 {0.11, 0.5, true},
                 {0.2, 0.28, false}};
    example e;
    open_example(&e, "scenes/sweeps/arch.sweep.json");
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        int64_t found = -1;
        for (int64_t k = 0; k < perp_sweep_runs(e.sweep); k++) {
            double v[2];
            assert_int_equal(perp_sweep_point(e.sweep, k, v), PERP_OK);
            if (fabs(v[0] - cases[c].thickness) < 1e-9 && fabs(v[1] - cases[c].mu) < 1e-9) {
                found = k;
            }
        }
        assert_true(found >= 0);
        assert_true((result(&e, found, "stands") == 1.0) == cases[c].stands);
    }
    perp_sweep_destroy(e.sweep);
}

// The hull rests while the force of the drive is below friction, and moves on beyond it.
static void gait(void **state)
{
    (void)state;
    example e;
    open_example(&e, "scenes/sweeps/gait.sweep.json");
    static const struct {
        double mu, frequency;
    } cases[] = {{1.0, 1.9666666666666668}, {0.26923076923076927, 4.533333333333333}};
    for (int c = 0; c < 2; c++) {
        int64_t found = -1;
        double w = 2.0 * 3.141592653589793 * cases[c].frequency;
        double limit = 0.5 * 0.03 * w * w * 1.76017 / (1.5 * 9.81);
        for (int64_t k = 0; k < perp_sweep_runs(e.sweep); k++) {
            double v[2];
            assert_int_equal(perp_sweep_point(e.sweep, k, v), PERP_OK);
            if (fabs(v[0] - cases[c].mu) < 1e-6 && fabs(v[1] - cases[c].frequency) < 1e-6) {
                found = k;
            }
        }
        assert_true(found >= 0);
        double speed = result(&e, found, "speed");
        assert_true(cases[c].mu > limit ? fabs(speed) < 1e-6 : speed > 20.0);
    }
    perp_sweep_destroy(e.sweep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(painleve),
        cmocka_unit_test(grasp),
        cmocka_unit_test(arch),
        cmocka_unit_test(gait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
