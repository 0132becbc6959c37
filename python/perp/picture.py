# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Where the camera of a picture stands."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._array import vector
from ._perp import ArgumentError


def bounds(sim: Any) -> tuple[np.ndarray, float]:
    """Middle and half extent of the centres of all bodies [m]; the sizes of their shapes are not known here."""
    names = sim._scene.names("body")
    centers = np.array([sim._body(i, "pose")[0] for i in range(1, len(names))])
    if len(centers) == 0:
        return np.zeros(3), 1.0
    low, high = centers.min(axis=0), centers.max(axis=0)
    return 0.5 * (low + high), float(0.5 * np.max(high - low))


def camera(sim: Any, aspect: float, eye: Any, target: Any, angle: float, extent: float | None) -> np.ndarray:
    """Eye, right, up, forward, and half the height: a tangent in space, metres in the plane."""
    middle, half = bounds(sim)
    if not 0.0 < angle < 3.0:
        raise ArgumentError("render: an angle of view is between 0 and 3 rad")
    if extent is not None and not extent > 0.0:
        raise ArgumentError("render: extent: needs a positive height [m]")
    look = np.array(vector("target", target)) if target is not None else middle
    if not sim._scene.spatial:
        height = extent if extent is not None else 2.0 * max(1.4 * half, 0.5)
        return np.concatenate([look, [1, 0, 0], [0, 1, 0], [0, 0, -1], [0.5 * height]])
    if eye is None:
        size = 0.5 * extent if extent is not None else max(1.6 * half, 0.5)
        eye = look + size / np.tan(0.5 * angle) * np.array([0.55, -0.75, 0.42])
    place = np.array(vector("eye", eye))
    forward = look - place
    length = np.linalg.norm(forward)
    if not length > 0.0 or not np.isfinite(length):
        raise ArgumentError("render: the eye is at the target")
    forward = forward / length
    up = np.array([0.0, 0.0, 1.0]) if abs(forward[2]) < 0.999 else np.array([0.0, 1.0, 0.0])
    right = np.cross(forward, up)
    right /= np.linalg.norm(right)
    return np.concatenate([place, right, np.cross(right, forward), forward, [np.tan(0.5 * angle)]])
