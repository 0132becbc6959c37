// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp_bench_limits: peak performance of one core in plain C, compiled like the library (four doubles at a
// time, no fused products), and how close the kernels of the library come to it on real contact graphs:
//
//   peak     multiply-adds in registers; reads from arrays that fit L2, L3, or main memory
//   kernel   C -= A B' of dense blocks
//   factors  one factorisation of M + G^T D G (made-up values, graph of the scene), and one solve with it
//   sweep    one sweep of gs over the contacts
//
// Times are CPU times, the least of several. Operations and bytes of a factorisation are counted by its fronts;
// those of a sweep from the blocks it reads, without the exact solution of each contact.
#include "math/math.h"
#include "math/simd.h"
#include "model/model.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LANES = 12, BATCHES = 7 };

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *room(size_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);
    if (!memory) {
        fputs("perp_bench_limits: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

// ── The machine ──────────────────────────────────────────────────────────────────────────────────

// Independent chains of multiply-adds, so that none waits for another.
PP_CLONES
static double spin(int rounds)
{
    pp_v4 x[LANES];
    for (int k = 0; k < LANES; k++) {
        x[k] = (pp_v4){1.0, 1.1, 1.2, 1.3 + 0.01 * k};
    }
    const pp_v4 a = {0.999, 0.998, 0.997, 0.996}, b = {1e-3, 2e-3, 3e-3, 4e-3};
    for (int n = 0; n < rounds; n++) {
        for (int k = 0; k < LANES; k++) {
            x[k] = x[k] * a + b;
        }
    }
    double sum = 0.0;
    for (int k = 0; k < LANES; k++) {
        sum += PP_SUM(x[k]);
    }
    return sum;
}

PP_CLONES
static double read_all(const double *x, size_t n)
{
    pp_v4 sum[8] = {{0.0}};
    for (size_t i = 0; i + 32 <= n; i += 32) {
        for (int k = 0; k < 8; k++) {
            sum[k] += PP_LOAD(x + i + 4 * (size_t)k);
        }
    }
    double all = 0.0;
    for (int k = 0; k < 8; k++) {
        all += PP_SUM(sum[k]);
    }
    return all;
}

static double peak_flops(double *kept)
{
    const int rounds = 2000000;
    double best = HUGE_VAL;
    for (int n = 0; n < BATCHES; n++) {
        double start = cpu_seconds();
        *kept += spin(rounds);
        best = fmin(best, cpu_seconds() - start);
    }
    return 8.0 * LANES * rounds / best;
}

// Bytes per second when reading an array of this size repeatedly.
static double bandwidth(size_t bytes, double *kept)
{
    size_t n = bytes / sizeof(double);
    int repeat = (int)(400000000 / bytes) + 1;
    double *x = room(bytes), best = HUGE_VAL;
    for (size_t i = 0; i < n; i++) {
        x[i] = 1.0;
    }
    for (int batch = 0; batch < BATCHES; batch++) {
        double start = cpu_seconds();
        for (int k = 0; k < repeat; k++) {
            *kept += read_all(x, n);
        }
        best = fmin(best, (cpu_seconds() - start) / repeat);
    }
    free(x);
    return (double)bytes / best;
}

static double kernel(int n, int k)
{
    size_t size = (size_t)n * (size_t)(n > k ? n : k);
    double *A = room(3 * size * sizeof *A), best = HUGE_VAL;
    int repeat = (int)(1e8 / (2.0 * n * n * k)) + 1;
    for (size_t i = 0; i < 3 * size; i++) {
        A[i] = 1e-3 * (double)(i % 7);
    }
    for (int batch = 0; batch < BATCHES; batch++) {
        double start = cpu_seconds();
        for (int r = 0; r < repeat; r++) {
            pp_gemm_sub_t(n, n, k, A, n, A + size, n, A + 2 * size, n);
        }
        best = fmin(best, (cpu_seconds() - start) / repeat);
    }
    free(A);
    return 2.0 * n * n * k / best;
}

// ── The contact graph of a scene ─────────────────────────────────────────────────────────────────

typedef struct graph {
    int nodes, contacts;
    int *size, *p, *i;  // pattern of pp_ldl
    int (*pair)[2];     // contacts: bodies, -1: not dynamic
    double *reals;  // contacts: points relative to both centres, normal, tangent, gap, mu (14 each)
    perp_pose *pose;  // nodes
    double *mass, *inertia;
} graph;

enum { REALS = 14 };

static int by_pair(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

// Blocks below the diagonal by columns, each once.
static void set_pattern(graph *g)
{
    int(*edge)[2] = room((size_t)g->contacts * sizeof *edge), edges = 0, at = 0;
    for (int c = 0; c < g->contacts; c++) {
        int a = g->pair[c][0], b = g->pair[c][1];
        if (a >= 0 && b >= 0) {
            edge[edges][0] = a < b ? a : b;
            edge[edges++][1] = a < b ? b : a;
        }
    }
    qsort(edge, (size_t)edges, sizeof *edge, by_pair);
    g->size = room((size_t)g->nodes * sizeof(int));
    g->p = room(((size_t)g->nodes + 1) * sizeof(int));
    g->i = room((size_t)(g->nodes + edges) * sizeof(int));
    for (int j = 0, e = 0; j < g->nodes; j++) {
        g->size[j] = 6;
        g->p[j] = at;
        g->i[at++] = j;
        for (; e < edges && edge[e][0] == j; e++) {
            if (g->i[at - 1] != edge[e][1]) {
                g->i[at++] = edge[e][1];
            }
        }
    }
    g->p[g->nodes] = at;
    free(edge);
}

static perp_vec3 less(perp_vec3 a, perp_vec3 b)
{
    return (perp_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static void put(double *to, perp_vec3 a)
{
    to[0] = a.x;
    to[1] = a.y;
    to[2] = a.z;
}

static void set_contact(graph *g, int c, const perp_model *m, const perp_contact *contact)
{
    double *to = g->reals + (size_t)REALS * (size_t)c;
    int body[2] = {m->shape[contact->a.i].body, m->shape[contact->b.i].body};
    for (int s = 0; s < 2; s++) {
        bool is_free = m->body[body[s]].nv == 6;
        g->pair[c][s] = is_free ? body[s] - 1 : -1;
        put(to + 3 * s,
            is_free ? less(contact->point_W, g->pose[body[s] - 1].p) : (perp_vec3){0.0, 0.0, 0.0});
    }
    put(to + 6, contact->normal_W);
    put(to + 9, contact->tangent_W);
    to[12] = contact->gap;
    to[13] = contact->mu;
}

// For scenes whose dynamic spatial bodies come before all others, like those of `perp scene`.
static bool open_graph(graph *g, const char *name, const perp_generator_option *options, int count)
{
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_error error = {0};
    bool made = perp_scene_generate(name, options, count, NULL, &scene, &error) >= 0;
    if (made) {
        perp_sim_def def = perp_scene_sim_def(scene);
        def.tolerance = 1e-3;  // only the contacts of the step are needed
        def.limits.residual = HUGE_VAL;
        made = perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error) >= 0 &&
               perp_sim_step(sim, 1e-5) >= 0;
    }
    if (made) {
        const perp_model *m = perp_scene_model(scene);
        const perp_contact *contact = perp_sim_contacts(sim, &g->contacts);
        g->nodes = m->bodies - 1;
        g->pair = room((size_t)g->contacts * sizeof *g->pair);
        g->reals = room((size_t)REALS * (size_t)g->contacts * sizeof(double));
        g->pose = room((size_t)g->nodes * sizeof *g->pose);
        g->mass = room((size_t)g->nodes * sizeof(double));
        g->inertia = room((size_t)g->nodes * sizeof(double));
        for (int b = 0; b < g->nodes; b++) {
            g->pose[b] = perp_sim_body_pose(sim, (perp_body){b + 1});
            g->mass[b] = m->body[b + 1].mass;
            g->inertia[b] = m->body[b + 1].I_B.m[0];  // cubes and balls: the same about all axes
        }
        for (int c = 0; c < g->contacts; c++) {
            set_contact(g, c, m, &contact[c]);
        }
        set_pattern(g);
    } else {
        fprintf(stderr, "perp_bench_limits: %s: %s\n", name, error.text);
    }
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    return made;
}

static void close_graph(graph *g)
{
    free(g->pair);
    free(g->reals);
    free(g->pose);
    free(g->mass);
    free(g->inertia);
    free(g->size);
    free(g->p);
    free(g->i);
}

// ── Factors ──────────────────────────────────────────────────────────────────────────────────────

// Cost: operations, least number of bytes moved, and time.
typedef struct work {
    double flops, bytes, seconds;
} work;

typedef struct factored {
    work factor, solve;
} factored;

// Diagonally dominant rows; not symmetric if upper is given.
static void fill_values(const graph *g, const pp_ldl *ldl, double *x, double *upper)
{
    const int *at = pp_ldl_places(ldl);
    int blocks = g->p[g->nodes];
    for (int k = 0; k < at[blocks]; k++) {
        x[k] = 0.02 * sin(1.0 + k);
        upper[k] = 0.02 * cos(1.0 + k);
    }
    for (int j = 0; j < g->nodes; j++) {
        for (int r = 0; r < 6; r++) {
            x[at[g->p[j]] + 7 * r] = 20.0;
        }
    }
}

static factored factor(const graph *g, bool symmetric)
{
    pp_ldl *ldl = pp_ldl_create(NULL);
    pp_ldl_pattern pattern = {g->nodes, g->size, g->p, g->i};
    factored out = {.factor.seconds = HUGE_VAL, .solve.seconds = HUGE_VAL};
    if (!ldl || pp_ldl_analyse(ldl, &pattern) < 0) {
        fputs("perp_bench_limits: no factorisation\n", stderr);
        exit(1);
    }
    size_t values = (size_t)pp_ldl_places(ldl)[g->p[g->nodes]];
    double *x = room(2 * values * sizeof *x), *b = room(6 * (size_t)g->nodes * sizeof *b);
    fill_values(g, ldl, x, x + values);
    for (int batch = 0; batch < BATCHES; batch++) {
        double start = cpu_seconds();
        bool ok = symmetric ? pp_ldl_factor(ldl, x, 0.0) == 0
                            : pp_ldl_factor_lu(ldl, x, x + values) == PERP_OK;
        double done = cpu_seconds();
        for (int i = 0; i < 6 * g->nodes; i++) {
            b[i] = 1.0;
        }
        double begin = cpu_seconds();
        ok = ok && pp_ldl_solve(ldl, b);
        out.solve.seconds = fmin(out.solve.seconds, cpu_seconds() - begin);
        out.factor.seconds = fmin(out.factor.seconds, ok ? done - start : HUGE_VAL);
    }
    out.factor.flops = pp_ldl_flops(ldl);
    out.factor.bytes = pp_ldl_bytes(ldl);
    out.solve.flops = 2.0 * (double)pp_ldl_fill(ldl);
    out.solve.bytes = (double)sizeof(double) * (double)pp_ldl_fill(ldl);
    free(x);
    free(b);
    pp_ldl_destroy(ldl);
    return out;
}

// ── A sweep ──────────────────────────────────────────────────────────────────────────────────────

// The contact problem M v = f + H r in the global form, one column per component.
typedef struct problem {
    perp_fcp fcp;
    int *ints;
    double *reals;
} problem;

static void put_column(const graph *g, int c, const double *direction, int *p, int *rows, double *x)
{
    const double *reals = g->reals + (size_t)REALS * (size_t)c;
    for (int s = 0; s < 2; s++) {
        const double *r = reals + 3 * s;
        double sign = s == 0 ? -1.0 : 1.0;
        if (g->pair[c][s] < 0) {
            continue;
        }
        for (int k = 0; k < 3; k++) {
            int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            x[*p + k] = sign * direction[k];
            x[*p + 3 + k] = sign * (r[k1] * direction[k2] - r[k2] * direction[k1]);
        }
        for (int k = 0; k < 6; k++) {
            rows[*p + k] = 6 * g->pair[c][s] + k;
        }
        *p += 6;
    }
}

static void open_problem(problem *out, const graph *g)
{
    size_t nv = 6 * (size_t)g->nodes, n = 3 * (size_t)g->contacts;
    int *ints = out->ints = room((2 * nv + 1 + n + 1 + 12 * n) * sizeof(int));
    double *reals = out->reals = room((2 * nv + 14 * n) * sizeof(double));
    int *Mp = ints, *Mi = Mp + nv + 1, *Hp = Mi + nv, *Hi = Hp + n + 1, at = 0;
    double *Mx = reals, *f = Mx + nv, *Hx = f + nv, *w = Hx + 12 * n, *mu = w + n;
    for (int b = 0; b < g->nodes; b++) {
        for (int k = 0; k < 6; k++) {
            int i = 6 * b + k;
            Mp[i] = Mi[i] = i;
            Mx[i] = k < 3 ? g->mass[b] : g->inertia[b];
            f[i] = k == 2 ? -0.981 * g->mass[b] : 0.0;  // ten steps of falling: all press
        }
    }
    Mp[nv] = (int)nv;
    for (int c = 0; c < g->contacts; c++) {
        const double *d = g->reals + (size_t)REALS * (size_t)c, *normal = d + 6, *t = d + 9;
        double o[3];
        for (int k = 0; k < 3; k++) {
            int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            o[k] = normal[k1] * t[k2] - normal[k2] * t[k1];
        }
        const double *direction[3] = {normal, t, o};
        for (int k = 0; k < 3; k++) {
            Hp[3 * c + k] = at;
            put_column(g, c, direction[k], &at, Hi, Hx);
            w[3 * c + k] = k == 0 ? d[12] / 0.01 : 0.0;
        }
        mu[c] = d[13];
    }
    Hp[n] = at;
    out->fcp = (perp_fcp){.nc = g->contacts,
                          .dim = 3,
                          .nv = (int)nv,
                          .mu = mu,
                          .M = perp_matrix_csc((int)nv, (int)nv, Mp, Mi, Mx),
                          .H = perp_matrix_csc((int)nv, (int)n, Hp, Hi, Hx),
                          .f = f,
                          .w = w};
}

static double gs_seconds(const problem *p, int sweeps, double *z)
{
    perp_comp_options options = perp_comp_options_default();
    perp_comp_info info;
    options.tolerance = 1e-15;
    options.max_iterations = sweeps;
    double best = HUGE_VAL;
    for (int batch = 0; batch < 3; batch++) {
        double start = cpu_seconds();
        perp_status status =
            perp_fcp_solve("gs", &p->fcp, &options, NULL, z, z + 3 * p->fcp.nc, &info);
        if (status == PERP_ERR_MEMORY || status == PERP_ERR_ARGUMENT) {
            fprintf(stderr, "perp_bench_limits: %s\n", info.error.text);
            exit(1);
        }
        best = fmin(best, cpu_seconds() - start);
    }
    return best;
}

// Entries of H are read once with the state, and again, as M^-1 H, if the impulse changed.
static work sweep(const graph *g)
{
    enum { FEW = 20, MORE = 60 };
    problem p;
    open_problem(&p, g);
    double *z = room(((size_t)p.fcp.nv + 3 * (size_t)p.fcp.nc) * sizeof *z);
    work out = {.seconds = (gs_seconds(&p, MORE, z) - gs_seconds(&p, FEW, z)) / (MORE - FEW)};
    double entries = (double)p.fcp.H.p[p.fcp.H.cols];
    out.flops = 4.0 * entries + 18.0 * p.fcp.nc;
    out.bytes = 2.0 * sizeof(double) * entries + (2.0 / 3.0) * sizeof(double) * entries +
                (9.0 + 6.0) * sizeof(double) * p.fcp.nc;
    free(z);
    free(p.ints);
    free(p.reals);
    return out;
}

// ── The report ───────────────────────────────────────────────────────────────────────────────────

typedef struct machine {
    double flops, bandwidth[3];
} machine;

static const size_t SIZES[3] = {(size_t)512 << 10, (size_t)8 << 20, (size_t)256 << 20};

// Roofline: time of the operations or bytes at the peak rates of the machine, whichever is larger.
static void print_work(const char *what, work w, const machine *m)
{
    int level = w.bytes <= (double)SIZES[0] ? 0 : w.bytes <= (double)SIZES[1] ? 1 : 2;
    double roof = fmax(w.flops / m->flops, w.bytes / m->bandwidth[level]);
    printf("  %-22s %9.3g %9.3g %9.4g %8.2f %8.2f %7.0f %%\n", what, w.flops, w.bytes,
           1e3 * w.seconds, 1e-9 * w.flops / w.seconds, 1e-9 * w.bytes / w.seconds,
           100.0 * roof / w.seconds);
}

static void measure(const char *name, const perp_generator_option *options, int count,
                    const machine *m)
{
    graph g = {0};
    if (!open_graph(&g, name, options, count)) {
        exit(1);
    }
    printf("\n%s", name);
    for (int k = 0; k < count; k++) {
        printf(" --%s %s", options[k].name, options[k].value);
    }
    printf(": %d bodies, %d contacts\n", g.nodes, g.contacts);
    printf("  %-22s %9s %9s %9s %8s %8s %9s\n", "", "flops", "bytes", "ms", "GF/s", "GB/s",
           "of roof");
    factored ldl = factor(&g, true), lu = factor(&g, false);
    print_work("factors L D L'", ldl.factor, m);
    print_work("factors L U", lu.factor, m);
    print_work("solve with L U", lu.solve, m);
    print_work("sweep of gs", sweep(&g), m);
    fflush(stdout);
    close_graph(&g);
}

int main(void)
{
    double kept = 0.0;
    machine m = {.flops = peak_flops(&kept)};
    for (int k = 0; k < 3; k++) {
        m.bandwidth[k] = bandwidth(SIZES[k], &kept);
    }
    printf(
        "one core: %.1f GF/s (products and sums), reads %.1f GB/s from 512 KiB, %.1f from 8 MiB, "
        "%.1f from 256 MiB%s\n",
        1e-9 * m.flops, 1e-9 * m.bandwidth[0], 1e-9 * m.bandwidth[1], 1e-9 * m.bandwidth[2],
        isfinite(kept) ? "" : "!");
    printf("C -= A B':");
    for (int n = 24; n <= 384; n *= 4) {
        printf("  n %d, k %d: %.1f GF/s", n, n / 2, 1e-9 * kernel(n, n / 2));
    }
    printf("\n");
    measure("wall3", (perp_generator_option[]){{"rows", "10"}, {"columns", "10"}}, 2, &m);
    measure("wall3", (perp_generator_option[]){{"rows", "32"}, {"columns", "32"}}, 2, &m);
    measure("heap3", (perp_generator_option[]){{"bodies", "100"}, {"cubes", "0"}, {"layers", "5"}},
            3, &m);
    measure("heap3", (perp_generator_option[]){{"bodies", "1000"}, {"cubes", "0"}, {"layers", "5"}},
            3, &m);
    measure("heap3", (perp_generator_option[]){{"bodies", "1000"}, {"cubes", "1"}, {"layers", "5"}},
            3, &m);
    return 0;
}
