# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Rollouts: the same bits as sims one after another, on any number of threads, without memory taken by steps."""
import unittest

import numpy as np
from support import main, pendulum, perp, scene


def alone(model, state, inputs, steps, hold=1, **settings):
    """One rollout by a sim, step by step."""
    sim = perp.Sim(model, **settings)
    if isinstance(state, perp.State):
        sim.restore(state)
    elif state is not None:
        sim.set_state(state[:sim.nq], state[sim.nq:])
    q = [np.array(sim.q)]
    for k in range(steps):
        if inputs is not None and k % hold == 0:
            sim.u = inputs[k // hold]
        sim.step()
        q.append(np.array(sim.q))
    return np.array(q)


class Bits(unittest.TestCase):
    def test_same_as_one_after_another(self):
        model = pendulum()
        random = np.random.default_rng(1)
        inputs = random.normal(size=(9, 20, 1))
        sim = perp.Sim(model)
        angle = random.normal(size=9)
        states = np.array([[0.5 * np.sin(a), -0.5 * np.cos(a), a, 0, 0, 0] for a in angle])
        results = [perp.rollout(model, states, inputs, threads=n) for n in (1, 2, 3)]
        for result in results:
            self.assertTrue(np.array_equal(result.q, results[0].q))
            self.assertTrue(np.array_equal(result.v, results[0].v))
            self.assertTrue(result.passed.all())
            self.assertTrue((result.steps == 20).all())
        for k in range(9):
            self.assertTrue(np.array_equal(results[0].q[k], alone(model, states[k], inputs[k], 20)), k)
        self.assertEqual(results[0].q.shape, (9, 21, sim.nq))

    def test_contacts(self):
        """Warm starts of one rollout do not reach the next one of the same thread."""
        model = scene("box-tips")
        first = perp.Sim(model)
        states = np.array([np.concatenate([first.q, first.v]) for _ in range(6)])
        states[:, first.nq] += np.linspace(0, 1, 6)
        result = perp.rollout(model, states, steps=40, threads=2, every=10)
        for k in range(6):
            self.assertTrue(np.array_equal(result.q[k], alone(model, states[k], None, 40)[::10]), k)

    def test_continues_a_sim(self):
        model = scene("quadruped-stands")
        sim = perp.Sim(model)
        sim.step(30)
        inputs = np.linspace(0, 0.3, 4)[:, None, None] * np.ones((1, 6, 1))
        result = perp.rollout(model, sim, inputs, hold=2, threads=2)
        for k in range(4):
            self.assertTrue(np.array_equal(result.q[k], alone(model, sim.save(), inputs[k], 12, hold=2)), k)
        self.assertAlmostEqual(result.t[0, 0], sim.t)

    def test_tree_coordinates(self):
        model = pendulum()
        result = perp.rollout(model, np.array([[0.3, -1.0]]), steps=5, tree=True, coordinates="joint")
        sim = perp.Sim(model, coordinates="joint")
        sim.set_state([0.3], [-1.0], tree=True)
        sim.step(5)
        self.assertTrue(np.array_equal(result.q[0, -1], sim.tree_q))
        self.assertTrue(np.array_equal(result.v[0, -1], sim.tree_v))

    def test_one_state_many_inputs_and_back(self):
        model = pendulum()
        many = perp.rollout(model, inputs=np.ones((5, 3, 1)), threads=2)
        self.assertEqual(len(many.q), 5)
        self.assertEqual(len(np.unique(many.q[:, -1, 2])), 1)
        states = np.tile([0, -0.5, 0, 0, 0, 0.0], (4, 1))
        self.assertTrue(np.array_equal(perp.rollout(model, states, np.ones((3, 1))).q[2], many.q[0]))

    def test_failures_are_rows(self):
        """One rollout that cannot go on leaves the others alone."""
        model = perp.Model("jam")
        model.add_input("bad")
        model.add_body("a", mass=1, inertia=1)
        model.add_force("force", body="a", fx="1/(bad - 1)")
        inputs = np.zeros((3, 4, 1))
        inputs[1, 2] = 1.0
        result = perp.rollout(model, inputs=inputs, threads=2)
        self.assertEqual(result.steps.tolist(), [4, 2, 4])
        self.assertEqual((result.status < 0).tolist(), [False, True, False])
        self.assertTrue(np.isnan(result.q[1, 3:]).all())
        self.assertFalse(np.isnan(result.q[[0, 2]]).any())
        self.assertIn(1, result.errors)
        self.assertEqual(result.passed.tolist(), [True, False, True])


class Memory(unittest.TestCase):
    def test_preallocated(self):
        model = pendulum()
        out = np.zeros((4, 11, 3)), np.zeros((4, 11, 3))
        result = perp.rollout(model, inputs=np.ones((4, 10, 1)), out=out)
        self.assertIs(result.q, out[0])
        self.assertTrue(np.array_equal(out[0], perp.rollout(model, inputs=np.ones((4, 10, 1))).q))

    def test_steps_take_no_memory(self):
        for model in (pendulum(), scene("box-tips"), scene("quadruped-stands")):
            pool = perp.Pool(model, threads=1)
            pool.rollout(steps=60)
            taken = []
            for steps in (10, 60):
                before = pool.allocations
                pool.rollout(steps=steps)
                taken.append(pool.allocations - before)
            self.assertEqual(taken[0], taken[1], f"{model}: more steps take more memory")


class Batches(unittest.TestCase):
    def test_advance(self):
        model = pendulum()
        pool = perp.Pool(model, sims=3, threads=2)
        inputs = np.array([[1.0], [2.0], [3.0]])
        pool.set(1, [0.5, 0, np.pi / 2], np.zeros(3))
        for _ in range(4):
            result = pool.advance(inputs, 5)
        for k in range(3):
            sim = perp.Sim(model)
            if k == 1:
                sim.set_state([0.5, 0, np.pi / 2], np.zeros(3))
            sim.u = inputs[k]
            sim.step(20)
            self.assertTrue(np.array_equal(result.q[k, 0], sim.q), k)
            self.assertEqual(pool.state(k)[0], sim.t)


if __name__ == "__main__":
    main()
