// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What a user does to a sim between steps, and the history of it. A recording that is asked for after the run repeats the
// history on a second sim: the same actions give the same bits.
#include "binding.h"

#include <stdlib.h>
#include <string.h>

// A longer history is not kept [bytes].
static const size_t HISTORY_MOST = (size_t)256 << 20;

static const int value_count[BIND_ACTIONS] = {
    [BIND_STEP] = 1,     [BIND_INPUT] = 1,  [BIND_RELEASE] = 0, [BIND_WRENCH] = 6,
    [BIND_FORCE_AT] = 6, [BIND_EFFORT] = 1, [BIND_GRAVITY] = 3, [BIND_FRICTION] = 3,
    [BIND_PAIR] = 4,     [BIND_GAINS] = 4,  [BIND_LIMITS] = 2,  [BIND_RATE] = 2,
    [BIND_MOTION] = 13};

int bind_action_values(int kind)
{
    return kind >= 0 && kind < BIND_ACTIONS ? value_count[kind] : -1;
}

static perp_vec3 vector_of(const double *v)
{
    return (perp_vec3){v[0], v[1], v[2]};
}

static perp_status set_motion(perp_sim *sim, const bind_action *x)
{
    const double *v = x->value;
    perp_pose pose = {vector_of(v), {v[3], v[4], v[5], v[6]}};
    perp_twist twist = {vector_of(v + 7), vector_of(v + 10)};
    return perp_sim_body_motion_set(sim, (perp_body){x->a}, x->b & 1 ? &pose : NULL,
                                    x->b & 2 ? &twist : NULL);
}

perp_status bind_perform(perp_sim *sim, const bind_action *x)
{
    const double *v = x->value;
    switch ((bind_action_kind)x->kind) {
    case BIND_STEP:
        return perp_sim_step(sim, v[0]);
    case BIND_INPUT:
        return perp_sim_input_set(sim, (perp_input){x->a}, v[0]);
    case BIND_RELEASE:
        perp_sim_input_release(sim, (perp_input){x->a});
        return PERP_OK;
    case BIND_WRENCH:
        perp_sim_body_apply(sim, (perp_body){x->a}, (perp_wrench){vector_of(v), vector_of(v + 3)});
        return PERP_OK;
    case BIND_FORCE_AT:
        perp_sim_body_apply_at(sim, (perp_body){x->a}, vector_of(v), vector_of(v + 3));
        return PERP_OK;
    case BIND_EFFORT:
        return perp_sim_joint_apply(sim, (perp_joint){x->a}, v[0]);
    case BIND_GRAVITY:
        return perp_sim_gravity_set(sim, vector_of(v));
    case BIND_FRICTION:
        return perp_sim_shape_friction_set(sim, (perp_shape){x->a}, v[0], v[1], v[2]);
    case BIND_PAIR:
        return perp_sim_pair_friction_set(sim, (perp_shape){x->a}, (perp_shape){x->b},
                                          (perp_friction){v[0], v[1], v[2], v[3]});
    case BIND_GAINS:
        return perp_sim_actuator_gains_set(sim, (perp_actuator){x->a}, v[0], v + 1);
    case BIND_LIMITS:
        return perp_sim_actuator_limits_set(sim, (perp_actuator){x->a}, v[0], v[1]);
    case BIND_RATE:
        return perp_sim_joint_rate_set(sim, (perp_joint){x->a}, v[0], v[1]);
    case BIND_MOTION:
        return set_motion(sim, x);
    default:
        return PERP_ERR_ARGUMENT;
    }
}

// _act(kind, a, b, values)
PyObject *bind_sim_act(PyObject *object, PyObject *args)
{
    bind_sim *self = (bind_sim *)object;
    bind_action x = {.count = 1};
    PyObject *values = NULL;
    if (!PyArg_ParseTuple(args, "iiiO!", &x.kind, &x.a, &x.b, &PyTuple_Type, &values)) {
        return NULL;
    }
    int count = bind_action_values(x.kind);
    if (count < 0 || x.kind == BIND_STEP || PyTuple_Size(values) != count) {
        PyErr_SetString(PyExc_ValueError, "an action with other values");
        return NULL;
    }
    for (int k = 0; k < count; k++) {
        x.value[k] = PyFloat_AsDouble(PyTuple_GetItem(values, k));
    }
    if (PyErr_Occurred() || !bind_sim_enter(self, false)) {
        return NULL;
    }
    perp_status status = bind_perform(self->sim, &x);
    perp_error error = *perp_sim_error(self->sim);
    if (status >= 0) {
        bind_history_add(&self->history, &x);
    }
    bind_sim_leave(self);
    error.status = status;
    return status < 0 ? bind_fail(self->state, self->state->error, &error) : Py_NewRef(Py_None);
}

// ── History ──────────────────────────────────────────────────────────────────────────────────────

static size_t action_size(int kind)
{
    return offsetof(bind_action, value) + (size_t)value_count[kind] * sizeof(double);
}

static void forget(bind_history *h)
{
    free(h->bytes);
    h->bytes = NULL;
    h->size = h->room = h->last = 0;
}

// Steps of one length in a row are one action.
static bool joins(const bind_history *h, const bind_action *x)
{
    bind_action last;
    if (x->kind != BIND_STEP || h->size == 0) {
        return false;
    }
    memcpy(&last, h->bytes + h->last, offsetof(bind_action, value) + sizeof(double));
    return last.kind == BIND_STEP && last.value[0] == x->value[0];
}

// Bytes, not actions: most have one value of thirteen. Without memory the history is lost, and a later recording
// says so; the step itself is done.
void bind_history_add(bind_history *h, const bind_action *x)
{
    if (h->lost) {
        return;
    }
    if (joins(h, x)) {
        int64_t count = 0;
        memcpy(&count, h->bytes + h->last + offsetof(bind_action, count), sizeof count);
        count += x->count;
        memcpy(h->bytes + h->last + offsetof(bind_action, count), &count, sizeof count);
        return;
    }
    size_t size = action_size(x->kind);
    if (h->size + size > h->room) {
        size_t room = 2 * h->room + 4096;
        char *more = room > HISTORY_MOST ? NULL : realloc(h->bytes, room);
        if (!more) {
            h->lost = true;
            forget(h);
            return;
        }
        h->bytes = more;
        h->room = room;
    }
    memcpy(h->bytes + h->size, x, size);
    h->last = h->size;
    h->size += size;
}

void bind_history_restart(bind_history *h, void *start, size_t size)
{
    forget(h);
    free(h->start);
    h->start = start;
    h->start_size = size;
    h->lost = false;
}

void bind_history_clear(bind_history *h)
{
    bind_history_restart(h, NULL, 0);
}

// The lock of the interpreter is released in steps, and Ctrl-C ends them, as in the run itself.
perp_status bind_history_repeat(const bind_history *h, perp_sim *sim, bind_host *host,
                                perp_status (*each)(void *user, perp_sim *sim), void *user)
{
    for (size_t at = 0; at < h->size;) {
        bind_action x = {.kind = 0};
        memcpy(&x, h->bytes + at, offsetof(bind_action, value));
        memcpy(&x, h->bytes + at, action_size(x.kind));
        at += action_size(x.kind);
        for (int64_t k = 0; k < x.count; k++) {
            bind_host_leave(host);
            perp_status status = bind_perform(sim, &x);
            bind_host_return(host);
            if (PyErr_Occurred()) {
                return PERP_ERR_STOPPED;
            }
            if (status >= 0 && x.kind == BIND_STEP) {
                status = each(user, sim);
            }
            if (status < 0) {
                return status;
            }
        }
    }
    return PERP_OK;
}
