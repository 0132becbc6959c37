// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Every figure of films of every size: well-formed, inside the page, of bounded size; and the files.
#include "support/cmocka.h"
#include "support/fault.h"
#include "support/plot_source.h"
#include "support/xml.h"

#include "plot/plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char events[] = "{\"t\": 0.05, \"step\": 5, \"event\": \"impact\", \"gap\": 0}\n"
                             "{\"t\": 0.07, \"step\": 7, \"event\": \"separation\"}\n"
                             "not json\n{\"t\": null, \"event\": \"impact\"}\n"
                             "{\"t\": 0.09, \"step\": 9, \"event\": \"impact\"";

static const plot_source_wish wishes[] = {
    {.frames = 1},
    {.frames = 1, .bodies = 2, .contacts = 2, .joints = 1},
    {.frames = 2, .bodies = 1, .contacts = 1},
    {.frames = 100, .bodies = 3, .contacts = 2, .joints = 2, .events = events},
    {.frames = 100, .bodies = 3, .contacts = 3, .joints = 2, .holes = true},
    {.frames = 300, .bodies = 30, .contacts = 20, .joints = 9},
    {.frames = 200, .bodies = 60, .contacts = 100, .joints = 30, .holes = true},
    {.frames = 50, .bodies = 2, .contacts = 2, .size = 1e-9},
    {.frames = 50, .bodies = 2, .contacts = 2, .size = 1e12},
    {.frames = 50,
     .bodies = 2,
     .contacts = 2,
     .name = "<&\"' \xce\xbc \xff> a very long name of a body"},
};
enum { WISHES = sizeof wishes / sizeof wishes[0] };

typedef struct stage {
    pp_plot_source *source;
    pp_arena *arena;
    pp_run_data *data;
} stage;

static stage stage_open(const plot_source_wish *wish)
{
    stage s = {.source = plot_source_create(wish), .arena = pp_arena_create(NULL)};
    s.data = PP_ZEROS(s.arena, pp_run_data, 1);
    assert_int_equal(pp_run_data_collect(s.source, s.arena, NULL, s.data, NULL), PERP_OK);
    return s;
}

static void stage_close(stage *s)
{
    pp_arena_destroy(s->arena);
    plot_source_destroy(s->source);
}

static void all_are_well_formed(void **state)
{
    (void)state;
    for (int w = 0; w < WISHES; w++) {
        stage s = stage_open(&wishes[w]);
        for (int k = 0; pp_figure_at(k); k++) {
            pp_svg svg = {0};
            xml x;
            pp_figure_at(k)->draw(s.data, &svg);
            bool fine = xml_read(&x, svg.text, svg.used);
            bool inside =
                k == 0 || (x.right <= x.width && x.bottom <= x.height);  // paths are clipped
            if (!fine || !inside) {
                print_error("film %d, %s: %s; %g of %g, %g of %g\n", w, pp_figure_at(k)->name,
                            x.fault, x.right, x.width, x.bottom, x.height);
                fail();
            }
            assert_true(x.width == 252.0 || x.width == 510.0);
            assert_true(x.texts > 0 || s.data->frames == 1);
            pp_svg_free(&svg);
        }
        stage_close(&s);
    }
}

// A run a hundred times as long does not give larger files.
static void files_are_bounded(void **state)
{
    (void)state;
    size_t size[2] = {0};
    for (int w = 0; w < 2; w++) {
        stage s = stage_open(
            &(plot_source_wish){.frames = w ? 120000 : 4800, .bodies = 4, .contacts = 4});
        for (int k = 0; pp_figure_at(k); k++) {
            pp_svg svg = {0};
            pp_figure_at(k)->draw(s.data, &svg);
            assert_true(svg.used < 250000);
            size[w] += svg.used;
            pp_svg_free(&svg);
        }
        stage_close(&s);
    }
    assert_true(size[1] < 2 * size[0]);
}

static void story_counts(void **state)
{
    (void)state;
    stage s = stage_open(&wishes[3]);
    assert_int_equal(s.data->contacts, 2);
    assert_int_equal(s.data->events, 2);
    assert_string_equal(s.data->event[0].name, "impact");
    assert_int_equal(s.data->event[0].count, 2);
    assert_int_equal(s.data->snapshots, PP_SNAPSHOTS);
    assert_int_equal(s.data->snapshot[PP_SNAPSHOTS - 1].frame, 99);
    assert_int_equal(s.data->mus, 1);
    assert_true(s.data->mu[0] == 0.5);
    assert_string_equal(s.data->contact[0].name, "ground\xe2\x80\x93"
                                                 "body 1");
    stage_close(&s);
    s = stage_open(&wishes[6]);
    assert_int_equal(s.data->contacts, PP_ROWS + 1);
    assert_true(s.data->vx.many && s.data->joint_error.many && !pp_run_data_is_small(s.data));
    stage_close(&s);
}

static void modes_are_those_of_the_steps(void **state)
{
    (void)state;
    stage s = stage_open(&wishes[3]);
    const pp_contact_trace *contact = &s.data->contact[0];
    for (int k = 1; k < 100; k++) {  // one frame a bin
        assert_int_equal(contact->mode[k], PP_PLOT_OPEN + (k / 20) % 3);
    }
    assert_int_equal(contact->mode[0], PP_PLOT_ABSENT);
    stage_close(&s);
}

// The figure and what gnuplot gets, which is there when the figure is.
static void remove_figure(const char *dir, const char *name)
{
    static const char *const endings[] = {"svg", "gp", "dat"};
    char path[128];
    int removed = 0;
    for (int k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "%s/%s.%s", dir, name, endings[k]);
        removed += remove(path) == 0;
    }
    assert_true(removed == 0 || removed == 3);
}

static void page_names_everything(void **state)
{
    (void)state;
    char dir[] = "/tmp/perp-plot-XXXXXX", path[128];
    assert_non_null(mkdtemp(dir));
    pp_plot_source *source = plot_source_create(&wishes[9]);
    perp_error error = {0};
    assert_int_equal(pp_plot_draw_source(source, dir, NULL, NULL, &error), PERP_OK);
    snprintf(path, sizeof path, "%s/index.html", dir);
    FILE *file = fopen(path, "rb");
    static char text[100000];
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_non_null(strstr(text, "&lt;&amp;&quot;"));
    assert_null(strstr(text, "<script"));
    assert_null(strstr(text, "http"));
    for (int k = 0; perp_plot_name(k); k++) {
        char link[64];
        xml x;
        snprintf(link, sizeof link, "src=\"%s.svg\"", perp_plot_name(k));
        snprintf(path, sizeof path, "%s/%s.svg", dir, perp_plot_name(k));
        bool there = access(path, F_OK) == 0;
        assert_int_equal(strstr(text, link) != NULL, there);
        assert_true(!there || xml_read_file(&x, path));
        remove_figure(dir, perp_plot_name(k));
    }
    snprintf(path, sizeof path, "%s/index.html", dir);
    remove(path);
    assert_int_equal(rmdir(dir), 0);  // nothing else was left: no .part
    plot_source_destroy(source);
}

static void only_what_is_asked_for(void **state)
{
    (void)state;
    char dir[] = "/tmp/perp-plot-XXXXXX", path[128];
    assert_non_null(mkdtemp(dir));
    pp_plot_source *source = plot_source_create(&wishes[2]);
    perp_error error = {0};
    assert_int_equal(pp_plot_draw_source(source, dir, "gapps", NULL, &error), PERP_ERR_ARGUMENT);
    assert_string_equal(error.text, "unknown figure 'gapps': did you mean 'gaps'?");
    assert_int_equal(pp_plot_draw_source(source, dir, "xyz,gaps", NULL, &error), PERP_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "expected one of paths, gaps"));
    assert_int_equal(pp_plot_draw_source(source, dir, "joints,gaps", NULL, &error), PERP_OK);
    snprintf(path, sizeof path, "%s/index.html", dir);
    assert_int_equal(remove(path), 0);
    remove_figure(dir, "joints");
    remove_figure(dir, "gaps");
    assert_int_equal(rmdir(dir), 0);
    plot_source_destroy(source);
}

static void what_cannot_be_written(void **state)
{
    (void)state;
    pp_plot_source *source = plot_source_create(&wishes[2]);
    perp_error error = {0};
    assert_int_equal(pp_plot_draw_source(source, "/nowhere/at/all", NULL, NULL, &error),
                     PERP_ERR_IO);
    assert_non_null(strstr(error.text, "/nowhere/at/all"));
    char path[] = "/tmp/perp-plot-file-XXXXXX";
    close(mkstemp(path));
    assert_int_equal(pp_plot_draw_source(source, path, NULL, NULL, &error), PERP_ERR_IO);
    remove(path);
    plot_source_destroy(source);
}

static void memory_runs_out(void **state)
{
    (void)state;
    char dir[] = "/tmp/perp-plot-XXXXXX", path[128];
    assert_non_null(mkdtemp(dir));
    pp_plot_source *source = plot_source_create(&wishes[3]);
    bool done = false;
    int k = 1;
    for (; !done && k < 2000; k++) {
        fault f = {.fail_at = k};
        perp_env env = fault_env(&f);
        perp_error error = {0};
        perp_status status = pp_plot_draw_source(source, dir, "paths,modes", &env, &error);
        assert_int_equal(f.live, 0);
        assert_int_equal(status, f.happened ? PERP_ERR_MEMORY : PERP_OK);
        done = !f.happened;
    }
    assert_true(done && k > 5);
    snprintf(path, sizeof path, "%s/index.html", dir);
    remove(path);
    remove_figure(dir, "paths");
    remove_figure(dir, "modes");
    assert_int_equal(rmdir(dir), 0);
    plot_source_destroy(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_well_formed),    cmocka_unit_test(files_are_bounded),
        cmocka_unit_test(story_counts),           cmocka_unit_test(modes_are_those_of_the_steps),
        cmocka_unit_test(page_names_everything),  cmocka_unit_test(only_what_is_asked_for),
        cmocka_unit_test(what_cannot_be_written), cmocka_unit_test(memory_runs_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
