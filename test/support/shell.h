// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Commands as a user types them, in a directory of their own.
#pragma once

#include "support/folder.h"

// Runs a command; in it @ stands for the directory, PERP for the program. Fails the test unless it exits
// with code and prints text (NULL: whatever), on stdout or stderr. Returns what it printed.
const char *shell_says(const folder *f, const char *program, const char *command, int code,
                       const char *text);
// Writes a file of the directory.
void shell_file(const folder *f, const char *name, const char *text);
