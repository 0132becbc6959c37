#!/usr/bin/env python3
# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Machines of our own, written as MJCF, by perp and by MuJoCo's WebAssembly build: CPU time of a step, with perp's
certificate in the same row.

    own.py PERP_BENCH_ROBOTS MUJOCO_FOLDER [--steps 250] [--only NAME] [--csv FILE]

A humanoid of 30 degrees of freedom that stands on servos, and one that falls; a quadruped on servos; a gripper that
holds a box; a hand of 20 joints that closes on a ball; legs with closed loops; and crowds of 1 to 225 quadrupeds, whose
cost has to grow linearly. Steps of 2 ms. MUJOCO_FOLDER as of run.py; its columns need the loader of the reference robots
(PERP_DATA_DIR)."""
import argparse
import json
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(os.environ.get('PERP_DATA_DIR') or os.path.join(HERE, '..', '..', '..', 'shared'), 'robots')
EXAMPLES = os.path.join(HERE, '..', '..', 'examples', 'robots')
CROWDS = (1, 9, 25, 100, 225)
SECONDS = 120  # of a machine

FLOOR = '<geom name="floor" type="plane" size="50 50 0.1" friction="0.8"/>'


def model(name, world, more='', joint='damping="0.5" armature="0.01" frictionloss="0.1"'):
    return (f'<mujoco model="{name}"><compiler angle="radian"/><option timestep="0.002"/>'
            f'<default><joint {joint}/><geom friction="0.8" density="900"/></default>'
            f'<worldbody>{FLOOR}{world}</worldbody>{more}</mujoco>')


def servos(joints, kp, kv, effort):
    rows = ''.join(f'<position joint="{j}" kp="{kp}" kv="{kv}" forcerange="-{effort} {effort}"/>' for j in joints)
    return f'<actuator>{rows}</actuator>'


def hinge(name, axis, low, high):
    return f'<joint name="{name}" axis="{axis}" range="{low} {high}"/>'


def humanoid(stands):
    """6 + 3 (waist) + 1 (neck) + 2 * (3 + 1 + 2) (legs) + 2 * (3 + 1) (arms) = 30 degrees of freedom."""
    names = []

    def joint(name, axis, low, high):
        names.append(name)
        return hinge(name, axis, low, high)

    def capsule(size, end):
        return f'<geom type="capsule" size="{size}" fromto="0 0 {-size} 0 0 {end + size}"/>'

    legs = arms = ''
    for side, y in (('l', 0.09), ('r', -0.09)):
        legs += (
            f'<body pos="0 {y} -0.1">{joint(side + "_hip_z", "0 0 1", -0.8, 0.8)}{joint(side + "_hip_x", "1 0 0", -0.6, 0.6)}'
            f'{joint(side + "_hip_y", "0 1 0", -2, 0.8)}{capsule(0.055, -0.4)}'
            f'<body pos="0 0 -0.4">{joint(side + "_knee", "0 1 0", -0.05, 2.4)}{capsule(0.045, -0.4)}'
            f'<body pos="0 0 -0.4">{joint(side + "_ankle_y", "0 1 0", -0.8, 0.8)}{joint(side + "_ankle_x", "1 0 0", -0.4, 0.4)}'
            '<geom type="box" size="0.11 0.045 0.02" pos="0.03 0 -0.05"/></body></body></body>')
        arms += (
            f'<body pos="0 {2.3 * y} 0.38">{joint(side + "_arm_y", "0 1 0", -2.5, 2.5)}{joint(side + "_arm_x", "1 0 0", -2, 2)}'
            f'{joint(side + "_arm_z", "0 0 1", -1.5, 1.5)}{capsule(0.035, -0.26)}'
            f'<body pos="0 0 -0.26">{joint(side + "_elbow", "0 1 0", -2.4, 0.05)}{capsule(0.03, -0.24)}</body></body>')
    waist = ''.join(joint(f'waist_{k}', axis, -0.6, 0.6) for k, axis in
                    (('z', '0 0 1'), ('x', '1 0 0'), ('y', '0 1 0')))
    neck = joint('neck', '0 1 0', -0.6, 0.6)
    # a start above the floor by the thickness of a foot
    world = (
        '<body name="pelvis" pos="0 0 0.97"><freejoint/><geom type="box" size="0.08 0.12 0.06"/>' + legs +
        f'<body pos="0 0 0.1">{waist}<geom type="box" size="0.08 0.14 0.16" pos="0 0 0.22"/>{arms}'
        f'<body pos="0 0 0.42">{neck}<geom type="sphere" size="0.09" pos="0 0 0.1"/></body></body></body>')
    more = servos(names, 600, 30, 150) if stands else ''
    return model('humanoid', world, more, 'damping="1" armature="0.02" frictionloss="0.2"')


def hand():
    """Five fingers of four joints, which close on a ball."""
    names, fingers = [], ''
    for k in range(5):
        y = 0.03 * (k - 2)
        tip = ''
        for part in (2, 1, 0):
            names.append(f'f{k}_{part}')
            size = 0.009 - 0.001 * part
            spread = ''
            if part == 0:
                names.append(f'f{k}_spread')
                spread = hinge(f'f{k}_spread', '1 0 0', -0.3, 0.3)
            at = f'0.03 {y} 0.1' if part == 0 else '0 0 0.035'
            tip = (f'<body pos="{at}">{spread}{hinge(f"f{k}_{part}", "0 1 0", -0.2, 1.6)}'
                   f'<geom type="capsule" size="{size}" fromto="0 0 0.008 0 0 0.03" contype="2" conaffinity="1"/>{tip}</body>')
        fingers += tip
    # the palm faces up, and the ball lies on it
    world = (f'<body pos="0 0 0.3" euler="0 {-0.5 * math.pi} 0">'
             f'<geom type="box" size="0.015 0.07 0.05" pos="0.02 0 0.05" contype="2" conaffinity="1"/>{fingers}</body>'
             '<body pos="-0.1 0 0.3745"><freejoint/><geom type="sphere" size="0.035" density="300"/></body>')
    pose = ''.join(f'<position joint="{j}" kp="2" kv="0.05" forcerange="-1 1"/>' for j in names)
    close = ' '.join('0' if j.endswith('spread') else '0.9' for j in names)
    key = f'<keyframe><key qpos="{"0 " * len(names)}-0.1 0 0.3745 1 0 0 0" ctrl="{close}"/></keyframe>'
    return model('hand', world, f'<actuator>{pose}</actuator>{key}', 'damping="0.02" armature="0.0005"')


def closed_leg():
    """Two legs, each a four-bar linkage closed by a point, under a body; servos on the cranks."""
    names, legs, ties = [], '', ''
    for side, y in (('l', 0.12), ('r', -0.12)):
        names.append(side + '_crank')
        legs += (
            f'<body name="{side}_thigh" pos="0.06 {y} 0">{hinge(side + "_crank", "0 1 0", -1.2, 1.2)}'
            '<geom type="capsule" size="0.02" fromto="0 0 -0.03 0 0 -0.27"/>'
            f'<body name="{side}_shank" pos="0 0 -0.3">{hinge(side + "_knee", "0 1 0", -1.5, 1.5)}'
            '<geom type="capsule" size="0.018" fromto="-0.1 0 0 0 0 -0.27"/>'
            '<geom type="sphere" size="0.03" pos="0 0 -0.3"/></body></body>'
            f'<body name="{side}_rod" pos="-0.04 {y} 0">{hinge(side + "_rod", "0 1 0", -1.5, 1.5)}'
            '<geom type="capsule" size="0.01" fromto="0 0 -0.03 0 0 -0.27" contype="0" conaffinity="0"/></body>')
        ties += f'<connect body1="{side}_rod" body2="{side}_shank" anchor="0 0 -0.3"/>'
    # the second pair keeps it upright
    world = ('<body name="trunk" pos="0 0 0.63"><joint name="up" type="slide" axis="0 0 1" damping="0" armature="0" frictionloss="0"/>'
             '<joint name="pitch" axis="0 1 0" range="-0.5 0.5"/>'
             f'<geom type="box" size="0.12 0.1 0.06"/>{legs}</body>')
    return model('closed-leg', world, f'<equality>{ties}</equality>' + servos(names, 400, 15, 60))


def quadruped(k, x, y):
    names, legs = [], ''
    for i, (dx, dy) in enumerate(((0.18, 0.1), (0.18, -0.1), (-0.18, 0.1), (-0.18, -0.1))):
        hip, knee = f'q{k}_hip{i}', f'q{k}_knee{i}'
        names += [hip, knee]
        legs += (f'<body pos="{dx} {dy} 0" euler="0 0.6 0">{hinge(hip, "0 1 0", -1.2, 1.2)}'
                 '<geom type="capsule" size="0.02" fromto="0 0 -0.02 0 0 -0.18" contype="2" conaffinity="1"/>'
                 f'<body pos="0 0 -0.2" euler="0 -1.2 0">{hinge(knee, "0 1 0", -1, 1)}'
                 '<geom type="capsule" size="0.015" fromto="0 0 -0.02 0 0 -0.18" contype="2" conaffinity="1"/>'
                 '<geom type="sphere" size="0.02" pos="0 0 -0.2" contype="2" conaffinity="1"/></body></body>')
    height = 0.4 * math.cos(0.6) + 0.0201
    return (f'<body pos="{x} {y} {height}"><freejoint/>'
            f'<geom type="box" size="0.2 0.08 0.05" contype="2" conaffinity="1"/>{legs}</body>'), names


def crowd(count):
    world, names, side = '', [], math.ceil(math.sqrt(count))
    for k in range(count):
        body, own = quadruped(k, 0.9 * (k % side), 0.6 * (k // side))
        world += body
        names += own
    return model(f'crowd-{count}', world, servos(names, 120, 4, 25))


def machines():
    out = {'humanoid-stands': humanoid(True), 'humanoid-falls': humanoid(False), 'hand-20': hand(),
           'closed-leg': closed_leg()}
    for name in ('quadruped', 'gripper'):
        out[name] = os.path.join(EXAMPLES, f'{name}.xml')
    for count in CROWDS:
        out[f'crowd-{count}'] = crowd(count)
    return out


def mujoco(folder, files, steps):
    """Times by name; empty where MuJoCo or the loader of its files is absent."""
    if not folder or not os.path.isdir(os.path.join(folder, 'node_modules', '@mujoco', 'mujoco')):
        return {}
    times = {}
    for name, path in files.items():
        command = ['node', '--no-liftoff', os.path.join(HERE, 'mujoco.mjs'), ROOT, str(steps), '--hold', '--folder',
                   os.path.dirname(path), os.path.basename(path)]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        for line in run.stdout.splitlines():
            row = json.loads(line) if line.startswith('{') else {}
            times[name] = row.get('us')
    return times


def main():
    options = argparse.ArgumentParser()
    options.add_argument('program')
    options.add_argument('mujoco', nargs='?')
    options.add_argument('--steps', type=int, default=250)
    options.add_argument('--only')
    options.add_argument('--csv')
    o = options.parse_args()
    folder = os.path.join(os.path.abspath(o.mujoco or 'build/bench-robots'), 'own')
    os.makedirs(folder, exist_ok=True)
    files = {}
    for name, text in machines().items():
        if o.only and o.only not in name:
            continue
        files[name] = text
        if text.startswith('<'):
            files[name] = os.path.join(folder, f'{name}.xml')
            with open(files[name], 'w') as file:
                file.write(text)
    theirs = mujoco(o.mujoco, files, o.steps)
    rows, failed = [], 0
    print(f"{'machine':18} {'certified':>9} {'contacts':>8} {'mean us':>9} {'worst':>9} {'MuJoCo':>9} {'ratio':>7}")
    for name, path in files.items():
        try:
            run = subprocess.run([o.program, path, str(o.steps)], capture_output=True, text=True, timeout=SECONDS)
            ours = json.loads(run.stdout) if run.stdout else {'error': f'exit code {run.returncode}'}
        except subprocess.TimeoutExpired:
            ours = {'error': f'more than {SECONDS} s'}
        us = theirs.get(name)
        rows.append((name, ours, us))
        if 'error' in ours:
            print(f"{name:18} {ours['error'][:100]}", flush=True)
            failed += 1
            continue
        failed += ours['certified'] < o.steps
        print(f"{name:18} {ours['certified']:4}/{o.steps:<4} {ours['contacts']:8.1f} {ours['mean']:9.0f} {ours['worst']:9.0f} "
              f"{us or float('nan'):9.0f} {ours['mean'] / us if us else float('nan'):7.2f}", flush=True)
    crowds = [(int(name[6:]), ours['mean']) for name, ours, _ in rows if name.startswith('crowd-') and 'error' not in ours]
    if len(crowds) > 1:
        (n, first), (most, last) = crowds[0], crowds[-1]
        print(f'growth from {n} to {most} quadrupeds: exponent {math.log(last / first) / math.log(most / n):.2f}')
    print(f'{len(rows) - failed} of {len(rows)} machines certified in all of {o.steps} steps')
    if o.csv:
        with open(o.csv, 'w') as file:
            file.write('machine,steps,certified,contacts,mean_us,median_us,worst_us,residual,mujoco_us\n')
            for name, ours, us in rows:
                keys = ('steps', 'certified', 'contacts', 'mean', 'median', 'worst', 'residual')
                file.write(','.join([name] + [str(ours.get(k, '')) for k in keys] + [str(us or '')]) + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
