// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The public entry points perp_mcp_solve, perp_box_friction_solve and perp_fcp_solve.
//
// Each call passes through the same stages: check the arguments and the problem, refuse classes
// that the solver's card does not name, run the solver, judge its answer. The status returned to
// the caller follows from the judge's residuals, theory (C5) to (C8), (C40) and (C41). The status a
// solver returns matters only where the answer is not accepted: it then names the failure.
#include "comp/judge/verdict.h"
#include "comp/problem/ncp.h"
#include "comp/registry.h"

#include <math.h>
#include <string.h>

// Memory and factorisation that a caller keeps from one solve to the next.
struct perp_workspace {
    perp_env env;
    pp_arena *arena;
    pp_ldl *factor;  // the pattern of the last problem, with its analysis
};

perp_workspace *perp_workspace_create(const perp_env *env)
{
    perp_workspace *work = pp_alloc(env, sizeof *work);
    if (!work) {
        return NULL;
    }
    *work = (perp_workspace){.env = env ? *env : (perp_env){0},
                             .arena = pp_arena_create(env),
                             .factor = pp_ldl_create(env)};
    if (!work->arena || !work->factor) {
        perp_workspace_destroy(work);
        return NULL;
    }
    return work;
}

void perp_workspace_destroy(perp_workspace *work)
{
    if (work) {
        perp_env env = work->env;
        pp_ldl_destroy(work->factor);
        pp_arena_destroy(work->arena);
        pp_free(&env, work, sizeof *work);
    }
}

perp_comp_options perp_comp_options_default(void)
{
    return (perp_comp_options){.tolerance = 1e-8, .loose = 1e-5, .cookie = PP_COMP_COOKIE};
}

// ── One call ─────────────────────────────────────────────────────────────────────────────────────

// STACK_BYTES of the caller's stack serve as the arena of small problems, which then touch no heap.
// PASSES: runs of a contact solver, the first included, until each contact is accurate by itself.
enum { STACK_BYTES = 12 * 1024, PASSES = 3 };

// One call of a public function, from its arguments to its verdict.
typedef struct call {
    const pp_solver *solver;
    perp_comp_options options;
    pp_arena *arena;
    bool own_arena;
    _Alignas(64) char stack[STACK_BYTES];
    pp_job job;
    pp_meter meter;
    pp_report report;
    perp_comp_info *info;
    double stopped;  // when the solver returned
} call;

// Every call ends here: releases the arena, and makes sure that info has a status and a sentence.
static perp_status finish_call(call *c, perp_status status)
{
    if (c->own_arena) {
        pp_arena_destroy(c->arena);
    }
    c->info->error.status = status;
    if (c->info->error.text[0] == '\0') {
        const char *text = perp_status_text(status);
        memcpy(c->info->error.text, text, strlen(text) + 1);
    }
    return status;
}

// Checks name and options, before the problem itself. On PERP_OK the arena is ready.
static perp_status check_call(call *c, const char *name, const perp_comp_options *options,
                              const perp_env *env)
{
    perp_comp_info *info = c->info;
    // infinite residuals: whatever leaves early has shown nothing
    *info = (perp_comp_info){
        .residual = PP_INF, .residual_plain = PP_INF, .backward = PP_INF, .rungs = 1};
    c->report = (pp_report){0};
    c->own_arena = false;
    c->options = options ? *options : perp_comp_options_default();
    c->solver = pp_solver_find(name ? name : "auto");
    if (c->options.cookie != PP_COMP_COOKIE) {
        return PERP_ERR_DEF;
    }
    if (!c->solver) {
        pp_print(info->error.text, sizeof info->error.text,
                 "unknown solver '%s': see perp_solver_at()", name);
        return PERP_ERR_ARGUMENT;
    }
    info->solver = c->solver->card.name;
    if (!(c->options.tolerance > 0.0) || c->options.max_iterations < 0 ||
        !(c->options.max_seconds >= 0.0) || !(c->options.max_work >= 0.0) ||
        c->options.threads < 0 || c->options.threads > PP_THREADS_MOST) {
        pp_print(info->error.text, sizeof info->error.text,
                 "options: tolerance must be positive, limits must not be negative, threads must "
                 "be 0 to %d",
                 PP_THREADS_MOST);
        return PERP_ERR_ARGUMENT;
    }
    // last, so that finish_call() has an arena to release only after all checks
    c->own_arena = c->options.work == NULL;
    c->arena = c->own_arena ? pp_arena_place(c->stack, STACK_BYTES, env) : c->options.work->arena;
    pp_arena_reset(c->arena);
    return PERP_OK;
}

// The caller must provide an array for the answer.
static perp_status require_output(call *c, const double *x, const char *name)
{
    if (x) {
        return PERP_OK;
    }
    pp_print(c->info->error.text, sizeof c->info->error.text, "%s is NULL: no place for the result",
             name);
    return PERP_ERR_ARGUMENT;
}

// A solver is not run on a class of problems that its card does not name.
static perp_status refuse_class(call *c, unsigned classes)
{
    if ((classes & ~c->solver->card.classes) == 0) {
        return PERP_OK;
    }
    pp_print(c->info->error.text, sizeof c->info->error.text,
             "'%s' does not accept this kind of problem; it is for: %s", c->solver->card.name,
             c->solver->card.proven);
    return PERP_ERR_REFUSED;
}

// Starts clock and work meter and fills the job. A factorisation object comes
// from the workspace, which keeps its symbolic analysis from call to call;
// without one it is made only where threads share it.
static void start_clock(call *c, int rows, const perp_env *env)
{
    double now = pp_seconds(), limit = c->options.max_seconds;
    pp_team team = {env ? *env : (perp_env){0}, c->options.threads > 1 ? c->options.threads : 1};
    pp_ldl *factor = NULL;
    if (c->options.work) {
        factor = c->options.work->factor;
    } else if (team.lanes > 1) {
        factor = pp_ldl_create_in(c->arena);
    }
    pp_ldl_share(factor, &team);
    c->meter = pp_meter_start(rows, c->options.max_work > 0.0 ? c->options.max_work : PP_INF);
    c->job = (pp_job){.options = &c->options,
                      .meter = &c->meter,
                      .env = env,
                      .arena = c->arena,
                      .factor = factor,
                      .deadline = limit > 0.0 ? now + limit : PP_INF};
    // stop_clock() adds the time at which the solver returned
    c->info->seconds = -now;
}

// Copies the solver's report to the caller's info. Its opinion of the answer is not part of that, but for a solver
// that the host ended: its status is then that.
static perp_status stop_clock(call *c, perp_status status)
{
    perp_comp_info *info = c->info;
    c->stopped = pp_seconds();
    info->seconds += c->stopped;
    info->iterations = c->report.iterations;
    info->seconds_factor = c->report.seconds_factor;
    info->work = pp_meter_spent(&c->meter);
    info->factorisations = c->report.factorisations;
    info->fill = c->report.fill;
    info->flops = c->report.flops;
    info->seconds_sweeps = c->report.seconds_sweeps;
    info->evaluations = c->report.evaluations;
    info->jacobians = c->report.jacobians;
    // "auto" names the rung whose answer it kept
    if (c->report.solver) {
        info->solver = c->report.solver;
        info->rungs = c->report.rungs;
    }
    if (status < 0 && c->meter.stopped) {
        return PERP_ERR_STOPPED;
    }
    if (c->report.reason[0] != '\0') {
        pp_print(info->error.text, sizeof info->error.text, "%s", c->report.reason);
    }
    return status;
}

// The status that follows from the judge's worst residual. `believed` is the solver's
// own status: it names the failure where the residual is too large, and stands by itself
// only for infeasibility proved by exhaustion.
static perp_status verdict(call *c, perp_status believed, double worst)
{
    perp_comp_info *info = c->info;
    if (believed == PERP_ERR_INFEASIBLE && c->report.complete) {
        return believed;
    }
    if (worst <= c->options.tolerance) {
        if (believed < 0 && !c->report.solver) {
            info->error.text[0] = '\0';  // the reason of a failure that was none
        }
        return PERP_OK;
    }
    if (worst <= c->options.loose) {
        return PERP_INEXACT;
    }
    if (believed < 0) {
        return believed;
    }
    pp_print(info->error.text, sizeof info->error.text,
             "'%s' stopped with residual %.1e: not accepted", info->solver, worst);
    return PERP_ERR_LIMIT;
}

// Statuses after which there is no answer to judge.
static bool is_memory_or_argument(perp_status status)
{
    return pp_is_final(status) || status == PERP_ERR_ARGUMENT || status == PERP_ERR_REFUSED;
}

// ── MCP ──────────────────────────────────────────────────────────────────────────────────────────

// After a failure z may hold anything: entries that are not finite become 0, then all are clamped.
static void sanitize_z(const perp_mcp *mcp, double *z)
{
    for (int i = 0; i < mcp->n; i++) {
        double x = isfinite(z[i]) ? z[i] : 0.0;
        z[i] = pp_clamp(x, pp_mcp_lower(mcp, i), pp_mcp_upper(mcp, i));
    }
}

// Judges z and returns the status of the call. PERP_ERR_INFEASIBLE stands where the solver
// enumerated all bases (complete), or where options.ray satisfies theory (C9), which is checked
// here; otherwise the status is PERP_ERR_RAY.
static perp_status judge_mcp(call *c, const perp_mcp *mcp, double *z, perp_status believed)
{
    perp_mcp_residuals residuals;
    double *scratch = PP_ARRAY(c->arena, double, PP_JUDGE_SCRATCH *(size_t)mcp->n);
    if (!scratch) {
        return PERP_ERR_MEMORY;
    }
    pp_mcp_judge_snapped(mcp, z, &c->options, scratch, c->arena, &residuals);
    c->info->seconds_judge = pp_seconds() - c->stopped;
    c->info->residual = residuals.scaled;
    c->info->residual_plain = residuals.plain;
    c->info->backward = residuals.backward;
    if (believed == PERP_ERR_INFEASIBLE && !c->report.complete &&
        pp_mcp_ray_proves(mcp, &c->options)) {
        return believed;
    }
    if (believed == PERP_ERR_INFEASIBLE && !c->report.complete) {
        believed = PERP_ERR_RAY;  // claimed without a proof
    }
    return verdict(c, believed, pp_mcp_worst(&residuals));
}

// An MCP of n variables, theory (C1). Without warm_start the solver
// starts from 0 clamped to the bounds.
perp_status perp_mcp_solve(const char *solver, const perp_mcp *mcp,
                           const perp_comp_options *options, const perp_env *env, double *z,
                           perp_comp_info *info)
{
    perp_comp_info local;
    call c;
    c.info = info ? info : &local;
    perp_status status = check_call(&c, solver, options, env);
    if (status >= 0) {
        status = require_output(&c, z, "z");
    }
    if (status >= 0) {
        status = pp_mcp_check(mcp, c.info->error.text, sizeof c.info->error.text);
    }
    if (status >= 0) {
        status = refuse_class(&c, pp_mcp_classes(mcp));
    }
    if (status < 0) {
        return finish_call(&c, status);
    }
    // the start: zero, or the caller's guess made finite and feasible
    if (!c.options.warm_start) {
        memset(z, 0, (size_t)mcp->n * sizeof *z);
    }
    sanitize_z(mcp, z);
    if (!c.options.ray) {  // infeasibility is accepted with a proof only, so that solvers need it
        c.options.ray = PP_ARRAY(c.arena, double, mcp->n);
    }
    if (!c.options.ray) {
        return finish_call(&c, PERP_ERR_MEMORY);
    }
    memset(c.options.ray, 0, (size_t)mcp->n * sizeof(double));
    start_clock(&c, mcp->n, env);
    status = mcp->n > 0 ? c.solver->mcp(mcp, &c.job, z, &c.report) : PERP_OK;
    status = stop_clock(&c, status);
    sanitize_z(mcp, z);
    if (!is_memory_or_argument(status)) {
        status = judge_mcp(&c, mcp, z, status);
    }
    return finish_call(&c, status);
}

// ── Nonlinear MCP ────────────────────────────────────────────────────────────────────────────────

// Judges z by values of F of its own. The judge's evaluations are not among those of info.
static perp_status judge_ncp(call *c, const perp_ncp *ncp, const double *z, perp_status believed)
{
    perp_mcp_residuals residuals;
    char reason[160];
    perp_status status = pp_ncp_judge(ncp, z, c->arena, &residuals, reason, sizeof reason);
    c->info->seconds_judge = pp_seconds() - c->stopped;
    if (status == PERP_ERR_NUMERIC) {
        return believed < 0 ? believed : PERP_ERR_LIMIT;  // no point of the domain was found
    }
    if (status < 0) {
        pp_print(c->info->error.text, sizeof c->info->error.text, "%s", reason);
        return status;
    }
    c->info->residual = residuals.scaled;
    c->info->residual_plain = residuals.plain;
    c->info->backward = residuals.backward;
    return verdict(c, believed, pp_mcp_worst(&residuals));
}

// A nonlinear MCP of n variables, theory (N1). Without warm_start the solver starts from ncp->start.
perp_status perp_ncp_solve(const char *solver, const perp_ncp *ncp,
                           const perp_comp_options *options, const perp_env *env, double *z,
                           perp_comp_info *info)
{
    perp_comp_info local;
    call c;
    c.info = info ? info : &local;
    perp_status status = check_call(&c, solver, options, env);
    if (status >= 0) {
        status = require_output(&c, z, "z");
    }
    if (status >= 0) {
        status = pp_ncp_check(ncp, c.info->error.text, sizeof c.info->error.text);
    }
    if (status >= 0) {
        status = refuse_class(&c, PERP_CLASS_NCP);
    }
    if (status < 0) {
        return finish_call(&c, status);
    }
    // the start: the caller's guess, that of the problem, or zero, within the bounds
    const perp_mcp bounds = {.n = ncp->n, .lower = ncp->lower, .upper = ncp->upper};
    if (!c.options.warm_start) {
        for (int i = 0; i < ncp->n; i++) {
            z[i] = ncp->start ? ncp->start[i] : 0.0;
        }
    }
    sanitize_z(&bounds, z);
    start_clock(&c, ncp->n, env);
    status = ncp->n > 0 ? c.solver->ncp(ncp, &c.job, z, &c.report) : PERP_OK;
    status = stop_clock(&c, status);
    sanitize_z(&bounds, z);
    if (!is_memory_or_argument(status) && !c.report.aborted) {
        status = judge_ncp(&c, ncp, z, status);
    }
    return finish_call(&c, status);
}

// ── Answers from elsewhere ───────────────────────────────────────────────────────────────────────

perp_status pp_mcp_offer(const perp_mcp *mcp, const pp_product *A, const double *z,
                         double tolerance, pp_arena *arena, bool *accepted)
{
    perp_mcp_residuals residuals;
    perp_status status = PERP_OK;
    *accepted = false;
    if (A) {
        status = pp_product_judge(mcp, A, z, arena, &residuals);
    } else {
        // rows of a step are in comparable units: the caller's word is given here
        double *scratch = PP_ARRAY(arena, double, PP_JUDGE_SCRATCH *(size_t)mcp->n);
        if (!scratch) {
            return PERP_ERR_MEMORY;
        }
        pp_mcp_judge(mcp, z, true, scratch, NULL, &residuals);
    }
    *accepted = status >= 0 && pp_mcp_worst(&residuals) <= tolerance;
    return status;
}

// ── Box friction ─────────────────────────────────────────────────────────────────────────────────

// Box friction |z_i| <= mu_i z_c, theory (C33). The judge takes each box from z itself.
perp_status perp_box_friction_solve(const perp_box_friction *box, const perp_comp_options *options,
                                    const perp_env *env, double *z, perp_comp_info *info)
{
    perp_comp_info local;
    call c;
    c.info = info ? info : &local;
    perp_status status = check_call(&c, "pivot", options, env);
    if (status >= 0) {
        status = require_output(&c, z, "z");
    }
    if (status >= 0) {
        status = pp_box_check(box, c.info->error.text, sizeof c.info->error.text);
    }
    if (status < 0) {
        return finish_call(&c, status);
    }
    for (int i = 0; i < box->n; i++) {
        z[i] = c.options.warm_start && isfinite(z[i]) ? z[i] : 0.0;
    }
    c.options.warm_start = false;  // pp_box_friction decides it for the boxed problems inside
    start_clock(&c, box->n, env);
    status = box->n > 0 ? pp_box_friction(box, &c.job, z, &c.report) : PERP_OK;
    status = stop_clock(&c, status);
    perp_mcp_residuals residuals;
    double *scratch = PP_ARRAY(c.arena, double, PP_BOX_SCRATCH *(size_t)box->n);
    if (!scratch) {
        status = PERP_ERR_MEMORY;
    }
    // The boxes are part of the answer: one boxed problem that is infeasible proves nothing about
    // the whole. Such a status becomes a limit.
    if (!is_memory_or_argument(status)) {
        pp_box_judge(box, z, c.options.comparable, scratch, &residuals);
        c.info->seconds_judge = pp_seconds() - c.stopped;
        c.info->residual = residuals.scaled;
        c.info->residual_plain = residuals.plain;
        c.info->backward = residuals.backward;
        if (status == PERP_ERR_INFEASIBLE) {
            status = PERP_ERR_LIMIT;
        }
        status = verdict(&c, status, pp_mcp_worst(&residuals));
    }
    return finish_call(&c, status);
}

// ── Contact ──────────────────────────────────────────────────────────────────────────────────────

// Values that are not finite become 0: the judge needs finite data.
static void sanitize_contact(int n, double *x)
{
    for (int k = 0; k < n; k++) {
        x[k] = isfinite(x[k]) ? x[k] : 0.0;
    }
}

// No contacts: v = M \ f.
static perp_status solve_without_contact(call *c, const perp_fcp *fcp, double *v)
{
    pp_mass *mass = NULL;
    if (fcp->nv == 0) {
        return PERP_OK;
    }
    perp_status status = pp_mass_create(&fcp->M, c->arena, &mass);
    if (status >= 0) {
        memcpy(v, fcp->f, (size_t)fcp->nv * sizeof *v);
        status = pp_mass_solve(mass, v);
        pp_mass_destroy(mass);
    }
    return status;
}

// Runs the solver on the contact problem, or, if it is a solver of MCPs, on the Stewart–Trinkle MCP
// of the friction polygons, theory (C10).
static perp_status run_fcp(call *c, const perp_fcp *fcp, double *r, double *v)
{
    if (fcp->nc == 0) {
        return solve_without_contact(c, fcp, v);
    }
    if (c->solver->fcp) {
        return c->solver->fcp(fcp, &c->job, r, v, &c->report);
    }
    return pp_solve_as_mcp(c->solver->mcp, fcp, &c->job, r, v, &c->report);
}

// Solvers stop by norms over all contacts, (C7) and (C8), which a light contact hardly enters.
// Where these norms accept the answer and the backward error of a contact, theory (C41), does not,
// the solver goes on from its answer with a smaller tolerance. "auto" does the same on each rung.
static perp_status run_to_each_contact(call *c, const perp_fcp *fcp, double *r, double *v)
{
    perp_comp_options options = c->options;
    c->job.options = &options;
    perp_status status = run_fcp(c, fcp, r, v);
    for (int pass = 1; pass < PASSES; pass++) {
        if (c->report.judged) {
            break;
        }
        perp_fcp_residuals residuals;
        double tolerance = c->options.tolerance, worst;
        sanitize_contact(fcp->nc * fcp->dim, r);
        sanitize_contact(fcp->nv, v);
        if (is_memory_or_argument(status) || c->options.max_iterations > 0 ||
            pp_fcp_judge(fcp, r, v, tolerance, c->arena, &residuals) < 0) {
            break;
        }
        worst = pp_fcp_worst(fcp, &residuals);
        if (!(pp_fcp_norms(&residuals) <= tolerance) || !(worst > tolerance)) {
            break;
        }
        // Errors fall about in proportion: aim at 0.3 of the tolerance for the worst contact, and
        // never at less than a hundredth of the last tolerance.
        options.tolerance *= fmax(0.01, 0.3 * tolerance / worst);
        options.warm_start = true;
        int before = c->report.iterations;
        perp_status again = run_fcp(c, fcp, r, v);
        c->report.iterations += before;
        if (is_memory_or_argument(again)) {
            status = again;
        }
    }
    c->job.options = &c->options;
    return status;
}

// Judges r (and v in the global form). "auto" has judged the answer it kept, so that its residuals
// are taken from the report.
static perp_status judge_fcp(call *c, const perp_fcp *fcp, const double *r, const double *v,
                             perp_status believed)
{
    perp_fcp_residuals residuals = c->report.residuals;
    perp_status status = PERP_OK;
    if (!c->report.judged) {
        status = pp_fcp_judge(fcp, r, v, c->options.tolerance, c->arena, &residuals);
        c->info->seconds_judge = pp_seconds() - c->stopped;
    }
    if (status < 0) {
        return status;
    }
    // dynamics is the residual of M v = f + H r, 0 in the local form
    c->info->residual = residuals.scaled;
    c->info->residual_plain = residuals.plain;
    c->info->residual_dynamics = residuals.dynamics;
    c->info->backward = residuals.backward;
    return verdict(c, believed, pp_fcp_worst(fcp, &residuals));
}

// A contact problem in local form, theory (C3), or global form, theory (C4).
perp_status perp_fcp_solve(const char *solver, const perp_fcp *fcp,
                           const perp_comp_options *options, const perp_env *env, double *r,
                           double *v, perp_comp_info *info)
{
    perp_comp_info local;
    call c;
    c.info = info ? info : &local;
    perp_status status = check_call(&c, solver, options, env);
    if (status >= 0) {
        status = pp_fcp_check(fcp, c.info->error.text, sizeof c.info->error.text);
    }
    if (status >= 0) {
        status = require_output(&c, r, "r");
    }
    if (status >= 0 && fcp->nv > 0) {
        status = require_output(&c, v, "v");
    }
    if (status >= 0) {
        status = refuse_class(&c, pp_fcp_classes(fcp));
    }
    if (status < 0) {
        return finish_call(&c, status);
    }
    // r: contact impulses, nc dim; v: generalized velocities of the global form, nv
    int n = fcp->nc * fcp->dim;
    if (!c.options.warm_start) {
        memset(r, 0, (size_t)n * sizeof *r);
        if (fcp->nv > 0) {
            memset(v, 0, (size_t)fcp->nv * sizeof *v);
        }
    }
    sanitize_contact(n, r);
    start_clock(&c, n, env);
    status = run_to_each_contact(&c, fcp, r, v);
    status = stop_clock(&c, status);
    sanitize_contact(n, r);
    sanitize_contact(fcp->nv, v);
    if (!is_memory_or_argument(status)) {
        status = judge_fcp(&c, fcp, r, v, status);
    }
    return finish_call(&c, status);
}
