// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The problem of one step (P7), solved: choice of form and solver, Poisson's second phase, fallbacks,
// budgets.
//
// Without boxed and unilateral rows it is one linear system in (nu, p_b). In the plane few contacts are an
// LCP for pivoting; contacts in space, and many in the plane, are cones for Newton's method, tried in the
// order: sweeps (loose tolerances only), modes (warm start), cone form (comp/). A failure of the cone form
// falls back to the LCP, for which infeasibility can be proved.
//
// Signs and units: impulses p [N s] act with J' p on the bodies, rates J nu + rate + bias [m/s] are
// positive where a gap opens. nu holds (v, omega) of each free body in world axes.
#include "solve/islands.h"
#include "solve/unique.h"

#include <math.h>
#include <string.h>

enum { CONE_FROM = 24 };  // unilateral rows from which the cone form is tried first, in the plane

// Up to this many unknowns a factorisation is below the 3e6 operations that count as one, theory (C50):
// PROOF_AFTER_WORK of them are a few milliseconds.
enum { SMALL_UNKNOWNS = 150 };
static const double PROOF_AFTER_WORK =
    20.0;  // factorisations before a proof of infeasibility is tried

perp_status pp_answer_create(pp_answer *out, const perp_model *model, const pp_rows *rows,
                             pp_arena *arena)
{
    *out = (pp_answer){.solver = "linear", .form = PERP_FORM_LCP};
    out->nu = PP_ZEROS(arena, double, model->nv);
    out->pb = PP_ZEROS(arena, double, rows->nb);
    out->pm = PP_ZEROS(arena, double, rows->nm);
    out->pn = PP_ZEROS(arena, double, rows->nn);
    out->pt = PP_ZEROS(arena, double, rows->nt);
    out->sigma = PP_ZEROS(arena, double, rows->ng);
    bool whole = out->nu && out->pb && out->pm && out->pn && out->pt && out->sigma;
    return whole ? PERP_OK : PERP_ERR_MEMORY;
}

// Work in factorisations, theory (C50): what the solvers of comp/ report, and what solve/ itself
// has metered. It is counted in operations, never in seconds, so that a limit ends every run at the
// same place.
double pp_run_work(const pp_run *r)
{
    return r->work + pp_meter_spent(&r->meter);
}

bool pp_run_work_exceeded(const pp_run *r)
{
    return pp_run_work(r) >= r->max_work;
}

bool pp_run_stopped(const pp_run *r)
{
    return pp_stopped(r->cache->env);
}

// Either kind of limit: the user's budget, or the work that the step has left. The same where the host wants to stop.
bool pp_run_solver_budget_spent(const pp_run *r)
{
    return pp_run_budget_spent(r) || pp_run_work_exceeded(r) || pp_run_stopped(r);
}

// The deadline is the only place in solve/ where the clock decides: with one, runs are not reproducible.
bool pp_run_budget_spent(const pp_run *r)
{
    const pp_solve_options *o = r->options;
    return (o->max_iterations > 0 && r->out->iterations >= o->max_iterations) ||
           (o->deadline > 0.0 && pp_seconds() >= o->deadline);
}

// nu and p_b from the impulses p_m, p_n, p_t: M nu = M nu_l + p_ext + W p with the joints closed,
// theory (P8), and sigma, the slip speed that supports each friction set, (C13). Each row is
// visited once; no matrix is formed.
void pp_run_close(pp_run *r)
{
    const pp_rows *rows = r->rows;
    pp_answer *out = r->out;
    // out->nu holds the momentum M nu_l + p_ext + W p until pp_closed_solve turns it into
    // velocities
    pp_masses_mul(r->model, r->kin->mass, r->nu, out->nu);
    pp_axpy(r->model->nv, 1.0, r->kin->loads.p_ext, out->nu);
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
    // Joint coordinates: the momentum before the joints acted, for the impulses of the tree's own joints, which are found
    // once, when the answer is final.
    if (r->in.tree) {
        memcpy(r->given, out->nu, (size_t)r->model->nv * sizeof *r->given);
    }
    pp_closed_solve(&r->closed, r->beta, out->nu, out->pb);
    for (int g = 0; g < rows->ng; g++) {
        double slip[2];
        pp_friction_slip(r->model, rows, &rows->group[g], out->nu, slip);
        out->sigma[g] = pp_friction_support(&rows->group[g], r->polygons, slip);
    }
}

// Copies the end of the compression phase (nu, p_n, p_t), by which the certificate judges it. back:
// impulses of restitution, e p_n of the compression.
static bool keep_compression(pp_run *r, double *back)
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

// The coefficient e of (P9) of one contact. A contact that bounces by itself gets the e with which
// it leaves at the rate (P14) after the forces of the step have acted: row->before < 0 is its rate
// of approach, row->rebound the rate that it should have, `push` what the forces add [m/s].
static double share_back(const pp_run *r, const pp_row *row)
{
    if (!row->bounces) {
        return row->restitution;
    }
    double push = pp_row_force_rate(r->model, r->kin, row);
    return fmax((row->rebound - push) / -row->v_pre, 0.0);
}

// Impulses of restitution for every contact that carried compression, also those that were only
// pressed by others. Not for what rests: an impulse that would change the contact's own rate by
// less than row->rest (what gravity does in two steps) gives nothing back, or resting stacks would
// never come to rest.
static void give_back(const pp_run *r, double *back)
{
    const pp_rows *rows = r->rows;
    for (int i = 0; i < rows->nn; i++) {
        const pp_row *row = &rows->n[i];
        double p = r->out->pn[i];
        bool closed = row->bounces || row->value <= pp_closed_gap(r->model);
        if (row->restitution > 0.0 && closed && p > 0.0 &&
            p * pp_row_mobility(r->model, r->kin->mass, row) > row->bounce_threshold) {
            back[i] = share_back(r, row) * p;
        }
    }
}

// Poisson's hypothesis: after compression every contact that carried it gives back e times its
// impulse, and a second problem, now with the forces of the step, keeps everything else from being
// violated, theory (P9). Its unknowns are the increments p_n^2, p_t^2; friction may use mu (e p_n^1
// + p_n^2), hence the slack mu e p_n^1 of the cone.
static perp_status restitute(pp_run *r)
{
    const pp_rows *rows = r->rows;
    double *slack = PP_ZEROS(r->arena, double, rows->ng),
           *back = PP_ZEROS(r->arena, double, rows->nn);
    if (!slack || !back) {
        return PERP_ERR_MEMORY;
    }
    give_back(r, back);
    if (!keep_compression(r, back)) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < rows->nn; i++) {
        r->out->pn[i] += back[i];
    }
    for (int g = 0; g < rows->ng; g++) {
        slack[g] = rows->group[g].mu * back[rows->group[g].n];
    }
    for (int i = 0; i < rows->nm; i++) {
        r->out->pm[i] = 0.0;  // motors and dry friction are forces: of the second problem
    }
    perp_status status = pp_run_delassus(r);
    if (status < 0) {
        return status;
    }
    // D and q are those of the first problem; only q changes: it becomes the rates at nu after
    // compression and restitution, which is where the second problem begins.
    pp_run_close(r);
    for (int i = 0; i < r->delassus.count; i++) {
        const pp_row *row = pp_base_row(rows, i);
        r->delassus.q[i] = pp_row_rate(r->model, row, r->out->nu) + row->bias;
    }
    return pp_run_by_lcp(r, slack);
}

// The form to solve. A form that the user asked for is kept, but for the cone with Poisson's law:
// the slack of its second problem exists in the LCP only.
static perp_form choose_form(const pp_run *r)
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
    bool any = r->rows->nn + r->rows->nm > 0;
    return cone && better && any ? PERP_FORM_CONE : PERP_FORM_LCP;
}

// The forms with polygons: MCP and LCP.
static perp_status solve_polygonal(pp_run *r, perp_form form)
{
    bool solved;
    perp_status status = pp_run_by_facets(r, form, &solved);
    if (status < 0 || solved) {
        return status;
    }
    // Too few contacts for Newton's method to pay, or its answer was rejected as one of this form: pivot.
    return form == PERP_FORM_MCP ? pp_run_by_mcp(r) : pp_run_by_lcp(r, NULL);
}

// Another form for the work that the candidate of the modes leaves it; the candidate where its answer is not better.
static perp_status improve_candidate(pp_run *r)
{
    int nn = r->rows->nn, nt = r->rows->nt, nm = r->rows->nm;
    double all = r->max_work;
    r->max_work = fmin(all, pp_run_work(r) + r->candidate_work);
    // in the plane the LCP has the same answers, which pivoting finds to rounding
    perp_status status = r->model->spatial ? pp_run_by_cone(r) : pp_run_by_lcp(r, NULL);
    r->max_work = all;
    if (pp_is_final(status) || (status == PERP_OK && pp_run_slack(r) < r->candidate_slack)) {
        return status;
    }
    pp_copy_numbers(r->out->pn, r->candidate, nn);
    pp_copy_numbers(r->out->pt, r->candidate + nn, nt);
    pp_copy_numbers(r->out->pm, r->candidate + nn + nt, nm);
    r->out->solver = "modes";
    r->out->form = PERP_FORM_CONE;
    r->out->remark[0] = '\0';
    r->nu_current = r->budget_spent = false;
    return PERP_OK;
}

// Sweeps, modes, cone form: the cheap ones first, each of which declines what it is not for. Most steps of a
// simulation end with modes.
static perp_status solve_cone(pp_run *r)
{
    bool solved;
    perp_status status = PERP_OK;
    if (pp_run_is_sweepable(r)) {
        double start = pp_seconds();
        status = pp_run_by_sweeps(r, &solved);
        r->out->effort.seconds_sweeps = pp_seconds() - start;
        if (status < 0 || solved) {
            return status;
        }
    }
    double begin = pp_seconds();
    status = pp_run_by_modes(r, &solved);
    r->out->effort.seconds_modes = pp_seconds() - begin;
    if (status < 0 || solved) {
        return status;
    }
    if (r->candidate) {
        return improve_candidate(r);
    }
    // With a limit on iterations what is left goes to sweeps, which have an answer after every iteration;
    // a factorising solver that is cut short may have none.
    if (r->options->max_iterations > 0 || pp_run_solver_budget_spent(r)) {
        r->budget_low = true;
        status = pp_run_by_sweeps(r, &solved);
        if (status < 0 || solved) {
            return status;
        }
    }
    return pp_run_by_cone(r);
}

static perp_status solve_form(pp_run *r, perp_form form)
{
    if (form != PERP_FORM_CONE) {
        return solve_polygonal(r, form);
    }
    perp_status status = solve_cone(r);
    // With form auto the LCP (polygons for discs) may still have an answer, or a proof that there is none.
    bool another = r->options->form == PERP_FORM_AUTO && !pp_run_work_exceeded(r);
    if (status < 0 && !pp_is_final(status) && another) {
        status = pp_run_by_lcp(r, NULL);
    }
    return status;
}

// A small problem on which the solvers take long may be infeasible, which costs little to prove:
// after PROOF_AFTER_WORK factorisations the proof is tried, before the solvers of comp/ go through all of their
// strategies. Only for the cone form; pivoting ends with a proof by itself.
static perp_status solve_soon(pp_run *r, perp_form form)
{
    int size = r->model->nv + r->rows->nb + r->rows->nn;
    double all = r->max_work;
    if (form != PERP_FORM_CONE || size > SMALL_UNKNOWNS ||
        !(pp_run_work(r) + PROOF_AFTER_WORK < all)) {
        return solve_form(r, form);
    }
    r->max_work = pp_run_work(r) + PROOF_AFTER_WORK;
    perp_status status = solve_form(r, form);
    bool ended = !pp_run_work_exceeded(r) || pp_is_final(status) || r->budget_spent ||
                 (status == PERP_OK && r->candidate);
    r->max_work = all;
    if (ended) {
        return status;
    }
    if (status < 0 && pp_run_prove_frictionless(r) == PERP_ERR_INFEASIBLE) {
        return PERP_ERR_INFEASIBLE;
    }
    // Not infeasible as far as is known: all over again with the whole of the step's work
    r->budget_low = r->nu_current = false;
    r->modes = NULL;
    r->candidate = NULL;
    return solve_form(r, form);
}

// One problem, in the form that suits it; a failure is then examined for a jam.
static perp_status solve_once(pp_run *r)
{
    perp_form form = choose_form(r);
    perp_status status = solve_soon(r, form);
    if (status < 0 && !pp_is_final(status) && status != PERP_ERR_INFEASIBLE &&
        !pp_run_work_exceeded(r)) {
        status = pp_run_prove_jam(r, status);
    }
    return status;
}

// Whether the step has an impact of two phases.
static bool strikes(const pp_run *r)
{
    if (r->options->impact != PERP_IMPACT_POISSON) {
        return false;
    }
    for (int i = 0; i < r->rows->nn; i++) {
        if (r->rows->n[i].bounces) {
            return true;
        }
    }
    return false;
}

// One phase, or compression and restitution. Compression is over before forces have done anything: its problem
// has p_ext = 0, and the forces act in the second one.
static perp_status solve_rows(pp_run *r)
{
    if (!strikes(r)) {
        return solve_once(r);
    }
    const pp_kinematics *kin = r->kin;
    pp_kinematics bare = *kin;
    bare.loads.p_ext = PP_ZEROS(r->arena, double, r->model->nv);
    if (r->model->nv > 0 && !bare.loads.p_ext) {
        return PERP_ERR_MEMORY;
    }
    r->kin = &bare;
    perp_status status = solve_once(r);
    if (status >= 0) {
        pp_run_close(r);
    }
    r->kin = kin;
    if (status < 0) {
        return status;
    }
    // A remark of either phase (a positive status) is one of the step.
    perp_status second = restitute(r);
    return second != PERP_OK ? second : status;
}

// Impulses of least norm in place of the solver's where they are not unique, theory (P10). They
// must not change the motion, and must obey the laws as well as the solver's did; where rounding
// keeps them from it, the solver's are restored.
static perp_status spread_load(pp_run *r)
{
    pp_answer *out = r->out;
    int nv = r->model->nv, nn = r->rows->nn, nt = r->rows->nt;
    if (out->impact || r->options->bare || pp_spread_is_unneeded(out, r->rows)) {
        return PERP_OK;  // of an impact the phases go with these impulses
    }
    double begin = pp_seconds();
    // one block: nu, p_n, p_t as the solver left them
    double *kept = PP_ARRAY(r->arena, double, (size_t)nv + (size_t)nn + (size_t)nt);
    if (!kept) {
        return PERP_ERR_MEMORY;
    }
    double *pn = kept + nv, *pt = pn + nn, change = 0.0;
    double tolerance = pp_run_tolerance(r), before = r->slack;
    memcpy(kept, out->nu, (size_t)nv * sizeof *kept);
    memcpy(pn, out->pn, (size_t)nn * sizeof *kept);
    memcpy(pt, out->pt, (size_t)nt * sizeof *kept);
    if (!pp_spread(out, r->model, r->kin, r->rows, &r->closed, r->arena)) {
        out->effort.seconds_spread = pp_seconds() - begin;
        return PERP_OK;
    }
    double after = pp_run_slack(r);
    for (int i = 0; i < nv; i++) {
        change = fmax(change, fabs(out->nu[i] - kept[i]));
    }
    bool same = change <= 1e-3 * tolerance * (1.0 + pp_norm_inf(nv, kept));
    if (!same || !(after <= fmax(tolerance, before))) {
        memcpy(out->pn, pn, (size_t)nn * sizeof *kept);
        memcpy(out->pt, pt, (size_t)nt * sizeof *kept);
        pp_run_close(r);
    }
    out->effort.seconds_spread = pp_seconds() - begin;
    return PERP_OK;
}

// The budget ended the search: the best answer is taken, and the remark says how far it is from the
// laws [m/s].
static perp_status tell_budget(pp_run *r)
{
    double off = r->nu_current ? r->slack : pp_run_slack(r);
    if (off <= pp_run_tolerance(r)) {
        r->out->remark[0] = '\0';
        return PERP_OK;
    }
    pp_print(r->out->remark, sizeof r->out->remark,
             "time or iteration limit reached after %d iterations of '%s': the best answer has an "
             "error of %.1e m/s",
             r->out->iterations, r->out->solver, off);
    return PERP_INEXACT;
}

// The status of a step that failed. Where the limit on work ended the search nothing is known of
// the problem, so that the solver's own status would say too much; the remark names the first free
// body of the island.
static perp_status give_up(pp_run *r, perp_status status)
{
    if (!pp_run_work_exceeded(r) || pp_is_final(status) || status == PERP_ERR_INFEASIBLE) {
        return status;
    }
    const perp_model *m = r->model;
    const char *name = "";
    for (int i = m->bodies - 1; i >= 0; i--) {
        name = m->body[i].nv > 0 ? m->body[i].name : name;
    }
    r->out->worked_off = true;
    pp_print(r->out->remark, sizeof r->out->remark,
             "%d contacts and limits, %d joint rows of '%s' and the bodies coupled to it, last "
             "solver '%s'",
             r->rows->nn, r->rows->nb, name, r->out->solver);
    return PERP_ERR_LIMIT;
}

// Bilateral rows that follow from the others, the ones after `rank` in the order of the pivots,
// (P8). c->row maps rows of the closed joints to rows of the step, where these differ.
static perp_status mark_redundant(pp_run *r)
{
    bool *follows = PP_ZEROS(r->arena, bool, r->rows->nb);
    if (!follows) {
        return PERP_ERR_MEMORY;
    }
    const pp_closed *c = &r->closed;
    for (int i = c->rank; i < c->nb; i++) {
        follows[c->row ? c->row[c->order[i]] : c->order[i]] = true;
    }
    r->out->follows = follows;
    r->out->redundant = c->nb - c->rank;
    return PERP_OK;
}

// Without unilateral and boxed rows (nu, p_b) is linear in the biases: positions found exactly,
// theory (S6), reuse the factors of the step for each of their rounds.
bool pp_solve_change(pp_answer *out, const pp_rows *rows, double *change)
{
    if (rows->nm + rows->nn > 0 || !out->closed || out->closed->in.tree) {
        return false;
    }
    pp_closed_change(out->closed, change, out->nu, out->pb);
    return true;
}

// Each body may move by this part of the speed that its loads alone would give it: a tenth of what the certificate
// allows of the momentum.
static const double ROUNDING_OF_LOADS = 1e-10;

// Joints, drives and springs in the rows may move slowly, and smoothly, to where they balance.
bool pp_run_may_be_still(const pp_run *r)
{
    return !r->in.tree && r->rows->nb + r->rows->nm == 0 && r->rows->nn > 0;
}

bool pp_run_is_still(const pp_run *r, const double *nu)
{
    if (!pp_run_may_be_still(r)) {
        return false;
    }
    for (int i = 0; i < r->model->bodies; i++) {
        const pp_body *body = &r->model->body[i];
        double v = 0.0, w = 0.0, load = 0.0;
        for (int k = 0; k < body->nv; k++) {
            double x = nu[body->at + k];
            if (body->axis[k] < 3) {
                v += x * x;
                load = fmax(load, fabs(r->kin->loads.p_ext[body->at + k]) / body->divisor_mass);
            } else {
                w += x * x;
            }
        }
        if (!(sqrt(v) + sqrt(w) * body->reach <= ROUNDING_OF_LOADS * load)) {
            return false;
        }
    }
    return true;
}

perp_status pp_solve_whole(pp_answer *out, const pp_solve_inputs *inputs,
                           const pp_solve_options *options, const pp_solve_cache *cache,
                           pp_arena *arena)
{
    const perp_model *model = inputs->model;
    const pp_rows *rows = inputs->rows;
    pp_run r = {.model = model,
                .kin = inputs->kin,
                .rows = rows,
                .nu = inputs->nu,
                .inputs = inputs,
                .options = options,
                .cache = cache,
                .arena = arena,
                .out = out,
                .max_work = options->max_work > 0.0 ? options->max_work : PP_INF,
                .meter = pp_meter_start(rows->nb + rows->nm + rows->nn + rows->nt, PP_INF)};
    if (inputs->coordinates) {
        r.in = *inputs->coordinates;
    }
    // Joints first: every form eliminates or needs them. Their factor survives from step to step in
    // cache->ldl_joints, of which only the numbers are done again while the pattern stays.
    r.beta = PP_ARRAY(arena, double, rows->nb);
    r.given = PP_ARRAY(arena, double, model->nv);
    r.mobility = PP_ARRAY(arena, double, (size_t)rows->nm + (size_t)rows->nn);
    perp_status status = pp_answer_create(out, model, rows, arena);
    if (!r.beta || !r.given || !r.mobility) {
        status = PERP_ERR_MEMORY;
    }
    double begin = pp_seconds();
    if (status >= 0) {
        status = pp_closed_create(&r.closed, model, rows, inputs->kin->mass, &r.in,
                                  cache->ldl_joints, arena);
    }
    out->effort.seconds_joints = pp_seconds() - begin;
    if (status >= 0 && r.closed.ldl) {
        out->effort.fill = (double)pp_ldl_fill(r.closed.ldl);
        out->effort.flops = pp_ldl_flops(r.closed.ldl);
        pp_meter_factor(&r.meter, out->effort.flops);
    }
    if (status < 0) {
        return status;
    }
    // A copy in the arena: the answer is read after this frame is gone (pp_solve_change, the
    // certificate).
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
        out->size = (r.in.tree ? r.in.tree->tree->nv : model->nv) + r.closed.nb;
    }
    out->effort.work = pp_run_work(&r);
    if (status < 0) {
        return give_up(&r, status);
    }
    // nu_current: the solver has left the nu that goes with its impulses
    if (!r.nu_current) {
        pp_run_close(&r);
    }
    if (r.budget_spent) {
        status = tell_budget(&r);
    }
    // An inexact answer stays as it is: spreading presumes that the laws hold.
    if (!r.budget_spent && spread_load(&r) < 0) {
        status = PERP_ERR_MEMORY;
    }
    // what rests stays where it is, bit for bit: theory (S19)
    if (model->nv > 0 && pp_run_is_still(&r, out->nu)) {
        memset(out->nu, 0, (size_t)model->nv * sizeof *out->nu);
    }
    pp_closed_reactions(&r.closed, r.given, out->nu, out->pb);
    if (status >= 0 && !options->bare && pp_run_uniqueness(&r) < 0) {
        status = PERP_ERR_MEMORY;
    }
    return pp_all_finite((size_t)model->nv, out->nu) ? status : PERP_ERR_NUMERIC;
}

// Island by island, unless there is one that is all of the model, or one in a form that the user asked for, which is posed as
// it is printed. A problem of one row cannot fall apart, so that the search is not made.
perp_status pp_solve_run(pp_answer *out, const pp_solve_inputs *inputs,
                         const pp_solve_options *options, const pp_solve_cache *cache,
                         pp_arena *arena)
{
    const pp_rows *rows = inputs->rows;
    pp_island_partition parts = {.count = rows->nb + rows->nm + rows->nn > 0};
    // In joint coordinates the tree ties bodies; without contacts all is one linear system.
    bool may_fall_apart = cache->islands && !inputs->coordinates && rows->nm + rows->nn > 1;
    if (may_fall_apart && pp_island_partition_find(&parts, inputs->model, rows, arena) < 0) {
        *out = (pp_answer){.solver = "linear"};
        return PERP_ERR_MEMORY;
    }
    bool printed = options->form == PERP_FORM_LCP || options->form == PERP_FORM_MCP;
    bool divided = parts.count > 1 || (parts.apart && !printed);
    if (!divided || !options->again) {
        pp_islands_turn(cache->islands);
    }
    if (divided) {
        return pp_solve_islands(
            &(pp_undivided){
                .inputs = inputs, .options = options, .cache = cache, .parts = &parts, .out = out},
            arena);
    }
    perp_status status = pp_solve_whole(out, inputs, options, cache, arena);
    out->effort.islands = parts.count;
    return status;
}
