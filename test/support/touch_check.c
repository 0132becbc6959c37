// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// See touch_check.h.
#include "support/touch_check.h"

#include <string.h>

// ── Shapes ───────────────────────────────────────────────────────────────────────────────────────

static void add_face(touch_hull *h, const int *corner, int count)
{
    int face = h->hull.faces++, at = h->first[face];
    memcpy(&h->corner[at], corner, (size_t)count * sizeof *corner);
    h->first[face + 1] = at + count;
    perp_vec3 x = h->vertex[corner[0]], y = h->vertex[corner[1]], z = h->vertex[corner[2]];
    h->normal[face] = pp_unit(pp_cross(pp_sub(y, x), pp_sub(z, x)), pp_vec(0.0, 0.0, 1.0));
    for (int k = 0; k < count; k++) {
        int i = corner[k], j = corner[(k + 1) % count], e = 0;
        while (e < h->hull.edges && !(h->edge[e][0] == j && h->edge[e][1] == i)) {
            e++;
        }
        if (e == h->hull.edges) {
            memcpy(h->edge[h->hull.edges++], (int[4]){i, j, face, -1}, sizeof h->edge[0]);
        } else {
            h->edge[e][3] = face;
        }
    }
}

static void add_prism(touch_hull *h, int n, double top)
{
    int lower[8], upper[8];
    h->hull.vertices = 2 * n;
    for (int k = 0; k < n; k++) {
        double angle = 6.283185307179586 * (k + 0.5) / n, c = cos(angle), s = sin(angle);
        h->vertex[k] = pp_vec(c, s, -1.0);
        h->vertex[n + k] = pp_vec(top * c, top * s, 1.0);
        lower[n - 1 - k] = k;
        upper[k] = n + k;
    }
    add_face(h, lower, n);
    add_face(h, upper, n);
    for (int k = 0; k < n; k++) {
        int l = (k + 1) % n;
        add_face(h, (int[4]){k, l, n + l, n + k}, 4);
    }
}

static void add_octahedron(touch_hull *h)
{
    h->hull.vertices = 6;
    for (int k = 0; k < 6; k++) {
        double s = k & 1 ? -1.0 : 1.0;
        h->vertex[k] = pp_vec(k / 2 == 0 ? s : 0.0, k / 2 == 1 ? s : 0.0, k / 2 == 2 ? s : 0.0);
    }
    for (int k = 0; k < 8; k++) {
        int i = k & 1, j = 2 + ((k >> 1) & 1), l = 4 + ((k >> 2) & 1);
        bool even = ((k & 1) + ((k >> 1) & 1) + ((k >> 2) & 1)) % 2 == 0;
        add_face(h, (int[3]){i, even ? j : l, even ? l : j}, 3);
    }
}

static void add_tetrahedron(touch_hull *h)
{
    h->hull.vertices = 4;
    for (int k = 0; k < 4; k++) {
        h->vertex[k] =
            pp_vec(k & 1 ? 1.0 : -1.0, k & 2 ? 1.0 : -1.0, k == 1 || k == 2 ? -1.0 : 1.0);
    }
    add_face(h, (int[3]){0, 1, 3}, 3);
    add_face(h, (int[3]){0, 3, 2}, 3);
    add_face(h, (int[3]){0, 2, 1}, 3);
    add_face(h, (int[3]){1, 2, 3}, 3);
}

// Without volume: two faces, back to back.
static void add_triangle(touch_hull *h)
{
    h->hull.vertices = 3;
    h->vertex[0] = pp_vec(1.0, 0.0, 0.0);
    h->vertex[1] = pp_vec(-0.5, 1.0, 0.0);
    h->vertex[2] = pp_vec(-0.5, -1.0, 0.0);
    add_face(h, (int[3]){0, 1, 2}, 3);
    add_face(h, (int[3]){2, 1, 0}, 3);
}

void touch_hull_set(touch_hull *h, int which, perp_vec3 half)
{
    memset(h, 0, sizeof *h);
    switch (which % 6) {
    case 5:
        add_triangle(h);
        break;
    case 0:
        add_prism(h, 4, 1.0);
        break;
    case 1:
        add_tetrahedron(h);
        break;
    case 2:
        add_prism(h, 3, 1.0);
        break;
    case 3:
        add_octahedron(h);
        break;
    default:
        add_prism(h, 7, 0.6);
        break;
    }
    for (int k = 0; k < h->hull.vertices; k++) {
        perp_vec3 v = h->vertex[k];
        h->vertex[k] = pp_vec(half.x * v.x, half.y * v.y, half.z * v.z);
    }
    for (int f = 0; f < h->hull.faces; f++) {
        const int *c = &h->corner[h->first[f]];
        perp_vec3 x = h->vertex[c[0]], y = h->vertex[c[1]], z = h->vertex[c[2]];
        h->normal[f] = pp_unit(pp_cross(pp_sub(y, x), pp_sub(z, x)), pp_vec(0.0, 0.0, 1.0));
    }
    h->hull.vertex = h->vertex;
    h->hull.face_first = h->first;
    h->hull.corner = h->corner;
    h->hull.face_normal = h->normal;
    h->hull.edge = (const int(*)[4])h->edge;
    for (int k = 0; k < h->hull.vertices; k++) {
        h->hull.reach = fmax(h->hull.reach, pp_length(h->vertex[k]));
    }
}

pp_pose touch_random_pose(rng *r, double reach)
{
    double x[7];
    for (int k = 0; k < 7; k++) {
        x[k] = k < 4 ? rng_normal(r) : rng_uniform(r, -reach, reach);
    }
    perp_quat q = {x[0], x[1], x[2], x[3]};
    return (pp_pose){{x[4], x[5], x[6]}, pp_quat_matrix(pp_quat_unit(q))};
}

pp_solid touch_random_solid(rng *r, pp_solid_kind kind, touch_hull *hull)
{
    pp_solid s = {.kind = kind, .radius = rng_uniform(r, 0.1, 1.0)};
    s.half.x = rng_uniform(r, 0.1, 1.0);
    s.half.y = rng_uniform(r, 0.1, 1.0);
    s.half.z = rng_uniform(r, 0.1, 1.0);
    if (kind == PP_SOLID_HULL) {
        touch_hull_set(hull, rng_below(r, 6), s.half);
        s.hull = &hull->hull;
    }
    return s;
}

// ── Support and membership ───────────────────────────────────────────────────────────────────────

double touch_reach(const pp_solid *s, perp_vec3 d)
{
    double across = sqrt(d.x * d.x + d.y * d.y), most = -HUGE_VAL;
    switch (s->kind) {
    case PP_SOLID_SPHERE:
        return s->radius * sqrt(pp_dot3(d, d));
    case PP_SOLID_CAPSULE:
        return s->half.z * fabs(d.z) + s->radius * sqrt(pp_dot3(d, d));
    case PP_SOLID_BOX:
        return s->half.x * fabs(d.x) + s->half.y * fabs(d.y) + s->half.z * fabs(d.z);
    case PP_SOLID_CYLINDER:
        return s->radius * across + s->half.z * fabs(d.z);
    case PP_SOLID_CONE:
        return fmax(s->half.z * d.z, s->radius * across - s->half.z * d.z);
    case PP_SOLID_ELLIPSOID:
        return sqrt(pow(s->half.x * d.x, 2.0) + pow(s->half.y * d.y, 2.0) +
                    pow(s->half.z * d.z, 2.0));
    case PP_SOLID_HULL:
        for (int k = 0; k < s->hull->vertices; k++) {
            most = fmax(most, pp_dot3(d, s->hull->vertex[k]));
        }
        return most;
    case PP_SOLID_HALFSPACE:
        return across <= 1e-12 && d.z > 0.0 ? 0.0 : HUGE_VAL;
    }
    return HUGE_VAL;
}

double touch_extent(const pp_solid *s)
{
    if (s->kind == PP_SOLID_HALFSPACE) {
        return 0.0;
    }
    double most = 0.0;
    for (int k = 0; k < 6; k++) {
        double e[3] = {0.0, 0.0, 0.0};
        e[k / 2] = k & 1 ? -1.0 : 1.0;
        most = fmax(most, touch_reach(s, pp_vec(e[0], e[1], e[2])));
    }
    return most;
}

double touch_outside(const pp_solid *s, perp_vec3 x)
{
    double across = sqrt(x.x * x.x + x.y * x.y), most = 0.0;
    perp_vec3 h = s->half, t;
    switch (s->kind) {
    case PP_SOLID_SPHERE:
        return fmax(0.0, pp_length(x) - s->radius);
    case PP_SOLID_CAPSULE:
        x.z -= fmin(fmax(x.z, -h.z), h.z);
        return fmax(0.0, pp_length(x) - s->radius);
    case PP_SOLID_BOX:
        return fmax(0.0, fmax(fabs(x.x) - h.x, fmax(fabs(x.y) - h.y, fabs(x.z) - h.z)));
    case PP_SOLID_CYLINDER:
        return fmax(0.0, fmax(across - s->radius, fabs(x.z) - h.z));
    case PP_SOLID_CONE:
        most = (2.0 * h.z * across + s->radius * (x.z - h.z)) / hypot(2.0 * h.z, s->radius);
        return fmax(0.0, fmax(-h.z - x.z, most));
    case PP_SOLID_ELLIPSOID:  // |x/s| = 1 + f / |grad| to first order
        t = pp_vec(x.x / h.x, x.y / h.y, x.z / h.z);
        most = sqrt(pp_dot3(t, t)) - 1.0;
        t = pp_vec(t.x / h.x, t.y / h.y, t.z / h.z);
        return most > 0.0 ? most / sqrt(pp_dot3(t, t)) : 0.0;
    case PP_SOLID_HULL:
        for (int f = 0; f < s->hull->faces; f++) {
            perp_vec3 on = s->hull->vertex[s->hull->corner[s->hull->face_first[f]]];
            most = fmax(most, pp_dot3(s->hull->face_normal[f], pp_sub(x, on)));
        }
        return most;
    case PP_SOLID_HALFSPACE:
        return fmax(0.0, x.z);
    }
    return 0.0;
}

double touch_parting(const touch_pair *pair, perp_vec3 n)
{
    perp_vec3 in_a = pp_mul_t(&pair->X_WA.R, n);
    perp_vec3 in_b = pp_mul_t(&pair->X_WB.R, pp_scale(-1.0, n));
    return pp_dot3(n, pp_sub(pair->X_WB.p, pair->X_WA.p)) - touch_reach(&pair->a, in_a) -
           touch_reach(&pair->b, in_b);
}

// ── Judge ────────────────────────────────────────────────────────────────────────────────────────

// One number after the other: the order of arguments is the compiler's.
static perp_vec3 random_way(rng *r)
{
    double x = rng_normal(r), y = rng_normal(r), z = rng_normal(r);
    return pp_vec(x, y, z);
}

// The best of many directions, each improved by shrinking random turns.
static double search(const touch_pair *pair, rng *r)
{
    double best = -HUGE_VAL;
    perp_vec3 at = {0.0, 0.0, 1.0};
    for (int k = 0; k < 60; k++) {
        perp_vec3 n = pp_unit(random_way(r), at);
        double s = touch_parting(pair, n);
        if (s > best) {
            best = s;
            at = n;
        }
    }
    double step = 0.3;
    for (int k = 0; k < 120; k++) {
        perp_vec3 n = pp_unit(pp_along(at, step, random_way(r)), at);
        double s = touch_parting(pair, n);
        if (s > best) {
            best = s;
            at = n;
        } else {
            step *= 0.93;
        }
    }
    return best;
}

static double extent(const touch_pair *pair)
{
    return fmax(touch_extent(&pair->a), touch_extent(&pair->b));
}

const char *touch_flaw(const touch_pair *pair, double tolerance, rng *r)
{
    pp_touch_point t[PP_TOUCH_MAX];
    int count = pp_solid_touch(&pair->a, &pair->X_WA, &pair->b, &pair->X_WB, HUGE_VAL, t);
    if (count < 1 || count > PP_TOUCH_MAX) {
        return "no point, or too many";
    }
    perp_vec3 n = t[0].n;
    double size = extent(pair), gap = t[0].gap,
           apart = pp_length(pp_sub(pair->X_WA.p, pair->X_WB.p));
    double slack = tolerance * (size + fabs(gap)) + 1e-15 * apart;
    if (!(fabs(pp_length(n) - 1.0) < 1e-14)) {
        return "the normal is not a unit vector";
    }
    for (int k = 0; k < count; k++) {
        double wide = 3e-9 * size + slack;
        perp_vec3 error = pp_sub(pp_along(t[k].x_a, t[k].gap, n), t[k].x_b);
        if (!(t[k].gap >= gap) || pp_length(pp_sub(t[k].n, n)) != 0.0) {
            return "not the closest first, or not one normal";
        }
        if (!(pp_length(error) <= slack)) {
            return "x_b is not x_a + gap n";
        }
        if (!(touch_outside(&pair->a, pp_pose_local(&pair->X_WA, t[k].x_a)) <= wide) ||
            !(touch_outside(&pair->b, pp_pose_local(&pair->X_WB, t[k].x_b)) <= wide)) {
            return k == 0 ? "the closest witness is not on its solid"
                          : "a witness is not on its solid";
        }
        for (int l = 0; l < k && t[k].feature == t[l].feature; l++) {
            return "two points with one name";
        }
    }
    bool plane = pair->a.kind == PP_SOLID_HALFSPACE || pair->b.kind == PP_SOLID_HALFSPACE;
    if (!plane && !(fabs(touch_parting(pair, n) - gap) <= slack)) {
        return "the normal does not part them by the gap";
    }
    if (!plane && gap < 0.0 && search(pair, r) > gap + slack) {
        return "another direction parts them sooner";
    }
    return NULL;
}

const char *touch_asymmetry(const touch_pair *pair, double tolerance, rng *r)
{
    pp_touch_point t[PP_TOUCH_MAX], u[PP_TOUCH_MAX];
    double slack = tolerance * extent(pair);
    int count = pp_solid_touch(&pair->a, &pair->X_WA, &pair->b, &pair->X_WB, HUGE_VAL, t);
    int other = pp_solid_touch(&pair->b, &pair->X_WB, &pair->a, &pair->X_WA, HUGE_VAL, u);
    if (count < 1 || count != other) {
        return "another number of points when swapped";
    }
    if (!(fabs(t[0].gap - u[0].gap) <= slack)) {
        return "another gap when swapped";
    }
    if (!(pp_length(pp_add(t[0].n, u[0].n)) <= tolerance)) {
        return "the normal does not turn when swapped";
    }
    pp_pose X = touch_random_pose(r, 3.0), X_WA = pp_pose_mul(&X, &pair->X_WA);
    pp_pose X_WB = pp_pose_mul(&X, &pair->X_WB);
    other = pp_solid_touch(&pair->a, &X_WA, &pair->b, &X_WB, HUGE_VAL, u);
    if (other < 1 || !(fabs(t[0].gap - u[0].gap) <= slack)) {
        return "another gap when moved as a whole";
    }
    if (!(pp_length(pp_sub(pp_mul(&X.R, t[0].n), u[0].n)) <= tolerance)) {
        return "another normal when moved as a whole";
    }
    return NULL;
}
