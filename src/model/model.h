// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of model/: the frozen model as the stages read it. Arrays are indexed by the i of a handle;
// body 0 is the ground. Nothing changes after perp_model_create, so that threads share a model.
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

// Variables of a force expression, in this order. Motions have only the first, the time.
enum { PP_PLANAR_VARS = 7, PP_SPATIAL_VARS = 13 };
extern const char *const pp_planar_variables[PP_PLANAR_VARS];
extern const char *const pp_spatial_variables[PP_SPATIAL_VARS];

// Coordinates of a driven body: position, and a rotation vector.
enum { PP_BY_X, PP_BY_Y, PP_BY_Z, PP_BY_RX, PP_BY_RY, PP_BY_RZ, PP_MOTIONS };

// A body. Vectors are in world axes at t = 0, the inertia in body axes about the centre of mass.
typedef struct pp_body {
    const char *name;
    perp_body_kind kind;
    perp_motion drive;
    // Unknowns of a free body: nv velocities from nu[at] on, nq positions from q[at_q] on. A solid
    // has six velocities and seven positions, of which four are a quaternion (w, x, y, z).
    int nv, nq;    // 0 when not free
    int at, at_q;  // first of them in nu and q
    // Velocities in world axes are v of the centre of mass and omega. A planar body has three of
    // them.
    int axis[PP_BODY_NV];  // which of (v, omega) each velocity is: 0, 1, 5 for a planar body
    double mass;           // 0 where not free, and of a massless body
    bool massless;         // moves, without mass: in joint coordinates only
    double divisor_mass,
        divisor_Izz;  // of M^-1: mass and planar I_B; of a massless body these and inverse_IB are those of the
                      // nearest body with mass, as scales of tolerances
    double gravity_scale;     // factor of gravity for this body
    int32_t colour;           // 0xRRGGBB; -1: none
    pp_mat3 I_B, inverse_IB;  // about the centre of mass, in body axes; planar: zz only
    // State at t = 0, in the world: position of the centre of mass [m], orientation, velocities.
    perp_vec3 p0;
    double angle0;   // planar
    perp_quat rot0;  // spatial
    perp_vec3 v0, w0;
    // recenter: the frame was moved to the centre of mass, which was at `center` before.
    perp_vec3 center;  // of mass, in the frame the shapes were given in
    bool recenter;
    // The shapes of a body are a linked list through pp_shape.next.
    int first_shape, last_shape;  // their numbers + 1, 0: none
    double
        reach;  // free: farthest point of its shapes from its origin, or its radius of gyration [m]
    const pp_expr *motion[PP_MOTIONS];  // driven; NULL: stays as at t = 0
    const struct pp_steady *steady;     // driven: a motion set from outside; NULL: none
} pp_body;

// A motion with constant velocity from a pose on: p + (t - t0) v, turned by (t - t0) w.
typedef struct pp_steady {
    double t0, angle;
    perp_vec3 p, v, w;
    perp_quat rot;
} pp_steady;

// Whether its velocities include an angular velocity.
static inline bool pp_body_turns(const pp_body *body)
{
    return body->kind == PERP_BODY_PLANAR || body->kind == PERP_BODY_SPATIAL;
}

static inline bool pp_body_is_spatial(const pp_body *body)
{
    return body->kind == PERP_BODY_SPATIAL || body->kind == PERP_BODY_SPATIAL_PARTICLE;
}

// A shape in the frame of its body. Planar and spatial models use different members.
typedef struct pp_shape {
    const char *name;
    int body;
    int next;               // shape of the body, its number + 1; 0: none
    perp_shape_kind kind;   // in the plane PERP_SHAPE_BOX is stored as a polygon
    perp_shape_kind given;  // as the definition has it
    bool flat;              // has no depth in space
    // Planar shapes: a point, a segment or a polygon with a radius around it, or a half-plane below
    // the line through p_BS along axis_B.
    pp_vec2 p_BS;    // centre (disc, point), midpoint (segment, capsule), a point of the line
    pp_vec2 axis_B;  // unit x axis of the shape in the body frame
    double half;     // of segment and capsule [m]
    double radius;   // of disc and capsule; 0 otherwise [m]
    int count;       // polygon
    const pp_vec2 *vertex_B;  // polygon: counter-clockwise, in the body frame
    const pp_vec2 *normal_B;  // outward, of the side from vertex k to k + 1
    // Spatial shapes: a convex solid or a mesh, with a frame of its own.
    pp_pose X_BS;         // spatial: the shape frame in the body frame
    pp_solid solid;       // spatial, convex
    const pp_mesh *mesh;  // spatial: height field or mesh, else NULL
    // Contact: facets of the friction pyramid (0: as the scene says), velocity of the surface
    // relative to the body [m/s, rad/s], coefficients (mu_spin and mu_roll are lengths [m]).
    int facets;
    const pp_expr *surface[4];  // spatial: x, y, z in the shape's axes, spin about its z axis
    double mu, restitution, mu_spin, mu_roll;
    perp_combine combine;
    int32_t priority;
    const pp_expr *surface_speed;  // NULL: at rest
    bool detect;
    uint32_t group, mask;
    int32_t colour;  // 0xRRGGBB, its own or that of its body; -1: none
    bool hidden;     // not in pictures unless collision shapes are asked for
    bool visual;     // only shown: in the list of visuals
    // Lengths that tolerances are relative to.
    double thickness;  // least extent; its length without one; half-planes, meshes: infinite [m]
    double size;       // half its largest extent or so [m]; 0: points, half-planes, meshes
} pp_shape;

typedef struct pp_listed {  // a contact that is in every problem; negative: as the shapes say
    const char *name;
    int a, b;
    double mu, restitution;
    double mu_2, mu_spin, mu_roll;
    int facets;
    perp_vec3 tangent_A;
} pp_listed;

// A joint: b relative to a. Members that its kind does not have are 0 or NULL.
typedef struct pp_joint {
    const char *name;
    perp_joint_kind kind;
    int a, b;
    perp_vec3 r_A, r_B;        // anchors in the body frames
    perp_vec3 axis_A, axis_B;  // unit; in the plane: of a prismatic joint, in a's frame
    perp_vec3 zero_A, zero_B;  // spatial: across the axes; parallel where the coordinate is 0
    // Constants of the kind: angle of b relative to a at coordinate 0 (plane) [rad], length of a
    // distance [m], ratio of a gear, pitch of a screw [m/rad].
    double angle, length, ratio, pitch;
    int joint_a, joint_b;  // gear: the joints whose coordinates it couples
    // Coupling: its coordinate as a function of t, and of the coordinates of the joints term[k] as variable 1 + k.
    const pp_expr *function;
    // Coupling without a coordinate: its rate as a function of t, of the coordinates of term[k] as variable 1 + k, of their
    // rates as variable 1 + terms + k, and of inputs. Its coordinate counts as 0.
    const pp_expr *velocity;
    bool linear;  // in the rates
    // Coupling of an actuator at a site: force and torque at r_B that a unit effort is, in the axes of b; of the definition
    // in those of the site, its number + 1. Its rate is their power, its coordinate counts as 0.
    int site;
    perp_vec3 force_B, torque_B;
    const int *term;
    int terms;
    // What acts along the coordinate [m or rad]: drives, dry friction [N or N m], limits (none
    // where lower > upper), spring and damper.
    const pp_expr *target, *rate;
    double rate_effort, friction, lower, upper, limit_restitution;
    double stiffness, damping, rest;
    double armature;       // inertia along the coordinate [kg m^2 or kg]
    double epsilon;        // of a stabilised target or rate [s]; 0: not stabilised
    perp_collide collide;  // whether the shapes of a and b collide
    int first_actuator;    // that acts along the coordinate, its number + 1; 0: none
} pp_joint;

// Whether the distance of its anchors is an equation of its own: a target is one in its place, and an infinite length
// none.
static inline bool pp_joint_keeps_length(const pp_joint *joint)
{
    return !joint->target && !isinf(joint->length);
}

// Whether it acts on coordinates of other joints: it has no anchors, and a and b are bodies that it moves.
static inline bool pp_joint_couples(const pp_joint *joint)
{
    return joint->kind == PERP_JOINT_GEAR || joint->kind == PERP_JOINT_COUPLING;
}

// Most joints of a coupling, and most free bodies that they move: constraint/ has rows of so many.
enum { PP_COUPLING_TERMS = 16, PP_COUPLING_BODIES = 8 };

// A force element. A wrench and a drag act on b alone.
typedef struct pp_force {
    const char *name;
    perp_force_kind kind;
    int a, b;
    perp_vec3 r_A, r_B;  // anchors in the body frames [m]
    // A wrench [N, N m], in world axes or in those of b (body_axes); NULL: 0.
    const pp_expr *f[3], *torque[3];
    // isotropic: the damper acts on the whole relative velocity; implicit: evaluated at the end of a
    // step.
    bool body_axes, isotropic, implicit;
    // Springs [N/m, N s/m, m], twist springs [N m, N m s, rad], drag [N s/m, N m s].
    double stiffness, damping, rest, damping_w;
} pp_force;

// A number that is held over a step: set from outside, or the value of its source.
typedef struct pp_input {
    const char *name, *unit;  // unit: NULL where there is none
    double value;             // at the start
    double lower, upper;
    const pp_expr *source;  // NULL: set from outside. Variables: t, then q and dq of every joint
} pp_input;

// Effort gear f along the coordinate x of a joint:                                      theory (A1)
//
//   f = gain c + bias_0 + bias_1 l + bias_2 l',  lower <= f <= upper,  l = gear x
typedef struct pp_actuator {
    const char *name;
    perp_actuator_kind kind;
    int joint;
    int next;                // actuator of the joint, its number + 1; 0: none
    const pp_expr *control;  // c, a function of t and of the inputs
    double gear, gain, bias[3];
    double lower, upper;
    double time_constant;  // of the filter of c [s]; 0: none
    double damping_ratio;  // that bias_2 follows from; negative: bias_2 is as given
} pp_actuator;

// Definitions that a model keeps as they were given.
typedef enum pp_def_kind {
    PP_DEF_BODY,
    PP_DEF_SHAPE,
    PP_DEF_PAIR,
    PP_DEF_CONTACT,
    PP_DEF_JOINT,
    PP_DEF_FORCE,
    PP_DEF_INPUT,
    PP_DEF_ACTUATOR,
    PP_DEF_SITE,
    PP_DEF_SENSOR,
    PP_DEF_VISUAL,
    PP_DEF_KINDS,
} pp_def_kind;

// Named states. What they set is in lists of all keyframes of the model.
typedef struct pp_keyframe {
    const char *name;
    double t;
} pp_keyframe;

typedef struct pp_keyframe_joint {
    int keyframe, joint;
    bool placed, moving;  // position, rate are given
    double position[PERP_JOINT_MAX_COORDINATES], rate[3];
} pp_keyframe_joint;

typedef struct pp_keyframe_body {
    int keyframe, body;
    perp_vec3 p;      // of the centre of mass in the model, of the given frame in a builder
    perp_vec3 given;  // of the given frame
    double angle;
    perp_quat rot;
    perp_vec3 v, w;
} pp_keyframe_body;

typedef struct pp_keyframe_input {
    int keyframe, input;
    double value;
} pp_keyframe_input;

// A frame fixed to a body, and the region about it that touch sensors watch.
typedef struct pp_site {
    const char *name;
    int body;
    pp_pose X_BS;
    perp_quat rot_BS;
    double angle;    // planar [rad]
    double radius;   // of a sphere; 0: none [m]
    perp_vec3 half;  // of a box; 0: none [m]
} pp_site;

// Values [at, at + size) of those of all sensors. S is the site or, where site is -1, the frame of the body.
typedef struct pp_sensor {
    const char *name;
    perp_sensor_kind kind;
    int joint, actuator, site, body;  // -1: none
    perp_vec3 axis_S;                 // unit; of a ray
    double max_range;                 // [m]
    int at, size;
    const char *unit;
} pp_sensor;

// Everything is in the arena of the model.
struct perp_model {
    perp_env env;
    pp_arena *arena;  // everything below
    bool spatial;
    perp_vec3 gravity;
    double gravity_most;  // the largest weight of a free body per mass [m/s^2]
    bool listed_only;     // no contacts but the listed ones
    int bodies, shapes, pairs, listed, joints, forces, exclusions, inputs, actuators;
    int sites, sensors, sensor_values, visuals;
    int nv, nq;  // unknown velocities and positions
    pp_body *body;
    pp_shape *shape;
    pp_shape *visual;  // shapes that are only shown: no part of the step looks at them
    pp_pair_rule *pair;
    pp_listed *contact;
    pp_body_pair *exclusion;
    pp_joint *joint;
    pp_force *force;
    pp_input *input;
    pp_actuator *actuator;
    int keyframes, keyframe_joints, keyframe_bodies, keyframe_inputs;
    pp_keyframe *keyframe;
    pp_keyframe_joint *keyframe_joint;
    pp_keyframe_body *keyframe_body;
    pp_keyframe_input *keyframe_input;
    pp_site *site;
    pp_sensor *sensor;
    uint64_t fingerprint;  // of what moves and how: names, masses, joints, actuators
    double length_scale;   // of the largest shape [m]: for tolerances
    double skin;           // between two shapes without an inside [m], pp_skin()
    // Definitions in the order in which they were added, perp_body_def and so on; texts of the sources of inputs.
    const void *def[PP_DEF_KINDS];
    int defs[PP_DEF_KINDS];
    const char **source;
    // Of a model that a sim has for itself (change.c); otherwise NULL.
    pp_steady *steady;  // bodies
    pp_expr **number;   // joints: room for a rate that is set
    pp_expr **line;     // joints: room for a target that is set
    pp_pair_exclusions meet;
};

// Distance at which two shapes touch [m]: 0 where one of them has an inside. A point or segment and a segment have none:
// only which side of the segment the other is on shows which side it came from, so they are kept apart. The distance is
// the same for all of a model, or there would be steps where segments of different lengths meet.      theory (P21)
static inline double pp_skin(const perp_model *model, int a, int b)
{
    perp_shape_kind ka = model->shape[a].kind, kb = model->shape[b].kind;
    bool thin_a = ka == PERP_SHAPE_POINT || ka == PERP_SHAPE_SEGMENT;
    bool thin_b = kb == PERP_SHAPE_POINT || kb == PERP_SHAPE_SEGMENT;
    return thin_a && thin_b ? model->skin : 0.0;
}

// The acceleration that gravity gives to a body [m/s^2], in world axes.
static inline perp_vec3 pp_body_gravity(const perp_model *model, const pp_body *body)
{
    return pp_scale(body->gravity_scale, model->gravity);
}

// Coefficients of a pair of shapes of a builder, combined from both, into the definition of a rule.
void pp_builder_combine(const perp_builder *builder, perp_pair_def *def);

// Whether a body of a builder has the mass it needs, or gets it from its shapes; otherwise the
// reason.
perp_status pp_builder_mass_properties(const perp_builder *builder, perp_body body,
                                       perp_error *error);

// Numbers of coordinates and rates by which a joint carries a body; both 0: it does not, or it is a weld. *angles: bit k:
// coordinate k is an angle.
void pp_joint_carries(bool spatial, perp_joint_kind kind, int *nq, int *nv, unsigned *angles);
// The same of a joint of a builder.
void pp_builder_joint_carries(const perp_builder *builder, perp_joint joint, int *nq, int *nv,
                              unsigned *angles);
// Whether the joints of a keyframe form no loop, and its bodies can be placed; otherwise the reason.
perp_status pp_builder_keyframe_status(const perp_builder *builder, perp_keyframe keyframe,
                                       perp_error *error);

// ── Changes of a sim ─────────────────────────────────────────────────────────────────────────────

// What a sim has differently from its model. Values, in order:
//   gravity    x y z
//   shape      mu mu_spin mu_roll
//   pair       mu mu_2 mu_spin mu_roll of a rule;
//   contact    the same of a listed contact
//   actuator   gain bias_0 bias_1 bias_2 lower upper
//   joint      rate, largest effort
//   target     t0, coordinate then, rate: of a joint
//   body       t0, position, angle, quaternion, velocity, angular velocity
typedef enum pp_change_kind {
    PP_CHANGE_GRAVITY,
    PP_CHANGE_SHAPE,
    PP_CHANGE_PAIR,
    PP_CHANGE_CONTACT,
    PP_CHANGE_ACTUATOR,
    PP_CHANGE_JOINT,
    PP_CHANGE_BODY,
    PP_CHANGE_TARGET,
    PP_CHANGE_KINDS,
} pp_change_kind;

enum { PP_CHANGE_VALUES = 16 };

typedef struct pp_change {
    int32_t kind, object;  // object: its number in the model
    double value[PP_CHANGE_VALUES];
} pp_change;

// A copy of a model that may be changed, in the arena; it shares names, shapes and expressions with the model. NULL: no
// memory.
perp_model *pp_model_own(const perp_model *model, pp_arena *arena);
// What the model has there now; the kind and the object exist.
pp_change pp_model_read_change(const perp_model *model, pp_change_kind kind, int object);
// Whether a model has the object, and its values are such as a model may have; otherwise the reason.
perp_status pp_model_check_change(const perp_model *model, const pp_change *change,
                                  perp_error *error);
void pp_model_apply_change(perp_model *own, const pp_change *change);  // one more
// The copy `own` becomes the model again, with these changes, which were checked.
void pp_model_apply_changes(perp_model *own, const perp_model *model, const pp_change *change,
                            int count);
