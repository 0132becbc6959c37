// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp plot as a user runs it: what it leaves where, and what it says when it cannot.
#include "support/cmocka.h"
#include "support/shell.h"
#include "support/xml.h"

#include <perp/plot.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static folder place;

static const char *says(const char *command, int code, const char *text)
{
    return shell_says(&place, PERP_CLI, command, code, text);
}

static bool figure_is_there(const char *dir, const char *figure)
{
    char name[300];
    snprintf(name, sizeof name, "%s/%s.svg", dir, figure);
    return folder_has(&place, name);
}

static void draws_all_that_applies(void **state)
{
    (void)state;
    says("PERP run scenes/sensor-arm.json -o @/a -q --no-figures --until 0.9 --accuracy 10", 0,
         NULL);
    says("PERP plot @/a", 0, "/a/index.html\n");
    for (int k = 0; perp_plot_name(k); k++) {
        char path[400];
        xml x;
        assert_true(figure_is_there("a", perp_plot_name(k)));
        snprintf(path, sizeof path, "%s/a/%s.svg", place.path, perp_plot_name(k));
        if (!xml_read_file(&x, path)) {
            fail_msg("%s: %s", path, x.fault);
        }
    }
    char *page = text_of(folder_at(&place, "a/index.html"));
    for (int k = 0; perp_plot_name(k); k++) {
        char name[64];
        snprintf(name, sizeof name, "%s.svg", perp_plot_name(k));
        assert_non_null(strstr(page, name));
    }
    free(page);
    says("cd @/a && PERP plot run.h5", 0, "./index.html\n");
    says("PERP plot -q @/a/run.h5", 0, NULL);
    assert_string_equal(says("PERP plot -q @/a", 0, NULL), "");
}

static void draws_what_is_asked_for(void **state)
{
    (void)state;
    says("PERP run scenes/pendulum.json -o @/p -q --until 0.1", 0, NULL);
    assert_true(figure_is_there("p", "paths") && figure_is_there("p", "joints"));
    assert_false(figure_is_there("p", "gaps"));  // nothing touches
    says("PERP plot @/p -o '@/with space' --only paths,energy", 0, "with space/index.html");
    assert_true(figure_is_there("with space", "paths") && figure_is_there("with space", "energy"));
    assert_false(figure_is_there("with space", "joints"));
    says("PERP plot @/p --only=paths,paths -q", 0, NULL);
    says("PERP plot @/p paths joints -o @/words", 0, NULL);
    assert_true(figure_is_there("words", "paths") && figure_is_there("words", "joints"));
    assert_false(figure_is_there("words", "energy"));
    says("PERP plot @/p --only path", 2, "unknown figure 'path': did you mean 'paths'?");
    says("PERP plot @/p --only nonsense", 2, "expected one of paths, gaps, ");
    says("PERP plot @/p --only ''", 2, "--only: missing value");
    says("PERP plot @/p --only paths,", 2, "unknown figure ''");
}

// Blocks of numbers of a .dat: the last value of the last line of block k.
static double last_of_block(const char *dat, int k)
{
    char mark[32];
    snprintf(mark, sizeof mark, "# block %d,", k);
    const char *at = strstr(dat, mark);
    assert_non_null(at);
    const char *end = strstr(at, "\n\n\n");
    end = end ? end + 1 : at + strlen(at);
    do {  // back to the line before the end
        end--;
    } while (end > at && end[-1] != '\n');
    return strtod(strchr(end, ' '), NULL);
}

// What gnuplot gets is what was recorded: energy.dat ends with the kinetic energy of the last frame.
static void data_of_gnuplot(void **state)
{
    (void)state;
    perp_recording *recording = NULL;
    perp_snapshot frame;
    assert_int_equal(perp_recording_open(folder_at(&place, "a"), NULL, &recording, NULL), PERP_OK);
    int last = perp_recording_about(recording)->frames - 1;
    assert_int_equal(perp_recording_read(recording, last, &frame, NULL), PERP_OK);
    char *dat = text_of(folder_at(&place, "a/energy.dat"));
    assert_true(last_of_block(dat, 0) == frame.energy.kinetic);
    free(dat);
    perp_recording_close(recording);
}

// Names that would be commands, formats, markup or the end of a string.
static const char odd[] =
    "{\"name\": \"odd\", \"step\": 0.01, \"until\": 0.1, \"shapes\": [\n"
    "  {\"name\": \"fl'oor {x} _z^2 %d \\\\n\", \"kind\": \"halfplane\"}],\n"
    " \"bodies\": [{\"name\": \"b'ox `ls` \\\"q\\\" \xce\xbc and a name that is much too long\",\n"
    "  \"position\": [0, 0.2], \"velocity\": [1, 0],\n"
    "  \"shapes\": [{\"kind\": \"box\", \"size\": [0.8, 0.4], \"density\": 50}]}]}\n";

// gnuplot itself, where it is installed: it draws every figure and complains about none.
static void gnuplot_draws_them(void **state)
{
    (void)state;
    if (system("command -v gnuplot >/dev/null 2>&1") != 0) {
        print_message("gnuplot is not installed: scripts are not run\n");
        return;
    }
    says("PERP scene pile3 --bodies 10 | PERP run - -o @/pile -q --until 0.05", 0, NULL);
    says("PERP compare @/a @/a -o @/pair", 0, NULL);
    shell_file(&place, "odd.json", odd);
    says("PERP run @/odd.json -o @/odd -q", 0, NULL);
    const char *folders[] = {"a", "pile", "pair", "odd"};
    for (size_t k = 0; k < sizeof folders / sizeof folders[0]; k++) {
        char command[256];
        snprintf(command, sizeof command,
                 "cd @/%s && for f in *.gp; do gnuplot $f 2>&1 && "
                 "grep -q '</svg>' ${f%%.gp}-gnuplot.svg || echo $f; done",
                 folders[k]);
        assert_string_equal(says(command, 0, NULL), "");
    }
}

static void same_bytes_twice(void **state)
{
    (void)state;
    says("PERP run scenes/berard-4.3.json -o @/t -q --no-figures --until 0.2", 0, NULL);
    says("PERP plot -q @/t -o @/t1 && PERP plot -q @/t -o @/t2 && diff -r @/t1 @/t2", 0, NULL);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    says("PERP plot", 2, "missing file name");
    says("PERP plot @/a @/p", 2, "unknown figure '");
    says("PERP plot @/a gasp", 2, "did you mean 'gaps'?");
    says("PERP plot @/nothing", 2, "cannot open");
    says("PERP plot @", 2, "contains no recording (run.h5)");
    says("PERP plot scenes/berard-4.3.json", 2, "is not an HDF5 file");
    says("PERP plot @/a --json", 2, "unknown option '--json'");
    says("PERP plot --help", 0, "perp plot DIR");
}

// A disk that is full leaves whole files or none; a directory that cannot be made is said.
static void output_that_cannot_be_written(void **state)
{
    (void)state;
    says("PERP plot @/a -o @/no/such/parent", 1, "cannot write '");
    says("PERP plot @/a -o @/a/run.h5", 1, "Not a directory");
    says("ulimit -f 4; PERP plot @/a -o @/full", 1, "File too large");
    says("ls @/full | grep -c part", 1, "0\n");
    says("for f in @/full/*; do [ ! -e $f ] || tail -c 7 $f; done", 0, NULL);
}

static void draws_what_a_killed_run_left(void **state)
{
    (void)state;
    says("PERP run scenes/berard-4.3.json --until 1e6 -o @/killed -q & pid=$!; sleep 1; "
         "kill -9 $pid; wait $pid 2>/dev/null; PERP plot @/killed",
         0, "the recording is incomplete");
    assert_true(figure_is_there("killed", "paths") && folder_has(&place, "killed/index.html"));
}

static void a_start_without_steps(void **state)
{
    (void)state;
    says("PERP run scenes/berard-4.3.json --until 0 -o @/zero -q", 0, NULL);
    assert_true(figure_is_there("zero", "paths"));
    assert_false(figure_is_there("zero", "energy"));
    says("PERP plot @/zero --only energy,residual,events,gaps,cones", 0, NULL);
    // Nothing was judged, so nothing passed.
    says("PERP check @/zero", 0, "verdict     empty: there is no step to judge");
    says("PERP check --json @/zero", 0, "\"verdict\": \"empty\"");
    says("cat @/zero/summary.json", 0, "\"verdict\": \"empty\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_all_that_applies),
        cmocka_unit_test(draws_what_is_asked_for),
        cmocka_unit_test(data_of_gnuplot),
        cmocka_unit_test(gnuplot_draws_them),
        cmocka_unit_test(same_bytes_twice),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(output_that_cannot_be_written),
        cmocka_unit_test(draws_what_a_killed_run_left),
        cmocka_unit_test(a_start_without_steps),
    };
    place = folder_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    folder_remove(&place);
    return failed;
}
