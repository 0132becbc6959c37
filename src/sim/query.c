// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Questions about a sim between steps: rays, distances, overlaps, forces, Jacobians, inverse dynamics.
#include "sim/sim.h"

#include <perp/query.h>

#include <math.h>

// ── Rays ─────────────────────────────────────────────────────────────────────────────────────────

perp_ray perp_ray_default(void)
{
    return (perp_ray){
        .direction_W = {1.0, 0.0, 0.0}, .max_distance = PP_INF, .mask = UINT32_MAX, .skip = {-1}};
}

// The ray with a direction of length 1; in the plane without z. False: invalid.
static bool set_ray(const perp_model *m, const perp_ray *ray, pp_ray *out)
{
    perp_vec3 o = ray->origin_W, d = ray->direction_W;
    if (!m->spatial) {
        o.z = d.z = 0.0;
    }
    // by the largest component first: the square of a small one may vanish
    double size = fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z)));
    if (!pp_finite3(o) || !pp_finite3(d) || !(size > 0.0) || !(ray->max_distance >= 0.0)) {
        return false;
    }
    d = (perp_vec3){d.x / size, d.y / size, d.z / size};
    *out = (pp_ray){o, pp_scale(1.0 / pp_length(d), d), ray->max_distance};
    return true;
}

// The answer in the terms of the interface: no shape is {-1}, with everything else zero.
static perp_hit hit_of(const pp_ray *ray, const pp_ray_answer *answer)
{
    if (answer->shape < 0) {
        return (perp_hit){.shape = {-1}};
    }
    return (perp_hit){.shape = {answer->shape},
                      .distance = answer->hit.distance,
                      .point_W = pp_along(ray->origin, answer->hit.distance, ray->direction),
                      .normal_W = pp_add(answer->hit.n, pp_vec(0.0, 0.0, 0.0)),  // no -0
                      .inside = answer->hit.inside};
}

// One ray tries the boxes of all shapes: to build a tree would cost more.
perp_status perp_sim_ray(const perp_sim *sim, const perp_ray *ray, perp_hit *hit)
{
    pp_ray line;
    if (!sim || !ray || !hit || !set_ray(sim->model, ray, &line)) {
        return PERP_ERR_ARGUMENT;
    }
    pp_ray_answer answer =
        pp_gap_ray_all(sim->model, sim->frames, &line, (pp_ray_filter){ray->mask, ray->skip.i});
    *hit = hit_of(&line, &answer);
    return PERP_OK;
}

// All rays are checked first. A tree costs about as much as a few rays.
perp_status perp_sim_rays(const perp_sim *sim, const perp_ray *rays, int count, perp_hit *hits)
{
    pp_ray line;
    if (!sim || count < 0 || (count > 0 && (!rays || !hits))) {
        return PERP_ERR_ARGUMENT;
    }
    for (int k = 0; k < count; k++) {
        if (!set_ray(sim->model, &rays[k], &line)) {
            return PERP_ERR_ARGUMENT;
        }
    }
    // A sim is not changed by a question, so that the tree has an arena of its own.
    pp_arena *arena = pp_arena_create(&sim->env);
    pp_shape_tree tree;
    if (!arena || !pp_shape_tree_build(&tree, sim->model, sim->frames, arena)) {
        pp_arena_destroy(arena);
        return PERP_ERR_MEMORY;
    }
    for (int k = 0; k < count; k++) {
        const perp_ray *ray = &rays[k];
        set_ray(sim->model, ray, &line);
        pp_ray_answer answer =
            pp_shape_tree_ray(&tree, &line, (pp_ray_filter){ray->mask, ray->skip.i});
        hits[k] = hit_of(&line, &answer);
    }
    pp_arena_destroy(arena);
    return PERP_OK;
}

// ── Distances ────────────────────────────────────────────────────────────────────────────────────

// The witness points of the closest point of a pair. That of a half-space or mesh is the one on the other shape.
static perp_distance distance_of(const perp_model *m, const pp_contact *c)
{
    // A shape that cannot meet its own kind, other than a point, is a half-space, half-plane or mesh.
    bool wall_a = !pp_gap_possible(&m->shape[c->a], &m->shape[c->a]) &&
                  m->shape[c->a].kind != PERP_SHAPE_POINT;
    bool wall_b = !pp_gap_possible(&m->shape[c->b], &m->shape[c->b]) &&
                  m->shape[c->b].kind != PERP_SHAPE_POINT;
    double from = 0.5;  // share of the gap between the point and a
    if (wall_a || wall_b) {
        from = wall_a ? 1.0 : 0.0;
    }
    return (perp_distance){.distance = c->gap,
                           .point_A_W = pp_along(c->point, -from * c->gap, c->n),
                           .point_B_W = pp_along(c->point, (1.0 - from) * c->gap, c->n),
                           .normal_W = c->n};
}

// Of the points found, the one with the smallest gap; false: there are none.
static bool closest(const perp_model *m, const pp_frame *frame, int a, int b, double margin,
                    pp_contact *best)
{
    pp_contact point[PP_POINTS_MAX];
    int count = pp_gap_pair(m, frame, a, b, margin, point);
    for (int k = 0; k < count; k++) {
        if (k == 0 || point[k].gap < best->gap) {
            *best = point[k];
        }
    }
    return count > 0;
}

// Where a shape of kind point is.
static perp_vec3 place_of(const perp_model *m, const pp_frame *frame, int shape)
{
    const pp_shape *s = &m->shape[shape];
    perp_vec3 x = m->spatial ? s->X_BS.p : pp_vec(s->p_BS.x, s->p_BS.y, 0.0);
    return pp_point(&frame[s->body], x);
}

// The gap of the narrow phase without a margin, also between shapes that do not collide by the rules of the model.
perp_status perp_sim_distance(const perp_sim *sim, perp_shape a, perp_shape b, perp_distance *out)
{
    if (!sim || !out) {
        return PERP_ERR_ARGUMENT;
    }
    const perp_model *m = sim->model;
    if (a.i < 0 || a.i >= m->shapes || b.i < 0 || b.i >= m->shapes || a.i == b.i) {
        return PERP_ERR_ARGUMENT;
    }
    // two points, which no contact is ever looked for between
    if (m->shape[a.i].kind == PERP_SHAPE_POINT && m->shape[b.i].kind == PERP_SHAPE_POINT) {
        perp_vec3 from = place_of(m, sim->frames, a.i), to = place_of(m, sim->frames, b.i);
        perp_vec3 d = pp_sub(to, from);
        *out = (perp_distance){pp_length(d), from, to, pp_unit(d, pp_vec(1.0, 0.0, 0.0))};
        return PERP_OK;
    }
    if (!pp_gap_possible(&m->shape[a.i], &m->shape[b.i])) {
        return PERP_ERR_ARGUMENT;
    }
    pp_contact best = {0};
    if (!closest(m, sim->frames, a.i, b.i, PP_INF, &best)) {
        *out = (perp_distance){.distance = -PP_INF};  // behind a mesh
        return PERP_OK;
    }
    *out = distance_of(m, &best);
    return isfinite(out->distance) ? PERP_OK : PERP_ERR_NUMERIC;
}

// ── Overlaps ─────────────────────────────────────────────────────────────────────────────────────

// At the origin, against all groups, without a margin.
perp_probe perp_probe_default(void)
{
    return (perp_probe){.X_WB = {.rot = {1.0, 0.0, 0.0, 0.0}}, .mask = UINT32_MAX, .skip = {-1}};
}

// A model of the shape alone: definitions are checked where all others are.
static perp_status model_of(const perp_sim *sim, const perp_shape_def *shape, perp_model **model,
                            perp_error *error)
{
    perp_builder *b = perp_builder_create(&sim->env);
    if (!b) {
        return pp_fail(error, PERP_ERR_MEMORY, "allocation failed");
    }
    perp_body_def body = perp_body_default();
    body.kind = sim->model->spatial ? PERP_BODY_SPATIAL : PERP_BODY_PLANAR;
    body.motion = PERP_MOTION_STATIC;
    perp_builder_add_shape(b, perp_builder_add_body(b, &body), shape);
    perp_status status = perp_model_create(b, model, error);
    perp_builder_destroy(b);
    return status;
}

// Closed boxes: touching counts.
static bool boxes_meet(const pp_box3 *a, const pp_box3 *b)
{
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y &&
           b->low.y <= a->high.y && a->low.z <= b->high.z && b->low.z <= a->high.z;
}

// Half-planes and half-spaces are not bounded.
static bool has_box(const pp_shape *s)
{
    return s->kind != PERP_SHAPE_HALFPLANE && s->kind != PERP_SHAPE_HALFSPACE;
}

// The pose of a probe; false: not finite, or no rotation.
static bool set_frame(const perp_model *m, const perp_pose *X, pp_frame *frame)
{
    double norm = pp_quat_norm(X->rot);
    if (!pp_finite3(X->p) || !(norm > 0.999) || !(norm < 1.001)) {
        return false;
    }
    *frame = (pp_frame){.p = X->p};
    if (m->spatial) {
        pp_frame_set_rotation(frame, pp_quat_unit(X->rot));
    } else {
        frame->p.z = 0.0;
        pp_frame_set_angle(frame, 2.0 * pp_atan2(X->rot.z, X->rot.w));
    }
    return true;
}

// Whether one shape of the sim is within the margin of the probe: as a model of two shapes, each on a body of its own.
static bool is_touched(const perp_sim *sim, const pp_shape *probe, const pp_frame *at, int shape,
                       double margin)
{
    const pp_shape *s = &sim->model->shape[shape];
    const pp_frame *frame = &sim->frames[s->body];
    pp_shape two[2] = {*probe, *s};
    pp_frame frames[2] = {*at, *frame};
    perp_model both = {
        .spatial = sim->model->spatial, .shapes = 2, .shape = two, .length_scale = 1.0};
    pp_contact best;
    two[0].body = 0;
    two[1].body = 1;
    if (has_box(probe) && has_box(s)) {
        pp_box3 a = pp_shape_box(&both, probe, at, margin);
        pp_box3 b = pp_shape_box(&both, s, frame, margin);
        if (!boxes_meet(&a, &b)) {
            return false;
        }
    }
    return closest(&both, frames, 0, 1, margin, &best);
}

// The probe is a shape like those of the model, and is checked as they are; the message of a bad one is the builder's.
perp_status perp_sim_overlap(const perp_sim *sim, const perp_probe *probe, perp_shape *list,
                             int capacity, int *count, perp_error *error)
{
    pp_frame frame;
    perp_model *alone = NULL;
    if (!sim || !probe || !probe->shape || !count || capacity < 0 || (capacity > 0 && !list)) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "perp_sim_overlap: an argument is missing");
    }
    *count = 0;
    if (!set_frame(sim->model, &probe->X_WB, &frame) || !(probe->margin >= 0.0)) {
        return pp_fail(error, PERP_ERR_ARGUMENT,
                       "perp_sim_overlap: the pose needs finite numbers and a unit quaternion, and "
                       "the margin must be >= 0");
    }
    perp_status status = model_of(sim, probe->shape, &alone, error);
    if (status < 0 || !alone) {
        return status;
    }
    // all are counted, also those beyond the capacity of the list
    for (int i = 0; i < sim->model->shapes; i++) {
        const pp_shape *s = &sim->model->shape[i];
        bool asked = probe->mask == UINT32_MAX || (s->group & probe->mask);
        if (!asked || s->body == probe->skip.i ||
            !is_touched(sim, &alone->shape[0], &frame, i, probe->margin)) {
            continue;
        }
        if (*count < capacity) {
            list[*count] = (perp_shape){i};
        }
        ++*count;
    }
    perp_model_destroy(alone);
    return PERP_OK;
}

// ── Forces ───────────────────────────────────────────────────────────────────────────────────────

// 1 / length of the last step [1/s]; 0: there is none, or it has no contacts.
static double per_second(const perp_sim *sim)
{
    return sim->whole > 0.0 ? 1.0 / sim->whole : 0.0;
}

// Mean force over the last step. Where it was divided, impulses are sums over its parts, and so is this.
perp_contact_force perp_sim_contact_force(const perp_sim *sim, int contact)
{
    int count = 0;
    const perp_contact *all = sim ? perp_sim_contacts(sim, &count) : NULL;
    if (!all || contact < 0 || contact >= count) {
        return (perp_contact_force){0};
    }
    const perp_contact *c = &all[contact];
    double s = per_second(sim);
    perp_contact_force out = {.normal = s * c->pn,
                              .friction_W = pp_scale(s, c->pf_W),
                              .moment_W = pp_scale(s, c->moment_W)};
    out.force_W = pp_along(out.friction_W, out.normal, c->normal_W);
    return out;
}

// Where the centre of mass was when the contacts of the last step acted.
static perp_vec3 acting_origin(const perp_sim *sim, int body)
{
    const pp_step *s = &sim->step;
    bool whole = s->solved && !sim->parts.done && sim->def.stepper != PERP_STEPPER_EVENT;
    if (!whole) {
        return sim->frames[body].p;
    }
    return (s->middle.body && s->acted ? s->middle.body : s->kin.poses.body)[body].p;
}

// The force of a contact on one of its bodies, and its torque about the centre of mass. sign: +1 for b, -1 for a.
static void add_contact(const perp_sim *sim, int contact, int body, double sign, perp_wrench *to)
{
    const perp_contact *c = &perp_sim_contacts(sim, NULL)[contact];
    perp_contact_force f = perp_sim_contact_force(sim, contact);
    perp_vec3 arm = pp_sub(c->point_W, acting_origin(sim, body));
    to->f_W = pp_along(to->f_W, sign, f.force_W);
    to->tau_W = pp_along(to->tau_W, sign, pp_add(f.moment_W, pp_cross(arm, f.force_W)));
}

// on: a wrench for every body.
static void add_contacts(const perp_sim *sim, perp_wrench *on)
{
    int count = 0;
    const perp_contact *c = perp_sim_contacts(sim, &count);
    for (int k = 0; k < count; k++) {
        int a = sim->model->shape[c[k].a.i].body, b = sim->model->shape[c[k].b.i].body;
        add_contact(sim, k, a, -1.0, &on[a]);
        add_contact(sim, k, b, 1.0, &on[b]);
    }
}

perp_wrench perp_sim_contact_wrench(const perp_sim *sim, perp_body body)
{
    perp_wrench sum = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    int count = 0;
    const perp_contact *c = perp_sim_contacts(sim, &count);
    for (int k = 0; k < count; k++) {
        if (sim->model->shape[c[k].a.i].body == body.i) {
            add_contact(sim, k, body.i, -1.0, &sum);
        }
        if (sim->model->shape[c[k].b.i].body == body.i) {
            add_contact(sim, k, body.i, 1.0, &sum);
        }
    }
    return sum;
}

// ── Jacobians and inverse dynamics ───────────────────────────────────────────────────────────────

// v = v_0 + omega x r with r from the centre of mass to the point.
perp_status perp_sim_point_jacobian(const perp_sim *sim, perp_body body, perp_vec3 point_B,
                                    double *J, perp_twist *rate)
{
    if (!sim || !J || body.i < 0 || body.i >= sim->model->bodies || !pp_finite3(point_B)) {
        return PERP_ERR_ARGUMENT;
    }
    const perp_model *m = sim->model;
    const pp_body *b = &m->body[body.i];
    const pp_frame *f = &sim->frames[body.i];
    if (!m->spatial) {
        point_B.z = 0.0;
    }
    perp_vec3 r = pp_rotate(f, point_B);
    for (int k = 0; k < 6 * m->nv; k++) {
        J[k] = 0.0;
    }
    for (int k = 0; k < b->nv; k++) {
        // a unit velocity along or about one axis moves the point by e, or by e x r
        double *column = J + (size_t)6 * (size_t)(b->at + k);
        int axis = b->axis[k];
        column[axis] = 1.0;
        if (axis >= 3) {
            perp_vec3 v = pp_cross(pp_vec(axis == 3, axis == 4, axis == 5), r);
            column[0] = v.x;
            column[1] = v.y;
            column[2] = v.z;
        }
    }
    if (rate) {
        bool driven = b->nv == 0;
        *rate = (perp_twist){0};
        rate->v_W = driven ? pp_add(f->v, pp_cross(f->w, r)) : rate->v_W;
        rate->w_W = driven ? f->w : rate->w_W;
    }
    return PERP_OK;
}

// Newton and Euler for one body: what the acceleration takes beyond gravity and contacts.
static void add_inertial(const perp_sim *sim, int i, const double *nu_dot,
                         const perp_wrench *contact, double *f)
{
    const pp_body *b = &sim->model->body[i];
    const pp_frame *at = &sim->frames[i];
    double a[PP_BODY_NV] = {0.0};
    for (int k = 0; k < b->nv; k++) {
        a[b->axis[k]] = nu_dot[b->at + k];
    }
    // gravity counts as an acceleration of the frame
    perp_vec3 g = pp_body_gravity(sim->model, b), lin = {a[0], a[1], a[2]},
              ang = {a[3], a[4], a[5]};
    pp_mat3 I = pp_turn_tensor(&at->R, &b->I_B);
    perp_vec3 push = pp_scale(b->mass, pp_sub(lin, g));
    perp_vec3 turn = pp_add(pp_mul(&I, ang), pp_cross(at->w, pp_mul(&I, at->w)));
    push = pp_sub(push, contact->f_W);
    turn = pp_sub(turn, contact->tau_W);
    const double all[PP_BODY_NV] = {push.x, push.y, push.z, turn.x, turn.y, turn.z};
    for (int k = 0; k < b->nv; k++) {
        f[b->at + k] += all[b->axis[k]];
    }
}

perp_status perp_sim_inverse_dynamics(const perp_sim *sim, const double *nu_dot, double *f)
{
    if (!sim || (sim->model->nv > 0 && (!nu_dot || !f))) {
        return PERP_ERR_ARGUMENT;
    }
    const perp_model *m = sim->model;
    pp_arena *arena = pp_arena_create(&sim->env);
    pp_loads loads = {0};
    perp_wrench *contact = NULL;
    if (arena) {
        loads.p_ext = PP_ZEROS(arena, double, m->nv);
        loads.held = PP_ZEROS(arena, perp_wrench, m->bodies);
        contact = PP_ZEROS(arena, perp_wrench, m->bodies);
    }
    if (!loads.p_ext || !loads.held || !contact) {
        pp_arena_destroy(arena);
        return PERP_ERR_MEMORY;
    }
    // impulses over a second are forces
    pp_poses at = {
        .t = sim->now.t, .body = sim->frames, .turn = sim->now.turn, .drive = sim->now.drive};
    pp_forces_add(&loads, m, &at, 1.0, NULL);
    add_contacts(sim, contact);
    for (int i = 0; i < m->bodies; i++) {
        for (int k = m->body[i].at; k < m->body[i].at + m->body[i].nv; k++) {
            f[k] = -loads.p_ext[k];
        }
        add_inertial(sim, i, nu_dot, &contact[i], f);
    }
    pp_arena_destroy(arena);
    return pp_all_finite((size_t)m->nv, f) ? PERP_OK : PERP_ERR_NUMERIC;
}
