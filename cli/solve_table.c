// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Results as text: a block for one, a table for several.
#include "cli.h"

#include <math.h>
#include <string.h>

enum { NAME_LEAST = 8, NAME_MOST = 44 };

// The values of a problem that names its variables.
static void put_variables(FILE *out, const result *r)
{
    int width = 0;
    for (int k = 0; k < r->n && perp_problem_variable(r->problem, k); k++) {
        int length = (int)strlen(perp_problem_variable(r->problem, k));
        width = length > width ? length : width;
    }
    for (int k = 0; k < r->n && width > 0; k++) {
        fprintf(out, "%s%-*s  %.10g\n", k == 0 ? "values      " : "            ", width,
                cli_plain(perp_problem_variable(r->problem, k)), r->z[k]);
    }
}

void block_print(FILE *out, const result *r)
{
    const perp_comp_info *info = &r->info;
    fprintf(out, "name        %s\n", cli_plain(r->name));
    fprintf(out, "kind        %s\n", r->kind);
    fprintf(out, "size        %d", r->n);
    if (r->contacts > 0) {
        fprintf(out, " (%d contact%s)", r->contacts, r->contacts == 1 ? "" : "s");
    }
    fprintf(out, "\nsolver      %s", info->solver ? info->solver : r->solver);
    if (info->solver && strcmp(info->solver, r->solver) != 0) {
        fprintf(out, " (chosen by %s, %d %s)", r->solver, info->rungs,
                info->evaluations > 0 ? "started" : "tried");
    }
    fprintf(out, "\nstatus      %s\n", perp_status_word(info->error.status));
    fprintf(out, "iterations  %d", info->iterations);
    if (info->evaluations > 0) {
        fprintf(out, " (%d evaluations of F, %d of its Jacobian)", info->evaluations,
                info->jacobians);
    }
    putc('\n', out);
    if (isfinite(info->residual)) {
        fprintf(out, "residual    %.2e scaled, %.2e %s, %.2e backward\n", info->residual,
                info->residual_plain, r->contact ? "FCLIB" : "plain", info->backward);
    }
    fprintf(out, "time        %.6f s\n", info->seconds);
    if (info->error.status != PERP_OK && info->error.text[0]) {
        fprintf(out, "reason      %s\n", cli_plain(info->error.text));
    }
    put_variables(out, r);
}

// Most formats take the problem's name from the file name, which is good enough for a column width.
int table_name_width(const solve_options *options)
{
    int width = NAME_LEAST;
    for (int k = 0; k < options->file_count; k++) {
        const char *slash = strrchr(options->files[k], '/');
        const char *base = slash ? slash + 1 : options->files[k];
        const char *dot = strrchr(base, '.');
        int length = (int)(dot && dot > base ? (size_t)(dot - base) : strlen(base));
        width = length > width ? length : width;
    }
    return width < NAME_MOST ? width : NAME_MOST;
}

void table_head(FILE *out, int name_width)
{
    fprintf(out, "%-*s  %-6s %6s %8s  %-6s %-10s %10s %10s %10s %10s\n", name_width, "name", "kind",
            "n", "contacts", "solver", "status", "iterations", "scaled", "plain", "seconds");
}

static void put_residual(FILE *out, double residual)
{
    if (isfinite(residual)) {
        fprintf(out, "%10.2e ", residual);
    } else {
        fprintf(out, "%10s ", "-");
    }
}

void table_row(FILE *out, int name_width, const result *r)
{
    const perp_comp_info *info = &r->info;
    fprintf(out, "%-*.*s  %-6s %6d ", name_width, name_width, cli_plain(r->name), r->kind, r->n);
    if (r->contacts > 0) {
        fprintf(out, "%8d", r->contacts);
    } else {
        fprintf(out, "%8s", "-");
    }
    fprintf(out, "  %-6s %-10s %10d ", info->solver ? info->solver : r->solver,
            perp_status_word(info->error.status), info->iterations);
    put_residual(out, info->residual);
    put_residual(out, info->residual_plain);
    fprintf(out, "%10.6f\n", info->seconds);
    fflush(out);
}
