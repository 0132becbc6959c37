# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Stubs against the module, records against the C API (docs/api.txt), docstrings, and the stable ABI."""
import ast
import inspect
import pathlib
import re
import subprocess
import sys
import unittest

import perp
from perp import _perp, gym
from support import ROOT, main

PACKAGE = pathlib.Path(perp.__file__).parent
API = (ROOT / "docs" / "api.txt").read_text()
# Functions of the C API that deal with sims and that Python reaches otherwise, or not at all, with the reason.
ELSEWHERE = {
    "perp_sim_default": "settings of the scene", "perp_sim_limits": "relative values are in the certificate",
    "perp_sim_load_range": "analysis of one contact: C", "perp_sim_active_set": "analysis of one step: C",
    "perp_sim_problem": "matrices of one step: perp explain and C", "perp_sim_overlap": "probes: C",
    "perp_sim_ray": "perp_sim_rays",
}


def members(struct):
    """Names of the members of a struct in docs/api.txt."""
    body = re.search(r"typedef struct \w+ \{([^{}]*)\} " + struct + ";", API).group(1)
    names = []
    for line in body.split(";"):
        line = re.sub(r"\[[^\]]*\]", "", line).strip()
        if line:
            names += [part.split()[-1].lstrip("*") for part in line.split(",")]
    return names


class Stubs(unittest.TestCase):
    def test_stub_has_what_the_module_has(self):
        tree = ast.parse((PACKAGE / "_perp.pyi").read_text())
        stub = {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        stub.update({node.target.id: node for node in tree.body if isinstance(node, ast.AnnAssign)})
        actual = {name for name in vars(_perp) if not name.startswith("__")}
        self.assertEqual(set(stub), actual)
        for name, node in stub.items():
            if not isinstance(node, ast.ClassDef) or issubclass(getattr(_perp, name), Exception):
                continue
            listed = {n.name for n in node.body if isinstance(n, ast.FunctionDef) and n.name != "__init__"}
            listed |= {n.target.id for n in node.body if isinstance(n, ast.AnnAssign)}
            found = {n for n in vars(getattr(_perp, name)) if not n.startswith("__")}
            self.assertEqual(listed, found, name)

    def test_typed(self):
        self.assertTrue((PACKAGE / "py.typed").exists())
        for module in (perp.model, perp.sim, perp.parts, perp.run, perp.solve, perp.rollout, gym):
            for name, function in inspect.getmembers(module, inspect.isfunction):
                if function.__module__ == module.__name__ and not name.startswith("_"):
                    self.assertIn("return", function.__annotations__, name)
        for name in perp.__all__:
            self.assertTrue(hasattr(perp, name), name)

    def test_docstrings(self):
        for name in perp.__all__:
            thing = getattr(perp, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                self.assertTrue(thing.__doc__, name)


class Interface(unittest.TestCase):
    def test_contact_fields(self):
        fields = [re.sub("_W$", "", name) for name in members("perp_contact")]
        fields[13] = "slip_velocity"  # beside slip, the speed
        self.assertEqual(list(perp.contact_dtype.names), fields)

    def test_certificate_and_energy(self):
        self.assertEqual(sorted(perp.Certificate._fields), sorted(members("perp_certificate")))
        self.assertEqual(list(perp.Energy._fields), members("perp_energy"))
        items = re.search(r"typedef enum perp_judged \{([^}]*)\}", API).group(1)
        self.assertEqual(len([i for i in items.split(",") if i.strip()]) - 1, 9)

    def test_every_function_of_sims_is_reached(self):
        sources = "".join(path.read_text() for path in (ROOT / "python" / "src").glob("*.c"))
        declared = set(re.findall(r"\b(perp_sim_\w+)\(", API))
        missing = {name for name in declared if not re.search(rf"\b{name}\b", sources)}
        self.assertEqual(missing, set(ELSEWHERE))

    def test_settings_are_those_of_scenes(self):
        table = (ROOT / "python" / "src" / "settings.c").read_text()
        keys = set(re.findall(r'^    \{"(\w+)", VALUE', table.split("limits[]")[0], re.M))
        schema = (ROOT / "scenes" / "scene.schema.json").read_text()
        for key in keys:
            self.assertIn(f'"{key}":', schema, key)


class Binary(unittest.TestCase):
    def test_no_names_outside_the_stable_abi(self):
        """Whatever of CPython the module calls is in the list of its stable ABI; and it shows one name only."""
        module = next(PACKAGE.glob("_perp*.so"))
        self.assertEqual(module.name, "_perp.abi3.so")
        try:
            needed = subprocess.run(["nm", "-D", "--undefined-only", module], capture_output=True, text=True, check=True).stdout
            shown = subprocess.run(["nm", "-D", "--defined-only", module], capture_output=True, text=True, check=True).stdout
        except FileNotFoundError:
            self.skipTest("nm is not installed")
        private = [name for name in re.findall(r" U (_Py\w+)", needed)
                   if name not in ("_Py_Dealloc", "_Py_NoneStruct", "_Py_TrueStruct", "_Py_FalseStruct",
                                   "_Py_IncRef", "_Py_DecRef", "_PyArg_ParseTuple_SizeT", "_PyObject_New",
                                   "_PyObject_CallFunction_SizeT", "_Py_BuildValue_SizeT")]
        self.assertEqual(private, [])
        names = [line.split()[-1] for line in shown.splitlines() if " T " in line]
        self.assertIn("PyInit__perp", names)
        self.assertEqual([n for n in names if n.startswith(("perp_", "pp_"))], [])

    def test_no_global_state(self):
        """A second import of the module is a module of its own."""
        code = ("import sys, perp._perp as one\ndel sys.modules['perp._perp']\nimport importlib\n"
                "two = importlib.import_module('perp._perp')\nassert one is not two and one.Sim is not two.Sim\n"
                "assert one.Error is not two.Error\n")
        subprocess.run([sys.executable, "-c", code], check=True)


if __name__ == "__main__":
    main()
