// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Table-driven option parsing: unknown input is rejected, with a suggestion.
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 64 };

typedef struct line {
    const char *verb;
    const cli_option *option;
    int options;
} line;

// ── Values ───────────────────────────────────────────────────────────────────────────────────────

static cli_exit read_real(const cli_option *option, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value) || text[0] == ' ' || value < 0.0 ||
        (option->kind == CLI_POSITIVE && value <= 0.0)) {
        return cli_complain("%s: '%s' is not a number %s 0", option->name, text,
                            option->kind == CLI_POSITIVE ? ">" : ">=");
    }
    *(double *)option->value = value;
    return CLI_FINE;
}

static cli_exit read_count(const cli_option *option, const char *text)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < 1 || value > INT_MAX || text[0] == ' ') {
        return cli_complain("%s: '%s' is not an integer in 1..%d", option->name, text, INT_MAX);
    }
    *(int *)option->value = (int)value;
    return CLI_FINE;
}

static cli_exit read_word(const cli_option *option, const char *text)
{
    const char *words[CANDIDATES];
    int count = 0;
    for (const char *word = option->word(0); word && count < CANDIDATES;
         word = option->word(++count)) {
        words[count] = word;
        if (strcmp(word, text) == 0) {
            *(int *)option->value = count;
            return CLI_FINE;
        }
    }
    const char *near = cli_suggest(text, words, count);
    if (near) {
        return cli_complain("%s: unknown value '%s': did you mean '%s'?", option->name, text, near);
    }
    char list[256] = "";
    for (int k = 0; k < count; k++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", k > 0 ? ", " : "", words[k]);
    }
    return cli_complain("%s: unknown value '%s': expected one of %s", option->name, text, list);
}

const perp_solver_card *cli_solver_by_name(const char *name)
{
    const perp_solver_card *card = perp_solver_find(name);
    return card && !(card->classes & PERP_CLASS_STEP) ? card : NULL;
}

cli_exit cli_solver_check(const char *option, const char *name, const char *also)
{
    const char *names[CANDIDATES] = {also};
    int count = also ? 1 : 0;
    for (int k = 0; k < perp_solver_count() && count < CANDIDATES; k++) {
        if (cli_solver_by_name(perp_solver_at(k)->name)) {
            names[count++] = perp_solver_at(k)->name;
        }
    }
    if ((also && strcmp(name, also) == 0) || cli_solver_by_name(name)) {
        return CLI_FINE;
    }
    if (perp_solver_find(name)) {
        return cli_complain("%s: '%s' cannot be selected: perp chooses it internally", option,
                            name);
    }
    const char *near = cli_suggest(name, names, count);
    if (near) {
        return cli_complain("%s: unknown solver '%s': did you mean '%s'?", option, name, near);
    }
    return cli_complain("%s: unknown solver '%s': see 'perp info'", option, name);
}

// Appends to the list of the options. A command reads one scene, so that one list suffices.
static cli_exit read_set(const cli_option *option, const char *text)
{
    enum { SETS = 64, NAME = 61 };
    static perp_scene_parameter list[SETS];
    static char names[SETS][NAME];
    perp_scene_load_options *reading = option->value;
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : 0;
    if (length == 0 || length >= NAME || !equals[1]) {
        return cli_complain("--set: '%s' is not of the form name=value", text);
    }
    if (reading->sets == SETS) {
        return cli_complain("--set: more than %d values", SETS);
    }
    memcpy(names[reading->sets], text, length);
    list[reading->sets] = (perp_scene_parameter){names[reading->sets], equals + 1};
    reading->set = list;
    reading->sets++;
    return CLI_FINE;
}

static cli_exit read_value(const cli_option *option, const char *text)
{
    switch (option->kind) {
    case CLI_REAL:
    case CLI_POSITIVE:
        return read_real(option, text);
    case CLI_COUNT:
        return read_count(option, text);
    case CLI_WORD:
        return read_word(option, text);
    case CLI_SOLVER:
        *(const char **)option->value = text;
        return cli_solver_check(option->name, text, NULL);
    case CLI_SET:
        return read_set(option, text);
    default:
        *(const char **)option->value = text;
        return text[0] ? CLI_FINE : cli_complain("%s: missing value", option->name);
    }
}

// ── Words ────────────────────────────────────────────────────────────────────────────────────────

static cli_exit unknown(const line *l, const char *word)
{
    const char *names[CANDIDATES];
    int count = 0;
    for (; count < l->options && count < CANDIDATES; count++) {
        names[count] = l->option[count].name;
    }
    const char *near = cli_suggest(word, names, count);
    if (near) {
        return cli_complain("%s: unknown option '%s': did you mean '%s'?", l->verb, word, near);
    }
    return cli_complain("%s: unknown option '%s': see 'perp help %s'", l->verb, word, l->verb);
}

// Handles words[*k], with its value attached (--step=0.01) or in the next word, which advances *k.
static cli_exit read_option(const line *l, int count, char **words, int *k)
{
    for (int i = 0; i < l->options; i++) {
        const cli_option *option = &l->option[i];
        size_t n = strlen(option->name);
        const char *word = words[*k];
        if (strncmp(word, option->name, n) != 0 || (word[n] != '\0' && word[n] != '=')) {
            continue;
        }
        if (option->kind == CLI_FLAG) {
            *(bool *)option->value = true;
            return word[n] ? cli_complain("%s takes no value", option->name) : CLI_FINE;
        }
        if (!word[n] && *k + 1 >= count) {
            return cli_complain("%s: missing value", option->name);
        }
        return read_value(option, word[n] ? word + n + 1 : words[++*k]);
    }
    return unknown(l, words[*k]);
}

cli_exit cli_options_parse(const char *verb, int count, char **words, const cli_option *options,
                           int option_count, const char **file, int files)
{
    int found = 0;
    const cli_words room = {file, files, &found, NULL};
    cli_exit code = cli_options_parse_words(verb, count, words, options, option_count, &room);
    if (code == CLI_FINE && found < files) {
        return cli_complain("%s: %s: see 'perp help %s'", verb,
                            files == 1 ? "missing file name" : "two recordings are needed", verb);
    }
    return code;
}

cli_exit cli_options_parse_words(const char *verb, int count, char **words,
                                 const cli_option *options, int option_count, const cli_words *room)
{
    line l = {verb, options, option_count};
    int *found = room->count;
    if (cli_completes(count, words)) {
        return cli_complete_options(count, words, options, option_count, room->name);
    }
    bool only_files = false;
    for (int k = 0; k < count; k++) {
        cli_exit code = CLI_FINE;
        if (only_files || words[k][0] != '-' || words[k][1] == '\0') {
            if (*found == room->most) {
                return cli_complain("%s: unexpected argument '%s': see 'perp help %s'", verb,
                                    words[k], verb);
            }
            room->word[(*found)++] = words[k];
        } else if (strcmp(words[k], "--") == 0) {
            only_files = true;
        } else {
            code = read_option(&l, count, words, &k);
        }
        if (code != CLI_FINE) {
            return code;
        }
    }
    return CLI_FINE;
}

bool cli_wants_help(const char *verb, int count, char **words)
{
    if (count == 0 || (strcmp(words[0], "--help") != 0 && strcmp(words[0], "-h") != 0)) {
        return false;
    }
    char topic[32], *page = topic;
    snprintf(topic, sizeof topic, "%s", verb);
    cli_help(1, &page);
    return true;
}
