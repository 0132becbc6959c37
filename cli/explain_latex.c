// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp explain as a complete LaTeX document; needs only amsmath and graphicx.
#include "cli.h"

#include <stdlib.h>
#include <string.h>

// Matrices with more columns are scaled to the page width.
enum { FITTING = 7 };

// LaTeX with T1 fonts has the letters of Latin-1; other characters are written as U+XXXX.
static const char *put_character(FILE *out, const char *at)
{
    const unsigned char *c = (const unsigned char *)at;
    int more = c[0] >= 0xf0 ? 3 : c[0] >= 0xe0 ? 2 : 1;
    unsigned code = c[0] & (more == 3 ? 0x07u : more == 2 ? 0x0fu : 0x1fu);
    for (int k = 1; k <= more; k++) {
        if ((c[k] & 0xc0u) != 0x80u) {
            putc('?', out);  // not UTF-8
            return at;
        }
        code = code << 6 | (c[k] & 0x3fu);
    }
    if (code >= 0xc0 && code <= 0xff) {
        fwrite(at, 1, (size_t)more + 1, out);
    } else {
        fprintf(out, "U+%04X", code);
    }
    return at + more;
}

static void put_name(FILE *out, const char *name)
{
    name = cli_plain(name);
    for (; *name; name++) {
        switch (*name) {
        case '\\':
            fputs("\\textbackslash{}", out);
            break;
        case '~':
            fputs("\\textasciitilde{}", out);
            break;
        case '^':
            fputs("\\textasciicircum{}", out);
            break;
        case '_':
        case '%':
        case '&':
        case '#':
        case '$':
        case '{':
        case '}':
            fprintf(out, "\\%c", *name);
            break;
        default:
            if ((unsigned char)*name < 0x80) {
                putc(*name, out);
            } else {
                name = put_character(out, name);
            }
        }
    }
}

// 1.5e-07 as 1.5\cdot10^{-7}.
static void put_value(FILE *out, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.5g", value);
    char *e = strchr(text, 'e');
    if (strstr(text, "inf")) {
        fputs(value < 0.0 ? "-\\infty" : "\\infty", out);
    } else if (e) {
        long power = strtol(e + 1, NULL, 10);
        *e = '\0';
        fprintf(out, "%s\\cdot10^{%ld}", text, power);
    } else {
        fputs(value == 0.0 ? "\\cdot" : text, out);
    }
}

static void put_rows(FILE *out, const shown_matrix *m)
{
    fprintf(out, "\\left[\\begin{array}{*{%d}{r}}\n", m->cols);
    for (int i = 0; i < m->rows; i++) {
        for (int j = 0; j < m->cols; j++) {
            fputs(j > 0 ? " & " : "", out);
            put_value(out, shown_entry(m, i, j));
        }
        fputs(" \\\\\n", out);
    }
    fputs("\\end{array}\\right]", out);
}

static void put_matrix(FILE *out, const shown_matrix *m)
{
    bool wide = m->cols > FITTING;
    fputs("\n\\paragraph{$", out);
    fprintf(out, "%s$} ", m->symbol);
    put_name(out, m->what);
    fprintf(out, ", $%d\\times%d$ [", m->rows, m->cols);
    put_name(out, m->unit);
    fputs("]\n", out);
    if (m->rows == 0 || m->cols == 0) {
        fputs("(empty)\n", out);
        return;
    }
    fputs(wide ? "\\[\\resizebox{\\textwidth}{!}{$" : "\\[", out);
    fprintf(out, "%s = ", m->symbol);
    put_rows(out, m);
    fputs(wide ? "$}\\]\n" : "\\]\n", out);
}

static void put_line(FILE *out, const explained *e, const shown_block *block, int at)
{
    const perp_step_problem *p = e->problem;
    fprintf(out, "$%s$ & \\texttt{", block->symbol);
    put_name(out, explained_names(e)[at]);
    fputs("} & $", out);
    put_value(out, p->z[at]);
    fprintf(out, "$ & %s & $", block->unit);
    put_value(out, p->w[at]);
    fprintf(out, "$ & %s \\\\\n", block->slack_unit);
}

// One table per page, because longtable would need another package.
static void put_solution(FILE *out, const explained *e)
{
    enum { PAGE = 35 };
    shown_block blocks[SHOWN_BLOCKS];
    explained_blocks(e, blocks);
    int at = 0;
    fprintf(out, "\n\\paragraph{$z$ and $w = Az + b$} (%s)\n\n", e->status);
    for (int k = 0; k < SHOWN_BLOCKS; k++) {
        for (int i = 0; i < blocks[k].size; i++, at++) {
            if (at % PAGE == 0) {
                fputs("\\noindent\\begin{tabular}{llrlrl}\n"
                      "block & name & $z$ & & $w$ & \\\\ \\hline\n",
                      out);
            }
            put_line(out, e, &blocks[k], at);
            if (at % PAGE == PAGE - 1 || at == e->problem->mcp.n - 1) {
                fputs("\\end{tabular}\n\n", out);
            }
        }
    }
}

static void put_blocks(FILE *out, const explained *e)
{
    shown_block blocks[SHOWN_BLOCKS];
    const char *comma = "";
    explained_blocks(e, blocks);
    fprintf(out, "Size %d:", e->problem->mcp.n);
    for (int k = 0; k < SHOWN_BLOCKS; k++) {
        if (blocks[k].size > 0) {
            fprintf(out, "%s $%s$ (%d), %s", comma, blocks[k].symbol, blocks[k].size,
                    blocks[k].what);
            comma = ";";
        }
    }
    fputs(".\n", out);
}

static const char equations[] =
    "\\begin{align*}\n"
    "  M\\nu &= M\\nu^l + p_{ext} + W_b p_b + W_n p_n + W_f p_f \\\\\n"
    "  0 &= W_b^T \\nu + \\phi/h + \\partial\\phi/\\partial t \\\\\n"
    "  0 \\le p_n &\\perp W_n^T \\nu + \\psi_n/h + \\partial\\psi_n/\\partial t \\ge 0 \\\\\n"
    "  0 \\le p_f &\\perp W_f^T \\nu + E\\sigma + \\partial\\psi_f/\\partial t \\ge 0 \\\\\n"
    "  0 \\le \\sigma &\\perp U p_n - E^T p_f \\ge 0\n"
    "\\end{align*}\n";

void explain_latex(FILE *out, const explained *e)
{
    shown_matrix matrix[SHOWN_MOST];
    int count = explained_matrices(e, matrix);
    fputs("\\documentclass{article}\n\\usepackage[utf8]{inputenc}\n\\usepackage[T1]{fontenc}\n"
          "\\usepackage{amsmath}\n"
          "\\usepackage{graphicx}\n\\usepackage[margin=20mm]{geometry}\n\\begin{document}\n"
          "\\section*{",
          out);
    put_name(out, e->scene);
    fprintf(out, "}\nStep from $t = %g$\\,s to $%g$\\,s, form %s.\n", e->t, e->t + e->h,
            perp_form_word((int)e->problem->form));
    put_blocks(out, e);
    fputs(equations, out);
    for (int k = 0; k < count; k++) {
        put_matrix(out, &matrix[k]);
    }
    put_solution(out, e);
    fputs("\\end{document}\n", out);
}
