// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/folder.h"

#include "support/cmocka.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

folder folder_create(void)
{
    const char *base = getenv("TMPDIR");
    folder f;
    // a test that was killed leaves its folder behind, so that a process number is not enough of a name
    snprintf(f.path, sizeof f.path, "%s/perp-test-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(f.path));
    return f;
}

static void remove_below(const char *path)
{
    DIR *listing = opendir(path);
    for (const struct dirent *entry; listing && (entry = readdir(listing));) {
        char below[1024];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (unlink(below) != 0) {
            remove_below(below);
            rmdir(below);
        }
    }
    if (listing) {
        closedir(listing);
    }
}

void folder_remove(const folder *f)
{
    remove_below(f->path);
    rmdir(f->path);
}

const char *folder_at(const folder *f, const char *name)
{
    static char path[4][512];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", f->path, name);
    return path[next];
}

bool folder_has(const folder *f, const char *name)
{
    return access(folder_at(f, name), F_OK) == 0;
}

char *text_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        fail_msg("cannot open %s", path);
    }
    size_t size = 0, room = 1 << 16;
    char *text = malloc(room);
    assert_non_null(text);
    for (size_t n; (n = fread(text + size, 1, room - size - 1, file)) > 0;) {
        size += n;
        if (size + 1 == room) {
            room *= 2;
            text = realloc(text, room);
            assert_non_null(text);
        }
    }
    fclose(file);
    text[size] = '\0';
    return text;
}

int command_run(const char *command, char *out, size_t size)
{
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t n = fread(out, 1, size - 1, pipe);
    out[n] = '\0';
    char rest[4096];
    while (fread(rest, 1, sizeof rest, pipe) > 0) {
        continue;  // what does not fit is read all the same, or the command would wait
    }
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}
