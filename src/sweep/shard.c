// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Shards: files to which rows are appended, one write for each row, and never anything else.
//
// A kill leaves at most one row that is cut off at the end, which the next writer removes. The lock is the kernel's
// (flock): it ends with its process.
#include "sweep/shard.h"
#include "record/text.h"
#include "sweep/own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct perp_shard {
    perp_env env;
    int file;
    char path[PP_PATH_MAX];
};

static perp_status fail_system(perp_error *error, const char *what, const char *path)
{
    return pp_fail(error, PERP_ERR_IO, "cannot %s '%.150s': %s", what, path, strerror(errno));
}

// dir and the directories it is in.
static perp_status make_directory(const char *dir, perp_error *error)
{
    char path[PP_PATH_MAX];
    if (strlen(dir) >= sizeof path) {
        errno = ENAMETOOLONG;
        return fail_system(error, "create the directory", dir);
    }
    pp_print(path, sizeof path, "%s", dir);
    for (char *slash = strchr(path + !!path[0], '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777);  // what is wrong shows when the last one is made
        *slash = '/';
    }
    return mkdir(path, 0777) == 0 || errno == EEXIST
               ? PERP_OK
               : fail_system(error, "create the directory", dir);
}

// A directory with other files in it is refused: nothing of a user is overwritten.
static perp_status check_contents(const char *dir, perp_error *error)
{
    DIR *listing = opendir(dir);
    if (!listing) {
        return fail_system(error, "use the directory", dir);
    }
    bool empty = true, sweep = false;
    for (const struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
        empty = empty && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0);
        sweep = sweep || strcmp(entry->d_name, PP_SHARDS) == 0;
    }
    closedir(listing);
    return empty || sweep ? PERP_OK
                          : pp_fail(error, PERP_ERR_IO,
                                    "the directory '%.120s' contains files but no sweep: choose "
                                    "another",
                                    dir);
}

// ── The file ─────────────────────────────────────────────────────────────────────────────────────

perp_status pp_shard_check(const perp_sweep *sweep, const char *path, const void *bytes,
                           size_t size, perp_error *error)
{
    pp_shard_head head = {0};
    memcpy(&head, bytes, size < sizeof head ? size : sizeof head);
    if (size < sizeof head || memcmp(head.mark, PP_SHARD_MARK, sizeof head.mark) != 0) {
        return pp_fail(error, PERP_ERR_FORMAT, "'%.150s' is no shard of a sweep", path);
    }
    if (head.identity != sweep->identity) {
        return pp_fail(error, PERP_ERR_FORMAT,
                       "'%.120s' has rows of another sweep: the sweep file, its scene or perp has "
                       "changed; choose another directory",
                       path);
    }
    return PERP_OK;
}

size_t pp_shard_good(const perp_sweep *sweep, const char *bytes, size_t size,
                     void (*found)(void *user, const void *row, size_t size), void *user)
{
    double value[2 * PP_SWEEP_NAMES];
    perp_sweep_row row = {.value = value};
    size_t at = sizeof(pp_shard_head);
    while (at < size) {
        size_t length = perp_sweep_row_size(sweep, bytes + at, size - at);
        if (length == 0 || length == SIZE_MAX ||
            !perp_sweep_row_unpack(sweep, bytes + at, length, &row)) {
            return at;
        }
        if (found) {
            found(user, bytes + at, length);
        }
        at += length;
    }
    return at < size ? at : size;
}

// Rows that are in the file, and where the last good one ends; a new file gets its head.
static perp_status prepare(perp_shard *shard, const perp_sweep *sweep, bool resume,
                           perp_error *error)
{
    pp_file file = {0};
    struct stat about;
    if (fstat(shard->file, &about) != 0) {
        return fail_system(error, "read", shard->path);
    }
    // Killed while the head was written: there is nothing to keep.
    if ((size_t)about.st_size < sizeof(pp_shard_head)) {
        pp_shard_head head = {.mark = PP_SHARD_MARK, .identity = sweep->identity};
        bool good = ftruncate(shard->file, 0) == 0 &&
                    write(shard->file, &head, sizeof head) == (ssize_t)sizeof head;
        return good ? PERP_OK : fail_system(error, "write", shard->path);
    }
    perp_status status = pp_file_read(shard->path, PP_FILE_MAX, false, &shard->env, &file, error);
    if (status == PERP_OK) {
        status = pp_shard_check(sweep, shard->path, file.text, file.size, error);
    }
    if (status == PERP_OK && !resume && file.size > sizeof(pp_shard_head)) {
        status = pp_fail(error, PERP_ERR_ARGUMENT,
                         "'%.120s' has results already: continue with --resume, or choose another "
                         "directory",
                         shard->path);
    }
    if (status == PERP_OK) {
        size_t good = pp_shard_good(sweep, file.text, file.size, NULL, NULL);
        if (good < file.size && ftruncate(shard->file, (off_t)good) != 0) {
            status = fail_system(error, "write", shard->path);
        }
    }
    pp_file_free(&file, &shard->env);
    return status;
}

static perp_status open_file(perp_shard *shard, const char *dir, const char *name,
                             perp_error *error)
{
    char folder[PP_PATH_MAX], base[200];
    perp_status status = pp_path_join(folder, dir, PP_SHARDS, error);
    if (status < 0) {
        return status;
    }
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        return fail_system(error, "create the directory", folder);
    }
    pp_print(base, sizeof base, "%.150s" PP_SHARD_END, name);
    status = pp_path_join(shard->path, folder, base, error);
    if (status < 0) {
        return status;
    }
    shard->file = open(shard->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (shard->file < 0) {
        return fail_system(error, "write", shard->path);
    }
    if (flock(shard->file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return pp_fail(error, PERP_ERR_IO,
                       "another process is writing '%.120s': wait until it ends, or choose another "
                       "directory",
                       shard->path);
    }
    return PERP_OK;  // a file system without locks goes without
}

perp_status perp_shard_open(const perp_sweep *sweep, const char *dir, const char *name, bool resume,
                            perp_shard **out, perp_error *error)
{
    if (!sweep || !dir || !name || !out) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "perp_shard_open: NULL argument");
    }
    *out = NULL;
    perp_status status = make_directory(dir, error);
    if (status == PERP_OK) {
        status = check_contents(dir, error);
    }
    if (status < 0) {
        return status;
    }
    perp_shard *shard = pp_alloc(&sweep->env, sizeof *shard);
    if (!shard) {
        return pp_sweep_memory(error);
    }
    // The file is open and locked, or nothing is left.
    *shard = (perp_shard){.env = sweep->env, .file = -1};
    status = open_file(shard, dir, name, error);
    if (status == PERP_OK) {
        status = prepare(shard, sweep, resume, error);
    }
    if (status < 0) {
        if (shard->file >= 0) {
            close(shard->file);
        }
        pp_free(&sweep->env, shard, sizeof *shard);
        return status;
    }
    *out = shard;
    return PERP_OK;
}

// One call: the system appends all of it or, where the disk is full, a part, which the next reader drops.
perp_status perp_shard_append(perp_shard *shard, const void *row, size_t size, perp_error *error)
{
    if (!shard || !row) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "shard: nothing to append, or nowhere to");
    }
    ssize_t written = write(shard->file, row, size);
    if (written == (ssize_t)size) {
        return PERP_OK;
    }
    errno = written >= 0 ? ENOSPC : errno;
    return fail_system(error, "write", shard->path);
}

perp_status perp_shard_close(perp_shard *shard, perp_error *error)
{
    if (!shard) {
        return PERP_OK;
    }
    // fsync may be the first call that sees a full disk of another machine.
    bool good = fsync(shard->file) == 0 || errno == EINVAL;
    perp_status status = good ? PERP_OK : fail_system(error, "write", shard->path);
    close(shard->file);
    perp_env env = shard->env;
    pp_free(&env, shard, sizeof *shard);
    return status;
}
