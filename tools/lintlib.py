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
    "libperp_comp": (["base", "math", "comp"], ["base", "types", "comp", "ncp"]),
    "libperp": (["expr", "solid", "model", "kinematics", "gap", "constraint", "tree", "assemble", "solve",
                 "integrate", "certify", "hybrid", "sim"], ["model", "sim", "tree", "query", "perp"]),
    "libperp_io": (["format", "import", "scene", "record", "sweep", "plot", "replay"],
                   ["import", "scene", "record", "compare", "sweep", "plot", "replay", "problem", "io"]),
}
C_FOLDERS = ("include", "src", "cli", "python", "examples", "test", "fuzz", "bench")


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


NAME = re.compile(r"(\w+)\s*\(")


class Function:
    """A definition: its name, its head up to the brace, the numbers of the lines of its braces, whether it is static."""

    def __init__(self, head, first, last):
        self.name = NAME.search(head).group(1)
        self.head, self.first, self.last = head, first, last
        self.static = bool(re.match(r"(?:PP_\w+ )*static\b", head))
        self.lines = last - first - 1  # without the braces

    def parameters(self):
        inside = self.head[self.head.index("(") + 1:self.head.rindex(")")]
        if inside.strip() in ("", "void"):
            return 0
        return 1 + re.sub(r"\([^()]*\)", "", inside).count(",")


def functions(code):
    """The definitions in C text from code_only(): '{' and '}' in the first column, as clang-format puts them for
    functions and nothing else that begins with a name and '('."""
    start, head = 0, []
    for number, line in enumerate(code.split("\n"), 1):
        if line.startswith("{") and head:
            start = number
        elif line.startswith("}") and start:
            yield Function(" ".join(head), start, number)
            start, head = 0, []
        elif not start:
            begins = line[:1].isalpha() and not line.rstrip().endswith(";")
            if begins and NAME.search(line):
                head = [line]
            elif head and line.startswith(" "):
                head.append(line.strip())
            else:
                head = []


def comment_lines(text):
    """The numbers of the lines of C text on which there is a comment, or a part of one."""
    found = set()
    for match in TOKEN.finditer(text):
        if match.group(0)[0] == "/":
            line = text.count("\n", 0, match.start()) + 1
            found.update(range(line, line + match.group(0).count("\n") + 1))
    return found


MARK = re.compile(r"[?;,(){}\[\]\n]|[=!<>]=|=")


def conditionals(code):
    """Statements of C text from code_only() with conditional operators, as (line of the first, how many are in another).
    One is in another when both stand in one expression between brackets, commas and assignments, or the second in
    brackets in the expression of the first."""
    line, found = 1, []
    stack = [[0, 0, [], 0]]  # of each open bracket: '?' of its expression, those in brackets in it, lines, those before a comma

    def close(level):
        """Ends an expression; how many count for the one around it."""
        own, inner, lines, _ = level
        if own:
            found.append((lines[0], own + inner - 1))
        level[0], level[1], level[2] = 0, 0, []
        return own + inner

    for match in MARK.finditer(code):
        mark = match.group(0)
        top = stack[-1]
        if mark == "\n":
            line += 1
        elif mark == "?":
            top[0] += 1
            top[2].append(line)
        elif mark in "([{":
            stack.append([0, 0, [], 0])
        elif mark in ")]}":
            count = close(top) + top[3]
            if len(stack) > 1:
                stack.pop()
            if mark == "}":  # a block or an initialiser ends what is before it
                close(stack[-1])
            else:
                stack[-1][1] += count
        elif mark in ",=":
            top[3] += close(top)
        elif mark == ";":
            close(top)
            top[3] = 0
    # An expression around another counts it again: keep the widest of each line.
    widest = {}
    for number, nested in found:
        widest[number] = max(nested, widest.get(number, 0))
    return sorted(widest.items())


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
