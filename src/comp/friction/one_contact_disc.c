// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// One closed contact (q_n < 0) in space with Coulomb's disc.
//
// Write r_t = -mu r_n e and k = -q_n. Then u_n = 0 gives r_n = k / (W_nn - mu W_nt e), and stick
// and slip together are: |e| <= 1, l >= 0, l (1 - |e|) = 0, den u_t = l e, that is
//
//   (A + l I) e = b,   A = mu (k W_tt + q_t W_nt),  b = k W_tn + W_nn q_t            theory (C27)
//
// the optimality condition of a trust-region step. l = 0 with |e| <= 1 is stick. Otherwise 1 /
// |e(l)| = 1 is solved for l by Newton's method, which takes three or four steps since 1 / |e| is
// nearly linear in l (Hebden 1973; More, Sorensen 1983), safeguarded by bisection between the
// largest root of det(A + l I) and a bound by the sizes of b and A. Where A is too unsymmetric for
// that, all slip angles are enumerated: e x (b - A e) = 0 is a quartic in the tangent of half the
// angle, whose roots are enclosed between the roots of its derivatives.
#include "comp/friction/cone.h"

#include <math.h>
#include <string.h>

// The data of (C27).
typedef struct slip {
    double A[2][2], b[2];
    double k, mu, Wnn, Wnt[2];
} slip;

// Collects A, b and the normal row; W is column-major with the order n, t, o.
static slip slip_of(double mu, const double *W, const double *q)
{
    slip s = {.k = -q[0], .mu = mu, .Wnn = W[0], .Wnt = {W[3], W[6]}};
    for (int i = 0; i < 2; i++) {
        s.b[i] = s.k * W[1 + i] + W[0] * q[1 + i];
        for (int j = 0; j < 2; j++) {
            s.A[i][j] = mu * (s.k * W[(1 + i) + (1 + j) * 3] + q[1 + i] * s.Wnt[j]);
        }
    }
    return s;
}

// The reaction r of the direction e; false where no positive normal reaction gives u_n = 0.
static bool reaction_of(const slip *s, const double e[2], double *r)
{
    double den = s->Wnn - s->mu * (s->Wnt[0] * e[0] + s->Wnt[1] * e[1]);
    r[0] = s->k / den;
    r[1] = -s->mu * r[0] * e[0];
    r[2] = -s->mu * r[0] * e[1];
    return den > 0.0 && pp_all_finite(3, r);
}

// e(l) = g / D with g = (l I + adj A) b, D = det(A + l I).
typedef struct secular {
    double g[2], D, E, norm;  // E = g.g, norm = sqrt E
} secular;

// g and D at l; the determinant and the adjugate of a 2 x 2 matrix.
static secular secular_at(const slip *s, double l)
{
    double a = s->A[0][0] + l, d = s->A[1][1] + l;
    secular f = {.g = {d * s->b[0] - s->A[0][1] * s->b[1], a * s->b[1] - s->A[1][0] * s->b[0]},
                 .D = a * d - s->A[0][1] * s->A[1][0]};
    f.E = f.g[0] * f.g[0] + f.g[1] * f.g[1];
    f.norm = sqrt(f.E);
    return f;
}

// Largest root of det(A + l I), or 0 when there is none above 0.
static double pole(const slip *s)
{
    double half = 0.5 * (s->A[0][0] + s->A[1][1]), diff = 0.5 * (s->A[0][0] - s->A[1][1]);
    double disc = diff * diff + s->A[0][1] * s->A[1][0];
    double root = disc > 0.0 ? sqrt(disc) - half : 0.0;
    return root > 0.0 ? root : 0.0;
}

// The direction e of the slip by Newton's method on l; false: not converged.
static bool slip_by_multiplier(const slip *s, double *e)
{
    double low = pole(s), high = fabs(s->b[0]) + fabs(s->b[1]), l = low;
    for (int i = 0; i < 2; i++) {
        high += fabs(s->A[i][0]) + fabs(s->A[i][1]);
    }
    for (int step = 0; step < 60; step++) {
        secular f = secular_at(s, l);
        double miss = f.D - f.norm;  // has the sign of 1/|e| - 1
        if (fabs(miss) <= 4e-16 * (f.norm + fabs(f.D)) || high - low <= 1e-16 * high) {
            e[0] = f.g[0] / f.norm;
            e[1] = f.g[1] / f.norm;
            return f.norm > 0.0;
        }
        if (miss < 0.0) {
            low = l;
        } else {
            high = l;
        }
        // derivative of D / norm, times E norm
        double slope =
            (s->A[0][0] + s->A[1][1] + 2.0 * l) * f.E - f.D * (s->b[0] * f.g[0] + s->b[1] * f.g[1]);
        double next = l - miss * f.E / slope;
        l = next > low && next < high ? next : 0.5 * (low + high);
    }
    return false;
}

// ── All slips ────────────────────────────────────────────────────────────────────────────────────

// c_0 + c_1 x + ... by Horner's scheme
static double polynomial(int degree, const double *c, double x)
{
    double value = c[degree];
    for (int k = degree - 1; k >= 0; k--) {
        value = value * x + c[k];
    }
    return value;
}

// A root between low and high, where the signs differ, to the last bit.
static double bisect(int degree, const double *c, double low, double high)
{
    bool rising = polynomial(degree, c, low) < 0.0;
    for (int step = 0; step < 200; step++) {
        double middle = 0.5 * (low + high);
        // low and high are neighbours
        if (!(middle > low && middle < high)) {
            break;
        }
        if ((polynomial(degree, c, middle) < 0.0) == rising) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return 0.5 * (low + high);
}

// The real roots of a quartic, ascending, and its extrema as well, since a double root may round to
// an extremum near zero. Roots of a polynomial lie between the roots of its derivative: from degree
// 1 upwards. All lie within Cauchy's bound.
static int roots_and_extrema(const double quartic[5], double *root)
{
    double bound = 1.0, known[8];
    int count = 0;
    for (int k = 0; k < 4; k++) {
        bound = fmax(bound, 1.0 + fabs(quartic[k] / quartic[4]));
    }
    for (int degree = 1; degree <= 4; degree++) {
        double c[5], next[8];
        int found = 0;
        for (int k = 0; k <= degree; k++) {  // the (4 - degree)-th derivative
            c[k] = quartic[k + 4 - degree];
            for (int m = 1; m <= 4 - degree; m++) {
                c[k] *= k + m;
            }
        }
        double left = -bound;
        for (int k = 0; k <= count; k++) {
            double right = k < count ? known[k] : bound;
            if ((polynomial(degree, c, left) < 0.0) != (polynomial(degree, c, right) < 0.0)) {
                next[found++] = bisect(degree, c, left, right);
            }
            if (degree == 4 && k < count) {
                next[found++] = right;
            }
            left = right;
        }
        memcpy(known, next, (size_t)found * sizeof *next);
        count = found;
    }
    memcpy(root, known, (size_t)count * sizeof *root);
    return count;
}

// e x (b - A e) = c0 + c1 cos + c2 sin + c3 cos 2 + c4 sin 2 of the angle measured from `origin`.
static void angle_series(const slip *s, double origin, double c[5])
{
    double x = pp_cos(origin), y = pp_sin(origin), x2 = pp_cos(2.0 * origin),
           y2 = pp_sin(2.0 * origin);
    double C = -0.5 * (s->A[0][1] + s->A[1][0]), D = 0.5 * (s->A[0][0] - s->A[1][1]);
    c[0] = 0.5 * (s->A[0][1] - s->A[1][0]);
    c[1] = s->b[1] * x - s->b[0] * y;
    c[2] = -s->b[1] * y - s->b[0] * x;
    c[3] = C * x2 + D * y2;
    c[4] = D * x2 - C * y2;
}

// Angles at which u_t may be along e; at most 7.
static int slip_angles(const slip *s, double *angle)
{
    double c[5], origin = 0.0, most = -1.0;
    // The origin of angles whose opposite is farthest from a root:
    // there t = tan(angle / 2) is infinite.
    for (int k = 0; k < 8; k++) {
        double at = 0.785398163397448310 * k;
        angle_series(s, at + 3.14159265358979324, c);
        double value = fabs(c[0] + c[1] + c[3]);
        if (value > most) {
            most = value;
            origin = at;
        }
    }
    if (!(most > 0.0)) {
        return 0;
    }
    angle_series(s, origin, c);
    const double quartic[5] = {c[0] + c[1] + c[3], 2.0 * c[2] + 4.0 * c[4], 2.0 * c[0] - 6.0 * c[3],
                               2.0 * c[2] - 4.0 * c[4], c[0] - c[1] + c[3]};
    double t[8];
    int count = roots_and_extrema(quartic, t);
    for (int k = 0; k < count; k++) {
        angle[k] = origin + 2.0 * pp_atan(t[k]);
    }
    return count;
}

// Newton's method on e x (b - A e) from an angle: roots of a badly scaled quartic lose digits.
static double polish_angle(const slip *s, double angle)
{
    for (int step = 0; step < 4; step++) {
        double c[5];
        angle_series(s, angle, c);
        double move = (c[0] + c[1] + c[3]) / (c[2] + 2.0 * c[4]);
        if (!(fabs(move) < 0.1)) {
            break;
        }
        angle -= move;
    }
    return angle;
}

// All slip angles, polished and as found; of several solutions the one of
// least normal reaction. Returns its error.
static double slip_by_angles(const pp_cone_law *law, const slip *s, const double *W,
                             const double *q, double *r)
{
    double angle[8], best = PP_INF, least = PP_INF;
    int count = slip_angles(s, angle);
    for (int k = 0; k < 2 * count; k++) {
        // polished angles first, then those of the quartic, in case Newton's method left the root
        double at = k < count ? polish_angle(s, angle[k]) : angle[k - count];
        double e[2] = {pp_cos(at), pp_sin(at)}, x[3];
        if (!reaction_of(s, e, x)) {
            continue;
        }
        double error = pp_one_contact_error(law, W, q, x);
        bool solved = error <= pp_one_contact_ok(law);
        bool had = best <= pp_one_contact_ok(law);
        bool better = solved ? !had || x[0] < least : error < best;
        if (better) {
            memcpy(r, x, sizeof x);
            best = error;
            least = x[0];
        }
    }
    return best;
}

double pp_one_contact_disc(const pp_cone_law *law, const double *W, const double *q, double *r)
{
    slip s = slip_of(law->disc[0].mu, W, q);
    secular f = secular_at(&s, 0.0);
    double x[3], e[2], best = PP_INF;
    bool found = false;
    // l = 0: stick where |e| <= 1
    if (f.D > 0.0 && f.norm <= f.D) {
        found = reaction_of(&s, (double[2]){f.g[0] / f.D, f.g[1] / f.D}, x);
    } else if (slip_by_multiplier(&s, e)) {
        found = reaction_of(&s, e, x);
    }
    if (found) {
        best = pp_one_contact_error(law, W, q, x);
        memcpy(r, x, sizeof x);
        if (best <= pp_one_contact_ok(law)) {
            return best;
        }
    }
    // (C27) failed: stick by W, and every slip
    double stick[3] = {-q[0], -q[1], -q[2]};
    if (pp_small_solve(3, W, 3, stick)) {
        pp_cone_law_project(law, stick);
        double error = pp_one_contact_error(law, W, q, stick);
        if (error < best) {
            best = error;
            memcpy(r, stick, sizeof stick);
        }
    }
    if (best > pp_one_contact_ok(law)) {
        double error = slip_by_angles(law, &s, W, q, x);
        if (error < best) {
            best = error;
            memcpy(r, x, sizeof x);
        }
    }
    return best;
}
