// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp_bench_peers: spatial scenes by perp and, where they are installed, MuJoCo, ODE, Bullet, DART and
// Siconos: one table a scene, speed beside accuracy.
#include "run.h"
#include "scenes.h"

#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct options {
    const char *scene, *engine, *setting;
    int n;
    double h, duration;
    bool all, list, markdown;
    const char *csv_path;
    FILE *csv;
    peer_limits limits;
} options;

static void usage(FILE *out)
{
    fputs(
        "usage: perp_bench_peers [--scene NAME] [--engine NAME] [--setting WORDS] [--n N] [--h S]\n"
        "                        [--duration S] [--budget S] [--repeats K] [--all] [--list]\n"
        "                        [--csv FILE] [--markdown]\n"
        "  --scene, --engine  only this one; --n and --h: only cases of that size and step\n"
        "  --setting          only this setting; with --engine also one that is in no table\n"
        "  --duration         simulated seconds, instead of the scene's own\n"
        "  --budget           CPU seconds for all repeats of a row (12)\n"
        "  --repeats          at most so many (3)\n"
        "  --all              the slow cases too\n"
        "  --list             say what would run\n",
        out);
}

// ── Tables ───────────────────────────────────────────────────────────────────────────────────────

typedef struct column {
    const char *title, *key;
    double factor;  // 100: percent
} column;

static const column columns[PEER_COLUMNS] = {
    [PEER_US] = {"us/step", "us_per_step", 1.0},
    [PEER_US_TAIL] = {"settled", "us_per_step_tail", 1.0},
    [PEER_CONTACTS] = {"contacts", "contacts_mean", 1.0},
    [PEER_PENETRATION] = {"pen m", "penetration_m", 1.0},
    [PEER_PENETRATION_END] = {"pen end m", "penetration_end_m", 1.0},
    [PEER_CREEP] = {"creep m", "creep_m", 1.0},
    [PEER_STOP_ERROR] = {"stop err %", "stop_error_percent", 100.0},
    [PEER_HEADING_ERROR] = {"heading deg", "heading_error_deg", 1.0},
    [PEER_ENERGY_DRIFT] = {"energy %", "energy_drift_percent", 100.0},
    [PEER_ENERGY_WORST] = {"worst %", "energy_worst_percent", 100.0},
    [PEER_JOINT_GAP] = {"joint gap m", "joint_gap_m", 1.0},
    [PEER_TIP_ERROR] = {"tip err m", "tip_error_m", 1.0},
    [PEER_APEX_ERROR] = {"apex err %", "apex_error_percent", 100.0},
    [PEER_STANDS] = {"stands", "stands", 1.0},
    [PEER_JUMP] = {"jump m", "jump_m", 1.0},
    [PEER_LOST] = {"lost", "lost", 1.0},
    [PEER_KINETIC] = {"kinetic J", "kinetic_end_j", 1.0},
    [PEER_RESIDUAL] = {"residual", "residual", 1.0},
};

typedef struct row {
    char engine[16], setting[32];
    peer_result result;
} row;

enum { ROWS = 40 };

typedef struct table {
    const peer_case *what;
    double h;
    row row[ROWS];
    int rows;
} table;

static void cell(const peer_result *r, peer_column c, char out[32])
{
    double x = columns[c].factor * r->value[c];
    if (isnan(x)) {
        snprintf(out, 32, "-");
    } else if (c == PEER_STANDS) {
        snprintf(out, 32, "%s", x > 0.5 ? "yes" : r->late ? "cut" : "NO");
    } else if (c == PEER_US || c == PEER_US_TAIL || c == PEER_CONTACTS || c == PEER_LOST) {
        snprintf(out, 32, x >= 1e4 ? "%.0f" : "%.4g", x);
    } else {
        snprintf(out, 32, "%.2g", x);
    }
}

// What is odd about a row: no figures, cut short, blown up.
static void remark(const peer_result *r, char out[96])
{
    if (!r->done) {
        snprintf(out, 96, "failed: %s", r->reason);
    } else if (r->diverged) {
        snprintf(out, 96, "blew up at %.3g s", r->simulated);
    } else if (r->late) {
        snprintf(out, 96, "budget spent at %.3g s", r->simulated);
    } else {
        out[0] = '\0';
    }
}

static bool used(const table *t, peer_column c)
{
    for (int k = 0; k < t->rows; k++) {
        if (!isnan(t->row[k].result.value[c])) {
            return true;
        }
    }
    return false;
}

static void print_heads(const table *t, bool md)
{
    printf(md ? "\n### %s %d, h = %g s\n\n| engine | setting |" : "\n%s %d, h = %g s\n%-8s %-14s",
           t->what->scene, t->what->n, t->h, "engine", "setting");
    int shown = 0;
    for (int c = 0; c < PEER_COLUMNS; c++) {
        if (used(t, (peer_column)c)) {
            printf(md ? " %s |" : " %11s", columns[c].title);
            shown++;
        }
    }
    printf(md ? " remark |\n| --- | --- |" : "\n");
    for (int k = 0; md && k < shown; k++) {
        printf(" ---: |");
    }
    printf(md ? " --- |\n" : "");
}

static void print_table(const table *t, bool md)
{
    print_heads(t, md);
    for (int k = 0; k < t->rows; k++) {
        const row *r = &t->row[k];
        char text[32], note[96];
        printf(md ? "| %s | %s |" : "%-8s %-14s", r->engine, r->setting);
        for (int c = 0; c < PEER_COLUMNS; c++) {
            if (used(t, (peer_column)c)) {
                cell(&r->result, (peer_column)c, text);
                printf(md ? " %s |" : " %11s", text);
            }
        }
        remark(&r->result, note);
        printf(md ? " %s |\n" : "  %s\n", note);
    }
}

static void write_csv_head(FILE *f)
{
    fprintf(f, "scene,n,h,engine,version,setting,repeats,simulated_s");
    for (int c = 0; c < PEER_COLUMNS; c++) {
        fprintf(f, ",%s", columns[c].key);
    }
    fprintf(f, ",remark\n");
}

static void write_csv(const table *t, FILE *f)
{
    for (int k = 0; k < t->rows; k++) {
        const peer_result *r = &t->row[k].result;
        char note[96];
        fprintf(f, "%s,%d,%g,%s,%s,%s,%d,%g", t->what->scene, t->what->n, t->h, t->row[k].engine,
                r->version, t->row[k].setting, r->repeats, r->simulated);
        for (int c = 0; c < PEER_COLUMNS; c++) {
            double x = columns[c].factor * r->value[c];
            fprintf(f, isnan(x) ? "," : ",%.6g", x);
        }
        remark(r, note);
        fprintf(f, ",\"%s\"\n", note);
    }
    fflush(f);
}

// ── Running ──────────────────────────────────────────────────────────────────────────────────────

static void add_row(table *t, const char *folder, const peer_scene *scene, const options *o,
                    const char *engine, const char *setting)
{
    if (t->rows == ROWS) {
        return;
    }
    row *r = &t->row[t->rows++];
    snprintf(r->engine, sizeof r->engine, "%s", engine);
    snprintf(r->setting, sizeof r->setting, "%s", setting);
    if (o->list) {
        printf("%s %d %g %s %s\n", t->what->scene, t->what->n, t->h, engine, setting);
        return;
    }
    r->result = peer_run(folder, engine, setting, scene, t->h, o->limits);
    if (isatty(STDERR_FILENO)) {
        fprintf(stderr, "%s %d %g %s %s: %.4g us/step\n", t->what->scene, t->what->n, t->h, engine,
                setting, r->result.value[PEER_US]);
    }
}

static bool matches(const options *o, const char *engine, const char *setting)
{
    return (!o->engine || !strcmp(engine, o->engine)) &&
           (!o->setting || !strcmp(setting, o->setting));
}

static void run_rows(table *t, const char *folder, const peer_scene *scene, const options *o)
{
    if (o->engine && o->setting) {
        add_row(t, folder, scene, o, o->engine, o->setting);
        return;
    }
    char list[1024];
    snprintf(list, sizeof list, "%s", t->what->peers);
    char *rest = NULL;
    for (char *w = strtok_r(list, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
        char *colon = strchr(w, ':');
        *colon = '\0';
        if (matches(o, w, colon + 1)) {
            add_row(t, folder, scene, o, w, colon + 1);
        }
    }
}

static int run_case(const peer_case *c, const char *folder, const options *o)
{
    table *t = calloc(1, sizeof *t);
    peer_scene scene;
    if (!t || !peer_scene_make(c->scene, c->n, &scene)) {
        fprintf(stderr, "perp_bench_peers: no scene '%s'\n", c->scene);
        free(t);
        return 1;
    }
    if (o->duration > 0.0) {
        scene.duration = o->duration;
    }
    t->what = c;
    t->h = c->h;
    run_rows(t, folder, &scene, o);
    if (t->rows > 0 && !o->list) {
        print_table(t, o->markdown);
        fflush(stdout);
        if (o->csv) {
            write_csv(t, o->csv);
        }
    }
    peer_scene_free(&scene);
    free(t);
    return 0;
}

// Cases of the table that were asked for; when a size or step is asked for that the table does not have,
// the scene's first case with it.
static int run_all(const char *folder, const options *o)
{
    int count = 0, failed = 0;
    const peer_case *first = NULL;
    for (int k = 0; k < peer_case_count; k++) {
        const peer_case *c = &peer_cases[k];
        if (o->scene ? strcmp(o->scene, c->scene) != 0 : c->slow && !o->all) {
            continue;
        }
        first = first ? first : c;
        if ((o->n == 0 || o->n == c->n) && (o->h <= 0.0 || o->h == c->h)) {
            failed += run_case(c, folder, o);
            count++;
        }
    }
    if (count == 0 && o->scene && first) {
        peer_case own = *first;
        own.n = o->n > 0 ? o->n : own.n;
        own.h = o->h > 0.0 ? o->h : own.h;
        failed += run_case(&own, folder, o);
        count++;
    }
    if (count == 0) {
        fputs("perp_bench_peers: no such scene, size or step\n", stderr);
    }
    return count == 0 || failed > 0;
}

// False: a bad option.
static bool take_option(options *o, const char *name, const char *value, bool *has_value)
{
    *has_value = false;
    if (!strcmp(name, "--markdown")) {
        o->markdown = true;
    } else if (!strcmp(name, "--all")) {
        o->all = true;
    } else if (!strcmp(name, "--list")) {
        o->list = true;
    } else if (!value) {
        return false;
    } else {
        *has_value = true;
        double number = strtod(value, NULL);
        if (!strcmp(name, "--scene")) {
            o->scene = value;
        } else if (!strcmp(name, "--engine")) {
            o->engine = value;
        } else if (!strcmp(name, "--setting")) {
            o->setting = value;
        } else if (!strcmp(name, "--csv")) {
            o->csv_path = value;
        } else if (!strcmp(name, "--n")) {
            o->n = (int)number;
        } else if (!strcmp(name, "--h")) {
            o->h = number;
        } else if (!strcmp(name, "--duration")) {
            o->duration = number;
        } else if (!strcmp(name, "--budget")) {
            o->limits.budget = number;
        } else if (!strcmp(name, "--repeats")) {
            o->limits.repeats = (int)number;
        } else {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    options o = {.limits = {.budget = 12.0, .repeats = 3}};
    for (int k = 1; k < argc; k++) {
        bool has_value = false;
        if (!strcmp(argv[k], "--help")) {
            usage(stdout);
            return 0;
        }
        if (!take_option(&o, argv[k], k + 1 < argc ? argv[k + 1] : NULL, &has_value)) {
            usage(stderr);
            return 2;
        }
        k += has_value;
    }
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0 || (o.csv_path && !(o.csv = fopen(o.csv_path, "w")))) {
        perror("perp_bench_peers");
        return 1;
    }
    self[length] = '\0';
    if (o.csv) {
        write_csv_head(o.csv);
    }
    int code = run_all(dirname(self), &o);
    return o.csv && fclose(o.csv) != 0 ? 1 : code;
}
