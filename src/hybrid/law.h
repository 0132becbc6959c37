// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to hybrid/: the laws of holds as linear equations and as a complementarity problem.
#pragma once

#include "hybrid/hybrid.h"

#include "comp/comp.h"
#include "math/math.h"

// ── Laws: the complementarity problem of one instant ─────────────────────────────────────────────
//
//   u = A r + b,  A = J H^-1 J^T
//
// While the motion is smooth, u are accelerations and r forces; in an impact, velocities and
// impulses. Every law relates the components of u and r in its own rows. Known directions of
// sliding make a law linear in the normal force.

// The mode of a law: which of its conditions are equations.
typedef enum pp_law_mode {
    PP_OFF,     // r = 0
    PP_HELD,    // u = 0: bilateral, closed, sticking, a motor that keeps its rate
    PP_SLIDES,  // contact: u_n = 0, r_t = -mu r_n d; motor or dry friction: r = -bound d
} pp_law_mode;

// The form of a law. d is the direction of sliding, a unit vector; `against u` means r = -mu r_n
// u/|u| (or -bound sign u) where u != 0.                                                theory (H7)
typedef enum pp_law_kind {
    PP_LAW_EQUAL,    // u = 0
    PP_LAW_BOX,      // |r| <= bound, and -bound sign(u) where u != 0
    PP_LAW_RUBBING,  // r = -bound d: d is known
    PP_LAW_CONTACT,  // 0 <= r_n _|_ u_n >= 0, |r_t| <= mu r_n against u_t
    PP_LAW_SLIDING,  // 0 <= r_n _|_ u_n >= 0, r_t = -mu r_n d: d is known
    PP_LAW_TURN,     // torsional or rolling friction: |r| <= mu r_n of another law, against u
    PP_LAW_TURNING,  // r = -mu r_n d: d is known
} pp_law_kind;

typedef struct pp_law {
    pp_law_kind kind;
    int at, size;  // rows: contacts n, t (plane), n, t, o (space); n only without friction
    double mu;
    int on;        // PP_LAW_TURN, PP_LAW_TURNING: the law of their contact, which stands before
    double extra;  // normal impulse besides r_n that friction acts on (Poisson's second phase)
    double bound;
    double d[2];       // direction of sliding in (t, o)
    pp_law_mode mode;  // input of pp_law_linear and pp_law_forces, output of pp_law_solve
} pp_law;

// The laws of an instant over common rows.
typedef struct pp_laws {
    int count, rows;
    pp_law *law;
    const double *A;      // rows x rows, column-major, symmetric
    const double *b;      // rows
    double tolerance;     // of u and r relative to their sizes: smaller values count as zero
    const double *scale;  // rows, or NULL: scales in decisions about rank, see ties.c
    double least_u;       // size of the terms that u is the sum of, before they cancel
    double rank;          // scaled pivots below are zero; 0: PP_LAW_RANK
} pp_laws;

// What a solution found out about the laws besides r and modes.
typedef struct pp_law_info {
    int rank, equations;  // of the linear equations; rank < equations: r is not determined
    double residual;      // of the law, relative                                        theory (H8)
    bool many;            // more than one solution was found
    bool wedged;          // a sliding contact whose normal force would pull: Painleve's paradox
    int wedge;            // that law
    bool other_law;       // impacts: Poisson's law in place of Newton's, or the other way round
    double share;         // impacts: the part of the given restitution that acted
} pp_law_info;

// Forces r of the given modes: the solution of least norm of their linear equations, whether
// or not r obeys the laws.                                                        theory (H3), (H5)
perp_status pp_law_linear(const pp_laws *laws, double *r, pp_law_info *info, pp_arena *arena);
// Whether the forces of law i are the same in all solutions of these equations.
perp_status pp_law_determined(const pp_laws *laws, int i, bool *determined, pp_arena *arena);
// Modes and forces r that obey the laws. PERP_INEXACT: r obeys them to 1e-6 only; a
// negative status: none was found.                                                      theory (H7)
perp_status pp_law_solve(pp_laws *laws, double *r, pp_law_info *info, const perp_env *env,
                         pp_arena *arena);
// Whether the equations alone have no solution. y (rows): the proof, which has been checked.
//                                                                                      theory (U11)
perp_status pp_law_contradict(const pp_laws *laws, double *y, bool *proved, pp_arena *arena);
// Scale of a row in decisions about rank: the given one, else 1/sqrt of its diagonal.  theory (J10)
double pp_law_scale(const pp_laws *laws, int row);
// Marks a largest set of independent rows of equations in keep (rows, all false on entry).
perp_status pp_law_independent(const pp_laws *laws, bool *keep, pp_arena *arena);
// Forces under exact friction cones. Possible where a contact in space has no given direction and no
// law has an extra impulse; pp_law_cone takes no boxed efforts. work: the most that is spent
// [factorisations]. r is the best iterate where the status is PERP_ERR_LIMIT.          theory (H7a)
bool pp_law_cone_possible(const pp_laws *laws);
perp_status pp_law_cone(const pp_laws *laws, double work, double *r, const perp_env *env,
                        pp_arena *arena);
// Forces without friction, the solution of a convex program. Possible where every contact has its
// normal only and no effort is boxed. PERP_ERR_INFEASIBLE: the laws contradict each other.
//                                                                                      theory (H7b)
bool pp_law_is_convex(const pp_laws *laws);
perp_status pp_law_convex(const pp_laws *laws, double *r, pp_arena *arena);
// As pp_law_linear, but where the equations leave forces undetermined and those of least norm
// violate the laws, the lawful ones of least norm. Continuous in the state; where no forces are
// lawful, close to the nearest.                                                        theory (H19)
perp_status pp_law_forces(const pp_laws *laws, double *r, pp_law_info *info, pp_arena *arena);
// Largest residuals of forces that count as lawful: rounding; and a little more than the tolerance
// of pp_law_solve once that has returned the present modes, since it would only return them again.
static const double PP_LAW_KEPT = 1e-11, PP_LAW_KEPT_ON = 2e-9;
// u = A r + b; and the sizes of u and r that tolerances are relative to.
void pp_law_rates(const pp_laws *laws, const double *r, double *u);
void pp_law_sizes(const pp_laws *laws, const double *r, double *size_u, double *size_r);
// Residual of the laws at (u, r): the largest component of the natural map, relative to both sizes.
//                                                                                       theory (H8)
double pp_law_residual(const pp_laws *laws, const double *r, pp_arena *arena);

// A direction in the space of rows: a combination of forces, or a functional on rates.
typedef struct pp_row_direction {
    int count;
    int row[6];
    double s[6];
} pp_row_direction;

pp_row_direction pp_row_direction_row(int row);
// Friction of a law along d; its first row, and how many there are.
pp_row_direction pp_row_direction_tangent(const pp_law *law, const double d[2]);
int pp_law_tangent(const pp_law *law);
int pp_law_tangents(const pp_law *law);
// Length of the friction part of x (rows): of forces, or of rates of slip; 0 without friction.
double pp_law_tangential(const pp_law *law, const double *x);
// The normal of a contact together with the friction of known directions, n - mu d.t; by_mode: of
// all friction whose mode is sliding.
pp_row_direction pp_row_direction_normal(const pp_laws *laws, int i, bool by_mode);
static inline bool pp_law_is_turning(const pp_law *law)
{
    return law->kind == PP_LAW_TURN || law->kind == PP_LAW_TURNING;
}
// The equations M x = b of given modes: r = known + sum x_j acts_j, such that
// zero_i . u = 0 for all i.                                                             theory (H5)
typedef struct pp_equations {
    int n;
    pp_row_direction *acts, *zero;  // n
    int *owner;                     // n: laws; of a contact the normal comes first
    double *M, *b, *x;
    double *scale;  // n
} pp_equations;
static const double PP_LAW_RANK = 1e-10;  // of the scaled matrix
// Poses them. r (rows): the known forces, zero in all other rows.
// PERP_ERR_MEMORY is the only failure.
perp_status pp_law_equations(const pp_laws *laws, pp_equations *out, double *r, pp_arena *arena);
// r += s c
void pp_push_add(const pp_row_direction *c, double s, double *r);
double pp_row_direction_coupling(const pp_laws *laws, const pp_row_direction *f,
                                 const pp_row_direction *c);  // f A c
double pp_row_direction_value(const pp_row_direction *f, const double *u);
