// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "comp/comp.h"

#define UNUSED(x) ((void)(x))

perp_status pp_ssn_fcp(const perp_fcp *fcp, const pp_job *job, double *r, double *v,
                       pp_report *report)
{
    UNUSED(fcp), UNUSED(job), UNUSED(r), UNUSED(v), UNUSED(report);
    return PERP_ERR_REFUSED;
}
