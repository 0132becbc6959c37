// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Positions against velocities in joint coordinates. A body follows the one that carries it, and
// moves on it with constant rates of the joint coordinates. Relative to a, the rotation of b and its
// anchor follow                                                                        theory (K9)
//
//   R_ab+ = exp(h omega) R_ab,   d+ = d + h d',   d = R_a^T (c_b - c_a)
//
// and a universal joint by the angles about its two axes. The certificate does not ask which joints
// carry a body. The rule holds if it holds along some tree of joints whose root bodies follow from
// their own velocities. Of all such trees the one whose worst error is smallest counts: a minimum
// bottleneck spanning tree, found with Kruskal's algorithm.
#include "certify/own.h"
#include "certify/scale.h"

#include "math/math.h"

#include <math.h>
#include <string.h>

// Rotation by the vector w: axis times angle [rad].
static pp_mat3 turned_by(perp_vec3 w)
{
    return pp_quat_matrix(pp_quat_exp(w));
}

// R_ab = R_a^T R_b: takes coordinates in b to coordinates in a.
static pp_mat3 relative_rotation(const pp_mat3 *a, const pp_mat3 *b)
{
    pp_mat3 at = pp_transpose3(a);
    return pp_mat_mul(&at, b);
}

// Length of the chord between two rotations, which for small angles is the angle [rad]: the
// Frobenius norm of the difference of two rotations by the angle x is 2 sqrt(2) sin(x/2).
static double chord_between(const pp_mat3 *a, const pp_mat3 *b)
{
    double sum = 0.0;
    for (int k = 0; k < 9; k++) {
        sum += (a->m[k] - b->m[k]) * (a->m[k] - b->m[k]);
    }
    return sqrt(0.5 * sum);
}

// R_ab at the end of the step by theory (K9). omega: angular velocity of b relative to a, in the
// axes of a [rad/s]. The two axes of a universal joint are fixed in one body each, so that its
// first turn multiplies from the left and its second from the right.
static pp_mat3 turned(const pp_joint *j, const pp_mat3 *R, perp_vec3 omega, double h)
{
    if (j->kind != PERP_JOINT_UNIVERSAL) {
        pp_mat3 by = turned_by(pp_scale(h, omega));
        return pp_mat_mul(&by, R);
    }
    perp_vec3 u = j->axis_A, u_b = pp_mul(R, j->axis_B);
    pp_mat3 first = turned_by(pp_scale(h * pp_dot3(omega, u), u));
    pp_mat3 second = turned_by(pp_scale(h * pp_dot3(omega, u_b), j->axis_B));
    pp_mat3 moved = pp_mat_mul(&first, R);
    return pp_mat_mul(&moved, &second);
}

// How far b ends from the place on a where constant rates of the joint coordinates bring it [m].
// Rotations count at the reach of the body. The frames `from` hold the velocities of the step.
static double arc_error(const pp_joint *j, double h, const pp_frame *from, const pp_frame *to,
                        double reach)
{
    const pp_frame *a = &from[j->a], *b = &from[j->b], *a_end = &to[j->a], *b_end = &to[j->b];
    perp_vec3 c_a = pp_add(a->p, pp_mul(&a->R, j->r_A)), c_b = pp_add(b->p, pp_mul(&b->R, j->r_B));
    perp_vec3 e_a = pp_add(a_end->p, pp_mul(&a_end->R, j->r_A));
    perp_vec3 e_b = pp_add(b_end->p, pp_mul(&b_end->R, j->r_B));
    // Velocity of c_b relative to the material point of a at the same place: the rate of d in a.
    perp_vec3 slide = pp_sub(pp_own_velocity(b, c_b), pp_own_velocity(a, c_b));
    perp_vec3 d = pp_mul_t(&a->R, pp_along(pp_sub(c_b, c_a), h, slide));
    double off = pp_length(pp_sub(d, pp_mul_t(&a_end->R, pp_sub(e_b, e_a))));
    pp_mat3 R = relative_rotation(&a->R, &b->R), end = relative_rotation(&a_end->R, &b_end->R);
    pp_mat3 then = turned(j, &R, pp_mul_t(&a->R, pp_sub(b->w, a->w)), h);
    return off + reach * chord_between(&then, &end);
}

// The rest are single equations, which no tree of joints contains.
bool pp_arcs_carry(const pp_joint *j)
{
    return j->kind != PERP_JOINT_DISTANCE && j->kind != PERP_JOINT_ANGLE && !pp_joint_couples(j) &&
           j->kind != PERP_JOINT_POINT_ON_LINE;
}

// An explanation of where a body is: its own velocity (a = -1), or that of a joint between two.
typedef struct reason {
    double over;   // its error over what is allowed
    double error;  // [m]
    int a, b;
} reason;

enum { ORDER_BITS = 28 };  // of a key: more reasons than any model has

// Sorts by relative error to seven digits, then by order of arrival. The bits of non-negative
// doubles compare as their values do. NaN sorts last.
static uint64_t sort_key(const reason *why, int order)
{
    double over = why->over > 0.0 ? why->over : 0.0;
    uint64_t bits;
    over = isnan(why->over) ? HUGE_VAL : over;
    memcpy(&bits, &over, sizeof bits);
    return bits >> ORDER_BITS << ORDER_BITS | (uint64_t)order;
}

// Disjoint sets of bodies, each a ring of members. Set 0 holds the bodies whose places are
// explained. Body i is the element i + 1.
typedef struct sets {
    int *of;    // bodies + 1: set of each
    int *next;  // the next member of its set
    int *size;  // of the set that has this number
} sets;

// Unites the sets of a and b; the smaller one is relabelled, except that set 0 keeps its name.
// Bodies that enter set 0 here are explained by `why`, whose error becomes theirs: Kruskal's
// algorithm takes errors in rising order, so that it is the worst on their path.
static void merge_sets(sets *s, int a, int b, const reason *why, double *error)
{
    int into = s->of[a], from = s->of[b];
    if (from == 0 || (into != 0 && s->size[from] > s->size[into])) {
        int swapped = into;
        into = from;
        from = swapped;
    }
    int first = from;
    for (int i = s->next[first];; i = s->next[i]) {
        s->of[i] = into;
        if (into == 0) {
            error[i - 1] = why->error;
        }
        if (i == first) {
            break;
        }
    }
    // Two rings become one by exchanging the successors of one member each.
    int after = s->next[into];
    s->next[into] = s->next[from];
    s->next[from] = after;
    s->size[into] += s->size[from];
}

// Frames at the start with the velocities nu of the step. Bodies that are not free keep the
// velocities that `from` gives them.
static pp_frame *with_velocities(const perp_model *m, const pp_frame *from, const double *nu,
                                 pp_arena *arena)
{
    pp_frame *out = PP_ARRAY(arena, pp_frame, m->bodies);
    if (!out) {
        return NULL;
    }
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        double rate[6] = {0.0};
        out[i] = from[i];
        for (int k = 0; k < body->nv; k++) {
            rate[body->axis[k]] = nu[body->at + k];
        }
        if (body->nv > 0) {
            out[i].v = pp_vec(rate[0], rate[1], rate[2]);
            out[i].w = pp_vec(rate[3], rate[4], rate[5]);
        }
    }
    return out;
}

// Gathers all explanations and returns their number. Bodies that are not free need none: their
// error is -1, which sorts first.
static int gather_reasons(const perp_model *m, double h, const pp_frame *from, const pp_frame *to,
                          const double *limit, const double *error, reason *why)
{
    int count = 0;
    for (int i = 0; i < m->bodies; i++, count++) {
        bool moves = m->body[i].nv > 0;
        double over = moves ? error[i] / limit[i] : -1.0;
        why[count] = (reason){over, moves ? error[i] : 0.0, -1, i};
    }
    for (int k = 0; k < m->joints; k++) {
        const pp_joint *j = &m->joint[k];
        bool a_moves = m->body[j->a].nv > 0, b_moves = m->body[j->b].nv > 0;
        if (!pp_arcs_carry(j) || !(a_moves || b_moves)) {
            continue;
        }
        double off = arc_error(j, h, from, to, m->body[b_moves ? j->b : j->a].reach);
        double most = (a_moves ? limit[j->a] : 0.0) + (b_moves ? limit[j->b] : 0.0);
        why[count] = (reason){off / most, off, j->a, j->b};
        count++;
    }
    return count;
}

perp_status pp_arcs_explain(const perp_model *m, double h, const pp_motion_of *of,
                            const double *limit, double *error, pp_arena *arena)
{
    int nodes = m->bodies + 1;
    const pp_frame *from = with_velocities(m, of->from, of->nu, arena);
    int most = m->bodies + m->joints;
    reason *why = PP_ARRAY(arena, reason, most);
    uint64_t *key = PP_ARRAY(arena, uint64_t, most), *room = PP_ARRAY(arena, uint64_t, most);
    sets s = {PP_ARRAY(arena, int, nodes), PP_ARRAY(arena, int, nodes),
              PP_ARRAY(arena, int, nodes)};
    if (!from || !why || !key || !room || !s.of || !s.next || !s.size) {
        return PERP_ERR_MEMORY;
    }
    // At first every body is a set of its own; element 0 is the root, to which a reason with a = -1
    // leads.
    for (int i = 0; i < nodes; i++) {
        s.of[i] = s.next[i] = i;
        s.size[i] = 1;
    }
    int count = gather_reasons(m, h, from, of->to, limit, error, why);
    for (int i = 0; i < count; i++) {
        key[i] = sort_key(&why[i], i);
    }
    pp_sort_keys(count, key, room);
    // Kruskal: the reasons in rising order of error, those that close a cycle left out.
    for (int i = 0; i < count; i++) {
        const reason *next = &why[key[i] & ((1U << ORDER_BITS) - 1U)];
        if (s.of[next->a + 1] != s.of[next->b + 1]) {
            merge_sets(&s, next->a + 1, next->b + 1, next, error);
        }
    }
    return PERP_OK;
}
