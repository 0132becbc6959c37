// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target for gaps: the bytes define two shapes and their poses; the contact points must always be finite,
// with unit normals and true distances, the same from both sides.
#include "support/bytes.h"
#include "support/gap_scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Mostly multiples of an eighth, so that coinciding vertices and parallel sides are frequent; one in eight has
// another order of magnitude.
static double take_length(bytes *b)
{
    int byte = take_byte(b);
    double length = (byte & 31) / 8.0;
    return byte >= 224 ? ldexp(length, take_byte(b) % 41 - 20) : length;
}

static double take_signed(bytes *b)
{
    double length = take_length(b);
    return take_byte(b) & 1 ? -length : length;
}

// Multiples of 15 degrees, or any angle.
static double take_angle(bytes *b)
{
    const double step = 0.2617993877991494;
    int byte = take_byte(b);
    return byte < 192 ? step * (byte % 24) : step * 24.0 * take_fraction(b);
}

static perp_shape_def take_shape(bytes *b, perp_vec3 *vertex)
{
    perp_shape_def d = perp_shape_default();
    d.kind = (perp_shape_kind)(take_byte(b) % 7);
    d.position_B = (perp_vec3){take_signed(b), take_signed(b), 0.0};
    d.angle = take_angle(b);
    d.radius = take_length(b);
    d.half = (perp_vec3){take_length(b), take_length(b), 0.0};
    if (d.kind == PERP_SHAPE_POLYGON) {  // on an ellipse: mostly convex
        double angle = 0.0;
        for (int k = 3 + take_byte(b) % 10; k > 0 && angle < 6.2; k--) {
            vertex[d.vertex_count++] =
                (perp_vec3){d.half.x * cos(angle), d.half.y * sin(angle), 0.0};
            angle += 0.05 + 2.5 * take_fraction(b);
        }
        d.vertices_S = vertex;
    }
    return d;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes from = {data, size, 0};
    perp_vec3 va[GAP_SCENE_VERTICES], vb[GAP_SCENE_VERTICES];
    perp_shape_def a = take_shape(&from, va), b = take_shape(&from, vb);
    gap_scene scene;
    if (gap_scene_create(&scene, &a, &b)) {
        for (int k = 1; k <= 2; k++) {
            double x = take_signed(&from), y = take_signed(&from);
            scene.body[k] = gap_scene_frame(x, y, take_angle(&from));
        }
        if (gap_scene_flaw(&scene)) {
            __builtin_trap();
        }
    }
    gap_scene_destroy(&scene);
    return 0;
}
