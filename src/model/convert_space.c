// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Spatial definitions to model objects: solids, and the axes of joints.
#include "model/builder.h"

#include <math.h>

// Refuses NaN and infinity as well.
static bool positive(perp_builder *b, const pp_shape *shape, const char *field, double value)
{
    if (value > 0.0 && isfinite(value)) {
        return true;
    }
    return pp_builder_bad(b, PERP_ERR_MODEL, "shape '%s': %s must be positive, got %g", shape->name,
                          field, value);
}

// qhull reports its own reasons; all but lack of memory are faults of the model.
static bool convert_hull(perp_builder *b, const perp_shape_def *def, pp_shape *shape)
{
    perp_error error;
    if (!def->vertices_S || def->vertex_count < 4) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "shape '%s': a hull needs at least 4 vertices",
                              shape->name);
    }
    perp_status status =
        pp_hull_create(def->vertices_S, def->vertex_count, b->arena, &shape->solid.hull, &error);
    if (status < 0) {
        return pp_builder_bad(b, status == PERP_ERR_MEMORY ? status : PERP_ERR_MODEL,
                              "shape '%s': %s", shape->name, error.text);
    }
    return true;
}

// Surfaces that collide are for bodies that are not free: a surface has no volume, and so no mass.
static bool convert_mesh(perp_builder *b, const perp_shape_def *def, pp_shape *shape)
{
    perp_error error;
    perp_status status;
    const pp_body *bodies = b->bodies.items;
    bool heights = def->kind == PERP_SHAPE_HEIGHTFIELD;
    if (bodies[shape->body].drive == PERP_MOTION_DYNAMIC && !shape->visual) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "shape '%s': meshes and height fields are for fixed or driven "
                              "bodies; use hulls for a free body",
                              shape->name);
    }
    if (heights ? !def->heights : !def->vertices_S || !def->triangles) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "shape '%s': has no %s", shape->name,
                              heights ? "heights" : "vertices or triangles");
    }
    if (heights) {
        status = pp_mesh_heights(def->heights, def->grid_x, def->grid_y, def->half.x, def->half.y,
                                 b->arena, &shape->mesh, &error);
    } else {
        status = pp_mesh_create(def->vertices_S, def->vertex_count, def->triangles,
                                def->triangle_count, b->arena, &shape->mesh, &error);
    }
    // Everything but lack of memory is a fault of the mesh, and so of the model.
    if (status < 0) {
        return pp_builder_bad(b, status == PERP_ERR_MEMORY ? status : PERP_ERR_MODEL,
                              "shape '%s': %s", shape->name, error.text);
    }
    return true;
}

// Half extents and radii in the form of solid/ [m].
static bool convert_extent(perp_builder *b, const perp_shape_def *def, pp_shape *shape)
{
    pp_solid *solid = &shape->solid;
    solid->radius = def->radius;
    solid->half = def->half;
    switch (def->kind) {
    case PERP_SHAPE_POINT:  // a sphere of radius 0
        *solid = (pp_solid){.kind = PP_SOLID_SPHERE};
        return true;
    case PERP_SHAPE_SPHERE:
        solid->kind = PP_SOLID_SPHERE;
        return positive(b, shape, "radius", def->radius);
    case PERP_SHAPE_BOX:
    case PERP_SHAPE_ELLIPSOID:
        solid->kind = def->kind == PERP_SHAPE_BOX ? PP_SOLID_BOX : PP_SOLID_ELLIPSOID;
        return positive(b, shape, "half extent x", def->half.x) &&
               positive(b, shape, "half extent y", def->half.y) &&
               positive(b, shape, "half extent z", def->half.z);
    case PERP_SHAPE_CAPSULE:
    case PERP_SHAPE_CYLINDER:
    case PERP_SHAPE_CONE:
        solid->kind = PP_SOLID_CAPSULE;
        if (def->kind != PERP_SHAPE_CAPSULE) {
            solid->kind = def->kind == PERP_SHAPE_CYLINDER ? PP_SOLID_CYLINDER : PP_SOLID_CONE;
        }
        return positive(b, shape, "radius", def->radius) &&
               positive(b, shape, "half length z", def->half.z);
    case PERP_SHAPE_HULL:
        solid->kind = PP_SOLID_HULL;
        return convert_hull(b, def, shape);
    case PERP_SHAPE_HALFSPACE:
        solid->kind = PP_SOLID_HALFSPACE;
        return true;
    case PERP_SHAPE_HEIGHTFIELD:
    case PERP_SHAPE_MESH:
        return convert_mesh(b, def, shape);
    default:
        break;
    }
    return pp_builder_bad(b, PERP_ERR_MODEL, "shape '%s': kind %d is not spatial", shape->name,
                          (int)def->kind);
}

// X_BS is the pose of the shape in its body.
bool pp_convert_solid(perp_builder *b, const perp_shape_def *def, pp_shape *shape)
{
    double norm = pp_quat_norm(def->rotation_BS);
    if (!(norm > 0.999) || !(norm < 1.001)) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "shape '%s': rotation must be a quaternion of length 1, got %g",
                              shape->name, norm);
    }
    shape->X_BS = (pp_pose){def->position_B, pp_quat_matrix(pp_quat_unit(def->rotation_BS))};
    return convert_extent(b, def, shape);
}

// ── Joints ───────────────────────────────────────────────────────────────────────────────────────

// x rotated by an angle about the unit axis u.
static perp_vec3 turn_about(perp_vec3 u, double angle, perp_vec3 x)
{
    pp_mat3 R = pp_quat_matrix(pp_quat_exp(pp_scale(angle, u)));
    return pp_mul(&R, x);
}

// Axes of a joint. b's axis is where a's axis is at the start, unless the definition gives it. The
// coordinate is 0 at the start, except for `angle`. zero_A and zero_B are across the axes, and
// parallel where the coordinate is 0.
bool pp_convert_joint_axes(perp_builder *b, const perp_joint_def *def, pp_joint *joint)
{
    if (!b->spatial) {
        // other kinds have no axis: equal joints have equal fingerprints
        bool axis = def->kind == PERP_JOINT_PRISMATIC || def->kind == PERP_JOINT_POINT_ON_LINE;
        double angle = axis ? def->axis_angle : 0.0;
        joint->axis_A = (perp_vec3){pp_cos(angle), pp_sin(angle), 0.0};
        joint->r_A.z = joint->r_B.z = 0.0;
        return true;
    }
    // The same in space: what these kinds do does not depend on an axis.
    perp_joint_def plain = *def;
    if (def->kind == PERP_JOINT_SPHERICAL || def->kind == PERP_JOINT_WELD ||
        def->kind == PERP_JOINT_DISTANCE) {
        plain.axis_A = pp_vec(0.0, 0.0, 1.0);
        plain.axis_B = pp_vec(0.0, 0.0, 0.0);
        def = &plain;
    }
    // R_BA = R_B^T R_A at the start takes vectors of a to b.
    const pp_body *bodies = b->bodies.items;
    pp_mat3 A = pp_quat_matrix(bodies[joint->a].rot0), B = pp_quat_matrix(bodies[joint->b].rot0);
    if (!(pp_length(def->axis_A) > 0.0)) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "joint '%s': its axis is zero", joint->name);
    }
    joint->axis_A = pp_unit(def->axis_A, def->axis_A);
    bool given = pp_length(def->axis_B) > 0.0;
    perp_vec3 zero = pp_across(joint->axis_A);
    if (joint->kind == PERP_JOINT_UNIVERSAL) {
        if (given) {  // the angle is 0 where b's axis is at the start
            perp_vec3 d = pp_mul_t(&A, pp_mul(&B, pp_unit(def->axis_B, zero)));
            d = pp_along(d, -pp_dot3(d, joint->axis_A), joint->axis_A);
            if (!(pp_length(d) > 1e-6)) {
                return pp_builder_bad(b, PERP_ERR_MODEL,
                                      "joint '%s': the axes of a universal joint are parallel",
                                      joint->name);
            }
            zero = pp_unit(d, zero);
        }
        joint->axis_B = given ? pp_unit(def->axis_B, zero) : pp_mul_t(&B, pp_mul(&A, zero));
    } else {
        perp_vec3 start = pp_mul_t(&B, pp_mul(&A, joint->axis_A));
        joint->axis_B = given ? pp_unit(def->axis_B, start) : start;
    }
    joint->zero_B = pp_mul_t(&B, pp_mul(&A, zero));
    // Made perpendicular to b's axis, which need not be exactly parallel to a's.
    perp_vec3 across =
        pp_along(joint->zero_B, -pp_dot3(joint->zero_B, joint->axis_B), joint->axis_B);
    joint->zero_B = pp_unit(across, pp_across(joint->axis_B));
    joint->zero_A = turn_about(joint->axis_A, def->angle, zero);
    return true;
}
