# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of python/examples run, and the programs of docs/python.md print what the page shows."""
import re
import subprocess
import sys
import unittest

from support import ROOT, folder, main

SAYS = {
    "arm_pd": "error",
    "bouncing_ball": "height 0.100000 m at t = 2.000 s, certificate passed: True",
    "cartpole_mpc": "degrees from upright",
    "friction_from_run": "from the path:         mu = 0.3713",
    "lcp_murty": "n = 8: lemke takes 255 pivots",
    "push_block": "steps certified",
    "quadruped_stands": "its weight is 98.9 N",
}


class Examples(unittest.TestCase):
    def test_all_are_listed(self):
        self.assertEqual(set(SAYS), {p.stem for p in (ROOT / "python" / "examples").glob("*.py")})

    def test_six_lines(self):
        text = (ROOT / "python" / "examples" / "bouncing_ball.py").read_text()
        self.assertEqual(len([line for line in text.splitlines() if line and not line.startswith("#")]), 6)


def runs(name):
    def test(self):
        script = ROOT / "python" / "examples" / f"{name}.py"
        done = subprocess.run([sys.executable, script], cwd=ROOT, capture_output=True, text=True, check=False, timeout=200)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(SAYS[name], done.stdout)

    return test


for example in SAYS:
    setattr(Examples, f"test_{example}", runs(example))


class Page(unittest.TestCase):
    def test_programs_print_what_the_page_shows(self):
        page = (ROOT / "docs" / "python.md").read_text()
        blocks = re.findall(r"```(python|text)\n(.*?)```", page, re.S)
        self.assertGreater(len(blocks), 10)
        names, printed = {}, ""
        import contextlib
        import io
        import os
        here = os.getcwd()
        with folder() as out:
            (out / "scenes").symlink_to(ROOT / "scenes")
            os.chdir(out)
            try:
                for kind, text in blocks:
                    if kind == "text":
                        self.assertEqual(printed.strip(), text.strip())
                        continue
                    stream = io.StringIO()
                    with contextlib.redirect_stdout(stream):
                        exec(compile(text, "docs/python.md", "exec"), names)
                    printed = stream.getvalue()
            finally:
                os.chdir(here)


if __name__ == "__main__":
    main()
