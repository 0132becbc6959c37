// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp explain: the problem of one step, in the notation of the literature.
#include "cli.h"

#include <math.h>

// ── Blocks and matrices ────────────────────────────────────────────────────────────────────────────────

void explained_blocks(const explained *e, shown_block out[SHOWN_BLOCKS])
{
    const perp_step_problem *p = e->problem;
    const shown_block blocks[SHOWN_BLOCKS] = {
        {"nu", "\\nu", "m/s", "N s", "velocities (rad/s for angular)", p->n_nu},
        {"p_b", "p_b", "N s", "m/s", "joint impulses (N m s for torques)", p->n_b},
        {"p_m", "p_m", "N s", "m/s", "motor and dry joint friction impulses", p->n_m},
        {"p_n", "p_n", "N s", "m/s", "normal impulses of contacts and joint limits", p->n_n},
        {"p_f", "p_f", "N s", "m/s",
         e->spatial ? "friction impulses along directions, and about axes (N m s)"
                    : "friction impulses along +t and -t",
         p->n_f},
        {"sigma", "\\sigma", "m/s", "N s", "sliding speeds", p->n_sigma},
    };
    for (int k = 0; k < SHOWN_BLOCKS; k++) {
        out[k] = blocks[k];
    }
}

const char *const *explained_names(const explained *e)
{
    const perp_step_problem *p = e->problem;
    return p->names + (p->nv - p->n_nu) + (p->nb - p->n_b);
}

int explained_matrices(const explained *e, shown_matrix out[SHOWN_MOST])
{
    const perp_step_problem *p = e->problem;
    const char *const *nu = p->names, *const *b = nu + p->nv, *const *m = b + p->nb;
    const char *const *n = m + p->n_m, *const *f = n + p->n_n, *const *sigma = f + p->n_f;
    const char *const *z = explained_names(e);
    const int nv = p->nv, size = p->mcp.n;
#define DENSE(x, rows, cols) rows, cols, perp_matrix_dense(rows, cols, x)
    const shown_matrix all[SHOWN_MOST] = {
        {"M", "M", "kg, kg m^2", "mass matrix", DENSE(p->M, nv, nv), nu, nu},
        {"W_b", "W_b", "1, m", "joint wrenches", DENSE(p->Wb, nv, p->nb), nu, b},
        {"W_m", "W_m", "1, m", "motor and joint friction wrenches", DENSE(p->Wm, nv, p->n_m), nu,
         m},
        {"W_n", "W_n", "1, m", "contact normal wrenches", DENSE(p->Wn, nv, p->n_n), nu, n},
        {"W_f", "W_f", "1, m", "friction wrenches", DENSE(p->Wf, nv, p->n_f), nu, f},
        {"U", "U", "1", "friction coefficients", DENSE(p->U, p->n_sigma, p->n_n), sigma, n},
        {"E", "E", "1", "maps friction directions to contacts", DENSE(p->E, p->n_f, p->n_sigma), f,
         sigma},
        {"A", "A", "mixed", "problem matrix: w = A z + b", size, size, p->mcp.A, z, z},
        {"b", "b", "as w", "problem vector", DENSE(p->mcp.b, size, 1), z, NULL},
    };
#undef DENSE
    int count = 0;
    for (int k = 0; k < SHOWN_MOST; k++) {
        if (k != 2 || p->n_m > 0) {
            out[count++] = all[k];
        }
    }
    return count;
}

double shown_entry(const shown_matrix *m, int row, int col)
{
    const perp_matrix *A = &m->A;
    if (A->dense) {
        return A->dense[(size_t)row + (size_t)col * (size_t)A->rows];
    }
    for (int k = A->p[col]; k < A->p[col + 1]; k++) {
        if (A->i[k] == row) {
            return A->x[k];
        }
    }
    return 0.0;
}

// ── The command ────────────────────────────────────────────────────────────────────────────────

typedef struct explain_options {
    const char *file, *solver, *keyframe;
    double at, step, epsilon;
    int form, stepper, coordinates;
    bool json, latex, loads;
    perp_scene_load_options reading;
} explain_options;

// Equations of motion instead of a step.
static bool of_motion(const explain_options *o)
{
    return o->coordinates == (int)PERP_COORDINATES_JOINT;
}

static const char *form_word(int form)
{
    return form < 2 ? perp_form_word((int)PERP_FORM_MCP + form) : NULL;  // mcp, lcp
}

static cli_exit read_options(int count, char **words, explain_options *o)
{
    *o = (explain_options){.step = -1.0,
                           .epsilon = -1.0,
                           .stepper = -1,
                           .coordinates = -1,
                           .reading = perp_scene_load_options_default()};
    const cli_option options[] = {
        {"--at", CLI_REAL, &o->at, NULL},
        {"--step", CLI_POSITIVE, &o->step, NULL},
        {"--stepper", CLI_WORD, &o->stepper, perp_stepper_word},
        {"--form", CLI_WORD, &o->form, form_word},
        {"--solver", CLI_SOLVER, &o->solver, NULL},
        {"--keyframe", CLI_TEXT, &o->keyframe, NULL},
        {"--coordinates", CLI_WORD, &o->coordinates, perp_coordinates_word},
        {"--epsilon", CLI_POSITIVE, &o->epsilon, NULL},
        {"--json", CLI_FLAG, &o->json, NULL},
        {"--latex", CLI_FLAG, &o->latex, NULL},
        CLI_READING(o->reading),
        {"--loads", CLI_FLAG, &o->loads, NULL}};
    cli_exit code = cli_options_parse("explain", count, words, options,
                                      sizeof options / sizeof options[0], &o->file, 1);
    if (code == CLI_FINE && o->latex && (o->json || o->loads)) {
        return cli_complain("explain: %s and --latex cannot be combined",
                            o->json ? "--json" : "--loads");
    }
    if (code == CLI_FINE && o->coordinates == (int)PERP_COORDINATES_AUTO) {
        return cli_complain("explain: --coordinates takes body or joint");
    }
    if (code == CLI_FINE && !of_motion(o) && o->epsilon > 0.0) {
        return cli_complain("explain: --epsilon needs --coordinates joint");
    }
    if (code == CLI_FINE && of_motion(o) && (o->latex || o->loads)) {
        return cli_complain("explain: --coordinates joint and %s cannot be combined",
                            o->latex ? "--latex" : "--loads");
    }
    return code;
}

// Steps to time `at`; stops at a step that fails.
static perp_status walk_to(perp_sim *sim, double at, double h)
{
    double before = floor((at - perp_sim_time(sim)) / h + 1e-6);
    perp_status status = PERP_OK;
    for (double k = 0.0; k < before && status >= 0; k += 1.0) {
        status = perp_sim_step(sim, h);
    }
    return status;
}

static perp_status walk(perp_sim *sim, double at, double h)
{
    perp_status status = walk_to(sim, at, h);
    return status < 0 ? status : perp_sim_step(sim, h);
}

static cli_exit show_motion(const explain_options *o, const perp_scene *scene,
                            const perp_sim_def *def, perp_sim *sim, double h)
{
    if (walk_to(sim, o->at, h) < 0) {
        cli_complain("%s: %s", o->file, perp_sim_error(sim)->text);
        return CLI_UNSOLVED;
    }
    return explain_tree(stdout, perp_scene_name(scene), sim, def, o->epsilon, o->json);
}

static cli_exit show(const explain_options *o, const perp_scene *scene, perp_sim *sim, double h)
{
    perp_status status = walk(sim, o->at, h);
    double t = perp_sim_time(sim) - (status >= 0 ? h : 0.0);
    perp_step_problem *problem = NULL;
    if (status < 0) {
        cli_complain("%s: %s", o->file, perp_sim_error(sim)->text);
    }
    if (o->loads && status >= 0) {
        return explain_loads(stdout, sim, h, o->json)
                   ? CLI_FINE
                   : cli_complain("explain: too many contacts for --loads");
    }
    perp_status posed = perp_sim_problem(sim, (perp_form)((int)PERP_FORM_MCP + o->form), &problem);
    if (posed < 0) {
        return status < 0 ? CLI_UNSOLVED
                          : cli_complain(posed == PERP_ERR_MEMORY
                                             ? "explain: not enough memory"
                                             : "explain: a step of the stepper event is not a "
                                               "single problem; use --coordinates joint, or "
                                               "another --stepper");
    }
    explained e = {perp_scene_name(scene),
                   fabs(t) < 1e-9 * h ? 0.0 : t,
                   h,
                   problem,
                   perp_status_word(status),
                   perp_model_is_spatial(perp_scene_model(scene)),
                   perp_sim_info(sim)};
    if (o->json) {
        explain_json(stdout, &e);
    } else if (o->latex) {
        explain_latex(stdout, &e);
    } else {
        explain_text(stdout, &e);
    }
    perp_step_problem_destroy(problem);
    return status < 0 ? CLI_UNSOLVED : CLI_FINE;
}

cli_exit cli_explain(int count, char **words)
{
    explain_options o;
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_error error = {0};
    if (cli_wants_help("explain", count, words)) {
        return CLI_FINE;
    }
    cli_exit code = read_options(count, words, &o);
    if (code == CLI_FINE) {
        code = cli_scene_open(o.file, &o.reading, &scene);
    }
    if (code != CLI_FINE) {
        return code;
    }
    double h = o.step > 0.0 ? o.step : perp_scene_step(scene);
    perp_sim_def def = perp_scene_sim_def(scene);
    def.solver = o.solver ? o.solver : def.solver;
    def.stepper = o.stepper >= 0 ? (perp_stepper)o.stepper : def.stepper;
    code = cli_keyframe_find(o.file, scene, o.keyframe, &def.keyframe);
    if (code != CLI_FINE) {
        perp_scene_destroy(scene);
        return code;
    }
    if (!(o.at / h < 1e9)) {
        code = cli_complain("explain: too many steps: %g s in steps of %g s", o.at, h);
    } else if (perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error) < 0) {
        code = cli_complain("%s: %s", o.file, error.text);
    } else {
        code = of_motion(&o) ? show_motion(&o, scene, &def, sim, h) : show(&o, scene, sim, h);
    }
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    return code;
}
