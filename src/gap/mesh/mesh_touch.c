// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A solid against the triangles of a mesh that are near it.
//
// The half-space below a face bounds the distance from below, so that where the solid's lowest point is above the
// triangle, that is the closest one, and the triangle is touched as a plane; where they overlap, only if no sharp edge is as
// near, over which the way out might be shorter. Otherwise it is touched as a flat hull of
// its own, which tells along which normal n it is nearest. Then
//   - where n is the normal of the face, or one that no feature there has (a ghost of an inner edge), points of the
//     half-space that are above the triangle count;
//   - points at sharp edges and at corners count where n is in their normal cone.
// So a face that is larger than the solid gives the solid's corners, one that is smaller its own edges and corners.
// All in the frame of the mesh.
#include "gap/mesh/mesh.h"

#include "gap/mesh/mesh_spots.h"

static const double ALONG = 1e-10;  // cosines this close to 1 are of equal directions
static const double CONE = 1e-6;    // how far outside a cone a normal may be [rad]
static const double ON =
    1e-6;  // how far from an edge a point on it may be, in lengths of the triangle

typedef struct mesh_search {
    const pp_solid *solid;
    const pp_mesh *mesh;
    pp_pose X;         // of the solid in the frame of the mesh
    perp_vec3 middle;  // of its box
    double margin;
    pp_mesh_manifold spots;
    pp_touch_point rescue;  // of the triangles that the solid crosses from behind: the shallowest
    bool crossed;
} mesh_search;

typedef struct facet {
    int t;                // triangle of the mesh
    perp_vec3 x[3], n;    // corners, outward normal
    perp_vec3 inward[3];  // unit, in the plane, across the side from corner k to k + 1
    double size;          // longest side
} facet;

// Across side k, in the plane of triangle t, into it; unit.
static perp_vec3 inward_of(const pp_mesh *mesh, int t, int k)
{
    const int *corner = mesh->triangle[t];
    perp_vec3 side = pp_sub(mesh->vertex[corner[(k + 1) % 3]], mesh->vertex[corner[k]]);
    return pp_unit(pp_cross(mesh->normal[t], side), mesh->normal[t]);
}

static facet facet_of(const pp_mesh *mesh, int t)
{
    facet f = {.t = t, .n = mesh->normal[t]};
    for (int k = 0; k < 3; k++) {
        f.x[k] = mesh->vertex[mesh->triangle[t][k]];
        f.inward[k] = inward_of(mesh, t, k);
    }
    for (int k = 0; k < 3; k++) {
        f.size = fmax(f.size, pp_length(pp_sub(f.x[(k + 1) % 3], f.x[k])));
    }
    return f;
}

// A number for a place of the mesh and a point of the solid; the same ones give the same number.
static uint32_t feature_of(int kind, int place, uint32_t of_solid)
{
    uint32_t h = 0x811c9dc5U ^ (uint32_t)kind;
    h = (h ^ (uint32_t)place) * 0x9e3779b1U;
    h = (h ^ (h >> 15) ^ of_solid) * 0x85ebca6bU;
    return h ^ (h >> 13);
}

// ── Where on the triangle, and which normals it has there ────────────────────────────────────────

// Bit k: the point is on the side from corner k to k + 1.
static unsigned sides_at(const facet *f, perp_vec3 x)
{
    unsigned on = 0;
    for (int k = 0; k < 3; k++) {
        if (pp_dot3(f->inward[k], pp_sub(x, f->x[k])) <= ON * f->size) {
            on |= 1U << k;
        }
    }
    return on;
}

// Which side of triangle `other` is the one to triangle t.
static int side_to(const pp_mesh *mesh, int other, int t)
{
    int k = 0;
    while (mesh->neighbour[other][k] != t && k < 2) {
        k++;
    }
    return k;
}

// Whether the outward normal n leaves the surface at an edge: no way along either face leads forward.
static bool edge_has(const pp_mesh *mesh, const facet *f, int side, perp_vec3 n)
{
    const double askew = 0.3;  // of n to the edge: more is no second point of an edge along a face
    int other = mesh->neighbour[f->t][side];
    perp_vec3 e = pp_sub(f->x[(side + 1) % 3], f->x[side]);
    if (!mesh->sharp[f->t][side] || pp_dot3(n, f->inward[side]) > CONE ||
        fabs(pp_dot3(n, e)) > askew * pp_length(e)) {
        return false;
    }
    if (other < 0) {
        return pp_dot3(n, f->n) >= -CONE;
    }
    return pp_dot3(n, inward_of(mesh, other, side_to(mesh, other, f->t))) <= CONE;
}

// The same at a vertex: no side that leaves it leads forward.
static bool corner_has(const pp_mesh *mesh, int vertex, perp_vec3 n)
{
    for (int k = mesh->star_first[vertex]; k < mesh->star_first[vertex + 1]; k++) {
        const int *corner = mesh->triangle[mesh->star[k]];
        for (int i = 0; i < 3; i++) {
            perp_vec3 d = pp_sub(mesh->vertex[corner[i]], mesh->vertex[vertex]);
            if (pp_dot3(n, d) > CONE * pp_length(d)) {
                return false;
            }
        }
    }
    return true;
}

// Whether a point on the given sides counts: along the face's own normal where one of them is sharp, along another where
// it is in the cone. place: number of the edge or vertex.
static bool in_normal_cone(const pp_mesh *mesh, const facet *f, unsigned on, perp_vec3 n, bool face,
                           int *place)
{
    bool sharp = false;
    int side = 0;
    for (int k = 0; k < 3; k++) {
        bool at = (on >> k) & 1U;
        sharp = sharp || (at && mesh->sharp[f->t][k]);
        if (at) {
            side = k;
        }
    }
    int other = mesh->neighbour[f->t][side];
    bool theirs =
        other >= 0 && other < f->t;  // an edge has the number that its lower triangle gives it
    *place = theirs ? 3 * other + side_to(mesh, other, f->t) : 3 * f->t + side;
    if (on == 0) {
        return false;
    }
    if ((on & (on - 1)) == 0) {  // one bit: an edge; two: a corner
        return face ? sharp : edge_has(mesh, f, side, n);
    }
    int corner = 0;
    if (on == 3) {  // sides 0 and 1 meet in corner 1, 1 and 2 in 2
        corner = 1;
    } else if (on == 6) {
        corner = 2;
    }
    *place = mesh->triangle[f->t][corner];
    return face ? sharp : corner_has(mesh, *place, n);
}

// ── Faces ────────────────────────────────────────────────────────────────────────────────────────

// The solid against the half-space below the triangle's plane, n from the solid to the mesh: -f->n.
static int touch_plane(const mesh_search *s, const facet *f, double margin, pp_touch_point *touch)
{
    perp_vec3 e = pp_across(f->n);
    const pp_solid plane = {.kind = PP_SOLID_HALFSPACE};
    pp_pose X = {f->x[0], pp_mat3_columns(e, pp_cross(f->n, e), f->n)};
    return pp_solid_touch(s->solid, &s->X, &plane, &X, margin, touch);
}

// Whether x projects into the triangle along its normal.
static bool is_above(const facet *f, perp_vec3 x)
{
    for (int i = 0; i < 3; i++) {
        if (!(pp_dot3(f->inward[i], pp_sub(x, f->x[i])) >= -ON * f->size)) {
            return false;
        }
    }
    return true;
}

// Points above the triangle, as on a plane. `lowest`: the gap none can be below. How many.
static int add_points_above(mesh_search *s, const facet *f, const pp_touch_point *plane, int count,
                            double lowest)
{
    int added = 0;
    for (int k = 0; k < count; k++) {
        if (plane[k].gap >= lowest && is_above(f, plane[k].x_b)) {
            // The half-space has no features to tell: the low bits are free for the number of the flat
            // stretch, so that points are in the same order as on a half-space.
            pp_touch_point touch = plane[k];
            touch.feature ^= feature_of(1, s->mesh->region[f->t], 0) & 0x7fffU;
            pp_mesh_manifold_add(&s->spots, &touch);
            added++;
        }
    }
    return added;
}

// Whether the solid is beyond one of the sides by more than the margin.
static bool is_beside(const mesh_search *s, const facet *f)
{
    for (int k = 0; k < 3; k++) {
        perp_vec3 x = pp_solid_support(s->solid, pp_mul_t(&s->X.R, f->inward[k]));
        if (pp_dot3(f->inward[k], pp_sub(f->x[k], pp_pose_point(&s->X, x))) > s->margin) {
            return true;
        }
    }
    return false;
}

// A solid whose middle is behind all triangles it crosses would touch nothing: the shallowest way out is kept in case.
static void keep_for_rescue(mesh_search *s, const facet *f)
{
    pp_touch_point touch[PP_TOUCH_MAX];
    if (touch_plane(s, f, PP_INF, touch) > 0 && (!s->crossed || touch[0].gap > s->rescue.gap)) {
        s->rescue = touch[0];
        s->rescue.feature = feature_of(4, f->t, 0);
        s->crossed = true;
    }
}

// ── All ──────────────────────────────────────────────────────────────────────────────────────────

// Points at the edges and corners of the triangle. Whether there are any.
static bool add_edges(mesh_search *s, const facet *f, const pp_touch_point *touch, int count,
                      bool face)
{
    bool taken = false;
    for (int k = 0; k < count; k++) {
        int place;
        unsigned on = sides_at(f, touch[k].x_b);
        if (in_normal_cone(s->mesh, f, on, pp_scale(-1.0, touch[k].n), face, &place)) {
            pp_touch_point at = touch[k];
            at.feature = feature_of(on & (on - 1) ? 2 : 3, place, at.feature);
            at.n = face ? pp_scale(-1.0, f->n) : at.n;
            pp_mesh_manifold_add(&s->spots, &at);
            taken = true;
        }
    }
    return taken;
}

// The triangle as a flat hull. behind: the middle of the solid is on the inner side.
static void touch_exactly(mesh_search *s, const facet *f, const pp_touch_point *plane, int points,
                          bool behind)
{
    pp_flat_hull flat;
    pp_touch_point touch[PP_TOUCH_MAX];
    const pp_pose here = {.R = pp_identity3()};
    pp_hull_triangle(f->x[0], f->x[1], f->x[2], &flat);
    const pp_solid triangle = {.kind = PP_SOLID_HULL, .hull = &flat.hull};
    int count = pp_solid_touch(s->solid, &s->X, &triangle, &here, s->margin, touch);
    if (count == 0) {
        return;
    }
    double facing =
        -pp_dot3(touch[0].n, f->n);  // cosine: 1 along the outward normal, below 0 from inside
    if (behind || facing < -CONE) {
        if (touch[0].gap < 0.0) {
            keep_for_rescue(s, f);
        }
        if (facing < CONE) {
            return;
        }
    }
    // points at edges and corners first; the plane counts where n is that of the face, or where no feature of the
    // mesh has this normal (a ghost of an inner edge)
    bool face = facing >= 1.0 - ALONG;
    bool taken = add_edges(s, f, touch, count, face);
    if (!behind && (face || !taken)) {
        add_points_above(s, f, plane, points, touch[0].gap > 0.0 && !face ? 0.0 : -PP_INF);
    }
}

// Whether the closest point of the half-space is also that of the triangle.
static bool is_plane(const mesh_search *s, const facet *f, const pp_touch_point *lowest)
{
    const double wide = 10.0;  // depths: a sharp edge further away is not the shorter way out
    if (!is_above(f, lowest->x_b)) {
        return false;
    }
    if (lowest->gap >= 0.0) {
        return true;
    }
    for (int k = 0; k < 3; k++) {
        double away = pp_dot3(f->inward[k], pp_sub(lowest->x_b, f->x[k]));
        if (s->mesh->sharp[f->t][k] && !(away > -wide * lowest->gap)) {
            return false;
        }
    }
    return true;
}

// One triangle, from the cheap to the exact: beside or beyond the margin, as a plane, as a flat hull.
static void touch_facet(mesh_search *s, const facet *f)
{
    pp_touch_point plane[PP_TOUCH_MAX];
    int points = touch_plane(s, f, s->margin, plane);
    if (points == 0 || is_beside(s, f)) {
        return;
    }
    bool behind = pp_dot3(f->n, pp_sub(s->middle, f->x[0])) < 0.0;
    if (!behind && is_plane(s, f, &plane[0])) {
        const bool *sharp = s->mesh->sharp[f->t];
        int added = add_points_above(s, f, plane, points, -PP_INF);
        if (added == points || !(sharp[0] || sharp[1] || sharp[2])) {
            return;
        }
    }
    touch_exactly(s, f, plane, points, behind);
}

int pp_mesh_touch(const pp_solid *a, const pp_pose *X_WA, const pp_mesh *mesh, const pp_pose *X_WB,
                  double margin, pp_touch_point out[PP_TOUCH_MAX])
{
    pp_mat3 R_BW = pp_transpose3(&X_WB->R);
    mesh_search s = {.solid = a, .mesh = mesh, .margin = margin};
    s.X = (pp_pose){pp_pose_local(X_WB, X_WA->p), pp_mat_mul(&R_BW, &X_WA->R)};
    perp_vec3 low, high;
    pp_solid_box(a, &s.X, &low, &high);
    s.middle = pp_add(pp_scale(0.5, low), pp_scale(0.5, high));
    s.spots.size = pp_length(pp_sub(high, low));
    // triangles whose boxes are near, in the order of their numbers
    perp_vec3 more = pp_vec(margin, margin, margin);
    pp_box3 near = {pp_sub(low, more), pp_add(high, more)};
    for (int t = pp_mesh_next(mesh, &near, 0); t >= 0; t = pp_mesh_next(mesh, &near, t + 1)) {
        facet f = facet_of(mesh, t);
        touch_facet(&s, &f);
    }
    if (s.spots.count == 0 && s.crossed) {
        pp_mesh_manifold_add(&s.spots, &s.rescue);
    }
    // from the frame of the mesh to the world
    int count = pp_mesh_manifold_write(&s.spots, out);
    for (int k = 0; k < count; k++) {
        out[k].x_a = pp_pose_point(X_WB, out[k].x_a);
        out[k].x_b = pp_pose_point(X_WB, out[k].x_b);
        out[k].n = pp_mul(&X_WB->R, out[k].n);
    }
    return count;
}
