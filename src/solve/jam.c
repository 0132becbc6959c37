// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Jams: a step without an answer, proved and named.                                       theory (U9)
//
// A proof is a vector of weights y_n >= 0 of unilateral rows and y_b of joints under which the rows contradict each
// other for every velocity: sum y J = 0 and sum y c < 0. Solvers find it as a ray; it is believed only after a check on
// the rows alone. The bodies and joints whose rows have a weight are named in the remark.
#include "solve/run.h"

#include <math.h>
#include <string.h>

// The two bodies of a contact row, or the joint of a limit row (other is then NULL). Names are
// those of the whole model where r->model is an island, whose shapes and joints are not renumbered.
static const char *row_name(const pp_run *r, int i, const char **other)
{
    const perp_model *m = r->inputs->whole ? r->inputs->whole : r->model;
    *other = NULL;
    if (i >= r->rows->nc) {
        return m->joint[r->rows->n[i].joint].name;
    }
    const pp_contact *contact = &r->inputs->gaps->contact[r->rows->contact[i]];
    *other = m->body[m->shape[contact->b].body].name;
    return m->body[m->shape[contact->a].body].name;
}

// Appends the driven joints whose given motion is part of the proof. Weights below 1e-6 of the
// largest are rounding.
static void name_targets(pp_run *r, const double *y, double largest)
{
    const perp_model *m = r->inputs->whole ? r->inputs->whole : r->model;
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
            // Contacts of one pair follow each other; names are pointers into the model.
            const char *other, *name = row_name(r, i, &other);
            bool again = name == a && other == b;
            used = strlen(text);
            if (!again) {
                pp_print(text + used, size - used, "%s %s%s%s", listed > 0 ? "," : "", name,
                         other ? " - " : "", other ? other : "");
            }
            listed++;
            a = name;
            b = other;
        }
    }
    if (posed->nb == r->rows->nb) {
        name_targets(r, ray + posed->nv, largest);
    }
}

// Whether y_n, with the weights of the joints that go with it, contradicts the rows: checked from
// the rows by code that knows nothing of the problem they were posed as, (U9). y_b are the joint
// impulses that cancel W_n y_n, found as those of a step: the solve that closes the joints, started
// from the momentum W_n y_n.
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
    for (int i = 0; i < rows->nb; i++) {  // a compliant row (P5) gives way, and proves nothing
        yb[i] = rows->b[i].gamma > 0.0 ? 0.0 : yb[i];
    }
    return pp_rows_contradiction(r->model, rows, r->kin->h, yn, yb, r->arena) < 0.0;
}

// Solves the normal rows and joints without friction: friction only takes freedom away, so where
// these alone allow no velocity there is no answer. A frictionless problem is a convex one, whose
// infeasibility pivoting shows.
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

// After a failure: where the chosen form has no answer, another may have one (form auto), or a
// proof that there is none. A user who asked for a form gets the proof only, since an answer of
// another form is not what was asked for.
perp_status pp_run_prove_jam(pp_run *r, perp_status status)
{
    char remark[sizeof r->out->remark];
    // the remark of the first failure, restored where nothing better is learnt
    memcpy(remark, r->out->remark, sizeof remark);
    bool any = r->options->form == PERP_FORM_AUTO;
    if (pp_run_prove_frictionless(r) == PERP_ERR_INFEASIBLE) {
        return PERP_ERR_INFEASIBLE;
    }
    perp_status other =
        r->options->form == PERP_FORM_MCP ? pp_run_by_lcp(r, NULL) : pp_run_by_mcp(r);
    if (any || other == PERP_ERR_INFEASIBLE || pp_is_final(other)) {
        return other;
    }
    memcpy(r->out->remark, remark, sizeof remark);
    return status;
}
