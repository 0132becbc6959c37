# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""A quadruped stands on its servos, crouches by an input, and stands up again."""
import numpy as np
import perp

model = perp.load("scenes/quadruped-stands.json")
sim = perp.Sim(model, step=0.004)
heights = []
for start, end in ((0.0, 0.0), (0.0, 0.25), (0.25, 0.0)):
    for crouch in np.linspace(start, end, 250):  # one second
        sim.u["crouch"] = crouch
        sim.step()
    sim.step(100)
    heights.append(sim["trunk"].position[2])
carried = np.mean([(sim.step(), sim.contacts["pn"].sum() / sim.h)[1] for _ in range(50)])
weight = 9.81 * sum(model.mass(body) for body in model.bodies)
print("heights [m]:", " ".join(f"{h:.3f}" for h in heights))
print(f"{len(sim.contacts)} contacts carry {carried:.1f} N, its weight is {weight:.1f} N")
assert heights[1] < heights[0] - 0.02 and abs(heights[2] - heights[0]) < 0.005 and abs(carried / weight - 1) < 0.01
assert sim.certificate.passed
