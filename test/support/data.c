// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/data.h"

#include <stdio.h>
#include <stdlib.h>

bool data_path(const char *relative, char *path, size_t size)
{
    const char *folder = getenv("PERP_DATA_DIR");
    int length = snprintf(path, size, "%s/%s", folder ? folder : "../shared", relative);
    FILE *file = length > 0 && (size_t)length < size ? fopen(path, "rb") : NULL;
    if (file) {
        fclose(file);
    }
    return file != NULL;
}
