// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp_recording_check: every frame, and every step between two of them.
#include "record/check/check.h"
#include "scene/scene.h"

#include <math.h>
#include <string.h>

// A NaN among the recorded numbers is as bad as any number can be. Values are compared by how far
// they are over their limits, since limits differ from step to step.
void pp_check_record_worst(pp_recheck *c, perp_check_item item, double value, double limit,
                           const char *at, const char *with)
{
    perp_check_result *result = &c->check->item[item];
    limit = isnan(limit) ? 0.0 : limit;
    limit = c->set[item] > 0.0 ? c->set[item] : limit;
    value = isnan(value) ? PP_INF : value;
    // 0/0 is no violation, x/0 is one.
    double over = value > 0.0 ? value / limit : 0.0;
    over = isnan(over) ? PP_INF : over;
    if (over > result->over) {
        result->over = over;
        result->limit = limit;
        result->worst = value;
        result->t = c->now->t;
        pp_print(c->where[item], PP_WHERE_MAX, "%s%s%s", at, with[0] ? " and " : "", with);
    }
}

// ── What can be judged ───────────────────────────────────────────────────────────────────────────

// Names, units and limits of the items; none has a worst value yet.
static void prepare_items(pp_recheck *c, const perp_limits *l, char (*where)[PP_WHERE_MAX])
{
    // The names are part of the output of `perp check`, also as JSON.
    static const struct {
        const char *name, *unit;
    } items[PERP_CHECK_COUNT] = {
        [PERP_CHECK_GAP] = {"gap", "m"},
        [PERP_CHECK_PULL] = {"pull", "N s"},
        [PERP_CHECK_PUSH] = {"push from afar", "J"},
        [PERP_CHECK_CLOSE] = {"let through", "m/s"},
        [PERP_CHECK_CONE] = {"friction cone", "N s"},
        [PERP_CHECK_SLIP] = {"friction against slip", "J"},
        [PERP_CHECK_JOINT] = {"joints", "m"},
        [PERP_CHECK_RATE] = {"joint velocities", "m/s"},
        [PERP_CHECK_DRIVE] = {"drives", "N s"},
        [PERP_CHECK_MOMENTUM] = {"momentum", "N s"},
        [PERP_CHECK_MOTION] = {"motion", "m"},
        [PERP_CHECK_ENERGY] = {"energy created", "J"},
        [PERP_CHECK_CONTACT] = {"contacts as recorded", "m"},
        [PERP_CHECK_RECORD] = {"the rest as recorded", ""},
    };
    // 0: the limit is relative to the scales of each step. What is compared with the states is
    // always relative.
    const double set[PERP_CHECK_COUNT] = {
        [PERP_CHECK_GAP] = l->gap,
        [PERP_CHECK_PULL] = l->cone,
        [PERP_CHECK_PUSH] = l->complementarity,
        [PERP_CHECK_CLOSE] = l->residual,
        [PERP_CHECK_CONE] = l->cone,
        [PERP_CHECK_SLIP] = l->complementarity,
        [PERP_CHECK_JOINT] = l->joint,
        [PERP_CHECK_RATE] = l->residual,
        [PERP_CHECK_DRIVE] = l->momentum,
        [PERP_CHECK_MOMENTUM] = l->momentum,
        [PERP_CHECK_MOTION] = l->motion,
        [PERP_CHECK_ENERGY] = l->energy,
    };
    perp_check *check = c->check;
    *check = (perp_check){.passed = true};
    for (int k = 0; k < PERP_CHECK_COUNT; k++) {
        check->item[k] = (perp_check_result){.name = items[k].name, .unit = items[k].unit};
        c->set[k] = set[k];
        check->item[k].done = true;
        check->item[k].why = "";
        check->item[k].where = where[k];
    }
}

// What rates, impulses and energies of two bodies are held against. Without a model (a recording
// without its scene) there is nothing to compare with: one metre, one second, one kilogram.
double pp_check_share(const pp_recheck *c)
{
    return c->info->stepper == PERP_STEPPER_QUASISTATIC ? 1e-9 : 1.0;
}

pp_check_scale pp_check_scale_of(const pp_recheck *c, int a, int b, double impulse)
{
    // Of two bodies the lighter one, which the smaller impulse moves, and the faster island.
    //                                                                                   theory (K1)
    double slack = pp_slack_of(c->info->tolerance), mass = PP_INF, speed = 1.0, rate = slack;
    if (c->model) {
        const int of[2] = {a, b};
        speed = rate = 0.0;
        for (int k = 0; k < 2; k++) {
            int island = c->scales.island[of[k]];
            mass = island >= 0 ? fmin(mass, c->model->body[of[k]].divisor_mass) : mass;
            speed = fmax(speed, pp_scale_speed(&c->scales, island));
            rate = fmax(rate, pp_scale_rate(&c->scales, island));
        }
    }
    mass = (isfinite(mass) ? mass : 1.0) * pp_check_share(c);
    double size = fabs(impulse) + mass * speed;
    return (pp_check_scale){rate, rate * mass + slack * fabs(impulse), rate * size};
}

// An item that is left out is reported as not judged, with the reason.
static void leave_out(perp_check *check, perp_check_item item, const char *why)
{
    if (check->item[item].done) {
        check->item[item].done = false;
        check->item[item].why = why;
    }
}

// Several items, for the same reason.
static void leave_out_all(perp_check *check, const perp_check_item *item, size_t count,
                          const char *why)
{
    for (size_t k = 0; k < count; k++) {
        leave_out(check, item[k], why);
    }
}

#define LEAVE_OUT_ALL(check, items, why)                                                           \
    leave_out_all(check, items, sizeof(items) / sizeof((items)[0]), why)

// Each item is left out for the first reason that applies, which is the one that is reported.
static void leave_out_unrecorded(perp_check *check, const perp_recording_info *info,
                                 const perp_model *model)
{
    static const perp_check_item by_model[] = {
        PERP_CHECK_GAP,      PERP_CHECK_JOINT,  PERP_CHECK_DRIVE,  PERP_CHECK_RATE,
        PERP_CHECK_MOMENTUM, PERP_CHECK_ENERGY, PERP_CHECK_RECORD, PERP_CHECK_CONTACT,
    };
    static const perp_check_item by_step[] = {PERP_CHECK_DRIVE,    PERP_CHECK_RATE,
                                              PERP_CHECK_MOMENTUM, PERP_CHECK_MOTION,
                                              PERP_CHECK_ENERGY,   PERP_CHECK_CONTACT};
    static const perp_check_item by_scheme[] = {PERP_CHECK_DRIVE, PERP_CHECK_RATE,
                                                PERP_CHECK_MOTION, PERP_CHECK_CONTACT};
    if (!model) {
        LEAVE_OUT_ALL(check, by_model, "the recording contains no scene");
    }
    // In space the axes of friction and its second coefficient are in the scene only.
    if (!model && info->spatial) {
        leave_out(check, PERP_CHECK_CONE, "the recording contains no scene");
        leave_out(check, PERP_CHECK_SLIP, "the recording contains no scene");
    }
    if (info->every > 1) {
        LEAVE_OUT_ALL(check, by_step, "not every step is recorded");
    }
    if (info->stepper == PERP_STEPPER_EVENT) {
        LEAVE_OUT_ALL(check, by_scheme, "steps contain events");
    }
    if (info->stepper == PERP_STEPPER_QUASISTATIC) {
        leave_out(check, PERP_CHECK_ENERGY, "without inertia there is no kinetic energy");
    }
    int joints = model ? model->joints : 0;
    for (int i = 0; i < joints; i++) {
        // The impulse of a gear is recorded at the second joint's body b, and nowhere when that is
        // not free.
        const pp_joint *joint = &model->joint[i];
        if (joint->kind == PERP_JOINT_GEAR && model->body[joint->b].nv == 0) {
            leave_out(check, PERP_CHECK_MOMENTUM,
                      "a gear's impulse at a fixed body is not recorded");
            leave_out(check, PERP_CHECK_ENERGY, "a gear's impulse at a fixed body is not recorded");
        }
    }
}

// Recordings of the stepper event from before there were parts have sums over the impacts of a
// step, along normals that turned: no law holds for such sums.
static void leave_out_sums(perp_check *check, const perp_recording *r)
{
    static const perp_check_item sums[] = {PERP_CHECK_MOMENTUM, PERP_CHECK_CONE, PERP_CHECK_PUSH,
                                           PERP_CHECK_CLOSE, PERP_CHECK_SLIP};
    if (r->info.stepper == PERP_STEPPER_EVENT && r->table[PP_FRAMES].column[PP_COL_PART_END] < 0) {
        LEAVE_OUT_ALL(check, sums, "impacts within the steps are not recorded one by one");
    }
}

// ── The frames ───────────────────────────────────────────────────────────────────────────────────

// The rotation halfway between two unit quaternions: along their sum, once both have the same sign.
static void halve_turn(const double *from, const double *to, double *half)
{
    double side = 0.0, norm = 0.0;
    for (int k = 0; k < 4; k++) {
        side += from[k] * to[k];
    }
    for (int k = 0; k < 4; k++) {
        half[k] = from[k] + (side < 0.0 ? -to[k] : to[k]);
        norm += half[k] * half[k];
    }
    for (int k = 0; k < 4; k++) {
        half[k] /= sqrt(norm);
    }
}

// Frames where joints act, c->acting: the start of the step, its middle with the theta method, its end with the implicit one.
//                                                                                       theory (S9)
static bool place_joints(pp_recheck *c, const pp_state *start)
{
    const perp_model *m = c->model;
    c->acting = c->before;
    if (pp_check_at_end(c)) {
        c->acting = c->after;
        return true;
    }
    if (c->info->stepper != PERP_STEPPER_MOREAU_JEAN || (m->joints == 0 && !m->spatial)) {
        return true;
    }
    pp_state middle = {.q = PP_ARRAY(c->arena, double, m->nq),
                       .nu = PP_ARRAY(c->arena, double, m->nv)};
    c->acting = PP_ARRAY(c->arena, pp_frame, m->bodies);
    if (!middle.q || !middle.nu || !c->acting) {
        return false;
    }
    // half of the way, and half of the turn of each body
    middle.t = start->t + 0.5 * c->h;
    memcpy(middle.nu, start->nu, (size_t)m->nv * sizeof *middle.nu);
    for (int i = 0; i < m->nq; i++) {
        middle.q[i] = 0.5 * (start->q[i] + c->now->q[i]);
    }
    for (int b = 0; b < m->bodies; b++) {
        if (m->body[b].kind == PERP_BODY_SPATIAL && m->body[b].nv > 0) {
            halve_turn(start->q + m->body[b].at_q + 3, c->now->q + m->body[b].at_q + 3,
                       middle.q + m->body[b].at_q + 3);
        }
    }
    pp_frames(m, &middle, c->acting);
    return true;
}

// Velocities with which bodies come to contacts: the ones that restitution reverses. In joint
// coordinates they are those of the step before, where it started.                      theory (J7)
static perp_status find_coming(pp_recheck *c)
{
    bool bounces = false;
    c->coming = c->before;
    c->carried = NULL;
    for (int i = 0; i < c->now->contacts; i++) {
        bounces = bounces || c->now->contact[i].restitution != 0.0;
    }
    if (bounces && pp_check_at_end(c)) {  // where the step ends, with the velocities of its start
        pp_frame *carried = PP_ARRAY(c->arena, pp_frame, c->model->bodies);
        if (!carried) {
            return PERP_ERR_MEMORY;
        }
        for (int i = 0; i < c->model->bodies; i++) {
            carried[i] = c->after[i];
            carried[i].v = c->before[i].v;
            carried[i].w = c->before[i].w;
        }
        c->coming = c->carried = carried;
        return PERP_OK;
    }
    if (!bounces || c->info->coordinates != PERP_COORDINATES_JOINT ||
        c->info->stepper == PERP_STEPPER_EVENT) {
        return PERP_OK;
    }
    pp_tree *tree = PP_ARRAY(c->arena, pp_tree, 1);
    perp_status status =
        tree ? pp_tree_create(tree, c->model, NULL, 0, c->arena, NULL) : PERP_ERR_MEMORY;
    if (status < 0) {
        return status;
    }
    c->coming = pp_tree_bodies_at(tree, c->t0, c->before, c->turn0, c->arena);
    return c->coming ? PERP_OK : PERP_ERR_MEMORY;
}

// Speeds and energies that errors are held against, island by island: bodies that contacts, joints
// or gears tie together.                                                                theory (K1)
static perp_status set_check_scales(pp_recheck *c)
{
    const perp_model *m = c->model;
    perp_status status = pp_scales_start(&c->scales, m, c->arena);
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < c->now->contacts; i++) {
        const perp_contact *k = &c->now->contact[i];
        pp_scales_tie(&c->scales, m->shape[k->a.i].body, m->shape[k->b.i].body);
    }
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        pp_scales_tie(&c->scales, j->a, j->b);
        for (int k = 0; k < j->terms; k++) {
            const pp_joint *of = &m->joint[j->term[k]];
            pp_scales_tie(&c->scales, j->b, of->a);
            pp_scales_tie(&c->scales, j->b, of->b);
        }
        if (j->kind == PERP_JOINT_GEAR) {
            pp_scales_tie(&c->scales, m->joint[j->joint_a].b, m->joint[j->joint_b].b);
        }
    }
    // Surface speeds count after the islands are known.
    pp_scales_finish(&c->scales, &c->kin, c->after, pp_slack_of(c->info->tolerance));
    for (int i = 0; i < c->now->contacts; i++) {
        pp_check_add_surface(c, &c->now->contact[i]);
    }
    return PERP_OK;
}

static const double FITS = 1e-7;  // of what the certificate allows: nothing to work off

// Whether shapes overlap, or joints are open, where the step starts.
static perp_status find_faults(const pp_recheck *c, bool *unfit)
{
    const perp_model *m = c->model;
    pp_poses start = {.t = c->t0, .body = c->before, .turn = c->turn0};
    pp_gaps gaps = {0};
    *unfit = false;
    perp_status status = pp_gaps_run(&gaps, m, &start, (pp_gap_search){0}, c->arena);
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < gaps.count; i++) {
        const pp_contact *k = &gaps.contact[i];
        *unfit = *unfit || -k->gap > FITS * pp_scale_overlap(m, k->a, k->b);
    }
    for (int i = 0; i < m->joints; i++) {
        double limit, error = pp_judge_joint(m, &start, i, &limit);
        *unfit = *unfit || error > FITS * limit;
    }
    return PERP_OK;
}

// Frames, masses, forces and scales of the step, from the model and the two recorded states.
static perp_status prepare_step(pp_recheck *c)
{
    pp_state state = {.t = c->now->t,
                      .q = (double *)(uintptr_t)c->now->q,  // read only
                      .nu = (double *)(uintptr_t)c->now->nu};
    c->before = PP_ARRAY(c->arena, pp_frame, c->model->bodies);
    c->after = PP_ARRAY(c->arena, pp_frame, c->model->bodies);
    if (!c->before || !c->after) {
        return PERP_ERR_MEMORY;
    }
    pp_frames(c->model, &state, c->after);
    state =
        (pp_state){.t = c->t0, .q = (double *)(uintptr_t)c->q0, .nu = (double *)(uintptr_t)c->nu0};
    pp_frames(c->model, &state, c->before);
    if (c->unfit) {
        perp_status status = find_faults(c, &c->unfit);
        if (status < 0) {
            return status;
        }
    }
    c->found = pp_check_at_end(c) ? c->after : c->before;
    c->found_t = pp_check_at_end(c) ? c->now->t : c->t0;
    state.turn = (double *)(uintptr_t)c->turn0;
    state.drive = &c->drive;
    bool theta = c->info->stepper == PERP_STEPPER_MOREAU_JEAN;
    bool event = c->info->stepper == PERP_STEPPER_EVENT;  // scales are those of the whole step
    // The theta method has the gyroscopic torque in its masses at both ends.            theory (S9)
    perp_status status =
        pp_kinematics_run(&c->kin, c->model, &state, event ? c->whole : c->h,
                          theta ? PP_GYRO_NONE : c->info->gyroscopic, c->applied, c->arena);
    if (status < 0) {
        return status;
    }
    status = set_check_scales(c);
    if (status < 0) {
        return status;
    }
    status = find_coming(c);
    if (status < 0) {
        return status;
    }
    return place_joints(c, &state) ? PERP_OK : PERP_ERR_MEMORY;
}

// What can be judged with the model of the scene only.
static perp_status judge_with_model(pp_recheck *c, bool divided)
{
    perp_status status = prepare_step(c);
    if (status < 0) {
        return status;
    }
    status = pp_check_places(c);
    if (status >= 0 && !divided) {
        status = pp_check_path(c);
    }
    if (status < 0 || divided) {
        return status;
    }
    pp_check_recorded(c);
    if (c->check->item[PERP_CHECK_DRIVE].done) {
        return pp_check_balance(c);
    }
    if (c->info->stepper == PERP_STEPPER_EVENT && c->info->every == 1) {
        return pp_check_event(c);
    }
    return PERP_OK;
}

// One step, or one part of a step, with what the recording holds of it. c->now is its end; t0, q0
// and nu0 are its start.
static perp_status judge_frame(pp_recheck *c)
{
    double *turn = PP_ARRAY(c->arena, double, c->info->joints);
    c->nu = c->now->nu;
    if (!turn) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < c->info->joints; i++) {
        turn[i] = c->now->joint[i].coordinate;
    }
    c->turn = turn;
    bool divided = c->now->parts > 1;  // the impulses are sums of steps that are not there
    c->check->divided += divided && !c->now->placed;
    divided = divided || c->now->placed;  // nor is the state where this one starts
    if (c->model) {
        perp_status status = judge_with_model(c, divided);
        if (status < 0) {
            return status;
        }
    }
    if (divided) {
        return PERP_OK;
    }
    perp_status status = PERP_OK;
    if (c->check->item[PERP_CHECK_MOTION].done) {
        status = pp_check_motion(c);
    }
    pp_check_contacts(c);
    return status;
}

// Inputs as the frame has them, and the controls that follow: filters start where the frame before left them.
static void take_drive(pp_recheck *c)
{
    const perp_recording_info *info = c->info;
    memcpy(c->input, c->now->input, (size_t)info->inputs * sizeof *c->input);
    c->drive =
        (pp_drive){.t = c->t0, .input = c->input, .filter = c->filter, .control = c->control};
    int actuators = c->model ? c->model->actuators : 0;
    for (int i = 0; i < actuators; i++) {
        double end;
        c->control[i] = pp_actuator_mean_control(c->model, &c->drive, i, c->h, &end);
    }
}

// Lengths of the steps between two frames [s]. All have the length h of the run but the last one,
// which ends where the run was asked to end. Times are sums, so that a difference that is h but for
// rounding is taken for h itself.
static void take_step(pp_recheck *c, bool at_end)
{
    // As doubles: numbers of a broken file may be any.
    double h = c->info->h, t = c->now->t, steps = (double)c->now->step - (double)c->step0;
    c->at_end = at_end;
    c->part = -1;
    c->h = t - c->t0;
    // Without a fixed step nothing is known about the steps in between.
    c->last = h > 0.0 && steps > 1.0 ? c->h - (steps - 1.0) * h : c->h;
    if (fabs(c->last - h) < 1e-9 * h + 1e-12 * fabs(t)) {
        c->last = h;
        c->h = steps > 1.0 ? c->h : h;
    }
    // what a longer step left open is closed over as long, theory (P22)
    bool event = c->info->stepper == PERP_STEPPER_EVENT;
    c->whole = event ? c->h : fmax(c->h, c->window);
    // without the length of steps that of one from a state that was set is unknown: the next one is judged by its own
    bool unknown = c->now->placed && !(h > 0.0);
    c->window = unknown ? 0.0 : fmax(c->window - c->last, c->last);
    c->applied = c->now->applied;
    take_drive(c);
}

// The frame that was judged is where the next step starts.
static void store_step_start(pp_recheck *c, const perp_snapshot *frame, double *state)
{
    size_t nv = (size_t)c->info->nv, nq = (size_t)c->info->nq;
    c->t0 = frame->t;
    c->step0 = frame->step;
    c->energy0 = frame->energy;
    memcpy(state, frame->q, nq * sizeof *state);
    memcpy(state + nq, frame->nu, nv * sizeof *state);
    for (int i = 0; i < c->info->joints; i++) {
        state[nq + nv + (size_t)i] = frame->joint[i].coordinate;
    }
}

// Sums over the contacts of a step, which those of its parts must add up to: impulses [N s] and
// energies [J]; size: the sum of the sizes of all impulses.
typedef struct totals {
    double pn, work, dissipated, size;
    perp_vec3 pf;
} totals;

static void add_totals(totals *sum, const perp_snapshot *frame, bool closing)
{
    // multipliers of a closing are no impulses
    int contacts = closing ? 0 : frame->contacts;
    for (int i = 0; i < contacts; i++) {
        sum->pn += frame->contact[i].pn;
        // World axes: normals and tangents may turn from part to part.
        sum->pf = pp_add(sum->pf, frame->contact[i].pf_W);
        sum->size += fabs(frame->contact[i].pn) + pp_length(frame->contact[i].pf_W);
    }
    sum->work += frame->energy.work;
    sum->dissipated += frame->energy.dissipated;
}

// A frame after its parts: its state is where the last part ended, bit for bit, and its impulses
// and energies are the sums of theirs to a part in 1e9.
static void compare_totals(pp_recheck *c, const totals *parts, const double *state)
{
    const perp_snapshot *now = c->now;
    size_t nv = (size_t)c->info->nv, nq = (size_t)c->info->nq;
    totals whole = {0};
    add_totals(&whole, now, false);
    // Rounding of what the bodies have, and 1e-300: nothing at all, compared with nothing.
    double size = parts->size + whole.size + 1e-300, energy = fabs(parts->work) + 1e-300;
    int bodies = c->model ? c->model->bodies : 0;
    for (int b = 0; b < bodies; b++) {
        if (c->model->body[b].nv > 0) {
            size += 1e-6 * c->model->body[b].divisor_mass * pp_length(c->after[b].v);
        }
    }
    energy += fabs(parts->dissipated) + fabs(now->energy.kinetic) + fabs(c->energy0.kinetic);
    double off = fabs(whole.pn - parts->pn) / size;
    off = fmax(off, pp_length(pp_sub(whole.pf, parts->pf)) / size);
    off = fmax(off, fabs(whole.work - parts->work) / energy);
    off = fmax(off, fabs(whole.dissipated - parts->dissipated) / energy);
    bool same = now->t == c->t0 && memcmp(now->q, state, nq * sizeof *state) == 0 &&
                memcmp(now->nu, state + nq, nv * sizeof *state) == 0;
    pp_check_record_worst(c, PERP_CHECK_RECORD, same ? off : PP_INF, 1e-9, "the parts of the step",
                          "");
}

// The arena is that of one step: nothing in it is used later.
static perp_status check_frame(pp_recheck *c, int frame, perp_error *error)
{
    pp_arena_reset(c->arena);
    perp_status status = judge_frame(c);
    if (status < 0) {
        return pp_fail(error, status, "frame %d: %s", frame, perp_status_text(status));
    }
    return PERP_OK;
}

// Exact positions of the theta method, and of linear steps without joints, are closed after each step.       theory (I9)
static bool closes_after(const pp_recheck *c)
{
    perp_stepper by = c->info->stepper;
    bool linear = by == PERP_STEPPER_STEWART_TRINKLE || by == PERP_STEPPER_ANITESCU_POTRA;
    bool closes = by == PERP_STEPPER_MOREAU_JEAN || (linear && c->model && c->model->joints == 0);
    return closes && c->info->positions == PERP_POSITIONS_EXACT &&
           c->info->coordinates != PERP_COORDINATES_JOINT;
}

static perp_status judge_closing(pp_recheck *c)
{
    perp_status status = prepare_step(c);
    if (status < 0) {
        return status;
    }
    // a closing has to have something to close
    bool off = c->unfit;
    if (!off && !closes_after(c)) {
        status = find_faults(c, &off);
        if (status < 0) {
            return status;
        }
        if (!off) {
            pp_check_record_worst(c, PERP_CHECK_MOTION, PP_INF, 1.0, "a closing", "");
        }
    }
    status = pp_check_places(c);
    return status < 0 ? status : pp_check_closing(c);
}

// A closing is judged by its places, its way and its multipliers. It takes no time: as a way it is a step of 1 s.
static perp_status check_closing(pp_recheck *c, int frame, perp_error *error)
{
    pp_arena_reset(c->arena);
    double *turn = PP_ARRAY(c->arena, double, c->info->joints);
    if (c->info->joints > 0 && !turn) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory to check the recording");
    }
    for (int i = 0; i < c->info->joints; i++) {
        turn[i] = c->now->joint[i].coordinate;
    }
    c->turn = turn;
    c->nu = c->now->nu;
    c->h = c->last = 1.0;
    // without the model there are no masses
    perp_status status = c->model ? judge_closing(c) : PERP_OK;
    if (status < 0) {
        return pp_fail(error, status, "frame %d: %s", frame, perp_status_text(status));
    }
    return PERP_OK;
}

// Each part of a divided step is a step of the scheme, and judged like one: it starts where the
// part before ended.
static perp_status judge_parts(pp_recheck *c, perp_recording *r, int k, double *state,
                               perp_error *error)
{
    perp_snapshot *frame = &c->frame_read, *part = &c->part_read;
    totals sum = {0};
    double whole = c->whole, step = c->h, length = step;
    for (int i = 0; i < frame->kept; i++) {
        perp_status status = perp_recording_read_part(r, k, i, part, error);
        if (status < 0) {
            return status;
        }
        c->now = part;
        c->part = i;
        c->h = c->last = part->h;
        c->whole = whole;
        bool closing = part->part == PERP_PART_CLOSE;
        // until a start as given fits, each closing takes back a part of what it is off by, as it does of overlaps that
        // have grown
        bool partly = c->unfit || !closes_after(c);
        c->share = partly ? fmin(1.0, length / step) : 0.0;
        c->closed = !partly && (closing || i + 1 == frame->kept);
        length = closing ? length : part->h;
        status = closing ? check_closing(c, k, error) : check_frame(c, k, error);
        if (status < 0) {
            return status;
        }
        add_totals(&sum, part, closing);
        store_step_start(c, part, state);
    }
    // Bodies, joints and contacts of the last part took the place of the frame's in the recording.
    perp_status status = perp_recording_read(r, k, frame, error);
    if (status < 0) {
        return status;
    }
    c->now = frame;
    compare_totals(c, &sum, state);
    return PERP_OK;
}

// The model as the sim had it in the step. Without a scene nothing is judged that depends on it.
static perp_status take_changes(pp_recheck *c, const perp_recording *r, perp_error *error)
{
    uint64_t hash =
        r->changes > 0 ? pp_hash(1, r->change, (size_t)r->changes * sizeof *r->change) : 0;
    c->changed = hash != c->changes;
    c->changes = hash;
    if (!c->scene || !c->changed) {
        return PERP_OK;
    }
    for (int i = 0; i < r->changes; i++) {
        if (pp_model_check_change(c->scene, &r->change[i], NULL) < 0) {
            return pp_load_fail(r, error, "changes", "has a value that the model cannot have");
        }
    }
    if (!c->own) {
        c->own = pp_model_own(c->scene, r->arena);
    }
    if (!c->own) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory to check the recording");
    }
    pp_model_apply_changes(c->own, c->scene, r->change, r->changes);
    c->model = c->own;
    return PERP_OK;
}

// A step from a state that the program set: where it started is not recorded. It is taken to start where it ends, and
// only positions are judged.
static void start_where_it_ends(pp_recheck *c, const perp_snapshot *frame, double *state)
{
    store_step_start(c, frame, state);
    c->t0 = frame->t - (c->info->h > 0.0 ? c->info->h : 1.0);
    c->step0 = frame->step - 1;
    c->window = 0.0;
    if (c->model) {
        memset(c->gains, 0, pp_gains_size(c->model) * sizeof *c->gains);
    }
    c->check->placed++;
}

// Frame 0 is believed: it is where the first step starts.
static perp_status judge_frames(pp_recheck *c, perp_recording *r, double *state, perp_error *error)
{
    perp_snapshot *frame = &c->frame_read;
    size_t nv = (size_t)r->info.nv, nq = (size_t)r->info.nq;
    c->unfit = true;
    c->q0 = state;
    c->nu0 = state + nq;
    c->turn0 = state + nq + nv;
    perp_status status = perp_recording_read(r, 0, frame, error);
    if (status < 0) {
        return status;
    }
    for (int k = 1; k < r->info.frames; k++) {
        store_step_start(c, frame, state);
        memcpy(c->filter, frame->filter, (size_t)r->info.actuators * sizeof *c->filter);
        status = perp_recording_read(r, k, frame, error);
        if (status < 0) {
            return status;
        }
        c->now = frame;
        status = take_changes(c, r, error);
        if (status < 0) {
            return status;
        }
        if (frame->placed) {
            start_where_it_ends(c, frame, state);
        }
        take_step(c, k + 1 == r->info.frames);
        if (c->check->item[PERP_CHECK_RECORD].done && !frame->placed) {
            pp_check_recorded_actuators(c);
        }
        c->closed = closes_after(c) && !c->unfit;
        // With steps left out between frames, the parts are those of the last step only.
        bool by_parts = frame->kept > 0 && c->info->every == 1 && !frame->placed;
        status = by_parts ? judge_parts(c, r, k, state, error) : check_frame(c, k, error);
        if (status < 0) {
            return status;
        }
    }
    return PERP_OK;
}

// Where Poisson's law acted, impulses are sums of two phases, and neither of them is known: which contacts pushed in the
// second one, and what slid in it, is not shown. A violation in another step remains one.
static void leave_out_phases(perp_check *check)
{
    static const perp_check_item items[] = {PERP_CHECK_PUSH, PERP_CHECK_SLIP};
    for (size_t k = 0; k < sizeof items / sizeof *items; k++) {
        if (check->item[items[k]].over <= 1.0) {
            leave_out(check, items[k], "rebounds by Poisson's law are recorded as sums");
        }
    }
}

// partly: some item was left out, or some divided step could not be looked into.
static void write_verdict(perp_check *check)
{
    for (int k = 0; k < PERP_CHECK_COUNT; k++) {
        const perp_check_result *item = &check->item[k];
        check->passed = check->passed && (!item->done || item->over <= 1.0);
        check->partly = check->partly || !item->done || check->divided + check->placed > 0;
    }
}

// ── All of it ────────────────────────────────────────────────────────────────────────────────────

// The scene's text is parsed again, with the mesh files that the recording holds, and nothing from
// the disk.
static perp_status load_scene(perp_recording *r, perp_scene **scene, perp_error *error)
{
    perp_error why = {0};
    *scene = NULL;
    if (!r->info.scene[0]) {
        return PERP_OK;
    }
    // Files that the scene names are in the recording, or not at all.
    perp_scene_load_options reading = perp_scene_load_options_default();
    reading.max_mb = PP_INF;  // it is in memory already
    reading.given_only = true;
    perp_status status = pp_load_files(r, &reading, error);
    if (status < 0) {
        return status;
    }
    status = perp_scene_parse_with(r->info.name, r->info.scene, strlen(r->info.scene), &reading,
                                   &r->env, scene, &why);
    if (status < 0) {
        return pp_fail(error, status, "%.80s: the scene in it, line %d: %.120s", r->path, why.line,
                       why.text);
    }
    const perp_model *m = perp_scene_model(*scene);
    // A text of another scene would make nonsense of all numbers.
    if (m->nv != r->info.nv || m->nq != r->info.nq || m->spatial != r->info.spatial ||
        m->bodies != r->info.bodies || m->shapes != r->info.shapes || m->joints != r->info.joints ||
        m->inputs != r->info.inputs || m->actuators != r->info.actuators) {
        perp_scene_destroy(*scene);
        *scene = NULL;
        return pp_load_fail(r, error, "scene", "is not the scene of the recorded states");
    }
    return PERP_OK;
}

// Judges what is recorded, not how it was computed: states, impulses and the scene are all that it
// takes from the file.
perp_status perp_recording_check(perp_recording *recording, const perp_limits *limits,
                                 perp_check *check, perp_error *error)
{
    perp_recording *r = recording;
    perp_scene *scene = NULL;
    if (!r || !check) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "check: recording or result is NULL");
    }
    perp_status status = load_scene(r, &scene, error);
    if (status < 0) {
        return status;
    }
    // The recording is read only, but for the frame it holds.
    pp_recheck c = {.info = &r->info, .recording = r, .check = check};
    c.model = c.scene = scene ? perp_scene_model(scene) : NULL;
    c.arena = pp_arena_create(&r->env);
    c.where = (char(*)[PP_WHERE_MAX])PP_ZEROS(r->arena, char, PERP_CHECK_COUNT *PP_WHERE_MAX);
    // The state before the step that is judged: q, nu, and the coordinates of the joints.
    double *state = PP_ARRAY(r->arena, double,
                             (size_t)r->info.nq + (size_t)r->info.nv + (size_t)r->info.joints);
    size_t actuators = (size_t)r->info.actuators;
    c.input = PP_ZEROS(r->arena, double, (size_t)r->info.inputs + 2 * actuators + 1);
    if (c.input) {
        c.filter = c.input + r->info.inputs;
        c.control = c.filter + actuators;
    }
    if (c.model) {
        c.groups = pp_gains_groups(c.model, r->arena);
        c.gains = PP_ZEROS(r->arena, double, pp_gains_size(c.model));
    }
    bool sums = !c.model || (c.groups && c.gains);
    if (!c.arena || !c.where || !state || !c.input || !sums) {
        status = pp_fail(error, PERP_ERR_MEMORY, "not enough memory to check the recording");
    } else {
        check->divided = check->placed = 0;
        // No limits given: all are relative.
        static const perp_limits relative = {0};
        prepare_items(&c, limits ? limits : &relative, c.where);
        leave_out_unrecorded(check, &r->info, c.model);
        leave_out_sums(check, r);
        status = judge_frames(&c, r, state, error);
        if (c.phases) {
            leave_out_phases(check);
        }
        write_verdict(check);
    }
    pp_arena_destroy(c.arena);
    perp_scene_destroy(scene);
    return status;
}
