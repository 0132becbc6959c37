// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to solve/: contacts, limits and boxed rows by their modes, Newton's method in the space of velocities.
//
// Each contact is open, sticks or slips. With the modes guessed from p and u, and a proximal term
// alpha (p - p_last) that keeps redundant contacts apart, its law is linear:  dp = c - K J dnu.
//
//   open    p = 0                               c = -p             K = 0
//   stick   u + alpha dp = 0                    c = -u / alpha     K = 1 / alpha
//   slip    u_n + alpha dp_n = 0,  p_t = mu p_n e(p_t - rho u_t)   K = (1, mu e) (1, 0, 0)' / alpha + k_f f f'
//
// With a polygon e is one of its vertices, and k_f = 0, or the normal of an edge, along which it sticks:
// k_f = 1 / alpha, and cos(pi / nd) mu in place of mu, theory (C38).
//
// Torsional and rolling friction are further sets of one or two rows with limits mu p_n of their own; each sticks or
// slips by itself, with an alpha and a rho in units of its own mobility. A closed contact has
//
//   K = (1, mu_g e_g ...) (1, 0 ...)' / alpha  +  sum over sets: 1 / alpha_g (stick), k_f f f' (slip)
//
// A boxed row (a motor of limited effort, dry friction of a joint) sticks or is at one of its bounds:
//
//   bound   p = bound                           c = bound - p      K = 0
//   within  u + (alpha + gamma) dp = 0          c = -u / (alpha + gamma),  u = J nu + rate + bias + gamma p
//
// and dnu solves (M + sum J' K J) dnu = sum J' c.                                       theory (S8)
//
// Joints: rates are always taken with joints closed exactly (pp_closed_solve), so that bilateral rows have no laws here.
// In the matrix they are rows that stick. In joint coordinates the unknowns are the rates of the tree, H takes the place of
// M, and only loops, drives and springs are left of the bilateral rows.                  theory (S14)
#pragma once

#include "solve/run.h"

typedef enum pp_contact_mode {
    PP_MODE_NONE,
    PP_MODE_OPEN,
    PP_MODE_STICK,
    PP_MODE_SLIP,
    PP_MODE_LOWER,  // of a boxed row
    PP_MODE_UPPER
} pp_contact_mode;

enum { PP_MODES_PATHS = 3 };  // central paths, which keep more or less far inside of the cones
enum { PP_MODE_ROWS = 6 };  // of a contact: normal, two of sliding, one of torsion, two of rolling

// Friction rows that share a limit mu p_n: sliding, torsion or rolling.
typedef struct pp_mode_friction {
    int first, size;  // rows of the contact, of which 0 is the normal; 1 or 2
    int sides;        // of the polygon in place of the disc, 0: none
    bool moment;      // torsion or rolling: rows in rad/s and N m s
    bool slips;
    bool edge;         // slip: across an edge of the polygon
    double mu;         // [-], of moments [m]
    double mobility;   // of its rows
    double arm;        // makes rates and moments speeds and impulses, 1 for sliding [m]
    double stiffness;  // 1 / alpha
    double grip;       // slip: mu along e
    double e[2];       // slip: direction of the friction,
    double share;      // part of p_t - rho u_t that it can be
    double k_f;        // slip: K across it
} pp_mode_friction;

// Right factor of K of a closed contact, whose left one is (1, mu e).
typedef enum pp_mode_law {
    PP_MODE_EXACT,       // (1, 0): Alart and Curnier's map
    PP_MODE_ASSOCIATED,  // (1, mu e), symmetric: the convex problems of modes_convex.c
    PP_MODE_SHIFTED,     // (1, mu e + mu u_t / |u_t|): the same, with a shift that follows the slip
    PP_MODE_CENTRAL      // K of each contact as given: the central path of modes_path.c
} pp_mode_law;

// A contact, its law made linear; or a limit, or a boxed row (boxed), or a bilateral row, in the matrix only.
typedef struct pp_mode_contact {
    const pp_row *n, *t;  // t: its friction rows, one after the other
    double *p;            // impulse of n, in the answer; NULL: bilateral
    int size;             // how many, 0 to 5
    int sets;             // of friction rows, 0 to 3
    pp_mode_friction *friction;
    bool boxed;
    bool repeats;     // joint coordinates: its J and rate are those of the contact before
    int only;         // the one rate that it is along, -1: several;
    const double *J;  // rows n, t in the rates of the tree,
    double still[PP_MODE_ROWS];  // and their rates at qd = 0
    int body[2], count;          // free bodies
    int pair;                    // block of the two bodies, -1: there is one body
    pp_contact_mode mode;        // slip: one of its sets does
    double mobility;             // of the normal row, with its compliance
    double bias;                 // of the normal row, less the slop [m/s]
    double weight;     // of errors of its rate: what they do to velocities, 1 without compliance
    double stiffness;  // 1 / alpha
    double u[PP_MODE_ROWS], c[PP_MODE_ROWS];
    double turn[2];   // PP_MODE_SHIFTED: slope of the shift mu |u_t| by its sliding rates
    const double *K;  // PP_MODE_CENTRAL: by columns,
    int dim;          // for so many of its rows
} pp_mode_contact;

typedef struct pp_modes {
    pp_run *run;
    pp_mode_contact *contact;  // nn, nm, then bilateral rows
    int count;                 // with laws: nn + nm
    int rows;                  // all of them
    bool closes;               // joints are closed at every evaluation
    double *start;             // nv: M nu_l + p_ext
    double *nu;                // nv
    double *step;              // nv: dnu; joint coordinates: n rates
    double scale;              // speed that rounding is measured by [m/s],
    double least_scale;        // whatever the impulses
    double speed;              // of the bodies, by which the certificate judges them [m/s]
    double *energy;            // bodies: at their speeds, by which it judges energy [J]
    double slop;               // gaps over the step that count as none, 0: few contacts [m/s]
    double proximal;           // alpha in units of the mobility
    bool stalled;              // the error is accepted, and no longer falls
    double *best;              // impulses of least error of convex problems that failed; NULL: none
    double best_error;         // there [m/s]
    // The system.
    const pp_tree_pass *tree;  // joint coordinates; NULL: bodies
    const double *H;           // its mass matrix with folded rows, n x n
    double *qd, *push;         // n: rates, and generalised impulses at p = 0
    double *still;             // nb: rates of bilateral rows at qd = 0, biases included
    int nodes, n;              // bodies in it and their velocities; n: rates of the tree
    int *node;                 // bodies: place among them, -1: touches nothing
    int *body;                 // nodes
    int *at;                   // nodes: first velocity
    int *diagonal;             // nodes: where their blocks start
    int *block;                // pairs: where their blocks start
    double *x, *upper;
    int values;
    int *pivot;  // dense
    bool dense, symmetric, factored;
    pp_mode_law law;  // whose slopes K has
    pp_ldl *ldl;
    int steps;  // factorisations, or refinements
} pp_modes;

// Compliance of bilateral rows in the matrix, in units of their mobility. Their error is one of the step, not of the answer; but
// where joints yield by as much as the least proximal term, steps of a machine that is wedged do not converge.
#define PP_MODES_STIFF 1e-9

// Rates and modes of all contacts at the impulses in run->out; returns the worst error [m/s].
double pp_modes_evaluate(pp_modes *s);
// Newton's step of the impulses in these modes, with s->proximal; false: singular, or the budget is spent.
bool pp_modes_step(pp_modes *s);
// From the impulses of the step before; solved: to rounding, or as well as the tolerance asks.
perp_status pp_modes_newton(pp_modes *s, bool *solved);
// From the impulses in run->out.
perp_status pp_modes_newton_from_answer(pp_modes *s, bool *solved);
// To rounding from the impulses in run->out, where redundant contacts agree; never a larger error.
perp_status pp_modes_polish(pp_modes *s);
// The same by convex problems with shifts, where Newton's method does not converge (modes_convex.c). Where the contacts are
// not for them, nothing changes.
perp_status pp_modes_convex(pp_modes *s, bool *solved);
perp_status pp_modes_keep_best(pp_modes *s, double error);  // impulses in run->out, in s->best
// The same along one of PP_MODES_PATHS central paths (modes_path.c). Where it ends early, its impulses are left in run->out.
// Where the contacts are not for it, nothing changes.
bool pp_modes_has_paths(const pp_modes *s);
perp_status pp_modes_path(pp_modes *s, int which, bool *solved);
double pp_modes_enough(const pp_modes *s);  // error at which paths and convex problems end [m/s]
double pp_modes_goal(const pp_modes *s);    // error that is accepted where it no longer falls [m/s]
double pp_modes_accepted(const pp_modes *s);  // error that is accepted at the end [m/s],
double pp_modes_plateau(const pp_modes *s);   // and where there is a slop and nothing lowers it
// The error as the certificate measures it [m/s]: more where what it does to the energy is more of what is allowed (K1), and in
// joint coordinates by the bodies alone, where a foot is light though the robot on it is not.
double pp_modes_judged(pp_modes *s, double error);
double pp_modes_energy_created(pp_modes *s);  // over half of what the certificate allows
// Whether the impulses in run->out obey the laws as the certificate judges them; none pulls afterwards.
bool pp_modes_obeys_laws(pp_modes *s);
bool pp_modes_are_many(const pp_modes *s);
bool pp_modes_has_feet(const pp_modes *s);  // rings of sticking contacts, not solved to rounding
void pp_modes_set_slop(pp_modes *s);        // of few contacts, where nothing comes to rounding
void pp_modes_use_slop(pp_modes *s,
                       double width);  // gaps over the step, in the biases of all contacts [m/s]

// Friction impulses of a contact within the answer; of a contact without friction nothing is read.
double *pp_modes_friction_impulses(const pp_modes *s, const pp_mode_contact *c);
void pp_modes_velocities(pp_modes *s);  // s->nu or s->qd at the impulses in run->out, joints closed
// J nu + rate of row k of a contact at these, 0 its normal, then friction; and J dnu at s->step.
double pp_modes_rate(const pp_modes *s, const pp_mode_contact *c, int k);
double pp_modes_step_rate(const pp_modes *s, const pp_mode_contact *c, int k);

// What a unit impulse along a row does to its own rate, of the bodies by themselves; 1: they are not free.
double pp_modes_body_mobility(const pp_run *r, const pp_row *row);

// The system in joint coordinates (modes_tree.c); s->tree is set.
perp_status pp_modes_tree_prepare(pp_modes *s, pp_arena *arena);
void pp_modes_tree_rates(pp_modes *s);  // s->qd at the impulses in run->out
bool pp_modes_tree_factor(pp_modes *s);
void pp_modes_tree_push(pp_modes *s);
void pp_modes_tree_solve(pp_modes *s);

perp_status pp_modes_prepare(pp_modes *s, pp_arena *arena);
bool pp_modes_factor(pp_modes *s);  // false: singular
void pp_modes_push(pp_modes *s);    // step = sum J' c of all contacts
bool pp_modes_solve(pp_modes *s);   // step = (M + sum J' K J)^-1 step
bool pp_modes_solve_step(
    pp_modes *s);  // the same, factored where it has to be; false: singular, or no budget
