// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Second door of comp/: Gauss–Seidel sweeps over contacts between bodies, for callers that have
// bodies and rows and no matrices.
//
// A contact in space moves one or two bodies of at most six velocities each,
//
//   u = sum_k J_k v_k + w,   v_k = sum J_k' r                                             theory (C26)
//
// in velocities in which every body has the mass matrix 1 (M^1/2 times its own) and that count from
// its motion without contacts. One block a body then serves for both products. Contacts lie in
// one piece of memory: a sweep reads forwards, and only the velocities of the bodies are accessed
// at random. Contacts are ordered by colours. Those of one
// colour share no body, except for the points between the same two bodies, which stay together (a
// unit). The order of a sweep depends on the contacts alone, and threads that take units of one
// colour write to different bodies: the bits are the same for any number of threads.
#pragma once

#include "comp/comp.h"

enum { PP_SWEEP_V = 6, PP_SWEEP_COLOURS = 64 };

enum { PP_SWEEP_PIECE = 64 };  // units that one thread takes at a time

typedef struct pp_sweep_contact {
    int body[2];                  // places among the bodies, -1: none
    int at;                       // the caller's number
    bool regular;                 // W has an inverse worth using
    double mu;                    // coefficient of sliding friction
    double w[3];                  // u without any impulses [m/s]
    double J[2][3 * PP_SWEEP_V];  // rows n, t, o for each body [1/sqrt(kg)]
    double W[6];                  // sum J J': nn, nt, no, tt, to, oo
    double stick[6];              // W^-1 where regular, likewise
} pp_sweep_contact;

// By how much contacts changed in a sweep, or how far they are from their laws.
typedef struct pp_sweep_change {
    double worst;    // largest change of a row [m/s]
    double sinks;    // fastest approach of a contact, of a residual only [m/s]
    double squares;  // sum of squares over the contacts [m^2/s^2]
    int active;      // contacts that push or approach
} pp_sweep_change;

// Contacts in the order of the sweep, their impulses and the velocities of the bodies.
typedef struct pp_sweep {
    int count, bodies;
    pp_sweep_contact *contact;  // in the order of the sweep
    double *r;                  // 3 a contact, in that order: n, t, o
    double *v;                  // PP_SWEEP_V a body, consistent with r
    int units, colours;
    int *unit;              // units + 1: first contact
    int *colour;            // colours + 1: first unit
    bool serial;            // units of the last colour may share bodies: one thread
    pp_sweep_change *part;  // of each piece of a colour, added up in their order
    const pp_team *team;    // NULL: one thread
} pp_sweep;

// Determines the order from the bodies of the contacts (body: two a contact, in the caller's
// order). Fills order (count: the caller's contact at each place), unit, colour, serial and part;
// arrays in the arena.
perp_status pp_sweep_colour(pp_sweep *s, const int *body, pp_arena *arena, int *order);
// W and its inverse from J; false: the contact cannot move along its normal (W_nn = 0).
bool pp_sweep_prepare(pp_sweep_contact *c);
// One sweep: every contact solved once with all others held. Returns the changes.
pp_sweep_change pp_sweep_once(pp_sweep *s);
// v += J' r of all contacts.
void pp_sweep_apply_impulses(pp_sweep *s);
// The natural map at (r, v), row by row.
pp_sweep_change pp_sweep_residual(const pp_sweep *s);

// Anderson acceleration of a fixed-point map on `size` numbers, theory (C31). The norm of a step is
// that of its first n numbers.
typedef struct pp_anderson pp_anderson;
// Points whose step is more than `growth` times the last one's are rejected. NULL: no memory.
pp_anderson *pp_anderson_create(int n, int size, double growth, pp_arena *arena);
void pp_anderson_reset(pp_anderson *a);  // where the map has changed
// g is the image of z; z becomes the next point.
void pp_anderson_next(pp_anderson *a, const double *g, double *z);
