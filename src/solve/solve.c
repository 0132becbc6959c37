// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A step's problem, solved. Without unilateral rows it is linear; small problems and problems with boxed
// rows are LCPs for pivoting; many contacts are cones for Newton. A failure falls back to the LCP,
// whose infeasibility can be proved.
#include "solve/solve.h"

#include <math.h>
#include <string.h>

enum { FEW = 8 };          // contacts that are solved to rounding
enum { LOCAL_MOST = 48 };  // cone rows up to which bodies are eliminated in space
enum { CONE_FROM = 24 };   // unilateral rows from which the cone form is tried first

typedef struct run {
    const perp_model *model;
    const pp_kinematics *kin;
    const pp_rows *rows;
    const double *nu;
    const pp_solve_options *options;
    pp_arena *arena;
    pp_closed closed;
    pp_delassus delassus;
    pp_answer *out;
    double *beta;   // nb: rates of the bilateral rows
    bool polygons;  // the form at hand has polygons in place of discs
    double slack;   // of the answer that was looked at last [m/s]
} run;

static perp_status allocate(run *r)
{
    pp_answer *out = r->out;
    const pp_rows *rows = r->rows;
    *out = (pp_answer){.unique = true, .solver = "linear", .form = PERP_FORM_LCP};
    out->nu = PP_ZEROS(r->arena, double, r->model->nv);
    out->pb = PP_ZEROS(r->arena, double, rows->nb);
    out->pm = PP_ZEROS(r->arena, double, rows->nm);
    out->pn = PP_ZEROS(r->arena, double, rows->nn);
    out->pt = PP_ZEROS(r->arena, double, rows->nt);
    out->sigma = PP_ZEROS(r->arena, double, rows->ng);
    r->beta = PP_ARRAY(r->arena, double, rows->nb);
    bool whole = out->nu && out->pb && out->pm && out->pn && out->pt && out->sigma && r->beta;
    return whole ? PERP_OK : PERP_ERR_MEMORY;
}

// nu and p_b from the other impulses: M nu = M nu_l + p_ext + W p, joints closed.
static void close_joints(run *r)
{
    const pp_rows *rows = r->rows;
    pp_answer *out = r->out;
    pp_masses_mul(r->model, r->kin->mass, r->nu, out->nu);
    pp_axpy(r->model->nv, 1.0, r->kin->p_ext, out->nu);
    for (int i = 0; i < rows->nm; i++) {
        pp_row_add(r->model, &rows->m[i], out->pm[i], NULL, out->nu);
    }
    for (int i = 0; i < rows->nn; i++) {
        pp_row_add(r->model, &rows->n[i], out->pn[i], NULL, out->nu);
    }
    for (int i = 0; i < rows->nt; i++) {
        pp_row_add(r->model, &rows->t[i], out->pt[i], NULL, out->nu);
    }
    for (int i = 0; i < rows->nb; i++) {
        r->beta[i] = rows->b[i].rate + rows->b[i].bias;
    }
    pp_closed_solve(&r->closed, r->beta, out->nu, out->pb);
    for (int g = 0; g < rows->ng; g++) {
        double slip[2];
        pp_friction_slip(r->model, rows, &rows->group[g], out->nu, slip);
        out->sigma[g] = pp_friction_support(&rows->group[g], r->polygons, slip);
    }
}

// ── Unpacking ────────────────────────────────────────────────────────────────────────────────────

// z from its p_m block on.
static void unpack(run *r, const double *z)
{
    const pp_rows *rows = r->rows;
    pp_answer *out = r->out;
    const double *pn = z + rows->nm, *pf = pn + rows->nn;
    for (int i = 0; i < rows->nm; i++) {
        out->pm[i] = z[i];
    }
    for (int i = 0; i < rows->nn; i++) {
        out->pn[i] += pn[i];
    }
    for (int g = 0; g < rows->ng; g++) {
        const pp_friction *group = &rows->group[g];
        for (int j = 0; j < group->directions; j++) {
            double d[2], p = *pf++;
            pp_friction_direction(group, j, d);
            for (int k = 0; k < group->size; k++) {
                out->pt[group->t + k] += d[k] * p;
            }
        }
    }
}

static void unpack_cone(run *r, int dim, const double *c)
{
    for (int i = 0; i < r->rows->nn; i++) {
        r->out->pn[i] = c[dim * i];
    }
    for (int g = 0; g < r->rows->ng; g++) {
        const pp_friction *group = &r->rows->group[g];
        for (int k = 0; k < group->size; k++) {
            r->out->pt[group->t + k] = c[dim * group->n + pp_cone_place(group, dim) + k];
        }
    }
    for (int i = 0; i < r->rows->nm; i++) {
        r->out->pm[i] = c[dim * (r->rows->nn + i) + 1];
    }
}

static void note(pp_answer *out, perp_form form, int size, const perp_comp_info *info)
{
    out->form = form;
    out->size = size;
    out->solver = info->solver ? info->solver : "auto";
    out->iterations += info->iterations;
    if (info->status != PERP_OK) {
        pp_print(out->remark, sizeof out->remark, "%s", info->reason);
    }
}

// ── Naming a jam ─────────────────────────────────────────────────────────────────────────────────

static const char *row_name(const run *r, int i, const char **other)
{
    const perp_model *m = r->model;
    *other = NULL;
    if (i >= r->rows->nc) {
        return m->joint[r->rows->n[i].joint].name;
    }
    const pp_contact *contact = &r->options->gaps->contact[r->rows->contact[i]];
    *other = m->body[m->shape[contact->b].body].name;
    return m->body[m->shape[contact->a].body].name;
}

// The rows whose multipliers prove that no velocity satisfies them all.
static void name_jam(run *r, const double *ray, int first_n)
{
    char *text = r->out->remark;
    size_t size = sizeof r->out->remark, used;
    double largest = pp_norm_inf(r->rows->nn, ray + first_n);
    int listed = 0;
    pp_print(text, size, "jam: no velocity satisfies these together:");
    for (int i = 0; i < r->rows->nn; i++) {
        if (ray[first_n + i] > 1e-6 * largest) {
            const char *other, *name = row_name(r, i, &other);
            used = strlen(text);
            pp_print(text + used, size - used, "%s %s%s%s", listed++ > 0 ? "," : "", name,
                     other ? " - " : "", other ? other : "");
        }
    }
}

// ── How good ─────────────────────────────────────────────────────────────────────────────────────

// J M^-1 J^T: what a unit impulse does to the row's own rate.
static double mobility(const run *r, const pp_row *row)
{
    double sum = pp_row_coupling(r->model, r->kin->mass, row, row);
    return sum > 0.0 ? sum : 1.0;
}

static double clamped(double p, double lower, double upper)
{
    return p < lower ? lower : p > upper ? upper : p;
}

// How far the impulses are from obeying the contact laws, worst of all rows [m/s].
static double slack_of(run *r)
{
    const pp_rows *rows = r->rows;
    const pp_answer *out = r->out;
    double worst = 0.0;
    close_joints(r);
    for (int i = 0; i < rows->nm; i++) {
        const pp_row *row = &rows->m[i];
        double m = mobility(r, row), pm = out->pm[i];
        double w = pp_row_rate(r->model, row, out->nu) + row->bias;
        worst = fmax(worst, m * fabs(pm - clamped(pm - w / m, row->lower, row->upper)));
    }
    for (int i = 0; i < rows->nn; i++) {
        double m = mobility(r, &rows->n[i]), pn = out->pn[i];
        double rho = pp_row_rate(r->model, &rows->n[i], out->nu) + rows->n[i].bias;
        worst = fmax(worst, m * fabs(pn - clamped(pn - rho / m, 0.0, PP_INF)));
    }
    for (int g = 0; g < rows->ng; g++) {
        const pp_friction *group = &rows->group[g];
        double m = mobility(r, &rows->t[group->t]), slip[2], to[2] = {0.0, 0.0}, error = 0.0;
        pp_friction_slip(r->model, rows, group, out->nu, slip);
        for (int k = 0; k < group->size; k++) {
            to[k] = out->pt[group->t + k] - slip[k] / m;
        }
        pp_friction_project(group, r->polygons, group->mu * out->pn[group->n], to);
        for (int k = 0; k < group->size; k++) {
            error = hypot(error, out->pt[group->t + k] - to[k]);
        }
        worst = fmax(worst, m * error);
    }
    r->slack = worst;
    return worst;
}

// ── Forms ────────────────────────────────────────────────────────────────────────────────────────

static perp_status solve_mcp(run *r, const pp_posed *posed, double tolerance, bool warm, double *z)
{
    perp_comp_options options = perp_comp_default();
    perp_comp_info info;
    options.tolerance = tolerance;
    options.warm_start = warm;
    options.work = r->options->work;
    options.ray = PP_ZEROS(r->arena, double, posed->mcp.n);
    if (!options.ray) {
        return PERP_ERR_MEMORY;
    }
    perp_status status =
        perp_mcp_solve(r->options->solver, &posed->mcp, &options, r->options->env, z, &info);
    note(r->out, posed->form, posed->mcp.n, &info);
    if (status == PERP_ERR_INFEASIBLE) {
        name_jam(r, options.ray, posed->nv + posed->nb + posed->nm);
    }
    return status;
}

// What counts in the end are the rows' own residuals [m/s], not the solver's one number.
static perp_status good_enough(run *r, perp_status status)
{
    if (status > 0 && slack_of(r) <= r->options->tolerance) {
        r->out->remark[0] = '\0';
        return PERP_OK;
    }
    return status;
}

// A solver's residual is one number for bodies of all weights: light ones may need a closer look.
static perp_status solve_and_refine(run *r, const pp_posed *posed, double *z)
{
    const double *p = z + posed->nv + posed->nb;
    double tolerance = r->options->tolerance;
    perp_status status = solve_mcp(r, posed, tolerance, false, z);
    for (int round = 0; status >= 0; round++) {
        memset(r->out->pn, 0, (size_t)r->rows->nn * sizeof *p);
        memset(r->out->pt, 0, (size_t)r->rows->nt * sizeof *p);
        unpack(r, p);
        if (round == 2 || slack_of(r) <= r->options->tolerance) {
            break;
        }
        double *better = PP_ARRAY(r->arena, double, posed->mcp.n);
        if (!better) {
            return PERP_ERR_MEMORY;
        }
        memcpy(better, z, (size_t)posed->mcp.n * sizeof *z);
        tolerance *= 1e-2;
        if (solve_mcp(r, posed, tolerance, true, better) != PERP_OK) {
            r->out->remark[0] = '\0';  // what was found first stands
            break;
        }
        memcpy(z, better, (size_t)posed->mcp.n * sizeof *z);
    }
    return status > 0 ? good_enough(r, status) : status;
}

static perp_status by_mcp(run *r)
{
    pp_posed posed;
    r->polygons = true;
    perp_status status = pp_pose_mcp(&posed, r->model, r->kin, r->rows, r->nu, r->arena);
    if (status < 0) {
        return status;
    }
    double *z = PP_ZEROS(r->arena, double, posed.mcp.n);
    return z ? solve_and_refine(r, &posed, z) : PERP_ERR_MEMORY;
}

static perp_status ensure_delassus(run *r)
{
    if (r->delassus.q) {
        return PERP_OK;
    }
    return pp_delassus_run(&r->delassus, &r->closed, r->kin, r->nu, r->arena);
}

static perp_status by_lcp(run *r, const double *slack)
{
    pp_posed posed;
    r->polygons = true;
    perp_status status = ensure_delassus(r);
    if (status < 0) {
        return status;
    }
    status = pp_pose_lcp(&posed, r->rows, &r->delassus, slack, r->arena);
    if (status < 0) {
        return status;
    }
    double *z = PP_ZEROS(r->arena, double, posed.mcp.n);
    if (!z) {
        return PERP_ERR_MEMORY;
    }
    if (!slack) {
        return solve_and_refine(r, &posed, z);
    }
    status = solve_mcp(r, &posed, r->options->tolerance, false, z);
    if (status >= 0) {
        unpack(r, z);
    }
    return status;
}

// Without joints and with many contacts a body the bodies are kept: M and H are sparser and smaller than
// W. An arch (2 contacts a block) is better off without them, a wall (5) with.
static perp_status pose_cone(run *r, pp_posed *posed)
{
    int rows = pp_cone_dim(r->model, r->rows) * r->rows->nn;
    bool many =
        r->model->spatial ? rows > r->model->nv && rows > LOCAL_MOST : r->rows->nn > r->model->nv;
    if (r->rows->nb == 0 && many) {
        return pp_pose_cone_global(posed, r->model, r->kin, r->rows, r->nu, r->arena);
    }
    perp_status status = ensure_delassus(r);
    return status < 0 ? status : pp_pose_cone(posed, r->model, r->rows, &r->delassus, r->arena);
}

// As solve_and_refine.
static void refine_cone(run *r, const perp_fcp *fcp, perp_comp_options *options, double *c,
                        double *v)
{
    for (int round = 0; round < 2 && slack_of(r) > r->options->tolerance; round++) {
        perp_comp_info info;
        options->tolerance *= 1e-2;
        options->warm_start = true;
        perp_status status =
            perp_fcp_solve(r->options->solver, fcp, options, r->options->env, c, v, &info);
        r->out->iterations += info.iterations;
        if (status != PERP_OK) {
            return;
        }
        unpack_cone(r, fcp->dim, c);
    }
}

// Last step's impulses as a guess.
static void pack_guess(const run *r, int dim, double *c)
{
    const pp_rows *rows = r->rows;
    const double *pn = r->options->warm, *pt = pn + rows->nn;
    for (int i = 0; i < rows->nn; i++) {
        c[dim * i] = pn[i];
    }
    for (int i = 0; i < rows->nm; i++) {
        c[dim * (rows->nn + i)] = rows->m[i].upper;
    }
    for (int g = 0; g < rows->ng; g++) {
        const pp_friction *group = &rows->group[g];
        for (int k = 0; k < group->size; k++) {
            c[dim * group->n + pp_cone_place(group, dim) + k] = pt[group->t + k];
        }
    }
}

static perp_status by_cone(run *r)
{
    pp_posed posed;
    perp_comp_options options = perp_comp_default();
    perp_comp_info info;
    perp_status status = pose_cone(r, &posed);
    if (status < 0) {
        return status;
    }
    size_t size = (size_t)posed.fcp.dim * (size_t)posed.fcp.nc;
    double *c = PP_ZEROS(r->arena, double, size);
    double *v = PP_ZEROS(r->arena, double, posed.fcp.nv);
    options.tolerance = r->options->tolerance;
    if (r->rows->nn <= FEW) {  // rounding is as near, and what sticks does not tremble
        options.tolerance = fmin(options.tolerance, 1e-12);
    }
    options.work = r->options->work;
    options.warm_start = r->options->warm != NULL;
    if (!c || !v) {
        return PERP_ERR_MEMORY;
    }
    r->polygons = false;
    if (r->options->warm) {
        pack_guess(r, posed.fcp.dim, c);
    }
    status = perp_fcp_solve(r->options->solver, &posed.fcp, &options, r->options->env, c, v, &info);
    note(r->out, PERP_FORM_CONE, (int)size, &info);
    if (status >= 0) {
        unpack_cone(r, posed.fcp.dim, c);
        refine_cone(r, &posed.fcp, &options, c, v);
        status = good_enough(r, status);
    }
    return status;
}

static bool keep_compression(run *r, double *back)
{
    size_t nv = (size_t)r->model->nv, nn = (size_t)r->rows->nn, nt = (size_t)r->rows->nt;
    pp_impact *c = PP_ARRAY(r->arena, pp_impact, 1);
    double *reals = PP_ARRAY(r->arena, double, nv + nn + nt);
    if (!c || !reals) {
        return false;
    }
    *c = (pp_impact){.nu = reals, .pn = reals + nv, .pt = reals + nv + nn, .back = back};
    memcpy(reals, r->out->nu, nv * sizeof *reals);
    memcpy(reals + nv, r->out->pn, nn * sizeof *reals);
    memcpy(reals + nv + nn, r->out->pt, nt * sizeof *reals);
    r->out->impact = c;
    return true;
}

// Poisson's hypothesis: after compression the contacts that bounce give back e times their impulse, and
// a second problem keeps everything else from being violated.                           theory (P9)
static perp_status restitute(run *r)
{
    const pp_rows *rows = r->rows;
    double *slack = PP_ZEROS(r->arena, double, rows->ng),
           *back = PP_ZEROS(r->arena, double, rows->nn);
    bool any = false;
    if (!slack || !back) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < rows->nn; i++) {
        const pp_row *row = &rows->n[i];
        if (row->restitution > 0.0 && row->before < -row->rest && r->out->pn[i] > 0.0) {
            back[i] = row->restitution * r->out->pn[i];
            any = true;
        }
    }
    if (!any) {
        return PERP_OK;
    }
    if (!keep_compression(r, back)) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < rows->nn; i++) {
        r->out->pn[i] += back[i];
    }
    for (int g = 0; g < rows->ng; g++) {
        slack[g] = rows->group[g].mu * back[rows->group[g].n];
    }
    perp_status status = ensure_delassus(r);
    if (status < 0) {
        return status;
    }
    close_joints(r);
    for (int i = 0; i < r->delassus.count; i++) {  // rates where the second problem begins
        const pp_row *row = pp_base_row(rows, i);
        r->delassus.q[i] = pp_row_rate(r->model, row, r->out->nu) + row->bias;
    }
    return by_lcp(r, slack);
}

static perp_form choose(const run *r)
{
    const pp_solve_options *o = r->options;
    bool poisson = o->impact == PERP_IMPACT_POISSON;
    if (o->form == PERP_FORM_MCP || o->form == PERP_FORM_LCP) {
        return o->form;
    }
    bool cone = !poisson;
    if (o->form == PERP_FORM_CONE) {
        return cone ? PERP_FORM_CONE : PERP_FORM_LCP;
    }
    // In the plane a few contacts are quicker as an LCP, and the same; in space the LCP has polygons.
    bool better = r->model->spatial || r->rows->nn >= CONE_FROM;
    return cone && better && r->rows->nn > 0 ? PERP_FORM_CONE : PERP_FORM_LCP;
}

// Friction only takes freedom away: where the normal rows alone allow no velocity, there is no answer.
static perp_status prove_frictionless(run *r)
{
    pp_rows bare = *r->rows;
    pp_posed posed;
    bare.nt = bare.ng = bare.nf = 0;
    bare.grouped = PP_ZEROS(r->arena, int, bare.nn);
    if (!bare.grouped) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = pp_pose_mcp(&posed, r->model, r->kin, &bare, r->nu, r->arena);
    double *z = status >= 0 ? PP_ZEROS(r->arena, double, posed.mcp.n) : NULL;
    return z ? solve_mcp(r, &posed, r->options->tolerance, false, z) : PERP_ERR_MEMORY;
}

// Where a form has no answer the others may have one, or a proof that there is none. The user who asked
// for a form gets the proof only.
static perp_status prove_jam(run *r, perp_status status)
{
    char remark[sizeof r->out->remark];
    memcpy(remark, r->out->remark, sizeof remark);
    bool any = r->options->form == PERP_FORM_AUTO;
    if (prove_frictionless(r) == PERP_ERR_INFEASIBLE) {
        return PERP_ERR_INFEASIBLE;
    }
    perp_status other = r->options->form == PERP_FORM_MCP ? by_lcp(r, NULL) : by_mcp(r);
    if (any || other == PERP_ERR_INFEASIBLE || other == PERP_ERR_MEMORY) {
        return other;
    }
    memcpy(r->out->remark, remark, sizeof remark);
    return status;
}

static perp_status solve_rows(run *r)
{
    perp_form form = choose(r);
    perp_status status;
    if (form == PERP_FORM_MCP) {
        status = by_mcp(r);
    } else if (form == PERP_FORM_CONE) {
        status = by_cone(r);
        if (status < 0 && status != PERP_ERR_MEMORY && r->options->form == PERP_FORM_AUTO) {
            status = by_lcp(r, NULL);
        }
    } else {
        status = by_lcp(r, NULL);
    }
    if (status < 0 && status != PERP_ERR_MEMORY && status != PERP_ERR_INFEASIBLE) {
        status = prove_jam(r, status);
    }
    if (status >= 0 && r->options->impact == PERP_IMPACT_POISSON) {
        close_joints(r);
        perp_status second = restitute(r);
        status = second != PERP_OK ? second : status;
    }
    return status;
}

// Spread impulses must not change the motion, and obey the laws as well as the solver's; where rounding
// keeps them from it, the solver's stay.
static perp_status spread_load(run *r)
{
    pp_answer *out = r->out;
    int nv = r->model->nv, nn = r->rows->nn, nt = r->rows->nt;
    double *kept = PP_ARRAY(r->arena, double, (size_t)nv + (size_t)nn + (size_t)nt);
    if (!kept) {
        return PERP_ERR_MEMORY;
    }
    double *pn = kept + nv, *pt = pn + nn, change = 0.0;
    double tolerance = r->options->tolerance, before = r->slack;
    memcpy(kept, out->nu, (size_t)nv * sizeof *kept);
    memcpy(pn, out->pn, (size_t)nn * sizeof *kept);
    memcpy(pt, out->pt, (size_t)nt * sizeof *kept);
    if (out->impact) {
        return PERP_OK;  // the phases go with these impulses
    }
    if (!pp_spread(out, r->model, r->kin, r->rows, &r->closed, r->arena)) {
        return PERP_OK;
    }
    double after = slack_of(r);
    for (int i = 0; i < nv; i++) {
        change = fmax(change, fabs(out->nu[i] - kept[i]));
    }
    bool same = change <= 1e-3 * tolerance * (1.0 + pp_norm_inf(nv, kept));
    if (!same || !(after <= fmax(tolerance, before))) {
        memcpy(out->pn, pn, (size_t)nn * sizeof *kept);
        memcpy(out->pt, pt, (size_t)nt * sizeof *kept);
        close_joints(r);
    }
    return PERP_OK;
}

static perp_status mark_redundant(run *r)
{
    bool *follows = PP_ZEROS(r->arena, bool, r->rows->nb);
    if (!follows) {
        return PERP_ERR_MEMORY;
    }
    for (int i = r->closed.rank; i < r->rows->nb; i++) {
        follows[r->closed.order[i]] = true;
    }
    r->out->follows = follows;
    r->out->redundant = r->rows->nb - r->closed.rank;
    return PERP_OK;
}

bool pp_solve_change(pp_answer *out, const pp_rows *rows, double *change)
{
    if (rows->nm + rows->nn > 0 || !out->closed) {
        return false;
    }
    pp_closed_change(out->closed, change, out->nu, out->pb);
    return true;
}

perp_status pp_solve_run(pp_answer *out, const perp_model *model, const pp_kinematics *kin,
                         const pp_rows *rows, const double *nu, const pp_solve_options *options,
                         pp_arena *arena)
{
    run r = {.model = model,
             .kin = kin,
             .rows = rows,
             .nu = nu,
             .options = options,
             .arena = arena,
             .out = out};
    perp_status status = allocate(&r);
    if (status >= 0) {
        status = pp_closed_create(&r.closed, model, rows, kin->mass, options->joints, arena);
    }
    if (status < 0) {
        return status;
    }
    pp_closed *closed = PP_ARRAY(arena, pp_closed, 1);
    if (!closed) {
        return PERP_ERR_MEMORY;
    }
    *closed = r.closed;
    out->closed = closed;
    status = mark_redundant(&r);
    if (status < 0) {
        return status;
    }
    if (rows->nm + rows->nn + rows->nt > 0) {
        status = solve_rows(&r);
    } else {
        out->size = model->nv + rows->nb;
    }
    if (status < 0) {
        return status;
    }
    close_joints(&r);
    status = spread_load(&r) < 0 ? PERP_ERR_MEMORY : status;
    out->unique = out->unique && out->redundant == 0;
    return pp_all_finite((size_t)model->nv, out->nu) ? status : PERP_ERR_NUMERIC;
}
