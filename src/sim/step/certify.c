// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The certificate of a step: the evidence handed to certify/, and what becomes of a step that does not pass: divided where
// shorter parts would help, failed where the answer is worthless, otherwise PERP_INEXACT.
#include "sim/step/parts.h"

#include <string.h>

// A residual as large as the motion, or energy created as large as there is, is no answer. Limits
// are about a millionth of that, so that a million times the limit is the bound.
static const double WORTHLESS = 1e6;

// part < h: the step has to be divided, and nothing is reported. nu: velocities the step started from.
perp_status pp_sim_certify(perp_sim *sim, const double *nu, double h, double *part)
{
    const pp_step *s = &sim->step;
    bool quasistatic = sim->def.stepper == PERP_STEPPER_QUASISTATIC, at_end = s->at_end;
    perp_status found = at_end ? PERP_OK : pp_sim_find_end(sim);
    *part = found < 0 ? h : pp_sim_divide_end(sim, h);
    if (found < 0 || *part < h) {
        return found;
    }
    // shapes and lists of pairs are those of the model, whatever this sim has changed
    sim->shapes = sim->shapes ? sim->shapes : pp_judged_shapes_create(sim->given, sim->memory);
    if (sim->shapes && !sim->judged_end) {
        sim->judged_end = pp_judged_end_create(sim->given, sim->shapes, sim->memory);
    }
    if (!sim->shapes || !sim->judged_end) {
        return PERP_ERR_MEMORY;
    }
    // Contacts where they acted; forces as they are without the theta method's change of inertia, which certify/ finds
    // for itself. end, gaps_end: where the step ended, found anew.
    pp_gaps acting = {.count = s->gap.count, .contact = s->acted ? s->acted : s->gap.contact};
    pp_gains_worst gained = {.body = -1};
    perp_certificate smooth = {0};
    pp_step_evidence e = {
        .model = sim->model,
        .kin = &s->kin,
        .p_ext = s->push_l ? s->push_l : s->kin.loads.p_ext,
        .middle = s->middle.body,
        .gaps = &acting,
        .found = at_end ? NULL : &s->gap,
        .rows = &s->row,
        .nu_old = nu,
        .nu = s->answer.nu,
        .pb = s->answer.pb,
        .pm = s->answer.pm,
        .pn = s->answer.pn,
        .pt = s->answer.pt,
        .end = &s->end,
        .team = &sim->team,
        .shapes = sim->shapes,
        .last = sim->judged_end,
        .gaps_end = &sim->contact_cache.gaps,
        .polygons = s->answer.form != PERP_FORM_CONE,
        .impact = s->answer.impact,
        .stepper = sim->def.stepper,
        // in joint coordinates the implicit step has the velocities of the ways to its end
        .rotation = at_end && sim->tree ? PERP_ROTATION_EXPONENTIAL : sim->def.rotation,
        .gyroscopic = sim->def.gyroscopic,
        .whole = sim->pace,
        .rates = sim->unfit || s->locked,
        .exact = pp_sim_has_exact_positions(sim),
        .along_joints = sim->tree != NULL && !at_end,
        .theta = pp_sim_theta(sim),
        .inertia = quasistatic ? PP_QUASISTATIC_MASS : 1.0,
        .slack = pp_slack_of(sim->def.tolerance),
        .applied = sim->applied,
        .smooth = &smooth,
        .groups = sim->groups,
        .gains = sim->gains_next,
        .gained = &gained};
    memcpy(sim->gains_next, sim->gains, pp_gains_size(sim->model) * sizeof *sim->gains);
    perp_status status =
        pp_certify(&sim->info.certificate, &sim->info.energy, &e, &sim->def.limits, sim->arena);
    perp_certificate *c = &sim->info.certificate;
    sim->step.smooth = smooth.energy_created;
    sim->step.smooth_of = smooth.relative[PERP_JUDGED_ENERGY];
    // What the rounds of the theta method left counts in the residual: no row shows it.
    if (status >= 0 && s->middle_off > 0.0) {
        pp_certificate_record(c, &sim->def.limits, PERP_JUDGED_RESIDUAL, s->middle_off,
                              e.slack * s->middle_size);
        c->passed = pp_certificate_passes(c);
    }
    *part = status < 0 ? h : pp_sim_divide_judged(sim, h);
    if (*part < h) {
        return PERP_OK;
    }
    // Only now: what steps before this one have gained is no reason to divide it. A sum within its limit is not shown.
    if (status >= 0 && gained.over > 1.0) {
        pp_certificate_record(c, &sim->def.limits, PERP_JUDGED_ENERGY, gained.made, gained.limit);
        c->passed = pp_certificate_passes(c);
        if (!sim->info.remark[0]) {
            pp_print(sim->info.remark, sizeof sim->info.remark,
                     "over many steps the scheme has given %.3g J to bodies on joints and springs "
                     "around '%s'",
                     gained.made, sim->model->body[gained.body].name);
        }
    }
    if (status >= 0 && (c->relative[PERP_JUDGED_RESIDUAL] > WORTHLESS ||
                        c->relative[PERP_JUDGED_ENERGY] > WORTHLESS)) {
        if (pp_sim_blame_ahead(sim, h)) {
            return PERP_ERR_LIMIT;
        }
        pp_print(sim->info.remark, sizeof sim->info.remark,
                 "not solved: the error is as large as the motion (residual %.3g m/s, energy "
                 "created %.3g J)",
                 sim->info.certificate.residual, sim->info.certificate.energy_created);
        return PERP_ERR_LIMIT;
    }
    // the report is the first thing that the next step depends on: from here on nothing is stopped
    if (status >= 0 && pp_stopped(&sim->env)) {
        status = PERP_ERR_STOPPED;
    }
    if (status >= 0) {
        status = pp_sim_report(sim);
    }
    if (status < 0) {
        return status;
    }
    pp_sim_blame_open(sim, &s->end);
    return sim->info.certificate.passed ? PERP_OK : PERP_INEXACT;
}
