// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Planar scenes for tests, built in a few lines:
//   plane p; plane_open(&p); … perp_add_*(p.builder, …) … plane_start(&p); plane_run(&p, h, steps);
// Everything that fails is a failed assertion that says why.
#pragma once

#include <perp/io.h>

typedef struct plane {
    perp_builder *builder;
    perp_model *model;
    perp_sim *sim;
    perp_sim_def def;        // to change before plane_start
    const perp_env *env;     // of builder and sim; NULL: the usual
    perp_certificate worst;  // over all steps
    int inexact;             // steps past a limit
    bool unique;             // no step saw another answer
    double energy_created;   // sum over all steps [J]
} plane;

void plane_open(plane *p);
void plane_start(plane *p);  // model and sim
void plane_close(plane *p);
// One step, several steps, steps of h until t. Fails the test on a negative status.
void plane_step(plane *p, double h);
void plane_run(plane *p, double h, int steps);

perp_body_def plane_body(double mass, double inertia, double x, double y, double angle);
perp_body_def plane_particle(double mass, double x, double y);
// Frictionless, unless a listed contact says otherwise.
perp_shape plane_point(plane *p, perp_body body, double x, double y);
perp_shape plane_disc(plane *p, perp_body body, double radius, double mu);
perp_shape plane_box(plane *p, perp_body body, double half_x, double half_y, double mu);
// Solid below the line through (x, y) of the body, turned by the angle.
perp_shape plane_halfplane(plane *p, perp_body body, double x, double y, double angle, double mu);
void plane_contact(plane *p, perp_shape a, perp_shape b, double mu);  // listed
perp_joint plane_pin(plane *p, perp_body a, perp_vec3 anchor_a, perp_body b, perp_vec3 anchor_b);
// A slender rod along its x axis: mass, m L^2/12, its end -L/2 at (x, y).
perp_body_def plane_rod(double mass, double length, double x, double y, double angle);

// Speed of a body's centre, its spin, as numbers.
double plane_vx(const plane *p, perp_body body);
double plane_vy(const plane *p, perp_body body);
double plane_spin(const plane *p, perp_body body);
// Normal impulse of all contacts between two shapes in the last step.
double plane_pn(const plane *p, perp_shape a, perp_shape b);

static const perp_body PLANE_GROUND = {0};
