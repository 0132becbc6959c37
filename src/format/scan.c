// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Tokens of a text in memory, and messages with their line and column.
//
// The text is bounded by its size, not by a zero byte: files may hold zero bytes, and fuzzers do.
// Numbers go through pp_number_parse, which does not depend on the locale.
#include "format/format.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// The white space of the C locale.
static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

pp_scan pp_scan_start(const char *text, size_t size, perp_error *error)
{
    return (pp_scan){.text = text, .at = text, .end = text + size, .token = text, .error = error};
}

// At the end of the text the token is empty, and the position that of the end.
bool pp_scan_next(pp_scan *scan)
{
    const char *at = scan->at, *end = scan->end;
    while (at < end && is_space(*at)) {
        at++;
    }
    scan->token = at;
    while (at < end && !is_space(*at)) {
        at++;
    }
    scan->length = (size_t)(at - scan->token);
    scan->at = at;
    return scan->length > 0;
}

bool pp_scan_is(const pp_scan *scan, const char *word)
{
    return strlen(word) == scan->length && memcmp(scan->token, word, scan->length) == 0;
}

// False: the last line has no newline.
bool pp_scan_skip_line(pp_scan *scan)
{
    const char *newline = memchr(scan->at, '\n', pp_scan_left(scan));
    scan->at = newline ? newline + 1 : scan->end;
    return newline != NULL;
}

size_t pp_scan_left(const pp_scan *scan)
{
    return (size_t)(scan->end - scan->at);
}

// Line and column are counted from the start of the text, which only a failure needs. Columns are
// bytes, from 1.
perp_status pp_scan_fail(const pp_scan *scan, const char *at, const char *format, ...)
{
    perp_error *error = scan->error;
    if (!error) {
        return PERP_ERR_FORMAT;
    }
    char text[sizeof error->text];
    va_list list;
    va_start(list, format);
    if (vsnprintf(text, sizeof text, format, list) < 0) {
        text[0] = '\0';
    }
    va_end(list);
    const char *start = scan->text;
    at = at ? at : scan->end;
    error->line = 1;
    for (const char *p = scan->text; p < at; p++) {
        if (*p == '\n') {
            start = p + 1;
            error->line += error->line < INT_MAX;
        }
    }
    error->column = at - start < INT_MAX ? (int)(at - start) + 1 : INT_MAX;
    return pp_fail(error, PERP_ERR_FORMAT, "%s", text);
}

// Bytes that are not printable become '?'; a long token ends in "...".
pp_quote pp_scan_quote(const pp_scan *scan)
{
    pp_quote quote;
    size_t most = sizeof quote.text - 4;
    size_t n = scan->length < most ? scan->length : most;
    for (size_t k = 0; k < n; k++) {
        char c = scan->token[k];
        quote.text[k] = c >= ' ' && c <= '~' ? c : '?';
    }
    pp_print(quote.text + n, sizeof quote.text - n, "%s", n < scan->length ? "..." : "");
    return quote;
}

perp_status pp_scan_int(pp_scan *scan, const char *what, int low, int high, int *value)
{
    if (!pp_scan_next(scan)) {
        return pp_scan_fail(scan, NULL, "the file ends where the %s is expected", what);
    }
    if (pp_number_parse_int(scan->token, scan->length, low, high, value)) {
        return PERP_OK;
    }
    pp_quote quote = pp_scan_quote(scan);
    // INT_MAX is no limit that a message should name.
    if (high == INT_MAX) {
        return pp_scan_fail(scan, scan->token, "the %s is '%s': write an integer >= %d", what,
                            quote.text, low);
    }
    return pp_scan_fail(scan, scan->token, "the %s is '%s': write an integer in %d..%d", what,
                        quote.text, low, high);
}

// Negative sizes and sizes beyond the text are refused before they are used in products.
perp_status pp_scan_size(pp_scan *scan, const char *axis, const char *what, int *value)
{
    char name[96];
    pp_print(name, sizeof name, "number of %s of %s", axis, what);
    size_t bytes = (size_t)(scan->end - scan->text);
    perp_status status = pp_scan_int(scan, name, 0, INT_MAX, value);
    if (status == PERP_OK && (size_t)*value > bytes) {
        return pp_scan_fail(scan, scan->token,
                            "%s: %d %s are more than a file of %zu bytes can hold", what, *value,
                            axis, bytes);
    }
    return status;
}

// Why a token is not the number that is needed.
static perp_status real_fails(const pp_scan *scan, const char *what, int k, pp_number kind)
{
    static const char *const why[] = {
        [PP_NUMBER_FINITE] = "",
        [PP_NUMBER_INFINITE] = "only finite numbers are allowed here",
        [PP_NUMBER_NAN] = "only finite numbers are allowed here",
        [PP_NUMBER_OVERFLOW] = "too large for a double",
        [PP_NUMBER_NOT] = "not a number",
    };
    pp_quote quote = pp_scan_quote(scan);
    return pp_scan_fail(scan, scan->token, "%s: entry %d is '%s': %s", what, k, quote.text,
                        why[kind]);
}

perp_status pp_scan_real(pp_scan *scan, const char *what, int k, int count, bool infinite,
                         double *value)
{
    if (!pp_scan_next(scan)) {
        return pp_scan_fail(scan, NULL, "%s: the file ends after %d of %d entries", what, k, count);
    }
    // A number that is too small becomes 0, one that is too large is an error.
    pp_number kind = pp_number_parse(scan->token, scan->length, value);
    if (kind == PP_NUMBER_FINITE || (kind == PP_NUMBER_INFINITE && infinite)) {
        return PERP_OK;
    }
    return real_fails(scan, what, k, kind);
}
