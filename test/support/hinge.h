// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// One arm on a hinge, or one body on a rail, with an actuator, and the closed forms of its motion.
#pragma once

#include "support/plane.h"

typedef struct hinge {
    plane p;
    perp_body body;
    perp_joint_def joint_def;        // to change before hinge_start
    perp_actuator_def actuator_def;  // kind < 0: no actuator
    perp_joint joint;
    perp_actuator actuator;
    double inertia;  // that the coordinate moves: 0.4 kg m^2, or 1.2 kg on a rail
} hinge;

// No gravity; the coordinate starts at 0 with the given rate.
void hinge_open(hinge *s, perp_joint_kind kind, double rate);
void hinge_start(hinge *s, perp_stepper stepper);
void hinge_close(hinge *s);
void hinge_set(hinge *s, double control);  // the input of the actuator
double hinge_coordinate(const hinge *s);
double hinge_rate(const hinge *s);
// Steps of h until t, which is a multiple of it.
void hinge_run(hinge *s, double h, double t);

// x, x' after t of m x'' + c x' + k x = f, k of any sign, from what they hold.
void hinge_linear(double m, double c, double k, double f, double t, double x[2]);
