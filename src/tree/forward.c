// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Forward dynamics by the articulated-body algorithm.                                  theory (J5)
//
// Accelerations are counted from sigma, so that all velocity terms are in p, the wrench that a link
// needs at a = 0:
//   f = I^A a + p,   U = I^A S,   D = S . U,   u = tau - S . p
//   I^A <- I^A - U U^T / D,   p <- p + U u / D      then moved to the parent's centre of mass and added
//   qdd = (u - U . a) / D,    a <- a + S qdd        from the roots to the leaves
// Velocities of one link are eliminated one after the other, as if massless links were between
// them.
//
// R. Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 7.
#include "tree/hinge.h"

#include <string.h>

// Articulated inertia in blocks: f = A v + B w, tau = B^T v + C w. A and C are symmetric and stored
// as xx xy xz yy yz zz. p: wrench at zero acceleration.
typedef struct articulated {
    double A[6], B[9], C[6];
    perp_wrench p;
} articulated;

// What the second pass needs of one velocity.
typedef struct eliminated {
    perp_wrench U;
    double u, s;  // s = 1 / D
} eliminated;

static perp_vec3 mul_symmetric(const double *A, perp_vec3 x)
{
    return (perp_vec3){A[0] * x.x + A[1] * x.y + A[2] * x.z, A[1] * x.x + A[3] * x.y + A[4] * x.z,
                       A[2] * x.x + A[4] * x.y + A[5] * x.z};
}

// B x, for a matrix stored by rows, and B^T x.
static perp_vec3 mul_plain(const double *B, perp_vec3 x)
{
    return (perp_vec3){B[0] * x.x + B[1] * x.y + B[2] * x.z, B[3] * x.x + B[4] * x.y + B[5] * x.z,
                       B[6] * x.x + B[7] * x.y + B[8] * x.z};
}

static perp_vec3 mul_turned(const double *B, perp_vec3 x)
{
    return (perp_vec3){B[0] * x.x + B[3] * x.y + B[6] * x.z, B[1] * x.x + B[4] * x.y + B[7] * x.z,
                       B[2] * x.x + B[5] * x.y + B[8] * x.z};
}

// Inertia of the rigid body alone, about its centre of mass: A = m 1, B = 0, C = I.
static void init_articulated(const pp_tree_pass *pass, int link, articulated *a)
{
    const pp_inertia *mass = &pass->mass[pass->tree->link[link].body];
    const double *I = mass->I.m;
    *a = (articulated){
        .A = {mass->m, 0.0, 0.0, mass->m, 0.0, mass->m},
        .C = {I[0], I[1], I[2], I[4], I[5], I[8]},
    };
}

// A -= s x x^T, upper triangle.
static void subtract_symmetric(double *A, double s, perp_vec3 x)
{
    perp_vec3 y = pp_scale(s, x);
    A[0] -= x.x * y.x;
    A[1] -= x.x * y.y;
    A[2] -= x.x * y.z;
    A[3] -= x.y * y.y;
    A[4] -= x.y * y.z;
    A[5] -= x.z * y.z;
}

// Eliminates one velocity: the articulated inertia becomes that of a link which is free to move
// along S, with a rotor of the given inertia geared to it. False: nothing with mass moves along S.
static bool eliminate_joint(articulated *a, const perp_twist *S, double rotor, double tau,
                            eliminated *e)
{
    e->U.f_W = pp_add(mul_symmetric(a->A, S->v_W), mul_plain(a->B, S->w_W));
    e->U.tau_W = pp_add(mul_turned(a->B, S->v_W), mul_symmetric(a->C, S->w_W));
    double D = pp_twist_power(S, &e->U) + rotor;
    if (!(D > 0.0)) {  // nothing with mass moves along S, or NaN
        return false;
    }
    e->s = 1.0 / D;
    e->u = tau - pp_twist_power(S, &a->p);
    double su = e->s * e->u;
    perp_vec3 f = e->U.f_W, n = pp_scale(e->s, e->U.tau_W);
    // I^A - U U^T / D block by block; of A and C the upper triangle.
    subtract_symmetric(a->A, e->s, f);
    subtract_symmetric(a->C, e->s, e->U.tau_W);
    double *B = a->B;
    B[0] -= f.x * n.x;
    B[1] -= f.x * n.y;
    B[2] -= f.x * n.z;
    B[3] -= f.y * n.x;
    B[4] -= f.y * n.y;
    B[5] -= f.y * n.z;
    B[6] -= f.z * n.x;
    B[7] -= f.z * n.y;
    B[8] -= f.z * n.z;
    a->p.f_W = pp_along(a->p.f_W, su, f);
    a->p.tau_W = pp_along(a->p.tau_W, su, e->U.tau_W);
    return true;
}

// Adds the articulated inertia of a child, given at its own centre of mass r from the parent's:
//   B' = B - A [r],  C' = C - B^T [r] + [r] B'
static void add_child_inertia(articulated *parent, const articulated *a, perp_vec3 r)
{
    const double *A = a->A, *B = a->B;
    // Rows of A [r] are (row of A) x r.
    const double M[9] = {
        B[0] - (A[1] * r.z - A[2] * r.y), B[1] - (A[2] * r.x - A[0] * r.z),
        B[2] - (A[0] * r.y - A[1] * r.x), B[3] - (A[3] * r.z - A[4] * r.y),
        B[4] - (A[4] * r.x - A[1] * r.z), B[5] - (A[1] * r.y - A[3] * r.x),
        B[6] - (A[4] * r.z - A[5] * r.y), B[7] - (A[5] * r.x - A[2] * r.z),
        B[8] - (A[2] * r.y - A[4] * r.x),
    };
    for (int k = 0; k < 6; k++) {
        parent->A[k] += A[k];
    }
    for (int k = 0; k < 9; k++) {
        parent->B[k] += M[k];
    }
    // Rows of B^T [r] are (column of B) x r; columns of [r] M are r x (column of M).
    double *C = parent->C;
    C[0] += a->C[0] - (B[3] * r.z - B[6] * r.y) + (r.y * M[6] - r.z * M[3]);
    C[1] += a->C[1] - (B[6] * r.x - B[0] * r.z) + (r.y * M[7] - r.z * M[4]);
    C[2] += a->C[2] - (B[0] * r.y - B[3] * r.x) + (r.y * M[8] - r.z * M[5]);
    C[3] += a->C[3] - (B[7] * r.x - B[1] * r.z) + (r.z * M[1] - r.x * M[7]);
    C[4] += a->C[4] - (B[1] * r.y - B[4] * r.x) + (r.z * M[2] - r.x * M[8]);
    C[5] += a->C[5] - (B[2] * r.y - B[5] * r.x) + (r.x * M[5] - r.y * M[2]);
    pp_wrench_gather(&parent->p, &a->p, r);
}

// First pass, from the leaves to the roots. tau NULL: inertias alone.
static bool to_roots(const pp_tree_pass *pass, const double *soft, const double *tau,
                     articulated *a, eliminated *e)
{
    const pp_tree *tree = pass->tree;
    for (int i = 0; i < tree->links; i++) {
        init_articulated(pass, i, &a[i]);
        if (tau) {
            a[i].p = pp_tree_inertial_wrench(pass, i);
        }
    }
    for (int i = tree->links - 1; i >= 0; i--) {
        const pp_link *l = &tree->link[i];
        for (int k = l->at_v + l->nv - 1; k >= l->at_v; k--) {  // outermost first
            double rotor = (pass->rotors ? tree->rotor[k] : 0.0) + (soft ? soft[k] : 0.0);
            if (!eliminate_joint(&a[i], &pass->column[k], rotor, tau ? tau[k] : 0.0, &e[k])) {
                return false;
            }
        }
        if (l->parent >= 0) {
            perp_vec3 r = pp_sub(pass->body[l->body].p, pass->body[l->carrier].p);
            add_child_inertia(&a[l->parent], &a[i], r);
        }
    }
    return true;
}

// Second pass: qdd = (u - U . a) / D from the roots, where a is the acceleration that the parent
// gives, at the centre of mass of the link.
static void to_leaves(const pp_tree_pass *pass, const eliminated *e, perp_twist *acceleration,
                      double *qdd)
{
    const pp_tree *tree = pass->tree;
    for (int i = 0; i < tree->links; i++) {
        const pp_link *l = &tree->link[i];
        perp_twist a = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
        if (l->parent >= 0) {
            perp_vec3 r = pp_sub(pass->body[l->body].p, pass->body[l->carrier].p);
            a = pp_twist_at(acceleration[l->parent], r);
        }
        for (int k = l->at_v; k < l->at_v + l->nv; k++) {
            qdd[k] = e[k].s * (e[k].u - pp_twist_power(&a, &e[k].U));
            a = pp_twist_add(a, qdd[k], &pass->column[k]);
        }
        acceleration[i] = a;
    }
}

// PERP_ERR_NUMERIC: some velocity moves nothing with mass.
perp_status pp_tree_forward(const pp_tree_pass *pass, const double *tau, double *qdd,
                            pp_arena *arena)
{
    const pp_tree *tree = pass->tree;
    pp_mark mark = pp_arena_mark(arena);
    articulated *a = PP_ARRAY(arena, articulated, tree->links);
    eliminated *e = PP_ARRAY(arena, eliminated, tree->nv);
    perp_twist *acceleration = PP_ARRAY(arena, perp_twist, tree->links);
    perp_status status = PERP_ERR_MEMORY;
    if (a && e && acceleration) {
        status = to_roots(pass, NULL, tau, a, e) ? PERP_OK : PERP_ERR_NUMERIC;
    }
    if (status == PERP_OK) {
        to_leaves(pass, e, acceleration, qdd);
    }
    pp_arena_release(arena, mark);
    return status;
}

// ── Many right-hand sides ────────────────────────────────────────────────────────────────────────

// Everything of the first pass that does not depend on the right-hand side, and room for the rest.
struct pp_articulation {
    const pp_tree_pass *pass;
    eliminated *e;             // nv
    perp_wrench *p;            // links
    perp_twist *acceleration;  // links
};

// Articulated inertias alone: U and 1 / D of all velocities, for any number of right-hand sides.
perp_status pp_tree_articulate(const pp_tree_pass *pass, const double *soft, pp_arena *arena,
                               pp_articulation **out)
{
    const pp_tree *tree = pass->tree;
    pp_articulation *s = PP_ARRAY(arena, pp_articulation, 1);
    *out = s;
    if (!s) {
        return PERP_ERR_MEMORY;
    }
    s->pass = pass;
    s->e = PP_ARRAY(arena, eliminated, tree->nv);
    s->p = PP_ARRAY(arena, perp_wrench, tree->links);
    s->acceleration = PP_ARRAY(arena, perp_twist, tree->links);
    articulated *a = PP_ARRAY(arena, articulated, tree->links);
    if (!s->e || !s->p || !s->acceleration || !a) {
        return PERP_ERR_MEMORY;
    }
    return to_roots(pass, soft, NULL, a, s->e) ? PERP_OK : PERP_ERR_SINGULAR;
}

// x <- H^-1 x: both passes for forces x at rest and without gravity, with the inertias computed
// before.
void pp_tree_articulated(const pp_articulation *s, double *x)
{
    const pp_tree_pass *pass = s->pass;
    const pp_tree *tree = pass->tree;
    memset(s->p, 0, (size_t)tree->links * sizeof *s->p);
    for (int i = tree->links - 1; i >= 0; i--) {
        const pp_link *l = &tree->link[i];
        perp_wrench *p = &s->p[i];
        for (int k = l->at_v + l->nv - 1; k >= l->at_v; k--) {
            eliminated *e = &s->e[k];
            e->u = x[k] - pp_twist_power(&pass->column[k], p);
            p->f_W = pp_along(p->f_W, e->s * e->u, e->U.f_W);
            p->tau_W = pp_along(p->tau_W, e->s * e->u, e->U.tau_W);
        }
        if (l->parent >= 0) {
            perp_vec3 r = pp_sub(pass->body[l->body].p, pass->body[l->carrier].p);
            pp_wrench_gather(&s->p[l->parent], p, r);
        }
    }
    to_leaves(pass, s->e, s->acceleration, x);
}
