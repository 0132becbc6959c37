# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Models and sims: what scenes give, views, inputs, changes, states, copies and pickles."""
import copy
import gc
import json
import os
import pickle
import subprocess
import unittest

import numpy as np
from support import SCENES, folder, main, pendulum, perp, scene

ARM_MJCF = """<mujoco model="arm"><option timestep="0.002"/><worldbody>
<body name="link" pos="0 0 1"><joint name="hinge" type="hinge" axis="0 1 0"/>
<geom type="capsule" size="0.02" fromto="0 0 0 0.4 0 0" mass="1"/></body></worldbody>
<actuator><motor name="hinge motor" joint="hinge"/></actuator></mujoco>"""
ARM_URDF = """<robot name="arm"><link name="base"/><link name="link"><inertial><mass value="1"/><origin xyz="0.2 0 0"/>
<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="link"/><axis xyz="0 1 0"/></joint></robot>"""


class Loading(unittest.TestCase):
    def test_matches_the_command(self):
        """A run in Python ends in the bits of `perp run`."""
        cli = os.environ.get("PERP_CLI")
        if not cli:
            self.skipTest("the command was not built")
        for name in ("bouncing-ball", "quadruped-stands", "arm-pushes"):
            with folder() as out:
                path = SCENES / f"{name}.json"
                subprocess.run([cli, "run", path, "-o", out / "run", "--until", "0.1", "--no-figures", "--no-replay", "-q"],
                               check=True)
                sim = perp.Sim(perp.load(path))
                while sim.t < 0.1 - 1e-9:
                    sim.step()
                summary = json.loads((out / "run" / "summary.json").read_text())
                self.assertEqual(f"{sim.hash:016x}", summary["hash"], name)

    def test_robots(self):
        with folder() as out:
            for name, text in (("arm.xml", ARM_MJCF), ("arm.urdf", ARM_URDF)):
                (out / name).write_text(text)
                model = perp.load(out / name)
                self.assertIn("hinge", model.joints)
                sim = perp.Sim(model, 0.002)
                sim.step(50)
                # a rod of length 0.4 that falls from the horizontal: omega' = m g l / I at first
                self.assertGreater(abs(sim.joint("hinge").rate), 1.0)
                self.assertTrue(sim.certificate.passed)

    def test_parameters(self):
        model = perp.load(SCENES / "quadruped-stands.json", set={"leg": "250 mm", "foot": 0.03})
        self.assertAlmostEqual(model.parameters["leg"], 0.25)
        self.assertAlmostEqual(model.parameters["foot"], 0.03)

    def test_errors_have_the_text_of_the_command(self):
        bad = '{\n "bodies": [{"name": "a", "mas": 1}]\n}\n'
        with folder() as out:
            path = out / "bad.json"
            path.write_text(bad)
            with self.assertRaises(perp.SceneError) as caught:
                perp.load(path)
            error = caught.exception
            self.assertEqual((error.file, error.line), (str(path), 2))
            self.assertGreater(error.column, 1)
            self.assertIsInstance(error, ValueError)
            self.assertEqual(error.status, "error")
            self.assertIn("did you mean 'mass'?", str(error))
            self.assertEqual(str(pickle.loads(pickle.dumps(error))), str(error))
            cli = os.environ.get("PERP_CLI")
            if cli:
                said = subprocess.run([cli, "run", path], capture_output=True, text=True, check=False)
                self.assertEqual(said.stderr.strip(), str(error))

    def test_generated(self):
        sim = perp.Sim(perp.generate("arch", blocks=7))
        sim.step(3)
        self.assertTrue(sim.certificate.passed)
        with self.assertRaises(perp.Error):
            perp.generate("nothing")


class Views(unittest.TestCase):
    def setUp(self):
        self.sim = perp.Sim(scene("bouncing-ball"))

    def test_values_and_staleness(self):
        q = self.sim.q
        self.assertEqual((q.shape, q.dtype), ((3,), np.float64))
        self.assertFalse(q.stale)
        before = q.copy()
        self.sim.step()
        self.assertTrue(q.stale)
        self.assertTrue(q[1:].stale)
        self.assertFalse(self.sim.q.stale)
        self.assertTrue(np.array_equal(q, before), "an old view shows other values")
        self.assertFalse(np.array_equal(q, self.sim.q))
        self.assertIs(type(q + 1), np.ndarray)
        self.assertIs(type(q.copy()), np.ndarray)

    def test_history_in_a_list(self):
        """The views of all steps, kept, are the run."""
        kept = []
        for _ in range(20):
            self.sim.step()
            kept.append(self.sim.q)
        heights = [q[1] for q in kept]
        self.assertEqual(len(set(heights)), 20)

    def test_no_copy(self):
        """Two views of one state share their memory; views that are gone leave theirs to the next state."""
        self.assertTrue(np.shares_memory(self.sim.q, self.sim.q))
        address = self.sim.q.__array_interface__["data"][0]
        self.sim.step()
        self.assertEqual(self.sim.q.__array_interface__["data"][0], address)

    def test_owner_stays(self):
        q, contacts = self.sim.q, self.sim.contacts
        sim = self.sim
        del self.sim, sim
        gc.collect()
        self.assertEqual(q.sim.t, 0.0)
        self.assertEqual(q[1], 1.1)
        self.assertEqual(len(contacts), 0)

    def test_read_only(self):
        with self.assertRaises(ValueError):
            self.sim.q[0] = 1
        with self.assertRaises(ValueError):
            self.sim.q.flags.writeable = True

    def test_contacts(self):
        sim = perp.Sim(scene("box-slides"))
        sim.step(5)
        contacts = sim.contacts
        self.assertEqual(contacts.dtype, perp.contact_dtype)
        self.assertGreater(len(contacts), 0)
        weight = sum(sim.model.mass(b) for b in sim.model.bodies) * 9.81 * sim.h
        self.assertAlmostEqual(contacts["pn"].sum() / weight, 1.0, places=6)
        self.assertTrue(np.allclose(sim.contact_forces[:, :3].sum(axis=0)[1], weight / sim.h))
        friction = np.linalg.norm(contacts["pf"], axis=1)
        self.assertTrue((friction <= contacts["mu"] * contacts["pn"] * (1 + 1e-9)).all())
        names = {sim.model.shapes[i] for i in contacts["a"]} | {sim.model.shapes[i] for i in contacts["b"]}
        self.assertEqual(len(names), 2)
        self.assertTrue(np.array_equal(pickle.loads(pickle.dumps(contacts))["pn"], contacts["pn"]))


class Acting(unittest.TestCase):
    def test_inputs(self):
        sim = perp.Sim(pendulum())
        sim.u["motor"] = 0.3
        self.assertEqual((sim.u["motor"], sim.u[0], len(sim.u)), (0.3, 0.3, 1))
        sim.u[:] = [0.5]
        self.assertEqual(np.asarray(sim.u).tolist(), [0.5])
        sim.u = np.array([0.7])
        self.assertEqual(sim.u["motor"], 0.7)
        sim.step()
        self.assertAlmostEqual(sim.actuator("motor").effort, 0.7)
        with self.assertRaisesRegex(KeyError, "did you mean 'motor'"):
            sim.u["moto"] = 1
        with self.assertRaisesRegex(perp.ArgumentError, "not finite"):
            sim.u["motor"] = float("nan")
        self.assertEqual(sim.u["motor"], 0.7)

    def test_parts_by_name(self):
        sim = perp.Sim(scene("sensor-arm"))
        sim.step(10)
        self.assertAlmostEqual(sim["arm"].pose.matrix[3, 3], 1.0)
        self.assertTrue(np.allclose(sim["arm"].pose.rotation @ sim["arm"].pose.rotation.T, np.eye(3)))
        self.assertAlmostEqual(sim["shoulder"].coordinate, sim.sensor("angle").value[0])
        self.assertEqual(sim.sensor("wrist force").unit, "N")
        self.assertTrue(np.allclose(sim["pad"].pose.position, sim.sensor("tip").value))
        with self.assertRaisesRegex(KeyError, "'tip'|no body"):
            sim["nothing"]

    def test_changes(self):
        """Gravity, friction, wrenches and motions have the effect that they have in C."""
        sim = perp.Sim(scene("bouncing-ball"), 0.001)
        sim.gravity = [0, 0, 0]
        sim["ball"].apply([2, 0, 0])
        sim.step()
        self.assertAlmostEqual(sim["ball"].velocity[0], 0.002)
        self.assertAlmostEqual(sim["ball"].velocity[1], 0.0)
        sim["ball"].apply([0, 1], at=[0.1, sim["ball"].position[1]])
        sim.step()
        self.assertGreater(sim["ball"].omega[2], 0)
        slope = perp.Sim(scene("incline-sticks"))
        slope.step(10)
        held = np.linalg.norm(slope.v)
        for name in slope.model.shapes:
            slope.shape(name).set_friction(0.01)
        slope.step(50)
        self.assertGreater(np.linalg.norm(slope.v), held + 0.05)

    def test_actuator_law(self):
        """Gains and limits are read as they act, also after they were set."""
        sim = perp.Sim(scene("quadruped-stands"))
        servo = sim.actuator("leg0_hip servo")
        self.assertEqual((servo.gains, servo.limits, servo.gear), ((300.0, (0.0, -300.0, -6.0)), (-25.0, 25.0), 1.0))
        gain, bias = servo.gains
        servo.set_gains(2 * gain, [bias[0], 2 * bias[1], bias[2]])
        servo.set_limits(-1, 2)
        self.assertEqual((servo.gains, servo.limits), ((600.0, (0.0, -600.0, -6.0)), (-1.0, 2.0)))
        sim.step()
        self.assertTrue(servo.limited or -1 <= servo.effort <= 2)

    def test_target(self):
        """A joint with a target goes where it is set."""
        sim = perp.Sim(pendulum(target="0"))
        sim.joint("hip").set_target(0.0, 2.0)
        sim.step(100)
        self.assertAlmostEqual(sim.joint("hip").coordinate, 2.0 * sim.t, places=6)

    def test_controller(self):
        """A PD law called at the start of each step holds the rod up."""
        def hold(sim, h):
            hip = sim.joint("hip")
            sim.u["motor"] = -200 * (hip.coordinate - 1.0) - 20 * hip.rate

        sim = perp.Sim(pendulum(), on_control=hold)
        sim.step(2000)
        self.assertAlmostEqual(sim.joint("hip").coordinate, 1.0, delta=0.05)

    def test_jacobian_and_queries(self):
        sim = perp.Sim(scene("sensor-arm"))
        sim.step(20)
        J = sim["probe"].jacobian([0, 0, 0])
        self.assertEqual(J.shape, (6, sim.nv))
        self.assertTrue(np.allclose(J @ sim.v, np.concatenate([sim["probe"].velocity, sim["probe"].omega])))
        hit = sim.ray([0.3, 0, 5], [0, 0, -1])
        self.assertEqual(hit.shape.split(".")[0], "arm")
        self.assertEqual(sim.ray([50, 50, 5], [0, 0, 1]).shape, "")
        d, a, b, n = sim.distance("probe.tip", "table")
        self.assertTrue(np.allclose(b, a + d * n))
        force = sim.inverse_dynamics(np.zeros(sim.nv))
        self.assertEqual(force.shape, (sim.nv,))

    def test_events(self):
        sim = perp.Sim(scene("bouncing-ball"), 0.5, stepper="event")
        sim.step()
        self.assertEqual([e.kind for e in sim.events], ["impact"])
        self.assertAlmostEqual(sim.events[0].t, np.sqrt(2 / 9.81), places=8)


class States(unittest.TestCase):
    def test_save_restore(self):
        sim = perp.Sim(scene("box-tips"))
        sim.step(20)
        saved = sim.save()
        sim.step(30)
        end = sim.hash
        sim.restore(saved)
        self.assertEqual(sim.t, saved.t)
        sim.step(30)
        self.assertEqual(sim.hash, end)
        again = pickle.loads(pickle.dumps(saved))
        self.assertEqual((again, hash(again), again.digest), (saved, hash(saved), saved.digest))

    def test_copies(self):
        sim = perp.Sim(scene("box-tips"), 0.004)
        sim.step(7)
        others = [sim.copy(), copy.copy(sim), copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))]
        sim.step(9)
        for other in others:
            other.step(9)
            self.assertEqual((other.hash, other.h), (sim.hash, 0.004))

    def test_model_pickle(self):
        for model in (scene("mesh-ramp"), pendulum(), scene("quadruped-stands")):
            other = pickle.loads(pickle.dumps(model))
            self.assertEqual(other.text, model.text)
            a, b = perp.Sim(model), perp.Sim(other)
            a.step(5)
            b.step(5)
            self.assertEqual(a.hash, b.hash)
            b.restore(a.save())

    def test_set_state(self):
        sim = perp.Sim(pendulum())
        sim.q = [0.5, 0, np.pi / 2]
        sim.v = np.zeros(3, np.float32)
        self.assertAlmostEqual(sim.joint("hip").coordinate, np.pi / 2)
        sim.set_state([0.25], [1.0], 3.0, tree=True)
        self.assertEqual((sim.t, sim.tree_q[0], sim.tree_v[0]), (3.0, 0.25, 1.0))
        sim.reset()
        self.assertEqual(sim.t, 0.0)
        self.assertEqual(sim.joint("hip").coordinate, 0.0)

    def test_hash_differs(self):
        a, b = perp.Sim(pendulum()), perp.Sim(pendulum())
        self.assertEqual(a.hash, b.hash)
        b.u["motor"] = 1
        a.step()
        b.step()
        self.assertNotEqual(a.hash, b.hash)


class Building(unittest.TestCase):
    def test_same_as_the_scene(self):
        """A model that is built has the motion of the same scene file."""
        model = perp.Model("bouncing-ball", step=0.0005, until=2)
        model.add_shape("halfplane", "floor", mu=0)
        ball = model.add_body("ball", position=np.array([0, 1.1]), mass=1, inertia=0.004)
        ball.add_shape("disc", radius=0.1, mu=0, restitution=0.5)
        a, b = perp.Sim(model), perp.Sim(scene("bouncing-ball"))
        a.step(1500)
        b.step(1500)
        self.assertEqual(a.hash, b.hash)

    def test_extending_a_loaded_model(self):
        model = scene("bouncing-ball")
        bodies = model.bodies
        sim = perp.Sim(model)
        other = model.copy()
        other.add_body("second", position=[1, 2], mass=1, inertia=0.1).add_shape("disc", radius=0.1)
        self.assertEqual(model.bodies, bodies)
        self.assertEqual(sim.model.bodies, bodies)
        self.assertEqual(other.bodies, (*bodies, "second"))
        self.assertEqual(perp.Sim(other).nv, 6)

    def test_everything_in_space(self):
        model = perp.Model("robot", spatial=True, step=0.002)
        model.set_parameter("width", "20 cm")
        model.add_shape("halfspace", "floor", mu=0.5)
        box = model.add_body("box", position=[0, 0, 0.5])
        self.assertEqual(box.add_shape("box", "hull", size=["width", "width", 0.1], density=1000), "box.hull")
        arm = model.add_body("arm", position=[0.3, 0, 0.5], mass=0.5, inertia=[0.01, 0.01, 0.01])
        model.add_joint("revolute", "elbow", a=box, b=arm, at=[0.1, 0, 0.5], axis=[0, 1, 0], lower=-1, upper=np.inf)
        model.add_input("pull", value=0.0, range=[-5, 5], unit="N")
        model.add_force("force", "rope", body=box, fz="pull")
        model.add_actuator("position", "servo", joint="elbow", kp=50, damping_ratio=1, effort=8)
        model.add_site("tip", body=arm, position=[0.1, 0, 0])
        model.add_sensor("position", "place", site="tip")
        model.add_keyframe("high", bodies={"box": {"position": [0, 0, 2]}})
        model.exclude(box, arm)
        sim = perp.Sim(model, keyframe="high")
        self.assertAlmostEqual(sim["box"].position[2], 2.0)
        self.assertEqual(model.inputs, ("pull", "servo"))
        sim.step(20)
        self.assertTrue(sim.certificate.passed)

    def test_errors_name_the_part(self):
        model = perp.Model()
        model.add_body("a", mas=1)
        with self.assertRaisesRegex(perp.SceneError, "body 'a'.*did you mean 'mass'"):
            perp.Sim(model)
        with self.assertRaisesRegex(perp.ArgumentError, "body 'b': mass: not a number"):
            model.add_body("b", mass=float("nan"))
        with self.assertRaisesRegex(TypeError, "body 'c': mass"):
            model.add_body("c", mass=object())


if __name__ == "__main__":
    main()
