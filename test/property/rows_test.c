// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Properties of the wrench matrices: a common rigid motion changes no gap and no joint; W^T nu is the
// rate of gaps, joint errors and limits, by finite differences.
#include "support/cmocka.h"
#include "support/random_scene.h"

#include "constraint/constraint.h"

#include <math.h>
#include <string.h>

static const pp_scheme SCHEME = {
    PERP_STEWART_TRINKLE, PERP_FRICTION_COULOMB, PERP_IMPACT_NEWTON, 8, 0.5, 0.0, false};

typedef struct look {
    pp_kinematics kin;
    pp_gaps gaps;
    pp_rows rows;
} look;

static void look_at(look *l, const perp_model *m, const pp_state *state, double margin,
                    pp_arena *arena)
{
    assert_int_equal(pp_kinematics_run(&l->kin, m, state, 0.01, PERP_GYRO_IMPLICIT, NULL, arena),
                     PERP_OK);
    assert_int_equal(pp_gaps_run(&l->gaps, m, &l->kin, margin, arena), PERP_OK);
    assert_int_equal(pp_rows_run(&l->rows, m, &l->kin, &l->kin, &l->gaps, SCHEME, arena), PERP_OK);
}

static void random_state(pp_state *s, const perp_model *m, rng *r, pp_arena *arena)
{
    *s = (pp_state){.t = rng_uniform(r, 0.0, 2.0)};
    s->q = PP_ARRAY(arena, double, m->nv);
    s->nu = PP_ARRAY(arena, double, m->nv);
    assert_true(s->q && s->nu);
    pp_state_start(m, s);
    for (int i = 0; i < m->bodies; i++) {
        for (int k = 0; k < m->body[i].nv; k++) {
            s->q[m->body[i].at + k] += rng_uniform(r, -0.15, 0.15);
            s->nu[m->body[i].at + k] = rng_uniform(r, -1.0, 1.0);
        }
    }
}

// ── Common motion ────────────────────────────────────────────────────────────────────────────────

static double rigid_rate(const perp_model *m, const pp_row *row, const pp_frame *f,
                         const double g[3])
{
    double sum = 0.0;
    for (int k = 0; k < row->count; k++) {
        const pp_frame *b = &f[row->body[k]];
        double v[3] = {g[0] - g[2] * b->p.y, g[1] + g[2] * b->p.x, g[2]};
        for (int c = 0; c < m->body[row->body[k]].nv; c++) {
            sum += row->J[k][c] * v[c];
        }
    }
    return sum;
}

static void common_motion_changes_nothing(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 200)
    {
        rng r = rng_seed(seed);
        plane p = {0};
        pp_state now;
        look l;
        pp_arena *arena = pp_arena_create(NULL);
        plane_open(&p);
        random_scene_options options = {.bodies = 12, .joints = seed % 2 == 0, .mu_most = 1.0};
        random_scene(&p, &r, &options);
        plane_start(&p);
        random_state(&now, p.model, &r, arena);
        look_at(&l, p.model, &now, 0.3, arena);
        const double g[3] = {rng_normal(&r), rng_normal(&r), rng_normal(&r)};
        for (int i = 0; i < l.rows.nn; i++) {
            CHECK(fabs(rigid_rate(p.model, &l.rows.n[i], l.kin.body, g)) < 1e-12, seed);
        }
        for (int i = 0; i < l.rows.nt; i++) {
            CHECK(fabs(rigid_rate(p.model, &l.rows.t[i], l.kin.body, g)) < 1e-12, seed);
        }
        for (int i = 0; i < l.rows.nb; i++) {  // translations only: an open joint has a lever
            const double shift[3] = {g[0], g[1], 0.0};
            CHECK(fabs(rigid_rate(p.model, &l.rows.b[i], l.kin.body, shift)) < 1e-12, seed);
        }
        plane_close(&p);
        pp_arena_destroy(arena);
    }
}

// ── Rates ────────────────────────────────────────────────────────────────────────────────────────

static const pp_contact *same_contact(const pp_gaps *gaps, const pp_contact *c)
{
    for (int i = 0; i < gaps->count; i++) {
        const pp_contact *other = &gaps->contact[i];
        if (other->a == c->a && other->b == c->b && other->feature == c->feature) {
            return other;
        }
    }
    return NULL;
}

// The closest point of its pair: the rate of the other one of two sides is exact to first order only.
static bool is_closest(const pp_gaps *gaps, int i)
{
    const pp_contact *c = &gaps->contact[i];
    for (int k = 0; k < gaps->count; k++) {
        const pp_contact *other = &gaps->contact[k];
        if (other->a == c->a && other->b == c->b && other->gap < c->gap) {
            return false;
        }
    }
    return true;
}

// Contacts of the two neighbours, where both still have the contact with much the same normal.
static int check_contacts(const look *now, const look *minus, const look *plus, const perp_model *m,
                          const double *nu, double eps, uint64_t seed)
{
    int checked = 0;
    for (int i = 0; i < now->rows.nc; i++) {
        int at = now->rows.contact[i];
        const pp_contact *c = &now->gaps.contact[at], *a = same_contact(&minus->gaps, c),
                         *b = same_contact(&plus->gaps, c);
        if (!a || !b || !is_closest(&now->gaps, at) ||
            hypot(a->n.x - b->n.x, a->n.y - b->n.y) > 1e-3 ||
            hypot(a->point.x - b->point.x, a->point.y - b->point.y) > 1e-3) {
            continue;  // the closest features changed in between
        }
        double rate = pp_row_rate(m, &now->rows.n[i], nu), found = (b->gap - a->gap) / (2.0 * eps);
        CHECK(fabs(rate - found) < 1e-5 * (1.0 + fabs(rate)), seed);
        checked++;
    }
    return checked;
}

static void check_values(const look *now, const look *minus, const look *plus, const perp_model *m,
                         const double *nu, double eps, uint64_t seed)
{
    for (int i = 0; i < now->rows.nb; i++) {
        double found = (plus->rows.b[i].value - minus->rows.b[i].value) / (2.0 * eps);
        CHECK(fabs(pp_row_rate(m, &now->rows.b[i], nu) - found) < 1e-7, seed);
    }
    int limits = now->rows.nn - now->rows.nc;
    for (int i = 0; i < limits; i++) {
        const pp_row *row = &now->rows.n[now->rows.nc + i];
        double found =
            (plus->rows.n[plus->rows.nc + i].value - minus->rows.n[minus->rows.nc + i].value) /
            (2.0 * eps);
        CHECK(fabs(pp_row_rate(m, row, nu) - found) < 1e-7, seed);
    }
}

static void neighbour(pp_state *out, const pp_state *s, int nv, double dt, pp_arena *arena)
{
    *out = (pp_state){.t = s->t + dt, .nu = s->nu, .q = PP_ARRAY(arena, double, nv)};
    assert_non_null(out->q);
    for (int i = 0; i < nv; i++) {
        out->q[i] = s->q[i] + dt * s->nu[i];
    }
}

static void rates_are_derivatives(void **state)
{
    (void)state;
    double eps = 1e-6;
    int checked = 0;
    FOR_SEEDS(seed, 200)
    {
        rng r = rng_seed(seed);
        plane p = {0};
        pp_state now, before, after;
        look l, minus, plus;
        pp_arena *arena = pp_arena_create(NULL);
        plane_open(&p);
        random_scene_options options = {.bodies = 12,
                                        .ground = true,
                                        .joints = seed % 2 == 0,
                                        .drives = seed % 3 == 0,
                                        .mu_most = 1.0};
        random_scene(&p, &r, &options);
        plane_start(&p);
        random_state(&now, p.model, &r, arena);
        neighbour(&before, &now, p.model->nv, -eps, arena);
        neighbour(&after, &now, p.model->nv, eps, arena);
        look_at(&l, p.model, &now, 0.2, arena);
        look_at(&minus, p.model, &before, 0.2, arena);
        look_at(&plus, p.model, &after, 0.2, arena);
        checked += check_contacts(&l, &minus, &plus, p.model, now.nu, eps, seed);
        check_values(&l, &minus, &plus, p.model, now.nu, eps, seed);
        plane_close(&p);
        pp_arena_destroy(arena);
    }
    assert_true(checked > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(common_motion_changes_nothing),
        cmocka_unit_test(rates_are_derivatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
