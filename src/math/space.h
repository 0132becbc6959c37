// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Vectors, rotations and poses in space, by value. A rotation R_AB takes coordinates in B to
// coordinates in A. Quaternions have unit length and the scalar first.
#pragma once

#include "math/math.h"

#include <perp/types.h>

#include <math.h>

// Row-major: m[3 i + j] is entry (i, j).
typedef struct pp_mat3 {
    double m[9];
} pp_mat3;

// A frame: its position, and its rotation as a matrix.
typedef struct pp_pose {
    perp_vec3 p;
    pp_mat3 R;
} pp_pose;

// ── Vectors ──────────────────────────────────────────────────────────────────────────────────────

// Components in any frame: the name of a variable says in which.
static inline perp_vec3 pp_vec(double x, double y, double z)
{
    return (perp_vec3){x, y, z};
}

static inline perp_vec3 pp_add(perp_vec3 a, perp_vec3 b)
{
    return (perp_vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline perp_vec3 pp_sub(perp_vec3 a, perp_vec3 b)
{
    return (perp_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline perp_vec3 pp_scale(double s, perp_vec3 a)
{
    return (perp_vec3){s * a.x, s * a.y, s * a.z};
}

static inline perp_vec3 pp_along(perp_vec3 a, double s, perp_vec3 d)  // a + s d
{
    return (perp_vec3){a.x + s * d.x, a.y + s * d.y, a.z + s * d.z};
}

static inline double pp_dot3(perp_vec3 a, perp_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline perp_vec3 pp_cross(perp_vec3 a, perp_vec3 b)
{
    return (perp_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// |(x, y)|. hypot is slow, and only called where squares would overflow or lose digits to
// underflow.
static inline double pp_length2(double x, double y)
{
    double square = x * x + y * y;
    if (square > 1e-280 && square < 1e280) {
        return sqrt(square);
    }
    return y == 0.0 ? fabs(x) : pp_hypot(x, y);
}

// In the plane z = 0 the same as pp_length2, so that planar models get the same bits either way.
static inline double pp_length(perp_vec3 a)
{
    double square = pp_dot3(a, a);
    if (square > 1e-280 && square < 1e280) {
        return sqrt(square);
    }
    return a.z == 0.0 ? pp_length2(a.x, a.y) : pp_hypot(pp_hypot(a.x, a.y), a.z);
}

// Mean velocity over a time h of what moves by `way` and has the velocities v0 and v1 at its ends: way / h. Rounding of
// the two places is no motion, and a way that these velocities do not explain is a jump: then their mean.   theory (P23)
static inline perp_vec3 pp_mean_velocity(perp_vec3 way, double h, perp_vec3 v0, perp_vec3 v1,
                                         double rounding)
{
    perp_vec3 mean = pp_scale(0.5, pp_add(v0, v1)), off = pp_along(way, -h, mean);
    double beyond = pp_length(off);
    bool jumps = !(beyond <= h * (pp_length(v0) + pp_length(v1)));
    return jumps || beyond <= rounding ? mean : pp_scale(1.0 / h, way);
}

// a / |a|; e where a is zero.
static inline perp_vec3 pp_unit(perp_vec3 a, perp_vec3 e)
{
    double length = pp_length(a);
    if (!(length > 0.0)) {
        return e;
    }
    if (length < 1e-290 || length > 1e290) {  // one over the length would be off, or overflow
        a = pp_scale(length < 1.0 ? 0x1p900 : 0x1p-600, a);
        length = pp_length(a);
    }
    return pp_scale(1.0 / length, a);
}

static inline bool pp_finite3(perp_vec3 a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

// A unit vector perpendicular to the unit vector n, always the same for the same n: the part of
// world x across n, or of world y where n is close to x.
static inline perp_vec3 pp_across(perp_vec3 n)
{
    perp_vec3 e = fabs(n.x) < 0.9 ? pp_vec(1.0, 0.0, 0.0) : pp_vec(0.0, 1.0, 0.0);
    return pp_unit(pp_along(e, -pp_dot3(e, n), n), e);
}

// ── Matrices ─────────────────────────────────────────────────────────────────────────────────────

static inline pp_mat3 pp_identity3(void)
{
    return (pp_mat3){{1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};
}

// A x.
static inline perp_vec3 pp_mul(const pp_mat3 *A, perp_vec3 x)
{
    const double *m = A->m;
    return (perp_vec3){m[0] * x.x + m[1] * x.y + m[2] * x.z, m[3] * x.x + m[4] * x.y + m[5] * x.z,
                       m[6] * x.x + m[7] * x.y + m[8] * x.z};
}

static inline perp_vec3 pp_mul_t(const pp_mat3 *A, perp_vec3 x)  // A^T x
{
    const double *m = A->m;
    return (perp_vec3){m[0] * x.x + m[3] * x.y + m[6] * x.z, m[1] * x.x + m[4] * x.y + m[7] * x.z,
                       m[2] * x.x + m[5] * x.y + m[8] * x.z};
}

// Column j: the axis j of the rotated frame, in the other one.
static inline perp_vec3 pp_mat3_column(const pp_mat3 *A, int j)
{
    return (perp_vec3){A->m[j], A->m[3 + j], A->m[6 + j]};
}

static inline pp_mat3 pp_mat3_columns(perp_vec3 x, perp_vec3 y, perp_vec3 z)
{
    return (pp_mat3){{x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z}};
}

static inline pp_mat3 pp_mat_mul(const pp_mat3 *A, const pp_mat3 *B)
{
    return pp_mat3_columns(pp_mul(A, pp_mat3_column(B, 0)), pp_mul(A, pp_mat3_column(B, 1)),
                           pp_mul(A, pp_mat3_column(B, 2)));
}

static inline pp_mat3 pp_transpose3(const pp_mat3 *A)
{
    const double *m = A->m;
    return (pp_mat3){{m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]}};
}

// R A R^T: a tensor in other axes.
static inline pp_mat3 pp_turn_tensor(const pp_mat3 *R, const pp_mat3 *A)
{
    pp_mat3 RA = pp_mat_mul(R, A), Rt = pp_transpose3(R);
    return pp_mat_mul(&RA, &Rt);
}

// Inverse by cofactors; false where the determinant vanishes.
static inline bool pp_invert3(const pp_mat3 *A, pp_mat3 *inverse)
{
    perp_vec3 a = pp_mat3_column(A, 0), b = pp_mat3_column(A, 1), c = pp_mat3_column(A, 2);
    perp_vec3 bc = pp_cross(b, c), ca = pp_cross(c, a), ab = pp_cross(a, b);
    double det = pp_dot3(a, bc), s = 1.0 / det;
    *inverse = (pp_mat3){
        {s * bc.x, s * bc.y, s * bc.z, s * ca.x, s * ca.y, s * ca.z, s * ab.x, s * ab.y, s * ab.z}};
    return det != 0.0 && isfinite(s);
}

// ── Rotations ────────────────────────────────────────────────────────────────────────────────────

// Hamilton's product: the rotation b followed by a.
static inline perp_quat pp_quat_mul(perp_quat a, perp_quat b)
{
    return (perp_quat){
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
        a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
    };
}

// The inverse rotation, of a unit quaternion.
static inline perp_quat pp_quat_conjugate(perp_quat a)
{
    return (perp_quat){a.w, -a.x, -a.y, -a.z};
}

static inline double pp_quat_norm(perp_quat a)
{
    return sqrt(a.w * a.w + a.x * a.x + a.y * a.y + a.z * a.z);
}

// Quaternions drift from unit length by rounding, and are normalised after each update.
static inline perp_quat pp_quat_unit(perp_quat a)
{
    double s = 1.0 / pp_quat_norm(a);
    return (perp_quat){s * a.w, s * a.x, s * a.y, s * a.z};
}

// The rotation by |v| about v: exp(v), by a series where v is small.
static inline perp_quat pp_quat_exp(perp_vec3 v)
{
    double h2 = 0.25 * pp_dot3(v, v);
    if (h2 < 2.5e-3) {  // half an angle below 0.05: the next terms are below rounding
        double c = 1.0 - h2 * (1.0 / 2.0 - h2 * (1.0 / 24.0 - h2 * (1.0 / 720.0 - h2 / 40320.0)));
        double f =
            0.5 - h2 * (1.0 / 12.0 - h2 * (1.0 / 240.0 - h2 * (1.0 / 10080.0 - h2 / 725760.0)));
        return (perp_quat){c, f * v.x, f * v.y, f * v.z};
    }
    double half = sqrt(h2), s, c;
    pp_sine_cosine(half, &s, &c);
    s = 0.5 * s / half;
    return (perp_quat){c, s * v.x, s * v.y, s * v.z};
}

// The rotation vector of a unit quaternion, at most pi long: exp(log(q)) = q or -q.
static inline perp_vec3 pp_quat_log(perp_quat q)
{
    perp_vec3 v = q.w < 0.0 ? pp_vec(-q.x, -q.y, -q.z) : pp_vec(q.x, q.y, q.z);
    double s = sqrt(pp_dot3(v, v));
    double angle = 2.0 * pp_atan2(s, fabs(q.w));
    return s < 1e-12 ? pp_scale(2.0, v) : pp_scale(angle / s, v);
}

// R x = q (0, x) q*, for a unit quaternion.
static inline pp_mat3 pp_quat_matrix(perp_quat q)
{
    double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    return (pp_mat3){{1.0 - 2.0 * (yy + zz), 2.0 * (xy - wz), 2.0 * (xz + wy), 2.0 * (xy + wz),
                      1.0 - 2.0 * (xx + zz), 2.0 * (yz - wx), 2.0 * (xz - wy), 2.0 * (yz + wx),
                      1.0 - 2.0 * (xx + yy)}};
}

// The quaternion of a rotation matrix, w >= 0. It is computed from its largest component (Shepperd
// 1978), so that nothing cancels: d[k] is four times the square of component k.
static inline perp_quat pp_matrix_quat(const pp_mat3 *R)
{
    const double *m = R->m;
    double d[4] = {1.0 + m[0] + m[4] + m[8], 1.0 + m[0] - m[4] - m[8], 1.0 - m[0] + m[4] - m[8],
                   1.0 - m[0] - m[4] + m[8]};
    int k = 0;
    for (int i = 1; i < 4; i++) {
        k = d[i] > d[k] ? i : k;
    }
    double x = m[7] - m[5], y = m[2] - m[6], z = m[3] - m[1];
    double xy = m[1] + m[3], xz = m[2] + m[6], yz = m[5] + m[7];
    perp_quat q = {z, xz, yz, d[3]};
    if (k == 0) {
        q = (perp_quat){d[0], x, y, z};
    } else if (k == 1) {
        q = (perp_quat){x, d[1], xy, xz};
    } else if (k == 2) {
        q = (perp_quat){y, xy, d[2], yz};
    }
    double s = (q.w < 0.0 ? -1.0 : 1.0) / pp_quat_norm(q);
    return (perp_quat){s * q.w, s * q.x, s * q.y, s * q.z};
}

// ── Poses ────────────────────────────────────────────────────────────────────────────────────────

// A point given in the frame, in the frame that X is given in.
static inline perp_vec3 pp_pose_point(const pp_pose *X, perp_vec3 p)
{
    return pp_add(X->p, pp_mul(&X->R, p));
}

// The reverse of pp_pose_point.
static inline perp_vec3 pp_pose_local(const pp_pose *X, perp_vec3 p)  // the inverse
{
    return pp_mul_t(&X->R, pp_sub(p, X->p));
}

// X_AB X_BC = X_AC.
static inline pp_pose pp_pose_mul(const pp_pose *A, const pp_pose *B)
{
    return (pp_pose){pp_pose_point(A, B->p), pp_mat_mul(&A->R, &B->R)};
}
