// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The certificate of a step, in physical units.                                         theory (P12)
#include "certify/certify.h"

#include "math/math.h"

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
    double sum = row->gamma + pp_row_mobility(e->model, e->kin->mass, row);
    return sum > 0.0 ? sum : 1.0;
}

// |p - clamp(p - w/m, lower, upper)| m: the natural map in m/s.
static double natural(double p, double w, double m, double lower, double upper)
{
    double to = p - w / m;
    to = to < lower ? lower : to > upper ? upper : to;
    return fabs(p - to) * m;
}

// Impulses and velocities that the contact laws are held against. base: normal impulse that adds to the
// friction limit without being an unknown of the phase, NULL: none.
typedef struct phase {
    const double *nu, *pn, *pt, *base;
} phase;

// The natural map of a friction group: p against the nearest impulse within the limit to p - slip/m.
static void check_friction(perp_certificate *c, const pp_evidence *e, const phase *at,
                           const pp_friction *group)
{
    double pn = at->pn[group->n] + (at->base ? at->base[group->n] : 0.0);
    if (pn == 0.0 && at->pt[group->t] == 0.0 && (group->size == 1 || at->pt[group->t + 1] == 0.0)) {
        return;  // nothing there and nothing allowed, whatever the slip
    }
    double most = group->mu * pn, m = mobility(e, &e->rows->t[group->t]);
    double slip[2], p[2] = {0.0, 0.0}, to[2] = {0.0, 0.0}, inside[2] = {0.0, 0.0};
    pp_friction_slip(e->model, e->rows, group, at->nu, slip);
    for (int k = 0; k < group->size; k++) {
        p[k] = inside[k] = at->pt[group->t + k];
        to[k] = p[k] - slip[k] / m;
    }
    pp_friction_project(group, e->polygons, most, to);
    double error = m * pp_length2(p[0] - to[0], p[1] - to[1]);
    worst(&c->residual, error);
    worst(&c->slip_opposed, error);
    if (group->size == 1) {
        worst(&c->cone, fabs(p[0]) - most);
        return;
    }
    pp_friction_project(group, e->polygons, most, inside);
    worst(&c->cone, pp_length2(p[0] - inside[0], p[1] - inside[1]));
}

// Many rows are looked at in pieces, by several at once; how many pieces there are depends on the rows alone.
enum { MANY = 512, PIECES = 64 };

static int pieces_of(int rows)
{
    return rows > MANY ? PIECES : 1;
}

// Where piece k of so many things begins.
static int begin_of(int count, int k, int pieces)
{
    return (int)((int64_t)count * k / pieces);
}

typedef struct look {
    const pp_evidence *e;
    const phase *at;
    int pieces;
    perp_certificate part[PIECES];
} look;

static void check_pieces(void *arg, int from, int to)
{
    look *l = arg;
    const pp_evidence *e = l->e;
    const phase *at = l->at;
    const pp_rows *rows = e->rows;
    for (int k = from; k < to; k++) {
        perp_certificate *c = &l->part[k];
        *c = (perp_certificate){0};
        int end = begin_of(rows->nn, k + 1, l->pieces);
        for (int i = begin_of(rows->nn, k, l->pieces); i < end; i++) {
            const pp_row *row = &rows->n[i];
            double rho = pp_row_rate(e->model, row, at->nu) + row->bias;
            if (at->pn[i] == 0.0 && rho >= 0.0) {
                continue;  // open: both are 0
            }
            worst(&c->residual, natural(at->pn[i], rho, mobility(e, row), 0.0, HUGE_VAL));
            worst(&c->complementarity, fabs(at->pn[i] * rho));
        }
        end = begin_of(rows->ng, k + 1, l->pieces);
        for (int i = begin_of(rows->ng, k, l->pieces); i < end; i++) {
            check_friction(c, e, at, &rows->group[i]);
        }
    }
}

static void check_phase(perp_certificate *c, const pp_evidence *e, const phase *at)
{
    look l;  // of the parts only some are used
    l.e = e;
    l.at = at;
    l.pieces = pieces_of(e->rows->nn);
    pp_team_share(e->kin->team, l.pieces, 1, check_pieces, &l);
    for (int k = 0; k < l.pieces; k++) {
        worst(&c->residual, l.part[k].residual);
        worst(&c->complementarity, l.part[k].complementarity);
        worst(&c->slip_opposed, l.part[k].slip_opposed);
        worst(&c->cone, l.part[k].cone);
    }
}
// Poisson: compression by itself, then what restitution left to be solved.
static void check_phases(perp_certificate *c, const pp_evidence *e)
{
    const pp_impact *impact = e->impact;
    phase first = {impact->nu, impact->pn, impact->pt, NULL};
    double *pn = e->scratch + e->model->nv, *pt = pn + e->rows->nn;
    for (int i = 0; i < e->rows->nn; i++) {
        pn[i] = e->pn[i] - impact->pn[i] - impact->back[i];
    }
    for (int i = 0; i < e->rows->nt; i++) {
        pt[i] = e->pt[i] - impact->pt[i];
    }
    check_phase(c, e, &first);
    check_phase(c, e, &(phase){e->nu, pn, pt, impact->back});
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
    if (e->impact) {
        check_phases(c, e);
    } else {
        check_phase(c, e, &(phase){e->nu, e->pn, e->pt, NULL});
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
        left[i] = e->nu[i] - e->nu_old[i];
    }
    pp_masses_mul(e->model, e->kin->mass, left, left);
    pp_axpy(e->model->nv, -1.0, e->kin->p_ext, left);
    for (int l = 0; l < 4; l++) {
        for (int i = 0; i < lists[l].count; i++) {
            if (lists[l].p[i] != 0.0) {
                pp_row_add(e->model, &lists[l].row[i], -lists[l].p[i], NULL, left);
            }
        }
    }
    for (int i = 0; i < e->model->nv; i++) {
        worst(&c->momentum, fabs(left[i]));
    }
}

// Found again where the bodies are now: what the step did not look at is looked at here.
static void check_places(perp_certificate *c, const pp_evidence *e)
{
    for (int i = 0; i < e->gaps_end->count; i++) {
        worst(&c->gap, -e->gaps_end->contact[i].gap);
    }
    for (int i = 0; i < e->model->joints; i++) {
        worst(&c->joint, pp_joint_error(e->model, e->end, i));
        worst(&c->joint, pp_joint_beyond(e->model, e->end, i));
    }
}

// Work of all impulses on both sides together, p (J nu_mid + rate), less what pushing overlapping bodies
// apart, closing open joints and turning with them may put in.
static double work_of_piece(const pp_evidence *e, const double *mid, int k, int pieces)
{
    double created = 0.0;
    list lists[4];
    lists_of(e, lists);
    for (int l = 0; l < 4; l++) {
        int end = begin_of(lists[l].count, k + 1, pieces);
        for (int i = begin_of(lists[l].count, k, pieces); i < end; i++) {
            const pp_row *row = &lists[l].row[i];
            double p = lists[l].p[i], open = row->value / e->kin->h;
            if (row->spring || p == 0.0) {
                continue;  // springs keep their energy
            }
            created += p * pp_row_rate(e->model, row, mid);
            if (l == 0) {
                created -= fabs(p) * fmax(fabs(row->bias), fabs(row->before));
            } else if (l == 2 && open < 0.0) {
                created += p * open;
            }
        }
    }
    return created;
}

typedef struct labour {
    const pp_evidence *e;
    const double *mid;
    int pieces;
    double part[PIECES];
} labour;

static void work_of_some(void *arg, int from, int to)
{
    labour *w = arg;
    for (int k = from; k < to; k++) {
        w->part[k] = work_of_piece(w->e, w->mid, k, w->pieces);
    }
}

static double work_of(const pp_evidence *e, const double *mid)
{
    labour w;
    w.e = e;
    w.mid = mid;
    w.pieces = pieces_of(e->rows->nn);
    pp_team_share(e->kin->team, w.pieces, 1, work_of_some, &w);
    double created = 0.0;
    for (int k = 0; k < w.pieces; k++) {
        created += w.part[k];
    }
    return created;
}

// Energy that contact and joints created. The work of the forces within the step can be counted along the
// velocities that they alone would give, or along the motion as it was; an impact that gravity drives apart
// looks like a source in the one, a contact that stops what has just turned back in the other. Created is
// what both ways show.                                                                  theory (P13)
static void check_energy(perp_certificate *c, const pp_evidence *e)
{
    double *mid = e->scratch;
    pp_masses_solve(e->model, e->kin->mass, e->kin->p_ext, mid);
    for (int i = 0; i < e->model->nv; i++) {
        mid[i] = 0.5 * (e->nu_old[i] + mid[i] + e->nu[i]);
    }
    double created = work_of(e, mid);
    if (created > 0.0) {
        for (int i = 0; i < e->model->nv; i++) {
            mid[i] = 0.5 * (e->nu_old[i] + e->nu[i]);
        }
        created = fmin(created, work_of(e, mid));
    }
    c->energy_created = created > 0.0 || isnan(created) ? created : 0.0;
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
    out->kinetic = pp_kinetic(e->model, e->kin->mass, e->nu);
    out->potential = pp_potential(e->model, e->end->body) + pp_joint_energy(e->model, e->end);
    out->work = work;
    double before = pp_kinetic(e->model, e->kin->mass, e->nu_old) + e->kin->potential +
                    pp_joint_energy(e->model, e->kin);
    out->dissipated = before + work - out->kinetic - out->potential;
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
