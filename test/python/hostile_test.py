# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Bad input: every mistake is an exception that says what is wrong, and the sim is as it was before."""
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy as np
from perp import _perp
from support import SANITIZED, SCENES, folder, main, pendulum, perp, scene


class Arrays(unittest.TestCase):
    def setUp(self):
        self.sim = perp.Sim(scene("quadruped-stands"))
        self.sim.step(2)

    def refused(self, kind, pattern, call, *args, **named):
        before = self.sim.hash
        with self.assertRaisesRegex(kind, pattern):
            call(*args, **named)
        self.assertEqual(self.sim.hash, before, "a refused call changed the state")

    def test_states(self):
        q, v = np.array(self.sim.q), np.array(self.sim.v)
        set_state = self.sim.set_state
        self.refused(perp.ArgumentError, r"q: needs the shape \(63,\), not \(62,\)", set_state, q[:-1], v)
        self.refused(perp.ArgumentError, "shape", set_state, q.reshape(9, 7), v)
        self.refused(perp.ArgumentError, "v: needs the shape", set_state, q, 3.0)
        self.refused(TypeError, "q: needs real numbers, not complex128", set_state, q.astype(complex), v)
        self.refused(TypeError, "q: needs real numbers", set_state, ["a"] * len(q), v)
        self.refused(TypeError, "q: ", set_state, [None] * len(q), v)
        self.refused(TypeError, "q: ", set_state, [[1, 2], [3]], v)
        self.refused(perp.ArgumentError, "q: contains NaN", set_state, np.where(q > 0, np.nan, q), v)
        self.refused(perp.ArgumentError, "not finite", set_state, np.full(len(q), np.inf), v)
        self.refused(perp.ArgumentError, "quaternion", set_state, q * 1.5, v)
        self.refused(perp.ArgumentError, "finite", set_state, q, v, float("inf"))

    def test_other_layouts_are_converted(self):
        q, v = np.array(self.sim.q), np.array(self.sim.v)
        wide = np.zeros((len(q), 3))
        wide[:, 1] = q
        swapped = v.astype(">f8")
        self.sim.set_state(wide[:, 1], swapped)
        self.assertTrue(np.array_equal(self.sim.q, q))
        self.assertTrue(np.array_equal(self.sim.v, v))

    def test_module_checks_for_itself(self):
        """The functions below the package refuse the same, whatever calls them."""
        q, v = np.array(self.sim.q), np.array(self.sim.v)
        wide = np.zeros((len(q), 2))
        for bad in (q.astype(np.float32), wide[:, 0], q[:-1], q.astype(np.int64), b"12345678", "text", 3, None, q.astype(">f8")):
            with self.assertRaises((ValueError, TypeError)):
                self.sim._set_state(False, 0.0, bad, v)
        frozen = np.zeros(3)
        frozen.flags.writeable = False
        with self.assertRaises(ValueError):
            self.sim._sensor(0, frozen)
        for bad in ((99, 0, 0, ()), (1, 0, 0, ()), (0, 0, 0, (1.0,)), (1, 0, 0, ("x",)), (1, 0, 0, [1.0])):
            with self.assertRaises((ValueError, TypeError)):
                self.sim._act(*bad)
        for bad in (-1, 10 ** 6):
            with self.assertRaises(perp.ArgumentError):
                self.sim._act(1, bad, 0, (1.0,))
        self.assertEqual(self.sim._body(10 ** 6, "pose"), ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)))

    def test_nested_arguments(self):
        """Items of a sequence that is no tuple may be gone when they are used: tuples are asked for."""
        options = (1e-8, 1e-5, 0, 0.0, 0.0, 1)
        for bad in (np.zeros(3), "abc", [1, 2, 3], range(3)):
            with self.assertRaises(TypeError):
                _perp.solve_contact("auto", 1, 3, 0, bad, (np.ones(1),) + (None,) * 6 + (np.zeros(3), None), options)
            with self.assertRaises(TypeError):
                _perp.solve_contact("auto", 1, 3, 0, (np.eye(3), None, None), bad, options)
        pool = _perp.Pool(pendulum()._compiled(), 0.002, {}, 1, 1, False)
        with self.assertRaises(TypeError):
            pool.run(True, 1, 1, 1, 1, 1, 1, 1, None, np.zeros(9))
        for bad in ([1], [[1, 2]], [np.zeros(2)]):
            with self.assertRaises(TypeError):
                _perp.parse("a", "{}", bad, [], 64.0, False)
            with self.assertRaises(TypeError):
                _perp.generate("arch", bad)

    def test_inputs(self):
        self.refused(perp.ArgumentError, "u: needs the shape", setattr, self.sim, "u", [1, 2, 3])
        self.refused(perp.ArgumentError, "inputs:", self.sim.u.__setitem__, slice(None), [1, 2, 3])
        self.refused(perp.ArgumentError, "needs one number", self.sim.u.__setitem__, "crouch", [1, 2])
        self.refused((TypeError, ValueError), "", self.sim.u.__setitem__, "crouch", "much")
        self.refused(IndexError, "input 7", self.sim.u.__setitem__, 7, 1)
        self.refused(perp.ArgumentError, "not finite", self.sim.u.__setitem__, 0, float("inf"))

    def test_forces(self):
        trunk = self.sim["trunk"]
        self.refused(perp.ArgumentError, "force: contains NaN", trunk.apply, [np.nan, 0, 0])
        self.refused(perp.ArgumentError, "force: needs the shape", trunk.apply, [1, 2, 3, 4])
        trunk.apply([np.inf, 0, 0])
        with self.assertRaisesRegex(perp.Error, "finite"):
            self.sim.step()
        self.sim.reset()
        self.refused(perp.ArgumentError, "", self.sim.shape("floor").set_friction, -1)
        self.refused(perp.ArgumentError, "", trunk.move, [1, 0, 0])
        self.refused(perp.ArgumentError, "gravity", setattr, self.sim, "gravity", [np.nan, 0, 0])

    def test_solvers(self):
        A, b = np.eye(3), -np.ones(3)
        for kind, pattern, args in (
                (perp.ArgumentError, "A: needs the shape", (np.eye(4), b)),
                (perp.ArgumentError, "b: needs the shape", (A, [[1, 2, 3]])),
                (perp.ArgumentError, "A: contains NaN", (A * np.nan, b)),
                (TypeError, "A: needs real numbers", (A * 1j, b)),
                (perp.ArgumentError, "", (A, b * np.inf))):
            with self.assertRaisesRegex(kind, pattern):
                perp.solve_lcp(*args)
        with self.assertRaises(perp.Error):
            perp.solve_lcp(A, b, solver="nothing")
        with self.assertRaisesRegex(perp.Error, "lower|bound"):
            perp.solve_mcp(A, b, np.ones(3), np.zeros(3))
        with self.assertRaisesRegex(perp.SolveError, "") as caught:
            perp.solve_lcp(-np.eye(2), -np.ones(2))
        self.assertEqual(caught.exception.z.shape, (2,))
        self.assertIn(caught.exception.status, ("infeasible", "ray"))
        with self.assertRaises(ValueError):
            _perp.solve_mcp("auto", (np.array([0, 9, 9, 9], np.int32), np.zeros(2, np.int32), np.zeros(2)), b, None, None,
                            (1e-8, 1e-5, 0, 0.0, 0.0, 1), np.zeros(3), np.zeros(3))
        with self.assertRaises(perp.ArgumentError):
            perp.solve_contact(np.eye(6), np.ones(5), [0.5, 0.5])
        with self.assertRaises(perp.ArgumentError):
            perp.solve_contact(np.eye(6), np.ones(6), None)
        with self.assertRaises(perp.Error):
            perp.solve_contact(np.eye(6), np.ones(6), [-0.5, 0.5])

    def test_rollouts(self):
        model = pendulum()
        good = np.zeros((4, 10, 1))
        for kind, named in (
                (perp.ArgumentError, {"inputs": np.zeros((4, 10, 2))}),
                (perp.ArgumentError, {"inputs": good * np.nan}),
                (perp.ArgumentError, {"inputs": good + np.inf}),
                (perp.ArgumentError, {"inputs": good, "states": np.zeros((3, 6))}),
                (perp.ArgumentError, {"inputs": good, "states": np.zeros((4, 7))}),
                (perp.ArgumentError, {"inputs": good, "steps": 11}),
                (perp.ArgumentError, {"steps": -1}),
                (perp.ArgumentError, {}),
                (perp.ArgumentError, {"inputs": good, "every": 0}),
                (perp.ArgumentError, {"inputs": good, "step": -0.1}),
                (TypeError, {"inputs": good.astype(complex)}),
                (TypeError, {"inputs": good, "out": ([], [])}),
                (perp.ArgumentError, {"inputs": good, "out": (np.zeros((4, 11, 4)), np.zeros((4, 11, 3)))}),
                (perp.ArgumentError, {"inputs": good, "out": (np.zeros((4, 11, 6))[:, :, ::2], np.zeros((4, 11, 3)))}),
                (perp.ArgumentError, {"inputs": good, "threads": -1}),
                (ValueError, {"inputs": good, "stepper": "nothing"}),
                (TypeError, {"inputs": good, "colour": "red"})):
            with self.assertRaises(kind, msg=str(named.keys())):
                perp.rollout(model, **named)
        with self.assertRaises(TypeError):
            perp.rollout("model", steps=3)

    def test_pictures(self):
        for named in ({"width": 0}, {"height": -5}, {"width": 10 ** 6}, {"eye": [np.nan, 0, 0]}, {"angle": 7},
                      {"eye": [0, 0, 0], "target": [0, 0, 0]}):
            with self.assertRaises((ValueError, ZeroDivisionError), msg=str(named)):
                self.sim.render(**named)


class Objects(unittest.TestCase):
    def test_settings(self):
        model = pendulum()
        for kind, named in ((ValueError, {"stepper": "euler"}), (TypeError, {"stepper": 3}),
                            (TypeError, {"tolerence": 1e-9}), (ValueError, {"tolerance": float("nan")}),
                            (ValueError, {"keyframe": "none"}), (ValueError, {"facets": -1}),
                            (ValueError, {"limits": {"gab": 1}}), (TypeError, {"limits": 3}),
                            (ValueError, {"step": 0}), (ValueError, {"step": float("nan")}), (TypeError, {"step": "1"}),
                            (perp.Error, {"tolerance": -1.0}), (perp.Error, {"solver": "nothing"}),
                            (TypeError, {"on_control": 3}), (OverflowError, {"facets": 10 ** 30})):
            with self.assertRaises(kind, msg=str(named)):
                perp.Sim(model, **named)
        with self.assertRaisesRegex(TypeError, "perp.load"):
            perp.Sim("scene.json")

    def test_steps(self):
        sim = perp.Sim(pendulum())
        for args, named in (((-1,), {}), ((1.5,), {}), ((1, 2), {}), ((), {"h": -1.0}), ((), {"h": float("nan")}),
                            ((), {"hh": 1}), ((10 ** 30,), {})):
            with self.assertRaises((ValueError, TypeError, OverflowError, perp.Error), msg=str((args, named))):
                sim.step(*args, **named)
        self.assertEqual(sim.t, 0.0)

    def test_unfinished_objects(self):
        raw = perp.Sim.__new__(perp.Sim)
        for call in (raw.step, raw._save, lambda: raw.t, lambda: raw.hash, raw._info, lambda: raw._view("q")):
            with self.assertRaises(perp.Error):
                call()
        with self.assertRaises(TypeError):
            _perp.Scene()
        with self.assertRaises(TypeError):
            _perp.Buffer()
        sim = perp.Sim(pendulum())
        with self.assertRaises(RuntimeError):
            sim.__init__(pendulum())

    def test_deleted_models(self):
        model = pendulum()
        sim, pool = perp.Sim(model), perp.Pool(model, threads=2)
        hip, view = sim.joint("hip"), sim.q
        del model
        gc.collect()
        sim.step(3)
        self.assertEqual(pool.rollout(steps=3).status.tolist(), [0])
        del sim
        gc.collect()
        self.assertEqual(hip.name, "hip")
        self.assertTrue(view.stale)

    def test_states_of_others(self):
        sim, other = perp.Sim(pendulum()), perp.Sim(scene("bouncing-ball"))
        for state in (other.save(), perp.State(b"", 0.0), perp.State(b"x" * 1000, 0.0)):
            with self.assertRaises(perp.Error):
                sim.restore(state)
        block = bytearray(sim.save().block)
        for k in range(0, len(block), 7):
            block[k] ^= 0x55
        with self.assertRaises(perp.Error):
            sim.restore(perp.State(bytes(block), 0.0))
        with self.assertRaises(TypeError):
            sim.restore(b"bytes")
        result = perp.rollout(pendulum(), [other.save(), other.save()], steps=2, threads=2)
        self.assertTrue((result.status < 0).all())
        self.assertTrue(np.isnan(result.q).all())
        self.assertEqual(set(result.errors), {0, 1})

    def test_files(self):
        with folder() as out:
            (out / "notes.txt").write_text("mine")
            sim = perp.Sim(pendulum())
            with self.assertRaises(perp.RecordError):
                sim.record(out)
            self.assertEqual((out / "notes.txt").read_text(), "mine")
            with self.assertRaises(perp.RecordError):
                perp.read_run(out)
            (out / "run.h5").write_bytes(b"no HDF5 at all")
            with self.assertRaises(perp.RecordError):
                perp.read_run(out)
            for name, text in (("empty.json", ""), ("bytes.json", "\0\1\2"), ("list.json", "[]"), ("cut.xml", "<mujoco><wor"),
                               ("deep.json", "[" * 100000)):
                (out / name).write_text(text)
                with self.assertRaises(perp.SceneError, msg=name):
                    perp.load(out / name)
            with self.assertRaises(perp.SceneError):
                perp.load(out)
            with self.assertRaises((perp.SceneError, ValueError)):
                perp.load("a\0b")
            recorder = sim.record(out / "new")
            with self.assertRaises(perp.Error):
                sim.record(out / "other")
            with self.assertRaises(perp.Error):
                sim.reset()
            recorder.close()
            recorder.close()
            with self.assertRaises((perp.Error, TypeError, ValueError)):
                sim.record(out / "third", every=0)

    def test_pickles_of_others(self):
        data = pickle.dumps(scene("bouncing-ball"))
        with self.assertRaises(perp.SceneError):
            pickle.loads(data.replace(b'"mass"', b'"mess"'))


class Callbacks(unittest.TestCase):
    def test_exception(self):
        calls = []

        def control(sim, h):
            calls.append(sim.t)
            sim.u["motor"] = 5.0
            if len(calls) == 3:
                raise ZeroDivisionError("mine")

        sim = perp.Sim(pendulum(), on_control=control)
        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            sim.step(10)
        self.assertEqual((len(calls), round(sim.t / sim.h)), (3, 2))
        sim.step(1)
        self.assertEqual(round(sim.t / sim.h), 3)

    def test_exception_takes_the_step_back(self):
        def control(sim, h):
            sim.u["motor"] = 9.0
            raise KeyError("x")

        sim = perp.Sim(pendulum(), on_control=control)
        before = sim.save()
        with self.assertRaises(KeyError):
            sim.step()
        self.assertEqual(sim.save(), before)

    def test_forbidden_in_a_callback(self):
        caught = []

        def control(sim, h):
            for call in (sim.step, sim.reset, sim.save, lambda: sim.set_state(sim.q, sim.v), lambda: sim.record("x")):
                try:
                    call()
                except perp.BusyError as error:
                    caught.append(str(error))
            sim.render(16, 12)

        sim = perp.Sim(pendulum(), on_control=control)
        sim.step()
        self.assertEqual(len(caught), 5)
        self.assertIn("controller", caught[0])

    def test_cycle_is_collected(self):
        gone = []

        class Mark:
            def __del__(self):
                gone.append(1)

        def make():
            mark = Mark()
            sim = None

            def control(sim_, h):
                return mark, sim

            sim = perp.Sim(pendulum(), on_control=control)
            sim.step()

        make()
        gc.collect()
        self.assertEqual(gone, [1])


class Threads(unittest.TestCase):
    def slow(self):
        # what rests is not computed again: a pile that falls
        return perp.Sim(perp.generate("pile3", bodies=20, cubes=1)) if not SANITIZED else perp.Sim(scene("dominoes"))

    def test_two_threads_on_one_sim(self):
        sim = self.slow()
        errors, steps = [], []

        def work():
            for _ in range(30):
                try:
                    sim.step()
                    sim.q, sim.contacts, sim.certificate
                    steps.append(1)
                except perp.BusyError as error:
                    errors.append(str(error))
                except Exception as error:  # anything else is a failure
                    errors.append(repr(error))
                    raise

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTrue(all("another thread" in text for text in errors), errors[:3])
        self.assertGreaterEqual(round(sim.t / sim.h), len(steps))
        sim.step()

    def test_the_lock_is_released(self):
        """While one thread steps, another one runs."""
        sim = self.slow()
        done = threading.Event()
        count = 0

        def work():
            sim.step(30 if SANITIZED else 400)
            done.set()

        thread = threading.Thread(target=work)
        thread.start()
        while not done.is_set():
            count += 1
            time.sleep(0)
        thread.join()
        self.assertGreater(count, 5)

    def test_many_sims_in_threads(self):
        model = scene("box-tips")
        hashes = []

        def work():
            sim = perp.Sim(model)
            sim.step(50)
            hashes.append(sim.hash)

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(set(hashes)), 1)

    def test_fork_after_threads(self):
        """A child made by fork steps sims of its own and of its parent, also with threads."""
        sim = perp.Sim(perp.generate("wall3", rows=3, columns=3), threads=2)
        sim.step(2)
        pool = perp.Pool(pendulum(), threads=2)
        expected = pool.rollout(steps=5, inputs=np.ones((3, 5, 1))).q
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                sim.step(2)
                same = np.array_equal(pool.rollout(steps=5, inputs=np.ones((3, 5, 1))).q, expected)
                os.write(write, f"{sim.hash} {same}".encode())
                code = 0
            finally:
                os._exit(code)
        deadline = time.time() + 60
        while os.waitpid(child, os.WNOHANG)[0] == 0:
            if time.time() > deadline:
                os.kill(child, signal.SIGKILL)
                self.fail("the child hangs")
            time.sleep(0.01)
        sim.step(2)
        self.assertEqual(os.read(read, 100).decode(), f"{sim.hash} True")
        os.close(read)
        os.close(write)

    def test_fork_while_stepping(self):
        """The sim that another thread was using in the parent is refused in the child."""
        sim = self.slow()
        stop = threading.Event()

        def work():
            while not stop.is_set():
                sim.step()

        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(0.01)
        codes = []
        for _ in range(5):
            child = os.fork()
            if child == 0:
                try:
                    sim.step()
                    os._exit(0)
                except perp.BusyError as error:
                    os._exit(0 if "fork" in str(error) else 3)
                except BaseException:
                    os._exit(4)
            codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        stop.set()
        thread.join()
        self.assertEqual(codes, [0] * 5)

    def test_interrupt(self):
        """Ctrl-C ends a long call, and the sim can be used afterwards."""
        code = (f"import perp, os, signal, threading, time\nsim = perp.Sim(perp.load(r'{SCENES / 'heavy-stack.json'}'))\n"
                "threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
                "start = time.time()\n"
                "try:\n    sim.step(10**9)\nexcept KeyboardInterrupt:\n    print('stopped', time.time() - start < 20)\n"
                "sim.step()\nprint(sim.certificate.passed)\n"
                "threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
                "try:\n    perp.rollout(sim.model, steps=10**7, every=10**7, threads=2)\nexcept KeyboardInterrupt:\n    print('stopped')\n"
                "import tempfile\nfolder = tempfile.TemporaryDirectory()\nsim.step(4000)\n"
                "threading.Timer(0.02, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
                "try:\n    sim.record(folder.name + '/run')\nexcept KeyboardInterrupt:\n    print('stopped')\nsim.step()\n")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.stdout.split(), ["stopped", "True", "True", "stopped", "stopped"], done.stderr)


if __name__ == "__main__":
    main()
