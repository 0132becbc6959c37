// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The scene format as tables: inputs and actuators.
#include "scene/read/reader.h"

#define AT(type, member) offsetof(type, member)
#define COUNT(array)     ((int)(sizeof(array) / sizeof((array)[0])))

// The value of an input is a number, or an expression, which is read when all joints are known.
static const pp_field input_fields[] = {
    {.key = "name", .kind = PP_FIELD_TEXT, .offset = AT(perp_input_def, name), .needed = 1},
    {.key = "value", .kind = PP_FIELD_OTHER},
    {.key = "range", .kind = PP_FIELD_RANGE, .offset = AT(perp_input_def, lower)},
    {.key = "unit", .kind = PP_FIELD_TEXT, .offset = AT(perp_input_def, unit)},
    {.key = "replicate", .kind = PP_FIELD_OTHER},
};
const pp_object pp_input_object = {"input", "inputs",     {NULL, NULL},
                                   0,       input_fields, COUNT(input_fields)};

static const pp_choice actuator_kinds[] = {{"motor", PERP_ACTUATOR_MOTOR},
                                           {"position", PERP_ACTUATOR_POSITION},
                                           {"velocity", PERP_ACTUATOR_VELOCITY},
                                           {"general", PERP_ACTUATOR_GENERAL},
                                           {NULL, 0}};
enum {
    POSITION = 1u << PERP_ACTUATOR_POSITION,
    VELOCITY = 1u << PERP_ACTUATOR_VELOCITY,
    GENERAL = 1u << PERP_ACTUATOR_GENERAL,
    ALL = 1u << PERP_ACTUATOR_MOTOR | POSITION | VELOCITY | GENERAL,
};

// Gains are in units of the coordinate times the gear.
static const pp_field actuator_fields[] = {
    {.key = "name", .kind = PP_FIELD_TEXT, .offset = AT(perp_actuator_def, name)},
    {.key = "joint", .kind = PP_FIELD_JOINT, .offset = AT(perp_actuator_def, joint), .owners = ALL},
    // Instead of a joint: a site, and what a unit effort is there, in the axes of the site.
    {.key = "site", .kind = PP_FIELD_SITE, .offset = AT(perp_actuator_def, site), .owners = ALL},
    {.key = "force",
     .kind = PP_FIELD_VECTOR,
     .offset = AT(perp_actuator_def, force_S),
     .owners = ALL},
    {.key = "torque",
     .kind = PP_FIELD_NUMBER,
     .offset = AT(perp_actuator_def, torque_S.z),
     .owners = ALL,
     .space = PP_PLANE},
    {.key = "torque",
     .kind = PP_FIELD_VECTOR,
     .offset = AT(perp_actuator_def, torque_S),
     .owners = ALL,
     .space = PP_SPACE},
    {.key = "control", .kind = PP_FIELD_SIGNAL, .offset = AT(perp_actuator_def, control)},
    {.key = "gear", .kind = PP_FIELD_NUMBER, .offset = AT(perp_actuator_def, gear)},
    {.key = "kp",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(perp_actuator_def, kp),
     .owners = POSITION,
     .needed = POSITION,
     .unit = "N m or N/m"},
    {.key = "kv",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(perp_actuator_def, kv),
     .owners = POSITION | VELOCITY,
     .needed = VELOCITY,
     .unit = "N m s or N s/m"},
    {.key = "damping_ratio",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(perp_actuator_def, damping_ratio),
     .owners = POSITION},
    {.key = "gain",
     .kind = PP_FIELD_NUMBER,
     .offset = AT(perp_actuator_def, gain),
     .owners = GENERAL},
    {.key = "bias",
     .kind = PP_FIELD_TRIPLE,
     .offset = AT(perp_actuator_def, bias),
     .owners = GENERAL},
    // One number for both directions, or two.
    {.key = "effort",
     .kind = PP_FIELD_RANGE,
     .offset = AT(perp_actuator_def, lower),
     .unit = "N m or N"},
    {.key = "time_constant",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(perp_actuator_def, time_constant),
     .unit = "s"},
    {.key = "replicate", .kind = PP_FIELD_OTHER},
};
const pp_object pp_actuator_object = {"actuator", "actuators",     {actuator_kinds, actuator_kinds},
                                      -1,         actuator_fields, COUNT(actuator_fields)};
