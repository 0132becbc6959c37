# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""The coefficient of friction from a recorded run: a box slides and stops.

The recording plays the experiment; its mu is not used. mu is found twice: from the deceleration, and by a fit of sims
to the recorded path, all candidates of an iteration as one batch of sims."""
import tempfile

import numpy as np
import perp


def sliding(mu):
    model = perp.Model("slide", step=0.002)
    model.add_shape("halfplane", "floor", mu=mu)
    box = model.add_body("box", position=[0, 0.1], velocity=[2.0, 0])
    box.add_shape("box", "body", size=[0.3, 0.2], density=10, mu=mu)
    return model


secret = 0.3713
with tempfile.TemporaryDirectory() as folder:
    sim = perp.Sim(sliding(secret))
    sim.step(300)
    run = sim.record(folder + "/run").read()

x, v = run.position[:, run.body("box"), 0], run.velocity[:, run.body("box"), 0]
moving = v > 0.1
slope = np.polyfit(run.t[moving], v[moving], 1)[0]
print(f"from the deceleration: mu = {-slope / 9.81:.4f}")


def misfit(mu):
    sim = perp.Sim(sliding(0.5))
    for shape in ("floor", "box.body"):
        sim.shape(shape).set_friction(mu)
    path = [0.0]
    for _ in range(len(x) - 1):
        sim.step()
        path.append(sim["box"].position[0])
    return np.abs(np.array(path) - x).sum()


low, high = 0.05, 1.0
golden = (np.sqrt(5) - 1) / 2
for _ in range(22):
    a, b = high - golden * (high - low), low + golden * (high - low)
    low, high = (low, b) if misfit(a) < misfit(b) else (a, high)
found = 0.5 * (low + high)
print(f"from the path:         mu = {found:.4f}")
assert abs(found - secret) < 1e-3 and abs(-slope / 9.81 - secret) < 1e-3
