// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of assemble/: the step's rows as one complementarity problem.                    theory (P7)
//
//   MCP   unknowns (nu, p_b, p_m, p_n, p_f, sigma), everything written out
//   LCP   unknowns (p_m, p_n, p_f, sigma): nu and p_b eliminated
//   cone  u = W r + q with a normal and tangent components a contact
//
// p_f has an entry for each direction of each friction group (in the plane +t and -t), sigma one a group.
#pragma once

#include "comp/comp.h"
#include "tree/tree.h"

// How a problem is written: with the velocities of all bodies, or in joint coordinates, where the joints
// of the tree are no equations any more.
typedef struct pp_coordinates {
    const pp_tree_pass *tree;  // NULL: bodies
    const double *H;  // with `soft`, factored by pp_tree_factor; NULL: articulated inertias
    const double *unfactored;  // H itself
    const pp_articulation *articulation;
    const bool *implied;  // nb: rows that follow from the tree
    // Springs, rotors and servos along single coordinates of the tree: p = -(x' + beta) / gamma makes them part of H,
    // which has soft[k] = sum 1 / gamma on its diagonal.                                      theory (J11)
    int folds;
    const int *fold, *fold_at;  // folds: which of the bilateral rows, and its rate of the tree
    const bool *folded;         // nb
    const double *soft;         // nv of the tree
    double *nu_0;               // velocities of the bodies at qd = 0: what driven ones impose, and
                                // how far the way along the coordinates is from S qd: theory (J8)
    double *work;               // twice the model's velocities
} pp_coordinates;

// Factors H, with the masses given, and marks the rows of joints in the tree.
perp_status pp_coordinates_create(pp_coordinates *out, const pp_tree_pass *pass,
                                  const pp_rows *rows, pp_arena *arena);
void pp_coordinates_solve(const pp_coordinates *c, double *x);  // x = (H + soft)^-1 x
// qd of velocities nu that the tree allows, nu = S qd + nu_0.
void pp_coordinates_rates(const pp_coordinates *c, const double *nu, double *qd);
// The rates closest to any velocities in the metric of the masses; for coordinates without folded rows.
void pp_coordinates_project(const pp_coordinates *c, const double *nu, double *qd);

typedef struct pp_chain pp_chain;

// Velocities with the joints closed: M nu = r + W_b p_b,  0 = W_b^T nu + beta + Gamma p_b. In joint
// coordinates only the rows that the tree does not imply are closed this way.
typedef struct pp_closed {
    const perp_model *model;
    const pp_rows *rows;
    const pp_inertia *mass;  // bodies
    int nb, rank;
    const int *row;  // nb: which of the model's bilateral rows; NULL: all
    pp_coordinates in;
    double *Jq, *HJ;  // joint coordinates: rows (nb x nv of the tree), and H^-1 of them
    double *qd;       // joint coordinates: work, nv of the tree
    double *rate;     // and nb
    double *L;        // nb x rank: S = W_b^T M^-1 W_b + Gamma = D^-1 L L^T D^-1, rows permuted
    double *d;        // nb: D
    int *order;       // nb: rows in pivot order; those from rank on are redundant
    double *G;        // rank x rank: Cholesky factor of L^T L, when rank < nb
    double *work;     // 3 nb
    double (*MJ)[PP_ROW_BODIES][PP_BODY_NV];  // nb: M^-1 J^T of each row, blocks as in J
    pp_ldl *ldl;  // S = L D L^T by the blocks of joints, in place of all above; NULL: dense
    const pp_chain *chain;  // the same for joints one after the other
} pp_closed;

// ldl: keeps its analysis from step to step; NULL: dense. Many rows go to it, few or redundant ones do not.
perp_status pp_closed_create(pp_closed *out, const perp_model *model, const pp_rows *rows,
                             const pp_inertia *mass, const pp_coordinates *in, pp_ldl *ldl,
                             pp_arena *arena);
// Degrees of freedom that joints leave: nv - rank(W_b).
int pp_closed_dof(const pp_closed *closed);
// beta: a number for each bilateral row, NULL: zero, and bodies that are driven are at rest. On return r is
// nu, and p_b the impulses of least norm; in joint coordinates those of implied rows are left as they are.
void pp_closed_solve(const pp_closed *closed, const double *beta, double *r, double *pb);
// Joint coordinates: the same from generalised impulses S^T (r - M nu_0) to rates, in place. rate: nb, what rows have at
// qd = 0, J nu_0 + beta; NULL: zero.
void pp_closed_rates(const pp_closed *closed, const double *rate, double *qd, double *pb);
// The nearest velocities to x in the metric of the masses at which rigid rows hold, in place; in joint coordinates rates. beta:
// as in pp_closed_solve, or rate as in pp_closed_rates.
void pp_closed_nearest(const pp_closed *closed, const double *beta, double *x, double *pb);
// Joint coordinates: the impulses p_b of implied rows, from M nu = r + W_b p_b body by body; nothing to
// do otherwise.
void pp_closed_reactions(const pp_closed *closed, const double *r, const double *nu, double *pb);
// The same for a change of beta, in the coordinates of bodies: nu and pb follow. step: nb numbers, the change
// on entry.
void pp_closed_change(const pp_closed *closed, double *step, double *nu, double *pb);

// The reduced problem over the base rows m, n, t: rates = D p + q.
typedef struct pp_delassus {
    int count;  // nm + nn + nt
    perp_matrix D;
    double *q;   // rates at p = 0, bias included
    double *nu;  // nv: velocities at p = 0
    double *pb;  // nb: impulses at p = 0
} pp_delassus;

// Row i of the reduced problem.
const pp_row *pp_base_row(const pp_rows *rows, int i);
perp_status pp_delassus_run(pp_delassus *out, const pp_closed *closed, const pp_kinematics *kin,
                            const double *nu, pp_arena *arena);

// A posed problem and its blocks, by which answers are taken apart again. mcp for the forms MCP and LCP, fcp for the cone.
typedef struct pp_posed {
    perp_form form;
    int nv, nb, nm, nn, nf, ns;  // block sizes; nv = nb = 0 in the LCP
    perp_mcp mcp;
    perp_fcp fcp;  // cone form: nn contacts, then one for each of the nm boxed rows
} pp_posed;

// Components a contact in the cone form: 2 in the plane; 3 to 6 in space.
int pp_cone_dim(const perp_model *model, const pp_rows *rows);
// The place of a group's first row among the components of its contact.
int pp_cone_place(const pp_friction *group, int dim);

// The step written out in the velocities that are its unknowns, nu or qd (both called x here):
// M x = push + W p, rates of rows W^T x + rate.
typedef struct pp_step_equations {
    int nv, nb;
    const int *row;  // nb: which of the bilateral rows
    perp_matrix M;   // nv x nv, CSC; H in joint coordinates
    perp_matrix W;   // [W_b W_m W_n W_f], nv rows, CSC; a column of W_f for each direction
    double *rhs;     // nv: M nu_l + p_ext
    double *rate_b;  // nb, without bias
    double *rate;    // nm + nn without bias, nt with it
} pp_step_equations;

// nu: velocities where the step starts.
perp_status pp_step_equations_run(pp_step_equations *out, const perp_model *model,
                                  const pp_kinematics *kin, const pp_rows *rows,
                                  const pp_coordinates *in, const double *nu, pp_arena *arena);

// The three forms of (P7). All arrays are in the arena.
perp_status pp_pose_mcp(pp_posed *out, const pp_rows *rows, const pp_step_equations *motion,
                        pp_arena *arena);
// slack: ng numbers added to mu p_n - sum p_f (what an earlier impulse left), NULL: zero.
perp_status pp_pose_lcp(pp_posed *out, const pp_rows *rows, const pp_delassus *delassus,
                        const double *slack, pp_arena *arena);
// The same with its matrix as a product, not formed: out->mcp.A is empty.
perp_status pp_pose_lcp_product(pp_posed *out, pp_product *A, const pp_rows *rows,
                                const pp_delassus *delassus, pp_arena *arena);
perp_status pp_pose_cone(pp_posed *out, const perp_model *model, const pp_rows *rows,
                         const pp_delassus *delassus, pp_arena *arena);

// The cone form with the bodies kept, for models without bilateral rows.
perp_status pp_pose_cone_global(pp_posed *out, const perp_model *model, const pp_kinematics *kin,
                                const pp_rows *rows, const double *nu, pp_arena *arena);

// ── Proofs (proof.c): from the rows alone ────────────────────────────────────────────────────────

// Weights that contradict the rows: sum y (rate + bias) relative to its terms, negative; +INFINITY: they prove
// nothing. Shares nothing with solvers.                                                  theory (U9)
double pp_rows_contradiction(const perp_model *model, const pp_rows *rows, double h,
                             const double *yn, const double *yb, pp_arena *arena);

// Middle of a boxed row's bounds: in the cone form its impulse is counted from there [N s, N m s].
double pp_boxed_middle(const pp_row *row);
// A motion d that all rows let happen whatever impulses they have, and that the forces favour: p_ext d less what
// boxed rows can take from it, relative to its terms; 0: it proves nothing.                theory (U10)
double pp_rows_unbounded_motion(const perp_model *model, const pp_rows *rows, const double *p_ext,
                                const double *d);
