// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "comp/comp.h"

#define UNUSED(x) ((void)(x))

perp_status pp_enum_mcp(const perp_mcp *mcp, const pp_job *job, double *z, pp_report *report)
{
    UNUSED(mcp), UNUSED(job), UNUSED(z), UNUSED(report);
    return PERP_ERR_REFUSED;
}

perp_status perp_mcp_enumerate(const perp_mcp *mcp, const perp_env *env, int most, double *z,
                               int *count)
{
    UNUSED(mcp), UNUSED(env), UNUSED(most), UNUSED(z), UNUSED(count);
    return PERP_ERR_REFUSED;
}
