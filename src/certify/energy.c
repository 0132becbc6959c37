// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Energy of a whole step: kinetic and potential energy at its end, less those at its start, less
// the work of everything outside. Positions are those of the bodies, not those that velocities
// predict.                                                                             theory (K4)
//
//   created = T+ + V+ - T - V - sum (outside impulse . displacement / h)
//
// Outside are forces without a potential, wrenches from the caller, driven bodies, belts, and the
// drives of joints. With constant forces F a scheme keeps T + V + (theta - 1/2) h F . nu rather
// than T + V. A rebound reverses the last term. Both sums are therefore computed, and the one that
// grows less is held against the limit; `lag` is the change of the last term.
//
// Springs and gravity are part of V. Dampers, friction, impacts and the scheme may take energy and
// have no entry. What the order of the scheme may add is collected in `allowed` and `arcs`.
#include "certify/own.h"
#include "certify/scale.h"

#include "math/math.h"

#include <math.h>
#include <string.h>

// Accounts of a step. Arrays are indexed by the number of an island, which is that of its lowest
// body.
typedef struct book {
    const pp_step_evidence *e;
    const pp_scales *s;
    double *created;  // energy created [J]
    double *allowed;  // energy that the order of the scheme may add [J]
    double *arcs;     // work of forces and springs on distances of bodies from their tangents [J]
    double *closed;   // of impulses on the errors of joints that they close [J]
    double *lifted;   // energy that comes of that work, gains less losses [J]
    double *jerked;   // losses of drives that change rates [J]
    double *lag;      // change of (theta - 1/2) h F . nu [J],
    double *sprung;   // the same of the forces of explicit springs
    double *moved;    // sum of the sizes of all terms, for rounding [J]
    pp_own_place *from, *to;  // joints with a spring or a rotor: their coordinates at both ends
    perp_energy ledger;
    double before;  // kinetic and potential energy at the start [J]
} book;

// Work of something outside the system: energy that it accounts for is not created.
static void spend(book *b, int island, double work)
{
    b->created[island] -= work;
    b->moved[island] += fabs(work);
    b->ledger.work += work;
}

// Potential energy before and after the step.
static void store(book *b, int island, double before, double after)
{
    b->created[island] += after - before;
    b->moved[island] += fabs(after) + fabs(before);
    b->before += before;
    b->ledger.potential += after;
}

// The inertia is constant in body axes.
static double kinetic_energy_of(const pp_body *body, const pp_frame *f)
{
    perp_vec3 w_B = pp_mul_t(&f->R, f->w);
    return 0.5 * body->mass * pp_dot3(f->v, f->v) + 0.5 * pp_dot3(w_B, pp_mul(&body->I_B, w_B));
}

// Rotation of a body in the step, as the vector mean angular velocity times h [rad]: what a
// constant torque works along.
static perp_vec3 rotation_of_step(const pp_step_evidence *e, int i)
{
    const pp_body *body = &e->model->body[i];
    double w[3] = {0.0};
    if (body->nv == 0) {
        return pp_scale(e->kin->h, e->kin->poses.body[i].w);
    }
    if (body->kind == PERP_BODY_SPATIAL) {
        return pp_scale(e->kin->h, pp_judge_turn(e, i));
    }
    for (int k = 0; k < body->nv; k++) {
        if (body->axis[k] >= 3) {
            double mean =
                (1.0 - e->theta) * e->nu_old[body->at + k] + e->theta * e->nu[body->at + k];
            w[body->axis[k] - 3] = e->kin->h * mean;
        }
    }
    return pp_vec(w[0], w[1], w[2]);
}

// Kinetic energy and gravity. The potential of gravity is -m g . p, so that `fall` is what it
// gives.
static void add_bodies(book *b)
{
    const pp_step_evidence *e = b->e;
    for (int i = 0; i < e->model->bodies; i++) {
        const pp_body *body = &e->model->body[i];
        const pp_frame *from = &e->kin->poses.body[i], *to = &e->end->body[i];
        int at = b->s->island[i];
        if (at < 0) {
            continue;
        }
        double T = kinetic_energy_of(body, from), after = kinetic_energy_of(body, to);
        double weight = body->mass * body->gravity_scale;
        double fall = weight * pp_dot3(e->model->gravity, pp_sub(to->p, from->p));
        b->created[at] += after - T - fall;
        b->moved[at] += after + T + fabs(fall);
        b->lag[at] += (e->theta - 0.5) * e->kin->h * weight *
                      pp_dot3(e->model->gravity, pp_sub(to->v, from->v));
        b->ledger.kinetic += after;
        b->ledger.potential -= weight * pp_dot3(e->model->gravity, to->p);
        b->before += T - weight * pp_dot3(e->model->gravity, from->p);
    }
}

// ── Forces ───────────────────────────────────────────────────────────────────────────────────────

// Work of a force at the world point `at` and a torque on body i, along its displacement in the
// step [J]. The force is constant in world axes.
static double work_on(const pp_step_evidence *e, int i, perp_vec3 f, perp_vec3 at, perp_vec3 torque)
{
    const pp_frame *from = &e->kin->poses.body[i], *to = &e->end->body[i];
    perp_vec3 tau = pp_add(torque, pp_cross(pp_sub(at, from->p), f));
    return pp_dot3(f, pp_sub(to->p, from->p)) + pp_dot3(tau, rotation_of_step(e, i));
}

// Torsion springs exist in the plane only, where angles of bodies are not wrapped.
double pp_spring_energy(const pp_force *f, const pp_frame *body)
{
    double stretch = body[f->b].angle - body[f->a].angle - f->rest;
    if (f->kind == PERP_FORCE_SPRING) {
        perp_vec3 d = pp_sub(pp_own_point(&body[f->b], f->r_B), pp_own_point(&body[f->a], f->r_A));
        stretch = pp_length(d) - f->rest;
    }
    return 0.5 * f->stiffness * stretch * stretch;
}

// An explicit spring pulls with its force at the start. Something outside holds an end that is not
// free, and works along the displacement of that end [J]. Implicit springs are rows (outside_work).
static double held_work(const pp_step_evidence *e, const pp_force *f)
{
    double work = 0.0;
    const pp_frame *a = &e->kin->poses.body[f->a], *b = &e->kin->poses.body[f->b];
    perp_vec3 pa = pp_own_point(a, f->r_A), pb = pp_own_point(b, f->r_B), d = pp_sub(pb, pa);
    perp_vec3 v = pp_sub(pp_own_velocity(b, pb), pp_own_velocity(a, pa));
    double length = pp_length(d);
    if (f->kind != PERP_FORCE_SPRING || f->implicit || length == 0.0) {
        return 0.0;
    }
    perp_vec3 u = pp_scale(1.0 / length, d);
    v = f->isotropic ? v : pp_scale(pp_dot3(u, v), u);
    // pull: force on a, which is towards b where the spring is stretched. On b it is opposite.
    perp_vec3 pull = pp_along(pp_scale(f->damping, v), f->stiffness * (length - f->rest), u);
    if (e->model->body[f->a].nv == 0) {
        work -= pp_dot3(pull, pp_sub(pp_own_point(&e->end->body[f->a], f->r_A), pa));
    }
    if (e->model->body[f->b].nv == 0) {
        work += pp_dot3(pull, pp_sub(pp_own_point(&e->end->body[f->b], f->r_B), pb));
    }
    return work;
}

// Whether explicit integration of the spring is well within its limit of stability, h^2 K / m < 4,
// at its lighter end. What a spring is given in one part it gives back in others if they are of one
// length: parts that are as long as their energy lets them pass take what is given, and keep it.
// Hence the whole step has to resolve it.
static bool is_resolved(const perp_model *m, double whole, double theta, const pp_force *f)
{
    double light = PP_INF;
    const int ends[2] = {f->a, f->b};
    for (int k = 0; k < 2; k++) {
        const pp_body *body = &m->body[ends[k]];
        double inertia = f->kind == PERP_FORCE_SPRING ? body->mass : body->I_B.m[8];
        light = body->nv > 0 ? fmin(light, inertia) : light;
    }
    return theta == 1.0 && whole * whole * f->stiffness <= light;
}

// Whether a spring moves by no more than its length, or is linear in all directions: beyond that it turns over.
static bool keeps_side(const pp_force *f, const pp_frame *from, const pp_frame *to)
{
    if (f->kind != PERP_FORCE_SPRING || f->rest == 0.0) {
        return true;
    }
    perp_vec3 d0 = pp_sub(pp_own_point(&from[f->b], f->r_B), pp_own_point(&from[f->a], f->r_A));
    perp_vec3 d1 = pp_sub(pp_own_point(&to[f->b], f->r_B), pp_own_point(&to[f->a], f->r_A));
    return pp_length(pp_sub(d1, d0)) <= pp_length(d0);
}

// Potential energy of a spring from the change of its direction: its pull times across^2 / 2 L. What it gains along itself is
// in the invariant of an explicit one that the step resolves (pp_spring_lag). With theta < 1 it takes nothing back, and a
// gain is a violation.                                                                  theory (K5)
double pp_drift_spring(const perp_model *m, const pp_frame *from, const pp_frame *to, double whole,
                       double theta, const pp_force *f)
{
    double stretch = from[f->b].angle - from[f->a].angle - f->rest, across = 0.0;
    if (f->kind == PERP_FORCE_SPRING) {
        perp_vec3 d0 = pp_sub(pp_own_point(&from[f->b], f->r_B), pp_own_point(&from[f->a], f->r_A));
        perp_vec3 d1 = pp_sub(pp_own_point(&to[f->b], f->r_B), pp_own_point(&to[f->a], f->r_A));
        perp_vec3 way = pp_sub(d1, d0);
        double length = pp_length(d0), all = pp_dot3(way, way);
        stretch = length - f->rest;
        double along = length > 0.0 ? pp_dot3(way, d0) / length : sqrt(all);
        across = length > 0.0 ? fmax(0.0, all - along * along) / length : 0.0;
    }
    bool resolved = is_resolved(m, whole, theta, f) && keeps_side(f, from, to);
    return f->implicit || resolved ? 0.5 * fabs(f->stiffness * stretch) * across : 0.0;
}

// Power that the elastic part of a spring delivers, -K (x - rest) dx/dt [W].
static double spring_power(const pp_force *f, const pp_frame *body)
{
    const pp_frame *a = &body[f->a], *b = &body[f->b];
    double stretch = b->angle - a->angle - f->rest, rate = b->w.z - a->w.z;
    if (f->kind == PERP_FORCE_SPRING) {
        perp_vec3 pa = pp_own_point(a, f->r_A), pb = pp_own_point(b, f->r_B), d = pp_sub(pb, pa);
        perp_vec3 v = pp_sub(pp_own_velocity(b, pb), pp_own_velocity(a, pa));
        double length = pp_length(d);
        stretch = length - f->rest;
        rate = length > 0.0 ? pp_dot3(d, v) / length : 0.0;
    }
    return -f->stiffness * stretch * rate;
}

bool pp_spring_is_kept(const perp_model *m, const pp_frame *from, const pp_frame *to, double whole,
                       double theta, const pp_force *f)
{
    return !f->implicit && is_resolved(m, whole, theta, f) && keeps_side(f, from, to);
}

// An explicit spring keeps T + V + (theta - 1/2) h F . nu, as constant forces do: exactly if it is
// linear. The sum is an energy (positive definite) only where the step resolves the spring.
double pp_spring_lag(const perp_model *m, const pp_frame *from, const pp_frame *to, double h,
                     double whole, double theta, const pp_force *f)
{
    bool kept = pp_spring_is_kept(m, from, to, whole, theta, f);
    return kept ? (theta - 0.5) * h * (spring_power(f, to) - spring_power(f, from)) : 0.0;
}

static void add_spring(book *b, const pp_force *f, int at)
{
    const pp_step_evidence *e = b->e;
    const pp_frame *from = e->kin->poses.body, *to = e->end->body;
    double whole = fmax(e->whole, e->kin->h);
    store(b, at, pp_spring_energy(f, from), pp_spring_energy(f, to));
    spend(b, at, held_work(e, f));
    b->arcs[at] += pp_drift_spring(e->model, from, to, whole, e->theta, f);
    b->sprung[at] += pp_spring_lag(e->model, from, to, e->kin->h, whole, e->theta, f);
}

static void add_forces(book *b)
{
    const pp_step_evidence *e = b->e;
    const perp_model *m = e->model;
    for (int i = 0; i < m->forces; i++) {
        const pp_force *f = &m->force[i];
        int at = b->s->island[f->b] >= 0 ? b->s->island[f->b] : b->s->island[f->a];
        if (at < 0) {
            continue;
        }
        if (f->kind == PERP_FORCE_WRENCH) {
            // with its value at the start of the step; it acts on b alone
            perp_wrench on_a, on_b;
            pp_own_force(e, f, &on_a, &on_b);
            spend(b, at, work_on(e, f->b, on_b.f_W, e->kin->poses.body[f->b].p, on_b.tau_W));
        } else if (f->kind == PERP_FORCE_SPRING || f->kind == PERP_FORCE_TORSION_SPRING) {
            add_spring(b, f, at);
        }
    }
    if (!e->applied) {
        return;
    }
    for (int i = 0; i < m->bodies; i++) {
        int at = b->s->island[i];
        if (at >= 0) {
            spend(b, at,
                  work_on(e, i, e->applied[i].f_W, e->kin->poses.body[i].p, e->applied[i].tau_W));
        }
    }
}

// ── Joints, drives, contacts ─────────────────────────────────────────────────────────────────────

static pp_own_place place_at(const perp_model *m, const pp_poses *at, int joint)
{
    pp_own_pair pair;
    pp_row row;
    if (pp_own_pair_coordinate(m, at, joint, &pair)) {
        return (pp_own_place){pair.value, pair.v_pre, pair.rate, true};
    }
    pp_own_coordinate(m, at, joint, &row);
    return (pp_own_place){row.value, row.v_pre, row.rate, true};
}

// Coordinates at both ends of joints with a spring or a rotor, where others have not found them.
static void set_places(book *b)
{
    const pp_step_evidence *e = b->e;
    const perp_model *m = e->model;
    b->from = e->joints->start;
    b->to = e->joints->end;
    for (int i = 0; i < m->joints; i++) {
        if (m->joint[i].stiffness > 0.0 || m->joint[i].armature > 0.0) {
            b->from[i] = b->from[i].known ? b->from[i] : place_at(m, &e->kin->poses, i);
            b->to[i] = b->to[i].known ? b->to[i] : place_at(m, e->end, i);
        }
    }
}

// Springs of joint coordinates. The coordinates count turns, for which the last ones are needed.
static void add_joint_springs(book *b)
{
    const pp_step_evidence *e = b->e;
    const perp_model *m = e->model;
    if (!e->kin->poses.turn || !e->end->turn) {
        return;
    }
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        int at = b->s->island[j->b] >= 0 ? b->s->island[j->b] : b->s->island[j->a];
        if (!(j->stiffness > 0.0) || at < 0) {
            continue;
        }
        double x = b->from[i].value - j->rest, y = b->to[i].value - j->rest;
        store(b, at, 0.5 * j->stiffness * x * x, 0.5 * j->stiffness * y * y);
    }
}

// The row of a joint's rotor, which comes before that of its spring; -1: none.
static int rotor_row(const pp_rows *rows, int joint)
{
    for (int i = 0; i < rows->nb; i++) {
        if (rows->b[i].joint == joint && rows->b[i].spring && rows->b[i].actuator < 0) {
            return i;
        }
    }
    return -1;
}

// Rotors that are geared to joint coordinates, I x'^2 / 2 [J]. A given motion works on one along the mean of its rates at
// both ends; the work of its row, added with the others, is along the rate where the row is taken.  theory (A3)
static void add_rotors(book *b)
{
    const pp_step_evidence *e = b->e;
    const perp_model *m = e->model;
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        int at = b->s->island[j->b] >= 0 ? b->s->island[j->b] : b->s->island[j->a];
        if (!(j->armature > 0.0) || at < 0) {
            continue;
        }
        pp_own_place from = b->from[i], to = b->to[i];
        double T = 0.5 * j->armature * from.v_pre * from.v_pre;
        double after = 0.5 * j->armature * to.v_pre * to.v_pre;
        b->created[at] += after - T;
        b->moved[at] += after + T;
        b->ledger.kinetic += after;
        b->before += T;
        int row = from.rate != to.rate ? rotor_row(e->rows, i) : -1;
        if (row >= 0) {
            double mean = 0.5 * (from.rate + to.rate);
            spend(b, at, -e->pb[row] * (mean - e->rows->b[row].rate));
        }
    }
}

// J nu + rate of a row with the velocities at the end of the step. Its v_pre is the same at the
// start.
static double rate_after(const pp_step_evidence *e, const pp_row *row)
{
    double after = row->rate;
    for (int k = 0; k < row->count; k++) {
        const pp_body *body = &e->model->body[row->body[k]];
        for (int i = 0; i < body->nv; i++) {
            after += row->J[k][i] * e->nu[body->at + i];
        }
    }
    return after;
}

// Work of the impulse p of a row as far as something outside does it [J]. after: J nu at the end of the step. A drive works along the
// mean rate of its coordinate; its row->rate is minus the rate it is asked for, which is taken out.
// Of any other row the prescribed motion of the other side works, against the impulse; row->shift
// is a change of geometry, not a motion.
static double outside_work(const pp_step_evidence *e, const pp_row *row, double after, double p)
{
    if (!row->drives) {
        return -p * (row->rate - row->shift);
    }
    return p * ((1.0 - e->theta) * row->v_pre + e->theta * (row->rate + after) - row->rate);
}

// A drive at its effort limit and dry friction that slides are constant forces, and lag as gravity
// does.
static void add_lag(book *b)
{
    const pp_step_evidence *e = b->e;
    for (int i = 0; i < e->rows->nm; i++) {
        const pp_row *row = &e->rows->m[i];
        int at = pp_scale_island(b->s, row);
        if (at >= 0 && row->drives) {
            double change = row->rate + e->joints->m[i].after - row->v_pre;
            b->lag[at] += (e->theta - 0.5) * e->pm[i] * change;
        }
    }
}

// A drive that changes a rate within the step works along the new rate, and (theta - 1/2) p times
// the change is lost at once, as in an impact. Counted where the drive delivers energy.
//                                                                                     theory (K13)
static double jerk_loss(const pp_step_evidence *e, const pp_row *row, double after, double p)
{
    double loss = (e->theta - 0.5) * p * (row->rate + after - row->v_pre);
    return outside_work(e, row, after, p) > 0.0 ? fmax(0.0, loss) : 0.0;
}

// known: sums of the rows; NULL: of contacts, which no drives are among.
static void add_row_work(book *b, const pp_row *row, const pp_own_sums *known, const double *p,
                         int count)
{
    for (int i = 0; i < count; i++) {
        bool drives = known && row[i].drives;
        int at = pp_scale_island(b->s, &row[i]);
        if (at < 0 || p[i] == 0.0 || (row[i].rate == 0.0 && !drives)) {
            continue;
        }
        double after = drives ? known[i].after : 0.0;
        spend(b, at, outside_work(b->e, &row[i], after, p[i]));
        b->jerked[at] += drives ? jerk_loss(b->e, &row[i], after, p[i]) : 0.0;
    }
}

// Given motions work on joints between two bodies, against the impulses of their equations.
static void add_joint_work(book *b)
{
    const pp_own_joints *joints = b->e->joints;
    for (int i = 0; i < b->e->model->joints; i++) {
        const pp_own_joint *of = &joints->of[i];
        int at = of->count > 0 ? pp_scale_joint_island(b->s, &b->e->model->joint[i]) : -1;
        for (int k = of->first; at >= 0 && k < of->first + of->count; k++) {
            const pp_own_equation *eq = &joints->equation[k];
            // Exact positions: what the equation gives to velocities that it does not allow where the step starts.
            if (b->e->exact) {
                b->lifted[at] -= eq->p * eq->bias;
            }
            if (eq->given != 0.0) {
                spend(b, at, -eq->p * eq->given);
            }
        }
    }
}

// ── What the order of the scheme may add ─────────────────────────────────────────────────────────

// A body that turns in a step leaves its tangent by up to h^2 w^2 r / 2 at the distance r, in this
// step and, seen from its end, in the step before. A gap or joint that holds to first order may be
// off by this [m].                                                                     theory (K5)
static double turned_away(const perp_model *m, const pp_frame *frame, double h, int body,
                          double arm)
{
    double turn = h * pp_length(frame[body].w);
    return m->body[body].nv > 0 ? turn * turn * arm : 0.0;
}

// Radius of the curve that a rolling shape rolls on [m]. A flat shape has a larger one than its
// reach: r^2 over half the thickness, as for an ellipsoid.
static double roll_radius(const perp_model *m, int shape)
{
    double reach = m->body[m->shape[shape].body].reach, half = 0.5 * m->shape[shape].thickness;
    return half > 0.0 && half < reach ? reach * reach / half : reach;
}

double pp_drift_contact(const perp_model *m, const pp_frame *frame, double h, int a, int b)
{
    double drift = turned_away(m, frame, h, m->shape[a].body, roll_radius(m, a)) +
                   turned_away(m, frame, h, m->shape[b].body, roll_radius(m, b));
    return fmin(drift, pp_scale_overlap(m, a, b));
}

// Of the places of a driven body and of its angles: what is no motion.
static const double ROUNDING = 1e-14;

// Rotation vector of a body in the step [rad]: of more than a radian, which two places may not show, by its velocities.
static perp_vec3 turn_of_driven(const perp_model *m, const pp_frame *from, const pp_frame *to,
                                double h)
{
    if (!m->spatial) {
        return pp_vec(0.0, 0.0, to->angle - from->angle);
    }
    if (h * (pp_length(from->w) + pp_length(to->w)) > 1.0) {
        return pp_scale(0.5 * h, pp_add(from->w, to->w));
    }
    return pp_quat_log(pp_quat_mul(to->rot, pp_quat_conjugate(from->rot)));
}

perp_twist pp_own_given_velocity(const perp_model *m, const pp_frame *from, const pp_frame *to,
                                 double h)
{
    double angles = m->spatial ? 1.0 : fabs(from->angle) + fabs(to->angle);
    double places = pp_length(from->p) + pp_length(to->p);
    perp_vec3 way = pp_sub(to->p, from->p), turn = turn_of_driven(m, from, to, h);
    return (perp_twist){pp_mean_velocity(way, h, from->v, to->v, ROUNDING * places),
                        pp_mean_velocity(turn, h, from->w, to->w, ROUNDING * angles)};
}

// Twice what the mean of the velocities of a driven body at both ends misses of its way, at the far end of the body that touches
// it: the gap that is closed comes from the step before. Laws of the theta method know no more of its way.    theory (P23)
static double driven_away(const perp_model *m, const pp_frame *from, const pp_frame *to, double h,
                          int body, int other)
{
    const pp_frame *at = &from[body], *end = &to[body];
    if (m->body[body].nv > 0) {
        return 0.0;
    }
    perp_vec3 turn = turn_of_driven(m, at, end, h);
    perp_vec3 off = pp_along(pp_sub(end->p, at->p), -0.5 * h, pp_add(at->v, end->v));
    perp_vec3 missed = pp_along(turn, -0.5 * h, pp_add(at->w, end->w));
    double arm = pp_length(pp_sub(from[other].p, at->p)) + m->body[other].reach;
    return 2.0 * (pp_length(off) + arm * pp_length(missed));
}

double pp_drift_driven(const perp_model *m, const pp_frame *from, const pp_frame *to, double h,
                       int a, int b)
{
    int body_a = m->shape[a].body, body_b = m->shape[b].body;
    double drift =
        driven_away(m, from, to, h, body_a, body_b) + driven_away(m, from, to, h, body_b, body_a);
    return fmin(drift, pp_scale_overlap(m, a, b));
}

// Of a joint with its longest arm, and its anchors from the centres of mass of its bodies.
static double drift_of(const perp_model *m, const pp_frame *frame, double h, const pp_joint *j,
                       double arm, perp_vec3 arm_a, perp_vec3 arm_b)
{
    const pp_frame *a = &frame[j->a], *b = &frame[j->b];
    perp_vec3 va = pp_add(a->v, pp_cross(a->w, arm_a)), vb = pp_add(b->v, pp_cross(b->w, arm_b));
    double speed = pp_length(pp_sub(vb, va));
    // An anchor that slides on a turning body has Coriolis' acceleration, one at a fixed distance
    // the centripetal one.
    double slide = h * h * speed * pp_length(a->w);
    double swing = 0.0;
    if (j->kind == PERP_JOINT_DISTANCE) {
        // Without a length of its own, the radius is the distance itself.
        perp_vec3 apart = pp_sub(pp_add(b->p, arm_b), pp_add(a->p, arm_a));
        double radius = isinf(j->length) ? pp_length(apart) : j->length;
        swing = radius > 0.0 ? h * h * speed * speed / radius : 0.0;
    }
    double drift = turned_away(m, frame, h, j->a, arm) + turned_away(m, frame, h, j->b, arm);
    return fmin(drift + slide + swing, PP_APART * arm);
}

double pp_drift_joint(const perp_model *m, const pp_frame *frame, double h, const pp_joint *j)
{
    return drift_of(m, frame, h, j, pp_scale_arm(m, j), pp_mul(&frame[j->a].R, j->r_A),
                    pp_mul(&frame[j->b].R, j->r_B));
}

double pp_drift_coordinate(const perp_model *m, const pp_poses *at, double h, int joint)
{
    const pp_joint *j = &m->joint[joint];
    double x[1 + PP_COUPLING_TERMS] = {at->t}, way[1 + PP_COUPLING_TERMS] = {h}, sum = 0.0;
    double unit[1 + PP_COUPLING_TERMS] = {0.0}, ahead[1 + PP_COUPLING_TERMS] = {at->t + h};
    if (j->kind != PERP_JOINT_COUPLING) {
        pp_row row;
        double drift = pp_drift_joint(m, at->body, h, j);
        pp_own_coordinate(m, at, joint, &row);
        return pp_scale_is_length(m, &row) ? drift : drift / pp_scale_arm(m, j);
    }
    if (!j->function) {
        return 0.0;  // of velocities, or of a site: it has no coordinate
    }
    // the drifts of its terms by its slopes, and what its function is off its tangent
    for (int k = 1; k <= j->terms; k++) {
        pp_row term;
        pp_own_coordinate(m, at, j->term[k - 1], &term);
        x[k] = term.value;
        way[k] = h * term.v_pre;
        ahead[k] = x[k] + way[k];
    }
    for (int k = 1; k <= j->terms; k++) {
        double slope = 0.0;
        unit[k] = 1.0;
        pp_expr_rate(j->function, x, unit, &slope);
        unit[k] = 0.0;
        sum += fabs(slope) * pp_drift_coordinate(m, at, h, j->term[k - 1]);
    }
    double tangent = 0.0, here = pp_expr_rate(j->function, x, way, &tangent);
    return sum + fabs(pp_expr_value(j->function, ahead) - here - tangent);
}

// With theta < 1 an impulse also works along part of the old velocity. Where gravity closes a
// contact again while it still opens, or friction holds a body about to turn back, up to
// (1 - theta)/4 p_ext M^-1 p_ext of energy may appear [J].                                theory (K5)
double pp_drift_forces(const perp_model *m, const pp_kinematics *kin, double theta, int i)
{
    const pp_body *body = &m->body[i];
    double p[PP_BODY_NV] = {0.0};
    if (body->nv == 0 || theta == 1.0) {
        return 0.0;
    }
    for (int k = 0; k < body->nv; k++) {
        p[body->axis[k]] = kin->loads.p_ext[body->at + k];
    }
    perp_vec3 f = {p[0], p[1], p[2]},
              tau_B = pp_mul_t(&kin->poses.body[i].R, pp_vec(p[3], p[4], p[5]));
    double square =
        pp_dot3(f, f) / body->divisor_mass + pp_dot3(tau_B, pp_mul(&body->inverse_IB, tau_B));
    return 0.25 * (1.0 - theta) * square;
}

// In joint coordinates bodies move along arcs, and the forces of the step work on the distance from
// the tangent. Returns the sum of absolute values, for the limit; adds the energy that comes of it,
// gains less losses, to *lifted [J].
static double arc_work(const pp_step_evidence *e, int i, double *lifted)
{
    const pp_body *body = &e->model->body[i];
    const pp_frame *from = &e->kin->poses.body[i], *to = &e->end->body[i];
    const double way[3] = {to->p.x - from->p.x, to->p.y - from->p.y, to->p.z - from->p.z};
    double work = 0.0;
    if (!e->along_joints) {
        return 0.0;
    }
    for (int k = 0; k < body->nv; k++) {
        if (body->axis[k] < 3) {
            double off = way[body->axis[k]] - e->kin->h * e->nu[body->at + k];
            work += fabs(e->kin->loads.p_ext[body->at + k] * off) / e->kin->h;
            *lifted -= e->kin->loads.p_ext[body->at + k] * off / e->kin->h;
        }
    }
    return work;
}

static void allow_forces(book *b)
{
    const pp_step_evidence *e = b->e;
    for (int i = 0; i < e->model->bodies; i++) {
        if (b->s->island[i] >= 0) {
            b->allowed[b->s->island[i]] += pp_drift_forces(e->model, e->kin, e->theta, i);
            b->arcs[b->s->island[i]] += arc_work(e, i, &b->lifted[b->s->island[i]]);
        }
    }
}

// What the normal of the end may have of second order: the bodies turn, and a point that slides over a round surface with
// the speed v leaves its tangent by (h v)^2 over twice the radius.                      theory (K5), (I7)
double pp_drift_contact_end(const perp_model *m, const pp_frame *start, const pp_frame *end,
                            double h, int a, int b, double speed)
{
    double drift = fmax(pp_drift_contact(m, start, h, a, b), pp_drift_contact(m, end, h, a, b));
    double thin = fmin(m->shape[a].thickness > 0.0 ? m->shape[a].thickness : HUGE_VAL,
                       m->shape[b].thickness > 0.0 ? m->shape[b].thickness : HUGE_VAL);
    double slide = isfinite(thin) ? h * speed * h * speed / (0.5 * thin) : 0.0;
    return fmin(drift + slide, pp_scale_overlap(m, a, b));
}

// Speed of b relative to a at the point of a contact where the step ends [m/s].
static double speed_at(const pp_step_evidence *e, const pp_contact *c)
{
    const pp_frame *a = &e->end->body[e->model->shape[c->a].body];
    const pp_frame *b = &e->end->body[e->model->shape[c->b].body];
    return pp_length(pp_sub(pp_own_velocity(b, c->point), pp_own_velocity(a, c->point)));
}

// The implicit step has impulses along normals and arms of its end, while gaps and joints hold at both ends: what a contact's
// rate and slip there have of second order is no motion of the gap, and works.        theory (K5), (I7)
static double turned_work(const book *b, int i)
{
    const pp_step_evidence *e = b->e;
    const pp_rows *rows = e->rows;
    const pp_contact *c = &e->gaps->contact[rows->contact[i]];
    double h = e->kin->h, drift = pp_drift_contact_end(e->model, e->kin->poses.body, e->end->body,
                                                       h, c->a, c->b, speed_at(e, c));
    double work = e->pn[i] * fmin(fmax(h * rate_after(e, &rows->n[i]), 0.0), drift) / h;
    for (int g = 0; g < rows->grouped[i]; g++) {
        const pp_friction *group = &rows->group[rows->friction[i] + g];
        for (int k = 0; k < group->size && group->kind == PP_SLIDE; k++) {
            double moved = fmin(h * fabs(rows->t[group->t + k].bias), drift);
            work += fabs(e->pt[group->t + k]) * moved / h;
        }
    }
    return work;
}

// Limits of joints: as contacts. A rope is the limit of a distance, and turns as it swings.
static void allow_limits(book *b)
{
    const pp_step_evidence *e = b->e;
    const pp_rows *rows = e->rows;
    for (int i = rows->nc; i < rows->nn; i++) {
        const pp_row *row = &rows->n[i];
        int at = pp_scale_island(b->s, row);
        if (at >= 0 && row->joint >= 0 && row->value < 0.0 && e->pn[i] > 0.0) {
            double drift = pp_drift_coordinate(e->model, &e->kin->poses, e->kin->h, row->joint);
            b->allowed[at] += e->pn[i] * fmin(-row->value, drift) / e->kin->h;
        }
    }
}

// What the turning of bodies may leave of the equations of a joint, where they hold.
static double joint_drift(const pp_step_evidence *e, int joint)
{
    const pp_joint *j = &e->model->joint[joint];
    double drift = pp_drift_joint(e->model, e->kin->poses.body, e->kin->h, j);
    if (pp_own_at_end(e)) {
        drift = fmax(drift, pp_drift_joint(e->model, e->end->body, e->kin->h, j));
    }
    return drift;
}

// Equations of a joint between two bodies.
static void allow_joint_drift(book *b, int joint)
{
    const pp_step_evidence *e = b->e;
    const pp_own_joint *of = &e->joints->of[joint];
    const pp_joint *j = &e->model->joint[joint];
    int at = of->count > 0 ? pp_scale_joint_island(b->s, j) : -1;
    if (at < 0) {
        return;
    }
    bool starts = !e->middle;  // rows act where the step starts, so that the arms are known
    double drift =
        starts ? drift_of(e->model, e->kin->poses.body, e->kin->h, j, of->arm, of->arm_a, of->arm_b)
               : joint_drift(e, joint);
    double turn = drift / of->arm, sum = 0.0;
    for (int k = of->first; k < of->first + of->count; k++) {
        const pp_own_equation *eq = &e->joints->equation[k];
        double closed = fmax(fabs(eq->value), e->kin->h * fabs(eq->bias));
        sum += fabs(eq->p) * fmin(closed, eq->length ? drift : turn);
    }
    b->closed[at] += sum / e->kin->h;
}

// An impulse works along the error of position that it closes in the step. Where the order of the
// scheme explains that error, this energy is no violation.
static void allow_drift(book *b)
{
    const pp_step_evidence *e = b->e;
    const pp_rows *rows = e->rows;
    double h = e->kin->h;
    for (int i = 0; i < rows->nc; i++) {
        const pp_contact *c = &e->gaps->contact[rows->contact[i]];
        int at = pp_scale_island(b->s, &rows->n[i]);
        // rows of the end, and overlaps that other schemes close
        if (at >= 0 && rows->n[i].middle && pp_own_at_end(e) && e->pn[i] > 0.0 &&
            !rows->n[i].bounces) {
            b->allowed[at] += turned_work(b, i);
            continue;
        }
        if (at >= 0 && c->gap < 0.0 && e->pn[i] > 0.0) {
            const pp_frame *from = e->kin->poses.body;
            double drift = pp_drift_contact(e->model, from, h, c->a, c->b) +
                           pp_drift_driven(e->model, from, e->end->body, h, c->a, c->b);
            b->allowed[at] += e->pn[i] * fmin(-c->gap, drift) / h;
        }
    }
    for (int i = 0; i < rows->nb; i++) {
        const pp_row *row = &rows->b[i];
        int at = pp_scale_island(b->s, row);
        if (at >= 0 && row->joint >= 0 && !row->spring && !row->drives) {
            const pp_joint *joint = &e->model->joint[row->joint];
            double drift = joint_drift(e, row->joint);
            drift /= pp_scale_is_length(e->model, row) ? 1.0 : pp_scale_arm(e->model, joint);
            double closed = fmax(fabs(row->value), h * fabs(row->bias));
            b->closed[at] += fabs(e->pb[i]) * fmin(closed, drift) / h;
        }
    }
    for (int i = 0; i < e->model->joints; i++) {
        allow_joint_drift(b, i);
    }
}

// Groups in which a contact or a limit carries an impulse: those of impacts are no shorter in a part.
static bool *find_met(const book *b, pp_arena *arena)
{
    const pp_step_evidence *e = b->e;
    bool *met = PP_ZEROS(arena, bool, e->model->bodies);
    if (!met) {
        return NULL;
    }
    for (int i = 0; i < e->rows->nn; i++) {
        int at = pp_scale_island(b->s, &e->rows->n[i]);
        if (at >= 0 && !(e->pn[i] == 0.0)) {
            met[at] = true;
        }
    }
    return met;
}

perp_status pp_judge_energy(perp_certificate *c, perp_energy *ledger, const pp_step_evidence *e,
                            const pp_scales *all, const perp_limits *limits, pp_arena *arena)
{
    // What one island loses does not pay for what another gains, also where they are near each other.
    pp_scales loaded;
    const pp_scales *s = &loaded;
    perp_status status = pp_scales_loaded(&loaded, e, all, arena);
    if (status < 0) {
        return status;
    }
    book b = {.e = e,
              .s = s,
              .created = PP_ZEROS(arena, double, e->model->bodies),
              .allowed = PP_ZEROS(arena, double, e->model->bodies),
              .arcs = PP_ZEROS(arena, double, e->model->bodies),
              .closed = PP_ZEROS(arena, double, e->model->bodies),
              .lifted = PP_ZEROS(arena, double, e->model->bodies),
              .jerked = PP_ZEROS(arena, double, e->model->bodies),
              .lag = PP_ZEROS(arena, double, e->model->bodies),
              .sprung = PP_ZEROS(arena, double, e->model->bodies),
              .moved = PP_ZEROS(arena, double, e->model->bodies)};
    if (!b.created || !b.allowed || !b.arcs || !b.closed || !b.lifted || !b.jerked || !b.lag ||
        !b.sprung || !b.moved) {
        return PERP_ERR_MEMORY;
    }
    set_places(&b);
    // Every account is filled before any is judged: islands gather from bodies, forces and rows.
    add_bodies(&b);
    add_forces(&b);
    add_joint_springs(&b);
    add_rotors(&b);
    add_joint_work(&b);
    int nc = e->rows->nc, limits_of_joints = e->rows->nn - nc;
    add_row_work(&b, e->rows->b, e->joints->b, e->pb, e->rows->nb);
    add_row_work(&b, e->rows->m, e->joints->m, e->pm, e->rows->nm);
    add_lag(&b);
    add_row_work(&b, e->rows->n, NULL, e->pn, nc);
    add_row_work(&b, e->rows->n + nc, e->joints->limit, e->pn + nc, limits_of_joints);
    add_row_work(&b, e->rows->t, NULL, e->pt, e->rows->nt);
    allow_forces(&b);
    allow_drift(&b);
    allow_limits(&b);
    *ledger = b.ledger;
    ledger->dissipated = b.before + ledger->work - ledger->kinetic - ledger->potential;
    if (e->stepper == PERP_STEPPER_QUASISTATIC) {
        return PERP_OK;  // without inertia there is no balance
    }
    double share = fmin(1.0, e->kin->h / fmax(e->whole, e->kin->h));  // of the step
    bool *met = find_met(&b, arena);
    if (!met) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < e->model->bodies; i++) {
        if (s->island[i] != i) {
            continue;
        }
        // The energy gained from arcs may be paid for by joints, contacts and friction, but not by
        // the losses of drives.                                                          theory (K13)
        double present = s->energy[i] + b.moved[i];
        double sprung = fmax(b.sprung[i], -share * PP_SPRUNG_MOST * present);
        double least = fmin(b.created[i], b.created[i] + b.lag[i] + sprung);
        double unpaid = fmin(least + b.jerked[i], b.lifted[i]);
        least = fmax(least, unpaid - PP_JERKS_MOST * (s->energy[i] + b.moved[i]));
        double most = PP_ARCS_MOST * (s->energy[i] + b.moved[i]);
        // With theta < 1 nothing takes back what closing joints gives.                    theory (K5)
        double joined = (e->theta < 1.0 ? most : PP_CLOSED_MOST * (s->energy[i] + b.moved[i]));
        double closed = fmin(b.closed[i], met[i] ? joined : share * joined);
        double turned = fmin(b.arcs[i], share * most) + closed;
        double created = fmax(0.0, least - b.allowed[i] - turned);
        created = isnan(b.created[i]) ? b.created[i] : created;
        double limit = s->slack * present + pp_scale_rounding_energy(s, i);
        pp_certificate_record(c, limits, PERP_JUDGED_ENERGY, created, limit);
        if (e->smooth && !met[i]) {
            pp_certificate_record(e->smooth, limits, PERP_JUDGED_ENERGY, created, limit);
        }
    }
    return PERP_OK;
}
