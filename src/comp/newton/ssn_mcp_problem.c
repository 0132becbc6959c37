// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The equilibrated MCP, its Fischer–Burmeister map and its min map.
//
//   phi(a, c) = a + c - sqrt(a^2 + c^2) = 0   <=>   a >= 0, c >= 0, a c = 0         theory (C24)
//
//   free      Phi = w
//   lower     Phi = phi(z - l, w)
//   upper     Phi = -phi(u - z, -w)
//   both      Phi = phi(z - l, -phi(u - z, -w))                     Billups 1995, theory (C25)
//   l = u     Phi = z - l
//
// The size of phi(a, c) is within the factors 2 - sqrt 2 and 2 + sqrt 2 of |min(a, c)| (Tseng
// 1996), so that both maps measure the same error. phi is differentiable except at (0, 0), where an
// element of Clarke's generalised Jacobian is taken.
#include "comp/newton/ssn_mcp.h"

#include <math.h>
#include <string.h>

// ── Scaling ──────────────────────────────────────────────────────────────────────────────────────

// A copy of A: dense where A is, otherwise CSC with every diagonal
// entry stored, zeros where A has none.
static perp_status copy_with_diagonal(const perp_matrix *A, pp_arena *arena, perp_matrix *out)
{
    int n = A->rows;
    if (A->dense) {
        double *x = PP_ARRAY(arena, double, (size_t)n *(size_t)n);
        if (!x) {
            return PERP_ERR_MEMORY;
        }
        memcpy(x, A->dense, (size_t)n * (size_t)n * sizeof *x);
        *out = perp_matrix_dense(n, n, x);
        return PERP_OK;
    }
    size_t most = (size_t)A->p[n] + (size_t)n;
    int *p = PP_ARRAY(arena, int, n + 1);
    int *i = PP_ARRAY(arena, int, most);
    double *x = PP_ARRAY(arena, double, most);
    if (!p || !i || !x || most > INT32_MAX) {
        return PERP_ERR_MEMORY;
    }
    int used = 0;
    for (int j = 0; j < n; j++) {
        bool diagonal = false;
        p[j] = used;
        for (int k = A->p[j]; k < A->p[j + 1]; k++) {
            // rows ascend: a missing diagonal entry belongs before the first row below it
            if (A->i[k] > j && !diagonal) {
                i[used] = j;
                x[used++] = 0.0;
            }
            diagonal = diagonal || A->i[k] >= j;
            i[used] = A->i[k];
            x[used++] = A->x[k];
        }
        if (!diagonal) {
            i[used] = j;
            x[used++] = 0.0;
        }
    }
    p[n] = used;
    *out = perp_matrix_csc(n, n, p, i, x);
    return PERP_OK;
}

// The row of entry k of column j, and where in the values it is.
static int entry_of_column(const perp_matrix *A, int j, int k, size_t *at)
{
    if (A->dense) {
        *at = (size_t)j * (size_t)A->rows + (size_t)k;
        return k;
    }
    *at = (size_t)(A->p[j] + k);
    return A->i[*at];
}

// Stored entries of column j.
static int column_entries(const perp_matrix *A, int j)
{
    return A->dense ? A->rows : A->p[j + 1] - A->p[j];
}

// Equilibration after Ruiz (2001): divides rows and columns by the square roots of their largest
// entries, `passes` times. row, column: the factors; r, c: scratch.
void pp_fb_equilibrate(const perp_matrix *A, int passes, double *row, double *column, double *r,
                       double *c)
{
    int n = A->rows;
    double *x = (double *)(uintptr_t)(A->dense ? A->dense : A->x);  // the copy of the caller
    for (int i = 0; i < n; i++) {
        row[i] = column[i] = 1.0;
    }
    for (int pass = 0; pass < passes; pass++) {
        memset(r, 0, (size_t)n * sizeof *r);
        memset(c, 0, (size_t)n * sizeof *c);
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < column_entries(A, j); k++) {
                size_t at;
                int i = entry_of_column(A, j, k, &at);
                r[i] = fmax(r[i], fabs(x[at]));
                c[j] = fmax(c[j], fabs(x[at]));
            }
        }
        for (int i = 0; i < n; i++) {
            r[i] = r[i] > 0.0 ? 1.0 / sqrt(r[i]) : 1.0;
            c[i] = c[i] > 0.0 ? 1.0 / sqrt(c[i]) : 1.0;
            row[i] *= r[i];
            column[i] *= c[i];
        }
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < column_entries(A, j); k++) {
                size_t at;
                int i = entry_of_column(A, j, k, &at);
                x[at] *= r[i] * c[j];
            }
        }
    }
}

// The size of A_ii after elimination of one other variable: the
// largest |A_ij A_ji / A_jj|, or 0. It
// stands for a zero diagonal entry.                                                  theory (C15)
static double eliminated_diagonal(const perp_matrix *A, int i)
{
    double best = 0.0;
    for (int k = 0; k < column_entries(A, i); k++) {
        size_t at;
        int j = entry_of_column(A, i, k, &at);
        double Ajj = fabs(pp_matrix_at(A, j, j));
        if (Ajj > 0.0) {
            best = fmax(best, fabs(pp_matrix_at(A, i, j) * pp_matrix_at(A, j, i)) / Ajj);
        }
    }
    return best;
}

// 1 / rho_i of theory (C6), (C15)
static void unit_ratios(const perp_matrix *A, double *inverse)
{
    for (int i = 0; i < A->rows; i++) {
        double size = fabs(pp_matrix_at(A, i, i));
        size = size > 0.0 ? size : eliminated_diagonal(A, i);
        inverse[i] = size > 0.0 && isfinite(size) ? size : 1.0;
    }
}

// b, bounds and factors with the unit that makes max|b'| = 1.
static void scale_load_and_bounds(pp_fb *fb)
{
    const perp_mcp *mcp = fb->mcp;
    double size = 0.0;
    for (int i = 0; i < fb->n; i++) {
        fb->b[i] = fb->row[i] * mcp->b[i];
        size = fmax(size, fabs(fb->b[i]));
    }
    size = size > 0.0 ? size : 1.0;
    for (int i = 0; i < fb->n; i++) {
        fb->b[i] /= size;
        // the unit goes into C, and its inverse into R
        fb->column[i] *= size;
        fb->row[i] /= size;
        fb->lower[i] = pp_mcp_lower(mcp, i) / fb->column[i];
        fb->upper[i] = pp_mcp_upper(mcp, i) / fb->column[i];
    }
    fb->b_size = pp_norm_inf(fb->n, mcp->b);
}

// Residuals (C5) and (C6) are measured in the caller's units, hence `inverse` from the caller's A.
perp_status pp_fb_create(const perp_mcp *mcp, int passes, pp_arena *arena, pp_fb **out)
{
    int n = mcp->n;
    pp_fb *fb = PP_ZEROS(arena, pp_fb, 1);
    double *scratch = PP_ARRAY(arena, double, 2 * (size_t)n);
    if (!fb || !scratch) {
        return PERP_ERR_MEMORY;
    }
    fb->mcp = mcp;
    fb->n = n;
    double **vectors[] = {&fb->b, &fb->lower, &fb->upper, &fb->row, &fb->column, &fb->inverse};
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        *vectors[k] = PP_ARRAY(arena, double, n);
        if (!*vectors[k]) {
            return PERP_ERR_MEMORY;
        }
    }
    // equilibration works on the copy
    perp_status status = copy_with_diagonal(&mcp->A, arena, &fb->A);
    if (status < 0) {
        return status;
    }
    unit_ratios(&mcp->A, fb->inverse);
    pp_fb_equilibrate(&fb->A, passes, fb->row, fb->column, scratch, scratch + n);
    scale_load_and_bounds(fb);
    *out = fb;
    return PERP_OK;
}

// ── The map ──────────────────────────────────────────────────────────────────────────────────────

void pp_fb_velocity(const pp_fb *fb, pp_fb_prox prox, const double *z, double *w)
{
    memcpy(w, fb->b, (size_t)fb->n * sizeof *w);
    if (prox.lambda > 0.0) {
        for (int i = 0; i < fb->n; i++) {
            w[i] += prox.lambda * (z[i] - prox.center[i]);
        }
    }
    pp_matrix_mul(&fb->A, 1.0, z, w);
}

// phi(x, y) with its derivatives. At (0, 0) these are 1 - 1/sqrt(2) each, the element of the
// generalised Jacobian that is reached along x = y > 0.
static double fischer(double x, double y, double *dx, double *dy)
{
    double size = pp_hypot(x, y);
    if (size == 0.0) {
        *dx = *dy = 0.2928932188134524;
        return 0.0;
    }
    *dx = 1.0 - x / size;
    *dy = 1.0 - y / size;
    // x + y - |(x, y)| = 2 x y / (x + y + |(x, y)|), without cancellation where x + y > 0
    return x + y > 0.0 ? 2.0 * x * (y / (x + y + size)) : x + y - size;
}

// Phi_i and its derivatives a by z and c by w, by the kind of bounds.
static double component(double l, double u, double z, double w, double *a, double *c)
{
    bool below = isfinite(l), above = isfinite(u);
    double dx, dy, ex, ey;
    *a = 0.0;
    *c = 1.0;
    if (!below && !above) {
        return w;
    }
    if (below && l >= u) {
        *a = 1.0;
        *c = 0.0;
        return z - l;
    }
    if (!above) {
        return fischer(z - l, w, a, c);
    }
    // chain rule through the inner function of (C25)
    double inner = fischer(u - z, -w, &dx, &dy);
    if (!below) {
        *a = dx;
        *c = dy;
        return -inner;
    }
    double value = fischer(z - l, -inner, &ex, &ey);
    *a = ex + ey * dx;
    *c = ey * dy;
    return value;
}

double pp_fb_map(const pp_fb *fb, const double *z, const double *w, double *phi, double *a,
                 double *c)
{
    double sum = 0.0;
    for (int i = 0; i < fb->n; i++) {
        double da, dc;
        phi[i] = component(fb->lower[i], fb->upper[i], z[i], w[i], &da, &dc);
        sum += phi[i] * phi[i];
        if (a) {
            a[i] = da;
            c[i] = dc;
        }
    }
    return 0.5 * sum;
}

void pp_fb_min_map(const pp_fb *fb, const double *z, const double *w, double *phi, double *a,
                   double *c)
{
    for (int i = 0; i < fb->n; i++) {
        double moved = z[i] - w[i];
        bool between = moved > fb->lower[i] && moved < fb->upper[i];
        a[i] = between ? 0.0 : 1.0;
        c[i] = between ? 1.0 : 0.0;
        double bound = moved <= fb->lower[i] ? fb->lower[i] : fb->upper[i];
        phi[i] = between ? w[i] : z[i] - bound;
    }
}

double pp_fb_residual(const pp_fb *fb, const double *z, double *work)
{
    const perp_mcp *mcp = fb->mcp;
    double *x = work, *w = work + fb->n, plain = 0.0, scaled = 0.0, own = 0.0, own_size = 1.0;
    for (int i = 0; i < fb->n; i++) {
        double l = pp_mcp_lower(mcp, i), u = pp_mcp_upper(mcp, i);
        // at a bound the caller's own number, not its scaled and rescaled value
        if (z[i] <= fb->lower[i]) {
            x[i] = l;
        } else if (z[i] >= fb->upper[i]) {
            x[i] = u;
        } else {
            x[i] = pp_clamp(fb->column[i] * z[i], l, u);
        }
        w[i] = mcp->b[i];
    }
    pp_matrix_mul(&mcp->A, 1.0, x, w);
    for (int i = 0; i < fb->n; i++) {
        double l = pp_mcp_lower(mcp, i), u = pp_mcp_upper(mcp, i), s = fb->inverse[i];
        plain = fmax(plain, fabs(x[i] - pp_clamp(x[i] - w[i], l, u)));
        scaled = fmax(scaled, fabs(s * x[i] - pp_clamp(s * x[i] - w[i], s * l, s * u)));
        double xi = x[i] / fb->column[i], wi = fb->row[i] * w[i];
        own = fmax(own, fabs(xi - pp_clamp(xi - wi, fb->lower[i], fb->upper[i])));
        own_size = fmax(own_size, fmax(fabs(xi), fabs(wi)));
    }
    double size = fb->b_size > 0.0 ? fb->b_size : 1.0;
    double wide = fmax(size, pp_norm_inf(fb->n, w));
    double worst = fmax(own / own_size, fmax(plain / size, scaled / wide));
    return pp_all_finite((size_t)fb->n, w) && isfinite(worst) ? worst : PP_INF;
}
