// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What users do that nobody meant: odd names, odd numbers, odd starts.
#include "support/cmocka.h"
#include "support/shell.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static folder place;

static const char *says(const char *command, int code, const char *text)
{
    return shell_says(&place, PERP_CLI, command, code, text);
}

// Names that JSON, CSV, XML, LaTeX, the shell and printf each read in their own way.
static const char names[] =
    "{\"name\": \"-\\u4f60 <&> \\\"%s\\\" _^$#{}~\\\\ \\u00fc\", \"step\": 0.01, \"until\": 0.05,\n"
    " \"shapes\": [{\"name\": \"fl,oor\", \"kind\": \"halfplane\"}],\n"
    " \"bodies\": [{\"name\": \"\\u03b8 \\\"q\\\", %n\", \"position\": [0, 0.5],\n"
    "  \"shapes\": [{\"name\": \"a/b\", \"kind\": \"box\", \"size\": [1, 1], \"density\": 1}]}],\n"
    " \"joints\": [{\"name\": \"100 % & more_\", \"kind\": \"angle\", \"b\": \"\\u03b8 \\\"q\\\", "
    "%n\"}]}\n";

static void odd_names(void **state)
{
    (void)state;
    shell_file(&place, "names.json", names);
    says("cd @ && PERP run names.json -q && ls", 0, "_\xe4\xbd\xa0 <&>");  // no option
    says("PERP run @/names.json -o '@/d i r' --json", 0, NULL);
    json_t *root = json_load_file(folder_at(&place, "d i r/summary.json"), 0, NULL);
    assert_non_null(root);
    assert_non_null(json_object_get(json_object_get(root, "final"), "\xce\xb8 \"q\", %n"));
    json_decref(root);
    says("PERP check '@/d i r' && PERP plot '@/d i r'", 0, "passed");
    says("PERP compare '@/d i r' '@/d i r' --tol 0", 0, "agree");
    says("cat '@/d i r/bodies.csv'", 0, "\"\xce\xb8 \"\"q\"\", %n\"");
    says("PERP explain --latex @/names.json >@/names.tex", 0, NULL);
    says("cat @/names.tex", 0, "U+03B8");
    says("command -v pdflatex >/dev/null || exit 0; cd @ && "
         "pdflatex -interaction=nonstopmode -halt-on-error names.tex",
         0, NULL);
    says("PERP run scenes/berard-4.3.json -o a/b -o \"@/$(printf '%0300d' 0)\"", 1,
         "File name too long");
}

static void odd_numbers(void **state)
{
    (void)state;
    says("PERP explain scenes/berard-4.3.json --at 1e300", 2, "too many steps");
    says("PERP explain scenes/berard-4.3.json --loads --at 0.5", 0, "rank");
    says("PERP explain scenes/trinkle-box.json --loads --json --at 1", 0, "\"loads\": [");
    says("PERP explain scenes/berard-4.3.json --loads --latex", 2,
         "--loads and --latex cannot be combined");
    says("PERP run scenes/tedrake-skate.json --stepper event -o @/skate", 0, "passed");
    says("PERP run scenes/berard-4.3.json --until 1e300", 2, "too many steps");
    says("PERP run scenes/berard-4.3.json --step 1e-300", 2, "too many steps");
    says("PERP run scenes/berard-4.3.json --step nan", 2, "is not a number");
    shell_file(&place, "late.json",
               "{\"bodies\": [{\"kind\": \"particle\", \"mass\": 1}], \"keyframes\": "
               "[{\"name\": \"late\", \"time\": 2}]}\n");
    says("PERP run @/late.json --keyframe late -o @/late", 2,
         "the keyframe starts at t = 2 s, and the run ends at 1 s");
    says("PERP run @/late.json --keyframe late --until 2.01 -o @/late", 0, "steps       10 of");
    says("PERP run scenes/pendulum.json --step 1e9 -o @/long", 4, "steps       1 of 1e+09 s");
    says("PERP help run away", 2, "unexpected argument 'away'");
}

static void scenes_through_pipes(void **state)
{
    (void)state;
    says("PERP run - -q -o @/in <scenes/berard-4.3.json", 0, NULL);
    says("cat scenes/berard-4.3.json | PERP run - -q -o @/piped", 0, NULL);
    says("PERP compare @/in @/piped --tol 0", 0, "agree");
    says("PERP run - </dev/null", 2, "the scene is empty");
    shell_file(&place, "mark.json", "\xef\xbb\xbf{\"name\": \"marked\", \"step\": 0}");
    says("PERP info @/mark.json", 2, "mark.json:1:");  // the mark is no error, the step is
    says("PERP info @/mark.json", 2, "'step'");
}

static void starts_that_nobody_meant(void **state)
{
    (void)state;
    shell_file(
        &place, "deep.json",
        "{\"step\": 0.01, \"until\": 0.02, \"gravity\": [0, 0], \"bodies\": [\n"
        " {\"name\": \"a\", \"shapes\": [{\"kind\": \"disc\", \"radius\": 1, \"density\": 1}]},\n"
        " {\"name\": \"b\", \"position\": [1.5, 0],\n"
        "  \"shapes\": [{\"kind\": \"disc\", \"radius\": 1, \"density\": 1}]}]}\n");
    says("PERP run @/deep.json -o @/deep", 0, "overlapped by 0.5 m");
    shell_file(&place, "open.json",
               "{\"step\": 0.01, \"until\": 0.02, \"bodies\": [{\"name\": \"a\", \"mass\": 1, "
               "\"inertia\": 1}],\n"
               " \"joints\": [{\"name\": \"rod\", \"kind\": \"distance\", \"b\": \"a\", "
               "\"length\": 2}]}\n");
    says("PERP run @/open.json -o @/open --until 0.01", 0, "joint 'rod' was off by 2");
    assert_string_equal(says("PERP run @/deep.json -q -o @/deep", 0, NULL), "");
}

// One that ended early is not said to agree without a word.
static void runs_of_different_lengths(void **state)
{
    (void)state;
    says("PERP run scenes/berard-4.3.json -q -o @/all --until 0.2", 0, NULL);
    says("PERP run scenes/berard-4.3.json -q -o @/half --until 0.1", 0, NULL);
    says("PERP compare @/half @/all", 0, "one run ends at t = 0.1 s, the other at 0.2 s");
    says("PERP compare @/all @/half", 0, "one run ends at t = 0.1 s, the other at 0.2 s");
    assert_null(strstr(says("PERP compare @/all @/all", 0, NULL), "one run ends"));
}

// Two runs that differ in z, or in a turn about x, only.
static void space_is_compared_whole(void **state)
{
    (void)state;
    static const char *const scenes[3] = {
        "{\"step\": 0.01, \"until\": 0.1, \"bodies\": [{\"name\": \"a\", \"kind\": \"solid\", "
        "\"mass\": 1, \"inertia\": [1, 1, 1]}]}",
        "{\"step\": 0.01, \"until\": 0.1, \"gravity\": [0, 0, -9.8], \"bodies\": [{\"name\": "
        "\"a\", "
        "\"kind\": \"solid\", \"mass\": 1, \"inertia\": [1, 1, 1]}]}",
        "{\"step\": 0.01, \"until\": 0.1, \"bodies\": [{\"name\": \"a\", \"kind\": \"solid\", "
        "\"mass\": 1, \"inertia\": [1, 1, 1], \"spin\": [0.001, 0, 0]}]}"};
    static const char *const files[3] = {"plain.json", "light.json", "turning.json"};
    for (int k = 0; k < 3; k++) {
        shell_file(&place, files[k], scenes[k]);
    }
    says("for s in plain light turning; do PERP run @/$s.json -q -o @/$s; done", 0, NULL);
    says("PERP compare @/plain @/light --tol 1e-6", 4, "'a' differs");
    says("PERP compare @/plain @/turning --tol 1e-6", 4, "1.000e-04");  // rad, after 0.1 s
    says("PERP compare @/plain @/plain --tol 0", 0, "agree");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_names),
        cmocka_unit_test(odd_numbers),
        cmocka_unit_test(scenes_through_pipes),
        cmocka_unit_test(starts_that_nobody_meant),
        cmocka_unit_test(runs_of_different_lengths),
        cmocka_unit_test(space_is_compared_whole),
    };
    place = folder_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    folder_remove(&place);
    return failed;
}
