// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Tokens of text formats, and messages with their line and column.
#pragma once

#include "base/base.h"

// ── Tokens (scan.c) ──────────────────────────────────────────────────────────────────────────────

// A position in a text, which need not be terminated. Copying the struct saves the position.
typedef struct pp_scan {
    const char *text, *at, *end;  // whole input, next byte, one past the last
    const char *token;            // the token read last
    size_t length;
    perp_error *error;
} pp_scan;

pp_scan pp_scan_start(const char *text, size_t size, perp_error *error);
bool pp_scan_next(pp_scan *scan);  // the next token, split at white space; false at the end
// Compares the last token with a word.
bool pp_scan_is(const pp_scan *scan, const char *word);
bool pp_scan_skip_line(pp_scan *scan);
size_t pp_scan_left(const pp_scan *scan);  // bytes not read yet
// A message with the line and column of `at`, or of the end of the input for NULL.
perp_status pp_scan_fail(const pp_scan *scan, const char *at, const char *format, ...)
    PP_FORMAT(3, 4);
// The last token for messages: printable and short.
typedef struct pp_quote {
    char text[40];
} pp_quote;
pp_quote pp_scan_quote(const pp_scan *scan);

// One integer in low..high; what names it in messages.
perp_status pp_scan_int(pp_scan *scan, const char *what, int low, int high, int *value);
// Reads a number of rows or columns of the object `what`. A problem has at least one number in its
// vectors for each, so that the bytes of the text bound it: a wrong size allocates nothing large.
perp_status pp_scan_size(pp_scan *scan, const char *axis, const char *what, int *value);
// Reads entry k of count of the object `what`. infinite: inf and -inf are allowed.
perp_status pp_scan_real(pp_scan *scan, const char *what, int k, int count, bool infinite,
                         double *value);
