// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs of a sim: ranges, sources, callbacks, failed steps, and states saved with them.
#include "support/cmocka.h"
#include "support/hinge.h"

#include <perp/tree.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static perp_input add_input(plane *p, const char *name, double lower, double upper, double value)
{
    perp_input_def def = perp_input_default();
    def.name = name;
    def.lower = lower;
    def.upper = upper;
    def.value = value;
    return perp_builder_add_input(p->builder, &def);
}

// A slider of 1.2 kg with a motor that follows the input `drive`.
static void open_slider(hinge *s, double rate)
{
    hinge_open(s, PERP_JOINT_PRISMATIC, rate);
}

// ── Values ───────────────────────────────────────────────────────────────────────────────────────

static void inputs_are_clamped_and_held(void **state)
{
    (void)state;
    hinge s;
    open_slider(&s, 0.0);
    perp_input u = add_input(&s.p, "drive", -1.0, 2.0, 0.5);
    hinge_start(&s, PERP_STEPPER_STEWART_TRINKLE);
    assert_int_equal(perp_model_inputs(s.p.model), 1);
    assert_int_equal(perp_model_input(s.p.model, "drive").i, u.i);
    assert_int_equal(perp_model_input(s.p.model, "none").i, -1);
    assert_string_equal(perp_model_input_name(s.p.model, u), "drive");
    assert_string_equal(perp_model_input_def(s.p.model, u).name, "drive");
    assert_string_equal(perp_model_input_def(s.p.model, (perp_input){-1}).name, "");
    assert_true(perp_sim_input(s.p.sim, u) == 0.5);
    plane_step(&s.p, 0.01);
    assert_true(fabs(perp_sim_actuator(s.p.sim, s.actuator).effort - 0.5) < 1e-12);
    static const double given[] = {7.0, -7.0, 1.25}, kept[] = {2.0, -1.0, 1.25};
    for (int k = 0; k < 3; k++) {
        hinge_set(&s, given[k]);
        assert_true(perp_sim_input(s.p.sim, u) == kept[k]);
        for (int i = 0; i < 2; i++) {
            plane_step(&s.p, 0.01);
            assert_true(fabs(perp_sim_actuator(s.p.sim, s.actuator).effort - kept[k]) < 1e-12);
        }
    }
    hinge_close(&s);
}

static void bad_values_are_refused(void **state)
{
    (void)state;
    hinge s;
    open_slider(&s, 0.0);
    hinge_start(&s, PERP_STEPPER_STEWART_TRINKLE);
    perp_input u = perp_model_input(s.p.model, "drive");
    double some[2] = {1.0, NAN};
    hinge_set(&s, 0.3);
    assert_int_equal(perp_sim_input_set(s.p.sim, u, NAN), PERP_ERR_ARGUMENT);
    assert_string_equal(perp_sim_error(s.p.sim)->text, "input 'drive': the value is not finite");
    assert_int_equal(perp_sim_input_set(s.p.sim, u, INFINITY), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_input_set(s.p.sim, (perp_input){1}, 0.0), PERP_ERR_ARGUMENT);
    assert_string_equal(perp_sim_error(s.p.sim)->text, "input 1 does not exist: the model has 1");
    assert_int_equal(perp_sim_input_set(s.p.sim, (perp_input){-1}, 0.0), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_input_set(NULL, u, 0.0), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_inputs_set(s.p.sim, some, 2), PERP_ERR_ARGUMENT);
    assert_string_equal(perp_sim_error(s.p.sim)->text, "got 2 values for 1 inputs");
    assert_int_equal(perp_sim_inputs_set(s.p.sim, some + 1, 1), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_inputs_set(s.p.sim, NULL, 1), PERP_ERR_ARGUMENT);
    assert_true(perp_sim_input(s.p.sim, u) == 0.3);
    assert_int_equal(perp_sim_inputs_set(s.p.sim, some, 1), PERP_OK);
    assert_true(perp_sim_input(s.p.sim, u) == 1.0);
    assert_true(perp_sim_input(s.p.sim, (perp_input){5}) == 0.0 && perp_sim_input(NULL, u) == 0.0);
    perp_sim_input_release(s.p.sim, (perp_input){5});
    perp_sim_input_release(NULL, u);
    perp_actuator_state none = perp_sim_actuator(s.p.sim, (perp_actuator){1});
    assert_true(none.effort == 0.0 && !none.limited);
    hinge_close(&s);
}

// The tree takes the same inputs: motor effort, clamped, in B u.
static void trees_take_inputs(void **state)
{
    (void)state;
    hinge s;
    open_slider(&s, 0.0);
    add_input(&s.p, "drive", -1.0, 2.0, 0.5);
    s.actuator_def.time_constant = 0.1;
    s.actuator_def.gear = 3.0;
    hinge_start(&s, PERP_STEPPER_STEWART_TRINKLE);
    perp_tree *tree = NULL;
    double tau, value = 9.0, bad = NAN;
    assert_int_equal(perp_tree_create(s.p.model, NULL, 0, NULL, &tree, NULL), PERP_OK);
    assert_int_equal(perp_tree_forces(tree, NULL, &tau), PERP_OK);
    assert_true(fabs(tau - 1.5) < 1e-14);
    assert_int_equal(perp_tree_inputs_set(tree, &value, 1), PERP_OK);
    assert_int_equal(perp_tree_forces(tree, NULL, &tau), PERP_OK);
    assert_true(fabs(tau - 6.0) < 1e-14);
    perp_tree_filter_set(tree, s.actuator, -0.5);
    assert_int_equal(perp_tree_forces(tree, NULL, &tau), PERP_OK);
    assert_true(fabs(tau + 1.5) < 1e-14);
    perp_tree_filter_set(tree, s.actuator, NAN);
    assert_int_equal(perp_tree_forces(tree, NULL, &tau), PERP_OK);
    assert_true(fabs(tau - 6.0) < 1e-14);
    assert_int_equal(perp_tree_inputs_set(tree, &bad, 1), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_tree_inputs_set(tree, &value, 0), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_tree_inputs_set(tree, NULL, 1), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_tree_inputs_set(NULL, &value, 1), PERP_ERR_ARGUMENT);
    perp_tree_destroy(tree);
    hinge_close(&s);
}

// ── Sources ──────────────────────────────────────────────────────────────────────────────────────

// PD by hand, sampled at the start of each step from q and dq, of an input before it and of time.
static void sources_sample_the_start(void **state)
{
    (void)state;
    hinge s;
    open_slider(&s, 0.4);
    perp_input goal = add_input(&s.p, "goal", -INFINITY, INFINITY, 0.0);
    perp_input u = add_input(&s.p, "drive", -3.0, 3.0, 0.0);
    s.joint = perp_builder_add_joint(s.p.builder, &s.joint_def);
    perp_builder_set_input_source(s.p.builder, goal, "0.5*t");
    perp_builder_set_input_source(s.p.builder, u, "8*(goal - q[joint]) - 0.7*dq[joint]");
    s.actuator_def.joint = s.joint;
    s.actuator = perp_builder_add_actuator(s.p.builder, &s.actuator_def);
    plane_start(&s.p);
    double x = 0.0, v = 0.4, h = 0.01;
    for (int i = 0; i < 100; i++) {
        double f = fmin(fmax(8.0 * (0.5 * h * i - x) - 0.7 * v, -3.0), 3.0);
        v += h * f / s.inertia;
        x += h * v;
        plane_step(&s.p, h);
        assert_true(fabs(perp_sim_input(s.p.sim, u) - f) < 1e-9);
        assert_true(fabs(hinge_coordinate(&s) - x) < 1e-10);
    }
    hinge_close(&s);
}

static void set_values_replace_sources(void **state)
{
    (void)state;
    hinge s;
    open_slider(&s, 0.0);
    perp_input u = add_input(&s.p, "drive", -INFINITY, INFINITY, 0.0);
    perp_builder_set_input_source(s.p.builder, u, "1 + t");
    hinge_start(&s, PERP_STEPPER_STEWART_TRINKLE);
    plane_run(&s.p, 0.25, 2);
    assert_true(perp_sim_input(s.p.sim, u) == 1.25);
    hinge_set(&s, -4.0);
    plane_run(&s.p, 0.25, 2);
    assert_true(perp_sim_input(s.p.sim, u) == -4.0);
    perp_sim_input_release(s.p.sim, u);
    assert_true(perp_sim_input(s.p.sim, u) == -4.0);  // until the next step asks the source
    plane_step(&s.p, 0.25);
    assert_true(perp_sim_input(s.p.sim, u) == 2.0);
    hinge_close(&s);
}

// Forces and rates of joints use inputs, as `name` and as u[name].
static void forces_use_inputs(void **state)
{
    (void)state;
    hinge s;
    open_slider(&s, 0.0);
    perp_input fan = add_input(&s.p, "fan speed", -INFINITY, INFINITY, 0.0);
    perp_input push = add_input(&s.p, "push", -INFINITY, INFINITY, 0.0);
    perp_force_def force = perp_force_default();
    force.b = s.body;
    force.fx = "2*u[fan speed] + push";
    perp_builder_add_force(s.p.builder, &force);
    s.actuator_def.control = "0";
    hinge_start(&s, PERP_STEPPER_STEWART_TRINKLE);
    assert_int_equal(perp_sim_input_set(s.p.sim, fan, 1.5), PERP_OK);
    assert_int_equal(perp_sim_input_set(s.p.sim, push, -0.6), PERP_OK);
    plane_step(&s.p, 0.1);
    assert_true(fabs(hinge_rate(&s) - 0.1 * 2.4 / s.inertia) < 1e-12);
    hinge_close(&s);
}

// ── Failed steps ─────────────────────────────────────────────────────────────────────────────────

static void *saved(const perp_sim *sim, size_t *size)
{
    *size = perp_sim_state_save_size(sim);
    void *block = malloc(*size);
    assert_non_null(block);
    assert_int_equal(perp_sim_state_save(sim, block, *size), PERP_OK);
    return block;
}

// Everything that the next step depends on is as in the block.
static void unchanged(const perp_sim *sim, const void *block, size_t size)
{
    size_t now;
    void *other = saved(sim, &now);
    assert_int_equal(now, size);
    assert_memory_equal(other, block, size);
    free(other);
}

// An input that is not finite ends the step, also where an earlier one has been evaluated.
static void source_without_value(void **state)
{
    (void)state;
    hinge s;
    size_t size;
    open_slider(&s, 0.2);
    perp_input first = add_input(&s.p, "first", -INFINITY, INFINITY, 0.0);
    perp_input u = add_input(&s.p, "drive", -INFINITY, INFINITY, 0.0);
    perp_builder_set_input_source(s.p.builder, first, "t");
    perp_builder_set_input_source(s.p.builder, u, "sqrt(0.15 - t)");
    s.actuator_def.time_constant = 0.1;
    hinge_start(&s, PERP_STEPPER_STEWART_TRINKLE);
    plane_run(&s.p, 0.1, 2);
    void *block = saved(s.p.sim, &size);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(perp_sim_step(s.p.sim, 0.1), PERP_ERR_NUMERIC);
        assert_string_equal(perp_sim_error(s.p.sim)->text,
                            "step at t = 0.2: input 'drive': its value is not finite");
        assert_int_equal(perp_sim_info(s.p.sim)->status, PERP_ERR_NUMERIC);
        unchanged(s.p.sim, block, size);
    }
    hinge_set(&s, 1.0);
    plane_step(&s.p, 0.1);
    free(block);
    hinge_close(&s);
}

// A range turns infinity into its end, but not what is no number.
static void range_does_not_hide_nan(void **state)
{
    (void)state;
    hinge s;
    open_slider(&s, 0.0);
    perp_input u = add_input(&s.p, "drive", -1.0, 1.0, 0.0);
    perp_builder_set_input_source(s.p.builder, u, "sqrt(0.05 - t)");
    hinge_start(&s, PERP_STEPPER_STEWART_TRINKLE);
    plane_step(&s.p, 0.1);
    assert_int_equal(perp_sim_step(s.p.sim, 0.1), PERP_ERR_NUMERIC);
    hinge_close(&s);
}

static void control_without_value(void **state)
{
    (void)state;
    hinge s;
    size_t size;
    open_slider(&s, 0.2);
    add_input(&s.p, "drive", -INFINITY, INFINITY, 1.0);
    s.actuator_def.control = "log(drive)";
    hinge_start(&s, PERP_STEPPER_STEWART_TRINKLE);
    plane_step(&s.p, 0.1);
    hinge_set(&s, -1.0);
    void *block = saved(s.p.sim, &size);
    assert_int_equal(perp_sim_step(s.p.sim, 0.1), PERP_ERR_NUMERIC);
    assert_string_equal(perp_sim_error(s.p.sim)->text,
                        "step at t = 0.1: actuator 'drive': its control is not finite");
    unchanged(s.p.sim, block, size);
    free(block);
    hinge_close(&s);
}

// ── Callbacks ────────────────────────────────────────────────────────────────────────────────────

typedef struct controller {
    perp_input u;
    perp_body body;
    double value;
    perp_wrench push;
    int calls;
    bool steps;          // tries to begin another step
    perp_status inside;  // of that
} controller;

static void control(void *user, perp_sim *sim, double h)
{
    controller *c = user;
    c->calls++;
    assert_true(h == 0.01);
    c->inside = perp_sim_input_set(sim, c->u, c->value);
    perp_sim_body_apply(sim, c->body, c->push);
    if (c->steps) {
        c->inside = perp_sim_step(sim, h);
    }
}

static void open_controlled(hinge *s, controller *c, perp_stepper stepper)
{
    open_slider(s, 0.0);
    *c = (controller){.u = add_input(&s->p, "drive", -INFINITY, INFINITY, 0.0), .body = s->body};
    s->p.def.on_control = control;
    s->p.def.user = c;
    hinge_start(s, stepper);
}

// Once a step, before inputs are read; its wrench acts in this step, and in no other.
static void callback_controls(void **state)
{
    (void)state;
    static const perp_stepper steppers[] = {PERP_STEPPER_STEWART_TRINKLE,
                                            PERP_STEPPER_ANITESCU_POTRA, PERP_STEPPER_MOREAU_JEAN};
    for (int k = 0; k < 3; k++) {
        hinge s;
        controller c;
        double v = 0.0, h = 0.01;
        open_controlled(&s, &c, steppers[k]);
        for (int i = 0; i < 30; i++) {
            c.value = 1.0 - 0.1 * i;
            c.push.f_W.x = 0.5 * i;
            v += h * (c.value + c.push.f_W.x) / s.inertia;
            plane_step(&s.p, h);
            assert_int_equal(c.calls, i + 1);
            assert_int_equal(c.inside, PERP_OK);
            assert_true(fabs(hinge_rate(&s) - v) < 1e-12);
        }
        hinge_close(&s);
    }
}

static void callback_may_not_step(void **state)
{
    (void)state;
    hinge s;
    controller c;
    open_controlled(&s, &c, PERP_STEPPER_STEWART_TRINKLE);
    c.steps = true;
    c.value = 1.0;
    plane_step(&s.p, 0.01);
    assert_int_equal(c.inside, PERP_ERR_ARGUMENT);
    assert_int_equal(c.calls, 1);
    assert_true(fabs(perp_sim_time(s.p.sim) - 0.01) < 1e-15);
    assert_true(fabs(hinge_rate(&s) - 0.01 / s.inertia) < 1e-12);
    hinge_close(&s);
}

// What a step that is under way cannot survive: another state of its sim.
typedef struct meddler {
    const void *block;  // an earlier state
    size_t size;
    const double *q, *nu;
    int calls;
} meddler;

static void meddle(void *user, perp_sim *sim, double h)
{
    meddler *m = user;
    (void)h;
    m->calls++;
    assert_int_equal(perp_sim_state_restore(sim, m->block, m->size), PERP_ERR_ARGUMENT);
    assert_string_equal(perp_sim_error(sim)->text,
                        "restore: a step is under way; a callback may not restore a state");
    assert_int_equal(perp_sim_state_set(sim, 0.0, m->q, m->nu), PERP_ERR_ARGUMENT);
    assert_string_equal(perp_sim_error(sim)->text,
                        "state: a step is under way; a callback may not set the state");
    assert_int_equal(perp_sim_tree_state_set(sim, 0.0, m->q, m->nu), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_reset(sim, (perp_keyframe){-1}), PERP_ERR_ARGUMENT);
    perp_sim_destroy(sim);  // is ignored
}

static void callback_may_not_set_the_state(void **state)
{
    (void)state;
    static const perp_stepper steppers[] = {PERP_STEPPER_STEWART_TRINKLE,
                                            PERP_STEPPER_ANITESCU_POTRA, PERP_STEPPER_MOREAU_JEAN,
                                            PERP_STEPPER_EVENT, PERP_STEPPER_IMPLICIT};
    for (int k = 0; k < 5; k++) {
        hinge s;
        size_t size;
        double q[3], nu[3];
        meddler m = {0};
        open_slider(&s, 0.7);
        add_input(&s.p, "drive", -INFINITY, INFINITY, 1.0);
        s.p.def.on_control = meddle;
        s.p.def.user = &m;
        hinge_start(&s, steppers[k]);
        void *block = saved(s.p.sim, &size);
        m.block = block;
        m.size = size;
        assert_int_equal(perp_sim_state_get(s.p.sim, NULL, q, nu), PERP_OK);
        m.q = q;
        m.nu = nu;
        plane_run(&s.p, 0.01, 3);
        assert_int_equal(m.calls, 3);
        assert_true(fabs(perp_sim_time(s.p.sim) - 0.03) < 1e-15);
        assert_true(fabs(hinge_rate(&s) - (0.7 + 0.03 / s.inertia)) < 1e-9);
        // between steps all of this is allowed
        assert_int_equal(perp_sim_state_restore(s.p.sim, block, size), PERP_OK);
        unchanged(s.p.sim, block, size);
        free(block);
        hinge_close(&s);
    }
}

// A failed step takes back what its callback set and applied: a second attempt does not push twice.
static void failed_step_takes_callback_back(void **state)
{
    (void)state;
    hinge s;
    controller c;
    size_t size;
    open_slider(&s, 0.0);
    perp_input u = add_input(&s.p, "drive", -INFINITY, INFINITY, 0.0);
    c = (controller){.u = u, .body = s.body};
    s.p.def.on_control = control;
    s.p.def.user = &c;
    s.actuator_def.control = "log(1 + drive)";
    hinge_start(&s, PERP_STEPPER_STEWART_TRINKLE);
    perp_sim_body_apply(s.p.sim, s.body, (perp_wrench){.f_W = {0.25, 0.0, 0.0}});
    void *block = saved(s.p.sim, &size);
    c.value = -2.0;
    c.push.f_W.x = 1.0;
    assert_int_equal(perp_sim_step(s.p.sim, 0.01), PERP_ERR_NUMERIC);
    unchanged(s.p.sim, block, size);
    c.value = 0.0;
    plane_step(&s.p, 0.01);
    assert_true(fabs(hinge_rate(&s) - 0.01 * 1.25 / s.inertia) < 1e-12);
    free(block);
    hinge_close(&s);
}

// A wrench that is not finite is refused in the step that would have used it.
static void callback_with_bad_wrench(void **state)
{
    (void)state;
    hinge s;
    controller c;
    size_t size;
    open_controlled(&s, &c, PERP_STEPPER_STEWART_TRINKLE);
    c.push.f_W.x = NAN;
    void *block = saved(s.p.sim, &size);
    assert_int_equal(perp_sim_step(s.p.sim, 0.01), PERP_ERR_ARGUMENT);
    assert_string_equal(
        perp_sim_error(s.p.sim)->text,
        "step: body 'body1': the applied force or torque is not finite and was ignored");
    unchanged(s.p.sim, block, size);
    c.push.f_W.x = 0.0;
    plane_step(&s.p, 0.01);
    free(block);
    hinge_close(&s);
}

// ── Saved states ─────────────────────────────────────────────────────────────────────────────────

static void open_saved(hinge *s)
{
    open_slider(s, 0.3);
    perp_input goal = add_input(&s->p, "goal", -INFINITY, INFINITY, 0.0);
    add_input(&s->p, "drive", -2.0, 2.0, 0.0);
    s->joint = perp_builder_add_joint(s->p.builder, &s->joint_def);
    perp_builder_set_input_source(s->p.builder, goal, "sin(5*t) - q[joint]");
    s->actuator_def.joint = s->joint;
    s->actuator_def.control = "goal + drive";
    s->actuator_def.kind = PERP_ACTUATOR_POSITION;
    s->actuator_def.kp = 20.0;
    s->actuator_def.kv = 0.5;
    s->actuator_def.time_constant = 0.05;
    s->actuator_def.lower = -1.0;
    s->actuator_def.upper = 1.0;
    s->actuator = perp_builder_add_actuator(s->p.builder, &s->actuator_def);
    plane_start(&s->p);
}

static void saved_states_continue(void **state)
{
    (void)state;
    hinge s;
    size_t size;
    uint64_t first[30];
    open_saved(&s);
    plane_run(&s.p, 0.01, 10);
    hinge_set(&s, 0.7);
    assert_int_equal(perp_sim_input_set(s.p.sim, (perp_input){0}, 0.4), PERP_OK);
    void *block = saved(s.p.sim, &size);
    perp_sim_def def = s.p.def;
    perp_sim *other = NULL;
    assert_int_equal(perp_sim_create(s.p.model, &def, NULL, &other, NULL), PERP_OK);
    for (int round = 0; round < 3; round++) {  // on, back in the same sim, in another one
        perp_sim *sim = round < 2 ? s.p.sim : other;
        if (round > 0) {
            assert_int_equal(perp_sim_state_restore(sim, block, size), PERP_OK);
            assert_true(perp_sim_input(sim, (perp_input){0}) == 0.4);
            assert_true(perp_sim_input(sim, (perp_input){1}) == 0.7);
            unchanged(sim, block, size);
        }
        for (int i = 0; i < 30; i++) {
            if (i == 10) {
                perp_sim_input_release(sim, (perp_input){0});
            }
            assert_true(perp_sim_step(sim, 0.01) >= 0);
            uint64_t hash = perp_sim_state_hash(sim);
            first[i] = round == 0 ? hash : first[i];
            assert_true(hash == first[i]);
        }
    }
    perp_sim_destroy(other);
    free(block);
    hinge_close(&s);
}

// The sizes of two models agree, their masses or anchors do not.
static void states_of_other_models_are_refused(void **state)
{
    (void)state;
    static const double mass[] = {1.0, 1.5, 1.0, 1.0}, anchor[] = {0.0, 0.0, 0.1, 0.0};
    plane p[4] = {{0}};
    size_t size = 0;
    void *block = NULL;
    for (int k = 0; k < 4; k++) {
        plane_open(&p[k]);
        perp_body_def def = plane_body(mass[k], 0.1, 0.0, 0.0, 0.0);
        perp_joint_def pin = perp_joint_default();
        perp_actuator_def drive = perp_actuator_default();
        pin.b = perp_builder_add_body(p[k].builder, &def);
        pin.anchor_A = pin.anchor_B = (perp_vec3){anchor[k], 0.0, 0.0};
        drive.joint = perp_builder_add_joint(p[k].builder, &pin);
        perp_builder_add_actuator(p[k].builder, &drive);
        plane_start(&p[k]);
        plane_run(&p[k], 0.01, 3);
        block = k == 0 ? saved(p[k].sim, &size) : block;
        uint64_t hash = perp_sim_state_hash(p[k].sim);
        bool same = k == 0 || k == 3;
        assert_int_equal(perp_sim_state_restore(p[k].sim, block, size),
                         same ? PERP_OK : PERP_ERR_ARGUMENT);
        assert_true(perp_sim_state_hash(p[k].sim) == hash);
        if (!same) {
            assert_string_equal(perp_sim_error(p[k].sim)->text,
                                "restore: the block is not a state of this model");
        }
    }
    for (int k = 0; k < 4; k++) {
        plane_close(&p[k]);
    }
    free(block);
}

// ── Models ───────────────────────────────────────────────────────────────────────────────────────

typedef struct bad {
    const char *why;
    void (*make)(hinge *s, perp_actuator_def *def);
} bad;

static void no_joint(hinge *s, perp_actuator_def *def)
{
    (void)s;
    def->joint.i = 7;
}

static void no_gear(hinge *s, perp_actuator_def *def)
{
    (void)s;
    def->gear = 0.0;
}

static void negative_gain(hinge *s, perp_actuator_def *def)
{
    (void)s;
    def->kind = PERP_ACTUATOR_POSITION;
    def->kp = -1.0;
}

static void one_limit(hinge *s, perp_actuator_def *def)
{
    (void)s;
    def->upper = 1.0;
}

static void crossed_limits(hinge *s, perp_actuator_def *def)
{
    (void)s;
    def->lower = 1.0;
    def->upper = -1.0;
}

static void negative_time(hinge *s, perp_actuator_def *def)
{
    (void)s;
    def->time_constant = -0.1;
}

static void unknown_kind(hinge *s, perp_actuator_def *def)
{
    (void)s;
    def->kind = (perp_actuator_kind)9;
}

static void unknown_name(hinge *s, perp_actuator_def *def)
{
    (void)s;
    def->control = "2*speed";
}

static void empty_range(hinge *s, perp_actuator_def *def)
{
    (void)def;
    add_input(&s->p, "u", 1.0, -1.0, 0.0);
}

static void value_outside(hinge *s, perp_actuator_def *def)
{
    (void)def;
    add_input(&s->p, "u", -1.0, 1.0, 2.0);
}

static void name_with_bracket(hinge *s, perp_actuator_def *def)
{
    (void)def;
    add_input(&s->p, "u]", -1.0, 1.0, 0.0);
}

static void name_twice(hinge *s, perp_actuator_def *def)
{
    (void)def;
    add_input(&s->p, "u", -1.0, 1.0, 0.0);
    add_input(&s->p, "u", -1.0, 1.0, 0.0);
}

static void circle(hinge *s, perp_actuator_def *def)
{
    (void)def;
    perp_input u = add_input(&s->p, "u", -1.0, 1.0, 0.0);
    perp_builder_set_input_source(s->p.builder, u, "u + 1");
}

static void no_input(hinge *s, perp_actuator_def *def)
{
    (void)def;
    perp_builder_set_input_source(s->p.builder, (perp_input){3}, "1");
}

static void negative_armature(hinge *s, perp_actuator_def *def)
{
    (void)def;
    s->joint_def.armature = -1.0;
    perp_builder_add_joint(s->p.builder, &s->joint_def);
}

static void bad_models_say_why(void **state)
{
    (void)state;
    static const bad cases[] = {
        {"actuator 'drive': joint 7 does not exist", no_joint},
        {"actuator 'drive': gear, gain and bias must be finite, gear not 0", no_gear},
        {"actuator 'drive': kp and kv must be >= 0", negative_gain},
        {"actuator 'drive': the effort needs two limits, lower <= upper, or none", one_limit},
        {"actuator 'drive': the effort needs two limits, lower <= upper, or none", crossed_limits},
        {"actuator 'drive': the time constant must be >= 0", negative_time},
        {"actuator 'drive': unknown kind 9", unknown_kind},
        {"input 'u': the range is empty: lower > upper", empty_range},
        {"input 'u': the value must be finite and within the range", value_outside},
        {"input 'u]': a name with ']' cannot be used in expressions", name_with_bracket},
        {"input 3 does not exist, or has no source", no_input},
        {"drive: control \"2*speed\", column 3: unknown name 'speed'", unknown_name},
        {"input 'u'", name_twice},
        {"'u'", circle},
        {"joint ", negative_armature},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        hinge s;
        perp_error error = {0};
        perp_model *model = NULL;
        open_slider(&s, 0.0);
        perp_actuator_def def = s.actuator_def;
        def.joint = perp_builder_add_joint(s.p.builder, &s.joint_def);
        s.joint_def.name = "again";
        cases[k].make(&s, &def);
        perp_builder_add_actuator(s.p.builder, &def);
        assert_int_equal(perp_model_create(s.p.builder, &model, &error), PERP_ERR_MODEL);
        assert_null(model);
        if (!strstr(error.text, cases[k].why)) {
            fail_msg("'%s' does not say '%s'", error.text, cases[k].why);
        }
        hinge_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_are_clamped_and_held),
        cmocka_unit_test(bad_values_are_refused),
        cmocka_unit_test(trees_take_inputs),
        cmocka_unit_test(sources_sample_the_start),
        cmocka_unit_test(set_values_replace_sources),
        cmocka_unit_test(forces_use_inputs),
        cmocka_unit_test(source_without_value),
        cmocka_unit_test(range_does_not_hide_nan),
        cmocka_unit_test(control_without_value),
        cmocka_unit_test(callback_controls),
        cmocka_unit_test(callback_may_not_step),
        cmocka_unit_test(callback_may_not_set_the_state),
        cmocka_unit_test(failed_step_takes_callback_back),
        cmocka_unit_test(callback_with_bad_wrench),
        cmocka_unit_test(saved_states_continue),
        cmocka_unit_test(states_of_other_models_are_refused),
        cmocka_unit_test(bad_models_say_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
