// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Crowds that move, and loose tolerances: nonlinear Gauss-Seidel from the last impulses until contacts are within the
// tolerance, relative to the speed of the scene as the certificate takes it, theory (K1).
//
// Each contact is solved with the others held, theory (C26). No matrix is assembled: contacts are laid out
// from the rows, and the velocities of bodies follow every change (comp/sweeping/sweep.h). Sweeps are accelerated by
// Nesterov's momentum, theory (S23). The residual costs nearly as much as a sweep, so that it is computed when the
// change of a sweep has become small, and now and then.
#include "solve/run.h"

#include "comp/sweeping/sweep.h"

#include <math.h>
#include <string.h>

enum { SWEEPS_LOOSE = 300, SWEEPS_MOST = 2000 };
enum { MANY_CONTACTS = 60 };  // contacts for which a limit on iterations is one on sweeps
// Contacts that are swept first when they move: few without friction, or at a tolerance of COMMON, which sweeps come to soon;
// otherwise many.
enum { CROWD = 150, CROWD_EXACT = 1000 };
static const double COMMON = 1e-6;
// The residual is computed after LOOK_FIRST sweeps, and whenever they have grown by a quarter and LOOK_NEXT. Its rate of
// convergence is extrapolated from half of the most sweeps on; of loose answers, which others find soon, from a fifth.
enum { LOOK_FIRST = 16, LOOK_NEXT = 8, JUDGED_PART = 2, JUDGED_PART_LOOSE = 5 };

// From this tolerance on sweeps are the first thing tried.
static const double LOOSE = 1e-4;
// Operations of a sweep for each contact, about: for the meter of work, theory (C50).
static const double SWEEP_COST = 700.0;
// What Newton's method takes for each of many contacts, about [s]: a few factorisations.
static const double NEWTON_SECONDS = 2e-5;

// The speed that errors are measured by.                                                              theory (K1)
static double speed_of_bodies(const pp_run *r)
{
    double most = 0.0;
    for (int i = 0; i < r->model->bodies; i++) {
        most = fmax(most, pp_run_body_speed(r, i));
    }
    return most;
}

// Whether the user's budget excludes factorisations: a deadline too near, or few iterations, which
// for many contacts (and for few after modes gave up) are spent on sweeps, since these have an
// answer after each.
static bool hurried(const pp_run *r)
{
    const pp_solve_options *o = r->options;
    bool few = o->max_iterations > 0 && o->max_iterations <= SWEEPS_LOOSE;
    return (few && (r->rows->nn > MANY_CONTACTS || r->budget_low)) ||
           (o->deadline > 0.0 && o->deadline - pp_seconds() < NEWTON_SECONDS * r->rows->nn);
}

bool pp_run_is_loose(const pp_run *r)
{
    return r->options->tolerance >= LOOSE;
}

// More than these take as long as Newton's method does where it has to come from afar, whose factors fill up in large piles.
// Loose answers of walls and stacks would need far more in any case.
static int sweeps_most(const pp_run *r)
{
    return pp_run_is_loose(r) || hurried(r) ? SWEEPS_LOOSE : SWEEPS_MOST;
}

// Whether a contact of many moved by more than modes count as rest when the step began. What rests is theirs: its last
// impulses are the answer (S19).
static bool is_moving_crowd(const pp_run *r)
{
    const pp_rows *rows = r->rows;
    bool soon = rows->nt == 0 || r->options->tolerance >= COMMON;
    int crowd = soon ? CROWD : CROWD_EXACT;
    if (rows->nn < crowd || !r->inputs->warm || r->options->max_iterations > 0) {
        return false;
    }
    double rest = PP_ACCEPTED * r->options->tolerance * speed_of_bodies(r), most = 0.0;
    for (int i = 0; i < rows->nn; i++) {
        most = fmax(most, fabs(rows->n[i].v_pre));
    }
    for (int i = 0; i < rows->nt; i++) {
        most = fmax(most, fabs(rows->t[i].v_pre));
    }
    return most > rest;
}

// Sliding contacts in space with discs, and nothing else: the layout has three rows a contact and
// two bodies.
bool pp_run_is_sweepable(const pp_run *r)
{
    const pp_rows *rows = r->rows;
    bool asked = !r->options->solver || strcmp(r->options->solver, "auto") == 0;
    if (!asked || !r->model->spatial || r->in.tree || rows->nb + rows->nm > 0 ||
        rows->nn != rows->nc || rows->nn == 0 || r->options->impact == PERP_IMPACT_POISSON ||
        !(pp_run_is_loose(r) || hurried(r) || is_moving_crowd(r))) {
        return false;
    }
    for (int g = 0; g < rows->ng; g++) {
        const pp_friction *group = &rows->group[g];
        bool disc = group->kind == PP_SLIDE && group->facets == 0 && group->size == 2;
        // sweeps measure errors in the rows, which two coefficients of friction scale
        if (!disc || group->stretch != 1.0) {
            return false;
        }
    }
    return true;
}

// R with R R' = M^-1 of one body: a number for every velocity, and the lower triangle of the angular part of a body of
// space. Velocities R x have the mass matrix 1 in x.
typedef struct mass_root {
    double linear[PP_SWEEP_V], angular[3][3];
} mass_root;

// Velocities whose entry of M stands alone.
static int count_plain(const pp_body *body)
{
    return body->nv == PP_SWEEP_V ? 3 : body->nv;
}

// The factor of a semidefinite tensor: a column without a pivot, about which nothing turns, is zero.
static void find_root(const pp_body *body, const pp_inertia *mass, mass_root *root)
{
    *root = (mass_root){0};
    for (int k = 0; k < count_plain(body); k++) {
        root->linear[k] = 1.0 / sqrt(body->axis[k] < 3 ? mass->divisor_m : mass->divisor_Izz);
    }
    if (body->nv < PP_SWEEP_V) {
        return;
    }
    double(*L)[3] = root->angular;
    for (int j = 0; j < 3; j++) {
        for (int i = j; i < 3; i++) {
            double sum = mass->inverse_I.m[3 * j + i];
            for (int k = 0; k < j; k++) {
                sum -= L[i][k] * L[j][k];
            }
            if (i == j) {
                L[j][j] = sqrt(fmax(sum, 0.0));
            } else {
                L[i][j] = L[j][j] > 0.0 ? sum / L[j][j] : 0.0;
            }
        }
    }
}

// to = J R, padded with zeros to PP_SWEEP_V numbers, so that all loops of a sweep have a constant length.
static void multiply_root(const pp_body *body, const mass_root *root, const double *J, double *to)
{
    int plain = count_plain(body);
    for (int j = 0; j < PP_SWEEP_V; j++) {
        to[j] = j < plain ? J[j] * root->linear[j] : 0.0;
    }
    for (int j = 0; j < 3 && plain < body->nv; j++) {
        for (int i = j; i < 3; i++) {
            to[3 + j] += J[3 + i] * root->angular[i][j];
        }
    }
}

// nu += R x
static void add_rooted(const pp_body *body, const mass_root *root, const double *x, double *nu)
{
    int plain = count_plain(body);
    for (int j = 0; j < plain; j++) {
        nu[j] += root->linear[j] * x[j];
    }
    for (int i = 0; i < 3 && plain < body->nv; i++) {
        for (int j = 0; j <= i; j++) {
            nu[3 + i] += root->angular[i][j] * x[3 + j];
        }
    }
}

// What the layout of all contacts has in common.
typedef struct sweep_layout {
    mass_root *root;  // bodies
    double *start;    // velocities without contacts, M^-1 (M nu_l + p_ext)
    double slop;      // gaps over the step that count as touching, 0: of loose answers [m/s]
} sweep_layout;

// Row i (0: normal, 1 and 2: tangents) of a contact for its bodies, and its rate without contacts.
static void lay_row(const pp_run *r, const sweep_layout *layout, const pp_row *row, int i,
                    pp_sweep_contact *c)
{
    c->w[i] = row->rate + row->bias;
    for (int k = 0; k < row->count; k++) {
        const pp_body *body = &r->model->body[row->body[k]];
        multiply_root(body, &layout->root[row->body[k]], row->J[k], c->J[k] + PP_SWEEP_V * i);
        for (int j = 0; j < body->nv; j++) {
            c->w[i] += row->J[k][j] * layout->start[body->at + j];
        }
    }
}

// Contact i with its warm start p. False: none of its bodies can move, or its rows are not those of
// two bodies.
static bool lay_contact(const pp_run *r, const sweep_layout *layout, int i, pp_sweep_contact *c,
                        double *p)
{
    const pp_rows *rows = r->rows;
    const pp_row *n = &rows->n[i];
    const double *warm = r->inputs->warm;
    const pp_friction *group = rows->grouped[i] > 0 ? &rows->group[rows->friction[i]] : NULL;
    c->at = i;
    c->mu = group ? group->mu : 0.0;
    c->body[0] = n->count > 0 ? n->body[0] : -1;
    c->body[1] = n->count > 1 ? n->body[1] : -1;
    p[0] = warm ? warm[i] : 0.0;
    lay_row(r, layout, n, 0, c);
    double slop = n->bounces ? 0.0 : layout->slop;
    c->w[0] -= pp_clamp(n->bias, -slop, slop);
    for (int k = 0; k < 2; k++) {
        // without friction mu is 0, and the tangents are zero rows
        if (group) {
            lay_row(r, layout, &rows->t[group->t + k], k + 1, c);
        } else {
            memset(c->J[k] + PP_SWEEP_V, 0, 2 * PP_SWEEP_V * sizeof(double));
            c->w[k + 1] = 0.0;
        }
        p[k + 1] = warm && group ? warm[rows->nn + group->t + k] : 0.0;
    }
    return pp_sweep_prepare(c);
}

// Roots of the masses and the motion without contacts.
static perp_status make_layout(pp_run *r, sweep_layout *layout)
{
    int nv = r->model->nv;
    layout->root = PP_ARRAY(r->arena, mass_root, r->model->bodies);
    layout->start = PP_ARRAY(r->arena, double, nv);
    if (!layout->root || !layout->start) {
        return PERP_ERR_MEMORY;
    }
    // as of modes: a crowd could not come to rest with the gaps that earlier steps left over, theory (S17)
    double width = pp_run_is_loose(r) ? 0.0 : 0.5 * PP_ACCEPTED * r->options->tolerance;
    layout->slop = width * fmin(1.0, speed_of_bodies(r));
    if (r->options->most_slop > 0.0) {
        layout->slop = fmin(layout->slop, r->options->most_slop);
    }
    for (int b = 0; b < r->model->bodies; b++) {
        find_root(&r->model->body[b], &r->kin->mass[b], &layout->root[b]);
    }
    pp_masses_mul(r->model, r->kin->mass, r->nu, layout->start);
    pp_axpy(nv, 1.0, r->kin->loads.p_ext, layout->start);
    pp_masses_solve(r->model, r->kin->mass, layout->start, layout->start);
    return PERP_OK;
}

// Contacts are coloured so that those of one colour share no body: they can be solved by several
// threads, with the same bits for any number of them. fit: false where something of them cannot move.
static perp_status build_sweep(pp_run *r, const sweep_layout *layout, pp_sweep *s, bool *fit)
{
    const pp_rows *rows = r->rows;
    size_t count = (size_t)rows->nn;
    int *body = PP_ARRAY(r->arena, int, 2 * count);
    int *order = PP_ARRAY(r->arena, int, count);
    *s = (pp_sweep){.count = rows->nn, .bodies = r->model->bodies, .team = r->cache->team};
    s->contact = PP_ARRAY(r->arena, pp_sweep_contact, count);
    s->r = PP_ARRAY(r->arena, double, 3 * count);
    s->v = PP_ZEROS(r->arena, double, PP_SWEEP_V *(size_t)s->bodies);
    if (!body || !order || !s->contact || !s->r || !s->v) {
        return PERP_ERR_MEMORY;
    }
    // bodies of every contact, -1: not free, for the colouring
    *fit = true;
    for (int i = 0; i < rows->nn; i++) {
        for (int k = 0; k < 2; k++) {
            body[2 * i + k] = k < rows->n[i].count ? rows->n[i].body[k] : -1;
        }
        *fit = *fit && rows->n[i].count <= 2;
    }
    if (!*fit) {
        return PERP_OK;
    }
    perp_status status = pp_sweep_colour(s, body, r->arena, order);
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < rows->nn; i++) {
        if (!lay_contact(r, layout, order[i], &s->contact[i], s->r + 3 * (ptrdiff_t)i)) {
            *fit = false;
            break;
        }
    }
    return status;
}

// ── Iteration ────────────────────────────────────────────────────────────────────────────────────

// Momentum starts over where a sweep moves more than the least one since it started by this factor, or where half as many
// sweeps as led to that, and WAIT_MOST, have not moved less.
static const double GROWTH_MOST = 2.0;
enum { WAIT_MOST = 10 };

// Nesterov's momentum on sweeps, which take the place of gradient steps: the image of a sweep is continued by a growing
// share of its difference to the image before. It starts over where the sweep turns against the motion, judged by the
// energy of both changes (O'Donoghue, Candes 2015), and where sweeps no longer move less: a sweep is no gradient step where
// contacts slip, and momentum may make it diverge. Velocities are affine in the impulses, so that they are continued
// alongside.                                                                               theory (S23)
typedef struct momentum {
    double *r, *v;     // of the last image: 3 count, 6 bodies
    double *v_before;  // from which the sweep started
    double least;      // change of a sweep since it started,
    int at, age;       // after so many sweeps of so many
    double theta;      // grows by about 1/2 a sweep; the share is (theta_k - 1) / theta_k+1
} momentum;

static bool momentum_start(const pp_sweep *s, pp_arena *arena, momentum *p)
{
    size_t n = 3 * (size_t)s->count, m = PP_SWEEP_V * (size_t)s->bodies;
    *p = (momentum){.r = PP_ARRAY(arena, double, n),
                    .v = PP_ARRAY(arena, double, m),
                    .v_before = PP_ARRAY(arena, double, m),
                    .least = PP_INF,
                    .theta = 1.0};
    if (!p->r || !p->v || !p->v_before) {
        return false;
    }
    memcpy(p->r, s->r, n * sizeof *p->r);
    memcpy(p->v, s->v, m * sizeof *p->v);
    return true;
}

// x becomes the next point, `image` the image that it was.
static void continue_along(int n, double share, double *image, double *x)
{
    for (int i = 0; i < n; i++) {
        double now = x[i];
        x[i] += share * (now - image[i]);
        image[i] = now;
    }
}

// moved: the change of the sweep.
static void momentum_advance(pp_sweep *s, momentum *p, double moved)
{
    int m = PP_SWEEP_V * s->bodies;
    double along = 0.0;
    for (int i = 0; i < m; i++) {
        along += (s->v[i] - p->v_before[i]) * (s->v[i] - p->v[i]);
    }
    // divergence shows as growth, and what is marginal as no progress
    p->age++;
    if (moved < p->least) {
        p->least = moved;
        p->at = p->age;
    }
    bool stalls = moved > GROWTH_MOST * p->least || 2 * (p->age - p->at) > p->at + 2 * WAIT_MOST;
    if (along < 0.0 || stalls) {
        p->theta = 1.0;
        p->least = stalls ? moved : p->least;
        p->age = p->at = 0;
    }
    double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * p->theta * p->theta));
    double share = (p->theta - 1.0) / next;
    p->theta = next;
    continue_along(3 * s->count, share, p->r, s->r);
    continue_along(m, share, p->v, s->v);
}

// ── Acceptance ───────────────────────────────────────────────────────────────────────────────────

// Root mean square over the contacts that push or approach [m/s].
static double mean_change(pp_sweep_change change)
{
    return change.active > 0 ? sqrt(change.squares / change.active) : 0.0;
}

// v at the impulses in s, from scratch: the running sums of many sweeps carry their rounding.
static void set_velocities(pp_sweep *s)
{
    memset(s->v, 0, PP_SWEEP_V * (size_t)s->bodies * sizeof *s->v);
    pp_sweep_apply_impulses(s);
}

// x in units of what is accepted of it.
static double in_units(double x, double unit)
{
    if (unit > 0.0) {
        return x / unit;
    }
    return x > 0.0 ? PP_INF : 0.0;
}

// The error of the impulses in s in units of what is accepted. Of loose answers: the tolerance, by the speed of the scene, in
// the mean; half of what the certificate allows in every row; and half of the overlap that it allows. Of others: a quarter of
// what the certificate allows in every row, as of modes (pp_modes_enough).
// r->slack becomes the error of the worst row [m/s].
static double residual_at(pp_run *r, pp_sweep *s, double most)
{
    set_velocities(s);
    pp_sweep_change change = pp_sweep_residual(s);
    r->slack = change.worst;
    double sink = r->options->most_sink > 0.0 ? change.sinks / r->options->most_sink : 0.0;
    if (!pp_run_is_loose(r)) {
        return fmax(in_units(2.0 * change.worst / PP_ACCEPTED, most), sink);
    }
    return fmax(in_units(fmax(mean_change(change), change.worst / PP_ACCEPTED), most), sink);
}

// The impulses after the sweep that changed least. With a budget the last iterate is not always the
// best.
typedef struct best_sweep {
    double *r, moved;
} best_sweep;

// The better of the last iterate and the best one; returns its residual. b->r has room for both.
static double restore_best(pp_run *r, pp_sweep *s, double most, best_sweep *b, double residual)
{
    size_t bytes = 3 * (size_t)s->count * sizeof *b->r;
    if (!(b->moved < residual)) {
        return residual;
    }
    memcpy(b->r + 3 * (ptrdiff_t)s->count, s->r, bytes);
    memcpy(s->r, b->r, bytes);
    double other = residual_at(r, s, most);
    if (other < residual) {
        return other;
    }
    memcpy(s->r, b->r + 3 * (ptrdiff_t)s->count, bytes);
    return residual_at(r, s, most);
}

// Looks between which sweeps about double, and part of the residual that may then be left.
enum { LOOKS_HALF = 3 };
static const double FALLS = 0.7;
static const double STALLED_MOST = 3.6;  // residual, of which the certificate allows 4

// Residuals of the sweeps so far, in units of what is accepted.
typedef struct looks {
    double change;            // of a sweep, at which the residual is next computed
    int next;                 // sweep after which it is computed in any case
    int first;                // the first such sweep
    double before;            // residual after it
    double past[LOOKS_HALF];  // the last residuals
} looks;

// Wedged contacts that disagree leave a residual that no longer falls. Of crowds it is accepted where it is less than what modes
// accept at last of their best answer, nine tenths of what the certificate allows.
static bool has_stalled(const pp_run *r, looks *l, double residual)
{
    bool stalls = residual > FALLS * l->past[0];
    memmove(l->past, l->past + 1, (LOOKS_HALF - 1) * sizeof *l->past);
    l->past[LOOKS_HALF - 1] = residual;
    return stalls && residual <= STALLED_MOST && !pp_run_is_loose(r) && !hurried(r);
}

// The residual after sweep k, in which the change was `moved`.
static double look_at_residual(pp_run *r, pp_sweep *s, momentum *p, double most, looks *l, int k)
{
    int m = PP_SWEEP_V * s->bodies;
    // The last image keeps its difference to v, which is computed anew: what rounding has put between impulses and velocities
    // would come back with momentum, and more of it after every look.
    pp_axpy(m, -1.0, s->v, p->v);
    double residual = residual_at(r, s, most);
    pp_axpy(m, 1.0, s->v, p->v);
    l->change *= fmin(0.9, 0.9 / residual);
    l->next = k + LOOK_NEXT + k / 4;
    if (l->first == 0) {
        l->first = k;
        l->before = residual;
    }
    return residual;
}

// Whether `most` sweeps will not do, by the rate of linear convergence between the first look and sweep k.
static bool predict_failure(const pp_run *r, const looks *l, int k, double residual, int most)
{
    int part = pp_run_is_loose(r) ? JUDGED_PART_LOOSE : JUDGED_PART;
    double rate = k > l->first ? pp_log(residual / l->before) / (k - l->first) : -PP_INF;
    return part * k >= most && !(rate < 0.0 && k - pp_log(residual) / rate < most);
}

// Sweeps until the residual is within the tolerance, or a limit is reached; *met: whether the impulses left in s are.
static perp_status sweep_until_converged(pp_run *r, pp_sweep *s, bool *met)
{
    const pp_solve_options *o = r->options;
    bool budget = o->max_iterations > 0 || o->deadline > 0.0;
    double most = o->tolerance * speed_of_bodies(r);
    int sweeps = sweeps_most(r);
    best_sweep b = {PP_ARRAY(r->arena, double, budget ? 6 * (size_t)s->count : 0), PP_INF};
    looks l = {.change = 1.0, .next = LOOK_FIRST, .past = {PP_INF, PP_INF, PP_INF}};
    momentum p;
    set_velocities(s);
    if (!momentum_start(s, r->arena, &p) || (budget && !b.r)) {
        return PERP_ERR_MEMORY;
    }
    // Changes and residuals are in units of what is accepted.
    for (int k = 1;; k++) {
        memcpy(p.v_before, s->v, PP_SWEEP_V * (size_t)s->bodies * sizeof *p.v_before);
        pp_sweep_change change = pp_sweep_once(s);
        double moved = in_units(mean_change(change), most), residual = 0.0;
        r->out->iterations++;
        pp_meter_add(&r->meter, SWEEP_COST * s->count);
        bool last = k >= sweeps || pp_run_solver_budget_spent(r);
        if (moved <= l.change || k >= l.next || last) {
            residual = look_at_residual(r, s, &p, most, &l, k);
            *met = residual <= 1.0 || has_stalled(r, &l, residual);
            if (*met) {
                return PERP_OK;
            }
            last = last || (!budget && predict_failure(r, &l, k, residual, sweeps));
        } else if (budget && moved < b.moved) {
            b.moved = moved;
            memcpy(b.r, s->r, 3 * (size_t)s->count * sizeof *b.r);
        }
        if (last) {
            *met = restore_best(r, s, most, &b, residual) <= 1.0;
            return PERP_OK;
        }
        momentum_advance(s, &p, moved);
    }
}

// Contacts of s are in the order of colours; c->at is the row of each.
static void unpack_sweep(pp_run *r, const sweep_layout *layout, const pp_sweep *s)
{
    pp_answer *out = r->out;
    for (int i = 0; i < s->count; i++) {
        const pp_sweep_contact *c = &s->contact[i];
        const double *p = s->r + 3 * (ptrdiff_t)i;
        out->pn[c->at] = p[0];
        if (r->rows->grouped[c->at] > 0) {
            const pp_friction *group = &r->rows->group[r->rows->friction[c->at]];
            out->pt[group->t] = p[1];
            out->pt[group->t + 1] = p[2];
        }
    }
    for (int b = 0; b < s->bodies; b++) {
        const pp_body *body = &r->model->body[b];
        memcpy(out->nu + body->at, layout->start + body->at, (size_t)body->nv * sizeof *out->nu);
        add_rooted(body, &layout->root[b], s->v + PP_SWEEP_V * (ptrdiff_t)b, out->nu + body->at);
    }
}

// Slip speeds at nu, as pp_run_close has them: without joints nothing else of it is needed.
static void set_sigma(pp_run *r)
{
    for (int g = 0; g < r->rows->ng; g++) {
        double slip[2];
        pp_friction_slip(r->model, r->rows, &r->rows->group[g], r->out->nu, slip);
        r->out->sigma[g] = pp_friction_support(&r->rows->group[g], false, slip);
    }
}

perp_status pp_run_by_sweeps(pp_run *r, bool *solved)
{
    pp_sweep s;
    sweep_layout layout;
    bool fit = false, met = false;
    *solved = false;
    if (!pp_run_is_sweepable(r)) {
        return PERP_OK;
    }
    perp_status status = make_layout(r, &layout);
    status = status < 0 ? status : build_sweep(r, &layout, &s, &fit);
    if (status < 0 || !fit) {
        return status;
    }
    status = sweep_until_converged(r, &s, &met);
    if (status < 0) {
        return status;
    }
    r->out->effort.solvers++;
    // Not within the tolerance: the answer is taken only where the budget leaves time for nothing
    // else.
    r->budget_spent = !met && pp_run_budget_spent(r);
    *solved = met || r->budget_spent;
    if (*solved) {
        unpack_sweep(r, &layout, &s);
        set_sigma(r);
        r->polygons = false;
        r->nu_current = true;
        r->out->form = PERP_FORM_CONE;
        r->out->solver = "sweeps";
        r->out->size = 3 * r->rows->nn;
    }
    return PERP_OK;
}
