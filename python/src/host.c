// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Services for the library: threads, memory that is counted, and an ear for Ctrl-C during long calls.
#include "binding.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

// ── Stopping ─────────────────────────────────────────────────────────────────────────────────────

enum { SIGNAL_MS = 50 };  // how often signals are looked for

static long long milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void bind_host_leave(bind_host *host)
{
    host->thread = PyThread_get_thread_ident();
    host->saved = PyEval_SaveThread();
}

void bind_host_return(bind_host *host)
{
    PyEval_RestoreThread(host->saved);
    host->saved = NULL;
}

// The library asks many times in a step, so that the clock is read at every eighth question only. The interpreter
// is asked by the thread of the call: no other may.
bool bind_host_stop(void *user)
{
    bind_host *host = user;
    host = host->chief ? host->chief : host;
    if (atomic_load_explicit(&host->stop, memory_order_relaxed)) {
        return true;
    }
    if (atomic_fetch_add_explicit(&host->asked, 1, memory_order_relaxed) % 8 != 0) {
        return false;
    }
    long long now = milliseconds();
    if (now < atomic_load_explicit(&host->next, memory_order_relaxed) ||
        PyThread_get_thread_ident() != host->thread || !host->saved) {
        return false;
    }
    atomic_store_explicit(&host->next, now + SIGNAL_MS, memory_order_relaxed);
    bind_host_return(host);
    if (PyErr_CheckSignals() < 0) {
        atomic_store_explicit(&host->stop, true, memory_order_relaxed);
    }
    bind_host_leave(host);
    return atomic_load_explicit(&host->stop, memory_order_relaxed);
}

// ── Memory ───────────────────────────────────────────────────────────────────────────────────────

static void *allocate(void *user, size_t size, size_t align)
{
    bind_host *host = user;
    atomic_fetch_add_explicit(host->allocations, 1, memory_order_relaxed);
    size_t rounded = (size + align - 1) / align * align;
    return rounded < size ? NULL : aligned_alloc(align, rounded);
}

static void release(void *user, void *block, size_t size)
{
    (void)user;
    (void)size;
    free(block);
}

static void parallel(void *user, int count, void (*task)(void *arg, int i), void *arg)
{
    bind_host *host = user;
    bind_team_run(&host->team, count, task, arg);
}

perp_env bind_host_env(bind_host *host)
{
    perp_env env = {.parallel_for = parallel, .stop = bind_host_stop, .user = host};
    if (host->allocations) {
        env.alloc = allocate;
        env.free = release;
    }
    return env;
}

void bind_host_clear(bind_host *host)
{
    bind_team_destroy(host->team);
    host->team = NULL;
}

// ── Threads ──────────────────────────────────────────────────────────────────────────────────────

struct bind_team {
    long pid;
    pthread_mutex_t mutex;
    pthread_cond_t work, done;
    pthread_t *thread;
    int threads, room;
    // The task under way: its number counts up, so that a thread does each once.
    void (*task)(void *arg, int i);
    void *arg;
    int count, next, running;
    bool ending;
    atomic_bool taken;  // a task is under way: another one, from inside it, runs on its caller
};

// Takes parts of the task until none is left. Called with the mutex, which is released while a part runs.
static void take_parts(bind_team *team)
{
    while (team->next < team->count) {
        int part = team->next++;
        team->running++;
        pthread_mutex_unlock(&team->mutex);
        team->task(team->arg, part);
        pthread_mutex_lock(&team->mutex);
        team->running--;
    }
    if (team->running == 0) {
        pthread_cond_broadcast(&team->done);
    }
}

static void *serve(void *arg)
{
    bind_team *team = arg;
    pthread_mutex_lock(&team->mutex);
    while (!team->ending) {
        take_parts(team);
        if (!team->ending) {
            pthread_cond_wait(&team->work, &team->mutex);
        }
    }
    pthread_mutex_unlock(&team->mutex);
    return NULL;
}

static bind_team *team_create(void)
{
    bind_team *team = calloc(1, sizeof *team);
    if (!team) {
        return NULL;
    }
    team->pid = (long)getpid();
    pthread_mutex_init(&team->mutex, NULL);
    pthread_cond_init(&team->work, NULL);
    pthread_cond_init(&team->done, NULL);
    return team;
}

// As many threads as can be had; fewer do the same work.
static void grow(bind_team *team, int threads)
{
    if (threads > team->room) {
        pthread_t *more = realloc(team->thread, (size_t)threads * sizeof *more);
        if (!more) {
            return;
        }
        team->thread = more;
        team->room = threads;
    }
    while (team->threads < threads) {
        if (pthread_create(&team->thread[team->threads], NULL, serve, team) != 0) {
            return;
        }
        team->threads++;
    }
}

static void run_serially(int count, void (*task)(void *arg, int i), void *arg)
{
    for (int i = 0; i < count; i++) {
        task(arg, i);
    }
}

void bind_team_run(bind_team **at, int count, void (*task)(void *arg, int i), void *arg)
{
    bind_team *team = *at;
    if (!team || team->pid != (long)getpid()) {
        // After a fork the threads of the parent do not exist here, and its mutex may be taken: the old team is left
        // behind.
        team = *at = count > 1 ? team_create() : NULL;
    }
    if (!team || count <= 1 || atomic_exchange(&team->taken, true)) {
        run_serially(count, task, arg);
        return;
    }
    grow(team, count - 1);
    pthread_mutex_lock(&team->mutex);
    team->task = task;
    team->arg = arg;
    team->next = 0;
    team->count = count;
    pthread_cond_broadcast(&team->work);
    take_parts(team);
    while (team->running > 0) {
        pthread_cond_wait(&team->done, &team->mutex);
    }
    team->count = 0;
    pthread_mutex_unlock(&team->mutex);
    atomic_store(&team->taken, false);
}

void bind_team_destroy(bind_team *team)
{
    if (!team || team->pid != (long)getpid()) {
        return;  // of the parent process
    }
    pthread_mutex_lock(&team->mutex);
    team->ending = true;
    pthread_cond_broadcast(&team->work);
    pthread_mutex_unlock(&team->mutex);
    for (int i = 0; i < team->threads; i++) {
        pthread_join(team->thread[i], NULL);
    }
    pthread_mutex_destroy(&team->mutex);
    pthread_cond_destroy(&team->work);
    pthread_cond_destroy(&team->done);
    free(team->thread);
    free(team);
}
