// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of solvers: for each its name, classes, proof, references, cost and
// failures. docs/solvers.md has the same at length. Every name that an answer can carry
// is listed here. Rows of PERP_CLASS_STEP have no function: solve/ and hybrid/ answer
// steps from rows and motions under these names.
#include "comp/registry.h"
#include "comp/auto.h"

#include <string.h>

enum {
    MCP = PERP_CLASS_LCP | PERP_CLASS_MCP,
    FCP = PERP_CLASS_FCP_LOCAL | PERP_CLASS_FCP_GLOBAL,
    ANY_FCP = FCP | PERP_CLASS_FCP_ROLLING | PERP_CLASS_FCP_PYRAMID,
};

static const pp_solver solvers[] = {
    {{"auto", MCP | ANY_FCP | PERP_CLASS_NCP, "that of the solver it chooses",
      "see the other solvers", "that of the solvers it tries",
      "as the last solver tried; the message lists all attempts"},
     pp_auto_mcp,
     pp_auto_islands_fcp,
     pp_newton_ncp},
    {{"lemke", MCP | ANY_FCP, "copositive-plus MCP; the Stewart–Trinkle matrix is copositive",
      "Lemke 1965; Cottle, Pang, Stone 1992, 4.4; Stewart, Trinkle 1996",
      "O(n k + k^2) per pivot, k basic variables; typically 0.5 n to 2 n pivots, 2^n at worst",
      "secondary ray (with the ray), pivot limit, singular basis"},
     pp_lemke_mcp,
     NULL,
     NULL},
    {{"pivot", MCP, "P and positive semidefinite boxed MCP",
      "Judice, Pires 1994; Murty 1974 (least index); Rockafellar 1976 (proximal)",
      "one factorisation of the free block per step; 2 to 5 steps, 10 to 40 if A is singular",
      "infeasible (with the proof); refuses a negative diagonal; step limit or singular otherwise"},
     pp_pivot_mcp,
     NULL,
     NULL},
    {{"ssn", MCP | ANY_FCP,
      "local, at strongly regular solutions; none globally with Coulomb friction",
      "Alart, Curnier 1991; Qi, Sun 1993; Acary, Bremond, Huber 2018",
      "one sparse or dense LU per Newton step; typically 10 to 60 steps",
      "step limit; the best iterate is returned"},
     pp_ssn_mcp,
     pp_ssn_by_name,
     NULL},
    {{"gs", ANY_FCP, "convergent for small friction on full-rank problems; no proof otherwise",
      "Jourdan, Alart, Jean 1998", "O(nnz W) per sweep; linear convergence",
      "sweep limit; reports the residual reached"},
     NULL,
     pp_gs_fcp,
     NULL},
    {{"eg", ANY_FCP, "monotone problems (frictionless, or fixed cone offset)",
      "Korpelevich 1976; Khobotov 1987",
      "two products with W per iteration; linear convergence at best",
      "iteration limit; reports the residual reached"},
     NULL,
     pp_eg_fcp,
     NULL},
    {{"enum", MCP, "every MCP with n <= 12: finds a solution or proves that none exists",
      "complete enumeration of complementary bases", "2^n (3^n with boxes) small factorisations",
      "refuses n > 12; singular if the only solutions exceed double precision"},
     pp_enum_mcp,
     NULL,
     NULL},
    {{"newton", PERP_CLASS_NCP,
      "local, at strongly regular solutions of nonlinear MCPs; none globally",
      "Josephy 1979; Dirkse, Ferris 1995 (PATH); Billups 1995",
      "one linear MCP per step, by lemke, pivot or ssn; typically 5 to 20 steps",
      "step limit, or not solved from any start; never infeasible; the best iterate is returned"},
     NULL,
     NULL,
     pp_newton_ncp},
    // Solvers of steps, implemented in solve/ and hybrid/.
    {{"linear", PERP_CLASS_STEP, "joints and springs only: consistent rows have a unique motion",
      "Gauss's principle of least constraint", "one sparse or dense factorisation of the joints",
      "infeasible if rows contradict each other (with the proof)"},
     NULL,
     NULL,
     NULL},
    {{"modes", PERP_CLASS_STEP,
      "local, for contacts near their last impulses; the certificate judges the result",
      "Alart, Curnier 1991; Rockafellar 1976 (proximal)",
      "one sparse factorisation per Newton step; one or two if modes persist, a few dozen at most",
      "gives up without an answer; the step continues with auto"},
     NULL,
     NULL,
     NULL},
    {{"sweeps", PERP_CLASS_STEP,
      "none with friction; for contacts in 3D, crowds that move and loose tolerances; the "
      "certificate judges the result",
      "O'Donoghue, Candes 2015 (restarts of Nesterov's momentum)",
      "O(contacts) per sweep, coloured; 2000 sweeps at most",
      "gives up, and the step continues with modes; at a time or iteration limit, inexact"},
     NULL,
     NULL,
     NULL},
    {{"adams", PERP_CLASS_STEP, "smooth motion of the stepper event",
      "Brown, Byrne and Hindmarsh 1989 (VODE)",
      "two or three evaluations of the accelerations per internal step",
      "stiff motion is passed to bdf"},
     NULL,
     NULL,
     NULL},
    {{"bdf", PERP_CLASS_STEP, "stiff smooth motion of the stepper event",
      "Brown, Byrne and Hindmarsh 1989 (VODE)",
      "an occasional dense Jacobian by finite differences", "step size too small: the step fails"},
     NULL,
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
