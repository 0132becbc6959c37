// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the caller vouches that the rows of an MCP are in comparable units: the largest number that each row and each variable
// is coupled with. What is nothing beside that is rounding of the data. No solver calls this.
//
// Units 2^row, 2^col are those in which the entries of A are about 1,
//
//   sum (log2|A_ij| + row_i + col_j)^2 = min     over the entries that count          (Curtis, Reid 1972)
//
// by conjugate gradients: rows that hang together in a long chain are as far from one another as all its links say.
// Entries that are roundings of zero say nothing of units, and couple nothing. They are those far below the largest of their row or
// column: in the units given where these are sensible, otherwise in those that all entries agree on best.
#include "comp/judge/judge.h"

#include <math.h>

// Entries this much smaller than the largest of their row or column are roundings of zero, in powers of two.
static const double FAR = 40.0;
// Units are sensible where the largest entries of all rows and columns are this near to one another.
static const double SENSIBLE = 20.0;
// What is left of the normal equations in the end, for each entry.
static const double CLOSE = 1e-6;

enum { ROUNDS = 4, STEPS_MOST = 500, SPREADS = 50, SIDES = 7 };

// Numbers of rows and of columns, n each.
typedef struct sides {
    double *row, *col;
} sides;

typedef struct scale_fit {
    const perp_matrix *A;
    sides units;  // the result, as logarithms
    sides seen,
        most;  // units in which entries are looked at, and the largest of each row and column in them
    sides gradient, step, turn, entries;
} scale_fit;

// Whether entry (i, j) counts; *size: its logarithm.
static bool entry_counts(const scale_fit *f, int i, int j, double a, double *size)
{
    if (a == 0.0) {
        return false;
    }
    *size = (double)ilogb(a);
    double left = *size + f->seen.row[i] + f->seen.col[j];
    return left >= fmax(f->most.row[i], f->most.col[j]) - FAR;
}

static void set(sides s, int n, double value)
{
    for (int i = 0; i < n; i++) {
        s.row[i] = s.col[i] = value;
    }
}

// to = sum over the entries that count of (with log2|A_ij| + x_i + x_j), of each row and column.
static void sum_entries(const scale_fit *f, double with, sides x, sides to)
{
    set(to, f->A->rows, 0.0);
    for (int j = 0; j < f->A->cols; j++) {
        pp_matrix_column c = pp_matrix_column_of(f->A, j);
        double size;
        for (int k = 0; k < c.count; k++) {
            int i = pp_row_in(c, k);
            if (entry_counts(f, i, j, c.x[k], &size)) {
                double part = with * size + x.row[i] + x.col[j];
                to.row[i] += part;
                to.col[j] += part;
            }
        }
    }
}

static double dot(int n, sides a, sides b)
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

static double over(double a, double count)
{
    return count > 0.0 ? a / count : 0.0;
}

// turn = gradient over the number of entries (Jacobi's preconditioner). Returns the largest.
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

// False: not found in so many steps.
static bool solve_scales(scale_fit *f)
{
    int n = f->A->rows;
    set(f->step, n, 0.5);  // both ends of an entry: 1
    sum_entries(f, 0.0, f->step, f->entries);
    sum_entries(f, 1.0, f->units, f->gradient);
    double left = precondition(f), size = dot(n, f->gradient, f->turn);
    set(f->step, n, 0.0);
    sides_axpy(n, f->step, -1.0, f->turn);
    for (int step = 0; step < STEPS_MOST && left > CLOSE; step++) {
        sum_entries(f, 0.0, f->step, f->turn);
        double curve = dot(n, f->step, f->turn);
        if (!(curve > 0.0)) {
            break;
        }
        sides_axpy(n, f->units, size / curve, f->step);
        sides_axpy(n, f->gradient, size / curve, f->turn);
        left = precondition(f);
        double next = dot(n, f->gradient, f->turn), keep = next / size;
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
    set(f->most, f->A->rows, -PP_INF);
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

// Look at the entries in the units that were found. Returns how many count.
static double count_entries(scale_fit *f)
{
    int n = f->A->rows;
    double all = 0.0;
    for (int i = 0; i < n; i++) {
        f->seen.row[i] = f->units.row[i];
        f->seen.col[i] = f->units.col[i];
    }
    find_largest(f);
    set(f->step, n, 0.5);
    sum_entries(f, 0.0, f->step, f->entries);
    for (int i = 0; i < n; i++) {
        all += f->entries.row[i];
    }
    return all;
}

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

static bool find_scales(scale_fit *f)
{
    int n = f->A->rows;
    set(f->units, n, 0.0);
    double before = count_entries(f);
    if (is_sensible(f)) {
        return solve_scales(f);
    }
    set(f->most, n, -PP_INF);
    bool found = solve_scales(f);
    double now = count_entries(f);
    for (int round = 0; found && now != before && round < ROUNDS; round++) {
        before = now;
        found = solve_scales(f);
        now = count_entries(f);
    }
    return found;
}

// The largest of what entries that count couple, everywhere. A row and its own variable are two things: nothing but entries
// couples them.
static void spread_maxima(const scale_fit *f, sides most)
{
    bool changed = true;
    double ignored;
    for (int sweep = 0; sweep < SPREADS && changed; sweep++) {
        changed = false;
        for (int at = 0; at < f->A->rows; at++) {
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
    }
}

bool pp_mcp_sizes(const perp_matrix *A, const double *terms, double *scratch, double *of_z,
                  double *of_w)
{
    int n = A->rows;
    scale_fit f = {.A = A};
    sides *all[SIDES] = {&f.units, &f.seen, &f.most, &f.gradient, &f.step, &f.turn, &f.entries};
    for (int k = 0; k < SIDES; k++, scratch += 2 * (size_t)n) {
        *all[k] = (sides){scratch, scratch + n};
    }
    if (!find_scales(&f)) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        of_w[i] = terms[i] * exp2(f.units.row[i]);
        of_z[i] = 0.0;
    }
    spread_maxima(&f, (sides){of_w, of_z});
    for (int i = 0; i < n; i++) {
        of_z[i] *= exp2(f.units.col[i]);
        of_w[i] *= exp2(-f.units.row[i]);
    }
    return true;
}
