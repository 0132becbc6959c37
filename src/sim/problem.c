// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The problem of the last step as the papers write it: M, W_b, W_n, W_f, U, E, A, b, z, w.     theory (P7)
//
// It is posed again from the rows, which stay in the arena until the next step, also after a failed one. So a problem that
// could not be solved can be looked at, and handed to any solver.
#include "sim/names.h"
#include "sim/step/stages.h"

#include <math.h>
#include <string.h>

// What the caller gets a view of, with the memory that all its arrays are in.
typedef struct owned {
    perp_step_problem view;  // first, so that the view is the owner
    perp_env env;
    pp_arena *arena;
} owned;

// Columns first .. first + count - 1 of a sparse matrix, dense and column-major. NULL: out of memory.
static double *dense_block(pp_arena *arena, const perp_matrix *W, int first, int count)
{
    double *block = PP_ZEROS(arena, double, (size_t)W->rows *(size_t)count);
    if (!block) {
        return NULL;
    }
    for (int j = 0; j < count; j++) {
        for (int e = W->p[first + j]; e < W->p[first + j + 1]; e++) {
            block[(size_t)j * (size_t)W->rows + (size_t)W->i[e]] = W->x[e];
        }
    }
    return block;
}

// The matrices by name. Columns of W are in the order b, m, n, f.
static bool fill_blocks(owned *o, const perp_sim *sim, const pp_step_equations *motion)
{
    const pp_rows *rows = &sim->step.row;
    perp_step_problem *v = &o->view;
    const perp_matrix *W = &motion->W;
    int nv = motion->nv, nb = motion->nb, ng = rows->ng, nf = rows->nf;
    // dense and column-major throughout: these are matrices to look at, not to solve with
    double *M = dense_block(o->arena, &motion->M, 0, nv);
    double *p_ext = PP_ARRAY(o->arena, double, nv);
    double *E = PP_ZEROS(o->arena, double, (size_t)nf *(size_t)ng);
    double *U = PP_ZEROS(o->arena, double, (size_t)ng *(size_t)rows->nn);
    if (!M || !p_ext || !E || !U) {
        return false;
    }
    // generalised impulses S^T p_ext in joint coordinates
    if (sim->tree) {
        pp_tree_gather(&sim->step.tree, sim->step.kin.loads.p_ext, p_ext);
    } else if (nv > 0) {
        memcpy(p_ext, sim->step.kin.loads.p_ext, (size_t)nv * sizeof *p_ext);
    }
    // E: friction directions to their groups; U: mu of each group at its normal row, (C10)
    int f = 0;
    for (int g = 0; g < ng; g++) {
        for (int j = 0; j < rows->group[g].directions; j++) {
            E[(size_t)g * (size_t)nf + (size_t)f++] = 1.0;
        }
        U[(size_t)rows->group[g].n * (size_t)ng + (size_t)g] = rows->group[g].mu;
    }
    v->M = M;
    v->p_ext = p_ext;
    v->E = E;
    v->U = U;
    v->Wb = dense_block(o->arena, W, 0, nb);
    v->Wm = dense_block(o->arena, W, nb, rows->nm);
    v->Wn = dense_block(o->arena, W, nb + rows->nm, rows->nn);
    v->Wf = dense_block(o->arena, W, nb + rows->nm + rows->nn, nf);
    return v->Wb && v->Wm && v->Wn && v->Wf;
}

// z from the step's answer: p_t split over the directions of friction, sigma the slip speed.
static void write_answer(const perp_sim *sim, const pp_step_equations *motion,
                         const pp_posed *posed, double *z)
{
    const pp_answer *a = &sim->step.answer;
    const pp_rows *rows = &sim->step.row;
    double *next = z;
    // the LCP has no nu and p_b
    if (posed->nv > 0) {
        if (sim->tree) {
            pp_coordinates_rates(&sim->step.in, a->nu, next);
        } else {
            memcpy(next, a->nu, (size_t)posed->nv * sizeof *z);
        }
        next += posed->nv;
        for (int i = 0; i < posed->nb; i++) {
            *next++ = a->pb[motion->row[i]];
        }
    }
    for (int i = 0; i < rows->nm; i++) {
        *next++ = a->pm[i];
    }
    for (int i = 0; i < rows->nn; i++) {
        *next++ = a->pn[i];
    }
    // signed impulses of the rows as nonnegative ones along the directions next to them
    for (int g = 0; g < rows->ng; g++) {
        const pp_friction *group = &rows->group[g];
        pp_friction_split(group, a->pt + group->t, next);
        next += group->directions;
    }
    for (int g = 0; g < rows->ng; g++) {
        *next++ = a->sigma[g];
    }
}

// The MCP, or the LCP with nu and p_b eliminated (P8).
static perp_status pose_form(owned *o, const perp_sim *sim, perp_form form,
                             pp_step_equations *motion, pp_posed *posed)
{
    const pp_step *s = &sim->step;
    // Velocities that the step started from: after a commit `next` holds the old state.
    const double *nu = s->solved ? sim->next.nu : sim->now.nu;
    // without inertia a step starts from rest
    if (sim->def.stepper == PERP_STEPPER_QUASISTATIC) {
        nu = PP_ZEROS(o->arena, double, sim->model->nv);
        if (!nu) {
            return PERP_ERR_MEMORY;
        }
    }
    perp_status status =
        pp_step_equations_run(motion, sim->model, &s->kin, &s->row, &s->in, nu, o->arena);
    if (status < 0) {
        return status;
    }
    if (form == PERP_FORM_MCP) {
        return pp_pose_mcp(posed, &s->row, motion, o->arena);
    }
    pp_closed closed;
    pp_delassus delassus;
    status = pp_closed_create(&closed, sim->model, &s->row, s->kin.mass, &s->in, NULL, o->arena);
    if (status < 0) {
        return status;
    }
    status = pp_delassus_run(&delassus, &closed, &s->kin, nu, o->arena);
    return status < 0 ? status : pp_pose_lcp(posed, &s->row, &delassus, NULL, o->arena);
}

// Problem, answer and names into the view.
static perp_status fill_problem(owned *o, const perp_sim *sim, perp_form form)
{
    perp_step_problem *v = &o->view;
    pp_posed posed;
    pp_step_equations motion;
    perp_status status = pose_form(o, sim, form, &motion, &posed);
    if (status < 0) {
        return status;
    }
    int n = posed.mcp.n;
    double *z = PP_ZEROS(o->arena, double, n), *w = PP_ARRAY(o->arena, double, n);
    if (!z || !w || !fill_blocks(o, sim, &motion)) {
        return PERP_ERR_MEMORY;
    }
    if (sim->step.solved) {
        write_answer(sim, &motion, &posed, z);
    }
    // w = A z + b; z is 0 where the step failed
    if (n > 0) {
        memcpy(w, posed.mcp.b, (size_t)n * sizeof *w);
        pp_matrix_mul(&posed.mcp.A, 1.0, z, w);
    }
    v->names = pp_step_names(sim->model, &sim->step, &motion, o->arena);
    if (!v->names) {
        return PERP_ERR_MEMORY;
    }
    v->form = form;
    v->nv = motion.nv;
    v->nb = motion.nb;
    v->n_nu = posed.nv;
    v->n_b = posed.nb;
    v->n_m = posed.nm;
    v->n_n = posed.nn;
    v->n_f = posed.nf;
    v->n_sigma = posed.ns;
    v->mcp = posed.mcp;
    v->z = z;
    v->w = w;
    return PERP_OK;
}

// The cone form has no single matrix that papers write, so that it is not offered.
perp_status perp_sim_problem(const perp_sim *sim, perp_form form, perp_step_problem **problem)
{
    if (!sim || !problem || (form != PERP_FORM_MCP && form != PERP_FORM_LCP)) {
        return PERP_ERR_ARGUMENT;
    }
    *problem = NULL;
    if (!sim->step.kin.mass || (sim->tree && !sim->step.tree.tree)) {
        return PERP_ERR_ARGUMENT;  // no step yet, or it failed before there was a problem
    }
    // the problem may outlive the sim, so that it has the services of the host
    owned *o = pp_alloc(&sim->host.env, sizeof *o);
    if (!o) {
        return PERP_ERR_MEMORY;
    }
    *o = (owned){.env = sim->host.env, .arena = pp_arena_create(&sim->host.env)};
    perp_status status = o->arena ? fill_problem(o, sim, form) : PERP_ERR_MEMORY;
    if (status < 0) {
        perp_step_problem_destroy(&o->view);
        return status;
    }
    *problem = &o->view;
    return PERP_OK;
}

void perp_step_problem_destroy(perp_step_problem *problem)
{
    if (problem) {
        // the view is the first member: its address is that of its owner
        owned *o = (owned *)problem;
        perp_env env = o->env;
        pp_arena_destroy(o->arena);
        pp_free(&env, o, sizeof *o);
    }
}
