// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A recording as a page: its numbers are the recording's, it fits the size asked for, and nothing in a scene
// can break out of the block that holds it.
#include "support/cmocka.h"
#include "support/fault.h"
#include "support/folder.h"

#include <jansson.h>
#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char page[] = "<html><!--perp-data--></html>";

// ── Recordings ───────────────────────────────────────────────────────────────────────────────────

static perp_recording *record(const char *text, const char *path, const char *dir, int steps)
{
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_record *out = NULL;
    perp_recording *recording = NULL;
    perp_error error = {0};
    perp_status status = text ? perp_scene_parse("test", text, strlen(text), NULL, &scene, &error)
                              : perp_scene_load(path, NULL, &scene, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(status, PERP_OK);
    perp_sim_def def = perp_scene_sim_def(scene);
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
    perp_record_def how = perp_record_default();
    how.name = perp_scene_name(scene);
    how.scene = perp_scene_text(scene, NULL);
    how.h = perp_scene_step(scene);
    assert_int_equal(perp_record_create(dir, sim, &how, NULL, &out, NULL), PERP_OK);
    for (int k = 0; k < steps; k++) {
        assert_true(perp_sim_step(sim, how.h) >= 0);
        assert_int_equal(perp_record_step(out, sim), PERP_OK);
    }
    assert_int_equal(perp_record_finish(out, sim), PERP_OK);
    perp_record_destroy(out);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    assert_int_equal(perp_recording_open(dir, NULL, &recording, NULL), PERP_OK);
    return recording;
}

static perp_replay *replay(perp_recording *recording, double megabytes)
{
    perp_replay *r = NULL;
    perp_replay_def def = perp_replay_default();
    def.page = page;
    def.megabytes = megabytes;
    assert_int_equal(perp_replay_create(recording, &def, NULL, &r, NULL), PERP_OK);
    return r;
}

// ── Reading a page ───────────────────────────────────────────────────────────────────────────────

typedef struct block {
    json_t *about;
    unsigned char *data;
    size_t size;
} block;

static int sextet(char c)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strchr(letters, c);
    return at && c ? (int)(at - letters) : -1;
}

static void decode(const char *from, const char *to, block *b)
{
    b->data = malloc((size_t)(to - from) + 4);
    assert_non_null(b->data);
    uint32_t bits = 0;
    int count = 0;
    for (const char *c = from; c < to && *c != '='; c++) {
        assert_true(sextet(*c) >= 0);
        bits = bits << 6 | (uint32_t)sextet(*c);
        count += 6;
        if (count >= 8) {
            count -= 8;
            b->data[b->size++] = (unsigned char)(bits >> count);
        }
    }
}

static block read_page(const perp_replay *r)
{
    block b = {0};
    size_t size = 0;
    const char *text = perp_replay_text(r, &size);
    assert_int_equal(strlen(text), size);
    assert_memory_equal(text, "<html><script type=\"application/json\" id=\"perp-about\">", 54);
    assert_string_equal(text + size - 16, "</script></html>");
    const char *about = text + 54, *end = strstr(about, "</script>");
    json_error_t wrong;
    b.about = json_loadb(about, (size_t)(end - about), JSON_REJECT_DUPLICATES, &wrong);
    assert_non_null(b.about);
    const char *data = strstr(end, "id=\"perp-data\">") + 15;
    decode(data, strstr(data, "</script>"), &b);
    return b;
}

static void drop(block *b)
{
    json_decref(b->about);
    free(b->data);
}

typedef struct column {
    const unsigned char *at;
    const char *type;
    int width, rows;
} column;

static int whole(const json_t *object, const char *key)
{
    return (int)json_integer_value(json_object_get(object, key));
}

static column find(const block *b, const char *name)
{
    size_t k;
    json_t *item;
    json_array_foreach(json_object_get(b->about, "columns"), k, item)
    {
        if (strcmp(json_string_value(json_object_get(item, "name")), name) == 0) {
            column c = {b->data + whole(item, "at"),
                        json_string_value(json_object_get(item, "type")), whole(item, "width"),
                        whole(item, "rows")};
            return c;
        }
    }
    fail_msg("no column %s", name);
    return (column){0};
}

static double value(const column *c, int row, int i)
{
    size_t at = (size_t)row * (size_t)c->width + (size_t)i;
    float single;
    double full;
    uint32_t word;
    int16_t small;
    uint16_t part;
    assert_non_null(c->type);
    if (!c->type) {
        return NAN;
    }
    if (strcmp(c->type, "f64") == 0) {
        memcpy(&full, c->at + 8 * at, 8);
        return full;
    }
    if (strcmp(c->type, "f32") == 0) {
        memcpy(&single, c->at + 4 * at, 4);
        return (double)single;
    }
    if (strcmp(c->type, "u32") == 0) {
        memcpy(&word, c->at + 4 * at, 4);
        return word;
    }
    if (strcmp(c->type, "n16") == 0) {
        memcpy(&small, c->at + 2 * at, 2);
        return small / 32767.0;
    }
    if (strcmp(c->type, "q16") == 0) {
        memcpy(&part, c->at + 2 * at, 2);
        return part;
    }
    if (strcmp(c->type, "b16") == 0) {
        memcpy(&part, c->at + 2 * at, 2);
        word = (uint32_t)part << 16;
        memcpy(&single, &word, 4);
        return (double)single;
    }
    return c->at[at];
}

static int body_row(const block *b, int body)
{
    return whole(json_array_get(json_object_get(b->about, "bodies"), (size_t)body), "row");
}

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) {
        fail_msg("%.9g is not %.9g", a, b);
    }
}

// ── The numbers ──────────────────────────────────────────────────────────────────────────────────

// Every frame, every moving body; contacts and energies of the last.
static void compare(perp_recording *recording, const block *b, bool spatial)
{
    const perp_recording_info *info = perp_recording_about(recording);
    column t = find(b, "p.t"), x = find(b, "p.position"), r = find(b, "p.rotation");
    int axes = spatial ? 3 : 2, turns = spatial ? 4 : 1;
    perp_snapshot frame;
    assert_int_equal(t.rows, info->frames);
    for (int k = 0; k < info->frames; k++) {
        assert_int_equal(perp_recording_read(recording, k, &frame, NULL), PERP_OK);
        assert_true(value(&t, k, 0) == frame.t);
        for (int body = 0; body < info->bodies; body++) {
            int row = body_row(b, body);
            if (row < 0) {
                continue;
            }
            near(value(&x, k, row * axes), frame.position_W[body].x, 1e-6);
            near(value(&x, k, row * axes + 1), frame.position_W[body].y, 1e-6);
            double turn = spatial ? frame.rotation_WB[body].w : frame.angle[body];
            near(value(&r, k, row * turns), turn, 1e-6);
        }
    }
    column end = find(b, "c.end"), values = find(b, "c.values"), mode = find(b, "c.mode");
    column energy = find(b, "s.energy"), track = find(b, "c.track"), shapes = find(b, "t.shapes");
    int last = info->frames - 1, from = (int)value(&end, last - 1, 0);
    assert_int_equal(value(&end, last, 0) - from, frame.contacts);
    assert_true(frame.contacts > 0);
    for (int k = 0; k < frame.contacts; k++) {
        const perp_contact *c = &frame.contact[k];
        near(value(&values, from + k, 1), c->pn, 1e-6 * (1.0 + c->pn));
        assert_int_equal(value(&mode, from + k, 0), c->mode);
        assert_int_equal(value(&shapes, (int)value(&track, from + k, 0), 1), c->b.i);
    }
    assert_true(value(&energy, last, 0) == frame.energy.kinetic);
}

static void numbers(void **state)
{
    (void)state;
    static const char *const scenes[] = {"scenes/berard-4.6.json", "scenes/trinkle-robot.json"};
    for (int k = 0; k < 2; k++) {
        folder f = folder_create();
        perp_recording *recording = record(NULL, scenes[k], folder_at(&f, "run"), 40);
        perp_replay *r = replay(recording, 20.0);
        block b = read_page(r);
        compare(recording, &b, k == 1);
        drop(&b);
        perp_replay_destroy(r);
        perp_recording_close(recording);
        folder_remove(&f);
    }
}

// ── The size ─────────────────────────────────────────────────────────────────────────────────────

// Of a recording that has no room: fewer frames, the first and the last among them, in 16 bits.
static void budget(void **state)
{
    (void)state;
    folder f = folder_create();
    perp_recording *recording = record(NULL, "scenes/berard-4.6.json", folder_at(&f, "run"), 400);
    const double sizes[] = {0.2, 0.12, 0.09};
    for (int k = 0; k < 3; k++) {
        perp_replay *r = replay(recording, sizes[k]);
        size_t size;
        int kept, recorded;
        perp_replay_text(r, &size);
        perp_replay_frame_counts(r, &kept, &recorded);
        assert_int_equal(recorded, 401);
        assert_true((double)size <= sizes[k] * 1e6);
        block b = read_page(r);
        column t = find(&b, "p.t"), x = find(&b, "p.position");
        column low = find(&b, "p.position.low"), step = find(&b, "p.position.step");
        assert_string_equal(x.type, "q16");
        assert_int_equal(t.rows, kept);
        assert_true(k == 2 ? kept < 400 : kept > 10);
        perp_snapshot frame;
        assert_int_equal(perp_recording_read(recording, 400, &frame, NULL), PERP_OK);
        assert_true(value(&t, kept - 1, 0) == frame.t && value(&t, 0, 0) == 0.0);
        double at = value(&low, 0, 0) + value(&x, kept - 1, 0) * value(&step, 0, 0);
        near(at, frame.position_W[1].x, 0.51 * value(&step, 0, 0));
        drop(&b);
        perp_replay_destroy(r);
    }
    perp_recording_close(recording);
    folder_remove(&f);
}

// ── What goes wrong ──────────────────────────────────────────────────────────────────────────────

static void hostile(void **state)
{
    (void)state;
    static const char scene[] =
        "{\"name\": \"</script><!--\", \"step\": 0.01, \"until\": 1, \"bodies\": [{\"name\": "
        "\"<b>\\\"&\", \"mass\": 1, \"inertia\": 1, \"shapes\": [{\"kind\": \"disc\", "
        "\"radius\": 0.1}]}]}";
    folder f = folder_create();
    perp_recording *recording = record(scene, NULL, folder_at(&f, "run"), 3);
    perp_replay *r = replay(recording, 20.0);
    block b = read_page(r);
    assert_string_equal(json_string_value(json_object_get(b.about, "name")), "</script><!--");
    json_t *body = json_array_get(json_object_get(b.about, "bodies"), 1);
    assert_string_equal(json_string_value(json_object_get(body, "name")), "<b>\"&");
    drop(&b);
    perp_error error = {0};
    perp_replay_def def = perp_replay_default();
    perp_replay *none = NULL;
    assert_int_equal(perp_replay_create(recording, &def, NULL, &none, &error), PERP_ERR_ARGUMENT);
    def.page = "<html></html>";
    assert_int_equal(perp_replay_create(recording, &def, NULL, &none, &error), PERP_ERR_ARGUMENT);
    def.page = page;
    def.megabytes = 0.0;
    assert_int_equal(perp_replay_create(recording, &def, NULL, &none, &error), PERP_ERR_ARGUMENT);
    perp_replay_def blank = {0};
    assert_int_equal(perp_replay_create(recording, &blank, NULL, &none, &error), PERP_ERR_DEF);
    assert_null(none);
    const char *path = folder_at(&f, "no/replay.html");
    assert_int_equal(perp_replay_save(r, path, &error), PERP_ERR_IO);
    assert_int_equal(perp_replay_save(r, folder_at(&f, "replay.html"), &error), PERP_OK);
    assert_true(folder_has(&f, "replay.html") && !folder_has(&f, "replay.html.part"));
    perp_replay_destroy(r);
    perp_recording_close(recording);
    folder_remove(&f);
}

// A shape has its own colour or that of its body; without one the page chooses.
static void colours(void **state)
{
    (void)state;
    static const char text[] =
        "{\"shapes\": [{\"kind\": \"halfplane\"}], \"bodies\": [{\"colour\": \"#00FF7f\", "
        "\"mass\": 1, "
        "\"inertia\": 1, \"position\": [0, 2], \"shapes\": [{\"name\": \"a\", \"kind\": \"disc\", "
        "\"radius\": 1}, "
        "{\"name\": \"b\", \"kind\": \"point\", \"colour\": \"#0000ff\"}]}]}";
    folder f = folder_create();
    perp_recording *recording = record(text, NULL, folder_at(&f, "run"), 2);
    perp_replay *r = replay(recording, 1.0);
    block b = read_page(r);
    const json_t *shapes = json_object_get(b.about, "shapes");
    static const char *const want[] = {NULL, "#00ff7f", "#0000ff"};
    for (size_t k = 0; k < 3; k++) {
        const json_t *colour = json_object_get(json_array_get(shapes, k), "colour");
        if (want[k]) {
            assert_string_equal(json_string_value(colour), want[k]);
        } else {
            assert_null(colour);
        }
    }
    drop(&b);
    perp_replay_destroy(r);
    perp_recording_close(recording);
    folder_remove(&f);
}

static void no_memory(void **state)
{
    (void)state;
    folder f = folder_create();
    perp_recording *recording = record(NULL, "scenes/trinkle-robot.json", folder_at(&f, "run"), 5);
    perp_replay_def def = perp_replay_default();
    def.page = page;
    for (int k = 1, more = 1; more; k++) {
        fault out = {.fail_at = k};
        perp_env env = fault_env(&out);
        perp_replay *r = NULL;
        perp_status status = perp_replay_create(recording, &def, &env, &r, NULL);
        more = out.happened;
        assert_int_equal(status, more ? PERP_ERR_MEMORY : PERP_OK);
        perp_replay_destroy(r);
        assert_int_equal(out.live + out.confused, 0);
        assert_true(k < 1000);
    }
    perp_recording_close(recording);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers), cmocka_unit_test(budget),    cmocka_unit_test(hostile),
        cmocka_unit_test(colours), cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
