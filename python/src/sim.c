// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Sims: creation, steps, and the state in and out.
#include "binding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ── One user at a time ───────────────────────────────────────────────────────────────────────────

bool bind_sim_enter(bind_sim *self, bool alone)
{
    if (!self->sim) {
        bind_raise(self->state->error, PERP_ERR_ARGUMENT,
                   "this sim was not made by perp.Sim(model)");
        return false;
    }
    if (!atomic_exchange_explicit(&self->busy, true, memory_order_acquire)) {
        return true;
    }
    // the flag stays as it was: it belongs to the call under way
    if (self->calling && !alone && PyThread_get_thread_ident() == self->host.thread) {
        return true;
    }
    const char *text =
        "this sim is used by another thread: give each thread a sim of its own, or a lock";
    if (self->calling && PyThread_get_thread_ident() == self->host.thread) {
        text = "this sim is in a step: a controller may read it and change its inputs, but not "
               "step, set or record it";
    } else if (self->pid != (long)getpid()) {
        text = "this process was forked while another thread used this sim: make a new one here";
    }
    bind_raise(self->state->busy_error, PERP_ERR_ARGUMENT, text);
    return false;
}

void bind_sim_leave(bind_sim *self)
{
    if (!self->calling) {
        atomic_store_explicit(&self->busy, false, memory_order_release);
    }
}

// ── Creation ─────────────────────────────────────────────────────────────────────────────────────

// Calls the controller in Python. An exception ends the step.
static void control(void *user, perp_sim *sim, double h)
{
    bind_sim *self = user;
    (void)sim;
    bind_host_return(&self->host);
    self->calling = true;
    PyObject *result = PyObject_CallFunction(self->on_control, "Od", (PyObject *)self, h);
    self->calling = false;
    if (!result) {
        atomic_store(&self->host.stop, true);
    }
    Py_XDECREF(result);
    bind_host_leave(&self->host);
}

// The members of a new object are zero. It is complete after __init__, which calls begin.
static PyObject *create(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    (void)args;
    (void)keywords;
    bind_state *state = bind_type_state(type);
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    bind_sim *self = state ? (bind_sim *)allocate(type, 0) : NULL;
    if (self) {
        self->state = state;
    }
    return (PyObject *)self;
}

// _begin(scene, step, settings, on_control)
static PyObject *sim_begin(PyObject *object, PyObject *args)
{
    bind_sim *self = (bind_sim *)object;
    PyObject *scene = NULL, *settings = NULL, *on_control = NULL;
    double h = 0.0;
    if (!PyArg_ParseTuple(args, "O!dO!O", self->state->scene_type, &scene, &h, &PyDict_Type,
                          &settings, &on_control)) {
        return NULL;
    }
    if (self->sim) {
        PyErr_SetString(PyExc_RuntimeError, "a sim is made once");
        return NULL;
    }
    if (!(h > 0.0) || !isfinite(h)) {
        return bind_raise(self->state->value_error, PERP_ERR_ARGUMENT,
                          "step: the size of a step is a positive number of seconds");
    }
    self->scene = (bind_scene *)Py_NewRef(scene);
    self->settings = PyDict_Copy(settings);
    self->on_control = on_control == Py_None ? NULL : Py_NewRef(on_control);
    self->h = h;
    if (!self->settings ||
        !bind_settings(self->state, self->scene->scene, self->settings, &self->def)) {
        return NULL;
    }
    if (self->on_control) {
        self->def.on_control = control;
        self->def.user = self;
    }
    const perp_env env = bind_host_env(&self->host);
    const perp_model *model = perp_scene_model(self->scene->scene);
    perp_error error = {0};
    perp_sim *sim = NULL;
    bind_host_leave(&self->host);
    perp_status status = perp_sim_create(model, &self->def, &env, &sim, &error);
    bind_host_return(&self->host);
    if (PyErr_Occurred()) {
        perp_sim_destroy(sim);
        return NULL;
    }
    if (status < 0) {
        return bind_fail(self->state, self->state->scene_error, &error);
    }
    self->sim = sim;
    Py_RETURN_NONE;
}

static int visit_members(PyObject *object, visitproc visit, void *arg)
{
    bind_sim *self = (bind_sim *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->settings);
    Py_VISIT(self->on_control);
    return 0;
}

static int clear_members(PyObject *object)
{
    bind_sim *self = (bind_sim *)object;
    Py_CLEAR(self->settings);
    Py_CLEAR(self->on_control);
    return 0;
}

static void destroy(PyObject *object)
{
    bind_sim *self = (bind_sim *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    perp_record_destroy(self->record);
    perp_sim_destroy(self->sim);
    bind_host_clear(&self->host);
    bind_history_clear(&self->history);
    clear_members(object);
    Py_CLEAR(self->q);
    Py_CLEAR(self->v);
    Py_CLEAR(self->tree_q);
    Py_CLEAR(self->tree_v);
    Py_CLEAR(self->contacts);
    Py_CLEAR(self->scene);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

// ── Steps ────────────────────────────────────────────────────────────────────────────────────────

// One step with the lock of the interpreter released, then its frame with the lock: HDF5 has one user at a time.
static perp_status one_step(bind_sim *self, double h)
{
    self->history.mark = self->history.size;
    self->history.mark_last = self->history.last;
    bind_host_leave(&self->host);
    perp_status status = perp_sim_step(self->sim, h);
    bind_host_return(&self->host);
    if (status >= 0) {
        bind_history_add(&self->history,
                         &(bind_action){.kind = BIND_STEP, .count = 1, .value = {h}});
        self->serial++;
        self->steps++;
    } else {
        // what the controller did was taken back
        self->history.size = self->history.mark;
        self->history.last = self->history.mark_last;
    }
    return status;
}

static PyObject *step_failed(bind_sim *self, perp_status status)
{
    if (PyErr_Occurred()) {  // of the controller, or Ctrl-C
        return NULL;
    }
    perp_error error = *perp_sim_error(self->sim);
    error.status = status;
    return bind_fail(self->state, self->state->step_error, &error);
}

// count steps; the result is whether all certificates passed.
static PyObject *run_steps(bind_sim *self, long long count, double h)
{
    bool passed = true;
    for (long long k = 0; k < count; k++) {
        perp_status status = one_step(self, h);
        if (self->record && !PyErr_Occurred() && perp_record_step(self->record, self->sim) < 0) {
            return bind_fail(self->state, self->state->record_error,
                             perp_record_error(self->record));
        }
        if (status < 0 || PyErr_Occurred()) {
            return step_failed(self, status);
        }
        passed = passed && perp_sim_info(self->sim)->certificate.passed;
    }
    return PyBool_FromLong(passed);
}

static bool step_arguments(PyObject *const *args, Py_ssize_t count, PyObject *names,
                           long long *steps, double *h)
{
    Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    if (count > 1 || named > 2) {
        PyErr_SetString(PyExc_TypeError, "step(count=1, *, h=None): too many arguments");
        return false;
    }
    PyObject *number = count > 0 ? args[0] : NULL;
    for (Py_ssize_t k = 0; k < named; k++) {
        PyObject *name = PyTuple_GetItem(names, k), *value = args[count + k];
        if (PyUnicode_CompareWithASCIIString(name, "count") == 0 && !number) {
            number = value;
        } else if (PyUnicode_CompareWithASCIIString(name, "h") == 0) {
            *h = value == Py_None ? *h : PyFloat_AsDouble(value);
        } else {
            PyErr_Format(PyExc_TypeError, "step(count=1, *, h=None): unexpected argument %R", name);
            return false;
        }
    }
    *steps = number ? PyLong_AsLongLong(number) : 1;
    if (PyErr_Occurred()) {
        return false;
    }
    if (*steps < 0) {
        PyErr_SetString(PyExc_ValueError, "step: the number of steps is negative");
    }
    return *steps >= 0;
}

static PyObject *sim_step(PyObject *object, PyObject *const *args, Py_ssize_t count,
                          PyObject *names)
{
    bind_sim *self = (bind_sim *)object;
    long long steps = 1;
    double h = self->h;
    if ((count > 0 || names) && !step_arguments(args, count, names, &steps, &h)) {
        return NULL;
    }
    if (!bind_sim_enter(self, true)) {
        return NULL;
    }
    self->pid = (long)getpid();
    atomic_store_explicit(&self->host.stop, false, memory_order_relaxed);
    PyObject *result = run_steps(self, steps, h);
    bind_sim_leave(self);
    return result;
}

// ── Views ────────────────────────────────────────────────────────────────────────────────────────

// _view(which): (buffer, serial) of q, v, tree_q, tree_v or contacts.
static PyObject *sim_view(PyObject *object, PyObject *args)
{
    bind_sim *self = (bind_sim *)object;
    const char *which = NULL;
    if (!PyArg_ParseTuple(args, "s", &which) || !bind_sim_enter(self, false)) {
        return NULL;
    }
    bool tree = strncmp(which, "tree", 4) == 0;
    char last = which[0] ? which[strlen(which) - 1] : '\0';
    PyObject **kept = last == 's' ? &self->contacts : last == 'q' ? &self->q : &self->v;
    if (tree) {
        kept = last == 'q' ? &self->tree_q : &self->tree_v;
    }
    bind_buffer *b = (bind_buffer *)*kept;
    perp_status status = PERP_OK;
    if (!b || b->serial != self->serial + 1) {
        int nq = 0, nv = 0, count = 0;
        const perp_contact *contact = perp_sim_contacts(self->sim, &count);
        perp_sim_state_size(self->sim, &nq, &nv);
        status = tree ? perp_sim_tree_size(self->sim, &nq, &nv) : PERP_OK;
        size_t size = (size_t)(last == 'q' ? nq : nv) * sizeof(double);
        size = last == 's' ? (size_t)count * sizeof *contact : size;
        b = status < 0 ? NULL : bind_buffer_renew(self->state, kept, size);
        double *q = b && last == 'q' ? b->data : NULL, *v = b && last == 'v' ? b->data : NULL;
        if (b && last == 's') {
            memcpy(b->data, contact ? (const void *)contact : "", size);
        } else if (b && tree) {
            status = perp_sim_tree_state_get(self->sim, NULL, q, v);
        } else if (b) {
            status = perp_sim_state_get(self->sim, NULL, q, v);
        }
        if (b) {
            b->serial = self->serial + 1;  // 0 is that of a new buffer
        }
    }
    bind_sim_leave(self);
    if (status < 0) {
        return bind_fail(self->state, self->state->error, perp_sim_error(self->sim));
    }
    return b ? Py_BuildValue("(OK)", (PyObject *)b, (unsigned long long)self->serial) : NULL;
}

// ── State ────────────────────────────────────────────────────────────────────────────────────────

static void *saved_state(const perp_sim *sim, size_t *size)
{
    *size = perp_sim_state_save_size(sim);
    void *block = malloc(*size > 0 ? *size : 1);
    if (block && perp_sim_state_save(sim, block, *size) < 0) {
        free(block);
        return NULL;
    }
    return block;
}

// The history begins anew at the state of now. A recording under way shows a motion that has ended.
static PyObject *state_changed(bind_sim *self, perp_status status)
{
    if (status < 0) {
        perp_error error = *perp_sim_error(self->sim);
        error.status = status;
        return bind_fail(self->state, self->state->error, &error);
    }
    size_t size = 0;
    void *block = saved_state(self->sim, &size);
    if (!block) {
        return PyErr_NoMemory();
    }
    bind_history_restart(&self->history, block, size);
    self->serial++;
    self->steps = 0;
    Py_RETURN_NONE;
}

static bool not_recording(bind_sim *self)
{
    if (self->record) {
        bind_raise(self->state->error, PERP_ERR_ARGUMENT,
                   "a recording of this sim is open: close it before a state is set");
    }
    return !self->record;
}

// _set_state(tree, t, q, v)
static PyObject *sim_set_state(PyObject *object, PyObject *args)
{
    bind_sim *self = (bind_sim *)object;
    int tree = 0;
    double t = 0.0;
    PyObject *q_object = NULL, *v_object = NULL;
    if (!PyArg_ParseTuple(args, "pdOO", &tree, &t, &q_object, &v_object) ||
        !bind_sim_enter(self, true)) {
        return NULL;
    }
    PyObject *result = NULL;
    bind_array q = {.data = NULL}, v = {.data = NULL};
    int nq = 0, nv = 0;
    perp_status status = PERP_OK;
    perp_sim_state_size(self->sim, &nq, &nv);
    if (tree) {
        status = perp_sim_tree_size(self->sim, &nq, &nv);
    }
    if (status < 0) {
        result = state_changed(self, status);
    } else if (not_recording(self) && bind_array_get(q_object, "q", 'd', nq, false, &q) &&
               bind_array_get(v_object, "v", 'd', nv, false, &v)) {
        status = tree ? perp_sim_tree_state_set(self->sim, t, q.data, v.data)
                      : perp_sim_state_set(self->sim, t, q.data, v.data);
        result = state_changed(self, status);
    }
    bind_array_release(&q);
    bind_array_release(&v);
    bind_sim_leave(self);
    return result;
}

static PyObject *sim_save(PyObject *object, PyObject *unused)
{
    bind_sim *self = (bind_sim *)object;
    (void)unused;
    if (!bind_sim_enter(self, true)) {
        return NULL;
    }
    size_t size = 0;
    void *block = saved_state(self->sim, &size);
    bind_sim_leave(self);
    PyObject *bytes = block ? PyBytes_FromStringAndSize(block, (Py_ssize_t)size) : PyErr_NoMemory();
    free(block);
    return bytes;
}

static PyObject *sim_restore(PyObject *object, PyObject *args)
{
    bind_sim *self = (bind_sim *)object;
    const char *block = NULL;
    Py_ssize_t size = 0;
    if (!PyArg_ParseTuple(args, "y#", &block, &size) || !bind_sim_enter(self, true)) {
        return NULL;
    }
    PyObject *result = NULL;
    if (not_recording(self)) {
        result = state_changed(self, perp_sim_state_restore(self->sim, block, (size_t)size));
    }
    bind_sim_leave(self);
    return result;
}

// _reset(keyframe or None)
static PyObject *sim_reset(PyObject *object, PyObject *args)
{
    bind_sim *self = (bind_sim *)object;
    const char *name = NULL;
    if (!PyArg_ParseTuple(args, "z", &name) || !bind_sim_enter(self, true)) {
        return NULL;
    }
    perp_keyframe keyframe = self->def.keyframe;
    if (name) {
        keyframe = perp_model_keyframe(perp_sim_model(self->sim), name);
    }
    PyObject *result = NULL;
    if (name && keyframe.i < 0) {
        PyErr_Format(PyExc_KeyError, "the model has no keyframe '%s'", name);
    } else if (not_recording(self)) {
        result = state_changed(self, perp_sim_reset(self->sim, keyframe));
    }
    bind_sim_leave(self);
    return result;
}

// ── Attributes ───────────────────────────────────────────────────────────────────────────────────

static PyObject *get_t(PyObject *object, void *unused)
{
    bind_sim *self = (bind_sim *)object;
    (void)unused;
    if (!bind_sim_enter(self, false)) {
        return NULL;
    }
    double t = perp_sim_time(self->sim);
    bind_sim_leave(self);
    return PyFloat_FromDouble(t);
}

static PyObject *get_h(PyObject *object, void *unused)
{
    (void)unused;
    return PyFloat_FromDouble(((bind_sim *)object)->h);
}

static PyObject *get_serial(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((bind_sim *)object)->serial);
}

static PyObject *get_steps(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(((bind_sim *)object)->steps);
}

static PyObject *get_hash(PyObject *object, void *unused)
{
    bind_sim *self = (bind_sim *)object;
    (void)unused;
    if (!bind_sim_enter(self, false)) {
        return NULL;
    }
    uint64_t hash = perp_sim_state_hash(self->sim);
    bind_sim_leave(self);
    return PyLong_FromUnsignedLongLong(hash);
}

static PyObject *get_scene(PyObject *object, void *unused)
{
    (void)unused;
    PyObject *scene = (PyObject *)((bind_sim *)object)->scene;
    return Py_NewRef(scene ? scene : Py_None);
}

// _info(): status word, certificate, energy, and the numbers of the last step.
static PyObject *sim_info(PyObject *object, PyObject *unused)
{
    bind_sim *self = (bind_sim *)object;
    (void)unused;
    if (!bind_sim_enter(self, false)) {
        return NULL;
    }
    perp_step_info i = *perp_sim_info(self->sim);
    const char *why = "";
    perp_coordinates coordinates = perp_sim_coordinates(self->sim, &why);
    bind_sim_leave(self);
    return Py_BuildValue(
        "{s:s,s:N,s:(dddd),s:i,s:i,s:i,s:i,s:O,s:s,s:s,s:z,s:i,s:i,s:s,s:s,s:d}", "status",
        perp_status_word(i.status), "certificate", bind_certificate(&i.certificate), "energy",
        i.energy.kinetic, i.energy.potential, i.energy.work, i.energy.dissipated, "contacts",
        i.contacts, "joint_rows", i.joint_rows, "problem_size", i.problem_size, "redundant_rows",
        i.redundant_rows, "unique", i.unique ? Py_True : Py_False, "motion",
        perp_uniqueness_word((int)i.motion), "impulses", perp_uniqueness_word((int)i.impulses),
        "solver", i.solver, "iterations", i.iterations, "parts", i.parts, "remark", i.remark,
        "coordinates", perp_coordinates_word((int)coordinates), "work", i.effort.work);
}

static PyObject *sim_sizes(PyObject *object, PyObject *unused)
{
    bind_sim *self = (bind_sim *)object;
    int nq = 0, nv = 0, tq = 0, tv = 0;
    (void)unused;
    if (!bind_sim_enter(self, false)) {
        return NULL;
    }
    perp_sim_state_size(self->sim, &nq, &nv);
    if (perp_sim_tree_size(self->sim, &tq, &tv) < 0) {
        tq = tv = 0;
    }
    bind_sim_leave(self);
    return Py_BuildValue("(iiii)", nq, nv, tq, tv);
}

// ── Inputs ───────────────────────────────────────────────────────────────────────────────────────

static PyObject *sim_inputs(PyObject *object, PyObject *unused)
{
    bind_sim *self = (bind_sim *)object;
    (void)unused;
    if (!bind_sim_enter(self, false)) {
        return NULL;
    }
    int count = perp_model_inputs(perp_sim_model(self->sim));
    PyObject *list = PyTuple_New(count);
    for (int i = 0; list && i < count; i++) {
        PyObject *value = PyFloat_FromDouble(perp_sim_input(self->sim, (perp_input){i}));
        if (!value || PyTuple_SetItem(list, i, value) < 0) {
            Py_CLEAR(list);
        }
    }
    bind_sim_leave(self);
    return list;
}

// All of them or none.
static PyObject *sim_set_inputs(PyObject *object, PyObject *values)
{
    bind_sim *self = (bind_sim *)object;
    if (!bind_sim_enter(self, false)) {
        return NULL;
    }
    int count = perp_model_inputs(perp_sim_model(self->sim));
    bind_array u;
    PyObject *result = NULL;
    if (bind_array_get(values, "u", 'd', count, false, &u)) {
        const double *value = u.data;
        perp_status status = perp_sim_inputs_set(self->sim, value, count);
        for (int i = 0; i < count && status >= 0; i++) {
            bind_history_add(&self->history,
                             &(bind_action){.kind = BIND_INPUT, .a = i, .value = {value[i]}});
        }
        result = status < 0 ? bind_fail(self->state, self->state->error, perp_sim_error(self->sim))
                            : Py_NewRef(Py_None);
        bind_array_release(&u);
    }
    bind_sim_leave(self);
    return result;
}

static PyMethodDef methods[] = {
    {"step", (PyCFunction)sim_step, METH_FASTCALL | METH_KEYWORDS,
     "step(count=1, *, h=None)\n--\n\n"
     "Advances by `count` steps of length h [s] (default: that of the sim). Returns whether the\n"
     "certificates of all of them passed. StepError: the sim is in the state before the step.\n"
     "The lock of the interpreter is released."},
    {"_begin", sim_begin, METH_VARARGS, NULL},
    {"_view", sim_view, METH_VARARGS, NULL},
    {"_set_state", sim_set_state, METH_VARARGS, NULL},
    {"_save", sim_save, METH_NOARGS, NULL},
    {"_restore", sim_restore, METH_VARARGS, NULL},
    {"_reset", sim_reset, METH_VARARGS, NULL},
    {"_info", sim_info, METH_NOARGS, NULL},
    {"_sizes", sim_sizes, METH_NOARGS, NULL},
    {"_inputs", sim_inputs, METH_NOARGS, NULL},
    {"_set_inputs", sim_set_inputs, METH_O, NULL},
    {"_act", bind_sim_act, METH_VARARGS, NULL},
    {"_body", bind_sim_body, METH_VARARGS, NULL},
    {"_joint", bind_sim_joint, METH_VARARGS, NULL},
    {"_actuator", bind_sim_actuator, METH_VARARGS, NULL},
    {"_sensor", bind_sim_sensor, METH_VARARGS, NULL},
    {"_site", bind_sim_site, METH_VARARGS, NULL},
    {"_rays", bind_sim_rays, METH_VARARGS, NULL},
    {"_distance", bind_sim_distance, METH_VARARGS, NULL},
    {"_jacobian", bind_sim_jacobian, METH_VARARGS, NULL},
    {"_inverse_dynamics", bind_sim_inverse_dynamics, METH_VARARGS, NULL},
    {"_pair_friction", bind_sim_pair_friction, METH_VARARGS, NULL},
    {"_contact_forces", bind_sim_contact_forces, METH_NOARGS, NULL},
    {"_events", bind_sim_events, METH_NOARGS, NULL},
    {"_record", bind_sim_record, METH_VARARGS, NULL},
    {"_record_finish", bind_sim_record_finish, METH_NOARGS, NULL},
    {"_render", bind_sim_render, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef attributes[] = {
    {"t", get_t, NULL, "Time [s].", NULL},
    {"h", get_h, NULL, "Length of a step [s].", NULL},
    {"steps", get_steps, NULL, "Steps since the state was set, or since the start.", NULL},
    {"hash", get_hash, NULL, "Of the bits of t, q and v: equal hashes are equal states.", NULL},
    {"_serial", get_serial, NULL, NULL, NULL},
    {"_scene", get_scene, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static char about_type[] = "A sim; use perp.Sim.";

static PyType_Slot slots[] = {{Py_tp_doc, about_type},
                              {Py_tp_new, (void *)create},
                              {Py_tp_dealloc, (void *)destroy},
                              {Py_tp_traverse, (void *)visit_members},
                              {Py_tp_clear, (void *)clear_members},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, attributes},
                              {0, NULL}};

PyType_Spec bind_sim_spec = {
    .name = "perp._perp.Sim",
    .basicsize = sizeof(bind_sim),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};
