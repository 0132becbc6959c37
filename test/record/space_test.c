// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Spatial recordings: frames hold what the sim had, bit for bit; shapes, files and figures are whole.
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/xml.h"

#include <perp/io.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 12 };

static const char text[] =
    "{\"step\": 0.01, \"rotation_update\": \"linear\",\n"
    " \"shapes\": [{\"name\": \"floor\", \"kind\": \"halfspace\"},\n"
    "  {\"name\": \"ramp\", \"kind\": \"mesh\", \"vertices\": [[5,0,0],[7,0,0],[7,2,1],[5,2,1]],\n"
    "   \"triangles\": [[0,1,2],[0,2,3]]}],\n"
    " \"bodies\": [\n"
    "  {\"name\": \"box\", \"kind\": \"solid\", \"position\": [0, 0, 0.25], \"velocity\": [1, 0.2, "
    "0],\n"
    "   \"spin\": [0, 0, 2], \"shapes\": [{\"kind\": \"box\", \"size\": [1, 1, 0.5], \"density\": "
    "2}]},\n"
    "  {\"name\": \"ball\", \"kind\": \"solid\", \"position\": [2, 0, 0.3], \"spin\": [0, 0, 5],\n"
    "   \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.3, \"density\": 2, \"mu_spin\": "
    "0.02}]},\n"
    "  {\"name\": \"wedge\", \"kind\": \"solid\", \"recenter\": true, \"position\": [0, 3, 0.1],\n"
    "   \"rotation\": {\"axis\": [1, 2, 3], \"angle\": 0.5}, \"shapes\": [{\"kind\": \"hull\",\n"
    "    \"vertices\": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], \"density\": 2,\n"
    "    \"rotation\": {\"axis\": [0, 1, 0], \"angle\": 0.2}}]},\n"
    "  {\"name\": \"bead\", \"kind\": \"point_mass\", \"position\": [4, 0, 1], \"velocity\": [0, "
    "1, "
    "0], \"mass\": 1},\n"
    "  {\"name\": \"arm\", \"kind\": \"solid\", \"position\": [4, 0, 3], \"mass\": 1, \"inertia\": "
    "[1, 1, 1]},\n"
    "  {\"name\": \"cam\", \"kind\": \"solid\", \"drive\": {\"x\": 9, \"z\": \"0.1*t\", \"ry\": "
    "\"3*t\"},\n"
    "   \"shapes\": [{\"kind\": \"cone\", \"radius\": 0.2, \"length\": 0.5},\n"
    "    {\"kind\": \"cylinder\", \"radius\": 0.1, \"length\": 1},\n"
    "    {\"kind\": \"ellipsoid\", \"radii\": [0.3, 0.2, 0.1]},\n"
    "    {\"kind\": \"capsule\", \"radius\": 0.1, \"length\": 1}]}],\n"
    " \"joints\": [{\"kind\": \"universal\", \"b\": \"arm\", \"at\": [4, 0.5, 3], \"axis\": [0, 1, "
    "0],\n"
    "   \"axis_b\": [1, 0, 0]},\n"
    "  {\"kind\": \"distance\", \"a\": \"arm\", \"b\": \"bead\", \"length\": 2}]}\n";

typedef struct seen {
    double q[64], nu[64], t;
    perp_pose pose[8];
    perp_twist twist[8];
    perp_contact contact[32];
    int contacts;
} seen;

static seen history[STEPS + 1];
static folder place;
static perp_scene *scene;

static void remember(const perp_sim *sim, int k)
{
    seen *s = &history[k];
    int nq, nv;
    perp_sim_state_size(sim, &nq, &nv);
    assert_true(nq <= 64 && nv <= 64);
    assert_int_equal(perp_sim_state_get(sim, &s->t, s->q, s->nu), PERP_OK);
    for (int i = 0; i < perp_model_bodies(perp_sim_model(sim)); i++) {
        s->pose[i] = perp_sim_body_pose(sim, (perp_body){i});
        s->twist[i] = perp_sim_body_twist(sim, (perp_body){i});
    }
    const perp_contact *contact = perp_sim_contacts(sim, &s->contacts);
    assert_true(s->contacts <= 32);
    for (int i = 0; i < s->contacts && k > 0; i++) {
        s->contact[i] = contact[i];
    }
    s->contacts = k > 0 ? s->contacts : 0;
}

static int setup(void **state)
{
    (void)state;
    perp_error error = {0};
    perp_sim *sim = NULL;
    perp_record *record = NULL;
    place = folder_create();
    if (perp_scene_parse("space", text, sizeof text - 1, NULL, &scene, &error) < 0) {
        print_error("%d:%d: %s\n", error.line, error.column, error.text);
        return -1;
    }
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_record_def how = perp_record_default();
    how.name = "space";
    how.scene = text;
    how.h = 0.01;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error), PERP_OK);
    assert_int_equal(perp_record_create(place.path, sim, &how, NULL, &record, &error), PERP_OK);
    remember(sim, 0);
    for (int k = 1; k <= STEPS; k++) {
        assert_true(perp_sim_step(sim, how.h) >= 0);
        assert_int_equal(perp_record_step(record, sim), PERP_OK);
        remember(sim, k);
    }
    assert_int_equal(perp_record_finish(record, sim), PERP_OK);
    perp_record_destroy(record);
    perp_sim_destroy(sim);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    perp_scene_destroy(scene);
    folder_remove(&place);
    return 0;
}

static perp_recording *open_it(void)
{
    perp_recording *recording = NULL;
    perp_error error = {0};
    if (perp_recording_open(place.path, NULL, &recording, &error) < 0) {
        fail_msg("%s", error.text);
    }
    return recording;
}

static void same_contact(const perp_contact *a, const perp_contact *b)
{
    assert_int_equal(a->a.i, b->a.i);
    assert_int_equal(a->b.i, b->b.i);
    assert_int_equal(a->feature, b->feature);
    assert_int_equal(a->mode, b->mode);
    assert_int_equal(a->facets, b->facets);
    assert_memory_equal(&a->point_W, &b->point_W, sizeof a->point_W);
    assert_memory_equal(&a->normal_W, &b->normal_W, sizeof a->normal_W);
    assert_memory_equal(&a->tangent_W, &b->tangent_W, sizeof a->tangent_W);
    assert_memory_equal(&a->pf_W, &b->pf_W, sizeof a->pf_W);
    assert_memory_equal(&a->slip_W, &b->slip_W, sizeof a->slip_W);
    assert_memory_equal(&a->moment_W, &b->moment_W, sizeof a->moment_W);
    assert_true(a->gap == b->gap && a->pn == b->pn && a->rate_n == b->rate_n && a->slip == b->slip);
}

static void frames_hold_what_the_sim_had(void **state)
{
    (void)state;
    perp_recording *recording = open_it();
    const perp_recording_info *info = perp_recording_about(recording);
    perp_snapshot frame;
    bool moments = false;
    assert_true(info->spatial && info->complete);
    assert_int_equal(info->frames, STEPS + 1);
    assert_int_equal(info->nv, 4 * 6 + 3);
    assert_int_equal(info->nq, 4 * 7 + 3);
    assert_int_equal(info->rotation, PERP_ROTATION_LINEAR);
    assert_int_equal(info->gyroscopic, PERP_GYROSCOPIC_IMPLICIT);
    assert_int_equal(info->facets, 8);
    for (int k = 0; k <= STEPS; k++) {
        const seen *s = &history[k];
        assert_int_equal(perp_recording_read(recording, k, &frame, NULL), PERP_OK);
        assert_memory_equal(frame.q, s->q, (size_t)info->nq * sizeof(double));
        assert_memory_equal(frame.nu, s->nu, (size_t)info->nv * sizeof(double));
        for (int i = 0; i < info->bodies; i++) {
            assert_memory_equal(&frame.position_W[i], &s->pose[i].p, sizeof(perp_vec3));
            assert_memory_equal(&frame.rotation_WB[i], &s->pose[i].rot, sizeof(perp_quat));
            assert_memory_equal(&frame.velocity_W[i], &s->twist[i].v_W, sizeof(perp_vec3));
            assert_memory_equal(&frame.omega_W[i], &s->twist[i].w_W, sizeof(perp_vec3));
        }
        assert_int_equal(frame.contacts, s->contacts);
        for (int i = 0; i < s->contacts; i++) {
            same_contact(&frame.contact[i], &s->contact[i]);
            moments = moments || s->contact[i].moment_W.z != 0.0;
        }
    }
    assert_true(moments);
    perp_recording_close(recording);
}

static void shapes_are_those_of_the_scene(void **state)
{
    (void)state;
    perp_recording *recording = open_it();
    perp_recorded_shape box = perp_recording_shape(recording, (perp_shape){2});
    perp_recorded_shape mesh = perp_recording_shape(recording, (perp_shape){1});
    perp_recorded_shape hull = perp_recording_shape(recording, (perp_shape){4});
    assert_int_equal(box.kind, PERP_SHAPE_BOX);
    assert_true(box.half.x == 0.5 && box.half.y == 0.5 && box.half.z == 0.25);
    assert_int_equal(box.faces, 0);
    assert_int_equal(mesh.faces, 2);
    assert_int_equal(mesh.outline_count, 4);
    assert_int_equal(hull.faces, 4);
    assert_int_equal(hull.outline_count, 4);
    assert_int_equal(hull.corner_end[hull.faces - 1] - hull.corner_first, 12);
    // The centre of a tetrahedron's vertices is its centre of mass: the origin of the body.
    perp_vec3 sum = {0.0, 0.0, 0.0};
    for (int k = 0; k < 4; k++) {
        sum = (perp_vec3){sum.x + hull.outline[k].x, sum.y + hull.outline[k].y,
                          sum.z + hull.outline[k].z};
    }
    assert_true(fabs(sum.x) + fabs(sum.y) + fabs(sum.z) < 1e-14);
    perp_recorded_joint joint = perp_recording_joint(recording, (perp_joint){0});
    assert_int_equal(joint.kind, PERP_JOINT_UNIVERSAL);
    assert_true(joint.axis_A.y == 1.0 && joint.anchor_B.y == 0.5 && joint.anchor_B.z == 0.0);
    perp_recorded_body arm = perp_recording_body(recording, (perp_body){5});
    assert_true(arm.inertia_B[0] == 1.0 && arm.at_q == arm.at_nu + 3);
    perp_recording_close(recording);
}

static void checks_pass(void **state)
{
    (void)state;
    perp_recording *recording = open_it();
    perp_check check;
    perp_error error = {0};
    assert_int_equal(perp_recording_check(recording, NULL, &check, &error), PERP_OK);
    for (int k = 0; k < PERP_CHECK_COUNT; k++) {
        if (!check.item[k].done || !(check.item[k].worst <= check.item[k].limit)) {
            fail_msg("%s: %g at %s", check.item[k].name, check.item[k].worst, check.item[k].where);
        }
    }
    perp_recording_close(recording);
}

static size_t length_of(const json_t *body, const char *key)
{
    return json_array_size(json_object_get(body, key));
}

static void texts_have_three_numbers(void **state)
{
    (void)state;
    json_t *summary = json_load_file(folder_at(&place, "summary.json"), 0, NULL);
    const json_t *box = json_object_get(json_object_get(summary, "final"), "box");
    assert_int_equal(length_of(box, "position"), 3);
    assert_int_equal(length_of(box, "rotation"), 4);
    assert_int_equal(length_of(box, "velocity"), 3);
    assert_int_equal(length_of(box, "spin"), 3);
    double z = json_number_value(json_array_get(json_object_get(box, "position"), 2));
    assert_true(z == history[STEPS].pose[1].p.z);
    json_decref(summary);
    char *bodies = text_of(folder_at(&place, "bodies.csv"));
    char *contacts = text_of(folder_at(&place, "contacts.csv"));
    static const char head[] = "t,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n";
    assert_memory_equal(bodies, head, sizeof head - 1);
    int lines = 0, commas[2] = {0, 0};
    for (const char *c = contacts; *c; c++) {
        lines += *c == '\n';
        commas[lines > 0] += *c == ',';
    }
    assert_true(lines > 1);
    assert_int_equal(commas[1], commas[0] * (lines - 1));
    free(bodies);
    free(contacts);
}

static void figures_are_drawn(void **state)
{
    (void)state;
    perp_recording *recording = open_it();
    perp_error error = {0};
    static xml picture;
    if (perp_plot_write(recording, folder_at(&place, "figures"), NULL, NULL, &error) < 0) {
        fail_msg("%s", error.text);
    }
    for (int k = 0; perp_plot_name(k); k++) {
        char name[80];
        snprintf(name, sizeof name, "figures/%s.svg", perp_plot_name(k));
        if (!folder_has(&place, name)) {
            continue;
        }
        if (!xml_read_file(&picture, folder_at(&place, name))) {
            fail_msg("%s: %s", name, picture.fault);
        }
        assert_true(picture.elements > 5);
        if (strcmp(perp_plot_name(k), "paths") == 0) {
            assert_true(picture.paths > 50);
            assert_non_null(strstr(picture.words, "from above"));
        }
    }
    perp_recording_close(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_hold_what_the_sim_had),
        cmocka_unit_test(shapes_are_those_of_the_scene),
        cmocka_unit_test(checks_pass),
        cmocka_unit_test(texts_have_three_numbers),
        cmocka_unit_test(figures_are_drawn),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
