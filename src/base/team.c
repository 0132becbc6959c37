// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads: those of the host where perp_env brings them, otherwise OpenMP's where the library is
// built with it, otherwise none. Nothing else in the library knows about threads.
#include "base/base.h"

#include <stdatomic.h>

// Lane 0 of one runs on the calling thread.
void pp_team_run(const pp_team *team, int lanes, void (*task)(void *arg, int lane), void *arg)
{
    if (lanes <= 1) {
        task(arg, 0);
        return;
    }
    if (team->env.parallel_for) {
        team->env.parallel_for(team->env.user, lanes, task, arg);
        return;
    }
#if defined(PERP_WITH_OPENMP)
#pragma omp parallel for num_threads(lanes) schedule(static, 1)
#endif
    for (int i = 0; i < lanes; i++) {
        task(arg, i);
    }
}

// Work that lanes take piece by piece.
typedef struct team_share {
    int count, grain;
    void (*task)(void *arg, int from, int to);
    void *arg;
    atomic_int next;
} team_share;

// Relaxed order is enough: the pieces are independent, and the end of the team synchronises.
static void run_share(void *arg, int lane)
{
    team_share *s = arg;
    (void)lane;
    for (;;) {
        int from = atomic_fetch_add_explicit(&s->next, s->grain, memory_order_relaxed);
        if (from >= s->count) {
            return;
        }
        s->task(s->arg, from, s->count - from < s->grain ? s->count : from + s->grain);
    }
}

void pp_team_share(const pp_team *team, int count, int grain,
                   void (*task)(void *arg, int from, int to), void *arg)
{
    int pieces = count / grain + 1;
    int lanes = 1;
    if (team && pieces >= 4) {  // fewer pieces cost more to hand out than they save
        lanes = team->lanes < pieces ? team->lanes : pieces;
    }
    // Where the counter of run_share could overflow, one lane does everything.
    if (lanes <= 1 || count > INT32_MAX - PP_THREADS_MOST * grain) {
        task(arg, 0, count);
        return;
    }
    team_share s = {.count = count, .grain = grain, .task = task, .arg = arg};
    atomic_init(&s.next, 0);
    pp_team_run(team, lanes, run_share, &s);
}
