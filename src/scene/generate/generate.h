// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to scene/: generators write a scene as JSON text, which is then read as any scene file
// is. A generated scene can therefore be saved, edited and read again.
#pragma once

#include "scene/scene.h"

// Text that grows. After a failed allocation nothing more is written, and `failed` stays set, so
// that only the end has to be checked.
typedef struct pp_scene_writer {
    const perp_env *env;
    char *text;
    size_t size, room;
    bool failed;
} pp_scene_writer;

// In the format '#' stands for the next double, '@' for the next int and '$' for the next const
// char *. Doubles are printed with as few digits as read back to the same bits.
void pp_scene_writer_put(pp_scene_writer *out, const char *format, ...);

// An option of a generator: its default and its range; whole: an integer.
typedef struct pp_option {
    const char *name;
    double standard, low, high;
    bool whole;
} pp_option;

enum { PP_OPTIONS_MAX = 12 };

// A generator: its name and description, its options, and the function that writes the scene.
typedef struct pp_recipe {
    perp_generator card;
    const pp_option *option;
    int options;
    // value[k] is that of option k, within its range.
    void (*write)(pp_scene_writer *out, const double *value);
} pp_recipe;

extern const pp_recipe pp_arch_recipe, pp_wall_recipe, pp_pile_recipe, pp_stack_recipe,
    pp_chain_recipe, pp_cradle_recipe, pp_pendulum_recipe, pp_windows_recipe;
// Scenes that grow in number of bodies (generate_heap.c).
extern const pp_recipe pp_ladder_recipe, pp_heap3_recipe;
// Scenes in space (generate_space.c).
extern const pp_recipe pp_slide_recipe, pp_incline_recipe, pp_bounce_recipe, pp_stack3_recipe,
    pp_wall3_recipe, pp_pile3_recipe, pp_chain3_recipe, pp_pendulum3_recipe, pp_arch3_recipe,
    pp_heaps_recipe;

// The head of a scene up to "bodies", with its name, description, step and end.
void pp_scene_writer_head(pp_scene_writer *out, const char *name, const char *description,
                          double step, double until);
// The separator before item k of a list; the first has none.
const char *pp_scene_writer_comma(int k);
// Floor and four walls at the distance `at` from the middle [m], up to the list of bodies
// (generate_space.c).
void pp_scene_writer_bin(pp_scene_writer *out, double at, double mu);
