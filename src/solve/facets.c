// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The forms MCP and LCP of many contacts, without pivoting.
//
// The contact problem with polygons in place of discs is solved in the space of velocities and finished by its
// modes, theory (C38). The impulse of each friction group is then split over the directions d_j, which gives a basic
// solution (p_m, p_n, p_f, sigma) of the form that was asked for, (C10). comp/ judges it as it judges the answers of
// its own solvers. Pivoting of 844 contacts with 8 directions took 2.1 s a step, this takes 10 ms
// (docs/performance.md, "The LCP form at scale").
#include "solve/run.h"

#include <string.h>

enum { FROM = 40 };                 // unilateral rows from which this is quicker than pivoting,
enum { PIVOT_MOST = 500 };          // and above which pivoting would take minutes: there an answer
static const double LOOSE = 100.0;  // within so many times the tolerance is accepted

// No solver asked for by name, one phase, bodies' coordinates.
static bool is_polygonal(const pp_run *r)
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

// Whether a group slips at its limit rather than sticks below it. Exactly one of `missing` = mu p_n
// - sum p_f [N s] and sigma [m/s] must be 0 in the answer; the smaller one is, both compared as
// speeds.
static bool slips(const pp_run *r, const pp_friction *group, double missing, double sigma)
{
    return sigma > missing * pp_row_mobility(r->model, r->kin->mass, &r->rows->t[group->t]);
}

// A group that slips uses all of its limit: its parts are scaled up to it. Where all are zero the
// direction most against the slip gets the limit.
static void fill_group(const pp_run *r, const pp_friction *group, double limit, double sum,
                       double *part)
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
    // sum = 0: no direction had anything
    part[best] = sum > 0.0 ? part[best] : limit;
}

// (p_m, p_n, p_f, sigma) of the answer: sigma is 0 where friction is below its limit.
static void split_directions(const pp_run *r, double *z)
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
            fill_group(r, group, limit, sum, part);
        }
        sigma[g] = slip ? out->sigma[g] : 0.0;
        part += group->directions;
    }
}

static double tolerance_of(const pp_run *r)
{
    return r->options->tolerance * (r->rows->nn > PIVOT_MOST ? LOOSE : 1.0);
}

// (nu, p_b, p_m, p_n, p_f, sigma) to the judge of (P7).
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
    split_directions(r, z + nv + nb);
    *size = n;
    // The judge decides, on the problem as posed; a rejection is no failure: *accepted is false.
    return pp_mcp_offer(&posed.mcp, NULL, z, tolerance_of(r), r->arena, accepted);
}

// (p_m, p_n, p_f, sigma) to the judge of the LCP. Its matrix B' D B is never formed: the judge takes products with
// its factors, since n_d directions a contact would make it n_d^2 times as large as D.
static perp_status offer_lcp(pp_run *r, int *size, bool *accepted)
{
    pp_posed posed;
    pp_product A;
    perp_status status = pp_run_delassus(r);
    if (status < 0) {
        return status;
    }
    status = pp_pose_lcp_product(&posed, &A, r->rows, &r->delassus, r->arena);
    if (status < 0) {
        return status;
    }
    double *z = PP_ARRAY(r->arena, double, posed.mcp.n);
    if (!z) {
        return PERP_ERR_MEMORY;
    }
    split_directions(r, z);
    *size = posed.mcp.n;
    return pp_mcp_offer(&posed.mcp, &A, z, tolerance_of(r), r->arena, accepted);
}

// The answer in the form that was asked for; *accepted: the judge takes it for one.
static perp_status offer(pp_run *r, perp_form form, int *size, bool *accepted)
{
    *accepted = false;
    pp_run_close(r);
    return form == PERP_FORM_MCP ? offer_mcp(r, size, accepted) : offer_lcp(r, size, accepted);
}

// Impulses are zero again where the answer was not accepted: pivoting adds to them.
static void forget(pp_run *r)
{
    memset(r->out->pm, 0, (size_t)r->rows->nm * sizeof(double));
    memset(r->out->pn, 0, (size_t)r->rows->nn * sizeof(double));
    memset(r->out->pt, 0, (size_t)r->rows->nt * sizeof(double));
    r->out->remark[0] = '\0';
    r->nu_current = false;
}

// Modes from the warm start, then the cone form with polygons; *solved: one of them was accepted by
// the judge of `form`, or the user's budget is spent. Otherwise nothing is left of it, and the
// caller pivots.
perp_status pp_run_by_facets(pp_run *r, perp_form form, bool *solved)
{
    const pp_rows *rows = r->rows;
    pp_rows polygons;
    int size = 0;
    *solved = false;
    if (!is_polygonal(r)) {
        return PERP_OK;
    }
    perp_status status = polygons_of(rows, r->arena, &polygons);
    if (status < 0) {
        return status;
    }
    // pp_run_by_modes and pp_run_by_cone see polygons for discs; restored before every return below
    r->rows = &polygons;
    r->finish_polygons = true;
    status = pp_run_by_modes(r, solved);
    if (status >= 0 && *solved) {
        status = offer(r, form, &size, solved);
    }
    if (status >= 0 && !*solved) {
        forget(r);
        status = pp_run_by_cone(r);
        if (status >= 0) {
            perp_status offered = offer(r, form, &size, solved);
            status = offered < 0 ? offered : status;
        }
        // A spent budget leaves no time to pivot: the answer is taken as it is.
        *solved = *solved || (status >= 0 && r->budget_spent);
    }
    r->rows = rows;
    r->finish_polygons = false;
    if (pp_is_final(status)) {
        return status;
    }
    if (*solved) {
        r->out->form = form;
        r->out->size = size;
        r->polygons = true;
        // status is that of the solver on the cone form; what counts are the rows of this one
        bool exact = !r->budget_spent && pp_run_slack(r) <= pp_run_tolerance(r);
        return exact ? PERP_OK : status;
    }
    forget(r);
    return PERP_OK;
}
