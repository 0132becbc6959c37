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
// u are accelerations and r forces while the motion is smooth, velocities and impulses in an impact.

typedef enum pp_law_mode {
    PP_OFF,     // r = 0
    PP_HELD,    // u = 0: bilateral, closed, sticking, a motor that keeps its rate
    PP_SLIDES,  // contact: u_n = 0, r_t = -mu r_n d; motor or dry friction: r = -bound d
} pp_law_mode;

typedef enum pp_law_kind {
    PP_LAW_EQUAL,    // u = 0
    PP_LAW_BOX,      // |r| <= bound, and -bound sign(u) where u != 0
    PP_LAW_RUBBING,  // r = -bound d: d is known
    PP_LAW_CONTACT,  // 0 <= r_n _|_ u_n >= 0, |r_t| <= mu r_n against u_t
    PP_LAW_SLIDING,  // 0 <= r_n _|_ u_n >= 0, r_t = -mu r_n d: d is known
    PP_LAW_TURN,     // |r| <= mu r_n of another law, against u: torsional and rolling friction
    PP_LAW_TURNING,  // r = -mu r_n d: d is known
} pp_law_kind;

typedef struct pp_law {
    pp_law_kind kind;
    int at, size;  // rows: contacts n, t (plane), n, t, o (space); n only without friction
    double mu;
    int on;        // PP_LAW_TURN, PP_LAW_TURNING: the law of their contact, which stands before
    double extra;  // normal impulse besides r_n that friction may lean on
    double bound;
    double d[2];       // direction of sliding in (t, o)
    pp_law_mode mode;  // in: of pp_law_linear; out: of pp_law_solve
} pp_law;

typedef struct pp_laws {
    int count, rows;
    pp_law *law;
    const double *A;   // rows x rows, column-major, symmetric
    const double *b;   // rows
    double tolerance;  // of u and r relative to their sizes, below which a mode is undecided
    const double
        *scale;      // rows: what A is measured by in deciding its rank              theory (J10)
    double least_u;  // size of the rates that u is made of, before they cancel
    double rank;     // part of the scaled matrix below which it counts as singular; 0: PP_LAW_RANK
} pp_laws;

typedef struct pp_law_info {
    int rank, equations;  // of the linear equations: rank < equations: r is not unique
    double residual;      // of the law, relative                                        theory (H8)
    bool many;            // more than one answer was seen
    bool wedged;          // a sliding contact whose normal force would pull: Painleve's paradox
    int wedge;            // that law
    bool other_law;       // impacts: Poisson's law in place of Newton's, or the other way round
    double share;         // impacts: of the restitution that was asked for
} pp_law_info;

// r for the modes as they stand: linear equations, least norm.                     theory (H3), (H5)
perp_status pp_law_linear(const pp_laws *laws, double *r, pp_law_info *info, pp_arena *arena);
// Whether the forces of law i are the same in all solutions of those equations.
perp_status pp_law_determined(const pp_laws *laws, int i, bool *determined, pp_arena *arena);
// Modes and r. A negative status: none was found.                                       theory (H7)
perp_status pp_law_solve(pp_laws *laws, double *r, pp_law_info *info, const perp_env *env,
                         pp_arena *arena);
// Whether the equations alone have no answer; y (rows): the checked proof of it.           theory (U11)
perp_status pp_law_contradict(const pp_laws *laws, double *y, bool *proved, pp_arena *arena);
// What the rank of A is decided by: the scale of a row, or its own diagonal where there is none.
double pp_law_scale(const pp_laws *laws, int row);
// Rows of equations that are not combinations of others are marked in keep (rows, all false on entry).
perp_status pp_law_independent(const pp_laws *laws, bool *keep, pp_arena *arena);
// Forces under exact friction cones: of contacts in space, nothing boxed, no impulse to lean on. r is the best
// iterate also where the status is negative, unless memory or numbers ran out.        theory (H7a)
bool pp_law_cone_possible(const pp_laws *laws);
perp_status pp_law_cone(const pp_laws *laws, double *r, const perp_env *env, pp_arena *arena);
// The same, but where the equations leave the forces undetermined and the least of them break the laws, the least of those
// that keep them. Continuous in the state; where no forces keep the laws, near those that come closest.   theory (H19)
perp_status pp_law_forces(const pp_laws *laws, double *r, pp_law_info *info, pp_arena *arena);
// Residual of laws that are kept: rounding. Once the problem of modes has answered with the modes as they are, within its
// own tolerance, they live on to a little more than that: beyond it the problem has another answer.
static const double PP_LAW_KEPT = 1e-11, PP_LAW_KEPT_ON = 2e-9;
// u = A r + b, and what u and r are measured by.
void pp_law_rates(const pp_laws *laws, const double *r, double *u);
void pp_law_sizes(const pp_laws *laws, const double *r, double *size_u, double *size_r);
// How far (u, r) is from obeying the laws, relative to the sizes of both.               theory (H8)
double pp_law_residual(const pp_laws *laws, const double *r, pp_arena *arena);

// A direction in the space of rows; also a functional on rates.
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
// The normal of a contact with the friction that known directions bring; by_mode: those of all that slides.
pp_row_direction pp_row_direction_normal(const pp_laws *laws, int i, bool by_mode);
static inline bool pp_law_is_turning(const pp_law *law)
{
    return law->kind == PP_LAW_TURN || law->kind == PP_LAW_TURNING;
}
// M x = b for the forces of given modes: r = known + sum x_j acts_j, where zero_j . u vanishes.
typedef struct pp_equations {
    int n;
    pp_row_direction *acts, *zero;  // n
    int *owner;                     // n: laws; of a contact the normal comes first
    double *M, *b, *x;
    double *scale;  // n
} pp_equations;
static const double PP_LAW_RANK = 1e-10;  // of the scaled matrix
// r: forces that are known, the rest zero.
perp_status pp_law_equations(const pp_laws *laws, pp_equations *out, double *r, pp_arena *arena);
void pp_push_add(const pp_row_direction *c, double s, double *r);
double pp_row_direction_coupling(const pp_laws *laws, const pp_row_direction *f,
                                 const pp_row_direction *c);  // f A c
double pp_row_direction_value(const pp_row_direction *f, const double *u);
