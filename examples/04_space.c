// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A hammer falls about a hinge and hits a ball off its centre line: the ball slides first, then rolls. The
// friction cone of the floor is exact, and the hinge holds at the final positions of each step.
#include <perp/perp.h>

#include <math.h>
#include <stdio.h>

int main(void)
{
    perp_builder *builder = perp_builder_create(NULL);
    perp_body ground = {0};
    perp_shape_def shape = perp_shape_default();  // solid below z = 0
    shape.kind = PERP_SHAPE_HALFSPACE;
    shape.mu = 0.3;
    perp_builder_add_shape(builder, ground, &shape);

    perp_body_def body = perp_body_default();
    body.kind = PERP_BODY_SPATIAL;
    body.name = "hammer";  // along x; the capsule axis is z, so it is rotated by 90 degrees about y
    body.position_W = (perp_vec3){0.5, 0.0, 1.2};
    body.rotation_WB = (perp_quat){sqrt(0.5), 0.0, sqrt(0.5), 0.0};
    perp_body hammer = perp_builder_add_body(builder, &body);
    shape.kind = PERP_SHAPE_CAPSULE;
    shape.radius = 0.05;
    shape.half = (perp_vec3){0.0, 0.0, 0.5};
    shape.density = 1000.0;
    perp_builder_add_shape(builder, hammer, &shape);

    body.name = "ball";
    body.position_W = (perp_vec3){-0.25, 0.05, 0.2};
    body.rotation_WB = (perp_quat){1.0, 0.0, 0.0, 0.0};
    perp_body ball = perp_builder_add_body(builder, &body);
    shape.kind = PERP_SHAPE_SPHERE;
    shape.radius = 0.2;
    shape.density = 100.0;
    perp_builder_add_shape(builder, ball, &shape);

    perp_joint_def hinge = perp_joint_default();
    hinge.kind = PERP_JOINT_REVOLUTE;
    hinge.a = ground;
    hinge.b = hammer;
    hinge.anchor_A = (perp_vec3){0.0, 0.0, 1.2};
    hinge.anchor_B = (perp_vec3){0.0, 0.0, -0.5};
    hinge.axis_A = (perp_vec3){0.0, 1.0, 0.0};
    perp_builder_add_joint(builder, &hinge);

    perp_model *model = NULL;
    perp_sim *sim = NULL;
    perp_error error;
    perp_sim_def settings = perp_sim_default();
    settings.positions = PERP_POSITIONS_EXACT;
    perp_status status = perp_model_create(builder, &model, &error);
    perp_builder_destroy(builder);
    if (status < 0 || (status = perp_sim_create(model, &settings, NULL, &sim, &error)) < 0) {
        fprintf(stderr, "space: %s\n", error.text);
        return 1;
    }
    puts(" t [s]  x [m]  y [m]  speed [m/s]  spin [rad/s]  contacts  certified");
    for (int k = 1; k <= 300 && (status = perp_sim_step(sim, 0.005)) >= 0; k++) {
        const perp_step_info *info = perp_sim_info(sim);
        perp_vec3 p = perp_sim_body_position(sim, ball);
        perp_twist t = perp_sim_body_twist(sim, ball);
        if (k % 30 == 0) {
            printf("%6.2f %6.3f %6.3f %12.3f %13.3f %9d  %s\n", perp_sim_time(sim), p.x, p.y,
                   hypot(t.v_W.x, t.v_W.y), hypot(t.w_W.x, t.w_W.y), info->contacts,
                   info->certificate.passed ? "yes" : "no");
        }
    }
    perp_sim_destroy(sim);
    perp_model_destroy(model);
    return status < 0;
}
