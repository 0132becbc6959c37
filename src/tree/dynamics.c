// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Inverse dynamics by the recursive Newton-Euler algorithm, forces, energy and momentum.
//                                                                                      theory (J4)
//
//   f_i = m (a_i - g),  n_i = I alpha_i + w x I w   at each link, summed towards the roots: tau = S^T f
//
// R. Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 5. Accelerations are counted from
// sigma, those at qdd = 0, so that inverse dynamics is the bias plus a term linear in qdd.
#include "tree/hinge.h"

#include "math/math.h"

// About the centre of mass, in world axes: no term of the position of the link.
perp_wrench pp_tree_inertial_wrench(const pp_tree_pass *pass, int link)
{
    const pp_tree *tree = pass->tree;
    int body = tree->link[link].body;
    const pp_inertia *mass = &pass->mass[body];
    const perp_twist *sigma = &pass->sigma[body];
    perp_vec3 w = pass->body[body].w;
    perp_vec3 turn = pp_add(pp_mul(&mass->I, sigma->w_W), pp_cross(w, pp_mul(&mass->I, w)));
    perp_vec3 g = pp_body_gravity(tree->model, &tree->model->body[body]);
    return (perp_wrench){pp_scale(mass->m, pp_sub(sigma->v_W, g)), turn};
}

// The loads of all links at qdd = 0, summed towards the roots.
void pp_tree_bias(const pp_tree_pass *pass, double *C)
{
    for (int i = 0; i < pass->tree->links; i++) {
        pass->load[i] = pp_tree_inertial_wrench(pass, i);
    }
    pp_tree_gather_loads(pass, C);
}

perp_status pp_tree_inverse(const pp_tree_pass *pass, const double *qdd, double *tau,
                            pp_arena *arena)
{
    const pp_tree *tree = pass->tree;
    pp_mark mark = pp_arena_mark(arena);
    perp_twist *A = PP_ARRAY(arena, perp_twist, tree->links);
    if (!A) {
        return PERP_ERR_MEMORY;
    }
    // Accelerations from the roots to the leaves, counted from sigma, whose wrench
    // pp_tree_inertial_wrench has already. In world axes, at the centre of mass of each link.
    for (int i = 0; i < tree->links; i++) {
        const pp_link *l = &tree->link[i];
        const pp_inertia *mass = &pass->mass[l->body];
        A[i] = (perp_twist){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
        if (l->parent >= 0) {
            perp_vec3 r = pp_sub(pass->body[l->body].p, pass->body[l->carrier].p);
            A[i] = pp_twist_at(A[l->parent], r);
        }
        for (int k = l->at_v; k < l->at_v + l->nv; k++) {
            A[i] = pp_twist_add(A[i], qdd[k], &pass->column[k]);
        }
        perp_wrench load = pp_tree_inertial_wrench(pass, i);
        load.f_W = pp_along(load.f_W, mass->m, A[i].v_W);
        load.tau_W = pp_add(load.tau_W, pp_mul(&mass->I, A[i].w_W));
        pass->load[i] = load;
    }
    pp_tree_gather_loads(pass, tau);
    int rotors = pass->rotors ? tree->nv : 0;
    for (int k = 0; k < rotors; k++) {
        tau[k] += tree->rotor[k] * qdd[k];
    }
    pp_arena_release(arena, mark);
    return PERP_OK;
}

// ── Forces ───────────────────────────────────────────────────────────────────────────────────────

// Springs and dampers of joint coordinates: -k (x - rest) - d x_dot [N or N m].
static void joint_springs(const perp_model *m, const pp_poses *at, double *f)
{
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        if (j->stiffness > 0.0 || j->damping > 0.0) {
            pp_row row;
            pp_joint_coordinate(m, at, i, &row);
            double pull = j->stiffness * (row.value - j->rest) + j->damping * row.v_pre;
            pp_row_add(m, &row, -pull, NULL, f);
        }
    }
}

double pp_actuator_effort(const perp_model *m, const pp_poses *at, int actuator, const pp_row *row)
{
    const pp_actuator *a = &m->actuator[actuator];
    double c = pp_actuator_control(m, at->drive, actuator, at->t);
    double l = a->gear * row->value, rate = a->gear * row->v_pre;
    double f = a->gain * c + a->bias[0] + a->bias[1] * l + a->bias[2] * rate;
    return a->gear * pp_clamp(f, a->lower, a->upper);
}

static void joint_actuators(const perp_model *m, const pp_poses *at, double *f)
{
    for (int i = 0; i < m->actuators; i++) {
        pp_row row;
        pp_joint_coordinate(m, at, m->actuator[i].joint, &row);
        pp_row_add(m, &row, pp_actuator_effort(m, at, i, &row), NULL, f);
    }
}

// tau = S^T f. The functions of kinematics/ give impulses over h; with h = 1 these are forces.
perp_status pp_tree_forces(const pp_tree_pass *pass, const double *turn, const pp_drive *drive,
                           const perp_wrench *applied, double *tau, pp_arena *arena)
{
    const perp_model *m = pass->tree->model;
    pp_mark mark = pp_arena_mark(arena);
    pp_poses at = {.t = pass->t, .body = pass->body, .turn = turn, .drive = drive};
    pp_loads loads = {.p_ext = PP_ZEROS(arena, double, m->nv),
                      .held = PP_ZEROS(arena, perp_wrench, m->bodies)};
    bool room = loads.p_ext && loads.held;
    if (room) {
        pp_forces_add(&loads, m, &at, 1.0, applied);
        joint_springs(m, &at, loads.p_ext);
        joint_actuators(m, &at, loads.p_ext);
        pp_tree_gather(pass, loads.p_ext, tau);
    }
    pp_arena_release(arena, mark);
    if (!room) {
        return PERP_ERR_MEMORY;
    }
    return pp_all_finite((size_t)pass->tree->nv, tau) ? PERP_OK : PERP_ERR_NUMERIC;
}

// ── Energy and momentum ──────────────────────────────────────────────────────────────────────────

// About the centre of mass of each link, where the linear and angular parts separate.
double pp_tree_kinetic(const pp_tree_pass *pass)
{
    double sum = 0.0;
    for (int i = 0; i < pass->tree->links; i++) {
        int body = pass->tree->link[i].body;
        const pp_frame *f = &pass->body[body];
        const pp_inertia *mass = &pass->mass[body];
        sum += 0.5 * mass->m * pp_dot3(f->v, f->v) + 0.5 * pp_dot3(f->w, pp_mul(&mass->I, f->w));
    }
    int rotors = pass->rotors ? pass->tree->nv : 0;
    for (int k = 0; k < rotors; k++) {
        sum += 0.5 * pass->tree->rotor[k] * pass->qd[k] * pass->qd[k];
    }
    return sum;
}

// Turns are needed for springs of joints that have turned more than once.
double pp_tree_potential(const pp_tree_pass *pass, const double *turn)
{
    const perp_model *m = pass->tree->model;
    pp_poses at = {.t = pass->t, .body = pass->body, .turn = turn};
    return pp_potential(m, pass->body) + pp_joint_energy(m, &at);
}

// Linear momentum [N s] and angular momentum about the origin of W [N m s].
perp_twist pp_tree_momentum(const pp_tree_pass *pass)
{
    perp_twist sum = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    for (int i = 0; i < pass->tree->links; i++) {
        int body = pass->tree->link[i].body;
        const pp_frame *f = &pass->body[body];
        const pp_inertia *mass = &pass->mass[body];
        perp_vec3 p = pp_scale(mass->m, f->v), L = pp_mul(&mass->I, f->w);
        sum.v_W = pp_add(sum.v_W, p);
        sum.w_W = pp_add(sum.w_W, pp_add(L, pp_cross(f->p, p)));
    }
    return sum;
}
