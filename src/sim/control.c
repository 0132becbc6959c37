// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs and actuators of a sim. At the start of a step the caller's function is asked, sources of inputs are evaluated,
// and controls follow from the inputs; all of it is held over the step.                 theory (A2)
#include "sim/step/stages.h"

#include <math.h>
#include <string.h>

// Models without inputs and actuators have none of this, and states without them keep their size.
bool pp_sim_controls_create(perp_sim *sim)
{
    const perp_model *m = sim->model;
    pp_controls *c = &sim->controls;
    size_t inputs = (size_t)m->inputs, actuators = (size_t)m->actuators;
    c->any = inputs + actuators > 0;
    if (sim->def.on_control) {
        c->applied = PP_ZEROS(sim->memory, perp_wrench, m->bodies);
        if (!c->applied) {
            return false;
        }
    }
    if (!c->any) {
        return true;
    }
    double *reals = PP_ZEROS(sim->memory, double, 4 * inputs + 4 * actuators);
    c->variable = PP_ZEROS(sim->memory, double, 1 + 2 * (size_t)m->joints);
    c->watched = PP_ZEROS(sim->memory, bool, m->joints);
    if (!reals || !c->variable || !c->watched) {
        return false;
    }
    // What is saved lies behind each other: input, taken, filter (state.c).
    c->input = reals;
    c->taken = c->input + inputs;
    c->filter = c->taken + inputs;
    c->end = c->filter + actuators;
    c->mean = c->end + actuators;
    c->impulse = c->mean + actuators;
    c->before = c->impulse + actuators;
    for (int i = 0; i < m->inputs; i++) {
        const pp_expr *source = m->input[i].source;
        int variables = source ? 2 * m->joints : 0;
        c->input[i] = m->input[i].value;
        for (int k = 0; k < variables; k++) {
            c->watched[k / 2] = c->watched[k / 2] || pp_expr_uses(source, 1 + k);
        }
    }
    c->drive =
        (pp_drive){.t = sim->now.t, .input = c->input, .filter = c->filter, .control = c->mean};
    for (int i = 0; i < m->actuators; i++) {  // filters start where their controls are
        c->filter[i] = pp_expr_value_in(m->actuator[i].control, &sim->now.t, c->input);
        c->mean[i] = c->end[i] = c->filter[i];
    }
    sim->now.drive = sim->next.drive = &c->drive;
    return true;
}

// t, and the coordinates and rates of the joints that sources use, at the start of the step.
static void find_variables(perp_sim *sim)
{
    const perp_model *m = sim->model;
    pp_controls *c = &sim->controls;
    pp_poses now = {
        .t = sim->now.t, .body = sim->frames, .turn = sim->now.turn, .drive = sim->now.drive};
    c->variable[0] = sim->now.t;
    for (int i = 0; i < m->joints; i++) {
        pp_row row;
        if (c->watched[i]) {
            pp_joint_coordinate(m, &now, i, &row);
            c->variable[1 + 2 * i] = row.value;
            c->variable[2 + 2 * i] = row.v_pre;
        }
    }
}

// Inputs and controls of the step. A source that is not finite fails the step before anything is computed with it.
static perp_status begin(perp_sim *sim, double h)
{
    const perp_model *m = sim->model;
    pp_controls *c = &sim->controls;
    c->drive.t = sim->now.t;
    find_variables(sim);
    // In their order: a source may use the inputs before its own.
    for (int i = 0; i < m->inputs; i++) {
        const pp_input *input = &m->input[i];
        if (input->source && c->taken[i] == 0.0) {
            double value = pp_expr_value_in(input->source, c->variable, c->input);
            c->input[i] = pp_clamp(value, input->lower, input->upper);
        }
        if (!isfinite(c->input[i])) {
            return pp_fail(&sim->error, PERP_ERR_NUMERIC,
                           "step at t = %.9g: input '%s': its value is not finite", sim->now.t,
                           input->name);
        }
    }
    // Filters are advanced in `end`; they become those of the sim when the step is done.
    for (int i = 0; i < m->actuators; i++) {
        c->mean[i] = pp_actuator_mean_control(m, &c->drive, i, h, &c->end[i]);
        if (!isfinite(c->mean[i])) {
            return pp_fail(&sim->error, PERP_ERR_NUMERIC,
                           "step at t = %.9g: actuator '%s': its control is not finite", sim->now.t,
                           m->actuator[i].name);
        }
    }
    return PERP_OK;
}

perp_status pp_sim_controls_begin(perp_sim *sim, double h)
{
    pp_controls *c = &sim->controls;
    if (c->any) {
        memcpy(c->before, c->input, 2 * (size_t)sim->model->inputs * sizeof *c->before);
        memset(c->impulse, 0, (size_t)sim->model->actuators * sizeof *c->impulse);
    }
    if (sim->def.on_control) {
        memcpy(c->applied, sim->applied, (size_t)sim->model->bodies * sizeof *c->applied);
        pp_sim_changes_begin(sim);
        sim->def.on_control(sim->def.user, sim, h);
    }
    return c->any ? begin(sim, h) : PERP_OK;
}

// Impulses of the rows that are actuators, of a step that was not divided.
static void add_row_impulses(pp_controls *c, const pp_row *row, const double *p, int count)
{
    for (int i = 0; i < count; i++) {
        if (row[i].actuator >= 0) {
            c->impulse[row[i].actuator] += p[i];
        }
    }
}

void pp_sim_add_actuator_impulses(perp_sim *sim)
{
    const pp_step *s = &sim->step;
    if (sim->def.stepper == PERP_STEPPER_EVENT) {
        for (int i = 0; i < sim->model->actuators; i++) {
            sim->controls.impulse[i] = sim->flown.actuator[i];
        }
    } else if (sim->model->actuators > 0 && s->solved) {
        add_row_impulses(&sim->controls, s->row.b, s->answer.pb, s->row.nb);
        add_row_impulses(&sim->controls, s->row.m, s->answer.pm, s->row.nm);
    }
}

void pp_sim_controls_end(perp_sim *sim, bool done)
{
    pp_controls *c = &sim->controls;
    size_t inputs = (size_t)sim->model->inputs, actuators = (size_t)sim->model->actuators;
    if (c->any && done) {
        memcpy(c->filter, c->end, actuators * sizeof *c->filter);
    } else if (c->any) {
        memcpy(c->input, c->before, 2 * inputs * sizeof *c->input);
    }
    if (sim->def.on_control && !done) {  // what it applied, or tried to
        memcpy(sim->applied, c->applied, (size_t)sim->model->bodies * sizeof *c->applied);
        sim->refused.i = -1;
        pp_sim_changes_undo(sim);
    }
}

// ── Looking and setting ──────────────────────────────────────────────────────────────────────────

// Handles of another model, or of none, are out of range.
static bool has_input(const perp_sim *sim, perp_input input)
{
    return sim && input.i >= 0 && input.i < sim->model->inputs;
}

double perp_sim_input(const perp_sim *sim, perp_input input)
{
    return has_input(sim, input) ? sim->controls.input[input.i] : 0.0;
}

// A value outside the range is clamped, as those of sources are; one that is not finite is refused.
perp_status perp_sim_input_set(perp_sim *sim, perp_input input, double value)
{
    if (!sim) {
        return PERP_ERR_ARGUMENT;
    }
    if (!has_input(sim, input)) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT, "input %d does not exist: the model has %d",
                       input.i, sim->model->inputs);
    }
    const pp_input *of = &sim->model->input[input.i];
    if (!isfinite(value)) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT, "input '%s': the value is not finite",
                       of->name);
    }
    sim->controls.input[input.i] = pp_clamp(value, of->lower, of->upper);
    sim->controls.taken[input.i] = 1.0;
    return PERP_OK;
}

// All of them or none: values are checked before the first is taken.
perp_status perp_sim_inputs_set(perp_sim *sim, const double *values, int count)
{
    if (!sim || (count > 0 && !values)) {
        return PERP_ERR_ARGUMENT;
    }
    if (count != sim->model->inputs) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT, "got %d values for %d inputs", count,
                       sim->model->inputs);
    }
    if (!pp_all_finite((size_t)count, values)) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT, "a value of an input is not finite");
    }
    for (int i = 0; i < count; i++) {
        const pp_input *of = &sim->model->input[i];
        sim->controls.input[i] = pp_clamp(values[i], of->lower, of->upper);
        sim->controls.taken[i] = 1.0;
    }
    return PERP_OK;
}

// The value stays until the source is evaluated at the next step; an input without a source keeps it.
void perp_sim_input_release(perp_sim *sim, perp_input input)
{
    if (has_input(sim, input)) {
        sim->controls.taken[input.i] = 0.0;
    }
}

// `limited` is read off the effort: the solvers place a saturated one at its bound to rounding.
perp_actuator_state perp_sim_actuator(const perp_sim *sim, perp_actuator actuator)
{
    perp_actuator_state out = {0};
    if (!sim || actuator.i < 0 || actuator.i >= sim->model->actuators) {
        return out;
    }
    const pp_actuator *a = &sim->model->actuator[actuator.i];
    out.control = sim->controls.mean[actuator.i];
    out.impulse = sim->controls.impulse[actuator.i];
    // of a step that has been made; the sum over its parts where it was divided
    bool made = sim->whole > 0.0;
    out.effort = made ? out.impulse / sim->whole : 0.0;
    double f = out.effort / a->gear, slack = 1e-9 * fmax(fabs(a->lower), fabs(a->upper));
    out.limited = made && isfinite(a->lower) && (f <= a->lower + slack || f >= a->upper - slack);
    return out;
}
