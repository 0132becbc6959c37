// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Second door of comp/: sweeps over contacts of bodies, for those who have bodies and no matrices.
//
// A contact in space moves one or two bodies of at most six velocities each,
//
//   u = sum_k J_k v_k + w,   v_k = M_k^-1 f_k + sum T_k r,   T_k = M_k^-1 J_k'            theory (C26)
//
// and is held with J and T in one piece of memory, so that a sweep reads forwards and the velocities of
// bodies are all it jumps to. Contacts are ordered by colours: those of one colour share no body, but for
// the points between the same two bodies, which stay together (a unit). The order of a sweep depends on the
// contacts alone, and threads that take units of one colour cannot meet: the bits are the same for any
// number of them.
#pragma once

#include "comp/comp.h"

enum { PP_SWEEP_V = 6, PP_SWEEP_COLOURS = 64 };

enum { PP_SWEEP_PIECE = 64 };  // units that one thread takes at a time

typedef struct pp_sweep_contact {
    int body[2];  // places among the bodies, -1: none
    int at;       // the caller's number
    bool regular;
    double mu;
    double w[3];                  // of u
    double J[2][3 * PP_SWEEP_V];  // rows n, t, o
    double T[2][3 * PP_SWEEP_V];
    double W[9];      // sum J T, column-major
    double stick[9];  // W^-1 where regular
} pp_sweep_contact;

// By how much contacts changed in a sweep, or how far they are from their laws.
typedef struct pp_sweep_change {
    double worst;    // row [m/s]
    double squares;  // of all impulses [N^2 s^2]
    double size;     // sum of squares of the impulses themselves
} pp_sweep_change;

typedef struct pp_sweep {
    int count, bodies;
    pp_sweep_contact *contact;  // in the order of the sweep
    double *r;                  // 3 a contact, in that order: n, t, o
    double *v;                  // PP_SWEEP_V a body, as r has it
    int units, colours;
    int *unit;              // units + 1: first contact
    int *colour;            // colours + 1: first unit
    bool serial;            // units of the last colour may share bodies: one thread
    pp_sweep_change *part;  // of each piece of a colour, added up in their order
    const pp_team *team;    // NULL: one thread
} pp_sweep;

// The order: units by colours, from the bodies of contacts as they are numbered (two a contact). Fills order
// (count: which contact comes when), unit, colour, serial, part; arrays in the arena.
perp_status pp_sweep_colour(pp_sweep *s, const int *body, pp_arena *arena, int *order);
// W and its inverse from J and T; false: nothing that it touches moves.
bool pp_sweep_prepare(pp_sweep_contact *c);
// Every contact solved once with all others held.
pp_sweep_change pp_sweep_once(pp_sweep *s);
// v += T r of all contacts.
void pp_sweep_apply_impulses(pp_sweep *s);
// Squares of the impulses that would stop every contact by itself, rho q of theory (C8), at v and r.
double pp_sweep_scale(const pp_sweep *s);
// The natural map at (r, v).
pp_sweep_change pp_sweep_residual(const pp_sweep *s);
