// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp run --profile: run time by stage of the step and phase of the solver.
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
    p->guessed += info->effort.warm_started;
    p->islands += info->effort.islands;
    p->apart = info->effort.islands > p->apart ? info->effort.islands : p->apart;
    p->solvers += info->effort.solvers;
    p->factorisations += info->effort.factorisations;
    p->work += info->effort.work;
    p->hardest = fmax(p->hardest, info->effort.work);
    p->repeated += info->repeats;
    p->unfactored += info->contacts > 0 && info->effort.factorisations == 0;
    p->touching += info->contacts > 0;
    p->most = info->effort.factorisations > p->most ? info->effort.factorisations : p->most;
    const perp_effort *e = &info->effort;
    p->effort.fill = fmax(p->effort.fill, e->fill);
    p->effort.flops = fmax(p->effort.flops, e->flops);
    p->effort.seconds_joints += e->seconds_joints;
    p->effort.seconds_modes += e->seconds_modes;
    p->effort.seconds_sweeps += e->seconds_sweeps;
    p->effort.seconds_exact += e->seconds_exact;
    p->effort.seconds_factor += e->seconds_factor;
    p->effort.seconds_judge += e->seconds_judge;
    p->effort.seconds_spread += e->seconds_spread;
}

static void print_phases(const cli_profile *p, double whole, FILE *out)
{
    const perp_effort *e = &p->effort;
    double steps = p->steps > 0 ? (double)p->steps : 1.0;
    double told = e->seconds_joints + e->seconds_modes + e->seconds_sweeps + e->seconds_exact +
                  e->seconds_judge + e->seconds_spread;
    const struct {
        const char *name;
        double seconds;
        const char *what;
    } line[] = {
        {"joints", e->seconds_joints, "factoring the joint system"},
        {"modes", e->seconds_modes, "active-set solver, warm-started"},
        {"sweeps", e->seconds_sweeps, "first-order solvers"},
        {"exact", e->seconds_exact - e->seconds_factor, "Newton and pivoting, without factors"},
        {"factors", e->seconds_factor, "factoring and solving with the factors"},
        {"judge", e->seconds_judge, "computing residuals"},
        {"spread", e->seconds_spread, "distributing load over redundant contacts"},
        {"pose", fmax(0.0, p->seconds[PERP_STAGE_SOLVE] - told), "assembling and unpacking"},
    };
    for (size_t k = 0; k < sizeof line / sizeof line[0]; k++) {
        fprintf(out, "    %-14s %10.3f s  %5.1f %%  %10.4g us per step  %s\n", line[k].name,
                line[k].seconds, 100.0 * line[k].seconds / whole, 1e6 * line[k].seconds / steps,
                line[k].what);
    }
}

void cli_profile_print(const cli_profile *p, FILE *out)
{
    double all = 0.0, steps = p->steps > 0 ? (double)p->steps : 1.0;
    for (int k = 0; k < PERP_STAGE_COUNT; k++) {
        all += p->seconds[k];
    }
    double whole = all > 0.0 ? all : 1.0;
    fprintf(out, "profile     %.3f s in steps, %.4g us per step, longest step %.4g us\n", all,
            1e6 * all / steps, 1e6 * p->longest);
    for (int k = 0; k < PERP_STAGE_COUNT; k++) {
        if (stage_names[k]) {
            fprintf(out, "  %-16s %10.3f s  %5.1f %%  %10.4g us per step\n", stage_names[k],
                    p->seconds[k], 100.0 * p->seconds[k] / whole, 1e6 * p->seconds[k] / steps);
        }
        if (k == PERP_STAGE_SOLVE) {
            print_phases(p, whole, out);
        }
    }
    fprintf(out, "  contacts         %.4g per step, %.1f %% warm-started\n",
            (double)p->contacts / steps,
            p->contacts > 0 ? 100.0 * (double)p->guessed / (double)p->contacts : 0.0);
    fprintf(out,
            "  at rest          %lld of %lld steps ended where they began and were not computed "
            "again\n",
            (long long)p->repeated, (long long)p->steps);
    fprintf(out, "  islands          %.4g per step, at most %d\n", (double)p->islands / steps,
            p->apart);
    fprintf(out, "  solvers          %.3g per step with contacts\n",
            p->touching > 0 ? (double)p->solvers / (double)p->touching : 0.0);
    fprintf(
        out,
        "  factorisations   %.4g per step, at most %d; none in %lld of %lld steps with contacts\n",
        (double)p->factorisations / steps, p->most, (long long)p->unfactored,
        (long long)p->touching);
    fprintf(out, "  work             %.4g factorisations per step, at most %.4g (--max-work)\n",
            p->work / steps, p->hardest);
    fprintf(
        out,
        "  fill             %.4g nonzeros in the largest factors, computed in %.4g operations\n",
        p->effort.fill, p->effort.flops);
}
