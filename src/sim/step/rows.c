// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of a step: joints, springs and contacts as the stepper writes them.
#include "sim/step/parts.h"

#include <math.h>

// What the rows depend on of the sim's options. whole: biases work off overlaps by the length of
// the whole step, also in its parts, and of a longer step before it.                     theory (P22)
pp_scheme pp_sim_scheme(const perp_sim *sim)
{
    return (pp_scheme){.stepper = sim->def.stepper,
                       .friction = sim->def.friction,
                       .impact = sim->def.impact,
                       .facets = sim->def.facets,
                       .theta = sim->def.theta,
                       .whole = sim->pace,
                       .rates = sim->unfit || sim->step.locked,
                       .limits = sim->step.limits};
}

// Second derivatives of the coordinates that are stabilised, of bodies that keep their velocities; driven ones have the
// mean acceleration of the step. *out: joints, NULL where none is stabilised.           theory (A10)
static perp_status find_drifts(const perp_sim *sim, double h, const double **out)
{
    const perp_model *m = sim->model;
    const pp_poses *at = &sim->step.kin.poses;
    bool any = false;
    for (int i = 0; i < m->joints; i++) {
        any = any || m->joint[i].epsilon > 0.0;
    }
    *out = NULL;
    if (!any) {
        return PERP_OK;
    }
    perp_twist *sigma = PP_ZEROS(sim->arena, perp_twist, m->bodies);
    double *drift = PP_ZEROS(sim->arena, double, m->joints);
    pp_frame *body = PP_ARRAY(sim->arena, pp_frame, m->bodies);
    if (!sigma || !drift || !body) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < m->bodies; i++) {
        body[i] = at->body[i];
        if (m->body[i].nv == 0) {
            pp_frame end = pp_driven_frame(&m->body[i], at->t + h);
            sigma[i] = (perp_twist){.v_W = pp_scale(1.0 / h, pp_sub(end.v, body[i].v)),
                                    .w_W = pp_scale(1.0 / h, pp_sub(end.w, body[i].w))};
        }
    }
    // all that drifts of coordinates read of a tree and its state
    const pp_tree tree = {.model = m};
    const pp_tree_pass pass = {.tree = &tree,
                               .t = at->t,
                               .body = body,
                               .sigma = sigma,
                               .turn = at->turn,
                               .input = at->drive ? at->drive->input : NULL};
    for (int i = 0; i < m->joints; i++) {
        drift[i] = m->joint[i].epsilon > 0.0 ? pp_joint_coordinate_drift(&pass, i) : 0.0;
    }
    *out = drift;
    return PERP_OK;
}

// Of the places of a driven body and of its angles: what is no motion.
static const double ROUNDING = 1e-14;

// Mean of the velocities of a driven body over the step.                                  theory (P23)
static perp_twist mean_of_motion(const perp_model *m, const pp_frame *from, const pp_frame *to,
                                 double h)
{
    perp_vec3 turn = pp_vec(0.0, 0.0, to->angle - from->angle);
    double size = fabs(from->angle) + fabs(to->angle),
           place = pp_length(from->p) + pp_length(to->p);
    if (m->spatial) {
        // of turns by half a revolution and more the two places do not show which way
        bool far = h * (pp_length(from->w) + pp_length(to->w)) > 1.0;
        turn = far ? pp_scale(0.5 * h, pp_add(from->w, to->w))
                   : pp_quat_log(pp_quat_mul(to->rot, pp_quat_conjugate(from->rot)));
        size = 1.0;
    }
    return (perp_twist){
        pp_mean_velocity(pp_sub(to->p, from->p), h, from->v, to->v, ROUNDING * place),
        pp_mean_velocity(turn, h, from->w, to->w, ROUNDING * size)};
}

// A body that is not free leads what it touches to where it is at the end of the step: places of free bodies are h nu from
// those of the start, so that it counts with the mean of its velocity. The theta method takes that mean of the free
// bodies itself, and its laws hold for the velocities at the end.                         theory (P23)
perp_status pp_sim_give_velocities(perp_sim *sim, double h)
{
    const perp_model *m = sim->model;
    const pp_poses *at = &sim->step.kin.poses;
    bool middle = sim->def.stepper == PERP_STEPPER_MOREAU_JEAN;
    if (sim->def.stepper == PERP_STEPPER_EVENT) {
        return PERP_OK;
    }
    perp_twist *given = PP_ARRAY(sim->arena, perp_twist, m->bodies);
    if (!given) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < m->bodies; i++) {
        const pp_frame *from = &at->body[i];
        given[i] = (perp_twist){from->v, from->w};
        if (m->body[i].nv > 0 || m->body[i].drive != PERP_MOTION_KINEMATIC) {
            continue;
        }
        pp_frame to = pp_driven_frame(&m->body[i], at->t + h);
        if (!pp_finite3(to.v) || !pp_finite3(to.w)) {
            continue;  // reported where positions are found
        }
        given[i] = middle ? (perp_twist){to.v, to.w} : mean_of_motion(m, from, &to, h);
    }
    sim->step.kin.given = given;
    return PERP_OK;
}

void pp_sim_give_surfaces(const perp_sim *sim, pp_gaps *gaps)
{
    const pp_kinematics *kin = &sim->step.kin;
    double from = kin->poses.t, end = from + kin->h;
    bool middle = sim->def.stepper == PERP_STEPPER_MOREAU_JEAN;
    const double t[2] = {middle ? end : from, end};
    const pp_poses *at = sim->step.at_end ? &sim->step.end : &kin->poses;
    pp_gaps_move_surfaces(gaps, sim->model, at, t);
}

// The theta method takes joints, and contacts in space, in the middle of the step that ends with
// nu, which makes it second order, (S11), (S12). All others take them where the step starts.
static perp_status build_rows(perp_sim *sim, const double *nu, double h)
{
    pp_step *s = &sim->step;
    const perp_model *m = sim->model;
    bool moves = m->joints > 0 || (m->spatial && s->gap.count > 0);
    pp_scheme scheme = pp_sim_scheme(sim);
    perp_status found = find_drifts(sim, h, &scheme.drift);
    if (pp_sim_blame_undefined(sim, &s->kin.poses)) {
        return PERP_ERR_NUMERIC;
    }
    if (found < 0) {
        return found;
    }
    if (sim->def.stepper == PERP_STEPPER_MOREAU_JEAN && moves) {
        return pp_sim_middle_rows(sim, scheme, nu, h);
    }
    pp_kinematics kin = s->kin;
    perp_status status = PERP_OK;
    if (sim->tree) {
        // velocities as the rates give them at this place, which the rows then share with the tree  theory (J7)
        status = pp_sim_tree_at_start(sim);
        if (status < 0) {
            return status;
        }
        kin.poses.body =
            pp_tree_velocities_taken(sim->tree, kin.poses.body, s->tree.body, sim->arena);
    }
    if (!kin.poses.body) {
        return PERP_ERR_MEMORY;
    }
    status = pp_rows_run(&s->row, m, &kin, &kin.poses, &s->gap, scheme, &sim->team, sim->arena);
    if (status < 0) {
        return status;
    }
    pp_sim_stick_bias(sim);  // biases of friction rows
    if (pp_sim_has_exact_positions(sim) && !sim->tree) {
        status = pp_sim_guess_curvature(sim);
    }
    if (status < 0 || !sim->tree) {
        return status;
    }
    return pp_coordinates_create(&s->in, &s->tree, &s->row, sim->arena);
}

perp_status pp_sim_find_rows(perp_sim *sim, const double *nu, double h)
{
    perp_stage stage = pp_sim_charge(sim, PERP_STAGE_CONSTRAINT);
    perp_status status = build_rows(sim, nu, h);
    pp_sim_charge(sim, stage);
    return status;
}
