// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target for scene files: accepted scenes are simulated for three steps; rejected ones must have a message.
// Large scenes are only read.
#include <perp/io.h>

#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

static void run(const perp_scene *scene)
{
    const perp_model *model = perp_scene_model(scene);
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_sim *sim = NULL;
    perp_error error = {0};
    double h = perp_scene_step(scene);
    if (def.stepper ==
        PERP_STEPPER_EVENT) {  // as long as its events take: a short time, and loosely
        def.event.tolerance_relative = 1e-5;
        def.event.tolerance_absolute = 1e-7;
        def.event.max_events_per_second = 100.0;
        h = fmin(h, 0.01);
    }
    if (perp_sim_create(model, &def, NULL, &sim, &error) < 0) {
        demand(error.text[0]);
        return;
    }
    for (int k = 0; k < 3; k++) {
        double before = perp_sim_time(sim);
        perp_status status = perp_sim_step(sim, h);
        demand(status >= 0 || (perp_sim_time(sim) == before && perp_sim_error(sim)->text[0]));
        for (int b = 0; b < perp_model_bodies(model); b++) {
            perp_vec3 p = perp_sim_body_position(sim, (perp_body){b});
            demand(status < 0 || (!isnan(p.x) && !isnan(p.y)));
        }
    }
    perp_sim_destroy(sim);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    perp_scene *scene = NULL;
    perp_error error = {0};
    perp_status status = perp_scene_parse("input", (const char *)data, size, NULL, &scene, &error);
    demand((status == PERP_OK) == (scene != NULL));
    if (!scene) {
        demand(error.status == status && error.text[0] && memchr(error.text, 0, sizeof error.text));
        return 0;
    }
    if (perp_model_bodies(perp_scene_model(scene)) <= 12 &&
        perp_model_shapes(perp_scene_model(scene)) <= 16) {
        run(scene);
    }
    perp_scene_destroy(scene);
    return 0;
}
