// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A sim in joint coordinates. The state stays that of the bodies, q and nu; a step reads the coordinates of
// the tree off it, solves for their rates, and moves along them. nu is what the step ended with, seen at
// its start: S(q_l) qd. The next step projects it on its own S, which is where the Coriolis forces of joint
// coordinates come from.                                                                theory (J7)
#include "sim/step/stages.h"

#include <math.h>
#include <string.h>

// Name of the first massless body; NULL: none.
static const char *massless_body(const perp_model *m)
{
    for (int i = 0; i < m->bodies; i++) {
        if (m->body[i].massless) {
            return m->body[i].name;
        }
    }
    return NULL;
}

// Unknown rates of the tree and equations of its loops against the velocities of the bodies. A dense system of half the
// size costs an eighth.
static void choose_coordinates(perp_sim *sim, const pp_tree *tree)
{
    const perp_model *m = sim->model;
    pp_row row[PP_JOINT_EQUATIONS];
    pp_poses at = {.t = sim->now.t, .body = sim->frames, .turn = sim->now.turn};
    int size = tree->nv;
    for (int i = 0; i < tree->loops; i++) {
        size += pp_joint_equations(m, &at, tree->loop[i], row);
    }
    const char *massless = massless_body(m);
    bool joint = massless || (tree->nv <= PP_TREE_MOST && 2 * size <= m->nv);
    sim->def.coordinates = joint ? PERP_COORDINATES_JOINT : PERP_COORDINATES_BODY;
    pp_print(sim->why, sizeof sim->why,
             "%d rates of a tree and %d equations of its loops, for %d velocities of bodies%s",
             tree->nv, size - tree->nv, m->nv,
             !joint && tree->nv > PP_TREE_MOST ? "; a large tree is dense" : "");
    if (massless) {
        pp_print(sim->why, sizeof sim->why, "body '%s' has no mass", massless);
    }
}

// The tree of the named joints, or of those that hold most equations; it lives as long as the sim.
perp_status pp_sim_create_tree(perp_sim *sim, perp_error *error)
{
    const perp_sim_def *def = &sim->def;
    bool automatic = def->coordinates == PERP_COORDINATES_AUTO;
    const char *massless = massless_body(sim->model);
    if (massless && def->stepper == PERP_STEPPER_MOREAU_JEAN) {
        return pp_fail(
            error, PERP_ERR_ARGUMENT,
            "sim: body '%s' has no mass, which needs joint coordinates, and moreau-jean has none; "
            "use stewart-trinkle",
            massless);
    }
    if (massless && def->coordinates == PERP_COORDINATES_BODY &&
        def->stepper != PERP_STEPPER_EVENT) {
        return pp_fail(error, PERP_ERR_ARGUMENT,
                       "sim: body '%s' has no mass; set coordinates to joint or auto", massless);
    }
    if (automatic && def->stepper == PERP_STEPPER_MOREAU_JEAN) {
        sim->def.coordinates = PERP_COORDINATES_BODY;
        pp_print(sim->why, sizeof sim->why, "moreau-jean has no joint coordinates");
        return PERP_OK;
    }
    if (def->coordinates == PERP_COORDINATES_BODY && def->stepper != PERP_STEPPER_EVENT) {
        return PERP_OK;
    }
    if (def->tree_count < 0 || (def->tree_count > 0 && !def->tree)) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "sim: tree_count is %d, but tree is NULL",
                       def->tree_count);
    }
    pp_tree *tree = PP_ARRAY(sim->memory, pp_tree, 1);
    int *named = PP_ARRAY(sim->memory, int, def->tree_count);
    if (!tree || !named) {
        return pp_fail(error, PERP_ERR_MEMORY, "allocation failed");
    }
    // handles are checked here: pp_tree_create takes indices
    for (int i = 0; i < def->tree_count; i++) {
        named[i] = def->tree[i].i;
        if (named[i] < 0 || named[i] >= sim->model->joints) {
            return pp_fail(error, PERP_ERR_ARGUMENT, "sim: tree: joint %d does not exist",
                           named[i]);
        }
    }
    perp_status status = pp_tree_create(tree, sim->model, def->tree_count > 0 ? named : NULL,
                                        def->tree_count, sim->memory, error);
    if (status < 0) {
        return status;
    }
    sim->def.tree = NULL;  // the caller's
    if (automatic) {
        choose_coordinates(sim, tree);
    }
    if (def->coordinates == PERP_COORDINATES_BODY && def->stepper != PERP_STEPPER_EVENT) {
        return PERP_OK;
    }
    sim->tree = tree;
    status = pp_sim_project(sim);
    return status < 0 ? pp_fail(error, status, "allocation failed") : status;
}

// Positions of the free bodies into q. A quaternion keeps the sign it had in `old`: q and -q are
// the same rotation, but not the same bits.
static void write_places(const perp_model *m, const pp_frame *body, const double *old, double *q)
{
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *b = &m->body[i];
        const pp_frame *f = &body[i];
        double *to = q + b->at_q;
        const double *was = old + b->at_q;
        if (b->nq == 0) {
            continue;
        }
        to[0] = f->p.x;
        to[1] = f->p.y;
        if (b->kind == PERP_BODY_PLANAR) {
            to[2] = f->angle;
        } else if (pp_body_is_spatial(b)) {
            to[2] = f->p.z;
        }
        // scalar first
        if (b->kind == PERP_BODY_SPATIAL) {
            double turned =
                was[3] * f->rot.w + was[4] * f->rot.x + was[5] * f->rot.y + was[6] * f->rot.z;
            double sign = turned < 0.0 ? -1.0 : 1.0;
            to[3] = sign * f->rot.w;
            to[4] = sign * f->rot.x;
            to[5] = sign * f->rot.y;
            to[6] = sign * f->rot.z;
        }
    }
}

// Rotations count by the size of the body, and velocities by a second of them.
int pp_sim_farthest(const perp_sim *sim, const pp_frame *to)
{
    const perp_model *m = sim->model;
    int farthest = 0;
    double most = 0.0;
    for (int i = 0; i < m->bodies; i++) {
        const pp_frame *a = &sim->frames[i], *b = &to[i];
        if (m->body[i].nv == 0) {
            continue;
        }
        double turn = pp_length(pp_quat_log(pp_quat_mul(pp_quat_conjugate(a->rot), b->rot)));
        double way = pp_length(pp_sub(b->p, a->p)) + turn * m->body[i].reach;
        way += pp_length(pp_sub(b->v, a->v)) + pp_length(pp_sub(b->w, a->w)) * m->body[i].reach;
        if (way > most) {
            most = way;
            farthest = i;
        }
    }
    return farthest;
}

// Coordinates of the tree read off the bodies, and bodies placed by them; what they lost is how far
// a body was off.
perp_status pp_sim_project(perp_sim *sim)
{
    const perp_model *m = sim->model;
    const pp_tree *tree = sim->tree;
    double lost = 0.0, lost_rate = 0.0;
    if (sim->def.stepper == PERP_STEPPER_EVENT) {
        return pp_sim_event_project(sim);
    }
    pp_arena_reset(sim->arena);
    double *q = PP_ARRAY(sim->arena, double, tree->nq),
           *qd = PP_ARRAY(sim->arena, double, tree->nv);
    pp_frame *body = PP_ARRAY(sim->arena, pp_frame, m->bodies);
    if (!q || !qd || !body) {
        return PERP_ERR_MEMORY;
    }
    pp_tree_from_frames(tree, sim->now.t, sim->frames, sim->now.turn, q, qd, &lost, &lost_rate);
    // below rounding of the scene's size the bits stay as they are
    if (!(lost > 1e-13 * fmax(1.0, m->length_scale))) {
        return PERP_OK;
    }
    pp_tree_frames(tree, sim->now.t, q, qd, body);
    int farthest = pp_sim_farthest(sim, body);
    write_places(m, body, sim->now.q, sim->now.q);
    pp_frames(m, &sim->now, sim->frames);
    pp_sim_keep_turns(sim);
    // a start that was corrected is off by what its rounds left, and has a remark
    if (sim->projected) {
        return PERP_OK;
    }
    pp_print(sim->info.remark, sizeof sim->info.remark,
             "bodies were moved by up to %.3g m or rad to close the joints of the tree; body "
             "'%.40s' most",
             lost, m->body[farthest].name);
    sim->projected = true;
    return PERP_OK;
}

// The tree where the step starts, and S, H for (J7).
perp_status pp_sim_tree_at_start(perp_sim *sim)
{
    pp_step *s = &sim->step;
    const pp_tree *tree = sim->tree;
    double *q = PP_ARRAY(sim->arena, double, tree->nq),
           *qd = PP_ARRAY(sim->arena, double, tree->nv);
    if (!q || !qd) {
        return PERP_ERR_MEMORY;
    }
    pp_tree_from_places(tree, s->kin.poses.body, sim->now.turn, q, qd);
    // masses are those of the step: quasistatic ones are light
    return pp_tree_run_step(&s->tree, tree, sim->now.t, q, qd, s->kin.poses.body, s->kin.mass,
                            sim->arena);
}

perp_status pp_sim_coordinates(perp_sim *sim)
{
    perp_status status = pp_sim_tree_at_start(sim);
    return status < 0
               ? status
               : pp_coordinates_create(&sim->step.in, &sim->step.tree, &sim->step.row, sim->arena);
}

// nu' = S dq + nu, and the coordinates where nu leads: dq moves on from there.
perp_status pp_sim_coordinates_at_end(perp_sim *sim, const double *nu)
{
    pp_step *s = &sim->step;
    const pp_tree *tree = sim->tree;
    double *q = PP_ARRAY(sim->arena, double, tree->nq),
           *qd = PP_ARRAY(sim->arena, double, tree->nv);
    if (!q || !qd) {
        return PERP_ERR_MEMORY;
    }
    pp_tree_from_frames(tree, s->end.t, s->end.body, sim->next.turn, q, qd, NULL, NULL);
    perp_status status =
        pp_tree_run_step(&s->tree, tree, s->end.t, q, qd, s->end.body, s->kin.mass, sim->arena);
    if (status < 0) {
        return status;
    }
    status = pp_coordinates_create(&s->in, &s->tree, &s->row, sim->arena);
    if (status >= 0) {
        memcpy(s->in.nu_0, nu, (size_t)sim->model->nv * sizeof *nu);
    }
    return status;
}

// q of the tree after h with rates qd from the answer's nu, and the bodies there.
perp_status pp_sim_move(perp_sim *sim, double h)
{
    pp_step *s = &sim->step;
    const pp_tree *tree = sim->tree;
    // memory of the step's arena: each round of exact positions takes some, and all is gone with the step
    double *qd = PP_ARRAY(sim->arena, double, tree->nv),
           *q = PP_ARRAY(sim->arena, double, tree->nq);
    pp_frame *body = PP_ARRAY(sim->arena, pp_frame, sim->model->bodies);
    if (!qd || !q || !body) {
        return PERP_ERR_MEMORY;
    }
    // rates of the answer, then a move along the coordinates: joints of the tree hold to rounding whatever h is
    pp_coordinates_rates(&s->in, s->answer.nu, qd);
    pp_tree_move(tree, s->tree.q, qd, h, q);
    pp_tree_places(tree, sim->next.t, q, body);
    s->end_q = q;
    write_places(sim->model, body, sim->now.q, sim->next.q);
    memcpy(sim->next.nu, s->answer.nu, (size_t)sim->model->nv * sizeof *sim->next.nu);
    return PERP_OK;
}

// The present state, after its bodies were moved one by one (close.c): rounding that the tree does not have is taken away.
perp_status pp_sim_project_to_tree(perp_sim *sim)
{
    const pp_tree *tree = sim->tree;
    double *q = PP_ARRAY(sim->arena, double, tree->nq),
           *qd = PP_ARRAY(sim->arena, double, tree->nv);
    pp_frame *body = PP_ARRAY(sim->arena, pp_frame, sim->model->bodies);
    if (!q || !qd || !body) {
        return PERP_ERR_MEMORY;
    }
    pp_tree_from_frames(tree, sim->now.t, sim->frames, sim->now.turn, q, qd, NULL, NULL);
    pp_tree_frames(tree, sim->now.t, q, qd, body);
    write_places(sim->model, body, sim->now.q, sim->now.q);
    pp_frames(sim->model, &sim->now, sim->frames);
    return PERP_OK;
}

void pp_sim_chord(const pp_body *b, const double *from, const double *to, double h, double *nu)
{
    int moved = b->kind == PERP_BODY_SPATIAL ? 3 : b->nv;
    for (int k = 0; k < moved; k++) {
        nu[k] = (to[k] - from[k]) / h;
    }
    if (b->kind == PERP_BODY_SPATIAL) {
        perp_quat old = {from[3], from[4], from[5], from[6]}, now = {to[3], to[4], to[5], to[6]};
        perp_vec3 turn = pp_quat_log(pp_quat_mul(now, pp_quat_conjugate(old)));
        nu[3] = turn.x / h;
        nu[4] = turn.y / h;
        nu[5] = turn.z / h;
    }
}

// nu_0 takes up the difference between the chord and the answer, body by body, (J8).
double pp_sim_curve_path(perp_sim *sim, double h, double *way)
{
    const perp_model *m = sim->model;
    pp_coordinates *in = &sim->step.in;
    const double *nu = sim->step.answer.nu;
    double change = 0.0;
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *b = &m->body[i];
        if (b->nv == 0) {
            continue;
        }
        // the mean velocity of the way that the body took along the coordinates
        pp_sim_chord(b, sim->now.q + b->at_q, sim->next.q + b->at_q, h, way + b->at);
        for (int k = 0; k < b->nv; k++) {
            double off = way[b->at + k] - nu[b->at + k];
            in->nu_0[b->at + k] += off;
            change = fmax(change, fabs(off));
        }
    }
    return change;
}

// Rows of joints that the tree implies hold by construction: their biases are set such that they do for nu.
void pp_sim_refresh_tree_rows(perp_sim *sim)
{
    pp_step *s = &sim->step;
    for (int i = 0; i < s->row.nb; i++) {
        if (s->in.implied[i]) {
            s->row.b[i].bias = -pp_row_rate(sim->model, &s->row.b[i], s->answer.nu);
        }
    }
}
