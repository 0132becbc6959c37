// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Scripts and data for gnuplot 5.4 or later.
//
// A script sets margins, ranges, labels and pens of each panel as the SVG has them, and plots the
// blocks of its data file by their index. Data is in SI units: the script divides by ux and uy, the
// units of the axes, so that the data can be used for other purposes as well.
#include "plot/draw/script.h"

#include <math.h>
#include <string.h>

// env: for the memory of all texts.
void pp_script_init(pp_script *script, const char *name, const perp_env *env)
{
    *script = (pp_script){.name = name,
                          .rows = {.env = env},
                          .marks = {.env = env},
                          .gp = {.env = env},
                          .dat = {.env = env}};
}

void pp_script_free(pp_script *script)
{
    for (int k = 0; k < script->blocks; k++) {
        pp_svg_free(&script->block[k].text);
    }
    pp_svg_free(&script->rows);
    pp_svg_free(&script->marks);
    pp_svg_free(&script->gp);
    pp_svg_free(&script->dat);
}

// ── Blocks ───────────────────────────────────────────────────────────────────────────────────────

// Colours and dashes may be NULL.
static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

// Width and opacity do not matter: blocks are joined by colour.
static bool same_pen(const pp_pen *a, const pp_pen *b)
{
    return same_text(a->stroke, b->stroke) && same_text(a->fill, b->fill) &&
           same_text(a->dash, b->dash);
}

// More blocks than PP_BLOCKS are left out of the script; the SVG has them.
pp_svg *pp_script_block(pp_script *script, int panel, pp_block_style style, pp_pen pen, bool joined)
{
    if (!script) {
        return NULL;
    }
    int known = joined ? script->blocks : 0;
    for (int k = 0; k < known; k++) {
        pp_script_data *b = &script->block[k];
        if (b->panel == panel && b->style == style && same_pen(&b->pen, &pen)) {
            return &b->text;
        }
    }
    if (script->blocks == PP_BLOCKS) {
        return NULL;
    }
    pp_script_data *b = &script->block[script->blocks++];
    *b = (pp_script_data){panel, style, pen, {.env = script->gp.env}};
    return &b->text;
}

// The shortest digits that read back as the same double.
static void put_number(pp_svg *text, double value)
{
    char number[PP_NUMBER];
    pp_number_print_short(number, sizeof number, value);
    pp_svg_put(text, number);
}

void pp_script_row(pp_svg *text, int count, const double *values)
{
    if (!text) {
        return;
    }
    for (int k = 0; k < count; k++) {
        put_number(text, values[k]);
        pp_svg_put(text, k + 1 < count ? " " : "\n");
    }
}

// One empty line breaks a line in gnuplot; two would begin another block.
void pp_script_gap(pp_svg *text)
{
    // Nothing to break at the start of a block, or after a break.
    bool begun = text && text->used > 0 && text->text[text->used - 1] == '\n';
    if (begun && !(text->used > 1 && text->text[text->used - 2] == '\n')) {
        pp_svg_put(text, "\n");
    }
}

// The samples that the curve is drawn with; side: a third column, side times y.
static void put_trace_rows(pp_svg *text, const pp_trace *trace, const double *side)
{
    if (!text) {
        return;
    }
    for (int k = 0; k < trace->bins; k++) {
        pp_sample sample[4];
        int count = pp_trace_bin_samples(&trace->bin[k], sample);
        if (count > 0 && trace->bin[k].broken) {
            pp_script_gap(text);
        }
        for (int i = 0; i < count; i++) {
            double row[3] = {sample[i].t, sample[i].y, side ? *side * sample[i].y : 0.0};
            pp_script_row(text, side ? 3 : 2, row);
        }
    }
}

void pp_script_trace(pp_script *script, int panel, const pp_trace *trace, pp_pen pen)
{
    put_trace_rows(pp_script_block(script, panel, PP_BLOCK_LINES, pen, false), trace, NULL);
}

void pp_script_area(pp_script *script, int panel, const pp_trace *trace, double side, pp_pen pen)
{
    put_trace_rows(pp_script_block(script, panel, PP_BLOCK_AREA, pen, false), trace, &side);
}

void pp_script_segment(pp_script *script, int panel, pp_pen pen, const double from[2],
                       const double to[2])
{
    pp_svg *text = pp_script_block(script, panel, PP_BLOCK_LINES, pen, true);
    if (text) {
        pp_script_gap(text);
        pp_script_row(text, 2, from);
        pp_script_row(text, 2, to);
    }
}

void pp_script_box(pp_script *script, int panel, const char *colour, const double x[2],
                   const double y[2])
{
    double row[6] = {0.5 * (x[0] + x[1]), 0.5 * (y[0] + y[1]), x[0], x[1], y[0], y[1]};
    pp_script_row(pp_script_block(script, panel, PP_BLOCK_BOXES, (pp_pen){.fill = colour}, true), 6,
                  row);
}

// ── Text of the script ───────────────────────────────────────────────────────────────────────────

// A name between single quotes, where gnuplot takes letters as they are. A quote becomes a curved one: gnuplot 5.4 does
// not understand a doubled one at the beginning. A percent sign is doubled where the text is a format. Unprintable
// characters are dropped, and long names are cut.
static void put_name(pp_svg *gp, const char *name, bool format)
{
    enum { LETTERS = 36 };
    int letters = 0;
    pp_svg_put(gp, "'");
    for (const char *c = name; *c; c++) {
        // One or two of them are written.
        char one[3] = {*c, *c, '\0'};
        bool twice = *c == '%' && format;
        // Letters of UTF-8 are counted, not bytes.
        letters += ((unsigned char)*c & 0xc0) != 0x80;  // the first byte of a letter
        if (letters > LETTERS) {
            pp_svg_put(gp, "\xe2\x80\xa6");
            break;
        }
        if (*c == '\'') {
            pp_svg_put(gp, "\xe2\x80\x99");
        } else if ((unsigned char)*c >= 0x20 && *c != 0x7f) {
            pp_svg_put(gp, one + !twice);
        }
    }
    pp_svg_put(gp, "'");
}

// Our markup as gnuplot's: *t* is italic, indices and exponents are written alike.
static void put_markup(pp_svg *gp, const char *markup)
{
    bool italic = false;
    for (const char *c = markup; *c; c++) {
        char one[2] = {*c, '\0'};
        if (*c == '*') {
            pp_svg_put(gp, italic ? "}" : "{/:Italic ");
            italic = !italic;
        } else {  // a plain space at the end of a piece would be lost
            pp_svg_put(gp, *c == ' ' ? "\xc2\xa0" : one);
        }
    }
}

// A name at the height y of a strip, as a tic.
void pp_script_tick(pp_script *script, double y, const char *name)
{
    if (script) {
        pp_svg_put(&script->rows, script->rows.used ? ", " : "");
        put_name(&script->rows, name, true);
        pp_svg_put(&script->rows, " ");
        put_number(&script->rows, y);
    }
}

// A label beside a curve, right-aligned.
void pp_script_mark(pp_script *script, double x, double y, const char *markup)
{
    if (script) {
        pp_svg *text = &script->marks;
        pp_svg_put(text, "set label '");
        put_markup(text, markup);
        pp_svg_put(text, "' at ");
        put_number(text, x);
        pp_svg_put(text, " / ux, ");
        put_number(text, y);
        pp_svg_put(text, " / uy right offset -0.5,0.4\n");
    }
}

// "name value" on a line.
static void put_setting(pp_svg *gp, const char *name, double value)
{
    pp_svg_put(gp, name);
    put_number(gp, value);
    pp_svg_put(gp, "\n");
}

// set xrange [low:high], in the numbers that are shown.
static void put_range(pp_svg *gp, const char *axis, double low, double high, double unit)
{
    pp_svg_put(gp, "set ");
    pp_svg_put(gp, axis);
    pp_svg_put(gp, "range [");
    put_number(gp, low / unit);
    pp_svg_put(gp, ":");
    put_number(gp, high / unit);
    pp_svg_put(gp, "]\n");
}

// The label of an axis in quotes.
static void put_label(pp_svg *gp, const char *label, const char *unit, pp_prefix by)
{
    char text[96];
    pp_axis_text(text, sizeof text, label, unit, by);
    pp_svg_put(gp, "'");
    put_markup(gp, text);
    pp_svg_put(gp, "'");
}

// Upwards along an axis, at a place that does not depend on how wide its numbers are.
static void put_side_label(pp_svg *gp, const char *label, const char *unit, pp_prefix by, double at)
{
    pp_svg_put(gp, "set label ");
    put_label(gp, label, unit, by);
    pp_svg_put(gp, " at screen ");
    put_number(gp, at);
    pp_svg_put(gp, ", graph 0.5 center rotate by 90\n");
}

// SVG's dashes, in gnuplot's units of line width.
static void put_dash(pp_svg *gp, const char *dash)
{
    double on = 0.0, off = 0.0;
    size_t length = dash ? strcspn(dash, " ") : 0;
    if (dash && dash[length] && pp_number_parse(dash, length, &on) == PP_NUMBER_FINITE &&
        pp_number_parse(dash + length + 1, strlen(dash + length + 1), &off) == PP_NUMBER_FINITE) {
        pp_svg_put(gp, " dt (");
        // SVG counts in points, gnuplot in widths of the line.
        put_number(gp, 3.0 * on);
        pp_svg_put(gp, ",");
        put_number(gp, 3.0 * off);
        pp_svg_put(gp, ")");
    }
}

// Colour, width and dashes of a line.
static void put_line_pen(pp_svg *gp, const pp_pen *pen)
{
    pp_svg_put(gp, " lc rgb '");
    pp_svg_put(gp, pen->stroke ? pen->stroke : PP_INK);
    pp_svg_put(gp, "' lw ");
    put_number(gp, pen->width > 0.0 ? pen->width : 0.8);
    put_dash(gp, pen->dash);
}

// Colour and opacity of an area.
static void put_fill_pen(pp_svg *gp, const pp_pen *pen)
{
    // Without a border: lines are blocks of their own.
    pp_svg_put(gp, " fs transparent solid ");
    put_number(gp, pen->veil > 0.0 ? pen->veil : 1.0);
    pp_svg_put(gp, " noborder fc rgb '");
    pp_svg_put(gp, pen->fill ? pen->fill : PP_GREY);
    pp_svg_put(gp, "'");
}

// ── Panels ───────────────────────────────────────────────────────────────────────────────────────

// One block as an item of the plot command; index: of the block in the data file.
static void put_block(pp_svg *gp, const pp_script_data *block, int index)
{
    // In the order of pp_block_style.
    static const char *const using[] = {
        "using ($1/ux):($2/uy) with lines", "using ($1/ux):($2/uy):($3/uy) with filledcurves",
        "using ($1/ux):($2/uy) with filledcurves closed",
        "using ($1/ux):($2/uy) with points pt 7 ps 0.25",
        "using ($1/ux):($2/uy):($3/ux):($4/ux):($5/uy):($6/uy) with boxxyerror"};
    pp_svg_put(gp, ", \\\n     data index ");
    pp_svg_integer(gp, index);
    pp_svg_put(gp, " ");
    pp_svg_put(gp, using[block->style]);
    if (block->style == PP_BLOCK_LINES) {
        put_line_pen(gp, &block->pen);
    } else if (block->style == PP_BLOCK_POINTS) {
        pp_svg_put(gp, " lc rgb '");
        pp_svg_put(gp, block->pen.fill ? block->pen.fill : PP_INK);
        pp_svg_put(gp, "'");
    } else {
        put_fill_pen(gp, &block->pen);
    }
    pp_svg_put(gp, " notitle");
}

// An entry of the legend without data.
static void put_key(pp_svg *gp, const pp_key *key)
{
    pp_svg_put(gp, ", \\\n     keyentry with ");
    if (key->kind == PP_KEY_LINE) {
        pp_svg_put(gp, "lines");
        put_line_pen(gp, &key->pen);
    } else if (key->kind == PP_KEY_BOX) {
        pp_svg_put(gp, "boxes");
        put_fill_pen(gp, &key->pen);
    } else {
        pp_svg_put(gp, "points pt 7 ps 0.5 lc rgb '");
        pp_svg_put(gp, key->pen.fill ? key->pen.fill : PP_INK);
        pp_svg_put(gp, "'");
    }
    pp_svg_put(gp, " title ");
    if (key->ours) {
        pp_svg_put(gp, "'");
        put_markup(gp, key->name);
        pp_svg_put(gp, "'");
    } else {
        put_name(gp, key->name, false);
        pp_svg_put(gp, " noenhanced");
    }
}

// A strip has names of rows in place of numbers. A second scale on the right has its own range.
static void put_axis_y(pp_svg *gp, const pp_script *script, const pp_panel *p, double unit)
{
    // %L is the exponent.
    pp_svg_put(gp, p->sy.log ? "set logscale y\nset format y '10^{%L}'\n"
                             : "unset logscale y\nset format y '%g'\n");
    put_range(gp, "y", p->sy.low, p->sy.high, unit);
    if (p->y.bare) {
        pp_svg_put(gp, "set ytics (");
        pp_svg_put(gp, script->rows.text ? script->rows.text : "");
        pp_svg_put(gp, ") scale 0 noenhanced\nset border 1\n");
        return;
    }
    // Border 11: left, bottom and right.
    if (p->right > 0.0) {
        pp_ruler right = p->sy;
        right.low *= p->right;
        right.high *= p->right;
        pp_prefix by = pp_unit_for(right.low, right.high);
        // At the right edge of the page.
        put_side_label(gp, p->right_label, p->right_unit, by, 0.98);
        put_range(gp, "y2", right.low, right.high, by.factor);
        pp_svg_put(gp, "set y2tics nomirror\nset border 11\n");
    }
}

// Settings and the plot command of one panel.
static void put_panel(pp_script *script, const pp_chart *chart, int k, bool picture)
{
    const pp_panel *p = &chart->panel[k];
    pp_svg *gp = &script->gp;
    const pp_prefix none = {.factor = 1.0, .prefix = ""};
    pp_prefix x = p->sx.log ? none : pp_unit_for(p->sx.low, p->sx.high);
    // Logarithmic axes show powers of ten, and need no prefix.
    pp_prefix y = p->sy.log || p->y.bare ? none : pp_unit_for(p->sy.low, p->sy.high);
    if (picture) {
        x = y = none;
        pp_svg_put(gp, "set size ratio -1\n");
    } else {  // gnuplot counts places on the page from below, as parts of its size
        put_setting(gp, "set lmargin at screen ", chart->from / chart->width);
        put_setting(gp, "set rmargin at screen ", chart->to / chart->width);
        put_setting(gp, "set tmargin at screen ", 1.0 - p->top / chart->height);
        put_setting(gp, "set bmargin at screen ", 1.0 - (p->top + p->height) / chart->height);
    }
    // The data is in SI units; ux and uy are what the numbers of the axes are divided by.
    put_setting(gp, "ux = ", x.factor);
    put_setting(gp, "uy = ", y.factor);
    put_range(gp, "x", p->sx.low, p->sx.high, x.factor);
    if (p->x.hidden) {
        pp_svg_put(gp, "set xlabel ''\nset format x ''\n");
    } else {
        pp_svg_put(gp, p->sx.log ? "set logscale x\nset format x '10^{%L}'\nset xlabel "
                                 : "set format x '%g'\nset xlabel ");
        put_label(gp, p->x.label, p->x.unit, x);
        pp_svg_put(gp, "\n");
    }
    if (picture) {
        pp_svg_put(gp, "set ylabel ");
        put_label(gp, p->y.label, p->y.unit, y);
        pp_svg_put(gp, "\n");
    } else if (!p->y.bare) {
        put_side_label(gp, p->y.label, p->y.unit, y, 6.0 / chart->width);
    }
    put_axis_y(gp, script, p, y.factor);
    if (p->name) {
        pp_svg_put(gp, "set label ");
        put_name(gp, p->name, false);
        pp_svg_put(gp, " at graph 0.02, graph 0.9 noenhanced\n");
    }
    // Labels inside are of panel 0 only.
    if (k == 0 && script->marks.text) {
        pp_svg_put(gp, script->marks.text);
    }
    // One plot command with everything in it: NaN gives a panel without data its axes. The legend
    // belongs to the figure, and is written with its first panel.
    pp_svg_put(gp, "plot NaN notitle");
    int keys = k == 0 ? chart->keys : 0;
    for (int i = 0; i < keys; i++) {
        put_key(gp, &chart->key[i]);
    }
    for (int i = 0, index = 0; i < script->blocks; i++) {
        // Blocks without lines are not in the data file, and not counted.
        bool there = script->block[i].text.used > 0;
        if (there && script->block[i].panel == k) {
            put_block(gp, &script->block[i], index);
        }
        index += there;
    }
    pp_svg_put(gp, "\nunset label\n");
}

// All blocks that hold something, numbered from 0 as gnuplot counts them.
static void put_data(pp_script *script)
{
    pp_svg *dat = &script->dat;
    for (int k = 0, index = 0; k < script->blocks; k++) {
        const pp_svg *text = &script->block[k].text;
        dat->failed = dat->failed || text->failed;
        if (text->used == 0) {
            continue;
        }
        // Two empty lines separate blocks.
        pp_svg_put(dat, index > 0 ? "\n\n# block " : "# SI units, angles in rad\n# block ");
        pp_svg_integer(dat, index++);
        pp_svg_put(dat, ", panel ");
        pp_svg_integer(dat, script->block[k].panel);
        pp_svg_put(dat, "\n");
        pp_svg_put(dat, text->text);
    }
    if (dat->used == 0) {
        pp_svg_put(dat, "# nothing to show\n");
    }
}

// Memory that ran out in a part is remembered in the text that is written.
void pp_script_finish(pp_script *script, const pp_chart *chart, bool picture)
{
    if (!script) {
        return;
    }
    pp_svg *gp = &script->gp;
    // The data first: the script counts its blocks.
    put_data(script);
    pp_svg_put(gp, "# gnuplot 5.4 or later, in this directory: gnuplot ");
    pp_svg_put(gp, script->name);
    pp_svg_put(gp, ".gp\nif (!exists('out')) out = '");
    pp_svg_put(gp, script->name);
    pp_svg_put(gp, "-gnuplot.svg'\ndata = '");
    pp_svg_put(gp, script->name);
    pp_svg_put(gp, ".dat'\nset encoding utf8\nset terminal svg size ");
    // Twice the size of the SVG in points, since gnuplot has no fractions of a pixel; type is twice
    // 7 pt.
    put_number(gp, ceil(2.0 * chart->width));
    pp_svg_put(gp, ",");
    put_number(gp, ceil(2.0 * chart->height));
    pp_svg_put(gp, " enhanced background rgb 'white' font 'Helvetica,14' linewidth 1.6\n"
                   "set output out\nset border 3\nset tics nomirror out scale 0.6 font ',12'\n"
                   "set grid ytics lc rgb '" PP_GRID "' lt 1 lw 0.4\n"
                   "set key at screen ");
    put_number(gp, chart->from / chart->width);
    pp_svg_put(gp,
               ", screen 0.995 left top horizontal samplen 1.2 width -3 Left reverse font ',12'\n"
               "set clip two\nset xlabel offset 0,1\n"
               "set xtics offset 0,0.4\nset multiplot");
    // Two projections side by side.
    if (picture && chart->panels > 1) {
        pp_svg_put(gp, " layout 1,2");
    }
    pp_svg_put(gp, "\n");
    for (int k = 0; k < chart->panels; k++) {
        pp_svg_put(gp, "\n");
        put_panel(script, chart, k, picture);
    }
    pp_svg_put(gp, "\nunset multiplot\nset output\n");
    gp->failed = gp->failed || script->rows.failed || script->marks.failed;
}
