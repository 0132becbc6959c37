// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions that the ladders for MCPs and for contact problems share.
#include "comp/auto.h"

#include <math.h>
#include <string.h>

// Appends text where it fits, whole or not at all.
static void append_text(pp_report *report, const char *text)
{
    size_t used = strlen(report->reason), length = strlen(text);
    if (used + length < sizeof report->reason) {
        memcpy(report->reason + used, text, length + 1);
    }
}

void pp_auto_append_reason(pp_report *report, const char *name, perp_status status, bool solved,
                           const char *reason)
{
    append_text(report, report->reason[0] ? "; " : "");
    append_text(report, name);
    append_text(report, ": ");
    const char *outcome = status >= 0 ? "rejected" : perp_status_word(status);
    append_text(report, solved ? "solved" : outcome);
    if (status == PERP_ERR_INFEASIBLE && reason[0]) {
        append_text(report, ", ");
        append_text(report, reason);
    }
}

int pp_auto_limit(int own, int asked)
{
    return own == 0 || (asked > 0 && asked < own) ? asked : own;
}

static int status_rank(perp_status status)
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

perp_status pp_auto_worse_failure(perp_status a, perp_status b)
{
    return status_rank(b) > status_rank(a) ? b : a;
}

int pp_auto_iterations_left(int left, int taken)
{
    if (left <= 0) {
        return left;  // no limit, or none left before
    }
    return left > taken ? left - taken : -1;
}

bool pp_auto_tighten(const perp_fcp_residuals *residuals, double worst, const pp_job *job,
                     perp_comp_options *options)
{
    double tolerance = options->tolerance;
    bool late = options->max_iterations > 0 || pp_job_is_over(job);
    if (!(worst > tolerance && pp_fcp_norms(residuals) <= tolerance) || late) {
        return false;
    }
    // 0.3 leaves a margin, since the error of a contact falls only about in proportion to the
    // norms; less than a hundredth at once, or than rounding, would be wasted
    options->tolerance = fmax(fmax(0.01, 0.3 * tolerance / worst) * tolerance, 1e-14);
    options->warm_start = true;
    return options->tolerance < tolerance;
}
