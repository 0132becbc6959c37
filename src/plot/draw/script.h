// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The same figure for gnuplot: a script and its data, written while a chart is drawn.
//
// What a chart draws goes into blocks of numbers in SI units (NAME.dat, blocks apart by two empty
// lines); NAME.gp plots each block into its panel with the pens, ranges, labels and legend of the
// SVG.
//
// Drawing functions of chart.h call these as well, so that a figure is described once. A figure
// that draws into the SVG by itself has to add the same to the script.
#pragma once

#include "plot/draw/chart.h"

typedef enum pp_block_style {
    PP_BLOCK_LINES,   // x y; an empty line breaks the line
    PP_BLOCK_AREA,    // x y y': filled between both
    PP_BLOCK_SHAPE,   // x y of a closed outline, filled
    PP_BLOCK_POINTS,  // x y
    PP_BLOCK_BOXES,   // x y x_low x_high y_low y_high
} pp_block_style;

enum { PP_BLOCKS = 64, PP_TICK_NAMES = 64 };

// A block of numbers: where it is drawn, how, and its lines of text.
typedef struct pp_script_data {
    int panel;
    pp_block_style style;
    pp_pen pen;
    pp_svg text;
} pp_script_data;

struct pp_script {
    const char *name;  // of the files
    pp_script_data block[PP_BLOCKS];
    int blocks;
    pp_svg rows;   // names of the rows of a strip, as tics
    pp_svg marks;  // labels inside panels
    pp_svg gp, dat;
};

void pp_script_init(pp_script *script, const char *name, const perp_env *env);
void pp_script_free(pp_script *script);

// A block of its own, or (joined) the last one of the same panel, style and colours. The rest do
// nothing where script is NULL, so that figures need not ask.
pp_svg *pp_script_block(pp_script *script, int panel, pp_block_style style, pp_pen pen,
                        bool joined);
// A line of numbers; text may be NULL.
void pp_script_row(pp_svg *text, int count, const double *values);
void pp_script_gap(pp_svg *text);  // breaks a line
// The samples of a curve, as they are drawn.
void pp_script_trace(pp_script *script, int panel, const pp_trace *trace, pp_pen pen);
// side: the other edge is side times y.
void pp_script_area(pp_script *script, int panel, const pp_trace *trace, double side, pp_pen pen);
// A straight line between two points in data units.
void pp_script_segment(pp_script *script, int panel, pp_pen pen, const double from[2],
                       const double to[2]);
// A filled rectangle.
void pp_script_box(pp_script *script, int panel, const char *colour, const double x[2],
                   const double y[2]);
void pp_script_tick(pp_script *script, double y, const char *name);  // of the rows of a strip
void pp_script_mark(pp_script *script, double x, double y, const char *markup);  // in panel 0

// Both texts, from the panels and keys of a chart that has been drawn. picture: x and y at the same
// scale.
void pp_script_finish(pp_script *script, const pp_chart *chart, bool picture);
