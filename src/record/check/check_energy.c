// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Energy that appears in a step, by groups of bodies that joints, forces and contacts with load connect: what one of them
// loses does not pay for another. A recording has the work of all of them together. Groups on which nothing outside can
// work, by the scene and the frame, are judged each; the others share an account.             theory (K4)
#include "record/check/check.h"

#include <math.h>

static const double LOADED = 1e-12;  // of the momentum of a body: less exchanges no energy

// Accounts of the step, indexed by groups, which have the number of their lowest body.
typedef struct account {
    double made;      // energy that appeared, and no recorded work explains [J]
    double moved;     // sizes of kinetic and spring energies, and of the work of gravity [J]
    double rounding;  // of positions and velocities, as energy [J]
    double lag;       // of forces taken at one end of the step, behind the velocities [J]
    double sprung;    // the same of explicit springs [J]
    double arcs;      // size of the work of forces along arcs [J]
    double lifted;    // energy that arcs make [J]
    double allowed;   // energy that the order of the scheme may add [J]
    double joined;    // energy that closing joints may give [J]
    double jerk;      // losses of drives [J]
    bool outside;     // something outside may work
    bool met;         // a contact or a limit carries an impulse
} account;

static double kinetic_energy(const pp_body *body, const pp_frame *f)
{
    perp_vec3 w = pp_mul_t(&f->R, f->w);
    return 0.5 * (body->mass * pp_dot3(f->v, f->v) + pp_dot3(w, pp_mul(&body->I_B, w)));
}

// Kinetic energy and potential of gravity, springs and joint springs [J]. turn: coordinates of the
// joints, which count whole turns.
double pp_check_energy_at(const pp_recheck *c, const pp_frame *body, double t, const double *turn)
{
    pp_poses at = {.t = t, .body = body, .turn = turn};
    double sum = pp_potential(c->model, body) + pp_joint_energy(c->model, &at);
    for (int i = 0; i < c->model->bodies; i++) {
        const pp_body *b = &c->model->body[i];
        if (b->nv > 0) {
            sum += kinetic_energy(b, &body[i]);
        }
    }
    return sum + pp_rotor_energy(c->model, &at);
}

// ── Groups ───────────────────────────────────────────────────────────────────────────────────────

static bool is_loaded(const pp_recheck *c, const perp_contact *k, int a, int b)
{
    const int of[2] = {a, b};
    double momentum = PP_INF;
    for (int i = 0; i < 2; i++) {
        int island = c->scales.island[of[i]];
        double mass = c->model->body[of[i]].divisor_mass;
        momentum =
            island >= 0 ? fmin(momentum, mass * pp_scale_speed(&c->scales, island)) : momentum;
    }
    double p = fabs(k->pn) + pp_length(k->pf_W) + pp_length(k->moment_W);
    return !(p <= LOADED * momentum);
}

static void tie_joints(pp_scales *s, const perp_model *m)
{
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        pp_scales_tie(s, j->a, j->b);
        for (int k = 0; k < j->terms; k++) {
            pp_scales_tie(s, j->b, m->joint[j->term[k]].a);
            pp_scales_tie(s, j->b, m->joint[j->term[k]].b);
        }
        if (j->kind == PERP_JOINT_GEAR) {
            pp_scales_tie(s, m->joint[j->joint_a].b, m->joint[j->joint_b].b);
        }
    }
}

// A closing, and impacts of the stepper event, are those of all bodies.
static perp_status find_groups(pp_recheck *c, pp_scales *s)
{
    const perp_model *m = c->model;
    perp_status status = pp_scales_start(s, m, c->arena);
    if (status < 0) {
        return status;
    }
    tie_joints(s, m);
    for (int i = 0; i < c->now->contacts; i++) {
        const perp_contact *k = &c->now->contact[i];
        int a = m->shape[k->a.i].body, b = m->shape[k->b.i].body;
        if (is_loaded(c, k, a, b)) {
            pp_scales_tie(s, a, b);
        }
    }
    pp_scales_finish(s, &c->kin, c->after, c->scales.slack);
    return PERP_OK;
}

static bool is_given(const pp_body *body)
{
    return body->drive == PERP_MOTION_KINEMATIC;
}

static void mark(const pp_recheck *c, const pp_scales *s, int body, account *of)
{
    if (c->model->body[body].nv > 0) {
        of[s->island[body]].outside = true;
    }
}

static bool is_driven_joint(const pp_recheck *c, const pp_joint *j)
{
    const perp_model *m = c->model;
    bool moves = (j->function && pp_expr_uses(j->function, 0)) ||
                 (j->velocity && pp_expr_uses(j->velocity, 0));
    return j->target || j->rate || j->friction > 0.0 || j->first_actuator > 0 || moves ||
           is_given(&m->body[j->a]) || is_given(&m->body[j->b]);
}

// Whatever the scene and the frame have that may work on a group.
static void mark_outside(const pp_recheck *c, const pp_scales *s, account *of)
{
    const perp_model *m = c->model;
    // wrenches of the caller, joints with drives or friction, forces, and what given motions and surfaces touch
    for (int i = 0; i < m->bodies; i++) {
        const perp_wrench *w = c->applied ? &c->applied[i] : NULL;
        if (w && !(pp_length(w->f_W) + pp_length(w->tau_W) == 0.0)) {
            mark(c, s, i, of);
        }
    }
    for (int i = 0; i < m->joints; i++) {
        if (is_driven_joint(c, &m->joint[i])) {
            mark(c, s, m->joint[i].a, of);
            mark(c, s, m->joint[i].b, of);
        }
    }
    for (int i = 0; i < m->forces; i++) {
        const pp_force *f = &m->force[i];
        bool given = is_given(&m->body[f->a]) || is_given(&m->body[f->b]);
        if (f->kind == PERP_FORCE_WRENCH || given) {
            mark(c, s, f->a, of);
            mark(c, s, f->b, of);
        }
    }
    for (int i = 0; i < c->now->contacts; i++) {
        const perp_contact *k = &c->now->contact[i];
        int a = m->shape[k->a.i].body, b = m->shape[k->b.i].body;
        if (is_given(&m->body[a]) || is_given(&m->body[b]) ||
            pp_length(pp_check_surface(c, k)) != 0.0) {
            mark(c, s, a, of);
            mark(c, s, b, of);
        }
    }
}

// ── Accounts ─────────────────────────────────────────────────────────────────────────────────────

// Along the arcs of joint coordinates a body leaves its tangent by way - h nu; forces work on that
// as well [J]. *lifted: the work against them.                                         theory (K13)
static double arc_work(const pp_recheck *c, int i, double *lifted)
{
    const pp_body *body = &c->model->body[i];
    perp_vec3 way = pp_sub(c->after[i].p, c->before[i].p);
    const double moved[3] = {way.x, way.y, way.z};
    double work = 0.0;
    if (c->info->coordinates != PERP_COORDINATES_JOINT || c->info->stepper == PERP_STEPPER_EVENT) {
        return 0.0;
    }
    for (int k = 0; k < body->nv; k++) {
        if (body->axis[k] < 3) {
            double off = moved[body->axis[k]] - c->h * c->nu[body->at + k];
            work += fabs(c->kin.loads.p_ext[body->at + k] * off) / c->h;
            *lifted -= c->kin.loads.p_ext[body->at + k] * off / c->h;
        }
    }
    return work;
}

static void add_body(const pp_recheck *c, int i, double theta, account *to)
{
    const pp_body *b = &c->model->body[i];
    perp_vec3 g = pp_body_gravity(c->model, b);
    double T = kinetic_energy(b, &c->before[i]), after = kinetic_energy(b, &c->after[i]);
    double fall = b->mass * pp_dot3(g, pp_sub(c->after[i].p, c->before[i].p));
    to->made += after - T - fall;
    to->moved += after + T + fabs(fall);
    to->rounding += 1e-13 * b->mass * pp_length(g) * pp_length(c->after[i].p);
    to->allowed += pp_drift_forces(c->model, &c->kin, theta, i);
    to->allowed += c->given ? c->given[i] : 0.0;
    to->joined += c->joined ? c->joined[i] : 0.0;
    to->arcs += arc_work(c, i, &to->lifted);
    // A scheme that takes forces at one end of the step is off by half a step of their
    // work.
    to->lag += (theta - 0.5) * c->h * b->mass * pp_dot3(g, pp_sub(c->after[i].v, c->before[i].v));
}

static void add_spring(const pp_recheck *c, const pp_force *f, double theta, account *to)
{
    double V = pp_spring_energy(f, c->before), after = pp_spring_energy(f, c->after);
    double whole = fmax(c->whole, c->h);
    to->made += after - V;
    to->moved += V + after;
    if (c->info->stepper != PERP_STEPPER_EVENT) {
        to->arcs += pp_drift_spring(c->model, c->before, c->after, whole, theta, f);
        to->sprung += pp_spring_lag(c->model, c->before, c->after, c->h, whole, theta, f);
    }
}

// Its spring and rotor; drives that bring bodies to their rates within the step lose energy.
static void add_joint(const pp_recheck *c, int i, double theta, account *to)
{
    const pp_joint *j = &c->model->joint[i];
    const pp_poses at[2] = {{.t = c->t0, .body = c->before, .turn = c->turn0},
                            {.t = c->now->t, .body = c->after, .turn = c->turn}};
    for (int k = 0; k < 2 && (j->stiffness > 0.0 || j->armature > 0.0); k++) {
        pp_row row;
        pp_joint_coordinate(c->model, &at[k], i, &row);
        double x = row.value - j->rest, u = row.v_pre;
        to->made += (k == 0 ? -0.5 : 0.5) * (j->stiffness * x * x + j->armature * u * u);
    }
    to->jerk += pp_check_jerk(c, i, theta, &to->lag);
    to->lifted += pp_check_reactions(c, i);
}

// Energy of all sources, in the accounts of their groups. *all: the account that recorded work is in, those of all groups
// that something outside may work on; -1: there is none.
static void fill_accounts(const pp_recheck *c, const pp_scales *s, double theta, account *of,
                          int *all)
{
    const perp_model *m = c->model;
    for (int i = 0; i < m->bodies; i++) {
        if (s->island[i] >= 0) {
            add_body(c, i, theta, &of[s->island[i]]);
        }
    }
    for (int i = 0; i < m->forces; i++) {
        const pp_force *f = &m->force[i];
        int at = s->island[pp_check_account(c, f->a, f->b)];
        if (at >= 0 && (f->kind == PERP_FORCE_SPRING || f->kind == PERP_FORCE_TORSION_SPRING)) {
            add_spring(c, f, theta, &of[at]);
        }
    }
    for (int i = 0; i < m->joints; i++) {
        int at = s->island[pp_check_account(c, m->joint[i].a, m->joint[i].b)];
        if (at >= 0) {
            add_joint(c, i, theta, &of[at]);
        }
    }
    *all = -1;
    for (int i = 0; i < m->bodies; i++) {
        *all = *all < 0 && s->island[i] == i && of[i].outside ? i : *all;
    }
}

static void gather(account *to, const account *from)
{
    to->made += from->made;
    to->moved += from->moved;
    to->rounding += from->rounding;
    to->lag += from->lag;
    to->sprung += from->sprung;
    to->arcs += from->arcs;
    to->lifted += from->lifted;
    to->allowed += from->allowed;
    to->joined += from->joined;
    to->jerk += from->jerk;
    to->met = to->met || from->met;
}

// Energy that an account created beyond what the order of the scheme may add [J]. scale: the energy there is.
static double created(const pp_recheck *c, const account *a, double theta, double scale)
{
    double most = PP_ARCS_MOST * scale, share = c->h / fmax(c->whole, c->h);
    double joined = theta < 1.0 ? most : PP_CLOSED_MOST * scale;
    double allowed = a->allowed + fmin(a->arcs, share * most) +
                     fmin(a->joined, a->met ? joined : share * joined);
    bool event = c->info->stepper == PERP_STEPPER_EVENT;
    double sprung = fmax(a->sprung, -share * PP_SPRUNG_MOST * scale);
    double least = fmin(a->made, a->made + (event ? 0.0 : a->lag) + sprung);
    if (a->lifted > 0.0) {  // drives do not pay for it: theory (K13)
        double unpaid = fmin(least + a->jerk, a->lifted);
        least = fmax(least, unpaid - PP_JERKS_MOST * scale);
    }
    return isnan(a->made) ? a->made : fmax(0.0, least - allowed);
}

// Groups in which a contact or a limit carries an impulse.
static void mark_met(const pp_recheck *c, const pp_scales *s, account *of)
{
    const perp_model *m = c->model;
    for (int i = 0; i < c->now->contacts; i++) {
        const perp_contact *k = &c->now->contact[i];
        int at = s->island[pp_check_account(c, m->shape[k->a.i].body, m->shape[k->b.i].body)];
        if (at >= 0 && k->pn != 0.0) {
            of[at].met = true;
        }
    }
    for (int i = 0; i < m->joints; i++) {
        int at = s->island[pp_check_account(c, m->joint[i].a, m->joint[i].b)];
        if (at >= 0 && c->now->joint[i].limit != 0.0) {
            of[at].met = true;
        }
    }
}

// The worst of all groups, and of those in which nothing pushes.
typedef struct worst_group {
    double made, limit;  // [J]
} worst_group;

static void judge_account(pp_recheck *c, const account *a, double made, double limit,
                          const char *name, worst_group *smooth)
{
    pp_check_record_worst(c, PERP_CHECK_ENERGY, made, limit, name, "");
    if (!a->met && made * smooth->limit > smooth->made * limit) {
        *smooth = (worst_group){made, limit};
    }
}

// What groups create in parts in which nothing pushes them adds up to what a step may create.   theory (P16)
static void add_parts(pp_recheck *c, const worst_group *smooth)
{
    if (c->part <= 0) {
        c->created = c->created_of = 0.0;
    }
    if (c->part >= 0 && c->info->stepper != PERP_STEPPER_EVENT && smooth->made > 0.0) {
        c->created += smooth->made;
        c->created_of += smooth->made / smooth->limit;
        pp_check_record_worst(c, PERP_CHECK_ENERGY, c->created, c->created / c->created_of,
                              "all bodies", "");
    }
}

perp_status pp_check_energy(pp_recheck *c)
{
    const perp_model *m = c->model;
    double theta = c->info->stepper == PERP_STEPPER_MOREAU_JEAN ? c->info->theta : 1.0;
    account *of = PP_ZEROS(c->arena, account, m->bodies);
    pp_scales s;
    perp_status status = of ? find_groups(c, &s) : PERP_ERR_MEMORY;
    if (status < 0) {
        return status;
    }
    mark_outside(c, &s, of);
    int all;
    fill_accounts(c, &s, theta, of, &all);
    mark_met(c, &s, of);
    double work = c->now->energy.work, energy = 0.0;
    account together = {0};
    worst_group smooth = {0.0, 1.0};
    // work that nothing explains may be anyone's: then all groups share an account, as with the stepper event
    bool apart = c->info->stepper != PERP_STEPPER_EVENT && (all >= 0 || work == 0.0);
    for (int i = 0; i < m->bodies; i++) {
        if (s.island[i] != i) {
            continue;
        }
        of[i].rounding += pp_scale_rounding_energy(&s, i);
        if (!apart || of[i].outside) {
            gather(&together, &of[i]);
            energy += s.energy[i];
            continue;
        }
        double scale = s.energy[i] + of[i].moved, limit = s.slack * scale + of[i].rounding;
        double made = created(c, &of[i], theta, scale);
        judge_account(c, &of[i], made, limit, m->body[i].name, &smooth);
    }
    together.made -= work;
    double scale = energy + together.moved + fabs(work);
    double limit = c->scales.slack * scale + together.rounding;
    judge_account(c, &together, created(c, &together, theta, scale), limit, "all bodies", &smooth);
    add_parts(c, &smooth);
    return PERP_OK;
}
