// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Scenes: read, generated, and asked for what their models contain. They never change, so that sims and threads share them.
#include "binding.h"

#include <stdlib.h>
#include <string.h>

// ── Reading ──────────────────────────────────────────────────────────────────────────────────────

// Arrays that the options of a reading borrow.
typedef struct reading {
    perp_scene_load_options options;
    perp_scene_file *file;
    perp_scene_parameter *set;
} reading;

static void reading_end(reading *r)
{
    PyMem_Free(r->file);
    PyMem_Free(r->set);
}

// Items that are tuples keep what they hold.
static bool are_tuples(PyObject *list)
{
    for (Py_ssize_t k = 0; k < PyList_Size(list); k++) {
        if (!PyTuple_Check(PyList_GetItem(list, k))) {
            PyErr_SetString(PyExc_TypeError, "needs a list of tuples");
            return false;
        }
    }
    return true;
}

// files: pairs of a name and bytes; set: pairs of two texts. Both are lists of tuples, and must outlive the reading.
static bool reading_begin(PyObject *files, PyObject *set, double max_mb, int outside, reading *r)
{
    *r = (reading){.options = perp_scene_load_options_default()};
    Py_ssize_t nf = PyList_Size(files), ns = PyList_Size(set);
    if (nf < 0 || ns < 0 || !are_tuples(files) || !are_tuples(set)) {
        return false;
    }
    r->options.outside = outside != 0;
    r->options.max_mb = max_mb;
    r->file = PyMem_Calloc((size_t)nf + 1, sizeof *r->file);
    r->set = PyMem_Calloc((size_t)ns + 1, sizeof *r->set);
    if (!r->file || !r->set) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t k = 0; k < nf; k++) {
        Py_ssize_t size = 0;
        const char *data = NULL;
        if (!PyArg_ParseTuple(PyList_GetItem(files, k), "sy#", &r->file[k].name, &data, &size)) {
            return false;
        }
        r->file[k].data = data;
        r->file[k].size = (size_t)size;
    }
    for (Py_ssize_t k = 0; k < ns; k++) {
        if (!PyArg_ParseTuple(PyList_GetItem(set, k), "ss", &r->set[k].name, &r->set[k].value)) {
            return false;
        }
    }
    r->options.file = r->file;
    r->options.files = (int)nf;
    r->options.set = r->set;
    r->options.sets = (int)ns;
    return true;
}

static PyObject *own(bind_state *state, perp_scene *scene)
{
    bind_scene *self = PyObject_New(bind_scene, state->scene_type);
    if (!self) {
        perp_scene_destroy(scene);
        return NULL;
    }
    self->state = state;
    self->scene = scene;
    return (PyObject *)self;
}

PyObject *bind_scene_load(PyObject *module, PyObject *args)
{
    bind_state *state = bind_module_state(module);
    PyObject *path = NULL, *files = NULL, *set = NULL;
    double max_mb = 64.0;
    int outside = 0;
    if (!PyArg_ParseTuple(args, "O&O!O!dp", PyUnicode_FSConverter, &path, &PyList_Type, &files,
                          &PyList_Type, &set, &max_mb, &outside)) {
        return NULL;
    }
    reading r;
    if (!reading_begin(files, set, max_mb, outside, &r)) {
        reading_end(&r);
        Py_DECREF(path);
        return NULL;
    }
    const char *name = PyBytes_AsString(path);
    perp_scene *scene = NULL;
    perp_error error = {0};
    perp_status status;
    Py_BEGIN_ALLOW_THREADS status = perp_scene_load_with(name, &r.options, NULL, &scene, &error);
    Py_END_ALLOW_THREADS reading_end(&r);
    PyObject *result = status >= 0 ? own(state, scene) : NULL;
    if (status == PERP_ERR_MEMORY) {
        PyErr_NoMemory();
    } else if (status < 0) {
        bind_raise_at(state->scene_error, name, &error);
    }
    Py_DECREF(path);
    return result;
}

PyObject *bind_scene_parse(PyObject *module, PyObject *args)
{
    bind_state *state = bind_module_state(module);
    const char *name = NULL, *text = NULL;
    Py_ssize_t size = 0;
    PyObject *files = NULL, *set = NULL;
    double max_mb = 64.0;
    int given_only = 0;
    if (!PyArg_ParseTuple(args, "ss#O!O!dp", &name, &text, &size, &PyList_Type, &files,
                          &PyList_Type, &set, &max_mb, &given_only)) {
        return NULL;
    }
    reading r;
    if (!reading_begin(files, set, max_mb, 0, &r)) {
        reading_end(&r);
        return NULL;
    }
    r.options.given_only = given_only != 0;
    perp_scene *scene = NULL;
    perp_error error = {0};
    perp_status status;
    Py_BEGIN_ALLOW_THREADS status =
        perp_scene_parse_with(name, text, (size_t)size, &r.options, NULL, &scene, &error);
    Py_END_ALLOW_THREADS reading_end(&r);
    if (status == PERP_ERR_MEMORY) {
        return PyErr_NoMemory();
    }
    return status < 0 ? bind_raise_at(state->scene_error, name, &error) : own(state, scene);
}

PyObject *bind_scene_generate(PyObject *module, PyObject *args)
{
    bind_state *state = bind_module_state(module);
    const char *name = NULL;
    PyObject *list = NULL;
    if (!PyArg_ParseTuple(args, "sO!", &name, &PyList_Type, &list)) {
        return NULL;
    }
    if (!are_tuples(list)) {
        return NULL;
    }
    Py_ssize_t count = PyList_Size(list);
    perp_generator_option *option = PyMem_Calloc((size_t)count + 1, sizeof *option);
    if (!option) {
        return PyErr_NoMemory();
    }
    for (Py_ssize_t k = 0; k < count; k++) {
        if (!PyArg_ParseTuple(PyList_GetItem(list, k), "ss", &option[k].name, &option[k].value)) {
            PyMem_Free(option);
            return NULL;
        }
    }
    perp_scene *scene = NULL;
    perp_error error = {0};
    perp_status status = perp_scene_generate(name, option, (int)count, NULL, &scene, &error);
    PyMem_Free(option);
    return status < 0 ? bind_fail(state, state->scene_error, &error) : own(state, scene);
}

// ── Names ────────────────────────────────────────────────────────────────────────────────────────

typedef enum part_kind {
    PART_BODY,
    PART_SHAPE,
    PART_JOINT,
    PART_INPUT,
    PART_ACTUATOR,
    PART_KEYFRAME,
    PART_SITE,
    PART_SENSOR,
    PARTS,
} part_kind;

static const char *const part_words[PARTS] = {"body",     "shape",    "joint", "input",
                                              "actuator", "keyframe", "site",  "sensor"};

static int part_count(const perp_model *m, part_kind kind)
{
    switch (kind) {
    case PART_BODY:
        return perp_model_bodies(m);
    case PART_SHAPE:
        return perp_model_shapes(m);
    case PART_JOINT:
        return perp_model_joints(m);
    case PART_INPUT:
        return perp_model_inputs(m);
    case PART_ACTUATOR:
        return perp_model_actuators(m);
    case PART_KEYFRAME:
        return perp_model_keyframes(m);
    case PART_SITE:
        return perp_model_sites(m);
    default:
        return perp_model_sensors(m);
    }
}

static const char *part_name(const perp_model *m, part_kind kind, int i)
{
    switch (kind) {
    case PART_BODY:
        return perp_model_body_name(m, (perp_body){i});
    case PART_SHAPE:
        return perp_model_shape_name(m, (perp_shape){i});
    case PART_JOINT:
        return perp_model_joint_name(m, (perp_joint){i});
    case PART_INPUT:
        return perp_model_input_name(m, (perp_input){i});
    case PART_ACTUATOR:
        return perp_model_actuator_name(m, (perp_actuator){i});
    case PART_KEYFRAME:
        return perp_model_keyframe_name(m, (perp_keyframe){i});
    case PART_SITE:
        return perp_model_site_name(m, (perp_site){i});
    default:
        return perp_model_sensor_name(m, (perp_sensor){i});
    }
}

static const perp_model *model_of(PyObject *object)
{
    return perp_scene_model(((bind_scene *)object)->scene);
}

// names(kind): all names of a kind, in their order.
static PyObject *scene_names(PyObject *object, PyObject *args)
{
    const char *word = NULL;
    if (!PyArg_ParseTuple(args, "s", &word)) {
        return NULL;
    }
    int kind = 0;
    while (kind < PARTS && strcmp(part_words[kind], word) != 0) {
        kind++;
    }
    if (kind == PARTS) {
        return PyErr_Format(PyExc_KeyError, "%s", word);
    }
    const perp_model *m = model_of(object);
    int count = part_count(m, (part_kind)kind);
    PyObject *list = PyTuple_New(count);
    for (int i = 0; list && i < count; i++) {
        const char *name = part_name(m, (part_kind)kind, i);
        PyObject *text = PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace");
        if (!text || PyTuple_SetItem(list, i, text) < 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

// ── Questions ────────────────────────────────────────────────────────────────────────────────────

// body(i): mass, inertia (xx yy zz xy xz yz), centre of mass, motion, gravity scale.
static PyObject *scene_body(PyObject *object, PyObject *args)
{
    const perp_model *m = model_of(object);
    perp_body body = {-1};
    if (!PyArg_ParseTuple(args, "i", &body.i)) {
        return NULL;
    }
    double I[6];
    perp_model_inertia_tensor(m, body, I);
    perp_vec3 center = perp_model_center(m, body);
    return Py_BuildValue("(d(dddddd)(ddd)id)", perp_model_mass(m, body), I[0], I[1], I[2], I[3],
                         I[4], I[5], center.x, center.y, center.z, (int)perp_model_motion(m, body),
                         perp_model_gravity_scale(m, body));
}

// shape(i): body and colour.
static PyObject *scene_shape(PyObject *object, PyObject *args)
{
    const perp_model *m = model_of(object);
    perp_shape shape = {-1};
    if (!PyArg_ParseTuple(args, "i", &shape.i)) {
        return NULL;
    }
    return Py_BuildValue("(ii)", perp_model_shape_body(m, shape).i,
                         (int)perp_model_shape_colour(m, shape));
}

// input(i): value at the start, range, unit.
static PyObject *scene_input(PyObject *object, PyObject *args)
{
    perp_input input = {-1};
    if (!PyArg_ParseTuple(args, "i", &input.i)) {
        return NULL;
    }
    perp_input_def def = perp_model_input_def(model_of(object), input);
    return Py_BuildValue("(dddz)", def.value, def.lower, def.upper, def.unit);
}

// sensor(i): kind, number of values, unit.
static PyObject *scene_sensor(PyObject *object, PyObject *args)
{
    const perp_model *m = model_of(object);
    perp_sensor sensor = {-1};
    if (!PyArg_ParseTuple(args, "i", &sensor.i)) {
        return NULL;
    }
    return Py_BuildValue("(izz)", perp_model_sensor_size(m, sensor),
                         perp_sensor_kind_word((int)perp_model_sensor_kind(m, sensor)),
                         perp_model_sensor_unit(m, sensor));
}

// The text of the model alone, without parameters, comments and files: a dictionary of it can be extended.
static PyObject *scene_written(PyObject *object, PyObject *unused)
{
    bind_scene *self = (bind_scene *)object;
    (void)unused;
    perp_sim_def def = perp_scene_sim_def(self->scene);
    perp_scene_settings settings = perp_scene_settings_default();
    settings.name = perp_scene_name(self->scene);
    settings.description = perp_scene_description(self->scene);
    settings.sim = &def;
    settings.step = perp_scene_step(self->scene);
    settings.until = perp_scene_until(self->scene);
    settings.interval = perp_scene_interval(self->scene);
    perp_scene *written = NULL;
    perp_error error = {0};
    if (perp_scene_create(model_of(object), &settings, NULL, &written, &error) < 0) {
        return bind_fail(self->state, self->state->scene_error, &error);
    }
    size_t size = 0;
    const char *text = perp_scene_text(written, &size);
    PyObject *result = PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, NULL);
    perp_scene_destroy(written);
    return result;
}

static PyObject *scene_files(PyObject *object, PyObject *unused)
{
    (void)unused;
    int count = 0;
    const perp_scene_file *file = perp_scene_files(((bind_scene *)object)->scene, &count);
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < count; k++) {
        PyObject *one = Py_BuildValue("(sy#)", file[k].name, (const char *)file[k].data,
                                      (Py_ssize_t)file[k].size);
        if (!one || PyList_Append(list, one) < 0) {
            Py_XDECREF(one);
            Py_DECREF(list);
            return NULL;
        }
        Py_DECREF(one);
    }
    return list;
}

static PyObject *scene_parameters(PyObject *object, PyObject *unused)
{
    (void)unused;
    int count = 0;
    const perp_scene_value *value = perp_scene_parameters(((bind_scene *)object)->scene, &count);
    PyObject *table = PyDict_New();
    for (int k = 0; table && k < count; k++) {
        PyObject *number = PyFloat_FromDouble(value[k].value);
        if (!number || PyDict_SetItemString(table, value[k].name, number) < 0) {
            Py_XDECREF(number);
            Py_DECREF(table);
            return NULL;
        }
        Py_DECREF(number);
    }
    return table;
}

// ── Attributes ───────────────────────────────────────────────────────────────────────────────────

static PyObject *get_name(PyObject *object, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(perp_scene_name(((bind_scene *)object)->scene));
}

static PyObject *get_description(PyObject *object, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(perp_scene_description(((bind_scene *)object)->scene));
}

static PyObject *get_text(PyObject *object, void *unused)
{
    (void)unused;
    size_t size = 0;
    const char *text = perp_scene_text(((bind_scene *)object)->scene, &size);
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, NULL);
}

static PyObject *get_step(PyObject *object, void *unused)
{
    (void)unused;
    return PyFloat_FromDouble(perp_scene_step(((bind_scene *)object)->scene));
}

static PyObject *get_until(PyObject *object, void *unused)
{
    (void)unused;
    return PyFloat_FromDouble(perp_scene_until(((bind_scene *)object)->scene));
}

static PyObject *get_interval(PyObject *object, void *unused)
{
    (void)unused;
    return PyFloat_FromDouble(perp_scene_interval(((bind_scene *)object)->scene));
}

static PyObject *get_spatial(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(perp_model_is_spatial(model_of(object)));
}

static void destroy(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    perp_scene_destroy(((bind_scene *)object)->scene);
    PyObject_Free(object);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"names", scene_names, METH_VARARGS, "names(kind): names of all bodies, joints, ..."},
    {"body", scene_body, METH_VARARGS, "body(i): mass, inertia, centre, motion, gravity scale."},
    {"shape", scene_shape, METH_VARARGS, "shape(i): body and colour."},
    {"input", scene_input, METH_VARARGS, "input(i): value at the start, range, unit."},
    {"sensor", scene_sensor, METH_VARARGS, "sensor(i): size, kind, unit."},
    {"written", scene_written, METH_NOARGS, "The model as the text of a scene."},
    {"files", scene_files, METH_NOARGS, "The files that it names: (name, bytes)."},
    {"parameters", scene_parameters, METH_NOARGS, "Its parameters and their values."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef attributes[] = {
    {"name", get_name, NULL, "Its name.", NULL},
    {"description", get_description, NULL, "One line.", NULL},
    {"text", get_text, NULL, "The text of the scene.", NULL},
    {"step", get_step, NULL, "Step size [s].", NULL},
    {"until", get_until, NULL, "End of the run [s].", NULL},
    {"interval", get_interval, NULL, "Time between recorded states [s]; 0: every step.", NULL},
    {"spatial", get_spatial, NULL, "In space, not in the plane.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static char about_type[] = "A scene: a model and how to run it. It never changes.";

static PyType_Slot slots[] = {{Py_tp_doc, about_type},
                              {Py_tp_dealloc, (void *)destroy},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, attributes},
                              {0, NULL}};

PyType_Spec bind_scene_spec = {
    .name = "perp._perp.Scene",
    .basicsize = sizeof(bind_scene),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
