// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A sweep on the ranks of MPI. Rank 0 hands out runs and writes their rows; every rank, rank 0 as well, has one worker
// process, so that a crash ends a worker and no rank.
//
// Messages are the numbers of runs, down, and rows, up; an empty list, either way, shows that a rank lives. A rank that
// is silent for `patience` counts as dead, and its runs are handed out again.
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE  // NOLINT(bugprone-reserved-identifier): usleep
#endif
#include "sweep.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AHEAD = 16, MESSAGE = 1 << 16, PAUSE_US = 100 };
static const double patience = 10.0, pulse = 0.5, short_run = 0.02;  // [s]
static const int64_t end_of_work = -1;

static const sweep_link *module;
static bool all_alive = true;

int sweep_mpi_size(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        const char *text = getenv(names[k]);
        long long size = text ? strtoll(text, NULL, 10) : 0;
        if (size > 1 && size < INT_MAX) {
            return (int)size;
        }
    }
    return 1;
}

// Beside the program (in a build tree), or where it was installed.
static void *load_module(void)
{
    static const char *const places[] = {"perp_mpi.so", PERP_MPI_FROM_PROGRAM "/perp_mpi.so"};
    char program[4000], path[4200];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (slash) {
        *slash = '\0';
    }
    for (size_t k = 0; k < sizeof places / sizeof places[0]; k++) {
        snprintf(path, sizeof path, "%s/%s", program, places[k]);
        void *loaded = access(path, R_OK) == 0 ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
        if (loaded) {
            return loaded;
        }
        if (access(path, R_OK) == 0) {
            cli_complain("sweep: %s", dlerror());
        }
    }
    return NULL;
}

bool sweep_mpi_open(int *rank, int *size)
{
    void *loaded = load_module();
    module = loaded ? dlsym(loaded, "perp_mpi_link") : NULL;
    if (!module) {
        cli_complain("sweep: this perp was built without MPI: install libopenmpi-dev and build it "
                     "again, or use --shard");
        return false;
    }
    if (!module->open(rank, size)) {
        cli_complain("sweep: MPI does not start");
        return false;
    }
    return true;
}

void sweep_mpi_close(void)
{
    module->close(all_alive);
}

// ── Rank 0 ───────────────────────────────────────────────────────────────────────────────────────

typedef struct member {
    int64_t job[AHEAD];
    int jobs;
    double heard, told, since, typical;  // [s]
    bool dead;
} member;

typedef struct leader {
    sweep_ledger *ledger;
    sweep_pool *pool;
    member *member;  // ranks; the first is not used
    int size;
    int64_t *again;
    int agains;
    char *message;
} leader;

static int64_t next_job(leader *l)
{
    return l->agains > 0 ? l->again[--l->agains] : sweep_ledger_next(l->ledger);
}

// The numbers that a rank has room for; none, now and then, as a sign of life.
static void feed(leader *l, int rank)
{
    member *m = &l->member[rank];
    int most = m->typical > 0.0 && m->typical < short_run ? AHEAD : 2;
    int64_t numbers[AHEAD];
    int count = 0;
    while (m->jobs < most) {
        int64_t index = next_job(l);
        if (index < 0) {
            break;
        }
        m->since = m->jobs == 0 ? cli_seconds() : m->since;
        m->job[m->jobs++] = index;
        numbers[count++] = index;
    }
    double now = cli_seconds();
    if (count > 0 || now - m->told > pulse) {
        char none = 0;
        m->told = now;
        (void)module->send(rank, count > 0 ? (const void *)numbers : &none,
                           count > 0 ? (size_t)count * sizeof *numbers : 1);
    }
}

static void forget_job(member *m, int64_t index)
{
    for (int k = 0; k < m->jobs; k++) {
        if (m->job[k] == index) {
            memmove(m->job + k, m->job + k + 1, (size_t)(m->jobs - k - 1) * sizeof *m->job);
            m->jobs--;
            double now = cli_seconds(), took = now - m->since;
            m->typical = m->typical > 0.0 ? 0.8 * m->typical + 0.2 * took : took;
            m->since = now;
            return;
        }
    }
}

// A message is a number of whole rows, or one byte. Rows of a rank that was given up are taken as well: the ledger
// counts each run once.
static bool hear(leader *l, int from, size_t size)
{
    const perp_sweep *sweep = l->ledger->sweep;
    member *m = &l->member[from];
    m->heard = cli_seconds();
    for (size_t at = 0; size > 1 && at < size;) {
        size_t length = perp_sweep_row_size(sweep, l->message + at, size - at);
        if (length == 0 || length == SIZE_MAX ||
            !perp_sweep_row_unpack(sweep, l->message + at, length, &l->ledger->row)) {
            return true;  // not a row: the run stays due until the rank is given up
        }
        forget_job(m, l->ledger->row.index);
        if (!sweep_ledger_take(l->ledger, l->message + at, length)) {
            return false;
        }
        at += length;
    }
    return true;
}

static void give_up(leader *l, int rank)
{
    member *m = &l->member[rank];
    m->dead = true;
    all_alive = false;
    cli_complain("sweep: rank %d does not answer; its %d runs are handed out again", rank, m->jobs);
    for (int k = 0; k < m->jobs; k++) {
        l->again[l->agains++] = m->job[k];
    }
    m->jobs = 0;
}

static bool lead_round(leader *l)
{
    bool idle = true;
    int from = 0;
    size_t size;
    while ((size = module->receive(&from, l->message, MESSAGE)) > 0) {
        idle = false;
        if (!hear(l, from, size)) {
            return false;
        }
    }
    for (int rank = 1; rank < l->size; rank++) {
        member *m = &l->member[rank];
        if (!m->dead && cli_seconds() - m->heard > patience) {
            give_up(l, rank);
        }
        if (!m->dead) {
            feed(l, rank);
        }
    }
    while (sweep_pool_room(l->pool) > 0) {
        int64_t index = next_job(l);
        if (index < 0 || !sweep_pool_give(l->pool, index)) {
            break;
        }
    }
    if (!sweep_pool_wait(l->pool, 0, sweep_ledger_take, l->ledger)) {
        return false;
    }
    if (idle) {
        usleep(PAUSE_US);  // the worker of this rank needs the processor
    }
    return true;
}

cli_exit sweep_mpi_lead(sweep_ledger *ledger, sweep_pool *pool)
{
    leader l = {.ledger = ledger, .pool = pool};
    l.size = sweep_mpi_size();
    l.member = calloc((size_t)l.size, sizeof *l.member);
    l.again = calloc((size_t)l.size * AHEAD, sizeof *l.again);
    l.message = malloc(MESSAGE);
    cli_exit code = l.member && l.again && l.message ? CLI_FINE : CLI_OUTPUT;
    for (int k = 1; k < l.size && code == CLI_FINE; k++) {
        l.member[k].heard = cli_seconds() + 20.0;  // ranks may start late
    }
    while (code == CLI_FINE && ledger->rows < ledger->due) {
        if (sweep_interrupted()) {
            code = CLI_INTERRUPTED;
        } else if (!lead_round(&l)) {
            code = CLI_OUTPUT;
        }
    }
    for (int k = 1; k < l.size && l.member; k++) {
        if (!l.member[k].dead) {
            (void)module->send(k, &end_of_work, sizeof end_of_work);
        }
    }
    free(l.member);
    free(l.again);
    free(l.message);
    return code;
}

// ── The others ───────────────────────────────────────────────────────────────────────────────────

typedef struct server {
    double told;
    bool failed;
} server;

static bool send_row(void *user, const void *row, size_t size)
{
    server *s = user;
    s->told = cli_seconds();
    s->failed = s->failed || !module->send(0, row, size);
    return !s->failed;
}

cli_exit sweep_mpi_serve(const perp_sweep *sweep, sweep_pool *pool)
{
    (void)sweep;
    server s = {0};
    int64_t numbers[AHEAD], waiting[2 * AHEAD];
    int backlog = 0;
    double heard = cli_seconds() + 20.0;
    while (!sweep_interrupted()) {
        int from = 0;
        size_t size = module->receive(&from, numbers, sizeof numbers);
        heard = size > 0 ? cli_seconds() : heard;
        if (size >= sizeof *numbers && numbers[0] == end_of_work) {
            return CLI_FINE;
        }
        for (size_t k = 0; k < size / sizeof *numbers && backlog < 2 * AHEAD; k++) {
            waiting[backlog++] = numbers[k];
        }
        // The worker takes as many as it likes.
        int given = 0;
        while (given < backlog && sweep_pool_room(pool) > 0 &&
               sweep_pool_give(pool, waiting[given])) {
            given++;
        }
        memmove(waiting, waiting + given, (size_t)(backlog - given) * sizeof *waiting);
        backlog -= given;
        if (!sweep_pool_wait(pool, size > 0 ? 0 : 1, send_row, &s)) {
            return CLI_OUTPUT;
        }
        // A sign of life; and rank 0 is expected to give one.
        double now = cli_seconds();
        if (now - s.told > pulse) {
            char none = 0;
            (void)send_row(&s, &none, 1);
        }
        if (now - heard > 3.0 * patience) {
            all_alive = false;
            return CLI_OUTPUT;
        }
    }
    return CLI_INTERRUPTED;
}
