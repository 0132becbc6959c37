// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The live view of cli/live_*.c in a page: the Worker (playground/worker.js) has turns of it made, and frames and
// statuses are handed to the host instead of a server.
#include "page.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double RECORD_MOST = 8e6;  // [doubles], 64 MB

__attribute__((import_module("perp"), import_name("frame"))) void host_frame(const void *frame,
                                                                             size_t size);
__attribute__((import_module("perp"), import_name("status"))) void host_status(const char *text,
                                                                               size_t size);

static live_sim live;
static live_board board;
static volatile sig_atomic_t interrupted;
static double live_clock;
static const char *scene_text = "", *scene_sets = "", *viewer = "<!--perp-data-->";

// ── What the command line has elsewhere ──────────────────────────────────────────────────────────

double live_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool live_board_publish(live_board *to, const void *frame, size_t size)
{
    (void)to;
    host_frame(frame, size);
    return true;
}

bool live_board_tell(live_board *to, const char *status)
{
    (void)to;
    host_status(status, strlen(status));
    return true;
}

bool live_board_take(live_board *from, char command[LIVE_COMMAND_BYTES], double seconds)
{
    (void)from, (void)command, (void)seconds;
    return false;
}

bool live_board_over(live_board *of)
{
    (void)of;
    return true;
}

// The scene is the text that was handed over.
cli_exit cli_scene_open(const char *path, const perp_scene_load_options *reading,
                        perp_scene **scene)
{
    (void)reading;
    *scene = page_parse(path, scene_text, scene_sets);
    return *scene ? CLI_FINE : CLI_INPUT;
}

// The viewer, or only the place for the data.
const char *cli_page(size_t *size)
{
    *size = strlen(viewer);
    return viewer;
}

// Pages get replays by js_live_replay.
cli_exit cli_replay_write(const char *verb, perp_recording *recording, const char *dir, double megabytes,
                          bool quiet)
{
    (void)verb, (void)recording, (void)dir, (void)megabytes, (void)quiet;
    return CLI_FINE;
}

// ── The view ─────────────────────────────────────────────────────────────────────────────────────

JS_EXPORT(js_live_close) void js_live_close(void)
{
    live_sim_close(&live);
    memset(&live, 0, sizeof live);
}

// 0: open; js_error_text says why not, or what was printed where a scene was read and cannot be simulated.
JS_EXPORT(js_live_open) int js_live_open(const char *name, const char *text, const char *sets)
{
    js_live_close();
    page_fail(&(perp_error){0});  // of an earlier scene
    scene_text = text;
    scene_sets = sets;
    cli_exit code = live_sim_open(&live, name, NULL, NULL, "run", &board, &interrupted);
    scene_text = scene_sets = "";
    if (code != CLI_FINE) {
        js_live_close();
        return -1;
    }
    live.record_most = RECORD_MOST;
    live_clock = live_seconds();
    return 0;
}

// The data for the viewer: two script elements.
JS_EXPORT(js_live_data) const char *js_live_data(void)
{
    size_t size = 0;
    return page_keep(live_sim_page(&live, &size));
}

JS_EXPORT(js_live_about) const char *js_live_about(void)
{
    return page_keep(page_about(live.scene, live.sim));
}

JS_EXPORT(js_live_obey) void js_live_obey(const char *command)
{
    live_sim_obey(&live, command);
}

JS_EXPORT(js_live_tell) void js_live_tell(void)
{
    (void)!live_sim_tell(&live);
    (void)!live_sim_publish(&live);
}

// 1: something was done.
JS_EXPORT(js_live_turn) int js_live_turn(void)
{
    return live_sim_turn(&live, &live_clock);
}

JS_EXPORT(js_live_hash) uint64_t js_live_hash(void)
{
    return perp_sim_state_hash(live.sim);
}

JS_EXPORT(js_live_steps) double js_live_steps(void)
{
    return (double)live.steps;
}

JS_EXPORT(js_live_explain) const char *js_live_explain(int form)
{
    return page_keep(page_explain(live.scene, live.sim, live.h, form));
}

// Ends the recording; its files are in the folder that is returned, until js_live_begin. NULL: nothing was recorded.
JS_EXPORT(js_live_finish) const char *js_live_finish(void)
{
    bool whole = live.record && perp_record_finish(live.record, live.sim) >= 0;
    return whole ? live.work : NULL;
}

// The finished recording as a page with the given viewer; NULL: js_error_text.
JS_EXPORT(js_live_replay) const char *js_live_replay(const char *page)
{
    perp_recording *recording = NULL;
    perp_replay *replay = NULL;
    perp_replay_def def = perp_replay_default();
    perp_error error = {0};
    char *copy = NULL;
    size_t size = 0;
    def.page = page;
    def.page_size = strlen(page);
    if (perp_recording_open(live.work, NULL, &recording, &error) >= 0 &&
        perp_replay_create(recording, &def, NULL, &replay, &error) >= 0) {
        copy = strdup(perp_replay_text(replay, &size));
    } else {
        page_fail(&error);
    }
    perp_replay_destroy(replay);
    perp_recording_close(recording);
    return page_keep(copy);
}

// A new recording, from the present state on.
JS_EXPORT(js_live_begin) void js_live_begin(void)
{
    live_record_drop(&live);
    live_record_begin(&live);
    (void)!live_sim_tell(&live);
}
