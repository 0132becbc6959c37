// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The perp command: one file per verb.
#include "cli.h"

#include <errno.h>
#include <hdf5.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

static const struct {
    const char *name;
    cli_verb *verb;
} verbs[] = {{"run", cli_run},         {"explain", cli_explain}, {"check", cli_check},
             {"view", cli_view},       {"render", cli_render},   {"plot", cli_plot},
             {"compare", cli_compare}, {"scene", cli_scene},     {"sweep", cli_sweep},
             {"import", cli_import},   {"solve", cli_solve},     {"info", cli_info},
             {"doctor", cli_doctor},   {"help", cli_help},       {"complete", cli_complete}};

enum { VERB_COUNT = sizeof verbs / sizeof verbs[0] };

cli_exit cli_complain(const char *format, ...)
{
    char text[4096], plain[4 * sizeof text];
    va_list list;
    va_start(list, format);
    if (vsnprintf(text, sizeof text, format, list) < 0) {
        text[0] = '\0';
    }
    va_end(list);
    perp_text_escape(text, plain, sizeof plain);
    fprintf(stderr, "perp: %s\n", plain);
    return CLI_INPUT;
}

// Levenshtein distance, limited to 64 characters.
static int distance(const char *a, const char *b)
{
    int row[66];
    int n = (int)strlen(b) < 64 ? (int)strlen(b) : 64;
    for (int j = 0; j <= n; j++) {
        row[j] = j;
    }
    for (int i = 1; a[i - 1] && i <= 64; i++) {
        int corner = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int change = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            int least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            row[j] = change < least ? change : least;
        }
    }
    return row[n];
}

const char *cli_suggest(const char *word, const char *const *candidates, int count)
{
    const char *best = NULL;
    int least = 3;
    for (int k = 0; k < count; k++) {
        int d = distance(word, candidates[k]);
        if (d < least && d < (int)strlen(candidates[k])) {
            least = d;
            best = candidates[k];
        }
    }
    return best;
}

const char *cli_verb_name(int k)
{
    return k >= 0 && k < VERB_COUNT ? verbs[k].name : NULL;
}

static cli_exit unknown_verb(const char *word)
{
    const char *names[VERB_COUNT];
    for (int k = 0; k < VERB_COUNT; k++) {
        names[k] = verbs[k].name;
    }
    const char *near = cli_suggest(word, names, VERB_COUNT);
    if (near) {
        return cli_complain("'%s' is not a command: did you mean '%s'?", word, near);
    }
    return cli_complain("'%s' is not a command: see 'perp help'", word);
}

cli_exit cli_verb_run(const char *name, int count, char **words)
{
    for (int k = 0; k < VERB_COUNT; k++) {
        if (strcmp(name, verbs[k].name) == 0) {
            return verbs[k].verb(count, words);
        }
    }
    return unknown_verb(name);
}

static cli_exit run(int count, char **words)
{
    if (count < 2) {
        cli_help(0, NULL);
        return CLI_INPUT;
    }
    const char *word = words[1];
    if (strcmp(word, "--version") == 0) {
        printf("perp %s\n", perp_version());
        return CLI_FINE;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        word = "help";
    }
    return cli_verb_run(word, count - 2, words + 2);
}

int main(int count, char **words)
{
#if defined(SIGPIPE)
    signal(SIGPIPE, SIG_IGN);  // a closed pipe becomes a write error, reported below
#endif
#if defined(SIGXFSZ)
    signal(SIGXFSZ, SIG_IGN);  // so does a file size limit
#endif
    H5dont_atexit();  // do not retry failed writes at exit
    cli_exit code = run(count, words);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        cli_complain("cannot write the output: %s", strerror(errno));
        return CLI_OUTPUT;
    }
    return code == CLI_LISTED ? CLI_FINE : (int)code;
}
