// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The quantities a contact answer is judged by: its velocities in long double with the sums of the
// absolute values of their terms, the diagonal of W, and in the global form how well M v = f + H r
// holds. No solver calls this.
//
// In the global form v may be rounding alone (bodies at rest). Then u = H'v + w is measured against
// the terms that v is the sum of, V = |M^-1 f| + sum_j |M^-1 h_j| |r_j|. Cost: one product with H
// and M, and one solve with M for each column of H.
#include "comp/judge/judge.h"

#include <math.h>
#include <string.h>

static const pp_real ROUNDING = 0x1p-63L;  // of long double, with a margin

// Sums, and the sums of the absolute values of their terms.
typedef struct evidence_tally {
    pp_real *sum, *terms;
} evidence_tally;

static void tally_begin(evidence_tally t, int n, const double *x)
{
    for (int k = 0; k < n; k++) {
        t.sum[k] = (pp_real)x[k];
        t.terms[k] = fabsl(t.sum[k]);
    }
}

static void tally_add(evidence_tally t, int k, double a, double x)
{
    pp_real part = (pp_real)a * (pp_real)x;
    t.sum[k] += part;
    t.terms[k] += fabsl(part);
}

// t += s A x, or t += s A'x
static void tally_matrix(const perp_matrix *A, double s, bool transposed, const double *x,
                         evidence_tally t)
{
    for (int j = 0; j < A->cols; j++) {
        if (!transposed && x[j] == 0.0) {
            continue;
        }
        pp_matrix_column c = pp_matrix_column_of(A, j);
        for (int k = 0; k < c.count; k++) {
            int i = pp_row_in(c, k);
            // every product is rounded once, in long double
            if (transposed) {
                tally_add(t, j, s * c.x[k], x[i]);
            } else {
                tally_add(t, i, s * c.x[k], x[j]);
            }
        }
    }
}

static pp_real norm_of(int n, const pp_real *x)
{
    pp_real sum = 0.0L;
    for (int k = 0; k < n; k++) {
        sum += x[k] * x[k];
    }
    return sqrtl(sum);
}

perp_status pp_fcp_evidence_local(const perp_fcp *fcp, const double *r, pp_fcp_evidence *e)
{
    int n = fcp->nc * fcp->dim;
    evidence_tally u = {e->u, e->terms};
    tally_begin(u, n, fcp->q);
    tally_matrix(&fcp->W, 1.0, false, r, u);
    for (int k = 0; k < n; k++) {
        e->q[k] = fcp->q[k];
        e->made[k] = (double)e->terms[k];
    }
    pp_matrix_diagonal(&fcp->W, e->diagonal);
    return PERP_OK;
}

// ── The global form ──────────────────────────────────────────────────────────────────────────────

// Columns of M^-1 H, one at a time.
typedef struct evidence_columns {
    perp_matrix H;  // by columns
    double *y;      // nv, zero but where touched
    int *touched, count;
} evidence_columns;

static perp_status create_columns(const perp_fcp *fcp, pp_arena *arena, evidence_columns *c)
{
    c->y = PP_ZEROS(arena, double, fcp->nv);
    c->touched = PP_ARRAY(arena, int, fcp->nv);
    c->count = 0;
    if (!c->y || !c->touched) {
        return PERP_ERR_MEMORY;
    }
    return pp_matrix_to_csc(&fcp->H, arena, &c->H);
}

static void reset_column(evidence_columns *c)
{
    for (int k = 0; k < c->count; k++) {
        c->y[c->touched[k]] = 0.0;
    }
}

// diag(H' M^-1 H), with one solve for each column of H, and V += |M^-1 h_j| |r_j|.
static perp_status solve_all_columns(const perp_fcp *fcp, const pp_mass *mass, const double *r,
                                     pp_arena *arena, double *diagonal, double *V)
{
    evidence_columns c;
    perp_status status = create_columns(fcp, arena, &c);
    if (status < 0) {
        return status;
    }
    for (int j = 0; j < c.H.cols; j++) {
        double sum = 0.0;
        status = pp_mass_column(mass, &c.H, j, c.y, c.touched, &c.count);
        if (status < 0) {
            return status;
        }
        // h_j' M^-1 h_j
        for (int k = c.H.p[j]; k < c.H.p[j + 1]; k++) {
            sum += c.H.x[k] * c.y[c.H.i[k]];
        }
        if (r[j] != 0.0) {
            for (int k = 0; k < c.count; k++) {
                V[c.touched[k]] += fabs(c.y[c.touched[k]] * r[j]);
            }
        }
        reset_column(&c);
        diagonal[j] = sum;
    }
    return status;
}

// The sum of weight x^2 over the velocities of the body of k; over all
// velocities where M is not block diagonal.
static double over_body(const perp_fcp *fcp, const pp_mass *mass, int k, const double *weight,
                        const double *x)
{
    const int *dof = NULL;
    int count = pp_mass_body(mass, k, &dof);
    double sum = 0.0;
    for (int a = 0; a < (dof ? count : fcp->nv); a++) {
        int at = dof ? dof[a] : a;
        sum += weight[at] * x[at] * x[at];
    }
    return sum;
}

// Whether k is the first velocity of its body, which stands for it.
static bool is_first_of_body(const pp_mass *mass, int k)
{
    const int *dof = NULL;
    pp_mass_body(mass, k, &dof);
    return dof ? dof[0] == k : k == 0;
}

// The worst body's |M v - f - H r| relative to its terms, as roots of
// energies (divided by the root of the inertia).
static perp_status judge_bodies(const perp_fcp *fcp, const double *error, const double *terms,
                                pp_arena *arena, pp_fcp_evidence *e)
{
    double *weight = PP_ARRAY(arena, double, fcp->nv);
    if (!weight) {
        return PERP_ERR_MEMORY;
    }
    for (int k = 0; k < fcp->nv; k++) {
        weight[k] = 1.0 / e->inertia[k];
    }
    e->momentum = 0.0;
    for (int k = 0; k < fcp->nv; k++) {
        // one number for each body, infinite where it is not finite
        if (is_first_of_body(e->mass, k)) {
            double size = over_body(fcp, e->mass, k, weight, terms);
            double off = over_body(fcp, e->mass, k, weight, error);
            e->momentum = fmax(e->momentum, size > 0.0 ? sqrt(off / size) : off);
            e->momentum = isfinite(size) && isfinite(off) ? e->momentum : PP_INF;
        }
    }
    return PERP_OK;
}

// |M v - f - H r| / max(|f + H r|, |f|): at rest f + H r is rounding, and f is the measure.
static perp_status judge_dynamics(const perp_fcp *fcp, const double *r, const double *v,
                                  pp_arena *arena, pp_fcp_evidence *e)
{
    int nv = fcp->nv;
    evidence_tally push = {PP_ARRAY(arena, pp_real, nv), PP_ARRAY(arena, pp_real, nv)};
    double *error = PP_ARRAY(arena, double, 2 * (size_t)nv);
    if (!push.sum || !push.terms || !error) {
        return PERP_ERR_MEMORY;
    }
    double *terms = error + nv;
    tally_begin(push, nv, fcp->f);
    // |f| before the contacts act
    pp_real force = norm_of(nv, push.sum);
    tally_matrix(&fcp->H, 1.0, false, r, push);
    pp_real size = fmaxl(norm_of(nv, push.sum), force);
    tally_matrix(&fcp->M, -1.0, false, v, push);
    pp_real off = norm_of(nv, push.sum) + ROUNDING * norm_of(nv, push.terms);
    e->dynamics = (double)(size > 0.0L ? off / size : off);
    for (int k = 0; k < nv; k++) {
        error[k] = (double)push.sum[k];
        terms[k] = (double)push.terms[k];
    }
    return judge_bodies(fcp, error, terms, arena, e);
}

// made = |w| + |H'| V, and for each velocity the load of its body: the root of the energy of V.
static void find_body_loads(const perp_fcp *fcp, const double *V, pp_fcp_evidence *e)
{
    const perp_matrix *H = &fcp->H;
    for (int j = 0; j < H->cols; j++) {
        pp_matrix_column column = pp_matrix_column_of(H, j);
        double sum = fabs(fcp->w[j]);
        for (int k = 0; k < column.count; k++) {
            sum += fabs(column.x[k]) * V[pp_row_in(column, k)];
        }
        e->made[j] = fmax(sum, (double)e->terms[j]);
    }
    for (int k = 0; k < fcp->nv; k++) {
        // velocities of a body share one load
        if (is_first_of_body(e->mass, k)) {
            const int *dof = NULL;
            int count = pp_mass_body(e->mass, k, &dof);
            double load = sqrt(over_body(fcp, e->mass, k, e->inertia, V));
            for (int a = 0; a < (dof ? count : fcp->nv); a++) {
                e->load[dof ? dof[a] : a] = load;
            }
        }
    }
}

perp_status pp_fcp_evidence_global(const perp_fcp *fcp, const double *r, const double *v,
                                   pp_arena *arena, pp_fcp_evidence *e)
{
    int n = fcp->nc * fcp->dim, nv = fcp->nv;
    double *rest = PP_ARRAY(arena, double, nv);
    evidence_tally u = {e->u, e->terms};
    e->inertia = PP_ARRAY(arena, double, nv);
    e->load = PP_ARRAY(arena, double, nv);
    bool whole = rest && e->inertia && e->load;
    perp_status status = whole ? pp_mass_create(&fcp->M, arena, &e->mass) : PERP_ERR_MEMORY;
    if (status < 0) {
        return status;
    }
    pp_matrix_diagonal(&fcp->M, e->inertia);
    status = judge_dynamics(fcp, r, v, arena, e);
    tally_begin(u, n, fcp->w);  // u = H' v + w
    tally_matrix(&fcp->H, 1.0, true, v, u);
    memcpy(rest, fcp->f, (size_t)nv * sizeof *rest);  // q = H' M^-1 f + w
    if (status >= 0) {
        status = pp_mass_solve(e->mass, rest);
    }
    for (int k = 0; k < n; k++) {
        e->q[k] = fcp->w[k];
    }
    pp_matrix_mul_t(&fcp->H, 1.0, rest, e->q);
    // V begins as |M^-1 f|
    for (int k = 0; k < nv; k++) {
        rest[k] = fabs(rest[k]);
    }
    if (status >= 0) {
        status = solve_all_columns(fcp, e->mass, r, arena, e->diagonal, rest);
    }
    if (status >= 0) {
        find_body_loads(fcp, rest, e);
    }
    return status;
}

// C_c of (C41) in the global form: the changes of the velocities by a unit of r_c, in the norm of
// the masses and relative to the loads of their bodies.
perp_status pp_global_weight(const perp_fcp *fcp, int c, const pp_fcp_evidence *e, pp_arena *arena,
                             double *weight)
{
    pp_mark mark = pp_arena_mark(arena);
    evidence_columns x;
    perp_status status = create_columns(fcp, arena, &x);
    *weight = 0.0;
    for (int j = c * fcp->dim; j < (c + 1) * fcp->dim; j++) {
        if (status < 0) {
            break;
        }
        double sum = 0.0;
        status = pp_mass_column(e->mass, &x.H, j, x.y, x.touched, &x.count);
        for (int k = 0; k < x.count; k++) {
            int at = x.touched[k];
            // root of the energy of the change, by a unit of r_c in the units of (C16)
            double change = sqrt(e->inertia[at]) * fabs(x.y[at]) / e->scale[j];
            sum += e->load[at] > 0.0 ? change / e->load[at] : 0.0;
        }
        reset_column(&x);
        *weight = fmax(*weight, sum);
    }
    pp_arena_release(arena, mark);
    return status;
}
