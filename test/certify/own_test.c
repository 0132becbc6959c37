// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The certificate's own rows of joints, drives, limits and springs: their gradients by differences, and steps that were made
// with a wrong row, which must not pass.
#include "certify/own.h"
#include "sim/sim.h"
#include "support/cmocka.h"
#include "support/random.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

// What makes the joints of a scene; two bodies in a row, each on a joint of its own.
typedef struct machine {
    const char *name, *first, *second, *more;  // joints, and what comes after them
    bool spatial;
} machine;

#define ON_GROUND "\"name\": \"p\", \"b\": \"u\", "
#define ON_BODY   "\"name\": \"s\", \"a\": \"u\", \"b\": \"v\", "

static const machine machines[] = {
    {"revolute", "\"kind\": \"revolute\", \"at\": [0.1, 0.2]",
     "\"kind\": \"revolute\", \"at\": [0.9, 0.1], \"stiffness\": 3, \"damping\": 0.2", "", false},
    {"motors", "\"kind\": \"revolute\", \"at\": [0.1, 0.2], \"rate\": \"1+t\", \"rate_effort\": 2",
     "\"kind\": \"revolute\", \"at\": [0.9, 0.1], \"friction\": 0.7", "", false},
    {"targets", "\"kind\": \"revolute\", \"at\": [0.1, 0.2], \"target\": \"sin(t)\"",
     "\"kind\": \"prismatic\", \"at\": [0.9, 0.1], \"axis\": [1, 2], \"rate\": \"cos(t)\"", "",
     false},
    {"prismatic", "\"kind\": \"prismatic\", \"at\": [0.1, 0.2], \"axis\": [1, 0.3]",
     "\"kind\": \"point_on_line\", \"at\": [0.9, 0.1], \"axis\": [0.2, 1], \"stiffness\": 9", "",
     false},
    {"rod",
     "\"kind\": \"distance\", \"anchor_a\": [-0.4, 0.7], \"anchor_b\": [0.1, 0.1], \"length\": 1.1",
     "\"kind\": \"weld\", \"at\": [0.9, 0.1]", "", false},
    {"limits", "\"kind\": \"revolute\", \"at\": [0.1, 0.2], \"lower\": -1, \"upper\": 0",
     "\"kind\": \"prismatic\", \"at\": [0.9, 0.1], \"axis\": [1, 0], \"lower\": 0, \"upper\": 1",
     "", false},
    {"springs", "\"kind\": \"revolute\", \"at\": [0.1, 0.2]",
     "\"kind\": \"revolute\", \"at\": [0.9, 0]",
     ", \"forces\": [{\"kind\": \"spring\", \"a\": \"ground\", \"b\": \"v\", \"anchor_a\": [0.3, "
     "1],"
     " \"anchor_b\": [0.1, 0], \"stiffness\": 40, \"damping\": 1, \"rest\": 0.2, \"implicit\": "
     "true},"
     " {\"kind\": \"drag\", \"body\": \"u\", \"damping\": 2, \"damping_w\": 0.1, \"implicit\": "
     "true},"
     " {\"kind\": \"twist_spring\", \"a\": \"u\", \"b\": \"v\", \"stiffness\": 5, \"implicit\": "
     "true}]",
     false},
    {"gear", "\"kind\": \"revolute\", \"at\": [0.1, 0.2]",
     "\"kind\": \"revolute\", \"at\": [0.9, 0.1]", "gear", false},
    {"hinges", "\"kind\": \"revolute\", \"at\": [0.1, 0.2, 0], \"axis\": [1, 2, 2]",
     "\"kind\": \"revolute\", \"at\": [0.9, 0.1, 0.2], \"axis\": [0, 1, 1], \"friction\": 0.3", "",
     true},
    {"balls", "\"kind\": \"spherical\", \"at\": [0.1, 0.2, 0]",
     "\"kind\": \"universal\", \"at\": [0.9, 0.1, 0.2], \"axis\": [1, 0, 0], \"axis_b\": [0, 1, 0]",
     "", true},
    {"slides", "\"kind\": \"prismatic\", \"at\": [0.1, 0.2, 0], \"axis\": [1, 2, 2]",
     "\"kind\": \"cylindrical\", \"at\": [0.9, 0.1, 0.2], \"axis\": [0, 1, 1], \"lower\": 0", "",
     true},
    {"threads", "\"kind\": \"screw\", \"at\": [0.1, 0.2, 0], \"axis\": [1, 2, 2], \"pitch\": 0.3",
     "\"kind\": \"plane\", \"at\": [0.9, 0.1, 0.2], \"axis\": [0, 1, 1]", "", true},
    {"held", "\"kind\": \"point_on_line\", \"at\": [0.1, 0.2, 0], \"axis\": [1, 2, 2]",
     "\"kind\": \"weld\", \"at\": [0.9, 0.1, 0.2]", "", true},
    {"strut",
     "\"kind\": \"distance\", \"anchor_a\": [-0.4, 0.7, 1], \"anchor_b\": [0.1, 0.1, 0], "
     "\"length\": 1.4",
     "\"kind\": \"revolute\", \"at\": [0.9, 0.1, 0.2], \"axis\": [0, 1, 1], \"target\": \"t\"", "",
     true},
    {"driven",
     "\"kind\": \"screw\", \"at\": [0.1, 0.2, 0], \"axis\": [1, 2, 2], \"pitch\": 0.3, \"rate\": "
     "\"1\"",
     "\"kind\": \"universal\", \"at\": [0.9, 0.1, 0.2], \"axis\": [1, 0, 0], \"axis_b\": [0, 1, 0],"
     " \"stiffness\": 2, \"damping\": 0.3",
     "gear", true},
};
enum { MACHINES = sizeof machines / sizeof machines[0] };

static perp_scene *scene_of(const machine *m)
{
    char text[4000];
    perp_scene *scene = NULL;
    perp_error error = {0};
    bool gear = strcmp(m->more, "gear") == 0;
    const char *bodies =
        m->spatial
            ? "{\"name\": \"u\", \"kind\": \"solid\", \"position\": [0.5, 0.1, 0.1], \"mass\": 2,"
              " \"inertia\": [0.2, 0.3, 0.4], \"velocity\": [1, -2, 0.7], \"spin\": [1, -2, 1.5]},"
              "{\"name\": \"v\", \"kind\": \"solid\", \"position\": [1.2, 0.3, 0.3], \"mass\": 1,"
              " \"inertia\": [0.1, 0.12, 0.07], \"velocity\": [-1, 0.4, 1.1], \"spin\": [-2, 1, "
              "0.6]}"
            : "{\"name\": \"u\", \"position\": [0.5, 0.1], \"angle\": 0.3, \"mass\": 2, "
              "\"inertia\": 0.3,"
              " \"velocity\": [1, -2], \"spin\": -1.5},"
              "{\"name\": \"v\", \"position\": [1.2, 0.3], \"angle\": 0.3, \"mass\": 1,"
              " \"inertia\": 0.1, \"velocity\": [-1, -0.7], \"spin\": 1.1}";
    snprintf(text, sizeof text,
             "{\"step\": 0.004, \"bodies\": [%s], \"joints\": [{" ON_GROUND "%s}, {" ON_BODY
             "%s}%s]%s}",
             bodies, m->first, m->second,
             gear ? ", {\"name\": \"g\", \"kind\": \"gear\", \"joint_a\": \"p\", \"joint_b\": "
                    "\"s\", \"ratio\": 1.5}"
                  : "",
             gear ? "" : m->more);
    if (perp_scene_parse(m->name, text, strlen(text), NULL, &scene, &error) < 0) {
        fail_msg("%s: line %d: %s", m->name, error.line, error.text);
    }
    return scene;
}

// ── Gradients ────────────────────────────────────────────────────────────────────────────────────

static void shake(const perp_model *m, pp_frame *body, rng *r, double by)
{
    for (int i = 0; i < m->bodies; i++) {
        pp_frame *f = &body[i];
        if (m->body[i].nv == 0) {
            continue;
        }
        f->p = pp_add(f->p, pp_vec(rng_uniform(r, -by, by), rng_uniform(r, -by, by),
                                   m->spatial ? rng_uniform(r, -by, by) : 0.0));
        if (m->spatial) {
            perp_quat q = {1.0, rng_uniform(r, -by, by), rng_uniform(r, -by, by),
                           rng_uniform(r, -by, by)};
            pp_frame_set_rotation(f, pp_quat_unit(pp_quat_mul(q, f->rot)));
        } else {
            pp_frame_set_angle(f, f->angle + rng_uniform(r, -by, by));
        }
        f->v = pp_vec(rng_uniform(r, -1.0, 1.0), rng_uniform(r, -1.0, 1.0),
                      m->spatial ? rng_uniform(r, -1.0, 1.0) : 0.0);
        f->w = pp_vec(m->spatial ? rng_uniform(r, -1.0, 1.0) : 0.0,
                      m->spatial ? rng_uniform(r, -1.0, 1.0) : 0.0, rng_uniform(r, -1.0, 1.0));
    }
}

// Frames a while later, each body going straight on and turning about one axis.
static void advance(const perp_model *m, const pp_frame *from, double dt, pp_frame *to)
{
    for (int i = 0; i < m->bodies; i++) {
        to[i] = from[i];
        to[i].p = pp_along(from[i].p, dt, from[i].v);
        perp_vec3 w = pp_scale(0.5 * dt, from[i].w);
        if (m->spatial) {
            perp_quat q = {1.0, w.x, w.y, w.z};
            pp_frame_set_rotation(&to[i], pp_quat_unit(pp_quat_mul(q, from[i].rot)));
        } else {
            pp_frame_set_angle(&to[i], from[i].angle + dt * from[i].w.z);
        }
    }
}

static bool is_fixed(const perp_model *m, int joint, int row)
{
    perp_joint_kind kind = m->joint[joint].kind;
    int first = kind == PERP_JOINT_WELD ? 3 : 2;
    return m->spatial && (kind == PERP_JOINT_WELD || kind == PERP_JOINT_PRISMATIC) && row >= first;
}

// How the values of points that coincide change because the axes of the world do not turn with a.
static double turned_by_a(const perp_model *m, const pp_frame *body, int joint, int row,
                          const pp_row *at)
{
    const pp_joint *j = &m->joint[joint];
    bool point = j->kind == PERP_JOINT_SPHERICAL || j->kind == PERP_JOINT_REVOLUTE ||
                 j->kind == PERP_JOINT_UNIVERSAL || j->kind == PERP_JOINT_WELD;
    if (!m->spatial || !point || row > 2) {
        return 0.0;
    }
    perp_vec3 by = pp_cross(body[j->a].w, pp_vec(at[0].value, at[1].value, at[2].value));
    const double along[3] = {by.x, by.y, by.z};
    return along[row];
}

// Rates against differences of values, and values and rows against those of constraint/.
static void rows_are_rates_of_values(void **state)
{
    (void)state;
    enum { BODIES = 3 };
    for (int k = 0; k < MACHINES; k++) {
        perp_scene *scene = scene_of(&machines[k]);
        const perp_model *m = perp_scene_model(scene);
        for (uint64_t seed = 1; seed <= 40; seed++) {
            rng r = rng_seed(seed);
            pp_frame body[BODIES], less[BODIES], more[BODIES];
            double q[14], nu[12];
            pp_state start = {.q = q, .nu = nu};
            pp_state_start(m, &start);
            pp_frames(m, &start, body);
            shake(m, body, &r, 0.2);
            advance(m, body, -1e-5, less);
            advance(m, body, 1e-5, more);
            pp_poses poses = {.t = 0.0, .body = body}, before = {.t = -1e-5, .body = less};
            pp_poses after = {.t = 1e-5, .body = more};
            for (int j = 0; j < m->joints; j++) {
                pp_row at[PP_JOINT_EQUATIONS + 1], a[PP_JOINT_EQUATIONS + 1],
                    b[PP_JOINT_EQUATIONS + 1], made[PP_JOINT_EQUATIONS + 1];
                int n = pp_own_equations(m, &poses, j, at);
                pp_own_equations(m, &before, j, a);
                pp_own_equations(m, &after, j, b);
                assert_int_equal(pp_joint_equations(m, &poses, j, made), n);
                if (pp_own_coordinate(m, &poses, j, &at[n])) {
                    pp_own_coordinate(m, &before, j, &a[n]);
                    pp_own_coordinate(m, &after, j, &b[n]);
                    pp_joint_coordinate(m, &poses, j, &made[n++]);
                }
                for (int i = 0; i < n; i++) {
                    double rate = (b[i].value - a[i].value) / 2e-5 - turned_by_a(m, body, j, i, at);
                    if (!is_fixed(m, j, i) && fabs(rate - at[i].v_pre) > 1e-7) {
                        fail_msg("%s, seed %d, joint %d, row %d: rate %g, not %g", machines[k].name,
                                 (int)seed, j, i, at[i].v_pre, rate);
                    }
                    assert_true(fabs(made[i].value - at[i].value) < 1e-12);
                    assert_true(fabs(made[i].v_pre - at[i].v_pre) < 1e-12);
                }
            }
        }
        perp_scene_destroy(scene);
    }
}

// ── Wrong rows ───────────────────────────────────────────────────────────────────────────────────

typedef struct fault {
    int list, row, block, entry;  // list: b, boxed, limits
    double factor;
    bool hit;
} fault;

static pp_row *rows_of(perp_sim *sim, int list, int *count)
{
    pp_rows *rows = &sim->step.row;
    *count = list == 0 ? rows->nb : list == 1 ? rows->nm : rows->nn - rows->nc;
    return list == 0 ? rows->b : list == 1 ? rows->m : rows->n + rows->nc;
}

static void spoil(void *user, const perp_sim *sim, perp_stage done)
{
    fault *f = user;
    int count;
    if (done != PERP_STAGE_CONSTRAINT || f->list < 0) {
        return;
    }
    pp_row *row = rows_of((perp_sim *)(uintptr_t)sim, f->list, &count);
    if (f->row < count && f->block < row[f->row].count) {
        double *J = row[f->row].J[f->block];
        int nv = sim->model->body[row[f->row].body[f->block]].nv;
        f->hit = f->entry < nv && fabs(J[f->entry < nv ? f->entry : 0]) > 1e-6;
        if (f->hit) {
            J[f->entry] *= f->factor;
        }
    }
}

// Whether the first step passes.
static bool passes(const perp_scene *scene, perp_stepper stepper, fault *f)
{
    perp_sim *sim = NULL;
    perp_error error = {0};
    perp_sim_def def = perp_scene_sim_def(scene);
    def.stepper = stepper;
    def.on_stage = spoil;
    def.user = f;
    f->hit = false;
    if (perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error) < 0) {
        fail_msg("%s", error.text);
    }
    perp_status status = perp_sim_step(sim, 0.004);
    bool passed = status >= 0 && perp_sim_info(sim)->certificate.passed;
    if (passed && f->hit &&
        f->list == 2) {  // a limit that nothing pushes against has no part in the step
        f->hit = sim->step.answer.pn[sim->step.row.nc + f->row] > 0.0;
    }
    perp_sim_destroy(sim);
    return passed;
}

static void steps_of_wrong_rows_do_not_pass(void **state)
{
    (void)state;
    static const perp_stepper steppers[] = {PERP_STEPPER_STEWART_TRINKLE,
                                            PERP_STEPPER_ANITESCU_POTRA};
    int hits = 0;
    for (int k = 0; k < 2 * MACHINES; k++) {
        const machine *m = &machines[k / 2];
        perp_scene *scene = scene_of(m);
        fault none = {.list = -1};
        if (!passes(scene, steppers[k % 2], &none)) {
            fail_msg("%s does not pass", m->name);
        }
        for (int c = 0; c < 3 * 24 * 3 * 6; c++) {
            fault f = {c / 432, c / 18 % 24, c / 6 % 3, c % 6, c % 2 ? -1.0 : 1.001, false};
            bool passed = passes(scene, steppers[k % 2], &f);
            hits += f.hit;
            if (passed && f.hit) {
                fail_msg("%s: row %d of list %d, body %d, entry %d is wrong and passes", m->name,
                         f.row, f.list, f.block, f.entry);
            }
        }
        perp_scene_destroy(scene);
    }
    assert_true(hits > 200);
}

// An impulse of a joint that is a millionth larger than it is.
static void push_joint_more(void *user, const perp_sim *sim, perp_stage done)
{
    fault *f = user;
    const pp_step *s = &sim->step;
    if (done != PERP_STAGE_SOLVE || f->row >= s->row.nb) {
        return;
    }
    double most = 0.0, *p = s->answer.pb;
    for (int i = 0; i < s->row.nb; i++) {
        most = fmax(most, fabs(p[i]));
    }
    f->hit = f->row >= 0 && fabs(p[f->row]) > 0.05 * most;
    if (f->hit) {
        p[f->row] *= 1.0 + f->factor;
    }
}

static void wrong_impulses_of_joints_do_not_pass(void **state)
{
    (void)state;
    int hits = 0;
    for (int k = 0; k < MACHINES; k++) {
        perp_scene *scene = scene_of(&machines[k]);
        for (int row = -1; row < 12; row++) {
            fault f = {.row = row, .factor = 1e-6};
            perp_sim *sim = NULL;
            perp_error error = {0};
            perp_sim_def def = perp_scene_sim_def(scene);
            def.on_stage = push_joint_more;
            def.user = &f;
            assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error),
                             PERP_OK);
            perp_status status = perp_sim_step(sim, 0.004);
            bool passed = status >= 0 && perp_sim_info(sim)->certificate.passed;
            if (passed == f.hit) {
                fail_msg("%s: with impulse %d %s it %s", machines[k].name, row,
                         f.hit ? "wrong" : "right", passed ? "passes" : "fails");
            }
            hits += f.hit;
            perp_sim_destroy(sim);
        }
        perp_scene_destroy(scene);
    }
    assert_true(hits > 30);
}

// The impulse of the forces, that of a body's own spin included, is reckoned anew: a share of it more does not pass.
static void push_more(void *user, const perp_sim *sim, perp_stage done)
{
    const int *at = user;
    if (done == PERP_STAGE_KINEMATICS && *at >= 0) {
        sim->step.kin.loads.p_ext[*at] *= 1.0 + 1e-3;
    }
}

static void wrong_forces_do_not_pass(void **state)
{
    (void)state;
    static const char text[] =
        "{\"step\": 0.004, \"gravity\": [0.1, -0.2, -9.8], \"bodies\": [{\"name\": \"u\", "
        "\"kind\": \"solid\","
        " \"mass\": 2, \"inertia\": [0.2, 0.3, 0.4], \"velocity\": [1, -2, 0.7], \"spin\": [5, -9, "
        "7]},"
        " {\"name\": \"v\", \"kind\": \"solid\", \"position\": [1, 1, 0], \"mass\": 1, "
        "\"inertia\": [0.1, 0.12, 0.07],"
        " \"spin\": [1, 2, 3]}], \"forces\": [{\"kind\": \"force\", \"body\": \"v\","
        " \"fx\": \"t+1\", \"fy\": \"x\", \"fz\": 2,"
        " \"anchor\": [0.1, 0, 0.3]}, {\"kind\": \"spring\", \"a\": \"u\", \"b\": \"v\", "
        "\"anchor_b\": [0, 0.2, 0.1],"
        " \"anchor_a\": [0.2, 0, 0.1], \"stiffness\": 30, \"damping\": 0.4, \"rest\": 1}]}";
    static const perp_gyroscopic rules[] = {PERP_GYROSCOPIC_IMPLICIT, PERP_GYROSCOPIC_EXPLICIT};
    perp_error error = {0};
    for (int k = 0; k < 2; k++) {
        for (int at = -1; at < 12; at++) {
            perp_scene *scene = NULL;
            perp_sim *sim = NULL;
            if (perp_scene_parse("forces", text, strlen(text), NULL, &scene, &error) < 0) {
                fail_msg("line %d: %s", error.line, error.text);
            }
            perp_sim_def def = perp_scene_sim_def(scene);
            def.gyroscopic = rules[k];
            def.on_stage = push_more;
            def.user = &at;
            assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error),
                             PERP_OK);
            perp_status status = perp_sim_step(sim, 0.004);
            // The explicit rule feeds energy into what spins: of it the balance of momentum is looked at.
            const perp_certificate *c = &perp_sim_info(sim)->certificate;
            bool passed = status >= 0 && c->relative[PERP_JUDGED_MOMENTUM] <= 1.0;
            if (passed != (at < 0)) {
                fail_msg("rule %d: with force %d wrong it %s", k, at, passed ? "passes" : "fails");
            }
            perp_sim_destroy(sim);
            perp_scene_destroy(scene);
        }
    }
}

// ── Wrong terms of contacts ──

typedef enum contact_fault {
    NO_FAULT,
    CLOSED_GAP,   // a gap that is open is said to be closed
    NO_GAP_TERM,  // psi/h is left out
    DRIFT_TERM,   // friction corrects a drift that is not there
} contact_fault;

static void spoil_contact(void *user, const perp_sim *sim, perp_stage done)
{
    contact_fault wrong = *(const contact_fault *)user;
    pp_step *s = &((perp_sim *)(uintptr_t)sim)->step;
    for (int i = 0; i < s->gap.count && done == PERP_STAGE_GAP && wrong == CLOSED_GAP; i++) {
        s->gap.contact[i].gap = 0.0;
    }
    for (int i = 0; i < s->row.nc && done == PERP_STAGE_CONSTRAINT; i++) {
        s->row.n[i].bias = wrong == NO_GAP_TERM ? 0.0 : s->row.n[i].bias;
        s->row.t[s->row.group[s->row.friction[i]].t].bias += wrong == DRIFT_TERM ? 0.5 : 0.0;
    }
}

// A disc, or ball, that is stopped above the floor, and one that friction moves. With moreau-jean slow enough that the step
// is not divided, after which a contact that is taken for closed has no effect.
static void wrong_terms_of_contacts_do_not_pass(void **state)
{
    (void)state;
    static const struct {
        perp_stepper stepper;
        double gap;
        contact_fault fault;
    } cases[] = {{PERP_STEPPER_STEWART_TRINKLE, 0.01, NO_FAULT},
                 {PERP_STEPPER_STEWART_TRINKLE, 0.01, NO_GAP_TERM},
                 {PERP_STEPPER_STEWART_TRINKLE, 0.01, CLOSED_GAP},
                 {PERP_STEPPER_STEWART_TRINKLE, 0.0, DRIFT_TERM},
                 {PERP_STEPPER_ANITESCU_POTRA, 0.03, NO_FAULT},
                 {PERP_STEPPER_ANITESCU_POTRA, 0.03, CLOSED_GAP},
                 {PERP_STEPPER_MOREAU_JEAN, 0.009, NO_FAULT},
                 {PERP_STEPPER_MOREAU_JEAN, 0.009, CLOSED_GAP},
                 {PERP_STEPPER_ANITESCU_POTRA, 0.0, DRIFT_TERM}};
    for (size_t k = 0; k < 2 * sizeof cases / sizeof cases[0]; k++) {
        bool spatial = k % 2 != 0;
        char text[512];
        contact_fault wrong = cases[k / 2].fault;
        snprintf(
            text, sizeof text,
            "{\"shapes\": [{\"kind\": \"%s\", \"mu\": 0.5}], \"bodies\": [{\"name\": \"b\", %s "
            "\"position\": [0, %s%g], \"mass\": 1, \"inertia\": %s, \"velocity\": [1, %s-%g], "
            "\"shapes\": [{\"kind\": \"%s\", \"radius\": 0.5, \"mu\": 0.5}]}]}",
            spatial ? "halfspace" : "halfplane", spatial ? "\"kind\": \"solid\"," : "",
            spatial ? "0, " : "", 0.5 + cases[k / 2].gap, spatial ? "[0.1, 0.1, 0.1]" : "0.1",
            spatial ? "0, " : "", cases[k / 2].stepper == PERP_STEPPER_MOREAU_JEAN ? 2.48 : 5.0,
            spatial ? "sphere" : "disc");
        perp_scene *scene = NULL;
        perp_sim *sim = NULL;
        perp_error error = {0};
        if (perp_scene_parse("disc", text, strlen(text), NULL, &scene, &error) < 0) {
            fail_msg("%s", error.text);
        }
        perp_sim_def def = perp_scene_sim_def(scene);
        def.stepper = cases[k / 2].stepper;
        def.on_stage = spoil_contact;
        def.user = &wrong;
        assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error),
                         PERP_OK);
        perp_status status = perp_sim_step(sim, 0.004);
        bool passed = status >= 0 && perp_sim_info(sim)->certificate.passed;
        if (passed != (wrong == NO_FAULT)) {
            fail_msg("case %d%s: %s", (int)k / 2, spatial ? " in space" : "",
                     passed ? "passes" : "fails");
        }
        perp_sim_destroy(sim);
        perp_scene_destroy(scene);
    }
}

// ── What a step leaves to the next ──

// Two boxes on a hinge that fall on a floor, and a ball.
static const char boxes[] =
    "{\"shapes\": [{\"kind\": \"halfspace\", \"mu\": 0.5}], \"bodies\": ["
    "{\"name\": \"u\", \"kind\": \"solid\", \"position\": [0, 0, 0.3], \"mass\": 1,"
    " \"inertia\": [0.1, 0.2, 0.25], \"spin\": [1, 2, 3],"
    " \"shapes\": [{\"kind\": \"box\", \"size\": [0.3, 0.2, 0.1], \"mu\": 0.5}]},"
    "{\"name\": \"v\", \"kind\": \"solid\", \"position\": [0.4, 0, 0.3], \"mass\": 1, \"inertia\": "
    "[0.1, 0.2, 0.25],"
    " \"shapes\": [{\"kind\": \"box\", \"size\": [0.3, 0.2, 0.1], \"mu\": 0.5}]},"
    "{\"name\": \"w\", \"kind\": \"solid\", \"position\": [0.2, 0, 0.6], \"mass\": 1, \"inertia\": "
    "[0.1, 0.1, 0.1],"
    " \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.1, \"mu\": 0.5}]}],"
    " \"joints\": [{\"name\": \"h\", \"kind\": \"revolute\", \"a\": \"u\", \"b\": \"v\", \"at\": "
    "[0.2, 0, 0.3],"
    " \"axis\": [0, 1, 0], \"lower\": -0.5, \"upper\": 0.5, \"friction\": 0.1}]}";

// The same steps by a sim that keeps what it found where a step ended and by one that forgets it: the certificates have the
// same bits, also where the state was changed in between.
static void compare_with_forgetful(const perp_scene *scene, perp_stepper stepper,
                                   perp_coordinates coordinates, const char *name)
{
    enum { STEPS = 24 };
    perp_sim *sim[2] = {NULL, NULL};
    perp_error error = {0};
    double q[28], nu[24];
    int kept = 0;
    for (int k = 0; k < 2; k++) {
        perp_sim_def def = perp_scene_sim_def(scene);
        def.stepper = stepper;
        def.coordinates = coordinates;
        if (perp_sim_create(perp_scene_model(scene), &def, NULL, &sim[k], &error) < 0) {
            fail_msg("%s: %s", name, error.text);
        }
    }
    for (int i = 0; i < STEPS; i++) {
        for (int k = 0; k < 2; k++) {
            if (i % 5 == 4) {
                int nv = perp_scene_model(scene)->nv;
                double t = 0.0;
                assert_int_equal(perp_sim_state_get(sim[k], &t, q, nu), PERP_OK);
                for (int c = 0; c < nv; c++) {
                    nu[c] *= 0.5;
                }
                q[0] += 1e-6;
                assert_int_equal(perp_sim_state_set(sim[k], t, q, nu), PERP_OK);
            }
            if (k == 1 && sim[k]->judged_end) {
                sim[k]->judged_end->valid = false;
            }
            assert_true(perp_sim_step(sim[k], 0.004) >= 0);
        }
        const perp_step_info *a = perp_sim_info(sim[0]), *b = perp_sim_info(sim[1]);
        kept += sim[0]->judged_end->valid;
        if (!pp_same_bits(a->certificate.relative, b->certificate.relative,
                          sizeof a->certificate.relative) ||
            !pp_same_bits(&a->energy, &b->energy, sizeof a->energy) ||
            a->certificate.pairs != b->certificate.pairs) {
            fail_msg("%s: step %d is judged in another way", name, i);
        }
    }
    assert_int_equal(kept, STEPS);
    perp_sim_destroy(sim[0]);
    perp_sim_destroy(sim[1]);
}

static void steps_are_judged_as_without_memory(void **state)
{
    (void)state;
    perp_scene *scene = NULL;
    perp_error error = {0};
    static const perp_coordinates both[] = {PERP_COORDINATES_BODY, PERP_COORDINATES_JOINT};
    for (int c = 0; c < 2; c++) {
        for (int k = 0; k < MACHINES; k++) {
            scene = scene_of(&machines[k]);
            compare_with_forgetful(scene, PERP_STEPPER_STEWART_TRINKLE, both[c], machines[k].name);
            perp_scene_destroy(scene);
        }
        if (perp_scene_parse("boxes", boxes, strlen(boxes), NULL, &scene, &error) < 0) {
            fail_msg("line %d: %s", error.line, error.text);
        }
        compare_with_forgetful(scene, PERP_STEPPER_STEWART_TRINKLE, both[c], "boxes");
        perp_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_rates_of_values),
        cmocka_unit_test(steps_of_wrong_rows_do_not_pass),
        cmocka_unit_test(wrong_impulses_of_joints_do_not_pass),
        cmocka_unit_test(wrong_forces_do_not_pass),
        cmocka_unit_test(wrong_terms_of_contacts_do_not_pass),
        cmocka_unit_test(steps_are_judged_as_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
