// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What the files of the narrow phase of convex solids share. s(n) below is the separation of the separating axis test, signed.
//
// A solid is a core with a radius around it: a sphere is a point, a capsule a segment, all others are
// their own core. With the support function h(d) = max {d.x : x in the solid}, the two are parted along the
// unit vector n by
//
//     s(n) = -h_a(n) - h_b(-n),      gap = max s(n),                                                 (T1)
//
// whether they are apart (then any n gives a lower bound of the distance) or overlap (then -s(n) is the
// translation along n that parts them). So a pair is solved in two stages: find the n of (T1), by whatever
// method suits the pair; then meet the patches of the surfaces that face each other along n, seen along n,
// and take the corners of what they share. The second stage does not care how n was found, and a small turn
// of n moves its points a little only: a box that rests flat up to roundoff keeps its four points whichever
// axis wins.
#pragma once

#include "gap/convex/convex.h"

enum { PP_PATCH_MAX = 64, PP_SPOT_MAX = 2 * PP_PATCH_MAX };

// A solid in world axes, from an origin close by.
typedef struct pp_placed_solid {
    const pp_solid *solid;
    pp_mat3 R;
    perp_vec3 p;
    double radius;  // around the core
    double size;    // no point of the core is further from p
    // a point of its rim, or of the other's, that a manifold has to have; NULL: any will do
    const perp_vec3 *rim;
} pp_placed_solid;

// A point (1 vertex), segment (2) or flat face (3 or more) of a core that faces the other solid.
typedef struct pp_patch {
    int count;
    perp_vec3 x[PP_PATCH_MAX];  // counter-clockwise, seen from outside
    int id[PP_PATCH_MAX];       // of the vertices
    perp_vec3 n;                // of a face: outward, unit
    double facing;              // of a face: n . direction asked for; else 1
    int face;                   // id of a face
    double round;      // the surface is further out by this, as around the axis of a cylinder
    perp_vec3 axis;    // of a segment with a radius or round: a point of the axis it is around
    double disc;       // radius of a round face, whose vertices are points of its rim; 0: no disc
    perp_vec3 centre;  // of it
    bool bare;         // a line of a curved side: what is beside it is not known
} pp_patch;

// A point of the manifold: x on the surface of a, x + gap n on that of b.
typedef struct pp_manifold_point {
    perp_vec3 x;
    double gap;
    double stray;  // how far it is outside one of the patches, within the tolerance
    uint32_t feature;
} pp_manifold_point;

typedef struct pp_manifold3 {
    perp_vec3 n, e, f;          // right-handed, n from a to b
    double s;                   // s(n), without the radii
    double radius_a, radius_b;  // with the round of the patches
    double round_a, round_b;
    bool flat;             // one patch is a disc, the other a disc, a face or a segment
    perp_vec3 common;      // then: a point of a across which there is b, if there is one
    double size;           // of the larger core, for tolerances
    double merge;          // spots closer than this are one
    double uneven;         // how far points of hulls may be outside planes of their faces [m]
    double margin;         // spots further apart are not kept
    const perp_vec3 *rim;  // a place next to which a spot is to be kept; NULL: none
    int count;
    pp_manifold_point spot[PP_SPOT_MAX];
} pp_manifold3;

// The corners of b - a whose weighted sum v is closest to the origin: w = y - x, x of a and y of b.
typedef struct pp_simplex {
    int count;
    perp_vec3 v;
    perp_vec3 w[4], x[4], y[4];
    double weight[4];
} pp_simplex;

// Which features make a spot; ids are below 2^15 or cut to that.
typedef enum pp_manifold3_kind {
    PP_MANIFOLD_VERTEX_FACE = 1,
    PP_MANIFOLD_FACE_VERTEX,
    PP_MANIFOLD_EDGES
} pp_manifold3_kind;

static inline uint32_t pp_manifold3_feature(pp_manifold3_kind kind, int of_a, int of_b)
{
    return ((uint32_t)kind << 30) | (((uint32_t)of_a & 0x7fffu) << 15) | ((uint32_t)of_b & 0x7fffu);
}

// The id of the edge between two vertices, whichever face it is seen from.
static inline int pp_edge_id(int i, int j)
{
    return i < j ? 181 * i + j : 181 * j + i;
}

static inline pp_placed_solid pp_place_solid(const pp_solid *solid, const pp_pose *X,
                                             perp_vec3 origin)
{
    bool round = solid->kind == PP_SOLID_SPHERE || solid->kind == PP_SOLID_CAPSULE;
    return (pp_placed_solid){solid, X->R, pp_sub(X->p, origin), round ? solid->radius : 0.0,
                             0.0,   NULL};
}

// The unit vector across the axis towards d, across to roundoff however small that part of d is.
static inline perp_vec3 pp_radial(perp_vec3 d, perp_vec3 axis)
{
    perp_vec3 r = pp_along(d, -pp_dot3(d, axis), axis);
    if (pp_dot3(r, r) < 1e-28 * pp_dot3(d, d)) {
        return pp_across(axis);
    }
    r = pp_unit(r, axis);
    return pp_unit(pp_along(r, -pp_dot3(r, axis), axis), axis);
}

// ── patch.c: the part of a core that faces a direction ──

// Support point of the core, in world axes.
perp_vec3 pp_core_support(const pp_placed_solid *s, perp_vec3 d);
// Radius of a ball around p that holds the core.
double pp_core_size(const pp_solid *solid);
// The patch of the core that faces the unit vector d and holds a support point.
void pp_patch_set(pp_patch *patch, const pp_placed_solid *s, perp_vec3 d);
// The edge or vertex of it instead of a face.
void pp_patch_narrow(pp_patch *patch, const pp_placed_solid *s, perp_vec3 d);
// The other face at an edge that is nearly across d; false: there is none that faces d.
bool pp_patch_other(pp_patch *patch, const pp_placed_solid *s, perp_vec3 d);

// ── separating_axis.c: the normal among axes that are known beforehand ──

// s(n) of the cores: theory in the head of this file.
double pp_core_separation(const pp_placed_solid *a, const pp_placed_solid *b, perp_vec3 n);
// Boxes, segments and points as boxes: the axis of the largest s(n) among faces and pairs of edges.
double pp_box_separating_axis(const pp_placed_solid *a, const pp_placed_solid *b, double most,
                              perp_vec3 *n);
// The same for polyhedra of any kind; best: s(n) of the n given.
double pp_hull_separating_axis(const pp_placed_solid *a, const pp_placed_solid *b, double best,
                               perp_vec3 *n);
// Any pair: the best of the normals that are likely; -infinity if there is none.
double pp_quick_separating_axis(const pp_placed_solid *a, const pp_placed_solid *b, perp_vec3 *n);
// Whether faces overlap so little, and face each other so widely, that no other direction parts them sooner.
bool pp_quick_deepest(const pp_manifold3 *m, const pp_placed_solid *a, const pp_placed_solid *b);
// Whether no direction further from n than the turn [rad], which is small, parts the cores further than s(n).
bool pp_deepest_within(const pp_placed_solid *a, const pp_placed_solid *b, perp_vec3 n, double s,
                       double turn);

// ── distance.c: GJK and EPA on the Minkowski difference ──

typedef enum pp_gjk_end { PP_GJK_APART, PP_GJK_OVERLAP, PP_GJK_FAR } pp_gjk_end;

// The closest points of the cores. start: where b is from a; FAR: they are further apart than `most`.
// tolerance: of the distance, relative; polyhedra get there exactly.
pp_gjk_end pp_gjk(pp_simplex *s, const pp_placed_solid *a, const pp_placed_solid *b,
                  perp_vec3 start, double most, double tolerance);
// The points of a and b that v is between.
void pp_simplex_points(const pp_simplex *s, perp_vec3 *x, perp_vec3 *y);
// Of overlapping cores, one of which has a volume, or of all but touching ones: the largest s(n) and its n.
// known: the n given is likely.
double pp_epa(const pp_placed_solid *a, const pp_placed_solid *b, bool overlap, bool known,
              perp_vec3 *n);

// ── normal.c: Newton's method from a normal that is nearly right ──

// The best normal that features within a turn of n [rad] allow, and its s(n). overlap: of the cores. most: no normal has
// a larger s(n), such as the distance of two points of the cores; a normal that reaches it ends the search.
double pp_refine_axis(const pp_placed_solid *a, const pp_placed_solid *b, bool overlap, double most,
                      double turn, perp_vec3 *n);
// The same of solids that all but touch, from a normal that is all but right: nothing far from it is looked at.
double pp_refine_axis_near(const pp_placed_solid *a, const pp_placed_solid *b, double turn,
                           perp_vec3 *n);
// The true normal of cores that GJK has found apart by v.
double pp_curved_separation(const pp_placed_solid *a, const pp_placed_solid *b, perp_vec3 v,
                            perp_vec3 *n);
// Finds a better normal if the points of the closest spot are beside their solids.
void pp_manifold3_refine_normal(pp_manifold3 *m, const pp_placed_solid *a,
                                const pp_placed_solid *b);

// ── manifold.c: from a normal to contact points ──

// How far a point is outside a core, at least [m]; 0 or less: it is inside. point: in world axes, as s->p.
double pp_outside_core(const pp_placed_solid *s, perp_vec3 point);
// An empty manifold.
void pp_manifold3_begin(pp_manifold3 *m, const pp_placed_solid *a, const pp_placed_solid *b,
                        perp_vec3 n, double margin);
// Fills m with the points of the manifold for the normal n, along which the cores are s apart.
void pp_manifold3_build(pp_manifold3 *m, const pp_placed_solid *a, const pp_placed_solid *b,
                        perp_vec3 n, double s, double margin);
// Adds a spot between points of the cores. Patches that cross at a slope leave them a little beside each
// other; the radii then touch that much lower.
void pp_manifold3_add(pp_manifold3 *m, perp_vec3 core_a, perp_vec3 core_b, double stray,
                      uint32_t feature);
// True: the closest spot is as close as the bound s, so the distance is the true one.
bool pp_manifold3_is_certified(const pp_manifold3 *m);
// Adds a spot between the given points of the cores unless one as close is there.
void pp_manifold3_ensure(pp_manifold3 *m, perp_vec3 core_a, perp_vec3 core_b, uint32_t feature);
// Adds the closest pair of points, once n is the true normal and if no spot is one. found: by GJK, or NULL.
void pp_manifold3_add_closest(pp_manifold3 *m, const pp_placed_solid *a, const pp_placed_solid *b,
                              const pp_simplex *found);
// How far the points of the closest spot are outside their solids; infinite: there is none as close as s.
double pp_manifold3_stray(const pp_manifold3 *m, const pp_placed_solid *a,
                          const pp_placed_solid *b);
// What it may be: a little more than what cut outlines are widened by (pp_manifold3_build).
double pp_manifold3_stray_tolerance(const pp_manifold3 *m);
// The closest first, at most PP_TOUCH_MAX; single: that one only, without a name. origin: of the placed solids.
int pp_manifold3_write(const pp_manifold3 *m, bool single, perp_vec3 origin, pp_touch_point *out);
