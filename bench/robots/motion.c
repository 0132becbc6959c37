// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp_bench_motion MODEL SECONDS [CPU] [FROM]: what a robot does in the first seconds, as a line of JSON.
//
// MODEL is MJCF, URDF or a scene, run as `perp run` does. CPU: the run ends after so many seconds of processor time.
// FROM: displacements of the bodies since that time are listed, one in a hundredth of what is left.
#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SAMPLES = 100 };

typedef struct motion {
    int steps, certified, contacts_most, contacts_last;
    double cpu, worst, worst_at;  // of steps [us], [s]
    double residual;
    char reason[400];
} motion;

// CPU time of this process [us].
static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static void print_text(const char *key, const char *text)
{
    (void)printf("\"%s\": \"", key);
    for (const char *c = text; *c; c++) {
        (void)putchar(*c == '"' || *c == '\\' || *c < ' ' ? '\'' : *c);
    }
    (void)putchar('"');
}

static int fail(const char *text)
{
    (void)putchar('{');
    print_text("error", text);
    (void)printf("}\n");
    return 0;
}

// Height of the centre of mass against gravity [m], and the largest speed of a body [m/s].
static double height(const perp_sim *sim, double *speed)
{
    const perp_model *model = perp_sim_model(sim);
    perp_vec3 g = perp_sim_gravity(sim);
    double sum = 0.0, mass = 0.0, size = sqrt(g.x * g.x + g.y * g.y + g.z * g.z);
    *speed = 0.0;
    for (int i = 1; i < perp_model_bodies(model); i++) {
        perp_body body = {i};
        perp_vec3 p = perp_sim_body_position(sim, body), v = perp_sim_body_twist(sim, body).v_W;
        double m = perp_model_mass(model, body);
        *speed = fmax(*speed, sqrt(v.x * v.x + v.y * v.y + v.z * v.z));
        sum -= m * (size > 0.0 ? (g.x * p.x + g.y * p.y + g.z * p.z) / size : -p.z);
        mass += m;
    }
    return mass > 0.0 ? sum / mass : 0.0;
}

// Largest distance of a body from where it was [m].
static double moved(const perp_sim *sim, const perp_vec3 *since)
{
    double most = 0.0;
    for (int i = 1; i < perp_model_bodies(perp_sim_model(sim)); i++) {
        perp_vec3 p = perp_sim_body_position(sim, (perp_body){i});
        most = fmax(most, hypot(hypot(p.x - since[i].x, p.y - since[i].y), p.z - since[i].z));
    }
    return most;
}

static void note_violation(motion *m, const perp_step_info *info, double t)
{
    static const char *const items[PERP_JUDGED_COUNT] = {
        "gap",    "complementarity", "friction cone", "joints", "momentum",
        "energy", "residual",        "motion",        "path"};
    int worst = 0;
    for (int k = 1; k < PERP_JUDGED_COUNT; k++) {
        worst = info->certificate.relative[k] > info->certificate.relative[worst] ? k : worst;
    }
    if (!m->reason[0]) {
        (void)snprintf(m->reason, sizeof m->reason, "t = %.4g s: %s %.2g times its limit; %s", t,
                       items[worst], info->certificate.relative[worst], info->remark);
    }
}

// Steps until the end, the limit or a failure. since: places at `from`; moves: distances from them.
static void run(perp_sim *sim, double h, double until, double limit, double from, motion *m,
                perp_vec3 *since, double *moves)
{
    int total = (int)ceil(until / h - 1e-6), first = (int)ceil(from / h - 1e-6), taken = 0;
    for (int k = 0; k < total; k++) {
        if (k == first) {
            for (int i = 1; i < perp_model_bodies(perp_sim_model(sim)); i++) {
                since[i] = perp_sim_body_position(sim, (perp_body){i});
            }
        }
        if (m->cpu > 1e6 * limit) {
            (void)snprintf(m->reason, sizeof m->reason, "stopped at t = %.4g s after %.3g s",
                           perp_sim_time(sim), limit);
            return;
        }
        double before = cpu();
        perp_status status = perp_sim_step(sim, h);
        double took = cpu() - before;
        m->cpu += took;
        if (status < 0) {
            (void)snprintf(m->reason, sizeof m->reason, "t = %.4g s: %s", perp_sim_time(sim),
                           perp_sim_error(sim)->text);
            return;
        }
        // The step counts only now: a failed one leaves the state as it was.
        const perp_step_info *info = perp_sim_info(sim);
        m->steps++;
        m->contacts_last = info->contacts;
        m->contacts_most = info->contacts > m->contacts_most ? info->contacts : m->contacts_most;
        m->residual = fmax(m->residual, info->certificate.residual);
        if (took > m->worst) {
            m->worst = took;
            m->worst_at = perp_sim_time(sim);
        }
        if (status == PERP_OK && info->certificate.passed) {
            m->certified++;
        } else {
            note_violation(m, info, perp_sim_time(sim));
        }
        while (k >= first && taken < SAMPLES &&
               (double)(k + 1 - first) * SAMPLES >= (double)(taken + 1) * (total - first)) {
            moves[taken++] = moved(sim, since);
        }
    }
}

static void print(perp_sim *sim, const motion *m, double h, double before, double first,
                  const double *moves, bool list)
{
    int nq = 0, nv = 0;
    double speed = 0.0, now = height(sim, &speed);
    if (perp_sim_tree_size(sim, &nq, &nv) < 0) {
        perp_sim_state_size(sim, &nq, &nv);
    }
    (void)printf("{\"dof\": %d, \"h\": %.6g, \"steps\": %d, \"certified\": %d, \"contacts\": %d, "
                 "\"contacts_most\": %d, \"mean\": %.2f, \"worst\": %.2f, \"worst_at\": %.4g, "
                 "\"residual\": %.2e, \"height\": %.4g, \"height_end\": %.4g, \"moved\": %.3e, "
                 "\"speed\": %.3e, ",
                 nv, h, m->steps, m->certified, m->contacts_last, m->contacts_most,
                 m->steps > 0 ? m->cpu / m->steps : 0.0, m->worst, m->worst_at, m->residual, before,
                 now, first, speed);
    print_text("reason", m->reason);
    if (list) {
        (void)printf(", \"moves\": [");
        for (int k = 0; k < SAMPLES; k++) {
            (void)printf("%s%.4e", k > 0 ? ", " : "", moves[k]);
        }
        (void)putchar(']');
    }
    (void)printf("}\n");
}

int main(int count, char **words)
{
    perp_error error = {0};
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    double until = count > 2 ? strtod(words[2], NULL) : 0.0;
    double limit = count > 3 ? strtod(words[3], NULL) : 1e9;
    double from = count > 4 ? strtod(words[4], NULL) : 0.0;
    if (count < 3 || !(until > 0.0) || !(limit > 0.0) || !(from >= 0.0 && from < until)) {
        (void)fprintf(stderr, "usage: perp_bench_motion MODEL SECONDS [CPU] [FROM]\n");
        return 2;
    }
    if (perp_scene_load(words[1], NULL, &scene, &error) < 0) {
        return fail(error.text);
    }
    perp_sim_def def = perp_scene_sim_def(scene);
    def.max_seconds = limit;  // of one step
    double h = perp_scene_step(scene), speed = 0.0, moves[SAMPLES] = {0.0};
    if (perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error) < 0) {
        perp_scene_destroy(scene);
        return fail(error.text);
    }
    size_t bodies = (size_t)perp_model_bodies(perp_scene_model(scene));
    perp_vec3 *start = calloc(bodies, sizeof *start), *since = calloc(bodies, sizeof *since);
    if (!start || !since) {
        return fail("out of memory");
    }
    for (int i = 1; i < (int)bodies; i++) {
        start[i] = perp_sim_body_position(sim, (perp_body){i});
    }
    motion m = {0};
    double before = height(sim, &speed);
    run(sim, h, until, limit, from, &m, since, moves);
    print(sim, &m, h, before, moved(sim, start), moves, count > 4);
    free(start);
    free(since);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    return 0;
}
