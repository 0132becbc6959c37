// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target for the contact solvers: the bytes define one or two contacts of any law, in local or global
// form; accepted answers must satisfy the law of each contact, and all numbers must be finite.
#include "support/bytes.h"
#include "support/truth.h"

#include <perp/comp.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NC_MAX = 2, N_MAX = 6 * NC_MAX, NV = 6 };

#define HOLD(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            __builtin_trap();                                                                      \
        }                                                                                          \
    } while (0)

typedef struct input {
    double mu[NC_MAX], spin[NC_MAX], roll[NC_MAX];
    int nd[NC_MAX];
    double W[N_MAX * N_MAX], q[N_MAX];
    double M[NV * NV], H[NV * N_MAX], f[NV];
    perp_fcp fcp;
    double mu_max;
} input;

// H from the bytes, M diagonal; the local form is condensed here, with an optional perturbation.
static void decode(bytes *from, input *in)
{
    memset(in, 0, sizeof *in);
    int nc = 1 + take_byte(from) % NC_MAX, dim = 2 + take_byte(from) % 5, shape = take_byte(from);
    int n = nc * dim;
    for (int c = 0; c < nc; c++) {
        in->mu[c] = 1.5 * take_fraction(from);
        in->spin[c] = 0.2 * take_fraction(from);
        in->roll[c] = 0.2 * take_fraction(from);
        in->nd[c] = shape & 1 ? 3 + take_byte(from) % 6 : 0;
        in->mu_max = fmax(in->mu_max, in->mu[c]);
    }
    for (int k = 0; k < NV; k++) {
        in->M[k * (NV + 1)] = ldexp(1.0, take_byte(from) % 21 - 10);
        in->f[k] = take_number(from);
    }
    for (int k = 0; k < NV * n; k++) {
        in->H[k] = (take_byte(from) >> 4) - 7;
    }
    for (int j = 0; j < n; j++) {
        in->q[j] = take_number(from);
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < NV; k++) {
                in->W[i + j * n] += in->H[k + i * NV] * in->H[k + j * NV] / in->M[k * (NV + 1)];
            }
        }
    }
    perp_fcp *fcp = &in->fcp;
    *fcp = (perp_fcp){.nc = nc, .dim = dim, .mu = in->mu};
    fcp->mu_spin = dim == 4 || dim == 6 ? in->spin : NULL;
    fcp->mu_roll = dim >= 5 ? in->roll : NULL;
    fcp->nd = shape & 1 ? in->nd : NULL;
    if (shape & 2) {
        fcp->nv = NV;
        fcp->M = perp_matrix_dense(NV, NV, in->M);
        fcp->H = perp_matrix_dense(NV, n, in->H);
        fcp->f = in->f;
        fcp->w = in->q;
    } else {
        fcp->W = perp_matrix_dense(n, n, in->W);
        fcp->q = in->q;
    }
}

static double largest(int n, const double *x)
{
    double most = 0.0;
    for (int k = 0; k < n; k++) {
        HOLD(isfinite(x[k]));
        most = fmax(most, fabs(x[k]));
    }
    return most;
}

// u of the answer, from v in the global form.
static void velocities(const input *in, const double *r, const double *v, double *u)
{
    int n = in->fcp.nc * in->fcp.dim;
    for (int i = 0; i < n; i++) {
        u[i] = in->q[i];
        for (int k = 0; in->fcp.nv > 0 && k < NV; k++) {
            u[i] += in->H[k + i * NV] * v[k];
        }
        for (int j = 0; in->fcp.nv == 0 && j < n; j++) {
            u[i] += in->W[i + j * n] * r[j];
        }
    }
}

static void try_solver(const char *name, const input *in)
{
    const perp_fcp *fcp = &in->fcp;
    int n = fcp->nc * fcp->dim;
    double r[N_MAX] = {0.0}, v[NV] = {0.0}, u[N_MAX];
    perp_comp_options options = perp_comp_options_default();
    perp_comp_info info;
    options.max_iterations = 200;
    perp_status status = perp_fcp_solve(name, fcp, &options, NULL, r, v, &info);
    double unit = fmax(largest(n, r), fmax(largest(NV, v), largest(n, in->q)));
    HOLD(info.error.text[0] != '\0');
    if (status < 0) {
        return;
    }
    // A natural map within tol |q| bounds the violation of the law by a few times that; the largest free velocity
    // is bounded in terms of f and M.
    velocities(in, r, v, u);
    unit = fmax(unit, largest(n, u));
    for (int k = 0; fcp->nv > 0 && k < NV; k++) {
        unit = fmax(unit, 50.0 * fabs(in->f[k] / in->M[k * (NV + 1)]));
    }
    unit = unit > 0.0 ? unit : 1.0;
    double most = status == PERP_OK ? options.tolerance : options.loose;
    for (int c = 0; c < fcp->nc; c++) {
        int at = c * fcp->dim;
        HOLD(truth_contact(fcp, c, r + at, u + at, unit, unit) <= 200.0 * most);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const solvers[] = {"auto", "ssn", "gs", "eg", "lemke"};
    bytes from = {data, size, 0};
    input in;
    decode(&from, &in);
    for (int s = 0; s < 5; s++) {
        try_solver(solvers[s], &in);
    }
    return 0;
}
