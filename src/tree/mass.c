// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// H by the composite-rigid-body algorithm, and its factors L^T D L.                    theory (J3)
//
//   H_jk = S_j . (I^c_k S_k)   for j on the path from k to the root, I^c_k the composite inertia of k's link
//
// R. Featherstone, Rigid Body Dynamics Algorithms (2008), chapters 6.2 and 6.5: elimination from
// the leaves to the roots causes no fill-in.
#include "tree/hinge.h"

#include <string.h>

// Adds a composite inertia that is given at the distance r from here: the parallel-axis theorem for
// a reference point that is not the centre of mass,
//   I += m (|r|^2 1 - r r^T) + 2 (h . r) 1 - (h r^T + r h^T).
static void add_moved(pp_composite_inertia *sum, const pp_composite_inertia *c, perp_vec3 r)
{
    perp_vec3 h = pp_along(c->h, c->m, r);  // first moment about the new point
    // |r|^2 m + 2 h_0 . r = (h + h_0) . r, and likewise for the outer products
    perp_vec3 s = pp_add(h, c->h);
    double trace = pp_dot3(s, r);
    double xy = 0.5 * (s.x * r.y + s.y * r.x), xz = 0.5 * (s.x * r.z + s.z * r.x);
    double yz = 0.5 * (s.y * r.z + s.z * r.y);
    double *I = sum->I.m;
    const double *from = c->I.m;
    sum->m += c->m;
    sum->h = pp_add(sum->h, h);
    I[0] += from[0] + (trace - s.x * r.x);
    I[4] += from[4] + (trace - s.y * r.y);
    I[8] += from[8] + (trace - s.z * r.z);
    I[1] += from[1] - xy;
    I[2] += from[2] - xz;
    I[5] += from[5] - yz;
    I[3] = I[1];
    I[6] = I[2];
    I[7] = I[5];
}

// Composite inertia of each link about its own centre of mass: sums from the leaves to the roots.
static void gather_compounds(const pp_tree_pass *pass)
{
    const pp_tree *tree = pass->tree;
    for (int i = 0; i < tree->links; i++) {
        const pp_inertia *mass = &pass->mass[tree->link[i].body];
        pass->compound[i] = (pp_composite_inertia){mass->m, {0.0, 0.0, 0.0}, mass->I};
    }
    for (int i = tree->links - 1; i >= 0; i--) {
        const pp_link *l = &tree->link[i];
        if (l->parent >= 0) {
            perp_vec3 r = pp_sub(pass->body[l->body].p, pass->body[l->carrier].p);
            add_moved(&pass->compound[l->parent], &pass->compound[i], r);
        }
    }
}

// Momentum of a composite body that moves with twist S: (m v + w x h, h x v + I w).
static perp_wrench composite_momentum(const pp_composite_inertia *c, const perp_twist *S)
{
    perp_vec3 p = pp_add(pp_scale(c->m, S->v_W), pp_cross(S->w_W, c->h));
    return (perp_wrench){p, pp_add(pp_cross(c->h, S->v_W), pp_mul(&c->I, S->w_W))};
}

// Row and column k of H: the momentum of the composite body of k per unit rate, projected on every
// column on the path to the root. Other pairs are 0.
void pp_tree_mass(const pp_tree_pass *pass, double *H)
{
    const pp_tree *tree = pass->tree;
    size_t n = (size_t)tree->nv;
    gather_compounds(pass);
    memset(H, 0, n * n * sizeof *H);
    for (int i = 0; i < tree->links; i++) {
        for (int k = tree->link[i].at_v; k < tree->link[i].at_v + tree->link[i].nv; k++) {
            perp_wrench F = composite_momentum(&pass->compound[i], &pass->column[k]);
            // F is moved from link to link towards the root.
            for (int at = i; at >= 0; at = tree->link[at].parent) {
                const pp_link *l = &tree->link[at];
                // Within one link only the velocities up to k: the rest is symmetric.
                int end = at == i ? k + 1 : l->at_v + l->nv;
                for (int j = l->at_v; j < end; j++) {
                    double value = pp_twist_power(&pass->column[j], &F);
                    H[(size_t)j + n * (size_t)k] = value;
                    H[(size_t)k + n * (size_t)j] = value;
                }
                perp_vec3 r = pp_sub(pass->body[l->body].p, pass->body[l->carrier].p);
                F.tau_W = pp_add(F.tau_W, pp_cross(r, F.f_W));
            }
            H[(n + 1) * (size_t)k] += pass->rotors ? tree->rotor[k] : 0.0;
        }
    }
}

// ── Factors ──────────────────────────────────────────────────────────────────────────────────────
// L_kj is stored at (j, k), j before k, so that a column of the array is a row of L. D is the
// diagonal.

// H = L^T D L, eliminated from the leaves: L has the sparsity of the path to the root. Featherstone
// (2008), chapter 6.5.
bool pp_tree_factor(const pp_tree *tree, double *H)
{
    size_t n = (size_t)tree->nv;
    const int *before = tree->parent_v;
    for (int k = tree->nv - 1; k >= 0; k--) {
        double *row = H + n * (size_t)k;
        // NaN fails as well.
        if (!(row[k] > 0.0)) {
            return false;
        }
        double s = 1.0 / row[k];
        for (int i = before[k]; i >= 0; i = before[i]) {
            double a = s * row[i], *to = H + n * (size_t)i;
            for (int j = i; j >= 0; j = before[j]) {
                to[j] -= a * row[j];
            }
        }
        for (int i = before[k]; i >= 0; i = before[i]) {
            row[i] *= s;
        }
    }
    return true;
}

// x <- H^-1 x: by L^T from the leaves, then by D and L from the roots.
void pp_tree_solve(const pp_tree *tree, const double *L, double *x)
{
    size_t n = (size_t)tree->nv;
    const int *before = tree->parent_v;
    for (int k = tree->nv - 1; k >= 0; k--) {
        for (int j = x[k] == 0.0 ? -1 : before[k]; j >= 0; j = before[j]) {
            x[j] -= L[(size_t)j + n * (size_t)k] * x[k];
        }
    }
    for (int k = 0; k < tree->nv; k++) {
        x[k] /= L[(size_t)k + n * (size_t)k];
        for (int j = before[k]; j >= 0; j = before[j]) {
            x[k] -= L[(size_t)j + n * (size_t)k] * x[j];
        }
    }
}

// As pp_tree_solve, of which only the way from k to the root counts.
double pp_tree_mobility(const pp_tree *tree, const double *L, int k, double *x)
{
    size_t n = (size_t)tree->nv;
    const int *before = tree->parent_v;
    for (int i = k; i >= 0; i = before[i]) {
        x[i] = 0.0;
    }
    x[k] = 1.0;
    for (int i = k; i >= 0; i = before[i]) {
        for (int j = before[i]; j >= 0; j = before[j]) {
            x[j] -= L[(size_t)j + n * (size_t)i] * x[i];
        }
    }
    // x'L'D^-1 L x of that: H^-1 has no entry of k but through its way to the root
    double sum = 0.0;
    for (int i = k; i >= 0; i = before[i]) {
        sum += x[i] * x[i] / L[(size_t)i + n * (size_t)i];
    }
    return sum;
}
