// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What both ladders need.
#include "comp/auto.h"

#include <math.h>
#include <string.h>

void pp_auto_tell(pp_report *report, const char *name, const char *word)
{
    size_t used = strlen(report->reason), size = sizeof report->reason;
    const char *parts[] = {used ? "; " : "", name, ": ", word};
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        size_t length = strlen(parts[k]);
        if (used + length + 1 > size) {
            return;
        }
        memcpy(report->reason + used, parts[k], length + 1);
        used += length;
    }
}

static int weight(perp_status status)
{
    switch (status) {
    case PERP_ERR_INFEASIBLE:
        return 4;
    case PERP_ERR_RAY:
        return 3;
    case PERP_ERR_LIMIT:
        return 2;
    case PERP_ERR_SINGULAR:
        return 1;
    default:
        return 0;
    }
}

perp_status pp_auto_telling(perp_status a, perp_status b)
{
    return weight(b) > weight(a) ? b : a;
}

bool pp_auto_late(const pp_job *job)
{
    return isfinite(job->deadline) && pp_seconds() > job->deadline;
}
