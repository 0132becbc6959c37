// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What contacts do: gaps, impulses, friction cones, modes. Up to PP_FEW contacts have a curve each,
// of more the extremes and sums are shown; up to PP_ROWS have a row each in the strip of modes.
#include "plot/draw/script.h"
#include "plot/figures/figures.h"

#include <math.h>

#define STICK PP_BLUE
#define SLIP  PP_ORANGE
#define OPEN  "#bdbdbd"

// A chart without curves has a text instead.
static const char *why_empty(const pp_run_data *data)
{
    return data->contacts == 0 ? "no contacts" : NULL;
}

// A panel over time with a linear axis.
static pp_panel make_panel(const pp_run_data *data, bool hidden, const char *label,
                           const char *unit)
{
    return (pp_panel){.height = PP_PLAIN,
                      .x = pp_time_axis(data, hidden),
                      .y = pp_value_axis(label, unit, false)};
}

// The panel shows one curve of every contact: which is PP_GAP to PP_USE.
static void include_contacts(pp_panel *panel, const pp_run_data *data, int trace)
{
    for (int k = 0; k < data->contacts; k++) {
        pp_range_join(&panel->y.range, &data->contact[k].trace[trace].range);
    }
}

// Colours are those of the legend.
static void draw_contacts(pp_chart *chart, int at, const pp_run_data *data, int trace)
{
    for (int k = 0; k < data->contacts; k++) {
        pp_chart_curve(chart, at, &data->contact[k].trace[trace], pp_curve_pen(k, data->contacts));
    }
}

// Names of contacts come from the scene, and are escaped.
static void contact_keys(pp_chart *chart, const pp_run_data *data)
{
    for (int k = 0; k < data->contacts; k++) {
        pp_chart_key(chart, data->contact[k].name, false, PP_KEY_LINE,
                     pp_curve_pen(k, data->contacts));
    }
}

// ── Gaps ─────────────────────────────────────────────────────────────────────────────────────────

// Gaps on a linear axis, penetration on a logarithmic one, whose zeros are left out.
void pp_draw_gaps(const pp_run_data *data, pp_svg *svg)
{
    bool few = pp_run_data_is_small(data);
    pp_pen pen = {.stroke = PP_BLUE, .width = 1.1};
    pp_chart chart = {
        .svg = svg, .title = "Gaps", .width = PP_COLUMN, .panels = 2, .empty = why_empty(data)};
    chart.panel[0] = make_panel(data, true, "gap", "m");
    chart.panel[1] = make_panel(data, false, "penetration", "m");
    chart.panel[1].y.log = true;
    chart.panel[1].height = 70.0;
    chart.panel[1].limit = data->source->info->limits.gap;
    chart.panel[1].y.range = data->penetration.range;
    // Gaps that stay below a millionth of the margin are rounding: the curve is flat, at zero.
    pp_range_add(&chart.panel[0].y.range, 0.0);
    chart.panel[0].y.typical = data->source->info->margin;
    if (few) {
        include_contacts(&chart.panel[0], data, PP_GAP);
        contact_keys(&chart, data);
    } else {
        pp_range_join(&chart.panel[0].y.range, &data->totals.gap.range);
        pp_chart_key(&chart, "smallest of all contacts", true, PP_KEY_LINE, pen);
    }
    pp_chart_begin(&chart);
    if (few) {
        draw_contacts(&chart, 0, data, PP_GAP);
    } else {
        pp_chart_curve(&chart, 0, &data->totals.gap, pen);
    }
    pp_chart_curve(&chart, 1, &data->penetration, (pp_pen){.stroke = "#000000", .width = 1.0});
    pp_chart_end(&chart);
}

// Captions are HTML; values are those of the whole run.
void pp_caption_gaps(const pp_run_data *data, pp_svg *html)
{
    pp_svg_put(html, "(a) Signed gaps of the contacts; a curve ends where the distance of the "
                     "shapes exceeds the margin, ");
    pp_put_value(html, data->source->info->margin, "m");
    pp_svg_put(html, ", unless the contact is listed in the scene. (b) Deepest penetration after "
                     "each step; zeros are omitted. Worst: ");
    pp_put_value(html, fmax(data->penetration.range.high, 0.0), "m");
    pp_svg_put(html, ".");
}

// ── Forces ───────────────────────────────────────────────────────────────────────────────────────

// A curve for each contact, with the bounds of friction as bands.
static void draw_few_forces(pp_chart *chart, const pp_run_data *data)
{
    // The bands |p_f| <= mu p_n of more than two contacts would cover each other.
    int bands = data->contacts <= 2 ? data->contacts : 0;
    include_contacts(&chart->panel[0], data, PP_PN);
    include_contacts(&chart->panel[1], data, PP_PF);
    for (int k = 0; k < bands; k++) {
        double most = data->contact[k].trace[PP_BOUND].range.high;
        pp_range_add(&chart->panel[1].y.range, most);
        pp_range_add(&chart->panel[1].y.range, -most);
    }
    contact_keys(chart, data);
    pp_pen cone = {.fill = PP_GREY, .veil = 0.25};
    if (bands > 0) {
        pp_chart_key(chart, "|*p*_{f}| \xe2\x89\xa4 *\xce\xbc p*_{n}", true, PP_KEY_BOX, cone);
    }
    pp_chart_begin(chart);
    for (int k = 0; k < bands; k++) {
        cone.fill = bands == 1 ? PP_GREY : pp_colour(k);
        cone.veil = bands == 1 ? 0.25 : 0.15;
        pp_chart_area(chart, 1, &data->contact[k].trace[PP_BOUND], true, cone);
    }
    draw_contacts(chart, 0, data, PP_PN);
    draw_contacts(chart, 1, data, PP_PF);
}

// Sum and largest of all contacts.
static void draw_many_forces(pp_chart *chart, const pp_run_data *data)
{
    const pp_contact_totals *totals = &data->totals;
    pp_pen sum = {.stroke = PP_BLUE, .width = 1.3}, most = {.stroke = PP_RED, .width = 0.9};
    // Directions of many contacts cannot be added.
    chart->panel[1].y.label = "max |*p*_{f}|";
    pp_range_join(&chart->panel[0].y.range, &totals->pn_sum.range);
    pp_range_join(&chart->panel[1].y.range, &totals->pf_most.range);
    pp_chart_key(chart, "sum of all contacts", true, PP_KEY_LINE, sum);
    pp_chart_key(chart, "largest", true, PP_KEY_LINE, most);
    pp_chart_begin(chart);
    pp_chart_curve(chart, 0, &totals->pn_sum, sum);
    pp_chart_curve(chart, 0, &totals->pn_most, most);
    pp_chart_curve(chart, 1, &totals->pf_most, most);
}

// Impulses on the left, divided by h as mean forces on the right.
void pp_draw_forces(const pp_run_data *data, pp_svg *svg)
{
    pp_chart chart = {.svg = svg,
                      .title = "Contact impulses",
                      .width = PP_COLUMN,
                      .panels = 2,
                      .empty = why_empty(data)};
    chart.panel[0] = make_panel(data, true, "*p*_{n}", "N s");
    chart.panel[1] = make_panel(data, false, "*p*_{f}", "N s");
    for (int k = 0; k < 2; k++) {
        // The same scale shows impulse / h.
        chart.panel[k].right = 1.0 / data->source->info->h;
        chart.panel[k].right_label = k == 0 ? "*p*_{n} / *h*" : "*p*_{f} / *h*";
        chart.panel[k].right_unit = "N";
        chart.panel[k].y.typical = data->pn_most;
        pp_range_add(&chart.panel[k].y.range, 0.0);
    }
    if (pp_run_data_is_small(data)) {
        draw_few_forces(&chart, data);
    } else {
        draw_many_forces(&chart, data);
    }
    pp_chart_end(&chart);
}

// The direction of positive friction in the plane is that of t.
void pp_caption_forces(const pp_run_data *data, pp_svg *html)
{
    pp_svg_put(html, "Impulses of each step (left scale) and the same as mean forces (right scale, "
                     "<i>h</i>&#160;=&#160;");
    pp_put_value(html, data->source->info->h, "s");
    pp_svg_put(
        html,
        data->source->info->spatial
            ? "): (a) normal, (b) magnitude of friction."
            : "): (a) normal, (b) friction, positive along "
              "<i>t</i>&#160;=&#160;(<i>n<sub>y</sub></i>, &#8722;<i>n<sub>x</sub></i>), to the "
              "right on a floor.");
}

// ── Cones ────────────────────────────────────────────────────────────────────────────────────────

// Of the coefficients that were seen.
static double largest_mu(const pp_run_data *data)
{
    double most = 0.0;
    for (int k = 0; k < data->mus; k++) {
        most = fmax(most, data->mu[k]);
    }
    return most;
}

// The cone for gnuplot: the edges leave the panel at (end, up) and (end, down).
static void script_wedge(pp_script *script, pp_pen edge, double end, double up, double down,
                         double right)
{
    const double corner[5][2] = {{0.0, 0.0}, {end, up}, {right, up}, {right, down}, {end, down}};
    pp_svg *shape =
        pp_script_block(script, 0, PP_BLOCK_SHAPE, (pp_pen){.fill = PP_GREY, .veil = 0.18}, false);
    for (int k = 0; k < 5; k++) {
        pp_script_row(shape, 2, corner[k]);
    }
    pp_script_segment(script, 0, edge, corner[0], corner[1]);
    if (down < 0.0) {
        pp_script_segment(script, 0, edge, corner[0], corner[4]);
    }
}

// The cone |p_f| <= mu p_n of one coefficient. part: where along the edge its name stands, so that
// names of several cones do not meet. half: in space p_f is a size, and there is no edge below.
static void draw_wedge(pp_chart *chart, double mu, double part, bool half)
{
    pp_svg *svg = chart->svg;
    const pp_panel *p = &chart->panel[0];
    double x0 = pp_scale_at(&p->sx, 0.0), y0 = pp_scale_at(&p->sy, 0.0);
    // In data units [N s].
    double end = fmin(p->sx.high, p->sy.high / mu);  // where an edge leaves the panel
    double x = pp_scale_at(&p->sx, end), up = pp_scale_at(&p->sy, mu * end),
           down = half ? y0 : pp_scale_at(&p->sy, -mu * end),
           right = pp_scale_at(&p->sx, p->sx.high);
    pp_svg_path(svg, (pp_pen){.fill = PP_GREY, .veil = 0.18});
    pp_svg_move(svg, x0, y0);
    pp_svg_to(svg, x, up);
    pp_svg_to(svg, right, up);
    pp_svg_to(svg, right, down);
    pp_svg_to(svg, x, down);
    pp_svg_shut(svg);
    pp_svg_end_path(svg);
    pp_pen edge = {.stroke = PP_INK, .width = 0.6, .dash = "3 2"};
    pp_svg_line(svg, x0, y0, x, up, edge);
    script_wedge(svg->script, edge, end, mu * end, half ? 0.0 : -mu * end, p->sx.high);
    if (!half) {
        pp_svg_line(svg, x0, y0, x, down, edge);
    }
    char number[PP_NUMBER], text[PP_NUMBER + 16];
    pp_value_text(number, mu, "^{", "}");
    pp_print(text, sizeof text, "*\xce\xbc* = %s", number);
    double at = x0 + part * (x - x0), above = y0 + part * (up - y0);
    pp_svg_label(svg, at - 3.0, above - 2.0, PP_END, PP_SMALL, false, text);
    pp_script_mark(svg->script, part * end, part * mu * end, text);
}

// Points of the grid in the cone, those that stick or those that slip.
static void draw_points(pp_chart *chart, const pp_run_data *data, int slip)
{
    pp_svg *svg = chart->svg;
    const pp_panel *p = &chart->panel[0];
    pp_svg *dots = pp_script_block(svg->script, 0, PP_BLOCK_POINTS,
                                   (pp_pen){.fill = slip ? SLIP : STICK}, false);
    // One path of dots with round caps: shorter than a circle for each point.
    pp_svg_put(svg, "<g stroke-linecap=\"round\">");
    pp_svg_path(svg, (pp_pen){.stroke = slip ? SLIP : STICK, .width = 2.2});
    for (int j = 0; j < PP_CONE_Y; j++) {
        for (int i = 0; i < PP_CONE_X; i++) {
            if (data->cone[slip][j * PP_CONE_X + i]) {
                // The middle of a grid cell, as mark_cone rounds.
                double pn = data->pn_most * i / (PP_CONE_X - 1);
                double pf = data->pf_most * (2.0 * j / (PP_CONE_Y - 1) - 1.0);
                pp_svg_dot(svg, pp_scale_at(&p->sx, pn), pp_scale_at(&p->sy, pf));
                pp_script_row(dots, 2, (double[]){pn, pf});
            }
        }
    }
    pp_svg_end_path(svg);
    pp_svg_end_group(svg);
}

// Friction that uses little of the cone is shown larger: the axis ends at three times the largest
// p_f, at least at a tenth of the cone.
static void set_cone_panels(pp_chart *chart, const pp_run_data *data)
{
    double mu = largest_mu(data), high = mu * data->pn_most;
    // high: where the widest cone is at the largest p_n.
    double seen = fmin(high, fmax(3.0 * data->pf_most, 0.1 * high));
    pp_panel *cone = &chart->panel[0];
    *cone = (pp_panel){.height = 120.0,
                       .x = pp_value_axis("*p*_{n}", "N s", false),
                       .y = pp_value_axis("*p*_{f}", "N s", false)};
    pp_range_add(&cone->x.range, 0.0);
    pp_range_add(&cone->x.range, 1.05 * data->pn_most);
    pp_range_add(&cone->y.range, fmax(seen, data->pf_most));
    bool few = pp_run_data_is_small(data), half = data->source->info->spatial;
    pp_range_add(&cone->y.range, half ? 0.0 : -fmax(seen, data->pf_most));
    chart->panel[1] = make_panel(
        data, false, few ? "*p*_{f} / *\xce\xbc p*_{n}" : "max |*p*_{f}| / *\xce\xbc p*_{n}", "");
    chart->panel[1].height = 70.0;
    pp_range_add(&chart->panel[1].y.range, 1.0);
    pp_range_add(&chart->panel[1].y.range, few && !half ? -1.0 : 0.0);
}

// The dashed lines at 1 and -1, where friction uses all of the cone.
static void draw_cone_edges(pp_chart *chart, const pp_panel *panel)
{
    // As the edges of the cone above.
    const pp_pen pen = {.stroke = PP_INK, .width = 0.6, .dash = "3 2"};
    for (int edge = -1; edge <= 1; edge += 2) {
        if (pp_scale_holds(&panel->sy, edge)) {
            double y = pp_scale_at(&panel->sy, edge);
            pp_svg_line(chart->svg, chart->from, y, chart->to, y, pen);
            pp_script_segment(chart->svg->script, 1, pen, (double[]){panel->sx.low, edge},
                              (double[]){panel->sx.high, edge});
        }
    }
}

// Impulses in the cone, and below it the share of the cone over time.
void pp_draw_cones(const pp_run_data *data, pp_svg *svg)
{
    pp_chart chart = {.svg = svg,
                      .title = "Friction cones",
                      .width = PP_COLUMN,
                      .panels = 2,
                      .empty = why_empty(data)};
    bool few = pp_run_data_is_small(data);
    set_cone_panels(&chart, data);
    pp_chart_key(&chart, "stick", true, PP_KEY_DOT, (pp_pen){.fill = STICK});
    pp_chart_key(&chart, "slip", true, PP_KEY_DOT, (pp_pen){.fill = SLIP});
    if (few) {
        contact_keys(&chart, data);
    }
    pp_chart_begin(&chart);
    // Cones below, points on top of them; points that slip cover those that stick.
    int cones = data->pn_most > 0.0 ? data->mus : 0;
    for (int k = 0; k < cones; k++) {
        draw_wedge(&chart, data->mu[k], 0.85 - 0.2 * k, data->source->info->spatial);
    }
    draw_points(&chart, data, 0);
    draw_points(&chart, data, 1);
    draw_cone_edges(&chart, &chart.panel[1]);
    if (few) {
        draw_contacts(&chart, 1, data, PP_USE);
    } else {
        pp_chart_curve(&chart, 1, &data->totals.use, (pp_pen){.stroke = PP_BLUE, .width = 0.9});
    }
    pp_chart_end(&chart);
}

// What is shaded and what the dashed lines mean.
void pp_caption_cones(const pp_run_data *data, pp_svg *html)
{
    (void)data;
    pp_svg_put(
        html,
        "(a) Friction against normal impulse, one point per contact and frame; shaded: the cone "
        "|<i>p<sub>f</sub></i>|&#160;&#8804;&#160;<i>&#956; p<sub>n</sub></i>. (b) Fraction of the "
        "cone used by friction: at &#177;1 the contact slips or is about to.");
}

// ── Modes ────────────────────────────────────────────────────────────────────────────────────────

// Where a row of a strip is on gnuplot's y axis, which goes from 0 at the bottom to 1 at the top.
static double row_place(const pp_chart *chart, double y)
{
    const pp_panel *p = &chart->panel[0];
    return p->sy.low + (p->sy.high - p->sy.low) * (1.0 - (y - p->top) / p->height);
}

// Right-aligned before the row; `most` is the room for it [pt], 0: any.
void pp_row_name(pp_chart *chart, double y, double most, const char *name)
{
    pp_svg_name(chart->svg, chart->from - 5.0, y + 2.5, PP_END, PP_SMALL, most, name);
    pp_script_tick(chart->svg->script, row_place(chart, y), name);
}

// Bins of one mode side by side become one bar. Open contacts are a thin line.
void pp_mode_row(pp_chart *chart, const pp_run_data *data, const pp_contact_trace *contact,
                 double y)
{
    // In the order of pp_plot_mode.
    static const char *const colours[] = {NULL, OPEN, STICK, SLIP};
    const pp_ruler *sx = &chart->panel[0].sx;
    for (int k = 0, next; k < data->bins; k = next) {
        // next: the first bin of another mode.
        for (next = k + 1; next < data->bins && contact->mode[next] == contact->mode[k];) {
            next++;
        }
        int mode = contact->mode[k];
        if (mode != PP_PLOT_ABSENT) {
            double from = pp_scale_at(sx, data->bin_from[k]),
                   to = pp_scale_at(sx, data->bin_to[next - 1]);
            double half = mode == PP_PLOT_OPEN ? 0.6 : 0.34 * PP_ROW_HEIGHT;
            // A bar of one step stays visible.
            pp_svg_rect(chart->svg, from, y - half, fmax(to - from, 0.35), 2.0 * half,
                        (pp_pen){.fill = colours[mode]});
            pp_script_box(chart->svg->script, 0, colours[mode],
                          (double[]){data->bin_from[k], data->bin_to[next - 1]},
                          (double[]){row_place(chart, y + half), row_place(chart, y - half)});
        }
    }
}

// Colours of the strip.
void pp_mode_keys(pp_chart *chart)
{
    pp_chart_key(chart, "stick", true, PP_KEY_BOX, (pp_pen){.fill = STICK});
    pp_chart_key(chart, "slip", true, PP_KEY_BOX, (pp_pen){.fill = SLIP});
    pp_chart_key(chart, "open", true, PP_KEY_BOX, (pp_pen){.fill = OPEN});
}

// A row for each contact.
static void draw_mode_strip(pp_chart *chart, const pp_run_data *data)
{
    double widest = 20.0;
    for (int k = 0; k < data->contacts; k++) {
        widest = fmax(widest, pp_text_width(data->contact[k].name, PP_SMALL));
    }
    // Longer names are cut.
    widest = fmin(widest, 0.4 * chart->width);
    chart->left = widest + 10.0;
    chart->panel[0] = make_panel(data, false, "", "");
    chart->panel[0].height = data->contacts > 0 ? PP_ROW_HEIGHT * data->contacts : 40.0;
    chart->panel[0].y.bare = true;
    pp_chart_begin(chart);
    for (int k = 0; k < data->contacts; k++) {
        double y = chart->panel[0].top + PP_ROW_HEIGHT * (k + 0.5);
        pp_row_name(chart, y, widest, data->contact[k].name);
        pp_mode_row(chart, data, &data->contact[k], y);
    }
}

// Numbers of contacts, each area on top of the larger one: slip on slip and stick, on all.
static void draw_mode_counts(pp_chart *chart, const pp_run_data *data)
{
    const pp_contact_totals *totals = &data->totals;
    chart->panel[0] = make_panel(data, false, "contacts", "");
    chart->panel[0].height = 110.0;
    chart->panel[0].y.range = totals->all.range;
    pp_range_add(&chart->panel[0].y.range, 0.0);
    pp_chart_begin(chart);
    pp_chart_area(chart, 0, &totals->all, false, (pp_pen){.fill = OPEN});
    pp_chart_area(chart, 0, &totals->closed, false, (pp_pen){.fill = STICK});
    pp_chart_area(chart, 0, &totals->slip, false, (pp_pen){.fill = SLIP});
}

// Up to PP_ROWS contacts have a row each.
void pp_draw_modes(const pp_run_data *data, pp_svg *svg)
{
    pp_chart chart = {.svg = svg,
                      .title = "Contact modes",
                      .width = PP_COLUMN,
                      .panels = 1,
                      .empty = why_empty(data)};
    pp_mode_keys(&chart);
    if (data->contacts <= PP_ROWS) {
        draw_mode_strip(&chart, data);
    } else {
        draw_mode_counts(&chart, data);
    }
    pp_chart_end(&chart);
}

// What the bars mean, or the areas.
void pp_caption_modes(const pp_run_data *data, pp_svg *html)
{
    pp_svg_put(html, data->contacts <= PP_ROWS
                         ? "Contact modes over time: a bar where a contact carries load (stick or "
                           "slip), a line where it is open, nothing where the shapes are far apart."
                         : "Number of contacts that slip, stick and are open, stacked.");
}

// ── Events ───────────────────────────────────────────────────────────────────────────────────────

// A stroke for each part of the time in which something happened.
static void draw_event_row(pp_chart *chart, const pp_event *event, double y, const char *colour)
{
    const pp_panel *p = &chart->panel[0];
    pp_svg_path(chart->svg, (pp_pen){.stroke = colour, .width = 0.7});
    for (int k = 0; k < PP_BINS_MOST; k++) {
        if (event->mark[k]) {
            // The middle of the part.
            double t = p->sx.low + (p->sx.high - p->sx.low) * (k + 0.5) / PP_BINS_MOST;
            double x = pp_scale_at(&p->sx, t), low = y + 0.34 * PP_ROW_HEIGHT,
                   high = y - 0.34 * PP_ROW_HEIGHT;
            pp_svg_move(chart->svg, x, high);
            pp_svg_to(chart->svg, x, low);
            pp_script_segment(chart->svg->script, 0, (pp_pen){.stroke = colour, .width = 0.7},
                              (double[]){t, row_place(chart, low)},
                              (double[]){t, row_place(chart, high)});
        }
    }
    pp_svg_end_path(chart->svg);
}

// A row for each kind of event, with its count.
void pp_draw_events(const pp_run_data *data, pp_svg *svg)
{
    pp_chart chart = {.svg = svg,
                      .title = "Events",
                      .width = PP_COLUMN,
                      .panels = 1,
                      .left = 92.0,
                      .empty = data->events ? NULL : "no events"};
    chart.panel[0] = make_panel(data, false, "", "");
    chart.panel[0].height = data->events > 0 ? PP_ROW_HEIGHT * data->events : 40.0;
    chart.panel[0].y.bare = true;
    pp_chart_begin(&chart);
    // Rows from top to bottom, in the order in which kinds first happened.
    for (int k = 0; k < data->events; k++) {
        const pp_event *event = &data->event[k];
        char name[64];
        double y = chart.panel[0].top + PP_ROW_HEIGHT * (k + 0.5);
        pp_print(name, sizeof name, "%s (%d)", event->name, event->count);
        pp_row_name(&chart, y, 0.0, name);
        draw_event_row(&chart, event, y, pp_colour(k));
    }
    pp_chart_end(&chart);
}

void pp_caption_events(const pp_run_data *data, pp_svg *html)
{
    (void)data;
    pp_svg_put(html, "Times at which contacts closed, opened, began to slip or to stick, and of "
                     "other events; in brackets, their number.");
}
