// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Pictures for gnuplot: outlines of planar bodies at the times of the snapshots, and paths.
#include "math/math.h"
#include "plot/draw/script.h"
#include "plot/figures/figures.h"
#include "plot/figures/scene.h"

#include <math.h>

enum { ARC = 8 };  // pieces of a quarter turn

// A point of a body in the world [m], in the plane.
static perp_vec3 to_world(const pp_plot_snapshot *snapshot, int body, perp_vec3 v)
{
    double c = pp_cos(snapshot->angle[body]), s = pp_sin(snapshot->angle[body]);
    return (perp_vec3){snapshot->position[body].x + c * v.x - s * v.y,
                       snapshot->position[body].y + s * v.x + c * v.y, 0.0};
}

// Places that are not finite are left out.
static void put_point(pp_svg *text, perp_vec3 p)
{
    if (isfinite(p.x) && isfinite(p.y)) {
        pp_script_row(text, 2, (double[]){p.x, p.y});
    }
}

// The part of a circle about v that lies between the normals of the edges from u to v and from v to
// w.
static void put_corner(pp_svg *text, const pp_plot_snapshot *snapshot,
                       const perp_recorded_shape *shape, int k)
{
    int n = shape->outline_count;
    perp_vec3 u = shape->outline[(k + n - 1) % n], v = shape->outline[k],
              w = shape->outline[(k + 1) % n];
    if (!(shape->radius > 0.0)) {
        put_point(text, to_world(snapshot, shape->body.i, v));
        return;
    }
    // Angles of the two normals; a disc goes all the way around.
    double full = 2.0 * pp_acos(-1.0);
    double from = n > 1 ? pp_atan2(-(v.x - u.x), v.y - u.y) : 0.0;
    double to = n > 1 ? pp_atan2(-(w.x - v.x), w.y - v.y) : full;
    to += to < from ? full : 0.0;
    // Short arcs have few pieces.
    int pieces = (int)ceil((to - from) / full * 4.0 * ARC) + 1;
    for (int i = 0; i <= pieces; i++) {
        double a = from + (to - from) * i / pieces;
        perp_vec3 p = {v.x + shape->radius * pp_cos(a), v.y + shape->radius * pp_sin(a), 0.0};
        put_point(text, to_world(snapshot, shape->body.i, p));
    }
}

// Closed: the first corner is repeated. Shapes without a radius repeat its point alone.
static void put_outline(pp_svg *text, const pp_plot_snapshot *snapshot,
                        const perp_recorded_shape *shape)
{
    pp_script_gap(text);
    for (int k = 0; k < shape->outline_count; k++) {
        put_corner(text, snapshot, shape, k);
    }
    if (shape->outline_count > 1) {
        perp_recorded_shape closing = *shape;
        closing.radius = 0.0;
        put_corner(text, snapshot, shape->radius > 0.0 ? shape : &closing, 0);
    }
}

// The line of a half-plane, far enough to cross the picture. n is the tip of the normal.
static void put_line(pp_script *script, const pp_plot_snapshot *snapshot,
                     const perp_recorded_shape *shape, const pp_view *view)
{
    perp_vec3 p = to_world(snapshot, shape->body.i, shape->outline[0]);
    perp_vec3 tip = {shape->outline[0].x + shape->outline[1].x,
                     shape->outline[0].y + shape->outline[1].y, 0.0};
    perp_vec3 n = to_world(snapshot, shape->body.i, tip);
    // Longer than the diagonal, from wherever the given point is.
    double far =
        pp_hypot(view->high.x - view->low.x, view->high.y - view->low.y) + pp_hypot(p.x, p.y);
    double tx = n.y - p.y, ty = p.x - n.x;
    pp_script_segment(script, 0, (pp_pen){.stroke = PP_INK, .width = 1.0},
                      (double[]){p.x - far * tx, p.y - far * ty},
                      (double[]){p.x + far * tx, p.y + far * ty});
}

// What never moves is drawn once, as it is at the end.
void pp_script_outlines(pp_script *script, const pp_run_data *data, const pp_view *view, int first)
{
    const pp_plot_source *source = data->source;
    if (!script) {
        return;
    }
    for (int k = 0; k < source->info->shapes; k++) {
        const perp_recorded_shape *shape = &source->shape[k];
        bool moves = data->path[shape->body.i] != NULL;
        const pp_plot_snapshot *last = &data->snapshot[data->snapshots - 1];
        if (shape->outline_count < 1) {
            continue;
        }
        if (shape->kind == PERP_SHAPE_HALFPLANE) {
            if (!moves) {
                put_line(script, last, shape, view);
            }
            continue;
        }
        // Outlines of one colour share a block, so that many bodies do not need many blocks.
        const char *colour = moves ? pp_body_colour(data, shape->body.i) : PP_INK;
        pp_svg *text = pp_script_block(script, 0, PP_BLOCK_LINES,
                                       (pp_pen){.stroke = colour, .width = 0.6}, true);
        if (!text) {
            continue;
        }
        for (int s = moves ? first : data->snapshots - 1; s < data->snapshots; s++) {
            put_outline(text, &data->snapshot[s], shape);
        }
    }
}

void pp_script_springs(pp_script *script, const pp_run_data *data, int first)
{
    if (!script) {
        return;
    }
    for (int k = 0; k < data->source->info->springs; k++) {
        const perp_recorded_spring *spring = &data->source->spring[k];
        for (int s = first; s < data->snapshots; s++) {
            perp_vec3 a = to_world(&data->snapshot[s], spring->a.i, spring->anchor_A);
            perp_vec3 b = to_world(&data->snapshot[s], spring->b.i, spring->anchor_B);
            pp_script_segment(script, 0, (pp_pen){.stroke = PP_RULE, .width = 0.6},
                              (double[]){a.x, a.y}, (double[]){b.x, b.y});
        }
    }
}

// panel 0 shows x and y, panel 1 x and z.
void pp_script_paths(pp_script *script, int panel, const pp_run_data *data, const char *dash)
{
    if (!script) {
        return;
    }
    for (int b = 0; b < data->source->info->bodies; b++) {
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
    if (!script) {
        return;
    }
    pp_chart chart = *keys;
    chart.panels = views;
    for (int k = 0; k < views; k++) {
        chart.panel[k] = (pp_panel){.x = {.label = "*x*", .unit = "m"},
                                    .y = {.label = k == 0 ? "*y*" : "*z*", .unit = "m"},
                                    .sx = {.low = view[k].low.x, .high = view[k].high.x},
                                    .sy = {.low = view[k].low.y, .high = view[k].high.y}};
    }
    pp_script_finish(script, &chart, true);
}
