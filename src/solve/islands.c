// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A step's problem island by island.
//
// Each island is a model of its own, bodies and rows numbered anew, and goes through all of pp_solve_whole: small
// islands get the solvers for small problems, and one that is hard does not take the others along (64 heaps of cubes:
// worst step 32 s as one problem, 0.08 s by islands, docs/performance.md). Threads take islands from a counter. The
// answer of an island depends on the island alone, so that it has the same bits for any number of threads.
#include "solve/islands.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { THREADED_FROM = 48 };  // rows from which threads are worth waking

// ── What is kept from step to step ───────────────────────────────────────────────────────────────

// Memory of one thread.
typedef struct island_worker {
    pp_arena *arena;
    perp_workspace *work;
} island_worker;

// Factorisations of one island, kept while it exists: their symbolic part serves while the pattern
// stays.
typedef struct island_factors {
    pp_ldl *joints, *contacts;
    bool used;  // in the last step
} island_factors;

// An island that may rest, by its first body.
typedef struct island_rest {
    pp_known *known;  // NULL: nothing is kept
    pp_answer told;   // of its last answer what is not in arrays, without effort
    int told_of;      // bodies that it had then
    int turn;         // and that of pp_islands
    bool used;        // in the last step
} island_rest;

struct pp_islands {
    pp_team team;
    int bodies;
    island_worker *lane;
    island_factors *factor;  // bodies: of the island whose first body it is
    int *kept, count;        // bodies that have factors
    island_rest *rest;       // bodies: of the island whose first body it is
    bool forgets;            // no answer is kept
    int known;               // islands that had one, in the last solve
    int turn;  // counts what makes answers of islands old: other steps, and answers of the whole
};

pp_islands *pp_islands_create(const perp_env *env, int bodies, int threads)
{
    pp_islands *s = pp_alloc(env, sizeof *s);
    if (!s) {
        return NULL;
    }
    *s = (pp_islands){.team = {env ? *env : (perp_env){0}, threads > 1 ? threads : 1},
                      .bodies = bodies};
    // one lane a thread; factors by the first body of an island, of which there can be one for each
    // body
    s->lane = pp_alloc(env, (size_t)s->team.lanes * sizeof *s->lane);
    s->factor = pp_alloc(env, (size_t)bodies * sizeof *s->factor);
    s->kept = pp_alloc(env, (size_t)bodies * sizeof *s->kept);
    s->rest = pp_alloc(env, (size_t)bodies * sizeof *s->rest);
    bool ok = s->lane && s->factor && s->kept && s->rest;
    if (s->factor) {
        for (int i = 0; i < bodies; i++) {
            s->factor[i] = (island_factors){0};
        }
    }
    if (s->rest) {
        for (int i = 0; i < bodies; i++) {
            s->rest[i] = (island_rest){0};
        }
    }
    // Every lane is set, also where memory has run out: pp_islands_destroy frees all of them.
    if (s->lane) {
        for (int i = 0; i < s->team.lanes; i++) {
            s->lane[i] = (island_worker){pp_arena_create(env), perp_workspace_create(env)};
            ok = ok && s->lane[i].arena && s->lane[i].work;
        }
    }
    if (!ok) {
        pp_islands_destroy(s);
        return NULL;
    }
    return s;
}

static void free_factors(island_factors *f)
{
    pp_ldl_destroy(f->joints);
    pp_ldl_destroy(f->contacts);
    *f = (island_factors){0};
}

void pp_islands_destroy(pp_islands *s)
{
    if (!s) {
        return;
    }
    perp_env env = s->team.env;
    for (int i = 0; i < s->count; i++) {
        free_factors(&s->factor[s->kept[i]]);
    }
    if (s->lane) {
        for (int i = 0; i < s->team.lanes; i++) {
            pp_arena_destroy(s->lane[i].arena);
            perp_workspace_destroy(s->lane[i].work);
        }
    }
    pp_free(&env, s->lane, (size_t)s->team.lanes * sizeof *s->lane);
    pp_free(&env, s->factor, (size_t)s->bodies * sizeof *s->factor);
    pp_free(&env, s->kept, (size_t)s->bodies * sizeof *s->kept);
    if (s->rest) {
        for (int i = 0; i < s->bodies; i++) {
            pp_known_free(s->rest[i].known, &env);
        }
    }
    pp_free(&env, s->rest, (size_t)s->bodies * sizeof *s->rest);
    pp_free(&env, s, sizeof *s);
}

void pp_islands_turn(pp_islands *s)
{
    if (s) {
        s->turn++;
    }
}

void pp_islands_forget(pp_islands *s, bool remember)
{
    if (!s) {
        return;
    }
    for (int i = 0; i < s->bodies; i++) {
        pp_known_forget(s->rest[i].known);
    }
    s->forgets = !remember;
}

// Factors for the islands of this step; those of islands that are gone are freed. An island is
// recognised by its first body. Small islands are dense and need none. Called before threads start:
// they find what they need.
static perp_status keep_factors(pp_islands *s, const pp_island_partition *parts, int threads)
{
    const pp_team alone = {.lanes = 1}, *team = threads > 1 ? &s->team : &alone;
    enum { FEW_BODIES = 2, FEW_ROWS = 8 };
    int old = s->count;
    for (int i = 0; i < parts->count; i++) {
        int bodies = parts->body.start[i + 1] - parts->body.start[i];
        bool joints = parts->b.start[i + 1] - parts->b.start[i] > FEW_ROWS;
        int first = parts->body.list[parts->body.start[i]];
        island_factors *f = &s->factor[first];
        if (bodies <= FEW_BODIES && !joints) {
            continue;
        }
        // listed at once, so that pp_islands_destroy finds it whatever fails below
        if (!f->joints && !f->contacts) {
            s->kept[s->count++] = first;
        }
        f->used = true;
        f->joints = f->joints || !joints ? f->joints : pp_ldl_create(&s->team.env);
        f->contacts = f->contacts ? f->contacts : pp_ldl_create(&s->team.env);
        if (!f->contacts || (joints && !f->joints)) {
            s->count -= !f->contacts && !f->joints;
            return PERP_ERR_MEMORY;
        }
        pp_ldl_share(f->joints, team);
        pp_ldl_share(f->contacts, team);
    }
    // the list is compacted: islands of earlier steps that this one does not have are dropped
    int left = 0;
    for (int k = 0; k < s->count; k++) {
        island_factors *f = &s->factor[s->kept[k]];
        if (k < old && !f->used) {
            free_factors(f);
            continue;
        }
        f->used = false;
        s->kept[left++] = s->kept[k];
    }
    s->count = left;
    return PERP_OK;
}

int pp_islands_known(const pp_islands *s)
{
    return s ? s->known : 0;
}

// ── All islands ──────────────────────────────────────────────────────────────────────────────────

// What all threads see. Each writes to the places of the islands that it took.
typedef struct crew {
    pp_undivided whole;
    pp_islands *kept;
    pp_impact *impact;  // NULL: one phase
    pp_answer *told;    // islands: their answers, of which the arrays are gone
    perp_status *status;
    int threads;      // within an island
    bool *ended;      // islands: solved, or failed for a reason of their own
    bool *known;      // islands: have the answer of the step before
    double allowed;   // factorisations for each of the others; 0: no limit
    bool again;       // the work was shared out more than once
    perp_form form;   // of the islands whose friction it changes, PERP_FORM_AUTO: of none
    atomic_int next;  // island that no lane has taken yet
} crew;

// Whether the answer of an island stays as it was before the solve.
static bool stays(const crew *c, int island)
{
    const pp_undivided *w = &c->whole;
    const pp_by_island *body = &w->parts->body;
    const island_rest *rest = &c->kept->rest[body->list[body->start[island]]];
    // what is not in arrays is known of an island that had these bodies when it was last solved
    bool told = rest->turn == c->kept->turn &&
                rest->told_of == body->start[island + 1] - body->start[island];
    if (!w->inputs->stays || w->nu_c || !told) {
        return false;
    }
    for (int k = body->start[island]; k < body->start[island + 1]; k++) {
        if (!w->inputs->stays[body->list[k]]) {
            return false;
        }
    }
    return true;
}

// That answer, in its place.
static void put_staying(const pp_undivided *w, int island)
{
    const pp_island_partition *parts = w->parts;
    const pp_solve_inputs *in = w->inputs;
    const pp_rows *rows = in->rows;
    const double *pt = in->warm + rows->nn, *pm = pt + rows->nt;
    // every row and body belongs to one island: threads write to different places
    for (int k = parts->body.start[island]; k < parts->body.start[island + 1]; k++) {
        const pp_body *body = &in->model->body[parts->body.list[k]];
        memcpy(w->out->nu + body->at, in->nu_stays + body->at,
               (size_t)body->nv * sizeof *w->out->nu);
    }
    for (int k = parts->b.start[island]; k < parts->b.start[island + 1]; k++) {
        w->out->pb[parts->b.list[k]] = in->pb_stays[parts->b.list[k]];
    }
    for (int k = parts->m.start[island]; k < parts->m.start[island + 1]; k++) {
        w->out->pm[parts->m.list[k]] = pm[parts->m.list[k]];
    }
    for (int k = parts->n.start[island]; k < parts->n.start[island + 1]; k++) {
        w->out->pn[parts->n.list[k]] = in->warm[parts->n.list[k]];
    }
    for (int k = parts->group.start[island]; k < parts->group.start[island + 1]; k++) {
        const pp_friction *group = &rows->group[parts->group.list[k]];
        memcpy(w->out->pt + group->t, pt + group->t, (size_t)group->size * sizeof *pt);
    }
}

// One island by one thread, in the thread's own memory, which is released at the end: only what
// pp_island_problem_put copies, and the scalars of the answer, survive.
static void solve_island(crew *c, int island, const island_worker *mine)
{
    const pp_undivided *w = &c->whole;
    int first = w->parts->body.list[w->parts->body.start[island]];
    const island_factors *f = &c->kept->factor[first];
    const pp_known *known = c->kept->rest[first].known;
    if (stays(c, island)) {
        put_staying(w, island);
        c->told[island] = c->kept->rest[first].told;
        c->status[island] = PERP_OK;
        return;
    }
    if (!w->options->again && pp_known_fits(known, w, island, c->allowed)) {
        pp_known_put(known, w, island, &c->told[island]);
        c->status[island] = PERP_OK;
        c->known[island] = true;
        return;
    }
    pp_mark mark = pp_arena_mark(mine->arena);
    pp_solve_options options = *w->options;
    pp_solve_cache cache = *w->cache;
    pp_answer *answer = &c->told[island];
    pp_island_problem part;
    *answer = (pp_answer){0};
    c->status[island] = PERP_ERR_MEMORY;
    if (pp_island_problem_copy(&part, w, island, mine->arena)) {
        // names for remarks come from the whole model; the rest is the island's own
        pp_solve_inputs inputs = {.model = &part.model,
                                  .kin = &part.kin,
                                  .rows = &part.rows,
                                  .nu = part.nu,
                                  .warm = part.warm,
                                  .fresh = w->inputs->fresh,
                                  .gaps = w->inputs->gaps,
                                  .whole = w->inputs->model};
        cache.work = mine->work;
        cache.ldl_joints = f->joints;
        cache.ldl_contacts = f->contacts;
        cache.threads = c->threads;
        cache.team = w->team;
        options.max_work = c->allowed;
        c->status[island] = pp_solve_whole(answer, &inputs, &options, &cache, mine->arena);
    }
    if (c->status[island] >= 0) {
        pp_island_problem_put(&part, w, answer);
    }
    pp_arena_release(mine->arena, mark);
}

// The loop of one thread: the next island that nobody has taken. Which thread takes which does not
// matter.
static void solve_island_job(void *arg, int k)
{
    crew *c = arg;
    const island_worker *mine = &c->kept->lane[k];
    pp_arena_reset(mine->arena);
    for (;;) {
        int island = atomic_fetch_add_explicit(&c->next, 1, memory_order_relaxed);
        if (island >= c->whole.parts->count) {
            return;
        }
        if (!c->ended[island]) {
            solve_island(c, island, mine);
        }
    }
}

// Bodies that no row touches: M nu = M nu_l + p_ext.
static void move_loose(const pp_undivided *w)
{
    for (int i = 0; i < w->inputs->model->bodies; i++) {
        const pp_body *body = &w->inputs->model->body[i];
        double *nu = w->out->nu + body->at;
        if (w->parts->of[i] >= 0 || body->nv == 0) {
            continue;
        }
        pp_body_mul(body, &w->inputs->kin->mass[i], w->inputs->nu + body->at, nu);
        pp_axpy(body->nv, 1.0, w->inputs->kin->loads.p_ext + body->at, nu);
        pp_body_solve(body, &w->inputs->kin->mass[i], nu, nu);
        if (w->nu_c) {
            memcpy(w->nu_c + body->at, nu, (size_t)body->nv * sizeof *nu);
        }
    }
}

// The answer of the whole and the arrays of the crew.
static perp_status allocate_crew(crew *c, pp_arena *arena)
{
    pp_undivided *w = &c->whole;
    int islands = w->parts->count;
    size_t nv = (size_t)w->inputs->model->nv, nn = (size_t)w->inputs->rows->nn,
           nt = (size_t)w->inputs->rows->nt;
    w->local = PP_ARRAY(arena, int, w->inputs->model->bodies);
    w->follows = PP_ZEROS(arena, bool, w->inputs->rows->nb);
    c->told = PP_ARRAY(arena, pp_answer, islands);
    c->status = PP_ARRAY(arena, perp_status, islands);
    c->ended = PP_ZEROS(arena, bool, islands);
    c->known = PP_ZEROS(arena, bool, islands);
    perp_status status = pp_answer_create(w->out, w->inputs->model, w->inputs->rows, arena);
    if (status < 0 || !w->local || !w->follows || !c->told || !c->status || !c->ended ||
        !c->known) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < islands; i++) {
        for (int k = w->parts->body.start[i]; k < w->parts->body.start[i + 1]; k++) {
            w->local[w->parts->body.list[k]] = k - w->parts->body.start[i];
        }
    }
    // one block: nu, p_n, p_t at the end of compression, and the impulses given back
    if (w->options->impact == PERP_IMPACT_POISSON) {
        c->impact = PP_ARRAY(arena, pp_impact, 1);
        w->nu_c = PP_ARRAY(arena, double, nv + 2 * nn + nt);
        if (!c->impact || !w->nu_c) {
            return PERP_ERR_MEMORY;
        }
        w->pn_c = w->nu_c + nv;
        w->pt_c = w->pn_c + nn;
        w->back = w->pt_c + nt;
        *c->impact = (pp_impact){w->nu_c, w->pn_c, w->pt_c, w->back};
    }
    return PERP_OK;
}

// Whether the form makes a difference to an island's friction: polygons stand for discs in MCP and
// LCP.
static bool has_discs(const pp_undivided *w, int island)
{
    for (int k = w->parts->group.start[island]; k < w->parts->group.start[island + 1]; k++) {
        const pp_friction *group = &w->inputs->rows->group[w->parts->group.list[k]];
        if (group->size == 2 && group->facets == 0) {
            return true;
        }
    }
    return false;
}

// The one form of the whole answer, by which it is certified. False: some islands needed polygons
// in place of discs and others did not.
static bool find_form(crew *c)
{
    c->form = PERP_FORM_AUTO;
    for (int i = 0; i < c->whole.parts->count; i++) {
        perp_form form = c->told[i].form;
        if (c->status[i] < 0 || form == c->form || !has_discs(&c->whole, i)) {
            continue;
        }
        if (c->form != PERP_FORM_AUTO && (form == PERP_FORM_CONE) != (c->form == PERP_FORM_CONE)) {
            return false;
        }
        c->form = form;
    }
    return true;
}

// The island whose solver and iterations are reported for the step: more solvers, then more
// iterations, then larger.
static bool took_longer(const pp_answer *a, const pp_answer *b)
{
    if (a->effort.solvers != b->effort.solvers) {
        return a->effort.solvers > b->effort.solvers;
    }
    return a->iterations != b->iterations ? a->iterations > b->iterations : a->size > b->size;
}

// Failures before remarks before success; of two alike the first.
static perp_status worse_status(perp_status a, perp_status b)
{
    if (a < 0 || b == PERP_OK) {
        return a;
    }
    return b < 0 || a == PERP_OK ? b : a;
}

static void add_island_effort(perp_effort *sum, const perp_effort *e)
{
    sum->factorisations += e->factorisations;
    sum->work += e->work;
    sum->fill = fmax(sum->fill, e->fill);
    sum->flops = fmax(sum->flops, e->flops);
    sum->seconds_joints += e->seconds_joints;
    sum->seconds_modes += e->seconds_modes;
    sum->seconds_sweeps += e->seconds_sweeps;
    sum->seconds_exact += e->seconds_exact;
    sum->seconds_judge += e->seconds_judge;
    sum->seconds_spread += e->seconds_spread;
    sum->seconds_factor += e->seconds_factor;
}

// Efforts add up; iterations, solver and form are those of the island that took most. Of failures
// the first in the order of islands is reported.
static perp_status combine_answers(const crew *c)
{
    pp_answer *out = c->whole.out;
    const pp_answer *most = &c->told[0];
    perp_status status = PERP_OK;
    bool told = false, impact = false;
    out->motion = out->impulses = PERP_UNIQUENESS_PROVED;
    for (int i = 0; i < c->whole.parts->count; i++) {
        const pp_answer *a = &c->told[i];
        bool worst = worse_status(status, c->status[i]) != status;
        status = worse_status(status, c->status[i]);
        if (pp_is_final(status)) {
            return status;
        }
        if (a->remark[0] && (worst || !told)) {
            memcpy(out->remark, a->remark, sizeof out->remark);
            told = true;
        }
        most = took_longer(a, most) ? a : most;
        impact = impact || a->impact;
        out->size += a->size;
        out->redundant += a->redundant;
        out->motion = pp_uniqueness_of_both(out->motion, a->motion);
        out->impulses = pp_uniqueness_of_both(out->impulses, a->impulses);
        out->motion_apart = fmax(out->motion_apart, a->motion_apart);
        out->impulses_apart = fmax(out->impulses_apart, a->impulses_apart);
        out->worked_off = out->worked_off || a->worked_off;
        add_island_effort(&out->effort, &a->effort);
    }
    // the number of solvers tried is that of one island, not a sum over them
    out->effort.solvers = most->effort.solvers;
    out->effort.islands = c->whole.parts->count;
    out->iterations = most->iterations;
    out->solver = most->solver;
    out->form = c->form == PERP_FORM_AUTO ? most->form : c->form;
    out->follows = c->whole.follows;
    out->impact = impact ? c->impact : NULL;
    return status;
}

// Threads take islands, unless one has most of the rows: then they share that one.
static int choose_lanes(crew *c)
{
    const pp_island_partition *parts = c->whole.parts;
    const pp_rows *rows = c->whole.inputs->rows;
    int all = rows->nb + rows->nm + rows->nn, most = 0, lanes = c->kept->team.lanes;
    for (int i = 0; i < parts->count; i++) {
        int size = parts->b.start[i + 1] - parts->b.start[i] + parts->m.start[i + 1] -
                   parts->m.start[i] + parts->n.start[i + 1] - parts->n.start[i];
        most = size > most ? size : most;
    }
    bool one = 2 * most > all;
    c->threads = one ? lanes : 1;
    if (one || all < THREADED_FROM) {
        return 1;
    }
    return lanes < parts->count ? lanes : parts->count;
}

// All islands. The work that the step has left is shared evenly; what islands leave of their share
// goes to those it was too little for, which start again, until all are solved or no further one
// is. So a hard island may use what easy ones leave, all together use no more than the step has,
// and nothing depends on which thread came first. Returns the work of the attempts that were
// repeated.
static double work_all(crew *c, int lanes)
{
    int islands = c->whole.parts->count, open = islands, before;
    double left = c->whole.options->max_work, lost = 0.0;
    do {
        c->again = c->allowed > 0.0;
        c->allowed = left > 0.0 ? left / open : 0.0;
        atomic_init(&c->next, 0);
        pp_team_run(&c->kept->team, lanes, solve_island_job, c);
        before = open;
        for (int i = 0; i < islands; i++) {
            const pp_answer *a = &c->told[i];
            left -= c->ended[i] ? 0.0 : a->effort.work;
            lost += c->ended[i] || !a->worked_off ? 0.0 : a->effort.work;
            open -= !c->ended[i] && !a->worked_off;
            c->ended[i] = c->ended[i] || !a->worked_off;
        }
    } while (open > 0 && open < before && left > 0.0);
    for (int i = 0; i < islands; i++) {  // combine adds the last attempts: not counted twice
        lost -= c->ended[i] ? 0.0 : c->told[i].effort.work;
    }
    return lost;
}

// What further problems of the step are to know of islands that stay.
static void keep_told(crew *c)
{
    const pp_island_partition *parts = c->whole.parts;
    for (int i = 0; i < parts->count; i++) {
        island_rest *rest = &c->kept->rest[parts->body.list[parts->body.start[i]]];
        pp_answer *told = &rest->told;
        rest->turn = c->kept->turn;
        rest->told_of = parts->body.start[i + 1] - parts->body.start[i];
        *told = c->told[i];
        told->nu = told->pb = told->pm = told->pn = told->pt = told->sigma = NULL;
        told->closed = NULL;
        told->follows = NULL;
        told->impact = NULL;
        told->effort = (perp_effort){0};
        told->iterations = 0;
    }
}

// What the next step is to know of islands that rest; of those that are gone nothing is kept.
static void keep_known(crew *c)
{
    const pp_island_partition *parts = c->whole.parts;
    pp_islands *s = c->kept;
    // by the numbers of their first bodies
    for (int i = 0; i < s->bodies; i++) {
        s->rest[i].used = false;
    }
    s->known = 0;
    for (int i = 0; i < parts->count; i++) {
        island_rest *rest = &s->rest[parts->body.list[parts->body.start[i]]];
        rest->used = true;
        s->known += c->known[i];
        if (s->forgets || c->again || c->status[i] != PERP_OK) {
            pp_known_forget(rest->known);
        } else if (!c->known[i]) {
            pp_known_keep(&rest->known, &s->team.env, &c->whole, i, &c->told[i], c->allowed);
        }
    }
    for (int i = 0; i < s->bodies; i++) {
        if (!s->rest[i].used && s->rest[i].known) {
            pp_known_free(s->rest[i].known, &s->team.env);
            s->rest[i].known = NULL;
        }
    }
}

// Islands whose answers have different forms, solved again as one problem, with what is left of the
// work.
static perp_status solve_together(const crew *c, pp_arena *arena)
{
    const pp_undivided *w = &c->whole;
    pp_solve_options options = *w->options;
    double spent = 0.0;
    for (int i = 0; i < w->parts->count; i++) {
        spent += c->told[i].effort.work;
    }
    options.max_work = options.max_work > 0.0 ? fmax(options.max_work - spent, 1e-9) : 0.0;
    perp_status status = pp_solve_whole(w->out, w->inputs, &options, w->cache, arena);
    w->out->effort.work += spent;
    return status;
}

// On failure nu of the islands that were solved is in the answer, and the step does not use it.
perp_status pp_solve_islands(const pp_undivided *whole, pp_arena *arena)
{
    crew c = {.whole = *whole, .kept = whole->cache->islands};
    perp_status status = allocate_crew(&c, arena);
    int lanes = choose_lanes(&c);
    c.whole.team = c.threads > 1 ? &c.kept->team : NULL;
    if (status < 0) {
        return status;
    }
    status = keep_factors(c.kept, whole->parts, c.threads);
    if (status < 0) {
        return status;
    }
    double lost = work_all(&c, lanes);
    // islands with polygons beside islands with discs: no one form to certify by
    if (!find_form(&c)) {
        return solve_together(&c, arena);
    }
    status = combine_answers(&c);
    whole->out->effort.work += lost;
    if (status < 0) {
        return status;
    }
    move_loose(&c.whole);
    if (!whole->options->bare) {
        keep_told(&c);
    }
    if (!whole->options->again) {
        keep_known(&c);
    }
    bool finite = pp_all_finite((size_t)whole->inputs->model->nv, whole->out->nu);
    return finite ? status : PERP_ERR_NUMERIC;
}
