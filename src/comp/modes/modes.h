// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Third door of comp/: contacts by their modes, Newton's method in the space of velocities, for all who have contacts: steps
// of a simulation (solve/modes.c) and problems from files.
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
#pragma once

#include "comp/comp.h"

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
enum { PP_MODE_SETS = 3 };  // of friction rows of a contact
enum { PP_MODE_BODY = 6 };  // most velocities of a body
enum { PP_MODES_BLOCKS = 3 };  // arrays of impulses, of unlike rows

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
    double *p,
        *pt;   // impulses, in the answer: of the normal row, of friction rows; p NULL: bilateral
    int size;  // how many friction rows, 0 to 5
    int sets;  // of friction rows, 0 to 3
    pp_mode_friction *friction;
    bool boxed;
    bool has_slop;               // its bias is a gap over the step, and no rebound
    double lower, upper;         // boxed: bounds of p
    double gamma;                // compliance of the normal row [m/s per N s]
    double gap_rate;             // bias of the normal row as it is given [m/s]
    double bias[PP_MODE_ROWS];   // of all rows, that of the normal less the slop [m/s]
    double given[PP_MODE_ROWS];  // rates at velocities 0 [m/s]
    // Rows J: the normal, and friction rows `stride` numbers from one to the next. Of bodies a row has PP_MODE_BODY numbers
    // for each of them, in joint coordinates one for each rate.
    const double *J, *Jt;
    ptrdiff_t stride;
    int body[2], count;    // free bodies
    int pair;              // block of the two bodies, -1: there is one body
    bool repeats;          // joint coordinates: its J and rate are those of the contact before
    int only;              // the one rate that it is along, -1: several
    pp_contact_mode mode;  // slip: one of its sets does
    double mobility;       // of the normal row, with its compliance
    double weight;     // of errors of its rate: what they do to velocities, 1 without compliance
    double stiffness;  // 1 / alpha
    double u[PP_MODE_ROWS], c[PP_MODE_ROWS];
    bool turns;                     // PP_MODE_SHIFTED: turn is not 0
    double turn[PP_MODE_ROWS - 1];  // slope of the shift mu |u_g| by the rates of friction rows
    const double *K;                // PP_MODE_CENTRAL: by columns,
    int dim;                        // for so many of its rows
} pp_mode_contact;

typedef struct pp_modes pp_modes;

// What the contacts act on. Velocities are vectors of s->size numbers.
typedef struct pp_modes_system {
    void (*velocities)(pp_modes *s);  // s->velocity at the impulses of the answer, joints closed
    double (*rate)(const pp_modes *s, const pp_mode_contact *c, int k);  // J v + given of row k
    double (*step_rate)(const pp_modes *s, const pp_mode_contact *c, int k);  // J dv at s->step
    bool (*factor)(pp_modes *s);  // M + sum J' K J; false: singular
    void (*push)(pp_modes *s);    // step = sum J' c of all contacts
    bool (*solve)(pp_modes *s);   // step = (M + sum J' K J)^-1 step
    void (*multiply_mass)(const pp_modes *s, const double *x, double *y);  // y = M x
    void (*close)(pp_modes *s, double *v);  // v: the nearest velocities at which joints are closed
    // Bodies: adds the mass matrix of one of them to the zeros of X, column-major with leading dimension ld.
    void (*add_mass)(const pp_modes *s, int body, double *X, int ld);

    // The error as the last judge measures it [m/s], in units in which pp_modes_accepted() is accepted.
    double (*judged)(pp_modes *s, double error);
    // Whether the impulses of the answer obey the laws as he judges them; none pulls afterwards.
    bool (*obeys_laws)(pp_modes *s);
    bool (*may_rest)(const pp_modes *s);  // whether bodies can rest, whatever the velocities are,
    bool (*rests)(const pp_modes *s);     // and whether they do at s->velocity: theory (S19)
    // The largest rate of a contact at the start of the step, and with the impulses of the answer at its end [m/s].
    double (*largest_rate)(const pp_modes *s);
    bool (*is_over)(const pp_modes *s);  // the budget is spent
} pp_modes_system;

struct pp_modes {
    const pp_modes_system *system;
    pp_arena *arena;
    pp_meter *meter;
    pp_mode_contact *contact;  // contacts and limits, boxed rows, then bilateral rows
    int count;                 // with laws
    int rows;                  // all of them
    int blocks;                // of impulses in the answer
    struct {
        double *p;
        int count;
    } impulses[PP_MODES_BLOCKS];
    const double *warm;  // guesses of the impulses, one block after the other
    bool fresh;          // no contact was there before: `warm` is a guess of what stops them
    bool many;           // contacts: accepted at what the judge accepts, not at rounding
    bool feet;           // rings of sticking contacts, not solved to rounding
    bool basic;          // polygons end at a basic solution, for which no error is enough
    bool near;           // no paths, no convex problems: others go on
    bool closes;         // joints are closed at every evaluation
    double tolerance;
    int steps_most;      // 0: no limit
    int size;            // numbers in a vector of velocities,
    int speeds;          // the first of them are speeds
    double *velocity;    // size
    double *step;        // size: dv
    double scale;        // speed that rounding is measured by [m/s],
    double least_scale;  // whatever the impulses
    double speed;        // of the bodies, by which the judge judges contacts [m/s]
    bool by_speed;       // few contacts come closer: by no more than 1 m/s
    bool no_slop;        // the problem is to be solved as it is given
    double slop;         // gaps over the step that count as none, 0: few contacts [m/s]
    double most_slop;    // for it, 0: any
    double proximal;     // alpha in units of the mobility
    bool stalled;        // the error is accepted, and no longer falls
    double *best;        // impulses of least error of convex problems that failed; NULL: none
    double best_error;   // there [m/s]
    // The system of Newton's steps.
    int bodies;        // that contacts may touch; joint coordinates: 0
    const int *nv;     // bodies: velocities of each,
    const int *first;  // and the first of them
    int nodes, n;      // bodies in it and their velocities
    int *node;         // bodies: place among them, -1: touches nothing
    int *body;         // nodes
    int *at;           // nodes: first velocity in the system
    int *diagonal;     // nodes: where their blocks start
    int *block;        // pairs: where their blocks start
    double *x, *upper;
    double *side;  // n: right-hand side
    int values;
    int *pivot;  // dense
    bool dense, symmetric, factored;
    pp_mode_law law;  // whose slopes K has
    pp_ldl *ldl;      // of bodies; NULL: made in the arena
    double flops;     // operations of the last factorisation
    int steps;        // factorisations, or refinements
};

// Compliance of bilateral rows in the matrix, in units of their mobility. Their error is one of the step, not of the answer; but
// where joints yield by as much as the least proximal term, steps of a machine that is wedged do not converge.
#define PP_MODES_STIFF 1e-9
// Slack that is accepted where it no longer falls, in units of the tolerance: half of what the certificate allows.
#define PP_ACCEPTED 50.0
// Row k of a contact, 0 its normal, then friction.
static inline const double *pp_mode_row(const pp_mode_contact *c, int k)
{
    return k == 0 ? c->J : c->Jt + (k - 1) * c->stride;
}

// ── The law (modes_law.c) ────────────────────────────────────────────────────────────────────────

// Rates and modes of all contacts at the impulses of the answer; returns the worst error [m/s].
double pp_modes_evaluate(pp_modes *s);
// Newton's step of the impulses in these modes, with s->proximal; false: singular, or the budget is spent.
bool pp_modes_step(pp_modes *s);
// step = (M + sum J' K J)^-1 step, factored where it has to be; false: singular, or no budget
bool pp_modes_solve_step(pp_modes *s);
void pp_modes_use_slop(pp_modes *s,
                       double width);  // gaps over the step, in the biases of all contacts [m/s]

// ── Newton's steps (modes_walk.c) ────────────────────────────────────────────────────────────────

// From the impulses of the step before; solved: to rounding, or as well as the tolerance asks.
perp_status pp_modes_newton(pp_modes *s, bool *solved);
// From the impulses of the answer.
perp_status pp_modes_newton_from_answer(pp_modes *s, bool *solved);
// To rounding from the impulses of the answer, where redundant contacts agree; never a larger error.
perp_status pp_modes_polish(pp_modes *s);
perp_status pp_modes_keep_best(pp_modes *s, double error);  // impulses of the answer, in s->best
double pp_modes_enough(const pp_modes *s);  // error at which paths and convex problems end [m/s]
double pp_modes_goal(const pp_modes *s);    // error that is accepted where it no longer falls [m/s]
double pp_modes_accepted(const pp_modes *s);  // error that is accepted at the end [m/s],
double pp_modes_plateau(const pp_modes *s);   // and where nothing lowers it

// ── From afar (modes_path.c, modes_convex.c) ─────────────────────────────────────────────────────

// By convex problems with shifts, where Newton's method does not converge. Where the contacts are not for them, nothing
// changes.
perp_status pp_modes_convex(pp_modes *s, bool *solved);
// The same along one of PP_MODES_PATHS central paths. Where it ends early, its impulses are left in the answer. Where the
// contacts are not for it, nothing changes.
bool pp_modes_has_paths(const pp_modes *s);
perp_status pp_modes_path(pp_modes *s, int which, bool *solved);

// ── Bodies (modes_bodies.c) ──────────────────────────────────────────────────────────────────────

// Operations of a system whose contacts touch one or two bodies each; those left of system->... are the caller's.
perp_status pp_modes_bodies_prepare(pp_modes *s);  // after all but `nodes` and below is set
double pp_modes_bodies_rate(const pp_modes *s, const pp_mode_contact *c, int k);
double pp_modes_bodies_step_rate(const pp_modes *s, const pp_mode_contact *c, int k);
bool pp_modes_bodies_factor(pp_modes *s);
void pp_modes_bodies_push(pp_modes *s);
bool pp_modes_bodies_solve(pp_modes *s);
// v += J' p of all contacts.
void pp_modes_bodies_add(const pp_modes *s, double *v);
