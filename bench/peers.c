// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The solvers of this build: perp's, and those of peers whose library was found.
#include "bench.h"

#include <stdio.h>
#include <string.h>

typedef struct library {
    const char *name, *package;
    const bench_solver *(*solvers[2])(int *count);  // all NULL: not in this build
} library;

static const library libraries[] = {
    {"perp", "", {bench_ours}},
#if BENCH_SICONOS
    {"Siconos numerics", "libsiconos-numerics-dev", {bench_siconos, bench_siconos_contact}},
#else
    {"Siconos numerics", "libsiconos-numerics-dev", {NULL}},
#endif
#if BENCH_BULLET
    {"Bullet (double)", "libbullet-dev", {bench_bullet}},
#else
    {"Bullet (double)", "libbullet-dev", {NULL}},
#endif
#if BENCH_DART
    {"DART", "libdart-dev", {bench_dart}},
#else
    {"DART", "libdart-dev", {NULL}},
#endif
};

enum { LIBRARIES = sizeof libraries / sizeof libraries[0] };

const bench_solver *bench_solver_find(const char *name)
{
    for (int k = 0; k < 2 * LIBRARIES; k++) {
        const bench_solver *(*get)(int *) = libraries[k / 2].solvers[k % 2];
        int count = 0;
        const bench_solver *table = get != NULL ? get(&count) : NULL;
        for (int i = 0; i < count; i++) {
            if (strcmp(table[i].name, name) == 0) {
                return &table[i];
            }
        }
    }
    return NULL;
}

void bench_peers_print(void)
{
    for (int k = 1; k < LIBRARIES; k++) {
        bool present = libraries[k].solvers[0] != NULL;
        printf("peer %-18s %s%s\n", libraries[k].name, present ? "present" : "absent: install ",
               present ? "" : libraries[k].package);
    }
}
