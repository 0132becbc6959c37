// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole files in and out.
//
// A file is written under a temporary name beside its target and then renamed: the target is the
// old file or the complete new one, never a part. A device, a pipe or a link is written directly.
#include "format/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ── Reading ──────────────────────────────────────────────────────────────────────────────────────

// A larger buffer with the same contents. pp_alloc has no realloc.
static bool grow_buffer(pp_file *b, const perp_env *env, size_t room)
{
    char *text = pp_alloc(env, room);
    if (!text) {
        return false;
    }
    if (b->size > 0) {
        memcpy(text, b->text, b->size);
    }
    pp_free(env, b->text, b->room);
    b->text = text;
    b->room = room;
    return true;
}

// Sizes in messages are decimal megabytes.
static perp_status too_large(size_t most, perp_error *error)
{
    return pp_fail(error, PERP_ERR_FORMAT, "larger than %.6g MB, the size limit",
                   1e-6 * (double)most);
}

// Reads to the end. guess is the size that the file had; one byte more shows whether it has grown.
static perp_status read_all(int file, const perp_env *env, size_t guess, size_t most, pp_file *b,
                            perp_error *error)
{
    if (!grow_buffer(b, env, guess + 1)) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory to read the file");
    }
    for (;;) {
        if (b->size == b->room && !grow_buffer(b, env, 2 * b->room + 4096)) {
            return pp_fail(error, PERP_ERR_MEMORY, "not enough memory to read the file");
        }
        ssize_t got = read(file, b->text + b->size, b->room - b->size);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return pp_fail(error, PERP_ERR_IO, "cannot read: %s", strerror(errno));
        }
        if (got == 0) {
            return PERP_OK;
        }
        b->size += (size_t)got;
        if (b->size > most) {
            return too_large(most, error);
        }
    }
}

// Whether the path is that of an open descriptor of the process.
static bool is_stream(const char *path)
{
    return strcmp(path, "/dev/stdin") == 0 || strncmp(path, "/dev/fd/", 8) == 0 ||
           strncmp(path, "/proc/self/fd/", 14) == 0;
}

// Directories have no contents; devices and pipes might never end.
static perp_status check_kind(const struct stat *about, bool stream, perp_error *error)
{
    if (S_ISDIR(about->st_mode)) {
        return pp_fail(error, PERP_ERR_IO, "is a directory: name the files in it");
    }
    if (!S_ISREG(about->st_mode) && !stream) {
        return pp_fail(error, PERP_ERR_IO,
                       "is a device or a pipe, not a file; to read from a pipe, use '-'");
    }
    return PERP_OK;
}

// The kind is checked before opening, because opening a device may have effects, and again after,
// because the path may lead to another file by then. With O_NONBLOCK a pipe without a writer does
// not block.
static perp_status open_file(const char *path, bool stream, int *handle, struct stat *about,
                             perp_error *error)
{
    *handle = -1;
    perp_status status = PERP_OK;
    if (stat(path, about) == 0) {
        status = check_kind(about, stream, error);
    }
    if (status == PERP_OK) {
        *handle = open(path, O_RDONLY | O_CLOEXEC | (stream ? 0 : O_NONBLOCK));
        status = *handle >= 0 && fstat(*handle, about) == 0
                     ? check_kind(about, stream, error)
                     : pp_fail(error, PERP_ERR_IO, "cannot open: %s", strerror(errno));
    }
    return status;
}

// The size is only a guess: it is checked again while reading.
perp_status pp_file_read(const char *path, size_t most, bool streams, const perp_env *env,
                         pp_file *file, perp_error *error)
{
    int handle;
    struct stat about;
    perp_status status = open_file(path, streams && is_stream(path), &handle, &about, error);
    if (status == PERP_OK && S_ISREG(about.st_mode) && (uintmax_t)about.st_size > most) {
        status = too_large(most, error);
    }
    if (status == PERP_OK) {
        size_t guess = S_ISREG(about.st_mode) ? (size_t)about.st_size : 4096;
        status = read_all(handle, env, guess, most, file, error);
    }
    if (handle >= 0) {
        close(handle);
    }
    return status;
}

// Allowed for a file that was never read.
void pp_file_free(pp_file *file, const perp_env *env)
{
    pp_free(env, file->text, file->room);
    *file = (pp_file){0};
}

// ── Writing ──────────────────────────────────────────────────────────────────────────────────────

// The path is cut: errors have a fixed size.
static perp_status cannot_write(perp_error *error, const char *path, int fault)
{
    return pp_fail(error, PERP_ERR_IO, "cannot write '%.120s': %s", path, strerror(fault));
}

// Writes and closes; false, with errno in *fault, if anything was lost. Errors of a full disk may
// show at fflush or fclose only.
static bool put_and_close(int file, pp_put *put, const char *name, const void *what, int *fault)
{
    FILE *out = fdopen(file, "w");
    if (!out) {
        *fault = errno;
        close(file);
        return false;
    }
    errno = 0;
    put(out, name, what);
    bool good = fflush(out) == 0 && !ferror(out);
    *fault = good ? 0 : errno;
    if (fclose(out) != 0 && good) {
        *fault = errno;
        good = false;
    }
    *fault = good || *fault ? *fault : EIO;
    return good;
}

// Creates a new file beside path, on the same file system, so that rename works. Its name goes to
// temporary.
static int open_beside(const char *path, char *temporary, size_t size)
{
    int file = -1;
    // O_EXCL refuses a name that exists: a leftover of another process, or of another thread.
    for (int attempt = 0; file < 0 && attempt < 100; attempt++) {
        int length = snprintf(temporary, size, "%s.%ld-%d.tmp", path, (long)getpid(), attempt);
        if (length < 0 || (size_t)length >= size) {
            errno = ENAMETOOLONG;
            return -1;
        }
        file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0 && errno != EEXIST) {
            return -1;
        }
    }
    return file;
}

// A target that is a regular file, or does not exist, is replaced as a whole.
perp_status pp_file_write(const char *path, pp_put *put, const char *name, const void *what,
                          perp_error *error)
{
    char temporary[4096];
    struct stat about;
    int fault;
    // lstat, not stat: a link stays a link, and its target is written.
    bool direct = lstat(path, &about) == 0 && !S_ISREG(about.st_mode);
    int file = direct ? open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
                      : open_beside(path, temporary, sizeof temporary);
    if (file < 0) {
        return cannot_write(error, path, errno);
    }
    bool good = put_and_close(file, put, name, what, &fault);
    if (good && !direct && rename(temporary, path) != 0) {
        fault = errno;
        good = false;
    }
    if (good) {
        return PERP_OK;
    }
    if (!direct) {
        unlink(temporary);
    }
    return cannot_write(error, path, fault);
}
