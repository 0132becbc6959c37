// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The page: the viewer with the run's data put into it, as text and as a file.
//
// The page comes from the caller, with a mark where the data goes. The JSON is written twice: first
// to know how many bytes it takes from the size asked for, then with the numbers of the columns.
#include "replay/replay.h"

#include "replay/data.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { REPLAY_COOKIE = 0x52504c31, PATH_MOST = 4096 };

// In the page, where the data goes.
static const char mark[] = "<!--perp-data-->";

// The finished page. kept and recorded: frames with poses, and frames of the recording.
struct perp_replay {
    perp_env env;
    pp_bytes text;
    int kept, recorded;
};

// 20 megabytes; the cookie shows that a definition was made here, and has all members.
perp_replay_def perp_replay_default(void)
{
    return (perp_replay_def){.megabytes = 20.0, .cookie = REPLAY_COOKIE};
}

// ── The page ─────────────────────────────────────────────────────────────────────────────────────

// Bytes that poses and contacts may take: what the page, the JSON and the columns of the series
// leave. base64 has four letters for three bytes.
static double bytes_left(const pp_replay_data *data, const perp_replay_def *def, size_t about)
{
    double bytes = 0.75 * (def->megabytes * 1e6 - (double)def->page_size - (double)about - 4096.0);
    for (int k = 0; k < PP_PAGE_COLUMNS; k++) {
        const pp_page_column *c = &data->column[k];
        bytes -= (double)c->count * c->width * (double)pp_cell_size(c->type);
    }
    return bytes - 16.0 * data->moving * data->axes;
}

// One block of base64 over all columns: their sizes need not be multiples of three.
static bool write_columns(const pp_replay_data *data, const perp_env *env, pp_bytes *out)
{
    pp_bytes raw = {.env = env};
    for (int k = 0; k < PP_PAGE_COLUMNS; k++) {
        const pp_page_column *c = &data->column[k];
        pp_bytes_put(&raw, c->data, (size_t)c->count * (size_t)c->width * pp_cell_size(c->type));
    }
    pp_bytes_base64(out, (const unsigned char *)raw.data, raw.used);
    bool whole = !raw.failed;
    pp_bytes_free(&raw);
    return whole;
}

// place: of the mark in the page.
static perp_status write_page(const pp_replay_data *data, const perp_replay_def *def,
                              const char *place, perp_replay *replay, perp_error *error)
{
    pp_bytes *out = &replay->text;
    // The page without the mark.
    const char *end = def->page + def->page_size, *rest = place + strlen(mark);
    pp_bytes_put(out, def->page, (size_t)(place - def->page));
    pp_bytes_text(out, "<script type=\"application/json\" id=\"perp-about\">");
    pp_about_write(data, def, out);
    pp_bytes_text(out, "</script>\n<script type=\"text/plain\" id=\"perp-data\">");
    bool whole = write_columns(data, &replay->env, out);
    pp_bytes_text(out, "</script>");
    pp_bytes_put(out, rest, (size_t)(end - rest));
    if (!whole || out->failed) {
        return pp_replay_no_memory(error);
    }
    replay->kept = data->plan.poses.count;
    replay->recorded = data->info->frames;
    return PERP_OK;
}

// Series first: they are part of every page, and what they leave decides about the rest.
static perp_status make_replay(pp_replay_data *data, const perp_replay_def *def, const char *place,
                               perp_replay *replay, perp_error *error)
{
    perp_status status = pp_replay_data_model(data, error);
    if (status == PERP_OK) {
        status = pp_replay_data_scan(data, error);
    }
    if (status != PERP_OK) {
        return status;
    }
    pp_bytes about = {.env = &replay->env};
    pp_about_write(data, def, &about);
    // The text is not needed any more, only its size.
    bool whole = !about.failed;
    // The size of the JSON changes little with the plan: the first one serves as an estimate.
    data->plan = pp_plan_make(data, bytes_left(data, def, about.used));
    pp_bytes_free(&about);
    if (!whole) {
        return pp_replay_no_memory(error);
    }
    status = pp_replay_data_fill(data, error);
    if (status == PERP_OK) {
        status = write_page(data, def, place, replay, error);
    }
    return status;
}

// The page may hold zeros: it is searched by bytes.
static const char *find_mark(const perp_replay_def *def)
{
    size_t length = strlen(mark);
    for (size_t k = 0; k + length <= def->page_size; k++) {
        if (def->page[k] == '<' && memcmp(def->page + k, mark, length) == 0) {
            return def->page + k;
        }
    }
    return NULL;
}

// The cookie shows that the definition has all members.
static perp_status check_def(const perp_replay_def *def, perp_error *error)
{
    if (!def || def->cookie != REPLAY_COOKIE) {
        return pp_fail(error, PERP_ERR_DEF,
                       "replay: initialise the definition with perp_replay_default()");
    }
    if (!def->page || !(def->megabytes > 0.0) || !isfinite(def->megabytes)) {
        return pp_fail(error, PERP_ERR_ARGUMENT,
                       "replay: page is NULL, or megabytes is not positive");
    }
    return PERP_OK;
}

// After a failure *replay is NULL.
perp_status perp_replay_create(perp_recording *recording, const perp_replay_def *def,
                               const perp_env *env, perp_replay **replay, perp_error *error)
{
    if (!recording || !replay) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "replay: a recording is needed");
    }
    *replay = NULL;
    perp_status status = check_def(def, error);
    if (status != PERP_OK) {
        return status;
    }
    perp_replay_def whole = *def;
    whole.page_size = def->page_size > 0 ? def->page_size : strlen(def->page);
    const char *place = find_mark(&whole);
    if (!place) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "replay: the page has no place for data: %s",
                       mark);
    }
    // Columns live in an arena while the page is made; the page itself stays with the replay.
    pp_arena *arena = pp_arena_create(env);
    pp_replay_data *data = arena ? PP_ZEROS(arena, pp_replay_data, 1) : NULL;
    perp_replay *r = data ? pp_alloc(env, sizeof *r) : NULL;
    if (!r) {
        pp_arena_destroy(arena);
        return pp_replay_no_memory(error);
    }
    *r = (perp_replay){.env = env ? *env : (perp_env){0}};
    r->text.env = &r->env;
    data->recording = recording;
    data->info = perp_recording_about(recording);
    data->arena = arena;
    status = make_replay(data, &whole, place, r, error);
    pp_arena_destroy(arena);
    if (status != PERP_OK) {
        perp_replay_destroy(r);
        return status;
    }
    *replay = r;
    return PERP_OK;
}

// NULL is fine.
void perp_replay_destroy(perp_replay *replay)
{
    if (replay) {
        perp_env env = replay->env;
        pp_bytes_free(&replay->text);
        pp_free(&env, replay, sizeof *replay);
    }
}

// The text belongs to the replay.
const char *perp_replay_text(const perp_replay *replay, size_t *size)
{
    if (size) {
        *size = replay ? replay->text.used : 0;
    }
    return replay ? replay->text.data : "";
}

// Either pointer may be NULL.
void perp_replay_frame_counts(const perp_replay *replay, int *kept, int *recorded)
{
    if (kept) {
        *kept = replay ? replay->kept : 0;
    }
    if (recorded) {
        *recorded = replay ? replay->recorded : 0;
    }
}

// ── The file ─────────────────────────────────────────────────────────────────────────────────────

// With the reason that the system gave.
static perp_status fail_write(perp_error *error, const char *path, int fault)
{
    return pp_fail(error, PERP_ERR_IO, "cannot write '%.150s': %s", path,
                   strerror(fault ? fault : EIO));
}

// Written under another name first: a full disk leaves no half page.
perp_status perp_replay_save(const perp_replay *replay, const char *path, perp_error *error)
{
    char part[PATH_MOST + 8];
    if (!replay || !path || !path[0]) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "replay: the path is NULL");
    }
    if (strlen(path) >= PATH_MOST) {
        return fail_write(error, path, ENAMETOOLONG);
    }
    pp_print(part, sizeof part, "%s.part", path);
    errno = 0;
    FILE *file = fopen(part, "wb");
    if (!file) {
        return fail_write(error, part, errno);
    }
    // fclose may be the first call that sees a full disk.
    bool whole = fwrite(replay->text.data, 1, replay->text.used, file) == replay->text.used;
    whole = fflush(file) == 0 && whole;
    int fault = errno;
    if (fclose(file) != 0 || !whole || rename(part, path) != 0) {
        fault = whole ? errno : fault;
        remove(part);
        return fail_write(error, path, fault);
    }
    return PERP_OK;
}
