// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Recording and reading back: every number, every file.
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/recorded.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ── Round trip ───────────────────────────────────────────────────────────────────────────────────

static void same_contacts(const perp_snapshot *frame, const perp_sim *sim)
{
    int count = 0;
    const perp_contact *contact = perp_sim_contacts(sim, &count);
    assert_int_equal(frame->contacts, count);
    for (int i = 0; i < count; i++) {
        const perp_contact *x = &frame->contact[i], *y = &contact[i];
        assert_int_equal(x->a.i, y->a.i);
        assert_int_equal(x->b.i, y->b.i);
        assert_int_equal(x->feature, y->feature);
        assert_int_equal(x->mode, y->mode);
        assert_memory_equal(&x->point_W, &y->point_W, sizeof x->point_W);
        assert_memory_equal(&x->normal_W, &y->normal_W, sizeof x->normal_W);
        assert_memory_equal(&x->pf_W, &y->pf_W, sizeof x->pf_W);
        assert_true(x->gap == y->gap && x->mu == y->mu && x->restitution == y->restitution);
        assert_true(x->pn == y->pn && x->rate_n == y->rate_n && x->slip == y->slip);
    }
}

// The same run again beside its recording: bit for bit.
static void every_number_comes_back(void **state)
{
    (void)state;
    enum { STEPS = 150 };
    folder f = folder_create();
    plane p = {0};
    recorded_build(&p);
    perp_record *record = recorded_begin(&p, f.path, 1);
    recorded_steps(&p, record, STEPS);
    recorded_finish(&p, record);
    plane_close(&p);

    perp_recording *recording = recorded_open(f.path);
    const perp_recording_info *info = perp_recording_about(recording);
    assert_string_equal(info->name, "everything");
    assert_true(info->complete);
    assert_int_equal(info->frames, STEPS + 1);
    assert_int_equal(info->bodies, 4);
    assert_int_equal(info->joints, 1);
    assert_int_equal(info->nv, 5);
    recorded_build(&p);
    for (int k = 0; k <= STEPS; k++) {
        perp_snapshot frame = recorded_frame(recording, k);
        assert_int_equal(frame.step, k);
        recorded_same(&frame, p.sim, p.model);
        if (k > 0) {
            same_contacts(&frame, p.sim);
            const perp_step_info *step = perp_sim_info(p.sim);
            assert_true(frame.certificate.residual == step->certificate.residual);
            assert_true(frame.energy.dissipated == step->energy.dissipated);
            assert_int_equal(frame.iterations, step->iterations);
        }
        plane_step(&p, RECORDED_H);
    }
    perp_snapshot jump = recorded_frame(recording, 3);  // back again
    assert_int_equal(jump.step, 3);
    perp_snapshot out;
    assert_int_equal(perp_recording_read(recording, STEPS + 1, &out, NULL), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_recording_read(recording, -1, &out, NULL), PERP_ERR_ARGUMENT);
    perp_recording_close(recording);
    plane_close(&p);
    folder_remove(&f);
}

static void the_model_comes_back(void **state)
{
    (void)state;
    folder f = folder_create();
    plane p = {0};
    recorded_build(&p);
    recorded_finish(&p, recorded_begin(&p, f.path, 1));
    perp_recording *recording = recorded_open(folder_at(&f, "run.h5"));
    perp_recorded_body block = perp_recording_body(recording, (perp_body){1});
    assert_string_equal(block.name, "block");
    assert_true(block.mass == 1.0 && block.inertia_zz == 1.0 / 6.0 && block.at_nu == 0);
    assert_string_equal(perp_recording_body(recording, (perp_body){2}).name, "bob \"quoted\"");
    assert_int_equal(perp_recording_body(recording, (perp_body){3}).motion, PERP_MOTION_KINEMATIC);
    assert_string_equal(perp_recording_body(recording, (perp_body){99}).name, "");
    perp_recorded_shape box = perp_recording_shape(recording, (perp_shape){0});
    assert_int_equal(box.outline_count, 4);
    assert_int_equal(box.body.i, 1);
    for (int k = 0; k < 4; k++) {
        assert_true(fabs(box.outline[k].x) == 0.5 && fabs(box.outline[k].y) == 0.5);
    }
    perp_recorded_shape disc = perp_recording_shape(recording, (perp_shape){1});
    assert_true(disc.radius == 0.2 && disc.outline_count == 1);
    perp_recorded_shape floor = perp_recording_shape(recording, (perp_shape){2});
    assert_true(floor.outline_count == 2 && floor.outline[1].y == 1.0);
    perp_recorded_joint string = perp_recording_joint(recording, (perp_joint){0});
    assert_string_equal(string.name, "string, with a comma");
    assert_true(string.anchor_A.x == 4.0 && string.b.i == 2);
    perp_recording_close(recording);
    plane_close(&p);
    folder_remove(&f);
}

// Frames left out add their work and dissipation to the next one; the last step is always there.
static void every_third_step(void **state)
{
    (void)state;
    folder f = folder_create();
    plane p = {0};
    recorded_build(&p);
    perp_record *record = recorded_begin(&p, f.path, 3);
    double dissipated = 0.0;
    for (int k = 0; k < 100; k++) {
        recorded_steps(&p, record, 1);
        dissipated += perp_sim_info(p.sim)->energy.dissipated;
    }
    recorded_finish(&p, record);
    perp_recording *recording = recorded_open(f.path);
    assert_int_equal(perp_recording_about(recording)->frames, 1 + 33 + 1);
    assert_int_equal(perp_recording_about(recording)->every, 3);
    double sum = 0.0;
    for (int k = 1; k < 35; k++) {
        perp_snapshot frame = recorded_frame(recording, k);
        assert_int_equal(frame.step, k < 34 ? 3 * k : 100);
        sum += frame.energy.dissipated;
    }
    assert_true(fabs(sum - dissipated) < 1e-12);
    perp_recording_close(recording);
    plane_close(&p);
    folder_remove(&f);
}

// ── Texts ────────────────────────────────────────────────────────────────────────────────────────

static int count_lines(const char *text)
{
    int lines = 0;
    for (; *text; text++) {
        lines += *text == '\n';
    }
    return lines;
}

static void csv_and_summary(void **state)
{
    (void)state;
    folder f = folder_create();
    plane p = {0};
    recorded_build(&p);
    perp_record *record = recorded_begin(&p, f.path, 1);
    recorded_steps(&p, record, 120);
    recorded_finish(&p, record);
    char *bodies = text_of(folder_at(&f, "bodies.csv"));
    assert_int_equal(count_lines(bodies), 1 + 121 * 3);
    assert_true(strncmp(bodies, "t,body,x,y,angle,vx,vy,omega\n", 29) == 0);
    assert_non_null(strstr(bodies, "\n0,block,0,0.59999999999999998,0,1,0,0\n"));
    assert_non_null(strstr(bodies, "\n0,\"bob \"\"quoted\"\"\",5,2,0,0,0,0\n"));
    free(bodies);
    char *contacts = text_of(folder_at(&f, "contacts.csv"));
    assert_non_null(strstr(contacts, ",slip,"));
    assert_non_null(strstr(contacts, ",stick,"));
    free(contacts);
    char *summary = text_of(folder_at(&f, "summary.json"));
    json_error_t error;
    json_t *root = json_loads(summary, JSON_REJECT_DUPLICATES, &error);
    assert_non_null(root);
    static const char *const keys[] = {"scene",
                                       "stepper",
                                       "form",
                                       "solver",
                                       "law",
                                       "h",
                                       "steps",
                                       "t_end",
                                       "bodies",
                                       "contacts_max",
                                       "left_out",
                                       "wall_s",
                                       "us_per_step_median",
                                       "seconds",
                                       "final",
                                       "hash",
                                       "certificate",
                                       "answers"};
    assert_int_equal(json_object_size(root), sizeof keys / sizeof keys[0]);
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        assert_non_null(json_object_get(root, keys[k]));
    }
    json_t *bob = json_object_get(json_object_get(root, "final"), "bob \"quoted\"");
    perp_vec3 place = perp_sim_body_position(p.sim, (perp_body){2});
    assert_true(json_number_value(json_array_get(json_object_get(bob, "position"), 0)) == place.x);
    char hash[32];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)perp_sim_state_hash(p.sim));
    assert_string_equal(json_string_value(json_object_get(root, "hash")), hash);
    json_decref(root);
    free(summary);
    plane_close(&p);
    folder_remove(&f);
}

static int count_events(const char *text, const char *event)
{
    char pattern[64];
    int count = 0;
    snprintf(pattern, sizeof pattern, "\"event\": \"%s\"", event);
    for (; (text = strstr(text, pattern)); text++) {
        count++;
    }
    return count;
}

// Each line is an object with time and kind; run.h5 has the same text.
static void check_events(const folder *f, char **text)
{
    *text = text_of(folder_at(f, "events.jsonl"));
    perp_recording *recording = recorded_open(f->path);
    assert_string_equal(perp_recording_about(recording)->events, *text);
    perp_recording_close(recording);
    for (char *line = *text; *line;) {
        char *end = strchr(line, '\n');
        assert_non_null(end);
        json_t *root = json_loadb(line, (size_t)(end - line), 0, NULL);
        assert_non_null(root);
        assert_true(json_is_number(json_object_get(root, "t")));
        assert_true(json_is_string(json_object_get(root, "event")));
        json_decref(root);
        line = end + 1;
    }
}

static void events_of_a_sliding_box(void **state)
{
    (void)state;
    folder f = folder_create();
    plane p = {0};
    recorded_build(&p);
    perp_record *record = recorded_begin(&p, f.path, 10);
    recorded_steps(&p, record, 120);
    recorded_finish(&p, record);
    char *text;
    check_events(&f, &text);
    assert_int_equal(count_events(text, "impact"), 2);  // both corners, once
    assert_int_equal(count_events(text, "slip-to-stick"), 2);
    assert_int_equal(count_events(text, "separation"), 0);
    free(text);
    plane_close(&p);
    folder_remove(&f);
}

// A pendulum swings against its limit and back; a disc bounces.
static void events_of_limits_and_bounces(void **state)
{
    (void)state;
    folder f = folder_create();
    plane p = {0};
    plane_open(&p);
    perp_body_def def = plane_rod(1.0, 1.0, 0.0, 0.0, -1.0);
    perp_body rod = perp_builder_add_body(p.builder, &def);
    perp_joint_def joint = perp_joint_default();
    joint.name = "hinge";
    joint.kind = PERP_JOINT_REVOLUTE;
    joint.a = PLANE_GROUND;
    joint.b = rod;
    joint.anchor_B = (perp_vec3){-0.5, 0.0, 0.0};
    joint.lower = -1.2;
    joint.upper = 3.0;
    joint.limit_restitution = 0.8;
    perp_builder_add_joint(p.builder, &joint);
    def = plane_body(1.0, 0.1, 5.0, 1.5, 0.0);
    perp_shape_def shape = perp_shape_default();
    shape.kind = PERP_SHAPE_DISC;
    shape.radius = 0.5;
    shape.restitution = 0.5;
    perp_builder_add_shape(p.builder, perp_builder_add_body(p.builder, &def), &shape);
    plane_halfplane(&p, PLANE_GROUND, 0.0, 0.0, 0.0, 0.0);
    plane_start(&p);
    perp_record *record = recorded_begin(&p, f.path, 1);
    recorded_steps(&p, record, 100);
    recorded_finish(&p, record);
    char *text;
    check_events(&f, &text);
    assert_true(count_events(text, "limit-reached") >= 1);
    assert_true(count_events(text, "limit-left") >= 1);
    assert_non_null(strstr(text, "\"joint\": \"hinge\""));
    assert_true(count_events(text, "impact") >= 2);
    assert_true(count_events(text, "separation") >= 1);
    free(text);
    plane_close(&p);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_comes_back), cmocka_unit_test(the_model_comes_back),
        cmocka_unit_test(every_third_step),        cmocka_unit_test(csv_and_summary),
        cmocka_unit_test(events_of_a_sliding_box), cmocka_unit_test(events_of_limits_and_bounces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
