// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Sites, sensors and keyframes of a robot, as a scene has them.
#include "import/write.h"

#include <string.h>

// ── Sites ────────────────────────────────────────────────────────────────────────────────────────

// A site of the frame of a body, for sensors that measure there; -1: no memory.
static int frame_site(pp_robot_writer *w, int body)
{
    char text[160];
    pp_robot_site *site = pp_robot_add_site(w->robot);
    if (!site) {
        pp_write_memory(w);
        return -1;
    }
    pp_print(text, sizeof text, "frame of %.100s", w->robot->body[body].name);
    *site = (pp_robot_site){.name = pp_write_name(w, PP_ROBOT_LIST_site, text),
                            .body = body,
                            .quat = {1.0, 0.0, 0.0, 0.0},
                            .named = true,
                            .at = w->robot->body[body].at};
    return w->robot->sites - 1;
}

const char *pp_write_site_name(pp_robot_writer *w, int k)
{
    pp_robot_site *site = &w->robot->site[k];
    if (!site->named) {
        site->name = pp_write_name(w, PP_ROBOT_LIST_site, site->name);
        site->named = true;
    }
    return site->name;
}

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
        pp_write_next(w, pp_write_site_name(w, k));
        pp_text_named(&w->t, "body", w->body_name[root]);
        pp_text_key_vec3(&w->t, "position", pp_pose_local(F, pp_pose_point(X, site->pos)));
        pp_text_key(&w->t, "rotation");
        pp_text_quat(&w->t, pp_matrix_quat(&R));
        // The region of touch sensors.
        const double *s = site->size;
        if (site->touch && site->kind == PP_ROBOT_SPHERE) {
            pp_text_key_short(&w->t, "radius", s[0]);
        } else if (site->touch && site->kind == PP_ROBOT_BOX) {
            pp_text_key_vec3(&w->t, "size", pp_vec(2.0 * s[0], 2.0 * s[1], 2.0 * s[2]));
        }
        pp_text_add(&w->t, "}");
    }
    pp_write_close(w);
}

// ── Sensors ──────────────────────────────────────────────────────────────────────────────────────

// What a sensor measures at.
typedef enum sensor_object {
    AT_SITE,
    AT_FRAME,  // a site or a body
    AT_JOINT,
    AT_TENDON,
    AT_DRIVE,   // the joint of an actuator without gear
    AT_TOUCH,   // a site that is a sphere or a box
    AT_WRENCH,  // a site on a body with one joint
} sensor_object;

// The sensors of MJCF that scenes have as well.
static const struct {
    const char *mjcf, *scene;
    sensor_object at;
} sensor_kinds[] = {
    {"gyro", "gyro", AT_SITE},
    {"accelerometer", "accelerometer", AT_SITE},
    {"framepos", "position", AT_FRAME},
    {"framequat", "orientation", AT_FRAME},
    {"framelinvel", "velocity", AT_FRAME},
    {"frameangvel", "angular-velocity", AT_FRAME},
    {"jointpos", "joint-position", AT_JOINT},
    {"jointvel", "joint-rate", AT_JOINT},
    {"tendonpos", "joint-position", AT_TENDON},
    {"tendonvel", "joint-rate", AT_TENDON},
    {"actuatorpos", "joint-position", AT_DRIVE},
    {"actuatorvel", "joint-rate", AT_DRIVE},
    {"rangefinder", "range", AT_SITE},
    {"touch", "touch", AT_TOUCH},
    {"force", "force", AT_WRENCH},
    {"torque", "torque", AT_WRENCH},
};

// Its row in the table; -1: scenes have no such sensor.
static int sensor_row(const pp_robot_sensor *sensor)
{
    for (int k = 0; k < (int)(sizeof sensor_kinds / sizeof sensor_kinds[0]); k++) {
        if (strcmp(sensor->kind, sensor_kinds[k].mjcf) == 0) {
            return k;
        }
    }
    return -1;
}

static bool type_is(const pp_robot_sensor *sensor, const char *type)
{
    return sensor->type && strcmp(sensor->type, type) == 0;
}

// The joint of the scene whose coordinate it measures; NULL: none.
static const char *sensor_joint(const pp_robot_writer *w, const pp_robot_sensor *sensor,
                                sensor_object at)
{
    const pp_robot *robot = w->robot;
    int joint = -1, k;
    if (at == AT_JOINT) {
        joint = pp_robot_find(robot, PP_ROBOT_LIST_joint, sensor->object);
    } else if (at == AT_TENDON) {
        k = pp_robot_find(robot, PP_ROBOT_LIST_tendon, sensor->object);
        return k >= 0 ? w->tendon_name[k] : NULL;
    } else if (at == AT_DRIVE) {
        k = pp_robot_find(robot, PP_ROBOT_LIST_actuator, sensor->object);
        const pp_robot_actuator *drive = k >= 0 ? &robot->actuator[k] : NULL;
        bool plain = drive && drive->drive == PP_ROBOT_ON_JOINT && drive->gear[0] == 1.0;
        joint = plain ? drive->target : -1;
    }
    bool one = joint >= 0 && robot->joint[joint].kind >= PP_ROBOT_SLIDE;
    return one ? w->joint_name[joint] : NULL;
}

// The site that it measures at; -1: none.
static int sensor_site(pp_robot_writer *w, const pp_robot_sensor *sensor, sensor_object at)
{
    const pp_robot *robot = w->robot;
    if (at == AT_FRAME && type_is(sensor, "xbody")) {
        int body = pp_robot_find(robot, PP_ROBOT_LIST_body, sensor->object);
        return body >= 0 ? frame_site(w, body) : -1;
    }
    if (at >= AT_JOINT && at <= AT_DRIVE) {
        return -1;
    }
    bool site = at != AT_FRAME || type_is(sensor, "site");
    int k = site ? pp_robot_find(robot, PP_ROBOT_LIST_site, sensor->object) : -1;
    if (k < 0) {
        return -1;
    }
    const pp_robot_site *of = &robot->site[k];
    const pp_robot_body *body = &robot->body[of->body];
    if (at == AT_TOUCH) {
        robot->site[k].touch = true;
        return (of->kind == PP_ROBOT_SPHERE || of->kind == PP_ROBOT_BOX) && body->carrier > 0 ? k
                                                                                              : -1;
    }
    // Between its body and the one that carries it there must be one joint.
    if (at == AT_WRENCH && (body->joints != 1 || robot->joint[body->joint].kind == PP_ROBOT_FREE)) {
        return -1;
    }
    return k;
}

static void prepare_sensor(pp_robot_writer *w, pp_robot_sensor *sensor)
{
    int row = sensor->relative ? -1 : sensor_row(sensor);
    sensor->row = row;
    sensor->site = row >= 0 ? sensor_site(w, sensor, sensor_kinds[row].at) : -1;
    sensor->joint = row >= 0 ? sensor_joint(w, sensor, sensor_kinds[row].at) : NULL;
}

// Before the sites are written: some sensors bring sites of their own.
void pp_write_prepare_sensors(pp_robot_writer *w)
{
    for (int k = 0; k < w->robot->sensors; k++) {
        prepare_sensor(w, &w->robot->sensor[k]);
    }
}

void pp_write_sensors(pp_robot_writer *w)
{
    const pp_robot *robot = w->robot;
    pp_write_open(w, "sensors");
    for (int k = 0; k < robot->sensors; k++) {
        const pp_robot_sensor *sensor = &robot->sensor[k];
        char name[80];
        if (sensor->site < 0 && !sensor->joint) {
            char what[100];
            pp_print(what, sizeof what, "sensors of kind %.60s", sensor->kind);
            pp_write_unused(w, sensor->at, what, "scenes have none, or not of this object");
            continue;
        }
        // Sensors need names.
        pp_print(name, sizeof name, "sensor%d", k);
        pp_write_next(w,
                      pp_write_name(w, PP_ROBOT_LIST_sensor, *sensor->name ? sensor->name : name));
        pp_text_named(&w->t, "kind", sensor_kinds[sensor->row].scene);
        if (sensor->joint) {
            pp_text_named(&w->t, "joint", sensor->joint);
        } else {
            pp_text_named(&w->t, "site", robot->site[sensor->site].name);
        }
        if (sensor_kinds[sensor->row].at == AT_WRENCH) {
            int joint = robot->body[robot->site[sensor->site].body].joint;
            pp_text_named(&w->t, "joint", w->joint_name[joint]);
        }
        if (sensor->cutoff > 0.0 && strcmp(sensor->kind, "rangefinder") == 0) {
            pp_text_key_short(&w->t, "max_range", sensor->cutoff);
        }
        pp_text_add(&w->t, "}");
    }
    pp_write_close(w);
}

// ── Keyframes ────────────────────────────────────────────────────────────────────────────────────

// A comma before all members but the first.
static void put_member(pp_robot_writer *w, const char *name, bool *first)
{
    pp_text_add(&w->t, *first ? "" : ", ");
    pp_text_quoted(&w->t, name);
    pp_text_add(&w->t, ": ");
    *first = false;
}

// Coordinates and rates of all joints but free ones.
static void put_key_joints(pp_robot_writer *w, const double *q, const double *v,
                           const pp_pose *pose)
{
    const pp_robot *robot = w->robot;
    bool first = true;
    pp_text_key(&w->t, "joints");
    pp_text_add(&w->t, "{");
    for (int j = 0; j < robot->joints; j++) {
        const pp_robot_joint *joint = &robot->joint[j];
        const pp_robot_body *body = &robot->body[joint->body];
        if (joint->kind == PP_ROBOT_FREE) {
            continue;
        }
        put_member(w, w->joint_name[j], &first);
        pp_text_add(&w->t, "{\"position\": ");
        if (joint->kind != PP_ROBOT_BALL) {
            pp_text_short(&w->t, q[joint->qpos]);
            pp_text_key_short(&w->t, "rate", v ? v[joint->dof] : 0.0);
        } else {
            // Of the body in the one that carries it; of several joints only the last can be a ball here.
            const pp_pose *A = &pose[robot->body[body->parent].carrier], *B = &pose[joint->body];
            pp_mat3 At = pp_transpose3(&A->R), R = pp_mat_mul(&At, &B->R);
            pp_text_quat(&w->t, pp_matrix_quat(&R));
            const double *rate = v ? v + joint->dof : NULL;
            pp_text_key_vec3(&w->t, "rate",
                             rate ? pp_vec(rate[0], rate[1], rate[2]) : pp_vec(0.0, 0.0, 0.0));
        }
        pp_text_add(&w->t, "}");
    }
    pp_text_add(&w->t, "}");
}

// Poses and velocities of free bodies, at their centres of mass.
static void put_key_bodies(pp_robot_writer *w, const double *v, const pp_pose *pose)
{
    const pp_robot *robot = w->robot;
    bool first = true;
    pp_text_key(&w->t, "bodies");
    pp_text_add(&w->t, "{");
    for (int j = 0; j < robot->joints; j++) {
        const pp_robot_joint *joint = &robot->joint[j];
        if (joint->kind != PP_ROBOT_FREE) {
            continue;
        }
        const pp_pose *X = &pose[joint->body];
        perp_vec3 com = w->group[joint->body].com;
        put_member(w, w->body_name[joint->body], &first);
        pp_text_add(&w->t, "{\"position\": ");
        pp_text_vec3(&w->t, pp_pose_point(X, com));
        pp_text_key(&w->t, "rotation");
        pp_text_quat(&w->t, pp_matrix_quat(&X->R));
        perp_vec3 V = {0.0, 0.0, 0.0}, W = {0.0, 0.0, 0.0};
        if (v) {
            // qvel: velocity of the body's origin in the world, angular velocity in its own axes
            const double *x = v + joint->dof;
            W = pp_mul(&X->R, pp_vec(x[3], x[4], x[5]));
            V = pp_add(pp_vec(x[0], x[1], x[2]), pp_cross(W, pp_mul(&X->R, com)));
        }
        pp_text_key_vec3(&w->t, "velocity", V);
        pp_text_key_vec3(&w->t, "spin", W);
        pp_text_add(&w->t, "}");
    }
    pp_text_add(&w->t, "}");
}

static void put_key_inputs(pp_robot_writer *w, const double *ctrl)
{
    bool first = true;
    pp_text_key(&w->t, "inputs");
    pp_text_add(&w->t, "{");
    for (int k = 0; k < w->robot->actuators; k++) {
        const pp_robot_actuator *actuator = &w->robot->actuator[k];
        if (actuator->name) {
            put_member(w, actuator->name, &first);
            pp_text_short(&w->t, pp_robot_clamp(&actuator->control, ctrl ? ctrl[k] : 0.0));
        }
    }
    pp_text_add(&w->t, "}");
}

// A ball among several joints of a body has no frame of its own here.
static bool key_fits(const pp_robot *robot)
{
    for (int j = 0; j < robot->joints; j++) {
        const pp_robot_joint *joint = &robot->joint[j];
        if (joint->kind == PP_ROBOT_BALL && robot->body[joint->body].joints > 1) {
            return false;
        }
    }
    return true;
}

// All keyframes, also the one that the scene starts from.
void pp_write_keyframes(pp_robot_writer *w)
{
    pp_robot *robot = w->robot;
    pp_pose *pose = PP_ARRAY(robot->arena, pp_pose, robot->bodies);
    if (!pose) {
        pp_write_memory(w);
        return;
    }
    pp_write_open(w, "keyframes");
    bool fits = key_fits(robot);
    for (int k = 0; k < robot->keys; k++) {
        const pp_robot_key *key = &robot->key[k];
        if (!fits) {
            pp_write_unused(w, key->at, "keyframes, but the one of the start",
                            "a ball joint among several joints of a body");
            break;
        }
        char name[40];
        pp_print(name, sizeof name, "key%d", k);
        // a keyframe without positions has those that the scene starts from
        const double *q = key->qpos ? key->qpos : w->q0;
        pp_robot_poses(robot, q, pose, NULL);
        pp_write_next(w, pp_write_name(w, PP_ROBOT_LIST_key, *key->name ? key->name : name));
        if (key->time != 0.0) {
            pp_text_key_short(&w->t, "time", key->time);
        }
        put_key_joints(w, q, key->qvel, pose);
        put_key_bodies(w, key->qvel, pose);
        put_key_inputs(w, key->ctrl);
        pp_text_add(&w->t, "}");
    }
    pp_write_close(w);
}
