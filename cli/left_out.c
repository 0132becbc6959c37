// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Lines that count what is not part of a run: parts of a robot that its scene does not have, and pairs of shapes excluded
// from contact detection.
#include "cli.h"

#include <string.h>

// Notes of a kind in the report of an import. Quotes inside of its texts are escaped, so that the words are found at the
// beginning of a note only.
static int count_notes(const char *report, perp_import_note_kind kind)
{
    char words[60];
    int count = 0;
    snprintf(words, sizeof words, "{\"kind\": \"%s\"", perp_import_note_word(kind));
    for (const char *at = strstr(report, words); at; at = strstr(at + 1, words)) {
        count++;
    }
    return count;
}

void cli_import_line(const perp_scene *scene, const char *see)
{
    const char *report = perp_scene_report(scene);
    if (report) {
        printf("import      not used: %d, repaired: %d, assumed: %d; see %s\n",
               count_notes(report, PERP_IMPORT_NOT_USED), count_notes(report, PERP_IMPORT_REPAIRED),
               count_notes(report, PERP_IMPORT_ASSUMED), see);
    }
}

void cli_left_out(const perp_model *model)
{
    perp_excluded_pairs out = perp_model_excluded_pairs(model);
    const struct {
        const char *why;
        int64_t count;
    } part[] = {{"without a dynamic body", out.not_dynamic},
                {"not listed", out.listed_only},
                {"with detection off", out.not_detected},
                {"ignored by rule", out.ignored},
                {"kept apart by groups and masks", out.masked},
                {"of excluded bodies", out.excluded},
                {"connected by joints", out.joined}};
    long long all = 0;
    for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
        all += part[k].count;
    }
    printf("excluded    %lld shape pair%s", all, all == 1 ? "" : "s");
    const char *before = ": ";
    for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
        if (part[k].count > 0) {
            printf("%s%lld %s", before, (long long)part[k].count, part[k].why);
            before = ", ";
        }
    }
    printf("\n");
}
