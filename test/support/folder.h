// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Directories for tests that write files, files as text, and commands with their output.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// A new empty directory under TMPDIR; gone, with everything in it, after folder_remove.
typedef struct folder {
    char path[256];
} folder;

folder folder_create(void);
void folder_remove(const folder *f);
// A path in it, in a static buffer of the next call but three.
const char *folder_at(const folder *f, const char *name);
bool folder_has(const folder *f, const char *name);

// The whole file, terminated; to be freed.
char *text_of(const char *path);

// Runs a shell's command; fills out (terminated, cut at size); returns the exit code.
int command_run(const char *command, char *out, size_t size);
