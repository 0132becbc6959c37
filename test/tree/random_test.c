// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Trees of random joints: columns, sigma and drifts by finite differences, H and the recursive algorithms
// against each other.
#include "support/cmocka.h"
#include "support/random_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 120 };

static perp_vec3 turned(const pp_frame *before, const pp_frame *after)
{
    pp_mat3 Rt = pp_transpose3(&before->R), R = pp_mat_mul(&after->R, &Rt);
    return pp_quat_log(pp_matrix_quat(&R));
}

static bool near3(perp_vec3 a, perp_vec3 b, double tolerance)
{
    return pp_length(pp_sub(a, b)) <= tolerance * (1.0 + pp_length(a));
}

static double random_vector(rng *r, int n, double *x)
{
    double most = 1.0;
    for (int k = 0; k < n; k++) {
        x[k] = rng_uniform(r, -3.0, 3.0);
        most = fmax(most, fabs(x[k]));
    }
    return most;
}

// ── Kinematics ───────────────────────────────────────────────────────────────────────────────────

// Velocities and accelerations of all bodies along q' = G qd at constant qd.
static void check_motion(random_tree *m, rng *r, uint64_t seed)
{
    (void)r;
    const double h = 1e-5;
    int bodies = m->model->bodies;
    double *q = PP_ARRAY(m->arena, double, 2 * m->tree.nq), *p = q + m->tree.nq;
    pp_frame *a = PP_ARRAY(m->arena, pp_frame, bodies), *b = PP_ARRAY(m->arena, pp_frame, bodies);
    pp_tree_pass pass = random_tree_pass(m, m->q, m->qd, m->t);
    pp_tree_move(&m->tree, m->q, m->qd, -h, q);
    pp_tree_move(&m->tree, m->q, m->qd, h, p);
    pp_tree_frames(&m->tree, m->t - h, q, m->qd, a);
    pp_tree_frames(&m->tree, m->t + h, p, m->qd, b);
    double s = 0.5 / h;
    for (int i = 0; i < bodies; i++) {
        const pp_frame *f = &pass.body[i];
        CHECK(near3(f->v, pp_scale(s, pp_sub(b[i].p, a[i].p)), 1e-8), seed);
        if (m->model->spatial) {
            CHECK(near3(f->w, pp_scale(s, turned(&a[i], &b[i])), 1e-8), seed);
        } else {
            CHECK(fabs(f->w.z - s * (b[i].angle - a[i].angle)) < 1e-8, seed);
        }
        CHECK(near3(pass.sigma[i].v_W, pp_scale(s, pp_sub(b[i].v, a[i].v)), 1e-7), seed);
        CHECK(near3(pass.sigma[i].w_W, pp_scale(s, pp_sub(b[i].w, a[i].w)), 1e-7), seed);
    }
    // q_dot is what the move does
    double *rate = PP_ARRAY(m->arena, double, m->tree.nq);
    pp_tree_q_dot(&m->tree, m->q, m->qd, rate);
    for (int k = 0; k < m->tree.nq; k++) {
        CHECK(fabs(rate[k] - s * (p[k] - q[k])) < 1e-8, seed);
    }
}

static void motion_is_differentiated_exactly(void **state)
{
    (void)state;
    random_tree_each(check_motion, &(random_tree_options){.driven = true}, 60);
    random_tree_each(check_motion, &(random_tree_options){.afloat = true}, 40);
    random_tree_each(check_motion, &(random_tree_options){.particles = true, .driven = true}, 20);
}

// S column by column, and S^T by power.
static void check_velocities(random_tree *m, rng *r, uint64_t seed)
{
    int nv = m->tree.nv, n = m->model->nv;
    double e[MOST] = {0.0}, nu[MOST], f[MOST], tau[MOST], all[MOST], none[MOST];
    pp_tree_pass pass = random_tree_pass(m, m->q, m->qd, m->t);
    random_vector(r, n, f);
    pp_tree_gather(&pass, f, tau);
    for (int k = 0; k < nv; k++) {
        double power = 0.0;
        e[k] = 1.0;
        pp_tree_velocities(&pass, e, true, nu);
        e[k] = 0.0;
        for (int i = 0; i < n; i++) {
            power += nu[i] * f[i];
        }
        CHECK(fabs(power - tau[k]) < 1e-11, seed);
    }
    pp_tree_velocities(&pass, m->qd, false, all);
    pp_tree_velocities(&pass, e, false, none);
    pp_tree_velocities(&pass, m->qd, true, nu);
    for (int i = 0; i < m->model->bodies; i++) {
        const pp_body *body = &m->model->body[i];
        const pp_frame *frame = &pass.body[i];
        const double v[6] = {frame->v.x, frame->v.y, frame->v.z,
                             frame->w.x, frame->w.y, frame->w.z};
        for (int k = 0; k < body->nv; k++) {
            int at = body->at + k;
            CHECK(fabs(all[at] - v[body->axis[k]]) < 1e-11, seed);
            CHECK(fabs(all[at] - none[at] - nu[at]) < 1e-11, seed);
        }
    }
}

static void velocities_and_forces_are_dual(void **state)
{
    (void)state;
    random_tree_each(check_velocities, &(random_tree_options){.driven = true}, 40);
    random_tree_each(check_velocities, &(random_tree_options){.particles = true, .driven = true},
                     20);
}

// Every coordinate and velocity has a name of its own, of the joint or body it belongs to.
static void check_names(random_tree *m, rng *r, uint64_t seed)
{
    (void)r;
    char name[2][100], last[2][100] = {"", ""};
    for (int i = 0; i < m->tree.links; i++) {
        const pp_link *l = &m->tree.link[i];
        const char *owner =
            l->joint >= 0 ? m->model->joint[l->joint].name : m->model->body[l->body].name;
        size_t length = strlen(owner);
        for (int k = 0; k < l->nq; k++) {
            pp_tree_name_q(&m->tree, l->at_q + k, name[0], sizeof name[0]);
            CHECK(strncmp(name[0], owner, length) == 0 && name[0][length] == '.', seed);
            CHECK(strcmp(name[0], last[0]) != 0, seed);
            memcpy(last[0], name[0], sizeof last[0]);
        }
        for (int k = 0; k < l->nv; k++) {
            pp_tree_name_v(&m->tree, l->at_v + k, name[1], sizeof name[1]);
            CHECK(strncmp(name[1], owner, length) == 0 && name[1][length] == '.', seed);
            CHECK(strcmp(name[1], last[1]) != 0, seed);
            memcpy(last[1], name[1], sizeof last[1]);
        }
    }
}

// Frames to coordinates and back.
static void check_round_trip(random_tree *m, rng *r, uint64_t seed)
{
    (void)r;
    int bodies = m->model->bodies;
    double q[MOST], qd[MOST], turn[MOST], lost, lost_rate;
    pp_frame *again = PP_ARRAY(m->arena, pp_frame, bodies);
    pp_tree_pass pass = random_tree_pass(m, m->q, m->qd, m->t);
    for (int i = 0; i < m->model->joints; i++) {
        turn[i] = (double)NAN;
    }
    for (int i = 0; i < m->tree.links; i++) {
        const pp_link *l = &m->tree.link[i];
        if (l->joint >= 0 && l->kind != PP_LINK_CYLINDRICAL && l->nv > 0) {
            turn[l->joint] = m->q[l->at_q + (l->kind == PP_LINK_PLANE ? 2 : 0)];
        }
    }
    pp_tree_from_frames(&m->tree, m->t, pass.body, turn, q, qd, &lost, &lost_rate);
    CHECK(lost < 1e-12 && lost_rate < 1e-12, seed);
    pp_tree_frames(&m->tree, m->t, q, qd, again);
    for (int i = 0; i < bodies; i++) {
        CHECK(near3(pass.body[i].p, again[i].p, 1e-12), seed);
        CHECK(near3(pass.body[i].v, again[i].v, 1e-11), seed);
        CHECK(near3(pass.body[i].w, again[i].w, 1e-11), seed);
        for (int k = 0; k < 9; k++) {
            CHECK(fabs(pass.body[i].R.m[k] - again[i].R.m[k]) < 1e-12, seed);
        }
    }
    for (int i = 0; i < m->tree.links; i++) {
        const pp_link *l = &m->tree.link[i];
        bool turns = l->nq > l->nv || l->kind == PP_LINK_UNIVERSAL;
        for (int k = 0; k < l->nv; k++) {
            CHECK(fabs(qd[l->at_v + k] - m->qd[l->at_v + k]) < 1e-11, seed);
            CHECK(turns || fabs(q[l->at_q + k] - m->q[l->at_q + k]) < 1e-11, seed);
        }
        // the coordinate is the joint's own
        if (l->joint >= 0 && pp_joint_has_coordinate(&m->model->joint[l->joint])) {
            pp_poses kin = {.t = m->t, .body = pass.body, .turn = turn};
            pp_row row;
            pp_joint_coordinate(m->model, &kin, l->joint, &row);
            int at = l->kind == PP_LINK_PLANE ? 2 : 0;
            CHECK(fabs(row.value - q[l->at_q + at]) < 1e-11, seed);
            CHECK(fabs(row.v_pre - qd[l->at_v + at]) < 1e-11, seed);
        }
        if (l->joint >= 0) {
            pp_poses kin = {.t = m->t, .body = pass.body, .turn = turn};
            pp_joint joint = m->model->joint[l->joint];
            CHECK(joint.target || pp_joint_error(m->model, &kin, l->joint) < 1e-11, seed);
        }
    }
}

static void frames_give_coordinates_back(void **state)
{
    (void)state;
    random_tree_each(check_names, &(random_tree_options){.driven = true}, 60);
    random_tree_each(check_round_trip, &(random_tree_options){.driven = true}, 60);
    random_tree_each(check_round_trip, &(random_tree_options){.afloat = true}, 40);
    random_tree_each(check_round_trip, &(random_tree_options){.particles = true}, 20);
}

// ── Dynamics ─────────────────────────────────────────────────────────────────────────────────────

static void check_mass(random_tree *m, rng *r, uint64_t seed)
{
    (void)r;
    int nv = m->tree.nv, n = m->model->nv;
    double *H = PP_ARRAY(m->arena, double, nv *nv), *S = PP_ARRAY(m->arena, double, n *nv);
    double e[MOST] = {0.0}, p[MOST], x[MOST], y[MOST];
    pp_tree_pass pass = random_tree_pass(m, m->q, NULL, m->t);
    pp_tree_mass(&pass, H);
    for (int k = 0; k < nv; k++) {
        e[k] = 1.0;
        pp_tree_velocities(&pass, e, true, S + k * n);
        e[k] = 0.0;
    }
    for (int k = 0; k < nv; k++) {
        pp_masses_mul(m->model, pass.mass, S + k * n, p);
        for (int j = 0; j < nv; j++) {
            double sum = 0.0;
            for (int i = 0; i < n; i++) {
                sum += S[i + j * n] * p[i];
            }
            CHECK(fabs(sum - H[j + k * nv]) < 1e-11 * (1.0 + fabs(sum)), seed);
            CHECK(H[j + k * nv] == H[k + j * nv], seed);
        }
    }
    // its factors solve
    random_vector(r, nv, x);
    for (int k = 0; k < nv; k++) {
        y[k] = 0.0;
        for (int j = 0; j < nv; j++) {
            y[k] += H[k + j * nv] * x[j];
        }
    }
    CHECK(pp_tree_factor(&m->tree, H), seed);
    pp_tree_solve(&m->tree, H, y);
    for (int k = 0; k < nv; k++) {
        CHECK(fabs(x[k] - y[k]) < 1e-9, seed);
    }
}

static void mass_is_that_of_the_bodies(void **state)
{
    (void)state;
    random_tree_each(check_mass, &(random_tree_options){.driven = true}, 60);
    random_tree_each(check_mass, &(random_tree_options){.afloat = true}, 40);
    random_tree_each(check_mass, &(random_tree_options){.particles = true}, 20);
}

static void check_dynamics(random_tree *m, rng *r, uint64_t seed)
{
    int nv = m->tree.nv;
    double *H = PP_ARRAY(m->arena, double, nv *nv);
    double tau[MOST], C[MOST], x[MOST], qdd[MOST], back[MOST];
    pp_tree_pass pass = random_tree_pass(m, m->q, m->qd, m->t);
    random_vector(r, nv, tau);
    pp_tree_mass(&pass, H);
    pp_tree_bias(&pass, C);
    for (int k = 0; k < nv; k++) {
        x[k] = tau[k] - C[k];
    }
    double without[MOST];  // H
    pp_articulation *articulation;
    memcpy(without, x, (size_t)nv * sizeof *x);
    CHECK(pp_tree_factor(&m->tree, H), seed);
    pp_tree_solve(&m->tree, H, x);
    assert_int_equal(pp_tree_articulate(&pass, NULL, m->arena, &articulation), PERP_OK);
    memcpy(qdd, tau, (size_t)nv * sizeof *tau);
    pp_tree_articulated(articulation, qdd);  // of any other before it nothing is left
    pp_tree_articulated(articulation, without);
    assert_int_equal(pp_tree_forward(&pass, tau, qdd, m->arena), PERP_OK);
    assert_int_equal(pp_tree_inverse(&pass, qdd, back, m->arena), PERP_OK);
    double most = 1.0, load = 1.0;
    for (int k = 0; k < nv; k++) {
        most = fmax(most, fabs(x[k]));
        load = fmax(load, fabs(C[k]));
    }
    for (int k = 0; k < nv; k++) {
        CHECK(fabs(x[k] - qdd[k]) < 1e-11 * most, seed);
        CHECK(fabs(x[k] - without[k]) < 1e-11 * most, seed);
        CHECK(fabs(back[k] - tau[k]) < 1e-12 * (load + most), seed);
    }
}

static void forward_and_inverse_agree(void **state)
{
    (void)state;
    random_tree_each(check_dynamics, &(random_tree_options){.driven = true}, 100);
    random_tree_each(check_dynamics, &(random_tree_options){.afloat = true}, 60);
    random_tree_each(check_dynamics, &(random_tree_options){.particles = true, .driven = true}, 20);
}

// dE/dt = tau . qd + power of what drives: without drives, and springs in the energy.
static void check_energy(random_tree *m, rng *r, uint64_t seed)
{
    int nv = m->tree.nv;
    const double h = 1e-4;
    double tau[MOST], own[MOST], qdd[MOST], q[MOST], qd[MOST], E[2], power = 0.0, dissipated = 0.0;
    pp_tree_pass pass = random_tree_pass(m, m->q, m->qd, m->t);
    random_vector(r, nv, tau);
    assert_int_equal(pp_tree_forces(&pass, NULL, NULL, NULL, own, m->arena), PERP_OK);
    for (int k = 0; k < nv; k++) {
        power += tau[k] * m->qd[k];
        own[k] += tau[k];
    }
    for (int i = 0; i < m->model->joints; i++) {
        pp_poses kin = {.t = m->t, .body = pass.body};
        pp_row row;
        pp_joint_coordinate(m->model, &kin, i, &row);
        dissipated += m->model->joint[i].damping * row.v_pre * row.v_pre;
    }
    assert_int_equal(pp_tree_forward(&pass, own, qdd, m->arena), PERP_OK);
    for (int side = 0; side < 2; side++) {
        double s = side == 0 ? -h : h;
        double mid[MOST];
        for (int k = 0; k < nv; k++) {
            mid[k] = m->qd[k] + 0.5 * s * qdd[k];
            qd[k] = m->qd[k] + s * qdd[k];
        }
        pp_tree_move(&m->tree, m->q, mid, s, q);
        pp_tree_pass at = random_tree_pass(m, q, qd, m->t);
        E[side] = pp_tree_kinetic(&at) + pp_tree_potential(&at, NULL);
    }
    double rate = (E[1] - E[0]) / (2.0 * h), size = fabs(power) + dissipated + 1.0;
    for (int k = 0; k < nv; k++) {
        size += 1e-2 * qdd[k] * qdd[k] + fabs(own[k] * m->qd[k]);
    }
    CHECK(fabs(rate - power + dissipated) < 1e-5 * size, seed);
}

static void energy_changes_by_power(void **state)
{
    (void)state;
    random_tree_each(check_energy, &(random_tree_options){.springs = false}, 40);
    random_tree_each(check_energy, &(random_tree_options){.springs = true}, 40);
    random_tree_each(check_energy, &(random_tree_options){.springs = true, .afloat = true}, 40);
}

// Nothing from outside: momentum stays, whatever acts inside.
static void check_momentum(random_tree *m, rng *r, uint64_t seed)
{
    int nv = m->tree.nv, free = m->tree.link[0].nv, n = m->model->nv;
    double tau[MOST], qdd[MOST], a[MOST];
    pp_tree_pass pass = random_tree_pass(m, m->q, m->qd, m->t);
    random_vector(r, nv, tau);
    memset(tau, 0, (size_t)free * sizeof *tau);
    assert_int_equal(pp_tree_forward(&pass, tau, qdd, m->arena), PERP_OK);
    pp_tree_velocities(&pass, qdd, true, a);
    perp_vec3 f = {0.0, 0.0, 0.0}, n0 = f;
    double size = 1.0;
    for (int i = 0; i < m->model->bodies; i++) {
        const pp_body *body = &m->model->body[i];
        double all[6] = {0.0};
        for (int k = 0; k < body->nv; k++) {
            all[body->axis[k]] = a[body->at + k];
        }
        if (body->nv == 0) {
            continue;
        }
        perp_vec3 acc = pp_add(pp_vec(all[0], all[1], all[2]), pass.sigma[i].v_W);
        perp_vec3 alpha = pp_add(pp_vec(all[3], all[4], all[5]), pass.sigma[i].w_W);
        perp_vec3 w = pass.body[i].w, p = pp_scale(pass.mass[i].m, acc);
        perp_vec3 L =
            pp_add(pp_mul(&pass.mass[i].I, alpha), pp_cross(w, pp_mul(&pass.mass[i].I, w)));
        f = pp_add(f, p);
        n0 = pp_add(n0, pp_add(L, pp_cross(pass.body[i].p, p)));
        size += pp_length(p) * (1.0 + pp_length(pass.body[i].p)) + pp_length(L);
    }
    (void)n;
    CHECK(pp_length(f) < 1e-11 * size && pp_length(n0) < 1e-11 * size, seed);
    // and momentum itself is that of H: the first velocities push everything
    perp_twist sum = pp_tree_momentum(&pass);
    double *H = PP_ARRAY(m->arena, double, nv *nv), p[3] = {0.0};
    pp_tree_mass(&pass, H);
    for (int k = 0; k < nv; k++) {
        for (int i = 0; i < 2; i++) {
            p[i] += H[i + k * nv] * m->qd[k];
        }
    }
    CHECK(fabs(p[0] - sum.v_W.x) < 1e-10 && fabs(p[1] - sum.v_W.y) < 1e-10, seed);
}

static void momentum_stays_where_nothing_holds(void **state)
{
    (void)state;
    random_tree_each(check_momentum, &(random_tree_options){.afloat = true, .weightless = true},
                     60);
}

// ── Rows ─────────────────────────────────────────────────────────────────────────────────────────

// Rates of points that coincide, in space: a vector along axes that turn with a and are those of the world in each
// instant. Differences have its derivative along axes that do not turn, which w_a x rate exceeds.
static double turned_by_a(const random_tree *m, const perp_vec3 *w, int joint, int c,
                          const pp_row *row)
{
    const pp_joint *j = &m->model->joint[joint];
    bool point = j->kind == PERP_JOINT_SPHERICAL || j->kind == PERP_JOINT_REVOLUTE ||
                 j->kind == PERP_JOINT_UNIVERSAL || j->kind == PERP_JOINT_WELD;
    if (!m->model->spatial || !point || c > 2) {
        return 0.0;
    }
    perp_vec3 by = pp_cross(*w, pp_vec(row[0].v_pre, row[1].v_pre, row[2].v_pre));
    const double along[3] = {by.x, by.y, by.z};
    return along[c];
}

// Rates of rows along the motion: their values in joint coordinates, and their derivatives.
static void check_rows(random_tree *m, rng *r, uint64_t seed)
{
    (void)r;
    const double h = 1e-6;
    int bodies = m->model->bodies, nv = m->tree.nv;
    double *q = PP_ARRAY(m->arena, double, m->tree.nq), J[MOST], drift[6];
    pp_frame *f[2] = {PP_ARRAY(m->arena, pp_frame, bodies), PP_ARRAY(m->arena, pp_frame, bodies)};
    pp_tree_pass pass = random_tree_pass(m, m->q, m->qd, m->t);
    for (int side = 0; side < 2; side++) {
        double s = side == 0 ? -h : h;
        pp_tree_move(&m->tree, m->q, m->qd, s, q);
        pp_tree_frames(&m->tree, m->t + s, q, m->qd, f[side]);
    }
    pp_poses here = {.t = m->t, .body = pass.body}, a = {.body = f[0]}, b = {.body = f[1]};
    for (int i = 0; i < m->model->joints; i++) {
        pp_row row[6], before[6], after[6];
        int count = pp_joint_equations(m->model, &here, i, row);
        pp_joint_equations(m->model, &a, i, before);
        pp_joint_equations(m->model, &b, i, after);
        CHECK(pp_joint_drift(&pass, i, drift) == count, seed);
        for (int c = 0; c < count; c++) {
            double rate = pp_tree_row(&pass, &row[c], J);
            for (int k = 0; k < nv; k++) {
                rate += J[k] * m->qd[k];
            }
            CHECK(fabs(rate - row[c].v_pre) < 1e-11, seed);
            double change = (after[c].v_pre - before[c].v_pre) / (2.0 * h) -
                            turned_by_a(m, &pass.body[m->model->joint[i].a].w, i, c, row);
            CHECK(fabs(drift[c] - change) < 2e-6 * (1.0 + fabs(change)), seed);
        }
        if (pp_joint_has_coordinate(&m->model->joint[i])) {
            pp_joint_coordinate(m->model, &a, i, &before[0]);
            pp_joint_coordinate(m->model, &b, i, &after[0]);
            double change = (after[0].v_pre - before[0].v_pre) / (2.0 * h);
            double exact = pp_joint_coordinate_drift(&pass, i);
            CHECK(fabs(exact - change) < 2e-6 * (1.0 + fabs(change)), seed);
        }
    }
}

static void rows_are_differentiated_exactly(void **state)
{
    (void)state;
    random_tree_each(check_rows, &(random_tree_options){.driven = true, .loops = true}, 60);
    random_tree_each(check_rows, &(random_tree_options){.afloat = true, .loops = true}, 40);
    random_tree_each(check_rows, &(random_tree_options){.particles = true, .loops = true}, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(motion_is_differentiated_exactly),
        cmocka_unit_test(velocities_and_forces_are_dual),
        cmocka_unit_test(frames_give_coordinates_back),
        cmocka_unit_test(mass_is_that_of_the_bodies),
        cmocka_unit_test(forward_and_inverse_agree),
        cmocka_unit_test(energy_changes_by_power),
        cmocka_unit_test(momentum_stays_where_nothing_holds),
        cmocka_unit_test(rows_are_differentiated_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
