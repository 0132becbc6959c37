// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The directory of a recording: made, locked, cleared of what was in it.
//
// The lock is the kernel's (flock) on a file run.lock: it ends with its process however that ends,
// so that no lock outlives a kill. The file is removed by its owner; whoever opened it before that
// and locks it after that holds a file without a name, notices, and tries again.
#include "record/writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK "run.lock"

// Files of a recording, all that is ever removed.
static const char *const files[] = {"run.h5",          "bodies.csv",        "contacts.csv",
                                    "part_bodies.csv", "part_contacts.csv", "events.jsonl",
                                    "joints.csv",      "actuators.csv",     "sensors.csv",
                                    "summary.json",    "report.json"};
enum { FILE_COUNT = sizeof files / sizeof files[0], ATTEMPTS = 100 };

// With the reason that errno holds.
static perp_status cannot_use(const char *dir, perp_error *error)
{
    return pp_fail(error, PERP_ERR_IO, "cannot use the directory '%.150s': %s", dir,
                   strerror(errno));
}

// dir and the directories it is in, as mkdir -p makes them.
static perp_status make_directory(const char *dir, perp_error *error)
{
    char path[PP_PATH_MAX];
    pp_print(path, sizeof path, "%s", dir);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777);  // what is wrong shows when the last one is made
        *slash = '/';
    }
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        return pp_fail(error, PERP_ERR_IO, "cannot create the directory '%.150s': %s", dir,
                       strerror(errno));
    }
    return PERP_OK;
}

// Nothing but recordings is ever replaced: a directory with other files in it is refused.
static perp_status check_contents(const char *dir, perp_error *error)
{
    DIR *listing = opendir(dir);
    if (!listing) {
        return cannot_use(dir, error);
    }
    bool empty = true, recording = false;
    for (const struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
        const char *name = entry->d_name;
        // The lock does not count: another run may just have made the directory.
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strcmp(name, LOCK) != 0) {
            empty = false;
        }
        recording = recording || strcmp(name, "run.h5") == 0;
    }
    closedir(listing);
    if (!empty && !recording) {
        return pp_fail(error, PERP_ERR_IO,
                       "the directory '%.120s' contains files but no recording: choose another",
                       dir);
    }
    return PERP_OK;
}

// ── The lock ─────────────────────────────────────────────────────────────────────────────────────

// The directory is in use. Names the process that holds the lock, where it has written its number.
static perp_status busy(const char *dir, int file, perp_error *error)
{
    char text[24] = "", who[48] = "";
    ssize_t got = pread(file, text, sizeof text - 1, 0);
    if (got > 0 && strtoul(text, NULL, 10) > 0) {
        pp_print(who, sizeof who, " (process %lu)", strtoul(text, NULL, 10));
    }
    return pp_fail(error, PERP_ERR_IO,
                   "another run%s is writing to the directory '%.120s': wait until it ends, or "
                   "choose another directory",
                   who, dir);
}

// Whether the file that was locked still has its name: its last owner may have removed it in
// between.
static bool is_named(const pp_directory_lock *place)
{
    struct stat here, there;
    return fstat(place->lock, &here) == 0 &&
           fstatat(place->dir, LOCK, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

// The number of the process, for messages only: the lock itself is the kernel's.
static void note_process(const pp_directory_lock *place)
{
    char text[24];
    pp_print(text, sizeof text, "%lu\n", (unsigned long)getpid());
    (void)!ftruncate(place->lock, 0);
    (void)!pwrite(place->lock, text, strlen(text), 0);  // for messages only
}

// The directory is kept open, so that the lock is found in it even if it is renamed meanwhile.
static perp_status lock_directory(pp_directory_lock *place, const char *dir, perp_error *error)
{
    place->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (place->dir < 0) {
        return cannot_use(dir, error);
    }
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        place->lock = openat(place->dir, LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (place->lock < 0) {
            return cannot_use(dir, error);
        }
        // Not waiting: a second run into the same directory is a mistake.
        int fault = flock(place->lock, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
        if (fault == EWOULDBLOCK) {
            perp_status status = busy(dir, place->lock, error);
            close(place->lock);
            place->lock = -1;
            return status;
        }
        if (fault != 0 || is_named(place)) {  // a file system without locks goes without
            note_process(place);
            return PERP_OK;
        }
        close(place->lock);
        place->lock = -1;
    }
    errno = EAGAIN;
    return cannot_use(dir, error);
}

// ── All ──────────────────────────────────────────────────────────────────────────────────────────

// Also the .part files of a run that was killed.
perp_status pp_directory_clear(const char *dir, perp_error *error)
{
    for (int k = 0; k < 2 * FILE_COUNT; k++) {
        char name[64], path[PP_PATH_MAX];
        pp_print(name, sizeof name, "%s%s", files[k / 2], k % 2 ? ".part" : "");
        if (pp_path_join(path, dir, name, NULL) == PERP_OK && unlink(path) != 0 &&
            errno != ENOENT) {
            return pp_fail(error, PERP_ERR_IO, "cannot replace '%.150s': %s", path,
                           strerror(errno));
        }
    }
    return PERP_OK;
}

// The directory is looked at before it is locked: the lock leaves a file in it.
perp_status pp_directory_take_lock(pp_directory_lock *place, const char *dir, perp_error *error)
{
    *place = (pp_directory_lock){-1, -1};
    perp_status status = make_directory(dir, error);
    if (status == PERP_OK) {
        status = check_contents(dir, error);
    }
    if (status == PERP_OK) {
        status = lock_directory(place, dir, error);
    }
    if (status == PERP_OK) {  // again: what was there may have changed before it was locked
        status = check_contents(dir, error);
    }
    if (status == PERP_OK) {
        status = pp_directory_clear(dir, error);
    }
    return status;
}

// The name is removed before the lock is released: whoever opens the file after that makes a new
// one.
void pp_directory_unlock(pp_directory_lock *place)
{
    if (place->lock >= 0) {
        if (is_named(place)) {
            unlinkat(place->dir, LOCK, 0);
        }
        close(place->lock);
    }
    if (place->dir >= 0) {
        close(place->dir);
    }
    *place = (pp_directory_lock){-1, -1};
}
