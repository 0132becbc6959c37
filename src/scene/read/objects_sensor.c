// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The scene format as tables: sites and sensors.
#include "scene/read/reader.h"

#define AT(type, member) offsetof(type, member)
#define COUNT(array)     ((int)(sizeof(array) / sizeof((array)[0])))

// Frames of bodies, with the spellings of shapes.
static const pp_field site_fields[] = {
    {.key = "name", .kind = PP_FIELD_TEXT, .offset = AT(perp_site_def, name), .needed = 1},
    {.key = "body", .kind = PP_FIELD_BODY, .offset = AT(perp_site_def, body)},
    {.key = "position",
     .kind = PP_FIELD_VECTOR,
     .offset = AT(perp_site_def, position_B),
     .unit = "m"},
    {.key = "angle",
     .kind = PP_FIELD_ANGLE,
     .offset = AT(perp_site_def, angle),
     .space = PP_PLANE,
     .in_space = "rotation"},
    {.key = "rotation",
     .kind = PP_FIELD_ROTATION,
     .offset = AT(perp_site_def, rotation_BS),
     .space = PP_SPACE},
    // The region of touch sensors: a sphere or a box, whose full lengths the file has.
    {.key = "radius", .kind = PP_FIELD_POSITIVE, .offset = AT(perp_site_def, radius), .unit = "m"},
    {.key = "size", .kind = PP_FIELD_SIZE, .offset = AT(perp_site_def, half), .unit = "m"},
    {.key = "replicate", .kind = PP_FIELD_OTHER},
};
const pp_object pp_site_object = {"site", "sites",     {NULL, NULL},
                                  0,      site_fields, COUNT(site_fields)};

static const pp_choice sensor_kinds[] = {{"joint-position", PERP_SENSOR_JOINT_POSITION},
                                         {"joint-rate", PERP_SENSOR_JOINT_RATE},
                                         {"position", PERP_SENSOR_POSITION},
                                         {"orientation", PERP_SENSOR_ORIENTATION},
                                         {"velocity", PERP_SENSOR_VELOCITY},
                                         {"angular-velocity", PERP_SENSOR_ANGULAR_VELOCITY},
                                         {"gyro", PERP_SENSOR_GYRO},
                                         {"range", PERP_SENSOR_RANGE},
                                         {"acceleration", PERP_SENSOR_ACCELERATION},
                                         {"angular-acceleration", PERP_SENSOR_ANGULAR_ACCELERATION},
                                         {"accelerometer", PERP_SENSOR_ACCELEROMETER},
                                         {"joint-effort", PERP_SENSOR_JOINT_EFFORT},
                                         {"actuator-effort", PERP_SENSOR_ACTUATOR_EFFORT},
                                         {"force", PERP_SENSOR_FORCE},
                                         {"torque", PERP_SENSOR_TORQUE},
                                         {"touch", PERP_SENSOR_TOUCH},
                                         {NULL, 0}};

enum {
    WRENCH = 1u << PERP_SENSOR_FORCE | 1u << PERP_SENSOR_TORQUE,
    OF_JOINT = 1u << PERP_SENSOR_JOINT_POSITION | 1u << PERP_SENSOR_JOINT_RATE |
               1u << PERP_SENSOR_JOINT_EFFORT,
    OF_ACTUATOR = 1u << PERP_SENSOR_ACTUATOR_EFFORT,
    RANGE = 1u << PERP_SENSOR_RANGE,
    OF_FRAME = 1u << PERP_SENSOR_POSITION | 1u << PERP_SENSOR_ORIENTATION |
               1u << PERP_SENSOR_VELOCITY | 1u << PERP_SENSOR_ANGULAR_VELOCITY |
               1u << PERP_SENSOR_GYRO | RANGE | 1u << PERP_SENSOR_ACCELERATION |
               1u << PERP_SENSOR_ANGULAR_ACCELERATION | 1u << PERP_SENSOR_ACCELEROMETER | WRENCH |
               1u << PERP_SENSOR_TOUCH,
};

static const pp_field sensor_fields[] = {
    {.key = "name", .kind = PP_FIELD_TEXT, .offset = AT(perp_sensor_def, name)},
    {.key = "joint",
     .kind = PP_FIELD_JOINT,
     .offset = AT(perp_sensor_def, joint),
     .owners = OF_JOINT | WRENCH,
     .needed = OF_JOINT | WRENCH},
    {.key = "actuator",
     .kind = PP_FIELD_ACTUATOR,
     .offset = AT(perp_sensor_def, actuator),
     .owners = OF_ACTUATOR,
     .needed = OF_ACTUATOR},
    // One of the two.
    {.key = "site", .kind = PP_FIELD_SITE, .offset = AT(perp_sensor_def, site), .owners = OF_FRAME},
    {.key = "body", .kind = PP_FIELD_BODY, .offset = AT(perp_sensor_def, body), .owners = OF_FRAME},
    {.key = "axis",
     .kind = PP_FIELD_VECTOR,
     .offset = AT(perp_sensor_def, axis_S),
     .owners = RANGE},
    {.key = "max_range",
     .kind = PP_FIELD_POSITIVE,
     .offset = AT(perp_sensor_def, max_range),
     .owners = RANGE,
     .unit = "m"},
    {.key = "replicate", .kind = PP_FIELD_OTHER},
};
const pp_object pp_sensor_object = {"sensor", "sensors",     {sensor_kinds, sensor_kinds},
                                    -1,       sensor_fields, COUNT(sensor_fields)};
