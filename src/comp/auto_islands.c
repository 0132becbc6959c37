// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contact problems in the local form split into the connected components of W, which are solved one
// after another by the ladder of auto_fcp.c, so that a hard component does not hold up the others.
// The combined answer is judged as a whole, since norms over all contacts and over one part differ;
// where it is not accepted the ladder runs on the whole problem, from that answer.
//
// Components are found by union–find over the entries of W, in nearly linear time.
#include "comp/auto.h"

#include <math.h>
#include <string.h>

enum { WHOLE_MAX_CONTACTS = 36 };  // contacts up to which all are solved together

// The contacts by connected component.
typedef struct parts {
    const perp_fcp *fcp;
    int count;
    int *of, *local;    // contacts: part, number in it
    int *start, *list;  // parts + 1; contacts by part, ascending
} parts;

// The representative of i, with path halving.
static int component_of(int *up, int i)
{
    while (up[i] != i) {
        up[i] = up[up[i]];
        i = up[i];
    }
    return i;
}

// Joins contacts that a non-zero entry of W couples. Returns the number of components. The smaller
// index is the representative, so that the result does not depend on the order of entries.
static int join_coupled(const perp_fcp *fcp, int *up)
{
    int dim = fcp->dim, count = fcp->nc;
    for (int c = 0; c < fcp->nc; c++) {
        up[c] = c;
    }
    for (int j = 0; j < fcp->nc * dim && count > 1; j++) {
        for (int k = fcp->W.p[j]; k < fcp->W.p[j + 1]; k++) {
            int a = component_of(up, fcp->W.i[k] / dim), b = component_of(up, j / dim);
            // stored zeros couple nothing
            if (a != b && fcp->W.x[k] != 0.0) {
                up[a > b ? a : b] = a < b ? a : b;
                count--;
            }
        }
    }
    return count;
}

// Lists the contacts by component, components in the order of their
// first contacts. False: no memory.
static bool sort_by_island(parts *p, int *up, pp_arena *arena)
{
    int nc = p->fcp->nc, found = 0;
    p->of = PP_ARRAY(arena, int, nc);
    p->local = PP_ARRAY(arena, int, nc);
    p->list = PP_ARRAY(arena, int, nc);
    p->start = PP_ZEROS(arena, int, p->count + 2);
    if (!p->of || !p->local || !p->list || !p->start) {
        return false;
    }
    // counting sort: start[] is filled one place ahead, and
    // advancing `next` shifts it into position
    int *next = p->start + 1;
    for (int c = 0; c < nc; c++) {
        int first = component_of(up, c);
        p->of[c] = first == c ? found++ : p->of[first];
        next[p->of[c] + 1]++;
    }
    for (int k = 1; k <= p->count; k++) {
        next[k] += next[k - 1];
    }
    for (int c = 0; c < nc; c++) {
        p->list[next[p->of[c]]++] = c;
    }
    for (int c = 0, k = 0; k < p->count; k++) {
        for (; c < p->start[k + 1]; c++) {
            p->local[p->list[c]] = c - p->start[k];
        }
    }
    return true;
}

// Where one component holds more than three quarters of the contacts splitting saves little, and
// the tolerance, relative to a part, is harder to meet than relative to the whole.
static bool is_worth_splitting(const parts *p)
{
    int most = 0;
    for (int k = 0; k < p->count; k++) {
        int size = p->start[k + 1] - p->start[k];
        most = size > most ? size : most;
    }
    return 4 * (int64_t)most <= 3 * (int64_t)p->fcp->nc;
}

// Copies the numbers of the contacts of a part, `width` a contact. NULL where the whole has none;
// *ok becomes false without memory.
static const double *copy_contact_numbers(const double *from, int width, const int *list, int nc,
                                          pp_arena *arena, bool *ok)
{
    if (!from) {
        return NULL;
    }
    double *to = PP_ARRAY(arena, double, width *nc);
    if (!to) {
        *ok = false;
        return NULL;
    }
    for (int c = 0; c < nc; c++) {
        memcpy(to + (ptrdiff_t)width * c, from + (ptrdiff_t)width * list[c],
               (size_t)width * sizeof *to);
    }
    return to;
}

// The columns and rows of W that belong to the contacts of a part. False: no memory.
static bool copy_submatrix(const parts *p, const int *list, perp_fcp *out, pp_arena *arena)
{
    const perp_matrix *W = &p->fcp->W;
    int dim = out->dim, n = out->nc * dim, entries = 0;
    for (int c = 0; c < out->nc; c++) {
        entries += W->p[dim * (list[c] + 1)] - W->p[dim * list[c]];
    }
    int *start = PP_ARRAY(arena, int, n + 1), *row = PP_ARRAY(arena, int, entries), used = 0;
    double *x = PP_ARRAY(arena, double, entries);
    if (!start || !row || !x) {
        return false;
    }
    for (int j = 0; j < n; j++) {
        int from = dim * list[j / dim] + j % dim;
        start[j] = used;
        for (int k = W->p[from]; k < W->p[from + 1]; k++) {
            int c = W->i[k] / dim;
            if (p->of[c] == p->of[list[0]]) {  // stored entries towards other parts are zeros
                row[used] = dim * p->local[c] + W->i[k] % dim;
                x[used++] = W->x[k];
            }
        }
    }
    start[n] = used;
    out->W = perp_matrix_csc(n, n, start, row, x);
    return true;
}

// The contact problem of one part. False: no memory.
static bool copy_part(const parts *p, int part, perp_fcp *out, pp_arena *arena)
{
    const perp_fcp *fcp = p->fcp;
    const int *list = p->list + p->start[part];
    bool ok = true;
    *out = (perp_fcp){.nc = p->start[part + 1] - p->start[part], .dim = fcp->dim};
    out->mu = copy_contact_numbers(fcp->mu, 1, list, out->nc, arena, &ok);
    out->mu_spin = copy_contact_numbers(fcp->mu_spin, 1, list, out->nc, arena, &ok);
    out->mu_roll = copy_contact_numbers(fcp->mu_roll, 1, list, out->nc, arena, &ok);
    out->q = copy_contact_numbers(fcp->q, fcp->dim, list, out->nc, arena, &ok);
    if (fcp->nd) {
        int *nd = PP_ARRAY(arena, int, out->nc);
        if (!nd) {
            return false;
        }
        for (int c = 0; c < out->nc; c++) {
            nd[c] = fcp->nd[list[c]];
        }
        out->nd = nd;
    }
    return ok && copy_submatrix(p, list, out, arena);
}

// Times and factorisations add up; solver, rungs and reason are those of the part that took most.
static void add_report(pp_report *sum, const pp_report *part)
{
    // more rungs, or as many with more iterations
    bool harder = !sum->solver || part->rungs > sum->rungs ||
                  (part->rungs == sum->rungs && part->iterations > sum->iterations);
    if (harder) {
        sum->solver = part->solver;
        sum->rungs = part->rungs;
        sum->iterations = part->iterations;
        memcpy(sum->reason, part->reason, sizeof sum->reason);
    }
    sum->seconds_factor += part->seconds_factor;
    sum->seconds_sweeps += part->seconds_sweeps;
    sum->factorisations += part->factorisations;
    sum->fill = fmax(sum->fill, part->fill);
    sum->flops = fmax(sum->flops, part->flops);
}

// Solves one part from its share of r, and writes the result back.
static perp_status solve_part(const parts *p, int part, const pp_job *job, double *r,
                              pp_report *report)
{
    perp_fcp fcp;
    pp_report own = {0};
    size_t size = (size_t)p->fcp->dim * sizeof *r;
    // r of the part: its share of the guess in, of the answer out
    double *x = NULL;
    if (copy_part(p, part, &fcp, job->arena)) {
        x = PP_ARRAY(job->arena, double, fcp.nc *fcp.dim);
    }
    if (!x) {
        return PERP_ERR_MEMORY;
    }
    const int *list = p->list + p->start[part];
    for (int c = 0; c < fcp.nc; c++) {
        memcpy(x + (ptrdiff_t)fcp.dim * c, r + (ptrdiff_t)fcp.dim * list[c], size);
    }
    perp_status status = pp_auto_fcp(&fcp, job, x, NULL, &own);
    for (int c = 0; c < fcp.nc; c++) {
        memcpy(r + (ptrdiff_t)fcp.dim * list[c], x + (ptrdiff_t)fcp.dim * c, size);
    }
    add_report(report, &own);
    return status;
}

// Solves all parts. *stands: the judge accepts the combined answer. The first failure ends it.
static perp_status solve_parts(const parts *p, const pp_job *job, double *r, pp_report *report,
                               bool *stands)
{
    perp_fcp_residuals *residuals = &report->residuals;
    for (int k = 0; k < p->count; k++) {
        pp_mark mark = pp_arena_mark(job->arena);
        perp_status status = solve_part(p, k, job, r, report);
        pp_arena_release(job->arena, mark);
        if (status < 0) {
            return status;
        }
    }
    // parts that all converged may still miss the tolerance of the whole
    double tolerance = job->options->tolerance;
    perp_status status = pp_fcp_judge(p->fcp, r, NULL, tolerance, job->arena, residuals);
    *stands = status >= 0 && pp_fcp_worst(p->fcp, residuals) <= tolerance;
    report->judged = *stands;
    return status;
}

perp_status pp_auto_islands_fcp(const perp_fcp *fcp, const pp_job *job, double *r, double *v,
                                pp_report *report)
{
    // With a limit on iterations or time the whole is solved: parts would have to share it.
    bool splits = fcp->nv == 0 && !fcp->W.dense && fcp->nc > WHOLE_MAX_CONTACTS &&
                  job->options->max_iterations == 0 && !isfinite(job->deadline);
    int *up = splits ? PP_ARRAY(job->arena, int, fcp->nc) : NULL;
    if (splits && !up) {
        return PERP_ERR_MEMORY;
    }
    parts p = {.fcp = fcp, .count = splits ? join_coupled(fcp, up) : 1};
    if (p.count > 1 && !sort_by_island(&p, up, job->arena)) {
        return PERP_ERR_MEMORY;
    }
    if (p.count == 1 || !is_worth_splitting(&p)) {
        return pp_auto_fcp(fcp, job, r, v, report);
    }
    bool stands = false;
    perp_status status = solve_parts(&p, job, r, report, &stands);
    if (stands || pp_is_final(status) || status == PERP_ERR_INFEASIBLE) {
        return status;
    }
    // not accepted: the whole problem, from the combined answer
    perp_comp_options options = *job->options;
    pp_job again = *job;
    options.warm_start = true;
    again.options = &options;
    *report = (pp_report){0};
    return pp_auto_fcp(fcp, &again, r, v, report);
}
