// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// One problem from a file, one solver, one result.
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_FACETS = 4 };

// ── From the file to the problem ─────────────────────────────────────────────────────────────────

static void warn(void *user, int level, const char *text)
{
    (void)level;
    fprintf(stderr, "%s: %s\n", cli_plain(user), cli_plain(text));
}

static cli_exit read_file(const char *path, bool quiet, perp_problem **problem)
{
    perp_error error;
    char label[4096];
    snprintf(label, sizeof label, "%s", path);
    perp_env env = {.log = quiet ? NULL : warn, .user = label};
    const char *source = strcmp(path, "-") == 0 ? "/dev/stdin" : path;
    if (perp_problem_read(source, &env, problem, &error) == PERP_OK) {
        return CLI_FINE;
    }
    path = cli_plain(path);
    if (error.line > 0) {
        fprintf(stderr, "%s:%d:%d: %s\n", path, error.line, error.column, error.text);
    } else {
        fprintf(stderr, "%s: %s\n", path, error.text);
    }
    return CLI_INPUT;
}

static cli_exit add_facets(task *t, int facets)
{
    t->faceted = *t->fcp;
    if (facets == 0 || t->fcp->dim == 2) {
        return CLI_FINE;
    }
    t->nd = calloc((size_t)t->fcp->nc + 1, sizeof *t->nd);
    if (!t->nd) {
        return cli_complain("not enough memory");
    }
    for (int c = 0; c < t->fcp->nc; c++) {
        t->nd[c] = facets;
    }
    t->faceted.nd = t->nd;
    t->fcp = &t->faceted;
    return CLI_FINE;
}

// Replaces the contact problem by its equivalent LCP.
static cli_exit pose_lcp(task *t, int facets)
{
    perp_status status =
        perp_pyramid_create(t->fcp, facets ? facets : DEFAULT_FACETS, NULL, &t->pyramid);
    if (status < 0) {
        return cli_complain("%s: cannot pose the problem as an LCP: %s", t->name,
                            perp_status_text(status));
    }
    t->mcp = perp_pyramid_mcp(t->pyramid);
    t->kind = t->fcp->nv > 0 ? "mlcp" : "lcp";
    t->n = t->mcp->n;
    t->fcp = NULL;
    return CLI_FINE;
}

cli_exit task_open(const char *path, const solve_options *options, task *t)
{
    *t = (task){0};
    cli_exit code = read_file(path, options->quiet, &t->problem);
    if (code != CLI_FINE) {
        return code;
    }
    t->name = perp_problem_name(t->problem);
    t->kind = perp_problem_word(t->problem);
    t->mcp = perp_problem_mcp(t->problem);
    t->fcp = perp_problem_fcp(t->problem);
    t->ncp = perp_problem_ncp(t->problem);
    if (t->mcp || t->ncp) {
        t->n = t->mcp ? t->mcp->n : t->ncp->n;
        return CLI_FINE;
    }
    t->contacts = t->fcp->nc;
    t->n = t->fcp->nv + t->fcp->nc * t->fcp->dim;
    code = add_facets(t, options->facets);
    if (code == CLI_FINE && options->as_lcp) {
        code = pose_lcp(t, options->facets);
    }
    if (code != CLI_FINE) {
        task_close(t);
    }
    return code;
}

void task_close(task *t)
{
    perp_pyramid_destroy(t->pyramid);
    perp_problem_destroy(t->problem);
    free(t->nd);
    *t = (task){0};
}

// ── Solving ──────────────────────────────────────────────────────────────────────────────────────

bool task_takes(const task *t, const perp_solver_card *card)
{
    unsigned need;
    if (t->ncp) {
        need = PERP_CLASS_NCP;
    } else if (t->mcp) {
        need = t->mcp->lower || t->mcp->upper ? PERP_CLASS_MCP : PERP_CLASS_LCP;
    } else {
        need = t->fcp->nv > 0 ? PERP_CLASS_FCP_GLOBAL : PERP_CLASS_FCP_LOCAL;
        need |= t->fcp->dim > 3 ? PERP_CLASS_FCP_ROLLING : 0;
        need |= t->fcp->nd ? PERP_CLASS_FCP_PYRAMID : 0;
    }
    return (need & ~card->classes) == 0;
}

result task_run(const task *t, const char *solver, const solve_options *options, double *z)
{
    result r = {.name = t->name,
                .kind = t->kind,
                .contact = t->fcp != NULL,
                .problem = t->problem,
                .n = t->n,
                .contacts = t->contacts,
                .solver = solver,
                .z = z};
    memset(z, 0, (size_t)t->n * sizeof *z);
    perp_comp_options comp = options->comp;
    comp.comparable = t->pyramid != NULL;  // pyramid directions contain rounded zeros
    perp_status status;
    if (t->ncp) {
        status = perp_ncp_solve(solver, t->ncp, &comp, NULL, z, &r.info);
    } else if (t->fcp) {
        status = perp_fcp_solve(solver, t->fcp, &comp, NULL, z + t->fcp->nv, z, &r.info);
    } else {
        status = perp_mcp_solve(solver, t->mcp, &comp, NULL, z, &r.info);
    }
    r.info.error.status = status;
    return r;
}

bool result_solved(const result *r)
{
    return r->info.error.status == PERP_OK;
}
