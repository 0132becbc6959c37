// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Every public function without what it works on: refused, or harmless, never a crash. Each call is made in a process of
// its own, so that one that crashes is named; docs/api.txt has the functions that must be here.
#include "support/child.h"
#include "support/cmocka.h"
#include "support/folder.h"

#include <perp/io.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 500, NAME = 64 };
static char called[MOST][NAME];
static int count, failures;

// The function of a call.
static void note(const char *call)
{
    size_t length = strcspn(call, "(");
    assert_true(count < MOST && length < NAME);
    memcpy(called[count], call, length);
    called[count++][length] = '\0';
}

static void complain(const char *call, int status)
{
    if (WIFSIGNALED(status)) {
        print_error("signal %d: %s\n", WTERMSIG(status), call);
        failures++;
    } else if (WEXITSTATUS(status) != 0) {
        print_error("not refused: %s\n", call);
        failures++;
    }
}

// cmocka catches crashes and goes on with the next test: not in a child.
static void prepare_child(void)
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t k = 0; k < sizeof crashes / sizeof crashes[0]; k++) {
        signal(crashes[k], SIG_DFL);
    }
    alarm(20);
}

// In a child process, whose end is returned to the parent.
#define IN_CHILD(text, statement)                                                                  \
    do {                                                                                           \
        int ended = 0;                                                                             \
        pid_t child = fork();                                                                      \
        if (child == 0) {                                                                          \
            prepare_child();                                                                       \
            statement;                                                                             \
            child_exit(0);                                                                         \
        }                                                                                          \
        waitpid(child, &ended, 0);                                                                 \
        note(text);                                                                                \
        complain(text, ended);                                                                     \
    } while (0)

#define REFUSED(call)   IN_CHILD(#call, child_exit((call) == PERP_ERR_ARGUMENT ? 0 : 1))
#define IS(call, value) IN_CHILD(#call, child_exit((call) == (value) ? 0 : 1))
#define EMPTY(call)     IN_CHILD(#call, child_exit((call) && !(call)[0] ? 0 : 1))
#define HARMLESS(call)  IN_CHILD(#call, (void)(call))

static perp_error error;
static const perp_body BODY = {1};
static const perp_shape SHAPE = {0};
static const perp_joint JOINT = {0};
static const perp_keyframe KEYFRAME = {0};

static void comp(void **state)
{
    (void)state;
    const perp_mcp mcp = {0};
    const perp_fcp fcp = {0};
    double x[8] = {0};
    int n = 0;
    EMPTY(perp_version() + strlen(perp_version()));
    HARMLESS(perp_status_text((perp_status)12345));
    HARMLESS(perp_status_word((perp_status)12345));
    HARMLESS(perp_uniqueness_word(12345));
    IS(perp_text_escape(NULL, NULL, 0), 0u);
    HARMLESS(perp_matrix_dense(0, 0, NULL));
    HARMLESS(perp_matrix_csc(0, 0, NULL, NULL, NULL));
    HARMLESS(perp_mcp_from_lcp(0, (perp_matrix){0}, NULL));
    HARMLESS(perp_workspace_destroy(perp_workspace_create(NULL)));
    IN_CHILD("perp_workspace_create(NULL)", (void)perp_workspace_create(NULL));
    HARMLESS(perp_workspace_destroy(NULL));
    HARMLESS(perp_comp_options_default());
    REFUSED(perp_mcp_solve(NULL, NULL, NULL, NULL, x, NULL));
    REFUSED(perp_mcp_solve("no such", &mcp, NULL, NULL, NULL, NULL));
    REFUSED(perp_fcp_solve(NULL, NULL, NULL, NULL, x, x, NULL));
    REFUSED(perp_fcp_solve("no such", &fcp, NULL, NULL, NULL, NULL, NULL));
    const perp_ncp ncp = {.n = 1};  // without a function
    REFUSED(perp_ncp_solve(NULL, NULL, NULL, NULL, x, NULL));
    REFUSED(perp_ncp_solve(NULL, &ncp, NULL, NULL, x, NULL));
    REFUSED(perp_ncp_judge(NULL, x, NULL, NULL));
    REFUSED(perp_ncp_judge(&ncp, NULL, NULL, NULL));
    REFUSED(perp_ncp_compare(NULL, x, NULL, NULL));
    REFUSED(perp_ncp_compare(&ncp, NULL, NULL, NULL));
    REFUSED(perp_mcp_judge(NULL, x, NULL, NULL));
    REFUSED(perp_mcp_judge(&mcp, x, NULL, NULL));
    REFUSED(perp_fcp_judge(NULL, x, x, NULL, NULL));
    REFUSED(perp_fcp_judge(&fcp, x, x, NULL, NULL));
    HARMLESS(perp_mcp_farkas(NULL, x));
    HARMLESS(perp_mcp_farkas(&mcp, NULL));
    REFUSED(perp_box_friction_solve(NULL, NULL, NULL, x, NULL));
    REFUSED(perp_box_friction_judge(NULL, x, NULL));
    REFUSED(perp_pyramid_create(NULL, 4, NULL, NULL));
    HARMLESS(perp_pyramid_destroy(NULL));
    IS(perp_pyramid_mcp(NULL), NULL);
    IS(perp_pyramid_fcp(NULL), NULL);
    HARMLESS(perp_pyramid_recover(NULL, x, x, x));
    REFUSED(perp_pyramid_split(NULL, x, x, x));
    HARMLESS(perp_solver_count());
    IS(perp_solver_at(-1), NULL);
    IS(perp_solver_find(NULL), NULL);
    REFUSED(perp_mcp_enumerate(NULL, NULL, 1, x, &n));
    assert_int_equal(failures, 0);
}

static void problems(void **state)
{
    (void)state;
    perp_problem *problem = NULL;
    REFUSED(perp_problem_read(NULL, NULL, &problem, &error));
    REFUSED(perp_problem_read("x", NULL, NULL, NULL));
    REFUSED(perp_problem_parse(NULL, "{}", 2, NULL, &problem, &error));
    REFUSED(perp_problem_parse("x", NULL, 2, NULL, &problem, NULL));
    REFUSED(perp_problem_parse("x", "{}", 2, NULL, NULL, NULL));
    HARMLESS(perp_problem_destroy(NULL));
    HARMLESS(perp_problem_kind_of(NULL));
    EMPTY(perp_problem_name(NULL));
    EMPTY(perp_problem_word(NULL));
    IS(perp_problem_mcp(NULL), NULL);
    IS(perp_problem_fcp(NULL), NULL);
    IS(perp_problem_ncp(NULL), NULL);
    IS(perp_problem_variable(NULL, 0), NULL);
    REFUSED(perp_mcp_write(NULL, "x", "/dev/null", &error));
    REFUSED(perp_mcp_write(&(perp_mcp){0}, NULL, NULL, NULL));
    REFUSED(perp_fcp_write(NULL, "x", "/dev/null", &error));
    REFUSED(perp_fcp_write(&(perp_fcp){0}, NULL, NULL, NULL));
    assert_int_equal(failures, 0);
}

static void models(void **state)
{
    (void)state;
    perp_model *model = NULL;
    double inertia[6];
    HARMLESS(perp_body_default());
    HARMLESS(perp_shape_default());
    HARMLESS(perp_pair_default());
    HARMLESS(perp_contact_default());
    HARMLESS(perp_joint_default());
    HARMLESS(perp_force_default());
    HARMLESS(perp_input_default());
    HARMLESS(perp_actuator_default());
    HARMLESS(perp_site_default());
    HARMLESS(perp_sensor_default());
    HARMLESS(perp_builder_create(NULL));
    HARMLESS(perp_builder_destroy(NULL));
    HARMLESS(perp_builder_set_gravity(NULL, (perp_vec3){0}));
    IS(perp_builder_add_body(NULL, NULL).i, -1);
    IS(perp_builder_add_shape(NULL, BODY, NULL).i, -1);
    IS(perp_builder_add_visual(NULL, BODY, NULL).i, -1);
    HARMLESS(perp_builder_add_pair(NULL, NULL));
    HARMLESS(perp_builder_add_exclusion(NULL, BODY, BODY));
    HARMLESS(perp_builder_add_contact(NULL, NULL));
    IS(perp_builder_add_joint(NULL, NULL).i, -1);
    IS(perp_builder_add_input(NULL, NULL).i, -1);
    IS(perp_builder_add_actuator(NULL, NULL).i, -1);
    IS(perp_builder_add_site(NULL, NULL).i, -1);
    IS(perp_builder_add_sensor(NULL, NULL).i, -1);
    HARMLESS(perp_builder_set_input_source(NULL, (perp_input){0}, NULL));
    IS(perp_model_inputs(NULL), 0);
    IS(perp_model_actuators(NULL), 0);
    IS(perp_model_input(NULL, NULL).i, -1);
    IS(perp_model_actuator(NULL, NULL).i, -1);
    IS(perp_model_sites(NULL), 0);
    IS(perp_model_sensors(NULL), 0);
    IS(perp_model_site(NULL, NULL).i, -1);
    IS(perp_model_sensor(NULL, NULL).i, -1);
    IS(perp_model_site_body(NULL, (perp_site){0}).i, -1);
    IS(perp_model_sensor_kind(NULL, (perp_sensor){0}), PERP_SENSOR_JOINT_POSITION);
    IS(perp_model_sensor_size(NULL, (perp_sensor){0}), 0);
    IS(perp_builder_add_force(NULL, NULL).i, -1);
    IS(perp_builder_add_keyframe(NULL, NULL).i, -1);
    HARMLESS(perp_builder_set_keyframe_time(NULL, KEYFRAME, 0.0));
    HARMLESS(perp_builder_set_keyframe_joint(NULL, KEYFRAME, JOINT, NULL, NULL));
    HARMLESS(perp_builder_set_keyframe_body(NULL, KEYFRAME, BODY, NULL));
    HARMLESS(perp_builder_set_keyframe_input(NULL, KEYFRAME, (perp_input){0}, 0.0));
    IS(perp_model_keyframes(NULL), 0);
    IS(perp_model_keyframe(NULL, NULL).i, -1);
    EMPTY(perp_model_keyframe_name(NULL, KEYFRAME));
    HARMLESS(perp_builder_set_listed_only(NULL, true));
    IS(perp_builder_status(NULL, &error), PERP_ERR_MEMORY);  // it could not be made
    IS(perp_model_create(NULL, &model, &error), PERP_ERR_MEMORY);
    REFUSED(perp_model_create(NULL, NULL, NULL));
    HARMLESS(perp_model_destroy(NULL));
    IS(perp_model_bodies(NULL), 0);
    IS(perp_model_shapes(NULL), 0);
    IS(perp_model_joints(NULL), 0);
    IS(perp_model_body(NULL, "x").i, -1);
    IS(perp_model_shape(NULL, "x").i, -1);
    IS(perp_model_joint(NULL, NULL).i, -1);
    EMPTY(perp_model_body_name(NULL, BODY));
    EMPTY(perp_model_shape_name(NULL, SHAPE));
    IS(perp_model_visuals(NULL), 0);
    EMPTY(perp_model_visual_name(NULL, (perp_visual){0}));
    IS(perp_model_shape_body(NULL, SHAPE).i, -1);
    IS(perp_model_shape_colour(NULL, SHAPE), -1);
    EMPTY(perp_model_joint_name(NULL, JOINT));
    EMPTY(perp_model_input_name(NULL, (perp_input){0}));
    EMPTY(perp_model_input_def(NULL, (perp_input){0}).name);
    EMPTY(perp_model_actuator_name(NULL, (perp_actuator){0}));
    EMPTY(perp_model_site_name(NULL, (perp_site){0}));
    EMPTY(perp_model_sensor_name(NULL, (perp_sensor){0}));
    EMPTY(perp_model_sensor_unit(NULL, (perp_sensor){0}));
    EMPTY(perp_sensor_label(5, 0));
    IS(perp_model_mass(NULL, BODY), 0.0);
    IS(perp_model_inertia(NULL, BODY), 0.0);
    HARMLESS(perp_model_inertia_tensor(NULL, BODY, inertia));
    HARMLESS(perp_model_inertia_tensor(NULL, BODY, NULL));
    HARMLESS(perp_model_center(NULL, BODY));
    HARMLESS(perp_model_motion(NULL, BODY));
    HARMLESS(perp_model_gravity_scale(NULL, BODY));
    IS(perp_model_is_spatial(NULL), false);
    HARMLESS(perp_model_excluded_pairs(NULL));
    assert_int_equal(failures, 0);
}

static void builders(void **state)
{
    (void)state;
    perp_builder *b = perp_builder_create(NULL);
    IN_CHILD("perp_builder_add_body(b, NULL)",
             child_exit(perp_builder_add_body(b, NULL).i == -1 ? 0 : 1));
    IN_CHILD("perp_builder_add_shape(b, NULL)",
             child_exit(perp_builder_add_shape(b, BODY, NULL).i == -1 ? 0 : 1));
    IN_CHILD("perp_builder_add_joint(b, NULL)",
             child_exit(perp_builder_add_joint(b, NULL).i == -1 ? 0 : 1));
    IN_CHILD("perp_builder_add_force(b, NULL)",
             child_exit(perp_builder_add_force(b, NULL).i == -1 ? 0 : 1));
    HARMLESS(perp_builder_add_pair(b, NULL));
    HARMLESS(perp_builder_add_contact(b, NULL));
    IN_CHILD("perp_model_create(b, NULL)",
             child_exit(perp_model_create(b, NULL, NULL) == PERP_ERR_ARGUMENT ? 0 : 1));
    perp_builder_destroy(b);
    assert_int_equal(failures, 0);
}

static void sims(void **state)
{
    (void)state;
    perp_sim *sim = NULL;
    double x[8] = {0};
    int n = 0;
    HARMLESS(perp_sim_default());
    REFUSED(perp_sim_create(NULL, NULL, NULL, &sim, &error));
    REFUSED(perp_sim_create(NULL, NULL, NULL, NULL, NULL));
    HARMLESS(perp_sim_destroy(NULL));
    REFUSED(perp_sim_step(NULL, 0.01));
    IS(perp_sim_model(NULL), NULL);
    HARMLESS(perp_sim_info(NULL)->remark[0]);
    IS(perp_sim_error(NULL)->status, PERP_ERR_ARGUMENT);
    HARMLESS(perp_sim_limits(NULL));
    IS(perp_sim_time(NULL), 0.0);
    HARMLESS(perp_sim_body_position(NULL, BODY));
    IS(perp_sim_body_angle(NULL, BODY), 0.0);
    HARMLESS(perp_sim_body_pose(NULL, BODY));
    HARMLESS(perp_sim_body_twist(NULL, BODY));
    HARMLESS(perp_sim_body_apply(NULL, BODY, (perp_wrench){0}));
    HARMLESS(perp_sim_body_drive_impulse(NULL, BODY));
    IS(perp_sim_contacts(NULL, &n), NULL);
    HARMLESS(perp_sim_joint(NULL, JOINT));
    IS(perp_sim_input(NULL, (perp_input){0}), 0.0);
    IS(perp_sim_coordinates(NULL, NULL), PERP_COORDINATES_BODY);
    REFUSED(perp_sim_input_set(NULL, (perp_input){0}, 1.0));
    REFUSED(perp_sim_inputs_set(NULL, NULL, 0));
    HARMLESS(perp_sim_input_release(NULL, (perp_input){0}));
    HARMLESS(perp_sim_actuator(NULL, (perp_actuator){0}));
    HARMLESS(perp_sim_actuator_law(NULL, (perp_actuator){0}));
    HARMLESS(perp_sim_site_pose(NULL, (perp_site){0}));
    REFUSED(perp_sim_sensor(NULL, (perp_sensor){0}, NULL, 0));
    REFUSED(perp_sim_active_set(NULL, &n, &n));
    REFUSED(perp_sim_load_range(NULL, 0, x, x));
    perp_ray ray = perp_ray_default();
    perp_probe probe = perp_probe_default();
    perp_hit hit;
    perp_distance distance;
    HARMLESS(perp_ray_default());
    HARMLESS(perp_probe_default());
    REFUSED(perp_sim_ray(NULL, &ray, &hit));
    REFUSED(perp_sim_rays(NULL, &ray, 1, &hit));
    REFUSED(perp_sim_distance(NULL, SHAPE, SHAPE, &distance));
    REFUSED(perp_sim_overlap(NULL, &probe, NULL, 0, &n, &error));
    HARMLESS(perp_sim_contact_force(NULL, 0));
    HARMLESS(perp_sim_contact_wrench(NULL, BODY));
    REFUSED(perp_sim_point_jacobian(NULL, BODY, (perp_vec3){0}, x, NULL));
    REFUSED(perp_sim_inverse_dynamics(NULL, x, x));
    HARMLESS(perp_sim_state_size(NULL, &n, &n));
    REFUSED(perp_sim_state_get(NULL, x, x, x));
    REFUSED(perp_sim_state_set(NULL, 0.0, x, x));
    HARMLESS(perp_sim_state_hash(NULL));
    REFUSED(perp_sim_reset(NULL, KEYFRAME));
    REFUSED(perp_sim_gravity_set(NULL, (perp_vec3){0}));
    HARMLESS(perp_sim_gravity(NULL));
    REFUSED(perp_sim_shape_friction_set(NULL, SHAPE, 0.0, 0.0, 0.0));
    REFUSED(perp_sim_pair_friction_set(NULL, SHAPE, SHAPE, (perp_friction){0}));
    HARMLESS(perp_sim_pair_friction(NULL, SHAPE, SHAPE));
    REFUSED(perp_sim_actuator_gains_set(NULL, (perp_actuator){0}, 0.0, NULL));
    REFUSED(perp_sim_actuator_limits_set(NULL, (perp_actuator){0}, 0.0, 0.0));
    REFUSED(perp_sim_joint_rate_set(NULL, JOINT, 0.0, 0.0));
    REFUSED(perp_sim_joint_target_set(NULL, JOINT, 0.0, 0.0));
    REFUSED(perp_sim_body_motion_set(NULL, BODY, NULL, NULL));
    HARMLESS(perp_sim_body_apply_at(NULL, BODY, (perp_vec3){0}, (perp_vec3){0}));
    REFUSED(perp_sim_joint_apply(NULL, JOINT, 0.0));
    REFUSED(perp_sim_tree_size(NULL, &n, &n));
    REFUSED(perp_sim_tree_state_get(NULL, x, x, x));
    REFUSED(perp_sim_tree_state_set(NULL, 0.0, x, x));
    IS(perp_sim_state_save_size(NULL), 0u);
    REFUSED(perp_sim_state_save(NULL, x, sizeof x));
    REFUSED(perp_sim_state_restore(NULL, x, sizeof x));
    IS(perp_sim_events(NULL, &n), NULL);
    perp_step_problem *problem = NULL;
    REFUSED(perp_sim_problem(NULL, PERP_FORM_MCP, &problem));
    HARMLESS(perp_step_problem_destroy(NULL));
    IS(perp_event_kind_word(-1), NULL);
    IS(perp_sensor_kind_word(-1), NULL);
    IS(perp_stepper_word(-1), NULL);
    IS(perp_form_word(-1), NULL);
    IS(perp_friction_law_word(-1), NULL);
    IS(perp_impact_law_word(-1), NULL);
    IS(perp_contact_mode_word(-1), NULL);
    IS(perp_rotation_update_word(-1), NULL);
    IS(perp_gyroscopic_word(-1), NULL);
    IS(perp_positions_word(-1), NULL);
    IS(perp_coordinates_word(-1), NULL);
    IS(perp_start_word(-1), NULL);
    IS(perp_combine_word(-1), NULL);
    assert_int_equal(failures, 0);
}

static void trees(void **state)
{
    (void)state;
    perp_tree *tree = NULL;
    perp_rate rate[PERP_JOINT_MAX_ROWS];
    perp_twist twist;
    perp_constraints held;
    double x[8] = {0};
    int n = 0;
    REFUSED(perp_tree_create(NULL, NULL, 0, NULL, &tree, &error));
    REFUSED(perp_tree_create(NULL, NULL, 0, NULL, NULL, NULL));
    HARMLESS(perp_tree_destroy(NULL));
    IS(perp_tree_model(NULL), NULL);
    HARMLESS(perp_tree_size(NULL, &n, &n));
    IS(perp_tree_links(NULL, &n), NULL);
    IS(perp_tree_loops(NULL, &n), NULL);
    IS(perp_tree_coordinate_name(NULL, 0), NULL);
    IS(perp_tree_velocity_name(NULL, 0), NULL);
    REFUSED(perp_tree_set(NULL, 0.0, x, x));
    HARMLESS(perp_tree_get(NULL, x, x, x));
    REFUSED(perp_tree_set_bodies(NULL, 0.0, x, x, x, x));
    HARMLESS(perp_tree_get_bodies(NULL, x, x, x));
    HARMLESS(perp_tree_coordinate_rates(NULL, x));
    HARMLESS(perp_tree_pose(NULL, BODY));
    HARMLESS(perp_tree_twist(NULL, BODY));
    HARMLESS(perp_tree_mass(NULL, x));
    HARMLESS(perp_tree_bias(NULL, x));
    REFUSED(perp_tree_forces(NULL, NULL, x));
    REFUSED(perp_tree_inverse(NULL, x, x));
    REFUSED(perp_tree_forward(NULL, x, x));
    IS(perp_tree_kinetic(NULL), 0.0);
    IS(perp_tree_potential(NULL), 0.0);
    HARMLESS(perp_tree_momentum(NULL));
    REFUSED(perp_tree_joint(NULL, JOINT, rate, x));
    REFUSED(perp_tree_inputs_set(NULL, NULL, 0));
    HARMLESS(perp_tree_filter_set(NULL, (perp_actuator){0}, 0.0));
    REFUSED(perp_tree_equations(NULL, JOINT, &n, rate, x));
    REFUSED(perp_tree_point(NULL, BODY, (perp_vec3){0}, &twist, &twist, x));
    REFUSED(perp_tree_constraints(NULL, &held));
    HARMLESS(perp_tree_stabilise(NULL, NULL, 0.1, x));
    REFUSED(perp_tree_accelerate(NULL, x, NULL, x, x, &n));
    REFUSED(perp_tree_impact(NULL, NULL, x, x, &n));
    assert_int_equal(failures, 0);
}

static void scenes(void **state)
{
    (void)state;
    perp_scene *scene = NULL;
    size_t size = 1;
    int n = 1;
    HARMLESS(perp_scene_load_options_default());
    perp_import *import = NULL;
    HARMLESS(perp_import_options_default());
    IS(perp_import_note_word((perp_import_note_kind)99), NULL);
    REFUSED(perp_import_load(NULL, NULL, NULL, &import, &error));
    REFUSED(perp_import_load("x", NULL, NULL, NULL, NULL));
    REFUSED(perp_import_parse(NULL, "<a/>", 4, NULL, NULL, &import, &error));
    REFUSED(perp_import_parse("x", NULL, 2, NULL, NULL, &import, NULL));
    HARMLESS(perp_import_destroy(NULL));
    EMPTY(perp_import_text(NULL, &size));
    IS(perp_import_notes(NULL, &n), NULL);
    IS(perp_import_missing_word(99), NULL);
    EMPTY(perp_import_report(NULL));
    REFUSED(perp_scene_load(NULL, NULL, &scene, &error));
    REFUSED(perp_scene_load("x", NULL, NULL, NULL));
    REFUSED(perp_scene_load_with(NULL, NULL, NULL, &scene, &error));
    REFUSED(perp_scene_parse(NULL, "{}", 2, NULL, &scene, &error));
    REFUSED(perp_scene_parse("x", NULL, 2, NULL, &scene, NULL));
    REFUSED(perp_scene_parse_with("x", "{}", 2, NULL, NULL, NULL, NULL));
    HARMLESS(perp_scene_destroy(NULL));
    EMPTY(perp_scene_name(NULL));
    EMPTY(perp_scene_description(NULL));
    IS(perp_scene_model(NULL), NULL);
    HARMLESS(perp_scene_sim_def(NULL));
    IS(perp_scene_step(NULL), 0.0);
    IS(perp_scene_until(NULL), 0.0);
    IS(perp_scene_interval(NULL), 0.0);
    EMPTY(perp_scene_text(NULL, &size));
    IS(perp_scene_files(NULL, &n), NULL);
    IS(perp_scene_parameters(NULL, &n), NULL);
    IS(perp_scene_report(NULL), NULL);  // as of a scene that was not imported
    int64_t steps = 0;
    REFUSED(perp_scene_schedule(0.0, 1.0, 0.1, NULL, NULL));
    REFUSED(perp_scene_schedule(0.0, 1.0, 0.0, &steps, NULL));
    double last = 0.0;
    REFUSED(perp_scene_schedule(2.0, 1.0, 0.1, &steps, &last));
    REFUSED(perp_scene_write(NULL, "x", &error));
    HARMLESS(perp_scene_settings_default());
    perp_scene *made = NULL;
    REFUSED(perp_scene_create(NULL, NULL, NULL, &made, &error));
    REFUSED(perp_model_write(NULL, NULL, "x", &error));
    perp_model *loaded = NULL;
    REFUSED(perp_model_load(NULL, NULL, NULL, &loaded, &error));
    REFUSED(perp_model_load("x", NULL, NULL, NULL, &error));
    HARMLESS(perp_generator_count());
    IS(perp_generator_at(-1), NULL);
    REFUSED(perp_scene_generate(NULL, NULL, 0, NULL, &scene, &error));
    assert_int_equal(failures, 0);
}

static void recordings(void **state)
{
    (void)state;
    perp_record *record = NULL;
    perp_recording *recording = NULL;
    perp_comparison *comparison = NULL;
    perp_compared_instant moment;
    perp_replay *replay = NULL;
    perp_snapshot frame;
    perp_check check;
    bool more;
    size_t size = 0;
    int n = 0;
    HARMLESS(perp_record_default());
    REFUSED(perp_record_create(NULL, NULL, NULL, NULL, &record, &error));
    REFUSED(perp_record_step(NULL, NULL));
    REFUSED(perp_record_finish(NULL, NULL));
    HARMLESS(perp_record_destroy(NULL));
    IS(perp_record_error(NULL)->status, PERP_ERR_ARGUMENT);
    IS(perp_record_summary(NULL).steps, 0);
    IS(perp_record_summary_text(NULL, NULL), NULL);
    REFUSED(perp_recording_open(NULL, NULL, &recording, &error));
    HARMLESS(perp_recording_close(NULL));
    IS(perp_recording_about(NULL)->frames, 0);
    EMPTY(perp_recording_about(NULL)->name);
    EMPTY(perp_recording_body(NULL, BODY).name);
    EMPTY(perp_recording_shape(NULL, SHAPE).name);
    EMPTY(perp_recording_visual(NULL, (perp_visual){0}).name);
    EMPTY(perp_recording_joint(NULL, JOINT).name);
    EMPTY(perp_recording_input_name(NULL, (perp_input){0}));
    EMPTY(perp_recording_actuator(NULL, (perp_actuator){0}).name);
    EMPTY(perp_recording_site(NULL, (perp_site){0}).name);
    EMPTY(perp_recording_sensor(NULL, (perp_sensor){0}).name);
    EMPTY(perp_recording_spring(NULL, 0).name);
    HARMLESS(perp_recording_exclusion(NULL, 0, NULL, NULL));
    REFUSED(perp_recording_read(NULL, 0, &frame, &error));
    REFUSED(perp_recording_read_part(NULL, 0, 0, &frame, &error));
    REFUSED(perp_recording_check(NULL, NULL, &check, &error));
    REFUSED(perp_comparison_create(NULL, NULL, NULL, &comparison, &error));
    HARMLESS(perp_comparison_destroy(NULL));
    IS(perp_comparison_bodies(NULL), 0);
    EMPTY(perp_comparison_body(NULL, 0).name);
    REFUSED(perp_comparison_next(NULL, &moment, &more, &error));
    HARMLESS(perp_plot_name(-1));
    REFUSED(perp_plot_write(NULL, "x", NULL, NULL, &error));
    REFUSED(perp_plot_write_comparison(NULL, NULL, "x", NULL, &error));
    REFUSED(perp_plot_write_sweep(NULL, "x", NULL, &error));
    HARMLESS(perp_replay_default());
    REFUSED(perp_replay_create(NULL, NULL, NULL, &replay, &error));
    HARMLESS(perp_replay_destroy(NULL));
    EMPTY(perp_replay_text(NULL, &size));
    HARMLESS(perp_replay_frame_counts(NULL, &n, &n));
    REFUSED(perp_replay_save(NULL, "x", &error));
    assert_int_equal(failures, 0);
}

static void sweeps(void **state)
{
    (void)state;
    perp_sweep *sweep = NULL;
    perp_shard *shard = NULL;
    perp_sweep_table *table = NULL;
    perp_sweep_row row = {0};
    char bytes[8] = {0};
    double value = 0.0;
    int n = 0;
    IS(perp_run_status_word(99), NULL);
    REFUSED(perp_sweep_load(NULL, NULL, NULL, &sweep, &error));
    REFUSED(perp_sweep_load("x", NULL, NULL, NULL, NULL));
    REFUSED(perp_sweep_parse(NULL, "{}", 2, NULL, NULL, &sweep, &error));
    REFUSED(perp_sweep_parse("x", NULL, 2, NULL, NULL, &sweep, NULL));
    HARMLESS(perp_sweep_destroy(NULL));
    EMPTY(perp_sweep_name(NULL));
    EMPTY(perp_sweep_description(NULL));
    IS(perp_sweep_runs(NULL), 0);
    IS(perp_sweep_columns(NULL, &n), NULL);
    IS(perp_sweep_parameters(NULL), 0);
    HARMLESS(perp_sweep_limit(NULL));
    IS(perp_sweep_identity(NULL), 0);
    REFUSED(perp_sweep_point(NULL, 0, &value));
    REFUSED(perp_sweep_run(NULL, 0, NULL, NULL, &row));
    HARMLESS(perp_sweep_row_failed(NULL, 0, (perp_run_status)0, NULL, NULL));
    IS(perp_sweep_recorded_always(NULL, 0), false);
    IS(perp_sweep_recorded_after(NULL, NULL), false);
    IS(perp_sweep_row_room(NULL), 0);
    IS(perp_sweep_row_pack(NULL, NULL, bytes, sizeof bytes), 0);
    IS(perp_sweep_row_size(NULL, bytes, sizeof bytes), 0);
    IS(perp_sweep_row_unpack(NULL, bytes, sizeof bytes, &row), false);
    REFUSED(perp_shard_open(NULL, "x", "x", false, &shard, &error));
    REFUSED(perp_shard_append(NULL, bytes, sizeof bytes, &error));
    IS(perp_shard_close(NULL, &error), PERP_OK);
    REFUSED(perp_sweep_table_read(NULL, "x", NULL, &table, &error));
    HARMLESS(perp_sweep_table_destroy(NULL));
    IS(perp_sweep_table_has(NULL, 0), false);
    HARMLESS(perp_sweep_table_row(NULL, 0, &row));
    IS(perp_sweep_table_count(NULL, (perp_run_status)0), 0);
    REFUSED(perp_sweep_table_write(NULL, "x", &error));
    assert_int_equal(failures, 0);
}

// Whatever the headers declare has been called above.
static void none_is_left_out(void **state)
{
    (void)state;
    char *api = text_of("docs/api.txt");
    int missing = 0;
    for (char *line = strtok(api, "\n"); line; line = strtok(NULL, "\n")) {
        char *open = strstr(line, "PERP_API") ? strchr(line, '(') : NULL, *name = open;
        while (name && name > line &&
               (name[-1] == '_' || (name[-1] >= 'a' && name[-1] <= 'z') ||
                (name[-1] >= '0' && name[-1] <= '9'))) {
            name--;
        }
        bool found = !open;
        for (int k = 0; k < count && !found; k++) {
            found = strlen(called[k]) == (size_t)(open - name) &&
                    strncmp(called[k], name, strlen(called[k])) == 0;
        }
        if (!found) {
            print_error("not called: %.*s\n", (int)(open - name), name);
            missing++;
        }
    }
    free(api);
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comp),   cmocka_unit_test(problems),
        cmocka_unit_test(models), cmocka_unit_test(builders),
        cmocka_unit_test(sims),   cmocka_unit_test(trees),
        cmocka_unit_test(scenes), cmocka_unit_test(recordings),
        cmocka_unit_test(sweeps), cmocka_unit_test(none_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
