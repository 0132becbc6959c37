// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Polygonal friction, from afar: the map F of theory (C21) is piecewise linear then, and its pieces are the
// modes of the contacts, theory (C38). Followed is the path of points x with
//
//   F(x) = lambda F(x_0),     lambda from 1 to 0                                        theory (C39)
//
// Within a piece it is a straight line, dx = -J^-1 F; where it meets the boundary of the piece one group of
// one contact changes its mode, and the path goes on in the next piece, the way that leads away from that
// boundary: where the determinants of the two pieces differ in sign lambda grows again. So it is Lemke's
// method, with any start and as many unknowns as velocities; each piece costs a factorisation. A proximal
// term about x_0 keeps redundant contacts apart.
#include "comp/newton/ssn.h"

#include <math.h>
#include <string.h>

// Of a group: inside its homotopy_polygon (or interval); on edge `side`, from vertex `side` to the next; on a vertex.
typedef enum polygon_face { INSIDE, EDGE, VERTEX } polygon_face;

typedef struct piece {
    polygon_face place;
    int side;
} piece;

// Where the path leaves a piece: the contact, and what its group (or, -1, its normal) becomes.
typedef struct crossing {
    int contact, group;
    piece next;
    bool closes;
    double t;     // of the step
    double rate;  // of the function that vanishes there
} crossing;

typedef struct homotopy_polygon {
    int nd;
    double (*d)[2];  // nd: vertices
} homotopy_polygon;

struct pp_ssn_homotopy {
    const pp_ssn *ssn;
    pp_ssn_linear *linear;
    double alpha, rho;
    double *x, *centre, *u, *F, *dx, *Wdx;  // n
    double *y, *dy;                         // n: x - rho (u + alpha (x - centre)), and its rate
    double *P, *A, *B;
    bool *closed;               // nc
    piece *piece;               // nc groups
    homotopy_polygon *polygon;  // nc
};

// ── Pieces ───────────────────────────────────────────────────────────────────────────────────────

// A linear function of the path, at its point and its rate.
typedef struct affine {
    double at, rate;
} affine;

// The functions of a group, all >= 0 in its piece, are a R + b.y_g with R = mu y_n.
typedef struct wall {
    double a, b[2];
    piece next;
} wall;

// Edge j: its outward normal times its distance from 0 (for R = 1) and the vector along it.
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

// Wall k of a piece of an interval; false: there is none.
static bool interval_wall(piece at, int k, wall *w)
{
    if (at.place == INSIDE) {
        *w = (wall){1.0, {k == 0 ? -1.0 : 1.0, 0.0}, {VERTEX, k}};
        return k < 2;
    }
    *w = (wall){-1.0, {at.side == 0 ? 1.0 : -1.0, 0.0}, {INSIDE, 0}};
    return k == 0;
}

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
    edge_of(p, at.place == VERTEX && k == 1 ? before : at.side, n, e);
    if (at.place == VERTEX) {  // beyond both edges that meet there
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

static bool wall_of(const pp_ssn_homotopy *s, int c, int g, piece at, int k, wall *w)
{
    if (s->ssn->group[g].mu[c] == 0.0) {
        return false;
    }
    return s->ssn->group[g].size == 1 ? interval_wall(at, k, w)
                                      : polygon_wall(&s->polygon[c], at, k, w);
}

static affine value(const pp_ssn_homotopy *s, int c, int g, const wall *w)
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

// The piece of a group whose radius is 0 or R > 0: the one none of whose walls is in the way.
static piece find_piece(const pp_ssn_homotopy *s, int c, int g)
{
    const pp_group *group = &s->ssn->group[g];
    const double *y = s->y + c * s->ssn->dim + group->first;
    double R = fmax(group->mu[c] * s->y[c * s->ssn->dim], 0.0);
    if (group->size == 1) {
        return fabs(y[0]) <= R && R > 0.0 ? (piece){INSIDE, 0}
                                          : (piece){VERTEX, y[0] > 0.0 ? 0 : 1};
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
    return most <= norm2_squared(n) * R && R > 0.0 ? (piece){INSIDE, 0}
           : along >= half && along > 0.0          ? (piece){VERTEX, (best + 1) % p->nd}
           : along <= -half                        ? (piece){VERTEX, best}
                                                   : (piece){EDGE, best};
}

// The derivative of one group of a closed contact, in its piece, into the contact's block P.
static void differentiate(const pp_ssn_homotopy *s, int c, int g, double *P)
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
    double length = norm2_squared(e);
    for (int k = 0; k < 2; k++) {
        P[f + k] = mu * n[k];
        for (int l = 0; l < 2; l++) {
            P[f + k + (f + l) * d] = length > 0.0 ? e[k] * e[l] / length : 0.0;
        }
    }
}

// Q(y) of the pieces, and its derivative P.
static void project_pieces(pp_ssn_homotopy *s)
{
    int d = s->ssn->dim;
    memset(s->P, 0, (size_t)(s->ssn->n * d) * sizeof *s->P);
    for (int c = 0; c < s->ssn->nc; c++) {
        double *P = s->P + (size_t)c * (size_t)(d * d);
        const double *y = s->y + c * d;
        P[0] = s->closed[c] ? 1.0 : 0.0;
        for (int g = 0; s->closed[c] && g < s->ssn->groups; g++) {
            differentiate(s, c, g, P);
        }
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

static bool allocate_homotopy(pp_ssn_homotopy *s, pp_arena *arena)
{
    const pp_ssn *ssn = s->ssn;
    size_t n = (size_t)ssn->n, blocks = n * (size_t)ssn->dim, nc = (size_t)ssn->nc;
    double **vectors[] = {&s->x, &s->centre, &s->u, &s->F, &s->dx, &s->Wdx, &s->y, &s->dy};
    double *reals = PP_ZEROS(arena, double, 8 * n + 3 * blocks);
    for (size_t k = 0; reals && k < 8; k++) {
        *vectors[k] = reals + k * n;
    }
    s->P = reals ? reals + 8 * n : NULL;
    s->A = reals ? s->P + blocks : NULL;
    s->B = reals ? s->A + blocks : NULL;
    s->closed = PP_ARRAY(arena, bool, nc);
    s->piece = PP_ARRAY(arena, piece, nc * (size_t)ssn->groups);
    s->polygon = PP_ZEROS(arena, homotopy_polygon, nc);
    return reals && s->closed && s->piece && s->polygon;
}

// Vertices, once for contacts with as many.
static bool list_vertices(pp_ssn_homotopy *s, pp_arena *arena)
{
    const int *nd = s->ssn->fcp->nd;
    for (int c = 0; nd && c < s->ssn->nc; c++) {
        homotopy_polygon *p = &s->polygon[c];
        p->nd = nd[c];
        p->d = c > 0 && nd[c - 1] == nd[c] ? s->polygon[c - 1].d : NULL;
        if (p->d) {
            continue;
        }
        p->d = (double(*)[2])PP_ARRAY(arena, double, 2 * (size_t)nd[c]);
        for (int j = 0; p->d && j < nd[c]; j++) {
            double angle = 6.283185307179586477 * j / nd[c];
            p->d[j][0] = cos(angle);
            p->d[j][1] = sin(angle);
        }
        if (!p->d) {
            return false;
        }
    }
    return true;
}

perp_status pp_ssn_homotopy_create(const pp_ssn *ssn, pp_ssn_linear *linear, pp_arena *arena,
                                   pp_ssn_homotopy **out)
{
    pp_ssn_homotopy *s = PP_ZEROS(arena, pp_ssn_homotopy, 1);
    *out = s;
    if (s) {
        s->ssn = ssn;
        s->linear = linear;
    }
    return s && allocate_homotopy(s, arena) && list_vertices(s, arena) ? PERP_OK : PERP_ERR_MEMORY;
}

// y of x.
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
        s->closed[c] = s->y[c * d] > 0.0;
        for (int g = 0; g < s->ssn->groups; g++) {
            s->piece[c * s->ssn->groups + g] = find_piece(s, c, g);
        }
    }
}

static perp_status path_direction(pp_ssn_homotopy *s)
{
    int n = s->ssn->n, d = s->ssn->dim;
    project_pieces(s);
    for (int k = 0; k < n * d; k++) {
        double identity = k % (d * d) % (d + 1) == 0 ? 1.0 : 0.0;
        s->A[k] = s->rho * s->P[k];
        s->B[k] = identity - (1.0 - s->rho * s->alpha) * s->P[k];
    }
    perp_status status = pp_ssn_linear_factor(s->linear, s->A, s->B);
    for (int i = 0; i < n; i++) {
        s->dx[i] = -s->F[i];
    }
    status = status < 0 ? status : pp_ssn_linear_solve(s->linear, s->dx, s->Wdx);
    for (int i = 0; i < n; i++) {
        s->dy[i] = s->dx[i] - s->rho * (s->Wdx[i] + s->alpha * s->dx[i]);
    }
    return status;
}

static void reverse(pp_ssn_homotopy *s)
{
    for (int i = 0; i < s->ssn->n; i++) {
        s->dx[i] = -s->dx[i];
        s->dy[i] = -s->dy[i];
    }
}

// A wall that is met before `first` takes its place; of those met at once, the one met fastest.
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

static crossing first_crossing(const pp_ssn_homotopy *s, double most)
{
    crossing first = {.contact = -1, .t = most};
    int d = s->ssn->dim, groups = s->ssn->groups;
    for (int c = 0; c < s->ssn->nc; c++) {
        double sign = s->closed[c] ? 1.0 : -1.0;
        affine normal = {sign * s->y[c * d], sign * s->dy[c * d]};
        take_earlier_crossing(&first, normal,
                              (crossing){.contact = c, .group = -1, .closes = !s->closed[c]});
        for (int g = 0; s->closed[c] && g < groups; g++) {
            wall w;
            for (int k = 0; wall_of(s, c, g, s->piece[c * groups + g], k, &w); k++) {
                take_earlier_crossing(&first, value(s, c, g, &w),
                                      (crossing){.contact = c, .group = g, .next = w.next});
            }
        }
    }
    return first;
}

// Into the next piece. Returns how fast its wall to the last piece is left; < 0: the path turns round.
static void cross_boundary(pp_ssn_homotopy *s, const crossing *at)
{
    int c = at->contact, groups = s->ssn->groups;
    if (at->group >= 0) {
        s->piece[c * groups + at->group] = at->next;
        return;
    }
    s->closed[c] = at->closes;
    s->y[c * s->ssn->dim] = 0.0;
    for (int g = 0; at->closes && g < groups; g++) {
        s->piece[c * groups + g] = find_piece(s, c, g);
    }
}

// The rate of the function that vanished at the crossing, in the new piece and positive inside it.
static double leaving(const pp_ssn_homotopy *s, const crossing *at, piece last)
{
    int c = at->contact;
    if (at->group < 0) {
        return at->closes ? s->dy[c * s->ssn->dim] : -s->dy[c * s->ssn->dim];
    }
    wall w;
    for (int k = 0; wall_of(s, c, at->group, at->next, k, &w); k++) {
        if (w.next.place == last.place && (last.place == INSIDE || w.next.side == last.side)) {
            return value(s, c, at->group, &w).rate;
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
        bool back = last.contact >= 0 && leaving(s, &last, before) < 0.0;
        if (back) {
            reverse(s);
        }
        crossing next = first_crossing(s, back ? PP_INF : 1.0);
        if (!(next.t < PP_INF)) {
            return PERP_ERR_RAY;
        }
        pp_axpy(s->ssn->n, next.t, s->dx, s->x);
        update_y(s);
        if (next.contact < 0) {
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
