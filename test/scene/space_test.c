// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Spatial scenes: what is written arrives in the model, and generated ones hold what they promise.
#include "scene/scene.h"
#include "support/cmocka.h"
#include "support/folder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double PI = 3.141592653589793;

static perp_scene *parse(const char *text)
{
    perp_scene *scene = NULL;
    perp_error error;
    if (perp_scene_parse("test.json", text, strlen(text), NULL, &scene, &error) < 0) {
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    }
    return scene;
}

static void near_vector(perp_vec3 a, double x, double y, double z)
{
    assert_true(fabs(a.x - x) < 1e-14 && fabs(a.y - y) < 1e-14 && fabs(a.z - z) < 1e-14);
}

static void near_turn(perp_quat q, double w, double x, double y, double z)
{
    assert_true(fabs(q.w - w) < 1e-14 && fabs(q.x - x) < 1e-14);
    assert_true(fabs(q.y - y) < 1e-14 && fabs(q.z - z) < 1e-14);
}

static void bodies_arrive(void **state)
{
    (void)state;
    perp_scene *scene = parse(
        "{\"facets\": 5, \"threads\": 3, \"rotation_update\": \"linear\", \"gyroscopic\": "
        "\"explicit\",\n"
        " \"friction\": \"pyramid\", \"bodies\": [\n"
        "  {\"name\": \"a\", \"kind\": \"solid\", \"position\": [1, 2, 3], \"velocity\": [4, 5, "
        "6],\n"
        "   \"spin\": [7, 8, 9], \"rotation\": {\"axis\": [0, 0, 2], \"angle\": \"90 deg\"},\n"
        "   \"mass\": 2, \"inertia\": [3, 4, 5, 0.1, 0.2, 0.3]},\n"
        "  {\"name\": \"b\", \"kind\": \"solid\", \"rotation\": [0, 1, 0, 0], \"mass\": 1,\n"
        "   \"inertia\": [1, 1, 1]},\n"
        "  {\"name\": \"c\", \"kind\": \"point_mass\", \"mass\": 1},\n"
        "  {\"name\": \"d\", \"kind\": \"solid\", \"drive\": {\"x\": \"t\", \"z\": 2, \"rx\": "
        "\"3*t\",\n"
        "   \"rz\": {\"table\": {\"t\": [0, 1], \"value\": [0, 1]}}}}]}");
    const perp_model *m = perp_scene_model(scene);
    perp_sim_def def = perp_scene_sim_def(scene);
    double I[6];
    assert_true(m->spatial);
    assert_int_equal(m->nv, 15);
    assert_int_equal(m->nq, 17);
    near_vector(m->gravity, 0.0, 0.0, -9.81);
    near_vector(m->body[1].p0, 1, 2, 3);
    near_vector(m->body[1].v0, 4, 5, 6);
    near_vector(m->body[1].w0, 7, 8, 9);
    near_turn(m->body[1].rot0, sqrt(0.5), 0, 0, sqrt(0.5));
    near_turn(m->body[2].rot0, 0, 1, 0, 0);
    perp_model_inertia_tensor(m, (perp_body){1}, I);
    const double given[6] = {3, 4, 5, 0.1, 0.2, 0.3};
    assert_memory_equal(I, given, sizeof I);
    assert_non_null(m->body[4].motion[PP_BY_X]);
    assert_null(m->body[4].motion[PP_BY_Y]);
    assert_non_null(m->body[4].motion[PP_BY_RX]);
    assert_non_null(m->body[4].motion[PP_BY_RZ]);
    assert_int_equal(def.facets, 5);
    assert_int_equal(def.threads, 3);
    assert_int_equal(def.rotation, PERP_ROTATION_LINEAR);
    assert_int_equal(def.gyroscopic, PERP_GYROSCOPIC_EXPLICIT);
    assert_int_equal(def.friction, PERP_FRICTION_PYRAMID);
    perp_scene_destroy(scene);
}

// Directions count, whatever their length.
static void long_and_short_axes_turn_alike(void **state)
{
    (void)state;
    static const char *const axes[] = {"[0, 3, 4]", "[0, 3e200, 4e200]", "[0, 3e307, 4e307]",
                                       "[0, 3e-200, 4e-200]", "[0, 3e-310, 4e-310]"};
    const double s = sqrt(0.5);
    for (size_t k = 0; k < sizeof axes / sizeof axes[0]; k++) {
        char text[400];
        snprintf(text, sizeof text,
                 "{\"bodies\": [{\"name\": \"a\", \"kind\": \"solid\", \"mass\": 1, \"inertia\": "
                 "[1, 1, 1], \"rotation\": {\"axis\": %s, \"angle\": \"90 deg\"}}], \"joints\": "
                 "[{\"name\": \"j\", \"kind\": \"revolute\", \"b\": \"a\", \"axis\": %s}]}",
                 axes[k], axes[k]);
        perp_scene *scene = parse(text);
        const perp_model *m = perp_scene_model(scene);
        near_turn(m->body[1].rot0, s, 0.0, 0.6 * s, 0.8 * s);
        near_vector(m->joint[0].axis_A, 0.0, 0.6, 0.8);
        perp_scene_destroy(scene);
    }
}

// Masses of solids whose volumes are known.
static void shapes_arrive(void **state)
{
    (void)state;
    static const struct {
        const char *shape;
        double volume;
    } cases[] = {
        {"\"kind\": \"sphere\", \"radius\": 0.5", 4.0 / 3.0 * 0.125},
        {"\"kind\": \"box\", \"size\": [1, 2, 3]", 6.0 / 3.141592653589793},
        {"\"kind\": \"cylinder\", \"radius\": 0.5, \"length\": 2", 0.5},
        {"\"kind\": \"capsule\", \"radius\": 0.5, \"length\": 2", 0.5 + 4.0 / 3.0 * 0.125},
        {"\"kind\": \"cone\", \"radius\": 0.5, \"length\": 3", 0.25},
        {"\"kind\": \"ellipsoid\", \"radii\": [1, 2, 3]", 8.0},
        {"\"kind\": \"hull\", \"vertices\": [[0,0,0],[1,0,0],[0,1,0],[0,0,6]]",
         1.0 / 3.141592653589793},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{\"bodies\": [{\"kind\": \"solid\", \"recenter\": true, \"shapes\": [{%s, "
                 "\"density\": 2, \"position\": [0, 0, 1], \"mu_spin\": 0.1, \"mu_roll\": 0.2, "
                 "\"facets\": 7, \"surface_velocity\": [1, \"t\", 0], \"surface_spin\": 3}]}]}",
                 cases[k].shape);
        perp_scene *scene = parse(text);
        const perp_model *m = perp_scene_model(scene);
        double mass = perp_model_mass(m, (perp_body){1});
        if (fabs(mass - 2.0 * PI * cases[k].volume) > 1e-12 * mass) {
            fail_msg("%s: mass %.17g", cases[k].shape, mass);
        }
        const pp_shape *s = &m->shape[0];
        assert_true(s->mu_spin == 0.1 && s->mu_roll == 0.2 && s->facets == 7);
        assert_non_null(s->surface[0]);
        assert_non_null(s->surface[1]);
        assert_non_null(s->surface[3]);
        perp_scene_destroy(scene);
    }
}

static void laws_and_joints_arrive(void **state)
{
    (void)state;
    perp_scene *scene = parse(
        "{\"shapes\": [{\"name\": \"floor\", \"kind\": \"halfspace\", \"mu_roll\": 0.3}],\n"
        " \"bodies\": [\n"
        "  {\"name\": \"a\", \"kind\": \"solid\", \"mass\": 1, \"inertia\": [1, 1, 1],\n"
        "   \"position\": [1, 0, 0], \"rotation\": {\"axis\": [0, 0, 1], \"angle\": \"90 deg\"},\n"
        "   \"shapes\": [{\"name\": \"p\", \"kind\": \"point\"}]},\n"
        "  {\"name\": \"b\", \"kind\": \"solid\", \"position\": [4, 0, 0], \"mass\": 1, "
        "\"inertia\": [1, 1, 1],\n"
        "   \"shapes\": [{\"kind\": \"sphere\", \"radius\": 1, \"facets\": 9}]}],\n"
        " \"contacts\": [{\"a\": \"floor\", \"b\": \"a.p\", \"mu\": 0.3, \"mu_2\": 0.4, "
        "\"tangent\": [0, 1, 0],\n"
        "   \"mu_spin\": 0.5, \"facets\": 3}],\n"
        " \"pairs\": [{\"a\": \"floor\", \"b\": \"b\", \"mu_2\": 0.7}],\n"
        " \"joints\": [{\"kind\": \"screw\", \"a\": \"a\", \"b\": \"b\", \"at\": [2, 0, 3], "
        "\"axis\": [1, 0, 0],\n"
        "   \"pitch\": 0.25, \"stiffness\": 3, \"damping\": 4, \"rest\": \"45 deg\"}]}");
    const perp_model *m = perp_scene_model(scene);
    const pp_listed *c = &m->contact[0];
    assert_true(c->mu == 0.3 && c->mu_2 == 0.4 && c->mu_spin == 0.5 && c->mu_roll < 0.0);
    assert_int_equal(c->facets, 3);
    near_vector(c->tangent_A, 0, 1, 0);
    const pp_pair_rule *p = &m->pair[0];  // what the rule does not say is the shapes'
    assert_true(p->mu == 0.5 && p->mu_2 == 0.7 && p->mu_roll == 0.3);
    assert_int_equal(p->facets, 9);
    const pp_joint *j = &m->joint[0];
    near_vector(j->r_A, 0, -1, 3);
    near_vector(j->r_B, -2, 0, 3);
    near_vector(j->axis_A, 1, 0, 0);
    assert_true(j->pitch == 0.25 && j->stiffness == 3.0 && j->damping == 4.0);
    assert_true(fabs(j->rest - 0.25 * PI) < 1e-15);
    perp_scene_destroy(scene);
}

// A tetrahedron beside the scene, as OBJ; its name is seen from the scene's folder.
static void files_arrive(void **state)
{
    (void)state;
    folder f = folder_create();
    FILE *file = fopen(folder_at(&f, "tetra.obj"), "w");
    assert_non_null(file);
    fputs("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n", file);
    fclose(file);
    file = fopen(folder_at(&f, "scene.json"), "w");
    assert_non_null(file);
    fputs("{\"shapes\": [{\"kind\": \"mesh\", \"file\": \"tetra.obj\"}],\n"
          " \"bodies\": [{\"kind\": \"solid\", \"recenter\": true,\n"
          "  \"shapes\": [{\"kind\": \"hull\", \"file\": \"tetra.obj\", \"density\": 6}]}]}\n",
          file);
    fclose(file);
    perp_scene *scene = NULL;
    perp_error error;
    if (perp_scene_load(folder_at(&f, "scene.json"), NULL, &scene, &error) < 0) {
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    }
    assert_true(fabs(perp_model_mass(perp_scene_model(scene), (perp_body){1}) - 1.0) < 1e-12);
    perp_scene_destroy(scene);
    static const char missing[] =
        "{\"bodies\": [{\"kind\": \"solid\", \"shapes\": [{\"kind\": \"hull\", \"file\": "
        "\"no.stl\"}]}]}";
    assert_int_equal(perp_scene_parse("x", missing, strlen(missing), NULL, &scene, &error),
                     PERP_ERR_FORMAT);
    assert_non_null(strstr(error.text, "no.stl"));
    assert_int_equal(error.line, 1);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_arrive), cmocka_unit_test(long_and_short_axes_turn_alike),
        cmocka_unit_test(shapes_arrive), cmocka_unit_test(laws_and_joints_arrive),
        cmocka_unit_test(files_arrive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
