// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of scene/: scene files and generated scenes.
#pragma once

#include "format/format.h"
#include "model/model.h"

#include <perp/scene.h>

struct perp_scene {
    perp_env env;
    pp_arena *arena;  // texts
    perp_model *model;
    perp_sim_def sim;
    double step, until, interval;
    const char *name, *description;
    const char *text;
    size_t size;
    perp_scene_file *file;  // that it names, each once
    int files, file_room;
};
