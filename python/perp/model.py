# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Models: read from scenes and robots, or built part by part. The words are those of scene files."""
from __future__ import annotations

import difflib
import json
import math
import os
from typing import Any, Mapping

import numpy as np

from . import _perp

_LISTS = {"body": "bodies", "joint": "joints", "force": "forces", "contact": "contacts", "pair": "pairs",
          "input": "inputs", "actuator": "actuators", "site": "sites", "sensor": "sensors", "keyframe": "keyframes"}


def _plain(value: Any, where: str) -> Any:
    """Values of Python and numpy as JSON; infinities are the words of scene files."""
    if isinstance(value, Part):
        return value.name
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        if math.isnan(value):
            raise _perp.ArgumentError(f"{where}: not a number")
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        return float(value)
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "fiub":
            raise TypeError(f"{where}: needs real numbers, not {value.dtype}")
        return _plain(value.tolist(), where)
    if isinstance(value, Mapping):
        return {str(k): _plain(v, f"{where}: {k}") for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v, where) for v in value]
    raise TypeError(f"{where}: cannot be part of a model: {type(value).__name__}")


class Part:
    """A body of a model that is being built: `name`, and `add_shape` for its shapes. It stands for its name wherever
    a body is asked for."""

    def __init__(self, model: "Model", name: str, data: dict):
        self._model = model
        self._data = data
        self.name = name

    def add_shape(self, kind: str, name: str | None = None, **fields: Any) -> str:
        """Adds a shape to this body; see Model.add_shape."""
        return self._model._add_shape(self._data.setdefault("shapes", []), f"{self.name}.", kind, name, fields)

    def __repr__(self) -> str:
        return f"<perp body '{self.name}'>"


class Model:
    """What is simulated. perp.load reads one; perp.Model() is an empty one, to which parts are added:

        model = perp.Model("ball")
        model.add_shape("halfplane", "floor")
        ball = model.add_body("ball", position=[0, 1.1], mass=1, inertia=0.004)
        ball.add_shape("disc", radius=0.1, restitution=0.5)

    Parts have the keys of scene files (docs/scene-format.md), also with parameters, expressions and units in texts. The
    model is checked when a sim is made of it, or by `check`. Sims keep the model as it was then: later additions are
    for later sims. spatial: bodies are solids of space unless their `kind` says otherwise. settings: top-level keys of
    scenes, such as gravity, step, until, stepper."""

    def __init__(self, name: str = "model", *, spatial: bool = False, **settings: Any):
        self._scene: _perp.Scene | None = None
        self._data: dict | None = {"name": name}
        self._files: list[tuple[str, bytes]] = []
        self._place = name
        self._kind = "solid" if spatial else None
        for key, value in settings.items():
            self.set(key, value)

    @classmethod
    def _of(cls, scene: Any, place: str) -> "Model":
        self = cls.__new__(cls)
        self._scene, self._data, self._place, self._kind = scene, None, place, None
        self._files = scene.files()
        return self

    # ── Building ─────────────────────────────────────────────────────────────────────────────────

    def _edit(self) -> dict:
        """The scene as a dictionary. That of a file is written anew first, without parameters and other files."""
        if self._data is None:
            assert self._scene is not None
            self._kind = "solid" if self._scene.spatial else None
            self._data = json.loads(self._scene.written())
            self._files = []
        self._scene = None
        return self._data

    def _add(self, what: str, name: str | None, fields: Mapping[str, Any]) -> str:
        entries = self._edit().setdefault(_LISTS[what], [])
        entry: dict = {}
        if name is None and what not in ("pair",):
            name = f"{what}{len(entries) + (what == 'body')}"
        if name is not None:
            entry["name"] = str(name)
        for key, value in fields.items():
            if value is not None:
                entry[key] = _plain(value, f"{what} '{name}': {key}" if name else f"{what}: {key}")
        entries.append(entry)
        return name or ""

    def _add_shape(self, shapes: list, prefix: str, kind: str, name: str | None, fields: Mapping[str, Any]) -> str:
        self._edit()
        entry = {"kind": kind}
        if name is not None:
            entry["name"] = str(name)
        for key, value in fields.items():
            if value is not None:
                entry[key] = _plain(value, f"shape '{prefix}{name or kind}': {key}")
        shapes.append(entry)
        return prefix + name if name is not None else ""

    def set(self, key: str, value: Any) -> None:
        """Sets a top-level key of the scene: gravity, step, until, stepper, exclude, ..."""
        if key in _LISTS.values() or key in ("shapes", "name"):
            raise TypeError(f"{key}: parts have functions of their own, such as add_body")
        self._edit()[key] = _plain(value, key)

    def set_parameter(self, name: str, value: Any) -> None:
        """A named number, for expressions in texts such as "2*width". Comes before its uses."""
        self._edit().setdefault("parameters", {})[name] = _plain(value, f"parameter '{name}'")

    def add_body(self, name: str | None = None, **fields: Any) -> Part:
        """Adds a body. kind: body, particle, solid, point_mass; position [m], angle [rad] or rotation, velocity [m/s],
        spin [rad/s], mass [kg], inertia [kg m^2] (without: from the densities of its shapes), drive: "free", "fixed" or
        functions of time, gravity_scale, colour, recenter, massless."""
        if self._kind and "kind" not in fields:
            fields = {"kind": self._kind, **fields}
        name = self._add("body", name, fields)
        return Part(self, name, self._edit()["bodies"][-1])

    def add_shape(self, kind: str, name: str | None = None, **fields: Any) -> str:
        """Adds a shape to the ground. kind: point, disc, box, polygon, capsule, segment, halfplane; in space also sphere,
        cylinder, cone, ellipsoid, hull, halfspace, heightfield, mesh. radius, size, length, vertices [m], position,
        angle, rotation, density, mu, restitution, ... Returns its full name, or "" if it has none."""
        return self._add_shape(self._edit().setdefault("shapes", []), "", kind, name, fields)

    def add_joint(self, kind: str, name: str | None = None, **fields: Any) -> str:
        """Adds a joint between the bodies a (default: ground) and b. kind: revolute, prismatic, weld, distance, ...; at or
        anchor_a and anchor_b [m], axis, lower, upper, target, rate, stiffness, damping, friction, armature, ..."""
        return self._add("joint", name, {"kind": kind, **fields})

    def add_force(self, kind: str, name: str | None = None, **fields: Any) -> str:
        """Adds a force. kind: force, spring, twist_spring, drag; fx, fy, ... are expressions, also of inputs."""
        return self._add("force", name, {"kind": kind, **fields})

    def add_input(self, name: str, **fields: Any) -> str:
        """Adds an input, which sims set by sim.u[name]. value (a number or an expression), range, unit."""
        return self._add("input", name, fields)

    def add_actuator(self, kind: str, name: str | None = None, **fields: Any) -> str:
        """Adds an actuator. kind: motor, position, velocity, general; joint, control (default: the input with its name,
        which is added if there is none), gear, kp, kv, effort, time_constant, ..."""
        return self._add("actuator", name, {"kind": kind, **fields})

    def add_site(self, name: str, **fields: Any) -> str:
        """Adds a named frame: body, position, angle or rotation, radius or size of a region."""
        return self._add("site", name, fields)

    def add_sensor(self, kind: str, name: str | None = None, **fields: Any) -> str:
        """Adds a sensor. kind: joint-position, position, gyro, touch, range, ...; joint, site, body or actuator."""
        return self._add("sensor", name, {"kind": kind, **fields})

    def add_pair(self, a: Any, b: Any, **fields: Any) -> None:
        """Contact parameters of two shapes: mu, restitution, ignore, ..."""
        self._add("pair", None, {"a": a, "b": b, **fields})

    def add_contact(self, a: Any, b: Any, name: str | None = None, **fields: Any) -> str:
        """A contact that is part of every step: a point or disc against any shape."""
        return self._add("contact", name, {"a": a, "b": b, **fields})

    def add_keyframe(self, name: str, **fields: Any) -> str:
        """A named state: time, joints, bodies, inputs."""
        return self._add("keyframe", name, fields)

    def exclude(self, a: Any, b: Any) -> None:
        """The shapes of two bodies do not collide."""
        self._edit().setdefault("exclude", []).append([_plain(a, "exclude"), _plain(b, "exclude")])

    # ── Looking ──────────────────────────────────────────────────────────────────────────────────

    def check(self) -> "Model":
        """Raises SceneError if the model is not valid; returns the model."""
        self._compiled()
        return self

    def _compiled(self) -> Any:
        if self._scene is None:
            text = json.dumps(self._data, ensure_ascii=False, allow_nan=False, indent=1)
            self._scene = _perp.parse(self._place, text, self._files, [], 1024.0, False)
        return self._scene

    @property
    def name(self) -> str:
        """Of the scene."""
        return self._compiled().name

    @property
    def text(self) -> str:
        """The scene as text: what `perp run` reads."""
        return self._compiled().text

    @property
    def step(self) -> float:
        """Length of a step [s]."""
        return self._compiled().step

    @property
    def until(self) -> float:
        """End of the run [s]."""
        return self._compiled().until

    @property
    def spatial(self) -> bool:
        """In space, not in the plane."""
        return self._compiled().spatial

    @property
    def parameters(self) -> dict[str, float]:
        """Its parameters, in SI units."""
        return self._compiled().parameters()

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies; the first is the ground."""
        return self._compiled().names("body")

    @property
    def shapes(self) -> tuple[str, ...]:
        return self._compiled().names("shape")

    @property
    def joints(self) -> tuple[str, ...]:
        return self._compiled().names("joint")

    @property
    def inputs(self) -> tuple[str, ...]:
        return self._compiled().names("input")

    @property
    def actuators(self) -> tuple[str, ...]:
        return self._compiled().names("actuator")

    @property
    def keyframes(self) -> tuple[str, ...]:
        return self._compiled().names("keyframe")

    @property
    def sites(self) -> tuple[str, ...]:
        return self._compiled().names("site")

    @property
    def sensors(self) -> tuple[str, ...]:
        return self._compiled().names("sensor")

    def mass(self, body: Any) -> float:
        """Mass of a body [kg]."""
        return self._compiled().body(self.index("body", body))[0]

    def inertia(self, body: Any) -> np.ndarray:
        """Inertia tensor of a body in its axes, about its centre of mass, 3 x 3 [kg m^2]."""
        xx, yy, zz, xy, xz, yz = self._compiled().body(self.index("body", body))[1]
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    def input_range(self, name: Any) -> tuple[float, float]:
        """Smallest and largest value of an input."""
        return self._compiled().input(self.index("input", name))[1:3]

    def index(self, kind: str, name: Any) -> int:
        """The number of a body, shape, joint, input, actuator, keyframe, site or sensor. KeyError: no such name."""
        names = self._compiled().names(kind)
        if isinstance(name, Part):
            name = name.name
        if isinstance(name, (int, np.integer)) and not isinstance(name, bool):
            if not -len(names) <= name < len(names):
                raise IndexError(f"{kind} {name}: the model has {len(names)}")
            return int(name) % len(names)
        if name in names:
            return names.index(name)
        near = difflib.get_close_matches(str(name), names, 1)
        hint = f": did you mean '{near[0]}'?" if near else ": there are " + (", ".join(names[:20]) or "none")
        raise KeyError(f"the model has no {kind} '{name}'{hint}")

    def write(self, path: Any) -> None:
        """Writes the text of the scene."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)

    # ── Copies ───────────────────────────────────────────────────────────────────────────────────

    def copy(self) -> "Model":
        """A model that can be extended on its own."""
        other = Model.__new__(Model)
        other._scene, other._place, other._kind = self._scene, self._place, self._kind
        other._data = None if self._data is None else json.loads(json.dumps(self._data))
        other._files = list(self._files)
        return other

    def __copy__(self) -> "Model":
        return self.copy()

    def __deepcopy__(self, memo: Any) -> "Model":
        return self.copy()

    def __getstate__(self) -> dict:
        scene = self._compiled()
        return {"place": self._place, "text": scene.text, "files": scene.files(), "data": self._data,
                "kind": self._kind}

    def __setstate__(self, state: dict) -> None:
        self._place, self._files = state["place"], state["files"]
        self._data, self._kind = state["data"], state["kind"]
        self._scene = _perp.parse(self._place, state["text"], self._files, [], 1024.0, True)

    def __repr__(self) -> str:
        try:
            return f"<perp.Model '{self.name}': {len(self.bodies) - 1} bodies, {len(self.joints)} joints>"
        except _perp.Error as error:
            return f"<perp.Model, not valid yet: {error}>"


def _set(values: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    return [(name, value if isinstance(value, str) else repr(float(value))) for name, value in (values or {}).items()]


def load(path: Any, *, set: Mapping[str, Any] | None = None, outside: bool = False, max_mb: float = 64.0) -> Model:
    """Reads a scene, an MJCF or a URDF file. set: values for its parameters, numbers or texts with units. outside:
    files that it names may lie outside its folder. max_mb: size limit of each file [10^6 bytes]. SceneError has file,
    line and column."""
    scene = _perp.load(os.fspath(path), [], _set(set), float(max_mb), bool(outside))
    return Model._of(scene, os.fsdecode(path))


def loads(text: str, name: str = "scene.json", *, set: Mapping[str, Any] | None = None,
          files: Mapping[str, bytes] | None = None) -> Model:
    """Reads a scene from a text. Files that it names come from `files`, or from the folder of `name`."""
    scene = _perp.parse(name, text, [(k, bytes(v)) for k, v in (files or {}).items()], _set(set), 64.0, False)
    return Model._of(scene, name)


def generate(name: str, **options: Any) -> Model:
    """Makes a scene by rule, as `perp scene` does: generate("arch", thickness=0.109)."""
    scene = _perp.generate(name, [(k, str(v)) for k, v in options.items()])
    return Model._of(scene, name + ".json")
