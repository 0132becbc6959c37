// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What is shown of a robot: which shapes, and meshes with few enough triangles for a page in a browser.
//
// Shapes that do not collide become visuals. A mesh that collides does so as its convex hull; where it is shown, the
// mesh itself is a visual and its hull is hidden. Meshes with too many triangles are simplified by clustering: vertices
// in the same cell of a grid become one, at their mean, and triangles that lose their area are dropped.
#include "import/write.h"

#include <math.h>
#include <string.h>

enum {
    MESH_MOST = 4000,      // triangles of one mesh
    CELLS_MOST = 1 << 20,  // of the grid along the longest side
    DIGITS = 6,            // of vertices, relative to the size of the mesh
};

int32_t pp_robot_colour(const double *rgb)
{
    int32_t colour = 0;
    for (int k = 0; k < 3; k++) {
        double x = rgb[k] > 0.0 ? rgb[k] : 0.0;
        colour = 256 * colour + (int32_t)(255.0 * (x < 1.0 ? x : 1.0) + 0.5);
    }
    return colour;
}

// ── Simplification ───────────────────────────────────────────────────────────────────────────────

typedef struct cell {
    int64_t at[3];
    int first;  // cluster, its number + 1; 0: free
} cell;

typedef struct clusters {
    pp_arena *arena;
    const pp_robot_mesh *mesh;
    cell *table;  // open addressing
    size_t room;  // a power of two
    int *of;      // cluster of each vertex
    perp_vec3 *sum;
    int *count;
    int clusters;
} clusters;

static bool open_clusters(clusters *c, const pp_robot_mesh *mesh, pp_arena *arena)
{
    size_t n = (size_t)mesh->vertices;
    *c = (clusters){.arena = arena, .mesh = mesh, .room = 64};
    while (c->room < 2 * n) {
        c->room *= 2;
    }
    c->table = PP_ARRAY(arena, cell, c->room);
    c->of = PP_ARRAY(arena, int, n);
    c->sum = PP_ARRAY(arena, perp_vec3, n);
    c->count = PP_ARRAY(arena, int, n);
    return c->table && c->of && c->sum && c->count;
}

// The cluster of a cell; a new one if there is none.
static int cluster_at(clusters *c, const int64_t at[3])
{
    size_t k = (size_t)pp_hash(0, at, 3 * sizeof *at) & (c->room - 1);
    while (c->table[k].first > 0 && memcmp(c->table[k].at, at, 3 * sizeof *at) != 0) {
        k = (k + 1) & (c->room - 1);
    }
    if (c->table[k].first == 0) {
        memcpy(c->table[k].at, at, 3 * sizeof *at);
        c->table[k].first = ++c->clusters;
        c->sum[c->clusters - 1] = (perp_vec3){0.0, 0.0, 0.0};
        c->count[c->clusters - 1] = 0;
    }
    return c->table[k].first - 1;
}

static bool has_area(const clusters *c, const int *corner)
{
    int a = c->of[corner[0]], b = c->of[corner[1]], d = c->of[corner[2]];
    return a != b && b != d && d != a;
}

// Sorts vertices into cells of the given size from `low` on; returns the number of triangles that are left.
static int cluster(clusters *c, perp_vec3 low, double size)
{
    const pp_robot_mesh *mesh = c->mesh;
    int left = 0;
    memset(c->table, 0, c->room * sizeof *c->table);
    c->clusters = 0;
    for (int k = 0; k < mesh->vertices; k++) {
        perp_vec3 x = pp_sub(mesh->vertex[k], low);
        const int64_t at[3] = {(int64_t)floor(x.x / size), (int64_t)floor(x.y / size),
                               (int64_t)floor(x.z / size)};
        int to = cluster_at(c, at);
        c->of[k] = to;
        c->sum[to] = pp_add(c->sum[to], mesh->vertex[k]);
        c->count[to]++;
    }
    for (int k = 0; k < mesh->triangles; k++) {
        left += has_area(c, mesh->triangle + 3 * (size_t)k);
    }
    return left;
}

// Few decimals, so that the text of the scene stays short.
static double rounded(double x, double scale)
{
    return round(x * scale) / scale;
}

static bool take_clusters(clusters *c, pp_robot_mesh *mesh, int triangles, double extent)
{
    double scale = pp_pow(10.0, DIGITS - floor(pp_log10(extent)));
    perp_vec3 *vertex = PP_ARRAY(c->arena, perp_vec3, c->clusters);
    int *corner = PP_ARRAY(c->arena, int, 3 * (size_t)triangles);
    // An odd number of negative scales turns the mesh inside out.
    bool mirrored = mesh->scale.x * mesh->scale.y * mesh->scale.z < 0.0;
    int count = 0;
    if (!vertex || !corner) {
        return false;
    }
    for (int k = 0; k < c->clusters; k++) {
        perp_vec3 x = pp_scale(1.0 / c->count[k], c->sum[k]);
        vertex[k] = pp_vec(rounded(x.x, scale), rounded(x.y, scale), rounded(x.z, scale));
    }
    for (int k = 0; k < mesh->triangles; k++) {
        const int *from = mesh->triangle + 3 * (size_t)k;
        if (!has_area(c, from)) {
            continue;
        }
        int *to = corner + 3 * (size_t)count;
        to[0] = c->of[from[0]];
        to[1] = c->of[from[mirrored ? 2 : 1]];
        to[2] = c->of[from[mirrored ? 1 : 2]];
        // Corners in a line: a scene refuses a mesh of such triangles alone.
        perp_vec3 a = pp_sub(vertex[to[1]], vertex[to[0]]),
                  b = pp_sub(vertex[to[2]], vertex[to[0]]);
        count += pp_length(pp_cross(a, b)) > 1e-10 * extent * extent;
    }
    if (count == 0) {
        return true;
    }
    mesh->shown_vertices = c->clusters;
    mesh->shown_vertex = vertex;
    mesh->shown_triangles = count;
    mesh->shown_triangle = corner;
    return true;
}

perp_status pp_robot_mesh_show(pp_robot_mesh *mesh, int most, pp_arena *arena)
{
    clusters c;
    perp_vec3 low = mesh->vertex[0], high = low;
    for (int k = 1; k < mesh->vertices; k++) {
        perp_vec3 x = mesh->vertex[k];
        low = pp_vec(fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z));
        high = pp_vec(fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z));
    }
    perp_vec3 d = pp_sub(high, low);
    double extent = fmax(d.x, fmax(d.y, d.z));
    if (!(extent > 0.0) || !isfinite(extent) || most < 1) {
        return PERP_OK;
    }
    if (!open_clusters(&c, mesh, arena)) {
        return PERP_ERR_MEMORY;
    }
    // The finest grid with few enough triangles, by bisection of the number of cells along the longest side.
    int coarse = 1, fine = CELLS_MOST;
    int left = cluster(&c, low, extent / fine);
    if (left > most) {
        while (fine - coarse > 1) {
            int middle = coarse + (fine - coarse) / 2;
            if (cluster(&c, low, extent / middle) > most) {
                fine = middle;
            } else {
                coarse = middle;
            }
        }
        left = cluster(&c, low, extent / coarse);
    }
    if (left == 0) {
        return PERP_OK;
    }
    return take_clusters(&c, mesh, left, extent) ? PERP_OK : PERP_ERR_MEMORY;
}

// ── What is shown ────────────────────────────────────────────────────────────────────────────────

typedef struct stage {
    pp_robot *robot;
    pp_import_report *report;
    int left;  // triangles
    bool full;
} stage;

static void leave_out(stage *s, const pp_robot_geom *geom, const char *why)
{
    pp_report_add(s->report, PERP_IMPORT_NOT_USED, geom->at, "shapes that are only shown", why);
}

// Whether the mesh of a geom can be shown; a mesh that is used several times counts each time.
static bool show_mesh(stage *s, const pp_robot_geom *geom)
{
    pp_robot_mesh *mesh = &s->robot->mesh[geom->mesh];
    if (!mesh->loaded || mesh->missing || mesh->triangles < 1 || s->full) {
        return false;
    }
    if (!mesh->shown_triangle) {
        int most = s->left < MESH_MOST ? s->left : MESH_MOST;
        if (pp_robot_mesh_show(mesh, most, s->robot->arena) < 0) {
            s->full = true;
            return false;
        }
        if (mesh->shown_triangle && mesh->shown_triangles < mesh->triangles) {
            pp_report_say(s->report, PERP_IMPORT_ASSUMED, mesh->at,
                          "mesh '%.60s' is shown with %d of its %d triangles", mesh->name,
                          mesh->shown_triangles, mesh->triangles);
        }
    }
    if (!mesh->shown_triangle || mesh->shown_triangles > s->left) {
        return false;
    }
    s->left -= mesh->shown_triangles;
    return true;
}

static void show_visual(stage *s, pp_robot_geom *geom)
{
    if (!geom->in_view) {
        leave_out(s, geom, "of a group that MuJoCo does not show, or transparent");
        return;
    }
    // A plane is endless in scenes: of a body that moves it would cover everything.
    switch (geom->kind) {
    case PP_ROBOT_MESH:
        geom->visual = show_mesh(s, geom);
        if (!geom->visual) {
            bool missing = s->robot->mesh[geom->mesh].missing;
            leave_out(s, geom,
                      missing ? "the files of their meshes were not found or not read"
                              : "their meshes have no triangles, or too many");
        }
        break;
    case PP_ROBOT_PLANE:
        geom->visual = s->robot->body[geom->body].carrier == 0;
        if (!geom->visual) {
            leave_out(s, geom, "planes of bodies that move");
        }
        break;
    case PP_ROBOT_HFIELD:
    case PP_ROBOT_SDF:
        leave_out(s, geom, "height fields and signed distance fields");
        break;
    default:
        geom->visual = true;
        break;
    }
}

bool pp_robot_show(pp_robot *robot, int triangles, pp_import_report *report)
{
    stage s = {.robot = robot, .report = report, .left = triangles};
    bool *dressed = PP_ZEROS(robot->arena, bool, robot->bodies);  // root body: it has visuals
    int visuals = 0;
    if (!dressed) {
        return false;
    }
    for (int k = 0; k < robot->geoms; k++) {
        pp_robot_geom *geom = &robot->geom[k];
        if (!pp_robot_collides(geom) && triangles > 0) {
            show_visual(&s, geom);
            dressed[robot->body[geom->body].carrier] |= geom->visual;
        } else if (!pp_robot_collides(geom)) {
            leave_out(&s, geom, "appearance");
        }
        visuals += geom->visual;
    }
    // Shapes that collide are shown themselves, unless visuals stand for them.
    for (int k = 0; k < robot->geoms; k++) {
        pp_robot_geom *geom = &robot->geom[k];
        if (!pp_robot_collides(geom) || triangles < 1) {
            continue;
        }
        bool shown = geom->in_view || !dressed[robot->body[geom->body].carrier];
        geom->visual = shown && geom->kind == PP_ROBOT_MESH && show_mesh(&s, geom);
        geom->hidden = !shown || geom->visual;
    }
    if (visuals > 0) {
        pp_report_say(report, PERP_IMPORT_USED, NULL, "%d %s", visuals,
                      visuals == 1 ? "shape that is only shown" : "shapes that are only shown");
    }
    return !s.full;
}
