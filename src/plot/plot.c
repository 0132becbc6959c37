// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of figures, and recordings into files.
//
// A figure says whether it has something to show, draws itself, and writes its caption. All figures
// of a run are made from one pp_run_data; each is written as soon as it is drawn.
#include "plot/plot.h"

#include "plot/draw/output.h"
#include "plot/draw/page.h"
#include "plot/figures/figures.h"

#include <math.h>
#include <string.h>

// ── The figures ──────────────────────────────────────────────────────────────────────────────────

// Every recording has a scene.
static bool always_drawn(const pp_run_data *data)
{
    (void)data;
    return true;
}

// Frame 0 has neither energy changes nor a certificate.
static bool has_steps(const pp_run_data *data)
{
    return data->frames > 1;
}

// Some shapes came near each other.
static bool has_contacts(const pp_run_data *data)
{
    return data->contacts > 0;
}

// Some contact has a coefficient above 0.
static bool has_friction(const pp_run_data *data)
{
    return data->contacts > 0 && data->mus > 0;
}

// The run had an accuracy, and its error was estimated.
static bool has_accuracy(const pp_run_data *data)
{
    return data->motion_error.range.positive < PP_INF || data->error_unknown;
}

// The model has joints.
static bool has_joints(const pp_run_data *data)
{
    return data->joint_error.count > 0;
}

// Some joint has a coordinate.
static bool has_coordinates(const pp_run_data *data)
{
    return data->coordinate.count > 0;
}

// Velocities are those of free bodies.
static bool has_free(const pp_run_data *data)
{
    return data->vx.count > 0;
}

// The model has sensors.
static bool has_sensors(const pp_run_data *data)
{
    return data->sensors > 0;
}

// The recording has lines of events.
static bool has_events(const pp_run_data *data)
{
    return data->events > 0;
}

// In the order of the page. Names are those of files and of `perp plot DIR NAME`.
static const pp_figure figures[] = {
    {"paths", "Paths", always_drawn, pp_draw_paths, pp_caption_paths, pp_paths_wide},
    {"gaps", "Gaps", has_contacts, pp_draw_gaps, pp_caption_gaps, NULL},
    {"forces", "Contact impulses", has_contacts, pp_draw_forces, pp_caption_forces, NULL},
    {"cones", "Friction cones", has_friction, pp_draw_cones, pp_caption_cones, NULL},
    {"modes", "Contact modes", has_contacts, pp_draw_modes, pp_caption_modes, NULL},
    {"energy", "Energy", has_steps, pp_draw_energy, pp_caption_energy, NULL},
    {"residual", "Residual and certificate", has_steps, pp_draw_residual, pp_caption_residual,
     NULL},
    {"accuracy", "Error of the motion", has_accuracy, pp_draw_accuracy, pp_caption_accuracy, NULL},
    {"joints", "Joints", has_joints, pp_draw_joints, pp_caption_joints, NULL},
    {"coordinates", "Joint coordinates and motors", has_coordinates, pp_draw_coordinates,
     pp_caption_coordinates, NULL},
    {"velocities", "Velocities", has_free, pp_draw_velocities, pp_caption_velocities, NULL},
    {"sensors", "Sensors", has_sensors, pp_draw_sensors, pp_caption_sensors, NULL},
    {"events", "Events", has_events, pp_draw_events, pp_caption_events, NULL},
};

enum { FIGURES = sizeof figures / sizeof figures[0] };

// In the order of the page.
const pp_figure *pp_figure_at(int k)
{
    return k >= 0 && k < FIGURES ? &figures[k] : NULL;
}

const char *perp_plot_name(int figure)
{
    return figure >= 0 && figure < FIGURES ? figures[figure].name : NULL;
}

// ── Which ────────────────────────────────────────────────────────────────────────────────────────

// A word that is no figure gets a suggestion.
static perp_status choose_one(const char *word, size_t length, bool wanted[FIGURES],
                              perp_error *error)
{
    const char *names[FIGURES];
    for (int k = 0; k < FIGURES; k++) {
        names[k] = figures[k].name;
        if (strlen(names[k]) == length && memcmp(names[k], word, length) == 0) {
            wanted[k] = true;
            return PERP_OK;
        }
    }
    // A name that differs by a letter or two.
    const char *near = pp_nearest(word, length, names, FIGURES);
    if (near) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "unknown figure '%.*s': did you mean '%s'?",
                       (int)(length < 40 ? length : 40), word, near);
    }
    return pp_fail(error, PERP_ERR_ARGUMENT,
                   "unknown figure '%.*s': expected one of paths, gaps, forces, cones, modes, "
                   "energy, residual, joints, coordinates, velocities, sensors, events",
                   (int)(length < 40 ? length : 40), word);
}

// only: names with commas between, NULL: all that have something to show.
static perp_status select_figures(const char *only, bool wanted[FIGURES], perp_error *error)
{
    const char *word = only;
    while (word) {
        size_t length = strcspn(word, ",");
        perp_status status = choose_one(word, length, wanted, error);
        if (status != PERP_OK) {
            return status;
        }
        word = word[length] ? word + length + 1 : NULL;
    }
    return PERP_OK;
}

// ── Files ────────────────────────────────────────────────────────────────────────────────────────

// The figure, its script and its data are made in memory, then written.
static perp_status write_figure(const pp_run_data *data, const char *dir, int k,
                                const perp_env *env, perp_error *error)
{
    // The script is written while the figure is drawn.
    pp_script script;
    pp_script_init(&script, figures[k].name, env);
    pp_svg svg = {.env = env, .script = &script};
    figures[k].draw(data, &svg);
    perp_status status = pp_plot_figure(dir, figures[k].name, &svg, error);
    pp_svg_free(&svg);
    pp_script_free(&script);
    return status;
}

// ── All of them ──────────────────────────────────────────────────────────────────────────────────

// With `only` figures that are not asked for are left as they are.
static perp_status write_all(const pp_run_data *data, const char *dir, bool *wanted,
                             const char *only, perp_error *error)
{
    // Memory of the figures; the curves are in the arena of the run.
    const perp_env *env = data->env;
    perp_status status = pp_plot_directory(dir, error);
    if (status != PERP_OK) {
        return status;
    }
    for (int k = 0; k < FIGURES; k++) {
        wanted[k] = only ? wanted[k] : figures[k].has(data);
        if (wanted[k]) {
            status = write_figure(data, dir, k, env, error);
            if (status != PERP_OK) {
                return status;
            }
        } else if (!only) {  // a figure of an earlier run must not stay beside those of this one
            pp_plot_remove(dir, figures[k].name);
        }
    }
    pp_svg html = {.env = env};
    pp_page_write(data, wanted, &html);
    status = pp_plot_write(dir, "index", ".html", &html, error);
    pp_svg_free(&html);
    return status;
}

// Names are checked before the frames are read: a wrong one costs no time.
perp_status pp_plot_draw_source(const pp_plot_source *source, const char *dir, const char *only,
                                const perp_env *env, perp_error *error)
{
    bool wanted[FIGURES] = {false};
    perp_status status = select_figures(only, wanted, error);
    if (status != PERP_OK) {
        return status;
    }
    pp_arena *arena = pp_arena_create(env);
    pp_run_data *data = arena ? PP_ZEROS(arena, pp_run_data, 1) : NULL;
    if (!data) {
        pp_arena_destroy(arena);
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for figures");
    }
    status = pp_run_data_collect(source, arena, env, data, error);
    if (status == PERP_OK) {
        status = write_all(data, dir, wanted, only, error);
    }
    pp_arena_destroy(arena);
    return status;
}

// ── Recordings ───────────────────────────────────────────────────────────────────────────────────

// The type that pp_plot_source asks for.
static perp_status read_recording(void *context, int frame, perp_snapshot *out, perp_error *error)
{
    return perp_recording_read(context, frame, out, error);
}

bool pp_plot_source_of(perp_recording *recording, pp_arena *arena, pp_plot_source *source)
{
    const perp_recording_info *info = perp_recording_about(recording);
    perp_recorded_body *body = PP_ARRAY(arena, perp_recorded_body, info->bodies);
    perp_recorded_shape *shape = PP_ARRAY(arena, perp_recorded_shape, info->shapes);
    perp_recorded_joint *joint = PP_ARRAY(arena, perp_recorded_joint, info->joints);
    perp_recorded_spring *spring = PP_ARRAY(arena, perp_recorded_spring, info->springs);
    perp_recorded_actuator *actuator = PP_ARRAY(arena, perp_recorded_actuator, info->actuators);
    perp_recorded_sensor *sensor = PP_ARRAY(arena, perp_recorded_sensor, info->sensors);
    if (!body || !shape || !joint || !spring || !actuator || !sensor) {
        return false;
    }
    // Copied once: figures go through them many times.
    for (int k = 0; k < info->bodies; k++) {
        body[k] = perp_recording_body(recording, (perp_body){k});
    }
    for (int k = 0; k < info->shapes; k++) {
        shape[k] = perp_recording_shape(recording, (perp_shape){k});
    }
    for (int k = 0; k < info->joints; k++) {
        joint[k] = perp_recording_joint(recording, (perp_joint){k});
    }
    for (int k = 0; k < info->springs; k++) {
        spring[k] = perp_recording_spring(recording, k);
    }
    for (int k = 0; k < info->actuators; k++) {
        actuator[k] = perp_recording_actuator(recording, (perp_actuator){k});
    }
    for (int k = 0; k < info->sensors; k++) {
        sensor[k] = perp_recording_sensor(recording, (perp_sensor){k});
    }
    *source = (pp_plot_source){.info = info,
                               .body = body,
                               .shape = shape,
                               .joint = joint,
                               .spring = spring,
                               .actuator = actuator,
                               .sensor = sensor,
                               .read = read_recording,
                               .context = recording};
    return true;
}

// The directory is made if it is not there.
perp_status perp_plot_write(perp_recording *recording, const char *dir, const char *only,
                            const perp_env *env, perp_error *error)
{
    if (!recording || !dir) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "a recording and a directory are needed");
    }
    pp_arena *arena = pp_arena_create(env);
    pp_plot_source source;
    perp_status status = arena && pp_plot_source_of(recording, arena, &source)
                             ? pp_plot_draw_source(&source, dir, only, env, error)
                             : pp_fail(error, PERP_ERR_MEMORY, "not enough memory for figures");
    pp_arena_destroy(arena);
    return status;
}
