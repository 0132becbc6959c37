// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A box slides down a ramp of 20 degrees, tips over at its foot, and comes to rest with its back on the
// ramp. The model is built once; each step solves for all contact impulses and is certified.
#include <perp/perp.h>

#include <math.h>
#include <stdio.h>

int main(void)
{
    perp_builder *builder = perp_builder_create(NULL);
    perp_body ground = {0};

    perp_shape_def half = perp_shape_default();  // solid below its line, outward normal +y
    half.kind = PERP_SHAPE_HALFPLANE;
    half.mu = 0.3;
    perp_builder_add_shape(builder, ground, &half);
    half.angle = -20.0 * acos(-1.0) / 180.0;
    perp_builder_add_shape(builder, ground, &half);

    perp_body_def body = perp_body_default();
    body.name = "box";
    body.position_W = (perp_vec3){-1.9, 0.904, 0.0};
    body.angle = half.angle;
    perp_body box = perp_builder_add_body(builder, &body);
    perp_shape_def shape = perp_shape_default();
    shape.kind = PERP_SHAPE_BOX;
    shape.half = (perp_vec3){0.3, 0.2, 0.0};
    shape.density = 10.0;
    shape.mu = 0.3;
    perp_builder_add_shape(builder, box, &shape);

    perp_model *model = NULL;
    perp_sim *sim = NULL;
    perp_error error;
    perp_status status = perp_model_create(builder, &model, &error);
    perp_builder_destroy(builder);
    if (status < 0 || (status = perp_sim_create(model, NULL, NULL, &sim, &error)) < 0) {
        fprintf(stderr, "planar: %s\n", error.text);
        return 1;
    }
    puts(" t [s]  x [m]  y [m]  angle  contacts  certified");
    for (int k = 1; k <= 400 && (status = perp_sim_step(sim, 0.01)) >= 0; k++) {
        const perp_step_info *info = perp_sim_info(sim);
        perp_vec3 p = perp_sim_body_position(sim, box);
        if (k % 50 == 0) {
            printf("%6.2f %6.3f %6.3f %6.3f %9d  %s\n", perp_sim_time(sim), p.x, p.y,
                   perp_sim_body_angle(sim, box), info->contacts,
                   info->certificate.passed ? "yes" : "no");
        }
    }
    perp_sim_destroy(sim);
    perp_model_destroy(model);
    return status < 0;
}
