// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Curves over time that need no contacts: energy, residual, joints, velocities.
#include "plot/figures/figures.h"

#include <math.h>

// hidden: another panel below has the same axis.
pp_chart_axis pp_time_axis(const pp_run_data *data, bool hidden)
{
    return (pp_chart_axis){.label = "*t*", .unit = "s", .range = data->t, .hidden = hidden};
}

// Its range grows as curves are added.
pp_chart_axis pp_value_axis(const char *label, const char *unit, bool log)
{
    return (pp_chart_axis){.label = label, .unit = unit, .log = log, .range = pp_range_none()};
}

// Three digits, and a space before the unit that no line breaks at.
void pp_put_value(pp_svg *html, double value, const char *unit)
{
    char text[PP_NUMBER];
    pp_value_text(text, value, "<sup>", "</sup>");
    pp_svg_put(html, text);
    if (unit[0]) {
        pp_svg_put(html, "&#160;");
        pp_svg_put(html, unit);
    }
}

// A panel over time.
static pp_panel make_panel(const pp_run_data *data, bool hidden, const char *label,
                           const char *unit, bool log)
{
    return (pp_panel){
        .height = PP_PLAIN, .x = pp_time_axis(data, hidden), .y = pp_value_axis(label, unit, log)};
}

// The panel shows all of the curve.
static void include_trace(pp_panel *panel, const pp_trace *trace)
{
    pp_range_join(&panel->y.range, &trace->range);
}

// A curve of a chart with one panel, and its entry in the legend.
typedef struct named_curve {
    const char *name;
    const pp_trace *trace;
    pp_pen pen;
} named_curve;

// All curves in panel 0. A logarithmic axis has no place for a curve without positive values.
static void draw_curves(pp_chart *chart, const named_curve *curves, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        include_trace(&chart->panel[0], curves[k].trace);
        pp_chart_key(chart, curves[k].name, true, PP_KEY_LINE, curves[k].pen);
    }
    pp_chart_begin(chart);
    for (size_t k = 0; k < count; k++) {
        if (!chart->panel[0].y.log || curves[k].trace->range.positive < PP_INF) {
            pp_chart_curve(chart, 0, curves[k].trace, curves[k].pen);
        }
    }
    pp_chart_end(chart);
}

// ── Energy ───────────────────────────────────────────────────────────────────────────────────────

// Energies [J] on one axis, so that gains and losses can be compared.
void pp_draw_energy(const pp_run_data *data, pp_svg *svg)
{
    const named_curve curves[] = {
        {"kinetic", &data->kinetic, {.stroke = PP_BLUE, .width = 1.2}},
        {"potential", &data->potential, {.stroke = PP_GREEN, .width = 1.2}},
        {"kinetic + potential", &data->total, {.stroke = "#000000", .width = 1.2}},
        {"work done", &data->work, {.stroke = PP_ORANGE, .width = 1.2, .dash = "5 1.5"}},
        {"dissipated", &data->dissipated, {.stroke = PP_RED, .width = 1.2, .dash = "2 1.5"}},
    };
    pp_chart chart = {.svg = svg, .title = "Energy ledger", .width = PP_COLUMN, .panels = 1};
    chart.panel[0] = make_panel(data, false, "energy", "J", false);
    chart.panel[0].height = 130.0;
    draw_curves(&chart, curves, sizeof curves / sizeof curves[0]);
}

void pp_caption_energy(const pp_run_data *data, pp_svg *html)
{
    pp_svg_put(html,
               "Potential energy is relative to the start. Work of forces and driven bodies, and "
               "dissipation by contacts, joints and the scheme, are summed from the start: ");
    pp_put_value(html, data->work_sum, "J");
    pp_svg_put(html, " and ");
    pp_put_value(html, data->dissipated_sum, "J");
    pp_svg_put(html, " at the end.");
}

// ── Residual ─────────────────────────────────────────────────────────────────────────────────────

// Curves of zeros have no place on a logarithmic axis.
static void draw_shares(pp_chart *chart, const pp_run_data *data, int at)
{
    for (int k = 0; k < PP_SHARES; k++) {
        // The residual is the one most looked at.
        pp_pen pen = {.stroke = pp_colour(k), .width = k == PERP_JUDGED_RESIDUAL ? 0.9 : 0.7};
        if (data->share[k].range.positive < PP_INF) {
            pp_chart_curve(chart, at, &data->share[k], pen);
        }
    }
}

// The residual in m/s, and below it all numbers of the certificate over their limits: 1 is the
// limit.
void pp_draw_residual(const pp_run_data *data, pp_svg *svg)
{
    pp_chart chart = {
        .svg = svg, .title = "Residual and certificate", .width = PP_COLUMN, .panels = 2};
    chart.panel[0] = make_panel(data, true, "residual", "m/s", true);
    chart.panel[0].limit = data->source->info->limits.residual;
    include_trace(&chart.panel[0], &data->residual);
    chart.panel[1] = make_panel(data, false, "value / limit", "", true);
    chart.panel[1].height = 110.0;
    chart.panel[1].limit = 1.0;
    for (int k = 0; k < PP_SHARES; k++) {
        pp_pen pen = {.stroke = pp_colour(k), .width = 1.2};
        include_trace(&chart.panel[1], &data->share[k]);
        if (data->share[k].range.positive < PP_INF) {
            pp_chart_key(&chart, pp_share_name[k], true, PP_KEY_LINE, pen);
        }
    }
    pp_chart_begin(&chart);
    pp_chart_curve(&chart, 0, &data->residual, (pp_pen){.stroke = "#000000", .width = 1.0});
    draw_shares(&chart, data, 1);
    pp_chart_end(&chart);
}

void pp_caption_residual(const pp_run_data *data, pp_svg *html)
{
    pp_svg_put(html, "(a) Natural-map residual of every step&#8217;s problem, worst ");
    pp_put_value(html, fmax(data->residual.range.high, 0.0), "m/s");
    pp_svg_put(html, ". (b) Certificate values relative to their limits; zeros are omitted. Frames "
                     "beyond a limit: ");
    pp_svg_integer(html, data->violations);
    pp_svg_put(html, ".");
}

// ── Error of the motion ──────────────────────────────────────────────────────────────────────────

// Estimated errors: of the motion from its start, and of each step.                     theory (I8)
void pp_draw_accuracy(const pp_run_data *data, pp_svg *svg)
{
    const named_curve curves[] = {
        {"motion", &data->motion_error, {.stroke = "#000000", .width = 1.2}},
        {"step", &data->step_error, {.stroke = PP_BLUE, .width = 1.0}},
    };
    pp_chart chart = {.svg = svg, .title = "Error of the motion", .width = PP_COLUMN, .panels = 1};
    chart.panel[0] = make_panel(data, false, "estimated error", "m", true);
    chart.panel[0].height = 130.0;
    draw_curves(&chart, curves, sizeof curves / sizeof curves[0]);
}

void pp_caption_accuracy(const pp_run_data *data, pp_svg *html)
{
    pp_svg_put(html, "Estimated distance of the bodies from where they should be, by a second run "
                     "with half the steps, at most ");
    pp_put_value(html, fmax(data->motion_error.range.high, 0.0), "m");
    pp_svg_put(html, "; and the part that each step adds, at most ");
    pp_put_value(html, fmax(data->step_error.range.high, 0.0), "m");
    pp_svg_put(html, data->error_unknown ? ". Where the curve ends, the error is unknown." : ".");
}

// ── Sheaves: bodies and joints ───────────────────────────────────────────────────────────────────

// The panel shows all curves of the bundle.
static void include_bundle(pp_panel *panel, const pp_trace_bundle *bundle)
{
    for (int k = 0; k < bundle->count; k++) {
        include_trace(panel, &bundle->trace[k]);
    }
}

// names: the bundle that the legend has. Curves of the same body have the same colour in every
// panel; names are compared by address.
static void draw_bundle(pp_chart *chart, int at, const pp_trace_bundle *bundle,
                        const pp_trace_bundle *names)
{
    for (int k = 0; k < bundle->count; k++) {
        int colour = k, named = bundle->many ? 0 : names->count;
        for (int j = 0; j < named; j++) {
            colour = names->name[j] == bundle->name[k] ? j : colour;
        }
        pp_chart_curve(chart, at, &bundle->trace[k], pp_curve_pen(colour, names->count));
    }
}

// One entry for each curve, or one for the largest of all.
static void bundle_keys(pp_chart *chart, const pp_trace_bundle *bundle, const char *of_many)
{
    for (int k = 0; k < bundle->count; k++) {
        pp_chart_key(chart, bundle->many ? of_many : bundle->name[k], bundle->many, PP_KEY_LINE,
                     pp_curve_pen(k, bundle->count));
    }
}

// Errors on a logarithmic axis, reactions on a linear one.
void pp_draw_joints(const pp_run_data *data, pp_svg *svg)
{
    pp_chart chart = {.svg = svg, .title = "Joints", .width = PP_COLUMN, .panels = 2};
    chart.panel[0] = make_panel(data, true, "joint error", "m, rad", true);
    chart.panel[0].limit = data->source->info->limits.joint;
    chart.panel[1] = make_panel(data, false, "reaction", "N", false);
    include_bundle(&chart.panel[0], &data->joint_error);
    include_bundle(&chart.panel[1], &data->joint_force);
    bundle_keys(&chart, &data->joint_error, "largest of all joints");
    // Drawn only when asked for by name.
    chart.empty = data->joint_error.count ? NULL : "no joints";
    pp_chart_begin(&chart);
    draw_bundle(&chart, 0, &data->joint_error, &data->joint_error);
    draw_bundle(&chart, 1, &data->joint_force, &data->joint_force);
    pp_chart_end(&chart);
}

void pp_caption_joints(const pp_run_data *data, pp_svg *html)
{
    (void)data;
    pp_svg_put(html, "(a) Worst constraint error of each joint after the step; zeros are omitted. "
                     "(b) Magnitude of the reaction force: impulse divided by step.");
}

// Whether a curve of the bundle differs from zero.
static bool is_active(const pp_trace_bundle *bundle)
{
    for (int k = 0; k < bundle->count; k++) {
        const pp_range *range = &bundle->trace[k].range;
        if (range->low < 0.0 || range->high > 0.0) {
            return true;
        }
    }
    return false;
}

// Coordinates and rates; efforts and powers where something drives.
void pp_draw_coordinates(const pp_run_data *data, pp_svg *svg)
{
    const pp_trace_bundle *bundles[] = {&data->coordinate, &data->rate, &data->effort,
                                        &data->power};
    bool driven = is_active(&data->effort);
    pp_chart chart = {.svg = svg,
                      .title = "Joint coordinates and motors",
                      .width = PP_COLUMN,
                      .panels = driven ? 4 : 2};
    chart.panel[0] = make_panel(data, true, "*q*", "rad, m", false);
    chart.panel[1] = make_panel(data, driven, "rate", "rad/s, m/s", false);
    chart.panel[2] = make_panel(data, true, "effort", "N m, N", false);
    chart.panel[3] = make_panel(data, false, "power", "W", false);
    for (int k = 0; k < chart.panels; k++) {
        chart.panel[k].height = 78.0;
        include_bundle(&chart.panel[k], bundles[k]);
    }
    bundle_keys(&chart, &data->coordinate, "largest of all joints");
    // Drawn only when asked for by name.
    chart.empty = data->coordinate.count ? NULL : "no joint has a coordinate";
    pp_chart_begin(&chart);
    for (int k = 0; k < chart.panels; k++) {
        draw_bundle(&chart, k, bundles[k], &data->coordinate);
    }
    pp_chart_end(&chart);
}

void pp_caption_coordinates(const pp_run_data *data, pp_svg *html)
{
    pp_svg_put(html, "(a) Coordinate <i>q</i> and (b) rate of each joint after the step");
    pp_svg_put(html, data->coordinate.many ? ", the largest of all joints." : ".");
    if (is_active(&data->effort)) {
        pp_svg_put(html, " (c) Effort of targets, motors, actuators and dry friction along the "
                         "coordinate, mean over the step, and (d) its power, effort times rate.");
    }
}

// The largest size in a range, 0 when it is empty.
static double largest_of(const pp_range *range)
{
    return range->low <= range->high ? fmax(fabs(range->low), fabs(range->high)) : 0.0;
}

// Of the bodies that move [m].
static double largest_reach(const pp_run_data *data)
{
    double most = 0.0;
    for (int b = 0; b < data->source->info->bodies; b++) {
        most = data->path[b] ? fmax(most, data->arm[b]) : most;
    }
    return most;
}

// Without bodies that turn there is no third panel.
void pp_draw_velocities(const pp_run_data *data, pp_svg *svg)
{
    bool many = data->vx.many, turns = data->spin.count > 0, space = data->source->info->spatial;
    pp_chart chart = {
        .svg = svg, .title = "Velocities", .width = PP_COLUMN, .panels = turns ? 3 : 2};
    // Plane or space; single curves or the largest; panel.
    static const char *const label[2][2][3] = {
        {{"*v*_{x}", "*v*_{y}", "*\xcf\x89*"},
         {"max |*v*_{x}|", "max |*v*_{y}|", "max |*\xcf\x89*|"}},
        {{"|*v*|", "*v*_{z}", "|*\xcf\x89*|"}, {"max |*v*|", "max |*v*_{z}|", "max |*\xcf\x89*|"}}};
    chart.panel[0] = make_panel(data, true, label[space][many][0], "m/s", false);
    chart.panel[1] = make_panel(data, turns, label[space][many][1], "m/s", false);
    chart.panel[2] = make_panel(data, false, label[space][data->spin.many][2], "rad/s", false);
    const pp_trace_bundle *bundles[] = {&data->vx, &data->vy, &data->spin};
    for (int k = 0; k < chart.panels; k++) {
        chart.panel[k].height = 72.0;
        include_bundle(&chart.panel[k], bundles[k]);
    }
    // Components that are rounding beside the others are shown flat; an angular velocity counts
    // with the reach of the largest body [1/s].
    double speed = fmax(largest_of(&chart.panel[0].y.range), largest_of(&chart.panel[1].y.range));
    chart.panel[0].y.typical = chart.panel[1].y.typical = speed;
    chart.panel[2].y.typical = largest_reach(data) > 0.0 ? speed / largest_reach(data) : 0.0;
    bundle_keys(&chart, &data->vx, "largest of all bodies");
    chart.empty = data->vx.count ? NULL : "no dynamic bodies";
    pp_chart_begin(&chart);
    for (int k = 0; k < chart.panels; k++) {
        draw_bundle(&chart, k, bundles[k], &data->vx);
    }
    pp_chart_end(&chart);
}

void pp_caption_velocities(const pp_run_data *data, pp_svg *html)
{
    pp_svg_put(html, "Velocities of the centres of mass (a, b)");
    pp_svg_put(html, data->spin.count ? " and angular velocities (c)" : "");
    pp_svg_put(html,
               data->vx.many ? ", the largest of all dynamic bodies." : " of the dynamic bodies.");
}
