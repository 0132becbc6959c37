// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Bullet's GJK and EPA.
#include "oracle/oracle.h"

#include <memory>

#include <BulletCollision/NarrowPhaseCollision/btGjkEpa2.h>
#include <btBulletCollisionCommon.h>

namespace
{

std::unique_ptr<btConvexShape> make_hull(const oracle_solid &s)
{
    auto hull = std::make_unique<btConvexHullShape>();
    for (int k = 0; k < s.vertices; k++) {
        hull->addPoint(btVector3(s.vertex[3 * k], s.vertex[3 * k + 1], s.vertex[3 * k + 2]), false);
    }
    hull->recalcLocalAabb();
    return hull;
}

std::unique_ptr<btConvexShape> make_shape(const oracle_solid &s)
{
    switch (s.kind) {
    case 0:
        return std::make_unique<btSphereShape>(s.radius);
    case 1:
        return std::make_unique<btCapsuleShapeZ>(s.radius, 2.0 * s.half[2]);
    case 2:
        return std::make_unique<btBoxShape>(btVector3(s.half[0], s.half[1], s.half[2]));
    case 3:
        return std::make_unique<btCylinderShapeZ>(btVector3(s.radius, s.radius, s.half[2]));
    case 4:
        return std::make_unique<btConeShapeZ>(s.radius, 2.0 * s.half[2]);
    case 6:
        return make_hull(s);
    default:
        return nullptr;
    }
}

btTransform place(const oracle_solid &s)
{
    btMatrix3x3 R(s.R[0], s.R[1], s.R[2], s.R[3], s.R[4], s.R[5], s.R[6], s.R[7], s.R[8]);
    return btTransform(R, btVector3(s.p[0], s.p[1], s.p[2]));
}

// GJK and EPA of Bullet see spheres and capsules as points and segments.
double around(const oracle_solid &s)
{
    return s.kind <= 1 ? s.radius : 0.0;
}

}  // namespace

int oracle_bullet(const oracle_solid *a, const oracle_solid *b, double *distance, double way[3])
{
    auto shape_a = make_shape(*a), shape_b = make_shape(*b);
    if (!shape_a || !shape_b) {
        return 0;
    }
    for (auto *shape : {shape_a.get(), shape_b.get()}) {
        int type = shape->getShapeType();
        if (type != SPHERE_SHAPE_PROXYTYPE && type != CAPSULE_SHAPE_PROXYTYPE) {
            shape->setMargin(0.0);
        }
    }
    btTransform X_WA = place(*a), X_WB = place(*b);
    btVector3 guess = X_WB.getOrigin() - X_WA.getOrigin();
    btGjkEpaSolver2::sResults results;
    if (guess.length2() == 0.0) {
        guess = btVector3(1.0, 0.0, 0.0);
    }
    if (!btGjkEpaSolver2::SignedDistance(shape_a.get(), X_WA, shape_b.get(), X_WB, guess,
                                         results)) {
        return 0;
    }
    *distance = results.distance - around(*a) - around(*b);
    btVector3 normal = X_WA.getBasis() * results.normal;  // given in the frame of the first
    for (int k = 0; k < 3; k++) {
        way[k] = normal[k];
    }
    return 1;
}
