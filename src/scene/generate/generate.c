// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Scenes made to measure: options in, JSON text out, read back as any scene.
//
// A generator is a pp_recipe: a card for lists, a table of options and a function that writes the
// text. The order of the recipes is that in which `perp scene` lists them. Generated scenes have
// golden hashes, so that a change of the text, even of a digit, shows in a test.
#include "scene/generate/generate.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static const pp_recipe *const recipes[] = {
    &pp_arch_recipe,      &pp_wall_recipe,   &pp_pile_recipe,     &pp_stack_recipe,
    &pp_chain_recipe,     &pp_cradle_recipe, &pp_pendulum_recipe, &pp_windows_recipe,
    &pp_ladder_recipe,    &pp_slide_recipe,  &pp_incline_recipe,  &pp_bounce_recipe,
    &pp_stack3_recipe,    &pp_wall3_recipe,  &pp_pile3_recipe,    &pp_chain3_recipe,
    &pp_pendulum3_recipe, &pp_arch3_recipe,  &pp_heap3_recipe,    &pp_heaps_recipe,
};
enum { RECIPES = sizeof recipes / sizeof recipes[0] };

// ── Text ─────────────────────────────────────────────────────────────────────────────────────────

// Appends bytes; one more is kept free. The room doubles, so that writing n bytes costs O(n).
static void put_bytes(pp_scene_writer *out, const char *bytes, size_t n)
{
    if (out->failed) {
        return;
    }
    if (out->size + n + 1 > out->room) {
        size_t room = 2 * out->room + n + 4096;
        char *text = pp_alloc(out->env, room);
        if (!text) {
            out->failed = true;
            return;
        }
        if (out->size > 0) {
            memcpy(text, out->text, out->size);
        }
        pp_free(out->env, out->text, out->room);
        out->text = text;
        out->room = room;
    }
    memcpy(out->text + out->size, bytes, n);
    out->size += n;
}

void pp_scene_writer_put(pp_scene_writer *out, const char *format, ...)
{
    char number[40];
    va_list list;
    va_start(list, format);
    for (const char *c = format; *c; c++) {
        const char *word = NULL;
        if (*c == '#') {
            // Minus zero is printed as 0.
            double value = va_arg(list, double);
            pp_number_print_short(number, sizeof number, value == 0.0 ? 0.0 : value);
            word = number;
        } else if (*c == '@') {
            pp_print(number, sizeof number, "%d", va_arg(list, int));
            word = number;
        } else if (*c == '$') {
            word = va_arg(list, const char *);
        }
        // A character that stands for nothing is copied.
        put_bytes(out, word ? word : c, word ? strlen(word) : 1);
    }
    va_end(list);
}

void pp_scene_writer_head(pp_scene_writer *out, const char *name, const char *description,
                          double step, double until)
{
    pp_scene_writer_put(
        out, "{\n \"name\": \"$\",\n \"description\": \"$\",\n \"step\": #,\n \"until\": #,\n",
        name, description, step, until);
}

// Used as the first '$' of an item.
const char *pp_scene_writer_comma(int k)
{
    return k > 0 ? ",\n" : "";
}

// ── Options ──────────────────────────────────────────────────────────────────────────────────────

// Refuses a name: with the nearest known one, or else with the list of all.
static perp_status no_such(perp_error *error, const char *what, const char *word,
                           const char *const *names, int count)
{
    char list[220] = "";
    const char *near = pp_nearest(word, strlen(word), names, count);
    if (near) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "%s '%.40s': did you mean '%s'?", what, word,
                       near);
    }
    for (int k = 0; k < count; k++) {
        size_t used = strlen(list);
        pp_print(list + used, sizeof list - used, "%s%s", k > 0 ? ", " : "", names[k]);
    }
    return pp_fail(error, PERP_ERR_ARGUMENT, "%s '%.40s'; expected one of %s", what, word, list);
}

// Finds the option by name and checks its value.
// given is an option as the command line has it, a name and a text.
static perp_status take_option(const pp_recipe *recipe, const perp_generator_option *given,
                               double *value, perp_error *error)
{
    const char *names[PP_OPTIONS_MAX];
    char what[64];
    for (int k = 0; k < recipe->options; k++) {
        const pp_option *option = &recipe->option[k];
        names[k] = option->name;
        if (strcmp(option->name, given->name) != 0) {
            continue;
        }
        double x = 0.0;
        bool good = given->value &&
                    pp_number_parse(given->value, strlen(given->value), &x) == PP_NUMBER_FINITE;
        if (!good || x < option->low || x > option->high || (option->whole && x != floor(x))) {
            return pp_fail(error, PERP_ERR_ARGUMENT,
                           "%s: option '%s' must be a%s number from %g to %g, not '%.40s'",
                           recipe->card.name, option->name, option->whole ? " whole" : "",
                           option->low, option->high, given->value ? given->value : "");
        }
        value[k] = x;
        return PERP_OK;
    }
    // Only now is the list of names complete: the loop above filled it.
    pp_print(what, sizeof what, "%s: unknown option", recipe->card.name);
    return no_such(error, what, given->name, names, recipe->options);
}

// ── Generating ───────────────────────────────────────────────────────────────────────────────────

int perp_generator_count(void)
{
    return RECIPES;
}

const perp_generator *perp_generator_at(int i)
{
    return i >= 0 && i < RECIPES ? &recipes[i]->card : NULL;
}

// Text of the scene, parsed. No limit on its size is needed, since the options bound it.
static perp_status write_scene(const pp_recipe *recipe, const double *value, const perp_env *env,
                               perp_scene **scene, perp_error *error)
{
    pp_scene_writer out = {.env = env};
    perp_scene_load_options reading = perp_scene_load_options_default();
    reading.max_mb = PP_INF;
    recipe->write(&out, value);
    perp_status status;
    if (out.failed) {
        status = pp_fail(error, PERP_ERR_MEMORY, "not enough memory for this scene");
    } else {
        status = perp_scene_parse_with(recipe->card.name, out.text, out.size, &reading, env, scene,
                                       error);
    }
    pp_free(env, out.text, out.room);
    return status;
}

perp_status perp_scene_generate(const char *name, const perp_generator_option *options, int count,
                                const perp_env *env, perp_scene **scene, perp_error *error)
{
    if (error) {
        *error = (perp_error){0};
    }
    if (!name || !scene || (count > 0 && !options)) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "perp_scene_generate: NULL argument");
    }
    *scene = NULL;
    const char *names[RECIPES];
    for (int i = 0; i < RECIPES; i++) {
        const pp_recipe *recipe = recipes[i];
        names[i] = recipe->card.name;
        if (strcmp(name, recipe->card.name) != 0) {
            continue;
        }
        // Defaults, then what is given.
        double value[PP_OPTIONS_MAX];
        for (int k = 0; k < recipe->options; k++) {
            value[k] = recipe->option[k].standard;
        }
        for (int k = 0; k < count; k++) {
            if (!options[k].name) {
                return pp_fail(error, PERP_ERR_ARGUMENT, "%s: an option has no name", name);
            }
            perp_status status = take_option(recipe, &options[k], value, error);
            if (status < 0) {
                return status;
            }
        }
        return write_scene(recipe, value, env, scene, error);
    }
    return no_such(error, "unknown generator", name, names, RECIPES);
}
