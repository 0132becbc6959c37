// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Recording and reading back: every number, every file, also when the run ends badly.
#include "support/cmocka.h"
#include "support/fault.h"
#include "support/folder.h"
#include "support/plane.h"

#include <hdf5.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const double H = 0.01;

// A box that falls, slides and stops; a pendulum with a limit; a driven disc: a bit of everything.
static void build(plane *p)
{
    plane_open(p);
    perp_body_def def = plane_body(1.0, 1.0 / 6.0, 0.0, 0.6, 0.0);
    def.name = "block";
    def.velocity.x = 1.0;
    perp_body block = perp_add_body(p->builder, &def);
    plane_box(p, block, 0.5, 0.5, 0.3);
    def = plane_particle(0.5, 5.0, 2.0);
    def.name = "bob \"quoted\"";
    perp_body bob = perp_add_body(p->builder, &def);
    perp_joint_def joint = perp_joint_default();
    joint.name = "string, with a comma";
    joint.kind = PERP_DISTANCE;
    joint.a = PLANE_GROUND;
    joint.b = bob;
    joint.anchor_a = (perp_vec3){4.0, 2.0, 0.0};
    joint.length = 1.0;
    perp_add_joint(p->builder, &joint);
    def = perp_body_default();
    def.name = "mill";
    def.drive = PERP_DRIVEN;
    def.motion_x = "10 + 0.1*sin(t)";
    def.motion_y = "1";
    def.motion_angle = "2*t";
    plane_disc(p, perp_add_body(p->builder, &def), 0.2, 0.5);
    plane_halfplane(p, PLANE_GROUND, 0.0, 0.0, 0.0, 0.3);
    plane_start(p);
}

static perp_record *record_at(const plane *p, const char *dir, int every)
{
    perp_record_def def = perp_record_default();
    perp_error error = {0};
    perp_record *record = NULL;
    def.name = "everything";
    def.h = H;
    def.every = every;
    if (perp_record_create(dir, p->sim, &def, p->env, &record, &error) < 0) {
        fail_msg("%s", error.text);
    }
    return record;
}

static void steps(plane *p, perp_record *record, int count)
{
    for (int k = 0; k < count; k++) {
        plane_step(p, H);
        if (perp_record_step(record, p->sim) < 0) {
            fail_msg("%s", perp_record_error(record)->text);
        }
    }
}

static void finish(plane *p, perp_record *record)
{
    if (perp_record_finish(record, p->sim) < 0) {
        fail_msg("%s", perp_record_error(record)->text);
    }
    perp_record_destroy(record);
}

static perp_recording *open_at(const char *path)
{
    perp_error error = {0};
    perp_recording *recording = NULL;
    if (perp_recording_open(path, NULL, &recording, &error) < 0) {
        fail_msg("%s", error.text);
    }
    return recording;
}

static perp_frame frame_at(perp_recording *recording, int index)
{
    perp_frame frame;
    perp_error error = {0};
    if (perp_recording_read(recording, index, &frame, &error) < 0) {
        fail_msg("%s", error.text);
    }
    return frame;
}

// ── Round trip ───────────────────────────────────────────────────────────────────────────────────

static void same_contacts(const perp_frame *frame, const perp_sim *sim)
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

static void same_state(const perp_frame *frame, const perp_sim *sim, const perp_model *model)
{
    double t, q[16], nu[16];
    int nv;
    perp_state_size(sim, NULL, &nv);
    assert_true(nv <= 16);
    assert_int_equal(perp_state_get(sim, &t, q, nu), PERP_OK);
    assert_true(frame->t == t);
    assert_memory_equal(frame->q, q, (size_t)nv * sizeof *q);
    assert_memory_equal(frame->nu, nu, (size_t)nv * sizeof *nu);
    for (int i = 0; i < perp_model_bodies(model); i++) {
        perp_body body = {i};
        perp_vec3 p = perp_body_position(sim, body);
        perp_twist V = perp_body_twist(sim, body);
        assert_memory_equal(&frame->position[i], &p, sizeof p);
        assert_memory_equal(&frame->velocity[i], &V.v, sizeof V.v);
        assert_true(frame->angle[i] == perp_body_angle(sim, body));
        assert_true(frame->spin[i] == V.w.z);
    }
    perp_joint_state joint = perp_sim_joint(sim, (perp_joint){0});
    assert_true(frame->joint[0].coordinate == joint.coordinate);
    assert_true(frame->joint[0].error == joint.error);
    assert_memory_equal(&frame->joint[0].impulse_b, &joint.impulse_b, sizeof joint.impulse_b);
}

// The same run again beside its recording: bit for bit.
static void every_number_comes_back(void **state)
{
    (void)state;
    enum { STEPS = 150 };
    folder f = folder_create();
    plane p = {0};
    build(&p);
    perp_record *record = record_at(&p, f.path, 1);
    steps(&p, record, STEPS);
    finish(&p, record);
    plane_close(&p);

    perp_recording *recording = open_at(f.path);
    const perp_recording_info *info = perp_recording_about(recording);
    assert_string_equal(info->name, "everything");
    assert_true(info->complete);
    assert_int_equal(info->frames, STEPS + 1);
    assert_int_equal(info->bodies, 4);
    assert_int_equal(info->joints, 1);
    assert_int_equal(info->nv, 5);
    build(&p);
    for (int k = 0; k <= STEPS; k++) {
        perp_frame frame = frame_at(recording, k);
        assert_int_equal(frame.step, k);
        same_state(&frame, p.sim, p.model);
        if (k > 0) {
            same_contacts(&frame, p.sim);
            const perp_step_info *step = perp_sim_info(p.sim);
            assert_true(frame.certificate.residual == step->certificate.residual);
            assert_true(frame.energy.dissipated == step->energy.dissipated);
            assert_int_equal(frame.iterations, step->iterations);
        }
        plane_step(&p, H);
    }
    perp_frame jump = frame_at(recording, 3);  // back again
    assert_int_equal(jump.step, 3);
    perp_frame out;
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
    build(&p);
    finish(&p, record_at(&p, f.path, 1));
    perp_recording *recording = open_at(folder_at(&f, "run.h5"));
    perp_recorded_body block = perp_recording_body(recording, (perp_body){1});
    assert_string_equal(block.name, "block");
    assert_true(block.mass == 1.0 && block.inertia == 1.0 / 6.0 && block.at == 0);
    assert_string_equal(perp_recording_body(recording, (perp_body){2}).name, "bob \"quoted\"");
    assert_int_equal(perp_recording_body(recording, (perp_body){3}).drive, PERP_DRIVEN);
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
    assert_true(string.anchor_a.x == 4.0 && string.b.i == 2);
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
    build(&p);
    perp_record *record = record_at(&p, f.path, 3);
    double dissipated = 0.0;
    for (int k = 0; k < 100; k++) {
        steps(&p, record, 1);
        dissipated += perp_sim_info(p.sim)->energy.dissipated;
    }
    finish(&p, record);
    perp_recording *recording = open_at(f.path);
    assert_int_equal(perp_recording_about(recording)->frames, 1 + 33 + 1);
    assert_int_equal(perp_recording_about(recording)->every, 3);
    double sum = 0.0;
    for (int k = 1; k < 35; k++) {
        perp_frame frame = frame_at(recording, k);
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
    build(&p);
    perp_record *record = record_at(&p, f.path, 1);
    steps(&p, record, 120);
    finish(&p, record);
    char *bodies = text_of(folder_at(&f, "bodies.csv"));
    assert_int_equal(count_lines(bodies), 1 + 121 * 3);
    assert_true(strncmp(bodies, "t,body,x,y,angle,vx,vy,omega\n", 29) == 0);
    assert_non_null(strstr(bodies, "\n0,block,0,0.59999999999999998,0,1,0,0\n"));
    assert_non_null(strstr(bodies, "\n0,\"bob \"\"quoted\"\"\",5,2,0,0,0,0\n"));
    free(bodies);
    char *contacts = text_of(folder_at(&f, "contacts.csv"));
    assert_non_null(strstr(contacts, ",slip\n"));
    assert_non_null(strstr(contacts, ",stick\n"));
    free(contacts);
    char *summary = text_of(folder_at(&f, "summary.json"));
    json_error_t error;
    json_t *root = json_loads(summary, JSON_REJECT_DUPLICATES, &error);
    assert_non_null(root);
    static const char *const keys[] = {
        "scene", "stepper", "form",       "solver",       "law",    "h",
        "steps", "t_end",   "bodies",     "contacts_max", "wall_s", "us_per_step_median",
        "final", "hash",    "certificate"};
    assert_int_equal(json_object_size(root), sizeof keys / sizeof keys[0]);
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        assert_non_null(json_object_get(root, keys[k]));
    }
    json_t *bob = json_object_get(json_object_get(root, "final"), "bob \"quoted\"");
    perp_vec3 place = perp_body_position(p.sim, (perp_body){2});
    assert_true(json_number_value(json_array_get(json_object_get(bob, "position"), 0)) == place.x);
    char hash[32];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)perp_state_hash(p.sim));
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
    perp_recording *recording = open_at(f->path);
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
    build(&p);
    perp_record *record = record_at(&p, f.path, 10);
    steps(&p, record, 120);
    finish(&p, record);
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
    perp_body rod = perp_add_body(p.builder, &def);
    perp_joint_def joint = perp_joint_default();
    joint.name = "hinge";
    joint.kind = PERP_REVOLUTE;
    joint.a = PLANE_GROUND;
    joint.b = rod;
    joint.anchor_b = (perp_vec3){-0.5, 0.0, 0.0};
    joint.lower = -1.2;
    joint.upper = 3.0;
    joint.limit_restitution = 0.8;
    perp_add_joint(p.builder, &joint);
    def = plane_body(1.0, 0.1, 5.0, 1.5, 0.0);
    perp_shape_def shape = perp_shape_default();
    shape.kind = PERP_DISC;
    shape.radius = 0.5;
    shape.restitution = 0.5;
    perp_add_shape(p.builder, perp_add_body(p.builder, &def), &shape);
    plane_halfplane(&p, PLANE_GROUND, 0.0, 0.0, 0.0, 0.0);
    plane_start(&p);
    perp_record *record = record_at(&p, f.path, 1);
    steps(&p, record, 100);
    finish(&p, record);
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

// ── Ends that are none ───────────────────────────────────────────────────────────────────────────

static void unfinished_is_marked(void **state)
{
    (void)state;
    folder f = folder_create();
    plane p = {0};
    build(&p);
    perp_record *record = record_at(&p, f.path, 1);
    steps(&p, record, 50);
    perp_record_destroy(record);
    assert_true(folder_has(&f, "bodies.csv.part"));
    assert_false(folder_has(&f, "bodies.csv"));
    assert_false(folder_has(&f, "summary.json"));
    perp_recording *recording = open_at(f.path);
    assert_false(perp_recording_about(recording)->complete);
    assert_int_equal(perp_recording_about(recording)->frames, 51);
    perp_recording_close(recording);

    record = record_at(&p, f.path, 1);  // replaced
    steps(&p, record, 10);
    finish(&p, record);
    assert_false(folder_has(&f, "bodies.csv.part"));
    assert_true(folder_has(&f, "summary.json"));
    recording = open_at(f.path);
    assert_int_equal(perp_recording_about(recording)->frames, 11);
    perp_recording_close(recording);
    plane_close(&p);
    folder_remove(&f);
}

// A program that is killed while it records leaves what it had flushed.
static void killed_stays_readable(void **state)
{
    (void)state;
    folder f = folder_create();
    plane p = {0};
    build(&p);
    pid_t child = fork();
    if (child == 0) {
        perp_record_def def = perp_record_default();
        perp_record *record = NULL;
        def.h = H;
        def.flush_seconds = 0.01;
        if (perp_record_create(f.path, p.sim, &def, NULL, &record, NULL) < 0) {
            _exit(1);
        }
        while (perp_step(p.sim, H) >= 0 && perp_record_step(record, p.sim) >= 0) {
            continue;
        }
        _exit(1);
    }
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));

    perp_recording *recording = open_at(f.path);
    const perp_recording_info *info = perp_recording_about(recording);
    assert_false(info->complete);
    assert_true(info->frames > 10);
    for (int k = 0; k < info->frames; k++) {
        perp_frame frame = frame_at(recording, k);
        if (k < 200) {
            same_state(&frame, p.sim, p.model);
            plane_step(&p, H);
        }
        assert_int_equal(frame.step, k);
    }
    perp_recording_close(recording);
    plane_close(&p);
    folder_remove(&f);
}

// Limits on the size of files stand for full disks: at whatever size, a clear error, and what is there
// can be read or says that it cannot.
static void full_disk(void **state)
{
    (void)state;
    for (int kilobytes = 8; kilobytes < 400; kilobytes += kilobytes / 2) {
        folder f = folder_create();
        plane p = {0};
        build(&p);
        pid_t child = fork();
        if (child == 0) {
            perp_record_def def = perp_record_default();
            perp_record *record = NULL;
            perp_error error = {0};
            struct rlimit limit = {1024 * (rlim_t)kilobytes, 1024 * (rlim_t)kilobytes};
            signal(SIGXFSZ, SIG_IGN);
            setrlimit(RLIMIT_FSIZE, &limit);
            def.h = H;
            def.flush_seconds = 0.0;
            perp_status made = perp_record_create(f.path, p.sim, &def, NULL, &record, &error);
            while (made >= 0 && perp_step(p.sim, H) >= 0 && perp_record_step(record, p.sim) >= 0) {
                continue;
            }
            error = made >= 0 ? *perp_record_error(record) : error;
            bool again = made < 0 || perp_record_finish(record, p.sim) == PERP_ERR_IO;
            perp_record_destroy(record);
            bool told = error.status == PERP_ERR_IO && strstr(error.text, "File too large");
            _exit(told && again ? (made < 0 ? 2 : 0) : 1);
        }
        int status;
        waitpid(child, &status, 0);
        assert_true(WIFEXITED(status));
        assert_true(WEXITSTATUS(status) != 1);
        assert_false(folder_has(&f, "summary.json"));
        assert_int_equal(folder_has(&f, "run.h5"), WEXITSTATUS(status) == 0);
        if (WEXITSTATUS(status) == 0) {
            perp_recording *recording = open_at(f.path);
            assert_false(perp_recording_about(recording)->complete);
            for (int k = 0; k < perp_recording_about(recording)->frames; k++) {
                assert_int_equal(frame_at(recording, k).step, k);
            }
            perp_recording_close(recording);
        }
        plane_close(&p);
        folder_remove(&f);
    }
}

static void refuse(const plane *p, const char *dir, const char *text)
{
    perp_record_def def = perp_record_default();
    perp_record *record = NULL;
    perp_error error = {0};
    def.h = H;
    assert_int_equal(perp_record_create(dir, p->sim, &def, NULL, &record, &error), PERP_ERR_IO);
    assert_null(record);
    if (!strstr(error.text, text)) {
        fail_msg("'%s' is not in '%s'", text, error.text);
    }
}

static void directories_that_will_not_do(void **state)
{
    (void)state;
    folder f = folder_create();
    plane p = {0};
    build(&p);
    FILE *file = fopen(folder_at(&f, "mine.txt"), "w");
    assert_non_null(file);
    fclose(file);
    refuse(&p, f.path, "has files in it and no recording");
    assert_true(folder_has(&f, "mine.txt"));
    refuse(&p, folder_at(&f, "mine.txt"), "Not a directory");
    refuse(&p, folder_at(&f, "mine.txt/below"), "cannot make the directory");
    if (geteuid() != 0) {
        mkdir(folder_at(&f, "locked"), 0500);
        refuse(&p, folder_at(&f, "locked"), "Permission denied");
    }
    perp_record *record = record_at(&p, folder_at(&f, "a/b/c"), 1);  // made, with its parents
    finish(&p, record);
    assert_true(folder_has(&f, "a/b/c/run.h5"));
    plane_close(&p);
    folder_remove(&f);
}

static void what_is_no_recording(void **state)
{
    (void)state;
    folder f = folder_create();
    perp_recording *recording = NULL;
    perp_error error = {0};
    assert_int_equal(perp_recording_open("no/such/place", NULL, &recording, &error), PERP_ERR_IO);
    assert_int_equal(perp_recording_open(f.path, NULL, &recording, &error), PERP_ERR_IO);
    assert_non_null(strstr(error.text, "holds no recording (run.h5)"));
    const char *other = folder_at(&f, "other.h5");
    H5Fclose(H5Fcreate(other, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    assert_int_equal(perp_recording_open(other, NULL, &recording, &error), PERP_ERR_FORMAT);
    assert_non_null(strstr(error.text, "is not a recording of perp"));
    assert_int_equal(perp_recording_open("README.md", NULL, &recording, &error), PERP_ERR_FORMAT);
    assert_null(recording);
    folder_remove(&f);
}

static void read_all(const char *path)
{
    perp_recording *recording = NULL;
    if (perp_recording_open(path, NULL, &recording, NULL) >= 0) {
        perp_frame frame;
        for (int k = 0; k < perp_recording_about(recording)->frames; k++) {
            (void)!perp_recording_read(recording, k, &frame, NULL);
        }
    }
    perp_recording_close(recording);
}

static void spoil_and_read(const folder *f)
{
    FILE *file = fopen(folder_at(f, "run.h5"), "rb");
    static unsigned char good[200000], bad[200000];
    size_t size = fread(good, 1, sizeof good, file);
    fclose(file);
    unsigned seed = 1;
    for (int trial = 0; trial < 200; trial++) {
        memcpy(bad, good, size);
        for (int k = 0; k <= trial % 8; k++) {
            seed = seed * 1103515245u + 12345u;
            bad[(seed >> 8) % size] = (unsigned char)(seed >> 3);
        }
        file = fopen(folder_at(f, "bad.h5"), "wb");
        fwrite(bad, 1, trial % 5 == 0 ? size * (size_t)(trial % 97) / 97 : size, file);
        fclose(file);
        read_all(folder_at(f, "bad.h5"));
    }
}

// Bytes changed and ends cut off: an error or a reading, never a crash. In a process of its own, because
// HDF5 loses memory over damaged files.
static void damaged_files(void **state)
{
    (void)state;
    folder f = folder_create();
    plane p = {0};
    build(&p);
    perp_record *record = record_at(&p, f.path, 1);
    steps(&p, record, 40);
    finish(&p, record);
    plane_close(&p);
    pid_t child = fork();
    if (child == 0) {
        spoil_and_read(&f);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    folder_remove(&f);
}

// ── Memory ───────────────────────────────────────────────────────────────────────────────────────

static void record_without_memory(const folder *f, const perp_env *env, bool *done)
{
    plane p = {0};
    build(&p);
    perp_record_def def = perp_record_default();
    perp_record *record = NULL;
    perp_recording *recording = NULL;
    def.h = H;
    perp_status status = perp_record_create(f->path, p.sim, &def, env, &record, NULL);
    for (int k = 0; k < 40 && status >= 0; k++) {
        plane_step(&p, H);
        status = perp_record_step(record, p.sim);
    }
    if (status >= 0) {
        status = perp_record_finish(record, p.sim);
    }
    perp_record_destroy(record);
    if (status >= 0) {
        status = perp_recording_open(f->path, env, &recording, NULL);
    }
    perp_frame frame;
    for (int k = 0; status >= 0 && k < 41; k++) {
        status = perp_recording_read(recording, k, &frame, NULL);
    }
    perp_recording_close(recording);
    plane_close(&p);
    assert_true(status == PERP_OK || status == PERP_ERR_MEMORY);
    *done = status == PERP_OK;
}

static void memory_that_runs_out(void **state)
{
    (void)state;
    folder f = folder_create();
    bool done = false;
    for (int k = 1; !done; k++) {
        fault faults = {.fail_at = k};
        perp_env env = fault_env(&faults);
        record_without_memory(&f, &env, &done);
        assert_int_equal(faults.live, 0);
        assert_int_equal(faults.confused, 0);
        assert_true(done == !faults.happened);
    }
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_comes_back),
        cmocka_unit_test(the_model_comes_back),
        cmocka_unit_test(every_third_step),
        cmocka_unit_test(csv_and_summary),
        cmocka_unit_test(events_of_a_sliding_box),
        cmocka_unit_test(events_of_limits_and_bounces),
        cmocka_unit_test(unfinished_is_marked),
        cmocka_unit_test(killed_stays_readable),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(directories_that_will_not_do),
        cmocka_unit_test(what_is_no_recording),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(memory_that_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
