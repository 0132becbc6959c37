// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Results for programs: JSON and CSV, 17 digits.
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <string.h>

// Bytes of the UTF-8 character at text: 1 to 4, or 0 when there is none. Stops before the final 0.
static int character_length(const unsigned char *text)
{
    static const struct {
        unsigned char mask, head, low, high;  // first byte; range of the second
        int length;
    } forms[] = {
        {0x80, 0x00, 0, 0, 1},       {0xff, 0xe0, 0xa0, 0xbf, 3}, {0xff, 0xed, 0x80, 0x9f, 3},
        {0xff, 0xf0, 0x90, 0xbf, 4}, {0xff, 0xf4, 0x80, 0x8f, 4}, {0xfe, 0xc0, 1, 0, 2},
        {0xe0, 0xc0, 0x80, 0xbf, 2}, {0xf0, 0xe0, 0x80, 0xbf, 3}, {0xfc, 0xf0, 0x80, 0xbf, 4}};
    for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++) {
        if ((text[0] & forms[k].mask) != forms[k].head) {
            continue;
        }
        bool good = forms[k].length == 1 || (text[1] >= forms[k].low && text[1] <= forms[k].high);
        for (int i = 2; good && i < forms[k].length; i++) {
            good = (text[i] & 0xc0) == 0x80;
        }
        return good ? forms[k].length : 0;
    }
    return 0;
}

// Bytes that are no UTF-8 (names of files may be anything) become U+FFFD.
static void put_string(FILE *out, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    putc('"', out);
    while (*at) {
        int length = character_length(at);
        if (length == 0) {
            fputs("\\ufffd", out);
        } else if (*at == '"' || *at == '\\') {
            fprintf(out, "\\%c", *at);
        } else if (*at < ' ') {
            fprintf(out, "\\u%04x", *at);
        } else {
            fwrite(at, 1, (size_t)length, out);
        }
        at += length > 0 ? length : 1;
    }
    putc('"', out);
}

// JSON has no infinity: what no number tells is null.
static void put_number(FILE *out, const char *key, double value)
{
    if (isfinite(value)) {
        fprintf(out, ", \"%s\": %.17g", key, value);
    } else {
        fprintf(out, ", \"%s\": null", key);
    }
}

static void put_word(FILE *out, const char *key, const char *word)
{
    fprintf(out, ", \"%s\": ", key);
    put_string(out, word);
}

void json_print(FILE *out, const result *r)
{
    const perp_comp_info *info = &r->info;
    fputs("{\"name\": ", out);
    put_string(out, r->name);
    put_word(out, "kind", r->kind);
    fprintf(out, ", \"n\": %d, \"contacts\": %d", r->n, r->contacts);
    put_word(out, "solver", info->solver ? info->solver : r->solver);
    put_word(out, "status", perp_status_word(info->status));
    fprintf(out, ", \"iterations\": %d", info->iterations);
    put_number(out, "residual", r->contact ? info->residual : info->residual_plain);
    put_number(out, "residual_fclib", r->contact ? info->residual_plain : HUGE_VAL);
    put_number(out, "residual_scaled", info->residual);
    put_number(out, "seconds", info->seconds);
    put_word(out, "reason", info->reason);
    fputs(", \"z\": [", out);
    for (int k = 0; k < r->n; k++) {
        fprintf(out, "%s%.17g", k > 0 ? ", " : "", r->z[k]);
    }
    fputs("]}", out);
}

void json_print_unreadable(FILE *out, const char *path)
{
    fputs("{\"name\": ", out);
    put_string(out, path);
    fputs(", \"kind\": null, \"n\": 0, \"contacts\": 0, \"solver\": null, \"status\": \"error\", "
          "\"iterations\": 0, \"residual\": null, \"residual_fclib\": null, "
          "\"residual_scaled\": null, \"seconds\": 0, "
          "\"reason\": \"the file could not be read\", \"z\": []}",
          out);
}

// ── CSV ──────────────────────────────────────────────────────────────────────────────────────────

cli_exit csv_open(const solve_options *options, csv_file *csv)
{
    csv->path = options->output;
    csv->single = options->file_count == 1 && strcmp(options->solver, "all") != 0;
    for (int k = 0; csv->path && k < options->file_count; k++) {
        if (strcmp(csv->path, options->files[k]) == 0) {
            return cli_complain("-o: '%s' is also to be solved: it would be overwritten",
                                csv->path);
        }
    }
    csv->file = csv->path ? fopen(csv->path, "w") : NULL;
    if (csv->path && !csv->file) {
        return cli_complain("-o: cannot write '%s': %s", csv->path, strerror(errno));
    }
    return CLI_FINE;
}

// Quotes doubled, as in RFC 4180.
static void put_field(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text; text++) {
        fputs(*text == '"' ? "\"\"" : "", out);
        if (*text != '"') {
            putc(*text, out);
        }
    }
    putc('"', out);
}

void csv_row(csv_file *csv, const result *r)
{
    if (!csv->file) {
        return;
    }
    if (!csv->single) {
        put_field(csv->file, r->name);
        putc(',', csv->file);
        put_field(csv->file, r->solver);
    }
    for (int k = 0; k < r->n; k++) {
        fprintf(csv->file, csv->single ? "%.17g\n" : ",%.17g", r->z[k]);
    }
    fputs(csv->single ? "" : "\n", csv->file);
}

cli_exit csv_close(csv_file *csv)
{
    if (!csv->file) {
        return CLI_FINE;
    }
    bool good = fflush(csv->file) == 0 && !ferror(csv->file);
    int fault = errno;
    if (fclose(csv->file) != 0 && good) {
        good = false;
        fault = errno;
    }
    csv->file = NULL;
    if (!good) {
        cli_complain("-o: cannot write '%s': %s", csv->path, strerror(fault));
        return CLI_OUTPUT;
    }
    return CLI_FINE;
}
