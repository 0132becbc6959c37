// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp_sim_step: the stages of a step, in order. A step is a transaction: nothing of the state changes before
// pp_sim_commit, so that a failed step leaves the sim as it was.
//
// A step that has to be divided at impacts (P16) returns from pp_sim_attempt with part < h and nothing done; parts.c
// then takes it in pieces, each of which is an attempt of its own.
#include "sim/step/parts.h"

#include <math.h>
#include <string.h>

// Frames X_WB, masses in world axes and impulses of the forces over the step, all where it starts,
// (P1). The theta method has the inertia of the end instead of a gyroscopic torque, (S9); its first
// round starts from the forces alone.
static perp_status kinematics(perp_sim *sim, double h)
{
    pp_step *s = &sim->step;
    bool middle = sim->def.stepper == PERP_STEPPER_MOREAU_JEAN;
    perp_status status =
        pp_kinematics_run(&s->kin, sim->model, &sim->now, h,
                          middle ? PP_GYRO_NONE : sim->def.gyroscopic, sim->applied, sim->arena);
    double change;
    s->kin.poses.turned = sim->model->spatial;
    if (status >= 0 && pp_sim_blame_load(sim)) {
        return PERP_ERR_NUMERIC;
    }
    if (status >=
        0) {  // of driven bodies, as contacts know them                          theory (P23)
        status = pp_sim_give_velocities(sim, h);
    }
    if (status >= 0 && middle && sim->model->spatial) {
        status = pp_sim_masses_at_end(sim, h, &change);
    }
    if (status < 0) {
        return status;
    }
    if (sim->def.stepper == PERP_STEPPER_QUASISTATIC) {
        for (int i = 0; i < sim->model->bodies; i++) {
            pp_inertia_scale(&s->kin.mass[i], PP_QUASISTATIC_MASS);
        }
    }
    return status;
}

// Velocities the step starts from: zeros without inertia, which carries no momentum over. NULL: out
// of memory.
static const double *old_velocities(perp_sim *sim)
{
    if (sim->def.stepper != PERP_STEPPER_QUASISTATIC) {
        return sim->now.nu;
    }
    return PP_ZEROS(sim->arena, double, sim->model->nv);
}

// The only place that changes the state: now and next are swapped, and applied wrenches are used
// up.
void pp_sim_commit(perp_sim *sim)
{
    pp_state old = sim->now;
    pp_sim_sensors_add(sim);
    pp_sim_step_clock_advance(sim, sim->step.h);
    sim->now = sim->next;
    sim->next = old;
    double *gains = sim->gains;
    sim->gains = sim->gains_next;
    sim->gains_next = gains;
    pp_sim_add_actuator_impulses(sim);
    memcpy(sim->frames, sim->step.end.body, (size_t)sim->model->bodies * sizeof *sim->frames);
    // contacts that the certificate found at the end are those where the next step begins
    sim->contact_cache.valid = true;
    // `pushed` is what recordings show of the step
    memcpy(sim->pushed, sim->applied, (size_t)sim->model->bodies * sizeof *sim->applied);
    memset(sim->applied, 0, (size_t)sim->model->bodies * sizeof *sim->applied);
}

// A failed step: the error says when and why; the state is untouched.
static perp_status fail_step(perp_sim *sim, double h, perp_status status)
{
    const char *remark = sim->info.remark;
    perp_status stopped = pp_sim_stopped(sim);
    status = stopped < 0 ? stopped : status;
    sim->info.status = status;
    // what is not finite ahead shows as numbers or factors that are not, or as a problem that cannot be posed; the
    // integrator of `event` finds no way on
    bool broken =
        status == PERP_ERR_NUMERIC || status == PERP_ERR_SINGULAR || status == PERP_ERR_ARGUMENT;
    bool lost = sim->def.stepper == PERP_STEPPER_EVENT && !pp_is_final(status);
    if (broken || lost) {
        pp_sim_blame_ahead(sim, h);
    }
    const char *why = remark[0] ? remark : perp_status_text(status);
    char drive[180] = "";
    if (stopped >= 0 && !pp_is_final(status)) {
        pp_sim_blame_drive(sim, drive, sizeof drive);
    }
    if (!drive[0]) {
        return pp_fail(&sim->error, status, "step at t = %.9g: %s", sim->now.t, why);
    }
    // the drive, which a user can change, comes first and is named whole; where there is little room, what the solvers
    // said is cut before one of its clauses
    int room = (int)sizeof sim->error.text - 38 - (int)strlen(drive), cut = room;
    while ((int)strlen(why) > room && cut > 0 && !strchr(":;,(", why[cut])) {
        cut--;
    }
    room = cut > 0 ? cut : room;
    return pp_fail(&sim->error, status, "step at t = %.9g: %s (%.*s)", sim->now.t, drive, room,
                   why);
}

// Adds the time since the last call to the stage that ran. One reading of the clock ends an interval and
// begins the next, so that the stages sum up to the step.
static void charge_until_now(perp_sim *sim)
{
    pp_stage_clock *c = &sim->charged;
    double now = pp_seconds();
    sim->info.seconds[c->stage] += now - c->since;
    c->since = now;
}

// A stage that goes on needs no reading, which takes as long as two hundred multiplications.
perp_stage pp_sim_charge(perp_sim *sim, perp_stage stage)
{
    perp_stage before = sim->charged.stage;
    if (stage != before) {
        charge_until_now(sim);
        sim->charged.stage = stage;
    }
    return before;
}

// Run a stage: charge its time, show the observer, leave at the first failure, keep the worst
// remark. The observer's own time is charged to no stage.
#define STAGE(NAME, call)                                                                          \
    do {                                                                                           \
        sim->charged.stage = PERP_STAGE_##NAME;                                                    \
        perp_status result = pp_stopped(&sim->env) ? PERP_ERR_STOPPED : (call);                    \
        charge_until_now(sim);                                                                     \
        if (result < 0) {                                                                          \
            return fail_step(sim, h, result);                                                      \
        }                                                                                          \
        status = result > status ? result : status;                                                \
        if (sim->def.on_stage) {                                                                   \
            sim->def.on_stage(sim->def.user, sim, PERP_STAGE_##NAME);                              \
            sim->charged.since = pp_seconds();                                                     \
        }                                                                                          \
    } while (0)

// A list of stages: what the checker counts are the branches inside STAGE.
// NOLINTNEXTLINE(readability-function-cognitive-complexity)
static perp_status attempt(perp_sim *sim, double h, double *part)
{
    pp_step *s = &sim->step;
    perp_status status = PERP_OK;
    // The arena is reset at the start and not at the end: rows, contacts and the problem of the
    // last step stay readable until the next one, also after a failure.
    pp_arena_reset(sim->arena);
    *s = (pp_step){.restitution_share = 1.0, .locked = sim->lock_all};
    sim->info = (perp_step_info){.parts = 1};
    if (sim->def.stepper == PERP_STEPPER_EVENT) {
        sim->info.status = status = pp_sim_event_step(sim, h);
        return status < 0 ? fail_step(sim, h, status) : status;
    }
    const double *nu = old_velocities(sim);
    if (sim->model->nv > 0 && !nu) {
        return fail_step(sim, h, PERP_ERR_MEMORY);
    }
    sim->charged = (pp_stage_clock){PERP_STAGE_KINEMATICS, pp_seconds()};
    // clang-format off
    STAGE(KINEMATICS, kinematics(sim, h));                       // X_WB M p_ext
    STAGE(GAP,        pp_sim_find_gaps(sim));                    // psi n
    STAGE(CONSTRAINT, pp_sim_find_rows(sim, sim->now.nu, h));    // Wb Wn Wf
    // the deadline of the solvers counts from the first attempt; parts of the step share it
    if (sim->def.max_seconds > 0.0 && sim->deadline == 0.0) {
        sim->deadline = sim->charged.since + sim->def.max_seconds;
    }
    STAGE(SOLVE,      pp_sim_solve_impacts(sim, nu, h, part));   // A b z
    if (*part < h) {
        return PERP_OK;
    }
    pp_sim_note_overlap(sim);
    STAGE(INTEGRATE,  pp_sim_integrate(sim, nu, h));             // nu q
    STAGE(CERTIFY,    pp_sim_certify(sim, nu, h, part));         // what is true
    // clang-format on
    if (*part < h) {
        return PERP_OK;
    }
    s->solved = true;
    s->drifts = pp_sim_drifts(sim);
    sim->info.status = status;
    return status;
}

// Whether the impulses break a law, or the balance of momentum.
static bool breaks_laws(const perp_certificate *c)
{
    return c->relative[PERP_JUDGED_RESIDUAL] > 1.0 ||
           c->relative[PERP_JUDGED_COMPLEMENTARITY] > 1.0 || c->relative[PERP_JUDGED_CONE] > 1.0 ||
           c->relative[PERP_JUDGED_MOMENTUM] > 1.0;
}

// A contact that is nearly locked by friction has impulses without bound for the sake of its corrections. Where its
// laws are violated the step is attempted without them; what does not pass then either is as it was.   theory (P20)
perp_status pp_sim_attempt(perp_sim *sim, double h, double *part)
{
    const double length = *part;
    perp_status status = attempt(sim, h, part);
    if (status != PERP_INEXACT || !breaks_laws(&sim->info.certificate) || !pp_sim_may_lock(sim) ||
        pp_sim_is_worked_off(sim)) {
        return status;
    }
    for (int k = 0; k < 2; k++) {
        sim->lock_all = k == 0;
        *part = length;
        status = attempt(sim, h, part);
        sim->lock_all = false;
        bool passed = status == PERP_OK && !(*part < h);
        if (passed || pp_is_final(status)) {
            break;
        }
    }
    return status;
}

// The step and its parts, with inputs that are held.
static perp_status step_with_inputs(perp_sim *sim, double h)
{
    double part = h;
    if (pp_sim_repeats(sim, h)) {
        if (pp_stopped(&sim->env)) {
            return fail_step(sim, h, PERP_ERR_STOPPED);
        }
        pp_sim_repeat(sim, h);
        return PERP_OK;
    }
    sim->repeat.stays = false;
    if (sim->accurate.twin || pp_sim_closes_after(sim)) {
        sim->info = (perp_step_info){0};
        return pp_sim_step_in_parts(sim, h, h);
    }
    perp_status status = pp_sim_attempt(sim, h, &part);
    if (status >= 0 && (part < h || sim->step.drifts)) {
        return pp_sim_step_in_parts(sim, h, part);
    }
    if (status >= 0) {
        pp_sim_commit(sim);
        pp_sim_repeat_note(sim, h);
    }
    return status;
}

// A wrench that is not finite was not added to the others.
static perp_status refuse_wrench(perp_sim *sim)
{
    const char *name = sim->model->body[sim->refused.i].name;
    sim->refused.i = -1;
    return pp_fail(&sim->error, PERP_ERR_ARGUMENT,
                   "step: body '%s': the applied force or torque is not finite and was ignored",
                   name);
}

perp_status perp_sim_step(perp_sim *sim, double h)
{
    if (!sim) {
        return PERP_ERR_ARGUMENT;
    }
    if (sim->stepping) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT,
                       "step: a step is under way; a callback may not begin another");
    }
    if (!(h > 0.0) || !isfinite(h)) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT, "step: h must be positive, got %g", h);
    }
    if (sim->refused.i >= 0) {
        return refuse_wrench(sim);
    }
    // what the last step left, and the budgets of this one, which all of its parts share
    sim->projected = sim->parts.done = false;
    sim->parts.stop = PP_PARTS_ALL;
    pp_sim_clear_parts(sim);
    sim->parts.count = 0;
    sim->parts.created = sim->parts.created_of = 0.0;
    sim->parts.judged_h = 0.0;
    sim->whole = fmax(h, sim->accurate.whole);
    sim->pace = fmax(sim->whole, sim->clock.window);
    sim->worked = 0.0;
    sim->deadline = 0.0;
    sim->error.text[0] = '\0';
    sim->stepping = true;
    uint64_t placed = sim->placed;
    pp_sim_sensors_begin(sim);
    perp_status status = pp_sim_controls_begin(sim, h);
    if (status >= 0 && sim->refused.i >= 0) {  // by the callback
        status = refuse_wrench(sim);
    }
    if (status < 0) {
        sim->info = (perp_step_info){.status = status};
    } else {
        pp_sim_stop_begin(sim);
        status = step_with_inputs(sim, h);
        if (status ==
            PERP_ERR_STOPPED) {  // also outside of the stages: by the limit of time, or by the host
            status = fail_step(sim, h, status);
        }
        pp_sim_stop_end(sim);
    }
    pp_sim_controls_end(sim, status >= 0);
    if (status >= 0) {
        pp_sim_changes_done(sim);
    }
    pp_sim_sensors_end(sim, status >= 0);
    sim->stepping = false;
    sim->placed = placed;  // attempts that are taken back restore states as a caller does
    return status;
}
