// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#define _XOPEN_SOURCE 700  // NOLINT(bugprone-reserved-identifier): realpath
#include "import/files.h"

#include "format/format.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if !defined(PATH_MAX)
#define PATH_MAX 4096
#endif

// Bytes that all files of a model may have together: a model can name one file any number of times.
static const size_t READ_MOST = (size_t)1 << 30;

// ── Where ────────────────────────────────────────────────────────────────────────────────────────

// Length of the folder in a path, with the slash. A model that comes through a stream has the current folder.
static size_t folder_length(const char *path)
{
    bool stream = strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/self/fd/", 14) == 0;
    const char *slash = stream ? NULL : strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
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

// Whether the real path is in the folder, symbolic links followed in both. -1: one of them does not exist.
static int is_inside(const char *folder, const char *path)
{
    char home[PATH_MAX], place[PATH_MAX];
    if (!realpath(*folder ? folder : ".", home) || !realpath(path, place)) {
        return -1;
    }
    size_t length = strlen(home);
    length -= home[length - 1] == '/';
    return strncmp(home, place, length) == 0 && place[length] == '/';
}

// ── Reading ──────────────────────────────────────────────────────────────────────────────────────

// Reads a file that may be read. One that does not exist is marked.
static perp_status read_path(pp_import_files *files, const char *path, const pp_xml *at,
                             pp_import_file *out, perp_error *error)
{
    if (access(path, F_OK) != 0) {
        *out = (pp_import_file){.text = "", .missing = true};
        return PERP_OK;
    }
    // The text moves to the arena, so that trees may point into it.
    pp_file file = {0};
    perp_error fault = {0};
    double bytes = 1e6 * files->options->max_mb;
    size_t most = bytes < (double)PP_FILE_MAX ? (size_t)bytes : (size_t)PP_FILE_MAX;
    perp_status status = pp_file_read(path, most, false, files->env, &file, &fault);
    char *copy = status == PERP_OK ? PP_ARRAY(files->arena, char, file.size + 1) : NULL;
    if (copy) {
        memcpy(copy, file.text, file.size);
        copy[file.size] = '\0';
        *out = (pp_import_file){.text = copy, .size = file.size};
        files->read += file.size;
    }
    pp_file_free(&file, files->env);
    if (status == PERP_ERR_MEMORY || (status == PERP_OK && !copy)) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for this model");
    }
    if (status < 0) {
        return pp_xml_fail(at, error, "'%.90s': %s", path, fault.text);
    }
    if (files->read > READ_MOST) {
        return pp_xml_fail(at, error, "the files of this model have more than 1 GB together");
    }
    return PERP_OK;
}

// Reads the path if it is in the folder `home`, or if files from elsewhere are allowed.
static perp_status read_within(pp_import_files *files, const char *home, const char *path,
                               bool down, const pp_xml *at, pp_import_file *out, perp_error *error)
{
    int inside = is_inside(home, path);
    // For a file that does not exist the name alone decides, so that a model cannot find out which files of the
    // user exist.
    bool foreign = inside == 0 || (inside < 0 && !down);
    if (foreign && !files->options->outside) {
        return pp_xml_fail(at, error,
                           "'%.90s' is outside the directory of the model; move it there, or "
                           "allow it (--allow-outside)",
                           path);
    }
    return read_path(files, path, at, out, error);
}

perp_status pp_import_read(pp_import_files *files, const char *folder, const char *name,
                           const pp_xml *at, pp_import_file *out, perp_error *error)
{
    char home[PATH_MAX], path[PATH_MAX];
    size_t length = folder_length(files->main_file);
    *out = (pp_import_file){.text = "", .missing = true};
    if (files->options->no_files) {
        return PERP_OK;
    }
    // Backslashes are separators in files from other systems.
    bool absolute = name[0] == '/', far = folder && folder[0] == '/';
    int used = snprintf(home, sizeof home, "%.*s", (int)length, files->main_file);
    int size = snprintf(path, sizeof path, "%s%s%s%s", absolute || far ? "" : home,
                        folder && !absolute ? folder : "",
                        folder && *folder && !absolute ? "/" : "", name);
    if (used < 0 || size < 0 || (size_t)size >= sizeof path || (size_t)used >= sizeof home) {
        return pp_xml_fail(at, error, "the path of the file is too long");
    }
    for (char *c = path; *c; c++) {
        *c = *c == '\\' ? '/' : *c;
    }
    bool down = goes_down(name) && (!folder || goes_down(folder));
    return read_within(files, home, path, down, at, out, error);
}

// ── Packages ─────────────────────────────────────────────────────────────────────────────────────

// The file `rest` of a package, if a folder has that package: *out is filled, and true returned.
static bool try_package(pp_import_files *files, const char *folder, const char *name,
                        const char *rest, const pp_xml *at, pp_import_file *out,
                        perp_status *status, perp_error *error)
{
    char home[PATH_MAX], path[PATH_MAX];
    int a = snprintf(home, sizeof home, "%s%s%s", folder, *folder ? "/" : "", name);
    int b = snprintf(path, sizeof path, "%s/%s", home, rest);
    if (a < 0 || b < 0 || (size_t)a >= sizeof home || (size_t)b >= sizeof path ||
        access(path, F_OK) != 0) {
        return false;
    }
    *status = read_within(files, home, path, true, at, out, error);
    return true;
}

// A package is looked for in the folders the user names, then as a folder above the model that contains it: the
// model is then part of that package.
static perp_status read_package(pp_import_files *files, const char *name, const char *rest,
                                const pp_xml *at, pp_import_file *out, perp_error *error)
{
    perp_status status = PERP_OK;
    char folder[PATH_MAX], real[PATH_MAX];
    const char *path = files->options->package_path;
    while (path && *path) {
        size_t length = strcspn(path, ":");
        if (length > 0 && length < sizeof folder) {
            memcpy(folder, path, length);
            folder[length] = '\0';
            if (try_package(files, folder, name, rest, at, out, &status, error)) {
                return status;
            }
        }
        path += length;
        path += *path == ':';
    }
    snprintf(folder, sizeof folder, "%.*s.", (int)folder_length(files->main_file),
             files->main_file);
    if (!goes_down(rest) || !realpath(folder, real)) {
        return PERP_OK;
    }
    // Folders upwards: one that is called NAME, or that has a folder NAME.
    for (char *slash = real + strlen(real); slash; slash = strrchr(real, '/')) {
        *slash = '\0';
        const char *last = strrchr(real, '/');
        if (last && strcmp(last + 1, name) == 0 &&
            try_package(files, real, ".", rest, at, out, &status, error)) {
            return status;
        }
        if (files->options->outside &&
            try_package(files, real, name, rest, at, out, &status, error)) {
            return status;
        }
        if (files->options->outside &&
            try_package(files, real, ".", rest, at, out, &status, error)) {
            return status;
        }
    }
    return PERP_OK;
}

perp_status pp_import_read_uri(pp_import_files *files, const char *uri, const pp_xml *at,
                               pp_import_file *out, perp_error *error)
{
    static const char *const schemes[] = {"package://", "model://"};
    *out = (pp_import_file){.text = "", .missing = true};
    if (files->options->no_files) {
        return PERP_OK;
    }
    for (int k = 0; k < 2; k++) {
        size_t length = strlen(schemes[k]);
        if (strncmp(uri, schemes[k], length) == 0) {
            char name[256];
            size_t n = strcspn(uri + length, "/");
            if (n == 0 || n >= sizeof name || !uri[length + n]) {
                return pp_xml_fail(at, error, "'%.90s' is not of the form package://NAME/FILE",
                                   uri);
            }
            memcpy(name, uri + length, n);
            name[n] = '\0';
            if (strcmp(name, "..") == 0 || strcmp(name, ".") == 0) {
                return pp_xml_fail(at, error, "'%.90s': '%s' is no package", uri, name);
            }
            return read_package(files, name, uri + length + n + 1, at, out, error);
        }
    }
    uri += strncmp(uri, "file://", 7) == 0 ? 7 : 0;
    return pp_import_read(files, NULL, uri, at, out, error);
}
