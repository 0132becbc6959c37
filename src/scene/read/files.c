// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Files that a scene names: found in its folder, read once, and kept with the scene as they are.
//
// A scene may come from anyone. The files it names must be in its own folder or below it, symbolic
// links followed, so that a scene cannot make a program open other files of the user who runs it. A
// file from elsewhere is read if the user allows it, but its contents are not quoted in messages.
#define _XOPEN_SOURCE 700  // NOLINT(bugprone-reserved-identifier): realpath
#include "scene/read/reader.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#if !defined(PATH_MAX)
#define PATH_MAX 4096
#endif

// Room for files at first; most scenes name none or few.
enum { FIRST_FILES = 4 };

// Largest text or file that is read [bytes].
size_t pp_reading_most(const perp_scene_load_options *reading)
{
    double bytes = 1e6 * reading->max_mb;
    return bytes < (double)PP_FILE_MAX ? (size_t)bytes : (size_t)PP_FILE_MAX;
}

// ── Where ────────────────────────────────────────────────────────────────────────────────────────

// Length of the folder in the path of the scene, with the slash. A scene that comes through a
// stream has the current folder.
static size_t folder_length(const char *path)
{
    bool stream = strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/self/fd/", 14) == 0;
    const char *slash = stream ? NULL : strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

// Absolute names stay as they are; others are relative to the folder of the scene.
static char *join_path(pp_reader *r, const char *name)
{
    size_t folder = name[0] == '/' ? 0 : folder_length(r->path_name), size = strlen(name) + 1;
    char *path = pp_reader_text(r, folder + size);
    if (path) {
        memcpy(path, r->path_name, folder);
        memcpy(path + folder, name, size);
    }
    return path;
}

// Whether a name is relative and has no part "..": then it cannot leave the folder but by a link.
static bool goes_down(const char *name)
{
    bool down = name[0] != '/';
    while (*name && down) {
        size_t length = strcspn(name, "/");
        down = !(length == 2 && strncmp(name, "..", 2) == 0);
        name += length;
        name += *name == '/';
    }
    return down;
}

// NOWHERE: the file or the folder does not exist, and realpath gives no answer.
typedef enum whereabouts { INSIDE, OUTSIDE, NOWHERE } whereabouts;

// Compares real paths, in which symbolic links are resolved.
static whereabouts find_file(pp_reader *r, const char *path)
{
    char home[PATH_MAX], place[PATH_MAX];
    size_t n = folder_length(r->path_name);
    char *folder = pp_reader_text(r, n + 2);
    if (!folder) {
        return NOWHERE;
    }
    memcpy(folder, r->path_name, n);
    memcpy(folder + n, ".", 2);
    if (!realpath(folder, home) || !realpath(path, place)) {
        return NOWHERE;
    }
    // The root folder ends with a slash already. The next byte of the path must be one: the folder
    // "a" is not that of "ab/file".
    size_t length = strlen(home);
    length -= home[length - 1] == '/';
    return strncmp(home, place, length) == 0 && place[length] == '/' ? INSIDE : OUTSIDE;
}

// ── Reading ──────────────────────────────────────────────────────────────────────────────────────

// The file of that name in a list; NULL: none.
static const perp_scene_file *among(const perp_scene_file *file, int count, const char *name)
{
    for (int k = 0; k < count; k++) {
        if (strcmp(file[k].name, name) == 0) {
            return &file[k];
        }
    }
    return NULL;
}

// Copies a file into the arena of the scene, with a zero byte after it. NULL: no memory.
static const perp_scene_file *keep_file(perp_scene *scene, const char *name, const void *data,
                                        size_t size)
{
    // The old list stays in the arena: doubling keeps the waste below its size.
    if (scene->files == scene->file_room) {
        int room = 2 * scene->file_room + FIRST_FILES;
        perp_scene_file *file = PP_ARRAY(scene->arena, perp_scene_file, room);
        if (!file) {
            return NULL;
        }
        if (scene->files > 0) {
            memcpy(file, scene->file, (size_t)scene->files * sizeof *file);
        }
        scene->file = file;
        scene->file_room = room;
    }
    size_t length = strlen(name) + 1;
    char *own = PP_ARRAY(scene->arena, char, length);
    char *bytes = PP_ARRAY(scene->arena, char, size + 1);
    if (!own || !bytes) {
        return NULL;
    }
    memcpy(own, name, length);
    if (size > 0) {
        memcpy(bytes, data, size);
    }
    bytes[size] = '\0';
    scene->file[scene->files] = (perp_scene_file){own, bytes, size};
    return &scene->file[scene->files++];
}

// *foreign: the file is outside the folder of the scene.
static perp_status read_from_disk(pp_reader *r, const char *name, const perp_scene_file **out,
                                  bool *foreign)
{
    char *path = join_path(r, name);
    if (!path) {
        return PERP_ERR_MEMORY;
    }
    // For a file that does not exist the name alone decides, so that a scene cannot find out which
    // files of the user exist.
    whereabouts place = find_file(r, path);
    *foreign = place == OUTSIDE || (place == NOWHERE && !goes_down(name));
    if (*foreign && !r->reading->outside) {
        return pp_reader_fail(r,
                              "'file': '%.90s' is outside the directory of the scene; move it "
                              "there, or allow it (--allow-outside)",
                              name);
    }
    pp_file file = {0};
    perp_error error = {0};
    perp_status status =
        pp_file_read(path, pp_reading_most(r->reading), false, r->env, &file, &error);
    if (status == PERP_OK) {
        *out = keep_file(r->scene, name, file.text, file.size);
        status = *out ? PERP_OK : PERP_ERR_MEMORY;
    }
    pp_file_free(&file, r->env);
    if (status == PERP_ERR_MEMORY) {
        return pp_reader_memory(r);
    }
    return status < 0 ? pp_reader_fail(r, "'file': '%.90s': %s", path, error.text) : PERP_OK;
}

// Files that the caller gives with the options come first, then the disk. Either way the scene
// keeps a copy, so that a recording can hold it.
perp_status pp_reader_keep_file(pp_reader *r, const char *name, const perp_scene_file **file,
                                bool *foreign)
{
    const perp_scene_load_options *reading = r->reading;
    const perp_scene_file *given = among(reading->file, reading->files, name);
    *file = among(r->scene->file, r->scene->files, name);
    *foreign = false;
    if (*file) {
        return PERP_OK;
    }
    if (given) {
        *file = keep_file(r->scene, name, given->data, given->size);
        return *file ? PERP_OK : pp_reader_memory(r);
    }
    if (reading->given_only) {
        return pp_reader_fail(r, "'file': '%.90s' is not among the files given", name);
    }
    return read_from_disk(r, name, file, foreign);
}

perp_status pp_reader_mesh(pp_reader *r, const char *name, pp_mesh_file *mesh)
{
    const perp_scene_file *file = NULL;
    bool foreign = false;
    perp_status status = pp_reader_file(r, name, &file, &foreign);
    if (status < 0 || !file) {
        return status;
    }
    perp_error error = {0};
    status = pp_mesh_file_named(name, file->data, file->size, !foreign, r->arena, mesh, &error);
    if (status == PERP_ERR_MEMORY) {
        return pp_reader_memory(r);
    }
    return status < 0 ? pp_reader_fail(r, "'file': %s", error.text) : PERP_OK;
}
