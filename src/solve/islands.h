// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to solve/: groups of bodies that rows tie together. Bodies that are not free tie nothing.
#pragma once

#include "solve/run.h"

// Things sorted by island, in their own order within each: list[start[i]] … list[start[i + 1] - 1].
typedef struct pp_by_island {
    int *start, *list;
} pp_by_island;

typedef struct pp_island_partition {
    int count;  // islands, by their first bodies; bodies that no row touches are in none
    int *of;    // bodies: island, -1: none
    bool
        apart;  // there are several, or free bodies beside the only one: it is not all of the model
    pp_by_island body, b, m, n, group;
} pp_island_partition;

// How many islands there are; their lists are made only where they are not all of the model.
perp_status pp_island_partition_find(pp_island_partition *out, const perp_model *model,
                                     const pp_rows *rows, pp_arena *arena);

// What all islands are parts of, and where their answers go.
typedef struct pp_undivided {
    const pp_solve_inputs *inputs;
    const pp_solve_options *options;
    const pp_solve_cache *cache;
    const pp_island_partition *parts;
    int *local;           // bodies: number in their islands
    const pp_team *team;  // within an island; NULL: one thread
    pp_answer *out;
    bool *follows;               // nb
    double *nu_c, *pn_c, *pt_c;  // after compression, where impacts have two phases; else NULL
    double *back;                // nn: what it gives back
} pp_undivided;

// An island as pp_solve_whole takes it: bodies and rows numbered anew.
typedef struct pp_island_problem {
    int island;
    perp_model model;
    pp_kinematics kin;
    pp_rows rows;
    int *t;  // nt: friction rows of the whole
    double *nu, *warm;
} pp_island_problem;

// False: out of memory.
bool pp_island_problem_copy(pp_island_problem *part, const pp_undivided *whole, int island,
                            pp_arena *arena);
// The part's answer into that of the whole, where no other island writes.
void pp_island_problem_put(const pp_island_problem *part, const pp_undivided *whole,
                           const pp_answer *answer);

// All islands, on threads where there are several; cache->islands is not NULL.
perp_status pp_solve_islands(const pp_undivided *whole, pp_arena *arena);

// An island's problem and its answer, kept for the next step while it rests (known.c). NULL: nothing is kept.
typedef struct pp_known pp_known;
// Whether the island's problem has the bits of the one that was kept. allowed: factorisations, 0: no limit.
bool pp_known_fits(const pp_known *known, const pp_undivided *whole, int island, double allowed);
// That answer in its place; told: what is not in arrays.
void pp_known_put(const pp_known *known, const pp_undivided *whole, int island, pp_answer *told);
// Keeps the problem and the answer in whole->out, if the next step may have the same problem. Without memory nothing is kept.
void pp_known_keep(pp_known **known, const perp_env *env, const pp_undivided *whole, int island,
                   const pp_answer *told, double allowed);
void pp_known_forget(pp_known *known);
void pp_known_free(pp_known *known, const perp_env *env);
