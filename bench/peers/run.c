// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The time of step k is the smallest over the repeats (runs are deterministic), in thread CPU time, so that
// other programs do not count; the result is the median over k. Only the step of the engine is timed.
#include "run.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ── Timing ───────────────────────────────────────────────────────────────────────────────────────

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Reorders t; n > 0.
static double median(double *t, int n)
{
    qsort(t, (size_t)n, sizeof *t, ascending);
    return t[n / 2];
}

static void time_columns(double *best, int steps, double *value)
{
    int tail = steps >= 5 ? steps / 5 : steps;
    value[PEER_US_TAIL] = 1e6 * median(best + steps - tail, tail);
    value[PEER_US] = 1e6 * median(best, steps);  // sorting the tail before does not matter
}

// ── One run ──────────────────────────────────────────────────────────────────────────────────────

typedef struct job {
    const peer_engine *engine;
    const char *setting;
    const peer_scene *scene;
    double h, deadline;  // deadline in CPU seconds of the process
    int steps;
    double *best;       // [steps] shortest time of each step
    peer_state *state;  // [bodies]
} job;

// The first run also observes; returns the number of steps taken, 0 if the engine was not created.
static int run_first(const job *j, void *self, peer_result *r)
{
    peer_watch watch;
    j->engine->read(self, j->state);
    if (!peer_watch_begin(&watch, j->scene, j->state, j->h)) {
        return 0;
    }
    double contacts = 0.0, residual = NAN;
    int k = 0;
    while (k < j->steps && !watch.diverged && !r->late) {
        double start = seconds(CLOCK_THREAD_CPUTIME_ID);
        j->engine->step(self);
        j->best[k++] = seconds(CLOCK_THREAD_CPUTIME_ID) - start;
        contacts += j->engine->contacts ? j->engine->contacts(self) : 0.0;
        if (j->engine->residual) {
            residual = fmax(residual, j->engine->residual(self));
        }
        if (k % watch.every == 0 || k == j->steps) {
            j->engine->read(self, j->state);
            peer_watch_see(&watch, k * j->h, j->state);
        }
        r->late = k < j->steps && seconds(CLOCK_PROCESS_CPUTIME_ID) > j->deadline;
    }
    j->engine->read(self, j->state);
    r->diverged = watch.diverged;
    r->simulated = k * j->h;
    peer_watch_end(&watch, k * j->h, j->state, !r->late && !r->diverged, r->value);
    if (j->scene->planes > 0 && j->engine->contacts) {
        r->value[PEER_CONTACTS] = contacts / k;
    }
    r->value[PEER_RESIDUAL] = residual;
    peer_watch_free(&watch);
    return k;
}

static void run_again(const job *j, void *self, int steps)
{
    for (int k = 0; k < steps; k++) {
        double start = seconds(CLOCK_THREAD_CPUTIME_ID);
        j->engine->step(self);
        j->best[k] = fmin(j->best[k], seconds(CLOCK_THREAD_CPUTIME_ID) - start);
    }
}

static void measure(job *j, peer_limits limits, peer_result *shared)
{
    peer_result r = *shared;
    int steps = 0;
    double begin = seconds(CLOCK_PROCESS_CPUTIME_ID), spent = 0.0;
    j->deadline = begin + limits.budget;
    for (int n = 0; n < limits.repeats && spent * (n + 1) <= limits.budget * n; n++) {
        void *self = j->engine->create(j->scene, j->setting, j->h, shared->reason);
        if (!self) {
            return;
        }
        if (n == 0) {
            steps = run_first(j, self, &r);
        } else {
            run_again(j, self, steps);
        }
        j->engine->destroy(self);
        r.repeats = n + 1;
        spent = seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
        if (steps == 0 || r.late || r.diverged) {
            break;
        }
    }
    if (steps > 0) {
        time_columns(j->best, steps, r.value);
        r.done = true;
        *shared = r;
    }
}

// ── The child ────────────────────────────────────────────────────────────────────────────────────

static const peer_engine *load(const char *folder, const char *name, char reason[80])
{
    if (!strcmp(name, "perp")) {
        return &peer_perp;
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/peer_%s.so", folder, name);
    if (access(path, R_OK) != 0) {
        snprintf(reason, 80, "not built: the library was not found");
        return NULL;
    }
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const peer_engine *engine = module ? dlsym(module, PEER_MODULE_SYMBOL) : NULL;
    if (!engine) {
        snprintf(reason, 80, "%s", dlerror());
    }
    return engine;
}

static void prepare_child(const char *folder, double budget)
{
    if (chdir(folder) != 0) {  // MuJoCo writes a log to the current directory
        _exit(1);
    }
    int null = open("/dev/null", O_WRONLY);
    if (null >= 0) {
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        close(null);
    }
    struct rlimit cpu = {(rlim_t)(2.0 * budget) + 30, (rlim_t)(2.0 * budget) + 31}, none = {0, 0};
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_CORE, &none);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("OMP_NUM_THREADS", "1", 1);
}

static void child_main(const char *folder, const char *engine, job *j, peer_limits limits,
                       peer_result *shared)
{
    prepare_child(folder, limits.budget);
    j->engine = load(folder, engine, shared->reason);
    if (!j->engine) {
        return;
    }
    snprintf(shared->version, sizeof shared->version, "%s", j->engine->version);
    j->steps = (int)lround(j->scene->duration / j->h);
    j->best = calloc((size_t)j->steps, sizeof *j->best);
    j->state = calloc((size_t)j->scene->bodies, sizeof *j->state);
    if (j->best && j->state) {
        snprintf(shared->reason, sizeof shared->reason, "crashed");
        measure(j, limits, shared);
    }
}

// The child's exit closes its end of the pipe. One that sleeps is ended by the wall clock.
static void wait_or_end(pid_t child, int pipe_end, double wall, peer_result *shared)
{
    struct pollfd ready = {.fd = pipe_end, .events = POLLIN};
    int count;
    do {
        count = poll(&ready, 1, (int)(1e3 * wall));
    } while (count < 0 && errno == EINTR);
    if (count == 0) {
        kill(child, SIGKILL);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (!shared->done && (count == 0 || number == SIGXCPU)) {
        snprintf(shared->reason, sizeof shared->reason, "hangs");
    }
}

peer_result peer_run(const char *folder, const char *engine, const char *setting,
                     const peer_scene *scene, double h, peer_limits limits)
{
    peer_result *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int ends[2];
    if (shared == MAP_FAILED || pipe(ends) != 0) {
        perror("perp_bench_peers");
        exit(1);
    }
    for (int c = 0; c < PEER_COLUMNS; c++) {
        shared->value[c] = NAN;
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        job j = {.setting = setting, .scene = scene, .h = h};
        child_main(folder, engine, &j, limits, shared);
        _exit(0);
    }
    close(ends[1]);
    if (child > 0) {
        wait_or_end(child, ends[0], 8.0 * limits.budget + 120.0, shared);
    }
    close(ends[0]);
    for (char *c = shared->reason; (c = strpbrk(c, "\r\n")) != NULL;) {
        *c = ' ';
    }
    peer_result result = *shared;
    munmap(shared, sizeof *shared);
    return result;
}
