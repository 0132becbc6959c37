// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// All modes of a small problem, one after the other: is there more than one motion?      theory (U5)
//
// A law has finitely many modes: a boxed row is at a bound or between; a contact is open, or it is closed and each
// of its friction groups sticks, slides one way or the other, along a vertex of its polygon or along one of its
// sides. In a mode
//
//   x = x_0 + C y,     R' u = 0,     g_i x + h_i >= 0     (u = D x + q)
//
// is a polyhedron, and every answer is in one of them. Discs have a continuum of directions, and are left to (U3).
//
// Where R' D C is regular the polyhedron is at most one point, which obeys the laws or does not. Where it is singular
// the equations leave x + Z z; the z of least violation is found by Newton's method, and where something is violated
// there, the violations are a Farkas vector that proves the polyhedron empty, (U6). Whatever cannot be decided sets
// `doubt`, and then nothing is claimed. Impulses and rates are in units of the rows (unique.h).
#include "solve/unique.h"

#include <math.h>
#include <string.h>

enum { ROWS = 16 };        // rows at most: D is 16 x 16, and matrices live on the stack
enum { MODES_MOST = 64 };  // three contacts with friction in the plane
enum { SIDES = 96 };       // inequalities of a mode
enum { KEPT = 4 };         // answers that are remembered; two refute uniqueness
enum { ROUNDS = 40 };      // Newton steps, and halvings of one

// Relative to the size of the problem. Between SOLVED and VIOLATED nothing is said.
static const double SOLVED = 1e-9;    // laws that are obeyed
static const double VIOLATED = 1e-6;  // laws that are not
static const double SAME = 1e-6;      // motions that are one
static const double ANSWER = 1e-3;    // the answer of a solver with a loose tolerance
// Pivots of a matrix of order one: below the first it is singular, above the second it is not.
static const double SINGULAR = 1e-11, REGULAR = 1e-7;

static const double ALONG = 1e-12;  // slopes that are rounding

typedef double row_vector[ROWS];

typedef struct mode_walk {
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
} mode_walk;

// ── A mode ───────────────────────────────────────────────────────────────────────────────────────

// Modes of a closed contact's group: sticking, and sliding: two ways, or along vertices and along
// sides.
static int group_modes(const pp_friction *group)
{
    return group->size == 1 ? 3 : 1 + 2 * group->directions;
}

// y += A x for symmetric A and an x that is mostly zero.
static void add_sparse_product(const pp_reduced *p, const double *x, double *y)
{
    for (int j = 0; j < p->n; j++) {
        if (x[j] != 0.0) {
            pp_axpy(p->n, x[j], p->D + (size_t)j * (size_t)p->n, y);
        }
    }
}

// The next inequality g x + gu u + h >= 0 of the mode, of which gu is given and g is returned to be
// filled. With u = D x + q it is (g + D gu) x + (h + gu q) >= 0. NULL: inequalities are not wanted,
// or there is no room.
static double *add_side(mode_walk *w, const row_vector gu, double h)
{
    const pp_reduced *p = w->p;
    if (!w->bounded) {
        return NULL;
    }
    if (w->sides == SIDES) {
        w->doubt = true;
        return NULL;
    }
    double *g = w->g[w->sides];
    memset(g, 0, sizeof *w->g);
    if (gu) {
        add_sparse_product(p, gu, g);
        h += pp_dot(p->n, gu, p->q);
    }
    w->h[w->sides++] = h;
    return g;
}

// A new column of C, with the row of R' u = 0 that goes with it.
static double *add_unknown(mode_walk *w, double **equation)
{
    memset(w->C[w->k], 0, sizeof *w->C);
    memset(w->R[w->k], 0, sizeof *w->R);
    *equation = w->R[w->k];
    return w->C[w->k++];
}

// Vertex j of the friction set, counted around.
static void facet_direction(const pp_friction *group, int j, double d[2])
{
    pp_friction_direction(group, group->size == 1 ? j : j % group->directions, d);
}

// Sticking: the impulse stays within mu x_n, between two bounds or behind the sides of the polygon.
// m is the midpoint of side j, and |m| = cos(pi / n_d) its distance from the centre.
static void add_cone_sides(mode_walk *w, const pp_friction *group, double mu, int n, int t)
{
    int sides = group->size == 1 ? 2 : group->directions;
    if (!w->bounded) {
        return;
    }
    for (int j = 0; j < sides; j++) {
        double a[2], b[2], *g = add_side(w, NULL, 0.0);
        facet_direction(group, j, a);
        facet_direction(group, group->size == 1 ? j : j + 1, b);
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

// Each friction row is an unknown whose rate vanishes.
static void add_stick(mode_walk *w, const pp_friction *group, double mu, int n, int t)
{
    for (int k = 0; k < group->size; k++) {
        double *equation, *column = add_unknown(w, &equation);
        column[t + k] = equation[t + k] = 1.0;
    }
    add_cone_sides(w, group, mu, n, t);
}

// Sliding at vertex j is maximal dissipation: no other direction takes more of the rates, (d_i -
// d_j) u >= 0.
static void add_slip_sides(mode_walk *w, const pp_friction *group, int j, int t)
{
    int directions = group->size == 1 ? 2 : group->directions;
    double best[2], d[2];
    facet_direction(group, j, best);
    if (!w->bounded) {
        return;
    }
    for (int i = 0; i < directions; i++) {
        row_vector gu = {0.0};
        facet_direction(group, i, d);
        for (int k = 0; k < group->size; k++) {
            gu[t + k] = d[k] - best[k];
        }
        if (i != j % directions) {
            add_side(w, gu, 0.0);
        }
    }
}

// Sliding along side j: the impulse is a d_j + (mu x_n - a) d_{j+1} with unknown a, both parts
// nonnegative, and the slip along the side vanishes.
static void add_side_slide(mode_walk *w, const pp_friction *group, int j, int t)
{
    double a[2], b[2], *equation, *column = add_unknown(w, &equation);
    facet_direction(group, j, a);
    facet_direction(group, j + 1, b);
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

// One friction group of a closed contact. `normal` is the contact's column of C: sliding friction
// goes with x_n.
static void add_group(mode_walk *w, int g, int mode, double *normal)
{
    const pp_friction *group = &w->p->rows->group[g];
    int n = w->p->rows->nm + group->n, t = w->p->rows->nm + w->p->rows->nn + group->t;
    double mu = w->p->mu[g], d[2];
    if (mode == 0) {
        add_stick(w, group, mu, n, t);
        return;
    }
    int slides = group->size == 1 ? 2 : group->directions, j = (mode - 1) % slides;
    bool along_side = mode - 1 >= slides;
    facet_direction(group, along_side ? j + 1 : j, d);
    for (int k = 0; k < group->size; k++) {
        normal[t + k] = mu * d[k];
    }
    if (along_side) {
        add_side_slide(w, group, j, t);
    }
    add_slip_sides(w, group, j, t);
}

// Mode 0: open, x_n = 0 and u_n >= 0. Otherwise closed, u_n = 0 and x_n >= 0, and mode - 1 has the
// modes of its groups as digits of a number in mixed radix.
static void add_mode_rows(mode_walk *w, int i, int mode)
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

// A boxed row. Modes 0, 1: at the lower bound with u >= 0, at the upper one with u <= 0. Mode 2:
// between, u = 0. False: there is no such bound.
static bool add_boxed(mode_walk *w, int i, int mode)
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
        double at = end == 0 ? w->p->lower[i] : w->p->upper[i];
        double sign = end == 0 ? 1.0 : -1.0;
        double *g = isfinite(at) ? add_side(w, NULL, -sign * at) : NULL;
        if (g) {
            g[i] = sign;
        }
    }
    return true;
}

// x_0, C, R of the mode w->mode, and its inequalities where `bounded`. False: there is no such mode.
static bool build_systems(mode_walk *w, bool bounded)
{
    int nm = w->p->rows->nm;
    w->bounded = bounded;
    w->k = w->sides = 0;
    memset(w->x0, 0, sizeof w->x0);
    for (int l = 0; l < w->laws; l++) {
        if (l >= nm) {
            add_mode_rows(w, l - nm, w->mode[l]);
        } else if (!add_boxed(w, l, w->mode[l])) {
            return false;
        }
    }
    return true;
}

// ── Its equations ────────────────────────────────────────────────────────────────────────────────

// R' D C y = -R' (D x_0 + q), augmented.
typedef struct mode_system {
    double K[ROWS][ROWS + 1];  // rows; the right-hand side last
    int order[ROWS], rank;
} mode_system;

static void set_system(const mode_walk *w, mode_system *s)
{
    const pp_reduced *p = w->p;
    row_vector rate, DC;
    memcpy(rate, p->q, (size_t)p->n * sizeof *rate);
    add_sparse_product(p, w->x0, rate);
    for (int j = 0; j < w->k; j++) {
        memset(DC, 0, sizeof DC);
        add_sparse_product(p, w->C[j], DC);
        for (int i = 0; i < w->k; i++) {
            s->K[i][j] = pp_dot(p->n, w->R[i], DC);
        }
        s->K[j][w->k] = -pp_dot(p->n, w->R[j], rate);
        s->order[j] = j;
    }
}

// Row `row` and column `column` to place a.
static void exchange_columns(mode_system *s, int k, int a, int row, int column)
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

// Gauss-Jordan with full pivoting: the first `rank` unknowns in terms of the others. Returns the
// least pivot.
static double gauss_jordan(mode_system *s, int k)
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
        // R' D C is of order one in units of the rows, so that pivots are compared with constants
        if (!(fabs(pivot) > SINGULAR)) {
            break;
        }
        last = fmin(last, fabs(pivot));
        exchange_columns(s, k, a, row, column);
        for (int j = a; j <= k; j++) {
            s->K[a][j] /= pivot;
        }
        for (int i = 0; i < k; i++) {
            double factor = s->K[i][a];
            if (i == a || factor == 0.0) {
                continue;
            }
            for (int j = a; j <= k; j++) {
                s->K[i][j] -= factor * s->K[a][j];
            }
        }
    }
    return last;
}

// x and Z of the mode; false where its equations contradict each other, or where that cannot be
// decided (doubt).
static bool solve_mode(mode_walk *w, row_vector x)
{
    mode_system s;
    int n = w->p->n;
    set_system(w, &s);
    if (gauss_jordan(&s, w->k) < REGULAR) {
        w->doubt = true;
        return false;
    }
    // rows below the rank have become 0 = right-hand side
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
    // directions that the equations leave free
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

// Half the sum of squares of the violations v_i = max(0, -(g_i x + h_i)).
static double total_violation(mode_walk *w, const row_vector x, slopes *s)
{
    double sum = 0.0;
    for (int i = 0; i < w->sides; i++) {
        s->v[i] = fmax(0.0, -(pp_dot(w->p->n, w->g[i], x) + w->h[i]));
        sum += s->v[i] * s->v[i];
    }
    return 0.5 * sum;
}

// Newton's step on that sum, over the violated inequalities: (sum b b') dz = sum v b, b = g Z. The
// 1e-12 keeps the matrix regular where fewer are violated than there are directions.
static void newton_step_of_violations(const mode_walk *w, const slopes *s, double *step)
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

// The violations as Farkas' vector, (U6): v >= 0 cancels along Z, and its weighted sum of the
// inequalities is negative.
static bool proves_empty(const mode_walk *w, const slopes *s, const row_vector x)
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

// Moves x within x + Z z to where the inequalities hold. False: they hold nowhere, or that is not
// decided (doubt).
static bool enter_feasible(mode_walk *w, row_vector x)
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
    double now = total_violation(w, x, &s), enough = 0.1 * SOLVED * w->p->size;
    for (int round = 0; round < ROUNDS; round++) {
        if (!(now > 0.5 * enough * enough)) {
            break;
        }
        double t = 1.0, next = now;  // halved until the sum falls
        row_vector to;
        newton_step_of_violations(w, &s, step);
        for (int cut = 0; cut < ROUNDS; cut++, t *= 0.5) {
            memcpy(to, x, sizeof to);
            for (int j = 0; j < w->null; j++) {
                pp_axpy(w->p->n, t * step[j], w->Z[j], to);
            }
            next = total_violation(w, to, &s);
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
    now = total_violation(w, x, &s);
    bool inside = now <= 0.5 * enough * enough;
    w->doubt = w->doubt || (!inside && !proves_empty(w, &s, x));
    return inside;
}

// ── All of them ──────────────────────────────────────────────────────────────────────────────────

// Whether an answer with this motion has been found: D x alike, whatever the impulses.
static bool is_stored(const mode_walk *w, const row_vector x)
{
    for (int i = 0; i < w->count; i++) {
        if (pp_reduced_difference(w->p, x, w->found[i]) <= SAME * w->p->size) {
            return true;
        }
    }
    return false;
}

static void store_solution(mode_walk *w, const row_vector x)
{
    if (!is_stored(w, x) && w->count < KEPT) {
        memcpy(w->found[w->count++], x, sizeof *w->found);
    }
}

// A singular mode may hold answers that move bodies differently: a small step along Z that changes
// D x, and obeys the laws, is a second motion. Where neither way is allowed nothing can be said of
// the rest of the polyhedron.
static void look_around(mode_walk *w, const row_vector x)
{
    row_vector to, u;
    for (int j = 0; j < w->null; j++) {
        double moves = sqrt(fmax(pp_dot(w->p->n, w->Z[j], w->Z[j]), 0.0));
        double still[ROWS] = {0.0}, effect = pp_reduced_difference(w->p, w->Z[j], still);
        if (effect <= SAME * moves) {
            continue;
        }
        bool another = false;
        for (int sign = -1; sign <= 1; sign += 2) {
            memcpy(to, x, sizeof to);
            pp_axpy(w->p->n, sign * 1e-2 * w->p->size / effect, w->Z[j], to);
            if (pp_reduced_violation(w->p, to, u) <= SOLVED * w->p->size) {
                another = true;
                store_solution(w, to);
            }
        }
        w->doubt = w->doubt || !another;
    }
}

// The inequalities are built only where the equations leave something free: a single point is
// judged by the laws.
static void try_mode(mode_walk *w)
{
    row_vector x, u;
    if (!build_systems(w, false) || !solve_mode(w, x)) {
        return;
    }
    if (w->null > 0 && (!build_systems(w, true) || !enter_feasible(w, x))) {
        return;
    }
    double off = pp_reduced_violation(w->p, x, u);
    if (off <= SOLVED * w->p->size) {
        store_solution(w, x);
        look_around(w, x);
        return;
    }
    if (off > VIOLATED * w->p->size && w->null == 0) {
        return;
    }
    // Between obeyed and violated: harmless if its motion is that of an answer, which is known in
    // the end.
    w->doubt = w->doubt || w->nearly == KEPT;
    if (w->nearly < KEPT) {
        memcpy(w->near[w->nearly++], x, sizeof *w->near);
    }
}

// Counts through all combinations, the first law fastest.
static bool next_mode(mode_walk *w)
{
    for (int l = 0; l < w->laws; l++) {
        if (++w->mode[l] < w->modes[l]) {
            return true;
        }
        w->mode[l] = 0;
    }
    return false;
}

// Modes of contact i: open, and the product over its friction groups. 0: too many, or not finitely many.
static int contact_modes(const mode_walk *w, int i)
{
    const pp_rows *rows = w->p->rows;
    int closed = 1;
    for (int k = 0; k < rows->grouped[i]; k++) {
        const pp_friction *group = &rows->group[rows->friction[i] + k];
        if (group->size == 2 && !w->p->polygons && group->facets == 0) {
            return 0;  // a disc
        }
        closed *= group_modes(group);
        if (closed > MODES_MOST) {
            return 0;
        }
    }
    return 1 + closed;
}

// The number of modes, 0: too many, or not finitely many.
static int count_modes(mode_walk *w)
{
    const pp_rows *rows = w->p->rows;
    int all = 1;
    w->laws = rows->nm + rows->nn;
    if (w->p->n > ROWS || w->laws > ROWS) {
        return 0;
    }
    for (int l = 0; l < w->laws; l++) {
        w->modes[l] = l < rows->nm ? 3 : contact_modes(w, l - rows->nm);
        if (w->modes[l] == 0) {
            return 0;
        }
        all *= w->modes[l];
        if (all > MODES_MOST) {
            return 0;
        }
    }
    return all;
}

static bool allocate_walk(mode_walk *w, pp_arena *arena)
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

// Unique: one motion among all modes, no doubt about any, and the solver's answer is it.
perp_uniqueness pp_enumerate_modes(const pp_reduced *p, double *other)
{
    mode_walk w = {.p = p};
    if (count_modes(&w) == 0 || !(p->size > 0.0) || !allocate_walk(&w, p->arena)) {
        return PERP_UNIQUENESS_UNKNOWN;
    }
    do {
        try_mode(&w);
    } while (next_mode(&w));
    // a near answer counts as doubt unless its motion is that of an answer
    double farthest = -1.0;
    for (int i = 0; i < w.nearly; i++) {
        w.doubt = w.doubt || !is_stored(&w, w.near[i]);
    }
    for (int i = 0; i < w.count; i++) {
        double apart = pp_reduced_difference(p, p->x, w.found[i]);
        if (apart > farthest) {
            farthest = apart;
            memcpy(other, w.found[i], (size_t)p->n * sizeof *other);
        }
    }
    if (w.count > 1) {
        return PERP_UNIQUENESS_DISPROVED;
    }
    bool proved = w.count == 1 && !w.doubt && farthest <= ANSWER * p->size;
    return proved ? PERP_UNIQUENESS_PROVED : PERP_UNIQUENESS_UNKNOWN;
}
