// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp run, explain, info, check and compare as a user runs them.
#include "support/cmocka.h"
#include "support/folder.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char out[1 << 20];  // of the last command
static folder place;

#define S(name) "scenes/berard-4." name ".json"

// perp with a shell's words; @ stands for the scratch directory.
static int perp(const char *words)
{
    char command[4096];
    size_t n = (size_t)snprintf(command, sizeof command, "'%s' ", PERP_CLI);
    for (; *words && n < sizeof command - 300; words++) {
        if (*words == '@') {
            n += (size_t)snprintf(command + n, sizeof command - n, "%s", place.path);
        } else {
            command[n++] = *words;
        }
    }
    command[n] = '\0';
    return command_run(command, out, sizeof out);
}

static void expect(const char *words, int code)
{
    int found = perp(words);
    if (found != code) {
        fail_msg("perp %s: exit code %d, not %d\n%s", words, found, code, out);
    }
}

static void expect_text(const char *text)
{
    if (!strstr(out, text)) {
        fail_msg("'%s' is not in:\n%s", text, out);
    }
}

static json_t *parse(const char *text)
{
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        fail_msg("%d:%d: %s in\n%s", error.line, error.column, error.text, text);
    }
    return root;
}

static void expect_keys(const json_t *object, const char *const *keys, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (!json_object_get(object, keys[k])) {
            fail_msg("no '%s' in the object", keys[k]);
        }
    }
    assert_int_equal(json_object_size(object), count);
}
#define EXPECT_KEYS(object, keys) expect_keys(object, keys, sizeof(keys) / sizeof(keys)[0])

// ── run ──────────────────────────────────────────────────────────────────────────────────────────

static void run_leaves_files(void **state)
{
    (void)state;
    expect("run " S("3") " -o @/a 2>&1", 0);
    expect_text("scene       berard-4.3\nmethod      stewart-trinkle, form ");
    expect_text("certificate passed");
    static const char *const files[] = {"a/run.h5", "a/bodies.csv", "a/contacts.csv",
                                        "a/events.jsonl", "a/summary.json"};
    for (int k = 0; k < 5; k++) {
        assert_true(folder_has(&place, files[k]));
    }
    assert_true(folder_has(&place, "a/paths.svg") && folder_has(&place, "a/index.html"));
    expect("run " S("3") " -o @/a -q --no-figures", 0);  // replaced
    assert_string_equal(out, "");
    assert_false(folder_has(&place, "a/paths.svg") || folder_has(&place, "a/index.html"));
    expect("run " S("3") " -o @/half --until 0.5 --step 0.01 --every 5 --json", 0);
    json_t *root = parse(out);
    assert_int_equal(json_integer_value(json_object_get(root, "steps")), 50);
    assert_true(fabs(json_number_value(json_object_get(root, "t_end")) - 0.5) < 1e-12);
    json_decref(root);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    expect("scene heaps --heaps 9 --bodies 4 -o @/heaps.json", 0);
    expect("run @/heaps.json -o @/one --until 0.3 --no-figures --no-replay -q", 0);
    expect("run @/heaps.json -o @/two --until 0.3 --no-figures --no-replay --threads 2 --profile",
           0);
    expect_text("  islands ");
    expect("compare @/one @/two --tol 1e-30", 0);
}

static void run_summary_as_json(void **state)
{
    (void)state;
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
    static const char *const certificate[] = {
        "gap_m",    "residual_m_s", "cone_N_s", "joint_m", "momentum_N_s", "energy_created_J",
        "motion_m", "path_m",       "path",     "verdict"};
    static const char *const body[] = {"position", "rotation", "velocity", "spin"};
    expect("run " S("5") " -o @/a --json --form mcp --solver lemke --tol 1e-9", 0);
    json_t *root = parse(out);
    EXPECT_KEYS(root, keys);
    EXPECT_KEYS(json_object_get(root, "certificate"), certificate);
    EXPECT_KEYS(json_object_get(json_object_get(root, "final"), "rod B"), body);
    assert_string_equal(json_string_value(json_object_get(root, "form")), "mcp");
    assert_string_equal(json_string_value(json_object_get(root, "solver")), "lemke");
    char *file = text_of(folder_at(&place, "a/summary.json"));
    json_t *kept = parse(file);
    assert_true(json_equal(json_object_get(kept, "final"), json_object_get(root, "final")));
    assert_true(json_equal(json_object_get(kept, "hash"), json_object_get(root, "hash")));
    json_decref(kept);
    free(file);
    json_decref(root);
}

static void run_twice_is_the_same(void **state)
{
    (void)state;
    char hash[2][64];
    for (int k = 0; k < 2; k++) {
        expect("run " S("4") " -o @/same --json", 0);
        json_t *root = parse(out);
        snprintf(hash[k], sizeof hash[k], "%s", json_string_value(json_object_get(root, "hash")));
        json_decref(root);
    }
    assert_string_equal(hash[0], hash[1]);
}

static void run_exit_codes(void **state)
{
    (void)state;
    expect("run 2>&1", 2);
    expect_text("run: missing file name");
    expect("run no-such-scene.json 2>&1", 2);
    expect_text("no-such-scene.json: cannot open: No such file or directory\n");
    expect("run README.md 2>&1", 2);
    expect_text("README.md:1:");
    expect("run " S("1") " " S("2") " 2>&1", 2);
    expect_text("unexpected argument");
    expect("run " S("1") " --step 0 2>&1", 2);
    expect_text("--step: '0' is not a number > 0");
    expect("run " S("1") " --until soon 2>&1", 2);
    expect("run " S("1") " --every 0 2>&1", 2);
    expect("run " S("1") " --threads 0 2>&1", 2);
    expect("run " S("1") " --threads 257 2>&1", 2);
    expect_text("threads must be between 0 and 256");
    expect("run " S("1") " --max-iterations 0 2>&1", 2);
    expect("run " S("1") " --max-seconds soon 2>&1", 2);
    expect("run " S("1") " --stepper stewart-trinkel 2>&1", 2);
    expect_text("did you mean 'stewart-trinkle'?");
    expect("run " S("1") " --form round 2>&1", 2);
    expect_text("expected one of auto, mcp, lcp, cone");
    expect("run " S("1") " --solver lemk 2>&1", 2);
    expect_text("did you mean 'lemke'?");
    expect("run " S("1") " --stpe 0.1 2>&1", 2);
    expect_text("run: unknown option '--stpe': did you mean '--step'?");
    expect("run scenes/spring-damper.json -o @/coarse --step 0.5 -q", 4);  // energy is created
    expect("run scenes/spring-damper.json -o @/coarse --step 0.5", 4);
    expect_text("VIOLATED");
    expect("run --help", 0);
    expect_text("--stepper NAME");
}

// A wall, and a pusher that advances into it with a disc between them: no motion is possible.
static const char jam[] =
    "{\"name\": \"jam\", \"step\": 0.01, \"until\": 1,\n"
    " \"shapes\": [{\"name\": \"wall\", \"kind\": \"halfplane\", \"angle\": \"90 deg\"}],\n"
    " \"bodies\": [\n"
    "  {\"name\": \"ball\", \"position\": [-0.1, 0], \"mass\": 1, \"inertia\": 0.01,\n"
    "   \"shapes\": [{\"kind\": \"disc\", \"radius\": 0.1}]},\n"
    "  {\"name\": \"ram\", \"drive\": {\"x\": \"-0.35 + 0.5*t\", \"y\": 0},\n"
    "   \"shapes\": [{\"kind\": \"box\", \"size\": [0.2, 0.2]}]}]}\n";

static void a_jam_is_told(void **state)
{
    (void)state;
    FILE *file = fopen(folder_at(&place, "jam.json"), "w");
    assert_non_null(file);
    fputs(jam, file);
    fclose(file);
    expect("run @/jam.json -o @/jam 2>&1", 3);
    expect_text("jam: no velocity satisfies these together: ");
    expect_text("ball - ram");
    expect_text("perp: jam: step at t = ");
    expect_text("the problem of this step was written to '");
    assert_true(folder_has(&place, "jam/unsolved.json"));
    expect("solve -q @/jam/unsolved.json", 3);
    char *events = text_of(folder_at(&place, "jam/events.jsonl"));
    assert_non_null(strstr(events, "\"event\": \"jam\""));
    free(events);
    char *summary = text_of(folder_at(&place, "jam/summary.json"));
    assert_non_null(strstr(summary, "\"verdict\": \"unsolved\""));
    free(summary);
    expect("check @/jam", 0);  // what was done is fine
    expect_text("the run ended with an unsolved step");
}

// An arm swept against the side of a belt by a joint with any effort. %s: what turns it.
static const char sweep[] =
    "{\"name\": \"sweep\", \"step\": 0.005, \"until\": 1,\n"
    " \"shapes\": [{\"name\": \"belt\", \"kind\": \"box\", \"size\": [2, 0.4, 0.1],\n"
    "   \"position\": [0, 0.6, 0.3], \"mu\": 0.5, \"surface_velocity\": [0.3, 0, 0]}],\n"
    " \"bodies\": [\n"
    "  {\"name\": \"turret\", \"kind\": \"solid\", \"position\": [0, 0, 0.4],\n"
    "   \"shapes\": [{\"kind\": \"cylinder\", \"length\": 0.1, \"radius\": 0.06, "
    "\"density\": 1000}]},\n"
    "  {\"name\": \"rod\", \"kind\": \"solid\", \"position\": [0.35, 0, 0.45],\n"
    "   \"rotation\": {\"axis\": [0, 1, 0], \"angle\": \"90 deg\"},\n"
    "   \"shapes\": [{\"kind\": \"capsule\", \"length\": 0.6, \"radius\": 0.02, "
    "\"density\": 1000}]}],\n"
    " \"joints\": [\n"
    "  {\"name\": \"turn\", \"kind\": \"revolute\", \"b\": \"turret\", \"at\": [0, 0, 0.35],\n"
    "   \"axis\": [0, 0, 1]%s},\n"
    "  {\"name\": \"lift\", \"kind\": \"revolute\", \"a\": \"turret\", \"b\": \"rod\",\n"
    "   \"at\": [0, 0, 0.45], \"axis\": [0, 1, 0], \"lower\": \"-60 deg\",\n"
    "   \"upper\": \"60 deg\", \"stiffness\": 300, \"damping\": 15, \"rest\": \"13 deg\"}]%s}\n";

static void write_sweep(const char *joint, const char *rest)
{
    FILE *file = fopen(folder_at(&place, "sweep.json"), "w");
    assert_non_null(file);
    fprintf(file, sweep, joint, rest);
    fclose(file);
}

// The effort that the last error names.
static double named_effort(void)
{
    static const char words[] = ": limit its effort to ";
    const char *at = strstr(out, words);
    if (!at) {
        fail_msg("no effort in:\n%s", out);
        return 0.0;
    }
    char *end = NULL;
    double effort = strtod(at + strlen(words), &end);
    assert_int_equal(strncmp(end, " N m", 4), 0);
    return effort;
}

// The error names the drive, what it presses against, and the cure with its effort; the cure is one.
static void a_jammed_drive_is_named(void **state)
{
    (void)state;
    static const char *const steppers[] = {"stewart-trinkle", "anitescu-potra", "moreau-jean"};
    for (size_t k = 0; k < sizeof steppers / sizeof steppers[0]; k++) {
        char command[200];
        snprintf(command, sizeof command, "run @/sweep.json --no-recording --stepper %s 2>&1",
                 steppers[k]);
        write_sweep(", \"target\": \"pi/2*min(t, 1)\"", "");
        expect(command, 3);
        expect_text(
            "joint 'turn' drives 'rod' against 'belt' with any effort: limit its effort to ");
        expect_text(" N m, with a position actuator instead of its target");
        assert_true(named_effort() > 2.0 && named_effort() < 10.0);
        write_sweep(", \"rate\": \"pi/2\"", "");
        expect(command, 3);
        expect_text(
            "joint 'turn' drives 'rod' against 'belt' with any effort: limit its effort to ");
        expect_text(" N m by rate_effort");
    }
    // with the effort that was named both run to their end
    char rest[300];
    double effort = named_effort();
    snprintf(rest, sizeof rest, ", \"rate\": \"pi/2\", \"rate_effort\": %g", effort);
    write_sweep(rest, "");
    expect("run @/sweep.json --no-recording 2>&1", 0);
    snprintf(rest, sizeof rest,
             ", \"inputs\": [{\"name\": \"aim\", \"value\": \"pi/2*min(t, 1)\"}],\n"
             " \"actuators\": [{\"name\": \"servo\", \"kind\": \"position\", \"joint\": "
             "\"turn\", \"control\": \"aim\", \"kp\": 100, \"damping_ratio\": 1, "
             "\"effort\": %g}]",
             effort);
    write_sweep("", rest);
    expect("run @/sweep.json --no-recording 2>&1", 0);
}

static void output_that_cannot_be_written(void **state)
{
    (void)state;
    expect("run " S("1") " -o @/a/run.h5 2>&1", 1);
    expect_text("Not a directory");
    expect("run " S("1") " -o /dev/full 2>&1", 1);
    FILE *file = fopen(folder_at(&place, "limit.sh"), "w");
    assert_non_null(file);
    fprintf(file, "ulimit -f 200; '%s' run " S("3") " --until 20 -o '%s/limit'\n", PERP_CLI,
            place.path);
    fclose(file);
    char command[600];
    snprintf(command, sizeof command, "sh '%s/limit.sh' 2>&1", place.path);
    assert_int_equal(command_run(command, out, sizeof out), 1);
    expect_text("cannot write '");
    expect_text("File too large");
    expect_text("is incomplete");
    assert_false(folder_has(&place, "limit/summary.json"));
    expect("check @/limit", 0);
    expect_text("the recording is incomplete");
}

// Killed in the middle: the recording is there, marked, and passes.
static void killed_in_the_middle(void **state)
{
    (void)state;
    char command[900];
    snprintf(command, sizeof command,
             "'%s' run " S("3") " --until 1e6 -o '%s/killed' & pid=$!; sleep 1.2; kill -9 $pid; "
                                "wait $pid 2>/dev/null; true",
             PERP_CLI, place.path);
    assert_int_equal(command_run(command, out, sizeof out), 0);
    expect("check --json @/killed", 0);
    json_t *root = parse(out);
    assert_true(json_is_false(json_object_get(root, "complete")));
    assert_true(json_integer_value(json_object_get(root, "frames")) > 100);
    json_decref(root);
    assert_false(folder_has(&place, "killed/summary.json"));
    assert_true(folder_has(&place, "killed/bodies.csv.part"));
}

// Which files a run writes, and what is in them.
static void csv_files_are_chosen(void **state)
{
    (void)state;
    expect("run " S("3") " -o @/csv0 --until 0.3 --step 0.1 --csv none --no-figures --no-replay",
           0);
    assert_true(folder_has(&place, "csv0/run.h5") && folder_has(&place, "csv0/events.jsonl"));
    assert_false(folder_has(&place, "csv0/bodies.csv") || folder_has(&place, "csv0/contacts.csv"));
    expect("check @/csv0", 0);
    expect("run " S("3") " -o @/csv1 --until 0.3 --step 0.1 --csv bodies,joints --no-figures "
                         "--no-replay",
           0);
    assert_non_null(strstr(out, "  stepping "));
    assert_non_null(strstr(out, "certifying "));
    assert_true(folder_has(&place, "csv1/bodies.csv"));
    assert_false(folder_has(&place, "csv1/contacts.csv"));
    // times are those that people write
    char *bodies = text_of(folder_at(&place, "csv1/bodies.csv"));
    assert_non_null(strstr(bodies, "\n0.3,"));
    assert_null(strstr(bodies, "0.30000000000000004"));
    free(bodies);
    expect("run " S("3") " -o @/csv2 --csv body 2>&1", 2);
    assert_non_null(strstr(out, "--csv: unknown file 'body'"));
}

static void runs_without_a_recording(void **state)
{
    (void)state;
    expect("run " S("3") " -o @/nothing --until 0.3 --no-recording", 0);
    assert_non_null(strstr(out, "recording   none"));
    assert_non_null(strstr(out, "certificate passed"));
    assert_false(folder_has(&place, "nothing"));
    expect("run " S("3") " --until 0.3 --no-recording --json", 0);
    json_t *root = parse(out);
    assert_true(json_integer_value(json_object_get(root, "steps")) > 10);
    const json_t *seconds = json_object_get(root, "seconds");
    assert_true(json_number_value(json_object_get(seconds, "stepping")) > 0.0);
    assert_true(json_number_value(json_object_get(seconds, "certifying")) > 0.0);
    json_decref(root);
}

// Contacts and events have forces, and in space three components.
static void events_in_space_have_three_components(void **state)
{
    (void)state;
    expect("scene slide -o @/slide.json", 0);
    expect("run @/slide.json -o @/ball --no-figures --no-replay -q", 0);
    char *events = text_of(folder_at(&place, "ball/events.jsonl"));
    char *line = strstr(events, "\"event\": \"impact\"");
    assert_non_null(line);
    while (line > events && line[-1] != '\n') {
        line--;
    }
    *strchr(line, '\n') = '\0';
    json_t *root = parse(line);
    static const char *const vectors[] = {"point", "normal", "pf"};
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        assert_int_equal(json_array_size(json_object_get(root, vectors[k])), 3);
    }
    double pn = json_number_value(json_object_get(root, "pn"));
    double force = json_number_value(json_object_get(root, "force_normal"));
    assert_true(pn > 0.0 && force > pn);
    json_decref(root);
    free(events);
}

// Interrupted: the recording ends there, whole.
static void interrupted(void **state)
{
    (void)state;
    char command[900];
    snprintf(command, sizeof command,
             "'%s' run " S("3") " --until 1e6 -o '%s/int' 2>/dev/null & pid=$!; sleep 0.5; "
                                "kill -TERM $pid; wait $pid",
             PERP_CLI, place.path);
    assert_int_equal(command_run(command, out, sizeof out), 130);
    assert_true(folder_has(&place, "int/summary.json"));
    expect("check @/int", 0);
    assert_null(strstr(out, "incomplete"));
}

// ── explain, info ────────────────────────────────────────────────────────────────────────────────

static const int sizes[6] = {10, 15, 21, 25, 25, 22};

static int rows_of(const json_t *root, const char *key)
{
    return (int)json_array_size(json_object_get(root, key));
}

// w = A z + b by hand, from the JSON alone.
static void expect_balance(const json_t *root)
{
    const json_t *A = json_object_get(root, "A"), *b = json_object_get(root, "b");
    const json_t *z = json_object_get(root, "z"), *w = json_object_get(root, "w");
    for (size_t i = 0; i < json_array_size(A); i++) {
        double sum = json_number_value(json_array_get(b, i));
        for (size_t j = 0; j < json_array_size(A); j++) {
            sum += json_number_value(json_array_get(json_array_get(A, i), j)) *
                   json_number_value(json_array_get(z, j));
        }
        assert_true(fabs(sum - json_number_value(json_array_get(w, i))) < 1e-12);
    }
}

static void explain_has_berards_sizes(void **state)
{
    (void)state;
    static const char *const keys[] = {"form", "size",   "blocks",   "M",    "W_b", "W_n",
                                       "W_f",  "U",      "E",        "A",    "b",   "z",
                                       "w",    "motion", "impulses", "names"};
    static const char *const blocks[] = {"nu", "p_b", "p_n", "p_f", "sigma"};
    for (int k = 0; k < 6; k++) {
        char words[128];
        snprintf(words, sizeof words, "explain --json --at 0.1 scenes/berard-4.%d.json", k + 1);
        expect(words, 0);
        json_t *root = parse(out), *sum = json_object_get(root, "blocks");
        EXPECT_KEYS(root, keys);
        EXPECT_KEYS(sum, blocks);
        assert_int_equal(json_integer_value(json_object_get(root, "size")), sizes[k]);
        assert_int_equal(rows_of(root, "A"), sizes[k]);
        assert_int_equal(rows_of(root, "names"), sizes[k]);
        int total = 0;
        for (int i = 0; i < 5; i++) {
            total += (int)json_integer_value(json_object_get(sum, blocks[i]));
        }
        assert_int_equal(total, sizes[k]);
        assert_int_equal(rows_of(root, "M"), json_integer_value(json_object_get(sum, "nu")));
        expect_balance(root);
        json_decref(root);
    }
    expect("explain --json --form lcp " S("4"), 0);
    json_t *root = parse(out);
    assert_int_equal(json_integer_value(json_object_get(root, "size")), 12);
    assert_int_equal(rows_of(root, "M"), 9);
    expect_balance(root);
    json_decref(root);
    expect("explain --form lcp " S("1"), 0);  // nothing unilateral: size 0
    expect_text("form lcp, size 0");
}

static double entry(const json_t *root, const char *key, int i, int k)
{
    const json_t *row = json_array_get(json_object_get(root, key), (size_t)i);
    return json_number_value(k < 0 ? row : json_array_get(row, (size_t)k));
}

// H q'' + C = B u + J' lambda and J q'' + Jdot q' = 0 by hand, from the JSON alone.
static void explain_in_joint_coordinates(void **state)
{
    (void)state;
    expect("explain --coordinates joint --json --at 0.1 scenes/four-bar.json", 0);
    json_t *root = parse(out);
    int nv = rows_of(root, "H"), rows = rows_of(root, "J");
    assert_true(nv == 3 && rows == 2 && rows_of(root, "names") == nv);
    for (int i = 0; i < nv; i++) {
        double sum = entry(root, "C", i, -1) - entry(root, "Bu", i, -1);
        for (int k = 0; k < nv; k++) {
            sum += entry(root, "H", i, k) * entry(root, "qdd", k, -1);
        }
        for (int k = 0; k < rows; k++) {
            sum -= entry(root, "J", k, i) * entry(root, "lambda", k, -1);
        }
        assert_true(fabs(sum) < 1e-12);
    }
    for (int k = 0; k < rows; k++) {
        double sum = entry(root, "Jdot_qd", k, -1);
        for (int i = 0; i < nv; i++) {
            sum += entry(root, "J", k, i) * entry(root, "qdd", i, -1);
        }
        assert_true(fabs(sum) < 1e-12);
    }
    json_decref(root);
    expect("explain --coordinates joint " S("3"), 0);
    expect_text("H q'' + C = B u + J^T lambda at t = 0 s");
    expect("explain --coordinates joint --latex " S("3"), 2);
}

static void explain_as_text_and_latex(void **state)
{
    (void)state;
    expect("explain " S("3"), 0);
    expect_text("berard-4.3: step from t = 0 s to 0.002 s, form mcp, size 21\n");
    expect_text("\nM  9 x 9 [kg, kg m^2]  mass matrix\n");
    expect_text("left corner.n");
    expect("explain --latex " S("5"), 0);
    expect_text("\\begin{document}");
    expect_text("\\end{document}");
    if (system("pdflatex --version >/dev/null 2>&1") == 0) {
        char command[900];
        expect("explain --latex " S("5") " >@/x.tex", 0);
        snprintf(command, sizeof command,
                 "cd '%s' && pdflatex -interaction=nonstopmode -halt-on-error x.tex", place.path);
        if (command_run(command, out, sizeof out) != 0) {
            fail_msg("%s", out);
        }
    }
    expect("explain --json --latex " S("5") " 2>&1", 2);
    expect("explain --form cone " S("5") " 2>&1", 2);
}

static void info_of_a_scene(void **state)
{
    (void)state;
    expect("info " S("6"), 0);
    expect_text("freedom     8 velocities - 2 joint equations");
    expect_text("particle");
    expect("info --json " S("1"), 0);
    json_t *root = parse(out);
    assert_int_equal(json_integer_value(json_object_get(root, "freedom")), 2);
    json_decref(root);
    expect("info scenes/nothing.json 2>&1", 2);
}

// ── check, compare ───────────────────────────────────────────────────────────────────────────────

static void check_verdicts(void **state)
{
    (void)state;
    expect("run " S("3") " -o @/good -q", 0);
    expect("check @/good", 0);
    expect_text("verdict     passed\n");
    expect("check @/good/run.h5 -q", 0);
    assert_string_equal(out, "");
    expect("run scenes/spring-damper.json -o @/coarse --step 0.5 -q", 4);
    expect("check --json @/coarse", 4);
    json_t *root = parse(out);
    assert_string_equal(json_string_value(json_object_get(root, "verdict")), "violated");
    json_decref(root);
    expect("check @ 2>&1", 2);
    expect_text("contains no recording (run.h5)");
    expect("check 2>&1", 2);
}

static void compare_runs(void **state)
{
    (void)state;
    expect("run " S("3") " -o @/mcp --form mcp -q", 0);
    expect("run " S("3") " -o @/lcp --form lcp -q", 0);
    expect("compare --tol 1e-9 @/mcp @/lcp", 0);
    expect_text("the runs agree within 1e-09 in 501 frames\n");
    expect("run " S("3") " -o @/fine --step 0.001 -q", 0);
    expect("compare @/mcp @/fine", 0);
    expect_text("the runs diverge at t = ");
    expect("compare --json --tol 1e-9 @/mcp @/fine", 4);
    json_t *root = parse(out);
    assert_true(json_is_false(json_object_get(root, "agree")));
    assert_int_equal(json_integer_value(json_object_get(root, "moments")), 501);
    assert_int_equal(json_object_size(json_object_get(root, "bodies")), 3);
    json_decref(root);
    expect("compare @/mcp 2>&1", 2);
    expect("compare @/mcp @/nothing 2>&1", 2);
}

// Where the time went: every stage, and what the solver did.
static void profile_tells_stages(void **state)
{
    (void)state;
    expect("scene stack3 -o @/stack3.json", 0);
    expect("run @/stack3.json -o @/profile --until 0.05 --no-figures --no-replay --profile", 0);
    static const char *const lines[] = {"profile",
                                        "gaps",
                                        "solve",
                                        "sweeps",
                                        "first-order solvers",
                                        "factoring and solving",
                                        "judge",
                                        "spread",
                                        "certify",
                                        "nonzeros in the largest factors, computed in ",
                                        "factorisations",
                                        "fill",
                                        "80.0 % warm-started"};
    for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++) {
        expect_text(lines[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_leaves_files),
        cmocka_unit_test(profile_tells_stages),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(run_summary_as_json),
        cmocka_unit_test(run_twice_is_the_same),
        cmocka_unit_test(run_exit_codes),
        cmocka_unit_test(a_jam_is_told),
        cmocka_unit_test(a_jammed_drive_is_named),
        cmocka_unit_test(output_that_cannot_be_written),
        cmocka_unit_test(killed_in_the_middle),
        cmocka_unit_test(csv_files_are_chosen),
        cmocka_unit_test(runs_without_a_recording),
        cmocka_unit_test(events_in_space_have_three_components),
        cmocka_unit_test(interrupted),
        cmocka_unit_test(explain_has_berards_sizes),
        cmocka_unit_test(explain_in_joint_coordinates),
        cmocka_unit_test(explain_as_text_and_latex),
        cmocka_unit_test(info_of_a_scene),
        cmocka_unit_test(check_verdicts),
        cmocka_unit_test(compare_runs),
    };
    place = folder_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    folder_remove(&place);
    return failed;
}
