// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// compare: output as text and JSON.
#include "compare.h"

#include <math.h>
#include <string.h>

enum { COLUMNS_MOST = 6, MODES_MOST = 20 };

static const char *const mode_word[] = {"open", "stick", "slip"};

// ── Text ─────────────────────────────────────────────────────────────────────────────────────────

static void print_run(const char *letter, const perp_recording *r)
{
    const perp_recording_info *info = perp_recording_about(r);
    printf("%s  %s: %s, form %s, solver %s, h = %g s, %d frames%s\n", letter, cli_plain(info->name),
           perp_stepper_word((int)info->stepper), perp_form_word((int)info->form),
           cli_plain(info->solver), info->h, info->frames, info->complete ? "" : " (incomplete)");
}

static bool same_end(const comparison *c)
{
    return fabs(c->end_a - c->end_b) <= 1e-9 * (1.0 + fabs(c->end_a));
}

static void print_verdict(const comparison *c)
{
    if (c->part) {
        printf("the runs diverge at t = %.9g s: '%s' differs by more than %g\n", c->part_time,
               cli_plain(c->part_name), c->tolerance);
    } else {
        printf("the runs agree within %g in %d frames\n", c->tolerance, c->moments);
    }
    if (!same_end(c)) {
        printf("note: one run ends at t = %.9g s, the other at %.9g s\n", fmin(c->end_a, c->end_b),
               fmax(c->end_a, c->end_b));
    }
    if (c->only_a + c->only_b > 0) {
        printf("note: bodies in one run only: %d in A, %d in B\n", c->only_a, c->only_b);
    }
}

static void print_bodies(const comparison *c)
{
    int width = 4;
    for (int k = 0; k < c->bodies; k++) {
        int length = (int)strlen(c->body[k].body.name);
        width = length > width ? length : width;
    }
    printf("\n%-*s %12s %12s %12s %12s\n", width, "body", "position [m]", "at t [s]", "angle [rad]",
           "speed [m/s]");
    for (int k = 0; k < c->bodies; k++) {
        const body_apart *d = &c->body[k];
        printf("%-*s %12.3e %12.6g %12.3e %12.3e\n", width, cli_plain(d->body.name), d->place,
               d->when, d->turn, d->speed);
    }
}

// One column per body, or the largest of all bodies.
static void print_rows(const comparison *c)
{
    bool each = c->bodies <= COLUMNS_MOST;
    printf("\ndistance [m] over time\n%12s", "t [s]");
    for (int k = 0; k < c->bodies && each; k++) {
        printf(" %12.12s", cli_plain(c->body[k].body.name));
    }
    puts(each ? "" : "      largest  body");
    for (int r = 0; r < c->rows; r++) {
        const double *row = c->row + (size_t)r * (size_t)c->bodies;
        int most = 0;
        printf("%12.6g", c->row_t[r]);
        for (int k = 0; k < c->bodies; k++) {
            most = row[k] > row[most] ? k : most;
            if (each) {
                printf(" %12.3e", row[k]);
            }
        }
        if (each) {
            putchar('\n');
        } else {
            printf(" %12.3e  %s\n", row[most], cli_plain(c->body[most].body.name));
        }
    }
}

// "block / floor": the name of the shape if it has one, else of its body.
static void name_shape(char *text, size_t size, const perp_recording *r, perp_shape shape)
{
    perp_recorded_shape s = perp_recording_shape(r, shape);
    bool given = s.name[0] && strncmp(s.name, "shape", 5) != 0;
    snprintf(text, size, "%s", given ? s.name : perp_recording_body(r, s.body).name);
}

static void name_pair(char text[80], const comparison *c, const mode_apart *m)
{
    char first[36], second[36];
    name_shape(first, sizeof first, c->a, m->mode.first);
    name_shape(second, sizeof second, c->a, m->mode.second);
    snprintf(text, 80, "%s / %s", first, second);
}

static void print_modes(const comparison *c)
{
    char name[80];
    if (c->modes == 0) {
        return;
    }
    printf("\n%-32s %12s %6s %6s %9s\n", "contacts in different modes", "first at [s]", "A", "B",
           "frames");
    for (int k = 0; k < c->modes && k < MODES_MOST; k++) {
        const mode_apart *m = &c->mode[k];
        name_pair(name, c, m);
        printf("%-32s %12.6g %6s %6s %9d\n", cli_plain(name), m->when, mode_word[m->mode.a],
               mode_word[m->mode.b], m->moments);
    }
    if (c->modes > MODES_MOST) {
        printf("and %d more\n", c->modes - MODES_MOST);
    }
}

void compare_text(const comparison *c)
{
    print_run("A", c->a);
    print_run("B", c->b);
    print_verdict(c);
    print_bodies(c);
    print_rows(c);
    print_modes(c);
}

// ── JSON ─────────────────────────────────────────────────────────────────────────────────────────

static void json_body(const comparison *c, int k)
{
    const body_apart *d = &c->body[k];
    fputs(k > 0 ? ",\n  " : "\n  ", stdout);
    cli_json_string(stdout, d->body.name);
    printf(": {\"place_m\": ");
    cli_json_number(stdout, d->place);
    printf(", \"t\": ");
    cli_json_number(stdout, d->when);
    printf(", \"angle_rad\": ");
    cli_json_number(stdout, d->turn);
    printf(", \"speed_m_s\": ");
    cli_json_number(stdout, d->speed);
    printf(", \"places_m\": [");
    for (int r = 0; r < c->rows; r++) {
        fputs(r > 0 ? ", " : "", stdout);
        cli_json_number(stdout, c->row[(size_t)r * (size_t)c->bodies + (size_t)k]);
    }
    printf("]}");
}

static void json_mode(const comparison *c, int k)
{
    const mode_apart *m = &c->mode[k];
    char name[80];
    name_pair(name, c, m);
    fputs(k > 0 ? ",\n  {\"contact\": " : "\n  {\"contact\": ", stdout);
    cli_json_string(stdout, name);
    printf(", \"t\": ");
    cli_json_number(stdout, m->when);
    printf(", \"a\": \"%s\", \"b\": \"%s\", \"moments\": %d}", mode_word[m->mode.a],
           mode_word[m->mode.b], m->moments);
}

void compare_json(const comparison *c)
{
    printf("{\"agree\": %s, \"tolerance\": %.17g, \"moments\": %d, \"t_end\": [",
           c->part ? "false" : "true", c->tolerance, c->moments);
    cli_json_number(stdout, c->end_a);
    printf(", ");
    cli_json_number(stdout, c->end_b);
    printf("], \"parts_at\": ");
    cli_json_number(stdout, c->part ? c->part_time : HUGE_VAL);
    printf(", \"parts_body\": ");
    cli_json_string(stdout, c->part ? c->part_name : "");
    printf(",\n \"times\": [");
    for (int r = 0; r < c->rows; r++) {
        fputs(r > 0 ? ", " : "", stdout);
        cli_json_number(stdout, c->row_t[r]);
    }
    printf("],\n \"bodies\": {");
    for (int k = 0; k < c->bodies; k++) {
        json_body(c, k);
    }
    printf("},\n \"modes\": [");
    for (int k = 0; k < c->modes; k++) {
        json_mode(c, k);
    }
    printf("]}\n");
}
