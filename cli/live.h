// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp view SCENE: a simulation shown and controlled by pages in browsers.
//
// The calling thread steps the sim and publishes frames; it never waits for a page. Each page has a server thread that
// waits for its requests: a page gets the newest frame when it asks for one, so a slow page skips frames and no queue
// grows. The threads share a live_board, protected by one lock.
#pragma once

#include "cli.h"

#include <pthread.h>
#include <signal.h>

// ── The board (live_board.c) ─────────────────────────────────────────────────────────────────────

enum { LIVE_COMMANDS = 64, LIVE_COMMAND_BYTES = 2048, LIVE_PAGES = 8 };

typedef struct live_board {
    pthread_mutex_t lock;
    pthread_cond_t fresh;  // new frame or status
    pthread_cond_t work;   // new command, or a page closed
    unsigned char *frame;
    size_t frame_size, frame_room;
    uint64_t frame_number;
    char *status;  // JSON
    uint64_t status_number;
    char command[LIVE_COMMANDS][LIVE_COMMAND_BYTES];
    int commands;
    int pages;
    bool seen;         // some page has connected
    double last_left;  // when the last page closed [s]
    bool stop;
} live_board;

bool live_board_start(live_board *board);
void live_board_end(live_board *board);
// Copies; false: out of memory.
bool live_board_publish(live_board *board, const void *frame, size_t size);
bool live_board_tell(live_board *board, const char *status);
// Drops a command that does not fit; a drag replaces a preceding drag.
void live_board_command(live_board *board, const char *text, size_t size);
// Takes the oldest command, waiting at most `seconds`; false: none.
bool live_board_take(live_board *board, char command[LIVE_COMMAND_BYTES], double seconds);
void live_board_page(live_board *board, int change);
// The last page closed a while ago, or a page requested a stop.
bool live_board_over(live_board *board);
double live_seconds(void);

// ── The sim (live_sim.c, live_change.c, live_frame.c) ────────────────────────────────────────────

typedef struct live_drag {
    int body;  // -1: none
    perp_vec3 anchor_B, to_W;
} live_drag;

typedef struct live_sim {
    perp_scene *scene;
    perp_sim *sim;
    perp_record *record;
    perp_sim_def def;
    char solver[32];
    double h, mu;       // mu < 0: from the scene
    char base[2048];    // saved runs: base-1, base-2, ...
    char work[2100];    // directory of the current recording; "": none
    char message[512];  // shown by the page
    double recorded_from;
    double record_most;  // size limit of an unsaved recording [doubles]
    int saved;
    int64_t steps;
    uint32_t generation;            // pages discard their frames when it changes
    perp_certificate since, worst;  // since the last frame; since the reset
    double work_sum, dissipated_sum;
    bool running, failed, full;
    bool stepped;        // since the sim was created; before that energies are unknown
    double speed, rate;  // simulated over real time: requested, reached
    int pending;         // single steps requested
    live_drag drag;
    double *input;  // inputs: as a page has set them; NaN: not
    live_board *board;
    const volatile sig_atomic_t *interrupted;
    perp_env env;  // ends a long step after a signal
    unsigned char *frame;
    size_t frame_room;
} live_sim;

cli_exit live_sim_open(live_sim *live, const char *path, const perp_scene_load_options *reading,
                       const char *keyframe, const char *base, live_board *board,
                       const volatile sig_atomic_t *interrupted);
void live_sim_close(live_sim *live);
// The page for this scene, freed by the caller; NULL after an error message.
char *live_sim_page(live_sim *live, size_t *size);
// Runs until live_board_over, or a signal.
void live_sim_run(live_sim *live);
// One turn of live_sim_run: steps that are due, and a frame; false: nothing was to be done. clock: real time up to which
// was stepped, from live_seconds at first.
bool live_sim_turn(live_sim *live, double *clock);
bool live_sim_publish(live_sim *live);
bool live_sim_tell(live_sim *live);
// Executes a command of a page (JSON).
void live_sim_obey(live_sim *live, const char *command);
void live_record_begin(live_sim *live);
void live_record_drop(live_sim *live);
void live_record_save(live_sim *live);
// live_change.c: replace the sim by one in the same state; false: the sim is unchanged, the message says why.
bool live_change_mu(live_sim *live, double mu);
bool live_change_def(live_sim *live, const perp_sim_def *def);
bool live_reset(live_sim *live);

// ── Inputs (live_input.c) ────────────────────────────────────────────────────────────────────────

bool live_inputs_begin(live_sim *live);   // false: out of memory
void live_inputs_forget(live_sim *live);  // after a reset: the scene's own values
void live_inputs_apply(live_sim *live);   // to a new sim
struct json_t;
void live_inputs_obey(live_sim *live, const struct json_t *root);
struct json_t *live_inputs_list(const live_sim *live);  // for the status

// ── The server (live_server.c) ───────────────────────────────────────────────────────────────────

typedef struct live_server live_server;
live_server *live_server_start(live_board *board, const char *page, size_t size, int port);
void live_server_stop(live_server *server);
const char *live_server_url(const live_server *server);
