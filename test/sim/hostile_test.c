// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Sims used as nobody should: values that are no numbers, damaged states, bodies that fly, jump and jam.
// Whatever happens is refused, failed or violated by name; nothing false passes.
#include "support/cmocka.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double BAD[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
enum { BADS = sizeof BAD / sizeof BAD[0] };

typedef struct world {
    perp_scene *scene;
    perp_sim *sim;
} world;

static world open_world(const char *text, perp_stepper stepper, perp_form form)
{
    world w = {NULL, NULL};
    perp_error error = {0};
    if (perp_scene_parse("test", text, strlen(text), NULL, &w.scene, &error) < 0) {
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    }
    perp_sim_def def = perp_scene_sim_def(w.scene);
    def.stepper = stepper;
    def.form = form;
    if (perp_sim_create(perp_scene_model(w.scene), &def, NULL, &w.sim, &error) < 0) {
        fail_msg("%s", error.text);
    }
    return w;
}

static void close_world(world w)
{
    perp_sim_destroy(w.sim);
    perp_scene_destroy(w.scene);
}

static perp_body body_of(const world *w, const char *name)
{
    return perp_model_body(perp_scene_model(w->scene), name);
}

// The worst status of some steps; they end at the first that fails.
static perp_status walk(perp_sim *sim, double h, int steps)
{
    perp_status worst = PERP_OK;
    for (int k = 0; k < steps && worst >= 0; k++) {
        perp_status status = perp_sim_step(sim, h);
        worst = status < 0 || status > worst ? status : worst;
    }
    return worst;
}

#define FLOOR "\"shapes\": [{\"name\": \"floor\", \"kind\": \"halfplane\"}]"
#define DISC                                                                                       \
    "\"shapes\": [{\"kind\": \"disc\", \"radius\": 0.1, \"density\": 10, \"restitution\": 0}]"

static const char ball[] =
    "{" FLOOR ", \"bodies\": [{\"name\": \"ball\", \"position\": [0, 0.1], " DISC "}]}";

// ── Values that are none ─────────────────────────────────────────────────────────────────────────

static void refuse(const perp_model *model, perp_sim_def def)
{
    perp_sim *sim = NULL;
    perp_error error = {0};
    assert_true(perp_sim_create(model, &def, NULL, &sim, &error) < 0);
    assert_null(sim);
    assert_true(error.text[0] != '\0');
}

static void definitions_are_checked(void **state)
{
    (void)state;
    world w = open_world(ball, PERP_STEPPER_STEWART_TRINKLE, PERP_FORM_AUTO);
    const perp_model *m = perp_scene_model(w.scene);
    for (int k = 0; k < BADS; k++) {
        perp_sim_def def = perp_sim_default();
        def.margin = BAD[k];
        refuse(m, def);
        def = perp_sim_default();
        def.tolerance = BAD[k];
        refuse(m, def);
        def = perp_sim_default();
        def.theta = BAD[k];
        refuse(m, def);
    }
    perp_sim_def def = perp_sim_default();
    def.limits.gap = (double)NAN;
    refuse(m, def);
    def = perp_sim_default();
    def.stepper = (perp_stepper)99;
    refuse(m, def);
    def = perp_sim_default();
    def.form = (perp_form)99;
    refuse(m, def);
    def = perp_sim_default();
    def.friction = (perp_friction_law)99;
    refuse(m, def);
    def = perp_sim_default();
    def.impact = (perp_impact_law)99;
    refuse(m, def);
    def = perp_sim_default();
    def.solver = "";
    refuse(m, def);
    def = perp_sim_default();
    def.solver = "modes";  // a step chooses it itself
    refuse(m, def);
    def = perp_sim_default();
    def.cookie++;
    refuse(m, def);
    close_world(w);
}

static void refuse_with(const perp_model *model, perp_sim_def def, const char *text)
{
    perp_sim *sim = NULL;
    perp_error error = {0};
    assert_int_equal(perp_sim_create(model, &def, NULL, &sim, &error), PERP_ERR_ARGUMENT);
    assert_null(sim);
    assert_string_equal(error.text, text);
}

// Messages name the member and its range.
static void definitions_are_explained(void **state)
{
    (void)state;
    world w = open_world(ball, PERP_STEPPER_STEWART_TRINKLE, PERP_FORM_AUTO);
    const perp_model *m = perp_scene_model(w.scene);
    perp_sim_def def = perp_sim_default();
    def.facets = 2;
    refuse_with(m, def, "sim: facets must be between 3 and 256, got 2");
    def = perp_sim_default();
    def.threads = 1000;
    refuse_with(m, def, "sim: threads must be between 0 and 256, got 1000");
    def = perp_sim_default();
    def.event.eps = 0.0;
    refuse_with(m, def, "sim: eps, tolerances and the event limit must be positive");
    def = perp_sim_default();
    def.event.max_events_per_second = (double)NAN;
    refuse_with(m, def, "sim: eps, tolerances and the event limit must be positive");
    def = perp_sim_default();
    def.coordinates = PERP_COORDINATES_JOINT;
    def.tree_count = 3;
    refuse_with(m, def, "sim: tree_count is 3, but tree is NULL");
    def.tree_count = 0;
    def.stepper = PERP_STEPPER_MOREAU_JEAN;
    refuse_with(m, def, "sim: moreau-jean does not support joint coordinates; use stewart-trinkle");
    close_world(w);
}

// A state whose quaternion is no rotation is refused and changes nothing. Opened joints of the tree are closed where
// the state is set, and the sim reports by how much.
static void states_are_checked(void **state)
{
    (void)state;
    static const char top[] = "{\"bodies\": [{\"name\": \"top\", \"kind\": \"solid\", \"mass\": 1, "
                              "\"inertia\": [1, 1, 1]}]}";
    static const char rod[] =
        "{\"coordinates\": \"joint\", \"bodies\": [{\"name\": \"rod\", \"position\": [0.5, 0], "
        "\"mass\": 1, \"inertia\": 0.1}], \"joints\": [{\"kind\": \"revolute\", \"b\": \"rod\", "
        "\"anchor_b\": [-0.5, 0]}]}";
    world w = open_world(top, PERP_STEPPER_STEWART_TRINKLE, PERP_FORM_AUTO);
    double q[7] = {1, 2, 3, 0.5, 0.5, 0.5, 0.5}, nu[6] = {0}, t;
    assert_int_equal(perp_sim_state_set(w.sim, 0.0, q, nu), PERP_OK);
    uint64_t hash = perp_sim_state_hash(w.sim);
    q[3] = 0.9;
    assert_int_equal(perp_sim_state_set(w.sim, 0.0, q, nu), PERP_ERR_ARGUMENT);
    assert_string_equal(perp_sim_error(w.sim)->text,
                        "state: the quaternion of a body does not have length 1");
    assert_true(perp_sim_state_hash(w.sim) == hash);
    close_world(w);
    w = open_world(rod, PERP_STEPPER_STEWART_TRINKLE, PERP_FORM_AUTO);
    const double open[3] = {0.8, 0.0, 0.0};
    assert_int_equal(perp_sim_state_set(w.sim, 0.0, open, nu), PERP_OK);
    assert_int_equal(perp_sim_state_get(w.sim, &t, q, nu), PERP_OK);
    assert_true(fabs(q[0] - 0.5) < 1e-12 && fabs(q[1]) < 1e-12 && fabs(q[2]) < 1e-12);
    assert_string_equal(perp_sim_info(w.sim)->remark,
                        "bodies were moved by up to 0.3 m or rad to close the joints of the tree; "
                        "body 'rod' most");
    close_world(w);
}

static perp_status build(const perp_body_def *body, const perp_joint_def *joint)
{
    perp_builder *builder = perp_builder_create(NULL);
    perp_body_def plain = perp_body_default();
    plain.mass = plain.inertia_zz = 1.0;
    perp_body b = perp_builder_add_body(builder, body ? body : &plain);
    if (joint) {
        perp_joint_def copy = *joint;
        copy.b = b;
        perp_builder_add_joint(builder, &copy);
    }
    perp_model *model = NULL;
    perp_status status = perp_model_create(builder, &model, NULL);
    perp_model_destroy(model);
    perp_builder_destroy(builder);
    return status;
}

static void models_are_checked(void **state)
{
    (void)state;
    assert_int_equal(build(NULL, NULL), PERP_OK);
    perp_body_def body = perp_body_default();
    body.mass = body.inertia_zz = 1.0;
    body.motion = (perp_motion)99;
    assert_true(build(&body, NULL) < 0);
    static const double bounce[] = {(double)NAN, -1.0, 5.0};
    for (int k = 0; k < BADS; k++) {
        perp_joint_def joint = perp_joint_default();
        joint.limit_restitution = bounce[k];
        assert_true(build(NULL, &joint) < 0);
        joint = perp_joint_default();
        joint.friction = BAD[k];
        assert_true(build(NULL, &joint) < 0);
        body = perp_body_default();
        body.mass = BAD[k];
        assert_true(build(&body, NULL) < 0);
        body = perp_body_default();
        body.mass = body.inertia_zz = 1.0;
        body.velocity_W.y = BAD[k];
        assert_true(build(&body, NULL) < 0);
    }
}

static void steps_are_checked(void **state)
{
    (void)state;
    world w = open_world(ball, PERP_STEPPER_STEWART_TRINKLE, PERP_FORM_AUTO);
    uint64_t hash = perp_sim_state_hash(w.sim);
    static const double steps[] = {0.0, -0.01, (double)NAN, (double)INFINITY, 1e300};
    for (int k = 0; k < 5; k++) {
        assert_true(perp_sim_step(w.sim, steps[k]) < 0);
        assert_true(perp_sim_state_hash(w.sim) == hash);
    }
    assert_int_equal(perp_sim_step(w.sim, 0.01), PERP_OK);
    close_world(w);
}

// A wrench that is no number is refused, and the sim goes on without it.
static void wrenches_are_checked(void **state)
{
    (void)state;
    world w = open_world(ball, PERP_STEPPER_STEWART_TRINKLE, PERP_FORM_AUTO);
    perp_body b = body_of(&w, "ball");
    for (int k = 0; k < BADS; k++) {
        perp_sim_body_apply(w.sim, b, (perp_wrench){{0.0, BAD[k], 0.0}, {0.0, 0.0, 0.0}});
        perp_sim_body_apply(w.sim, b, (perp_wrench){{0.0, 0.0, 0.0}, {0.0, 0.0, BAD[k]}});
        assert_true(perp_sim_step(w.sim, 0.01) < 0);
        assert_int_equal(perp_sim_step(w.sim, 0.01), PERP_OK);
    }
    perp_sim_body_apply(w.sim, (perp_body){-1}, (perp_wrench){{1.0, 0.0, 0.0}, {0.0, 0.0, 0.0}});
    perp_sim_body_apply(w.sim, (perp_body){99}, (perp_wrench){{1.0, 0.0, 0.0}, {0.0, 0.0, 0.0}});
    assert_int_equal(perp_sim_step(w.sim, 0.01), PERP_OK);
    assert_true(fabs(perp_sim_body_position(w.sim, b).x) < 1e-12);
    close_world(w);
}

// Sizes, places and steps at the end of the numbers: whatever comes of them, nothing is read that is not
// there, and a state is left that is one.
static void extremes_are_survived(void **state)
{
    (void)state;
    static const double sizes[] = {1e308, 1e200, 1e-308, 5e-324};
    for (int spatial = 0; spatial < 2; spatial++) {
        for (int k = 0; k < 4; k++) {
            perp_builder *builder = perp_builder_create(NULL);
            for (int i = 0; i < 5; i++) {
                perp_body_def body = perp_body_default();
                body.kind = spatial ? PERP_BODY_SPATIAL : PERP_BODY_PLANAR;
                body.mass = body.inertia_zz = 1.0;
                body.inertia_B[0] = body.inertia_B[1] = body.inertia_B[2] = 1.0;
                body.position_W.x = i == 3 ? -sizes[k] : 0.2 * i;
                body.velocity_W.x = i == 0 ? 1000.0 : 0.0;
                perp_shape_def shape = perp_shape_default();
                shape.kind = spatial ? PERP_SHAPE_SPHERE : PERP_SHAPE_DISC;
                shape.radius = i % 2 == 0 ? sizes[k] : 0.1;
                perp_builder_add_shape(builder, perp_builder_add_body(builder, &body), &shape);
            }
            perp_model *model = NULL;
            perp_sim *sim = NULL;
            if (perp_model_create(builder, &model, NULL) >= 0 &&
                perp_sim_create(model, NULL, NULL, &sim, NULL) >= 0) {
                (void)!walk(sim, 0.01, 3);
                assert_true(isfinite(perp_sim_body_position(sim, (perp_body){1}).x));
            }
            perp_sim_destroy(sim);
            perp_model_destroy(model);
            perp_builder_destroy(builder);
        }
    }
}

// ── Saved states ─────────────────────────────────────────────────────────────────────────────────

static void damaged_states_are_refused(void **state)
{
    (void)state;
    world w = open_world(ball, PERP_STEPPER_STEWART_TRINKLE, PERP_FORM_AUTO);
    assert_true(walk(w.sim, 0.01, 5) >= 0);
    size_t size = perp_sim_state_save_size(w.sim);
    unsigned char *block = malloc(size);
    assert_non_null(block);
    assert_int_equal(perp_sim_state_save(w.sim, block, size), PERP_OK);
    uint64_t hash = perp_sim_state_hash(w.sim);
    for (size_t k = 0; k < size; k++) {
        block[k] ^= (unsigned char)(1U << (k % 8));
        assert_true(perp_sim_state_restore(w.sim, block, size) < 0);
        block[k] ^= (unsigned char)(1U << (k % 8));
        assert_true(perp_sim_state_restore(w.sim, block, k) < 0);
        assert_true(perp_sim_state_hash(w.sim) == hash);
    }
    assert_int_equal(perp_sim_state_restore(w.sim, block, size), PERP_OK);
    free(block);
    close_world(w);
}

// What was applied since the last step belongs to what the next step depends on.
static void saved_states_hold_what_was_applied(void **state)
{
    (void)state;
    world w = open_world(ball, PERP_STEPPER_STEWART_TRINKLE, PERP_FORM_AUTO);
    perp_body b = body_of(&w, "ball");
    perp_sim_body_apply(w.sim, b, (perp_wrench){{3.0, 0.0, 0.0}, {0.0, 0.0, 0.1}});
    size_t size = perp_sim_state_save_size(w.sim);
    void *block = malloc(size);
    assert_non_null(block);
    assert_int_equal(perp_sim_state_save(w.sim, block, size), PERP_OK);
    assert_true(walk(w.sim, 0.01, 3) >= 0);
    uint64_t hash = perp_sim_state_hash(w.sim);
    assert_int_equal(perp_sim_state_restore(w.sim, block, size), PERP_OK);
    assert_true(walk(w.sim, 0.01, 3) >= 0);
    assert_true(perp_sim_state_hash(w.sim) == hash);
    free(block);
    close_world(w);
}

// ── Motion that cannot be ────────────────────────────────────────────────────────────────────────

// From rest to beyond the wall within one step, by a force alone.
static void nothing_is_pushed_through_a_wall(void **state)
{
    (void)state;
    static const char text[] = "{\"gravity\": [0, 0], \"bodies\": [\n"
                               " {\"name\": \"shot\", \"position\": [-1, 0], " DISC "},\n"
                               " {\"name\": \"wall\", \"drive\": \"fixed\", \"shapes\": "
                               "[{\"kind\": \"box\", \"size\": [0.05, 2]}]}],\n"
                               " \"forces\": [{\"kind\": \"force\", \"body\": \"shot\", \"fx\": "
                               "\"1e5*step(0.015 - t)\"}]}";
    world w = open_world(text, PERP_STEPPER_STEWART_TRINKLE, PERP_FORM_AUTO);
    perp_status status = walk(w.sim, 0.01, 10);
    assert_true(status != PERP_OK || perp_sim_body_position(w.sim, body_of(&w, "shot")).x < 0.0);
    close_world(w);
}

static void nothing_flies_off_without_inertia(void **state)
{
    (void)state;
    static const char text[] =
        "{" FLOOR ", \"bodies\": [{\"name\": \"ball\", \"position\": [0, 0.3], " DISC "}]}";
    world w = open_world(text, PERP_STEPPER_QUASISTATIC, PERP_FORM_AUTO);
    perp_status status = walk(w.sim, 0.01, 5);
    assert_true(status != PERP_OK ||
                fabs(perp_sim_body_position(w.sim, body_of(&w, "ball")).y) < 1.0);
    close_world(w);
}

static void poisson_impacts_pass(void **state)
{
    (void)state;
    static const char text[] =
        "{\"impact\": \"poisson\", " FLOOR ", \"bodies\": [\n"
        " {\"name\": \"box\", \"position\": [0, 0.8], \"angle\": 0.3, \"velocity\": [1, -2],\n"
        "  \"shapes\": [{\"kind\": \"box\", \"size\": [1, 1], \"density\": 1, \"restitution\": "
        "1}]},\n"
        " {\"name\": \"disc\", \"position\": [3, 0.6], \"velocity\": [-3, -1], \"spin\": 10,\n"
        "  \"shapes\": [{\"kind\": \"disc\", \"radius\": 0.5, \"density\": 1, \"restitution\": "
        "1}]}]}";
    world w = open_world(text, PERP_STEPPER_STEWART_TRINKLE, PERP_FORM_AUTO);
    for (int k = 0; k < 40; k++) {
        if (perp_sim_step(w.sim, 0.005) != PERP_OK) {
            fail_msg("step %d: %s", k, perp_sim_info(w.sim)->remark);
        }
    }
    assert_true(perp_sim_body_twist(w.sim, body_of(&w, "disc")).v_W.y > 0.0);
    close_world(w);
}

static void motions_that_end_fail_in_time(void **state)
{
    (void)state;
    static const char text[] =
        "{\"bodies\": [{\"name\": \"d\", \"drive\": {\"x\": \"log(0.03 - t)\", \"y\": 0},\n"
        " \"shapes\": [{\"kind\": \"box\", \"size\": [1, 1]}]}]}";
    for (int stepper = 0; perp_stepper_word(stepper); stepper++) {
        world w = open_world(text, (perp_stepper)stepper, PERP_FORM_AUTO);
        assert_true(walk(w.sim, 0.01, 10) < 0);
        perp_vec3 p = perp_sim_body_position(w.sim, body_of(&w, "d"));
        assert_true(isfinite(p.x) && perp_sim_time(w.sim) < 0.025);
        assert_non_null(strstr(perp_sim_error(w.sim)->text, "body 'd': its motion"));
        close_world(w);
    }
}

// Each function of a scene that has no value from some time on, in every stepper: the error names what has it.
static void functions_that_end_are_named(void **state)
{
    (void)state;
    static const char arm[] =
        "{\"name\": \"arm\", \"position\": [0.5, 1], \"mass\": 1, \"inertia\": 0.1}";
    static const char *const pin = "{\"name\": \"pin\", \"kind\": \"revolute\", \"b\": \"arm\", "
                                   "\"at\": [0, 1]%s}";
    static const struct {
        const char *pin, *more, *named;
    } cases[] = {
        {", \"target\": \"sqrt(0.05 - t)\", \"epsilon\": 0.05", "", "joint 'pin': its target"},
        {", \"rate\": \"sqrt(0.045 - t)\"", "", "joint 'pin': its rate"},
        {", \"rate\": \"sqrt(0.045 - t)\", \"rate_effort\": 3", "", "joint 'pin': its rate"},
        {", \"rate\": \"1/(u - 1)\"", "", "joint 'pin': its rate"},
        {"",
         ", \"forces\": [{\"name\": \"wind\", \"kind\": \"force\", \"body\": \"arm\", "
         "\"fy\": \"log(0.045 - t)\"}]",
         "force 'wind'"},
        {"",
         ", \"forces\": [{\"name\": \"wind\", \"kind\": \"force\", \"body\": \"arm\", "
         "\"torque\": \"1/(u - 1)\"}]",
         "force 'wind'"},
        {"",
         ", \"shapes\": [{\"name\": \"belt\", \"kind\": \"halfplane\", "
         "\"surface_speed\": \"sqrt(0.045 - t)\"}]",
         "shape 'belt': the velocity of its surface"},
        {"",
         ", \"actuators\": [{\"name\": \"motor\", \"kind\": \"motor\", \"joint\": \"pin\", "
         "\"control\": \"log(0.045 - t)\"}]",
         "actuator 'motor': its control"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        for (int stepper = 0; perp_stepper_word(stepper); stepper++) {
            char joint[300], text[1200];
            if (stepper == PERP_STEPPER_QUASISTATIC) {
                continue;  // the arm needs its inertia
            }
            snprintf(joint, sizeof joint, pin, cases[k].pin);
            snprintf(text, sizeof text,
                     "{\"inputs\": [{\"name\": \"u\", \"value\": 1}], \"start\": \"%s\", "
                     "\"bodies\": [%s, {\"name\": \"box\", \"position\": [5, 0.1], \"shapes\": "
                     "[{\"kind\": \"box\", \"size\": [0.2, 0.2], \"density\": 10}]}], "
                     "\"joints\": [%s]%s}",
                     stepper == PERP_STEPPER_EVENT ? "mended" : "as given", arm, joint,
                     cases[k].more);
            world w = open_world(text, (perp_stepper)stepper, PERP_FORM_AUTO);
            assert_true(walk(w.sim, 0.01, 10) < 0);
            const char *said = perp_sim_error(w.sim)->text;
            if (!strstr(said, cases[k].named)) {
                fail_msg("%s, %s: %s", cases[k].named, perp_stepper_word(stepper), said);
            }
            close_world(w);
        }
    }
}

// Forces that are finite, and their energies are not.
static void forces_that_overflow_are_named(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        world w = open_world(ball, k ? PERP_STEPPER_MOREAU_JEAN : PERP_STEPPER_STEWART_TRINKLE,
                             PERP_FORM_AUTO);
        perp_sim_body_apply(w.sim, body_of(&w, "ball"), (perp_wrench){.f_W = {1e300, 0.0, 0.0}});
        assert_true(perp_sim_step(w.sim, 0.01) < 0);
        const char *said = perp_sim_error(w.sim)->text;
        if (!strstr(said, "body 'ball': its forces overflow")) {
            fail_msg("%d: %s", k, said);
        }
        close_world(w);
    }
}

// Motions that tear a joint between them apart: no impulse can hold it.
static void given_motions_that_part_are_named(void **state)
{
    (void)state;
    static const char text[] =
        "{\"bodies\": [{\"name\": \"cart\", \"drive\": {\"x\": \"t\"}}, {\"name\": "
        "\"post\", \"drive\": \"fixed\"}, {\"name\": \"free\", \"position\": [0, 3], "
        "\"mass\": 1, \"inertia\": 1}], \"joints\": [{\"name\": \"tie\", \"kind\": "
        "\"weld\", \"a\": \"cart\", \"b\": \"post\", \"at\": [0, 0]}]}";
    static const perp_stepper steppers[] = {PERP_STEPPER_STEWART_TRINKLE,
                                            PERP_STEPPER_ANITESCU_POTRA, PERP_STEPPER_MOREAU_JEAN,
                                            PERP_STEPPER_IMPLICIT};
    for (int k = 0; k < 4; k++) {
        world w = open_world(text, steppers[k], PERP_FORM_AUTO);
        assert_true(walk(w.sim, 0.01, 3) < 0);
        const char *said = perp_sim_error(w.sim)->text;
        if (!strstr(said, "joint 'tie' between 'cart' and 'post', whose motions are given")) {
            fail_msg("%s: %s", perp_stepper_word(steppers[k]), said);
        }
        close_world(w);
    }
}

// A driven body that is at one place and then at another passed over the box between them.
static void jumps_are_seen(void **state)
{
    (void)state;
    static const char text[] =
        "{\"gravity\": [0, 0], \"bodies\": [\n"
        " {\"name\": \"d\", \"drive\": {\"x\": \"-2 + 4*step(t - 0.05)\", \"y\": 0},\n"
        "  \"shapes\": [{\"kind\": \"box\", \"size\": [1, 1]}]},\n"
        " {\"name\": \"b\", \"shapes\": [{\"kind\": \"box\", \"size\": [1, 1], \"density\": 1}]}]}";
    world w = open_world(text, PERP_STEPPER_STEWART_TRINKLE, PERP_FORM_AUTO);
    bool seen = false;
    for (int k = 0; k < 10; k++) {
        perp_status status = perp_sim_step(w.sim, 0.01);
        seen = seen || status != PERP_OK || perp_sim_info(w.sim)->remark[0] != '\0';
    }
    assert_true(seen);
    close_world(w);
}

static void starts_that_overlap_are_told(void **state)
{
    (void)state;
    static const char text[] = "{\"gravity\": [0, 0], \"bodies\": [{\"name\": \"a\", " DISC
                               "}, {\"name\": \"b\", \"position\": [0.1, 0], " DISC "}]}";
    world w = open_world(text, PERP_STEPPER_STEWART_TRINKLE, PERP_FORM_AUTO);
    const char *remark = perp_sim_info(w.sim)->remark;
    assert_true(strstr(remark, "a") && strstr(remark, "b") && strstr(remark, "overlapped"));
    assert_int_equal(perp_sim_step(w.sim, 0.01), PERP_OK);
    close_world(w);
}

// Whatever form it is posed in, a jam names what is jammed.
static void jams_are_named_in_every_form(void **state)
{
    (void)state;
    static const char text[] =
        "{\"shapes\": [{\"name\": \"wall\", \"kind\": \"halfplane\", \"angle\": \"90 deg\"}],\n"
        " \"bodies\": [{\"name\": \"ball\", \"position\": [-0.1, 0], " DISC "},\n"
        "  {\"name\": \"ram\", \"drive\": {\"x\": \"-0.35 + 0.5*t\", \"y\": 0},\n"
        "   \"shapes\": [{\"kind\": \"box\", \"size\": [0.2, 0.2]}]}]}";
    for (int form = PERP_FORM_AUTO; form <= PERP_FORM_CONE; form++) {
        world w = open_world(text, PERP_STEPPER_STEWART_TRINKLE, (perp_form)form);
        assert_int_equal(walk(w.sim, 0.01, 100), PERP_ERR_INFEASIBLE);
        assert_non_null(strstr(perp_sim_error(w.sim)->text, "ram"));
        close_world(w);
    }
}

// What a driven body needs: here the weight that hangs from it, and what swings it.
static void drives_feel_their_joints(void **state)
{
    (void)state;
    static const char text[] =
        "{\"bodies\": [{\"name\": \"crane\", \"drive\": {\"x\": 0, \"y\": 0}},\n"
        "  {\"name\": \"load\", \"kind\": \"particle\", \"position\": [0, -1], \"mass\": 2},\n"
        "  {\"name\": \"lamp\", \"kind\": \"particle\", \"position\": [0, -2], \"mass\": 1}],\n"
        " \"joints\": [{\"kind\": \"distance\", \"a\": \"crane\", \"b\": \"load\", \"length\": "
        "1}],\n"
        " \"forces\": [{\"kind\": \"spring\", \"a\": \"crane\", \"b\": \"lamp\", \"stiffness\": "
        "9.81,\n"
        "   \"rest\": 1}]}";
    world w = open_world(text, PERP_STEPPER_STEWART_TRINKLE, PERP_FORM_AUTO);
    assert_true(walk(w.sim, 0.01, 3) >= 0);
    perp_wrench p = perp_sim_body_drive_impulse(w.sim, body_of(&w, "crane"));
    assert_true(fabs(p.f_W.y - 0.01 * 9.81 * 3.0) < 1e-6 && fabs(p.f_W.x) < 1e-9);
    close_world(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definitions_are_checked),
        cmocka_unit_test(definitions_are_explained),
        cmocka_unit_test(states_are_checked),
        cmocka_unit_test(models_are_checked),
        cmocka_unit_test(steps_are_checked),
        cmocka_unit_test(wrenches_are_checked),
        cmocka_unit_test(extremes_are_survived),
        cmocka_unit_test(damaged_states_are_refused),
        cmocka_unit_test(saved_states_hold_what_was_applied),
        cmocka_unit_test(nothing_is_pushed_through_a_wall),
        cmocka_unit_test(nothing_flies_off_without_inertia),
        cmocka_unit_test(poisson_impacts_pass),
        cmocka_unit_test(motions_that_end_fail_in_time),
        cmocka_unit_test(functions_that_end_are_named),
        cmocka_unit_test(given_motions_that_part_are_named),
        cmocka_unit_test(forces_that_overflow_are_named),
        cmocka_unit_test(jumps_are_seen),
        cmocka_unit_test(starts_that_overlap_are_told),
        cmocka_unit_test(jams_are_named_in_every_form),
        cmocka_unit_test(drives_feel_their_joints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
