// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What certify/ reckons for itself, against what the stages of a step have: points and velocities of bodies, projections on
// friction limits, rates and mobilities of rows, and kinetic energy. Two codes for one number: a fault in either shows here.
#include "certify/own.h"
#include "certify/scale.h"
#include "sim/sim.h"
#include "support/cmocka.h"
#include "support/random.h"

#include <perp/io.h>

#include <math.h>

static const char *scene_now = "";  // for messages

static void expect_close(double a, double b, double size, const char *what)
{
    if (!(fabs(a - b) <= 1e-12 * size)) {
        fail_msg("%s: %s: %.17g and %.17g", scene_now, what, a, b);
    }
}

static void projections_agree(void **state)
{
    (void)state;
    rng r = rng_seed(rng_test_seed(1));
    for (int k = 0; k < 20000; k++) {
        int size = 1 + k % 2, directions = size == 1 ? 2 : 3 + rng_below(&r, 30);
        bool polygons = rng_below(&r, 2) > 0;
        pp_friction group = {.size = size,
                             .directions = directions,
                             .facets = size == 2 && rng_below(&r, 2) > 0 ? directions : 0};
        double limit = rng_below(&r, 10) == 0 ? 0.0 : rng_uniform(&r, -0.1, 2.0);
        double p[2] = {rng_uniform(&r, -3.0, 3.0), rng_uniform(&r, -3.0, 3.0)}, q[2] = {p[0], p[1]};
        pp_friction_project(&group, polygons, limit, p);
        pp_own_project(&group, polygons, limit, q);
        expect_close(p[0], q[0], 3.0, "projection, first");
        expect_close(p[1], q[1], 3.0, "projection, second");
    }
}

// ── Rows of real steps ───────────────────────────────────────────────────────────────────────────

typedef struct count {
    rng r;
    int rows, contacts;
} count;

static void compare_row(const pp_step_evidence *e, const perp_sim *sim, const pp_row *row,
                        const double *nu, const perp_twist *twist)
{
    double rate = pp_row_rate(sim->model, row, nu);
    double mobility = pp_row_mobility(sim->model, sim->step.kin.mass, row) + row->gamma;
    expect_close(pp_judge_rate(sim->model, row, twist), rate, 100.0, "rate of a row");
    mobility = mobility > 0.0 ? mobility : 1.0;
    expect_close(pp_judge_mobility(e, row), mobility, mobility, "mobility of a row");
}

// Bodies that are not free are in the rates of rows, not in J.
static void draw_velocities(rng *r, const perp_model *m, double *nu, perp_twist *twist)
{
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        double all[PP_BODY_NV] = {0.0};
        for (int k = 0; k < body->nv; k++) {
            nu[body->at + k] = all[body->axis[k]] = rng_uniform(r, -2.0, 2.0);
        }
        twist[i] = (perp_twist){{all[0], all[1], all[2]}, {all[3], all[4], all[5]}};
    }
}

static void compare_contacts(const pp_step_evidence *e, const perp_sim *sim, count *c)
{
    const pp_rows *rows = &sim->step.row;
    for (int i = 0; i < rows->nc; i++) {
        const pp_contact *contact = &sim->step.gap.contact[rows->contact[i]];
        double of_row = pp_row_mobility(sim->model, sim->step.kin.mass, &rows->n[i]);
        expect_close(pp_own_mobility(e, contact, contact->n, false), of_row, of_row,
                     "normal mobility");
        for (int g = 0; g < rows->grouped[i]; g++) {
            const pp_friction *group = &rows->group[rows->friction[i] + g];
            perp_vec3 d = group->kind == PP_SPIN ? contact->n : contact->t;
            of_row = pp_row_mobility(sim->model, sim->step.kin.mass, &rows->t[group->t]);
            expect_close(pp_own_mobility(e, contact, d, group->kind != PP_SLIDE), of_row, of_row,
                         "friction mobility");
        }
        c->contacts++;
    }
}

static void compare_points(const perp_sim *sim, rng *r)
{
    for (int i = 0; i < sim->model->bodies; i++) {
        const pp_frame *f = &sim->step.kin.poses.body[i];
        perp_vec3 at = {rng_uniform(r, -1.0, 1.0), rng_uniform(r, -1.0, 1.0),
                        rng_uniform(r, -1.0, 1.0)};
        double size = 1.0 + pp_length(f->p) + pp_length(f->v) + 10.0 * pp_length(f->w);
        expect_close(pp_length(pp_sub(pp_own_point(f, at), pp_point(f, at))), 0.0, size, "point");
        expect_close(pp_length(pp_sub(pp_own_velocity(f, at), pp_point_velocity(f, at))), 0.0, size,
                     "velocity of a point");
    }
}

static void compare_step(void *user, const perp_sim *sim, perp_stage done)
{
    enum { NV = 1200, BODIES = 200 };
    static double nu[NV];
    static perp_twist twist[BODIES];
    count *c = user;
    if (done != PERP_STAGE_CONSTRAINT) {
        return;
    }
    assert_true(sim->model->nv <= NV && sim->model->bodies <= BODIES);
    const pp_rows *rows = &sim->step.row;
    pp_step_evidence e = {.model = sim->model, .kin = &sim->step.kin, .rows = rows, .inertia = 1.0};
    const pp_row *list[] = {rows->b, rows->m, rows->n, rows->t};
    const int counts[] = {rows->nb, rows->nm, rows->nn, rows->nt};
    draw_velocities(&c->r, sim->model, nu, twist);
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < counts[k]; i++) {
            compare_row(&e, sim, &list[k][i], nu, twist);
            c->rows++;
        }
    }
    compare_contacts(&e, sim, c);
    compare_points(sim, &c->r);
}

static void compare_energy(const perp_sim *sim)
{
    enum { BODIES = 200 };
    static pp_inertia mass[BODIES];
    assert_true(sim->model->bodies <= BODIES);
    pp_masses(sim->model, sim->frames, mass);
    double kinetic = pp_kinetic(sim->model, mass, sim->now.nu);
    expect_close(sim->info.energy.kinetic, kinetic, kinetic, "kinetic energy");
}

static void run(const char *name, bool file, int steps, count *c)
{
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_error error = {0};
    scene_now = name;
    perp_status status = file ? perp_scene_load(name, NULL, &scene, &error)
                              : perp_scene_generate(name, NULL, 0, NULL, &scene, &error);
    if (status < 0) {
        fail_msg("%s: %s", name, error.text);
    }
    perp_sim_def def = perp_scene_sim_def(scene);
    def.on_stage = compare_step;
    def.user = c;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error), PERP_OK);
    for (int k = 0; k < steps; k++) {
        assert_true(perp_sim_step(sim, perp_scene_step(scene)) >= 0);
        compare_energy(sim);
    }
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

static void rows_and_bodies_agree(void **state)
{
    (void)state;
    static const char *const files[] = {"scenes/trinkle-robot.json",    "scenes/rattleback.json",
                                        "scenes/flyball-governor.json", "scenes/tedrake-arm.json",
                                        "scenes/spring-damper.json",    "scenes/euler-disc.json"};
    static const char *const generators[] = {"stack", "stack3", "wall", "arch3", "chain", "ladder"};
    count c = {.r = rng_seed(rng_test_seed(1))};
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
        run(files[k], true, 40, &c);
    }
    for (size_t k = 0; k < sizeof generators / sizeof generators[0]; k++) {
        run(generators[k], false, 4, &c);
    }
    assert_true(c.rows > 2000 && c.contacts > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projections_agree),
        cmocka_unit_test(rows_and_bodies_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
