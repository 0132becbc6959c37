// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Convex hulls of points, by qhull's reentrant library.
//
// A hull keeps its faces under affine maps, so qhull is given the points counted from the middle of their box and
// each axis scaled by a power of two to about 1: thin sets become round, and sets far from the origin near, without
// rounding. What is thin askew to the axes is scaled along axes of its own. Facets that are coplanar up to the
// rounding of the points are merged by qhull; points of files are mostly floats (maybe scaled), so this is a float's rounding
// unless the set is too thin for that. Vertices stay where they are: only faces are as flat as that.
//
// qhull leaves its errors by longjmp to a place inside qh_new_qhull, and is not called for anything else
// that can fail; its messages go to a buffer. It takes its own memory from the C library.
#include "solid/hull.h"

#include <float.h>

// Of the points: the middle of their box, and the scale of each axis.
typedef struct frame {
    perp_vec3 middle;
    perp_vec3 scale;
    bool askew;       // `turn` is also to be applied
    pp_mat3 turn;     // rows: the set's own axes over their lengths
    double rounding;  // what the coordinates are uncertain by, after that
    double merge;     // how far from a plane what is to be flat may be, after that
} frame;

// Products of four widths must be finite.
static const double WIDTH_LEAST = 1e-75, WIDTH_MOST = 1e75;

// Scale of an axis: a power of two that takes half the width to about 1; 0: there is no width.
static double axis_scale(double low, double high)
{
    double half = 0.5 * high - 0.5 * low;
    int exponent;
    frexp(half, &exponent);
    return half >= WIDTH_LEAST ? ldexp(1.0, -exponent) : 0.0;
}

// False: an axis has no width.
static bool set_frame(const perp_vec3 *point, int count, frame *f)
{
    perp_vec3 low = point[0], high = point[0];
    for (int k = 1; k < count; k++) {
        low = pp_vec(fmin(low.x, point[k].x), fmin(low.y, point[k].y), fmin(low.z, point[k].z));
        high = pp_vec(fmax(high.x, point[k].x), fmax(high.y, point[k].y), fmax(high.z, point[k].z));
    }
    f->middle =
        pp_vec(0.5 * low.x + 0.5 * high.x, 0.5 * low.y + 0.5 * high.y, 0.5 * low.z + 0.5 * high.z);
    f->scale =
        pp_vec(axis_scale(low.x, high.x), axis_scale(low.y, high.y), axis_scale(low.z, high.z));
    // coordinates are rounded relative to their distance from the origin, not from the middle
    double x = f->scale.x * fmax(fabs(low.x), fabs(high.x));
    double y = f->scale.y * fmax(fabs(low.y), fabs(high.y));
    double z = f->scale.z * fmax(fabs(low.z), fabs(high.z));
    f->rounding = DBL_EPSILON * fmax(x, fmax(y, z));
    // a float's rounding of the widest axis, as seen on the thinnest once that is scaled to 1
    double thick = fmin(fmin(high.x - low.x, high.y - low.y), high.z - low.z);
    double wide = fmax(fmax(high.x - low.x, high.y - low.y), high.z - low.z);
    f->merge = thick > 0.0 ? (double)FLT_EPSILON * (wide / thick) : 0.0;
    return f->scale.x > 0.0 && f->scale.y > 0.0 && f->scale.z > 0.0;
}

static perp_vec3 scaled(const frame *f, perp_vec3 x)
{
    perp_vec3 d = pp_sub(x, f->middle);
    return pp_vec(f->scale.x * d.x, f->scale.y * d.y, f->scale.z * d.z);
}

// The scaled point with the largest squared distance from where `base` and `along` (unit vectors, `rank` of them)
// span a point, a line or a plane; the distance goes to *far.
static perp_vec3 furthest_point(const frame *f, const perp_vec3 *point, int count, perp_vec3 base,
                                const perp_vec3 *along, int rank, double *far)
{
    perp_vec3 best = {0};
    double most = -1.0;
    for (int k = 0; k < count; k++) {
        perp_vec3 d = pp_sub(scaled(f, point[k]), base);
        for (int i = 0; i < rank; i++) {
            d = pp_along(d, -pp_dot3(d, along[i]), along[i]);
        }
        if (pp_dot3(d, d) > most) {
            most = pp_dot3(d, d);
            best = d;
        }
    }
    *far = sqrt(most);
    return best;
}

// Whether all points lie in one plane, up to their rounding. If not, sets the own axes of thin sets.
static bool is_flat(frame *f, const perp_vec3 *point, int count)
{
    const double thin = 1e-3;
    perp_vec3 base = scaled(f, point[0]), along[3] = {{0}};
    // Gram-Schmidt with pivoting: the furthest point from a point, then from a line, then from a plane
    double far[3];
    for (int rank = 0; rank < 3; rank++) {
        perp_vec3 d = furthest_point(f, point, count, base, along, rank, &far[rank]);
        if (!(far[rank] > 16.0 * DBL_EPSILON + 2.0 * f->rounding)) {
            return true;
        }
        along[rank] = pp_scale(1.0 / far[rank], d);
    }
    f->askew = far[2] < thin * far[0];
    if (f->askew) {
        if (pp_dot3(pp_cross(along[0], along[1]), along[2]) < 0.0) {
            along[2] = pp_scale(-1.0, along[2]);
        }
        pp_mat3 axes =
            pp_mat3_columns(pp_scale(1.0 / far[0], along[0]), pp_scale(1.0 / far[1], along[1]),
                            pp_scale(1.0 / far[2], along[2]));
        f->turn = pp_transpose3(&axes);  // a rotation, not a reflection: faces keep their sense
        f->rounding = (f->rounding + DBL_EPSILON) / far[2];
        f->merge /= far[2];
    }
    return false;
}

static perp_status check_points(const perp_vec3 *point, int count, frame *f, perp_error *error)
{
    for (int k = 0; k < count; k++) {
        double most = fmax(fmax(fabs(point[k].x), fabs(point[k].y)), fabs(point[k].z));
        if (!pp_finite3(point[k]) || most > WIDTH_MOST) {
            return pp_fail(error, PERP_ERR_ARGUMENT,
                           "point %d of a hull is not finite, or too large", k);
        }
    }
    if (count < 4) {
        return pp_fail(error, PERP_ERR_ARGUMENT,
                       "a hull needs at least four points, not all in one plane; there are %d",
                       count);
    }
    if (!set_frame(point, count, f) || is_flat(f, point, count)) {
        return pp_fail(error, PERP_ERR_ARGUMENT,
                       "the %d points of a hull are all in one plane: give the hull a thickness",
                       count);
    }
    return PERP_OK;
}

#ifdef PERP_WITH_QHULL

#include <libqhull_r/qhull_ra.h>

#include <stdio.h>
#include <string.h>

typedef struct qhull_run {
    qhT *qh;
    coordT *x;  // scaled points, as qhull reads them
    pp_arena *arena;
    pp_facets facets;
} qhull_run;

static perp_vec3 mapped(const frame *f, perp_vec3 x)
{
    perp_vec3 y = scaled(f, x);
    return f->askew ? pp_mul(&f->turn, y) : y;
}

static int point_index(const qhull_run *r, const vertexT *vertex)
{
    return (int)((vertex->point - r->x) / 3);
}

// The corners of a facet with more than three, in order: its ridges are its sides, in any order.
static bool order_corners(const qhull_run *r, facetT *facet, int *corner)
{
    ridgeT *ridge, **ridgep;
    int n = qh_setsize(r->qh, facet->ridges), count = 0;
    int(*side)[2] = pp_arena_array(r->arena, (size_t)n, sizeof *side);
    if (!side) {
        return false;
    }
    FOREACHridge_(facet->ridges)
    {
        side[count][0] = point_index(r, SETfirstt_(ridge->vertices, vertexT));
        side[count][1] = point_index(r, SETsecondt_(ridge->vertices, vertexT));
        count++;
    }
    // follow the sides from end to end; those in use are side[0..k-1]
    corner[0] = side[0][0];
    int end = side[0][1];
    for (int k = 1; k < n; k++) {
        corner[k] = end;
        for (int i = k; i < n; i++) {
            if (side[i][0] == end || side[i][1] == end) {
                end = side[i][0] == end ? side[i][1] : side[i][0];
                // side k, not in use yet, takes its slot
                memmove(side[i], side[k], sizeof *side);
                break;
            }
        }
    }
    return true;
}

static perp_vec3 point_at(const qhull_run *r, int k)
{
    return pp_vec(r->x[3 * k], r->x[3 * k + 1], r->x[3 * k + 2]);
}

// Turns the corners of a facet so that they are counter-clockwise about its outward normal.
static void orient(const qhull_run *r, const facetT *facet, int *corner, int count)
{
    perp_vec3 sum = {0}, x0 = point_at(r, corner[0]);
    for (int k = 2; k < count; k++) {
        sum = pp_add(sum, pp_triangle_area(x0, point_at(r, corner[k - 1]), point_at(r, corner[k])));
    }
    bool inward = pp_dot3(sum, pp_vec(facet->normal[0], facet->normal[1], facet->normal[2])) < 0.0;
    if (!inward) {
        return;
    }
    for (int i = 0, k = count - 1; i < k; i++, k--) {
        int swap = corner[i];
        corner[i] = corner[k];
        corner[k] = swap;
    }
}

// Copies qhull's facets to the arena: counts first, then corners. False: out of memory.
static bool take_facets(qhull_run *r)
{
    qhT *qh = r->qh;
    facetT *facet;
    vertexT *vertex, **vertexp;
    int corners = 0;
    FORALLfacets
    {
        corners += facet->simplicial ? 3 : qh_setsize(qh, facet->ridges);
        r->facets.count++;
    }
    r->facets.first = PP_ARRAY(r->arena, int, r->facets.count + 1);
    r->facets.corner = PP_ARRAY(r->arena, int, corners);
    if (!r->facets.first || !r->facets.corner) {
        return false;
    }
    int f = 0, at = 0;
    FORALLfacets
    {
        int start = at;
        r->facets.first[f++] = start;
        if (facet->simplicial) {  // a triangle has vertices and no ridges
            FOREACHvertex_(facet->vertices)
            {
                r->facets.corner[at++] = point_index(r, vertex);
            }
        } else if (order_corners(r, facet, r->facets.corner + at)) {
            at += qh_setsize(qh, facet->ridges);
        } else {
            return false;
        }
        orient(r, facet, r->facets.corner + start, at - start);
    }
    r->facets.first[f] = at;
    return true;
}

// What qhull says went wrong: its first line.
static perp_status qhull_fails(const char *said, perp_error *error)
{
    int length = (int)strcspn(said, "\n");
    return pp_fail(error, PERP_ERR_NUMERIC, "no hull: %.*s", length < 200 ? length : 200, said);
}

// Whatever comes back, qhull's memory is given back and its messages are closed.
static perp_status call_qhull(qhull_run *r, int count, double merge, perp_error *error)
{
    char said[512] = "", command[64];
    FILE *messages = fmemopen(said, sizeof said, "w");
    if (!messages) {
        return PERP_ERR_MEMORY;
    }
    // Pp: no advice; Q12: wide facets are allowed; C-n: merge what is coplanar up to n.
    pp_print(command, sizeof command, "qhull Pp Q12 C-%.3g", merge);
    qh_zero(r->qh, messages);
    int code = qh_new_qhull(r->qh, 3, count, r->x, False, command, NULL, messages);
    perp_status status = PERP_OK;
    if (code == qh_ERRmem || (code == 0 && !take_facets(r))) {
        status = PERP_ERR_MEMORY;
    }
    int current, total;
    qh_freeqhull(r->qh, !qh_ALL);
    qh_memfreeshort(r->qh, &current, &total);
    fclose(messages);
    said[sizeof said - 1] = '\0';
    if (code != 0 && status == PERP_OK) {
        return qhull_fails(said, error);
    }
    return status;
}

static perp_status make_hull(const perp_vec3 *point, int count, const frame *f, pp_arena *arena,
                             const pp_hull **hull, perp_error *error)
{
    qhull_run r = {.arena = arena};
    r.qh = PP_ARRAY(arena, qhT, 1);
    r.x = PP_ARRAY(arena, coordT, 3 * (size_t)count);
    if (!r.qh || !r.x) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for a hull of %d points", count);
    }
    for (int k = 0; k < count; k++) {
        perp_vec3 x = mapped(f, point[k]);
        r.x[3 * k] = x.x;
        r.x[3 * k + 1] = x.y;
        r.x[3 * k + 2] = x.z;
    }
    const double merge_most = 1e-6;
    double merge = fmax(fmin(f->merge, merge_most), 4.0 * f->rounding);
    perp_status status = call_qhull(&r, count, merge, error);
    if (status == PERP_ERR_MEMORY) {
        return pp_fail(error, status, "not enough memory for a hull of %d points", count);
    }
    return status == PERP_OK ? pp_hull_build(point, count, &r.facets, arena, hull, error) : status;
}

#else

static perp_status make_hull(const perp_vec3 *point, int count, const frame *f, pp_arena *arena,
                             const pp_hull **hull, perp_error *error)
{
    (void)point;
    (void)f;
    (void)arena;
    (void)hull;
    return pp_fail(error, PERP_ERR_REFUSED,
                   "a hull of %d points: libperp was built without qhull (PERP_WITH_QHULL)", count);
}

#endif

perp_status pp_hull_create(const perp_vec3 *point, int count, pp_arena *arena, const pp_hull **hull,
                           perp_error *error)
{
    frame f = {0};
    perp_status status = check_points(point, count, &f, error);
    return status == PERP_OK ? make_hull(point, count, &f, arena, hull, error) : status;
}
