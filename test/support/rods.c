// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/rods.h"

#include "support/cmocka.h"

#include <math.h>

void rods_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance * (1.0 + fabs(want)))) {
        fail_msg("%.17g is not %.17g", got, want);
    }
}

void rods_open(rods *r, bool reversed)
{
    perp_error error = {0};
    perp_builder *b = perp_builder_create(NULL);
    perp_body before = {0};
    double end = 0.0;
    for (int i = 0; i < RODS; i++) {
        perp_body_def def = perp_body_default();
        def.mass = ROD_MASS[i];
        def.inertia_zz = ROD_MASS[i] * ROD_LENGTH[i] * ROD_LENGTH[i] / 12.0;
        r->body[i] = perp_builder_add_body(b, &def);
        perp_joint_def pin = perp_joint_default();
        perp_vec3 far = {end, 0.0, 0.0}, own = {-0.5 * ROD_LENGTH[i], 0.0, 0.0};
        pin.kind = PERP_JOINT_REVOLUTE;
        pin.a = reversed ? r->body[i] : before;
        pin.b = reversed ? before : r->body[i];
        pin.anchor_A = reversed ? own : far;
        pin.anchor_B = reversed ? far : own;
        r->joint[i] = perp_builder_add_joint(b, &pin);
        before = r->body[i];
        end = 0.5 * ROD_LENGTH[i];
    }
    perp_status status = perp_model_create(b, &r->model, &error);
    if (status >= 0) {
        status = perp_tree_create(r->model, NULL, 0, NULL, &r->tree, &error);
    }
    if (status < 0) {
        fail_msg("rods: %s", error.text);
    }
    perp_builder_destroy(b);
}

void rods_close(rods *r)
{
    perp_tree_destroy(r->tree);
    perp_model_destroy(r->model);
}
