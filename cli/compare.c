// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp compare: two recordings side by side; where they part, and how far.
//
// Bodies are matched by name, moments by time: between two frames of the second recording its states are
// taken on the straight line.
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct difference {
    const char *name;
    int in_a, in_b;             // index of the body
    double place, turn, speed;  // largest: [m], [rad], [m/s]
    double when;                // of the largest place [s]
} difference;

typedef struct state {
    perp_vec3 p, v;
    double angle;
    perp_quat rot;
} state;

typedef struct comparison {
    perp_recording *a, *b;
    difference *body;
    int bodies, only_a, only_b;
    int width;  // letters of the longest name
    double tolerance;
    int frames;           // compared
    double end_a, end_b;  // [s]
    bool spatial;
    bool part;
    double part_time;
    const char *part_name;
} comparison;

// ── Bodies of both ───────────────────────────────────────────────────────────────────────────────

static int find_body(const perp_recording *r, const char *name)
{
    for (int i = 1; i < perp_recording_about(r)->bodies; i++) {
        if (strcmp(perp_recording_body(r, (perp_body){i}).name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static bool match(comparison *c)
{
    int in_a = perp_recording_about(c->a)->bodies, in_b = perp_recording_about(c->b)->bodies;
    c->spatial = perp_recording_about(c->a)->spatial || perp_recording_about(c->b)->spatial;
    c->body = calloc((size_t)in_a + 1, sizeof *c->body);
    if (!c->body) {
        return false;
    }
    for (int i = 1; i < in_a; i++) {
        const char *name = perp_recording_body(c->a, (perp_body){i}).name;
        int k = find_body(c->b, name);
        if (k >= 0) {
            int length = (int)strlen(name);
            c->width = length > c->width ? length : c->width;
            c->body[c->bodies++] = (difference){.name = name, .in_a = i, .in_b = k};
        }
    }
    c->only_a = in_a - 1 - c->bodies;
    c->only_b = in_b - 1 - c->bodies;
    return true;
}

// ── Moments of both ──────────────────────────────────────────────────────────────────────────────

static state state_of(const perp_frame *f, int body)
{
    return (state){f->position[body], f->velocity[body], f->angle[body], f->rotation[body]};
}

static perp_vec3 mix(perp_vec3 a, perp_vec3 b, double s)
{
    return (perp_vec3){a.x + s * (b.x - a.x), a.y + s * (b.y - a.y), a.z + s * (b.z - a.z)};
}

// On the chord, the shorter way around; its length is made 1 where it is used.
static perp_quat mix_turn(perp_quat a, perp_quat b, double s)
{
    double sign = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z < 0.0 ? -s : s;
    return (perp_quat){(1.0 - s) * a.w + sign * b.w, (1.0 - s) * a.x + sign * b.x,
                       (1.0 - s) * a.y + sign * b.y, (1.0 - s) * a.z + sign * b.z};
}

static state between(state p, state q, double s)
{
    return (state){mix(p.p, q.p, s), mix(p.v, q.v, s), p.angle + s * (q.angle - p.angle),
                   mix_turn(p.rot, q.rot, s)};
}

static double apart(perp_vec3 a, perp_vec3 b)
{
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

// The angle of the rotation from a to b.
static double turn_apart(perp_quat a, perp_quat b)
{
    double w = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
    double x = a.w * b.x - a.x * b.w - a.y * b.z + a.z * b.y;
    double y = a.w * b.y + a.x * b.z - a.y * b.w - a.z * b.x;
    double z = a.w * b.z - a.x * b.y + a.y * b.x - a.z * b.w;
    return 2.0 * atan2(sqrt(x * x + y * y + z * z), fabs(w));
}

static void see(comparison *c, difference *d, double t, state a, state b)
{
    double place = apart(a.p, b.p), speed = apart(a.v, b.v);
    double turn = c->spatial ? turn_apart(a.rot, b.rot) : fabs(a.angle - b.angle);
    if (place > d->place) {
        d->place = place;
        d->when = t;
    }
    d->turn = turn > d->turn ? turn : d->turn;
    d->speed = speed > d->speed ? speed : d->speed;
    if (!c->part && !(place <= c->tolerance && turn <= c->tolerance)) {
        c->part = true;
        c->part_time = t;
        c->part_name = d->name;
    }
}

// The bodies of b at the two frames around a time, as they are needed one after the other.
typedef struct walker {
    state *old, *new;
    double t_old, t_new;
    int next;
} walker;

static cli_exit advance(comparison *c, walker *w)
{
    perp_frame frame;
    perp_error error;
    if (perp_recording_read(c->b, w->next, &frame, &error) < 0) {
        return cli_complain("%s", error.text);
    }
    state *old = w->old;
    w->old = w->new;
    w->new = old;
    w->t_old = w->t_new;
    w->t_new = frame.t;
    w->next++;
    for (int k = 0; k < c->bodies; k++) {
        w->new[k] = state_of(&frame, c->body[k].in_b);
    }
    return CLI_FINE;
}

static cli_exit find_end(perp_recording *r, double *end)
{
    perp_frame last;
    perp_error error;
    if (perp_recording_read(r, perp_recording_about(r)->frames - 1, &last, &error) < 0) {
        return cli_complain("%s", error.text);
    }
    *end = last.t;
    return CLI_FINE;
}

static cli_exit compare_frames(comparison *c, walker *w)
{
    const perp_recording_info *a = perp_recording_about(c->a), *b = perp_recording_about(c->b);
    perp_frame frame;
    perp_error error;
    cli_exit code = advance(c, w);
    for (int i = 0; i < a->frames && code == CLI_FINE; i++) {
        if (perp_recording_read(c->a, i, &frame, &error) < 0) {
            return cli_complain("%s", error.text);
        }
        double tiny = 1e-9 * (1.0 + fabs(frame.t));  // t is a sum of many h: it has rounding in it
        while (w->t_new < frame.t - tiny && w->next < b->frames && code == CLI_FINE) {
            code = advance(c, w);
        }
        if (w->t_new < frame.t - tiny) {
            break;  // b ends here
        }
        double gap = w->t_new - w->t_old;
        double s =
            fabs(w->t_new - frame.t) <= tiny || gap <= 0.0 ? 1.0 : (frame.t - w->t_old) / gap;
        for (int k = 0; k < c->bodies; k++) {
            see(c, &c->body[k], frame.t, state_of(&frame, c->body[k].in_a),
                s == 1.0 ? w->new[k] : between(w->old[k], w->new[k], s));
        }
        c->frames++;
    }
    return code;
}

// ── Telling ──────────────────────────────────────────────────────────────────────────────────────

static void print_run(const char *letter, const perp_recording *r)
{
    const perp_recording_info *info = perp_recording_about(r);
    printf("%s  %s: %s, form %s, solver %s, h = %g s, %d frames%s\n", letter, info->name,
           perp_stepper_word((int)info->stepper), perp_form_word((int)info->form), info->solver,
           info->h, info->frames, info->complete ? "" : " (incomplete)");
}

static bool same_end(const comparison *c)
{
    return fabs(c->end_a - c->end_b) <= 1e-9 * (1.0 + fabs(c->end_a));
}

static void print_text(const comparison *c)
{
    int width = c->width > 4 ? c->width : 4;
    print_run("A", c->a);
    print_run("B", c->b);
    if (c->part) {
        printf("they part at t = %.9g s: '%s' differs by more than %g\n", c->part_time,
               c->part_name, c->tolerance);
    } else {
        printf("they agree within %g at %d moments\n", c->tolerance, c->frames);
    }
    if (!same_end(c)) {
        printf("not compared: one ends at t = %.9g s, the other at %.9g s\n",
               fmin(c->end_a, c->end_b), fmax(c->end_a, c->end_b));
    }
    if (c->only_a + c->only_b > 0) {
        printf("not compared: %d bodies only in A, %d only in B\n", c->only_a, c->only_b);
    }
    printf("\n%-*s %12s %12s %12s %12s\n", width, "body", "place [m]", "at t [s]", "angle [rad]",
           "speed [m/s]");
    for (int k = 0; k < c->bodies; k++) {
        const difference *d = &c->body[k];
        printf("%-*s %12.3e %12.6g %12.3e %12.3e\n", width, d->name, d->place, d->when, d->turn,
               d->speed);
    }
}

static void print_json(const comparison *c)
{
    printf("{\"agree\": %s, \"tolerance\": %.17g, \"moments\": %d, \"t_end\": [",
           c->part ? "false" : "true", c->tolerance, c->frames);
    cli_json_number(stdout, c->end_a);
    printf(", ");
    cli_json_number(stdout, c->end_b);
    printf("], \"parts_at\": ");
    cli_json_number(stdout, c->part ? c->part_time : HUGE_VAL);
    printf(", \"parts_body\": ");
    cli_json_string(stdout, c->part ? c->part_name : "");
    printf(",\n \"bodies\": {");
    for (int k = 0; k < c->bodies; k++) {
        const difference *d = &c->body[k];
        fputs(k > 0 ? ",\n  " : "\n  ", stdout);
        cli_json_string(stdout, d->name);
        printf(": {\"place_m\": ");
        cli_json_number(stdout, d->place);
        printf(", \"t\": ");
        cli_json_number(stdout, d->when);
        printf(", \"angle_rad\": ");
        cli_json_number(stdout, d->turn);
        printf(", \"speed_m_s\": ");
        cli_json_number(stdout, d->speed);
        putchar('}');
    }
    printf("}}\n");
}

// ── The verb ─────────────────────────────────────────────────────────────────────────────────────

static cli_exit compare(comparison *c)
{
    if (!match(c)) {
        return cli_complain("compare: not enough memory");
    }
    if (c->bodies == 0) {
        return cli_complain("compare: the recordings have no body of the same name");
    }
    walker w = {.old = calloc((size_t)c->bodies, sizeof(state)),
                .new = calloc((size_t)c->bodies, sizeof(state))};
    cli_exit code = CLI_INPUT;
    if (!w.old || !w.new) {
        cli_complain("compare: not enough memory");
    } else if (find_end(c->a, &c->end_a) == CLI_FINE && find_end(c->b, &c->end_b) == CLI_FINE) {
        code = compare_frames(c, &w);
    }
    free(w.old);
    free(w.new);
    return code;
}

cli_exit cli_compare(int count, char **words)
{
    const char *dir[2] = {0};
    comparison c = {.tolerance = -1.0};
    bool json = false;
    const cli_option options[] = {{"--tol", CLI_REAL, &c.tolerance, NULL},
                                  {"--json", CLI_FLAG, &json, NULL}};
    if (cli_wants_help("compare", count, words)) {
        return CLI_FINE;
    }
    cli_exit code = cli_options_parse("compare", count, words, options, 2, dir, 2);
    bool strict = c.tolerance >= 0.0;
    c.tolerance = strict ? c.tolerance : 1e-6;
    if (code == CLI_FINE) {
        code = cli_recording_open(dir[0], &c.a);
    }
    if (code == CLI_FINE) {
        code = cli_recording_open(dir[1], &c.b);
    }
    if (code == CLI_FINE) {
        code = compare(&c);
    }
    if (code == CLI_FINE) {
        if (json) {
            print_json(&c);
        } else {
            print_text(&c);
        }
        code = strict && c.part ? CLI_VIOLATED : CLI_FINE;
    }
    free(c.body);
    perp_recording_close(c.a);
    perp_recording_close(c.b);
    return code;
}
