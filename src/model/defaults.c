// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Default values of definitions.
#include "model/builder.h"

#include <math.h>

// A free body at the origin, without mass: it comes from the shapes.
perp_body_def perp_body_default(void)
{
    return (perp_body_def){.rotation_WB = {1.0, 0.0, 0.0, 0.0},
                           .gravity_scale = 1.0,
                           .colour = -1,
                           .cookie = PP_BODY_COOKIE};
}

// A disc or sphere of 1 m diameter; half is used by kinds with extents.
perp_shape_def perp_shape_default(void)
{
    return (perp_shape_def){.kind = PERP_SHAPE_DISC,
                            .radius = 0.5,
                            .half = {0.5, 0.5, 0.5},
                            .rotation_BS = {1.0, 0.0, 0.0, 0.0},
                            .mu = 0.5,
                            .detect = true,
                            .group = 1,
                            .mask = 1,
                            .colour = -1,
                            .cookie = PP_SHAPE_COOKIE};
}

// -1: no shape yet. mu_2 < 0: friction is the same in all directions.
perp_pair_def perp_pair_default(void)
{
    return (perp_pair_def){.a = {-1}, .b = {-1}, .mu = 0.5, .mu_2 = -1.0, .cookie = PP_PAIR_COOKIE};
}

// Negative coefficients are those of the shapes.
perp_contact_def perp_contact_default(void)
{
    return (perp_contact_def){.a = {-1},
                              .b = {-1},
                              .mu = -1.0,
                              .restitution = -1.0,
                              .mu_2 = -1.0,
                              .mu_spin = -1.0,
                              .mu_roll = -1.0,
                              .facets = -1,
                              .cookie = PP_CONTACT_COOKIE};
}

// lower > upper: no limits. a is the ground.
perp_joint_def perp_joint_default(void)
{
    return (perp_joint_def){.kind = PERP_JOINT_REVOLUTE,
                            .b = {-1},
                            .joint_a = {-1},
                            .joint_b = {-1},
                            .ratio = 1.0,
                            .axis_A = {0.0, 0.0, 1.0},
                            .rate_effort = PP_INF,
                            .lower = 1.0,
                            .upper = -1.0,
                            .cookie = PP_JOINT_COOKIE};
}

perp_force_def perp_force_default(void)
{
    return (perp_force_def){.kind = PERP_FORCE_WRENCH, .b = {-1}, .cookie = PP_FORCE_COOKIE};
}

perp_input_def perp_input_default(void)
{
    return (perp_input_def){.lower = -PP_INF, .upper = PP_INF, .cookie = PP_INPUT_COOKIE};
}

// Without limits and without a filter.
perp_actuator_def perp_actuator_default(void)
{
    return (perp_actuator_def){.kind = PERP_ACTUATOR_MOTOR,
                               .joint = {-1},
                               .site = {-1},
                               .gear = 1.0,
                               .damping_ratio = -1.0,
                               .gain = 1.0,
                               .lower = -PP_INF,
                               .upper = PP_INF,
                               .cookie = PP_ACTUATOR_COOKIE};
}

// On the ground, without a region.
perp_site_def perp_site_default(void)
{
    return (perp_site_def){.rotation_BS = {1.0, 0.0, 0.0, 0.0}, .cookie = PP_SITE_COOKIE};
}

perp_sensor_def perp_sensor_default(void)
{
    return (perp_sensor_def){.kind = PERP_SENSOR_JOINT_POSITION,
                             .joint = {-1},
                             .actuator = {-1},
                             .site = {-1},
                             .body = {-1},
                             .max_range = PP_INF,
                             .cookie = PP_SENSOR_COOKIE};
}
