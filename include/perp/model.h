// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What is simulated: bodies, shapes, joints, forces, contacts. Built once, frozen, shared by any number
// of sims and threads. Definitions come from perp_*_default(); strings and arrays are copied.
//
// A model is planar or spatial, as its bodies are. Planar bodies move in the plane z = 0: positions use x
// and y, angles are about z. The frame of a body has its origin in the centre of mass. Expressions are functions of the time t [s], as text:
// "0.1*sin(2*pi*t)"; they are differentiated exactly. NULL means zero, or what a field says.
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
    PERP_MOTION_DYNAMIC,    // moved by impulses: its velocities are unknowns
    PERP_MOTION_STATIC,     // never moves
    PERP_MOTION_KINEMATIC,  // its pose is a given function of time
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
    double inertia_zz;      // planar, about the centre of mass [kg m^2]; 0: from the densities
    double inertia_B[6];    // spatial, in body axes: xx yy zz xy xz yz; all 0: from the densities
    // Spatial: shapes and anchors are given in a frame whose origin is not the centre of mass. The frame
    // of the body is moved there, and what is said of the body (position, velocity) means that point; the
    // position given here is that of the frame in which the shapes are given.
    bool recenter;
    // PERP_MOTION_KINEMATIC: pose as functions of t. Rotation: motion_rx about the world's x axis, then motion_ry,
    // then motion_angle about z, of a body that starts as `rotation_WB` (or `angle`) says.
    const char *motion_x, *motion_y, *motion_z, *motion_rx, *motion_ry, *motion_angle;
    uint32_t cookie;
} perp_body_def;

// ── Shapes ───────────────────────────────────────────────────────────────────────────────────────

typedef enum perp_shape_kind {
    PERP_SHAPE_POINT,      // a vertex: touches everything but points
    PERP_SHAPE_DISC,       // radius
    PERP_SHAPE_BOX,        // half.x, half.y
    PERP_SHAPE_POLYGON,    // convex, counter-clockwise vertices
    PERP_SHAPE_CAPSULE,    // segment of half length half.x along x, rounded by radius; a rod
    PERP_SHAPE_SEGMENT,    // the same without thickness: from -half.x to +half.x
    PERP_SHAPE_HALFPLANE,  // solid below the line y = 0 of its frame; outward normal +y
    // In space; also PERP_SHAPE_POINT, PERP_SHAPE_BOX (with half.z) and PERP_SHAPE_CAPSULE (half.z along z).
    PERP_SHAPE_SPHERE,       // radius
    PERP_SHAPE_CYLINDER,     // radius, half.z along z
    PERP_SHAPE_CONE,         // base of `radius` at z = -half.z, apex at z = +half.z
    PERP_SHAPE_ELLIPSOID,    // half: semi-axes
    PERP_SHAPE_HULL,         // convex hull of `vertices_S`
    PERP_SHAPE_HALFSPACE,    // solid below the plane z = 0 of its frame; outward normal +z
    PERP_SHAPE_HEIGHTFIELD,  // heights over a grid in x, y; of a body that is not free
    PERP_SHAPE_MESH,         // triangles, outward counter-clockwise; of a body that is not free
} perp_shape_kind;

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
    double density;      // [kg/m^2], in space [kg/m^3]; 0: no contribution to mass
    double mu;           // Coulomb friction; of a pair: the geometric mean of both [-]
    double mu_spin;      // space: torsional friction about the normal; of a pair: the larger [m]
    double mu_roll;      // space: rolling friction; of a pair: the larger [m]
    int facets;          // space: friction polygon of so many directions; 0: the sim's law.
                         // Of a pair: the larger
    double restitution;  // of a pair: the larger of both [-]
    // Conveyor: speed of the surface along its outward normal turned by -90 degrees (clockwise about the
    // shape), as a function of t [m/s]: a floor with outward normal +y carries what is on it to +x.
    const char *surface_speed;
    // The same in space: velocity of the surface in the shape's axes, and its rate of turning about the
    // shape's z axis (a driven wheel: spin times radius along the rim); functions of t [m/s, rad/s].
    const char *surface_x, *surface_y, *surface_z, *surface_spin;
    bool detect;  // take part in automatic contact detection; default true
    uint32_t cookie;
} perp_shape_def;

// What two shapes do when they meet, in place of the means above. A rule also makes shapes meet that a joint
// between their bodies would leave out (perp_collide).
typedef struct perp_pair_def {
    perp_shape a, b;
    double mu;           // [-]
    double restitution;  // [-]
    bool ignore;         // no contact between them
    // In space:
    double mu_2;          // friction across `tangent`; negative: as mu (the same in all directions)
    double mu_spin;       // [m]
    double mu_roll;       // [m]
    int facets;           // of the friction polygon; 0: the sim's law
    perp_vec3 tangent_A;  // first tangent, in the axes of a's body; 0: chosen
    uint32_t cookie;
} perp_pair_def;

// A contact that is in every step's problem, however far the shapes are apart: the way the lecture
// notes name their contacts. One point: a point or disc against anything.
typedef struct perp_contact_def {
    const char *name;
    perp_shape a, b;     // the normal points from a to b
    double mu;           // negative: from the shapes
    double restitution;  // negative: from the shapes
    // In space; coefficients negative: from the shapes.
    double mu_2, mu_spin, mu_roll;
    int facets;           // 0: the sim's law; negative: from the shapes
    perp_vec3 tangent_A;  // first tangent, in the axes of a's body; 0: chosen
    uint32_t cookie;
} perp_contact_def;

// ── Joints ───────────────────────────────────────────────────────────────────────────────────────

typedef enum perp_joint_kind {
    PERP_JOINT_REVOLUTE,   // anchors coincide (2 rows); coordinate: angle of b relative to a
    PERP_JOINT_PRISMATIC,  // anchor b on the axis through anchor a, no relative rotation (2 rows);
                           // coordinate: distance along the axis
    PERP_JOINT_WELD,       // anchors coincide, no relative rotation (3 rows)
    PERP_JOINT_DISTANCE,   // anchors at `length` from each other (1 row); coordinate: the distance
    PERP_JOINT_POINT_ON_LINE,  // anchor b on the axis through anchor a (1 row); coordinate: along the axis
    PERP_JOINT_ANGLE,  // relative rotation only (1 row with `target`, else none); coordinate: the angle
    PERP_JOINT_GEAR,  // ratio * coordinate of joint_a + coordinate of joint_b = constant (1 row)
    // In space (revolute, prismatic and point on line then have 5, 5 and 2 rows, weld 6):
    PERP_JOINT_SPHERICAL,    // anchors coincide (3 rows)
    PERP_JOINT_CYLINDRICAL,  // anchor b and axis b on the axis (4 rows); coordinate: along the axis
    PERP_JOINT_UNIVERSAL,    // anchors coincide, axis b across the axis (4 rows); coordinate: angle
                             // about the axis of a
    PERP_JOINT_PLANAR,       // anchor b in the plane across the axis, axes parallel (3 rows);
                             // coordinate: angle about the axis
    PERP_JOINT_SCREW,        // cylindrical, and along = pitch * angle (5 rows); coordinate: angle
} perp_joint_kind;

// Whether the two bodies of a joint collide with each other. By the rule they do not; but of a body that is
// not free (ground, fixed, driven) only those shapes are left out that an anchor of the joint lies in or touches at
// the start. Joints of the kinds distance, angle and gear leave nothing out.
typedef enum perp_collide {
    PERP_COLLIDE_RULE,    // as above
    PERP_COLLIDE_NEVER,   // no shapes of the two bodies
    PERP_COLLIDE_ALWAYS,  // this joint leaves nothing out
} perp_collide;

typedef struct perp_joint_def {
    const char *name;
    perp_joint_kind kind;  // default PERP_JOINT_REVOLUTE
    perp_body a, b;
    perp_vec3 anchor_A, anchor_B;  // in each body's frame [m]
    double axis_angle;             // planar: direction of the axis in a's frame [rad]
    perp_vec3 axis_A;              // spatial: direction of the axis in a's frame; default z
    perp_vec3 axis_B;  // spatial: in b's frame; 0: where it is at the start (universal: across)
    double angle;      // of b relative to a where the coordinate is 0 [rad]; spatial: relative to
                       // how they start
    double pitch;      // screw [m/rad]
    double length;     // distance [m]
    perp_joint joint_a, joint_b;  // gear: the two joints it couples
    double ratio;                 // gear [-]
    const char *target;   // coordinate as a function of t: phi(q, t) = coordinate - target (1 row)
    const char *rate;     // rate of the coordinate as a function of t: psi(q, qdot) = 0 (1 row)
    double rate_effort;   // largest force or torque that drives `rate`; INFINITY: a constraint
    double friction;      // dry friction force or torque of the coordinate [N, N m]
    double lower, upper;  // limits of the coordinate; lower > upper: none
    double limit_restitution;  // [-]
    // Spring and damper on the coordinate, at the end of the step: stable for any stiffness.
    double stiffness, damping;  // [N/m, N s/m] or [N m, N m s]
    double rest;                // coordinate at which the spring is free
    perp_collide collide;       // default PERP_COLLIDE_RULE
    uint32_t cookie;
} perp_joint_def;

// ── Forces ───────────────────────────────────────────────────────────────────────────────────────

typedef enum perp_force_kind {
    PERP_FORCE_WRENCH,          // fx, fy at anchor_B of body b and torque, in world axes
    PERP_FORCE_SPRING,          // spring and damper between anchors: -K (L - L0) - C dL/dt
    PERP_FORCE_TORSION_SPRING,  // rotational spring and damper on the relative angle; planar
    PERP_FORCE_DRAG,            // -C v at the centre of mass, -damping_w omega
} perp_force_kind;

typedef struct perp_force_def {
    const char *name;
    perp_force_kind kind;          // default PERP_FORCE_WRENCH
    perp_body a, b;                // a: the other end of a spring; ground by default
    perp_vec3 anchor_A, anchor_B;  // in each body's frame [m]
    // Of t, and of x y angle vx vy omega of body b [N, N m]. In space: of x y z vx vy vz wx wy wz and the
    // vector part qx qy qz of its quaternion; fz, and torques tx, ty, torque about x, y, z.
    const char *fx, *fy, *fz, *tx, *ty, *torque;
    bool body_axes;             // force and torque in b's axes instead of the world's
    double stiffness, damping;  // K [N/m], C [N s/m]; rotational: [N m], [N m s]
    double rest;                // L0 [m] or rest angle [rad]
    double damping_w;           // PERP_FORCE_DRAG [N m s]
    bool isotropic;             // PERP_FORCE_SPRING: the damper resists all relative motion of the
                                // anchors, -C (v_b - v_a), not only that along the line
    bool implicit;              // evaluated at the end of the step: stable for any stiffness
    uint32_t cookie;
} perp_force_def;

PERP_API perp_body_def perp_body_default(void);
PERP_API perp_shape_def perp_shape_default(void);
PERP_API perp_pair_def perp_pair_default(void);
PERP_API perp_contact_def perp_contact_default(void);
PERP_API perp_joint_def perp_joint_default(void);
PERP_API perp_force_def perp_force_default(void);

// ── Building ─────────────────────────────────────────────────────────────────────────────────────
// The first error sticks to the builder (NULL is accepted throughout): add everything, and look at the
// status of perp_model_create. Handles of failed additions are {-1}.

PERP_API perp_builder *perp_builder_create(const perp_env *env);
PERP_API void perp_builder_destroy(perp_builder *builder);
PERP_API void perp_builder_set_gravity(perp_builder *builder,
                                       perp_vec3 gravity_W);  // default (0, -9.81, 0);
                                                              // a spatial model: (0, 0, -9.81)
PERP_API perp_body perp_builder_add_body(perp_builder *builder, const perp_body_def *def);
PERP_API perp_shape perp_builder_add_shape(perp_builder *builder, perp_body body,
                                           const perp_shape_def *def);
PERP_API void perp_builder_add_pair(perp_builder *builder, const perp_pair_def *def);
PERP_API void perp_builder_add_contact(perp_builder *builder, const perp_contact_def *def);
PERP_API perp_joint perp_builder_add_joint(perp_builder *builder, const perp_joint_def *def);
PERP_API perp_force perp_builder_add_force(perp_builder *builder, const perp_force_def *def);
// Only the listed contacts, no automatic detection.
PERP_API void perp_builder_set_listed_only(perp_builder *builder, bool listed_only);
// What went wrong so far; PERP_OK when nothing did.
PERP_API perp_status perp_builder_status(const perp_builder *builder, perp_error *error);

PERP_API PERP_MUST perp_status perp_model_create(const perp_builder *builder, perp_model **model,
                                                 perp_error *error);
PERP_API void perp_model_destroy(perp_model *model);

// ── Looking at a model ───────────────────────────────────────────────────────────────────────────

PERP_API int perp_model_bodies(const perp_model *model);  // with the ground
PERP_API int perp_model_shapes(const perp_model *model);
PERP_API int perp_model_joints(const perp_model *model);
PERP_API perp_body perp_model_body(const perp_model *model, const char *name);  // {-1}: none
PERP_API perp_shape perp_model_shape(const perp_model *model, const char *name);
PERP_API perp_joint perp_model_joint(const perp_model *model, const char *name);
PERP_API const char *perp_model_body_name(const perp_model *model, perp_body body);
PERP_API const char *perp_model_shape_name(const perp_model *model, perp_shape shape);
PERP_API const char *perp_model_joint_name(const perp_model *model, perp_joint joint);
PERP_API double perp_model_mass(const perp_model *model, perp_body body);
PERP_API double perp_model_inertia(const perp_model *model, perp_body body);  // about z
// In body axes, about the centre of mass: xx yy zz xy xz yz.
PERP_API void perp_model_inertia_tensor(const perp_model *model, perp_body body, double inertia[6]);
// Where the centre of mass is in the frame the body's shapes were given in (recenter).
PERP_API perp_vec3 perp_model_center(const perp_model *model, perp_body body);
PERP_API perp_motion perp_model_motion(const perp_model *model, perp_body body);
PERP_API bool perp_model_is_spatial(const perp_model *model);

// Pairs of shapes of two bodies that no contact is looked for between, by what leaves them out; each pair is
// counted once, under the first that applies.
typedef struct perp_excluded_pairs {
    int64_t not_dynamic;   // both bodies are ground, fixed or driven
    int64_t listed_only;   // the model has its listed contacts only
    int64_t not_detected;  // a shape is not to be detected
    int64_t ignored;       // a rule for the pair
    int64_t joined;        // a joint connects the bodies
} perp_excluded_pairs;

PERP_API perp_excluded_pairs perp_model_excluded_pairs(const perp_model *model);
