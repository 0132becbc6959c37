// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Bullet, built with doubles.
//
// Settings: siK (sequential impulses, K sweeps), nncgK (their nonlinear conjugate gradient), dantzig; f2: two
// friction directions; gbox: the floor is a big static box, whose contact manifolds are better than those of
// the static plane; sat: separating axes for hulls. Dantzig falls back to sequential impulses, silently and
// often, when it fails.
#include "vector.h"

#include <BulletDynamics/ConstraintSolver/btNNCGConstraintSolver.h>
#include <BulletDynamics/MLCPSolvers/btDantzigSolver.h>
#include <BulletDynamics/MLCPSolvers/btMLCPSolver.h>
#include <btBulletDynamicsCommon.h>
#include <memory>
#include <vector>

namespace
{

btVector3 to_bullet(peer_vec a)
{
    return {a.x, a.y, a.z};
}

peer_vec from_bullet(const btVector3 &a)
{
    return vec(a.x(), a.y(), a.z());
}

// Members are destroyed from the last to the first: what refers to another comes after it.
struct bullet {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    std::unique_ptr<btDantzigSolver> dantzig;
    std::unique_ptr<btConstraintSolver> solver;
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies, statics;
    std::vector<std::unique_ptr<btTypedConstraint>> joints;
    std::unique_ptr<btDiscreteDynamicsWorld> world;
    double h = 0.0, friction = 0.0, restitution = 0.0;

    ~bullet()
    {
        for (auto &joint : joints) {
            world->removeConstraint(joint.get());
        }
        for (auto *list : {&bodies, &statics}) {
            for (auto &body : *list) {
                world->removeRigidBody(body.get());
            }
        }
    }
};

void make_world(bullet *b, const peer_scene *scene, const char *setting)
{
    int sweeps = peer_number(setting, "si", peer_number(setting, "nncg", 10));
    if (peer_has(setting, "dantzig")) {
        b->dantzig = std::make_unique<btDantzigSolver>();
        b->solver = std::make_unique<btMLCPSolver>(b->dantzig.get());
    } else if (peer_number(setting, "nncg", 0) > 0) {
        b->solver = std::make_unique<btNNCGConstraintSolver>();
    } else {
        b->solver = std::make_unique<btSequentialImpulseConstraintSolver>();
    }
    b->world = std::make_unique<btDiscreteDynamicsWorld>(&b->dispatcher, &b->broadphase,
                                                         b->solver.get(), &b->configuration);
    b->world->setGravity(to_bullet(scene->gravity));
    b->world->getDispatchInfo().m_enableSatConvex = peer_has(setting, "sat");
    btContactSolverInfo &info = b->world->getSolverInfo();
    info.m_numIterations = sweeps;
    info.m_minimumSolverBatchSize = b->dantzig ? 1 : 128;
    if (peer_has(setting, "f2")) {
        info.m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS;
    }
}

btRigidBody *make_body(bullet *b, btCollisionShape *shape, const btTransform &pose, double mass,
                       const btVector3 &inertia)
{
    btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape, inertia);
    info.m_startWorldTransform = pose;
    btRigidBody *body = new btRigidBody(info);
    body->setFriction(b->friction);
    body->setRestitution(b->restitution);
    return body;
}

void add_plane(bullet *b, const peer_plane &plane, bool as_box)
{
    btTransform pose = btTransform::getIdentity();
    if (as_box && plane.normal.z == 1.0) {
        b->shapes.push_back(std::make_unique<btBoxShape>(btVector3(50.0, 50.0, 1.0)));
        pose.setOrigin(btVector3(0.0, 0.0, plane.offset - 1.0));
    } else {
        b->shapes.push_back(
            std::make_unique<btStaticPlaneShape>(to_bullet(plane.normal), plane.offset));
    }
    b->statics.emplace_back(make_body(b, b->shapes.back().get(), pose, 0.0, btVector3(0, 0, 0)));
    b->world->addRigidBody(b->statics.back().get());
}

std::unique_ptr<btCollisionShape> make_shape(const peer_body &body)
{
    if (body.shape == PEER_BOX) {
        return std::make_unique<btBoxShape>(to_bullet(body.half));
    }
    if (body.shape != PEER_HULL) {
        return std::make_unique<btSphereShape>(body.shape == PEER_SPHERE ? body.half.x : 0.01);
    }
    auto hull = std::make_unique<btConvexHullShape>();
    for (const peer_vec &corner : body.corner) {
        hull->addPoint(to_bullet(corner), false);
    }
    hull->recalcLocalAabb();
    hull->setMargin(0.0);
    hull->initializePolyhedralFeatures();
    return hull;
}

// Bodies of the same simple shape share it.
btCollisionShape *shape_of(bullet *b, const peer_scene *scene, int k)
{
    const peer_body &body = scene->body[k];
    bool same = k > 0 && body.shape != PEER_HULL && body.shape == scene->body[k - 1].shape &&
                vec_norm(vec_sub(body.half, scene->body[k - 1].half)) == 0.0;
    if (!same) {
        b->shapes.push_back(make_shape(body));
    }
    return b->shapes.back().get();
}

void add_body(bullet *b, const peer_scene *scene, int k)
{
    const peer_body &body = scene->body[k];
    const peer_state &s = body.start;
    btTransform pose(btQuaternion(s.q.x, s.q.y, s.q.z, s.q.w), to_bullet(s.p));
    btRigidBody *rigid =
        make_body(b, shape_of(b, scene, k), pose, body.mass, to_bullet(body.inertia));
    rigid->setLinearVelocity(to_bullet(s.v));
    rigid->setAngularVelocity(to_bullet(s.w));
    rigid->setActivationState(DISABLE_DEACTIVATION);
    rigid->setDamping(0.0, 0.0);
    b->bodies.emplace_back(rigid);
    if (body.shape == PEER_ROD) {
        b->world->addRigidBody(rigid, 0, 0);  // collides with nothing
    } else {
        b->world->addRigidBody(rigid);
    }
}

btTypedConstraint *make_joint(const bullet *b, const peer_scene *scene, int k)
{
    const peer_joint &j = scene->joint[k];
    auto local = [scene](int body, peer_vec point) {
        const peer_state &s = scene->body[body].start;
        return to_bullet(quat_turn_back(s.q, vec_sub(point, s.p)));
    };
    auto axis = [scene, &j](int body) {
        return to_bullet(quat_turn_back(scene->body[body].start.q, j.axis));
    };
    btRigidBody &child = *b->bodies[size_t(k)];
    if (j.parent < 0) {
        if (j.hinge) {
            return new btHingeConstraint(child, local(k, j.point), axis(k));
        }
        return new btPoint2PointConstraint(child, local(k, j.point));
    }
    btRigidBody &parent = *b->bodies[size_t(j.parent)];
    if (j.hinge) {
        return new btHingeConstraint(child, parent, local(k, j.point), local(j.parent, j.point),
                                     axis(k), axis(j.parent));
    }
    return new btPoint2PointConstraint(child, parent, local(k, j.point), local(j.parent, j.point));
}

void *bullet_create(const peer_scene *scene, const char *setting, double h, char *)
{
    bullet *b = new bullet;
    b->h = h;
    b->friction = sqrt(scene->mu);  // Bullet multiplies those of the two bodies
    b->restitution = sqrt(scene->restitution);
    make_world(b, scene, setting);
    for (int k = 0; k < scene->planes; k++) {
        add_plane(b, scene->plane[k], peer_has(setting, "gbox"));
    }
    for (int k = 0; k < scene->bodies; k++) {
        add_body(b, scene, k);
    }
    for (int k = 0; k < scene->joints; k++) {
        b->joints.emplace_back(make_joint(b, scene, k));
        b->world->addConstraint(b->joints.back().get(), true);
    }
    return b;
}

void bullet_step(void *self)
{
    bullet *b = static_cast<bullet *>(self);
    b->world->stepSimulation(b->h, 0);
}

void bullet_read(void *self, peer_state *state)
{
    const bullet *b = static_cast<bullet *>(self);
    for (size_t k = 0; k < b->bodies.size(); k++) {
        const btRigidBody &body = *b->bodies[k];
        btQuaternion q = body.getWorldTransform().getRotation();
        state[k].p = from_bullet(body.getWorldTransform().getOrigin());
        state[k].q = {q.w(), q.x(), q.y(), q.z()};
        state[k].v = from_bullet(body.getLinearVelocity());
        state[k].w = from_bullet(body.getAngularVelocity());
    }
}

int bullet_contacts(void *self)
{
    bullet *b = static_cast<bullet *>(self);
    int count = 0;
    for (int k = 0; k < b->dispatcher.getNumManifolds(); k++) {
        count += b->dispatcher.getManifoldByIndexInternal(k)->getNumContacts();
    }
    return count;
}

void bullet_destroy(void *self)
{
    delete static_cast<bullet *>(self);
}

}  // namespace

extern "C" const peer_engine peer_module = {"bullet",    PEER_VERSION,  bullet_create,
                                            bullet_step, bullet_read,   bullet_contacts,
                                            nullptr,     bullet_destroy};
