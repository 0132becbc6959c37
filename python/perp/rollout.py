# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Rollouts: many sims of one model from many states with many sequences of inputs, on all cores."""
from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from . import _perp
from ._array import reals
from .model import Model
from .sim import Sim, State


class Rollout(NamedTuple):
    """N rollouts of F frames: the first is the state at the start, then one every `every` steps. Frames after a failed
    step are NaN."""

    t: np.ndarray  # (N, F) [s]
    q: np.ndarray  # (N, F, nq)
    v: np.ndarray  # (N, F, nv)
    steps: np.ndarray  # (N,): steps done
    status: np.ndarray  # (N,): 0, or the negative status of the step that failed
    violations: np.ndarray  # (N,): steps whose certificate did not pass
    errors: dict[int, str]  # why rollouts failed, by number

    @property
    def passed(self) -> np.ndarray:
        """(N,): all steps were done and certified."""
        return (self.status == 0) & (self.violations == 0)


def _output(name: str, given: Any, shape: tuple[int, ...]) -> np.ndarray:
    if given is None:
        return np.zeros(shape)
    if not isinstance(given, np.ndarray) or given.dtype != np.float64:
        raise TypeError(f"out: {name}: needs a numpy array of float64")
    if given.shape != shape:
        raise _perp.ArgumentError(f"out: {name}: needs the shape {shape}, not {given.shape}")
    if not given.flags.c_contiguous or not given.flags.writeable:
        raise _perp.ArgumentError(f"out: {name}: needs a contiguous, writable array")
    return given


class Pool:
    """Threads with sims of one model, for rollouts one after another: rollout makes one for a single call. sims: keeps that
    many sims for `advance`, each in a state of its own; None: one a thread, for `rollout`. tree: states are those of the
    tree of joints. settings: as for Sim."""

    def __init__(self, model: Model, *, step: float | None = None, threads: int | None = None, sims: int | None = None,
                 tree: bool = False, **settings: Any):
        if not isinstance(model, Model):
            raise TypeError(f"needs a perp.Model, not {type(model).__name__}")
        scene = model._compiled()
        if "threads" in settings:
            raise TypeError("threads: given twice")
        self.threads = int(threads) if threads else len(os.sched_getaffinity(0))
        self.model = model
        self._pool = _perp.Pool(scene, scene.step if step is None else float(step), settings,
                                self.threads if sims is None else int(sims), self.threads, bool(tree))
        self.nq, self.nv, self.nu, self.sims = self._pool.sizes

    @property
    def allocations(self) -> int:
        """Blocks of memory that its sims took so far."""
        return self._pool.allocations

    def _states(self, states: Any) -> tuple[int, list[bytes] | None, np.ndarray | None, np.ndarray | None]:
        if states is None:
            return 1, None, None, None
        if isinstance(states, Sim):
            states = states.save()
        if isinstance(states, State):
            return 1, [states.block], None, None
        if isinstance(states, (list, tuple)) and len(states) > 0 and all(isinstance(s, State) for s in states):
            return len(states), [s.block for s in states], None, None
        if isinstance(states, tuple) and len(states) == 2:
            q, v = np.asarray(states[0]), np.asarray(states[1])
            q = reals("states: q", np.atleast_2d(q), (None, self.nq))
            return len(q), None, q, reals("states: v", np.atleast_2d(v), (len(q), self.nv))
        rows = reals("states", np.atleast_2d(np.asarray(states)), (None, self.nq + self.nv))
        return len(rows), None, np.ascontiguousarray(rows[:, :self.nq]), np.ascontiguousarray(rows[:, self.nq:])

    def _inputs(self, inputs: Any, steps: int | None, hold: int) -> tuple[int, int, int, np.ndarray | None]:
        if inputs is None:
            if steps is None:
                raise _perp.ArgumentError("steps: needs a number of steps")
            return 1, 0, int(steps), None
        u = np.asarray(inputs)
        if u.ndim == 2:
            u = u[np.newaxis]
        u = reals("inputs", u, (None, None, self.nu))
        if not np.isfinite(u).all():
            raise _perp.ArgumentError("inputs: a number is not finite")
        steps = u.shape[1] * hold if steps is None else int(steps)
        if u.shape[1] * hold < steps:
            raise _perp.ArgumentError(f"inputs: {u.shape[1]} rows held for {hold} steps are less than {steps} steps")
        return u.shape[0], u.shape[1], steps, u

    def rollout(self, states: Any = None, inputs: Any = None, steps: int | None = None, *, every: int = 1,
                hold: int = 1, out: tuple[np.ndarray, np.ndarray] | None = None) -> Rollout:
        """As perp.rollout."""
        every, hold = int(every), int(hold)
        if every < 1 or hold < 1:
            raise _perp.ArgumentError("every, hold: need numbers from 1")
        n_states, blocks, q, v = self._states(states)
        n_inputs, rows_u, steps, u = self._inputs(inputs, steps, hold)
        if steps < 0:
            raise _perp.ArgumentError("steps: the number of steps is negative")
        if 1 not in (n_states, n_inputs) and n_states != n_inputs:
            raise _perp.ArgumentError(f"{n_states} states and {n_inputs} sequences of inputs do not go together")
        n = max(n_states, n_inputs) if min(n_states, n_inputs) > 0 else 0
        frames = steps // every + 1
        out_q = _output("q", out[0] if out else None, (n, frames, self.nq))
        out_v = _output("v", out[1] if out else None, (n, frames, self.nv))
        t = np.zeros((n, frames))
        done, status, violations = (np.zeros(n, np.int32) for _ in range(3))
        errors = self._pool.run(True, n, steps, every, hold, n_states, n_inputs, rows_u, blocks,
                                (q, v, u, t, out_q, out_v, done, status, violations))
        return Rollout(t, out_q, out_v, done, status, violations, errors)

    def advance(self, inputs: Any = None, steps: int = 1) -> Rollout:
        """Advances all sims of the pool from where they are; one frame, at the end. inputs: (sims, nu), held."""
        n = self.sims
        u = None if inputs is None else reals("inputs", inputs, (n, self.nu))
        steps = int(steps)
        if steps < 1:
            raise _perp.ArgumentError("steps: needs a number from 1")
        q, v, t = np.zeros((n, 1, self.nq)), np.zeros((n, 1, self.nv)), np.zeros((n, 1))
        done, status, violations = (np.zeros(n, np.int32) for _ in range(3))
        errors = self._pool.run(False, n, steps, steps, steps, 1, n if u is not None else 1, 1, None,
                                (None, None, u, t, q, v, done, status, violations))
        return Rollout(t, q, v, done, status, violations, errors)

    def set(self, row: int, q: Any = None, v: Any = None) -> None:
        """Starts the sim of a row anew, in a state or in that of the model."""
        if (q is None) != (v is None):
            raise _perp.ArgumentError("needs q and v, or neither")
        self._pool.set(int(row), None if q is None else reals("q", q, (self.nq,)),
                       None if v is None else reals("v", v, (self.nv,)))

    def state(self, row: int) -> tuple[float, np.ndarray, np.ndarray]:
        """t, q and v of the sim of a row."""
        q, v = np.zeros(self.nq), np.zeros(self.nv)
        return self._pool.state(int(row), q, v), q, v


def rollout(model: Model, states: Any = None, inputs: Any = None, steps: int | None = None, *,
            threads: int | None = None, step: float | None = None, every: int = 1, hold: int = 1, tree: bool = False,
            out: tuple[np.ndarray, np.ndarray] | None = None, **settings: Any) -> Rollout:
    """Runs N rollouts of one model, on `threads` threads (default: all cores). The result has the same bits as one rollout
    after another, for any number of threads.

    states: (N, nq + nv) or a tuple (q, v) of arrays; a State, a Sim, or a list of States, which are continued bit for bit;
    None: the initial state. One state serves all sequences of inputs, and the other way round.
    inputs: (N, T, nu) or (T, nu): one row for each step, or for `hold` steps. steps: default T * hold.
    every: frames are kept after so many steps. out: arrays (q, v) to be filled, of shape (N, steps // every + 1, nq or nv).
    tree: states are those of the tree of joints. settings: as for Sim."""
    pool = Pool(model, step=step, threads=threads, tree=tree, **settings)
    return pool.rollout(states, inputs, steps, every=every, hold=hold, out=out)
