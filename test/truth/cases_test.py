#!/usr/bin/env python3
# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Scenes that others wrote and that once were passed wrong or refused right, through the command line.

    cases_test.py PERP

They are read from PERP_DATA_DIR/cases, or ../shared/cases beside the project; without them the test is skipped. Each
has what is right in numbers, and the run is judged by judge.py, which shares nothing with perp.
"""
import csv
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

import judge as judging

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ.get('PERP_DATA_DIR') or os.path.join(HERE, '..', '..', '..', 'shared')
CASES = os.path.join(DATA, 'cases')
SKIPPED = 77
PASSED, NOT_SOLVED, VIOLATED = 0, 3, 4


class Run:
    def __init__(self, perp, file, options, folder):
        path = os.path.join(CASES, file)
        self.text = open(path).read()
        self.folder = os.path.join(folder, 'run')
        began = time.monotonic()
        ended = subprocess.run([perp, 'run', path, '-o', self.folder, '--no-figures', '--no-replay'] + options,
                               capture_output=True, text=True, timeout=200)
        self.seconds = time.monotonic() - began
        self.exit, self.said = ended.returncode, ended.stdout + ended.stderr
        self.options, self.perp = options, perp

    def rows(self, body):
        found = glob.glob(os.path.join(self.folder, 'bodies.csv*'))
        with open(found[0], newline='') as f:
            return [{k: float(v) for k, v in r.items() if k != 'body'} for r in csv.DictReader(f) if r['body'] == body]

    def speed(self, body):
        return max(sum(r.get(k, 0.0) ** 2 for k in ('vx', 'vy', 'vz')) ** 0.5 for r in self.rows(body))

    def contacts(self):
        found = glob.glob(os.path.join(self.folder, 'contacts.csv*'))
        with open(found[0], newline='') as f:
            return list(csv.DictReader(f))

    def judged(self):
        """As the scene would say it had the options been in it."""
        scene = json.loads(self.text)
        for key, value in zip(self.options[::2], self.options[1::2]):
            key = key.lstrip('-').replace('-', '_')
            scene[key] = float(value) if key in ('step', 'until') else value
        verdict, beyond, _, _ = judging.judge(json.dumps(scene), self.folder)
        return verdict, beyond


def right(run):
    """Passed, and the judge finds nothing wrong."""
    verdict, beyond = run.judged()
    return (run.exit == PASSED and verdict != 'wrong') or 'exit %d, judged %s %s' % (run.exit, verdict, beyond)


def honest(run):
    """Right, or not passed."""
    return run.exit in (NOT_SOLVED, VIOLATED) or right(run)


def checked(run):
    """`perp check` reaches the verdict of `perp run` from the recording alone."""
    ended = subprocess.run([run.perp, 'check', run.folder], capture_output=True, text=True, timeout=200)
    violated = 'certificate violated' in run.said
    return (ended.returncode == (VIOLATED if violated else PASSED)) or 'perp check: exit %d\n%s' % (ended.returncode, ended.stdout)


def near(value, wanted, within):
    return abs(value - wanted) <= within or '%g, not %g' % (value, wanted)


def at_rest(run):
    return run.exit == PASSED and 'the initial state was corrected' in run.said and run.speed('a') < 1e-6 or 'speed %g' % run.speed('a')


def hits_the_floor(run):
    return bool(run.contacts()) and right(run)


def law_is_named(run):
    """Newton's law is kept, or an event says what took its place."""
    impacts = [e for e in map(json.loads, open(os.path.join(run.folder, 'events.jsonl'))) if e['event'] == 'impact']
    kept = all(abs(e['rate_after'] + e['rate_before']) < 1e-9 or 'was used instead' in e.get('remark', '') for e in impacts)
    return (run.exit == PASSED and bool(impacts) and kept) or 'exit %d, %s' % (run.exit, impacts)


def passed(run):
    return run.exit == PASSED or 'exit %d' % run.exit


def hangs(run):
    """Passed, and the energy of no frame exceeds that of the first."""
    scene, total = json.loads(run.text), {}
    for b in scene['bodies']:
        for r in run.rows(b['name']):
            turn = b['inertia'] * r['omega'] ** 2 if not isinstance(b['inertia'], list) else 0.0
            kinetic = 0.5 * b['mass'] * (r['vx'] ** 2 + r['vy'] ** 2 + r.get('vz', 0.0) ** 2) + 0.5 * turn
            up = r.get('z', r['y'])
            total[r['t']] = total.get(r['t'], 0.0) + kinetic + 9.81 * b['mass'] * up
    most = sum(9.81 * b['mass'] for b in scene['bodies'])
    first = total[min(total)]
    return (run.exit == PASSED and max(total.values()) <= first + 1e-6 * most) or 'exit %d, energy %g above %g' % (
        run.exit, max(total.values()) - first, first)


def refused_or_hangs(run):
    return run.exit in (NOT_SOLVED, VIOLATED) or hangs(run)


def shows_its_error(run):
    return (run.exit == PASSED and 'error of the motion' in run.said and 'not estimated' not in run.said) or run.said


def soon(run):
    """A step that has no answer ends by the limit of work: seconds, not minutes."""
    return run.seconds < 100 or '%.0f s' % run.seconds


def no_formula(run):
    text = open(os.path.join(run.folder, 'bodies.csv')).read()
    return run.exit == PASSED and not any(cell[:1] in '=+@' for line in text.splitlines() for cell in line.split(',')) or text[:200]


# What each must show: a list of functions that give True, or what is wrong.
TABLE = [
    ('overlap-cube.json', [], [at_rest, right]),
    ('heavy-chain-5-50000.json', ['--coordinates', 'joint'], [honest]),
    ('heavy-chain-5-50000.json', [], [honest]),
    ('heavy-chain-50-100.json', ['--until', '4'], [refused_or_hangs]),
    ('heavy-chain-50-50000.json', ['--until', '0.5'], [refused_or_hangs]),
    ('heavy-chain-50-100.json', ['--coordinates', 'joint', '--until', '2'], [refused_or_hangs]),
    ('heavy-chain-50-50000.json', ['--coordinates', 'joint', '--until', '2'], [refused_or_hangs]),
    ('heavy-chain-5-50000.json', ['--stepper', 'implicit'], [hangs]),
    ('heavy-chain-50-100.json', ['--stepper', 'implicit', '--until', '2'], [hangs]),
    ('heavy-chain-50-50000.json', ['--stepper', 'implicit', '--until', '2'], [hangs]),
    ('apart.json', ['--stepper', 'moreau-jean'], [right]),
    ('box-tiles-2d.json', ['--step', '0.004'], [right, lambda r: near(r.rows('b')[-1]['x'], 0.676, 0.004)]),
    ('ball-tiles.json', ['--stepper', 'event'], [right]),
    ('pendfloor.json', [], [hits_the_floor]),
    ('masse.json', ['--until', '1.2'], [right, lambda r: near(r.rows('ball')[-1]['wz'], 25.0, 0.01)]),
    ('jointfriction.json', ['--step', '0.002'], [right]),
    ('boxfail-box-3-0.0.json', ['--stepper', 'event', '--step', '0.01'], [right]),
    ('door.json', ['--stepper', 'event'], [right]),
    ('door.json', ['--coordinates', 'joint', '--step', '0.005'], [right]),
    ('rodimp.json', ['--stepper', 'event'], [law_is_named]),
    ('arm-hits-belt.json', [], [lambda r: (r.exit == NOT_SOLVED and "joint 'yaw' drives 'fore' against 'belt'" in r.said) or r.said]),
    ('four-bar-motor.json', ['--coordinates', 'joint', '--until', '2', '--accuracy', '0.01'], [shows_its_error]),
    ('humanoid-limits.json', ['--until', '0.2'], [right]),
    ('event-grasp-zeno.json', ['--stepper', 'event', '--until', '0.2'], [passed]),
    ('pyramid-91-boxes.json', ['--until', '0.1'], [passed]),
    ('fast-ball-jam.json', [], [right]),
    ('attack/event-tunnel-disc.json', [], [honest]),
    ('attack/scheme-tunnel-disc.json', [], [honest]),
    ('attack/mesh-let-through.json', [], [honest]),
    ('attack/overlap-makes-energy.json', [], [honest]),
    ('attack/drive-jumps.json', [], [honest]),
    ('attack/drive-to-infinity.json', [], [honest]),
    ('attack/heavy-1e12.json', [], [honest]),
    ('attack/slow-step-9-bodies.json', ['--stepper', 'stewart-trinkle'], [soon, honest]),
    ('attack/slow-step-quasistatic.json', ['--stepper', 'quasistatic', '--form', 'cone', '--friction', 'pyramid'], [soon, honest]),
    ('attack/slow-step-quasistatic.json', [], [soon, honest]),
    ('attack/csv-formula.json', [], [no_formula]),
]


def solutions(perp, folder):
    """Problems of complementarity that were solved wrong under scaling: the exact answer, or no `solved`."""
    for file, wanted in (('lcp-wrong-rows.json', (1.25, 2.0)), ('lcp-wrong-both.json', (8.9e-13, 1.02e12))):
        path, out = os.path.join(CASES, 'attack', file), os.path.join(folder, 'z.csv')
        ended = subprocess.run([perp, 'solve', path, '-q', '-o', out], capture_output=True, text=True, timeout=60)
        found = [float(line) for line in open(out).read().split()]
        fits = all(abs(a - b) <= 0.01 * abs(b) for a, b in zip(found, wanted))
        yield file, ended.returncode == NOT_SOLVED or fits or 'z = %s' % found


def units(perp, folder):
    """The same motion in metres and millimetres gets the same verdict."""
    exits = [Run(perp, 'attack/similar-%s.json' % u, [], os.path.join(folder, u)).exit for u in ('1m', '1mm')]
    return exits[0] == exits[1] or 'exits %s' % exits


def all_results(perp, folder):
    """Name, result and seconds of each, as they come."""
    for i, (file, options, checks) in enumerate(TABLE):
        run = Run(perp, file, options, os.path.join(folder, str(i)))
        for check in checks + [checked]:
            yield file + ' ' + ' '.join(options), check(run), run.seconds
    for file, result in solutions(perp, folder):
        yield file, result, 0.0
    yield 'similar', units(perp, folder), 0.0


def main(perp):
    if not os.path.isdir(CASES):
        print('skipped: %s is not here: set PERP_DATA_DIR' % CASES)
        return SKIPPED
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, result, seconds in all_results(perp, folder):
            failed += result is not True
            print('%-60s %5.1f s  %s' % (name, seconds, 'right' if result is True else result), flush=True)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
