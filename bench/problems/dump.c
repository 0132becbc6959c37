// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp_bench_problem SCENE STEP FILE: the contact problem of one step of a scene (counted from 0), in the global form
//
//     M v = f + H r,   u = H^T v + w,   r and u obey Signorini's and Coulomb's laws                  docs/file-format.md
//
// written to FILE, and perp's solution, r and v, to FILE with ".solution.csv" in place of its ending. Prints one line of
// JSON: the size, and residuals of the solution, judged by code that no solver shares. Scenes with joints are refused.
#include <perp/io.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIM = 3,
    FACETS = 4
};  // directions of the pyramid that perp_sim_problem shows: t, o, -t, -o

static int fail(const char *text)
{
    (void)fprintf(stderr, "perp_bench_problem: %s\n", text);
    return 1;
}

static double dot(perp_vec3 a, perp_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static perp_vec3 cross(perp_vec3 a, perp_vec3 b)
{
    return (perp_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// A matrix in compressed columns, of which column j is at `column(j)`.
typedef struct sparse {
    int *p, *i;
    double *x;
    int rows, cols, count;
} sparse;

static bool sparse_start(sparse *a, int rows, int cols, size_t most)
{
    *a = (sparse){.rows = rows, .cols = cols};
    a->p = calloc((size_t)cols + 1, sizeof *a->p);
    a->i = calloc(most, sizeof *a->i);
    a->x = calloc(most, sizeof *a->x);
    return a->p && a->i && a->x;
}

static void sparse_column(sparse *a, int j, const double *column)
{
    for (int k = 0; k < a->rows; k++) {
        if (column[k] != 0.0) {
            a->i[a->count] = k;
            a->x[a->count++] = column[k];
        }
    }
    a->p[j + 1] = a->count;
}

static void sparse_free(sparse *a)
{
    free(a->p);
    free(a->i);
    free(a->x);
}

static perp_matrix matrix_of(const sparse *a)
{
    return (perp_matrix){.rows = a->rows, .cols = a->cols, .p = a->p, .i = a->i, .x = a->x};
}

static size_t nonzeros(const double *x, size_t count)
{
    size_t found = 0;
    for (size_t k = 0; k < count; k++) {
        found += x[k] != 0.0;
    }
    return found;
}

static bool write_solution(const char *path, const double *r, int nr, const double *v, int nv)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        return false;
    }
    for (int k = 0; k < nv + nr; k++) {  // in the order of `perp solve -o`: v, then r
        (void)fprintf(file, "%.17g\n", k < nv ? v[k] : r[k - nv]);
    }
    return fclose(file) == 0;
}

// Builds the problem from the blocks of the step: b = (-(M nu + p_ext), gaps / h, tangential terms), and its solution.
static int dump(const perp_sim *sim, const perp_step_problem *p, const char *name, const char *path)
{
    int nc = 0, nv = p->nv, status = 1;
    const perp_contact *contact = perp_sim_contacts(sim, &nc);
    if (p->n_b > 0 || p->n_m > 0 || p->n_n != nc || p->n_f != FACETS * nc || p->n_nu != nv) {
        return fail("the step has joints, polygons or contacts without friction, which this form "
                    "does not show");
    }
    size_t square = (size_t)nv * (size_t)nv, columns = (size_t)nv * (size_t)nc;
    sparse M = {0}, H = {0};
    double *mu = calloc((size_t)nc + 1, sizeof *mu), *f = calloc((size_t)nv + 1, sizeof *f);
    double *w = calloc(DIM * (size_t)nc + 1, sizeof *w),
           *r = calloc(DIM * (size_t)nc + 1, sizeof *r);
    double *v = calloc((size_t)nv + 1, sizeof *v), t = 0.0;
    int nq = 0, state_v = 0;
    perp_sim_state_size(sim, &nq, &state_v);
    double *q = calloc((size_t)nq + 1, sizeof *q);
    if (mu && f && w && r && v && q && sparse_start(&M, nv, nv, nonzeros(p->M, square) + 1) &&
        sparse_start(&H, nv, DIM * nc,
                     nonzeros(p->Wn, columns) + nonzeros(p->Wf, FACETS * columns) + 1)) {
        status = 0;
        for (int j = 0; j < nv; j++) {
            sparse_column(&M, j, p->M + (size_t)j * (size_t)nv);
            f[j] = -p->mcp.b[j];
        }
        for (int c = 0; c < nc; c++) {
            const perp_contact *k = &contact[c];
            perp_vec3 o = cross(k->normal_W, k->tangent_W);
            mu[c] = k->mu;
            sparse_column(&H, DIM * c, p->Wn + (size_t)c * (size_t)nv);
            sparse_column(&H, DIM * c + 1, p->Wf + (size_t)(FACETS * c) * (size_t)nv);
            sparse_column(&H, DIM * c + 2, p->Wf + (size_t)(FACETS * c + 1) * (size_t)nv);
            w[DIM * c] = p->mcp.b[nv + c];
            w[DIM * c + 1] = p->mcp.b[nv + nc + FACETS * c];
            w[DIM * c + 2] = p->mcp.b[nv + nc + FACETS * c + 1];
            r[DIM * c] = k->pn;
            r[DIM * c + 1] = dot(k->pf_W, k->tangent_W);
            r[DIM * c + 2] = dot(k->pf_W, o);
        }
        perp_fcp fcp = {.nc = nc,
                        .dim = DIM,
                        .nv = nv,
                        .mu = mu,
                        .M = matrix_of(&M),
                        .H = matrix_of(&H),
                        .f = f,
                        .w = w};
        perp_fcp_residuals judged = {0};
        perp_error error = {0};
        char solution[4200];
        const char *dot_at = strrchr(path, '.');
        int stem = dot_at ? (int)(dot_at - path) : (int)strlen(path);
        (void)snprintf(solution, sizeof solution, "%.*s.solution.csv", stem, path);
        if (perp_sim_state_get(sim, &t, q, v) < 0 ||
            perp_fcp_judge(&fcp, r, v, NULL, &judged) < 0) {
            status = fail("the solution cannot be judged");
        } else if (perp_fcp_write(&fcp, name, path, &error) < 0) {
            status = fail(error.text);
        } else if (!write_solution(solution, r, DIM * nc, v, nv)) {
            status = fail("the solution cannot be written");
        } else {
            const perp_step_info *info = perp_sim_info(sim);
            (void)printf(
                "{\"name\": \"%s\", \"contacts\": %d, \"velocities\": %d, \"scaled\": %.3e, "
                "\"plain\": %.3e, "
                "\"dynamics\": %.3e, \"backward\": %.3e, \"passed\": %s, \"residual\": %.3e, "
                "\"factorisations\": %d}\n",
                name, nc, nv, judged.scaled, judged.plain, judged.dynamics, judged.backward,
                info->certificate.passed ? "true" : "false", info->certificate.residual,
                info->effort.factorisations);
        }
    } else {
        (void)fail("no memory");
    }
    sparse_free(&M);
    sparse_free(&H);
    free(mu);
    free(f);
    free(w);
    free(r);
    free(v);
    free(q);
    return status;
}

int main(int count, char **words)
{
    perp_error error = {0};
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_step_problem *problem = NULL;
    int step = count == 4 ? (int)strtol(words[2], NULL, 10) : -1;
    if (step < 0) {
        (void)fprintf(stderr, "usage: perp_bench_problem SCENE STEP FILE\n");
        return 2;
    }
    if (perp_scene_load(words[1], NULL, &scene, &error) < 0) {
        return fail(error.text);
    }
    perp_sim_def def = perp_scene_sim_def(scene);
    def.facets = FACETS;  // of the form that is shown; the step is solved on the exact cones
    int status = perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error) < 0
                     ? fail(error.text)
                     : 0;
    for (int k = 0; status == 0 && k <= step; k++) {
        status =
            perp_sim_step(sim, perp_scene_step(scene)) < 0 ? fail(perp_sim_error(sim)->text) : 0;
    }
    if (status == 0 && perp_sim_problem(sim, PERP_FORM_MCP, &problem) < 0) {
        status = fail("the step has no problem to show");
    }
    if (status == 0) {
        char name[160];
        (void)snprintf(name, sizeof name, "%s, step %d", perp_scene_name(scene), step);
        status = dump(sim, problem, name, words[3]);
    }
    perp_step_problem_destroy(problem);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    return status;
}
