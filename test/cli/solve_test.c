// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The perp command as a user runs it: exit codes, messages, tables, JSON, CSV.
#include "support/cmocka.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char out[65536];  // stdout of the last command
static char scratch[256];

#define LCP "fuzz/corpus/ncx/lcp.ncx"
#define BOX "fuzz/corpus/ncx/box.ncx"
#define FC  "fuzz/corpus/ncx/fc.ncx"
#define GFC "fuzz/corpus/ncx/gfc.ncx"
#define BAD "test/data/broken/row-outside.ncx"

// Runs perp with the arguments, a shell's words; fills out; returns the exit code.
static int perp(const char *arguments)
{
    char command[2048];
    snprintf(command, sizeof command, "'%s' %s", PERP_CLI, arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t n = fread(out, 1, sizeof out - 1, pipe);
    out[n] = '\0';
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void expect(const char *arguments, int code)
{
    int found = perp(arguments);
    if (found != code) {
        print_error("perp %s: exit code %d, not %d\n%s\n", arguments, found, code, out);
        fail();
    }
}

static void expect_text(const char *text)
{
    if (!strstr(out, text)) {
        print_error("'%s' is not in:\n%s\n", text, out);
        fail();
    }
}

static void exit_codes(void **state)
{
    (void)state;
    expect("solve --solver lemke -q " LCP, 0);
    expect("solve --solver lemke -q " LCP " " BOX, 0);
    expect("solve --solver lemke -q test/data/unsolvable.ncx", 3);
    expect("solve --solver lemke -q " BAD " 2>/dev/null", 2);
    expect("solve --solver lemke -q " BAD " " LCP " test/data/unsolvable.ncx 2>/dev/null", 2);
    expect("solve --solver lemke --max-iterations 1 -q " LCP, 3);
    expect("solve --solver enum -q " FC, 3);  // refused
    expect("2>/dev/null", 2);
    expect("--version", 0);
    expect_text("perp 0.");
    expect("info", 0);
    expect_text("lemke");
    expect("help", 0);
    expect("help solve", 0);
    expect_text("--max-seconds");
    expect("solve --help", 0);
}

static void messages(void **state)
{
    (void)state;
    expect("solv 2>&1", 2);
    expect_text("perp: 'solv' is not a command: did you mean 'solve'?");
    expect("frobnicate 2>&1", 2);
    expect_text("perp: 'frobnicate' is not a command: see 'perp help'");
    expect("solve 2>&1", 2);
    expect_text("solve: missing file name");
    expect("solve --tol abc " LCP " 2>&1", 2);
    expect_text("--tol: 'abc' is not a number");
    expect("solve --tol -1 " LCP " 2>&1", 2);
    expect("solve --tol 0 " LCP " 2>&1", 2);
    expect("solve --tol nan " LCP " 2>&1", 2);
    expect("solve --tol 1e-6x " LCP " 2>&1", 2);
    expect("solve " LCP " --tol 2>&1", 2);
    expect_text("--tol: missing value");
    expect("solve --max-iterations 1.5 " LCP " 2>&1", 2);
    expect("solve --facets 2 " FC " 2>&1", 2);
    expect("solve --form disc " FC " 2>&1", 2);
    expect("solve --solver lemkee " LCP " 2>&1", 2);
    expect_text("did you mean 'lemke'?");
    expect("solve --jsno " LCP " 2>&1", 2);
    expect_text("did you mean '--json'?");
    expect("solve " BAD " 2>&1 >/dev/null", 2);
    expect_text(BAD ":10:1: matrix 'M': entry 3 has row 2, but the matrix has 2 rows (0..1)\n");
    expect("solve test/data 2>&1", 2);
    expect_text("test/data: is a directory: name the files in it\n");
    expect("solve no-such-file 2>&1", 2);
    expect_text("no-such-file: cannot open: No such file or directory\n");
    expect("solve " BAD " 2>/dev/null", 2);
    assert_string_equal(out, "");
}

static void blocks_and_tables(void **state)
{
    (void)state;
    expect("solve --solver lemke " LCP, 0);
    expect_text("name        two\nkind        lcp\nsize        2\nsolver      lemke\n"
                "status      solved\n");
    expect("solve --solver lemke " LCP " " BOX, 0);
    expect_text("name      kind        n contacts  solver status");
    expect_text("\nsolved 2 / 2\n");
    expect("solve --solver=lemke " LCP " test/data/unsolvable.ncx " BAD " 2>/dev/null", 2);
    expect_text("\nsolved 1 / 3, 1 unreadable\n");
    expect("solve --solver all " LCP, 0);
    expect_text("lemke 1 / 1");
    expect_text("\nsolved 1 / 1\n");
    expect("solve --solver lemke --form lcp " FC, 0);
    expect_text("kind        lcp\nsize        6 (1 contact)\n");
    expect("solve --solver lemke --facets 8 " FC, 0);
    expect("solve --solver lemke -q -- " LCP, 0);
    assert_string_equal(out, "");
    expect("solve --solver lemke - < " LCP, 0);
}

// ── JSON ─────────────────────────────────────────────────────────────────────────────────────────

static json_t *parse(void)
{
    json_error_t error;
    json_t *root = json_loads(out, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        print_error("%d:%d: %s in\n%s\n", error.line, error.column, error.text, out);
        fail();
    }
    return root;
}

static void expect_keys(const json_t *object)
{
    static const char *const keys[] = {
        "name",    "kind",       "n",        "contacts",       "solver",
        "status",  "iterations", "residual", "residual_fclib", "residual_scaled",
        "seconds", "reason",     "z",        "backward"};
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        assert_non_null(json_object_get(object, keys[k]));
    }
    assert_int_equal(json_object_size(object), sizeof keys / sizeof keys[0]);
}

static void json_of_one(void **state)
{
    (void)state;
    expect("solve --solver lemke --json " LCP, 0);
    json_t *root = parse();
    expect_keys(root);
    json_t *z = json_object_get(root, "z");
    assert_int_equal(json_array_size(z), 2);
    assert_true(fabs(json_number_value(json_array_get(z, 0)) - 4.0 / 3.0) < 1e-14);
    assert_true(fabs(json_number_value(json_array_get(z, 1)) - 7.0 / 3.0) < 1e-14);
    assert_string_equal(json_string_value(json_object_get(root, "status")), "solved");
    assert_true(json_is_null(json_object_get(root, "residual_fclib")));
    assert_true(json_number_value(json_object_get(root, "residual")) <= 1e-8);
    json_decref(root);
}

static void json_of_several(void **state)
{
    (void)state;
    expect("solve --solver ssn --json " LCP " " GFC " " BAD " 2>/dev/null", 2);
    json_t *root = parse();
    assert_int_equal(json_array_size(root), 3);
    for (size_t k = 0; k < 3; k++) {
        expect_keys(json_array_get(root, k));
    }
    json_t *contact = json_array_get(root, 1), *bad = json_array_get(root, 2);
    assert_int_equal(json_array_size(json_object_get(contact, "z")), 5);  // v then r
    assert_int_equal(json_integer_value(json_object_get(contact, "n")), 5);
    assert_int_equal(json_integer_value(json_object_get(contact, "contacts")), 1);
    assert_true(json_is_number(json_object_get(contact, "residual_fclib")));
    json_t *z = json_object_get(contact, "z");
    assert_true(fabs(json_number_value(json_array_get(z, 3)) - 9.81) <
                1e-6);  // r_n holds the weight
    assert_string_equal(json_string_value(json_object_get(bad, "status")), "error");
    json_decref(root);
}

// ── Files ────────────────────────────────────────────────────────────────────────────────────────

static void csv_of_z(void **state)
{
    (void)state;
    char arguments[512], line[256];
    snprintf(arguments, sizeof arguments, "solve --solver lemke -q -o %s %s", scratch, LCP);
    expect(arguments, 0);
    FILE *file = fopen(scratch, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_true(fabs(strtod(line, NULL) - 4.0 / 3.0) < 1e-14);
    assert_non_null(fgets(line, sizeof line, file));
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
    snprintf(arguments, sizeof arguments, "solve --solver lemke -q -o %s %s %s", scratch, LCP, BOX);
    expect(arguments, 0);
    file = fopen(scratch, "r");
    assert_non_null(fgets(line, sizeof line, file));
    assert_true(strncmp(line, "\"two\",\"lemke\",1.333", 19) == 0);
    assert_non_null(fgets(line, sizeof line, file));
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
}

static void output_that_cannot_be_written(void **state)
{
    (void)state;
    expect("solve --solver lemke -q -o /no/such/folder/z.csv " LCP " 2>&1", 2);
    expect_text("-o: cannot write '/no/such/folder/z.csv'");
    if (access("/dev/full", W_OK) == 0) {
        expect("solve --solver lemke " LCP " 2>&1 >/dev/full", 1);
        expect_text("cannot write the output: No space left on device");
        expect("solve --solver lemke -q -o /dev/full " LCP " 2>&1", 1);
    }
    expect("solve --solver lemke " LCP " " LCP " 2>/dev/null >&-", 1);
}

// A forgotten name after -o takes the first file for it.
static void input_is_not_overwritten(void **state)
{
    (void)state;
    expect("solve -o " LCP " " LCP " 2>&1", 2);
    expect_text("would be overwritten");
    expect("solve -q " LCP, 0);
}

// Names in JSON: bytes that are no UTF-8 are replaced, the others kept.
static void json_is_utf8_whatever_the_name(void **state)
{
    (void)state;
    FILE *file = fopen(scratch, "w");
    assert_non_null(file);
    fputs("\xef\xbb\xbfncx 1\nname \xc3\xa9\xff\xc0\x80\xe2\x8a\xa5\xed\xa0\x80\xf0\n"
          "kind lcp\nq 1 -1\nM 1 1 1\n0 0 1\nend\n",
          file);
    fclose(file);
    char arguments[512];
    snprintf(arguments, sizeof arguments, "solve --json %s", scratch);
    expect(arguments, 0);
    json_t *json = json_loads(out, 0, NULL);
    assert_non_null(json);
    const char *name = json_string_value(json_object_get(json, "name"));
    assert_non_null(name);
    assert_true(strncmp(name, "\xc3\xa9\xef\xbf\xbd", 5) == 0 && strstr(name, "\xe2\x8a\xa5"));
    json_decref(json);
}

// F as expressions: named values, counts of evaluations, and the places of mistakes.
static void nonlinear_problems(void **state)
{
    (void)state;
    expect("solve test/data/ncp/braess.json", 0);
    expect_text("kind        ncp\n");
    expect_text("solver      newton");
    expect_text(" evaluations of F, ");
    expect_text("u   92\n");
    expect("solve --json test/data/ncp/braess.json", 0);
    json_t *object = parse();
    assert_string_equal(json_string_value(json_object_get(object, "status")), "solved");
    assert_true(json_integer_value(json_object_get(object, "evaluations")) > 0);
    const json_t *names = json_object_get(object, "variables");
    assert_int_equal(json_array_size(names), 4);
    assert_string_equal(json_string_value(json_array_get(names, 3)), "u");
    double u = json_number_value(json_array_get(json_object_get(object, "z"), 3));
    assert_true(fabs(u - 92.0) < 1e-7);
    json_decref(object);
    // one solver is for it; those of linear problems refuse
    expect("solve --solver all test/data/ncp/braess.json", 0);
    expect_text("solved per solver: auto 1 / 1, newton 1 / 1");
    expect("solve --solver lemke -q test/data/ncp/braess.json", 3);
    expect("solve --solver newton -q " LCP, 3);
    expect("solve -q test/data/ncp/none-exp.json", 3);
    expect("solve --max-iterations 1 test/data/ncp/hs071.json", 3);
    expect_text("step limit");
    expect("solve test/data/broken/ncp-unknown-name.json 2>&1", 2);
    expect_text(
        "ncp-unknown-name.json:4:25: variable 'supply', 'F': unknown name 'prise': did you mean "
        "'price'?");
}

static int remove_scratch(void **state)
{
    (void)state;
    unlink(scratch);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_codes),
        cmocka_unit_test(messages),
        cmocka_unit_test(blocks_and_tables),
        cmocka_unit_test(json_of_one),
        cmocka_unit_test(json_of_several),
        cmocka_unit_test(csv_of_z),
        cmocka_unit_test(output_that_cannot_be_written),
        cmocka_unit_test(input_is_not_overwritten),
        cmocka_unit_test(json_is_utf8_whatever_the_name),
        cmocka_unit_test(nonlinear_problems),
    };
    const char *base = getenv("TMPDIR");
    snprintf(scratch, sizeof scratch, "%s/perp-cli-%ld.csv", base ? base : "/tmp", (long)getpid());
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
