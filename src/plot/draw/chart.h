// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Charts: one or more panels below each other, a legend above them, axes with units.
//
// A figure fills in a pp_chart, calls pp_chart_begin (which opens the SVG, lays out and draws
// legend and axes), draws into the panels, and calls pp_chart_end. The style of all figures is
// here: a column of a two-column page wide, 7 and 8 pt type, thin rules, the colours of Okabe and
// Ito.
#pragma once

#include "plot/draw/trace.h"

#define PP_INK    "#222222"
#define PP_RULE   "#555555"
#define PP_GRID   "#e3e3e3"
#define PP_BLUE   "#0072B2"
#define PP_RED    "#D55E00"
#define PP_GREEN  "#009E73"
#define PP_PURPLE "#CC79A7"
#define PP_SKY    "#56B4E9"
#define PP_ORANGE "#E69F00"
#define PP_GREY   "#9a9a9a"
#define PP_TYPE   8.0    // labels [pt]
#define PP_SMALL  7.0    // numbers, legend [pt]
#define PP_COLUMN 252.0  // 88.9 mm
#define PP_PAGE   510.0  // both columns, 180 mm
#define PP_PLAIN  90.0   // height of a panel

enum { PP_CURVES = 8, PP_PANELS = 8, PP_KEYS = 12 };

const char *pp_colour(int k);  // of curve k, they repeat after seven
// Curves that coincide stay visible: later ones are thinner and lie on top; past seven they are
// dashed.
pp_pen pp_curve_pen(int k, int count);

typedef enum pp_key_kind { PP_KEY_LINE, PP_KEY_BOX, PP_KEY_DOT } pp_key_kind;
// An entry of the legend.
typedef struct pp_key {
    const char *name;
    bool ours;  // markup, not a name from the scene
    pp_key_kind kind;
    pp_pen pen;
} pp_key;

// An axis as a figure wants it; pp_chart_begin makes the scale from it.
typedef struct pp_chart_axis {
    const char *label, *unit;  // markup; unit "": none
    pp_range range;
    double typical;  // values that vary by less than 1e-6 of it are shown as a flat line; 0: none
    bool log;
    bool hidden;  // no numbers and no label: shared with the panel below
    bool bare;    // nothing at all: the rows of a strip
} pp_chart_axis;

// One coordinate system. Panels of a chart are below each other and share their left and right
// ends.
typedef struct pp_panel {
    double height;
    pp_chart_axis x, y;
    const char *name;  // from the scene, at the top of the panel; NULL: none
    double limit;      // a dashed rule, 0: none
    double right;      // the axis on the right shows y times this, 0: there is none
    const char *right_label, *right_unit;
    // set by pp_chart_begin
    pp_ruler sx, sy;
    double top;
} pp_panel;

// A figure with panels. What a caller does not set is 0, and has a default.
typedef struct pp_chart {
    pp_svg *svg;
    const char *title;
    double width, left;  // left: room for what stands before the panels, 0: as the numbers need
    pp_panel panel[PP_PANELS];
    int panels;
    pp_key key[PP_KEYS];
    int keys;
    const char *empty;  // what to say when there is nothing to draw, or NULL
    double from, to;    // where the panels are, set by pp_chart_begin
    double height;      // of the figure, set by pp_chart_begin
} pp_chart;

// "*p*_{n} [mN s]", with the prefix or power that the numbers of the axis are divided by.
void pp_axis_text(char *text, size_t size, const char *label, const char *unit, pp_prefix by);
void pp_chart_key(pp_chart *chart, const char *name, bool ours, pp_key_kind kind, pp_pen pen);
// Rows of keys from chart->from on; returns their height. draw: false, measure only.
double pp_chart_legend(pp_chart *chart, bool draw);
void pp_chart_begin(pp_chart *chart);
void pp_chart_end(pp_chart *chart);
void pp_chart_curve(pp_chart *chart, int panel, const pp_trace *trace, pp_pen pen);
// The area between a curve and zero, or between it and its mirror image below zero.
void pp_chart_area(pp_chart *chart, int panel, const pp_trace *trace, bool mirror, pp_pen pen);
