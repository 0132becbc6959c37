// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The scene at several times, and the paths of its bodies.
#include "plot/figures/figures.h"
#include "plot/figures/scene.h"
#include "plot/figures/space.h"

#include <math.h>

static void body_keys(pp_chart *chart, const pp_run_data *data)
{
    for (int b = 0; b < data->film->info->bodies && pp_moving_bodies(data) <= PP_FEW - 1; b++) {
        if (data->path[b]) {
            const char *colour = pp_body_colour(data, b);
            pp_chart_key(chart, data->film->body[b].name, false, PP_KEY_BOX,
                         (pp_pen){.stroke = colour, .fill = colour, .width = 0.8, .veil = 0.3});
        }
    }
}

// "t = 0, 0.4, 0.8 s", each time in the strength of its snapshot; returns the height.
static double write_times(pp_svg *svg, const pp_run_data *data, double x, double y)
{
    char number[PP_NUMBER], text[PP_NUMBER + 16];
    pp_svg_label(svg, x, y, PP_START, PP_SMALL, false, "*t* =");
    x += 15.0;
    for (int k = 0; k < data->shots; k++) {
        pp_value_text(number, data->shot[k].t, "^{", "}");
        pp_print(text, sizeof text, "%s%s", number, k + 1 < data->shots ? "," : " s");
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

static void put_time(pp_svg *svg, const pp_view *view, double t)
{
    char number[PP_NUMBER], text[PP_NUMBER + 16];
    pp_value_text(number, t, "^{", "}");
    pp_print(text, sizeof text, "*t* = %s s", number);
    pp_svg_label(svg, view->left + 2.0, view->top - 3.0, PP_START, PP_SMALL, false, text);
}

static void put_shot(pp_svg *svg, const pp_view *view, const pp_run_data *data, int shot)
{
    pp_camera camera = pp_camera_oblique();
    put_time(svg, view, data->shot[shot].t);
    pp_svg_clip(svg, shot, view->left, view->top, view->width, view->height);
    pp_space_ground(svg, view, &camera, data);
    pp_space_bodies(svg, view, &camera, data, shot);
    pp_space_joints(svg, view, &camera, data, shot);
    pp_space_springs(svg, view, &camera, data, shot);
    pp_svg_end_group(svg);
}

static void put_projection(pp_svg *svg, const pp_view *view, const pp_camera *camera,
                           const pp_run_data *data, int number)
{
    static const char *const words[2] = {"from above: *x*, *y*", "from the front: *x*, *z*"};
    pp_svg_label(svg, view->left + 2.0, view->top - 3.0, PP_START, PP_SMALL, false, words[number]);
    pp_svg_clip(svg, PP_SNAPSHOTS + number, view->left, view->top, view->width, view->height);
    pp_space_ground(svg, view, camera, data);
    pp_space_bodies(svg, view, camera, data, data->shots - 1);
    pp_space_paths(svg, view, camera, data);
    pp_svg_end_group(svg);
    pp_scene_bar(svg, view, view->top + view->height + 7.0);
}

static void draw_space(const pp_run_data *data, pp_svg *svg)
{
    pp_chart chart = {.svg = svg, .title = "Paths", .width = PP_PAGE, .from = 4.0};
    int columns = data->shots == 4 ? 2 : data->shots < 3 ? data->shots : 3;
    int rows = (data->shots + columns - 1) / columns;
    pp_camera camera[3] = {pp_camera_oblique(), pp_camera_top(), pp_camera_front()};
    double third = (PP_PAGE - 8.0 - between * (columns - 1)) / columns;
    double half = 0.5 * (PP_PAGE - 8.0 - between);
    pp_view shot = pp_space_view(data, &camera[0], third, 150.0);
    pp_view side[2] = {pp_space_view(data, &camera[1], half, 170.0),
                       pp_space_view(data, &camera[2], half, 170.0)};
    body_keys(&chart, data);
    double top = pp_chart_legend(&chart, false) + above;
    double below = top + rows * (shot.height + above) + 4.0;
    double tall = fmax(side[0].height, side[1].height);
    chart.height = below + tall + 16.0;
    pp_svg_open(svg, chart.width, chart.height, chart.title);
    pp_chart_legend(&chart, true);
    for (int k = 0; k < data->shots; k++) {
        int row = k / columns;
        shot.left = 4.0 + (k % columns) * (third + between);
        shot.top = top + row * (shot.height + above);
        put_shot(svg, &shot, data, k);
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

void pp_draw_paths(const pp_run_data *data, pp_svg *svg)
{
    if (data->film->info->spatial) {
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
    bool many = pp_moving_bodies(data) > PP_FEW - 1;
    if (many) {
        pp_scene_paths(svg, &view, data);
    }
    for (int k = 0; k < data->shots; k++) {
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
    if (data->film->info->spatial) {
        pp_svg_put(html,
                   "The scene at equal intervals until its motion ends; below: the last snapshot "
                   "from above and from the front, with the paths of the centres of mass.");
        return;
    }
    pp_svg_put(html, data->shots > 1 ? "The scene at equal intervals until its motion ends, later "
                                       "is darker; lines: paths of the centres of mass."
                                     : "The scene; nothing moves.");
}

bool pp_paths_wide(const pp_run_data *data)
{
    return data->film->info->spatial || pp_view_of(data).width > PP_COLUMN;
}
