// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp_bench_tree: time for a chain of N rods on hinges in joint coordinates, as a function of N, compared with
// MuJoCo's mj_forward, if installed, on the same chain in the same run, with the difference of q''.
//
// Rods of 0.1 m and 0.05 kg, hinge axes alternately along y and x, random angles within 0.3 rad and rates within
// 1 rad/s; no contacts, no constraints. Times are CPU times, the least of several batches.
#include "tree.h"

#include <perp/perp.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SIZES = 6, BATCHES = 15 };
static const int LINKS[SIZES] = {10, 20, 50, 100, 200, 500};

typedef enum what { SET, MASS, BIAS, INVERSE, FORWARD, WHOLE, WHATS } what;

typedef struct chain {
    perp_model *model;
    perp_tree *tree;
    int n;
    double *q, *qd, *tau, *qdd, *H;
} chain;

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 4503599627370496.0 - 1.0;
}

static perp_model *build(int n)
{
    perp_builder *b = perp_builder_create(NULL);
    perp_body_def rod = perp_body_default();
    perp_joint_def hinge = perp_joint_default();
    for (int k = 0; k < n; k++) {
        rod.kind = PERP_BODY_SPATIAL;
        rod.position_W = (perp_vec3){0.0, 0.0, -BENCH_LENGTH * (k + 0.5)};
        rod.mass = BENCH_MASS;
        rod.inertia_B[0] = rod.inertia_B[1] = BENCH_ACROSS;
        rod.inertia_B[2] = BENCH_ALONG;
        hinge.kind = PERP_JOINT_REVOLUTE;
        hinge.b = perp_builder_add_body(b, &rod);
        hinge.axis_A = k % 2 == 0 ? (perp_vec3){0.0, 1.0, 0.0} : (perp_vec3){1.0, 0.0, 0.0};
        hinge.anchor_A = (perp_vec3){0.0, 0.0, k > 0 ? -0.5 * BENCH_LENGTH : 0.0};
        hinge.anchor_B = (perp_vec3){0.0, 0.0, 0.5 * BENCH_LENGTH};
        perp_builder_add_joint(b, &hinge);
        hinge.a = hinge.b;
    }
    perp_model *model = NULL;
    perp_error error;
    if (perp_model_create(b, &model, &error) < 0) {
        fprintf(stderr, "perp_bench_tree: %s\n", error.text);
        model = NULL;
    }
    perp_builder_destroy(b);
    return model;
}

static bool open_chain(chain *c, int n)
{
    size_t size = (size_t)n;
    uint64_t state = 1;
    *c = (chain){.n = n, .model = build(n)};
    c->q = calloc(4 * size + size * size, sizeof *c->q);
    perp_error error;
    if (!c->q || !c->model || perp_tree_create(c->model, NULL, 0, NULL, &c->tree, &error) < 0) {
        return false;
    }
    c->qd = c->q + n;
    c->tau = c->qd + n;
    c->qdd = c->tau + n;
    c->H = c->qdd + n;
    for (int k = 0; k < n; k++) {
        c->q[k] = 0.3 * uniform(&state);
        c->qd[k] = uniform(&state);
    }
    return perp_tree_set(c->tree, 0.0, c->q, c->qd) >= 0;
}

static void close_chain(chain *c)
{
    perp_tree_destroy(c->tree);
    perp_model_destroy(c->model);
    free(c->q);
}

static perp_status call(const chain *c, what w)
{
    perp_status status = PERP_OK;
    if (w == SET || w == WHOLE) {
        status = perp_tree_set(c->tree, 0.0, c->q, c->qd);
    }
    if (w == MASS) {
        perp_tree_mass(c->tree, c->H);
    } else if (w == BIAS) {
        perp_tree_bias(c->tree, c->tau);
    } else if (w == INVERSE) {
        status = perp_tree_inverse(c->tree, c->qdd, c->tau);
    } else if (w == WHOLE) {
        status = perp_tree_forces(c->tree, NULL, c->tau);
    }
    if (status >= 0 && (w == FORWARD || w == WHOLE)) {
        status = perp_tree_forward(c->tree, c->tau, c->qdd);
    }
    return status;
}

// Seconds per call.
static double time_of(const chain *c, what w)
{
    double best = HUGE_VAL;
    int repeat = 2000 / c->n + 1;
    for (int batch = 0; batch < BATCHES; batch++) {
        double start = cpu_seconds();
        for (int k = 0; k < repeat; k++) {
            if (call(c, w) < 0) {
                return (double)NAN;
            }
        }
        best = fmin(best, (cpu_seconds() - start) / repeat);
    }
    return best;
}

static double worst_difference(const chain *c, const double *other)
{
    double most = 0.0, worst = 0.0;
    for (int k = 0; k < c->n; k++) {
        most = fmax(most, fabs(c->qdd[k]));
        worst = fmax(worst, fabs(c->qdd[k] - other[k]));
    }
    return worst / most;
}

static bool run(int n, double time[WHATS], double *peer, double *off)
{
    chain c;
    double *other = calloc((size_t)n, sizeof *other);
    bool fine = open_chain(&c, n) && other;
    *peer = *off = (double)NAN;
    for (int w = 0; fine && w < WHATS; w++) {
        time[w] = time_of(&c, (what)w);
    }
    if (fine) {
        *peer = bench_tree_mujoco(n, c.q, c.qd, other);
        fine = call(&c, WHOLE) >= 0;
        *off = worst_difference(&c, other);
    }
    free(other);
    close_chain(&c);
    return fine;
}

int main(void)
{
    double time[SIZES][WHATS], peer[SIZES], off;
    printf(
        "Times in us. set: frames, columns, sigma; forward: articulated bodies; whole: set, forces "
        "and forward.\n%5s %9s %9s %9s %9s %9s %9s %11s %7s %10s\n",
        "links", "set", "H", "C", "inverse", "forward", "whole", "mj_forward", "ratio",
        "difference");
    for (int k = 0; k < SIZES; k++) {
        if (!run(LINKS[k], time[k], &peer[k], &off)) {
            fprintf(stderr, "perp_bench_tree: %d links failed\n", LINKS[k]);
            return 1;
        }
        printf("%5d", LINKS[k]);
        for (int w = 0; w < WHATS; w++) {
            printf(" %9.2f", 1e6 * time[k][w]);
        }
        printf(" %11.2f %7.2f %10.1e\n", 1e6 * peer[k], time[k][WHOLE] / peer[k],
               isnan(peer[k]) ? (double)NAN : off);
    }
    printf("%5s", "power");  // of N, from 50 to 500 links
    for (int w = 0; w < WHATS; w++) {
        printf(" %9.2f", log(time[5][w] / time[2][w]) / log(10.0));
    }
    printf(" %11.2f\n", log(peer[5] / peer[2]) / log(10.0));
    return 0;
}
