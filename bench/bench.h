// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of bench/: problems, solvers (ours and the peers') behind one interface, one forked run, and
// the report. C and C++ include it.
//
// Every (problem, solver) pair runs in its own process with CPU and wall time limits, so a peer that crashes or
// hangs affects one row only. The time is the thread CPU time of the solving call alone, the minimum over
// repeats that all start from zero. Every answer is judged by perp_mcp_judge or perp_fcp_judge; the status
// claimed by the solver is only compared with the result.
#pragma once

#include <perp/comp.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BENCH_NAME_SIZE = 64,
    BENCH_REPEATS = 15,      // at most, within the budget of bench_run()
    BENCH_ENUM_SIZE = 12,    // enumeration decides solvability up to this size
    BENCH_SOLVERS_MAX = 24,  // of one suite
};

// ── Problems ─────────────────────────────────────────────────────────────────────────────────────

typedef struct bench_block bench_block;

// A problem in the form given to every solver. MCPs are dense; contact problems are as read.
typedef struct bench_problem {
    char name[BENCH_NAME_SIZE];
    const char *family;  // "file", "spd", …: selects lines of the summary
    int n;               // size in the table: variables of an MCP, contacts otherwise
    bool contact;        // fcp is used, not mcp
    bool box;            // fcp with |r_t| <= mu r_n component by component
    bool unsolvable;     // proved by enumeration
    const int *findex;   // box: row of the normal, -1 on normals
    const double *mu;    // box: mu of each row
    perp_mcp mcp;
    perp_fcp fcp;
    const double *b_before;  // warm start: mcp.b or fcp.q of the previous problem
    double tolerance;
    double seconds;       // CPU limit of one solve
    bench_block *blocks;  // memory of this problem
} bench_problem;

void *bench_alloc(bench_problem *problem, size_t count,
                  size_t size);  // zeroed; ends the program when out
void bench_problem_clear(bench_problem *problem);
void bench_make_box(bench_problem *problem);  // from a local contact problem
perp_box_friction bench_box_of(const bench_problem *problem);
int bench_size(const bench_problem *problem);  // length of z

// ── Solvers ──────────────────────────────────────────────────────────────────────────────────────

typedef struct bench_answer {
    double *z;    // bench_size() numbers: z or r
    double *v;    // velocities of a global contact problem, else NULL
    bool claims;  // the solver claims success
    int iterations;
    const char *word;  // status word of the solver, or NULL
} bench_answer;

typedef struct bench_solver bench_solver;
struct bench_solver {
    const char *name;  // as in the tables: "lemke", "Siconos LEMKE"
    bool peer;
    int id;  // defined by the adapter: a Siconos constant, a variant
    bool (*accepts)(const bench_solver *solver, const bench_problem *problem);
    void *(*open)(const bench_solver *solver, const bench_problem *problem);  // not timed
    void (*reset)(void *state);                        // not timed: back to a cold start
    void (*solve)(void *state, bench_answer *answer);  // timed
};

// Each adapter's table; count receives its length.
const bench_solver *bench_ours(int *count);
const bench_solver *bench_siconos(int *count);
const bench_solver *bench_siconos_contact(int *count);
const bench_solver *bench_bullet(int *count);
const bench_solver *bench_dart(int *count);

const bench_solver *bench_solver_find(const char *name);  // NULL: absent from this build
void bench_peers_print(void);                             // which peers this build has

// Whether a dense matrix is symmetric to 1e-9 of its largest entry, as Dantzig's method requires.
bool bench_symmetric(const bench_problem *problem);

// ── Running ──────────────────────────────────────────────────────────────────────────────────────

typedef enum bench_outcome {
    BENCH_SOLVED,  // both residuals within 10 tol
    BENCH_PLAIN,   // only the plain one, which the peers minimise
    BENCH_FAILED,  // neither, and the solver does not claim success
    BENCH_FALSE,   // the solver claims success, but the plain residual is above 10 tol
    BENCH_NONE,    // there is no solution, and the solver does not claim one
    BENCH_TIMEOUT,
    BENCH_CRASH,
} bench_outcome;

typedef struct bench_result {
    bench_outcome outcome;
    bool claims;
    int iterations, repeats;
    double plain, scaled, dynamics;
    double seconds;  // thread CPU, minimum; INFINITY until one solve has ended
    char word[16];
} bench_result;

bench_result bench_run(const bench_solver *solver, const bench_problem *problem);
void bench_judge(const bench_problem *problem, const bench_answer *answer, bench_result *result);
bool bench_solved(const bench_result *result, bool peer);  // peers: the plain residual is enough

// ── Suites ───────────────────────────────────────────────────────────────────────────────────────

typedef struct bench_options {
    const char *suite;   // NULL: all
    const char *filter;  // substring of problem names, NULL: all
    const char *csv;
    const char *data;  // folder with problems/ncx, NULL: none found
    double tolerance;  // 0: the suite's
    double seconds;    // 0: the suite's
    bool peers;
} bench_options;

typedef struct bench_suite bench_suite;
typedef struct bench_context {
    const bench_options *options;
    const bench_suite *suite;
} bench_context;

struct bench_suite {
    const char *name, *title;
    double tolerance, seconds;
    void (*build)(const bench_context *context);  // hands problems to bench_take()
    const char *solvers[BENCH_SOLVERS_MAX];       // by name; absent ones are skipped
};

const bench_suite *bench_suites(int *count);
// Run every solver of the suite on the problem, report, and clear it.
void bench_take(const bench_context *context, bench_problem *problem);
bool bench_wanted(const bench_context *context, const char *name);

// Problem files of one folder of data/problems/ncx, in the order of their names.
typedef void bench_visit(const bench_context *context, const char *path, const char *name);
void bench_files(const bench_context *context, const char *folder, bench_visit *visit);
// Copies an MCP: dense for all solvers, because those of the peers are; an LCP without bounds.
void bench_problem_mcp(bench_problem *problem, const perp_mcp *from);
// 0, or -1 with a message on stderr.
int bench_problem_read(const char *path, const char *name, bench_problem *problem);
int bench_pyramid(const bench_problem *contact,
                  bench_problem *pyramid);  // Stewart–Trinkle, 4 facets
// Sets problem->unsolvable if that can be proved.
void bench_problem_classify(bench_problem *problem);

// ── Report ───────────────────────────────────────────────────────────────────────────────────────

void bench_report_open(const bench_options *options);
void bench_report_suite(const bench_suite *suite);
// The rows of one problem at once, so that each can be compared with the best peer.
void bench_report_problem(const bench_suite *suite, const bench_problem *problem, int count,
                          const bench_solver *const *solvers, const bench_result *results);
void bench_report_close(void);  // the summaries

#ifdef __cplusplus
}
#endif
