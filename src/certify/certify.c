// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The certificate of a step, in physical units.                                         theory (P12)
#include "certify/certify.h"

#include <math.h>

static void worst(double *value, double candidate)
{
    if (!(candidate <= *value)) {  // NaN counts as the worst
        *value = candidate;
    }
}

// J M^-1 J^T of a row: its inverse is the mass that the impulse meets.
static double mobility(const pp_evidence *e, const pp_row *row)
{
    double sum = row->gamma;
    for (int k = 0; k < row->count; k++) {
        const pp_body *body = &e->model->body[row->body[k]];
        for (int v = 0; v < body->nv; v++) {
            sum += row->J[k][v] * row->J[k][v] / e->kin->M[body->at + v];
        }
    }
    return sum > 0.0 ? sum : 1.0;
}

// |p - clamp(p - w/m, lower, upper)| m: the natural map in m/s.
static double natural(double p, double w, double m, double lower, double upper)
{
    double to = p - w / m;
    to = to < lower ? lower : to > upper ? upper : to;
    return fabs(p - to) * m;
}

static void check_rows(perp_certificate *c, const pp_evidence *e)
{
    const pp_rows *rows = e->rows;
    for (int i = 0; i < rows->nb; i++) {
        const pp_row *row = &rows->b[i];
        worst(&c->residual,
              fabs(pp_row_rate(e->model, row, e->nu) + row->bias + row->gamma * e->pb[i]));
    }
    for (int i = 0; i < rows->nm; i++) {
        const pp_row *row = &rows->m[i];
        double w = pp_row_rate(e->model, row, e->nu) + row->bias;
        worst(&c->residual, natural(e->pm[i], w, mobility(e, row), row->lower, row->upper));
    }
    for (int i = 0; i < rows->nn; i++) {
        const pp_row *row = &rows->n[i];
        double rho = pp_row_rate(e->model, row, e->nu) + row->bias;
        worst(&c->residual, natural(e->pn[i], rho, mobility(e, row), 0.0, HUGE_VAL));
        worst(&c->complementarity, fabs(e->pn[i] * rho));
    }
    for (int i = 0; i < rows->nt; i++) {
        const pp_row *row = &rows->t[i];
        double most = rows->mu[i] * e->pn[rows->normal[i]];
        double slip = pp_row_rate(e->model, row, e->nu);
        double error = natural(e->pt[i], slip, mobility(e, row), -most, most);
        worst(&c->residual, error);
        worst(&c->slip_opposed, error);
        worst(&c->cone, fabs(e->pt[i]) - most);
    }
}

// The four lists of rows with their impulses.
typedef struct list {
    const pp_row *row;
    const double *p;
    int count;
} list;

static void lists_of(const pp_evidence *e, list out[4])
{
    const pp_rows *rows = e->rows;
    out[0] = (list){rows->b, e->pb, rows->nb};
    out[1] = (list){rows->m, e->pm, rows->nm};
    out[2] = (list){rows->n, e->pn, rows->nn};
    out[3] = (list){rows->t, e->pt, rows->nt};
}

// M (nu - nu_l) - p_ext - W p, the worst component.
static void check_momentum(perp_certificate *c, const pp_evidence *e)
{
    double *left = e->scratch;
    list lists[4];
    lists_of(e, lists);
    for (int i = 0; i < e->model->nv; i++) {
        left[i] = e->kin->M[i] * (e->nu[i] - e->nu_old[i]) - e->kin->p_ext[i];
    }
    for (int l = 0; l < 4; l++) {
        for (int i = 0; i < lists[l].count; i++) {
            pp_row_add(e->model, &lists[l].row[i], -lists[l].p[i], NULL, left);
        }
    }
    for (int i = 0; i < e->model->nv; i++) {
        worst(&c->momentum, fabs(left[i]));
    }
}

static void check_places(perp_certificate *c, const pp_evidence *e)
{
    for (int i = 0; i < e->gaps->count; i++) {
        const pp_contact *contact = &e->gaps->contact[i];
        pp_contact now[PP_POINTS_MAX];
        if (i > 0 && contact->a == contact[-1].a && contact->b == contact[-1].b) {
            continue;  // the pair was looked at
        }
        int count = pp_gap_pair(e->model, e->after, contact->a, contact->b, 0.0, now);
        for (int k = 0; k < count; k++) {
            worst(&c->gap, -now[k].gap);
        }
    }
    for (int i = 0; i < e->model->joints; i++) {
        worst(&c->joint, pp_joint_error(e->model, e->after, e->t_after, i));
    }
}

// Energy that contact and joints created: the work of their impulses on both sides together,
// p (J nu_mid + rate), nu_mid the mean of the velocities without and with all impulses; less what
// pushing overlapping bodies apart and closing open joints may put in.                  theory (P13)
static void check_energy(perp_certificate *c, const pp_evidence *e)
{
    double *mid = e->scratch, created = 0.0;
    list lists[4];
    lists_of(e, lists);
    for (int i = 0; i < e->model->nv; i++) {
        mid[i] = 0.5 * (e->nu_old[i] + e->kin->p_ext[i] / e->kin->M[i] + e->nu[i]);
    }
    for (int l = 0; l < 4; l++) {
        for (int i = 0; i < lists[l].count; i++) {
            const pp_row *row = &lists[l].row[i];
            double p = lists[l].p[i], open = row->value / e->kin->h;
            if (row->force >= 0) {
                continue;  // springs keep their energy
            }
            created += p * pp_row_rate(e->model, row, mid);
            if (l == 0) {
                created -= fabs(p * row->bias);
            } else if (l == 2 && open < 0.0) {
                created += p * open;
            }
        }
    }
    c->energy_created = created > 0.0 || isnan(created) ? created : 0.0;
}

static double kinetic(const pp_evidence *e, const double *nu)
{
    double sum = 0.0;
    for (int i = 0; i < e->model->nv; i++) {
        sum += 0.5 * e->kin->M[i] * nu[i] * nu[i];
    }
    return sum;
}

void pp_ledger(perp_energy *out, const pp_evidence *e)
{
    list lists[4];
    double work = e->kin->h * e->kin->work_rate;
    lists_of(e, lists);
    for (int l = 0; l < 4; l++) {
        for (int i = 0; i < lists[l].count; i++) {
            work -= lists[l].p[i] * lists[l].row[i].rate;  // what drives the other side
        }
    }
    out->kinetic = kinetic(e, e->nu);
    out->potential = pp_potential(e->model, e->after);
    out->work = work;
    out->dissipated =
        kinetic(e, e->nu_old) + e->kin->potential + work - out->kinetic - out->potential;
}

void pp_certify(perp_certificate *out, const pp_evidence *e, const perp_limits *limits)
{
    *out = (perp_certificate){0};
    check_rows(out, e);
    check_momentum(out, e);
    check_places(out, e);
    check_energy(out, e);
    out->passed = out->gap <= limits->gap && out->complementarity <= limits->complementarity &&
                  out->cone <= limits->cone && out->joint <= limits->joint &&
                  out->momentum <= limits->momentum && out->energy_created <= limits->energy &&
                  out->residual <= limits->residual;
}
