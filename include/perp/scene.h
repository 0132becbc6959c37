// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Scene files: a model and how to run it, as JSON (docs/scene-format.md, scenes/scene.schema.json); and
// scene generators.
#pragma once

#include <perp/base.h>
#include <perp/import.h>
#include <perp/model.h>
#include <perp/sim.h>

typedef struct perp_scene perp_scene;

// A file that a scene names: the points of a hull, the triangles of a mesh, a scene that it includes. Files that
// included files name have names relative to the directory of the scene.
typedef struct perp_scene_file {
    const char *name;  // as written in the scene
    const void *data;
    size_t size;
} perp_scene_file;

// A value for a parameter of the scene: a number, an expression or a quantity with a unit, as in the scene.
typedef struct perp_scene_parameter {
    const char *name, *value;  // "width", "12 mm"
} perp_scene_parameter;

// A parameter of a scene that was read.
typedef struct perp_scene_value {
    const char *name;
    double value;  // in SI units
    bool derived;  // the file gives it as an expression of others, and it was not set
} perp_scene_value;

typedef struct perp_scene_load_options {
    double max_mb;    // size limit of the scene and of each file it names [10^6 bytes]; 64
    bool outside;     // allow files outside the directory of the scene
    bool given_only;  // read no files: all are given here
    const perp_scene_file *file;  // used instead of the files of these names
    int files;
    const perp_scene_parameter *set;  // values that replace those in `parameters`
    int sets;
    perp_import_options import;  // of robots; max_mb, outside and no_files are those of the scene
    uint32_t cookie;
} perp_scene_load_options;

PERP_API perp_scene_load_options perp_scene_load_options_default(void);

// Reads a scene. On failure *scene is NULL and error has the line, column, object and remedy. The file must be a
// regular file, "/dev/stdin" or "/dev/fd/N". Files that the scene names must be regular files in its directory or
// below, unless `outside` is set. A robot as MJCF or URDF is imported first (import.h); the text of the scene is then the
// imported one. reading: NULL: the default.
PERP_API PERP_MUST perp_status perp_scene_load(const char *path, const perp_env *env,
                                               perp_scene **scene, perp_error *error);
// The same from memory. A scene without a name of its own gets `name`, without directory and extension.
PERP_API PERP_MUST perp_status perp_scene_parse(const char *name, const char *text, size_t size,
                                                const perp_env *env, perp_scene **scene,
                                                perp_error *error);
PERP_API PERP_MUST perp_status perp_scene_load_with(const char *path,
                                                    const perp_scene_load_options *reading,
                                                    const perp_env *env, perp_scene **scene,
                                                    perp_error *error);
PERP_API PERP_MUST perp_status perp_scene_parse_with(const char *name, const char *text,
                                                     size_t size,
                                                     const perp_scene_load_options *reading,
                                                     const perp_env *env, perp_scene **scene,
                                                     perp_error *error);
PERP_API void perp_scene_destroy(perp_scene *scene);

// The model alone, of a scene, MJCF or URDF file; the caller destroys it. How it is run is part of the scene: gravity,
// step and joint coordinates are not in the model (perp_scene_load, perp_scene_sim_def). On failure *model is NULL and
// error is as above. reading: NULL: the default.
PERP_API PERP_MUST perp_status perp_model_load(const char *path,
                                               const perp_scene_load_options *reading,
                                               const perp_env *env, perp_model **model,
                                               perp_error *error);

// Contents of a scene; borrowed from it.
PERP_API const char *perp_scene_name(const perp_scene *scene);
PERP_API const char *perp_scene_description(const perp_scene *scene);  // "": none
PERP_API const perp_model *perp_scene_model(const perp_scene *scene);
PERP_API perp_sim_def perp_scene_sim_def(const perp_scene *scene);
PERP_API double perp_scene_step(const perp_scene *scene);   // h [s]
PERP_API double perp_scene_until(const perp_scene *scene);  // end time [s]
PERP_API double
perp_scene_interval(const perp_scene *scene);  // between recorded states [s]; 0: every step
// Steps of size h that lead from `start` to `until`, and the size of the last one. A remainder within rounding error does
// not get a step of its own; if the time is a multiple of h up to rounding, all steps have size h and times are exactly
// start + k h. PERP_ERR_ARGUMENT: more than 1e15 steps, h is not positive, or `until` is before the start.
PERP_API PERP_MUST perp_status perp_scene_schedule(double start, double until, double h,
                                                   int64_t *count, double *last);
// The report of the import as JSON, if the scene was a robot (perp_import_report); else NULL; borrowed.
PERP_API const char *perp_scene_report(const perp_scene *scene);
// As read, with the values that were set written into it.
PERP_API const char *perp_scene_text(const perp_scene *scene, size_t *size);
// The files it names, each once, as read.
PERP_API const perp_scene_file *perp_scene_files(const perp_scene *scene, int *count);

// Its parameters, in the order of the file; those of included files are not among them.
PERP_API const perp_scene_value *perp_scene_parameters(const perp_scene *scene, int *count);

// Writes the text of the scene, with its comments. On failure the file at path is unchanged.
PERP_API PERP_MUST perp_status perp_scene_write(const perp_scene *scene, const char *path,
                                                perp_error *error);

// ── Models as scenes ─────────────────────────────────────────────────────────────────────────────

// How a model is run, for its scene.
typedef struct perp_scene_settings {
    const char *name, *description;  // NULL: "model", none
    const perp_sim_def *sim;         // NULL: perp_sim_default()
    double step, until, interval;    // [s]; default 0.001, 1, 0
    uint32_t cookie;
} perp_scene_settings;

PERP_API perp_scene_settings perp_scene_settings_default(void);
// The scene of a model, also of one that was built in C: its text (perp_scene_text) is read back to an equal model, bit
// for bit. PERP_ERR_MODEL: a scene cannot express it; error says why. settings: NULL: the default.
PERP_API PERP_MUST perp_status perp_scene_create(const perp_model *model,
                                                 const perp_scene_settings *settings,
                                                 const perp_env *env, perp_scene **scene,
                                                 perp_error *error);
// Writes that text. On failure the file at path is unchanged.
PERP_API PERP_MUST perp_status perp_model_write(const perp_model *model,
                                                const perp_scene_settings *settings,
                                                const char *path, perp_error *error);

// ── Scene generators ─────────────────────────────────────────────────────────────────────────────

typedef struct perp_generator_option {
    const char *name, *value;  // "thickness", "0.109"
} perp_generator_option;

typedef struct perp_generator {
    const char *name;     // "arch"
    const char *summary;  // one line
    const char *options;  // names and default values: "blocks=20 thickness=0.109 …"
} perp_generator;

PERP_API int perp_generator_count(void);
PERP_API const perp_generator *perp_generator_at(int i);  // NULL outside 0..count-1

// Generates the scene; perp_scene_text returns it as JSON.
PERP_API PERP_MUST perp_status perp_scene_generate(const char *name,
                                                   const perp_generator_option *options, int count,
                                                   const perp_env *env, perp_scene **scene,
                                                   perp_error *error);
