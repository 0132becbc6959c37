// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contacts far from their answer: convex problems whose solutions lead to it.              theory (S15), (S16)
//
// Coulomb's law is the law of an associated cone at the velocity u + s, s = mu |u_t| along the normal (De Saxce). With
// the shift s held and a proximal term about the impulses p^, the velocities minimise a convex function,
//
//   phi(nu) = 1/2 |nu - nu_free|_M^2 + sum over contacts of alpha m / 2 |p|^2,   p = P_K(p^ - (u + s) / (alpha m))
//
// which Newton's method finds from anywhere: M + J' P' J / (alpha m) is symmetric and positive definite, and the line
// search is exact. This is the unregularised form of Drake's SAP solver (Castro, Permenter, Han 2022): p^ moves to p
// after each solve (method of multipliers), so that nothing of alpha is left in the answer. The shift is the fixed point
// of s -> mu |u_t| (Cadoux 2009), extrapolated by Anderson's method. Two errors are left after each solve,
//
//   of the proximal term  alpha m |p - p^|,     of the shift  |mu |u_t| - s|
//
// and alpha falls where the former is the larger. Whenever the error has fallen to a tenth, Newton's method on the exact law
// takes over (modes_walk.c), and where that fails this one goes on. Every few solves Gauss-Seidel sweeps break cycles of
// the shift, for which no proof of convergence exists.
#include "solve/modes.h"

#include <math.h>
#include <string.h>

enum {
    SHIFTS_MOST = 50,  // convex problems
    STEPS_MOST = 60,   // Newton steps of one of them
    SWEEP_EVERY = 5,   // problems between sweeps
    SWEEPS = 20,       // in a row
    TRIALS_MOST = 30   // of a line search
};

static const double ALPHA_FIRST = 0.03;  // in units of the mobility
static const double ALPHA_LEAST = 1e-6;
static const double ALPHA_DOWN = 0.1;     // factor where the proximal term is the larger error
static const double HAND_OVER = 0.1;      // fall of the error after which Newton's method is tried
static const double STEP_ENOUGH = 0.1;    // of the error: Newton's step of a problem that is solved
static const double SLOPE_ENOUGH = 1e-2;  // of the slope at the start of a line search
static const double GROWTH = 2.0;         // of the change of s that an extrapolation may cause
static const double WORSE = 10.0;  // growth of the error: the problem was too stiff to be solved

// One convex problem after the other.
typedef struct convex {
    pp_modes *s;
    int n;                // velocities of the system
    double alpha;         // in units of the mobility
    double alpha_least;   // below which a problem was not solved
    double *w, *dw;       // n: velocities, and Newton's step of them
    double *missing;      // n: momentum that w lacks
    double *inert;        // n: M dw
    double *u, *du;       // PP_MODE_ROWS a contact: rates with biases at w; their change by dw
    double *p, *centre;   // the same: impulses, and p^
    double *best;         // the same: impulses of least error so far,
    double *best_w;       // n: and velocities
    double error, least;  // of p, of best [m/s]
    double *shift;        // contacts: s [m/s]
    double *image;        // mu |u_t| [m/s]
    double *weight;       // 1
    pp_anderson *extrapolation;
} convex;

static double *rows_of(double *x, int i)
{
    return x + PP_MODE_ROWS * (ptrdiff_t)i;
}

static double length_of(const double *x, int size)
{
    return size == 2 ? pp_length2(x[0], x[1]) : fabs(x[0]);
}

// Discs, with contacts that do not yield: a polygon has no such projection, and a compliance would turn it.
static bool is_for_cones(const pp_modes *s)
{
    for (int i = 0; i < s->count; i++) {
        const pp_mode_contact *c = &s->contact[i];
        if (!c->boxed && c->n->gamma > 0.0) {
            return false;
        }
        for (int g = 0; g < c->sets; g++) {
            if (c->friction[g].sides > 0 && c->friction[g].size == 2) {
                return false;
            }
        }
    }
    return true;
}

static perp_status allocate(convex *x, pp_modes *s)
{
    pp_arena *arena = s->run->arena;
    size_t n = (size_t)(s->tree ? s->n : s->run->model->nv);
    size_t count = (size_t)s->count, rows = PP_MODE_ROWS * count;
    // one block, divided below; bilateral rows have no law and are not among the contacts
    double *reals = PP_ZEROS(arena, double, 5 * n + 5 * rows + 3 * count);
    if (!reals) {
        return PERP_ERR_MEMORY;
    }
    *x =
        (convex){.s = s, .n = (int)n, .alpha = ALPHA_FIRST, .alpha_least = ALPHA_LEAST, .w = reals};
    x->dw = x->w + n;
    x->missing = x->dw + n;
    x->inert = x->missing + n;
    x->u = x->inert + n;
    x->du = x->u + rows;
    x->p = x->du + rows;
    x->centre = x->p + rows;
    x->best = x->centre + rows;
    x->best_w = x->best + rows;
    x->shift = x->best_w + n;
    x->image = x->shift + count;
    x->weight = x->image + count;
    for (size_t i = 0; i < count; i++) {
        x->weight[i] = 1.0;
    }
    x->extrapolation = pp_anderson_create(s->count, s->count, x->weight, GROWTH, arena);
    return x->extrapolation ? PERP_OK : PERP_ERR_MEMORY;
}

// ── The law of one contact ───────────────────────────────────────────────────────────────────────

// The normal and the sliding friction of a contact at x = p^ - (u + s) / (alpha m): x projected onto the cone
// |p_t| <= mu p_n. Returns mu of the boundary that it is on, 0 inside and where it is open.
static double project_onto_cone(double mu, double *x, int size)
{
    double slide = length_of(x + 1, size), n = x[0];
    if (slide <= mu * n) {
        return 0.0;
    }
    x[0] = fmax((n + mu * slide) / (1.0 + mu * mu), 0.0);
    double part = slide > 0.0 ? mu * x[0] / slide : 0.0;
    for (int k = 1; k <= size; k++) {
        x[k] *= part;
    }
    return x[0] > 0.0 ? mu : 0.0;
}

// Impulses of contact i at the rates u + t du, into p. Torsion and rolling have the limits of p^, so that the sets of a
// contact are independent of each other.
static void apply_law(const convex *x, int i, double t, double *p)
{
    const pp_mode_contact *c = &x->s->contact[i];
    const double *u = rows_of(x->u, i), *du = rows_of(x->du, i), *centre = rows_of(x->centre, i);
    double soft = x->alpha * c->mobility;
    // soft (p - p^) + gamma p + u = 0 between the bounds
    if (c->boxed) {
        double y = (soft * centre[0] - u[0] - t * du[0]) / (soft + c->n->gamma);
        p[0] = pp_clamp(y, c->n->lower, c->n->upper);
        return;
    }
    p[0] = centre[0] - (u[0] + t * du[0] + x->shift[i]) / soft;
    for (int g = 0; g < c->sets; g++) {
        const pp_mode_friction *f = &c->friction[g];
        for (int k = f->first; k < f->first + f->size; k++) {
            p[k] = centre[k] - (u[k] + t * du[k]) / (x->alpha * f->mobility);
        }
        if (f->moment) {
            double size = length_of(p + f->first, f->size), limit = f->mu * fmax(centre[0], 0.0);
            double part = size > limit ? limit / size : 1.0;
            for (int k = f->first; k < f->first + f->size; k++) {
                p[k] *= part;
            }
        }
    }
    if (c->sets > 0 && !c->friction[0].moment) {
        project_onto_cone(c->friction[0].mu, p, c->friction[0].size);
    } else {
        p[0] = fmax(p[0], 0.0);
    }
}

// The slope of a set's impulses by its rates, as K of modes.h: slipping sets give (1, mu e) (1, mu e)' / (1 + mu^2) along
// with the normal, and `share` across e, both over alpha m.
static void set_slopes_of_set(const convex *x, pp_mode_contact *c, pp_mode_friction *f,
                              const double *y, bool slips, double share)
{
    double size = length_of(y + f->first, f->size);
    f->stiffness = 1.0 / (x->alpha * f->mobility);
    f->edge = false;
    f->slips = slips;
    f->k_f = 0.0;
    if (!slips) {
        return;
    }
    for (int k = 0; k < f->size; k++) {
        f->e[k] = y[f->first + k] / size;
    }
    f->grip = f->moment ? 0.0 : f->mu;
    f->k_f = f->size == 2 ? share * f->stiffness : 0.0;
    c->mode = PP_MODE_SLIP;
}

// Modes of contact i at the rates u, for the matrix of Newton's step.
static void set_slopes(const convex *x, int i)
{
    pp_mode_contact *c = &x->s->contact[i];
    const double *u = rows_of(x->u, i), *centre = rows_of(x->centre, i), *p = rows_of(x->p, i);
    double soft = x->alpha * c->mobility, y[PP_MODE_ROWS];
    if (c->boxed) {
        c->stiffness = 1.0 / (soft + c->n->gamma);
        c->mode = p[0] <= c->n->lower ? PP_MODE_LOWER : PP_MODE_STICK;
        c->mode = p[0] >= c->n->upper ? PP_MODE_UPPER : c->mode;
        return;
    }
    y[0] = centre[0] - (u[0] + x->shift[i]) / soft;
    for (int g = 0; g < c->sets; g++) {
        const pp_mode_friction *f = &c->friction[g];
        for (int k = f->first; k < f->first + f->size; k++) {
            y[k] = centre[k] - u[k] / (x->alpha * f->mobility);
        }
    }
    // K of a closed contact: 1 / (alpha m) inside the cone, its part along (1, mu e) on the boundary
    c->stiffness = 1.0 / soft;
    c->mode = p[0] > 0.0 ? PP_MODE_STICK : PP_MODE_OPEN;
    for (int g = 0; g < c->sets; g++) {
        pp_mode_friction *f = &c->friction[g];
        double size = length_of(y + f->first, f->size);
        double limit = f->mu * (f->moment ? fmax(centre[0], 0.0) : p[0]);
        bool beyond = f->moment ? size > limit : size > f->mu * y[0];
        set_slopes_of_set(x, c, f, y, p[0] > 0.0 && beyond, size > 0.0 ? limit / size : 0.0);
        if (f->slips && !f->moment) {
            c->stiffness = 1.0 / (soft * (1.0 + f->mu * f->mu));
        }
    }
}

// ── Newton's method on one problem ───────────────────────────────────────────────────────────────

// The impulses of x->p in the answer, where the system takes them from.
static void put_impulses(const convex *x)
{
    pp_modes *s = x->s;
    for (int i = 0; i < s->count; i++) {
        const pp_mode_contact *c = &s->contact[i];
        const double *p = rows_of(x->p, i);
        double *pt = pp_modes_friction_impulses(s, c);
        *c->p = p[0];
        for (int k = 0; k < c->size; k++) {
            pt[k] = p[k + 1];
        }
    }
}

static void get_impulses(const convex *x, double *to)
{
    pp_modes *s = x->s;
    for (int i = 0; i < s->count; i++) {
        const pp_mode_contact *c = &s->contact[i];
        const double *pt = pp_modes_friction_impulses(s, c);
        double *p = rows_of(to, i);
        p[0] = *c->p;
        for (int k = 0; k < c->size; k++) {
            p[k + 1] = pt[k];
        }
    }
}

// The system's velocities: those of the bodies, or rates of the tree.
static double *velocities(const pp_modes *s)
{
    return s->tree ? s->qd : s->nu;
}

// u = J w + rate + bias of all rows, without what a compliance adds.
static void set_rates(const convex *x)
{
    pp_modes *s = x->s;
    memcpy(velocities(s), x->w, (size_t)x->n * sizeof *x->w);
    for (int i = 0; i < s->count; i++) {
        const pp_mode_contact *c = &s->contact[i];
        double *u = rows_of(x->u, i);
        for (int k = 0; k <= c->size; k++) {
            u[k] = pp_modes_rate(s, c, k) + (k == 0 ? c->bias : c->t[k - 1].bias);
        }
    }
}

static void multiply_mass(const pp_modes *s, const double *x, double *y)
{
    if (s->tree) {
        for (int i = 0; i < s->n; i++) {
            y[i] = pp_dot(s->n, s->H + (size_t)i * (size_t)s->n, x);  // H is symmetric
        }
    } else {
        pp_masses_mul(s->run->model, s->run->kin->mass, x, y);
    }
}

// The slope of phi along dw at w + t dw: it is -dw . missing at t = 0.
static double slope_at(const convex *x, double first, double curvature, double t)
{
    double slope = first + t * curvature;
    for (int i = 0; i < x->s->count; i++) {
        double q[PP_MODE_ROWS];
        const double *p = rows_of(x->p, i), *du = rows_of(x->du, i);
        apply_law(x, i, t, q);
        for (int k = 0; k <= x->s->contact[i].size; k++) {
            slope -= (q[k] - p[k]) * du[k];
        }
    }
    return slope;
}

// The t at which the slope vanishes, by doubling and halving: phi is convex, so that its slope rises.
static double search_line(const convex *x)
{
    double first = -pp_dot(x->n, x->dw, x->missing), curvature = pp_dot(x->n, x->dw, x->inert);
    double low = 0.0, high = PP_INF, t = 1.0;
    for (int k = 0; k < TRIALS_MOST; k++) {
        double slope = slope_at(x, first, curvature, t);
        if (fabs(slope) <= SLOPE_ENOUGH * fabs(first)) {
            break;
        }
        low = slope < 0.0 ? t : low;
        high = slope < 0.0 ? high : t;
        t = high < PP_INF ? 0.5 * (low + high) : 2.0 * t;
    }
    return t;
}

// One step of Newton's method from x->w; false: singular, or the budget is spent.
static bool newton_step(convex *x)
{
    pp_modes *s = x->s;
    for (int i = 0; i < s->count; i++) {
        apply_law(x, i, 0.0, rows_of(x->p, i));
        set_slopes(x, i);
    }
    // What w lacks of the momentum that goes with its own impulses, joints closed.
    put_impulses(x);
    pp_modes_velocities(s);
    for (int i = 0; i < x->n; i++) {
        x->dw[i] = velocities(s)[i] - x->w[i];
    }
    multiply_mass(s, x->dw, x->missing);
    memcpy(s->step, x->missing, (size_t)x->n * sizeof *s->step);
    s->factored = false;
    s->associated = true;
    bool solved = pp_modes_solve_step(s);
    s->associated = false;
    if (!solved) {
        return false;
    }
    memcpy(x->dw, s->step, (size_t)x->n * sizeof *x->dw);
    for (int i = 0; i < s->count; i++) {
        for (int k = 0; k <= s->contact[i].size; k++) {
            rows_of(x->du, i)[k] = pp_modes_step_rate(s, &s->contact[i], k);
        }
    }
    multiply_mass(s, x->dw, x->inert);
    double t = search_line(x);
    pp_axpy(x->n, t, x->dw, x->w);
    pp_axpy(PP_MODE_ROWS * s->count, t, x->du, x->u);
    return true;
}

// The problem about x->centre with x->shift: until Newton's step is small against the error so far.
static bool solve_problem(convex *x)
{
    for (int k = 0; k < STEPS_MOST; k++) {
        if (!newton_step(x)) {
            return false;
        }
        if (pp_norm_inf(x->n, x->dw) < STEP_ENOUGH * x->least) {
            break;
        }
    }
    for (int i = 0; i < x->s->count; i++) {
        apply_law(x, i, 0.0, rows_of(x->p, i));
    }
    put_impulses(x);
    return true;
}

// ── From problem to problem ──────────────────────────────────────────────────────────────────────

// mu |u_t| of all contacts at w.
static void set_image(const convex *x)
{
    pp_modes *s = x->s;
    set_rates(x);
    for (int i = 0; i < s->count; i++) {
        const pp_mode_contact *c = &s->contact[i];
        bool slides = c->sets > 0 && !c->friction[0].moment;
        x->image[i] =
            slides ? c->friction[0].mu * length_of(rows_of(x->u, i) + 1, c->friction[0].size) : 0.0;
    }
}

// Which of the two errors is the larger decides whether alpha falls.
static void choose_alpha(convex *x)
{
    double proximal = 0.0, shift = 0.0;
    for (int i = 0; i < x->s->count; i++) {
        const pp_mode_contact *c = &x->s->contact[i];
        const double *p = rows_of(x->p, i), *centre = rows_of(x->centre, i);
        for (int k = 0; k <= c->size; k++) {
            proximal = fmax(proximal, x->alpha * c->mobility * fabs(p[k] - centre[k]));
        }
        shift = p[0] > 0.0 ? fmax(shift, fabs(x->image[i] - x->shift[i])) : shift;
    }
    if (proximal > shift) {
        x->alpha = fmax(ALPHA_DOWN * x->alpha, x->alpha_least);
    }
}

// The next p^ and s. Extrapolated shifts may be negative, which no slip is.
static void move_on(convex *x, bool first)
{
    get_impulses(x, x->centre);
    if (first) {
        memcpy(x->shift, x->image, (size_t)x->s->count * sizeof *x->shift);
        return;
    }
    pp_anderson_next(x->extrapolation, x->image, x->shift);
    for (int i = 0; i < x->s->count; i++) {
        x->shift[i] = fmax(x->shift[i], 0.0);
    }
}

// Keeps the best answer so far. An error that has grown much comes of a problem that was too stiff to be solved: back to
// the best, with a larger alpha.
static void watch_error(convex *x)
{
    size_t rows = PP_MODE_ROWS * (size_t)x->s->count * sizeof *x->p,
           n = (size_t)x->n * sizeof *x->w;
    if (x->error < x->least) {
        x->least = x->error;
        memcpy(x->best, x->p, rows);
        memcpy(x->best_w, x->w, n);
        return;
    }
    if (x->error <= WORSE * x->least) {
        return;
    }
    x->alpha = fmin(x->alpha / ALPHA_DOWN, ALPHA_FIRST);
    x->alpha_least = x->alpha;
    memcpy(x->p, x->best, rows);
    memcpy(x->w, x->best_w, n);
    put_impulses(x);
    set_image(x);
    pp_anderson_reset(x->extrapolation);
    x->error = x->least;
}

// Sweeps from the impulses of the last problem; velocities and shifts are then those of the swept ones.
static perp_status sweep(convex *x)
{
    perp_status status = pp_modes_sweep(x->s, SWEEPS);
    if (status < 0 || x->s->no_sweeps) {
        return status;
    }
    x->error = pp_modes_evaluate(x->s);
    memcpy(x->w, velocities(x->s), (size_t)x->n * sizeof *x->w);
    get_impulses(x, x->p);
    set_image(x);
    pp_anderson_reset(x->extrapolation);
    return PERP_OK;
}

perp_status pp_modes_convex(pp_modes *s, bool *solved)
{
    convex x;
    *solved = false;
    if (!is_for_cones(s)) {
        return PERP_OK;
    }
    perp_status status = allocate(&x, s);
    if (status < 0) {
        return status;
    }
    // from the impulses in the answer and their velocities
    double tried = PP_INF;
    x.error = pp_modes_evaluate(s);
    x.least = PP_INF;
    memcpy(x.w, velocities(s), (size_t)x.n * sizeof *x.w);
    get_impulses(&x, x.p);
    set_image(&x);
    watch_error(&x);
    for (int k = 0; k < SHIFTS_MOST; k++) {
        move_on(&x, k == 0);
        if (!(x.error < PP_INF) || !solve_problem(&x)) {
            return PERP_OK;
        }
        set_image(&x);
        choose_alpha(&x);
        s->factored = false;
        x.error = pp_modes_evaluate(s);
        watch_error(&x);
        if (k % SWEEP_EVERY == SWEEP_EVERY - 1) {
            status = sweep(&x);
        }
        if (status < 0) {
            return status;
        }
        if (x.error >= HAND_OVER * tried && x.error > pp_modes_goal(s)) {
            continue;
        }
        tried = x.error;
        status = pp_modes_newton_from_answer(s, solved);
        if (status < 0 || *solved) {
            return status;
        }
        put_impulses(&x);
    }
    return PERP_OK;
}
