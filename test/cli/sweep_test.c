// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp sweep as a user runs it: engines, shards, kills, limits, one run again; always the same bytes.
#include "support/cmocka.h"
#include "support/folder.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char out[1 << 18];
static folder place;

static const char ball[] =
    "{\"name\": \"ball\", \"step\": 0.005, \"until\": 0.2, \"parameters\": {\"h0\": 1, \"bounce\": "
    "0.5},"
    "\"shapes\": [{\"kind\": \"halfplane\", \"restitution\": \"bounce\"}], \"bodies\": [{\"name\": "
    "\"ball\", \"position\": [0, \"h0\"], \"shapes\": [{\"kind\": \"disc\", \"radius\": 0.1, "
    "\"density\": 10, \"restitution\": \"bounce\"}]}]}";
static const char sweep[] =
    "{\"scene\": \"ball.json\", \"parameters\": {\"h0\": {\"uniform\": [0.2, 0.6], \"unit\": "
    "\"m\"}, "
    "\"bounce\": [0, 0.5, 1]}, \"sampling\": {\"method\": \"sobol\", \"count\": %d}, \"outputs\": "
    "{\"top\": {\"highest\": \"y[ball]\", \"unit\": \"m\"}, \"hit\": {\"first\": \"contacts > "
    "0\"}, "
    "\"loss\": {\"final\": \"dissipated\", \"unit\": \"J\"}}, \"record\": {\"runs\": [2]}}";
// A run that takes long, and one that does not.
static const char slow[] =
    "{\"scene\": \"ball.json\", \"parameters\": {\"long\": [0.01, 1e6]}, \"run\": {\"until\": "
    "\"long\"}, \"outputs\": {\"y\": {\"final\": \"y[ball]\"}}, \"limits\": {\"seconds\": %g, "
    "\"megabytes\": %g}}";

static void put(const char *name, const char *format, double a, double b)
{
    FILE *file = fopen(folder_at(&place, name), "w");
    assert_non_null(file);
    if (strstr(format, "%d")) {
        fprintf(file, format, (int)a);
    } else {
        fprintf(file, format, a, b);
    }
    fclose(file);
}

// A shell's command, in which @ is the folder and perp the program.
static int run(const char *words)
{
    char command[8192];
    size_t n = 0;
    for (; *words && n < sizeof command - 600; words++) {
        if (*words == '@') {
            n += (size_t)snprintf(command + n, sizeof command - n, "%s", place.path);
        } else if (strncmp(words, "perp ", 5) == 0) {
            n += (size_t)snprintf(command + n, sizeof command - n, "'%s' ", PERP_CLI);
            words += 4;
        } else {
            command[n++] = *words;
        }
    }
    command[n] = '\0';
    return command_run(command, out, sizeof out);
}

static void expect(const char *words, int code)
{
    int found = run(words);
    if (found != code) {
        fail_msg("%s: exit code %d, not %d\n%s", words, found, code, out);
    }
}

static void expect_text(const char *text)
{
    if (!strstr(out, text)) {
        fail_msg("'%s' is not in:\n%s", text, out);
    }
}

static int setup(void **state)
{
    (void)state;
    place = folder_create();
    FILE *file = fopen(folder_at(&place, "ball.json"), "w");
    fputs(ball, file);
    fclose(file);
    put("s.json", sweep, 40, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    folder_remove(&place);
    return 0;
}

// One worker, three, two shards, and a directory that is merged by hand.
static void engines_write_the_same_bytes(void **state)
{
    (void)state;
    expect("perp sweep @/s.json -o @/one --workers 1", 0);
    expect_text("120: 120 solved");
    expect("perp sweep @/s.json -o @/three --workers 3 -q", 0);
    expect(
        "perp sweep @/s.json -o @/parts --shard 2/2 -q && perp sweep @/s.json -o @/parts --shard "
        "1/2",
        0);
    expect_text("sweep.csv");
    expect("for f in three parts; do cmp @/one/sweep.csv @/$f/sweep.csv && cmp @/one/sweep.h5 "
           "@/$f/sweep.h5 || exit 9; done",
           0);
    expect("perp sweep @/s.json -o @/half --shard 1/2", 0);
    expect_text("60 solved, 60 missing");
    assert_false(folder_has(&place, "half/sweep.csv"));
    expect("perp sweep @/s.json -o @/half --merge && grep -c missing @/half/sweep.csv", 0);
    expect_text("60");
    expect("perp sweep @/s.json -o @/half --resume -q && cmp @/one/sweep.csv @/half/sweep.csv", 0);
    assert_true(folder_has(&place, "one/runs/2/run.h5") && folder_has(&place, "one/index.html"));
    expect("grep -c 'runs/2/' @/one/index.html", 0);
    expect("perp plot @/one -o @/figures && ls @/figures/index.html", 0);
}

// One run again: the same row, with a recording.
static void one_run_is_made_again(void **state)
{
    (void)state;
    expect("perp sweep @/s.json -o @/again -q && perp sweep @/s.json -o @/again --only 47", 0);
    expect_text("the same row is in");
    assert_true(folder_has(&place, "again/runs/47/run.h5"));
    expect("perp sweep @/s.json --only 47 | grep top | awk '{print $2}' >@/x; grep -c "
           "\"^47,.*,$(cat @/x),\" @/again/sweep.csv",
           0);
    expect("perp sweep @/s.json --only 120 2>&1", 2);
    expect_text("from 0 to 119");
    expect("perp sweep @/s.json --points | wc -l", 0);
    expect_text("121");
    expect("perp sweep @/s.json -o @/again 2>&1", 2);
    expect_text("--resume");
    expect("perp sweep @/s.json -o @/again --shard 3/2 2>&1", 2);
    expect("perp sweep @/s.json -o @/again --shard x 2>&1", 2);
    // A changed file is another sweep.
    put("s2.json", sweep, 41, 0);
    expect("perp sweep @/s2.json -o @/again --resume 2>&1", 2);
    expect_text("another sweep");
}

static pid_t start(const char *file, const char *dir, bool resume)
{
    char path[600], to[600];
    snprintf(path, sizeof path, "%s/%s", place.path, file);
    snprintf(to, sizeof to, "%s/%s", place.path, dir);
    pid_t pid = fork();
    if (pid == 0) {
        execl(PERP_CLI, "perp", "sweep", path, "-o", to, "-q", "--no-figures", "--workers", "2",
              resume ? "--resume" : "--no-replay", (char *)NULL);
        _exit(99);
    }
    return pid;
}

static void pause_ms(int ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&t, NULL);
}

// The n-th child of a process; 0: there is none (yet).
static pid_t child_of(pid_t pid, int n)
{
    char path[100], line[400] = "", *at = line;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *file = fopen(path, "r");
    if (file) {
        if (!fgets(line, sizeof line, file)) {
            line[0] = '\0';
        }
        fclose(file);
    }
    // strtoll gives 0 at the end of the list
    pid_t child = 0;
    for (int k = 0; k <= n; k++) {
        child = (pid_t)strtoll(at, &at, 10);
    }
    return child;
}

// Workers and whole sweeps are killed at odd moments. Nothing is lost, nothing is counted twice.
static void kills_lose_nothing(void **state)
{
    (void)state;
    put("many.json", sweep, 1500, 0);
    expect("perp sweep @/many.json -o @/calm -q --no-figures", 0);
    int sweeps = 0, workers = 0, code = -1;
    srand(7);
    for (int round = 0; code != 0 && round < 200; round++) {
        pid_t pid = start("many.json", "killed", round > 0);
        // a slow start, as with sanitizers: the killing begins once there is a worker
        for (int k = 0; k < 1000 && child_of(pid, 0) == 0; k++) {
            pause_ms(2);
        }
        for (int k = 0; k < 4; k++) {
            pause_ms(3 + rand() % 30);
            pid_t worker = child_of(pid, rand() % 2);
            if (workers < 20 && worker > 0 && kill(worker, SIGKILL) == 0) {
                workers++;
            }
        }
        if (sweeps < 10 && waitpid(pid, &code, WNOHANG) == 0) {
            kill(pid, SIGKILL);
            sweeps++;
            waitpid(pid, &code, 0);
        } else {
            waitpid(pid, &code, 0);
        }
        assert_true(code == 0 || (WIFSIGNALED(code) && WTERMSIG(code) == SIGKILL));
    }
    assert_int_equal(code, 0);
    assert_true(sweeps >= 3 && workers >= 5);
    expect("cmp @/calm/sweep.csv @/killed/sweep.csv && cmp @/calm/sweep.h5 @/killed/sweep.h5", 0);
    // Shards are as long: no row is there twice.
    struct stat a, b;
    assert_int_equal(stat(folder_at(&place, "calm/shards/all.shard"), &a), 0);
    assert_int_equal(stat(folder_at(&place, "killed/shards/all.shard"), &b), 0);
    assert_int_equal(a.st_size, b.st_size);
}

// A run beyond its time is a row, and the others are made.
static void limits_end_runs(void **state)
{
    (void)state;
    put("slow.json", slow, 0.3, 4000.0);
    expect("perp sweep @/slow.json -o @/slow", 0);
    expect_text("1 solved, 1 time");
    expect("grep -c '^1,1000000,,time,longer than 0.3 s$' @/slow/sweep.csv", 0);
    expect("perp sweep @/slow.json --only 1", 3);
#if !defined(__SANITIZE_ADDRESS__)
    put("big.json",
        "{\"scene\": {\"generate\": \"pile\", \"until\": 0.01}, \"parameters\": {\"boxes\": [2, "
        "4000]}, "
        "\"outputs\": {\"energy_end\": {\"final\": \"kinetic\"}}, \"limits\": {\"seconds\": %g, "
        "\"megabytes\": "
        "%g}}",
        60.0, 12.0);
    expect("perp sweep @/big.json -o @/big --no-figures", 0);
    expect_text("1 solved, 1 memory");
    expect("grep -c 'memory,more than 12 MB$' @/big/sweep.csv", 0);
#endif
}

// A worker that crashes on a run twice makes a row of it; one that hangs is ended.
static void crashes_are_rows(void **state)
{
    (void)state;
    put("crash.json", slow, 3000.0, 4000.0);
    pid_t pid = start("crash.json", "crash", false);
    int code = -1, sent = 0;
    for (int k = 0; k < 2000 && waitpid(pid, &code, WNOHANG) == 0; k++) {
        pause_ms(50);
        // The worker of the short run is idle: its crash costs nothing.
        for (int j = 0; j < 2; j++) {
            pid_t worker = child_of(pid, j);
            sent += worker > 0 && kill(worker, SIGABRT) == 0;
        }
    }
    assert_int_equal(code, 0);
    assert_true(sent >= 2);
    expect("grep -c '^1,1000000,,crashed,\"its process was ended by SIGABRT, 2 times\"$' "
           "@/crash/sweep.csv",
           0);
    put("hang.json", slow, 0.05, 4000.0);
    pid = start("hang.json", "hang", false);
    for (int k = 0; k < 50; k++) {
        for (int j = 0; j < 2; j++) {
            pid_t worker = child_of(pid, j);
            if (worker > 0) {
                kill(worker, SIGSTOP);
            }
        }
        pause_ms(2);
    }
    assert_int_equal(waitpid(pid, &code, 0), pid);
    assert_int_equal(code, 0);
    expect("grep -c 'longer than 0.05 s' @/hang/sweep.csv", 0);
}

static void interrupts_can_be_continued(void **state)
{
    (void)state;
    put("long.json", sweep, 20000, 0);
    pid_t pid = start("long.json", "stopped", false);
    int code = 0;
    pause_ms(300);
    kill(pid, SIGINT);
    assert_int_equal(waitpid(pid, &code, 0), pid);
    assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 130);
    expect("perp sweep @/long.json -o @/stopped --merge --no-figures", 0);
    expect_text("missing");
}

static void mistakes_name_line_and_column(void **state)
{
    (void)state;
    put("bad.json",
        "{\"scene\": \"ball.json\",\n \"parameters\": {\"h0\": [1], \"x\": [2]},\n \"outputs\": "
        "{\"y\": {\"final\": \"y[bal]\"}}}",
        0, 0);
    expect("perp sweep @/bad.json 2>&1", 2);
    expect_text("bad.json:3:30: 'final': unknown name 'y[bal]': did you mean 'y[ball]'?");
    expect("perp sweep @/none.json 2>&1", 2);
    expect("perp sweep @ 2>&1", 2);
    expect("perp sweep 2>&1", 2);
    put("out.json",
        "{\"scene\": \"../../etc/passwd\", \"parameters\": {\"a\": 1}, \"outputs\": {\"y\": "
        "{\"final\": \"t\"}}}",
        0, 0);
    expect("perp sweep @/out.json 2>&1", 2);
    expect("mkdir @/mine && touch @/mine/letter && perp sweep @/s.json -o @/mine 2>&1", 1);
    expect_text("contains files but no sweep");
    expect("perp sweep @/s.json -o @/s.json/x 2>&1", 1);
    expect("perp help sweep", 0);
}

// Ranks of Open MPI, more of them than this machine has cores.
static void ranks_write_the_same_bytes(void **state)
{
    (void)state;
    expect("perp sweep @/s.json -o @/local -q", 0);
    if (run("command -v mpirun && ls \"$(dirname perp )/perp_mpi.so\"") != 0) {
        print_message("skipped: no mpirun, or built without MPI\n");
        skip();
    }
    for (int ranks = 2; ranks <= 4; ranks += 2) {
        char words[400];
        snprintf(words, sizeof words,
                 "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 100 mpirun "
                 "--oversubscribe -n %d perp sweep @/s.json -o @/ranks%d 2>&1",
                 ranks, ranks);
        expect(words, 0);
        expect_text("120 solved");
        snprintf(words, sizeof words,
                 "cmp @/local/sweep.csv @/ranks%d/sweep.csv && cmp @/local/sweep.h5 "
                 "@/ranks%d/sweep.h5",
                 ranks, ranks);
        expect(words, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engines_write_the_same_bytes),
        cmocka_unit_test(one_run_is_made_again),
        cmocka_unit_test(kills_lose_nothing),
        cmocka_unit_test(limits_end_runs),
        cmocka_unit_test(crashes_are_rows),
        cmocka_unit_test(interrupts_can_be_continued),
        cmocka_unit_test(mistakes_name_line_and_column),
        cmocka_unit_test(ranks_write_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
