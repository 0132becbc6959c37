// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Mode selection. A problem on the exact cones (cone.c), or a mixed complementarity problem with
// polygons in place of friction discs (exact in the plane), gives the modes. Newton's method moves
// the directions of sliding from the polygon to the disc, single modes are switched where they do
// not fit, and the residual of the exact laws decides whether the result is accepted.
//                                                                                 theory (H7), (H8)
#include "hybrid/law.h"

#include <math.h>
#include <string.h>

enum { FACETS = 8, TURNS = 30, SWITCHES = 40 };  // of a polygon; rounds of Newton; modes switched

static const double EXACT = 1e-13;                         // residual of rounding
static const double GOOD = 1e-9;                           // residual of an answer that is accepted
static const double QUICK_WORK = 25.0, MOST_WORK = 400.0;  // [factorisations] of problems on cones
static const double INDEPENDENT =
    1e-10;  // scaled pivot of an independent row          theory (J10)

// One variable of the mixed complementarity problem: lower <= z <= upper _|_ w.
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
    double *known;  // rows: forces that are given
} mode_problem;

// ── Independent equations ────────────────────────────────────────────────────────────────────────

// Cholesky's method with the largest remaining diagonal first, on the rows of equations. Rows that
// become pivots are independent of those before; the others are combinations of them.  theory (J10)
perp_status pp_law_independent(const pp_laws *laws, bool *keep, pp_arena *arena)
{
    int n = 0;
    size_t rows = (size_t)laws->rows;
    int *row = PP_ARRAY(arena, int, rows);
    if (!row) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < laws->count; i++) {
        if (laws->law[i].kind != PP_LAW_EQUAL) {
            continue;
        }
        for (int k = 0; k < laws->law[i].size; k++) {
            row[n++] = laws->law[i].at + k;
        }
    }
    double *L = PP_ARRAY(arena, double, (size_t)n *(size_t)n + (size_t)n), *rest = L + n * n;
    if (!L) {
        return PERP_ERR_MEMORY;
    }
    // rest: what is left of the diagonal, A_ii - |L_i|^2. Pivots are compared in
    // the scale of their rows.
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
        // Column k of L; the remaining diagonal falls by its squares.
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

// Direction j of the polygon of a law: both ways along a line, or FACETS directions in a plane.
static void facet(const pp_law *law, int j, double d[2])
{
    bool line = pp_law_tangents(law) == 1;
    double angle = line ? 3.14159265358979323846 * j : 6.28318530717958647693 * j / FACETS;
    d[0] = pp_cos(angle);
    d[1] = line ? 0.0 : pp_sin(angle);
}

// Friction of law i as Stewart and Trinkle pose it: amounts beta_j >= 0 in the directions d_j of a
// polygon, and sigma, the speed of slip, with 0 <= sigma _|_ mu r_n - sum beta >= 0 and 0 <= beta_j
// _|_ d_j . u + sigma >= 0.
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

// The normal force of a contact or limit. Where the direction of sliding is given it brings its
// friction; otherwise friction has variables of its own.
static void pose_contact(const pp_laws *laws, int i, mode_problem *p)
{
    const pp_law *law = &laws->law[i];
    p->v[p->n++] = (variable){.acts = pp_row_direction_normal(laws, i, false),
                              .zero = pp_row_direction_row(law->at),
                              .upper = PP_INF,
                              .contact = -1,
                              .normal = i};
    if (law->kind != PP_LAW_SLIDING && law->size > 1) {
        pose_friction(laws, i, p);
    }
}

// All variables: contacts, turning friction, independent equations (free) and boxed efforts. Forces
// of what rubs are known and are no variables.
static void pose_variables(const pp_laws *laws, const bool *keep, mode_problem *p)
{
    for (int i = 0; i < laws->count; i++) {
        const pp_law *law = &laws->law[i];
        if (law->size > 0 && (law->kind == PP_LAW_CONTACT || law->kind == PP_LAW_SLIDING)) {
            // Normals come before the turning friction that acts on them.
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
            // Equations are free variables: no bound, and their rates vanish.
            double bound = law->kind == PP_LAW_BOX ? law->bound : PP_INF;
            pp_row_direction c = pp_row_direction_row(law->at + k);
            p->v[p->n++] = (variable){c, c, -bound, bound, -1, false, -1};
        }
    }
}

// Entry of the matrix in the row of f and the column of c, one of which is a sigma: sigma adds the
// speed of slip to the rows of its own friction, and its row is mu r_n - sum beta.
static double friction_entry(const pp_laws *laws, const variable *f, const variable *c)
{
    if (!f->sigma) {
        return f->contact == c->contact ? 1.0 : 0.0;
    }
    const pp_law *law = &laws->law[f->contact];
    int normal = pp_law_is_turning(law) ? law->on : f->contact;
    if (c->contact == f->contact && !c->sigma) {
        return -1.0;
    }
    return c->normal == normal ? law->mu : 0.0;
}

// b of a sigma. Poisson's second phase: friction also acts on the returned impulse `extra`.
static double friction_known(const pp_laws *laws, const variable *c)
{
    const pp_law *law = &laws->law[c->contact];
    const pp_law *on = pp_law_is_turning(law) ? &laws->law[law->on] : law;
    return law->mu * on->extra;
}

// The mixed complementarity problem w = M z + b of the modes: w are rates along the variables'
// `zero` and the slack of friction in the rows of sigma.
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
    // Known forces act before the unknown ones: b are the rates that they lead to.
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
        p->b[j] = c->sigma ? friction_known(laws, c) : pp_row_direction_value(&c->zero, u);
        p->lower[j] = c->lower;
        p->upper[j] = c->upper;
        p->z[j] = 0.0;
        for (size_t i = 0; i < n; i++) {
            const variable *f = &p->v[i];
            if (f->sigma || c->sigma) {
                p->M[i + j * n] = friction_entry(laws, f, c);
            } else {
                p->M[i + j * n] = pp_row_direction_coupling(laws, &f->zero, &c->acts);
            }
        }
    }
    return PERP_OK;
}

// Lemke's method, then the solvers that `auto` tries.
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
    if (status < 0 && !pp_is_final(status)) {
        status = perp_mcp_solve(NULL, &mcp, &options, env, p->z, NULL);
    }
    return status;
}

// ── Modes from forces and rates ──────────────────────────────────────────────────────────────────

// Off where the contact carries nothing and moves; else it slides where it did, or where slip
// begins, along the slip. What is neither loaded nor moving stays held.
static void contact_mode(const double *r, const double *u, double tol_u, double tol_r, pp_law *law)
{
    double slip = 0.0;
    for (int k = 1; k < law->size; k++) {
        slip = pp_hypot(slip, u[k]);
    }
    // A load that is zero does not keep a contact from opening or sliding away.
    bool loaded = r[0] > tol_r, sliding = law->kind == PP_LAW_SLIDING;
    bool begins = !sliding && law->size > 1 && slip > tol_u;
    if (!loaded && (u[0] > tol_u || begins)) {
        law->mode = PP_OFF;
        return;
    }
    law->mode = sliding || begins ? PP_SLIDES : PP_HELD;
    if (begins) {
        for (int k = 1; k < law->size; k++) {
            law->d[k - 1] = u[k] / slip;
        }
    }
}

// The same for torsional and rolling friction; the mode of its contact is known.
// u: rates of its own rows.
static void turn_mode(const pp_laws *laws, const double *u, double tol_u, pp_law *law)
{
    double slip = law->size == 2 ? pp_hypot(u[0], u[1]) : fabs(u[0]);
    bool begins = law->kind == PP_LAW_TURN && slip > tol_u;
    law->mode = law->kind == PP_LAW_TURNING || begins ? PP_SLIDES : PP_HELD;
    if (laws->law[law->on].mode == PP_OFF) {
        law->mode = PP_OFF;
    }
    if (begins) {
        for (int k = 0; k < law->size; k++) {
            law->d[k] = u[k] / slip;
        }
    }
}

// Modes of all laws that belong to forces r and rates u.
static void modes_of(pp_laws *laws, const double *r, const double *u)
{
    double size_u, size_r;
    pp_law_sizes(laws, r, &size_u, &size_r);
    // What is smaller than the tolerance is zero: rates at a sticking contact,
    // loads of one that opens.
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

// Laws whose direction of sliding is an unknown angle; returns their number.
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

// Forces of the present directions, the rates they lead to, and the angle from each direction to
// that of the slip it leads to [rad].
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
        // The signed angle from d to s.
        off[k] = pp_atan2(d[0] * s[1] - d[1] * s[0], d[0] * s[0] + d[1] * s[1]);
    }
    return PERP_OK;
}

// Turns the direction of sliding by an angle [rad] in (t, o).
static void turn_direction(pp_law *law, double angle)
{
    double c = pp_cos(angle), s = pp_sin(angle), x = law->d[0], y = law->d[1];
    law->d[0] = c * x - s * y;
    law->d[1] = s * x + c * y;
}

// Directions of sliding that are those of the slip they lead to: Newton's method on their angles,
// with derivatives by differences. Steps are at most 0.5 rad.
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
    if (status < 0) {
        return status;
    }
    for (int round = 0; round < TURNS && pp_norm_inf(n, off) > 1e-14; round++) {
        // D_ij = d off_i / d angle_j. Directions are turned forth and back.
        const double small = 1e-6;
        for (int j = 0; j < n; j++) {
            turn_direction(&laws->law[which[j]], small);
            status = misfit(laws, which, n, r, u, next, arena);
            turn_direction(&laws->law[which[j]], -small);
            if (status < 0) {
                return status;
            }
            for (int i = 0; i < n; i++) {
                D[i + j * n] = (next[i] - off[i]) / small;
            }
        }
        for (int i = 0; i < n; i++) {
            next[i] = -off[i];
        }
        if (pp_least_solve(n, D, next, step, NULL, 1e-12, arena) < 0) {
            return PERP_ERR_MEMORY;
        }
        for (int i = 0; i < n; i++) {
            turn_direction(&laws->law[which[i]], pp_clamp(step[i], -0.5, 0.5));
        }
        status = misfit(laws, which, n, r, u, off, arena);
        if (status < 0) {
            return status;
        }
    }
    return status;
}

// ── Single modes switched ────────────────────────────────────────────────────────────────────────

// How badly the mode of torsional or rolling friction fits, relative to the sizes of rates and
// forces. `to`, a copy of the law on entry, becomes the mode that may fit better.
static double switch_turn(const pp_laws *laws, const double *r, const double *u, double size_u,
                          double size_r, pp_law *to)
{
    const double *f = r + to->at, *s = u + to->at;
    const pp_law *on = &laws->law[to->on];
    double push = pp_law_tangential(to, r);
    // It follows its contact: off with it, and held when that is closed again.
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

// The same for a contact or limit: one that is off and approaches closes, one that pulls
// opens, one that sticks with too much friction slides against it, one that slides backwards
// sticks. 0: its mode fits.
static double switch_contact(const pp_laws *laws, const double *r, const double *u, double size_u,
                             double size_r, pp_law *to)
{
    const double *f = r + to->at, *s = u + to->at;
    double push = pp_law_tangential(to, r);
    if (to->mode == PP_OFF) {
        to->mode = to->kind == PP_LAW_SLIDING ? PP_SLIDES : PP_HELD;
        return -s[0] / size_u;
    }
    if (f[0] < -laws->tolerance * size_r) {
        to->mode = PP_OFF;
        return -f[0] / size_r;
    }
    if (to->kind != PP_LAW_CONTACT) {
        return 0.0;  // its direction is given
    }
    if (to->mode == PP_HELD) {
        to->mode = PP_SLIDES;
        for (int k = 1; k < to->size; k++) {
            to->d[k - 1] = push > 0.0 ? -f[k] / push : 0.0;
        }
        return (push - to->mu * f[0]) / size_r;
    }
    double along = to->d[0] * s[1] + (to->size == 3 ? to->d[1] * s[2] : 0.0);
    to->mode = PP_HELD;
    return -along / size_u;
}

// The same for a boxed effort: one beyond its bound slips against it, one that slips backwards holds.
static double switch_box(const double *r, const double *u, double size_u, double size_r, pp_law *to)
{
    double f = r[to->at], s = u[to->at];
    if (to->mode == PP_HELD) {
        to->mode = PP_SLIDES;
        to->d[0] = f > 0.0 ? -1.0 : 1.0;
        return (fabs(f) - to->bound) / size_r;
    }
    to->mode = PP_HELD;
    return -to->d[0] * s / size_u;
}

// Switches the mode that fits its own forces and rates worst. False: all fit.
static bool switch_worst(pp_laws *laws, const double *r, const double *u)
{
    double size_u, size_r, worst = laws->tolerance;
    pp_law_sizes(laws, r, &size_u, &size_r);
    pp_law next = {0};
    int which = -1;
    for (int i = 0; i < laws->count; i++) {
        pp_law to = laws->law[i];
        double off = 0.0;
        if (to.size == 0) {
            continue;
        }
        // Equations and what is known to rub have no choice.
        if (to.kind == PP_LAW_BOX) {
            off = switch_box(r, u, size_u, size_r, &to);
        } else if (to.kind == PP_LAW_TURN) {
            off = switch_turn(laws, r, u, size_u, size_r, &to);
        } else if (to.kind == PP_LAW_CONTACT || to.kind == PP_LAW_SLIDING) {
            off = switch_contact(laws, r, u, size_u, size_r, &to);
        }
        // A misfit within the tolerance is rounding.
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

// ── Painleve's paradox ───────────────────────────────────────────────────────────────────────────

// Finds a sliding contact whose normal force, with the friction of its sliding, accelerates it into
// the surface while the equations react: A_nn - mu d.A_nt <= 0, after elimination of the equations.
// Marks the first one in info.
static perp_status find_wedge(const pp_laws *laws, pp_law_info *info, pp_arena *arena)
{
    size_t rows = (size_t)laws->rows;
    pp_law *only = PP_ARRAY(arena, pp_law, laws->count);
    double *b = PP_ARRAY(arena, double, 2 * rows), *r = b + rows;
    if (!only || !b) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < laws->count; i++) {
        const pp_law *law = &laws->law[i];
        if (law->kind != PP_LAW_SLIDING || law->size == 0) {
            continue;
        }
        // Rates that a unit push causes, as b of a problem in which equations alone react.
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
        // What the push leaves of the normal acceleration once the equations have reacted;
        // <= 0: Painleve's paradox.
        double left = b[law->at] + pp_dot(laws->rows, laws->A + (size_t)law->at * rows, r);
        if (left <= 1e-9 * laws->A[(size_t)law->at * (rows + 1)]) {
            info->wedged = true;
            info->wedge = i;
            return PERP_OK;
        }
    }
    return PERP_OK;
}

// Where the paradox admits several solutions, takes the one in which the wedged contact carries
// nothing, if that is one: the contact opens.
static perp_status let_go(pp_laws *laws, double *r, pp_law_info *info, pp_arena *arena)
{
    size_t rows = (size_t)laws->rows;
    double *other = PP_ARRAY(arena, double, rows);
    pp_law *law = &laws->law[info->wedge], was = *law;
    pp_law_info linear;
    if (!other) {
        return PERP_ERR_MEMORY;
    }
    // The forces of the same modes without the contact.
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
    return pp_is_final(status) ? status : PERP_OK;
}

// ── Solution ─────────────────────────────────────────────────────────────────────────────────────

// From the forces `own` of a problem to modes and forces r that obey the exact laws. The forces of
// the modes are taken where they obey the laws; otherwise those of the problem where these do,
// since undetermined loads may need another distribution than that of least norm.
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
    // Exact directions for the present modes; then the mode that fits worst is switched.
    for (int k = 0; k < SWITCHES; k++) {
        perp_status status = turn_exactly(laws, best, u, arena);
        if (pp_is_final(status)) {
            return status;
        }
        double residual = status < 0 ? PP_INF : pp_law_residual(laws, best, arena);
        // Keep the best forces so far; below EXACT all are equal, and the later
        // ones are those of the modes.
        if (residual <= fmax(EXACT, info->residual)) {
            info->residual = residual;
            memcpy(r, best, rows * sizeof *r);
        }
        if (status < 0 || residual <= GOOD || info->residual <= GOOD ||
            !switch_worst(laws, best, u)) {
            break;
        }
    }
    // PERP_INEXACT: a choice of modes accepts such forces, a short step does not.
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
    if (!own) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = pose_modes(laws, &p, arena);
    if (status < 0) {
        return status;
    }
    status = solve_posed(&p, env);
    if (status < 0) {
        return status;
    }
    memcpy(own, p.known, (size_t)laws->rows * sizeof *own);
    for (int j = 0; j < p.n; j++) {
        pp_push_add(&p.v[j].acts, p.z[j], own);
    }
    return choose_forces(laws, r, own, info, arena);
}

// Boxed efforts in given modes, as laws that a problem on cones can have: held ones are equations,
// slipping ones known forces.
static void fix_boxes(const pp_laws *laws, pp_law *fixed)
{
    for (int i = 0; i < laws->count; i++) {
        if (laws->law[i].kind == PP_LAW_BOX) {
            fixed[i].kind = fixed[i].mode == PP_SLIDES ? PP_LAW_RUBBING : PP_LAW_EQUAL;
        }
    }
}

// Switches boxed efforts whose modes do not fit r and u: all of them, or the last one only, which
// cannot cycle where friction is absent (Murty's rule). Returns how many there are.
static int switch_boxes(const pp_laws *laws, const double *r, const double *u, bool last_only,
                        pp_law *fixed)
{
    double size_u, size_r;
    int count = 0;
    pp_law_sizes(laws, r, &size_u, &size_r);
    for (int i = laws->count - 1; i >= 0; i--) {
        pp_law to = fixed[i];
        if (laws->law[i].kind != PP_LAW_BOX || to.size == 0) {
            continue;
        }
        if (switch_box(r, u, size_u, size_r, &to) > laws->tolerance) {
            fixed[i] = last_only && count > 0 ? fixed[i] : to;
            count++;
        }
    }
    return count;
}

static int count_boxes(const pp_laws *laws)
{
    int count = 0;
    for (int i = 0; i < laws->count; i++) {
        count += laws->law[i].kind == PP_LAW_BOX && laws->law[i].size > 0;
    }
    return count;
}

// Forces `own` on exact cones, with boxed efforts by principal pivoting: their modes are fixed, the
// problem of the contacts is solved, and efforts that do not fit change their modes.    theory (H7a)
static perp_status pivot_boxes(const pp_laws *laws, double work, double *own, const perp_env *env,
                               pp_arena *arena)
{
    pp_law *fixed = PP_ARRAY(arena, pp_law, laws->count);
    double *u = PP_ARRAY(arena, double, laws->rows);
    perp_status status = PERP_OK;
    int boxes = count_boxes(laws);
    if (!fixed || !u) {
        return PERP_ERR_MEMORY;
    }
    memcpy(fixed, laws->law, (size_t)laws->count * sizeof *fixed);
    pp_laws with = *laws;
    with.law = fixed;
    // Blocks first; single ones once every effort has had its turn.
    for (int round = 0; round <= 4 * boxes; round++) {
        pp_mark mark = pp_arena_mark(arena);
        fix_boxes(laws, fixed);
        status = pp_law_cone(&with, work, own, env, arena);
        pp_arena_release(arena, mark);
        if (status < 0 && status != PERP_ERR_LIMIT) {
            return status;
        }
        pp_law_rates(laws, own, u);
        if (switch_boxes(laws, own, u, round >= boxes, fixed) == 0) {
            break;
        }
    }
    return status;
}

// Exact cones. The best iterate of a solver that gave up is a start as well.
static perp_status solve_cones(pp_laws *laws, double work, double *r, pp_law_info *info,
                               const perp_env *env, pp_arena *arena)
{
    double *own = PP_ARRAY(arena, double, laws->rows);
    if (!own) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = pivot_boxes(laws, work, own, env, arena);
    if (status < 0 && status != PERP_ERR_LIMIT) {
        return status;
    }
    return choose_forces(laws, r, own, info, arena);
}

// Without friction: the active-set method finds the forces wherever there are any.
static perp_status solve_convex(pp_laws *laws, double *r, pp_law_info *info, pp_arena *arena)
{
    double *own = PP_ARRAY(arena, double, laws->rows);
    if (!own) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = pp_law_convex(laws, own, arena);
    if (status < 0) {
        return status;
    }
    return choose_forces(laws, r, own, info, arena);
}

perp_status pp_law_solve(pp_laws *laws, double *r, pp_law_info *info, const perp_env *env,
                         pp_arena *arena)
{
    pp_mark mark = pp_arena_mark(arena);
    *info = (pp_law_info){.wedge = -1};
    if (pp_law_is_convex(laws)) {
        perp_status solved = solve_convex(laws, r, info, arena);
        pp_arena_release(arena, mark);
        return solved == PERP_ERR_INFEASIBLE ? PERP_ERR_LIMIT : solved;
    }
    perp_status status = find_wedge(laws, info, arena);
    bool cones = pp_law_cone_possible(laws);
    if (status >= 0 && cones) {
        status = solve_cones(laws, QUICK_WORK, r, info, env, arena);
    }
    // Polygons where there are no cones, and where the problem on the cones was not solved exactly.
    bool polygons = cones ? status != PERP_OK && !pp_is_final(status) : status >= 0;
    if (polygons) {
        status = solve_polygons(laws, r, info, env, arena);
    }
    // Redundant contacts of several level faces may need more than most problems do.
    if (cones && status < 0 && !pp_is_final(status)) {
        status = solve_cones(laws, MOST_WORK, r, info, env, arena);
    }
    if (status >= 0 && info->wedged) {
        status = let_go(laws, r, info, arena);
    }
    pp_arena_release(arena, mark);
    // Infeasibility of a problem with polygons proves nothing about the disc, nor about
    // velocities that may jump.
    return status == PERP_ERR_INFEASIBLE ? PERP_ERR_LIMIT : status;
}
