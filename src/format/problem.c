// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A problem read from a file: which reader it needs, and what it is asked afterwards.
#include "format/format.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ── Telling formats apart ────────────────────────────────────────────────────────────────────────

static bool starts_with(const char *text, size_t size, const char *head, size_t length)
{
    return size >= length && memcmp(text, head, length) == 0;
}

static perp_status read_draft(pp_draft *draft)
{
    pp_scan scan = pp_scan_start(draft->text, draft->size, draft->error);
    if (starts_with(draft->text, draft->size, "\x89HDF\r\n\x1a\n", 8)) {
        return pp_fclib_read(draft);
    }
    if (!pp_scan_next(&scan)) {
        return pp_scan_fail(&scan, NULL, "the file is empty");
    }
    if (*scan.token == '{') {
        return pp_json_read(draft);
    }
    if (pp_scan_is(&scan, "ncx")) {
        return pp_ncx_read(draft);
    }
    if ((*scan.token >= '0' && *scan.token <= '9') || *scan.token == '-' || *scan.token == '+') {
        return pp_siconos_read(draft);
    }
    if (starts_with(draft->text, draft->size, "version https://git-lfs", 23)) {
        return pp_scan_fail(&scan, scan.token,
                            "this is a git-lfs pointer: fetch the file itself with 'git lfs pull'");
    }
    return pp_scan_fail(&scan, scan.token,
                        "not a problem file: it is neither ncx ('ncx 1'), JSON "
                        "('{'), Siconos text (a number) nor HDF5");
}

// The file's name without folders and known endings.
static void base_name(const char *path, char name[PP_NAME_MAX])
{
    static const char *const endings[] = {".ncx", ".dat", ".json", ".hdf5", ".h5"};
    const char *slash = strrchr(path, '/');
    pp_print(name, PP_NAME_MAX, "%s", slash ? slash + 1 : path);
    for (bool cut = true; cut;) {
        cut = false;
        for (size_t k = 0; k < sizeof endings / sizeof endings[0]; k++) {
            size_t n = strlen(name), m = strlen(endings[k]);
            if (n > m && strcmp(name + n - m, endings[k]) == 0) {
                name[n - m] = '\0';
                cut = true;
            }
        }
    }
}

perp_status perp_problem_parse(const char *name, const char *text, size_t size, const perp_env *env,
                               perp_problem **problem, perp_error *error)
{
    if (error) {
        *error = (perp_error){0};
    }
    if (!problem || !name || (!text && size > 0)) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "perp_problem_parse: NULL argument");
    }
    *problem = NULL;
    pp_arena *scratch = pp_arena_create(env);
    if (!scratch) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory to read");
    }
    char base[PP_NAME_MAX];
    base_name(name, base);
    pp_draft draft = pp_draft_start(scratch, env, base, error);
    size_t mark =
        text && starts_with(text, size, "\xef\xbb\xbf", 3) ? 3 : 0;  // UTF-8, says an editor
    draft.text = text ? text + mark : "";
    draft.size = size - mark;
    perp_status status = read_draft(&draft);
    if (status == PERP_OK) {
        status = pp_draft_finish(&draft, problem);
    }
    pp_arena_destroy(scratch);
    return status;
}

// ── Files ────────────────────────────────────────────────────────────────────────────────────────

typedef struct block {
    char *text;
    size_t size, room;
} block;

static bool block_grow(block *b, const perp_env *env, size_t room)
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

static perp_status read_all(int file, const perp_env *env, size_t guess, block *b,
                            perp_error *error)
{
    if (!block_grow(b, env, guess + 1)) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory to read the file");
    }
    for (;;) {
        if (b->size == b->room && !block_grow(b, env, 2 * b->room + 4096)) {
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
        if (b->size > PP_FILE_MAX) {
            return pp_fail(error, PERP_ERR_FORMAT, "larger than %d MiB, the most that is read",
                           PP_FILE_MAX >> 20);
        }
    }
}

static perp_status slurp(const char *path, const perp_env *env, block *b, perp_error *error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (file < 0 || fstat(file, &about) != 0) {
        perp_status status = pp_fail(error, PERP_ERR_IO, "cannot open: %s", strerror(errno));
        if (file >= 0) {
            close(file);
        }
        return status;
    }
    perp_status status;
    if (S_ISDIR(about.st_mode)) {
        status = pp_fail(error, PERP_ERR_IO, "is a directory: give the files in it");
    } else if (about.st_size > PP_FILE_MAX) {
        status = pp_fail(error, PERP_ERR_FORMAT, "larger than %d MiB, the most that is read",
                         PP_FILE_MAX >> 20);
    } else {
        size_t guess = S_ISREG(about.st_mode) ? (size_t)about.st_size : 4096;
        status = read_all(file, env, guess, b, error);
    }
    close(file);
    return status;
}

perp_status perp_problem_read(const char *path, const perp_env *env, perp_problem **problem,
                              perp_error *error)
{
    if (error) {
        *error = (perp_error){0};
    }
    if (!problem || !path) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "perp_problem_read: NULL argument");
    }
    *problem = NULL;
    block b = {0};
    perp_status status = slurp(path, env, &b, error);
    if (status == PERP_OK) {
        status = perp_problem_parse(path, b.text, b.size, env, problem, error);
    }
    pp_free(env, b.text, b.room);
    return status;
}

void perp_problem_destroy(perp_problem *problem)
{
    if (problem) {
        pp_arena_destroy(problem->arena);
    }
}

// ── Questions ────────────────────────────────────────────────────────────────────────────────────

perp_problem_kind perp_problem_kind_of(const perp_problem *problem)
{
    return problem->kind;
}

const char *perp_problem_name(const perp_problem *problem)
{
    return problem->name;
}

const char *perp_problem_word(const perp_problem *problem)
{
    return problem->word;
}

const perp_mcp *perp_problem_mcp(const perp_problem *problem)
{
    return problem->kind == PERP_PROBLEM_MCP ? &problem->mcp : NULL;
}

const perp_fcp *perp_problem_fcp(const perp_problem *problem)
{
    return problem->kind == PERP_PROBLEM_FCP ? &problem->fcp : NULL;
}
