// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Recordings that end badly: unfinished, killed, on a full disk, damaged, without memory.
#include "support/child.h"
#include "support/cmocka.h"
#include "support/fault.h"
#include "support/folder.h"
#include "support/recorded.h"

#include <hdf5.h>
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

// ── Ends that are none ───────────────────────────────────────────────────────────────────────────

static void unfinished_is_marked(void **state)
{
    (void)state;
    folder f = folder_create();
    plane p = {0};
    recorded_build(&p);
    perp_record *record = recorded_begin(&p, f.path, 1);
    recorded_steps(&p, record, 50);
    perp_record_destroy(record);
    assert_true(folder_has(&f, "bodies.csv.part"));
    assert_false(folder_has(&f, "bodies.csv"));
    assert_false(folder_has(&f, "summary.json"));
    perp_recording *recording = recorded_open(f.path);
    assert_false(perp_recording_about(recording)->complete);
    assert_int_equal(perp_recording_about(recording)->frames, 51);
    perp_recording_close(recording);

    record = recorded_begin(&p, f.path, 1);  // replaced
    recorded_steps(&p, record, 10);
    recorded_finish(&p, record);
    assert_false(folder_has(&f, "bodies.csv.part"));
    assert_true(folder_has(&f, "summary.json"));
    recording = recorded_open(f.path);
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
    recorded_build(&p);
    pid_t child = fork();
    if (child == 0) {
        perp_record_def def = perp_record_default();
        perp_record *record = NULL;
        def.h = RECORDED_H;
        def.flush_seconds = 0.01;
        if (perp_record_create(f.path, p.sim, &def, NULL, &record, NULL) < 0) {
            _exit(1);
        }
        while (perp_sim_step(p.sim, RECORDED_H) >= 0 && perp_record_step(record, p.sim) >= 0) {
            continue;
        }
        _exit(1);
    }
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));

    perp_recording *recording = recorded_open(f.path);
    const perp_recording_info *info = perp_recording_about(recording);
    assert_false(info->complete);
    assert_true(info->frames > 10);
    for (int k = 0; k < info->frames; k++) {
        perp_snapshot frame = recorded_frame(recording, k);
        if (k < 200) {
            recorded_same(&frame, p.sim, p.model);
            plane_step(&p, RECORDED_H);
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
        recorded_build(&p);
        pid_t child = fork();
        if (child == 0) {
            perp_record_def def = perp_record_default();
            perp_record *record = NULL;
            perp_error error = {0};
            struct rlimit limit = {1024 * (rlim_t)kilobytes, 1024 * (rlim_t)kilobytes};
            signal(SIGXFSZ, SIG_IGN);
            setrlimit(RLIMIT_FSIZE, &limit);
            def.h = RECORDED_H;
            def.flush_seconds = 0.0;
            perp_status made = perp_record_create(f.path, p.sim, &def, NULL, &record, &error);
            while (made >= 0 && perp_sim_step(p.sim, RECORDED_H) >= 0 &&
                   perp_record_step(record, p.sim) >= 0) {
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
            perp_recording *recording = recorded_open(f.path);
            assert_false(perp_recording_about(recording)->complete);
            for (int k = 0; k < perp_recording_about(recording)->frames; k++) {
                assert_int_equal(recorded_frame(recording, k).step, k);
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
    def.h = RECORDED_H;
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
    recorded_build(&p);
    FILE *file = fopen(folder_at(&f, "mine.txt"), "w");
    assert_non_null(file);
    fclose(file);
    refuse(&p, f.path, "contains files but no recording");
    assert_true(folder_has(&f, "mine.txt"));
    refuse(&p, folder_at(&f, "mine.txt"), "Not a directory");
    refuse(&p, folder_at(&f, "mine.txt/below"), "cannot create the directory");
    if (geteuid() != 0) {
        mkdir(folder_at(&f, "locked"), 0500);
        refuse(&p, folder_at(&f, "locked"), "Permission denied");
    }
    perp_record *record = recorded_begin(&p, folder_at(&f, "a/b/c"), 1);  // made, with its parents
    recorded_finish(&p, record);
    assert_true(folder_has(&f, "a/b/c/run.h5"));
    plane_close(&p);
    folder_remove(&f);
}

// Two records to one directory, in one process: the second is refused until the first is destroyed.
static void one_record_a_directory(void **state)
{
    (void)state;
    folder f = folder_create();
    plane p = {0};
    recorded_build(&p);
    perp_record *record = recorded_begin(&p, folder_at(&f, "a"), 1);
    refuse(&p, folder_at(&f, "a"), "is writing to the directory");
    plane_step(&p, RECORDED_H);
    assert_int_equal(perp_record_step(record, p.sim), PERP_OK);
    assert_int_equal(perp_record_finish(record, p.sim), PERP_OK);
    refuse(&p, folder_at(&f, "a"), "is writing to the directory");
    assert_int_equal(rename(folder_at(&f, "a"), folder_at(&f, "b")), 0);  // as perp view saves
    perp_record_destroy(record);
    assert_false(folder_has(&f, "b/run.lock"));
    perp_recording *recording = recorded_open(folder_at(&f, "b"));
    assert_int_equal(perp_recording_about(recording)->frames, 2);
    perp_recording_close(recording);
    record = recorded_begin(&p, folder_at(&f, "b"), 1);
    recorded_finish(&p, record);
    plane_close(&p);
    folder_remove(&f);
}

static void what_is_no_recording(void **state)
{
    (void)state;
    folder f = folder_create();
    perp_recording *recording = NULL;
    perp_error error = {0};
    assert_int_equal(mkfifo(folder_at(&f, "pipe"), 0600), 0);
    alarm(20);
    assert_int_equal(perp_recording_open(folder_at(&f, "pipe"), NULL, &recording, &error),
                     PERP_ERR_IO);
    assert_non_null(strstr(error.text, "is a device or a pipe"));
    alarm(0);
    unlink(folder_at(&f, "pipe"));
    assert_int_equal(perp_recording_open("no/such/place", NULL, &recording, &error), PERP_ERR_IO);
    assert_int_equal(perp_recording_open(f.path, NULL, &recording, &error), PERP_ERR_IO);
    assert_non_null(strstr(error.text, "contains no recording (run.h5)"));
    const char *other = folder_at(&f, "other.h5");
    H5Fclose(H5Fcreate(other, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    assert_int_equal(perp_recording_open(other, NULL, &recording, &error), PERP_ERR_FORMAT);
    assert_non_null(strstr(error.text, "is not a perp recording"));
    assert_int_equal(perp_recording_open("README.md", NULL, &recording, &error), PERP_ERR_FORMAT);
    assert_null(recording);
    folder_remove(&f);
}

static void read_all(const char *path)
{
    perp_recording *recording = NULL;
    if (perp_recording_open(path, NULL, &recording, NULL) >= 0) {
        perp_snapshot frame;
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
    recorded_build(&p);
    perp_record *record = recorded_begin(&p, f.path, 1);
    recorded_steps(&p, record, 40);
    recorded_finish(&p, record);
    plane_close(&p);
    pid_t child = fork();
    if (child == 0) {
        spoil_and_read(&f);
        child_exit(0);
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
    recorded_build(&p);
    perp_record_def def = perp_record_default();
    perp_record *record = NULL;
    perp_recording *recording = NULL;
    def.h = RECORDED_H;
    perp_status status = perp_record_create(f->path, p.sim, &def, env, &record, NULL);
    for (int k = 0; k < 40 && status >= 0; k++) {
        plane_step(&p, RECORDED_H);
        status = perp_record_step(record, p.sim);
    }
    if (status >= 0) {
        status = perp_record_finish(record, p.sim);
    }
    perp_record_destroy(record);
    if (status >= 0) {
        status = perp_recording_open(f->path, env, &recording, NULL);
    }
    perp_snapshot frame;
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
        cmocka_unit_test(unfinished_is_marked),
        cmocka_unit_test(killed_stays_readable),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(directories_that_will_not_do),
        cmocka_unit_test(one_record_a_directory),
        cmocka_unit_test(what_is_no_recording),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(memory_that_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
