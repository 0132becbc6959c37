// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// SVG as text in memory: elements, numbers, escaped names, and the width of a line of type.
//
// Lengths are points (1/72 inch) on the page, y downwards. Numbers have two decimals and no locale.
// Memory that runs out is remembered in `failed`: the drawing functions return nothing, who writes
// the text asks once.
#pragma once

#include "base/base.h"

typedef struct pp_script pp_script;

// A text that grows: SVG, HTML, and the scripts and data for gnuplot.
typedef struct pp_svg {
    const perp_env *env;
    pp_script *script;  // receives the same figure for gnuplot; NULL: none
    char *text;         // always terminated; NULL before the first character
    size_t used, size;
    bool failed;
} pp_svg;

// How something is drawn. NULL: no stroke, no fill, no dashes; opacity 0: opaque.
typedef struct pp_pen {
    const char *stroke, *fill, *dash;
    double width, opacity;
    double veil;  // opacity of the fill alone
} pp_pen;

// Which part of a text is at its x.
typedef enum pp_anchor { PP_START, PP_MIDDLE, PP_END } pp_anchor;

void pp_svg_free(pp_svg *svg);

// ── Numbers as text; the decimal point is a point in every locale ────────────────────────────────

#define PP_MINUS "\xe2\x88\x92"
enum { PP_NUMBER = 64 };
// |value| 10^decimals must fit 2^53, else the number is cut to that. trim: without zeros at the
// end.
void pp_decimal_text(char text[PP_NUMBER], double value, int decimals, bool trim,
                     const char *minus);
// Three significant digits; a power of ten where that is shorter, its exponent between open and
// close.
void pp_value_text(char text[PP_NUMBER], double value, const char *open, const char *close);

// ── Text of any kind; index.html is written with these too ───────────────────────────────────────

void pp_svg_put(pp_svg *svg, const char *text);     // as it is
void pp_svg_escape(pp_svg *svg, const char *text);  // a name: & < > " and control characters
void pp_svg_integer(pp_svg *svg, int64_t value);

// ── Elements ─────────────────────────────────────────────────────────────────────────────────────

void pp_svg_open(pp_svg *svg, double width, double height, const char *title);
void pp_svg_close(pp_svg *svg);
void pp_svg_attribute(pp_svg *svg, const char *name, double value);
void pp_svg_pen(pp_svg *svg, pp_pen pen);  // attributes
void pp_svg_group(pp_svg *svg, pp_pen pen);
void pp_svg_end_group(pp_svg *svg);
// Draws only inside the rectangle until pp_svg_end_group; number: unique in the file.
void pp_svg_clip(pp_svg *svg, int number, double x, double y, double width, double height);

void pp_svg_line(pp_svg *svg, double x1, double y1, double x2, double y2, pp_pen pen);
void pp_svg_rect(pp_svg *svg, double x, double y, double width, double height, pp_pen pen);
void pp_svg_circle(pp_svg *svg, double x, double y, double radius, pp_pen pen);

// <path: begin, moves and lines, end.
void pp_svg_path(pp_svg *svg, pp_pen pen);
void pp_svg_move(pp_svg *svg, double x, double y);
void pp_svg_to(pp_svg *svg, double x, double y);
void pp_svg_dot(pp_svg *svg, double x, double y);  // needs a pen with width
void pp_svg_arc(pp_svg *svg, double radius, bool sweep, double x, double y);
void pp_svg_shut(pp_svg *svg);
void pp_svg_end_path(pp_svg *svg);

// A name, not wider than `most` (0: any width): what does not fit is replaced by an ellipsis.
void pp_svg_name(pp_svg *svg, double x, double y, pp_anchor anchor, double size, double most,
                 const char *text);
// Our own words: *t* is italic, _{n} an index, ^{-3} an exponent. turned: upwards along the y axis.
void pp_svg_label(pp_svg *svg, double x, double y, pp_anchor anchor, double size, bool turned,
                  const char *markup);

double pp_text_width(const char *text, double size);  // of a name
double pp_label_width(const char *markup, double size);
