// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// DART, with ODE's collision detector in doubles.
//
// Settings: dantzig (the default solver, which falls back to its Gauss-Seidel) or pgs (30 sweeps); tight:
// error reduction 0.2 up to 1 m/s, constraint force mixing 1e-9. Joints are DART's trees.
#include "vector.h"

#include <dart/collision/ode/OdeCollisionDetector.hpp>
#include <dart/constraint/BoxedLcpConstraintSolver.hpp>
#include <dart/constraint/ContactConstraint.hpp>
#include <dart/constraint/PgsBoxedLcpSolver.hpp>
#include <dart/dynamics/BallJoint.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/BoxShape.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/PlaneShape.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/dynamics/SphereShape.hpp>
#include <dart/dynamics/WeldJoint.hpp>
#include <dart/simulation/World.hpp>

#include <memory>
#include <string>
#include <vector>

namespace
{

using namespace dart::constraint;
using namespace dart::dynamics;

struct dart_run {
    dart::simulation::WorldPtr world;
    std::vector<BodyNode *> bodies;
};

Eigen::Vector3d to_eigen(peer_vec a)
{
    return {a.x, a.y, a.z};
}

peer_vec from_eigen(const Eigen::Vector3d &a)
{
    return vec(a[0], a[1], a[2]);
}

void make_world(dart_run *d, const peer_scene *scene, const char *setting, double h)
{
    d->world = dart::simulation::World::create();
    if (peer_has(setting, "pgs")) {
        auto sweeps = std::make_shared<PgsBoxedLcpSolver>();
        PgsBoxedLcpSolver::Option option;
        option.mMaxIteration = 30;
        option.mDeltaXThreshold = 1e-6;
        sweeps->setOption(option);
        d->world->setConstraintSolver(std::make_unique<BoxedLcpConstraintSolver>(sweeps, nullptr));
    } else {
        d->world->setConstraintSolver(std::make_unique<BoxedLcpConstraintSolver>());
    }
    d->world->setTimeStep(h);
    d->world->setGravity(to_eigen(scene->gravity));
    auto *solver = d->world->getConstraintSolver();
    solver->setCollisionDetector(dart::collision::OdeCollisionDetector::create());
    solver->getCollisionOption().maxNumContacts = 100000;
    if (peer_has(setting, "tight")) {
        ContactConstraint::setErrorReductionParameter(0.2);
        ContactConstraint::setMaxErrorReductionVelocity(1.0);
        ContactConstraint::setConstraintForceMixing(1e-9);
    }
}

void add_surface(BodyNode *body, const ShapePtr &shape, const peer_scene *scene)
{
    auto *node = body->createShapeNodeWith<CollisionAspect, DynamicsAspect>(shape);
    node->getDynamicsAspect()->setFrictionCoeff(scene->mu);
    node->getDynamicsAspect()->setRestitutionCoeff(sqrt(scene->restitution));  // multiplied
}

void set_inertia(BodyNode *node, const peer_body &body)
{
    Eigen::Matrix3d moments = to_eigen(body.inertia).asDiagonal();
    node->setInertia(Inertia(body.mass, Eigen::Vector3d::Zero(), moments));
}

void add_planes(dart_run *d, const peer_scene *scene)
{
    auto ground = Skeleton::create("ground");
    BodyNode *node = ground->createJointAndBodyNodePair<WeldJoint>().second;
    for (int k = 0; k < scene->planes; k++) {
        const peer_plane &p = scene->plane[k];
        add_surface(node, std::make_shared<PlaneShape>(to_eigen(p.normal), p.offset), scene);
    }
    ground->setMobile(false);
    d->world->addSkeleton(ground);
}

void add_free_body(dart_run *d, const peer_scene *scene, int k)
{
    const peer_body &body = scene->body[k];
    const peer_state &s = body.start;
    auto skeleton = Skeleton::create("body " + std::to_string(k));
    auto pair = skeleton->createJointAndBodyNodePair<FreeJoint>();
    set_inertia(pair.second, body);
    ShapePtr shape;
    if (body.shape == PEER_SPHERE) {
        shape = std::make_shared<SphereShape>(body.half.x);
    } else {
        shape = std::make_shared<BoxShape>(2.0 * to_eigen(body.half));
    }
    add_surface(pair.second, shape, scene);
    Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
    pose.translation() = to_eigen(s.p);
    pose.linear() = Eigen::Quaterniond(s.q.w, s.q.x, s.q.y, s.q.z).toRotationMatrix();
    pair.first->setTransform(pose);
    pair.first->setLinearVelocity(to_eigen(s.v));
    pair.first->setAngularVelocity(to_eigen(s.w));
    d->world->addSkeleton(skeleton);
    d->bodies.push_back(pair.second);
}

template <class Properties> Properties joint_properties(const peer_scene *scene, int k)
{
    const peer_joint &j = scene->joint[k];
    Properties p;
    peer_vec parent = j.parent < 0 ? vec(0.0, 0.0, 0.0) : scene->body[j.parent].start.p;
    p.mName = "joint " + std::to_string(k);
    p.mT_ParentBodyToJoint.translation() = to_eigen(vec_sub(j.point, parent));
    p.mT_ChildBodyToJoint.translation() = to_eigen(vec_sub(j.point, scene->body[k].start.p));
    return p;
}

// Joint k carries body k on body k - 1; all bodies are parallel at the start.
void add_tree(dart_run *d, const peer_scene *scene)
{
    auto skeleton = Skeleton::create("tree");
    BodyNode *parent = nullptr;
    for (int k = 0; k < scene->bodies; k++) {
        BodyNode::Properties body;
        body.mName = "body " + std::to_string(k);
        if (scene->joint[k].hinge) {
            auto p = joint_properties<RevoluteJoint::Properties>(scene, k);
            p.mAxis = to_eigen(scene->joint[k].axis);
            parent = skeleton->createJointAndBodyNodePair<RevoluteJoint>(parent, p, body).second;
        } else {
            auto p = joint_properties<BallJoint::Properties>(scene, k);
            parent = skeleton->createJointAndBodyNodePair<BallJoint>(parent, p, body).second;
        }
        set_inertia(parent, scene->body[k]);
        d->bodies.push_back(parent);
    }
    d->world->addSkeleton(skeleton);
}

void *dart_create(const peer_scene *scene, const char *setting, double h, char *reason)
{
    if (scene->body[0].shape == PEER_HULL) {
        snprintf(reason, 80, "this adapter has no hulls");
        return nullptr;
    }
    dart_run *d = new dart_run;
    make_world(d, scene, setting, h);
    if (scene->planes > 0) {
        add_planes(d, scene);
    }
    if (scene->joints > 0) {
        add_tree(d, scene);
    } else {
        for (int k = 0; k < scene->bodies; k++) {
            add_free_body(d, scene, k);
        }
    }
    return d;
}

void dart_step(void *self)
{
    static_cast<dart_run *>(self)->world->step();
}

void dart_read(void *self, peer_state *state)
{
    const dart_run *d = static_cast<dart_run *>(self);
    for (size_t k = 0; k < d->bodies.size(); k++) {
        const BodyNode *body = d->bodies[k];
        Eigen::Quaterniond q(body->getWorldTransform().linear());
        state[k].p = from_eigen(body->getCOM());
        state[k].q = {q.w(), q.x(), q.y(), q.z()};
        state[k].v = from_eigen(body->getCOMLinearVelocity());
        state[k].w = from_eigen(body->getAngularVelocity());
    }
}

int dart_contacts(void *self)
{
    const dart_run *d = static_cast<dart_run *>(self);
    return int(d->world->getLastCollisionResult().getNumContacts());
}

void dart_destroy(void *self)
{
    delete static_cast<dart_run *>(self);
}

}  // namespace

extern "C" const peer_engine peer_module = {"dart",    PEER_VERSION,  dart_create, dart_step,
                                            dart_read, dart_contacts, nullptr,     dart_destroy};
