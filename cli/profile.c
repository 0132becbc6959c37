// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp run --profile: where the time of a run went, by the stages of a step and by what the solver did.
#include "cli.h"

#include <math.h>

static const char *const stage_names[PERP_STAGE_COUNT] = {
    [PERP_STAGE_KINEMATICS] = "kinematics",  [PERP_STAGE_GAP] = "gaps",
    [PERP_STAGE_CONSTRAINT] = "constraints", [PERP_STAGE_SOLVE] = "solve",
    [PERP_STAGE_INTEGRATE] = "integrate",    [PERP_STAGE_CERTIFY] = "certify",
};

void cli_profile_step(cli_profile *p, const perp_step_info *info)
{
    double all = 0.0;
    for (int k = 0; k < PERP_STAGE_COUNT; k++) {
        p->seconds[k] += info->seconds[k];
        all += info->seconds[k];
    }
    p->steps++;
    p->longest = fmax(p->longest, all);
    p->contacts += info->contacts;
    p->guessed += info->effort.guessed;
    p->solvers += info->effort.solvers;
    p->factorisations += info->effort.factorisations;
    p->unfactored += info->contacts > 0 && info->effort.factorisations == 0;
    p->touching += info->contacts > 0;
    p->most = info->effort.factorisations > p->most ? info->effort.factorisations : p->most;
    p->fill = fmax(p->fill, info->effort.fill);
    p->seconds_factor += info->effort.seconds_factor;
}

void cli_profile_print(const cli_profile *p, FILE *out)
{
    double all = 0.0, steps = p->steps > 0 ? (double)p->steps : 1.0;
    for (int k = 0; k < PERP_STAGE_COUNT; k++) {
        all += p->seconds[k];
    }
    double whole = all > 0.0 ? all : 1.0;
    fprintf(out, "profile     %.3f s in steps, %.4g us a step, the longest %.4g us\n", all,
            1e6 * all / steps, 1e6 * p->longest);
    for (int k = 0; k < PERP_STAGE_COUNT; k++) {
        if (stage_names[k]) {
            fprintf(out, "  %-16s %10.3f s  %5.1f %%  %10.4g us a step\n", stage_names[k],
                    p->seconds[k], 100.0 * p->seconds[k] / whole, 1e6 * p->seconds[k] / steps);
        }
    }
    fprintf(out, "  %-16s %10.3f s  %5.1f %%  (of solve: Newton's systems)\n", "factors",
            p->seconds_factor, 100.0 * p->seconds_factor / whole);
    fprintf(out, "  contacts         %.4g a step, %.1f %% start from the step before\n",
            (double)p->contacts / steps,
            p->contacts > 0 ? 100.0 * (double)p->guessed / (double)p->contacts : 0.0);
    fprintf(out, "  solvers          %.3g a step that touches\n",
            p->touching > 0 ? (double)p->solvers / (double)p->touching : 0.0);
    fprintf(
        out,
        "  factorisations   %.4g a step, at most %d; none in %lld of %lld steps with contacts\n",
        (double)p->factorisations / steps, p->most, (long long)p->unfactored,
        (long long)p->touching);
    fprintf(out, "  fill             %.4g numbers in the largest factors\n", p->fill);
}
