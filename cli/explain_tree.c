// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp explain --coordinates joint: the equations of motion in joint coordinates at one instant,
// H q'' + C = B u + J^T lambda, and their constraints.
#include "cli.h"

#include <stdlib.h>

typedef struct moment {
    const char *scene;
    double t;
    int nq, nv, rank;
    perp_constraints held;
    double *q, *qd, *H, *C, *Bu, *qdd, *b, *lambda, *rate;
    // Multipliers with stabilisation, and its time constants [s]: given for all rows, or of the joints (given < 0).
    double given, *stabilised, *epsilon;
    const char **coordinate, **velocity;
} moment;

static bool make_room(moment *m)
{
    size_t nq = (size_t)m->nq, nv = (size_t)m->nv, rows = (size_t)m->held.rows;
    double *x = calloc(nq + nv * nv + 4 * nv + 5 * rows + 1, sizeof *x);
    m->coordinate = calloc(nq + nv + 1, sizeof *m->coordinate);
    if (!x || !m->coordinate) {
        free(x);
        free(m->coordinate);
        return false;
    }
    m->velocity = m->coordinate + nq;
    m->q = x;
    m->qd = m->q + nq;
    m->H = m->qd + nv;
    m->C = m->H + nv * nv;
    m->Bu = m->C + nv;
    m->qdd = m->Bu + nv;
    m->b = m->qdd + nv;
    m->lambda = m->b + rows;
    m->rate = m->lambda + rows;
    m->stabilised = m->rate + rows;
    m->epsilon = m->stabilised + rows;
    return true;
}

static perp_status look(moment *m, perp_tree *tree)
{
    perp_tree_get(tree, &m->t, m->q, m->qd);
    perp_tree_mass(tree, m->H);
    perp_tree_bias(tree, m->C);
    for (int k = 0; k < m->nq; k++) {
        m->coordinate[k] = perp_tree_coordinate_name(tree, k);
    }
    for (int k = 0; k < m->nv; k++) {
        m->velocity[k] = perp_tree_velocity_name(tree, k);
    }
    for (int i = 0; i < m->held.rows; i++) {
        m->rate[i] = m->held.rate[i].rate;
        for (int k = 0; k < m->nv; k++) {
            m->rate[i] += m->held.J[i + k * m->held.rows] * m->qd[k];
        }
    }
    for (int i = 0; i < m->held.rows; i++) {
        m->epsilon[i] = m->given < 0.0 ? m->held.epsilon[i] : m->given;
    }
    perp_tree_rows hold = {m->held.rows - m->held.limits, m->held.limits, m->held.J, m->b};
    perp_status status = perp_tree_forces(tree, NULL, m->Bu);
    // With stabilisation first, so that q'' is that of the constraints themselves.
    perp_tree_stabilise(tree, &m->held, m->given, m->b);
    if (status >= 0) {
        status = perp_tree_accelerate(tree, m->Bu, &hold, m->qdd, m->stabilised, NULL);
    }
    perp_tree_stabilise(tree, &m->held, 0.0, m->b);
    return status < 0 ? status
                      : perp_tree_accelerate(tree, m->Bu, &hold, m->qdd, m->lambda, &m->rank);
}

// Whether any constraint is stabilised.
static bool has_epsilon(const moment *m)
{
    for (int i = 0; i < m->held.rows; i++) {
        if (m->epsilon[i] > 0.0) {
            return true;
        }
    }
    return false;
}

// ── Text ─────────────────────────────────────────────────────────────────────────────────────────

static void text_matrices(FILE *out, const moment *m)
{
    const char *const *name = m->velocity;
    int nv = m->nv, rows = m->held.rows;
    const shown_matrix all[] = {
        {"H", "H", "kg, kg m^2", "mass matrix", nv, nv, perp_matrix_dense(nv, nv, m->H), name,
         name},
        {"C", "C", "N, N m", "bias forces: gravity, Coriolis and gyroscopic terms", nv, 1,
         perp_matrix_dense(nv, 1, m->C), name, NULL},
        {"Bu", "Bu", "N, N m", "forces, springs and dampers", nv, 1,
         perp_matrix_dense(nv, 1, m->Bu), name, NULL},
        {"J", "J", "1, m", "constraint Jacobian", rows, nv, perp_matrix_dense(rows, nv, m->held.J),
         m->held.name, name},
    };
    for (int k = 0; k < 4; k++) {
        explain_matrix(out, &all[k]);
    }
}

static void text(FILE *out, const moment *m)
{
    int rows = m->held.rows;
    fprintf(out, "%s: H q'' + C = B u + J^T lambda at t = %g s, %d velocities, %d constraints",
            cli_plain(m->scene), m->t, m->nv, rows - m->held.limits);
    fprintf(out, " and %d active limits, rank %d\n", m->held.limits, m->rank);
    fputs("Contacts, effort-limited motors and dry friction are not included.\n", out);
    text_matrices(out, m);
    fprintf(out, "\nq [m, rad]\n");
    for (int k = 0; k < m->nq; k++) {
        fprintf(out, "  %-24s %22.15g\n", cli_plain(m->coordinate[k]), m->q[k]);
    }
    fprintf(out, "\nq' and q''\n");
    for (int k = 0; k < m->nv; k++) {
        fprintf(out, "  %-24s %22.15g %22.15g\n", cli_plain(m->velocity[k]), m->qd[k], m->qdd[k]);
    }
    bool stabilised = has_epsilon(m);
    fprintf(out, "\n%-26s %22s %22s %22s %22s", "constraints", "phi", "phi'", "Jdot q'",
            "lambda [N, N m]");
    fprintf(out, stabilised ? " %12s %22s\n" : "\n", "epsilon [s]", "lambda with epsilon");
    for (int i = 0; i < rows; i++) {
        fprintf(out, "  %-24s %22.15g %22.15g %22.15g %22.15g", cli_plain(m->held.name[i]),
                m->held.rate[i].value, m->rate[i], m->held.rate[i].drift, m->lambda[i]);
        if (stabilised) {
            fprintf(out, " %12g %22.15g", m->epsilon[i], m->stabilised[i]);
        }
        putc('\n', out);
    }
}

// ── JSON ─────────────────────────────────────────────────────────────────────────────────────────

static void json_vector(FILE *out, const char *key, const double *x, int count)
{
    fprintf(out, ",\n \"%s\": [", key);
    for (int k = 0; k < count; k++) {
        fputs(k > 0 ? ", " : "", out);
        cli_json_number(out, x[k]);
    }
    putc(']', out);
}

static void json_matrix(FILE *out, const char *key, const double *A, int rows, int cols)
{
    fprintf(out, ",\n \"%s\": [", key);
    for (int i = 0; i < rows; i++) {
        fputs(i > 0 ? ",\n  [" : "[", out);
        for (int k = 0; k < cols; k++) {
            fputs(k > 0 ? ", " : "", out);
            cli_json_number(out, A[i + k * rows]);
        }
        putc(']', out);
    }
    putc(']', out);
}

static void json_names(FILE *out, const char *key, const char *const *name, int count)
{
    fprintf(out, ",\n \"%s\": [", key);
    for (int k = 0; k < count; k++) {
        fputs(k > 0 ? ", " : "", out);
        cli_json_string(out, name[k]);
    }
    putc(']', out);
}

static void json_errors(FILE *out, const moment *m, const char *key, bool drift)
{
    fprintf(out, ",\n \"%s\": [", key);
    for (int i = 0; i < m->held.rows; i++) {
        fputs(i > 0 ? ", " : "", out);
        cli_json_number(out, drift ? m->held.rate[i].drift : m->held.rate[i].value);
    }
    putc(']', out);
}

static void json(FILE *out, const moment *m)
{
    int rows = m->held.rows;
    fputs("{\"coordinates\": \"joint\", \"t\": ", out);
    cli_json_number(out, m->t);
    fprintf(out, ", \"nq\": %d, \"nv\": %d, \"constraints\": %d, \"limits\": %d, \"rank\": %d",
            m->nq, m->nv, rows - m->held.limits, m->held.limits, m->rank);
    json_names(out, "coordinate_names", m->coordinate, m->nq);
    json_names(out, "names", m->velocity, m->nv);
    json_names(out, "constraint_names", m->held.name, rows);
    json_vector(out, "q", m->q, m->nq);
    json_vector(out, "qd", m->qd, m->nv);
    json_matrix(out, "H", m->H, m->nv, m->nv);
    json_vector(out, "C", m->C, m->nv);
    json_vector(out, "Bu", m->Bu, m->nv);
    json_matrix(out, "J", m->held.J, rows, m->nv);
    json_errors(out, m, "phi", false);
    json_vector(out, "phi_dot", m->rate, rows);
    json_errors(out, m, "Jdot_qd", true);
    json_vector(out, "lambda", m->lambda, rows);
    json_vector(out, "epsilon", m->epsilon, rows);
    json_vector(out, "lambda_epsilon", m->stabilised, rows);
    json_vector(out, "qdd", m->qdd, m->nv);
    fputs("}\n", out);
}

// ── The command ────────────────────────────────────────────────────────────────────────────────

// Inputs as the sim has them.
static perp_status follow_inputs(perp_tree *tree, const perp_sim *sim)
{
    int count = perp_model_inputs(perp_sim_model(sim));
    double *value = calloc((size_t)count + 1, sizeof *value);
    for (int i = 0; value && i < count; i++) {
        value[i] = perp_sim_input(sim, (perp_input){i});
    }
    perp_status status = value ? perp_tree_inputs_set(tree, value, count) : PERP_ERR_MEMORY;
    free(value);
    return status;
}

// Sets the tree to the state of the sim.
static perp_status follow(perp_tree *tree, const perp_sim *sim)
{
    int nq, nv;
    double t;
    perp_sim_state_size(sim, &nq, &nv);
    double *x = calloc((size_t)nq + (size_t)nv + 1, sizeof *x);
    perp_status status = x ? perp_sim_state_get(sim, &t, x, x + nq) : PERP_ERR_MEMORY;
    if (status >= 0) {
        status = perp_tree_set_bodies(tree, t, x, x + nq, NULL, NULL);
    }
    free(x);
    return status;
}

cli_exit explain_tree(FILE *out, const char *scene, const perp_sim *sim, const perp_sim_def *def,
                      double epsilon, bool as_json)
{
    perp_tree *tree = NULL;
    perp_error error = {0};
    moment m = {.scene = scene, .given = epsilon};
    perp_status status =
        perp_tree_create(perp_sim_model(sim), def->tree, def->tree_count, NULL, &tree, &error);
    if (status < 0) {
        return cli_complain("explain: %s", error.text);
    }
    status = follow_inputs(tree, sim);
    status = status < 0 ? status : follow(tree, sim);
    status = status < 0 ? status : perp_tree_constraints(tree, &m.held);
    perp_tree_size(tree, &m.nq, &m.nv);
    if (status >= 0 && !make_room(&m)) {
        status = PERP_ERR_MEMORY;
    }
    if (status >= 0) {
        status = look(&m, tree);
        if (status >= 0 && as_json) {
            json(out, &m);
        } else if (status >= 0) {
            text(out, &m);
        }
        free(m.q);
        free(m.coordinate);
    }
    perp_tree_destroy(tree);
    if (status < 0) {
        cli_complain("explain: %s", perp_status_text(status));
    }
    return status < 0 ? CLI_UNSOLVED : CLI_FINE;
}
