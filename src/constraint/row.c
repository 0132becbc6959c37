// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Making rows: the velocity of a point of b relative to a along a direction, and relative rotation.
#include "constraint/row.h"

#include <math.h>
#include <string.h>

void pp_row_start(pp_row *row)
{
    *row = (pp_row){.lower = -PP_INF, .upper = PP_INF, .joint = -1, .force = -1};
}

// Adds J to the block of a body; bodies that are not free add their given velocity instead.
static void add_block(const perp_model *m, const pp_kinematics *k, int body, const double J[3],
                      pp_row *row)
{
    const pp_frame *f = &k->body[body];
    double rate = J[0] * f->v.x + J[1] * f->v.y + J[2] * f->w;
    row->before += rate;
    if (m->body[body].nv == 0) {
        row->rate += rate;
        return;
    }
    int at = 0;
    while (at < row->count && row->body[at] != body) {
        at++;
    }
    if (at == row->count) {
        row->body[row->count++] = body;
        memset(row->J[at], 0, sizeof row->J[at]);
    }
    for (int j = 0; j < m->body[body].nv; j++) {
        row->J[at][j] += J[j];
    }
}

// s d . v of the body-fixed point at p:  J = s (d, r x d),  r = p - origin              theory (P3)
void pp_row_point(const perp_model *m, const pp_kinematics *k, int body, pp_vec2 p, pp_vec2 d,
                  double s, pp_row *row)
{
    const pp_frame *f = &k->body[body];
    double rx = p.x - f->p.x, ry = p.y - f->p.y;
    const double J[3] = {s * d.x, s * d.y, s * (rx * d.y - ry * d.x)};
    add_block(m, k, body, J, row);
}

void pp_row_spin(const perp_model *m, const pp_kinematics *k, int body, double s, pp_row *row)
{
    const double J[3] = {0.0, 0.0, s};
    add_block(m, k, body, J, row);
}

double pp_row_rate(const perp_model *model, const pp_row *row, const double *nu)
{
    double sum = row->rate;
    for (int k = 0; k < row->count; k++) {
        const pp_body *body = &model->body[row->body[k]];
        for (int j = 0; j < body->nv; j++) {
            sum += row->J[k][j] * nu[body->at + j];
        }
    }
    return sum;
}

void pp_row_add(const perp_model *model, const pp_row *row, double s, const double *M, double *nu)
{
    for (int k = 0; k < row->count; k++) {
        const pp_body *body = &model->body[row->body[k]];
        for (int j = 0; j < body->nv; j++) {
            int i = body->at + j;
            nu[i] += s * row->J[k][j] / (M ? M[i] : 1.0);
        }
    }
}

static bool closes(const pp_row *row, double h, double share)
{
    return row->value + share * h * row->before <= 0.0;
}

bool pp_row_unilateral(pp_row *row, double h, pp_scheme scheme)
{
    bool bounces = row->restitution > 0.0 && row->before < -row->rest;
    double rebound =
        bounces && scheme.impact == PERP_IMPACT_NEWTON ? row->restitution * row->before : 0.0;
    switch (scheme.stepper) {
    case PERP_ANITESCU_POTRA:
        row->bias = rebound;
        return row->value <= 0.0 || (bounces && closes(row, h, 1.0));
    case PERP_MOREAU_JEAN:
        row->bias = rebound;
        return closes(row, h, 0.5);
    case PERP_STEWART_TRINKLE:
    case PERP_QUASISTATIC:
        break;
    }
    // An impact happens at once, whatever gap is left: what bounces has lost its speed first.
    row->bias = bounces && closes(row, h, 1.0) ? rebound : row->value / h;
    return true;
}
