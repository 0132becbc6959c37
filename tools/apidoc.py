# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
#
# Pages of the C API from the public headers, as HTML: sections, and for each group of declarations its
# comment as prose and the declarations as they are, every name linked to where it is declared.
import html
import re

from lintlib import c_files, read

SECTION = re.compile(r"^// ── (.*?) ─+$")
DECLARED = [
    re.compile(r"\b(perp_\w+)\s*\((?!\*)"),
    re.compile(r"^(?:typedef .*)?\}\s*(perp_\w+)\s*;", re.M),
    re.compile(r"^typedef\s+(?:struct|enum)\s+\w+\s+(perp_\w+)\s*;", re.M),
    re.compile(r"^\s+(PERP_[A-Z0-9_]+)\s*(?:=|,)", re.M),
    re.compile(r"^#define\s+(PERP_\w+)", re.M),
    re.compile(r"^\s+X\((PERP_\w+),", re.M),
]
NAME = re.compile(r"\b(?:perp|PERP)_\w+")
NOISE = re.compile(r"^#(?:pragma|include|if|else|elif|endif|undef)\b|^#define PERP_(?:API|MUST|EXTERN|X)\b")


def groups(text):
    """Runs of lines between empty ones: (section or None, comment, code)."""
    lines = text.split("\n")
    k = 0
    while k < len(lines) and lines[k].startswith("//"):
        k += 1
    for run in re.split(r"\n\s*\n", "\n".join(lines[k:])):
        comment, code = [], []
        for line in run.split("\n"):
            section = SECTION.match(line)
            if section:
                yield section.group(1), [], []
            elif line.startswith("//") and not code:
                comment.append(line[2:])
            elif not NOISE.match(line):
                code.append(line)
        yield None, comment, code


def intro(text):
    """The sentences at the top, without the licence."""
    lines = []
    for line in text.split("\n"):
        if not line.startswith("//"):
            break
        if "SPDX" not in line:
            lines.append(line[2:])
    return lines


def prose(lines):
    """Comment lines as paragraphs; what is indented stays as it is."""
    out, words, block = [], [], []

    def close():
        if words:
            out.append("<p>" + mark(" ".join(words)) + "</p>")
            words.clear()
        if block:
            out.append("<pre><code>" + html.escape("\n".join(block)) + "</code></pre>")
            block.clear()

    for line in lines:
        if line.startswith("   "):
            if words:
                close()
            block.append(line[3:])
        elif line.strip():
            if block:
                close()
            words.append(line.strip())
        else:
            close()
    close()
    return "\n".join(out)


def mark(text):
    """Names of C in prose as code."""
    text = html.escape(text)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    return re.sub(r"(?<![\w>/])((?:perp|PERP)_\w+(?:\(\))?)", r"<code>\1</code>", text)


def declared(code):
    text = "\n".join(re.sub(r"\s*//.*", "", line) for line in code)
    found = []
    for pattern in DECLARED:
        for name in pattern.findall(text):
            if name not in found and not name.startswith(("PERP_API", "PERP_MUST", "PERP_X")):
                found.append(name)
    return found


def tidy(code):
    """Declarations without the macros that only compilers need."""
    return re.sub(r"\bPERP_API\s+|\bPERP_MUST\s+", "", "\n".join(code)).strip("\n")


class Api:
    def __init__(self):
        self.headers = [h for h in c_files("include") if h.stem not in ("perp", "io")]  # these two only include
        self.place = {}
        self.kinds = {}
        for header in self.headers:
            for _, _, code in groups(read(header)):
                for name in declared(code):
                    if name not in self.place:
                        self.place[name] = header.stem

    def link(self, code, here):
        def one(match):
            name = match.group(0)
            home = self.place.get(name)
            if not home:
                return name
            page = "" if home == here else home + ".html"
            return f'<a href="{page}#{name}">{name}</a>'

        return NAME.sub(one, html.escape(code))

    def page(self, header):
        text = read(header)
        here = header.stem
        out = [f"<h1><code>perp/{header.name}</code></h1>", prose(intro(text))]
        seen = set()
        for section, comment, code in groups(text):
            if section:
                slug = re.sub(r"[^a-z0-9]+", "-", section.lower()).strip("-")
                out.append(f'<h2 id="{slug}">{html.escape(section)}</h2>')
                continue
            names = [n for n in declared(code) if self.place[n] == here and n not in seen]
            seen.update(names)
            shown = tidy(code)
            if not comment and not shown:
                continue
            anchors = "".join(f'<span id="{n}"></span>' for n in names)
            body = f"<pre><code>{self.link(shown, here)}</code></pre>" if shown else ""
            out.append(f'<div class="decl">{anchors}{prose(comment)}\n{body}</div>')
        return "\n".join(out)

    def index(self):
        rows = []
        for header in self.headers:
            first = " ".join(w.strip() for w in intro(read(header)) if w.strip()).split(". ")[0].split(": ")
            rows.append(f'<tr><td><a href="{header.stem}.html"><code>perp/{header.name}</code></a></td>'
                        f"<td>{html.escape(': '.join(first).rstrip('.'))}</td></tr>")
        names = sorted(n for n in self.place if n.startswith("perp_"))
        listed = "\n".join(f'<li><a href="{self.place[n]}.html#{n}"><code>{n}</code></a></li>' for n in names)
        return ("<h1>C API</h1>\n<p>Made from the headers in <code>include/perp</code>; "
                "<code>perp/perp.h</code> includes those of libperp, <code>perp/io.h</code> all of them. The rules that hold everywhere: functions that can "
                "fail return a <a href=\"base.html#perp_status\">perp_status</a>, negative for a failure; "
                "definitions start from their <code>perp_*_default()</code>; memory comes from a "
                "<a href=\"base.html#perp_env\">perp_env</a> (NULL: the C library); lengths are metres, angles "
                "radians, impulses newton seconds.</p>\n<table>" + "\n".join(rows) +
                f'</table>\n<h2 id="names">Functions and types</h2>\n<ul class="names">{listed}</ul>')
