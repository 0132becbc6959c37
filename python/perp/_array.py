# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays in, checked with a sentence that names them; and views of the memory of a sim."""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from . import _perp


def reals(name: str, value: Any, shape: Sequence[int | None]) -> np.ndarray:
    """A contiguous float64 array of a shape; None is any length. Lists, integers and strided arrays are converted;
    complex numbers, texts, objects and NaN are refused."""
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise TypeError(f"{name}: not an array of numbers: {error}") from None
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name}: needs real numbers, not {array.dtype}")
    fits = array.ndim == len(shape) and all(n is None or n == m for n, m in zip(shape, array.shape))
    if not fits:
        wanted = "(" + ", ".join("n" if n is None else str(n) for n in shape) + ("," if len(shape) == 1 else "") + ")"
        raise _perp.ArgumentError(f"{name}: needs the shape {wanted}, not {array.shape}")
    array = np.ascontiguousarray(array, dtype=np.float64)
    if np.isnan(array).any():
        raise _perp.ArgumentError(f"{name}: contains NaN")
    return array


def vector(name: str, value: Any) -> tuple[float, float, float]:
    """Three numbers, or two in the plane."""
    array = np.asarray(value)
    if array.shape == (2,):
        x, y = reals(name, array, (2,))
        return float(x), float(y), 0.0
    x, y, z = reals(name, array, (3,))
    return float(x), float(y), float(z)


class View(np.ndarray):
    """A read-only array of a sim, without a copy. It keeps the values it was made with, and its sim alive; `stale` says
    whether the sim has moved on since. Results of arithmetic are plain arrays."""

    _sim: Any
    _serial: int

    def __array_finalize__(self, other: Any) -> None:
        self._sim = getattr(other, "_sim", None)
        self._serial = getattr(other, "_serial", 0)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        plain = np.asarray(array)
        return plain[()] if plain.ndim == 0 else plain

    @property
    def stale(self) -> bool:
        """The sim has stepped, or its state was set, since this array was made."""
        return self._sim is not None and self._sim._serial != self._serial

    @property
    def sim(self) -> Any:
        """The sim that this array shows; None: a copy."""
        return self._sim

    def copy(self, order: Any = "C") -> np.ndarray:
        """A plain array of its own."""
        return np.array(self, order=order, subok=False)

    def __copy__(self) -> np.ndarray:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> np.ndarray:
        return self.copy()

    def __reduce__(self) -> Any:
        return self.copy().__reduce__()


def view(sim: Any, which: str, dtype: Any) -> View:
    buffer, serial = sim._view(which)
    array = np.frombuffer(buffer, dtype=dtype).view(View)
    array._sim = sim
    array._serial = serial
    return array
