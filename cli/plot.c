// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp plot: figures of a recorded run.
#include "cli.h"

#include <string.h>
#include <unistd.h>

static cli_exit draw(perp_recording *recording, const char *dir, const char *only, bool quiet)
{
    perp_error error = {0};
    perp_status status = perp_plot_write(recording, dir, only, NULL, &error);
    if (status == PERP_ERR_ARGUMENT) {
        return cli_complain("plot: %s", error.text);
    }
    if (status < 0) {
        cli_complain("plot: %s", error.text);
        return status == PERP_ERR_IO || status == PERP_ERR_MEMORY ? CLI_OUTPUT : CLI_INPUT;
    }
    if (!perp_recording_about(recording)->complete && !quiet) {
        fprintf(stderr, "perp: plot: the recording is incomplete: the run did not finish\n");
    }
    if (!quiet) {
        printf("figures     %s/index.html\n", cli_plain(dir));
    }
    return CLI_FINE;
}

// Joins --only and the names given as words, as in "paths,energy"; false: too long.
static bool join(const char *only, const char *const *name, int names, char *text, size_t size)
{
    int used = snprintf(text, size, "%s", only ? only : "");
    for (int k = 0; k < names && used >= 0 && (size_t)used < size; k++) {
        used += snprintf(text + used, size - (size_t)used, "%s%s", used > 0 ? "," : "", name[k]);
    }
    return used >= 0 && (size_t)used < size;
}

// Whether a path is the directory of a sweep, or its sweep.h5; dir gets the directory.
static bool is_sweep(const char *path, char *dir, size_t size)
{
    char file[4200];
    size_t n = strlen(path), tail = strlen("sweep.h5");
    bool named = n >= tail && strcmp(path + n - tail, "sweep.h5") == 0;
    if (named) {
        bool here = n == tail;
        snprintf(dir, size, "%.*s", here ? 1 : (int)(n - tail), here ? "." : path);
    } else {
        snprintf(dir, size, "%s", path);
    }
    snprintf(file, sizeof file, "%.4000s/sweep.h5", dir);
    return access(file, F_OK) == 0;
}

static cli_exit draw_sweep(const char *from, const char *to, bool quiet)
{
    perp_error error = {0};
    if (perp_plot_write_sweep(from, to, NULL, &error) < 0) {
        cli_complain("plot: %s", error.text);
        return error.status == PERP_ERR_FORMAT ? CLI_INPUT : CLI_OUTPUT;
    }
    if (!quiet) {
        printf("figures     %s/index.html\n", cli_plain(to));
    }
    return CLI_FINE;
}

cli_exit cli_plot(int count, char **words)
{
    enum { WORDS = 32 };
    const char *word[WORDS] = {0}, *out = NULL, *only = NULL;
    int found = 0;
    bool quiet = false;
    const cli_option options[] = {{"-o", CLI_TEXT, &out, NULL},
                                  {"--only", CLI_TEXT, &only, NULL},
                                  {"-q", CLI_FLAG, &quiet, NULL}};
    const cli_words room = {word, WORDS, &found, perp_plot_name};
    perp_recording *recording = NULL;
    char names[512], dir[4096];
    if (cli_wants_help("plot", count, words)) {
        return CLI_FINE;
    }
    cli_exit code = cli_options_parse_words("plot", count, words, options, 3, &room);
    if (code == CLI_FINE && found == 0) {
        code = cli_complain("plot: missing file name: see 'perp help plot'");
    }
    if (code == CLI_FINE && !join(only, word + 1, found - 1, names, sizeof names)) {
        code = cli_complain("plot: the list of figures is too long");
    }
    if (code == CLI_FINE && is_sweep(word[0], dir, sizeof dir)) {
        if (only || found > 1) {
            return cli_complain("plot: the figures of a sweep are chosen in its file: 'figures'");
        }
        return draw_sweep(dir, out ? out : dir, quiet);
    }
    if (code == CLI_FINE) {
        code = cli_recording_open(word[0], &recording);
    }
    if (code != CLI_FINE) {
        return code;
    }
    cli_recording_dir(word[0], dir, sizeof dir);
    code = draw(recording, out ? out : dir, only || found > 1 ? names : NULL, quiet);
    perp_recording_close(recording);
    return code;
}
