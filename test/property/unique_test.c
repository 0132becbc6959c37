// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The words unique and not unique against all answers of small problems, as `enum` counts them, and against
// what solvers find from many starts.
#include "support/cmocka.h"
#include "support/random.h"
#include "support/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWERS = 96, VELOCITIES = 8, CONTACTS = 3 };

static const double H = 1e-2;

// A body that touches a plane of its own with each of its points, and moves.
static void random_body(plane *p, rng *r, int contacts, double mu_most, perp_form form)
{
    plane_open(p);
    perp_body_def def = plane_body(rng_uniform(r, 0.5, 2.0), rng_uniform(r, 0.01, 0.4), 0.0, 0.0,
                                   rng_uniform(r, -3.0, 3.0));
    def.velocity_W = (perp_vec3){rng_normal(r), rng_normal(r), 0.0};
    def.spin = rng_normal(r);
    bool rests = rng_below(r, 3) == 0;
    if (rests) {
        def.velocity_W = (perp_vec3){0.0, 0.0, 0.0};
        def.spin = 0.0;
    }
    p->def.form = form;
    p->def.start = PERP_START_AS_GIVEN;
    perp_builder_set_listed_only(p->builder, true);
    perp_body body = perp_builder_add_body(p->builder, &def);
    for (int i = 0; i < contacts; i++) {
        double around = rng_uniform(r, 0.0, 6.2831853), tilt = rng_uniform(r, -1.0, 1.0);
        double x = rng_uniform(r, 0.2, 1.0) * cos(around),
               y = rng_uniform(r, 0.2, 1.0) * sin(around);
        perp_shape point = plane_point(p, body, x, y);
        double c = cos(def.angle), s = sin(def.angle), X = c * x - s * y, Y = s * x + c * y;
        double up = atan2(-Y, -X) + tilt;  // normal of the plane
        perp_shape wall = plane_halfplane(p, PLANE_GROUND, X, Y, up - acos(0.0), 0.0);
        plane_contact(p, wall, point, rng_uniform(r, 0.0, mu_most));
    }
    plane_start(p);
}

typedef struct answers {
    int count;
    double nu[ANSWERS][VELOCITIES];   // changes of velocities by the impulses
    double p[ANSWERS][2 * CONTACTS];  // p_n, then p_t
} answers;

// All basic answers of the LCP of the last step, by exhaustion. False: not a small problem.
static bool enumerate(const plane *p, answers *out)
{
    perp_step_problem *s = NULL;
    assert_int_equal(perp_sim_problem(p->sim, PERP_FORM_LCP, &s), PERP_OK);
    static double z[ANSWERS * 12];
    int n = s->mcp.n;
    bool small = n <= 12 && s->nv <= VELOCITIES && s->n_n <= CONTACTS;
    *out = (answers){0};
    if (small) {
        assert_int_equal(perp_mcp_enumerate(&s->mcp, NULL, ANSWERS, z, &out->count), PERP_OK);
        small = out->count <= ANSWERS;
    }
    for (int k = 0; small && k < out->count; k++) {
        const double *pn = z + (size_t)k * (size_t)n + s->n_m, *pf = pn + s->n_n;
        for (int v = 0; v < s->nv; v++) {
            double sum = 0.0;
            for (int i = 0; i < s->n_n; i++) {
                sum += s->Wn[(size_t)i * (size_t)s->nv + (size_t)v] * pn[i];
            }
            for (int i = 0; i < s->n_f; i++) {
                sum += s->Wf[(size_t)i * (size_t)s->nv + (size_t)v] * pf[i];
            }
            out->nu[k][v] = sum / s->M[(size_t)v * (size_t)(s->nv + 1)];
        }
        for (int i = 0; i < s->n_n; i++) {
            out->p[k][i] = pn[i];
        }
        for (int i = 0; 2 * i < s->n_f; i++) {
            out->p[k][s->n_n + i] = pf[2 * i] - pf[2 * i + 1];
        }
    }
    perp_step_problem_destroy(s);
    return small;
}

static double spread_of(int count, const double *x, int stride, int size)
{
    double worst = 0.0;
    for (int k = 1; k < count; k++) {
        for (int i = 0; i < size; i++) {
            worst = fmax(worst, fabs(x[k * stride + i] - x[i]));
        }
    }
    return worst;
}

// Never unique where there are two; never not unique where there is one.
static void words_are_true(void **state)
{
    (void)state;
    int proved = 0, single = 0, refuted = 0, several = 0, impulses = 0;
    FOR_SEEDS(seed, 600)
    {
        rng r = rng_seed(seed);
        plane p = {0};
        answers all;
        static const perp_form forms[] = {PERP_FORM_LCP, PERP_FORM_MCP, PERP_FORM_CONE,
                                          PERP_FORM_AUTO};
        int contacts = seed % 12 == 0 ? CONTACTS : 1 + rng_below(&r, 2);  // three: a slow truth
        random_body(&p, &r, contacts, 2.5, forms[seed / 12 % 4]);
        if (perp_sim_step(p.sim, H) == PERP_OK && enumerate(&p, &all) && all.count > 0) {
            const perp_step_info *info = perp_sim_info(p.sim);
            double moves = spread_of(all.count, all.nu[0], VELOCITIES, 3);
            double pushes = spread_of(all.count, all.p[0], 2 * CONTACTS, 2 * CONTACTS);
            bool one = moves < 1e-7, same = pushes < 1e-7;
            single += one;
            several += moves > 1e-3;
            proved += info->motion == PERP_UNIQUENESS_PROVED;
            refuted += info->motion == PERP_UNIQUENESS_DISPROVED;
            impulses += info->impulses == PERP_UNIQUENESS_PROVED;
            CHECK(info->motion != PERP_UNIQUENESS_PROVED || one, seed);
            CHECK(info->motion != PERP_UNIQUENESS_DISPROVED || moves > 1e-7, seed);
            CHECK(info->impulses != PERP_UNIQUENESS_PROVED || same, seed);
            CHECK(info->unique == (info->motion == PERP_UNIQUENESS_PROVED &&
                                   info->impulses == PERP_UNIQUENESS_PROVED),
                  seed);
            CHECK((info->motion == PERP_UNIQUENESS_DISPROVED) == (info->motion_apart > 0.0) ||
                      info->impulses == PERP_UNIQUENESS_DISPROVED,
                  seed);
        }
        plane_close(&p);
    }
    print_message("one motion in %d, proved in %d; several in %d, shown in %d; impulses %d\n",
                  single, proved, several, refuted, impulses);
    assert_true(proved > 0.95 * single);
    assert_true(several > 20 && refuted > 0.9 * several);
}

// The same step in every form: the words do not contradict each other, and unique motions agree.
static void forms_do_not_contradict(void **state)
{
    (void)state;
    static const perp_form forms[] = {PERP_FORM_MCP, PERP_FORM_LCP, PERP_FORM_CONE, PERP_FORM_AUTO};
    int compared = 0;
    FOR_SEEDS(seed, 300)
    {
        bool unique = false, many = false;
        double nu[4][3];
        int solved = 0;
        for (int f = 0; f < 4; f++) {
            rng r = rng_seed(seed);
            plane p = {0};
            random_body(&p, &r, 1 + rng_below(&r, CONTACTS), 2.5, forms[f]);
            if (perp_sim_step(p.sim, H) == PERP_OK) {
                unique = unique || perp_sim_info(p.sim)->motion == PERP_UNIQUENESS_PROVED;
                many = many || perp_sim_info(p.sim)->motion == PERP_UNIQUENESS_DISPROVED;
                assert_int_equal(perp_sim_state_get(p.sim, NULL, NULL, nu[solved++]), PERP_OK);
            }
            plane_close(&p);
        }
        CHECK(!(unique && many), seed);
        for (int k = 1; unique && k < solved; k++) {
            for (int i = 0; i < 3; i++) {
                CHECK(fabs(nu[k][i] - nu[0][i]) < 1e-6, seed);
            }
            compared++;
        }
    }
    assert_true(compared > 200);
}

// ── Space ────────────────────────────────────────────────────────────────────────────────────────

static perp_vec3 random_vector(rng *r)
{
    return (perp_vec3){rng_normal(r), rng_normal(r), rng_normal(r)};
}

// As in the plane; facets 0: exact cones.
static void random_solid(plane *p, uint64_t seed, int contacts, double mu_most, int facets)
{
    rng r = rng_seed(seed);
    plane_open(p);
    perp_vec3 half = {rng_uniform(&r, 0.05, 0.5), rng_uniform(&r, 0.05, 0.5),
                      rng_uniform(&r, 0.05, 0.5)};
    double mass = rng_uniform(&r, 0.5, 2.0);
    perp_body_def def = space_body(mass, space_box_inertia(mass, half), (perp_vec3){0.0, 0.0, 0.0});
    def.velocity_W = random_vector(&r);
    def.omega_W = random_vector(&r);
    p->def.start = PERP_START_AS_GIVEN;
    p->def.form = PERP_FORM_CONE;
    perp_builder_set_listed_only(p->builder, true);
    perp_body body = perp_builder_add_body(p->builder, &def);
    for (int i = 0; i < contacts; i++) {
        perp_vec3 at = space_scale(rng_uniform(&r, 0.1, 0.5), random_vector(&r));
        perp_vec3 up = space_add(space_scale(-1.0 / space_length(at), at),
                                 space_scale(0.4, random_vector(&r)));
        up = space_scale(1.0 / space_length(up), up);
        perp_shape point = space_point(p, body, at);
        perp_shape wall = space_halfspace(p, PLANE_GROUND, up, space_dot(up, at), 0.0);
        space_contact(p, wall, point, rng_uniform(&r, 0.0, mu_most), facets,
                      space_cross(up, random_vector(&r)));
    }
    plane_start(p);
}

enum { DIM = 3, MOST = 6 };

// W and q of the contacts, from the step's matrices with four directions: +t, +o, -t, -o.
static int contact_problem(const plane *p, double *W, double *q)
{
    perp_step_problem *s = NULL;
    assert_int_equal(perp_sim_problem(p->sim, PERP_FORM_LCP, &s), PERP_OK);
    int nc = s->n_n, n = DIM * nc;
    bool fits = s->n_f == 4 * nc && s->nb == 0;
    for (int j = 0; fits && j < n; j++) {
        for (int i = 0; i < n; i++) {
            int at[2] = {i, j}, z[2];
            for (int k = 0; k < 2; k++) {
                int c = at[k] / DIM, t = at[k] % DIM;
                z[k] = t == 0 ? c : nc + 4 * c + t - 1;
            }
            W[j * n + i] = s->mcp.A.dense ? s->mcp.A.dense[z[1] * s->mcp.n + z[0]] : 0.0;
            if (i == j) {
                q[i] = s->mcp.b[z[0]];
            }
            for (int k = s->mcp.A.dense ? 0 : s->mcp.A.p[z[1]];
                 !s->mcp.A.dense && k < s->mcp.A.p[z[1] + 1]; k++) {
                W[j * n + i] = s->mcp.A.i[k] == z[0] ? s->mcp.A.x[k] : W[j * n + i];
            }
        }
    }
    perp_step_problem_destroy(s);
    return fits ? nc : 0;
}

// Where the cone form says unique, no solver finds anything else, wherever it starts.
static void cones_are_unique(void **state)
{
    (void)state;
    static const char *const solvers[] = {"auto", "ssn", "gs"};
    int unique = 0, tried = 0, apart = 0;
    FOR_SEEDS(seed, 400)
    {
        int contacts = 1 + (int)(seed % 2);
        double W[36 * 36], q[36], mu[MOST], first[36], u[36];
        plane p = {0}, frame = {0};
        random_solid(&p, seed, contacts, 2.0, 0);
        random_solid(&frame, seed, contacts, 2.0, 4);
        bool stepped = perp_sim_step(p.sim, H) == PERP_OK && perp_sim_step(frame.sim, H) >= 0;
        int nc = stepped ? contact_problem(&frame, W, q) : 0, count = 0;
        const perp_contact *contact = nc > 0 ? perp_sim_contacts(p.sim, &count) : NULL;
        rng r = rng_seed(seed + 1000003);
        double size = 0.0;
        for (int i = 0; i < DIM * nc; i++) {
            size = fmax(size, fabs(q[i]));
        }
        for (int k = 0; count == nc && k < 12 * (nc > 0); k++) {
            double x[36];
            perp_comp_options options = perp_comp_options_default();
            perp_comp_info info;
            for (int c = 0; c < nc; c++) {
                mu[c] = contact[c].mu;
                x[DIM * c] = fabs(rng_normal(&r));
                x[DIM * c + 1] = mu[c] * rng_normal(&r);
                x[DIM * c + 2] = mu[c] * rng_normal(&r);
            }
            perp_fcp fcp = {.nc = nc,
                            .dim = DIM,
                            .mu = mu,
                            .W = perp_matrix_dense(DIM * nc, DIM * nc, W),
                            .q = q};
            options.warm_start = k > 2;
            options.tolerance = 1e-11;
            if (perp_fcp_solve(solvers[k % 3], &fcp, &options, NULL, x, NULL, &info) != PERP_OK) {
                continue;
            }
            tried++;
            for (int i = 0; i < DIM * nc; i++) {
                u[i] = q[i];
                for (int j = 0; j < DIM * nc; j++) {
                    u[i] += W[j * DIM * nc + i] * x[j];
                }
            }
            double off = 0.0;
            for (int i = 0; i < DIM * nc; i++) {
                first[i] = k == 0 ? u[i] : first[i];
                off = fmax(off, fabs(u[i] - first[i]));
            }
            apart += off > 1e-5 * size;
            CHECK(perp_sim_info(p.sim)->motion != PERP_UNIQUENESS_PROVED || off < 1e-6 * size,
                  seed);
        }
        unique += nc > 0 && perp_sim_info(p.sim)->motion == PERP_UNIQUENESS_PROVED;
        plane_close(&p);
        plane_close(&frame);
    }
    print_message("%d of 400 proved; %d answers looked at, %d of them others\n", unique, tried,
                  apart);
    assert_true(unique > 100 && apart > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_true),
        cmocka_unit_test(forms_do_not_contradict),
        cmocka_unit_test(cones_are_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
