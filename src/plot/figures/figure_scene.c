// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The scene at several times, and the paths of its bodies.
#include "plot/figures/figures.h"
#include "plot/figures/scene.h"
#include "plot/figures/space.h"

#include <math.h>

// Of many bodies none: they have no colours of their own.
static void body_keys(pp_chart *chart, const pp_run_data *data)
{
    if (pp_moving_bodies(data) > PP_FEW - 1) {
        return;
    }
    for (int b = 0; b < data->source->info->bodies; b++) {
        if (data->path[b]) {
            const char *colour = pp_body_colour(data, b);
            pp_chart_key(chart, data->source->body[b].name, false, PP_KEY_BOX,
                         (pp_pen){.stroke = colour, .fill = colour, .width = 0.8, .veil = 0.3});
        }
    }
}

// "t = 0, 0.4, 0.8 s", each time with a box in the strength of its snapshot; returns the height
// [pt].
static double write_times(pp_svg *svg, const pp_run_data *data, double x, double y)
{
    char number[PP_NUMBER], text[PP_NUMBER + 16];
    pp_svg_label(svg, x, y, PP_START, PP_SMALL, false, "*t* =");
    x += 15.0;
    for (int k = 0; k < data->snapshots; k++) {
        pp_value_text(number, data->snapshot[k].t, "^{", "}");
        pp_print(text, sizeof text, "%s%s", number, k + 1 < data->snapshots ? "," : " s");
        pp_svg_rect(svg, x, y - 5.4, 6.0, 6.0,
                    (pp_pen){.stroke = PP_INK,
                             .fill = PP_INK,
                             .width = 0.6,
                             .opacity = pp_plot_snapshot_opacity(data, k),
                             .veil = 0.05 + 0.3 * k / PP_SNAPSHOTS});
        pp_svg_label(svg, x + 8.0, y, PP_START, PP_SMALL, false, text);
        x += 14.0 + pp_label_width(text, PP_SMALL);
    }
    return 10.0;
}

// ── Space: snapshots in rows of three, then paths from above and from the front ──────────────────

static const double between = 6.0, above = 12.0;

// Above the upper left corner of a picture.
static void put_time(pp_svg *svg, const pp_view *view, double t)
{
    char number[PP_NUMBER], text[PP_NUMBER + 16];
    pp_value_text(number, t, "^{", "}");
    pp_print(text, sizeof text, "*t* = %s s", number);
    pp_svg_label(svg, view->left + 2.0, view->top - 3.0, PP_START, PP_SMALL, false, text);
}

// One picture of the scene in space; clip paths have the number of the snapshot.
static void put_snapshot(pp_svg *svg, const pp_view *view, const pp_run_data *data, int snapshot)
{
    pp_camera camera = pp_camera_oblique();
    put_time(svg, view, data->snapshot[snapshot].t);
    pp_svg_clip(svg, snapshot, view->left, view->top, view->width, view->height);
    pp_space_ground(svg, view, &camera, data);
    pp_space_bodies(svg, view, &camera, data, snapshot);
    pp_space_joints(svg, view, &camera, data, snapshot);
    pp_space_springs(svg, view, &camera, data, snapshot);
    pp_svg_end_group(svg);
}

// Paths seen along an axis, with the bodies at the end: lengths can be read off.
static void put_projection(pp_svg *svg, const pp_view *view, const pp_camera *camera,
                           const pp_run_data *data, int number)
{
    // Numbers of clip paths follow those of the snapshots.
    static const char *const words[2] = {"from above: *x*, *y*", "from the front: *x*, *z*"};
    pp_svg_label(svg, view->left + 2.0, view->top - 3.0, PP_START, PP_SMALL, false, words[number]);
    pp_svg_clip(svg, PP_SNAPSHOTS + number, view->left, view->top, view->width, view->height);
    pp_space_ground(svg, view, camera, data);
    pp_space_bodies(svg, view, camera, data, data->snapshots - 1);
    pp_space_paths(svg, view, camera, data);
    pp_svg_end_group(svg);
    pp_scene_bar(svg, view, view->top + view->height + 7.0);
}

// Snapshots from an oblique direction in rows, below them the paths from above and from the front.
static void draw_space(const pp_run_data *data, pp_svg *svg)
{
    pp_chart chart = {.svg = svg, .title = "Paths", .width = PP_PAGE, .from = 4.0};
    // At most three snapshots a row; four make two rows of two.
    int columns = data->snapshots < 3 ? data->snapshots : 3;
    columns = data->snapshots == 4 ? 2 : columns;
    int rows = (data->snapshots + columns - 1) / columns;
    pp_camera camera[3] = {pp_camera_oblique(), pp_camera_top(), pp_camera_front()};
    double third = (PP_PAGE - 8.0 - between * (columns - 1)) / columns;
    double half = 0.5 * (PP_PAGE - 8.0 - between);
    pp_view snapshot = pp_space_view(data, &camera[0], third, 150.0);
    // Projections keep their own scale: a bar shows it.
    pp_view side[2] = {pp_space_view(data, &camera[1], half, 170.0),
                       pp_space_view(data, &camera[2], half, 170.0)};
    body_keys(&chart, data);
    double top = pp_chart_legend(&chart, false) + above;
    double below = top + rows * (snapshot.height + above) + 4.0;
    // The projections stand on a common base line.
    double tall = fmax(side[0].height, side[1].height);
    chart.height = below + tall + 16.0;
    pp_svg_open(svg, chart.width, chart.height, chart.title);
    pp_chart_legend(&chart, true);
    for (int k = 0; k < data->snapshots; k++) {
        int row = k / columns;
        snapshot.left = 4.0 + (k % columns) * (third + between);
        snapshot.top = top + row * (snapshot.height + above);
        put_snapshot(svg, &snapshot, data, k);
    }
    for (int k = 0; k < 2; k++) {
        side[k].left = 4.0 + k * (half + between);
        side[k].top = below + (tall - side[k].height);
        put_projection(svg, &side[k], &camera[1 + k], data, k);
        pp_script_paths(svg->script, k, data, NULL);
    }
    pp_script_picture(svg->script, &chart, side, 2);
    pp_svg_close(svg);
}

// In the plane all snapshots are in one picture.
void pp_draw_paths(const pp_run_data *data, pp_svg *svg)
{
    if (data->source->info->spatial) {
        draw_space(data, svg);
        return;
    }
    pp_view view = pp_view_of(data);
    pp_chart chart = {.svg = svg, .title = "Paths", .width = view.width + 8.0, .from = 4.0};
    body_keys(&chart, data);
    double top = pp_chart_legend(&chart, false);
    view.top = top + 10.0;
    chart.height = view.top + view.height + 14.0;
    pp_svg_open(svg, chart.width, chart.height, chart.title);
    pp_chart_legend(&chart, true);
    write_times(svg, data, 4.0, chart.keys ? top + 4.0 : top);
    pp_svg_clip(svg, 0, view.left, view.top, view.width, view.height);
    pp_scene_ground(svg, &view, data);
    // Paths of many bodies would hide them: they are drawn below the bodies then, else above.
    bool many = pp_moving_bodies(data) > PP_FEW - 1;
    if (many) {
        pp_scene_paths(svg, &view, data);
    }
    for (int k = 0; k < data->snapshots; k++) {
        pp_scene_springs(svg, &view, data, k);
        pp_scene_bodies(svg, &view, data, k);
    }
    if (!many) {
        pp_scene_paths(svg, &view, data);
    }
    pp_scene_joints(svg, &view, data);
    pp_svg_end_group(svg);
    pp_scene_bar(svg, &view, view.top + view.height + 7.0);
    pp_script_springs(svg->script, data, 0);
    pp_script_outlines(svg->script, data, &view, 0);
    pp_script_paths(svg->script, 0, data, NULL);
    pp_script_picture(svg->script, &chart, &view, 1);
    pp_svg_close(svg);
}

void pp_caption_paths(const pp_run_data *data, pp_svg *html)
{
    if (data->source->info->spatial) {
        pp_svg_put(html,
                   "The scene at equal intervals until its motion ends; below: the last snapshot "
                   "from above and from the front, with the paths of the centres of mass.");
        return;
    }
    pp_svg_put(html, data->snapshots > 1
                         ? "The scene at equal intervals until its motion ends, later "
                           "is darker; lines: paths of the centres of mass."
                         : "The scene; nothing moves.");
}

// The same choice as in pp_view_of.
bool pp_paths_wide(const pp_run_data *data)
{
    return data->source->info->spatial || pp_view_of(data).width > PP_COLUMN;
}
