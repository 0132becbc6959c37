// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp compare: where two recordings diverge, and by how much.
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static cli_exit find_end(perp_recording *r, double *end)
{
    perp_snapshot last;
    perp_error error;
    if (perp_recording_read(r, perp_recording_about(r)->frames - 1, &last, &error) < 0) {
        return cli_complain("%s", error.text);
    }
    *end = last.t;
    return CLI_FINE;
}

static bool reserve(comparison *c, const perp_comparison *pairs)
{
    c->bodies = perp_comparison_bodies(pairs);
    c->only_a = perp_recording_about(c->a)->bodies - 1 - c->bodies;
    c->only_b = perp_recording_about(c->b)->bodies - 1 - c->bodies;
    c->body = calloc((size_t)c->bodies, sizeof *c->body);
    c->row = calloc((size_t)c->bodies * COMPARE_ROWS, sizeof *c->row);
    for (int k = 0; c->body && k < c->bodies; k++) {
        c->body[k].body = perp_comparison_body(pairs, k);
    }
    return c->body && c->row;
}

// ── Instants ──────────────────────────────────────────────────────────────────────────────────────

static void see_bodies(comparison *c, const perp_compared_instant *m)
{
    for (int k = 0; k < c->bodies; k++) {
        body_apart *d = &c->body[k];
        double place = m->distance[k], turn = m->angle[k];
        if (place > d->place) {
            d->place = place;
            d->when = m->t;
        }
        d->turn = turn > d->turn ? turn : d->turn;
        d->speed = m->speed_difference[k] > d->speed ? m->speed_difference[k] : d->speed;
        if (!c->part && !(place <= c->tolerance && turn <= c->tolerance)) {
            c->part = true;
            c->part_time = m->t;
            c->part_name = d->body.name;
        }
    }
}

// The first instant at or after each tenth of the common time span.
static void see_row(comparison *c, const perp_compared_instant *m, double start)
{
    double end = fmin(c->end_a, c->end_b);
    double due = start + (end - start) * c->rows / (COMPARE_ROWS - 1);
    if (c->rows == COMPARE_ROWS || m->t < due - 1e-9 * (1.0 + fabs(due))) {
        return;
    }
    c->row_t[c->rows] = m->t;
    memcpy(c->row + (size_t)c->rows * (size_t)c->bodies, m->distance,
           (size_t)c->bodies * sizeof *c->row);
    c->rows++;
}

static int order(const perp_compared_mode *u, const perp_compared_mode *v)
{
    if (u->first.i != v->first.i) {
        return u->first.i < v->first.i ? -1 : 1;
    }
    return u->second.i < v->second.i ? -1 : u->second.i > v->second.i;
}

// Position of the pair of shapes in the sorted list, or where to insert it.
static int place_of(const comparison *c, const perp_compared_mode *mode)
{
    int low = 0, high = c->modes;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (order(&c->mode[middle].mode, mode) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool see_mode(comparison *c, const perp_compared_mode *mode, double t)
{
    int at = place_of(c, mode);
    if (at < c->modes && order(&c->mode[at].mode, mode) == 0) {
        c->mode[at].moments++;
        return true;
    }
    if (c->modes == c->mode_room) {
        int room = 2 * c->mode_room + 16;
        mode_apart *more = realloc(c->mode, (size_t)room * sizeof *more);
        if (!more) {
            return false;
        }
        c->mode = more;
        c->mode_room = room;
    }
    memmove(c->mode + at + 1, c->mode + at, (size_t)(c->modes - at) * sizeof *c->mode);
    c->mode[at] = (mode_apart){*mode, t, 1};
    c->modes++;
    return true;
}

static cli_exit see_all(comparison *c, perp_comparison *pairs)
{
    perp_compared_instant m;
    perp_error error;
    double start = 0.0;
    for (bool more = true; more;) {
        if (perp_comparison_next(pairs, &m, &more, &error) < 0) {
            return cli_complain("%s", error.text);
        }
        if (!more) {
            break;
        }
        start = c->moments == 0 ? m.t : start;
        c->moments++;
        see_bodies(c, &m);
        see_row(c, &m, start);
        for (int k = 0; k < m.modes; k++) {
            if (!see_mode(c, &m.mode[k], m.t)) {
                return cli_complain("compare: not enough memory");
            }
        }
    }
    return CLI_FINE;
}

// ── The verb ─────────────────────────────────────────────────────────────────────────────────────

static cli_exit compare(comparison *c)
{
    perp_comparison *pairs = NULL;
    perp_error error;
    cli_exit code = find_end(c->a, &c->end_a);
    if (code == CLI_FINE) {
        code = find_end(c->b, &c->end_b);
    }
    if (code == CLI_FINE && perp_comparison_create(c->a, c->b, NULL, &pairs, &error) < 0) {
        code = cli_complain("compare: %s", error.text);
    }
    if (code == CLI_FINE) {
        code = reserve(c, pairs) ? see_all(c, pairs) : cli_complain("compare: not enough memory");
    }
    perp_comparison_destroy(pairs);
    return code;
}

static cli_exit draw(const comparison *c, const char *dir, bool json)
{
    perp_error error = {0};
    perp_status status = perp_plot_write_comparison(c->a, c->b, dir, NULL, &error);
    if (status < 0) {
        cli_complain("compare: %s", error.text);
        return status == PERP_ERR_IO || status == PERP_ERR_MEMORY ? CLI_OUTPUT : CLI_INPUT;
    }
    if (!json) {
        printf("\nfigures     %s/index.html\n", cli_plain(dir));
    }
    return CLI_FINE;
}

static cli_exit compare_and_tell(comparison *c, bool json, const char *out)
{
    cli_exit code = compare(c);
    if (code != CLI_FINE) {
        return code;
    }
    if (json) {
        compare_json(c);
    } else {
        compare_text(c);
    }
    return out ? draw(c, out, json) : CLI_FINE;
}

cli_exit cli_compare(int count, char **words)
{
    const char *dir[2] = {0}, *out = NULL;
    comparison c = {.tolerance = -1.0};
    bool json = false;
    const cli_option options[] = {{"--tol", CLI_REAL, &c.tolerance, NULL},
                                  {"-o", CLI_TEXT, &out, NULL},
                                  {"--json", CLI_FLAG, &json, NULL}};
    if (cli_wants_help("compare", count, words)) {
        return CLI_FINE;
    }
    cli_exit code = cli_options_parse("compare", count, words, options, 3, dir, 2);
    bool strict = c.tolerance >= 0.0;
    c.tolerance = strict ? c.tolerance : 1e-6;
    if (code == CLI_FINE) {
        code = cli_recording_open(dir[0], &c.a);
    }
    if (code == CLI_FINE) {
        code = cli_recording_open(dir[1], &c.b);
    }
    if (code == CLI_FINE) {
        code = compare_and_tell(&c, json, out);
    }
    if (code == CLI_FINE && strict && c.part) {
        code = CLI_VIOLATED;
    }
    free(c.body);
    free(c.row);
    free(c.mode);
    perp_recording_close(c.a);
    perp_recording_close(c.b);
    return code;
}
