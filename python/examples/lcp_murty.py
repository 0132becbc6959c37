# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""The LCP with which Murty showed that pivoting can take 2^n steps.

K. G. Murty, Computational complexity of complementary pivot methods, Math. Programming Study 7 (1978): A has ones on the
diagonal and twos below it, b is -1 everywhere. A is a P-matrix, so that there is one solution: (1, 0, ..., 0)."""
import numpy as np
import perp


def murty(n):
    return np.tril(np.full((n, n), 2.0), -1) + np.eye(n), -np.ones(n)


for n in (4, 6, 8):
    A, b = murty(n)
    for solver in ("lemke", "pivot"):
        z, w, certificate = perp.solve_lcp(A, b, solver=solver)
        assert np.allclose(z, [1] + [0] * (n - 1)) and certificate.passed
        print(f"n = {n}: {solver} takes {certificate.iterations} pivots")

n = 1000
A, b = murty(n)
z, w, certificate = perp.solve_lcp(A, b)
print(f"n = {n}: auto solves it by {certificate.solver}, backward error {certificate.backward:.0e}")

import scipy.sparse  # the same as a sparse matrix

A, b = murty(100)
same = np.allclose(perp.solve_lcp(scipy.sparse.csr_matrix(A), b).z, perp.solve_lcp(A, b).z)
print("sparse: the same" if same else "sparse: another answer")
assert same
