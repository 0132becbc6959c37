// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp explain as text (tables with names) and JSON.
#include "cli.h"

#include <string.h>

// ── Text ─────────────────────────────────────────────────────────────────────────────────────────

static int widest(const char *const *names, int count)
{
    int width = 4;
    for (int k = 0; k < count; k++) {
        int length = (int)strlen(names[k]);
        width = length > width ? length : width;
    }
    return width;
}

enum { PLACES = 11 };

// 5 digits; zeros as dots, to show the structure.
static void put_entry(FILE *out, double value, int width)
{
    if (value == 0.0) {
        fprintf(out, " %*s", width, ".");
    } else {
        fprintf(out, " %*.5g", width, value);
    }
}

static int column_width(const shown_matrix *m, int col)
{
    int width = m->col_name ? (int)strlen(m->col_name[col]) : 0;
    return width > PLACES ? width : PLACES;
}

void explain_matrix(FILE *out, const shown_matrix *m)
{
    fprintf(out, "\n%s  %d x %d [%s]  %s\n", m->key, m->rows, m->cols, m->unit, m->what);
    if (m->rows == 0 || m->cols == 0) {
        return;
    }
    int width = widest(m->row_name, m->rows);
    if (m->col_name) {
        fprintf(out, "  %*s", width, "");
        for (int j = 0; j < m->cols; j++) {
            fprintf(out, " %*s", column_width(m, j), cli_plain(m->col_name[j]));
        }
        putc('\n', out);
    }
    for (int i = 0; i < m->rows; i++) {
        fprintf(out, "  %-*s", width, cli_plain(m->row_name[i]));
        for (int j = 0; j < m->cols; j++) {
            put_entry(out, shown_entry(m, i, j), column_width(m, j));
        }
        putc('\n', out);
    }
}

static void put_bound(FILE *out, const double *bound, int i, double otherwise)
{
    fprintf(out, " %9.4g", bound ? bound[i] : otherwise);
}

static void put_solution(FILE *out, const explained *e)
{
    const perp_step_problem *p = e->problem;
    const char *const *name = explained_names(e);
    int width = widest(name, p->mcp.n), at = 0;
    shown_block blocks[SHOWN_BLOCKS];
    explained_blocks(e, blocks);
    fprintf(out, "\nz and w = A z + b  (%s)\n  %-6s %-*s %22s %-4s %22s %-4s %9s %9s\n", e->status,
            "block", width, "name", "z", "", "w", "", "lower", "upper");
    for (int k = 0; k < SHOWN_BLOCKS; k++) {
        for (int i = 0; i < blocks[k].size; i++, at++) {
            bool turns = strstr(name[at], ".omega") != NULL;
            const char *unit = blocks[k].unit, *slack = blocks[k].slack_unit;
            if (k == 0 && turns) {
                unit = "1/s";
                slack = "Nms";
            }
            fprintf(out, "  %-6s %-*s %22.15g %-4s %22.15g %-4s", blocks[k].key, width,
                    cli_plain(name[at]), p->z[at], unit, p->w[at], slack);
            put_bound(out, p->mcp.lower, at, 0.0);
            put_bound(out, p->mcp.upper, at, 1.0 / 0.0);
            putc('\n', out);
        }
    }
}

// For a solved step: whether its motion and impulses are unique.
static void put_answers(FILE *out, const explained *e)
{
    const perp_step_info *info = e->info;
    if (info->status < 0) {
        return;
    }
    fprintf(out, "\nuniqueness: motion %s", perp_uniqueness_word((int)info->motion));
    if (info->motion == PERP_UNIQUENESS_DISPROVED) {
        fprintf(out, " (solutions differ by %.3g m/s)", info->motion_apart);
    }
    fprintf(out, ", impulses %s", perp_uniqueness_word((int)info->impulses));
    if (info->impulses == PERP_UNIQUENESS_DISPROVED) {
        fprintf(out, " (solutions differ by %.3g N s)", info->impulses_apart);
    }
    putc('\n', out);
}

void explain_text(FILE *out, const explained *e)
{
    const perp_step_problem *p = e->problem;
    shown_matrix matrix[SHOWN_MOST];
    shown_block blocks[SHOWN_BLOCKS];
    int count = explained_matrices(e, matrix);
    explained_blocks(e, blocks);
    fprintf(out, "%s: step from t = %g s to %g s, form %s, size %d\n", cli_plain(e->scene), e->t,
            e->t + e->h, perp_form_word((int)p->form), p->mcp.n);
    for (int k = 0; k < SHOWN_BLOCKS; k++) {
        if (blocks[k].size > 0) {
            fprintf(out, "  %-6s %3d  %s\n", blocks[k].key, blocks[k].size, blocks[k].what);
        }
    }
    for (int k = 0; k < count; k++) {
        explain_matrix(out, &matrix[k]);
    }
    put_solution(out, e);
    put_answers(out, e);
}

// ── JSON ─────────────────────────────────────────────────────────────────────────────────────────

static void json_vector(FILE *out, const double *x, int count)
{
    putc('[', out);
    for (int k = 0; k < count; k++) {
        fputs(k > 0 ? ", " : "", out);
        cli_json_number(out, x[k]);
    }
    putc(']', out);
}

static void json_matrix(FILE *out, const shown_matrix *m)
{
    putc('[', out);
    for (int i = 0; i < m->rows; i++) {
        fputs(i > 0 ? ",\n  [" : "[", out);
        for (int j = 0; j < m->cols; j++) {
            fputs(j > 0 ? ", " : "", out);
            cli_json_number(out, shown_entry(m, i, j));
        }
        putc(']', out);
    }
    putc(']', out);
}

static void json_blocks(FILE *out, const explained *e)
{
    shown_block blocks[SHOWN_BLOCKS];
    const char *comma = "";
    explained_blocks(e, blocks);
    fputs(",\n \"blocks\": {", out);
    for (int k = 0; k < SHOWN_BLOCKS; k++) {
        if (blocks[k].size > 0 || strcmp(blocks[k].key, "p_m") != 0) {
            fprintf(out, "%s\"%s\": %d", comma, blocks[k].key, blocks[k].size);
            comma = ", ";
        }
    }
    putc('}', out);
}

void explain_json(FILE *out, const explained *e)
{
    const perp_step_problem *p = e->problem;
    const char *const *name = explained_names(e);
    shown_matrix matrix[SHOWN_MOST];
    int count = explained_matrices(e, matrix);
    fprintf(out, "{\"form\": \"%s\", \"size\": %d", perp_form_word((int)p->form), p->mcp.n);
    json_blocks(out, e);
    for (int k = 0; k < count; k++) {
        fprintf(out, ",\n \"%s\": ", matrix[k].key);
        if (strcmp(matrix[k].key, "b") == 0) {
            json_vector(out, p->mcp.b, p->mcp.n);
        } else {
            json_matrix(out, &matrix[k]);
        }
    }
    fputs(",\n \"z\": ", out);
    json_vector(out, p->z, p->mcp.n);
    fputs(",\n \"w\": ", out);
    json_vector(out, p->w, p->mcp.n);
    fprintf(out, ",\n \"motion\": \"%s\", \"impulses\": \"%s\"",
            perp_uniqueness_word((int)e->info->motion),
            perp_uniqueness_word((int)e->info->impulses));
    fputs(",\n \"names\": [", out);
    for (int k = 0; k < p->mcp.n; k++) {
        fputs(k > 0 ? ", " : "", out);
        cli_json_string(out, name[k]);
    }
    fputs("]}\n", out);
}
