// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Results as JSON and CSV, with 17 digits.
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static void put_number(FILE *out, const char *key, double value)
{
    fprintf(out, ", \"%s\": ", key);
    cli_json_number(out, value);
}

static void put_word(FILE *out, const char *key, const char *word)
{
    fprintf(out, ", \"%s\": ", key);
    cli_json_string(out, word);
}

// Names of the variables, in the order of z, where the problem has names.
static void put_variables(FILE *out, const result *r)
{
    if (!perp_problem_variable(r->problem, 0)) {
        return;
    }
    for (int k = 0; k < r->n; k++) {
        fputs(k == 0 ? ", \"variables\": [" : ", ", out);
        cli_json_string(out, perp_problem_variable(r->problem, k));
    }
    putc(']', out);
}

void json_print(FILE *out, const result *r)
{
    const perp_comp_info *info = &r->info;
    fputs("{\"name\": ", out);
    cli_json_string(out, r->name);
    put_word(out, "kind", r->kind);
    fprintf(out, ", \"n\": %d, \"contacts\": %d", r->n, r->contacts);
    put_word(out, "solver", info->solver ? info->solver : r->solver);
    put_word(out, "status", perp_status_word(info->error.status));
    fprintf(out, ", \"iterations\": %d", info->iterations);
    if (info->evaluations > 0) {
        fprintf(out, ", \"evaluations\": %d, \"jacobians\": %d", info->evaluations,
                info->jacobians);
    }
    put_number(out, "residual", r->contact ? info->residual : info->residual_plain);
    put_number(out, "residual_fclib", r->contact ? info->residual_plain : HUGE_VAL);
    put_number(out, "residual_scaled", info->residual);
    put_number(out, "backward", info->backward);
    put_number(out, "seconds", info->seconds);
    put_word(out, "reason", info->error.text);
    fputs(", \"z\": [", out);
    for (int k = 0; k < r->n; k++) {
        fprintf(out, "%s%.17g", k > 0 ? ", " : "", r->z[k]);
    }
    putc(']', out);
    put_variables(out, r);
    putc('}', out);
}

void json_print_unreadable(FILE *out, const char *path)
{
    fputs("{\"name\": ", out);
    cli_json_string(out, path);
    fputs(", \"kind\": null, \"n\": 0, \"contacts\": 0, \"solver\": null, \"status\": \"error\", "
          "\"iterations\": 0, \"residual\": null, \"residual_fclib\": null, "
          "\"residual_scaled\": null, \"backward\": null, \"seconds\": 0, "
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
            return cli_complain("-o: '%s' is also an input file and would be overwritten",
                                csv->path);
        }
    }
    csv->file = csv->path ? fopen(csv->path, "w") : NULL;
    if (csv->path && !csv->file) {
        return cli_complain("-o: cannot write '%s': %s", csv->path, strerror(errno));
    }
    return CLI_FINE;
}

// Doubles quotes as in RFC 4180, and prefixes spreadsheet formulas with ' as recordings do.
static void put_field(FILE *out, const char *text)
{
    putc('"', out);
    fputs(text[0] && strchr("=+-@'\t\r", text[0]) ? "'" : "", out);
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
