// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Siconos: Moreau-Jean time stepping with theta 1/2, Coulomb's cone by NSGS, contacts found by Bullet in
// single precision.
//
// Settings: nsgsK, tolerance 10^-K. No projection on positions; this adapter has no joints.
#include "vector.h"

#include <MechanicsFwd.hpp>
#include <SiconosKernel.hpp>

#include <RigidBodyDS.hpp>
#include <SiconosBulletCollisionManager.hpp>
#include <SiconosCollisionManager.hpp>
#include <SiconosContactor.hpp>
#include <SiconosShape.hpp>
#include <SolverOptions.h>

#include <initializer_list>
#include <memory>
#include <vector>

namespace
{

struct siconos {
    SP::NonSmoothDynamicalSystem system;
    SP::TimeStepping simulation;
    SP::SiconosBulletCollisionManager manager;
    SP::FrictionContact contact;
    std::vector<SP::RigidBodyDS> bodies;
};

SP::SiconosVector make_vector(std::initializer_list<double> values)
{
    auto v = std::make_shared<SiconosVector>(unsigned(values.size()));
    unsigned k = 0;
    for (double x : values) {
        v->setValue(k++, x);
    }
    return v;
}

SP::SiconosContactorSet contactors(const SP::SiconosShape &shape, double inside_margin)
{
    shape->setInsideMargin(inside_margin);
    shape->setOutsideMargin(0.0);
    auto set = std::make_shared<SiconosContactorSet>();
    set->push_back(std::make_shared<SiconosContactor>(shape));
    return set;
}

SP::SiconosShape make_shape(const peer_body &body)
{
    if (body.shape == PEER_SPHERE) {
        return std::make_shared<SiconosSphere>(body.half.x);
    }
    if (body.shape == PEER_BOX) {
        return std::make_shared<SiconosBox>(2.0 * body.half.x, 2.0 * body.half.y,
                                            2.0 * body.half.z);
    }
    auto points = std::make_shared<SimpleMatrix>(unsigned(PEER_CORNERS), 3);
    for (unsigned k = 0; k < PEER_CORNERS; k++) {
        points->setValue(k, 0, body.corner[k].x);
        points->setValue(k, 1, body.corner[k].y);
        points->setValue(k, 2, body.corner[k].z);
    }
    return std::make_shared<SiconosConvexHull>(points);
}

void add_body(siconos *s, const peer_body &body, peer_vec gravity)
{
    const peer_state &b = body.start;
    peer_vec w = quat_turn_back(b.q, b.w);
    auto inertia = std::make_shared<SimpleMatrix>(3, 3);
    inertia->zero();
    inertia->setValue(0, 0, body.inertia.x);
    inertia->setValue(1, 1, body.inertia.y);
    inertia->setValue(2, 2, body.inertia.z);
    auto rigid = std::make_shared<RigidBodyDS>(
        make_vector({b.p.x, b.p.y, b.p.z, b.q.w, b.q.x, b.q.y, b.q.z}),
        make_vector({b.v.x, b.v.y, b.v.z, w.x, w.y, w.z}), body.mass, inertia);
    rigid->setUseContactorInertia(false);
    rigid->setContactors(contactors(make_shape(body), body.shape == PEER_SPHERE ? 0.1 : 0.02));
    peer_vec f = vec_scale(body.mass, gravity);
    rigid->setFExtPtr(make_vector({f.x, f.y, f.z}));
    s->system->insertDynamicalSystem(rigid);
    s->bodies.push_back(rigid);
}

// The shape is the half-space under its own z; turn that axis to the plane's normal.
void add_plane(siconos *s, const peer_plane &plane)
{
    peer_vec n = plane.normal, p = vec_scale(plane.offset, n);
    peer_quat q = quat_unit({1.0 + n.z, -n.y, n.x, 0.0});
    s->manager->insertStaticContactorSet(contactors(std::make_shared<SiconosPlane>(), 0.02),
                                         make_vector({p.x, p.y, p.z, q.w, q.x, q.y, q.z}));
}

void make_simulation(siconos *s, const peer_scene *scene, const char *setting, double h)
{
    int digits = peer_number(setting, "nsgs", 3);
    auto integrator = std::make_shared<MoreauJeanOSI>(0.5);
    integrator->setGamma(1.0);
    s->simulation =
        std::make_shared<TimeStepping>(s->system, std::make_shared<TimeDiscretisation>(0.0, h));
    s->simulation->insertIntegrator(integrator);
    s->contact = std::make_shared<FrictionContact>(3);
    s->contact->numericsSolverOptions()->iparam[SICONOS_IPARAM_MAX_ITER] =
        digits > 3 ? 20000 : 1000;
    s->contact->numericsSolverOptions()->dparam[SICONOS_DPARAM_TOL] = pow(10.0, -digits);
    s->contact->setMaxSize(100000);
    s->contact->setMStorageType(NM_SPARSE_BLOCK);
    s->contact->setNumericsVerboseMode(false);
    s->contact->setKeepLambdaAndYState(true);
    s->simulation->insertNonSmoothProblem(s->contact);
    s->simulation->setNewtonMaxIteration(1);
    s->simulation->setNewtonTolerance(1e-10);
    s->simulation->setCheckSolverFunction([](int, Simulation *) {});
    SiconosBulletOptions options;
    options.contactBreakingThreshold = 0.02;
    options.perturbationIterations = 3;
    options.minimumPointsPerturbationThreshold = 3;
    options.worldScale = 1.0;
    s->manager = std::make_shared<SiconosBulletCollisionManager>(options);
    s->simulation->insertInteractionManager(s->manager);
    s->manager->insertNonSmoothLaw(
        std::make_shared<NewtonImpactFrictionNSL>(scene->restitution, 0.0, scene->mu, 3), 0, 0);
    s->manager->useEqualityConstraints(false);
}

void *siconos_create(const peer_scene *scene, const char *setting, double h, char *reason)
{
    if (scene->joints > 0) {
        snprintf(reason, 80, "this adapter has no joints");
        return nullptr;
    }
    siconos *s = new siconos;
    s->system = std::make_shared<NonSmoothDynamicalSystem>(0.0, 10.0 * scene->duration + 100.0);
    for (int k = 0; k < scene->bodies; k++) {
        add_body(s, scene->body[k], scene->gravity);
    }
    make_simulation(s, scene, setting, h);
    for (int k = 0; k < scene->planes; k++) {
        add_plane(s, scene->plane[k]);
    }
    return s;
}

void siconos_step(void *self)
{
    siconos *s = static_cast<siconos *>(self);
    s->simulation->computeOneStep();
    s->simulation->nextStep();
}

void siconos_read(void *self, peer_state *state)
{
    const siconos *s = static_cast<siconos *>(self);
    for (size_t k = 0; k < s->bodies.size(); k++) {
        const SiconosVector &q = *s->bodies[k]->q(), &v = *s->bodies[k]->twist();
        state[k].p = vec(q(0), q(1), q(2));
        state[k].q = {q(3), q(4), q(5), q(6)};
        state[k].v = vec(v(0), v(1), v(2));
        state[k].w = quat_turn(quat_unit(state[k].q), vec(v(3), v(4), v(5)));
    }
}

int siconos_contacts(void *self)
{
    auto active = static_cast<siconos *>(self)->system->topology()->indexSet(1);
    return active ? int(active->size()) : 0;
}

// NSGS's own measure, relative to the right-hand side.
double siconos_residual(void *self)
{
    siconos *s = static_cast<siconos *>(self);
    return siconos_contacts(self) > 0
               ? s->contact->numericsSolverOptions()->dparam[SICONOS_DPARAM_RESIDU]
               : 0.0;
}

void siconos_destroy(void *self)
{
    delete static_cast<siconos *>(self);
}

}  // namespace

extern "C" const peer_engine peer_module = {"siconos",        PEER_VERSION,   siconos_create,
                                            siconos_step,     siconos_read,   siconos_contacts,
                                            siconos_residual, siconos_destroy};
