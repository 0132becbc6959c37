# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""perp: rigid multibody systems in which contact is solved, not softened.

    import perp
    model = perp.load("scene.json")
    sim = perp.Sim(model, step=0.002)
    while sim.t < 2:
        sim.step()
    print(sim.q, sim.certificate.passed)

Units are SI, angles are radians, arrays are float64. docs/python.md is the tutorial; the words of models and
settings are those of scene files (docs/scene-format.md)."""
from ._perp import (ArgumentError, BusyError, Error, RecordError, SceneError, SolveError, StepError)
from ._perp import version as __version__
from ._array import View
from .model import Model, Part, generate, load, loads
from .parts import (Actuator, Body, Certificate, Energy, Event, Hit, Joint, Pose, Sensor, Shape, Site, Twist, Wrench)
from .rollout import Pool, Rollout, rollout
from .run import Recorder, Replay, Run, read_run
from .sim import Inputs, Sim, State, StepInfo, contact_dtype
from .solve import ContactSolution, Residuals, Solution, solve_contact, solve_lcp, solve_mcp, solvers

__all__ = [
    "Actuator", "ArgumentError", "Body", "BusyError", "Certificate", "ContactSolution", "Energy", "Error", "Event",
    "Hit", "Inputs", "Joint", "Model", "Part", "Pool", "Pose", "RecordError", "Recorder", "Replay", "Residuals",
    "Rollout", "Run", "SceneError", "Sensor", "Shape", "Sim", "Site", "Solution", "SolveError", "State", "StepError",
    "StepInfo", "Twist", "View", "Wrench", "__version__", "contact_dtype", "generate", "load", "loads", "read_run",
    "rollout", "solve_contact", "solve_lcp", "solve_mcp", "solvers",
]
