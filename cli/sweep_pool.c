// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Worker processes of a sweep.
//
// A worker is a fork of this process: the sweep and its scene are in its memory already, and a run costs no more than
// the scene of its parameters. It reads the numbers of runs from a socket and writes rows to it. Several numbers are on
// their way while runs are short, so that no worker waits for the next one. The first number that has no row yet is the
// run that a worker is on: when it dies, that run has failed, or was killed and is tried again; the others are given to
// other workers.
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE  // NOLINT(bugprone-reserved-identifier): prctl
#endif
#include "sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

enum {
    AHEAD = 8,  // numbers on their way to a worker, at most
    KILLS =
        5,  // a run whose worker was killed so often has failed: the system may be short of memory
    CRASHES = 2,  // likewise for other signals
    DESCRIPTORS = 1024,
};
static const double short_run = 0.02;  // [s]: several numbers are sent ahead

typedef struct job {
    int64_t index;
    int kills, crashes;  // of workers that were on it
} job;

typedef struct seat {
    pid_t pid;  // 0: no worker
    int link;
    job job[AHEAD];  // in the order in which they were sent
    int jobs;
    char *rows;  // bytes that came, less than a row
    size_t used;
    double since;    // when the first job began [s]
    double typical;  // duration of its runs, smoothed [s]
    bool late;       // killed by us: the run took too long
} seat;

struct sweep_pool {
    sweep_pool_def def;
    seat *seat;
    job *again;  // jobs of dead workers
    int agains;
    size_t room;  // of a row
    struct pollfd *poll;
    perp_sweep_row row;
};

// ── In the worker ────────────────────────────────────────────────────────────────────────────────

static double run_began, run_seconds;  // of the run under way, in a worker

// For perp_env. Processor time is asked for only when the wall clock makes it possible: it is slower to read.
static bool too_long(void *user)
{
    (void)user;
    struct timespec now;
    if (cli_seconds() - run_began < run_seconds) {
        return false;
    }
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0 &&
           (double)now.tv_sec + 1e-9 * (double)now.tv_nsec > *(double *)user + run_seconds;
}

static double processor_seconds(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// A run that does not ask (in a factorisation of another library) ends by SIGXCPU two seconds later.
static void limit_time(double used, double seconds)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_CPU, &limit) == 0) {
        double most = used + seconds + 2.0;
        limit.rlim_cur = most < 1e9 ? (rlim_t)most + 1 : RLIM_INFINITY;
        if (limit.rlim_max != RLIM_INFINITY && limit.rlim_cur > limit.rlim_max) {
            limit.rlim_cur = limit.rlim_max;
        }
        setrlimit(RLIMIT_CPU, &limit);
    }
}

// Address space beyond what the process has now. Sanitizers reserve all of it.
static void limit_memory(double megabytes)
{
#if !defined(SANITIZED)
    char line[64] = "";
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (!fgets(line, sizeof line, file)) {
            line[0] = '\0';
        }
        fclose(file);
    }
    double pages = strtod(line, NULL);
    double most = pages * (double)sysconf(_SC_PAGESIZE) + 1e6 * megabytes;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && most < 1e18) {
        rlim_t wanted = (rlim_t)most;
        limit.rlim_cur =
            limit.rlim_max != RLIM_INFINITY && wanted > limit.rlim_max ? limit.rlim_max : wanted;
        setrlimit(RLIMIT_AS, &limit);
    }
#else
    (void)megabytes;
#endif
}

static bool read_all(int link, void *bytes, size_t size)
{
    char *at = bytes;
    while (size > 0) {
        ssize_t n = read(link, at, size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        at += n;
        size -= (size_t)n;
    }
    return true;
}

static bool write_all(int link, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        ssize_t n = write(link, at, size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        at += n;
        size -= (size_t)n;
    }
    return true;
}

// Records a run into dir/runs/INDEX. A recording that cannot be written makes the run fail with the reason.
static void record_run(const sweep_pool_def *def, int64_t index, const perp_env *env,
                       perp_sweep_row *row)
{
    char dir[4200];
    snprintf(dir, sizeof dir, "%.4000s/runs", def->dir);
    mkdir(def->dir, 0777);
    mkdir(dir, 0777);
    snprintf(dir, sizeof dir, "%.4000s/runs/%lld", def->dir, (long long)index);
    if (perp_sweep_run(def->sweep, index, dir, env, row) < 0 || row->status > PERP_RUN_UNSOLVED) {
        return;
    }
    perp_recording *recording = NULL;
    if (def->replay_mb > 0.0 && perp_recording_open(dir, NULL, &recording, NULL) >= 0) {
        (void)cli_replay_write("sweep", recording, dir, def->replay_mb, true);
        perp_recording_close(recording);
    }
}

static void make_run(const sweep_pool *pool, int64_t index, perp_sweep_row *row)
{
    const sweep_pool_def *def = &pool->def;
    double used = processor_seconds();
    const perp_env env = {.stop = too_long, .user = &used};
    run_began = cli_seconds();
    run_seconds = perp_sweep_limit(def->sweep).seconds;
    limit_time(used, run_seconds);
    bool record = def->dir && (def->record_all || perp_sweep_recorded_always(def->sweep, index));
    if (record) {
        record_run(def, index, &env, row);
        return;
    }
    if (perp_sweep_run(def->sweep, index, NULL, &env, row) < 0) {
        perp_sweep_row_failed(def->sweep, index, PERP_RUN_REFUSED, "no such run", row);
    }
    // The same run again, which takes the same steps, for a recording that its outputs ask for.
    if (def->dir && perp_sweep_recorded_after(def->sweep, row)) {
        record_run(def, index, &env, row);
    }
}

// Never returns.
static void work(const sweep_pool *pool, int link)
{
    char *bytes = malloc(pool->room);
    perp_sweep_row row = pool->row;
    struct rlimit none = {0, 0};
    int64_t index = 0;
    // Nothing of the parent but its standard files: not its shard, nor the links of other workers.
    for (int k = 3; k < DESCRIPTORS; k++) {
        if (k != link) {
            close(k);
        }
    }
    signal(SIGINT, SIG_IGN);  // the parent decides what a Ctrl-C means
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    setrlimit(RLIMIT_CORE, &none);
    limit_memory(perp_sweep_limit(pool->def.sweep).megabytes);
    while (bytes && read_all(link, &index, sizeof index)) {
        make_run(pool, index, &row);
        size_t size = perp_sweep_row_pack(pool->def.sweep, &row, bytes, pool->room);
        if (size == 0 || !write_all(link, bytes, size)) {
            break;
        }
    }
    _exit(0);
}

// ── Seats ────────────────────────────────────────────────────────────────────────────────────────

static bool start_worker(sweep_pool *pool, seat *s)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        return false;
    }
    fflush(NULL);  // or both processes would write what is buffered
    pid_t parent = getpid(), pid = fork();
    if (pid < 0) {
        close(pair[0]);
        close(pair[1]);
        return false;
    }
    if (pid == 0) {
#if defined(__linux__)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
        if (getppid() != parent) {
            _exit(0);  // the parent was killed before the line above
        }
        work(pool, pair[1]);
    }
    close(pair[1]);
    fcntl(pair[0], F_SETFD, FD_CLOEXEC);
    s->pid = pid;
    s->link = pair[0];
    s->used = 0;
    s->jobs = 0;
    s->late = false;
    s->since = cli_seconds();
    return true;
}

sweep_pool *sweep_pool_create(const sweep_pool_def *def)
{
    int columns = 0;
    (void)perp_sweep_columns(def->sweep, &columns);
    sweep_pool *pool = calloc(1, sizeof *pool);
    if (!pool) {
        return NULL;
    }
    size_t n = (size_t)def->workers;
    pool->def = *def;
    pool->room = perp_sweep_row_room(def->sweep);
    pool->seat = calloc(n, sizeof *pool->seat);
    pool->again = calloc(n * AHEAD, sizeof *pool->again);
    pool->poll = calloc(n, sizeof *pool->poll);
    pool->row.value = calloc((size_t)columns + 1, sizeof(double));
    bool good = pool->seat && pool->again && pool->poll && pool->row.value;
    for (int k = 0; k < def->workers && good; k++) {
        pool->seat[k].rows = malloc(pool->room);
        good = pool->seat[k].rows && start_worker(pool, &pool->seat[k]);
    }
    if (!good) {
        sweep_pool_destroy(pool);
        return NULL;
    }
    return pool;
}

void sweep_pool_destroy(sweep_pool *pool)
{
    if (!pool) {
        return;
    }
    for (int k = 0; pool->seat && k < pool->def.workers; k++) {
        seat *s = &pool->seat[k];
        if (s->pid > 0) {
            close(s->link);
            kill(s->pid, SIGKILL);
            waitpid(s->pid, NULL, 0);
        }
        free(s->rows);
    }
    free(pool->seat);
    free(pool->again);
    free(pool->poll);
    free(pool->row.value);
    free(pool);
}

// How many numbers a worker may have. While runs are long, none waits behind another.
static int depth(const seat *s)
{
    return s->typical > 0.0 && s->typical < short_run ? AHEAD : 1;
}

int sweep_pool_room(const sweep_pool *pool)
{
    int room = -pool->agains;
    for (int k = 0; k < pool->def.workers; k++) {
        int free_places = depth(&pool->seat[k]) - pool->seat[k].jobs;
        room += free_places > 0 ? free_places : 0;
    }
    return room > 0 ? room : 0;
}

int sweep_pool_busy(const sweep_pool *pool)
{
    int busy = pool->agains;
    for (int k = 0; k < pool->def.workers; k++) {
        busy += pool->seat[k].jobs;
    }
    return busy;
}

// The worker with the fewest jobs that has room; NULL: none.
static seat *idlest(sweep_pool *pool)
{
    seat *best = NULL;
    for (int k = 0; k < pool->def.workers; k++) {
        seat *s = &pool->seat[k];
        if (s->pid > 0 && s->jobs < depth(s) && (!best || s->jobs < best->jobs)) {
            best = s;
        }
    }
    return best;
}

// A worker that is dead takes no number; what becomes of the job is decided when its end is seen.
static bool send_job(sweep_pool *pool, job j)
{
    seat *s = idlest(pool);
    if (!s) {
        return false;
    }
    if (s->jobs == 0) {
        s->since = cli_seconds();
    }
    s->job[s->jobs++] = j;
    (void)write_all(s->link, &j.index, sizeof j.index);
    return true;
}

bool sweep_pool_give(sweep_pool *pool, int64_t index)
{
    return send_job(pool, (job){.index = index});
}

// ── Rows, and ends ───────────────────────────────────────────────────────────────────────────────

static bool report_failure(sweep_pool *pool, int64_t index, perp_run_status status,
                           const char *reason, sweep_done *done, void *user)
{
    char *bytes = malloc(pool->room);
    if (!bytes) {
        return false;
    }
    perp_sweep_row_failed(pool->def.sweep, index, status, reason, &pool->row);
    size_t size = perp_sweep_row_pack(pool->def.sweep, &pool->row, bytes, pool->room);
    bool more = done(user, bytes, size);
    free(bytes);
    return more;
}

// Names of signals do not depend on the language of the user: rows are the same everywhere.
static const char *signal_name(int number)
{
    switch (number) {
    case SIGSEGV:
        return "SIGSEGV";
    case SIGBUS:
        return "SIGBUS";
    case SIGABRT:
        return "SIGABRT";
    case SIGFPE:
        return "SIGFPE";
    case SIGILL:
        return "SIGILL";
    case SIGKILL:
        return "SIGKILL";
    case SIGTERM:
        return "SIGTERM";
    default:
        return "a signal";
    }
}

// The job that a dead worker was on: failed, or to be tried again.
static bool bury_job(sweep_pool *pool, const seat *s, job j, int how, sweep_done *done, void *user)
{
    char reason[160];
    int number = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
    if (s->late || number == SIGXCPU) {
        snprintf(reason, sizeof reason, "longer than %.6g s",
                 perp_sweep_limit(pool->def.sweep).seconds);
        return report_failure(pool, j.index, PERP_RUN_TIME, reason, done, user);
    }
    // Somebody killed the worker, or the system was short of memory: that says little about the run.
    bool killed = number == SIGKILL || number == SIGTERM || number == SIGHUP;
    j.kills += killed;
    j.crashes += !killed;
    if (j.kills < KILLS && j.crashes < CRASHES) {
        pool->again[pool->agains++] = j;
        return true;
    }
    if (number == 0) {
        snprintf(reason, sizeof reason, "its process ended with exit code %d", WEXITSTATUS(how));
    } else {
        snprintf(reason, sizeof reason, "its process was ended by %s, %d times",
                 signal_name(number), killed ? KILLS : CRASHES);
    }
    return report_failure(pool, j.index, PERP_RUN_CRASHED, reason, done, user);
}

// A worker whose link has ended. It is replaced at once.
static bool bury(sweep_pool *pool, seat *s, sweep_done *done, void *user)
{
    int how = 0;
    job jobs[AHEAD];
    int count = s->jobs;
    memcpy(jobs, s->job, sizeof jobs);
    seat was = *s;
    close(s->link);
    kill(s->pid, SIGKILL);  // it has closed its link, or sends what is no row
    waitpid(s->pid, &how, 0);
    s->pid = 0;
    s->jobs = 0;
    for (int k = 1; k < count; k++) {
        pool->again[pool->agains++] = jobs[k];
    }
    bool more = count == 0 || bury_job(pool, &was, jobs[0], how, done, user);
    if (!start_worker(pool, s)) {
        cli_complain("sweep: cannot start a process: %s", strerror(errno));
        return false;
    }
    return more;
}

// Takes whole rows out of the bytes that came. false: they are no rows.
static bool take_rows(sweep_pool *pool, seat *s, sweep_done *done, void *user, bool *more)
{
    size_t at = 0;
    for (;;) {
        size_t size = perp_sweep_row_size(pool->def.sweep, s->rows + at, s->used - at);
        if (size == SIZE_MAX) {
            return false;
        }
        if (size == 0) {
            break;
        }
        if (s->jobs == 0 ||
            !perp_sweep_row_unpack(pool->def.sweep, s->rows + at, size, &pool->row) ||
            pool->row.index != s->job[0].index) {
            return false;
        }
        double now = cli_seconds(), took = now - s->since;
        s->typical = s->typical > 0.0 ? 0.8 * s->typical + 0.2 * took : took;
        s->since = now;
        memmove(s->job, s->job + 1, (size_t)--s->jobs * sizeof *s->job);
        *more = done(user, s->rows + at, size) && *more;
        at += size;
    }
    memmove(s->rows, s->rows + at, s->used - at);
    s->used -= at;
    return true;
}

// What a worker has sent. The link ends when the worker does.
static bool listen_to(sweep_pool *pool, seat *s, sweep_done *done, void *user)
{
    bool more = true;
    for (;;) {
        ssize_t n = recv(s->link, s->rows + s->used, pool->room - s->used, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            return more;
        }
        bool good = n > 0;
        if (good) {
            s->used += (size_t)n;
            good = take_rows(pool, s, done, user, &more);
        }
        if (!good) {
            return bury(pool, s, done, user) && more;
        }
    }
}

// A worker that does not answer: stopped, or stuck in a call that uses no processor time. On a busy machine a run takes
// longer than its processor time.
static void end_late(sweep_pool *pool)
{
    double most = 4.0 * perp_sweep_limit(pool->def.sweep).seconds + 5.0, now = cli_seconds();
    for (int k = 0; k < pool->def.workers; k++) {
        seat *s = &pool->seat[k];
        if (s->pid > 0 && s->jobs > 0 && !s->late && now - s->since > most) {
            s->late = true;
            kill(s->pid, SIGKILL);
        }
    }
}

bool sweep_pool_wait(sweep_pool *pool, int ms, sweep_done *done, void *user)
{
    for (int k = 0; k < pool->def.workers; k++) {
        pool->poll[k] = (struct pollfd){.fd = pool->seat[k].link, .events = POLLIN};
    }
    int ready = poll(pool->poll, (nfds_t)pool->def.workers, ms);
    bool more = true;
    for (int k = 0; k < pool->def.workers && ready > 0; k++) {
        if (pool->poll[k].revents) {
            more = listen_to(pool, &pool->seat[k], done, user) && more;
        }
    }
    end_late(pool);
    // Jobs of dead workers come before new ones.
    while (pool->agains > 0 && send_job(pool, pool->again[pool->agains - 1])) {
        pool->agains--;
    }
    return more;
}
