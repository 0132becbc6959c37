// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of solvers: for each its name, classes, proof, references, cost and failures.
// docs/solvers.md has the same at length. Every name that an answer can carry is listed here. Rows
// of PERP_CLASS_STEP have no function: solve/ and hybrid/ answer steps from rows and motions under
// these names.
#include "comp/registry.h"
#include "comp/auto.h"

#include <string.h>

enum {
    MCP = PERP_CLASS_LCP | PERP_CLASS_MCP,
    FCP = PERP_CLASS_FCP_LOCAL | PERP_CLASS_FCP_GLOBAL,
    ANY_FCP = FCP | PERP_CLASS_FCP_ROLLING | PERP_CLASS_FCP_PYRAMID,
};

static const pp_solver solvers[] = {
    {{"auto", MCP | ANY_FCP, "what its rungs are proven for", "see the rungs",
      "that of the rungs it takes", "the last rung's; info->error.text lists the ladder"},
     pp_auto_mcp,
     pp_auto_islands_fcp},
    {{"lemke", MCP | ANY_FCP, "copositive-plus MCP; the Stewart–Trinkle matrix is copositive",
      "Lemke 1965; Cottle, Pang, Stone 1992, 4.4; Stewart, Trinkle 1996",
      "O(n k + k^2) a pivot, k basic variables; typically 0.5 n to 2 n pivots, 2^n at worst",
      "secondary ray (with the ray), pivot limit, singular basis"},
     pp_lemke_mcp,
     NULL},
    {{"pivot", MCP, "P and positive semidefinite boxed MCP",
      "Judice, Pires 1994; Murty 1974 (least index); Rockafellar 1976 (proximal)",
      "one factorisation of the free block a step; 2 to 5 steps, 10 to 40 when A is singular",
      "infeasible (with the proof); refuses a negative diagonal; step limit or singular otherwise"},
     pp_pivot_mcp,
     NULL},
    {{"ssn", MCP | ANY_FCP,
      "locally: strongly regular solutions; globally none for Coulomb friction",
      "Alart, Curnier 1991; Qi, Sun 1993; Acary, Bremond, Huber 2018",
      "one sparse or dense LU a Newton step; typically 10 to 60 steps",
      "step limit; the best iterate is returned"},
     pp_ssn_mcp,
     pp_ssn_fcp},
    {{"gs", ANY_FCP, "convergent for small friction on full-rank problems; otherwise a good habit",
      "Jourdan, Alart, Jean 1998", "O(nnz W) a sweep; linear convergence",
      "sweep limit; says how loose"},
     NULL,
     pp_gs_fcp},
    {{"eg", ANY_FCP, "monotone problems (frictionless, or fixed cone offset)",
      "Korpelevich 1976; Khobotov 1987", "two products with W an iteration; linear at best",
      "iteration limit; says how loose"},
     NULL,
     pp_eg_fcp},
    {{"enum", MCP, "every MCP with n <= 12: finds a solution or proves that there is none",
      "complete enumeration of complementary bases", "2^n (3^n with boxes) small factorisations",
      "refuses n > 12; singular where the only solutions are too large for double"},
     pp_enum_mcp,
     NULL},
    // Solvers of steps, implemented in solve/ and hybrid/.
    {{"linear", PERP_CLASS_STEP, "joints and springs alone: consistent rows have one motion",
      "Gauss's principle of least constraint", "one sparse or dense factorisation of the joints",
      "infeasible where rows contradict each other (with the proof)"},
     NULL,
     NULL},
    {{"modes", PERP_CLASS_STEP,
      "locally: contacts with friction near their last impulses; the certificate judges",
      "Alart, Curnier 1991; Rockafellar 1976 (proximal)",
      "one sparse factorisation a Newton step; one or two where modes stay, some tens at most",
      "gives up without an answer; the step goes on with auto"},
     NULL,
     NULL},
    {{"sweeps", PERP_CLASS_STEP,
      "none with friction; contacts in space at loose tolerances; the certificate judges",
      "Silcowitz, Niebe, Erleben 2010 (conjugate directions)",
      "O(contacts) a sweep, by colours; 300 sweeps at most",
      "gives up and the step goes on with modes; a spent budget takes the best, inexact"},
     NULL,
     NULL},
    {{"adams", PERP_CLASS_STEP, "smooth motion of the stepper event",
      "Hindmarsh and others 2005 (CVODE)", "two or three accelerations an internal step",
      "stiff motion goes to bdf"},
     NULL,
     NULL},
    {{"bdf", PERP_CLASS_STEP, "smooth motion of the stepper event that is stiff",
      "Hindmarsh and others 2005 (CVODE)", "a dense Jacobian by differences now and then",
      "no step that is short enough: the step fails"},
     NULL,
     NULL},
};

enum { SOLVER_COUNT = sizeof solvers / sizeof solvers[0] };

int perp_solver_count(void)
{
    return SOLVER_COUNT;
}

const perp_solver_card *perp_solver_at(int i)
{
    return i >= 0 && i < SOLVER_COUNT ? &solvers[i].card : NULL;
}

const pp_solver *pp_solver_find(const char *name)
{
    for (int i = 0; i < SOLVER_COUNT; i++) {
        if (name && strcmp(solvers[i].card.name, name) == 0) {
            return &solvers[i];
        }
    }
    return NULL;
}

const perp_solver_card *perp_solver_find(const char *name)
{
    const pp_solver *solver = pp_solver_find(name);
    return solver ? &solver->card : NULL;
}
