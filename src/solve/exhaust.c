// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// All modes of a small problem, one after the other.                                    theory (U5)
//
// A law has finitely many modes: a boxed row is at a bound or between; a contact is open, or it is closed and each
// of its friction groups sticks, slides one way or the other, along a vertex of its polygon or along one of its
// sides. In a mode x = x_0 + C y, the rates R^T u = 0 vanish, and g_i x + h_i >= 0 hold: a polyhedron. Every answer
// is in one of them. Discs have a continuum of directions, and are left to (U3).
//
// One point: it obeys the laws or does not. Several, x + Z z: the z of least violation is found, and where it
// violates anything the violations are a Farkas vector: the polyhedron is empty.
#include "solve/unique.h"

#include <math.h>
#include <string.h>

enum { ROWS = 16, MODES_MOST = 64, SIDES = 96, KEPT = 4, ROUNDS = 40 };

// Relative to the size of the problem. Between SOLVED and VIOLATED nothing is said.
static const double SOLVED = 1e-9;    // laws that are obeyed
static const double VIOLATED = 1e-6;  // laws that are not
static const double SAME = 1e-6;      // motions that are one
static const double ANSWER = 1e-3;    // the answer of a solver with a loose tolerance
// Pivots of a matrix of order one: below the first it is singular, above the second it is not.
static const double SINGULAR = 1e-11, REGULAR = 1e-7;

static const double ALONG = 1e-12;  // slopes that are rounding

typedef double row_vector[ROWS];

typedef struct walk {
    const pp_reduced *p;
    int laws, modes[ROWS], mode[ROWS];
    int k, null;            // unknowns of a mode; how many of them are left free by its equations
    bool bounded;           // its inequalities are wanted
    int sides;              // inequalities of a mode
    row_vector x0, *C, *R;  // ROWS of them each
    row_vector *g;          // SIDES: of x
    double *h;              // SIDES
    row_vector *Z;          // ROWS: directions in which a singular mode is free
    row_vector *found;      // KEPT answers that move bodies differently
    row_vector *near;       // KEPT that nearly are answers: harmless next to one
    int count, nearly;
    bool doubt;
} walk;

// ── A mode ───────────────────────────────────────────────────────────────────────────────────────

static int friction_row(const walk *w, const pp_friction *group)
{
    return w->p->rows->nm + w->p->rows->nn + group->t;
}

// Sticking, and sliding: two ways, or along vertices and along sides.
static int group_modes(const pp_friction *group)
{
    return group->size == 1 ? 3 : 1 + 2 * group->directions;
}

// y += A x for symmetric A and an x that is mostly zero.
static void add_product(const pp_reduced *p, const double *x, double *y)
{
    for (int j = 0; j < p->n; j++) {
        if (x[j] != 0.0) {
            pp_axpy(p->n, x[j], p->D + (size_t)j * (size_t)p->n, y);
        }
    }
}

// The next inequality g x + gu (D x + q) + h >= 0, of which gu is given; NULL: not wanted, or too many.
static double *add_side(walk *w, const row_vector gu, double h)
{
    const pp_reduced *p = w->p;
    if (!w->bounded || w->sides == SIDES) {
        w->doubt = w->doubt || w->bounded;
        return NULL;
    }
    double *g = w->g[w->sides];
    memset(g, 0, sizeof *w->g);
    if (gu) {
        add_product(p, gu, g);
        h += pp_dot(p->n, gu, p->q);
    }
    w->h[w->sides++] = h;
    return g;
}

static double *add_unknown(walk *w, double **equation)
{
    memset(w->C[w->k], 0, sizeof *w->C);
    memset(w->R[w->k], 0, sizeof *w->R);
    *equation = w->R[w->k];
    return w->C[w->k++];
}

static void direction(const pp_friction *group, int j, double d[2])
{
    pp_friction_direction(group, group->size == 1 ? j : j % group->directions, d);
}

// The impulse stays within mu x_n: between two bounds, or behind the sides of the polygon.
static void add_cone_sides(walk *w, const pp_friction *group, double mu, int n, int t)
{
    int sides = group->size == 1 ? 2 : group->directions;
    for (int j = 0; w->bounded && j < sides; j++) {
        double a[2], b[2], *g = add_side(w, NULL, 0.0);
        direction(group, j, a);
        direction(group, group->size == 1 ? j : j + 1, b);
        if (!g) {
            return;
        }
        double m[2] = {0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])}, size = pp_length2(m[0], m[1]);
        g[n] = mu * size;
        for (int k = 0; k < group->size; k++) {
            g[t + k] = -m[k] / size;
        }
    }
}

static void add_stick(walk *w, const pp_friction *group, double mu, int n, int t)
{
    for (int k = 0; k < group->size; k++) {
        double *equation, *column = add_unknown(w, &equation);
        column[t + k] = equation[t + k] = 1.0;
    }
    add_cone_sides(w, group, mu, n, t);
}

// Sliding against direction j: no other direction takes more of the rates.
static void add_slip_sides(walk *w, const pp_friction *group, int j, int t)
{
    int directions = group->size == 1 ? 2 : group->directions;
    double best[2], d[2];
    direction(group, j, best);
    for (int i = 0; w->bounded && i < directions; i++) {
        row_vector gu = {0.0};
        direction(group, i, d);
        for (int k = 0; k < group->size; k++) {
            gu[t + k] = d[k] - best[k];
        }
        if (i != j % directions) {
            add_side(w, gu, 0.0);
        }
    }
}

// Along side j the impulse is a d_j + (mu x_n - a) d_{j+1}, and the slip is across the side.
static void add_side_slide(walk *w, const pp_friction *group, int j, int t)
{
    double a[2], b[2], *equation, *column = add_unknown(w, &equation);
    direction(group, j, a);
    direction(group, j + 1, b);
    double *first = add_side(w, NULL, 0.0), *second = add_side(w, NULL, 0.0);
    double det = a[0] * b[1] - a[1] * b[0];
    for (int k = 0; k < 2; k++) {
        column[t + k] = equation[t + k] = a[k] - b[k];
    }
    if (first && second) {  // the parts along d_j and d_{j+1}
        first[t] = b[1] / det;
        first[t + 1] = -b[0] / det;
        second[t] = -a[1] / det;
        second[t + 1] = a[0] / det;
    }
}

static void add_group(walk *w, int g, int mode, double *normal)
{
    const pp_friction *group = &w->p->rows->group[g];
    int n = w->p->rows->nm + group->n, t = friction_row(w, group);
    double mu = w->p->mu[g], d[2];
    if (mode == 0) {
        add_stick(w, group, mu, n, t);
        return;
    }
    int slides = group->size == 1 ? 2 : group->directions, j = (mode - 1) % slides;
    bool along_side = mode - 1 >= slides;
    direction(group, along_side ? j + 1 : j, d);
    for (int k = 0; k < group->size; k++) {
        normal[t + k] = mu * d[k];
    }
    if (along_side) {
        add_side_slide(w, group, j, t);
    }
    add_slip_sides(w, group, j, t);
}

static void add_contact(walk *w, int i, int mode)
{
    const pp_rows *rows = w->p->rows;
    int n = rows->nm + i;
    if (mode == 0) {
        row_vector gu = {0.0};
        gu[n] = 1.0;
        add_side(w, gu, 0.0);
        return;
    }
    double *equation, *normal = add_unknown(w, &equation), *g = add_side(w, NULL, 0.0);
    normal[n] = equation[n] = 1.0;
    if (g) {
        g[n] = 1.0;
    }
    mode--;
    for (int k = 0; k < rows->grouped[i]; k++) {
        int group = rows->friction[i] + k, modes = group_modes(&rows->group[group]);
        add_group(w, group, mode % modes, normal);
        mode /= modes;
    }
}

// At the lower bound u >= 0, at the upper one u <= 0. False: there is no such bound.
static bool add_boxed(walk *w, int i, int mode)
{
    double bound = mode == 0 ? w->p->lower[i] : w->p->upper[i];
    row_vector gu = {0.0};
    if (mode < 2) {
        gu[i] = mode == 0 ? 1.0 : -1.0;
        w->x0[i] = bound;
        add_side(w, gu, 0.0);
        return isfinite(bound);
    }
    double *equation, *column = add_unknown(w, &equation);
    column[i] = equation[i] = 1.0;
    for (int end = 0; end < 2; end++) {
        double at = end == 0 ? w->p->lower[i] : w->p->upper[i], sign = end == 0 ? 1.0 : -1.0;
        double *g = isfinite(at) ? add_side(w, NULL, -sign * at) : NULL;
        if (g) {
            g[i] = sign;
        }
    }
    return true;
}

static bool build(walk *w, bool bounded)
{
    int nm = w->p->rows->nm;
    bool exists = true;
    w->bounded = bounded;
    w->k = w->sides = 0;
    memset(w->x0, 0, sizeof w->x0);
    for (int l = 0; exists && l < w->laws; l++) {
        if (l < nm) {
            exists = add_boxed(w, l, w->mode[l]);
        } else {
            add_contact(w, l - nm, w->mode[l]);
        }
    }
    return exists;
}

// ── Its equations ────────────────────────────────────────────────────────────────────────────────

typedef struct system {
    double K[ROWS][ROWS + 1];  // rows; the right-hand side last
    int order[ROWS], rank;
} system;

static void set_system(const walk *w, system *s)
{
    const pp_reduced *p = w->p;
    row_vector rate, DC;
    memcpy(rate, p->q, (size_t)p->n * sizeof *rate);
    add_product(p, w->x0, rate);
    for (int j = 0; j < w->k; j++) {
        memset(DC, 0, sizeof DC);
        add_product(p, w->C[j], DC);
        for (int i = 0; i < w->k; i++) {
            s->K[i][j] = pp_dot(p->n, w->R[i], DC);
        }
        s->K[j][w->k] = -pp_dot(p->n, w->R[j], rate);
        s->order[j] = j;
    }
}

static void exchange(system *s, int k, int a, int row, int column)
{
    for (int j = 0; j <= k; j++) {
        double kept = s->K[a][j];
        s->K[a][j] = s->K[row][j];
        s->K[row][j] = kept;
    }
    for (int i = 0; i < k; i++) {
        double kept = s->K[i][a];
        s->K[i][a] = s->K[i][column];
        s->K[i][column] = kept;
    }
    int kept = s->order[a];
    s->order[a] = s->order[column];
    s->order[column] = kept;
}

// Gauss-Jordan with full pivoting: the first `rank` unknowns in terms of the others. Returns the last pivot.
static double reduce(system *s, int k)
{
    double last = 1.0;
    for (s->rank = 0; s->rank < k; s->rank++) {
        int a = s->rank, row = a, column = a;
        for (int i = a; i < k; i++) {
            for (int j = a; j < k; j++) {
                if (fabs(s->K[i][j]) > fabs(s->K[row][column])) {
                    row = i;
                    column = j;
                }
            }
        }
        double pivot = s->K[row][column];
        if (!(fabs(pivot) > SINGULAR)) {
            break;
        }
        last = fmin(last, fabs(pivot));
        exchange(s, k, a, row, column);
        for (int j = a; j <= k; j++) {
            s->K[a][j] /= pivot;
        }
        for (int i = 0; i < k; i++) {
            double factor = s->K[i][a];
            for (int j = a; i != a && factor != 0.0 && j <= k; j++) {
                s->K[i][j] -= factor * s->K[a][j];
            }
        }
    }
    return last;
}

// x and Z of the mode; false where its equations contradict each other, or nobody can say.
static bool solve_mode(walk *w, row_vector x)
{
    system s;
    int n = w->p->n;
    set_system(w, &s);
    if (reduce(&s, w->k) < REGULAR) {
        w->doubt = true;
        return false;
    }
    double left = 0.0;
    for (int i = s.rank; i < w->k; i++) {
        left = fmax(left, fabs(s.K[i][w->k]));
    }
    if (left > SOLVED * w->p->size) {
        w->doubt = w->doubt || left <= VIOLATED * w->p->size;
        return false;
    }
    memcpy(x, w->x0, sizeof w->x0);
    for (int i = 0; i < s.rank; i++) {
        pp_axpy(n, s.K[i][w->k], w->C[s.order[i]], x);
    }
    w->null = w->k - s.rank;
    for (int j = 0; j < w->null; j++) {
        memcpy(w->Z[j], w->C[s.order[s.rank + j]], sizeof *w->Z);
        for (int i = 0; i < s.rank; i++) {
            pp_axpy(n, -s.K[i][s.rank + j], w->C[s.order[i]], w->Z[j]);
        }
    }
    return true;
}

// ── A polyhedron ─────────────────────────────────────────────────────────────────────────────────

typedef struct slopes {
    double b[SIDES][ROWS];  // of the inequalities along Z
    double v[SIDES];        // violations
} slopes;

static double violation(walk *w, const row_vector x, slopes *s)
{
    double sum = 0.0;
    for (int i = 0; i < w->sides; i++) {
        s->v[i] = fmax(0.0, -(pp_dot(w->p->n, w->g[i], x) + w->h[i]));
        sum += s->v[i] * s->v[i];
    }
    return 0.5 * sum;
}

// Newton's step of the sum of squares of the violations.
static void newton(const walk *w, const slopes *s, double *step)
{
    double H[ROWS * ROWS] = {0.0};
    int k = w->null;
    memset(step, 0, (size_t)k * sizeof *step);
    for (int i = 0; i < w->sides; i++) {
        if (s->v[i] > 0.0) {
            pp_axpy(k, s->v[i], s->b[i], step);
            pp_ger(k, k, 1.0, s->b[i], s->b[i], H, k);
        }
    }
    for (int j = 0; j < k; j++) {
        H[j * k + j] += 1e-12;
    }
    if (pp_chol_factor(k, H, k, 0.0) == 0) {
        pp_chol_solve(k, H, k, step);
    }
}

// The violations as Farkas' vector: they cancel along Z, and what they weigh is negative.  theory (U6)
static bool proves_empty(const walk *w, const slopes *s, const row_vector x)
{
    double along[ROWS] = {0.0}, size = 0.0, value = 0.0, worst = 0.0;
    for (int i = 0; i < w->sides; i++) {
        pp_axpy(w->null, s->v[i], s->b[i], along);
        size += s->v[i] * (1.0 + pp_norm_inf(w->null, s->b[i]));
        value += s->v[i] * (pp_dot(w->p->n, w->g[i], x) + w->h[i]);
    }
    worst = pp_norm_inf(w->null, along);
    return size > 0.0 && worst <= 1e-9 * size && value < -VIOLATED * w->p->size * size;
}

// Moves x within x + Z z to where the inequalities hold. False: they do not, anywhere, or nobody can say.
static bool enter(walk *w, row_vector x)
{
    slopes s;
    double step[ROWS];
    for (int i = 0; i < w->sides; i++) {
        double slope = 0.0;
        for (int j = 0; j < w->null; j++) {
            s.b[i][j] = pp_dot(w->p->n, w->g[i], w->Z[j]);
            slope = fmax(slope, fabs(s.b[i][j]));
        }
        if (slope <= ALONG && pp_dot(w->p->n, w->g[i], x) + w->h[i] < -VIOLATED * w->p->size) {
            return false;  // nothing along Z changes it
        }
    }
    double now = violation(w, x, &s), enough = 0.1 * SOLVED * w->p->size;
    for (int round = 0; round < ROUNDS && now > 0.5 * enough * enough; round++) {
        double t = 1.0, next = now;
        row_vector to;
        newton(w, &s, step);
        for (int cut = 0; cut < ROUNDS; cut++, t *= 0.5) {
            memcpy(to, x, sizeof to);
            for (int j = 0; j < w->null; j++) {
                pp_axpy(w->p->n, t * step[j], w->Z[j], to);
            }
            next = violation(w, to, &s);
            if (next < now) {
                break;
            }
        }
        if (!(next < now)) {
            break;
        }
        memcpy(x, to, sizeof to);
        now = next;
    }
    now = violation(w, x, &s);
    bool inside = now <= 0.5 * enough * enough;
    w->doubt = w->doubt || (!inside && !proves_empty(w, &s, x));
    return inside;
}

// ── All of them ──────────────────────────────────────────────────────────────────────────────────

static bool is_known(const walk *w, const row_vector x)
{
    for (int i = 0; i < w->count; i++) {
        if (pp_reduced_apart(w->p, x, w->found[i]) <= SAME * w->p->size) {
            return true;
        }
    }
    return false;
}

static void keep(walk *w, const row_vector x)
{
    if (!is_known(w, x) && w->count < KEPT) {
        memcpy(w->found[w->count++], x, sizeof *w->found);
    }
}

// A singular mode with answers that move bodies differently: a little way along Z, where that is allowed.
static void look_around(walk *w, const row_vector x)
{
    row_vector to, u;
    for (int j = 0; j < w->null; j++) {
        double moves = sqrt(fmax(pp_dot(w->p->n, w->Z[j], w->Z[j]), 0.0));
        double still[ROWS] = {0.0}, effect = pp_reduced_apart(w->p, w->Z[j], still);
        if (effect <= SAME * moves) {
            continue;
        }
        bool another = false;
        for (int sign = -1; sign <= 1; sign += 2) {
            memcpy(to, x, sizeof to);
            pp_axpy(w->p->n, sign * 1e-2 * w->p->size / effect, w->Z[j], to);
            if (pp_reduced_off(w->p, to, u) <= SOLVED * w->p->size) {
                another = true;
                keep(w, to);
            }
        }
        w->doubt = w->doubt || !another;
    }
}

static void try_mode(walk *w)
{
    row_vector x, u;
    if (!build(w, false) || !solve_mode(w, x)) {
        return;
    }
    if (w->null > 0 && (!build(w, true) || !enter(w, x))) {
        return;
    }
    double off = pp_reduced_off(w->p, x, u);
    if (off <= SOLVED * w->p->size) {
        keep(w, x);
        look_around(w, x);
        return;
    }
    if (off > VIOLATED * w->p->size && w->null == 0) {
        return;
    }
    w->doubt = w->doubt || w->nearly == KEPT;
    if (w->nearly < KEPT) {
        memcpy(w->near[w->nearly++], x, sizeof *w->near);
    }
}

static bool next_mode(walk *w)
{
    for (int l = 0; l < w->laws; l++) {
        if (++w->mode[l] < w->modes[l]) {
            return true;
        }
        w->mode[l] = 0;
    }
    return false;
}

// The number of modes, 0: too many, or not finitely many.
static int count_modes(walk *w)
{
    const pp_rows *rows = w->p->rows;
    int all = 1;
    w->laws = rows->nm + rows->nn;
    if (w->p->n > ROWS || w->laws > ROWS) {
        return 0;
    }
    for (int l = 0; l < w->laws; l++) {
        int i = l - rows->nm;
        w->modes[l] = i < 0 ? 3 : 1;
        for (int k = 0; i >= 0 && k < rows->grouped[i]; k++) {
            const pp_friction *group = &rows->group[rows->friction[i] + k];
            if (group->size == 2 && !w->p->polygons && group->facets == 0) {
                return 0;
            }
            w->modes[l] *= group_modes(group);
            if (w->modes[l] > MODES_MOST) {
                return 0;
            }
        }
        w->modes[l] += i >= 0;
        all *= w->modes[l];
        if (all > MODES_MOST) {
            return 0;
        }
    }
    return all;
}

static bool prepare(walk *w, pp_arena *arena)
{
    row_vector *vectors = pp_arena_array(arena, 3 * ROWS + SIDES + 2 * KEPT, sizeof *vectors);
    w->h = PP_ARRAY(arena, double, SIDES);
    if (!vectors || !w->h) {
        return false;
    }
    w->C = vectors;
    w->R = w->C + ROWS;
    w->Z = w->R + ROWS;
    w->g = w->Z + ROWS;
    w->found = w->g + SIDES;
    w->near = w->found + KEPT;
    return true;
}

perp_uniqueness pp_exhaust(const pp_reduced *p, double *other)
{
    walk w = {.p = p};
    if (count_modes(&w) == 0 || !(p->size > 0.0) || !prepare(&w, p->arena)) {
        return PERP_UNIQUE_UNKNOWN;
    }
    do {
        try_mode(&w);
    } while (next_mode(&w));
    double farthest = -1.0;
    for (int i = 0; i < w.nearly; i++) {
        w.doubt = w.doubt || !is_known(&w, w.near[i]);
    }
    for (int i = 0; i < w.count; i++) {
        double apart = pp_reduced_apart(p, p->x, w.found[i]);
        if (apart > farthest) {
            farthest = apart;
            memcpy(other, w.found[i], (size_t)p->n * sizeof *other);
        }
    }
    if (w.count > 1) {
        return PERP_NOT_UNIQUE;
    }
    bool proved = w.count == 1 && !w.doubt && farthest <= ANSWER * p->size;
    return proved ? PERP_UNIQUE : PERP_UNIQUE_UNKNOWN;
}
