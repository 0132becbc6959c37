// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/hinge.h"

#include "support/cmocka.h"

#include <math.h>

void hinge_open(hinge *s, perp_joint_kind kind, double rate)
{
    const double mass = 1.2, inertia = 0.1, arm = 0.5;
    bool turns = kind == PERP_JOINT_REVOLUTE;
    *s = (hinge){0};
    plane_open(&s->p);
    perp_builder_set_gravity(s->p.builder, (perp_vec3){0.0, 0.0, 0.0});
    perp_body_def def = plane_body(mass, inertia, turns ? arm : 0.0, 0.0, 0.0);
    def.velocity_W = turns ? (perp_vec3){0.0, arm * rate, 0.0} : (perp_vec3){rate, 0.0, 0.0};
    def.spin = turns ? rate : 0.0;
    s->body = perp_builder_add_body(s->p.builder, &def);
    s->joint_def = perp_joint_default();
    s->joint_def.kind = kind;
    s->joint_def.name = "joint";
    s->joint_def.b = s->body;
    s->joint_def.anchor_B = (perp_vec3){turns ? -arm : 0.0, 0.0, 0.0};
    s->actuator_def = perp_actuator_default();
    s->actuator_def.name = "drive";
    s->inertia = turns ? inertia + mass * arm * arm : mass;
}

void hinge_start(hinge *s, perp_stepper stepper)
{
    s->joint = perp_builder_add_joint(s->p.builder, &s->joint_def);
    s->actuator_def.joint = s->joint;
    if ((int)s->actuator_def.kind >= 0) {
        s->actuator = perp_builder_add_actuator(s->p.builder, &s->actuator_def);
    }
    s->p.def.stepper = stepper;
    plane_start(&s->p);
}

void hinge_close(hinge *s)
{
    plane_close(&s->p);
}

void hinge_set(hinge *s, double control)
{
    perp_input input = perp_model_input(s->p.model, "drive");
    assert_int_equal(perp_sim_input_set(s->p.sim, input, control), PERP_OK);
}

double hinge_coordinate(const hinge *s)
{
    return perp_sim_joint(s->p.sim, s->joint).coordinate;
}

double hinge_rate(const hinge *s)
{
    return perp_sim_joint(s->p.sim, s->joint).rate;
}

void hinge_run(hinge *s, double h, double t)
{
    plane_run(&s->p, h, (int)lround(t / h));
}

// Two exponentials, real or complex, about the place of rest; where k = 0, about the rate of rest.
void hinge_linear(double m, double c, double k, double f, double t, double x[2])
{
    double a = c / (2.0 * m), D = a * a - k / m;
    if (k == 0.0 && c == 0.0) {
        x[0] += t * (x[1] + 0.5 * t * f / m);
        x[1] += t * f / m;
        return;
    }
    if (k == 0.0) {
        double rest = f / c, off = x[1] - rest, gone = -expm1(-c * t / m);
        x[0] += rest * t + off * gone * m / c;
        x[1] = rest + off * (1.0 - gone);
        return;
    }
    double rest = f / k, y = x[0] - rest, v = x[1] + a * y;  // y = e^(-a t) (A C + B S)
    double w = sqrt(fabs(D)), C = 1.0, S = t;
    if (w > 1e-9 * fabs(a)) {
        C = D > 0.0 ? cosh(w * t) : cos(w * t);
        S = (D > 0.0 ? sinh(w * t) : sin(w * t)) / w;
    }
    double e = exp(-a * t), turn = w > 1e-9 * fabs(a) ? D : 0.0;
    x[0] = rest + e * (y * C + v * S);
    x[1] = e * (y * turn * S + v * C) - a * e * (y * C + v * S);
}
