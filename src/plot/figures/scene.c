// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Planar scenes as SVG: what is seen of them, outlines, hatching, paths, joints, springs.
//
// The world has metres and y upwards, the page points and y downwards; pp_view_x and pp_view_y lead
// from one to the other. Outlines are recorded in the frame of the body, and placed by the pose of
// the body in a snapshot.
#include "plot/figures/scene.h"
#include "math/math.h"

#include <math.h>

// On the page [pt].
static const double hatch = 4.0;  // between hatching lines

// Places on the page [pt] of places in the world [m].
double pp_view_x(const pp_view *view, double x)
{
    return view->left + (x - view->low.x) * view->scale;
}

double pp_view_y(const pp_view *view, double y)
{
    return view->top + (view->high.y - y) * view->scale;
}

// A vector of the body, in world axes.
static perp_vec3 turned(const pp_plot_snapshot *snapshot, int body, perp_vec3 v)
{
    double c = pp_cos(snapshot->angle[body]), s = pp_sin(snapshot->angle[body]);
    return (perp_vec3){c * v.x - s * v.y, s * v.x + c * v.y, 0.0};
}

// A point of the body, in the world [m].
static perp_vec3 to_world(const pp_plot_snapshot *snapshot, int body, perp_vec3 v)
{
    perp_vec3 r = turned(snapshot, body, v), p = snapshot->position[body];
    return (perp_vec3){p.x + r.x, p.y + r.y, 0.0};
}

// ── Colours ──────────────────────────────────────────────────────────────────────────────────────

// Free and driven ones.
int pp_moving_bodies(const pp_run_data *data)
{
    int count = 0;
    for (int b = 0; b < data->source->info->bodies; b++) {
        count += data->source->body[b].motion != PERP_MOTION_STATIC;
    }
    return count;
}

// One colour each, as long as there are enough; else one for all free bodies and one for driven
// ones.
const char *pp_body_colour(const pp_run_data *data, int body)
{
    if (data->source->colour) {
        return data->source->colour;
    }
    if (pp_moving_bodies(data) > PP_FEW - 1) {
        return data->source->body[body].motion == PERP_MOTION_KINEMATIC ? PP_RED : PP_BLUE;
    }
    // Colours are given to moving bodies in their order.
    int at = 0;
    for (int b = 0; b < body; b++) {
        at += data->source->body[b].motion != PERP_MOTION_STATIC;
    }
    return pp_colour(at);
}

// From a quarter to full.
double pp_plot_snapshot_opacity(const pp_run_data *data, int snapshot)
{
    return data->snapshots == 1 ? 1.0 : 0.25 + 0.75 * snapshot / (data->snapshots - 1);
}

// ── What is seen ─────────────────────────────────────────────────────────────────────────────────

// A rectangle in the world [m].
typedef struct extent {
    pp_range x, y;
} extent;

// The square of a disc; places that are not finite are left out.
static void box_add(extent *box, perp_vec3 p, double radius)
{
    if (isfinite(p.x) && isfinite(p.y)) {
        pp_range_add(&box->x, p.x - radius);
        pp_range_add(&box->x, p.x + radius);
        pp_range_add(&box->y, p.y - radius);
        pp_range_add(&box->y, p.y + radius);
    }
}

// Of half-planes none: they have no end.
static extent shape_box(const pp_plot_snapshot *snapshot, const perp_recorded_shape *shape)
{
    extent box = {pp_range_none(), pp_range_none()};
    if (shape->kind == PERP_SHAPE_HALFPLANE) {
        return box;
    }
    for (int v = 0; v < shape->outline_count; v++) {
        box_add(&box, to_world(snapshot, shape->body.i, shape->outline[v]), shape->radius);
    }
    return box;
}

static void box_join(extent *to, const extent *from)
{
    pp_range_join(&to->x, &from->x);
    pp_range_join(&to->y, &from->y);
}

// Whether the anchors of a joint are places that can be drawn: those of gears and angles are not.
static bool has_place(const perp_recorded_joint *joint)
{
    return joint->kind != PERP_JOINT_GEAR && joint->kind != PERP_JOINT_COUPLING &&
           joint->kind != PERP_JOINT_ANGLE && joint->a.i >= 0 && joint->b.i >= 0;
}

// What moves, in all snapshots, with its joints and paths.
static extent moving_box(const pp_run_data *s)
{
    extent all = {pp_range_none(), pp_range_none()};
    for (int k = 0; k < s->source->info->shapes; k++) {
        const perp_recorded_shape *shape = &s->source->shape[k];
        if (!s->path[shape->body.i]) {  // it never moves
            continue;
        }
        for (int i = 0; i < s->snapshots; i++) {
            extent one = shape_box(&s->snapshot[i], shape);
            box_join(&all, &one);
        }
    }
    for (int j = 0; j < s->source->info->joints; j++) {
        const perp_recorded_joint *joint = &s->source->joint[j];
        if (!has_place(joint)) {
            continue;
        }
        for (int i = 0; i < s->snapshots; i++) {
            box_add(&all, to_world(&s->snapshot[i], joint->a.i, joint->anchor_A), 0.0);
            box_add(&all, to_world(&s->snapshot[i], joint->b.i, joint->anchor_B), 0.0);
        }
    }
    for (int b = 0; b < s->source->info->bodies; b++) {
        int points = s->path[b] ? s->path_points : 0;
        for (int k = 0; k < points; k++) {
            box_add(&all, s->path[b][k], 0.0);
        }
    }
    return all;
}

// The longer side; negative while nothing is in it.
static double extent_size(const extent *box)
{
    return fmax(box->x.high - box->x.low, box->y.high - box->y.low);
}

// Shapes that stand still are seen whole when they are at most three times as large as what moves.
// Of others, and of half-planes, the part near the moving bodies is seen.
static void add_still(const pp_run_data *s, extent *all)
{
    extent moving = *all;
    double size = extent_size(&moving);
    bool none = !(size >= 0.0);
    const pp_plot_snapshot *snapshot = &s->snapshot[0];
    for (int k = 0; k < s->source->info->shapes; k++) {
        const perp_recorded_shape *shape = &s->source->shape[k];
        if (s->path[shape->body.i]) {
            continue;
        }
        extent one = shape_box(snapshot, shape);
        if (none || extent_size(&one) <= 3.0 * size) {
            box_join(all, &one);
            // A large floor: its upper side.
        } else if (shape->kind != PERP_SHAPE_HALFPLANE) {
            double top = one.y.high;
            bool near = top < moving.y.high && top > moving.y.low - 0.5 * size;
            pp_range_add(&all->y, near ? top : moving.y.low);
        } else {
            perp_vec3 p = to_world(snapshot, shape->body.i, shape->outline[0]);
            perp_vec3 n = turned(snapshot, shape->body.i, shape->outline[1]);
            // The point of its line nearest to the middle of what moves.
            perp_vec3 c = {0.5 * (moving.x.low + moving.x.high),
                           0.5 * (moving.y.low + moving.y.high), 0};
            double d = (c.x - p.x) * n.x + (c.y - p.y) * n.y;
            if (fabs(d) < 1.5 * size) {
                box_add(all, (perp_vec3){c.x - d * n.x, c.y - d * n.y, 0.0}, 0.0);
            }
        }
    }
}

// What is left over of the page is shared between both sides, since x and y have the same scale.
static void share_rest(pp_view *v)
{
    // In metres, on each side.
    double more_x = 0.5 * (v->width / v->scale - (v->high.x - v->low.x));
    double more_y = 0.5 * (v->height / v->scale - (v->high.y - v->low.y));
    v->low.x -= more_x;
    v->high.x += more_x;
    v->low.y -= more_y;
    v->high.y += more_y;
}

// For two runs over each other.
pp_view pp_view_join(const pp_view *a, const pp_view *b, double width, double height)
{
    pp_view v = {.low = {fmin(a->low.x, b->low.x), fmin(a->low.y, b->low.y), 0.0},
                 .high = {fmax(a->high.x, b->high.x), fmax(a->high.y, b->high.y), 0.0},
                 .width = width};
    double high = v.high.y - v.low.y;
    v.scale = fmin(width / (v.high.x - v.low.x), height / high);
    v.height = fmax(high * v.scale, 40.0);
    share_rest(&v);
    return v;
}

// A wide scene goes over both columns of a page.
pp_view pp_view_of(const pp_run_data *data)
{
    extent all = moving_box(data);
    add_still(data, &all);
    // Nothing to see at all: a square metre.
    if (!(all.x.low <= all.x.high)) {
        all = (extent){{-0.5, 0.5, 0.5}, {-0.5, 0.5, 0.5}};
    }
    double size = fmax(extent_size(&all), 1e-9);
    // So that nothing touches the edge.
    double air = 0.04 * size;
    pp_view v = {.low = {all.x.low - air, all.y.low - air, 0.0},
                 .high = {all.x.high + air, all.y.high + air, 0.0}};
    double wide = v.high.x - v.low.x, high = v.high.y - v.low.y;
    // A narrow scene in two columns would be needlessly tall.
    double page = wide > 2.4 * high ? PP_PAGE : PP_COLUMN;
    double most_high = page == PP_PAGE ? 200.0 : 260.0;
    v.width = page - 8.0;
    v.left = 4.0;
    v.scale = fmin(v.width / wide, most_high / high);
    v.height = fmax(high * v.scale, 40.0);
    share_rest(&v);
    return v;
}

// ── Outlines ─────────────────────────────────────────────────────────────────────────────────────

// The point `from` of the edge v w, moved out by the radius along the normal of the edge. Outlines
// are counter-clockwise: outside is to the right.
static perp_vec3 offset_vertex(perp_vec3 v, perp_vec3 w, perp_vec3 from, double radius)
{
    double x = w.x - v.x, y = w.y - v.y, length = pp_hypot(x, y);
    if (!(length > 0.0)) {
        return from;
    }
    return (perp_vec3){from.x + radius * y / length, from.y - radius * x / length, 0.0};
}

// Edges moved out by the radius, joined by arcs: polygons, boxes, capsules and segments alike. A
// capsule is a polygon of two edges, there and back.
static void round_outline(pp_svg *svg, const pp_view *view, const pp_plot_snapshot *snapshot,
                          const perp_recorded_shape *shape)
{
    int n = shape->outline_count;
    double r = shape->radius;
    pp_svg_put(svg, "<path d=\"");
    for (int k = 0; k < n; k++) {
        perp_vec3 v = to_world(snapshot, shape->body.i, shape->outline[k]);
        perp_vec3 w = to_world(snapshot, shape->body.i, shape->outline[(k + 1) % n]);
        perp_vec3 a = offset_vertex(v, w, v, r), b = offset_vertex(v, w, w, r);
        double ax = pp_view_x(view, a.x), ay = pp_view_y(view, a.y);
        // An arc about the vertex leads from the edge before to this one.
        if (k == 0) {
            pp_svg_move(svg, ax, ay);
        } else if (r > 0.0) {
            pp_svg_arc(svg, r * view->scale, false, ax, ay);
        }
        pp_svg_to(svg, pp_view_x(view, b.x), pp_view_y(view, b.y));
        if (k == n - 1 && r > 0.0) {
            perp_vec3 first = to_world(snapshot, shape->body.i, shape->outline[0]);
            perp_vec3 next = to_world(snapshot, shape->body.i, shape->outline[1 % n]);
            perp_vec3 end = offset_vertex(first, next, first, r);
            pp_svg_arc(svg, r * view->scale, false, pp_view_x(view, end.x), pp_view_y(view, end.y));
        }
    }
    if (n > 2 || r > 0.0) {
        pp_svg_shut(svg);
    }
    pp_svg_end_path(svg);
}

// A disc with a radius that shows how it turns.
static void draw_disc(pp_svg *svg, const pp_view *view, const pp_plot_snapshot *snapshot,
                      const perp_recorded_shape *shape)
{
    // In the frame of the body, along its x axis.
    perp_vec3 rim = shape->outline[0];
    perp_vec3 c = to_world(snapshot, shape->body.i, rim);
    rim.x += shape->radius;
    perp_vec3 e = to_world(snapshot, shape->body.i, rim);
    double x = pp_view_x(view, c.x), y = pp_view_y(view, c.y);
    pp_svg_circle(svg, x, y, shape->radius * view->scale, (pp_pen){0});
    pp_svg_line(svg, x, y, pp_view_x(view, e.x), pp_view_y(view, e.y), (pp_pen){.width = 0.4});
}

// A half-plane on a body that moves is drawn as a face of it: a stretch of its line.
static void draw_face(pp_svg *svg, const pp_view *view, const pp_plot_snapshot *snapshot,
                      const perp_recorded_shape *shape)
{
    perp_vec3 p = to_world(snapshot, shape->body.i, shape->outline[0]);
    perp_vec3 n = turned(snapshot, shape->body.i, shape->outline[1]);
    // Along (n_y, -n_x), with y turned over on the page.
    double x = pp_view_x(view, p.x), y = pp_view_y(view, p.y), half = 14.0;
    pp_svg_line(svg, x - half * n.y, y - half * n.x, x + half * n.y, y + half * n.x,
                (pp_pen){.width = 1.6});
}

// Half-plane, polygon or capsule, disc, point.
static void draw_outline(pp_svg *svg, const pp_view *view, const pp_plot_snapshot *snapshot,
                         const perp_recorded_shape *shape, const char *colour)
{
    if (shape->outline_count < 1) {
        return;
    }
    if (shape->kind == PERP_SHAPE_HALFPLANE) {
        draw_face(svg, view, snapshot, shape);
    } else if (shape->outline_count > 1) {
        round_outline(svg, view, snapshot, shape);
    } else if (shape->radius > 0.0) {
        draw_disc(svg, view, snapshot, shape);
    } else {
        perp_vec3 p = to_world(snapshot, shape->body.i, shape->outline[0]);
        pp_svg_circle(svg, pp_view_x(view, p.x), pp_view_y(view, p.y), 1.7,
                      (pp_pen){.fill = colour, .veil = 1.0});
    }
}

// From the centre of mass to a point of the body.
static void draw_bone(pp_svg *svg, const pp_view *view, const pp_plot_snapshot *snapshot, int body,
                      perp_vec3 to)
{
    perp_vec3 c = snapshot->position[body], p = to_world(snapshot, body, to);
    pp_svg_line(svg, pp_view_x(view, c.x), pp_view_y(view, c.y), pp_view_x(view, p.x),
                pp_view_y(view, p.y), (pp_pen){.width = 1.6});
}

// A body without outlines: lines from its centre of mass to its points and joints. A body with an
// outline has no need of them.
static void draw_skeleton(pp_svg *svg, const pp_view *view, const pp_run_data *data, int snapshot,
                          int body)
{
    const pp_plot_source *source = data->source;
    for (int k = 0; k < source->info->shapes; k++) {
        if (source->shape[k].body.i == body && source->shape[k].kind != PERP_SHAPE_POINT &&
            source->shape[k].kind != PERP_SHAPE_HALFPLANE) {
            return;
        }
    }
    for (int k = 0; k < source->info->shapes; k++) {
        if (source->shape[k].body.i == body && source->shape[k].outline_count > 0) {
            draw_bone(svg, view, &data->snapshot[snapshot], body, source->shape[k].outline[0]);
        }
    }
    for (int j = 0; j < source->info->joints; j++) {
        const perp_recorded_joint *joint = &source->joint[j];
        if (has_place(joint) && joint->a.i == body) {
            draw_bone(svg, view, &data->snapshot[snapshot], body, joint->anchor_A);
        }
        if (has_place(joint) && joint->b.i == body) {
            draw_bone(svg, view, &data->snapshot[snapshot], body, joint->anchor_B);
        }
    }
}

// Fills of earlier snapshots are lighter than their lines.
void pp_scene_bodies(pp_svg *svg, const pp_view *view, const pp_run_data *data, int snapshot)
{
    double age = pp_plot_snapshot_opacity(data, snapshot);
    pp_svg_group(svg, (pp_pen){.opacity = age});
    for (int b = 0; b < data->source->info->bodies; b++) {
        if (!data->path[b]) {
            continue;
        }
        const char *colour = pp_body_colour(data, b);
        pp_svg_group(svg, (pp_pen){.stroke = colour,
                                   .fill = colour,
                                   .width = pp_moving_bodies(data) > 40 ? 0.4 : 0.8,
                                   .veil = 0.03 + 0.27 * age * age});
        draw_skeleton(svg, view, data, snapshot, b);
        for (int k = 0; k < data->source->info->shapes; k++) {
            if (data->source->shape[k].body.i == b) {
                draw_outline(svg, view, &data->snapshot[snapshot], &data->source->shape[k], colour);
            }
        }
        pp_svg_end_group(svg);
    }
    pp_svg_end_group(svg);
}

// ── What never moves ─────────────────────────────────────────────────────────────────────────────

// Strokes under the line from a towards b on the page, at 45 degrees, on the side away from the
// normal. At most a thousand strokes.
static void hatch_under(pp_svg *svg, perp_vec3 a, perp_vec3 b)
{
    double length = pp_hypot(b.x - a.x, b.y - a.y);
    double ux = (b.x - a.x) / length, uy = (b.y - a.y) / length;
    pp_svg_path(svg, (pp_pen){.stroke = PP_GREY, .width = 0.5});
    // A line that leaves the page by far has strokes on its first part only.
    int strokes = (int)(fmin(length, 4000.0) / hatch + 0.5);
    for (int k = 0; k < strokes; k++) {
        // Strokes go back and away from the normal.
        double d = (k + 0.5) * hatch, x = a.x + d * ux, y = a.y + d * uy;
        pp_svg_move(svg, x, y);
        pp_svg_to(svg, x - 4.0 * ux - 4.0 * uy, y - 4.0 * uy + 4.0 * ux);
    }
    pp_svg_end_path(svg);
    pp_svg_line(svg, a.x, a.y, b.x, b.y, (pp_pen){.stroke = PP_INK, .width = 0.9});
}

// Its material is on the side away from the normal.
static void draw_half_plane(pp_svg *svg, const pp_view *view, const pp_plot_snapshot *snapshot,
                            const perp_recorded_shape *shape)
{
    perp_vec3 p = to_world(snapshot, shape->body.i, shape->outline[0]);
    perp_vec3 n = turned(snapshot, shape->body.i, shape->outline[1]);
    // The part of the line nearest to the middle of the view, long enough to cross it.
    double mx = 0.5 * (view->low.x + view->high.x) - p.x,
           my = 0.5 * (view->low.y + view->high.y) - p.y;
    // Along the line, whose direction is (n_y, -n_x).
    double along = mx * n.y - my * n.x;
    double reach = pp_hypot(view->high.x - view->low.x, view->high.y - view->low.y);
    double from = along - reach, to = along + reach;
    perp_vec3 a = {pp_view_x(view, p.x + from * n.y), pp_view_y(view, p.y - from * n.x), 0.0};
    perp_vec3 b = {pp_view_x(view, p.x + to * n.y), pp_view_y(view, p.y - to * n.x), 0.0};
    hatch_under(svg, a, b);
}

// Where the line x + y = c of the page crosses the edge v w; false: nowhere.
static bool crossing(perp_vec3 v, perp_vec3 w, double c, perp_vec3 *out)
{
    double a = v.x + v.y - c, b = w.x + w.y - c;
    // Both ends on the same side.
    if ((a < 0.0) == (b < 0.0)) {
        return false;
    }
    double part = a / (a - b);
    *out = (perp_vec3){v.x + part * (w.x - v.x), v.y + part * (w.y - v.y), 0.0};
    return true;
}

// A vertex of a shape on the page; the one after the last is the first.
static perp_vec3 on_page(const pp_view *view, const pp_plot_snapshot *snapshot,
                         const perp_recorded_shape *shape, int vertex)
{
    perp_vec3 p = to_world(snapshot, shape->body.i, shape->outline[vertex % shape->outline_count]);
    return (perp_vec3){pp_view_x(view, p.x), pp_view_y(view, p.y), 0.0};
}

// Lines at 45 degrees inside a convex polygon, as far as it is seen: each crosses its outline
// twice.
static void hatch_inside(pp_svg *svg, const pp_view *view, const pp_plot_snapshot *snapshot,
                         const perp_recorded_shape *shape)
{
    pp_range c = pp_range_none();
    for (int k = 0; k < shape->outline_count; k++) {
        perp_vec3 p = on_page(view, snapshot, shape, k);
        pp_range_add(&c, p.x + p.y);
    }
    // x + y at the corners of the view: only what is seen is hatched.
    double from = fmax(c.low, view->left + view->top);
    double to = fmin(c.high, view->left + view->width + view->top + view->height);
    pp_svg_path(svg, (pp_pen){.stroke = PP_GREY, .width = 0.5});
    double pitch = 1.4 * hatch, first = ceil(from / pitch);
    for (int stroke = 0; (first + stroke) * pitch < to; stroke++) {
        double at = (first + stroke) * pitch;
        perp_vec3 end[2];
        int found = 0;
        for (int k = 0; k < shape->outline_count && found < 2; k++) {
            found += crossing(on_page(view, snapshot, shape, k),
                              on_page(view, snapshot, shape, k + 1), at, &end[found]);
        }
        if (found == 2) {
            pp_svg_move(svg, end[0].x, end[0].y);
            pp_svg_to(svg, end[1].x, end[1].y);
        }
    }
    pp_svg_end_path(svg);
}

// Shapes that never moved, with hatching where they are filled.
void pp_scene_ground(pp_svg *svg, const pp_view *view, const pp_run_data *data)
{
    const pp_plot_snapshot *snapshot = &data->snapshot[data->snapshots - 1];
    for (int k = 0; k < data->source->info->shapes; k++) {
        const perp_recorded_shape *shape = &data->source->shape[k];
        if (data->path[shape->body.i]) {
            continue;
        }
        if (shape->kind == PERP_SHAPE_HALFPLANE) {
            draw_half_plane(svg, view, snapshot, shape);
            continue;
        }
        if (shape->outline_count > 2 && !(shape->radius > 0.0)) {
            hatch_inside(svg, view, snapshot, shape);
        } else if (shape->outline_count == 2 && !(shape->radius > 0.0)) {
            perp_vec3 a = on_page(view, snapshot, shape, 0), b = on_page(view, snapshot, shape, 1);
            // A segment has material on neither side: it is hatched below.
            hatch_under(svg, a.x <= b.x ? a : b, a.x <= b.x ? b : a);
        }
        pp_svg_group(svg, (pp_pen){.stroke = PP_INK, .width = 0.9, .fill = PP_GREY, .veil = 0.15});
        draw_outline(svg, view, snapshot, shape, PP_INK);
        pp_svg_end_group(svg);
    }
}

// ── Paths and joints ─────────────────────────────────────────────────────────────────────────────

// A polyline. Points nearer to each other than the pen is wide are left out; places that are not
// finite break it.
static void draw_path(pp_svg *svg, const pp_view *view, const pp_run_data *data,
                      const perp_vec3 *point)
{
    double x0 = 0.0, y0 = 0.0;
    bool begun = false;
    for (int k = 0; k < data->path_points; k++) {
        double x = pp_view_x(view, point[k].x), y = pp_view_y(view, point[k].y);
        bool there = isfinite(x) && isfinite(y);
        if (there && begun && pp_hypot(x - x0, y - y0) < 0.4) {
            continue;
        }
        if (there && begun) {
            pp_svg_to(svg, x, y);
        } else if (there) {
            pp_svg_move(svg, x, y);
        }
        begun = there;
        x0 = x;
        y0 = y;
    }
}

// A dot marks the end, unless there are many.
void pp_scene_paths(pp_svg *svg, const pp_view *view, const pp_run_data *data)
{
    bool many = pp_moving_bodies(data) > PP_FEW - 1;
    for (int b = 0; b < data->source->info->bodies; b++) {
        if (data->path[b]) {
            pp_svg_path(svg, (pp_pen){.stroke = pp_body_colour(data, b),
                                      .width = many ? 0.4 : 0.8,
                                      .opacity = many ? 0.6 : 1.0});
            draw_path(svg, view, data, data->path[b]);
            pp_svg_end_path(svg);
        }
    }
    const pp_plot_snapshot *last = &data->snapshot[data->snapshots - 1];
    if (many) {
        return;
    }
    for (int b = 0; b < data->source->info->bodies; b++) {
        if (data->path[b] && isfinite(last->position[b].x + last->position[b].y)) {
            pp_svg_circle(svg, pp_view_x(view, last->position[b].x),
                          pp_view_y(view, last->position[b].y), 1.3,
                          (pp_pen){.fill = pp_body_colour(data, b)});
        }
    }
}

// Circles at the pins; of a distance also the rod. More than 20 would cover the bodies.
void pp_scene_joints(pp_svg *svg, const pp_view *view, const pp_run_data *data)
{
    const pp_plot_snapshot *last = &data->snapshot[data->snapshots - 1];
    int joints = data->source->info->joints;
    if (joints > 20) {
        return;
    }
    for (int j = 0; j < joints; j++) {
        const perp_recorded_joint *joint = &data->source->joint[j];
        bool pin = joint->kind == PERP_JOINT_REVOLUTE || joint->kind == PERP_JOINT_DISTANCE ||
                   joint->kind == PERP_JOINT_POINT_ON_LINE;
        if (!pin || joint->a.i < 0 || joint->b.i < 0) {
            continue;
        }
        perp_vec3 a = to_world(last, joint->a.i, joint->anchor_A);
        perp_vec3 b = to_world(last, joint->b.i, joint->anchor_B);
        double ax = pp_view_x(view, a.x), ay = pp_view_y(view, a.y);
        double bx = pp_view_x(view, b.x), by = pp_view_y(view, b.y);
        // White inside, over whatever is below.
        pp_pen pen = {.stroke = PP_INK, .width = 0.6, .fill = "#ffffff"};
        if (joint->kind == PERP_JOINT_DISTANCE) {
            pp_svg_line(svg, ax, ay, bx, by, (pp_pen){.stroke = PP_INK, .width = 0.6});
            pp_svg_circle(svg, ax, ay, 1.6, pen);
        }
        pp_svg_circle(svg, bx, by, 1.6, pen);
    }
}

// ── Scale bar ────────────────────────────────────────────────────────────────────────────────────

// A zigzag of eleven half turns, at most 2.6 pt to each side.
void pp_scene_coil(pp_svg *svg, perp_vec3 from, perp_vec3 to, double width)
{
    enum { TURNS = 11 };
    double x = to.x - from.x, y = to.y - from.y, length = pp_hypot(x, y);
    // Half the width of the zigzag, as a part of its length.
    double wide = length > 0.0 ? fmin(2.6, 0.2 * length) / length : 0.0;
    pp_svg_path(svg, (pp_pen){.stroke = PP_RULE, .fill = "none", .width = width});
    pp_svg_move(svg, from.x, from.y);
    for (int k = 0; k <= TURNS; k++) {  // straight for a sixth at both ends
        double s = 1.0 / 6.0 + 2.0 / 3.0 * k / TURNS;
        double side = k % 2 ? wide : -wide;
        side = k == 0 || k == TURNS ? 0.0 : side;
        pp_svg_to(svg, from.x + s * x - side * y, from.y + s * y + side * x);
    }
    pp_svg_to(svg, to.x, to.y);
    pp_svg_end_path(svg);
}

// More than 40 would cover the bodies.
void pp_scene_springs(pp_svg *svg, const pp_view *view, const pp_run_data *data, int snapshot)
{
    pp_svg_group(svg, (pp_pen){.opacity = pp_plot_snapshot_opacity(data, snapshot)});
    int springs = data->source->info->springs;
    springs = springs <= 40 ? springs : 0;
    for (int k = 0; k < springs; k++) {
        const perp_recorded_spring *spring = &data->source->spring[k];
        perp_vec3 a = to_world(&data->snapshot[snapshot], spring->a.i, spring->anchor_A);
        perp_vec3 b = to_world(&data->snapshot[snapshot], spring->b.i, spring->anchor_B);
        if (isfinite(a.x + a.y + b.x + b.y)) {
            pp_scene_coil(svg, (perp_vec3){pp_view_x(view, a.x), pp_view_y(view, a.y), 0.0},
                          (perp_vec3){pp_view_x(view, b.x), pp_view_y(view, b.y), 0.0}, 0.6);
        }
    }
    pp_svg_end_group(svg);
}

// A round length of about a tenth of the view, with its unit.
void pp_scene_bar(pp_svg *svg, const pp_view *view, double y)
{
    pp_ticks ticks = pp_ticks_linear(0.0, 0.4 * view->width / view->scale, 4);
    // The first tick after 0.
    double length = ticks.value[ticks.count > 1 ? 1 : 0];
    pp_prefix unit = pp_unit_for(0.0, length);
    double x = view->left + 2.0, end = x + length * view->scale;
    pp_pen pen = {.stroke = PP_INK, .width = 0.8};
    pp_svg_line(svg, x, y, end, y, pen);
    pp_svg_line(svg, x, y - 2.0, x, y + 2.0, pen);
    pp_svg_line(svg, end, y - 2.0, end, y + 2.0, pen);
    char number[PP_NUMBER], text[PP_NUMBER + 16];
    bool named = unit.prefix != NULL;
    pp_value_text(number, named ? length / unit.factor : length, "^{", "}");
    pp_print(text, sizeof text, "%s %sm", number, named ? unit.prefix : "");
    pp_svg_label(svg, end + 4.0, y + 2.5, PP_START, PP_SMALL, false, text);
}
