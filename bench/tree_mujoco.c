// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The chain of perp_bench_tree in MuJoCo, with contacts and constraints switched off.
#include "tree.h"

#if BENCH_MUJOCO

#include <mujoco/mujoco.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The parser allows at most 100 nested elements, so a chain is split into files, each included by the innermost
// link of the previous one.
enum { BATCHES = 15, PART = 50, MOST_CHARS = 400 };

static void write_part(int n, int first, char *text, size_t room)
{
    int end = first + PART < n ? first + PART : n;
    int at = snprintf(text, room, "%s",
                      first > 0 ? "<mujocoinclude>"
                                : "<mujoco><size njmax='10' nconmax='10'/><compiler boundmass='0' "
                                  "boundinertia='0'/><option gravity='0 0 -9.81'><flag "
                                  "contact='disable' constraint='disable'/></option><worldbody>");
    for (int k = first; k < end; k++) {
        at += snprintf(text + at, room - (size_t)at,
                       "<body pos='0 0 %.17g'><joint type='hinge' axis='%s'/><inertial pos='0 0 "
                       "%.17g' mass='%.17g' diaginertia='%.17g %.17g %.17g'/>",
                       k > 0 ? -BENCH_LENGTH : 0.0, k % 2 == 0 ? "0 1 0" : "1 0 0",
                       -0.5 * BENCH_LENGTH, BENCH_MASS, BENCH_ACROSS, BENCH_ACROSS, BENCH_ALONG);
    }
    if (end < n) {
        at += snprintf(text + at, room - (size_t)at, "<include file='%d.xml'/>", end);
    }
    for (int k = first; k < end; k++) {
        at += snprintf(text + at, room - (size_t)at, "</body>");
    }
    snprintf(text + at, room - (size_t)at, "%s",
             first > 0 ? "</mujocoinclude>" : "</worldbody></mujoco>");
}

static mjModel *load(int n)
{
    size_t room = MOST_CHARS * (PART + 2);
    char *text = malloc(room), reason[200] = "", name[20];
    mjVFS *files = calloc(1, sizeof *files);
    mjModel *model = NULL;
    if (text && files) {
        mj_defaultVFS(files);
        for (int first = 0; first < n; first += PART) {
            write_part(n, first, text, room);
            snprintf(name, sizeof name, "%d.xml", first);
            size_t size = strlen(text) + 1;
            if (mj_makeEmptyFileVFS(files, name, (int)size) == 0) {
                memcpy(files->filedata[mj_findFileVFS(files, name)], text, size);
            }
        }
        model = mj_loadXML("0.xml", files, reason, sizeof reason);
        mj_deleteVFS(files);
    }
    if (!model) {
        fprintf(stderr, "MuJoCo: %d links: %s\n", n, reason);
    }
    free(files);
    free(text);
    return model;
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double bench_tree_mujoco(int n, const double *q, const double *qd, double *qdd)
{
    mjModel *model = load(n);
    mjData *data = model ? mj_makeData(model) : NULL;
    double best = (double)NAN;
    int repeat = 2000 / n + 1;
    if (data) {
        memcpy(data->qpos, q, (size_t)n * sizeof *q);
        memcpy(data->qvel, qd, (size_t)n * sizeof *qd);
        for (int batch = 0; batch < BATCHES; batch++) {
            double start = cpu_seconds();
            for (int k = 0; k < repeat; k++) {
                mj_forward(model, data);
            }
            best = fmin(best, (cpu_seconds() - start) / repeat);
        }
        memcpy(qdd, data->qacc, (size_t)n * sizeof *qdd);
    }
    mj_deleteData(data);
    mj_deleteModel(model);
    return best;
}

#else

#include <math.h>

double bench_tree_mujoco(int n, const double *q, const double *qd, double *qdd)
{
    (void)n;
    (void)q;
    (void)qd;
    (void)qdd;
    return (double)NAN;
}

#endif
