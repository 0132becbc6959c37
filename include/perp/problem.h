// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Complementarity problems in files: ncx text, FCLIB HDF5, Siconos text, and perp's own JSON.
#pragma once

#include <perp/base.h>
#include <perp/comp.h>
#include <perp/ncp.h>

// A problem read from a file; owns its arrays.
typedef struct perp_problem perp_problem;

typedef enum perp_problem_kind {
    PERP_PROBLEM_MCP,  // lcp, mlcp, relay and boxlcp files
    PERP_PROBLEM_FCP,  // fc, gfc, rolling
    PERP_PROBLEM_NCP,  // ncp: F as expressions
} perp_problem_kind;

// Reads a file; the format is detected by content, not by name (docs/file-format.md). On failure *problem is
// NULL and error has the position, the object and the remedy. Warnings go to env->log. HDF5 files must be read
// by one thread at a time.
PERP_API PERP_MUST perp_status perp_problem_read(const char *path, const perp_env *env,
                                                 perp_problem **problem, perp_error *error);
// The same from memory. A problem without a name of its own gets `name`, without directory and extension.
PERP_API PERP_MUST perp_status perp_problem_parse(const char *name, const char *text, size_t size,
                                                  const perp_env *env, perp_problem **problem,
                                                  perp_error *error);
PERP_API void perp_problem_destroy(perp_problem *problem);

PERP_API perp_problem_kind perp_problem_kind_of(const perp_problem *problem);
PERP_API const char *perp_problem_name(const perp_problem *problem);
PERP_API const char *
perp_problem_word(const perp_problem *problem);  // lcp mlcp relay boxlcp ncp fc gfc rfc grfc
PERP_API const perp_mcp *perp_problem_mcp(const perp_problem *problem);  // NULL for other kinds
PERP_API const perp_fcp *perp_problem_fcp(const perp_problem *problem);  // NULL for other kinds
// NULL for other kinds. Its callbacks evaluate the expressions of the file in memory of the problem: one thread at a
// time.
PERP_API const perp_ncp *perp_problem_ncp(const perp_problem *problem);
// The name of variable i of a nonlinear MCP; NULL: it has none.
PERP_API const char *perp_problem_variable(const perp_problem *problem, int i);

// Write the problem in perp's JSON format, exact to the last bit.
PERP_API PERP_MUST perp_status perp_mcp_write(const perp_mcp *mcp, const char *name,
                                              const char *path, perp_error *error);
PERP_API PERP_MUST perp_status perp_fcp_write(const perp_fcp *fcp, const char *name,
                                              const char *path, perp_error *error);
