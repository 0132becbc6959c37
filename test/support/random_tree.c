// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/random_tree.h"

#include "support/cmocka.h"

#include <math.h>

static perp_vec3 random_vector(rng *r, bool spatial, double size)
{
    double x = rng_uniform(r, -size, size), y = rng_uniform(r, -size, size);
    return (perp_vec3){x, y, spatial ? rng_uniform(r, -size, size) : 0.0};
}

static perp_quat random_rotation(rng *r)
{
    return pp_quat_unit((perp_quat){rng_normal(r), rng_normal(r), rng_normal(r), rng_normal(r)});
}

static perp_body add_body(perp_builder *b, rng *r, const random_tree_options *o)
{
    perp_body_def def = perp_body_default();
    bool particle = o->particles && rng_below(r, 3) == 0;
    def.kind = o->spatial ? particle ? PERP_BODY_SPATIAL_PARTICLE : PERP_BODY_SPATIAL
               : particle ? PERP_BODY_PLANAR_PARTICLE
                          : PERP_BODY_PLANAR;
    def.position_W = random_vector(r, o->spatial, 1.0);
    def.angle = rng_uniform(r, -1.0, 1.0);
    def.rotation_WB = random_rotation(r);
    def.mass = rng_uniform(r, 0.5, 2.0);
    if (!particle) {
        double a = rng_uniform(r, 0.1, 0.5), c = rng_uniform(r, 0.1, 0.5);
        const double inertia[6] = {a + 0.1, c + 0.1, a + c, 0.03, -0.02, 0.04};
        def.inertia_zz = a;
        for (int k = 0; o->spatial && k < 6; k++) {
            def.inertia_B[k] = inertia[k];
        }
    }
    return perp_builder_add_body(b, &def);
}

static perp_body add_driven(perp_builder *b, rng *r, bool spatial)
{
    perp_body_def def = perp_body_default();
    def.kind = spatial ? PERP_BODY_SPATIAL : PERP_BODY_PLANAR;
    def.motion = PERP_MOTION_KINEMATIC;
    def.motion_x = "0.3*sin(2*t)";
    def.motion_y = "0.2*t^2 - t";
    def.motion_angle = "0.5*cos(3*t)";
    if (spatial) {
        def.rotation_WB = random_rotation(r);
        def.motion_z = "exp(-t)";
        def.motion_rx = "0.7*t";
        def.motion_ry = "sin(t)";
    }
    return perp_builder_add_body(b, &def);
}

static perp_joint add_joint(perp_builder *b, rng *r, const random_tree_options *o, perp_body a,
                            perp_body c, bool points)
{
    static const perp_joint_kind spatial[] = {
        PERP_JOINT_REVOLUTE, PERP_JOINT_PRISMATIC,   PERP_JOINT_WELD,      PERP_JOINT_SPHERICAL,
        PERP_JOINT_SCREW,    PERP_JOINT_CYLINDRICAL, PERP_JOINT_UNIVERSAL, PERP_JOINT_PLANAR};
    static const perp_joint_kind planar[] = {PERP_JOINT_REVOLUTE, PERP_JOINT_PRISMATIC,
                                             PERP_JOINT_WELD};
    perp_joint_def def = perp_joint_default();
    def.kind = o->spatial ? spatial[rng_below(r, 8)] : planar[rng_below(r, 3)];
    if (points) {
        def.kind = o->spatial ? PERP_JOINT_SPHERICAL : PERP_JOINT_REVOLUTE;
    }
    bool turned = rng_below(r, 2) == 0;
    def.a = turned ? c : a;
    def.b = turned ? a : c;
    def.anchor_A = random_vector(r, o->spatial, 0.5);
    def.anchor_B = random_vector(r, o->spatial, 0.5);
    def.axis_A = random_vector(r, true, 1.0);
    def.axis_B = rng_below(r, 2) == 0 ? random_vector(r, true, 1.0) : def.axis_B;
    def.axis_angle = rng_uniform(r, -3.0, 3.0);
    def.angle = rng_uniform(r, -1.0, 1.0);
    def.pitch = rng_uniform(r, 0.05, 0.2);
    if (o->springs && def.kind != PERP_JOINT_WELD && def.kind != PERP_JOINT_SPHERICAL) {
        def.stiffness = rng_uniform(r, 0.0, 5.0);
        def.damping = rng_uniform(r, 0.0, 1.0);
        def.rest = rng_uniform(r, -0.3, 0.3);
    }
    return perp_builder_add_joint(b, &def);
}

static void add_distance(perp_builder *b, rng *r, const random_tree_options *o, perp_body a,
                         perp_body c, perp_joint_kind kind)
{
    perp_joint_def def = perp_joint_default();
    def.kind = kind;
    def.a = a;
    def.b = c;
    def.anchor_A = random_vector(r, o->spatial, 0.5);
    def.anchor_B = random_vector(r, o->spatial, 0.5);
    def.axis_A = random_vector(r, true, 1.0);
    def.axis_angle = rng_uniform(r, -3.0, 3.0);
    def.length = 1.0;
    perp_builder_add_joint(b, &def);
}

static void add_spring(perp_builder *b, rng *r, const random_tree_options *o, perp_body a,
                       perp_body c)
{
    perp_force_def def = perp_force_default();
    def.kind = PERP_FORCE_SPRING;
    def.a = a;
    def.b = c;
    def.anchor_A = random_vector(r, o->spatial, 0.5);
    def.anchor_B = random_vector(r, o->spatial, 0.5);
    def.stiffness = rng_uniform(r, 0.0, 5.0);
    def.rest = 0.3;
    def.implicit = rng_below(r, 2) == 0;
    perp_builder_add_force(b, &def);
}

enum { MOST = 40 };

// Joints beyond the tree: other ways around, distances, points on lines, a gear of two that turn or slide.
static void add_loops(perp_builder *b, rng *r, const random_tree_options *o, const perp_body *body,
                      int count, const bool *particle)
{
    for (int i = 2; i < count; i += 2) {
        int other = rng_below(r, i);
        bool points = particle[body[i].i] || particle[body[other].i];
        add_joint(b, r, o, body[other], body[i], points);
        add_distance(b, r, o, body[other], body[i], PERP_JOINT_DISTANCE);
        add_distance(b, r, o, body[other], body[i], PERP_JOINT_POINT_ON_LINE);
    }
    if (o->particles || count < 3) {
        return;
    }
    perp_joint turns[2];
    for (int k = 0; k < 2; k++) {
        perp_joint_def def = perp_joint_default();
        def.kind = PERP_JOINT_REVOLUTE;
        def.a = body[k];
        def.b = body[2];
        turns[k] = perp_builder_add_joint(b, &def);
    }
    perp_joint_def gear = perp_joint_default();
    gear.kind = PERP_JOINT_GEAR;
    gear.joint_a = turns[0];
    gear.joint_b = turns[1];
    gear.ratio = -1.5;
    perp_builder_add_joint(b, &gear);
}

void random_tree_shake(const pp_tree *tree, rng *r, double *q, double *qd)
{
    for (int i = 0; i < tree->links; i++) {
        const pp_link *l = &tree->link[i];
        for (int k = 0; k < l->nq; k++) {
            q[l->at_q + k] = rng_uniform(r, -2.0, 2.0);
        }
        if (l->nq > l->nv) {
            perp_quat rot = random_rotation(r);
            double *to = q + l->at_q + l->nq - 4;
            to[0] = rot.w;
            to[1] = rot.x;
            to[2] = rot.y;
            to[3] = rot.z;
        }
    }
    for (int k = 0; k < tree->nv; k++) {
        qd[k] = rng_uniform(r, -2.0, 2.0);
    }
}

void random_tree_open(random_tree *m, rng *r, const random_tree_options *o)
{
    perp_builder *b = perp_builder_create(NULL);
    perp_body body[MOST];
    bool particle[MOST + 3] = {false};
    int count = 0, first;
    assert_true(b && o->bodies + 2 < MOST);
    perp_builder_set_gravity(b, o->weightless ? (perp_vec3){0.0, 0.0, 0.0}
                                              : random_vector(r, o->spatial, 9.0));
    body[count++] = (perp_body){0};
    if (o->driven) {
        body[count++] = add_driven(b, r, o->spatial);
    }
    first = count;
    for (int i = 0; i < o->bodies; i++) {
        perp_body made = add_body(b, r, o);
        body[count++] = made;
        particle[made.i] = o->particles;
        int parent = o->afloat && i > 0 ? first + rng_below(r, i) : rng_below(r, count - 1);
        if (i > 0 || !o->afloat) {
            add_joint(b, r, o, body[parent], made, o->particles);
        }
        if (o->springs && rng_below(r, 2) == 0) {
            add_spring(b, r, o, body[rng_below(r, count - 1)], made);
        }
    }
    if (o->loops) {
        add_loops(b, r, o, body, count, particle);
    }
    perp_error error = {0};
    perp_status status = perp_model_create(b, &m->model, &error);
    if (status < 0) {
        fail_msg("random tree: %s", error.text);
    }
    perp_builder_destroy(b);
    m->arena = pp_arena_create(NULL);
    assert_non_null(m->arena);
    status = pp_tree_create(&m->tree, m->model, NULL, 0, m->arena, &error);
    assert_int_equal(status, PERP_OK);
    m->t = rng_uniform(r, 0.0, 2.0);
    m->q = PP_ARRAY(m->arena, double, m->tree.nq);
    m->qd = PP_ARRAY(m->arena, double, m->tree.nv);
    assert_true(m->q && m->qd);
    random_tree_shake(&m->tree, r, m->q, m->qd);
}

void random_tree_close(random_tree *m)
{
    pp_arena_destroy(m->arena);
    perp_model_destroy(m->model);
}

void random_tree_each(random_tree_check *check, const random_tree_options *options, int count)
{
    FOR_SEEDS(seed, (uint64_t)count)
    {
        random_tree m;
        rng r = rng_seed(seed);
        random_tree_options o = *options;
        o.spatial = seed % 2 == 0;
        o.bodies = 1 + rng_below(&r, 7);
        random_tree_open(&m, &r, &o);
        check(&m, &r, seed);
        random_tree_close(&m);
    }
}

pp_tree_pass random_tree_pass(const random_tree *m, const double *q, const double *qd, double t)
{
    pp_tree_pass pass;
    assert_int_equal(pp_tree_run(&pass, &m->tree, t, q, qd, m->arena), PERP_OK);
    return pass;
}
