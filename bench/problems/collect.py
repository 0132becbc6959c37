#!/usr/bin/env python3
# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a collection of contact problems: steps of the scenes of bench/paper, with solutions and certificates.

    collect.py PERP_BENCH_PROBLEM DIR [--only TEXT]

For each problem: NAME.json (kind gfc, docs/file-format.md), NAME.solution.csv (v, then r, one value a line, as `perp solve
-o` writes them), and a line of certificates.csv with residuals judged by code that no solver uses. README.md describes
them."""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'paper'))
import scenes as s  # noqa: E402

# name, scene, step counted from 0
PROBLEMS = (
    ('belts', s.belts, 100),                                        # eight contacts that slide, loads not unique
    ('painleve-tips', lambda: s.painleve(0.55), 20),                # on its leading edge
    ('rolling', lambda: s.rolling((0.0, 1.0)), 100),                # 25 balls roll, a box slides
    ('cards-26-lands', lambda: s.card_house(4, 10.0), 30),          # the lowest cards reach the floor
    ('cards-26-settles', lambda: s.card_house(4, 10.0), 100),
    ('cards-26-rests', lambda: s.card_house(4, 10.0), 1500),
    ('cards-26-struck', lambda: s.card_house(4, 10.0), 1725),
    ('cards-26-struck-hard', lambda: s.card_house(4, 10.0), 1812),  # its certificate is violated
    ('arch-25-lands', lambda: s.arch(25, 10.0), 103),
    ('arch-25-rests', lambda: s.arch(25, 10.0), 1500),
    ('arch-101-rests', lambda: s.arch(101, 10.0, apart=False, struck=False), 0),
    ('kapla-first', lambda: s.kapla(600.0), 0),                     # no warm start
    ('kapla-rests', lambda: s.kapla(600.0), 100),
    ('pile-125-first', lambda: s.pile(5, 5, 5, 2.0), 0),
    ('pile-125-rests', lambda: s.pile(5, 5, 5, 2.0), 100),
)


def collect(program, folder, only=''):
    os.makedirs(folder, exist_ok=True)
    rows = []
    for name, build, step in PROBLEMS:
        if only not in name:
            continue
        with tempfile.NamedTemporaryFile('w', suffix='.json') as file:
            json.dump(build(), file)
            file.flush()
            done = subprocess.run([program, file.name, str(step), os.path.join(folder, f'{name}.json')], capture_output=True,
                                  text=True)
        if done.returncode != 0:
            sys.exit(f'{name}: {done.stderr.strip()}')
        row = json.loads(done.stdout)
        rows.append({**row, 'name': name, 'step': step})
        print(f"{name:22} step {step:5} {row['contacts']:5} contacts  scaled {row['scaled']:.1e}  dynamics {row['dynamics']:.1e}"
              f"  {'passed' if row['passed'] else 'VIOLATED'}", flush=True)
    with open(os.path.join(folder, 'certificates.csv'), 'w', newline='') as file:
        writer = csv.DictWriter(file, ['name', 'step', 'contacts', 'velocities', 'scaled', 'plain', 'dynamics', 'backward',
                                       'residual', 'passed', 'factorisations'])
        writer.writeheader()
        writer.writerows(rows)
    return rows


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument('program')
    options.add_argument('folder')
    options.add_argument('--only', default='')
    o = options.parse_args()
    collect(o.program, o.folder, o.only)


if __name__ == '__main__':
    main()
