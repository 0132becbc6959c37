// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/shell.h"

#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

// The command with its two words put in, in a subshell whose stderr is seen as well.
static void expand(const folder *f, const char *program, const char *command, char *out,
                   size_t size)
{
    size_t n = (size_t)snprintf(out, size, "( ");
    while (*command && n + 600 < size) {
        if (*command == '@') {
            n += (size_t)snprintf(out + n, size - n, "%s", f->path);
            command++;
        } else if (strncmp(command, "PERP", 4) == 0) {
            n += (size_t)snprintf(out + n, size - n, "'%s'", program);
            command += 4;
        } else {
            out[n++] = *command++;
        }
    }
    snprintf(out + n, size - n, " ) 2>&1");
}

const char *shell_says(const folder *f, const char *program, const char *command, int code,
                       const char *text)
{
    static char out[1 << 18];
    char line[8192];
    expand(f, program, command, line, sizeof line);
    int found = command_run(line, out, sizeof out);
    if (found != code || (text && !strstr(out, text))) {
        fail_msg("%s: exit code %d, not %d, or no '%s' in:\n%s", line, found, code,
                 text ? text : "", out);
    }
    return out;
}

void shell_file(const folder *f, const char *name, const char *text)
{
    FILE *file = fopen(folder_at(f, name), "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}
