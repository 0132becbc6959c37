// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target for models of other simulators: accepted ones must be scenes or be refused with a message, and rejected
// ones must have a message. No other files are read.
#include <perp/io.h>

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    perp_import *import = NULL;
    perp_error error = {0};
    perp_import_options options = perp_import_options_default();
    options.no_files = true;
    options.keep_fixed = size % 2 == 0;
    options.free_base = size % 3 == 0;
    options.missing = size % 5 == 0 ? PERP_IMPORT_MISSING_BOX : PERP_IMPORT_MISSING_SKIP;
    perp_status status =
        perp_import_parse("input", (const char *)data, size, &options, NULL, &import, &error);
    demand((status == PERP_OK) == (import != NULL));
    if (!import) {
        demand(error.status == status && error.text[0] && memchr(error.text, 0, sizeof error.text));
        return 0;
    }
    int count;
    const perp_import_note *note = perp_import_notes(import, &count);
    for (int k = 0; k < count; k++) {
        demand(note[k].what[0] && note[k].count > 0 && perp_import_note_word(note[k].kind));
    }
    size_t length;
    const char *text = perp_import_text(import, &length);
    demand(strlen(text) == length);
    perp_scene *scene = NULL;
    status = perp_scene_parse("input", text, length, NULL, &scene, &error);
    demand(status == PERP_OK || error.text[0]);
    perp_scene_destroy(scene);
    perp_import_destroy(import);
    return 0;
}
