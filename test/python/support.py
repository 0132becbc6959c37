# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python package share."""
import contextlib
import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
try:
    import numpy  # noqa: F401
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(77)
import perp  # noqa: E402

SCENES = ROOT / "scenes"
SANITIZED = "PERP_SANITIZED" in os.environ


def scene(name):
    return perp.load(SCENES / f"{name}.json")


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory(prefix="perp-python-") as path:
        yield pathlib.Path(path)


def pendulum(**fields):
    """A motor turns a rod about the origin, in the plane; the input has the name of the motor."""
    model = perp.Model("pendulum", step=0.002)
    rod = model.add_body("rod", position=[0, -0.5], mass=1.0, inertia=1 / 12)
    rod.add_shape("box", size=[0.05, 1.0])
    model.add_joint("revolute", "hip", b=rod, at=[0, 0], **fields)
    model.add_actuator("motor", "motor", joint="hip")
    return model


def main():
    unittest.main(verbosity=1)
