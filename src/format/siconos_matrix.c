// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Reader of Siconos' NumericsMatrix text: `storage rows cols`, then one of
//
//   0  dense          rows cols, then rows*cols numbers, column-major; line breaks mean nothing
//   1  sparse blocks  nblocks nbrows nbcols, row ends, column ends, filled1 filled2, row pointers
//                     (filled1), block columns (filled2), then per block its number and its entries,
//                     column-major
//   2  sparse         origin flag, a banner line, then CSparse's printout of a triplet or CSC matrix
//
// Sizes are compared with the rest of the text before memory is allocated: a number and its
// separator take two bytes, an entry "i j : v" at least six.
#include "format/format.h"

#include <limits.h>
#include <string.h>

typedef struct matrix_reader {
    pp_draft *draft;
    pp_scan *scan;
    pp_raw_matrix *raw;
    char what[64];
} matrix_reader;

static perp_status no_room(const matrix_reader *in, double entries)
{
    return pp_scan_fail(in->scan, in->scan->token,
                        "%s: %.0f entries do not fit into the rest of the file (%zu bytes)",
                        in->what, entries, pp_scan_left(in->scan));
}

// The next token must be the word.
static perp_status next_word(matrix_reader *in, const char *word)
{
    if (!pp_scan_next(in->scan)) {
        return pp_scan_fail(in->scan, NULL, "%s: the file ends where '%s' is expected", in->what,
                            word);
    }
    if (pp_scan_is(in->scan, word)) {
        return PERP_OK;
    }
    pp_quote quote = pp_scan_quote(in->scan);
    return pp_scan_fail(in->scan, in->scan->token, "%s: found '%s' where '%s' is expected",
                        in->what, quote.text, word);
}

// An integer in low..high; name is what it is called in messages.
static perp_status next_int(matrix_reader *in, const char *name, int low, int high, int *value)
{
    char what[160];
    pp_print(what, sizeof what, "%s of %s", name, in->what);
    return pp_scan_int(in->scan, what, low, high, value);
}

// ── 0: dense ─────────────────────────────────────────────────────────────────────────────────────

// Rows and columns are given a second time.
// Column-major: the order of raw->dense.
static perp_status read_dense(matrix_reader *in)
{
    pp_raw_matrix *raw = in->raw;
    int rows, cols;
    perp_status status = next_int(in, "number of rows", raw->rows, raw->rows, &rows);
    if (status == PERP_OK) {
        status = next_int(in, "number of columns", raw->cols, raw->cols, &cols);
    }
    if (status != PERP_OK) {
        return status;
    }
    size_t count = (size_t)raw->rows * (size_t)raw->cols;
    if (count > pp_scan_left(in->scan) / 2 + 1 || count > INT_MAX) {
        return no_room(in, (double)count);
    }
    raw->dense = PP_ARRAY(in->draft->scratch, double, count);
    if (!raw->dense) {
        return pp_draft_memory(in->draft);
    }
    for (size_t k = 0; k < count; k++) {
        status = pp_scan_real(in->scan, in->what, (int)k, (int)count, false, &raw->dense[k]);
        if (status != PERP_OK) {
            return status;
        }
    }
    return PERP_OK;
}

// ── 1: sparse blocks ─────────────────────────────────────────────────────────────────────────────

// Blocks in the order of block rows, compressed: start[r] is the first block of block row r. There
// may be fewer pointers than block rows: the last rows are empty then.
typedef struct block_list {
    int count, rows, cols;   // blocks, block rows, block columns
    int *row_end, *col_end;  // cumulative
    int *start, *column;     // row pointers (start_count of them), block column of each block
    int start_count;
} block_list;

// Reads n cumulative ends, ascending, of which the last is total.
static perp_status read_ends(matrix_reader *in, const char *name, int n, int total, int **out)
{
    int *end = PP_ARRAY(in->draft->scratch, int, n);
    if (!end) {
        return pp_draft_memory(in->draft);
    }
    perp_status status = PERP_OK;
    for (int k = 0; k < n; k++) {
        status = next_int(in, name, k > 0 ? end[k - 1] : 0, total, &end[k]);
        if (status != PERP_OK) {
            return status;
        }
    }
    if (status == PERP_OK && (n > 0 ? end[n - 1] : 0) != total) {
        return pp_scan_fail(in->scan, in->scan->token, "%s: the last %s is %d, not %d", in->what,
                            name, n > 0 ? end[n - 1] : 0, total);
    }
    *out = end;
    return status;
}

// Row pointers and block columns.
static perp_status read_indices(matrix_reader *in, block_list *b)
{
    int filled;
    perp_status status = next_int(in, "number of row pointers", 1, b->rows + 1, &b->start_count);
    if (status == PERP_OK) {
        status = next_int(in, "number of block columns", b->count, b->count, &filled);
    }
    if (status != PERP_OK) {
        return status;
    }
    b->start = PP_ARRAY(in->draft->scratch, int, b->start_count);
    b->column = PP_ARRAY(in->draft->scratch, int, b->count);
    if (!b->start || !b->column) {
        return pp_draft_memory(in->draft);
    }
    // Pointers start with 0 and do not fall.
    for (int k = 0; k < b->start_count; k++) {
        status = next_int(in, "row pointer", k > 0 ? b->start[k - 1] : 0, k > 0 ? b->count : 0,
                          &b->start[k]);
        if (status != PERP_OK) {
            return status;
        }
    }
    if (b->start[b->start_count - 1] != b->count) {
        return pp_scan_fail(in->scan, in->scan->token,
                            "%s: the last row pointer is %d, but there are "
                            "%d blocks",
                            in->what, b->start[b->start_count - 1], b->count);
    }
    for (int k = 0; k < b->count; k++) {
        status = next_int(in, "block column", 0, b->cols - 1, &b->column[k]);
        if (status != PERP_OK) {
            return status;
        }
    }
    return PERP_OK;
}

static perp_status read_block_heads(matrix_reader *in, block_list *b)
{
    // A block takes at least a number and one entry, a block row an end.
    size_t room = pp_scan_left(in->scan) / 2 + 1;
    int most = room < INT_MAX ? (int)room : INT_MAX;
    perp_status status = next_int(in, "number of blocks", 0, most, &b->count);
    if (status == PERP_OK) {
        status = next_int(in, "number of block rows", 0, most - 1, &b->rows);
    }
    if (status == PERP_OK) {
        status = next_int(in, "number of block columns", 0, most - 1, &b->cols);
    }
    if (status == PERP_OK) {
        status = read_ends(in, "row end", b->rows, in->raw->rows, &b->row_end);
    }
    if (status == PERP_OK) {
        status = read_ends(in, "column end", b->cols, in->raw->cols, &b->col_end);
    }
    if (status != PERP_OK) {
        return status;
    }
    return read_indices(in, b);
}

// First row of block row k, or first column of block column k.
static int span_start(const int *end, int k)
{
    return k > 0 ? end[k - 1] : 0;
}

// Number of entries of all blocks, which must fit into the rest of the file. A double, since the
// product of forged sizes may not fit into an integer.
static double count_entries(const block_list *b)
{
    double sum = 0.0;
    for (int row = 0; row + 1 < b->start_count; row++) {
        int height = b->row_end[row] - span_start(b->row_end, row);
        for (int k = b->start[row]; k < b->start[row + 1]; k++) {
            int c = b->column[k];
            sum += (double)height * (double)(b->col_end[c] - span_start(b->col_end, c));
        }
    }
    return sum;
}

// Block k, which is in block row `row`. Zeros within blocks are dropped.
static perp_status read_block(matrix_reader *in, const block_list *b, int row, int k, int total)
{
    pp_raw_matrix *raw = in->raw;
    int number, c = b->column[k];
    perp_status status = next_int(in, "block number", k, k, &number);
    for (int j = span_start(b->col_end, c); j < b->col_end[c]; j++) {
        for (int i = span_start(b->row_end, row); i < b->row_end[row]; i++) {
            double x;
            if (status == PERP_OK) {
                status = pp_scan_real(in->scan, in->what, raw->nnz, total, false, &x);
            }
            if (status != PERP_OK) {
                return status;
            }
            if (x != 0.0) {
                raw->i[raw->nnz] = i;
                raw->j[raw->nnz] = j;
                raw->x[raw->nnz++] = x;
            }
        }
    }
    return status;
}

// The file gives the blocks in the order of the row pointers, each with its number.
static perp_status read_blocks(matrix_reader *in)
{
    block_list b = {0};
    perp_status status = read_block_heads(in, &b);
    if (status != PERP_OK) {
        return status;
    }
    double entries = count_entries(&b);
    if (entries > 0.5 * (double)pp_scan_left(in->scan) + 1.0 || entries > (double)INT_MAX) {
        return no_room(in, entries);
    }
    status = pp_raw_triplets(in->draft, in->raw, (int)entries);
    if (status != PERP_OK) {
        return status;
    }
    for (int row = 0; row + 1 < b.start_count; row++) {
        for (int k = b.start[row]; k < b.start[row + 1]; k++) {
            status = read_block(in, &b, row, k, (int)entries);
            if (status != PERP_OK) {
                return status;
            }
        }
    }
    return PERP_OK;
}

// ── 2: CSparse's printout ────────────────────────────────────────────────────────────────────────

// "1334-by-1334,", with the numbers of the head.
static perp_status check_shape(matrix_reader *in)
{
    char shape[64];
    pp_print(shape, sizeof shape, "%d-by-%d,", in->raw->rows, in->raw->cols);
    if (pp_scan_is(in->scan, shape)) {
        return PERP_OK;
    }
    pp_quote quote = pp_scan_quote(in->scan);
    return pp_scan_fail(in->scan, in->scan->token, "%s: found '%s' where '%s' is expected",
                        in->what, quote.text, shape);
}

// "nzmax: 3822 nnz: 3822", with a comma after it in the CSC form.
static perp_status read_count(matrix_reader *in, int *nnz)
{
    int nzmax;
    perp_status status = next_word(in, "nzmax:");
    if (status == PERP_OK) {
        status = next_int(in, "nzmax", 0, INT_MAX, &nzmax);
    }
    if (status == PERP_OK) {
        status = next_word(in, "nnz:");
    }
    if (status != PERP_OK || !pp_scan_next(in->scan)) {
        if (status != PERP_OK) {
            return status;
        }
        return next_word(in, "the number of entries");
    }
    size_t length = in->scan->length - (in->scan->token[in->scan->length - 1] == ',');
    if (!pp_number_parse_int(in->scan->token, length, 0, INT_MAX, nnz)) {
        pp_quote quote = pp_scan_quote(in->scan);
        return pp_scan_fail(in->scan, in->scan->token, "%s: the number of entries is '%s'",
                            in->what, quote.text);
    }
    if ((size_t)*nnz > pp_scan_left(in->scan) / 6 + 1) {
        return no_room(in, (double)*nnz);
    }
    return pp_raw_triplets(in->draft, in->raw, *nnz);
}

// A row or column of the next entry, from 0.
static perp_status next_index(matrix_reader *in, const char *axis, int size, int *value)
{
    if (!pp_scan_next(in->scan)) {
        return pp_scan_fail(in->scan, NULL, "%s: the file ends at entry %d", in->what,
                            in->raw->nnz);
    }
    if (pp_number_parse_int(in->scan->token, in->scan->length, 0, size - 1, value)) {
        return PERP_OK;
    }
    pp_quote quote = pp_scan_quote(in->scan);
    return pp_scan_fail(in->scan, in->scan->token,
                        "%s: entry %d has %s %s, but the matrix has %d %ss (0..%d)", in->what,
                        in->raw->nnz, axis, quote.text, size, axis, size - 1);
}

// "triplet: 3-by-3, nzmax: 9 nnz: 9", then lines "i j : v".
static perp_status read_triplets(matrix_reader *in)
{
    // raw->nnz counts the entries that are complete, for messages.
    pp_raw_matrix *raw = in->raw;
    int nnz = 0;
    perp_status status = pp_scan_next(in->scan) ? check_shape(in) : next_word(in, "m-by-n,");
    if (status == PERP_OK) {
        status = read_count(in, &nnz);
    }
    if (status != PERP_OK) {
        return status;
    }
    for (; raw->nnz < nnz; raw->nnz++) {
        int k = raw->nnz;
        status = next_index(in, "row", raw->rows, &raw->i[k]);
        if (status == PERP_OK) {
            status = next_index(in, "column", raw->cols, &raw->j[k]);
        }
        if (status == PERP_OK) {
            status = next_word(in, ":");
        }
        if (status == PERP_OK) {
            status = pp_scan_real(in->scan, in->what, k, nnz, false, &raw->x[k]);
        }
        if (status != PERP_OK) {
            return status;
        }
    }
    return PERP_OK;
}

// "col 3 : locations 5 to 9", then its entries "i : v". An empty column ends before it starts.
static perp_status read_column(matrix_reader *in, int j, int nnz)
{
    pp_raw_matrix *raw = in->raw;
    int column, first, last;
    // Every word is checked: a printout of another version is refused rather than misread.
    perp_status status = next_word(in, "col");
    if (status == PERP_OK) {
        status = next_int(in, "column", j, j, &column);
    }
    if (status == PERP_OK) {
        status = next_word(in, ":");
    }
    if (status == PERP_OK) {
        status = next_word(in, "locations");
    }
    // Locations are positions in the array of entries: they continue those of the column before.
    if (status == PERP_OK) {
        status = next_int(in, "first location", raw->nnz, raw->nnz, &first);
    }
    if (status == PERP_OK) {
        status = next_word(in, "to");
    }
    if (status == PERP_OK) {
        status = next_int(in, "last location", raw->nnz - 1, nnz - 1, &last);
    }
    if (status != PERP_OK) {
        return status;
    }
    for (; raw->nnz <= last; raw->nnz++) {
        raw->j[raw->nnz] = j;
        status = next_index(in, "row", raw->rows, &raw->i[raw->nnz]);
        if (status == PERP_OK) {
            status = next_word(in, ":");
        }
        if (status == PERP_OK) {
            status = pp_scan_real(in->scan, in->what, raw->nnz, nnz, false, &raw->x[raw->nnz]);
        }
        if (status != PERP_OK) {
            return status;
        }
    }
    return PERP_OK;
}

// "3-by-3, nzmax: 9 nnz: 9, 1-norm: 1.5", then the columns.
static perp_status read_columns(matrix_reader *in)
{
    int nnz = 0;
    double norm;
    perp_status status = check_shape(in);
    if (status == PERP_OK) {
        status = read_count(in, &nnz);
    }
    if (status == PERP_OK) {
        status = next_word(in, "1-norm:");
    }
    // The norm is printed for information and not compared.
    if (status == PERP_OK) {
        status = pp_scan_real(in->scan, "1-norm", 0, 1, true, &norm);
    }
    if (status != PERP_OK) {
        return status;
    }
    for (int j = 0; j < in->raw->cols; j++) {
        status = read_column(in, j, nnz);
        if (status != PERP_OK) {
            return status;
        }
    }
    if (in->raw->nnz != nnz) {
        return pp_scan_fail(in->scan, in->scan->token, "%s: %d entries, but %d were declared",
                            in->what, in->raw->nnz, nnz);
    }
    return PERP_OK;
}

// The origin flag is the storage that Siconos printed, which the printout shows as well.
static perp_status read_sparse(matrix_reader *in)
{
    int origin;
    perp_status status = next_int(in, "origin flag", 0, 9, &origin);
    if (status != PERP_OK) {
        return status;
    }
    pp_scan_skip_line(in->scan);  // the rest of the line with the flag
    pp_scan_skip_line(in->scan);  // the banner of CSparse
    if (!pp_scan_next(in->scan)) {
        return pp_scan_fail(in->scan, NULL, "%s: the file ends within the banner", in->what);
    }
    return pp_scan_is(in->scan, "triplet:") ? read_triplets(in) : read_columns(in);
}

// Called for each matrix of a problem; the position is behind it after.
perp_status pp_siconos_matrix(pp_draft *draft, pp_scan *scan, const char *label, pp_raw_matrix *raw)
{
    static perp_status (*const storages[])(matrix_reader *) = {read_dense, read_blocks,
                                                               read_sparse};
    matrix_reader in = {.draft = draft, .scan = scan, .raw = raw};
    pp_print(in.what, sizeof in.what, "matrix '%s'", label);
    *raw = (pp_raw_matrix){.label = label};
    int storage;
    perp_status status = next_int(&in, "storage (0 dense, 1 blocks, 2 sparse)", 0, 2, &storage);
    raw->at = scan->token;
    if (status == PERP_OK) {
        status = pp_scan_size(scan, "rows", in.what, &raw->rows);
    }
    if (status == PERP_OK) {
        status = pp_scan_size(scan, "columns", in.what, &raw->cols);
    }
    if (status != PERP_OK) {
        return status;
    }
    return storages[storage](&in);
}
