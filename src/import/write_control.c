// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs, actuators and forces of a robot, as a scene has them.
#include "import/write.h"

#include <math.h>
#include <string.h>

// ── Actuators ────────────────────────────────────────────────────────────────────────────────────

// The joint or coupling of the scene that an actuator drives; NULL: none.
static const char *driven_name(const pp_robot_writer *w, const pp_robot_actuator *actuator)
{
    if (actuator->gear[0] == 0.0 || actuator->target < 0) {
        return NULL;
    }
    if (actuator->drive == PP_ROBOT_ON_TENDON) {
        return w->tendon_name[actuator->target];
    }
    bool joint = actuator->drive == PP_ROBOT_ON_JOINT &&
                 w->robot->joint[actuator->target].kind >= PP_ROBOT_SLIDE;
    return joint ? w->joint_name[actuator->target] : NULL;
}

// Inertia that the actuator moves, as MuJoCo's damping ratio has it: the sum of M_jj / moment_j^2.
static double driven_inertia(const pp_robot_writer *w, const pp_robot_actuator *actuator,
                             const pp_pose *pose)
{
    pp_robot_term one = {actuator->target, 1.0};
    const pp_robot_term *term = &one;
    int terms = 1;
    if (actuator->drive == PP_ROBOT_ON_TENDON) {
        term = w->robot->tendon[actuator->target].term;
        terms = w->robot->tendon[actuator->target].terms;
    }
    double sum = 0.0;
    for (int k = 0; k < terms; k++) {
        double moment = actuator->gear[0] * term[k].coefficient;
        if (moment != 0.0) {
            sum += pp_robot_joint_inertia(w->robot, pose, term[k].joint) / (moment * moment);
        }
    }
    return sum;
}

// Whether an actuator at a site pushes a body that moves.
static bool site_actuator_exists(pp_robot_writer *w, const pp_robot_actuator *actuator)
{
    const double *g = actuator->gear;
    bool pushes = false;
    for (int k = 0; k < 6; k++) {
        pushes = pushes || g[k] != 0.0;
    }
    // A body that is part of the world has it as its carrier.
    int root = w->robot->body[w->robot->site[actuator->target].body].carrier;
    if (!pushes || root == 0) {
        pp_write_unused(w, actuator->at, "actuators on sites that push nothing",
                        "their gear is 0, or the site is fixed to the world");
        return false;
    }
    if (actuator->damping_ratio > 0.0) {
        pp_write_unused(w, actuator->at, "actuators with dampratio on sites",
                        "the inertia that they move is computed for joints; give kv");
        return false;
    }
    return true;
}

// Whether the scene has this actuator; what it does not have is reported.
static bool actuator_exists(pp_robot_writer *w, const pp_robot_actuator *actuator)
{
    if (actuator->off) {
        return false;
    }
    if (actuator->other || actuator->affine_gain) {
        pp_write_unused(w, actuator->at, "actuators that are not linear",
                        "scenes have linear ones");
        return false;
    }
    // A site has six gears, anything else one.
    if (actuator->drive == PP_ROBOT_ON_SITE) {
        return site_actuator_exists(w, actuator);
    }
    bool tendon = actuator->drive == PP_ROBOT_ON_TENDON && actuator->target >= 0;
    const pp_robot_tendon *path = tendon ? &w->robot->tendon[actuator->target] : NULL;
    if (path && path->wraps) {
        pp_write_unused(w, actuator->at, "actuators on tendons that wrap around geoms",
                        "paths of scenes are straight between sites");
        return false;
    }
    if (path && path->spatial && actuator->damping_ratio > 0.0) {
        pp_write_unused(w, actuator->at, "actuators with dampratio on spatial tendons",
                        "the inertia that they move is computed for joints; give kv");
        return false;
    }
    if (!driven_name(w, actuator)) {
        pp_write_unused(w, actuator->at,
                        "actuators on ball joints, free joints, bodies, cranks and relative sites",
                        "actuators of scenes act on joints with one coordinate and couplings");
        return false;
    }
    return true;
}

// The control of the start is clamped as MuJoCo does.
static void put_inputs(pp_robot_writer *w)
{
    pp_write_open(w, "inputs");
    for (int k = 0; k < w->robot->actuators; k++) {
        pp_robot_actuator *actuator = &w->robot->actuator[k];
        double u = w->ctrl ? w->ctrl[k] : 0.0;
        if (!actuator_exists(w, actuator)) {
            // Without a name it is left out below.
            actuator->name = NULL;
            continue;
        }
        actuator->name = pp_write_name(w, PP_ROBOT_LIST_actuator, actuator->name);
        pp_write_next(w, actuator->name);
        pp_text_key_short(&w->t, "value", pp_robot_clamp(&actuator->control, u));
        if (actuator->control.set) {
            pp_text_key(&w->t, "range");
            pp_text_add(&w->t, "[");
            pp_text_short(&w->t, actuator->control.low);
            pp_text_add(&w->t, ", ");
            pp_text_short(&w->t, actuator->control.high);
            pp_text_add(&w->t, "]");
        }
        pp_text_add(&w->t, "}");
    }
    pp_write_close(w);
}

// Limits of the actuator, and of the sum of all actuators of the joint, which is right if there is one.
static pp_robot_range effort_of(const pp_robot_actuator *actuator, const pp_robot_joint *joint,
                                double gear)
{
    pp_robot_range to = actuator->force;
    if (joint->force.set) {
        double a = joint->force.low / gear, b = joint->force.high / gear;
        double low = a < b ? a : b, high = a < b ? b : a;
        to.low = to.set && to.low > low ? to.low : low;
        to.high = to.set && to.high < high ? to.high : high;
        to.set = true;
    }
    return to;
}

// Who drives each joint.
typedef struct joint_drivers {
    int own;      // actuators on the joint itself
    bool others;  // actuators on tendons or sites
} joint_drivers;

// Marks the joints that move body a against body b: those of the bodies from each of them up to the first that carries
// both. Parents have smaller numbers.
static void mark_between(const pp_robot *robot, int a, int b, joint_drivers *of)
{
    while (a != b) {
        int later = a > b ? a : b;
        const pp_robot_body *body = &robot->body[later];
        for (int k = 0; k < body->joints; k++) {
            of[body->joint + k].others = true;
        }
        a = a == later ? body->parent : a;
        b = b == later ? body->parent : b;
    }
}

static void mark_drivers(const pp_robot *robot, const pp_robot_actuator *actuator,
                         joint_drivers *of)
{
    if (actuator->drive == PP_ROBOT_ON_JOINT && actuator->target >= 0) {
        of[actuator->target].own++;
    }
    if (actuator->drive == PP_ROBOT_ON_SITE && actuator->target >= 0) {
        mark_between(robot, robot->site[actuator->target].body, 0, of);
    }
    if (actuator->drive != PP_ROBOT_ON_TENDON || actuator->target < 0) {
        return;
    }
    const pp_robot_tendon *tendon = &robot->tendon[actuator->target];
    for (int k = 0; k < tendon->terms; k++) {
        of[tendon->term[k].joint].others = true;
    }
    for (int k = 0; k < tendon->spans; k++) {
        mark_between(robot, robot->site[tendon->span[k].a].body,
                     robot->site[tendon->span[k].b].body, of);
    }
}

// A limit of the sum of all that drives a joint is one of each actuator on the joint in the scene, and none of others.
static void note_shared_limits(pp_robot_writer *w)
{
    const pp_robot *robot = w->robot;
    joint_drivers *of = PP_ZEROS(robot->arena, joint_drivers, robot->joints);
    if (!of) {
        pp_write_memory(w);
        return;
    }
    // Actuators that the scene does not have are without a name.
    for (int k = 0; k < robot->actuators; k++) {
        if (robot->actuator[k].name) {
            mark_drivers(robot, &robot->actuator[k], of);
        }
    }
    for (int j = 0; j < robot->joints; j++) {
        if (!robot->joint[j].force.set) {
            continue;
        }
        if (of[j].own > 1) {
            pp_report_add(w->report, PERP_IMPORT_ASSUMED, robot->joint[j].at,
                          "actuatorfrcrange of joints with several actuators limits each of them",
                          "in MuJoCo it limits their sum");
        }
        if (of[j].others) {
            pp_report_add(w->report, PERP_IMPORT_NOT_USED, robot->joint[j].at,
                          "actuatorfrcrange for actuators on tendons and sites",
                          "limits of scenes are those of one actuator; give it a forcerange");
        }
    }
}

// What it acts on: a joint, or a site with the force and torque of a unit effort in its axes.
static void put_target(pp_robot_writer *w, const pp_robot_actuator *actuator)
{
    const double *g = actuator->gear;
    if (actuator->drive != PP_ROBOT_ON_SITE) {
        pp_text_named(&w->t, "joint", driven_name(w, actuator));
        if (g[0] != 1.0) {
            pp_text_key_short(&w->t, "gear", g[0]);
        }
        return;
    }
    pp_text_named(&w->t, "site", pp_write_site_name(w, actuator->target));
    pp_text_key_vec3(&w->t, "force", pp_vec(g[0], g[1], g[2]));
    pp_text_key_vec3(&w->t, "torque", pp_vec(g[3], g[4], g[5]));
}

static void put_actuator(pp_robot_writer *w, const pp_robot_actuator *actuator,
                         const pp_pose *reference)
{
    bool site = actuator->drive == PP_ROBOT_ON_SITE;
    double bias[3];
    if (!actuator->name) {
        return;
    }
    memcpy(bias, actuator->bias, sizeof bias);
    if (site) {
        bias[1] = 0.0;  // without a reference site its length is 0
    } else if (actuator->damping_ratio > 0.0) {
        // Of the inertia at qpos = ref.
        double inertia = driven_inertia(w, actuator, reference);
        bias[2] = -2.0 * actuator->damping_ratio * sqrt(actuator->gain * inertia);
    }
    pp_write_next(w, actuator->name);
    pp_text_named(&w->t, "kind", "general");
    put_target(w, actuator);
    pp_text_key_short(&w->t, "gain", actuator->gain);
    pp_text_key_vec3(&w->t, "bias", pp_vec(bias[0], bias[1], bias[2]));
    pp_robot_range effort = actuator->force;
    if (actuator->drive == PP_ROBOT_ON_JOINT) {
        effort = effort_of(actuator, &w->robot->joint[actuator->target], actuator->gear[0]);
    }
    if (effort.set) {
        pp_text_key(&w->t, "effort");
        pp_text_add(&w->t, "[");
        pp_text_short(&w->t, effort.low);
        pp_text_add(&w->t, ", ");
        pp_text_short(&w->t, effort.high);
        pp_text_add(&w->t, "]");
    }
    if (actuator->time_constant > 0.0) {
        pp_text_key_short(&w->t, "time_constant", actuator->time_constant);
        pp_report_add(w->report, PERP_IMPORT_ASSUMED, actuator->at,
                      "filtered actuators start at their control", "");
    }
    pp_text_add(&w->t, "}");
}

// Damping of ball joints: torque -d (w_b - w_a) between the two bodies.
static void put_ball_dampers(pp_robot_writer *w)
{
    const pp_robot *robot = w->robot;
    for (int j = 0; j < robot->joints; j++) {
        const pp_robot_joint *joint = &robot->joint[j];
        int a = robot->body[robot->body[joint->body].parent].carrier;
        if (joint->kind != PP_ROBOT_BALL || !(joint->damping > 0.0) || !pp_write_ball_damps(w, j)) {
            continue;
        }
        char name[160];
        pp_print(name, sizeof name, "%.100s damper", joint->name);
        pp_write_next(w, pp_write_name(w, PP_ROBOT_LIST_actuator, name));
        pp_text_named(&w->t, "kind", "drag");
        pp_text_named(&w->t, "body", w->body_name[joint->body]);
        if (a > 0) {
            pp_text_named(&w->t, "a", w->body_name[a]);
        }
        pp_text_key_short(&w->t, "damping_w", joint->damping);
        pp_text_key(&w->t, "implicit");
        pp_text_add(&w->t, "true}");
    }
}

void pp_write_actuators(pp_robot_writer *w)
{
    const pp_robot *robot = w->robot;
    put_inputs(w);
    note_shared_limits(w);
    pp_write_open(w, "actuators");
    for (int k = 0; k < robot->actuators; k++) {
        put_actuator(w, &robot->actuator[k], w->pose0);
    }
    pp_write_close(w);
    pp_write_open(w, "forces");
    put_ball_dampers(w);
    pp_write_close(w);
}
