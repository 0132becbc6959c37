# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Environments: the protocol of Gymnasium, the vector form against the single one, pictures; and the checker itself."""
import unittest

import numpy as np
from perp import gym
from support import main, pendulum, perp, scene


class Swing(gym.Task):
    """The rod is to stand upright."""

    def observe(self, t, q, v):
        return np.stack([np.cos(q[..., 0]), np.sin(q[..., 0]), v[..., 0]], axis=-1)

    def reward(self, t, q, v, u):
        return -np.cos(q[..., 0]) - 0.01 * u[..., 0] ** 2

    def terminated(self, t, q, v):
        return np.abs(v[..., 0]) > 30

    def start(self, random, q, v):
        return q + random.normal(size=q.shape), v


def limited():
    model = pendulum()
    model.add_input("other", range=[-1, 2])
    return model


class Protocol(unittest.TestCase):
    def test_checker_passes(self):
        gym.check_env(gym.Env(limited(), Swing(), frame_skip=5, max_steps=15, render_mode="rgb_array", width=40, height=30))
        gym.check_env(gym.Env(scene("quadruped-stands"), frame_skip=2, coordinates="joint"), steps=5)

    def test_gymnasium(self):
        try:
            from gymnasium.utils.env_checker import check_env
        except ImportError:
            self.skipTest("gymnasium is not installed")
        check_env(gym.Env(limited(), Swing(), render_mode="rgb_array"))

    def test_checker_sees_faults(self):
        faults = {
            "reward": lambda env: setattr(env.task, "reward", lambda *a: float("nan")),
            "seed": lambda env: setattr(env.task, "start", lambda r, q, v: (q + np.random.normal(size=q.shape), v)),
            "observation": lambda env: setattr(env.task, "observe", lambda *a: np.zeros(7)),
            "five values": lambda env: setattr(env, "step", lambda a: (1, 2)),
            "metadata": lambda env: setattr(env, "metadata", {}),
        }
        for name, spoil in faults.items():
            env = gym.Env(limited(), Swing())
            spoil(env)
            with self.assertRaises(AssertionError, msg=name):
                gym.check_env(env)

    def test_spaces(self):
        env = gym.Env(limited(), Swing(), limit=5)
        self.assertEqual(env.action_space.low.tolist(), [-1, -5])
        self.assertEqual(env.action_space.high.tolist(), [2, 5])
        self.assertEqual(env.observation_space.shape, (3,))
        self.assertFalse(env.action_space.contains(np.array([6.0, 0])))
        with self.assertRaises(RuntimeError):
            env.step([0, 0])
        env.reset(seed=1)
        with self.assertRaises(perp.ArgumentError):
            env.step([0])
        with self.assertRaises(perp.ArgumentError):
            env.step([np.nan, 0])
        with self.assertRaises(ValueError):
            gym.Env(limited(), render_mode="human")

    def test_truncated(self):
        env = gym.Env(limited(), Swing(), max_steps=3)
        env.reset(seed=1)
        ends = [env.step([0, 0])[3] for _ in range(3)]
        self.assertEqual(ends, [False, False, True])
        with self.assertRaises(RuntimeError):
            env.step([0, 0])


class Vectors(unittest.TestCase):
    def test_same_as_single(self):
        count, steps = 5, 12
        many = gym.VectorEnv(limited(), count, Swing(), threads=2, frame_skip=3)
        ones = [gym.Env(limited(), Swing(), frame_skip=3) for _ in range(count)]
        observation, _ = many.reset(seed=7)
        for k, env in enumerate(ones):
            self.assertTrue(np.array_equal(env.reset(seed=7 + k)[0], observation[k]))
        random = np.random.default_rng(2)
        for _ in range(steps):
            actions = random.normal(size=(count, 2))
            observation, reward, ended, truncated, _ = many.step(actions)
            for k, env in enumerate(ones):
                one = env.step(actions[k])
                self.assertTrue(np.array_equal(one[0], observation[k]))
                self.assertEqual((one[1], one[2], one[3]), (reward[k], ended[k], truncated[k]))

    def test_new_episodes(self):
        env = gym.VectorEnv(limited(), 3, Swing(), max_steps=4)
        env.reset(seed=1)
        ends = []
        for _ in range(10):
            observation, reward, ended, truncated, _ = env.step(np.zeros((3, 2)))
            self.assertTrue(env.observation_space.contains(observation))
            ends.append(bool(truncated.any()))
            if len(ends) == 5:
                self.assertTrue((reward == 0).all())
        self.assertEqual([k for k, end in enumerate(ends) if end], [3, 8])


class Pictures(unittest.TestCase):
    def test_shows_the_scene(self):
        """A red ball covers the pixels where it is, and they follow it; its shadow is on the floor."""
        model = perp.Model("ball", spatial=True)
        model.add_shape("halfspace", "floor")
        model.add_body("ball", position=[0, 0, 1], mass=1, inertia=[1, 1, 1], colour="#ff0000").add_shape("sphere", radius=0.3)
        sim = perp.Sim(model)

        def red(image):
            pixels = image.astype(int)
            return (pixels[..., 0] > 90) & (pixels[..., 1] < 40) & (pixels[..., 2] < 40)

        view = dict(eye=[0, -6, 1], target=[0, 0, 1], angle=0.6)
        image = sim.render(120, 90, **view)
        self.assertEqual((image.shape, image.dtype), ((90, 120, 3), np.uint8))
        # a sphere of radius 0.3 at distance 6, seen 2 * 6 tan(0.3) = 3.71 m high
        radius = 0.3 / (6 * np.tan(0.3)) * 45
        self.assertAlmostEqual(red(image).sum() / (np.pi * radius ** 2), 1.0, delta=0.1)
        rows, columns = np.nonzero(red(image))
        self.assertAlmostEqual(rows.mean(), 44.5, delta=1)
        self.assertAlmostEqual(columns.mean(), 59.5, delta=1)
        sim.set_state([0.5, 0, 1.5, 1, 0, 0, 0], np.zeros(6))
        moved = sim.render(120, 90, **view)
        scale = 45 / (6 * np.tan(0.3))
        rows, columns = np.nonzero(red(moved))
        self.assertAlmostEqual(columns.mean() - 59.5, 0.5 * scale, delta=1)
        self.assertAlmostEqual(44.5 - rows.mean(), 0.5 * scale, delta=1)
        above = sim.render(60, 60, eye=[0, 0, 9], target=[0, 0, 0], angle=0.8)
        grey = above[..., 0].astype(int)
        self.assertTrue(((grey > 60) & (grey < 140) & ~red(above)).sum() > 20, "no shadow")

    def test_plane(self):
        model = perp.Model("plane")
        model.add_shape("halfplane", "floor")
        model.add_body("box", position=[0, 1], mass=1, inertia=1, colour="#00ff00").add_shape("box", size=[1, 0.5])
        image = perp.Sim(model).render(100, 100, target=[0, 1], extent=2.0).astype(int)
        green = (image[..., 1] > 100) & (image[..., 0] < 60)
        self.assertAlmostEqual(green.sum(), 50 * 25, delta=120)
        self.assertTrue((image[-1] != image[0]).any())

    def test_every_scene_can_be_drawn(self):
        for name in ("mesh-ramp", "v-twin", "berard-4.6", "bricard", "pusher", "quadruped-stands", "screw", "andrews-squeezer", "dzhanibekov"):
            image = perp.Sim(scene(name)).render(80, 60)
            self.assertGreater(len(np.unique(image.reshape(-1, 3), axis=0)), 1, name)


if __name__ == "__main__":
    main()
