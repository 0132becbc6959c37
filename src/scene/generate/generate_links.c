// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Generated scenes of linked bodies: chain, cradle, pendulum, windows.
#include "scene/generate/generate.h"

#include <math.h>

static const double PI = 3.141592653589793;

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

// ── Chain: rounded links on pins, level at the start ─────────────────────────────────────────────

// length and radius of a link [m]; density per area [kg/m^2].
static const pp_option chain_options[] = {
    {"links", 100, 1, 100000, true},    {"length", 0.1, 1e-4, 1e3, false},
    {"radius", 0.02, 1e-5, 1e3, false}, {"density", 1000, 1e-3, 1e6, false},
    {"step", 0.005, 1e-6, 1, false},    {"until", 5, 0, 1e6, false},
};

// The links do not collide (detect is false): only the pins act. The first pin is at the origin.
static void write_chain(pp_scene_writer *out, const double *value)
{
    int links = (int)value[0];
    double length = value[1], half = 0.5 * length;
    pp_scene_writer_head(out, "chain",
                         "A chain that hangs from one end, released straight and horizontal.",
                         value[4], value[5]);
    pp_scene_writer_put(out, " \"bodies\": [\n");
    for (int k = 0; k < links; k++) {
        pp_scene_writer_put(
            out,
            "$  {\"name\": \"link @\", \"position\": [#, 0],\n   \"shapes\": [{\"kind\": "
            "\"capsule\", \"length\": #, \"radius\": #, \"density\": #, \"detect\": "
            "false}]}",
            pp_scene_writer_comma(k), k + 1, length * (k + 0.5), length, value[2], value[3]);
    }
    pp_scene_writer_put(out, "],\n \"joints\": [\n");
    for (int k = 0; k < links; k++) {
        pp_scene_writer_put(out, "$  {\"name\": \"pin @\", \"kind\": \"revolute\", ",
                            pp_scene_writer_comma(k), k + 1);
        if (k > 0) {
            pp_scene_writer_put(out, "\"a\": \"link @\", \"anchor_a\": [#, 0], ", k, half);
        }
        pp_scene_writer_put(out, "\"b\": \"link @\", \"anchor_b\": [#, 0]}", k + 1, -half);
    }
    pp_scene_writer_put(out, "]\n}\n");
}

const pp_recipe pp_chain_recipe = {
    {"chain", "a chain that hangs from one end",
     "links=100 length=0.1 radius=0.02 density=1000 step=0.005 until=5"},
    chain_options,
    COUNT(chain_options),
    write_chain};

// ── Cradle: Newton's, touching balls on strings ──────────────────────────────────────────────────

// lifted: number of balls that start at the angle [degrees]; length: of the strings [m].
static const pp_option cradle_options[] = {
    {"balls", 5, 2, 1000, true},     {"lifted", 1, 0, 1000, true},
    {"angle", 30, -89, 89, false},   {"radius", 0.05, 1e-4, 1e3, false},
    {"length", 1, 1e-3, 1e3, false}, {"restitution", 1, 0, 1, false},
    {"step", 0.001, 1e-6, 1, false}, {"until", 4, 0, 1e6, false},
};

// Lifted balls swing to the left, the first `lifted` of them. Balls touch: strings are a diameter
// apart.
static void write_cradle(pp_scene_writer *out, const double *value)
{
    int balls = (int)value[0], lifted = (int)value[1];
    double radius = value[3], length = value[4], angle = value[2] * PI / 180.0;
    pp_scene_writer_head(out, "cradle", "Newton's cradle: touching balls on strings, some lifted.",
                         value[6], value[7]);
    pp_scene_writer_put(out, " \"bodies\": [\n");
    for (int k = 0; k < balls; k++) {
        double swing = k < lifted ? angle : 0.0;
        pp_scene_writer_put(
            out,
            "$  {\"name\": \"ball @\", \"position\": [#, #],\n   \"shapes\": [{\"kind\": "
            "\"disc\", \"radius\": #, \"density\": 1000, \"mu\": 0, \"restitution\": #}]}",
            pp_scene_writer_comma(k), k + 1, 2.0 * radius * k - length * pp_sin(swing),
            -length * pp_cos(swing), radius, value[5]);
    }
    pp_scene_writer_put(out, "],\n \"joints\": [\n");
    for (int k = 0; k < balls; k++) {
        pp_scene_writer_put(
            out,
            "$  {\"name\": \"string @\", \"kind\": \"distance\", \"b\": \"ball @\", "
            "\"anchor_a\": [#, 0], \"length\": #}",
            pp_scene_writer_comma(k), k + 1, k + 1, 2.0 * radius * k, length);
    }
    pp_scene_writer_put(out, "]\n}\n");
}

const pp_recipe pp_cradle_recipe = {
    {"cradle", "Newton's cradle",
     "balls=5 lifted=1 angle=30 radius=0.05 length=1 restitution=1 step=0.001 until=4"},
    cradle_options,
    COUNT(cradle_options),
    write_cradle};

// ── Rods ─────────────────────────────────────────────────────────────────────────────────────────

// A slender rod that starts at (x, y) and points along the angle. That end moves with the velocity
// (vx, vy), and the rod turns with the rate [rad/s].
typedef struct rod {
    const char *name;
    int index;
    double x, y, angle, length, mass, vx, vy, rate;
} rod;

// The body is the middle of the rod: its velocity is that of the end plus rate x half the rod.
static void put_rod(pp_scene_writer *out, int k, rod r)
{
    double c = pp_cos(r.angle), s = pp_sin(r.angle), half = 0.5 * r.length;
    pp_scene_writer_put(out, "$  {\"name\": \"$ @\", \"position\": [#, #], \"angle\": #,",
                        pp_scene_writer_comma(k), r.name, r.index, r.x + half * c, r.y + half * s,
                        r.angle);
    if (r.rate != 0.0 || r.vx != 0.0 || r.vy != 0.0) {
        pp_scene_writer_put(out, "\n   \"velocity\": [#, #], \"spin\": #,",
                            r.vx - r.rate * half * s, r.vy + r.rate * half * c, r.rate);
    }
    pp_scene_writer_put(out, "\n   \"mass\": #, \"inertia\": #}", r.mass,
                        r.mass * r.length * r.length / 12.0);
}

// length and mass of each rod [m, kg]; angle from the x axis [degrees].
static const pp_option pendulum_options[] = {
    {"rods", 5, 1, 10000, true},     {"length", 0.4, 1e-4, 1e3, false},
    {"mass", 1, 1e-6, 1e6, false},   {"angle", 0, -360, 360, false},
    {"step", 0.001, 1e-7, 1, false}, {"until", 1.5, 0, 1e6, false},
};

// angle: of all rods from the x axis [degrees in the option]; -90 hangs straight down.
static void write_pendulum(pp_scene_writer *out, const double *value)
{
    int rods = (int)value[0];
    double length = value[1], half = 0.5 * length, angle = value[3] * PI / 180.0;
    pp_scene_writer_head(out, "pendulum",
                         "Slender rods that hang from each other, released straight.", value[4],
                         value[5]);
    pp_scene_writer_put(out, " \"bodies\": [\n");
    for (int k = 0; k < rods; k++) {
        put_rod(out, k,
                (rod){.name = "rod",
                      .index = k + 1,
                      .x = length * k * pp_cos(angle),
                      .y = length * k * pp_sin(angle),
                      .angle = angle,
                      .length = length,
                      .mass = value[2]});
    }
    // Rod k hangs on rod k - 1, the first on the ground at the origin.
    pp_scene_writer_put(out, "],\n \"joints\": [\n");
    for (int k = 0; k < rods; k++) {
        pp_scene_writer_put(out, "$  {\"name\": \"pin @\", \"kind\": \"revolute\", ",
                            pp_scene_writer_comma(k), k + 1);
        if (k > 0) {
            pp_scene_writer_put(out, "\"a\": \"rod @\", \"anchor_a\": [#, 0], ", k, half);
        }
        pp_scene_writer_put(out, "\"b\": \"rod @\", \"anchor_b\": [#, 0]}", k + 1, -half);
    }
    pp_scene_writer_put(out, "]\n}\n");
}

const pp_recipe pp_pendulum_recipe = {{"pendulum", "slender rods that hang from each other",
                                       "rods=5 length=0.4 mass=1 angle=0 step=0.001 until=1.5"},
                                      pendulum_options,
                                      COUNT(pendulum_options),
                                      write_pendulum};

// ── Windows: N four-bar loops side by side (IFToMM benchmark A02) ────────────────────────────────
// 2N + 1 rods of 1 m and 1 kg: N + 1 posts on the ground at x = 0, 1, ..., joined by N bars at the
// top, which start with 1 m/s to the right. A loop whose rods are all in line has a redundant
// constraint.

// The geometry is fixed by the benchmark.
static const pp_option windows_options[] = {
    {"windows", 2, 1, 10000, true},
    {"step", 0.001, 1e-7, 1, false},
    {"until", 10, 0, 1e6, false},
};

// Posts turn clockwise about their feet with 1 rad/s, which moves their tops as fast as the bars.
static void write_windows(pp_scene_writer *out, const double *value)
{
    int n = (int)value[0];
    pp_scene_writer_head(out, "windows",
                         "N four-bar linkages side by side, upright and moving at 1 m/s.", value[1],
                         value[2]);
    pp_scene_writer_put(out, " \"bodies\": [\n");
    for (int k = 0; k <= n; k++) {
        put_rod(out, k,
                (rod){.name = "post",
                      .index = k,
                      .x = k,
                      .angle = 0.5 * PI,
                      .length = 1.0,
                      .mass = 1.0,
                      .rate = -1.0});
    }
    for (int k = 0; k < n; k++) {
        put_rod(out, n + 1 + k,
                (rod){.name = "bar",
                      .index = k,
                      .x = k,
                      .y = 1.0,
                      .length = 1.0,
                      .mass = 1.0,
                      .vx = 1.0});
    }
    pp_scene_writer_put(out, "],\n \"joints\": [\n");
    for (int k = 0; k <= n; k++) {
        pp_scene_writer_put(out,
                            "$  {\"name\": \"foot @\", \"kind\": \"revolute\", \"b\": \"post @\", "
                            "\"anchor_a\": [@, 0], \"anchor_b\": [-0.5, 0]}",
                            pp_scene_writer_comma(k), k, k, k);
    }
    // Each bar is pinned to the tops of two posts.
    for (int k = 0; k < n; k++) {
        pp_scene_writer_put(
            out,
            ",\n  {\"name\": \"left @\", \"kind\": \"revolute\", \"a\": \"post @\", "
            "\"b\": \"bar @\", \"anchor_a\": [0.5, 0], \"anchor_b\": [-0.5, 0]}",
            k, k, k);
        pp_scene_writer_put(
            out,
            ",\n  {\"name\": \"right @\", \"kind\": \"revolute\", \"a\": \"bar @\", "
            "\"b\": \"post @\", \"anchor_a\": [0.5, 0], \"anchor_b\": [0.5, 0]}",
            k, k, k + 1);
    }
    pp_scene_writer_put(out, "]\n}\n");
}

const pp_recipe pp_windows_recipe = {
    {"windows", "four-bar linkages side by side (IFToMM A02)", "windows=2 step=0.001 until=10"},
    windows_options,
    COUNT(windows_options),
    write_windows};
