// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp_bench_planar: planar scenes by perp and, where they are installed, Box2D and Chipmunk, in one run:
// time per step, penetration, creep and (perp) residual. Penetrations of all engines are measured by perp's
// gap functions on the poses they return. Run in the source directory, because scene files are also timed.
// The pile takes half a minute and runs only when it is named: perp_bench_planar pile.
#include "planar.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// ── Scenes ───────────────────────────────────────────────────────────────────────────────────────

static planar_scene make_scene(const char *name, int boxes)
{
    planar_scene s = {
        .name = name, .boxes = boxes, .mu = 0.5, .settle = 200, .steps = 200, .h = 0.01};
    s.box = calloc((size_t)boxes, sizeof *s.box);
    return s;
}

// Bricks 1 m by 0.5 m, rows shifted by a third of a brick (so that the ends do not tip), 2 cm between
// neighbours.
static planar_scene wall(int rows, int columns)
{
    planar_scene s = make_scene("wall 10x10", rows * columns);
    for (int k = 0; s.box && k < s.boxes; k++) {
        int row = k / columns, column = k % columns;
        s.box[k] =
            (planar_box){1.02 * column + 0.35 * (row % 2), 0.25 + 0.5 * row, 0.0, 0.5, 0.25, 1.0};
    }
    return s;
}

// Boxes dropped in rows into a bin, each slightly rotated.
static planar_scene pile(int boxes)
{
    planar_scene s = make_scene("pile 200", boxes);
    s.bin = 3.0;
    s.settle = 60;
    s.steps = 60;
    s.slow = true;
    for (int k = 0; s.box && k < boxes; k++) {
        double size = 0.15 + 0.05 * ((k * 7) % 5) / 5.0;
        int layer = k / 11;
        s.box[k] = (planar_box){-2.6 + 0.52 * (k % 11) + 0.1 * (layer % 2),
                                0.4 + 0.55 * layer,
                                0.1 * ((k * 13) % 31 - 15),
                                size,
                                0.8 * size,
                                4.0 * size * size};
    }
    return s;
}

static planar_scene chain(int links)
{
    planar_scene s = make_scene("chain 100", links);
    s.chain = true;
    for (int k = 0; s.box && k < links; k++) {
        s.box[k] = (planar_box){0.1 + 0.2 * k, 50.0, 0.0, 0.1, 0.02, 0.1};
    }
    return s;
}

// ── perp ─────────────────────────────────────────────────────────────────────────────────────────

typedef struct ours {
    perp_model *model;
    perp_sim *sim;
    double residual;
    int contacts, failed;
} ours;

static void add_plane(perp_builder *b, double x, double angle, double mu)
{
    perp_shape_def def = perp_shape_default();
    def.kind = PERP_SHAPE_HALFPLANE;
    def.position_B.x = x;
    def.angle = angle;
    def.mu = mu;
    perp_builder_add_shape(b, (perp_body){0}, &def);
}

static perp_body add_box(perp_builder *b, const planar_box *box, const planar_scene *scene)
{
    perp_body_def body = perp_body_default();
    body.position_W = (perp_vec3){box->x, box->y, 0.0};
    body.angle = box->angle;
    perp_body handle = perp_builder_add_body(b, &body);
    perp_shape_def shape = perp_shape_default();
    shape.kind = PERP_SHAPE_BOX;
    shape.half = (perp_vec3){box->hx, box->hy, 0.0};
    shape.density = box->mass / (4.0 * box->hx * box->hy);
    shape.mu = scene->mu;
    shape.detect = !scene->chain;
    perp_builder_add_shape(b, handle, &shape);
    return handle;
}

static void link_boxes(perp_builder *b, const planar_scene *scene, int k, perp_body last,
                       perp_body body)
{
    const planar_box *box = &scene->box[k];
    perp_joint_def joint = perp_joint_default();
    joint.a = last;
    joint.b = body;
    joint.anchor_A =
        (perp_vec3){k ? scene->box[k - 1].hx : box->x - box->hx, k ? 0.0 : box->y, 0.0};
    joint.anchor_B = (perp_vec3){-box->hx, 0.0, 0.0};
    perp_builder_add_joint(b, &joint);
}

// An observer of the stages makes a sim compute every step, also where it could repeat the last one, as the other engines do.
static void compute_all(void *user, const perp_sim *sim, perp_stage stage)
{
    (void)user;
    (void)sim;
    (void)stage;
}

static void *ours_create(const planar_scene *scene)
{
    const double quarter = 1.5707963267948966;
    ours *o = calloc(1, sizeof *o);
    perp_builder *b = perp_builder_create(NULL);
    perp_error error = {0};
    perp_sim_def def = perp_sim_default();
    def.on_stage = compute_all;
    add_plane(b, 0.0, 0.0, scene->mu);
    if (scene->bin > 0.0) {
        add_plane(b, -scene->bin, -quarter, scene->mu);
        add_plane(b, scene->bin, quarter, scene->mu);
    }
    perp_body last = {0};
    for (int k = 0; k < scene->boxes; k++) {
        perp_body body = add_box(b, &scene->box[k], scene);
        if (scene->chain) {
            link_boxes(b, scene, k, last, body);
        }
        last = body;
    }
    if (o && (perp_model_create(b, &o->model, &error) < 0 ||
              perp_sim_create(o->model, &def, NULL, &o->sim, &error) < 0)) {
        fprintf(stderr, "perp_bench_planar: %s\n", error.text);
        free(o);
        o = NULL;
    }
    perp_builder_destroy(b);
    return o;
}

static void ours_step(void *self, double h)
{
    ours *o = self;
    if (perp_sim_step(o->sim, h) < 0) {
        o->failed++;
        return;
    }
    const perp_step_info *info = perp_sim_info(o->sim);
    o->residual = fmax(o->residual, info->certificate.residual);
    o->contacts = info->contacts > o->contacts ? info->contacts : o->contacts;
}

static void ours_pose(const void *self, int k, double out[3])
{
    const ours *o = self;
    perp_body body = {k + 1};
    perp_vec3 p = perp_sim_body_position(o->sim, body);
    out[0] = p.x;
    out[1] = p.y;
    out[2] = perp_sim_body_angle(o->sim, body);
}

static void ours_destroy(void *self)
{
    ours *o = self;
    perp_sim_destroy(o->sim);
    perp_model_destroy(o->model);
    free(o);
}

static const planar_engine planar_perp = {"perp", ours_create, ours_step, ours_pose, ours_destroy};

// ── Measuring ────────────────────────────────────────────────────────────────────────────────────

// Deepest overlap of the given poses, from the contacts of a perp sim set to them.
static double overlap(ours *ruler, const double *q, int boxes)
{
    double *rest = calloc(3 * (size_t)boxes, sizeof *rest), worst = NAN;  // not measured
    int count = 0;
    if (rest && perp_sim_state_set(ruler->sim, 0.0, q, rest) >= 0 &&
        perp_sim_step(ruler->sim, 0.01) >= 0) {
        const perp_contact *contact = perp_sim_contacts(ruler->sim, &count);
        worst = 0.0;
        for (int k = 0; k < count; k++) {
            worst = fmax(worst, -contact[k].gap);
        }
    }
    free(rest);
    return worst;
}

static void poses(const planar_engine *engine, const void *self, int boxes, double *q)
{
    for (int k = 0; k < boxes; k++) {
        engine->pose(self, k, q + 3 * k);
    }
}

static double moved(const double *a, const double *b, int boxes)
{
    double worst = 0.0;
    for (int k = 0; k < boxes; k++) {
        worst = fmax(worst, hypot(a[3 * k] - b[3 * k], a[3 * k + 1] - b[3 * k + 1]));
    }
    return worst;
}

static double measure(const planar_engine *engine, const planar_scene *scene, double reference)
{
    void *self = engine->create(scene);
    ours *ruler = ours_create(scene);
    size_t n = 3 * (size_t)scene->boxes;
    double *before = calloc(2 * n, sizeof *before), *after = before ? before + n : NULL;
    double per_step = NAN;
    if (self && ruler && before) {
        for (int k = 0; k < scene->settle; k++) {
            engine->step(self, scene->h);
        }
        poses(engine, self, scene->boxes, before);
        double start = cpu_seconds();
        for (int k = 0; k < scene->steps; k++) {
            engine->step(self, scene->h);
        }
        per_step = (cpu_seconds() - start) / scene->steps;
        poses(engine, self, scene->boxes, after);
        printf("%-12s %-9s %10.1f %9.2f %11.1e %11.1e", scene->name, engine->name, 1e6 * per_step,
               reference > 0.0 ? per_step / reference : 1.0,
               scene->chain ? 0.0 : overlap(ruler, after, scene->boxes),
               moved(before, after, scene->boxes));
        if (engine == &planar_perp) {
            const ours *o = self;
            printf(" %11.1e %8d %6d", o->residual, o->contacts, o->failed);
        }
        printf("\n");
    }
    free(before);
    if (ruler) {
        ours_destroy(ruler);
    }
    if (self) {
        engine->destroy(self);
    }
    return per_step;
}

// ── Scene files: perp alone ──────────────────────────────────────────────────────────────────────

static void measure_scene(perp_scene *scene)
{
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_error error = {0};
    ours o = {0};
    if (perp_sim_create(perp_scene_model(scene), &def, NULL, &o.sim, &error) < 0) {
        fprintf(stderr, "perp_bench_planar: %s\n", error.text);
        return;
    }
    double h = perp_scene_step(scene), gap = 0.0;
    int steps = 500;
    double start = cpu_seconds();
    for (int k = 0; k < steps; k++) {
        ours_step(&o, h);
        gap = fmax(gap, perp_sim_info(o.sim)->certificate.gap);
    }
    printf("%-12s %-9s %10.1f %9s %11.1e %11s %11.1e %8d %6d\n", perp_scene_name(scene), "perp",
           1e6 * (cpu_seconds() - start) / steps, "", gap, "", o.residual, o.contacts, o.failed);
    perp_sim_destroy(o.sim);
}

static void measure_files(const char *filter)
{
    static const char *const files[] = {"berard-4.1", "berard-4.2", "berard-4.3",
                                        "berard-4.4", "berard-4.5", "berard-4.6"};
    perp_scene *scene = NULL;
    perp_error error;
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
        char path[64];
        snprintf(path, sizeof path, "scenes/%s.json", files[k]);
        if ((!filter || strstr(files[k], filter)) &&
            perp_scene_load(path, NULL, &scene, &error) >= 0) {
            measure_scene(scene);
            perp_scene_destroy(scene);
        }
    }
    if ((!filter || strstr("arch", filter)) &&
        perp_scene_generate("arch", NULL, 0, NULL, &scene, &error) >= 0) {
        measure_scene(scene);
        perp_scene_destroy(scene);
    }
}

int main(int argc, char **argv)
{
    const char *filter = argc > 1 ? argv[1] : NULL;
    planar_scene scenes[] = {wall(10, 10), pile(200), chain(100)};
    printf("%-12s %-9s %10s %9s %11s %11s %11s %8s %6s\n", "scene", "engine", "us/step", "x first",
           "overlap m", "creep m", "residual", "contacts", "failed");
    for (size_t k = 0; k < sizeof scenes / sizeof scenes[0]; k++) {
        if (filter ? !strstr(scenes[k].name, filter) : scenes[k].slow) {
            free(scenes[k].box);
            continue;
        }
        double first = 0.0;
#if BENCH_BOX2D
        first = measure(&planar_box2d, &scenes[k], 0.0);
#endif
#if BENCH_CHIPMUNK
        double second = measure(&planar_chipmunk, &scenes[k], first);
        first = first > 0.0 ? first : second;
#endif
        measure(&planar_perp, &scenes[k], first);
        free(scenes[k].box);
    }
    measure_files(filter);
    return 0;
}
