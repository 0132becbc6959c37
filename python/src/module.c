// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The module perp._perp: its types, exceptions and functions.
#include "binding.h"

#include <stdio.h>
#include <string.h>

static PyModuleDef definition;

bind_state *bind_module_state(PyObject *module)
{
    return PyModule_GetState(module);
}

// Classes in Python that derive from ours have no module of the extension themselves.
bind_state *bind_type_state(PyTypeObject *type)
{
    for (PyTypeObject *at = type; at; at = PyType_GetSlot(at, Py_tp_base)) {
        PyObject *module = PyType_GetFlags(at) & Py_TPFLAGS_HEAPTYPE ? PyType_GetModule(at) : NULL;
        if (module && PyModule_GetDef(module) == &definition) {
            return PyModule_GetState(module);
        }
        PyErr_Clear();
    }
    PyErr_SetString(PyExc_SystemError, "perp: a type of another module");
    return NULL;
}

// ── Exceptions ───────────────────────────────────────────────────────────────────────────────────

// Sets an attribute and gives up the value; failures are those of the exception under way.
static void attach(PyObject *object, const char *name, PyObject *value)
{
    if (value) {
        PyObject_SetAttrString(object, name, value);
        Py_DECREF(value);
    }
}

static PyObject *raise_text(PyObject *type, perp_status status, const char *text, const char *file,
                            const perp_error *place)
{
    PyObject *message = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    PyObject *exception = message ? PyObject_CallFunctionObjArgs(type, message, NULL) : NULL;
    Py_XDECREF(message);
    if (!exception) {
        return NULL;
    }
    attach(exception, "status", PyUnicode_FromString(perp_status_word(status)));
    if (file) {
        attach(exception, "file", PyUnicode_DecodeFSDefault(file));
        attach(exception, "line", PyLong_FromLong(place->line));
        attach(exception, "column", PyLong_FromLong(place->column));
    }
    PyErr_SetObject(type, exception);
    Py_DECREF(exception);
    return NULL;
}

PyObject *bind_raise(PyObject *type, perp_status status, const char *text)
{
    return raise_text(type, status, text[0] ? text : perp_status_text(status), NULL, NULL);
}

PyObject *bind_raise_at(PyObject *type, const char *file, const perp_error *error)
{
    char text[4600];
    const char *why = error->text[0] ? error->text : perp_status_text(error->status);
    if (error->line > 0) {
        snprintf(text, sizeof text, "%s:%d:%d: %s", file, error->line, error->column, why);
    } else {
        snprintf(text, sizeof text, "%s: %s", file, why);
    }
    return raise_text(type, error->status, text, file, error);
}

PyObject *bind_fail(const bind_state *state, PyObject *other, const perp_error *error)
{
    if (error->status == PERP_ERR_MEMORY) {
        return PyErr_NoMemory();
    }
    PyObject *type = error->status == PERP_ERR_ARGUMENT ? state->value_error : other;
    return bind_raise(type, error->status, error->text);
}

// ── Structures ───────────────────────────────────────────────────────────────────────────────────

// The fields of perp_contact for a structured array: name, format of numpy, offset.
PyObject *bind_layouts(PyObject *module, PyObject *unused)
{
    static const struct {
        const char *name, *format;
        size_t offset;
    } field[] = {{"a", "<i4", offsetof(perp_contact, a)},
                 {"b", "<i4", offsetof(perp_contact, b)},
                 {"feature", "<u4", offsetof(perp_contact, feature)},
                 {"point", "(3,)<f8", offsetof(perp_contact, point_W)},
                 {"normal", "(3,)<f8", offsetof(perp_contact, normal_W)},
                 {"gap", "<f8", offsetof(perp_contact, gap)},
                 {"mu", "<f8", offsetof(perp_contact, mu)},
                 {"restitution", "<f8", offsetof(perp_contact, restitution)},
                 {"pn", "<f8", offsetof(perp_contact, pn)},
                 {"pf", "(3,)<f8", offsetof(perp_contact, pf_W)},
                 {"rate_n", "<f8", offsetof(perp_contact, rate_n)},
                 {"slip", "<f8", offsetof(perp_contact, slip)},
                 {"tangent", "(3,)<f8", offsetof(perp_contact, tangent_W)},
                 {"slip_velocity", "(3,)<f8", offsetof(perp_contact, slip_W)},
                 {"hold", "(3,)<f8", offsetof(perp_contact, hold_W)},
                 {"moment", "(3,)<f8", offsetof(perp_contact, moment_W)},
                 {"facets", "<i4", offsetof(perp_contact, facets)},
                 {"mode", "<i4", offsetof(perp_contact, mode)}};
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list && k < sizeof field / sizeof field[0]; k++) {
        PyObject *one =
            Py_BuildValue("(ssn)", field[k].name, field[k].format, (Py_ssize_t)field[k].offset);
        if (!one || PyList_Append(list, one) < 0) {
            Py_XDECREF(one);
            Py_DECREF(list);
            return NULL;
        }
        Py_DECREF(one);
    }
    return list ? Py_BuildValue("(Nn)", list, (Py_ssize_t)sizeof(perp_contact)) : NULL;
}

PyObject *bind_vector(perp_vec3 v)
{
    return Py_BuildValue("(ddd)", v.x, v.y, v.z);
}

PyObject *bind_pose(const perp_pose *pose)
{
    return Py_BuildValue("((ddd)(dddd))", pose->p.x, pose->p.y, pose->p.z, pose->rot.w, pose->rot.x,
                         pose->rot.y, pose->rot.z);
}

PyObject *bind_certificate(const perp_certificate *c)
{
    const double *r = c->relative;
    return Py_BuildValue("(ddddddddddOiO(ddddddddd))", c->gap, c->complementarity, c->cone,
                         c->slip_opposed, c->joint, c->momentum, c->energy_created, c->residual,
                         c->motion, c->path, c->path_clear ? Py_True : Py_False, c->pairs,
                         c->passed ? Py_True : Py_False, r[0], r[1], r[2], r[3], r[4], r[5], r[6],
                         r[7], r[8]);
}

_Static_assert(PERP_JUDGED_COUNT == 9, "bind_certificate lists the items one by one");

// ── The module ───────────────────────────────────────────────────────────────────────────────────

// Names of the solvers, with the bits of the problems they are for.
static PyObject *solvers(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < perp_solver_count(); k++) {
        const perp_solver_card *card = perp_solver_at(k);
        PyObject *one = Py_BuildValue("(sI)", card->name, card->classes);
        if (!one || PyList_Append(list, one) < 0) {
            Py_XDECREF(one);
            Py_DECREF(list);
            return NULL;
        }
        Py_DECREF(one);
    }
    return list;
}

// Words of the kinds that arrays show as numbers.
static PyObject *words(PyObject *module, PyObject *args)
{
    static const struct {
        const char *name;
        const char *(*word)(int);
    } table[] = {{"mode", perp_contact_mode_word},       {"stepper", perp_stepper_word},
                 {"event", perp_event_kind_word},        {"form", perp_form_word},
                 {"uniqueness", perp_uniqueness_word},   {"sensor", perp_sensor_kind_word},
                 {"coordinates", perp_coordinates_word}, {"friction", perp_friction_law_word}};
    const char *name = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "s", &name)) {
        return NULL;
    }
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        if (strcmp(table[k].name, name) == 0) {
            PyObject *list = PyList_New(0);
            for (int i = 0; list && table[k].word(i); i++) {
                PyObject *word = PyUnicode_FromString(table[k].word(i));
                if (!word || PyList_Append(list, word) < 0) {
                    Py_XDECREF(word);
                    Py_DECREF(list);
                    return NULL;
                }
                Py_DECREF(word);
            }
            return list;
        }
    }
    return PyErr_Format(PyExc_KeyError, "%s", name);
}

static PyMethodDef functions[] = {
    {"load", bind_scene_load, METH_VARARGS, "Reads a scene, an MJCF or a URDF file."},
    {"parse", bind_scene_parse, METH_VARARGS, "Reads a scene from a text."},
    {"generate", bind_scene_generate, METH_VARARGS, "Makes a scene by a generator."},
    {"contact_layout", bind_layouts, METH_NOARGS, "Fields of a contact, and its size."},
    {"solvers", solvers, METH_NOARGS, "Names of the solvers, and bits of their problems."},
    {"words", words, METH_VARARGS, "The words of an enumeration, in its order."},
    {"replay", bind_replay, METH_VARARGS, "The page that replays a recording."},
    {"solve_mcp", bind_solve_mcp, METH_VARARGS, "Solves a mixed complementarity problem."},
    {"solve_contact", bind_solve_contact, METH_VARARGS, "Solves a frictional contact problem."},
    {NULL, NULL, 0, NULL}};

// An exception with a base of perp and, where it is not NULL, one of Python.
static int add_exception(PyObject *module, const char *name, const char *text, PyObject *first,
                         PyObject *second, PyObject **out)
{
    char full[64];
    snprintf(full, sizeof full, "perp.%s", name);
    PyObject *bases = second ? PyTuple_Pack(2, first, second) : PyTuple_Pack(1, first);
    if (!bases) {
        return -1;
    }
    *out = PyErr_NewExceptionWithDoc(full, text, bases, NULL);
    Py_DECREF(bases);
    return *out ? PyModule_AddObjectRef(module, name, *out) : -1;
}

static int add_exceptions(PyObject *module, bind_state *s)
{
    if (add_exception(module, "Error",
                      "What perp reports. `status` is its word: error, limit, infeasible, ...",
                      PyExc_Exception, NULL, &s->error) < 0) {
        return -1;
    }
    const struct {
        const char *name, *text;
        PyObject *second, **out;
    } table[] = {
        {"SceneError", "A scene or model that cannot be used: file, line, column (0: none).",
         PyExc_ValueError, &s->scene_error},
        {"StepError", "A step was not solved; the sim is in the state before it.", NULL,
         &s->step_error},
        {"SolveError", "A problem has no solution, or none was found; `z` is the best iterate.",
         NULL, &s->solve_error},
        {"RecordError", "A recording cannot be written or read.", PyExc_OSError, &s->record_error},
        {"ArgumentError", "An argument that perp refuses; nothing has changed.", PyExc_ValueError,
         &s->value_error},
        {"BusyError", "A sim is used by another thread at the same time.", PyExc_RuntimeError,
         &s->busy_error}};
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        if (add_exception(module, table[k].name, table[k].text, s->error, table[k].second,
                          table[k].out) < 0) {
            return -1;
        }
    }
    return 0;
}

static int execute(PyObject *module)
{
    bind_state *s = PyModule_GetState(module);
    const struct {
        PyType_Spec *spec;
        PyTypeObject **out;
    } types[] = {{&bind_scene_spec, &s->scene_type},
                 {&bind_buffer_spec, &s->buffer_type},
                 {&bind_sim_spec, &s->sim_type},
                 {&bind_recording_spec, &s->recording_type},
                 {&bind_pool_spec, &s->pool_type}};
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
        *types[k].out = (PyTypeObject *)PyType_FromModuleAndSpec(module, types[k].spec, NULL);
        if (!*types[k].out || PyModule_AddType(module, *types[k].out) < 0) {
            return -1;
        }
    }
    if (add_exceptions(module, s) < 0) {
        return -1;
    }
    return PyModule_AddStringConstant(module, "version", perp_version());
}

// A list: what the checker counts are the branches inside Py_VISIT.
// NOLINTNEXTLINE(readability-function-cognitive-complexity)
static int traverse(PyObject *module, visitproc visit, void *arg)
{
    bind_state *s = PyModule_GetState(module);
    Py_VISIT(s->error);
    Py_VISIT(s->scene_error);
    Py_VISIT(s->step_error);
    Py_VISIT(s->solve_error);
    Py_VISIT(s->record_error);
    Py_VISIT(s->value_error);
    Py_VISIT(s->busy_error);
    Py_VISIT((PyObject *)s->scene_type);
    Py_VISIT((PyObject *)s->buffer_type);
    Py_VISIT((PyObject *)s->sim_type);
    Py_VISIT((PyObject *)s->recording_type);
    Py_VISIT((PyObject *)s->pool_type);
    return 0;
}

static int clear(PyObject *module)
{
    bind_state *s = PyModule_GetState(module);
    Py_CLEAR(s->error);
    Py_CLEAR(s->scene_error);
    Py_CLEAR(s->step_error);
    Py_CLEAR(s->solve_error);
    Py_CLEAR(s->record_error);
    Py_CLEAR(s->value_error);
    Py_CLEAR(s->busy_error);
    Py_CLEAR(s->scene_type);
    Py_CLEAR(s->buffer_type);
    Py_CLEAR(s->sim_type);
    Py_CLEAR(s->recording_type);
    Py_CLEAR(s->pool_type);
    return 0;
}

static void release(void *module)
{
    clear(module);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)execute}, {0, NULL}};

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "perp._perp",
    .m_doc = "The library perp. Use the package perp, which gives these types their public form.",
    .m_size = sizeof(bind_state),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = release,
};

// Python asks for this name.
// NOLINTBEGIN(readability-identifier-naming)
PyMODINIT_FUNC PyInit__perp(void);

PyMODINIT_FUNC PyInit__perp(void)
// NOLINTEND(readability-identifier-naming)
{
    return PyModuleDef_Init(&definition);
}
