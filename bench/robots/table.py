#!/usr/bin/env python3
# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""What robots do from their keyframes, by perp with its certificate and by MuJoCo's WebAssembly build.

    table.py run   PERP PERP_BENCH_MOTION MUJOCO_FOLDER [--seconds 2] [--cpu 60] [--only NAME] [--rows FILE] [--page FILE]
    table.py drift PERP PERP_BENCH_MOTION MUJOCO_FOLDER [--only NAME] [--rows FILE] [--page FILE] [--picture FILE]

`run` runs one MJCF model of each robot and all URDF files for some seconds. `drift` runs robots whose servos hold them
for 20 s, and asks how far their bodies go from the 10th second on. Models are read from PERP_DATA_DIR/robots, or
../shared/robots beside the project; `drift` also runs those of examples/robots. MUJOCO_FOLDER has
node_modules/@mujoco/mujoco; without it the columns of MuJoCo stay empty. --rows keeps results as JSON lines, and what
is there already is not run again. --page: the table replaces the text between the marks of that name in the page."""
import argparse
import glob
import json
import math
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
ROOT = os.path.join(os.environ.get('PERP_DATA_DIR') or os.path.join(TOP, '..', 'shared'), 'robots')
sys.path.insert(0, HERE)
from run import chosen  # noqa: E402

# Robots that stand or hold something by servos, with the floor or object in contact.
HELD = ['examples/robots/arm.xml', 'examples/robots/quadruped.xml', 'examples/robots/gripper.xml', 'examples/robots/hand.xml',
        'anybotics_anymal_b/scene', 'boston_dynamics_spot/scene', 'unitree_a1/scene',
        'booster_t1/scene', 'robotis_op3/scene', 'unitree_g1/scene']


def path_of(name):
    if name.startswith('examples/'):
        return os.path.join(TOP, name)
    return os.path.join(ROOT, 'urdf' if name.endswith('.urdf') else 'mjcf', name if name.endswith('.urdf') else f'{name}.xml')


def models(only):
    urdf = sorted(os.path.relpath(p, os.path.join(ROOT, 'urdf'))
                  for p in glob.glob(os.path.join(ROOT, 'urdf', '**', '*.urdf'), recursive=True))
    return [name for name in chosen(None) + urdf if not only or only in name]


def mujoco(folder, name, seconds, start):
    if name.endswith('.urdf') or not folder or not os.path.isdir(os.path.join(folder, 'node_modules', '@mujoco', 'mujoco')):
        return {}
    file = path_of(name) if name.startswith('examples/') else f'{name}.xml'
    try:
        run = subprocess.run(['node', '--no-liftoff', os.path.join(HERE, 'motion.mjs'), os.path.abspath(ROOT), str(seconds), str(start),
                              file], cwd=folder, capture_output=True, text=True, timeout=300)
        return json.loads(run.stdout.splitlines()[-1])
    except (subprocess.TimeoutExpired, ValueError, IndexError):
        return {}


def perp(o, name, seconds, start):
    """The model as a scene, which says whether something is free, and what it does."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, 'scene.json')
        command = [o.perp, 'import', path_of(name), '-o', file, '--allow-outside']
        read = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if read.returncode != 0 and '--free-base' in read.stderr:  # objects without joints
            read = subprocess.run(command + ['--free-base'], capture_output=True, text=True, timeout=120)
        if read.returncode != 0:
            text = (read.stderr or read.stdout).strip().splitlines()
            return {'error': text[-1] if text else f'exit code {read.returncode}', 'not_read': True}
        with open(file) as text:
            scene = json.load(text)
        words = [o.motion, file, str(seconds), str(o.cpu)] + ([str(start)] if start else [])
        try:
            run = subprocess.run(words, capture_output=True, text=True, timeout=3 * o.cpu + 60)
        except subprocess.TimeoutExpired:
            return {'error': f'no answer in {3 * o.cpu + 60:.0f} s'}
        row = json.loads(run.stdout) if run.stdout else {'error': f'exit code {run.returncode}'}
    held = {'ground'}
    links = [(j['a'], j['b']) for j in scene['joints'] if 'a' in j and 'b' in j and j.get('kind') != 'coupling']
    while True:  # what joints connect with the ground
        more = {y for x, y in links if x in held} | {x for x, y in links if y in held}
        if more <= held:
            break
        held |= more
    row['free'] = any(b['name'] not in held for b in scene['bodies'])
    return row


def does(row):
    """Words for the motion, from numbers at its end."""
    still = row['speed'] < 1e-2
    if not row['free']:
        return 'holds its pose' if still and row['moved'] < 0.05 else 'hangs at rest' if still else 'swings'
    if row['contacts'] == 0:
        return 'holds its place' if still else 'falls free'
    sunk = row['height'] - row['height_end'] > 0.2 * abs(row['height'])
    if sunk:
        return 'falls and lies' if still else 'falls'
    return 'stands' if still else 'moves on the floor'


def verdict(row):
    if 'error' in row:
        return ('not read: ' if row.get('not_read') else '') + short(row['error'])
    if row['reason']:
        return f"{row['certified']} of {row['steps']} steps; {short(row['reason'])}"
    return 'passed'


def short(text):
    text = re.sub(r'/\S*/', '', text).replace('|', '/').strip().rstrip(';')
    return text if len(text) < 170 else text[:167] + '…'


def us(x):
    return f'{x:.0f}' if x is not None else ''


def run_table(rows):
    out = ['| model | coordinates | contacts | what it does | certificate | perp [µs] | MuJoCo [µs] |', '|---|---|---|---|---|---|---|']
    for row in rows:
        ours, theirs = row['perp'], row.get('mujoco', {})
        if 'error' in ours:
            out.append(f"| {row['name']} | | | | {verdict(ours)} | | {us(theirs.get('us'))} |")
            continue
        out.append(f"| {row['name']} | {ours['dof']} | {ours['contacts']} | {does(ours) if ours['steps'] else ''} | "
                   f"{verdict(ours)} | {us(ours['mean'])} | {us(theirs.get('us'))} |")
    return '\n'.join(out)


def counts(rows):
    passed = {'MJCF': [0, 0], 'URDF': [0, 0]}
    for row in rows:
        of = passed['URDF' if row['name'].endswith('.urdf') else 'MJCF']
        of[1] += 1
        of[0] += 'error' not in row['perp'] and not row['perp']['reason']
    return ', '.join(f'{a} of {b} {kind} models' for kind, (a, b) in passed.items() if b)


def metres(x):
    if x is None or (isinstance(x, float) and math.isnan(x)):
        return ''
    return f'{x:.1e} m'


def drift_table(rows):
    out = ['| model | what it does | certificate | drift, perp | drift, MuJoCo |', '|---|---|---|---|---|']
    for row in rows:
        ours, theirs = row['perp'], row.get('mujoco', {})
        name = row['name']
        if 'error' in ours or ours['reason']:
            out.append(f"| {name} | | {verdict(ours)} | | {metres((theirs.get('moves') or [None])[-1])} |")
            continue
        out.append(f"| {name} | {does(ours)} | passed | {metres(ours['moves'][-1])} | "
                   f"{metres((theirs.get('moves') or [None])[-1])} |")
    return '\n'.join(out)


def picture(rows, path):
    """Displacements since the 10th second over time, on a logarithmic axis: MuJoCo in orange, perp in blue."""
    low, high, W, H, left, top = -18, -1, 640, 360, 64, 16
    x = lambda k: left + (W - left - 16) * (k + 1) / 100
    y = lambda v: top + (H - top - 44) * (high - max(low, min(high, math.log10(max(v, 1e-30))))) / (high - low)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {W} {H}" font-family="sans-serif" font-size="12" '
           f'fill="#555"><rect width="{W}" height="{H}" fill="#fff"/>']
    for e in range(low, high + 1, 3):
        out.append(f'<line x1="{left}" x2="{W - 16}" y1="{y(10.0 ** e):.1f}" y2="{y(10.0 ** e):.1f}" stroke="#ccc"/>'
                   f'<text x="{left - 6}" y="{y(10.0 ** e) + 4:.1f}" text-anchor="end">1e{e} m</text>')
    for t in range(0, 11, 2):
        out.append(f'<text x="{x(10 * t - 1):.1f}" y="{H - 26}" text-anchor="middle">{10 + t}</text>')
    out.append(f'<text x="{(W + left) / 2}" y="{H - 8}" text-anchor="middle">time [s]</text>')
    for row in rows:
        for who, colour in (('mujoco', '#d95f02'), ('perp', '#1f77b4')):
            moves = row.get(who, {}).get('moves')
            if moves and not row[who].get('reason'):
                points = ' '.join(f'{x(k):.1f},{y(v):.1f}' for k, v in enumerate(moves))
                out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.3" opacity="0.8">'
                           f'<title>{row["name"]}</title></polyline>')
    out.append(f'<text x="{left + 12}" y="{y(1e-2) + 4:.1f}" fill="#d95f02">MuJoCo</text>'
               f'<text x="{left + 12}" y="{y(1e-11):.1f}" fill="#1f77b4">perp</text></svg>')
    with open(path, 'w') as file:
        file.write('\n'.join(out) + '\n')


def put_in_page(page, mark, text):
    with open(page) as file:
        old = file.read()
    begin, end = f'<!-- {mark} -->', f'<!-- end of {mark} -->'
    if begin not in old or end not in old:
        sys.exit(f'{page}: the marks {begin} and {end} are missing')
    new = old[:old.index(begin) + len(begin)] + '\n\n' + text + '\n\n' + old[old.index(end):]
    with open(page, 'w') as file:
        file.write(new)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument('what', choices=('run', 'drift'))
    options.add_argument('perp')
    options.add_argument('motion')
    options.add_argument('mujoco', nargs='?')
    options.add_argument('--seconds', type=float)
    options.add_argument('--cpu', type=float, default=60.0)
    options.add_argument('--only')
    options.add_argument('--rows')
    options.add_argument('--page')
    options.add_argument('--picture')
    o = options.parse_args()
    drift = o.what == 'drift'
    seconds, start = (o.seconds or 20.0, 10.0) if drift else (o.seconds or 2.0, 0.0)
    names = [n for n in HELD if not o.only or o.only in n] if drift else models(o.only)
    if not os.path.isdir(os.path.join(ROOT, 'mjcf')):
        print(f'no robots in {ROOT}: set PERP_DATA_DIR')
    names = [name for name in names if os.path.exists(path_of(name))]
    rows, known = [], {}
    if o.rows and os.path.exists(o.rows):
        with open(o.rows) as file:
            known = {row['name']: row for row in map(json.loads, file)}
    for name in names:
        row = known.get(name)
        if not row:
            row = {'name': name, 'perp': perp(o, name, seconds, start), 'mujoco': mujoco(o.mujoco, name, seconds, start)}
            if o.rows:
                with open(o.rows, 'a') as file:
                    file.write(json.dumps(row) + '\n')
            ours = row['perp']
            print(f"{name:60} {verdict(ours)[:110]} {us(ours.get('mean'))} {us(row['mujoco'].get('us'))}", flush=True)
        rows.append(row)
    if not rows:
        return 0
    text = drift_table(rows) if drift else f'{counts(rows)} passed in every step.\n\n{run_table(rows)}'
    if o.page:
        put_in_page(o.page, 'robots that hold' if drift else 'robots that run', text)
    else:
        print(text)
    if drift and o.picture:
        picture(rows, o.picture)
    return 0


if __name__ == '__main__':
    sys.exit(main())
