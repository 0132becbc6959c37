// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contacts far from their answer: convex problems whose solutions lead to it.              theory (S15) to (S18)
//
// Coulomb's law is the law of an associated cone at the velocity u + s, s = mu |u_t| along the normal (De Saxce). With
// the shift s held and a proximal term about the impulses p^, the velocities minimise a convex function,
//
//   phi(nu) = 1/2 |nu - nu_free|_M^2 + sum over contacts of alpha m / 2 |p|^2,   p = P_K(p^ - (u + s) / (alpha m))
//
// which Newton's method finds from anywhere: M + J' P' J / (alpha m) is symmetric and positive definite, and the line
// search is exact. This is the unregularised form of Drake's SAP solver (Castro, Permenter, Han 2022).
//
// With torsion and rolling, K has all sets of friction rows, and s = sum mu_g |u_g|.
//
// The shift is the fixed point of s -> mu |u_t(s)| (Cadoux 2009), found by Newton's method as well: the slope of the
// convex problem's solution by s is one more linear system, with the unsymmetric matrix M + J' P' (1 + n mu e_u') J. The
// merit function is the sum of (mu |u_t| - s)^2; a step that does not lower it is shortened. With the shift settled, p is the answer of
// the exact law with the proximal term. Then p^ moves to p (proximal point method), and alpha falls. Two errors are left,
//
//   of the proximal term  alpha m |p - p^|,     of the shift  |mu |u_t| - s|
//
// Where Newton's method on the shift fails the problem is too stiff, and alpha grows again.
#include "comp/modes/modes.h"
#include "math/space.h"

#include <math.h>
#include <string.h>

enum {
    CENTRES_MOST = 60,  // places of p^
    PATIENCE = 40,      // of them in a row that do not halve the least error
    SHIFTS_MOST = 5,    // Newton steps of the shift, at one p^
    SHORTER_MOST = 2,   // times that one is shortened
    STEPS_MOST = 30,    // Newton steps of a convex problem
    TRIALS_MOST = 30,   // of a line search
    HOLD = 8,           // problems that alpha stays after one whose shift did not settle
    LEVELS = 2          // settled ones in a row that do not lower the proximal error: a plateau
};

static const double ALPHA_FIRST = 0.03;  // in units of the mobility
static const double ALPHA_LEAST = 1e-7;
static const double ALPHA_OF_JOINTS =
    1e-5;  // the least with joints in the matrix, which yield by PP_MODES_STIFF
static const double ALPHA_MOST = 1.0;
static const double ALPHA_STEP = 0.2;    // factor from one p^ to the next
static const double SETTLED = 0.3;       // of the proximal error: error of the shift that is enough
static const double ENOUGH = 0.3;        // of the accuracy: what w of a solved problem may lack
static const double SLOPE_ENOUGH = 0.1;  // of the slope at the start of a line search
static const double SHORTER = 0.3;       // factor of a step of the shift that does not help
static const double HELPS = 0.1;  // of its length: part of the merit that a step has to remove
static const double SLOW = 0.5;   // of the merit: what a step may leave
static const double LEVEL = 0.7;  // of the error of the proximal term: one that has not fallen

// Velocities, impulses and the shift: one iterate.
typedef struct iterate {
    double *w;      // n: velocities
    double *p;      // PP_MODE_ROWS a contact: impulses
    double *shift;  // contacts: s [m/s]
    double *image;  // mu |u_t| [m/s]
    double error;   // of p in the exact law [m/s]
} iterate;

// One convex problem after the other.
typedef struct convex {
    pp_modes *s;
    int n;               // velocities of the system
    double alpha_least;  // in units of the mobility, as is
    double alpha;        // the factor of the proximal term
    double goal;         // error that is enough [m/s],
    double plateau;      // and where smaller alpha do not lower it
    bool converged;      // the last problem
    double accuracy;     // of the next problem [m/s]
    double *dw;          // n: Newton's step of the velocities
    double *missing;     // n: momentum that w lacks
    double *inert;       // n: M dw
    double *u, *du;      // PP_MODE_ROWS a contact: rates with biases at w; their change by dw
    double *centre;      // the same: p^
    double *ds;          // contacts: Newton's step of the shift
    double *along;       // n: velocities that go with it
    iterate at;          // where it is
    iterate kept;        // before a step of the shift
    iterate from;        // the last one whose shift settled
    iterate best;        // of least error
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
        if (!c->boxed && c->gamma > 0.0) {
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

// The parts of one block: n velocities, rows of contacts, contacts.
static double *divide(iterate *t, double *reals, size_t n, size_t count)
{
    *t = (iterate){.w = reals,
                   .p = reals + n,
                   .shift = reals + n + PP_MODE_ROWS * count,
                   .image = reals + n + (PP_MODE_ROWS + 1) * count};
    return t->image + count;
}

static perp_status allocate(convex *x, pp_modes *s)
{
    size_t n = (size_t)s->size;
    size_t count = (size_t)s->count, rows = PP_MODE_ROWS * count;
    // bilateral rows have no law and are not among the contacts
    double *reals = PP_ZEROS(s->arena, double, 8 * n + 7 * rows + 9 * count);
    if (!reals) {
        return PERP_ERR_MEMORY;
    }
    *x = (convex){
        .s = s, .n = (int)n, .alpha_least = s->rows > s->count ? ALPHA_OF_JOINTS : ALPHA_LEAST};
    x->dw = divide(
        &x->from,
        divide(&x->best, divide(&x->kept, divide(&x->at, reals, n, count), n, count), n, count), n,
        count);
    x->missing = x->dw + n;
    x->inert = x->missing + n;
    x->along = x->inert + n;
    x->u = x->along + n;
    x->du = x->u + rows;
    x->centre = x->du + rows;
    x->ds = x->centre + rows;
    return PERP_OK;
}

static void copy_iterate(const convex *x, iterate *to, const iterate *from)
{
    size_t count = (size_t)x->s->count;
    memcpy(to->w, from->w, (size_t)x->n * sizeof *to->w);
    memcpy(to->p, from->p, PP_MODE_ROWS * count * sizeof *to->p);
    memcpy(to->shift, from->shift, count * sizeof *to->shift);
    memcpy(to->image, from->image, count * sizeof *to->image);
    to->error = from->error;
}

// ── The law of one contact ───────────────────────────────────────────────────────────────────────

// x = p^ - (u + s n) / (alpha m) projected onto the cone |p_g| <= mu_g p_n of all sets of friction rows, in the metric of
// their mobilities: p_n = (x_n + sum w mu |x_g|) / (1 + sum w mu^2) over the sets at their limits, w = m_g / m, which are
// those with the largest |x_g| / mu_g. Returns them, a bit for each; 0 inside the cone.  theory (S24)
static unsigned project_onto_cone(const pp_mode_contact *c, double *x)
{
    double size[PP_MODE_SETS], sum = x[0], squares = 1.0, n = x[0];
    unsigned at_limit = 0;
    for (int g = 0; g < c->sets; g++) {
        size[g] = length_of(x + c->friction[g].first, c->friction[g].size);
    }
    // one set after the other, while the next is beyond its limit: p_n rises with each
    for (int k = 0; k < c->sets; k++) {
        int next = -1;
        for (int g = 0; g < c->sets; g++) {
            bool first =
                next < 0 || size[g] * c->friction[next].mu > size[next] * c->friction[g].mu;
            next = !(at_limit >> g & 1) && first ? g : next;
        }
        const pp_mode_friction *f = &c->friction[next];
        if (size[next] <= f->mu * n) {
            break;
        }
        double w = f->moment ? f->mobility / c->mobility : 1.0;
        sum += w * f->mu * size[next];
        squares += w * f->mu * f->mu;
        n = sum / squares;
        at_limit |= 1u << next;
    }
    x[0] = fmax(n, 0.0);
    for (int g = 0; g < c->sets; g++) {
        const pp_mode_friction *f = &c->friction[g];
        if (at_limit >> g & 1) {
            double part = size[g] > 0.0 ? f->mu * x[0] / size[g] : 0.0;
            for (int k = f->first; k < f->first + f->size; k++) {
                x[k] *= part;
            }
        }
    }
    return at_limit;
}

// Impulses of contact i at the rates u + t du, into p.
static void apply_law(const convex *x, int i, double t, double *p)
{
    const pp_mode_contact *c = &x->s->contact[i];
    const double *u = rows_of(x->u, i), *du = rows_of(x->du, i), *centre = rows_of(x->centre, i);
    double soft = x->alpha * c->mobility;
    // soft (p - p^) + gamma p + u = 0 between the bounds
    if (c->boxed) {
        double y = (soft * centre[0] - u[0] - t * du[0]) / (soft + c->gamma);
        p[0] = pp_clamp(y, c->lower, c->upper);
        return;
    }
    p[0] = centre[0] - (u[0] + t * du[0] + x->at.shift[i]) / soft;
    for (int g = 0; g < c->sets; g++) {
        const pp_mode_friction *f = &c->friction[g];
        for (int k = f->first; k < f->first + f->size; k++) {
            p[k] = centre[k] - (u[k] + t * du[k]) / (x->alpha * f->mobility);
        }
    }
    project_onto_cone(c, p);
}

// The slope of a set's impulses by its rates, as K of modes.h: sets at their limits give (1, mu e) (1, mu e)' along with the
// normal, and `share` across e, over alpha m.
static void set_slopes_of_set(const convex *x, pp_mode_contact *c, pp_mode_friction *f,
                              const double *y, bool slips, double p_n)
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
    f->grip = f->mu;
    f->k_f = f->size == 2 ? f->mu * p_n / size * f->stiffness : 0.0;
    c->mode = PP_MODE_SLIP;
}

// Modes of contact i at the rates u, for the matrix of Newton's step.
static void set_slopes(const convex *x, int i)
{
    pp_mode_contact *c = &x->s->contact[i];
    const double *u = rows_of(x->u, i), *centre = rows_of(x->centre, i), *p = rows_of(x->at.p, i);
    double soft = x->alpha * c->mobility, y[PP_MODE_ROWS];
    if (c->boxed) {
        c->stiffness = 1.0 / (soft + c->gamma);
        c->mode = p[0] <= c->lower ? PP_MODE_LOWER : PP_MODE_STICK;
        c->mode = p[0] >= c->upper ? PP_MODE_UPPER : c->mode;
        return;
    }
    y[0] = centre[0] - (u[0] + x->at.shift[i]) / soft;
    for (int g = 0; g < c->sets; g++) {
        const pp_mode_friction *f = &c->friction[g];
        for (int k = f->first; k < f->first + f->size; k++) {
            y[k] = centre[k] - u[k] / (x->alpha * f->mobility);
        }
    }
    // K of a closed contact: 1 / (alpha m) inside the cone, its part along (1, mu e) on the boundary
    double x_n[PP_MODE_ROWS], squares = 1.0;
    memcpy(x_n, y, sizeof y);
    unsigned at_limit = project_onto_cone(c, x_n);
    c->mode = p[0] > 0.0 ? PP_MODE_STICK : PP_MODE_OPEN;
    for (int g = 0; g < c->sets; g++) {
        pp_mode_friction *f = &c->friction[g];
        bool slips = p[0] > 0.0 && (at_limit >> g & 1);
        set_slopes_of_set(x, c, f, y, slips, p[0]);
        double w = f->moment ? f->mobility / c->mobility : 1.0;
        squares += slips ? w * f->mu * f->mu : 0.0;
    }
    c->stiffness = 1.0 / (soft * squares);
}

// ── Newton's method on one problem ───────────────────────────────────────────────────────────────

// The impulses of x->p in the answer, where the system takes them from.
static void put_impulses(const convex *x)
{
    pp_modes *s = x->s;
    for (int i = 0; i < s->count; i++) {
        const pp_mode_contact *c = &s->contact[i];
        const double *p = rows_of(x->at.p, i);
        double *pt = c->pt;
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
        const double *pt = c->pt;
        double *p = rows_of(to, i);
        p[0] = *c->p;
        for (int k = 0; k < c->size; k++) {
            p[k + 1] = pt[k];
        }
    }
}

// u = J w + rate + bias of all rows, without what a compliance adds.
static void set_rates(const convex *x)
{
    pp_modes *s = x->s;
    memcpy(s->velocity, x->at.w, (size_t)x->n * sizeof *x->at.w);
    for (int i = 0; i < s->count; i++) {
        const pp_mode_contact *c = &s->contact[i];
        double *u = rows_of(x->u, i);
        for (int k = 0; k <= c->size; k++) {
            u[k] = s->system->rate(s, c, k) + c->bias[k];
        }
    }
}

// The slope of phi along dw at w + t dw: it is -dw . missing at t = 0.
static double slope_at(const convex *x, double first, double curvature, double t)
{
    double slope = first + t * curvature;
    for (int i = 0; i < x->s->count; i++) {
        double q[PP_MODE_ROWS];
        const double *p = rows_of(x->at.p, i), *du = rows_of(x->du, i);
        apply_law(x, i, t, q);
        for (int k = 0; k <= x->s->contact[i].size; k++) {
            slope -= (q[k] - p[k]) * du[k];
        }
    }
    return slope;
}

// The t at which the slope vanishes, by false position (Illinois): phi is convex, so that its slope rises.
static double search_line(const convex *x)
{
    double first = -pp_dot(x->n, x->dw, x->missing), curvature = pp_dot(x->n, x->dw, x->inert);
    double low = 0.0, below = first, high = PP_INF, above = PP_INF, t = 1.0;
    for (int k = 0; k < TRIALS_MOST; k++) {
        double slope = slope_at(x, first, curvature, t);
        if (fabs(slope) <= SLOPE_ENOUGH * fabs(first)) {
            break;
        }
        if (slope < 0.0) {
            above = low > 0.0 ? 0.5 * above : above;
            low = t;
            below = slope;
        } else {
            below = high < PP_INF ? 0.5 * below : below;
            high = t;
            above = slope;
        }
        t = high < PP_INF ? low - below * (high - low) / (above - below) : 2.0 * t;
    }
    return t;
}

// Impulses at x->w and its shift, and what w lacks of the velocities that go with them, joints closed: x->dw. Returns the
// largest part of that [m/s, rad/s].
static double set_residual(convex *x)
{
    pp_modes *s = x->s;
    for (int i = 0; i < s->count; i++) {
        apply_law(x, i, 0.0, rows_of(x->at.p, i));
    }
    put_impulses(x);
    s->system->velocities(s);
    for (int i = 0; i < x->n; i++) {
        x->dw[i] = s->velocity[i] - x->at.w[i];
    }
    return pp_norm_inf(s->speeds, x->dw);
}

// The nearest velocities to x->w at which joints are closed exactly: in the matrix of Newton's step they yield a little.
static void close_joints(convex *x)
{
    x->s->system->close(x->s, x->at.w);
    set_rates(x);
}

// A step of Newton's method from x->w, after set_residual; false: singular, or the budget is spent.
static bool newton_step(convex *x)
{
    pp_modes *s = x->s;
    for (int i = 0; i < s->count; i++) {
        set_slopes(x, i);
    }
    // the right-hand side is the momentum that w lacks [N s, N m s]
    s->system->multiply_mass(s, x->dw, x->missing);
    memcpy(s->step, x->missing, (size_t)x->n * sizeof *s->step);
    s->factored = false;
    s->law = PP_MODE_ASSOCIATED;
    bool solved = pp_modes_solve_step(s);
    s->law = PP_MODE_EXACT;
    if (!solved) {
        return false;
    }
    memcpy(x->dw, s->step, (size_t)x->n * sizeof *x->dw);
    for (int i = 0; i < s->count; i++) {
        for (int k = 0; k <= s->contact[i].size; k++) {
            rows_of(x->du, i)[k] = s->system->step_rate(s, &s->contact[i], k);
        }
    }
    s->system->multiply_mass(s, x->dw, x->inert);
    double t = search_line(x);
    pp_axpy(x->n, t, x->dw, x->at.w);
    if (s->closes) {
        close_joints(x);
    } else {
        pp_axpy(PP_MODE_ROWS * s->count, t, x->du, x->u);
    }
    return true;
}

// sum over its sets of mu |u_g| of contact i at the rates x->u.
static double shift_of(const convex *x, int i)
{
    const pp_mode_contact *c = &x->s->contact[i];
    double shift = 0.0;
    for (int g = 0; g < c->sets; g++) {
        const pp_mode_friction *f = &c->friction[g];
        shift += f->mu * length_of(rows_of(x->u, i) + f->first, f->size);
    }
    return shift;
}

static void set_image(const convex *x)
{
    for (int i = 0; i < x->s->count; i++) {
        x->at.image[i] = shift_of(x, i);
    }
}

// The problem about x->centre with x->shift, until w lacks less than its accuracy (x->converged). The impulses are then in
// the answer, and mu |u_t| in the image. False: no budget.
static bool solve_problem(convex *x)
{
    set_rates(x);
    for (int k = 0;; k++) {
        x->converged = set_residual(x) < ENOUGH * x->accuracy;
        if (x->converged || k == STEPS_MOST) {
            break;
        }
        if (!newton_step(x)) {
            return false;
        }
    }
    set_image(x);
    return true;
}

// ── The shift ────────────────────────────────────────────────────────────────────────────────────

typedef struct size_of_error {
    double worst;    // [m/s]
    double squares;  // sum of squares, the merit function [m^2/s^2]
} size_of_error;

// Whether an open contact would close with mu |u_t| in place of its shift.
static bool is_held_open(const convex *x, int i)
{
    const pp_mode_contact *c = &x->s->contact[i];
    const double *u = rows_of(x->u, i), *centre = rows_of(x->centre, i);
    double soft = x->alpha * c->mobility, y[PP_MODE_ROWS] = {0.0};
    if (!(x->at.shift[i] > x->at.image[i])) {
        return false;
    }
    y[0] = centre[0] - (u[0] + x->at.image[i]) / soft;
    for (int g = 0; g < c->sets; g++) {
        const pp_mode_friction *f = &c->friction[g];
        for (int k = f->first; k < f->first + f->size; k++) {
            y[k] = centre[k] - u[k] / (x->alpha * f->mobility);
        }
    }
    project_onto_cone(c, y);
    return y[0] > 0.0;
}

// |mu |u_t| - s| of contacts that are closed, or held open by s alone; the shift of others that are open does nothing.
static size_of_error shift_error(const convex *x)
{
    size_of_error e = {0.0, 0.0};
    for (int i = 0; i < x->s->count; i++) {
        bool counts = rows_of(x->at.p, i)[0] > 0.0 || is_held_open(x, i);
        double off = counts ? fabs(x->at.image[i] - x->at.shift[i]) : 0.0;
        e.worst = fmax(e.worst, off);
        e.squares += off * off;
    }
    return e;
}

// alpha m |p - p^|: what the proximal term leaves of the law, worst of all rows [m/s].
static double proximal_error(const convex *x)
{
    double worst = 0.0;
    for (int i = 0; i < x->s->count; i++) {
        const pp_mode_contact *c = &x->s->contact[i];
        const double *p = rows_of(x->at.p, i), *centre = rows_of(x->centre, i);
        for (int k = 0; k <= c->size; k++) {
            worst = fmax(worst, x->alpha * c->mobility * fabs(p[k] - centre[k]));
        }
    }
    return worst;
}

// What a change of the shift of contact i to mu |u_t| does to its impulses at fixed velocities, in c->c, and the slope
// mu u_t / |u_t| of that by its sliding rates, in c->turn.
static void push_shift(const convex *x, int i)
{
    pp_mode_contact *c = &x->s->contact[i];
    const double *u = rows_of(x->u, i);
    memset(c->c, 0, sizeof c->c);
    memset(c->turn, 0, sizeof c->turn);
    c->turns = c->sets > 0 && x->at.image[i] > 0.0;
    if (!c->turns) {
        return;
    }
    c->c[0] = c->mode == PP_MODE_OPEN ? 0.0 : -c->stiffness * (x->at.image[i] - x->at.shift[i]);
    for (int g = 0; g < c->sets; g++) {
        const pp_mode_friction *f = &c->friction[g];
        double speed = length_of(u + f->first, f->size);
        for (int k = 0; k < f->size; k++) {
            int row = f->first + k;
            c->turn[row - 1] = speed > 0.0 ? f->mu * u[row] / speed : 0.0;
            c->c[row] = f->slips ? f->grip * f->e[k] * c->c[0] : 0.0;
        }
    }
}

// Newton's step of the shift, x->ds, and of the velocities that go with it, x->along:             theory (S18)
//   (M + J' P' (1 + n mu e_u') J) dw = -J' P' n (mu |u_t| - s),   ds = mu |u_t| - s + mu e_u' J_t dw
static bool find_shift_step(convex *x)
{
    pp_modes *s = x->s;
    for (int i = 0; i < s->count; i++) {
        set_slopes(x, i);
        push_shift(x, i);
    }
    // unsymmetric: the shift follows the slip
    s->system->push(s);
    s->factored = false;
    s->law = PP_MODE_SHIFTED;
    bool solved = pp_modes_solve_step(s);
    s->law = PP_MODE_EXACT;
    s->factored = false;
    if (!solved) {
        return false;
    }
    memcpy(x->along, s->step, (size_t)x->n * sizeof *x->along);
    for (int i = 0; i < s->count; i++) {
        const pp_mode_contact *c = &s->contact[i];
        x->ds[i] = x->at.image[i] - x->at.shift[i];
        for (int k = 0; k < c->size; k++) {
            x->ds[i] += c->turn[k] * s->system->step_rate(s, c, 1 + k);
        }
    }
    return true;
}

// The problem at the shift s + t ds from x->kept. No slip has a negative speed.
static bool try_shift(convex *x, double t)
{
    copy_iterate(x, &x->at, &x->kept);
    for (int i = 0; i < x->s->count; i++) {
        x->at.shift[i] = fmax(x->kept.shift[i] + t * x->ds[i], 0.0);
    }
    pp_axpy(x->n, t, x->along, x->at.w);
    return solve_problem(x);
}

// Newton's method on the shift at this p^ and alpha, after the first problem. *settled: its error is small against that of
// the proximal term, or the goal. False: no budget.
static bool settle_shift(convex *x, bool *settled)
{
    size_of_error e = shift_error(x);
    for (int k = 0;; k++) {
        *settled = x->converged && e.worst <= SETTLED * fmax(proximal_error(x), x->goal);
        if (*settled || !x->converged || k == SHIFTS_MOST) {
            return true;
        }
        copy_iterate(x, &x->kept, &x->at);
        x->accuracy = fmax(x->goal, e.worst);
        if (!find_shift_step(x)) {
            return false;
        }
        double t = 1.0, before = e.squares;
        for (int shorter = 0; shorter <= SHORTER_MOST; shorter++, t *= SHORTER) {
            if (!try_shift(x, t)) {
                return false;
            }
            e = shift_error(x);
            if (e.squares <= (1.0 - HELPS * t) * before) {
                break;
            }
        }
        // no descent along it: Cadoux' own step
        if (!(e.squares < before)) {
            copy_iterate(x, &x->at, &x->kept);
            memcpy(x->at.shift, x->kept.image, (size_t)x->s->count * sizeof *x->at.shift);
            if (!solve_problem(x)) {
                return false;
            }
            e = shift_error(x);
        }
        if (!(e.squares <= SLOW * before)) {
            return true;
        }
    }
}

// ── From one p^ to the next ──────────────────────────────────────────────────────────────────────

// The exact law at the impulses of x->at. False: not a number.
static bool examine(convex *x)
{
    put_impulses(x);
    x->s->factored = false;
    x->at.error = x->s->system->judged(x->s, pp_modes_evaluate(x->s));
    if (x->at.error < x->best.error) {
        copy_iterate(x, &x->best, &x->at);
    }
    return x->at.error < PP_INF;
}

// The impulses in the answer, their velocities and the shift of these. False: not a number.
static bool start_from_answer(convex *x)
{
    pp_modes *s = x->s;
    get_impulses(x, x->at.p);
    if (!examine(x)) {
        return false;
    }
    memcpy(x->at.w, s->velocity, (size_t)x->n * sizeof *x->at.w);
    set_rates(x);
    set_image(x);
    memcpy(x->at.shift, x->at.image, (size_t)s->count * sizeof *x->at.shift);
    x->accuracy = fmax(x->goal, x->at.error);
    x->alpha = ALPHA_FIRST;
    return true;
}

// The proximal point method from x->at. The answer at one p^ is the next p^, with a smaller alpha; where the shift does
// not settle, the same p^ is tried again with a larger one, larger by more each time.
static void follow_centres(convex *x)
{
    int failed = 0, waited = 0, level = 0, refused = 0;
    double halved = x->best.error, before = PP_INF;
    copy_iterate(x, &x->from, &x->at);
    for (int k = 0; k < CENTRES_MOST && waited < PATIENCE && x->best.error > x->goal; k++) {
        bool settled = false;
        copy_iterate(x, &x->at, &x->from);
        memcpy(x->centre, x->from.p, PP_MODE_ROWS * (size_t)x->s->count * sizeof *x->centre);
        if (!solve_problem(x) || !settle_shift(x, &settled) || !examine(x)) {
            return;
        }
        // the next proximal error will be about this, so that a more exact problem is not worth its steps
        x->accuracy = fmax(x->goal, ALPHA_STEP * proximal_error(x));
        failed = settled ? 0 : failed + 1;
        refused = settled ? refused : HOLD;
        waited = x->best.error < 0.5 * halved ? 0 : waited + 1;
        halved = waited == 0 ? x->best.error : halved;
        if (settled) {
            // alpha m |p - p^| stays the same: redundant rows disagree by as much, and p^ only drifts along what they share
            level = proximal_error(x) > LEVEL * before ? level + 1 : 0;
            before = proximal_error(x);
            x->goal = level >= LEVELS ? x->plateau : x->goal;
            copy_iterate(x, &x->from, &x->at);
            // where a smaller alpha did not settle, p^ first has to come nearer
            refused = refused > 0 && level > 0 ? refused - 1 : 0;
            x->alpha = refused > 0 ? x->alpha : fmax(x->alpha * ALPHA_STEP, x->alpha_least);
        }
        if (!settled && x->alpha == ALPHA_MOST) {
            return;
        }
        for (int i = 0; i < failed; i++) {
            x->alpha = fmin(x->alpha / ALPHA_STEP, ALPHA_MOST);
        }
    }
}

perp_status pp_modes_convex(pp_modes *s, bool *solved)
{
    convex x;
    if (!is_for_cones(s)) {
        return PERP_OK;
    }
    *solved = false;
    perp_status status = allocate(&x, s);
    if (status < 0) {
        return status;
    }
    x.goal = pp_modes_enough(s);
    x.plateau = pp_modes_plateau(s);
    x.best.error = PP_INF;
    if (start_from_answer(&x)) {
        follow_centres(&x);
    }
    copy_iterate(&x, &x.at, &x.best);
    put_impulses(&x);
    *solved = s->stalled = x.best.error <= fmax(pp_modes_accepted(s), x.goal);
    return *solved ? pp_modes_polish(s) : pp_modes_keep_best(s, x.best.error);
}
