// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Which part of a solid faces a direction: a vertex, an edge or a face (its patch).
//
// d is the outward direction asked for, a unit vector in world axes: n for a, -n for b. The slope of an edge
// is |e.d| for its unit direction e, that of a face the angle between its normal and d.
#include "gap/convex/narrow.h"

// Spheres and capsules are handled here and not by pp_solid_support, because their radius is not part of the core.
perp_vec3 pp_core_support(const pp_placed_solid *s, perp_vec3 d)
{
    const pp_solid *solid = s->solid;
    perp_vec3 local;
    if (solid->kind == PP_SOLID_SPHERE) {
        return s->p;
    }
    d = pp_mul_t(&s->R, d);
    if (solid->kind == PP_SOLID_CAPSULE) {
        local = pp_vec(0.0, 0.0, d.z >= 0.0 ? solid->half.z : -solid->half.z);
    } else {
        local = pp_solid_support(solid, d);
    }
    return pp_add(s->p, pp_mul(&s->R, local));
}

double pp_core_size(const pp_solid *solid)
{
    switch (solid->kind) {
    case PP_SOLID_CAPSULE:
        return solid->half.z;
    case PP_SOLID_BOX:
        return pp_length(solid->half);
    case PP_SOLID_CYLINDER:
    case PP_SOLID_CONE:
        return pp_hypot(solid->radius, solid->half.z);
    case PP_SOLID_ELLIPSOID:
        return fmax(solid->half.x, fmax(solid->half.y, solid->half.z));
    case PP_SOLID_HULL:
        return solid->hull->reach;
    default:
        return 0.0;
    }
}

// A patch of one vertex; nothing of it is round or a disc.
static void set_point(pp_patch *patch, perp_vec3 x, int id)
{
    patch->count = 1;
    patch->x[0] = x;
    patch->id[0] = id;
    patch->facing = 1.0;
    patch->face = 0;
    patch->round = patch->disc = 0.0;
    patch->bare = false;
}

// i, j: ids of the ends.
static void set_segment(pp_patch *patch, perp_vec3 x, int i, perp_vec3 y, int j)
{
    set_point(patch, x, i);
    patch->count = 2;
    patch->x[1] = y;
    patch->id[1] = j;
}

// ── Segment ──────────────────────────────────────────────────────────────────────────────────────

// A segment more than this out of the plane across d is taken as its nearer end.
static const double STEEP = 0.7;
// An edge less than this out of the plane has two faces to look at.
static const double SLIGHT = 0.05;

// The core of a capsule.
static void patch_segment(pp_patch *patch, const pp_placed_solid *s, perp_vec3 d)
{
    perp_vec3 axis = pp_mat3_column(&s->R, 2);
    double up = pp_dot3(axis, d), half = s->solid->half.z;
    if (fabs(up) > STEEP || half == 0.0) {
        set_point(patch, pp_along(s->p, up >= 0.0 ? half : -half, axis), up >= 0.0);
    } else {
        set_segment(patch, pp_along(s->p, -half, axis), 0, pp_along(s->p, half, axis), 1);
        patch->axis = s->p;
    }
}

// ── Box ──────────────────────────────────────────────────────────────────────────────────────────
// Vertex k is at +half along axis i where bit i of k is set; face 2 i + 1 is the one at +half, 2 i at -half.

// Vertex k in world axes.
static perp_vec3 box_vertex(const pp_placed_solid *s, int k)
{
    perp_vec3 h = s->solid->half;
    perp_vec3 local = h;
    if (!(k & 1)) {
        local.x = -h.x;
    }
    if (!(k & 2)) {
        local.y = -h.y;
    }
    if (!(k & 4)) {
        local.z = -h.z;
    }
    return pp_add(s->p, pp_mul(&s->R, local));
}

// The face whose normal is nearest to d; of equals z before y before x.
static void patch_box(pp_patch *patch, const pp_placed_solid *s, perp_vec3 d)
{
    perp_vec3 local = pp_mul_t(&s->R, d);
    double x = fabs(local.x), y = fabs(local.y), z = fabs(local.z);
    int i = 0;
    if (z >= x && z >= y) {
        i = 2;
    } else if (y >= x) {
        i = 1;
    }
    int j = (i + 1) % 3, k = (i + 2) % 3;
    const double side[3] = {local.x, local.y, local.z};
    int up = side[i] >= 0.0, base = up << i;
    // counter-clockwise about +axis i: (j, k) is right-handed with it; the face at -half runs the other way
    const int around[4] = {base, base | (1 << j), base | (1 << j) | (1 << k), base | (1 << k)};
    patch->count = 4;
    for (int q = 0; q < 4; q++) {
        patch->id[q] = around[up ? q : 3 - q];
        patch->x[q] = box_vertex(s, patch->id[q]);
    }
    patch->n = pp_scale(up ? 1.0 : -1.0, pp_mat3_column(&s->R, i));
    patch->facing = fabs(side[i]);
    patch->face = 2 * i + up;
    patch->round = patch->disc = 0.0;
}

// The edge of the face that is nearest to d: along the axis of the smallest slope.
static void narrow_box(pp_patch *patch, const pp_placed_solid *s, perp_vec3 d)
{
    perp_vec3 local = pp_mul_t(&s->R, d);
    const double side[3] = {local.x, local.y, local.z};
    int i = 0, vertex = 0;
    if (fabs(side[1]) < fabs(side[0])) {
        i = 1;
    }
    if (fabs(side[2]) < fabs(side[i])) {
        i = 2;
    }
    for (int k = 0; k < 3; k++) {
        if (side[k] >= 0.0) {
            vertex |= 1 << k;
        }
    }
    if (fabs(side[i]) > STEEP) {
        set_point(patch, box_vertex(s, vertex), vertex);
    } else {
        int low = vertex & ~(1 << i), high = vertex | (1 << i);
        set_segment(patch, box_vertex(s, low), low, box_vertex(s, high), high);
    }
}

// The other face at the edge nearest to d, where there is one: the edge is along the axis of the smallest component of
// d, and the other face has the normal of the middle one. None where d is along a face normal, or far from any edge.
static bool other_box(pp_patch *patch, const pp_placed_solid *s, perp_vec3 d)
{
    perp_vec3 local = pp_mul_t(&s->R, d);
    double side[3] = {local.x, local.y, local.z};
    int best = patch->face / 2, second = (best + 1) % 3, third = (best + 2) % 3;
    if (fabs(side[third]) > fabs(side[second])) {
        int swap = second;
        second = third;
        third = swap;
    }
    if (fabs(side[third]) > SLIGHT || fabs(side[second]) < SLIGHT) {
        return false;
    }
    // with the component along the best face gone, the middle one is the largest
    side[best] = 0.0;
    patch_box(patch, s, pp_mul(&s->R, pp_vec(side[0], side[1], side[2])));
    patch->facing = fabs(side[second]);
    return true;
}

// ── Hull ─────────────────────────────────────────────────────────────────────────────────────────

// Vertices this much below the support plane, times the size, count as on it.
static const double LEVEL = 1e-10;

// Vertex k in world axes.
static perp_vec3 hull_vertex(const pp_placed_solid *s, int k)
{
    return pp_add(s->p, pp_mul(&s->R, s->solid->hull->vertex[k]));
}

// A face with at most PP_PATCH_MAX of its corners, evenly taken.
static void set_hull_face(pp_patch *patch, const pp_placed_solid *s, int face, perp_vec3 d)
{
    const pp_hull *hull = s->solid->hull;
    int first = hull->face_first[face], count = hull->face_first[face + 1] - first;
    int step = (count + PP_PATCH_MAX - 1) / PP_PATCH_MAX;  // more corners than that: some of them
    patch->count = 0;
    for (int k = 0; k < count; k += step) {
        int vertex = hull->corner[first + k];
        patch->id[patch->count] = vertex;
        patch->x[patch->count++] = hull_vertex(s, vertex);
    }
    patch->n = pp_mul(&s->R, hull->face_normal[face]);
    patch->facing = pp_dot3(patch->n, d);
    patch->face = face;
    patch->round = patch->disc = 0.0;
}

// What the features of a hull near its support plane are found with.
typedef struct hull_view {
    const pp_hull *hull;
    perp_vec3 local;       // the outward direction, in its frame
    double level;          // vertices from here on along it count as furthest [m]
    int count;             // of `top`; negative: not known, all features are looked at
    int top[PP_CAP_MOST];  // among others, the vertices that are furthest
} hull_view;

static hull_view view_hull(const pp_placed_solid *s, perp_vec3 d)
{
    const pp_hull *hull = s->solid->hull;
    perp_vec3 local = pp_mul_t(&s->R, d);
    hull_view v = {.hull = hull, .local = local, .count = -1};
    v.level = pp_dot3(local, hull->vertex[pp_hull_support(hull, local)]) - LEVEL * s->size;
    if (hull->ring) {
        v.count = pp_hull_cap(hull, local, LEVEL * s->size, v.top);
    }
    return v;
}

typedef struct facing_face {
    double facing;
    int face;
} facing_face;

// Keeps the face that is worth more; the first of equal ones.
static void keep_facing_face(facing_face *best, const hull_view *v, int face)
{
    const pp_hull *hull = v->hull;
    double facing = pp_dot3(hull->face_normal[face], v->local);
    if (facing <= 0.0) {
        return;
    }
    for (int k = hull->face_first[face]; k < hull->face_first[face + 1]; k++) {
        if (pp_dot3(hull->vertex[hull->corner[k]], v->local) >= v->level) {
            facing += 2.0;
        }
    }
    if (facing > best->facing || (facing == best->facing && face < best->face)) {
        *best = (facing_face){facing, face};
    }
}

// Of the faces that hold most of the vertices furthest along d, the one that faces d most: each such vertex counts 2,
// the cosine between normal and d at most 1. The cosine alone could choose a face
// that does not hold the support point.
static void patch_hull(pp_patch *patch, const pp_placed_solid *s, perp_vec3 d)
{
    hull_view v = view_hull(s, d);
    facing_face best = {-PP_INF, 0};
    // a face without any of these vertices is worth 1 at most, one with any more than 2
    for (int i = 0; i < v.count; i++) {
        for (int k = v.hull->ring_first[v.top[i]]; k < v.hull->ring_first[v.top[i] + 1]; k++) {
            const int *edge = v.hull->edge[v.hull->ring_edge[k]];
            // each face at a vertex has one edge that leaves it
            int face = edge[v.top[i] == edge[0] ? 2 : 3];
            if (face != best.face || best.facing < 0.0) {
                keep_facing_face(&best, &v, face);
            }
        }
    }
    if (v.count < 0) {
        for (int f = 0; f < v.hull->faces; f++) {
            keep_facing_face(&best, &v, f);
        }
    }
    set_hull_face(patch, s, best.face, d);
}

// Keeps the edge of the smaller slope; the first of equal ones.
static void keep_level_edge(int *best, double *slope, const hull_view *v, int edge)
{
    const int *of = v->hull->edge[edge];
    perp_vec3 x = v->hull->vertex[of[0]], y = v->hull->vertex[of[1]];
    double at_x = pp_dot3(x, v->local), at_y = pp_dot3(y, v->local);
    double steep = fabs(at_y - at_x) / pp_length(pp_sub(y, x));
    if (fmax(at_x, at_y) >= v->level && (steep < *slope || (steep == *slope && edge < *best))) {
        *slope = steep;
        *best = edge;
    }
}

// The edge from a vertex furthest along d that is most across d; -1: none of less than the given slope.
static int hull_edge(const pp_placed_solid *s, perp_vec3 d, double slope)
{
    hull_view v = view_hull(s, d);
    int best = -1;
    for (int i = 0; i < v.count; i++) {
        for (int k = v.hull->ring_first[v.top[i]]; k < v.hull->ring_first[v.top[i] + 1]; k++) {
            keep_level_edge(&best, &slope, &v, v.hull->ring_edge[k]);
        }
    }
    if (v.count < 0) {
        for (int k = 0; k < v.hull->edges; k++) {
            keep_level_edge(&best, &slope, &v, k);
        }
    }
    return best;
}

// The edge most across d at the support vertex, or that vertex where all edges are steep.
static void narrow_hull(pp_patch *patch, const pp_placed_solid *s, perp_vec3 d)
{
    const pp_hull *hull = s->solid->hull;
    int edge = hull_edge(s, d, STEEP);
    if (edge >= 0) {
        int i = hull->edge[edge][0], j = hull->edge[edge][1];
        set_segment(patch, hull_vertex(s, i), i, hull_vertex(s, j), j);
        return;
    }
    int best = pp_hull_support(hull, pp_mul_t(&s->R, d));
    set_point(patch, hull_vertex(s, best), best);
}

// The two faces at an edge are of[2] and of[3].
static bool other_hull(pp_patch *patch, const pp_placed_solid *s, perp_vec3 d)
{
    int edge = hull_edge(s, d, SLIGHT);
    if (edge < 0) {
        return false;
    }
    const int *of = s->solid->hull->edge[edge];
    int face = of[2] == patch->face ? of[3] : of[2];
    if (face == patch->face ||
        pp_dot3(pp_mul(&s->R, s->solid->hull->face_normal[face]), d) < SLIGHT) {
        return false;
    }
    set_hull_face(patch, s, face, d);
    return true;
}

// ── Cylinder and cone ────────────────────────────────────────────────────────────────────────────
// The rim of a base is seen as eight points, fixed to the solid, of which the nearest one gives way to the
// point that is furthest along d. A point that was asked for is a ninth one, and that one moves in its place.

enum { RIM = 8, ASKED_ID = 16, SIDE_ID = 32 };

// A side that is less than this out of the plane across d rolls on it.
static const double ROLLING = 0.02;

// A base less than this out of the plane across d is level: which point is furthest is then rounding, and it
// would jump along the rim. What is left out is below 0.08 times this, times the radius.
static const double LEVEL_BASE = 1e-9;

// The point of a rim that was asked for, in the frame of the solid; false: none, or of another rim. It passes smoothly
// into the lowest point as the base tilts: being asked for counts as much as a tilt of LEVEL_BASE.
static bool asked_point(const pp_placed_solid *s, perp_vec3 local, double top, perp_vec3 *x)
{
    double r = s->solid->radius, z = top * s->solid->half.z;
    if (!s->rim) {
        return false;
    }
    perp_vec3 asked = pp_mul_t(&s->R, pp_sub(*s->rim, s->p));
    double out = pp_hypot(asked.x, asked.y);
    if (fabs(out - r) > 1e-6 * r || fabs(asked.z - z) > 1e-6 * s->size) {
        return false;
    }
    double u = local.x + LEVEL_BASE * asked.x / out, v = local.y + LEVEL_BASE * asked.y / out;
    double across = pp_hypot(u, v);
    *x = pp_vec(r * u / across, r * v / across, z);
    return across > 0.0;
}

// Puts it between the two of the eight that it lies between; counter-clockwise from outside, top or bottom.
static void insert_asked(pp_patch *patch, const pp_placed_solid *s, perp_vec3 x, double top)
{
    static const double EIGHTH = 0.78539816339744831;
    double turn = pp_atan2(x.y, x.x) / EIGHTH;
    int sector = ((int)floor(turn) + RIM) % RIM, at = top > 0.0 ? sector + 1 : RIM - 1 - sector;
    for (int q = patch->count; q > at; q--) {
        patch->x[q] = patch->x[q - 1];
        patch->id[q] = patch->id[q - 1];
    }
    patch->x[at] = pp_add(s->p, pp_mul(&s->R, x));
    patch->id[at] = top > 0.0 ? ASKED_ID + 1 : ASKED_ID;
    patch->count++;
}

// top: +1 or -1, the base that looks along +z or -z. Points are counter-clockwise, seen from outside.
static void patch_base(pp_patch *patch, const pp_placed_solid *s, perp_vec3 d, double top)
{
    static const double C = 0.7071067811865476;
    static const double DIRECTION[RIM][2] = {{1.0, 0.0},  {C, C},   {0.0, 1.0},  {-C, C},
                                             {-1.0, 0.0}, {-C, -C}, {0.0, -1.0}, {C, -C}};
    perp_vec3 local = pp_mul_t(&s->R, d);
    double r = s->solid->radius, z = top * s->solid->half.z, across = pp_hypot(local.x, local.y);
    perp_vec3 asked;
    int nearest = 0;
    double least = -PP_INF;
    patch->count = RIM;
    for (int q = 0; q < RIM; q++) {
        int k = top > 0.0 ? q : RIM - 1 - q;
        const double *way = DIRECTION[k];
        double along = way[0] * local.x + way[1] * local.y;
        if (along > least) {
            least = along;
            nearest = q;
        }
        patch->id[q] = top > 0.0 ? RIM + k : k;
        patch->x[q] = pp_add(s->p, pp_mul(&s->R, pp_vec(r * way[0], r * way[1], z)));
    }
    // An asked-for point of the rim is inserted. Otherwise, on a tilted base, the fixed point nearest to the lowest
    // point of the rim gives way to it and keeps its id: the manifold has the true support point in it.
    if (asked_point(s, local, top, &asked)) {
        insert_asked(patch, s, asked, top);
    } else if (across > LEVEL_BASE) {
        perp_vec3 x = pp_vec(r * local.x / across, r * local.y / across, z);
        patch->x[nearest] = pp_add(s->p, pp_mul(&s->R, x));
    }
    patch->n = pp_scale(top, pp_mat3_column(&s->R, 2));
    patch->facing = top * local.z;
    patch->face = top > 0.0;
    patch->round = 0.0;
    patch->disc = r;
    patch->centre = pp_along(s->p, s->solid->half.z, patch->n);
}

// The line of the side that looks along d, as if round the axis: two cylinders side by side meet like
// two capsules.
static void patch_cylinder(pp_patch *patch, const pp_placed_solid *s, perp_vec3 d)
{
    perp_vec3 axis = pp_mat3_column(&s->R, 2);
    double up = pp_dot3(axis, d), half = s->solid->half.z, r = s->solid->radius;
    if (fabs(up) >= STEEP) {
        patch_base(patch, s, d, copysign(1.0, up));
        return;
    }
    // Rolling: the patch is moved in to the axis by r along d, and `round` brings the radius back in, so that the gap
    // is smooth in the tilt. Tilted more, it is the line of the side itself.
    bool flat = fabs(up) < ROLLING;
    perp_vec3 out = pp_radial(d, axis);
    perp_vec3 middle = pp_along(pp_along(s->p, r, out), flat ? -r : 0.0, d);
    set_segment(patch, pp_along(middle, -half, axis), SIDE_ID, pp_along(middle, half, axis),
                SIDE_ID + 1);
    patch->round = flat ? r : 0.0;
    patch->axis = s->p;
    patch->bare = !flat;
}

// The base where d is nearer to its normal than to that of the slanted side; else the line of the side in the plane of
// d and the axis, or the end of it that is the support point.
static void patch_cone(pp_patch *patch, const pp_placed_solid *s, perp_vec3 d)
{
    perp_vec3 axis = pp_mat3_column(&s->R, 2);
    double up = pp_dot3(axis, d), half = s->solid->half.z, r = s->solid->radius;
    double across = sqrt(fmax(0.0, 1.0 - up * up)), slant = pp_hypot(2.0 * half, r);
    double side = (2.0 * half * across + r * up) / slant;
    if (-up >= side && -up >= STEEP) {
        patch_base(patch, s, d, -1.0);
        return;
    }
    perp_vec3 out = pp_radial(d, axis);
    perp_vec3 apex = pp_along(s->p, half, axis);
    perp_vec3 rim = pp_along(pp_along(s->p, -half, axis), r, out);
    double drop = pp_dot3(d, pp_sub(rim, apex));
    if (drop > STEEP * slant) {
        set_point(patch, rim, SIDE_ID + 1);
    } else if (drop < -STEEP * slant) {
        set_point(patch, apex, SIDE_ID);
    } else {
        set_segment(patch, apex, SIDE_ID, rim, SIDE_ID + 1);
        patch->bare = true;
    }
}

// ── All ──────────────────────────────────────────────────────────────────────────────────────────

void pp_patch_set(pp_patch *patch, const pp_placed_solid *s, perp_vec3 d)
{
    switch (s->solid->kind) {
    case PP_SOLID_CAPSULE:
        patch_segment(patch, s, d);
        break;
    case PP_SOLID_BOX:
        patch_box(patch, s, d);
        break;
    case PP_SOLID_HULL:
        patch_hull(patch, s, d);
        break;
    case PP_SOLID_CYLINDER:
        patch_cylinder(patch, s, d);
        break;
    case PP_SOLID_CONE:
        patch_cone(patch, s, d);
        break;
    default:
        set_point(patch, pp_core_support(s, d), 0);
        break;
    }
}

void pp_patch_narrow(pp_patch *patch, const pp_placed_solid *s, perp_vec3 d)
{
    if (s->solid->kind == PP_SOLID_BOX) {
        narrow_box(patch, s, d);
    } else if (s->solid->kind == PP_SOLID_HULL) {
        narrow_hull(patch, s, d);
    } else if (patch->count > 2) {
        set_point(patch, pp_core_support(s, d), SIDE_ID + 2);
    }
}

bool pp_patch_other(pp_patch *patch, const pp_placed_solid *s, perp_vec3 d)
{
    if (s->solid->kind == PP_SOLID_BOX) {
        return other_box(patch, s, d);
    }
    if (s->solid->kind == PP_SOLID_HULL) {
        return other_hull(patch, s, d);
    }
    return false;
}
