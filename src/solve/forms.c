// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A step's problem in its forms MCP, LCP and cone: posed, handed to a solver of comp/, refined, unpacked.
//
// The residual that comp/ judges by is one number for all rows. What counts for a step are the rows' own residuals
// (P12) [m/s], in which a light body between heavy ones counts as much as these: pp_run_slack. An answer that passes
// the first and not the second is refined with a smaller tolerance, from where it is.
#include "solve/run.h"

#include <math.h>
#include <string.h>

enum { EXACT_MAX_CONTACTS = 8 };  // contacts that are solved to rounding
enum {
    MANY_CONTACTS = 60,
    REFINE_MOST = 10
};                                      // contacts above which refining is limited to so many steps
enum { PIVOTED = 200 };                 // contacts up to which polygons can be pivoted instead,
enum { POLYGONS_MOST = 120 };           // after so many iterations of Newton's method
static const double REFINE_WORK = 4.0;  // of what finding the answer took, for refining it
enum { LOCAL_MOST = 48 };               // cone rows up to which bodies are eliminated

static double clamped(double p, double lower, double upper)
{
    if (p < lower) {
        return lower;
    }
    return p > upper ? upper : p;
}

// ── Unpacking ────────────────────────────────────────────────────────────────────────────────────

// Adds (p_m, p_n, p_f) of an MCP or LCP to the answer, z from its p_m block on. Friction along the
// directions d_j of a group becomes the signed impulse of its rows, p_t = sum d_j p_fj, (C10). p_n
// and p_t are added to: in the second phase of an impact the first one's are there already.
static void unpack_impulses(pp_run *r, const double *z)
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

// Impulses of the cone form, dim numbers a contact: p_n, then the rows of each friction group at
// its place. Boxed rows are contacts of their own after the others, of which the first tangent is
// p_m.
static void unpack_cone(pp_run *r, int dim, const double *c)
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
        // Where joints hold the row already its impulse moves nothing, and a solver finds any.
        const pp_row *row = &r->rows->m[i];
        r->out->pm[i] =
            clamped(pp_boxed_middle(row) + c[dim * (r->rows->nn + i) + 1], row->lower, row->upper);
    }
}

// Iterations, work and times of one call of a solver.
static void add_solver_effort(pp_run *r, const perp_comp_info *info)
{
    pp_answer *out = r->out;
    out->iterations += info->iterations;
    r->work += info->work;
    out->effort.solvers += info->rungs;
    out->effort.factorisations += info->factorisations;
    out->effort.seconds_factor += info->seconds_factor;
    out->effort.seconds_sweeps += info->seconds_sweeps;
    out->effort.seconds_exact += info->seconds - info->seconds_sweeps;
    out->effort.seconds_judge += info->seconds_judge;
    out->effort.fill = fmax(out->effort.fill, info->fill);
    out->effort.flops = fmax(out->effort.flops, info->flops);
}

// The answer is that of the solver just called; its reason is the remark where it did not succeed.
static void note_solve(pp_run *r, perp_form form, int size, const perp_comp_info *info)
{
    pp_answer *out = r->out;
    out->form = form;
    out->size = size;
    out->solver = info->solver ? info->solver : "auto";
    add_solver_effort(r, info);
    if (info->error.status != PERP_OK) {
        pp_print(out->remark, sizeof out->remark, "%s", info->error.text);
    }
}

// ── How good ─────────────────────────────────────────────────────────────────────────────────────

// J M^-1 J': what a unit impulse does to the row's own rate [1/kg, or 1/(kg m^2) for a moment]. 1
// for a row that moves nothing, so that it can be divided by.
static double row_mobility(const pp_run *r, const pp_row *row)
{
    double sum = pp_row_mobility(r->model, r->kin->mass, row);
    return sum > 0.0 ? sum : 1.0;
}

// They do not change in a step.
const double *pp_run_mobilities(pp_run *r)
{
    const pp_rows *rows = r->rows;
    if (!r->has_mobility) {
        const pp_row *last = NULL;
        for (int i = 0; i < rows->nm + rows->nn; i++) {
            const pp_row *row = pp_base_row(rows, i);
            bool same = last && pp_row_has_same_gradient(last, row);
            r->mobility[i] =
                same ? r->mobility[i - 1] : pp_row_mobility(r->model, r->kin->mass, row);
            last = row;
        }
        r->has_mobility = true;
    }
    return r->mobility;
}

static double divisor(double mobility)
{
    return mobility > 0.0 ? mobility : 1.0;
}

double pp_run_body_speed(const pp_run *r, int i)
{
    const pp_body *body = &r->model->body[i];
    double v = 0.0, w = 0.0;
    for (int k = 0; k < body->nv; k++) {
        double x = fabs(r->nu[body->at + k]), p = fabs(r->kin->loads.p_ext[body->at + k]);
        if (body->axis[k] < 3) {
            v = pp_length2(v, x + p / body->divisor_mass);
        } else {
            w = pp_length2(w, x);
        }
    }
    double fall = sqrt(fabs(body->gravity_scale) * pp_length(r->model->gravity) * body->reach);
    return body->nv > 0 ? v + w * body->reach + fall : 0.0;
}

// The error that answers are refined to where they are off by more [m/s]. The certificate measures errors by the speed of the island,
// and bodies of 1 um are slow; where they are faster than 1 m/s an answer comes closer.    theory (K1)
double pp_run_tolerance(const pp_run *r)
{
    double speed = 0.0;
    for (int i = 0; i < r->model->bodies; i++) {
        speed = fmax(speed, pp_run_body_speed(r, i));
    }
    return r->options->tolerance * (speed > 0.0 ? fmin(1.0, speed) : 1.0);
}

// How far the impulses are from obeying the contact laws, worst of all rows [m/s]: the natural map
// p - P(p - w / m) of each row times its mobility m, theory (P12). The certificate computes the
// same with code of its own.
double pp_run_slack(pp_run *r)
{
    const pp_rows *rows = r->rows;
    const pp_answer *out = r->out;
    const double *mobility = pp_run_mobilities(r);
    double worst = 0.0;
    pp_run_close(r);
    for (int i = 0; i < rows->nm; i++) {
        const pp_row *row = &rows->m[i];
        double m = divisor(mobility[i]) + row->gamma, pm = out->pm[i];
        double w = pp_row_rate(r->model, row, out->nu) + row->bias + row->gamma * pm;
        worst = fmax(worst, m * fabs(pm - clamped(pm - w / m, row->lower, row->upper)));
    }
    for (int i = 0; i < rows->nn; i++) {
        double m = divisor(mobility[rows->nm + i]), pn = out->pn[i];
        double rho = pp_row_rate(r->model, &rows->n[i], out->nu) + rows->n[i].bias;
        worst = fmax(worst, m * fabs(pn - clamped(pn - rho / m, 0.0, PP_INF)));
    }
    // Friction: projection onto the disc, ellipse or polygon of radius mu p_n, p_n as it is in this answer.
    for (int g = 0; g < rows->ng; g++) {
        const pp_friction *group = &rows->group[g];
        double m = row_mobility(r, &rows->t[group->t]), slip[2];
        if (pp_friction_is_elliptic(group, r->polygons)) {
            double along_o = row_mobility(r, &rows->t[group->t + 1]);
            m = fmax(m, along_o / (group->stretch * group->stretch));
        }
        pp_friction_slip(r->model, rows, group, out->nu, slip);
        double limit = group->mu * out->pn[group->n];
        worst =
            fmax(worst, pp_friction_error(group, r->polygons, limit, m, out->pt + group->t, slip));
    }
    r->slack = worst;
    return worst;
}

// ── Budgets ──────────────────────────────────────────────────────────────────────────────────────

// What is left of the budget, for one solver. 0 would mean "no limit", so the least is one
// iteration, or 1e-9.
static void set_budget(const pp_run *r, perp_comp_options *o)
{
    const pp_solve_options *given = r->options;
    if (given->max_iterations > 0) {
        int left = given->max_iterations - r->out->iterations;
        o->max_iterations = left > 1 ? left : 1;
    }
    if (r->max_work < PP_INF) {
        o->max_work = fmax(r->max_work - pp_run_work(r), 1e-9);
    }
    if (given->deadline > 0.0) {
        o->max_seconds = fmax(given->deadline - pp_seconds(), 1e-9);
    }
}

// A solver that the user's budget ended leaves its best iterate, which becomes the answer. One that
// gave up for other reasons has failed.
static perp_status accept_best_iterate(pp_run *r, perp_status status)
{
    bool gave_up =
        status == PERP_ERR_LIMIT || status == PERP_ERR_RAY || status == PERP_ERR_SINGULAR;
    if (!gave_up || !pp_run_budget_spent(r)) {
        return status;
    }
    r->budget_spent = true;
    return PERP_INEXACT;
}

// ── MCP and LCP ──────────────────────────────────────────────────────────────────────────────────

// Speeds [m/s] and impulses [N s] this small are what underflow leaves of a motion that has died out. Solvers measure
// in units of the largest of them, which has no digits left.
static const double NOTHING = 1e-150;

// Solves a posed MCP or LCP. A ray that the solver offers as a proof of infeasibility is checked on
// the rows themselves, (U9): scaling and elimination can make a contradiction of rounding.
perp_status pp_run_mcp(pp_run *r, const pp_posed *posed, double tolerance, bool warm, double *z)
{
    perp_comp_options options = perp_comp_options_default();
    perp_comp_info info;
    options.tolerance = tolerance;
    options.warm_start = warm;
    options.work = r->cache->work;
    options.threads = r->cache->threads;
    options.comparable = true;  // rows of one scene: gaps and joints are known to its rounding
    options.ray = PP_ZEROS(r->arena, double, posed->mcp.n);
    set_budget(r, &options);
    perp_mcp mcp = posed->mcp;
    if (pp_norm_inf(mcp.n, mcp.b) < NOTHING) {
        mcp.b = PP_ZEROS(r->arena, double, mcp.n);
    }
    if (!options.ray || !mcp.b) {
        return PERP_ERR_MEMORY;
    }
    perp_status status =
        perp_mcp_solve(r->options->solver, &mcp, &options, r->cache->env, z, &info);
    note_solve(r, posed->form, posed->mcp.n, &info);
    const double *yn = options.ray + posed->nv + posed->nb + posed->nm;
    if (status == PERP_ERR_INFEASIBLE && pp_run_jam_stands(r, yn)) {
        pp_run_name_jam(r, options.ray, posed);
    } else if (status == PERP_ERR_INFEASIBLE) {
        pp_print(r->out->remark, sizeof r->out->remark,
                 "not solved: a supposed proof of a jam failed verification");
        status = PERP_ERR_RAY;
    }
    return accept_best_iterate(r, status);
}

// The solver reports an inexact answer (status > 0); it is exact if all rows are within `tolerance` [m/s].
static perp_status good_enough(pp_run *r, perp_status status, double tolerance)
{
    if (status > 0 && pp_run_slack(r) <= tolerance) {
        r->out->remark[0] = '\0';
        return PERP_OK;
    }
    return status;
}

// A solver's residual is one number for bodies of all weights: light ones may need a smaller
// tolerance. Two rounds at most, each with a hundredth of the tolerance before, and with
// REFINE_WORK times the work of the first answer. An answer stands where its refinement fails.
static perp_status solve_and_refine(pp_run *r, const pp_posed *posed, double *z)
{
    const double *p = z + posed->nv + posed->nb;
    double wanted = pp_run_tolerance(r), tolerance = r->options->tolerance, before = pp_run_work(r),
           all = r->max_work;
    perp_status status = pp_run_mcp(r, posed, tolerance, false, z);
    double refining = fmax(1.0, REFINE_WORK * (pp_run_work(r) - before));
    for (int round = 0; status >= 0; round++) {
        // unpack adds
        memset(r->out->pn, 0, (size_t)r->rows->nn * sizeof *p);
        memset(r->out->pt, 0, (size_t)r->rows->nt * sizeof *p);
        unpack_impulses(r, p);
        if (round == 2 || pp_run_solver_budget_spent(r) || pp_run_slack(r) <= wanted) {
            break;
        }
        double *better = PP_ARRAY(r->arena, double, posed->mcp.n);
        if (!better) {
            return PERP_ERR_MEMORY;
        }
        memcpy(better, z, (size_t)posed->mcp.n * sizeof *z);
        tolerance *= 1e-2;
        r->max_work = fmin(all, pp_run_work(r) + refining);
        perp_status refined = pp_run_mcp(r, posed, tolerance, true, better);
        r->max_work = all;
        if (refined != PERP_OK) {
            r->out->remark[0] = '\0';  // what was found first stands
            break;
        }
        memcpy(z, better, (size_t)posed->mcp.n * sizeof *z);
    }
    return status > 0 ? good_enough(r, status, r->options->tolerance) : status;
}

// In joint coordinates `motion` has the velocities of the tree in place of those of the bodies.
perp_status pp_run_pose_mcp(pp_run *r, const pp_rows *rows, pp_posed *posed)
{
    pp_step_equations motion;
    perp_status status =
        pp_step_equations_run(&motion, r->model, r->kin, rows, &r->in, r->nu, r->arena);
    return status < 0 ? status : pp_pose_mcp(posed, rows, &motion, r->arena);
}

// The form (P7): unknowns (nu, p_b, p_m, p_n, p_f, sigma).
perp_status pp_run_by_mcp(pp_run *r)
{
    pp_posed posed;
    r->polygons = true;
    perp_status status = pp_run_pose_mcp(r, r->rows, &posed);
    if (status < 0) {
        return status;
    }
    double *z = PP_ZEROS(r->arena, double, posed.mcp.n);
    return z ? solve_and_refine(r, &posed, z) : PERP_ERR_MEMORY;
}

perp_status pp_run_delassus(pp_run *r)
{
    if (r->delassus.q) {
        return PERP_OK;
    }
    return pp_delassus_run(&r->delassus, &r->closed, r->kin, r->nu, r->arena);
}

// The form with nu and p_b eliminated: unknowns (p_m, p_n, p_f, sigma), matrix Delassus' D. slack:
// what Poisson's second phase adds to the friction limits, NULL otherwise; the impulses then are
// increments, and are not refined.
perp_status pp_run_by_lcp(pp_run *r, const double *slack)
{
    pp_posed posed;
    r->polygons = true;
    perp_status status = pp_run_delassus(r);
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
    // pp_run_slack judges total impulses: it knows nothing of a second phase, whose answer is taken
    // as it is
    if (!slack) {
        return solve_and_refine(r, &posed, z);
    }
    status = pp_run_mcp(r, &posed, r->options->tolerance, false, z);
    if (status >= 0) {
        unpack_impulses(r, z);
    }
    return status;
}

// ── Cone ─────────────────────────────────────────────────────────────────────────────────────────

static const double IPM_HANDOFF =
    1e-6;  // residual at which the central path is left for Newton's method

// Local form (C3), or global form (C4) without joints and with more contact rows than velocities: then M
// and H are sparser and smaller than W.
static perp_status pose_cone(pp_run *r, pp_posed *posed)
{
    int rows = pp_cone_dim(r->model, r->rows) * r->rows->nn;
    bool many = rows > r->model->nv && rows > LOCAL_MOST;
    if (r->rows->nb == 0 && !r->in.tree && many) {
        return pp_pose_cone_global(posed, r->model, r->kin, r->rows, r->nu, r->arena);
    }
    perp_status status = pp_run_delassus(r);
    return status < 0 ? status : pp_pose_cone(posed, r->model, r->rows, &r->delassus, r->arena);
}

// As solve_and_refine: by modes first, where they were prepared, then by the solver with smaller
// tolerances. What was found stays where neither helps.
static void refine_cone(pp_run *r, const perp_fcp *fcp, perp_comp_options *options, double *c,
                        double *v)
{
    double wanted = pp_run_tolerance(r);
    if (pp_run_slack(r) > wanted && pp_run_polish(r)) {
        return;
    }
    for (int round = 0; round < 2; round++) {
        perp_comp_info info;
        if (pp_run_solver_budget_spent(r) || !(pp_run_slack(r) > wanted)) {
            return;
        }
        set_budget(r, options);
        options->tolerance *= 1e-2;
        options->warm_start = true;
        if (fcp->nc > MANY_CONTACTS) {  // a step or two from there, or it is not worth it
            int most = options->max_iterations;
            options->max_iterations = most > 0 && most < REFINE_MOST ? most : REFINE_MOST;
        }
        perp_status status =
            perp_fcp_solve(r->options->solver, fcp, options, r->cache->env, c, v, &info);
        add_solver_effort(r, &info);
        if (status != PERP_OK) {
            return;
        }
        unpack_cone(r, fcp->dim, c);
    }
}

// Polygons: what another solver found is finished by ssn, whose active set method ends at a basic
// solution, (C38).
static void finish_cone(pp_run *r, const perp_fcp *fcp, perp_comp_options *options, double *c,
                        double *v)
{
    perp_comp_info info;
    set_budget(r, options);
    options->warm_start = true;
    if (strcmp(r->out->solver, "ssn") != 0 && !pp_run_solver_budget_spent(r) &&
        perp_fcp_solve("ssn", fcp, options, r->cache->env, c, v, &info) == PERP_OK) {
        add_solver_effort(r, &info);
        unpack_cone(r, fcp->dim, c);
    }
}

// Impulses of the step before as a warm start. A boxed row starts with its limit as the normal
// impulse.
static void pack_guess(const pp_run *r, int dim, double *c)
{
    const pp_rows *rows = r->rows;
    const double *pn = r->inputs->warm, *pt = pn + rows->nn;
    for (int i = 0; i < rows->nn; i++) {
        c[dim * i] = pn[i];
    }
    for (int i = 0; i < rows->nm; i++) {
        c[dim * (rows->nn + i)] = 0.5 * (rows->m[i].upper - rows->m[i].lower);
    }
    for (int g = 0; g < rows->ng; g++) {
        const pp_friction *group = &rows->group[g];
        for (int k = 0; k < group->size; k++) {
            c[dim * group->n + pp_cone_place(group, dim) + k] = pt[group->t + k];
        }
    }
}

// Ratio of the largest mobility to the least: where it is large, rounding of one row is no rounding
// to another, and the tolerance of few contacts has to be looser by it.
static double contrast(const pp_run *r)
{
    double least = PP_INF, most = 0.0;
    for (int i = 0; i < r->rows->nn; i++) {
        double m = row_mobility(r, &r->rows->n[i]);
        least = fmin(least, m);
        most = fmax(most, m);
    }
    return most > 0.0 ? most / least : 1.0;
}

// Many contacts with polygons, for which modes failed. Interior point method along the central path (C37)
// to IPM_HANDOFF, then Newton by modes. The iterations grow in three rounds: where the path stalls and the
// solver would try another one, modes may already converge from where it is. False: not solved; c,
// v hold the last iterate.
static bool solve_from_afar(pp_run *r, const perp_fcp *fcp, perp_comp_options options, double *c,
                            double *v)
{
    static const int most[] = {45, 100, 200};
    for (size_t k = 0; k < sizeof most / sizeof most[0] && !pp_run_solver_budget_spent(r); k++) {
        perp_comp_info info;
        options.warm_start = false;
        options.tolerance = fmax(options.tolerance, IPM_HANDOFF);
        options.max_iterations = most[k];
        set_budget(r, &options);
        perp_status status = perp_fcp_solve("ssn", fcp, &options, r->cache->env, c, v, &info);
        note_solve(r, PERP_FORM_CONE, fcp->dim * fcp->nc, &info);
        r->out->remark[0] = '\0';
        // a limit leaves an iterate to go on from; other failures leave none
        if (status < 0 && status != PERP_ERR_LIMIT) {
            return false;
        }
        unpack_cone(r, fcp->dim, c);
        if (pp_run_polish(r)) {
            return true;
        }
        if (status >= 0) {
            return false;
        }
    }
    return false;
}

// The form (C2): discs as discs, by Newton's method and what `auto` of comp/ has behind it.
perp_status pp_run_by_cone(pp_run *r)
{
    pp_posed posed;
    perp_comp_options options = perp_comp_options_default();
    perp_comp_info info;
    perp_status status = pose_cone(r, &posed);
    if (status < 0) {
        return status;
    }
    size_t size = (size_t)posed.fcp.dim * (size_t)posed.fcp.nc;
    double *c = PP_ZEROS(r->arena, double, size);
    double *v = PP_ZEROS(r->arena, double, posed.fcp.nv);
    options.tolerance = r->options->tolerance;
    // Few contacts reach rounding at no cost, and sticking contacts then do not jitter. Many that have come here are
    // such as do not come to the tolerance: a tenth of what is accepted, since residuals are means over contacts.
    if (r->rows->nn <= EXACT_MAX_CONTACTS) {
        options.tolerance = fmin(options.tolerance, 1e-12 * contrast(r));
    } else if (r->modes && !r->finish_polygons) {
        options.tolerance *= 0.1 * PP_ACCEPTED;
    }
    options.work = r->cache->work;
    options.threads = r->cache->threads;
    options.warm_start = r->inputs->warm != NULL;
    if (!c || !v) {
        return PERP_ERR_MEMORY;
    }
    r->polygons = false;
    if (r->inputs->warm) {
        pack_guess(r, posed.fcp.dim, c);
    }
    // r->modes: many contacts, which modes were tried on in vain
    if (r->modes && r->finish_polygons && solve_from_afar(r, &posed.fcp, options, c, v)) {
        return PERP_OK;
    }
    set_budget(r, &options);
    // Of the forms with polygons a few hundred contacts can also be pivoted, which is finite: Newton's method
    // gets a limited number of iterations.
    bool pivots = r->finish_polygons && r->rows->nn <= PIVOTED;
    if (pivots && (options.max_iterations == 0 || options.max_iterations > POLYGONS_MOST)) {
        options.max_iterations = POLYGONS_MOST;
    }
    status = perp_fcp_solve(r->options->solver, &posed.fcp, &options, r->cache->env, c, v, &info);
    note_solve(r, PERP_FORM_CONE, (int)size, &info);
    // The cone form offers no vector that (U9) could be checked with: its "infeasible" is no proof.
    status = accept_best_iterate(r, status == PERP_ERR_INFEASIBLE ? PERP_ERR_RAY : status);
    if (status >= 0) {
        unpack_cone(r, posed.fcp.dim, c);
        if (r->finish_polygons) {
            finish_cone(r, &posed.fcp, &options, c, v);
        }
        refine_cone(r, &posed.fcp, &options, c, v);
        double accepted = r->finish_polygons ? 1.0 : PP_ACCEPTED;
        status = good_enough(r, status, accepted * r->options->tolerance);
    }
    return status;
}
