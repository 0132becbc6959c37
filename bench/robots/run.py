#!/usr/bin/env python3
# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Robots by perp and by MuJoCo's WebAssembly build: CPU time of a step, with perp's certificate in the same row.

    run.py PERP_BENCH_ROBOTS MUJOCO_FOLDER [--steps 250] [--hold] [--boxes] [--only NAME] [--csv FILE]

Robots are read from PERP_DATA_DIR/robots, or ../shared/robots beside the project. MUJOCO_FOLDER has
node_modules/@mujoco/mujoco; without it the columns of MuJoCo stay empty. Passive by default; --hold: position servos
hold the first keyframe. Steps of 2 ms.

Both engines read the robots' own files; perp by `perp import`. --boxes: perp steps the compiled models of the reference
collection, in which meshes collide as their boxes, and servos of one kind hold every joint."""
import argparse
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from scene_of import Unfit, scene_of  # noqa: E402

ROOT = os.path.join(os.environ.get('PERP_DATA_DIR') or os.path.join(HERE, '..', '..', '..', 'shared'), 'robots')
SECONDS = 60  # of a robot


def chosen(only):
    """One model of each folder, a scene with a floor where there is one; all of the collections."""
    best = {}
    for path in sorted(glob.glob(os.path.join(ROOT, 'oracle', 'mjcf', '**', '*.json'), recursive=True)):
        name = os.path.relpath(path, os.path.join(ROOT, 'oracle', 'mjcf'))[:-5]
        folder = name.split('/')[0]
        if folder in ('dm_control', 'gymnasium'):
            best[name] = name
        elif folder not in best or ('scene' in name and 'scene' not in best[folder]):
            best[folder] = name
    return [name for name in sorted(best.values()) if not only or only in name]


def mujoco(folder, names, steps, hold):
    if not folder or not os.path.isdir(os.path.join(folder, 'node_modules', '@mujoco', 'mujoco')):
        return {}
    command = ['node', '--no-liftoff', os.path.join(HERE, 'mujoco.mjs'), ROOT, str(steps)] + (['--hold'] if hold else [])
    run = subprocess.run(command + [f'{name}.xml' for name in names], cwd=folder, capture_output=True, text=True)
    rows = {}
    for line in run.stdout.splitlines():
        try:
            row = json.loads(line)
            rows[row['file'][:-4]] = row
        except ValueError:
            pass
    return rows


def own_scene(program, name, hold):
    """The robot's file as a scene; passive: without its actuators, as MuJoCo's gains are zero there."""
    cli = os.path.join(os.path.dirname(program), '..', 'cli', 'perp')
    command = [cli, 'import', '-q', '--no-visuals', os.path.join(ROOT, 'mjcf', f'{name}.xml')]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        raise Unfit((run.stderr.strip().splitlines() or ['import failed'])[-1])
    scene = json.loads(run.stdout)
    scene['step'] = 0.002
    if not hold:
        scene.pop('actuators', None)
        scene.pop('inputs', None)
        scene['sensors'] = [s for s in scene.get('sensors', []) if 'actuator' not in s]
        for frame in scene.get('keyframes', []):
            frame.pop('inputs', None)
    return scene


def boxed_scene(name, hold):
    with open(os.path.join(ROOT, 'oracle', 'mjcf', f'{name}.json')) as file:
        return scene_of(json.load(file), hold=hold)


def perp(program, name, steps, hold, boxes):
    try:
        scene = boxed_scene(name, hold) if boxes else own_scene(program, name, hold)
    except Unfit as why:
        return {'error': str(why)}
    with tempfile.NamedTemporaryFile('w', suffix='.json') as file:
        json.dump(scene, file)
        file.flush()
        try:
            run = subprocess.run([program, file.name, str(steps)], capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return {'error': f'more than {SECONDS} s'}
    return json.loads(run.stdout) if run.stdout else {'error': f'exit code {run.returncode}'}


def line(name, ours, theirs):
    us = theirs.get('us')
    if 'error' in ours:
        return f"{name:40} {'':>34} {us or float('nan'):9.0f}  {ours['error'][:90]}"
    ratio = f"{ours['mean'] / us:6.2f}" if us else ''
    return (f"{name:40} {ours['certified']:4}/{ours['steps']:<4} {ours['contacts']:6.1f} {ours['mean']:8.0f} "
            f"{ours['worst']:9.0f} {us or float('nan'):9.0f} {ratio:>7}  "
            + ' '.join(f'{x:.0f}' for x in ours['stages']))


def main():
    options = argparse.ArgumentParser()
    options.add_argument('program')
    options.add_argument('mujoco', nargs='?')
    options.add_argument('--steps', type=int, default=250)
    options.add_argument('--hold', action='store_true')
    options.add_argument('--boxes', action='store_true')
    options.add_argument('--only')
    options.add_argument('--csv')
    o = options.parse_args()
    names = chosen(o.only)
    if not names:
        print('no robots in %s: set PERP_DATA_DIR' % ROOT)
        return 0
    theirs = mujoco(o.mujoco, names, o.steps, o.hold)
    print(f"{'robot':40} {'certified':>9} {'contacts':>6} {'mean us':>8} {'worst':>9} {'MuJoCo':>9} {'ratio':>7}  "
          'kinematics gap constraint solve integrate certify')
    rows = []
    for name in names:
        ours = perp(o.program, name, o.steps, o.hold, o.boxes)
        rows.append((name, ours, theirs.get(name, {})))
        print(line(*rows[-1]), flush=True)
    ran = [row for row in rows if 'error' not in row[1]]
    ratios = sorted(row[1]['mean'] / row[2]['us'] for row in ran if row[2].get('us'))
    arms = sorted(row[1]['mean'] / row[2]['us'] for row in ran if row[2].get('us') and row[1]['contacts'] == 0)
    certified = sum(row[1]['certified'] == o.steps for row in ran)
    print(f'{certified} of {len(rows)} robots certified in all of {o.steps} steps')
    if ratios:
        print(f'ratio to MuJoCo: median {statistics.median(ratios):.2f}, worst {ratios[-1]:.1f}, '
              f'free of contacts {statistics.median(arms) if arms else float("nan"):.2f} ({len(arms)})')
    if o.csv:
        with open(o.csv, 'w') as file:
            file.write('robot,steps,certified,contacts,mean_us,median_us,worst_us,factorisations,residual,mujoco_us\n')
            for name, ours, mine in rows:
                keys = ('steps', 'certified', 'contacts', 'mean', 'median', 'worst', 'factorisations', 'residual')
                file.write(','.join([name] + [str(ours.get(k, '')) for k in keys] + [str(mine.get('us', ''))]) + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
