// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Volume, centroid and inertia of solids of density 1, in closed form.
//
// A hull is cut into tetrahedra (r, a, b, c) with r inside and a, b, c corners of a face. With x
// measured from r,
//   V = a . ((b - a) x (c - a)) / 6,   int x = V (a + b + c) / 4,
//   int x x' = V / 20 ((a + b + c)(a + b + c)' + a a' + b b' + c c'),
// All volumes are positive, so that nothing cancels where the hull is thin. The centroid is found
// with r at the mean of the vertices. The second moments are then taken with r at the centroid, so
// that nothing cancels where the hull is far from the origin.
#include "solid/hull.h"

static const double PI = 3.14159265358979323846;

static pp_mat3 diagonal(double x, double y, double z)
{
    return (pp_mat3){{x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, z}};
}

// Inertia tensor from the second moments S = int x x': trace(S) 1 - S. Diagonal entries are sums of
// two moments, not a difference of three.
static pp_mat3 from_moments(const double S[6])  // xx yy zz xy xz yz
{
    return (pp_mat3){
        {S[1] + S[2], -S[3], -S[4], -S[3], S[0] + S[2], -S[5], -S[4], -S[5], S[0] + S[1]}};
}

// ── Hulls ────────────────────────────────────────────────────────────────────────────────────────

// Sums over tetrahedra.
typedef struct sums {
    double V;
    perp_vec3 first;   // int x
    double second[6];  // int x x': xx yy zz xy xz yz
} sums;

// The tetrahedron of r (the origin here) and a triangle.
static void add_tetrahedron(sums *s, perp_vec3 a, perp_vec3 b, perp_vec3 c)
{
    double V = pp_dot3(a, pp_triangle_area(a, b, c)) / 6.0, w = V / 20.0;
    perp_vec3 m = pp_add(pp_add(a, b), c);
    s->V += V;
    s->first = pp_along(s->first, 0.25 * V, m);
    s->second[0] += w * (m.x * m.x + a.x * a.x + b.x * b.x + c.x * c.x);
    s->second[1] += w * (m.y * m.y + a.y * a.y + b.y * b.y + c.y * c.y);
    s->second[2] += w * (m.z * m.z + a.z * a.z + b.z * b.z + c.z * c.z);
    s->second[3] += w * (m.x * m.y + a.x * a.y + b.x * b.y + c.x * c.y);
    s->second[4] += w * (m.x * m.z + a.x * a.z + b.x * b.z + c.x * c.z);
    s->second[5] += w * (m.y * m.z + a.y * a.z + b.y * b.z + c.y * c.z);
}

// Sums over the hull with coordinates measured from vertex 0 + r. Two differences are taken, so
// that r may be of the size of the hull while vertex 0 is far away.
static sums over_hull(const pp_hull *hull, perp_vec3 r)
{
    sums s = {0};
    // Each face is a fan of triangles around its first corner.
    for (int f = 0; f < hull->faces; f++) {
        const int *corner = hull->corner + hull->face_first[f];
        int count = hull->face_first[f + 1] - hull->face_first[f];
        perp_vec3 x[3];
        for (int k = 0; k < count; k++) {
            int slot = k < 2 ? k : 2;
            x[slot] = pp_sub(pp_sub(hull->vertex[corner[k]], hull->vertex[0]), r);
            if (k >= 2) {
                add_tetrahedron(&s, x[0], x[1], x[2]);
                x[1] = x[2];
            }
        }
    }
    return s;
}

// r: first the mean of the vertices, then the centroid, both relative to vertex 0.
static void hull_mass(const pp_hull *hull, double *volume, perp_vec3 *centroid, pp_mat3 *inertia)
{
    perp_vec3 r = {0};
    for (int k = 1; k < hull->vertices; k++) {
        r = pp_along(r, 1.0 / hull->vertices, pp_sub(hull->vertex[k], hull->vertex[0]));
    }
    sums rough = over_hull(hull, r);
    if (!(rough.V > 0.0)) {
        return;
    }
    r = pp_along(r, 1.0 / rough.V, rough.first);
    sums s = over_hull(hull, r);
    *volume = s.V;
    *centroid = pp_add(hull->vertex[0], r);
    *inertia = from_moments(s.second);
}

// ── All ──────────────────────────────────────────────────────────────────────────────────────────

// A cylinder and two half balls, whose centroids are 3 r / 8 outside the ends of the cylinder.
static void capsule_mass(const pp_solid *solid, double *volume, pp_mat3 *inertia)
{
    double r = solid->radius, h = solid->half.z, rr = r * r, hh = h * h;
    double rod = 2.0 * PI * rr * h, ball = 4.0 / 3.0 * PI * rr * r;
    double across = rod * (rr / 4.0 + hh / 3.0) + ball * (0.4 * rr + hh + 0.75 * h * r);
    *volume = rod + ball;
    *inertia = diagonal(across, across, rod * rr / 2.0 + ball * 0.4 * rr);
}

// Boxes and ellipsoids have I_xx = share V (y^2 + z^2) with half widths; share is 1/3 and 1/5.
static void three_axes(perp_vec3 half, double V, double share, double *volume, pp_mat3 *inertia)
{
    double xx = half.x * half.x, yy = half.y * half.y, zz = half.z * half.z, w = V * share;
    *volume = V;
    *inertia = diagonal(w * (yy + zz), w * (xx + zz), w * (xx + yy));
}

bool pp_solid_mass(const pp_solid *solid, double *volume, perp_vec3 *centroid, pp_mat3 *inertia)
{
    // Closed forms, about the centroid [m^5].
    double r = solid->radius, rr = r * r, V;
    perp_vec3 half = solid->half;
    double hh = half.z * half.z;
    *volume = 0.0;
    *centroid = (perp_vec3){0};
    *inertia = diagonal(0.0, 0.0, 0.0);
    switch (solid->kind) {
    case PP_SOLID_SPHERE:
        three_axes(pp_vec(r, r, r), 4.0 / 3.0 * PI * rr * r, 0.2, volume, inertia);
        break;
    case PP_SOLID_CAPSULE:
        capsule_mass(solid, volume, inertia);
        break;
    case PP_SOLID_BOX:
        three_axes(half, 8.0 * half.x * half.y * half.z, 1.0 / 3.0, volume, inertia);
        break;
    case PP_SOLID_ELLIPSOID:
        three_axes(half, 4.0 / 3.0 * PI * half.x * half.y * half.z, 0.2, volume, inertia);
        break;
    case PP_SOLID_CYLINDER:
        *volume = V = 2.0 * PI * rr * half.z;
        *inertia = diagonal(V * (rr / 4.0 + hh / 3.0), V * (rr / 4.0 + hh / 3.0), V * rr / 2.0);
        break;
    case PP_SOLID_CONE:  // height 2 half.z; the centroid is a quarter of it above the base
        *volume = V = 2.0 / 3.0 * PI * rr * half.z;
        *centroid = pp_vec(0.0, 0.0, -0.5 * half.z);
        *inertia = diagonal(0.15 * V * (rr + hh), 0.15 * V * (rr + hh), 0.3 * V * rr);
        break;
    case PP_SOLID_HULL:
        hull_mass(solid->hull, volume, centroid, inertia);
        break;
    case PP_SOLID_HALFSPACE:
        break;
    }
    return *volume > 0.0;
}
