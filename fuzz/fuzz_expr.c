// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target for expressions, used as the motion of a driven body: accepted ones are evaluated and
// differentiated in two steps; rejected ones must have a message.
#include <perp/perp.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(const perp_model *model)
{
    perp_sim *sim = NULL;
    perp_sim_def def = perp_sim_default();
    if (perp_sim_create(model, &def, NULL, &sim, NULL) == PERP_OK) {
        for (int k = 0; k < 2; k++) {
            if (perp_sim_step(sim, 0.125) < 0 && !perp_sim_error(sim)->text[0]) {
                __builtin_trap();
            }
        }
    }
    perp_sim_destroy(sim);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    perp_builder *builder = perp_builder_create(NULL);
    perp_body_def body = perp_body_default();
    body.motion = PERP_MOTION_KINEMATIC;
    body.motion_x = text;
    perp_builder_add_body(builder, &body);
    perp_model *model = NULL;
    perp_error error = {0};
    perp_status status = perp_model_create(builder, &model, &error);
    if ((status == PERP_OK) != (model != NULL) || (status < 0 && !error.text[0])) {
        __builtin_trap();
    }
    if (model) {
        run(model);
    }
    perp_model_destroy(model);
    perp_builder_destroy(builder);
    free(text);
    return 0;
}
