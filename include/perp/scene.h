// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Scene files: a model and how to run it, as JSON (docs/scene-format.md, scenes/scene.schema.json); and
// scenes made to measure.
#pragma once

#include <perp/base.h>
#include <perp/model.h>
#include <perp/sim.h>

typedef struct perp_scene perp_scene;

// A file that a scene names: the points of a hull, the triangles of a mesh.
typedef struct perp_scene_file {
    const char *name;  // as the scene has it
    const void *data;
    size_t size;
} perp_scene_file;

typedef struct perp_scene_load_options {
    double max_mb;                // of the text, and of each file it names [10^6 bytes]; default 64
    bool outside;                 // files may lie outside the folder of the scene
    bool given_only;              // no file is read: all are among these
    const perp_scene_file *file;  // taken in place of the files of these names
    int files;
    uint32_t cookie;
} perp_scene_load_options;

PERP_API perp_scene_load_options perp_scene_load_options_default(void);

// Read a scene. On failure *scene is NULL and error says line, column, object and what to write instead.
// The file is a regular one, or "/dev/stdin", or "/dev/fd/N". Files that the scene names are regular ones
// in its folder or below it, unless `outside` is set. reading: NULL, the default.
PERP_API PERP_MUST perp_status perp_scene_load(const char *path, const perp_env *env,
                                               perp_scene **scene, perp_error *error);
// The same from memory. A scene that does not say its name gets `name`, without folders and ending.
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

// What a scene holds; borrowed from it.
PERP_API const char *perp_scene_name(const perp_scene *scene);
PERP_API const char *perp_scene_description(const perp_scene *scene);  // "" when there is none
PERP_API const perp_model *perp_scene_model(const perp_scene *scene);
PERP_API perp_sim_def perp_scene_sim_def(const perp_scene *scene);
PERP_API double perp_scene_step(const perp_scene *scene);   // h [s]
PERP_API double perp_scene_until(const perp_scene *scene);  // end of the run [s]
PERP_API double
perp_scene_interval(const perp_scene *scene);  // between recorded states [s]; 0: every step
PERP_API const char *perp_scene_text(const perp_scene *scene, size_t *size);  // as it was read
// The files it names, each once, as they were read.
PERP_API const perp_scene_file *perp_scene_files(const perp_scene *scene, int *count);

// Write the scene's text, comments and all; the file at path is whole, or what it was before.
PERP_API PERP_MUST perp_status perp_scene_write(const perp_scene *scene, const char *path,
                                                perp_error *error);

// ── Scenes made to measure ───────────────────────────────────────────────────────────────────────

typedef struct perp_generator_option {
    const char *name, *value;  // "thickness", "0.109"
} perp_generator_option;

typedef struct perp_generator {
    const char *name;     // "arch"
    const char *summary;  // one line
    const char *options;  // "blocks=20 thickness=0.109 …": names and what they are when not given
} perp_generator;

PERP_API int perp_generator_count(void);
PERP_API const perp_generator *perp_generator_at(int i);  // NULL outside 0..count-1

// The scene of that name; perp_scene_text has it as JSON.
PERP_API PERP_MUST perp_status perp_scene_generate(const char *name,
                                                   const perp_generator_option *options, int count,
                                                   const perp_env *env, perp_scene **scene,
                                                   perp_error *error);
