// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Semi-smooth Newton on contact: closed forms of one contact, redundant piles, random matrices, odd
// contacts, scaling, warm start, and the published problems.
#include "support/cmocka.h"
#include "support/data.h"
#include "support/families.h"
#include "support/random.h"

#include "comp/comp.h"

#include <perp/io.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ROOM = 60 };  // components of the generated problems

// A local contact problem with room for ROOM components.
typedef struct contact_problem {
    perp_fcp fcp;
    double W[ROOM * ROOM], q[ROOM], mu[ROOM], spin[ROOM], roll[ROOM];
    int nd[ROOM];
} contact_problem;

static void shape(contact_problem *p, int nc, int dim)
{
    int n = nc * dim;
    memset(p, 0, sizeof *p);
    p->fcp = (perp_fcp){.nc = nc, .dim = dim, .mu = p->mu, .q = p->q};
    p->fcp.W = perp_matrix_dense(n, n, p->W);
    p->fcp.mu_spin = dim == 4 || dim == 6 ? p->spin : NULL;
    p->fcp.mu_roll = dim >= 5 ? p->roll : NULL;
}

static perp_status solve(const contact_problem *p, double *r, perp_comp_info *info)
{
    return perp_fcp_solve("ssn", &p->fcp, NULL, NULL, r, NULL, info);
}

// ── One contact with a diagonal W: every group answers for itself ────────────────────────────────

static void random_diagonal(contact_problem *p, int dim, rng *r)
{
    shape(p, 1, dim);
    double sliding = rng_uniform(r, 0.2, 2.0), moment = rng_uniform(r, 5.0, 50.0);
    for (int k = 0; k < dim; k++) {
        p->W[k + k * dim] = k < 3 ? sliding : moment;
        p->q[k] = rng_normal(r);
    }
    p->mu[0] = rng_uniform(r, 0.0, 1.0);
    p->spin[0] = rng_uniform(r, 0.0, 0.1);
    p->roll[0] = rng_uniform(r, 0.0, 0.1);
}

// r_g = -q_g / w, pulled back to the ball of radius mu r_n.
static void expect_group(const contact_problem *p, const double *r, int first, int size, double mu,
                         uint64_t seed)
{
    double w = p->W[first + first * p->fcp.dim], free[2] = {0.0, 0.0};
    for (int k = 0; k < size; k++) {
        free[k] = -p->q[first + k] / w;
    }
    double length = hypot(free[0], free[1]), radius = mu * r[0];
    for (int k = 0; k < size; k++) {
        double expected = length > radius ? free[k] * radius / length : free[k];
        CHECK(fabs(r[first + k] - expected) <= 1e-7 * fmax(1.0, length), seed);
    }
}

static void one_contact_has_its_closed_form(void **state)
{
    (void)state;
    for (int dim = 2; dim <= 6; dim++) {
        FOR_SEEDS(seed, 60)
        {
            rng random = rng_seed(seed);
            contact_problem p;
            double r[6];
            random_diagonal(&p, dim, &random);
            CHECK(solve(&p, r, NULL) == PERP_OK, seed);
            CHECK(fabs(r[0] - fmax(0.0, -p.q[0] / p.W[0])) <= 1e-7, seed);
            expect_group(&p, r, 1, dim == 2 ? 1 : 2, p.mu[0], seed);
            if (dim == 4 || dim == 6) {
                expect_group(&p, r, 3, 1, p.spin[0], seed);
            }
            if (dim >= 5) {
                expect_group(&p, r, dim - 2, 2, p.roll[0], seed);
            }
        }
    }
}

// The friction of one contact with W = w I minimises w |r_t|^2 / 2 + q_t . r_t over the polygon: no
// point of its boundary, nor -q_t / w when that is inside, does better.
static void polygons_minimise_dissipation(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 100)
    {
        rng random = rng_seed(seed);
        contact_problem p;
        double r[3];
        random_diagonal(&p, 3, &random);
        p.q[0] = -1.0;
        p.nd[0] = 3 + rng_below(&random, 8);
        p.fcp.nd = p.nd;
        CHECK(solve(&p, r, NULL) == PERP_OK, seed);
        double w = p.W[4],
               found = 0.5 * w * (r[1] * r[1] + r[2] * r[2]) + p.q[1] * r[1] + p.q[2] * r[2];
        double side = 6.283185307179586 / p.nd[0], radius = p.mu[0] * r[0];
        for (int k = 0; k < 40 * p.nd[0]; k++) {
            double j = floor(k / 40.0), t = k / 40.0 - j;
            double x = radius * ((1.0 - t) * cos(j * side) + t * cos((j + 1.0) * side));
            double y = radius * ((1.0 - t) * sin(j * side) + t * sin((j + 1.0) * side));
            CHECK(found <= 0.5 * w * (x * x + y * y) + p.q[1] * x + p.q[2] * y + 1e-8, seed);
            double outward = r[1] * cos((j + 0.5) * side) + r[2] * sin((j + 0.5) * side);
            CHECK(outward <= radius * cos(0.5 * side) + 1e-8, seed);
        }
    }
}

// ── Redundant and random ─────────────────────────────────────────────────────────────────────────

static void piles_agree_in_both_forms(void **state)
{
    (void)state;
    static const double pushes[][3] = {{0.0, 0.0, 0.0}, {0.4, 0.0, 0.0}, {2.0, 1.0, 0.0}};
    for (int k = 0; k < 3 * 2 * 3; k++) {
        int boxes = 1 + k / 6, contacts = k % 2 ? 8 : 4;
        pile *p = family_pile(boxes, contacts, k % 2 ? 100.0 : 1.0, 0.4, pushes[k / 2 % 3]);
        int n = p->local.nc * p->local.dim, nv = p->global.nv;
        double *r = calloc((size_t)n, sizeof *r), *v = calloc((size_t)nv, sizeof *v);
        double *u = malloc((size_t)n * sizeof *u);
        perp_comp_info info;
        assert_non_null(r && v && u ? r : NULL);

        assert_int_equal(perp_fcp_solve("ssn", &p->local, NULL, NULL, r, NULL, &info), PERP_OK);
        assert_true(info.residual <= 1e-8 && info.residual_plain <= 1e-8);
        memcpy(u, p->local.q, (size_t)n * sizeof *u);
        for (int j = 0; j < n; j++) {
            for (int i = 0; i < n; i++) {
                u[i] += pp_matrix_at(&p->local.W, i, j) * r[j];
            }
        }
        assert_int_equal(perp_fcp_solve("ssn", &p->global, NULL, NULL, r, v, &info), PERP_OK);
        assert_true(info.residual_dynamics <= 1e-10);
        for (int i = 0; i < n; i++) {  // forces are not unique, velocities are
            double other = p->global.w[i];
            for (int j = 0; j < nv; j++) {
                other += pp_matrix_at(&p->global.H, j, i) * v[j];
            }
            assert_true(fabs(other - u[i]) <= 1e-6);
        }
        free(r), free(v), free(u);
        pile_destroy(p);
    }
}

// W = J J' with J of `rank` columns, q = J v: always solvable.
static void random_matrix(contact_problem *p, int rank, rng *r)
{
    int n = p->fcp.nc * p->fcp.dim;
    double J[ROOM][ROOM], v[ROOM];
    for (int k = 0; k < rank; k++) {
        v[k] = rng_normal(r);
    }
    for (int i = 0; i < n; i++) {
        p->q[i] = 0.0;
        for (int k = 0; k < rank; k++) {
            J[i][k] = rng_normal(r) * (i % p->fcp.dim < 3 ? 1.0 : 5.0);
            p->q[i] += J[i][k] * v[k];
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < rank; k++) {
                sum += J[i][k] * J[j][k];
            }
            p->W[i + j * n] = sum;
        }
    }
    for (int c = 0; c < p->fcp.nc; c++) {
        p->mu[c] = rng_below(r, 8) ? rng_uniform(r, 0.0, 0.9) : 0.0;
        p->spin[c] = rng_uniform(r, 0.0, 0.05);
        p->roll[c] = rng_uniform(r, 0.0, 0.05);
        p->nd[c] = rng_below(r, 3) ? 0 : 3 + rng_below(r, 6);
    }
}

static void random_problems_are_solved(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 300)
    {
        rng random = rng_seed(seed);
        int dim = 2 + rng_below(&random, 5), nc = 1 + rng_below(&random, ROOM / 6);
        contact_problem p;
        perp_comp_info info;
        double r[ROOM];
        shape(&p, nc, dim);
        random_matrix(&p, rng_below(&random, 2) ? nc * dim : 1 + nc * dim / 2, &random);
        p.fcp.nd = dim > 2 && rng_below(&random, 2) ? p.nd : NULL;
        CHECK(solve(&p, r, &info) == PERP_OK, seed);
        CHECK(info.residual <= 1e-8 && info.residual_plain <= 1e-8, seed);
    }
}

// ── Odd contacts ─────────────────────────────────────────────────────────────────────────────────

static void odd_contacts_are_handled(void **state)
{
    (void)state;
    contact_problem p;
    perp_comp_info info;
    double r[ROOM];
    shape(&p, 3, 3);
    for (int k = 0; k < 6; k++) {  // the third contact has no inertia at all
        p.W[k + 9 * k] = 1.0;
        p.q[k] = -1.0;
    }
    p.mu[0] = 0.0;  // frictionless
    p.mu[1] = p.mu[2] = 0.5;
    p.q[6] = 0.1;
    assert_int_equal(solve(&p, r, &info), PERP_OK);
    assert_true(fabs(r[0] - 1.0) <= 1e-7 && r[1] == 0.0 && r[2] == 0.0);
    assert_true(fabs(hypot(r[4], r[5]) - 0.5) <= 1e-7);
    assert_true(r[6] == 0.0 && r[7] == 0.0 && r[8] == 0.0);

    p.q[6] = -0.1;  // it approaches, and nothing can stop it
    assert_true(solve(&p, r, &info) < 0);
    assert_true(strlen(info.error.text) > 10);
    for (int i = 0; i < 9; i++) {
        assert_true(isfinite(r[i]));
    }

    shape(&p, 2, 3);  // nothing to do
    assert_int_equal(solve(&p, r, &info), PERP_OK);
    assert_int_equal(info.iterations, 0);
}

static void units_do_not_matter(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 40)
    {
        rng random = rng_seed(seed);
        contact_problem p;
        perp_comp_info info;
        double r[ROOM];
        shape(&p, 4, 3);
        random_matrix(&p, 6, &random);
        CHECK(solve(&p, r, &info) == PERP_OK, seed);
        int iterations = info.iterations;
        double mass = exp2(rng_below(&random, 60) - 30), speed = exp2(rng_below(&random, 60) - 30);
        for (int i = 0; i < 12 * 12; i++) {
            p.W[i] *= mass;
        }
        for (int i = 0; i < 12; i++) {
            p.q[i] *= speed;
        }
        perp_status status = solve(&p, r, &info);
        // rho = 1 has units: where W is far from 1, FCLIB's residual is rounding or blind
        CHECK(info.residual <= 1e-8, seed);
        CHECK(mass < 1e-3 || mass > 1e3 || status == PERP_OK, seed);
        CHECK(mass < 1e-3 || mass > 1e3 || info.iterations <= iterations + 20, seed);
    }
}

static void limits_and_warm_start_are_obeyed(void **state)
{
    (void)state;
    const double push[3] = {0.5, 0.3, 0.0};
    pile *p = family_pile(3, 4, 10.0, 0.4, push);
    size_t n = (size_t)(p->local.nc * p->local.dim);
    double *r = calloc(n, sizeof *r);
    perp_comp_options options = perp_comp_options_default();
    perp_comp_info cold, warm, stopped;
    assert_non_null(r);
    assert_int_equal(perp_fcp_solve("ssn", &p->local, &options, NULL, r, NULL, &cold), PERP_OK);
    options.warm_start = true;
    assert_int_equal(perp_fcp_solve("ssn", &p->local, &options, NULL, r, NULL, &warm), PERP_OK);
    assert_true(warm.iterations <= 1 && cold.iterations > 1);
    options.warm_start = false;
    options.max_iterations = 1;
    assert_true(perp_fcp_solve("ssn", &p->local, &options, NULL, r, NULL, &stopped) < 0);
    assert_int_equal(stopped.iterations, 1);
    free(r);
    pile_destroy(p);
}

// ── Published problems ───────────────────────────────────────────────────────────────────────────

static void solve_file(const char *path)
{
    perp_problem *file = NULL;
    perp_error error;
    perp_comp_info info;
    perp_comp_options options = perp_comp_options_default();
    if (perp_problem_read(path, NULL, &file, &error) < 0) {
        fail_msg("%s: %s", path, error.text);
    }
    const perp_fcp *fcp = perp_problem_fcp(file);
    if (!fcp) {
        perp_problem_destroy(file);
        return;
    }
    double *r = calloc((size_t)(fcp->nc * fcp->dim) + 1, sizeof *r);
    double *v = calloc((size_t)fcp->nv + 1, sizeof *v);
    options.max_seconds = 10.0;
    perp_status status = perp_fcp_solve("ssn", fcp, &options, NULL, r, v, &info);
    if (status != PERP_OK || info.residual_dynamics > 1e-10) {
        print_error("%s: %s, residuals %.1e %.1e %.1e\n", path, info.error.text,
                    info.residual_plain, info.residual, info.residual_dynamics);
    }
    assert_int_equal(status, PERP_OK);
    assert_true(info.residual_dynamics <= 1e-10);
    free(r), free(v);
    perp_problem_destroy(file);
}

// Every file of a folder up to 600 kB; the others take too long under sanitizers.
static int solve_folder(const char *folder, const char *witness, const char *ending)
{
    char path[800], base[500];
    int count = 0;
    snprintf(path, sizeof path, "%s/%s", folder, witness);
    if (!data_path(path, base, sizeof base)) {
        return 0;
    }
    *strrchr(base, '/') = '\0';
    DIR *directory = opendir(base);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        struct stat about;
        const char *end = strrchr(entry->d_name, '.');
        snprintf(path, sizeof path, "%s/%s", base, entry->d_name);
        if (end && strcmp(end, ending) == 0 && stat(path, &about) == 0 && about.st_size < 600000) {
            solve_file(path);
            count++;
        }
    }
    closedir(directory);
    return count;
}

static void published_problems_are_solved(void **state)
{
    (void)state;
    int count = solve_folder("problems/ncx/fc", "CubeH8.ncx", ".ncx");
    count +=
        solve_folder("problems/orig/siconos/RollingFrictionContact", "RFC3D_cube_1.dat", ".dat");
    if (count == 0) {
        print_message("no published problems here: set PERP_DATA_DIR\n");
        skip();
    }
    assert_true(count >= 58);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_contact_has_its_closed_form),
        cmocka_unit_test(polygons_minimise_dissipation),
        cmocka_unit_test(piles_agree_in_both_forms),
        cmocka_unit_test(random_problems_are_solved),
        cmocka_unit_test(odd_contacts_are_handled),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(limits_and_warm_start_are_obeyed),
        cmocka_unit_test(published_problems_are_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
