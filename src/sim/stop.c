// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What ends a step early: the host's wish (perp_env.stop) and the time limit of the step. Everything below the sim
// asks through the sim's own services, `sim->env`, which are those of the host with the limit added.
#include "sim/step/stages.h"

#include <math.h>

// The rest of a step may take as long as its solvers may, but not less than this [s]: it certifies the best answer.
static const double REST_LEAST = 0.5;

static void *host_alloc(void *user, size_t size, size_t align)
{
    const pp_host *host = user;
    (void)align;  // pp_alloc asks for the same
    return pp_alloc(&host->env, size);
}

static void host_free(void *user, void *block, size_t size)
{
    const pp_host *host = user;
    pp_free(&host->env, block, size);
}

static void host_parallel_for(void *user, int count, void (*task)(void *arg, int i), void *arg)
{
    const pp_host *host = user;
    host->env.parallel_for(host->env.user, count, task, arg);
}

// The first reason stays until the step ends, whatever the host answers later: a step that was once told to stop does
// not go on with half a result. Relaxed order: threads need to see it soon, not in any order.
static bool host_stop(void *user)
{
    pp_host *host = user;
    if (atomic_load_explicit(&host->stopped, memory_order_relaxed) != PP_STOP_NONE) {
        return true;
    }
    pp_stop_reason reason = PP_STOP_NONE;
    if (host->deadline > 0.0 && pp_seconds() >= host->deadline) {
        reason = PP_STOP_LATE;
    } else if (pp_stopped(&host->env)) {
        reason = PP_STOP_ASKED;
    }
    if (reason != PP_STOP_NONE) {
        atomic_store_explicit(&host->stopped, reason, memory_order_relaxed);
    }
    return reason != PP_STOP_NONE;
}

perp_env pp_host_begin(pp_host *host, const perp_env *env, double max_seconds)
{
    host->env = env ? *env : (perp_env){0};
    host->deadline = 0.0;
    atomic_init(&host->stopped, PP_STOP_NONE);
    // services that the host leaves out stay out: without a limit nothing asks
    return (perp_env){.alloc = host->env.alloc ? host_alloc : NULL,
                      .free = host->env.alloc ? host_free : NULL,
                      .parallel_for = host->env.parallel_for ? host_parallel_for : NULL,
                      .stop = host->env.stop || max_seconds > 0.0 ? host_stop : NULL,
                      .user = host};
}

void pp_sim_stop_begin(perp_sim *sim)
{
    double most = sim->def.max_seconds;
    atomic_store_explicit(&sim->host.stopped, PP_STOP_NONE, memory_order_relaxed);
    sim->host.deadline = most > 0.0 ? pp_seconds() + most + fmax(most, REST_LEAST) : 0.0;
}

// Functions between steps ask the host again.
void pp_sim_stop_end(perp_sim *sim)
{
    atomic_store_explicit(&sim->host.stopped, PP_STOP_NONE, memory_order_relaxed);
    sim->host.deadline = 0.0;
}

perp_status pp_sim_stopped(perp_sim *sim)
{
    if (!pp_stopped(&sim->env)) {
        return PERP_OK;
    }
    char of[40] = "";  // contacts, where they are found once a step
    if (sim->def.stepper != PERP_STEPPER_EVENT) {
        pp_print(of, sizeof of, " of %d contacts", sim->step.gap.count);
    }
    if (atomic_load_explicit(&sim->host.stopped, memory_order_relaxed) == PP_STOP_LATE) {
        pp_print(sim->info.remark, sizeof sim->info.remark,
                 "not solved: the step%s took longer than %.3g s (max_seconds is "
                 "%.6g); raise max_seconds, or use a larger tolerance",
                 of, sim->def.max_seconds + fmax(sim->def.max_seconds, REST_LEAST),
                 sim->def.max_seconds);
        return PERP_ERR_LIMIT;
    }
    pp_print(sim->info.remark, sizeof sim->info.remark, "stopped by the caller in a step%s", of);
    return PERP_ERR_STOPPED;
}
