// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// `gs`: block Gauss–Seidel over the contacts, each solved exactly, with Anderson acceleration.
//
// A sweep replaces r_c by the exact solution of contact c with all others held, theory (C26)
// (Jourdan, Alart, Jean 1998). The state (u, or v of the global form) follows every change, so that
// a contact costs its own rows only, and an open contact that stays open costs nothing; the state
// is recomputed against drift when residuals are measured. The sweep is a fixed-point map of (r,
// state). Affine combinations of pairs keep the state consistent with r, which Anderson
// acceleration, theory (C31), relies on.
//
// Proved to converge without friction (projected Gauss–Seidel on a convex quadratic program), and
// for small friction on regular W. The iterate of least residual is returned. Cost: the entries of
// W, or of H twice, a sweep; linear convergence.
#include "comp/sweeping/first.h"
#include "comp/sweeping/sweep.h"

#include <math.h>
#include <string.h>

enum {
    SWEEPS = 10000,  // without a limit of the caller
    STALL = 5000,    // sweeps without an improvement of a tenth that end it
};

// One sweep in the order of the contacts.
static void gs_sweep(const pp_ssn *ssn, double *r, double *state, pp_meter *meter)
{
    int dim = ssn->dim;
    for (int c = 0; c < ssn->nc; c++) {
        const double *W = ssn->own + (size_t)c * (size_t)(dim * dim);
        double *rc = r + (size_t)c * (size_t)dim, q[PP_DIM_MAX], x[PP_DIM_MAX], dr[PP_DIM_MAX];
        bool moved = false;
        // q of (C26): the velocity without the contact's own reaction
        pp_ssn_velocity_at(ssn, state, c, q);
        for (int j = 0; j < dim; j++) {
            for (int i = 0; i < dim; i++) {
                q[i] -= W[i + j * dim] * rc[j];
            }
        }
        memcpy(x, rc, (size_t)dim * sizeof *x);
        pp_one_contact(&ssn->law[c], W, q, x, meter);
        for (int i = 0; i < dim; i++) {
            dr[i] = x[i] - rc[i];
            moved = moved || dr[i] != 0.0;
            rc[i] = x[i];
        }
        if (moved) {
            pp_ssn_apply(ssn, c, dr, state);
        }
    }
}

// The iteration from best->best. z = (r, state) is the point, g its image after one sweep.
static perp_status gauss_seidel(const pp_ssn *ssn, const pp_job *job, pp_best_iterate *best)
{
    int n = ssn->n, size = n + pp_ssn_state_size(ssn);
    double *z = PP_ZEROS(job->arena, double, size), *g = PP_ARRAY(job->arena, double, size);
    pp_anderson *anderson = pp_anderson_create(n, size, 2.0, job->arena);
    if (!z || !g || !anderson) {
        return PERP_ERR_MEMORY;
    }
    memcpy(z, best->best, (size_t)n * sizeof *z);
    pp_ssn_state(ssn, z, z + n);
    for (int k = 1;; k++) {
        // the sweep works on a copy: Anderson acceleration needs z and its image
        memcpy(g, z, (size_t)size * sizeof *g);
        gs_sweep(ssn, g, g + n, job->meter);
        pp_meter_add(job->meter, pp_ssn_sweep_cost(ssn));
        if (pp_best_iterate_done(best, k, g, g + n)) {
            return PERP_OK;
        }
        pp_anderson_next(anderson, g, z);
    }
}

perp_status pp_gs_fcp(const perp_fcp *fcp, const pp_job *job, double *r, double *v,
                      pp_report *report)
{
    static const pp_first_order_method method = {gauss_seidel, "sweeps", SWEEPS, STALL};
    return pp_first_order_run(&method, fcp, job, r, v, report);
}
