// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp plot: figures of a recorded run.
#include "cli.h"

#include <string.h>

// The directory of a recording that was given by the path of its run.h5.
static void directory_of(const char *path, char *dir, size_t size)
{
    size_t length = strlen(path), tail = strlen("run.h5");
    bool file = length >= tail && strcmp(path + length - tail, "run.h5") == 0 &&
                (length == tail || path[length - tail - 1] == '/');
    if (file && length == tail) {
        snprintf(dir, size, ".");
    } else {
        snprintf(dir, size, "%.*s", (int)(file ? length - tail : length), path);
    }
}

static cli_exit draw(perp_recording *recording, const char *dir, const char *only, bool quiet)
{
    perp_error error = {0};
    perp_status status = perp_plot_run(recording, dir, only, NULL, &error);
    if (status == PERP_ERR_ARGUMENT) {
        return cli_complain("plot: %s", error.text);
    }
    if (status < 0) {
        cli_complain("plot: %s", error.text);
        return status == PERP_ERR_IO || status == PERP_ERR_MEMORY ? CLI_OUTPUT : CLI_INPUT;
    }
    if (!perp_recording_about(recording)->complete && !quiet) {
        fprintf(stderr, "perp: plot: the recording is incomplete: its run did not end\n");
    }
    if (!quiet) {
        printf("figures     %s/index.html\n", dir);
    }
    return CLI_FINE;
}

cli_exit cli_plot(int count, char **words)
{
    const char *path = NULL, *out = NULL, *only = NULL;
    bool quiet = false;
    const cli_option options[] = {{"-o", CLI_TEXT, &out, NULL},
                                  {"--only", CLI_TEXT, &only, NULL},
                                  {"-q", CLI_FLAG, &quiet, NULL}};
    perp_recording *recording = NULL;
    if (cli_wants_help("plot", count, words)) {
        return CLI_FINE;
    }
    cli_exit code = cli_options_parse("plot", count, words, options, 3, &path, 1);
    if (code == CLI_FINE) {
        code = cli_recording_open(path, &recording);
    }
    if (code != CLI_FINE) {
        return code;
    }
    char dir[4096];
    directory_of(path, dir, sizeof dir);
    code = draw(recording, out ? out : dir, only, quiet);
    perp_recording_close(recording);
    return code;
}
