// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp complete: possible completions of the last word, for shell completion (cli/completion).
//
// A verb is called with "--complete" before its words. Instead of parsing them by its option table, it lists the
// possible completions, so completion always matches the options. A line ":files" stands for file names.
#include "cli.h"

#include <string.h>

static void put(const char *text)
{
    puts(text);
}

bool cli_completes(int count, char **words)
{
    return count > 0 && strcmp(words[0], "--complete") == 0;
}

static void put_values(const cli_option *option)
{
    switch (option->kind) {
    case CLI_WORD:
        for (int k = 0; option->word(k); k++) {
            put(option->word(k));
        }
        break;
    case CLI_SOLVER:
        cli_complete_solvers();
        break;
    case CLI_TEXT:
        put(":files");
        break;
    default:
        break;  // a number
    }
}

void cli_complete_solvers(void)
{
    for (int k = 0; k < perp_solver_count(); k++) {
        if (cli_solver_by_name(perp_solver_at(k)->name)) {
            put(perp_solver_at(k)->name);
        }
    }
}

// The option named by the word before the last one, if it takes a value.
static const cli_option *awaited(int count, char **words, const cli_option *options, int n)
{
    for (int k = 0; count > 1 && k < n; k++) {
        if (options[k].kind != CLI_FLAG && strcmp(options[k].name, words[count - 2]) == 0) {
            return &options[k];
        }
    }
    return NULL;
}

cli_exit cli_complete_options(int count, char **words, const cli_option *options, int n,
                              const char *(*name)(int))
{
    const cli_option *open = awaited(count, words, options, n);
    const char *last = count > 1 ? words[count - 1] : "";
    if (open) {
        put_values(open);
    } else if (last[0] == '-') {
        for (int k = 0; k < n; k++) {
            put(options[k].name);
        }
        put("--help");
    } else {
        for (int k = 0; name && count > 2 && name(k); k++) {
            put(name(k));
        }
        if (!name || count <= 2) {
            put(":files");
        }
    }
    return CLI_LISTED;
}

// Replaces the verb in words by "--complete".
cli_exit cli_complete(int count, char **words)
{
    if (cli_wants_help("complete", count, words)) {
        return CLI_FINE;
    }
    if (count < 2) {
        for (int k = 0; cli_verb_name(k); k++) {
            put(cli_verb_name(k));
        }
        put("--version");
        put("--help");
        return CLI_FINE;
    }
    char *verb = words[0], flag[] = "--complete";
    words[0] = flag;
    cli_exit code = cli_verb_run(verb, count, words);
    return code == CLI_LISTED ? CLI_FINE : code;
}
