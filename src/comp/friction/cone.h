// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The law of one contact, for all solvers of contact problems: projection, slope and support of
// discs and polygons, the projection on the cone, and one contact solved exactly.
#pragma once

#include "comp/comp.h"

enum { PP_DIM_MAX = 6 };

// ── The law of one contact (cone.c) ──────────────────────────────────────────────────────────────

// The friction limit of one group: r_g in mu r_n D, D the unit ball or polygon.
typedef struct pp_disc {
    int first, size;          // components of the group
    int nd;                   // 0: ball; else facets of the polygon
    double mu;                // radius per unit of normal reaction
    double cosine, sine;      // of half the angle between two vertices, π / nd
    const double *direction;  // nd vertices (cos, sin) of the unit polygon; NULL when nd = 0
} pp_disc;

// The cone K = { r : r_g in mu_g r_n D_g for each group g }.                        theory (C2)
typedef struct pp_cone_law {
    int dim, groups;
    pp_disc disc[PP_GROUPS_MAX];
} pp_cone_law;

// The laws of all contacts, in the arena.
perp_status pp_cone_laws_create(const perp_fcp *fcp, pp_arena *arena, pp_cone_law **out);

void pp_cone_law_project(const pp_cone_law *law, double *p);        // p = P_K(p), Euclidean
double pp_cone_law_shift(const pp_cone_law *law, const double *u);  // sum_g mu_g h_g, theory (C13)
double pp_disc_support(const pp_disc *disc, const double *u);       // max_D(-d . u), u of the group
int pp_disc_vertex(const pp_disc *disc, const double *p);  // vertex d with the largest d . p
// p = the point of radius D nearest to p. Where slope is given: dp/dp (2 x 2, column-major) in
// slope[0..3], dp/dradius in slope[4..5]; for groups of one component slope[0] and slope[4].
void pp_disc_project(const pp_disc *disc, double radius, double *p, double *slope);
// e = r - P_K(r - rho (u + shift n)): zero exactly at solutions.              theory (C7), (C8)
void pp_cone_law_natural(const pp_cone_law *law, double rho, const double *r, const double *u,
                         double *e);
// The same, or where friction is strong (PP_STRONG_FRICTION) F of theory (C21).
void pp_cone_law_measure(const pp_cone_law *law, double rho, const double *r, const double *u,
                         double *e);

// ── One contact, solved exactly (one_contact*.c) ─────────────────────────────────────────────────

// Finds r with the law (C2) and u = W r + q, theory (C26); W is dim x dim, column-major. r is a
// guess on entry. Of several solutions: open (r = 0) if q_n >= 0, else stick if it exists, else a
// slip. Returns the natural map relative to |r| + rho |q|: round-off where solved. meter (NULL: not
// counted) is charged with iterations; closed forms are part of the cost of a sweep.
double pp_one_contact(const pp_cone_law *law, const double *W, const double *q, double *r,
                      pp_meter *meter);

enum { PP_ONE_CONTACT_DIGITS = 12 };
// A relative natural map below this is round-off. The friction of a slipping contact is mu times a
// rounded normal reaction, hence the term with mu.
static inline double pp_one_contact_ok(const pp_cone_law *law)
{
    double mu = 0.0;
    for (int g = 0; g < law->groups; g++) {
        mu += law->disc[g].mu;
    }
    return fmax(1e-13, 1e-15 * mu);
}

// The measure that pp_one_contact returns.
double pp_one_contact_error(const pp_cone_law *law, const double *W, const double *q,
                            const double *r);
// One function for each kind of law: they improve r and return its error.
double pp_one_contact_plane(const pp_cone_law *law, const double *W, const double *q, double *r);
double pp_one_contact_disc(const pp_cone_law *law, const double *W, const double *q, double *r);
double pp_one_contact_polygon(const pp_cone_law *law, const double *W, const double *q, double *r);
double pp_one_contact_newton(const pp_cone_law *law, const double *W, const double *q, double *r,
                             pp_meter *meter);
// x = A \ x for the leading n x n of a dim-strided column-major A, n <= 6. False: singular.
bool pp_small_solve(int n, const double *A, int ld, double *x);
