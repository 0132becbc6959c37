// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp info SCENE: the contents of a scene and its degrees of freedom.
#include "cli.h"

#include <math.h>
#include <stdlib.h>

// Results of one trial step; if it fails, zeros and the status.
typedef struct insight {
    const perp_scene *scene;
    const perp_model *model;
    perp_sim *sim;
    perp_status status;
    int nv;
} insight;

static const char *body_kind(const insight *in, perp_body body)
{
    bool spatial = perp_model_is_spatial(in->model);
    if (spatial && perp_model_mass(in->model, body) > 0.0) {
        return perp_model_inertia(in->model, body) > 0.0 ? "solid" : "point mass";
    }
    if (perp_model_mass(in->model, body) > 0.0) {
        return perp_model_inertia(in->model, body) > 0.0 ? "rigid body" : "particle";
    }
    return perp_model_motion(in->model, body) == PERP_MOTION_STATIC ? "static" : "kinematic";
}

static int freedoms(const insight *in)
{
    const perp_step_info *info = perp_sim_info(in->sim);
    int left = in->nv - (info->joint_rows - info->redundant_rows);
    return left > 0 ? left : 0;
}

static void print_solids(const insight *in)
{
    printf("\n%-20s %-10s %12s  %-34s %s\n", "body", "kind", "mass [kg]", "Ixx, Iyy, Izz [kg m^2]",
           "position [m], quaternion");
    for (int i = 1; i < perp_model_bodies(in->model); i++) {
        perp_body body = {i};
        perp_pose X = perp_sim_body_pose(in->sim, body);
        char moments[64];
        double I[6];
        perp_model_inertia_tensor(in->model, body, I);
        snprintf(moments, sizeof moments, "%.6g, %.6g, %.6g", I[0], I[1], I[2]);
        printf("%-20s %-10s %12.6g  %-34s (%.6g, %.6g, %.6g), (%.6g, %.6g, %.6g, %.6g)\n",
               cli_plain(perp_model_body_name(in->model, body)), body_kind(in, body),
               perp_model_mass(in->model, body), moments, X.p.x, X.p.y, X.p.z, X.rot.w, X.rot.x,
               X.rot.y, X.rot.z);
    }
}

static void print_bodies(const insight *in)
{
    printf("\n%-20s %-10s %12s %12s  %s\n", "body", "kind", "mass [kg]", "I [kg m^2]",
           "position [m], angle [rad]");
    for (int i = 1; i < perp_model_bodies(in->model); i++) {
        perp_body body = {i};
        perp_vec3 p = perp_sim_body_position(in->sim, body);
        printf("%-20s %-10s %12.6g %12.6g  (%.6g, %.6g), %.6g\n",
               cli_plain(perp_model_body_name(in->model, body)), body_kind(in, body),
               perp_model_mass(in->model, body), perp_model_inertia(in->model, body), p.x, p.y,
               perp_sim_body_angle(in->sim, body));
    }
}

static void print_joints(const insight *in)
{
    int count = perp_model_joints(in->model);
    if (count > 0) {
        printf("\n%-20s %12s %12s\n", "joint", "coordinate", "error");
    }
    for (int i = 0; i < count; i++) {
        perp_joint_state joint = perp_sim_joint(in->sim, (perp_joint){i});
        printf("%-20s %12.6g %12.2e%s\n",
               cli_plain(perp_model_joint_name(in->model, (perp_joint){i})), joint.coordinate,
               joint.error, joint.redundant ? "  redundant" : "");
    }
}

static void print_sites(const insight *in)
{
    int count = perp_model_sites(in->model);
    if (count > 0) {
        printf("\n%-20s %-20s %s\n", "site", "body", "position [m]");
    }
    for (int i = 0; i < count; i++) {
        perp_site site = {i};
        perp_body body = perp_model_site_body(in->model, site);
        perp_pose X = perp_sim_site_pose(in->sim, site);
        printf("%-20s ", cli_plain(perp_model_site_name(in->model, site)));
        printf("%-20s (%.6g, %.6g", cli_plain(perp_model_body_name(in->model, body)), X.p.x, X.p.y);
        if (perp_model_is_spatial(in->model)) {
            printf(", %.6g", X.p.z);
        }
        printf(")\n");
    }
}

static void print_inputs(const insight *in)
{
    int count = perp_model_inputs(in->model);
    if (count > 0) {
        printf("\n%-20s %12s %12s %12s  %s\n", "input", "at the start", "least", "most", "unit");
    }
    for (int i = 0; i < count; i++) {
        perp_input_def def = perp_model_input_def(in->model, (perp_input){i});
        printf("%-20s %12.6g %12.6g %12.6g  %s\n", cli_plain(def.name),
               perp_sim_input(in->sim, (perp_input){i}), def.lower, def.upper,
               def.unit ? cli_plain(def.unit) : "");
    }
}

// f = gain c + bias0 + bias1 l + bias2 l', as the model has it after kv was worked out from damping ratios.
static void print_actuators(const insight *in)
{
    int count = perp_model_actuators(in->model);
    if (count > 0) {
        printf("\n%-20s %-20s %8s %10s %10s %10s %10s  %s\n", "actuator", "joint", "gear", "gain",
               "bias0", "bias1", "bias2", "effort");
    }
    for (int i = 0; i < count; i++) {
        perp_actuator_law law = perp_sim_actuator_law(in->sim, (perp_actuator){i});
        printf("%-20s ", cli_plain(perp_model_actuator_name(in->model, (perp_actuator){i})));
        printf("%-20s %8.4g %10.5g %10.5g %10.5g %10.5g  ",
               cli_plain(perp_model_joint_name(in->model, law.joint)), law.gear, law.gain,
               law.bias[0], law.bias[1], law.bias[2]);
        if (isfinite(law.lower)) {
            printf("%.6g to %.6g\n", law.lower, law.upper);
        } else {
            printf("any\n");
        }
    }
}

// Values are those of the start; means over a step have none yet.
static void print_sensors(const insight *in)
{
    int count = perp_model_sensors(in->model);
    if (count > 0) {
        printf("\n%-20s %-20s %-8s %s\n", "sensor", "kind", "unit", "at the start");
    }
    for (int i = 0; i < count; i++) {
        perp_sensor sensor = {i};
        double value[4] = {0.0};
        int size = perp_model_sensor_size(in->model, sensor);
        perp_sensor_kind kind = perp_model_sensor_kind(in->model, sensor);
        bool read = perp_sim_sensor(in->sim, sensor, value, 4) >= 0;
        bool mean = kind >= PERP_SENSOR_ACCELERATION;
        printf("%-20s %-20s %-8s", cli_plain(perp_model_sensor_name(in->model, sensor)),
               perp_sensor_kind_word((int)kind), perp_model_sensor_unit(in->model, sensor));
        for (int k = 0; read && !mean && k < size; k++) {
            printf("%s%.6g", k > 0 ? ", " : " ", value[k]);
        }
        if (mean) {
            printf(" %d value%s, mean over a step", size, size == 1 ? "" : "s");
        }
        printf("\n");
    }
}

static void print_parameters(const perp_scene *scene)
{
    int count;
    const perp_scene_value *value = perp_scene_parameters(scene, &count);
    for (int k = 0; k < count; k++) {
        printf("%-12s%s = %.6g\n", k == 0 ? "parameters" : "", value[k].name, value[k].value);
    }
}

static void print_text(const insight *in)
{
    const perp_step_info *info = perp_sim_info(in->sim);
    perp_sim_def def = perp_scene_sim_def(in->scene);
    const char *description = perp_scene_description(in->scene);
    printf("scene       %s\n", cli_plain(perp_scene_name(in->scene)));
    if (description[0]) {
        printf("            %s\n", cli_plain(description));
    }
    cli_import_line(in->scene, "'perp import'");
    printf("method      %s, form %s, solver %s\n", perp_stepper_word((int)def.stepper),
           perp_form_word((int)def.form), def.solver ? def.solver : "auto");
    printf("time        %g s in steps of %g s\n", perp_scene_until(in->scene),
           perp_scene_step(in->scene));
    print_parameters(in->scene);
    int bodies = perp_model_bodies(in->model) - 1, shapes = perp_model_shapes(in->model);
    int joints = perp_model_joints(in->model);
    printf("model       %d %s, %d shape%s, %d joint%s\n", bodies, bodies == 1 ? "body" : "bodies",
           shapes, shapes == 1 ? "" : "s", joints, joints == 1 ? "" : "s");
    int inputs = perp_model_inputs(in->model), actuators = perp_model_actuators(in->model);
    if (inputs + actuators > 0) {
        printf("control     %d input%s, %d actuator%s\n", inputs, inputs == 1 ? "" : "s", actuators,
               actuators == 1 ? "" : "s");
    }
    int sites = perp_model_sites(in->model), sensors = perp_model_sensors(in->model);
    if (sites + sensors > 0) {
        printf("sensing     %d site%s, %d sensor%s\n", sites, sites == 1 ? "" : "s", sensors,
               sensors == 1 ? "" : "s");
    }
    cli_left_out(in->model);
    printf("freedom     %d velocities - %d joint equations", in->nv, info->joint_rows);
    if (info->redundant_rows > 0) {
        printf(" (%d redundant)", info->redundant_rows);
    }
    printf(" = %d\n", freedoms(in));
    printf("first step  %d contact%s, problem size %d, %s\n", info->contacts,
           info->contacts == 1 ? "" : "s", info->problem_size, perp_status_word(in->status));
    if (perp_model_is_spatial(in->model)) {
        print_solids(in);
    } else {
        print_bodies(in);
    }
    print_joints(in);
    print_inputs(in);
    print_actuators(in);
    print_sites(in);
    print_sensors(in);
}

// Sensors that can be read at the start, with their values.
static void print_readings(const insight *in)
{
    const char *comma = "";
    printf(",\n \"readings\": {");
    for (int i = 0; i < perp_model_sensors(in->model); i++) {
        perp_sensor sensor = {i};
        double value[4] = {0.0};
        bool mean = perp_model_sensor_kind(in->model, sensor) >= PERP_SENSOR_ACCELERATION;
        if (mean || perp_sim_sensor(in->sim, sensor, value, 4) < 0) {
            continue;
        }
        fputs(comma, stdout);
        cli_json_string(stdout, perp_model_sensor_name(in->model, sensor));
        fputs(": [", stdout);
        for (int k = 0; k < perp_model_sensor_size(in->model, sensor); k++) {
            printf("%s%.17g", k > 0 ? ", " : "", value[k]);
        }
        fputs("]", stdout);
        comma = ", ";
    }
    printf("}");
}

static void print_json(const insight *in)
{
    const perp_step_info *info = perp_sim_info(in->sim);
    printf("{\"scene\": ");
    cli_json_string(stdout, perp_scene_name(in->scene));
    printf(", \"bodies\": %d, \"shapes\": %d, \"joints\": %d, \"sites\": %d, \"sensors\": %d, "
           "\"velocities\": %d, "
           "\"joint_rows\": %d, \"redundant_rows\": %d, \"freedom\": %d,\n \"contacts\": %d, "
           "\"problem_size\": %d, \"redundant\": [",
           perp_model_bodies(in->model) - 1, perp_model_shapes(in->model),
           perp_model_joints(in->model), perp_model_sites(in->model), perp_model_sensors(in->model),
           in->nv, info->joint_rows, info->redundant_rows, freedoms(in), info->contacts,
           info->problem_size);
    perp_excluded_pairs out = perp_model_excluded_pairs(in->model);
    const char *comma = "";
    for (int i = 0; i < perp_model_joints(in->model); i++) {
        if (perp_sim_joint(in->sim, (perp_joint){i}).redundant) {
            fputs(comma, stdout);
            cli_json_string(stdout, perp_model_joint_name(in->model, (perp_joint){i}));
            comma = ", ";
        }
    }
    printf("], \"parameters\": {");
    int count;
    const perp_scene_value *value = perp_scene_parameters(in->scene, &count);
    for (int k = 0; k < count; k++) {
        printf("%s\"%s\": %.17g", k > 0 ? ", " : "", value[k].name, value[k].value);
    }
    printf("}");
    print_readings(in);
    printf(",\n \"left_out\": {\"not_free\": %lld, \"listed_only\": %lld, \"not_detected\": %lld, "
           "\"ignored\": %lld, \"masked\": %lld, \"excluded\": %lld, \"joined\": %lld}}\n",
           (long long)out.not_dynamic, (long long)out.listed_only, (long long)out.not_detected,
           (long long)out.ignored, (long long)out.masked, (long long)out.excluded,
           (long long)out.joined);
}

// Takes one step to find contacts and redundancy, then restores the start.
static bool try_step(insight *in)
{
    size_t size = perp_sim_state_save_size(in->sim);
    void *start = malloc(size + 1);
    bool good = start && perp_sim_state_save(in->sim, start, size) >= 0;
    if (good) {
        in->status = perp_sim_step(in->sim, perp_scene_step(in->scene));
        good = perp_sim_state_restore(in->sim, start, size) >= 0;
    }
    free(start);
    return good;
}

static cli_exit look(const perp_scene *scene, const char *file, bool json)
{
    insight in = {.scene = scene, .model = perp_scene_model(scene)};
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_error error = {0};
    if (perp_sim_create(in.model, &def, NULL, &in.sim, &error) < 0) {
        return cli_complain("%s: %s", file, error.text);
    }
    perp_sim_state_size(in.sim, NULL, &in.nv);
    bool good = try_step(&in);
    if (good && json) {
        print_json(&in);
    } else if (good) {
        print_text(&in);
    }
    perp_sim_destroy(in.sim);
    return good ? CLI_FINE : cli_complain("info: not enough memory");
}

cli_exit cli_info_scene(int count, char **words)
{
    const char *file = NULL;
    bool json = false;
    perp_scene *scene = NULL;
    perp_scene_load_options reading = perp_scene_load_options_default();
    const cli_option options[] = {CLI_READING(reading), {"--json", CLI_FLAG, &json, NULL}};
    cli_exit code = cli_options_parse("info", count, words, options,
                                      sizeof options / sizeof options[0], &file, 1);
    if (code == CLI_FINE) {
        code = cli_scene_open(file, &reading, &scene);
    }
    if (code == CLI_FINE) {
        code = look(scene, file, json);
    }
    perp_scene_destroy(scene);
    return code;
}
