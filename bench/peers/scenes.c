// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// One function per scene family, then the table of cases. docs/comparison.md explains the scenes.
#include "scenes.h"
#include "vector.h"

#include <stdlib.h>
#include <string.h>

static const double degree = 0.017453292519943295, g = 9.81, pi = 3.14159265358979323846;
static const double skew = 17.0 * 0.017453292519943295;  // a heading along no side of a pyramid

// ── Parts ────────────────────────────────────────────────────────────────────────────────────────

static bool reserve(peer_scene *s, int bodies, int planes, int joints)
{
    s->body = calloc((size_t)bodies, sizeof *s->body);
    s->plane = calloc((size_t)planes + 1, sizeof *s->plane);
    s->joint = calloc((size_t)joints + 1, sizeof *s->joint);
    s->bodies = bodies;
    s->planes = planes;
    s->joints = joints;
    return s->body && s->plane && s->joint;
}

static void place(peer_body *b, peer_vec p)
{
    b->start.p = p;
    b->start.q.w = 1.0;
}

static void floor_only(peer_scene *s)
{
    s->plane[0].normal = vec(0.0, 0.0, 1.0);
}

// Directions along the axes, corners at the half extents: what separates two boxes.
static void make_box(peer_body *b, double hx, double hy, double hz, double mass, peer_vec p)
{
    b->shape = PEER_BOX;
    b->half = vec(hx, hy, hz);
    b->mass = mass;
    b->inertia =
        vec_scale(mass / 3.0, vec(hy * hy + hz * hz, hx * hx + hz * hz, hx * hx + hy * hy));
    b->reach = vec_norm(b->half);
    for (int k = 0; k < PEER_CORNERS; k++) {
        b->corner[k] = vec(k & 1 ? hx : -hx, k & 2 ? hy : -hy, k & 4 ? hz : -hz);
    }
    b->normals = b->edges = 3;
    for (int k = 0; k < 3; k++) {
        b->normal[k] = b->edge[k] = vec(k == 0, k == 1, k == 2);
    }
    place(b, p);
}

static void make_sphere(peer_body *b, double radius, double mass, peer_vec p)
{
    b->shape = PEER_SPHERE;
    b->half = vec(radius, radius, radius);
    b->mass = mass;
    b->inertia = vec_scale(0.4 * mass * radius * radius, vec(1.0, 1.0, 1.0));
    b->reach = radius;
    place(b, p);
}

// A slender rod along x with a small moment about its own axis, so that engines can invert it.
static void make_rod(peer_body *b, double length, double mass, peer_vec p)
{
    const double radius = 0.05;
    double across = mass * length * length / 12.0;
    b->shape = PEER_ROD;
    b->half = vec(0.5 * length, radius, radius);
    b->mass = mass;
    b->inertia = vec(0.5 * mass * radius * radius, across, across);
    place(b, p);
}

// A voussoir of density 1 between two radii and -depth/2 < y < depth/2: a trapezium in x (along the arch)
// and z (outwards), half widths w0 inside and w1 outside, height H, extruded along y. The centroid lies
// u = H (w0 + 2 w1)/(3 (w0 + w1)) above the inner edge; moments of area by integrating the width
// w(f) = w0 + (w1 - w0) f over f = 0..1.
static void make_voussoir(peer_body *b, double inner, double outer, double depth, double half_angle)
{
    double w0 = inner * sin(half_angle), w1 = outer * sin(half_angle);
    double H = (outer - inner) * cos(half_angle), d = w1 - w0, hy = 0.5 * depth;
    double area = (w0 + w1) * H, u = H * (w0 + 2.0 * w1) / (3.0 * (w0 + w1));
    double about_base = 2.0 * H * H * H * (w0 / 3.0 + d / 4.0);
    double Juu = about_base - area * u * u;
    double Jtt = 2.0 / 3.0 * H * (w0 * w0 * w0 + 1.5 * w0 * w0 * d + w0 * d * d + 0.25 * d * d * d);
    double Iyy = area * depth * hy * hy / 3.0;
    b->shape = PEER_HULL;
    b->mass = area * depth;
    b->half = vec(w1, hy, 0.5 * H);
    b->inertia = vec(depth * Juu + Iyy, depth * (Juu + Jtt), depth * Jtt + Iyy);
    for (int k = 0; k < PEER_CORNERS; k++) {
        double w = k & 2 ? w1 : w0, z = k & 2 ? H - u : -u;
        b->corner[k] = vec(k & 1 ? w : -w, k & 4 ? hy : -hy, z);
        b->reach = fmax(b->reach, vec_norm(b->corner[k]));
    }
    double slant = hypot(H, d);
    b->edge[0] = vec(1.0, 0.0, 0.0);
    b->edge[1] = vec(0.0, 1.0, 0.0);
    b->edge[2] = vec(d / slant, 0.0, H / slant);
    b->edge[3] = vec(-d / slant, 0.0, H / slant);
    b->edges = 4;
    b->normal[0] = vec(0.0, 1.0, 0.0);
    b->normal[1] = vec(0.0, 0.0, 1.0);
    b->normal[2] = vec(H / slant, 0.0, -d / slant);
    b->normal[3] = vec(H / slant, 0.0, d / slant);
    b->normals = 4;
}

// ── Scenes ───────────────────────────────────────────────────────────────────────────────────────

// A flat box thrown along the floor. It stops after v^2/(2 mu g) and must not creep afterwards.
static bool slide(peer_scene *s, double heading)
{
    if (!reserve(s, 1, 1, 0)) {
        return false;
    }
    floor_only(s);
    make_box(s->body, 0.5, 0.5, 0.25, 1.0, vec(0.0, 0.0, 0.25));
    s->body->start.v = vec_scale(4.0, vec(cos(heading), sin(heading), 0.0));
    s->mu = 0.5;
    s->duration = 4.0 / (s->mu * g) + 0.5 + 10.0;
    return true;
}

// The floor tilted by 20 degrees, written as tilted gravity.
static bool incline(peer_scene *s, double mu, double heading, double duration)
{
    if (!reserve(s, 1, 1, 0)) {
        return false;
    }
    floor_only(s);
    make_box(s->body, 0.5, 0.5, 0.25, 1.0, vec(0.0, 0.0, 0.25));
    double down = g * sin(20.0 * degree);
    s->gravity = vec(down * cos(heading), down * sin(heading), -g * cos(20.0 * degree));
    s->mu = mu;
    s->duration = duration;
    return true;
}

// Unit cubes, each a little off the axis, touching exactly.
static bool stack(peer_scene *s, double top_mass)
{
    if (!reserve(s, s->n, 1, 0)) {
        return false;
    }
    floor_only(s);
    s->mu = 0.5;
    for (int i = 0; i < s->n; i++) {
        make_box(&s->body[i], 0.5, 0.5, 0.5, i == s->n - 1 ? top_mass : 1.0,
                 vec(0.01 * sin(2.1 * i), 0.01 * cos(1.3 * i), 0.5 + i));
    }
    return true;
}

// Bodies on a loose lattice in a square container, falling into it.
static bool pile(peer_scene *s, bool spheres)
{
    int k = s->n <= 100 ? 5 : s->n <= 500 ? 8 : 10;
    double a = spheres ? 1.2 : 1.8;
    if (!reserve(s, s->n, 5, 0)) {
        return false;
    }
    floor_only(s);
    for (int j = 0; j < 4; j++) {
        double sign = j % 2 ? -1.0 : 1.0;
        s->plane[j + 1].normal = j < 2 ? vec(sign, 0.0, 0.0) : vec(0.0, sign, 0.0);
        s->plane[j + 1].offset = -0.5 * k * a;
    }
    s->mu = 0.5;
    s->duration = 5.0;
    for (int i = 0; i < s->n; i++) {
        double middle = 0.5 * (k - 1);
        int row = i / k % k, layer = i / (k * k);
        peer_vec p =
            vec((i % k - middle) * a + 0.04 * sin(12.9898 * i + 0.1),
                (row - middle) * a + 0.04 * sin(78.233 * i + 0.2), 0.5 * a + 0.1 + layer * a);
        if (spheres) {
            make_sphere(&s->body[i], 0.5, 1.0, p);
            continue;
        }
        make_box(&s->body[i], 0.5, 0.5, 0.5, 1.0, p);
        peer_vec axis = vec(sin(i + 0.3), sin(2.0 * i + 1.1), sin(3.0 * i + 2.3));
        axis = vec_scale(1.0 / vec_norm(axis), axis);
        s->body[i].start.q = quat_about(axis, 1.5 * sin(5.0 * i + 0.7));
    }
    return true;
}

// Ten rows of ten bricks, a centimetre apart, every other row shifted.
static bool wall(peer_scene *s)
{
    s->n = 100;
    if (!reserve(s, s->n, 1, 0)) {
        return false;
    }
    floor_only(s);
    s->mu = 0.5;
    for (int i = 0; i < s->n; i++) {
        int row = i / 10, column = i % 10;
        make_box(&s->body[i], 0.5, 0.25, 0.25, 1.0,
                 vec((column - 4.5) * 1.01 + (row % 2 ? 0.15 : -0.15), 0.0, 0.25 + 0.5 * row));
    }
    return true;
}

// Rods hanging from each other, released horizontally.
static bool chain(peer_scene *s, double length, bool hinges, double duration)
{
    if (!reserve(s, s->n, 0, s->n)) {
        return false;
    }
    s->duration = duration;
    for (int i = 0; i < s->n; i++) {
        make_rod(&s->body[i], length, 1.0, vec((i + 0.5) * length, 0.0, 0.0));
        s->joint[i] = (peer_joint){hinges, i - 1, vec(i * length, 0.0, 0.0), vec(0.0, 1.0, 0.0)};
    }
    return true;
}

// Half a circle of voussoirs, thick enough (0.222 of the mean radius, 0.1075 is needed) to stand.
static bool arch(peer_scene *s)
{
    if (!reserve(s, s->n, 1, 0)) {
        return false;
    }
    floor_only(s);
    s->mu = 0.7;
    const double inner = 4.0, outer = 5.0;
    double half_angle = 0.5 * pi / s->n;
    for (int i = 0; i < s->n; i++) {
        double angle = (2 * i + 1) * half_angle;
        make_voussoir(&s->body[i], inner, outer, 1.0, half_angle);
        double radius = inner * cos(half_angle) - s->body[i].corner[0].z;  // of the centroid
        place(&s->body[i], vec(radius * cos(angle), 0.0, radius * sin(angle)));
        s->body[i].start.q = quat_about(vec(0.0, 1.0, 0.0), 0.5 * pi - angle);
    }
    return true;
}

static bool bounce(peer_scene *s)
{
    if (!reserve(s, 1, 1, 0)) {
        return false;
    }
    floor_only(s);
    make_sphere(s->body, 0.5, 1.0, vec(0.0, 0.0, 1.5));
    s->restitution = 0.8;
    s->duration = 3.0;
    return true;
}

typedef struct maker {
    const char *name;
    bool (*make)(peer_scene *scene);
} maker;

static bool make_slide(peer_scene *s)
{
    return slide(s, 0.0);
}

static bool make_slide17(peer_scene *s)
{
    return slide(s, skew);
}

static bool make_incline_stick(peer_scene *s)
{
    return incline(s, 0.5, 0.0, 11.0);
}

static bool make_incline_slide(peer_scene *s)
{
    return incline(s, 0.3, 0.0, 2.0);
}

static bool make_incline_slide17(peer_scene *s)
{
    return incline(s, 0.3, skew, 2.0);
}

static bool make_stack(peer_scene *s)
{
    return stack(s, 1.0);
}

static bool make_heavystack(peer_scene *s)
{
    return stack(s, 1000.0);
}

static bool make_pile_s(peer_scene *s)
{
    return pile(s, true);
}

static bool make_pile_b(peer_scene *s)
{
    return pile(s, false);
}

static bool make_chain(peer_scene *s)
{
    return chain(s, 0.2, false, 5.0);
}

static bool make_pendulum2(peer_scene *s)
{
    s->n = 2;
    return chain(s, 1.0, true, 2.0);
}

static const maker makers[] = {
    {"slide", make_slide},
    {"slide17", make_slide17},
    {"incline_stick", make_incline_stick},
    {"incline_slide", make_incline_slide},
    {"incline_slide17", make_incline_slide17},
    {"stack", make_stack},
    {"heavystack", make_heavystack},
    {"pile_s", make_pile_s},
    {"pile_b", make_pile_b},
    {"wall", wall},
    {"chain", make_chain},
    {"pendulum2", make_pendulum2},
    {"arch", arch},
    {"bounce", bounce},
};

bool peer_scene_make(const char *name, int n, peer_scene *scene)
{
    *scene = (peer_scene){.name = name, .n = n > 0 ? n : 1, .duration = 10.0};
    scene->gravity = vec(0.0, 0.0, -g);
    for (size_t k = 0; k < sizeof makers / sizeof makers[0]; k++) {
        if (!strcmp(name, makers[k].name) && makers[k].make(scene)) {
            return true;
        }
    }
    peer_scene_free(scene);
    return false;
}

void peer_scene_free(peer_scene *scene)
{
    free(scene->body);
    free(scene->plane);
    free(scene->joint);
    *scene = (peer_scene){0};
}

// ── Cases ────────────────────────────────────────────────────────────────────────────────────────

#define ONE_BOX                                                                                    \
    "perp:default perp:implicit mujoco:default mujoco:ell-imp10 mujoco:acc mujoco:acc-noslip "     \
    "ode:step ode:quick20 ode:quick50 bullet:si10 bullet:si50 bullet:si10-gbox "                   \
    "bullet:si50-gbox bullet:dantzig-gbox dart:dantzig dart:dantzig-tight dart:pgs "               \
    "siconos:nsgs3 siconos:nsgs8"
#define STACK                                                                                      \
    "perp:default perp:implicit mujoco:default mujoco:acc ode:step-cfm5 ode:quick20 ode:quick50 "  \
    "ode:quick200 bullet:si10-gbox bullet:si50-gbox bullet:si200-gbox bullet:dantzig-gbox "        \
    "dart:dantzig dart:dantzig-tight dart:pgs siconos:nsgs3 siconos:nsgs6"
#define WALL                                                                                       \
    "perp:default perp:implicit mujoco:default ode:quick20 ode:quick50 ode:quick200 "              \
    "bullet:si10-gbox "                                                                            \
    "bullet:si50-gbox bullet:si200-gbox"
#define ARCH                                                                                       \
    "perp:default perp:implicit mujoco:default mujoco:acc bullet:si10-gbox bullet:si50-gbox "      \
    "bullet:si200-gbox "                                                                           \
    "bullet:dantzig-gbox bullet:si50-gbox-sat siconos:nsgs3 siconos:nsgs6"
#define JOINTS                                                                                     \
    "perp:exact perp:default perp:theta perp:implicit mujoco:default mujoco:rk4 mujoco:implicit "  \
    "mujoco:acc-connect ode:step ode:step-tight ode:quick20 ode:quick50 bullet:si10 "              \
    "bullet:si50 bullet:dantzig dart:dantzig"
#define LONG_CHAIN "perp:default perp:exact perp:implicit ode:quick20 bullet:si10 bullet:si50"
#define PILE                                                                                       \
    "perp:default perp:implicit mujoco:cg mujoco:default ode:step ode:quick20 ode:quick50 "        \
    "ode:quick200 "                                                                                \
    "bullet:si10-gbox bullet:si50-gbox bullet:si200-gbox bullet:dantzig-gbox dart:dantzig "        \
    "dart:pgs siconos:nsgs3"
#define LARGE_PILE "perp:tol6 perp:tol3 ode:quick20 ode:quick50 bullet:si10-gbox bullet:si50-gbox"
#define BOUNCE                                                                                     \
    "perp:default perp:implicit mujoco:default mujoco:fit ode:step ode:quick20 bullet:si10 "       \
    "dart:dantzig "                                                                                \
    "siconos:nsgs8"

const peer_case peer_cases[] = {
    {"slide", 1, 0.01, false, ONE_BOX},
    {"slide17", 1, 0.01, false, ONE_BOX},
    {"incline_stick", 1, 0.01, false, ONE_BOX},
    {"incline_slide", 1, 0.01, false, ONE_BOX},
    {"incline_slide17", 1, 0.01, false, ONE_BOX},
    {"slide17", 1, 0.001, true, ONE_BOX},
    {"incline_stick", 1, 0.001, true, ONE_BOX},
    {"incline_slide17", 1, 0.001, true, ONE_BOX},
    {"stack", 10, 0.01, false, STACK},
    {"stack", 10, 0.002, true, STACK},
    {"stack", 30, 0.01, false, STACK},
    {"heavystack", 10, 0.01, false, STACK},
    {"heavystack", 10, 0.002, true, STACK},
    {"wall", 100, 0.01, false, WALL},
    {"arch", 15, 0.01, false, ARCH},
    {"chain", 20, 0.01, false, JOINTS},
    {"chain", 20, 0.001, false, JOINTS},
    {"chain", 100, 0.001, false, JOINTS},
    {"chain", 1000, 0.001, true, LONG_CHAIN},
    {"pendulum2", 2, 0.01, false, JOINTS},
    {"pendulum2", 2, 0.001, false, JOINTS},
    {"pendulum2", 2, 0.0001, false, JOINTS},
    {"bounce", 1, 0.01, false, BOUNCE},
    {"bounce", 1, 0.001, false, BOUNCE},
    {"bounce", 1, 0.0001, false, BOUNCE},
    {"pile_s", 100, 0.01, false, PILE},
    {"pile_b", 100, 0.01, false, PILE},
    {"pile_s", 500, 0.01, true, LARGE_PILE},
    {"pile_b", 500, 0.01, true, LARGE_PILE},
    {"pile_s", 1000, 0.01, true, LARGE_PILE},
    {"pile_b", 1000, 0.01, true, LARGE_PILE},
};
const int peer_case_count = sizeof peer_cases / sizeof peer_cases[0];
