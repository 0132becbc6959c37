// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp_bench_growth: growth of the cost of a step with the size of a scene. Families of generated scenes
// (`perp scene`), each in sizes from tens of contacts or links to 10^5. Every size runs in its own process,
// to measure its memory and to stop one that takes too long.
//
// Times are CPU times of the stepping thread. Each row takes steps, at least one, until its time is used: the
// first without, the others with a warm start. Reported are the first, and the least and median of the others.
// Exponents are least-squares slopes of log(time) over log(size), for sizes up to the limit in the heading.
#include <perp/io.h>

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIZES = 10, STEPS = 400, FAMILIES = 10 };
static const double LOOSE = 1e-3;        // tolerance while a scene settles
static const double FITTED_TO = 1.25e4;  // contacts (links, rungs) up to which exponents are fitted

// A scene with one or two options that grow with the size.
typedef struct family {
    const char *name, *scene;
    const char *option, *second;     // options set to the size
    perp_generator_option fixed[3];  // other options
    bool joint;                      // joint coordinates
    int settle;                      // steps at tolerance 1e-3 before the measured ones
    bool contacts;                   // cost is related to contacts, otherwise to the size
    int size[SIZES];                 // ends with 0
} family;

static const family families[FAMILIES] = {
    {.name = "walls",
     .scene = "wall3",
     .option = "rows",
     .second = "columns",
     .contacts = true,
     .size = {4, 7, 10, 18, 32, 56, 100}},
    {.name = "balls",
     .scene = "heap3",
     .option = "bodies",
     .contacts = true,
     .settle = 200,
     .fixed = {{"cubes", "0"}, {"layers", "5"}, {"loose", "0.05"}},
     .size = {30, 100, 300, 1000, 3000, 10000, 25000}},
    {.name = "boxes",
     .scene = "heap3",
     .option = "bodies",
     .contacts = true,
     .settle = 200,
     .fixed = {{"cubes", "1"}, {"layers", "5"}, {"loose", "0.05"}},
     .size = {10, 30, 100, 300, 1000, 3000, 10000}},
    {.name = "packed-balls",
     .scene = "heap3",
     .option = "bodies",
     .contacts = true,
     .fixed = {{"cubes", "0"}, {"layers", "5"}},
     .size = {30, 100, 300, 1000, 3000, 10000}},
    {.name = "packed-boxes",
     .scene = "heap3",
     .option = "bodies",
     .contacts = true,
     .fixed = {{"cubes", "1"}, {"layers", "5"}},
     .size = {10, 30, 100, 300, 1000, 3000}},
    {.name = "chain3",
     .scene = "chain3",
     .option = "links",
     .size = {30, 100, 300, 1000, 3000, 10000, 30000}},
    {.name = "chain",
     .scene = "chain",
     .option = "links",
     .size = {30, 100, 300, 1000, 3000, 10000, 30000}},
    {.name = "ladder",
     .scene = "ladder",
     .option = "rungs",
     .size = {12, 25, 50, 100, 300, 1000, 3000, 10000}},
    {.name = "tree",
     .scene = "chain3",
     .option = "links",
     .joint = true,
     .size = {10, 30, 100, 300, 1000, 3000, 10000}},
    {.name = "ladder-tree",
     .scene = "ladder",
     .option = "rungs",
     .joint = true,
     .size = {12, 25, 50, 100, 200}},
};

typedef struct row {
    bool done, late;
    char reason[120], solver[16];
    perp_status status;
    int bodies, contacts, velocities, steps, factorisations, failed;
    double first, least, median;  // [s]
    double fill, flops, residual, memory;
    double stage[PERP_STAGE_COUNT];
} row;

typedef struct options {
    const char *family;
    int least, most;  // sizes
    double seconds, tolerance;
    int facets;  // of friction polygons and the form LCP, 0: discs
    bool lemke;  // LCPs by pivoting
    FILE *csv;
} options;

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// ── One size ─────────────────────────────────────────────────────────────────────────────────────

static void note_step(row *r, const perp_step_info *info)
{
    r->contacts = info->contacts;
    r->factorisations += info->effort.factorisations;
    r->fill = fmax(r->fill, info->effort.fill);
    r->flops = fmax(r->flops, info->effort.flops);
    r->residual = fmax(r->residual, info->certificate.residual);
    r->failed += info->status != PERP_OK;
    snprintf(r->solver, sizeof r->solver, "%s", info->solver ? info->solver : "-");
    for (int k = 0; k < PERP_STAGE_COUNT; k++) {
        r->stage[k] += info->seconds[k];
    }
}

static void run_steps(row *r, perp_sim *sim, double h, double seconds)
{
    static double time[STEPS];
    double spent = 0.0;
    while (r->steps < STEPS && (r->steps == 0 || spent < seconds)) {
        double start = cpu_seconds();
        r->status = perp_sim_step(sim, h);
        time[r->steps] = cpu_seconds() - start;
        spent += time[r->steps++];
        if (r->status < 0) {
            snprintf(r->reason, sizeof r->reason, "%.110s", perp_sim_error(sim)->text);
            return;
        }
        note_step(r, perp_sim_info(sim));
    }
    int rest = r->steps - 1;
    r->first = time[0];
    r->least = r->median = time[0];
    if (rest > 0) {
        qsort(time + 1, (size_t)rest, sizeof *time, ascending);
        r->least = time[1];
        r->median = time[1 + rest / 2];
    }
    r->done = true;
}

static perp_status make(const family *f, int size, perp_scene **scene, perp_error *error)
{
    char number[16];
    perp_generator_option given[5];
    int count = 0;
    snprintf(number, sizeof number, "%d", size);
    given[count++] = (perp_generator_option){f->option, number};
    if (f->second) {
        given[count++] = (perp_generator_option){f->second, number};
    }
    for (int k = 0; k < 3 && f->fixed[k].name; k++) {
        given[count++] = f->fixed[k];
    }
    return perp_scene_generate(f->scene, given, count, NULL, scene, error);
}

// Takes some loose steps with another sim and copies its state.
static bool settle(const family *f, const perp_scene *scene, perp_sim *sim)
{
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_sim *loose = NULL;
    perp_error error;
    def.tolerance = LOOSE;
    if (f->settle == 0) {
        return true;
    }
    bool ok = perp_sim_create(perp_scene_model(scene), &def, NULL, &loose, &error) >= 0;
    for (int k = 0; ok && k < f->settle; k++) {
        ok = perp_sim_step(loose, perp_scene_step(scene)) >= 0;
    }
    size_t size = ok ? perp_sim_state_save_size(loose) : 0;
    void *state = malloc(size + 1);
    ok = ok && state && perp_sim_state_save(loose, state, size) >= 0 &&
         perp_sim_state_restore(sim, state, size) >= 0;
    free(state);
    perp_sim_destroy(loose);
    return ok;
}

// An observer of the stages makes a sim compute every step, also where it could repeat the last one: what is measured is a
// step.
static void compute_all(void *user, const perp_sim *sim, perp_stage stage)
{
    (void)user;
    (void)sim;
    (void)stage;
}

static void run_size(const family *f, int size, const options *o, row *r)
{
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_error error;
    if (make(f, size, &scene, &error) < 0) {
        snprintf(r->reason, sizeof r->reason, "%.110s", error.text);
        return;
    }
    perp_sim_def def = perp_scene_sim_def(scene);
    def.tolerance = o->tolerance;
    def.on_stage = compute_all;
    def.coordinates = f->joint ? PERP_COORDINATES_JOINT : def.coordinates;
    if (o->facets > 0) {
        def.friction = PERP_FRICTION_PYRAMID;
        def.facets = o->facets;
        def.form = PERP_FORM_LCP;
        def.solver = o->lemke ? "lemke" : def.solver;
    }
    r->bodies = perp_model_bodies(perp_scene_model(scene)) - 1;
    if (perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error) < 0) {
        snprintf(r->reason, sizeof r->reason, "%.110s", error.text);
    } else if (!settle(f, scene, sim)) {
        snprintf(r->reason, sizeof r->reason, "does not settle");
    } else {
        run_steps(r, sim, perp_scene_step(scene), o->seconds);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    r->memory = (double)usage.ru_maxrss / 1024.0;  // [MiB]; Linux reports KiB
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// Runs in its own process. False: no process, or it was stopped by the time limit.
static bool measure(const family *f, int size, const options *o, row *r)
{
    row *shared = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return false;
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        rlim_t most = (rlim_t)(10.0 * o->seconds) + 20;
        struct rlimit cpu = {most, most + 1};
        setrlimit(RLIMIT_CPU, &cpu);
        run_size(f, size, o, shared);
        _exit(0);
    }
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    *r = *shared;
    r->late = child > 0 && WIFSIGNALED(status);
    munmap(shared, sizeof *r);
    return child > 0;
}

// ── Exponents ────────────────────────────────────────────────────────────────────────────────────

// Slope of log y over log x where both are known (not 0); fewer than two points: NaN.
static double slope(const double *x, const double *y, int n)
{
    double mx = 0.0, my = 0.0, xx = 0.0, xy = 0.0;
    int known = 0;
    for (int k = 0; k < n; k++) {
        if (y[k] > 0.0) {
            mx += log(x[k]);
            my += log(y[k]);
            known++;
        }
    }
    for (int k = 0; k < n; k++) {
        if (y[k] > 0.0) {
            double dx = log(x[k]) - mx / known;
            xx += dx * dx;
            xy += dx * (log(y[k]) - my / known);
        }
    }
    return known < 2 ? (double)NAN : xy / xx;
}

// With fewer than 80 contacts, overhead dominates.
static void print_exponents(const family *f, const row *rows, const int *size, int count)
{
    enum { FIRST, LEAST, MEDIAN, FILL, FLOPS, KINDS };
    static const char *const name[KINDS] = {"first step", "later steps: least", "median", "fill",
                                            "operations"};
    double x[SIZES] = {0}, y[KINDS][SIZES] = {{0}};
    int n = 0;
    for (int k = 0; k < count; k++) {
        double at = f->contacts ? rows[k].contacts : size[k];
        if (!rows[k].done || at > FITTED_TO || (f->contacts && at < 80.0)) {
            continue;
        }
        x[n] = at;
        y[FIRST][n] = rows[k].first;
        y[LEAST][n] = rows[k].steps > 1 ? rows[k].least : 0.0;
        y[MEDIAN][n] = rows[k].steps > 1 ? rows[k].median : 0.0;
        y[FILL][n] = rows[k].fill;
        y[FLOPS][n++] = rows[k].flops;
    }
    printf("exponents to %.3g %s", FITTED_TO, f->contacts ? "contacts" : f->option);
    for (int k = 0; k < KINDS; k++) {
        double e = slope(x, y[k], n);
        if (!isnan(e)) {
            printf(", %s %.2f", name[k], e);
        }
    }
    printf("\n");
}

// ── Tables ───────────────────────────────────────────────────────────────────────────────────────

static void print_row(int size, const row *r)
{
    if (!r->done) {
        printf("%6d %7d  %s\n", size, r->bodies, r->late ? "took too long" : r->reason);
        return;
    }
    printf("%6d %7d %8d %5d %10.4g %10.4g %10.4g %7.2f %9.3g %9.3g %9.2g %7.0f  %s%s\n", size,
           r->bodies, r->contacts, r->steps, 1e3 * r->first, 1e3 * r->least, 1e3 * r->median,
           (double)r->factorisations / r->steps, r->fill, r->flops, r->residual, r->memory,
           r->solver, r->failed > 0 ? " (limits passed)" : "");
}

static void write_row(FILE *csv, const family *f, int size, double tolerance, const row *r)
{
    fprintf(csv, "%s,%d,%g,%d,%d,%d,%.6g,%.6g,%.6g,%.4g,%.6g,%.6g,%.4g,%.1f,%s,%d,\"%s\"", f->name,
            size, tolerance, r->bodies, r->contacts, r->steps, 1e3 * r->first, 1e3 * r->least,
            1e3 * r->median, r->steps > 0 ? (double)r->factorisations / r->steps : 0.0, r->fill,
            r->flops, r->residual, r->memory, r->solver, r->failed,
            r->late ? "took too long" : r->reason);
    for (int k = 0; k < PERP_STAGE_COUNT; k++) {
        fprintf(csv, ",%.6g", r->steps > 0 ? 1e3 * r->stage[k] / r->steps : 0.0);
    }
    fprintf(csv, "\n");
    fflush(csv);
}

static void run_family(const family *f, const options *o)
{
    row rows[SIZES] = {0};
    int count = 0;
    printf("\n%s (perp scene %s%s), tolerance %g\n", f->name, f->scene,
           f->joint ? ", joint coordinates" : "", o->tolerance);
    printf("%6s %7s %8s %5s %10s %10s %10s %7s %9s %9s %9s %7s\n", "size", "bodies", "contacts",
           "steps", "first ms", "least ms", "median ms", "factors", "fill", "flops", "residual",
           "MiB");
    for (; count < SIZES && f->size[count] > 0 && f->size[count] <= o->most; count++) {
        int k = count;
        if (f->size[k] < o->least) {
            continue;
        }
        if (!measure(f, f->size[k], o, &rows[k])) {
            fputs("perp_bench_growth: no process\n", stderr);
            return;
        }
        print_row(f->size[k], &rows[k]);
        fflush(stdout);
        if (o->csv) {
            write_row(o->csv, f, f->size[k], o->tolerance, &rows[k]);
        }
    }
    print_exponents(f, rows, f->size, count);
}

static int usage(FILE *out)
{
    fputs("usage: perp_bench_growth [--family NAME] [--least SIZE] [--most SIZE]\n"
          "                         [--seconds S] [--tol R] [--csv FILE]\n"
          "                         [--facets N] [--lemke N]\n"
          "  --family         only this one\n"
          "  --least, --most  sizes between these\n"
          "  --seconds        CPU seconds for the steps of a row (3); at least one is made\n"
          "  --tol            tolerance of the solver (1e-8)\n"
          "  --facets         friction polygons of so many sides, as an LCP; --lemke: pivoted\n",
          out);
    return 2;
}

int main(int argc, char **argv)
{
    options o = {.most = 1 << 30, .seconds = 3.0, .tolerance = 1e-8};
    for (int k = 1; k < argc; k += 2) {
        const char *value = k + 1 < argc ? argv[k + 1] : NULL;
        if (!value) {
            return usage(stderr);
        }
        if (!strcmp(argv[k], "--family")) {
            o.family = value;
        } else if (!strcmp(argv[k], "--most")) {
            o.most = (int)strtol(value, NULL, 10);
        } else if (!strcmp(argv[k], "--least")) {
            o.least = (int)strtol(value, NULL, 10);
        } else if (!strcmp(argv[k], "--seconds")) {
            o.seconds = strtod(value, NULL);
        } else if (!strcmp(argv[k], "--tol")) {
            o.tolerance = strtod(value, NULL);
        } else if (!strcmp(argv[k], "--facets") || !strcmp(argv[k], "--lemke")) {
            o.facets = (int)strtol(value, NULL, 10);
            o.lemke = !strcmp(argv[k], "--lemke");
        } else if (!strcmp(argv[k], "--csv")) {
            o.csv = fopen(value, "w");
        } else {
            return usage(stderr);
        }
    }
    if (o.csv) {
        fputs("family,size,tolerance,bodies,contacts,steps,first_ms,least_ms,median_ms,"
              "factorisations,"
              "fill,flops,residual,memory_mib,solver,failed,remark,kinematics_ms,gap_ms,constraint_"
              "ms,"
              "solve_ms,integrate_ms,certify_ms\n",
              o.csv);
    }
    for (int k = 0; k < FAMILIES; k++) {
        if (!o.family || !strcmp(o.family, families[k].name)) {
            run_family(&families[k], &o);
        }
    }
    return o.csv && fclose(o.csv) != 0;
}
