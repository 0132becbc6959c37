// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// From the draft of a file to the problem that is handed out: what each kind of problem must have.
//
// Linear and mixed problems become one perp_mcp: find z between its bounds with w = A z + b
// complementary. Contact problems become a perp_fcp, local (W, q) or global (M, H, f, w). Which
// vectors a kind needs is decided here and nowhere else, so that all formats agree.
#include "format/format.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Value of perp_env.log's level.
enum { LOG_WARNING = 1 };

// -1: the file does not give the number.
pp_draft pp_draft_start(pp_arena *scratch, const perp_env *env, const char *name, perp_error *error)
{
    pp_draft draft = {.scratch = scratch,
                      .env = env,
                      .error = error,
                      .n = -1,
                      .dim = -1,
                      .contacts = -1,
                      .dofs = -1,
                      .nfree = -1,
                      .ncomp = -1};
    pp_print(draft.name, sizeof draft.name, "%s", name);
    return draft;
}

// Place of the label in the text. For NULL the end of the text: something is missing there.
static const char *find_label(const pp_draft *draft, const char *label)
{
    if (label && draft->json) {
        const char *at = pp_json_locate(draft->text, draft->size, label, NULL, 0);
        return at ? at : draft->text;
    }
    pp_scan scan = pp_scan_start(draft->text, draft->size, NULL);
    while (label && pp_scan_next(&scan)) {
        if (pp_scan_is(&scan, label)) {
            return scan.token;
        }
    }
    return label ? draft->text : draft->text + draft->size;
}

// Messages about binary files have no place.
perp_status pp_draft_fail(pp_draft *draft, const char *label, const char *at, const char *format,
                          ...)
{
    char text[sizeof((perp_error *)NULL)->text];
    va_list list;
    va_start(list, format);
    if (vsnprintf(text, sizeof text, format, list) < 0) {
        text[0] = '\0';
    }
    va_end(list);
    if (!at && draft->text) {
        at = find_label(draft, label);
    }
    if (at) {
        pp_scan scan = pp_scan_start(draft->text, draft->size, draft->error);
        return pp_scan_fail(&scan, at, "%s", text);
    }
    return pp_fail(draft->error, PERP_ERR_FORMAT, "%s", text);
}

perp_status pp_draft_memory(pp_draft *draft)
{
    return pp_fail(draft->error, PERP_ERR_MEMORY, "not enough memory for this problem");
}

// ── Parts ────────────────────────────────────────────────────────────────────────────────────────

// Names of vectors and matrices in text formats and in JSON, for messages.
static const char *const vector_names[PP_VECTOR_COUNT][2] = {
    [PP_VECTOR_Q] = {"q", "b' or 'q"},
    [PP_VECTOR_LOWER] = {"lb", "lower"},
    [PP_VECTOR_UPPER] = {"ub", "upper"},
    [PP_VECTOR_COMP] = {"rowiscomp", "lower"},
    [PP_VECTOR_MU] = {"mu", "mu"},
    [PP_VECTOR_MU_SPIN] = {"mu_s", "mu_spin"},
    [PP_VECTOR_MU_ROLL] = {"mu_r", "mu_roll"},
    [PP_VECTOR_ND] = {"nd", "nd"},
    [PP_VECTOR_F] = {"f", "f"},
    [PP_VECTOR_W] = {"w", "w"},
};
static const char *const matrix_names[PP_MATRIX_COUNT][2] = {
    [PP_MATRIX_M] = {"M", "A' or 'M"}, [PP_MATRIX_W] = {"W", "W"}, [PP_MATRIX_H] = {"H", "H"}};

static perp_status missing(pp_draft *draft, const char *noun, const char *name)
{
    return pp_draft_fail(draft, NULL, NULL, "a problem of kind '%s' needs the %s '%s'", draft->kind,
                         noun, name);
}

// Copies a vector of n entries into the problem, after checking its length and that its entries are
// finite; bounds may be infinite.
static perp_status copy_vector(pp_draft *draft, pp_slot slot, int n, perp_problem *problem,
                               const double **out)
{
    const pp_vector *v = &draft->vector[slot];
    if (!v->label) {
        return missing(draft, "vector", vector_names[slot][draft->json]);
    }
    if (v->n != n) {
        return pp_draft_fail(draft, v->label, v->at,
                             "vector '%s': %d entries, but this problem has "
                             "%d",
                             v->label, v->n, n);
    }
    // Readers check numbers by their own means; this check holds for all of them.
    bool infinite = slot == PP_VECTOR_LOWER || slot == PP_VECTOR_UPPER;
    for (int k = 0; k < n; k++) {
        if (isnan(v->x[k]) || (isinf(v->x[k]) && !infinite)) {
            return pp_draft_fail(draft, v->label, v->at,
                                 "vector '%s': entry %d is not a finite number", v->label, k);
        }
    }
    double *x = PP_ARRAY(problem->arena, double, n);
    if (!x) {
        return pp_draft_memory(draft);
    }
    if (n > 0) {
        memcpy(x, v->x, (size_t)n * sizeof *x);
    }
    *out = x;
    return PERP_OK;
}

// Copies one coefficient per contact, none negative.
static perp_status take_mu(pp_draft *draft, pp_slot slot, perp_problem *problem, const double **out)
{
    int nc = draft->contacts;
    perp_status status = copy_vector(draft, slot, nc, problem, out);
    if (status != PERP_OK) {
        return status;
    }
    for (int c = 0; c < nc; c++) {
        if ((*out)[c] < 0.0) {
            const pp_vector *v = &draft->vector[slot];
            return pp_draft_fail(
                draft, v->label, v->at,
                "vector '%s': contact %d has %g: coefficients must not be negative", v->label, c,
                (*out)[c]);
        }
    }
    return PERP_OK;
}

// The size follows from the vectors or from another matrix, so that a mismatch is an error here.
static perp_status take_matrix(pp_draft *draft, pp_matrix_slot slot, int rows, int cols,
                               perp_problem *problem, perp_matrix *out)
{
    const pp_raw_matrix *raw = &draft->matrix[slot];
    if (!raw->label) {
        return missing(draft, "matrix", matrix_names[slot][draft->json]);
    }
    if (raw->rows != rows || raw->cols != cols) {
        return pp_draft_fail(draft, raw->label, raw->at,
                             "matrix '%s': %d x %d, but this problem needs %d x %d", raw->label,
                             raw->rows, raw->cols, rows, cols);
    }
    return pp_raw_build(draft, raw, problem->arena, out);
}

// ── Mixed complementarity problems ───────────────────────────────────────────────────────────────

// Every interval must hold a number. Bounds that are left out are 0 and infinity, those of an LCP.
static perp_status check_bounds(pp_draft *draft, const perp_mcp *mcp)
{
    for (int i = 0; i < mcp->n; i++) {
        double low = mcp->lower ? mcp->lower[i] : 0.0;
        double high = mcp->upper ? mcp->upper[i] : PP_INF;
        if (!(low <= high) || low == PP_INF || high == -PP_INF) {
            pp_slot slot = mcp->lower ? PP_VECTOR_LOWER : PP_VECTOR_UPPER;
            const pp_vector *v = &draft->vector[slot];
            return pp_draft_fail(draft, v->label, v->at,
                                 "bounds of variable %d: %g..%g contains no number", i, low, high);
        }
    }
    return PERP_OK;
}

// Either bound may be left out.
static perp_status take_bounds(pp_draft *draft, perp_problem *problem)
{
    perp_mcp *mcp = &problem->mcp;
    perp_status status = PERP_OK;
    if (draft->vector[PP_VECTOR_LOWER].label) {
        status = copy_vector(draft, PP_VECTOR_LOWER, mcp->n, problem, &mcp->lower);
    }
    if (status == PERP_OK && draft->vector[PP_VECTOR_UPPER].label) {
        status = copy_vector(draft, PP_VECTOR_UPPER, mcp->n, problem, &mcp->upper);
    }
    if (status != PERP_OK) {
        return status;
    }
    return check_bounds(draft, mcp);
}

// Flags of an MLCP: a row with flag 0 is an equation with a free variable, one with flag 1 a
// complementarity row. Both become bounds of z.
static perp_status take_flags(pp_draft *draft, perp_problem *problem)
{
    perp_mcp *mcp = &problem->mcp;
    const pp_vector *v = &draft->vector[PP_VECTOR_COMP];
    double *lower = PP_ARRAY(problem->arena, double, mcp->n);
    if (!lower) {
        return pp_draft_memory(draft);
    }
    int comp = 0;
    for (int i = 0; i < mcp->n; i++) {
        if (v->x[i] != 0.0 && v->x[i] != 1.0) {
            return pp_draft_fail(draft, v->label, v->at,
                                 "vector '%s': entry %d is %g: write 0 for an "
                                 "equation or 1 for a complementarity row",
                                 v->label, i, v->x[i]);
        }
        comp += v->x[i] != 0.0;
        lower[i] = v->x[i] != 0.0 ? 0.0 : -PP_INF;
    }
    mcp->lower = lower;
    // nfree and ncomp are redundant; files that contradict themselves are refused.
    if ((draft->ncomp >= 0 && draft->ncomp != comp) ||
        (draft->nfree >= 0 && draft->nfree != mcp->n - comp)) {
        return pp_draft_fail(draft, v->label, v->at,
                             "vector '%s': %d equations and %d complementarity "
                             "rows, but nfree is %d and ncomp is %d",
                             v->label, mcp->n - comp, comp, draft->nfree, draft->ncomp);
    }
    return PERP_OK;
}

// An MLCP file may have more rows than flags. A row without a flag asks nothing of the
// solution: it is left out, and a warning goes to the log.
static void drop_unnamed_rows(pp_draft *draft)
{
    pp_raw_matrix *raw = &draft->matrix[PP_MATRIX_M];
    pp_vector *q = &draft->vector[PP_VECTOR_Q];
    int n = draft->vector[PP_VECTOR_COMP].n;
    if (raw->cols != n || raw->rows <= n || q->n != raw->rows) {
        return;
    }
    // Columns of the dense matrix move together: n of its rows remain.
    if (raw->dense) {
        for (int j = 1; j < n; j++) {
            memmove(raw->dense + (size_t)j * (size_t)n, raw->dense + (size_t)j * (size_t)raw->rows,
                    (size_t)n * sizeof *raw->dense);
        }
    }
    int kept = 0;
    for (int k = 0; k < raw->nnz; k++) {
        if (raw->i[k] < n) {
            raw->i[kept] = raw->i[k];
            raw->j[kept] = raw->j[k];
            raw->x[kept++] = raw->x[k];
        }
    }
    if (draft->env && draft->env->log) {
        char text[160];
        pp_print(text, sizeof text,
                 "matrix '%s' has %d rows, of which %d are declared as equations or "
                 "complementarity rows: the others are ignored",
                 raw->label, raw->rows, n);
        draft->env->log(draft->env->user, LOG_WARNING, text);
    }
    raw->nnz = kept;
    raw->rows = n;
    q->n = n;
}

// LCP, MLCP, box LCP and relay problems.
static perp_status finish_mcp(pp_draft *draft, perp_problem *problem)
{
    const pp_raw_matrix *raw = &draft->matrix[PP_MATRIX_M];
    perp_mcp *mcp = &problem->mcp;
    problem->kind = PERP_PROBLEM_MCP;
    bool flags = draft->vector[PP_VECTOR_COMP].label != NULL;
    bool bounds = draft->vector[PP_VECTOR_LOWER].label || draft->vector[PP_VECTOR_UPPER].label;
    if (!raw->label) {
        return missing(draft, "matrix", matrix_names[PP_MATRIX_M][draft->json]);
    }
    if (flags) {
        drop_unnamed_rows(draft);
    }
    // The matrix gives the size; everything else must agree with it.
    mcp->n = raw->cols;
    if (mcp->n == 0) {
        return pp_draft_fail(draft, raw->label, raw->at,
                             "matrix '%s': 0 x 0: there is nothing to "
                             "solve",
                             raw->label);
    }
    perp_status status = take_matrix(draft, PP_MATRIX_M, mcp->n, mcp->n, problem, &mcp->A);
    if (status == PERP_OK) {
        status = copy_vector(draft, PP_VECTOR_Q, mcp->n, problem, &mcp->b);
    }
    if (status != PERP_OK) {
        return status;
    }
    // Bounds in an LCP would change its meaning without notice.
    if (strcmp(draft->kind, "lcp") == 0) {
        if (flags || bounds) {
            const pp_vector *v = &draft->vector[flags ? PP_VECTOR_COMP : PP_VECTOR_LOWER];
            return pp_draft_fail(draft, v->label, v->at,
                                 "a problem of kind 'lcp' has no bounds: leave them "
                                 "out, or use kind 'boxlcp'");
        }
        return PERP_OK;
    }
    if (!flags && !bounds) {
        pp_slot slot = strcmp(draft->kind, "mlcp") == 0 ? PP_VECTOR_COMP : PP_VECTOR_LOWER;
        return missing(draft, "vector", vector_names[slot][draft->json]);
    }
    if (!flags) {
        return take_bounds(draft, problem);
    }
    // Checks the flags; their copy is not needed.
    const double *unused;
    status = copy_vector(draft, PP_VECTOR_COMP, mcp->n, problem, &unused);
    if (status != PERP_OK) {
        return status;
    }
    return take_flags(draft, problem);
}

// ── Frictional contact ───────────────────────────────────────────────────────────────────────────

// Facets of the friction pyramid, per contact; 0 stands for the disc. They are left out for discs
// throughout.
static perp_status take_nd(pp_draft *draft, perp_problem *problem)
{
    const pp_vector *v = &draft->vector[PP_VECTOR_ND];
    if (!v->label) {
        return PERP_OK;
    }
    const double *value;
    perp_status status = copy_vector(draft, PP_VECTOR_ND, draft->contacts, problem, &value);
    int *nd = status == PERP_OK ? PP_ARRAY(problem->arena, int, v->n) : NULL;
    if (!nd) {
        if (status != PERP_OK) {
            return status;
        }
        return pp_draft_memory(draft);
    }
    // A polygon has at least three corners.
    for (int c = 0; c < v->n; c++) {
        if (!(value[c] == 0.0 || (value[c] >= 3.0 && value[c] <= 1e6)) ||
            value[c] != floor(value[c])) {
            return pp_draft_fail(
                draft, v->label, v->at,
                "vector '%s': contact %d has %g facets: write 0 for the disc, or 3 or more",
                v->label, c, value[c]);
        }
        nd[c] = (int)value[c];
    }
    problem->fcp.nd = nd;
    return PERP_OK;
}

// Components of a contact: 2 or 3 of force, 4 with torsion, 5 with rolling, 6 with both.
static perp_status take_coefficients(pp_draft *draft, perp_problem *problem)
{
    perp_fcp *fcp = &problem->fcp;
    perp_status status = take_mu(draft, PP_VECTOR_MU, problem, &fcp->mu);
    if (status == PERP_OK && (fcp->dim == 4 || fcp->dim == 6)) {
        status = take_mu(draft, PP_VECTOR_MU_SPIN, problem, &fcp->mu_spin);
    }
    if (status == PERP_OK && fcp->dim >= 5) {
        status = take_mu(draft, PP_VECTOR_MU_ROLL, problem, &fcp->mu_roll);
    }
    if (status != PERP_OK) {
        return status;
    }
    return take_nd(draft, problem);
}

// The number of contacts may be left out: mu has one entry for each.
static perp_status check_contacts(pp_draft *draft)
{
    if (draft->dim < 2 || draft->dim > 6) {
        return pp_draft_fail(draft, "dim", NULL, "dim is %d: a contact has 2 to 6 components",
                             draft->dim);
    }
    if (draft->contacts < 0 && draft->vector[PP_VECTOR_MU].label) {
        draft->contacts = draft->vector[PP_VECTOR_MU].n;
    }
    if (draft->contacts < 0) {
        return missing(draft, "vector", "mu");
    }
    if (draft->contacts > INT_MAX / draft->dim) {
        return pp_draft_fail(draft, "contacts", NULL,
                             "too many contacts: %d with %d components each", draft->contacts,
                             draft->dim);
    }
    return PERP_OK;
}

// Local form, u = W r + q with the Delassus matrix W.                                  theory (C3)
static perp_status finish_local(pp_draft *draft, perp_problem *problem)
{
    perp_fcp *fcp = &problem->fcp;
    int n = fcp->nc * fcp->dim;
    if (n == 0) {
        return pp_draft_fail(draft, "contacts", NULL, "no contacts: there is nothing to solve");
    }
    perp_status status = take_matrix(draft, PP_MATRIX_W, n, n, problem, &fcp->W);
    if (status != PERP_OK) {
        return status;
    }
    return copy_vector(draft, PP_VECTOR_Q, n, problem, &fcp->q);
}

// Global form, M v = f + H r and u = H^T v + w with nv velocities.                     theory (C4)
static perp_status finish_global(pp_draft *draft, perp_problem *problem)
{
    perp_fcp *fcp = &problem->fcp;
    const pp_raw_matrix *M = &draft->matrix[PP_MATRIX_M];
    int n = fcp->nc * fcp->dim;
    if (!M->label) {
        return missing(draft, "matrix", "M");
    }
    fcp->nv = M->cols;
    if (fcp->nv == 0 || (draft->dofs >= 0 && draft->dofs != fcp->nv)) {
        return pp_draft_fail(draft, M->label, M->at, "matrix '%s': %d x %d, but dofs is %d",
                             M->label, M->rows, M->cols, draft->dofs >= 0 ? draft->dofs : fcp->nv);
    }
    perp_status status = take_matrix(draft, PP_MATRIX_M, fcp->nv, fcp->nv, problem, &fcp->M);
    if (status == PERP_OK) {
        status = take_matrix(draft, PP_MATRIX_H, fcp->nv, n, problem, &fcp->H);
    }
    if (status == PERP_OK) {
        status = copy_vector(draft, PP_VECTOR_F, fcp->nv, problem, &fcp->f);
    }
    if (status != PERP_OK) {
        return status;
    }
    return copy_vector(draft, PP_VECTOR_W, n, problem, &fcp->w);
}

static perp_status finish_fcp(pp_draft *draft, perp_problem *problem, bool global)
{
    problem->kind = PERP_PROBLEM_FCP;
    perp_status status = check_contacts(draft);
    if (status != PERP_OK) {
        return status;
    }
    problem->fcp.nc = draft->contacts;
    problem->fcp.dim = draft->dim;
    // Torsion and rolling make a problem a rolling one, whatever the file calls it.
    if (draft->dim > 3) {
        problem->word = global ? "grfc" : "rfc";
    }
    status = global ? finish_global(draft, problem) : finish_local(draft, problem);
    if (status != PERP_OK) {
        return status;
    }
    return take_coefficients(draft, problem);
}

// ── The door ─────────────────────────────────────────────────────────────────────────────────────

// Kinds as files write them. `plain` is the kind without rolling, which the dimension decides.
static const struct {
    const char *word, *plain;
    bool contact, global;
} kinds[] = {
    {"lcp", "lcp", false, false},       {"mlcp", "mlcp", false, false},
    {"boxlcp", "boxlcp", false, false}, {"relay", "relay", false, false},
    {"fc", "fc", true, false},          {"gfc", "gfc", true, true},
    {"rfc", "fc", true, false},         {"grfc", "gfc", true, true},
};

enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

// The word need not be terminated.
const char *pp_draft_kind(const char *word, size_t length)
{
    for (int k = 0; k < KIND_COUNT; k++) {
        if (strlen(kinds[k].word) == length && memcmp(kinds[k].word, word, length) == 0) {
            return kinds[k].word;
        }
    }
    return NULL;
}

static perp_status finish_kind(pp_draft *draft, perp_problem *problem)
{
    // Kinds are compared by name: draft->kind is one of this table's words, or NULL.
    int k = 0;
    while (draft->kind && k < KIND_COUNT && strcmp(draft->kind, kinds[k].word) != 0) {
        k++;
    }
    if (!draft->kind || k == KIND_COUNT) {
        return pp_draft_fail(draft, NULL, NULL, "the kind is missing: write %s",
                             draft->json ? PP_JSON_KINDS : PP_KINDS);
    }
    problem->word = kinds[k].plain;
    perp_status status =
        kinds[k].contact ? finish_fcp(draft, problem, kinds[k].global) : finish_mcp(draft, problem);
    // n is redundant; it must be right where it is given.
    if (status != PERP_OK || draft->n < 0) {
        return status;
    }
    const perp_fcp *fcp = &problem->fcp;
    int64_t n = kinds[k].contact ? (int64_t)fcp->nv + (int64_t)fcp->nc * fcp->dim : problem->mcp.n;
    if (draft->n != n) {
        return pp_draft_fail(draft, "n", NULL, "n is %d, but the problem has %lld unknowns",
                             draft->n, (long long)n);
    }
    return status;
}

perp_problem *pp_draft_problem(pp_draft *draft)
{
    pp_arena *arena = pp_arena_create(draft->env);
    perp_problem *problem = arena ? PP_ZEROS(arena, perp_problem, 1) : NULL;
    size_t length = strlen(draft->name) + 1;
    char *name = problem ? PP_ARRAY(arena, char, length) : NULL;
    if (!name) {
        pp_arena_destroy(arena);
        return NULL;
    }
    memcpy(name, draft->name, length);
    problem->arena = arena;
    problem->name = name;
    return problem;
}

// On failure *out is not touched and nothing remains allocated but the scratch arena.
perp_status pp_draft_finish(pp_draft *draft, perp_problem **out)
{
    if (draft->made) {
        *out = draft->made;
        return PERP_OK;
    }
    perp_problem *problem = pp_draft_problem(draft);
    if (!problem) {
        return pp_draft_memory(draft);
    }
    perp_status status = finish_kind(draft, problem);
    if (status != PERP_OK) {
        pp_arena_destroy(problem->arena);
        return status;
    }
    *out = problem;
    return PERP_OK;
}
