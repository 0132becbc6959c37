// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The command under attack: two runs at once, full disks, files that lie, names that command terminals, signals.
#include "support/cmocka.h"
#include "support/shell.h"

#include <perp/io.h>

#include <fcntl.h>
#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static folder place;

static const char *says(const char *command, int code, const char *text)
{
    return shell_says(&place, PERP_CLI, command, code, text);
}

static const char fall[] = "{\"step\": 0.01, \"until\": 0.1, \"bodies\": [{\"name\": \"a\", "
                           "\"mass\": 1, \"inertia\": 1}]}";

#define QUICK " -q --no-figures --no-replay "

// perp run with these words, in the background, its output thrown away; the process.
static pid_t start(const char *file, const char *dir, const char *until)
{
    char scene[600], to[600];
    snprintf(scene, sizeof scene, "%s", folder_at(&place, file));
    snprintf(to, sizeof to, "%s", folder_at(&place, dir));
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_RDWR);
        dup2(nowhere, 1);
        dup2(nowhere, 2);
        execl(PERP_CLI, "perp", "run", scene, "-o", to, "--until", until, "--no-figures",
              "--no-replay", (char *)NULL);
        _exit(99);
    }
    return child;
}

static void wait_for(const char *name)
{
    for (int k = 0; k < 1000 && !folder_has(&place, name); k++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    assert_true(folder_has(&place, name));
}

static int end_of(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

// ── Recordings ───────────────────────────────────────────────────────────────────────────────────

static void one_run_a_directory(void **state)
{
    (void)state;
    shell_file(&place, "fall.json", fall);
    pid_t first = start("fall.json", "both", "1e9");
    wait_for("both/run.h5");
    says("PERP run @/fall.json" QUICK "-o @/both", 1, "is writing to the directory");
    char who[40];
    snprintf(who, sizeof who, "(process %d)", (int)first);
    says("PERP run @/fall.json" QUICK "-o @/both", 1, who);
    says("PERP run @/fall.json" QUICK "-o @/other", 0, NULL);
    kill(first, SIGTERM);
    assert_int_equal(WEXITSTATUS(end_of(first)), 130);
    assert_false(folder_has(&place, "both/run.lock"));
    says("PERP check @/both", 0, "passed");
    says("PERP run @/fall.json" QUICK "-o @/both", 0, NULL);
    assert_false(folder_has(&place, "both/run.lock"));
}

// A kill leaves the file, not the lock.
static void killed_runs_lock_nothing(void **state)
{
    (void)state;
    shell_file(&place, "fall.json", fall);
    pid_t child = start("fall.json", "killed", "1e9");
    wait_for("killed/run.h5");
    kill(child, SIGKILL);
    assert_true(WIFSIGNALED(end_of(child)));
    assert_true(folder_has(&place, "killed/run.lock"));
    says("PERP run @/fall.json" QUICK "-o @/killed", 0, NULL);
    assert_false(folder_has(&place, "killed/run.lock"));
    says("PERP check @/killed", 0, "passed");
    says("mkdir @/left; echo 1 >@/left/run.lock; PERP run @/fall.json" QUICK "-o @/left", 0, NULL);
}

static void full_from_the_start(void **state)
{
    (void)state;
    shell_file(&place, "fall.json", fall);
    says("ulimit -f 0; PERP run @/fall.json -q -o @/full0", 1, "File too large");
    says("ulimit -f 1; PERP run @/fall.json -q -o @/full1", 1, "File too large");
    assert_false(folder_has(&place, "full1/run.h5"));
    says("PERP run @/fall.json -q -o /dev/full", 1, "perp: ");
}

static void write_facets(const char *path, int32_t value)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    hid_t set = H5Dopen2(file, "contacts/facets", H5P_DEFAULT), space = H5Dget_space(set);
    hsize_t size = 0, one = 1;
    H5Sget_simple_extent_dims(space, &size, NULL);
    assert_true(size > 0);
    hsize_t at = size - 1;
    hid_t memory = H5Screate_simple(1, &one, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &one, NULL);
    assert_true(H5Dwrite(set, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, &value) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
}

static const char ball[] =
    "{\"step\": 0.01, \"until\": 0.05, \"shapes\": [{\"kind\": \"halfspace\"}], \"bodies\": "
    "[{\"name\": \"b\", \"kind\": \"solid\", \"position\": [0, 0, 0.1], \"velocity\": [1, 0, 0],\n"
    " \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.1, \"density\": 1000}]}]}";

static void facets_that_cannot_be(void **state)
{
    (void)state;
    static const int32_t bad[] = {INT32_MAX, -1, 257, INT32_MIN};
    shell_file(&place, "ball.json", ball);
    says("PERP run @/ball.json" QUICK "-o @/facets", 0, NULL);
    for (int k = 0; k < 4; k++) {
        write_facets(folder_at(&place, "facets/run.h5"), bad[k]);
        says("timeout 20 PERP check @/facets", 2, "has an invalid number of facets");
        says("timeout 20 PERP plot -q @/facets", 2, "facets");
    }
}

// Everything that is asked of a recording is asked without the file of its mesh.
static void meshes_are_kept(void **state)
{
    (void)state;
    says("mkdir -p @/mesh", 0, NULL);
    shell_file(&place, "mesh/floor.obj",
               "v -2 -2 0\nv 2 -2 0\nv 2 2 0\nv -2 2 0\nf 1 2 3\nf 1 3 4\n");
    shell_file(&place, "mesh/s.json",
               "{\"step\": 0.01, \"until\": 0.2, \"shapes\": [{\"name\": \"floor\", \"kind\": "
               "\"mesh\", \"file\": \"floor.obj\"}],\n \"bodies\": [{\"name\": \"b\", \"kind\": "
               "\"solid\", \"position\": [0, 0, 0.12],\n  \"shapes\": [{\"kind\": \"sphere\", "
               "\"radius\": 0.1, \"density\": 1000}]}]}");
    says("PERP run @/mesh/s.json" QUICK "-o @/mesh/run", 0, NULL);
    says("PERP check @/mesh/run", 0, "passed");
    says("rm @/mesh/floor.obj @/mesh/s.json; mv @/mesh/run @/moved; rmdir @/mesh", 0, NULL);
    says("cd / && PERP check @/moved", 0, "passed");
    says("PERP check @/moved --json", 0, "\"gap\": {\"judged\": true");
    says("PERP plot @/moved -q", 0, NULL);
    says("PERP compare @/moved @/moved", 0, "agree");
    says("PERP view @/moved -q || test $? = 2", 0, NULL);  // 2: built without the viewer
}

// A recording that brings its own limits is judged by those of the program, unless somebody says otherwise.
static void limits_are_the_programs(void **state)
{
    (void)state;
    says("PERP run scenes/spring-damper.json --step 0.5 -q -o @/wide", 4, NULL);
    says("PERP check @/wide", 4, "violated");
    // The same with limits in the scene, as the run took them.
    says("sed 's/^ *{/{\"limits\": {\"joint\": 100, \"gap\": 100, \"energy\": 100, "
         "\"momentum\": 100, \"residual\": 100, \"complementarity\": 100, \"cone\": 100}, /;1q' "
         "scenes/spring-damper.json >@/own.json; sed 1d scenes/spring-damper.json >>@/own.json",
         0, NULL);
    says("PERP run @/own.json --step 0.5 -q -o @/own", 0, NULL);
    says("PERP check @/own", 4, "violated");
    says("PERP check @/own --limits program", 4, "violated");
    says("PERP check @/own --limits recorded", 0, "passed");
    says("PERP check @/own --limits mine", 2, "recorded");
}

// ── Scenes ───────────────────────────────────────────────────────────────────────────────────────

static bool has_control(const char *text)
{
    for (; *text; text++) {
        if (((unsigned char)*text < ' ' && *text != '\n') || *text == 0x7f) {
            return true;
        }
        if ((unsigned char)text[0] == 0xc2 && (unsigned char)text[1] < 0xa0) {
            return true;
        }
    }
    return false;
}

// Escape sequences, in every place where a scene can have a word of its own.
static void names_command_no_terminal(void **state)
{
    (void)state;
#define EVIL "a\\u001b]0;x\\u0007\\u009b31m\\u202eb"
    static const char *const scenes[] = {
        "{\"bodies\": [{\"name\": \"" EVIL "\", \"mass\": \"x\"}]}",
        "{\"bodies\": [{\"name\": \"" EVIL "\", \"mass\": 1, \"inertia\": 1}]}",
        "{\"name\": \"" EVIL "\", \"description\": \"" EVIL "\"}",
        "{\"" EVIL "\": 1}",
        "{\"stepper\": \"" EVIL "\"}",
        "{\"joints\": [{\"kind\": \"revolute\", \"a\": \"" EVIL "\"}]}",
        "{\"bodies\": [{\"name\": \"b\", \"kind\": \"" EVIL "\"}]}",
        "{\"bodies\": [{\"name\": \"b\", \"drive\": \"driven\", \"motion\": {\"x\": \"" EVIL
        "\"}}]}",
        "{\"shapes\": [{\"kind\": \"mesh\", \"file\": \"" EVIL "\"}], \"bodies\": [{\"kind\": "
        "\"solid\", \"mass\": 1, \"inertia\": [1, 1, 1]}]}",
        "{\"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": 1}], \"joints\": [{\"name\": "
        "\"" EVIL "\", \"kind\": \"angle\", \"b\": \"b\"}]}",
    };
    for (size_t k = 0; k < sizeof scenes / sizeof scenes[0]; k++) {
        shell_file(&place, "evil.json", scenes[k]);
        static const char *const verbs[] = {
            "PERP info @/evil.json; true",
            "PERP info --json @/evil.json; true",
            "PERP run @/evil.json --until 0.01 --no-figures --no-replay -o @/evil; true",
            "PERP explain @/evil.json; true",
            "PERP explain --latex @/evil.json; true",
            "PERP explain --coordinates joint @/evil.json; true",
            "test -d @/evil && PERP check @/evil; true",
            "test -d @/evil && PERP check --json @/evil; true",
            "test -d @/evil && PERP compare @/evil @/evil; true"};
        for (size_t v = 0; v < sizeof verbs / sizeof verbs[0]; v++) {
            if (has_control(says(verbs[v], 0, NULL))) {
                fail_msg("control characters from %s of scene %zu", verbs[v], k);
            }
        }
    }
    shell_file(&place, "e\x1b]0;x\x07.json", "{");
    assert_false(has_control(says("PERP info @/e*.json; PERP solve @/e*x*; true", 0, NULL)));
#undef EVIL
}

static void formulas_are_marked_in_csv(void **state)
{
    (void)state;
    static const char *const names[] = {"=cmd|x!A1", "+1",    "-2+3", "@sum(a)",
                                        "'=x",       "plain", "a=b"};
    static const char *const rows[] = {
        "0,\"'=cmd|x!A1\",", "0,\"'+1\",", "0,\"'-2+3\",", "0,\"'@sum(a)\",",
        "0,\"''=x\",",       "0,plain,",   "0,a=b,"};
    char text[2000] = "{\"until\": 0.001, \"bodies\": [";
    for (int k = 0; k < 7; k++) {
        size_t end = strlen(text);
        snprintf(text + end, sizeof text - end,
                 "%s{\"name\": \"%s\", \"mass\": 1, \"inertia\": 1, \"position\": [-1, 0]}",
                 k > 0 ? ", " : "", names[k]);
    }
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "]}");
    shell_file(&place, "csv.json", text);
    says("PERP run @/csv.json" QUICK "-o @/csv", 0, NULL);
    char *csv = text_of(folder_at(&place, "csv/bodies.csv"));
    for (int k = 0; k < 7; k++) {
        if (!strstr(csv, rows[k])) {
            fail_msg("no %s in %s", rows[k], csv);
        }
    }
    assert_non_null(strstr(csv, ",plain,-1,0,"));  // numbers stay numbers
    free(csv);
}

static void sizes_and_folders_have_options(void **state)
{
    (void)state;
    says("mkdir -p @/deep/in", 0, NULL);
    shell_file(&place, "deep/t.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    shell_file(&place, "deep/in/s.json",
               "{\"until\": 0.01, \"shapes\": [{\"kind\": \"mesh\", \"file\": \"../t.obj\"}], "
               "\"bodies\": [{\"kind\": \"solid\", \"mass\": 1, \"inertia\": [1, 1, 1]}]}");
    says("PERP info @/deep/in/s.json", 2, "is outside the directory of the scene");
    says("PERP info --allow-outside @/deep/in/s.json", 0, "1 shape,");
    says("PERP run --allow-outside @/deep/in/s.json" QUICK "-o @/deep/o && PERP check @/deep/o", 0,
         "passed");
    says("PERP explain --allow-outside @/deep/in/s.json", 0, NULL);
    says("cd @/deep && PERP info - <in/s.json", 2, "is outside");
    says("cd @/deep && sed 's,../t.obj,t.obj,' in/s.json | PERP info -", 0, "1 shape,");
    says("{ cat @/deep/in/s.json; head -c 17000000 /dev/zero | tr '\\0' ' '; } >@/large.json", 0,
         NULL);
    says("PERP info --max-mb 16 @/large.json", 2, "larger than 16 MB");
    says("PERP info --max-mb 16 @/large.json", 2, "--max-mb N");
    says("PERP info --max-mb 0.0001 @/deep/in/s.json", 2, "larger than 0.0001 MB");
    says("sed 's,../t.obj,deep/t.obj,' @/large.json >@/large2.json; PERP info @/large2.json", 0,
         "1 shape,");
    says("rm @/large.json @/large2.json; mkfifo @/pipe; timeout 10 PERP info @/pipe", 2,
         "is a device or a pipe");
    says("timeout 10 PERP solve @/pipe", 2, "is a device or a pipe");
    says("timeout 10 PERP info /dev/zero", 2, "is a device or a pipe");
}

// ── Signals and ends ─────────────────────────────────────────────────────────────────────────────

static void signals_end_a_run(void **state)
{
    (void)state;
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
    shell_file(&place, "fall.json", fall);
    for (int k = 0; k < 3; k++) {
        char dir[40], name[60];
        snprintf(dir, sizeof dir, "signal%d", k);
        snprintf(name, sizeof name, "%s/run.h5", dir);
        pid_t child = start("fall.json", dir, "1e9");
        wait_for(name);
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
        kill(child, numbers[k]);
        int status = end_of(child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 130);
        snprintf(name, sizeof name, "PERP check @/signal%d", k);
        assert_null(strstr(says(name, 0, "passed"), "incomplete"));
    }
    // Under nohup a hangup is nobody's business.
    signal(SIGHUP, SIG_IGN);
    pid_t child = start("fall.json", "nohup", "1e9");
    signal(SIGHUP, SIG_DFL);
    wait_for("nohup/run.h5");
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    kill(child, SIGHUP);
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
    kill(child, SIGTERM);
    assert_int_equal(WEXITSTATUS(end_of(child)), 130);
}

// CPU time of the children that ended [s].
static double children_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// Steps of 8000 contacts, of which the third takes many seconds.
static void signals_end_a_long_step(void **state)
{
    (void)state;
    says("PERP scene heap3 --bodies 400 --cubes 1 -o @/heap.json", 0, NULL);
    pid_t child = start("heap.json", "long", "1");
    wait_for("long/run.h5");
    nanosleep(&(struct timespec){.tv_sec = 5}, NULL);
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    kill(child, SIGTERM);
    int status = end_of(child);
    clock_gettime(CLOCK_MONOTONIC, &to);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
    // about a second; more on a machine that is busy
    assert_true((double)(to.tv_sec - from.tv_sec) < 5.0);
    assert_null(strstr(says("PERP check @/long", 0, "passed"), "incomplete"));
    assert_true(folder_has(&place, "long/summary.json"));
    says("PERP view @/long -q", 0, NULL);
    assert_true(folder_has(&place, "long/replay.html"));
}

// The limit of time holds for what the solvers do within an iteration as well.
static void time_limits_hold_within_steps(void **state)
{
    (void)state;
    says("PERP scene heap3 --bodies 130 --cubes 1 -o @/dense.json", 0, NULL);
    double before = children_seconds();
    says("PERP run @/dense.json -q --no-figures --no-replay --step 0.01 --until 0.01 "
         "--max-seconds 1 -o @/dense",
         0, NULL);
    assert_true(children_seconds() - before < 2.5);
    // pivoting of 2440 contacts with eight directions each takes a minute
    before = children_seconds();
    says("PERP run @/dense.json -q --no-figures --no-replay --form lcp --solver pivot "
         "--max-seconds 1 -o @/dense",
         3, "took longer than 2 s");
    assert_true(children_seconds() - before < 5.0);
    says("PERP check @/dense", 0, "empty: there is no step to judge");
}

static void runs_end_when_asked(void **state)
{
    (void)state;
    static const struct {
        const char *step, *until;
        double h, end;
        int steps;
    } cases[] = {{"0.001", "1", 0.001, 1.0, 1000},       {"0.1", "0.3", 0.1, 0.3, 3},
                 {"0.003", "1", 0.003, 1.0, 334},        {"0.7", "1", 0.7, 1.0, 2},
                 {"0.0333333", "1", 0.0333333, 1.0, 31}, {"2", "1", 2.0, 1.0, 1},
                 {"1e-5", "0.1", 1e-5, 0.1, 10000}};
    static const char *const steppers[] = {"stewart-trinkle", "moreau-jean", "event"};
    shell_file(&place, "free.json",
               "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": 1, \"velocity\": [1, 0], "
               "\"spin\": 1}]}");
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        for (int s = 0; s < (cases[k].steps < 5000 ? 3 : 1); s++) {
            char command[300];
            snprintf(command, sizeof command,
                     "PERP run @/free.json" QUICK "--step %s --until %s --stepper %s -o @/end; "
                     "test $? != 2 && PERP check @/end",
                     cases[k].step, cases[k].until, steppers[s]);
            const char *out = says(command, 0, NULL);
            assert_null(strstr(out, "violated"));
            perp_recording *r = NULL;
            perp_snapshot f;
            assert_int_equal(perp_recording_open(folder_at(&place, "end"), NULL, &r, NULL),
                             PERP_OK);
            int frames = perp_recording_about(r)->frames;
            assert_int_equal(frames, cases[k].steps + 1);
            for (int i = 0; i < frames; i++) {
                assert_int_equal(perp_recording_read(r, i, &f, NULL), PERP_OK);
                if (i + 1 < frames && f.t != i * cases[k].h) {
                    fail_msg("step %d: t = %.17g, not %.17g", i, f.t, i * cases[k].h);
                }
            }
            if (fabs(f.t - cases[k].end) > 2.3e-16 * cases[k].end) {
                fail_msg("ends at %.17g, not %s", f.t, cases[k].until);
            }
            perp_recording_close(r);
        }
    }
    says("PERP run @/free.json --step 0.7 --until 1 -o @/end --json --no-replay --no-figures", 0,
         "\"steps\": 2, \"t_end\": 1,");
    says("PERP run @/free.json --step 0.7 --until 1 -o @/end --no-replay --no-figures", 0,
         "2 of 0.7 s (last step 0.3 s), to t = 1 s");
    says("PERP explain @/free.json --step 0.1 --at 0.3", 0, "step from t = 0.3 s to 0.4 s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_run_a_directory),
        cmocka_unit_test(killed_runs_lock_nothing),
        cmocka_unit_test(full_from_the_start),
        cmocka_unit_test(facets_that_cannot_be),
        cmocka_unit_test(meshes_are_kept),
        cmocka_unit_test(limits_are_the_programs),
        cmocka_unit_test(names_command_no_terminal),
        cmocka_unit_test(formulas_are_marked_in_csv),
        cmocka_unit_test(sizes_and_folders_have_options),
        cmocka_unit_test(signals_end_a_run),
        cmocka_unit_test(signals_end_a_long_step),
        cmocka_unit_test(time_limits_hold_within_steps),
        cmocka_unit_test(runs_end_when_asked),
    };
    place = folder_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    folder_remove(&place);
    return failed;
}
