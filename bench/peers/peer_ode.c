// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// ODE, built with doubles.
//
// Settings: step (dWorldStep, Dantzig's method) or quickK (QuickStep, K sweeps); cfmK: constraint force
// mixing 10^-K instead of 1e-10; tight: error reduction 0.8, surface layer 1e-5 m, no limit on the speed of
// correction. Friction is dContactApprox1, a box of mu N along two fixed directions.
#include "peer.h"

#include <math.h>
#include <ode/ode.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct ode {
    dWorldID world;
    dSpaceID space;
    dJointGroupID group;
    dBodyID *body;
    int bodies, contacts;
    double h, mu, restitution;
    bool quick;
} ode;

static void touch(void *data, dGeomID a, dGeomID b)
{
    ode *o = data;
    dContact contact[8];
    dBodyID body_a = dGeomGetBody(a), body_b = dGeomGetBody(b);
    if (!body_a && !body_b) {
        return;
    }
    int n = dCollide(a, b, 8, &contact[0].geom, sizeof contact[0]);
    for (int k = 0; k < n; k++) {
        dSurfaceParameters *surface = &contact[k].surface;
        surface->mode = dContactApprox1;
        surface->mu = o->mu;
        if (o->restitution > 0.0) {
            surface->mode |= dContactBounce;
            surface->bounce = o->restitution;
            surface->bounce_vel = 0.1;
        }
        dJointAttach(dJointCreateContact(o->world, o->group, &contact[k]), body_a, body_b);
    }
    o->contacts += n;
}

static void set_world(ode *o, const peer_scene *scene, const char *setting)
{
    bool tight = peer_has(setting, "tight");
    o->world = dWorldCreate();
    dWorldSetGravity(o->world, scene->gravity.x, scene->gravity.y, scene->gravity.z);
    dWorldSetERP(o->world, tight ? 0.8 : 0.2);
    dWorldSetCFM(o->world, pow(10.0, -peer_number(setting, "cfm", 10)));
    dWorldSetContactSurfaceLayer(o->world, tight ? 1e-5 : 1e-3);
    dWorldSetContactMaxCorrectingVel(o->world, tight ? dInfinity : 10.0);
    dWorldSetAutoDisableFlag(o->world, 0);
    int sweeps = peer_number(setting, "quick", 0);
    o->quick = sweeps > 0;
    if (o->quick) {
        dWorldSetQuickStepNumIterations(o->world, sweeps);
    }
    o->group = dJointGroupCreate(0);
    o->space = scene->bodies > 50 ? dSweepAndPruneSpaceCreate(NULL, dSAP_AXES_XZY)
                                  : dSimpleSpaceCreate(NULL);
    for (int k = 0; k < scene->planes; k++) {
        const peer_plane *p = &scene->plane[k];
        dCreatePlane(o->space, p->normal.x, p->normal.y, p->normal.z, p->offset);
    }
}

static dBodyID add_body(ode *o, const peer_body *b)
{
    const peer_state *s = &b->start;
    dBodyID body = dBodyCreate(o->world);
    dMass mass;
    dMassSetParameters(&mass, b->mass, 0.0, 0.0, 0.0, b->inertia.x, b->inertia.y, b->inertia.z, 0.0,
                       0.0, 0.0);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, s->p.x, s->p.y, s->p.z);
    dBodySetQuaternion(body, (dQuaternion){s->q.w, s->q.x, s->q.y, s->q.z});
    dBodySetLinearVel(body, s->v.x, s->v.y, s->v.z);
    dBodySetAngularVel(body, s->w.x, s->w.y, s->w.z);
    if (b->shape == PEER_SPHERE) {
        dGeomSetBody(dCreateSphere(o->space, b->half.x), body);
    } else if (b->shape == PEER_BOX) {
        dGeomSetBody(dCreateBox(o->space, 2.0 * b->half.x, 2.0 * b->half.y, 2.0 * b->half.z), body);
    }
    return body;
}

static void add_joint(ode *o, const peer_joint *j, int k)
{
    dBodyID parent = j->parent < 0 ? NULL : o->body[j->parent];
    if (j->hinge) {
        dJointID hinge = dJointCreateHinge(o->world, NULL);
        dJointAttach(hinge, o->body[k], parent);
        dJointSetHingeAnchor(hinge, j->point.x, j->point.y, j->point.z);
        dJointSetHingeAxis(hinge, j->axis.x, j->axis.y, j->axis.z);
    } else {
        dJointID ball = dJointCreateBall(o->world, NULL);
        dJointAttach(ball, o->body[k], parent);
        dJointSetBallAnchor(ball, j->point.x, j->point.y, j->point.z);
    }
}

static void *ode_create(const peer_scene *scene, const char *setting, double h, char reason[80])
{
    if (scene->body[0].shape == PEER_HULL) {
        snprintf(reason, 80, "this adapter has no hulls");
        return NULL;
    }
    ode *o = calloc(1, sizeof *o);
    dBodyID *body = calloc((size_t)scene->bodies, sizeof(dBodyID));
    if (!o || !body) {
        free(o);
        free(body);
        return NULL;
    }
    dInitODE2(0);
    *o = (ode){.body = body, .bodies = scene->bodies, .h = h, .mu = scene->mu};
    o->restitution = scene->restitution;
    set_world(o, scene, setting);
    for (int k = 0; k < scene->bodies; k++) {
        o->body[k] = add_body(o, &scene->body[k]);
    }
    for (int k = 0; k < scene->joints; k++) {
        add_joint(o, &scene->joint[k], k);
    }
    return o;
}

static void ode_step(void *self)
{
    ode *o = self;
    o->contacts = 0;
    dSpaceCollide(o->space, o, touch);
    if (o->quick) {
        dWorldQuickStep(o->world, o->h);
    } else {
        dWorldStep(o->world, o->h);
    }
    dJointGroupEmpty(o->group);
}

static void ode_read(void *self, peer_state *state)
{
    const ode *o = self;
    for (int k = 0; k < o->bodies; k++) {
        const dReal *p = dBodyGetPosition(o->body[k]), *q = dBodyGetQuaternion(o->body[k]);
        const dReal *v = dBodyGetLinearVel(o->body[k]), *w = dBodyGetAngularVel(o->body[k]);
        state[k] = (peer_state){
            {p[0], p[1], p[2]}, {q[0], q[1], q[2], q[3]}, {v[0], v[1], v[2]}, {w[0], w[1], w[2]}};
    }
}

static int ode_contacts(void *self)
{
    return ((ode *)self)->contacts;
}

static void ode_destroy(void *self)
{
    ode *o = self;
    dJointGroupDestroy(o->group);
    dSpaceDestroy(o->space);
    dWorldDestroy(o->world);
    dCloseODE();
    free(o->body);
    free(o);
}

const peer_engine peer_module = {
    .name = "ode",
    .version = PEER_VERSION,
    .create = ode_create,
    .step = ode_step,
    .read = ode_read,
    .contacts = ode_contacts,
    .destroy = ode_destroy,
};
