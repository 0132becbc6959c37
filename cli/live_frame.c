// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Encodes a frame for the pages (viewer/src/live.js), little-endian like browsers:
//
//   40 doubles    see put_head
//   floats        of bodies that are not static: positions, rotations, velocities, spins; joints, 11 each; values of
//                 sensors; inputs
//   contacts      a, b, feature, mode as 32-bit integers; mu, gap, p_n, rate, slip; point, normal, friction
#include "live.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_NUMBERS = 40, JOINT_NUMBERS = 11, CONTACT_NUMBERS = 9 };

typedef struct pen {
    unsigned char *at;
} pen;

static void put(pen *p, const void *data, size_t size)
{
    memcpy(p->at, data, size);
    p->at += size;
}

static void real(pen *p, double value)
{
    float single = (float)value;
    put(p, &single, sizeof single);
}

static void vector(pen *p, perp_vec3 v, bool spatial)
{
    real(p, v.x);
    real(p, v.y);
    if (spatial) {
        real(p, v.z);
    }
}

static bool moves(const live_sim *live, int body)
{
    const perp_model *model = perp_scene_model(live->scene);
    return perp_model_motion(model, (perp_body){body}) != PERP_MOTION_STATIC;
}

static void put_bodies(const live_sim *live, pen *p, bool spatial, int bodies)
{
    for (int k = 0; k < bodies; k++) {
        if (moves(live, k)) {
            vector(p, perp_sim_body_position(live->sim, (perp_body){k}), spatial);
        }
    }
    for (int k = 0; k < bodies; k++) {
        perp_quat q = perp_sim_body_pose(live->sim, (perp_body){k}).rot;
        if (moves(live, k) && spatial) {
            real(p, q.w);
            real(p, q.x);
            real(p, q.y);
            real(p, q.z);
        } else if (moves(live, k)) {
            real(p, perp_sim_body_angle(live->sim, (perp_body){k}));
        }
    }
    for (int k = 0; k < bodies; k++) {
        if (moves(live, k)) {
            vector(p, perp_sim_body_twist(live->sim, (perp_body){k}).v_W, spatial);
        }
    }
    for (int k = 0; k < bodies; k++) {
        perp_vec3 w = perp_sim_body_twist(live->sim, (perp_body){k}).w_W;
        if (moves(live, k) && spatial) {
            vector(p, w, true);
        } else if (moves(live, k)) {
            real(p, w.z);
        }
    }
}

static void put_joints(const live_sim *live, pen *p, int joints)
{
    for (int k = 0; k < joints; k++) {
        perp_joint_state s = perp_sim_joint(live->sim, (perp_joint){k});
        real(p, s.coordinate);
        real(p, s.rate);
        real(p, s.error);
        vector(p, s.impulse_b.f_W, true);
        vector(p, s.impulse_b.tau_W, true);
        real(p, s.drive);
        real(p, s.limit);
    }
}

static int sensor_values(const perp_model *model)
{
    int count = 0;
    for (int k = 0; k < perp_model_sensors(model); k++) {
        count += perp_model_sensor_size(model, (perp_sensor){k});
    }
    return count;
}

static void put_sensors(const live_sim *live, pen *p, const perp_model *model)
{
    for (int k = 0; k < perp_model_sensors(model); k++) {
        double value[4] = {0.0};
        int size = perp_model_sensor_size(model, (perp_sensor){k});
        bool read = perp_sim_sensor(live->sim, (perp_sensor){k}, value, 4) >= 0;
        for (int i = 0; i < size; i++) {
            real(p, read ? value[i] : 0.0);
        }
    }
}

// Held over the last step, also where a source gave them.
static void put_inputs(const live_sim *live, pen *p, int inputs)
{
    for (int k = 0; k < inputs; k++) {
        real(p, perp_sim_input(live->sim, (perp_input){k}));
    }
}

static void put_contacts(pen *p, const perp_contact *contact, int count, bool spatial)
{
    for (int k = 0; k < count; k++) {
        const perp_contact *c = &contact[k];
        const uint32_t whole[4] = {(uint32_t)c->a.i, (uint32_t)c->b.i, c->feature,
                                   (uint32_t)c->mode};
        put(p, whole, sizeof whole);
        real(p, c->mu);
        real(p, c->gap);
        real(p, c->pn);
        real(p, c->rate_n);
        real(p, c->slip);
        vector(p, c->point_W, spatial);
        vector(p, c->normal_W, spatial);
        vector(p, c->pf_W, spatial);
    }
}

static void put_head(const live_sim *live, pen *p, int moving, int joints, int contacts)
{
    const perp_step_info *info = perp_sim_info(live->sim);
    const perp_certificate *c = &live->since, *w = &live->worst;
    double seconds = 0.0;
    for (int k = 0; k < PERP_STAGE_COUNT; k++) {
        seconds += info->seconds[k];
    }
    const double head[HEAD_NUMBERS] = {
        1.0,                        // format
        (double)live->generation,   //
        live->running ? 1.0 : 0.0,  //
        live->failed ? 1.0 : 0.0,
        perp_sim_time(live->sim),
        live->h,
        live->rate,
        (double)live->steps,
        moving,
        joints,
        contacts,
        live->stepped ? info->energy.kinetic : (double)NAN,
        live->stepped ? info->energy.potential : (double)NAN,
        live->work_sum,
        live->dissipated_sum,
        (c->passed ? 1.0 : 0.0) + (info->unique ? 2.0 : 0.0),
        c->gap,
        c->complementarity,
        c->cone,
        c->joint,
        c->momentum,
        c->energy_created,
        c->residual,
        w->passed ? 1.0 : 0.0,
        w->residual,
        info->iterations,
        info->problem_size,
        seconds,
    };
    put(p, head, sizeof head);
}

bool live_sim_publish(live_sim *live)
{
    const perp_model *model = perp_scene_model(live->scene);
    bool spatial = perp_model_is_spatial(model);
    size_t axes = spatial ? 3 : 2;
    int bodies = perp_model_bodies(model), joints = perp_model_joints(model), moving = 0;
    int inputs = perp_model_inputs(model), contacts = 0;
    const perp_contact *contact = perp_sim_contacts(live->sim, &contacts);
    for (int k = 0; k < bodies; k++) {
        moving += moves(live, k);
    }
    size_t size = 8 * HEAD_NUMBERS +
                  4 * ((size_t)moving * (2 * axes + (spatial ? 4 : 1) + (spatial ? 3 : 1)) +
                       (size_t)joints * JOINT_NUMBERS + (size_t)sensor_values(model) +
                       (size_t)inputs + (size_t)contacts * (CONTACT_NUMBERS + 3 * axes));
    if (size > live->frame_room) {
        free(live->frame);
        live->frame = malloc(2 * size);
        live->frame_room = live->frame ? 2 * size : 0;
    }
    if (!live->frame) {
        return false;
    }
    pen p = {live->frame};
    put_head(live, &p, moving, joints, contacts);
    put_bodies(live, &p, spatial, bodies);
    put_joints(live, &p, joints);
    put_sensors(live, &p, model);
    put_inputs(live, &p, inputs);
    put_contacts(&p, contact, contacts, spatial);
    live->since = (perp_certificate){.passed = true};
    return live_board_publish(live->board, live->frame, size);
}
