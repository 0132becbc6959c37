// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// How a run is made to fit: floats and every frame; else 16 bits a number; else fewer moments,
// without velocities (the page has them from the positions), contacts thinner than poses where they
// are many.
#include "replay/data.h"

#include <math.h>

// The last frame is always kept.
bool pp_decimation_keeps(pp_decimation decimation, int frame, int frames)
{
    return frame % decimation.stride == 0 || frame == frames - 1;
}

pp_decimation pp_decimation_make(int stride, int frames)
{
    int last = frames - 1;
    return (pp_decimation){stride, last / stride + 1 + (last % stride != 0)};
}

// Of one frame: time and step, position, rotation, velocities of the moving bodies, joints, sensors, inputs.
size_t pp_pose_bytes(const pp_replay_data *data, bool coarse, bool speeds)
{
    size_t axes = (size_t)data->axes, spins = (size_t)data->spins, moving = (size_t)data->moving;
    size_t cell = coarse ? 2 : 4;
    // Angles in the plane may be any number of turns, and stay 32 bits.
    size_t turn = data->turns == 1 ? 4 : 4 * cell;
    return 12 + moving * (axes * cell + turn + (speeds ? (axes + spins) * cell : 0)) +
           ((size_t)data->info->joints * PP_JOINT_WIDTH + (size_t)data->info->sensor_values +
            (size_t)data->info->inputs) *
               cell;
}

// Of one contact: id, point, normal, four values, friction, mode.
size_t pp_contact_bytes(const pp_replay_data *data, bool coarse)
{
    size_t axes = (size_t)data->axes, cell = coarse ? 2 : 4;
    return 4 + axes * cell + axes * 2 + 4 * cell + axes * cell + 1;
}

// Contacts of all frames that are kept.
static int64_t rows_kept(const pp_replay_data *data, pp_decimation decimation)
{
    int64_t rows = 0;
    for (int k = 0; k < data->info->frames; k++) {
        rows += pp_decimation_keeps(decimation, k, data->info->frames) ? data->contacts_of[k] : 0;
    }
    return rows;
}

// Nothing is left out.
static pp_plan plan_every_frame(const pp_replay_data *data, bool coarse)
{
    pp_decimation all = pp_decimation_make(1, data->info->frames);
    return (pp_plan){.poses = all,
                     .contacts = all,
                     .contact_rows = rows_kept(data, all),
                     .coarse = coarse,
                     .speeds = true};
}

// What poses and contacts take; 16 for time, step and end of each frame of contacts.
static double planned_bytes(const pp_replay_data *data, const pp_plan *plan)
{
    return (double)plan->poses.count * (double)pp_pose_bytes(data, plan->coarse, plan->speeds) +
           (double)plan->contacts.count * 16.0 +
           (double)plan->contact_rows * (double)pp_contact_bytes(data, plan->coarse);
}

// 16 bits a number, no velocities, and every n-th frame. Poses may have two thirds of the bytes, or
// what contacts leave.
static pp_plan plan_thinned(const pp_replay_data *data, double bytes)
{
    int frames = data->info->frames;
    pp_plan plan = plan_every_frame(data, true);
    plan.speeds = false;
    double contacts = (double)plan.contact_rows * (double)pp_contact_bytes(data, true);
    double share = fmax(bytes * 2.0 / 3.0, bytes - contacts);
    // 16: a frame of contacts without any.
    double poses = (double)frames * (double)(pp_pose_bytes(data, true, false) + 16);
    double stride = fmin(ceil(poses / fmax(share, 1.0)), frames);
    plan.poses = pp_decimation_make(stride > 1.0 ? (int)stride : 1, frames);
    plan.contacts = plan.poses;
    plan.contact_rows = rows_kept(data, plan.contacts);
    // Contacts of fewer frames than poses, until it fits.
    while (planned_bytes(data, &plan) > bytes && plan.contacts.stride < frames) {
        int more = plan.contacts.stride <= frames / 2 ? 2 * plan.contacts.stride : frames;
        plan.contacts = pp_decimation_make(more, frames);
        plan.contact_rows = rows_kept(data, plan.contacts);
    }
    return plan;
}

// From the best that fits: floats, 16 bits, fewer frames.
pp_plan pp_plan_make(const pp_replay_data *data, double bytes)
{
    pp_plan plan = plan_every_frame(data, false);
    if (planned_bytes(data, &plan) > bytes) {
        plan = plan_every_frame(data, true);
    }
    if (planned_bytes(data, &plan) > bytes) {
        plan = plan_thinned(data, bytes);
    }
    plan.series = data->plan.series;
    return plan;
}
