# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings: written by a sim, read as arrays, replayed in a browser or a notebook."""
from __future__ import annotations

import html
import json
import os
import pathlib
import sys
import webbrowser
from typing import Any, NamedTuple

import numpy as np

from . import _perp
from .sim import Sim, contact_dtype


class Replay:
    """A page that replays a run. Jupyter shows it; `show` opens it in a browser."""

    def __init__(self, path: pathlib.Path, frames: int, recorded: int):
        self.path = path
        self.frames = frames
        self.recorded = recorded

    def show(self) -> None:
        """Opens the page in a browser."""
        webbrowser.open(self.path.resolve().as_uri())

    def _repr_html_(self) -> str:
        page = html.escape(self.path.read_text(encoding="utf-8"), quote=True)
        return (f'<iframe title="replay" style="width:100%;height:480px;border:0" sandbox="allow-scripts" '
                f'srcdoc="{page}"></iframe>')

    def __repr__(self) -> str:
        return f"<perp.Replay {self.path}: {self.frames} of {self.recorded} frames>"


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    here = shell.get_ipython() if shell else None
    return here is not None and hasattr(here, "kernel")


def replay(dir: Any, *, megabytes: float = 20.0, show: bool | None = None) -> Replay:
    """Writes replay.html into the folder of a recording. show: open it in a browser; None: unless in a notebook."""
    page = pathlib.Path(__file__).with_name("viewer.html")
    if not page.exists():
        raise _perp.RecordError("replay: this build of perp has no viewer: build it with Node.js and npm")
    path = pathlib.Path(os.fspath(dir)) / "replay.html"
    frames, recorded = _perp.replay(os.fspath(dir), page.read_bytes(), float(megabytes), os.fspath(path))
    made = Replay(path, frames, recorded)
    if show or (show is None and not _in_notebook()):
        made.show()
    return made


class Recorder:
    """A recording that is being written. `close` ends it; as a context it closes itself."""

    def __init__(self, sim: Sim, dir: str):
        self._sim: Sim | None = sim
        self.dir = dir
        self.summary: dict | None = None

    @property
    def closed(self) -> bool:
        return self._sim is None

    def close(self) -> dict:
        """Writes what is left; returns the summary of the run."""
        if self._sim is not None:
            text = self._sim._record_finish()
            self._sim = None
            self.summary = json.loads(text) if text else {}
        return self.summary or {}

    def read(self) -> "Run":
        """Closes the recording and reads it."""
        self.close()
        return read_run(self.dir)

    def replay(self, *, megabytes: float = 20.0, show: bool | None = None) -> Replay:
        """Closes the recording and shows it: in a notebook as the result, elsewhere in a browser."""
        self.close()
        return replay(self.dir, megabytes=megabytes, show=show)

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<perp.Recorder {self.dir}{' (closed)' if self.closed else ''}>"


class CheckItem(NamedTuple):
    """One item that `Run.check` computed from the recorded numbers."""

    name: str
    unit: str
    done: bool
    worst: float
    limit: float
    over: float  # worst / limit; above 1: violated
    t: float
    where: str


class Run:
    """A recording as arrays. F frames, the first is the initial state; B bodies, the first is the ground.

    t (F,) [s]; q (F, nq), v (F, nv): as Sim.q and Sim.v; position (F, B, 3) [m], rotation (F, B, 4) unit quaternions,
    angle (F, B) [rad], velocity (F, B, 3) [m/s], omega (F, B, 3) [rad/s]; joint (F, joints, 4): coordinate, rate, impulse
    of drives, impulse of limits; input (F, inputs), effort (F, actuators) [N, N m], sensor (F, values); energy (F, 4):
    kinetic, potential, work, dissipated [J]; relative (F, 9): items of the certificate over their limits; passed (F,).
    contacts: structured array of all frames, those of frame f are contacts[contact_start[f]:contact_start[f + 1]]."""

    def __init__(self, dir: Any):
        self.dir = os.fspath(dir)
        self._recording = _perp.Recording(self.dir)
        self.info: dict = self._recording.about()
        bodies, shapes, joints, inputs, actuators, sensors = self._recording.names()
        self.bodies: list[str] = [b[0] for b in bodies]
        self.shapes: list[str] = [s[0] for s in shapes]
        self.shape_body: list[int] = [s[1] for s in shapes]
        self.mass = np.array([b[3] for b in bodies])
        self.joints: list[str] = joints
        self.inputs: list[str] = inputs
        self.actuators: list[str] = actuators
        self.sensors: dict[str, slice] = {s[0]: slice(s[1], s[1] + s[2]) for s in sensors}
        self._read()

    def _read(self) -> None:
        frames = self.info["frames"]
        arrays = [np.zeros((frames, width)) for width in self._recording.widths()]
        self.contact_start = np.zeros(frames + 1, np.int32)
        contacts = self._recording.read(arrays, self.contact_start)
        self.contacts = np.frombuffer(b"".join(contacts), dtype=contact_dtype)
        count = len(self.bodies)
        (t, self.q, self.v, position, rotation, self.angle, velocity, omega, joint, self.input, self.effort,
         self.sensor, self.energy, certificate) = arrays
        self.t = t[:, 0]
        self.position = position.reshape(frames, count, 3)
        self.rotation = rotation.reshape(frames, count, 4)
        self.velocity = velocity.reshape(frames, count, 3)
        self.omega = omega.reshape(frames, count, 3)
        self.joint = joint.reshape(frames, len(self.joints), 4)
        self.relative = certificate[:, :-1]
        self.passed = certificate[:, -1] > 0.5

    def __len__(self) -> int:
        return len(self.t)

    def body(self, name: str) -> int:
        """The number of a body in the arrays."""
        if name not in self.bodies:
            raise KeyError(f"the run has no body '{name}': there are {', '.join(self.bodies[:20])}")
        return self.bodies.index(name)

    def frame_contacts(self, frame: int) -> np.ndarray:
        """Contacts of the last step before a frame."""
        frame = range(len(self))[frame]
        return self.contacts[self.contact_start[frame]:self.contact_start[frame + 1]]

    def check(self) -> tuple[bool, list[CheckItem]]:
        """Verifies the recording from its numbers alone: whether it passed, and all items."""
        items, passed, _ = self._recording.check()
        return passed, [CheckItem(*item) for item in items]

    def replay(self, *, megabytes: float = 20.0, show: bool | None = None) -> Replay:
        """Shows the run: in a notebook as the result, elsewhere in a browser."""
        return replay(self.dir, megabytes=megabytes, show=show)

    def to_pandas(self) -> Any:
        """A table with the index t: positions and velocities of the moving bodies, coordinates of joints, inputs, sensors,
        energy and certificate. Needs pandas."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_pandas needs pandas, which is not installed") from None
        columns: dict[str, np.ndarray] = {}
        for i, name in enumerate(self.bodies[1:], 1):
            for k, axis in enumerate("xyz" if self.info["spatial"] else "xy"):
                columns[f"{name}.{axis}"] = self.position[:, i, k]
                columns[f"{name}.v{axis}"] = self.velocity[:, i, k]
            if not self.info["spatial"]:
                columns[f"{name}.angle"] = self.angle[:, i]
                columns[f"{name}.omega"] = self.omega[:, i, 2]
        for i, name in enumerate(self.joints):
            columns[f"{name}.coordinate"], columns[f"{name}.rate"] = self.joint[:, i, 0], self.joint[:, i, 1]
        for i, name in enumerate(self.inputs):
            columns[f"input.{name}"] = self.input[:, i]
        for name, where in self.sensors.items():
            values = self.sensor[:, where]
            for k in range(values.shape[1]):
                columns[f"sensor.{name}" + (f".{k}" if values.shape[1] > 1 else "")] = values[:, k]
        for k, name in enumerate(("kinetic", "potential", "work", "dissipated")):
            columns[f"energy.{name}"] = self.energy[:, k]
        columns["passed"] = self.passed
        return pandas.DataFrame(columns, index=pandas.Index(self.t, name="t"))

    def __repr__(self) -> str:
        return f"<perp.Run '{self.info['name']}': {len(self)} frames, {self.t[-1]:.6g} s>"


def read_run(dir: Any) -> Run:
    """Reads a recording: the folder, or its run.h5. One that is still being written is read up to its last flush."""
    return Run(dir)
