// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp, through its public interface.
//
// Settings: default (Stewart-Trinkle, exact cones); exact: joints closed where the step ends; theta: the
// theta method of Moreau and Jean with 1/2; ap: Anitescu-Potra; facetsK: friction polygons of K directions;
// tolK: tolerance 10^-K instead of 1e-8; itK, msK: a budget of K iterations, of K milliseconds; gs, ssn,
// eg, lemke: that solver; repeat: steps that end where they began are not computed again.
#include "run.h"
#include "vector.h"

#include <perp/perp.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct ours {
    perp_model *model;
    perp_sim *sim;
    perp_body *body;
    int bodies;
    double h;
    bool failed;  // a step gave up
} ours;

static perp_vec3 to_perp(peer_vec a)
{
    return (perp_vec3){a.x, a.y, a.z};
}

static perp_shape_def surface(const peer_scene *scene, perp_shape_kind kind)
{
    perp_shape_def def = perp_shape_default();
    def.kind = kind;
    def.mu = scene->mu;
    def.restitution = scene->restitution;
    return def;
}

// The half-space is solid under its own z; turn that axis to the plane's normal.
static void add_plane(perp_builder *b, const peer_scene *scene, const peer_plane *plane)
{
    perp_shape_def def = surface(scene, PERP_SHAPE_HALFSPACE);
    peer_vec n = plane->normal;
    peer_quat q = quat_unit((peer_quat){1.0 + n.z, -n.y, n.x, 0.0});
    def.position_B = to_perp(vec_scale(plane->offset, n));
    def.rotation_BS = (perp_quat){q.w, q.x, q.y, q.z};
    perp_builder_add_shape(b, (perp_body){0}, &def);
}

static perp_body add_body(perp_builder *b, const peer_scene *scene, const peer_body *body)
{
    const peer_state *s = &body->start;
    perp_vec3 corner[PEER_CORNERS];
    perp_body_def def = perp_body_default();
    def.kind = PERP_BODY_SPATIAL;
    def.position_W = to_perp(s->p);
    def.rotation_WB = (perp_quat){s->q.w, s->q.x, s->q.y, s->q.z};
    def.velocity_W = to_perp(s->v);
    def.omega_W = to_perp(s->w);
    def.mass = body->mass;
    def.inertia_B[0] = body->inertia.x;
    def.inertia_B[1] = body->inertia.y;
    def.inertia_B[2] = body->inertia.z;
    perp_body handle = perp_builder_add_body(b, &def);
    if (body->shape == PEER_ROD) {
        return handle;
    }
    perp_shape_def shape = surface(scene, body->shape == PEER_SPHERE ? PERP_SHAPE_SPHERE
                                          : body->shape == PEER_BOX  ? PERP_SHAPE_BOX
                                                                     : PERP_SHAPE_HULL);
    shape.radius = body->shape == PEER_SPHERE ? body->half.x : 0.0;
    shape.half = to_perp(body->half);
    if (body->shape == PEER_HULL) {
        for (int k = 0; k < PEER_CORNERS; k++) {
            corner[k] = to_perp(body->corner[k]);
        }
        shape.vertices_S = corner;
        shape.vertex_count = PEER_CORNERS;
    }
    perp_builder_add_shape(b, handle, &shape);
    return handle;
}

static void add_joint(perp_builder *b, const peer_scene *scene, const ours *o, int k)
{
    const peer_joint *j = &scene->joint[k];
    perp_joint_def def = perp_joint_default();
    def.kind = j->hinge ? PERP_JOINT_REVOLUTE : PERP_JOINT_SPHERICAL;
    def.b = o->body[k];
    def.anchor_A = to_perp(j->point);
    def.axis_A = to_perp(j->axis);
    if (j->parent >= 0) {
        const peer_state *s = &scene->body[j->parent].start;
        def.a = o->body[j->parent];
        def.anchor_A = to_perp(quat_turn_back(s->q, vec_sub(j->point, s->p)));
        def.axis_A = to_perp(quat_turn_back(s->q, j->axis));
    }
    const peer_state *s = &scene->body[k].start;
    def.anchor_B = to_perp(quat_turn_back(s->q, vec_sub(j->point, s->p)));
    perp_builder_add_joint(b, &def);
}

// An observer of the stages makes a sim compute every step, also where it could repeat the last one: what is measured is a
// step, and the other engines compute theirs.
static void compute_all(void *user, const perp_sim *sim, perp_stage stage)
{
    (void)user;
    (void)sim;
    (void)stage;
}

static perp_sim_def sim_def(const char *setting)
{
    static const char *const solvers[] = {"gs", "ssn", "eg", "lemke"};
    perp_sim_def def = perp_sim_default();
    def.tolerance = pow(10.0, -peer_number(setting, "tol", 8));
    def.on_stage = peer_has(setting, "repeat") ? NULL : compute_all;
    def.max_iterations = peer_number(setting, "it", 0);
    def.max_seconds = 1e-3 * peer_number(setting, "ms", 0);
    if (peer_has(setting, "theta")) {
        def.stepper = PERP_STEPPER_MOREAU_JEAN;
        def.theta = 0.5;
    } else if (peer_has(setting, "ap")) {
        def.stepper = PERP_STEPPER_ANITESCU_POTRA;
    } else if (peer_has(setting, "implicit")) {
        def.stepper = PERP_STEPPER_IMPLICIT;
    }
    if (peer_has(setting, "exact")) {
        def.positions = PERP_POSITIONS_EXACT;
    }
    int facets = peer_number(setting, "facets", 0);
    if (facets > 0) {
        def.friction = PERP_FRICTION_PYRAMID;
        def.facets = facets;
    }
    for (size_t k = 0; k < sizeof solvers / sizeof solvers[0]; k++) {
        def.solver = peer_has(setting, solvers[k]) ? solvers[k] : def.solver;
    }
    return def;
}

static void ours_destroy(void *self)
{
    ours *o = self;
    perp_sim_destroy(o->sim);
    perp_model_destroy(o->model);
    free(o->body);
    free(o);
}

static void *ours_create(const peer_scene *scene, const char *setting, double h, char reason[80])
{
    ours *o = calloc(1, sizeof *o);
    perp_body *body = calloc((size_t)scene->bodies, sizeof *body);
    perp_builder *b = perp_builder_create(NULL);
    perp_error error = {0};
    if (!o || !body || !b) {
        free(o);
        free(body);
        perp_builder_destroy(b);
        return NULL;
    }
    *o = (ours){.body = body, .bodies = scene->bodies, .h = h};
    perp_builder_set_gravity(b, to_perp(scene->gravity));
    for (int k = 0; k < scene->bodies; k++) {
        body[k] = add_body(b, scene, &scene->body[k]);
    }
    for (int k = 0; k < scene->planes; k++) {
        add_plane(b, scene, &scene->plane[k]);
    }
    for (int k = 0; k < scene->joints; k++) {
        add_joint(b, scene, o, k);
    }
    perp_sim_def def = sim_def(setting);
    bool made = perp_model_create(b, &o->model, &error) >= 0 &&
                perp_sim_create(o->model, &def, NULL, &o->sim, &error) >= 0;
    perp_builder_destroy(b);
    if (!made) {
        snprintf(reason, 80, "%.79s", error.text);
        ours_destroy(o);
        return NULL;
    }
    return o;
}

static void ours_step(void *self)
{
    ours *o = self;
    o->failed = perp_sim_step(o->sim, o->h) < 0 || o->failed;
}

static void ours_read(void *self, peer_state *state)
{
    const ours *o = self;
    for (int k = 0; k < o->bodies; k++) {
        perp_pose pose = perp_sim_body_pose(o->sim, o->body[k]);
        perp_twist twist = perp_sim_body_twist(o->sim, o->body[k]);
        state[k] = (peer_state){{pose.p.x, pose.p.y, pose.p.z},
                                {pose.rot.w, pose.rot.x, pose.rot.y, pose.rot.z},
                                {twist.v_W.x, twist.v_W.y, twist.v_W.z},
                                {twist.w_W.x, twist.w_W.y, twist.w_W.z}};
    }
}

static int ours_contacts(void *self)
{
    return perp_sim_info(((ours *)self)->sim)->contacts;
}

// The certificate's: the natural map of the step's problem, by code the solver does not share [m/s].
static double ours_residual(void *self)
{
    const ours *o = self;
    return o->failed ? (double)INFINITY : perp_sim_info(o->sim)->certificate.residual;
}

const peer_engine peer_perp = {
    .name = "perp",
    .version = PERP_VERSION,
    .create = ours_create,
    .step = ours_step,
    .read = ours_read,
    .contacts = ours_contacts,
    .residual = ours_residual,
    .destroy = ours_destroy,
};
