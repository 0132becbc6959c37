#!/usr/bin/env python3
# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Every row of judge.py can fail: right recordings are judged right, and each kind of forgery is found by its row.

    rows_test.py PERP
"""
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile

import judge as judging

SLIDE = {'name': 'slide', 'step': 0.01, 'until': 0.3, 'shapes': [{'name': 'floor', 'kind': 'halfplane', 'mu': 0.3}],
         'bodies': [{'name': 'b', 'position': [0, 0.25], 'velocity': [2, 0], 'mass': 2, 'inertia': 0.2,
                     'shapes': [{'kind': 'box', 'size': [1, 0.5], 'mu': 0.3}]}]}
BOUNCE = {'name': 'bounce', 'step': 0.01, 'until': 0.6, 'shapes': [{'name': 'floor', 'kind': 'halfplane', 'restitution': 1, 'mu': 0}],
          'bodies': [{'name': 'b', 'position': [0, 1], 'mass': 1, 'inertia': 0.1,
                      'shapes': [{'kind': 'disc', 'radius': 0.2, 'restitution': 1, 'mu': 0}]}]}
WALL = {'name': 'wall', 'step': 0.01, 'until': 0.4, 'gravity': [0, 0],
        'shapes': [{'name': 'wall', 'kind': 'box', 'size': [0.05, 4], 'position': [1, 0]}],
        'bodies': [{'name': 'b', 'position': [0, 0], 'velocity': [1, 0], 'mass': 1, 'inertia': 0.1, 'shapes': [{'kind': 'disc', 'radius': 0.1}]}]}
SWING = {'name': 'swing', 'step': 0.005, 'until': 0.3, 'bodies': [{'name': 'b', 'position': [0.5, 0], 'mass': 1, 'inertia': 0.1}],
         'joints': [{'name': 'pin', 'kind': 'revolute', 'b': 'b', 'at': [0, 0], 'friction': 0.5}]}
PIN = {'name': 'pin', 'step': 0.005, 'until': 0.3, 'bodies': SWING['bodies'],
       'joints': [{'name': 'pin', 'kind': 'revolute', 'b': 'b', 'at': [0, 0]}]}
STOP = {'name': 'stop', 'step': 0.005, 'until': 0.5, 'bodies': [{'name': 'b', 'position': [0.5, 0], 'mass': 1, 'inertia': 0.1}],
        'joints': [{'name': 'pin', 'kind': 'revolute', 'b': 'b', 'at': [0, 0], 'lower': -0.3, 'upper': 0.3}]}
PUSH = {'name': 'push', 'step': 0.01, 'until': 0.3, 'shapes': [{'name': 'floor', 'kind': 'halfplane', 'mu': 0.3}],
        'bodies': [{'name': 'p', 'position': [0, 0.25], 'drive': {'x': '0.5*t'}, 'shapes': [{'kind': 'box', 'size': [0.2, 0.5]}]},
                   {'name': 'b', 'position': [0.4, 0.25], 'mass': 2, 'inertia': 0.2, 'shapes': [{'kind': 'box', 'size': [0.5, 0.5]}]}]}
TILES = {'name': 'tiles', 'step': 0.005, 'until': 0.2, 'stepper': 'anitescu-potra',
         'shapes': [{'name': 't%d' % i, 'kind': 'box', 'size': [1, 0.2], 'position': [i, -0.1], 'mu': 0.2} for i in range(3)],
         'bodies': [{'name': 'b', 'position': [0.1, 0.25], 'velocity': [1, 0], 'mass': 1, 'inertia': 0.05,
                     'shapes': [{'kind': 'box', 'size': [0.5, 0.5], 'mu': 0.2}]}]}
SPIN = {'name': 'spin', 'step': 0.002, 'until': 0.1, 'shapes': [{'name': 'floor', 'kind': 'halfspace', 'mu': 0.2}],
        'bodies': [{'name': 'b', 'kind': 'solid', 'position': [0, 0, 0.1], 'velocity': [1, 0, 0], 'spin': [0, -20, 10], 'mass': 1,
                    'inertia': [0.004, 0.004, 0.004], 'shapes': [{'kind': 'sphere', 'radius': 0.1, 'mu': 0.2}]}]}
EVENT = dict(BOUNCE, name='event', stepper='event')
SUNK = dict(SLIDE, name='sunk', stepper='anitescu-potra', until=0.05,
            bodies=[dict(SLIDE['bodies'][0], position=[0, 0.2], velocity=[0, 0])])
SHOT = {'name': 'shot', 'step': 0.016, 'until': 0.2,   # several impacts in a step
        'shapes': [{'name': 'w', 'kind': 'box', 'size': [0.4, 3], 'position': [-1.2, 0]}, {'name': 'e', 'kind': 'box', 'size': [0.4, 3], 'position': [1.2, 0]}],
        'bodies': [{'name': 'b', 'position': [0, 0], 'velocity': [90, 3], 'spin': 20, 'mass': 2, 'inertia': 0.01,
                    'shapes': [{'kind': 'disc', 'radius': 0.1, 'mu': 0.3, 'restitution': 0.8}]}]}
MIXED = {'name': 'mixed', 'step': 0.005, 'until': 0.6, 'groups': ['scene', 'robot'], 'exclude': [['c', 'd']],
         'shapes': [{'name': 'floor', 'kind': 'halfplane', 'mu': 0.8, 'group': ['scene'], 'mask': ['scene', 'robot']},
                    {'name': 'ice', 'kind': 'box', 'size': [4, 0.1], 'position': [2, 0], 'mu': 0.02, 'priority': 1, 'mask': 3}],
         'bodies': [{'name': 'b', 'position': [1, 0.3], 'velocity': [1, 0], 'mass': 3, 'inertia': 1,
                     'shapes': [{'kind': 'box', 'size': [0.6, 0.5], 'combine': 'max', 'mu': 0.9}]},
                    {'name': 'light', 'position': [-3, 1], 'gravity_scale': 0.25, 'mass': 1, 'inertia': 0.1},
                    {'name': 'ghost', 'position': [-6, 0.4], 'mass': 1, 'inertia': 0.1,
                     'shapes': [{'kind': 'disc', 'radius': 0.3, 'group': 4, 'mask': 4}]},
                    {'name': 'c', 'position': [8, 2], 'gravity_scale': 0, 'velocity': [1, 0], 'mass': 1, 'inertia': 0.1,
                     'shapes': [{'kind': 'disc', 'radius': 0.3}]},
                    {'name': 'd', 'position': [8.9, 2], 'gravity_scale': 0, 'velocity': [-1, 0], 'mass': 1, 'inertia': 0.1,
                     'shapes': [{'kind': 'disc', 'radius': 0.3}]}]}
CLIP = {'name': 'clip', 'gravity': [0, 0], 'step': 3, 'until': 3,   # a point comes from aside and clips a corner
        'bodies': [{'name': 'corner', 'position': [0, 0], 'angle': 0.6375279, 'velocity': [0.08874119, -0.0511], 'spin': 0.00643984, 'mass': 2.42,
                    'inertia': 1.4, 'shapes': [{'kind': 'polygon', 'vertices': [[0.53773, -1.12203], [0.70284, 1.0267], [-1.24057, 0.09533]], 'mu': 0.3}]},
                   {'name': 'tip', 'position': [2.79222, -2.434427], 'angle': -1.3291576, 'velocity': [-0.08440987, -0.0654], 'spin': 0.05358168,
                    'mass': 1.107, 'inertia': 1.76, 'shapes': [{'kind': 'point', 'position': [-2.260851, -0.846882], 'mu': 0.5}]}]}
KEPT = {'name': 'kept', 'start': 'as given', 'step': 0.01, 'until': 0.2, 'gravity': [0, 0],   # pushed out of the floor by closings
        'shapes': [{'name': 'f', 'kind': 'halfplane'}],
        'bodies': [{'name': 'b', 'position': [0, 0.496], 'angle': 0.003, 'mass': 2, 'inertia': 0.3, 'shapes': [{'kind': 'box', 'size': [1, 1]}]}]}
IMPLICIT = [dict(scene, name='implicit ' + scene['name'], stepper='implicit') for scene in (SLIDE, SWING, STOP, SPIN)]
RIGHT = [MIXED, SHOT, SLIDE, BOUNCE, WALL, SWING, PIN, STOP, PUSH, TILES, SPIN, CLIP, KEPT, EVENT] + IMPLICIT


class Recording:
    """The tables of one run, to be forged and written again."""

    def __init__(self, folder):
        self.folder = folder
        self.tables = {}
        for name in ('bodies', 'contacts', 'part_bodies', 'part_contacts'):
            if not os.path.exists(os.path.join(folder, name + '.csv')):
                continue
            with open(os.path.join(folder, name + '.csv'), newline='') as f:
                r = csv.DictReader(f)
                self.tables[name] = (r.fieldnames, list(r))

    def bodies(self, name='b', first=0, last=None):
        return [r for r in self.tables['bodies'][1] if r['body'] == name][first:last]

    def contacts(self):
        return self.tables['contacts'][1]

    def parts(self, table, first=0, last=None):
        return [r for r in self.tables['part_' + table][1] if float(r.get('pn', 1)) > 0][first:last]

    def write(self, folder):
        shutil.copytree(self.folder, folder, ignore=lambda d, names: [n for n in names if n.endswith('.h5')])
        for name, (fields, rows) in self.tables.items():
            with open(os.path.join(folder, name + '.csv'), 'w', newline='') as f:
                w = csv.DictWriter(f, fields)
                w.writeheader()
                w.writerows(rows)


def shift(rows, key, by):
    for r in rows:
        r[key] = repr(float(r[key]) + by)


def scale(rows, key, by):
    for r in rows:
        r[key] = repr(float(r[key]) * by)


def loaded(rec):
    return [c for c in rec.contacts() if float(c['pn']) > 0]


def closed(rec):
    return [c for c in rec.parts('contacts') if c['kind'] == 'close' and float(c['pn']) > 0]


def seam(rec):
    """The box's leading corner at the seam is made to push it back."""
    c = loaded(rec)[len(loaded(rec)) // 2]
    x = [r for r in rec.bodies() if r['t'] < c['t']][-1]
    c['body_a'], c['shape_a'] = 'ground', 't1'
    c['x'], c['y'], c['nx'], c['ny'], c['pn'] = repr(0.5), '0', '-1', '0', '0.9'
    shift([x], 'x', 0.25 - float(x['x']))


# (scene, row, forgery)
FORGERIES = [
    (SLIDE, 'finite', lambda r: r.bodies()[3].update(vx='nan')),
    (SLIDE, 'start', lambda r: shift(r.bodies(), 'x', 0.3)),
    (SLIDE, 'start', lambda r: scale(r.bodies(first=0, last=1), 'vx', 1.1)),
    (SLIDE, 'penetration', lambda r: shift(r.bodies(first=5, last=6), 'y', -0.3)),
    (WALL, 'path', lambda r: shift(r.bodies(first=20), 'x', 1.3)),
    (SLIDE, 'motion', lambda r: scale(r.bodies(first=5, last=6), 'vx', 1.1)),
    (SPIN, 'motion', lambda r: scale(r.bodies(first=5, last=6), 'wy', 1.1)),
    (PUSH, 'drive', lambda r: shift(r.bodies('p', first=5, last=6), 'x', 0.05)),
    (SLIDE, 'momentum', lambda r: scale(loaded(r)[5:6], 'pn', 1.1)),
    (PIN, 'momentum', lambda r: shift(r.bodies(first=5, last=6), 'omega', 1.0)),
    (SPIN, 'turning', lambda r: scale(r.bodies(first=25), 'wz', 0.2)),
    (SLIDE, 'pull', lambda r: scale(loaded(r)[5:6], 'pn', -1)),
    (SLIDE, 'cone', lambda r: scale(loaded(r)[5:6], 'pfx', 1.2)),
    (SPIN, 'cone', lambda r: scale(loaded(r)[5:6], 'pfx', 3)),
    (SLIDE, 'slip', lambda r: scale(loaded(r)[5:6], 'pfx', 0.5)),
    (SPIN, 'slip', lambda r: scale(loaded(r)[5:6], 'pfx', -1)),
    (SLIDE, 'rebound', lambda r: shift(r.bodies(first=5), 'vy', 5.0)),
    (BOUNCE, 'restitution', lambda r: scale([b for b in r.bodies() if b['t'] >= loaded(r)[0]['t']], 'vy', 0.5)),
    (SLIDE, 'afar', lambda r: shift(r.bodies(first=4, last=6), 'y', 2.0)),
    (TILES, 'snag', seam),
    (SWING, 'joint', lambda r: shift(r.bodies(first=5, last=6), 'x', 0.2)),
    (STOP, 'limit', lambda r: shift(r.bodies(first=5, last=6), 'angle', -1.0)),
    (SWING, 'effort', lambda r: scale(r.bodies(first=30, last=31), 'omega', 2.0)),
    (SLIDE, 'energy', lambda r: scale(r.bodies(first=10), 'vx', 1.5)),
    (BOUNCE, 'energy step', lambda r: scale(r.bodies(first=20), 'vy', 2.0)),
    (SLIDE, 'island', lambda r: scale(r.bodies(first=10), 'vx', 1.5)),
    (SHOT, 'finite', lambda r: scale(r.parts('contacts', last=1), 'pn', 1.1)),
    (SHOT, 'finite', lambda r: scale(loaded(r)[:1], 'pn', 1.1)),
    (SHOT, 'motion', lambda r: scale(r.parts('bodies', last=1), 'vx', 1.1)),
    (SHOT, 'momentum', lambda r: scale(r.parts('bodies', last=1), 'vx', 1.1)),
    (SHOT, 'cone', lambda r: r.parts('contacts')[0].update(pfy='1e3')),
    (KEPT, 'motion', lambda r: scale(closed(r), 'pn', 1.1)),
    (KEPT, 'pull', lambda r: scale(closed(r), 'pn', -1)),
    (KEPT, 'motion', lambda r: shift(r.bodies(first=1) + r.parts('bodies', first=1), 'x', 0.001)),
    (KEPT, 'afar', lambda r: shift(r.bodies(first=1) + r.parts('bodies', first=1), 'y', 0.001)),
    (EVENT, 'energy', lambda r: scale(r.bodies(first=20), 'vy', 2.0)),
    (EVENT, 'momentum', lambda r: scale(loaded(r)[:1], 'pn', 1.1)),
]


# The recording of MIXED, judged by a scene that differs: (row, place of the key, key).
DIFFERENT = [
    ('momentum', lambda s: s['bodies'][1], 'gravity_scale'),
    ('penetration', lambda s: s['bodies'][2]['shapes'][0], 'group'),
    ('penetration', lambda s: s, 'exclude'),
    ('slip', lambda s: s['shapes'][1], 'priority'),
]


def event_lines(folder):
    """An impact of the event stepper that gives back half of what the law asks for."""
    path = os.path.join(folder, 'events.jsonl')
    lines = [json.loads(l) for l in open(path)]
    for e in lines:
        if e['event'] == 'impact':
            e['rate_after'] *= 0.5
    with open(path, 'w') as f:
        f.write(''.join(json.dumps(e) + '\n' for e in lines))


def main():
    if len(sys.argv) < 2 or not os.path.exists(sys.argv[1]):
        print('no perp to run: skipped')
        return 77
    failures = 0

    def expect(ok, what):
        nonlocal failures
        if not ok:
            failures += 1
            print('FAILED: ' + what)
    with tempfile.TemporaryDirectory() as work:
        runs = {}
        for scene in RIGHT + [SUNK]:
            path, out = os.path.join(work, scene['name'] + '.json'), os.path.join(work, scene['name'])
            with open(path, 'w') as f:
                json.dump(scene, f)
            done = subprocess.run([sys.argv[1], 'run', path, '-o', out, '--no-figures', '--no-replay', '-q'], capture_output=True, text=True, check=False)
            runs[scene['name']] = out
            verdict, beyond, _, _ = judging.judge(json.dumps(scene), out)
            if scene is not SUNK:
                expect(verdict == 'right', '%s is judged %s: %s' % (scene['name'], verdict, beyond))
        for k, (scene, row, forge) in enumerate(FORGERIES):
            if scene['name'] not in runs:
                continue
            rec = Recording(runs[scene['name']])
            forge(rec)
            out = os.path.join(work, 'forged%d' % k)
            rec.write(out)
            verdict, beyond, rows, _ = judging.judge(json.dumps(scene), out)
            expect(verdict == 'wrong' and row in beyond, '%s of %s is not found: %s %s' % (row, scene['name'], verdict, rows.get(row)))
        for row, place, key in DIFFERENT:
            other = json.loads(json.dumps(MIXED))
            del place(other)[key]
            verdict, beyond, rows, _ = judging.judge(json.dumps(other), runs['mixed'])
            expect(verdict == 'wrong' and row in beyond, 'without %s, %s is not found: %s %s' % (key, row, verdict, rows.get(row)))
        if 'event' in runs:
            out = os.path.join(work, 'halved')
            shutil.copytree(runs['event'], out)
            event_lines(out)
            expect('restitution' in judging.judge(json.dumps(EVENT), out)[1], 'half an impact is not found')
    print('%d forgeries, %d failures' % (len(FORGERIES) + len(DIFFERENT) + 1, failures))
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
