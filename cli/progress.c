// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The progress line of a run: on stderr, and only on a terminal.
#include "cli.h"

#include <time.h>
#include <unistd.h>

static const double INTERVAL = 0.2;  // between updates [s]

double cli_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

progress progress_begin(bool wanted, double start, double end)
{
    double t = cli_seconds();
    return (progress){.shown = wanted && isatty(STDERR_FILENO),
                      .began = t,
                      .next = t + INTERVAL,
                      .start = start,
                      .end = end};
}

// "12 s", "3 min 20 s", "2 h 05 min"
static void print_span(double seconds)
{
    int s = seconds < 1e8 ? (int)(seconds + 0.5) : 100000000;
    if (s < 60) {
        fprintf(stderr, "%d s", s);
    } else if (s < 3600) {
        fprintf(stderr, "%d min %02d s", s / 60, s % 60);
    } else {
        fprintf(stderr, "%d h %02d min", s / 3600, s / 60 % 60);
    }
}

void progress_step(progress *p, const perp_sim *sim, double residual)
{
    if (!p->shown) {
        return;
    }
    double t = cli_seconds();
    if (t < p->next) {
        return;
    }
    p->next = t + INTERVAL;
    double done = perp_sim_time(sim) - p->start, all = p->end - p->start, spent = t - p->began;
    double part = all > 0.0 ? done / all : 1.0;
    fprintf(stderr,
            "\r%3.0f %%  t = %.4g of %.4g s  %.3g x real time  %d contacts  residual %.1e  ",
            100.0 * part, perp_sim_time(sim), p->end, done / spent, perp_sim_info(sim)->contacts,
            residual);
    if (part > 0.0) {
        print_span(spent * (1.0 - part) / part);
        fputs(" left", stderr);
    }
    fputs("\033[K", stderr);
    fflush(stderr);
}

void progress_end(progress *p)
{
    if (p->shown && p->next > p->began + INTERVAL) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
}
