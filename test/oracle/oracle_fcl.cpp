// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The flexible collision library (FCL).
#include "oracle/oracle.h"

#include <cmath>
#include <exception>
#include <memory>
#include <vector>

#include <fcl/geometry/shape/box.h>
#include <fcl/geometry/shape/capsule.h>
#include <fcl/geometry/shape/cone.h>
#include <fcl/geometry/shape/convex.h>
#include <fcl/geometry/shape/cylinder.h>
#include <fcl/geometry/shape/ellipsoid.h>
#include <fcl/geometry/shape/sphere.h>
#include <fcl/narrowphase/collision_object.h>
#include <fcl/narrowphase/distance.h>

namespace
{

using Shape = std::shared_ptr<fcl::CollisionGeometryd>;

Shape make_hull(const oracle_solid &s)
{
    auto points = std::make_shared<std::vector<fcl::Vector3d>>();
    auto faces = std::make_shared<std::vector<int>>();
    for (int k = 0; k < s.vertices; k++) {
        points->emplace_back(s.vertex[3 * k], s.vertex[3 * k + 1], s.vertex[3 * k + 2]);
    }
    for (int f = 0; f < s.faces; f++) {
        faces->push_back(s.face_first[f + 1] - s.face_first[f]);
        for (int k = s.face_first[f]; k < s.face_first[f + 1]; k++) {
            faces->push_back(s.corner[k]);
        }
    }
    return std::make_shared<fcl::Convexd>(points, s.faces, faces, false);
}

Shape make_shape(const oracle_solid &s)
{
    switch (s.kind) {
    case 0:
        return std::make_shared<fcl::Sphered>(s.radius);
    case 1:
        return std::make_shared<fcl::Capsuled>(s.radius, 2.0 * s.half[2]);
    case 2:
        return std::make_shared<fcl::Boxd>(2.0 * s.half[0], 2.0 * s.half[1], 2.0 * s.half[2]);
    case 3:
        return std::make_shared<fcl::Cylinderd>(s.radius, 2.0 * s.half[2]);
    case 4:
        return std::make_shared<fcl::Coned>(s.radius, 2.0 * s.half[2]);
    case 5:
        return std::make_shared<fcl::Ellipsoidd>(s.half[0], s.half[1], s.half[2]);
    case 6:
        return make_hull(s);
    default:
        return nullptr;
    }
}

fcl::CollisionObjectd place(const Shape &shape, const oracle_solid &s)
{
    fcl::Matrix3d R;
    for (int k = 0; k < 9; k++) {
        R(k / 3, k % 3) = s.R[k];
    }
    return {shape, R, fcl::Vector3d(s.p[0], s.p[1], s.p[2])};
}

}  // namespace

int oracle_fcl(const oracle_solid *a, const oracle_solid *b, double *distance)
{
    try {
        Shape shape_a = make_shape(*a), shape_b = make_shape(*b);
        if (!shape_a || !shape_b) {
            return 0;
        }
        fcl::CollisionObjectd object_a = place(shape_a, *a), object_b = place(shape_b, *b);
        fcl::DistanceRequestd request(true, false, 0.0, 0.0, 1e-10, fcl::GST_LIBCCD);
        fcl::DistanceResultd result;
        fcl::distance(&object_a, &object_b, request, result);
        *distance = result.min_distance;
        return std::isfinite(*distance) && *distance >= 0.0 && *distance < 1e6;
    } catch (const std::exception &) {
        return 0;
    }
}
