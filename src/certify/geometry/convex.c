// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes as convex pieces: support points and widths, written from the definition of each shape.
#include "certify/geometry/convex.h"

#include <math.h>
#include <string.h>

// ── Pieces ───────────────────────────────────────────────────────────────────────────────────────

// A planar shape, in the frame of its body. Discs and capsules are a point or a segment with a
// radius.
static void set_planar(pp_convex *out, const pp_shape *shape)
{
    pp_vec2 e = shape->axis_B;
    perp_vec3 c = {shape->p_BS.x, shape->p_BS.y, 0.0}, along = {e.x, e.y, 0.0};
    out->planar = true;
    out->X_B = (pp_pose){.R = pp_identity3()};
    out->radius = shape->radius;
    if (shape->kind == PERP_SHAPE_HALFPLANE) {
        // as in space, z of the piece is the outward normal; the frame is right-handed
        out->kind = PP_CONVEX_PLANE;
        out->X_B =
            (pp_pose){c, pp_mat3_columns(along, pp_vec(0.0, 0.0, -1.0), pp_vec(-e.y, e.x, 0.0))};
    } else if (shape->kind == PERP_SHAPE_POLYGON) {
        out->count = out->normals = shape->count;
        out->flat = shape->vertex_B;
        out->flat_normal = shape->normal_B;
    } else {
        out->count = shape->half > 0.0 ? 2 : 1;
        out->own[0] = pp_along(c, shape->half, along);
        out->own[1] = pp_along(c, -shape->half, along);
    }
}

// A solid, in the frame of its shape. Axes of symmetry are along z.
static void set_spatial(pp_convex *out, const pp_shape *shape)
{
    const pp_solid *s = &shape->solid;
    out->X_B = shape->X_BS;
    out->half = s->half;
    switch (s->kind) {
    // A point or a segment along z, with a radius around it.
    case PP_SOLID_SPHERE:
    case PP_SOLID_CAPSULE:
        out->radius = s->radius;
        out->count = s->kind == PP_SOLID_SPHERE ? 1 : 2;
        out->own[0] = pp_vec(0.0, 0.0, s->kind == PP_SOLID_SPHERE ? 0.0 : s->half.z);
        out->own[1] = pp_vec(0.0, 0.0, -s->half.z);
        break;
    case PP_SOLID_BOX:
        out->kind = PP_CONVEX_BOX;
        break;
    case PP_SOLID_CYLINDER:
    case PP_SOLID_CONE:
        out->kind = s->kind == PP_SOLID_CONE ? PP_CONVEX_CONE : PP_CONVEX_CYLINDER;
        // Circles have no half.y of their own: the radius bounds them both ways.
        out->half.x = out->half.y = s->radius;
        break;
    case PP_SOLID_ELLIPSOID:
        out->kind = PP_CONVEX_ELLIPSOID;
        break;
    case PP_SOLID_HULL:
        out->count = s->hull->vertices;
        out->point = s->hull->vertex;
        out->hull = s->hull->ring ? s->hull : NULL;
        out->normal = s->hull->face_normal;
        out->normals = s->hull->faces;
        break;
    case PP_SOLID_HALFSPACE:
        out->kind = PP_CONVEX_PLANE;
        break;
    }
}

static perp_vec3 vertex_of(const pp_convex *c, int k)
{
    if (c->flat) {
        return pp_vec(c->flat[k].x, c->flat[k].y, 0.0);
    }
    return c->point ? c->point[k] : c->own[k];
}

// No point of the core is farther from the origin of the body [m]. Of a half-space only the plane
// turns, and the reach of the other piece accounts for that.
static double reach_of(const pp_convex *c)
{
    double most = 0.0;
    if (c->kind == PP_CONVEX_PLANE) {
        return 0.0;
    }
    if (c->kind != PP_CONVEX_POINTS) {
        return pp_length(c->X_B.p) + pp_length(c->half);
    }
    for (int k = 0; k < c->count; k++) {
        perp_vec3 x = pp_pose_point(&c->X_B, vertex_of(c, k));
        double square = pp_dot3(x, x);
        most = square > most ? square : most;
    }
    return sqrt(most);
}

// Size for tolerances: no point is farther than this from the first vertex, or from the centre [m].
static double convex_size(const pp_convex *c)
{
    double most = c->kind == PP_CONVEX_PLANE ? 0.0 : pp_dot3(c->half, c->half);
    for (int k = 1; k < c->count; k++) {
        perp_vec3 x = pp_sub(vertex_of(c, k), vertex_of(c, 0));
        double square = pp_dot3(x, x);
        most = square > most ? square : most;
    }
    return sqrt(most) + c->radius;
}

void pp_convex_shape(pp_convex *out, const perp_model *model, const pp_shape *shape)
{
    *out = (pp_convex){.body = shape->body};
    if (model->spatial) {
        set_spatial(out, shape);
    } else {
        set_planar(out, shape);
    }
    out->core_reach = reach_of(out);
    out->size = convex_size(out);
}

// Triangles are pieces without thickness: no radius, one normal.
void pp_convex_triangle(pp_convex *out, const pp_shape *shape, int triangle)
{
    const pp_mesh *mesh = shape->mesh;
    *out = (pp_convex){.body = shape->body, .X_B = shape->X_BS, .count = 3};
    for (int k = 0; k < 3; k++) {
        out->own[k] = mesh->vertex[mesh->triangle[triangle][k]];
    }
    out->normal = &mesh->normal[triangle];
    out->normals = 1;
    out->core_reach = reach_of(out);
    out->size = convex_size(out);
}

// ── Supports ─────────────────────────────────────────────────────────────────────────────────────

pp_placed_convex pp_convex_place(const pp_convex *convex, const pp_pose *X_WB)
{
    return (pp_placed_convex){convex, pp_pose_mul(X_WB, &convex->X_B)};
}

// From vertex to farther vertex along the edges: where no neighbour is farther, no vertex is, because the hull is
// convex. Its faces are flat to about 1e-12 of its size, which the result may fall short of the farthest by; overlaps are
// allowed a hundredth of a shape.
static perp_vec3 support_by_ascent(const pp_hull *hull, perp_vec3 d)
{
    int here = hull->start[pp_hull_start(d)];
    double reach = pp_dot3(d, hull->vertex[here]);
    for (int k = hull->ring_first[here]; k < hull->ring_first[here + 1]; k++) {
        double next = pp_dot3(d, hull->vertex[hull->ring[k]]);
        if (next > reach) {
            reach = next;
            here = hull->ring[k];
            k = hull->ring_first[here] - 1;  // on to the neighbours of that one
        }
    }
    return hull->vertex[here];
}

// Compares all vertices; a tie goes to the first.
static perp_vec3 support_points(const pp_convex *c, perp_vec3 d)
{
    int best = 0;
    double most = -HUGE_VAL;
    if (c->flat) {
        for (int k = 0; k < c->count; k++) {
            double along = d.x * c->flat[k].x + d.y * c->flat[k].y;
            best = along > most ? k : best;
            most = along > most ? along : most;
        }
        return pp_vec(c->flat[best].x, c->flat[best].y, 0.0);
    }
    if (c->hull) {
        return support_by_ascent(c->hull, d);
    }
    const perp_vec3 *point = c->point ? c->point : c->own;
    for (int k = 0; k < c->count; k++) {
        double along = pp_dot3(d, point[k]);
        best = along > most ? k : best;
        most = along > most ? along : most;
    }
    return point[best];
}

// Cylinder: the rim of the end that d points to. Cone: the apex at +h or the rim of the base at -h,
// whichever is farther along d: d.z h against r |d_xy| - d.z h.
static perp_vec3 support_round(const pp_convex *c, perp_vec3 d)
{
    double across = pp_length2(d.x, d.y), r = c->half.x, h = c->half.z;
    perp_vec3 rim =
        across > 0.0 ? pp_vec(r * d.x / across, r * d.y / across, 0.0) : pp_vec(r, 0.0, 0.0);
    if (c->kind == PP_CONVEX_CYLINDER) {
        rim.z = d.z >= 0.0 ? h : -h;
        return rim;
    }
    if (d.z * h >= r * across - d.z * h) {
        return pp_vec(0.0, 0.0, h);
    }
    rim.z = -h;
    return rim;
}

perp_vec3 pp_placed_convex_support(const pp_placed_convex *piece, perp_vec3 d_W)
{
    const pp_convex *c = piece->convex;
    perp_vec3 d = pp_mul_t(&piece->X.R, d_W), x = {0}, h = c->half;
    switch (c->kind) {
    case PP_CONVEX_POINTS:
        x = c->count == 1 ? c->own[0] : support_points(c, d);
        break;
    case PP_CONVEX_BOX:
        x = pp_vec(copysign(h.x, d.x), copysign(h.y, d.y), copysign(h.z, d.z));
        break;
    case PP_CONVEX_CYLINDER:
    case PP_CONVEX_CONE:
        x = support_round(c, d);
        break;
    // The support point of an ellipsoid is H^2 d / |H d| with H = diag(half).
    case PP_CONVEX_ELLIPSOID: {
        perp_vec3 s = pp_vec(h.x * d.x, h.y * d.y, h.z * d.z);
        double length = pp_length(s);
        x = length > 0.0 ? pp_vec(h.x * s.x / length, h.y * s.y / length, h.z * s.z / length) : x;
        break;
    }
    case PP_CONVEX_PLANE:
        break;  // the origin of its frame, for the normal; other directions have no support point
    }
    return pp_pose_point(&piece->X, x);
}

// ── Widths and axes ──────────────────────────────────────────────────────────────────────────────

bool pp_placed_convex_axis(const pp_placed_convex *piece, int k, perp_vec3 *n)
{
    const pp_convex *c = piece->convex;
    // All kinds but points have the three axes of their frame.
    bool frame = c->kind != PP_CONVEX_POINTS;
    if (frame) {
        *n = k < 3 ? pp_mat3_column(&piece->X.R, k) : *n;
        return k < 3;
    }
    if (k < c->normals) {
        perp_vec3 local =
            c->flat_normal ? pp_vec(c->flat_normal[k].x, c->flat_normal[k].y, 0.0) : c->normal[k];
        *n = pp_mul(&piece->X.R, local);
        return true;
    }
    if (k == 0 && c->count == 2 && c->planar) {  // the normal of a segment
        perp_vec3 along = pp_unit(pp_sub(c->own[0], c->own[1]), pp_vec(1.0, 0.0, 0.0));
        *n = pp_mul(&piece->X.R, pp_vec(-along.y, along.x, 0.0));
        return true;
    }
    return false;
}

double pp_convex_width(const pp_convex *c)
{
    const pp_pose here = {.R = pp_identity3()};
    const pp_placed_convex piece = {c, here};
    if (c->kind == PP_CONVEX_PLANE) {
        return HUGE_VAL;
    }
    if (c->kind != PP_CONVEX_POINTS) {
        double least = 2.0 * fmin(fmin(c->half.x, c->half.y), c->half.z);
        // A cone is narrowest across its side, by more than half of the widths along its axes.
        return c->kind == PP_CONVEX_CONE ? 0.5 * least : least;
    }
    if (c->count <= 3 && !c->flat) {
        return 2.0 * c->radius;  // points, segments and triangles are thin
    }
    // The least width of a polytope is across one of its faces, or across two edges, which is not
    // looked for: the result is an upper bound then.
    double least = HUGE_VAL;
    perp_vec3 n;
    for (int k = 0; pp_placed_convex_axis(&piece, k, &n); k++) {
        perp_vec3 x = pp_placed_convex_support(&piece, n),
                  y = pp_placed_convex_support(&piece, pp_scale(-1.0, n));
        least = fmin(least, pp_dot3(n, pp_sub(x, y)));
    }
    return least + 2.0 * c->radius;
}

// Hulls and polygons enclose a volume or an area, so that faces need not be compared.
bool pp_convex_is_sheet(const pp_convex *c)
{
    bool solid = c->kind == PP_CONVEX_POINTS && (c->hull || c->flat || c->count > 3);
    return !solid && pp_convex_width(c) == 0.0;
}
