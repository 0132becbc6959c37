// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp info: versions, libraries, solvers. perp help: how to use it.
#include "cli.h"

#include <SuiteSparse_config.h>
#include <hdf5.h>
#include <jansson.h>
#include <string.h>

static const struct {
    unsigned bit;
    const char *word;
} classes[] = {
    {PERP_CLASS_LCP, "lcp"},
    {PERP_CLASS_MCP, "mcp"},
    {PERP_CLASS_FCP_LOCAL, "fc"},
    {PERP_CLASS_FCP_GLOBAL, "gfc"},
    {PERP_CLASS_FCP_ROLLING, "rolling"},
    {PERP_CLASS_FCP_PYRAMID, "pyramid"},
};

static void print_solver(const perp_solver_card *card)
{
    printf("\n%s\n  takes      ", card->name);
    for (size_t k = 0; k < sizeof classes / sizeof classes[0]; k++) {
        if (card->classes & classes[k].bit) {
            printf("%s ", classes[k].word);
        }
    }
    printf("\n  proven     %s\n  reference  %s\n  cost       %s\n  fails by   %s\n", card->proven,
           card->reference, card->cost, card->failure);
}

cli_exit cli_info(int count, char **words)
{
    if (count > 0) {
        return cli_complain("info: '%s' is one word too many", words[0]);
    }
    printf("perp       %s (library %s)\n", PERP_VERSION, perp_version());
    unsigned hdf5[3] = {0};
    H5get_libversion(&hdf5[0], &hdf5[1], &hdf5[2]);
    printf("libraries  SuiteSparse %d.%d.%d (KLU, AMD), HDF5 %u.%u.%u, jansson %s\n",
           SUITESPARSE_MAIN_VERSION, SUITESPARSE_SUB_VERSION, SUITESPARSE_SUBSUB_VERSION, hdf5[0],
           hdf5[1], hdf5[2], jansson_version_str());
    printf("reads      ncx, Siconos text, FCLIB HDF5, perp JSON\n");
    printf("solvers    %d\n", perp_solver_count());
    for (int k = 0; k < perp_solver_count(); k++) {
        print_solver(perp_solver_at(k));
    }
    return CLI_FINE;
}

// ── help ─────────────────────────────────────────────────────────────────────────────────────────

static const char general[] =
    "perp: rigid multibody systems in which contact is solved, not softened\n"
    "\n"
    "  perp solve FILE...     solve complementarity problems from files\n"
    "  perp info              versions, libraries, solvers and what they are for\n"
    "  perp help [COMMAND]    this text, or a command's\n"
    "  perp --version\n";

static const char solve[] =
    "perp solve FILE... [options]\n"
    "\n"
    "Solves complementarity and frictional contact problems. Formats are told by content: ncx,\n"
    "Siconos text, FCLIB HDF5, perp JSON. One file gives a block, several give a table.\n"
    "\n"
    "  --solver NAME         auto (default), or another of 'perp info'; all: compare those that\n"
    "                        take the problem\n"
    "  --tol R               tolerance on both residuals, default 1e-8\n"
    "  --max-iterations N    0 (default): chosen from the size\n"
    "  --max-seconds S       for each problem and solver, default 60; 0: no limit\n"
    "  --facets N            replace round friction cones by pyramids with N >= 3 sides\n"
    "  --form cone|lcp       lcp: pose contact as a Stewart-Trinkle LCP (4 facets unless "
    "--facets)\n"
    "  --json                one object, or a list for several results\n"
    "  -o FILE               write z as CSV: a value a line; several results: name, solver, "
    "values\n"
    "  -q                    no warnings, and no table or block: the exit code tells\n"
    "\n"
    "Residuals are computed by code that no solver uses. 'scaled' has the units straight, 'plain' "
    "is\n"
    "the natural map as printed (FCLIB's convention for contact). z is v followed by r for global\n"
    "contact problems, r for local ones.\n"
    "\n"
    "Exit code: 0 all solved, 3 some not, 2 bad input or command line, 1 output not written.\n"
    "With --solver all a problem counts as solved when one solver solves it.\n";

static const char info[] =
    "perp info\n\nVersions, libraries, and the table of solvers: problem classes, "
    "proofs, cost, failures.\n";

cli_exit cli_help(int count, char **words)
{
    static const struct {
        const char *verb, *text;
    } pages[] = {{"solve", solve}, {"info", info}, {"help", general}};
    if (count == 0) {
        fputs(general, stdout);
        return CLI_FINE;
    }
    for (size_t k = 0; k < sizeof pages / sizeof pages[0]; k++) {
        if (strcmp(words[0], pages[k].verb) == 0) {
            fputs(pages[k].text, stdout);
            return CLI_FINE;
        }
    }
    return cli_complain("help: '%s' is not a command", words[0]);
}
