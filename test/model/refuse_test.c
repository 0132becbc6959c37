// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Definitions that break a rule: the message names the object and the rule, the handle is {-1}, and no model is
// made. Each statement breaks one rule of a definition that is right otherwise.
#include "support/cmocka.h"

#include <math.h>
#include <perp/perp.h>
#include <string.h>

#define NOT_A_NUMBER ((double)NAN)
#define ENDLESS      ((double)INFINITY)

static perp_builder *b;
static perp_body bar, rod, dot, wall;  // two bodies, a particle, a kinematic body
static perp_shape ball, stone;         // of bar and rod
static perp_joint pin;                 // between them

static perp_body add_body(const char *name, perp_body_kind kind, perp_motion motion)
{
    perp_body_def def = perp_body_default();
    def.name = name;
    def.kind = kind;
    def.motion = motion;
    def.mass = def.inertia_zz = 1.0;
    def.inertia_B[0] = def.inertia_B[1] = def.inertia_B[2] = 1.0;
    return perp_builder_add_body(b, &def);
}

static void open_builder(bool spatial)
{
    perp_body_kind body = spatial ? PERP_BODY_SPATIAL : PERP_BODY_PLANAR,
                   point = spatial ? PERP_BODY_SPATIAL_PARTICLE : PERP_BODY_PLANAR_PARTICLE;
    b = perp_builder_create(NULL);
    bar = add_body("bar", body, PERP_MOTION_DYNAMIC);
    rod = add_body("rod", body, PERP_MOTION_DYNAMIC);
    dot = add_body("dot", point, PERP_MOTION_DYNAMIC);
    wall = add_body("wall", body, PERP_MOTION_KINEMATIC);
    perp_shape_def shape = perp_shape_default();
    shape.kind = spatial ? PERP_SHAPE_SPHERE : PERP_SHAPE_DISC;
    shape.radius = 0.1;
    shape.name = "ball";
    ball = perp_builder_add_shape(b, bar, &shape);
    shape.name = "stone";
    stone = perp_builder_add_shape(b, rod, &shape);
    perp_joint_def joint = perp_joint_default();
    joint.name = "pin";
    joint.a = bar;
    joint.b = rod;
    pin = perp_builder_add_joint(b, &joint);
    assert_int_equal(perp_builder_status(b, NULL), PERP_OK);
}

// The error of the builder is this text, and perp_model_create repeats it.
static void expect(const char *text, perp_status status)
{
    perp_error first = {0}, again = {0};
    perp_model *model = NULL;
    assert_int_equal(perp_builder_status(b, &first), status);
    assert_string_equal(first.text, text);
    assert_int_equal(perp_model_create(b, &model, &again), status);
    assert_null(model);
    assert_string_equal(again.text, text);
    perp_builder_destroy(b);
}

// SPATIAL: whether the other bodies are; TEXT: the message; what follows sets the fields of `def`.
#define BODY(spatial, text, ...)                                                                   \
    do {                                                                                           \
        open_builder(spatial);                                                                     \
        perp_body_def def = perp_body_default();                                                   \
        def.name = "x";                                                                            \
        def.kind = (spatial) ? PERP_BODY_SPATIAL : PERP_BODY_PLANAR;                               \
        def.mass = def.inertia_zz = 1.0;                                                           \
        __VA_ARGS__;                                                                               \
        assert_int_equal(perp_builder_add_body(b, &def).i, -1);                                    \
        expect(text, PERP_ERR_MODEL);                                                              \
    } while (0)

#define SHAPE(spatial, text, ...)                                                                  \
    do {                                                                                           \
        open_builder(spatial);                                                                     \
        perp_shape_def def = perp_shape_default();                                                 \
        perp_body of = bar;                                                                        \
        def.name = "x";                                                                            \
        def.kind = (spatial) ? PERP_SHAPE_SPHERE : PERP_SHAPE_DISC;                                \
        def.radius = 0.1;                                                                          \
        __VA_ARGS__;                                                                               \
        assert_int_equal(perp_builder_add_shape(b, of, &def).i, -1);                               \
        expect(text, PERP_ERR_MODEL);                                                              \
    } while (0)

#define JOINT(spatial, text, ...)                                                                  \
    do {                                                                                           \
        open_builder(spatial);                                                                     \
        perp_joint_def def = perp_joint_default();                                                 \
        def.name = "x";                                                                            \
        def.a = bar;                                                                               \
        def.b = rod;                                                                               \
        __VA_ARGS__;                                                                               \
        assert_int_equal(perp_builder_add_joint(b, &def).i, -1);                                   \
        expect(text, PERP_ERR_MODEL);                                                              \
    } while (0)

#define FORCE(spatial, text, ...)                                                                  \
    do {                                                                                           \
        open_builder(spatial);                                                                     \
        perp_force_def def = perp_force_default();                                                 \
        def.name = "x";                                                                            \
        def.b = rod;                                                                               \
        __VA_ARGS__;                                                                               \
        assert_int_equal(perp_builder_add_force(b, &def).i, -1);                                   \
        expect(text, PERP_ERR_MODEL);                                                              \
    } while (0)

#define PAIR(text, ...)                                                                            \
    do {                                                                                           \
        open_builder(true);                                                                        \
        perp_pair_def def = perp_pair_default();                                                   \
        def.a = ball;                                                                              \
        def.b = stone;                                                                             \
        __VA_ARGS__;                                                                               \
        perp_builder_add_pair(b, &def);                                                            \
        expect(text, PERP_ERR_MODEL);                                                              \
    } while (0)

#define CONTACT(text, ...)                                                                         \
    do {                                                                                           \
        open_builder(true);                                                                        \
        perp_contact_def def = perp_contact_default();                                             \
        def.name = "x";                                                                            \
        def.a = ball;                                                                              \
        def.b = stone;                                                                             \
        __VA_ARGS__;                                                                               \
        perp_builder_add_contact(b, &def);                                                         \
        expect(text, PERP_ERR_MODEL);                                                              \
    } while (0)

static void bodies(void **state)
{
    (void)state;
    BODY(false, "body 'x': unknown kind 9", def.kind = (perp_body_kind)9);
    BODY(false, "body 'x': unknown drive 9", def.motion = (perp_motion)9);
    BODY(false, "body 'x': position or velocity is not finite", def.position_W.x = NOT_A_NUMBER);
    BODY(true, "body 'x': position or velocity is not finite", def.omega_W.z = ENDLESS);
    BODY(false, "body 'x': mass and inertia must be positive, or 0 to compute them from densities",
         def.mass = -1.0);
    BODY(true, "body 'x': rotation must be a quaternion of length 1, got 2",
         def.rotation_WB = (perp_quat){2.0, 0.0, 0.0, 0.0});
    BODY(true,
         "body 'x': a model is either planar or spatial, and the previous bodies are spatial; use "
         "the same kind",
         def.kind = PERP_BODY_PLANAR);
    BODY(false,
         "body 'x': a model is either planar or spatial, and the previous bodies are planar; use "
         "the same kind",
         def.kind = PERP_BODY_SPATIAL);
    BODY(false, "body 'x': only a kinematic body can have a motion; set its drive",
         def.motion_x = "t");
    BODY(false, "body 'x': a planar body has no motion z; it has x, y and angle",
         def.motion = PERP_MOTION_KINEMATIC, def.motion_z = "t");
    BODY(false,
         "x: motion y \"1+\", column 3: the expression ends where a number, a name or '(' is "
         "expected",
         def.motion = PERP_MOTION_KINEMATIC, def.motion_y = "1+");
    BODY(false, "body 'bar': the name is already used; choose another", def.name = "bar");
    BODY(false, "body 'x': gravity_scale is not finite", def.gravity_scale = ENDLESS);
    BODY(true, "body 'x': colour must be 0xRRGGBB, or -1 for none", def.colour = 0x1000000);
}

static void shapes(void **state)
{
    (void)state;
    static const perp_vec3 holes[3] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, NOT_A_NUMBER, 0.0}};
    static const perp_vec3 clockwise[3] = {{0.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {1.0, 0.0, 0.0}};
    SHAPE(false, "shape 'x': body 77 does not exist", of.i = 77);
    SHAPE(false, "shape 'x': its position is not finite", def.position_B.y = ENDLESS);
    SHAPE(false, "shape 'x': mu must be >= 0, got -0.5", def.mu = -0.5);
    SHAPE(false, "shape 'x': restitution must be between 0 and 1, got 1.5", def.restitution = 1.5);
    SHAPE(true, "shape 'x': mu_spin and mu_roll must be >= 0, facets 0 or 3 to 256",
          def.facets = 2);
    SHAPE(true, "shape 'x': mu_spin and mu_roll must be >= 0, facets 0 or 3 to 256",
          def.mu_roll = -0.1);
    SHAPE(false, "shape 'x': density must be >= 0", def.density = -1.0);
    SHAPE(false, "shape 'x': unknown rule 4 of combine", def.combine = (perp_combine)4);
    SHAPE(true, "shape 'x': colour must be 0xRRGGBB, or -1 for that of the body", def.colour = -2);
    SHAPE(false, "shape 'x': radius must be positive, got 0", def.radius = 0.0);
    SHAPE(true, "shape 'x': radius must be positive, got -1", def.radius = -1.0);
    SHAPE(false, "shape 'x': half extent y must be positive, got 0", def.kind = PERP_SHAPE_BOX,
          def.half = (perp_vec3){1.0, 0.0, 0.0});
    SHAPE(true, "shape 'x': half extent z must be positive, got 0", def.kind = PERP_SHAPE_BOX,
          def.half = (perp_vec3){1.0, 1.0, 0.0});
    SHAPE(false, "shape 'x': half length must be positive, got -1", def.kind = PERP_SHAPE_SEGMENT,
          def.half.x = -1.0);
    SHAPE(true, "shape 'x': half length z must be positive, got 0", def.kind = PERP_SHAPE_CONE,
          def.half.z = 0.0);
    SHAPE(false, "shape 'x': a polygon has 3 to 256 vertices", def.kind = PERP_SHAPE_POLYGON);
    SHAPE(false, "shape 'x': vertex 2 is not finite", def.kind = PERP_SHAPE_POLYGON,
          def.vertices_S = holes, def.vertex_count = 3);
    SHAPE(false,
          "shape 'x': vertices must be convex and counter-clockwise; they are not at vertex 1",
          def.kind = PERP_SHAPE_POLYGON, def.vertices_S = clockwise, def.vertex_count = 3);
    SHAPE(false, "shape 'x': kind 7 is not planar", def.kind = PERP_SHAPE_SPHERE);
    SHAPE(true, "shape 'x': kind 1 is not spatial", def.kind = PERP_SHAPE_DISC);
    SHAPE(true, "shape 'x': rotation must be a quaternion of length 1, got 0",
          def.rotation_BS = (perp_quat){0.0, 0.0, 0.0, 0.0});
    SHAPE(true, "shape 'x': a hull needs at least 4 vertices", def.kind = PERP_SHAPE_HULL);
    SHAPE(true,
          "shape 'x': meshes and height fields are for fixed or driven bodies; use hulls for a "
          "free body",
          def.kind = PERP_SHAPE_MESH);
    SHAPE(true, "shape 'x': has no vertices or triangles", of = wall, def.kind = PERP_SHAPE_MESH);
    SHAPE(true, "shape 'x': has no heights", of = wall, def.kind = PERP_SHAPE_HEIGHTFIELD);
    SHAPE(false, "shape 'x': a planar surface has surface_speed only", def.surface_x = "1");
    SHAPE(true, "shape 'x': a spatial surface has surface_x, surface_y, surface_z and surface_spin",
          def.surface_speed = "1");
    SHAPE(true,
          "x: surface spin \"sin(\", column 5: the expression ends where a number, a name or '(' "
          "is expected",
          def.surface_spin = "sin(");
    SHAPE(false, "shape 'ball': the name is already used; choose another", def.name = "ball");
}

// Shapes that the ground got before the first body was added.
static void ground(void **state)
{
    (void)state;
    perp_shape_def def = perp_shape_default();
    def.name = "floor";
    def.kind = PERP_SHAPE_HALFPLANE;
    b = perp_builder_create(NULL);
    assert_int_equal(perp_builder_add_shape(b, (perp_body){0}, &def).i, 0);
    assert_int_equal(add_body("x", PERP_BODY_SPATIAL, PERP_MOTION_DYNAMIC).i, -1);
    expect("shape 'floor': is not spatial, but the bodies are", PERP_ERR_MODEL);
    def.kind = PERP_SHAPE_HALFSPACE;
    b = perp_builder_create(NULL);
    assert_int_equal(perp_builder_add_shape(b, (perp_body){0}, &def).i, 0);
    assert_int_equal(add_body("x", PERP_BODY_PLANAR, PERP_MOTION_DYNAMIC).i, -1);
    expect("shape 'floor': is not planar, but the bodies are", PERP_ERR_MODEL);
}

static void joints(void **state)
{
    (void)state;
    JOINT(false, "joint 'x': unknown kind 99", def.kind = (perp_joint_kind)99);
    JOINT(false, "joint 'x': unknown value 9 of collide", def.collide = (perp_collide)9);
    JOINT(false, "joint 'x': a number is not finite", def.anchor_A.x = NOT_A_NUMBER);
    JOINT(false, "joint 'x': stiffness and damping must be >= 0", def.stiffness = -1.0);
    JOINT(false, "joint 'x': stiffness and damping must be >= 0", def.damping = ENDLESS);
    JOINT(false, "joint 'x': restitution of a limit must be between 0 and 1",
          def.limit_restitution = 2.0);
    JOINT(false, "joint 'x': effort and friction must be >= 0, limits must be numbers",
          def.lower = NOT_A_NUMBER);
    JOINT(false, "joint 'x': length must be positive", def.kind = PERP_JOINT_DISTANCE);
    JOINT(false, "joint 'x': a weld or gear has no coordinate to drive or limit",
          def.kind = PERP_JOINT_WELD, def.target = "t");
    JOINT(true,
          "joint 'x': a spherical joint has no coordinate; to drive or limit it, add a joint of "
          "kind angle with the axis",
          def.kind = PERP_JOINT_SPHERICAL, def.friction = 1.0);
    JOINT(false, "joint 'x': needs two different bodies, got 1 and 1", def.b = bar);
    JOINT(false, "joint 'x': needs two different bodies, got 1 and 50", def.b.i = 50);
    JOINT(false, "joint 'x': a particle has no rotation to couple", def.kind = PERP_JOINT_WELD,
          def.b = dot);
    JOINT(false, "joint 'x': a gear couples two different joints defined before it",
          def.kind = PERP_JOINT_GEAR, def.joint_a = pin, def.joint_b = pin);
    JOINT(true, "joint 'x': a gear needs joints with a coordinate",
          perp_joint_def other = perp_joint_default();
          other.kind = PERP_JOINT_WELD; other.a = bar; other.b = rod; def.kind = PERP_JOINT_GEAR;
          def.joint_a = pin; def.joint_b = perp_builder_add_joint(b, &other));
    JOINT(true, "joint 'x': its axis is zero", def.axis_A = (perp_vec3){0.0, 0.0, 0.0});
    JOINT(true, "joint 'x': the axes of a universal joint are parallel",
          def.kind = PERP_JOINT_UNIVERSAL, def.axis_B = (perp_vec3){0.0, 0.0, -3.0});
    JOINT(false, "x: rate \"2 t\", column 3: missing operator before this; write * to multiply",
          def.rate = "2 t");
}

static void forces(void **state)
{
    (void)state;
    FORCE(false, "force 'x': unknown kind 99", def.kind = (perp_force_kind)99);
    FORCE(false, "force 'x': needs two different bodies, got 2 and 2", def.kind = PERP_FORCE_SPRING,
          def.a = rod);
    FORCE(false, "force 'x': body -1 does not exist", def.b.i = -1);
    FORCE(false, "force 'x': stiffness and damping must be >= 0, anchors finite",
          def.damping_w = -1.0);
    FORCE(false, "force 'x': stiffness and damping must be >= 0, anchors finite",
          def.anchor_B.y = ENDLESS);
    FORCE(true,
          "force 'x': in 3D a torsion spring belongs to a joint: set stiffness and damping of the "
          "joint",
          def.kind = PERP_FORCE_TORSION_SPRING);
    FORCE(false, "force 'x': only explicit springs can have an isotropic damper",
          def.kind = PERP_FORCE_DRAG, def.isotropic = true);
    FORCE(false, "force 'x': only springs and drag can be implicit", def.implicit = true);
    FORCE(false, "force 'x': a planar force has no tx, only fx, fy and torque", def.tx = "1");
    FORCE(true,
          "x: fz \"omega\", column 1: unknown name 'omega'; use numbers, pi, e, functions and t, "
          "x, y, z, vx, vy, vz, wx, wy, wz, qx, qy, qz",
          def.fz = "omega");
}

static void pairs_and_contacts(void **state)
{
    (void)state;
    PAIR("pair: needs two shapes, got 0 and 9", def.b.i = 9);
    PAIR("pair: needs two shapes, got 0 and 0", def.b = ball);
    PAIR("pair: mu must be >= 0 and restitution between 0 and 1", def.mu = NOT_A_NUMBER);
    PAIR("pair: mu must be >= 0 and restitution between 0 and 1", def.restitution = 1.1);
    PAIR("pair: mu_spin and mu_roll must be >= 0, facets 0 or 3 to 256", def.facets = 300);
    PAIR("pair: mu_spin and mu_roll must be >= 0, facets 0 or 3 to 256", def.mu_spin = -1.0);
    CONTACT("contact: needs two shapes, got -1 and 1", def.a.i = -1);
    CONTACT("contact 'x': mu or restitution out of range", def.restitution = 1.1);
    CONTACT("contact 'x': mu or restitution out of range", def.mu = ENDLESS);
    PAIR("pair: 'ball' and 'other' belong to the same body",
         perp_shape_def more = perp_shape_default();
         more.kind = PERP_SHAPE_SPHERE; more.name = "other"; more.radius = 0.2;
         def.b = perp_builder_add_shape(b, bar, &more));
}

// A definition that does not come from perp_*_default(), and a gravity that is no vector.
static void the_rest(void **state)
{
    (void)state;
    perp_body_def body = perp_body_default();
    body.cookie = 0;
    open_builder(false);
    assert_int_equal(perp_builder_add_body(b, &body).i, -1);
    expect("body: initialise the definition with perp_body_default()", PERP_ERR_DEF);
    perp_force_def force = perp_force_default();
    force.cookie++;
    open_builder(false);
    assert_int_equal(perp_builder_add_force(b, &force).i, -1);
    expect("force: initialise the definition with perp_force_default()", PERP_ERR_DEF);
    open_builder(false);
    perp_builder_set_gravity(b, (perp_vec3){0.0, NOT_A_NUMBER, 0.0});
    expect("gravity is not finite", PERP_ERR_MODEL);
}

// The first mistake is kept: what follows is not added and changes nothing.
static void first_error_stays(void **state)
{
    (void)state;
    open_builder(false);
    perp_shape_def shape = perp_shape_default();
    shape.name = "first";
    shape.mu = -1.0;
    assert_int_equal(perp_builder_add_shape(b, bar, &shape).i, -1);
    shape.name = "second";
    shape.mu = 0.0;
    shape.radius = 1.0;
    assert_int_equal(perp_builder_add_shape(b, bar, &shape).i, -1);
    assert_int_equal(add_body("third", PERP_BODY_SPATIAL, PERP_MOTION_DYNAMIC).i, -1);
    expect("shape 'first': mu must be >= 0, got -1", PERP_ERR_MODEL);
}

// Names that a model does not have.
static void unknown_names(void **state)
{
    (void)state;
    open_builder(false);
    perp_model *model = NULL;
    assert_int_equal(perp_model_create(b, &model, NULL), PERP_OK);
    assert_int_equal(perp_model_body(model, "bar").i, bar.i);
    assert_int_equal(perp_model_shape(model, "stone").i, stone.i);
    assert_int_equal(perp_model_joint(model, "pin").i, pin.i);
    assert_int_equal(perp_model_body(model, "pin").i, -1);
    assert_int_equal(perp_model_shape(model, "bar").i, -1);
    assert_int_equal(perp_model_joint(model, "stone").i, -1);
    perp_model_destroy(model);
    perp_builder_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies),        cmocka_unit_test(shapes),
        cmocka_unit_test(ground),        cmocka_unit_test(joints),
        cmocka_unit_test(forces),        cmocka_unit_test(pairs_and_contacts),
        cmocka_unit_test(the_rest),      cmocka_unit_test(first_error_stays),
        cmocka_unit_test(unknown_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
