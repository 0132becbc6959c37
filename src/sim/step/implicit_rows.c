// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contacts and rows where an iterate of the implicit step ends, and impulses of the round before for them.   theory (I2), (I4)
#include "sim/step/implicit.h"

#include <math.h>
#include <string.h>

// ── Rows where the step ends ─────────────────────────────────────────────────────────────────────

// The turn of a body in the step as a rotation vector in world axes [rad].
static perp_vec3 turn_of(const perp_sim *sim, int body)
{
    const pp_frame *from = &sim->step.kin.poses.body[body], *to = &sim->step.end.body[body];
    if (!sim->model->spatial) {
        return pp_vec(0.0, 0.0, to->angle - from->angle);
    }
    return pp_quat_log(pp_quat_mul(to->rot, pp_quat_conjugate(from->rot)));
}

// Slip of two bodies that turn together, beyond what rows of the end have of it: with the common turn theta, R, and
// D = c_b - c_a it is D' - R D, of which rows have D' - D - theta x D'.                                theory (I4)
static perp_vec3 common_drift(const perp_sim *sim, const perp_vec3 *turn, const pp_contact *c)
{
    const pp_step *s = &sim->step;
    int a = sim->model->shape[c->a].body, b = sim->model->shape[c->b].body;
    perp_vec3 ta = turn[a], tb = turn[b], none = {0.0, 0.0, 0.0};
    double square = pp_dot3(ta, ta) + pp_dot3(tb, tb), product = pp_dot3(ta, tb);
    if (!(product > 0.0)) {
        return none;
    }
    perp_vec3 theta = pp_scale(product / square, pp_add(ta, tb));
    pp_mat3 R = pp_quat_matrix(pp_quat_exp(theta));
    perp_vec3 D = pp_sub(s->kin.poses.body[b].p, s->kin.poses.body[a].p);
    perp_vec3 then = pp_sub(s->end.body[b].p, s->end.body[a].p);
    return pp_add(pp_sub(D, pp_mul(&R, D)), pp_cross(theta, then));
}

bool pp_sim_same_contact(const pp_contact *a, const pp_contact *b)
{
    return a->a == b->a && a->b == b->b && a->feature == b->feature && a->listed == b->listed;
}

// Biases of friction rows: slip is measured by what moved.
static perp_status bias_friction(perp_sim *sim, double h)
{
    pp_rows *rows = &sim->step.row;
    perp_vec3 *turn = PP_ARRAY(sim->arena, perp_vec3, sim->model->bodies);
    if (!turn) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < sim->model->bodies; i++) {
        turn[i] = turn_of(sim, i);
    }
    for (int n = 0; n < rows->nc; n++) {
        const pp_contact *c = &sim->step.gap.contact[rows->contact[n]];
        rows->n[n].middle = true;  // acts, and holds, where the step ends
        for (int g = 0; g < rows->grouped[n]; g++) {
            const pp_friction *group = &rows->group[rows->friction[n] + g];
            if (group->kind != PP_SLIDE) {
                continue;
            }
            double scale[2] = {1.0, 1.0};
            perp_vec3 drift = common_drift(sim, turn, c), d[2] = {c->t, pp_cross(c->n, c->t)};
            if (group->size == 2) {
                pp_friction_scales(c, scale);
            }
            for (int k = 0; k < group->size; k++) {
                rows->t[group->t + k].bias = scale[k] * pp_dot3(d[k], drift) / h;
            }
        }
    }
    return PERP_OK;
}

// Mean velocities of the ways to where the bodies are now placed: in joint coordinates, which follow arcs, the velocities of
// the step.
static void follow_places(perp_sim *sim, double h)
{
    const perp_model *m = sim->model;
    pp_step *s = &sim->step;
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *b = &m->body[i];
        if (b->nv > 0) {
            pp_sim_chord(b, sim->now.q + b->at_q, sim->next.q + b->at_q, h, s->answer.nu + b->at);
        }
    }
    memcpy(sim->next.nu, s->answer.nu, (size_t)m->nv * sizeof *s->answer.nu);
    pp_frames(m, &sim->next, s->end_body);
}

// Frames of the end with the velocities of the start, for the approach at contacts. NULL: out of memory.
static pp_frame *carried_frames(const perp_sim *sim)
{
    const pp_step *s = &sim->step;
    pp_frame *body = PP_ARRAY(sim->arena, pp_frame, sim->model->bodies);
    if (!body) {
        return NULL;
    }
    for (int i = 0; i < sim->model->bodies; i++) {
        body[i] = s->end.body[i];
        body[i].v = s->kin.poses.body[i].v;
        body[i].w = s->kin.poses.body[i].w;
    }
    return body;
}

// Contacts of the end as far as the next step looks, so that the certificate and that step find them done; those that
// cannot matter are left out of the rows.
static perp_status contacts_of_end(perp_sim *sim)
{
    pp_step *s = &sim->step;
    perp_status status = pp_sim_find_end(sim);
    if (status < 0) {
        return status;
    }
    const pp_gaps *found = &sim->contact_cache.gaps;
    s->gap = (pp_gaps){.contact = PP_ARRAY(sim->arena, pp_contact, found->count)};
    if (!s->gap.contact) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < found->count; i++) {
        pp_contact *c = &s->gap.contact[s->gap.count];
        *c = found->contact[i];
        c->restitution *= s->restitution_share;
        double margin = pp_gap_pair_margin(sim->model, sim->def.margin, c->a, c->b);
        bool near = c->gap <= margin || c->restitution > 0.0;
        s->gap.count += near || c->listed >= 0;
    }
    pp_sim_give_surfaces(sim, &s->gap);
    return PERP_OK;
}

// Goes where the velocities of the answer lead, and takes contacts and rows there.
perp_status pp_sim_rows_of_end(perp_sim *sim, double h)
{
    pp_step *s = &sim->step;
    perp_status status = pp_sim_place(sim, h);
    if (status < 0) {
        return status;
    }
    if (sim->tree) {
        follow_places(sim, h);
    }
    if (!pp_all_finite((size_t)sim->model->nq, sim->next.q)) {
        return PERP_ERR_NUMERIC;
    }
    status = contacts_of_end(sim);
    if (status < 0) {
        return status;
    }
    // rows as at the start of a step, with the end in its place and masses and forces of the start
    pp_kinematics kin = s->kin;
    pp_poses carried = s->end;
    kin.poses = s->end;
    kin.mass = s->mass_l;
    kin.loads.p_ext = s->push_l;
    carried.body = carried_frames(sim);
    if (!carried.body) {
        return PERP_ERR_MEMORY;
    }
    pp_scheme scheme = pp_sim_scheme(sim);
    scheme.start = &s->kin.poses;
    scheme.carried = &carried;
    scheme.limits = s->limits;
    status =
        pp_rows_run(&s->row, sim->model, &kin, &kin.poses, &s->gap, scheme, &sim->team, sim->arena);
    return status < 0 ? status : bias_friction(sim, h);
}

// ── Impulses from round to round ─────────────────────────────────────────────────────────────────

// Of two rows of the limits of one joint: whether they are the same limit.
static bool same_limit(const pp_row *a, const pp_row *b)
{
    double along = 0.0;
    for (int c = 0; c < PP_BODY_NV; c++) {
        along += a->count > 0 && b->count > 0 ? a->J[0][c] * b->J[0][c] : 0.0;
    }
    return a->joint == b->joint && along > 0.0;
}

static void take_contact_impulses(const pp_round *last, int from, const pp_rows *rows, int n,
                                  double *pn, double *pt)
{
    pn[n] = last->answer.pn[from];
    if (rows->grouped[n] == 0 || rows->grouped[n] != last->row.grouped[from]) {
        return;
    }
    for (int g = 0; g < rows->grouped[n]; g++) {
        const pp_friction *to = &rows->group[rows->friction[n] + g];
        const pp_friction *of = &last->row.group[last->row.friction[from] + g];
        for (int k = 0; k < to->size && to->size == of->size; k++) {
            pt[to->t + k] = last->answer.pt[of->t + k];
        }
    }
}

// Impulses p_n, p_t and p_m of the last round for the rows of this one; contacts are in the same order in both. NULL: no
// memory.
double *pp_sim_guess_round(const perp_sim *sim)
{
    const pp_step *s = &sim->step;
    const pp_round *last = s->last;
    const pp_rows *rows = &s->row;
    double *guess =
        PP_ZEROS(sim->arena, double, (size_t)rows->nn + (size_t)rows->nt + (size_t)rows->nm);
    if (!guess) {
        return NULL;
    }
    double *pt = guess + rows->nn, *pm = pt + rows->nt;
    // each search goes on where the last one ended
    for (int n = 0, from = 0; n < rows->nc; n++) {
        const pp_contact *c = &s->gap.contact[rows->contact[n]];
        for (int k = 0; k < last->row.nc; k++) {
            int at = from + k < last->row.nc ? from + k : from + k - last->row.nc;
            if (pp_sim_same_contact(c, &last->gap.contact[last->row.contact[at]])) {
                take_contact_impulses(last, at, rows, n, guess, pt);
                from = at + 1 < last->row.nc ? at + 1 : 0;
                break;
            }
        }
    }
    for (int n = rows->nc; n < rows->nn; n++) {
        for (int k = last->row.nc; k < last->row.nn; k++) {
            if (same_limit(&rows->n[n], &last->row.n[k])) {
                guess[n] = last->answer.pn[k];
            }
        }
    }
    if (rows->nm == last->row.nm && rows->nm > 0) {
        memcpy(pm, last->answer.pm, (size_t)rows->nm * sizeof *pm);
    }
    return guess;
}
