// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Actuators, sites and sensors of a robot, as a scene has them.
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

// Whether the scene has this actuator; what it does not have is reported.
static bool actuator_exists(pp_robot_writer *w, const pp_robot_actuator *actuator)
{
    if (actuator->other || actuator->affine_gain) {
        pp_write_unused(w, actuator->at, "actuators that are not linear",
                        "scenes have linear ones");
        return false;
    }
    if (actuator->drive == PP_ROBOT_ON_SITE) {
        bool plain = actuator->bias[0] == 0.0 && actuator->time_constant == 0.0;
        if (!plain) {
            pp_write_unused(w, actuator->at, "actuators on sites with a bias or a filter",
                            "scenes have motors there");
        }
        return plain;
    }
    if (!driven_name(w, actuator)) {
        pp_write_unused(
            w, actuator->at, "actuators on spatial tendons, ball joints, free joints and bodies",
            "actuators of scenes act on joints with one coordinate and couplings of these");
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
        if (actuator->control.set) {
            u = u < actuator->control.low ? actuator->control.low : u;
            u = u > actuator->control.high ? actuator->control.high : u;
        }
        pp_text_key_short(&w->t, "value", u);
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

static void put_actuator(pp_robot_writer *w, const pp_robot_actuator *actuator,
                         const pp_pose *reference)
{
    const char *target = actuator->name ? driven_name(w, actuator) : NULL;
    double gear = actuator->gear[0], bias[3];
    if (!target || actuator->drive == PP_ROBOT_ON_SITE) {
        return;
    }
    memcpy(bias, actuator->bias, sizeof bias);
    if (actuator->damping_ratio > 0.0) {
        // Of the inertia at qpos = ref.
        double inertia = driven_inertia(w, actuator, reference);
        bias[2] = -2.0 * actuator->damping_ratio * sqrt(actuator->gain * inertia);
    }
    pp_write_next(w, actuator->name);
    pp_text_named(&w->t, "kind", "general");
    pp_text_named(&w->t, "joint", target);
    if (gear != 1.0) {
        pp_text_key_short(&w->t, "gear", gear);
    }
    pp_text_key_short(&w->t, "gain", actuator->gain);
    pp_text_key_vec3(&w->t, "bias", pp_vec(bias[0], bias[1], bias[2]));
    pp_robot_range effort = actuator->force;
    if (actuator->drive == PP_ROBOT_ON_JOINT) {
        effort = effort_of(actuator, &w->robot->joint[actuator->target], gear);
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

// "c*f", where f is the clamped force of the actuator.
static void put_thrust(pp_robot_writer *w, const pp_robot_actuator *actuator, const char *key,
                       double c)
{
    char number[40], text[400];
    if (c == 0.0) {
        return;
    }
    pp_number_print_short(number, sizeof number, c * (actuator->force.set ? 1.0 : actuator->gain));
    if (!actuator->force.set) {
        pp_print(text, sizeof text, "%s*u[%s]", number, actuator->name);
    } else {
        char gain[40], low[40], high[40];
        pp_number_print_short(gain, sizeof gain, actuator->gain);
        pp_number_print_short(low, sizeof low, actuator->force.low);
        pp_number_print_short(high, sizeof high, actuator->force.high);
        pp_print(text, sizeof text, "%s*clamp(%s*u[%s], %s, %s)", number, gain, actuator->name, low,
                 high);
    }
    pp_text_named(&w->t, key, text);
}

// Motors on sites: forces and torques in the axes of the body.
static void put_thrusts(pp_robot_writer *w)
{
    pp_write_open(w, "forces");
    for (int k = 0; k < w->robot->actuators; k++) {
        const pp_robot_actuator *actuator = &w->robot->actuator[k];
        if (!actuator->name || actuator->drive != PP_ROBOT_ON_SITE) {
            continue;
        }
        const pp_robot_site *site = &w->robot->site[actuator->target];
        int root = w->robot->body[site->body].carrier;
        if (root == 0) {
            continue;
        }
        // The gear is in the axes of the site; f and m are in those of the body.
        const pp_pose *F = &w->frame[root], *X = &w->pose[site->body];
        const double *g = actuator->gear;
        pp_mat3 S = pp_quat_matrix(site->quat), R = pp_mat_mul(&X->R, &S);
        perp_vec3 f = pp_mul_t(&F->R, pp_mul(&R, pp_vec(g[0], g[1], g[2])));
        perp_vec3 m = pp_mul_t(&F->R, pp_mul(&R, pp_vec(g[3], g[4], g[5])));
        pp_write_next(w, actuator->name);
        pp_text_named(&w->t, "kind", "force");
        pp_text_named(&w->t, "body", w->body_name[root]);
        pp_text_key_vec3(&w->t, "anchor", pp_pose_local(F, pp_pose_point(X, site->pos)));
        const double c[6] = {f.x, f.y, f.z, m.x, m.y, m.z};
        static const char *const keys[] = {"fx", "fy", "fz", "tx", "ty", "tz"};
        for (int e = 0; e < 6; e++) {
            put_thrust(w, actuator, keys[e], c[e]);
        }
        pp_text_key(&w->t, "body_axes");
        pp_text_add(&w->t, "true}");
    }
    pp_write_close(w);
}

void pp_write_actuators(pp_robot_writer *w)
{
    const pp_robot *robot = w->robot;
    double *q = pp_robot_reference(robot);
    pp_pose *pose = PP_ARRAY(robot->arena, pp_pose, robot->bodies);
    if (!q || !pose) {
        pp_write_memory(w);
        return;
    }
    pp_robot_poses(robot, q, pose, NULL);
    put_inputs(w);
    pp_write_open(w, "actuators");
    for (int k = 0; k < robot->actuators; k++) {
        put_actuator(w, &robot->actuator[k], pose);
    }
    pp_write_close(w);
    put_thrusts(w);
}

// ── Sites and sensors ────────────────────────────────────────────────────────────────────────────

// Sites keep their places in the list of the robot; names become those of the scene.
void pp_write_sites(pp_robot_writer *w)
{
    const pp_robot *robot = w->robot;
    pp_write_open(w, "sites");
    for (int k = 0; k < robot->sites; k++) {
        pp_robot_site *site = &robot->site[k];
        int root = robot->body[site->body].carrier;
        const pp_pose *F = &w->frame[root], *X = &w->pose[site->body];
        pp_mat3 S = pp_quat_matrix(site->quat), R = pp_mat_mul(&X->R, &S);
        pp_mat3 Ft = pp_transpose3(&F->R);
        R = pp_mat_mul(&Ft, &R);
        site->name = pp_write_name(w, PP_ROBOT_LIST_site, site->name);
        pp_write_next(w, site->name);
        pp_text_named(&w->t, "body", w->body_name[root]);
        pp_text_key_vec3(&w->t, "position", pp_pose_local(F, pp_pose_point(X, site->pos)));
        pp_text_key(&w->t, "rotation");
        pp_text_quat(&w->t, pp_matrix_quat(&R));
        pp_text_add(&w->t, "}");
    }
    pp_write_close(w);
}

// The sensors of MJCF that scenes have as well; frames only those of sites.
static const struct {
    const char *mjcf, *scene;
    bool joint;
} sensor_kinds[] = {
    {"gyro", "gyro", false},
    {"accelerometer", "accelerometer", false},
    {"framepos", "position", false},
    {"framequat", "orientation", false},
    {"framelinvel", "velocity", false},
    {"frameangvel", "angular-velocity", false},
    {"jointpos", "joint-position", true},
    {"jointvel", "joint-rate", true},
};

// Its row in the table; -1: scenes have no such sensor.
static int sensor_row(const pp_robot *robot, const pp_robot_sensor *sensor)
{
    for (int k = 0; k < (int)(sizeof sensor_kinds / sizeof sensor_kinds[0]); k++) {
        if (strcmp(sensor->kind, sensor_kinds[k].mjcf) == 0) {
            int joint = pp_robot_find(robot, PP_ROBOT_LIST_joint, sensor->object);
            bool found = sensor_kinds[k].joint
                             ? joint >= 0 && robot->joint[joint].kind >= PP_ROBOT_SLIDE
                             : pp_robot_find(robot, PP_ROBOT_LIST_site, sensor->object) >= 0;
            return found && !sensor->relative ? k : -1;
        }
    }
    return -1;
}

void pp_write_sensors(pp_robot_writer *w)
{
    const pp_robot *robot = w->robot;
    pp_write_open(w, "sensors");
    for (int k = 0; k < robot->sensors; k++) {
        const pp_robot_sensor *sensor = &robot->sensor[k];
        int row = sensor_row(robot, sensor);
        char name[80];
        if (row < 0) {
            char what[100];
            pp_print(what, sizeof what, "sensors of kind %.60s", sensor->kind);
            pp_write_unused(w, sensor->at, what, "scenes have none, or not of this object");
            continue;
        }
        // Sensors need names.
        pp_print(name, sizeof name, "sensor%d", k);
        pp_write_next(w,
                      pp_write_name(w, PP_ROBOT_LIST_sensor, *sensor->name ? sensor->name : name));
        pp_text_named(&w->t, "kind", sensor_kinds[row].scene);
        if (sensor_kinds[row].joint) {
            int j = pp_robot_find(robot, PP_ROBOT_LIST_joint, sensor->object);
            pp_text_named(&w->t, "joint", w->joint_name[j]);
        } else {
            int j = pp_robot_find(robot, PP_ROBOT_LIST_site, sensor->object);
            pp_text_named(&w->t, "site", robot->site[j].name);
        }
        pp_text_add(&w->t, "}");
    }
    pp_write_close(w);
}
