// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Sweeps: reading, questions about them, and freeing.
#include "sweep/own.h"

perp_status perp_sweep_parse(const char *name, const char *text, size_t size,
                             const perp_scene_load_options *reading, const perp_env *env,
                             perp_sweep **sweep, perp_error *error)
{
    const perp_scene_load_options standard = perp_scene_load_options_default();
    perp_error unwanted = {0};
    reading = reading ? reading : &standard;
    error = error ? error : &unwanted;
    *error = (perp_error){0};
    if (!sweep || !name || (!text && size > 0)) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "perp_sweep_parse: NULL argument");
    }
    *sweep = NULL;
    // The file alone, then with its scene.
    if (reading->cookie != standard.cookie) {
        return pp_fail(error, PERP_ERR_DEF,
                       "sweep: initialise the options with perp_scene_load_options_default()");
    }
    if (reading->sets > 0) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "sweep: parameters are set by the sweep file");
    }
    perp_sweep *made = NULL;
    perp_status status = pp_sweep_read(text, size, env, &made, error);
    if (status == PERP_OK) {
        status = pp_sweep_bind(made, name, reading, error);
    }
    if (status < 0) {
        perp_sweep_destroy(made);
        return status;
    }
    *sweep = made;
    return PERP_OK;
}

perp_status perp_sweep_load(const char *path, const perp_scene_load_options *reading,
                            const perp_env *env, perp_sweep **sweep, perp_error *error)
{
    const perp_scene_load_options standard = perp_scene_load_options_default();
    perp_error unwanted = {0};
    error = error ? error : &unwanted;
    *error = (perp_error){0};
    if (!sweep || !path) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "perp_sweep_load: NULL argument");
    }
    *sweep = NULL;
    pp_file file = {0};
    perp_status status =
        pp_file_read(path, pp_reading_most(reading ? reading : &standard), true, env, &file, error);
    if (status == PERP_OK) {
        status = perp_sweep_parse(path, file.text, file.size, reading, env, sweep, error);
    }
    pp_file_free(&file, env);
    return status;
}

void perp_sweep_destroy(perp_sweep *sweep)
{
    if (sweep) {
        perp_env env = sweep->env;
        pp_arena_destroy(sweep->arena);
        pp_free(&env, sweep, sizeof *sweep);
    }
}

const char *perp_sweep_name(const perp_sweep *sweep)
{
    return sweep ? sweep->name : "";
}

const char *perp_sweep_description(const perp_sweep *sweep)
{
    return sweep ? sweep->description : "";
}

int64_t perp_sweep_runs(const perp_sweep *sweep)
{
    return sweep ? sweep->runs : 0;
}

const perp_sweep_column *perp_sweep_columns(const perp_sweep *sweep, int *count)
{
    if (count) {
        *count = sweep ? sweep->columns : 0;
    }
    return sweep ? sweep->column : NULL;
}

int perp_sweep_parameters(const perp_sweep *sweep)
{
    return sweep ? sweep->factors : 0;
}

perp_sweep_limits perp_sweep_limit(const perp_sweep *sweep)
{
    return sweep ? sweep->limits : (perp_sweep_limits){0};
}

uint64_t perp_sweep_identity(const perp_sweep *sweep)
{
    return sweep ? sweep->identity : 0;
}
