// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp_bench_order: error of the motion against cost, for the linear step, the implicit step, Moreau-Jean
// with linear and exact positions, and event.
//
// Twelve scenes of scenes/ run with four step sizes and every stepper. The error is the largest distance of a body from
// where a run of `event` at the tightest tolerances puts it at the end, turns in rad counted as m; the order is the
// least-squares slope of log(error) over log(h). Cost is CPU time of the stepping thread with its certificates. A run that
// fails, or whose certificate is violated, is marked: its error is not the point then.
#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIZES = 4, STEPPERS = 5 };
static const double REFERENCE =
    2e-9;  // errors of two runs of event that meet the same events in other steps [m, rad]

// A scene, the time at which places are compared [s], and the longest step [s].
typedef struct order_case {
    const char *scene, *what;
    double until, h;
} order_case;

static const order_case cases[] = {
    {"pendulum", "one joint in the plane", 1.0, 0.02},
    {"pendulum-5", "chain of five links", 0.5, 0.01},
    {"four-bar", "closed loop", 1.0, 0.005},
    {"slider-crank-free", "closed loop with a slider", 0.5, 0.0025},
    {"heavy-top", "spatial rotation about a point", 0.25, 0.001},
    {"dzhanibekov", "free rotation", 1.0, 0.02},
    {"spring-damper", "spring and damper", 1.0, 0.02},
    {"ball-rolls", "rolling without slip", 0.5, 0.02},
    {"block-stops", "sliding that ends in rest", 1.0, 0.02},
    {"disc-backspin", "sliding that ends in rolling", 1.0, 0.02},
    {"ladder-slips", "two contacts that slide", 0.5, 0.01},
    {"bouncing-ball", "impacts", 1.0, 0.02},
};
enum { CASES = sizeof cases / sizeof cases[0] };

typedef struct order_method {
    const char *name;
    perp_stepper stepper;
    perp_positions positions;
} order_method;

static const order_method methods[STEPPERS] = {
    {"stewart-trinkle", PERP_STEPPER_STEWART_TRINKLE, PERP_POSITIONS_LINEAR},
    {"implicit", PERP_STEPPER_IMPLICIT, PERP_POSITIONS_LINEAR},
    {"moreau-jean", PERP_STEPPER_MOREAU_JEAN, PERP_POSITIONS_LINEAR},
    {"moreau-jean, exact", PERP_STEPPER_MOREAU_JEAN, PERP_POSITIONS_EXACT},
    {"event", PERP_STEPPER_EVENT, PERP_POSITIONS_LINEAR}};

// One run: where the bodies are at its end, and what it cost.
typedef struct order_run {
    perp_pose *pose;  // bodies
    double seconds;
    bool failed, violated;
} order_run;

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Runs a scene to `until` with equal steps of about h.
static order_run run(const perp_scene *scene, perp_sim_def def, double until, double h)
{
    const perp_model *model = perp_scene_model(scene);
    int bodies = perp_model_bodies(model), steps = (int)lround(until / h);
    order_run out = {.pose = calloc((size_t)bodies, sizeof(perp_pose))};
    perp_sim *sim = NULL;
    perp_error error = {0};
    out.failed = !out.pose || perp_sim_create(model, &def, NULL, &sim, &error) < 0;
    double from = cpu_seconds();
    for (int k = 0; k < steps; k++) {
        if (out.failed) {
            break;
        }
        perp_status status = perp_sim_step(sim, until / steps);
        out.failed = status < 0;
        out.violated = out.violated || status == PERP_INEXACT;
    }
    out.seconds = cpu_seconds() - from;
    for (int i = 0; i < bodies && sim; i++) {
        out.pose[i] = perp_sim_body_pose(sim, (perp_body){i});
    }
    perp_sim_destroy(sim);
    return out;
}

// The largest distance between bodies of two runs [m, rad].
static double distance(const order_run *a, const order_run *b, int bodies)
{
    double most = 0.0;
    for (int i = 0; i < bodies; i++) {
        perp_vec3 p = a->pose[i].p, r = b->pose[i].p;
        perp_quat x = a->pose[i].rot, y = b->pose[i].rot;
        double off =
            sqrt((p.x - r.x) * (p.x - r.x) + (p.y - r.y) * (p.y - r.y) + (p.z - r.z) * (p.z - r.z));
        // twice the sine of half the angle, from the vector part of the quotient of the two
        perp_vec3 v = {x.w * y.x - x.x * y.w + x.y * y.z - x.z * y.y,
                       x.w * y.y - x.x * y.z - x.y * y.w + x.z * y.x,
                       x.w * y.z + x.x * y.y - x.y * y.x - x.z * y.w};
        most = fmax(most, fmax(off, 2.0 * sqrt(v.x * v.x + v.y * v.y + v.z * v.z)));
    }
    return most;
}

// Slope of log(error) over log(h), whose steps are halves of each other; NAN: errors of the reference.
static double slope(const double error[SIZES])
{
    double sum = 0.0, square = 0.0;
    for (int k = 0; k < SIZES; k++) {
        double x = 0.5 * (SIZES - 1) - k;
        if (!(error[k] > REFERENCE)) {
            return NAN;
        }
        sum += x * log2(error[k]);
        square += x * x;
    }
    return sum / square;
}

static void print_method(const order_case *c, const order_method *m, const perp_scene *scene,
                         const order_run *reference)
{
    perp_sim_def def = perp_scene_sim_def(scene);
    double error[SIZES] = {0}, seconds[SIZES] = {0};
    bool failed = false, violated = false;
    def.stepper = m->stepper;
    def.positions = m->positions;
    def.theta = 0.5;
    def.coordinates = PERP_COORDINATES_BODY;
    for (int k = 0; k < SIZES; k++) {
        order_run r = run(scene, def, c->until, ldexp(c->h, -k));
        error[k] = distance(&r, reference, perp_model_bodies(perp_scene_model(scene)));
        seconds[k] = r.seconds;
        failed = failed || r.failed;
        violated = violated || r.violated;
        free(r.pose);
    }
    double order = slope(error);
    printf("| `%s`, %s, %g s | `%s` |", c->scene, c->what, c->h, m->name);
    for (int k = 0; k < SIZES; k++) {
        printf(" %.1e |", error[k]);
    }
    if (isnan(order)) {
        printf(" exact |");
    } else {
        printf(" %.2f |", order);
    }
    printf(" %.2f | %.2f |%s%s |\n", 1e3 * seconds[0], 1e3 * seconds[SIZES - 1],
           violated ? " violated" : "", failed ? " failed" : "");
    fflush(stdout);
}

static bool run_case(const char *folder, const order_case *c)
{
    char path[4096];
    perp_scene *scene = NULL;
    perp_error error = {0};
    snprintf(path, sizeof path, "%s/%s.json", folder, c->scene);
    if (perp_scene_load(path, NULL, &scene, &error) < 0) {
        fprintf(stderr, "perp_bench_order: %s\n", error.text);
        return false;
    }
    perp_sim_def def = perp_scene_sim_def(scene);
    def.stepper = PERP_STEPPER_EVENT;
    def.coordinates = PERP_COORDINATES_BODY;
    order_run reference = run(scene, def, c->until, 0.1 * c->h);
    if (reference.failed) {
        fprintf(stderr, "perp_bench_order: %s: no reference\n", c->scene);
    }
    for (int k = 0; k < STEPPERS && !reference.failed; k++) {
        print_method(c, &methods[k], scene, &reference);
    }
    bool done = !reference.failed;
    free(reference.pose);
    perp_scene_destroy(scene);
    return done;
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "scenes";
    const char *only = argc > 2 ? argv[2] : NULL;
    bool done = true;
    puts("| scene | stepper | error, h [m] | h/2 | h/4 | h/8 | order | CPU, h [ms] | h/8 [ms] | |");
    puts("|---|---|---:|---:|---:|---:|---:|---:|---:|---|");
    for (int k = 0; k < CASES; k++) {
        if (!only || !strcmp(only, cases[k].scene)) {
            done = run_case(folder, &cases[k]) && done;
        }
    }
    return done ? 0 : 1;
}
