// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs of a live view: what the sliders of a page show and set. A value that a page has set stays when the sim is
// replaced by one with other settings, until the reset.
#include "live.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

static int count_of(const live_sim *live)
{
    return perp_model_inputs(perp_scene_model(live->scene));
}

bool live_inputs_begin(live_sim *live)
{
    live->input = calloc((size_t)count_of(live) + 1, sizeof *live->input);
    live_inputs_forget(live);
    return live->input != NULL;
}

// NaN: not set by a page.
void live_inputs_forget(live_sim *live)
{
    for (int k = 0; live->input && k < count_of(live); k++) {
        live->input[k] = (double)NAN;
    }
}

void live_inputs_apply(live_sim *live)
{
    for (int k = 0; live->input && k < count_of(live); k++) {
        if (!isnan(live->input[k])) {
            (void)!perp_sim_input_set(live->sim, (perp_input){k}, live->input[k]);
        }
    }
}

// {"input": 0, "value": 1.5}; without a value the input follows its source again.
void live_inputs_obey(live_sim *live, const json_t *root)
{
    const json_t *which = json_object_get(root, "input"), *value = json_object_get(root, "value");
    json_int_t k = json_integer_value(which);
    if (!live->input || !json_is_integer(which) || k < 0 || k >= count_of(live)) {
        return;
    }
    perp_input input = {(int)k};
    if (!json_is_number(value)) {
        live->input[k] = (double)NAN;
        perp_sim_input_release(live->sim, input);
    } else if (isfinite(json_number_value(value))) {
        live->input[k] = json_number_value(value);
        (void)!perp_sim_input_set(live->sim, input, live->input[k]);
    }
}

static json_t *number_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

// Name, value, default, range (null: none) and unit of each.
json_t *live_inputs_list(const live_sim *live)
{
    json_t *list = json_array();
    for (int k = 0; k < count_of(live); k++) {
        perp_input input = {k};
        perp_input_def def = perp_model_input_def(perp_scene_model(live->scene), input);
        json_array_append_new(list, json_pack("{s:s,s:f,s:f,s:o,s:o,s:s}", "name", def.name,
                                              "value", perp_sim_input(live->sim, input), "default",
                                              def.value, "lower", number_or_null(def.lower),
                                              "upper", number_or_null(def.upper), "unit",
                                              def.unit ? def.unit : ""));
    }
    return list;
}
