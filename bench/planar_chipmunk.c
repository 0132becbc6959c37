// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Chipmunk on a planar scene, at its default iterations (10).
#include "planar.h"

#include <chipmunk/chipmunk.h>

#include <stdlib.h>

typedef struct engine {
    cpSpace *space;
    cpBody **body;
    cpShape **shape;
    cpConstraint **joint;
    cpShape *wall[3];
    int bodies, walls;
} engine;

static void add_wall(engine *e, cpVect from, cpVect to, double mu)
{
    cpShape *wall = cpSegmentShapeNew(cpSpaceGetStaticBody(e->space), from, to, 0.0);
    cpShapeSetFriction(wall, mu);
    cpSpaceAddShape(e->space, wall);
    e->wall[e->walls++] = wall;
}

// Chipmunk multiplies the coefficients of a pair: each shape gets the root.
static void add_box(engine *e, const planar_scene *scene, int k, double root_mu)
{
    const planar_box *b = &scene->box[k];
    double moment = cpMomentForBox(b->mass, 2.0 * b->hx, 2.0 * b->hy);
    cpBody *body = cpSpaceAddBody(e->space, cpBodyNew(b->mass, moment));
    cpBodySetPosition(body, cpv(b->x, b->y));
    cpBodySetAngle(body, b->angle);
    cpShape *shape = cpSpaceAddShape(e->space, cpBoxShapeNew(body, 2.0 * b->hx, 2.0 * b->hy, 0.0));
    cpShapeSetFriction(shape, root_mu);
    if (scene->chain) {
        cpShapeSetFilter(shape, CP_SHAPE_FILTER_NONE);
        cpBody *last = k ? e->body[k - 1] : cpSpaceGetStaticBody(e->space);
        e->joint[k] =
            cpSpaceAddConstraint(e->space, cpPivotJointNew(last, body, cpv(b->x - b->hx, b->y)));
    }
    e->body[k] = body;
    e->shape[k] = shape;
}

static void destroy(void *self)
{
    engine *e = self;
    for (int k = 0; k < e->bodies; k++) {
        if (e->joint[k]) {
            cpConstraintFree(e->joint[k]);
        }
        cpShapeFree(e->shape[k]);
        cpBodyFree(e->body[k]);
    }
    for (int k = 0; k < e->walls; k++) {
        cpShapeFree(e->wall[k]);
    }
    cpSpaceFree(e->space);
    free(e->body);
    free(e->shape);
    free(e->joint);
    free(e);
}

static void *create(const planar_scene *scene)
{
    engine *e = calloc(1, sizeof *e);
    size_t n = (size_t)scene->boxes;
    if (!e) {
        return NULL;
    }
    e->body = calloc(n, sizeof(cpBody *));
    e->shape = calloc(n, sizeof(cpShape *));
    e->joint = calloc(n, sizeof(cpConstraint *));
    if (!e->body || !e->shape || !e->joint) {
        free(e->body);
        free(e->shape);
        free(e->joint);
        free(e);
        return NULL;
    }
    e->space = cpSpaceNew();
    cpSpaceSetGravity(e->space, cpv(0.0, -9.81));
    double root = cpfsqrt(scene->mu);
    add_wall(e, cpv(-1000.0, 0.0), cpv(1000.0, 0.0), root);
    if (scene->bin > 0.0) {
        add_wall(e, cpv(-scene->bin, 0.0), cpv(-scene->bin, 1000.0), root);
        add_wall(e, cpv(scene->bin, 0.0), cpv(scene->bin, 1000.0), root);
    }
    e->bodies = scene->boxes;
    for (int k = 0; k < scene->boxes; k++) {
        add_box(e, scene, k, root);
    }
    return e;
}

static void step(void *self, double h)
{
    cpSpaceStep(((engine *)self)->space, h);
}

static void pose(const void *self, int k, double out[3])
{
    const engine *e = self;
    cpVect p = cpBodyGetPosition(e->body[k]);
    out[0] = p.x;
    out[1] = p.y;
    out[2] = cpBodyGetAngle(e->body[k]);
}

const planar_engine planar_chipmunk = {"Chipmunk", create, step, pose, destroy};
