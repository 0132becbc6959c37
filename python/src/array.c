// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Arrays in, by the buffer protocol, and memory of sims out.
#include "binding.h"

#include <stdlib.h>
#include <string.h>

// ── Arrays in ────────────────────────────────────────────────────────────────────────────────────

static size_t item_size(char type)
{
    switch (type) {
    case 'd':
        return sizeof(double);
    case 'i':
        return sizeof(int32_t);
    default:
        return 1;
    }
}

static const char *item_name(char type)
{
    switch (type) {
    case 'd':
        return "float64";
    case 'i':
        return "int32";
    default:
        return "bytes";
    }
}

// Formats have an optional mark of the order of bytes, which must be that of the machine.
static bool has_format(const char *format, char type)
{
    if (!format || type == 'b') {
        return type == 'b';
    }
    if (format[0] == '<' || format[0] == '=' || format[0] == '@') {
        format++;
    }
    return (format[0] == type ||
            (type == 'i' && format[0] == 'l' && sizeof(int) == sizeof(int32_t))) &&
           format[1] == '\0';
}

bool bind_array_get(PyObject *object, const char *name, char type, Py_ssize_t count, bool writable,
                    bind_array *out)
{
    *out = (bind_array){.data = NULL};
    if (!object || object == Py_None) {
        if (count > 0) {
            PyErr_Format(PyExc_ValueError, "%s: an array is needed, with %zd numbers", name, count);
            return false;
        }
        return true;
    }
    int flags = PyBUF_ND | PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, &out->view, flags) < 0) {
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "%s: needs a contiguous%s array of %s", name,
                     writable ? ", writable" : "", item_name(type));
        return false;
    }
    Py_ssize_t size = (Py_ssize_t)item_size(type);
    if (!has_format(out->view.format, type) || (type != 'b' && out->view.itemsize != size)) {
        PyErr_Format(PyExc_TypeError, "%s: needs an array of %s, not of format '%s'", name,
                     item_name(type), out->view.format ? out->view.format : "B");
        PyBuffer_Release(&out->view);
        return false;
    }
    out->count = out->view.len / size;
    if (count >= 0 && out->count != count) {
        PyErr_Format(PyExc_ValueError, "%s: needs %zd numbers, not %zd", name, count, out->count);
        PyBuffer_Release(&out->view);
        return false;
    }
    // an empty array may have no memory, and an absent one has none
    static char nothing[8];
    out->data = out->view.buf ? out->view.buf : nothing;
    return true;
}

void bind_array_release(bind_array *array)
{
    if (array->data) {
        PyBuffer_Release(&array->view);
        array->data = NULL;
    }
}

// ── Memory of sims ───────────────────────────────────────────────────────────────────────────────

bind_buffer *bind_buffer_renew(const bind_state *state, PyObject **kept, size_t size)
{
    bind_buffer *b = (bind_buffer *)*kept;
    if (!b || b->exports > 0) {
        b = PyObject_New(bind_buffer, state->buffer_type);
        if (!b) {
            return NULL;
        }
        b->data = NULL;
        b->size = b->room = 0;
        b->exports = 0;
        b->serial = 0;
        Py_XDECREF(*kept);
        *kept = (PyObject *)b;
    }
    if ((size_t)b->room < size || !b->data) {
        size_t room = size + size / 2 + 8;
        void *data = realloc(b->data, room);
        if (!data) {
            PyErr_NoMemory();
            return NULL;
        }
        b->data = data;
        b->room = (Py_ssize_t)room;
    }
    b->size = (Py_ssize_t)size;
    return b;
}

static int show(PyObject *object, Py_buffer *view, int flags)
{
    bind_buffer *self = (bind_buffer *)object;
    if (PyBuffer_FillInfo(view, object, self->data, self->size, 1, flags) < 0) {
        return -1;
    }
    self->exports++;
    return 0;
}

static void hide(PyObject *object, Py_buffer *view)
{
    (void)view;
    ((bind_buffer *)object)->exports--;
}

static void destroy(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    free(((bind_buffer *)object)->data);
    PyObject_Free(object);
    Py_DECREF(type);
}

static char about_type[] = "Memory that numpy shows.";

static PyType_Slot slots[] = {{Py_tp_doc, about_type},
                              {Py_tp_dealloc, (void *)destroy},
                              {Py_bf_getbuffer, (void *)show},
                              {Py_bf_releasebuffer, (void *)hide},
                              {0, NULL}};

PyType_Spec bind_buffer_spec = {
    .name = "perp._perp.Buffer",
    .basicsize = sizeof(bind_buffer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
