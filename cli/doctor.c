// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp doctor: checks the build, the installation, and what missing parts disable.
#include "cli.h"

#include <SuiteSparse_config.h>
#include <hdf5.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct finding {
    const char *name;
    bool fine;
    char what[160];       // version or path
    const char *without;  // what its absence disables
    const char *how;      // how to install or fix it
} finding;

enum { FINDINGS_MOST = 32 };

typedef struct report {
    finding found[FINDINGS_MOST];
    int count;
    bool works;
} report;

static finding *add(report *r, const char *name, bool fine, const char *without, const char *how)
{
    finding *f = &r->found[r->count < FINDINGS_MOST ? r->count++ : FINDINGS_MOST - 1];
    *f = (finding){.name = name, .fine = fine, .without = without, .how = how};
    return f;
}

// ── Built in ─────────────────────────────────────────────────────────────────────────────────────

static void built_in(report *r)
{
    unsigned h[3] = {0};
    H5get_libversion(&h[0], &h[1], &h[2]);
    finding *f = add(r, "perp", strcmp(PERP_VERSION, perp_version()) == 0,
                     "all commands: command and library have different versions", "reinstall both");
    snprintf(f->what, sizeof f->what, "%s, library %s, %d solvers", PERP_VERSION, perp_version(),
             perp_solver_count());
    f = add(r, "SuiteSparse", true, "", "");
    snprintf(f->what, sizeof f->what, "%d.%d.%d (KLU, AMD): sparse factorisations",
             SUITESPARSE_MAIN_VERSION, SUITESPARSE_SUB_VERSION, SUITESPARSE_SUBSUB_VERSION);
    f = add(r, "HDF5", h[0] == H5_VERS_MAJOR && h[1] == H5_VERS_MINOR,
            "recordings: library and headers have different versions", "rebuild perp");
    snprintf(f->what, sizeof f->what, "%u.%u.%u: recordings, FCLIB problems", h[0], h[1], h[2]);
    f = add(r, "jansson", true, "", "");
    snprintf(f->what, sizeof f->what, "%s: scenes and problems as JSON", jansson_version_str());
#if defined(PERP_WITH_QHULL)
    bool hulls = true;
#else
    bool hulls = false;
#endif
    f = add(r, "qhull", hulls, "convex hulls of points in space (shape kind 'hull')",
            "install libqhull-dev and rebuild with -DPERP_WITH_QHULL=ON");
    snprintf(f->what, sizeof f->what, "convex hulls of points");
#if defined(PERP_WITH_OPENMP)
    bool threads = true;
#else
    bool threads = false;
#endif
    f = add(r, "OpenMP", threads, "multithreading (--threads has no effect)",
            "rebuild with -DPERP_WITH_OPENMP=ON (clang also needs libomp-dev)");
    snprintf(f->what, sizeof f->what, "multithreading");
    size_t page;
    f = add(r, "viewer", cli_page(&page) != NULL, "replay.html and the live view in a browser",
            "install Node.js and npm and rebuild with -DPERP_BUILD_VIEWER=ON");
    snprintf(f->what, sizeof f->what, "replay.html and the live view");
}

// ── Self-test ─────────────────────────────────────────────────────────────────────────────────────

// A box slides 0.1 s on a floor: v = 1 - mu g t with mu = 0.5, judged at every step.
static bool slides(double *residual)
{
    perp_builder *builder = perp_builder_create(NULL);
    perp_shape_def shape = perp_shape_default();
    shape.kind = PERP_SHAPE_HALFPLANE;
    shape.mu = 0.5;
    perp_builder_add_shape(builder, (perp_body){0}, &shape);
    perp_body_def def = perp_body_default();
    def.position_W = (perp_vec3){0.0, 0.5, 0.0};
    def.velocity_W = (perp_vec3){1.0, 0.0, 0.0};
    perp_body box = perp_builder_add_body(builder, &def);
    shape.kind = PERP_SHAPE_BOX;
    shape.half = (perp_vec3){0.5, 0.5, 0.0};
    shape.density = 1.0;
    perp_builder_add_shape(builder, box, &shape);
    perp_model *model = NULL;
    perp_sim *sim = NULL;
    bool good = perp_model_create(builder, &model, NULL) == PERP_OK &&
                perp_sim_create(model, NULL, NULL, &sim, NULL) == PERP_OK;
    for (int k = 0; k < 10 && good; k++) {
        good = perp_sim_step(sim, 0.01) == PERP_OK && perp_sim_info(sim)->certificate.passed;
        *residual = good ? fmax(*residual, perp_sim_info(sim)->certificate.residual) : *residual;
    }
    good = good && fabs(perp_sim_body_twist(sim, box).v_W.x - (1.0 - 0.5 * 9.81 * 0.1)) < 1e-9;
    perp_sim_destroy(sim);
    perp_model_destroy(model);
    perp_builder_destroy(builder);
    return good;
}

static void self_test(report *r)
{
    double residual = 0.0;
    r->works = slides(&residual);
    finding *f = add(r, "self-test", r->works, "all commands: the motion of a sliding box is wrong",
                     "report a bug, with the output of 'perp doctor --json'");
    snprintf(f->what, sizeof f->what, "sliding box correct, residual %.1e m/s", residual);
}

// ── Installed ────────────────────────────────────────────────────────────────────────────────────

// Looks for one of several programs ("a|b") along PATH.
static bool find_program(const char *names, char *place, size_t size)
{
    const char *path = getenv("PATH");
    for (const char *dir = path; dir && *dir;) {
        size_t length = strcspn(dir, ":");
        for (const char *name = names; *name;) {
            size_t n = strcspn(name, "|");
            struct stat about;
            int used = snprintf(place, size, "%.*s/%.*s", (int)length, dir, (int)n, name);
            if (used > 0 && (size_t)used < size && stat(place, &about) == 0 &&
                S_ISREG(about.st_mode) && access(place, X_OK) == 0) {
                return true;
            }
            name += n + (name[n] == '|');
        }
        dir += length + (dir[length] == ':');
    }
    return false;
}

static void installed(report *r)
{
    static const struct {
        const char *name, *programs, *without, *how;
    } wanted[] = {
        {"browser", "xdg-open|chromium|firefox|google-chrome|open",
         "viewing index.html and replay.html on this machine", "apt-get install firefox-esr"},
        {"gnuplot", "gnuplot", "redrawing figures from their .gp and .dat files",
         "apt-get install gnuplot-nox"},
        {"LaTeX", "pdflatex|lualatex|tectonic", "typesetting 'perp explain --latex'",
         "apt-get install texlive-latex-base"},
        {"python3", "python3", "make lint, make docs, reading run.h5 with h5py",
         "apt-get install python3"},
        {"pandoc", "pandoc", "make docs (HTML documentation)", "apt-get install pandoc"},
        {"node", "node|nodejs", "building the viewer", "apt-get install nodejs npm"},
    };
    for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++) {
        char place[160];
        bool there = find_program(wanted[k].programs, place, sizeof place);
        finding *f = add(r, wanted[k].name, there, wanted[k].without, wanted[k].how);
        snprintf(f->what, sizeof f->what, "%s", there ? place : "not found");
    }
}

// ── Output ──────────────────────────────────────────────────────────────────────────────────────

static void tell(const report *r)
{
    for (int k = 0; k < r->count; k++) {
        const finding *f = &r->found[k];
        printf("%-12s %-8s %s%s\n", f->name, f->fine ? "ok" : "missing", f->fine ? "" : "disables ",
               f->fine ? f->what : f->without);
        if (!f->fine) {
            printf("%-21s to fix: %s\n", "", f->how);
        }
    }
}

static void tell_json(const report *r)
{
    printf("{\"works\": %s, \"findings\": [", r->works ? "true" : "false");
    for (int k = 0; k < r->count; k++) {
        const finding *f = &r->found[k];
        fputs(k > 0 ? ",\n  {\"name\": " : "\n  {\"name\": ", stdout);
        cli_json_string(stdout, f->name);
        printf(", \"ok\": %s, \"what\": ", f->fine ? "true" : "false");
        cli_json_string(stdout, f->what);
        if (!f->fine) {
            printf(", \"disables\": ");
            cli_json_string(stdout, f->without);
            printf(", \"get\": ");
            cli_json_string(stdout, f->how);
        }
        putchar('}');
    }
    printf("]}\n");
}

cli_exit cli_doctor(int count, char **words)
{
    bool json = false;
    int found = 0;
    const cli_option options[] = {{"--json", CLI_FLAG, &json, NULL}};
    const cli_words none = {NULL, 0, &found, NULL};
    if (cli_wants_help("doctor", count, words)) {
        return CLI_FINE;
    }
    cli_exit code = cli_options_parse_words("doctor", count, words, options, 1, &none);
    if (code != CLI_FINE) {
        return code;
    }
    report r = {0};
    built_in(&r);
    self_test(&r);
    installed(&r);
    if (json) {
        tell_json(&r);
    } else {
        tell(&r);
    }
    return r.works ? CLI_FINE : CLI_UNSOLVED;
}
