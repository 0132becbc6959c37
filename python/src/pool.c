// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Many sims of one model on several threads. Rollouts use one sim a thread, which starts anew for each of them; a batch
// has a sim for each row and keeps it from call to call. Either way a row depends on its own inputs only, so that the
// number of threads changes no bit.
#include "binding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct pool {
    PyObject_HEAD bind_state *state;
    bind_scene *scene;
    PyObject *settings;
    perp_sim_def def;
    perp_sim **sim;
    bind_host *host;  // one a sim
    int sims, threads;
    double h;
    int nq, nv, nu;  // sizes of a state, in the coordinates of the pool, and of inputs
    bool tree;       // states in the coordinates of a tree of joints
    atomic_bool busy;
    long pid;
    atomic_llong allocations;
    bind_team *team;
} pool;

// What a row has to do.
typedef struct job {
    pool *self;
    int rows, steps, every, frames, hold;
    bool begin;                // start each row from a state; otherwise where its sim is
    const double *q, *v;       // rows or 1 of them
    int states;                // 1: the same for all rows
    const char *const *block;  // saved states, in place of q and v
    const Py_ssize_t *block_size;
    const double *u;  // inputs: of all rows or of 1, input_steps each; NULL: none
    int inputs, input_steps;
    double *out_t, *out_q, *out_v;  // frames a row
    int32_t *done, *status, *violations;
    char **text;  // why a row failed; NULL: it did not
    atomic_int next;
    bind_host *caller;
} job;

// ── One row ──────────────────────────────────────────────────────────────────────────────────────

static perp_status begin_row(const job *j, perp_sim *sim, int row)
{
    const pool *p = j->self;
    perp_status status = perp_sim_reset(sim, p->def.keyframe);
    int k = j->states == 1 ? 0 : row;
    if (status < 0) {
        return status;
    }
    if (j->block) {
        return perp_sim_state_restore(sim, j->block[k], (size_t)j->block_size[k]);
    }
    if (!j->q) {
        return status;
    }
    const double *q = j->q + (size_t)k * (size_t)p->nq, *v = j->v + (size_t)k * (size_t)p->nv;
    double t = perp_sim_time(sim);
    return p->tree ? perp_sim_tree_state_set(sim, t, q, v) : perp_sim_state_set(sim, t, q, v);
}

static perp_status write_frame(const job *j, perp_sim *sim, int row, int frame)
{
    const pool *p = j->self;
    size_t at = (size_t)row * (size_t)j->frames + (size_t)frame;
    double *q = j->out_q ? j->out_q + at * (size_t)p->nq : NULL;
    double *v = j->out_v ? j->out_v + at * (size_t)p->nv : NULL;
    double *t = j->out_t ? j->out_t + at : NULL;
    return p->tree ? perp_sim_tree_state_get(sim, t, q, v) : perp_sim_state_get(sim, t, q, v);
}

// Frames after a failure are not a number.
static void blank_frames(const job *j, int row, int from)
{
    const pool *p = j->self;
    for (int f = from; f < j->frames; f++) {
        size_t at = (size_t)row * (size_t)j->frames + (size_t)f;
        for (int k = 0; k < p->nq && j->out_q; k++) {
            j->out_q[at * (size_t)p->nq + (size_t)k] = (double)NAN;
        }
        for (int k = 0; k < p->nv && j->out_v; k++) {
            j->out_v[at * (size_t)p->nv + (size_t)k] = (double)NAN;
        }
        if (j->out_t) {
            j->out_t[at] = (double)NAN;
        }
    }
}

static perp_status step_row(const job *j, perp_sim *sim, int row, int step)
{
    const pool *p = j->self;
    if (j->u && step % j->hold == 0) {
        size_t at = (size_t)(j->inputs == 1 ? 0 : row) * (size_t)j->input_steps;
        const double *u = j->u + (at + (size_t)(step / j->hold)) * (size_t)p->nu;
        perp_status status = perp_sim_inputs_set(sim, u, p->nu);
        if (status < 0) {
            return status;
        }
    }
    return perp_sim_step(sim, p->h);
}

static void run_row(job *j, perp_sim *sim, int row)
{
    int frame = 0, step = 0;
    perp_status status = j->begin ? begin_row(j, sim, row) : PERP_OK;
    if (status >= 0 && j->begin) {
        status = write_frame(j, sim, row, frame++);
    }
    j->violations[row] = 0;
    for (; step < j->steps && status >= 0; step++) {
        status = bind_host_stop(j->caller) ? PERP_ERR_STOPPED : step_row(j, sim, row, step);
        if (status < 0) {
            break;
        }
        j->violations[row] += perp_sim_info(sim)->certificate.passed ? 0 : 1;
        if ((step + 1) % j->every == 0 && frame < j->frames) {
            status = write_frame(j, sim, row, frame++);
        }
    }
    j->done[row] = step;
    j->status[row] = (int32_t)(status < 0 ? status : 0);
    if (status < 0) {
        blank_frames(j, row, frame);
        const char *text = perp_sim_error(sim)->text;
        text = text[0] ? text : perp_status_text(status);
        size_t size = strlen(text) + 1;
        j->text[row] = malloc(size);
        if (j->text[row]) {
            memcpy(j->text[row], text, size);
        }
    }
}

// A thread takes rows until none is left, or the user wants to stop.
static void take_rows(void *arg, int lane)
{
    job *j = arg;
    pool *p = j->self;
    for (;;) {
        int row = atomic_fetch_add_explicit(&j->next, 1, memory_order_relaxed);
        if (row >= j->rows || bind_host_stop(j->caller)) {
            return;
        }
        run_row(j, p->sim[j->begin ? lane : row], row);
    }
}

// ── The pool ─────────────────────────────────────────────────────────────────────────────────────

static PyObject *create(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    bind_state *state = bind_type_state(type);
    PyObject *scene = NULL, *settings = NULL;
    double h = 0.0;
    int sims = 0, threads = 0, tree = 0;
    (void)keywords;
    if (!state || !PyArg_ParseTuple(args, "O!dO!iip", state->scene_type, &scene, &h, &PyDict_Type,
                                    &settings, &sims, &threads, &tree)) {
        return NULL;
    }
    if (!(h > 0.0) || !isfinite(h) || sims < 1 || threads < 1 || threads > 256) {
        return bind_raise(state->value_error, PERP_ERR_ARGUMENT,
                          "needs a positive step [s], at least one sim, and 1 to 256 threads");
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    pool *self = (pool *)allocate(type, 0);
    if (!self) {
        return NULL;
    }
    self->state = state;
    self->scene = (bind_scene *)Py_NewRef(scene);
    self->settings = PyDict_Copy(settings);
    self->h = h;
    self->threads = threads;
    self->tree = tree != 0;
    self->pid = (long)getpid();
    self->sim = calloc((size_t)sims, sizeof(perp_sim *));
    self->host = calloc((size_t)sims, sizeof *self->host);
    if (!self->settings || !self->sim || !self->host ||
        !bind_settings(state, self->scene->scene, self->settings, &self->def)) {
        Py_DECREF(self);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    self->def.threads = 1;  // the pool has the threads
    self->nu = perp_model_inputs(perp_scene_model(self->scene->scene));
    for (int k = 0; k < sims; k++) {
        self->host[k].allocations = &self->allocations;
        const perp_env env = bind_host_env(&self->host[k]);
        perp_error error = {0};
        perp_status status = perp_sim_create(perp_scene_model(self->scene->scene), &self->def, &env,
                                             &self->sim[k], &error);
        self->sims = k + 1;
        if (status >= 0 && k == 0) {
            perp_sim_state_size(self->sim[0], &self->nq, &self->nv);
            status = tree ? perp_sim_tree_size(self->sim[0], &self->nq, &self->nv) : status;
            error = tree ? *perp_sim_error(self->sim[0]) : error;
        }
        if (status < 0) {
            error.status = status;
            bind_fail(state, state->scene_error, &error);
            Py_DECREF(self);
            return NULL;
        }
    }
    return (PyObject *)self;
}

static void destroy(PyObject *object)
{
    pool *self = (pool *)object;
    PyTypeObject *type = Py_TYPE(object);
    for (int k = 0; k < self->sims; k++) {
        perp_sim_destroy(self->sim[k]);
        bind_host_clear(&self->host[k]);
    }
    bind_team_destroy(self->team);
    free(self->sim);
    free(self->host);
    Py_XDECREF(self->settings);
    Py_XDECREF((PyObject *)self->scene);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static bool enter(pool *self)
{
    if (!atomic_exchange(&self->busy, true)) {
        self->pid = (long)getpid();
        return true;
    }
    const char *text =
        self->pid == (long)getpid()
            ? "this pool is used by another thread: give each thread its own"
            : "this process was forked while another thread used this pool: make a new one here";
    bind_raise(self->state->busy_error, PERP_ERR_ARGUMENT, text);
    return false;
}

// ── Calls ────────────────────────────────────────────────────────────────────────────────────────

// The texts of rows that failed: {row: text}.
static bool add_failure(PyObject *table, int row, const char *why)
{
    PyObject *key = PyLong_FromLong(row), *text = PyUnicode_FromString(why);
    bool added = key && text && PyDict_SetItem(table, key, text) == 0;
    Py_XDECREF(key);
    Py_XDECREF(text);
    return added;
}

// The texts are freed, also after a failure.
static PyObject *failures(job *j)
{
    PyObject *table = PyDict_New();
    for (int row = 0; row < j->rows; row++) {
        if (table && j->text[row] && !add_failure(table, row, j->text[row])) {
            Py_CLEAR(table);
        }
        free(j->text[row]);
        j->text[row] = NULL;
    }
    return table;
}

static PyObject *run(pool *self, job *j)
{
    bind_host caller = {0};
    j->self = self;
    j->caller = &caller;
    j->text = calloc((size_t)j->rows + 1, sizeof(char *));
    if (!j->text) {
        j->caller = NULL;
        return PyErr_NoMemory();
    }
    atomic_init(&j->next, 0);
    for (int k = 0; k < self->sims; k++) {
        self->host[k].chief = &caller;
    }
    bind_host_leave(&caller);
    int lanes = self->threads < j->rows ? self->threads : j->rows;
    bind_team_run(&self->team, lanes, take_rows, j);
    bind_host_return(&caller);
    for (int k = 0; k < self->sims; k++) {
        self->host[k].chief = NULL;
    }
    PyObject *result = failures(j);
    free(j->text);
    j->caller = NULL;
    if (PyErr_Occurred()) {
        Py_CLEAR(result);
    }
    return result;
}

// Arrays of a call, in the order of its arguments.
enum { A_Q, A_V, A_U, A_OUT_T, A_OUT_Q, A_OUT_V, A_DONE, A_STATUS, A_VIOLATIONS, ARRAYS };

static bool get_arrays(const pool *p, const job *j, PyObject *const *object, bind_array *a)
{
    static const char *const name[ARRAYS] = {"q",     "v",     "inputs", "t",         "out q",
                                             "out v", "steps", "status", "violations"};
    Py_ssize_t rows = j->rows, frames = rows * j->frames;
    const Py_ssize_t size[ARRAYS] = {j->states * (Py_ssize_t)p->nq,
                                     j->states * (Py_ssize_t)p->nv,
                                     j->inputs * (Py_ssize_t)j->input_steps * p->nu,
                                     frames,
                                     frames * p->nq,
                                     frames * p->nv,
                                     rows,
                                     rows,
                                     rows};
    for (int k = 0; k < ARRAYS; k++) {
        bool optional = k <= A_OUT_V && object[k] == Py_None;
        if (!bind_array_get(object[k], name[k], k >= A_DONE ? 'i' : 'd', optional ? -1 : size[k],
                            k >= A_OUT_T, &a[k])) {
            return false;
        }
    }
    return true;
}

// Saved states: a list of bytes, which outlives the call.
static bool get_blocks(PyObject *list, int count, const char **block, Py_ssize_t *size)
{
    if (!PyList_Check(list) || PyList_Size(list) != count) {
        PyErr_Format(PyExc_ValueError, "states: needs %d saved states", count);
        return false;
    }
    for (int k = 0; k < count; k++) {
        char *bytes = NULL;
        if (PyBytes_AsStringAndSize(PyList_GetItem(list, k), &bytes, &size[k]) < 0) {
            return false;
        }
        block[k] = bytes;
    }
    return true;
}

static bool sizes_fit(const job *j, int sims, int threads)
{
    bool fit = j->rows >= 0 && j->steps >= 0 && j->every >= 1 && j->hold >= 1 && j->frames >= 0 &&
               (j->states == 1 || j->states == j->rows) &&
               (j->inputs == 1 || j->inputs == j->rows) &&
               j->frames == j->steps / j->every + (j->begin ? 1 : 0);
    fit = fit && (int64_t)j->input_steps * j->hold >= j->steps;
    fit = fit && (j->begin ? sims >= (threads < j->rows ? threads : j->rows) : sims == j->rows);
    if (!fit) {
        PyErr_SetString(PyExc_ValueError, "rollout: sizes that do not fit together");
    }
    return fit;
}

// run(begin, rows, steps, every, hold, states, inputs, input_steps, blocks or None, (q, v, u, t, q, v, steps, status,
// violations))
static PyObject *pool_run(PyObject *object, PyObject *args)
{
    pool *self = (pool *)object;
    job j = {.rows = 0};
    int begin = 0;
    PyObject *blocks = NULL, *o[ARRAYS] = {NULL};
    PyObject *arrays = NULL;
    if (!PyArg_ParseTuple(args, "piiiiiiiOO!", &begin, &j.rows, &j.steps, &j.every, &j.hold,
                          &j.states, &j.inputs, &j.input_steps, &blocks, &PyTuple_Type, &arrays) ||
        !PyArg_ParseTuple(arrays, "OOOOOOOOO", &o[0], &o[1], &o[2], &o[3], &o[4], &o[5], &o[6],
                          &o[7], &o[8])) {
        return NULL;
    }
    j.begin = begin != 0;
    j.frames = j.every > 0 && j.steps >= 0 ? j.steps / j.every + (j.begin ? 1 : 0) : 0;
    if (o[A_U] == Py_None) {
        j.input_steps = j.steps;
    }
    if (!sizes_fit(&j, self->sims, self->threads) || !enter(self)) {
        return NULL;
    }
    bind_array a[ARRAYS];
    memset(a, 0, sizeof a);
    int saved = blocks != Py_None ? j.states : 0;
    const char **block = calloc((size_t)saved + 1, sizeof(char *));
    Py_ssize_t *size = calloc((size_t)saved + 1, sizeof *size);
    PyObject *result = NULL;
    if (!block || !size) {
        PyErr_NoMemory();
    } else if (get_arrays(self, &j, o, a) && (!saved || get_blocks(blocks, saved, block, size))) {
        j.block = saved ? block : NULL;
        j.block_size = size;
        j.q = a[A_V].data ? a[A_Q].data : NULL;
        j.v = a[A_V].data;
        j.u = a[A_U].data;
        j.out_t = a[A_OUT_T].data;
        j.out_q = a[A_OUT_Q].data;
        j.out_v = a[A_OUT_V].data;
        j.done = a[A_DONE].data;
        j.status = a[A_STATUS].data;
        j.violations = a[A_VIOLATIONS].data;
        result = run(self, &j);
    }
    for (int k = 0; k < ARRAYS; k++) {
        bind_array_release(&a[k]);
    }
    free(block);
    free(size);
    atomic_store(&self->busy, false);
    return result;
}

// set(row, t, q, v): starts the sim of a row anew; q None: in the initial state. get(row): its saved state.
static PyObject *pool_set(PyObject *object, PyObject *args)
{
    pool *self = (pool *)object;
    int row = 0;
    PyObject *q_object = NULL, *v_object = NULL;
    if (!PyArg_ParseTuple(args, "iOO", &row, &q_object, &v_object)) {
        return NULL;
    }
    if (row < 0 || row >= self->sims) {
        return PyErr_Format(PyExc_IndexError, "row %d: the pool has %d", row, self->sims);
    }
    if (!enter(self)) {
        return NULL;
    }
    bind_array q = {.data = NULL}, v = {.data = NULL};
    bool given = q_object != Py_None;
    PyObject *result = NULL;
    if (bind_array_get(q_object, "q", 'd', given ? self->nq : -1, false, &q) &&
        bind_array_get(v_object, "v", 'd', given ? self->nv : -1, false, &v)) {
        job j = {.self = self, .states = 1, .q = q.data, .v = v.data};
        perp_status status = begin_row(&j, self->sim[row], row);
        perp_error error = *perp_sim_error(self->sim[row]);
        error.status = status;
        result =
            status < 0 ? bind_fail(self->state, self->state->error, &error) : Py_NewRef(Py_None);
    }
    bind_array_release(&q);
    bind_array_release(&v);
    atomic_store(&self->busy, false);
    return result;
}

// state(row, q, v): fills the arrays; returns t.
static PyObject *pool_state(PyObject *object, PyObject *args)
{
    pool *self = (pool *)object;
    int row = 0;
    PyObject *q_object = NULL, *v_object = NULL;
    if (!PyArg_ParseTuple(args, "iOO", &row, &q_object, &v_object)) {
        return NULL;
    }
    if (row < 0 || row >= self->sims) {
        return PyErr_Format(PyExc_IndexError, "row %d: the pool has %d", row, self->sims);
    }
    if (!enter(self)) {
        return NULL;
    }
    bind_array q = {.data = NULL}, v = {.data = NULL};
    PyObject *result = NULL;
    if (bind_array_get(q_object, "q", 'd', self->nq, true, &q) &&
        bind_array_get(v_object, "v", 'd', self->nv, true, &v)) {
        double t = 0.0;
        job j = {.self = self, .out_t = &t, .out_q = q.data, .out_v = v.data, .frames = 1};
        perp_status status = write_frame(&j, self->sim[row], 0, 0);
        result = status < 0 ? bind_raise(self->state->error, status, "") : PyFloat_FromDouble(t);
    }
    bind_array_release(&q);
    bind_array_release(&v);
    atomic_store(&self->busy, false);
    return result;
}

static PyObject *get_sizes(PyObject *object, void *unused)
{
    pool *self = (pool *)object;
    (void)unused;
    return Py_BuildValue("(iiii)", self->nq, self->nv, self->nu, self->sims);
}

static PyObject *get_allocations(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(atomic_load(&((pool *)object)->allocations));
}

static PyMethodDef methods[] = {
    {"run", pool_run, METH_VARARGS, "Runs all rows; returns {row: text} of those that failed."},
    {"set", pool_set, METH_VARARGS, "set(row, q, v): starts a row anew."},
    {"state", pool_state, METH_VARARGS, "state(row, q, v): fills the arrays, returns t."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef attributes[] = {
    {"sizes", get_sizes, NULL, "nq, nv, inputs, sims.", NULL},
    {"allocations", get_allocations, NULL, "Blocks of memory taken so far.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static char about_type[] = "Many sims of one model; use perp.rollout.";

static PyType_Slot slots[] = {{Py_tp_doc, about_type},          {Py_tp_new, (void *)create},
                              {Py_tp_dealloc, (void *)destroy}, {Py_tp_methods, methods},
                              {Py_tp_getset, attributes},       {0, NULL}};

PyType_Spec bind_pool_spec = {
    .name = "perp._perp.Pool",
    .basicsize = sizeof(pool),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};
