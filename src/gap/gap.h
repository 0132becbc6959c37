// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of gap/: which shapes are near each other, and the signed gap, normal and contact points of each
// pair.
//
// Sign: the normal n points from shape a to shape b, the gap psi is positive when they are apart and
// negative when they overlap. In the plane the tangent is t = (n_y, -n_x): +x for a floor with n = +y; in
// space t and o = n x t span the tangent plane. Both bodies
// are followed at one and the same point, so that a common rigid motion changes no gap; the rate of the
// gap is n.(v_b - v_a) there, exactly so at the closest point and to first order in the tilt at the other
// point of two sides.
//
// The distance is the true one of convex shapes, the overlap the shortest translation that parts them.
// Two sides that face each other give two points, at the ends of the stretch along which they do, with
// the normal of the closer one; rolling shapes give one. Two vertices give one with a normal of its own, and
// the far end of sides next to them that face each other. Segments and points have no inside:
// a point on a segment, or two segments lying along each other, keep apart on the segment's +y side (of
// two segments: the one with the lower index).
#pragma once

#include "kinematics/kinematics.h"

typedef struct pp_contact {
    int a, b;  // shapes; automatic contacts have a < b
    // which point of the pair; stable from step to step; 0 where there is one only
    uint32_t feature;
    int listed;       // index in model->contact, -1: detected
    perp_vec3 point;  // world: between the witness points; on the other shape for a half-plane
    perp_vec3 n, t;   // world, unit, n from a to b
    double gap;       // psi_n [m]
    double mu, restitution;
    double mu_2;              // along o; negative: as mu
    double mu_spin, mu_roll;  // [m]
    int facets;               // 0: as the sim says
    bool aimed;               // its axis was chosen for the step: it is not that of the distance
    bool locked;              // by friction: corrections are not asked of it        theory (P20)
    perp_vec3 surface;        // d psi_f / dt of moving surfaces: velocity of b's surface minus a's,
                              // beyond the bodies' own motion [m/s]
} pp_contact;

// What a search leaves for the next one: two shapes that are where they were have the points that they had.
typedef struct pp_gaps_seen {
    const pp_frame *body;       // bodies: where they were; NULL: nothing is known
    int pairs;                  // that the broad phase found,
    const uint64_t *pair;       // sorted
    const double *margin;       // of each: points up to this were wanted [m]
    const int *first;           // of each, and of none after them: its points in `contact`
    const pp_contact *contact;  // as they were found
} pp_gaps_seen;

typedef struct pp_gaps {
    int count;
    pp_contact *contact;  // listed ones first, then detected ones sorted by (a, b, feature)
    // Pairs of shapes that were looked at, sorted, and up to which gap [m]; NULL: all as far as the search says.
    int pairs;
    const uint64_t *pair;
    const double *reach;
    pp_gaps_seen seen;  // where the search was asked to remember
} pp_gaps;

// What is known of two shapes that all but touch.
typedef struct pp_pair_hint {
    int a, b;  // shapes, a < b
    bool has_normal, has_rim;
    perp_vec3 n;  // that they had a moment ago, from a to b
    // world: a point of a round face that the manifold has to have while the faces are level [m]
    perp_vec3 rim;
} pp_pair_hint;

// Which pairs are known to be apart, from one search of a model to the next (apart.h); it makes no difference to what is
// found. NULL: out of memory.
typedef struct pp_gap_memory pp_gap_memory;
pp_gap_memory *pp_gap_memory_create(const perp_model *model, pp_arena *arena);

// How contacts are looked for.
typedef struct pp_gap_search {
    double margin;  // gaps up to this are wanted [m]
    // bodies: how far each can move in the step [m]; NULL: gaps up to the margin are wanted of all pairs. Else
    // only those that the bodies around can close (group.c), and those up to `near`.
    const double *travel;
    const double *push;        // bodies: speed that forces add in the step [m/s]; with travel
    double h, span;            // the step, and in which time speeds close a gap, with safety [s]
    double bounces;            // 1 + the largest coefficient of restitution
    double near;               // [m]
    bool by_pair;              // of a pair only those up to its own margin, or up to `closes`:
    double closes;             // what the two fastest of all bodies close in the step [m]
    const pp_team *team;       // NULL: one thread
    const pp_pair_hint *hint;  // of some pairs; the last that fits counts
    int hints;
    bool remember;             // for the next search
    const pp_gaps_seen *last;  // by a search of the same model; NULL: nothing is known
    pp_gap_memory *memory;     // of the same model; NULL: none
} pp_gap_search;

// Contacts of all listed pairs (one point each, the closest) and of all detected pairs with a gap up to
// the margin. Not looked at: shapes with `detect` off, of one body, of bodies that are both not free, pairs
// that a rule ignores, listed pairs, and bodies joined by a joint other than distance, angle and gear,
// unless a rule is given for the pair. PERP_ERR_NUMERIC: a pose or gap is not finite.
perp_status pp_gaps_run(pp_gaps *out, const perp_model *model, const pp_poses *at,
                        pp_gap_search search, pp_arena *arena);

// The same for some pairs only, in the order in which they are given; listed: listed contacts as well.
typedef struct pp_shape_pair {
    int a, b;  // a < b
} pp_shape_pair;
perp_status pp_gaps_some(pp_gaps *out, const perp_model *model, const pp_poses *at,
                         pp_gap_search search, const pp_shape_pair *pair, int pairs, bool listed,
                         pp_arena *arena);

// A bound of how far each body can move in a step, impacts included; two bodies close at most the sum. push: speed that
// forces add [m/s]. Sets h, span and bounces of the search, and `closes` to what the two fastest can close [m].
void pp_gap_travel(const perp_model *model, const pp_kinematics *kin, double *travel, double *push,
                   pp_gap_search *search);
// How far two shapes were looked at from: as the gaps say, else the margin.
double pp_gap_looked(const pp_gaps *gaps, double margin, int a, int b);

// Turns detected contacts to the axes that the motion of the bodies over the step allows (aim.h), in a new list; what is
// listed stays. Distances are distances before, and separations along the axis of the step after. margin: as far as was looked.
// memory: from step to step, NULL: none. Two shapes with the contacts, the motion and the pushes of the last time get what
// they got then.
typedef struct pp_aims_seen {
    const pp_frame *body;     // bodies: at the start of that step; NULL: nothing is known
    const perp_vec3 *forced;  // bodies: velocity that forces add in the step [m/s]
    const perp_vec3 *push;    // bodies: the same, less what contacts hold back [m/s]
    double h;
    int count;
    const pp_contact *found;  // as they were found,
    const bool *choice;       // whether there is another axis for their pair,
    const double *margin;     // how far the pair was looked at [m],
    const int
        *first;  // and where the points of the pair begin in `aimed`; -1: they stayed as found
    const int *points;  // of the pair
    const pp_contact *aimed;
} pp_aims_seen;

typedef struct pp_aim_memory {
    pp_aims_seen last, next;
    pp_arena *arena;  // for `next`
} pp_aim_memory;
// The speeds of moving surfaces as the mean of those at two times, for all contacts.            theory (P23)
void pp_gaps_move_surfaces(pp_gaps *gaps, const perp_model *model, const pp_poses *at,
                           const double t[2]);
perp_status pp_gaps_aim(pp_gaps *gaps, const perp_model *model, const pp_kinematics *kin,
                        double margin, pp_aim_memory *memory, pp_arena *arena);

// The margin of two shapes [m]: `margin` itself, or if it is 0 a hundredth of the reach of the smaller body and no more than 0.01 m. And the
// largest one of all pairs.
double pp_gap_pair_margin(const perp_model *model, double margin, int a, int b);
double pp_gap_margin(const perp_model *model, double margin);

// Culling: drops detected contacts with a gap beyond the margin that nothing in the step can close: one fast body
// must not make contacts of all that is slow.
perp_status pp_contacts_cull(pp_gaps *gaps, const perp_model *model, const pp_kinematics *kin,
                             double margin, pp_arena *arena);

// Points of one pair of shapes with gap <= margin (INFINITY: the closest point in any case): at most
// PP_POINTS_MAX; features, points, normals, gaps filled, the rest zero. Returns how many.
enum { PP_POINTS_MAX = 9 };
int pp_gap_pair(const perp_model *model, const pp_frame *body, int a, int b, double margin,
                pp_contact out[PP_POINTS_MAX]);
// The same with what is known of the pair, NULL: nothing. hint: of (a, b) or (b, a).
int pp_gap_pair_near(const perp_model *model, const pp_frame *body, int a, int b, double margin,
                     const pp_pair_hint *hint, pp_contact out[PP_POINTS_MAX]);
// Of the region that two level faces share, at least one of which is round: the point furthest along the direction aim,
// or the point of its edge nearest to the place aim, in the world. n: from a to b. False: there is no such region.
bool pp_gap_rim(const perp_model *model, const pp_frame *body, int a, int b, perp_vec3 n,
                bool nearest, perp_vec3 aim, perp_vec3 *x);

// False for two points and for two half-planes, which never touch.
bool pp_gap_possible(const pp_shape *a, const pp_shape *b);

// ── Rays (query/) ────────────────────────────────────────────────────────────────────────────────

// In the world; the direction has length 1.
typedef struct pp_ray {
    perp_vec3 origin, direction;
    double most;  // [m]
} pp_ray;

typedef struct pp_ray_hit {
    double distance;  // [m]
    perp_vec3 n;      // outward, unit
    bool inside;      // the origin is in the solid, or a triangle was hit from behind
} pp_ray_hit;

// Which shapes are asked: those with a bit of mask in their group, of bodies other than skip.
typedef struct pp_ray_filter {
    uint32_t mask;
    int skip;
} pp_ray_filter;

typedef struct pp_ray_answer {
    int shape;  // -1: none
    pp_ray_hit hit;
} pp_ray_answer;

// Boxes of all shapes in an arena, for many rays at one state.
typedef struct pp_shape_tree {
    const perp_model *model;
    const pp_frame *body;
    int count, leaves;
    int *shape;     // of the leaves
    pp_box3 *node;  // 1 is the root
} pp_shape_tree;

// One shape; false: not hit up to ray->most.
bool pp_gap_ray(const perp_model *model, const pp_frame *body, int shape, const pp_ray *ray,
                pp_ray_hit *hit);
// The nearest of all shapes, box by box; needs no memory.
pp_ray_answer pp_gap_ray_all(const perp_model *model, const pp_frame *body, const pp_ray *ray,
                             pp_ray_filter filter);
// The same by a tree. False: no memory.
bool pp_shape_tree_build(pp_shape_tree *tree, const perp_model *model, const pp_frame *body,
                         pp_arena *arena);
pp_ray_answer pp_shape_tree_ray(const pp_shape_tree *tree, const pp_ray *ray, pp_ray_filter filter);
// Bounding box of a shape that has one, in the world, grown by half the margin and by what rounding may cost.
pp_box3 pp_shape_box(const perp_model *model, const pp_shape *shape, const pp_frame *frame,
                     double margin);

// A gap up to this is closed [m].
static inline double pp_closed_gap(const perp_model *model)
{
    return 1e-8 * model->length_scale;
}
