// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The scene format as tables: which objects there are, and which fields they have.
// docs/scene-format.md explains the fields; their order here is that in which messages list them.
//
// A field of an object belongs to some of its kinds (`owners`, a bit each; 0: to all) and to planar
// or spatial scenes (`space`; 0: to both). Where kinds store the same key differently it has
// several rows, of which at most one applies. `needed` has the kinds that must have the field.
#include "scene/read/reader.h"

#define AT(type, member) offsetof(type, member)
#define COUNT(array)     ((int)(sizeof(array) / sizeof((array)[0])))

// ── Settings ─────────────────────────────────────────────────────────────────────────────────────

// Settings of a scene. Lists and objects (PP_FIELD_OTHER) are only accepted here; build.c and
// settings.c read them.
static const pp_field scene_fields[] = {
    // The address of the schema, for editors.
    {.key = "$schema", .kind = PP_FIELD_OTHER},
    {.key = "name", .kind = PP_FIELD_TEXT, .offset = AT(pp_settings, name)},
    {.key = "description", .kind = PP_FIELD_TEXT, .offset = AT(pp_settings, description)},
    {.key = "gravity",
     .kind = PP_FIELD_VECTOR,
     .offset = AT(pp_settings, gravity),
     .unit = "m/s^2"},
    {.key = "step", .kind = PP_FIELD_POSITIVE, .offset = AT(pp_settings, step), .unit = "s"},
    {.key = "until", .kind = PP_FIELD_NONNEGATIVE, .offset = AT(pp_settings, until), .unit = "s"},
    // Time between recorded states; 0: every step.
    {.key = "record",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(pp_settings, interval),
     .unit = "s"},
    // The scheme, the form of its problem, and the solver.
    {.key = "stepper",
     .kind = PP_FIELD_CHOICE,
     .offset = AT(pp_settings, sim.stepper),
     .word = perp_stepper_word},
    {.key = "form",
     .kind = PP_FIELD_CHOICE,
     .offset = AT(pp_settings, sim.form),
     .word = perp_form_word},
    {.key = "solver", .kind = PP_FIELD_SOLVER, .offset = AT(pp_settings, sim.solver)},
    {.key = "tolerance", .kind = PP_FIELD_POSITIVE, .offset = AT(pp_settings, sim.tolerance)},
    // Law of friction; facets: directions of the friction pyramid that stands for the disc.
    {.key = "friction",
     .kind = PP_FIELD_CHOICE,
     .offset = AT(pp_settings, sim.friction),
     .word = perp_friction_law_word},
    {.key = "facets",
     .kind = PP_FIELD_FACETS,
     .offset = AT(pp_settings, sim.facets),
     .space = PP_SPACE},
    // How orientations are updated, and how the gyroscopic torque is integrated.
    {.key = "rotation_update",
     .kind = PP_FIELD_CHOICE,
     .offset = AT(pp_settings, sim.rotation),
     .word = perp_rotation_update_word,
     .space = PP_SPACE},
    {.key = "gyroscopic",
     .kind = PP_FIELD_CHOICE,
     .offset = AT(pp_settings, sim.gyroscopic),
     .word = perp_gyroscopic_word,
     .space = PP_SPACE},
    // Overlaps and open joints at t = 0: mended, or kept and worked off.
    {.key = "start",
     .kind = PP_FIELD_CHOICE,
     .offset = AT(pp_settings, sim.start),
     .word = perp_start_word},
    // How joints hold at the end of a step.
    {.key = "positions",
     .kind = PP_FIELD_CHOICE,
     .offset = AT(pp_settings, sim.positions),
     .word = perp_positions_word},
    // Velocities that a step is written in: of bodies or of joints. tree: joints that it is to
    // have.
    {.key = "coordinates",
     .kind = PP_FIELD_CHOICE,
     .offset = AT(pp_settings, sim.coordinates),
     .word = perp_coordinates_word},
    {.key = "tree", .kind = PP_FIELD_OTHER},
    {.key = "impact",
     .kind = PP_FIELD_CHOICE,
     .offset = AT(pp_settings, sim.impact),
     .word = perp_impact_law_word},
    // Gaps up to the margin are in the problem.
    {.key = "margin",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(pp_settings, sim.margin),
     .unit = "m"},
    // Share of the new velocity in the step (moreau-jean); 1 is implicit.
    {.key = "theta", .kind = PP_FIELD_THETA, .offset = AT(pp_settings, sim.theta)},
    // Contacts are those that the scene lists; nothing is detected.
    {.key = "listed_only", .kind = PP_FIELD_FLAG, .offset = AT(pp_settings, listed_only)},
    {.key = "limits", .kind = PP_FIELD_OTHER},
    {.key = "bodies", .kind = PP_FIELD_OTHER},
    {.key = "shapes", .kind = PP_FIELD_OTHER},
    {.key = "visuals", .kind = PP_FIELD_OTHER},
    {.key = "contacts", .kind = PP_FIELD_OTHER},
    {.key = "pairs", .kind = PP_FIELD_OTHER},
    // Names of the bits of group and mask, and pairs of bodies that do not collide.
    {.key = "groups", .kind = PP_FIELD_OTHER},
    {.key = "exclude", .kind = PP_FIELD_OTHER},
    {.key = "joints", .kind = PP_FIELD_OTHER},
    {.key = "forces", .kind = PP_FIELD_OTHER},
    {.key = "inputs", .kind = PP_FIELD_OTHER},
    {.key = "actuators", .kind = PP_FIELD_OTHER},
    // Named states, and the one to start from (keyframes.c).
    {.key = "keyframes", .kind = PP_FIELD_OTHER},
    {.key = "keyframe", .kind = PP_FIELD_OTHER},
    {.key = "sites", .kind = PP_FIELD_OTHER},
    {.key = "sensors", .kind = PP_FIELD_OTHER},
    // Numbers with names, and objects from files and in assemblies (parts.c).
    {.key = "parameters", .kind = PP_FIELD_OTHER},
    {.key = "include", .kind = PP_FIELD_OTHER},
    {.key = "assemblies", .kind = PP_FIELD_OTHER},
    // Budget of a step; 0: no limit.
    {.key = "max_seconds",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(pp_settings, sim.max_seconds),
     .unit = "s"},
    {.key = "max_iterations",
     .kind = PP_FIELD_COUNT,
     .offset = AT(pp_settings, sim.max_iterations)},
    {.key = "max_work", .kind = PP_FIELD_NONNEGATIVE, .offset = AT(pp_settings, sim.max_work)},
    // Estimated error of the motion per second; 0: not estimated.
    {.key = "accuracy",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(pp_settings, sim.accuracy),
     .unit = "m/s"},
    // Integration between events (event).
    {.key = "eps",
     .kind = PP_FIELD_POSITIVE,
     .offset = AT(pp_settings, sim.event.eps),
     .unit = "s"},
    {.key = "relative_tolerance",
     .kind = PP_FIELD_POSITIVE,
     .offset = AT(pp_settings, sim.event.tolerance_relative)},
    {.key = "absolute_tolerance",
     .kind = PP_FIELD_POSITIVE,
     .offset = AT(pp_settings, sim.event.tolerance_absolute)},
    {.key = "threads", .kind = PP_FIELD_THREADS, .offset = AT(pp_settings, sim.threads)},
    {.key = "events_per_second",
     .kind = PP_FIELD_POSITIVE,
     .offset = AT(pp_settings, sim.event.max_events_per_second),
     .unit = "1/s"},
};
const pp_object pp_scene_object = {"scene", "", {NULL, NULL}, 0, scene_fields, COUNT(scene_fields)};

// Limits of the certificate; 0 or left out: the relative limit of docs/certificate.md, "inf": none.
#define LIMIT(name, of)                                                                            \
    {                                                                                              \
        .key = #name, .kind = PP_FIELD_EFFORT, .offset = AT(perp_limits, name), .unit = (of)       \
    }
static const pp_field limit_fields[] = {
    LIMIT(gap, "m"),        LIMIT(complementarity, "J"), LIMIT(cone, "N s"),
    LIMIT(joint, "m, rad"), LIMIT(momentum, "N s"),      LIMIT(energy, "J"),
    LIMIT(residual, "m/s"), LIMIT(motion, "m"),          LIMIT(path, "m"),
};
const pp_object pp_limits_object = {"limits", "limits",     {NULL, NULL},
                                    0,        limit_fields, COUNT(limit_fields)};

// ── Bodies and shapes ────────────────────────────────────────────────────────────────────────────

// All four kinds are known in either scene: one of the last two makes a scene spatial (build.c).
static const pp_choice body_kinds[] = {{"body", PERP_BODY_PLANAR},
                                       {"particle", PERP_BODY_PLANAR_PARTICLE},
                                       {"solid", PERP_BODY_SPATIAL},
                                       {"point_mass", PERP_BODY_SPATIAL_PARTICLE},
                                       {NULL, 0}};
// Owners of a field, as bits of kinds.
enum {
    RIGID = 1u << PERP_BODY_PLANAR,
    PLANAR = RIGID | 1u << PERP_BODY_PLANAR_PARTICLE,
    SOLID = 1u << PERP_BODY_SPATIAL,
    SPATIAL = SOLID | 1u << PERP_BODY_SPATIAL_PARTICLE,
};

// Position, velocity and spin are those of the body frame at t = 0, in world axes.
static const pp_field body_fields[] = {
    {.key = "name", .kind = PP_FIELD_TEXT, .offset = AT(perp_body_def, name)},
    {.key = "position",
     .kind = PP_FIELD_VECTOR,
     .offset = AT(perp_body_def, position_W),
     .unit = "m"},
    {.key = "angle", .kind = PP_FIELD_ANGLE, .offset = AT(perp_body_def, angle), .owners = PLANAR},
    {.key = "rotation",
     .kind = PP_FIELD_ROTATION,
     .offset = AT(perp_body_def, rotation_WB),
     .owners = SPATIAL},
    {.key = "velocity",
     .kind = PP_FIELD_VECTOR,
     .offset = AT(perp_body_def, velocity_W),
     .unit = "m/s"},
    // A number in the plane, a vector in space.
    {.key = "spin",
     .kind = PP_FIELD_NUMBER,
     .offset = AT(perp_body_def, spin),
     .owners = RIGID,
     .unit = "rad/s"},
    {.key = "spin",
     .kind = PP_FIELD_VECTOR,
     .offset = AT(perp_body_def, omega_W),
     .owners = SOLID,
     .unit = "rad/s"},
    // Without mass and inertia both follow from the shapes and their densities.
    {.key = "mass", .kind = PP_FIELD_POSITIVE, .offset = AT(perp_body_def, mass), .unit = "kg"},
    {.key = "inertia",
     .kind = PP_FIELD_POSITIVE,
     .offset = AT(perp_body_def, inertia_zz),
     .owners = RIGID,
     .unit = "kg m^2"},
    {.key = "inertia",
     .kind = PP_FIELD_INERTIA,
     .offset = AT(perp_body_def, inertia_B),
     .owners = SOLID,
     .unit = "kg m^2"},
    // Moves the body frame to the centre of mass of the shapes.
    {.key = "recenter",
     .kind = PP_FIELD_FLAG,
     .offset = AT(perp_body_def, recenter),
     .owners = SPATIAL},
    {.key = "massless", .kind = PP_FIELD_FLAG, .offset = AT(perp_body_def, massless)},
    // Factor of gravity for this body.
    {.key = "gravity_scale", .kind = PP_FIELD_NUMBER, .offset = AT(perp_body_def, gravity_scale)},
    {.key = "colour", .kind = PP_FIELD_COLOUR, .offset = AT(perp_body_def, colour)},
    {.key = "drive", .kind = PP_FIELD_OTHER},
    {.key = "shapes", .kind = PP_FIELD_OTHER},
    {.key = "visuals", .kind = PP_FIELD_OTHER},
    {.key = "replicate", .kind = PP_FIELD_OTHER},
};
const pp_object pp_body_object = {"body",           "bodies",    {body_kinds, body_kinds},
                                  PERP_BODY_PLANAR, body_fields, COUNT(body_fields)};

// Motions of a driven body: position, and angle or rotation vector. Components left out stay as
// they are.
static const pp_field drive_fields[] = {
    {.key = "x", .kind = PP_FIELD_MOTION, .offset = AT(perp_body_def, motion_x), .unit = "m"},
    {.key = "y", .kind = PP_FIELD_MOTION, .offset = AT(perp_body_def, motion_y), .unit = "m"},
    // The angle in the plane is the z component of the rotation vector in space, and stored as
    // such.
    {.key = "angle",
     .kind = PP_FIELD_MOTION,
     .offset = AT(perp_body_def, motion_angle),
     .unit = "rad",
     .space = PP_PLANE,
     .in_space = "rz"},
    {.key = "z",
     .kind = PP_FIELD_MOTION,
     .offset = AT(perp_body_def, motion_z),
     .unit = "m",
     .space = PP_SPACE},
    {.key = "rx",
     .kind = PP_FIELD_MOTION,
     .offset = AT(perp_body_def, motion_rx),
     .unit = "rad",
     .space = PP_SPACE},
    {.key = "ry",
     .kind = PP_FIELD_MOTION,
     .offset = AT(perp_body_def, motion_ry),
     .unit = "rad",
     .space = PP_SPACE},
    {.key = "rz",
     .kind = PP_FIELD_MOTION,
     .offset = AT(perp_body_def, motion_angle),
     .unit = "rad",
     .space = PP_SPACE},
};
const pp_object pp_drive_object = {"drive", "drive",      {NULL, NULL},
                                   0,       drive_fields, COUNT(drive_fields)};

// "point", "box" and "capsule" exist in the plane and in space.
static const pp_choice shape_kinds[] = {{"point", PERP_SHAPE_POINT},
                                        {"disc", PERP_SHAPE_DISC},
                                        {"box", PERP_SHAPE_BOX},
                                        {"polygon", PERP_SHAPE_POLYGON},
                                        {"capsule", PERP_SHAPE_CAPSULE},
                                        {"segment", PERP_SHAPE_SEGMENT},
                                        {"halfplane", PERP_SHAPE_HALFPLANE},
                                        {NULL, 0}};
static const pp_choice solid_kinds[] = {{"point", PERP_SHAPE_POINT},
                                        {"sphere", PERP_SHAPE_SPHERE},
                                        {"box", PERP_SHAPE_BOX},
                                        {"capsule", PERP_SHAPE_CAPSULE},
                                        {"cylinder", PERP_SHAPE_CYLINDER},
                                        {"cone", PERP_SHAPE_CONE},
                                        {"ellipsoid", PERP_SHAPE_ELLIPSOID},
                                        {"hull", PERP_SHAPE_HULL},
                                        {"halfspace", PERP_SHAPE_HALFSPACE},
                                        {"heightfield", PERP_SHAPE_HEIGHTFIELD},
                                        {"mesh", PERP_SHAPE_MESH},
                                        {NULL, 0}};
// Owners of a field. TURNED: solids whose orientation matters.
enum {
    POINT = 1u << PERP_SHAPE_POINT,
    DISC = 1u << PERP_SHAPE_DISC,
    BOX = 1u << PERP_SHAPE_BOX,
    POLYGON = 1u << PERP_SHAPE_POLYGON,
    CAPSULE = 1u << PERP_SHAPE_CAPSULE,
    SEGMENT = 1u << PERP_SHAPE_SEGMENT,
    HALFPLANE = 1u << PERP_SHAPE_HALFPLANE,
    SPHERE = 1u << PERP_SHAPE_SPHERE,
    CYLINDER = 1u << PERP_SHAPE_CYLINDER,
    CONE = 1u << PERP_SHAPE_CONE,
    ELLIPSOID = 1u << PERP_SHAPE_ELLIPSOID,
    HULL = 1u << PERP_SHAPE_HULL,
    HALFSPACE = 1u << PERP_SHAPE_HALFSPACE,
    HEIGHTFIELD = 1u << PERP_SHAPE_HEIGHTFIELD,
    MESH = 1u << PERP_SHAPE_MESH,
    TURNED = BOX | CAPSULE | CYLINDER | CONE | ELLIPSOID | HULL | HALFSPACE | HEIGHTFIELD | MESH,
};

// Where a shape is and what it looks like: fields that shapes and visuals share.
#define SHAPE_FIELDS                                                                                                  \
    {.key = "name",                                                                                                   \
     .kind = PP_FIELD_TEXT,                                                                                           \
     .offset = AT(                                                                                                    \
         perp_shape_def,                                                                                              \
         name)}, /* Of a shape in the list of the scene: the body it belongs to, in place of the ground (build.c). */ \
        {.key = "body", .kind = PP_FIELD_OTHER},                                                                      \
        {.key = "position",                                                                                           \
         .kind = PP_FIELD_VECTOR,                                                                                     \
         .offset = AT(perp_shape_def, position_B),                                                                    \
         .unit = "m"},                                                                                                \
        {.key = "angle",                                                                                              \
         .kind = PP_FIELD_ANGLE,                                                                                      \
         .offset = AT(perp_shape_def, angle),                                                                         \
         .owners = BOX | POLYGON | CAPSULE | SEGMENT | HALFPLANE,                                                     \
         .space = PP_PLANE,                                                                                           \
         .in_space = "rotation"},                                                                                     \
        {.key = "rotation",                                                                                           \
         .kind = PP_FIELD_ROTATION,                                                                                   \
         .offset = AT(perp_shape_def, rotation_BS),                                                                   \
         .owners = SPHERE | TURNED,                                                                                   \
         .space = PP_SPACE},                                                                                          \
        {.key = "radius",                                                                                             \
         .kind = PP_FIELD_POSITIVE,                                                                                   \
         .offset = AT(perp_shape_def, radius),                                                                        \
         .owners = DISC | SPHERE | CAPSULE | CYLINDER | CONE,                                                         \
         .needed = DISC | SPHERE | CAPSULE | CYLINDER | CONE,                                                         \
         .unit = "m"}, /* Full lengths in the file, half lengths in the definition. */                                \
        {.key = "size",                                                                                               \
         .kind = PP_FIELD_SIZE,                                                                                       \
         .offset = AT(perp_shape_def, half),                                                                          \
         .owners = BOX,                                                                                               \
         .needed = BOX,                                                                                               \
         .unit = "m"},                                                                                                \
        {.key = "length",                                                                                             \
         .kind = PP_FIELD_LENGTH,                                                                                     \
         .offset = AT(perp_shape_def, half),                                                                          \
         .owners = CAPSULE | SEGMENT | CYLINDER | CONE,                                                               \
         .needed = CAPSULE | SEGMENT | CYLINDER | CONE,                                                               \
         .unit = "m"},                                                                                                \
        {.key = "radii",                                                                                              \
         .kind = PP_FIELD_RADII,                                                                                      \
         .offset = AT(perp_shape_def, half),                                                                          \
         .owners = ELLIPSOID,                                                                                         \
         .needed = ELLIPSOID,                                                                                         \
         .unit = "m"},                                                                                                \
        {.key = "size",                                                                                               \
         .kind = PP_FIELD_AREA,                                                                                       \
         .offset = AT(perp_shape_def, half),                                                                          \
         .owners = HEIGHTFIELD,                                                                                       \
         .needed = HEIGHTFIELD,                                                                                       \
         .unit = "m"},                                                                                                \
        {.key = "heights",                                                                                            \
         .kind = PP_FIELD_HEIGHTS,                                                                                    \
         .owners = HEIGHTFIELD,                                                                                       \
         .needed = HEIGHTFIELD,                                                                                       \
         .unit =                                                                                                      \
             "m"}, /* Points in the scene or in a file; build.c checks that one of them is there. */                  \
        {.key = "vertices", .kind = PP_FIELD_POINTS, .owners = HULL | MESH, .unit = "m"},                             \
        {.key = "triangles", .kind = PP_FIELD_TRIANGLES, .owners = MESH},                                             \
        {.key = "file", .kind = PP_FIELD_FILE, .owners = HULL | MESH},                                                \
    {                                                                                                                 \
        .key = "vertices", .kind = PP_FIELD_VERTICES, .owners = POLYGON, .needed = POLYGON,                           \
        .unit = "m"                                                                                                   \
    }

// Shapes, in the frame of their body. Radii and lengths are needed by the kinds that have them.
static const pp_field shape_fields[] = {
    SHAPE_FIELDS,
    // Mass per area in the plane, per volume in space. Points, segments and half-planes weigh
    // nothing.
    {.key = "density",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(perp_shape_def, density),
     .owners = DISC | BOX | POLYGON | CAPSULE,
     .unit = "kg/m^2",
     .space = PP_PLANE},
    {.key = "density",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(perp_shape_def, density),
     .owners = SPHERE | BOX | CAPSULE | CYLINDER | CONE | ELLIPSOID | HULL,
     .unit = "kg/m^3",
     .space = PP_SPACE},
    // Coefficients of a shape are combined with those of the other one; the shape of higher
    // priority decides alone.
    {.key = "mu", .kind = PP_FIELD_NONNEGATIVE, .offset = AT(perp_shape_def, mu)},
    {.key = "combine",
     .kind = PP_FIELD_CHOICE,
     .offset = AT(perp_shape_def, combine),
     .word = perp_combine_word},
    {.key = "priority", .kind = PP_FIELD_PRIORITY, .offset = AT(perp_shape_def, priority)},
    {.key = "mu_spin",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(perp_shape_def, mu_spin),
     .unit = "m",
     .space = PP_SPACE},
    {.key = "mu_roll",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(perp_shape_def, mu_roll),
     .unit = "m",
     .space = PP_SPACE},
    {.key = "facets",
     .kind = PP_FIELD_FACETS,
     .offset = AT(perp_shape_def, facets),
     .space = PP_SPACE},
    {.key = "restitution", .kind = PP_FIELD_FRACTION, .offset = AT(perp_shape_def, restitution)},
    // Conveyor belts: velocity of the surface relative to the body.
    {.key = "surface_speed",
     .kind = PP_FIELD_MOTION,
     .offset = AT(perp_shape_def, surface_speed),
     .owners = DISC | BOX | POLYGON | CAPSULE | SEGMENT | HALFPLANE,
     .unit = "m/s",
     .space = PP_PLANE,
     .in_space = "surface_velocity"},
    {.key = "surface_velocity",
     .kind = PP_FIELD_SURFACE,
     .owners = POINT | SPHERE | TURNED,
     .unit = "m/s",
     .space = PP_SPACE},
    {.key = "surface_spin",
     .kind = PP_FIELD_MOTION,
     .offset = AT(perp_shape_def, surface_spin),
     .owners = SPHERE | TURNED,
     .unit = "rad/s",
     .space = PP_SPACE},
    // false: the shape takes part in listed contacts only.
    {.key = "detect", .kind = PP_FIELD_FLAG, .offset = AT(perp_shape_def, detect)},
    // Two shapes can meet if the group of one has a bit of the other's mask.
    {.key = "group", .kind = PP_FIELD_GROUPS, .offset = AT(perp_shape_def, group)},
    {.key = "mask", .kind = PP_FIELD_GROUPS, .offset = AT(perp_shape_def, mask)},
    {.key = "colour", .kind = PP_FIELD_COLOUR, .offset = AT(perp_shape_def, colour)},
    // Not in pictures: visuals show the body.
    {.key = "hidden", .kind = PP_FIELD_FLAG, .offset = AT(perp_shape_def, hidden)},
    {.key = "replicate", .kind = PP_FIELD_OTHER},
};
const pp_object pp_shape_object = {"shape", "shapes",     {shape_kinds, solid_kinds},
                                   -1,      shape_fields, COUNT(shape_fields)};

// Shapes that are only shown. They have no surface and no mass.
static const pp_field visual_fields[] = {
    SHAPE_FIELDS,
    {.key = "colour", .kind = PP_FIELD_COLOUR, .offset = AT(perp_shape_def, colour)},
    {.key = "replicate", .kind = PP_FIELD_OTHER},
};
const pp_object pp_visual_object = {"visual", "visuals",     {shape_kinds, solid_kinds},
                                    -1,       visual_fields, COUNT(visual_fields)};

// ── Contacts ─────────────────────────────────────────────────────────────────────────────────────

// A contact between two shapes that is in the problem whatever their distance.
static const pp_field contact_fields[] = {
    {.key = "name", .kind = PP_FIELD_TEXT, .offset = AT(perp_contact_def, name)},
    {.key = "a", .kind = PP_FIELD_SHAPE, .offset = AT(perp_contact_def, a), .needed = 1},
    {.key = "b", .kind = PP_FIELD_SHAPE, .offset = AT(perp_contact_def, b), .needed = 1},
    {.key = "mu", .kind = PP_FIELD_NONNEGATIVE, .offset = AT(perp_contact_def, mu)},
    // Anisotropic friction: mu along the tangent, mu_2 across it. The tangent is in the axes of a's
    // body.
    {.key = "mu_2",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(perp_contact_def, mu_2),
     .space = PP_SPACE},
    {.key = "tangent",
     .kind = PP_FIELD_DIRECTION,
     .offset = AT(perp_contact_def, tangent_A),
     .space = PP_SPACE},
    {.key = "mu_spin",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(perp_contact_def, mu_spin),
     .unit = "m",
     .space = PP_SPACE},
    {.key = "mu_roll",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(perp_contact_def, mu_roll),
     .unit = "m",
     .space = PP_SPACE},
    {.key = "facets",
     .kind = PP_FIELD_FACETS,
     .offset = AT(perp_contact_def, facets),
     .space = PP_SPACE},
    {.key = "restitution", .kind = PP_FIELD_FRACTION, .offset = AT(perp_contact_def, restitution)},
    {.key = "replicate", .kind = PP_FIELD_OTHER},
};
const pp_object pp_contact_object = {"contact", "contacts",     {NULL, NULL},
                                     0,         contact_fields, COUNT(contact_fields)};

// A rule for detected contacts of two shapes. ignore: they never touch.
static const pp_field pair_fields[] = {
    {.key = "a", .kind = PP_FIELD_SHAPE, .offset = AT(perp_pair_def, a), .needed = 1},
    {.key = "b", .kind = PP_FIELD_SHAPE, .offset = AT(perp_pair_def, b), .needed = 1},
    {.key = "mu", .kind = PP_FIELD_NONNEGATIVE, .offset = AT(perp_pair_def, mu)},
    {.key = "mu_2",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(perp_pair_def, mu_2),
     .space = PP_SPACE},
    {.key = "tangent",
     .kind = PP_FIELD_DIRECTION,
     .offset = AT(perp_pair_def, tangent_A),
     .space = PP_SPACE},
    {.key = "mu_spin",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(perp_pair_def, mu_spin),
     .unit = "m",
     .space = PP_SPACE},
    {.key = "mu_roll",
     .kind = PP_FIELD_NONNEGATIVE,
     .offset = AT(perp_pair_def, mu_roll),
     .unit = "m",
     .space = PP_SPACE},
    {.key = "facets",
     .kind = PP_FIELD_FACETS,
     .offset = AT(perp_pair_def, facets),
     .space = PP_SPACE},
    {.key = "restitution", .kind = PP_FIELD_FRACTION, .offset = AT(perp_pair_def, restitution)},
    {.key = "ignore", .kind = PP_FIELD_FLAG, .offset = AT(perp_pair_def, ignore)},
    {.key = "replicate", .kind = PP_FIELD_OTHER},
};
const pp_object pp_pair_object = {"pair", "pairs",     {NULL, NULL},
                                  0,      pair_fields, COUNT(pair_fields)};

// ── Parts ────────────────────────────────────────────────────────────────────────────────────────

// Copies of an object; their index is a constant in its expressions and names.
static const pp_field replicate_fields[] = {
    {.key = "count", .kind = PP_FIELD_COUNT, .offset = AT(pp_replicate_input, count), .needed = 1},
    {.key = "index", .kind = PP_FIELD_TEXT, .offset = AT(pp_replicate_input, index)},
};
const pp_object pp_replicate_object = {"replicate", "replicate",      {NULL, NULL},
                                       0,           replicate_fields, COUNT(replicate_fields)};

// What files and assemblies have in common: the prefix of their names and the pose of their frame.
#define PART_FIELDS                                                                                \
    {.key = "replicate", .kind = PP_FIELD_OTHER},                                                  \
        {.key = "prefix", .kind = PP_FIELD_TEXT, .offset = AT(pp_part_input, prefix)},             \
        {.key = "position",                                                                        \
         .kind = PP_FIELD_VECTOR,                                                                  \
         .offset = AT(pp_part_input, position),                                                    \
         .unit = "m"},                                                                             \
        {.key = "angle",                                                                           \
         .kind = PP_FIELD_ANGLE,                                                                   \
         .offset = AT(pp_part_input, angle),                                                       \
         .space = PP_PLANE,                                                                        \
         .in_space = "rotation"},                                                                  \
    {                                                                                              \
        .key = "rotation", .kind = PP_FIELD_ROTATION, .offset = AT(pp_part_input, rotation),       \
        .space = PP_SPACE                                                                          \
    }

// A scene file within a scene. parameters: values for those of the file.
static const pp_field include_fields[] = {
    {.key = "file", .kind = PP_FIELD_OTHER, .needed = 1},
    {.key = "parameters", .kind = PP_FIELD_OTHER},
    PART_FIELDS,
};
const pp_object pp_include_object = {"include", "include",      {NULL, NULL},
                                     0,         include_fields, COUNT(include_fields)};

// Objects of the file itself, which are named, moved and copied together.
static const pp_field assembly_fields[] = {
    PART_FIELDS,
    {.key = "include", .kind = PP_FIELD_OTHER},
    {.key = "assemblies", .kind = PP_FIELD_OTHER},
    {.key = "bodies", .kind = PP_FIELD_OTHER},
    {.key = "shapes", .kind = PP_FIELD_OTHER},
    {.key = "visuals", .kind = PP_FIELD_OTHER},
    {.key = "contacts", .kind = PP_FIELD_OTHER},
    {.key = "pairs", .kind = PP_FIELD_OTHER},
    {.key = "joints", .kind = PP_FIELD_OTHER},
    {.key = "forces", .kind = PP_FIELD_OTHER},
    {.key = "inputs", .kind = PP_FIELD_OTHER},
    {.key = "actuators", .kind = PP_FIELD_OTHER},
    {.key = "sites", .kind = PP_FIELD_OTHER},
    {.key = "sensors", .kind = PP_FIELD_OTHER},
    {.key = "exclude", .kind = PP_FIELD_OTHER},
};
const pp_object pp_assembly_object = {"assembly", "assemblies",    {NULL, NULL},
                                      0,          assembly_fields, COUNT(assembly_fields)};

// ── Values that are objects ──────────────────────────────────────────────────────────────────────

// A motion given as a table of times and values.
static const pp_field table_fields[] = {{.key = "table", .kind = PP_FIELD_OTHER, .needed = 1}};
const pp_object pp_table_object = {"table", "", {NULL, NULL}, 0, table_fields, COUNT(table_fields)};
// The words are those of pp_interpolation.
static const pp_choice interpolations[] = {{"monotone", PP_INTERPOLATION_MONOTONE},
                                           {"linear", PP_INTERPOLATION_LINEAR},
                                           {"hold", PP_INTERPOLATION_HOLD},
                                           {"spline", PP_INTERPOLATION_SPLINE},
                                           {NULL, 0}};
static const pp_field points_fields[] = {
    {.key = "t", .kind = PP_FIELD_OTHER, .needed = 1},
    {.key = "value", .kind = PP_FIELD_OTHER, .needed = 1},
    {.key = "interpolation", .kind = PP_FIELD_CHOICE, .choices = interpolations}};
const pp_object pp_points_object = {
    "table", "", {NULL, NULL}, 0, points_fields, COUNT(points_fields)};
// A rotation given as axis and angle.
static const pp_field rotation_fields[] = {
    {.key = "axis", .kind = PP_FIELD_DIRECTION, .offset = AT(pp_turn_input, axis), .needed = 1},
    {.key = "angle", .kind = PP_FIELD_ANGLE, .offset = AT(pp_turn_input, angle), .needed = 1}};
const pp_object pp_rotation_object = {
    "rotation", "", {NULL, NULL}, 0, rotation_fields, COUNT(rotation_fields)};
