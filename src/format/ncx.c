// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Reader of ncx, a text format for exchange of problems: tokens separated by white space, `ncx 1`,
// then keys with their values in any order, then `end`.
//
//   name s | kind k | dim contacts dofs nfree ncomp n
//   <vector> length v...
//   <MATRIX> rows cols nnz, then nnz times: i j v      from 0, duplicates add
#include "format/format.h"

#include <limits.h>
#include <string.h>

// The scanner runs through the text once, without going back.
typedef struct ncx {
    pp_draft *draft;
    pp_scan scan;
} ncx;

// No object has more entries than the rest of the file has room for, each with its separators.
// Checked before memory is allocated.
static perp_status check_room(ncx *in, const char *what, int count, size_t bytes_each)
{
    size_t room = pp_scan_left(&in->scan) / bytes_each + 1;
    if ((size_t)count <= room) {
        return PERP_OK;
    }
    return pp_scan_fail(&in->scan, in->scan.token,
                        "%s: %d entries do not fit into the rest of the file (%zu bytes)", what,
                        count, pp_scan_left(&in->scan));
}

// infinite: inf and -inf are allowed, as bounds. Six tokens to the line are usual, but any white
// space separates.
static perp_status read_values(ncx *in, const char *what, int n, bool infinite, double *x)
{
    for (int k = 0; k < n; k++) {
        perp_status status = pp_scan_real(&in->scan, what, k, n, infinite, &x[k]);
        if (status != PERP_OK) {
            return status;
        }
    }
    return PERP_OK;
}

// Reads `length v...` into the slot; PP_VECTOR_COUNT: the vector is skipped.
static perp_status read_vector(ncx *in, const char *label, pp_slot slot)
{
    char what[64];
    pp_print(what, sizeof what, "vector '%s'", label);
    const char *at = in->scan.token;
    if (slot < PP_VECTOR_COUNT && in->draft->vector[slot].label) {
        return pp_scan_fail(&in->scan, at, "%s is given twice", what);
    }
    int n;
    char length[80];
    pp_print(length, sizeof length, "length of %s", what);
    perp_status status = pp_scan_int(&in->scan, length, 0, INT_MAX, &n);
    // An entry takes two bytes at the least: a digit and a separator.
    if (status == PERP_OK) {
        status = check_room(in, what, n, 2);
    }
    if (status != PERP_OK) {
        return status;
    }
    double *x = PP_ARRAY(in->draft->scratch, double, n);
    if (!x) {
        return pp_draft_memory(in->draft);
    }
    bool skipped = slot == PP_VECTOR_COUNT;
    bool infinite = slot == PP_VECTOR_LOWER || slot == PP_VECTOR_UPPER;
    status = read_values(in, what, n, infinite, x);
    if (status == PERP_OK && !skipped) {
        in->draft->vector[slot] = (pp_vector){label, at, x, n};
    }
    return status;
}

// Row or column of entry k, from 0.
static perp_status read_index(ncx *in, const char *what, int k, const char *axis, int size,
                              int *value)
{
    if (!pp_scan_next(&in->scan)) {
        return pp_scan_fail(&in->scan, NULL, "%s: the file ends at entry %d", what, k);
    }
    if (pp_number_parse_int(in->scan.token, in->scan.length, 0, size - 1, value)) {
        return PERP_OK;
    }
    pp_quote quote = pp_scan_quote(&in->scan);
    return pp_scan_fail(&in->scan, in->scan.token,
                        "%s: entry %d has %s %s, but the matrix has %d %ss (0..%d)", what, k, axis,
                        quote.text, size, axis, size - 1);
}

static perp_status read_triplets(ncx *in, const char *what, int nnz, pp_raw_matrix *raw)
{
    perp_status status = pp_raw_triplets(in->draft, raw, nnz);
    if (status != PERP_OK) {
        return status;
    }
    for (int k = 0; k < nnz; k++) {
        status = read_index(in, what, k, "row", raw->rows, &raw->i[k]);
        if (status == PERP_OK) {
            status = read_index(in, what, k, "column", raw->cols, &raw->j[k]);
        }
        if (status == PERP_OK) {
            status = pp_scan_real(&in->scan, what, k, nnz, false, &raw->x[k]);
        }
        if (status != PERP_OK) {
            return status;
        }
    }
    raw->nnz = nnz;
    return PERP_OK;
}

// `rows cols nnz` and the entries, of six bytes at the least.
static perp_status read_matrix(ncx *in, const char *label, pp_matrix_slot slot)
{
    char what[64];
    pp_print(what, sizeof what, "matrix '%s'", label);
    pp_raw_matrix *raw = &in->draft->matrix[slot];
    const char *at = in->scan.token;
    if (raw->label) {
        return pp_scan_fail(&in->scan, at, "%s is given twice", what);
    }
    int nnz;
    perp_status status = pp_scan_size(&in->scan, "rows", what, &raw->rows);
    if (status == PERP_OK) {
        status = pp_scan_size(&in->scan, "columns", what, &raw->cols);
    }
    if (status == PERP_OK) {
        status = pp_scan_int(&in->scan, "number of entries", 0, INT_MAX, &nnz);
    }
    if (status == PERP_OK) {
        status = check_room(in, what, nnz, 6);
    }
    raw->label = label;
    raw->at = at;
    if (status != PERP_OK) {
        return status;
    }
    return read_triplets(in, what, nnz, raw);
}

// A word without control characters, which messages and other files can show.
static perp_status read_word(ncx *in, const char *what, char *text, size_t size)
{
    if (!pp_scan_next(&in->scan)) {
        return pp_scan_fail(&in->scan, NULL, "the file ends where the %s is expected", what);
    }
    if (in->scan.length >= size) {
        return pp_scan_fail(&in->scan, in->scan.token, "the %s is longer than %zu bytes", what,
                            size - 1);
    }
    memcpy(text, in->scan.token, in->scan.length);
    text[in->scan.length] = '\0';
    for (char *c = text; *c; c++) {
        if ((unsigned char)*c < ' ') {
            return pp_scan_fail(&in->scan, in->scan.token, "the %s has a control character", what);
        }
    }
    if (strlen(text) != in->scan.length) {
        return pp_scan_fail(&in->scan, in->scan.token, "the %s has a zero byte", what);
    }
    return PERP_OK;
}

// The name of a kind.
static perp_status read_kind(ncx *in)
{
    if (!pp_scan_next(&in->scan)) {
        return pp_scan_fail(&in->scan, NULL, "the file ends where the kind is expected");
    }
    in->draft->kind = pp_draft_kind(in->scan.token, in->scan.length);
    if (in->draft->kind) {
        return PERP_OK;
    }
    pp_quote quote = pp_scan_quote(&in->scan);
    return pp_scan_fail(&in->scan, in->scan.token, "unknown kind '%s': write " PP_KINDS,
                        quote.text);
}

// Reads the values of one key, which is the last token. Vectors of a reference solution (qfree,
// sol_*) are skipped.
static perp_status read_key(ncx *in)
{
    static const struct {
        const char *key;
        pp_slot slot;
    } vectors[] = {
        {"q", PP_VECTOR_Q},         {"lb", PP_VECTOR_LOWER},     {"ub", PP_VECTOR_UPPER},
        {"mu", PP_VECTOR_MU},       {"mu_r", PP_VECTOR_MU_ROLL}, {"rowiscomp", PP_VECTOR_COMP},
        {"f", PP_VECTOR_F},         {"w", PP_VECTOR_W},          {"mu_s", PP_VECTOR_MU_SPIN},
        {"qfree", PP_VECTOR_COUNT}, {"sol_z", PP_VECTOR_COUNT},  {"sol_r", PP_VECTOR_COUNT},
        {"sol_u", PP_VECTOR_COUNT}, {"sol_v", PP_VECTOR_COUNT},
    };
    static const struct {
        const char *key;
        pp_matrix_slot slot;
    } matrices[] = {{"M", PP_MATRIX_M}, {"W", PP_MATRIX_W}, {"H", PP_MATRIX_H}};
    pp_draft *draft = in->draft;
    const struct {
        const char *key;
        int *value;
    } scalars[] = {{"dim", &draft->dim},
                   {"contacts", &draft->contacts},
                   {"dofs", &draft->dofs},
                   {"nfree", &draft->nfree},
                   {"ncomp", &draft->ncomp}};
    // A token that is no key is most often a number too many: the message says so.
    if (pp_scan_is(&in->scan, "name")) {
        return read_word(in, "name", draft->name, sizeof draft->name);
    }
    if (pp_scan_is(&in->scan, "kind")) {
        return read_kind(in);
    }
    for (size_t k = 0; k < sizeof scalars / sizeof scalars[0]; k++) {
        if (pp_scan_is(&in->scan, scalars[k].key)) {
            return pp_scan_int(&in->scan, scalars[k].key, 0, INT_MAX, scalars[k].value);
        }
    }
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        if (pp_scan_is(&in->scan, vectors[k].key)) {
            return read_vector(in, vectors[k].key, vectors[k].slot);
        }
    }
    for (size_t k = 0; k < sizeof matrices / sizeof matrices[0]; k++) {
        if (pp_scan_is(&in->scan, matrices[k].key)) {
            return read_matrix(in, matrices[k].key, matrices[k].slot);
        }
    }
    pp_quote quote = pp_scan_quote(&in->scan);
    return pp_scan_fail(
        &in->scan, in->scan.token,
        "'%s' is not an ncx key: does the previous object have more entries than declared?",
        quote.text);
}

// `end` is required: a file that was cut short is not read as a smaller problem.
perp_status pp_ncx_read(pp_draft *draft)
{
    ncx in = {draft, pp_scan_start(draft->text, draft->size, draft->error)};
    int version;
    pp_scan_next(&in.scan);  // "ncx", by which the format was recognised
    perp_status status = pp_scan_int(&in.scan, "version of ncx", 1, 1, &version);
    while (status == PERP_OK) {
        if (!pp_scan_next(&in.scan)) {
            return pp_scan_fail(&in.scan, NULL, "the file ends without 'end': it is truncated");
        }
        if (pp_scan_is(&in.scan, "end")) {
            break;
        }
        status = read_key(&in);
    }
    if (status == PERP_OK && pp_scan_next(&in.scan)) {
        pp_quote quote = pp_scan_quote(&in.scan);
        return pp_scan_fail(&in.scan, in.scan.token, "found '%s' after 'end'", quote.text);
    }
    return status;
}
