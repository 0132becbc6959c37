// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// For MCPs whose rows are in comparable units by the caller's word: the largest
// number that each row and each variable is coupled with. What is small beside it is
// rounding of the data. No solver calls this.
//
// Units 2^row, 2^col are those in which the entries of A are about 1,
//
//   sum (log2|A_ij| + row_i + col_j)^2 = min     over the entries that count          (Curtis, Reid 1972)
//
// found by conjugate gradients, since alternating averages converge slowly on long chains of rows.
// Entries that are roundings of zero say nothing of units and couple nothing. They are those far
// below the largest of their row or column, in the given units where these are sensible, otherwise
// in those that all entries agree on best. Cost: up to STEPS_MOST passes over the entries.
#include "comp/judge/judge.h"

#include <math.h>

// Entries smaller than the largest of their row or column by this much
// are roundings of zero [powers of two].
static const double FAR = 40.0;
// Units are sensible where the largest entries of all rows and columns
// differ by at most this [powers of two].
static const double SENSIBLE = 20.0;
// Residual of the normal equations for each entry at which conjugate gradients end.
static const double CLOSE = 1e-6;

enum {
    ROUNDS = 4,        // of units found, and entries chosen by them
    STEPS_MOST = 500,  // conjugate gradient steps
    SPREADS = 50,      // sweeps that carry maxima along couplings
    SIDES = 7,         // vectors of a fit
};

// Numbers of rows and of columns, n each.
typedef struct sides {
    double *row, *col;
} sides;

// The least squares problem.
typedef struct scale_fit {
    const perp_matrix *A;
    const pp_arena *arena;  // whose host may stop it; NULL: nobody
    sides units;            // the result, as exponents
    sides seen;             // units in which it is decided which entries count
    sides most;             // the largest entry of each row and column in these
    sides gradient, step;   // of conjugate gradients
    sides turn;             // preconditioned gradient, or the product with the matrix
    sides entries;          // how many count in each row and column
} scale_fit;

// Whether entry (i, j) counts; *size: its exponent.
static bool entry_counts(const scale_fit *f, int i, int j, double a, double *size)
{
    if (a == 0.0) {
        return false;
    }
    *size = (double)ilogb(a);
    double left = *size + f->seen.row[i] + f->seen.col[j];
    return left >= fmax(f->most.row[i], f->most.col[j]) - FAR;
}

// All numbers of s to a value.
static void set_sides(sides s, int n, double value)
{
    for (int i = 0; i < n; i++) {
        s.row[i] = s.col[i] = value;
    }
}

// to = for each row and column the sum of with log2|A_ij| + x_i + x_j over the entries that count:
// the matrix of the normal equations times x, plus with times their right-hand side.
static void sum_entries(const scale_fit *f, double with, sides x, sides to)
{
    set_sides(to, f->A->rows, 0.0);
    for (int j = 0; j < f->A->cols; j++) {
        pp_matrix_column c = pp_matrix_column_of(f->A, j);
        double size;
        for (int k = 0; k < c.count; k++) {
            int i = pp_row_in(c, k);
            if (entry_counts(f, i, j, c.x[k], &size)) {
                // each entry belongs to one row and one column
                double part = with * size + x.row[i] + x.col[j];
                to.row[i] += part;
                to.col[j] += part;
            }
        }
    }
}

static double sides_dot(int n, sides a, sides b)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += a.row[i] * b.row[i] + a.col[i] * b.col[i];
    }
    return sum;
}

// a += s b
static void sides_axpy(int n, sides a, double s, sides b)
{
    for (int i = 0; i < n; i++) {
        a.row[i] += s * b.row[i];
        a.col[i] += s * b.col[i];
    }
}

// a / count, 0 for rows without entries
static double over(double a, double count)
{
    return count > 0.0 ? a / count : 0.0;
}

// turn = gradient over the number of entries (Jacobi's preconditioner). Returns its largest number.
static double precondition(const scale_fit *f)
{
    double most = 0.0;
    for (int i = 0; i < f->A->rows; i++) {
        f->turn.row[i] = over(f->gradient.row[i], f->entries.row[i]);
        f->turn.col[i] = over(f->gradient.col[i], f->entries.col[i]);
        most = fmax(most, fmax(fabs(f->turn.row[i]), fabs(f->turn.col[i])));
    }
    return most;
}

// Preconditioned conjugate gradients on the normal equations. False: not converged.
static bool solve_scales(scale_fit *f)
{
    int n = f->A->rows;
    set_sides(f->step, n, 0.5);  // 0.5 + 0.5: each entry counts 1
    sum_entries(f, 0.0, f->step, f->entries);
    sum_entries(f, 1.0, f->units, f->gradient);
    double left = precondition(f), size = sides_dot(n, f->gradient, f->turn);
    set_sides(f->step, n, 0.0);
    sides_axpy(n, f->step, -1.0, f->turn);
    for (int step = 0; step < STEPS_MOST && left > CLOSE; step++) {
        if (f->arena && pp_arena_stopped(f->arena)) {
            return false;
        }
        sum_entries(f, 0.0, f->step, f->turn);
        double curve = sides_dot(n, f->step, f->turn);
        if (!(curve > 0.0)) {
            break;
        }
        sides_axpy(n, f->units, size / curve, f->step);
        sides_axpy(n, f->gradient, size / curve, f->turn);
        left = precondition(f);
        double next = sides_dot(n, f->gradient, f->turn), keep = next / size;
        for (int i = 0; i < n; i++) {
            f->step.row[i] = keep * f->step.row[i] - f->turn.row[i];
            f->step.col[i] = keep * f->step.col[i] - f->turn.col[i];
        }
        size = next;
    }
    return left <= CLOSE;
}

// The largest entry of each row and column in the units `seen`.
static void find_largest(scale_fit *f)
{
    set_sides(f->most, f->A->rows, -PP_INF);
    for (int j = 0; j < f->A->cols; j++) {
        pp_matrix_column c = pp_matrix_column_of(f->A, j);
        for (int k = 0; k < c.count; k++) {
            int i = pp_row_in(c, k);
            if (c.x[k] != 0.0) {
                double left = (double)ilogb(c.x[k]) + f->seen.row[i] + f->seen.col[j];
                f->most.row[i] = fmax(f->most.row[i], left);
                f->most.col[j] = fmax(f->most.col[j], left);
            }
        }
    }
}

// Decides in the units found which entries count. Returns how many.
static double count_entries(scale_fit *f)
{
    int n = f->A->rows;
    double all = 0.0;
    for (int i = 0; i < n; i++) {
        f->seen.row[i] = f->units.row[i];
        f->seen.col[i] = f->units.col[i];
    }
    // entries far below the largest of their row or column in these units do not count
    find_largest(f);
    set_sides(f->step, n, 0.5);
    sum_entries(f, 0.0, f->step, f->entries);
    for (int i = 0; i < n; i++) {
        all += f->entries.row[i];
    }
    return all;
}

// Whether the largest entries of rows and columns are within SENSIBLE.
static bool is_sensible(const scale_fit *f)
{
    double least = PP_INF, most = -PP_INF;
    for (int i = 0; i < f->A->rows; i++) {
        const double ends[2] = {f->most.row[i], f->most.col[i]};
        for (int k = 0; k < 2; k++) {
            least = isfinite(ends[k]) ? fmin(least, ends[k]) : least;
            most = isfinite(ends[k]) ? fmax(most, ends[k]) : most;
        }
    }
    return most - least <= SENSIBLE;
}

// The units: by the entries that count in the given units where these are sensible; otherwise by
// all entries first, then alternately. False: not converged.
static bool find_scales(scale_fit *f)
{
    int n = f->A->rows;
    set_sides(f->units, n, 0.0);
    double before = count_entries(f);
    if (is_sensible(f)) {
        return solve_scales(f);
    }
    // units not sensible: every entry counts at first
    set_sides(f->most, n, -PP_INF);
    bool found = solve_scales(f);
    double now = count_entries(f);
    for (int round = 0; round < ROUNDS; round++) {
        if (!found || now == before) {
            break;
        }
        before = now;
        found = solve_scales(f);
        now = count_entries(f);
    }
    return found;
}

// Replaces the numbers of rows and columns by the largest that entries that count couple them with,
// in sweeps of alternating order. A row and its own variable are coupled by entries only.
static void spread_maxima(const scale_fit *f, sides most)
{
    double ignored;
    for (int sweep = 0; sweep < SPREADS; sweep++) {
        bool changed = false;
        for (int at = 0; at < f->A->rows; at++) {
            // both directions in turn, along long chains of rows
            int j = sweep % 2 ? f->A->rows - 1 - at : at;
            pp_matrix_column c = pp_matrix_column_of(f->A, j);
            for (int k = 0; k < c.count; k++) {
                double *row = &most.row[pp_row_in(c, k)], *col = &most.col[j];
                if (*row != *col && entry_counts(f, pp_row_in(c, k), j, c.x[k], &ignored)) {
                    *row = *col = fmax(*row, *col);
                    changed = true;
                }
            }
        }
        if (!changed) {
            return;
        }
    }
}

bool pp_mcp_sizes(const perp_matrix *A, const double *terms, double *scratch, double *of_z,
                  double *of_w, const pp_arena *arena)
{
    int n = A->rows;
    scale_fit f = {.A = A, .arena = arena};
    sides *all[SIDES] = {&f.units, &f.seen, &f.most, &f.gradient, &f.step, &f.turn, &f.entries};
    for (int k = 0; k < SIDES; k++, scratch += 2 * (size_t)n) {
        *all[k] = (sides){scratch, scratch + n};
    }
    if (!find_scales(&f)) {
        return false;
    }
    // sizes of rows in the units found; variables get theirs by coupling, then all go back
    for (int i = 0; i < n; i++) {
        of_w[i] = terms[i] * pp_exp2(f.units.row[i]);
        of_z[i] = 0.0;
    }
    spread_maxima(&f, (sides){of_w, of_z});
    for (int i = 0; i < n; i++) {
        of_z[i] *= pp_exp2(f.units.col[i]);
        of_w[i] *= pp_exp2(-f.units.row[i]);
    }
    return true;
}
