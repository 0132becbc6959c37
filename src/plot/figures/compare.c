// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Two recordings into figures that lay one over the other.
#include "plot/draw/output.h"
#include "plot/draw/page.h"
#include "plot/figures/pair.h"
#include "plot/plot.h"

#include <perp/compare.h>

#include <math.h>
#include <stdio.h>

// Of more than PP_FEW bodies the largest.
static bool init_sheaf(pp_trace_bundle *sheaf, const perp_comparison *c, pp_arena *arena, int cells)
{
    int bodies = perp_comparison_bodies(c);
    sheaf->many = bodies > PP_FEW;
    sheaf->count = sheaf->many ? 1 : bodies;
    bool ready = true;
    for (int k = 0; k < sheaf->count; k++) {
        sheaf->name[k] = perp_comparison_body(c, k).name;
        ready = ready && pp_trace_init(&sheaf->trace[k], arena, cells);
    }
    return ready;
}

static void add_moment(pp_trace_bundle *sheaf, int bodies, const double *value, int cell, double t)
{
    double most = 0.0;
    for (int k = 0; k < bodies; k++) {
        most = isnan(value[k]) ? most : fmax(most, value[k]);
        if (!sheaf->many) {
            pp_trace_add(&sheaf->trace[k], cell, t, value[k]);
        }
    }
    if (sheaf->many) {
        pp_trace_add(&sheaf->trace[0], cell, t, most);
    }
}

static perp_status measure_runs(pp_run_pair *pair, perp_comparison *c, pp_arena *arena,
                                perp_error *error)
{
    int frames = pair->a->frames, cells = pair->a->cells, bodies = perp_comparison_bodies(c);
    if (!init_sheaf(&pair->place, c, arena, cells) || !init_sheaf(&pair->turn, c, arena, cells)) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for the curves of %d frames",
                       frames);
    }
    perp_compared_instant moment;
    bool more = true;
    perp_status status = PERP_OK;
    for (int k = 0; k < frames && more && status == PERP_OK; k++) {
        status = perp_comparison_next(c, &moment, &more, error);
        if (status == PERP_OK && more) {
            int cell = (int)((int64_t)k * cells / frames);
            add_moment(&pair->place, bodies, moment.distance, cell, moment.t);
            add_moment(&pair->turn, bodies, moment.angle, cell, moment.t);
        }
    }
    return status;
}

static perp_status write_figure(const pp_run_pair *pair, const pp_pair_figure *figure,
                                const char *dir, const perp_env *env, perp_error *error)
{
    pp_script script;
    pp_script_init(&script, figure->name, env);
    pp_svg svg = {.env = env, .script = &script};
    figure->draw(pair, &svg);
    perp_status status = pp_plot_figure(dir, figure->name, &svg, error);
    pp_svg_free(&svg);
    pp_script_free(&script);
    return status;
}

static perp_status write_figures(const pp_run_pair *pair, const char *dir, const perp_env *env,
                                 perp_error *error)
{
    perp_status status = pp_plot_directory(dir, error);
    for (int k = 0; pp_pair_figure_at(k) && status == PERP_OK; k++) {
        const pp_pair_figure *figure = pp_pair_figure_at(k);
        if (figure->has(pair)) {
            status = write_figure(pair, figure, dir, env, error);
        } else {
            pp_plot_remove(dir, figure->name);
        }
    }
    if (status == PERP_OK) {
        pp_svg html = {.env = env};
        pp_page_pair(pair, &html);
        status = pp_plot_write(dir, "index", ".html", &html, error);
        pp_svg_free(&html);
    }
    return status;
}

static perp_status tell(perp_recording *recording, const char *colour, pp_arena *arena,
                        const perp_env *env, pp_run_data **story, perp_error *error)
{
    pp_plot_source *film = PP_ZEROS(arena, pp_plot_source, 1);
    *story = PP_ZEROS(arena, pp_run_data, 1);
    if (!film || !*story || !pp_plot_source_of(recording, arena, film)) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for figures");
    }
    film->ends = true;
    film->colour = colour;
    return pp_run_data_collect(film, arena, env, *story, error);
}

static perp_status draw(perp_recording *a, perp_recording *b, const char *dir, pp_arena *arena,
                        const perp_env *env, perp_error *error)
{
    pp_run_pair *pair = PP_ZEROS(arena, pp_run_pair, 1);
    pp_run_data *run_a = NULL, *run_b = NULL;
    perp_comparison *c = NULL;
    if (!pair) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for figures");
    }
    perp_status status = tell(a, PP_RUN_A, arena, env, &run_a, error);
    if (status == PERP_OK) {
        status = tell(b, PP_RUN_B, arena, env, &run_b, error);
    }
    if (status == PERP_OK) {
        status = perp_comparison_create(a, b, env, &c, error);
    }
    if (status == PERP_OK) {
        *pair = (pp_run_pair){.a = run_a, .b = run_b, .t = run_a->t};
        pair->end = fmin(run_a->t.high, run_b->t.high);
        pp_range_join(&pair->t, &run_b->t);
        status = measure_runs(pair, c, arena, error);
    }
    perp_comparison_destroy(c);
    return status == PERP_OK ? write_figures(pair, dir, env, error) : status;
}

perp_status perp_plot_write_comparison(perp_recording *a, perp_recording *b, const char *dir,
                                       const perp_env *env, perp_error *error)
{
    if (!a || !b || !dir) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "two recordings and a directory are needed");
    }
    pp_arena *arena = pp_arena_create(env);
    perp_status status = arena ? draw(a, b, dir, arena, env, error)
                               : pp_fail(error, PERP_ERR_MEMORY, "not enough memory for figures");
    pp_arena_destroy(arena);
    return status;
}
