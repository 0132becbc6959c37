// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Charts: layout, axes, legend, and curves thinned to what a pen can show.
//
// Layout goes from the inside to the outside: ranges give the scales, scales the numbers, the
// widest number the left edge of the panels. Lengths are points on the page.
#include "plot/draw/chart.h"
#include "math/math.h"

#include "plot/draw/script.h"

#include <math.h>
#include <string.h>

// Labels of an axis, about; decades of a logarithmic one, at most.
enum { TICKS_Y = 5, TICKS_X = 6, DECADES = 16 };
// On the page [pt]: between panels that share their x axis, below a panel with numbers and label,
// of a row of the legend, of the sample before a name.
static const double gap_between = 11.0, foot = 27.0, key_height = 10.0, swatch = 13.0;

// ── Colours ──────────────────────────────────────────────────────────────────────────────────────

const char *pp_colour(int k)
{
    // Yellow, the eighth of Okabe and Ito, is too light for a line on white.
    static const char *const colours[] = {PP_BLUE,   PP_RED, PP_GREEN, PP_PURPLE,
                                          PP_ORANGE, PP_SKY, "#000000"};
    return colours[k % 7];
}

// From 1.6 pt for the first curve to 0.9 pt for the last.
pp_pen pp_curve_pen(int k, int count)
{
    // Widths in points.
    double thick = 1.6 - 0.7 * k / (count > 1 ? count - 1 : 1);
    return (pp_pen){
        .stroke = pp_colour(k), .width = count == 1 ? 1.1 : thick, .dash = k >= 7 ? "3 1.5" : NULL};
}

// ── Legend ───────────────────────────────────────────────────────────────────────────────────────

// What does not fit into the legend is left out.
void pp_chart_key(pp_chart *chart, const char *name, bool ours, pp_key_kind kind, pp_pen pen)
{
    if (chart->keys < PP_KEYS) {
        chart->key[chart->keys++] = (pp_key){name, ours, kind, pen};
    }
}

// Names are cut at 40 % of the width of the figure.
static double key_width(const pp_chart *chart, const pp_key *key)
{
    double text =
        key->ours ? pp_label_width(key->name, PP_SMALL) : pp_text_width(key->name, PP_SMALL);
    return swatch + 3.0 + fmin(text, 0.4 * chart->width) + 9.0;
}

// y: the baseline of the name.
static void draw_key(pp_chart *chart, const pp_key *key, double x, double y)
{
    pp_svg *svg = chart->svg;
    if (key->kind == PP_KEY_LINE) {
        // At the middle of the lower-case letters.
        pp_svg_line(svg, x, y - 2.5, x + swatch, y - 2.5, key->pen);
    } else if (key->kind == PP_KEY_BOX) {
        pp_svg_rect(svg, x + 3.0, y - 5.6, swatch - 5.0, 6.2, key->pen);
    } else {
        pp_svg_circle(svg, x + 0.6 * swatch, y - 2.5, 1.6, key->pen);
    }
    double at = x + swatch + 3.0;
    if (key->ours) {
        pp_svg_label(svg, at, y, PP_START, PP_SMALL, false, key->name);
    } else {
        pp_svg_name(svg, at, y, PP_START, PP_SMALL, 0.4 * chart->width, key->name);
    }
}

// Keys flow from left to right, and into the next row where one would stick out.
double pp_chart_legend(pp_chart *chart, bool draw)
{
    double x = chart->from, y = key_height;
    for (int k = 0; k < chart->keys; k++) {
        double width = key_width(chart, &chart->key[k]);
        // The 9 pt after the last key may stick out.
        if (x > chart->from && x + width > chart->width + 6.0) {
            x = chart->from;
            y += key_height;
        }
        if (draw) {
            draw_key(chart, &chart->key[k], x, y);
        }
        x += width;
    }
    // Without keys there is room for half a number at the top of the axis.
    return chart->keys ? y + 6.0 : 8.0;
}

// ── Axes ─────────────────────────────────────────────────────────────────────────────────────────

// "[10^{-15} m]" where no prefix fits, "[10^{3}]" for numbers without a unit.
void pp_axis_text(char *text, size_t size, const char *label, const char *unit, pp_prefix by)
{
    char power[24] = "";
    if (!by.prefix) {
        pp_print(power, sizeof power, "10^{%s%d} ", by.power < 0 ? PP_MINUS : "",
                 by.power < 0 ? -by.power : by.power);
    } else if (!unit[0] && by.power != 0) {
        pp_print(power, sizeof power, "10^{%s%d}", by.power < 0 ? PP_MINUS : "",
                 by.power < 0 ? -by.power : by.power);
    }
    const char *prefix = by.prefix && unit[0] ? by.prefix : "";
    if (!unit[0] && !power[0]) {
        pp_print(text, size, "%s", label);
    } else {
        pp_print(text, size, "%s [%s%s%s]", label, power, prefix, unit);
    }
}

// Numbers of a logarithmic axis are powers of ten.
static void tick_text(char text[PP_NUMBER], bool log, double shown, int decimals)
{
    if (log) {
        int power = (int)lround(pp_log10(shown));
        pp_print(text, PP_NUMBER, "10^{%s%d}", power < 0 ? PP_MINUS : "",
                 power < 0 ? -power : power);
        return;
    }
    pp_decimal_text(text, shown, decimals, false, PP_MINUS);
}

// Ticks in the numbers that are shown, and what these are divided by.
typedef struct marks {
    pp_ticks ticks;
    pp_prefix unit;
} marks;

// Ticks are chosen for the numbers as shown: a step of 2 mm, not of 0.002 m.
static marks axis_marks(const pp_ruler *scale, int most)
{
    if (scale->log) {
        return (marks){pp_ticks_log(scale->low, scale->high, most), {.factor = 1.0, .prefix = ""}};
    }
    pp_prefix unit = pp_unit_for(scale->low, scale->high);
    return (marks){pp_ticks_linear(scale->low / unit.factor, scale->high / unit.factor, most),
                   unit};
}

// Room that the numbers of an axis take [pt].
static double widest_number(const pp_ruler *scale, int most)
{
    marks m = axis_marks(scale, most);
    double width = 0.0;
    for (int k = 0; k < m.ticks.count; k++) {
        char text[PP_NUMBER];
        tick_text(text, scale->log, m.ticks.value[k], m.ticks.decimals);
        width = fmax(width, pp_label_width(text, PP_SMALL));
    }
    return width;
}

// A low panel has room for three labels.
static int ticks_of(const pp_panel *panel)
{
    return panel->height < 60.0 ? 3 : TICKS_Y;
}

// Short strokes, without numbers.
static void draw_minor_ticks(pp_chart *chart, const pp_panel *panel, const pp_ticks *major)
{
    pp_ticks minor = pp_ticks_log_minor(panel->sy.low, panel->sy.high, major);
    for (int k = 0; k < minor.count; k++) {
        double y = pp_scale_at(&panel->sy, minor.value[k]);
        pp_svg_line(chart->svg, chart->from - 1.8, y, chart->from, y, (pp_pen){0});
    }
}

// Grid, ticks, numbers and label on the left.
static void draw_axis_y(pp_chart *chart, const pp_panel *panel)
{
    pp_svg *svg = chart->svg;
    marks m = axis_marks(&panel->sy, ticks_of(panel));
    char text[96];
    pp_svg_group(svg, (pp_pen){.stroke = PP_RULE, .width = 0.5});
    for (int k = 0; k < m.ticks.count; k++) {
        double y = pp_scale_at(&panel->sy, m.ticks.value[k] * m.unit.factor);
        // No grid line on the x axis.
        if (y < panel->top + panel->height - 0.5) {
            pp_svg_line(svg, chart->from, y, chart->to, y, (pp_pen){.stroke = PP_GRID});
        }
        pp_svg_line(svg, chart->from - 3.0, y, chart->from, y, (pp_pen){0});
    }
    if (panel->sy.log) {
        draw_minor_ticks(chart, panel, &m.ticks);
    }
    pp_svg_line(svg, chart->from, panel->top, chart->from, panel->top + panel->height, (pp_pen){0});
    pp_svg_end_group(svg);
    for (int k = 0; k < m.ticks.count; k++) {
        double y = pp_scale_at(&panel->sy, m.ticks.value[k] * m.unit.factor);
        tick_text(text, panel->sy.log, m.ticks.value[k], m.ticks.decimals);
        pp_svg_label(svg, chart->from - 4.5, y + 2.5, PP_END, PP_SMALL, false, text);
    }
    pp_axis_text(text, sizeof text, panel->y.label, panel->y.unit, m.unit);
    pp_svg_label(svg, 8.5, panel->top + 0.5 * panel->height, PP_MIDDLE, PP_TYPE, true, text);
}

// The same values in another unit: an impulse as a force, for example. It has ticks of its own.
static void draw_axis_right(pp_chart *chart, const pp_panel *panel)
{
    pp_svg *svg = chart->svg;
    // The same places on the page, other numbers.
    pp_ruler scale = panel->sy;
    scale.low *= panel->right;
    scale.high *= panel->right;
    marks m = axis_marks(&scale, ticks_of(panel));
    char text[96];
    pp_svg_line(svg, chart->to, panel->top, chart->to, panel->top + panel->height,
                (pp_pen){.stroke = PP_RULE, .width = 0.5});
    for (int k = 0; k < m.ticks.count; k++) {
        double y = pp_scale_at(&scale, m.ticks.value[k] * m.unit.factor);
        pp_svg_line(svg, chart->to, y, chart->to + 3.0, y,
                    (pp_pen){.stroke = PP_RULE, .width = 0.5});
        tick_text(text, false, m.ticks.value[k], m.ticks.decimals);
        pp_svg_label(svg, chart->to + 4.5, y + 2.5, PP_START, PP_SMALL, false, text);
    }
    pp_axis_text(text, sizeof text, panel->right_label, panel->right_unit, m.unit);
    pp_svg_label(svg, chart->width - 3.0, panel->top + 0.5 * panel->height, PP_MIDDLE, PP_TYPE,
                 true, text);
}

// Ticks below the panel; numbers and label only where no panel below shares the axis.
static void draw_axis_x(pp_chart *chart, const pp_panel *panel)
{
    pp_svg *svg = chart->svg;
    double y = panel->top + panel->height;
    // A figure over both columns has room for more.
    marks m = axis_marks(&panel->sx, chart->width > 300.0 ? 10 : TICKS_X);
    char text[96];
    pp_svg_group(svg, (pp_pen){.stroke = PP_RULE, .width = 0.5});
    pp_svg_line(svg, chart->from, y, chart->to, y, (pp_pen){0});
    for (int k = 0; k < m.ticks.count; k++) {
        double x = pp_scale_at(&panel->sx, m.ticks.value[k] * m.unit.factor);
        pp_svg_line(svg, x, y, x, y + 3.0, (pp_pen){0});
    }
    pp_svg_end_group(svg);
    if (panel->x.hidden) {
        return;
    }
    for (int k = 0; k < m.ticks.count; k++) {
        double x = pp_scale_at(&panel->sx, m.ticks.value[k] * m.unit.factor);
        tick_text(text, panel->sx.log, m.ticks.value[k], m.ticks.decimals);
        pp_svg_label(svg, x, y + 10.5, PP_MIDDLE, PP_SMALL, false, text);
    }
    pp_axis_text(text, sizeof text, panel->x.label, panel->x.unit, m.unit);
    pp_svg_label(svg, 0.5 * (chart->from + chart->to), y + 21.5, PP_MIDDLE, PP_TYPE, false, text);
}

// ── Layout ───────────────────────────────────────────────────────────────────────────────────────

// From the ranges of the data, the limit included.
static void make_scales(pp_chart *chart, pp_panel *p)
{
    // y grows upwards: from the bottom of the panel to its top.
    double bottom = p->top + p->height;
    pp_range y = p->y.range;
    if (p->limit > 0.0) {
        pp_range_add(&y, p->limit);
    }
    // Differences that are rounding are not blown up to the height of the panel.
    if (y.high - y.low < 1e-6 * p->y.typical) {
        pp_range_add(&y, y.low + p->y.typical);
    }
    p->sx = p->x.log ? pp_scale_log(&p->x.range, DECADES, chart->from, chart->to)
                     : pp_scale_linear(&p->x.range, false, TICKS_X, chart->from, chart->to);
    p->sy = p->y.log ? pp_scale_log(&y, DECADES, bottom, p->top)
                     : pp_scale_linear(&y, !p->y.bare, ticks_of(p), bottom, p->top);
}

// Room for numbers and label beside the panels [pt], the widest of all panels.
static double numbers_width(pp_chart *chart, bool right)
{
    double width = 0.0;
    for (int k = 0; k < chart->panels; k++) {
        pp_panel *p = &chart->panel[k];
        make_scales(chart, p);
        // Of the right axis, where that is asked for.
        pp_ruler scale = p->sy;
        if (right) {
            scale.low *= p->right;
            scale.high *= p->right;
        }
        if (!p->y.bare && (!right || p->right > 0.0)) {
            width = fmax(width, widest_number(&scale, ticks_of(p)) + 18.0);
        }
    }
    return width;
}

// Places of the panels; returns the height of the figure [pt]. Widths come first: scales need them,
// and the numbers that give the widths do not depend on them.
static double layout_panels(pp_chart *chart)
{
    // All panels begin and end at the same places, so that times can be compared.
    chart->from = fmax(chart->left, numbers_width(chart, false));
    chart->to = chart->width - fmax(8.0, numbers_width(chart, true));
    double y = pp_chart_legend(chart, false);
    for (int k = 0; k < chart->panels; k++) {
        pp_panel *p = &chart->panel[k];
        p->top = y;
        make_scales(chart, p);
        bool last = k + 1 == chart->panels;
        double below = last ? foot : foot + 6.0;
        y += p->height + (p->x.hidden ? gap_between : below);
    }
    return y;
}

static const pp_pen limit_pen = {.stroke = PP_INK, .width = 0.7, .dash = "3 2"};

// One entry, however many panels have a limit.
static void add_limit_key(pp_chart *chart)
{
    for (int k = 0; k < chart->panels; k++) {
        if (chart->panel[k].limit > 0.0) {
            pp_chart_key(chart, "limit", true, PP_KEY_LINE, limit_pen);
            return;
        }
    }
}

// Axes of a panel, its zero line, its limit and its letter.
static void draw_axes(pp_chart *chart, int k)
{
    // Captions refer to panels by their letters.
    static const char *const letters[PP_PANELS] = {"(a)", "(b)", "(c)", "(d)",
                                                   "(e)", "(f)", "(g)", "(h)"};
    const pp_panel *panel = &chart->panel[k];
    if (!panel->y.bare) {
        draw_axis_y(chart, panel);
    }
    draw_axis_x(chart, panel);
    if (panel->right > 0.0) {
        draw_axis_right(chart, panel);
    }
    if (!panel->sy.log && !panel->y.bare && panel->sy.low < 0.0 && panel->sy.high > 0.0) {
        double zero = pp_scale_at(&panel->sy, 0.0);
        pp_svg_line(chart->svg, chart->from, zero, chart->to, zero,
                    (pp_pen){.stroke = PP_GREY, .width = 0.5});
    }
    if (panel->limit > 0.0) {
        pp_script_segment(chart->svg->script, k, limit_pen, (double[]){panel->sx.low, panel->limit},
                          (double[]){panel->sx.high, panel->limit});
        double y = pp_scale_at(&panel->sy, panel->limit);
        pp_svg_line(chart->svg, chart->from, y, chart->to, y, limit_pen);
    }
    // There are values, and a logarithmic axis has no place for any of them.
    if (panel->y.log && panel->y.range.high <= 0.0 && panel->y.range.low <= panel->y.range.high) {
        pp_svg_label(chart->svg, 0.5 * (chart->from + chart->to), panel->top + 0.5 * panel->height,
                     PP_MIDDLE, PP_SMALL, false, "zero throughout");
    }
    if (panel->name) {
        pp_svg_name(chart->svg, chart->from + 4.0, panel->top + 9.0, PP_START, PP_SMALL,
                    chart->to - chart->from - 8.0, panel->name);
    }
    if (chart->panels > 1) {
        pp_svg_label(chart->svg, 1.0, panel->top + 1.5, PP_START, PP_TYPE, false, letters[k]);
    }
}

// What is drawn later lies on top of the axes.
void pp_chart_begin(pp_chart *chart)
{
    add_limit_key(chart);
    chart->height = layout_panels(chart);
    pp_svg_open(chart->svg, chart->width, chart->height, chart->title);
    pp_chart_legend(chart, true);
    for (int k = 0; k < chart->panels; k++) {
        draw_axes(chart, k);
    }
    // In the middle of the first panel.
    if (chart->empty) {
        const pp_panel *panel = &chart->panel[0];
        pp_svg_label(chart->svg, 0.5 * (chart->from + chart->to), panel->top + 0.5 * panel->height,
                     PP_MIDDLE, PP_TYPE, false, chart->empty);
    }
}

void pp_chart_end(pp_chart *chart)
{
    pp_script_finish(chart->svg->script, chart, false);
    pp_svg_close(chart->svg);
}

// ── What is drawn into panels ────────────────────────────────────────────────────────────────────

// A line in the making. A point that a straight line from the last corner passes within `slack` is
// held back until one comes that needs it (the swinging door): the curve keeps its shape and its
// peaks, and smooth ones take a tenth of the room.
typedef struct stroke {
    pp_svg *svg;
    const pp_panel *panel;
    int run;      // points since the last break
    double x, y;  // last corner
    double held_x, held_y;
    double low, high;  // slopes from the corner that pass all points since
} stroke;

static const double slack = 0.04;

// The point that is held back becomes a corner of the line.
static void stroke_corner(stroke *s)
{
    pp_svg_to(s->svg, s->held_x, s->held_y);
    s->x = s->held_x;
    s->y = s->held_y;
    s->low = -PP_INF;
    s->high = PP_INF;
}

// A point without neighbours is a dot.
static void stroke_end(stroke *s)
{
    if (s->run == 1) {
        pp_svg_dot(s->svg, s->x, s->y);
    } else if (s->run > 1) {
        pp_svg_to(s->svg, s->held_x, s->held_y);
    }
    s->run = 0;
}

// low and high are the slopes of lines from the last corner that pass all points since within the
// slack.
static void stroke_point(stroke *s, double x, double y)
{
    if (s->run++ == 0) {
        pp_svg_move(s->svg, x, y);
        *s = (stroke){s->svg, s->panel, 1, x, y, x, y, -PP_INF, PP_INF};
        return;
    }
    // A point outside the wedge of slopes needs a corner before it.
    double dx = x - s->x, slope = dx > 0.0 ? (y - s->y) / dx : PP_INF;
    if (s->run > 2 && !(slope >= s->low && slope <= s->high)) {
        stroke_corner(s);
        dx = x - s->x;
    }
    if (dx > 0.0) {
        s->low = fmax(s->low, (y - slack - s->y) / dx);
        s->high = fmin(s->high, (y + slack - s->y) / dx);
    } else {
        s->low = PP_INF;  // straight up or down: no slope passes
    }
    s->held_x = x;
    s->held_y = y;
}

// A sample, where the axis has a place for it.
static void stroke_add(stroke *s, pp_sample sample)
{
    if (s->panel->sy.log && !(sample.y >= s->panel->sy.low)) {  // zeros have no place on the axis
        stroke_end(s);
    } else {
        stroke_point(s, pp_scale_at(&s->panel->sx, sample.t), pp_scale_at(&s->panel->sy, sample.y));
    }
}

// A curve without values, or without positive ones on a logarithmic axis, is left out.
void pp_chart_curve(pp_chart *chart, int panel, const pp_trace *trace, pp_pen pen)
{
    const pp_panel *p = &chart->panel[panel];
    if (!(trace->range.low <= trace->range.high) || (p->sy.log && !(trace->range.high > 0.0))) {
        return;
    }
    pp_script_trace(chart->svg->script, panel, trace, pen);
    pp_svg_put(chart->svg, "<g stroke-linecap=\"round\">");
    pp_svg_path(chart->svg, pen);
    stroke s = {.svg = chart->svg, .panel = p};
    for (int k = 0; k < trace->bins; k++) {
        pp_sample sample[4];
        int count = pp_trace_bin_samples(&trace->bin[k], sample);
        if (count > 0 && trace->bin[k].broken) {
            stroke_end(&s);
        }
        for (int i = 0; i < count; i++) {
            stroke_add(&s, sample[i]);
        }
    }
    stroke_end(&s);
    pp_svg_end_path(chart->svg);
    pp_svg_end_group(chart->svg);
}

// Forth along the curve from bin `from` to before `to`, back along its lower side.
static void fill_area(pp_svg *svg, const pp_panel *panel, const pp_trace *trace, int from, int to,
                      double side)
{
    pp_sample sample[4];
    bool begun = false;
    for (int k = from; k < to; k++) {
        int count = pp_trace_bin_samples(&trace->bin[k], sample);
        for (int s = 0; s < count; s++) {
            double x = pp_scale_at(&panel->sx, sample[s].t),
                   y = pp_scale_at(&panel->sy, sample[s].y);
            if (begun) {
                pp_svg_to(svg, x, y);
            } else {
                pp_svg_move(svg, x, y);
            }
            begun = true;
        }
    }
    for (int k = to - 1; k >= from; k--) {
        for (int s = pp_trace_bin_samples(&trace->bin[k], sample) - 1; s >= 0; s--) {
            pp_svg_to(svg, pp_scale_at(&panel->sx, sample[s].t),
                      pp_scale_at(&panel->sy, side * sample[s].y));
        }
    }
    if (begun) {
        pp_svg_shut(svg);
    }
}

// One closed shape for each stretch without a break.
void pp_chart_area(pp_chart *chart, int panel, const pp_trace *trace, bool mirror, pp_pen pen)
{
    pp_script_area(chart->svg->script, panel, trace, mirror ? -1.0 : 0.0, pen);
    pp_svg_path(chart->svg, pen);
    // A stretch ends before the next bin that is broken.
    for (int from = 0, to = 1; from < trace->bins; from = to++) {
        while (to < trace->bins && !(trace->bin[to].used && trace->bin[to].broken)) {
            to++;
        }
        fill_area(chart->svg, &chart->panel[panel], trace, from, to, mirror ? -1.0 : 0.0);
    }
    pp_svg_end_path(chart->svg);
}
