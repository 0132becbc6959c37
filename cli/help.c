// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp help: the help pages of the commands.
#include "cli.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

static const char general[] =
    "perp: rigid multibody simulation with exact contact\n"
    "\n"
    "usage: perp COMMAND [ARGUMENTS]\n"
    "\n"
    "Simulate a scene\n"
    "  run SCENE         simulate a scene and record the run\n"
    "  view SCENE        run a scene live in the browser\n"
    "  info SCENE        show its bodies, joints and degrees of freedom\n"
    "  explain SCENE     show the matrices of one step, with names and units\n"
    "  sweep FILE        run a scene with many different parameters\n"
    "  scene [NAME]      generate a scene: arch, wall, pile, ...\n"
    "  import MODEL      convert a robot (MJCF, URDF) to a scene\n"
    "\n"
    "Examine a recorded run\n"
    "  check DIR         verify a run from its recording alone\n"
    "  view DIR          write a page that replays the run\n"
    "  render DIR        make a picture or film (PNG, GIF, WebM)\n"
    "  plot DIR          draw figures (SVG), also of a sweep\n"
    "  compare A B       find where two runs diverge\n"
    "\n"
    "Solve problems from files\n"
    "  solve FILE...     solve complementarity and contact problems\n"
    "\n"
    "Get information\n"
    "  info              show versions, libraries and solvers\n"
    "  doctor            check this installation\n"
    "  help [COMMAND]    show this text, or help on a command\n"
    "  --version         print the version\n"
    "\n"
    "A SCENE is a JSON file (docs/scene-format.md), or a robot as MJCF or\n"
    "URDF (docs/robots.md), or - for standard input.\n"
    "A DIR is the output directory of 'perp run'.\n"
    "\n"
    "Examples\n"
    "  perp run scenes/berard-4.6.json -o run\n"
    "  perp check run\n"
    "  perp scene arch --thickness 0.106 | perp run - -o falls\n";

static const char run[] =
    "perp run SCENE [options]\n"
    "\n"
    "Simulates a scene and writes a recording to DIR: run.h5 (everything),\n"
    "bodies.csv, contacts.csv, joints.csv, actuators.csv, sensors.csv,\n"
    "events.jsonl, summary.json, SVG figures, and replay.html, a page that plays the\n"
    "run offline in any browser. An existing recording in DIR is replaced, unless\n"
    "another run is still writing it.\n"
    "\n"
    "Options override the scene file.\n"
    "\n"
    "Time and method\n"
    "  --until T           end time [s]; the last step is shortened to end at T\n"
    "  --step H            step size [s]\n"
    "  --stepper NAME      stewart-trinkle, anitescu-potra, moreau-jean, quasistatic,\n"
    "                      event, implicit\n"
    "  --accuracy E        largest estimated error of the motion per second [m/s]: steps\n"
    "                      are divided, and the error is estimated; default 0: neither\n"
    "  --form NAME         problem posed in each step: auto, mcp, lcp, cone\n"
    "  --solver NAME       auto, or a solver listed by 'perp info'\n"
    "  --friction NAME     coulomb, none, pyramid; in 3D, coulomb is the exact cone\n"
    "  --facets N          number of directions of a friction pyramid\n"
    "  --rotation NAME     integration of quaternions: exponential, linear\n"
    "  --gyroscopic NAME   gyroscopic torque: implicit, explicit\n"
    "  --start NAME        initial overlaps and open joints: mended (removed before\n"
    "                      the first step), as given\n"
    "  --keyframe NAME     start from this keyframe of the scene\n"
    "  --positions NAME    joints where a step ends, with moreau-jean and in scenes\n"
    "                      without joints also gaps: linear, exact; the stepper\n"
    "                      implicit closes both\n"
    "  --coordinates NAME  velocity coordinates: body, joint, auto\n"
    "\n"
    "Accuracy and limits\n"
    "  --tol R             solver tolerance\n"
    "  --threads N         number of threads; results do not depend on it\n"
    "  --max-seconds S     time limit for solving a step; the best answer so far is\n"
    "                      used when it is reached; a step that takes twice as\n"
    "                      long (at least 0.5 s more) fails\n"
    "  --max-iterations N  the same as an iteration limit, which is reproducible\n"
    "  --max-work N        abandon a step as unsolved after the work of N\n"
    "                      factorisations of its largest system (or of 3e6\n"
    "                      operations, if more); default 2000, 0: no limit\n"
    "\n"
    "Input\n"
    "  --max-mb N          largest scene or mesh file to read [MB]; default 64\n"
    "  --allow-outside     read files outside the directory of the scene\n"
    "  --set NAME=VALUE    set a parameter of the scene to a number, an expression\n"
    "                      or a quantity (\"12 mm\"); may be repeated\n"
    "  --missing-mesh NAME, --package-path DIRS, --free-base, --keep-fixed, --strict\n"
    "                      robots: see 'perp import --help'\n"
    "\n"
    "Output\n"
    "  -o DIR              output directory; default: the scene's name plus -run\n"
    "  --every N           record every Nth step only\n"
    "  --csv LIST          CSV files to write beside run.h5: none, all (default) or\n"
    "                      some of bodies,contacts,parts,joints,actuators,sensors\n"
    "  --no-recording      write nothing; print the summary only\n"
    "  --no-figures        do not draw figures; 'perp plot DIR' draws them later\n"
    "  --no-replay         do not write replay.html; 'perp view DIR' writes it later\n"
    "  --replay-mb N       size limit of replay.html [MB], default 20; long runs are\n"
    "                      thinned to fit\n"
    "  --profile           print where the time went, by stage and solver phase\n"
    "  --json              print summary.json instead of the text summary\n"
    "  -q                  print nothing; see the exit code\n"
    "\n"
    "On a terminal, a progress line is shown.\n"
    "\n"
    "Exit code: 0 success; 1 the recording could not be written; 2 bad input or\n"
    "command line; 3 a step was not solved (the state before it is kept, and its\n"
    "problem is written to DIR/unsolved.json); 4 the certificate is violated;\n"
    "130 interrupted (SIGINT, SIGTERM, SIGHUP), recorded up to that point.\n";

static const char explain[] =
    "perp explain SCENE [options]\n"
    "\n"
    "Shows the problem of one step in the notation of the literature: M, W_b, W_n,\n"
    "W_f, U, E, A, b, the solution z and the slack w = A z + b, with names, units\n"
    "and sizes. Motors and dry joint friction add W_m and p_m.\n"
    "\n"
    "  --at T               the step that starts at T [s]; default: the first\n"
    "  --form mcp|lcp       all unknowns (default), or velocities and joints\n"
    "                       eliminated\n"
    "  --json               {form, size, blocks, M, W_b, W_n, W_f, U, E, A, b, z, w,\n"
    "                       names}\n"
    "  --latex              a complete LaTeX document\n"
    "  --loads              show instead the force of each contact, its least and\n"
    "                       greatest value for the same motion, and how many impulses\n"
    "                       are independent (also with --json)\n"
    "  --coordinates joint  show instead the equations of motion at T,\n"
    "                       H q'' + C = B u + J^T lambda\n"
    "  --epsilon E          with --coordinates joint: also lambda of constraints that\n"
    "                       are stabilised with the time constant E [s] instead of\n"
    "                       the scene's own\n"
    "  --keyframe NAME      start from this keyframe of the scene\n"
    "  --step H, --stepper NAME, --solver NAME, --max-mb N, --allow-outside, --set NAME=VALUE,\n"
    "  --missing-mesh NAME, --package-path DIRS, --free-base, --keep-fixed, --strict\n"
    "                       as for 'perp run'\n"
    "\n"
    "Exit code: 0 success; 2 bad input; 3 the step was not solved (its problem is\n"
    "still shown).\n";

static const char check[] =
    "perp check DIR [--limits program|recorded] [--json] [-q]\n"
    "\n"
    "Verifies a run from run.h5 alone, which includes the scene. Recomputes gaps,\n"
    "joint errors, the signs of contact forces, friction cones and directions, the\n"
    "position update, the balance of momentum, and the energy created by contacts\n"
    "and joints. Reports the worst value of each, with its time and place. Items\n"
    "that the recording does not cover (steps not recorded, runs without a scene)\n"
    "are reported as not judged.\n"
    "\n"
    "  --limits NAME  program (default): the limits built into perp;\n"
    "                 recorded: the limits set by the scene or the caller of the run\n"
    "  --json         print JSON\n"
    "  -q             print nothing; see the exit code\n"
    "\n"
    "Exit code: 0 passed; 2 no recording; 4 violated.\n";

static const char view[] =
    "perp view SCENE [options]\n"
    "perp view DIR [--replay-mb N] [--open] [-q]\n"
    "perp view DIR DIR... [-o FILE] [--replay-mb N] [--open] [-q]\n"
    "\n"
    "With a scene: serves a page on this machine that runs the scene live. Run,\n"
    "pause, step and reset it; drag bodies with the pointer; change friction, step\n"
    "size, solver and friction law; save the recording. The server accepts local\n"
    "connections only, and requires the key in the address it prints. It exits when\n"
    "the last page is closed.\n"
    "\n"
    "With a recording: writes DIR/replay.html, as 'perp run' does. With up to eight:\n"
    "writes a page that shows the first run, with outlines of the others where they\n"
    "differ, and marks when they begin to; FILE is by default compare.html in the\n"
    "first DIR.\n"
    "\n"
    "  -o NAME          save recordings as NAME-1, NAME-2, ...; default: the scene's\n"
    "                   name plus -live\n"
    "  --port N         port; default: any free port\n"
    "  --keyframe NAME  start from this keyframe of the scene\n"
    "  --run            start running at once\n"
    "  --open           open the page in the default browser\n"
    "  --replay-mb N    size limit of a replay [MB], default 20\n"
    "  --max-mb N, --allow-outside, --set NAME=VALUE, --missing-mesh NAME,\n"
    "  --package-path DIRS, --free-base, --keep-fixed, --strict\n"
    "                   as for 'perp run'\n"
    "  -q               print only the address, or nothing\n"
    "\n"
    "To view a scene on another machine: ssh -L 8080:127.0.0.1:8080 HOST, start\n"
    "'perp view' there with port 8080, and open the address it prints here.\n"
    "\n"
    "Exit code: 0 success; 1 no page could be written or served; 2 bad input.\n";

static const char render[] =
    "perp render DIR... -o FILE [options]\n"
    "\n"
    "Makes a picture or a film of a recorded run, as the viewer shows it: bodies,\n"
    "contacts, forces, legend. The ending of FILE decides: .png a picture, .gif or\n"
    ".webm a film. The page of the viewer draws it in Chromium without a window,\n"
    "without a GPU and without a network. Every frame is drawn however long it\n"
    "takes. Several runs are drawn together, as by 'perp view'.\n"
    "\n"
    "  -o FILE          default: film.webm\n"
    "  --size WxH       pixels, 16 to 4096; default 1280x720\n"
    "  --fps N          frames per second; default 30, of a GIF 20\n"
    "  --speed S        times real time; default 1, 0.1 is slow motion\n"
    "  --from T, --to T part of the run [s]; default: all\n"
    "  --hold T         how long the last frame of a GIF stays [s]; default 0.8\n"
    "  --at T           time of a picture [s]; default: the start\n"
    "  --camera A,E[,Z] azimuth from x towards y and elevation [deg], zoom relative\n"
    "                   to the view that shows everything; in a plane x, y of the\n"
    "                   centre [m], zoom\n"
    "  --view TEXT      what to show, as after # in the address of a replay\n"
    "                   (docs/viewer.md): 'theme=dark&forces=0&body=ball&follow'\n"
    "  --replay-mb N    size limit of the data that the page gets [MB], default 100\n"
    "  -q               print nothing\n"
    "\n"
    "Chromium is found on the search path; PERP_BROWSER names another program.\n"
    "\n"
    "Exit code: 0 success; 1 no browser, or FILE could not be written; 2 bad input;\n"
    "130 interrupted.\n";

static const char sweep[] =
    "perp sweep FILE [options]\n"
    "\n"
    "Runs a scene with many different parameters, as a sweep file describes\n"
    "(docs/sweeps.md), and writes sweep.csv, sweep.h5 and index.html with figures.\n"
    "Each run is made by a worker process with limits of time and memory. A run that\n"
    "fails is a row with its status and reason. The results are the same bytes for\n"
    "any number of workers. 'mpirun -n N perp sweep FILE' shares the runs among\n"
    "N ranks.\n"
    "\n"
    "  -o DIR           directory of the results; default NAME-sweep\n"
    "  --resume         continue a sweep that was interrupted or killed\n"
    "  --workers N      worker processes; default: one per core\n"
    "  --shard K/N      make only part K of N of the runs, for job arrays\n"
    "  --merge          write the results of the runs that are there\n"
    "  --only INDEX     make one run again and print its row; with -o it is recorded\n"
    "  --points         print the parameters of all runs as CSV; run nothing\n"
    "  --no-figures     do not draw figures; 'perp plot DIR' draws them later\n"
    "  --no-replay      do not write replay.html of recorded runs\n"
    "  --replay-mb N    size limit of such a page [MB]; default 10\n"
    "  --max-mb N       read files of up to N million bytes; default 64\n"
    "  --allow-outside  read files outside the directory of the sweep\n"
    "  -q               print nothing\n"
    "\n"
    "Exit code: 0 all runs were made, whatever their status; 1 output could not be\n"
    "written; 2 bad input; 3 --only: not solved; 4 --only: another row than in DIR;\n"
    "130 interrupted: continue with --resume.\n";

static const char plot[] =
    "perp plot DIR [NAME...] [-o OUTDIR] [-q]\n"
    "\n"
    "DIR of a sweep: draws its response curves, maps and how its runs ended.\n"
    "\n"
    "Draws a recorded run as SVG figures suitable for a paper, with captions in\n"
    "index.html. Each NAME.svg comes with NAME.gp and NAME.dat; 'gnuplot NAME.gp'\n"
    "redraws it from the data. Default: all figures that have data, written to DIR.\n"
    "File sizes are bounded whatever the length of the run; extreme values are kept.\n"
    "\n"
    "  paths       the scene at several times, with paths of the centres of mass\n"
    "  gaps        contact gaps and the deepest penetration\n"
    "  forces      normal and friction impulses\n"
    "  cones       friction impulses relative to the cone\n"
    "  modes       open, stick or slip: one strip per contact\n"
    "  energy      kinetic, potential, work done, dissipated\n"
    "  residual    residual and certificate relative to their limits\n"
    "  accuracy    errors of the motion and of each step, where they were estimated\n"
    "  joints      joint errors and reactions\n"
    "  coordinates joint coordinates and rates; efforts and powers of their drives\n"
    "  velocities  linear and angular velocities of the bodies\n"
    "  sensors     values of the first eight sensors\n"
    "  events      impacts, separations, changes between stick and slip\n"
    "\n"
    "  --only NAME,...  the same as listing names\n"
    "  -o OUTDIR        write the figures to OUTDIR\n"
    "  -q               print nothing\n"
    "\n"
    "With more than 8 contacts, bodies or joints, figures show extremes and sums.\n"
    "\n"
    "Exit code: 0 success; 1 a file could not be written; 2 no recording or bad\n"
    "command line.\n";

static const char compare[] =
    "perp compare A B [--tol R] [-o OUTDIR] [--json]\n"
    "\n"
    "Compares two recordings (directories). Reports the first time and body at which\n"
    "positions [m] or angles [rad] differ by more than R, the largest differences of\n"
    "each body, distances over time, and contacts in different modes. Bodies are\n"
    "matched by name, frames by time.\n"
    "\n"
    "  --tol R      tolerance, default 1e-6\n"
    "  -o OUTDIR    draw both runs together: overlay, distance, curves, modes (SVG),\n"
    "               and index.html\n"
    "  --json       print JSON\n"
    "\n"
    "Exit code: 0 success; 1 a file could not be written; 2 no recording; 4 the runs\n"
    "diverge (with --tol only).\n";

static const char scene[] =
    "perp scene\n"
    "perp scene NAME [--OPTION VALUE]... [-o FILE]\n"
    "\n"
    "Scene generators. Without a name: lists the generators, their options and\n"
    "default values. With a name: writes the scene as JSON to standard output or\n"
    "FILE.\n"
    "\n"
    "  perp scene arch --thickness 0.106 | perp run - -o falls\n"
    "\n"
    "Exit code: 0 success; 1 the output could not be written; 2 bad name or option.\n";

static const char import[] =
    "perp import MODEL [-o FILE] [options]\n"
    "\n"
    "Converts a robot, given as MJCF (MuJoCo) or URDF, to a scene. Writes it as JSON\n"
    "to standard output or FILE, and a report to standard error: what was used, what\n"
    "was not used and why, what was repaired and what was assumed. Nothing is dropped\n"
    "without a line in the report.\n"
    "\n"
    "'perp run', 'view', 'explain' and 'info' read such models directly.\n"
    "\n"
    "  -o FILE             write the scene to FILE\n"
    "  --key NAME          start from this keyframe; default: the first one\n"
    "  --no-key            start from the reference configuration\n"
    "  --missing-mesh NAME mesh files that do not exist: skip (default) leaves their\n"
    "                      shapes out, box puts a box in their place, error refuses\n"
    "                      the model\n"
    "  --max-mb N          largest file to read [MB]; default 64\n"
    "  --allow-outside     read files outside the directory of the model\n"
    "  --package-path DIRS URDF: where packages (package://NAME/...) are, several\n"
    "                      directories separated by ':'\n"
    "  --free-base         URDF: the first link is free, not fixed to the ground\n"
    "  --keep-fixed        URDF: links on fixed joints are bodies of their own, welded\n"
    "  --strict            whatever is not used or had to be repaired is an error\n"
    "  --visual-triangles N\n"
    "                      simplify meshes that are shown to N triangles in all;\n"
    "                      default 20000\n"
    "  --no-visuals        leave out shapes that are only shown\n"
    "  --report FILE       write the report to FILE, as JSON\n"
    "  -q                  do not print the report\n"
    "\n"
    "Exit code: 0 success; 1 the output could not be written; 2 bad model or command\n"
    "line.\n";

static const char solve[] =
    "perp solve FILE... [options]\n"
    "\n"
    "Solves complementarity and frictional contact problems, and nonlinear\n"
    "complementarity problems whose functions stand in perp JSON as expressions.\n"
    "File formats are detected by content: ncx, Siconos text, FCLIB HDF5, perp JSON.\n"
    "One file prints a block, several print a table.\n"
    "\n"
    "  --solver NAME       auto (default), or a solver listed by 'perp info';\n"
    "                      all: compare every solver that accepts the problem\n"
    "  --tol R             tolerance on residuals and backward error, default 1e-8\n"
    "  --max-iterations N  iteration limit; 0 (default): chosen from the size\n"
    "  --max-seconds S     time limit per problem and solver, default 60; 0: none\n"
    "  --facets N          replace friction cones by pyramids with N >= 3 sides\n"
    "  --form cone|lcp     lcp: pose contact as a Stewart-Trinkle LCP (4 facets\n"
    "                      unless --facets is given)\n"
    "  --json              print one object, or a list for several results\n"
    "  -o FILE             write z as CSV: one value per line; for several results,\n"
    "                      one line each: name, solver, values\n"
    "  -q                  print no warnings and no results; see the exit code\n"
    "\n"
    "Residuals are computed by code that no solver uses. 'scaled' has consistent\n"
    "units; 'plain' is the unscaled natural map (FCLIB's convention for contact);\n"
    "'backward' is the backward error, each row or contact in its own units. z is v\n"
    "followed by r for global contact problems, r for local ones.\n"
    "\n"
    "Exit code: 0 all solved; 1 output not written; 2 bad input or command line;\n"
    "3 some not solved. With --solver all, a problem counts as solved when any solver\n"
    "solves it.\n";

static const char info[] =
    "perp info\n"
    "perp info SCENE [--json] [--set NAME=VALUE] [--max-mb N] [--allow-outside]\n"
    "\n"
    "Without a scene: shows versions, libraries, and for each solver its problem\n"
    "classes, proofs, cost and ways to fail. With a scene: shows its bodies, shapes,\n"
    "joints, inputs, actuators with their gains, sensors, degrees of freedom and\n"
    "redundant constraints.\n"
    "\n"
    "  --json           print JSON\n"
    "  --max-mb N, --allow-outside, --set NAME=VALUE, --missing-mesh NAME,\n"
    "  --package-path DIRS, --free-base, --keep-fixed, --strict\n"
    "                   as for 'perp run'\n";

static const char doctor[] =
    "perp doctor [--json]\n"
    "\n"
    "Checks this installation: shows what perp was built with, solves and verifies a\n"
    "small problem, and looks for the programs that some commands and make targets\n"
    "use. For each missing one it shows what that disables and how to install it.\n"
    "\n"
    "Exit code: 0 the core works (even if something is missing); 3 it does not.\n";

static const char complete[] =
    "perp complete [WORD...]\n"
    "\n"
    "Prints the possible completions of the last word, one per line; ':files' stands\n"
    "for file names. The completion scripts of bash and zsh call this command.\n"
    "'cmake --install' puts them where the shells look; in a source tree, run\n"
    "\n"
    "  . cli/completion/perp.bash\n";

// The general page, and the paths of the installed files.
static cli_exit tell_general(void)
{
    static const struct {
        const char *what, *name;
    } parts[] = {{"documentation", "docs"},
                 {"scenes", "scenes"},
                 {"scene schema", "scenes/scene.schema.json"},
                 {"C examples", "examples"},
                 {"viewer", "viewer.html"}};
    char folder[PATH_MAX], path[PATH_MAX + 64];
    fputs(general, stdout);
    if (!cli_data_folder(folder, sizeof folder)) {
        puts("\nDocumentation, scenes and examples are not installed.");
        return CLI_FINE;
    }
    puts("\nFiles");
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
    } pages[] = {{"run", run},       {"explain", explain},  {"check", check},     {"view", view},
                 {"render", render}, {"plot", plot},        {"compare", compare}, {"scene", scene},
                 {"sweep", sweep},   {"import", import},    {"solve", solve},     {"info", info},
                 {"doctor", doctor}, {"complete", complete}};
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
        return cli_complain("help: unexpected argument '%s'", words[1]);
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
