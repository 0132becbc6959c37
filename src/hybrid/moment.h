// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to hybrid/: the machine at one instant, accelerations and impacts.
#pragma once

#include "hybrid/law.h"

// ── The machine at one instant ───────────────────────────────────────────────────────────────────

// Kinds in the order in which they stand in a list. The first three are equations.
typedef enum pp_hold_kind {
    PP_HOLD_LOOP,    // equations of a joint that is not in the tree
    PP_HOLD_TARGET,  // coordinate - target(t) = 0
    PP_HOLD_RATE,    // rate of the coordinate - rate(t) = 0
    PP_HOLD_MOTOR,   // the same with a limited effort
    PP_HOLD_DRY,     // dry friction of the coordinate
    PP_HOLD_LIMIT,   // sign (coordinate - bound) >= 0
    PP_HOLD_CONTACT,
    PP_HOLD_SPIN,  // torsional friction of the contact before it in the list
    PP_HOLD_ROLL,  // rolling friction, likewise
} pp_hold_kind;

// A point of a round face that carries its load, or about which it tips. It lies between the eight
// points that represent a rim otherwise, and depends on the motion.                    theory (H18)
typedef struct pp_rim {
    int a, b;         // shapes, a < b
    perp_vec3 on[2];  // in the frames of their bodies
    bool of_b;        // the round face is b's
    // The exchange at one instant: the way from the last point to the one asked for [m], and the
    // part of it that was gone.
    perp_vec3 way;
    double part;
} pp_rim;

typedef struct pp_rims {
    int count, room;
    pp_rim *rim;
} pp_rims;

// Where a contact point was last seen, in the frames of its two bodies.
typedef struct pp_contact_anchor {
    bool known;
    double t;  // when [s]
    perp_vec3 on_a, on_b;
    perp_vec3 n_A;    // its normal, in the frame of a
    pp_contact seen;  // the contact itself
    pp_mat3 R_WA;     // and the attitude of a
} pp_contact_anchor;

// A constraint that can carry a force: its kind and owner, its mode, and for
// contacts where it was last seen.
typedef struct pp_hold {
    pp_hold_kind kind;
    int joint;         // -1: contact
    double sign;       // limit: +1 lower, -1 upper
    int a, b, listed;  // contact: shapes, index in model->contact or -1
    uint32_t feature;
    pp_law_mode mode;
    double d;  // direction of sliding: of the coordinate, along t in the plane, about n of spin
    perp_vec3 d_W;            // in space: direction in which sliding or rolling began
    pp_contact_anchor place;  // contact in space: where it was last seen
    double rate;              // and its normal rate then [m/s]
} pp_hold;

// Time constant of a stabilised target or rate [s]; 0: of any other hold.                theory (A10)
double pp_hold_epsilon(const pp_machine *machine, const pp_hold *hold);
// Its rate after dt, by an implicit Euler step.
double pp_hold_decayed(const pp_machine *machine, const pp_hold *hold, double dt, double value,
                       double rate);

typedef struct pp_holds {
    int count, room;
    pp_hold *hold;
} pp_holds;

// Redundant equations (loops, targets, rates): a pivoted Cholesky factorisation s A s = L L^T of
// the rows of all equations in their scales s.                                         theory (J10)
typedef struct pp_dependent_rows {
    int count, rank;
    int *row;             // count: independent ones first, in the order of their pivots
    const double *scale;  // rows
    double *L;            // count x rank
    double *work;         // count
} pp_dependent_rows;

// Replaces the right-hand sides b of redundant equations by those that follow from the independent
// ones. Poses of a file have a limited number of digits, so redundant equations disagree a little,
// and no force can remove that. size: of the terms that b is the sum of. Equations that disagree by
// more than 1e-5 of it contradict each other and are left as they are.
void pp_dependent_rows_agree(const pp_dependent_rows *ties, double size, double *b);

// The machine at one configuration and time: rows of all holds, in their order, and all that
// accelerations and impulses are computed from.                                         theory (H1)
typedef struct pp_instant {
    double t;
    const double *q, *qd;
    pp_tree_pass pass;
    int nv, rows;
    double *L;                     // H = L^T D L
    double *free;                  // H^-1 (B u - C)
    pp_row *row;                   // rows in the velocities of bodies, without sign
    double *sign;                  // rows: of upper limits -1
    double *J, *G;                 // nv x rows: J^T and H^-1 J^T
    double *A;                     // rows x rows: J H^-1 J^T
    double *value, *rate, *drift;  // rows: phi (0 of rates), J qd + rate, J_dot qd
    double *scale;                 // rows: 1/sqrt(J M^-1 J^T) of the bodies by themselves
    double rate_scale;             // size of the terms that rates of equations are sums of
    double acceleration_scale;     // the same for their accelerations
    pp_dependent_rows ties;
    int *at, *size;       // holds: their rows
    pp_contact *contact;  // holds: geometry of contacts
    bool lost;            // a contact is not where it was: the feature has gone
} pp_instant;

// Rates that impulses take away: those of the rows, but stabilised targets and rates keep theirs, since their equations
// (A10) are of second and first order.
void pp_instant_rates_to_remove(const pp_machine *machine, const pp_instant *instant,
                                const pp_holds *holds, double *b);

// Makes the instant of (t, q, qd) in the arena; q and qd are not copied. forces: false where
// velocities are enough, `free` and `drift` are then not filled.                  theory (H2), (H6)
perp_status pp_instant_make(pp_instant *out, const pp_machine *machine, double t, const double *q,
                            const double *qd, const pp_holds *holds, bool forces, pp_arena *arena);
// Fills instant->ties, the dependent equations, once A is known.
perp_status pp_instant_find_dependent(pp_instant *instant, const pp_holds *holds, pp_arena *arena);
// Fills instant->acceleration_scale, once `free` is known.
perp_status pp_instant_acceleration_scale(pp_instant *instant, pp_arena *arena);
// The laws of all holds for accelerations, b = J free + drift + stabilisation, in their modes.
perp_status pp_instant_laws(pp_laws *out, const pp_machine *machine, const pp_instant *instant,
                            const pp_holds *holds, pp_arena *arena);
// Accelerations qdd in the modes of the holds, and forces r of all rows, in the arena.
// wanted: whether any forces will do where the equations leave them undetermined, or only
// lawful ones. The motion is the same.                                           theory (H5), (H19)
typedef enum pp_loads_wanted { PP_LOADS_ANY, PP_LOADS_LAWFUL } pp_loads_wanted;
perp_status pp_accelerate(const pp_machine *machine, const pp_instant *instant,
                          const pp_holds *holds, pp_loads_wanted wanted, double *qdd, double **r,
                          pp_law_info *info, pp_arena *arena);
// Rates of all rows after an impact at this instant: u+ = u- + A r.
void pp_instant_rates_after(const pp_instant *instant, const double *impulse, double *after);
// Slip of a contact at an instant in (t, o), and its speed.
double pp_instant_slip(const pp_instant *instant, int hold, double slip[2]);
// Rates of spin (about n) or rolling (about t and o) times the length of the
// machine, and their norm [m/s].
double pp_instant_spin(const pp_instant *instant, int hold, double turn[2]);
// Makes the list of all equations, motors and dry friction, held.
perp_status pp_holds_start(pp_holds *out, const pp_machine *machine, pp_arena *arena);
// Makes room for one more element of a list of `count` elements: returns the list itself
// while count < *room, else a copy with more than twice the room. The arena keeps the old
// list. NULL: out of memory.
void *pp_list_grow(void *list, int count, int *room, size_t size, pp_arena *arena);
// Appends a hold; the list grows in the arena. NULL: out of memory.
pp_hold *pp_holds_add(pp_holds *holds, pp_hold hold, pp_arena *arena);
// How the point and the axes n, t of a contact move, in the world.
typedef struct pp_contact_motion {
    perp_vec3 point, n, t;
} pp_contact_motion;
// The motion of a contact of a rim with a plane face. False: it is another contact.     theory (H6a)
bool pp_rim_motion(const pp_machine *machine, const pp_instant *instant, const pp_contact *c,
                   pp_contact_motion *out);
// Drift of the rows of a contact that moves so, or of its turning friction.
void pp_motion_drift(const pp_machine *machine, const pp_instant *instant, const pp_contact *c,
                     const pp_contact_motion *motion, pp_hold_kind kind, double drift[3]);
// A limit or the normal of a contact: 0 <= r _|_ u >= 0.
static inline bool pp_hold_is_unilateral(const pp_hold *hold)
{
    return hold->kind == PP_HOLD_LIMIT || hold->kind == PP_HOLD_CONTACT;
}
// Torsional or rolling friction of a contact.
static inline bool pp_hold_is_turning(const pp_hold *hold)
{
    return hold->kind == PP_HOLD_SPIN || hold->kind == PP_HOLD_ROLL;
}
// A contact, or its torsional or rolling friction.
static inline bool pp_hold_touches(const pp_hold *hold)
{
    return hold->kind >= PP_HOLD_CONTACT;
}
// The index of the contact that turning friction belongs to, which stands before it; of
// any other hold i itself.
static inline int pp_hold_base(const pp_holds *holds, int i)
{
    while (holds->hold[i].kind > PP_HOLD_CONTACT) {
        i--;
    }
    return i;
}
// Adds the torsional and rolling friction of the contact that was added last; false: out of memory.
bool pp_holds_add_turning(pp_holds *holds, const pp_machine *machine, const pp_contact *c,
                          pp_arena *arena);
// The same rates as the frames move, and their k-th one as a row.
void pp_turn_rates(const pp_machine *machine, const pp_frame *body, const pp_contact *c,
                   pp_hold_kind kind, double rate[2]);
void pp_turn_row(const pp_machine *machine, const pp_frame *body, const pp_contact *c,
                 pp_hold_kind kind, int k, pp_row *row);
// A hold of a joint, which has no shapes; held.
static inline pp_hold pp_hold_of_joint(pp_hold_kind kind, int joint)
{
    return (pp_hold){.kind = kind, .joint = joint, .a = -1, .b = -1, .listed = -1, .mode = PP_HELD};
}
// A contact as a hold that is closed.
static inline pp_hold pp_hold_contact(const pp_contact *c)
{
    return (pp_hold){.kind = PP_HOLD_CONTACT,
                     .joint = -1,
                     .a = c->a,
                     .b = c->b,
                     .listed = c->listed,
                     .feature = c->feature,
                     .mode = PP_HELD};
}

// Finds the contact points of the holds among the detected ones: which[i] is an index in gaps, -1:
// none (the feature has gone, or the hold is no contact). place: where each was last seen.
perp_status pp_holds_match(const pp_machine *machine, const pp_holds *holds,
                           const pp_contact_anchor *place, const pp_gaps *gaps,
                           const pp_frame *body, int *which, pp_arena *arena);
// Of the machine's length: gap up to which the contact points of an instant are sought.
static const double PP_SEARCH_MARGIN = 1e-2;
// Contact points of the pairs of the holds, up to a gap of margin [m].
perp_status pp_holds_gaps(pp_gaps *out, const pp_machine *machine, const pp_holds *holds,
                          const pp_poses *kin, double margin, pp_arena *arena);
// The place of a contact at t.
pp_contact_anchor pp_contact_anchor_of(const perp_model *m, const pp_frame *body, double t,
                                       const pp_contact *c);
// Whether a contact point can have moved from a place to where it is at t. A point that
// has jumped (from a corner of the polygon that represents a rim to the lowest point of
// the rim) is another one.
bool pp_place_reaches(const pp_machine *machine, const pp_contact_anchor *from,
                      const pp_frame *body, double t, const pp_contact *c);
// The contact of a place beyond the end of its feature: the point is fixed to b, the normal to a.
pp_contact pp_place_beyond(const perp_model *m, const pp_contact_anchor *place,
                           const pp_frame *body);
// Copies of the last places of all holds.
pp_contact_anchor *pp_holds_places(const pp_holds *holds, pp_arena *arena);  // NULL: out of memory
// Gives the search the last normals of the holds' contacts, turned to the poses, and the rim
// points of the machine.
perp_status pp_holds_hint(const pp_machine *machine, const pp_holds *holds, const pp_poses *kin,
                          pp_gap_search *search, pp_arena *arena);

// Anisotropic friction, mu along t and mu_2 along o, is a disc in scaled coordinates: axes are
// multiplied by mu/max and mu_2/max, and so are the rates along them, which preserves the power (as
// in constraint/contact.c). The larger coefficient is the radius.
static inline double pp_contact_mu(const pp_contact *c)
{
    return c->mu_2 > c->mu ? c->mu_2 : c->mu;
}
static inline void pp_contact_axes(const pp_contact *c, perp_vec3 d[3])
{
    double mu = pp_contact_mu(c), across = c->mu_2 >= 0.0 ? c->mu_2 : c->mu;
    d[0] = c->n;
    d[1] = pp_scale(mu > 0.0 ? c->mu / mu : 1.0, c->t);
    d[2] = pp_scale(mu > 0.0 ? across / mu : 1.0, pp_cross(c->n, c->t));
}

// The friction coefficient of hold i. Rows of torsional and rolling friction are rates times a
// length with forces in N, so their coefficients [m] are divided by that length.
static inline double pp_hold_mu(const pp_machine *machine, const pp_instant *instant,
                                const pp_holds *holds, int i)
{
    const pp_contact *c = &instant->contact[i];
    switch (holds->hold[i].kind) {
    case PP_HOLD_CONTACT:
        return instant->size[i] > 1 ? pp_contact_mu(c) : 0.0;
    case PP_HOLD_SPIN:
        return c->mu_spin / machine->length;
    case PP_HOLD_ROLL:
        return c->mu_roll / machine->length;
    default:
        return 0.0;
    }
}

// ── Impacts ──────────────────────────────────────────────────────────────────────────────────────

// Restitution in an impact: which contacts bounce.
typedef struct pp_bounces {
    double rest;       // slower than this nothing does [m/s]
    const bool *ends;  // holds: bounces that end here; NULL: none
    bool in_short;     // in a short step
} pp_bounces;

// Rates qd after an impact of all limits and contacts of the list, with equations held throughout,
// and the impulses (rows).                                                       theory (H9), (H10)
perp_status pp_impact_run(const pp_machine *machine, const pp_instant *instant,
                          const pp_holds *holds, const pp_bounces *bounces, double *qd,
                          double *impulse, pp_law_info *info, pp_arena *arena);
// The same for impulses that end a wedged sliding: the limit of the forces
// acting over a short time.                                                            theory (H11)
perp_status pp_impact_wedged(const pp_machine *machine, const pp_instant *instant,
                             const pp_holds *holds, double *qd, double *impulse, pp_arena *arena);
