// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Masses of bodies from their shapes, and volumes of meshes.
//
// The volume of a mesh is a sum over pyramids with a triangle as base and a common apex. MuJoCo's rule for
// meshes (legacy) counts all of them as positive. It is right for convex closed meshes and too large for
// others; exact takes the signs of the triangles.
#include "format/format.h"
#include "import/robot.h"
#include "solid/solid.h"

#include <math.h>
#include <string.h>

enum { INERTIA_SWEEPS = 50 };

// Adds m (r^2 1 - r r').
static void add_point(pp_mat3 *I, double m, perp_vec3 r)
{
    const double x[3] = {r.x, r.y, r.z};
    double square = pp_dot3(r, r);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            I->m[3 * i + j] += m * ((i == j ? square : 0.0) - x[i] * x[j]);
        }
    }
}

void pp_robot_mass_add(pp_robot_mass *sum, const pp_robot_mass *part, const pp_pose *X)
{
    double mass = sum->mass + part->mass;
    if (!(mass > 0.0)) {
        return;
    }
    perp_vec3 com = pp_pose_point(X, part->com);
    perp_vec3 centre =
        pp_scale(1.0 / mass, pp_add(pp_scale(sum->mass, sum->com), pp_scale(part->mass, com)));
    pp_mat3 I = pp_turn_tensor(&X->R, &part->inertia);
    for (int k = 0; k < 9; k++) {
        I.m[k] += sum->inertia.m[k];
    }
    // Parallel axes: both from their own centres to the common one.
    add_point(&I, sum->mass, pp_sub(sum->com, centre));
    add_point(&I, part->mass, pp_sub(com, centre));
    *sum = (pp_robot_mass){mass, centre, I};
}

// Eigenvalues of a symmetric tensor, by Jacobi's rotations, and its axes as columns.
void pp_robot_principal(const pp_mat3 *A, double out[3], pp_mat3 *axes)
{
    double m[3][3], v[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    memcpy(m, A->m, sizeof m);
    for (int sweep = 0; sweep < INERTIA_SWEEPS; sweep++) {
        for (int e = 0; e < 3; e++) {
            int p = e == 2 ? 1 : 0, q = e == 0 ? 1 : 2, r = 3 - p - q;
            if (m[p][q] == 0.0) {
                continue;
            }
            // t = tan of the angle that makes m[p][q] vanish, the smaller one of the two
            double theta = 0.5 * (m[q][q] - m[p][p]) / m[p][q];
            double t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
            double c = 1.0 / sqrt(t * t + 1.0), s = t * c, shift = t * m[p][q];
            m[p][p] -= shift;
            m[q][q] += shift;
            m[p][q] = m[q][p] = 0.0;
            double rp = m[r][p], rq = m[r][q];
            m[r][p] = m[p][r] = c * rp - s * rq;
            m[r][q] = m[q][r] = s * rp + c * rq;
            for (int k = 0; k < 3; k++) {
                double vp = v[k][p], vq = v[k][q];
                v[k][p] = c * vp - s * vq;
                v[k][q] = s * vp + c * vq;
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        out[k] = m[k][k];
    }
    memcpy(axes->m, v, sizeof v);
}

// The least isotropic inertia is added that makes the tensor positive, with moments that obey the triangle
// inequality; its axes stay.
bool pp_robot_mass_mend(pp_robot_mass *mass)
{
    double e[3], floor = 0.4 * mass->mass * 1e-4;  // of a sphere of 1 cm
    pp_mat3 axes;
    pp_robot_principal(&mass->inertia, e, &axes);
    double largest = fmax(e[0], fmax(e[1], e[2])), smallest = fmin(e[0], fmin(e[1], e[2]));
    double middle = e[0] + e[1] + e[2] - largest - smallest;
    bool positive = smallest > 1e-9 * largest && largest > 0.0;
    if (positive && largest <= (smallest + middle) * (1.0 + 1e-9)) {
        return false;
    }
    double shift = fmax(largest - middle - smallest, 0.0);
    if (!(smallest + shift > 1e-6 * (largest + shift)) || !(largest > 0.0)) {
        shift += floor + fmax(-smallest, 0.0);
    }
    for (int k = 0; k < 9; k += 4) {
        mass->inertia.m[k] += shift;
    }
    return true;
}

// ── Primitives ───────────────────────────────────────────────────────────────────────────────────

bool pp_robot_geom_volume(const pp_robot *robot, const pp_robot_geom *geom, pp_robot_mass *out)
{
    const double *s = geom->size;
    pp_solid solid = {.radius = s[0], .half = {s[0], s[1], s[2]}};
    *out = (pp_robot_mass){0};
    // Sizes of MJCF are half lengths, as those of solids.
    switch (geom->kind) {
    case PP_ROBOT_SPHERE:
        solid.kind = PP_SOLID_SPHERE;
        break;
    case PP_ROBOT_CAPSULE:
        solid.kind = PP_SOLID_CAPSULE;
        solid.half.z = s[1];
        break;
    case PP_ROBOT_CYLINDER:
        solid.kind = PP_SOLID_CYLINDER;
        solid.half.z = s[1];
        break;
    case PP_ROBOT_ELLIPSOID:
        solid.kind = PP_SOLID_ELLIPSOID;
        break;
    case PP_ROBOT_BOX:
        solid.kind = PP_SOLID_BOX;
        break;
    case PP_ROBOT_MESH:
        if (geom->mesh >= 0 && robot->mesh[geom->mesh].volume > 0.0) {
            const pp_robot_mesh *mesh = &robot->mesh[geom->mesh];
            *out = (pp_robot_mass){mesh->volume, mesh->centroid, mesh->inertia};
            return true;
        }
        return false;
    default:
        return false;
    }
    return pp_solid_mass(&solid, &out->mass, &out->com, &out->inertia) && out->mass > 0.0;
}

// ── Meshes ───────────────────────────────────────────────────────────────────────────────────────

typedef struct pyramids {
    double volume;
    perp_vec3 first;   // int x, from the apex
    double second[9];  // int x x'
} pyramids;

// Pyramids from the apex to all triangles.
static pyramids sum_pyramids(const pp_robot_mesh *mesh, perp_vec3 apex, bool positive)
{
    pyramids s = {0};
    for (int k = 0; k < mesh->triangles; k++) {
        const int *t = mesh->triangle + 3 * (size_t)k;
        perp_vec3 a = pp_sub(mesh->vertex[t[0]], apex), b = pp_sub(mesh->vertex[t[1]], apex);
        perp_vec3 c = pp_sub(mesh->vertex[t[2]], apex), m = pp_add(pp_add(a, b), c);
        double V = pp_dot3(a, pp_cross(b, c)) / 6.0;
        V = positive ? fabs(V) : V;
        s.volume += V;
        s.first = pp_along(s.first, 0.25 * V, m);
        const double x[4][3] = {{m.x, m.y, m.z}, {a.x, a.y, a.z}, {b.x, b.y, b.z}, {c.x, c.y, c.z}};
        for (int e = 0; e < 9; e++) {
            int i = e / 3, j = e % 3;
            s.second[e] +=
                V / 20.0 *
                (x[0][i] * x[0][j] + x[1][i] * x[1][j] + x[2][i] * x[2][j] + x[3][i] * x[3][j]);
        }
    }
    return s;
}

// Mean of the centres of the triangles, weighted by their areas.
static perp_vec3 surface_centre(const pp_robot_mesh *mesh)
{
    double total = 0.0;
    perp_vec3 sum = {0.0, 0.0, 0.0};
    for (int k = 0; k < mesh->triangles; k++) {
        const int *t = mesh->triangle + 3 * (size_t)k;
        perp_vec3 a = mesh->vertex[t[0]], b = mesh->vertex[t[1]], c = mesh->vertex[t[2]];
        double area = 0.5 * pp_length(pp_cross(pp_sub(b, a), pp_sub(c, a)));
        sum = pp_along(sum, area / 3.0, pp_add(pp_add(a, b), c));
        total += area;
    }
    return total > 0.0 ? pp_scale(1.0 / total, sum) : sum;
}

static perp_status weigh_hull(pp_robot_mesh *mesh, pp_arena *arena, perp_error *error)
{
    const pp_hull *hull = NULL;
    perp_status status = pp_hull_create(mesh->vertex, mesh->vertices, arena, &hull, error);
    if (status == PERP_OK) {
        pp_solid solid = {.kind = PP_SOLID_HULL, .hull = hull};
        pp_solid_mass(&solid, &mesh->volume, &mesh->centroid, &mesh->inertia);
    }
    return status;
}

// A sheet of mass 1 per area [kg/m^2]. The second moment of a triangle with the corners x_i and the area A is
// A/12 (sum x_i x_i^T + s s^T) with s = sum x_i.
static void weigh_shell(pp_robot_mesh *mesh)
{
    double area = 0.0, second[9] = {0.0};
    perp_vec3 centre = surface_centre(mesh);
    for (int k = 0; k < mesh->triangles; k++) {
        const int *t = mesh->triangle + 3 * (size_t)k;
        double x[4][3] = {{0.0}};  // corners from the centre, and their sum
        for (int i = 0; i < 3; i++) {
            perp_vec3 p = pp_sub(mesh->vertex[t[i]], centre);
            x[i][0] = p.x;
            x[i][1] = p.y;
            x[i][2] = p.z;
            for (int e = 0; e < 3; e++) {
                x[3][e] += x[i][e];
            }
        }
        perp_vec3 ab = pp_sub(mesh->vertex[t[1]], mesh->vertex[t[0]]);
        perp_vec3 ac = pp_sub(mesh->vertex[t[2]], mesh->vertex[t[0]]);
        double own = 0.5 * pp_length(pp_cross(ab, ac));
        area += own;
        for (int e = 0; e < 9; e++) {
            for (int i = 0; i < 4; i++) {
                second[e] += own / 12.0 * x[i][e / 3] * x[i][e % 3];
            }
        }
    }
    mesh->volume = area;
    mesh->centroid = centre;
    double trace = second[0] + second[4] + second[8];
    for (int e = 0; e < 9; e++) {
        mesh->inertia.m[e] = (e % 4 == 0 ? trace : 0.0) - second[e];
    }
}

perp_status pp_robot_mesh_weigh(pp_robot_mesh *mesh, pp_arena *arena, perp_error *error)
{
    if (mesh->volume != 0.0 || mesh->missing) {
        return PERP_OK;
    }
    if (mesh->rule == PP_MESH_CONVEX) {
        return weigh_hull(mesh, arena, error);
    }
    if (mesh->rule == PP_MESH_SHELL) {
        weigh_shell(mesh);
        return PERP_OK;
    }
    bool positive = mesh->rule == PP_MESH_LEGACY;
    perp_vec3 apex = surface_centre(mesh);
    pyramids s = sum_pyramids(mesh, apex, positive);
    if (!(fabs(s.volume) > 0.0) || !isfinite(s.volume)) {
        return PERP_OK;
    }
    // A second time from the centroid, which also is the reference of the inertia.
    mesh->centroid = pp_along(apex, 1.0 / s.volume, s.first);
    s = sum_pyramids(mesh, mesh->centroid, positive);
    mesh->volume = fabs(s.volume);
    double sign = s.volume < 0.0 ? -1.0 : 1.0, trace = s.second[0] + s.second[4] + s.second[8];
    for (int e = 0; e < 9; e++) {
        mesh->inertia.m[e] = sign * ((e % 4 == 0 ? trace : 0.0) - s.second[e]);
    }
    return PERP_OK;
}

// MuJoCo keeps vertices as floats.
static double single(double x)
{
    return (double)(float)x;
}

bool pp_robot_mesh_place(pp_robot_mesh *mesh)
{
    pp_mat3 R = pp_quat_matrix(mesh->ref_quat);
    bool finite = true;
    for (int k = 0; k < mesh->vertices; k++) {
        perp_vec3 x = mesh->vertex[k];
        x = pp_vec(single(x.x), single(x.y), single(x.z));
        x = pp_mul_t(&R, pp_sub(x, mesh->ref_pos));
        x = pp_vec(mesh->scale.x * x.x, mesh->scale.y * x.y, mesh->scale.z * x.z);
        mesh->vertex[k] = x;
        finite = finite && pp_finite3(x);
    }
    return finite;
}

perp_status pp_robot_mesh_parse(pp_robot_mesh *mesh, const char *text, size_t size, pp_arena *arena,
                                perp_error *error)
{
    pp_mesh_file file;
    perp_status status = pp_mesh_file_parse(text, size, arena, &file, error);
    if (status < 0) {
        return status;
    }
    perp_vec3 *vertex = PP_ARRAY(arena, perp_vec3, file.vertices);
    if (!vertex || !file.vertex) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for the triangles of the file");
    }
    memcpy(vertex, file.vertex, (size_t)file.vertices * sizeof *vertex);
    mesh->vertex = vertex;
    mesh->vertices = file.vertices;
    mesh->triangle = file.triangle;
    mesh->triangles = file.triangles;
    return pp_robot_mesh_place(mesh) ? PERP_OK
                                     : pp_fail(error, PERP_ERR_NUMERIC, "a vertex is not finite");
}

perp_status pp_robot_mesh_close(pp_robot_mesh *mesh, pp_arena *arena, perp_error *error)
{
    const pp_hull *hull = NULL;
    perp_status status = pp_hull_create(mesh->vertex, mesh->vertices, arena, &hull, error);
    if (status < 0) {
        return status;
    }
    // Faces are convex polygons: n corners make n - 2 triangles around the first one.
    int count = hull->face_first[hull->faces] - 2 * hull->faces, made = 0;
    int *triangle = PP_ARRAY(arena, int, 3 * (size_t)count);
    perp_vec3 *vertex = PP_ARRAY(arena, perp_vec3, hull->vertices);
    if (!triangle || !vertex) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for the hull of a mesh");
    }
    for (int f = 0; f < hull->faces; f++) {
        const int *corner = hull->corner + hull->face_first[f];
        int corners = hull->face_first[f + 1] - hull->face_first[f];
        for (int k = 2; k < corners; k++) {
            triangle[made++] = corner[0];
            triangle[made++] = corner[k - 1];
            triangle[made++] = corner[k];
        }
    }
    memcpy(vertex, hull->vertex, (size_t)hull->vertices * sizeof *vertex);
    mesh->vertex = vertex;
    mesh->vertices = hull->vertices;
    mesh->triangle = triangle;
    mesh->triangles = count;
    return PERP_OK;
}

perp_status pp_robot_mesh_hull(pp_robot_mesh *mesh, pp_arena *arena, perp_error *error)
{
    if (mesh->hull || mesh->missing) {
        return PERP_OK;
    }
    const pp_hull *hull = NULL;
    perp_status status = pp_hull_create(mesh->vertex, mesh->vertices, arena, &hull, error);
    if (status == PERP_OK) {
        mesh->hull = hull->vertex;
        mesh->hull_vertices = hull->vertices;
    }
    return status;
}
