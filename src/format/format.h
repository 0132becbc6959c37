// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of format/: problem files in and out, meshes in, and text that grows.
//
// Every reader fills a pp_draft, the problem as it stands in the file: named vectors and matrices,
// of which nothing is checked but that they could be read. Only pp_draft_finish (draft.c) knows
// what a problem of each kind must have.
#pragma once

#include "base/base.h"
#include "format/mesh_file.h"
#include "format/scan.h"
#include "format/text.h"

#include <perp/problem.h>

#include <stdio.h>

enum {
    PP_NAME_MAX = 256,                 // bytes of a problem's name, with the terminator
    PP_DENSE_MAX = 4000,               // matrices up to this order are kept dense when they are
    PP_FILE_MAX = 1024 * 1024 * 1024,  // bytes of a file
};

// ── The problem as it stands in the file (draft.c) ───────────────────────────────────────────────

// Vectors of all kinds of problem. The formats have different names for them (vector_names in
// draft.c).
typedef enum pp_slot {
    PP_VECTOR_Q,  // q of lcp and fc, b in JSON
    PP_VECTOR_LOWER,
    PP_VECTOR_UPPER,
    PP_VECTOR_COMP,  // 1: complementarity row, 0: equation
    PP_VECTOR_MU,
    PP_VECTOR_MU_SPIN,
    PP_VECTOR_MU_ROLL,
    PP_VECTOR_ND,
    PP_VECTOR_F,
    PP_VECTOR_W,
    PP_VECTOR_COUNT,
} pp_slot;

// Matrices likewise.
typedef enum pp_matrix_slot {
    PP_MATRIX_M,  // A of an MCP, mass of a global contact problem
    PP_MATRIX_W,
    PP_MATRIX_H,
    PP_MATRIX_COUNT,
} pp_matrix_slot;

typedef struct pp_vector {
    const char *label;  // its name in the file; NULL: not there
    const char *at;     // where in the text, or NULL
    const double *x;
    int n;
} pp_vector;

// Dense (column-major) or triplets in the order of the file, of which duplicates add.
typedef struct pp_raw_matrix {
    const char *label, *at;
    int rows, cols;
    double *dense;
    int *i, *j;
    double *x;
    int nnz;
    bool faithful;  // keep the storage of the file (JSON) instead of the better one
} pp_raw_matrix;

typedef struct pp_draft {
    pp_arena *scratch;  // everything here lives in it
    const perp_env *env;
    const char *text;  // of text formats, for positions; NULL otherwise
    size_t size;
    perp_error *error;
    bool json;  // labels are keys of a JSON object: messages find their places by them
    char name[PP_NAME_MAX];
    const char *kind;                          // one of PP_KINDS (static), or NULL
    int n, dim, contacts, dofs, nfree, ncomp;  // -1: not given
    pp_vector vector[PP_VECTOR_COUNT];
    pp_raw_matrix matrix[PP_MATRIX_COUNT];
    perp_problem *made;  // a nonlinear problem, complete already; NULL: none
} pp_draft;

#define PP_KINDS      "lcp, mlcp, boxlcp, relay, fc, gfc, rfc or grfc"
#define PP_JSON_KINDS "lcp, mlcp, boxlcp, relay, ncp, fc, gfc, rfc or grfc"
// The kind of that name; NULL: there is none.
const char *pp_draft_kind(const char *word, size_t length);

pp_draft pp_draft_start(pp_arena *scratch, const perp_env *env, const char *name,
                        perp_error *error);
// Fails with a message about the object called label, at its place in the text. at NULL: the place
// is searched by the label; both NULL: at the end, for something that is missing.
perp_status pp_draft_fail(pp_draft *draft, const char *label, const char *at, const char *format,
                          ...) PP_FORMAT(4, 5);
perp_status pp_draft_memory(pp_draft *draft);
// Checks the draft and makes a problem of it, which does not refer to the draft.
perp_status pp_draft_finish(pp_draft *draft, perp_problem **out);

// Room for nnz triplets; PERP_ERR_MEMORY through the draft.
perp_status pp_raw_triplets(pp_draft *draft, pp_raw_matrix *raw, int nnz);
// Makes CSC with sorted distinct rows, or dense, in the given arena (build.c).
perp_status pp_raw_build(pp_draft *draft, const pp_raw_matrix *raw, pp_arena *arena,
                         perp_matrix *out);

// ── The problem that is handed out (problem.c) ───────────────────────────────────────────────────

struct perp_problem {
    pp_arena *arena;  // owns everything, this struct too
    perp_problem_kind kind;
    const char *word, *name;
    perp_mcp mcp;
    perp_fcp fcp;
    perp_ncp ncp;
    struct pp_ncp_model *model;  // behind ncp
};

// ── Readers ──────────────────────────────────────────────────────────────────────────────────────

// Each fills the draft from draft->text.
perp_status pp_ncx_read(pp_draft *draft);
perp_status pp_siconos_read(pp_draft *draft);
perp_status pp_json_read(pp_draft *draft);
perp_status pp_fclib_read(pp_draft *draft);
// A nonlinear MCP in JSON (ncp_read.c), into a problem that is empty but for its arena and name.
struct json_t;
perp_status pp_ncp_read(pp_draft *draft, const struct json_t *root, perp_problem *problem);
// An empty problem with the name of the draft; NULL: no memory (draft.c).
perp_problem *pp_draft_problem(pp_draft *draft);

// A NumericsMatrix at the scanner's place (siconos_matrix.c).
perp_status pp_siconos_matrix(pp_draft *draft, pp_scan *scan, const char *label,
                              pp_raw_matrix *raw);

// ── Places in JSON text (json_locate.c), which jansson has found valid ───────────────────────────

typedef struct pp_json_step {
    const char *key;  // of an object; NULL: element `index` of an array
    int index;
} pp_json_step;

// Place of the value that the steps lead to from the top; at_key: of the last key itself. NULL: a
// key is missing. An element beyond the end of its array has the place of the closing bracket.
const char *pp_json_find(const char *text, size_t size, const pp_json_step *step, int depth,
                         bool at_key);
// The same for keys "a.b" of objects, then elements index[0], index[1], … of arrays.
const char *pp_json_locate(const char *text, size_t size, const char *path, const int *index,
                           int depth);
// Turns an error of jansson into one of perp, with line and column.
struct json_error_t;
perp_status pp_json_syntax(const struct json_error_t *fault, perp_error *error);

// ── Files (file.c) ───────────────────────────────────────────────────────────────────────────────

// The contents of a file; not terminated.
typedef struct pp_file {
    char *text;
    size_t size, room;
} pp_file;

// Reads a whole file of at most `most` bytes: a regular one, or with `streams` also /dev/stdin and
// /dev/fd/N. To be freed on failure as well.
perp_status pp_file_read(const char *path, size_t most, bool streams, const perp_env *env,
                         pp_file *file, perp_error *error);
void pp_file_free(pp_file *file, const perp_env *env);
// Has `put` write `what`. Afterwards the file at path is either complete or as it was before.
typedef void pp_put(FILE *out, const char *name, const void *what);
perp_status pp_file_write(const char *path, pp_put *put, const char *name, const void *what,
                          perp_error *error);
