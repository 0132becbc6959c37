// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a step has to be divided, and restitution that would create energy.             theory (P16)
//
// A step knows contacts where it starts: rows can describe one impact of a body within it. Whether there were more
// shows before the solve, in the answer, or at the end:
//
//   - a contact pushes across a gap that is wider than the smaller body: on its way that one turns, or flies past;
//   - no velocity satisfies the rows, and some of them are impacts: walls on both sides of a fast body;
//   - a contact is let through, deeper than the certificate allows: schemes that see only what touches;
//   - the normal of an impact turned, from where the step started to where the implicit step has it;
//   - an open contact with restitution stopped what an impact of the same step had thrown at it;
//   - bodies that turned overlap at the end, deeper than the certificate allows, which no row had seen;
//   - the certificate finds that something went through something, parted from its joint, or gained energy.
//
// Then the step ends where the first gap closes; from a state that touches it is shortened until nothing else
// is in reach. All functions here return the length of the first part, or h where the step need not be divided.
#include "sim/step/implicit.h"
#include "sim/step/parts.h"

#include <math.h>

enum { SWEEPS = 16 };    // over all rows, to spread marks from body to body
enum { SHORTER = 8 };    // a part from a state that touches is shortened by this
enum { QUARTER = 4 };    // one that the certificate rejects, by this,
enum { JUDGED = 64 };    // down to this part of the step
enum { HALVINGS = 12 };  // of the share of restitution: to 2^-12

static const double SHORTEST = 1e-9;  // part of a step, of parts that are shortened without a gap
static const double BRIEF = 1.0 / 512.0;  // part of a step that an impact has to itself
static const double ENERGY = 1e-9;        // of the work of impacts: rounding
static const double LOADED = 1e-12;       // of the largest impulse: less exchanges no energy
static const double CLOSED = 1e-6;        // of other limits of gaps, of the implicit step
static const double HELPS = 0.7;          // part of an error that a quarter of the step may leave
// By which the normal of an impact may turn in a part, where bodies approach by a fifth of the smaller one [rad].
static const double TURNS = 0.1, FAST = 0.2;

// Contacts where the step starts.
static const pp_gaps *gaps_of_start(const perp_sim *sim)
{
    return sim->step.at_end ? &sim->step.gap_l : &sim->step.gap;
}

// Velocity of a point of a body in world axes, for velocities nu of the free bodies [m/s].
static perp_vec3 velocity_at(const perp_sim *sim, int body, perp_vec3 point, const double *nu)
{
    const pp_body *b = &sim->model->body[body];
    const pp_frame *f = &sim->step.kin.poses.body[body];
    double all[PP_BODY_NV] = {0.0};
    const perp_twist *given = sim->step.kin.given;
    if (b->nv == 0 && given) {
        return pp_add(given[body].v_W, pp_cross(given[body].w_W, pp_sub(point, f->p)));
    }
    if (b->nv == 0) {
        return pp_point_velocity(f, point);
    }
    for (int k = 0; k < b->nv; k++) {
        all[b->axis[k]] = nu[b->at + k];
    }
    return pp_add(pp_vec(all[0], all[1], all[2]),
                  pp_cross(pp_vec(all[3], all[4], all[5]), pp_sub(point, f->p)));
}

// Rate of a gap for velocities nu, negative where it closes: n points from a to b.
static double gap_rate(const perp_sim *sim, const pp_contact *c, const double *nu)
{
    perp_vec3 a = velocity_at(sim, sim->model->shape[c->a].body, c->point, nu);
    perp_vec3 b = velocity_at(sim, sim->model->shape[c->b].body, c->point, nu);
    return pp_dot3(c->n, pp_sub(b, a));
}

// Velocities without contacts and joints: nu_l + M^-1 p_ext.
static double *free_velocities(perp_sim *sim)
{
    const perp_model *m = sim->model;
    double *nu = PP_ARRAY(sim->arena, double, m->nv);
    if (nu) {
        pp_masses_solve(m, sim->step.kin.mass, sim->step.kin.loads.p_ext, nu);
        pp_axpy(m->nv, 1.0, sim->now.nu, nu);
    }
    return nu;
}

// Schemes whose rows hold for gaps at the end of the step, also of contacts that are open.
static bool has_open_rows(const perp_sim *sim)
{
    return sim->def.stepper == PERP_STEPPER_STEWART_TRINKLE ||
           sim->def.stepper == PERP_STEPPER_IMPLICIT;
}

// theta of (P11).
static double share_of_end(const perp_sim *sim)
{
    return sim->def.stepper == PERP_STEPPER_MOREAU_JEAN ? sim->def.theta : 1.0;
}

// When a gap is down to `left`, with the speed of now and what the forces add, as the scheme moves
// bodies, (P16): gap - u t - theta a t^2 = left with the closing speed u. The root is taken in the
// form 2 c / (b + sqrt(..)), which does not cancel for small a. HUGE_VAL: never, or not within h.
static double time_to_close(const perp_sim *sim, const pp_contact *c, const double *free_nu,
                            double left, double h)
{
    double u = -gap_rate(sim, c, sim->now.nu), way = c->gap - left;
    double a = share_of_end(sim) * (-gap_rate(sim, c, free_nu) - u) / h;
    double under = u * u + 4.0 * a * way;
    double divisor = under >= 0.0 ? u + sqrt(under) : 0.0;
    double t = divisor > 0.0 ? 2.0 * way / divisor : HUGE_VAL;
    return t < h ? t : HUGE_VAL;
}

// Gap that a part ends with: the contact must not act in it, and has to in the next one. Schemes
// whose rows see open contacts want it a quarter of the closing tolerance open, those that see only
// what touches want it as much closed.
static double left_open(const perp_sim *sim, const pp_contact *c)
{
    bool sees = has_open_rows(sim) ||
                (sim->def.stepper == PERP_STEPPER_ANITESCU_POTRA && c->restitution > 0.0);
    return (sees ? 0.25 : -0.25) * pp_closed_gap(sim->model);
}

// When the first open contact closes that is faster than what rests: twice what gravity does in the
// step.
static double first_impact(const perp_sim *sim, const double *free_nu, double h)
{
    const pp_gaps *gaps = gaps_of_start(sim);
    double touch = pp_closed_gap(sim->model), first = HUGE_VAL;
    double rest = 2.0 * sim->pace * sim->model->gravity_most;
    for (int i = 0; i < gaps->count; i++) {
        const pp_contact *c = &gaps->contact[i];
        if (c->gap > touch && gap_rate(sim, c, free_nu) < -rest) {
            first = fmin(first, time_to_close(sim, c, free_nu, left_open(sim, c), h));
        }
    }
    return first;
}

// The smaller of two shapes, the skin of two that have no inside; HUGE_VAL where neither has a size.
static double smaller_size(const perp_model *m, const pp_contact *c)
{
    double skin = pp_skin(m, c->a, c->b);
    if (skin > 0.0) {
        return skin;
    }
    double a = m->shape[c->a].size > 0.0 ? m->shape[c->a].size : HUGE_VAL;
    double b = m->shape[c->b].size > 0.0 ? m->shape[c->b].size : HUGE_VAL;
    return fmin(a, b);
}

// A contact that acts (pn), or bounces (pn NULL: before the solve), across a gap wider than its
// smaller body.
static bool acts_from_afar(const perp_sim *sim, const double *pn)
{
    const pp_rows *rows = &sim->step.row;
    for (int i = 0; i < rows->nc; i++) {
        const pp_row *row = &rows->n[i];
        if ((pn ? pn[i] > 0.0 : row->bounces) && row->value > pp_closed_gap(sim->model) &&
            row->value > smaller_size(sim->model, &sim->step.gap.contact[rows->contact[i]])) {
            return true;
        }
    }
    return false;
}

// Deeper than the certificate allows and by a hundredth of that deeper than it was, or deeper than half of it and by a tenth
// deeper than it was: then parts that follow have no room for what they add. Overlaps of the start are no reason.
static bool too_deep(const perp_sim *sim, const pp_contact *c, double gap, double then)
{
    double limit = sim->def.limits.gap;
    double most = limit > 0.0 ? limit : pp_scale_overlap(sim->model, c->a, c->b);
    // The implicit step closes gaps; what bounces in it has a law of rates alone, and leaves more.      theory (K14)
    bool thin = pp_skin(sim->model, c->a, c->b) > 0.0;
    most *= sim->step.at_end && sim->step.bounces && !thin ? CLOSED : 1.0;
    return (then < -most && then < gap - 0.01 * most) ||
           (then < -0.5 * most && then < gap - 0.1 * most);
}

// Whether a gap ends too deep by the velocities of the answer. Stewart and Trinkle's rows do not let that happen:
// they hold for the gap at the end of the step.
static bool lets_through(const perp_sim *sim, double h)
{
    const pp_gaps *gaps = &sim->step.gap;
    double theta = share_of_end(sim);
    if (has_open_rows(sim)) {
        return false;
    }
    for (int i = 0; i < gaps->count; i++) {
        const pp_contact *c = &gaps->contact[i];
        double rate = (1.0 - theta) * gap_rate(sim, c, sim->now.nu) +
                      theta * gap_rate(sim, c, sim->step.answer.nu);
        if (too_deep(sim, c, c->gap, c->gap + h * rate)) {
            return true;
        }
    }
    return false;
}

static bool any_bounces(const pp_rows *rows)
{
    for (int i = 0; i < rows->nn; i++) {
        if (rows->n[i].bounces) {
            return true;
        }
    }
    return false;
}

// Marks the bodies of a row when one of them is marked, or `first` says so; true when a new one
// was.
static bool mark(const pp_row *row, bool first, bool *hit)
{
    bool news = false, marked = first;
    for (int k = 0; k < row->count; k++) {
        marked = marked || hit[row->body[k]];
    }
    if (!marked) {
        return false;
    }
    for (int k = 0; k < row->count; k++) {
        news = news || !hit[row->body[k]];
        hit[row->body[k]] = true;
    }
    return news;
}

// Bodies that impacts of the step act on, at once or through contacts and joints: marks spread
// along the rows that carry an impulse, until nothing is new. Chains longer than SWEEPS in the
// worst order are cut off.
static void mark_hit(const pp_step *s, bool *hit)
{
    const pp_rows *rows = &s->row;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        bool news = false;
        for (int i = 0; i < rows->nn; i++) {
            news = (s->answer.pn[i] > 0.0 && mark(&rows->n[i], rows->n[i].bounces, hit)) || news;
        }
        for (int i = 0; i < rows->nb; i++) {
            news = mark(&rows->b[i], false, hit) || news;
        }
        if (!news) {
            return;
        }
    }
}

// An open contact with restitution that stopped what an impact of the same step had set in motion:
// it should have bounced, and its row had not seen the speed it was met with. That speed is the
// rate after the step less what the contact's own impulse changed, p_n times its mobility.
static bool knocks_on(perp_sim *sim)
{
    const pp_step *s = &sim->step;
    const pp_rows *rows = &s->row;
    double touch = pp_closed_gap(sim->model);
    bool *hit = any_bounces(rows) ? PP_ZEROS(sim->arena, bool, sim->model->bodies) : NULL;
    if (!hit) {
        return false;
    }
    mark_hit(s, hit);
    for (int i = 0; i < rows->nn; i++) {
        const pp_row *row = &rows->n[i];
        double pn = s->answer.pn[i];
        if (row->bounces || !(row->restitution > 0.0) || row->value <= touch || !(pn > 0.0)) {
            continue;
        }
        double met = pp_row_rate(sim->model, row, s->answer.nu) -
                     pn * pp_row_mobility(sim->model, s->kin.mass, row);
        if (!(met < -row->bounce_threshold)) {
            continue;  // no faster than what rests
        }
        for (int k = 0; k < row->count; k++) {
            if (hit[row->body[k]]) {
                return true;
            }
        }
    }
    return false;
}

static bool share_body(const pp_row *a, const pp_row *b)
{
    for (int i = 0; i < a->count; i++) {
        for (int k = 0; k < b->count; k++) {
            if (a->body[i] == b->body[k]) {
                return true;
            }
        }
    }
    return false;
}

// When a body that bounces off at the start of the step closes its next gap, by what that impact
// alone would do: p is the impulse that reverses its rate, and acts on the next row through the
// masses of the bodies they share. HUGE_VAL: not in this step. A free body without restitution may
// be stopped where it is met, which is no reason to divide. The theta method gives every impact a
// brief part instead (needs_division).
static double next_impact(const perp_sim *sim, double h)
{
    const perp_model *m = sim->model;
    const pp_rows *rows = &sim->step.row;
    double touch = pp_closed_gap(sim->model), first = HUGE_VAL;
    if (sim->def.stepper == PERP_STEPPER_MOREAU_JEAN) {
        return first;
    }
    for (int i = 0; i < rows->nc; i++) {
        const pp_row *row = &rows->n[i];
        double mobility = row->bounces ? pp_row_mobility(m, sim->step.kin.mass, row) : 0.0;
        double p = mobility > 0.0 ? -(1.0 + row->restitution) * row->v_pre / mobility : 0.0;
        if (!(p > 0.0)) {
            continue;
        }
        for (int j = 0; j < rows->nc; j++) {
            const pp_row *next = &rows->n[j];
            if (j == i || next->value <= touch || !share_body(row, next) ||
                (next->restitution == 0.0 && next->count > 1)) {
                continue;
            }
            // before: rate where the step starts; coupling: J_next M^-1 J_row'
            double rate = next->v_pre + p * pp_row_coupling(m, sim->step.kin.mass, next, row);
            double t =
                rate < -next->bounce_threshold ? (next->value - 0.25 * touch) / -rate : HUGE_VAL;
            first = t < h ? fmin(first, t) : first;
        }
    }
    return first;
}

// The first part of a step that has to be divided: up to where the first gap closes; where none
// does and there are impacts, an eighth; h: it cannot be divided.
static double first_closing(perp_sim *sim, double h, bool impacts)
{
    const double *free_nu = free_velocities(sim);
    double first = free_nu ? first_impact(sim, free_nu, h) : HUGE_VAL;
    first = first < h ? first : next_impact(sim, h);
    if (first < h) {
        return first;
    }
    return impacts && h > SHORTEST * SHORTER * sim->whole ? h / SHORTER : h;
}

// Not without inertia, not where parts are exhausted, and not with the step's work used up.
static bool may_divide(const perp_sim *sim)
{
    return sim->def.stepper != PERP_STEPPER_QUASISTATIC && sim->parts.stop != PP_PARTS_NONE &&
           !pp_sim_is_worked_off(sim);
}

// The contact where the step starts that a contact of its end was; NULL: there was none.
static const pp_contact *contact_before(const perp_sim *sim, const pp_contact *c)
{
    const pp_gaps *gaps = gaps_of_start(sim);
    for (int i = 0; i < gaps->count; i++) {
        if (pp_sim_same_contact(c, &gaps->contact[i])) {
            return &gaps->contact[i];
        }
    }
    return NULL;
}

// Rows of the end have the normal that contacts have there. Bodies that are stopped by what they strike have passed around
// it by then, unless the part is brief for their size: the impact acts along another line than that in which they met.
static bool turns_impact(perp_sim *sim, double h)
{
    const pp_step *s = &sim->step;
    double rest = 2.0 * sim->pace * sim->model->gravity_most;
    if (!s->at_end) {
        return false;
    }
    for (int i = 0; i < s->row.nc; i++) {
        const pp_contact *c = &s->gap.contact[s->row.contact[i]];
        double way = h * -gap_rate(sim, c, sim->now.nu);
        if (!(s->answer.pn[i] > 0.0) || way <= h * rest ||
            way <= FAST * smaller_size(sim->model, c)) {
            continue;
        }
        const pp_contact *before = contact_before(sim, c);
        if (before && pp_length(pp_sub(before->n, c->n)) > TURNS) {
            return true;
        }
    }
    return false;
}

// As knocks_on, for schemes without rows of open contacts: an impact of the step closes a gap with
// restitution.
static bool runs_into(const perp_sim *sim, double h)
{
    const pp_gaps *gaps = &sim->step.gap;
    double theta = share_of_end(sim), touch = pp_closed_gap(sim->model);
    double rest = 2.0 * sim->pace * sim->model->gravity_most;
    if (has_open_rows(sim) || !any_bounces(&sim->step.row)) {
        return false;
    }
    for (int i = 0; i < gaps->count; i++) {
        const pp_contact *c = &gaps->contact[i];
        double before = gap_rate(sim, c, sim->now.nu),
               after = gap_rate(sim, c, sim->step.answer.nu);
        double end = c->gap + h * ((1.0 - theta) * before + theta * after);
        if (c->restitution > 0.0 && c->gap > touch && end < -touch && after < -rest) {
            return true;
        }
    }
    return false;
}

// Before the solve: what the rows show.
double pp_sim_divide_before(perp_sim *sim, double h)
{
    if (!may_divide(sim) || !any_bounces(&sim->step.row)) {
        return h;
    }
    // The theta method moves bodies with the mean of the velocities before and after an impact, so that
    // what bounces stays where it is for the part: in a step that is divided that part has to be brief.
    if (sim->def.stepper == PERP_STEPPER_MOREAU_JEAN && h > BRIEF * sim->whole && h < sim->whole) {
        double first = first_closing(sim, h, false);
        return first < h ? first : BRIEF * sim->whole;
    }
    bool divides =
        acts_from_afar(sim, NULL) || (sim->parts.stop == PP_PARTS_ALL && next_impact(sim, h) < h);
    return divides ? first_closing(sim, h, false) : h;
}

// After the solve. A failure where something bounces may be rebounds that leave no room.
double pp_sim_divide_after(perp_sim *sim, double h, perp_status solved)
{
    if (!may_divide(sim) || pp_is_final(solved)) {
        return h;
    }
    if (solved < 0) {
        return first_closing(sim, h, any_bounces(&sim->step.row));
    }
    bool afar = acts_from_afar(sim, sim->step.answer.pn);
    bool knocks = sim->parts.stop == PP_PARTS_ALL && (knocks_on(sim) || runs_into(sim, h));
    bool turns = sim->parts.stop == PP_PARTS_ALL && turns_impact(sim, h);
    return afar || knocks || turns || lets_through(sim, h)
               ? first_closing(sim, h, knocks || turns || !afar)
               : h;
}

// Rounds of the implicit step, or for the middle of a step, that did not converge: half of it, down to 1/JUDGED. Where contacts
// change from round to round a corner meets a corner, and the normal of either leads to where the other separates: an impact that
// is brief for the way between the two sides knows its side.                                                theory (I5), (S13)
double pp_sim_divide_unsettled(perp_sim *sim, double h)
{
    double shortest = sim->step.flips ? BRIEF * BRIEF : 1.0 / JUDGED;
    bool divides = sim->step.unsettled && may_divide(sim) && h > shortest * sim->whole;
    return divides ? 0.5 * h : h;
}

// How deep two shapes overlapped where the step started: their least gap, 0 where they did not.
static double initial_overlap(const pp_gaps *gaps, const pp_contact *of)
{
    double gap = 0.0;
    for (int i = 0; i < gaps->count; i++) {
        const pp_contact *c = &gaps->contact[i];
        gap = c->a == of->a && c->b == of->b ? fmin(gap, c->gap) : gap;
    }
    return gap;
}

// Where rows hold rates, and where bodies turn, every step adds a little to overlaps and openings: those that were more than
// half of what the certificate allows where the step started, and are no less where it ends, are not taken back by rows.
static const double GROWN = 0.5;

static bool overlaps_stay(const perp_sim *sim)
{
    const pp_gaps *end = &sim->contact_cache.gaps;
    double limit = sim->def.limits.gap;
    for (int i = 0; i < end->count; i++) {
        const pp_contact *c = &end->contact[i];
        if (!(c->gap < 0.0)) {
            continue;
        }
        double most = limit > 0.0 ? limit : pp_scale_overlap(sim->model, c->a, c->b);
        double start = c->gap < -GROWN * most ? initial_overlap(gaps_of_start(sim), c) : 0.0;
        if (start < -GROWN * most && c->gap <= start) {
            return true;
        }
    }
    return false;
}

// Whether rows of a joint hold rates alone, and take nothing back of what it is off by: those of Anitescu and Potra's scheme,
// and those of limits in the theta method.
static bool holds_rates(const perp_sim *sim, int joint, double most)
{
    switch (sim->def.stepper) {
    case PERP_STEPPER_ANITESCU_POTRA:
        return true;
    case PERP_STEPPER_MOREAU_JEAN:
        return pp_joint_limit_violation(sim->model, &sim->step.end, joint) > GROWN * most;
    default:
        return false;
    }
}

// Other rows take back all of an opening in a step, so that what is there at its end is new, but of a part its share. Where rows
// hold rates an opening that has become more than half of what is allowed is closed at once: the next step may add as much.
static bool openings_stay(const perp_sim *sim)
{
    const perp_model *m = sim->model;
    const pp_poses start = {
        .t = sim->now.t, .body = sim->frames, .turn = sim->now.turn, .drive = sim->now.drive};
    bool part = sim->step.h < sim->pace;
    // or the worst joint of all is within half of its limit
    if (!(sim->info.certificate.relative[PERP_JUDGED_JOINT] > GROWN)) {
        return false;
    }
    for (int i = 0; i < m->joints; i++) {
        double own, most = sim->def.limits.joint;
        double after = pp_judge_joint(m, &sim->step.end, i, &own);
        double before = pp_judge_joint(m, &start, i, &own);
        most = most > 0.0 ? most : own;
        bool rates = holds_rates(sim, i, most);
        double first = rates ? after : before;
        if ((rates || part) && first > GROWN * most && after >= before) {
            return true;
        }
    }
    return false;
}

// Such a step is followed by a closing.                                                      theory (K8)
bool pp_sim_drifts(const perp_sim *sim)
{
    bool closed = sim->unfit || sim->step.at_end;
    return !closed && (overlaps_stay(sim) || openings_stay(sim));
}

// At the end: gaps as found there. A quarter of the length where one is too deep.
double pp_sim_divide_end(perp_sim *sim, double h)
{
    const pp_gaps *end = &sim->contact_cache.gaps;
    if (!may_divide(sim) || sim->unfit || !(h > SHORTEST * QUARTER * sim->whole)) {
        return h;
    }
    for (int i = 0; i < end->count; i++) {
        const pp_contact *c = &end->contact[i];
        // the search of the start's gaps only for those that are deep
        if (too_deep(sim, c, 0.0, c->gap) &&
            too_deep(sim, c, initial_overlap(gaps_of_start(sim), c), c->gap)) {
            return h / QUARTER;
        }
    }
    return h;
}

// Whether a free body turns by more than half a radian in the part: errors of turning are then as large as the body, and
// say nothing of those of shorter parts.
static bool whirls(const perp_sim *sim, double h)
{
    const pp_step *s = &sim->step;
    for (int i = 0; i < sim->model->bodies; i++) {
        double w = fmax(pp_length(s->kin.poses.body[i].w), pp_length(s->end.body[i].w));
        if (sim->model->body[i].nv > 0 && h * w > 0.5) {
            return true;
        }
    }
    return false;
}

// Whether the error `worst` of an attempt is worth another, shorter one: true at first, later where
// the last division left less than HELPS of the error before.
static bool helps(perp_sim *sim, double h, double worst)
{
    pp_parts_sum *p = &sim->parts;
    bool again = p->judged_at == sim->now.t && p->judged_h > h, whirl = whirls(sim, h);
    bool less = !again || whirl || worst < HELPS * p->judged;
    p->judged_at = sim->now.t;
    p->judged_h = h;
    p->judged = whirl ? HUGE_VAL : worst;
    return less;
}

// Whether a contact or a limit carries an impulse in the part.
bool pp_sim_pushes(const perp_sim *sim)
{
    const pp_step *s = &sim->step;
    return s->answer.pn && pp_norm_inf(s->row.nn, s->answer.pn) > 0.0;
}

// By the certificate. Something went through something on the way, turned by more than its two
// poses show, or parted from its joint: errors of the rows' straight motion, which fall with the
// length, as does energy that forces, arcs and closings make; a quarter of it, down to 1/JUDGED.
// Energy that an impact created: it changes the velocities that the forces of the step and the
// gyroscopic torque work along, an error of first order in h, so that the impact gets a brief part
// to itself.
double pp_sim_divide_judged(perp_sim *sim, double h)
{
    const double *over = sim->info.certificate.relative;
    // Where the rows of the step were solved, what is off is the truncation error of the scheme, which falls with h.
    bool solved = over[PERP_JUDGED_RESIDUAL] <= 1.0 && over[PERP_JUDGED_COMPLEMENTARITY] <= 1.0;
    bool joined = over[PERP_JUDGED_JOINT] <= 1.0;
    double brief = (h > BRIEF * sim->whole ? BRIEF : BRIEF * BRIEF) * sim->whole;
    double turned = fmax(over[PERP_JUDGED_MOTION], over[PERP_JUDGED_JOINT]);
    // what is deep inside a thin solid or a sheet is no contact of it any more
    turned = fmax(turned, over[PERP_JUDGED_GAP]);
    // Of the energy that a step may create, a part in which nothing pushes creates its share.
    double share = pp_sim_pushes(sim) ? 1.0 : h / sim->whole;
    turned = fmax(turned, over[PERP_JUDGED_ENERGY] / share);
    double worst = fmax(over[PERP_JUDGED_PATH], solved ? turned : 0.0);
    if (!may_divide(sim) || sim->unfit) {
        return h;
    }
    if (solved && joined && over[PERP_JUDGED_ENERGY] > 1.0 && h > brief &&
        any_bounces(&sim->step.row)) {
        return brief;
    }
    // What has passed through something is met by parts that are short enough, however little the first ones change.
    if (over[PERP_JUDGED_PATH] > 1.0 && h > SHORTEST * QUARTER * sim->whole) {
        return h / QUARTER;
    }
    // What turning loses falls with the length at first order where something strikes, and with its square elsewhere; so does
    // the way that a joint goes beyond a limit which rows see where it is reached.
    bool loses = over[PERP_JUDGED_MOTION] > 1.0 && worst == over[PERP_JUDGED_MOTION];
    bool falls = loses || worst == over[PERP_JUDGED_JOINT];
    double shortest = falls ? sim->whole / (JUDGED * JUDGED) : sim->whole / JUDGED;
    bool less = helps(sim, h, worst);
    return worst > 1.0 && (less || loses) && h > shortest ? h / QUARTER : h;
}

// ── Energy ───────────────────────────────────────────────────────────────────────────────────────

// Bodies that exchange energy in the step, by union and find: joints and drives tie them, and contacts and limits that carry
// load. Contacts that are only near do not.
typedef struct groups {
    int *up;  // bodies: one of the same group, itself at the root
    double *free,
        *now;  // roots: work along the mean with free velocities, and with those of the start [J]
    double *size_free, *size;  // roots: sizes of their terms, which rounding is measured by
    bool *creates;             // roots: more than rounding
} groups;

static int root_of(int *up, int body)
{
    while (up[body] != body) {
        up[body] = up[up[body]];
        body = up[body];
    }
    return body;
}

static void tie(int *up, const pp_row *row)
{
    for (int k = 1; k < row->count; k++) {
        up[root_of(up, row->body[k])] = root_of(up, row->body[0]);
    }
}

static bool create_groups(const perp_sim *sim, groups *g)
{
    size_t bodies = (size_t)sim->model->bodies;
    const pp_step *s = &sim->step;
    g->up = PP_ARRAY(sim->arena, int, bodies);
    g->free = PP_ZEROS(sim->arena, double, 4 * bodies);
    g->creates = PP_ZEROS(sim->arena, bool, bodies);
    if (!g->up || !g->free || !g->creates) {
        return false;
    }
    g->now = g->free + bodies;
    g->size_free = g->now + bodies;
    g->size = g->size_free + bodies;
    for (size_t i = 0; i < bodies; i++) {
        g->up[i] = (int)i;
    }
    for (int i = 0; i < s->row.nb; i++) {
        tie(g->up, &s->row.b[i]);
    }
    for (int i = 0; i < s->row.nm; i++) {
        tie(g->up, &s->row.m[i]);
    }
    // rounding of other impulses is no load
    double most = 0.0;
    for (int i = 0; i < s->row.nn; i++) {
        most = fmax(most, s->answer.pn[i]);
    }
    for (int i = 0; i < s->row.nn; i++) {
        if (s->answer.pn[i] > LOADED * most) {
            tie(g->up, &s->row.n[i]);
        }
    }
    return true;
}

// Work of the contacts' impulses along the mean of velocities `from` and those of the answer [J],
// without what pushing overlaps apart puts in, (P13), group by group. size: the size of the terms of impacts.
static void add_work(const perp_sim *sim, const double *from, groups *g, double *work, double *size)
{
    const pp_step *s = &sim->step;
    const pp_rows *rows = &s->row;
    for (int i = 0; i < rows->nn; i++) {
        const pp_row *row = &rows->n[i];
        double p = s->answer.pn[i], rate = pp_row_rate(sim->model, row, from);
        double open = row->bounces || row->value >= 0.0 ? 0.0 : fmin(row->bias, 0.0);
        if (row->count > 0) {
            int at = root_of(g->up, row->body[0]);
            work[at] += p * (0.5 * (rate + pp_row_rate(sim->model, row, s->answer.nu)) + open);
            size[at] += p * fabs(rate);
        }
    }
    for (int i = 0; i < rows->nt; i++) {
        const pp_row *row = &rows->t[i];
        double rate = pp_row_rate(sim->model, row, from);
        if (row->count > 0) {
            work[root_of(g->up, row->body[0])] +=
                s->answer.pt[i] * 0.5 * (rate + pp_row_rate(sim->model, row, s->answer.nu));
        }
    }
}

// Energy created as (P13) counts it, the smaller of two counts, by the groups that create some; 0 where it is rounding. What
// others lose does not pay for it. < 0: out of memory.
static double created(const perp_sim *sim, const double *free_nu, groups *g)
{
    double sum = 0.0;
    if (!create_groups(sim, g)) {
        return -1.0;
    }
    add_work(sim, free_nu, g, g->free, g->size_free);
    add_work(sim, sim->now.nu, g, g->now, g->size);
    for (int i = 0; i < sim->model->bodies; i++) {
        double made = g->free[i] > 0.0 ? fmin(g->free[i], g->now[i]) : 0.0;
        g->creates[i] = g->up[i] == i && made > ENERGY * g->size_free[i];
        sum += g->creates[i] ? made : 0.0;
    }
    return sum;
}

// Whether a contact belongs to a group that creates energy.
static bool is_of_creating(const perp_sim *sim, const pp_contact *c, groups *g)
{
    const int of[2] = {sim->model->shape[c->a].body, sim->model->shape[c->b].body};
    return g->creates[root_of(g->up, of[0])] || g->creates[root_of(g->up, of[1])];
}

perp_status pp_sim_step_without_restitution(perp_sim *sim)
{
    if (sim->parts.stop != PP_PARTS_NONE) {
        return PERP_OK;
    }
    for (int i = 0; i < sim->step.gap.count; i++) {
        pp_contact *c = &sim->step.gap.contact[i];
        sim->step.inelastic = sim->step.inelastic || c->restitution > 0.0;
        c->restitution = 0.0;
    }
    return PERP_OK;
}

// Multiplies the restitution of all contacts of bodies that create energy by the largest share of [0, 1] with which they
// create none, (P15).
perp_status pp_sim_limit_restitution(perp_sim *sim, const double *nu, double h)
{
    const pp_gaps *gaps = gaps_of_start(sim);
    if (sim->def.stepper == PERP_STEPPER_QUASISTATIC || !any_bounces(&sim->step.row)) {
        return PERP_OK;
    }
    const double *free_nu = free_velocities(sim);
    if (!free_nu) {
        return PERP_ERR_MEMORY;
    }
    groups at_first, now;
    double made = created(sim, free_nu, &at_first), low = 0.0, high = 1.0;
    if (!(made > 0.0)) {
        return made < 0.0 ? PERP_ERR_MEMORY : PERP_OK;
    }
    double *e = PP_ARRAY(sim->arena, double, gaps->count);
    bool *less = PP_ARRAY(sim->arena, bool, gaps->count);
    if (!e || !less) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < gaps->count; i++) {
        e[i] = gaps->contact[i].restitution;
        less[i] = is_of_creating(sim, &gaps->contact[i], &at_first);
    }
    // Bisection; the last round solves with `low`, the largest share that is known to create nothing (0 does not).
    perp_status status = PERP_OK;
    for (int k = 0; k <= HALVINGS; k++) {
        double share = k == HALVINGS ? low : 0.5 * (low + high);
        for (int i = 0; i < gaps->count; i++) {
            gaps->contact[i].restitution = less[i] ? share * e[i] : e[i];
        }
        sim->step.restitution_share = share;  // of contacts that rounds of the implicit step find
        status = pp_sim_solve_again(sim, nu, h);
        if (pp_is_final(status)) {
            return status;
        }
        if (status >= 0 && created(sim, free_nu, &now) == 0.0) {
            low = share;
        } else {
            high = share;
        }
    }
    if (status >= 0) {
        sim->info.tempered = true;
        pp_print(sim->info.remark, sizeof sim->info.remark,
                 "the given restitution would create %.3g J: it was reduced to %.4g of its value, "
                 "which creates none",
                 made, low);
    }
    return status;
}

perp_status pp_sim_solve_without_rebounds(perp_sim *sim, const double *nu, double h,
                                          perp_status failed)
{
    const pp_gaps *gaps = gaps_of_start(sim);
    if (pp_is_final(failed) || !any_bounces(&sim->step.row) || pp_sim_is_worked_off(sim)) {
        return failed;
    }
    double *e = PP_ARRAY(sim->arena, double, gaps->count);
    if (!e) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < gaps->count; i++) {
        e[i] = gaps->contact[i].restitution;
        gaps->contact[i].restitution = 0.0;
    }
    // also of contacts that rounds of the implicit step find
    double share = sim->step.restitution_share;
    sim->step.restitution_share = 0.0;
    perp_status status = pp_sim_solve_again(sim, nu, h);
    if (status >= 0) {
        sim->info.tempered = true;
        pp_print(sim->info.remark, sizeof sim->info.remark,
                 "no velocities obey the given restitution: friction locks what would rebound, "
                 "which stays");
        return status;
    }
    sim->step.restitution_share = share;
    for (int i = 0; i < gaps->count; i++) {
        gaps->contact[i].restitution = e[i];
    }
    return status;
}
