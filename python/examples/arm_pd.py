# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""An arm of two links under PD control with gravity compensation reaches a posture.

The law is evaluated in Python once a step; the model is built in Python."""
import numpy as np
import perp

model = perp.Model("arm", step=0.001)
length, mass = 0.5, 1.0
for k in (1, 2):
    link = model.add_body(f"link{k}", position=[(k - 0.5) * length, 0], mass=mass, inertia=mass * length**2 / 12)
    link.add_shape("capsule", length=length, radius=0.03, detect=False)
model.add_joint("revolute", "shoulder", b="link1", at=[0, 0])
model.add_joint("revolute", "elbow", a="link1", b="link2", at=[length, 0])
for joint in ("shoulder", "elbow"):
    model.add_actuator("motor", f"{joint} motor", joint=joint)

sim = perp.Sim(model, coordinates="joint")
goal = np.array([0.8, -1.1])
kp, kd = np.array([120.0, 60.0]), np.array([20.0, 8.0])
g = 9.81


def gravity(q):
    """Torques that hold the links against gravity."""
    a, b = q[0], q[0] + q[1]
    elbow = mass * g * 0.5 * length * np.cos(b)
    return np.array([mass * g * 0.5 * length * np.cos(a) + mass * g * length * np.cos(a) + elbow, elbow])


while sim.t < 2.0:
    q, v = sim.tree_q, sim.tree_v
    sim.u = kp * (goal - q) - kd * v + gravity(q)
    sim.step()
error = np.abs(goal - sim.tree_q).max()
print(f"posture {sim.tree_q.round(4)}, error {error:.1e} rad")
assert error < 1e-3 and sim.certificate.passed
