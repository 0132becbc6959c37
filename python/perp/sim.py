# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Sims: the motion of a model."""
from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any, Callable, Iterator, NamedTuple

import numpy as np

from . import _perp
from ._array import View, reals, vector, view
from .model import Model
from .parts import (_GRAVITY, _INPUT, _PAIR, _RELEASE, Actuator, Body, Certificate, Energy, Event, Hit, Joint, Sensor,
                    Shape, Site)

if TYPE_CHECKING:
    from .run import Recorder


def _contact_dtype() -> np.dtype:
    fields, size = _perp.contact_layout()
    return np.dtype({"names": [f[0] for f in fields], "formats": [f[1] for f in fields],
                     "offsets": [f[2] for f in fields], "itemsize": size})


#: The dtype of `Sim.contacts`. a, b: shapes (Model.shapes); feature: identifies the point from step to step; point [m],
#: normal: unit, from a to b; gap before the step [m]; mu, restitution [-]; pn: normal impulse on b [N s]; pf: friction
#: impulse on b [N s]; rate_n: normal velocity after the step [m/s]; slip: tangential speed [m/s]; tangent: unit;
#: slip_velocity, hold [m/s]; moment: impulse of torsional and rolling friction [N m s]; facets: of the friction polygon,
#: 0: exact cone; mode: 0 open, 1 stick, 2 slip. Vectors are in world axes.
contact_dtype = _contact_dtype()


class StepInfo(NamedTuple):
    """The last step."""

    status: str
    contacts: int
    joint_rows: int
    problem_size: int
    redundant_rows: int
    unique: bool  # motion and impulses are proved unique
    motion: str
    impulses: str
    solver: str | None
    iterations: int
    parts: int
    remark: str
    coordinates: str
    work: float


class State:
    """A saved state: everything that the next step depends on. A restored sim continues bit for bit. States can be
    compared, hashed and pickled; they fit sims of an equal model, of the same version of perp on the same kind of
    machine."""

    __slots__ = ("block", "t")

    def __init__(self, block: bytes, t: float):
        self.block = block
        self.t = t

    @property
    def digest(self) -> str:
        """Of all bytes, the same on every run."""
        return hashlib.sha256(self.block).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self.block == other.block

    def __hash__(self) -> int:
        return hash(self.block)

    def __getstate__(self) -> tuple[bytes, float]:
        return self.block, self.t

    def __setstate__(self, state: tuple[bytes, float]) -> None:
        self.block, self.t = state

    def __repr__(self) -> str:
        return f"<perp.State t={self.t:.6g} {self.digest[:12]}>"


class Inputs:
    """The inputs of a sim, by name, by number, or as one array: u["hip"] = 0.3, u[0] = 1, u[:] = [1, 2]. Values are
    clamped to the range of the input and held until they are set again."""

    def __init__(self, sim: "Sim"):
        self._sim = sim

    @property
    def names(self) -> tuple[str, ...]:
        return self._sim._scene.names("input")

    def _index(self, key: Any) -> int:
        return self._sim.model.index("input", key)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[float]:
        return iter(self._sim._inputs())

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self._sim._inputs(), dtype=dtype or np.float64)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (str, int, np.integer)):
            return self._sim._inputs()[self._index(key)]
        return np.asarray(self)[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, (str, int, np.integer)):
            if np.ndim(value) != 0:
                raise _perp.ArgumentError(f"input '{key}': needs one number")
            self._sim._act(_INPUT, self._index(key), 0, (float(value),))
            return
        values = np.asarray(self)
        try:
            values[key] = value
        except (ValueError, IndexError, TypeError) as error:
            raise _perp.ArgumentError(f"inputs: {error}") from None
        self._sim._set_inputs(values)

    def release(self, key: Any = None) -> None:
        """The source of an input, an expression of the model, sets it again; None: of all inputs."""
        for index in range(len(self)) if key is None else [self._index(key)]:
            self._sim._act(_RELEASE, index, 0, ())

    def __repr__(self) -> str:
        return "{" + ", ".join(f"'{n}': {v:.6g}" for n, v in zip(self.names, self)) + "}"


class Sim(_perp.Sim):
    """The motion of a model.

    step: length of a step [s], default that of the scene. settings: as in scene files (stepper, solver, coordinates,
    tolerance, friction, keyframe, threads, limits={"gap": 1e-9}, ...); they replace those of the scene. on_control(sim,
    h) is called at the start of every step and may set inputs and make changes; an exception in it ends the step, which
    then has no effect, and is raised by `step`.

    A sim is used by one thread at a time: BusyError otherwise. Steps release the lock of the interpreter, so that sims in
    different threads run at the same time."""

    def __init__(self, model: Model, step: float | None = None, *,
                 on_control: Callable[["Sim", float], Any] | None = None, **settings: Any):
        if not isinstance(model, Model):
            raise TypeError(f"Sim needs a perp.Model, not {type(model).__name__}: perp.load(path) reads one")
        if on_control is not None and not callable(on_control):
            raise TypeError("on_control: needs a function of sim and h")
        scene = model._compiled()
        if isinstance(step, (str, bytes)):
            raise TypeError("step: needs a number of seconds")
        self._begin(scene, scene.step if step is None else float(step), settings, on_control)
        self._model = Model._of(scene, model._place)
        self._settings = settings
        self._control = on_control
        self._u = Inputs(self)
        self.nq, self.nv, self.tree_nq, self.tree_nv = self._sizes()

    @property
    def model(self) -> Model:
        """What it simulates, as it was when the sim was made."""
        return self._model

    # ── State ────────────────────────────────────────────────────────────────────────────────────

    @property
    def q(self) -> View:
        """Positions of the dynamic bodies in order, (nq,): in the plane x, y [m], angle [rad] of each; in space x, y, z
        [m] and a unit quaternion w, x, y, z."""
        return view(self, "q", np.float64)

    @q.setter
    def q(self, value: Any) -> None:
        self.set_state(q=value)

    @property
    def v(self) -> View:
        """Velocities of the dynamic bodies, (nv,): in the plane vx, vy [m/s], omega [rad/s] of each; in space v and
        omega in world axes."""
        return view(self, "v", np.float64)

    @v.setter
    def v(self, value: Any) -> None:
        self.set_state(v=value)

    @property
    def tree_q(self) -> View:
        """Coordinates of the tree of joints, (tree_nq,) [m, rad]; angles keep their turns."""
        return view(self, "tree_q", np.float64)

    @property
    def tree_v(self) -> View:
        """Rates of the tree of joints, (tree_nv,) [m/s, rad/s]."""
        return view(self, "tree_v", np.float64)

    @property
    def u(self) -> Inputs:
        """The inputs."""
        return self._u

    @u.setter
    def u(self, values: Any) -> None:
        self._set_inputs(reals("u", values, (len(self._u),)))

    @property
    def contacts(self) -> View:
        """Contact points of the last step: a structured array with the fields of perp.contact_dtype."""
        return view(self, "contacts", contact_dtype)

    def set_state(self, q: Any = None, v: Any = None, t: float | None = None, *, tree: bool = False) -> None:
        """Sets positions, velocities and the time; what is left out stays. tree: in the coordinates of the tree of
        joints. Turns of spatial joints and the history of contacts start anew."""
        nq, nv = (self.tree_nq, self.tree_nv) if tree else (self.nq, self.nv)
        old_q, old_v = (self.tree_q, self.tree_v) if tree else (self.q, self.v)
        q = np.array(old_q) if q is None else reals("q", q, (nq,))
        v = np.array(old_v) if v is None else reals("v", v, (nv,))
        self._set_state(tree, self.t if t is None else float(t), q, v)

    def save(self) -> State:
        """The state, for `restore`, pickle and rollouts."""
        return State(self._save(), self.t)

    def restore(self, state: State) -> None:
        """Continues from a saved state, bit for bit."""
        if not isinstance(state, State):
            raise TypeError(f"restore needs a perp.State, not {type(state).__name__}")
        self._restore(state.block)

    def reset(self, keyframe: str | None = None) -> None:
        """Starts again, in the initial state or at a keyframe of the model; changes are taken back."""
        self._reset(keyframe)

    def copy(self) -> "Sim":
        """A second sim in the same state."""
        other = type(self)(self._model, self.h, on_control=self._control, **self._settings)
        other.restore(self.save())
        return other

    def __copy__(self) -> "Sim":
        return self.copy()

    def __deepcopy__(self, memo: Any) -> "Sim":
        return self.copy()

    def __reduce__(self) -> Any:
        return _unpickle, (type(self), self._model, self.h, self._settings, self._control, self.save())

    # ── Results of the last step ─────────────────────────────────────────────────────────────────

    @property
    def certificate(self) -> Certificate:
        """Of the last step."""
        return Certificate(*self._info()["certificate"])

    @property
    def energy(self) -> Energy:
        """[J]"""
        return Energy(*self._info()["energy"])

    @property
    def info(self) -> StepInfo:
        """Solver, sizes and remarks of the last step."""
        info = self._info()
        return StepInfo(**{name: info[name] for name in StepInfo._fields})

    @property
    def contact_forces(self) -> np.ndarray:
        """Mean forces [N] and moments [N m] of the contacts on their shapes b over the last step, (contacts, 6)."""
        return np.frombuffer(self._contact_forces(), dtype=np.float64).reshape(-1, 6)

    @property
    def events(self) -> list[Event]:
        """Of the last step, for the stepper event."""
        return [Event(*event) for event in self._events()]

    # ── Parts ────────────────────────────────────────────────────────────────────────────────────

    def body(self, name: Any) -> Body:
        return Body(self, self._model.index("body", name))

    def joint(self, name: Any) -> Joint:
        return Joint(self, self._model.index("joint", name))

    def actuator(self, name: Any) -> Actuator:
        return Actuator(self, self._model.index("actuator", name))

    def shape(self, name: Any) -> Shape:
        return Shape(self, self._model.index("shape", name))

    def site(self, name: Any) -> Site:
        return Site(self, self._model.index("site", name))

    def sensor(self, name: Any) -> Sensor:
        return Sensor(self, self._model.index("sensor", name))

    def __getitem__(self, name: Any) -> Any:
        """The body of a name, or else the only joint, site, sensor, actuator or shape that has it."""
        kinds = {"body": Body, "joint": Joint, "site": Site, "sensor": Sensor, "actuator": Actuator, "shape": Shape}
        label = getattr(name, "name", name)
        found = [kind for kind in kinds if label in self._scene.names(kind)]
        if "body" in found or len(found) == 1:
            kind = "body" if "body" in found else found[0]
            return kinds[kind](self, self._model.index(kind, label))
        if found:
            raise KeyError(f"'{label}' is the name of a {' and of a '.join(found)}: use sim.{found[0]}('{label}')")
        return self.body(name)

    # ── Changes ──────────────────────────────────────────────────────────────────────────────────

    @property
    def gravity(self) -> np.ndarray:
        """[m/s^2]"""
        return np.array(self._pair_friction(-1, -1)[4])

    @gravity.setter
    def gravity(self, value: Any) -> None:
        self._act(_GRAVITY, 0, 0, vector("gravity", value))

    def set_pair_friction(self, a: Any, b: Any, mu: float, *, mu_2: float = -1.0, mu_spin: float = 0.0,
                          mu_roll: float = 0.0) -> None:
        """Friction of two shapes for which the model has a pair or a contact. mu_2: across the tangent; negative: mu."""
        self._act(_PAIR, self._model.index("shape", a), self._model.index("shape", b),
                  (float(mu), float(mu_2), float(mu_spin), float(mu_roll)))

    def pair_friction(self, a: Any, b: Any) -> tuple[float, float, float, float]:
        """mu, mu_2, mu_spin, mu_roll of a contact of two shapes."""
        return self._pair_friction(self._model.index("shape", a), self._model.index("shape", b))[:4]

    # ── Questions ────────────────────────────────────────────────────────────────────────────────

    def ray(self, origin: Any, direction: Any, max_distance: float = float("inf"), *, skip: Any = None) -> Hit:
        """The nearest shape on a ray; skip: ignore the shapes of this body."""
        shapes, values = self.rays([vector("origin", origin)], [vector("direction", direction)], max_distance,
                                   skip=skip)
        row, shape = values[0], int(shapes[0])
        name = self._scene.names("shape")[shape] if shape >= 0 else ""
        return Hit(name, float(row[0]), row[1:4].copy(), row[4:7].copy(), bool(row[7]))

    def rays(self, origins: Any, directions: Any, max_distance: float = float("inf"), *, mask: int = 0xffffffff,
             skip: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Many rays at once: shapes (n,), -1 where nothing is hit, and (n, 8): distance, point, normal, inside."""
        origins = reals("origins", origins, (None, 3))
        directions = reals("directions", directions, (len(origins), 3))
        shapes, values = np.zeros(len(origins), np.int32), np.zeros((len(origins), 8))
        body = -1 if skip is None else self._model.index("body", skip)
        self._rays(origins, directions, float(max_distance), int(mask), body, shapes, values)
        return shapes, values

    def distance(self, a: Any, b: Any) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """Signed distance of two shapes [m], the closest points on both, and the normal from a to b."""
        d, p, r, n = self._distance(self._model.index("shape", a), self._model.index("shape", b))
        return d, np.array(p), np.array(r), np.array(n)

    def inverse_dynamics(self, acceleration: Any) -> np.ndarray:
        """Generalized forces (nv,) that these accelerations of the bodies need beyond what acts already."""
        force = np.zeros(self.nv)
        self._inverse_dynamics(reals("acceleration", acceleration, (self.nv,)), force)
        return force

    # ── Recordings and pictures ──────────────────────────────────────────────────────────────────

    def record(self, dir: Any, *, every: int = 1, csv: bool = True) -> "Recorder":
        """Records the run into a folder: all steps since the sim was made (or since its state was set), and every further
        step until the recorder is closed. Steps that lie in the past are repeated for it, which gives the same bits."""
        from .run import Recorder
        self._record(os.fspath(dir), self._scene.name, int(every), bool(csv))
        return Recorder(self, os.fspath(dir))

    def render(self, width: int = 320, height: int = 240, *, eye: Any = None, target: Any = None,
               angle: float = 0.8, extent: float | None = None) -> np.ndarray:
        """A picture, (height, width, 3) uint8, drawn without a graphics card. In space from `eye` towards `target` with an
        angle of view [rad]; in the plane `extent` metres high about `target`. What is left out shows all bodies."""
        from .picture import camera
        rgb = np.zeros((int(height), int(width), 3), np.uint8)
        self._render(int(width), int(height), camera(self, width / height, eye, target, angle, extent), rgb)
        return rgb

    def __repr__(self) -> str:
        return f"<perp.Sim '{self._scene.name}' t={self.t:.6g} s>"


def _unpickle(cls: type, model: Model, h: float, settings: dict, control: Any, state: State) -> Sim:
    sim = cls(model, h, on_control=control, **settings)
    sim.restore(state)
    return sim
