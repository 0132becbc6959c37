// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Definitions to model objects: every rule that a user can break, each with a message that names
// the object. Conditions are written so that NaN fails: !(x >= 0).
#include "model/builder.h"

#include <math.h>
#include <string.h>

// -1 stands for none.
bool pp_builder_colour(int32_t colour)
{
    return colour >= -1 && colour <= 0xFFFFFF;
}

// Numbers of a body.
static bool check_body(perp_builder *b, const perp_body_def *def, const char *name)
{
    if (def->kind < PERP_BODY_PLANAR || def->kind > PERP_BODY_SPATIAL_PARTICLE) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "body '%s': unknown kind %d", name,
                              (int)def->kind);
    }
    if (def->motion < PERP_MOTION_DYNAMIC || def->motion > PERP_MOTION_KINEMATIC) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "body '%s': unknown drive %d", name,
                              (int)def->motion);
    }
    if (!pp_finite3(def->position_W) || !pp_finite3(def->velocity_W) || !isfinite(def->angle) ||
        !isfinite(def->spin) || !pp_finite3(def->omega_W)) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "body '%s': position or velocity is not finite",
                              name);
    }
    if (!(def->mass >= 0.0) || !isfinite(def->mass) || !(def->inertia_zz >= 0.0) ||
        !isfinite(def->inertia_zz)) {
        return pp_builder_bad(
            b, PERP_ERR_MODEL,
            "body '%s': mass and inertia must be positive, or 0 to compute them from densities",
            name);
    }
    if (def->massless &&
        (def->mass > 0.0 || def->inertia_zz > 0.0 || def->motion != PERP_MOTION_DYNAMIC ||
         (def->kind != PERP_BODY_PLANAR && def->kind != PERP_BODY_SPATIAL))) {
        return pp_builder_bad(
            b, PERP_ERR_MODEL,
            "body '%s': a massless body moves freely, turns, and has neither mass nor inertia",
            name);
    }
    if (!isfinite(def->gravity_scale)) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "body '%s': gravity_scale is not finite", name);
    }
    if (!pp_builder_colour(def->colour)) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "body '%s': colour must be 0xRRGGBB, or -1 for none", name);
    }
    // A quaternion of few decimals is normalised later; one farther off is more likely a mistake.
    // NaN fails as well.
    double norm = pp_quat_norm(def->rotation_WB);
    if (!(norm > 0.999) || !(norm < 1.001)) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "body '%s': rotation must be a quaternion of length 1, got %g", name,
                              norm);
    }
    return true;
}

// Shapes that the ground got before the first body decided: they must exist in that dimension.
static bool ground_fits(perp_builder *b, bool spatial)
{
    pp_shape *shape = b->shapes.items;
    for (int i = 0; i < b->shapes.count; i++) {
        perp_shape_kind kind = shape[i].given;
        if (!(spatial ? pp_kind_in_space(kind) && !shape[i].flat : pp_kind_in_plane(kind))) {
            return pp_builder_bad(b, PERP_ERR_MODEL, "shape '%s': is not %s, but the bodies are",
                                  shape[i].name, spatial ? "spatial" : "planar");
        }
        if (spatial) {
            shape[i].kind = kind;
        }
    }
    return true;
}

// A model is planar or spatial as a whole. The ground, the first body, becomes what the others are.
static bool same_space(perp_builder *b, const perp_body_def *def, const char *name)
{
    bool spatial = def->kind >= PERP_BODY_SPATIAL;
    // The ground itself decides nothing: it is added before the caller says anything.
    if (b->bodies.count == 1) {
        return true;
    }
    bool first = !b->spatial && !b->planar;
    b->spatial = b->spatial || spatial;
    b->planar = b->planar || !spatial;
    if (b->spatial && b->planar) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "body '%s': a model is either planar or spatial, and the previous "
                              "bodies are %s; use the same kind",
                              name, spatial ? "planar" : "spatial");
    }
    pp_body *ground = b->bodies.items;
    ground->kind = spatial ? PERP_BODY_SPATIAL : PERP_BODY_PLANAR;
    return !first || ground_fits(b, spatial);
}

// Expressions of t for the coordinates of a driven body [m, rad].
static bool convert_motions(perp_builder *b, const perp_body_def *def, pp_body *body)
{
    const char *texts[PP_MOTIONS] = {def->motion_x,  def->motion_y,  def->motion_z,
                                     def->motion_rx, def->motion_ry, def->motion_angle};
    static const char *const fields[PP_MOTIONS] = {"motion x",  "motion y",  "motion z",
                                                   "motion rx", "motion ry", "motion angle"};
    for (int k = 0; k < PP_MOTIONS; k++) {
        if (texts[k] && def->motion != PERP_MOTION_KINEMATIC) {
            return pp_builder_bad(
                b, PERP_ERR_MODEL,
                "body '%s': only a kinematic body can have a motion; set its drive", body->name);
        }
        bool lifts = k >= PP_BY_Z && k <= PP_BY_RY;  // leaves the plane
        if (texts[k] && lifts && !pp_body_is_spatial(body)) {
            return pp_builder_bad(b, PERP_ERR_MODEL,
                                  "body '%s': a planar body has no %s; it has x, y and angle",
                                  body->name, fields[k]);
        }
        if (!pp_builder_expr(b, body->name, fields[k], texts[k], 1, &body->motion[k])) {
            return false;
        }
    }
    return true;
}

// Velocities of each kind of body among (v, omega): a planar body has v_x, v_y and omega_z.
static void set_axes(pp_body *body)
{
    static const int planar[3] = {0, 1, 5};
    int count = 3;
    if (body->kind == PERP_BODY_PLANAR_PARTICLE) {
        count = 2;
    } else if (body->kind == PERP_BODY_SPATIAL) {
        count = 6;
    }
    for (int k = 0; k < count; k++) {
        body->axis[k] = body->kind == PERP_BODY_PLANAR ? planar[k] : k;
    }
    body->nv = body->drive == PERP_MOTION_DYNAMIC ? count : 0;
    body->nq =
        body->nv == 6 ? 7 : body->nv;  // a quaternion has a number more than an angular velocity
}

// Order of the definition: xx, yy, zz, xy, xz, yz.
static void set_inertia(const perp_body_def *def, pp_body *body)
{
    const double *I = def->inertia_B;
    if (body->kind == PERP_BODY_PLANAR) {
        body->I_B.m[8] = def->inertia_zz;
    } else if (body->kind == PERP_BODY_SPATIAL) {
        body->I_B = (pp_mat3){{I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2]}};
    }
}

// Planar bodies have z = 0, an angle and a spin about z; spatial ones a quaternion and omega in
// world axes. Particles do not turn.
bool pp_convert_body(perp_builder *b, const perp_body_def *def, pp_body *body)
{
    if (!check_body(b, def, body->name) || !same_space(b, def, body->name)) {
        return false;
    }
    body->kind = def->kind;
    body->drive = def->motion;
    body->mass = def->mass;
    body->massless = def->massless;
    body->gravity_scale = def->gravity_scale;
    body->colour = def->colour;
    body->recenter = def->recenter;
    body->p0 = def->position_W;
    body->rot0 = pp_quat_unit(def->rotation_WB);
    set_axes(body);
    set_inertia(def, body);
    if (pp_body_is_spatial(body)) {
        body->w0 = pp_body_turns(body) ? def->omega_W : (perp_vec3){0.0, 0.0, 0.0};
        body->v0 = def->velocity_W;
    } else {
        body->p0.z = 0.0;
        body->angle0 = def->angle;
        body->v0 = (perp_vec3){def->velocity_W.x, def->velocity_W.y, 0.0};
        body->w0.z = pp_body_turns(body) ? def->spin : 0.0;
    }
    return convert_motions(b, def, body);
}

// ── Shapes ───────────────────────────────────────────────────────────────────────────────────────

// Refuses NaN and infinity as well.
static bool positive(perp_builder *b, const pp_shape *shape, const char *field, double value)
{
    if (value > 0.0 && isfinite(value)) {
        return true;
    }
    return pp_builder_bad(b, PERP_ERR_MODEL, "shape '%s': %s must be positive, got %g", shape->name,
                          field, value);
}

// The vertex at which a polygon is not convex and counter-clockwise by more than rounding, or goes
// round more than once; -1: none. around sums the turning angles, 2 pi for one turn.
static int bad_vertex(const perp_vec3 *vertex, int count)
{
    double around = 0.0;
    for (int k = 0; k < count; k++) {
        perp_vec3 p = vertex[k], q = vertex[(k + 1) % count], r = vertex[(k + 2) % count];
        double dx = q.x - p.x, dy = q.y - p.y, fx = r.x - q.x, fy = r.y - q.y;
        double turn = dx * fy - dy * fx;
        around += pp_atan2(turn, dx * fx + dy * fy);
        // 7 is beyond 2 pi: a star goes round twice, with every corner convex
        if (!(turn > 1e-14 * pp_hypot(dx, dy) * pp_hypot(fx, fy)) || around > 7.0) {
            return (k + 1) % count;
        }
    }
    return -1;
}

// Vertices and outward normals in the body frame.
static bool convert_polygon(perp_builder *b, const perp_vec3 *vertices, int count, pp_shape *shape)
{
    pp_vec2 *vertex = PP_ARRAY(b->arena, pp_vec2, count),
            *normal = PP_ARRAY(b->arena, pp_vec2, count);
    if (!vertex || !normal) {
        return pp_builder_bad(b, PERP_ERR_MEMORY, "allocation failed");
    }
    for (int k = 0; k < count; k++) {
        if (!pp_finite3(vertices[k])) {
            return pp_builder_bad(b, PERP_ERR_MODEL, "shape '%s': vertex %d is not finite",
                                  shape->name, k);
        }
    }
    int bad = bad_vertex(vertices, count);
    if (bad >= 0) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "shape '%s': vertices must be convex and counter-clockwise; they are "
                              "not at vertex %d",
                              shape->name, bad);
    }
    // The outward normal of the side from vertex k to k + 1 is the side turned clockwise.
    pp_vec2 ex = shape->axis_B, ey = {-ex.y, ex.x};
    for (int k = 0; k < count; k++) {
        perp_vec3 p = vertices[k], q = vertices[(k + 1) % count];
        double dx = q.x - p.x, dy = q.y - p.y, length = pp_hypot(dx, dy);
        vertex[k].x = shape->p_BS.x + ex.x * p.x + ey.x * p.y;
        vertex[k].y = shape->p_BS.y + ex.y * p.x + ey.y * p.y;
        normal[k].x = ex.x * (dy / length) - ey.x * (dx / length);
        normal[k].y = ex.y * (dy / length) - ey.y * (dx / length);
    }
    shape->kind = PERP_SHAPE_POLYGON;
    shape->count = count;
    shape->vertex_B = vertex;
    shape->normal_B = normal;
    return true;
}

// Planar shapes as points, half-planes, discs, capsules, segments or convex polygons. Boxes become
// polygons.
static bool convert_outline(perp_builder *b, const perp_shape_def *def, pp_shape *shape)
{
    switch (def->kind) {
    case PERP_SHAPE_POINT:
    case PERP_SHAPE_HALFPLANE:
        return true;
    case PERP_SHAPE_DISC:
        shape->radius = def->radius;
        return positive(b, shape, "radius", def->radius);
    case PERP_SHAPE_BOX: {  // a polygon like any other, counter-clockwise
        double x = def->half.x, y = def->half.y;
        const perp_vec3 corners[4] = {{-x, -y, 0.0}, {x, -y, 0.0}, {x, y, 0.0}, {-x, y, 0.0}};
        return positive(b, shape, "half extent x", x) && positive(b, shape, "half extent y", y) &&
               convert_polygon(b, corners, 4, shape);
    }
    case PERP_SHAPE_POLYGON:
        if (!def->vertices_S || def->vertex_count < 3 || def->vertex_count > 256) {
            return pp_builder_bad(b, PERP_ERR_MODEL, "shape '%s': a polygon has 3 to 256 vertices",
                                  shape->name);
        }
        return convert_polygon(b, def->vertices_S, def->vertex_count, shape);
    case PERP_SHAPE_CAPSULE:
        shape->radius = def->radius;
        shape->half = def->half.x;
        return positive(b, shape, "radius", def->radius) &&
               positive(b, shape, "half length", def->half.x);
    case PERP_SHAPE_SEGMENT:
        shape->half = def->half.x;
        return positive(b, shape, "half length", def->half.x);
    default:
        break;
    }
    return pp_builder_bad(b, PERP_ERR_MODEL, "shape '%s': kind %d is not planar", shape->name,
                          (int)def->kind);
}

// Velocities of a moving surface (a conveyor belt) as expressions of t [m/s, rad/s].
static bool convert_surface(perp_builder *b, const perp_shape_def *def, bool plane, bool space,
                            pp_shape *shape)
{
    const char *texts[4] = {def->surface_x, def->surface_y, def->surface_z, def->surface_spin};
    static const char *const fields[4] = {"surface x", "surface y", "surface z", "surface spin"};
    for (int k = 0; k < 4; k++) {
        if (texts[k] && !space) {
            return pp_builder_bad(b, PERP_ERR_MODEL,
                                  "shape '%s': a planar surface has surface_speed only",
                                  shape->name);
        }
        if (!pp_builder_expr(b, shape->name, fields[k], texts[k], 1, &shape->surface[k])) {
            return false;
        }
    }
    if (def->surface_speed && !plane) {
        return pp_builder_bad(
            b, PERP_ERR_MODEL,
            "shape '%s': a spatial surface has surface_x, surface_y, surface_z and surface_spin",
            shape->name);
    }
    return pp_builder_expr(b, shape->name, "surface speed", def->surface_speed, 1,
                           &shape->surface_speed);
}

// The order of perp_shape_kind: planar kinds first, then spatial ones.
bool pp_kind_in_plane(perp_shape_kind kind)
{
    return kind <= PERP_SHAPE_HALFPLANE;
}

bool pp_kind_in_space(perp_shape_kind kind)
{
    return kind >= PERP_SHAPE_SPHERE || kind == PERP_SHAPE_POINT || kind == PERP_SHAPE_BOX ||
           kind == PERP_SHAPE_CAPSULE;
}

// The ground may get shapes before the first body decides between plane and space. They are then
// converted for both, where that is possible.
bool pp_convert_shape(perp_builder *b, int body, const perp_shape_def *def, pp_shape *shape)
{
    if (!pp_finite3(def->position_B) || !isfinite(def->angle)) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "shape '%s': its position is not finite",
                              shape->name);
    }
    if (!(def->mu >= 0.0) || !isfinite(def->mu)) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "shape '%s': mu must be >= 0, got %g", shape->name,
                              def->mu);
    }
    if (!(def->restitution >= 0.0) || !(def->restitution <= 1.0)) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "shape '%s': restitution must be between 0 and 1, got %g",
                              shape->name, def->restitution);
    }
    if (!(def->mu_spin >= 0.0) || !isfinite(def->mu_spin) || !(def->mu_roll >= 0.0) ||
        !isfinite(def->mu_roll) || !pp_builder_facets(def->facets)) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "shape '%s': mu_spin and mu_roll must be >= 0, facets 0 or 3 to 256",
                              shape->name);
    }
    if (!(def->density >= 0.0) || !isfinite(def->density)) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "shape '%s': density must be >= 0", shape->name);
    }
    if (def->combine < PERP_COMBINE_DEFAULT || def->combine > PERP_COMBINE_MAX) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "shape '%s': unknown rule %d of combine",
                              shape->name, (int)def->combine);
    }
    if (!pp_builder_colour(def->colour)) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "shape '%s': colour must be 0xRRGGBB, or -1 for that of the body",
                              shape->name);
    }
    shape->body = body;
    shape->kind = shape->given = def->kind;
    shape->p_BS = (pp_vec2){def->position_B.x, def->position_B.y};
    shape->axis_B = (pp_vec2){pp_cos(def->angle), pp_sin(def->angle)};
    shape->mu = def->mu;
    shape->restitution = def->restitution;
    shape->detect = def->detect;
    shape->mu_spin = def->mu_spin;
    shape->mu_roll = def->mu_roll;
    shape->facets = def->facets;
    shape->combine = def->combine;
    shape->priority = def->priority;
    shape->group = def->group;
    shape->mask = def->mask;
    shape->hidden = def->hidden;
    const pp_body *owner = (const pp_body *)b->bodies.items + body;
    shape->colour = def->colour >= 0 ? def->colour : owner->colour;
    // Both members are filled where both may be needed.
    bool in_space = b->spatial || !b->planar, in_plane = b->planar || !b->spatial;
    if (!b->spatial && !b->planar) {  // a shape of the ground, before the first body
        // A box or capsule without depth can only be planar.
        in_space = pp_kind_in_space(def->kind);
        in_plane = pp_kind_in_plane(def->kind);
        shape->flat = in_plane && in_space && def->kind != PERP_SHAPE_POINT && !(def->half.z > 0.0);
        in_space = in_space && !shape->flat;
    }
    return (!in_plane || convert_outline(b, def, shape)) &&
           (!in_space || pp_convert_solid(b, def, shape)) &&
           convert_surface(b, def, in_plane, in_space, shape);
}

// ── Joints and forces ────────────────────────────────────────────────────────────────────────────

// The ground counts as a body.
static bool two_bodies(perp_builder *b, const char *what, const char *name, perp_body a,
                       perp_body c)
{
    int count = b->bodies.count;
    if (a.i < 0 || a.i >= count || c.i < 0 || c.i >= count || a.i == c.i) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "%s '%s': needs two different bodies, got %d and %d", what, name, a.i,
                              c.i);
    }
    return true;
}

// Particles have no orientation.
static bool has_rotation(const perp_builder *b, int body)
{
    const pp_body *bodies = b->bodies.items;
    return pp_body_turns(&bodies[body]);
}

// Whether a joint has equations about orientations.
static bool couples_angles(const perp_builder *b, perp_joint_kind kind)
{
    switch (kind) {
    case PERP_JOINT_REVOLUTE:
        return b->spatial;
    case PERP_JOINT_DISTANCE:
    case PERP_JOINT_POINT_ON_LINE:
    case PERP_JOINT_GEAR:
    case PERP_JOINT_SPHERICAL:
        return false;
    default:
        return true;
    }
}

// A gear couples the coordinates of two joints before it, so that gears form no cycles. Its bodies
// are the second bodies of these joints.
static bool convert_gear(perp_builder *b, const perp_joint_def *def, pp_joint *joint)
{
    int count = b->joints.count - 1;  // the gear itself is the last
    if (def->joint_a.i < 0 || def->joint_a.i >= count || def->joint_b.i < 0 ||
        def->joint_b.i >= count || def->joint_a.i == def->joint_b.i) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "joint '%s': a gear couples two different joints defined before it",
                              joint->name);
    }
    const pp_joint *joints = b->joints.items;
    if (joints[def->joint_a.i].kind == PERP_JOINT_GEAR ||
        joints[def->joint_b.i].kind == PERP_JOINT_GEAR ||
        joints[def->joint_a.i].kind == PERP_JOINT_WELD ||
        joints[def->joint_b.i].kind == PERP_JOINT_WELD ||
        joints[def->joint_a.i].kind == PERP_JOINT_SPHERICAL ||
        joints[def->joint_b.i].kind == PERP_JOINT_SPHERICAL) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "joint '%s': a gear needs joints with a coordinate", joint->name);
    }
    // For islands and exclusions a gear acts on the bodies that its joints move.
    joint->joint_a = def->joint_a.i;
    joint->joint_b = def->joint_b.i;
    joint->ratio = def->ratio;
    joint->a = joints[joint->joint_a].b;
    joint->b = joints[joint->joint_b].b;
    return true;
}

// Ranges of all numbers of a joint, and whether its kind has a coordinate for what acts on it.
static bool check_joint_numbers(perp_builder *b, const perp_joint_def *def, const pp_joint *joint)
{
    if (!pp_finite3(def->anchor_A) || !pp_finite3(def->anchor_B) || !isfinite(def->axis_angle) ||
        !isfinite(def->angle) || isnan(def->length) || !isfinite(def->ratio) ||
        !pp_finite3(def->axis_A) || !pp_finite3(def->axis_B) || !isfinite(def->pitch) ||
        !isfinite(def->rest)) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "joint '%s': a number is not finite", joint->name);
    }
    if (!(def->stiffness >= 0.0) || !(def->damping >= 0.0) || !isfinite(def->stiffness) ||
        !isfinite(def->damping)) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "joint '%s': stiffness and damping must be >= 0",
                              joint->name);
    }
    if (!(def->armature >= 0.0) || !isfinite(def->armature)) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "joint '%s': the armature must be >= 0",
                              joint->name);
    }
    bool turns_one = def->kind == PERP_JOINT_REVOLUTE || def->kind == PERP_JOINT_PRISMATIC ||
                     def->kind == PERP_JOINT_SCREW;
    if (def->armature > 0.0 && !turns_one) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "joint '%s': only revolute, prismatic and screw joints have an "
                              "armature",
                              joint->name);
    }
    if (!(def->limit_restitution >= 0.0) || !(def->limit_restitution <= 1.0)) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "joint '%s': restitution of a limit must be between 0 and 1",
                              joint->name);
    }
    if (!(def->rate_effort >= 0.0) || !(def->friction >= 0.0) || !isfinite(def->friction) ||
        isnan(def->lower) || isnan(def->upper)) {
        return pp_builder_bad(
            b, PERP_ERR_MODEL,
            "joint '%s': effort and friction must be >= 0, limits must be numbers", joint->name);
    }
    if (def->kind == PERP_JOINT_DISTANCE && !def->target && !(def->length > 0.0)) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "joint '%s': length must be positive",
                              joint->name);
    }
    // Everything that acts along the coordinate needs one. Limits are off where lower > upper.
    bool needs = def->target || def->rate || def->friction > 0.0 || def->lower <= def->upper ||
                 def->stiffness > 0.0 || def->damping > 0.0 || def->armature > 0.0;
    if (needs && (def->kind == PERP_JOINT_WELD || def->kind == PERP_JOINT_GEAR)) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "joint '%s': a weld or gear has no coordinate to drive or limit",
                              joint->name);
    }
    if (def->armature > 0.0 && def->kind == PERP_JOINT_COUPLING) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "joint '%s': a coupling has no armature; give it to its joints",
                              joint->name);
    }
    if (def->kind == PERP_JOINT_COUPLING && def->velocity &&
        (def->target || def->lower <= def->upper || def->stiffness > 0.0)) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "joint '%s': a coupling of velocities has no position for a target, "
                              "limits or a spring; use rate, friction or damping, or give a "
                              "coordinate instead of the velocity",
                              joint->name);
    }
    if (def->target && def->rate) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "joint '%s': target and rate prescribe the same coordinate; remove "
                              "one of them",
                              joint->name);
    }
    if (!def->rate && isfinite(def->rate_effort)) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "joint '%s': rate_effort limits a rate, and there is none; add a "
                              "rate, or use a position actuator with an effort for a target",
                              joint->name);
    }
    // A motor of limited effort, or nothing to hold, leaves nothing to stabilise.
    bool holds = def->target || (def->rate && !isfinite(def->rate_effort));
    if (!(def->epsilon >= 0.0) || !isfinite(def->epsilon) || (def->epsilon > 0.0 && !holds)) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "joint '%s': epsilon is a time >= 0 for a joint with a target, or a "
                              "rate without rate_effort",
                              joint->name);
    }
    if (needs && def->kind == PERP_JOINT_SPHERICAL) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "joint '%s': a spherical joint has no coordinate; to drive or limit "
                              "it, add a joint of kind angle with the axis",
                              joint->name);
    }
    return true;
}

// What acts along the coordinate of a joint.
static bool convert_coordinate(perp_builder *b, const perp_joint_def *def, pp_joint *joint)
{
    joint->stiffness = def->stiffness;
    joint->damping = def->damping;
    joint->rest = def->rest;
    joint->armature = def->armature;
    joint->epsilon = def->epsilon;
    joint->rate_effort = def->rate_effort;
    joint->friction = def->friction;
    joint->lower = def->lower;
    joint->upper = def->upper;
    joint->limit_restitution = def->limit_restitution;
    return pp_builder_expr(b, joint->name, "target", def->target, 1, &joint->target) &&
           pp_builder_expr_of_inputs(b, joint->name, "rate", def->rate, 1, &joint->rate);
}

// Numbers first, then bodies, then axes and expressions.
bool pp_convert_joint(perp_builder *b, const perp_joint_def *def, pp_joint *joint)
{
    joint->kind = def->kind;
    joint->joint_a = joint->joint_b = -1;
    if (def->kind < PERP_JOINT_REVOLUTE || def->kind > PERP_JOINT_COUPLING) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "joint '%s': unknown kind %d", joint->name,
                              (int)def->kind);
    }
    if (def->collide < PERP_COLLIDE_RULE || def->collide > PERP_COLLIDE_ALWAYS) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "joint '%s': unknown value %d of collide",
                              joint->name, (int)def->collide);
    }
    if (!check_joint_numbers(b, def, joint)) {
        return false;
    }
    if (def->kind == PERP_JOINT_GEAR) {
        return convert_gear(b, def, joint);
    }
    if (def->kind == PERP_JOINT_COUPLING) {
        return pp_convert_coupling(b, def, joint) && convert_coordinate(b, def, joint);
    }
    if (!two_bodies(b, "joint", joint->name, def->a, def->b)) {
        return false;
    }
    // A particle has no orientation, so that equations about orientations would be empty.
    if (couples_angles(b, def->kind) &&
        (!has_rotation(b, def->a.i) || !has_rotation(b, def->b.i))) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "joint '%s': a particle has no rotation to couple",
                              joint->name);
    }
    joint->a = def->a.i;
    joint->b = def->b.i;
    joint->r_A = def->anchor_A;
    joint->r_B = def->anchor_B;
    joint->angle = def->angle;
    joint->pitch = def->pitch;
    joint->collide = def->collide;
    joint->length = def->length;
    return pp_convert_joint_axes(b, def, joint) && convert_coordinate(b, def, joint);
}

// Springs act between a and b, drag on b or between both, other forces on b alone.
bool pp_convert_force(perp_builder *b, const perp_force_def *def, pp_force *force)
{
    int count = b->bodies.count;
    bool spring = def->kind == PERP_FORCE_SPRING || def->kind == PERP_FORCE_TORSION_SPRING;
    if (def->kind < PERP_FORCE_WRENCH || def->kind > PERP_FORCE_DRAG) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "force '%s': unknown kind %d", force->name,
                              (int)def->kind);
    }
    bool between = spring || (def->kind == PERP_FORCE_DRAG && def->a.i != 0);
    if (between && !two_bodies(b, "force", force->name, def->a, def->b)) {
        return false;
    }
    if (def->b.i < 0 || def->b.i >= count) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "force '%s': body %d does not exist", force->name,
                              def->b.i);
    }
    if (!(def->stiffness >= 0.0) || !(def->damping >= 0.0) || !(def->damping_w >= 0.0) ||
        !isfinite(def->stiffness) || !isfinite(def->damping) || !isfinite(def->damping_w) ||
        !isfinite(def->rest) || !pp_finite3(def->anchor_A) || !pp_finite3(def->anchor_B)) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "force '%s': stiffness and damping must be >= 0, anchors finite",
                              force->name);
    }
    if (between && !spring &&
        (def->damping > 0.0 || !has_rotation(b, def->a.i) || !has_rotation(b, def->b.i))) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "force '%s': drag between two bodies has damping_w alone, and acts "
                              "between bodies that can rotate",
                              force->name);
    }
    // In space the angle between two bodies is only defined about the axis of a joint.
    if (def->kind == PERP_FORCE_TORSION_SPRING && b->spatial) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "force '%s': in 3D a torsion spring belongs to a joint: set "
                              "stiffness and damping of the joint",
                              force->name);
    }
    if (def->isotropic && (def->kind != PERP_FORCE_SPRING || def->implicit)) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "force '%s': only explicit springs can have an isotropic damper",
                              force->name);
    }
    if (def->implicit && def->kind == PERP_FORCE_WRENCH) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "force '%s': only springs and drag can be implicit", force->name);
    }
    force->kind = def->kind;
    force->a = between ? def->a.i : 0;
    force->b = def->b.i;
    force->r_A = def->anchor_A;
    force->r_B = def->anchor_B;
    if (!b->spatial) {
        force->r_A.z = force->r_B.z = 0.0;
    }
    force->body_axes = def->body_axes;
    force->isotropic = def->isotropic;
    force->implicit = def->implicit;
    force->stiffness = def->stiffness;
    force->damping = def->damping;
    force->rest = def->rest;
    force->damping_w = def->damping_w;
    // Components in world axes, or in the axes of b with body_axes [N, N m].
    const char *texts[6] = {def->fx, def->fy, def->fz, def->tx, def->ty, def->torque};
    static const char *const fields[6] = {"fx", "fy", "fz", "tx", "ty", "torque"};
    for (int k = 0; k < 6; k++) {
        const pp_expr **to = k < 3 ? &force->f[k] : &force->torque[k - 3];
        if (texts[k] && k >= 2 && k <= 4 && !b->spatial) {
            return pp_builder_bad(b, PERP_ERR_MODEL,
                                  "force '%s': a planar force has no %s, only fx, fy and torque",
                                  force->name, fields[k]);
        }
        if (!pp_builder_expr_of_inputs(b, force->name, fields[k], texts[k],
                                       b->spatial ? PP_SPATIAL_VARS : PP_PLANAR_VARS, to)) {
            return false;
        }
    }
    return true;
}
