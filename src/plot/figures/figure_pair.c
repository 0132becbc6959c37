// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What two runs look like over each other.
#include "plot/figures/pair.h"
#include "plot/figures/scene.h"
#include "plot/figures/space.h"

#include <math.h>
#include <string.h>

// Run B is thinner and dashed: where both coincide, run A shows between the dashes.
static const pp_pen pen_a = {.stroke = PP_RUN_A, .width = 1.3};
static const pp_pen pen_b = {.stroke = PP_RUN_B, .width = 1.0, .dash = "4 1.5"};

// The time of the longer run.
static pp_panel make_panel(const pp_run_pair *pair, bool hidden, const char *label,
                           const char *unit, bool log)
{
    pp_panel p = {.height = PP_PLAIN,
                  .x = pp_time_axis(pair->a, hidden),
                  .y = pp_value_axis(label, unit, log)};
    p.x.range = pair->t;
    return p;
}

// Two lines.
static void run_keys(pp_chart *chart)
{
    pp_chart_key(chart, "run A", true, PP_KEY_LINE, pen_a);
    pp_chart_key(chart, "run B", true, PP_KEY_LINE, pen_b);
}

// ── How far apart ────────────────────────────────────────────────────────────────────────────────

// Distances of bodies between the runs, on logarithmic axes: they often grow exponentially.
static void draw_distance(const pp_run_pair *pair, pp_svg *svg)
{
    const pp_trace_bundle *bundle[2] = {&pair->place, &pair->turn};
    pp_chart chart = {.svg = svg, .title = "Distance of the runs", .width = PP_COLUMN, .panels = 2};
    chart.panel[0] =
        make_panel(pair, true, pair->place.many ? "largest distance" : "distance", "m", true);
    chart.panel[1] =
        make_panel(pair, false, pair->turn.many ? "largest angle" : "angle", "rad", true);
    for (int k = 0; k < 2; k++) {
        // Only as long as both run.
        chart.panel[k].x.range.high = pair->end;
        for (int i = 0; i < bundle[k]->count; i++) {
            pp_range_join(&chart.panel[k].y.range, &bundle[k]->trace[i].range);
        }
    }
    for (int i = 0; i < pair->place.count; i++) {
        pp_chart_key(&chart, pair->place.many ? "of all bodies" : pair->place.name[i],
                     pair->place.many, PP_KEY_LINE, pp_curve_pen(i, pair->place.count));
    }
    pp_chart_begin(&chart);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < bundle[k]->count; i++) {
            pp_chart_curve(&chart, k, &bundle[k]->trace[i], pp_curve_pen(i, bundle[k]->count));
        }
    }
    pp_chart_end(&chart);
}

// ── Both scenes ──────────────────────────────────────────────────────────────────────────────────

// The ground once, then each run at its end.
static void overlay_plane(const pp_run_pair *pair, pp_svg *svg, const pp_view *view)
{
    const pp_run_data *runs[2] = {pair->a, pair->b};
    pp_svg_clip(svg, 0, view->left, view->top, view->width, view->height);
    pp_scene_ground(svg, view, pair->a);
    for (int k = 0; k < 2; k++) {
        pp_svg_group(svg, (pp_pen){.dash = k == 0 ? NULL : pen_b.dash});
        pp_scene_springs(svg, view, runs[k], runs[k]->snapshots - 1);
        pp_scene_bodies(svg, view, runs[k], runs[k]->snapshots - 1);
        pp_scene_paths(svg, view, runs[k]);
        pp_svg_end_group(svg);
    }
    pp_svg_end_group(svg);
}

// The bodies of run B are lighter; its paths are dashed.
static void overlay_space(const pp_run_pair *pair, pp_svg *svg, const pp_view *view,
                          const pp_camera *camera, int number)
{
    const pp_run_data *runs[2] = {pair->a, pair->b};
    pp_svg_clip(svg, number, view->left, view->top, view->width, view->height);
    pp_space_ground(svg, view, camera, pair->a);
    for (int k = 0; k < 2; k++) {
        // Solids have no outline that could be dashed.
        pp_svg_group(svg, (pp_pen){.opacity = k == 0 ? 1.0 : 0.55});
        pp_space_springs(svg, view, camera, runs[k], runs[k]->snapshots - 1);
        pp_space_bodies(svg, view, camera, runs[k], runs[k]->snapshots - 1);
        pp_svg_end_group(svg);
        pp_svg_group(svg, (pp_pen){.dash = k == 0 ? NULL : pen_b.dash});
        pp_space_paths(svg, view, camera, runs[k]);
        pp_svg_end_group(svg);
    }
    pp_svg_end_group(svg);
}

// Two boxes.
static void overlay_keys(pp_chart *chart)
{
    pp_chart_key(chart, "run A", true, PP_KEY_BOX,
                 (pp_pen){.stroke = PP_RUN_A, .fill = PP_RUN_A, .width = 0.8, .veil = 0.3});
    pp_chart_key(chart, "run B", true, PP_KEY_BOX,
                 (pp_pen){.stroke = PP_RUN_B, .fill = PP_RUN_B, .width = 0.8, .veil = 0.3});
}

// In the plane one picture, in space one from above and one from the front.
static void draw_overlay(const pp_run_pair *pair, pp_svg *svg)
{
    bool space = pair->a->source->info->spatial || pair->b->source->info->spatial;
    pp_camera camera[2] = {pp_camera_top(), pp_camera_front()};
    pp_chart chart = {.svg = svg, .title = "Overlay", .width = PP_PAGE, .from = 4.0};
    pp_view view[2];
    int views = space ? 2 : 1;
    // On the page [pt].
    double tall = 0.0, wide = space ? 0.5 * (PP_PAGE - 14.0) : PP_PAGE - 8.0;
    for (int k = 0; k < views; k++) {
        pp_view a = space ? pp_space_view(pair->a, &camera[k], wide, 190.0) : pp_view_of(pair->a);
        pp_view b = space ? pp_space_view(pair->b, &camera[k], wide, 190.0) : pp_view_of(pair->b);
        // Both runs at the same scale, in the same place.
        view[k] = pp_view_join(&a, &b, wide, 220.0);
        tall = fmax(tall, view[k].height);
    }
    // The legend is measured before the page is opened: what is below it starts at its height.
    overlay_keys(&chart);
    double top = pp_chart_legend(&chart, false) + 2.0;
    chart.height = top + tall + 16.0;
    pp_svg_open(svg, chart.width, chart.height, chart.title);
    pp_chart_legend(&chart, true);
    for (int k = 0; k < views; k++) {
        view[k].left = 4.0 + k * (wide + 6.0);
        view[k].top = top + tall - view[k].height;
        if (space) {
            overlay_space(pair, svg, &view[k], &camera[k], k);
        } else {
            overlay_plane(pair, svg, &view[k]);
        }
        pp_scene_bar(svg, &view[k], top + tall + 7.0);
        pp_script_paths(svg->script, k, pair->a, NULL);
        pp_script_paths(svg->script, k, pair->b, pen_b.dash);
    }
    // gnuplot gets outlines of planar bodies only.
    if (!space) {
        pp_script_outlines(svg->script, pair->a, &view[0], pair->a->snapshots - 1);
        pp_script_outlines(svg->script, pair->b, &view[0], pair->b->snapshots - 1);
    }
    pp_script_picture(svg->script, &chart, view, views);
    pp_svg_close(svg);
}

// ── Curves of both ───────────────────────────────────────────────────────────────────────────────

// Energy, contacts that carry load, and residual of both.
static void draw_curves(const pp_run_pair *pair, pp_svg *svg)
{
    // By panel, and by run.
    const pp_trace *trace[3][2] = {{&pair->a->total, &pair->b->total},
                                   {&pair->a->totals.closed, &pair->b->totals.closed},
                                   {&pair->a->residual, &pair->b->residual}};
    pp_chart chart = {.svg = svg, .title = "Curves of both runs", .width = PP_COLUMN, .panels = 3};
    chart.panel[0] = make_panel(pair, true, "energy", "J", false);
    chart.panel[1] = make_panel(pair, true, "loaded contacts", "", false);
    chart.panel[2] = make_panel(pair, false, "residual", "m/s", true);
    pp_range_add(&chart.panel[1].y.range, 0.0);
    for (int k = 0; k < 3; k++) {
        chart.panel[k].height = 72.0;
        pp_range_join(&chart.panel[k].y.range, &trace[k][0]->range);
        pp_range_join(&chart.panel[k].y.range, &trace[k][1]->range);
    }
    run_keys(&chart);
    pp_chart_begin(&chart);
    for (int k = 0; k < 3; k++) {
        pp_chart_curve(&chart, k, trace[k][0], pen_a);
        pp_chart_curve(&chart, k, trace[k][1], pen_b);
    }
    pp_chart_end(&chart);
}

// ── Modes of both ────────────────────────────────────────────────────────────────────────────────

enum { PAIR_ROWS = 2 * PP_ROWS };

// A row of the strip: a contact of one of the runs.
typedef struct pair_row {
    const pp_run_data *run;
    const pp_contact_trace *contact;
    char name[104];
} pair_row;

// letter: A or B, of the run.
static void add_row(pair_row *row, int *rows, const pp_run_data *run,
                    const pp_contact_trace *contact, char letter)
{
    row[*rows] = (pair_row){.run = run, .contact = contact};
    pp_print(row[*rows].name, sizeof row[*rows].name, "%s, %c", contact->name, letter);
    (*rows)++;
}

// By name: numbers of shapes may differ between the runs.
static const pp_contact_trace *find_contact_trace(const pp_run_data *run, const char *name)
{
    if (run->contacts > PP_ROWS) {
        return NULL;
    }
    for (int k = 0; k < run->contacts; k++) {
        if (strcmp(run->contact[k].name, name) == 0) {
            return &run->contact[k];
        }
    }
    return NULL;
}

// Rows of the same contact under each other, then those that only run B has.
static int mode_rows(const pp_run_pair *pair, pair_row row[PAIR_ROWS])
{
    int rows = 0;
    for (int k = 0; k < pair->a->contacts; k++) {
        const pp_contact_trace *a = &pair->a->contact[k], *b = find_contact_trace(pair->b, a->name);
        add_row(row, &rows, pair->a, a, 'A');
        if (b) {
            add_row(row, &rows, pair->b, b, 'B');
        }
    }
    // What only run B has comes last.
    for (int k = 0; k < pair->b->contacts; k++) {
        if (!find_contact_trace(pair->a, pair->b->contact[k].name)) {
            add_row(row, &rows, pair->b, &pair->b->contact[k], 'B');
        }
    }
    return rows;
}

// Both runs have few enough contacts for a strip.
static bool has_modes(const pp_run_pair *pair)
{
    return pair->a->contacts + pair->b->contacts > 0 && pair->a->contacts <= PP_ROWS &&
           pair->b->contacts <= PP_ROWS;
}

// Names take at most 40 % of the width.
static void draw_modes(const pp_run_pair *pair, pp_svg *svg)
{
    pair_row row[PAIR_ROWS];
    int rows = mode_rows(pair, row);
    pp_chart chart = {.svg = svg, .title = "Contact modes", .width = PP_COLUMN, .panels = 1};
    double widest = 20.0;
    for (int k = 0; k < rows; k++) {
        widest = fmax(widest, pp_text_width(row[k].name, PP_SMALL));
    }
    widest = fmin(widest, 0.4 * chart.width);
    chart.left = widest + 10.0;
    chart.panel[0] = make_panel(pair, false, "", "", false);
    chart.panel[0].height = PP_ROW_HEIGHT * rows;
    chart.panel[0].y.bare = true;
    pp_mode_keys(&chart);
    pp_chart_begin(&chart);
    for (int k = 0; k < rows; k++) {
        double y = chart.panel[0].top + PP_ROW_HEIGHT * (k + 0.5);
        pp_row_name(&chart, y, widest, row[k].name);
        pp_mode_row(&chart, row[k].run, row[k].contact, y);
    }
    pp_chart_end(&chart);
}

// Two runs always have bodies in common.
static bool always_drawn(const pp_run_pair *pair)
{
    (void)pair;
    return true;
}

static const pp_pair_figure figures[] = {
    {"overlay", "Both runs",
     "Bodies at the end of each run, and the paths of their centres of mass.", always_drawn,
     draw_overlay},
    {"distance", "Distance",
     "Distance of the centres of mass of each body at the same time, and its relative rotation "
     "angle; zeros are omitted.",
     always_drawn, draw_distance},
    {"curves", "Curves", "Kinetic and potential energy, loaded contacts, residual.", always_drawn,
     draw_curves},
    {"modes", "Contact modes",
     "Modes of the same contact in both runs: a bar where it carries load (stick or slip), a line "
     "where it is open.",
     has_modes, draw_modes},
};

const pp_pair_figure *pp_pair_figure_at(int k)
{
    return k >= 0 && k < (int)(sizeof figures / sizeof figures[0]) ? &figures[k] : NULL;
}
