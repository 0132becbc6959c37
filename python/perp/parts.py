# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of a sim (bodies, joints, ...) and the records that it returns."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._array import vector

# Numbers of the actions of the extension module.
(_STEP, _INPUT, _RELEASE, _WRENCH, _FORCE_AT, _EFFORT, _GRAVITY, _FRICTION, _PAIR, _GAINS, _LIMITS, _RATE,
 _MOTION, _TARGET) = range(14)


class Pose(NamedTuple):
    """Position of the centre of mass [m] and unit quaternion (w, x, y, z) of a frame in the world."""

    position: tuple[float, float, float]
    quaternion: tuple[float, float, float, float]

    @property
    def rotation(self) -> np.ndarray:
        """3 x 3: maps coordinates in the frame to coordinates in the world."""
        w, x, y, z = self.quaternion
        return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                         [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                         [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])

    @property
    def matrix(self) -> np.ndarray:
        """4 x 4, homogeneous."""
        matrix = np.eye(4)
        matrix[:3, :3] = self.rotation
        matrix[:3, 3] = self.position
        return matrix


class Twist(NamedTuple):
    """Velocity of the centre of mass [m/s] and angular velocity [rad/s], in world axes."""

    velocity: tuple[float, float, float]
    omega: tuple[float, float, float]


class Wrench(NamedTuple):
    """Force and torque about the centre of mass, in world axes; or their impulses."""

    force: tuple[float, float, float]
    torque: tuple[float, float, float]


class Certificate(NamedTuple):
    """Results of the independent checks of the last step (docs/certificate.md)."""

    gap: float  # deepest overlap at the end of the step [m]
    complementarity: float  # worst p_n rho_n [J]
    cone: float  # friction beyond its cone [N s]
    slip_opposed: float
    joint: float  # worst error of joints and limits [m, rad]
    momentum: float  # worst |M dnu - p_ext - W p| [N s, N m s]
    energy_created: float  # by the step [J]
    residual: float  # natural map of the problem [m/s]
    motion: float  # consistency of positions with velocities [m]
    path: float  # deepest overlap during the step [m]
    path_clear: bool  # no body passed through another
    pairs: int  # pairs of nearby shapes judged
    passed: bool
    # value / limit of gap, complementarity, cone, joint, momentum, energy, residual, motion, path; above 1: violated
    relative: tuple[float, ...]


class Energy(NamedTuple):
    """Energy [J]; work and dissipated are of the last step."""

    kinetic: float
    potential: float
    work: float
    dissipated: float

    @property
    def total(self) -> float:
        return self.kinetic + self.potential


class Event(NamedTuple):
    """An event of the last step (stepper event)."""

    t: float
    kind: str
    a: int
    b: int
    joint: int
    point: tuple[float, float, float]
    rate_before: float
    rate_after: float
    impulse: float
    remark: str


class Hit(NamedTuple):
    """The nearest shape on a ray; shape is "" if nothing is hit."""

    shape: str
    distance: float
    point: np.ndarray
    normal: np.ndarray
    inside: bool


class _Part:
    kind = ""

    def __init__(self, sim: Any, index: int):
        self.sim = sim
        self.index = index

    @property
    def name(self) -> str:
        return self.sim._scene.names(self.kind)[self.index]

    def _act(self, kind: int, *values: float, b: int = 0) -> None:
        self.sim._act(kind, self.index, b, tuple(float(v) for v in values))

    def __repr__(self) -> str:
        return f"<perp {self.kind} '{self.name}'>"


class Body(_Part):
    """A body of a sim."""

    kind = "body"

    @property
    def pose(self) -> Pose:
        """Where it is now."""
        return Pose(*self.sim._body(self.index, "pose"))

    @property
    def position(self) -> np.ndarray:
        """Of its centre of mass [m]; in the plane z is 0."""
        return np.array(self.pose.position)

    @property
    def angle(self) -> float:
        """In the plane, with all turns [rad]."""
        return self.sim._body(self.index, "angle")

    @property
    def twist(self) -> Twist:
        return Twist(*self.sim._body(self.index, "twist"))

    @property
    def velocity(self) -> np.ndarray:
        """Of its centre of mass, in world axes [m/s]."""
        return np.array(self.twist.velocity)

    @property
    def omega(self) -> np.ndarray:
        """Angular velocity, in world axes [rad/s]."""
        return np.array(self.twist.omega)

    @property
    def contact_wrench(self) -> Wrench:
        """Mean force of all contacts over the last step [N, N m]."""
        return Wrench(*self.sim._body(self.index, "contact"))

    @property
    def drive_impulse(self) -> Wrench:
        """Impulse that moved a kinematic body during the last step [N s, N m s]."""
        return Wrench(*self.sim._body(self.index, "drive"))

    def apply(self, force: Any = (0, 0, 0), torque: Any = (0, 0, 0), *, at: Any = None) -> None:
        """A force [N] for the next step, with a torque [N m] about the centre of mass (in the plane a number), or at a
        point of the world."""
        if np.ndim(torque) == 0:
            torque = (0.0, 0.0, torque)
        if at is None:
            self._act(_WRENCH, *vector("force", force), *vector("torque", torque))
            return
        if any(vector("torque", torque)):
            raise ValueError("apply: a force at a point has no torque of its own")
        self._act(_FORCE_AT, *vector("force", force), *vector("at", at))

    def move(self, velocity: Any = None, omega: Any = None, *, position: Any = None, quaternion: Any = None) -> None:
        """From now on a kinematic body moves with this velocity [m/s] and angular velocity [rad/s] (in the plane a
        number), from where it is or from another pose."""
        pose = self.pose
        place = pose.position if position is None else vector("position", position)
        turn = pose.quaternion if quaternion is None else tuple(float(c) for c in quaternion)
        if np.ndim(omega) == 0 and omega is not None:
            omega = (0.0, 0.0, omega)
        v = (0.0, 0.0, 0.0) if velocity is None else vector("velocity", velocity)
        w = (0.0, 0.0, 0.0) if omega is None else vector("omega", omega)
        jumps = position is not None or quaternion is not None
        self._act(_MOTION, *place, *turn, *v, *w, b=(1 if jumps else 0) | 2)

    def jacobian(self, point: Any = (0, 0, 0)) -> np.ndarray:
        """6 x nv: velocity of a point of the body (in its frame [m]) and angular velocity, (v, omega) = J sim.v."""
        matrix = np.zeros((self.sim.nv, 6))
        self.sim._jacobian(self.index, vector("point", point), matrix)
        return matrix.T


class Joint(_Part):
    """A joint of a sim."""

    kind = "joint"

    @property
    def coordinate(self) -> float:
        """[rad or m]"""
        return self.sim._joint(self.index)[0]

    @property
    def rate(self) -> float:
        """[rad/s or m/s]"""
        return self.sim._joint(self.index)[1]

    @property
    def error(self) -> float:
        """Worst error of its equations after the last step [m, rad]."""
        return self.sim._joint(self.index)[2]

    @property
    def impulse(self) -> Wrench:
        """On its body b in the last step, about the centre of mass [N s, N m s]."""
        return Wrench(*self.sim._joint(self.index)[3])

    def apply(self, effort: float) -> None:
        """A force or torque along the coordinate, for the next step [N, N m]."""
        self._act(_EFFORT, effort)

    def set_target(self, position: float, rate: float = 0.0) -> None:
        """The target of a joint that has one: from now on position + rate (t - now)."""
        self._act(_TARGET, position, rate)

    def set_rate(self, rate: float, effort: float = float("inf")) -> None:
        """The rate of a joint that the model drives by `rate`, and its largest effort."""
        self._act(_RATE, rate, effort)


class Actuator(_Part):
    """An actuator of a sim."""

    kind = "actuator"

    @property
    def control(self) -> float:
        """Filtered, mean over the last step."""
        return self.sim._actuator(self.index)[0]

    @property
    def effort(self) -> float:
        """Mean force or torque of the last step [N, N m]."""
        return self.sim._actuator(self.index)[2]

    @property
    def limited(self) -> bool:
        """The effort is at one of its limits."""
        return self.sim._actuator(self.index)[3]

    @property
    def gains(self) -> tuple[float, tuple[float, float, float]]:
        """gain and bias of f = gain c + bias[0] + bias[1] l + bias[2] l', with kv of a damping ratio worked out."""
        return self.sim._actuator(self.index)[4]

    @property
    def limits(self) -> tuple[float, float]:
        """Limits of f [N, N m]."""
        return self.sim._actuator(self.index)[5]

    @property
    def gear(self) -> float:
        """The effort on the joint is gear f, and l is gear times its coordinate."""
        return self.sim._actuator(self.index)[6]

    def set_gains(self, gain: float, bias: Any) -> None:
        """f = gain c + bias[0] + bias[1] l + bias[2] l'."""
        a, b, c = bias
        self._act(_GAINS, gain, a, b, c)

    def set_limits(self, lower: float, upper: float) -> None:
        """Limits of f [N, N m]; both infinite: none."""
        self._act(_LIMITS, lower, upper)


class Shape(_Part):
    """A shape of a sim."""

    kind = "shape"

    @property
    def body(self) -> Body:
        return Body(self.sim, self.sim._scene.shape(self.index)[0])

    def set_friction(self, mu: float, mu_spin: float = 0.0, mu_roll: float = 0.0) -> None:
        """Coefficients to be combined with those of the other shape [-, m, m]."""
        self._act(_FRICTION, mu, mu_spin, mu_roll)


class Site(_Part):
    """A named frame of a sim."""

    kind = "site"

    @property
    def pose(self) -> Pose:
        return Pose(*self.sim._site(self.index))


class Sensor(_Part):
    """A sensor of a sim."""

    kind = "sensor"

    @property
    def value(self) -> np.ndarray:
        """What it reads now; `unit` is its unit."""
        size = self.sim._scene.sensor(self.index)[0]
        values = np.zeros(size)
        self.sim._sensor(self.index, values)
        return values

    @property
    def unit(self) -> str:
        return self.sim._scene.sensor(self.index)[2] or ""
