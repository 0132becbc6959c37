// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// State in and out: save and restore bit for bit, hashes, steps as transactions.
#include "support/arch.h"
#include "support/berard.h"
#include "support/cmocka.h"
#include "support/fault.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *save(const perp_sim *sim, size_t *size)
{
    *size = perp_sim_state_save_size(sim);
    void *block = malloc(*size);
    assert_non_null(block);
    assert_int_equal(perp_sim_state_save(sim, block, *size), PERP_OK);
    return block;
}

// Hash of the state after each of 40 steps.
static void hashes(perp_sim *sim, double h, uint64_t out[40])
{
    for (int i = 0; i < 40; i++) {
        assert_true(perp_sim_step(sim, h) >= 0);
        out[i] = perp_sim_state_hash(sim);
    }
}

static void continues_bit_for_bit(perp_sim *sim, const perp_sim_def *def, double h)
{
    uint64_t first[40], second[40], third[40];
    size_t size;
    for (int i = 0; i < 25; i++) {
        assert_true(perp_sim_step(sim, h) >= 0);
    }
    void *block = save(sim, &size);
    hashes(sim, h, first);
    assert_int_equal(perp_sim_state_restore(sim, block, size), PERP_OK);  // back in the same sim
    hashes(sim, h, second);
    perp_sim *other;
    assert_int_equal(perp_sim_create(perp_sim_model(sim), def, NULL, &other, NULL), PERP_OK);
    assert_int_equal(perp_sim_state_restore(other, block, size), PERP_OK);  // and in a new one
    hashes(other, h, third);
    assert_memory_equal(first, second, sizeof first);
    assert_memory_equal(first, third, sizeof first);
    perp_sim_destroy(other);
    free(block);
}

// A falling arch: cone form, Newton, warm starts.
static void restore_arch(void **state)
{
    (void)state;
    arch a;
    arch_open(&a, 20, 0.104, 0.8, false);
    arch_start(&a);
    continues_bit_for_bit(a.p.sim, &a.p.def, 0.01);
    arch_close(&a);
}

// Berard 4.5 through its impact, in each form.
static void restore_berard(void **state)
{
    (void)state;
    for (int form = PERP_FORM_AUTO; form <= PERP_FORM_CONE; form++) {
        berard b;
        berard_open(&b, 5);
        b.p.def.form = (perp_form)form;
        berard_start(&b);
        plane_run(&b.p, b.h, 60);
        continues_bit_for_bit(b.p.sim, &b.p.def, b.h);
        berard_close(&b);
    }
}

static void refuses_other_states(void **state)
{
    (void)state;
    berard b, c;
    size_t size;
    berard_open(&b, 3);
    berard_start(&b);
    berard_open(&c, 1);
    berard_start(&c);
    plane_run(&b.p, b.h, 3);
    char *block = save(b.p.sim, &size);
    uint64_t hash = perp_sim_state_hash(c.p.sim), own = perp_sim_state_hash(b.p.sim);
    assert_int_equal(perp_sim_state_restore(c.p.sim, block, size), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_state_restore(b.p.sim, block, size - 1), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_state_restore(b.p.sim, block, 3), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_state_restore(b.p.sim, NULL, size), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_state_save(b.p.sim, block, size - 1), PERP_ERR_ARGUMENT);
    block[0] ^= 1;
    assert_int_equal(perp_sim_state_restore(b.p.sim, block, size), PERP_ERR_ARGUMENT);
    assert_true(perp_sim_state_hash(c.p.sim) == hash && perp_sim_state_hash(b.p.sim) == own);
    free(block);
    berard_close(&b);
    berard_close(&c);
}

static void set_and_get(void **state)
{
    (void)state;
    berard b;
    int nq, nv;
    double t, q[9], v[9], q2[9], v2[9];
    berard_open(&b, 3);
    berard_start(&b);
    perp_sim_state_size(b.p.sim, &nq, &nv);
    assert_true(nq == 9 && nv == 9);
    plane_run(&b.p, b.h, 10);
    assert_int_equal(perp_sim_state_get(b.p.sim, &t, q, v), PERP_OK);
    uint64_t hash = perp_sim_state_hash(b.p.sim);
    plane_run(&b.p, b.h, 10);
    assert_true(perp_sim_state_hash(b.p.sim) != hash);
    assert_int_equal(perp_sim_state_set(b.p.sim, t, q, v), PERP_OK);
    assert_true(perp_sim_state_hash(b.p.sim) == hash);
    assert_int_equal(perp_sim_state_get(b.p.sim, NULL, q2, v2), PERP_OK);
    assert_memory_equal(q, q2, sizeof q);
    assert_memory_equal(v, v2, sizeof v);
    q[4] = (double)NAN;
    assert_int_equal(perp_sim_state_set(b.p.sim, t, q, v), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_state_set(b.p.sim, HUGE_VAL, q2, v2), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_state_set(b.p.sim, t, NULL, v2), PERP_ERR_ARGUMENT);
    assert_true(perp_sim_state_hash(b.p.sim) == hash);
    berard_close(&b);
}

static void refuses_bad_steps(void **state)
{
    (void)state;
    static const double bad[] = {0.0, -0.01, (double)NAN, HUGE_VAL};
    berard b;
    berard_open(&b, 2);
    berard_start(&b);
    uint64_t hash = perp_sim_state_hash(b.p.sim);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(perp_sim_step(b.p.sim, bad[i]), PERP_ERR_ARGUMENT);
        assert_true(perp_sim_state_hash(b.p.sim) == hash);
    }
    berard_close(&b);
}

// Each allocation of a step fails in turn: the state stays, and the step succeeds when tried again.
static void failed_steps_change_nothing(void **state)
{
    (void)state;
    for (int k = 1; k < 1000; k++) {
        fault f = {0};
        perp_env env = fault_env(&f);
        arch a;
        arch_open(&a, 12, 0.2, 0.8, false);
        perp_error error;
        assert_int_equal(perp_model_create(a.p.builder, &a.p.model, &error), PERP_OK);
        assert_int_equal(perp_sim_create(a.p.model, &a.p.def, &env, &a.p.sim, &error), PERP_OK);
        uint64_t hash = perp_sim_state_hash(a.p.sim);
        f.fail_at = f.calls + k;
        fault_hook(&f);
        perp_status status = perp_sim_step(a.p.sim, 0.01);
        if (status < 0) {
            assert_int_equal(status, PERP_ERR_MEMORY);
            assert_true(perp_sim_state_hash(a.p.sim) == hash);
            assert_true(perp_sim_step(a.p.sim, 0.01) >= 0);
        }
        bool done = !f.happened;
        arch_close(&a);
        fault_hook(NULL);
        assert_int_equal(f.live, 0);
        assert_int_equal(f.confused, 0);
        if (done) {
            assert_true(k > 5);
            return;
        }
    }
    fail_msg("the walk over allocations does not end");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restore_arch),         cmocka_unit_test(restore_berard),
        cmocka_unit_test(refuses_other_states), cmocka_unit_test(set_and_get),
        cmocka_unit_test(refuses_bad_steps),    cmocka_unit_test(failed_steps_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
