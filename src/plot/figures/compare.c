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

// Curves of the common bodies; of more than PP_FEW the largest.
static bool init_bundle(pp_trace_bundle *bundle, const perp_comparison *c, pp_arena *arena,
                        int bins)
{
    int bodies = perp_comparison_bodies(c);
    bundle->many = bodies > PP_FEW;
    bundle->count = bundle->many ? 1 : bodies;
    bool ready = true;
    for (int k = 0; k < bundle->count; k++) {
        bundle->name[k] = perp_comparison_body(c, k).name;
        ready = ready && pp_trace_init(&bundle->trace[k], arena, bins);
    }
    return ready;
}

// A sample for each body, or the largest of all.
static void add_moment(pp_trace_bundle *bundle, int bodies, const double *value, int bin, double t)
{
    double most = 0.0;
    for (int k = 0; k < bodies; k++) {
        // A body that left for infinity does not hide the others.
        most = isnan(value[k]) ? most : fmax(most, value[k]);
        if (!bundle->many) {
            pp_trace_add(&bundle->trace[k], bin, t, value[k]);
        }
    }
    if (bundle->many) {
        pp_trace_add(&bundle->trace[0], bin, t, most);
    }
}

// Moments are the frames of run A, as long as run B lasts.
static perp_status measure_runs(pp_run_pair *pair, perp_comparison *c, pp_arena *arena,
                                perp_error *error)
{
    int frames = pair->a->frames, bins = pair->a->bins, bodies = perp_comparison_bodies(c);
    if (!init_bundle(&pair->place, c, arena, bins) || !init_bundle(&pair->turn, c, arena, bins)) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for the curves of %d frames",
                       frames);
    }
    for (int k = 0; k < frames; k++) {
        perp_compared_instant moment;
        bool more = true;
        perp_status status = perp_comparison_next(c, &moment, &more, error);
        if (status != PERP_OK || !more) {
            return status;
        }
        int bin = (int)((int64_t)k * bins / frames);
        add_moment(&pair->place, bodies, moment.distance, bin, moment.t);
        add_moment(&pair->turn, bodies, moment.angle, bin, moment.t);
    }
    return PERP_OK;
}

// One figure with its script and data.
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

// Figures that have nothing to show are removed, should an earlier comparison have left them.
static perp_status write_figures(const pp_run_pair *pair, const char *dir, const perp_env *env,
                                 perp_error *error)
{
    perp_status status = pp_plot_directory(dir, error);
    if (status != PERP_OK) {
        return status;
    }
    for (int k = 0; pp_pair_figure_at(k); k++) {
        const pp_pair_figure *figure = pp_pair_figure_at(k);
        if (!figure->has(pair)) {
            pp_plot_remove(dir, figure->name);
            continue;
        }
        status = write_figure(pair, figure, dir, env, error);
        if (status != PERP_OK) {
            return status;
        }
    }
    pp_svg html = {.env = env};
    pp_page_pair(pair, &html);
    status = pp_plot_write(dir, "index", ".html", &html, error);
    pp_svg_free(&html);
    return status;
}

// One run: snapshots are its first and its last frame, all bodies have the colour of the run.
static perp_status collect_run(perp_recording *recording, const char *colour, pp_arena *arena,
                               const perp_env *env, pp_run_data **data, perp_error *error)
{
    pp_plot_source *source = PP_ZEROS(arena, pp_plot_source, 1);
    *data = PP_ZEROS(arena, pp_run_data, 1);
    if (!source || !*data || !pp_plot_source_of(recording, arena, source)) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for figures");
    }
    source->ends = true;
    source->colour = colour;
    return pp_run_data_collect(source, arena, env, *data, error);
}

// Both runs are read before they are compared: a recording holds one frame at a time.
static perp_status draw(perp_recording *a, perp_recording *b, const char *dir, pp_arena *arena,
                        const perp_env *env, perp_error *error)
{
    pp_run_pair *pair = PP_ZEROS(arena, pp_run_pair, 1);
    pp_run_data *run_a = NULL, *run_b = NULL;
    perp_comparison *c = NULL;
    if (!pair) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for figures");
    }
    perp_status status = collect_run(a, PP_RUN_A, arena, env, &run_a, error);
    if (status == PERP_OK) {
        status = collect_run(b, PP_RUN_B, arena, env, &run_b, error);
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
    // Curves are copied; the comparison is not needed any more.
    perp_comparison_destroy(c);
    if (status == PERP_OK) {
        status = write_figures(pair, dir, env, error);
    }
    return status;
}

// Both recordings are read by it, from their first to their last frame.
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
