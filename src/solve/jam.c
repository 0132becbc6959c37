// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Jams: proved, and named.
#include "solve/run.h"

#include <math.h>
#include <string.h>

static const char *row_name(const pp_run *r, int i, const char **other)
{
    const perp_model *m = r->options->named ? r->options->named : r->model;
    *other = NULL;
    if (i >= r->rows->nc) {
        return m->joint[r->rows->n[i].joint].name;
    }
    const pp_contact *contact = &r->options->gaps->contact[r->rows->contact[i]];
    *other = m->body[m->shape[contact->b].body].name;
    return m->body[m->shape[contact->a].body].name;
}

// Joints whose given motion is part of the proof.
static void name_targets(pp_run *r, const double *y, double largest)
{
    const perp_model *m = r->options->named ? r->options->named : r->model;
    char *text = r->out->remark;
    for (int i = 0; i < r->rows->nb; i++) {
        size_t used = strlen(text);
        if (r->rows->b[i].drives && fabs(y[i]) > 1e-6 * largest) {
            pp_print(text + used, sizeof r->out->remark - used, ", the motion of joint '%s'",
                     m->joint[r->rows->b[i].joint].name);
        }
    }
}

// The rows whose multipliers prove that no velocity satisfies them all, each pair of bodies once.
void pp_run_name_jam(pp_run *r, const double *ray, const pp_posed *posed)
{
    const double *y = ray + posed->nv + posed->nb + posed->nm;
    char *text = r->out->remark;
    size_t size = sizeof r->out->remark, used;
    double largest = pp_norm_inf(r->rows->nn, y);
    int listed = 0;
    const char *a = NULL, *b = NULL;
    pp_print(text, size, "jam: no velocity satisfies these together:");
    for (int i = 0; i < r->rows->nn; i++) {
        if (y[i] > 1e-6 * largest) {
            const char *other, *name = row_name(r, i, &other);
            bool again = name == a && other == b;
            used = strlen(text);
            pp_print(text + used, size - used, "%s%s%s%s%s", listed++ > 0 && !again ? "," : "",
                     again ? "" : " ", again ? "" : name, other && !again ? " - " : "",
                     other && !again ? other : "");
            a = name;
            b = other;
        }
    }
    if (posed->nb == r->rows->nb) {
        name_targets(r, ray + posed->nv, largest);
    }
}

// The solver's weights of the unilateral rows, with those of the joints that go with them, checked on the rows by
// code that knows nothing of the problem they were posed as.                             theory (U9)
bool pp_run_jam_stands(pp_run *r, const double *yn)
{
    const pp_rows *rows = r->rows;
    int nv = r->model->nv;
    double *w = PP_ZEROS(r->arena, double, 2 * (size_t)nv), *given = w + nv;
    double *yb = PP_ZEROS(r->arena, double, rows->nb);
    if (!w || !yb) {
        return false;
    }
    for (int i = 0; i < rows->nn; i++) {
        pp_row_add(r->model, &rows->n[i], yn[i], NULL, w);
    }
    memcpy(given, w, (size_t)nv * sizeof *w);
    pp_closed_solve(&r->closed, NULL, w, yb);
    pp_closed_reactions(&r->closed, given, w, yb);
    for (int i = 0; i < rows->nb; i++) {  // what gives way proves nothing
        yb[i] = rows->b[i].gamma > 0.0 ? 0.0 : yb[i];
    }
    return pp_rows_contradiction(r->model, rows, r->kin->h, yn, yb, r->arena) < 0.0;
}

// Friction only takes freedom away: where the normal rows alone allow no velocity, there is no answer.
perp_status pp_run_prove_frictionless(pp_run *r)
{
    pp_rows bare = *r->rows;
    pp_posed posed;
    bare.nt = bare.ng = bare.nf = 0;
    bare.grouped = PP_ZEROS(r->arena, int, bare.nn);
    if (!bare.grouped) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = pp_run_pose_mcp(r, &bare, &posed);
    double *z = status >= 0 ? PP_ZEROS(r->arena, double, posed.mcp.n) : NULL;
    return z ? pp_run_mcp(r, &posed, r->options->tolerance, false, z) : PERP_ERR_MEMORY;
}

// Where a form has no answer the others may have one, or a proof that there is none. The user who asked
// for a form gets the proof only.
perp_status pp_run_prove_jam(pp_run *r, perp_status status)
{
    char remark[sizeof r->out->remark];
    memcpy(remark, r->out->remark, sizeof remark);
    bool any = r->options->form == PERP_FORM_AUTO;
    if (pp_run_prove_frictionless(r) == PERP_ERR_INFEASIBLE) {
        return PERP_ERR_INFEASIBLE;
    }
    perp_status other =
        r->options->form == PERP_FORM_MCP ? pp_run_by_lcp(r, NULL) : pp_run_by_mcp(r);
    if (any || other == PERP_ERR_INFEASIBLE || other == PERP_ERR_MEMORY) {
        return other;
    }
    memcpy(r->out->remark, remark, sizeof remark);
    return status;
}
