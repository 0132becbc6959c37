// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The suites: problems, solvers, time limits and tolerances.
#include "bench.h"
#include "generate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    PYRAMID_SIZE = 700,       // largest Stewart–Trinkle LCP
    BOX_CONTACTS = 120,       // largest box friction problem
    GRANULAR_CONTACTS = 2000  // from here a plane problem belongs to the granular suite
};

static void take_mcp(const bench_context *context, const char *path, const char *name)
{
    bench_problem problem;
    if (bench_problem_read(path, name, &problem) == 0) {
        bench_problem_classify(&problem);
        bench_take(context, &problem);
    }
}

static void build_lcp(const bench_context *context)
{
    bench_files(context, "lcp", take_mcp);
    bench_files(context, "relay", take_mcp);
    generate_classical(context);
}

static void build_mlcp(const bench_context *context)
{
    bench_files(context, "mlcp", take_mcp);
}

// ── Stewart–Trinkle LCPs ─────────────────────────────────────────────────────────────────────────

static void take_pyramid(const bench_context *context, const char *path, const char *name)
{
    bench_problem contact, pyramid;
    if (bench_problem_read(path, name, &contact) != 0) {
        return;
    }
    const perp_fcp *fcp = &contact.fcp;
    int size = fcp->nc * (fcp->dim == 2 ? 4 : 6);
    if (contact.contact && fcp->nv == 0 && fcp->dim <= 3 && size <= PYRAMID_SIZE &&
        bench_pyramid(&contact, &pyramid) == 0) {
        bench_take(context, &pyramid);
    }
    bench_problem_clear(&contact);
}

static void build_st(const bench_context *context)
{
    bench_files(context, "fc", take_pyramid);
    generate_piles(context);
}

static void build_pivot(const bench_context *context)
{
    static const int sizes[] = {20, 50, 100, 200, 500, 1000};
    for (int k = 0; k < 6; k++) {
        generate_dense(context, sizes[k]);
    }
}

// ── Contact ──────────────────────────────────────────────────────────────────────────────────────

static void take_box(const bench_context *context, const char *path, const char *name)
{
    bench_problem problem;
    if (bench_problem_read(path, name, &problem) != 0) {
        return;
    }
    bool fits = problem.contact && problem.fcp.nv == 0 && problem.fcp.nc <= BOX_CONTACTS;
    if (fits && bench_symmetric(&problem)) {
        bench_make_box(&problem);
        bench_take(context, &problem);
    } else {
        bench_problem_clear(&problem);
    }
}

static void build_box(const bench_context *context)
{
    bench_files(context, "fc", take_box);
}

static const char *contact_family(const perp_fcp *fcp)
{
    return fcp->nv > 0 ? "global" : (fcp->dim == 2 ? "plane" : "space");
}

static void take_contact(const bench_context *context, const char *path, const char *name)
{
    bench_problem problem;
    if (bench_problem_read(path, name, &problem) != 0) {
        return;
    }
    bool granular = strcmp(context->suite->name, "granular") == 0;
    bool loose = strcmp(context->suite->name, "cone4") == 0;
    problem.family = contact_family(&problem.fcp);
    bool large = problem.fcp.nc > GRANULAR_CONTACTS;
    bool wanted =
        problem.contact && large == granular && (!loose || strcmp(problem.family, "space") == 0);
    if (wanted) {
        bench_take(context, &problem);
    } else {
        bench_problem_clear(&problem);
    }
}

static void build_contact(const bench_context *context)
{
    bench_files(context, "fc", take_contact);
}

// ── Warm start ───────────────────────────────────────────────────────────────────────────────────

// The Stewart–Trinkle LCP of a changed contact problem, with b of the previous one.
static int moved_pyramid(const bench_problem *contact, bench_problem *pyramid)
{
    bench_problem before = *contact, old;
    before.fcp.q = contact->b_before;
    if (bench_pyramid(contact, pyramid) != 0 || bench_pyramid(&before, &old) != 0) {
        return -1;
    }
    double *b = bench_alloc(pyramid, (size_t)old.mcp.n, sizeof *b);
    memcpy(b, old.mcp.b, (size_t)old.mcp.n * sizeof *b);
    pyramid->b_before = b;
    bench_problem_clear(&old);
    return 0;
}

static void take_warm_contact(const bench_context *context, const char *path, const char *name)
{
    bench_problem problem, pyramid;
    if (bench_problem_read(path, name, &problem) != 0) {
        return;
    }
    const perp_fcp *fcp = &problem.fcp;
    if (!problem.contact || fcp->nv > 0 || fcp->dim != 3 || fcp->nc < 4 || fcp->nc > 300) {
        bench_problem_clear(&problem);
        return;
    }
    problem.family = "space";
    generate_moved(&problem);
    if (fcp->nc * 6 <= PYRAMID_SIZE && moved_pyramid(&problem, &pyramid) == 0) {
        bench_take(context, &pyramid);
    }
    bench_take(context, &problem);
}

static void build_warm(const bench_context *context)
{
    static const int sizes[] = {50, 200, 500};
    for (int k = 0; k < 3; k++) {
        generate_dense(context, sizes[k]);
    }
    bench_files(context, "fc", take_warm_contact);
}

#define LCP_PEERS                                                                                  \
    "Siconos LEMKE", "Siconos PIVOT", "Siconos AVI_CAOFERRIS", "Siconos NEWTON_FB",                \
        "Siconos NEWTON_MIN_FB", "Siconos RELAY_LEMKE", "Siconos RELAY_AVI", "Bullet Lemke",       \
        "Bullet Dantzig", "DART Dantzig"
#define LOCAL_PEERS                                                                                \
    "Siconos 2D_NSGS", "Siconos 2D_LEMKE", "Siconos NSGS", "Siconos NSGS-quartic",                 \
        "Siconos NSN_AC", "Siconos PROX", "Siconos VI_EG"
#define GLOBAL_PEERS "Siconos G-NSGS_WR", "Siconos G-NSN_AC", "Siconos G-VI_EG", "Siconos G-ADMM"

static const bench_suite suites[] = {
    {"lcp",
     "LCPs and boxed problems: published, degenerate, classical",
     1e-8,
     1.0,
     build_lcp,
     {"auto", "lemke", "pivot", "ssn", "enum", LCP_PEERS}},
    {"mlcp",
     "Mixed LCPs of electrical circuits",
     1e-8,
     2.0,
     build_mlcp,
     {"auto", "lemke", "ssn", "Siconos MLCP_LEMKE", "Siconos MLCP_FB"}},
    {"st",
     "Stewart-Trinkle LCPs of real contact problems, 4 facets",
     1e-8,
     3.0,
     build_st,
     {"auto", "lemke", "Siconos LEMKE"}},
    {"pivot",
     "Dense families against Dantzig's method",
     1e-8,
     5.0,
     build_pivot,
     {"auto", "pivot", "Bullet Dantzig", "DART Dantzig", "Siconos NEWTON_FB"}},
    {"box",
     "Box friction of real contact problems, bounds consistent with the answer",
     1e-8,
     3.0,
     build_box,
     {"box", "Bullet Dantzig", "DART Dantzig"}},
    {"cone",
     "Exact friction cones to 1e-8: plane, space, global form",
     1e-8,
     3.0,
     build_contact,
     {"auto", "ssn", "gs", "eg", LOCAL_PEERS, GLOBAL_PEERS}},
    {"cone4",
     "Exact friction cones in space to 1e-4",
     1e-4,
     2.0,
     build_contact,
     {"auto", "ssn", "gs", "eg", LOCAL_PEERS}},
    {"granular",
     "Granular flow in the plane to 1e-6",
     1e-6,
     30.0,
     build_contact,
     {"auto", "gs", "eg", "Siconos 2D_NSGS"}},
    {"warm",
     "The same matrix, right-hand side moved by 1 %: warm against cold start",
     1e-8,
     5.0,
     build_warm,
     {"lemke", "lemke warm", "pivot", "pivot warm", "ssn", "ssn warm"}},
};

const bench_suite *bench_suites(int *count)
{
    *count = (int)(sizeof suites / sizeof suites[0]);
    return suites;
}
