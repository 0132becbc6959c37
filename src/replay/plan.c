// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// How a run is made to fit: floats and every frame; else 16 bits a number; else fewer moments, without
// velocities (the page has them from the positions), contacts thinner than poses where they are many.
#include "replay/reel.h"

#include <math.h>

bool pp_clock_keeps(pp_clock clock, int frame, int frames)
{
    return frame % clock.stride == 0 || frame == frames - 1;
}

pp_clock pp_clock_make(int stride, int frames)
{
    int last = frames - 1;
    return (pp_clock){stride, last / stride + 1 + (last % stride != 0)};
}

size_t pp_pose_bytes(const pp_reel *reel, bool coarse, bool speeds)
{
    size_t axes = (size_t)reel->axes, spins = (size_t)reel->spins, moving = (size_t)reel->moving;
    size_t cell = coarse ? 2 : 4;
    size_t turn = reel->turns == 1 ? 4 : 4 * cell;
    return 12 + moving * (axes * cell + turn + (speeds ? (axes + spins) * cell : 0)) +
           (size_t)reel->info->joints * PP_JOINT_WIDTH * cell;
}

size_t pp_contact_bytes(const pp_reel *reel, bool coarse)
{
    size_t axes = (size_t)reel->axes, cell = coarse ? 2 : 4;
    return 4 + axes * cell + axes * 2 + 4 * cell + axes * cell + 1;
}

static int64_t rows_kept(const pp_reel *reel, pp_clock clock)
{
    int64_t rows = 0;
    for (int k = 0; k < reel->info->frames; k++) {
        rows += pp_clock_keeps(clock, k, reel->info->frames) ? reel->contacts_of[k] : 0;
    }
    return rows;
}

static pp_plan every_frame(const pp_reel *reel, bool coarse)
{
    pp_clock all = pp_clock_make(1, reel->info->frames);
    return (pp_plan){.poses = all,
                     .contacts = all,
                     .contact_rows = rows_kept(reel, all),
                     .coarse = coarse,
                     .speeds = true};
}

static double weight(const pp_reel *reel, const pp_plan *plan)
{
    return (double)plan->poses.count * (double)pp_pose_bytes(reel, plan->coarse, plan->speeds) +
           (double)plan->contacts.count * 16.0 +
           (double)plan->contact_rows * (double)pp_contact_bytes(reel, plan->coarse);
}

// Poses may have two thirds, or what contacts leave.
static pp_plan thinned(const pp_reel *reel, double bytes)
{
    int frames = reel->info->frames;
    pp_plan plan = every_frame(reel, true);
    plan.speeds = false;
    double contacts = (double)plan.contact_rows * (double)pp_contact_bytes(reel, true);
    double share = fmax(bytes * 2.0 / 3.0, bytes - contacts);
    double poses = (double)frames * (double)(pp_pose_bytes(reel, true, false) + 16);
    double stride = fmin(ceil(poses / fmax(share, 1.0)), frames);
    plan.poses = pp_clock_make(stride > 1.0 ? (int)stride : 1, frames);
    plan.contacts = plan.poses;
    plan.contact_rows = rows_kept(reel, plan.contacts);
    while (weight(reel, &plan) > bytes && plan.contacts.stride < frames) {
        int more = plan.contacts.stride <= frames / 2 ? 2 * plan.contacts.stride : frames;
        plan.contacts = pp_clock_make(more, frames);
        plan.contact_rows = rows_kept(reel, plan.contacts);
    }
    return plan;
}

pp_plan pp_plan_make(const pp_reel *reel, double bytes)
{
    pp_plan plan = every_frame(reel, false);
    if (weight(reel, &plan) > bytes) {
        plan = every_frame(reel, true);
    }
    if (weight(reel, &plan) > bytes) {
        plan = thinned(reel, bytes);
    }
    plan.series = reel->plan.series;
    return plan;
}
