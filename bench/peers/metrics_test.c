// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The figures of the comparison on motions whose figures are known.
#include "metrics.h"
#include "scenes.h"
#include "support/cmocka.h"
#include "vector.h"

#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

typedef struct fixture {
    peer_scene scene;
    peer_state *state;
} fixture;

static fixture open_scene(const char *name, int n)
{
    fixture f = {0};
    assert_true(peer_scene_make(name, n, &f.scene));
    f.state = calloc((size_t)f.scene.bodies, sizeof *f.state);
    assert_non_null(f.state);
    for (int k = 0; k < f.scene.bodies; k++) {
        f.state[k] = f.scene.body[k].start;
    }
    return f;
}

static void close_scene(fixture *f)
{
    free(f->state);
    peer_scene_free(&f->scene);
}

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) {
        fail_msg("%.17g is not %.17g", a, b);
    }
}

// In a pile of cubes some corners reach 6 mm into the neighbour: the lattice is shaken after it is made.
static void scenes_begin_without_overlap(void **unused)
{
    (void)unused;
    for (int k = 0; k < peer_case_count; k++) {
        fixture f = open_scene(peer_cases[k].scene, peer_cases[k].n);
        bool cubes = !strcmp(f.scene.name, "pile_b");
        near(peer_penetration(&f.scene, f.state), 0.0, cubes ? 0.006 : 1e-14);
        for (int b = 0; b < f.scene.bodies; b++) {
            peer_vec I = f.scene.body[b].inertia;
            assert_true(I.x + I.y >= I.z && I.y + I.z >= I.x && I.x + I.z >= I.y);
        }
        close_scene(&f);
    }
}

// A cube sunk into the floor, one sunk into another, and edge on edge: two cubes turned by 45 degrees about
// crossed axes reach sqrt(2)/2 each.
static void depth_of_boxes(void **unused)
{
    (void)unused;
    fixture f = open_scene("stack", 2);
    f.state[0].p.z -= 0.125;
    f.state[1].p.z -= 0.125;
    near(peer_penetration(&f.scene, f.state), 0.125, 1e-15);
    f.state[0].p.z += 5.125;
    f.state[1].p.z += 5.125 - 0.0625;
    near(peer_penetration(&f.scene, f.state), 0.0625, 1e-15);
    f.state[0].q = quat_about(vec(1.0, 0.0, 0.0), 0.25 * pi);
    f.state[1].q = quat_about(vec(0.0, 1.0, 0.0), 0.25 * pi);
    f.state[1].p = vec_add(f.state[0].p, vec(0.0, 0.0, sqrt(2.0) - 0.03));
    near(peer_penetration(&f.scene, f.state), 0.03, 1e-14);
    f.state[1].p.z += 0.031;
    near(peer_penetration(&f.scene, f.state), 0.0, 0.0);
    close_scene(&f);
}

static void depth_of_spheres(void **unused)
{
    (void)unused;
    fixture f = open_scene("pile_s", 2);
    f.state[0].p = vec(0.0, 0.0, 3.0);
    f.state[1].p = vec(0.54, 0.0, 3.72);  // 0.9 apart
    near(peer_penetration(&f.scene, f.state), 0.1, 1e-15);
    f.state[1].p = vec(2.9, 0.0, 3.0);  // the wall is at 3
    near(peer_penetration(&f.scene, f.state), 0.4, 1e-15);
    close_scene(&f);
}

// Neighbours share a face: pressed together along its normal, they overlap by as much.
static void depth_of_voussoirs(void **unused)
{
    (void)unused;
    fixture f = open_scene("arch", 15);
    double angle = 7.0 * pi / 15.0;  // of the face between the voussoirs 6 and 7
    peer_vec along = vec(-sin(angle), 0.0, cos(angle));
    f.state[6].p = vec_add(f.state[6].p, vec_scale(0.01, along));
    near(peer_penetration(&f.scene, f.state), 0.01, 1e-14);
    close_scene(&f);
}

// Mass and moments of a voussoir against a sum over small cells.
static void voussoir_inertia(void **unused)
{
    (void)unused;
    fixture f = open_scene("arch", 7);
    const peer_body *b = &f.scene.body[0];
    double m = 0.0, zz = 0.0, xx = 0.0, first = 0.0;
    double z0 = b->corner[0].z, z1 = b->corner[2].z, w0 = b->corner[1].x, w1 = b->corner[3].x;
    for (int k = 0; k < 20000; k++) {
        double s = (k + 0.5) / 20000.0, z = z0 + (z1 - z0) * s, w = w0 + (w1 - w0) * s;
        double cell = 2.0 * w * (z1 - z0) / 20000.0;
        m += cell;
        first += cell * z;
        zz += cell * z * z;
        xx += cell * w * w / 3.0;
    }
    near(b->mass, m, 1e-8);
    near(first, 0.0, 1e-8);
    near(b->inertia.x, zz + m / 12.0, 1e-8);
    near(b->inertia.y, zz + xx, 1e-8);
    near(b->inertia.z, xx + m / 12.0, 1e-8);
    close_scene(&f);
}

// The exact motion of the thrown box, then 3 mm of creep.
static void slide_figures(void **unused)
{
    (void)unused;
    fixture f = open_scene("slide17", 1);
    double value[PEER_COLUMNS], h = 0.01, a = 0.5 * 9.81, stop = 4.0 / a;
    peer_vec along = vec_scale(0.25, f.state[0].v);
    peer_watch w;
    assert_true(peer_watch_begin(&w, &f.scene, f.state, h));
    int steps = (int)lround(f.scene.duration / h);
    for (int k = 1; k <= steps; k++) {
        double t = fmin(k * h, stop);
        f.state[0].p = vec_add(vec(0.0, 0.0, 0.25), vec_scale(4.0 * t - 0.5 * a * t * t, along));
        f.state[0].p.y += k == steps ? 0.003 : 0.0;
        peer_watch_see(&w, k * h, f.state);
    }
    peer_watch_end(&w, steps * h, f.state, true, value);
    near(value[PEER_STOP_ERROR], 0.0, 1e-14);
    near(value[PEER_HEADING_ERROR], 0.0, 1e-12);
    near(value[PEER_CREEP], 0.003, 1e-14);
    near(value[PEER_PENETRATION], 0.0, 0.0);
    peer_watch_free(&w);
    close_scene(&f);
}

// Two rods hanging straight down at rest: energy, gap and tip relative to the start and the reference.
static void pendulum_figures(void **unused)
{
    (void)unused;
    fixture f = open_scene("pendulum2", 2);
    double value[PEER_COLUMNS];
    peer_watch w;
    assert_true(peer_watch_begin(&w, &f.scene, f.state, 0.01));
    for (int k = 0; k < 2; k++) {
        f.state[k].p = vec(0.0, 0.0, -0.5 - k);
        f.state[k].q = quat_about(vec(0.0, 1.0, 0.0), 0.5 * pi);
    }
    f.state[1].p.x = 0.002;
    peer_watch_see(&w, 2.0, f.state);
    peer_watch_end(&w, 2.0, f.state, true, value);
    near(value[PEER_JOINT_GAP], 0.002, 1e-14);
    near(value[PEER_ENERGY_DRIFT], -1.0, 1e-14);
    // DOP853 at 1e-13 puts the tip at (0.313524776450, -1.914746617562)
    double expected = hypot(0.313524776450 - 0.002, -1.914746617562 + 2.0);
    near(value[PEER_TIP_ERROR], expected, 1e-9);
    peer_watch_free(&w);
    close_scene(&f);
}

static void words_of_a_setting(void **unused)
{
    (void)unused;
    assert_true(peer_has("quick50-tight", "tight"));
    assert_false(peer_has("quick50-tight", "quick"));
    assert_int_equal(peer_number("quick50-tight", "quick", 20), 50);
    assert_int_equal(peer_number("step-tight", "quick", 20), 20);
    assert_int_equal(peer_number("si50-sixty", "si", 10), 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_begin_without_overlap),
        cmocka_unit_test(depth_of_boxes),
        cmocka_unit_test(depth_of_spheres),
        cmocka_unit_test(depth_of_voussoirs),
        cmocka_unit_test(voussoir_inertia),
        cmocka_unit_test(slide_figures),
        cmocka_unit_test(pendulum_figures),
        cmocka_unit_test(words_of_a_setting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
