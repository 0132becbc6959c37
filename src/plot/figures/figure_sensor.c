// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Sensors over time: a panel for each, of the first PP_PANELS.
#include "plot/figures/figures.h"

#include <perp/model.h>

#include <string.h>

// ── Curves ───────────────────────────────────────────────────────────────────────────────────────

static int shown_values(const pp_run_data *data)
{
    int count = 0;
    for (int i = 0; i < data->sensors; i++) {
        count += data->source->sensor[i].size;
    }
    return count;
}

bool pp_run_data_init_sensors(pp_run_data *data)
{
    int all = data->source->info->sensors;
    data->sensors = all < PP_PANELS ? all : PP_PANELS;
    int values = shown_values(data);
    data->sensor_trace = PP_ZEROS(data->arena, pp_trace, values);
    if (!data->sensor_trace) {
        return false;
    }
    for (int k = 0; k < values; k++) {
        if (!pp_trace_init(&data->sensor_trace[k], data->arena, data->bins)) {
            return false;
        }
    }
    return true;
}

// The first sensors have the first values. Means over a step begin with the first step.
void pp_run_data_scan_sensors(pp_run_data *data, int bin, const perp_snapshot *frame)
{
    for (int i = 0; i < data->sensors; i++) {
        const perp_recorded_sensor *s = &data->source->sensor[i];
        int size = frame->step > 0 || s->kind < PERP_SENSOR_ACCELERATION ? s->size : 0;
        for (int k = s->first; k < s->first + size; k++) {
            pp_trace_add(&data->sensor_trace[k], bin, frame->t, frame->sensor[k]);
        }
    }
}

// ── The figure ───────────────────────────────────────────────────────────────────────────────────

// What a unit measures, and the unit as markup.
typedef struct quantity {
    const char *unit, *label, *markup;
} quantity;

static const quantity *quantity_of(const char *unit)
{
    static const quantity known[] = {{"m", "length", "m"},
                                     {"rad", "angle", "rad"},
                                     {"m/s", "velocity", "m/s"},
                                     {"rad/s", "velocity", "rad/s"},
                                     {"m/s^2", "accel.", "m/s^{2}"},
                                     {"rad/s^2", "accel.", "rad/s^{2}"},
                                     {"N", "force", "N"},
                                     {"N m", "torque", "N m"}};
    static const quantity other = {"", "value", ""};
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        if (strcmp(known[k].unit, unit) == 0) {
            return &known[k];
        }
    }
    return &other;
}

// x, y and z have the same colours in all panels; w comes last, and so has a single value.
static int colour_of(int size, int k)
{
    static const char *const label[] = {"x", "y", "z"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(perp_sensor_label(size, k), label[i]) == 0) {
            return i;
        }
    }
    return 3;
}

// Keys of the components that some sensor has.
static void put_keys(pp_chart *chart, const pp_run_data *data)
{
    static const char *const name[] = {"*x*", "*y*", "*z*", "*w*, or the only value"};
    bool there[4] = {false};
    for (int i = 0; i < data->sensors; i++) {
        int size = data->source->sensor[i].size;
        for (int k = 0; k < size; k++) {
            there[colour_of(size, k)] = true;
        }
    }
    for (int c = 0; c < 4; c++) {
        if (there[c]) {
            pp_chart_key(chart, name[c], true, PP_KEY_LINE,
                         (pp_pen){.stroke = pp_colour(c), .width = 1.0});
        }
    }
}

void pp_draw_sensors(const pp_run_data *data, pp_svg *svg)
{
    int n = data->sensors;
    pp_chart chart = {.svg = svg, .title = "Sensors", .width = PP_COLUMN, .panels = n > 0 ? n : 1};
    chart.panel[0] = (pp_panel){
        .height = PP_PLAIN, .x = pp_time_axis(data, false), .y = pp_value_axis("value", "", false)};
    // Drawn without sensors only when asked for by name.
    chart.empty = n > 0 ? NULL : "no sensors";
    for (int i = 0; i < n; i++) {
        const perp_recorded_sensor *s = &data->source->sensor[i];
        const quantity *q = quantity_of(s->unit);
        chart.panel[i] = (pp_panel){.height = 70.0,
                                    .x = pp_time_axis(data, i + 1 < n),
                                    .y = pp_value_axis(q->label, q->markup, false),
                                    .name = s->name};
        for (int k = 0; k < s->size; k++) {
            pp_range_join(&chart.panel[i].y.range, &data->sensor_trace[s->first + k].range);
        }
    }
    put_keys(&chart, data);
    pp_chart_begin(&chart);
    for (int i = 0; i < n; i++) {
        const perp_recorded_sensor *s = &data->source->sensor[i];
        for (int k = 0; k < s->size; k++) {
            pp_chart_curve(&chart, i, &data->sensor_trace[s->first + k],
                           (pp_pen){.stroke = pp_colour(colour_of(s->size, k)), .width = 1.0});
        }
    }
    pp_chart_end(&chart);
}

void pp_caption_sensors(const pp_run_data *data, pp_svg *html)
{
    int all = data->source->info->sensors;
    pp_svg_put(html, "Values of sensors");
    if (all > data->sensors) {
        pp_svg_put(html, ": the first ");
        pp_svg_integer(html, data->sensors);
        pp_svg_put(html, " of ");
        pp_svg_integer(html, all);
    }
    pp_svg_put(html, ". Accelerations, forces, torques and efforts are means over a step.");
}
