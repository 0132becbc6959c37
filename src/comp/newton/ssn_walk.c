// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Polygonal friction from a remote start: a piecewise linear homotopy. The map F of theory (C21) is
// piecewise linear for polygons, and its pieces are the modes of the contacts, theory (C38).
// Followed is the path of points x with
//
//   F(x) = lambda F(x_0),     lambda from 1 to 0                                        theory (C39)
//
// Within a piece the path is a straight line, dx = -J^-1 F. Where it meets the boundary of the
// piece one group of one contact changes its mode, and the path continues in the next piece in the
// direction that leads away from that boundary: lambda grows for a while where the determinants of
// the two pieces differ in sign. This is Lemke's method from an arbitrary start, with as many
// unknowns as velocities. It ends at a solution or on a ray. A proximal term about x_0 makes J
// regular where contacts are redundant. Cost: one factorisation a piece.
#include "comp/newton/ssn.h"

#include <math.h>
#include <string.h>

// Where the nearest point of a group's polygon (or interval) is: inside; on edge `side`, which goes
// from vertex `side` to the next; on vertex `side`.
typedef enum polygon_face { INSIDE, EDGE, VERTEX } polygon_face;

// The mode of one group of a closed contact.
typedef struct piece {
    polygon_face place;
    int side;
} piece;

// Where the path leaves a piece: a contact, and the next piece of its group. group == -1: the
// contact opens or closes.
typedef struct crossing {
    int contact, group;
    piece next;
    bool closes;
    double t;     // of the step
    double rate;  // of the function that vanishes there
} crossing;

typedef struct homotopy_polygon {
    int nd;
    double (*d)[2];  // nd: vertices, on the unit circle
} homotopy_polygon;

struct pp_ssn_homotopy {
    const pp_ssn *ssn;
    pp_ssn_linear *linear;
    double alpha, rho;                      // the proximal term, 1 / (1 + alpha)
    double *x, *centre, *u, *F, *dx, *Wdx;  // n: the point, x_0, W x, the map, the direction, W dx
    double *y, *dy;                         // n: x - rho (u + alpha (x - centre)), and its rate
    double *P, *A, *B;                      // blocks: derivative of the projection, and the system
    bool *closed;                           // nc
    piece *piece;                           // nc groups
    homotopy_polygon *polygon;              // nc
};

// ── Pieces ───────────────────────────────────────────────────────────────────────────────────────

// A linear function along the path: its value at the current point, and its rate.
typedef struct affine {
    double at, rate;
} affine;

// A boundary of a group's piece: the function a R + b.y_g with R = mu y_n is >= 0 in the piece, and
// where it vanishes the group goes over to the piece `next`.
typedef struct wall {
    double a, b[2];
    piece next;
} wall;

// Edge j of the polygon of radius 1: n, its midpoint, which is its outward normal times its
// distance from 0; along, half the vector from its first vertex to its second.
static void edge_of(const homotopy_polygon *p, int j, double n[2], double along[2])
{
    const double *c = p->d[j], *d = p->d[(j + 1) % p->nd];
    n[0] = 0.5 * (c[0] + d[0]);
    n[1] = 0.5 * (c[1] + d[1]);
    along[0] = 0.5 * (d[0] - c[0]);
    along[1] = 0.5 * (d[1] - c[1]);
}

static double norm2_squared(const double x[2])
{
    return x[0] * x[0] + x[1] * x[1];
}

// Boundary k of a piece of an interval [-R, R], whose vertices 0 and 1
// are R and -R. False: there is none.
static bool interval_wall(piece at, int k, wall *w)
{
    if (at.place == INSIDE) {
        *w = (wall){1.0, {k == 0 ? -1.0 : 1.0, 0.0}, {VERTEX, k}};
        return k < 2;
    }
    *w = (wall){-1.0, {at.side == 0 ? 1.0 : -1.0, 0.0}, {INSIDE, 0}};
    return k == 0;
}

// Boundary k of a piece of a polygon; false: there is none. Inside there are nd, at a vertex two
// (the edges that meet there), on an edge three (inside, and its two vertices).
static bool polygon_wall(const homotopy_polygon *p, piece at, int k, wall *w)
{
    double n[2], e[2];
    int before = (at.side + p->nd - 1) % p->nd;
    if (at.place == INSIDE) {
        if (k >= p->nd) {
            return false;
        }
        edge_of(p, k, n, e);
        *w = (wall){norm2_squared(n), {-n[0], -n[1]}, {EDGE, k}};
        return true;
    }
    // the edge itself; for boundary 1 of a vertex the edge before it
    edge_of(p, at.place == VERTEX && k == 1 ? before : at.side, n, e);
    if (at.place == VERTEX) {
        *w = k == 0 ? (wall){-norm2_squared(e), {-e[0], -e[1]}, {EDGE, at.side}}
                    : (wall){-norm2_squared(e), {e[0], e[1]}, {EDGE, before}};
        return k < 2;
    }
    wall walls[3] = {{-norm2_squared(n), {n[0], n[1]}, {INSIDE, 0}},
                     {norm2_squared(e), {e[0], e[1]}, {VERTEX, at.side}},
                     {norm2_squared(e), {-e[0], -e[1]}, {VERTEX, (at.side + 1) % p->nd}}};
    *w = walls[k < 3 ? k : 0];
    return k < 3;
}

// Boundary k of the piece `at` of group g at contact c. Without
// friction a group has one piece only.
static bool wall_of(const pp_ssn_homotopy *s, int c, int g, piece at, int k, wall *w)
{
    if (s->ssn->group[g].mu[c] == 0.0) {
        return false;
    }
    return s->ssn->group[g].size == 1 ? interval_wall(at, k, w)
                                      : polygon_wall(&s->polygon[c], at, k, w);
}

// The function of a boundary along the path.
static affine wall_value(const pp_ssn_homotopy *s, int c, int g, const wall *w)
{
    const pp_group *group = &s->ssn->group[g];
    int at = c * s->ssn->dim, f = at + group->first;
    double R = w->a * group->mu[c];
    affine v = {R * s->y[at], R * s->dy[at]};
    for (int k = 0; k < group->size; k++) {
        v.at += w->b[k] * s->y[f + k];
        v.rate += w->b[k] * s->dy[f + k];
    }
    return v;
}

// The piece of a group at the current y, for the radius R = max(mu
// y_n, 0). With R = 0 nothing is inside.
static piece find_piece(const pp_ssn_homotopy *s, int c, int g)
{
    const pp_group *group = &s->ssn->group[g];
    const double *y = s->y + c * s->ssn->dim + group->first;
    double R = fmax(group->mu[c] * s->y[c * s->ssn->dim], 0.0);
    if (group->size == 1) {
        if (fabs(y[0]) <= R && R > 0.0) {
            return (piece){INSIDE, 0};
        }
        return (piece){VERTEX, y[0] > 0.0 ? 0 : 1};
    }
    const homotopy_polygon *p = &s->polygon[c];
    double most = -PP_INF, n[2], e[2];
    int best = 0;
    for (int j = 0; j < p->nd; j++) {  // the edge whose sector y is in
        edge_of(p, j, n, e);
        double out = n[0] * y[0] + n[1] * y[1];
        best = out > most ? j : best;
        most = fmax(most, out);
    }
    edge_of(p, best, n, e);
    double along = e[0] * y[0] + e[1] * y[1], half = norm2_squared(e) * R;
    if (most <= norm2_squared(n) * R && R > 0.0) {
        return (piece){INSIDE, 0};
    }
    if (along >= half && along > 0.0) {
        return (piece){VERTEX, (best + 1) % p->nd};
    }
    if (along <= -half) {
        return (piece){VERTEX, best};
    }
    return (piece){EDGE, best};
}

// The derivative of the projection of one group of a closed contact, in its piece, into the
// contact's block P: the identity inside, mu d in the column of the normal at a vertex d, and on an
// edge both mu n and the projection onto the edge.
static void differentiate_group(const pp_ssn_homotopy *s, int c, int g, double *P)
{
    const pp_group *group = &s->ssn->group[g];
    piece at = s->piece[c * s->ssn->groups + g];
    double n[2] = {1.0, 0.0}, e[2] = {0.0, 0.0}, mu = group->mu[c];
    int f = group->first, d = s->ssn->dim;
    if (at.place == INSIDE) {
        for (int k = f; k < f + group->size; k++) {
            P[k * (d + 1)] = 1.0;
        }
        return;
    }
    if (group->size == 1) {
        P[f] = at.side == 0 ? mu : -mu;
        return;
    }
    if (at.place == EDGE) {
        edge_of(&s->polygon[c], at.side, n, e);
    } else {
        memcpy(n, s->polygon[c].d[at.side], sizeof n);
    }
    // at a vertex e is zero, and y_t does not matter
    double length = norm2_squared(e);
    for (int k = 0; k < 2; k++) {
        P[f + k] = mu * n[k];
        for (int l = 0; l < 2; l++) {
            P[f + k + (f + l) * d] = length > 0.0 ? e[k] * e[l] / length : 0.0;
        }
    }
}

// P and F = x - Q(y). Within a piece Q is linear and homogeneous: Q(y) = P y.
static void project_pieces(pp_ssn_homotopy *s)
{
    int d = s->ssn->dim;
    memset(s->P, 0, (size_t)(s->ssn->n * d) * sizeof *s->P);
    for (int c = 0; c < s->ssn->nc; c++) {
        double *P = s->P + (size_t)c * (size_t)(d * d);
        const double *y = s->y + c * d;
        if (s->closed[c]) {
            P[0] = 1.0;
            for (int g = 0; g < s->ssn->groups; g++) {
                differentiate_group(s, c, g, P);
            }
        }
        // Q(y) = P y
        for (int k = 0; k < d; k++) {
            double sum = 0.0;
            for (int l = 0; l < d; l++) {
                sum += P[k + l * d] * y[l];
            }
            s->F[c * d + k] = s->x[c * d + k] - sum;
        }
    }
}

// ── The path ─────────────────────────────────────────────────────────────────────────────────────

// One array for all numbers. False: no memory.
static bool allocate_homotopy(pp_ssn_homotopy *s, pp_arena *arena)
{
    const pp_ssn *ssn = s->ssn;
    size_t n = (size_t)ssn->n, blocks = n * (size_t)ssn->dim, nc = (size_t)ssn->nc;
    double **vectors[] = {&s->x, &s->centre, &s->u, &s->F, &s->dx, &s->Wdx, &s->y, &s->dy};
    double *reals = PP_ZEROS(arena, double, 8 * n + 3 * blocks);
    if (!reals) {
        return false;
    }
    for (size_t k = 0; k < 8; k++) {
        *vectors[k] = reals + k * n;
    }
    s->P = reals + 8 * n;
    s->A = s->P + blocks;
    s->B = s->A + blocks;
    s->closed = PP_ARRAY(arena, bool, nc);
    s->piece = PP_ARRAY(arena, piece, nc * (size_t)ssn->groups);
    s->polygon = PP_ZEROS(arena, homotopy_polygon, nc);
    return s->closed && s->piece && s->polygon;
}

// The vertices of all polygons; neighbours in the list with as many vertices share them. In the
// plane there are intervals only.
static bool list_vertices(pp_ssn_homotopy *s, pp_arena *arena)
{
    const int *nd = s->ssn->fcp->nd;
    if (!nd) {
        return true;
    }
    for (int c = 0; c < s->ssn->nc; c++) {
        homotopy_polygon *p = &s->polygon[c];
        p->nd = nd[c];
        p->d = c > 0 && nd[c - 1] == nd[c] ? s->polygon[c - 1].d : NULL;
        if (p->d) {
            continue;
        }
        p->d = (double(*)[2])PP_ARRAY(arena, double, 2 * (size_t)nd[c]);
        if (!p->d) {
            return false;
        }
        for (int j = 0; j < nd[c]; j++) {
            // the first vertex is on the axis t
            double angle = 6.283185307179586477 * j / nd[c];
            p->d[j][0] = pp_cos(angle);
            p->d[j][1] = pp_sin(angle);
        }
    }
    return true;
}

perp_status pp_ssn_homotopy_create(const pp_ssn *ssn, pp_ssn_linear *linear, pp_arena *arena,
                                   pp_ssn_homotopy **out)
{
    pp_ssn_homotopy *s = PP_ZEROS(arena, pp_ssn_homotopy, 1);
    *out = s;
    if (!s) {
        return PERP_ERR_MEMORY;
    }
    s->ssn = ssn;
    s->linear = linear;
    return allocate_homotopy(s, arena) && list_vertices(s, arena) ? PERP_OK : PERP_ERR_MEMORY;
}

// y = x - rho (W x + q + alpha (x - centre))
static void update_y(pp_ssn_homotopy *s)
{
    pp_ssn_mul(s->ssn, s->x, s->u);
    for (int i = 0; i < s->ssn->n; i++) {
        double u = s->u[i] + s->ssn->q[i] + s->alpha * (s->x[i] - s->centre[i]);
        s->y[i] = s->x[i] - s->rho * u;
    }
}

void pp_ssn_homotopy_begin(pp_ssn_homotopy *s, double alpha, const double *r)
{
    int d = s->ssn->dim;
    size_t bytes = (size_t)s->ssn->n * sizeof *r;
    s->alpha = alpha;
    s->rho = 1.0 / (1.0 + alpha);
    memcpy(s->x, r, bytes);
    memcpy(s->centre, r, bytes);
    update_y(s);
    for (int c = 0; c < s->ssn->nc; c++) {
        // the pieces at x_0: lambda = 1 there
        s->closed[c] = s->y[c * d] > 0.0;
        for (int g = 0; g < s->ssn->groups; g++) {
            s->piece[c * s->ssn->groups + g] = find_piece(s, c, g);
        }
    }
}

// dx = -J \ F in the current piece, lambda falling, and dy.
static perp_status path_direction(pp_ssn_homotopy *s)
{
    int n = s->ssn->n;
    project_pieces(s);
    pp_ssn_newton_blocks(s->ssn, s->rho, s->alpha, s->P, s->A, s->B);
    perp_status status = pp_ssn_linear_factor(s->linear, s->A, s->B);
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < n; i++) {
        s->dx[i] = -s->F[i];
    }
    status = pp_ssn_linear_solve(s->linear, s->dx, s->Wdx);
    for (int i = 0; i < n; i++) {
        s->dy[i] = s->dx[i] - s->rho * (s->Wdx[i] + s->alpha * s->dx[i]);
    }
    return status;
}

// Replaces `first` by a crossing that comes earlier; of crossings at the same t, by the one whose
// function falls fastest. A function that is negative by rounding crosses at t = 0.
static void take_earlier_crossing(crossing *first, affine v, crossing here)
{
    if (!(v.rate < 0.0)) {
        return;
    }
    here.t = fmax(v.at / -v.rate, 0.0);
    here.rate = -v.rate;
    if (here.t < first->t || (here.t == first->t && here.rate > first->rate)) {
        *first = here;
    }
}

// The first boundary along dx. t = most and contact = -1 where there is none before.
static crossing first_crossing(const pp_ssn_homotopy *s, double most)
{
    crossing first = {.contact = -1, .t = most};
    int d = s->ssn->dim, groups = s->ssn->groups;
    for (int c = 0; c < s->ssn->nc; c++) {
        // y_n > 0 where closed, < 0 where open
        double sign = s->closed[c] ? 1.0 : -1.0;
        affine normal = {sign * s->y[c * d], sign * s->dy[c * d]};
        take_earlier_crossing(&first, normal,
                              (crossing){.contact = c, .group = -1, .closes = !s->closed[c]});
        if (!s->closed[c]) {
            continue;
        }
        for (int g = 0; g < groups; g++) {
            wall w;
            for (int k = 0; wall_of(s, c, g, s->piece[c * groups + g], k, &w); k++) {
                take_earlier_crossing(&first, wall_value(s, c, g, &w),
                                      (crossing){.contact = c, .group = g, .next = w.next});
            }
        }
    }
    return first;
}

// Changes the mode of the contact: its group, or where it closes the pieces of all groups anew.
static void cross_boundary(pp_ssn_homotopy *s, const crossing *at)
{
    int c = at->contact, groups = s->ssn->groups;
    if (at->group >= 0) {
        s->piece[c * groups + at->group] = at->next;
        return;
    }
    s->closed[c] = at->closes;
    s->y[c * s->ssn->dim] = 0.0;  // exactly on the boundary, which rounding has missed
    if (at->closes) {
        for (int g = 0; g < groups; g++) {
            s->piece[c * groups + g] = find_piece(s, c, g);
        }
    }
}

// The rate in the new piece of the function that vanishes at the crossing, positive away from the
// last piece. Negative: with lambda falling the path would go back, so that lambda has to grow.
static double rate_into_piece(const pp_ssn_homotopy *s, const crossing *at, piece last)
{
    int c = at->contact;
    if (at->group < 0) {
        return at->closes ? s->dy[c * s->ssn->dim] : -s->dy[c * s->ssn->dim];
    }
    wall w;
    for (int k = 0; wall_of(s, c, at->group, at->next, k, &w); k++) {
        if (w.next.place == last.place && (last.place == INSIDE || w.next.side == last.side)) {
            return wall_value(s, c, at->group, &w).rate;
        }
    }
    return 0.0;
}

perp_status pp_ssn_homotopy_run(pp_ssn_homotopy *s, int most, int *steps, double *r)
{
    crossing last = {.contact = -1};
    piece before = {INSIDE, 0};
    for (int k = 0; k < most; k++) {
        (*steps)++;
        perp_status status = path_direction(s);
        if (status < 0) {
            return status;
        }
        bool back = last.contact >= 0 && rate_into_piece(s, &last, before) < 0.0;
        if (back) {  // the determinants differ in sign: lambda grows in this piece
            for (int i = 0; i < s->ssn->n; i++) {
                s->dx[i] = -s->dx[i];
                s->dy[i] = -s->dy[i];
            }
        }
        // the full step dx, t = 1, is lambda = 0; backwards there is no such end
        crossing next = first_crossing(s, back ? PP_INF : 1.0);
        if (!(next.t < PP_INF)) {
            return PERP_ERR_RAY;
        }
        pp_axpy(s->ssn->n, next.t, s->dx, s->x);
        update_y(s);
        if (next.contact < 0) {  // a solution: Q(y) is exactly on the bounds of its modes
            project_pieces(s);
            for (int i = 0; i < s->ssn->n; i++) {
                r[i] = s->x[i] - s->F[i];
            }
            return PERP_OK;
        }
        before = next.group >= 0 ? s->piece[next.contact * s->ssn->groups + next.group]
                                 : (piece){INSIDE, 0};
        cross_boundary(s, &next);
        last = next;
    }
    return PERP_ERR_LIMIT;
}
