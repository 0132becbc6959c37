// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp scene: scene generators; writes JSON for `perp run`.
#include "cli.h"

#include <string.h>

enum { OPTIONS_MOST = 32 };

static cli_exit list(void)
{
    for (int i = 0; i < perp_generator_count(); i++) {
        const perp_generator *g = perp_generator_at(i);
        printf("%-10s %s\n           %s\n", g->name, g->summary, g->options);
    }
    return CLI_FINE;
}

// "--name value" pairs after the name of the generator; -o is the output file.
static cli_exit read_words(int count, char **words, perp_generator_option *option, int *options,
                           const char **output)
{
    for (int k = 0; k < count; k += 2) {
        bool is_output = strcmp(words[k], "-o") == 0;
        if (!is_output && strncmp(words[k], "--", 2) != 0) {
            return cli_complain("scene: '%s' is not an option: see 'perp scene'", words[k]);
        }
        if (k + 1 == count) {
            return cli_complain("scene: %s: missing value", words[k]);
        }
        if (is_output) {
            *output = words[k + 1];
        } else if (*options == OPTIONS_MOST) {
            return cli_complain("scene: more than %d options", OPTIONS_MOST);
        } else {
            option[(*options)++] = (perp_generator_option){words[k] + 2, words[k + 1]};
        }
    }
    return CLI_FINE;
}

static cli_exit write_scene(const perp_scene *scene, const char *output)
{
    perp_error error;
    size_t size;
    const char *text = perp_scene_text(scene, &size);
    if (output && strcmp(output, "-") != 0) {
        if (perp_scene_write(scene, output, &error) < 0) {
            cli_complain("%s", error.text);
            return CLI_OUTPUT;
        }
        return CLI_FINE;
    }
    bool written = fwrite(text, 1, size, stdout) == size && fflush(stdout) == 0;
    return written ? CLI_FINE : CLI_OUTPUT;
}

// Names of generators; after one, its options: "blocks=20 …" as --blocks.
static cli_exit complete(int count, char **words)
{
    for (int i = 0; i < perp_generator_count(); i++) {
        const perp_generator *g = perp_generator_at(i);
        if (count <= 2) {
            puts(g->name);
        } else if (strcmp(g->name, words[1]) == 0 && words[count - 1][0] == '-') {
            for (const char *c = g->options; *c; c += strspn(c, " ")) {
                printf("--%.*s\n", (int)strcspn(c, "= "), c);
                c += strcspn(c, " ");
            }
            puts("-o");
        } else if (strcmp(g->name, words[1]) == 0 && strcmp(words[count - 2], "-o") == 0) {
            puts(":files");
        }
    }
    return CLI_LISTED;
}

cli_exit cli_scene(int count, char **words)
{
    perp_generator_option option[OPTIONS_MOST];
    const char *output = NULL;
    int options = 0;
    if (count == 0) {
        return list();
    }
    if (cli_completes(count, words)) {
        return complete(count, words);
    }
    if (cli_wants_help("scene", count, words)) {
        return CLI_FINE;
    }
    cli_exit code = read_words(count - 1, words + 1, option, &options, &output);
    if (code != CLI_FINE) {
        return code;
    }
    perp_scene *scene;
    perp_error error;
    if (perp_scene_generate(words[0], option, options, NULL, &scene, &error) < 0) {
        return cli_complain("scene: %s", error.text);
    }
    code = write_scene(scene, output);
    perp_scene_destroy(scene);
    return code;
}
