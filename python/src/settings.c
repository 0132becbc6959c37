// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Settings of a sim from a dictionary, with the keys and words of scene files (docs/scene-format.md).
#include "binding.h"

#include <math.h>
#include <string.h>

typedef enum value_kind { VALUE_WORD, VALUE_REAL, VALUE_COUNT } value_kind;

// A member of perp_sim_def. Enumerations have the size of an int.
typedef struct setting {
    const char *key;
    value_kind kind;
    size_t offset;
    const char *(*word)(int);
} setting;

#define AT(member) offsetof(perp_sim_def, member)

static const setting table[] = {
    {"stepper", VALUE_WORD, AT(stepper), perp_stepper_word},
    {"form", VALUE_WORD, AT(form), perp_form_word},
    {"friction", VALUE_WORD, AT(friction), perp_friction_law_word},
    {"impact", VALUE_WORD, AT(impact), perp_impact_law_word},
    {"rotation_update", VALUE_WORD, AT(rotation), perp_rotation_update_word},
    {"gyroscopic", VALUE_WORD, AT(gyroscopic), perp_gyroscopic_word},
    {"positions", VALUE_WORD, AT(positions), perp_positions_word},
    {"coordinates", VALUE_WORD, AT(coordinates), perp_coordinates_word},
    {"start", VALUE_WORD, AT(start), perp_start_word},
    {"tolerance", VALUE_REAL, AT(tolerance), NULL},
    {"max_seconds", VALUE_REAL, AT(max_seconds), NULL},
    {"max_work", VALUE_REAL, AT(max_work), NULL},
    {"accuracy", VALUE_REAL, AT(accuracy), NULL},
    {"margin", VALUE_REAL, AT(margin), NULL},
    {"theta", VALUE_REAL, AT(theta), NULL},
    {"max_iterations", VALUE_COUNT, AT(max_iterations), NULL},
    {"facets", VALUE_COUNT, AT(facets), NULL},
    {"threads", VALUE_COUNT, AT(threads), NULL},
    {"eps", VALUE_REAL, AT(event.eps), NULL},
    {"relative_tolerance", VALUE_REAL, AT(event.tolerance_relative), NULL},
    {"absolute_tolerance", VALUE_REAL, AT(event.tolerance_absolute), NULL},
    {"events_per_second", VALUE_REAL, AT(event.max_events_per_second), NULL},
};

static const setting limits[] = {
    {"gap", VALUE_REAL, AT(limits.gap), NULL},
    {"complementarity", VALUE_REAL, AT(limits.complementarity), NULL},
    {"cone", VALUE_REAL, AT(limits.cone), NULL},
    {"joint", VALUE_REAL, AT(limits.joint), NULL},
    {"momentum", VALUE_REAL, AT(limits.momentum), NULL},
    {"energy", VALUE_REAL, AT(limits.energy), NULL},
    {"residual", VALUE_REAL, AT(limits.residual), NULL},
    {"motion", VALUE_REAL, AT(limits.motion), NULL},
    {"path", VALUE_REAL, AT(limits.path), NULL},
};

enum {
    SETTINGS = sizeof table / sizeof table[0],
    LIMITS = sizeof limits / sizeof limits[0],
};

static bool set_word(const setting *s, const char *word, perp_sim_def *def)
{
    char list[400] = "";
    for (int k = 0; s->word(k); k++) {
        if (strcmp(s->word(k), word) == 0) {
            memcpy((char *)def + s->offset, &k, sizeof k);
            return true;
        }
        size_t used = strlen(list);
        PyOS_snprintf(list + used, sizeof list - used, "%s'%s'", k > 0 ? ", " : "", s->word(k));
    }
    PyErr_Format(PyExc_ValueError, "%s: unknown word '%s': expected one of %s", s->key, word, list);
    return false;
}

static bool set_value(const setting *s, PyObject *value, perp_sim_def *def)
{
    if (s->kind == VALUE_WORD) {
        const char *word = PyUnicode_Check(value) ? PyUnicode_AsUTF8AndSize(value, NULL) : NULL;
        if (!word && !PyErr_Occurred()) {
            PyErr_Format(PyExc_TypeError, "%s: needs a word, not %R", s->key, value);
        }
        return word && set_word(s, word, def);
    }
    if (s->kind == VALUE_COUNT) {
        long number = PyLong_AsLong(value);
        int count = (int)number;
        if (number == -1 && PyErr_Occurred()) {
            return false;
        }
        if (number < 0 || number > 1000000000) {
            PyErr_Format(PyExc_ValueError, "%s: needs a number from 0 to 1000000000, not %ld",
                         s->key, number);
            return false;
        }
        memcpy((char *)def + s->offset, &count, sizeof count);
        return true;
    }
    double real = PyFloat_AsDouble(value);
    if (real == -1.0 && PyErr_Occurred()) {
        return false;
    }
    if (isnan(real)) {
        PyErr_Format(PyExc_ValueError, "%s: not a number", s->key);
        return false;
    }
    memcpy((char *)def + s->offset, &real, sizeof real);
    return true;
}

static const setting *find(const setting *list, int count, const char *key)
{
    for (int k = 0; k < count; k++) {
        if (strcmp(list[k].key, key) == 0) {
            return &list[k];
        }
    }
    return NULL;
}

static bool set_limits(PyObject *values, perp_sim_def *def)
{
    PyObject *key = NULL, *value = NULL;
    Py_ssize_t at = 0;
    if (!PyDict_Check(values)) {
        PyErr_SetString(PyExc_TypeError, "limits: needs a dictionary, such as {'gap': 1e-9}");
        return false;
    }
    while (PyDict_Next(values, &at, &key, &value)) {
        const char *name = PyUnicode_Check(key) ? PyUnicode_AsUTF8AndSize(key, NULL) : NULL;
        const setting *s = name ? find(limits, LIMITS, name) : NULL;
        if (!s) {
            PyErr_Format(PyExc_ValueError, "limits: unknown item %R", key);
            return false;
        }
        if (!set_value(s, value, def)) {
            return false;
        }
    }
    return true;
}

// Settings that are no plain members.
static bool set_other(const perp_scene *scene, const char *key, PyObject *value, perp_sim_def *def)
{
    if (strcmp(key, "limits") == 0) {
        return set_limits(value, def);
    }
    const char *text = PyUnicode_Check(value) ? PyUnicode_AsUTF8AndSize(value, NULL) : NULL;
    bool known = strcmp(key, "solver") == 0 || strcmp(key, "keyframe") == 0;
    if (!text || !known) {
        if (!PyErr_Occurred()) {
            PyErr_Format(PyExc_TypeError, known ? "%s: needs a name" : "unknown setting '%s'", key);
        }
        return false;
    }
    if (strcmp(key, "solver") == 0) {
        def->solver = text;
        return true;
    }
    def->keyframe = perp_model_keyframe(perp_scene_model(scene), text);
    if (def->keyframe.i < 0) {
        PyErr_Format(PyExc_ValueError, "keyframe: the model has no keyframe '%s'", text);
    }
    return def->keyframe.i >= 0;
}

bool bind_settings(const bind_state *state, const perp_scene *scene, PyObject *settings,
                   perp_sim_def *def)
{
    (void)state;
    PyObject *key = NULL, *value = NULL;
    Py_ssize_t at = 0;
    *def = perp_scene_sim_def(scene);
    while (PyDict_Next(settings, &at, &key, &value)) {
        const char *name = PyUnicode_Check(key) ? PyUnicode_AsUTF8AndSize(key, NULL) : NULL;
        if (!name) {
            PyErr_SetString(PyExc_TypeError, "settings: keys are words");
            return false;
        }
        const setting *s = find(table, SETTINGS, name);
        bool set = s ? set_value(s, value, def) : set_other(scene, name, value, def);
        if (!set) {
            return false;
        }
    }
    return true;
}
