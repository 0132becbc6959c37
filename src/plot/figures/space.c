// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Solids as SVG, seen along a direction without perspective.
//
// Faces that look away from the camera are left out, and shapes are drawn from back to front
// (painter's algorithm, by the depth of centres): good enough for a picture, and exact for one
// convex shape. Frames: W the world, B the body, S the shape; X_WS = X_WB X_BS.
#include "plot/figures/space.h"

#include "math/math.h"
#include "math/space.h"

#include <math.h>

// Points of a round outline; faces of a mesh that are drawn.
enum { AROUND = 40, MESH_MOST = 20000 };
static const double TWO_PI = 6.283185307179586;

// Without perspective: parallels stay parallel, lengths along the page can be compared.
pp_camera pp_camera_oblique(void)
{
    double a = TWO_PI / 14.0, e = TWO_PI / 16.0;  // about 26 degrees aside, 22 above
    double ca = pp_cos(a), sa = pp_sin(a), ce = pp_cos(e), se = pp_sin(e);
    return (pp_camera){{ca, sa, 0.0}, {-se * sa, se * ca, ce}, {ce * sa, -ce * ca, se}};
}

// Looks along -z.
pp_camera pp_camera_top(void)
{
    return (pp_camera){{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
}

// Looks along y.
pp_camera pp_camera_front(void)
{
    return (pp_camera){{1.0, 0.0, 0.0}, {0.0, 0.0, 1.0}, {0.0, -1.0, 0.0}};
}

// ── Places ───────────────────────────────────────────────────────────────────────────────────────

// X_WB of a snapshot.
static pp_pose body_pose(const pp_plot_snapshot *snapshot, int body)
{
    return (pp_pose){snapshot->position[body], pp_quat_matrix(snapshot->rotation[body])};
}

// X_WS = X_WB X_BS.
static pp_pose shape_pose(const pp_plot_snapshot *snapshot, const perp_recorded_shape *shape)
{
    pp_pose X_WB = body_pose(snapshot, shape->body.i);
    pp_pose X_BS = {shape->X_BS.p, pp_quat_matrix(shape->X_BS.rot)};
    return pp_pose_mul(&X_WB, &X_BS);
}

// Places on the page [pt]; z is the depth [m], larger towards the viewer.
static perp_vec3 on_page(const pp_view *view, const pp_camera *camera, perp_vec3 p)
{
    return pp_vec(pp_view_x(view, pp_dot3(p, camera->right)),
                  pp_view_y(view, pp_dot3(p, camera->up)), pp_dot3(p, camera->toward));
}

// Hulls, meshes and height fields have an outline of vertices; other shapes are drawn from their
// sizes.
static bool has_faces(const perp_recorded_shape *shape)
{
    return shape->outline_count > 0;
}

// Half-spaces.
static bool is_endless(const perp_recorded_shape *shape)
{
    return shape->kind == PERP_SHAPE_HALFSPACE;
}

// The point furthest along d, in the shape's own frame: box, capsule, cylinder, cone, ellipsoid,
// sphere.
static perp_vec3 shape_support(const perp_recorded_shape *s, perp_vec3 d)
{
    // rim: the point of a circle of radius r about z; axes of symmetry are along z.
    double flat = pp_hypot(d.x, d.y), r = s->radius;
    perp_vec3 h = s->half, out = pp_unit(d, pp_vec(1.0, 0.0, 0.0));
    perp_vec3 rim = flat > 0.0 ? pp_vec(r * d.x / flat, r * d.y / flat, 0.0) : pp_vec(r, 0.0, 0.0);
    double end = d.z >= 0.0 ? h.z : -h.z;
    switch (s->kind) {
    case PERP_SHAPE_BOX:
        return pp_vec(d.x >= 0.0 ? h.x : -h.x, d.y >= 0.0 ? h.y : -h.y, end);
    case PERP_SHAPE_CAPSULE:
        return pp_along(pp_vec(0.0, 0.0, end), r, out);
    case PERP_SHAPE_CYLINDER:
        return pp_add(rim, pp_vec(0.0, 0.0, end));
    // The apex or a point of the rim, whichever is further along d.
    case PERP_SHAPE_CONE:
        return h.z * d.z >= r * flat - h.z * d.z ? pp_vec(0.0, 0.0, h.z)
                                                 : pp_add(rim, pp_vec(0.0, 0.0, -h.z));
    case PERP_SHAPE_ELLIPSOID: {
        perp_vec3 g = {h.x * d.x, h.y * d.y, h.z * d.z};
        double length = pp_length(g);
        return length > 0.0 ? pp_vec(h.x * g.x / length, h.y * g.y / length, h.z * g.z / length)
                            : pp_vec(h.x, 0.0, 0.0);
    }
    case PERP_SHAPE_SPHERE:
        return pp_scale(r, out);
    default:
        return pp_vec(0.0, 0.0, 0.0);
    }
}

// ── What is seen ─────────────────────────────────────────────────────────────────────────────────

// A box in the world [m].
typedef struct room {
    pp_range x, y, z;
} room;

// Empty.
static room room_none(void)
{
    return (room){pp_range_none(), pp_range_none(), pp_range_none()};
}

// Places that are not finite are left out.
static void room_add(room *to, perp_vec3 p)
{
    if (pp_finite3(p)) {
        pp_range_add(&to->x, p.x);
        pp_range_add(&to->y, p.y);
        pp_range_add(&to->z, p.z);
    }
}

// By its vertices, or by its extent along the six axes.
static void room_add_shape(room *to, const pp_plot_snapshot *snapshot,
                           const perp_recorded_shape *shape)
{
    pp_pose X = shape_pose(snapshot, shape), B = body_pose(snapshot, shape->body.i);
    for (int k = 0; k < shape->outline_count; k++) {
        room_add(to, pp_pose_point(&B, shape->outline[k]));
    }
    if (has_faces(shape) || is_endless(shape)) {
        return;
    }
    for (int k = 0; k < 6; k++) {
        double sign = k % 2 ? -1.0 : 1.0;
        perp_vec3 d = {k / 2 == 0 ? sign : 0.0, k / 2 == 1 ? sign : 0.0, k / 2 == 2 ? sign : 0.0};
        room_add(to, pp_pose_point(&X, shape_support(shape, pp_mul_t(&X.R, d))));
    }
}

// The longest side; negative while nothing is in it.
static double room_size(const room *r)
{
    return fmax(r->x.high - r->x.low, fmax(r->y.high - r->y.low, r->z.high - r->z.low));
}

// A still shape belongs to the picture when it is not much larger than what moves.
static room scene_room(const pp_run_data *s)
{
    room all = room_none();
    for (int k = 0; k < s->source->info->shapes; k++) {
        const perp_recorded_shape *shape = &s->source->shape[k];
        int times = s->path[shape->body.i] ? s->snapshots : 0;
        for (int i = 0; i < times; i++) {
            room_add_shape(&all, &s->snapshot[i], shape);
        }
    }
    for (int b = 0; b < s->source->info->bodies; b++) {
        int points = s->path[b] ? s->path_points : 0;
        for (int k = 0; k < points; k++) {
            room_add(&all, s->path[b][k]);
        }
    }
    // Negative while nothing moves: then all shapes that stand still are in the picture.
    double size = room_size(&all);
    for (int k = 0; k < s->source->info->shapes; k++) {
        const perp_recorded_shape *shape = &s->source->shape[k];
        room one = room_none();
        if (!s->path[shape->body.i] && !is_endless(shape)) {
            room_add_shape(&one, &s->snapshot[0], shape);
        }
        if (room_size(&one) >= 0.0 && (!(size >= 0.0) || room_size(&one) <= 3.0 * size)) {
            pp_range_join(&all.x, &one.x);
            pp_range_join(&all.y, &one.y);
            pp_range_join(&all.z, &one.z);
        }
    }
    if (!(room_size(&all) > 0.0)) {
        room_add(&all, pp_vec(-0.5, -0.5, -0.5));
        room_add(&all, pp_vec(0.5, 0.5, 0.5));
    }
    return all;
}

// k: three bits, one for each axis.
static perp_vec3 room_corner(const room *r, int k)
{
    return pp_vec(k & 1 ? r->x.high : r->x.low, k & 2 ? r->y.high : r->y.low,
                  k & 4 ? r->z.high : r->z.low);
}

// The corners of the room, projected, with some air.
pp_view pp_space_view(const pp_run_data *data, const pp_camera *camera, double width, double height)
{
    room all = scene_room(data);
    pp_range u = pp_range_none(), v = pp_range_none();
    for (int k = 0; k < 8; k++) {
        pp_range_add(&u, pp_dot3(room_corner(&all, k), camera->right));
        pp_range_add(&v, pp_dot3(room_corner(&all, k), camera->up));
    }
    double air = 0.05 * fmax(u.high - u.low, v.high - v.low) + 1e-9;
    double wide = u.high - u.low + 2.0 * air, high = v.high - v.low + 2.0 * air;
    pp_view view = {.width = width, .scale = fmin(width / wide, height / high)};
    view.height = fmax(high * view.scale, 30.0);
    double more_x = 0.5 * (width / view.scale - wide) + air;
    double more_y = 0.5 * (view.height / view.scale - high) + air;
    view.low = pp_vec(u.low - more_x, v.low - more_y, 0.0);
    view.high = pp_vec(u.high + more_x, v.high + more_y, 0.0);
    return view;
}

// ── Ground ───────────────────────────────────────────────────────────────────────────────────────

// The rectangle of a plane that lies below the corners of the room; z of X is its normal.
static void patch_of(const room *all, const pp_pose *X, perp_vec3 corner[4])
{
    perp_vec3 x = pp_mat3_column(&X->R, 0), y = pp_mat3_column(&X->R, 1);
    pp_range u = pp_range_none(), v = pp_range_none();
    for (int k = 0; k < 8; k++) {
        perp_vec3 r = pp_sub(room_corner(all, k), X->p);
        pp_range_add(&u, pp_dot3(r, x));
        pp_range_add(&v, pp_dot3(r, y));
    }
    double air = 0.05 * room_size(all);
    const double ends[4][2] = {{u.low - air, v.low - air},
                               {u.high + air, v.low - air},
                               {u.high + air, v.high + air},
                               {u.low - air, v.high + air}};
    for (int k = 0; k < 4; k++) {
        corner[k] = pp_along(pp_along(X->p, ends[k][0], x), ends[k][1], y);
    }
}

// A closed polygon on the page.
static void put_polygon(pp_svg *svg, int count, const perp_vec3 *page, pp_pen pen)
{
    pp_svg_path(svg, pen);
    for (int k = 0; k < count; k++) {
        if (k == 0) {
            pp_svg_move(svg, page[k].x, page[k].y);
        } else {
            pp_svg_to(svg, page[k].x, page[k].y);
        }
    }
    pp_svg_shut(svg);
    pp_svg_end_path(svg);
}

// Half-spaces of fixed and driven bodies, as a rectangle below what moves.
void pp_space_ground(pp_svg *svg, const pp_view *view, const pp_camera *camera,
                     const pp_run_data *data)
{
    room all = scene_room(data);
    for (int k = 0; k < data->source->info->shapes; k++) {
        const perp_recorded_shape *shape = &data->source->shape[k];
        // A plane that a free body carries stands for a face of it, which is drawn with the body.
        if (!is_endless(shape) || data->source->body[shape->body.i].motion == PERP_MOTION_DYNAMIC) {
            continue;
        }
        pp_pose X = shape_pose(&data->snapshot[0], shape);
        // The cosine between the normal and the direction to the viewer.
        double facing = pp_dot3(pp_mat3_column(&X.R, 2), camera->toward);
        if (facing < -0.02 || facing > 0.98) {
            continue;  // seen from behind it would hide what is in front; from above it is the page
        }
        perp_vec3 corner[4];
        patch_of(&all, &X, corner);
        for (int i = 0; i < 4; i++) {
            corner[i] = on_page(view, camera, corner[i]);
        }
        put_polygon(svg, 4, corner,
                    (pp_pen){.stroke = PP_GREY, .width = 0.5, .fill = PP_GREY, .veil = 0.12});
    }
}

// ── Solids ───────────────────────────────────────────────────────────────────────────────────────

// Strength of the colour of a face, 0.1 to 0.9: less the more it faces up and towards the viewer.
static double shade(perp_vec3 normal, const pp_camera *camera)
{
    return 0.5 - 0.25 * normal.z - 0.15 * pp_dot3(normal, camera->toward);
}

// White below, so that what is behind stays hidden, and over it the colour, as strong as the face
// is dark.
static void put_face(pp_svg *svg, int count, const perp_vec3 *page, const char *colour,
                     double strength)
{
    put_polygon(svg, count, page, (pp_pen){.fill = "#ffffff"});
    put_polygon(svg, count, page,
                (pp_pen){.stroke = colour, .width = 0.6, .fill = colour, .veil = strength});
}

// The faces of a box that look towards the camera: at most three.
static void put_box(pp_svg *svg, const pp_view *view, const pp_camera *camera, const pp_pose *X,
                    perp_vec3 half, const char *colour)
{
    // Face f: the axis f / 2, its positive or negative side.
    const double h[3] = {half.x, half.y, half.z};
    for (int f = 0; f < 6; f++) {
        int axis = f / 2, i = (axis + 1) % 3, j = (axis + 2) % 3;
        double sign = f % 2 ? -1.0 : 1.0;
        perp_vec3 n = pp_scale(sign, pp_mat3_column(&X->R, axis)), page[4];
        if (pp_dot3(n, camera->toward) <= 1e-9) {
            continue;
        }
        for (int k = 0; k < 4; k++) {
            perp_vec3 p = pp_along(X->p, h[axis], n);
            // Corners in order around the face.
            p = pp_along(p, k == 1 || k == 2 ? h[i] : -h[i], pp_mat3_column(&X->R, i));
            p = pp_along(p, k >= 2 ? h[j] : -h[j], pp_mat3_column(&X->R, j));
            page[k] = on_page(view, camera, p);
        }
        put_face(svg, 4, page, colour, shade(n, camera));
    }
}

// Faces of a hull or mesh that look towards the camera, in the order of the file: faces of one body
// do not hide each other where it is convex. Of more than 64 corners every n-th is taken.
static void put_faces(pp_svg *svg, const pp_view *view, const pp_camera *camera, const pp_pose *B,
                      const perp_recorded_shape *shape, const char *colour)
{
    enum { CORNERS = 64 };
    int from = shape->corner_first;
    for (int f = 0; f < shape->faces && f < MESH_MOST; f++) {
        const int *corner = shape->corner + from;
        int all = shape->corner_end[f] - from, n = all < CORNERS ? all : CORNERS;
        perp_vec3 page[CORNERS], world[3];
        from = shape->corner_end[f];
        for (int k = 0; k < n; k++) {
            // Vertices are recorded in the frame of the body.
            perp_vec3 p = pp_pose_point(B, shape->outline[corner[(int64_t)k * all / n]]);
            page[k] = on_page(view, camera, p);
            if (k < 3) {
                world[k] = p;
            }
        }
        if (n < 3) {
            continue;
        }
        perp_vec3 normal = pp_cross(pp_sub(world[1], world[0]), pp_sub(world[2], world[0]));
        normal = pp_unit(normal, camera->up);
        if (pp_dot3(normal, camera->toward) > 1e-9) {
            put_face(svg, n, page, colour, shade(normal, camera));
        }
    }
}

// A circle about the shape's z axis, at the height z.
static void put_rim(pp_svg *svg, const pp_view *view, const pp_camera *camera, const pp_pose *X,
                    double radius, double z, pp_pen pen)
{
    perp_vec3 page[AROUND];
    for (int k = 0; k < AROUND; k++) {
        double a = TWO_PI * k / AROUND;
        page[k] = on_page(view, camera,
                          pp_pose_point(X, pp_vec(radius * pp_cos(a), radius * pp_sin(a), z)));
    }
    put_polygon(svg, AROUND, page, pen);
}

// The outline of a round solid by its furthest points in all directions of the page, and the flat
// ends that are seen.
static void put_round(pp_svg *svg, const pp_view *view, const pp_camera *camera, const pp_pose *X,
                      const perp_recorded_shape *shape, const char *colour)
{
    perp_vec3 page[AROUND];
    for (int k = 0; k < AROUND; k++) {
        // Off the axes, where supports of cylinders jump.
        double a = TWO_PI * (k + 0.25) / AROUND;
        perp_vec3 d = pp_along(pp_scale(pp_cos(a), camera->right), pp_sin(a), camera->up);
        page[k] = on_page(view, camera, pp_pose_point(X, shape_support(shape, pp_mul_t(&X->R, d))));
    }
    put_face(svg, AROUND, page, colour, 0.3);
    // Flat ends are lighter than the mantle.
    pp_pen end = {.stroke = colour, .width = 0.5, .fill = "#ffffff", .veil = 0.45};
    double facing = pp_dot3(pp_mat3_column(&X->R, 2), camera->toward);
    if (shape->kind == PERP_SHAPE_CYLINDER && fabs(facing) > 1e-9) {
        put_rim(svg, view, camera, X, shape->radius, copysign(shape->half.z, facing), end);
    } else if (shape->kind == PERP_SHAPE_CONE && facing < -1e-9) {
        put_rim(svg, view, camera, X, shape->radius, -shape->half.z, end);
    } else if (shape->kind == PERP_SHAPE_SPHERE || shape->kind == PERP_SHAPE_ELLIPSOID) {
        // Its equator shows how it turns.
        pp_pen line = {.stroke = colour, .width = 0.35};
        perp_vec3 ring[AROUND];
        perp_vec3 h = shape->kind == PERP_SHAPE_SPHERE ? pp_vec(shape->radius, shape->radius, 0.0)
                                                       : shape->half;
        int seen = 0;
        pp_svg_path(svg, line);
        for (int k = 0; k <= AROUND; k++) {
            double a = TWO_PI * k / AROUND;
            perp_vec3 r = pp_vec(h.x * pp_cos(a), h.y * pp_sin(a), 0.0);
            ring[k % AROUND] = on_page(view, camera, pp_pose_point(X, r));
            bool front = pp_dot3(pp_mul(&X->R, r), camera->toward) >= 0.0;
            if (front && seen++ > 0) {
                pp_svg_to(svg, ring[k % AROUND].x, ring[k % AROUND].y);
            } else if (front) {
                pp_svg_move(svg, ring[k % AROUND].x, ring[k % AROUND].y);
            } else {
                seen = 0;
            }
        }
        pp_svg_end_path(svg);
    }
}

// By its kind.
static void put_shape(pp_svg *svg, const pp_view *view, const pp_camera *camera,
                      const pp_plot_snapshot *snapshot, const perp_recorded_shape *shape,
                      const char *colour)
{
    pp_pose X = shape_pose(snapshot, shape), B = body_pose(snapshot, shape->body.i);
    if (has_faces(shape)) {
        put_faces(svg, view, camera, &B, shape, colour);
    } else if (shape->kind == PERP_SHAPE_BOX) {
        put_box(svg, view, camera, &X, shape->half, colour);
    } else if (shape->kind == PERP_SHAPE_POINT) {
        perp_vec3 p = on_page(view, camera, X.p);
        pp_svg_circle(svg, p.x, p.y, 1.2, (pp_pen){.fill = colour});
    } else {
        put_round(svg, view, camera, &X, shape, colour);
    }
}

// A number that sorts shapes from back to front: what stands still first, so that what moves on it
// or in it is seen; then by the depth of centres.
static uint64_t place_in_line(bool moves, double depth, const pp_range *range, int shape)
{
    double part =
        range->high > range->low ? (depth - range->low) / (range->high - range->low) : 0.0;
    return (uint64_t)moves << 63 | (uint64_t)(part * 0x7FFFFFFF) << 32 | (uint64_t)shape;
}

// NaN for what has no centre.
static double depth_of(const pp_plot_snapshot *snapshot, const pp_camera *camera,
                       const perp_recorded_shape *shape)
{
    return is_endless(shape) ? (double)NAN : pp_dot3(shape_pose(snapshot, shape).p, camera->toward);
}

// Solids of one snapshot.
void pp_space_bodies(pp_svg *svg, const pp_view *view, const pp_camera *camera,
                     const pp_run_data *data, int snapshot)
{
    int shapes = data->source->info->shapes, n = 0;
    // Keys, and memory for sorting them.
    size_t bytes = 2 * (size_t)shapes * sizeof(uint64_t) + 1;
    const pp_plot_snapshot *at = &data->snapshot[snapshot];
    uint64_t *line = pp_alloc(data->env, bytes);
    pp_range range = pp_range_none();
    if (!line) {
        svg->failed = true;
        return;
    }
    for (int k = 0; k < shapes; k++) {
        double depth = depth_of(at, camera, &data->source->shape[k]);
        if (isfinite(depth)) {
            pp_range_add(&range, depth);
        }
    }
    for (int k = 0; k < shapes; k++) {
        const perp_recorded_shape *shape = &data->source->shape[k];
        double depth = depth_of(at, camera, shape);
        if (isfinite(depth)) {
            line[n++] = place_in_line(data->path[shape->body.i] != NULL, depth, &range, k);
        }
    }
    // Painter's algorithm: from the farthest to the nearest, each over those before.
    pp_sort_keys(n, line, line + shapes);
    for (int k = 0; k < n; k++) {
        const perp_recorded_shape *shape = &data->source->shape[(uint32_t)line[k]];
        bool moves = data->path[shape->body.i] != NULL;
        put_shape(svg, view, camera, at, shape,
                  moves ? pp_body_colour(data, shape->body.i) : PP_GREY);
    }
    pp_free(data->env, line, bytes);
}

// A body without shapes: a line from its centre of mass to what holds it.
static void put_link(pp_svg *svg, const pp_view *view, const pp_camera *camera,
                     const pp_run_data *data, int snapshot, int body, perp_vec3 anchor)
{
    if (data->path[body] && !(data->arm[body] > 0.0)) {
        pp_pose X = body_pose(&data->snapshot[snapshot], body);
        perp_vec3 a = on_page(view, camera, X.p);
        perp_vec3 b = on_page(view, camera, pp_pose_point(&X, anchor));
        const char *colour = pp_body_colour(data, body);
        pp_svg_line(svg, a.x, a.y, b.x, b.y, (pp_pen){.stroke = colour, .width = 1.0});
        pp_svg_circle(svg, a.x, a.y, 1.4, (pp_pen){.fill = colour});
    }
}

// Circles at the anchors; of a distance also the rod.
void pp_space_joints(pp_svg *svg, const pp_view *view, const pp_camera *camera,
                     const pp_run_data *data, int snapshot)
{
    int joints = data->source->info->joints;
    if (joints > 40) {
        return;
    }
    for (int j = 0; j < joints; j++) {
        const perp_recorded_joint *joint = &data->source->joint[j];
        put_link(svg, view, camera, data, snapshot, joint->a.i, joint->anchor_A);
        put_link(svg, view, camera, data, snapshot, joint->b.i, joint->anchor_B);
        if (joint->kind == PERP_JOINT_GEAR || joint->kind == PERP_JOINT_COUPLING ||
            joint->kind == PERP_JOINT_ANGLE) {
            continue;  // they have no place
        }
        pp_pose A = body_pose(&data->snapshot[snapshot], joint->a.i);
        pp_pose B = body_pose(&data->snapshot[snapshot], joint->b.i);
        perp_vec3 a = on_page(view, camera, pp_pose_point(&A, joint->anchor_A));
        perp_vec3 b = on_page(view, camera, pp_pose_point(&B, joint->anchor_B));
        pp_pen pen = {.stroke = PP_INK, .width = 0.5, .fill = "#ffffff"};
        if (joint->kind == PERP_JOINT_DISTANCE) {
            pp_svg_line(svg, a.x, a.y, b.x, b.y, (pp_pen){.stroke = PP_INK, .width = 0.5});
            pp_svg_circle(svg, a.x, a.y, 1.2, pen);
        }
        pp_svg_circle(svg, b.x, b.y, 1.2, pen);
    }
}

// Zigzags on the page, which do not hide anything.
void pp_space_springs(pp_svg *svg, const pp_view *view, const pp_camera *camera,
                      const pp_run_data *data, int snapshot)
{
    int springs = data->source->info->springs;
    if (springs > 40) {
        return;
    }
    for (int k = 0; k < springs; k++) {
        const perp_recorded_spring *spring = &data->source->spring[k];
        pp_pose A = body_pose(&data->snapshot[snapshot], spring->a.i);
        pp_pose B = body_pose(&data->snapshot[snapshot], spring->b.i);
        perp_vec3 a = on_page(view, camera, pp_pose_point(&A, spring->anchor_A));
        perp_vec3 b = on_page(view, camera, pp_pose_point(&B, spring->anchor_B));
        if (isfinite(a.x + a.y + b.x + b.y)) {
            pp_scene_coil(svg, a, b, 0.5);
        }
    }
}

// Lines, without regard to what is in front of them.
void pp_space_paths(pp_svg *svg, const pp_view *view, const pp_camera *camera,
                    const pp_run_data *data)
{
    bool many = pp_moving_bodies(data) > PP_FEW - 1;
    for (int b = 0; b < data->source->info->bodies; b++) {
        if (!data->path[b]) {
            continue;
        }
        bool begun = false;
        perp_vec3 last = {0.0, 0.0, 0.0};
        pp_svg_path(svg, (pp_pen){.stroke = pp_body_colour(data, b),
                                  .width = many ? 0.4 : 0.8,
                                  .opacity = many ? 0.6 : 1.0});
        for (int k = 0; k < data->path_points; k++) {
            perp_vec3 p = on_page(view, camera, data->path[b][k]);
            // Points nearer than the pen is wide are left out; a place that is not finite breaks
            // the line.
            bool there = isfinite(p.x) && isfinite(p.y);
            if (there && begun && pp_hypot(p.x - last.x, p.y - last.y) < 0.4) {
                continue;
            }
            if (there && begun) {
                pp_svg_to(svg, p.x, p.y);
            } else if (there) {
                pp_svg_move(svg, p.x, p.y);
            }
            begun = there;
            last = p;
        }
        pp_svg_end_path(svg);
    }
}
