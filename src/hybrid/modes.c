// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Which modes: a mixed complementarity problem with polygons in place of friction discs (exact in the
// plane) gives them, Newton's method turns the directions of sliding to the exact disc, and the
// residual of the exact laws judges.                                              theory (H7), (H8)
#include "hybrid/law.h"

#include <math.h>
#include <string.h>

enum { FACETS = 8, TURNS = 30, SWITCHES = 40 };

static const double EXACT = 1e-13;        // residual of rounding
static const double GOOD = 1e-9;          // residual of an answer that is taken
static const double INDEPENDENT = 1e-10;  // of its scale that a row must keep

typedef struct variable {
    pp_row_direction acts, zero;
    double lower, upper;
    int contact;  // friction and sigma: law that it belongs to; else -1
    bool sigma;
    int normal;  // normal force: law of the contact; else -1
} variable;

typedef struct mode_problem {
    int n;
    variable *v;
    double *M, *b, *lower, *upper, *z;
    double *known;  // rows: forces that are not asked for
} mode_problem;

// ── Independent equations ────────────────────────────────────────────────────────────────────────

// Cholesky's method with the largest remaining diagonal first, on the rows of equations: true for rows that
// are not combinations of those before.
perp_status pp_law_independent(const pp_laws *laws, bool *keep, pp_arena *arena)
{
    int n = 0;
    size_t rows = (size_t)laws->rows;
    int *row = PP_ARRAY(arena, int, rows);
    for (int i = 0; row && i < laws->count; i++) {
        for (int k = 0; laws->law[i].kind == PP_LAW_EQUAL && k < laws->law[i].size; k++) {
            row[n++] = laws->law[i].at + k;
        }
    }
    double *L = PP_ARRAY(arena, double, (size_t)n *(size_t)n + (size_t)n), *rest = L + n * n;
    if (!row || !L) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < n; i++) {
        rest[i] = laws->A[(size_t)row[i] * (rows + 1)];
    }
    for (int k = 0; k < n; k++) {
        int best = -1;
        double most = INDEPENDENT;
        for (int i = 0; i < n; i++) {
            double s = pp_law_scale(laws, row[i]), part = keep[row[i]] ? 0.0 : s * s * rest[i];
            if (part > most) {
                most = part;
                best = i;
            }
        }
        if (best < 0) {
            break;
        }
        keep[row[best]] = true;
        double pivot = sqrt(rest[best]);
        for (int i = 0; i < n; i++) {
            double sum = laws->A[row[i] + row[best] * laws->rows];
            for (int j = 0; j < k; j++) {
                sum -= L[i + j * n] * L[best + j * n];
            }
            L[i + k * n] = sum / pivot;
        }
        for (int i = 0; i < n; i++) {
            rest[i] -= L[i + k * n] * L[i + k * n];
        }
    }
    return PERP_OK;
}

// ── The problem ──────────────────────────────────────────────────────────────────────────────────

static void facet(const pp_law *law, int j, double d[2])
{
    bool line = pp_law_tangents(law) == 1;
    double angle = line ? 3.14159265358979323846 * j : 6.28318530717958647693 * j / FACETS;
    d[0] = cos(angle);
    d[1] = line ? 0.0 : sin(angle);
}

// Friction of law i in the directions of a polygon, and the speed it acts against.
static void pose_friction(const pp_laws *laws, int i, mode_problem *p)
{
    const pp_law *law = &laws->law[i];
    for (int j = 0; j < (pp_law_tangents(law) == 1 ? 2 : FACETS); j++) {
        double d[2];
        facet(law, j, d);
        pp_row_direction c = pp_row_direction_tangent(law, d);
        p->v[p->n++] =
            (variable){.acts = c, .zero = c, .upper = PP_INF, .contact = i, .normal = -1};
    }
    p->v[p->n++] = (variable){.upper = PP_INF, .contact = i, .sigma = true, .normal = -1};
}

static void pose_contact(const pp_laws *laws, int i, mode_problem *p)
{
    const pp_law *law = &laws->law[i];
    bool sliding = law->kind == PP_LAW_SLIDING;
    p->v[p->n++] = (variable){.acts = pp_row_direction_normal(laws, i, false),
                              .zero = pp_row_direction_row(law->at),
                              .upper = PP_INF,
                              .contact = -1,
                              .normal = i};
    if (!sliding && law->size > 1) {
        pose_friction(laws, i, p);
    }
}

static void pose_variables(const pp_laws *laws, const bool *keep, mode_problem *p)
{
    for (int i = 0; i < laws->count; i++) {
        const pp_law *law = &laws->law[i];
        if (law->size > 0 && (law->kind == PP_LAW_CONTACT || law->kind == PP_LAW_SLIDING)) {
            pose_contact(laws, i, p);
            continue;
        }
        if (pp_law_is_turning(law)) {
            if (law->kind == PP_LAW_TURN && law->size > 0) {
                pose_friction(laws, i, p);
            }
            continue;
        }
        for (int k = 0; k < law->size && law->kind != PP_LAW_RUBBING; k++) {
            if (law->kind == PP_LAW_EQUAL && !keep[law->at + k]) {
                continue;
            }
            double bound = law->kind == PP_LAW_BOX ? law->bound : PP_INF;
            pp_row_direction c = pp_row_direction_row(law->at + k);
            p->v[p->n++] = (variable){c, c, -bound, bound, -1, false, -1};
        }
    }
}

// sigma is the speed of sliding in the rows of its contact's friction, and mu r_n - sum beta its own row.
static double friction_entry(const pp_laws *laws, const variable *f, const variable *c)
{
    if (f->sigma) {
        bool own = c->contact == f->contact && !c->sigma;
        const pp_law *law = &laws->law[f->contact];
        bool normal = c->normal == (pp_law_is_turning(law) ? law->on : f->contact);
        return own ? -1.0 : normal ? laws->law[f->contact].mu : 0.0;
    }
    return f->contact == c->contact ? 1.0 : 0.0;
}

static perp_status pose_modes(const pp_laws *laws, mode_problem *p, pp_arena *arena)
{
    size_t most = (size_t)laws->rows + (size_t)laws->count * (FACETS + 2);
    bool *keep = PP_ZEROS(arena, bool, laws->rows);
    double *u = PP_ARRAY(arena, double, laws->rows);
    *p = (mode_problem){.v = PP_ZEROS(arena, variable, most),
                        .known = PP_ZEROS(arena, double, laws->rows)};
    if (!keep || !p->v || !p->known || !u) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = pp_law_independent(laws, keep, arena);
    if (status < 0) {
        return status;
    }
    pose_variables(laws, keep, p);
    size_t n = (size_t)p->n;
    p->M = PP_ARRAY(arena, double, n *n);
    p->b = PP_ARRAY(arena, double, 4 * n);
    if (!p->M || !p->b) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < laws->count; i++) {
        const pp_law *law = &laws->law[i];
        if (law->kind == PP_LAW_RUBBING && law->size > 0) {
            p->known[law->at] = -law->bound * law->d[0];
        }
    }
    pp_law_rates(laws, p->known, u);
    p->lower = p->b + n;
    p->upper = p->lower + n;
    p->z = p->upper + n;
    for (size_t j = 0; j < n; j++) {
        const variable *c = &p->v[j];
        const pp_law *law = c->sigma ? &laws->law[c->contact] : NULL;
        const pp_law *on = law && pp_law_is_turning(law) ? &laws->law[law->on] : law;
        p->b[j] = law ? law->mu * on->extra : pp_row_direction_value(&c->zero, u);
        p->lower[j] = c->lower;
        p->upper[j] = c->upper;
        p->z[j] = 0.0;
        for (size_t i = 0; i < n; i++) {
            const variable *f = &p->v[i];
            p->M[i + j * n] = f->sigma || c->sigma
                                  ? friction_entry(laws, f, c)
                                  : pp_row_direction_coupling(laws, &f->zero, &c->acts);
        }
    }
    return PERP_OK;
}

static perp_status solve_posed(mode_problem *p, const perp_env *env)
{
    perp_mcp mcp = {.n = p->n,
                    .A = perp_matrix_dense(p->n, p->n, p->M),
                    .b = p->b,
                    .lower = p->lower,
                    .upper = p->upper};
    perp_comp_options options = perp_comp_options_default();
    options.tolerance = 1e-12;
    options.loose = 1e-8;
    options.comparable = true;  // accelerations at one instant
    perp_status status = perp_mcp_solve("lemke", &mcp, &options, env, p->z, NULL);
    if (status < 0 && status != PERP_ERR_MEMORY) {
        status = perp_mcp_solve(NULL, &mcp, &options, env, p->z, NULL);
    }
    return status;
}

static void forces_of(const pp_laws *laws, const mode_problem *p, double *r)
{
    memcpy(r, p->known, (size_t)laws->rows * sizeof *r);
    for (int j = 0; j < p->n; j++) {
        for (int k = 0; k < p->v[j].acts.count; k++) {
            r[p->v[j].acts.row[k]] += p->z[j] * p->v[j].acts.s[k];
        }
    }
}

// ── Modes ────────────────────────────────────────────────────────────────────────────────────────

static void contact_mode(const double *r, const double *u, double tol_u, double tol_r, pp_law *law)
{
    double slip = 0.0;
    for (int k = 1; k < law->size; k++) {
        slip = hypot(slip, u[k]);
    }
    bool loaded = r[0] > tol_r, sliding = law->kind == PP_LAW_SLIDING;
    bool begins = !sliding && law->size > 1 && slip > tol_u;
    if (!loaded && (u[0] > tol_u || begins)) {
        law->mode = PP_OFF;
        return;
    }
    law->mode = sliding || begins ? PP_SLIDES : PP_HELD;
    for (int k = 1; begins && k < law->size; k++) {
        law->d[k - 1] = u[k] / slip;
    }
}

// Torsional and rolling friction; the mode of its contact is known.
static void turn_mode(const pp_laws *laws, const double *u, double tol_u, pp_law *law)
{
    double slip = law->size == 2 ? hypot(u[0], u[1]) : fabs(u[0]);
    bool begins = law->kind == PP_LAW_TURN && slip > tol_u;
    law->mode = law->kind == PP_LAW_TURNING || begins ? PP_SLIDES : PP_HELD;
    law->mode = laws->law[law->on].mode == PP_OFF ? PP_OFF : law->mode;
    for (int k = 0; begins && k < law->size; k++) {
        law->d[k] = u[k] / slip;
    }
}

static void modes_of(pp_laws *laws, const double *r, const double *u)
{
    double size_u, size_r;
    pp_law_sizes(laws, r, &size_u, &size_r);
    double tol_u = laws->tolerance * size_u, tol_r = laws->tolerance * size_r;
    for (int i = 0; i < laws->count; i++) {
        pp_law *law = &laws->law[i];
        if (law->kind == PP_LAW_EQUAL || law->size == 0) {
            law->mode = PP_HELD;
        } else if (law->kind == PP_LAW_RUBBING) {
            law->mode = PP_SLIDES;
        } else if (law->kind == PP_LAW_BOX) {
            law->mode = fabs(u[law->at]) > tol_u ? PP_SLIDES : PP_HELD;
            law->d[0] = u[law->at] > 0.0 ? 1.0 : -1.0;
        } else if (pp_law_is_turning(law)) {
            turn_mode(laws, u + law->at, tol_u, law);
        } else {
            contact_mode(r + law->at, u + law->at, tol_u, tol_r, law);
        }
    }
}

// ── Exact directions ─────────────────────────────────────────────────────────────────────────────

static int sliding_in_space(const pp_laws *laws, int *which)
{
    int n = 0;
    for (int i = 0; i < laws->count; i++) {
        const pp_law *law = &laws->law[i];
        bool open = law->kind == PP_LAW_CONTACT || law->kind == PP_LAW_TURN;
        if (open && law->mode == PP_SLIDES && pp_law_tangents(law) == 2) {
            which[n++] = i;
        }
    }
    return n;
}

// How far each direction is from that of the sliding it leads to [rad].
static perp_status misfit(const pp_laws *laws, const int *which, int n, double *r, double *u,
                          double *off, pp_arena *arena)
{
    pp_law_info info;
    perp_status status = pp_law_forces(laws, r, &info, arena);
    if (status < 0) {
        return status;
    }
    pp_law_rates(laws, r, u);
    for (int k = 0; k < n; k++) {
        const pp_law *law = &laws->law[which[k]];
        const double *s = u + pp_law_tangent(law), *d = law->d;
        off[k] = atan2(d[0] * s[1] - d[1] * s[0], d[0] * s[0] + d[1] * s[1]);
    }
    return PERP_OK;
}

static void turn_direction(pp_law *law, double angle)
{
    double c = cos(angle), s = sin(angle), x = law->d[0], y = law->d[1];
    law->d[0] = c * x - s * y;
    law->d[1] = s * x + c * y;
}

// Newton's method on the angles, derivatives by differences.
static perp_status turn_exactly(pp_laws *laws, double *r, double *u, pp_arena *arena)
{
    int *which = PP_ARRAY(arena, int, laws->count);
    int n = which ? sliding_in_space(laws, which) : 0;
    double *off = PP_ARRAY(arena, double, 3 * (size_t)n), *next = off + n, *step = next + n;
    double *D = PP_ARRAY(arena, double, (size_t)n *(size_t)n);
    if (!which || !off || !D) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = misfit(laws, which, n, r, u, off, arena);
    for (int round = 0; round < TURNS && status >= 0 && pp_norm_inf(n, off) > 1e-14; round++) {
        const double small = 1e-6;
        for (int j = 0; j < n && status >= 0; j++) {
            turn_direction(&laws->law[which[j]], small);
            status = misfit(laws, which, n, r, u, next, arena);
            turn_direction(&laws->law[which[j]], -small);
            for (int i = 0; i < n; i++) {
                D[i + j * n] = (next[i] - off[i]) / small;
            }
        }
        for (int i = 0; i < n; i++) {
            next[i] = -off[i];
        }
        if (status < 0 || pp_least_solve(n, D, next, step, NULL, 1e-12, arena) < 0) {
            return status < 0 ? status : PERP_ERR_MEMORY;
        }
        for (int i = 0; i < n; i++) {
            turn_direction(&laws->law[which[i]], pp_clamp(step[i], -0.5, 0.5));
        }
        status = misfit(laws, which, n, r, u, off, arena);
    }
    return status;
}

// How badly the mode of torsional or rolling friction fits, and the one that may fit better.
static double switch_turn(const pp_laws *laws, const double *r, const double *u, double size_u,
                          double size_r, pp_law *to)
{
    const double *f = r + to->at, *s = u + to->at;
    const pp_law *on = &laws->law[to->on];
    double push = to->size == 2 ? hypot(f[0], f[1]) : fabs(f[0]);
    if (on->mode == PP_OFF || to->mode == PP_OFF) {
        bool wakes = on->mode != PP_OFF;
        to->mode = wakes ? PP_HELD : PP_OFF;
        return wakes ? 1.0 : 0.0;
    }
    if (to->mode == PP_HELD) {
        to->mode = PP_SLIDES;
        for (int k = 0; k < to->size; k++) {
            to->d[k] = push > 0.0 ? -f[k] / push : 0.0;
        }
        return (push - to->mu * fmax(0.0, r[on->at])) / size_r;
    }
    double along = to->d[0] * s[0] + (to->size == 2 ? to->d[1] * s[1] : 0.0);
    to->mode = PP_HELD;
    return -along / size_u;
}

// One mode that does not fit what it leads to is changed: the worst one. False: all fit.
static bool switch_worst(pp_laws *laws, const double *r, const double *u)
{
    double size_u, size_r, worst = laws->tolerance;
    pp_law_sizes(laws, r, &size_u, &size_r);
    pp_law next = {0};
    int which = -1;
    for (int i = 0; i < laws->count; i++) {
        const pp_law *law = &laws->law[i];
        pp_law to = *law;
        const double *f = r + law->at, *s = u + law->at;
        if (law->kind == PP_LAW_TURN && law->size > 0) {
            double turned = switch_turn(laws, r, u, size_u, size_r, &to);
            if (turned > worst) {
                worst = turned;
                which = i;
                next = to;
            }
            continue;
        }
        if (law->size == 0 || (law->kind != PP_LAW_CONTACT && law->kind != PP_LAW_SLIDING)) {
            continue;
        }
        double off = 0.0, push = law->size == 3   ? hypot(f[1], f[2])
                                 : law->size == 2 ? fabs(f[1])
                                                  : 0.0;
        if (law->mode == PP_OFF) {
            off = -s[0] / size_u;
            to.mode = law->kind == PP_LAW_SLIDING ? PP_SLIDES : PP_HELD;
        } else if (f[0] < -laws->tolerance * size_r) {
            off = -f[0] / size_r;
            to.mode = PP_OFF;
        } else if (law->kind == PP_LAW_CONTACT && law->mode == PP_HELD) {
            off = (push - law->mu * f[0]) / size_r;
            to.mode = PP_SLIDES;
            for (int k = 1; k < law->size; k++) {
                to.d[k - 1] = push > 0.0 ? -f[k] / push : 0.0;
            }
        } else if (law->kind == PP_LAW_CONTACT) {
            double along = law->d[0] * s[1] + (law->size == 3 ? law->d[1] * s[2] : 0.0);
            off = -along / size_u;
            to.mode = PP_HELD;
        }
        if (off > worst) {
            worst = off;
            which = i;
            next = to;
        }
    }
    if (which >= 0) {
        laws->law[which] = next;
    }
    return which >= 0;
}

// ── Painleve ─────────────────────────────────────────────────────────────────────────────────────

// Whether a push at a sliding contact would drive it into the surface, equations held.
static perp_status find_wedge(const pp_laws *laws, pp_law_info *info, pp_arena *arena)
{
    size_t rows = (size_t)laws->rows;
    pp_law *only = PP_ARRAY(arena, pp_law, laws->count);
    double *b = PP_ARRAY(arena, double, 2 * rows), *r = b + rows;
    if (!only || !b) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < laws->count && !info->wedged; i++) {
        const pp_law *law = &laws->law[i];
        if (law->kind != PP_LAW_SLIDING || law->size == 0) {
            continue;
        }
        pp_laws with = *laws;
        pp_row_direction push = pp_row_direction_normal(laws, i, false);
        pp_law_info ignored;
        memcpy(only, laws->law, (size_t)laws->count * sizeof *only);
        for (int k = 0; k < laws->count; k++) {
            only[k].mode = only[k].kind == PP_LAW_EQUAL ? PP_HELD : PP_OFF;
        }
        for (int k = 0; k < laws->rows; k++) {
            pp_row_direction row = pp_row_direction_row(k);
            b[k] = pp_row_direction_coupling(laws, &row, &push);
        }
        with.law = only;
        with.b = b;
        perp_status status = pp_law_linear(&with, r, &ignored, arena);
        if (status < 0) {
            return status;
        }
        double left = b[law->at] + pp_dot(laws->rows, laws->A + (size_t)law->at * rows, r);
        if (left <= 1e-9 * laws->A[(size_t)law->at * (rows + 1)]) {
            info->wedged = true;
            info->wedge = i;
        }
    }
    return PERP_OK;
}

// Of several answers the one in which the wedged contact carries nothing, where there is such a one.
static perp_status let_go(pp_laws *laws, double *r, pp_law_info *info, pp_arena *arena)
{
    size_t rows = (size_t)laws->rows;
    double *other = PP_ARRAY(arena, double, rows);
    pp_law *law = &laws->law[info->wedge], was = *law;
    pp_law_info linear;
    if (!other) {
        return PERP_ERR_MEMORY;
    }
    law->mode = PP_OFF;
    perp_status status = pp_law_linear(laws, other, &linear, arena);
    double residual = status < 0 ? PP_INF : pp_law_residual(laws, other, arena);
    if (residual <= GOOD) {
        info->many = info->many || fabs(r[law->at]) > 0.0;
        info->residual = residual;
        memcpy(r, other, rows * sizeof *r);
    } else {
        *law = was;
    }
    return status == PERP_ERR_MEMORY ? status : PERP_OK;
}

// ── Both together ────────────────────────────────────────────────────────────────────────────────

// The linear forces of these modes where they obey the laws; else those of the problem where they do,
// since friction and loads that are not determined may need another share than the least.
static perp_status choose_forces(pp_laws *laws, double *r, double *own, pp_law_info *info,
                                 pp_arena *arena)
{
    size_t rows = (size_t)laws->rows;
    double *u = PP_ARRAY(arena, double, 2 * rows), *best = u + rows;
    if (!u) {
        return PERP_ERR_MEMORY;
    }
    pp_law_rates(laws, own, u);
    modes_of(laws, own, u);
    info->residual = pp_law_residual(laws, own, arena);
    memcpy(r, own, rows * sizeof *r);
    for (int k = 0; k < SWITCHES; k++) {
        perp_status status = turn_exactly(laws, best, u, arena);
        if (status == PERP_ERR_MEMORY) {
            return status;
        }
        double residual = status < 0 ? PP_INF : pp_law_residual(laws, best, arena);
        if (residual <= fmax(EXACT, info->residual)) {
            info->residual = residual;
            memcpy(r, best, rows * sizeof *r);
        }
        if (status < 0 || residual <= GOOD || info->residual <= GOOD ||
            !switch_worst(laws, best, u)) {
            break;
        }
    }
    if (info->residual > GOOD) {
        return info->residual <= 1e-6 ? PERP_INEXACT : PERP_ERR_LIMIT;
    }
    pp_law_rates(laws, r, u);
    modes_of(laws, r, u);
    return PERP_OK;
}

// Polygons in place of discs: exact in the plane, a start in space.
static perp_status solve_polygons(pp_laws *laws, double *r, pp_law_info *info, const perp_env *env,
                                  pp_arena *arena)
{
    mode_problem p;
    double *own = PP_ARRAY(arena, double, laws->rows);
    perp_status status = own ? pose_modes(laws, &p, arena) : PERP_ERR_MEMORY;
    status = status < 0 ? status : solve_posed(&p, env);
    if (status >= 0) {
        forces_of(laws, &p, own);
        status = choose_forces(laws, r, own, info, arena);
    }
    return status;
}

static perp_status solve_cones(pp_laws *laws, double *r, pp_law_info *info, const perp_env *env,
                               pp_arena *arena)
{
    double *own = PP_ARRAY(arena, double, laws->rows);
    perp_status status = own ? pp_law_cone(laws, own, env, arena) : PERP_ERR_MEMORY;
    bool usable = status >= 0 || status == PERP_ERR_LIMIT;
    return usable ? choose_forces(laws, r, own, info, arena) : status;
}

perp_status pp_law_solve(pp_laws *laws, double *r, pp_law_info *info, const perp_env *env,
                         pp_arena *arena)
{
    pp_mark mark = pp_arena_mark(arena);
    *info = (pp_law_info){.wedge = -1};
    perp_status status = find_wedge(laws, info, arena);
    bool cones = pp_law_cone_possible(laws);
    if (status >= 0 && cones) {
        status = solve_cones(laws, r, info, env, arena);
    }
    if ((status >= 0 && !cones) || (cones && status != PERP_OK && status != PERP_ERR_MEMORY)) {
        status = solve_polygons(laws, r, info, env, arena);
    }
    if (status >= 0 && info->wedged) {
        status = let_go(laws, r, info, arena);
    }
    pp_arena_release(arena, mark);
    // A polygon without an answer proves nothing of the disc, nor of bodies that may jump.
    return status == PERP_ERR_INFEASIBLE ? PERP_ERR_LIMIT : status;
}
