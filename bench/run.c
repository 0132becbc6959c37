// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// One solver on one problem, in its own process, timed and judged.
#include "bench.h"

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
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const double budget_seconds = 0.25;  // CPU for the repeats after the first

static double thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void set_cpu_limit(double seconds)
{
    struct itimerval timer = {0};
    timer.it_value.tv_sec = (time_t)seconds;
    timer.it_value.tv_usec = (suseconds_t)(1e6 * (seconds - floor(seconds)));
    setitimer(ITIMER_PROF, &timer, NULL);  // SIGPROF: ends the process
    struct rlimit hard = {(rlim_t)seconds + 2, (rlim_t)seconds + 3};
    setrlimit(RLIMIT_CPU, &hard);
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
}

static void be_quiet(void)
{
    int null = open("/dev/null", O_WRONLY);
    if (null >= 0) {
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        close(null);
    }
}

// The result is written as it comes, so that a crash in a repeat does not lose the first solve.
static void measure(const bench_solver *solver, const bench_problem *problem,
                    volatile bench_result *shared)
{
    void *state = solver->open(solver, problem);
    size_t nz = (size_t)bench_size(problem), nv = problem->contact ? (size_t)problem->fcp.nv : 0;
    bench_answer answer = {0};
    answer.z = calloc(nz + 1, sizeof(double));
    answer.v = nv > 0 ? calloc(nv, sizeof(double)) : NULL;
    if (state == NULL || answer.z == NULL) {
        return;
    }
    double spent = 0.0;
    for (int k = 0; k < BENCH_REPEATS && (k == 0 || spent < budget_seconds); k++) {
        memset(answer.z, 0, nz * sizeof(double));
        solver->reset(state);
        double start = thread_seconds();
        solver->solve(state, &answer);
        double seconds = thread_seconds() - start;
        spent += seconds;
        bench_result result = *shared;
        result.seconds = fmin(result.seconds, seconds);
        result.repeats = k + 1;
        if (k == 0) {
            result.claims = answer.claims;
            result.iterations = answer.iterations;
            snprintf(result.word, sizeof result.word, "%s", answer.word ? answer.word : "");
            bench_judge(problem, &answer, &result);
        }
        *shared = result;
    }
}

typedef enum { ENDED, LATE, DIED } child_end;

static child_end wait_or_kill(pid_t child, int pipe_end, double wall)
{
    struct pollfd ready = {.fd = pipe_end, .events = POLLIN};
    int count;
    do {
        count = poll(&ready, 1, (int)(1e3 * wall));  // the child's exit closes its end
    } while (count < 0 && errno == EINTR);
    if (count == 0) {
        kill(child, SIGKILL);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return ENDED;
    }
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return count == 0 || number == SIGPROF || number == SIGXCPU ? LATE : DIED;
}

bench_result bench_run(const bench_solver *solver, const bench_problem *problem)
{
    bench_result blank = {.outcome = BENCH_CRASH, .plain = NAN, .scaled = NAN, .seconds = INFINITY};
    bench_result *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int ends[2];
    if (shared == MAP_FAILED || pipe(ends) != 0) {
        perror("perp_bench");
        exit(1);
    }
    *shared = blank;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        be_quiet();
        set_cpu_limit(problem->seconds + 2.0 * budget_seconds + 0.5);
        measure(solver, problem, shared);
        _exit(0);
    }
    close(ends[1]);
    child_end end = child > 0 ? wait_or_kill(child, ends[0], 4.0 * problem->seconds + 4.0) : DIED;
    close(ends[0]);
    bench_result result = *shared;
    munmap(shared, sizeof *shared);
    bool finite = isfinite(result.seconds);  // the first solve has ended and was judged
    if (finite ? result.seconds > problem->seconds : end == LATE) {
        result.outcome = BENCH_TIMEOUT;
    }
    return result;
}

bool bench_solved(const bench_result *result, bool peer)
{
    return result->outcome == BENCH_SOLVED || (peer && result->outcome == BENCH_PLAIN);
}
