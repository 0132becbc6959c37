# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Random-shooting MPC swings a cart-pole up and holds it there.

Every 40 ms, sequences of forces are drawn around the best one so far, all of them are rolled out from the present state
on all cores, and the first force of the best is applied."""
import numpy as np
import perp

model = perp.Model("cart-pole", step=0.02)
cart = model.add_body("cart", position=[0, 0], mass=1.0, inertia=0.1)
cart.add_shape("box", size=[0.4, 0.2], detect=False)
pole = model.add_body("pole", position=[0, -0.3], mass=0.2, inertia=0.2 * 0.6**2 / 12)
pole.add_shape("box", size=[0.04, 0.6], detect=False)
model.add_joint("prismatic", "rail", b=cart, at=[0, 0], axis=0.0, lower=-1.5, upper=1.5)
model.add_joint("revolute", "pivot", a=cart, b=pole, at=[0, 0], damping=0.002)
model.add_input("push", range=[-15, 15], unit="N")
model.add_actuator("motor", "motor", joint="rail", control="push")

HOLD, HORIZON, SAMPLES = 2, 20, 48
settings = dict(coordinates="joint", tree=True, step=0.02)
sim = perp.Sim(model, coordinates="joint")
pool = perp.Pool(model, **settings)
random = np.random.default_rng(3)
plan = np.zeros(HORIZON)


def cost(q, v):
    """(..., 2): position and rate of the rail, then of the pivot; the pole is upright at pi."""
    up = 1 + np.cos(q[..., 1])
    return (10 * up + 0.05 * v[..., 1] ** 2 * (up < 0.5) + 0.5 * q[..., 0] ** 2 + 0.02 * v[..., 0] ** 2).sum(axis=-1)


for turn in range(100):
    noise = random.normal(scale=8.0, size=(SAMPLES, HORIZON))
    noise[:, 1:] = 0.6 * noise[:, 1:] + 0.4 * noise[:, :-1]
    noise[0] = 0.0
    noise[1:SAMPLES // 4] *= 0.25
    plans = np.clip(plan + noise, -15, 15)
    result = pool.rollout(sim, plans[:, :, None], hold=HOLD, every=HOLD)
    best = plans[np.nanargmin(cost(result.q[:, 1:], result.v[:, 1:]))]
    sim.u["push"] = best[0]
    sim.step(HOLD)
    plan = np.append(best[1:], 0.0)
upright = abs(np.cos(sim.tree_q[1]) + 1)
print(f"t = {sim.t:.2f} s, cart at {sim.tree_q[0]:.2f} m, pole {np.degrees(np.arccos(-np.cos(sim.tree_q[1]))):.1f} degrees from upright")
assert upright < 0.05
