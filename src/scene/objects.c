// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The scene format as tables: which objects there are, and which fields they have.
#include "scene/reader.h"

#define AT(type, member) offsetof(type, member)
#define COUNT(array)     ((int)(sizeof(array) / sizeof((array)[0])))

// ── Settings ─────────────────────────────────────────────────────────────────────────────────────

static const pp_choice steppers[] = {{"stewart-trinkle", PERP_STEWART_TRINKLE},
                                     {"anitescu-potra", PERP_ANITESCU_POTRA},
                                     {"moreau-jean", PERP_MOREAU_JEAN},
                                     {"quasistatic", PERP_QUASISTATIC},
                                     {NULL, 0}};
static const pp_choice forms[] = {{"auto", PERP_FORM_AUTO},
                                  {"mcp", PERP_FORM_MCP},
                                  {"lcp", PERP_FORM_LCP},
                                  {"cone", PERP_FORM_CONE},
                                  {NULL, 0}};
static const pp_choice frictions[] = {
    {"coulomb", PERP_FRICTION_COULOMB}, {"none", PERP_FRICTION_NONE}, {NULL, 0}};
static const pp_choice impacts[] = {
    {"newton", PERP_IMPACT_NEWTON}, {"poisson", PERP_IMPACT_POISSON}, {NULL, 0}};

static const pp_field scene_fields[] = {
    {.key = "$schema", .kind = PP_FIELD_OTHER},
    {.key = "name", .kind = PP_FIELD_TEXT, .offset = AT(pp_settings, name)},
    {.key = "description", .kind = PP_FIELD_TEXT, .offset = AT(pp_settings, description)},
    {.key = "gravity",
     .kind = PP_FIELD_VECTOR,
     .offset = AT(pp_settings, gravity),
     .unit = "m/s^2"},
    {.key = "step", .kind = PP_FIELD_POSITIVE, .offset = AT(pp_settings, step), .unit = "s"},
    {.key = "until", .kind = PP_FIELD_NONNEGATIVE, .offset = AT(pp_settings, until), .unit = "s"},
    {.key = "record",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(pp_settings, interval),
     .unit = "s"},
    {.key = "stepper",
     .kind = PP_FIELD_CHOICE,
     .offset = AT(pp_settings, sim.stepper),
     .choices = steppers},
    {.key = "form", .kind = PP_FIELD_CHOICE, .offset = AT(pp_settings, sim.form), .choices = forms},
    {.key = "solver", .kind = PP_FIELD_SOLVER, .offset = AT(pp_settings, sim.solver)},
    {.key = "tolerance", .kind = PP_FIELD_POSITIVE, .offset = AT(pp_settings, sim.tolerance)},
    {.key = "friction",
     .kind = PP_FIELD_CHOICE,
     .offset = AT(pp_settings, sim.friction),
     .choices = frictions},
    {.key = "impact",
     .kind = PP_FIELD_CHOICE,
     .offset = AT(pp_settings, sim.impact),
     .choices = impacts},
    {.key = "margin",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(pp_settings, sim.margin),
     .unit = "m"},
    {.key = "theta", .kind = PP_FIELD_FRACTION, .offset = AT(pp_settings, sim.theta)},
    {.key = "listed_only", .kind = PP_FIELD_FLAG, .offset = AT(pp_settings, listed_only)},
    {.key = "limits", .kind = PP_FIELD_OTHER},
    {.key = "bodies", .kind = PP_FIELD_OTHER},
    {.key = "shapes", .kind = PP_FIELD_OTHER},
    {.key = "contacts", .kind = PP_FIELD_OTHER},
    {.key = "pairs", .kind = PP_FIELD_OTHER},
    {.key = "joints", .kind = PP_FIELD_OTHER},
    {.key = "forces", .kind = PP_FIELD_OTHER},
};
const pp_object pp_scene_object = {"scene", "", NULL, 0, scene_fields, COUNT(scene_fields)};

#define LIMIT(name, of)                                                                            \
    {                                                                                              \
        .key = #name, .kind = PP_FIELD_EFFORT, .offset = AT(perp_limits, name), .unit = (of)       \
    }
static const pp_field limit_fields[] = {
    LIMIT(gap, "m"),        LIMIT(complementarity, "J"), LIMIT(cone, "N s"),
    LIMIT(joint, "m, rad"), LIMIT(momentum, "N s"),      LIMIT(energy, "J"),
    LIMIT(residual, "m/s"),
};
const pp_object pp_limits_object = {"limits", "limits", NULL, 0, limit_fields, COUNT(limit_fields)};

// ── Bodies and shapes ────────────────────────────────────────────────────────────────────────────

static const pp_choice body_kinds[] = {
    {"body", PERP_PLANAR_BODY}, {"particle", PERP_PLANAR_PARTICLE}, {NULL, 0}};
enum { RIGID = 1u << PERP_PLANAR_BODY };

static const pp_field body_fields[] = {
    {.key = "name", .kind = PP_FIELD_TEXT, .offset = AT(perp_body_def, name)},
    {.key = "position",
     .kind = PP_FIELD_VECTOR,
     .offset = AT(perp_body_def, position),
     .unit = "m"},
    {.key = "angle", .kind = PP_FIELD_ANGLE, .offset = AT(perp_body_def, angle)},
    {.key = "velocity",
     .kind = PP_FIELD_VECTOR,
     .offset = AT(perp_body_def, velocity),
     .unit = "m/s"},
    {.key = "spin",
     .kind = PP_FIELD_NUMBER,
     .offset = AT(perp_body_def, spin),
     .owners = RIGID,
     .unit = "rad/s"},
    {.key = "mass", .kind = PP_FIELD_POSITIVE, .offset = AT(perp_body_def, mass), .unit = "kg"},
    {.key = "inertia",
     .kind = PP_FIELD_POSITIVE,
     .offset = AT(perp_body_def, inertia),
     .owners = RIGID,
     .unit = "kg m^2"},
    {.key = "drive", .kind = PP_FIELD_OTHER},
    {.key = "shapes", .kind = PP_FIELD_OTHER},
};
const pp_object pp_body_object = {"body",           "bodies",    body_kinds,
                                  PERP_PLANAR_BODY, body_fields, COUNT(body_fields)};

static const pp_field drive_fields[] = {
    {.key = "x", .kind = PP_FIELD_MOTION, .offset = AT(perp_body_def, motion_x), .unit = "m"},
    {.key = "y", .kind = PP_FIELD_MOTION, .offset = AT(perp_body_def, motion_y), .unit = "m"},
    {.key = "angle",
     .kind = PP_FIELD_MOTION,
     .offset = AT(perp_body_def, motion_angle),
     .unit = "rad"},
};
const pp_object pp_drive_object = {"drive", "drive", NULL, 0, drive_fields, COUNT(drive_fields)};

static const pp_choice shape_kinds[] = {{"point", PERP_POINT},
                                        {"disc", PERP_DISC},
                                        {"box", PERP_BOX},
                                        {"polygon", PERP_POLYGON},
                                        {"capsule", PERP_CAPSULE},
                                        {"segment", PERP_SEGMENT},
                                        {"halfplane", PERP_HALFPLANE},
                                        {NULL, 0}};
enum {
    POINT = 1u << PERP_POINT,
    DISC = 1u << PERP_DISC,
    BOX = 1u << PERP_BOX,
    POLYGON = 1u << PERP_POLYGON,
    CAPSULE = 1u << PERP_CAPSULE,
    SEGMENT = 1u << PERP_SEGMENT,
    HALFPLANE = 1u << PERP_HALFPLANE,
};

static const pp_field shape_fields[] = {
    {.key = "name", .kind = PP_FIELD_TEXT, .offset = AT(perp_shape_def, name)},
    {.key = "position",
     .kind = PP_FIELD_VECTOR,
     .offset = AT(perp_shape_def, position),
     .unit = "m"},
    {.key = "angle",
     .kind = PP_FIELD_ANGLE,
     .offset = AT(perp_shape_def, angle),
     .owners = BOX | POLYGON | CAPSULE | SEGMENT | HALFPLANE},
    {.key = "radius",
     .kind = PP_FIELD_POSITIVE,
     .offset = AT(perp_shape_def, radius),
     .owners = DISC | CAPSULE,
     .needed = DISC | CAPSULE,
     .unit = "m"},
    {.key = "size",
     .kind = PP_FIELD_SIZE,
     .offset = AT(perp_shape_def, half),
     .owners = BOX,
     .needed = BOX,
     .unit = "m"},
    {.key = "length",
     .kind = PP_FIELD_LENGTH,
     .offset = AT(perp_shape_def, half),
     .owners = CAPSULE | SEGMENT,
     .needed = CAPSULE | SEGMENT,
     .unit = "m"},
    {.key = "vertices",
     .kind = PP_FIELD_VERTICES,
     .owners = POLYGON,
     .needed = POLYGON,
     .unit = "m"},
    {.key = "density",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(perp_shape_def, density),
     .owners = DISC | BOX | POLYGON | CAPSULE,
     .unit = "kg/m^2"},
    {.key = "mu", .kind = PP_FIELD_NONNEGATIVE, .offset = AT(perp_shape_def, mu)},
    {.key = "restitution", .kind = PP_FIELD_FRACTION, .offset = AT(perp_shape_def, restitution)},
    {.key = "surface_speed",
     .kind = PP_FIELD_MOTION,
     .offset = AT(perp_shape_def, surface_speed),
     .owners = DISC | BOX | POLYGON | CAPSULE | SEGMENT | HALFPLANE,
     .unit = "m/s"},
    {.key = "detect", .kind = PP_FIELD_FLAG, .offset = AT(perp_shape_def, detect)},
};
const pp_object pp_shape_object = {"shape", "shapes",     shape_kinds,
                                   -1,      shape_fields, COUNT(shape_fields)};

// ── Contacts ─────────────────────────────────────────────────────────────────────────────────────

static const pp_field contact_fields[] = {
    {.key = "name", .kind = PP_FIELD_TEXT, .offset = AT(perp_contact_def, name)},
    {.key = "a", .kind = PP_FIELD_SHAPE, .offset = AT(perp_contact_def, a), .needed = 1},
    {.key = "b", .kind = PP_FIELD_SHAPE, .offset = AT(perp_contact_def, b), .needed = 1},
    {.key = "mu", .kind = PP_FIELD_NONNEGATIVE, .offset = AT(perp_contact_def, mu)},
    {.key = "restitution", .kind = PP_FIELD_FRACTION, .offset = AT(perp_contact_def, restitution)},
};
const pp_object pp_contact_object = {"contact", "contacts",     NULL,
                                     0,         contact_fields, COUNT(contact_fields)};

static const pp_field pair_fields[] = {
    {.key = "a", .kind = PP_FIELD_SHAPE, .offset = AT(perp_pair_def, a), .needed = 1},
    {.key = "b", .kind = PP_FIELD_SHAPE, .offset = AT(perp_pair_def, b), .needed = 1},
    {.key = "mu", .kind = PP_FIELD_NONNEGATIVE, .offset = AT(perp_pair_def, mu)},
    {.key = "restitution", .kind = PP_FIELD_FRACTION, .offset = AT(perp_pair_def, restitution)},
    {.key = "ignore", .kind = PP_FIELD_FLAG, .offset = AT(perp_pair_def, ignore)},
};
const pp_object pp_pair_object = {"pair", "pairs", NULL, 0, pair_fields, COUNT(pair_fields)};

// ── Joints ───────────────────────────────────────────────────────────────────────────────────────

static const pp_choice joint_kinds[] = {{"revolute", PERP_REVOLUTE},
                                        {"prismatic", PERP_PRISMATIC},
                                        {"weld", PERP_WELD},
                                        {"distance", PERP_DISTANCE},
                                        {"point_on_line", PERP_POINT_ON_LINE},
                                        {"angle", PERP_ANGLE},
                                        {"gear", PERP_GEAR},
                                        {NULL, 0}};
enum {
    REVOLUTE = 1u << PERP_REVOLUTE,
    PRISMATIC = 1u << PERP_PRISMATIC,
    WELD = 1u << PERP_WELD,
    DISTANCE = 1u << PERP_DISTANCE,
    ON_LINE = 1u << PERP_POINT_ON_LINE,
    ANGLE = 1u << PERP_ANGLE,
    GEAR = 1u << PERP_GEAR,
    ANCHORED = REVOLUTE | PRISMATIC | WELD | DISTANCE | ON_LINE,
    BINARY = ANCHORED | ANGLE,
    COORDINATE = REVOLUTE | PRISMATIC | DISTANCE | ON_LINE | ANGLE,
};

static const pp_field joint_fields[] = {
    {.key = "name", .kind = PP_FIELD_TEXT, .offset = AT(pp_joint_input, def.name)},
    {.key = "a", .kind = PP_FIELD_BODY, .offset = AT(pp_joint_input, def.a), .owners = BINARY},
    {.key = "b",
     .kind = PP_FIELD_BODY,
     .offset = AT(pp_joint_input, def.b),
     .owners = BINARY,
     .needed = BINARY},
    {.key = "anchor_a",
     .kind = PP_FIELD_VECTOR,
     .offset = AT(pp_joint_input, def.anchor_a),
     .owners = ANCHORED,
     .unit = "m"},
    {.key = "anchor_b",
     .kind = PP_FIELD_VECTOR,
     .offset = AT(pp_joint_input, def.anchor_b),
     .owners = ANCHORED,
     .unit = "m"},
    {.key = "at",
     .kind = PP_FIELD_VECTOR,
     .offset = AT(pp_joint_input, at),
     .owners = ANCHORED & ~(unsigned)DISTANCE,
     .unit = "m"},
    {.key = "axis",
     .kind = PP_FIELD_AXIS,
     .offset = AT(pp_joint_input, def.axis_angle),
     .owners = PRISMATIC | ON_LINE},
    {.key = "angle",
     .kind = PP_FIELD_ANGLE,
     .offset = AT(pp_joint_input, def.angle),
     .owners = REVOLUTE | PRISMATIC | WELD | ANGLE},
    {.key = "length",
     .kind = PP_FIELD_POSITIVE,
     .offset = AT(pp_joint_input, def.length),
     .owners = DISTANCE,
     .unit = "m"},
    {.key = "joint_a",
     .kind = PP_FIELD_JOINT,
     .offset = AT(pp_joint_input, def.joint_a),
     .owners = GEAR,
     .needed = GEAR},
    {.key = "joint_b",
     .kind = PP_FIELD_JOINT,
     .offset = AT(pp_joint_input, def.joint_b),
     .owners = GEAR,
     .needed = GEAR},
    {.key = "ratio",
     .kind = PP_FIELD_NUMBER,
     .offset = AT(pp_joint_input, def.ratio),
     .owners = GEAR},
    {.key = "target",
     .kind = PP_FIELD_MOTION,
     .offset = AT(pp_joint_input, def.target),
     .owners = COORDINATE,
     .unit = "rad or m"},
    {.key = "rate",
     .kind = PP_FIELD_MOTION,
     .offset = AT(pp_joint_input, def.rate),
     .owners = COORDINATE,
     .unit = "rad/s or m/s"},
    {.key = "rate_effort",
     .kind = PP_FIELD_EFFORT,
     .offset = AT(pp_joint_input, def.rate_effort),
     .owners = COORDINATE,
     .unit = "N m or N"},
    {.key = "friction",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(pp_joint_input, def.friction),
     .owners = COORDINATE,
     .unit = "N m or N"},
    {.key = "lower",
     .kind = PP_FIELD_BOUND,
     .offset = AT(pp_joint_input, def.lower),
     .owners = COORDINATE},
    {.key = "upper",
     .kind = PP_FIELD_BOUND,
     .offset = AT(pp_joint_input, def.upper),
     .owners = COORDINATE},
    {.key = "limit_restitution",
     .kind = PP_FIELD_FRACTION,
     .offset = AT(pp_joint_input, def.limit_restitution),
     .owners = COORDINATE},
};
const pp_object pp_joint_object = {"joint", "joints",     joint_kinds,
                                   -1,      joint_fields, COUNT(joint_fields)};

// ── Forces ───────────────────────────────────────────────────────────────────────────────────────

static const pp_choice force_kinds[] = {{"force", PERP_FORCE},
                                        {"spring", PERP_SPRING},
                                        {"twist_spring", PERP_TWIST_SPRING},
                                        {"drag", PERP_DRAG},
                                        {NULL, 0}};
enum {
    PLAIN = 1u << PERP_FORCE,
    SPRING = 1u << PERP_SPRING,
    TWIST = 1u << PERP_TWIST_SPRING,
    DRAG = 1u << PERP_DRAG,
};

static const pp_field force_fields[] = {
    {.key = "name", .kind = PP_FIELD_TEXT, .offset = AT(perp_force_def, name)},
    {.key = "body",
     .kind = PP_FIELD_BODY,
     .offset = AT(perp_force_def, b),
     .owners = PLAIN | DRAG,
     .needed = PLAIN | DRAG},
    {.key = "a", .kind = PP_FIELD_BODY, .offset = AT(perp_force_def, a), .owners = SPRING | TWIST},
    {.key = "b",
     .kind = PP_FIELD_BODY,
     .offset = AT(perp_force_def, b),
     .owners = SPRING | TWIST,
     .needed = SPRING | TWIST},
    {.key = "anchor",
     .kind = PP_FIELD_VECTOR,
     .offset = AT(perp_force_def, anchor_b),
     .owners = PLAIN,
     .unit = "m"},
    {.key = "anchor_a",
     .kind = PP_FIELD_VECTOR,
     .offset = AT(perp_force_def, anchor_a),
     .owners = SPRING,
     .unit = "m"},
    {.key = "anchor_b",
     .kind = PP_FIELD_VECTOR,
     .offset = AT(perp_force_def, anchor_b),
     .owners = SPRING,
     .unit = "m"},
    {.key = "fx",
     .kind = PP_FIELD_EXPRESSION,
     .offset = AT(perp_force_def, fx),
     .owners = PLAIN,
     .unit = "N"},
    {.key = "fy",
     .kind = PP_FIELD_EXPRESSION,
     .offset = AT(perp_force_def, fy),
     .owners = PLAIN,
     .unit = "N"},
    {.key = "torque",
     .kind = PP_FIELD_EXPRESSION,
     .offset = AT(perp_force_def, torque),
     .owners = PLAIN,
     .unit = "N m"},
    {.key = "body_axes",
     .kind = PP_FIELD_FLAG,
     .offset = AT(perp_force_def, body_axes),
     .owners = PLAIN},
    {.key = "stiffness",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(perp_force_def, stiffness),
     .owners = SPRING | TWIST,
     .unit = "N/m or N m"},
    {.key = "damping",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(perp_force_def, damping),
     .owners = SPRING | TWIST | DRAG,
     .unit = "N s/m or N m s"},
    {.key = "damping_w",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(perp_force_def, damping_w),
     .owners = DRAG,
     .unit = "N m s"},
    {.key = "rest",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(perp_force_def, rest),
     .owners = SPRING,
     .unit = "m"},
    {.key = "rest", .kind = PP_FIELD_ANGLE, .offset = AT(perp_force_def, rest), .owners = TWIST},
    {.key = "implicit",
     .kind = PP_FIELD_FLAG,
     .offset = AT(perp_force_def, implicit),
     .owners = SPRING | TWIST},
};
const pp_object pp_force_object = {"force", "forces",     force_kinds,
                                   -1,      force_fields, COUNT(force_fields)};

// ── Tables ───────────────────────────────────────────────────────────────────────────────────────

static const pp_field table_fields[] = {{.key = "table", .kind = PP_FIELD_OTHER, .needed = 1}};
const pp_object pp_table_object = {"table", "", NULL, 0, table_fields, COUNT(table_fields)};
static const pp_field points_fields[] = {{.key = "t", .kind = PP_FIELD_OTHER, .needed = 1},
                                         {.key = "value", .kind = PP_FIELD_OTHER, .needed = 1}};
const pp_object pp_points_object = {"table", "", NULL, 0, points_fields, COUNT(points_fields)};
