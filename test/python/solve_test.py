# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Solvers on matrices, dense and sparse, against enumeration and closed forms; recordings as arrays."""
import itertools
import os
import subprocess
import unittest

import numpy as np
from support import folder, main, pendulum, perp, scene

try:
    import scipy.sparse as sparse
except ImportError:
    sparse = None
try:
    import pandas
except ImportError:
    pandas = None


def enumerated(A, b):
    """The solution of an LCP with a P-matrix, by all complementary bases."""
    n = len(b)
    for basis in itertools.product((False, True), repeat=n):
        on = np.array(basis)
        z = np.zeros(n)
        if on.any():
            z[on] = np.linalg.solve(A[np.ix_(on, on)], -b[on])
        if (z >= -1e-12).all() and (A @ z + b >= -1e-9).all():
            return z
    return None


class Problems(unittest.TestCase):
    def test_lcp(self):
        random = np.random.default_rng(int(os.environ.get("PERP_SEED", "1")))
        for _ in range(40):
            n = random.integers(1, 7)
            B = random.normal(size=(n, n))
            A, b = B @ B.T + np.eye(n), random.normal(size=n)
            z = enumerated(A, b)
            for matrix in (A, np.asfortranarray(A), A.tolist()) + ((sparse.csr_matrix(A), sparse.coo_matrix(A)) if sparse else ()):
                solution = perp.solve_lcp(matrix, b)
                self.assertTrue(np.allclose(solution.z, z, atol=1e-8))
                self.assertTrue(np.allclose(solution.w, A @ solution.z + b))
                self.assertTrue(solution.certificate.passed)
                self.assertLess(solution.certificate.backward, 1e-8)

    def test_not_symmetric(self):
        """Rows and columns are not exchanged."""
        A, b = np.array([[1.0, 0.0], [2.0, 1.0]]), np.array([-1.0, -1.0])
        expected = [1.0, 0.0]
        self.assertTrue(np.allclose(perp.solve_lcp(A, b).z, expected))
        if sparse:
            self.assertTrue(np.allclose(perp.solve_lcp(sparse.csc_matrix(A), b).z, expected))
        self.assertFalse(np.allclose(perp.solve_lcp(A.T, b).z, expected))

    def test_mcp(self):
        A, b = np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([-10.0, 6.0])
        free = perp.solve_mcp(A, b, -np.inf, np.inf)
        self.assertTrue(np.allclose(A @ free.z, -b))
        boxed = perp.solve_mcp(A, b, [-1, -1], [1, 1])
        self.assertTrue(np.allclose(boxed.z, [1, -1]))
        self.assertLess(boxed.w[0], 0)
        self.assertGreater(boxed.w[1], 0)

    def test_contact(self):
        """A body pressed down and pushed sideways: it sticks within the cone, and slides beyond it."""
        W, mu = np.eye(3), [0.5]
        stick = perp.solve_contact(W, [-1.0, 0.3, 0.0], mu)
        self.assertTrue(np.allclose(stick.u, 0, atol=1e-8))
        self.assertTrue(np.allclose(stick.r, [[1, -0.3, 0]]))
        slide = perp.solve_contact(W, [-1.0, 2.0, 0.0], mu)
        self.assertTrue(np.allclose(slide.r, [[1, -0.5, 0]]))
        self.assertTrue(np.allclose(slide.u, [[0, 1.5, 0]], atol=1e-8))
        self.assertTrue(slide.certificate.passed)
        world = perp.solve_contact(M=np.eye(3), H=np.eye(3), f=np.zeros(3), w=[-1.0, 2.0, 0.0], mu=mu)
        self.assertTrue(np.allclose(world.r, slide.r, atol=1e-7))
        self.assertTrue(np.allclose(world.v, world.r.ravel(), atol=1e-7))
        if sparse:
            thin = perp.solve_contact(sparse.eye(3), [-1.0, 2.0, 0.0], mu)
            self.assertTrue(np.allclose(thin.r, slide.r))
        plane = perp.solve_contact(np.eye(4), [-1.0, 2.0, 1.0, 1.0], [0.5, 0.5])
        self.assertTrue(np.allclose(plane.r, [[1, -0.5], [0, 0]]))

    def test_no_solution(self):
        with self.assertRaises(perp.SolveError) as caught:
            perp.solve_lcp([[0.0]], [-1.0])
        self.assertEqual(caught.exception.status, "infeasible")
        self.assertFalse(caught.exception.certificate.passed)

    def test_names(self):
        self.assertIn("lemke", perp.solvers())
        self.assertEqual(perp.solve_lcp(np.eye(2), [-1, 1], solver="lemke").certificate.solver, "lemke")


class Recordings(unittest.TestCase):
    def test_after_the_run(self):
        """A recording that is asked for after the steps has all of them, with the changes between them."""
        kicked = perp.Sim(pendulum())
        states = [np.array(kicked.q)]
        for k in range(40):
            kicked.u["motor"] = np.sin(k)
            if k == 10:
                kicked.gravity = [0, -5]
            if k == 20:
                kicked["rod"].apply([3, 0, 0])
            kicked.step()
            states.append(np.array(kicked.q))
        with folder() as out:
            recorder = kicked.record(out / "run")
            kicked.step(5)
            states += [np.array(kicked.q)]
            run = recorder.read()
            self.assertEqual(len(run), 46)
            self.assertTrue(np.array_equal(run.q[:41], states[:41]))
            self.assertTrue(np.array_equal(run.q[45], states[41]))
            self.assertTrue(np.allclose(run.input[1:41, 0], np.sin(np.arange(40))))
            passed, items = run.check()
            self.assertTrue(passed, items)
            self.assertTrue(run.passed[1:].all())
            cli = os.environ.get("PERP_CLI")
            if cli:
                subprocess.run([cli, "check", out / "run"], check=True, capture_output=True)

    def test_controller_is_repeated(self):
        calls = []

        def control(sim, h):
            calls.append(1)
            sim.u["motor"] = 3.0 - sim.joint("hip").rate

        sim = perp.Sim(pendulum(), on_control=control)
        sim.step(25)
        with folder() as out:
            run = sim.record(out / "run").read()
            self.assertTrue(np.array_equal(run.q[-1], sim.q))
            self.assertEqual(len(calls), 25)

    def test_after_a_state_was_set(self):
        sim = perp.Sim(scene("box-tips"))
        sim.step(10)
        saved = sim.save()
        sim.step(10)
        sim.restore(saved)
        sim.step(7)
        with folder() as out:
            run = sim.record(out / "run", every=2, csv=False).read()
            self.assertEqual(run.t[0], saved.t)
            self.assertTrue(np.array_equal(run.q[-1], sim.q))
            self.assertFalse((out / "run" / "bodies.csv").exists())

    def test_arrays(self):
        sim = perp.Sim(scene("sensor-arm"))
        with folder() as out:
            with sim.record(out / "run") as recorder:
                for _ in range(30):
                    sim.step()
            self.assertTrue(recorder.closed)
            run = perp.read_run(out / "run")
            frame = run.frame_contacts(-1)
            self.assertEqual(frame.dtype, perp.contact_dtype)
            self.assertTrue(np.array_equal(frame["pn"], sim.contacts["pn"]))
            self.assertEqual(run.position.shape, (31, len(run.bodies), 3))
            self.assertTrue(np.array_equal(run.position[-1, run.body("arm")], sim["arm"].position))
            self.assertTrue(np.array_equal(run.sensor[-1, run.sensors["imu"]], sim.sensor("imu").value))
            self.assertEqual(run.joint[-1, run.joints.index("shoulder"), 0], sim.joint("shoulder").coordinate)
            self.assertTrue(np.allclose(run.energy[-1], sim.energy))
            self.assertEqual(perp.read_run(out / "run" / "run.h5").t[-1], run.t[-1])
            with self.assertRaisesRegex(KeyError, "arm"):
                run.body("leg")
            if pandas:
                table = run.to_pandas()
                self.assertEqual(len(table), 31)
                self.assertEqual(table["arm.x"].iloc[-1], sim["arm"].position[0])
                self.assertEqual(table.index.name, "t")

    def test_replay(self):
        sim = perp.Sim(scene("bouncing-ball"))
        sim.step(100)
        with folder() as out:
            recorder = sim.record(out / "run")
            try:
                shown = recorder.replay(show=False)
            except perp.RecordError as error:
                self.assertIn("viewer", str(error))
                self.skipTest("the viewer was not built")
            page = (out / "run" / "replay.html").read_text()
            self.assertEqual((shown.frames, shown.recorded), (101, 101))
            self.assertIn("<html", page[:2000].lower())
            self.assertNotIn("<!--perp-data-->", page)
            cell = shown._repr_html_()
            self.assertTrue(cell.startswith("<iframe"))
            self.assertIn("srcdoc=", cell)


if __name__ == "__main__":
    main()
