// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp complete, help, doctor and the man page: they tell of the same options.
#include "support/cmocka.h"
#include "support/shell.h"

#include <perp/perp.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static folder place;

static const char *says(const char *command, int code, const char *text)
{
    return shell_says(&place, PERP_CLI, command, code, text);
}

static char *kept(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    assert_non_null(copy);
    return memcpy(copy, text, size);
}

static bool has_line(const char *text, const char *line)
{
    size_t n = strlen(line);
    for (const char *at = text; (at = strstr(at, line)); at += n) {
        if ((at == text || at[-1] == '\n') && (at[n] == '\n' || !at[n])) {
            return true;
        }
    }
    return false;
}

static void words_that_fit(void **state)
{
    (void)state;
    const char *all = says("PERP complete ''", 0, NULL);
    assert_true(has_line(all, "run") && has_line(all, "doctor") && has_line(all, "compare"));
    assert_true(has_line(says("PERP complete run x.json --form ''", 0, NULL), "lcp"));
    assert_true(has_line(says("PERP complete run ''", 0, NULL), ":files"));
    assert_true(has_line(says("PERP complete run --solver ''", 0, NULL), "lemke"));
    assert_true(has_line(says("PERP complete plot dir ''", 0, NULL), "cones"));
    assert_true(has_line(says("PERP complete scene ''", 0, NULL), "arch"));
    assert_true(has_line(says("PERP complete scene arch -", 0, NULL), "--thickness"));
    assert_true(has_line(says("PERP complete solve --solver ''", 0, NULL), "all"));
    assert_true(has_line(says("PERP complete help ''", 0, NULL), "explain"));
    assert_string_equal(says("PERP complete run --until ''", 0, NULL), "");
    says("PERP complete rum ''", 2, "did you mean 'run'?");
}

// "--until" as mdoc writes it: "Fl -until".
static bool in_man(const char *man, const char *option)
{
    char text[64];
    snprintf(text, sizeof text, "Fl %s", option + 1);
    for (const char *at = man; (at = strstr(at, text)); at++) {
        char after = at[strlen(text)];
        if (after == ' ' || after == '\n') {
            return true;
        }
    }
    return strstr(option, "help") != NULL;
}

static void check_options(const char *verb, const char *man)
{
    char command[128];
    snprintf(command, sizeof command, "PERP complete %s -", verb);
    char *options = kept(says(command, 0, NULL));
    snprintf(command, sizeof command, "PERP help %s", verb);
    char *page = kept(says(command, 0, NULL));
    for (char *option = strtok(options, "\n"); option; option = strtok(NULL, "\n")) {
        bool told = strcmp(option, "--help") == 0 || strstr(page, option);
        if (!told || !in_man(man, option)) {
            fail_msg("%s of '%s' is not in its %s page", option, verb, told ? "man" : "help");
        }
    }
    free(options);
    free(page);
}

// Every option that a verb reads is in its help page and in the man page; every verb has both.
static void options_are_told(void **state)
{
    (void)state;
    char *man = text_of("man/perp.1"), *verbs = kept(says("PERP complete ''", 0, NULL));
    char *rest = verbs;
    for (char *end = strchr(rest, '\n'); end; end = strchr(rest, '\n')) {
        *end = '\0';
        if (rest[0] != '-' && strcmp(rest, "help") != 0 && strcmp(rest, "scene") != 0 &&
            strcmp(rest, "complete") != 0) {
            char named[64];
            snprintf(named, sizeof named, ".Cm %s\n", rest);
            if (!strstr(man, named)) {
                fail_msg("'%s' is not in the man page", rest);
            }
            check_options(rest, man);
        }
        rest = end + 1;
    }
    free(verbs);
    free(man);
}

// Every --option that a help page names is one.
static void help_names_no_others(void **state)
{
    (void)state;
    static const char *const verbs[] = {"run",     "explain", "check", "plot",   "view",
                                        "compare", "solve",   "info",  "doctor", "import"};
    for (size_t v = 0; v < sizeof verbs / sizeof verbs[0]; v++) {
        char command[64];
        snprintf(command, sizeof command, "PERP complete %s -", verbs[v]);
        char *options = kept(says(command, 0, NULL));
        snprintf(command, sizeof command, "PERP help %s", verbs[v]);
        char *page = kept(says(command, 0, NULL));
        for (const char *at = page; (at = strstr(at, "--")); at += 2) {
            size_t length = 2 + strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-");
            char option[48];
            snprintf(option, sizeof option, "%.*s", (int)length, at);
            if (length > 2 && !has_line(options, option)) {
                fail_msg("the help page of '%s' names %s, which it does not take", verbs[v],
                         option);
            }
        }
        free(options);
        free(page);
    }
}

static const char ask_bash[] = ". cli/completion/perp.bash\n"
                               "COMP_WORDS=(perp \"$@\"); COMP_CWORD=$#; _perp\n"
                               "printf '%s\\n' \"${COMPREPLY[@]}\"\n";

static void in_bash(void **state)
{
    (void)state;
    says("mkdir -p @/bin && ln -sf PERP @/bin/perp && touch @/a.json", 0, NULL);
    shell_file(&place, "ask", ask_bash);
    assert_string_equal(says("PATH=@/bin:$PATH bash @/ask run --st", 0, NULL),
                        "--step\n--stepper\n--start\n--strict\n");
    assert_string_equal(says("PATH=@/bin:$PATH bash @/ask compare --", 0, NULL),
                        "--tol\n--json\n--help\n");
    says("PATH=@/bin:$PATH bash @/ask run @/a.", 0, "/a.json\n");
}

static void in_zsh(void **state)
{
    (void)state;
    if (system("command -v zsh >/dev/null 2>&1") != 0) {
        print_message("zsh is not installed: its completion is not run\n");
        return;
    }
    const char *got =
        says("PATH=@/bin:$PATH zsh -fc 'compadd() { print -l ${(P)2} }; _files() { print FILES }; "
             "words=(perp run --form \"\"); CURRENT=4; . cli/completion/_perp'",
             0, NULL);
    assert_true(has_line(got, "lcp"));
    says("PATH=@/bin:$PATH zsh -fc 'compadd() { : }; _files() { print FILES }; "
         "words=(perp run \"\"); CURRENT=3; . cli/completion/_perp'",
         0, "FILES");
}

// The files that come with perp are found from the program: in the build, and in a copy in
// bin/ beside share/perp/.
static void help_leads_to_files(void **state)
{
    (void)state;
    char scenes[4200] = "", command[4400];
    const char *page = says("PERP help", 0, "  scenes ");
    assert_int_equal(sscanf(strstr(page, "  scenes "), " scenes %4100s", scenes), 1);
    snprintf(command, sizeof command, "test -s %s/scene.schema.json && echo there", scenes);
    says(command, 0, "there");
    says("PERP help help", 0, scenes);
    says("mkdir -p @/p/bin @/p/share/perp/scenes && cp PERP @/p/bin && "
         "echo {} >@/p/share/perp/scenes/scene.schema.json && @/p/bin/perp help",
         0, "/p/share/perp/scenes\n");
}

static void doctor_tells(void **state)
{
    (void)state;
    says("PERP doctor", 0, "self-test    ok");
    says("PATH=/nowhere PERP doctor", 0, "to fix: apt-get install gnuplot-nox");
    says("PERP doctor now", 2, "unexpected argument 'now'");
    json_error_t error;
    json_t *root = json_loads(says("PATH=/nowhere PERP doctor --json", 0, NULL), 0, &error);
    assert_non_null(root);
    assert_true(json_is_true(json_object_get(root, "works")));
    bool missed = false;
    size_t k;
    json_t *finding;
    json_array_foreach(json_object_get(root, "findings"), k, finding)
    {
        bool pandoc = strcmp(json_string_value(json_object_get(finding, "name")), "pandoc") == 0;
        missed = missed || (pandoc && json_is_false(json_object_get(finding, "ok")) &&
                            json_object_get(finding, "disables"));
    }
    assert_true(missed);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_that_fit),
        cmocka_unit_test(options_are_told),
        cmocka_unit_test(help_names_no_others),
        cmocka_unit_test(help_leads_to_files),
        cmocka_unit_test(in_bash),
        cmocka_unit_test(in_zsh),
        cmocka_unit_test(doctor_tells),
    };
    place = folder_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    folder_remove(&place);
    return failed;
}
