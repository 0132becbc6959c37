# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
#
# What the check_* programs share: the file lists, C text without comments, and how findings are told.
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The libraries from the bottom up: their folders of src/ in the order of the data flow, and their public headers.
LIBRARIES = {
    "libperp_comp": (["base", "math", "comp"], ["base", "types", "comp"]),
    "libperp": (["expr", "solid", "model", "kinematics", "gap", "constraint", "tree", "assemble", "solve",
                 "integrate", "certify", "hybrid", "sim"], ["model", "sim", "tree", "perp"]),
    "libperp_io": (["format", "scene", "record", "plot", "replay"],
                   ["scene", "record", "compare", "plot", "replay", "problem", "io"]),
}
C_FOLDERS = ("include", "src", "cli", "examples", "test", "fuzz", "bench")


def c_files(*folders):
    """The .c and .h files below the given folders of the project, sorted, as paths relative to it."""
    found = []
    for folder in folders or C_FOLDERS:
        found += [p for p in (ROOT / folder).rglob("*") if p.suffix in (".c", ".h")]
    return sorted(p.relative_to(ROOT) for p in found)


def text_files():
    """Every text file of the project: what git tracks or would track."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False)
    names = listed.stdout.split("\n") if listed.returncode == 0 else map(str, c_files())
    paths = [pathlib.Path(n) for n in names if n and (ROOT / n).is_file()]
    paths = [p for p in paths if p.parts[:2] != ("fuzz", "corpus")]  # bytes, whatever they look like
    return sorted(p for p in paths if b"\0" not in (ROOT / p).read_bytes()[:8000])


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def code_only(text):
    """C text with comments, strings and characters emptied; line numbers stay."""

    def blank(match):
        token = match.group(0)
        keep = token[0] if token[0] in "\"'" else ""
        return keep + "\n" * token.count("\n") + keep

    return TOKEN.sub(blank, text)


def hdf5():
    """The name of HDF5 for pkg-config, the one without MPI where there are several."""
    names = ("hdf5-serial", "hdf5")
    return next((n for n in names if subprocess.run(["pkg-config", "--exists", n], check=False).returncode == 0),
                names[-1])


class Findings:
    """Collects what is wrong, prints it as file:line: text, and ends the program."""

    def __init__(self):
        self.errors = 0

    def error(self, path, line, text):
        self.errors += 1
        print(f"{path}:{line}: {text}")

    def warn(self, path, line, text):
        print(f"{path}:{line}: warning: {text}")

    def finish(self):
        sys.exit(1 if self.errors else 0)


def compiler(kind):
    return os.environ.get({"c": "CC", "c++": "CXX"}[kind], {"c": "cc", "c++": "c++"}[kind])
