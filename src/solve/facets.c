// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The forms MCP and LCP of many contacts, without pivoting: the contact problem with polygons in place of
// discs is solved in velocities and finished by its modes, theory (C38); the answer, split along the
// directions of friction, is then a basic solution of the form that was asked for, and is offered to comp/, which
// judges it as it judges the answers of its own solvers.
#include "solve/run.h"

#include <string.h>

enum { FROM = 40 };                 // unilateral rows from which this is quicker than pivoting,
enum { PIVOT_MOST = 500 };          // and from which pivoting is not to be waited for
static const double LOOSE = 100.0;  // times the tolerance

static bool fits(const pp_run *r)
{
    return !r->options->solver && !r->in.tree && r->rows->nn >= FROM &&
           r->options->impact != PERP_IMPACT_POISSON;
}

// The rows with every disc as the polygon that it is in these forms.
static perp_status polygons_of(const pp_rows *rows, pp_arena *arena, pp_rows *out)
{
    pp_friction *group = PP_ARRAY(arena, pp_friction, rows->ng);
    if (!group) {
        return PERP_ERR_MEMORY;
    }
    for (int g = 0; g < rows->ng; g++) {
        group[g] = rows->group[g];
        group[g].facets = group[g].size == 2 ? group[g].directions : 0;
    }
    *out = *rows;
    out->group = group;
    return PERP_OK;
}

// Whether a group rather slips at its limit than sticks below it, by what either would leave [m/s].
static bool slips(const pp_run *r, const pp_friction *group, double missing, double sigma)
{
    return sigma > missing * pp_row_mobility(r->model, r->kin->mass, &r->rows->t[group->t]);
}

// A group that slips has all of its limit, along its directions or against the slip.
static void fill(const pp_run *r, const pp_friction *group, double limit, double sum, double *part)
{
    double slip[2], most = -PP_INF;
    int best = 0;
    pp_friction_slip(r->model, r->rows, group, r->out->nu, slip);
    for (int j = 0; j < group->directions; j++) {
        double d[2];
        pp_friction_direction(group, j, d);
        part[j] *= sum > 0.0 ? limit / sum : 0.0;
        double along = -d[0] * slip[0] - d[1] * slip[1];
        best = along > most ? j : best;
        most = along > most ? along : most;
    }
    part[best] = sum > 0.0 ? part[best] : limit;
}

// (p_m, p_n, p_f, sigma) of the answer: sigma is 0 where friction is below its limit.
static void split(const pp_run *r, double *z)
{
    const pp_rows *rows = r->rows;
    const pp_answer *out = r->out;
    double *part = z + rows->nm + rows->nn, *sigma = part + rows->nf;
    memcpy(z, out->pm, (size_t)rows->nm * sizeof *z);
    memcpy(z + rows->nm, out->pn, (size_t)rows->nn * sizeof *z);
    for (int g = 0; g < rows->ng; g++) {
        const pp_friction *group = &rows->group[g];
        double limit = group->mu * out->pn[group->n];
        double sum = pp_friction_split(group, out->pt + group->t, part);
        bool slip = slips(r, group, limit - sum, out->sigma[g]);
        if (slip) {
            fill(r, group, limit, sum, part);
        }
        sigma[g] = slip ? out->sigma[g] : 0.0;
        part += group->directions;
    }
}

static double tolerance_of(const pp_run *r)
{
    return r->options->tolerance * (r->rows->nn > PIVOT_MOST ? LOOSE : 1.0);
}

static perp_status offer_mcp(pp_run *r, int *size, bool *accepted)
{
    const pp_answer *out = r->out;
    pp_posed posed;
    perp_status status = pp_run_pose_mcp(r, r->rows, &posed);
    if (status < 0) {
        return status;
    }
    int nv = posed.nv, nb = posed.nb, n = posed.mcp.n;
    double *z = PP_ARRAY(r->arena, double, n);
    if (!z) {
        return PERP_ERR_MEMORY;
    }
    memcpy(z, out->nu, (size_t)nv * sizeof *z);
    memcpy(z + nv, out->pb, (size_t)nb * sizeof *z);
    split(r, z + nv + nb);
    *size = n;
    return pp_mcp_offer(&posed.mcp, NULL, z, tolerance_of(r), r->arena, accepted);
}

static perp_status offer_lcp(pp_run *r, int *size, bool *accepted)
{
    pp_posed posed;
    pp_product A;
    perp_status status = pp_run_delassus(r);
    if (status >= 0) {
        status = pp_pose_lcp_product(&posed, &A, r->rows, &r->delassus, r->arena);
    }
    double *z = status >= 0 ? PP_ARRAY(r->arena, double, posed.mcp.n) : NULL;
    if (!z) {
        return status < 0 ? status : PERP_ERR_MEMORY;
    }
    split(r, z);
    *size = posed.mcp.n;
    return pp_mcp_offer(&posed.mcp, &A, z, tolerance_of(r), r->arena, accepted);
}

// The answer in the form that was asked for; accepted: it is one.
static perp_status offer(pp_run *r, perp_form form, int *size, bool *accepted)
{
    *accepted = false;
    pp_run_close(r);
    return form == PERP_FORM_MCP ? offer_mcp(r, size, accepted) : offer_lcp(r, size, accepted);
}

// Where the answer is not accepted, nothing is left of it.
static void forget(pp_run *r)
{
    memset(r->out->pm, 0, (size_t)r->rows->nm * sizeof(double));
    memset(r->out->pn, 0, (size_t)r->rows->nn * sizeof(double));
    memset(r->out->pt, 0, (size_t)r->rows->nt * sizeof(double));
    r->out->remark[0] = '\0';
    r->done = false;
}

perp_status pp_run_by_facets(pp_run *r, perp_form form, bool *solved)
{
    const pp_rows *rows = r->rows;
    pp_rows polygons;
    int size = 0;
    *solved = false;
    if (!fits(r)) {
        return PERP_OK;
    }
    perp_status status = polygons_of(rows, r->arena, &polygons);
    if (status < 0) {
        return status;
    }
    r->rows = &polygons;
    r->exactly = true;
    status = pp_run_by_modes(r, solved);
    if (status >= 0 && *solved) {
        status = offer(r, form, &size, solved);
    }
    if (status >= 0 && !*solved) {
        forget(r);
        status = pp_run_by_cone(r);
        perp_status offered = status >= 0 ? offer(r, form, &size, solved) : status;
        status = offered < 0 ? offered : status;
        *solved = *solved || (status >= 0 && r->spent);  // there is no time for anything else
    }
    r->rows = rows;
    r->exactly = false;
    if (status == PERP_ERR_MEMORY) {
        return status;
    }
    if (*solved) {
        r->out->form = form;
        r->out->size = size;
        r->polygons = true;
        bool exact = !r->spent && pp_run_slack(r) <= r->options->tolerance;
        return exact ? PERP_OK : status;
    }
    forget(r);
    return PERP_OK;
}
