// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Figures of a sweep: an output over one parameter, an output over two as colours, and how runs ended.
//
// A map has a cell for each pair of levels; where parameters were drawn at random it has a dot for each run. Runs that
// share a cell are averaged. Units stand in the labels of axes: values have the units of the file.
#include "plot/figures/figure_sweep.h"

#include <math.h>
#include <string.h>

enum { COLOURS = 20, CURVE_POINTS = 200, LEVELS_SHOWN = 7, KEY_VALUES = 5 };

// From dark blue over green to yellow, of rising lightness, so that it can be read in grey.
static const char *const ramp[COLOURS] = {"#2b1b5a", "#2c2868", "#2d3476", "#2e4184", "#2e4e8f",
                                          "#2a5b8e", "#26698d", "#22778c", "#228489", "#2b9081",
                                          "#339d7a", "#3ca972", "#50b368", "#6bbc5d", "#87c552",
                                          "#a2cd47", "#bad446", "#d0da48", "#e6e049", "#fce64b"};
static const char *const status_colour[PERP_RUN_COUNT] = {
    "#d9e6ee", PP_ORANGE, PP_RED, PP_PURPLE, "#000000", PP_SKY, "#8b0000", "#ffffff"};

// ── Columns ──────────────────────────────────────────────────────────────────────────────────────

static bool is_varied(const pp_factor *f)
{
    return f->kind != PP_FACTOR_DERIVED && (f->kind != PP_FACTOR_LEVELS || f->levels > 1);
}

static bool has_levels(const pp_sweep_results *r, int column)
{
    return r->sweep->factor[column].kind == PP_FACTOR_LEVELS;
}

static bool is_solved(const pp_sweep_results *r, int64_t k)
{
    return r->status[k] <= PERP_RUN_VIOLATED;
}

static const pp_measure *measure_of(const pp_sweep_results *r, int column)
{
    const perp_sweep *s = r->sweep;
    return column < s->factors ? &s->factor[column].measure
                               : &s->output[column - s->factors].measure;
}

// A unit that takes a prefix: "mm" and "kg" have one.
static bool takes_prefix(const pp_sweep_results *r, int column)
{
    const char *unit = r->sweep->column[column].unit;
    return unit[0] && strncmp(unit, "kg", 2) != 0 && measure_of(r, column)->factor == 1.0;
}

static void axis_label(const pp_sweep_results *r, int column, char *text, size_t size)
{
    const perp_sweep_column *c = &r->sweep->column[column];
    bool inside = c->unit[0] && !takes_prefix(r, column);
    pp_print(text, size, "%.40s%s%.30s%s", c->name, inside ? " [" : "", inside ? c->unit : "",
             inside ? "]" : "");
}

static const char *axis_unit(const pp_sweep_results *r, int column)
{
    return takes_prefix(r, column) ? r->sweep->column[column].unit : "";
}

static pp_range range_of(const pp_sweep_results *r, int column, bool solved)
{
    pp_range range = pp_range_none();
    for (int64_t k = 0; k < r->runs; k++) {
        if (!solved || is_solved(r, k)) {
            pp_range_add(&range, r->column[column][k]);
        }
    }
    if (range.low > range.high) {
        pp_range_add(&range, 0.0);
    }
    return range;
}

// The cell of a level reaches half-way to its neighbours, in the logarithm where the grid is even in it. Neighbours are
// by value: a list need not be sorted.
static void cell_of(const pp_factor *f, double value, double cell[2])
{
    double below = -PP_INF, above = PP_INF;
    for (int k = 0; k < f->levels; k++) {
        below = f->level[k] < value ? fmax(below, f->level[k]) : below;
        above = f->level[k] > value ? fmin(above, f->level[k]) : above;
    }
    bool log_scale = f->log && value > 0.0;
    double x = log_scale ? pp_log(value) : value;
    double low = log_scale ? pp_log(below) : below, high = log_scale ? pp_log(above) : above;
    bool first = !(below > -PP_INF), last = !(above < PP_INF);
    // At an end the cell is as wide as on its other side; a level alone has a width of 1.
    double left = first ? 0.5 * (high - x) : 0.5 * (x - low);
    double right = last ? 0.5 * (x - low) : 0.5 * (high - x);
    if (first && last) {
        left = right = 0.5;
    }
    cell[0] = log_scale ? pp_exp(x - left) : x - left;
    cell[1] = log_scale ? pp_exp(x + right) : x + right;
}

static pp_chart_axis factor_axis(const pp_sweep_results *r, int column, const char *label, bool map)
{
    const pp_factor *f = &r->sweep->factor[column];
    pp_chart_axis axis = {
        .label = label, .unit = axis_unit(r, column), .range = range_of(r, column, false)};
    axis.log = f->log && axis.range.low > 0.0;
    if (map && has_levels(r, column)) {
        double cell[2];
        cell_of(f, axis.range.low, cell);
        pp_range_add(&axis.range, cell[0]);
        cell_of(f, axis.range.high, cell);
        pp_range_add(&axis.range, cell[1]);
    }
    return axis;
}

// ── Curves of theory ─────────────────────────────────────────────────────────────────────────────

// The other parameters have the values of the first run. `to`: what the values of the curve are a measure of.
static void draw_theory(pp_chart *chart, const pp_sweep_results *r, const pp_sweep_figure *f,
                        const pp_measure *to)
{
    static const char *const dashes[] = {NULL, "4 2", "1.5 1.5"};
    const pp_panel *panel = &chart->panel[0];
    double si[2 * 200];
    for (int k = 0; k < r->sweep->factors; k++) {
        si[k] = pp_sweep_to_si(&r->sweep->factor[k].measure, r->column[k][0]);
    }
    for (int c = 0; c < f->curves; c++) {
        pp_pen pen = {
            .stroke = f->y >= 0 ? "#c2185b" : PP_INK, .width = 1.4, .dash = dashes[c % 3]};
        pp_svg *block = pp_script_block(chart->svg->script, 0, PP_BLOCK_LINES, pen, false);
        bool drawing = false;
        pp_svg_path(chart->svg, pen);
        for (int k = 0; k <= CURVE_POINTS; k++) {
            double s = (double)k / CURVE_POINTS;
            const pp_ruler *x = &panel->sx;
            double at = x->log ? pp_pow(10.0, (1.0 - s) * pp_log10(x->low) + s * pp_log10(x->high))
                               : (1.0 - s) * x->low + s * x->high;
            si[f->x] = pp_sweep_to_si(&r->sweep->factor[f->x].measure, at);
            double y = pp_sweep_from_si(to, pp_expr_value(f->curve[c].expr, si));
            // A curve is broken where it leaves the panel.
            bool inside = isfinite(y) && pp_scale_holds(&panel->sy, y);
            if (!inside) {
                if (drawing) {
                    pp_script_gap(block);
                }
                drawing = false;
                continue;
            }
            double px = pp_scale_at(&panel->sx, at), py = pp_scale_at(&panel->sy, y);
            if (drawing) {
                pp_svg_to(chart->svg, px, py);
            } else {
                pp_svg_move(chart->svg, px, py);
            }
            drawing = true;
            pp_script_row(block, 2, (double[]){at, y});
        }
        pp_svg_end_path(chart->svg);
    }
}

static void key_theory(pp_chart *chart, const pp_sweep_figure *f)
{
    static const char *const dashes[] = {NULL, "4 2", "1.5 1.5"};
    for (int c = 0; c < f->curves; c++) {
        pp_pen pen = {
            .stroke = f->y >= 0 ? "#c2185b" : PP_INK, .width = 1.4, .dash = dashes[c % 3]};
        pp_chart_key(chart, f->curve[c].label, false, PP_KEY_LINE, pen);
    }
}

// ── Maps ─────────────────────────────────────────────────────────────────────────────────────────

// The mean of the solved runs of each cell of a grid of x and y.
typedef struct grid {
    int nx, ny;
    double *sum;
    int *count;
    unsigned char *status;  // the worst of its runs
} grid;

static int level_of(const pp_factor *f, double value)
{
    for (int k = 0; k < f->levels; k++) {
        if (f->level[k] == value) {
            return k;
        }
    }
    return -1;
}

static bool fill_grid(const pp_sweep_results *r, const pp_sweep_figure *f, pp_arena *arena, grid *g)
{
    const pp_factor *x = &r->sweep->factor[f->x], *y = &r->sweep->factor[f->y];
    *g = (grid){.nx = x->levels, .ny = y->levels};
    size_t n = (size_t)g->nx * (size_t)g->ny;
    g->sum = PP_ZEROS(arena, double, n);
    g->count = PP_ZEROS(arena, int, n);
    g->status = PP_ZEROS(arena, unsigned char, n);
    if (!g->sum || !g->count || !g->status) {
        return false;
    }
    for (int64_t k = 0; k < r->runs; k++) {
        int i = level_of(x, r->column[f->x][k]), j = level_of(y, r->column[f->y][k]);
        if (i < 0 || j < 0) {
            continue;
        }
        size_t at = (size_t)j * (size_t)g->nx + (size_t)i;
        g->status[at] = r->status[k] > g->status[at] ? r->status[k] : g->status[at];
        double value = f->output >= 0 ? r->column[f->output][k] : 0.0;
        if (is_solved(r, k) && isfinite(value)) {
            g->sum[at] += value;
            g->count[at]++;
        }
    }
    return true;
}

static int shade(const pp_range *range, double value)
{
    double s = range->high > range->low ? (value - range->low) / (range->high - range->low) : 0.5;
    int k = (int)(s * COLOURS);
    k = k < 0 ? 0 : k;
    return k < COLOURS ? k : COLOURS - 1;
}

static void draw_cell(pp_chart *chart, const pp_factor *x, const pp_factor *y, int i, int j,
                      const char *colour)
{
    const pp_panel *panel = &chart->panel[0];
    double cx[2], cy[2];
    cell_of(x, x->level[i], cx);
    cell_of(y, y->level[j], cy);
    double left = pp_scale_at(&panel->sx, cx[0]), right = pp_scale_at(&panel->sx, cx[1]);
    double top = pp_scale_at(&panel->sy, cy[1]), bottom = pp_scale_at(&panel->sy, cy[0]);
    // Edges overlap by a little: no background shows between cells.
    pp_svg_rect(chart->svg, left, top, right - left + 0.15, bottom - top + 0.15,
                (pp_pen){.fill = colour});
    pp_script_box(chart->svg->script, 0, colour, cx, cy);
}

static void draw_dot(pp_chart *chart, double x, double y, const char *colour, double radius)
{
    const pp_panel *panel = &chart->panel[0];
    pp_pen pen = {
        .fill = colour, .stroke = strcmp(colour, "#ffffff") == 0 ? PP_GREY : NULL, .width = 0.3};
    pp_svg_circle(chart->svg, pp_scale_at(&panel->sx, x), pp_scale_at(&panel->sy, y), radius, pen);
    pp_script_row(pp_script_block(chart->svg->script, 0, PP_BLOCK_POINTS,
                                  (pp_pen){.stroke = colour, .width = 1.0}, true),
                  2, (double[]){x, y});
}

// Cells of one colour after those of another: a block of the script has one.
static void draw_grid(pp_chart *chart, const pp_sweep_results *r, const pp_sweep_figure *f,
                      const grid *g, const pp_range *range)
{
    const pp_factor *x = &r->sweep->factor[f->x], *y = &r->sweep->factor[f->y];
    int colours = f->output >= 0 ? COLOURS : PERP_RUN_COUNT;
    for (int c = 0; c < colours; c++) {
        for (int k = 0; k < g->nx * g->ny; k++) {
            if (f->output < 0 && g->status[k] == c) {
                draw_cell(chart, x, y, k % g->nx, k / g->nx, status_colour[c]);
            } else if (f->output >= 0 && g->count[k] > 0 &&
                       shade(range, g->sum[k] / g->count[k]) == c) {
                draw_cell(chart, x, y, k % g->nx, k / g->nx, ramp[c]);
            }
        }
    }
    // A cross where no run was solved.
    for (int k = 0; k < g->nx * g->ny && f->output >= 0; k++) {
        if (g->status[k] > PERP_RUN_VIOLATED && g->count[k] == 0) {
            double px = pp_scale_at(&chart->panel[0].sx, x->level[k % g->nx]);
            double py = pp_scale_at(&chart->panel[0].sy, y->level[k / g->nx]);
            pp_pen pen = {.stroke = PP_RED, .width = 0.6};
            pp_svg_line(chart->svg, px - 1.6, py - 1.6, px + 1.6, py + 1.6, pen);
            pp_svg_line(chart->svg, px - 1.6, py + 1.6, px + 1.6, py - 1.6, pen);
        }
    }
}

static void draw_dots(pp_chart *chart, const pp_sweep_results *r, const pp_sweep_figure *f,
                      const pp_range *range)
{
    double radius = r->runs > 2000 ? 0.8 : 1.6;
    int colours = f->output >= 0 ? COLOURS : PERP_RUN_COUNT;
    int64_t stride = r->runs > 20000 ? r->runs / 20000 + 1 : 1;  // a page is full before that
    for (int c = 0; c < colours; c++) {
        for (int64_t k = 0; k < r->runs; k += stride) {
            double value = f->output >= 0 ? r->column[f->output][k] : 0.0;
            bool good = is_solved(r, k) && isfinite(value);
            int own = good ? shade(range, value) : -1;
            own = f->output < 0 ? r->status[k] : own;
            if (own == c) {
                draw_dot(chart, r->column[f->x][k], r->column[f->y][k],
                         f->output < 0 ? status_colour[c] : ramp[c], radius);
            }
        }
    }
}

// The legend of colours: five values from low to high, or both where there are only two.
static void key_values(pp_chart *chart, const pp_range *range, bool flags,
                       char text[KEY_VALUES][PP_NUMBER])
{
    int count = flags ? 2 : KEY_VALUES;
    count = range->high > range->low ? count : 1;
    for (int k = 0; k < count; k++) {
        double s = count > 1 ? (double)k / (count - 1) : 0.5;
        pp_value_text(text[k], (1.0 - s) * range->low + s * range->high, "^{", "}");
        pp_pen pen = {.fill = ramp[shade(range, (1.0 - s) * range->low + s * range->high)]};
        pp_chart_key(chart, text[k], true, PP_KEY_BOX, pen);
    }
}

static void key_statuses(pp_chart *chart, const pp_sweep_results *r)
{
    bool there[PERP_RUN_COUNT] = {false};
    for (int64_t k = 0; k < r->runs; k++) {
        there[r->status[k] < PERP_RUN_COUNT ? r->status[k] : PERP_RUN_MISSING] = true;
    }
    for (int k = 0; k < PERP_RUN_COUNT; k++) {
        if (there[k]) {
            pp_chart_key(chart, perp_run_status_word(k), true, PP_KEY_BOX,
                         (pp_pen){.fill = status_colour[k], .stroke = PP_GREY, .width = 0.3});
        }
    }
}

static bool draw_map(const pp_sweep_results *r, const pp_sweep_figure *f, pp_arena *arena,
                     pp_svg *svg)
{
    char x[96], y[96], text[KEY_VALUES][PP_NUMBER];
    bool cells = has_levels(r, f->x) && has_levels(r, f->y);
    grid g = {0};
    pp_range range = {0.0, 1.0, 1.0};
    if (cells && !fill_grid(r, f, arena, &g)) {
        return false;
    }
    if (f->output >= 0 && cells) {
        range = pp_range_none();
        for (int k = 0; k < g.nx * g.ny; k++) {
            if (g.count[k] > 0) {
                pp_range_add(&range, g.sum[k] / g.count[k]);
            }
        }
    } else if (f->output >= 0) {
        range = range_of(r, f->output, true);
    }
    axis_label(r, f->x, x, sizeof x);
    axis_label(r, f->y, y, sizeof y);
    pp_chart chart = {.svg = svg, .title = f->title, .width = PP_COLUMN, .panels = 1};
    chart.panel[0] = (pp_panel){
        .height = 170.0, .x = factor_axis(r, f->x, x, true), .y = factor_axis(r, f->y, y, true)};
    if (f->output >= 0) {
        // An output of 0 and 1 alone has no values between.
        bool flags = true;
        for (int64_t k = 0; k < r->runs; k++) {
            double v = r->column[f->output][k];
            flags = flags && (!is_solved(r, k) || isnan(v) || v == 0.0 || v == 1.0);
        }
        key_values(&chart, &range, flags, text);
        key_theory(&chart, f);
    } else {
        key_statuses(&chart, r);
    }
    pp_chart_begin(&chart);
    if (cells) {
        draw_grid(&chart, r, f, &g, &range);
    } else {
        draw_dots(&chart, r, f, &range);
    }
    if (f->output >= 0) {
        draw_theory(&chart, r, f, &r->sweep->factor[f->y].measure);
    }
    pp_chart_end(&chart);
    return true;
}

// ── Response curves ──────────────────────────────────────────────────────────────────────────────

// The parameter whose levels are curves of their own: the only other one that is varied, with few levels. -1: none;
// -2: there are others, and runs are dots.
static int curve_factor(const pp_sweep_results *r, int x)
{
    int found = -1;
    for (int k = 0; k < r->sweep->factors; k++) {
        const pp_factor *f = &r->sweep->factor[k];
        if (k == x || !is_varied(f)) {
            continue;
        }
        bool few = f->kind == PP_FACTOR_LEVELS && f->levels <= LEVELS_SHOWN;
        found = found == -1 && few ? k : -2;
    }
    return found;
}

typedef struct response {
    double x, y;
} response;

// Merge sort by x, from the bottom up: equal ones stay in the order of their runs. room: as many as point.
static void sort_responses(response *point, response *room, int64_t count)
{
    for (int64_t width = 1; width < count; width *= 2) {
        for (int64_t from = 0; from < count; from += 2 * width) {
            int64_t middle = from + width < count ? from + width : count;
            int64_t end = middle + width < count ? middle + width : count;
            int64_t i = from, j = middle;
            for (int64_t k = from; k < end; k++) {
                bool left = i < middle && (j >= end || !(point[j].x < point[i].x));
                room[k] = left ? point[i++] : point[j++];
            }
        }
        memcpy(point, room, (size_t)count * sizeof *point);
    }
}

// The runs of one curve in the order of x. Runs without a value break it.
static void draw_curve(pp_chart *chart, const response *point, int64_t count, pp_pen pen)
{
    const pp_panel *panel = &chart->panel[0];
    pp_svg *block = pp_script_block(chart->svg->script, 0, PP_BLOCK_LINES, pen, false);
    // Both drawings, in SVG and for gnuplot, are broken at the same places.
    bool drawing = false;
    pp_svg_path(chart->svg, pen);
    for (int64_t k = 0; k < count; k++) {
        if (!isfinite(point[k].y)) {
            if (drawing) {
                pp_script_gap(block);
            }
            drawing = false;
            continue;
        }
        double px = pp_scale_at(&panel->sx, point[k].x), py = pp_scale_at(&panel->sy, point[k].y);
        if (drawing) {
            pp_svg_to(chart->svg, px, py);
        } else {
            pp_svg_move(chart->svg, px, py);
        }
        drawing = true;
        pp_script_row(block, 2, (double[]){point[k].x, point[k].y});
    }
    pp_svg_end_path(chart->svg);
    for (int64_t k = 0; k < count && count <= 60; k++) {
        if (isfinite(point[k].y)) {
            pp_svg_circle(chart->svg, pp_scale_at(&panel->sx, point[k].x),
                          pp_scale_at(&panel->sy, point[k].y), 1.2, (pp_pen){.fill = pen.stroke});
        }
    }
}

// A tick at the bottom for each run that failed.
static void mark_failures(pp_chart *chart, const pp_sweep_results *r, int x)
{
    const pp_panel *panel = &chart->panel[0];
    for (int64_t k = 0; k < r->runs && r->runs <= 20000; k++) {
        if (!is_solved(r, k)) {
            double px = pp_scale_at(&panel->sx, r->column[x][k]), bottom = panel->sy.from;
            pp_svg_line(chart->svg, px, bottom, px, bottom - 4.0,
                        (pp_pen){.stroke = PP_RED, .width = 0.7});
        }
    }
}

static bool draw_response(const pp_sweep_results *r, const pp_sweep_figure *f, pp_arena *arena,
                          pp_svg *svg)
{
    char x[96], y[96], name[LEVELS_SHOWN][120];
    int by = curve_factor(r, f->x);
    int curves = by >= 0 ? r->sweep->factor[by].levels : 1;
    response *point = PP_ARRAY(arena, response, r->runs);
    response *room = PP_ARRAY(arena, response, r->runs);
    if (!point || !room) {
        return false;
    }
    axis_label(r, f->x, x, sizeof x);
    axis_label(r, f->output, y, sizeof y);
    pp_chart chart = {.svg = svg, .title = f->title, .width = PP_COLUMN, .panels = 1};
    chart.panel[0] = (pp_panel){
        .height = 130.0,
        .x = factor_axis(r, f->x, x, false),
        .y = {.label = y, .unit = axis_unit(r, f->output), .range = range_of(r, f->output, true)}};
    for (int c = 0; c < curves && by >= 0; c++) {
        char number[PP_NUMBER];
        pp_value_text(number, r->sweep->factor[by].level[c], "e", "");
        pp_print(name[c], sizeof name[c], "%.40s = %s %.20s", r->sweep->factor[by].name, number,
                 r->sweep->factor[by].unit);
        pp_chart_key(&chart, name[c], false, PP_KEY_LINE, pp_curve_pen(c, curves));
    }
    key_theory(&chart, f);
    pp_chart_begin(&chart);
    for (int c = 0; c < curves; c++) {
        int64_t count = 0;
        for (int64_t k = 0; k < r->runs; k++) {
            bool ours = by < 0 || r->column[by][k] == r->sweep->factor[by].level[c];
            if (ours) {
                double value = is_solved(r, k) ? r->column[f->output][k] : (double)NAN;
                point[count++] = (response){r->column[f->x][k], value};
            }
        }
        if (by != -2) {
            sort_responses(point, room, count);
            draw_curve(&chart, point, count, pp_curve_pen(c, curves));
        }
    }
    // Other parameters vary as well: dots, of which a page holds so many.
    int64_t stride = r->runs > 20000 ? r->runs / 20000 + 1 : 1;
    for (int64_t k = 0; k < r->runs && by == -2; k += stride) {
        if (is_solved(r, k) && isfinite(r->column[f->output][k])) {
            draw_dot(&chart, r->column[f->x][k], r->column[f->output][k], PP_BLUE,
                     r->runs > 2000 ? 0.6 : 1.1);
        }
    }
    mark_failures(&chart, r, f->x);
    draw_theory(&chart, r, f, &r->sweep->output[f->output - r->sweep->factors].measure);
    pp_chart_end(&chart);
    return true;
}

bool pp_draw_sweep(const pp_sweep_results *r, const pp_sweep_figure *f, pp_arena *arena,
                   pp_svg *svg)
{
    return f->y >= 0 ? draw_map(r, f, arena, svg) : draw_response(r, f, arena, svg);
}

// ── Which ────────────────────────────────────────────────────────────────────────────────────────

// Outputs over the first two varied parameters, or over each; and how runs ended. Figures of the file come first.
int pp_sweep_figures(const pp_sweep_results *r, pp_sweep_figure *figure, int room)
{
    const perp_sweep *s = r->sweep;
    int varied[2] = {-1, -1}, count = 0, n = 0;
    for (int k = 0; k < s->factors; k++) {
        if (is_varied(&s->factor[k])) {
            if (count < 2) {
                varied[count] = k;
            }
            count++;
        }
    }
    for (int k = 0; k < s->figures && n < room - 1; k++) {
        figure[n++] = s->figure[k];
    }
    for (int k = 0; k < s->outputs && s->figures == 0 && count > 0; k++) {
        int output = s->factors + k;
        if (n < room - 1 && count >= 2) {
            figure[n++] =
                (pp_sweep_figure){.title = "", .x = varied[1], .y = varied[0], .output = output};
        }
        for (int j = 0; j < s->factors && (count == 1 || count > 2); j++) {
            if (n < room - 1 && is_varied(&s->factor[j])) {
                figure[n++] = (pp_sweep_figure){.title = "", .x = j, .y = -1, .output = output};
            }
        }
    }
    // The axes of the first map, so that both can be laid over each other.
    for (int k = 0; k < n; k++) {
        if (figure[k].y >= 0) {
            figure[n] = (pp_sweep_figure){
                .title = "How runs ended", .x = figure[k].x, .y = figure[k].y, .output = -1};
            return n + 1;
        }
    }
    if (count >= 2 && n < room) {
        figure[n++] = (pp_sweep_figure){
            .title = "How runs ended", .x = varied[1], .y = varied[0], .output = -1};
    }
    return n;
}
