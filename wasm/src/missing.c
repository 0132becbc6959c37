// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions of POSIX that WASI lacks.
#include <errno.h>
#include <sys/file.h>
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
