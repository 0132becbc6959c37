// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The line that says which pairs of shapes no contact is looked for between.
#include "cli.h"

void cli_left_out(const perp_model *model)
{
    perp_excluded_pairs out = perp_model_excluded_pairs(model);
    const struct {
        const char *why;
        int64_t count;
    } part[] = {{"of bodies that are not free", out.not_dynamic},
                {"not listed", out.listed_only},
                {"not to be detected", out.not_detected},
                {"by rules", out.ignored},
                {"by joints", out.joined}};
    long long all = 0;
    for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
        all += part[k].count;
    }
    printf("left out    %lld pairs of shapes", all);
    const char *before = ": ";
    for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
        if (part[k].count > 0) {
            printf("%s%lld %s", before, (long long)part[k].count, part[k].why);
            before = ", ";
        }
    }
    printf("\n");
}
