// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Generated scenes in space: single boxes and balls, stacks, walls, piles, chains, arches. The
// numbers are those of the comparison with other engines (docs/benchmarks.md).
#include "scene/generate/generate.h"

#include <math.h>

static const double PI = 3.141592653589793, G = 9.81;

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static void put_ground(pp_scene_writer *out, double mu)
{
    pp_scene_writer_put(
        out, " \"shapes\": [{\"name\": \"floor\", \"kind\": \"halfspace\", \"mu\": #}", mu);
}

// A box of the given size [m] and mass [kg]; `turn` is its angle about `axis` [rad].
typedef struct brick {
    double p[3], size[3], mass, mu;
    double axis[3], turn;
} brick;

static void put_brick(pp_scene_writer *out, int k, const brick *b)
{
    double density = b->mass / (b->size[0] * b->size[1] * b->size[2]);
    pp_scene_writer_put(out,
                        "$  {\"name\": \"box @\", \"kind\": \"solid\", \"position\": [#, #, #]",
                        pp_scene_writer_comma(k), k + 1, b->p[0], b->p[1], b->p[2]);
    if (b->turn != 0.0) {
        pp_scene_writer_put(out, ", \"rotation\": {\"axis\": [#, #, #], \"angle\": #}", b->axis[0],
                            b->axis[1], b->axis[2], b->turn);
    }
    pp_scene_writer_put(
        out,
        ",\n   \"shapes\": [{\"kind\": \"box\", \"size\": [#, #, #], \"density\": #, "
        "\"mu\": #}]}",
        b->size[0], b->size[1], b->size[2], density, b->mu);
}

// ── One box: sliding to a stop, and on a slope ───────────────────────────────────────────────────

// speed [m/s], and heading from the x axis [degrees].
static const pp_option slide_options[] = {
    {"speed", 4, 0, 1e3, false},    {"heading", 0, -360, 360, false}, {"mu", 0.5, 0, 100, false},
    {"step", 0.01, 1e-6, 1, false}, {"until", 1.5, 0, 1e6, false},
};

// The box is 1 x 1 x 0.5 m and weighs 1 kg. With Coulomb friction it stops after v / (mu g).
static void write_slide(pp_scene_writer *out, const double *value)
{
    // Angles of options are in degrees.
    double heading = value[1] * PI / 180.0;
    pp_scene_writer_head(out, "slide", "A box slides to a stop on a floor, launched at a heading.",
                         value[3], value[4]);
    put_ground(out, value[2]);
    pp_scene_writer_put(
        out,
        "],\n \"bodies\": [\n  {\"name\": \"box\", \"kind\": \"solid\", \"position\": [0, "
        "0, 0.25], \"velocity\": [#, #, 0],\n   \"shapes\": [{\"kind\": \"box\", \"size\": "
        "[1, 1, 0.5], \"density\": 2, \"mu\": #}]}]\n}\n",
        value[0] * pp_cos(heading), value[0] * pp_sin(heading), value[2]);
}

const pp_recipe pp_slide_recipe = {
    {"slide", "3D: a box slides to a stop", "speed=4 heading=0 mu=0.5 step=0.01 until=1.5"},
    slide_options,
    COUNT(slide_options),
    write_slide};

// tilt of gravity from -z, and the heading it is tilted to [degrees].
static const pp_option incline_options[] = {
    {"tilt", 20, 0, 90, false},     {"heading", 0, -360, 360, false}, {"mu", 0.5, 0, 100, false},
    {"step", 0.01, 1e-6, 1, false}, {"until", 2, 0, 1e6, false},
};

// Gravity is tilted instead of the floor, so that axes stay those of the box. It slides where
// tan(tilt) > mu.
static void write_incline(pp_scene_writer *out, const double *value)
{
    double tilt = value[0] * PI / 180.0, heading = value[1] * PI / 180.0;
    pp_scene_writer_head(out, "incline",
                         "A box at rest on a slope: gravity is tilted towards the heading.",
                         value[3], value[4]);
    pp_scene_writer_put(out, " \"gravity\": [#, #, #],\n", G * pp_sin(tilt) * pp_cos(heading),
                        G * pp_sin(tilt) * pp_sin(heading), -G * pp_cos(tilt));
    put_ground(out, value[2]);
    pp_scene_writer_put(
        out,
        "],\n \"bodies\": [\n  {\"name\": \"box\", \"kind\": \"solid\", \"position\": [0, "
        "0, 0.25],\n   \"shapes\": [{\"kind\": \"box\", \"size\": [1, 1, 0.5], "
        "\"density\": 2, \"mu\": #}]}]\n}\n",
        value[2]);
}

const pp_recipe pp_incline_recipe = {
    {"incline", "3D: a box on a slope", "tilt=20 heading=0 mu=0.5 step=0.01 until=2"},
    incline_options,
    COUNT(incline_options),
    write_incline};

// height of the lowest point of the ball over the floor, and its radius [m].
static const pp_option bounce_options[] = {
    {"height", 1, 0, 1e3, false},      {"radius", 0.5, 1e-3, 1e3, false},
    {"restitution", 0.8, 0, 1, false}, {"step", 0.01, 1e-6, 1, false},
    {"until", 3, 0, 1e6, false},
};

// height is that of the lowest point. Without friction the ball does not turn.
static void write_bounce(pp_scene_writer *out, const double *value)
{
    pp_scene_writer_head(out, "bounce", "A ball dropped on a floor.", value[3], value[4]);
    put_ground(out, 0.0);
    pp_scene_writer_put(
        out,
        "],\n \"bodies\": [\n  {\"name\": \"ball\", \"kind\": \"solid\", \"position\": [0, "
        "0, #], \"mass\": 1,\n   \"shapes\": [{\"kind\": \"sphere\", \"radius\": #, "
        "\"density\": 1, \"mu\": 0, \"restitution\": #}]}]\n}\n",
        value[0] + value[1], value[1], value[2]);
}

const pp_recipe pp_bounce_recipe = {{"bounce", "3D: a ball dropped on a floor",
                                     "height=1 radius=0.5 restitution=0.8 step=0.01 until=3"},
                                    bounce_options,
                                    COUNT(bounce_options),
                                    write_bounce};

// ── Stack and wall ───────────────────────────────────────────────────────────────────────────────

// ratio: mass of the top cube over that of the others, which is 1 kg.
static const pp_option stack_options[] = {
    {"boxes", 10, 1, 10000, true},  {"ratio", 1, 1e-9, 1e12, false}, {"mu", 0.5, 0, 100, false},
    {"step", 0.01, 1e-6, 1, false}, {"until", 10, 0, 1e6, false},
};

static void write_stack(pp_scene_writer *out, const double *value)
{
    int boxes = (int)value[0];
    pp_scene_writer_head(
        out, "stack3",
        "A stack of cubes with small offsets; the top one is ratio times heavier than the others.",
        value[3], value[4]);
    put_ground(out, value[2]);
    pp_scene_writer_put(out, "],\n \"bodies\": [\n");
    // Up to a centimetre aside, so that no face is exactly over another.
    for (int i = 0; i < boxes; i++) {
        brick b = {.p = {0.01 * pp_sin(2.1 * i), 0.01 * pp_cos(1.3 * i), 0.5 + i},
                   .size = {1.0, 1.0, 1.0},
                   .mass = i == boxes - 1 ? value[1] : 1.0,
                   .mu = value[2]};
        put_brick(out, i, &b);
    }
    pp_scene_writer_put(out, "]\n}\n");
}

const pp_recipe pp_stack3_recipe = {
    {"stack3", "3D: a stack of cubes", "boxes=10 ratio=1 mu=0.5 step=0.01 until=10"},
    stack_options,
    COUNT(stack_options),
    write_stack};

// Bricks are 1 x 0.5 x 0.5 m and weigh 1 kg.
static const pp_option wall_options[] = {
    {"rows", 10, 1, 1000, true},    {"columns", 10, 1, 1000, true}, {"mu", 0.5, 0, 100, false},
    {"step", 0.01, 1e-6, 1, false}, {"until", 10, 0, 1e6, false},
};

static void write_wall(pp_scene_writer *out, const double *value)
{
    int rows = (int)value[0], columns = (int)value[1];
    pp_scene_writer_head(out, "wall3", "A wall of bricks, every second row shifted.", value[3],
                         value[4]);
    put_ground(out, value[2]);
    pp_scene_writer_put(out, "],\n \"bodies\": [\n");
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            // Rows are shifted by 0.3 of a brick against each other.
            double shift = r % 2 == 0 ? -0.15 : 0.15;
            brick b = {.p = {(c - 0.5 * (columns - 1)) * 1.01 + shift, 0.0, 0.25 + 0.5 * r},
                       .size = {1.0, 0.5, 0.5},
                       .mass = 1.0,
                       .mu = value[2]};
            put_brick(out, r * columns + c, &b);
        }
    }
    pp_scene_writer_put(out, "]\n}\n");
}

const pp_recipe pp_wall3_recipe = {
    {"wall3", "3D: a wall of bricks", "rows=10 columns=10 mu=0.5 step=0.01 until=10"},
    wall_options,
    COUNT(wall_options),
    write_wall};

// ── Pile: balls or cubes dropped into a bin ──────────────────────────────────────────────────────

// cubes 0: balls. The bin is 5, 8 or 10 bodies wide.
static const pp_option pile_options[] = {
    {"bodies", 100, 1, 100000, true}, {"cubes", 0, 0, 1, true},    {"mu", 0.5, 0, 100, false},
    {"step", 0.01, 1e-6, 1, false},   {"until", 5, 0, 1e6, false},
};

// A ball of diameter 1 m and 1 kg.
static void put_ball(pp_scene_writer *out, int k, const brick *b)
{
    pp_scene_writer_put(out,
                        "$  {\"name\": \"ball @\", \"kind\": \"solid\", \"position\": [#, #, #], "
                        "\"mass\": 1,\n   \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.5, "
                        "\"density\": 1, \"mu\": #}]}",
                        pp_scene_writer_comma(k), k + 1, b->p[0], b->p[1], b->p[2], b->mu);
}

void pp_scene_writer_bin(pp_scene_writer *out, double at, double mu)
{
    static const char *const names[4] = {"left", "right", "front", "back"};
    // Turning z by 90 degrees about (-in_y, in_x, 0) makes it the inward normal.
    static const double in[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    put_ground(out, mu);
    for (int k = 0; k < 4; k++) {
        pp_scene_writer_put(
            out,
            ",\n  {\"name\": \"$\", \"kind\": \"halfspace\", \"position\": [#, #, 0], "
            "\"rotation\": {\"axis\": [#, #, 0], \"angle\": \"90 deg\"}, \"mu\": #}",
            names[k], -at * in[k][0], -at * in[k][1], -in[k][1], in[k][0], mu);
    }
    pp_scene_writer_put(out, "],\n \"bodies\": [\n");
}

static void write_pile(pp_scene_writer *out, const double *value)
{
    int bodies = (int)value[0], k = 10;  // bodies along a side of the bin
    if (bodies <= 100) {
        k = 5;
    } else if (bodies <= 500) {
        k = 8;
    }
    bool cubes = value[1] != 0.0;
    // Cubes at any angle need 1.74 of room to start apart.
    double a = cubes ? 1.8 : 1.2, mu = value[2];
    pp_scene_writer_head(out, "pile3", "Balls or cubes dropped into a bin.", value[3], value[4]);
    pp_scene_writer_bin(out, 0.5 * k * a, mu);
    for (int i = 0; i < bodies; i++) {
        // Places a little aside and angles come from sin() of the number, without a random
        // generator.
        int ix = i % k, iy = i / k % k, iz = i / (k * k);
        brick b = {.p = {(ix - 0.5 * (k - 1)) * a + 0.04 * pp_sin(12.9898 * i + 0.1),
                         (iy - 0.5 * (k - 1)) * a + 0.04 * pp_sin(78.233 * i + 0.2),
                         0.5 * a + 0.1 + iz * a},
                   .size = {1.0, 1.0, 1.0},
                   .mass = 1.0,
                   .mu = mu,
                   .axis = {pp_sin(i + 0.3), pp_sin(2.0 * i + 1.1), pp_sin(3.0 * i + 2.3)},
                   .turn = 1.5 * pp_sin(5.0 * i + 0.7)};
        if (cubes) {
            put_brick(out, i, &b);
        } else {
            put_ball(out, i, &b);
        }
    }
    pp_scene_writer_put(out, "]\n}\n");
}

const pp_recipe pp_pile3_recipe = {{"pile3", "3D: balls or cubes dropped into a bin",
                                    "bodies=100 cubes=0 mu=0.5 step=0.01 until=5"},
                                   pile_options,
                                   COUNT(pile_options),
                                   write_pile};

// ── Heaps: many piles that do not touch each other ───────────────────────────────────────────────

// bodies: of each heap.
static const pp_option heaps_options[] = {
    {"heaps", 25, 1, 10000, true}, {"bodies", 14, 1, 1000, true},  {"cubes", 1, 0, 1, true},
    {"mu", 0.5, 0, 100, false},    {"step", 0.01, 1e-6, 1, false}, {"until", 3, 0, 1e6, false},
};

// Place of body i of a heap, in widths of a body: layers of a pyramid, the lowest `width` bodies
// wide.
static void heap_place(int width, int i, double place[3])
{
    int layer = 0;
    while (width > 1 && i >= width * width) {
        i -= width * width;
        width--;
        layer++;
    }
    layer += width == 1 ? i : 0;  // bodies left over stand on the tip
    i = width == 1 ? 0 : i;
    int row = i / width, column = i % width;
    place[0] = column - 0.5 * (width - 1);
    place[1] = row - 0.5 * (width - 1);
    place[2] = layer;
}

static void write_heaps(pp_scene_writer *out, const double *value)
{
    int heaps = (int)value[0], bodies = (int)value[1], width = 1, side = 1;
    bool cubes = value[2] != 0.0;
    double mu = value[3];
    // Smallest pyramid that holds the bodies: 1 + 4 + ... + w^2 = w (w + 1) (2 w + 1) / 6.
    while (width * (width + 1) * (2 * width + 1) < 6 * bodies) {
        width++;
    }
    while (side * side < heaps) {
        side++;
    }
    // a: distance of neighbours, rise: of layers; balls lie in the hollows of four below. Heaps are
    // far enough apart to stay separate when they spread.
    double a = cubes ? 1.3 : 1.001, rise = cubes ? 1.2 : sqrt(0.5), room = 2.0 * a * width + 2.0;
    pp_scene_writer_head(out, "heaps", "Heaps of cubes or balls that do not touch each other.",
                         value[4], value[5]);
    put_ground(out, mu);
    pp_scene_writer_put(out, "],\n \"bodies\": [\n");
    for (int k = 0; k < heaps * bodies; k++) {
        int heap = k / bodies, row = heap / side, column = heap % side;
        double p[3];
        heap_place(width, k % bodies, p);
        brick b = {.p = {a * p[0] + room * column, a * p[1] + room * row,
                         0.5 + (cubes ? 0.1 : 0.0) + rise * p[2]},
                   .size = {1.0, 1.0, 1.0},
                   .mass = 1.0,
                   .mu = mu,
                   .axis = {0.0, 0.0, 1.0},
                   .turn = 0.3 * pp_sin(5.0 * k + 0.7)};
        if (cubes) {
            put_brick(out, k, &b);
        } else {
            put_ball(out, k, &b);
        }
    }
    pp_scene_writer_put(out, "]\n}\n");
}

const pp_recipe pp_heaps_recipe = {{"heaps", "3D: separate heaps of cubes or balls",
                                    "heaps=25 bodies=14 cubes=1 mu=0.5 step=0.01 until=3"},
                                   heaps_options,
                                   COUNT(heaps_options),
                                   write_heaps};

// ── Chain and pendulum: rods along x ─────────────────────────────────────────────────────────────

// Rods of 1 kg along x with joints of the given kind at their ends, the first at the origin. The
// shapes do not collide.
static void put_rods(pp_scene_writer *out, int rods, double length, const char *joint)
{
    static const double radius = 0.05;
    // Thin rods of 1 kg: m L^2 / 12 across the axis, m r^2 / 2 about it [kg m^2].
    double across = length * length / 12.0;
    pp_scene_writer_put(out, " \"bodies\": [\n");
    for (int k = 0; k < rods; k++) {
        pp_scene_writer_put(
            out,
            "$  {\"name\": \"rod @\", \"kind\": \"solid\", \"position\": [#, 0, 0], "
            "\"mass\": 1, \"inertia\": [#, #, #],\n   \"shapes\": [{\"kind\": "
            "\"cylinder\", \"radius\": #, \"length\": #, \"detect\": false,\n    "
            "\"rotation\": {\"axis\": [0, 1, 0], \"angle\": \"90 deg\"}}]}",
            pp_scene_writer_comma(k), k + 1, length * (k + 0.5), 0.5 * radius * radius, across,
            across, radius, length);
    }
    pp_scene_writer_put(out, "],\n \"joints\": [\n");
    for (int k = 0; k < rods; k++) {
        pp_scene_writer_put(out, "$  {\"name\": \"joint @\", $, ", pp_scene_writer_comma(k), k + 1,
                            joint);
        if (k > 0) {
            pp_scene_writer_put(out, "\"a\": \"rod @\", \"anchor_a\": [#, 0, 0], ", k,
                                0.5 * length);
        }
        pp_scene_writer_put(out, "\"b\": \"rod @\", \"anchor_b\": [#, 0, 0]}", k + 1,
                            -0.5 * length);
    }
    pp_scene_writer_put(out, "]\n}\n");
}

// length: of a link [m].
static const pp_option chain_options[] = {
    {"links", 20, 1, 100000, true},
    {"length", 0.2, 1e-4, 1e3, false},
    {"step", 0.001, 1e-6, 1, false},
    {"until", 5, 0, 1e6, false},
};

// The rods start along x, and swing in the plane y = 0.
static void write_chain(pp_scene_writer *out, const double *value)
{
    pp_scene_writer_head(
        out, "chain3",
        "A chain of rods on ball joints that hangs from one end, released horizontally.", value[2],
        value[3]);
    put_rods(out, (int)value[0], value[1], "\"kind\": \"spherical\"");
}

const pp_recipe pp_chain3_recipe = {
    {"chain3", "3D: rods on ball joints", "links=20 length=0.2 step=0.001 until=5"},
    chain_options,
    COUNT(chain_options),
    write_chain};

// The hinges are about y, so that the motion stays in the plane y = 0.
static const pp_option pendulum_options[] = {
    {"rods", 2, 1, 1000, true},
    {"length", 1, 1e-3, 1e3, false},
    {"step", 0.001, 1e-6, 1, false},
    {"until", 2, 0, 1e6, false},
};

static void write_pendulum(pp_scene_writer *out, const double *value)
{
    pp_scene_writer_head(out, "pendulum3", "Rods on hinges about y, released horizontally.",
                         value[2], value[3]);
    put_rods(out, (int)value[0], value[1], "\"kind\": \"revolute\", \"axis\": [0, 1, 0]");
}

const pp_recipe pp_pendulum3_recipe = {
    {"pendulum3", "3D: rods on hinges", "rods=2 length=1 step=0.001 until=2"},
    pendulum_options,
    COUNT(pendulum_options),
    write_pendulum};

// ── Arch ─────────────────────────────────────────────────────────────────────────────────────────

// Radii of the arch inside and outside, and its depth along y [m]; density [kg/m^3].
static const pp_option arch_options[] = {
    {"blocks", 15, 3, 1000, true},  {"inner", 4, 1e-3, 1e4, false},
    {"outer", 5, 1e-3, 1e4, false}, {"depth", 1, 1e-3, 1e4, false},
    {"mu", 0.7, 0, 100, false},     {"density", 1, 1e-6, 1e6, false},
    {"step", 0.01, 1e-6, 1, false}, {"until", 10, 0, 1e6, false},
};

// Wedges are isosceles trapezia between two radii, extruded along y: x along the arch, z outwards,
// the origin at the centroid. The thickness is at least a thousandth of the radius.
static void write_arch(pp_scene_writer *out, const double *value)
{
    int blocks = (int)value[0];
    double inner = fmin(value[1], value[2]), outer = fmax(value[1], value[2]), y = 0.5 * value[3];
    outer = outer > 1.001 * inner ? outer : 1.001 * inner;
    // Half of the angle of a wedge; half widths inside and outside; heights of both from the
    // centre.
    double ha = 0.5 * PI / blocks, w0 = inner * pp_sin(ha), w1 = outer * pp_sin(ha);
    double u0 = inner * pp_cos(ha), height = outer * pp_cos(ha) - u0;
    double center = height * (w0 + 2.0 * w1) / (3.0 * (w0 + w1));
    pp_scene_writer_head(out, "arch3", "A semicircular arch of wedges with dry joints.", value[6],
                         value[7]);
    put_ground(out, value[4]);
    pp_scene_writer_put(out, "],\n \"bodies\": [\n");
    for (int i = 0; i < blocks; i++) {
        // From the right springing to the left one; z of the wedge points outwards.
        double middle = PI * (i + 0.5) / blocks, r = u0 + center;
        pp_scene_writer_put(
            out,
            "$  {\"name\": \"block @\", \"kind\": \"solid\", \"recenter\": true, "
            "\"position\": [#, 0, #],\n   \"rotation\": {\"axis\": [0, 1, 0], \"angle\": "
            "#},\n   \"shapes\": [{\"kind\": \"hull\", \"density\": #, \"mu\": #, "
            "\"vertices\": [",
            pp_scene_writer_comma(i), i + 1, r * pp_cos(middle), r * pp_sin(middle),
            0.5 * PI - middle, value[5], value[4]);
        for (int k = 0; k < 8; k++) {
            // Corners 0 to 3 at -y, 4 to 7 at +y: two on the inside, then two on the outside.
            double w = k % 4 < 2 ? w0 : w1, z = (k % 4 < 2 ? 0.0 : height) - center;
            pp_scene_writer_put(out, "$[#, #, #]", k > 0 ? ", " : "",
                                k % 4 == 1 || k % 4 == 2 ? w : -w, k < 4 ? -y : y, z);
        }
        pp_scene_writer_put(out, "]}]}");
    }
    pp_scene_writer_put(out, "]\n}\n");
}

const pp_recipe pp_arch3_recipe = {
    {"arch3", "3D: a semicircular arch of wedges",
     "blocks=15 inner=4 outer=5 depth=1 mu=0.7 density=1 step=0.01 until=10"},
    arch_options,
    COUNT(arch_options),
    write_arch};
