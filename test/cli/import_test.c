// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp import: scene, report, options, exit codes; and the commands that read robots directly.
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/shell.h"

#include <jansson.h>

#define MODEL "fuzz/corpus/import/everything.xml"
#define ARM   "fuzz/corpus/import/arm.urdf"

static void says(const folder *f, const char *command, int code, const char *text)
{
    shell_says(f, PERP_CLI, command, code, text);
}

// The scene runs by itself, with the same result as the model.
static void scene_and_report(void **state)
{
    (void)state;
    folder f = folder_create();
    says(&f, "PERP import " MODEL " -o @/scene.json --report @/report.json", 0, "not used  looks");
    says(&f, "PERP info @/scene.json", 0, "Imported from everything.xml");
    says(&f, "PERP info " MODEL, 0, "Imported from everything.xml");
    says(&f, "PERP import " MODEL " -q", 0, "\"name\": \"everything\"");
    json_t *report = json_load_file(folder_at(&f, "report.json"), 0, NULL);
    assert_true(json_array_size(report) > 10);
    for (size_t k = 0; k < json_array_size(report); k++) {
        const json_t *note = json_array_get(report, k);
        assert_true(json_is_string(json_object_get(note, "kind")));
        assert_true(json_integer_value(json_object_get(note, "count")) > 0);
    }
    json_decref(report);
    folder_remove(&f);
}

static void starts(void **state)
{
    (void)state;
    folder f = folder_create();
    says(&f, "PERP import " MODEL " -o @/a.json", 0, "keyframe 'home' as the start");
    says(&f, "PERP import " MODEL " --key other -o @/b.json", 0, "keyframe 'other' as the start");
    says(&f, "PERP import " MODEL " --no-key -o @/c.json", 0, "not used  <size>");
    says(&f, "PERP import " MODEL " --key none", 2, "no keyframe 'none'");
    says(&f, "PERP import " ARM " -o @/d.json", 0, "fixed to the ground");
    says(&f, "PERP import " ARM " --free-base -q -o @/e.json", 0, "");
    says(&f, "PERP explain fuzz/corpus/import/pendulum.xml --coordinates joint", 0, "joint0");
    folder_remove(&f);
}

// Commands that read a robot directly say what its import did.
static void counted(void **state)
{
    (void)state;
    folder f = folder_create();
    says(&f, "PERP run " ARM " --until 0.01 --no-figures -o @/run", 0,
         "import      not used: 8, repaired: 8, assumed: 1; see report.json");
    says(&f, "PERP info " ARM, 0, "import      not used: 8, repaired: 8, assumed: 1; see 'perp");
    says(&f, "PERP import " ARM " -q -o @/arm.json; PERP info @/arm.json | grep -c '^import'; true",
         0, "0");
    folder_remove(&f);
}

static void mistakes(void **state)
{
    (void)state;
    folder f = folder_create();
    says(&f, "PERP import", 2, "missing file name");
    says(&f, "PERP import --help", 0, "perp import MODEL");
    says(&f, "PERP import @/nothing.xml", 2, "cannot open");
    says(&f, "PERP import scenes/pusher.json", 2, "not well-formed");
    says(&f,
         "echo '<mujoco><worldbody><body><joint axis=\"x\"/></body></worldbody></mujoco>' | PERP "
         "import -",
         2, "-:1:26: <joint>: axis=\"x\" must be 3 numbers");
    says(&f, "PERP import " MODEL " -o @/no/such/scene.json", 1, "cannot write");
    says(&f, "PERP import " MODEL " -q -o @/s.json --report @/no/report.json", 1, "cannot write");
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scene_and_report),
        cmocka_unit_test(starts),
        cmocka_unit_test(counted),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
