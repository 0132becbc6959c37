// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Pictures for gnuplot: outlines of planar bodies at the times of the snapshots, and paths.
#include "plot/draw/script.h"
#include "plot/figures/figures.h"
#include "plot/figures/scene.h"

#include <math.h>

enum { ARC = 8 };  // pieces of a quarter turn

static perp_vec3 to_world(const pp_plot_snapshot *shot, int body, perp_vec3 v)
{
    double c = cos(shot->angle[body]), s = sin(shot->angle[body]);
    return (perp_vec3){shot->position[body].x + c * v.x - s * v.y,
                       shot->position[body].y + s * v.x + c * v.y, 0.0};
}

static void put_point(pp_svg *text, perp_vec3 p)
{
    if (isfinite(p.x) && isfinite(p.y)) {
        pp_script_row(text, 2, (double[]){p.x, p.y});
    }
}

// The part of a circle about v that lies between the normals of the edges from u to v and from v to w.
static void put_corner(pp_svg *text, const pp_plot_snapshot *shot, const perp_recorded_shape *shape,
                       int k)
{
    int n = shape->outline_count;
    perp_vec3 u = shape->outline[(k + n - 1) % n], v = shape->outline[k],
              w = shape->outline[(k + 1) % n];
    if (!(shape->radius > 0.0)) {
        put_point(text, to_world(shot, shape->body.i, v));
        return;
    }
    double full = 2.0 * acos(-1.0);
    double from = n > 1 ? atan2(-(v.x - u.x), v.y - u.y) : 0.0;
    double to = n > 1 ? atan2(-(w.x - v.x), w.y - v.y) : full;
    to += to < from ? full : 0.0;
    int pieces = (int)ceil((to - from) / full * 4.0 * ARC) + 1;
    for (int i = 0; i <= pieces; i++) {
        double a = from + (to - from) * i / pieces;
        perp_vec3 p = {v.x + shape->radius * cos(a), v.y + shape->radius * sin(a), 0.0};
        put_point(text, to_world(shot, shape->body.i, p));
    }
}

static void put_outline(pp_svg *text, const pp_plot_snapshot *shot,
                        const perp_recorded_shape *shape)
{
    pp_script_gap(text);
    for (int k = 0; k < shape->outline_count; k++) {
        put_corner(text, shot, shape, k);
    }
    if (shape->outline_count > 1) {
        perp_recorded_shape closing = *shape;
        closing.radius = 0.0;
        put_corner(text, shot, shape->radius > 0.0 ? shape : &closing, 0);
    }
}

static void put_line(pp_script *script, const pp_plot_snapshot *shot,
                     const perp_recorded_shape *shape, const pp_view *view)
{
    perp_vec3 p = to_world(shot, shape->body.i, shape->outline[0]);
    perp_vec3 tip = {shape->outline[0].x + shape->outline[1].x,
                     shape->outline[0].y + shape->outline[1].y, 0.0};
    perp_vec3 n = to_world(shot, shape->body.i, tip);
    double far = hypot(view->high.x - view->low.x, view->high.y - view->low.y) + hypot(p.x, p.y);
    double tx = n.y - p.y, ty = p.x - n.x;
    pp_script_segment(script, 0, (pp_pen){.stroke = PP_INK, .width = 1.0},
                      (double[]){p.x - far * tx, p.y - far * ty},
                      (double[]){p.x + far * tx, p.y + far * ty});
}

void pp_script_outlines(pp_script *script, const pp_run_data *data, const pp_view *view, int first)
{
    const pp_plot_source *film = data->film;
    for (int k = 0; script && k < film->info->shapes; k++) {
        const perp_recorded_shape *shape = &film->shape[k];
        bool moves = data->path[shape->body.i] != NULL;
        const pp_plot_snapshot *last = &data->shot[data->shots - 1];
        if (shape->outline_count < 1) {
            continue;
        }
        if (shape->kind == PERP_SHAPE_HALFPLANE) {
            if (!moves) {
                put_line(script, last, shape, view);
            }
            continue;
        }
        const char *colour = moves ? pp_body_colour(data, shape->body.i) : PP_INK;
        pp_svg *text = pp_script_block(script, 0, PP_BLOCK_LINES,
                                       (pp_pen){.stroke = colour, .width = 0.6}, true);
        for (int s = moves ? first : data->shots - 1; text && s < data->shots; s++) {
            put_outline(text, &data->shot[s], shape);
        }
    }
}

void pp_script_springs(pp_script *script, const pp_run_data *data, int first)
{
    for (int k = 0; script && k < data->film->info->springs; k++) {
        const perp_recorded_spring *spring = &data->film->spring[k];
        for (int s = first; s < data->shots; s++) {
            perp_vec3 a = to_world(&data->shot[s], spring->a.i, spring->anchor_A);
            perp_vec3 b = to_world(&data->shot[s], spring->b.i, spring->anchor_B);
            pp_script_segment(script, 0, (pp_pen){.stroke = PP_RULE, .width = 0.6},
                              (double[]){a.x, a.y}, (double[]){b.x, b.y});
        }
    }
}

void pp_script_paths(pp_script *script, int panel, const pp_run_data *data, const char *dash)
{
    for (int b = 0; script && b < data->film->info->bodies; b++) {
        if (!data->path[b]) {
            continue;
        }
        pp_pen pen = {.stroke = pp_body_colour(data, b), .width = 1.0, .dash = dash};
        pp_svg *text = pp_script_block(script, panel, PP_BLOCK_LINES, pen, true);
        if (!text) {
            continue;
        }
        pp_script_gap(text);
        for (int k = 0; k < data->path_points; k++) {
            perp_vec3 p = data->path[b][k];
            put_point(text, (perp_vec3){p.x, panel == 0 ? p.y : p.z, 0.0});
        }
    }
}

void pp_script_picture(pp_script *script, const pp_chart *keys, const pp_view *view, int views)
{
    pp_chart chart = *keys;
    chart.panels = views;
    for (int k = 0; script && k < views; k++) {
        chart.panel[k] = (pp_panel){.x = {.label = "*x*", .unit = "m"},
                                    .y = {.label = k == 0 ? "*y*" : "*z*", .unit = "m"},
                                    .sx = {.low = view[k].low.x, .high = view[k].high.x},
                                    .sy = {.low = view[k].low.y, .high = view[k].high.y}};
    }
    pp_script_finish(script, &chart, true);
}
