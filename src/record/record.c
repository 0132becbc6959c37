// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Recording a run: its files, and their end.
//
//   create   the directory is locked and cleared, files are opened, frame 0 is written
//   step     counts, events, every n-th step a frame; what has gathered is flushed when it is due
//   finish   last frame, last flush, files get their names; summary.json comes last
//   destroy  also without finish: what can still be saved is saved
//
// The first error stays: later calls return it and write nothing more.
#include "record/writer.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define RECORD_COOKIE 0x70520001u

enum {
    TEXT_BYTES = 64 * 1024,           // of CSV in memory
    PENDING_BYTES = 4 * 1024 * 1024,  // of columns in memory
};

// The cookie shows that a definition was made here, and has all members.
perp_record_def perp_record_default(void)
{
    return (perp_record_def){
        .every = 1, .flush_seconds = 0.5, .csv = PERP_CSV_ALL, .cookie = RECORD_COOKIE};
}

// ── Beginning ────────────────────────────────────────────────────────────────────────────────────

// Names of the text files. They end in .part until the run is finished.
static const char *const csv_name[PP_CSV_COUNT] = {
    [PP_CSV_BODIES] = "bodies.csv",
    [PP_CSV_CONTACTS] = "contacts.csv",
    [PP_CSV_EVENTS] = "events.jsonl",
    [PP_CSV_PART_BODIES] = "part_bodies.csv",
    [PP_CSV_PART_CONTACTS] = "part_contacts.csv",
    [PP_CSV_JOINTS] = "joints.csv",
    [PP_CSV_ACTUATORS] = "actuators.csv",
    [PP_CSV_SENSORS] = "sensors.csv",
};

// Lines that have gathered go to their files; all: however few there are.
static perp_status flush_text(perp_record *r, bool all)
{
    const size_t keep = all ? 0 : TEXT_BYTES;
    for (int k = 0; k < PP_CSV_COUNT; k++) {
        if (r->lines[k].size <= keep && !r->lines[k].failed) {
            continue;
        }
        // Other files are opened with their first line: most runs have no parts.
        if (!r->file[k].file) {
            perp_status status = pp_part_file_open(&r->file[k], r->dir, csv_name[k], &r->error);
            if (status != PERP_OK) {
                return status;
            }
        }
        perp_status status = pp_part_file_write(&r->file[k], &r->lines[k], &r->error);
        pp_text_clear(&r->lines[k]);
        if (status != PERP_OK) {
            return status;
        }
    }
    return PERP_OK;
}

// Lines that the last step added to the events, from the byte `from` on, go into run.h5 as well.
static perp_status keep_events(perp_record *r, size_t from)
{
    size_t count = r->lines[PP_CSV_EVENTS].size - from;
    if (count == 0 || r->lines[PP_CSV_EVENTS].failed) {
        return PERP_OK;
    }
    char *bytes = pp_store_rows(&r->store, PP_COL_EVENTS, count);
    if (!bytes) {
        return pp_fail(&r->error, PERP_ERR_MEMORY, "not enough memory for a recording");
    }
    memcpy(bytes, r->lines[PP_CSV_EVENTS].data + from, count);
    return PERP_OK;
}

// run.h5 first: it holds everything, and the text files a part of it.
static perp_status open_files(perp_record *r, const perp_sim *sim)
{
    char path[PP_PATH_MAX];
    perp_error *error = &r->error;
    perp_status status = pp_path_join(path, r->dir, "run.h5", error);
    if (status == PERP_OK) {
        status = pp_store_create(&r->store, path, sim, &r->def, error);
    }
    if (status == PERP_OK) {
        status = pp_store_begin(&r->store, error);
    }
    if (status != PERP_OK) {
        return status;
    }
    for (int k = PP_CSV_BODIES; k <= PP_CSV_EVENTS; k++) {
        if (!pp_csv_is_wanted(r, (pp_csv)k)) {
            continue;
        }
        status = pp_part_file_open(&r->file[k], r->dir, csv_name[k], error);
        if (status != PERP_OK) {
            return status;
        }
    }
    return PERP_OK;
}

// What the import of a robot used, repaired and left out.
static perp_status write_report(perp_record *r)
{
    pp_part_file part = {0};
    pp_text text;
    pp_text_start(&text, &r->env);
    pp_text_add(&text, r->def.report);
    perp_status status = pp_part_file_open(&part, r->dir, "report.json", &r->error);
    if (status == PERP_OK) {
        status = pp_part_file_write(&part, &text, &r->error);
    }
    if (status == PERP_OK) {
        status = pp_part_file_finish(&part, &r->error);
    }
    pp_part_file_close(&part);
    pp_text_end(&text);
    return status;
}

// Frame 0 is the state before the first step. It is flushed at once, so that a run that is killed
// early leaves a recording that can be opened.
static perp_status begin_recording(perp_record *r, const perp_sim *sim, const char *dir)
{
    if (r->def.summary_only) {
        return PERP_OK;
    }
    // prepared: what is in the directory from here on is this run's, and may be removed.
    perp_status status = pp_directory_take_lock(&r->place, dir, &r->error);
    r->prepared = status == PERP_OK;
    if (status == PERP_OK) {
        status = open_files(r, sim);
    }
    if (status == PERP_OK && r->def.report) {
        status = write_report(r);
    }
    if (status == PERP_OK) {
        status = pp_event_memory_create(r, sim);
    }
    if (status == PERP_OK) {
        pp_csv_heads(r, false);
        pp_events_start(r, sim);
        status = pp_record_frame(r, sim);
    }
    if (status == PERP_OK) {
        status = pp_store_flush(&r->store, false, &r->error);
    }
    return status;
}

// Numbers that a caller can get wrong.
static perp_status check_def(const perp_record_def *def, perp_error *error)
{
    if (def->cookie != RECORD_COOKIE) {
        return pp_fail(error, PERP_ERR_DEF,
                       "record: initialise the definition with perp_record_default()");
    }
    if (def->every < 1 || !(def->flush_seconds >= 0.0)) {
        return pp_fail(error, PERP_ERR_ARGUMENT,
                       "record: every must be at least 1, flush_seconds must not be negative");
    }
    for (int k = 0; k < def->files; k++) {
        if (!def->file || !def->file[k].name || (!def->file[k].data && def->file[k].size > 0)) {
            return pp_fail(error, PERP_ERR_ARGUMENT, "record: a file of the scene is missing");
        }
    }
    // 0: steps of different lengths.
    if (!(def->h >= 0.0) || !isfinite(def->h)) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "record: h must be positive, or 0 if variable");
    }
    return PERP_OK;
}

// The record with nothing open yet; NULL: no memory.
static perp_record *create_record(const perp_record_def *def, const char *dir, const perp_env *env)
{
    perp_record *r = pp_alloc(env, sizeof *r);
    if (!r) {
        return NULL;
    }
    memset(r, 0, sizeof *r);
    r->env = env ? *env : (perp_env){0};
    r->def = *def;
    r->place = (pp_directory_lock){-1, -1};
    pp_store_start(&r->store, env);
    r->began = pp_seconds();
    // Worst of no step: passed, until a step says otherwise.
    r->since.passed = r->sum.worst.passed = true;
    r->since.path_clear = r->sum.worst.path_clear = true;
    r->arena = pp_arena_create(env);
    // The name is used until the end of the run, longer than the caller promises to keep it.
    size_t length = def->name ? strlen(def->name) : 0;
    r->name = r->arena ? PP_ZEROS(r->arena, char, length + 1) : NULL;
    if (!r->name) {
        pp_arena_destroy(r->arena);
        pp_free(env, r, sizeof *r);
        return NULL;
    }
    memcpy(r->name, def->name ? def->name : "", length);
    pp_print(r->dir, sizeof r->dir, "%s", dir);
    for (int k = 0; k < PP_CSV_COUNT; k++) {
        pp_text_start(&r->lines[k], env);
    }
    pp_text_start(&r->summary, env);
    return r;
}

// Also of a recording that is not finished: what can still be saved is. Text files keep the ending
// .part.
static void close_files(perp_record *r)
{
    pp_hdf5_silence quiet = pp_hdf5_silence_begin();
    if (r->store.progress >= 0 && !r->store.failed) {
        // The error that stopped the recording is the one to report.
        perp_error ignored;
        (void)!pp_store_flush(&r->store, false, &ignored);
    }
    pp_store_close(&r->store);
    pp_hdf5_silence_end(&quiet);
    for (int k = 0; k < PP_CSV_COUNT; k++) {
        pp_part_file_close(&r->file[k]);
    }
}

// The scene of a model that was built in C, so that the recording can be judged. A model that no scene can express is
// recorded without one.
static perp_status write_scene(perp_record *r, const perp_sim *sim, perp_scene **scene)
{
    perp_scene_settings settings = perp_scene_settings_default();
    perp_sim_def def = sim->def;
    perp_joint *tree = PP_ARRAY(r->arena, perp_joint, sim->named_count);
    *scene = NULL;
    if (!tree) {
        return pp_fail(&r->error, PERP_ERR_MEMORY, "not enough memory for a recording");
    }
    for (int i = 0; i < sim->named_count; i++) {
        tree[i].i = sim->named[i];
    }
    def.tree = tree;
    def.tree_count = sim->named_count;
    settings.name = r->def.name;
    settings.sim = &def;
    settings.step = r->def.h > 0.0 ? r->def.h : settings.step;
    perp_status status = perp_scene_create(sim->given, &settings, &r->env, scene, NULL);
    if (status == PERP_ERR_MEMORY) {
        return pp_fail(&r->error, status, "not enough memory for a recording");
    }
    r->def.scene = *scene ? perp_scene_text(*scene, NULL) : "";
    return PERP_OK;
}

// A failure leaves the directory without a recording, and *record NULL.
perp_status perp_record_create(const char *dir, const perp_sim *sim, const perp_record_def *def,
                               const perp_env *env, perp_record **record, perp_error *error)
{
    perp_record_def standard = perp_record_default();
    def = def ? def : &standard;
    bool placed = (dir && dir[0]) || def->summary_only;
    if (!placed || !sim || !record) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "record: directory or sim is NULL");
    }
    *record = NULL;
    dir = dir ? dir : "";
    perp_status status = check_def(def, error);
    if (status < 0) {
        return status;
    }
    perp_record *r = create_record(def, dir, env);
    if (!r) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for a recording");
    }
    r->model = sim->given;
    r->placed = sim->placed;
    r->facets = sim->def.facets;
    // One more than needed: models without joints need no exception.
    r->joint = PP_ZEROS(r->arena, perp_joint_state, (size_t)sim->model->joints + 1);
    r->actuator = PP_ZEROS(r->arena, perp_actuator_state, (size_t)sim->model->actuators + 1);
    r->sensor = PP_ZEROS(r->arena, double, (size_t)sim->model->sensor_values + 1);
    pp_hdf5_silence quiet = pp_hdf5_silence_begin();
    perp_scene *scene = NULL;
    status = r->joint && r->actuator && r->sensor
                 ? PERP_OK
                 : pp_fail(&r->error, PERP_ERR_MEMORY, "not enough memory for a recording");
    if (status >= 0 && !r->def.scene) {
        status = write_scene(r, sim, &scene);
    }
    if (status >= 0) {
        status = begin_recording(r, sim, dir);
    }
    r->def.scene = NULL;  // the caller's, or gone below
    perp_scene_destroy(scene);
    pp_hdf5_silence_end(&quiet);
    if (status < 0) {
        if (error) {
            *error = r->error;
        }
        close_files(r);
        if (r->prepared) {
            (void)!pp_directory_clear(dir, NULL);  // beginnings of files are no recording
        }
        perp_record_destroy(r);
        return status;
    }
    r->sum.seconds_record = pp_seconds() - r->began;
    *record = r;
    return PERP_OK;
}

// ── Going on ─────────────────────────────────────────────────────────────────────────────────────

// Adds a step to the summary, and to what its frame reports.
static void count_step(perp_record *r, const perp_sim *sim)
{
    const perp_step_info *info = &sim->info;
    // All stages of the step, without the time of recording it.
    double seconds = 0.0;
    for (int k = 0; k < PERP_STAGE_COUNT; k++) {
        seconds += info->seconds[k];
    }
    pp_summary_time(r, seconds);
    r->sum.seconds_certify += info->seconds[PERP_STAGE_CERTIFY];
    r->sum.seconds_steps += seconds - info->seconds[PERP_STAGE_CERTIFY];
    r->sum.steps++;
    r->sum.contacts_max =
        info->contacts > r->sum.contacts_max ? info->contacts : r->sum.contacts_max;
    r->sum.step_error = fmax(r->sum.step_error, info->error);
    r->sum.motion_error = fmax(r->sum.motion_error, info->motion_error);
    r->sum.violations += !info->certificate.passed;
    r->sum.unique += info->unique;
    // Of the motion, or of impulses for the same motion.
    r->sum.not_unique +=
        info->motion == PERP_UNIQUENESS_DISPROVED || info->impulses == PERP_UNIQUENESS_DISPROVED;
    r->sum.motion[info->motion]++;
    r->sum.impulses[info->impulses]++;
    r->sum.motion_apart = fmax(r->sum.motion_apart, info->motion_apart);
    r->sum.impulses_apart = fmax(r->sum.impulses_apart, info->impulses_apart);
    // Of the whole run, and since the last frame: with `every` > 1 a frame reports the worst of the
    // steps that it stands for.
    pp_certificate_merge(&r->sum.worst, &info->certificate);
    pp_certificate_merge(&r->since, &info->certificate);
    r->work += info->energy.work;
    r->dissipated += info->energy.dissipated;
}

// By size, so that memory stays bounded, and by time, so that readers see a run that grows.
static perp_status flush_if_due(perp_record *r)
{
    perp_status status = flush_text(r, false);
    bool due =
        r->store.pending > PENDING_BYTES || pp_seconds() - r->store.flushed >= r->def.flush_seconds;
    if (status == PERP_OK && due) {
        pp_hdf5_silence quiet = pp_hdf5_silence_begin();
        status = pp_store_flush(&r->store, false, &r->error);
        pp_hdf5_silence_end(&quiet);
    }
    return status;
}

// A call that makes no sense (another model, after the end) changes nothing, and is not the error
// that sticks.
static bool makes_sense(const perp_record *r, const perp_sim *sim)
{
    return r && sim && sim->given == r->model && !r->finished;
}

static perp_status record_step(perp_record *r, const perp_sim *sim)
{
    // Where the lines of this step begin.
    size_t from = r->lines[PP_CSV_EVENTS].size;
    // Of the last step: a run may end with one that failed.
    r->sum.status = sim->info.status;
    perp_status status = PERP_OK;
    r->placed_since = r->placed_since || sim->placed != r->placed;
    r->placed = sim->placed;
    if (sim->info.status < 0) {
        pp_events_failure(r, sim);
    } else {
        // A step that failed has no state and no frame; its line in the events says why.
        count_step(r, sim);
        status = pp_events_step(r, sim);
    }
    if (status == PERP_OK) {
        status = keep_events(r, from);
    }
    if (status == PERP_OK && sim->info.status >= 0 && r->sum.steps % r->def.every == 0) {
        status = pp_record_frame(r, sim);
    }
    if (status == PERP_OK) {
        status = flush_if_due(r);
    }
    return status;
}

perp_status perp_record_step(perp_record *record, const perp_sim *sim)
{
    perp_record *r = record;
    if (!makes_sense(r, sim)) {
        return PERP_ERR_ARGUMENT;
    }
    // The first error stays.
    if (r->error.status < 0) {
        return r->error.status;
    }
    double began = pp_seconds();
    perp_status status = PERP_OK;
    if (!r->def.summary_only) {
        status = record_step(r, sim);
    } else {
        r->sum.status = sim->info.status;
        if (sim->info.status >= 0) {
            count_step(r, sim);
        }
    }
    r->sum.seconds_record += pp_seconds() - began;
    return status;
}

// ── The end ──────────────────────────────────────────────────────────────────────────────────────

// Written last: a directory with summary.json holds a run that has come to its end.
static perp_status finish_summary(perp_record *r, const perp_sim *sim)
{
    pp_part_file part = {0};
    perp_status status = pp_part_file_open(&part, r->dir, "summary.json", &r->error);
    if (status == PERP_OK && !perp_record_summary_text(r, sim)) {
        status = pp_fail(&r->error, PERP_ERR_MEMORY, "not enough memory for the summary");
    }
    if (status == PERP_OK) {
        status = pp_part_file_write(&part, &r->summary, &r->error);
    }
    if (status == PERP_OK) {
        status = pp_part_file_finish(&part, &r->error);
    }
    pp_part_file_close(&part);
    return status;
}

// The flag `complete` shows readers that no more frames will come.
static perp_status finish_store(perp_record *r)
{
    pp_hdf5_silence quiet = pp_hdf5_silence_begin();
    perp_status status = pp_store_flush(&r->store, true, &r->error);
    errno = 0;
    if (!pp_store_close(&r->store) && status == PERP_OK) {
        status = pp_fail_write(&r->error, r->store.path, errno);
    }
    pp_hdf5_silence_end(&quiet);
    return status;
}

// The last frame, where `every` has left it out, and all files but the summary closed under their
// names.
static perp_status finish_files(perp_record *r, const perp_sim *sim)
{
    perp_status status = PERP_OK;
    if (r->framed != r->sum.steps) {
        status = pp_record_frame(r, sim);
    }
    if (status == PERP_OK) {
        status = flush_text(r, true);
    }
    if (status == PERP_OK) {
        status = finish_store(r);
    }
    if (status != PERP_OK) {
        return status;
    }
    for (int k = 0; k < PP_CSV_COUNT; k++) {
        if (!r->file[k].file) {
            continue;
        }
        status = pp_part_file_finish(&r->file[k], &r->error);
        if (status != PERP_OK) {
            return status;
        }
    }
    return PERP_OK;
}

perp_status perp_record_finish(perp_record *record, const perp_sim *sim)
{
    perp_record *r = record;
    if (!makes_sense(r, sim)) {
        return PERP_ERR_ARGUMENT;
    }
    double began = pp_seconds();
    perp_status status = r->error.status;
    if (status >= 0 && !r->def.summary_only) {
        status = finish_files(r, sim);
    }
    r->sum.seconds = pp_seconds() - r->began;
    r->sum.seconds_record += pp_seconds() - began;
    r->finished = status == PERP_OK;
    if (status == PERP_OK && !r->def.summary_only) {
        status = finish_summary(r, sim);
    }
    return status;
}

// Without perp_record_finish the recording stays readable up to the last frame.
void perp_record_destroy(perp_record *record)
{
    if (!record) {
        return;
    }
    perp_env env = record->env;
    close_files(record);
    for (int k = 0; k < PP_CSV_COUNT; k++) {
        pp_text_end(&record->lines[k]);
    }
    pp_text_end(&record->summary);
    pp_event_memory_destroy(record);
    pp_arena_destroy(record->arena);
    pp_directory_unlock(&record->place);
    pp_free(&env, record, sizeof *record);
}

const perp_error *perp_record_error(const perp_record *record)
{
    static const perp_error none = {.status = PERP_ERR_ARGUMENT, .text = "the recording is NULL"};
    return record ? &record->error : &none;
}
