// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Generated scenes for measuring how the cost of a step grows (docs/performance.md): bodies packed
// into a bin so that they settle within a few steps, and a ladder of closed loops.
#include "scene/generate/generate.h"

#include <math.h>

static const double PI = 3.141592653589793;

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

// ── Heap: layers of balls in each other's hollows, or of cubes laid in bond ──────────────────────
// Sizes and gaps vary by the share `loose`: bodies drop by about that much, and lean on each other.

// layers 0: as many as there are bodies along a side. loose: a share of the size, which is 1 m.
static const pp_option heap_options[] = {
    {"bodies", 100, 1, 100000, true}, {"cubes", 0, 0, 1, true},   {"layers", 0, 0, 100000, true},
    {"loose", 0.005, 0, 0.1, false},  {"mu", 0.5, 0, 100, false}, {"step", 0.01, 1e-6, 1, false},
    {"until", 1, 0, 1e6, false},
};

// A layer of the heap: the coordinate of its first body, its height, the distance of neighbours
// [m], and the number of bodies along a side.
typedef struct layer {
    double first, z, apart;
    int side;
} layer;

// Layer `number` of a heap that is k bodies wide. Odd layers of balls lie in the hollows of the
// even ones, and are one ball narrower; layers of cubes are shifted by a quarter against each
// other.
static layer heap_layer(bool cubes, int k, double loose, int number)
{
    bool odd = number % 2 != 0;
    double apart = 1.0 + loose;
    layer l = {.apart = apart, .side = cubes || !odd || k == 1 ? k : k - 1};
    l.first = -0.5 * (l.side - 1) * apart;
    if (cubes) {
        l.first += odd ? 0.125 * apart : -0.125 * apart;
        l.z = 0.5 + number;
    } else {
        // A ball of diameter 1 on four below at the distance `apart`: its height over them is
        // sqrt(1 - apart^2 / 2). In a bin one ball wide they stand on each other.
        l.z = 0.5 + number * (k == 1 ? 1.0 : sqrt(1.0 - 0.5 * apart * apart));
    }
    return l;
}

// Body i at p. sin() of its number takes the place of random numbers, which would need a state.
static void put_heaped(pp_scene_writer *out, int i, const double p[3], const double *value)
{
    double size = 1.0 - value[3] * (0.5 + 0.5 * pp_sin(12.9898 * i + 0.1)), mu = value[4];
    if (value[1] != 0.0) {
        pp_scene_writer_put(
            out,
            "$  {\"name\": \"box @\", \"kind\": \"solid\", \"position\": [#, #, #], "
            "\"rotation\": {\"axis\": [0, 0, 1], \"angle\": #},\n   \"shapes\": [{\"kind\": "
            "\"box\", \"size\": [#, #, #], \"density\": 1, \"mu\": #}]}",
            pp_scene_writer_comma(i), i + 1, p[0], p[1], p[2],
            0.5 * value[3] * pp_sin(5.0 * i + 0.7), size, size, size, mu);
    } else {
        pp_scene_writer_put(
            out,
            "$  {\"name\": \"ball @\", \"kind\": \"solid\", \"position\": [#, #, #],\n   "
            "\"shapes\": [{\"kind\": \"sphere\", \"radius\": #, \"density\": 2, \"mu\": #}]}",
            pp_scene_writer_comma(i), i + 1, p[0], p[1], p[2], 0.5 * size, mu);
    }
}

// The width of the bin is the least that holds the bodies.
static void write_heap(pp_scene_writer *out, const double *value)
{
    int bodies = (int)value[0], k = 1;
    bool cubes = value[1] != 0.0;
    double loose = value[3];
    double layers = value[2];  // 0: as many as there are bodies along a side
    // Layers may be given; otherwise the heap is about as high as it is wide.
    while (k * (double)k * (layers > 0.0 ? layers : k) < bodies) {
        k++;
    }
    pp_scene_writer_head(out, "heap3", "Balls or cubes packed into a bin, nearly at rest.",
                         value[5], value[6]);
    // The bin fits the widest layer, with the shift of the cubes and a gap.
    pp_scene_writer_bin(out, (0.5 * (k - 1) + (cubes ? 0.125 : 0.0)) * (1.0 + loose) + 0.5 + loose,
                        value[4]);
    for (int i = 0, number = 0; i < bodies; number++) {
        layer l = heap_layer(cubes, k, loose, number);
        for (int c = 0; c < l.side * l.side && i < bodies; c++, i++) {
            int along = c % l.side, across = c / l.side;
            double p[3] = {l.first + along * l.apart, l.first + across * l.apart, l.z};
            put_heaped(out, i, p, value);
        }
    }
    pp_scene_writer_put(out, "]\n}\n");
}

const pp_recipe pp_heap3_recipe = {
    {"heap3", "3D: balls or cubes packed into a bin",
     "bodies=100 cubes=0 layers=0 loose=0.005 mu=0.5 step=0.01 until=1"},
    heap_options,
    COUNT(heap_options),
    write_heap};

// ── Ladder: two rails of rods, and rungs between them, on pins ───────────────────────────────────
// It hangs from two points and is released at an angle. Every rung closes a loop.

// width: of the rungs; apart: distance of rungs [m]; angle: of the rails from the vertical
// [degrees].
static const pp_option ladder_options[] = {
    {"rungs", 50, 1, 100000, true},   {"width", 0.4, 1e-3, 1e3, false},
    {"apart", 0.3, 1e-3, 1e3, false}, {"angle", 30, -89, 89, false},
    {"step", 0.001, 1e-7, 1, false},  {"until", 2, 0, 1e6, false},
};

// A slender rod of 1 kg per metre; m L^2 / 12 is its moment of inertia.
static void put_bar(pp_scene_writer *out, const char *name, int k, const double at[2], double angle,
                    double length)
{
    bool first = k == 1 && name[0] == 'l';
    pp_scene_writer_put(out,
                        "$  {\"name\": \"$ @\", \"position\": [#, #], \"angle\": #, \"mass\": #, "
                        "\"inertia\": #}",
                        first ? "" : ",\n", name, k, at[0], at[1], angle, length,
                        length * length * length / 12.0);
}

// The pin above rod k of a rail: on the rod before, or on the ground at x.
static void put_pin(pp_scene_writer *out, const char *rail, int k, double x, double half)
{
    pp_scene_writer_put(out, "$  {\"name\": \"$ pin @\", \"kind\": \"revolute\", ",
                        k == 1 && rail[0] == 'l' ? "" : ",\n", rail, k);
    if (k > 1) {
        pp_scene_writer_put(out, "\"a\": \"$ @\", \"anchor_a\": [#, 0], ", rail, k - 1, half);
    } else {
        pp_scene_writer_put(out, "\"anchor_a\": [#, 0], ", x);
    }
    pp_scene_writer_put(out, "\"b\": \"$ @\", \"anchor_b\": [#, 0]}", rail, k, -half);
}

// The pin between the lower end of rod k of a rail and an end of rung k.
static void put_end(pp_scene_writer *out, const char *rail, int k, double half, double x)
{
    pp_scene_writer_put(
        out,
        ",\n  {\"name\": \"$ end @\", \"kind\": \"revolute\", \"a\": \"$ @\", \"anchor_a\": "
        "[#, 0], \"b\": \"rung @\", \"anchor_b\": [#, 0]}",
        rail, k, rail, k, half, k, x);
}

static void write_ladder(pp_scene_writer *out, const double *value)
{
    int rungs = (int)value[0];
    // angle 0 hangs straight down. c and s: from one rung to the next.
    double width = value[1], apart = value[2], turn = (value[3] - 90.0) * PI / 180.0;
    double c = apart * pp_cos(turn), s = apart * pp_sin(turn);
    pp_scene_writer_head(out, "ladder", "A rope ladder of rods and pins; every rung closes a loop.",
                         value[4], value[5]);
    pp_scene_writer_put(out, " \"bodies\": [\n");
    for (int k = 1; k <= rungs; k++) {
        put_bar(out, "left", k, (double[]){(k - 0.5) * c, (k - 0.5) * s}, turn, apart);
        put_bar(out, "right", k, (double[]){width + (k - 0.5) * c, (k - 0.5) * s}, turn, apart);
        put_bar(out, "rung", k, (double[]){0.5 * width + k * c, k * s}, 0.0, width);
    }
    pp_scene_writer_put(out, "],\n \"joints\": [\n");
    for (int k = 1; k <= rungs; k++) {
        put_pin(out, "left", k, 0.0, 0.5 * apart);
        put_pin(out, "right", k, width, 0.5 * apart);
        put_end(out, "left", k, 0.5 * apart, -0.5 * width);
        put_end(out, "right", k, 0.5 * apart, 0.5 * width);
    }
    pp_scene_writer_put(out, "]\n}\n");
}

const pp_recipe pp_ladder_recipe = {{"ladder", "a rope ladder, with a closed loop for every rung",
                                     "rungs=50 width=0.4 apart=0.3 angle=30 step=0.001 until=2"},
                                    ladder_options,
                                    COUNT(ladder_options),
                                    write_ladder};
