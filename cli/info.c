// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp info: versions, libraries, solvers.
#include "cli.h"

#include <SuiteSparse_config.h>
#include <hdf5.h>
#include <jansson.h>

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
    {PERP_CLASS_STEP, "steps (used internally, not selectable)"},
};

static void print_solver(const perp_solver_card *card)
{
    printf("\n%s\n  accepts   ", card->name);
    for (size_t k = 0; k < sizeof classes / sizeof classes[0]; k++) {
        if (card->classes & classes[k].bit) {
            printf(" %s", classes[k].word);
        }
    }
    printf("\n  proof      %s\n  reference  %s\n  cost       %s\n  failure    %s\n", card->proven,
           card->reference, card->cost, card->failure);
}

static void print_perp(void)
{
    printf("perp       %s (library %s)\n", PERP_VERSION, perp_version());
    unsigned hdf5[3] = {0};
    H5get_libversion(&hdf5[0], &hdf5[1], &hdf5[2]);
    printf("libraries  SuiteSparse %d.%d.%d (KLU, AMD), HDF5 %u.%u.%u, jansson %s\n",
           SUITESPARSE_MAIN_VERSION, SUITESPARSE_SUB_VERSION, SUITESPARSE_SUBSUB_VERSION, hdf5[0],
           hdf5[1], hdf5[2], jansson_version_str());
    printf("reads      scenes (JSON), robots (MJCF, URDF), recordings (HDF5); problems: ncx, "
           "Siconos text, FCLIB HDF5, perp JSON\n");
    printf("solvers    %d\n", perp_solver_count());
    for (int k = 0; k < perp_solver_count(); k++) {
        print_solver(perp_solver_at(k));
    }
}

cli_exit cli_info(int count, char **words)
{
    if (cli_wants_help("info", count, words)) {
        return CLI_FINE;
    }
    if (count == 0) {
        print_perp();
        return CLI_FINE;
    }
    return cli_info_scene(count, words);
}
