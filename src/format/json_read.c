// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Reader of perp's own JSON form (docs/file-format.md). jansson parses the text. Duplicate and
// unknown keys are errors, and every message has the place of the value that it is about.
//
//   {"perp_problem": 1, "kind": "lcp", "name": "two",
//    "A": {"rows": 2, "cols": 2, "dense": [[2, 1], [1, 2]]}, "b": [-1, -1]}
//
// A sparse matrix has "entries": [[row, column, number], ...] in place of "dense". Keys may come in
// any order. Vectors and matrices of the same meaning have two names: b and A in an MCP, q and M or
// W in a contact problem.
#include "format/format.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum { PATH_MAX_BYTES = 64 };  // "key.entries", for messages

// The tree belongs to jansson and is freed when reading ends; vectors and matrices are copied from
// it.
typedef struct json_reader {
    pp_draft *draft;
    json_t *root;
} json_reader;

// Fails at the value that the path and the indices lead to.
static perp_status fail_at(json_reader *in, const char *path, const int *index, int depth,
                           const char *text)
{
    pp_draft *draft = in->draft;
    const char *at = pp_json_locate(draft->text, draft->size, path, index, depth);
    return pp_draft_fail(draft, NULL, at ? at : draft->text, "%s", text);
}

// Fails at the value of a key, which the message names.
static perp_status fail_key(json_reader *in, const char *path, const char *what)
{
    char text[200];
    pp_print(text, sizeof text, "'%s': %s", path, what);
    return fail_at(in, path, NULL, 0, text);
}

// ── Scalars ──────────────────────────────────────────────────────────────────────────────────────

// An integer in 0..high.
static perp_status read_int(json_reader *in, const char *path, const json_t *value, int high,
                            int *out)
{
    char text[120];
    if (json_is_integer(value) && json_integer_value(value) >= 0 &&
        json_integer_value(value) <= high) {
        *out = (int)json_integer_value(value);
        return PERP_OK;
    }
    pp_print(text, sizeof text, "write an integer in 0..%d", high);
    return fail_key(in, path, text);
}

// A number; or "inf" or "-inf" where a bound may be infinite, since JSON has no infinite numbers.
static bool value_of(const json_t *json, bool infinite, double *out)
{
    if (json_is_number(json)) {
        *out = json_number_value(json);
        return true;
    }
    const char *word = infinite && json_is_string(json) ? json_string_value(json) : "";
    if (strcmp(word, "inf") == 0 || strcmp(word, "-inf") == 0) {
        *out = word[0] == '-' ? -PP_INF : PP_INF;
        return true;
    }
    return false;
}

// ── Vectors ──────────────────────────────────────────────────────────────────────────────────────

// A vector. b and q, and others, are two names of one slot: only one of them may be given.
static perp_status read_vector(json_reader *in, const char *key, const json_t *array, pp_slot slot)
{
    if (!json_is_array(array) || json_array_size(array) > INT_MAX) {
        return fail_key(in, key, "write an array of numbers");
    }
    int n = (int)json_array_size(array);
    double *x = PP_ARRAY(in->draft->scratch, double, n);
    if (!x) {
        return pp_draft_memory(in->draft);
    }
    if (in->draft->vector[slot].label) {
        return fail_key(in, key, "the same vector is given by two keys");
    }
    bool infinite = slot == PP_VECTOR_LOWER || slot == PP_VECTOR_UPPER;
    for (int k = 0; k < n; k++) {
        if (!value_of(json_array_get(array, (size_t)k), infinite, &x[k])) {
            char text[120];
            pp_print(text, sizeof text, "vector '%s': entry %d is not a number%s", key, k,
                     infinite ? ", \"inf\" or \"-inf\"" : "");
            return fail_at(in, key, &k, 1, text);
        }
    }
    in->draft->vector[slot] = (pp_vector){.label = key, .x = x, .n = n};
    return PERP_OK;
}

// ── Matrices ─────────────────────────────────────────────────────────────────────────────────────

// A dense matrix as an array of rows, stored by columns.
static perp_status read_dense(json_reader *in, const char *key, const json_t *rows,
                              pp_raw_matrix *raw)
{
    char path[PATH_MAX_BYTES], text[160];
    pp_print(path, sizeof path, "%s.dense", key);
    if (!json_is_array(rows) || json_array_size(rows) != (size_t)raw->rows) {
        pp_print(text, sizeof text, "matrix '%s': 'dense' must be an array of %d rows", key,
                 raw->rows);
        return fail_at(in, path, NULL, 0, text);
    }
    // All lengths are checked before memory is allocated: rows x cols may be larger than the file.
    for (int i = 0; i < raw->rows; i++) {
        const json_t *row = json_array_get(rows, (size_t)i);
        if (!json_is_array(row) || json_array_size(row) != (size_t)raw->cols) {
            pp_print(text, sizeof text, "matrix '%s': row %d must be an array of %d numbers", key,
                     i, raw->cols);
            return fail_at(in, path, &i, 1, text);
        }
    }
    raw->dense = PP_ARRAY(in->draft->scratch, double, (size_t)raw->rows *(size_t)raw->cols);
    if (!raw->dense) {
        return pp_draft_memory(in->draft);
    }
    for (int i = 0; i < raw->rows; i++) {
        const json_t *row = json_array_get(rows, (size_t)i);
        for (int j = 0; j < raw->cols; j++) {
            double *x = &raw->dense[(size_t)i + (size_t)j * (size_t)raw->rows];
            if (!value_of(json_array_get(row, (size_t)j), false, x)) {
                pp_print(text, sizeof text, "matrix '%s': row %d, column %d is not a number", key,
                         i, j);
                return fail_at(in, path, (const int[]){i, j}, 2, text);
            }
        }
    }
    return PERP_OK;
}

// An index in 0..size - 1; *out is -1 where it is none.
static bool read_index(const json_t *json, int size, int *out)
{
    json_int_t value = json_is_integer(json) ? json_integer_value(json) : -1;
    *out = value >= 0 && value < size ? (int)value : -1;
    return *out >= 0;
}

// Finds out what is wrong with an entry that could not be read: its form, its row or its column.
static perp_status bad_entry(json_reader *in, const char *key, int k, const json_t *entry,
                             const pp_raw_matrix *raw)
{
    char path[PATH_MAX_BYTES], text[160];
    int i, j;
    pp_print(path, sizeof path, "%s.entries", key);
    pp_print(text, sizeof text, "matrix '%s': entry %d must be [row, column, number]", key, k);
    if (json_array_size(entry) != 3) {
        return fail_at(in, path, &k, 1, text);
    }
    const json_t *row = json_array_get(entry, 0), *col = json_array_get(entry, 1);
    if (json_is_integer(row) && !read_index(row, raw->rows, &i)) {
        pp_print(text, sizeof text,
                 "matrix '%s': entry %d has row %lld, but the matrix has %d rows "
                 "(0..%d)",
                 key, k, (long long)json_integer_value(row), raw->rows, raw->rows - 1);
    } else if (json_is_integer(col) && !read_index(col, raw->cols, &j)) {
        pp_print(text, sizeof text,
                 "matrix '%s': entry %d has column %lld, but the matrix has %d "
                 "columns (0..%d)",
                 key, k, (long long)json_integer_value(col), raw->cols, raw->cols - 1);
    }
    return fail_at(in, path, &k, 1, text);
}

// A sparse matrix as a list of [row, column, number].
static perp_status read_entries(json_reader *in, const char *key, const json_t *entries,
                                pp_raw_matrix *raw)
{
    char path[PATH_MAX_BYTES];
    pp_print(path, sizeof path, "%s.entries", key);
    if (!json_is_array(entries) || json_array_size(entries) > INT_MAX) {
        return fail_key(in, path, "write an array of [row, column, number]");
    }
    int nnz = (int)json_array_size(entries);
    perp_status status = pp_raw_triplets(in->draft, raw, nnz);
    if (status != PERP_OK) {
        return status;
    }
    for (int k = 0; k < nnz; k++) {
        const json_t *entry = json_array_get(entries, (size_t)k);
        if (json_array_size(entry) != 3 ||
            !read_index(json_array_get(entry, 0), raw->rows, &raw->i[k]) ||
            !read_index(json_array_get(entry, 1), raw->cols, &raw->j[k]) ||
            !value_of(json_array_get(entry, 2), false, &raw->x[k])) {
            return bad_entry(in, key, k, entry, raw);
        }
    }
    raw->nnz = nnz;
    return PERP_OK;
}

// One of the sizes of a matrix.
static perp_status read_shape(json_reader *in, const char *key, const json_t *matrix,
                              const char *name, int *out)
{
    char path[PATH_MAX_BYTES];
    pp_print(path, sizeof path, "%s.%s", key, name);
    const json_t *value = json_object_get(matrix, name);
    if (!value) {
        pp_print(path, sizeof path, "%s", key);
        return fail_key(in, path, "a matrix has 'rows', 'cols', and 'dense' or 'entries'");
    }
    perp_status status = read_int(in, path, value, INT_MAX, out);
    // A problem has at least one number in its vectors for each row and column, so that the size of
    // the text bounds them.
    if (status == PERP_OK && (size_t)*out > in->draft->size) {
        char text[120];
        pp_print(text, sizeof text, "%d is more than a file of %zu bytes can hold", *out,
                 in->draft->size);
        return fail_key(in, path, text);
    }
    return status;
}

// faithful: the matrix stays dense or sparse as the file has it, so that writing gives it back.
static perp_status read_matrix(json_reader *in, const char *key, const json_t *matrix,
                               pp_matrix_slot slot)
{
    pp_raw_matrix *raw = &in->draft->matrix[slot];
    if (raw->label) {
        return fail_key(in, key, "the same matrix is given by two keys");
    }
    *raw = (pp_raw_matrix){.label = key, .faithful = true};
    const json_t *dense = json_object_get(matrix, "dense");
    const json_t *entries = json_object_get(matrix, "entries");
    if (json_object_size(matrix) != 3 || !dense == !entries) {
        return fail_key(in, key, "a matrix has 'rows', 'cols', and 'dense' or 'entries'");
    }
    perp_status status = read_shape(in, key, matrix, "rows", &raw->rows);
    if (status == PERP_OK) {
        status = read_shape(in, key, matrix, "cols", &raw->cols);
    }
    if (status != PERP_OK) {
        return status;
    }
    return dense ? read_dense(in, key, dense, raw) : read_entries(in, key, entries, raw);
}

// ── The object ───────────────────────────────────────────────────────────────────────────────────

// jansson's strings may hold zero bytes, which a name must not.
static perp_status read_name(json_reader *in, const json_t *value)
{
    pp_draft *draft = in->draft;
    if (!json_is_string(value) || json_string_length(value) >= PP_NAME_MAX ||
        strlen(json_string_value(value)) != json_string_length(value)) {
        return fail_key(in, "name", "write a string of at most 255 bytes");
    }
    pp_print(draft->name, sizeof draft->name, "%s", json_string_value(value));
    return PERP_OK;
}

static perp_status read_kind(json_reader *in, const json_t *value)
{
    const char *word = json_is_string(value) ? json_string_value(value) : "";
    in->draft->kind = pp_draft_kind(word, strlen(word));
    return in->draft->kind ? PERP_OK : fail_key(in, "kind", "write " PP_JSON_KINDS);
}

// Other versions of the form would be refused here.
static perp_status read_version(json_reader *in, const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) == 1
               ? PERP_OK
               : fail_key(in, "perp_problem", "write 1, the version of the format");
}

// Keys that only some kinds have are accepted for all: pp_draft_finish decides.
static perp_status read_key(json_reader *in, const char *key, const json_t *value)
{
    static const struct {
        const char *key;
        pp_slot slot;
    } vectors[] = {
        {"b", PP_VECTOR_Q},         {"q", PP_VECTOR_Q},   {"lower", PP_VECTOR_LOWER},
        {"upper", PP_VECTOR_UPPER}, {"mu", PP_VECTOR_MU}, {"mu_spin", PP_VECTOR_MU_SPIN},
        {"nd", PP_VECTOR_ND},       {"f", PP_VECTOR_F},   {"mu_roll", PP_VECTOR_MU_ROLL},
        {"w", PP_VECTOR_W},
    };
    static const struct {
        const char *key;
        pp_matrix_slot slot;
    } matrices[] = {{"A", PP_MATRIX_M}, {"M", PP_MATRIX_M}, {"W", PP_MATRIX_W}, {"H", PP_MATRIX_H}};
    pp_draft *draft = in->draft;
    if (strcmp(key, "perp_problem") == 0) {
        return read_version(in, value);
    }
    if (strcmp(key, "name") == 0) {
        return read_name(in, value);
    }
    if (strcmp(key, "kind") == 0) {
        return read_kind(in, value);
    }
    const struct {
        const char *key;
        int *value;
    } scalars[] = {{"n", &draft->n},
                   {"dim", &draft->dim},
                   {"contacts", &draft->contacts},
                   {"dofs", &draft->dofs}};
    // Labels come from these tables, not from jansson, whose strings are freed after reading.
    for (size_t k = 0; k < sizeof scalars / sizeof scalars[0]; k++) {
        if (strcmp(key, scalars[k].key) == 0) {
            return read_int(in, key, value, INT_MAX, scalars[k].value);
        }
    }
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        if (strcmp(key, vectors[k].key) == 0) {
            return read_vector(in, vectors[k].key, value, vectors[k].slot);
        }
    }
    for (size_t k = 0; k < sizeof matrices / sizeof matrices[0]; k++) {
        if (strcmp(key, matrices[k].key) == 0) {
            return read_matrix(in, matrices[k].key, value, matrices[k].slot);
        }
    }
    char text[120];
    pp_print(text, sizeof text, "unknown key '%.40s'", key);
    return fail_at(in, key, NULL, 0, text);
}

// A nonlinear problem: names and expressions instead of vectors and matrices.
static perp_status read_nonlinear(json_reader *in)
{
    static const char *const common[] = {"perp_problem", "name"};
    pp_draft *draft = in->draft;
    for (int k = 0; k < 2; k++) {
        const json_t *value = json_object_get(in->root, common[k]);
        perp_status status = value ? read_key(in, common[k], value) : PERP_OK;
        if (status != PERP_OK) {
            return status;
        }
    }
    perp_problem *problem = pp_draft_problem(draft);
    if (!problem) {
        return pp_draft_memory(draft);
    }
    perp_status status = pp_ncp_read(draft, in->root, problem);
    if (status < 0) {
        perp_problem_destroy(problem);
        return status;
    }
    draft->made = problem;
    return PERP_OK;
}

// The version comes first in the checks: without it the file is of another kind.
static perp_status read_root(json_reader *in)
{
    const char *key;
    json_t *value;
    if (!json_object_get(in->root, "perp_problem")) {
        return fail_at(
            in, "", NULL, 0,
            "this JSON is not a problem: it has no key 'perp_problem' (docs/file-format.md)");
    }
    const json_t *kind = json_object_get(in->root, "kind");
    if (json_is_string(kind) && strcmp(json_string_value(kind), "ncp") == 0) {
        return read_nonlinear(in);
    }
    json_object_foreach(in->root, key, value)
    {
        perp_status status = read_key(in, key, value);
        if (status != PERP_OK) {
            return status;
        }
    }
    return PERP_OK;
}

perp_status pp_json_syntax(const struct json_error_t *fault, perp_error *error)
{
    // jansson leaves the message empty where most of its own allocations fail.
    if (json_error_code(fault) == json_error_out_of_memory || !fault->text[0]) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory to read the file");
    }
    // The message may quote bytes of the file.
    char text[JSON_ERROR_TEXT_LENGTH];
    pp_print(text, sizeof text, "%s", fault->text);
    for (char *c = text; *c; c++) {
        *c = *c >= ' ' && *c <= '~' ? *c : '?';
    }
    if (error) {
        error->line = fault->line > 0 ? fault->line : 0;
        error->column = fault->column > 0 ? fault->column : 0;
    }
    return pp_fail(error, PERP_ERR_FORMAT, "JSON: %s", text);
}

// The tree is freed on every path; messages find places in the text itself.
perp_status pp_json_read(pp_draft *draft)
{
    json_error_t fault;
    draft->json = true;
    json_reader in = {draft, json_loadb(draft->text, draft->size, JSON_REJECT_DUPLICATES, &fault)};
    if (!in.root) {
        return pp_json_syntax(&fault, draft->error);
    }
    perp_status status = read_root(&in);
    json_decref(in.root);
    return status;
}
