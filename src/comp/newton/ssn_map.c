// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The Alart–Curnier map of the scaled contact problem, theory (C21), an element of
// Clarke's generalised Jacobian of its projection, and the residuals (C7) and (C8) by
// which the semi-smooth Newton solver stops. Projections are those of cone.c; the judge has its
// own. Cost: a few operations a contact, products with W apart.
#include "comp/newton/ssn.h"

#include <math.h>
#include <string.h>

// y = Q(x) at contact c, x = r - rho u, and the Jacobian P of Q (NULL: not wanted). The radius mu
// x_n of a group depends on x_n: column 0 of P.
static void project_augmented(const pp_ssn *ssn, int c, const double *x, double *y, double *P)
{
    int d = ssn->dim;
    bool closed = x[0] > 0.0;
    y[0] = closed ? x[0] : 0.0;
    if (P) {
        memset(P, 0, (size_t)(d * d) * sizeof *P);
        P[0] = closed ? 1.0 : 0.0;
    }
    for (int k = 0; k < ssn->groups; k++) {
        const pp_disc *disc = &ssn->law[c].disc[k];
        int f = disc->first, size = disc->size;
        double slope[6] = {0.0};
        if (!closed || disc->mu == 0.0) {  // radius 0 and P = 0
            memset(y + f, 0, (size_t)size * sizeof *y);
            continue;
        }
        memcpy(y + f, x + f, (size_t)size * sizeof *y);
        pp_disc_project(disc, disc->mu * y[0], y + f, P ? slope : NULL);
        if (!P) {
            continue;
        }
        for (int a = 0; a < size; a++) {
            P[f + a] = disc->mu * slope[4 + a];
            for (int b = 0; b < size; b++) {
                P[f + a + (f + b) * d] = slope[a + 2 * b];
            }
        }
    }
}

double pp_ssn_map(const pp_ssn *ssn, double rho, const double *r, const double *u, double *F,
                  double *P)
{
    int d = ssn->dim;
    for (int c = 0; c < ssn->nc; c++) {
        double x[PP_DIM_MAX], y[PP_DIM_MAX] = {0};
        for (int a = 0; a < d; a++) {
            x[a] = r[c * d + a] - rho * u[c * d + a];
        }
        project_augmented(ssn, c, x, y, P ? P + (size_t)c * (size_t)(d * d) : NULL);
        for (int a = 0; a < d; a++) {
            F[c * d + a] = r[c * d + a] - y[a];
        }
    }
    return pp_norm2(ssn->n, F);
}

void pp_ssn_clip(const pp_ssn *ssn, const double *r, double *inside)
{
    for (int c = 0; c < ssn->nc; c++) {
        project_augmented(ssn, c, r + c * ssn->dim, inside + c * ssn->dim, NULL);
    }
}

// ── Residuals ────────────────────────────────────────────────────────────────────────────────────

pp_ssn_residuals pp_ssn_residual(const pp_ssn *ssn, const double *r, const double *u)
{
    int d = ssn->dim;
    double plain = 0.0, scaled = 0.0, r2 = 0.0, rho_q2 = 0.0, q2 = 0.0;
    for (int c = 0; c < ssn->nc; c++) {
        double R[PP_DIM_MAX], U[PP_DIM_MAX], e[PP_DIM_MAX];
        // (C8): |r|^2 and |rho q|^2 are unit^2 S^2 times the squares of the scaled r and q. The
        // unit cancels, and with S of the normal component moments count by their lengths, (C16).
        double weight = ssn->scale[c * d] / ssn->unit;
        double s2 = weight * weight;
        for (int a = 0; a < d; a++) {
            int i = c * d + a;
            // (C7) in the caller's units, (C8) in scaled ones
            R[a] = ssn->scale[i] * r[i];
            U[a] = ssn->velocity[i] * u[i];
            q2 += ssn->fcp->q[i] * ssn->fcp->q[i];
            r2 += s2 * r[i] * r[i];
            rho_q2 += s2 * ssn->q[i] * ssn->q[i];
        }
        if (u[c * d] >= 0.0 && pp_norm_inf(d, r + c * d) == 0.0) {
            continue;  // open: both maps vanish
        }
        pp_cone_law_natural(&ssn->plain[c], 1.0, R, U, e);
        plain += pp_dot(d, e, e);
        pp_cone_law_measure(&ssn->law[c], 1.0, r + c * d, u + c * d, e);
        scaled += s2 * pp_dot(d, e, e);
    }
    double size = sqrt(fmax(r2, rho_q2));
    plain = q2 > 0.0 ? sqrt(plain / q2) : sqrt(plain);
    scaled = size > 0.0 ? sqrt(scaled) / size : sqrt(scaled);
    return (pp_ssn_residuals){
        .plain = isfinite(plain) ? plain : PP_INF,
        .scaled = isfinite(scaled) ? scaled : PP_INF,
    };
}
