// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to solve/: groups of bodies that rows tie together. Bodies that are not free tie nothing.
#pragma once

#include "solve/run.h"

// Things sorted by island, in their own order within each: list[start[i]] … list[start[i + 1] - 1].
typedef struct pp_sorted {
    int *start, *list;
} pp_sorted;

typedef struct pp_parts {
    int count;  // islands, by their first bodies; bodies that no row touches are in none
    int *of;    // bodies: island, -1: none
    pp_sorted body, b, m, n, group;
} pp_parts;

// How many islands there are; their lists are made only where there are several.
perp_status pp_parts_find(pp_parts *out, const perp_model *model, const pp_rows *rows,
                          pp_arena *arena);

// What all islands are parts of, and where their answers go.
typedef struct pp_whole {
    const perp_model *model;
    const pp_kinematics *kin;
    const pp_rows *rows;
    const double *nu;
    const pp_solve_options *options;
    const pp_parts *parts;
    int *local;           // bodies: number in their islands
    const pp_team *team;  // within an island; NULL: one thread
    pp_answer *out;
    bool *follows;               // nb
    double *nu_c, *pn_c, *pt_c;  // after compression, where impacts have two phases; else NULL
    double *back;                // nn: what it gives back
} pp_whole;

// An island as pp_solve_whole takes it: bodies and rows numbered anew.
typedef struct pp_part {
    int island;
    perp_model model;
    pp_kinematics kin;
    pp_rows rows;
    int *t;  // nt: friction rows of the whole
    double *nu, *warm;
} pp_part;

// False: out of memory.
bool pp_part_copy(pp_part *part, const pp_whole *whole, int island, pp_arena *arena);
// The part's answer into that of the whole, where no other island writes.
void pp_part_put(const pp_part *part, const pp_whole *whole, const pp_answer *answer);

// All islands, on threads where there are several; options->islands is not NULL.
perp_status pp_solve_islands(const pp_whole *whole, pp_arena *arena);
