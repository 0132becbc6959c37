# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""What the binding costs: CPU time of steps called from Python against the same steps in C."""
import time
import unittest

from support import main, perp, scene

STEPS = 2000


def least(run, times=7):
    """Least CPU time of several runs [s]: the others were disturbed."""
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best


class Cost(unittest.TestCase):
    def test_cost_of_a_call(self):
        """One call of step costs less than 1 us beyond the step itself; a rollout less than 2 % of steps of 10 us."""
        model = scene("box-slides")
        sim, pool = perp.Sim(model), perp.Pool(model, threads=1)

        def calls():
            sim.reset()
            for _ in range(STEPS):
                sim.step()

        def block():
            sim.reset()
            sim.step(STEPS)

        calls(), block(), pool.rollout(steps=STEPS, every=STEPS)
        in_c = least(lambda: pool.rollout(steps=STEPS, every=STEPS)) / STEPS
        in_block = least(block) / STEPS
        in_calls = least(calls) / STEPS
        print(f"a step in C {1e6 * in_c:.2f} us; in sim.step(n) {1e9 * (in_block - in_c):+.0f} ns, "
              f"in calls of sim.step() {1e9 * (in_calls - in_c):+.0f} ns")
        self.assertLess(in_calls - in_c, 1e-6)
        self.assertLess(in_block - in_c, 0.5e-6)

    def test_views(self):
        """Looking at the state costs a few microseconds, whatever the size of the scene."""
        sim = perp.Sim(scene("quadruped-stands"))
        sim.step()
        cost = least(lambda: [sim.q for _ in range(1000)]) / 1000
        print(f"sim.q {1e6 * cost:.2f} us")
        self.assertLess(cost, 20e-6)


if __name__ == "__main__":
    main()
