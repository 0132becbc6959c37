// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Questions about a sim: its parts, rays, distances, Jacobians, forces and events.
#include "binding.h"

#include <math.h>
#include <string.h>

static PyObject *twist(perp_vec3 a, perp_vec3 b)
{
    return Py_BuildValue("((ddd)(ddd))", a.x, a.y, a.z, b.x, b.y, b.z);
}

// ── Parts ────────────────────────────────────────────────────────────────────────────────────────

// _body(i, what): pose, twist, angle, drive impulse, contact wrench.
PyObject *bind_sim_body(PyObject *object, PyObject *args)
{
    bind_sim *self = (bind_sim *)object;
    perp_body body = {-1};
    const char *what = NULL;
    if (!PyArg_ParseTuple(args, "is", &body.i, &what) || !bind_sim_enter(self, false)) {
        return NULL;
    }
    PyObject *result = NULL;
    if (strcmp(what, "pose") == 0) {
        perp_pose pose = perp_sim_body_pose(self->sim, body);
        result = bind_pose(&pose);
    } else if (strcmp(what, "twist") == 0) {
        perp_twist v = perp_sim_body_twist(self->sim, body);
        result = twist(v.v_W, v.w_W);
    } else if (strcmp(what, "angle") == 0) {
        result = PyFloat_FromDouble(perp_sim_body_angle(self->sim, body));
    } else if (strcmp(what, "drive") == 0) {
        perp_wrench w = perp_sim_body_drive_impulse(self->sim, body);
        result = twist(w.f_W, w.tau_W);
    } else if (strcmp(what, "contact") == 0) {
        perp_wrench w = perp_sim_contact_wrench(self->sim, body);
        result = twist(w.f_W, w.tau_W);
    } else {
        PyErr_Format(PyExc_KeyError, "%s", what);
    }
    bind_sim_leave(self);
    return result;
}

PyObject *bind_sim_joint(PyObject *object, PyObject *args)
{
    bind_sim *self = (bind_sim *)object;
    perp_joint joint = {-1};
    if (!PyArg_ParseTuple(args, "i", &joint.i) || !bind_sim_enter(self, false)) {
        return NULL;
    }
    perp_joint_state s = perp_sim_joint(self->sim, joint);
    bind_sim_leave(self);
    return Py_BuildValue("(dddNddO)", s.coordinate, s.rate, s.error,
                         twist(s.impulse_b.f_W, s.impulse_b.tau_W), s.drive, s.limit,
                         s.redundant ? Py_True : Py_False);
}

PyObject *bind_sim_actuator(PyObject *object, PyObject *args)
{
    bind_sim *self = (bind_sim *)object;
    perp_actuator actuator = {-1};
    if (!PyArg_ParseTuple(args, "i", &actuator.i) || !bind_sim_enter(self, false)) {
        return NULL;
    }
    perp_actuator_state s = perp_sim_actuator(self->sim, actuator);
    perp_actuator_law law = perp_sim_actuator_law(self->sim, actuator);
    bind_sim_leave(self);
    return Py_BuildValue("(dddO(d(ddd))(dd)d)", s.control, s.impulse, s.effort,
                         s.limited ? Py_True : Py_False, law.gain, law.bias[0], law.bias[1],
                         law.bias[2], law.lower, law.upper, law.gear);
}

// _sensor(i, out): fills an array.
PyObject *bind_sim_sensor(PyObject *object, PyObject *args)
{
    bind_sim *self = (bind_sim *)object;
    perp_sensor sensor = {-1};
    PyObject *out = NULL;
    if (!PyArg_ParseTuple(args, "iO", &sensor.i, &out) || !bind_sim_enter(self, false)) {
        return NULL;
    }
    PyObject *result = NULL;
    bind_array values;
    int size = perp_model_sensor_size(perp_sim_model(self->sim), sensor);
    if (bind_array_get(out, "sensor", 'd', size, true, &values)) {
        perp_status status = perp_sim_sensor(self->sim, sensor, values.data, size);
        bind_array_release(&values);
        result = status < 0 ? bind_raise(self->state->value_error, status, "no such sensor")
                            : Py_NewRef(Py_None);
    }
    bind_sim_leave(self);
    return result;
}

PyObject *bind_sim_site(PyObject *object, PyObject *args)
{
    bind_sim *self = (bind_sim *)object;
    perp_site site = {-1};
    if (!PyArg_ParseTuple(args, "i", &site.i) || !bind_sim_enter(self, false)) {
        return NULL;
    }
    perp_pose pose = perp_sim_site_pose(self->sim, site);
    bind_sim_leave(self);
    return bind_pose(&pose);
}

// ── Geometry ─────────────────────────────────────────────────────────────────────────────────────

enum { RAY_VALUES = 8 };  // distance, point, normal, inside

// _rays(origins, directions, max_distance, mask, skip, shapes, values): count rays; shapes: int32, values: 8 each.
PyObject *bind_sim_rays(PyObject *object, PyObject *args)
{
    bind_sim *self = (bind_sim *)object;
    PyObject *in[2] = {NULL}, *out[2] = {NULL};
    double most = (double)INFINITY;
    unsigned mask = UINT32_MAX;
    int skip = -1;
    if (!PyArg_ParseTuple(args, "OOdIiOO", &in[0], &in[1], &most, &mask, &skip, &out[0], &out[1])) {
        return NULL;
    }
    bind_array from = {.data = NULL}, to = {.data = NULL}, shape = {.data = NULL},
               value = {.data = NULL};
    bool fine = bind_array_get(in[0], "origins", 'd', -1, false, &from);
    Py_ssize_t count = from.count / 3;
    fine = fine && bind_array_get(in[1], "directions", 'd', 3 * count, false, &to) &&
           bind_array_get(out[0], "shapes", 'i', count, true, &shape) &&
           bind_array_get(out[1], "values", 'd', RAY_VALUES * count, true, &value);
    PyObject *result = NULL;
    perp_ray *ray = fine ? PyMem_Calloc((size_t)count + 1, sizeof *ray) : NULL;
    perp_hit *hit = fine ? PyMem_Calloc((size_t)count + 1, sizeof *hit) : NULL;
    if (fine && (!ray || !hit)) {
        PyErr_NoMemory();
    } else if (fine && bind_sim_enter(self, false)) {
        const double *o = from.data, *d = to.data;
        for (Py_ssize_t k = 0; k < count; k++) {
            ray[k] = perp_ray_default();
            ray[k].origin_W = (perp_vec3){o[3 * k], o[3 * k + 1], o[3 * k + 2]};
            ray[k].direction_W = (perp_vec3){d[3 * k], d[3 * k + 1], d[3 * k + 2]};
            ray[k].max_distance = most;
            ray[k].mask = mask;
            ray[k].skip.i = skip;
        }
        perp_status status = perp_sim_rays(self->sim, ray, (int)count, hit);
        bind_sim_leave(self);
        for (Py_ssize_t k = 0; k < count; k++) {
            const perp_hit *h = &hit[k];
            const double row[RAY_VALUES] = {h->distance,   h->point_W.x,         h->point_W.y,
                                            h->point_W.z,  h->normal_W.x,        h->normal_W.y,
                                            h->normal_W.z, h->inside ? 1.0 : 0.0};
            ((int32_t *)shape.data)[k] = h->shape.i;
            memcpy((double *)value.data + RAY_VALUES * k, row, sizeof row);
        }
        result = status < 0 ? bind_raise(self->state->value_error, status,
                                         "a ray has a direction of length 0, a number that is not "
                                         "finite, or a negative distance")
                            : Py_NewRef(Py_None);
    }
    PyMem_Free(ray);
    PyMem_Free(hit);
    bind_array_release(&from);
    bind_array_release(&to);
    bind_array_release(&shape);
    bind_array_release(&value);
    return result;
}

PyObject *bind_sim_distance(PyObject *object, PyObject *args)
{
    bind_sim *self = (bind_sim *)object;
    perp_shape a = {-1}, b = {-1};
    if (!PyArg_ParseTuple(args, "ii", &a.i, &b.i) || !bind_sim_enter(self, false)) {
        return NULL;
    }
    perp_distance d;
    perp_status status = perp_sim_distance(self->sim, a, b, &d);
    bind_sim_leave(self);
    if (status < 0) {
        return bind_raise(
            self->state->value_error, status,
            "distance: two different shapes are needed, of which one is convex and bounded");
    }
    return Py_BuildValue("(dNNN)", d.distance, bind_vector(d.point_A_W), bind_vector(d.point_B_W),
                         bind_vector(d.normal_W));
}

// ── Dynamics ─────────────────────────────────────────────────────────────────────────────────────

// _jacobian(body, (x, y, z), out): out has nv rows of 6, which is column-major of 6 x nv.
PyObject *bind_sim_jacobian(PyObject *object, PyObject *args)
{
    bind_sim *self = (bind_sim *)object;
    perp_body body = {-1};
    perp_vec3 p = {0.0, 0.0, 0.0};
    PyObject *out = NULL;
    if (!PyArg_ParseTuple(args, "i(ddd)O", &body.i, &p.x, &p.y, &p.z, &out) ||
        !bind_sim_enter(self, false)) {
        return NULL;
    }
    int nq = 0, nv = 0;
    perp_sim_state_size(self->sim, &nq, &nv);
    bind_array J;
    PyObject *result = NULL;
    if (bind_array_get(out, "J", 'd', 6 * (Py_ssize_t)nv, true, &J)) {
        perp_status status = perp_sim_point_jacobian(self->sim, body, p, J.data, NULL);
        bind_array_release(&J);
        result = status < 0 ? bind_raise(self->state->value_error, status,
                                         "jacobian: no such body, or a point that is not finite")
                            : Py_NewRef(Py_None);
    }
    bind_sim_leave(self);
    return result;
}

// _inverse_dynamics(acceleration, out)
PyObject *bind_sim_inverse_dynamics(PyObject *object, PyObject *args)
{
    bind_sim *self = (bind_sim *)object;
    PyObject *in = NULL, *out = NULL;
    if (!PyArg_ParseTuple(args, "OO", &in, &out) || !bind_sim_enter(self, false)) {
        return NULL;
    }
    int nq = 0, nv = 0;
    perp_sim_state_size(self->sim, &nq, &nv);
    bind_array a = {.data = NULL}, f = {.data = NULL};
    PyObject *result = NULL;
    if (bind_array_get(in, "acceleration", 'd', nv, false, &a) &&
        bind_array_get(out, "force", 'd', nv, true, &f)) {
        perp_status status = perp_sim_inverse_dynamics(self->sim, a.data, f.data);
        result = status < 0 ? bind_raise(self->state->value_error, status,
                                         "inverse_dynamics: a number is not finite")
                            : Py_NewRef(Py_None);
    }
    bind_array_release(&a);
    bind_array_release(&f);
    bind_sim_leave(self);
    return result;
}

PyObject *bind_sim_pair_friction(PyObject *object, PyObject *args)
{
    bind_sim *self = (bind_sim *)object;
    perp_shape a = {-1}, b = {-1};
    if (!PyArg_ParseTuple(args, "ii", &a.i, &b.i) || !bind_sim_enter(self, false)) {
        return NULL;
    }
    perp_friction f = perp_sim_pair_friction(self->sim, a, b);
    perp_vec3 g = perp_sim_gravity(self->sim);
    bind_sim_leave(self);
    return Py_BuildValue("(ddddN)", f.mu, f.mu_2, f.mu_spin, f.mu_roll, bind_vector(g));
}

// Forces of all contacts on their shapes b: normal, friction, moment.
PyObject *bind_sim_contact_forces(PyObject *object, PyObject *unused)
{
    bind_sim *self = (bind_sim *)object;
    (void)unused;
    if (!bind_sim_enter(self, false)) {
        return NULL;
    }
    int count = 0;
    perp_sim_contacts(self->sim, &count);
    PyObject *bytes =
        PyBytes_FromStringAndSize(NULL, (Py_ssize_t)count * 6 * (Py_ssize_t)sizeof(double));
    double *to = bytes ? (double *)(void *)PyBytes_AsString(bytes) : NULL;
    for (int k = 0; to && k < count; k++) {
        perp_contact_force f = perp_sim_contact_force(self->sim, k);
        const double row[6] = {f.force_W.x,  f.force_W.y,  f.force_W.z,
                               f.moment_W.x, f.moment_W.y, f.moment_W.z};
        memcpy(to + 6 * (size_t)k, row, sizeof row);
    }
    bind_sim_leave(self);
    return bytes;
}

// Events of the last step: t, kind, shapes, joint, point, rates, impulse, remark.
PyObject *bind_sim_events(PyObject *object, PyObject *unused)
{
    bind_sim *self = (bind_sim *)object;
    (void)unused;
    if (!bind_sim_enter(self, false)) {
        return NULL;
    }
    int count = 0;
    const perp_event *e = perp_sim_events(self->sim, &count);
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < count; k++) {
        PyObject *one = Py_BuildValue("(dsiiiNddds)", e[k].t, perp_event_kind_word((int)e[k].kind),
                                      e[k].a.i, e[k].b.i, e[k].joint.i, bind_vector(e[k].point_W),
                                      e[k].rate_before, e[k].rate_after, e[k].impulse, e[k].remark);
        if (!one || PyList_Append(list, one) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(one);
    }
    bind_sim_leave(self);
    return list;
}
