// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A scene file, run with other steppers and steps than it says, looked at by the names in it.
#pragma once

#include <perp/io.h>

typedef struct shot {
    perp_scene *scene;
    perp_sim_def def;  // as the scene says; to change before shot_start
    perp_sim *sim;
    double h;
    double energy_off, energy_scale;  // largest |E - E of the first step|, largest kinetic [J]
    double energy_first;
    int inexact;  // steps past a limit of the certificate
} shot;

void shot_open(shot *s, const char *name);
void shot_start(shot *s);
void shot_close(shot *s);
// Steps of h, the last one shorter, to exactly t. A step that fails fails the test, and says why.
void shot_run(shot *s, double t);

// x y z: place of the centre of mass; a: angle, in space about z between -pi and pi;
// u v w: its velocity; o: angular velocity, in space about z.
double shot_value(const shot *s, const char *body, char what);
perp_joint_state shot_joint(const shot *s, const char *joint);
