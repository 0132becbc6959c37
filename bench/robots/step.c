// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp_bench_robots SCENE STEPS: CPU time of a step of one scene, its stages and its certificate, as a line of JSON.
//
// Steps that would repeat the one before are computed as well: a callback that might control the robot asks for that.
// As in mujoco.mjs, some steps are taken before anything is measured, and the mean is that of all steps together. The steps
// are then taken once more, with a look at the clock after each: reading it takes as long as a tenth of a short step.
#include <perp/io.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int count)
{
    qsort(x, (size_t)count, sizeof *x, by_size);
    return count > 0 ? x[count / 2] : 0.0;
}

// CPU time of this process [us].
static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int fail(const char *text)
{
    (void)printf("{\"error\": \"");
    for (const char *c = text; *c; c++) {
        (void)putchar(*c == '"' || *c == '\\' || *c < ' ' ? '\'' : *c);
    }
    (void)printf("\"}\n");
    return 0;
}

static void control(void *user, perp_sim *sim, double h)
{
    (void)user;
    (void)sim;
    (void)h;
}

static perp_sim_def def_of(const perp_scene *scene)
{
    perp_sim_def def = perp_scene_sim_def(scene);
    def.on_control = control;
    return def;
}

// The mean CPU time of the first steps, all measured together [us]; negative: no sim could be made.
static double mean_of(const perp_scene *scene, int steps, perp_error *error)
{
    perp_sim_def def = def_of(scene);
    perp_sim *sim = NULL;
    double h = perp_scene_step(scene);
    if (perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, error) < 0) {
        return -1.0;
    }
    int done = 0;
    double before = cpu();
    while (done < steps && perp_sim_step(sim, h) >= 0) {
        done++;
    }
    double took = cpu() - before;
    perp_sim_destroy(sim);
    return done > 0 ? took / done : 0.0;
}

int main(int count, char **words)
{
    enum { WARM = 50 };
    enum { STEPS_MOST = 100000 };
    perp_error error = {0};
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    int steps = count > 2 ? (int)strtol(words[2], NULL, 10) : 0, done = 0, certified = 0;
    if (count < 3 || steps < 1 || steps > STEPS_MOST) {
        (void)fprintf(stderr, "usage: perp_bench_robots SCENE STEPS\n");
        return 2;
    }
    if (perp_scene_load(words[1], NULL, &scene, &error) < 0) {
        return fail(error.text);
    }
    perp_sim_def def = def_of(scene);
    double h = perp_scene_step(scene);
    double mean = mean_of(scene, WARM, &error);
    mean = mean < 0.0 ? mean : mean_of(scene, steps, &error);
    if (mean < 0.0 || perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error) < 0) {
        perp_scene_destroy(scene);
        return fail(error.text);
    }
    double *took = calloc((size_t)steps, sizeof *took), contacts = 0.0, factors = 0.0;
    double *stage[PERP_STAGE_COUNT], residual = 0.0;
    for (int k = 0; k < PERP_STAGE_COUNT; k++) {
        stage[k] = calloc((size_t)steps, sizeof *stage[k]);
    }
    for (; done < steps; done++) {
        double before = cpu();
        perp_status status = perp_sim_step(sim, h);
        took[done] = cpu() - before;
        if (status < 0) {
            break;
        }
        const perp_step_info *info = perp_sim_info(sim);
        certified += status == PERP_OK && info->certificate.passed;
        contacts += info->contacts;
        factors += info->effort.factorisations;
        residual = info->certificate.residual > residual ? info->certificate.residual : residual;
        for (int k = 0; k < PERP_STAGE_COUNT; k++) {
            stage[k][done] = 1e6 * info->seconds[k];
        }
    }
    double worst = 0.0;
    for (int k = 0; k < done; k++) {
        worst = took[k] > worst ? took[k] : worst;
    }
    double all = done > 0 ? done : 1;
    (void)printf(
        "{\"steps\": %d, \"certified\": %d, \"mean\": %.2f, \"median\": %.2f, \"worst\": %.2f, "
        "\"contacts\": %.2f, \"factorisations\": %.2f, \"residual\": %.2e, \"stages\": [",
        done, certified, mean, median(took, done), worst, contacts / all, factors / all, residual);
    for (int k = 0; k < PERP_STAGE_COUNT; k++) {
        (void)printf("%s%.2f", k > 0 ? ", " : "", median(stage[k], done));
        free(stage[k]);
    }
    (void)printf("]}\n");
    free(took);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    return 0;
}
