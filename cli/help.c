// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp help: how to use it, verb by verb.
#include "cli.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

static const char general[] =
    "perp: rigid multibody systems in which contact is solved, not softened\n"
    "\n"
    "  perp run SCENE         simulate a scene and record it\n"
    "  perp explain SCENE     the matrices of one step, with names, units and sizes\n"
    "  perp info [SCENE]      what is in a scene; or versions, libraries, solvers\n"
    "  perp check DIR         judge a recorded run again, from its recording alone\n"
    "  perp view SCENE        run a scene live in the browser; view DIR: a replay of a run\n"
    "  perp plot DIR          figures of a recorded run, as SVG\n"
    "  perp compare A B       where two recorded runs part\n"
    "  perp scene [NAME]      make a scene to measure: arch, wall, pile, ...\n"
    "  perp solve FILE...     solve complementarity problems from files\n"
    "  perp doctor            what is built in and installed, and what is missing\n"
    "  perp help [COMMAND]    this text, or a command's\n"
    "  perp --version\n"
    "\n"
    "A SCENE is a JSON file (docs/scene-format.md), or - for the standard input.\n";

static const char run[] =
    "perp run SCENE [options]\n"
    "\n"
    "Simulates the scene to its end and leaves in DIR: run.h5 (everything), bodies.csv, "
    "contacts.csv,\n"
    "events.jsonl, summary.json, figures as SVG, and replay.html, a page that plays the run in "
    "any\n"
    "browser, offline. A recording that is in DIR already is replaced; while another run writes to "
    "DIR,\n"
    "it is refused.\n"
    "\n"
    "  -o DIR            default: the scene's name with -run\n"
    "  --until T         end of the run [s]; the last step is shorter where T is no multiple of H\n"
    "  --step H          length of a step [s]\n"
    "  --stepper NAME    stewart-trinkle, anitescu-potra, moreau-jean, quasistatic,\n"
    "                    event\n"
    "  --form NAME       auto, mcp, lcp, cone: the problem a step poses\n"
    "  --solver NAME     auto, or another of 'perp info'\n"
    "  --friction NAME   coulomb, none, pyramid; in space coulomb is the exact cone\n"
    "  --facets N        directions of a pyramid\n"
    "  --rotation NAME   exponential, linear: how quaternions follow the spin\n"
    "  --gyroscopic NAME implicit, explicit\n"
    "  --start NAME      mended, as given: overlaps and open joints at t = 0\n"
    "  --positions NAME  linear, exact: how joints hold at the end of a step\n"
    "  --coordinates NAME  body, joint: the velocities a step is written in\n"
    "  --tol R           tolerance of the solver\n"
    "  --threads N       work on N threads; the run is the same, bit for bit\n"
    "  --max-seconds S   budget of solving in a step: then the best answer is taken\n"
    "  --max-iterations N  the same in iterations, with the same bits in every run\n"
    "  --max-work N      give a step up as not solved after the work of N factorisations of its\n"
    "                    largest system or of 3e6 operations, default 2000; 0: no limit\n"
    "  --every N         record every N-th step only\n"
    "  --no-figures      no SVG: as fast as can be, 'perp plot' can draw them later\n"
    "  --no-replay       no replay.html; 'perp view DIR' can make it later\n"
    "  --replay-mb N     what replay.html may weigh [MB], default 20: long runs are thinned\n"
    "  --max-mb N        read scenes, and mesh files they name, of up to N MB; default 64\n"
    "  --allow-outside   read mesh files outside the folder of the scene\n"
    "  --profile         tell where the time went: stages, phases of solving, factorisations,\n"
    "                    fill, operations, guesses\n"
    "  --json            print summary.json instead of the summary for people\n"
    "  -q                print nothing: the exit code tells\n"
    "\n"
    "What is not given is as the scene has it. On a terminal a line tells how far the run is.\n"
    "\n"
    "Exit code: 0 fine, 2 bad input or command line, 3 a step was not solved (the state before it "
    "is\n"
    "kept, the problem is in DIR/unsolved.json), 4 the certificate is violated, 1 the recording "
    "could\n"
    "not be written, 130 interrupted (SIGINT, SIGTERM, SIGHUP): what was done is recorded.\n";

static const char explain[] =
    "perp explain SCENE [options]\n"
    "\n"
    "Shows the problem of one step as the papers write it: M, W_b, W_n, W_f, U, E, A, b, the "
    "solution z and\n"
    "the slack w = A z + b, with names, units and sizes. Motors and dry joint friction add W_m, "
    "p_m.\n"
    "\n"
    "  --at T            the step that begins at T [s]; default the first\n"
    "  --form mcp|lcp    all unknowns (default), or velocities and joints eliminated\n"
    "  --json            {form, size, blocks, M, W_b, W_n, W_f, U, E, A, b, z, w, names}\n"
    "  --latex           a document that compiles as it is\n"
    "  --loads           instead: the force of each contact, and the least and most it can be with "
    "the\n"
    "                    same motion; how many impulses are independent (--json: as JSON)\n"
    "  --coordinates joint  instead: the equations of motion at T, H q'' + C = B u + J^T lambda\n"
    "  --step H, --stepper NAME, --solver NAME, --max-mb N, --allow-outside   as for 'perp run'\n"
    "\n"
    "Exit code: 0 fine, 2 bad input, 3 the step was not solved (its problem is still shown).\n";

static const char check[] =
    "perp check DIR [--limits program|recorded] [--json] [-q]\n"
    "\n"
    "Recomputes from run.h5 alone, the scene's text in it included: gaps, joint errors, pulling "
    "contacts,\n"
    "friction beyond its cone or along the slip, the position update, the balance of momentum, the "
    "energy\n"
    "that contacts and joints made. Says for each the worst, when and where. What the recording "
    "does not\n"
    "hold (steps that were left out, runs without a scene) is named as not judged.\n"
    "\n"
    "The limits are those of this program; --limits recorded takes those that the scene or the "
    "caller\n"
    "of the run had set.\n"
    "\n"
    "Exit code: 0 passed, 4 violated, 2 no recording.\n";

static const char view[] =
    "perp view SCENE [options]\n"
    "perp view DIR [--replay-mb N] [--open] [-q]\n"
    "\n"
    "With a scene: serves a page on this machine that runs it: run, pause, step, reset; pull "
    "bodies "
    "with\n"
    "the pointer; change friction, step, solver and law; save what was recorded. Only this machine "
    "can\n"
    "reach the server, and only who knows the address it prints. Closing the last page ends it.\n"
    "With a recording: writes DIR/replay.html, as 'perp run' does.\n"
    "\n"
    "  -o NAME           what is saved goes to NAME-1, NAME-2, ...; default: the scene's name with "
    "-live\n"
    "  --port N          default: any that is free\n"
    "  --run             begin at once\n"
    "  --open            open the page in the desktop's browser\n"
    "  --replay-mb N     what a replay may weigh [MB], default 20\n"
    "  --max-mb N, --allow-outside   as for 'perp run'\n"
    "  -q                print the address, or nothing\n"
    "\n"
    "On another machine: ssh -L 8080:127.0.0.1:8080 HOST, there view with port 8080, and open the "
    "address\n"
    "here.\n"
    "\n"
    "Exit code: 0 fine, 2 bad input, 1 no page could be written or served.\n";

static const char plot[] =
    "perp plot DIR [NAME...] [-o OUTDIR] [-q]\n"
    "\n"
    "Draws a recorded run as SVG files fit for a paper, and an index.html that shows them with "
    "captions.\n"
    "With each figure NAME.svg come NAME.gp and NAME.dat: 'gnuplot NAME.gp' draws it again from "
    "its data.\n"
    "Default: all figures that have something to show, into DIR. A run of any length gives files "
    "of\n"
    "bounded size, and no extreme is lost. --only NAME,... is the same as names.\n"
    "\n"
    "  paths       the scene at several times, and the paths of the centres of mass\n"
    "  gaps        gaps of the contacts, and the deepest penetration\n"
    "  forces      normal and friction impulses\n"
    "  cones       friction against the cone\n"
    "  modes       open, stick, slip: a strip for each contact\n"
    "  energy      kinetic, potential, work done, dissipated\n"
    "  residual    residual and certificate, against their limits\n"
    "  joints      errors and reactions of the joints\n"
    "  velocities  of the centres of mass, and angular\n"
    "  events      impacts, separations, changes between stick and slip\n"
    "\n"
    "Of more than 8 contacts, bodies or joints the figures show extremes and sums.\n"
    "\n"
    "Exit code: 0 fine, 2 no recording or bad command line, 1 a file could not be written.\n";

static const char compare[] =
    "perp compare A B [--tol R] [-o OUTDIR] [--json]\n"
    "\n"
    "Two recordings (directories) side by side: the first time and body where positions [m] or "
    "angles\n"
    "[rad] differ by more than R (default 1e-6), the largest differences of every body, distances "
    "over\n"
    "time, and contacts that are in other modes. Bodies are matched by name, moments by time.\n"
    "\n"
    "  -o OUTDIR   draw both runs over each other: overlay, distance, curves, modes (SVG), "
    "index.html\n"
    "\n"
    "Exit code: 0, or with --tol 4 when they part; 2 no recording; 1 a file could not be "
    "written.\n";

static const char scene[] =
    "perp scene\n"
    "perp scene NAME [--OPTION VALUE]... [-o FILE]\n"
    "\n"
    "Without a name: the scenes that can be made, with their options and what these are when not "
    "given.\n"
    "With one: the scene as JSON, on the standard output or in FILE.\n"
    "\n"
    "  perp scene arch --thickness 0.106 | perp run - -o falls\n"
    "\n"
    "Exit code: 0 fine, 2 bad name or option, 1 the output could not be written.\n";

static const char solve[] =
    "perp solve FILE... [options]\n"
    "\n"
    "Solves complementarity and frictional contact problems. Formats are told by content: ncx,\n"
    "Siconos text, FCLIB HDF5, perp JSON. One file gives a block, several give a table.\n"
    "\n"
    "  --solver NAME         auto (default), or another of 'perp info'; all: compare those that\n"
    "                        take the problem\n"
    "  --tol R               tolerance on residuals and backward error, default 1e-8\n"
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
    "the natural map as printed (FCLIB's convention for contact), 'backward' takes each row or\n"
    "contact in units of its own. z is v followed by r for global contact problems, r for local\n"
    "ones.\n"
    "\n"
    "Exit code: 0 all solved, 3 some not, 2 bad input or command line, 1 output not written.\n"
    "With --solver all a problem counts as solved when one solver solves it.\n";

static const char info[] = "perp info\n"
                           "perp info SCENE [--json] [--max-mb N] [--allow-outside]\n"
                           "\n"
                           "Without a scene: versions, libraries, and the table of solvers: "
                           "problem classes, proofs, cost,\n"
                           "failures. With a scene: its bodies, shapes, joints, degrees of "
                           "freedom, redundant constraints.\n";

static const char doctor[] =
    "perp doctor [--json]\n"
    "\n"
    "Tells what this perp was built with, solves and judges a small problem, and looks for "
    "programs "
    "that\n"
    "some commands and make targets use: what is there, what is missing, what that disables, and "
    "how to\n"
    "get it.\n"
    "\n"
    "Exit code: 0 the core works (whatever else is missing), 3 it does not.\n";

static const char complete[] =
    "perp complete [WORD...]\n"
    "\n"
    "What can stand in the place of the last word, a line each; ':files' stands for file names. "
    "Shells ask\n"
    "this: cmake --install puts their scripts where bash and zsh look for them; from a source tree "
    "say\n"
    "\n"
    "  . cli/completion/perp.bash\n";

// The general page, and where this perp's files are.
static cli_exit tell_general(void)
{
    static const struct {
        const char *what, *name;
    } parts[] = {{"documentation", "docs"},
                 {"scenes", "scenes"},
                 {"schema of scenes", "scenes/scene.schema.json"},
                 {"examples in C", "examples"},
                 {"viewer", "viewer.html"}};
    char folder[PATH_MAX], path[PATH_MAX + 64];
    fputs(general, stdout);
    if (!cli_data_folder(folder, sizeof folder)) {
        puts("\nDocumentation, scenes and examples are not installed with this perp.");
        return CLI_FINE;
    }
    puts("\nFiles that come with it:");
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, parts[k].name);
        if (access(path, R_OK) == 0) {
            printf("  %-17s %s\n", parts[k].what, cli_plain(path));
        }
    }
    return CLI_FINE;
}

cli_exit cli_help(int count, char **words)
{
    static const struct {
        const char *verb, *text;
    } pages[] = {{"run", run},   {"explain", explain}, {"check", check},      {"view", view},
                 {"plot", plot}, {"compare", compare}, {"scene", scene},      {"solve", solve},
                 {"info", info}, {"doctor", doctor},   {"complete", complete}};
    if (count == 0) {
        return tell_general();
    }
    if (cli_completes(count, words)) {
        for (int k = 0; count == 2 && cli_verb_name(k); k++) {
            puts(cli_verb_name(k));
        }
        return CLI_LISTED;
    }
    if (count > 1) {
        return cli_complain("help: '%s' is one word too many", words[1]);
    }
    if (strcmp(words[0], "help") == 0) {
        return tell_general();
    }
    for (size_t k = 0; k < sizeof pages / sizeof pages[0]; k++) {
        if (strcmp(words[0], pages[k].verb) == 0) {
            fputs(pages[k].text, stdout);
            return CLI_FINE;
        }
    }
    return cli_complain("help: '%s' is not a command", words[0]);
}
