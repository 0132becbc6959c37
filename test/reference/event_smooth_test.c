// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Mechanisms without contact, integrated between events: where they are at
// stated times, to 1e-8. Stored series are compared at all their times where
// there are any.
#include "support/cmocka.h"
#include "support/data.h"
#include "support/shot.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

enum { PROBES = 5 };

typedef struct probe {
    const char *body;
    char what;             // of shot_value
    double scale, offset;  // scale * value + offset is what is compared
    double want;           // at the time of the machine
    const char *key;       // of the stored series, NULL: none
    int column;            // -1: the series has one number each time
} probe;

typedef struct machine {
    const char *scene, *file;
    const char *group, *part;  // where in the file t stands; NULL: at the top
    double t;                  // of the numbers here
    double h;                  // longest step
    double most;               // stored times are compared up to this [s]
    double size;               // of its values, if that is more than 1
    probe p[PROBES];
} machine;

#define HALF_PI 1.57079632679489661923

static const machine machines[] = {
    {"pendulum",
     "a01_simple_pendulum",
     NULL,
     NULL,
     10.0,
     0.1,
     10.0,
     1.0,
     {{"bob", 'x', 1, 0, -0.275087462576117, "x", -1},
      {"bob", 'y', 1, 0, -0.961419205099125, "y", -1}}},
    {"rod-pendulum",
     "a01b_rod_pendulum",
     NULL,
     NULL,
     10.0,
     0.1,
     10.0,
     1.0,
     {{"rod", 'a', 1, HALF_PI, 0.7709576225747722, "theta", -1},
      {"rod", 'o', 1, 0, -4.5943968330169795, "omega", -1}}},
    {"berard-4.1",
     "a_double_pendulum",
     NULL,
     NULL,
     2.0,
     0.05,
     2.0,
     1.0,
     {{"rod A", 'a', 1, 0, -1.164299146396715, "theta", 0},
      {"rod B", 'a', 1, 0, -0.29690729998220444, "theta", 1},
      {"rod A", 'o', 1, 0, 4.063329511526717, "omega", 0},
      {"rod B", 'o', 1, 0, 2.1269591578019624, "omega", 1}}},
    {"pendulum-5",
     "a_npendulum_5",
     NULL,
     NULL,
     1.5,
     0.05,
     1.5,
     1.0,
     {{"rod 1", 'a', 1, 0, -2.346369630636307, "theta", 0},
      {"rod 2", 'a', 1, 0, -2.958057951767583, "theta", 1},
      {"rod 4", 'a', 1, 0, -3.468041205460927, "theta", 3},
      {"rod 5", 'a', 1, 0, -2.497881728777208, "theta", 4}}},
    {"pendulum-10",
     "a_npendulum_10",
     NULL,
     NULL,
     1.0,
     0.05,
     1.0,
     1.0,
     {{"rod 1", 'a', 1, 0, -2.4053686389331173, "theta", 0},
      {"rod 5", 'a', 1, 0, -2.9750259687350993, "theta", 4},
      {"rod 7", 'a', 1, 0, -2.485387651284391, "theta", 6},
      {"rod 10", 'a', 1, 0, -2.708429731357706, "theta", 9}}},
    {"four-bar",
     "a_fourbar_redundant",
     NULL,
     NULL,
     2.0,
     0.05,
     2.0,
     1.0,
     {{"crank", 'a', 1, 0, -1.669122296893874, "crank_angle", -1},
      {"crank", 'o', 1, 0, 15.176331877994732, "crank_rate", -1}}},
    {"four-bar-spatial",
     "a_fourbar_redundant",
     NULL,
     NULL,
     2.0,
     0.05,
     2.0,
     1.0,
     {{"crank", 'a', 1, 0, -1.669122296893874, "crank_angle", -1},
      {"crank", 'o', 1, 0, 15.176331877994732, "crank_rate", -1}}},
    {"windows-2",
     "a02_n_four_bar",
     "cases",
     "2",
     10.0,
     0.05,
     10.0,
     6.8,
     {{"post 0", 'a', -1, HALF_PI, 31.750597186981647, "theta", -1},
      {"post 1", 'x', 2, -2, 0.32845811153660776, "B0x", -1},  // its foot is at x = 1
      {"post 2", 'u', 2, 0, 1.423051470197467, "B0vx", -1}}},
    {"slider-crank-free",
     "a_slider_crank",
     "free",
     NULL,
     2.0,
     0.05,
     2.0,
     1.0,
     {{"crank", 'a', 1, 0, -1.2039960675318844, "crank", -1},
      {"crank", 'o', 1, 0, 11.983284339780088, "rate", -1}}},
    {"slider-crank",
     "a_slider_crank",
     "driven",
     NULL,
     0.039269908169872414,
     1e-3,
     0.042,
     1.0,
     {{"slider", 'x', 1, 0, 0.4330389747717823, "slider_x", -1}}},
    {"andrews-squeezer",
     "a03_andrews",
     NULL,
     NULL,
     0.03,
     1e-3,
     0.03,
     1.0,
     {{"K1", 'a', 1, 0, 15.810771195154187, "q", 0},
      {"K3", 'a', 1, 0, 0.040822240119616715, "q", 2},
      {"K5", 'a', 1, 0, 0.5244099658799498, "q", 4},
      {"K7", 'a', 1, 0, 1.048080741041943, "q", 6}}},
    {"flyball-governor",
     "a05_flyball_governor",
     NULL,
     NULL,
     10.0,
     0.1,
     10.0,
     1.0,
     {{"slider", 'z', 1, 0, 0.6196229169801625, "s", -1},
      {"shaft", 'o', 1, 0, 5.548203622922046, "shaft_rate", -1}}},
    {"heavy-top",
     "a_heavy_top_cardona",
     NULL,
     NULL,
     2.0,
     0.05,
     2.0,
     1.0,
     {{"top", 'x', 1, 0, -0.15041682274582, "x", 0},
      {"top", 'y', 1, 0, -0.7241655916369631, "x", 1},
      {"top", 'z', 1, 0, -0.6730222695603301, "x", 2}}},
    {"lagrange-top",
     "a_lagrange_top",
     NULL,
     NULL,
     3.0,
     0.05,
     3.0,
     1.0,
     {{"top", 'x', 1, 0, -0.21303042098238997, "com", 0},
      {"top", 'y', 1, 0, -0.12310715416208504, "com", 1},
      {"top", 'z', 1, 0, 0.43527309626276695, "com", 2}}},
};
enum { MACHINES = sizeof machines / sizeof machines[0] };

static shot begin(const machine *m)
{
    shot s;
    shot_open(&s, m->scene);
    s.def.stepper = PERP_STEPPER_EVENT;
    s.h = m->h;
    shot_start(&s);
    return s;
}

// Angles in space are known up to full turns.
static double off(const shot *s, const probe *p, double want)
{
    double d = p->scale * shot_value(s, p->body, p->what) + p->offset - want;
    bool turns = p->what == 'a' && perp_model_is_spatial(perp_scene_model(s->scene));
    return turns ? remainder(d, 2.0 * PI) : d;
}

static void compare(const shot *s, const machine *m, const probe *p, double want, double *worst)
{
    double d = off(s, p, want), size = fmax(m->size, fabs(want));
    *worst = fmax(*worst, fabs(d) / size);
    if (!(fabs(d) <= 1e-8 * size)) {
        fail_msg("%s, t = %.9g: %c of %s should be %.17g, off by %.3g", m->scene,
                 perp_sim_time(s->sim), p->what, p->body, want, d);
    }
}

static json_t *open_series(const machine *m, json_t **table)
{
    char relative[100], path[600];
    snprintf(relative, sizeof relative, "reference/A_smooth/%s.json", m->file);
    json_t *root = data_path(relative, path, sizeof path) ? json_load_file(path, 0, NULL) : NULL;
    *table = m->group ? json_object_get(root, m->group) : root;
    *table = m->part ? json_object_get(*table, m->part) : *table;
    return root;
}

static void compare_series(shot *s, const machine *m, double *worst)
{
    json_t *table, *root = open_series(m, &table), *t = json_object_get(table, "t");
    for (size_t i = 0; i < json_array_size(t); i++) {
        double at = json_number_value(json_array_get(t, i));
        if (at > m->most) {
            break;
        }
        shot_run(s, at);
        for (const probe *p = m->p; p < m->p + PROBES && p->body; p++) {
            json_t *value = json_array_get(json_object_get(table, p->key), i);
            value = p->column >= 0 ? json_array_get(value, (size_t)p->column) : value;
            compare(s, m, p, json_number_value(value), worst);
        }
    }
    json_decref(root);
}

static void stated_times(void **state)
{
    (void)state;
    int stored = 0;
    for (const machine *m = machines; m < machines + MACHINES; m++) {
        double worst = 0.0;
        json_t *table, *root = open_series(m, &table);
        stored += root != NULL;
        json_decref(root);
        shot s = begin(m);
        if (root) {
            compare_series(&s, m, &worst);
        } else {
            shot_run(&s, m->t);
            for (const probe *p = m->p; p < m->p + PROBES && p->body; p++) {
                compare(&s, m, p, p->want, &worst);
            }
        }
        print_message("%-18s %.1e\n", m->scene, worst);
        shot_close(&s);
    }
    if (stored < MACHINES) {
        print_message("stored series of %d machines are not here: one time each "
                      "was compared\n",
                      MACHINES - stored);
    }
}

// Redundant equations: Bricard's linkage moves although its rows have rank 29
// of 30. A corner of it.
static void bricard(void **state)
{
    (void)state;
    shot s;
    shot_open(&s, "bricard");
    s.def.stepper = PERP_STEPPER_EVENT;
    s.h = 0.1;
    shot_start(&s);
    static const double want[][4] = {
        {2.0, -0.7781353730332945, -0.9803526834432563, -0.19725267061716623},
        {10.0, 0.9997309873038377, -0.9999999638258178, -0.0002689765122437511}};
    for (int i = 0; i < 2; i++) {
        shot_run(&s, want[i][0]);
        perp_body b = perp_model_body(perp_scene_model(s.scene), "rod 2");
        perp_pose pose = perp_sim_body_pose(s.sim, b);
        double w = pose.rot.w, x = pose.rot.x, y = pose.rot.y, z = pose.rot.z;
        // The corner is at (0, -0.5, 0) of the rod.
        double px = pose.p.x - 0.5 * 2.0 * (x * y - w * z);
        double py = pose.p.y - 0.5 * (1.0 - 2.0 * (x * x + z * z));
        double pz = pose.p.z - 0.5 * 2.0 * (y * z + w * x);
        double d = fmax(fabs(px - want[i][1]), fmax(fabs(py - want[i][2]), fabs(pz - want[i][3])));
        print_message("bricard at %g s: %.1e\n", want[i][0], d);
        assert_true(d < 1e-8);
    }
    assert_true(s.energy_off <= 1e-9 * s.energy_scale);
    shot_close(&s);
}

// Jacobi's elliptic functions: the angular velocity in body axes, and the
// attitude.
static void free_body(void **state)
{
    (void)state;
    shot s;
    shot_open(&s, "dzhanibekov");
    s.def.stepper = PERP_STEPPER_EVENT;
    s.h = 0.5;
    shot_start(&s);
    shot_run(&s, 10.0);
    perp_quat q = perp_sim_body_pose(s.sim, perp_model_body(perp_scene_model(s.scene), "body")).rot;
    static const double want[] = {0.24270299091954747, 0.11814412672543115, -0.8227201467472326,
                                  -0.5002687114493582};
    double same = q.w * want[0] + q.x * want[1] + q.y * want[2] + q.z * want[3];
    double sign = same < 0.0 ? -1.0 : 1.0;
    double d = fmax(fmax(fabs(sign * q.w - want[0]), fabs(sign * q.x - want[1])),
                    fmax(fabs(sign * q.y - want[2]), fabs(sign * q.z - want[3])));
    print_message("free body: %.1e, energy %.1e\n", d, s.energy_off / s.energy_scale);
    assert_true(d < 1e-8);
    assert_true(s.energy_off <= 1e-9 * s.energy_scale);
    shot_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stated_times),
        cmocka_unit_test(bricard),
        cmocka_unit_test(free_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
