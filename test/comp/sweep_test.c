// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Sweeps over contacts of bodies: their order is a colouring, and what they end at obeys the laws.
#include "comp/sweeping/sweep.h"

#include "comp/friction/cone.h"
#include "support/cmocka.h"
#include "support/random.h"

#include <string.h>

enum { BODIES = 40, CONTACTS = 200 };

// Contacts between random bodies, some with the ground, up to four between the same two.
static int random_pairs(rng *r, int hub, int *body)
{
    int count = 0;
    while (count < CONTACTS - 4) {
        int a = hub && rng_below(r, 2) ? 0 : rng_below(r, BODIES), b = rng_below(r, BODIES + 4);
        b = b >= BODIES || b == a ? -1 : b;
        for (int k = rng_below(r, 4); k >= 0; k--) {
            body[2 * count] = a;
            body[2 * count++ + 1] = b;
        }
    }
    return count;
}

// No two units of colour k share a body.
static bool apart(const pp_sweep *s, const int *body, const int *order, int k)
{
    int last[BODIES];
    memset(last, 0xff, sizeof last);
    for (int u = s->colour[k]; u < s->colour[k + 1]; u++) {
        for (int c = s->unit[u]; c < s->unit[u + 1]; c++) {
            for (int e = 0; e < 2; e++) {
                int b = body[2 * order[c] + e];
                if (b >= 0 && last[b] >= 0 && last[b] != u) {
                    return false;
                }
                if (b >= 0) {
                    last[b] = u;
                }
            }
        }
    }
    return true;
}

static void colours_are_apart(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 60)
    {
        rng r = rng_seed(seed);
        int body[2 * CONTACTS], order[CONTACTS];
        bool seen[CONTACTS] = {false};
        pp_arena *arena = pp_arena_create(NULL);
        pp_sweep s = {.bodies = BODIES, .count = random_pairs(&r, seed % 3 == 0, body)};
        CHECK(pp_sweep_colour(&s, body, arena, order) >= 0, seed);
        for (int k = 0; k < s.colours - s.serial; k++) {
            CHECK(apart(&s, body, order, k), seed);
        }
        for (int c = 0; c < s.count; c++) {
            CHECK(order[c] >= 0 && order[c] < s.count && !seen[order[c]], seed);
            seen[order[c]] = true;
        }
        CHECK(s.colour[0] == 0 && s.colour[s.colours] == s.units, seed);
        CHECK(s.unit[0] == 0 && s.unit[s.units] == s.count, seed);
        pp_arena_destroy(arena);
    }
}

// A plate under more bodies than there are colours: the rest is for one thread.
static void plates_have_a_rest(void **state)
{
    (void)state;
    enum { ON_IT = PP_SWEEP_COLOURS + 20 };
    int body[2 * ON_IT], order[ON_IT];
    pp_arena *arena = pp_arena_create(NULL);
    for (int c = 0; c < ON_IT; c++) {
        body[2 * c] = 0;
        body[2 * c + 1] = c + 1;
    }
    pp_sweep s = {.bodies = ON_IT + 1, .count = ON_IT};
    assert_true(pp_sweep_colour(&s, body, arena, order) >= 0);
    assert_true(s.serial);
    assert_int_equal(s.colours, PP_SWEEP_COLOURS + 1);
    assert_int_equal(s.colour[s.colours] - s.colour[s.colours - 1], 20);
    pp_arena_destroy(arena);
}

// A contact of a unit mass that turns easily, with the ground or another.
static void fill(rng *r, pp_sweep_contact *c, int a, int b)
{
    *c = (pp_sweep_contact){.body = {a, b}, .mu = rng_uniform(r, 0.0, 1.0)};
    c->mu = rng_below(r, 5) ? c->mu : 0.0;
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 3; i++) {
            double *J = c->J[k] + 6 * i;
            J[i] = k ? -1.0 : 1.0;
            for (int j = 3; j < 6; j++) {
                J[j] = rng_uniform(r, -1.0, 1.0);
            }
        }
    }
    for (int i = 0; i < 3; i++) {
        c->w[i] = rng_uniform(r, -0.05, 0.05);
    }
}

// Bodies that fall on the ground and on each other.
static void make(rng *r, pp_sweep *s, pp_arena *arena)
{
    int body[2 * CONTACTS], order[CONTACTS];
    s->bodies = BODIES;
    s->count = 0;
    for (int b = 0; b < BODIES; b++) {
        for (int k = 0; k < 2; k++) {
            body[2 * s->count] = b;
            body[2 * s->count++ + 1] = k == 0 || b == 0 ? -1 : rng_below(r, b);
        }
    }
    s->contact = PP_ARRAY(arena, pp_sweep_contact, s->count);
    s->r = PP_ZEROS(arena, double, 3 * s->count);
    s->v = PP_ZEROS(arena, double, PP_SWEEP_V * s->bodies);
    assert_true(s->contact && s->r && s->v && pp_sweep_colour(s, body, arena, order) >= 0);
    for (int c = 0; c < s->count; c++) {
        fill(r, &s->contact[c], body[2 * order[c]], body[2 * order[c] + 1]);
        assert_true(pp_sweep_prepare(&s->contact[c]));
    }
    for (int b = 0; b < BODIES; b++) {
        s->v[PP_SWEEP_V * b] = -0.1;
    }
}

static void sweeps_end_at_the_laws(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 20)
    {
        rng r = rng_seed(seed);
        pp_arena *arena = pp_arena_create(NULL);
        pp_sweep s = {0};
        make(&r, &s, arena);
        pp_sweep_change fall = pp_sweep_residual(&s);
        double first = fall.worst;
        for (int k = 0; k < 400; k++) {
            pp_sweep_once(&s);
        }
        pp_sweep_change left = pp_sweep_residual(&s);
        CHECK(first > 1e-2 && left.worst < 1e-6 * first, seed);
        CHECK(fall.sinks > 0.02 && left.sinks < 1e-6 * first, seed);
        CHECK(left.active > 0 && left.squares <= left.active * left.worst * left.worst, seed);
        pp_arena_destroy(arena);
    }
}

// One contact by itself: sweeps end where the exact solver does. One that opens or sticks takes one sweep; one that slips
// turns its direction in each.
static void one_contact_ends_at_its_law(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 300)
    {
        rng r = rng_seed(seed);
        int unit[2] = {0, 1}, colour[2] = {0, 1};
        pp_sweep_contact c;
        double v[2 * PP_SWEEP_V] = {0}, q[3], x[3] = {0.0, 0.0, 0.0}, p[3] = {0.0, 0.0, 0.0};
        fill(&r, &c, 0, rng_below(&r, 2) ? 1 : -1);
        CHECK(pp_sweep_prepare(&c), seed);
        for (int i = 0; i < 2 * PP_SWEEP_V; i++) {
            v[i] = rng_uniform(&r, -1.0, 1.0);
        }
        for (int i = 0; i < 3; i++) {
            q[i] = c.w[i];
            for (int k = 0; k < 2; k++) {
                for (int j = 0; j < PP_SWEEP_V && c.body[k] >= 0; j++) {
                    q[i] += c.J[k][6 * i + j] * v[PP_SWEEP_V * c.body[k] + j];
                }
            }
        }
        pp_sweep s = {
            .count = 1, .bodies = 2, .contact = &c, .r = p, .v = v, .units = 1, .colours = 1};
        pp_sweep_change part;
        s.part = &part;
        s.unit = unit;
        s.colour = colour;
        pp_cone_law law = {.dim = 3, .groups = 1, .disc = {{.first = 1, .size = 2, .mu = c.mu}}};
        const double *S = c.W, W[9] = {S[0], S[1], S[2], S[1], S[3], S[4], S[2], S[4], S[5]};
        pp_one_contact(&law, W, q, x, NULL);
        bool slips = x[0] > 0.0 && hypot(x[1], x[2]) > (1.0 - 1e-9) * c.mu * x[0];
        for (int k = 0; k < (slips ? 60 : 1); k++) {
            pp_sweep_once(&s);
        }
        double size = 1e-9 * (1.0 + x[0]);
        CHECK(fabs(p[0] - x[0]) < size && fabs(p[1] - x[1]) < size, seed);
        CHECK(fabs(p[2] - x[2]) < size && pp_sweep_residual(&s).worst < 1e-9, seed);
    }
}

static void run_backwards(void *user, int count, void (*task)(void *arg, int i), void *arg)
{
    (*(int *)user)++;
    for (int i = count - 1; i >= 0; i--) {
        task(arg, i);
    }
}

// A long row of bodies on the ground: the same bits however many take pieces of a colour.
static void lanes_change_no_bit(void **state)
{
    (void)state;
    enum { ROW = 900, COUNT = 2 * ROW, NV = PP_SWEEP_V * ROW };
    static double v[2][NV];
    static int body[2 * COUNT], order[COUNT];
    double told[2] = {0.0, 0.0};
    int calls = 0;
    for (int lanes = 1; lanes <= 4; lanes += 3) {
        int which = lanes > 1;
        rng r = rng_seed(5);
        pp_arena *arena = pp_arena_create(NULL);
        pp_team team = {{.parallel_for = run_backwards, .user = &calls}, lanes};
        pp_sweep s = {.bodies = ROW, .count = COUNT, .v = v[which], .team = &team};
        for (int c = 0; c < COUNT; c++) {
            body[2 * c] = c / 2;
            body[2 * c + 1] = c % 2 && c > 1 ? c / 2 - 1 : -1;
        }
        s.contact = PP_ARRAY(arena, pp_sweep_contact, COUNT);
        s.r = PP_ZEROS(arena, double, 3 * COUNT);
        assert_true(s.contact && s.r && pp_sweep_colour(&s, body, arena, order) >= 0);
        for (int c = 0; c < COUNT; c++) {
            fill(&r, &s.contact[c], body[2 * order[c]], body[2 * order[c] + 1]);
            assert_true(pp_sweep_prepare(&s.contact[c]));
        }
        for (int k = 0; k < 10; k++) {
            pp_sweep_change change = pp_sweep_once(&s);
            told[which] += change.squares + change.active + change.worst;
        }
        pp_arena_destroy(arena);
    }
    assert_true(calls > 0 && told[0] == told[1]);
    assert_memory_equal(v[0], v[1], sizeof v[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colours_are_apart),      cmocka_unit_test(plates_have_a_rest),
        cmocka_unit_test(sweeps_end_at_the_laws), cmocka_unit_test(one_contact_ends_at_its_law),
        cmocka_unit_test(lanes_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
