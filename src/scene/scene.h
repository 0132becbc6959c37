// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of scene/: scene files and generated scenes. A scene is a model with the settings to
// simulate it, the text it was read from, and the files that the text names.
#pragma once

#include "format/format.h"
#include "model/model.h"

#include <perp/scene.h>

// In every perp_scene_settings that perp_scene_settings_default made.
#define PP_SETTINGS_COOKIE 0x70530003u

// Owns all it points to. text is the file as it was read, comments included, so that a recording
// can keep the scene byte by byte.
struct perp_scene {
    perp_env env;
    pp_arena *arena;  // name, description, text and files
    perp_model *model;
    perp_sim_def sim;
    double step, until, interval;  // [s]; interval 0: every step is recorded
    const char *name, *description;
    const char *text;
    const char *report;  // of the import of a robot; NULL: none
    size_t size;
    perp_scene_value *parameter;
    int parameters;
    perp_scene_file *file;  // files that the text names, each once
    int files, file_room;
};

// ── Units (read/units.c) ──────────────────────────────────────────────────────────────────────────────

enum { PP_DIMENSIONS = 4, PP_RADIAN = 3 };  // metre, kilogram, second, radian

// A value in this unit times the factor is the value in SI.
typedef struct pp_measure {
    double factor;
    int power[PP_DIMENSIONS];
} pp_measure;

// Reads a unit such as "N/m"; returns NULL, or the place where it is none, with the nearest one that
// exists.
const char *pp_measure_parse(const char *text, size_t length, pp_measure *unit, const char **near);
double pp_measure_apply(const pp_measure *unit, double value);
// Whether a unit has the dimension of the units of a field ("N m or N").
bool pp_measure_fits(const pp_measure *unit, const char *due, int which);

// ── Texts ────────────────────────────────────────────────────────────────────────────────────────

// Replaces comments and trailing commas by blanks, so that lines and columns stay (read/text.c).
void pp_scene_blank(char *text, size_t size);
// Largest text or file that is read [bytes].
size_t pp_reading_most(const perp_scene_load_options *reading);
