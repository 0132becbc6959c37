// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Models: bodies, shapes, joints, forces and contacts. A model is built once, immutable, and shared by any number
// of sims and threads. Definitions come from perp_*_default(); strings and arrays are copied.
//
// A model is planar or spatial, like its bodies. Planar bodies move in the plane z = 0: positions use x and y, angles
// are about z. The origin of a body frame is the centre of mass. Expressions are functions of the time t [s] given as
// text, such as "0.1*sin(2*pi*t)"; they are differentiated exactly. NULL means zero unless the field says otherwise.
#pragma once

#include <perp/base.h>
#include <perp/types.h>

typedef struct perp_builder perp_builder;
typedef struct perp_model perp_model;

// ── Bodies ───────────────────────────────────────────────────────────────────────────────────────

typedef enum perp_body_kind {
    PERP_BODY_PLANAR,            // 3 velocities: vx, vy, omega
    PERP_BODY_PLANAR_PARTICLE,   // 2 velocities: vx, vy
    PERP_BODY_SPATIAL,           // 6 velocities: v, omega in world axes
    PERP_BODY_SPATIAL_PARTICLE,  // 3 velocities: v
} perp_body_kind;

typedef enum perp_motion {
    PERP_MOTION_DYNAMIC,    // moved by forces and impulses: its velocities are unknowns
    PERP_MOTION_STATIC,     // never moves
    PERP_MOTION_KINEMATIC,  // its pose is prescribed as a function of time
} perp_motion;

typedef struct perp_body_def {
    const char *name;       // "" or NULL: "body<i>"
    perp_body_kind kind;    // default PERP_BODY_PLANAR
    perp_motion motion;     // default PERP_MOTION_DYNAMIC
    perp_vec3 position_W;   // of the centre of mass, at t = 0 [m]
    double angle;           // planar: [rad]
    perp_quat rotation_WB;  // spatial: of the body frame in the world
    perp_vec3 velocity_W;   // [m/s]
    double spin;            // planar [rad/s]
    perp_vec3 omega_W;      // spatial: angular velocity in world axes [rad/s]
    double mass;            // [kg]; 0: from the densities of the shapes
    // No mass, no inertia, no shapes: a frame between joints, such as the two inner ones of three hinges in series. It
    // must carry a body with mass, and such models need joint coordinates.
    bool massless;
    double inertia_zz;    // planar, about the centre of mass [kg m^2]; 0: from the densities
    double inertia_B[6];  // spatial, in body axes: xx yy zz xy xz yz; all 0: from the densities
    // Spatial: shapes, anchors and the position above are given in a frame whose origin is not the centre of mass.
    // The body frame is moved to the centre of mass; positions and velocities of the body then refer to that point.
    bool recenter;
    // Multiplies gravity for this body: 1 (default) as the model says, 0 weightless, negative upwards. The weight acts
    // at the centre of mass. MuJoCo's gravcomp is 1 - gravity_scale.
    double gravity_scale;
    int32_t colour;  // of its shapes in pictures, 0xRRGGBB; -1 (default): none chosen
    // PERP_MOTION_KINEMATIC: pose as functions of t. Rotation: motion_rx about the world's x axis, then motion_ry
    // about y, then motion_angle about z, applied to the initial `rotation_WB` (or `angle`).
    const char *motion_x, *motion_y, *motion_z, *motion_rx, *motion_ry, *motion_angle;
    uint32_t cookie;
} perp_body_def;

// ── Shapes ───────────────────────────────────────────────────────────────────────────────────────

typedef enum perp_shape_kind {
    PERP_SHAPE_POINT,      // a vertex: collides with everything except points
    PERP_SHAPE_DISC,       // radius
    PERP_SHAPE_BOX,        // half.x, half.y
    PERP_SHAPE_POLYGON,    // convex, counter-clockwise vertices
    PERP_SHAPE_CAPSULE,    // segment of half length half.x along x, rounded by radius
    PERP_SHAPE_SEGMENT,    // the same without thickness
    PERP_SHAPE_HALFPLANE,  // solid below the line y = 0 of its frame; outward normal +y
    // Spatial; also PERP_SHAPE_POINT, PERP_SHAPE_BOX (with half.z) and PERP_SHAPE_CAPSULE (half.z along z).
    PERP_SHAPE_SPHERE,       // radius
    PERP_SHAPE_CYLINDER,     // radius, half.z along z
    PERP_SHAPE_CONE,         // base of `radius` at z = -half.z, apex at z = +half.z
    PERP_SHAPE_ELLIPSOID,    // half: semi-axes
    PERP_SHAPE_HULL,         // convex hull of `vertices_S`
    PERP_SHAPE_HALFSPACE,    // solid below the plane z = 0 of its frame; outward normal +z
    PERP_SHAPE_HEIGHTFIELD,  // heights over a grid in x, y; static and kinematic bodies only
    PERP_SHAPE_MESH,  // triangles, counter-clockwise outside; static and kinematic bodies only
} perp_shape_kind;

// How the friction coefficients of two shapes become those of their contact. If the two shapes differ, the later rule
// of this list applies: max before min before geometric before default.
typedef enum perp_combine {
    PERP_COMBINE_DEFAULT,    // geometric mean of mu, the larger mu_spin and mu_roll
    PERP_COMBINE_GEOMETRIC,  // geometric mean of each
    PERP_COMBINE_MIN,        // the smaller of each
    PERP_COMBINE_MAX,        // the larger of each
} perp_combine;

typedef struct perp_shape_def {
    const char *name;             // "" or NULL: "shape<i>"
    perp_shape_kind kind;         // default PERP_SHAPE_DISC
    perp_vec3 position_B;         // of the shape frame in the body frame [m]
    double angle;                 // planar [rad]
    perp_quat rotation_BS;        // spatial: of the shape frame in the body frame
    double radius;                // [m]
    perp_vec3 half;               // half extents [m]; height field: of the grid in x and y
    const perp_vec3 *vertices_S;  // in the shape frame [m]
    int vertex_count;
    const int *triangles;  // mesh: three vertices each
    int triangle_count;
    const double *heights;  // height field: grid_x * grid_y heights [m], x fastest
    int grid_x, grid_y;
    double density;  // planar [kg/m^2], spatial [kg/m^3]; 0: no contribution to mass
    double mu;       // Coulomb friction; for a pair: by `combine` [-]
    double mu_spin;  // spatial: torsional friction about the normal; for a pair: by `combine` [m]
    double mu_roll;  // spatial: rolling friction; for a pair: by `combine` [m]
    perp_combine combine;  // default PERP_COMBINE_DEFAULT
    // The shape of higher priority alone determines mu, mu_spin and mu_roll of a pair; equal priorities: `combine`.
    int32_t priority;
    int facets;  // spatial: directions of the friction polygon; 0: the friction law of the sim;
                 // for a pair: the larger
    double restitution;  // for a pair: the larger [-]
    // Conveyor: surface speed along the outward normal turned by -90 degrees (clockwise around the shape), as a
    // function of t [m/s]. A floor with outward normal +y carries objects to +x.
    const char *surface_speed;
    // The same in 3D: surface velocity in shape axes, and angular velocity of the surface about the shape's z axis
    // (a driven wheel: spin times radius along the rim); functions of t [m/s, rad/s].
    const char *surface_x, *surface_y, *surface_z, *surface_spin;
    bool detect;  // include in automatic contact detection; default true
    // Collision filter: shapes a and b can meet if (group_a & mask_b) or (group_b & mask_a) is not 0. Default 1 and 1.
    uint32_t group, mask;
    int32_t colour;  // in pictures, 0xRRGGBB; -1 (default): that of the body
    // Not in pictures unless collision shapes are asked for: visuals show the body instead (perp_builder_add_visual).
    bool hidden;
    uint32_t cookie;
} perp_shape_def;

// Contact parameters of a pair of shapes, which override those combined from the shapes. A rule also enables contact
// between shapes that a joint between their bodies (perp_collide), their groups and masks, or
// perp_builder_add_exclusion would exclude.
typedef struct perp_pair_def {
    perp_shape a, b;
    double mu;           // [-]
    double restitution;  // [-]
    bool ignore;         // no contact between them
    // Spatial:
    double mu_2;     // friction perpendicular to the tangent; negative: isotropic, the same as mu
    double mu_spin;  // [m]
    double mu_roll;  // [m]
    int facets;      // of the friction polygon; 0: the friction law of the sim
    perp_vec3 tangent_A;  // first tangent, in the axes of a's body; 0: chosen automatically
    uint32_t cookie;
} perp_pair_def;

// A contact that is part of the problem of every step, whatever the distance of the shapes, as in the lecture notes.
// It has one contact point: a point or disc against any shape.
typedef struct perp_contact_def {
    const char *name;
    perp_shape a, b;     // the normal points from a to b
    double mu;           // negative: from the shapes
    double restitution;  // negative: from the shapes
    // Spatial; negative coefficients: from the shapes.
    double mu_2, mu_spin, mu_roll;
    int facets;           // 0: the friction law of the sim; negative: from the shapes
    perp_vec3 tangent_A;  // first tangent, in the axes of a's body; 0: chosen automatically
    uint32_t cookie;
} perp_contact_def;

// ── Joints ───────────────────────────────────────────────────────────────────────────────────────

typedef enum perp_joint_kind {
    PERP_JOINT_REVOLUTE,   // anchors coincide (2 rows); coordinate: angle of b relative to a
    PERP_JOINT_PRISMATIC,  // anchor b on the axis through anchor a, no relative rotation (2 rows);
                           // coordinate: distance along the axis
    PERP_JOINT_WELD,       // anchors coincide, no relative rotation (3 rows)
    PERP_JOINT_DISTANCE,  // distance of the anchors is `length` (1 row; infinite: none); coordinate: the distance
    PERP_JOINT_POINT_ON_LINE,  // anchor b on the axis through anchor a (1 row); coordinate: along the axis
    PERP_JOINT_ANGLE,  // relative rotation only (1 row with `target`, otherwise none); coordinate: the angle
    PERP_JOINT_GEAR,  // ratio * coordinate of joint_a + coordinate of joint_b = constant (1 row)
    // Spatial (where revolute, prismatic, point on line and weld have 5, 5, 2 and 6 rows):
    PERP_JOINT_SPHERICAL,    // anchors coincide (3 rows)
    PERP_JOINT_CYLINDRICAL,  // anchor b and axis b on the axis (4 rows); coordinate: along the axis
    PERP_JOINT_UNIVERSAL,    // anchors coincide, axis b perpendicular to axis a (4 rows);
                             // coordinate: angle about axis a
    PERP_JOINT_PLANAR,       // anchor b in the plane normal to the axis, axes parallel (3 rows);
                             // coordinate: angle about the axis
    PERP_JOINT_SCREW,  // cylindrical, with advance = pitch * angle (5 rows); coordinate: angle
    // Planar and spatial:
    PERP_JOINT_COUPLING,  // coordinate: a function of the coordinates of other joints (no rows of its own; 1 with `target`)
} perp_joint_kind;

// Whether the two bodies of a joint collide with each other. By default they do not; but if one of them is static or
// kinematic, only those of its shapes are excluded that contain or touch an anchor of the joint at the start. Joints
// of kind distance, angle and gear exclude nothing.
typedef enum perp_collide {
    PERP_COLLIDE_RULE,    // the default rule above
    PERP_COLLIDE_NEVER,   // exclude all shapes of the two bodies
    PERP_COLLIDE_ALWAYS,  // exclude nothing
} perp_collide;

typedef struct perp_joint_def {
    const char *name;
    perp_joint_kind kind;  // default PERP_JOINT_REVOLUTE
    perp_body a, b;
    perp_vec3 anchor_A, anchor_B;  // in each body's frame [m]
    double axis_angle;             // planar: direction of the axis in a's frame [rad]
    perp_vec3 axis_A;              // spatial: direction of the axis in a's frame; default z
    perp_vec3 axis_B;  // spatial: in b's frame; 0: along axis_A at the start (universal: across)
    double angle;      // of b relative to a where the coordinate is 0 [rad]; spatial: relative to
                       // the initial pose
    double pitch;      // screw [m/rad]
    double length;     // distance [m]
    perp_joint joint_a, joint_b;  // gear: the two joints it couples
    double ratio;                 // gear [-]
    // Coupling: its coordinate as a function of t and of q[joint] of joints added before, such as "q[left] - 2*q[right]".
    // Targets, limits, springs, dry friction and actuators act along it as along any coordinate: "0" as target is the
    // constraint phi(q, t) = 0. The joints may move at most 8 free bodies in all. a, b and anchors are not used.
    const char *coordinate;
    // Coupling, instead of a coordinate: a velocity psi(q, qdot, t) as a function of t, inputs, q[joint] and dq[joint],
    // such as "dq[x]*sin(q[heading]) - dq[y]*cos(q[heading])". With "0" as rate it is the constraint psi = 0. It has a
    // rate but no position: no target, limits or spring. One that is not linear in dq is linearised where a step
    // starts, and refused by PERP_STEPPER_EVENT.                                          theory (A9)
    const char *velocity;
    const char *target;  // coordinate as a function of t: phi(q, t) = coordinate - target (1 row)
    const char *rate;    // rate of the coordinate as a function of t: psi(q, qdot) = 0 (1 row)
    double rate_effort;  // largest force or torque to maintain `rate`; INFINITY: a constraint
    // Stabilisation of `target` and of a `rate` that is a constraint [s]: phi'' + 2/epsilon phi' + phi/epsilon^2 = 0,
    // psi' + psi/epsilon = 0. An error decays with this time constant; an initial one is kept. 0 (default): errors are
    // removed before the run and within a step.                                           theory (A10)
    double epsilon;
    double friction;           // dry friction force or torque along the coordinate [N, N m]
    double lower, upper;       // limits of the coordinate; lower > upper: none
    double limit_restitution;  // [-]
    // Implicit spring and damper on the coordinate: stable for any stiffness.
    double stiffness, damping;  // [N/m, N s/m] or [N m, N m s]
    double rest;                // coordinate at which the spring is relaxed
    double armature;            // inertia of a rotor geared to the coordinate [kg m^2 or kg]
    perp_collide collide;       // default PERP_COLLIDE_RULE
    uint32_t cookie;
} perp_joint_def;

// ── Forces ───────────────────────────────────────────────────────────────────────────────────────

typedef enum perp_force_kind {
    PERP_FORCE_WRENCH,          // force at anchor_B of body b, and torque; in world axes
    PERP_FORCE_SPRING,          // spring and damper between anchors: -K (L - L0) - C dL/dt
    PERP_FORCE_TORSION_SPRING,  // rotational spring and damper on the relative angle; planar
    PERP_FORCE_DRAG,  // -C v at the centre of mass, -damping_w omega; with a: -damping_w (omega_b - omega_a) alone
} perp_force_kind;

typedef struct perp_force_def {
    const char *name;
    perp_force_kind kind;          // default PERP_FORCE_WRENCH
    perp_body a, b;                // a: the other end of a spring or drag; ground by default
    perp_vec3 anchor_A, anchor_B;  // in each body's frame [m]
    // Functions of t and of x y angle vx vy omega of body b [N, N m]. In 3D: of x y z vx vy vz wx wy wz and of the
    // vector part qx qy qz of its quaternion; torques tx, ty, torque about x, y, z.
    const char *fx, *fy, *fz, *tx, *ty, *torque;
    bool body_axes;             // force and torque in b's axes instead of the world's
    double stiffness, damping;  // K [N/m], C [N s/m]; rotational: [N m], [N m s]
    double rest;                // L0 [m] or rest angle [rad]
    double damping_w;           // PERP_FORCE_DRAG [N m s]
    bool isotropic;  // PERP_FORCE_SPRING: the damper acts on the whole relative velocity of
                     // the anchors, -C (v_b - v_a), not only along the line
    bool implicit;   // evaluated at the end of the step: stable for any stiffness
    uint32_t cookie;
} perp_force_def;

// ── Inputs and actuators ─────────────────────────────────────────────────────────────────────────

// A number that drives the model: set by perp_sim_input_set, or given by an expression. It is held over a step.
// Expressions of forces, of joint rates and of actuators may use it as `name`, or as u[name] whatever its name.
typedef struct perp_input_def {
    const char *name;
    double value;         // at the start
    double lower, upper;  // values are clamped to these; default: any
    const char *unit;     // for people only; NULL: none
    uint32_t cookie;
} perp_input_def;

typedef enum perp_actuator_kind {
    PERP_ACTUATOR_MOTOR,     // f = c
    PERP_ACTUATOR_POSITION,  // f = kp (c - l) - kv l'
    PERP_ACTUATOR_VELOCITY,  // f = kv (c - l')
    PERP_ACTUATOR_GENERAL,   // f = gain c + bias[0] + bias[1] l + bias[2] l'
} perp_actuator_kind;

// Acts along the coordinate x of a joint with the effort gear * f, where l = gear * x, c is the control, and f is
// limited to [lower, upper]. What depends on l and l' is taken at the end of the step, so that any gains are stable,
// and the limits are complementarity conditions of the step, not a clamp before it.       theory (A1)
typedef struct perp_actuator_def {
    const char *name;         // "" or NULL: "actuator<i>"
    perp_actuator_kind kind;  // default PERP_ACTUATOR_MOTOR
    perp_joint joint;
    // Instead of a joint: a force and a torque, gear f times these, at a site of a dynamic body and in the axes of the
    // site; l' is the velocity along them. There is no l: not for position actuators, and bias[1] is 0. Such an actuator
    // is listed among the joints as a coupling with the name "actuator at site".            theory (A11)
    perp_site site;  // default {-1}: none
    perp_vec3 force_S, torque_S;
    const char *control;   // c as a function of t and of inputs; NULL: the input with the name of
                           // the actuator, which is added if there is none
    double gear;           // default 1
    double kp, kv;         // [effort per unit of l, of l']
    double damping_ratio;  // position: kv = 2 damping_ratio sqrt(kp m), m the inertia that the
                           // joint moves at the start, others locked; negative: kv as given
    double gain, bias[3];  // PERP_ACTUATOR_GENERAL
    double lower, upper;   // of f [N, N m]; default: any
    double time_constant;  // c is filtered: T c_f' = c - c_f [s]; 0: not
    uint32_t cookie;
} perp_actuator_def;

// ── Sites and sensors ────────────────────────────────────────────────────────────────────────────

// A named frame fixed to a body. It may have a region, which touch sensors use: a box, or a sphere (in the plane a
// rectangle or a disc) about its origin.
typedef struct perp_site_def {
    const char *name;       // "" or NULL: "site<i>"
    perp_body body;         // default: the ground
    perp_vec3 position_B;   // of the site in the body frame [m]
    double angle;           // planar [rad]
    perp_quat rotation_BS;  // spatial: of the site in the body frame
    double radius;          // region: sphere [m]; 0: not a sphere
    perp_vec3 half;  // region: half extents of a box along the axes of the site [m]; 0: not a box
    uint32_t cookie;
} perp_site_def;

// What a sensor measures, with the number of its values in space and in the plane. The frame S of a sensor is its site
// or, without a site, the frame of its body.                                            theory (A5)
typedef enum perp_sensor_kind {
    // State, valid at any time:
    PERP_SENSOR_JOINT_POSITION,    // coordinate of a joint (1, 1) [m or rad]
    PERP_SENSOR_JOINT_RATE,        // its rate (1, 1) [m/s or rad/s]
    PERP_SENSOR_POSITION,          // of S, in world axes (3, 2) [m]
    PERP_SENSOR_ORIENTATION,       // of S: quaternion w x y z (4), in the plane the angle (1) [rad]
    PERP_SENSOR_VELOCITY,          // of the origin of S, in world axes (3, 2) [m/s]
    PERP_SENSOR_ANGULAR_VELOCITY,  // of S, in world axes (3, 1) [rad/s]
    PERP_SENSOR_GYRO,              // angular velocity of S, in the axes of S (3, 1) [rad/s]
    PERP_SENSOR_RANGE,             // distance along a ray from S (1, 1) [m]; -1: nothing is hit
    // Means over the last step; 0 before the first step and after a state was set:
    PERP_SENSOR_ACCELERATION,          // of the origin of S, in world axes (3, 2) [m/s^2]
    PERP_SENSOR_ANGULAR_ACCELERATION,  // of S, in world axes (3, 1) [rad/s^2]
    PERP_SENSOR_ACCELEROMETER,         // acceleration less gravity, in the axes of S (3, 2) [m/s^2]
    PERP_SENSOR_JOINT_EFFORT,  // along the coordinate of a joint: drives, actuators, dry friction
                               // and limits, without spring and rotor (1, 1) [N or N m]
    PERP_SENSOR_ACTUATOR_EFFORT,  // perp_actuator_state.effort (1, 1) [N or N m]
    PERP_SENSOR_FORCE,            // that a joint exerts on its body b, in the axes of S (3, 2) [N]
    PERP_SENSOR_TORQUE,           // the same about the origin of S (3, 1) [N m]
    PERP_SENSOR_TOUCH,  // sum of the normal contact forces on the body of S, in the region of its
                        // site; without a site, all of the body's (1, 1) [N]
} perp_sensor_kind;

typedef struct perp_sensor_def {
    const char *name;        // "" or NULL: "sensor<i>"
    perp_sensor_kind kind;   // default PERP_SENSOR_JOINT_POSITION
    perp_joint joint;        // joint-*, force, torque; default {-1}: none
    perp_actuator actuator;  // actuator-effort; default {-1}: none
    perp_site site;          // all other kinds, force and torque: the frame S; default {-1}: none
    perp_body body;          // in place of a site: S is the frame of this body; default {-1}: none
    perp_vec3
        axis_S;  // range: direction of the ray, in the axes of S; 0 (default): +z, in the plane +x
    double max_range;  // range: length of the ray [m]; default INFINITY
    uint32_t cookie;
} perp_sensor_def;

PERP_API perp_body_def perp_body_default(void);
PERP_API perp_shape_def perp_shape_default(void);
PERP_API perp_pair_def perp_pair_default(void);
PERP_API perp_contact_def perp_contact_default(void);
PERP_API perp_joint_def perp_joint_default(void);
PERP_API perp_force_def perp_force_default(void);
PERP_API perp_input_def perp_input_default(void);
PERP_API perp_actuator_def perp_actuator_default(void);
PERP_API perp_site_def perp_site_default(void);
PERP_API perp_sensor_def perp_sensor_default(void);

// ── Building ─────────────────────────────────────────────────────────────────────────────────────
// The builder keeps the first error (and may be NULL everywhere): add everything, then check the status of
// perp_model_create. Handles of failed additions are {-1}.

PERP_API perp_builder *perp_builder_create(const perp_env *env);
PERP_API void perp_builder_destroy(perp_builder *builder);
PERP_API void perp_builder_set_gravity(perp_builder *builder,
                                       perp_vec3 gravity_W);  // default (0, -9.81, 0);
                                                              // spatial models: (0, 0, -9.81)
PERP_API perp_body perp_builder_add_body(perp_builder *builder, const perp_body_def *def);
PERP_API perp_shape perp_builder_add_shape(perp_builder *builder, perp_body body,
                                           const perp_shape_def *def);
// A shape that is only shown: it does not collide, has no mass and is not part of the certificate. Its surface
// properties are not used. Meshes and height fields may belong to free bodies.
PERP_API perp_visual perp_builder_add_visual(perp_builder *builder, perp_body body,
                                             const perp_shape_def *def);
PERP_API void perp_builder_add_pair(perp_builder *builder, const perp_pair_def *def);
// The shapes of the two bodies do not collide. Either body may be the ground.
PERP_API void perp_builder_add_exclusion(perp_builder *builder, perp_body a, perp_body b);
PERP_API void perp_builder_add_contact(perp_builder *builder, const perp_contact_def *def);
PERP_API perp_joint perp_builder_add_joint(perp_builder *builder, const perp_joint_def *def);
PERP_API perp_force perp_builder_add_force(perp_builder *builder, const perp_force_def *def);
// Inputs come before the expressions that use them.
PERP_API perp_input perp_builder_add_input(perp_builder *builder, const perp_input_def *def);
// The value of an input at the start of each step as an expression of t, of the inputs added before it, and of the
// coordinates q[joint] and rates dq[joint] of joints added so far: a controller that samples once a step.
PERP_API void perp_builder_set_input_source(perp_builder *builder, perp_input input,
                                            const char *source);
PERP_API perp_actuator perp_builder_add_actuator(perp_builder *builder,
                                                 const perp_actuator_def *def);

// A keyframe is a named state: a time, coordinates of joints, poses of bodies and values of inputs. Everything that it
// leaves out is as in the initial state of the model. perp_sim_def.keyframe and perp_sim_reset start a sim from it.
PERP_API perp_keyframe perp_builder_add_keyframe(perp_builder *builder, const char *name);
PERP_API void perp_builder_set_keyframe_time(perp_builder *builder, perp_keyframe keyframe,
                                             double t);
enum { PERP_JOINT_MAX_COORDINATES = 4 };  // largest number of coordinates of a joint
// Coordinates and rates of a joint, as many as it has: an angle or distance; cylindrical: distance, angle; universal:
// both angles; planar in space: x, y, angle; spherical: the unit quaternion of b in a, scalar first, and the angular
// velocity of b relative to a in b's axes. NULL: as in the initial state. Angles may be several turns. The joints of a
// keyframe form no loop; joints that close one follow from them.
PERP_API void perp_builder_set_keyframe_joint(perp_builder *builder, perp_keyframe keyframe,
                                              perp_joint joint, const double *position,
                                              const double *rate);
// Position and velocity of a body, from position_W, angle, rotation_WB, velocity_W, spin and omega_W of the definition;
// its other members are ignored. The bodies that joints connect to this one move with it as a rigid whole. Not for
// bodies that joints connect to a static or kinematic body: they follow from the coordinates of the joints.
PERP_API void perp_builder_set_keyframe_body(perp_builder *builder, perp_keyframe keyframe,
                                             perp_body body, const perp_body_def *state);
PERP_API void perp_builder_set_keyframe_input(perp_builder *builder, perp_keyframe keyframe,
                                              perp_input input, double value);

PERP_API perp_site perp_builder_add_site(perp_builder *builder, const perp_site_def *def);
PERP_API perp_sensor perp_builder_add_sensor(perp_builder *builder, const perp_sensor_def *def);
// Use only the listed contacts, without automatic detection.
PERP_API void perp_builder_set_listed_only(perp_builder *builder, bool listed_only);
// The first error so far, or PERP_OK.
PERP_API perp_status perp_builder_status(const perp_builder *builder, perp_error *error);

PERP_API PERP_MUST perp_status perp_model_create(const perp_builder *builder, perp_model **model,
                                                 perp_error *error);
PERP_API void perp_model_destroy(perp_model *model);

// ── Properties of a model ────────────────────────────────────────────────────────────────────────

PERP_API int perp_model_bodies(const perp_model *model);  // including the ground
PERP_API int perp_model_shapes(const perp_model *model);
PERP_API int perp_model_visuals(const perp_model *model);
PERP_API int perp_model_joints(const perp_model *model);
PERP_API int perp_model_inputs(const perp_model *model);
PERP_API int perp_model_actuators(const perp_model *model);
PERP_API int perp_model_keyframes(const perp_model *model);
PERP_API int perp_model_sites(const perp_model *model);
PERP_API int perp_model_sensors(const perp_model *model);
PERP_API perp_body perp_model_body(const perp_model *model, const char *name);  // {-1}: none
PERP_API perp_shape perp_model_shape(const perp_model *model, const char *name);
PERP_API perp_joint perp_model_joint(const perp_model *model, const char *name);
PERP_API perp_input perp_model_input(const perp_model *model, const char *name);
PERP_API perp_actuator perp_model_actuator(const perp_model *model, const char *name);
PERP_API perp_keyframe perp_model_keyframe(const perp_model *model, const char *name);
PERP_API perp_site perp_model_site(const perp_model *model, const char *name);
PERP_API perp_sensor perp_model_sensor(const perp_model *model, const char *name);
PERP_API const char *perp_model_body_name(const perp_model *model, perp_body body);
PERP_API const char *perp_model_shape_name(const perp_model *model, perp_shape shape);
PERP_API const char *perp_model_visual_name(const perp_model *model, perp_visual visual);
// The body that carries a shape; {-1}: no such shape.
PERP_API perp_body perp_model_shape_body(const perp_model *model, perp_shape shape);
// In pictures, its own or that of its body, 0xRRGGBB; -1: none chosen, or no such shape.
PERP_API int32_t perp_model_shape_colour(const perp_model *model, perp_shape shape);
PERP_API const char *perp_model_joint_name(const perp_model *model, perp_joint joint);
PERP_API const char *perp_model_input_name(const perp_model *model, perp_input input);
// As it was defined: value at the start, range, unit (NULL: none). An input that does not exist has the name "".
PERP_API perp_input_def perp_model_input_def(const perp_model *model, perp_input input);
PERP_API const char *perp_model_actuator_name(const perp_model *model, perp_actuator actuator);
PERP_API const char *perp_model_keyframe_name(const perp_model *model, perp_keyframe keyframe);
PERP_API const char *perp_model_site_name(const perp_model *model, perp_site site);
PERP_API perp_body perp_model_site_body(const perp_model *model, perp_site site);  // {-1}: none
PERP_API const char *perp_model_sensor_name(const perp_model *model, perp_sensor sensor);
PERP_API perp_sensor_kind perp_model_sensor_kind(const perp_model *model, perp_sensor sensor);
PERP_API int perp_model_sensor_size(const perp_model *model, perp_sensor sensor);  // its values
PERP_API const char *perp_model_sensor_unit(const perp_model *model, perp_sensor sensor);
// Label of value k of a sensor with this many values: x, y, z, or w of a quaternion; "" if it has one value.
PERP_API const char *perp_sensor_label(int size, int k);
PERP_API double perp_model_mass(const perp_model *model, perp_body body);
PERP_API double perp_model_inertia(const perp_model *model, perp_body body);  // about z
// In body axes, about the centre of mass: xx yy zz xy xz yz.
PERP_API void perp_model_inertia_tensor(const perp_model *model, perp_body body, double inertia[6]);
// The centre of mass in the frame in which the shapes of the body were given (recenter).
PERP_API perp_vec3 perp_model_center(const perp_model *model, perp_body body);
PERP_API perp_motion perp_model_motion(const perp_model *model, perp_body body);
PERP_API double perp_model_gravity_scale(const perp_model *model, perp_body body);
PERP_API bool perp_model_is_spatial(const perp_model *model);

// Pairs of shapes excluded from contact detection, by reason; each pair is counted once, under the first reason that
// applies.
typedef struct perp_excluded_pairs {
    int64_t not_dynamic;   // neither body is dynamic
    int64_t listed_only;   // the model has listed contacts only
    int64_t not_detected;  // a shape has detect = false
    int64_t ignored;       // by a rule for the pair
    int64_t masked;        // by the groups and masks of the shapes
    int64_t excluded;      // the bodies are an excluded pair (perp_builder_add_exclusion)
    int64_t joined;        // a joint connects the bodies
} perp_excluded_pairs;

PERP_API perp_excluded_pairs perp_model_excluded_pairs(const perp_model *model);
PERP_API const char *
perp_combine_word(int combine);  // default geometric min max; NULL past the last
PERP_API const char *
perp_sensor_kind_word(int kind);  // joint-position joint-rate position …; NULL past the last
