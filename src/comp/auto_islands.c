// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contact problems in the local form fall apart where W does: each part climbs the ladder by itself, and a
// hard one does not hold up the others. What is put together is judged whole; where it does not stand, all
// climb together from there.
#include "comp/auto.h"

#include <math.h>
#include <string.h>

enum { WHOLE_MAX_CONTACTS = 36 };  // contacts up to which all are solved together

typedef struct parts {
    const perp_fcp *fcp;
    int count;
    int *of, *local;    // contacts: part, number in it
    int *start, *list;  // parts + 1; contacts by part, ascending
} parts;

static int leader(int *up, int i)
{
    while (up[i] != i) {
        up[i] = up[up[i]];
        i = up[i];
    }
    return i;
}

// Contacts that an entry of W ties; returns how many parts are left.
static int join_coupled(const perp_fcp *fcp, int *up)
{
    int dim = fcp->dim, count = fcp->nc;
    for (int c = 0; c < fcp->nc; c++) {
        up[c] = c;
    }
    for (int j = 0; j < fcp->nc * dim && count > 1; j++) {
        for (int k = fcp->W.p[j]; k < fcp->W.p[j + 1]; k++) {
            int a = leader(up, fcp->W.i[k] / dim), b = leader(up, j / dim);
            if (a != b && fcp->W.x[k] != 0.0) {
                up[a > b ? a : b] = a < b ? a : b;
                count--;
            }
        }
    }
    return count;
}

// Sorted by part, parts by their first contacts.
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
    int *next = p->start + 1;
    for (int c = 0; c < nc; c++) {
        int first = leader(up, c);
        p->of[c] = first == c ? found++ : p->of[first];
        next[p->of[c] + 1]++;
    }
    for (int k = 1; k <= p->count; k++) {
        next[k] += next[k - 1];
    }
    for (int c = 0; c < nc; c++) {
        p->list[next[p->of[c]]++] = c;
    }
    for (int c = 0, k = 0; k < p->count; k++) {  // now that the starts are in place
        for (; c < p->start[k + 1]; c++) {
            p->local[p->list[c]] = c - p->start[k];
        }
    }
    return true;
}

// One part that is nearly all is better solved with the few others: it then need not be closer by itself.
static bool worth_it(const parts *p)
{
    int most = 0;
    for (int k = 0; k < p->count; k++) {
        int size = p->start[k + 1] - p->start[k];
        most = size > most ? size : most;
    }
    return 4 * (int64_t)most <= 3 * (int64_t)p->fcp->nc;
}

// Numbers of the contacts of a part, `width` a contact; NULL where the whole has none.
static const double *copy_contact_numbers(const double *from, int width, const int *list, int nc,
                                          pp_arena *arena, bool *ok)
{
    double *to = from ? PP_ARRAY(arena, double, width *nc) : NULL;
    for (int c = 0; to && c < nc; c++) {
        memcpy(to + (ptrdiff_t)width * c, from + (ptrdiff_t)width * list[c],
               (size_t)width * sizeof *to);
    }
    *ok = *ok && (to || !from);
    return to;
}

static bool copy_matrix(const parts *p, const int *list, perp_fcp *out, pp_arena *arena)
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
            if (p->of[c] == p->of[list[0]]) {  // entries of others are zeros
                row[used] = dim * p->local[c] + W->i[k] % dim;
                x[used++] = W->x[k];
            }
        }
    }
    start[n] = used;
    out->W = perp_matrix_csc(n, n, start, row, x);
    return true;
}

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
    int *nd = fcp->nd ? PP_ARRAY(arena, int, out->nc) : NULL;
    for (int c = 0; nd && c < out->nc; c++) {
        nd[c] = fcp->nd[list[c]];
    }
    out->nd = nd;
    return ok && (nd || !fcp->nd) && copy_matrix(p, list, out, arena);
}

// Work adds up; the rest is that of the part that took most.
static void add_report(pp_report *sum, const pp_report *part)
{
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

static perp_status solve_part(const parts *p, int part, const pp_job *job, double *r,
                              pp_report *report)
{
    perp_fcp fcp;
    pp_report own = {0};
    size_t size = (size_t)p->fcp->dim * sizeof *r;
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

// All parts; *stands: the judge accepts what they make.
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
    double tolerance = job->options->tolerance;
    perp_status status = pp_fcp_judge(p->fcp, r, NULL, tolerance, job->arena, residuals);
    *stands = status >= 0 && pp_fcp_worst(p->fcp, residuals) <= tolerance;
    report->judged = *stands;
    return status;
}

perp_status pp_auto_islands_fcp(const perp_fcp *fcp, const pp_job *job, double *r, double *v,
                                pp_report *report)
{
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
    if (p.count == 1 || !worth_it(&p)) {
        return pp_auto_fcp(fcp, job, r, v, report);
    }
    bool stands = false;
    perp_status status = solve_parts(&p, job, r, report, &stands);
    if (stands || status == PERP_ERR_MEMORY || status == PERP_ERR_INFEASIBLE) {
        return status;
    }
    perp_comp_options options = *job->options;
    pp_job again = *job;
    options.warm_start = true;
    again.options = &options;
    *report = (pp_report){0};
    return pp_auto_fcp(fcp, &again, r, v, report);
}
