// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Recordings of sims. HDF5 has one user at a time: everything here holds the lock of the interpreter.
#include "binding.h"

#include <stdio.h>

static perp_status record_one(void *user, perp_sim *sim)
{
    return perp_record_step(user, sim);
}

// A second sim, at the start of the history.
static perp_status begin_again(const bind_sim *self, bind_host *host, perp_sim **sim,
                               perp_error *error)
{
    perp_sim_def def = self->def;
    def.on_control = NULL;  // what the controller did is in the history
    def.user = NULL;
    const perp_env env = bind_host_env(host);
    perp_status status =
        perp_sim_create(perp_scene_model(self->scene->scene), &def, &env, sim, error);
    if (status >= 0 && self->history.start) {
        status = perp_sim_state_restore(*sim, self->history.start, self->history.start_size);
        *error = *perp_sim_error(*sim);
    }
    return status;
}

// The steps so far, repeated into the recording. The end must have the bits of the sim.
static perp_status record_past(const bind_sim *self, const char *dir, const perp_record_def *def,
                               perp_record **record, perp_error *error)
{
    perp_sim *again = NULL;
    bind_host host = {.chief = NULL};
    perp_status status = begin_again(self, &host, &again, error);
    if (status >= 0) {
        status = perp_record_create(dir, again, def, NULL, record, error);
    }
    if (status >= 0) {
        status = bind_history_repeat(&self->history, again, &host, record_one, *record);
        if (status < 0) {
            const perp_error *why = perp_record_error(*record);
            *error = why->text[0] ? *why : *perp_sim_error(again);
        } else if (perp_sim_state_hash(again) != perp_sim_state_hash(self->sim)) {
            status = PERP_ERR_NUMERIC;
            snprintf(error->text, sizeof error->text,
                     "record: the repeated run did not end in the same state");
        }
    }
    error->status = status;
    perp_sim_destroy(again);
    bind_host_clear(&host);
    return status;
}

// _record(dir, name, every, csv)
PyObject *bind_sim_record(PyObject *object, PyObject *args)
{
    bind_sim *self = (bind_sim *)object;
    PyObject *path = NULL;
    perp_record_def def = perp_record_default();
    const char *name = NULL;
    int csv = 1;
    if (!PyArg_ParseTuple(args, "O&zip", PyUnicode_FSConverter, &path, &name, &def.every, &csv)) {
        return NULL;
    }
    if (!bind_sim_enter(self, true)) {
        Py_DECREF(path);
        return NULL;
    }
    def.name = name;
    def.h = self->h;
    def.csv = csv ? PERP_CSV_ALL : 0;
    def.scene = perp_scene_text(self->scene->scene, NULL);
    def.file = perp_scene_files(self->scene->scene, &def.files);
    perp_record *record = NULL;
    perp_error error = {0};
    perp_status status = PERP_ERR_ARGUMENT;
    if (self->record) {
        snprintf(error.text, sizeof error.text,
                 "record: a recording of this sim is open: close it first");
    } else if (self->history.lost) {
        snprintf(
            error.text, sizeof error.text,
            "record: the run has too many changes to be repeated: call record() before the steps");
    } else if (def.every < 1) {
        snprintf(error.text, sizeof error.text, "record: every: needs a number from 1");
    } else {
        status = record_past(self, PyBytes_AsString(path), &def, &record, &error);
    }
    bind_sim_leave(self);
    Py_DECREF(path);
    if (status < 0) {
        error.status = status;
        perp_record_destroy(record);
        if (PyErr_Occurred()) {  // Ctrl-C
            return NULL;
        }
        return bind_fail(self->state, self->state->record_error, &error);
    }
    self->record = record;
    Py_RETURN_NONE;
}

// Ends the recording; returns the text of its summary, or None if there is none.
PyObject *bind_sim_record_finish(PyObject *object, PyObject *unused)
{
    bind_sim *self = (bind_sim *)object;
    (void)unused;
    if (!bind_sim_enter(self, true)) {
        return NULL;
    }
    PyObject *result = NULL;
    perp_record *record = self->record;
    self->record = NULL;
    if (!record) {
        result = Py_NewRef(Py_None);
    } else if (perp_record_finish(record, self->sim) < 0) {
        bind_fail(self->state, self->state->record_error, perp_record_error(record));
    } else {
        const char *text = perp_record_summary_text(record, self->sim);
        result = text ? PyUnicode_FromString(text) : PyErr_NoMemory();
    }
    perp_record_destroy(record);
    bind_sim_leave(self);
    return result;
}

// replay(recording, page of the viewer, megabytes, path): writes the page; returns the frames it has, and those recorded.
PyObject *bind_replay(PyObject *module, PyObject *args)
{
    bind_state *state = bind_module_state(module);
    PyObject *dir = NULL, *out = NULL;
    const char *page = NULL;
    Py_ssize_t size = 0;
    perp_replay_def def = perp_replay_default();
    if (!PyArg_ParseTuple(args, "O&y#dO&", PyUnicode_FSConverter, &dir, &page, &size,
                          &def.megabytes, PyUnicode_FSConverter, &out)) {
        return NULL;
    }
    def.page = page;
    def.page_size = (size_t)size;
    perp_recording *recording = NULL;
    perp_replay *replay = NULL;
    perp_error error = {0};
    int kept = 0, recorded = 0;
    perp_status status = perp_recording_open(PyBytes_AsString(dir), NULL, &recording, &error);
    if (status >= 0) {
        status = perp_replay_create(recording, &def, NULL, &replay, &error);
    }
    if (status >= 0) {
        perp_replay_frame_counts(replay, &kept, &recorded);
        status = perp_replay_save(replay, PyBytes_AsString(out), &error);
    }
    perp_replay_destroy(replay);
    perp_recording_close(recording);
    Py_DECREF(dir);
    Py_DECREF(out);
    error.status = status;
    return status < 0 ? bind_fail(state, state->record_error, &error)
                      : Py_BuildValue("(ii)", kept, recorded);
}
