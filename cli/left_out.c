// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The line that counts the pairs of shapes excluded from contact detection.
#include "cli.h"

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
