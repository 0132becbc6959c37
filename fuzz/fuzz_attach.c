// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target for models of several files: the input is main.xml, other.xml and part.obj, each after a line of "====".
// Models include and attach each other and themselves. They must be accepted or refused with a message.
#include <perp/io.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILES = 3 };
static const char *const NAMES[FILES] = {"main.xml", "other.xml", "part.obj"};
static const char LINE[] = "\n====\n";
static char folder[] = "/tmp/fuzz-attach-XXXXXX";
static char path[FILES][64];

static void demand(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

static void remove_files(void)
{
    for (int k = 0; k < FILES; k++) {
        (void)unlink(path[k]);
    }
    (void)rmdir(folder);
}

// The files are made once, and written for every input.
static void prepare(void)
{
    demand(mkdtemp(folder) != NULL);
    for (int k = 0; k < FILES; k++) {
        (void)snprintf(path[k], sizeof path[k], "%s/%s", folder, NAMES[k]);
    }
    demand(atexit(remove_files) == 0);
}

static void write_files(const uint8_t *data, size_t size)
{
    for (int k = 0; k < FILES; k++) {
        const uint8_t *end = memmem(data, size, LINE, strlen(LINE));
        size_t length = end ? (size_t)(end - data) : size;
        FILE *file = fopen(path[k], "w");
        demand(file && fwrite(data, 1, length, file) == length && fclose(file) == 0);
        length = end ? length + strlen(LINE) : size;
        data += length;
        size -= length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!path[0][0]) {
        prepare();
    }
    if (size == 0) {
        return 0;
    }
    write_files(data, size);
    perp_import *import = NULL;
    perp_error error = {0};
    perp_import_options options = perp_import_options_default();
    options.keep_fixed = size % 2 == 0;
    options.strict = size % 7 == 0;
    perp_status status = perp_import_load(path[0], &options, NULL, &import, &error);
    demand((status == PERP_OK) == (import != NULL));
    demand(import || (error.status == status && error.text[0]));
    if (import) {
        size_t length;
        const char *text = perp_import_text(import, &length);
        perp_scene *scene = NULL;
        status = perp_scene_parse("input", text, length, NULL, &scene, &error);
        demand(status == PERP_OK || error.text[0]);
        perp_scene_destroy(scene);
    }
    perp_import_destroy(import);
    return 0;
}
