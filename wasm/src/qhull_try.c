// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// qhull gives up by longjmp to a place inside qh_new_qhull. The host, which can throw and catch, calls the inner part of
// that function (js/host.mjs): perp.call returns 0, or the value of a perp.leave on the way.
#include <libqhull_r/qhull_ra.h>
#include <setjmp.h>

__attribute__((import_module("perp"), import_name("call"))) int host_call(void (*task)(void *arg),
                                                                          void *arg);
__attribute__((import_module("perp"), import_name("leave"))) _Noreturn void host_leave(int value);

_Noreturn void longjmp(jmp_buf env, int value)
{
    (void)env;
    host_leave(value != 0 ? value : 1);
}

typedef struct attempt {
    qhT *qh;
    int dim, points, code;
    coordT *x;
    boolT owned;
    char *command;
    FILE *out, *messages;
} attempt;

int __real_qh_new_qhull(qhT *qh, int dim, int points, coordT *x, boolT owned, char *command,
                        FILE *out, FILE *messages);
int __wrap_qh_new_qhull(qhT *qh, int dim, int points, coordT *x, boolT owned, char *command,
                        FILE *out, FILE *messages);

static void try_hull(void *arg)
{
    attempt *a = arg;
    a->code = __real_qh_new_qhull(a->qh, a->dim, a->points, a->x, a->owned, a->command, a->out,
                                  a->messages);
}

int __wrap_qh_new_qhull(qhT *qh, int dim, int points, coordT *x, boolT owned, char *command,
                        FILE *out, FILE *messages)
{
    attempt a = {qh, dim, points, 0, x, owned, command, out, messages};
    int left = host_call(try_hull, &a);
    if (left != 0) {
        qh->NOerrexit = True;  // as qh_new_qhull leaves it
        return left;
    }
    return a.code;
}
