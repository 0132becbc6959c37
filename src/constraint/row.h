// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to constraint/: making rows.
#pragma once

#include "constraint/constraint.h"

// Where rows are taken. values_only: of joints that are wanted for phi alone, rows get no J, rate or v_pre.
typedef struct pp_row_builder {
    const perp_model *model;
    const pp_poses *poses;
    bool values_only;
    const struct pp_triad *triad;  // of the one joint that rows are of; NULL: found for each
    const perp_twist
        *given;   // bodies that are not free: their velocities; NULL: those of the poses
    bool at_end;  // poses are those of the end, and v_pre is J nu + rate
} pp_row_builder;

void pp_row_start(pp_row *row);
// row += s d . v of the point of the body at the world position p.
void pp_row_point(const pp_row_builder *k, int body, perp_vec3 p, perp_vec3 d, double s,
                  pp_row *row);
// row += s d . omega of the body.
void pp_row_spin(const pp_row_builder *k, int body, perp_vec3 d, double s, pp_row *row);
// Turns the row into a spring and damper of its value at the end of the step; false: it pushes nothing.
bool pp_row_soften(pp_row *row, double K, double C, double h, double theta);
// Effort e_0 - K x - C x' of an actuator along the row of its coordinate, at the end of the step; p is limited to
// [lower, upper] unless the row has no slope, when p is what the effort gives.          theory (A1)
void pp_row_actuate(pp_row *row, const pp_actuator *a, double control, double h, double theta);
// Whether its effort is taken where the step ends.
bool pp_actuator_gives_way(const pp_actuator *a);
// How the places of a step follow from its velocities: 1 but for PERP_STEPPER_MOREAU_JEAN.
double pp_scheme_theta(pp_scheme scheme);

// What the scheme adds to a unilateral row; false: it is not in this step's problem. push: what the forces
// add to its rate in the step [m/s, rad/s].
bool pp_row_unilateral(pp_row *row, double h, double push, pp_scheme scheme);

// A list of rows with room for all that can come.
typedef struct pp_row_list {
    pp_row *row;
    int count;
} pp_row_list;

// Rows of joints by what they are: bilateral, boxed, limits, and limits that are left out.
typedef struct pp_row_lists {
    pp_row_list b, boxed, n, far;
} pp_row_lists;

// Rows of all joints. joints: where J and rates are taken; kin: the start of the step, where values are.
void pp_joint_rows(const perp_model *m, const pp_kinematics *kin, const pp_poses *joints,
                   pp_scheme scheme, pp_row_lists *out);
// At most this many rows of each kind from one joint, and one more for each of its actuators.
enum { PP_JOINT_ROWS_B = 10, PP_JOINT_ROWS_M = 2, PP_JOINT_ROWS_N = 2 };

// Implicit springs and drag as compliant bilateral rows, at most PP_FORCE_ROWS each.
void pp_spring_rows(const perp_model *m, const pp_kinematics *kin, pp_scheme scheme,
                    pp_row_list *b);
enum { PP_FORCE_ROWS = 6 };

// The value of a row as its formulas need it. Rows of the implicit step, taken where it ends, have the tangent followed
// back over the step, phi - h (J nu + rate): with it w = J nu' + rate + value/h is phi + h J (nu' - nu), the linearised
// value at the end, divided by h.                                                        theory (I2)
static inline double pp_row_tangent_value(const pp_row *row, double h, pp_scheme scheme)
{
    return scheme.start ? row->value - h * row->v_pre : row->value;
}

// Where the step starts.
static inline const pp_poses *pp_scheme_start(pp_scheme scheme, const pp_kinematics *kin)
{
    return scheme.start ? scheme.start : &kin->poses;
}

// The length of the whole step of which h is a part: what rests, and what overlaps or open joints are worked
// off in, must not change when a step is divided.                                       theory (P16)
static inline double pp_scheme_whole(pp_scheme scheme, double h)
{
    return scheme.whole > h ? scheme.whole : h;
}
