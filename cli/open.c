// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Opens scenes and recordings; error messages have the format of compilers.
#include "cli.h"

#include <string.h>

cli_exit cli_scene_open(const char *path, const perp_scene_load_options *reading,
                        perp_scene **scene)
{
    perp_error error = {0};
    const char *source = strcmp(path, "-") == 0 ? "/dev/stdin" : path;
    if (perp_scene_load_with(source, reading, NULL, scene, &error) >= 0) {
        return CLI_FINE;
    }
    path = cli_plain(path);
    if (error.line > 0) {
        fprintf(stderr, "%s:%d:%d: %s\n", path, error.line, error.column, error.text);
    } else {
        fprintf(stderr, "%s: %s\n", path, error.text);
    }
    if (error.status == PERP_ERR_FORMAT && strncmp(error.text, "larger than", 11) == 0) {
        cli_complain("use --max-mb N to read up to N million bytes");
    }
    return CLI_INPUT;
}

cli_exit cli_recording_open(const char *path, perp_recording **recording)
{
    perp_error error = {0};
    if (perp_recording_open(path, NULL, recording, &error) < 0) {
        fprintf(stderr, "%s\n", error.text);
        return CLI_INPUT;
    }
    return CLI_FINE;
}

void cli_recording_dir(const char *path, char *dir, size_t size)
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
