#!/usr/bin/env python3
# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Smooth dynamics of reference robots: mass matrix, bias, forces and accelerations, against MuJoCo's numbers.

    robots_test.py PERP [ROBOT...]

Robots are read from PERP_DATA_DIR/robots, or ../shared/robots beside the project; without them the test is skipped.
Each state of a robot becomes a scene, whose equations `perp explain --coordinates joint --json` prints. Limits as in
the README of the robots: 1e-9 in units of the diagonal of M."""
import glob
import json
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', '..', 'bench', 'robots'))
from scene_of import Beyond, Unfit, cross, matrix, name_of, scene_of, unit  # noqa: E402

DATA = os.environ.get('PERP_DATA_DIR') or os.path.join(HERE, '..', '..', '..', 'shared')
ROBOTS = os.path.join(DATA, 'robots', 'oracle', 'mjcf')
CLOSE = 1e-9
STATES = 3  # of each robot: the keyframe and two random ones


def places(robot, names):
    """For each velocity of MuJoCo its place among perp's; None: another machine."""
    at = {name: k for k, name in enumerate(names)}
    order = []
    for joint in robot['joints']:
        label = name_of(joint, 'joint')
        body = name_of(robot['bodies'][joint['body']], 'body')
        if joint['type'] == 'free':
            order += [at.get(f'{body}.{x}') for x in ('vx', 'vy', 'vz', 'wx', 'wy', 'wz')]
        elif joint['type'] == 'ball':
            order += [at.get(f'{label}.{x}') for x in ('wx', 'wy', 'wz')]
        else:
            order.append(at.get(f"{label}.{'speed' if joint['type'] == 'slide' else 'rate'}"))
    return None if None in order or len(order) != len(names) else order


def centres(robot, scene, state):
    """Of each free joint: first velocity, R of its body, and the centre of mass from its origin in body axes."""
    of = {b['name']: b for b in scene['bodies']}
    for joint in robot['joints']:
        if joint['type'] == 'free':
            body = robot['bodies'][joint['body']]
            q = unit(state['xquat'][body['id']])
            R = matrix(q)
            r = [a - b for a, b in zip(of[name_of(body, 'body')]['position'], state['xpos'][body['id']])]
            yield joint['dof'], R, [sum(R[i][k] * r[i] for i in range(3)) for k in range(3)]


def transform(robot, scene, state, n):
    """T with v_perp = T v_mujoco: the centre of mass moves with v + R (w x c); and T' of accelerations at rest of v."""
    T = [[float(i == j) for j in range(n)] for i in range(n)]
    for at, R, c in centres(robot, scene, state):
        for k in range(3):
            e = [float(i == k) for i in range(3)]
            wc = cross(e, c)
            for i in range(3):
                T[at + i][at + 3 + k] = sum(R[i][j] * wc[j] for j in range(3))
    return T


def product(A, B):
    return [[sum(a * b for a, b in zip(row, column) if a and b) for column in zip(*B)] for row in A]


def transposed(A):
    return [list(row) for row in zip(*A)]


def compare(robot, state, printed, scene, worst):
    n = robot['size']['nv']
    order = places(robot, printed['names'])
    if order is None:
        raise Unfit('another tree of joints')
    T = transform(robot, scene, state, n)
    H = [[printed['H'][order[i]][order[j]] for j in range(n)] for i in range(n)]
    H = product(transposed(T), product(H, T))
    forces = [printed['Bu'][order[i]] for i in range(n)]
    forces = [sum(T[k][i] * forces[k] for k in range(n)) for i in range(n)]
    packed = iter([x for row in state['M'] for x in row])
    M = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            M[i][j] = M[j][i] = next(packed)
    d = [math.sqrt(M[i][i]) for i in range(n)]
    for i in range(n):
        for j in range(n):
            worst['M'] = max(worst['M'], abs(H[i][j] - M[i][j]) / (d[i] * d[j]))
    given = [a + b for a, b in zip(state.get('passive', [0.0] * n), state.get('actuator', [0.0] * n))]
    size = max([abs(f) / s for f, s in zip(given, d)] + [max(d)])
    weighs = not any(body.get('gravcomp') for body in robot['bodies'])  # else part of the bias
    for i in range(n):
        worst['force'] = max(worst['force'], abs(forces[i] - given[i]) / d[i] / size if weighs else 0.0)
    if any(True for _ in centres(robot, scene, state)) or 'qacc' not in state:
        return  # accelerations of another point
    size = max([abs(a) * s for a, s in zip(state['qacc'], d)] + [max(d)])
    for i in range(n):
        off = abs(printed['qdd'][order[i]] - state['qacc'][i]) * d[i]
        worst['qacc'] = max(worst['qacc'], off / size)


def judge(perp, path):
    with open(path) as file:
        robot = json.load(file)
    worst = {'M': 0.0, 'force': 0.0, 'qacc': 0.0}
    judged = 0
    for state in robot['states']:
        try:
            scene = scene_of(robot, state=state)
        except Beyond:
            continue
        judged += 1
        if judged > STATES:
            break
        run = subprocess.run([perp, 'explain', '-', '--coordinates', 'joint', '--json'], input=json.dumps(scene),
                             capture_output=True, text=True)
        if run.returncode != 0:
            raise Unfit(run.stderr.strip().splitlines()[-1][:160] if run.stderr else f'exit code {run.returncode}')
        compare(robot, state, json.loads(run.stdout), scene, worst)
    if judged == 0:
        raise Unfit('all states are beyond half a turn')
    return worst


def main():
    perp = sys.argv[1]
    paths = sys.argv[2:] or sorted(glob.glob(os.path.join(ROBOTS, '**', '*.json'), recursive=True))
    if not paths:
        print('skipped: %s is not here: set PERP_DATA_DIR' % ROBOTS)
        return 77
    if not sys.argv[2:]:  # one of the variants in a folder: the dynamics are those of the robot in all of them
        first = {}
        for path in paths:
            folder = os.path.dirname(path)
            key = path if os.path.basename(folder) in ('dm_control', 'gymnasium') else folder
            first.setdefault(key, path)
        paths = sorted(first.values())
    agreed, failed = 0, 0
    for path in paths:
        name = os.path.relpath(path, ROBOTS)
        try:
            worst = judge(perp, path)
        except Unfit as why:
            print(f'left out  {name}: {why}')
            continue
        good = all(x <= CLOSE for x in worst.values())
        agreed += good
        failed += not good
        print(('agrees    ' if good else 'DIFFERS   ') + name + ''.join(f'  {k} {v:.1e}' for k, v in worst.items()))
    print(f'{agreed} robots agree, {failed} differ')
    return 1 if failed or (not sys.argv[2:] and agreed < 20) else 0


if __name__ == '__main__':
    sys.exit(main())
