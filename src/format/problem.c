// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Problems read from files: which reader a file needs, and questions about the problem.
//
// A file goes through two stages. The reader of its format fills a pp_draft in scratch memory, and
// pp_draft_finish checks it and copies it into a problem with an arena of its own. All formats give
// the same problem for the same numbers, and the same messages about what a kind needs.
#include "format/format.h"
#include "format/ncp_model.h"

#include <string.h>

// ── Telling formats apart ────────────────────────────────────────────────────────────────────────

static bool starts_with(const char *text, size_t size, const char *head, size_t length)
{
    return size >= length && memcmp(text, head, length) == 0;
}

// The first bytes show the format. Git stores large files as pointers, which are recognised for a
// better message.
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

// The name of a file without its folders and known endings, of which it may have several.
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

// *problem is NULL after a failure. The text need not be terminated.
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
    // the byte order mark of UTF-8, which some editors write
    size_t mark = text && starts_with(text, size, "\xef\xbb\xbf", 3) ? 3 : 0;
    draft.text = text ? text + mark : "";
    draft.size = size - mark;
    perp_status status = read_draft(&draft);
    if (status == PERP_OK) {
        status = pp_draft_finish(&draft, problem);
    }
    pp_arena_destroy(scratch);
    return status;
}

// PP_FILE_MAX bounds the memory that a wrong path can take.
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
    pp_file file = {0};
    perp_status status = pp_file_read(path, PP_FILE_MAX, true, env, &file, error);
    if (status == PERP_OK) {
        status = perp_problem_parse(path, file.text, file.size, env, problem, error);
    }
    pp_file_free(&file, env);
    return status;
}

// NULL is allowed.
void perp_problem_destroy(perp_problem *problem)
{
    if (problem) {
        pp_arena_destroy(problem->arena);
    }
}

// ── Questions ────────────────────────────────────────────────────────────────────────────────────

perp_problem_kind perp_problem_kind_of(const perp_problem *problem)
{
    return problem ? problem->kind : PERP_PROBLEM_MCP;
}

const char *perp_problem_name(const perp_problem *problem)
{
    return problem ? problem->name : "";
}

const char *perp_problem_word(const perp_problem *problem)
{
    return problem ? problem->word : "";
}

const perp_mcp *perp_problem_mcp(const perp_problem *problem)
{
    return problem && problem->kind == PERP_PROBLEM_MCP ? &problem->mcp : NULL;
}

const perp_fcp *perp_problem_fcp(const perp_problem *problem)
{
    return problem && problem->kind == PERP_PROBLEM_FCP ? &problem->fcp : NULL;
}

const perp_ncp *perp_problem_ncp(const perp_problem *problem)
{
    return problem && problem->kind == PERP_PROBLEM_NCP ? &problem->ncp : NULL;
}

const char *perp_problem_variable(const perp_problem *problem, int i)
{
    bool named = problem && problem->model && i >= 0 && i < problem->ncp.n;
    return named ? problem->model->name[i] : NULL;
}
