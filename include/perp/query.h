// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Questions about a sim between steps: rays, distances and overlaps of shapes where the bodies are now, contact forces,
// Jacobians, and inverse dynamics. They do not change the sim; several threads may ask at the same time while no step
// is under way. In the plane, z of all arguments is ignored and z of all results is 0, except for moments.
#pragma once

#include <perp/base.h>
#include <perp/model.h>
#include <perp/sim.h>
#include <perp/types.h>

// ── Rays ─────────────────────────────────────────────────────────────────────────────────────────

typedef struct perp_ray {
    perp_vec3 origin_W;     // [m]
    perp_vec3 direction_W;  // any length except 0
    double max_distance;    // [m]; default INFINITY
    uint32_t mask;   // only shapes whose group has a bit of it; default UINT32_MAX: all shapes
    perp_body skip;  // ignore the shapes of this body; default {-1}: none
} perp_ray;

// The nearest shape on a ray. A solid or area that contains the origin is hit at distance 0 with `inside` and the
// normal opposite to the direction. Triangles of meshes and height fields are hit from both sides, with their outward
// normal; `inside`: from behind. A planar segment is hit from both sides, with the normal of the side that is hit; a
// ray along it does not hit it. Points are never hit. Shapes with detect = false are included.
typedef struct perp_hit {
    perp_shape shape;    // {-1}: nothing is hit, and all else is 0
    double distance;     // from the origin [m]
    perp_vec3 point_W;   // [m]
    perp_vec3 normal_W;  // unit, outward
    bool inside;
} perp_hit;

PERP_API perp_ray perp_ray_default(void);
// PERP_ERR_ARGUMENT: a zero direction, a number that is not finite, or a negative max_distance. Equal distances: the
// shape with the lowest index. Does not allocate.
PERP_API PERP_MUST perp_status perp_sim_ray(const perp_sim *sim, const perp_ray *ray,
                                            perp_hit *hit);
// Many rays at once, with a tree of bounding boxes that is built once. On an error no hit is written.
PERP_API PERP_MUST perp_status perp_sim_rays(const perp_sim *sim, const perp_ray *rays, int count,
                                             perp_hit *hits);

// ── Distances and overlaps ───────────────────────────────────────────────────────────────────────

// The signed distance of two shapes: positive if they are apart, negative if they overlap (then the length of the
// shortest translation that separates them).
typedef struct perp_distance {
    double distance;      // [m]
    perp_vec3 point_A_W;  // closest points on a and b:
    perp_vec3 point_B_W;  // point_B = point_A + distance * normal [m]
    perp_vec3 normal_W;   // unit, from a to b
} perp_distance;

// Groups, masks and exclusions do not matter. PERP_ERR_ARGUMENT: a shape does not exist, both are the same, or neither
// is convex and bounded (half-plane, half-space, mesh, height field). A shape that is completely behind the surface of
// a mesh or height field has the distance -INFINITY, without points.
PERP_API PERP_MUST perp_status perp_sim_distance(const perp_sim *sim, perp_shape a, perp_shape b,
                                                 perp_distance *out);

// A shape that is not part of the model, to be tested against those that are.
typedef struct perp_probe {
    const perp_shape_def *shape;  // position_B, angle and rotation_BS are relative to X_WB
    perp_pose X_WB;               // default: identity
    double margin;                // shapes at a distance up to this are reported [m]; default 0
    uint32_t mask;   // only shapes whose group has a bit of it; default UINT32_MAX: all shapes
    perp_body skip;  // ignore the shapes of this body; default {-1}: none
} perp_probe;

PERP_API perp_probe perp_probe_default(void);
// The shapes that the probe touches or overlaps, in increasing order: the first `capacity` of them in list, their number
// in *count, which may be larger. Pairs without a distance (perp_sim_distance) are not reported. error: why the
// definition of the shape is invalid; may be NULL.
PERP_API PERP_MUST perp_status perp_sim_overlap(const perp_sim *sim, const perp_probe *probe,
                                                perp_shape *list, int capacity, int *count,
                                                perp_error *error);

// ── Forces ───────────────────────────────────────────────────────────────────────────────────────

// Mean forces of a contact on shape b over the last step: its impulses divided by the length of the step. If the step
// was divided into parts, and with PERP_STEPPER_EVENT, a contact has the sum of the impulses of all parts, so that an
// impact is distributed over the whole step.
typedef struct perp_contact_force {
    double normal;         // along normal_W of the contact [N]
    perp_vec3 friction_W;  // [N]
    perp_vec3 force_W;     // sum of both [N]
    perp_vec3 moment_W;    // of torsional and rolling friction [N m]
} perp_contact_force;

// contact: index in perp_sim_contacts; zero if there is no such contact.
PERP_API perp_contact_force perp_sim_contact_force(const perp_sim *sim, int contact);
// The mean force of all contacts on a body over the last step, and their torque about its centre of mass. Arms are
// those of the step: from where the centre of mass was when the contacts acted; if the step was divided and with
// PERP_STEPPER_EVENT, from where it is now.
PERP_API perp_wrench perp_sim_contact_wrench(const perp_sim *sim, perp_body body);

// ── Jacobians and inverse dynamics ───────────────────────────────────────────────────────────────
// nu and its order are those of perp_sim_state_get: velocities of the bodies, in every choice of coordinates.
// perp/tree.h has the same in joint coordinates.

// Velocity of a point of a body and angular velocity of the body, in world axes: (v, omega) = J nu + rate. J: 6 x nv,
// column-major; rows vx vy vz wx wy wz, also in the plane. rate: the contribution of a kinematic body; may be NULL.
PERP_API PERP_MUST perp_status perp_sim_point_jacobian(const perp_sim *sim, perp_body body,
                                                       perp_vec3 point_B, double *J,
                                                       perp_twist *rate);
// The generalized forces f (nv) that the accelerations nu_dot (nv) require at the current state, beyond what acts
// already:
//   f = M nu_dot + omega x I omega - gravity - force elements - contact forces of the last step (mean).
// They are what joints, with their drives, springs, armatures and actuators, and applied wrenches have to supply. Before the first
// step there are no contact forces.
PERP_API PERP_MUST perp_status perp_sim_inverse_dynamics(const perp_sim *sim, const double *nu_dot,
                                                         double *f);
