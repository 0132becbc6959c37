// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Trees of random joints: the same motion as in the coordinates of the bodies, and from any root.
#include "support/cmocka.h"
#include "support/random_tree.h"

#include <math.h>
#include <string.h>

enum { MOST = 120 };

static void random_vector(rng *r, int n, double *x)
{
    for (int k = 0; k < n; k++) {
        x[k] = rng_uniform(r, -3.0, 3.0);
    }
}

// ── The same machine, body by body ───────────────────────────────────────────────────────────────

static void gauss(int n, double *A, double *b)
{
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++) {
            p = fabs(A[i + k * n]) > fabs(A[p + k * n]) ? i : p;
        }
        for (int j = 0; j < n; j++) {
            double s = A[k + j * n];
            A[k + j * n] = A[p + j * n];
            A[p + j * n] = s;
        }
        double s = b[k];
        b[k] = b[p];
        b[p] = s;
        for (int i = k + 1; i < n; i++) {
            double l = A[i + k * n] / A[k + k * n];
            for (int j = k; j < n; j++) {
                A[i + j * n] -= l * A[k + j * n];
            }
            b[i] -= l * b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) {
            b[k] -= A[k + j * n] * b[j];
        }
        b[k] /= A[k + k * n];
    }
}

// [M J^T; J 0] (a, -lambda) = (f - w x I w, -drift): rows and drifts at the true velocities, qdd = 0.
static void check_bodies(random_tree *m, rng *r, uint64_t seed)
{
    (void)r;
    const perp_model *model = m->model;
    int n = model->nv, size = n + 6 * m->tree.links, rows = 0;
    double *K = PP_ZEROS(m->arena, double, size *size), *b = PP_ZEROS(m->arena, double, size);
    double tau[MOST] = {0.0}, qdd[MOST], S[MOST];
    pp_tree_pass pass = random_tree_pass(m, m->q, m->qd, m->t);
    pp_poses kin = {.t = m->t, .body = pass.body};
    pp_row row[6 * MOST];
    for (int i = 0; i < m->tree.links; i++) {
        if (m->tree.link[i].joint >= 0) {
            rows += pp_joint_equations(model, &kin, m->tree.link[i].joint, row + rows);
        }
    }
    size = n + rows;
    memset(K, 0, (size_t)(size * size) * sizeof *K);
    assert_int_equal(pp_tree_forward(&pass, tau, qdd, m->arena), PERP_OK);
    pp_tree_velocities(&pass, qdd, true, S);
    double e[MOST] = {0.0}, y[MOST];
    for (int k = 0; k < n; k++) {
        e[k] = 1.0;
        pp_masses_mul(model, pass.mass, e, y);
        memcpy(K + k * size, y, (size_t)n * sizeof *y);
        e[k] = 0.0;
    }
    for (int i = 0; i < model->bodies; i++) {
        const pp_body *body = &model->body[i];
        perp_vec3 w = pass.body[i].w, g = pp_scale(body->mass, model->gravity);
        perp_vec3 turn = pp_cross(pp_mul(&pass.mass[i].I, w), w);
        const double all[6] = {g.x, g.y, g.z, turn.x, turn.y, turn.z};
        for (int k = 0; k < body->nv; k++) {
            b[body->at + k] = all[body->axis[k]];
        }
    }
    int at = n;
    for (int i = 0; i < m->tree.links; i++) {
        double drift[6];
        if (m->tree.link[i].joint < 0) {
            continue;
        }
        // the drift is that of the bodies' accelerations sigma: J a + (drift - J sigma) = 0
        int count = pp_joint_drift(&pass, m->tree.link[i].joint, drift);
        for (int c = 0; c < count; c++, at++) {
            const pp_row *w = &row[at - n];
            b[at] = -drift[c];
            for (int k = 0; k < w->count; k++) {
                const pp_body *body = &model->body[w->body[k]];
                const perp_twist *s = &pass.sigma[w->body[k]];
                const double all[6] = {s->v_W.x, s->v_W.y, s->v_W.z, s->w_W.x, s->w_W.y, s->w_W.z};
                for (int j = 0; j < body->nv; j++) {
                    K[at + (body->at + j) * size] = w->J[k][j];
                    K[body->at + j + at * size] = w->J[k][j];
                    b[at] += w->J[k][j] * all[body->axis[j]];
                }
            }
        }
    }
    gauss(size, K, b);
    for (int i = 0; i < model->bodies; i++) {
        const pp_body *body = &model->body[i];
        const perp_twist *s = &pass.sigma[i];
        const double all[6] = {s->v_W.x, s->v_W.y, s->v_W.z, s->w_W.x, s->w_W.y, s->w_W.z};
        for (int k = 0; k < body->nv; k++) {
            double want = S[body->at + k] + all[body->axis[k]];
            CHECK(fabs(b[body->at + k] - want) < 1e-8 * (1.0 + fabs(want)), seed);
        }
    }
}

static void bodies_accelerate_alike(void **state)
{
    (void)state;
    random_tree_each(check_bodies, &(random_tree_options){.driven = true}, 40);
    random_tree_each(check_bodies, &(random_tree_options){.afloat = true}, 30);
    random_tree_each(check_bodies, &(random_tree_options){.particles = true}, 10);
}

// ── The same machine with another tree ───────────────────────────────────────────────────────────

// S qdd + sigma of all free bodies under gravity, springs and a wrench on each.
static void accelerations(const random_tree *m, const pp_tree *tree, const double *q,
                          const double *qd, const perp_wrench *push, double *a)
{
    double tau[MOST], qdd[MOST];
    pp_tree_pass pass;
    assert_int_equal(pp_tree_run(&pass, tree, m->t, q, qd, m->arena), PERP_OK);
    assert_int_equal(pp_tree_forces(&pass, NULL, NULL, push, tau, m->arena), PERP_OK);
    assert_int_equal(pp_tree_forward(&pass, tau, qdd, m->arena), PERP_OK);
    pp_tree_velocities(&pass, qdd, true, a);
    for (int i = 0; i < m->model->bodies; i++) {
        const pp_body *body = &m->model->body[i];
        const perp_twist *s = &pass.sigma[i];
        const double all[6] = {s->v_W.x, s->v_W.y, s->v_W.z, s->w_W.x, s->w_W.y, s->w_W.z};
        for (int k = 0; k < body->nv; k++) {
            a[body->at + k] += all[body->axis[k]];
        }
    }
}

static void check_roots(random_tree *m, rng *r, uint64_t seed)
{
    const perp_model *model = m->model;
    int n = model->joints, named[MOST] = {0};
    if (n == 0) {
        return;
    }
    for (int k = 0; k < n; k++) {
        named[k] = k;
    }
    for (int k = n - 1; k > 0; k--) {
        int other = rng_below(r, k + 1), swap = named[k];
        named[k] = named[other];
        named[other] = swap;
    }
    pp_tree tree;
    CHECK(pp_tree_create(&tree, model, named, n, m->arena, NULL) == PERP_OK, seed);
    CHECK(tree.nv == m->tree.nv && tree.link[0].body == model->joint[named[0]].a, seed);
    perp_wrench push[MOST];
    for (int i = 0; i < model->bodies; i++) {
        double f[6];
        random_vector(r, 6, f);
        push[i] = model->spatial ? (perp_wrench){{f[0], f[1], f[2]}, {f[3], f[4], f[5]}}
                                 : (perp_wrench){{f[0], f[1], 0.0}, {0.0, 0.0, f[5]}};
    }
    double q[MOST], qd[MOST], lost, lost_rate, a[2][MOST], most = 1.0;
    pp_tree_pass pass = random_tree_pass(m, m->q, m->qd, m->t);
    pp_tree_from_frames(&tree, m->t, pass.body, NULL, q, qd, &lost, &lost_rate);
    CHECK(lost < 1e-12 && lost_rate < 1e-12, seed);
    accelerations(m, &m->tree, m->q, m->qd, push, a[0]);
    accelerations(m, &tree, q, qd, push, a[1]);
    for (int k = 0; k < model->nv; k++) {
        most = fmax(most, fabs(a[0][k]));
    }
    for (int k = 0; k < model->nv; k++) {
        CHECK(fabs(a[0][k] - a[1][k]) < 1e-9 * most, seed);
    }
}

static void any_root_gives_the_same_motion(void **state)
{
    (void)state;
    random_tree_each(check_roots, &(random_tree_options){.afloat = true}, 60);
    random_tree_each(check_roots, &(random_tree_options){.afloat = true, .springs = true}, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_accelerate_alike),
        cmocka_unit_test(any_root_gives_the_same_motion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
