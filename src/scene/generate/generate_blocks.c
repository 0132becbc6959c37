// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Generated scenes of blocks: arch, wall, pile, stack.
#include "scene/generate/generate.h"

#include <math.h>

static const double PI = 3.141592653589793;

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

// ── Arch ─────────────────────────────────────────────────────────────────────────────────────────
// A semicircle of equal wedges with straight edges and dry joints, on a rigid floor. The thickness
// is that of the joints over the mean radius. In the frame of a wedge +y points outwards. With ring
// = 1 a wedge weighs as much as the piece of ring between its joints, as in limit analyses of
// arches.

typedef struct wedge {
    double inner_x, inner_y, outer_x, outer_y;  // corners on the right, from the centre of mass
    double centre;         // distance of its centre of mass from the centre of the arch [m]
    double mass, inertia;  // of a piece of ring; 0: from the density
} wedge;

// Half of the angle of a wedge is pi / 2n. The piece of ring between the radii a < b and the angles
// +-h has the area h (b^2 - a^2), its centroid at 2/3 (b^3 - a^3) / (b^2 - a^2) sin(h) / h and the
// polar moment (a^2 + b^2) / 2 per mass about the centre of the arch, which is moved by Steiner's
// theorem.
static wedge make_wedge(double radius, double thickness, int blocks, double ring_density)
{
    double half = PI / (2.0 * blocks), inner = radius - 0.5 * thickness, outer = inner + thickness;
    double x0 = inner * pp_sin(half), y0 = inner * pp_cos(half);
    double x1 = outer * pp_sin(half), y1 = outer * pp_cos(half);
    double squares = outer * outer - inner * inner, sum = outer * outer + inner * inner;
    // Centroid of a trapezium with parallel sides 2 x0 and 2 x1.
    wedge w = {.centre = y0 + (y1 - y0) * (x0 + 2.0 * x1) / (3.0 * (x0 + x1))};
    if (ring_density > 0.0) {
        double cubes = outer * outer * outer - inner * inner * inner;
        w.mass = ring_density * half * squares;
        w.centre = 2.0 / 3.0 * cubes / squares * pp_sin(half) / half;
        w.inertia = w.mass * (0.5 * sum - w.centre * w.centre);
    }
    w.inner_x = x0;
    w.inner_y = y0 - w.centre;
    w.outer_x = x1;
    w.outer_y = y1 - w.centre;
    return w;
}

// Options, in the order of value[]. thickness is relative to the radius [m]; density [kg/m^2]; ring
// 0 or 1.
static const pp_option arch_options[] = {
    {"blocks", 20, 3, 1000, true},       {"thickness", 0.109, 1e-3, 1, false},
    {"mu", 0.8, 0, 100, false},          {"radius", 1, 1e-3, 1e3, false},
    {"density", 2000, 1e-3, 1e6, false}, {"ring", 0, 0, 1, true},
    {"step", 0.01, 1e-6, 1, false},      {"until", 60, 0, 1e6, false},
};

// angle: of the middle of the wedge, from the x axis; its y axis points there.
static void put_wedge(pp_scene_writer *out, int k, const wedge *w, double angle)
{
    pp_scene_writer_put(out, "$  {\"name\": \"block @\", \"position\": [#, #], \"angle\": #,\n",
                        pp_scene_writer_comma(k), k + 1, w->centre * pp_cos(angle),
                        w->centre * pp_sin(angle), angle - 0.5 * PI);
    if (w->mass > 0.0) {
        pp_scene_writer_put(out, "   \"mass\": #, \"inertia\": #,\n", w->mass, w->inertia);
    }
}

static void write_arch(pp_scene_writer *out, const double *value)
{
    int blocks = (int)value[0];
    double radius = value[3], mu = value[2], density = value[4];
    bool ring = value[5] > 0.0;
    wedge w = make_wedge(radius, value[1] * radius, blocks, ring ? density : 0.0);
    pp_scene_writer_head(out, "arch",
                         "A semicircular arch of wedges with dry joints under its own weight.",
                         value[6], value[7]);
    pp_scene_writer_put(
        out, " \"shapes\": [{\"name\": \"floor\", \"kind\": \"halfplane\", \"mu\": #}],\n", mu);
    pp_scene_writer_put(out, " \"bodies\": [\n");
    for (int k = 0; k < blocks; k++) {
        // From the left springing to the right one.
        put_wedge(out, k, &w, PI * (blocks - 0.5 - k) / blocks);
        pp_scene_writer_put(out, "   \"shapes\": [{\"kind\": \"polygon\", \"mu\": #,", mu);
        if (!ring) {
            pp_scene_writer_put(out, " \"density\": #,", density);
        }
        pp_scene_writer_put(out, "\n     \"vertices\": [[#, #], [#, #], [#, #], [#, #]]}]}",
                            w.inner_x, w.inner_y, w.outer_x, w.outer_y, -w.outer_x, w.outer_y,
                            -w.inner_x, w.inner_y);
    }
    pp_scene_writer_put(out, "]\n}\n");
}

const pp_recipe pp_arch_recipe = {
    {"arch", "a semicircular arch of wedges with dry joints",
     "blocks=20 thickness=0.109 mu=0.8 radius=1 density=2000 ring=0 step=0.01 until=60"},
    arch_options,
    COUNT(arch_options),
    write_arch};

// ── Boxes ────────────────────────────────────────────────────────────────────────────────────────

// A box in the plane: centre, angle, size [m, rad], density [kg/m^2].
typedef struct box {
    double x, y, angle, width, height, density, mu;
} box;

static void put_floor(pp_scene_writer *out, double mu)
{
    pp_scene_writer_put(
        out, " \"shapes\": [{\"name\": \"floor\", \"kind\": \"halfplane\", \"mu\": #}", mu);
}

// An angle of 0 is left out.
static void put_box(pp_scene_writer *out, int k, box b)
{
    pp_scene_writer_put(out, "$  {\"name\": \"box @\", \"position\": [#, #]",
                        pp_scene_writer_comma(k), k + 1, b.x, b.y);
    if (b.angle != 0.0) {
        pp_scene_writer_put(out, ", \"angle\": #", b.angle);
    }
    pp_scene_writer_put(out,
                        ",\n   \"shapes\": [{\"kind\": \"box\", \"size\": [#, #], \"density\": #, "
                        "\"mu\": #}]}",
                        b.width, b.height, b.density, b.mu);
}

// ── Wall: running bond, half bricks at the ends of every second row ──────────────────────────────

// Bricks are width x height, with gaps between neighbours of a row [m]. Rows touch.
static const pp_option wall_options[] = {
    {"rows", 10, 1, 1000, true},         {"columns", 10, 1, 1000, true},
    {"width", 0.5, 1e-3, 1e3, false},    {"height", 0.25, 1e-3, 1e3, false},
    {"gap", 0.02, 0, 1e3, false},        {"mu", 0.5, 0, 100, false},
    {"density", 1000, 1e-3, 1e6, false}, {"step", 0.01, 1e-6, 1, false},
    {"until", 5, 0, 1e6, false},
};

// Two half bricks and a gap are as long as a brick.
static void write_wall(pp_scene_writer *out, const double *value)
{
    int rows = (int)value[0], columns = (int)value[1], n = 0;
    double width = value[2], height = value[3], gap = value[4];
    double pitch = width + gap, half = 0.5 * (width - gap);
    pp_scene_writer_head(out, "wall", "A wall of bricks in running bond.", value[7], value[8]);
    put_floor(out, value[5]);
    pp_scene_writer_put(out, "],\n \"bodies\": [\n");
    for (int i = 0; i < rows; i++) {
        bool shifted = i % 2 == 1;
        int bricks = shifted ? columns + 1 : columns;
        for (int k = 0; k < bricks; k++) {
            bool end = shifted && (k == 0 || k == columns);
            // Shifted rows start half a pitch to the left. Their end bricks are half bricks, flush
            // with the rows below and above.
            double x = pitch * (shifted ? k : k + 0.5);
            if (end) {
                x += (k == 0 ? 0.5 : -0.5) * (half + gap);
            }
            put_box(out, n++,
                    (box){x - 0.5 * pitch * columns, height * (i + 0.5), 0.0, end ? half : width,
                          height, value[6], value[5]});
        }
    }
    pp_scene_writer_put(out, "]\n}\n");
}

const pp_recipe pp_wall_recipe = {
    {"wall", "bricks in running bond",
     "rows=10 columns=10 width=0.5 height=0.25 gap=0.02 mu=0.5 density=1000 step=0.01 until=5"},
    wall_options,
    COUNT(wall_options),
    write_wall};

// ── Pile: boxes dropped between two walls ────────────────────────────────────────────────────────

// size: the largest side of a box; width: distance of the walls [m]. The seed selects sizes and
// angles.
static const pp_option pile_options[] = {
    {"boxes", 200, 1, 100000, true},     {"size", 0.2, 1e-3, 1e3, false},
    {"width", 4, 1e-3, 1e4, false},      {"mu", 0.5, 0, 100, false},
    {"density", 1000, 1e-3, 1e6, false}, {"seed", 1, 0, 1e9, true},
    {"step", 0.005, 1e-6, 1, false},     {"until", 4, 0, 1e6, false},
};

// Pseudo-random numbers between -1 and 1 by splitmix64, the same on every machine.
static double noise(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-52 - 1.0;
}

// Boxes of 0.6 to 1 times the size, at any angle, in columns of 1.6 times the size: their diagonals
// are at most 1.42 times the size, so that they start apart.
static void write_pile(pp_scene_writer *out, const double *value)
{
    int boxes = (int)value[0];
    double size = value[1], width = value[2] > 2.0 * size ? value[2] : 2.0 * size;
    // At least one column, even if the walls are close.
    int columns = (int)floor(width / (1.6 * size));
    uint64_t state = (uint64_t)value[5];
    columns = columns > 1 ? columns : 1;
    pp_scene_writer_head(out, "pile", "Boxes of many sizes dropped between two walls.", value[6],
                         value[7]);
    put_floor(out, value[3]);
    pp_scene_writer_put(
        out,
        ",\n  {\"name\": \"left wall\", \"kind\": \"halfplane\", \"position\": [#, 0], "
        "\"angle\": \"-90 deg\", \"mu\": #}",
        -0.5 * width, value[3]);
    pp_scene_writer_put(
        out,
        ",\n  {\"name\": \"right wall\", \"kind\": \"halfplane\", \"position\": [#, 0], "
        "\"angle\": \"90 deg\", \"mu\": #}],\n",
        0.5 * width, value[3]);
    pp_scene_writer_put(out, " \"bodies\": [\n");
    for (int k = 0; k < boxes; k++) {
        int row = k / columns;
        double pitch = width / columns;
        // A little to the side, so that boxes do not balance on their corners.
        double x = -0.5 * width + pitch * (k % columns + 0.5) + 0.03 * size * noise(&state);
        double y = 1.6 * size * (row + 0.5);
        double w = size * (0.8 + 0.2 * noise(&state)), h = size * (0.8 + 0.2 * noise(&state));
        double angle = PI * noise(&state);
        put_box(out, k, (box){x, y, angle, w, h, value[4], value[3]});
    }
    pp_scene_writer_put(out, "]\n}\n");
}

const pp_recipe pp_pile_recipe = {
    {"pile", "boxes dropped between two walls",
     "boxes=200 size=0.2 width=4 mu=0.5 density=1000 seed=1 step=0.005 until=4"},
    pile_options,
    COUNT(pile_options),
    write_pile};

// ── Stack ────────────────────────────────────────────────────────────────────────────────────────

// The top box has ratio times the mass of the others [kg], for ill-conditioned problems.
static const pp_option stack_options[] = {
    {"boxes", 5, 1, 1000, true},   {"size", 0.5, 1e-3, 1e3, false}, {"mu", 0.5, 0, 100, false},
    {"mass", 1, 1e-6, 1e9, false}, {"ratio", 1, 1e-9, 1e12, false}, {"step", 0.01, 1e-6, 1, false},
    {"until", 2, 0, 1e6, false},
};

// Sizes are equal: the ratio of masses is one of densities.
static void write_stack(pp_scene_writer *out, const double *value)
{
    int boxes = (int)value[0];
    double size = value[1];
    pp_scene_writer_head(out, "stack",
                         "A stack of boxes; the top one is ratio times heavier than the others.",
                         value[5], value[6]);
    put_floor(out, value[2]);
    pp_scene_writer_put(out, "],\n \"bodies\": [\n");
    for (int k = 0; k < boxes; k++) {
        // Density of the plane: mass over area [kg/m^2].
        double mass = k == boxes - 1 ? value[3] * value[4] : value[3];
        put_box(out, k,
                (box){0.0, size * (k + 0.5), 0.0, size, size, mass / (size * size), value[2]});
    }
    pp_scene_writer_put(out, "]\n}\n");
}

const pp_recipe pp_stack_recipe = {
    {"stack", "a stack of boxes", "boxes=5 size=0.5 mu=0.5 mass=1 ratio=1 step=0.01 until=2"},
    stack_options,
    COUNT(stack_options),
    write_stack};
