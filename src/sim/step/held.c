// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The stepper quasistatic: without inertia forces have to be balanced. A body that moves away shows that no balance was
// found; that there is none is proved by a motion d that every contact allows and the forces do work along. theory (U10)
//
// min 1/2 |p_ext + W p|^2 over all impulses in their cones (in the metric of the masses, joints closed) leaves
// d = M^-1 (p_ext + W p) with W_n^T d >= mu |W_t^T d|, and p_ext d > 0 unless d = 0. With polygons around the discs
// it is a convex problem with bounds.
#include "sim/step/held.h"

#include <math.h>
#include <string.h>

enum { SIDES = 16, UNKNOWNS_MOST = 400 };

// The search for d: cones by their generators, so that min |p_ext + W p|^2 is a problem with
// bounds.
typedef struct hold_test {
    const perp_sim *sim;
    pp_rows rows;
    pp_closed closed;
    int count;   // generators of cones, then boxed rows
    double *C;   // nv x count: impulses on the bodies
    double *V;   // nv x count: what they do to the velocities
    double *nu;  // nv: of the forces alone
    pp_arena *arena;
} hold_test;

// Sides of the polygon around a group's disc: circumscribed, so that it allows more friction than
// the disc, and a proof with it holds for the disc.
static int sides_of(const pp_friction *group)
{
    return group->size == 1 ? 2 : SIDES;
}

// Vertex j of that polygon for a unit limit.
static void outer_facet_vertex(const pp_friction *group, int j, double d[2])
{
    pp_friction polygon = *group;
    polygon.directions = sides_of(group);
    pp_friction_direction(&polygon, j, d);
    double radius = group->size == 1 ? 1.0 : 1.0 / pp_cos(pp_acos(-1.0) / SIDES);
    d[0] *= radius;
    d[1] *= radius;
}

// Generators of the cone of contact i: the product over its groups, which limit each other through
// p_n only. Counts no further than UNKNOWNS_MOST.
static int generators_of(const pp_rows *rows, int i)
{
    int all = 1;
    for (int k = 0; k < rows->grouped[i]; k++) {
        if (all > UNKNOWNS_MOST) {
            break;
        }
        const pp_friction *group = &rows->group[rows->friction[i] + k];
        all *= group->mu > 0.0 ? sides_of(group) : 1;
    }
    return all;
}

// n + sum mu d over the groups; `which` has their vertices as digits in mixed radix.
static void add_generator(const hold_test *t, int i, int which, double *column)
{
    const perp_model *m = t->sim->model;
    const pp_rows *rows = &t->rows;
    pp_row_add(m, &rows->n[i], 1.0, NULL, column);
    for (int k = 0; k < rows->grouped[i]; k++) {
        const pp_friction *group = &rows->group[rows->friction[i] + k];
        int sides = group->mu > 0.0 ? sides_of(group) : 1;
        double d[2];
        outer_facet_vertex(group, which % sides, d);
        which /= sides;
        if (!(group->mu > 0.0)) {
            continue;
        }
        for (int a = 0; a < group->size; a++) {
            pp_row_add(m, &rows->t[group->t + a], group->mu * d[a], NULL, column);
        }
    }
}

// Joints, and springs as joints: a spring holds whatever it is stretched by, so its compliance is
// left out.
static perp_status close_joints(hold_test *t)
{
    const pp_step *s = &t->sim->step;
    t->rows = s->row;
    t->rows.b = PP_ARRAY(t->arena, pp_row, s->row.nb);
    if (s->row.nb > 0 && !t->rows.b) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < s->row.nb; i++) {
        t->rows.b[i] = s->row.b[i];
        t->rows.b[i].gamma = 0.0;
    }
    return pp_closed_create(&t->closed, t->sim->model, &t->rows, s->kin.mass, NULL, NULL, t->arena);
}

// Columns C of all generators and boxed rows, and V = (M with joints closed)^-1 C. PERP_ERR_LIMIT:
// too many.
static perp_status collect_rows(hold_test *t)
{
    const perp_model *m = t->sim->model;
    size_t nv = (size_t)m->nv;
    for (int i = 0; i < t->rows.nn; i++) {
        t->count += generators_of(&t->rows, i);
        if (t->count > UNKNOWNS_MOST) {
            return PERP_ERR_LIMIT;
        }
    }
    t->count += t->rows.nm;
    if (t->count > UNKNOWNS_MOST) {
        return PERP_ERR_LIMIT;
    }
    double *pb = PP_ARRAY(t->arena, double, t->rows.nb);
    t->C = PP_ZEROS(t->arena, double, nv *(size_t)t->count);
    t->V = PP_ARRAY(t->arena, double, nv *(size_t)t->count);
    t->nu = PP_ARRAY(t->arena, double, nv);
    if (!t->C || !t->V || !t->nu || (t->rows.nb > 0 && !pb)) {
        return PERP_ERR_MEMORY;
    }
    double *column = t->C;
    for (int i = 0; i < t->rows.nn; i++) {
        for (int k = 0; k < generators_of(&t->rows, i); k++, column += nv) {
            add_generator(t, i, k, column);
        }
    }
    for (int i = 0; i < t->rows.nm; i++, column += nv) {
        pp_row_add(m, &t->rows.m[i], 1.0, NULL, column);
    }
    // momenta become velocities, joints closed
    memcpy(t->V, t->C, nv * (size_t)t->count * sizeof *t->V);
    for (int j = 0; j < t->count; j++) {
        pp_closed_solve(&t->closed, NULL, t->V + (size_t)j * nv, pb);
    }
    memcpy(t->nu, t->sim->step.kin.loads.p_ext, nv * sizeof *t->nu);
    pp_closed_solve(&t->closed, NULL, t->nu, pb);
    return PERP_OK;
}

// d = what the forces do to the velocities with the impulses that come nearest to balancing them:
// the bounded problem min 1/2 |nu + V z|^2 in the metric of the masses.
static perp_status nearest_balance(hold_test *t, double *d)
{
    int n = t->count, nv = t->sim->model->nv;
    double *A = PP_ARRAY(t->arena, double, (size_t)n *(size_t)n);
    double *reals = PP_ZEROS(t->arena, double, 4 * (size_t)n);
    if (n > 0 && (!A || !reals)) {
        return PERP_ERR_MEMORY;
    }
    double *b = reals, *z = b + n, *lower = z + n, *upper = lower + n;
    // A = C' V, b = C' nu: symmetric and semidefinite
    for (int j = 0; j < n; j++) {
        const double *C = t->C + (size_t)j * (size_t)nv;
        int boxed = j - (n - t->rows.nm);
        for (int i = 0; i < n; i++) {
            A[(size_t)i * (size_t)n + (size_t)j] = pp_dot(nv, C, t->V + (size_t)i * (size_t)nv);
        }
        b[j] = pp_dot(nv, C, t->nu);
        lower[j] = boxed < 0 ? 0.0 : t->rows.m[boxed].lower;
        upper[j] = boxed < 0 ? HUGE_VAL : t->rows.m[boxed].upper;
    }
    perp_mcp mcp = {
        .n = n, .A = perp_matrix_dense(n, n, A), .b = b, .lower = lower, .upper = upper};
    perp_comp_options options = perp_comp_options_default();
    options.tolerance = 1e-12;
    perp_status status = n > 0 ? perp_mcp_solve(NULL, &mcp, &options, &t->sim->env, z, NULL) : 0;
    memcpy(d, t->nu, (size_t)nv * sizeof *d);
    for (int j = 0; j < n; j++) {
        pp_axpy(nv, z[j], t->V + (size_t)j * (size_t)nv, d);
    }
    return status;
}

bool pp_sim_cannot_balance(perp_sim *sim)
{
    hold_test t = {.sim = sim, .arena = sim->arena};
    double *d = PP_ARRAY(sim->arena, double, sim->model->nv);
    if (!d || close_joints(&t) < 0 || collect_rows(&t) < 0 || nearest_balance(&t, d) < 0) {
        return false;  // not proved
    }
    // d is checked on the rows of the step, exact discs included, by code that does not know how it was found.
    return pp_rows_unbounded_motion(sim->model, &sim->step.row, sim->step.kin.loads.p_ext, d) > 0.0;
}
