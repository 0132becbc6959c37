// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of model/: the frozen model as the stages read it. Every array is indexed by the handle's i;
// body 0 is the ground.
#pragma once

#include "base/base.h"
#include "expr/expr.h"
#include "math/space.h"
#include "model/meet.h"
#include "solid/solid.h"

#include <perp/model.h>

typedef struct pp_vec2 {
    double x, y;
} pp_vec2;

enum { PP_BODY_NV = 6 };  // most velocities of a body

// Variables of a force expression, in this order; motions have the first only.
enum { PP_PLANAR_VARS = 7, PP_SPATIAL_VARS = 13 };
extern const char *const pp_planar_variables[PP_PLANAR_VARS];
extern const char *const pp_spatial_variables[PP_SPATIAL_VARS];

enum { PP_BY_X, PP_BY_Y, PP_BY_Z, PP_BY_RX, PP_BY_RY, PP_BY_RZ, PP_MOTIONS };

typedef struct pp_body {
    const char *name;
    perp_body_kind kind;
    perp_motion drive;
    int nv, nq;               // velocities and positions that are unknowns; 0 when not free
    int at, at_q;             // first of them in nu and q
    int axis[PP_BODY_NV];     // which of (v, omega) each velocity is: 0, 1, 5 for a planar body
    double mass;              // 0 where not free
    pp_mat3 I_B, inverse_IB;  // about the centre of mass, in body axes; planar: zz only
    perp_vec3 p0;             // at t = 0
    double angle0;            // planar
    perp_quat rot0;           // spatial
    perp_vec3 v0, w0;
    perp_vec3 center;  // of mass, in the frame the shapes were given in
    bool recenter;
    int first_shape, last_shape;  // their numbers + 1, 0: none
    double
        reach;  // free: farthest point of its shapes from its origin, or its radius of gyration [m]
    const pp_expr *motion[PP_MOTIONS];  // driven; NULL: stays as at t = 0
} pp_body;

// Whether its velocities hold an angular velocity.
static inline bool pp_body_turns(const pp_body *body)
{
    return body->kind == PERP_BODY_PLANAR || body->kind == PERP_BODY_SPATIAL;
}

static inline bool pp_body_is_spatial(const pp_body *body)
{
    return body->kind == PERP_BODY_SPATIAL || body->kind == PERP_BODY_SPATIAL_PARTICLE;
}

typedef struct pp_shape {
    const char *name;
    int body;
    int next;               // shape of the body, its number + 1; 0: none
    perp_shape_kind kind;   // in the plane PERP_SHAPE_BOX is stored as a polygon
    perp_shape_kind given;  // as the definition said
    bool flat;              // has no depth in space
    pp_vec2 p_BS;    // centre (disc, point), midpoint (segment, capsule), a point of the line
    pp_vec2 axis_B;  // unit x axis of the shape in the body frame
    double half;     // of segment and capsule [m]
    double radius;   // of disc and capsule; 0 otherwise [m]
    int count;       // polygon
    const pp_vec2 *vertex_B;  // polygon: counter-clockwise, in the body frame
    const pp_vec2 *normal_B;  // outward, of the side from vertex k to k + 1
    pp_pose X_BS;             // spatial: the shape frame in the body frame
    pp_solid solid;           // spatial, convex
    const pp_mesh *mesh;      // spatial: height field or mesh, else NULL
    int facets;
    const pp_expr *surface[4];  // spatial: x, y, z in the shape's axes, spin about its z axis
    double mu, restitution, mu_spin, mu_roll;
    const pp_expr *surface_speed;  // NULL: at rest
    bool detect;
    double thickness;  // least extent; its length without one; half-planes, meshes: infinite [m]
    double size;       // half its largest extent or so [m]; 0: points, half-planes, meshes
} pp_shape;

typedef struct pp_listed {  // a contact that is always there
    const char *name;
    int a, b;
    double mu, restitution;
    double mu_2, mu_spin, mu_roll;
    int facets;
    perp_vec3 tangent_A;
} pp_listed;

typedef struct pp_joint {
    const char *name;
    perp_joint_kind kind;
    int a, b;
    perp_vec3 r_A, r_B;        // anchors in the body frames
    perp_vec3 axis_A, axis_B;  // unit; in the plane: of a prismatic joint, in a's frame
    perp_vec3 zero_A, zero_B;  // spatial: across the axes; parallel where the coordinate is 0
    double angle, length, ratio, pitch;
    int joint_a, joint_b;  // gear
    const pp_expr *target, *rate;
    double rate_effort, friction, lower, upper, limit_restitution;
    double stiffness, damping, rest;
    perp_collide collide;
} pp_joint;

typedef struct pp_force {
    const char *name;
    perp_force_kind kind;
    int a, b;
    perp_vec3 r_A, r_B;
    const pp_expr *f[3], *torque[3];
    bool body_axes, isotropic, implicit;
    double stiffness, damping, rest, damping_w;
} pp_force;

struct perp_model {
    perp_env env;
    pp_arena *arena;  // everything below
    bool spatial;
    perp_vec3 gravity;
    bool listed_only;
    int bodies, shapes, pairs, listed, joints, forces;
    int nv, nq;  // unknown velocities and positions
    pp_body *body;
    pp_shape *shape;
    pp_pair_rule *pair;
    pp_listed *contact;
    pp_joint *joint;
    pp_force *force;
    double length_scale;  // of the largest shape [m]: for tolerances
    pp_pair_exclusions meet;
};

// Whether a body of a builder has, or gets from its shapes, the mass it needs; else the reason.
perp_status pp_builder_mass_properties(const perp_builder *builder, perp_body body,
                                       perp_error *error);
