// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The figures of a sweep into files, and their page.
#include "plot/draw/output.h"
#include "plot/draw/page.h"
#include "plot/figures/figure_sweep.h"

#include <perp/plot.h>

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINKS = 500, FACTS = 250, TEXT = 300 };

// Texts of the page, in one place: it is written at the end.
typedef struct draft {
    pp_sweep_results results;
    pp_sweep_figure figure[PP_SWEEP_FIGURES];
    int figures;
    pp_page_item item[PP_SWEEP_FIGURES], fact[FACTS], link[LINKS];
    char name[PP_SWEEP_FIGURES][80], title[PP_SWEEP_FIGURES][TEXT];
    char fact_text[FACTS][TEXT], link_name[LINKS][80], link_text[LINKS][40];
    int facts, links;
} draft;

// ── Names and captions ───────────────────────────────────────────────────────────────────────────

// Names of parameters and outputs are letters, digits and _: they are fit for files.
static void name_figure(draft *d, int k)
{
    const pp_sweep_figure *f = &d->figure[k];
    const perp_sweep_column *column = d->results.sweep->column;
    const char *output = f->output >= 0 ? column[f->output].name : "status";
    if (f->y >= 0) {
        pp_print(d->name[k], sizeof d->name[k], "%s-%.30s-%d", "map", output, k + 1);
        pp_print(d->title[k], TEXT, "%.80s over %.80s and %.80s", output, column[f->x].name,
                 column[f->y].name);
    } else {
        pp_print(d->name[k], sizeof d->name[k], "%s-%.30s-%d", "response", output, k + 1);
        pp_print(d->title[k], TEXT, "%.80s over %.80s", output, column[f->x].name);
    }
    if (f->title[0]) {
        pp_print(d->title[k], TEXT, "%.250s", f->title);
    }
    d->item[k] = (pp_page_item){d->name[k], d->title[k]};
}

static void add_fact(draft *d, const char *name, const char *text)
{
    if (d->facts < FACTS) {
        pp_print(d->fact_text[d->facts], TEXT, "%s", text);
        d->fact[d->facts] = (pp_page_item){name, d->fact_text[d->facts]};
        d->facts++;
    }
}

static void add_statuses(draft *d)
{
    int64_t count[PERP_RUN_COUNT] = {0};
    char text[TEXT] = "";
    for (int64_t k = 0; k < d->results.runs; k++) {
        count[d->results.status[k] < PERP_RUN_COUNT ? d->results.status[k] : PERP_RUN_MISSING]++;
    }
    for (int k = 0; k < PERP_RUN_COUNT; k++) {
        size_t used = strlen(text);
        if (count[k] > 0) {
            pp_print(text + used, sizeof text - used, "%s%lld %s", used > 0 ? ", " : "",
                     (long long)count[k], perp_run_status_word(k));
        }
    }
    add_fact(d, "runs", text);
}

static void add_factors(draft *d)
{
    const perp_sweep *s = d->results.sweep;
    for (int k = 0; k < s->factors; k++) {
        const pp_factor *f = &s->factor[k];
        char text[TEXT], low[PP_NUMBER], high[PP_NUMBER];
        pp_range range = pp_range_none();
        for (int64_t j = 0; j < d->results.runs; j++) {
            pp_range_add(&range, d->results.column[k][j]);
        }
        pp_value_text(low, range.low, "e", "");
        pp_value_text(high, range.high, "e", "");
        if (f->kind == PP_FACTOR_LEVELS) {
            pp_print(text, sizeof text, "%s to %s %.40s, %d %s", low, high, f->unit, f->levels,
                     f->levels == 1 ? "level" : "levels");
        } else {
            pp_print(text, sizeof text, "%s to %s %.40s", low, high, f->unit);
        }
        add_fact(d, f->name, text);
    }
}

// ── Recordings ───────────────────────────────────────────────────────────────────────────────────

// Insertion sort: there are few.
static void add_sorted(int64_t *list, int *count, int64_t number)
{
    int j = (*count)++;
    for (; j > 0 && list[j - 1] > number; j--) {
        list[j] = list[j - 1];
    }
    list[j] = number;
}

// The number that a name is; -1: it is none.
static int64_t number_of(const char *name)
{
    int value = -1;
    return pp_number_parse_int(name, strlen(name), 0, INT32_MAX, &value) ? value : -1;
}

// runs/INDEX, in order; the replay where there is one.
static void add_recordings(draft *d, const char *from)
{
    char path[PP_PATH + 64];
    int64_t index[LINKS];
    int count = 0;
    pp_print(path, sizeof path, "%.4000s/runs", from);
    DIR *listing = opendir(path);
    if (!listing) {
        return;
    }
    for (const struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
        int64_t number = number_of(entry->d_name);
        if (number >= 0 && count < LINKS - 2) {
            add_sorted(index, &count, number);
        }
    }
    closedir(listing);
    // The page of the viewer, or the directory where there is none.
    for (int k = 0; k < count; k++) {
        pp_print(path, sizeof path, "%.4000s/runs/%lld/replay.html", from, (long long)index[k]);
        bool replay = access(path, R_OK) == 0;
        pp_print(d->link_name[d->links], sizeof d->link_name[0], "runs/%lld/%s",
                 (long long)index[k], replay ? "replay.html" : "");
        pp_print(d->link_text[d->links], sizeof d->link_text[0], "%s %lld",
                 replay ? "replay of run" : "recording of run", (long long)index[k]);
        d->link[d->links] = (pp_page_item){d->link_name[d->links], d->link_text[d->links]};
        d->links++;
    }
}

// ── Files ────────────────────────────────────────────────────────────────────────────────────────

static perp_status write_figure(draft *d, int k, const char *dir, pp_arena *arena,
                                const perp_env *env, perp_error *error)
{
    pp_script script;
    pp_script_init(&script, d->name[k], env);
    pp_svg svg = {.env = env, .script = &script};
    pp_mark mark = pp_arena_mark(arena);
    pp_sweep_figure figure = d->figure[k];
    figure.title = d->title[k];
    perp_status status = pp_draw_sweep(&d->results, &figure, arena, &svg)
                             ? pp_plot_figure(dir, d->name[k], &svg, error)
                             : pp_fail(error, PERP_ERR_MEMORY, "not enough memory for figures");
    pp_arena_release(arena, mark);
    pp_svg_free(&svg);
    pp_script_free(&script);
    return status;
}

static perp_status write_all(draft *d, const char *from, const char *dir, pp_arena *arena,
                             const perp_env *env, perp_error *error)
{
    perp_status status = pp_plot_directory(dir, error);
    d->figures = pp_sweep_figures(&d->results, d->figure, PP_SWEEP_FIGURES);
    if (status < 0) {
        return status;
    }
    for (int k = 0; k < d->figures; k++) {
        name_figure(d, k);
        status = write_figure(d, k, dir, arena, env, error);
        if (status < 0) {
            return status;
        }
    }
    // The page shows what is in the directory now.
    d->link[d->links++] = (pp_page_item){"sweep.csv", "sweep.csv"};
    d->link[d->links++] = (pp_page_item){"sweep.h5", "sweep.h5"};
    add_recordings(d, from);
    add_statuses(d);
    add_factors(d);
    pp_page page = {.title = d->results.sweep->name,
                    .description = d->results.sweep->description,
                    .fact = d->fact,
                    .facts = d->facts,
                    .figure = d->item,
                    .figures = d->figures,
                    .link = d->link,
                    .links = d->links};
    pp_svg html = {.env = env};
    pp_page_list(&page, &html);
    status = pp_plot_write(dir, "index", ".html", &html, error);
    pp_svg_free(&html);
    return status;
}

perp_status perp_plot_write_sweep(const char *from, const char *dir, const perp_env *env,
                                  perp_error *error)
{
    char path[PP_PATH];
    if (!from || !dir) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "a sweep and a directory are needed");
    }
    if (strlen(from) + 12 > sizeof path) {
        return pp_fail(error, PERP_ERR_IO, "the name of the directory is too long");
    }
    pp_print(path, sizeof path, "%s/sweep.h5", from);
    pp_arena *arena = pp_arena_create(env);
    draft *d = arena ? PP_ZEROS(arena, draft, 1) : NULL;
    perp_status status = d ? pp_sweep_results_read(path, env, arena, &d->results, error)
                           : pp_fail(error, PERP_ERR_MEMORY, "not enough memory for figures");
    if (d && status == PERP_OK) {
        status = write_all(d, from, dir, arena, env, error);
        perp_sweep_destroy(d->results.sweep);
    }
    pp_arena_destroy(arena);
    return status;
}
