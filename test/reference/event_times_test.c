// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// When events happen, what kind they are and what they do, against closed
// forms: times to 1e-11.
#include "support/cmocka.h"
#include "support/shot.h"

#include <math.h>
#include <string.h>

static const double G = 9.81, PI = 3.14159265358979323846;

enum { MOST = 64 };

typedef struct history {
    int count;
    perp_event event[MOST];  // q and nu are not kept
    shot s;
} history;

static void collect(history *h, double t)
{
    while (perp_sim_time(h->s.sim) < t - 1e-12) {
        int count;
        shot_run(&h->s, fmin(t, perp_sim_time(h->s.sim) + h->s.h));
        const perp_event *event = perp_sim_events(h->s.sim, &count);
        for (int k = 0; k < count; k++) {
            assert_true(h->count < MOST);
            h->event[h->count++] = event[k];
        }
    }
}

static void start(history *h, double step)
{
    h->s.def.stepper = PERP_STEPPER_EVENT;
    h->s.h = step;
    shot_start(&h->s);
}

static void open_scene(history *h, const char *name, double step)
{
    *h = (history){0};
    shot_open(&h->s, name);
    start(h, step);
}

static void open_text(history *h, const char *text, double step)
{
    *h = (history){0};
    perp_error error;
    if (perp_scene_parse("text", text, strlen(text), NULL, &h->s.scene, &error) < 0) {
        fail_msg("%s", error.text);
    }
    h->s.def = perp_scene_sim_def(h->s.scene);
    start(h, step);
}

// The next event from *k on that is of the kind, at the time.
static const perp_event *next(const history *h, int *k, perp_event_kind kind, double t)
{
    for (; *k < h->count; (*k)++) {
        const perp_event *e = &h->event[*k];
        if (e->kind == kind) {
            if (!(fabs(e->t - t) <= 1e-11)) {
                fail_msg("%s at %.17g, should be at %.17g, off by %.2g",
                         perp_event_kind_word((int)kind), e->t, t, e->t - t);
            }
            (*k)++;
            return e;
        }
    }
    fail_msg("no event '%s' at t = %.12g", perp_event_kind_word((int)kind), t);
    return NULL;
}

static void near(const char *what, double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance)) {
        fail_msg("%s = %.17g, should be %.17g, off by %.3g", what, got, want, got - want);
    }
}

static void in_order(const history *h)
{
    for (int k = 1; k < h->count; k++) {
        assert_true(h->event[k].t >= h->event[k - 1].t);
    }
}

// ── Impacts ──────────────────────────────────────────────────────────────────────────────────────

static void bouncing_ball(void **state)
{
    (void)state;
    static history h;
    open_scene(&h, "bouncing-ball", 0.25);
    collect(&h, 2.0);
    double first = sqrt(2.0 / G), t = first, speed = G * first;
    int k = 0;
    for (int bounce = 0; bounce < 8; bounce++) {
        const perp_event *e = next(&h, &k, PERP_EVENT_IMPACT, t);
        near("speed before", e->rate_before, -speed, 1e-10);
        near("speed after", e->rate_after, 0.5 * speed, 1e-10);
        near("impulse", e->impulse, 1.5 * speed, 1e-10);
        speed *= 0.5;
        t += 2.0 * speed / G;
    }
    for (; k < h.count && h.event[k].kind != PERP_EVENT_ZENO; k++) {
        assert_int_equal(h.event[k].kind, PERP_EVENT_IMPACT);
    }
    assert_true(k < h.count);
    near("end of all bounces", h.event[k].t_end, 3.0 * first, 1e-8);
    near("ratio", h.event[k].ratio, 0.5, 1e-4);
    assert_int_equal(k, h.count - 1);  // and nothing after it
    in_order(&h);
    shot_close(&h.s);
}

static void limits(void **state)
{
    (void)state;
    static history h;
    int k = 0;
    open_scene(&h, "tedrake-limit", 0.25);
    collect(&h, 1.5);
    const perp_event *e = next(&h, &k, PERP_EVENT_LIMIT_REACHED, 0.5390552657221818);
    near("rate before", e->rate_before, -5.302410100602044, 1e-9);
    near("rate after", e->rate_after, 0.0, 1e-12);
    near("impulse", e->impulse, 1.7674700335340146, 1e-9);
    shot_close(&h.s);

    open_scene(&h, "tedrake-limit-rest", 0.25);
    collect(&h, 1.0);
    k = 0;
    next(&h, &k, PERP_EVENT_LIMIT_REACHED, 0.42761216146456154);
    assert_int_equal(h.count, 1);
    shot_close(&h.s);

    open_scene(&h, "tedrake-block-limit", 0.25);
    collect(&h, 1.5);
    k = 0;
    e = next(&h, &k, PERP_EVENT_LIMIT_REACHED, PI / 6.0);
    near("impulse", e->impulse, sqrt(3.0), 1e-10);
    next(&h, &k, PERP_EVENT_LIMIT_LEFT, 0.25 * PI);
    shot_close(&h.s);

    open_scene(&h, "tedrake-two-limits", 0.1);
    collect(&h, 0.6);
    k = 0;
    e = next(&h, &k, PERP_EVENT_LIMIT_REACHED, 0.38449852154207826);
    near("rate before", e->rate_before, -5.0484777540736009, 1e-9);
    shot_close(&h.s);
}

// ── Friction ─────────────────────────────────────────────────────────────────────────────────────

static void slip_ends(void **state)
{
    (void)state;
    static history h;
    int k = 0;
    open_scene(&h, "block-stops", 0.25);
    collect(&h, 1.0);
    next(&h, &k, PERP_EVENT_SLIP_TO_STICK, 2.0 / (0.3 * G));
    shot_close(&h.s);
    open_scene(&h, "ball-rolls",
               0.25);  // 3 m/s, mu as in the scene: rolls with 5/7 of it
    collect(&h, perp_scene_until(h.s.scene));
    k = 0;
    next(&h, &k, PERP_EVENT_SLIP_TO_STICK, 0.4368719965050241);
    shot_close(&h.s);
    open_scene(&h, "rod-falls", 0.1);
    collect(&h, 0.6);
    k = 0;
    const perp_event *e = next(&h, &k, PERP_EVENT_IMPACT, 0.14278431229270805);
    near("impulse of the foot", e->impulse, 0.5973552016854667, 1e-9);
    next(&h, &k, PERP_EVENT_SLIP_TO_STICK, 0.18920478480811995);
    next(&h, &k, PERP_EVENT_STICK_TO_SLIP, 0.21478567624900047);
    e = next(&h, &k, PERP_EVENT_IMPACT, 0.3754674376083106);
    near("impulse of the head", e->impulse, 1.703043860645327, 1e-9);
    next(&h, &k, PERP_EVENT_SLIP_TO_STICK, 0.42615333627393703);
    in_order(&h);
    shot_close(&h.s);
}

// Turns and comes to rest in a joint with dry friction of 1 N m; times by an
// integration of its own.
static void dry_joint(void **state)
{
    (void)state;
    static const char text[] =
        "{\"bodies\": [{\"name\": \"rod\", \"position\": [0.5, 0], \"mass\": 1, "
        "\"inertia\": 0.08333333333333333}], \"joints\": [{\"kind\": "
        "\"revolute\", \"b\": \"rod\", "
        "\"anchor_b\": [-0.5, 0], \"friction\": 1}]}";
    static history h;
    open_text(&h, text, 0.01);  // a step begins shortly before a turn
    collect(&h, 2.0);
    near("angle after two turns", shot_value(&h.s, "rod", 'a'), -1.1052804231341873, 1e-8);
    collect(&h, 3.0);
    near("angle at rest", shot_value(&h.s, "rod", 'a'), -1.7099759062389008, 1e-8);
    int k = 0;
    next(&h, &k, PERP_EVENT_SLIP_TO_STICK, 2.633495944697629);
    shot_close(&h.s);
}

// A motor of 6 N m lifts a rod with 4.905 N m cos(theta) until it turns with 3 rad/s, and keeps that.
static void weak_motor(void **state)
{
    (void)state;
    static const char text[] =
        "{\"bodies\": [{\"name\": \"rod\", \"position\": [0.5, 0], \"mass\": 1, "
        "\"inertia\": 0.08333333333333333}], \"joints\": [{\"kind\": \"revolute\", \"b\": \"rod\", "
        "\"anchor_b\": [-0.5, 0], \"rate\": 3, \"rate_effort\": 6}]}";
    static history h;
    open_text(&h, text, 0.01);
    collect(&h, 1.0);
    int k = 0;
    next(&h, &k, PERP_EVENT_EFFORT_WITHIN, 0.6979788585299538);
    near("angle", shot_value(&h.s, "rod", 'a'),
         0.8801649345777999 + 3.0 * (1.0 - 0.6979788585299538), 1e-9);
    shot_close(&h.s);
}

// A smooth ladder slides down a smooth wall and leaves it when sin(theta) = 2/3
// sin(theta_0).
static void ladder_leaves_the_wall(void **state)
{
    (void)state;
    static const char text[] =
        "{\"listed_only\": true, \"shapes\": [{\"name\": \"floor\", \"kind\": "
        "\"halfplane\"}, "
        "{\"name\": \"wall\", \"kind\": \"halfplane\", \"angle\": \"-90 deg\"}], "
        "\"bodies\": [{\"name\": \"ladder\", \"position\": [0.18117887723833681, "
        "0.46601954298361314], \"angle\": -1.2, \"mass\": 1, \"inertia\": "
        "0.08333333333333333, "
        "\"shapes\": [{\"name\": \"head\", \"kind\": \"point\", \"position\": "
        "[-0.5, 0]}, "
        "{\"name\": \"foot\", \"kind\": \"point\", \"position\": [0.5, 0]}]}], "
        "\"contacts\": [{\"a\": \"floor\", \"b\": \"ladder.foot\", \"mu\": 0}, "
        "{\"a\": \"wall\", \"b\": \"ladder.head\", \"mu\": 0}]}";
    static history h;
    int k = 0;
    open_text(&h, text, 0.1);
    collect(&h, 0.407707335855738);
    near("angle", shot_value(&h.s, "ladder", 'a'), -0.6704764784266558, 1e-9);
    near("rate", shot_value(&h.s, "ladder", 'o'), 3.023789581524894, 1e-9);
    collect(&h, 0.5);
    next(&h, &k, PERP_EVENT_SEPARATION, 0.407707335855738);
    shot_close(&h.s);
}

static void painleve(void **state)
{
    (void)state;
    static history h;
    int k = 0;
    open_scene(&h, "painleve-rod", 0.01);
    collect(&h, 0.02);
    const perp_event *e = next(&h, &k, PERP_EVENT_PAINLEVE, 0.0);
    near("normal impulse", e->impulse, 0.3, 1e-9);
    near("friction impulse", e->pf_W.x, 0.4, 1e-9);
    shot_close(&h.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bouncing_ball),
        cmocka_unit_test(limits),
        cmocka_unit_test(slip_ends),
        cmocka_unit_test(dry_joint),
        cmocka_unit_test(weak_motor),
        cmocka_unit_test(painleve),
        cmocka_unit_test(ladder_leaves_the_wall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
