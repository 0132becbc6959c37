// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Reader of Siconos' problem files. They do not say which kind of problem they hold; the first
// numbers show it:
//
//   n   storage n n …                       LCP: M, q; relay when lb and ub follow and nothing else
//   1 1 n m 0 … n+m flags …                 MLCP: M, q (the same again as A B C D a b is not read)
//   dim nc storage rows cols …              contact: W, q, mu[, mu_r]; or M, H, f, w, mu[, mu_r] when a
//                                           matrix follows the first one
//   n   n*n numbers, row-major, n numbers   old LCP file, with a solution of n numbers or without
//
// Text after the data is a comment.
#include "format/format.h"

#include <limits.h>
#include <string.h>

// Files have no names of objects: reading goes by position.
typedef struct siconos_reader {
    pp_draft *draft;
    pp_scan scan;
} siconos_reader;

enum { AHEAD = 7 };  // numbers that show the kind

// The leading integers of the file; -1 from the first token on that is none.
static void look_ahead(const pp_scan *start, int ahead[AHEAD])
{
    pp_scan scan = *start;
    bool integer = true;
    for (int k = 0; k < AHEAD; k++) {
        integer = integer && pp_scan_next(&scan) &&
                  pp_number_parse_int(scan.token, scan.length, 0, INT_MAX, &ahead[k]);
        if (!integer) {
            ahead[k] = -1;
        }
    }
}

// Reads n numbers into a slot, in the scratch arena. The label is for messages: files have no
// names.
static perp_status read_vector(siconos_reader *in, const char *label, pp_slot slot, int n)
{
    char what[64];
    pp_print(what, sizeof what, "vector '%s'", label);
    const char *at = in->scan.at;
    if ((size_t)n > pp_scan_left(&in->scan) / 2 + 1) {
        return pp_scan_fail(&in->scan, NULL,
                            "%s: %d entries do not fit into the rest of the file (%zu bytes)", what,
                            n, pp_scan_left(&in->scan));
    }
    double *x = PP_ARRAY(in->draft->scratch, double, n);
    if (!x) {
        return pp_draft_memory(in->draft);
    }
    for (int k = 0; k < n; k++) {
        perp_status status = pp_scan_real(
            &in->scan, what, k, n, slot == PP_VECTOR_LOWER || slot == PP_VECTOR_UPPER, &x[k]);
        if (status != PERP_OK) {
            return status;
        }
        at = k == 0 ? in->scan.token : at;
    }
    in->draft->vector[slot] = (pp_vector){label, at, x, n};
    return PERP_OK;
}

static perp_status read_matrix(siconos_reader *in, const char *label, pp_matrix_slot slot)
{
    return pp_siconos_matrix(in->draft, &in->scan, label, &in->draft->matrix[slot]);
}

// ── LCP and relay ────────────────────────────────────────────────────────────────────────────────

// Infinite bounds are numbers here.
static bool next_number(pp_scan *scan, double *value)
{
    return pp_scan_next(scan) &&
           pp_number_parse(scan->token, scan->length, value) <= PP_NUMBER_INFINITE;
}

// Whether the rest is exactly 2 n numbers lb, ub with lb <= ub: then the file is a relay problem.
// Two scanners go through both halves at the same time.
static bool bounds_follow(const siconos_reader *in, int n)
{
    pp_scan lower = in->scan, upper = in->scan;
    double low, high;
    for (int k = 0; k < n; k++) {
        if (!next_number(&upper, &high)) {
            return false;
        }
    }
    for (int k = 0; k < n; k++) {
        if (!next_number(&lower, &low) || !next_number(&upper, &high) || !(low <= high)) {
            return false;
        }
    }
    return !pp_scan_next(&upper);
}

// n is given twice, here and in the head of the matrix; pp_draft_finish compares them.
static perp_status read_lcp(siconos_reader *in)
{
    int n;
    perp_status status = pp_scan_int(&in->scan, "number of variables", 1, INT_MAX, &n);
    if (status == PERP_OK) {
        status = read_matrix(in, "M", PP_MATRIX_M);
    }
    if (status == PERP_OK) {
        status = read_vector(in, "q", PP_VECTOR_Q, n);
    }
    in->draft->kind = "lcp";
    if (status == PERP_OK && bounds_follow(in, n)) {
        in->draft->kind = "relay";
        status = read_vector(in, "lb", PP_VECTOR_LOWER, n);
        if (status == PERP_OK) {
            status = read_vector(in, "ub", PP_VECTOR_UPPER, n);
        }
    }
    return status;
}

// Whether the file is `n` and n*n + n or n*n + 2 n numbers, and nothing else.
static bool is_old_lcp(const pp_scan *start)
{
    pp_scan scan = *start;
    int n;
    if (!pp_scan_next(&scan) || !pp_number_parse_int(scan.token, scan.length, 1, INT_MAX, &n)) {
        return false;
    }
    size_t count = 0, side = (size_t)n;
    double value;
    while (next_number(&scan, &value)) {
        count++;
    }
    return scan.length == 0 && (count == side * side + side || count == side * side + 2 * side);
}

// Numbers by rows, without a head. Their number has been checked.
static perp_status read_old_lcp(siconos_reader *in)
{
    int n;
    perp_status status = pp_scan_int(&in->scan, "number of variables", 1, INT_MAX, &n);
    if (status != PERP_OK) {
        return status;
    }
    size_t count = (size_t)n * (size_t)n;
    pp_raw_matrix *raw = &in->draft->matrix[PP_MATRIX_M];
    *raw = (pp_raw_matrix){.label = "M", .at = in->scan.token, .rows = n, .cols = n};
    raw->dense = PP_ARRAY(in->draft->scratch, double, count);
    if (!raw->dense) {
        return pp_draft_memory(in->draft);
    }
    for (size_t k = 0; k < count; k++) {
        size_t i = k / (size_t)n, j = k % (size_t)n;
        status = pp_scan_real(&in->scan, "matrix 'M'", (int)k, (int)count, false,
                              &raw->dense[i + j * (size_t)n]);
        if (status != PERP_OK) {
            return status;
        }
    }
    in->draft->kind = "lcp";
    return read_vector(in, "q", PP_VECTOR_Q, n);
}

// ── MLCP ─────────────────────────────────────────────────────────────────────────────────────────

// Row blocks of an MLCP: the ends of the blocks, from 0 up to n + m, then for each block whether
// its rows are complementarity rows.
static perp_status read_row_blocks(siconos_reader *in, int total)
{
    int *end = PP_ARRAY(in->draft->scratch, int, (size_t)total + 2);
    double *flag = PP_ARRAY(in->draft->scratch, double, total);
    if (!end || !flag) {
        return pp_draft_memory(in->draft);
    }
    // Blocks may be empty: there are at most as many as rows.
    int count = 0, comp;
    perp_status status = pp_scan_int(&in->scan, "start of the row blocks", 0, 0, &end[0]);
    while (status == PERP_OK && end[count] < total && count < total) {
        status = pp_scan_int(&in->scan, "end of a row block", end[count], total, &end[count + 1]);
        count++;
    }
    if (status != PERP_OK) {
        return status;
    }
    if (end[count] < total) {  // too many empty blocks: rows would be left without a flag
        return pp_scan_fail(&in->scan, in->scan.token,
                            "%d row blocks end at row %d of %d; drop the empty ones", count,
                            end[count], total);
    }
    const char *at = in->scan.at;
    for (int k = 0; k < count; k++) {
        status = pp_scan_int(&in->scan, "complementarity flag of a row block", 0, 1, &comp);
        if (status != PERP_OK) {
            return status;
        }
        for (int i = end[k]; i < end[k + 1]; i++) {
            flag[i] = comp;
        }
    }
    in->draft->vector[PP_VECTOR_COMP] = (pp_vector){"row blocks", at, flag, total};
    return PERP_OK;
}

// The matrix of all rows; its parts A, B, C, D would follow and are not read.
// "1 1" at the start are two flags of storage: the problem is given as M, and in parts as well or
// not.
static perp_status read_mlcp(siconos_reader *in)
{
    pp_draft *draft = in->draft;
    int whole, parts;
    // The text has a number for each row, so that its size bounds them.
    int most = draft->size < INT_MAX / 2 ? (int)draft->size : INT_MAX / 2;
    perp_status status = pp_scan_int(&in->scan, "storage flag of M", 1, 1, &whole);
    if (status == PERP_OK) {
        status = pp_scan_int(&in->scan, "storage flag of A, B, C, D", 0, 1, &parts);
    }
    if (status == PERP_OK) {
        status = pp_scan_int(&in->scan, "number of equations", 0, most, &draft->nfree);
    }
    if (status == PERP_OK) {
        status = pp_scan_int(&in->scan, "number of complementarity rows", 0, most, &draft->ncomp);
    }
    int total = draft->nfree + draft->ncomp;
    if (status == PERP_OK) {
        status = read_row_blocks(in, total);
    }
    if (status == PERP_OK) {
        status = read_matrix(in, "M", PP_MATRIX_M);
    }
    draft->kind = "mlcp";
    return status == PERP_OK ? read_vector(in, "q", PP_VECTOR_Q, draft->matrix[PP_MATRIX_M].rows)
                             : status;
}

// ── Contact ──────────────────────────────────────────────────────────────────────────────────────

// Whether a matrix of that many rows and columns starts here. Vectors are printed with a decimal
// point, sizes without.
static bool matrix_follows(const siconos_reader *in, int rows, int cols)
{
    int ahead[AHEAD];
    look_ahead(&in->scan, ahead);
    if (ahead[0] < 0 || ahead[0] > 2 || ahead[1] != rows || ahead[2] != cols) {
        return false;
    }
    return ahead[0] != 0 || (ahead[3] == rows && ahead[4] == cols);
}

// A local problem has W, which is square of order dim nc; a global one has M and H. If M happens to
// be of that order as well, a second matrix decides.
static perp_status read_contact(siconos_reader *in)
{
    pp_draft *draft = in->draft;
    pp_raw_matrix first;
    perp_status status = pp_scan_int(&in->scan, "dimension", 2, 5, &draft->dim);
    if (status == PERP_OK) {
        status = pp_scan_int(&in->scan, "number of contacts", 0, INT_MAX / 5, &draft->contacts);
    }
    if (status == PERP_OK) {
        status = pp_siconos_matrix(draft, &in->scan, "M", &first);
    }
    if (status != PERP_OK) {
        return status;
    }
    // n components of all contacts; a local matrix has that order.
    int n = draft->dim * draft->contacts;
    bool global = first.rows != n || matrix_follows(in, first.rows, n);
    draft->kind = global ? "gfc" : "fc";
    draft->matrix[global ? PP_MATRIX_M : PP_MATRIX_W] = first;
    if (global) {
        status = read_matrix(in, "H", PP_MATRIX_H);
        if (status == PERP_OK) {
            status = read_vector(in, "f", PP_VECTOR_F, first.rows);
        }
        if (status == PERP_OK) {
            status = read_vector(in, "w", PP_VECTOR_W, n);
        }
    } else {
        draft->matrix[PP_MATRIX_W].label = "W";
        status = read_vector(in, "q", PP_VECTOR_Q, n);
    }
    if (status == PERP_OK) {
        status = read_vector(in, "mu", PP_VECTOR_MU, draft->contacts);
    }
    if (status == PERP_OK && draft->dim == 5) {
        status = read_vector(in, "mu_r", PP_VECTOR_MU_ROLL, draft->contacts);
    }
    return status;
}

// ── The door ─────────────────────────────────────────────────────────────────────────────────────

// The heads of the kinds overlap; the tests are in the order of pp_siconos_read. t: leading
// integers.
static bool starts_lcp(const int *t)
{
    if (t[0] < 1 || t[1] < 0 || t[1] > 2 || t[2] != t[0] || t[3] != t[0]) {
        return false;
    }
    // "2 1 2 2 2 2 CSparse" is a contact problem in the plane with one contact, stored sparse.
    bool planar = t[0] == 2 && t[1] == 1 && t[4] == 2 && t[6] < 0;
    return !planar && (t[1] != 0 || (t[4] == t[0] && t[5] == t[0]));
}

static bool starts_mlcp(const int *t)
{
    return t[0] == 1 && (t[1] == 0 || t[1] == 1) && t[2] >= 0 && t[3] >= 0 && t[4] == 0;
}

// Storage dense (0), blocks (1) or sparse (2), each with the numbers that follow its head.
static bool starts_contact(const int *t)
{
    bool square = t[3] > 0 && t[3] == t[4];
    bool dense = t[2] == 0 && t[5] == t[3] && t[6] == t[4];
    bool sparse = t[2] == 2 && t[5] >= 0 && t[6] < 0;  // the origin flag, then the banner
    return (t[0] == 2 || t[0] == 3 || t[0] == 5) && t[1] >= 0 && square &&
           (dense || t[2] == 1 || sparse);
}

perp_status pp_siconos_read(pp_draft *draft)
{
    siconos_reader in = {draft, pp_scan_start(draft->text, draft->size, draft->error)};
    int t[AHEAD];
    look_ahead(&in.scan, t);
    if (starts_mlcp(t)) {
        return read_mlcp(&in);
    }
    if (starts_lcp(t)) {
        return read_lcp(&in);
    }
    if (starts_contact(t)) {
        return read_contact(&in);
    }
    if (is_old_lcp(&in.scan)) {
        return read_old_lcp(&in);
    }
    // Not well formed, but near enough to one kind for its reader to say what is wrong.
    if (t[0] > 0 && t[1] >= 0 && t[1] <= 2 && t[2] == t[0]) {
        return read_lcp(&in);
    }
    if ((t[0] == 2 || t[0] == 3 || t[0] == 5) && t[1] >= 0 && t[2] >= 0 && t[2] <= 2) {
        return read_contact(&in);
    }
    if (t[0] > 0 && t[1] >= 0 && t[1] <= 2) {
        return read_lcp(&in);
    }
    return pp_scan_fail(&in.scan, in.scan.at,
                        "not a Siconos problem: an LCP starts with 'n storage n n', an MLCP with "
                        "'1 1 n m 0', a contact problem with 'dim nc storage rows cols'");
}
