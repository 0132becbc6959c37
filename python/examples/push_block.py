# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""A pusher with two fingertips moves a block along an arc, without inertia (stepper quasistatic).

The block stays at both tips as long as the arc is wide: its centre then follows the path. Friction at the tips and under
the block is all there is: no model of pushing was made."""
import numpy as np
import perp

model = perp.Model("push", spatial=True, step=0.01, stepper="quasistatic")
model.add_shape("halfspace", "floor", mu=0.4)
block = model.add_body("block", position=[0, 0, 0.05])
block.add_shape("box", "sides", size=[0.2, 0.2, 0.1], density=500, mu=0.6)
pusher = model.add_body("pusher", position=[-0.15, 0, 0.05], drive={"x": -0.15, "y": 0, "z": 0.05})
for k in (-1, 1):
    pusher.add_shape("sphere", radius=0.02, position=[0.03, 0.06 * k, 0], mu=0.9)
model.exclude(pusher, "ground")

sim = perp.Sim(model, step=0.02, tolerance=1e-6, solver="ssn")
speed, radius = 0.1, 1.0
omega = speed / radius
place, certified = [], []
while sim.t < 4.0:
    # the centre of the block moves on the circle; the pusher turns with it
    at = sim["pusher"].position - [0, radius, 0]
    velocity = omega * np.array([-at[1], at[0], 0])
    sim["pusher"].move(velocity, [0, 0, omega])
    certified.append(sim.step())
    place.append(sim["block"].position)
place = np.array(place)
path = np.linalg.norm(place[:, :2] - [0, radius], axis=1)
print(f"pushed {np.linalg.norm(np.diff(place, axis=0), axis=1).sum():.3f} m along an arc of {radius} m, "
      f"{1000 * np.abs(path - path[0]).max():.2f} mm off it")
turned = 2 * np.arctan2(sim["block"].pose.quaternion[3], sim["block"].pose.quaternion[0])
print(f"{sum(certified)} of {len(certified)} steps certified")
print(f"block turned {turned:.3f} rad, pusher {omega * sim.t:.3f} rad")
# the contact law of the first step, in which friction builds up, holds to 2e-6 of its scale only
assert all(certified[1:]) and np.abs(path - path[0]).max() < 0.003 and abs(turned - omega * sim.t) < 0.02
