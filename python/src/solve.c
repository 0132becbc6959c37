// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Complementarity and contact problems given as matrices: solved, and judged by code that no solver shares.
#include "binding.h"

#include <string.h>

// A dense matrix, column-major, or the three arrays of compressed columns.
typedef struct matrix {
    perp_matrix m;
    bind_array part[3];
} matrix;

static void matrix_release(matrix *a)
{
    for (int k = 0; k < 3; k++) {
        bind_array_release(&a->part[k]);
    }
}

static bool matrix_get(PyObject *object, const char *name, int rows, int cols, matrix *out)
{
    *out = (matrix){.m = {.rows = rows, .cols = cols}};
    if (object == Py_None) {
        return true;
    }
    if (!PyTuple_Check(object)) {
        bool fine =
            bind_array_get(object, name, 'd', (Py_ssize_t)rows * cols, false, &out->part[0]);
        out->m = perp_matrix_dense(rows, cols, out->part[0].data);
        return fine;
    }
    PyObject *p = NULL, *i = NULL, *x = NULL;
    if (!PyArg_ParseTuple(object, "OOO", &p, &i, &x) ||
        !bind_array_get(p, name, 'i', (Py_ssize_t)cols + 1, false, &out->part[0]) ||
        !bind_array_get(i, name, 'i', -1, false, &out->part[1]) ||
        !bind_array_get(x, name, 'd', out->part[1].count, false, &out->part[2])) {
        return false;
    }
    // the library checks the order of the entries, but cannot know how many there are
    const int *start = out->part[0].data;
    for (int k = 0; k <= cols; k++) {
        bool wrong =
            start[k] < 0 || start[k] > out->part[1].count || (k > 0 && start[k] < start[k - 1]);
        if (wrong || (k == 0 && start[k] != 0) || (k == cols && start[k] != out->part[1].count)) {
            PyErr_Format(PyExc_ValueError, "%s: the column starts of the sparse matrix are wrong",
                         name);
            return false;
        }
    }
    out->m = perp_matrix_csc(rows, cols, start, out->part[1].data, out->part[2].data);
    return true;
}

static bool options_get(PyObject *table, perp_comp_options *o)
{
    *o = perp_comp_options_default();
    return PyArg_ParseTuple(table, "ddiddi", &o->tolerance, &o->loose, &o->max_iterations,
                            &o->max_seconds, &o->max_work, &o->threads) != 0;
}

// What both kinds of problem report: status, word, text, solver, iterations, seconds, then the judge's numbers.
static PyObject *report(perp_status status, const perp_comp_info *info, perp_status judged,
                        const double residual[5])
{
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (status == PERP_ERR_MEMORY || judged == PERP_ERR_MEMORY) {
        return PyErr_NoMemory();
    }
    const char *text = info->error.text[0] ? info->error.text : perp_status_text(status);
    return Py_BuildValue("(isszidi(ddddd))", (int)status, perp_status_word(status), text,
                         info->solver, info->iterations, info->seconds, (int)judged, residual[0],
                         residual[1], residual[2], residual[3], residual[4]);
}

// solve_mcp(solver, A, b, lower, upper, options, z, ray)
PyObject *bind_solve_mcp(PyObject *module, PyObject *args)
{
    PyObject *matrix_object = NULL, *in[3] = {NULL}, *table = NULL, *out[2] = {NULL};
    const char *solver = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "sOOOOO!OO", &solver, &matrix_object, &in[0], &in[1], &in[2],
                          &PyTuple_Type, &table, &out[0], &out[1])) {
        return NULL;
    }
    matrix A = {.m = {0}};
    bind_array a[5];
    memset(a, 0, sizeof a);
    perp_comp_options options;
    bool fine = options_get(table, &options) && bind_array_get(in[0], "b", 'd', -1, false, &a[0]);
    Py_ssize_t n = a[0].count;
    if (fine && n > 1000000) {
        PyErr_SetString(PyExc_ValueError, "b: too large a problem");
        fine = false;
    }
    fine = fine && matrix_get(matrix_object, "A", (int)n, (int)n, &A) &&
           bind_array_get(in[1], "lower", 'd', in[1] == Py_None ? -1 : n, false, &a[1]) &&
           bind_array_get(in[2], "upper", 'd', in[2] == Py_None ? -1 : n, false, &a[2]) &&
           bind_array_get(out[0], "z", 'd', n, true, &a[3]) &&
           bind_array_get(out[1], "ray", 'd', n, true, &a[4]);
    PyObject *result = NULL;
    if (fine) {
        perp_mcp mcp = {
            .n = (int)n, .A = A.m, .b = a[0].data, .lower = a[1].data, .upper = a[2].data};
        options.ray = a[4].data;
        perp_comp_info info = {0};
        perp_mcp_residuals r = {0};
        bind_host host = {0};
        perp_env env = bind_host_env(&host);
        env.parallel_for = NULL;
        bind_host_leave(&host);
        perp_status status = perp_mcp_solve(solver, &mcp, &options, &env, a[3].data, &info);
        perp_status judged = perp_mcp_judge(&mcp, a[3].data, NULL, &r);
        bind_host_return(&host);
        const double residual[5] = {r.plain, r.scaled, r.bound, r.backward, 0.0};
        result = report(status, &info, judged, residual);
    }
    matrix_release(&A);
    for (int k = 0; k < 5; k++) {
        bind_array_release(&a[k]);
    }
    return result;
}

// Arrays of a contact problem.
enum { IN_MU, IN_SPIN, IN_ROLL, IN_FACETS, IN_Q, IN_F, IN_W, OUT_R, OUT_V, CONTACT_ARRAYS };

static bool contact_arrays(PyObject *const *object, int nc, int dim, int nv, bind_array *a)
{
    static const char *const name[CONTACT_ARRAYS] = {"mu", "mu_spin", "mu_roll", "facets", "q",
                                                     "f",  "w",       "r",       "v"};
    const Py_ssize_t size[CONTACT_ARRAYS] = {
        nc, nc, nc, nc, nc * (Py_ssize_t)dim, nv, nc * (Py_ssize_t)dim, nc * (Py_ssize_t)dim, nv};
    for (int k = 0; k < CONTACT_ARRAYS; k++) {
        bool absent = object[k] == Py_None;
        if (!bind_array_get(object[k], name[k], k == IN_FACETS ? 'i' : 'd', absent ? -1 : size[k],
                            k >= OUT_R, &a[k])) {
            return false;
        }
    }
    return true;
}

// Nested parts of the arguments are tuples, which keep their items: those of another sequence may be gone when they are
// used.
//
// solve_contact(solver, nc, dim, nv, (W, M, H), (mu, mu_spin, mu_roll, facets, q, f, w, r, v), options)
PyObject *bind_solve_contact(PyObject *module, PyObject *args)
{
    PyObject *m[3] = {NULL}, *o[CONTACT_ARRAYS] = {NULL}, *table = NULL;
    const char *solver = NULL;
    perp_fcp fcp = {0};
    (void)module;
    PyObject *matrices = NULL, *arrays = NULL;
    if (!PyArg_ParseTuple(args, "siiiO!O!O!", &solver, &fcp.nc, &fcp.dim, &fcp.nv, &PyTuple_Type,
                          &matrices, &PyTuple_Type, &arrays, &PyTuple_Type, &table) ||
        !PyArg_ParseTuple(matrices, "OOO", &m[0], &m[1], &m[2]) ||
        !PyArg_ParseTuple(arrays, "OOOOOOOOO", &o[0], &o[1], &o[2], &o[3], &o[4], &o[5], &o[6],
                          &o[7], &o[8])) {
        return NULL;
    }
    if (fcp.nc < 0 || fcp.nv < 0 || fcp.dim < 2 || fcp.dim > 6 || fcp.nc > 1000000 ||
        fcp.nv > 10000000) {
        PyErr_SetString(PyExc_ValueError, "contact problem: impossible sizes");
        return NULL;
    }
    int size = fcp.nc * fcp.dim;
    matrix part[3];
    bind_array a[CONTACT_ARRAYS];
    memset(part, 0, sizeof part);
    memset(a, 0, sizeof a);
    perp_comp_options options;
    bool fine = options_get(table, &options) && contact_arrays(o, fcp.nc, fcp.dim, fcp.nv, a) &&
                matrix_get(m[0], "W", size, size, &part[0]) &&
                matrix_get(m[1], "M", fcp.nv, fcp.nv, &part[1]) &&
                matrix_get(m[2], "H", fcp.nv, size, &part[2]);
    PyObject *result = NULL;
    if (fine && (!a[OUT_R].data || (fcp.nv > 0) != (a[OUT_V].data != NULL))) {
        PyErr_SetString(PyExc_ValueError, "contact problem: an output is missing");
    } else if (fine) {
        fcp.mu = a[IN_MU].data;
        fcp.mu_spin = a[IN_SPIN].data;
        fcp.mu_roll = a[IN_ROLL].data;
        fcp.nd = a[IN_FACETS].data;
        fcp.q = a[IN_Q].data;
        fcp.f = a[IN_F].data;
        fcp.w = a[IN_W].data;
        fcp.W = part[0].m;
        fcp.M = part[1].m;
        fcp.H = part[2].m;
        perp_comp_info info = {0};
        perp_fcp_residuals r = {0};
        bind_host host = {0};
        perp_env env = bind_host_env(&host);
        env.parallel_for = NULL;
        bind_host_leave(&host);
        perp_status status =
            perp_fcp_solve(solver, &fcp, &options, &env, a[OUT_R].data, a[OUT_V].data, &info);
        perp_status judged = perp_fcp_judge(&fcp, a[OUT_R].data, a[OUT_V].data, NULL, &r);
        bind_host_return(&host);
        const double residual[5] = {r.plain, r.scaled, r.dynamics, r.backward, r.velocity};
        result = report(status, &info, judged, residual);
    }
    for (int k = 0; k < 3; k++) {
        matrix_release(&part[k]);
    }
    for (int k = 0; k < CONTACT_ARRAYS; k++) {
        bind_array_release(&a[k]);
    }
    return result;
}
