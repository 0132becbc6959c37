// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The implicit step: gaps, joints, normals, lever arms and directions of friction are those where the step ends.
//
//   M (nu - nu_l) = p_ext + W(q) p,   phi(q) = 0,   0 <= p_n _|_ psi(q) >= 0,   q = q_l + h nu         theory (I1)
//
// Newton's method for it. The first iterate is the linear step. A round goes where the last answer leads, finds contacts
// and rows there, and solves the problem that is linear about that place; its equations hold for q where the answer leads
// there again. The derivative of W(q) p, the geometric stiffness, is added to the inertia of bodies that links pull:
// without it light links under a heavy load turn back and forth and the rounds diverge.               theory (I2), (I3)
#include "sim/step/implicit.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 24 };   // after the linear step
enum { PATIENCE = 6 };  // rounds in which the error must halve
enum { STALLS = 2 };    // rounds without that, after which an error that may stay is taken
static const double MATTERS = 1e-2;  // stiffness over inertia from which the first iterate has it
// Error of the laws that may stay where it no longer falls: half of what the certificate allows, as in the solvers.  (S8)
static const double STALLED = 5.0;
static const double STILL =
    1e-10;  // way of any point in a step, of its body's reach and the model's length

// Keeps contacts, rows and answer of a round for the next one.
static perp_status keep_round(perp_sim *sim)
{
    pp_step *s = &sim->step;
    for (int n = 0; n < s->row.nc; n++) {
        s->bounces = s->bounces || s->row.n[n].bounces;
    }
    pp_round *last = PP_ARRAY(sim->arena, pp_round, 1);
    if (!last) {
        return PERP_ERR_MEMORY;
    }
    *last = (pp_round){s->gap, s->row, s->answer};
    s->last = last;
    return PERP_OK;
}

// Solves the rows of the end that were just taken, with the stiffness of the last impulses, and closes what that leaves.
static perp_status solve_round(perp_sim *sim, const double *nu_l, double h, pp_mat3 *G)
{
    pp_step *s = &sim->step;
    pp_answer before = s->answer;
    double *at_k = PP_ARRAY(sim->arena, double, sim->model->nv);
    if (!at_k) {
        return PERP_ERR_MEMORY;
    }
    memcpy(at_k, before.nu, (size_t)sim->model->nv * sizeof *at_k);
    pp_sim_find_stiffness(sim, &s->end, h, G);
    pp_sim_stiffen(sim, G, nu_l, at_k);
    perp_status status = sim->tree ? pp_sim_coordinates_at_end(sim, at_k) : PERP_OK;
    if (status >= 0) {
        status = pp_sim_solve(sim, nu_l);
    }
    if (status < 0) {
        return status;
    }
    perp_status closed = pp_sim_close_round(sim, h);
    return closed < 0 ? closed : status;
}

// The first iterate beyond the linear step, where links pull hard: Newton's step from where the step starts, with the
// impulses of the linear step for its stiffness.
static perp_status tame_start(perp_sim *sim, const double *nu_l, double h, pp_mat3 *G)
{
    pp_step *s = &sim->step;
    pp_sim_find_stiffness(sim, &s->kin.poses, h, G);
    if (!(pp_sim_largest_stiffness(sim, G) > MATTERS)) {
        return PERP_OK;
    }
    pp_sim_stiffen(sim, G, nu_l, NULL);
    perp_status status = sim->tree ? pp_sim_coordinates(sim) : PERP_OK;
    return status < 0 ? status : pp_sim_solve(sim, nu_l);
}

static bool has_belt(const pp_shape *shape)
{
    bool any = shape->surface_speed != NULL;
    for (int k = 0; k < 4; k++) {
        any = any || shape->surface[k];
    }
    return any;
}

// Whether the linear step moves nothing by more than STILL: then gaps, normals and arms of the end are those of the start
// to what is left of them anyway, and its answer is that of (I1). Rows of joints, drives and belts may follow the time.
static bool is_still(const perp_sim *sim, double h)
{
    const perp_model *m = sim->model;
    const pp_step *s = &sim->step;
    if (s->row.nb + s->row.nm > 0 || s->row.nn > s->row.nc || sim->tree) {
        return false;
    }
    for (int n = 0; n < s->row.nc; n++) {
        const pp_contact *c = &s->gap.contact[s->row.contact[n]];
        if (s->row.n[n].bounces || has_belt(&m->shape[c->a]) || has_belt(&m->shape[c->b])) {
            return false;
        }
    }
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        double v[2] = {0.0, 0.0};
        if (body->nv == 0) {  // what is moved may start from rest
            const pp_frame *f = &s->kin.poses.body[i];
            const pp_frame end = pp_driven_frame(body, s->kin.poses.t + h);
            if (pp_length(f->w) + pp_length(end.w) > 0.0) {
                return false;
            }
            v[0] = fmax(pp_length(f->v), pp_length(end.v));
        }
        for (int c = 0; c < body->nv; c++) {
            int kind = body->axis[c] < 3 ? 0 : 1;
            v[kind] += fabs(s->answer.nu[body->at + c]);
        }
        double most = STILL * fmax(m->length_scale, 1e-3);
        most = body->reach > 0.0 ? fmin(most, STILL * body->reach) : most;
        if (!(h * (v[0] + v[1] * body->reach) <= most)) {
            return false;
        }
    }
    return true;
}

// The linear step as it is, with its contacts found anew where it ends, as the certificate and the next step need them.
static perp_status stay(perp_sim *sim, double h)
{
    pp_step *s = &sim->step;
    perp_status status = pp_sim_place(sim, h);
    if (status >= 0) {
        status = pp_sim_find_end(sim);
    }
    for (int n = 0; n < s->row.nc; n++) {
        s->row.n[n].middle = true;  // acts, and holds, where the step ends
    }
    s->gap_l = s->gap;
    s->middle = s->end;
    s->acted = s->gap.contact;
    s->at_end = true;
    return status;
}

// Masses and forces as they are, and where the step acted, for the certificate and the report.
static void settle(perp_sim *sim)
{
    pp_step *s = &sim->step;
    memcpy(s->kin.mass, s->mass_l, (size_t)sim->model->bodies * sizeof *s->mass_l);
    memcpy(s->kin.loads.p_ext, s->push_l, (size_t)sim->model->nv * sizeof *s->push_l);
    s->push_l = NULL;
    s->last = NULL;
    s->stays = NULL;
    s->middle = s->end;
    s->acted = s->gap.contact;
    s->at_end = true;
}

// Rounds until the answer holds where it leads: *settled.
static perp_status go_round(perp_sim *sim, const double *nu_l, double h, bool *settled)
{
    double best = HUGE_VAL;
    int since = 0;
    pp_round_mix *mix = NULL;
    pp_mat3 *G = PP_ZEROS(sim->arena, pp_mat3, sim->model->bodies);
    *settled = false;
    if (!G) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = tame_start(sim, nu_l, h, G);
    for (int round = 0; round < ROUNDS; round++) {
        if (status < 0) {
            return status;
        }
        // where the answer leads, and whether it holds there
        status = keep_round(sim);
        if (status < 0) {
            return status;
        }
        status = pp_sim_rows_of_end(sim, h);
        if (status < 0) {
            return status;
        }
        double *p = pp_sim_guess_round(sim);
        if (!p) {
            return PERP_ERR_MEMORY;
        }
        pp_round_error error = pp_sim_error_there(sim, nu_l, p, h);
        double worst = fmax(error.laws, error.places);
        sim->info.rounds = round;
        since = worst < 0.5 * best ? 0 : since + 1;
        best = since == 0 ? worst : best;
        bool stalls = since >= STALLS && error.laws <= STALLED;
        *settled = error.places <= 1.0 && (error.laws <= 1.0 || stalls);
        if (*settled) {
            return PERP_OK;
        }
        if (since >= PATIENCE || round + 1 == ROUNDS) {
            break;
        }
        mix = pp_sim_mix_begin(sim, mix, pp_sim_same_rows(sim));
        if (!mix) {
            return PERP_ERR_MEMORY;
        }
        status = solve_round(sim, nu_l, h, G);
        if (status >= 0) {
            perp_status mixed = pp_sim_mix_end(sim, mix);
            status = mixed < 0 ? mixed : status;
        }
    }
    return status;
}

perp_status pp_sim_solve_implicit(perp_sim *sim, const double *nu, double h)
{
    const perp_model *m = sim->model;
    pp_step *s = &sim->step;
    bool settled = false;
    // a start as given is worked off by rows of its own, as in the linear step
    if (sim->unfit) {
        return PERP_OK;
    }
    if (is_still(sim, h)) {
        return stay(sim, h);
    }
    s->mass_l = PP_ARRAY(sim->arena, pp_inertia, m->bodies);
    s->push_l = PP_ARRAY(sim->arena, double, m->nv);
    if (!s->mass_l || !s->push_l) {
        return PERP_ERR_MEMORY;
    }
    memcpy(s->mass_l, s->kin.mass, (size_t)m->bodies * sizeof *s->mass_l);
    memcpy(s->push_l, s->kin.loads.p_ext, (size_t)m->nv * sizeof *s->push_l);
    // rounds find contacts in the memory that those of the start are in
    pp_contact *contact = PP_ARRAY(sim->arena, pp_contact, s->gap.count);
    if (!contact) {
        return PERP_ERR_MEMORY;
    }
    if (s->gap.count > 0) {
        memcpy(contact, s->gap.contact, (size_t)s->gap.count * sizeof *contact);
    }
    s->gap.contact = contact;
    s->gap_l = s->gap;
    perp_status kept = keep_round(sim);
    if (kept < 0) {
        return kept;
    }
    perp_status status = go_round(sim, nu, h, &settled);
    s->unsettled = !settled;
    s->flips = !settled && status >= 0 && !pp_sim_same_rows(sim);
    settle(sim);
    return status >= 0 && !pp_sim_find_slip(sim) ? PERP_ERR_MEMORY : status;
}
