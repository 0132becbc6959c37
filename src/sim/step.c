// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp_step: the pipeline as a table of contents. A step is a transaction: nothing of the state changes
// before commit().
#include "sim/sim.h"

#include <math.h>
#include <string.h>

static pp_scheme scheme_of(const perp_sim *sim)
{
    return (pp_scheme){sim->def.stepper, sim->def.friction, sim->def.impact, sim->def.facets};
}

// Without inertia: a small mass keeps what nothing pushes where it is, and no momentum is carried over.
static const double QUASISTATIC_MASS = 1e-9;

static perp_status kinematics(perp_sim *sim, double h)
{
    pp_step *s = &sim->step;
    perp_status status = pp_kinematics_run(&s->kin, sim->model, &sim->now, h, sim->def.gyroscopic,
                                           sim->applied, sim->arena);
    bool light = status >= 0 && sim->def.stepper == PERP_QUASISTATIC;
    for (int i = 0; light && i < sim->model->bodies; i++) {
        pp_weight_scale(&s->kin.mass[i], QUASISTATIC_MASS);
    }
    return status;
}

// How near shapes must be to be in the problem: the margin, or what the fastest body can cover in a
// step and a half, so that nothing passes through in one.
static double reach(const perp_sim *sim, double h)
{
    const perp_model *m = sim->model;
    const pp_frame *body = sim->step.kin.body;
    double fastest = 0.0;
    for (int i = 0; body && i < m->bodies; i++) {
        double turn = pp_length(body[i].w) * m->length_scale;
        fastest = fmax(fastest, pp_length(body[i].v) + turn);
    }
    double g = pp_length(m->gravity);
    return fmax(sim->def.margin, 1.5 * h * (fastest + g * h));
}

// One fast body must not make contacts of all that is slow: each is kept by its own relative speed.
static void keep_near(perp_sim *sim, double h)
{
    const perp_model *m = sim->model;
    const pp_frame *body = sim->step.kin.body;
    pp_gaps *gaps = &sim->step.gap;
    double g = pp_length(m->gravity);
    int kept = 0;
    for (int i = 0; i < gaps->count; i++) {
        const pp_contact *c = &gaps->contact[i];
        perp_vec3 va = pp_point_velocity(&body[m->shape[c->a].body], c->point);
        perp_vec3 vb = pp_point_velocity(&body[m->shape[c->b].body], c->point);
        double far = 1.5 * h * (pp_length(pp_sub(vb, va)) + g * h);
        if (c->listed >= 0 || c->gap <= fmax(sim->def.margin, far)) {
            gaps->contact[kept++] = *c;
        }
    }
    gaps->count = kept;
}

static perp_status find_gaps(perp_sim *sim, double h)
{
    pp_step *s = &sim->step;
    perp_status status = pp_gaps_run(&s->gap, sim->model, &s->kin, reach(sim, h), sim->arena);
    if (status >= 0) {
        keep_near(sim, h);
    }
    return status;
}

// Velocities the step starts from: none are carried over without inertia.
static const double *old_velocities(perp_sim *sim)
{
    if (sim->def.stepper != PERP_QUASISTATIC) {
        return sim->now.nu;
    }
    return PP_ZEROS(sim->arena, double, sim->model->nv);
}

static void take_friction(const pp_rows *rows, int n, const pp_warm *w, double *pt)
{
    int first = rows->grouped[n] > 0 ? rows->group[rows->friction[n]].t : 0;
    for (int k = 0; rows->grouped[n] > 0 && k < w->count && first + k < rows->nt; k++) {
        pt[first + k] = w->pt[k];
    }
}

// Last step's impulses of the same contact points: p_n of every unilateral row, then p_t.
static const double *warm_start(perp_sim *sim)
{
    const pp_rows *rows = &sim->step.row;
    double *guess = PP_ZEROS(sim->arena, double, (size_t)rows->nn + (size_t)rows->nt);
    int next = 0;
    if (!guess || sim->warm_count == 0) {
        return NULL;
    }
    for (int i = 0; i < rows->nc; i++) {  // both lists are in the order of the gap stage
        const pp_contact *c = &sim->step.gap.contact[rows->contact[i]];
        for (int k = 0; k < sim->warm_count; k++) {
            const pp_warm *w = &sim->warm[(next + k) % sim->warm_count];
            if (w->a == c->a && w->b == c->b && w->feature == c->feature) {
                guess[i] = w->pn;
                take_friction(rows, i, w, guess + rows->nn);
                next = (next + k + 1) % sim->warm_count;
                break;
            }
            if (k > 64) {
                break;  // a new contact: do not search the whole list for it
            }
        }
    }
    return guess;
}

static perp_status solve(perp_sim *sim, const double *nu)
{
    pp_solve_options options = {.form = sim->def.form,
                                .solver = sim->def.solver,
                                .tolerance = sim->def.tolerance,
                                .impact = sim->def.impact,
                                .warm = warm_start(sim),
                                .gaps = &sim->step.gap,
                                .work = sim->work,
                                .env = &sim->env};
    pp_step *s = &sim->step;
    return pp_solve_run(&s->answer, sim->model, &s->kin, &s->row, nu, &options, sim->arena);
}

static perp_status integrate(perp_sim *sim, double h)
{
    double theta = sim->def.stepper == PERP_MOREAU_JEAN ? sim->def.theta : 1.0;
    pp_step *s = &sim->step;
    pp_integrate(&sim->next, sim->model, &sim->now, s->answer.nu, h, theta, sim->def.rotation);
    pp_frame *after = PP_ARRAY(sim->arena, pp_frame, sim->model->bodies);
    if (!after) {
        return PERP_ERR_MEMORY;
    }
    pp_frames(sim->model, &sim->next, after);
    s->end = (pp_kinematics){.t = sim->next.t, .body = after, .turn = sim->now.turn};
    pp_sim_follow_turns(sim->model, &s->end, sim->next.turn);
    s->end.turn = sim->next.turn;
    return pp_all_finite((size_t)sim->model->nq, sim->next.q) ? PERP_OK : PERP_ERR_NUMERIC;
}

static perp_status certify(perp_sim *sim, const double *nu)
{
    const pp_step *s = &sim->step;
    pp_evidence e = {.model = sim->model,
                     .kin = &s->kin,
                     .gaps = &s->gap,
                     .rows = &s->row,
                     .nu_old = nu,
                     .nu = s->answer.nu,
                     .pb = s->answer.pb,
                     .pm = s->answer.pm,
                     .pn = s->answer.pn,
                     .pt = s->answer.pt,
                     .end = &s->end,
                     .polygons = s->answer.form != PERP_FORM_CONE,
                     .scratch = PP_ARRAY(sim->arena, double, sim->model->nv)};
    if (!e.scratch) {
        return PERP_ERR_MEMORY;
    }
    pp_certify(&sim->info.certificate, &e, &sim->def.limits);
    pp_ledger(&sim->info.energy, &e);
    perp_status status = pp_sim_report(sim);
    return status < 0 ? status : sim->info.certificate.passed ? PERP_OK : PERP_INEXACT;
}

// The only place that changes the state.
static void commit(perp_sim *sim)
{
    pp_state old = sim->now;
    sim->now = sim->next;
    sim->next = old;
    memcpy(sim->frames, sim->step.end.body, (size_t)sim->model->bodies * sizeof *sim->frames);
    memset(sim->applied, 0, (size_t)sim->model->bodies * sizeof *sim->applied);
}

// A failed step: what went wrong, and the state as it was.
static perp_status fail(perp_sim *sim, perp_status status)
{
    const char *remark = sim->info.remark;
    sim->info.status = status;
    return pp_fail(&sim->error, status, "step at t = %.9g: %s", sim->now.t,
                   remark[0] ? remark : perp_status_text(status));
}

// Run a stage: charge its time, tell the observer, leave at the first failure, keep the worst remark.
#define STAGE(NAME, call)                                                                          \
    do {                                                                                           \
        perp_status result = (call);                                                               \
        double now = pp_seconds();                                                                 \
        sim->info.seconds[PERP_STAGE_##NAME] = now - clock;                                        \
        clock = now;                                                                               \
        if (PERP_STAGE_##NAME == PERP_STAGE_SOLVE) {                                               \
            take_remark(sim);                                                                      \
        }                                                                                          \
        if (result < 0) {                                                                          \
            return fail(sim, result);                                                              \
        }                                                                                          \
        status = result > status ? result : status;                                                \
        if (sim->def.on_stage) {                                                                   \
            sim->def.on_stage(sim->def.user, sim, PERP_STAGE_##NAME);                              \
        }                                                                                          \
    } while (0)

static void take_remark(perp_sim *sim)
{
    const pp_answer *a = &sim->step.answer;
    sim->info.contacts = sim->step.row.nc;
    sim->info.joint_rows = sim->step.row.nb;
    sim->info.problem_size = a->size;
    sim->info.redundant_rows = a->redundant;
    sim->info.unique = a->unique;
    sim->info.solver = a->solver;
    sim->info.form = a->form;
    sim->info.iterations = a->iterations;
    memcpy(sim->info.remark, a->remark, sizeof sim->info.remark);
}

// A list of stages: what the checker counts are the branches inside STAGE.
// NOLINTNEXTLINE(readability-function-cognitive-complexity)
perp_status perp_step(perp_sim *sim, double h)
{
    const perp_model *m = sim->model;
    pp_step *s = &sim->step;
    perp_status status = PERP_OK;
    if (!(h > 0.0) || !isfinite(h)) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT, "step: h must be positive, got %g", h);
    }
    pp_arena_reset(sim->arena);
    *s = (pp_step){0};
    sim->info = (perp_step_info){0};
    sim->error.text[0] = '\0';
    const double *nu = old_velocities(sim);
    if (m->nv > 0 && !nu) {
        return fail(sim, PERP_ERR_MEMORY);
    }
    double clock = pp_seconds();
    // clang-format off
    STAGE(KINEMATICS, kinematics(sim, h));                                            // X_WB M p_ext
    STAGE(GAP,        find_gaps(sim, h));                                             // psi n
    STAGE(CONSTRAINT, pp_rows_run(&s->row, m, &s->kin, &s->gap, scheme_of(sim), sim->arena)); // Wb Wn Wf
    STAGE(SOLVE,      solve(sim, nu));                                                // A b z
    STAGE(INTEGRATE,  integrate(sim, h));                                             // nu q
    STAGE(CERTIFY,    certify(sim, nu));                                              // what is true
    // clang-format on
    commit(sim);
    s->solved = true;
    sim->info.status = status;
    return status;
}
