// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What the scheme gave to bodies on joints and springs, from recorded states and impulses, summed over the steps.
//                                                                                       theory (K18)
#include "record/check/check.h"

static perp_twist twist_before(const pp_recheck *c, int body)
{
    const pp_body *of = &c->model->body[body];
    const pp_frame *f = &c->before[body];
    return of->nv == 0 ? (perp_twist){f->v, f->w} : pp_check_twist(of, c->nu0 + of->at);
}

static perp_twist twist_after(const pp_recheck *c, int body)
{
    const pp_body *of = &c->model->body[body];
    const pp_frame *f = &c->before[body];
    return of->nv == 0 ? (perp_twist){f->v, f->w} : pp_check_twist(of, c->nu + of->at);
}

static void add_bodies(const pp_recheck *c, double h, double theta, pp_gains_step *step)
{
    for (int i = 0; i < c->model->bodies; i++) {
        const pp_gains_way way = {.from = &c->before[i],
                                  .to = &c->after[i],
                                  .before = twist_before(c, i),
                                  .after = twist_after(c, i),
                                  .h = h,
                                  .theta = theta,
                                  .turns = c->info->stepper != PERP_STEPPER_MOREAU_JEAN};
        pp_gains_add_body(step, i, &way);
    }
}

static void add_springs(const pp_recheck *c, double h, double theta, pp_gains_step *step)
{
    double whole = c->whole > h ? c->whole : h;
    for (int i = 0; i < c->model->forces; i++) {
        const pp_force *f = &c->model->force[i];
        if (f->kind != PERP_FORCE_SPRING && f->kind != PERP_FORCE_TORSION_SPRING) {
            continue;
        }
        const pp_gains_spring s = {
            .from = c->before,
            .to = c->after,
            .before = {twist_before(c, f->a), twist_before(c, f->b)},
            .after = {twist_after(c, f->a), twist_after(c, f->b)},
            .h = h,
            .theta = theta,
            .kept = pp_spring_is_kept(c->model, c->before, c->after, whole, theta, f),
            .at_end = pp_check_at_end(c)};
        pp_gains_add_spring(step, i, &s);
    }
}

// Springs and rotors of joints, which are part of the energy that is there.
static void add_places(const pp_recheck *c, pp_gains_step *step)
{
    const pp_poses from = {.t = c->t0, .body = c->before, .turn = c->turn0},
                   to = {.t = c->now->t, .body = c->after, .turn = c->turn};
    for (int i = 0; i < c->model->joints; i++) {
        const pp_joint *j = &c->model->joint[i];
        int at = pp_gains_of_pair(step, j->a, j->b);
        if (at < 0 || !(j->stiffness > 0.0 || j->armature > 0.0)) {
            continue;
        }
        pp_row row[2];
        pp_joint_coordinate(c->model, &from, i, &row[0]);
        pp_joint_coordinate(c->model, &to, i, &row[1]);
        double V[2];
        for (int k = 0; k < 2; k++) {
            double x = row[k].value - j->rest, u = row[k].v_pre;
            V[k] = 0.5 * (j->stiffness * x * x + j->armature * u * u);
        }
        step->present[at] += V[0] > V[1] ? V[0] : V[1];
        step->change[at] += V[1] - V[0];
    }
}

static bool add_step(pp_recheck *c, pp_gains_step *step)
{
    pp_gains_worst worst = {.body = -1};
    if (!pp_gains_add(step, c->gains, &worst, c->arena)) {
        return false;
    }
    if (worst.over > 1.0) {
        pp_check_record_worst(c, PERP_CHECK_ENERGY, worst.made, worst.limit,
                              c->model->body[worst.body].name, "");
    }
    return true;
}

bool pp_check_gains(pp_recheck *c)
{
    double theta = c->info->stepper == PERP_STEPPER_MOREAU_JEAN ? c->info->theta : 1.0;
    pp_gains_step step;
    if (!c->check->item[PERP_CHECK_ENERGY].done || c->info->stepper == PERP_STEPPER_EVENT) {
        return true;
    }
    if (!pp_gains_open(&step, c->model, c->groups, c->arena)) {
        return false;
    }
    add_bodies(c, c->h, theta, &step);
    add_springs(c, c->h, theta, &step);
    add_places(c, &step);
    pp_check_joint_gains(c, &step);
    return add_step(c, &step);
}

bool pp_check_gains_of_closing(pp_recheck *c)
{
    pp_gains_step step;
    // of parts of errors, and where contacts or limits push, the joints do not give what is lifted
    bool pushes = c->share > 0.0;
    for (int i = 0; i < c->now->contacts; i++) {
        pushes = pushes || c->now->contact[i].pn > 0.0;
    }
    for (int i = 0; i < c->model->joints; i++) {
        pushes = pushes || c->now->joint[i].limit > 0.0;
    }
    if (!c->check->item[PERP_CHECK_ENERGY].done || pushes) {
        return true;
    }
    if (!pp_gains_open(&step, c->model, c->groups, c->arena)) {
        return false;
    }
    add_bodies(c, 0.0, 1.0, &step);
    add_springs(c, 0.0, 1.0, &step);
    add_places(c, &step);
    return add_step(c, &step);
}
