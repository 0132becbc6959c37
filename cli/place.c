// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the documentation, scenes and examples of this installation.
#include "cli.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The directory of the running program, without a trailing slash.
static bool program_folder(char *folder, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", folder, size - 1);
    if (length <= 0) {
        return false;
    }
    folder[length] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash) {
        *slash = '\0';
    }
    return slash != NULL;
}

// The scene schema is found only in a source tree and in an installation.
static bool holds_data(const char *folder)
{
    char path[PATH_MAX + 64];
    int length = snprintf(path, sizeof path, "%s/scenes/scene.schema.json", folder);
    return length > 0 && length < (int)sizeof path && access(path, R_OK) == 0;
}

bool cli_data_folder(char *folder, size_t size)
{
    char program[PATH_MAX], real[PATH_MAX];
    if (program_folder(program, sizeof program)) {
        // An installation, which may have been moved.
        snprintf(folder, size, "%s/" PERP_DATA_FROM_PROGRAM, program);
        if (holds_data(folder)) {
            if (realpath(folder, real)) {
                snprintf(folder, size, "%s", real);
            }
            return true;
        }
        // A build directory: build/<preset>/cli is three levels down.
        for (int up = 0; up < 4; up++) {
            char *slash = strrchr(program, '/');
            if (!slash) {
                break;
            }
            *slash = '\0';
            if (holds_data(program)) {
                snprintf(folder, size, "%s", program);
                return true;
            }
        }
    }
    snprintf(folder, size, "%s", PERP_DATA_INSTALLED);
    return holds_data(folder);
}
