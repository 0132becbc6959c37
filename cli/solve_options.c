// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line of perp solve; unknown input is rejected.
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Options that take a value, and those that do not.
static const char *const valued[] = {
    "--solver", "--tol", "--max-iterations", "--max-seconds", "--facets", "--form", "-o"};
static const char *const flags[] = {"--json", "-q", "--help"};

enum {
    VALUED_COUNT = sizeof valued / sizeof valued[0],
    FLAG_COUNT = sizeof flags / sizeof flags[0],
};

// ── Values ───────────────────────────────────────────────────────────────────────────────────────

static cli_exit parse_real(const char *option, const char *text, double low, double *value)
{
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    if (end == text || *end || !isfinite(*value) || *value < low || text[0] == ' ') {
        return cli_complain("%s: '%s' is not a number >= %g", option, text, low);
    }
    return CLI_FINE;
}

static cli_exit parse_int(const char *option, const char *text, int low, int high, int *value)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (end == text || *end || errno || number < low || number > high || text[0] == ' ') {
        return cli_complain("%s: '%s' is not an integer in %d..%d", option, text, low, high);
    }
    *value = (int)number;
    return CLI_FINE;
}

static cli_exit parse_tolerance(const char *text, double *value)
{
    cli_exit code = parse_real("--tol", text, 0.0, value);
    if (code == CLI_FINE && *value <= 0.0) {
        return cli_complain("--tol: '%s' is not a number > 0", text);
    }
    return code;
}

static cli_exit parse_solver(const char *text, const char **solver)
{
    *solver = text;
    return cli_solver_check("--solver", text, "all");
}

static cli_exit parse_form(const char *text, bool *as_lcp)
{
    *as_lcp = strcmp(text, "lcp") == 0;
    if (!*as_lcp && strcmp(text, "cone") != 0) {
        return cli_complain("--form: unknown value '%s': expected cone or lcp", text);
    }
    return CLI_FINE;
}

static cli_exit set_value(const char *option, const char *text, solve_options *options)
{
    perp_comp_options *comp = &options->comp;
    if (strcmp(option, "--solver") == 0) {
        return parse_solver(text, &options->solver);
    }
    if (strcmp(option, "--tol") == 0) {
        return parse_tolerance(text, &comp->tolerance);
    }
    if (strcmp(option, "--max-iterations") == 0) {
        return parse_int(option, text, 0, INT_MAX, &comp->max_iterations);
    }
    if (strcmp(option, "--max-seconds") == 0) {
        return parse_real(option, text, 0.0, &comp->max_seconds);
    }
    if (strcmp(option, "--facets") == 0) {
        return parse_int(option, text, 3, 1000, &options->facets);
    }
    if (strcmp(option, "--form") == 0) {
        return parse_form(text, &options->as_lcp);
    }
    options->output = text;
    return text[0] ? CLI_FINE : cli_complain("-o: missing file name");
}

// ── Words ────────────────────────────────────────────────────────────────────────────────────────

static cli_exit unknown_option(const char *word)
{
    const char *names[VALUED_COUNT + FLAG_COUNT];
    memcpy(names, valued, sizeof valued);
    memcpy(names + VALUED_COUNT, flags, sizeof flags);
    const char *near = cli_suggest(word, names, VALUED_COUNT + FLAG_COUNT);
    if (near) {
        return cli_complain("solve: unknown option '%s': did you mean '%s'?", word, near);
    }
    return cli_complain("solve: unknown option '%s': see 'perp help solve'", word);
}

// The option with a value that word names, alone or as in --tol=1e-6; NULL: none.
static const char *find_valued(const char *word, const char **attached)
{
    for (int k = 0; k < VALUED_COUNT; k++) {
        size_t n = strlen(valued[k]);
        if (strncmp(word, valued[k], n) == 0 && (word[n] == '\0' || word[n] == '=')) {
            *attached = word[n] == '=' ? word + n + 1 : NULL;
            return valued[k];
        }
    }
    return NULL;
}

// Handles words[*k]; advances *k when the value is the next word.
static cli_exit parse_word(int count, char **words, int *k, solve_options *options)
{
    const char *word = words[*k], *attached = NULL;
    const char *option = find_valued(word, &attached);
    if (option) {
        if (!attached && *k + 1 >= count) {
            return cli_complain("%s: missing value", option);
        }
        return set_value(option, attached ? attached : words[++*k], options);
    }
    if (strcmp(word, "--json") == 0) {
        options->json = true;
    } else if (strcmp(word, "-q") == 0) {
        options->quiet = true;
    } else {
        return unknown_option(word);
    }
    return CLI_FINE;
}

static const char *form_word(int k)
{
    static const char *const words[] = {"cone", "lcp"};
    return k < 2 ? words[k] : NULL;
}

// The options as a table, for completion.
static cli_exit complete(int count, char **words)
{
    cli_option option[VALUED_COUNT + FLAG_COUNT] = {0};
    for (int k = 0; k < VALUED_COUNT; k++) {
        bool solver = strcmp(valued[k], "--solver") == 0, form = strcmp(valued[k], "--form") == 0;
        option[k] = (cli_option){.name = valued[k],
                                 .kind = solver                         ? CLI_SOLVER
                                         : form                         ? CLI_WORD
                                         : strcmp(valued[k], "-o") == 0 ? CLI_TEXT
                                                                        : CLI_REAL,
                                 .word = form_word};
    }
    for (int k = 0; k < FLAG_COUNT; k++) {
        option[VALUED_COUNT + k] = (cli_option){.name = flags[k], .kind = CLI_FLAG};
    }
    if (count > 2 && strcmp(words[count - 2], "--solver") == 0) {
        puts("all");
    }
    return cli_complete_options(count, words, option, VALUED_COUNT + FLAG_COUNT - 1, NULL);
}

cli_exit solve_options_parse(int count, char **words, solve_options *options)
{
    if (cli_completes(count, words)) {
        return complete(count, words);
    }
    *options =
        (solve_options){.files = words, .solver = "auto", .comp = perp_comp_options_default()};
    options->comp.max_seconds = 60.0;
    bool only_files = false;
    for (int k = 0; k < count; k++) {
        if (only_files || words[k][0] != '-' || words[k][1] == '\0') {
            words[options->file_count++] = words[k];
        } else if (strcmp(words[k], "--") == 0) {
            only_files = true;
        } else {
            cli_exit code = parse_word(count, words, &k, options);
            if (code != CLI_FINE) {
                return code;
            }
        }
    }
    if (options->file_count == 0) {
        return cli_complain("solve: missing file name: see 'perp help solve'");
    }
    return CLI_FINE;
}
