// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A solid against the triangles of a mesh that are near it.
//
// A triangle is touched as a flat hull of its own, which tells how near it is and along which normal n. Then
//   - where n is the normal of the face, or one that no feature there has (a ghost of an inner edge), the solid
//     is held against the half-space below the face, and points above the triangle count: as on a plane;
//   - points at sharp edges and at corners count where n is in their normal cone.
// So a face that is larger than the solid gives the solid's corners, one that is smaller its own edges and corners.
// All in the frame of the mesh.
#include "gap/mesh.h"

#include "gap/mesh_spots.h"

static const double ALONG = 1e-10;  // cosines this close to 1 are of equal directions
static const double CONE = 1e-6;    // how far outside a cone a normal may be [rad]
static const double ON =
    1e-6;  // how far from an edge a point on it may be, in lengths of the triangle

typedef struct search {
    const pp_solid *solid;
    const pp_mesh *mesh;
    pp_pose X;         // of the solid in the frame of the mesh
    perp_vec3 middle;  // of its box
    double margin;
    pp_spots spots;
    pp_touch rescue;  // of the triangles that the solid crosses from behind: the shallowest
    bool crossed;
} search;

typedef struct facet {
    int t;
    perp_vec3 x[3], n;
    perp_vec3 inward[3];  // unit, in the plane, across the side from corner k to k + 1
    double size;          // longest side
} facet;

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
    int other = mesh->neighbour[f->t][side];
    if (!mesh->sharp[f->t][side]) {
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
static bool counts(const pp_mesh *mesh, const facet *f, unsigned on, perp_vec3 n, bool face,
                   int *place)
{
    bool sharp = false;
    int side = 0;
    for (int k = 0; k < 3; k++) {
        bool at = (on >> k) & 1U;
        sharp = sharp || (at && mesh->sharp[f->t][k]);
        side = at ? k : side;
    }
    int other = mesh->neighbour[f->t][side];
    bool theirs =
        other >= 0 && other < f->t;  // an edge has the number that its lower triangle gives it
    *place = theirs ? 3 * other + side_to(mesh, other, f->t) : 3 * f->t + side;
    if (on == 0) {
        return false;
    }
    if ((on & (on - 1)) == 0) {
        return face ? sharp : edge_has(mesh, f, side, n);
    }
    int corner = on == 3 ? 1 : on == 6 ? 2 : 0;  // sides 0 and 1 meet in corner 1, 1 and 2 in 2
    *place = mesh->triangle[f->t][corner];
    return face ? sharp : corner_has(mesh, *place, n);
}

// ── Faces ────────────────────────────────────────────────────────────────────────────────────────

static int touch_plane(const search *s, const facet *f, double margin, pp_touch *touch)
{
    perp_vec3 e = pp_across(f->n);
    const pp_solid plane = {.kind = PP_SOLID_HALFSPACE};
    pp_pose X = {f->x[0], pp_columns(e, pp_cross(f->n, e), f->n)};
    return pp_solid_touch(s->solid, &s->X, &plane, &X, margin, touch);
}

// Points above the triangle, as on a plane. `lowest`: the gap none can be below.
static void add_face(search *s, const facet *f, double lowest)
{
    pp_touch touch[PP_TOUCH_MAX];
    int count = touch_plane(s, f, s->margin, touch);
    for (int k = 0; k < count; k++) {
        bool above = touch[k].gap >= lowest;
        for (int i = 0; i < 3; i++) {
            double inside = pp_dot3(f->inward[i], pp_sub(touch[k].x_b, f->x[i]));
            above = above && inside >= -ON * f->size;
        }
        if (above) {
            // The half-space has no features to tell: the low bits are free for the number of the flat stretch, so
            // that points are in the same order as on a half-space.
            touch[k].feature ^= feature_of(1, s->mesh->region[f->t], 0) & 0x7fffU;
            pp_spots_add(&s->spots, &touch[k]);
        }
    }
}

static void keep_for_rescue(search *s, const facet *f)
{
    pp_touch touch[PP_TOUCH_MAX];
    if (touch_plane(s, f, PP_INF, touch) > 0 && (!s->crossed || touch[0].gap > s->rescue.gap)) {
        s->rescue = touch[0];
        s->rescue.feature = feature_of(4, f->t, 0);
        s->crossed = true;
    }
}

// ── All ──────────────────────────────────────────────────────────────────────────────────────────

static void touch_facet(search *s, const facet *f)
{
    pp_flat_hull flat;
    pp_touch touch[PP_TOUCH_MAX];
    const pp_pose here = {.R = pp_identity3()};
    pp_hull_triangle(f->x[0], f->x[1], f->x[2], &flat);
    const pp_solid triangle = {.kind = PP_SOLID_HULL, .hull = &flat.hull};
    int count = pp_solid_touch(s->solid, &s->X, &triangle, &here, s->margin, touch);
    if (count == 0) {
        return;
    }
    perp_vec3 n = pp_scale(-1.0, touch[0].n);  // outward
    bool behind = pp_dot3(f->n, pp_sub(s->middle, f->x[0])) < 0.0;
    double facing = pp_dot3(n, f->n);
    if (behind || facing < -CONE) {
        if (touch[0].gap < 0.0) {
            keep_for_rescue(s, f);
        }
        if (facing < CONE) {
            return;
        }
    }
    bool face = facing >= 1.0 - ALONG, taken = false;
    for (int k = 0; k < count; k++) {
        int place;
        unsigned on = sides_at(f, touch[k].x_b);
        if (counts(s->mesh, f, on, n, face, &place)) {
            touch[k].feature = feature_of(on & (on - 1) ? 2 : 3, place, touch[k].feature);
            touch[k].n = face ? pp_scale(-1.0, f->n) : touch[k].n;
            pp_spots_add(&s->spots, &touch[k]);
            taken = true;
        }
    }
    if (!behind && (face || !taken)) {
        add_face(s, f, touch[0].gap > 0.0 && !face ? 0.0 : -PP_INF);
    }
}

static pp_box3 box_of(const search *s)
{
    pp_box3 box;
    pp_solid_box(s->solid, &s->X, &box.low, &box.high);
    perp_vec3 more = pp_vec(s->margin, s->margin, s->margin);
    return (pp_box3){pp_sub(box.low, more), pp_add(box.high, more)};
}

int pp_mesh_touch(const pp_solid *a, const pp_pose *X_WA, const pp_mesh *mesh, const pp_pose *X_WB,
                  double margin, pp_touch out[PP_TOUCH_MAX])
{
    pp_mat3 R_BW = pp_transpose3(&X_WB->R);
    search s = {.solid = a, .mesh = mesh, .margin = margin};
    s.X = (pp_pose){pp_pose_local(X_WB, X_WA->p), pp_mat_mul(&R_BW, &X_WA->R)};
    perp_vec3 low, high;
    pp_solid_box(a, &s.X, &low, &high);
    s.middle = pp_add(pp_scale(0.5, low), pp_scale(0.5, high));
    s.spots.size = pp_length(pp_sub(high, low));
    pp_box3 near = box_of(&s);
    for (int t = pp_mesh_next(mesh, &near, 0); t >= 0; t = pp_mesh_next(mesh, &near, t + 1)) {
        facet f = facet_of(mesh, t);
        touch_facet(&s, &f);
    }
    if (s.spots.count == 0 && s.crossed) {
        pp_spots_add(&s.spots, &s.rescue);
    }
    int count = pp_spots_write(&s.spots, out);
    for (int k = 0; k < count; k++) {
        out[k].x_a = pp_pose_point(X_WB, out[k].x_a);
        out[k].x_b = pp_pose_point(X_WB, out[k].x_b);
        out[k].n = pp_mul(&X_WB->R, out[k].n);
    }
    return count;
}
