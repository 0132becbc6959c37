# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
# A ball falls 1 m and bounces with restitution 0.5: six lines.
import perp
model = perp.load("scenes/bouncing-ball.json")
sim = perp.Sim(model)
while sim.t < 2:
    sim.step()
print(f"height {sim['ball'].position[1]:.6f} m at t = {sim.t:.3f} s, certificate passed: {sim.certificate.passed}")
