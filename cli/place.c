// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the documentation, scenes and examples of this perp are.
#include "cli.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The folder of the running program, without a slash at its end.
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

// The schema of scenes is in the project's own tree and in an installed one, and nowhere else.
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
        // Installed, also where the tree was moved after that.
        snprintf(folder, size, "%s/" PERP_DATA_FROM_PROGRAM, program);
        if (holds_data(folder)) {
            if (realpath(folder, real)) {
                snprintf(folder, size, "%s", real);
            }
            return true;
        }
        // In a build folder of the project: build/<preset>/cli is three levels down.
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
