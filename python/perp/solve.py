# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Complementarity and contact problems given as matrices, dense or scipy.sparse."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _perp
from ._array import reals


class Residuals(NamedTuple):
    """The judgement of a solution, by code that no solver shares."""

    status: str  # solved, or inexact: a looser tolerance than requested
    passed: bool  # all numbers are within the tolerance
    plain: float  # natural map, unscaled (contact: that of FCLIB)
    scaled: float  # natural map, rows in comparable units
    bound: float  # violation of lower <= z <= upper; contact: of the dynamics, in the global form
    backward: float  # backward error: the worst row in its own units
    solver: str
    iterations: int
    seconds: float


class Solution(NamedTuple):
    """z with w = A z + b, complementary to its bounds."""

    z: np.ndarray
    w: np.ndarray
    certificate: Residuals


class ContactSolution(NamedTuple):
    """Reactions r (contacts, dim) [N s] and relative velocities u (contacts, dim) [m/s]; v: velocities of the global
    form, else None."""

    r: np.ndarray
    u: np.ndarray
    v: np.ndarray | None
    certificate: Residuals


def solvers() -> list[str]:
    """Names of the solvers (docs/solvers.md)."""
    return [name for name, _ in _perp.solvers()]


def _is_sparse(value: Any) -> bool:
    return hasattr(value, "tocsc") and hasattr(value, "nnz")


def _matrix(name: str, value: Any, rows: int, cols: int) -> tuple[Any, Any]:
    """What the module takes, and what multiplies."""
    if _is_sparse(value):
        matrix = value.tocsc()
        if matrix.shape != (rows, cols):
            raise _perp.ArgumentError(f"{name}: needs the shape ({rows}, {cols}), not {matrix.shape}")
        if matrix.dtype.kind not in "fiub":
            raise TypeError(f"{name}: needs real numbers, not {matrix.dtype}")
        matrix = matrix.copy()
        matrix.sum_duplicates()
        x = np.ascontiguousarray(matrix.data, np.float64)
        if np.isnan(x).any():
            raise _perp.ArgumentError(f"{name}: contains NaN")
        return (matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), x), matrix
    dense = reals(name, value, (rows, cols))
    return np.ascontiguousarray(dense.T), dense


def _options(tolerance: float, loose: float, max_iterations: int, max_seconds: float, max_work: float) -> tuple:
    return float(tolerance), float(loose), int(max_iterations), float(max_seconds), float(max_work), 1


def _judge(report: tuple, tolerance: float, **attributes: Any) -> Residuals:
    status, word, text, solver, iterations, seconds, judged, (plain, scaled, bound, backward, _) = report
    passed = judged >= 0 and status == 0 and scaled <= tolerance and backward <= tolerance
    certificate = Residuals(word, passed, plain, scaled, bound, backward, solver or "", iterations, seconds)
    if status == -1 or status == -2:
        raise _perp.ArgumentError(text)
    if status < 0:
        error = _perp.SolveError(text)
        error.status = word
        error.certificate = certificate
        for name, value in attributes.items():
            setattr(error, name, value)
        raise error
    return certificate


def solve_mcp(A: Any, b: Any, lower: Any = None, upper: Any = None, *, solver: str = "auto", tolerance: float = 1e-8,
              loose: float = 1e-5, max_iterations: int = 0, max_seconds: float = 0.0,
              max_work: float = 0.0) -> Solution:
    """The mixed complementarity problem w = A z + b, lower <= z <= upper: w >= 0 where z = lower, w <= 0 where z = upper,
    w = 0 between. Bounds: arrays (n,) or numbers, default 0 and infinity. SolveError: no solution was found or exists
    (`status` says which; `z`: best iterate, `ray`: proof or ray)."""
    b = reals("b", b, (None,))
    n = len(b)
    given, A = _matrix("A", A, n, n)
    bounds = []
    for name, bound in (("lower", lower), ("upper", upper)):
        if bound is not None and np.ndim(bound) == 0:
            bound = np.full(n, float(bound))
        bounds.append(None if bound is None else reals(name, bound, (n,)))
    z, ray = np.zeros(n), np.zeros(n)
    report = _perp.solve_mcp(solver, given, b, bounds[0], bounds[1],
                             _options(tolerance, loose, max_iterations, max_seconds, max_work), z, ray)
    certificate = _judge(report, tolerance, z=z, ray=ray)
    return Solution(z, A @ z + b, certificate)


def solve_lcp(A: Any, b: Any, **options: Any) -> Solution:
    """The linear complementarity problem 0 <= z, w = A z + b >= 0, z w = 0. Options as for solve_mcp."""
    return solve_mcp(A, b, None, None, **options)


def solve_contact(W: Any = None, q: Any = None, mu: Any = None, *, M: Any = None, H: Any = None, f: Any = None,
                  w: Any = None, mu_spin: Any = None, mu_roll: Any = None, facets: Any = None, solver: str = "auto",
                  tolerance: float = 1e-8, loose: float = 1e-5, max_iterations: int = 0, max_seconds: float = 0.0,
                  max_work: float = 0.0) -> ContactSolution:
    """Contact with Coulomb friction: u = W r + q (local), or M v = f + H r, u = H^T v + w (global). mu: a coefficient a
    contact. Each contact has dim components: normal first, then tangents (2 in the plane, 3 in space; 4 to 6 with
    mu_spin, mu_roll). facets: directions of friction polygons, 0: exact cone."""
    mu = np.atleast_1d(np.asarray(mu, dtype=np.float64)) if mu is not None else None
    if mu is None:
        raise _perp.ArgumentError("mu: needs a coefficient of friction for each contact")
    mu = reals("mu", mu, (None,))
    local = W is not None
    if local == (M is not None) or (q is not None) != local:
        raise _perp.ArgumentError("needs either W and q, or M, H, f and w")
    offset = reals("q" if local else "w", q if local else w, (None,))
    nc = len(mu)
    dim = len(offset) // nc if nc else 3
    if dim * nc != len(offset) or not 2 <= dim <= 6:
        raise _perp.ArgumentError(f"{len(offset)} components do not make {nc} contacts of 2 to 6 components")
    other = [None if x is None else reals(name, np.broadcast_to(x, (nc,)), (nc,))
             for name, x in (("mu_spin", mu_spin), ("mu_roll", mu_roll))]
    polygons = None if facets is None else np.ascontiguousarray(np.broadcast_to(facets, (nc,)), np.int32)
    nv = 0
    if not local:
        f = reals("f", f, (None,))
        nv = len(f)
    W_given, W_used = _matrix("W", W, nc * dim, nc * dim) if local else (None, None)
    M_given, _ = _matrix("M", M, nv, nv) if not local else (None, None)
    H_given, H_used = _matrix("H", H, nv, nc * dim) if not local else (None, None)
    r, v = np.zeros(nc * dim), None if local else np.zeros(nv)
    report = _perp.solve_contact(
        solver, nc, dim, nv, (W_given, M_given, H_given),
        (mu, other[0], other[1], polygons, offset if local else None, f if not local else None,
         None if local else offset, r, v), _options(tolerance, loose, max_iterations, max_seconds, max_work))
    certificate = _judge(report, tolerance, z=r)
    u = W_used @ r + offset if local else H_used.T @ v + offset
    return ContactSolution(r.reshape(nc, dim), u.reshape(nc, dim), v, certificate)
