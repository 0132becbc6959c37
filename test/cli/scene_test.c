// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp scene: every scene it lists can be made, read back and stepped; mistakes are named.
#include "support/cmocka.h"
#include "support/folder.h"

#include <perp/scene.h>

#include <stdio.h>
#include <string.h>

static char out[1 << 18];  // stdout and stderr of the last command

static int perp(const char *arguments)
{
    char command[2048];
    snprintf(command, sizeof command, "{ '%s' %s; } 2>&1", PERP_CLI, arguments);
    return command_run(command, out, sizeof out);
}

static void says(const char *arguments, int code, const char *text)
{
    int found = perp(arguments);
    if (found != code || !strstr(out, text)) {
        fail_msg("perp %s: exit code %d, not %d, or no '%s' in:\n%s", arguments, found, code, text,
                 out);
    }
}

static void lists_what_it_makes(void **state)
{
    (void)state;
    says("scene", 0, "arch ");
    for (int i = 0; i < perp_generator_count(); i++) {
        assert_non_null(strstr(out, perp_generator_at(i)->summary));
    }
    says("scene --help", 0, "perp scene NAME");
    says("help scene", 0, "perp scene NAME");
}

// Values that are set reach the recording, which is checked on its own.
static void parameters_can_be_set(void **state)
{
    (void)state;
    char command[1024];
    folder f = folder_create();
    snprintf(command, sizeof command,
             "run scenes/dominoes.json --set n=3 --set 'height=60 mm' --until 0.02 -o '%s/d' && "
             "'%s' check '%s/d'",
             f.path, PERP_CLI, f.path);
    says(command, 0, "passed");
    says("info scenes/dominoes.json --set=n=2", 0, "2 bodies");
    says("info scenes/dominoes.json --set=n=2", 0,
         "parameters  n = 2\n            height = 0.048\n");
    says("info scenes/dominoes.json --json --set=n=2", 0, "\"parameters\": {\"n\": 2, ");
    says("explain scenes/slope.json --set 'tilt=5 deg'", 0, "block");
    says("info scenes/dominoes.json --set m=2", 2,
         "the scene has no parameter 'm'; it has n, height, width, apart, push");
    says("info scenes/dominoes.json --set n", 2, "--set: 'n' is not of the form name=value");
    says("info scenes/dominoes.json --set =3", 2, "is not of the form name=value");
    says("info scenes/dominoes.json --set 'n=2 +'", 2, "dominoes.json:5:");
    says("complete run --s", 0, "--set");
    folder_remove(&f);
}

static void runs_what_it_makes(void **state)
{
    (void)state;
    char command[1024];
    folder f = folder_create();
    for (int i = 0; i < perp_generator_count(); i++) {
        const char *name = perp_generator_at(i)->name;
        snprintf(command, sizeof command,
                 "scene %s | '%s' run - --until 0.02 -o '%s/%s' && '%s' check '%s/%s'", name,
                 PERP_CLI, f.path, name, PERP_CLI, f.path, name);
        says(command, 0, "passed");
    }
    snprintf(command, sizeof command, "scene stack --boxes 3 -o '%s/s.json'", f.path);
    says(command, 0, "");
    snprintf(command, sizeof command, "info '%s/s.json'", f.path);
    says(command, 0, "stack");
    folder_remove(&f);
}

static void names_mistakes(void **state)
{
    (void)state;
    says("scene arhc", 2, "did you mean 'arch'?");
    says("scene arch --thikness 0.109", 2, "did you mean 'thickness'?");
    says("scene arch --thickness", 2, "--thickness: missing value");
    says("scene arch --thickness thin", 2, "'thin'");
    says("scene arch 0.109", 2, "'0.109' is not an option");
    says("scene arch -o /nowhere/at/all.json", 1, "/nowhere/at/all.json");
}

// Of a scene: what drives it, with gains and limits, and what it senses.
static void info_lists_what_drives(void **state)
{
    (void)state;
    says("info scenes/quadruped-stands.json", 0,
         "crouch                          0         -0.2          0.6  rad\n");
    says(
        "info scenes/quadruped-stands.json", 0,
        "leg3_knee servo      leg3_knee                   1        300          0       -300       "
        "  -6  -25 to 25\n");
    says("info scenes/sensor-arm.json", 0, "touch                touch                N");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_what_it_makes),   cmocka_unit_test(runs_what_it_makes),
        cmocka_unit_test(parameters_can_be_set), cmocka_unit_test(info_lists_what_drives),
        cmocka_unit_test(names_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
