// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of model/: the frozen model as the stages read it. Every array is indexed by the handle's i;
// body 0 is the ground.
#pragma once

#include "base/base.h"
#include "expr/expr.h"

#include <perp/model.h>

typedef struct pp_vec2 {
    double x, y;
} pp_vec2;

enum { PP_BODY_NV = 3 };  // most velocities of a body

// Variables of a force expression, in this order.
enum { PP_VAR_T, PP_VAR_X, PP_VAR_Y, PP_VAR_ANGLE, PP_VAR_VX, PP_VAR_VY, PP_VAR_OMEGA, PP_VARS };
extern const char *const pp_model_variables[PP_VARS];  // their names; motions have the first only

typedef struct pp_body {
    const char *name;
    perp_body_kind kind;
    perp_drive drive;
    int nv;                    // velocities that are unknowns: 3, 2, or 0 when not free
    int at;                    // first of them in nu, and of the positions in q (planar: the same)
    double mass, inertia;      // 0 where not free
    double q[3], nu[3];        // at t = 0
    const pp_expr *motion[3];  // driven: x, y, angle; NULL: stays at q
} pp_body;

typedef struct pp_shape {
    const char *name;
    int body;
    perp_shape_kind kind;  // PERP_BOX is stored as a polygon
    pp_vec2 p_BS;          // centre (disc, point), midpoint (segment, capsule), a point of the line
    pp_vec2 axis_B;        // unit x axis of the shape in the body frame
    double half;           // of segment and capsule [m]
    double radius;         // of disc and capsule; 0 otherwise [m]
    int count;             // polygon
    const pp_vec2 *vertex_B;  // polygon: counter-clockwise, in the body frame
    const pp_vec2 *normal_B;  // outward, of the side from vertex k to k + 1
    double mu, restitution;
    const pp_expr *surface_speed;  // NULL: at rest
    bool detect;
} pp_shape;

typedef struct pp_pair {  // sorted by (a, b), a < b
    int a, b;
    double mu, restitution;
    bool ignore;
    bool given;  // by a rule, not by what the shapes say
} pp_pair;

typedef struct pp_listed {  // a contact that is always there
    const char *name;
    int a, b;
    double mu, restitution;
} pp_listed;

typedef struct pp_joint {
    const char *name;
    perp_joint_kind kind;
    int a, b;
    pp_vec2 r_A, r_B;  // anchors in the body frames
    pp_vec2 axis_A;    // unit
    double angle, length, ratio;
    int joint_a, joint_b;  // gear
    const pp_expr *target, *rate;
    double rate_effort, friction, lower, upper, limit_restitution;
} pp_joint;

typedef struct pp_force {
    const char *name;
    perp_force_kind kind;
    int a, b;
    pp_vec2 r_A, r_B;
    const pp_expr *fx, *fy, *torque;
    bool body_axes, isotropic, implicit;
    double stiffness, damping, rest, damping_w;
} pp_force;

struct perp_model {
    perp_env env;
    pp_arena *arena;  // everything below
    pp_vec2 gravity;
    bool listed_only;
    int bodies, shapes, pairs, listed, joints, forces;
    int nv;  // unknown velocities; as many positions
    pp_body *body;
    pp_shape *shape;
    pp_pair *pair;
    pp_listed *contact;
    pp_joint *joint;
    pp_force *force;
    double length_scale;  // of the largest shape [m]: for tolerances
};

// Friction, restitution and whether to look at all, for two shapes.
void pp_model_pair(const perp_model *model, int shape_a, int shape_b, pp_pair *pair);
// Whether a body of a builder has, or gets from its shapes, the mass it needs; else the reason.
perp_status pp_builder_weigh(const perp_builder *builder, perp_body body, perp_error *error);
