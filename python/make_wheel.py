#!/usr/bin/env python3
# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Packs the package, the extension module and the page of the viewer into a wheel:
make_wheel.py WHEEL MODULE [PAGE]. Needs nothing but Python; the same files give the same bytes."""
import base64
import hashlib
import pathlib
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def main():
    wheel, module = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    page = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3] else None
    name, version, *tag = wheel.stem.split("-")
    info = f"{name}-{version}.dist-info"
    files = {}
    for path in sorted((HERE / "perp").rglob("*")):
        if path.suffix in (".py", ".pyi") or path.name == "py.typed":
            files["perp/" + path.relative_to(HERE / "perp").as_posix()] = path.read_bytes()
    files["perp/" + module.name] = module.read_bytes()
    if page:
        files["perp/viewer.html"] = page.read_bytes()
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        "Summary: Rigid multibody systems in which contact is solved, not softened\n"
        "License: Apache-2.0\nRequires-Python: >=3.11\nRequires-Dist: numpy\n").encode()
    files[f"{info}/WHEEL"] = (
        "Wheel-Version: 1.0\nGenerator: perp\nRoot-Is-Purelib: false\n"
        f"Tag: {'-'.join(tag)}\n").encode()
    files[f"{info}/LICENSE"] = (HERE.parent / "LICENSE").read_bytes()
    record = "".join(f"{path},{digest(data)},{len(data)}\n" for path, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    part = wheel.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as out:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))  # the same files, the same bytes
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            out.writestr(entry, data)
    part.replace(wheel)


main()
