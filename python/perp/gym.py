# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Environments for reinforcement learning, with the protocol of Gymnasium: reset, step, spaces, seeds, render.

Where gymnasium is installed, the classes derive from its own and use its spaces; elsewhere they have the same methods,
and `check_env` tests them."""
from __future__ import annotations

from typing import Any

import numpy as np

from .model import Model
from .rollout import Pool
from .sim import Sim

try:
    import gymnasium as _gymnasium
except ImportError:
    _gymnasium = None


class Box:
    """A box of numbers: the part of gymnasium.spaces.Box that environments need, where gymnasium is not installed."""

    def __init__(self, low: Any, high: Any, shape: tuple[int, ...] | None = None, dtype: Any = np.float64,
                 seed: int | None = None):
        shape = np.broadcast_shapes(np.shape(low), np.shape(high)) if shape is None else tuple(shape)
        self.shape, self.dtype = shape, np.dtype(dtype)
        self.low = np.broadcast_to(np.asarray(low, self.dtype), shape).copy()
        self.high = np.broadcast_to(np.asarray(high, self.dtype), shape).copy()
        if (self.low > self.high).any():
            raise ValueError("Box: low is above high")
        self.np_random = np.random.default_rng(seed)

    def seed(self, seed: int | None = None) -> None:
        self.np_random = np.random.default_rng(seed)

    def sample(self) -> np.ndarray:
        """Uniform where both bounds are finite; otherwise normal, or exponential from the one bound."""
        low, high = np.isfinite(self.low), np.isfinite(self.high)
        normal = self.np_random.normal(size=self.shape)
        tail = self.np_random.exponential(size=self.shape)
        uniform = self.np_random.random(self.shape)
        with np.errstate(invalid="ignore"):
            value = np.where(low & high, self.low + uniform * (self.high - self.low),
                             np.where(low, self.low + tail, np.where(high, self.high - tail, normal)))
        return value.astype(self.dtype)

    def contains(self, value: Any) -> bool:
        value = np.asarray(value)
        return (value.shape == self.shape and value.dtype.kind in "fiub"
                and bool(((value >= self.low) & (value <= self.high)).all()))

    def __contains__(self, value: Any) -> bool:
        return self.contains(value)

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Box) and self.shape == other.shape and self.dtype == other.dtype
                and np.array_equal(self.low, other.low) and np.array_equal(self.high, other.high))

    def __repr__(self) -> str:
        return f"Box({self.low.min(initial=np.inf)}, {self.high.max(initial=-np.inf)}, {self.shape}, {self.dtype})"


def _box(low: Any, high: Any) -> Any:
    if _gymnasium:
        return _gymnasium.spaces.Box(np.asarray(low), np.asarray(high), dtype=np.float64)
    return Box(low, high)


_Env: Any = _gymnasium.Env if _gymnasium else object
_VectorEnv: Any = _gymnasium.vector.VectorEnv if _gymnasium else object


class Task:
    """What both kinds of environment ask. Derive from it and replace what is needed; q and v have the shape (..., nq) and
    (..., nv) of one or many sims, so that the last axis is to be indexed: q[..., 0].

    tree: q and v are those of the tree of joints (Sim.tree_q)."""

    tree = True

    def observe(self, t: Any, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(..., n): default q and v."""
        return np.concatenate([q, v], axis=-1)

    def reward(self, t: Any, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Any:
        """(...): after a step with the inputs u."""
        return np.zeros(np.shape(q)[:-1])

    def terminated(self, t: Any, q: np.ndarray, v: np.ndarray) -> Any:
        """(...): the task has ended."""
        return np.zeros(np.shape(q)[:-1], bool)

    def start(self, random: np.random.Generator, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The state at the start of an episode, from that of the model."""
        return q, v


def _action_space(model: Model, limit: float) -> Any:
    ranges = [model.input_range(i) for i in range(len(model.inputs))]
    low = np.array([max(r[0], -limit) for r in ranges], np.float64)
    high = np.array([min(r[1], limit) for r in ranges], np.float64)
    return _box(low, high)


def _sizes(sim: Sim, tree: bool) -> tuple[np.ndarray, np.ndarray]:
    return (np.array(sim.tree_q), np.array(sim.tree_v)) if tree else (np.array(sim.q), np.array(sim.v))


class Env(_Env):
    """One sim as an environment. Actions are the inputs of the model, clipped to their ranges (`limit` where they have
    none) and held for `frame_skip` steps. An episode is truncated after max_steps actions. A step that perp cannot solve
    ends the episode: terminated, with info["error"]."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}

    def __init__(self, model: Model, task: Task | None = None, *, frame_skip: int = 1, max_steps: int = 1000,
                 limit: float = 1e3, render_mode: str | None = None, width: int = 320, height: int = 240,
                 camera: dict | None = None, **settings: Any):
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode: needs 'rgb_array' or None, not {render_mode!r}")
        if frame_skip < 1 or max_steps < 1:
            raise ValueError("frame_skip, max_steps: need numbers from 1")
        self.sim = Sim(model, **settings)
        self.task = task or Task()
        self.frame_skip, self.max_steps, self.render_mode = int(frame_skip), int(max_steps), render_mode
        self.width, self.height, self._camera = width, height, camera or {}
        self.metadata = {**self.metadata, "render_fps": max(1, round(1.0 / (self.sim.h * frame_skip)))}
        self.action_space = _action_space(self.sim.model, limit)
        observation = self.task.observe(self.sim.t, *_sizes(self.sim, self.task.tree))
        self.observation_space = _box(np.full(observation.shape, -np.inf), np.full(observation.shape, np.inf))
        self._random: np.random.Generator | None = None
        self._ready, self._count = False, 0

    @property
    def unwrapped(self) -> "Env":
        return self

    def _observe(self) -> np.ndarray:
        return np.asarray(self.task.observe(self.sim.t, *_sizes(self.sim, self.task.tree)), np.float64)

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[np.ndarray, dict]:
        """A new episode. The same seed gives the same episode; options: keyframe."""
        if seed is not None or self._random is None:
            self._random = np.random.default_rng(seed)
            if _gymnasium:
                super().reset(seed=seed)
        self.sim.reset((options or {}).get("keyframe"))
        q, v = self.task.start(self._random, *_sizes(self.sim, self.task.tree))
        self.sim.set_state(q, v, tree=self.task.tree)
        self._ready, self._count = True, 0
        return self._observe(), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict]:
        """Observation, reward, terminated, truncated, info."""
        if not self._ready:
            raise RuntimeError("step: call reset first")
        from . import ArgumentError, StepError
        action = np.asarray(action, np.float64)
        if action.shape != self.action_space.shape:
            raise ArgumentError(f"action: needs the shape {self.action_space.shape}, not {action.shape}")
        action = np.clip(action, self.action_space.low, self.action_space.high)
        if len(action):
            self.sim.u = action
        info: dict = {}
        try:
            info["passed"] = self.sim.step(self.frame_skip)
        except StepError as error:
            info.update(passed=False, error=str(error))
        self._count += 1
        q, v = _sizes(self.sim, self.task.tree)
        reward = float(self.task.reward(self.sim.t, q, v, action))
        ended = bool(self.task.terminated(self.sim.t, q, v)) or "error" in info
        truncated = self._count >= self.max_steps
        self._ready = not (ended or truncated)
        return self._observe(), reward, ended, truncated, info

    def render(self) -> np.ndarray | None:
        """A picture, (height, width, 3) uint8, where render_mode is "rgb_array"."""
        if self.render_mode is None:
            return None
        return self.sim.render(self.width, self.height, **self._camera)

    def close(self) -> None:
        """Ends the episode."""
        self._ready = False


class VectorEnv(_VectorEnv):
    """N environments at once, on several threads. As `Env`, with one more axis in front; an environment whose episode ended
    starts a new one with its next step, whose action is not used (reward 0)."""

    metadata = {"autoreset_mode": "NextStep"}

    def __init__(self, model: Model, num_envs: int, task: Task | None = None, *, threads: int | None = None,
                 frame_skip: int = 1, max_steps: int = 1000, limit: float = 1e3, **settings: Any):
        self.task = task or Task()
        self.num_envs, self.frame_skip, self.max_steps = int(num_envs), int(frame_skip), int(max_steps)
        self._pool = Pool(model, sims=self.num_envs, threads=threads, tree=self.task.tree, **settings)
        if _gymnasium:
            self.metadata = {"autoreset_mode": getattr(_gymnasium.vector, "AutoresetMode", None) and
                             _gymnasium.vector.AutoresetMode.NEXT_STEP}
        self._model_state = self._pool.state(0)
        self.single_action_space = _action_space(model, limit)
        space = self.single_action_space
        self.action_space = _box(np.tile(space.low, (self.num_envs, 1)), np.tile(space.high, (self.num_envs, 1)))
        observation = self.task.observe(*self._model_state)
        self.single_observation_space = _box(np.full(observation.shape, -np.inf), np.full(observation.shape, np.inf))
        shape = (self.num_envs, *observation.shape)
        self.observation_space = _box(np.full(shape, -np.inf), np.full(shape, np.inf))
        self._random: list[np.random.Generator] = []
        self._count = np.zeros(self.num_envs, int)
        self._ended = np.zeros(self.num_envs, bool)

    def _begin(self, row: int) -> None:
        t, q, v = self._model_state
        self._pool.set(row, *self.task.start(self._random[row], q.copy(), v.copy()))
        self._count[row] = 0

    def _arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        states = [self._pool.state(row) for row in range(self.num_envs)]
        return np.array([s[0] for s in states]), np.array([s[1] for s in states]), np.array([s[2] for s in states])

    def reset(self, *, seed: int | list[int] | None = None, options: dict | None = None) -> tuple[np.ndarray, dict]:
        """New episodes. A seed is that of the first environment; the others have the next numbers."""
        if seed is not None or not self._random:
            seeds = [None if seed is None else seed + k for k in range(self.num_envs)] \
                if not isinstance(seed, (list, tuple)) else list(seed)
            if len(seeds) != self.num_envs:
                raise ValueError(f"seed: needs {self.num_envs} numbers")
            self._random = [np.random.default_rng(s) for s in seeds]
        for row in range(self.num_envs):
            self._begin(row)
        self._ended[:] = False
        return np.asarray(self.task.observe(*self._arrays()), np.float64), {}

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict]:
        """Observations, rewards, terminated, truncated, info; each with one row an environment."""
        if not self._random:
            raise RuntimeError("step: call reset first")
        from . import ArgumentError
        actions = np.asarray(actions, np.float64)
        if actions.shape != self.action_space.shape:
            raise ArgumentError(f"actions: needs the shape {self.action_space.shape}, not {actions.shape}")
        actions = np.clip(actions, self.action_space.low, self.action_space.high)
        fresh = self._ended.copy()
        result = self._pool.advance(actions if actions.size else None, self.frame_skip)
        for row in np.flatnonzero(fresh):  # what this step did to them is forgotten
            self._begin(row)
        t, q, v = result.t[:, 0], result.q[:, 0], result.v[:, 0]
        failed = (result.status < 0) & ~fresh
        if fresh.any() or failed.any():
            t, q, v = self._arrays()  # a failed step leaves the state before it
        self._count += 1
        self._count[fresh] = 0
        rewards = np.where(fresh, 0.0, self.task.reward(t, q, v, actions))
        ended = (np.asarray(self.task.terminated(t, q, v), bool) | failed) & ~fresh
        truncated = (self._count >= self.max_steps) & ~fresh
        self._ended = ended | truncated
        info: dict = {"passed": (result.violations == 0) & (result.status == 0)}
        if failed.any():
            info["error"] = np.array([result.errors.get(k, "") for k in range(self.num_envs)], dtype=object)
        return np.asarray(self.task.observe(t, q, v), np.float64), rewards, ended, truncated, info

    def close(self, **unused: Any) -> None:
        """Nothing is left open."""


def check_env(env: Any, *, steps: int = 20) -> None:
    """Tests that an environment keeps the protocol of Gymnasium; AssertionError says what it breaks."""

    def need(condition: Any, text: str) -> None:
        if not condition:
            raise AssertionError(text)

    for name in ("reset", "step", "render", "close", "action_space", "observation_space", "metadata"):
        need(hasattr(env, name), f"the environment has no {name}")
    need("render_modes" in env.metadata, "metadata has no render_modes")
    for space in (env.action_space, env.observation_space):
        space.seed(1)
        need(space.contains(space.sample()), f"{space} does not contain its own sample")
    result = env.reset(seed=3)
    need(isinstance(result, tuple) and len(result) == 2, "reset returns an observation and a dictionary")
    first, info = result
    need(isinstance(info, dict), "reset: info is no dictionary")
    need(env.observation_space.contains(first), "reset: the observation is not in its space")
    need(np.array_equal(env.reset(seed=3)[0], first), "reset: the same seed gave another episode")

    def episode() -> list:
        env.action_space.seed(5)
        out = [env.reset(seed=4)[0]]
        for _ in range(steps):
            action = env.action_space.sample()
            result = env.step(action)
            need(isinstance(result, tuple) and len(result) == 5, "step returns five values")
            observation, reward, ended, truncated, info = result
            need(env.observation_space.contains(observation), "step: the observation is not in its space")
            need(isinstance(reward, float) and np.isfinite(reward), "step: the reward is no finite float")
            need(isinstance(ended, bool) and isinstance(truncated, bool), "step: terminated, truncated are no bools")
            need(isinstance(info, dict), "step: info is no dictionary")
            out.append(np.append(observation, reward))
            if ended or truncated:
                out.append(env.reset()[0])
        return out

    one, two = episode(), episode()
    need(all(np.array_equal(a, b) for a, b in zip(one, two)), "the same seeds and actions gave another episode")
    if getattr(env, "render_mode", None) == "rgb_array":
        frame = env.render()
        need(isinstance(frame, np.ndarray) and frame.ndim == 3 and frame.shape[2] == 3 and frame.dtype == np.uint8,
             "render returns no array (height, width, 3) of uint8")
    env.close()
