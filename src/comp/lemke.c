// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "comp/comp.h"

#define UNUSED(x) ((void)(x))

perp_status pp_lemke_mcp(const perp_mcp *mcp, const pp_job *job, double *z, pp_report *report)
{
    UNUSED(mcp), UNUSED(job), UNUSED(z), UNUSED(report);
    return PERP_ERR_REFUSED;
}
