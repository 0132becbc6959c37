// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The certificate of a step: geometry, laws, momentum, joints, positions against velocities, and the
// energy of the whole step, each value relative to the scales of the scene. The judges are in files
// of their own; this one calls them in order.                                         theory (P12)
#include "certify/geometry/witness.h"
#include "certify/own.h"
#include "certify/scale.h"

#include "math/math.h"

#include <limits.h>
#include <math.h>
#include <string.h>

// Keeps the worse of both, value by value; NaN is worse than any number. The relative values need
// no test for NaN, which fmax would lose: pp_certificate_record turns NaN into infinity.
void pp_certificate_worst(perp_certificate *into, const perp_certificate *from)
{
    double *to[] = {
        &into->gap,      &into->complementarity, &into->cone,     &into->slip_opposed, &into->joint,
        &into->momentum, &into->energy_created,  &into->residual, &into->motion,       &into->path};
    const double of[] = {
        from->gap,      from->complementarity, from->cone,     from->slip_opposed, from->joint,
        from->momentum, from->energy_created,  from->residual, from->motion,       from->path};
    for (size_t k = 0; k < sizeof of / sizeof of[0]; k++) {
        *to[k] = of[k] <= *to[k] ? *to[k] : of[k];  // also true for NaN in of[k]
    }
    for (int k = 0; k < PERP_JUDGED_COUNT; k++) {
        into->relative[k] = fmax(into->relative[k], from->relative[k]);
    }
}

// A value that is NaN fails: it is not at most 1.
bool pp_certificate_passes(const perp_certificate *c)
{
    for (int k = 0; k < PERP_JUDGED_COUNT; k++) {
        if (!(c->relative[k] <= 1.0)) {
            return false;
        }
    }
    return true;
}

// Solvers measure their residual relative to all impulses together, so that a single row may be
// worse by a factor: 100 is allowed. Never below 1e-6, which rounding needs.
double pp_slack_of(double tolerance)
{
    return fmax(1e-6, 100.0 * tolerance);
}

// Overlap that the turning of bodies within a step may leave, as a share of the thinner shape.
static const double OVERLAP = 1e-2;
static const double SKIN_DEPTH = 0.5;  // of the skin between two shapes without an inside

// A point has no thickness. Then the other shape counts, or else the reach of the free body that
// the point belongs to, or else the length scale of the model.
double pp_scale_overlap(const perp_model *m, int a, int b)
{
    const int shapes[2] = {a, b};
    double skin = pp_skin(m, a, b);
    if (skin > 0.0) {  // what is deeper may have passed
        return SKIN_DEPTH * skin;
    }
    double thin = PP_INF, reach = PP_INF;
    for (int k = 0; k < 2; k++) {
        const pp_shape *s = &m->shape[shapes[k]];
        const pp_body *body = &m->body[s->body];
        thin = s->thickness > 0.0 ? fmin(thin, s->thickness) : thin;
        reach = body->nv > 0 && body->reach > 0.0 ? fmin(reach, body->reach) : reach;
    }
    thin = isfinite(thin) ? thin : reach;
    return OVERLAP * (isfinite(thin) ? thin : m->length_scale);
}

// A free body that is nearer to body i than `off` at either end of the step, by the reaches of both; -1: none.
static int find_near(const perp_model *m, int i, const pp_frame *start, const pp_frame *end,
                     double off)
{
    for (int k = 0; k < m->bodies; k++) {
        double between =
            fmin(pp_length(pp_sub(start[k].p, start[i].p)), pp_length(pp_sub(end[k].p, end[i].p)));
        bool near = between - m->body[i].reach - m->body[k].reach < off;
        if (m->body[k].nv > 0 && near) {
            return k;
        }
    }
    return -1;
}

static int shape_of(const perp_model *m, int body)
{
    for (int i = 0; i < m->shapes; i++) {
        if (m->shape[i].body == body) {
            return i;
        }
    }
    return -1;
}

// Driven bodies whose frames do not show their paths: one that may have met a free body on the way counts as having passed
// through it, *found; a < 0: none has. False: there are such bodies.
static bool judge_drives(pp_crossing *found, const perp_model *m, const pp_frame *start,
                         const pp_frame *end, double h)
{
    bool resolved = true;
    *found = (pp_crossing){.a = -1, .b = -1};
    for (int i = 0; i < m->bodies; i++) {
        double off, most;
        if (!pp_drive_is_unresolved(m, i, &start[i], &end[i], h, &off, &most)) {
            continue;
        }
        resolved = false;
        // the error is also how far it may have been from both of its frames
        int k = find_near(m, i, start, end, off), a = shape_of(m, i);
        int b = k >= 0 ? shape_of(m, k) : -1;
        if (a >= 0 && b >= 0) {
            *found = (pp_crossing){a, b, off, most};
        }
    }
    return resolved;
}

// Gaps and paths of all pairs that may collide, found by the geometry of certify/. The normals of
// contacts are offered as candidates for separating axes, and each is checked. start: NULL where
// the motion in the step is not a single straight path, and the path is not judged.
perp_status pp_judge_places(perp_certificate *c, const perp_model *m, const pp_places *of,
                            const perp_limits *limits, pp_arena *arena)
{
    pp_geometry found;
    pp_geometry_task task = {.model = m,
                             .shapes = of->shapes,
                             .start = of->start,
                             .end = of->end->body,
                             .h = of->h,
                             .allowed = pp_scale_overlap,
                             .end_share = of->share,
                             .last = of->last,
                             .starts_at_last = of->starts_at_last};
    task.axis = pp_geometry_axes(of->gaps, arena, &task.axes);
    if (!task.axis && of->gaps->count > 0) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = pp_judge_geometry(&found, &task, arena);
    if (status < 0) {
        return status;
    }
    c->pairs = (int)fmin((double)found.judged, (double)INT_MAX);
    pp_certificate_record(c, limits, PERP_JUDGED_GAP, found.gap, found.gap_allowed);
    if (found.undecided > 0) {
        c->relative[PERP_JUDGED_GAP] = HUGE_VAL;  // what could not be judged is not passed
    }
    // A path that could not be proved clear is no violation: only an overlap that was found is one.
    if (found.path == PP_PATH_PASSED) {
        pp_certificate_record(c, limits, PERP_JUDGED_PATH, found.path_depth, found.path_allowed);
    }
    c->path = fmax(c->path, found.path_depth);
    c->path_clear = found.path == PP_PATH_CLEAR;
    if (of->start) {
        pp_crossing driven;
        bool resolved = judge_drives(&driven, m, of->start, of->end->body, of->h);
        c->path_clear = c->path_clear && resolved;
        if (driven.a >= 0) {
            pp_certificate_record(c, limits, PERP_JUDGED_PATH, driven.depth, driven.allowed);
        }
    }
    return PERP_OK;
}

perp_status pp_judge_crossing(pp_crossing *out, const perp_model *m, const pp_frame *start,
                              const pp_frame *end, double h, pp_arena *arena)
{
    pp_geometry found;
    const pp_geometry_task task = {
        .model = m, .start = start, .end = end, .h = h, .allowed = pp_scale_overlap};
    (void)judge_drives(out, m, start, end, h);
    perp_status status = pp_judge_geometry(&found, &task, arena);
    if (status >= 0 && found.path == PP_PATH_PASSED) {
        *out = (pp_crossing){found.path_a, found.path_b, found.path_depth, found.path_allowed};
    }
    return status;
}

// Lever by which an error of an angle becomes one of a length: the farthest anchor or reach of the
// two bodies.
double pp_scale_arm(const perp_model *m, const pp_joint *j)
{
    double reach = fmax(m->body[j->a].reach, m->body[j->b].reach);
    double arm = fmax(pp_length(j->r_A), pp_length(j->r_B));
    arm = fmax(arm, reach);
    return arm > 0.0 ? arm : m->length_scale;
}

// For rows of either unit: the smaller of the limits in metres and in radians.
double pp_scale_apart(const perp_model *m, const pp_joint *j)
{
    return PP_APART * fmin(1.0, pp_scale_arm(m, j));
}

// An error of a joint beside its limit; the worst one relative to it is kept. Written so that NaN is taken as the worst.
typedef struct joint_error {
    double worst, over, limit;
} joint_error;

static void keep_worst(joint_error *e, double value, double allowed)
{
    if (!(fabs(value) <= e->over * allowed)) {
        e->worst = fabs(value);
        e->over = fabs(value) / allowed;
        e->limit = allowed;
    }
}

// Distance of a coordinate from its target, or beyond a limit.
static double off_target(const pp_joint *j, const pp_poses *at, double x)
{
    double off = 0.0;
    if (j->target && !(j->epsilon > 0.0)) {  // a stabilised one is judged by its rate
        off = fabs(x - pp_expr_value(j->target, &at->t));
    }
    if (j->lower <= j->upper) {
        off = fmax(off, fmax(j->lower - x, x - j->upper));
    }
    return isnan(x) ? x : fmax(off, 0.0);
}

// Gears and couplings, by their rows.
static void judge_coupled(const perp_model *m, const pp_poses *at, int joint, joint_error *e)
{
    const pp_joint *j = &m->joint[joint];
    pp_row row[PP_JOINT_EQUATIONS + 1];
    int equations = pp_own_equations(m, at, joint, row), count = equations;
    double arm = pp_scale_arm(m, j);
    if (pp_own_coordinate(m, at, joint, &row[equations])) {
        count++;
        row[equations].value = off_target(j, at, row[equations].value);
    }
    for (int i = 0; i < count; i++) {
        double allowed = pp_scale_is_length(m, &row[i]) ? PP_APART * arm : PP_APART;
        if (j->kind == PERP_JOINT_COUPLING) {
            allowed = PP_APART * arm * pp_scale_coupling(m, &row[i]);
        }
        keep_worst(e, row[i].value, allowed);
    }
}

// Equations, target and limits of one joint. Each is held against its own limit, and the one that
// is worst relative to it is returned. arm: pp_scale_arm; asked: whether its coordinate is wanted in *end.
static joint_error judge_joint(const perp_model *m, const pp_poses *at, int joint, double arm,
                               bool asked, pp_own_joint_end *end)
{
    const pp_joint *j = &m->joint[joint];
    joint_error e = {0.0, 0.0, PP_APART * arm};
    pp_own_value v[PP_JOINT_EQUATIONS + 1];
    end->at = pp_own_anchors_of(m, at->body, j);
    int count = pp_own_values(end, at->turn, joint, asked, v);
    for (int i = 0; i < count; i++) {
        double off = v[i].coordinate ? off_target(j, at, v[i].value) : v[i].value;
        keep_worst(&e, off, v[i].length ? PP_APART * arm : PP_APART);
    }
    return e;
}

double pp_judge_joint(const perp_model *m, const pp_poses *at, int joint, double *limit)
{
    const pp_joint *j = &m->joint[joint];
    double arm = pp_scale_arm(m, j);
    joint_error e = {0.0, 0.0, PP_APART * arm};
    if (pp_joint_couples(j)) {
        judge_coupled(m, at, joint, &e);
    } else {
        pp_own_joint_end end;
        e = judge_joint(m, at, joint, arm, false, &end);
    }
    *limit = e.limit;
    return e.worst;
}

void pp_judge_joints(perp_certificate *c, const perp_model *m, const pp_poses *at, double share,
                     const perp_limits *limits)
{
    for (int i = 0; i < m->joints; i++) {
        double limit, off = pp_judge_joint(m, at, i, &limit);
        pp_certificate_record(c, limits, PERP_JUDGED_JOINT, off, share * limit);
    }
}

// Where the step ends. What is found is kept for the step that starts there; coordinates of joints with a spring or a rotor
// are for the energy of this one.
static void judge_joints_at_end(perp_certificate *c, const pp_step_evidence *e, double share,
                                const perp_limits *limits)
{
    const perp_model *m = e->model;
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        double limit, off;
        if (pp_joint_couples(j)) {
            off = pp_judge_joint(m, e->end, i, &limit);
        } else {
            pp_own_joint_end own, *end = e->last ? &e->last->joint[i] : &own;
            joint_error error =
                judge_joint(m, e->end, i, e->joints->of[i].arm, pp_own_follows_coordinate(j), end);
            off = error.worst;
            limit = error.limit;
            if (end->has_along) {
                const pp_own_pair *x = &end->along;
                e->joints->end[i] = (pp_own_place){x->value, x->v_pre, x->rate, true};
            }
        }
        pp_certificate_record(c, limits, PERP_JUDGED_JOINT, off, share * limit);
    }
}

// The implicit step closes gaps and joints where it ends: of what turning within a step may leave elsewhere, this share is
// allowed, 1e-8 of the thinner shape and of a joint's arm.                               theory (K14)
static const double CLOSED = 1e-6;

// Judges all values, with the rows and forces that certify/ computed in place of those of the
// problem.
static perp_status judge(perp_certificate *out, perp_energy *ledger, const pp_step_evidence *e,
                         const perp_limits *limits, pp_arena *arena)
{
    pp_scales s;
    perp_status status = pp_scales_run(&s, e, arena);
    if (status < 0) {
        return status;
    }
    status = pp_judge_law(out, e, &s, limits, arena);
    if (status < 0) {
        return status;
    }
    status = pp_judge_reach(out, e, &s, limits, arena);
    if (status < 0) {
        return status;
    }
    status = pp_judge_momentum(out, e, &s, limits, arena);
    if (status < 0) {
        return status;
    }
    const pp_places places = {.start = e->kin->poses.body,
                              .end = e->end,
                              .h = e->kin->h,
                              .gaps = e->gaps_end,
                              .share = pp_own_at_end(e) ? CLOSED : 0.0,
                              .shapes = e->shapes,
                              .last = e->last ? &e->last->shapes : NULL,
                              .starts_at_last = e->starts_at_last};
    status = pp_judge_places(out, e->model, &places, limits, arena);
    if (status < 0) {
        return status;
    }
    judge_joints_at_end(out, e, pp_own_at_end(e) ? CLOSED : 1.0, limits);
    // velocities of couplings that the rows, by which laws were judged, have as tangents
    status = pp_judge_linearised(out, e, &s, limits, arena);
    if (status < 0) {
        return status;
    }
    status = pp_judge_motion(out, e, &s, limits, arena);
    if (status < 0) {
        return status;
    }
    status = pp_judge_energy(out, ledger, e, &s, limits, arena);
    if (status < 0 || !e->groups || e->stepper == PERP_STEPPER_QUASISTATIC) {
        return status;
    }
    pp_gains_step gained;
    if (!pp_gains_open(&gained, e->model, e->groups, arena)) {
        return PERP_ERR_MEMORY;
    }
    pp_gains_of_step(&gained, e);
    *e->gained = (pp_gains_worst){.body = -1};
    return pp_gains_add(&gained, e->gains, e->gained, arena) ? PERP_OK : PERP_ERR_MEMORY;
}

// ── What a step leaves to the next ───────────────────────────────────────────────────────────────

pp_judged_end *pp_judged_end_create(const perp_model *m, const pp_judged_shapes *shapes,
                                    pp_arena *arena)
{
    pp_judged_end *out = PP_ZEROS(arena, pp_judged_end, 1);
    if (!out) {
        return NULL;
    }
    out->body = PP_ARRAY(arena, pp_frame, m->bodies);
    out->turn = PP_ARRAY(arena, double, m->joints);
    out->joint = PP_ARRAY(arena, pp_own_joint_end, m->joints);
    bool enough = out->body && out->turn && out->joint;
    return enough && pp_kept_shapes_open(&out->shapes, m, shapes, arena) ? out : NULL;
}

// Whether all poses have the bits of those that were kept.
static bool starts_there(const pp_judged_end *last, const perp_model *m, const pp_poses *at)
{
    return last && last->valid && at->turn &&
           memcmp(last->body, at->body, (size_t)m->bodies * sizeof *at->body) == 0 &&
           memcmp(last->turn, at->turn, (size_t)m->joints * sizeof *at->turn) == 0;
}

// After the judges, which have left what they found at the end.
static void keep_end(const pp_step_evidence *e)
{
    const perp_model *m = e->model;
    if (e->last && e->end->turn) {
        memcpy(e->last->body, e->end->body, (size_t)m->bodies * sizeof *e->end->body);
        memcpy(e->last->turn, e->end->turn, (size_t)m->joints * sizeof *e->end->turn);
        e->last->valid = true;
    }
}

perp_status pp_certify(perp_certificate *out, perp_energy *ledger, const pp_step_evidence *evidence,
                       const perp_limits *limits, pp_arena *arena)
{
    // The copies differ from the evidence in rows and forces, which are computed here from the
    // model.
    pp_step_evidence own, given = *evidence;
    const pp_step_evidence *e = &given;
    bool same = true;
    *out = (perp_certificate){0};
    given.starts_at_last = starts_there(e->last, e->model, &e->kin->poses);
    perp_status status = pp_own_rows(&own, &same, e, arena);
    if (e->last) {
        e->last->valid = false;
    }
    own.p_ext = pp_own_push(e, arena);
    if (status >= 0 && e->model->nv > 0 && !own.p_ext) {
        status = PERP_ERR_MEMORY;
    }
    if (status >= 0) {
        status = judge(out, ledger, &own, limits, arena);
    }
    if (status >= 0) {
        keep_end(e);
    }
    if (!same) {  // the impulses belong to other equations than those of the scene
        pp_certificate_record(out, limits, PERP_JUDGED_RESIDUAL, HUGE_VAL, 0.0);
    }
    out->passed = pp_certificate_passes(out);
    return status;
}
