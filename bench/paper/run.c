// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp_bench_paper SCENE [options]: steps a scene until its end and prints one line of JSON: CPU time of a step, and what
// the certificate found in every step. run.py makes the scenes and the table.
//
//   --steps N       at most this many steps
//   --cpu S         no further step after S seconds of CPU time
//   --energy E      energy that is conserved [J]: also prints the mean of (energy - E)^2
//   --trace FILE    poses and velocities, one line a step: t, then 13 numbers of each body (p, q, v, omega)
//   --every K       every K-th step only
//   --bodies A,B    of these bodies; default all
#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LISTED_MOST = 20 };  // steps that the line lists one by one

typedef struct options {
    const char *scene, *trace, *bodies;
    int steps, every;
    double cpu, energy;
    bool energy_given;
} options;

// What was found, over all steps.
typedef struct tally {
    int done, certified, inexact, violations, contacts_most, factors_most, factors_step;
    double contacts, factors, sum;  // sums over the steps; [us]
    double residual, gap, path;     // worst [m/s], [m], [m]
    double relative;                // worst item of the certificate over its limit
    double overlap2;                // sum over the steps of the squared overlaps before them [m^2]
    double energy2, energy_end;     // sum of (energy - E)^2 [J^2]; the last energy [J]
    double *took;                   // CPU time of each step [us]
    int listed[LISTED_MOST];        // violated steps
    double listed_relative[LISTED_MOST];
    perp_judged listed_item[LISTED_MOST];  // that is furthest beyond its limit
} tally;

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// CPU time of this process [us].
static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static void print_text(const char *text)
{
    (void)putchar('"');
    for (const char *c = text; *c; c++) {
        (void)putchar(*c == '"' || *c == '\\' || *c < ' ' ? '\'' : *c);
    }
    (void)putchar('"');
}

static int fail(const char *text)
{
    (void)printf("{\"error\": ");
    print_text(text);
    (void)printf("}\n");
    return 0;
}

static bool read_options(int count, char **words, options *o)
{
    *o = (options){.scene = count > 1 ? words[1] : NULL, .every = 1};
    for (int k = 2; k + 1 < count; k += 2) {
        const char *value = words[k + 1];
        if (strcmp(words[k], "--steps") == 0) {
            o->steps = (int)strtol(value, NULL, 10);
        } else if (strcmp(words[k], "--cpu") == 0) {
            o->cpu = strtod(value, NULL);
        } else if (strcmp(words[k], "--energy") == 0) {
            o->energy = strtod(value, NULL);
            o->energy_given = true;
        } else if (strcmp(words[k], "--trace") == 0) {
            o->trace = value;
        } else if (strcmp(words[k], "--every") == 0) {
            o->every = (int)strtol(value, NULL, 10);
        } else if (strcmp(words[k], "--bodies") == 0) {
            o->bodies = value;
        } else {
            return false;
        }
    }
    return o->scene && count % 2 == 0 && o->every > 0 && o->steps >= 0;
}

// Whether a name is in a list separated by commas; NULL lists all.
static bool listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *word = list; word;) {
        size_t span = strcspn(word, ",");
        if (span == length && strncmp(word, name, length) == 0) {
            return true;
        }
        word = word[span] ? word + span + 1 : NULL;
    }
    return !list;
}

static void write_line(FILE *file, const perp_sim *sim, const char *bodies)
{
    const perp_model *model = perp_sim_model(sim);
    (void)fprintf(file, "%.17g", perp_sim_time(sim));
    for (int k = 1; k < perp_model_bodies(model); k++) {  // 0 is the ground
        perp_body body = {k};
        if (!listed(bodies, perp_model_body_name(model, body))) {
            continue;
        }
        perp_pose x = perp_sim_body_pose(sim, body);
        perp_twist v = perp_sim_body_twist(sim, body);
        (void)fprintf(
            file, " %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g",
            x.p.x, x.p.y, x.p.z, x.rot.w, x.rot.x, x.rot.y, x.rot.z, v.v_W.x, v.v_W.y, v.v_W.z,
            v.w_W.x, v.w_W.y, v.w_W.z);
    }
    (void)fputc('\n', file);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void count_step(tally *t, const perp_sim *sim, const options *o, perp_status status)
{
    const perp_step_info *info = perp_sim_info(sim);
    const perp_certificate *c = &info->certificate;
    int contacts = 0;
    const perp_contact *contact = perp_sim_contacts(sim, &contacts);
    for (int k = 0; k < contacts; k++) {
        t->overlap2 += contact[k].gap < 0.0 ? contact[k].gap * contact[k].gap : 0.0;
    }
    perp_judged item = PERP_JUDGED_GAP;
    for (int k = 0; k < PERP_JUDGED_COUNT; k++) {
        item = c->relative[k] > c->relative[item] ? (perp_judged)k : item;
    }
    double relative = c->relative[item];
    if (!c->passed) {
        if (t->violations < LISTED_MOST) {
            t->listed[t->violations] = t->done;
            t->listed_relative[t->violations] = relative;
            t->listed_item[t->violations] = item;
        }
        t->violations++;
    }
    t->certified += c->passed;
    t->inexact += status == PERP_INEXACT;
    t->contacts += info->contacts;
    t->contacts_most = info->contacts > t->contacts_most ? info->contacts : t->contacts_most;
    t->factors += info->effort.factorisations;
    if (info->effort.factorisations > t->factors_most) {
        t->factors_most = info->effort.factorisations;
        t->factors_step = t->done;
    }
    t->residual = larger(t->residual, c->residual);
    t->gap = larger(t->gap, c->gap);
    t->path = larger(t->path, c->path);
    t->relative = larger(t->relative, relative);
    t->energy_end = info->energy.kinetic + info->energy.potential;
    t->energy2 += (t->energy_end - o->energy) * (t->energy_end - o->energy);
}

static const char *const item_name[PERP_JUDGED_COUNT] = {
    "gap", "complementarity", "cone", "joint", "momentum", "energy", "residual", "motion", "path"};

static void print_tally(tally *t, const options *o, int planned, const char *error)
{
    double all = t->done > 0 ? t->done : 1;
    int worst = 0;
    for (int k = 0; k < t->done; k++) {
        worst = t->took[k] > t->took[worst] ? k : worst;
    }
    double longest = t->done > 0 ? t->took[worst] : 0.0;
    if (t->done > 0) {
        qsort(t->took, (size_t)t->done, sizeof *t->took, by_size);
    }
    (void)printf(
        "{\"steps\": %d, \"planned\": %d, \"certified\": %d, \"inexact\": %d, \"cpu_s\": %.6g, "
        "\"mean_ms\": %.6g, \"median_ms\": %.6g, \"p99_ms\": %.6g, \"worst_ms\": %.6g, "
        "\"worst_step\": %d, \"contacts\": %.6g, \"contacts_most\": %d, \"factorisations\": %.6g, "
        "\"factorisations_most\": %d, \"factorisations_step\": %d, \"residual\": %.3e, "
        "\"gap\": %.3e, \"path\": %.3e, \"relative\": %.3e, \"overlap2\": %.6e, "
        "\"energy\": %.17g, \"violated\": [",
        t->done, planned, t->certified, t->inexact, 1e-6 * t->sum, 1e-3 * t->sum / all,
        t->done > 0 ? 1e-3 * t->took[t->done / 2] : 0.0,
        t->done > 0 ? 1e-3 * t->took[(int)(0.99 * (t->done - 1))] : 0.0, 1e-3 * longest, worst,
        t->contacts / all, t->contacts_most, t->factors / all, t->factors_most, t->factors_step,
        t->residual, t->gap, t->path, t->relative, t->overlap2 / all, t->energy_end);
    for (int k = 0; k < t->violations && k < LISTED_MOST; k++) {
        (void)printf("%s[%d, \"%s\", %.3e]", k > 0 ? ", " : "", t->listed[k],
                     item_name[t->listed_item[k]], t->listed_relative[k]);
    }
    (void)printf("]");
    if (o->energy_given) {
        (void)printf(", \"energy2\": %.6e", t->energy2 / all);
    }
    if (error) {
        (void)printf(", \"stopped\": ");
        print_text(error);
    }
    (void)printf("}\n");
}

// An observer of the stages makes a sim compute every step, also where it could repeat the last one: what is measured is a
// step, and the published figures are of steps that were computed.
static void compute_all(void *user, const perp_sim *sim, perp_stage stage)
{
    (void)user;
    (void)sim;
    (void)stage;
}

int main(int count, char **words)
{
    enum { STEPS_MOST = 10000000 };
    options o;
    perp_error error = {0};
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    if (!read_options(count, words, &o)) {
        (void)fprintf(stderr, "usage: perp_bench_paper SCENE [--steps N] [--cpu S] [--energy E] "
                              "[--trace FILE] [--every K] [--bodies A,B]\n");
        return 2;
    }
    if (perp_scene_load(o.scene, NULL, &scene, &error) < 0) {
        return fail(error.text);
    }
    perp_sim_def def = perp_scene_sim_def(scene);
    def.on_stage = compute_all;
    double h = perp_scene_step(scene), planned = round(perp_scene_until(scene) / h);
    if (perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error) < 0) {
        perp_scene_destroy(scene);
        return fail(error.text);
    }
    int steps = planned < STEPS_MOST ? (int)planned : STEPS_MOST;
    steps = o.steps > 0 && o.steps < steps ? o.steps : steps;
    tally t = {.took = calloc((size_t)steps + 1, sizeof *t.took)};
    FILE *trace = o.trace ? fopen(o.trace, "w") : NULL;
    const char *stopped = NULL;
    if (!t.took || (o.trace && !trace)) {
        stopped = "no memory, or the trace cannot be written";
        steps = 0;
    }
    if (trace) {
        write_line(trace, sim, o.bodies);
    }
    for (; t.done < steps; t.done++) {
        double before = cpu();
        perp_status status = perp_sim_step(sim, h);
        t.took[t.done] = cpu() - before;
        if (status < 0) {
            stopped = perp_sim_error(sim)->text;
            break;
        }
        t.sum += t.took[t.done];
        count_step(&t, sim, &o, status);
        if (trace && (t.done + 1) % o.every == 0) {
            write_line(trace, sim, o.bodies);
        }
        if (o.cpu > 0.0 && t.sum > 1e6 * o.cpu) {
            t.done++;
            break;
        }
    }
    if (trace && fclose(trace) != 0) {
        stopped = "the trace cannot be written";
    }
    print_tally(&t, &o, (int)planned, stopped);
    free(t.took);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    return 0;
}
