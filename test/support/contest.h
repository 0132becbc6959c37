// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A solver against the enumeration of all solutions: what it solved, missed, and got wrong.
#pragma once

#include "support/families.h"

typedef struct tally {
    long problems;
    long solved;            // accepted, and true
    long inexact;           // of solved: accepted as PERP_INEXACT
    long none;              // not solved, and enumeration finds no solution either
    long doubtful;          // not solved, and what enumeration has is no solution beyond doubt
    long missed;            // not solved, although enumeration has a solution
    long wrong;             // accepted, but the residual in long double says otherwise
    long false_infeasible;  // called infeasible, although enumeration has a solution
    long unsure;            // accepted and true, but enumeration finds none within rounding
    uint64_t missed_seed, wrong_seed, unsure_seed;  // the last of each, to repeat it
    double worst_backward;                          // truth_backward of the accepted answers
} tally;

// What enumeration knows of a problem.
typedef struct answer_key {
    int count;      // basic solutions
    bool solvable;  // one of them is a solution beyond doubt when written in double
} answer_key;

answer_key contest_key(const perp_mcp *mcp);
void contest_enter(const char *solver, const perp_mcp *mcp, const answer_key *key, uint64_t seed,
                   perp_workspace *work, tally *t);
