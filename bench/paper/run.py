#!/usr/bin/env python3
# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Published benchmarks, run by perp: one table with the published figures beside ours.

    run.py PERP_BENCH_PAPER [--only TEXT] [--cpu S] [--rows FILE] [--page FILE] [--scenes DIR]

--only: rows whose names contain the text. --cpu: seconds of CPU time of a row (default: what the row asks for). --rows:
results are kept in this file, and a row that is there already is not run again. --page: the tables replace the text
between their marks in the page. --scenes: writes the scenes to this folder and runs nothing.

The exit code is 1 if a step was not solved or not certified, or a row could not be run."""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import scenes  # noqa: E402

CPU = 60.0  # seconds of a row, unless it asks for more


class Run:
    """What a run left: the row of numbers, and the trace (lines of t and 13 numbers of each body)."""

    def __init__(self, scene, row, trace):
        self.scene, self.row, self.trace = scene, row, trace
        self.names = [body['name'] for body in scene['bodies']]

    def at(self, name, line=-1, names=None):
        """Pose and velocity of a body in a line: p (3), q (4), v (3), omega (3)."""
        k = 1 + 13 * (names or self.names).index(name)
        return self.trace[line][k:k + 13]

    def moved(self, begin, end, prefix=('',)):
        """The largest distance of a body from where it was at `begin`, until `end` [m]."""
        lines = [line for line in self.trace if begin - 1e-9 <= line[0] <= end + 1e-9]
        bodies = [k for k, name in enumerate(self.names) if name.startswith(prefix)]
        if not lines:
            return math.nan
        return max(math.dist(line[1 + 13 * k:4 + 13 * k], lines[0][1 + 13 * k:4 + 13 * k])
                   for line in lines for k in bodies)


def short(x):
    return '0' if x == 0 else f'{x:.2g}'


# ── What the scenes are measured by ──────────────────────────────────────────────────────────────

def slid(run):
    """Way down the slope, and what the equations give: free fall for 1 mm, an inelastic impact, then sliding or rest."""
    mu, angle = run.scene['shapes'][0]['mu'], math.atan(0.5)
    start, end = run.at('cube', 0), run.at('cube')
    way = (end[0] - start[0]) * math.cos(angle) - (end[2] - start[2]) * math.sin(angle)
    fall2 = 2.0 * 0.001 / (scenes.G * math.cos(angle))
    pull = scenes.G * (math.sin(angle) - mu * math.cos(angle))
    exact = 0.5 * scenes.G * math.sin(angle) * fall2
    if pull > 1e-12:
        exact += 0.5 * pull * (run.trace[-1][0] ** 2 - fall2)
    return f'slides {way:.5g} m (equations: {exact:.5g}), final speed {short(math.hypot(*end[7:10]))} m/s'


def rolled_back(run):
    last = run.at('ball')
    return f'v = {last[7]:.5f} m/s, ω = {last[11]:.4f} rad/s (exact: −11.42857, −45.7143)'


def on_disc(run):
    p = run.at('cube')
    radius = math.hypot(p[0], p[1])
    return f'stays, at radius {radius:.4f} m' if abs(p[2] - 0.25) < 1e-3 else 'leaves the disc'


def tipped(run):
    p = run.at('box')
    return f'slides {p[0]:.4f} m, ' + ('stays upright' if abs(p[2] - 0.3) < 1e-3 else 'tumbles')


def stood(prefix, begin, struck=True):
    """Whether a structure rests from `begin` until it is struck, and how far its top has fallen at the end."""
    def measure(run):
        last, rest = run.trace[-1][0], scenes.RELEASE if struck else run.trace[-1][0]
        if last < begin:
            return f'ended after {run.row["steps"]} steps'
        text = f'settles by {short(run.moved(0.0, begin, prefix))} m, then moves {short(run.moved(begin, rest, prefix))} m'
        if struck and last > scenes.RELEASE:
            before = max(k for k, line in enumerate(run.trace) if line[0] <= scenes.RELEASE + 1e-9)
            top = max((n for n in run.names if n.startswith(prefix)), key=lambda n: run.at(n, 0)[2])
            drop = run.at(top, before)[2] - run.at(top)[2]
            text += f'; struck, its top is {short(drop)} m lower at {last:.1f} s'
        return text
    return measure


def rolling_error(direction):
    """Mean over the steps of the squared errors of two velocities, as the benchmark defines it [m^2/s^2]."""
    def measure(run):
        names, total = ['box', 'ball0-0'], 0.0
        accelerations = scenes.rolling_speeds()
        for k in range(len(run.trace) - 1):
            for name, a in zip(names, accelerations):
                v = run.at(name, k, names)[7:10]
                exact = [a * run.trace[k][0] * c for c in direction] + [0.0]
                total += sum((x - y) ** 2 for x, y in zip(v, exact))
        return f'mean squared error of velocity {short(total / (len(run.trace) - 1))} m²/s²'
    return measure


def energy_error(run):
    return f"mean squared error of energy {short(run.row['energy2'])} J²"


def overlaps(run):
    return f"sum of squared overlaps, mean {short(run.row['overlap2'])} m²; deepest {short(run.row['gap'])} m"


def tower(run):
    moved = run.moved(0.0, run.trace[-1][0])
    return f'{run.trace[-1][0]:.0f} s of 600 run; ' + (f'stands, moves {short(moved)} m' if moved < 0.01 else 'collapsed')


def closed(run, reference):
    """Largest distance of the two copies of a pin, energy, and the angle beside a run between exact events."""
    lengths = {'crank': 0.10, 'coupler': 0.30, 'rocker': 0.25}

    def end(name, k, sign):
        p = run.at(name, k)
        angle = 2.0 * math.atan2(p[6], p[3])
        return (p[0] + sign * 0.5 * lengths[name] * math.cos(angle), p[1] + sign * 0.5 * lengths[name] * math.sin(angle))

    def energy(k):
        total = 0.0
        for name, length in lengths.items():
            p, mass = run.at(name, k), 2.0 * length
            total += 0.5 * mass * (p[7] ** 2 + p[8] ** 2) + 0.5 * mass * length ** 2 / 12.0 * p[12] ** 2
            total += mass * scenes.G * p[1]
        return total

    gap = max(max(math.dist(end('crank', k, 1.0), end('coupler', k, -1.0)),
                  math.dist(end('coupler', k, 1.0), end('rocker', k, 1.0))) for k in range(len(run.trace)))
    swing = max(sum(0.5 * 2.0 * length * (run.at(n, k)[7] ** 2 + run.at(n, k)[8] ** 2 + length ** 2 / 12.0 * run.at(n, k)[12] ** 2)
                    for n, length in lengths.items()) for k in range(len(run.trace)))
    drift = (energy(-1) - energy(0)) / swing
    text = f'closure {short(gap)} m, energy {100.0 * drift:+.2g} % of the largest kinetic energy'
    if reference:
        wrong = 0.0
        for k in range(len(run.trace)):
            for name in lengths:
                a, b = run.at(name, k), reference.at(name, k)
                turn = 2.0 * math.atan2(a[6], a[3]) - 2.0 * math.atan2(b[6], b[3])
                wrong = max(wrong, abs(math.remainder(turn, 2.0 * math.pi)))
        text += f', angle error {short(wrong)} rad'
    return text


def creep(name):
    def measure(run):
        first, last = run.at(name, 0), run.at(name)
        return f'creeps {short(abs(last[2] - first[2]) / run.trace[-1][0])} m/s'
    return measure


def turned(run):
    """Yaw rate beside the rate at which friction at the corners of the two contact areas has no moment, equal loads."""
    def corners(p):
        yaw = 2.0 * math.atan2(p[6], p[3])
        c, s = math.cos(yaw), math.sin(yaw)
        base = [(p[0] + 0.15 * (c * x - s * y), p[1] + 0.15 * (s * x + c * y))
                for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        loads = []
        for side, speed in ((1.0, 0.6), (-1.0, 0.4)):
            area = []
            for (ax, ay), (bx, by) in zip(base, base[1:] + base[:1]):
                if side * ay > 0.0:
                    area.append((ax, ay))
                if (side * ay > 0.0) != (side * by > 0.0):
                    area.append((ax + (bx - ax) * ay / (ay - by), 0.0))
            loads += [(x - p[0], y - p[1], speed, 0.5 / len(area)) for x, y in area]
        return loads

    def rate(p):
        loads = corners(p)

        def moment(w):
            total = 0.0
            for x, y, speed, load in loads:
                u, v = p[7] - w * y - speed, p[8] + w * x
                slip = math.hypot(u, v)
                total -= load * (x * v - y * u) / slip if slip > 0.0 else 0.0
            return total

        low, high = -2.0, 2.0
        for _ in range(80):  # the moment falls as the rate grows
            middle = 0.5 * (low + high)
            low, high = (middle, high) if moment(middle) > 0.0 else (low, middle)
        return 0.5 * (low + high)

    lines = range(21, len(run.trace))
    ours = sum(run.at('case', k)[12] for k in lines)
    exact = sum(rate(run.at('case', k)) for k in lines)
    drift = max(abs(run.at('case', k)[1]) for k in range(len(run.trace)))
    return f'drifts {short(drift)} m sideways, yaw / Coulomb {ours / exact:.4f}'


# ── The rows ─────────────────────────────────────────────────────────────────────────────────────
# name, scene, how it is measured, published figures, what can be compared; options: energy, every, bodies, cpu

BOUNCE = 49 * 10.0 * scenes.G * 5.0


def rows():
    y, xy = (0.0, 1.0), (0.5, 0.866025403784439)
    s = scenes
    sca, simb, other = [], [], []
    for mu, was in ((0.4, 'FBF 5.3 ms, MuJoCo 0.6 ×, Kamino 4.1 ×; DART\'s rerun slides 1.769 m'),
                    (0.5, 'FBF 5.5 ms, MuJoCo 0.4 ×, Kamino 3.1 ×; a rerun slides 0.502 mm, MuJoCo 0.36 m'),
                    (0.55, 'a rerun: FBF 0.428 mm, MuJoCo slides 1.81 m')):
        sca.append((f'incline, μ = {mu}', lambda mu=mu: s.incline(mu), slid, was, 'same constants; motion comparable', {}))
    sca.append(('backspin', s.backspin, rolled_back, 'FBF 6.0 ms, MuJoCo 0.3 ×, Kamino 1.8 ×; a rerun: −11.42857, −45.7143',
                'same constants; motion comparable', {}))
    for mu, omega, was in ((0.5, 2, 'FBF 6.8 ms, stays'), (0.5, 5, 'FBF 3.1 ms, leaves'), (0.2, 2, 'FBF 3.7 ms, leaves'),
                           (0.2, 5, 'FBF 3.1 ms, leaves')):
        sca.append((f'turntable, μ = {mu}, ω = {omega}', lambda mu=mu, omega=omega: s.turntable(mu, omega), on_disc, was,
                    'same constants; outcome comparable', {'bodies': ['cube']}))
    for mu, was in ((0.5, 'FBF 7.0 ms, slides and rests; MuJoCo tumbles'), (0.55, 'FBF 6.4 ms, tumbles')):
        sca.append((f'Painlevé box, μ = {mu}', lambda mu=mu: s.painleve(mu), tipped, was, 'same constants; outcome comparable', {}))
    cards = ('bridge', 'left', 'right')
    sca += [
        ('house of 26 cards, struck', lambda: s.card_house(4, 10.0), stood(cards, 3.0),
         'FBF 199 ms, 214 contacts, 93 % of the steps within 1e-6; MuJoCo 8.7 ×, topples; Kamino ≥ 50 ×',
         'same poses, cubes and times; contacts are detected differently', {'every': 60}),
        ('house of 26 cards, struck, tolerance 1e-6', lambda: s.card_house(4, 10.0, tolerance=1e-6), stood(cards, 3.0),
         'as above', 'the authors\' tolerance, which widens the limits of the certificate', {'every': 60}),
        ('house of 155 cards, struck', lambda: s.card_house(10, 3200 * s.H240), stood(cards, 5.0),
         'FBF 853 ms; MuJoCo does not finish; Kamino ≥ 70 ×; a rerun: 33 of 120 steps within 1e-6',
         'same poses, cubes and times; contacts are detected differently', {'every': 60, 'cpu': 300.0}),
        ('arch of 25 stones, struck', lambda: s.arch(25, 2000 * s.H240), stood(('stone',), 4.0),
         'FBF 595 ms, 100 contacts, 47 % within 1e-6; MuJoCo 23 ×, collapses; Kamino 0.38 ×; a rerun: 157 of 2000 steps',
         'same stones with their gaps, cubes and times', {'every': 60}),
        ('arch of 25 stones in touch, struck', lambda: s.arch(25, 2000 * s.H240, apart=False), stood(('stone',), 1.0),
         'DART\'s port at 1e-6: 6.1 ms mean, 287 ms worst', 'joints closed: no published run', {'every': 60}),
        ('arch of 101 stones', lambda: s.arch(101, 1600 * s.H240, struck=False), stood(('stone',), 5.0, struck=False),
         'FBF 1234 ms, stands; MuJoCo does not finish; Kamino collapses', 'same stones with their gaps',
         {'every': 60, 'cpu': 300.0}),
        ('arch of 101 stones in touch', lambda: s.arch(101, 1600 * s.H240, apart=False, struck=False),
         stood(('stone',), 1.0, struck=False), 'DART\'s port: residual 0.78 after 5000 iterations in step 1',
         'joints closed: no published run', {'every': 60})]
    for direction, word, was in ((y, 'along y', 'Bullet 4e-27, RaiSim 4.1e-7 without ERP; 1.8 and 1.0 s of CPU'),
                                 (xy, 'along x and y', 'Bullet 7e-28, ODE 7.6e-9, RaiSim 4.1e-7 without ERP')):
        simb.append((f'rolling, pushed {word}, 1 ms', lambda d=direction: s.rolling(d), rolling_error(direction), was,
                     'same constants and measure; they start 20 µm deep in the ground, perp in touch',
                     {'bodies': ['box', 'ball0-0']}))
    simb += [
        ('bouncing, 10 ms', lambda: s.bouncing(0.01), energy_error,
         'RaiSim 186 (without ERP), ODE 1.9e4, DART, Bullet 7.4e6; 0.03 to 0.3 s of CPU', 'same constants and measure',
         {'energy': BOUNCE}),
        ('bouncing, 1 ms', lambda: s.bouncing(0.001), energy_error,
         'RaiSim 0.019, ODE 185, DART 7.2e4, Bullet 7.5e4; 0.2 to 3.2 s', 'same constants and measure', {'energy': BOUNCE}),
        ('bouncing, 1 ms, moreau-jean', lambda: s.bouncing(0.001, 'moreau-jean'), energy_error, 'as above',
         'same constants and measure', {'energy': BOUNCE}),
        ('bouncing, events', lambda: s.bouncing(0.01, 'event'), energy_error, 'as above', 'same constants and measure',
         {'energy': BOUNCE}),
        ('666, 10 ms', lambda: s.balls_666(0.01, 10.0, 0.101, 0.0), overlaps,
         'RaiSim 1.5e-2 in 0.17 s; ODE 1.6e-2, 1.0 s; MuJoCo CG 0.93, 1.8 s; Bullet 37, 2.0 s; DART 215',
         'same constants and measure, other random displacements of 1 mm', {}),
        ('elastic 666, 1 ms', lambda: s.balls_666(0.001, 10.0, 1.101, 1.0), energy_error,
         'RaiSim 8.4 in 0.66 s; ODE 112, 5.6 s; Bullet 4.1e4, 2.3 s; DART 3.5e5, 8.1 s',
         'same constants and measure, other random displacements of 1 mm', {'energy': 'start'}),
        ('elastic 666, 1 ms, moreau-jean', lambda: s.balls_666(0.001, 10.0, 1.101, 1.0, 'moreau-jean'), energy_error,
         'as above', 'as above', {'energy': 'start'}),
        ('kapla, 102 blocks, 10 ms', lambda: s.kapla(600.0), tower,
         'RaiSim (1000 iterations, no ERP) stands for 600 s, 48 ms a step; Bullet ≤ 551 s, ODE ≤ 65 s, MuJoCo ≤ 33 s, DART 0.2 s',
         'same blocks; friction is not published (0.8 here)', {'every': 1000, 'cpu': 600.0})]
    for word, more in (('default', {}), ('exact positions', {'positions': 'exact'}),
                       ('moreau-jean', {'stepper': 'moreau-jean'}), ('events', {'stepper': 'event'})):
        other.append((f'four-bar, 2.5 ms, {word}', lambda more=more: s.four_bar(0.0025, **more), closed,
                      'MuJoCo 0.36 to 1.2 mm, −1.1 to −5.2 %, 0.56 to 1.9 rad; Kamino 0.044 to 0.58 mm, −1 to −32 %, 0.38 to 2.6 rad',
                      'same lengths and masses; inertias and assembly assumed', {'reference': lambda: s.four_bar(0.0025, stepper='event')}))
    other.append(('cube pressed to a wall', s.wall, creep('cube'), 'Genesis (Newton, one substep) 4.5e-3 m/s', 'same load and step', {}))
    for force in (12, 60):
        other.append((f'capsule in a pinch of {force} N', lambda f=force: s.pinch(f), creep('capsule'),
                      'MuJoCo 1.5e-3 to 2.3e-3 m/s; 5e-5 to 1.6e-4 with impratio 10; 1.4e-6 with noslip 10',
                      'same load; pads under a force, not a servo', {'bodies': ['capsule']}))
    other.append(('split belts', s.belts, turned, 'PhysX drifts 2.0 mm in 4 s, Anvil 0.0017 mm with yaw / Coulomb 1.0009',
                  'same constants; contact points are each engine\'s', {}))
    for n, size, was in ((125, (5, 5, 5), 'Anvil 4.1 ms (solve alone, 8 workers), MuJoCo 20.7 ms, i9-13900KS'),
                         (1000, (10, 10, 10), 'Anvil 240 ms, later 12.6; MuJoCo 3020 ms, first step 130 s')):
        other.append((f'pile of {n} staggered boxes', lambda size=size: s.pile(*size, 2.0),
                      lambda run: f'{run.trace[-1][0]:.2f} s of 2 run; moves {short(run.moved(0.0, 2.0))} m', was,
                      'same boxes; they solve a soft convex problem with pyramids', {'every': 10, 'cpu': 600.0 if n > 500 else CPU}))
    return (('splitting architecture', sca), ('SimBenchmark', simb), ('others', other))


# ── Running ──────────────────────────────────────────────────────────────────────────────────────

def start_energy(scene):
    return sum(10.0 * scenes.G * body['position'][2] for body in scene['bodies'])


def run_scene(program, scene, options, cpu):
    with tempfile.TemporaryDirectory() as folder:
        path, trace = os.path.join(folder, 'scene.json'), os.path.join(folder, 'trace.txt')
        with open(path, 'w') as file:
            json.dump(scene, file)
        energy = start_energy(scene) if options.get('energy') == 'start' else options.get('energy')
        command = [program, path, '--cpu', str(cpu), '--trace', trace, '--every', str(options.get('every', 1))]
        if energy is not None:
            command += ['--energy', repr(energy)]
            command += ['--bodies', scene['bodies'][0]['name']]
        elif options.get('bodies'):
            command += ['--bodies', ','.join(options['bodies'])]
        done = subprocess.run(command, capture_output=True, text=True)
        row = json.loads(done.stdout) if done.stdout else {'error': f'exit code {done.returncode}: {done.stderr[-200:]}'}
        if 'error' in row:
            return Run(scene, row, [])
        with open(trace) as file:
            lines = [[float(x) for x in line.split()] for line in file]
    run = Run(scene, row, lines)
    if energy is None and options.get('bodies'):
        run.names = options['bodies']
    return run


def row_of(program, entry, cpu):
    name, build, measure, _, _, options = entry
    run = run_scene(program, build(), options, cpu or options.get('cpu', CPU))
    row = {'name': name, **run.row}
    if 'error' not in row:
        reference = run_scene(program, options['reference'](), {}, CPU) if 'reference' in options else None
        row['seen'] = measure(run, reference) if reference else measure(run)
    return row


def cells(entry, row):
    name, _, _, published, compare, _ = entry
    if 'error' in row:
        return [name, '', '', row['error'], '', '', published, compare]
    certified = f"{row['certified']} of {row['steps']}"
    if row.get('stopped'):
        certified += ', then not solved'
    elif row['steps'] < row['planned']:
        certified += f" ({row['planned']} planned)"
    return [name, f"{row['contacts']:.0f}", certified, f"{row['residual']:.0e}",
            ' / '.join(f"{row[key]:.2g}" if row[key] < 99.5 else f"{row[key]:.0f}" for key in ('mean_ms', 'median_ms', 'worst_ms')),
            row['seen'], published, compare]


HEAD = ['scene', 'contacts', 'steps certified', 'residual [m/s]', 'CPU of a step [ms]: mean / median / worst', 'perp', 'published',
        'comparable']


def table(entries, results):
    lines = ['| ' + ' | '.join(HEAD) + ' |', '|---|---:|---|---:|---|---|---|---|']
    for entry in entries:
        if entry[0] in results:
            lines.append('| ' + ' | '.join(cells(entry, results[entry[0]])) + ' |')
    return '\n'.join(lines)


def put_in_page(page, mark, text):
    with open(page) as file:
        old = file.read()
    begin, end = f'<!-- {mark} -->', f'<!-- end of {mark} -->'
    if begin not in old or end not in old:
        sys.exit(f'{page}: the marks {begin} and {end} are missing')
    with open(page, 'w') as file:
        file.write(old[:old.index(begin) + len(begin)] + '\n\n' + text + '\n\n' + old[old.index(end):])


def read_rows(path):
    if not path or not os.path.exists(path):
        return {}
    with open(path) as file:
        return {row['name']: row for row in map(json.loads, file)}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument('program')
    options.add_argument('--only', default='')
    options.add_argument('--cpu', type=float, default=0.0)
    options.add_argument('--rows')
    options.add_argument('--page')
    options.add_argument('--scenes')
    o = options.parse_args()
    results, failed = read_rows(o.rows), False
    for mark, entries in rows():
        for entry in entries:
            if o.only not in entry[0]:
                continue
            if o.scenes:
                os.makedirs(o.scenes, exist_ok=True)
                path = os.path.join(o.scenes, entry[0].replace(' ', '-').replace(',', '').replace('=', '') + '.json')
                with open(path, 'w') as file:
                    json.dump(entry[1](), file)
                print(path)
                continue
            if entry[0] not in results:
                results[entry[0]] = row_of(o.program, entry, o.cpu)
                if o.rows:
                    with open(o.rows, 'a') as file:
                        file.write(json.dumps(results[entry[0]]) + '\n')
            row = results[entry[0]]
            bad = 'error' in row or 'stopped' in row or row['certified'] < row['steps']
            failed = failed or bad
            print(' | '.join(cells(entry, row)[:6]) + (f"   VIOLATED {row.get('violated')} {row.get('stopped', '')}" if bad else ''),
                  flush=True)
        if o.page and not o.scenes:
            put_in_page(o.page, mark, table(entries, results))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
