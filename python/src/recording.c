// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Recordings read back: everything about the model, and all frames into arrays of the caller.
#include "binding.h"

#include <string.h>

typedef struct reader {
    PyObject_HEAD bind_state *state;
    perp_recording *recording;
} reader;

// ── Opening ──────────────────────────────────────────────────────────────────────────────────────

static PyObject *create(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    (void)keywords;
    bind_state *state = bind_type_state(type);
    PyObject *path = NULL;
    if (!state || !PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path)) {
        return NULL;
    }
    perp_error error = {0};
    perp_recording *recording = NULL;
    perp_status status = perp_recording_open(PyBytes_AsString(path), NULL, &recording, &error);
    Py_DECREF(path);
    if (status < 0) {
        error.status = status;
        return bind_fail(state, state->record_error, &error);
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    reader *self = (reader *)allocate(type, 0);
    if (!self) {
        perp_recording_close(recording);
        return NULL;
    }
    self->state = state;
    self->recording = recording;
    return (PyObject *)self;
}

static void destroy(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    perp_recording_close(((reader *)object)->recording);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

// ── The model ────────────────────────────────────────────────────────────────────────────────────

static PyObject *about(PyObject *object, PyObject *unused)
{
    const perp_recording_info *i = perp_recording_about(((reader *)object)->recording);
    (void)unused;
    return Py_BuildValue("{s:s,s:s,s:s,s:s,s:s,s:O,s:d,s:d,s:i,s:O,s:i,s:i,s:i,s:i,s:i,s:i,s:i,s:i,"
                         "s:i,s:i,s:s}",
                         "name", i->name, "scene", i->scene, "solver", i->solver, "stepper",
                         perp_stepper_word((int)i->stepper), "coordinates",
                         perp_coordinates_word((int)i->coordinates), "spatial",
                         i->spatial ? Py_True : Py_False, "h", i->h, "tolerance", i->tolerance,
                         "every", i->every, "complete", i->complete ? Py_True : Py_False, "frames",
                         i->frames, "bodies", i->bodies, "shapes", i->shapes, "joints", i->joints,
                         "nv", i->nv, "nq", i->nq, "inputs", i->inputs, "actuators", i->actuators,
                         "sensors", i->sensors, "sensor_values", i->sensor_values, "events",
                         i->events);
}

static int append(PyObject *list, PyObject *one)
{
    int result = one ? PyList_Append(list, one) : -1;
    Py_XDECREF(one);
    return result;
}

// Names of bodies, shapes, joints, inputs, actuators; of sensors also where their values are, and the unit.
static PyObject *names(PyObject *object, PyObject *unused)
{
    const perp_recording *r = ((reader *)object)->recording;
    const perp_recording_info *n = perp_recording_about(r);
    (void)unused;
    PyObject *list[6];
    bool failed = false;
    for (int k = 0; k < 6; k++) {
        list[k] = PyList_New(0);
        failed = failed || !list[k];
    }
    for (int i = 0; i < n->bodies && !failed; i++) {
        perp_recorded_body b = perp_recording_body(r, (perp_body){i});
        failed = append(list[0], Py_BuildValue("(siid)", b.name, b.at_q, b.at_nu, b.mass)) < 0;
    }
    for (int i = 0; i < n->shapes && !failed; i++) {
        perp_recorded_shape s = perp_recording_shape(r, (perp_shape){i});
        failed = append(list[1], Py_BuildValue("(sid)", s.name, s.body.i, s.mu)) < 0;
    }
    for (int i = 0; i < n->joints && !failed; i++) {
        failed = append(list[2],
                        PyUnicode_FromString(perp_recording_joint(r, (perp_joint){i}).name)) < 0;
    }
    for (int i = 0; i < n->inputs && !failed; i++) {
        failed = append(list[3],
                        PyUnicode_FromString(perp_recording_input_name(r, (perp_input){i}))) < 0;
    }
    for (int i = 0; i < n->actuators && !failed; i++) {
        failed =
            append(list[4],
                   PyUnicode_FromString(perp_recording_actuator(r, (perp_actuator){i}).name)) < 0;
    }
    for (int i = 0; i < n->sensors && !failed; i++) {
        perp_recorded_sensor s = perp_recording_sensor(r, (perp_sensor){i});
        failed = append(list[5], Py_BuildValue("(siiz)", s.name, s.first, s.size, s.unit)) < 0;
    }
    PyObject *result =
        failed ? NULL
               : Py_BuildValue("(OOOOOO)", list[0], list[1], list[2], list[3], list[4], list[5]);
    for (int k = 0; k < 6; k++) {
        Py_XDECREF(list[k]);
    }
    return result;
}

// ── Frames ───────────────────────────────────────────────────────────────────────────────────────

// Arrays of the caller, frame by frame.
typedef enum column {
    COLUMN_T,
    COLUMN_Q,
    COLUMN_V,
    COLUMN_POSITION,
    COLUMN_ROTATION,
    COLUMN_ANGLE,
    COLUMN_VELOCITY,
    COLUMN_OMEGA,
    COLUMN_JOINT,  // coordinate, rate, drive, limit
    COLUMN_INPUT,
    COLUMN_EFFORT,
    COLUMN_SENSOR,
    COLUMN_ENERGY,       // kinetic, potential, work, dissipated
    COLUMN_CERTIFICATE,  // items as relative values, passed
    COLUMNS,
} column;

static int column_width(const perp_recording_info *n, column which)
{
    switch (which) {
    case COLUMN_T:
        return 1;
    case COLUMN_Q:
        return n->nq;
    case COLUMN_V:
        return n->nv;
    case COLUMN_POSITION:
    case COLUMN_VELOCITY:
    case COLUMN_OMEGA:
        return 3 * n->bodies;
    case COLUMN_ROTATION:
        return 4 * n->bodies;
    case COLUMN_ANGLE:
        return n->bodies;
    case COLUMN_JOINT:
        return 4 * n->joints;
    case COLUMN_INPUT:
        return n->inputs;
    case COLUMN_EFFORT:
        return n->actuators;
    case COLUMN_SENSOR:
        return n->sensor_values;
    case COLUMN_ENERGY:
        return 4;
    default:
        return PERP_JUDGED_COUNT + 1;
    }
}

static void fill_certificate(const perp_certificate *c, double *to)
{
    memcpy(to, c->relative, sizeof c->relative);
    to[PERP_JUDGED_COUNT] = c->passed ? 1.0 : 0.0;
}

static void fill_joints(const perp_snapshot *s, int joints, double *to)
{
    for (int i = 0; i < joints; i++) {
        const perp_joint_state *j = &s->joint[i];
        const double row[4] = {j->coordinate, j->rate, j->drive, j->limit};
        memcpy(to + 4 * (size_t)i, row, sizeof row);
    }
}

// What a recording does not have is 0.
static void fill(const perp_recording_info *n, const perp_snapshot *s, double *const *to)
{
    const void *from[COLUMNS] = {[COLUMN_T] = &s->t,
                                 [COLUMN_Q] = s->q,
                                 [COLUMN_V] = s->nu,
                                 [COLUMN_POSITION] = s->position_W,
                                 [COLUMN_ROTATION] = s->rotation_WB,
                                 [COLUMN_ANGLE] = s->angle,
                                 [COLUMN_VELOCITY] = s->velocity_W,
                                 [COLUMN_OMEGA] = s->omega_W,
                                 [COLUMN_INPUT] = s->input,
                                 [COLUMN_SENSOR] = s->sensor};
    for (int k = 0; k < COLUMNS; k++) {
        if (from[k]) {
            memcpy(to[k], from[k], (size_t)column_width(n, (column)k) * sizeof(double));
        }
    }
    if (s->joint) {
        fill_joints(s, n->joints, to[COLUMN_JOINT]);
    }
    for (int i = 0; i < n->actuators && s->actuator; i++) {
        to[COLUMN_EFFORT][i] = s->actuator[i].effort;
    }
    memcpy(to[COLUMN_ENERGY], &s->energy, 4 * sizeof(double));
    fill_certificate(&s->certificate, to[COLUMN_CERTIFICATE]);
}

_Static_assert(sizeof(perp_energy) == 4 * sizeof(double), "an energy is four numbers");
_Static_assert(sizeof(perp_vec3) == 3 * sizeof(double), "a vector is three numbers");
_Static_assert(sizeof(perp_quat) == 4 * sizeof(double), "a quaternion is four numbers");

// widths(): numbers of a frame in each array of read.
static PyObject *widths(PyObject *object, PyObject *unused)
{
    const perp_recording_info *n = perp_recording_about(((reader *)object)->recording);
    (void)unused;
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < COLUMNS; k++) {
        if (append(list, PyLong_FromLong(column_width(n, (column)k))) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

// All frames; the contacts of all frames one after another in *contacts, their first indices in start.
static bool read_frames(reader *self, double *const *base, int32_t *start, PyObject *contacts)
{
    const perp_recording_info *n = perp_recording_about(self->recording);
    int32_t total = 0;
    for (int f = 0; f < n->frames; f++) {
        perp_snapshot s;
        perp_error error = {0};
        perp_status status = perp_recording_read(self->recording, f, &s, &error);
        if (status < 0) {
            error.status = status;
            bind_fail(self->state, self->state->record_error, &error);
            return false;
        }
        double *to[COLUMNS];
        for (int k = 0; k < COLUMNS; k++) {
            to[k] = base[k] + (size_t)f * (size_t)column_width(n, (column)k);
        }
        fill(n, &s, to);
        start[f] = total;
        total += s.contacts;
        PyObject *bytes = PyBytes_FromStringAndSize(
            (const char *)s.contact, (Py_ssize_t)((size_t)s.contacts * sizeof *s.contact));
        if (append(contacts, bytes) < 0) {
            return false;
        }
    }
    start[n->frames] = total;
    return true;
}

// read(arrays, start): arrays has one of frames * width float64 for each width, start one of frames + 1 int32. Returns
// the contacts of each frame as bytes.
static PyObject *read_all(PyObject *object, PyObject *args)
{
    reader *self = (reader *)object;
    const perp_recording_info *n = perp_recording_about(self->recording);
    PyObject *arrays = NULL, *first = NULL;
    if (!PyArg_ParseTuple(args, "O!O", &PyList_Type, &arrays, &first)) {
        return NULL;
    }
    if (PyList_Size(arrays) != COLUMNS) {
        PyErr_Format(PyExc_ValueError, "read: needs %d arrays", (int)COLUMNS);
        return NULL;
    }
    bind_array in[COLUMNS + 1];
    double *base[COLUMNS];
    memset(in, 0, sizeof in);
    bool fine = bind_array_get(first, "start", 'i', (Py_ssize_t)n->frames + 1, true, &in[COLUMNS]);
    for (int k = 0; k < COLUMNS && fine; k++) {
        Py_ssize_t count = (Py_ssize_t)n->frames * column_width(n, (column)k);
        fine = bind_array_get(PyList_GetItem(arrays, k), "array", 'd', count, true, &in[k]);
        base[k] = in[k].data;
    }
    PyObject *contacts = fine ? PyList_New(0) : NULL;
    if (contacts && !read_frames(self, base, in[COLUMNS].data, contacts)) {
        Py_CLEAR(contacts);
    }
    for (int k = 0; k <= COLUMNS; k++) {
        bind_array_release(&in[k]);
    }
    return contacts;
}

// check(): name, unit, done, worst, limit, over, t, where of each item; whether it passed, and whether only partly.
static PyObject *check(PyObject *object, PyObject *unused)
{
    reader *self = (reader *)object;
    (void)unused;
    perp_check c;
    perp_error error = {0};
    perp_status status = perp_recording_check(self->recording, NULL, &c, &error);
    if (status < 0) {
        error.status = status;
        return bind_fail(self->state, self->state->record_error, &error);
    }
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < PERP_CHECK_COUNT; k++) {
        const perp_check_result *i = &c.item[k];
        PyObject *one = Py_BuildValue("(ssOdddds)", i->name, i->unit, i->done ? Py_True : Py_False,
                                      i->worst, i->limit, i->over, i->t, i->where);
        if (append(list, one) < 0) {
            Py_CLEAR(list);
        }
    }
    return list ? Py_BuildValue("(NOO)", list, c.passed ? Py_True : Py_False,
                                c.partly ? Py_True : Py_False)
                : NULL;
}

static PyMethodDef methods[] = {
    {"about", about, METH_NOARGS, "Name, settings and sizes."},
    {"names", names, METH_NOARGS, "Bodies, shapes, joints, inputs, actuators, sensors."},
    {"widths", widths, METH_NOARGS, "Numbers of a frame in each array of read."},
    {"read", read_all, METH_VARARGS, "Reads all frames into arrays."},
    {"check", check, METH_NOARGS, "Verifies the recording from its numbers alone."},
    {NULL, NULL, 0, NULL}};

static char about_type[] = "A recording; use perp.read_run.";

static PyType_Slot slots[] = {{Py_tp_doc, about_type},
                              {Py_tp_new, (void *)create},
                              {Py_tp_dealloc, (void *)destroy},
                              {Py_tp_methods, methods},
                              {0, NULL}};

PyType_Spec bind_recording_spec = {
    .name = "perp._perp.Recording",
    .basicsize = sizeof(reader),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};
