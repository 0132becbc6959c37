// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What a step amounts to: impulses of contacts and joints, and the energy that friction and impacts took,
// by Gauss' rule over the dense output of each internal step.                            theory (H15)
//
// The wrench in a joint of the tree is what its subtree opposes to moving as it does, less all that
// pushes the subtree from outside.
#include "hybrid/flight.h"

#include <math.h>
#include <string.h>

static pp_contact_sum *contact_sum(pp_flight *flight, const pp_hold *hold)
{
    pp_hybrid_result *out = flight->result;
    for (int i = 0; i < out->contacts; i++) {
        pp_contact_sum *s = &out->contact[i];
        if (s->a == hold->a && s->b == hold->b && s->feature == hold->feature &&
            s->listed == hold->listed) {
            return s;
        }
    }
    if (out->contacts == out->contact_room) {
        int room = 2 * out->contact_room + 8;
        pp_contact_sum *more = PP_ARRAY(flight->keep, pp_contact_sum, room);
        if (!more) {
            return NULL;
        }
        if (out->contacts > 0) {
            memcpy(more, out->contact, (size_t)out->contacts * sizeof *more);
        }
        out->contact = more;
        out->contact_room = room;
    }
    pp_contact_sum *s = &out->contact[out->contacts++];
    *s = (pp_contact_sum){
        .a = hold->a, .b = hold->b, .feature = hold->feature, .listed = hold->listed};
    return s;
}

static bool add_contact(pp_flight *flight, const pp_moment *moment, const pp_hold *hold, int i,
                        const double *r, double w)
{
    const pp_contact *c = &moment->contact[i];
    pp_contact_sum *s = contact_sum(flight, hold);
    if (!s || moment->size[i] == 0) {
        return s != NULL;
    }
    const double *f = r + moment->at[i];
    perp_vec3 p = pp_scale(f[0], c->n), axis[3];
    pp_contact_axes(c, axis);
    for (int k = 1; k < moment->size[i]; k++) {
        p = pp_along(p, f[k], axis[k]);
    }
    s->last = *c;
    s->mode = hold->mode == PP_SLIDES ? PERP_SLIP : PERP_STICK;
    s->pn += w * f[0];
    s->pf_W = pp_along(s->pf_W, w, pp_along(p, -f[0], c->n));
    s->p_W = pp_along(s->p_W, w, p);
    s->m_W = pp_along(s->m_W, w, pp_cross(c->point, p));
    return true;
}

// Forces of rows on the bodies, in their velocities; tree: rows of tree joints are left out.
static void push_bodies(const pp_flight *flight, const pp_moment *moment, const pp_holds *holds,
                        const double *r, double *f)
{
    const pp_machine *machine = flight->machine;
    const pp_tree *tree = machine->tree;
    for (int i = 0; i < holds->count; i++) {
        bool in_tree = holds->hold[i].joint >= 0;
        for (int k = 0; in_tree && k < tree->loops; k++) {
            in_tree = tree->loop[k] != holds->hold[i].joint;
        }
        for (int k = 0; !in_tree && k < moment->size[i]; k++) {
            int at = moment->at[i] + k;
            pp_row_add(machine->model, &moment->row[at], moment->sign[at] * r[at], NULL, f);
        }
    }
}

static perp_wrench wrench_on(const perp_model *m, const pp_row *row, double p, int body)
{
    double part[6] = {0.0};
    for (int k = 0; k < row->count; k++) {
        const pp_body *b = &m->body[row->body[k]];
        for (int v = 0; row->body[k] == body && v < b->nv; v++) {
            part[b->axis[v]] += p * row->J[k][v];
        }
    }
    return (perp_wrench){pp_vec(part[0], part[1], part[2]), pp_vec(part[3], part[4], part[5])};
}

// The opposite of a wrench on one body, about the origin of another.
static perp_wrench reaction(const pp_frame *body, perp_wrench w, int from, int to)
{
    perp_vec3 tau = pp_add(w.tau, pp_cross(pp_sub(body[from].p, body[to].p), w.f));
    return (perp_wrench){pp_scale(-1.0, w.f), pp_scale(-1.0, tau)};
}

static void add_wrench(perp_wrench *sum, double w, perp_wrench x)
{
    sum->f = pp_along(sum->f, w, x.f);
    sum->tau = pp_along(sum->tau, w, x.tau);
}

// Rows of a joint that is a loop: its wrench on b.
static void add_loop(pp_flight *flight, const pp_moment *moment, int joint, int at, double p)
{
    const perp_model *m = flight->machine->model;
    const pp_joint *j = &m->joint[joint];
    bool from_a = m->body[j->b].nv == 0 && j->kind != PERP_GEAR;
    perp_wrench w = wrench_on(m, &moment->row[at], moment->sign[at] * p, from_a ? j->a : j->b);
    add_wrench(&flight->result->joint[joint].on_b, 1.0,
               from_a ? reaction(moment->pass.body, w, j->a, j->b) : w);
}

static bool is_loop(const pp_tree *tree, int joint)
{
    for (int k = 0; k < tree->loops; k++) {
        if (tree->loop[k] == joint) {
            return true;
        }
    }
    return false;
}

static bool add_rows(pp_flight *flight, const pp_moment *moment, const pp_holds *holds,
                     const double *r, double w)
{
    for (int i = 0; i < holds->count; i++) {
        const pp_hold *hold = &holds->hold[i];
        if (hold->kind == PP_HOLD_CONTACT) {
            if (!add_contact(flight, moment, hold, i, r, w)) {
                return false;
            }
            continue;
        }
        pp_joint_sum *sum = &flight->result->joint[hold->joint];
        for (int k = 0; k < moment->size[i]; k++) {
            int at = moment->at[i] + k;
            if (hold->kind == PP_HOLD_LIMIT) {
                sum->limit += w * r[at];
            } else if (hold->kind != PP_HOLD_LOOP) {
                sum->drive += w * r[at];
            }
            if (is_loop(flight->machine->tree, hold->joint)) {
                add_loop(flight, moment, hold->joint, at, w * r[at]);
            }
        }
    }
    return true;
}

// Wrenches in the joints of the tree: loads are what links oppose (or how their momentum jumps) less
// what pushes them; both gathered from the leaves.
static void add_tree(pp_flight *flight, const pp_moment *moment, const perp_wrench *opposed,
                     double w)
{
    const pp_tree *tree = flight->machine->tree;
    const pp_frame *body = moment->pass.body;
    for (int i = 0; i < tree->links; i++) {
        const pp_link *l = &tree->link[i];
        if (l->joint < 0) {
            continue;
        }
        perp_wrench on = opposed[i];
        on.f = pp_sub(on.f, moment->pass.load[i].f);
        on.tau = pp_sub(on.tau, moment->pass.load[i].tau);
        add_wrench(&flight->result->joint[l->joint].on_b, w,
                   l->turned ? reaction(body, on, l->body, l->carrier) : on);
    }
}

static bool has_joints(const pp_tree *tree)
{
    for (int i = 0; i < tree->links; i++) {
        if (tree->link[i].joint >= 0) {
            return true;
        }
    }
    return false;
}

static perp_status sum_tree(pp_flight *flight, const pp_moment *moment, const double *r,
                            const double *qdd, double w)
{
    const pp_machine *machine = flight->machine;
    const perp_model *m = machine->model;
    const pp_tree *tree = machine->tree;
    pp_arena *arena = flight->scratch;
    if (!has_joints(tree)) {
        return PERP_OK;
    }
    double *tau = PP_ARRAY(arena, double, tree->nv), *f = PP_ZEROS(arena, double, m->nv);
    perp_wrench *opposed = PP_ARRAY(arena, perp_wrench, tree->links);
    pp_kinematics kin = {.t = moment->t,
                         .h = 1.0,
                         .body = moment->pass.body,
                         .mass = moment->pass.mass,
                         .turn = machine->turn,
                         .p_ext = f,
                         .held = PP_ZEROS(arena, perp_wrench, m->bodies)};
    if (!tau || !f || !opposed || !kin.held) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = pp_tree_inverse(&moment->pass, qdd, tau, arena);
    if (status < 0) {
        return status;
    }
    memcpy(opposed, moment->pass.load, (size_t)tree->links * sizeof *opposed);
    pp_forces_add(&kin, m, machine->applied);
    push_bodies(flight, moment, &flight->holds, r, f);
    pp_tree_gather(&moment->pass, f, tau);
    add_tree(flight, moment, opposed, w);
    return PERP_OK;
}

// Power that friction takes: of sliding contacts, and of dry friction in joints.
static double friction_power(const pp_moment *moment, const pp_holds *holds, const double *r)
{
    double sum = 0.0;
    for (int i = 0; i < holds->count; i++) {
        const pp_hold *hold = &holds->hold[i];
        for (int k = hold->kind == PP_HOLD_CONTACT ? 1 : 0; k < moment->size[i]; k++) {
            int at = moment->at[i] + k;
            bool rubs = hold->kind == PP_HOLD_CONTACT || hold->kind == PP_HOLD_DRY;
            sum -= rubs && hold->mode == PP_SLIDES ? r[at] * moment->rate[at] : 0.0;
        }
    }
    return sum;
}

// Forces at one time.
typedef struct node {
    pp_moment moment;
    pp_law_info info;
    double *r, *qdd;
} node;

static perp_status load(pp_flight *flight, double t, node *out)
{
    const pp_machine *machine = flight->machine;
    const pp_tree *tree = machine->tree;
    pp_arena *arena = flight->scratch;
    size_t n = (size_t)tree->nq + (size_t)tree->nv;
    double *y = PP_ARRAY(arena, double, n);
    out->qdd = PP_ARRAY(arena, double, tree->nv);
    if (!y || !out->qdd) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = flight->ode ? pp_ode_at(flight->ode, t, y) : PERP_OK;
    status = status < 0 ? status
                        : pp_moment_make(&out->moment, machine, t, y, y + tree->nq, &flight->holds,
                                         true, arena);
    return status < 0 ? status
                      : pp_accelerate_shared(machine, &out->moment, &flight->holds, out->qdd,
                                             &out->r, &out->info, arena);
}

static perp_status add_node(pp_flight *flight, const node *at, double w)
{
    pp_hybrid_result *out = flight->result;
    int redundant = at->info.equations - at->info.rank;
    out->friction += w * friction_power(&at->moment, &flight->holds, at->r);
    out->redundant = redundant > out->redundant ? redundant : out->redundant;
    if (!add_rows(flight, &at->moment, &flight->holds, at->r, w)) {
        return PERP_ERR_MEMORY;
    }
    return sum_tree(flight, &at->moment, at->r, at->qdd, w);
}

static const double STEADY = 0.02;  // part by which forces may change between the places of a rule

static bool is_steady(const node *at)
{
    double most = 0.0, change = 0.0;
    for (int i = 0; i < at[1].moment.rows; i++) {
        most = fmax(most, fabs(at[1].r[i]));
        for (int k = 0; k < 3 && at[k].moment.rows == at[1].moment.rows; k++) {
            change = fmax(change, fabs(at[k].r[i] - at[1].r[i]));
        }
    }
    return change <= STEADY * most;
}

static const double EXACT =
    2e-12;  // of the fastest rate: what a rule may miss of a change of rates

// What the accelerations of the rule miss of what the rates did, which the integrator knows.
static perp_status missed(pp_flight *flight, double t0, double t1, const node *at,
                          const double *weight, double **out, bool *exact)
{
    const pp_tree *tree = flight->machine->tree;
    size_t n = (size_t)tree->nq + (size_t)tree->nv;
    double *y0 = PP_ARRAY(flight->scratch, double, 2 * n), *y1 = y0 + n, fast = 0.0;
    *out = PP_ZEROS(flight->scratch, double, tree->nv);
    *exact = true;
    if (!flight->ode) {
        return PERP_OK;
    }
    perp_status status = y0 && *out ? pp_ode_at(flight->ode, t0, y0) : PERP_ERR_MEMORY;
    status = status < 0 ? status : pp_ode_at(flight->ode, t1, y1);
    for (int i = 0; status >= 0 && i < tree->nv; i++) {
        double before = y0[tree->nq + i], after = y1[tree->nq + i];
        fast = fmax(fast, fmax(fabs(before), fabs(after)));
        (*out)[i] = after - before;
        for (int k = 0; k < 3; k++) {
            (*out)[i] -= weight[k] * (t1 - t0) * at[k].qdd[i];
        }
    }
    *exact = status < 0 || pp_norm_inf(tree->nv, *out) <= EXACT * fast;
    return status;
}

// Impulses for what a rule missed where directions of friction turn faster than any rule follows: those of the
// least norm that change the rates so. What no impulse of the holds does is an error of the motion, and stays.
static perp_status mend(pp_flight *flight, const pp_moment *moment, const double *miss)
{
    int n = moment->rows, nv = moment->nv;
    double *A = PP_ARRAY(flight->scratch, double, (size_t)n *(size_t)n + 3 * (size_t)n);
    if (!A || n == 0) {
        return A ? PERP_OK : PERP_ERR_MEMORY;
    }
    double *b = A + n * n, *r = b + n, *scale = r + n;
    memcpy(A, moment->A, (size_t)n * (size_t)n * sizeof *A);
    memcpy(scale, moment->scale, (size_t)n * sizeof *scale);
    for (int i = 0; i < n; i++) {
        b[i] = pp_dot(nv, moment->J + (size_t)i * (size_t)nv, miss);
    }
    if (pp_least_solve(n, A, b, r, scale, 1e-10, flight->scratch) < 0 ||
        !add_rows(flight, moment, &flight->holds, r, 1.0)) {
        return PERP_ERR_MEMORY;
    }
    return PERP_OK;
}

enum { HALVINGS = 3 };

// Gauss' rule; where forces change much, of halves, quarters, eighths.
static perp_status sum_stretch(pp_flight *flight, double t0, double t1, int part, int parts)
{
    static const double place[3] = {-0.7745966692414834, 0.0, 0.7745966692414834},
                        weight[3] = {5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0};
    pp_mark mark = pp_arena_mark(flight->scratch);
    double h = (t1 - t0) / parts, from = t0 + h * part, *miss = NULL;
    node at[3];
    bool exact = true;
    perp_status status = PERP_OK;
    for (int k = 0; k < 3 && status >= 0; k++) {
        status = load(flight, from + 0.5 * h * (1.0 + place[k]), &at[k]);
    }
    status = status < 0 ? status : missed(flight, from, from + h, at, weight, &miss, &exact);
    bool halve = status >= 0 && parts < (1 << HALVINGS) && !(exact && is_steady(at));
    for (int k = 0; k < 3 && status >= 0 && !halve; k++) {
        status = add_node(flight, &at[k], weight[k] * h);
    }
    if (status >= 0 && !halve && !exact) {
        status = mend(flight, &at[1].moment, miss);
    }
    pp_arena_release(flight->scratch, mark);
    for (int k = 0; k < 2 && status >= 0 && halve; k++) {
        status = sum_stretch(flight, t0, t1, 2 * part + k, 2 * parts);
    }
    return status;
}

perp_status pp_flight_sum(pp_flight *flight, double t0, double t1)
{
    bool any = flight->holds.count > 0 || flight->machine->model->joints > 0;
    return any ? sum_stretch(flight, t0, t1, 0, 1) : PERP_OK;
}

// Momentum jumps by H^-1 J^T impulse: each link opposes with its own share.
static perp_status sum_tree_impact(pp_flight *flight, const pp_moment *moment,
                                   const pp_holds *holds, const double *impulse)
{
    const pp_machine *machine = flight->machine;
    const perp_model *m = machine->model;
    const pp_tree *tree = machine->tree;
    pp_arena *arena = flight->scratch;
    if (!has_joints(tree)) {
        return PERP_OK;
    }
    double *jump = PP_ZEROS(arena, double, tree->nv), *tau = PP_ARRAY(arena, double, tree->nv);
    double *nu = PP_ZEROS(arena, double, 2 * (size_t)m->nv), *f = nu + m->nv;
    perp_wrench *opposed = PP_ARRAY(arena, perp_wrench, tree->links);
    if (!jump || !tau || !nu || !opposed) {
        return PERP_ERR_MEMORY;
    }
    pp_gemv(moment->nv, moment->rows, 1.0, moment->G, moment->nv, impulse, jump);
    pp_tree_velocities(&moment->pass, jump, true, nu);
    pp_masses_mul(m, moment->pass.mass, nu, f);
    pp_tree_gather(&moment->pass, f, tau);
    memcpy(opposed, moment->pass.load, (size_t)tree->links * sizeof *opposed);
    memset(f, 0, (size_t)m->nv * sizeof *f);
    push_bodies(flight, moment, holds, impulse, f);
    pp_tree_gather(&moment->pass, f, tau);
    add_tree(flight, moment, opposed, 1.0);
    return PERP_OK;
}

perp_status pp_flight_sum_impact(pp_flight *flight, const pp_moment *moment, const pp_holds *holds,
                                 const double *impulse)
{
    double taken = 0.0;
    for (int i = 0; i < holds->count; i++) {
        pp_hold_kind kind = holds->hold[i].kind;
        for (int k = 0; (kind == PP_HOLD_CONTACT || kind == PP_HOLD_LIMIT) && k < moment->size[i];
             k++) {
            int at = moment->at[i] + k;
            double after =
                moment->rate[at] +
                pp_dot(moment->rows, moment->A + (size_t)at * (size_t)moment->rows, impulse);
            taken -= 0.5 * impulse[at] * (moment->rate[at] + after);
        }
    }
    flight->result->impacts += taken;
    return add_rows(flight, moment, holds, impulse, 1.0)
               ? sum_tree_impact(flight, moment, holds, impulse)
               : PERP_ERR_MEMORY;
}
