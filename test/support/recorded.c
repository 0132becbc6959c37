// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/recorded.h"

#include "support/cmocka.h"

#include <string.h>

void recorded_build(plane *p)
{
    plane_open(p);
    perp_body_def def = plane_body(1.0, 1.0 / 6.0, 0.0, 0.6, 0.0);
    def.name = "block";
    def.velocity_W.x = 1.0;
    perp_body block = perp_builder_add_body(p->builder, &def);
    plane_box(p, block, 0.5, 0.5, 0.3);
    def = plane_particle(0.5, 5.0, 2.0);
    def.name = "bob \"quoted\"";
    perp_body bob = perp_builder_add_body(p->builder, &def);
    perp_joint_def joint = perp_joint_default();
    joint.name = "string, with a comma";
    joint.kind = PERP_JOINT_DISTANCE;
    joint.a = PLANE_GROUND;
    joint.b = bob;
    joint.anchor_A = (perp_vec3){4.0, 2.0, 0.0};
    joint.length = 1.0;
    perp_builder_add_joint(p->builder, &joint);
    def = perp_body_default();
    def.name = "mill";
    def.motion = PERP_MOTION_KINEMATIC;
    def.motion_x = "10 + 0.1*sin(t)";
    def.motion_y = "1";
    def.motion_angle = "2*t";
    plane_disc(p, perp_builder_add_body(p->builder, &def), 0.2, 0.5);
    plane_halfplane(p, PLANE_GROUND, 0.0, 0.0, 0.0, 0.3);
    plane_start(p);
}

perp_record *recorded_begin(const plane *p, const char *dir, int every)
{
    perp_record_def def = perp_record_default();
    perp_error error = {0};
    perp_record *record = NULL;
    def.name = "everything";
    def.h = RECORDED_H;
    def.every = every;
    if (perp_record_create(dir, p->sim, &def, p->env, &record, &error) < 0) {
        fail_msg("%s", error.text);
    }
    return record;
}

void recorded_steps(plane *p, perp_record *record, int count)
{
    for (int k = 0; k < count; k++) {
        plane_step(p, RECORDED_H);
        if (perp_record_step(record, p->sim) < 0) {
            fail_msg("%s", perp_record_error(record)->text);
        }
    }
}

void recorded_finish(plane *p, perp_record *record)
{
    if (perp_record_finish(record, p->sim) < 0) {
        fail_msg("%s", perp_record_error(record)->text);
    }
    perp_record_destroy(record);
}

perp_recording *recorded_open(const char *path)
{
    perp_error error = {0};
    perp_recording *recording = NULL;
    if (perp_recording_open(path, NULL, &recording, &error) < 0) {
        fail_msg("%s", error.text);
    }
    return recording;
}

perp_snapshot recorded_frame(perp_recording *recording, int index)
{
    perp_snapshot frame;
    perp_error error = {0};
    if (perp_recording_read(recording, index, &frame, &error) < 0) {
        fail_msg("%s", error.text);
    }
    return frame;
}

void recorded_same(const perp_snapshot *frame, const perp_sim *sim, const perp_model *model)
{
    double t, q[16], nu[16];
    int nv;
    perp_sim_state_size(sim, NULL, &nv);
    assert_true(nv <= 16);
    assert_int_equal(perp_sim_state_get(sim, &t, q, nu), PERP_OK);
    assert_true(frame->t == t);
    assert_memory_equal(frame->q, q, (size_t)nv * sizeof *q);
    assert_memory_equal(frame->nu, nu, (size_t)nv * sizeof *nu);
    for (int i = 0; i < perp_model_bodies(model); i++) {
        perp_body body = {i};
        perp_vec3 p = perp_sim_body_position(sim, body);
        perp_twist V = perp_sim_body_twist(sim, body);
        assert_memory_equal(&frame->position_W[i], &p, sizeof p);
        assert_memory_equal(&frame->velocity_W[i], &V.v_W, sizeof V.v_W);
        assert_true(frame->angle[i] == perp_sim_body_angle(sim, body));
        assert_true(frame->spin[i] == V.w_W.z);
    }
    perp_joint_state joint = perp_sim_joint(sim, (perp_joint){0});
    assert_true(frame->joint[0].coordinate == joint.coordinate);
    assert_true(frame->joint[0].error == joint.error);
    assert_memory_equal(&frame->joint[0].impulse_b, &joint.impulse_b, sizeof joint.impulse_b);
}

// ── Scenes from their text, recorded with it ─────────────────────────────────────────────────────

recorded_counts recorded_scene(const char *text, const char *dir, recorded_run run)
{
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_record *out = NULL;
    perp_error error = {0};
    if (perp_scene_parse("scene", text, strlen(text), NULL, &scene, &error) < 0) {
        fail_msg("line %d: %s", error.line, error.text);
    }
    perp_sim_def def = perp_scene_sim_def(scene);
    def.stepper = run.stepper;
    perp_record_def rec = perp_record_default();
    rec.name = perp_scene_name(scene);
    rec.scene = perp_scene_text(scene, NULL);
    rec.h = run.h > 0.0 ? run.h : perp_scene_step(scene);
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error), PERP_OK);
    assert_int_equal(perp_record_create(dir, sim, &rec, NULL, &out, &error), PERP_OK);
    recorded_counts counts = {0};
    for (int k = 0; k < run.steps; k++) {
        if (run.push) {
            perp_sim_body_apply(sim, (perp_body){1}, *run.push);
        }
        assert_true(perp_sim_step(sim, rec.h) >= 0);
        counts.divided += perp_sim_info(sim)->parts > 1;
        counts.violated += !perp_sim_info(sim)->certificate.passed;
        assert_int_equal(perp_record_step(out, sim), PERP_OK);
    }
    assert_int_equal(perp_record_finish(out, sim), PERP_OK);
    perp_record_destroy(out);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    return counts;
}

perp_check recorded_check(const char *dir)
{
    perp_recording *recording = recorded_open(dir);
    perp_check check;
    perp_error error = {0};
    if (perp_recording_check(recording, NULL, &check, &error) < 0) {
        fail_msg("%s", error.text);
    }
    perp_recording_close(recording);
    return check;
}
