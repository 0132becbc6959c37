// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Box2D on a planar scene, at its default iterations (8 velocity, 3 position), sleeping off.
#include "planar.h"

#include <box2d/box2d.h>

#include <cmath>
#include <vector>

namespace
{

struct engine {
    b2World world{b2Vec2(0.0f, -9.81f)};
    std::vector<b2Body *> body;
};

void add_wall(engine &e, b2Body *ground, b2Vec2 from, b2Vec2 to, float mu)
{
    b2EdgeShape edge;
    edge.SetTwoSided(from, to);
    b2FixtureDef fixture;
    fixture.shape = &edge;
    fixture.friction = mu;
    ground->CreateFixture(&fixture);
    (void)e;
}

void add_box(engine &e, const planar_box &box, const planar_scene &scene)
{
    b2BodyDef def;
    def.type = b2_dynamicBody;
    def.position.Set(static_cast<float>(box.x), static_cast<float>(box.y));
    def.angle = static_cast<float>(box.angle);
    def.allowSleep = false;
    b2Body *body = e.world.CreateBody(&def);
    b2PolygonShape shape;
    shape.SetAsBox(static_cast<float>(box.hx), static_cast<float>(box.hy));
    b2FixtureDef fixture;
    fixture.shape = &shape;
    fixture.density = static_cast<float>(box.mass / (4.0 * box.hx * box.hy));
    fixture.friction = static_cast<float>(scene.mu);
    if (scene.chain) {
        fixture.filter.maskBits = 0;
    }
    body->CreateFixture(&fixture);
    e.body.push_back(body);
}

void *create(const planar_scene *scene)
{
    auto *e = new engine;
    e->world.SetAllowSleeping(false);
    b2BodyDef def;
    b2Body *ground = e->world.CreateBody(&def);
    float mu = static_cast<float>(scene->mu), w = static_cast<float>(scene->bin);
    add_wall(*e, ground, b2Vec2(-1000.0f, 0.0f), b2Vec2(1000.0f, 0.0f), mu);
    if (scene->bin > 0.0) {
        add_wall(*e, ground, b2Vec2(-w, 0.0f), b2Vec2(-w, 1000.0f), mu);
        add_wall(*e, ground, b2Vec2(w, 0.0f), b2Vec2(w, 1000.0f), mu);
    }
    for (int k = 0; k < scene->boxes; k++) {
        add_box(*e, scene->box[k], *scene);
        if (scene->chain) {
            const planar_box &box = scene->box[k];
            b2RevoluteJointDef joint;
            b2Vec2 anchor(static_cast<float>(box.x - box.hx), static_cast<float>(box.y));
            joint.Initialize(k ? e->body[static_cast<size_t>(k - 1)] : ground, e->body.back(),
                             anchor);
            e->world.CreateJoint(&joint);
        }
    }
    return e;
}

void step(void *self, double h)
{
    static_cast<engine *>(self)->world.Step(static_cast<float>(h), 8, 3);
}

void pose(const void *self, int k, double out[3])
{
    const b2Body *body = static_cast<const engine *>(self)->body[static_cast<size_t>(k)];
    out[0] = body->GetPosition().x;
    out[1] = body->GetPosition().y;
    out[2] = body->GetAngle();
}

void destroy(void *self)
{
    delete static_cast<engine *>(self);
}

}  // namespace

extern "C" const planar_engine planar_box2d = {"Box2D", create, step, pose, destroy};
