// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Parameters, units, copies, assemblies and included files: each scene beside one that is written out.
#include "support/cmocka.h"
#include "support/fault.h"
#include "support/folder.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static perp_scene *parse_with(const char *text, const perp_scene_load_options *reading)
{
    perp_scene *scene = NULL;
    perp_error error;
    if (perp_scene_parse_with("folder/test.json", text, strlen(text), reading, NULL, &scene,
                              &error) < 0) {
        print_error("%d:%d: %s\n%s\n", error.line, error.column, error.text, text);
        fail();
    }
    return scene;
}

static perp_scene *parse(const char *text)
{
    return parse_with(text, NULL);
}

static perp_sim *start(const perp_scene *scene)
{
    perp_sim *sim = NULL;
    perp_error error = {0};
    perp_sim_def def = perp_scene_sim_def(scene);
    if (perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error) < 0) {
        fail_msg("%s", error.text);
    }
    return sim;
}

static void expect_near(double found, double due, const char *what)
{
    if (!(fabs(found - due) <= 1e-9 * (1.0 + fabs(due)))) {
        fail_msg("%s: %.17g, not %.17g", what, found, due);
    }
}

static void expect_vectors(perp_vec3 a, perp_vec3 b, const char *what)
{
    expect_near(a.x, b.x, what);
    expect_near(a.y, b.y, what);
    expect_near(a.z, b.z, what);
}

// Both scenes have the same objects in the same order, and move alike for 50 steps.
static void expect_same_scenes(perp_scene *a, perp_scene *b)
{
    const perp_model *A = perp_scene_model(a), *B = perp_scene_model(b);
    assert_int_equal(perp_model_bodies(A), perp_model_bodies(B));
    assert_int_equal(perp_model_shapes(A), perp_model_shapes(B));
    assert_int_equal(perp_model_joints(A), perp_model_joints(B));
    for (int i = 0; i < perp_model_bodies(A); i++) {
        assert_string_equal(perp_model_body_name(A, (perp_body){i}),
                            perp_model_body_name(B, (perp_body){i}));
    }
    for (int i = 0; i < perp_model_shapes(A); i++) {
        assert_string_equal(perp_model_shape_name(A, (perp_shape){i}),
                            perp_model_shape_name(B, (perp_shape){i}));
    }
    for (int i = 0; i < perp_model_joints(A); i++) {
        assert_string_equal(perp_model_joint_name(A, (perp_joint){i}),
                            perp_model_joint_name(B, (perp_joint){i}));
    }
    perp_sim *one = start(a), *two = start(b);
    for (int k = 0; k <= 50; k++) {
        for (int i = 1; i < perp_model_bodies(A); i++) {
            const char *name = perp_model_body_name(A, (perp_body){i});
            perp_pose X = perp_sim_body_pose(one, (perp_body){i});
            perp_pose Y = perp_sim_body_pose(two, (perp_body){i});
            double side =
                X.rot.w * Y.rot.w + X.rot.x * Y.rot.x + X.rot.y * Y.rot.y + X.rot.z * Y.rot.z;
            expect_vectors(X.p, Y.p, name);
            expect_near(fabs(side), 1.0, name);
            expect_vectors(perp_sim_body_twist(one, (perp_body){i}).v_W,
                           perp_sim_body_twist(two, (perp_body){i}).v_W, name);
            expect_vectors(perp_sim_body_twist(one, (perp_body){i}).w_W,
                           perp_sim_body_twist(two, (perp_body){i}).w_W, name);
        }
        for (int i = 0; i < perp_model_joints(A) && k > 0; i++) {
            expect_near(perp_sim_joint(one, (perp_joint){i}).coordinate,
                        perp_sim_joint(two, (perp_joint){i}).coordinate,
                        perp_model_joint_name(A, (perp_joint){i}));
        }
        assert_true(perp_sim_step(one, 0.01) >= 0);
        assert_true(perp_sim_step(two, 0.01) >= 0);
    }
    perp_sim_destroy(one);
    perp_sim_destroy(two);
    perp_scene_destroy(a);
    perp_scene_destroy(b);
}

static void expect_same(const char *short_text, const char *long_text)
{
    expect_same_scenes(parse(short_text), parse(long_text));
}

// ── Parameters and units ─────────────────────────────────────────────────────────────────────────

static const char slope[] =
    "{\"parameters\": {\"width\": \"500 mm\", \"height\": \"width/2\", \"tilt\": \"10 deg\", "
    "\"n\": 3},\n"
    " \"step\": \"10 ms\", \"until\": \"n*1 s\", \"threads\": \"n - 2\", \"gravity\": [0, \"-9.81 "
    "m/s^2\"],\n"
    " \"limits\": {\"gap\": \"1 mm\"},\n"
    " \"shapes\": [{\"kind\": \"halfplane\", \"angle\": \"-tilt\", \"mu\": \"0.1*n\"}],\n"
    " \"bodies\": [{\"name\": \"block\", \"position\": [0, \"width\"], \"velocity\": [\"36 km/h\", "
    "0],\n"
    "   \"spin\": \"60/(2*pi) rpm\",\n"
    "   \"shapes\": [{\"kind\": \"box\", \"size\": [\"width\", \"height\"], \"density\": \"0.4 "
    "g/cm^2\"}]},\n"
    "  {\"name\": \"ram\", \"drive\": {\"x\": \"width*sin(t)\", \"y\": \"-5 - 100*t mm\",\n"
    "    \"angle\": {\"table\": {\"t\": [0, \"1000 ms\"], \"value\": [0, \"180 deg\"]}}}}],\n"
    " \"joints\": [{\"kind\": \"revolute\", \"a\": \"ram\", \"b\": \"block\", \"stiffness\": \"2 N "
    "m/rad\",\n"
    "   \"at\": [\"2*width\", \"-height\"], \"lower\": \"-0.5 rev\", \"damping\": \"1 N m s\"}],\n"
    " \"forces\": [{\"kind\": \"spring\", \"b\": \"block\", \"stiffness\": \"2 kN/m\", \"rest\": "
    "\"10 cm\"},\n"
    "  {\"kind\": \"force\", \"body\": \"block\", \"fx\": \"height*vx*2 N\", \"torque\": \"n\"}]}";

static const char slope_plain[] =
    "{\"step\": 0.01, \"until\": 3, \"threads\": 1, \"gravity\": [0, -9.81], \"limits\": {\"gap\": "
    "0.001},\n"
    " \"shapes\": [{\"kind\": \"halfplane\", \"angle\": \"-10 deg\", \"mu\": 0.3}],\n"
    " \"bodies\": [{\"name\": \"block\", \"position\": [0, 0.5], \"velocity\": [10, 0], \"spin\": "
    "1,\n"
    "   \"shapes\": [{\"kind\": \"box\", \"size\": [0.5, 0.25], \"density\": 4}]},\n"
    "  {\"name\": \"ram\", \"drive\": {\"x\": \"0.5*sin(t)\", \"y\": \"-0.005 - 0.1*t\",\n"
    "    \"angle\": {\"table\": {\"t\": [0, 1], \"value\": [0, 3.141592653589793]}}}}],\n"
    " \"joints\": [{\"kind\": \"revolute\", \"a\": \"ram\", \"b\": \"block\", \"stiffness\": 2,\n"
    "   \"anchor_a\": [1, -0.245], \"anchor_b\": [1, -0.75], \"lower\": \"-180 deg\", \"damping\": "
    "1}],\n"
    " \"forces\": [{\"kind\": \"spring\", \"b\": \"block\", \"stiffness\": 2000, \"rest\": 0.1},\n"
    "  {\"kind\": \"force\", \"body\": \"block\", \"fx\": \"0.25*vx*2\", \"torque\": 3}]}";

// Also 'at' of a joint on a driven body, which is where its motions start.
static void parameters_are_numbers(void **state)
{
    (void)state;
    perp_scene *scene = parse(slope);
    assert_true(perp_scene_step(scene) == 0.01 && perp_scene_until(scene) == 3.0);
    assert_int_equal(perp_scene_sim_def(scene).threads, 1);
    int count;
    const perp_scene_value *value = perp_scene_parameters(scene, &count);
    assert_int_equal(count, 4);
    assert_string_equal(value[1].name, "height");
    assert_true(value[1].value == 0.25 && value[3].value == 3.0);
    // "width/2" is derived, "500 mm" and "10 deg" are not
    assert_true(!value[0].derived && value[1].derived && !value[2].derived && !value[3].derived);
    assert_null(perp_scene_parameters(NULL, NULL));
    assert_true(perp_scene_sim_def(scene).limits.gap == 0.001);
    expect_same_scenes(scene, parse(slope_plain));
}

static void spatial_quantities_arrive(void **state)
{
    (void)state;
    expect_same(
        "{\"parameters\": {\"a\": 2}, \"bodies\": [{\"name\": \"b\", \"kind\": \"solid\", "
        "\"mass\": \"500*a g\",\n"
        " \"rotation\": {\"axis\": [0, \"a\", 0], \"angle\": \"45*a deg\"}, \"inertia\": [\"a kg "
        "m^2\", 2, \"a\"],\n"
        " \"spin\": [\"a\", 0, \"60/(2*pi) rpm\"]},\n"
        " {\"name\": \"arm\", \"kind\": \"solid\", \"position\": [0, 0, 1], \"drive\": {\"rx\": "
        "\"t + pi/a\"}}],\n"
        " \"joints\": [{\"kind\": \"spherical\", \"a\": \"arm\", \"b\": \"b\", \"at\": [\"1 m\", "
        "\"a\", 3]}]}",
        "{\"bodies\": [{\"name\": \"b\", \"kind\": \"solid\", \"mass\": 1,\n"
        " \"rotation\": [0.7071067811865476, 0, 0.7071067811865476, 0], \"inertia\": [2, 2, 2],\n"
        " \"spin\": [2, 0, 1]},\n"
        " {\"name\": \"arm\", \"kind\": \"solid\", \"position\": [0, 0, 1], \"drive\": {\"rx\": "
        "\"t + pi/2\"}}],\n"
        " \"joints\": [{\"kind\": \"spherical\", \"a\": \"arm\", \"b\": \"b\", \"anchor_a\": [1, "
        "2, -2],\n"
        "   \"anchor_b\": [-3, 2, 1]}]}");
}

// The text of the scene has the values, so that it gives the same model again.
static void values_can_be_set(void **state)
{
    (void)state;
    static const perp_scene_parameter set[] = {{"n", "4"}, {"width", "height \"x\""}};
    static const perp_scene_parameter good[] = {{"n", "-2e0"}, {"b", "2*n mm"}, {"n", "5"}};
    static const char text[] =
        "{ // a \"b\": 1\n \"parameters\": {\"n\": \"1\\\"2\", \"b\" : 1 }, \"until\": \"b\",}";
    perp_scene_load_options reading = perp_scene_load_options_default();
    perp_scene *scene = NULL;
    perp_error error;
    reading.set = good;
    reading.sets = 3;
    scene = parse_with(text, &reading);
    assert_true(perp_scene_until(scene) == 0.01);
    assert_string_equal(
        perp_scene_text(scene, NULL),
        "{ // a \"b\": 1\n \"parameters\": {\"n\": 5, \"b\" : \"2*n mm\" }, \"until\": \"b\",}");
    perp_scene *again = parse(perp_scene_text(scene, NULL));
    assert_true(perp_scene_until(again) == 0.01);
    perp_scene_destroy(again);
    perp_scene_destroy(scene);
    reading.set = set;
    reading.sets = 2;
    assert_int_equal(perp_scene_parse_with("x", text, strlen(text), &reading, NULL, &scene, &error),
                     PERP_ERR_ARGUMENT);
    assert_string_equal(error.text, "the scene has no parameter 'width'; it has n, b");
    assert_int_equal(perp_scene_parse_with("x", "{}", 2, &reading, NULL, &scene, &error),
                     PERP_ERR_ARGUMENT);
    assert_string_equal(error.text, "the scene has no parameter 'n'; it has no parameters");
    assert_int_equal(perp_scene_parse_with("x", "{", 1, &reading, NULL, &scene, &error),
                     PERP_ERR_FORMAT);
    reading.sets = -1;
    assert_int_equal(perp_scene_parse_with("x", "{}", 2, &reading, NULL, &scene, &error),
                     PERP_ERR_ARGUMENT);
    assert_null(scene);
}

// ── Copies and assemblies ────────────────────────────────────────────────────────────────────────────

static void copies_are_objects(void **state)
{
    (void)state;
    expect_same(
        "{\"parameters\": {\"n\": 2},\n"
        " \"shapes\": [{\"name\": \"peg\", \"kind\": \"disc\", \"radius\": 0.1, \"position\": "
        "[\"i\", \"-1 - j\"],\n"
        "   \"replicate\": [{\"count\": \"n\"}, {\"count\": \"i + 1\", \"index\": \"j\"}]}],\n"
        " \"bodies\": [{\"name\": \"ball{10 + i}\", \"replicate\": {\"count\": \"n + 1\"}, "
        "\"position\": [\"i\", \"i^2\"],\n"
        "   \"shapes\": [{\"kind\": \"disc\", \"radius\": 0.2, \"density\": 1},\n"
        "     {\"name\": \"knob\", \"kind\": \"point\", \"position\": [\"0.1*k\", \"0.1*i\"],\n"
        "       \"replicate\": {\"count\": \"i\", \"index\": \"k\"}}]},\n"
        "  {\"replicate\": {\"count\": 2e0}, \"mass\": \"1 + i\", \"inertia\": 1}],\n"
        " \"joints\": [{\"name\": \"rope{i}\", \"kind\": \"distance\", \"length\": \"i + 1\", "
        "\"a\": \"ball{10 + i}\", "
        "\"b\": \"ball{11 + i}\",\n"
        "   \"replicate\": {\"count\": \"n\"}}],\n"
        " \"pairs\": [{\"a\": \"peg_{i}_0\", \"b\": \"ball10.shape0\", \"ignore\": true, "
        "\"replicate\": {\"count\": \"n\"}}],\n"
        " \"forces\": [{\"kind\": \"force\", \"body\": \"ball{12 - i}\", \"fx\": \"i*sin(t)\", "
        "\"replicate\": {\"count\": 2}}]}",
        "{\"shapes\": [{\"name\": \"peg_0_0\", \"kind\": \"disc\", \"radius\": 0.1, \"position\": "
        "[0, -1]},\n"
        "  {\"name\": \"peg_1_0\", \"kind\": \"disc\", \"radius\": 0.1, \"position\": [1, -1]},\n"
        "  {\"name\": \"peg_1_1\", \"kind\": \"disc\", \"radius\": 0.1, \"position\": [1, -2]}],\n"
        " \"bodies\": [{\"name\": \"ball10\", \"shapes\": [{\"kind\": \"disc\", \"radius\": 0.2, "
        "\"density\": 1}]},\n"
        "  {\"name\": \"ball11\", \"position\": [1, 1], \"shapes\": [{\"kind\": \"disc\", "
        "\"radius\": 0.2, \"density\": 1},\n"
        "    {\"name\": \"knob_0\", \"kind\": \"point\", \"position\": [0, 0.1]}]},\n"
        "  {\"name\": \"ball12\", \"position\": [2, 4], \"shapes\": [{\"kind\": \"disc\", "
        "\"radius\": 0.2, \"density\": 1},\n"
        "    {\"name\": \"knob_0\", \"kind\": \"point\", \"position\": [0, 0.2]},\n"
        "    {\"name\": \"knob_1\", \"kind\": \"point\", \"position\": [0.1, 0.2]}]},\n"
        "  {\"name\": \"body4\", \"mass\": 1, \"inertia\": 1}, {\"name\": \"body5\", \"mass\": 2, "
        "\"inertia\": 1}],\n"
        " \"joints\": [{\"name\": \"rope0\", \"kind\": \"distance\", \"length\": 1, \"a\": "
        "\"ball10\", \"b\": "
        "\"ball11\"},\n"
        "  {\"name\": \"rope1\", \"kind\": \"distance\", \"length\": 2, \"a\": \"ball11\", \"b\": "
        "\"ball12\"}],\n"
        " \"pairs\": [{\"a\": \"peg_0_0\", \"b\": \"ball10.shape0\", \"ignore\": true},\n"
        "  {\"a\": \"peg_1_0\", \"b\": \"ball10.shape0\", \"ignore\": true}],\n"
        " \"forces\": [{\"kind\": \"force\", \"body\": \"ball11\", \"fx\": \"sin(t)\"}]}");
}

// Names are looked for with the prefix, then with outer ones, then without.
static void names_have_scopes(void **state)
{
    (void)state;
    expect_same(
        "{\"bodies\": [{\"name\": \"base\", \"mass\": 1, \"inertia\": 1}],\n"
        " \"assemblies\": [{\"prefix\": \"a_\", \"bodies\": [{\"name\": \"base\", \"mass\": 2, "
        "\"inertia\": 1,\n"
        "     \"shapes\": [{\"name\": \"tip\", \"kind\": \"point\"}]}],\n"
        "   \"assemblies\": [{\"prefix\": \"b{i}_\", \"replicate\": {\"count\": 2},\n"
        "     \"shapes\": [{\"name\": \"floor\", \"kind\": \"disc\", \"radius\": 1, \"position\": "
        "[0, \"-3 - i\"]}],\n"
        "     \"contacts\": [{\"a\": \"floor\", \"b\": \"tip\"}],\n"
        "     \"bodies\": [{\"name\": \"arm\", \"mass\": 3, \"inertia\": 1}],\n"
        "     \"joints\": [{\"kind\": \"revolute\", \"a\": \"base\", \"b\": \"arm\"}]}]}],\n"
        " \"joints\": [{\"kind\": \"distance\", \"a\": \"a_b1_arm\", \"b\": \"base\", \"length\": "
        "1}]}",
        "{\"shapes\": [{\"name\": \"a_b0_floor\", \"kind\": \"disc\", \"radius\": 1, \"position\": "
        "[0, -3]},\n"
        "   {\"name\": \"a_b1_floor\", \"kind\": \"disc\", \"radius\": 1, \"position\": [0, "
        "-4]}],\n"
        " \"bodies\": [{\"name\": \"a_b0_arm\", \"mass\": 3, \"inertia\": 1}, {\"name\": "
        "\"a_b1_arm\", \"mass\": 3, \"inertia\": 1},\n"
        "  {\"name\": \"a_base\", \"mass\": 2, \"inertia\": 1, \"shapes\": [{\"name\": \"tip\", "
        "\"kind\": \"point\"}]},\n"
        "  {\"name\": \"base\", \"mass\": 1, \"inertia\": 1}],\n"
        " \"contacts\": [{\"a\": \"a_b0_floor\", \"b\": \"a_base.tip\"}, {\"a\": \"a_b1_floor\", "
        "\"b\": \"a_base.tip\"}],\n"
        " \"joints\": [{\"name\": \"a_b0_joint0\", \"kind\": \"revolute\", \"a\": \"a_base\", "
        "\"b\": \"a_b0_arm\"},\n"
        "  {\"name\": \"a_b1_joint0\", \"kind\": \"revolute\", \"a\": \"a_base\", \"b\": "
        "\"a_b1_arm\"},\n"
        "  {\"name\": \"joint0\", \"kind\": \"distance\", \"a\": \"a_b1_arm\", \"b\": \"base\", "
        "\"length\": 1}]}");
}

// Inputs and joints in expressions have scopes as well, and excluded bodies do.
static void controls_have_scopes(void **state)
{
    (void)state;
    expect_same(
        "{\"parameters\": {\"k\": \"4 N m\"},\n"
        " \"assemblies\": [{\"prefix\": \"leg{i}_\", \"replicate\": {\"count\": 2}, \"position\": "
        "[\"i\", 0],\n"
        "   \"bodies\": [{\"name\": \"rod\", \"position\": [0.5, 0], \"mass\": 1, \"inertia\": "
        "0.1, \"shapes\": [{\"kind\": \"disc\", \"radius\": 0.2}]},\n"
        "     {\"name\": \"pad\", \"position\": [0.6, 0], \"mass\": 1, \"inertia\": 1, \"shapes\": "
        "[{\"kind\": \"disc\", \"radius\": 0.2}]}],\n"
        "   \"exclude\": [[\"rod\", \"pad\"]],\n"
        "   \"inputs\": [{\"name\": \"hip\", \"value\": \"k*sin(t) - q[pin]\"}, {\"name\": "
        "\"both\", \"value\": \"hip + 2*u[hip]\"}],\n"
        "   \"joints\": [{\"name\": \"pin\", \"kind\": \"revolute\", \"b\": \"rod\", \"at\": [0, "
        "0]}],\n"
        "   \"actuators\": [{\"name\": \"push\", \"kind\": \"motor\", \"joint\": \"pin\", "
        "\"control\": \"both - hip\"}],\n"
        "   \"forces\": [{\"kind\": \"force\", \"body\": \"rod\", \"fx\": \"0.1*hip + x\"}]}],\n"
        " \"inputs\": [{\"name\": \"sum{i}\", \"replicate\": {\"count\": 2}, \"value\": "
        "\"q[leg{i}_pin] + i\"}]}\n",
        "{\"bodies\": [{\"name\": \"leg0_rod\", \"position\": [0.5, 0], \"mass\": 1, \"inertia\": "
        "0.1, \"shapes\": [{\"kind\": \"disc\", \"radius\": 0.2}]},\n"
        "     {\"name\": \"leg0_pad\", \"position\": [0.6, 0], \"mass\": 1, \"inertia\": 1, "
        "\"shapes\": [{\"kind\": \"disc\", \"radius\": 0.2}]},\n"
        "     {\"name\": \"leg1_rod\", \"position\": [1.5, 0], \"mass\": 1, \"inertia\": 0.1, "
        "\"shapes\": [{\"kind\": \"disc\", \"radius\": 0.2}]},\n"
        "     {\"name\": \"leg1_pad\", \"position\": [1.6, 0], \"mass\": 1, \"inertia\": 1, "
        "\"shapes\": [{\"kind\": \"disc\", \"radius\": 0.2}]},\n"
        " ],\"exclude\": [[\"leg0_rod\", \"leg0_pad\"], [\"leg1_rod\", \"leg1_pad\"]],\n"
        " \"inputs\": [{\"name\": \"leg0_hip\", \"value\": \"4*sin(t) - q[leg0_pin]\"}, {\"name\": "
        "\"leg0_both\", \"value\": \"3*leg0_hip\"},\n"
        "   {\"name\": \"leg1_hip\", \"value\": \"4*sin(t) - q[leg1_pin]\"}, {\"name\": "
        "\"leg1_both\", \"value\": \"3*leg1_hip\"},\n"
        "   {\"name\": \"sum0\", \"value\": \"q[leg0_pin]\"}, {\"name\": \"sum1\", \"value\": "
        "\"q[leg1_pin] + 1\"}],\n"
        " \"joints\": [{\"name\": \"leg0_pin\", \"kind\": \"revolute\", \"b\": \"leg0_rod\", "
        "\"at\": [0, 0]},\n"
        "   {\"name\": \"leg1_pin\", \"kind\": \"revolute\", \"b\": \"leg1_rod\", \"at\": [1, "
        "0]}],\n"
        " \"actuators\": [{\"name\": \"leg0_push\", \"kind\": \"motor\", \"joint\": \"leg0_pin\", "
        "\"control\": \"2*leg0_hip\"},\n"
        "   {\"name\": \"leg1_push\", \"kind\": \"motor\", \"joint\": \"leg1_pin\", \"control\": "
        "\"2*leg1_hip\"}],\n"
        " \"forces\": [{\"kind\": \"force\", \"body\": \"leg0_rod\", \"fx\": \"0.1*leg0_hip + "
        "x\"},\n"
        "   {\"kind\": \"force\", \"body\": \"leg1_rod\", \"fx\": \"0.1*leg1_hip + x - 1\"}]}\n");
    perp_scene *scene = NULL;
    perp_error error = {0};
    static const char text[] =
        "{\"assemblies\": [{\"prefix\": \"p_\", \"inputs\": [{\"name\": \"hip\"},\n"
        " {\"name\": \"b\", \"value\": \"u[hip] + hip + hpi\"}]}]}";
    assert_int_equal(perp_scene_parse("x", text, strlen(text), NULL, &scene, &error),
                     PERP_ERR_FORMAT);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 41);
    assert_non_null(strstr(error.text, "unknown name 'hpi'"));
}

// Sites and sensors have prefixes, copies and poses. A site of the ground moves with its assembly.
static void sensors_have_scopes(void **state)
{
    (void)state;
    perp_scene *scene = parse(
        "{\"shapes\": [{\"kind\": \"halfplane\"}],\n"
        " \"bodies\": [{\"name\": \"base\", \"position\": [0, 5], \"mass\": 1, \"inertia\": 1}],\n"
        " \"assemblies\": [{\"prefix\": \"p{i}_\", \"replicate\": {\"count\": 2}, \"position\": "
        "[\"10*i\", 1], \"angle\": \"90 deg\",\n"
        "   \"bodies\": [{\"name\": \"rod\", \"position\": [2, 0], \"mass\": 1, \"inertia\": 1}],\n"
        "   \"joints\": [{\"name\": \"pin\", \"kind\": \"revolute\", \"b\": \"rod\", \"at\": [0, "
        "0]}],\n"
        "   \"actuators\": [{\"name\": \"motor\", \"kind\": \"motor\", \"joint\": \"pin\"}],\n"
        "   \"sites\": [{\"name\": \"eye\", \"position\": [3, 1], \"angle\": \"180 deg\"},\n"
        "     {\"name\": \"tip\", \"body\": \"rod\", \"position\": [1, 0]},\n"
        "     {\"name\": \"top\", \"body\": \"base\"}],\n"
        "   \"sensors\": [{\"name\": \"down\", \"kind\": \"range\", \"site\": \"eye\"},\n"
        "     {\"name\": \"place\", \"kind\": \"position\", \"site\": \"tip\"},\n"
        "     {\"name\": \"above\", \"kind\": \"position\", \"site\": \"top\"},\n"
        "     {\"name\": \"effort\", \"kind\": \"actuator-effort\", \"actuator\": \"motor\"}]}]}");
    perp_sim *sim = start(scene);
    const perp_model *model = perp_scene_model(scene);
    double value[2];
    assert_int_equal(perp_model_sites(model), 6);
    assert_int_equal(perp_model_sensors(model), 8);
    // x of the site points down after 270 degrees; the site is 1 + 3 above the ground
    assert_int_equal(perp_sim_sensor(sim, perp_model_sensor(model, "p1_down"), value, 1), PERP_OK);
    assert_true(fabs(value[0] - 4.0) < 1e-12);
    perp_pose eye = perp_sim_site_pose(sim, perp_model_site(model, "p1_eye"));
    assert_true(fabs(eye.p.x - 9.0) < 1e-12 && fabs(eye.p.y - 4.0) < 1e-12);
    assert_int_equal(perp_sim_sensor(sim, perp_model_sensor(model, "p1_place"), value, 2), PERP_OK);
    assert_true(fabs(value[0] - 10.0) < 1e-12 && fabs(value[1] - 4.0) < 1e-12);
    assert_int_equal(perp_sim_sensor(sim, perp_model_sensor(model, "p0_above"), value, 2), PERP_OK);
    assert_true(value[0] == 0.0 && value[1] == 5.0);
    assert_int_equal(perp_model_site_body(model, perp_model_site(model, "p0_tip")).i,
                     perp_model_body(model, "p0_rod").i);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// ── Poses ────────────────────────────────────────────────────────────────────────────────────────

// A machine with everything that a pose changes, without gravity.
static const char machine[] =
    "\"shapes\": [{\"name\": \"wall\", \"kind\": \"box\", \"size\": [1, 0.1], \"position\": [0.3, "
    "-1.2], \"angle\": 0.1}],\n"
    "\"bodies\": [{\"name\": \"rod\", \"position\": [0.5, 0.1], \"angle\": 0.3, \"velocity\": "
    "[0.2, -1], \"spin\": 0.5,\n"
    "   \"mass\": 1, \"inertia\": 0.1, \"shapes\": [{\"kind\": \"disc\", \"radius\": 0.1}]},\n"
    " {\"name\": \"slide\", \"position\": [2, 0], \"mass\": 2, \"inertia\": 0.2},\n"
    " {\"name\": \"free\", \"position\": [0.3, -0.8], \"velocity\": [0.1, -1], \"mass\": 1, "
    "\"inertia\": 0.1,\n"
    "   \"shapes\": [{\"kind\": \"disc\", \"radius\": 0.1}]},\n"
    " {\"name\": \"cam\", \"position\": [3, 1], \"angle\": 0.2, \"drive\": {\"x\": \"3 + "
    "0.2*sin(t)\"}},\n"
    " {\"name\": \"fan\", \"position\": [4, 1], \"drive\": {\"y\": \"1 + t\", \"angle\": "
    "\"2*t\"}}],\n"
    "\"joints\": [{\"name\": \"pin\", \"kind\": \"revolute\", \"b\": \"rod\", \"at\": [0, 0], "
    "\"stiffness\": 2, \"rest\": 0.1},\n"
    " {\"name\": \"bore\", \"kind\": \"prismatic\", \"b\": \"slide\", \"anchor_a\": [1.5, 0], "
    "\"anchor_b\": [-0.5, 0],\n"
    "   \"axis\": [1, 0], \"rate\": \"0.1*t\"},\n"
    " {\"name\": \"eye\", \"kind\": \"point_on_line\", \"a\": \"slide\", \"b\": \"ground\", "
    "\"anchor_b\": [2.5, 0]}],\n"
    "\"forces\": [{\"kind\": \"spring\", \"a\": \"ground\", \"b\": \"free\", \"anchor_a\": [-1, "
    "-1], \"stiffness\": 3, \"rest\": 0.5},\n"
    " {\"kind\": \"twist_spring\", \"b\": \"free\", \"stiffness\": 1, \"rest\": 0.2},\n"
    " {\"kind\": \"force\", \"body\": \"free\", \"fx\": \"x*y - vx\", \"fy\": \"2*sin(angle) - "
    "vy*x\", \"torque\": \"x - angle\"},\n"
    " {\"kind\": \"force\", \"body\": \"rod\", \"fx\": \"0.3*x\", \"body_axes\": true}]";

// Positions of all bodies of the machine at a pose, moved back, are those of the machine itself.
static void poses_move_everything(void **state)
{
    (void)state;
    char text[8192], placed[8192];
    snprintf(text, sizeof text, "{\"gravity\": [0, 0], %s}", machine);
    snprintf(placed, sizeof placed,
             "{\"gravity\": [0, 0], \"assemblies\": [{\"position\": [1, 2], \"angle\": 0.25,\n"
             " \"assemblies\": [{\"position\": [3, -1], \"angle\": \"30 deg\", %s}]}]}",
             machine);
    perp_scene *a = parse(text), *b = parse(placed);
    perp_sim *one = start(a), *two = start(b);
    bool touched = false;
    double turn = 0.25 + 3.141592653589793 / 6.0, c = cos(turn), s = sin(turn);
    double x0 = 1.0 + 3.0 * cos(0.25) + sin(0.25), y0 = 2.0 + 3.0 * sin(0.25) - cos(0.25);
    for (int k = 0; k < 60; k++) {
        for (int i = 1; i < perp_model_bodies(perp_scene_model(a)); i++) {
            const char *name = perp_model_body_name(perp_scene_model(a), (perp_body){i});
            perp_vec3 p = perp_sim_body_position(one, (perp_body){i});
            perp_vec3 v = perp_sim_body_twist(one, (perp_body){i}).v_W;
            perp_vec3 due = {x0 + c * p.x - s * p.y, y0 + s * p.x + c * p.y, 0.0};
            perp_vec3 fast = {c * v.x - s * v.y, s * v.x + c * v.y, 0.0};
            expect_vectors(perp_sim_body_position(two, (perp_body){i}), due, name);
            expect_vectors(perp_sim_body_twist(two, (perp_body){i}).v_W, fast, name);
            expect_near(perp_sim_body_angle(two, (perp_body){i}),
                        perp_sim_body_angle(one, (perp_body){i}) + turn, name);
        }
        assert_true(perp_sim_step(one, 0.01) >= 0);
        assert_true(perp_sim_step(two, 0.01) >= 0);
        touched = touched || perp_sim_info(two)->contacts > 0;
        for (int i = 0; i < 3; i++) {
            expect_near(perp_sim_joint(two, (perp_joint){i}).coordinate,
                        perp_sim_joint(one, (perp_joint){i}).coordinate, "coordinate");
        }
    }
    assert_true(touched);
    perp_sim_destroy(one);
    perp_sim_destroy(two);
    perp_scene_destroy(a);
    perp_scene_destroy(b);
}

static const char solids[] = "\"shapes\": [{\"name\": \"plate\", \"kind\": \"box\", \"size\": [2, "
                             "2, 0.2], \"position\": [0, 0, -1]}],\n"
                             "\"bodies\": [{\"name\": \"ball\", \"kind\": \"solid\", \"position\": "
                             "[0.1, 0, -0.5], \"velocity\": [0.5, 0.2, -1],\n"
                             "   \"spin\": [0, 3, 1], \"shapes\": [{\"kind\": \"sphere\", "
                             "\"radius\": 0.2, \"density\": 100}]},\n"
                             " {\"name\": \"door\", \"kind\": \"solid\", \"position\": [3, 0, 1], "
                             "\"rotation\": {\"axis\": [1, 2, 0], \"angle\": 0.4},\n"
                             "   \"mass\": 2, \"inertia\": [1, 2, 1.5]},\n"
                             " {\"name\": \"lift\", \"kind\": \"solid\", \"position\": [5, 0, 0], "
                             "\"rotation\": [0.6, 0.8, 0, 0], \"drive\": {\"z\": \"0.2*t\"}},\n"
                             " {\"name\": \"bar\", \"kind\": \"solid\", \"position\": [0, 4, 1], "
                             "\"mass\": 1, \"inertia\": [1, 1, 1]}],\n"
                             "\"joints\": [{\"name\": \"hinge\", \"kind\": \"revolute\", \"b\": "
                             "\"door\", \"at\": [2.5, 0, 1], \"axis\": [0, 1, 1], \"rate\": 1},\n"
                             " {\"name\": \"pole\", \"kind\": \"prismatic\", \"b\": \"bar\", "
                             "\"anchor_a\": [0, 4, 0], \"rate\": \"t\"}],\n"
                             "\"forces\": [{\"kind\": \"force\", \"body\": \"ball\", \"fx\": "
                             "\"z*vx\", \"fy\": \"y - wz\", \"tz\": \"0.1*x\"}],\n"
                             "\"pairs\": [{\"a\": \"plate\", \"b\": \"ball\", \"mu\": 0.4, "
                             "\"mu_2\": 0.1, \"tangent\": [1, 1, 0]}]";

static void poses_move_solids(void **state)
{
    (void)state;
    char text[8192], placed[8192];
    snprintf(text, sizeof text, "{\"gravity\": [0, 0, 0], %s}", solids);
    snprintf(placed, sizeof placed,
             "{\"gravity\": [0, 0, 0], \"assemblies\": [{\"position\": [1, 2, 3],\n"
             " \"rotation\": {\"axis\": [1, 0, 0], \"angle\": \"90 deg\"}, %s}]}",
             solids);
    perp_scene *a = parse(text), *b = parse(placed);
    perp_sim *one = start(a), *two = start(b);
    bool touched = false;
    for (int k = 0; k < 60; k++) {
        for (int i = 1; i < perp_model_bodies(perp_scene_model(a)); i++) {
            const char *name = perp_model_body_name(perp_scene_model(a), (perp_body){i});
            perp_vec3 p = perp_sim_body_position(one, (perp_body){i});
            perp_twist v = perp_sim_body_twist(one, (perp_body){i});
            perp_twist w = perp_sim_body_twist(two, (perp_body){i});
            expect_vectors(perp_sim_body_position(two, (perp_body){i}),
                           (perp_vec3){1.0 + p.x, 2.0 - p.z, 3.0 + p.y}, name);
            expect_vectors(w.v_W, (perp_vec3){v.v_W.x, -v.v_W.z, v.v_W.y}, name);
            expect_vectors(w.w_W, (perp_vec3){v.w_W.x, -v.w_W.z, v.w_W.y}, name);
        }
        assert_true(perp_sim_step(one, 0.01) >= 0);
        assert_true(perp_sim_step(two, 0.01) >= 0);
        touched = touched || perp_sim_info(two)->contacts > 0;
    }
    assert_true(touched);
    perp_sim_destroy(one);
    perp_sim_destroy(two);
    perp_scene_destroy(a);
    perp_scene_destroy(b);
}

// A body that turns by its motion may be turned about z.
static void turning_bodies_turn_about_z(void **state)
{
    (void)state;
    expect_same(
        "{\"assemblies\": [{\"rotation\": {\"axis\": [0, 0, 1], \"angle\": \"90 deg\"}, "
        "\"position\": "
        "[0, 0, 1],\n"
        "  \"bodies\": [{\"name\": \"fan\", \"kind\": \"solid\", \"rotation\": [0.6, 0, 0.8, 0],\n"
        "    \"drive\": {\"x\": \"t\", \"rx\": \"2*t\"}}]}]}",
        "{\"bodies\": [{\"name\": \"fan\", \"kind\": \"solid\", \"rotation\": [0.6, 0, 0.8, 0], "
        "\"position\": [0, 0, 1],\n"
        "    \"drive\": {\"y\": \"t\", \"rx\": \"2*t\", \"rz\": \"pi/2\"}}]}");
}

// ── Files ────────────────────────────────────────────────────────────────────────────────────────

static const char arm[] =
    "{ // an arm\n \"parameters\": {\"length\": 1, \"mass\": \"2*length\"}, \"step\": 5, "
    "\"description\": \"ignored\",\n"
    " \"bodies\": [{\"name\": \"arm\", \"position\": [\"length/2\", 0], \"mass\": \"mass\", "
    "\"inertia\": 1,}],\n"
    " \"joints\": [{\"name\": \"pin\", \"kind\": \"revolute\", \"b\": \"arm\", \"at\": [0, 0]}]}";
static const char pair[] = "{\"include\": [{\"file\": \"arm.json\", \"prefix\": \"l_\"}, "
                           "{\"file\": \"arm.json\", \"prefix\": \"r_\", \"position\": [2, 0],\n"
                           "  \"parameters\": {\"length\": \"4/2\"}}]}";
static const char both[] =
    "{\"parameters\": {\"k\": 3}, \"include\": [{\"file\": \"parts/pair.json\", \"prefix\": "
    "\"{i}_\", \"replicate\": {\"count\": \"k - 1\"},\n"
    "  \"position\": [0, \"i\"]}], \"joints\": [{\"kind\": \"gear\", \"joint_a\": \"0_l_pin\", "
    "\"joint_b\": \"1_r_pin\"}]}";
static const char both_plain[] =
    "{\"bodies\": [{\"name\": \"0_l_arm\", \"position\": [0.5, 0], \"mass\": 2, \"inertia\": 1},\n"
    " {\"name\": \"0_r_arm\", \"position\": [3, 0], \"mass\": 4, \"inertia\": 1},\n"
    " {\"name\": \"1_l_arm\", \"position\": [0.5, 1], \"mass\": 2, \"inertia\": 1},\n"
    " {\"name\": \"1_r_arm\", \"position\": [3, 1], \"mass\": 4, \"inertia\": 1}],\n"
    "\"joints\": [{\"name\": \"0_l_pin\", \"kind\": \"revolute\", \"b\": \"0_l_arm\", \"at\": [0, "
    "0]},\n"
    " {\"name\": \"0_r_pin\", \"kind\": \"revolute\", \"b\": \"0_r_arm\", \"at\": [2, 0]},\n"
    " {\"name\": \"1_l_pin\", \"kind\": \"revolute\", \"b\": \"1_l_arm\", \"at\": [0, 1]},\n"
    " {\"name\": \"1_r_pin\", \"kind\": \"revolute\", \"b\": \"1_r_arm\", \"at\": [2, 1]},\n"
    " {\"kind\": \"gear\", \"name\": \"joint0\", \"joint_a\": \"0_l_pin\", \"joint_b\": "
    "\"1_r_pin\"}]}";

static const perp_scene_file files[] = {{"parts/pair.json", pair, sizeof pair - 1},
                                        {"parts/arm.json", arm, sizeof arm - 1}};

static perp_scene_load_options given_files(void)
{
    perp_scene_load_options reading = perp_scene_load_options_default();
    reading.file = files;
    reading.files = 2;
    reading.given_only = true;
    return reading;
}

// The scene keeps the files by names relative to its folder, from which it can be read again.
static void files_are_included(void **state)
{
    (void)state;
    perp_scene_load_options reading = given_files();
    perp_scene *scene = parse_with(both, &reading);
    int count;
    const perp_scene_file *kept = perp_scene_files(scene, &count);
    assert_int_equal(count, 2);
    assert_string_equal(kept[0].name, "parts/pair.json");
    assert_string_equal(kept[1].name, "parts/arm.json");
    assert_memory_equal(kept[1].data, arm, sizeof arm - 1);
    assert_true(perp_scene_step(scene) == 0.001);
    assert_string_equal(perp_scene_description(scene), "");
    expect_same_scenes(scene, parse(both_plain));
}

static void write_file(const folder *place, const char *name, const char *text)
{
    FILE *file = fopen(folder_at(place, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
}

// From disk, recorded with a value set, and checked without the files.
static void recordings_hold_the_parts(void **state)
{
    (void)state;
    folder place = folder_create();
    perp_scene *scene = NULL;
    perp_sim *sim;
    perp_error error = {0};
    perp_scene_parameter set = {"k", "1 + 1"};
    perp_scene_load_options reading = perp_scene_load_options_default();
    char other[sizeof both];
    assert_int_equal(mkdir(folder_at(&place, "parts"), 0700), 0);
    snprintf(other, sizeof other, "%s", both);
    snprintf(strstr(other, ", \"joints\""), 2, "}");  // the gear needs two copies
    write_file(&place, "scene.json", other);
    write_file(&place, "parts/pair.json", pair);
    write_file(&place, "parts/arm.json", arm);
    reading.set = &set;
    reading.sets = 1;
    if (perp_scene_load_with(folder_at(&place, "scene.json"), &reading, NULL, &scene, &error) < 0) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(perp_model_bodies(perp_scene_model(scene)), 3);
    sim = start(scene);
    perp_record_def def = perp_record_default();
    perp_record *record = NULL;
    def.scene = perp_scene_text(scene, NULL);
    def.file = perp_scene_files(scene, &def.files);
    def.h = 0.001;
    assert_int_equal(perp_record_create(folder_at(&place, "run"), sim, &def, NULL, &record, &error),
                     PERP_OK);
    for (int k = 0; k < 20; k++) {
        perp_status status = perp_sim_step(sim, def.h);
        assert_true(status >= 0);
        assert_true(perp_record_step(record, sim) >= 0);
    }
    assert_true(perp_record_finish(record, sim) >= 0);
    perp_record_destroy(record);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    assert_int_equal(remove(folder_at(&place, "parts/pair.json")), 0);
    assert_int_equal(remove(folder_at(&place, "parts/arm.json")), 0);
    perp_recording *recording = NULL;
    perp_check check = {0};
    assert_int_equal(perp_recording_open(folder_at(&place, "run"), NULL, &recording, &error),
                     PERP_OK);
    if (perp_recording_check(recording, NULL, &check, &error) < 0) {
        fail_msg("%s", error.text);
    }
    assert_true(check.passed);
    perp_recording_close(recording);
    folder_remove(&place);
}

// Two files in different folders, whose names would grow without end: ../two.json, ../parts/../two.json, ...
static void files_in_circles_are_refused(void **state)
{
    (void)state;
    static const char one[] = "{\"include\": [{\"file\": \"../two.json\", \"prefix\": \"a_\"}]}";
    static const char two[] =
        "{\"include\": [{\"file\": \"./parts/one.json\", \"prefix\": \"b_\"}]}";
    folder place = folder_create();
    perp_scene *scene = NULL;
    perp_error error = {0};
    assert_int_equal(mkdir(folder_at(&place, "parts"), 0700), 0);
    write_file(&place, "parts/one.json", one);
    write_file(&place, "two.json", two);
    assert_int_equal(perp_scene_load(folder_at(&place, "two.json"), NULL, &scene, &error),
                     PERP_ERR_FORMAT);
    assert_non_null(strstr(error.text, "includes itself"));
    folder_remove(&place);
}

// ── The scenes of the project ────────────────────────────────────────────────────────────────────

// The acceleration of a block on a slope, for some tilts and coefficients, in steps of 2 ms.
static void slopes_have_parameters(void **state)
{
    (void)state;
    static const struct {
        const char *tilt, *mu;
        double angle, coefficient;  // [deg]
    } cases[] = {{"20 deg", "0.2", 20.0, 0.2},
                 {"pi/6", "tilt - 0.3", 30.0, 0.2235987755982988},
                 {"400 mrad", "1/10", 22.918311805232927, 0.1},
                 {"10 deg", "0.2", 10.0, 0.2}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const perp_scene_parameter set[] = {{"tilt", cases[k].tilt}, {"mu", cases[k].mu}};
        perp_scene_load_options reading = perp_scene_load_options_default();
        perp_scene *scene = NULL;
        perp_error error = {0};
        reading.set = set;
        reading.sets = 2;
        if (perp_scene_load_with("scenes/slope.json", &reading, NULL, &scene, &error) < 0) {
            fail_msg("%s", error.text);
        }
        perp_sim *sim = start(scene);
        for (int i = 0; i < 200; i++) {
            assert_true(perp_sim_step(sim, perp_scene_step(scene)) >= 0);
        }
        double a = cases[k].angle * 3.141592653589793 / 180.0;
        double due = 0.4 * 9.81 * fmax(0.0, sin(a) - cases[k].coefficient * cos(a));
        perp_vec3 v = perp_sim_body_twist(sim, (perp_body){1}).v_W;
        expect_near(v.x * cos(a) - v.y * sin(a), due, cases[k].tilt);
        perp_sim_destroy(sim);
        perp_scene_destroy(scene);
    }
}

// Each half of the twin moves as the slider-crank does.
static void twins_move_alike(void **state)
{
    (void)state;
    perp_scene *one = NULL, *two = NULL;
    perp_error error = {0};
    assert_int_equal(perp_scene_load("scenes/slider-crank.json", NULL, &one, &error), PERP_OK);
    assert_int_equal(perp_scene_load("scenes/v-twin.json", NULL, &two, &error), PERP_OK);
    perp_sim *a = start(one), *b = start(two);
    perp_body slider = perp_model_body(perp_scene_model(one), "slider");
    perp_body left = perp_model_body(perp_scene_model(two), "left_slider");
    perp_body right = perp_model_body(perp_scene_model(two), "right_slider");
    assert_true(slider.i > 0 && left.i > 0 && right.i > 0);
    for (int k = 0; k < 500; k++) {
        assert_true(perp_sim_step(a, 1e-5) >= 0);
        assert_true(perp_sim_step(b, 1e-5) >= 0);
    }
    double x = perp_sim_body_position(a, slider).x * sqrt(0.5);
    assert_true(x < 0.45 * sqrt(0.5) - 0.01);
    expect_vectors(perp_sim_body_position(b, left), (perp_vec3){-x, 0.2 + x, 0.0}, "left");
    expect_vectors(perp_sim_body_position(b, right), (perp_vec3){x, 0.2 + x, 0.0}, "right");
    perp_sim_destroy(a);
    perp_sim_destroy(b);
    perp_scene_destroy(one);
    perp_scene_destroy(two);
}

// The last domino is knocked over, and none passes through another.
static void dominoes_fall(void **state)
{
    (void)state;
    const perp_scene_parameter set = {"n", "6"};
    perp_scene_load_options reading = perp_scene_load_options_default();
    perp_scene *scene = NULL;
    perp_error error = {0};
    reading.set = &set;
    reading.sets = 1;
    assert_int_equal(perp_scene_load_with("scenes/dominoes.json", &reading, NULL, &scene, &error),
                     PERP_OK);
    assert_int_equal(perp_model_bodies(perp_scene_model(scene)), 7);
    perp_sim *sim = start(scene);
    for (int k = 0; k < 800; k++) {
        assert_true(perp_sim_step(sim, perp_scene_step(scene)) >= 0);
        assert_true(perp_sim_info(sim)->certificate.passed);
    }
    for (int i = 1; i <= 6; i++) {
        assert_true(perp_sim_body_angle(sim, (perp_body){i}) < -1.0);
    }
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// ── Damage ───────────────────────────────────────────────────────────────────────────────────────

static void allocations_may_fail(const char *text, const perp_scene_load_options *reading)
{
    int failures = 0;
    for (int k = 1;; k++) {
        fault f = {.fail_at = k};
        perp_env env = fault_env(&f);
        perp_scene *scene = NULL;
        perp_error error;
        perp_status status =
            perp_scene_parse_with("x", text, strlen(text), reading, &env, &scene, &error);
        perp_scene_destroy(scene);
        assert_int_equal(f.live, 0);
        assert_int_equal(f.confused, 0);
        if (!f.happened) {
            assert_int_equal(status, PERP_OK);
            break;
        }
        if (status != PERP_ERR_MEMORY) {
            fail_msg("allocation %d: %s", k, error.text);
        }
        failures++;
    }
    assert_true(failures > 5);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    char placed[8192];
    perp_scene_load_options reading = given_files(), setting = perp_scene_load_options_default();
    const perp_scene_parameter set = {"n", "1 + 2"};
    setting.set = &set;
    setting.sets = 1;
    allocations_may_fail(slope, &setting);
    allocations_may_fail(both, &reading);
    snprintf(placed, sizeof placed, "{\"assemblies\": [{\"position\": [1, 2], \"angle\": 1, %s}]}",
             machine);
    allocations_may_fail(placed, NULL);
    snprintf(placed, sizeof placed,
             "{\"assemblies\": [{\"rotation\": {\"axis\": [1, 0, 0], \"angle\": 1}, %s}]}", solids);
    allocations_may_fail(placed, NULL);
}

// Commas may trail; lines and columns of other errors stay.
static void trailing_commas_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line, column;  // 0: it is read
    } cases[] = {{"{\"bodies\": [ ], }", 0, 0},
                 {"{\"bodies\": [{\"mass\": 1, \"inertia\": 1,},\n ], // ,\n }", 0, 0},
                 {"{\"name\": \",]\", \"gravity\": [0, 1,],}", 0, 0},
                 {"{\"name\": \"a\\\",]\",}", 0, 0},
                 {"{\"gravity\": [0, 1,], \"stpe\": 1}", 1, 22},
                 {"{,}", 1, 2},
                 {"[,]", 1, 2},
                 {"{\"gravity\": [0,, 1]}", 1, 16},
                 {"{\"gravity\": [0, 1,,]}", 1, 19},
                 {"{\"gravity\":,}", 1, 12},
                 {"{},", 1, 3}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        perp_scene *scene = NULL;
        perp_error error = {0};
        perp_status status =
            perp_scene_parse("x", cases[k].text, strlen(cases[k].text), NULL, &scene, &error);
        if ((status == PERP_OK) != (cases[k].line == 0) || error.line != cases[k].line ||
            error.column != cases[k].column) {
            fail_msg("%s: %d:%d: %s", cases[k].text, error.line, error.column, error.text);
        }
        perp_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_numbers),
        cmocka_unit_test(spatial_quantities_arrive),
        cmocka_unit_test(values_can_be_set),
        cmocka_unit_test(copies_are_objects),
        cmocka_unit_test(names_have_scopes),
        cmocka_unit_test(controls_have_scopes),
        cmocka_unit_test(sensors_have_scopes),
        cmocka_unit_test(poses_move_everything),
        cmocka_unit_test(poses_move_solids),
        cmocka_unit_test(turning_bodies_turn_about_z),
        cmocka_unit_test(files_are_included),
        cmocka_unit_test(recordings_hold_the_parts),
        cmocka_unit_test(files_in_circles_are_refused),
        cmocka_unit_test(slopes_have_parameters),
        cmocka_unit_test(twins_move_alike),
        cmocka_unit_test(dominoes_fall),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(trailing_commas_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
