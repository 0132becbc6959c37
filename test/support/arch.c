// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/arch.h"

#include <math.h>
#include <stdio.h>

static const double DENSITY = 2000.0;  // [kg/m^2]: a metre of stone in depth

// Centroid of a convex quadrilateral.
static perp_vec3 centroid(const perp_vec3 v[4])
{
    double area = 0.0, x = 0.0, y = 0.0;
    for (int i = 0; i < 4; i++) {
        const perp_vec3 *p = &v[i], *q = &v[(i + 1) % 4];
        double cross = p->x * q->y - q->x * p->y;
        area += cross;
        x += (p->x + q->x) * cross;
        y += (p->y + q->y) * cross;
    }
    return (perp_vec3){x / (3.0 * area), y / (3.0 * area), 0.0};
}

// Mass, centre and inertia of the piece of ring between two angles.
static perp_body_def ring_piece(double inner, double outer, double from, double to)
{
    double half = 0.5 * (to - from), middle = 0.5 * (to + from);
    double mass = DENSITY * half * (outer * outer - inner * inner);
    double r = 2.0 / 3.0 * (pow(outer, 3) - pow(inner, 3)) / (outer * outer - inner * inner) *
               sin(half) / half;
    double inertia = 0.5 * mass * (outer * outer + inner * inner) - mass * r * r;
    return plane_body(mass, inertia, r * cos(middle), r * sin(middle), 0.0);
}

static perp_body add_block(plane *p, int k, const arch *a, double thickness, double mu)
{
    double pi = 3.14159265358979323846, blocks = a->blocks, inner = 1.0 - 0.5 * thickness,
           outer = 1.0 + 0.5 * thickness;
    // From the right springing to the left one; the ends lie on the floor exactly.
    double c0 = k == 0 ? 1.0 : cos(pi * k / blocks), s0 = k == 0 ? 0.0 : sin(pi * k / blocks);
    bool last = k + 1 == a->blocks;
    double c1 = last ? -1.0 : cos(pi * (k + 1) / blocks),
           s1 = last ? 0.0 : sin(pi * (k + 1) / blocks);
    perp_vec3 v[4] = {{inner * c0, inner * s0, 0.0},
                      {outer * c0, outer * s0, 0.0},
                      {outer * c1, outer * s1, 0.0},
                      {inner * c1, inner * s1, 0.0}};
    perp_vec3 middle = centroid(v);
    perp_body_def body = a->ring ? ring_piece(inner, outer, pi * k / blocks, pi * (k + 1) / blocks)
                                 : plane_body(0.0, 0.0, middle.x, middle.y, 0.0);
    perp_vec3 centre = body.position_W;
    for (int i = 0; i < 4; i++) {
        v[i].x -= centre.x;
        v[i].y -= centre.y;
    }
    char name[32];
    snprintf(name, sizeof name, "voussoir %d", k + 1);
    body.name = name;
    perp_body handle = perp_builder_add_body(p->builder, &body);
    perp_shape_def shape = perp_shape_default();
    shape.kind = PERP_SHAPE_POLYGON;
    shape.vertices_S = v;
    shape.vertex_count = 4;
    shape.density = a->ring ? 0.0 : DENSITY;
    shape.mu = mu;
    perp_builder_add_shape(p->builder, handle, &shape);
    return handle;
}

void arch_open(arch *a, int blocks, double thickness, double mu, bool ring)
{
    *a = (arch){.blocks = blocks, .ring = ring};
    plane_open(&a->p);
    plane_halfplane(&a->p, PLANE_GROUND, 0.0, 0.0, 0.0, mu);
    for (int k = 0; k < blocks; k++) {
        a->block[k] = add_block(&a->p, k, a, thickness, mu);
    }
}

void arch_start(arch *a)
{
    plane_start(&a->p);
    for (int k = 0; k < a->blocks; k++) {
        a->start[k] = perp_sim_body_position(a->p.sim, a->block[k]);
    }
}

void arch_close(arch *a)
{
    plane_close(&a->p);
}

double arch_moved(const arch *a)
{
    double worst = 0.0;
    for (int k = 0; k < a->blocks; k++) {
        perp_vec3 now = perp_sim_body_position(a->p.sim, a->block[k]);
        worst = fmax(worst, hypot(now.x - a->start[k].x, now.y - a->start[k].y));
    }
    return worst;
}
