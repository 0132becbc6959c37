// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Texts of statuses, error messages, version.
#include "base/base.h"

#include <stdio.h>

const char *perp_version(void)
{
    return PERP_VERSION;
}

// The list of statuses is a macro (PERP_STATUS_LIST): names, values and texts are in one place.
const char *perp_status_text(perp_status status)
{
    switch (status) {
#define PERP_X(name, value, word, text)                                                            \
    case name:                                                                                     \
        return text;
        PERP_STATUS_LIST(PERP_X)
#undef PERP_X
    }
    return "unknown status";
}

const char *perp_status_word(perp_status status)
{
    switch (status) {
#define PERP_X(name, value, word, text)                                                            \
    case name:                                                                                     \
        return word;
        // NOLINTNEXTLINE(bugprone-branch-clone): some statuses share a word
        PERP_STATUS_LIST(PERP_X)
#undef PERP_X
    }
    return "error";
}

// vsnprintf fails on invalid multibyte text only; the result is empty then.
void pp_print_list(char *text, size_t size, const char *format, va_list list)
{
    if (size == 0) {
        return;
    }
    if (vsnprintf(text, size, format, list) < 0) {
        text[0] = '\0';
    }
}

void pp_print(char *text, size_t size, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    pp_print_list(text, size, format, list);
    va_end(list);
}

// Names in a message come from files of other people: the text is escaped to one printable line.
perp_status pp_fail(perp_error *error, perp_status status, const char *format, ...)
{
    if (error) {
        char text[sizeof error->text];
        va_list list;
        va_start(list, format);
        pp_print_list(text, sizeof text, format, list);
        va_end(list);
        error->status = status;
        perp_text_escape(text, error->text, sizeof error->text);
    }
    return status;
}
