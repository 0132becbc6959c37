// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Bodies on floors of triangles move as they do on a half-space, step by step.
#include "support/cmocka.h"
#include "support/space.h"

#include <math.h>

enum { GRID = 23 };

typedef enum mover { BALL, BOX, ROD, DRUM, MOVERS } mover;

// z = 0 over 10 m by 10 m: a half-space, or a height field whose cells are 10 / (GRID - 1) m wide.
static perp_shape add_floor(plane *p, bool mesh)
{
    static const double flat[GRID * GRID] = {0.0};
    if (!mesh) {
        return space_halfspace(p, PLANE_GROUND, (perp_vec3){0.0, 0.0, 1.0}, 0.0, 0.3);
    }
    perp_shape_def def = perp_shape_default();
    def.kind = PERP_SHAPE_HEIGHTFIELD;
    def.heights = flat;
    def.grid_x = def.grid_y = GRID;
    def.half = (perp_vec3){5.0, 5.0, 0.0};
    def.mu = 0.3;
    return perp_builder_add_shape(p->builder, PLANE_GROUND, &def);
}

static perp_body add_mover(plane *p, mover what)
{
    const double size = 0.2;
    perp_body_def def = space_body(1.0, (perp_vec3){0.02, 0.02, 0.02},
                                   (perp_vec3){-2.0, -1.0, size + (what == BOX ? 0.0 : 0.1)});
    def.velocity_W = (perp_vec3){2.0, 1.3, 0.0};
    def.omega_W = (perp_vec3){what == BOX ? 0.0 : 1.0, 0.0, 2.0};
    perp_body body = perp_builder_add_body(p->builder, &def);
    perp_shape_def shape = perp_shape_default();
    shape.kind = what == BALL  ? PERP_SHAPE_SPHERE
                 : what == BOX ? PERP_SHAPE_BOX
                 : what == ROD ? PERP_SHAPE_CAPSULE
                               : PERP_SHAPE_CYLINDER;
    shape.radius = size;
    shape.half = (perp_vec3){size, size, size};
    shape.mu = 0.3;
    perp_builder_add_shape(p->builder, body, &shape);
    return body;
}

static void as_on_a_half_space(void **state)
{
    (void)state;
    for (int what = 0; what < MOVERS; what++) {
        plane on[2] = {{.env = NULL}, {.env = NULL}};
        perp_body body[2];
        for (int k = 0; k < 2; k++) {
            plane_open(&on[k]);
            body[k] = add_mover(&on[k], (mover)what);
            add_floor(&on[k], k == 1);
            plane_start(&on[k]);
        }
        double worst = 0.0, lowest = 0.0;
        for (int step = 0; step < 200; step++) {
            perp_pose X[2];
            for (int k = 0; k < 2; k++) {
                plane_step(&on[k], 0.005);
                X[k] = perp_sim_body_pose(on[k].sim, body[k]);
                lowest = fmin(lowest, X[k].p.z);
            }
            worst = fmax(worst, space_length(space_sub(X[0].p, X[1].p)));
        }
        print_message("mover %d: %.1e m apart\n", what, worst);
        assert_true(worst == 0.0 && lowest >= 0.0);
        plane_close(&on[0]);
        plane_close(&on[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_on_a_half_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
