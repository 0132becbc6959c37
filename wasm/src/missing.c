// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions of POSIX that WASI lacks.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// A file system without locks: perp goes without.
int flock(int file, int how)
{
    (void)file, (void)how;
    errno = ENOTSUP;
    return -1;
}

int dup2(int from, int to)
{
    (void)from, (void)to;
    errno = ENOTSUP;
    return -1;
}

// expat's hash tables are seeded by it.
void arc4random_buf(void *buffer, size_t size)
{
    while (size > 0) {
        size_t part = size < 256 ? size : 256;
        (void)!getentropy(buffer, part);
        buffer = (char *)buffer + part;
        size -= part;
    }
}

// Without links: . and .. are taken out of the text. The host keeps a program inside the folders it was given.
char *realpath(const char *restrict path, char *restrict out)
{
    struct stat about;
    size_t size = strlen(path) + 2, end = 0;
    if (stat(path, &about) != 0) {
        return NULL;
    }
    char *made = out ? out : malloc(size);
    if (!made) {
        return NULL;
    }
    for (const char *at = path; *at;) {
        size_t length = strcspn(at, "/");
        if (length == 2 && at[0] == '.' && at[1] == '.') {
            while (end > 0 && made[--end] != '/') {
            }
        } else if (length > 0 && !(length == 1 && at[0] == '.')) {
            made[end++] = '/';
            memcpy(made + end, at, length);
            end += length;
        }
        at += length;
        at += strspn(at, "/");
    }
    if (end == 0) {
        made[end++] = '/';
    }
    made[end] = '\0';
    return made;
}

// No signals arrive: a caller that asks for one is not waiting for it.
unsigned alarm(unsigned seconds)
{
    (void)seconds;
    return 0;
}

// A name that is free: counted, not random, since no other process makes folders here.
char *mkdtemp(char *pattern)
{
    char *digits = pattern + strlen(pattern) - 6;
    for (unsigned k = 0; k < 1000000; k++) {
        for (unsigned i = 0, rest = k; i < 6; i++, rest /= 10) {
            digits[5 - i] = (char)('0' + rest % 10);
        }
        if (mkdir(pattern, 0777) == 0) {
            return pattern;
        }
        if (errno != EEXIST) {
            return NULL;
        }
    }
    return NULL;
}
