// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads: the host's where perp_env brings them, else OpenMP's where the library is built with it, else
// none. Nothing else of the library knows of threads.
#include "base/base.h"

void pp_lanes_run(const perp_env *env, int lanes, void (*task)(void *arg, int lane), void *arg)
{
    if (lanes <= 1) {
        task(arg, 0);
        return;
    }
    if (env && env->parallel_for) {
        env->parallel_for(env->user, lanes, task, arg);
        return;
    }
#if defined(PERP_WITH_OPENMP)
#pragma omp parallel for num_threads(lanes) schedule(static, 1)
#endif
    for (int i = 0; i < lanes; i++) {
        task(arg, i);
    }
}
