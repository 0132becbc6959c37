// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A step's contacts by their modes, warm-started with the impulses of the step before.      theory (S8)
//
// Most steps of a simulation keep the modes (active set) of the step before; then one or two linear systems give
// the answer to rounding. Many others differ in a few modes, and a few more steps find them. Where that does not
// happen soon, central paths and convex problems find them; where these fail, the solvers of comp/ start from scratch, and
// what they find is polished here (pp_run_polish).
//
// The method is that of comp/modes/. This file lays out the rows of the step for it, and judges what it finds as the
// certificate does.
#include "solve/modes.h"

#include <math.h>
#include <string.h>

enum {
    MANY_CONTACTS = 60,   // contacts in space
    MANY_IN_PLANE = 150,  // and in the plane
};

static bool has_wide_rows(const pp_row *row, int count)
{
    for (int i = 0; i < count; i++) {
        if (row[i].count > 2) {
            return true;
        }
    }
    return false;
}

// One phase, a warm start, and no solver that the user asked for by name.
// Rows of more than two bodies (gears) have no place among the blocks of bodies; in joint coordinates they are rows like
// others.
static bool is_for_modes(const pp_run *r)
{
    const pp_rows *rows = r->rows;
    if (!r->inputs->warm || r->options->solver || rows->nm + rows->nn == 0 ||
        r->options->impact == PERP_IMPACT_POISSON) {
        return false;
    }
    if (r->in.tree) {
        if (r->in.tree->tree->nv > PP_TREE_MOST) {
            return false;
        }
    } else if (has_wide_rows(rows->b, rows->nb) || has_wide_rows(rows->m, rows->nm) ||
               has_wide_rows(rows->n, rows->nn)) {
        return false;
    }
    return true;
}

double pp_modes_body_mobility(const pp_run *r, const pp_row *row)
{
    double m = pp_row_mobility(r->model, r->kin->mass, row);
    return m > 0.0 ? m : 1.0;  // 0: between bodies that are not free
}

const pp_row *pp_step_row(const pp_step_modes *m, int i)
{
    const pp_rows *rows = m->run->rows;
    if (i < rows->nn) {
        return &rows->n[i];
    }
    i -= rows->nn;
    if (i < rows->nm) {
        return &rows->m[i];
    }
    i -= rows->nm;
    return &rows->b[m->tree ? m->run->closed.row[i] : i];
}

const pp_row *pp_step_friction_rows(const pp_step_modes *m, int i)
{
    return m->run->rows->t + (m->s.contact[i].pt - m->run->out->pt);
}

// ── Rows as contacts ─────────────────────────────────────────────────────────────────────────────

// The sets of friction rows of a contact, which follow each other. Sliding is measured by the mobility of the normal,
// moments by their own; arm^2 is the ratio of the two.
static void set_friction(const pp_run *r, int i, pp_mode_contact *c)
{
    const pp_rows *rows = r->rows;
    const pp_friction *group = &rows->group[rows->friction[i]];
    const pp_row *t = &rows->t[group->t];
    c->pt = r->out->pt + group->t;
    c->Jt = t->J[0];
    c->stride = sizeof *t / sizeof(double);
    c->sets = rows->grouped[i];
    for (int g = 0; g < c->sets; g++) {
        pp_mode_friction *f = &c->friction[g];
        f->first = group[g].t - group->t + 1;
        f->size = group[g].size;
        f->mu = group[g].mu;
        f->sides = group[g].facets;
        f->moment = group[g].kind != PP_SLIDE;
        f->mobility = f->moment ? pp_modes_body_mobility(r, &rows->t[group[g].t]) : c->mobility;
        f->arm = f->moment ? sqrt(c->mobility / f->mobility) : 1.0;
        c->size += f->size;
    }
    for (int k = 0; k < c->size; k++) {
        c->bias[k + 1] = t[k].bias;
        c->given[k + 1] = t[k].rate;
    }
}

// What all contacts and rows have. In joint coordinates rows may be of more bodies than two, and J is another.
static void set_row(const pp_step_modes *m, const pp_row *row, pp_mode_contact *c)
{
    c->gamma = row->gamma;
    c->lower = row->lower;
    c->upper = row->upper;
    c->gap_rate = c->bias[0] = row->bias;
    c->given[0] = row->rate;
    c->weight = 1.0;
    if (!m->tree) {
        c->J = row->J[0];
        c->count = row->count;
        memcpy(c->body, row->body, (size_t)row->count * sizeof *c->body);
    }
}

// Contacts and limits, boxed rows, then the bilateral rows that the coordinates leave. False: out of memory.
static bool set_touches(pp_step_modes *m)
{
    pp_modes *s = &m->s;
    const pp_run *r = m->run;
    const pp_rows *rows = r->rows;
    s->count = rows->nn + rows->nm;
    s->rows = s->count + (m->tree ? r->closed.nb : rows->nb);
    s->contact = PP_ZEROS(r->arena, pp_mode_contact, s->rows);
    pp_mode_friction *friction = PP_ZEROS(r->arena, pp_mode_friction, rows->ng);
    if (!s->contact || (!friction && rows->ng > 0)) {
        return false;
    }
    for (int i = 0; i < s->rows; i++) {
        pp_mode_contact *c = &s->contact[i];
        const pp_row *row = pp_step_row(m, i);
        set_row(m, row, c);
        c->pt = r->out->pt;
        if (i < rows->nn) {
            c->p = &r->out->pn[i];
            c->has_slop = i < rows->nc && !row->bounces;
            c->mobility = pp_modes_body_mobility(r, row);
            if (rows->grouped[i] > 0) {
                c->friction = friction + rows->friction[i];
                set_friction(r, i, c);
            }
        } else if (i < s->count) {
            c->p = &r->out->pm[i - rows->nn];
            c->boxed = true;
            if (!m->tree) {
                c->mobility = pp_modes_body_mobility(r, row) + c->gamma;
                c->weight = 1.0 - c->gamma / c->mobility;
            }
        } else {
            // without a law of its own: a row that always sticks
            c->mode = PP_MODE_STICK;
            if (!m->tree) {
                c->stiffness = 1.0 / (PP_MODES_STIFF * pp_modes_body_mobility(r, row) + c->gamma);
            }
        }
    }
    return true;
}

// ── The system ───────────────────────────────────────────────────────────────────────────────────

// nu = M^-1 (M nu_l + p_ext + W p), joints closed, from scratch: updating nu by dnu instead would keep the
// rounding of every step, and the residual could not come to 1e-15 of the speeds.
static void find_velocities(pp_modes *s)
{
    const pp_step_modes *m = pp_const_step_of(s);
    const pp_run *r = m->run;
    memcpy(s->velocity, m->start, (size_t)s->size * sizeof *s->velocity);
    pp_modes_bodies_add(s, s->velocity);
    if (s->closes) {
        pp_closed_solve(&r->closed, r->beta, s->velocity, r->out->pb);
    } else {
        pp_masses_solve(r->model, r->kin->mass, s->velocity, s->velocity);
    }
}

static void multiply_mass(const pp_modes *s, const double *x, double *y)
{
    const pp_run *r = pp_const_step_of(s)->run;
    pp_masses_mul(r->model, r->kin->mass, x, y);
}

static void close_joints(pp_modes *s, double *v)
{
    const pp_run *r = pp_step_of(s)->run;
    pp_closed_nearest(&r->closed, r->beta, v, r->out->pb);
}

// m for each translation and the world inertia R J R' in space, I_zz in the plane.
static void add_mass(const pp_modes *s, int i, double *X, int ld)
{
    const pp_run *r = pp_const_step_of(s)->run;
    const pp_body *body = &r->model->body[i];
    const pp_inertia *w = &r->kin->mass[i];
    for (int k = 0; k < body->nv; k++) {
        X[k * (ld + 1)] = body->axis[k] < 3 ? w->m : w->I.m[8];
    }
    if (body->nv < 6) {
        return;
    }
    for (int k = 0; k < 9; k++) {
        X[3 + k / 3 + (3 + k % 3) * ld] = w->I.m[k];
    }
}

// ── How good ─────────────────────────────────────────────────────────────────────────────────────

// Bodies that exchange energy, by union and find: the lowest of a group is its root.
static int root_of(int *group, int i)
{
    while (group[i] != i) {
        group[i] = group[group[i]];
        i = group[i];
    }
    return i;
}

static void tie_pair(int *group, int i, int k)
{
    int a = root_of(group, i), b = root_of(group, k);
    group[a > b ? a : b] = a < b ? a : b;
}

static void tie_bodies(int *group, const pp_row *row)
{
    for (int k = 1; k < row->count; k++) {
        tie_pair(group, row->body[0], row->body[k]);
    }
}

static void tie_loaded(const pp_step_modes *m, int *group)
{
    const pp_rows *rows = m->run->rows;
    for (int i = 0; i < rows->nb; i++) {
        tie_bodies(group, &rows->b[i]);
    }
    for (int i = 0; i < m->s.count; i++) {
        if (*m->s.contact[i].p != 0.0) {
            tie_bodies(group, pp_step_row(m, i));
        }
    }
}

// Half of what the certificate allows a group of bodies that loaded contacts and joints tie may be created by the impulses:
// p . u is 0 in an answer, and less where it slips. Drives do work, and are left out.          theory (K1), (K4)
static double energy_created(const pp_step_modes *m)
{
    const pp_modes *s = &m->s;
    const pp_run *r = m->run;
    size_t bodies = (size_t)r->model->bodies;
    pp_mark mark = pp_arena_mark(r->arena);
    int *group = PP_ARRAY(r->arena, int, bodies);
    double *created = PP_ZEROS(r->arena, double, 2 * bodies), *energy = created + bodies,
           worst = 0.0;
    if (!group || !created) {
        return PP_INF;
    }
    for (int i = 0; i < r->model->bodies; i++) {
        group[i] = i;
    }
    // a group has the energy of its bodies [J], and the contacts between them
    tie_loaded(m, group);
    for (int i = 0; i < r->model->bodies; i++) {
        energy[root_of(group, i)] += m->energy[i];
    }
    for (int i = 0; i < s->count; i++) {
        const pp_mode_contact *c = &s->contact[i];
        const pp_row *row = pp_step_row(m, i);
        if (c->boxed || row->count == 0) {
            continue;
        }
        double *sum = &created[root_of(group, row->body[0])];
        *sum += *c->p * c->u[0];
        for (int k = 0; k < c->size; k++) {
            *sum += c->pt[k] * c->u[k + 1];
        }
    }
    for (int i = 0; i < r->model->bodies; i++) {
        double limit = PP_ACCEPTED * r->options->tolerance * energy[i];
        worst = created[i] > 0.0 && limit > 0.0 ? fmax(worst, created[i] / limit) : worst;
    }
    pp_arena_release(r->arena, mark);
    return worst;
}

// The error as the certificate measures it [m/s]: more where what it does to the energy is more of what is allowed (K1), and in
// joint coordinates by the bodies alone, where a foot is light though the robot on it is not.
static double judged(pp_modes *s, double error)
{
    const pp_step_modes *m = pp_step_of(s);
    double accepted = pp_modes_accepted(s);
    // what is far from accepted need not be judged otherwise
    if (!(error <= pp_modes_plateau(s))) {
        return error;
    }
    error = fmax(error, accepted * energy_created(m));
    // it knows no slop, by which an answer to rounding is off; with it none may be off by more than what is accepted in the end
    double slack = pp_run_slack(m->run);
    return fmax(error, slack > pp_modes_plateau(s) ? slack : slack - s->slop);
}

// Whether the impulses obey the laws to the tolerance, judged by pp_run_slack, which takes
// projections in place of modes. Rounding may leave p_n < 0 where a contact is closed: none may
// pull. Where all speeds are below 1 m/s the tolerance is relative to them.
static bool obeys_laws(pp_modes *s)
{
    pp_run *r = pp_step_of(s)->run;
    for (int i = 0; i < s->count; i++) {
        pp_mode_contact *c = &s->contact[i];
        *c->p = c->boxed ? fmin(fmax(*c->p, c->lower), c->upper) : fmax(*c->p, 0.0);
    }
    // an answer to rounding of the problem with slop is off by the slop
    bool loose = (s->stalled || s->slop > 0.0) && !r->finish_polygons;
    double most = fmin(1.0, s->scale) * r->options->tolerance;
    if (loose) {
        most = pp_modes_plateau(s);
    }
    r->nu_current = pp_run_slack(r) <= most;
    return r->nu_current;
}

static bool may_rest(const pp_modes *s)
{
    return pp_run_may_be_still(pp_const_step_of(s)->run);
}

static bool rests(const pp_modes *s)
{
    return pp_run_is_still(pp_const_step_of(s)->run, s->velocity);
}

static double largest_rate(const pp_modes *s)
{
    const pp_step_modes *m = pp_const_step_of(s);
    double most = 0.0;
    for (int i = 0; i < m->run->rows->nn; i++) {
        const pp_mode_contact *c = &s->contact[i];
        const pp_row *t = pp_step_friction_rows(m, i);
        for (int k = 0; k <= c->size; k++) {
            double before = k == 0 ? pp_step_row(m, i)->v_pre : t[k - 1].v_pre;
            most = fmax(most, fmax(fabs(before), fabs(s->system->rate(s, c, k))));
        }
    }
    return most;
}

static bool is_over(const pp_modes *s)
{
    return pp_run_solver_budget_spent(pp_const_step_of(s)->run);
}

static const pp_modes_system OF_BODIES = {
    .velocities = find_velocities,
    .rate = pp_modes_bodies_rate,
    .step_rate = pp_modes_bodies_step_rate,
    .factor = pp_modes_bodies_factor,
    .push = pp_modes_bodies_push,
    .solve = pp_modes_bodies_solve,
    .multiply_mass = multiply_mass,
    .close = close_joints,
    .add_mass = add_mass,
    .judged = judged,
    .obeys_laws = obeys_laws,
    .may_rest = may_rest,
    .rests = rests,
    .largest_rate = largest_rate,
    .is_over = is_over,
};

static const pp_modes_system OF_TREE = {
    .velocities = pp_modes_tree_velocities,
    .rate = pp_modes_tree_rate,
    .step_rate = pp_modes_tree_step_rate,
    .factor = pp_modes_tree_factor,
    .push = pp_modes_tree_push,
    .solve = pp_modes_tree_solve,
    .multiply_mass = pp_modes_tree_multiply,
    .close = pp_modes_tree_close,
    .judged = judged,
    .obeys_laws = obeys_laws,
    .may_rest = may_rest,
    .rests = rests,
    .largest_rate = largest_rate,
    .is_over = is_over,
};

// ── A step ───────────────────────────────────────────────────────────────────────────────────────

// Many contacts: gaps within what is accepted count as touching, so that a pile can rest. Its gaps differ by what the steps
// before left over, and exactly those decide which of the contacts that can share a load carry it: every step would move
// load from one to another, and leave other gaps behind.                                   theory (S17)
static void set_slop(pp_step_modes *m)
{
    pp_modes *s = &m->s;
    const pp_run *r = m->run;
    if (s->no_slop || !s->many) {
        return;
    }
    for (int i = 0; i < r->rows->nn; i++) {
        const pp_mode_contact *c = &s->contact[i];
        s->scale = fmax(s->scale, fmax(r->inputs->warm[i] * c->mobility, fabs(c->bias[0])));
    }
    s->least_scale = s->scale;
    s->slop = pp_modes_goal(s);
}

// Speeds by which rates are known to rounding: at the start, of turning bodies at their reach, and what the loads add. Relative rates
// may be zero while all falls.
static double free_speed(const pp_run *r)
{
    double most = 0.0;
    for (int i = 0; i < r->model->bodies; i++) {
        const pp_body *body = &r->model->body[i];
        for (int k = 0; k < body->nv; k++) {
            bool turns = body->axis[k] >= 3;
            double v = fabs(r->nu[body->at + k]) * (turns ? body->reach : 1.0);
            double p = turns ? 0.0 : fabs(r->kin->loads.p_ext[body->at + k]);
            most = fmax(most, fmax(v, p / body->divisor_mass));
        }
    }
    return most;
}

// The energy of each body at its speed, and the speed by which the certificate judges errors: that of the fastest body. In joint
// coordinates several machines may be solved at once, and each is an island of the certificate: the slowest of those that
// touch counts. (Loads of contacts may tie more of them, which makes none slower.) False: out of memory.     theory (K1)
static bool set_speed(pp_step_modes *m)
{
    pp_run *r = m->run;
    const perp_model *model = r->model;
    pp_mark mark = pp_arena_mark(r->arena);
    int *group = PP_ARRAY(r->arena, int, model->bodies);
    double *fastest = PP_ZEROS(r->arena, double, model->bodies);
    if (!group || !fastest) {
        return false;
    }
    // one group of all bodies, or one of each machine; fixed and driven bodies tie nothing
    for (int i = 0; i < model->bodies; i++) {
        group[i] = m->tree ? i : 0;
    }
    int joints = m->tree ? model->joints : 0;
    for (int j = 0; j < joints; j++) {
        int a = model->joint[j].a, b = model->joint[j].b;
        if (model->body[a].nv > 0 && model->body[b].nv > 0) {
            tie_pair(group, a, b);
        }
    }
    for (int i = 0; i < model->bodies; i++) {
        double speed = pp_run_body_speed(r, i);
        int root = root_of(group, i);
        fastest[root] = fmax(fastest[root], speed);
        m->energy[i] = 0.5 * model->body[i].mass * speed * speed;
    }
    double slowest = PP_INF;
    for (int i = 0; i < m->s.count; i++) {
        const pp_row *row = pp_step_row(m, i);
        for (int k = 0; k < row->count; k++) {
            slowest = fmin(slowest, fastest[root_of(group, row->body[k])]);
        }
    }
    m->s.speed = slowest < PP_INF ? slowest : 0.0;
    pp_arena_release(r->arena, mark);
    return true;
}

// The bodies of the model. False: out of memory.
static bool list_bodies(pp_modes *s, const perp_model *model)
{
    int *nv = PP_ARRAY(s->arena, int, 2 * (size_t)model->bodies);
    if (!nv) {
        return false;
    }
    s->bodies = model->bodies;
    s->nv = nv;
    s->first = nv + model->bodies;
    for (int i = 0; i < model->bodies; i++) {
        nv[i] = model->body[i].nv;
        nv[model->bodies + i] = model->body[i].at;
    }
    return true;
}

// What the method is told of the step.
static void set_options(pp_step_modes *m)
{
    pp_run *r = m->run;
    const pp_rows *rows = r->rows;
    pp_modes *s = &m->s;
    int most = r->options->max_iterations;
    s->system = m->tree ? &OF_TREE : &OF_BODIES;
    s->arena = r->arena;
    s->meter = &r->meter;
    s->blocks = 3;
    s->impulses[0].p = r->out->pn;
    s->impulses[0].count = rows->nn;
    s->impulses[1].p = r->out->pt;
    s->impulses[1].count = rows->nt;
    s->impulses[2].p = r->out->pm;
    s->impulses[2].count = rows->nm;
    s->warm = r->inputs->warm;
    s->fresh = r->inputs->fresh;
    s->many = rows->nn > (r->model->spatial ? MANY_CONTACTS : MANY_IN_PLANE);
    s->by_speed = s->many && !m->tree;
    // a form that the user asked for is solved as it is printed
    s->no_slop = r->options->form == PERP_FORM_LCP || r->options->form == PERP_FORM_MCP;
    s->feet = m->tree && r->model->spatial;
    s->basic = r->finish_polygons;
    // With a limit on iterations half of it is for sweeps, which have an answer after each of them; polygons are finished at a
    // basic solution by the cone form.
    s->steps_most = most / 2 + most % 2;
    s->near = most > 0 || r->finish_polygons;
    s->closes = m->tree || rows->nb > 0;
    s->tolerance = r->options->tolerance;
    s->most_slop = r->options->most_slop;
    s->ldl = r->cache->ldl_contacts;
}

// Contacts, vectors and the pattern of the system.
static perp_status allocate_modes(pp_step_modes *m)
{
    pp_run *r = m->run;
    pp_modes *s = &m->s;
    int nv = r->model->nv;
    double *reals = PP_ARRAY(r->arena, double, 3 * (size_t)nv);
    m->tree = r->in.tree;
    set_options(m);
    m->energy = PP_ARRAY(r->arena, double, r->model->bodies);
    if (!reals || !m->energy || !set_touches(m)) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < r->rows->nb; i++) {
        r->beta[i] = r->rows->b[i].rate + r->rows->b[i].bias;
    }
    // a step without contacts would end with M^-1 of the momentum `start`
    m->start = reals;
    s->size = s->speeds = nv;
    s->velocity = reals + nv;
    s->step = s->velocity + nv;
    pp_masses_mul(r->model, r->kin->mass, r->nu, m->start);
    pp_axpy(nv, 1.0, r->kin->loads.p_ext, m->start);
    s->scale = s->least_scale = free_speed(r);
    if (!set_speed(m)) {
        return PERP_ERR_MEMORY;
    }
    set_slop(m);
    if (m->tree) {
        return pp_modes_tree_prepare(m);
    }
    return list_bodies(s, r->model) ? pp_modes_bodies_prepare(s) : PERP_ERR_MEMORY;
}

// Adds to the answer's effort what was done since s->steps was last 0.
static void add_mode_effort(const pp_step_modes *m)
{
    const pp_modes *s = &m->s;
    pp_answer *out = m->run->out;
    out->iterations += s->steps;
    out->effort.factorisations += s->steps;
    if (s->steps > 0 && !s->dense) {
        out->effort.fill = fmax(out->effort.fill, (double)pp_ldl_fill(s->ldl));
        out->effort.flops = fmax(out->effort.flops, pp_ldl_flops(s->ldl));
    }
    out->effort.solvers++;
}

static const double FALLBACK_WORK =
    0.5;  // of the work of a step, for others to find a better answer than the candidate

// False: out of memory.
static bool store_candidate(pp_run *r)
{
    r->candidate_work = FALLBACK_WORK * r->max_work;
    const pp_rows *rows = r->rows;
    int nn = rows->nn, nt = rows->nt, nm = rows->nm;
    r->candidate = PP_ARRAY(r->arena, double, (size_t)nn + (size_t)nt + (size_t)nm);
    if (!r->candidate) {
        return false;
    }
    pp_copy_numbers(r->candidate, r->out->pn, nn);
    pp_copy_numbers(r->candidate + nn, r->out->pt, nt);
    pp_copy_numbers(r->candidate + nn + nt, r->out->pm, nm);
    r->candidate_slack = r->slack;
    return true;
}

// Where it fails the impulses are zero again, and for many contacts the state is kept in r->modes
// for pp_run_polish.
perp_status pp_run_by_modes(pp_run *r, bool *solved)
{
    *solved = false;
    if (!is_for_modes(r)) {
        return PERP_OK;
    }
    pp_step_modes *m = PP_ARRAY(r->arena, pp_step_modes, 1);
    if (!m) {
        return PERP_ERR_MEMORY;
    }
    *m = (pp_step_modes){.run = r};
    pp_modes *s = &m->s;
    perp_status status = allocate_modes(m);
    if (status < 0) {
        return status;
    }
    r->polygons = false;
    status = pp_modes_newton(s, solved);
    if (status < 0) {
        return status;
    }
    add_mode_effort(m);
    *solved = *solved && obeys_laws(s);
    // what convex problems came to is not an answer, but more than none where others fail
    if (!*solved && s->best && s->many) {
        (void)obeys_laws(s);
        r->nu_current = false;
        if (!store_candidate(r)) {
            return PERP_ERR_MEMORY;
        }
    }
    // The state is kept for many contacts only, whose answer by other solvers is polished (forms.c).
    if (*solved) {
        r->out->form = PERP_FORM_CONE;
        r->out->solver = "modes";
        r->out->size = pp_cone_dim(r->model, r->rows) * r->rows->nn;
    } else {
        if (r->rows->nm > 0) {
            memset(r->out->pm, 0, (size_t)r->rows->nm * sizeof *r->out->pm);
        }
        if (r->rows->nn > 0) {
            memset(r->out->pn, 0, (size_t)r->rows->nn * sizeof *r->out->pn);
        }
        if (r->rows->nt > 0) {
            memset(r->out->pt, 0, (size_t)r->rows->nt * sizeof *r->out->pt);
        }
        r->modes = s->many ? m : NULL;
    }
    return PERP_OK;
}

// Careful Newton steps from the impulses in r->out. False: not better, and r->out is as it was.
bool pp_run_polish(pp_run *r)
{
    int nn = r->rows->nn, nt = r->rows->nt;
    pp_step_modes *m = r->modes;
    double *kept = m ? PP_ARRAY(r->arena, double, (size_t)nn + (size_t)nt) : NULL;
    bool solved = false;
    if (!kept) {
        return false;
    }
    // p_n and p_t as found, to be restored
    memcpy(kept, r->out->pn, (size_t)nn * sizeof *kept);
    memcpy(kept + nn, r->out->pt, (size_t)nt * sizeof *kept);
    pp_modes *s = &m->s;
    s->steps = 0;
    s->basic = r->finish_polygons;
    perp_status status = pp_modes_newton_from_answer(s, &solved);
    add_mode_effort(m);
    if (status < 0 || !solved || !obeys_laws(s)) {
        memcpy(r->out->pn, kept, (size_t)nn * sizeof *kept);
        memcpy(r->out->pt, kept + nn, (size_t)nt * sizeof *kept);
        return false;
    }
    return true;
}
