// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Impulses of contacts and joints, and energies, integrated by the Gauss rule over the dense
// output of each internal step.                                                        theory (H15)
//
// The wrench in a joint of the tree is the rate of change of the momentum of its subtree, less all
// external forces on the subtree ("opposed" less "load" below).
//
// Energy is supplied by drives and dry friction of joints, effort times the rate of the coordinate;
// by bodies that are not dynamic, the wrench on them times their velocity; by belts; and by forces
// without a potential. It is lost to friction of contacts, dampers and impacts. Springs and gravity
// store it. The time steppers use the same ledger.                                      theory (K4)
#include "hybrid/flight.h"

#include <math.h>
#include <string.h>

// Whether a joint is not in the tree.
static bool is_loop(const pp_tree *tree, int joint)
{
    for (int k = 0; k < tree->loops; k++) {
        if (tree->loop[k] == joint) {
            return true;
        }
    }
    return false;
}

// Adds the forces r of contacts and loops to f, in the velocities of bodies. Rows of tree
// joints are internal to it.
static void push_bodies(const pp_flight *flight, const pp_instant *instant, const pp_holds *holds,
                        const double *r, double *f)
{
    const pp_machine *machine = flight->machine;
    for (int i = 0; i < holds->count; i++) {
        int joint = holds->hold[i].joint;
        if (joint >= 0 && !is_loop(machine->tree, joint)) {
            continue;
        }
        for (int k = 0; k < instant->size[i]; k++) {
            int at = instant->at[i] + k;
            pp_row_add(machine->model, &instant->row[at], instant->sign[at] * r[at], NULL, f);
        }
    }
}

// The wrench on one body of a force p in a row, about the centre of mass of the body.
static perp_wrench wrench_on(const perp_model *m, const pp_row *row, double p, int body)
{
    double part[6] = {0.0};
    for (int k = 0; k < row->count; k++) {
        if (row->body[k] != body) {
            continue;
        }
        const pp_body *b = &m->body[body];
        for (int v = 0; v < b->nv; v++) {
            part[b->axis[v]] += p * row->J[k][v];
        }
    }
    return (perp_wrench){pp_vec(part[0], part[1], part[2]), pp_vec(part[3], part[4], part[5])};
}

// The opposite of a wrench on one body, about the origin of another.
static perp_wrench reaction_wrench(const pp_frame *body, perp_wrench w, int from, int to)
{
    perp_vec3 tau = pp_add(w.tau_W, pp_cross(pp_sub(body[from].p, body[to].p), w.f_W));
    return (perp_wrench){pp_scale(-1.0, w.f_W), pp_scale(-1.0, tau)};
}

// sum += w x
static void accumulate_wrench(perp_wrench *sum, double w, perp_wrench x)
{
    sum->f_W = pp_along(sum->f_W, w, x.f_W);
    sum->tau_W = pp_along(sum->tau_W, w, x.tau_W);
}

// A row of a joint that is a loop, with impulse p: its wrench on b and, for a gear or coupling, the
// forces on all of its bodies.
static void add_loop(pp_flight *flight, const pp_instant *instant, int joint, const pp_row *row,
                     double p)
{
    const perp_model *m = flight->machine->model;
    const pp_joint *j = &m->joint[joint];
    bool gear = pp_joint_couples(j), from_a = m->body[j->b].nv == 0 && !gear;
    // A body that is not dynamic has no velocities in the row: its wrench is the
    // reaction of the other's.
    perp_wrench w = wrench_on(m, row, p, from_a ? j->a : j->b);
    accumulate_wrench(&flight->now.joint[joint].on_b, 1.0,
                      from_a ? reaction_wrench(instant->pass.body, w, j->a, j->b) : w);
    if (!gear) {
        return;
    }
    for (int k = 0; k < row->count; k++) {
        accumulate_wrench(&flight->now.element[row->body[k]], 1.0,
                          wrench_on(m, row, p, row->body[k]));
    }
}

// Adds the impulses w r of all rows to the sums of contacts and joints. False: out of memory.
static bool sum_row_impulses(pp_flight *flight, const pp_instant *instant, const pp_holds *holds,
                             const double *r, double w)
{
    flight->empty = flight->empty && holds->count == 0;
    for (int i = 0; i < holds->count; i++) {
        const pp_hold *hold = &holds->hold[i];
        if (hold->kind == PP_HOLD_CONTACT) {
            if (!pp_flight_add_contact(flight, instant, hold, i, r, w)) {
                return false;
            }
            continue;
        }
        if (pp_hold_is_turning(hold)) {
            pp_flight_add_turn(flight, instant, hold, i, r, w);
            continue;
        }
        pp_joint_sum *sum = &flight->now.joint[hold->joint];
        for (int k = 0; k < instant->size[i]; k++) {
            int at = instant->at[i] + k;
            if (hold->kind == PP_HOLD_LIMIT) {
                // Along the signed row: >= 0 at both ends.
                sum->limit += w * r[at];
            } else if (hold->kind != PP_HOLD_LOOP) {
                sum->drive += w * r[at];
            }
            // Wrenches of tree joints come from their subtrees (add_tree).
            if (is_loop(flight->machine->tree, hold->joint)) {
                add_loop(flight, instant, hold->joint, &instant->row[at],
                         instant->sign[at] * w * r[at]);
            }
        }
    }
    return true;
}

// ── Energy ───────────────────────────────────────────────────────────────────────────────────────

// The rate that a drive should follow.
static double aim(const pp_machine *machine, const pp_hold *hold, double t)
{
    const pp_joint *j = &machine->model->joint[hold->joint];
    const double *input = machine->drive ? machine->drive->input : NULL;
    const double one[1] = {1.0};
    double rate = 0.0;
    if (hold->kind == PP_HOLD_TARGET) {
        pp_expr_rate(j->target, &t, one, &rate);
    } else if (hold->kind == PP_HOLD_RATE || hold->kind == PP_HOLD_MOTOR) {
        rate = pp_expr_value_in(j->rate, &t, input);
    }
    return rate;
}

// Energy of all rows: impulses p = w r at the rates `mean`. Contacts and limits lose p times their
// rate, of which the known part of the rate (driven bodies, belts) is work supplied. Drives and dry
// friction of tree joints supply p times the rate of the coordinate, which is the rate of the row
// plus its aim; those of loops what acts on dynamic bodies. What driven bodies supply through
// joints of the tree is accounted for by add_tree.
static void book_rows(pp_flight *flight, const pp_instant *instant, const pp_holds *holds,
                      const double *r, double w, const double *mean)
{
    for (int i = 0; i < holds->count; i++) {
        const pp_hold *hold = &holds->hold[i];
        bool contact = pp_hold_touches(hold);
        bool loop = contact || is_loop(flight->machine->tree, hold->joint);
        for (int k = 0; k < instant->size[i]; k++) {
            int at = instant->at[i] + k;
            // given: the known part of the row's rate.
            double p = w * r[at], given = instant->sign[at] * instant->row[at].rate;
            if (contact || hold->kind == PP_HOLD_LIMIT || hold->kind == PP_HOLD_LOOP) {
                flight->now.lost -= hold->kind == PP_HOLD_LOOP ? 0.0 : p * mean[at];
                flight->now.work -= loop ? p * given : 0.0;
            } else {
                flight->now.work +=
                    p * (mean[at] + (loop ? -given : aim(flight->machine, hold, instant->t)));
            }
        }
    }
}

// Power that dampers and drag dissipate [W].
static double damped(const perp_model *m, const pp_frame *body)
{
    double sum = 0.0;
    for (int i = 0; i < m->forces; i++) {
        const pp_force *f = &m->force[i];
        const pp_frame *a = &body[f->a], *b = &body[f->b];
        if (f->kind == PERP_FORCE_DRAG) {
            perp_vec3 w = f->a > 0 ? pp_sub(b->w, a->w) : b->w;
            sum += f->damping * pp_dot3(b->v, b->v) + f->damping_w * pp_dot3(w, w);
        } else if (f->kind == PERP_FORCE_TORSION_SPRING) {
            sum += f->damping * (b->w.z - a->w.z) * (b->w.z - a->w.z);
        } else if (f->kind == PERP_FORCE_SPRING) {
            // A spring damps along its length, an isotropic one in all directions.
            perp_vec3 pa = pp_point(a, f->r_A), pb = pp_point(b, f->r_B), d = pp_sub(pb, pa);
            perp_vec3 v = pp_sub(pp_point_velocity(b, pb), pp_point_velocity(a, pa));
            double along = pp_dot3(v, d), square = pp_dot3(d, d);
            double fast = f->isotropic ? pp_dot3(v, v) : along * along / square;
            sum += square > 0.0 ? f->damping * fast : 0.0;
        }
    }
    return sum;
}

// Force elements and wrenches from the caller over a time w; loads holds them per unit of time. The
// end of an element at a body that is not dynamic is moved by what holds that body: work -held.
static void book_forces(pp_flight *flight, const pp_frame *body, const pp_loads *loads, double w)
{
    const perp_model *m = flight->machine->model;
    double lost = damped(m, body), held = 0.0;
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *b = &m->body[i];
        const pp_frame *f = &body[i];
        double part[6] = {0.0};
        accumulate_wrench(&flight->result->held[i], w, loads->held[i]);
        held += pp_dot3(loads->held[i].f_W, f->v) + pp_dot3(loads->held[i].tau_W, f->w);
        for (int k = 0; k < b->nv; k++) {
            part[b->axis[k]] = loads->p_ext[b->at + k];
        }
        accumulate_wrench(&flight->now.element[i], w,
                          (perp_wrench){{part[0], part[1], part[2]}, {part[3], part[4], part[5]}});
    }
    // work_rate counts dampers as negative power; that is a loss here, and no work.
    flight->now.work += w * (loads->work_rate + lost - held);
    flight->now.lost += w * lost;
}

// Springs and dampers of joint coordinates over a time w. Those of loops push bodies, f, and are
// part of the joint's wrench; those of tree joints are contained in the wrench that add_tree finds.
static void book_springs(pp_flight *flight, const pp_instant *instant, const pp_poses *at, double w,
                         double *f)
{
    const perp_model *m = flight->machine->model;
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        pp_row row;
        if (!(j->stiffness > 0.0) && !(j->damping > 0.0)) {
            continue;
        }
        pp_joint_coordinate(m, at, i, &row);
        double pull = -j->stiffness * (row.value - j->rest) - j->damping * row.v_pre;
        flight->now.lost += w * j->damping * row.v_pre * row.v_pre;
        if (is_loop(flight->machine->tree, i)) {
            flight->now.work -= w * pull * row.rate;
            pp_row_add(m, &row, pull, NULL, f);
            add_loop(flight, instant, i, &row, w * pull);
        }
    }
}

// Actuators over a time w, as springs; what they give is work from outside.
static void book_actuators(pp_flight *flight, const pp_instant *instant, const pp_poses *at,
                           double w, double *f)
{
    const perp_model *m = flight->machine->model;
    for (int i = 0; i < m->actuators; i++) {
        int joint = m->actuator[i].joint;
        pp_row row;
        pp_joint_coordinate(m, at, joint, &row);
        double effort = pp_actuator_effort(m, at, i, &row);
        flight->now.joint[joint].drive += w * effort;
        flight->now.actuator[i] += w * effort;
        if (!is_loop(flight->machine->tree, joint)) {
            flight->now.work += w * effort * row.v_pre;
            continue;
        }
        flight->now.work += w * effort * (row.v_pre - row.rate);
        pp_row_add(m, &row, effort, NULL, f);
        add_loop(flight, instant, joint, &row, w * effort);
    }
}

// ── Joints of the tree ───────────────────────────────────────────────────────────────────────────

// Wrenches in the joints of the tree over a time w: what the links of the subtree oppose (or how
// their momentum jumps) less the external forces on them, both gathered from the leaves. A carrier
// that is not dynamic works through them.
static void add_tree(pp_flight *flight, const pp_instant *instant, const perp_wrench *opposed,
                     double w)
{
    const pp_tree *tree = flight->machine->tree;
    const pp_frame *body = instant->pass.body;
    for (int i = 0; i < tree->links; i++) {
        const pp_link *l = &tree->link[i];
        if (l->joint < 0) {
            continue;
        }
        perp_wrench on = opposed[i];
        on.f_W = pp_sub(on.f_W, instant->pass.load[i].f_W);
        on.tau_W = pp_sub(on.tau_W, instant->pass.load[i].tau_W);
        // A link that the tree traverses from b to a has the reaction on its carrier, which is b.
        accumulate_wrench(&flight->now.joint[l->joint].on_b, w,
                          l->turned ? reaction_wrench(body, on, l->body, l->carrier) : on);
        if (flight->machine->model->body[l->carrier].nv == 0) {
            const pp_frame *by = &body[l->carrier];
            flight->now.work += w * (pp_dot3(on.f_W, pp_point_velocity(by, body[l->body].p)) +
                                     pp_dot3(on.tau_W, by->w));
        }
    }
}

// Whether the tree has a joint: free bodies are links without one.
static bool has_joints(const pp_tree *tree)
{
    for (int i = 0; i < tree->links; i++) {
        if (tree->link[i].joint >= 0) {
            return true;
        }
    }
    return false;
}

// Forces r of one instant over a time w, at the rates `mean`: impulses, wrenches and energies.
// opposed (links): gathered inertial wrenches.
static perp_status add_forces(pp_flight *flight, const pp_instant *instant, const pp_holds *holds,
                              const double *r, const double *mean, const perp_wrench *opposed,
                              double w)
{
    const pp_machine *machine = flight->machine;
    const perp_model *m = machine->model;
    const pp_tree *tree = machine->tree;
    pp_arena *arena = flight->scratch;
    double *tau = PP_ARRAY(arena, double, tree->nv), *f = PP_ZEROS(arena, double, m->nv);
    pp_poses at = {.t = instant->t,
                   .body = instant->pass.body,
                   .turn = machine->turn,
                   .drive = machine->drive};
    pp_loads loads = {.p_ext = f, .held = PP_ZEROS(arena, perp_wrench, m->bodies)};
    if (!tau || !f || !loads.held) {
        return PERP_ERR_MEMORY;
    }
    // Impulses over a unit of time are forces. f collects what pushes the bodies from outside.
    pp_forces_add(&loads, m, &at, 1.0, machine->applied);
    book_forces(flight, at.body, &loads, w);
    book_springs(flight, instant, &at, w, f);
    book_actuators(flight, instant, &at, w, f);
    book_rows(flight, instant, holds, r, w, mean);
    if (!sum_row_impulses(flight, instant, holds, r, w)) {
        return PERP_ERR_MEMORY;
    }
    flight->empty = false;
    // f is complete: gathered from the leaves it is what pushes each subtree.
    if (has_joints(tree)) {
        push_bodies(flight, instant, holds, r, f);
        pp_tree_gather(&instant->pass, f, tau);
        add_tree(flight, instant, opposed, w);
    }
    return PERP_OK;
}

// ── Smooth motion ────────────────────────────────────────────────────────────────────────────────

// Forces and accelerations at one node of the rule.
typedef struct node {
    pp_instant moment;
    pp_law_info info;
    double *r, *qdd;
} node;

// In the present modes, on the dense output at t. In the scratch arena.
static perp_status load_node(pp_flight *flight, double t, node *out)
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
    // Without an integrator nothing can move, and y has no numbers.
    if (flight->ode) {
        perp_status status = pp_ode_at(flight->ode, t, y);
        if (status < 0) {
            return status;
        }
    }
    perp_status status =
        pp_instant_make(&out->moment, machine, t, y, y + tree->nq, &flight->holds, true, arena);
    if (status < 0) {
        return status;
    }
    return pp_accelerate(machine, &out->moment, &flight->holds, PP_LOADS_LAWFUL, out->qdd, &out->r,
                         &out->info, arena);
}

// Adds a node with the weight w [s].
static perp_status add_node(pp_flight *flight, const node *at, double w)
{
    pp_hybrid_result *out = flight->result;
    int redundant = at->info.equations - at->info.rank;
    out->redundant = redundant > out->redundant ? redundant : out->redundant;
    const pp_tree *tree = flight->machine->tree;
    double *tau = PP_ARRAY(flight->scratch, double, tree->nv);
    perp_wrench *opposed = PP_ZEROS(flight->scratch, perp_wrench, tree->links);
    if (!tau || !opposed) {
        return PERP_ERR_MEMORY;
    }
    // Inverse dynamics leaves the gathered inertial wrenches in pass.load.
    if (has_joints(tree)) {
        perp_status status = pp_tree_inverse(&at->moment.pass, at->qdd, tau, flight->scratch);
        if (status < 0) {
            return status;
        }
        memcpy(opposed, at->moment.pass.load, (size_t)tree->links * sizeof *opposed);
    }
    return add_forces(flight, &at->moment, &flight->holds, at->r, at->moment.rate, opposed, w);
}

static const double STEADY = 0.02;  // relative change of forces that is allowed between the nodes

// Whether forces change little between the three nodes.
static bool is_steady(const node *at)
{
    double most = 0.0, change = 0.0;
    for (int i = 0; i < at[1].moment.rows; i++) {
        most = fmax(most, fabs(at[1].r[i]));
        // Compared up to the first node with other rows: a feature has gone there.
        for (int k = 0; k < 3 && at[k].moment.rows == at[1].moment.rows; k++) {
            change = fmax(change, fabs(at[k].r[i] - at[1].r[i]));
        }
    }
    return change <= STEADY * most;
}

// Allowed error of a change of rates, relative to the fastest rate and to the change that the free
// accelerations alone would cause. At rest forces cancel these, and the rates are rounding.
static const double EXACT = 2e-12;
// The same of a change that no impulse causes. It is 1e-13 and less where the motion keeps its contacts.
static const double UNCAUSED = 1e-11;

// What a rule missed of the change of the rates over its interval.
typedef struct lapse {
    double *
        rate;  // nv: the change, which the integrator knows, less the integral of the accelerations
    double fast;  // the scale of rates: the fastest, or the change by free accelerations
    bool exact;   // it is rounding
} lapse;

static perp_status missed(pp_flight *flight, double t0, double t1, const node *at,
                          const double *weight, lapse *out)
{
    const pp_tree *tree = flight->machine->tree;
    *out = (lapse){.exact = true};
    if (!flight->ode) {
        return PERP_OK;
    }
    // Without an integrator nothing moves, and nothing is missed.
    size_t n = (size_t)tree->nq + (size_t)tree->nv;
    double *y0 = PP_ARRAY(flight->scratch, double, 2 * n), *y1 = y0 + n, fast = 0.0;
    out->rate = PP_ZEROS(flight->scratch, double, tree->nv);
    if (!y0 || !out->rate) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = pp_ode_at(flight->ode, t0, y0);
    if (status < 0) {
        return status;
    }
    status = pp_ode_at(flight->ode, t1, y1);
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < tree->nv; i++) {
        double before = y0[tree->nq + i], after = y1[tree->nq + i];
        fast = fmax(fast, fmax(fabs(before), fabs(after)));
        // qd(t1) - qd(t0) - (t1 - t0) sum w_k qdd_k
        out->rate[i] = after - before;
        for (int k = 0; k < 3; k++) {
            out->rate[i] -= weight[k] * (t1 - t0) * at[k].qdd[i];
            fast = fmax(fast, (t1 - t0) * fabs(at[k].moment.free[i]));
        }
    }
    out->fast = fast;
    out->exact = pp_norm_inf(tree->nv, out->rate) <= EXACT * fast;
    return PERP_OK;
}

// Whether contacts in space alone act. Rows of loops may be next to dependent, and what impulses of
// least norm leave of a change is then their rounding.
static bool only_contacts(const pp_flight *flight)
{
    for (int i = 0; i < flight->holds.count; i++) {
        if (!pp_hold_touches(&flight->holds.hold[i])) {
            return false;
        }
    }
    return flight->machine->model->spatial;
}

// Adds the impulses of least norm that make up for what a rule missed where directions of friction
// turn faster than any rule follows: J H^-1 J^T r = J miss. A change that no impulse of the holds
// causes is an error of the motion. stray: it is larger than the integrator's, so that forces in
// between were not those of the motion.
static perp_status correct_impulses(pp_flight *flight, const pp_instant *instant,
                                    const lapse *missed, bool *stray)
{
    const double *miss = missed->rate;
    int n = instant->rows, nv = instant->nv;
    if (n == 0) {
        return PERP_OK;
    }
    double *A = PP_ARRAY(flight->scratch, double, (size_t)n *(size_t)n + 3 * (size_t)n);
    double *left = PP_ARRAY(flight->scratch, double, nv);
    if (!A || !left) {
        return PERP_ERR_MEMORY;
    }
    double *b = A + n * n, *r = b + n, *scale = r + n;
    // Rows of holds may be redundant: least norm.
    memcpy(A, instant->A, (size_t)n * (size_t)n * sizeof *A);
    memcpy(scale, instant->scale, (size_t)n * sizeof *scale);
    for (int i = 0; i < n; i++) {
        b[i] = pp_dot(nv, instant->J + (size_t)i * (size_t)nv, miss);
    }
    if (pp_least_solve(n, A, b, r, scale, 1e-10, flight->scratch) < 0 ||
        !sum_row_impulses(flight, instant, &flight->holds, r, 1.0)) {
        return PERP_ERR_MEMORY;
    }
    book_rows(flight, instant, &flight->holds, r, 1.0, instant->rate);
    memcpy(left, miss, (size_t)nv * sizeof *left);
    pp_gemv(nv, n, -1.0, instant->G, nv, r, left);
    *stray = only_contacts(flight) && pp_norm_inf(nv, left) > UNCAUSED * missed->fast;
    return PERP_OK;
}

enum { HALVINGS = 3 };  // down to eighths of an internal step

// What became of a rule.
typedef enum rule_end {
    RULE_TAKEN,   // its impulses were added
    RULE_COARSE,  // nothing was added: its halves are to be taken
    RULE_STRAYS,  // the motion has lost a contact: what was added is to be taken back
} rule_end;

// The three-point Gauss rule over [from, from + h]; last: it is taken however coarse it is. In the
// scratch arena.
static perp_status sum_by_rule(pp_flight *flight, double from, double h, bool last, rule_end *out)
{
    static const double place[3] = {-0.7745966692414834, 0.0, 0.7745966692414834},
                        weight[3] = {5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0};
    // Gauss-Legendre nodes on [-1, 1] and weights for an interval of length 1: exact for
    // polynomials of degree 5.
    lapse miss;
    node at[3];
    for (int k = 0; k < 3; k++) {
        perp_status status = load_node(flight, from + 0.5 * h * (1.0 + place[k]), &at[k]);
        if (status < 0) {
            return status;
        }
        if (pp_flight_strays(flight, &at[k].moment)) {
            *out = RULE_STRAYS;
            return PERP_OK;
        }
    }
    perp_status status = missed(flight, from, from + h, at, weight, &miss);
    if (status < 0) {
        return status;
    }
    // Nothing has been added so far: the caller may repeat the interval in halves.
    *out = RULE_COARSE;
    if (!last && !(miss.exact && is_steady(at))) {
        return PERP_OK;
    }
    *out = RULE_TAKEN;
    for (int k = 0; k < 3; k++) {
        status = add_node(flight, &at[k], weight[k] * h);
        if (status < 0) {
            return status;
        }
    }
    bool stray = false;
    status = miss.exact ? PERP_OK : correct_impulses(flight, &at[1].moment, &miss, &stray);
    *out = stray ? RULE_STRAYS : RULE_TAKEN;
    return status;
}

// Part `part` of `parts` of [t0, t1]; where forces change much the rule is applied to its halves.
static perp_status sum_part(pp_flight *flight, double t0, double t1, int part, int parts,
                            bool *stray)
{
    double h = (t1 - t0) / parts;
    rule_end end = RULE_TAKEN;
    // Nodes of a rule that was too coarse are dropped before its halves are evaluated.
    pp_mark mark = pp_arena_mark(flight->scratch);
    perp_status status = sum_by_rule(flight, t0 + h * part, h, parts >= (1 << HALVINGS), &end);
    pp_arena_release(flight->scratch, mark);
    *stray = end == RULE_STRAYS;
    if (status < 0 || end != RULE_COARSE) {
        return status;
    }
    status = sum_part(flight, t0, t1, 2 * part, 2 * parts, stray);
    if (status < 0 || *stray) {
        return status;
    }
    return sum_part(flight, t0, t1, 2 * part + 1, 2 * parts, stray);
}

// Whether force elements or wrenches from the caller act.
static bool is_pushed(const pp_machine *machine)
{
    if (machine->model->forces > 0) {
        return true;
    }
    if (!machine->applied) {
        return false;
    }
    for (int i = 0; i < machine->model->bodies; i++) {
        const perp_wrench *w = &machine->applied[i];
        if (pp_length(w->f_W) > 0.0 || pp_length(w->tau_W) > 0.0) {
            return true;
        }
    }
    return false;
}

perp_status pp_flight_sum(pp_flight *flight, double t0, double t1, bool *stray)
{
    const pp_machine *machine = flight->machine;
    *stray = false;
    if (flight->holds.count == 0 && machine->model->joints == 0 && !is_pushed(machine)) {
        return PERP_OK;
    }
    pp_mark mark = pp_arena_mark(flight->scratch);
    pp_sums_kept kept;
    perp_status status = pp_flight_keep_sums(flight, &kept);
    if (status >= 0) {
        status = sum_part(flight, t0, t1, 0, 1, stray);
    }
    if (status >= 0 && *stray) {
        pp_flight_restore_sums(flight, &kept);
    }
    pp_arena_release(flight->scratch, mark);
    return status;
}

// Mean inertial forces of all bodies in a short step: m (dv/dt - g) and I dw/dt + w x I w, with w
// of the middle. end: frames at the end of the step, then those at its start.
static void oppose(const pp_flight *flight, const pp_instant *instant, const pp_frame *end,
                   double dt, double *f)
{
    const perp_model *m = flight->machine->model;
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *b = &m->body[i];
        const pp_frame *mid = &instant->pass.body[i], *from = &end[m->bodies + i], *to = &end[i];
        const pp_inertia *mass = &instant->pass.mass[i];
        // Differences of the velocities at both ends; the gyroscopic term belongs to the middle.
        perp_vec3 a = pp_sub(pp_scale(1.0 / dt, pp_sub(to->v, from->v)), pp_body_gravity(m, b));
        perp_vec3 w = pp_scale(1.0 / dt, pp_sub(to->w, from->w));
        perp_vec3 push = pp_scale(b->mass, a);
        perp_vec3 turn = pp_add(pp_mul(&mass->I, w), pp_cross(mid->w, pp_mul(&mass->I, mid->w)));
        const double all[6] = {push.x, push.y, push.z, turn.x, turn.y, turn.z};
        for (int k = 0; k < b->nv; k++) {
            f[b->at + k] = all[b->axis[k]];
        }
    }
}

perp_status pp_flight_sum_short(pp_flight *flight, const pp_short_step *step)
{
    const pp_instant *instant = step->moment;
    const perp_model *m = flight->machine->model;
    const pp_tree *tree = flight->machine->tree;
    pp_arena *arena = flight->scratch;
    pp_mark mark = pp_arena_mark(arena);
    double *r = PP_ARRAY(arena, double, 2 * (size_t)instant->rows), *mean = r + instant->rows;
    double *tau = PP_ARRAY(arena, double, 2 * (size_t)tree->nv), *late = tau + tree->nv;
    double *f = PP_ZEROS(arena, double, m->nv);
    pp_frame *end = PP_ARRAY(arena, pp_frame, 2 * (size_t)m->bodies);
    perp_wrench *opposed = PP_ARRAY(arena, perp_wrench, tree->links);
    if (!r || !tau || !f || !end || !opposed) {
        pp_arena_release(arena, mark);
        return PERP_ERR_MEMORY;
    }
    // The velocities of the instant are those of a guess. The energy change due to impulses is the
    // impulses times the mean of the rates before and after.                           theory (H17)
    for (int k = 0; k < tree->nv; k++) {
        late[k] = 0.5 * (flight->qd[k] + step->qd[k]) - instant->qd[k];
    }
    for (int i = 0; i < instant->rows; i++) {
        r[i] = step->r[i] / step->dt;
        mean[i] =
            instant->rate[i] + pp_dot(tree->nv, instant->J + (size_t)i * (size_t)instant->nv, late);
    }
    pp_tree_frames(tree, flight->t + step->dt, step->q, step->qd, end);
    pp_tree_frames(tree, flight->t, flight->q, flight->qd, end + m->bodies);
    oppose(flight, instant, end, step->dt, f);
    pp_tree_gather(&instant->pass, f, tau);
    memcpy(opposed, instant->pass.load, (size_t)tree->links * sizeof *opposed);
    perp_status status = add_forces(flight, instant, step->holds, r, mean, opposed, step->dt);
    pp_arena_release(arena, mark);
    return status;
}

// ── Impacts ──────────────────────────────────────────────────────────────────────────────────────

// Momentum jumps by M S H^-1 J^T impulse: each link opposes with its own part of it.
static perp_status sum_tree_impact(pp_flight *flight, const pp_instant *instant,
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
    pp_gemv(instant->nv, instant->rows, 1.0, instant->G, instant->nv, impulse, jump);
    pp_tree_velocities(&instant->pass, jump, true, nu);
    pp_masses_mul(m, instant->pass.mass, nu, f);
    // pp_tree_gather leaves the gathered wrenches in pass.load: first of the jump, then
    // of the external impulses.
    pp_tree_gather(&instant->pass, f, tau);
    memcpy(opposed, instant->pass.load, (size_t)tree->links * sizeof *opposed);
    memset(f, 0, (size_t)m->nv * sizeof *f);
    push_bodies(flight, instant, holds, impulse, f);
    pp_tree_gather(&instant->pass, f, tau);
    add_tree(flight, instant, opposed, 1.0);
    return PERP_OK;
}

perp_status pp_flight_sum_impact(pp_flight *flight, const pp_instant *instant,
                                 const pp_holds *holds, const double *impulse)
{
    double *mean = PP_ARRAY(flight->scratch, double, instant->rows);
    if (!mean) {
        return PERP_ERR_MEMORY;
    }
    // The mean of the rates before and after: u- + A r / 2.                            theory (H10)
    memcpy(mean, instant->rate, (size_t)instant->rows * sizeof *mean);
    pp_gemv(instant->rows, instant->rows, 0.5, instant->A, instant->rows, impulse, mean);
    book_rows(flight, instant, holds, impulse, 1.0, mean);
    if (!sum_row_impulses(flight, instant, holds, impulse, 1.0)) {
        return PERP_ERR_MEMORY;
    }
    return sum_tree_impact(flight, instant, holds, impulse);
}
