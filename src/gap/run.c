// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The gap stage: listed contacts, then detected ones, with their coefficients and moving surfaces.
#include "gap/broad.h"

#include <math.h>

// Speed of b's surface minus a's along t = (n_y, -n_x). A surface moves along its outward normal turned
// by -90 degrees: along t for a, whose outward normal is n, and along -t for b.
static double surface_rate(const perp_model *model, const pp_contact *c, double t)
{
    const pp_expr *of_a = model->shape[c->a].surface_speed,
                  *of_b = model->shape[c->b].surface_speed;
    double speed_a = of_a ? pp_expr_value(of_a, &t) : 0.0;
    double speed_b = of_b ? pp_expr_value(of_b, &t) : 0.0;
    return -speed_b - speed_a;
}

static void add_listed(pp_gaps *out, const perp_model *model, const pp_kinematics *kin, int index)
{
    const pp_listed *listed = &model->contact[index];
    pp_contact point[PP_POINTS_MAX];
    pp_pair pair;
    int count = pp_gap_pair(model, kin->body, listed->a, listed->b, HUGE_VAL, point);
    if (count == 0) {
        return;  // the builder lets no such contact through
    }
    // The first point unless the second is closer by more than rounding.
    double sure = 1e-12 * model->length_scale;
    pp_contact *c = &out->contact[out->count++];
    *c = point[count == 2 && point[1].gap < point[0].gap - sure ? 1 : 0];
    pp_model_pair(model, c->a, c->b, &pair);
    c->feature = 0;
    c->listed = index;
    c->mu = listed->mu >= 0.0 ? listed->mu : pair.mu;
    c->restitution = listed->restitution >= 0.0 ? listed->restitution : pair.restitution;
    c->surface = surface_rate(model, c, kin->t);
}

static void add_detected(pp_gaps *out, const perp_model *model, const pp_kinematics *kin,
                         double margin, uint64_t key)
{
    pp_contact *c = &out->contact[out->count];
    pp_pair pair;
    int a = pp_broad_a(key), b = pp_broad_b(key);
    int count = pp_gap_pair(model, kin->body, a, b, margin, c);
    if (count > 0) {
        pp_model_pair(model, a, b, &pair);
    }
    for (int k = 0; k < count; k++) {
        c[k].mu = pair.mu;
        c[k].restitution = pair.restitution;
        c[k].surface = surface_rate(model, &c[k], kin->t);
    }
    out->count += count;
}

static bool frames_finite(const perp_model *model, const pp_frame *body)
{
    for (int i = 0; i < model->bodies; i++) {
        if (!isfinite(body[i].p.x) || !isfinite(body[i].p.y) || !isfinite(body[i].c) ||
            !isfinite(body[i].s)) {
            return false;
        }
    }
    return true;
}

static bool contacts_finite(const pp_gaps *gaps)
{
    for (int i = 0; i < gaps->count; i++) {
        const pp_contact *c = &gaps->contact[i];
        if (!isfinite(c->gap) || !isfinite(c->point.x) || !isfinite(c->point.y) ||
            !isfinite(c->surface)) {
            return false;
        }
    }
    return true;
}

perp_status pp_gaps_run(pp_gaps *out, const perp_model *model, const pp_kinematics *kin,
                        double margin, pp_arena *arena)
{
    pp_broad broad = {0};
    *out = (pp_gaps){0};
    if (!frames_finite(model, kin->body)) {
        return PERP_ERR_NUMERIC;
    }
    if (!model->listed_only) {
        perp_status status = pp_broad_run(&broad, model, kin->body, margin, arena);
        if (status < 0) {
            return status;
        }
    }
    size_t most = (size_t)model->listed + PP_POINTS_MAX * (size_t)broad.count;
    out->contact = PP_ARRAY(arena, pp_contact, most);
    if (!out->contact) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < model->listed; i++) {
        add_listed(out, model, kin, i);
    }
    for (int i = 0; i < broad.count; i++) {
        add_detected(out, model, kin, margin, broad.pair[i]);
    }
    return contacts_finite(out) ? PERP_OK : PERP_ERR_NUMERIC;
}
