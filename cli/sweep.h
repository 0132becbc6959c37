// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp sweep: worker processes, and the engine that shares runs among ranks of MPI.
#pragma once

#include "cli.h"

// ── Workers (sweep_pool.c) ───────────────────────────────────────────────────────────────────────
// Processes that are forked from this one and make one run after the other. A run that takes too long, too much memory
// or crashes costs its worker, which is replaced; runs that a dead worker had not begun are given to others.

typedef struct sweep_pool sweep_pool;

typedef struct sweep_pool_def {
    const perp_sweep *sweep;
    int workers;
    const char *dir;   // recordings go to dir/runs/INDEX; NULL: none are made
    bool record_all;   // record every run
    double replay_mb;  // size of replay.html of a recording; 0: none
} sweep_pool_def;

// A row that is finished, as bytes. false ends the call of sweep_pool_wait.
typedef bool sweep_done(void *user, const void *row, size_t size);

sweep_pool *sweep_pool_create(const sweep_pool_def *def);  // NULL: no memory, or no processes
void sweep_pool_destroy(sweep_pool *pool);                 // runs under way are lost
int sweep_pool_room(const sweep_pool *pool);               // runs that it would take now
int sweep_pool_busy(const sweep_pool *pool);               // runs that it has
bool sweep_pool_give(sweep_pool *pool, int64_t index);
// Waits at most so long [ms] for rows. false: `done` said so, or no worker can be started.
bool sweep_pool_wait(sweep_pool *pool, int ms, sweep_done *done, void *user);

// ── The sweep (sweep.c) ──────────────────────────────────────────────────────────────────────────

// Hands out the runs that are due, and takes their rows.
typedef struct sweep_ledger {
    const perp_sweep *sweep;
    unsigned char *had;  // one per run: its row is in a shard, or it is not ours
    int64_t next;        // no run before this one is due
    int64_t due, rows;   // runs of this call, and rows that came
    int64_t solved, failed;
    perp_shard *shard;
    perp_sweep_row row;  // scratch
    bool shown;          // a progress line
    double began, told;
    bool lost;  // a row could not be written
} sweep_ledger;

int64_t sweep_ledger_next(sweep_ledger *ledger);  // -1: none is left
sweep_done sweep_ledger_take;                     // user: the ledger
bool sweep_interrupted(void);

// ── MPI (sweep_mpi.c) ────────────────────────────────────────────────────────────────────────────

// What the module perp_mpi offers: messages between ranks, none of which waits.
typedef struct sweep_link {
    bool (*open)(int *rank, int *size);
    bool (*send)(int to, const void *bytes, size_t size);    // false: it cannot be sent
    size_t (*receive)(int *from, void *bytes, size_t room);  // 0: there is none
    void (*close)(bool all);  // all: every rank calls it; false: some are dead
} sweep_link;

// The number of ranks that mpirun has started; 1: not started by it.
int sweep_mpi_size(void);
// Loads the module; false after a message: there is none.
bool sweep_mpi_open(int *rank, int *size);
// Rank 0 hands out the runs of its ledger, to its own worker as well.
cli_exit sweep_mpi_lead(sweep_ledger *ledger, sweep_pool *pool);
// The others make the runs that they are given, until they are told to end.
cli_exit sweep_mpi_serve(const perp_sweep *sweep, sweep_pool *pool);
void sweep_mpi_close(void);
