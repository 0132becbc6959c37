#!/usr/bin/env python3
# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Judges a recording of `perp run` from its text files and the scene, with geometry and laws of its own.

    judge.py SCENE.json DIR [--coordinates joint] [--theta 0.5]

Every row is a number without unit, an error over what the scene itself makes of that kind (length, mass, speed, weight
times step). FACTORS has for each row two limits: up to the first a run is right, from the second on it is wrong, and
between them this program does not decide. The verdict is `right`, `wrong` or `cannot judge`.
"""
import json
import math
import os
import sys

from contact_rows import ContactRows
from geometry import norm
from kinematics import ZERO3
from model import Model, Unknown
from place_rows import PlaceRows
from recording import divided, read_frames
from step_rows import StepRows

# row: (right up to, wrong from, what the error is and what it is divided by)
FACTORS = {
    'finite':      (0.5, 0.5, 'any number of the recording that is not finite, or parts of a step that do not make it'),
    'start':       (1e-9, 1e-2, 'frame 0 against the scene, in sizes and speeds; only where it starts without overlap and closed'),
    'penetration': (0.02, 0.25, 'overlap of a pair beyond what it started with, over the thickness of the thinner shape'),
    'overlap':     (0.02, math.inf, 'overlap of the start that is still there at the end, likewise'),
    'path':        (0.25, 0.40, 'overlap between two frames, over the thickness of the thinner shape'),
    'motion':      (1e-5, 1e-3, 'x+ - x - h v by the rule of the scheme, over h |v| and the length'),
    'drive':       (1e-6, 1e-2, 'driven bodies against their motion, in sizes'),
    'momentum':    (1e-4, 1e-3, 'what no recorded impulse and no joint explains, over momentum and impulses of the body'),
    'turning':     (0.10, 0.50, 'angular momentum over the run against the moments, over the largest of both'),
    'pull':        (1e-6, 1e-3, 'p_n < 0, over the impulse scale of the lighter body'),
    'cone':        (1e-6, 1e-2, '|p_f| - mu p_n, over mu p_n and the impulse scale'),
    'slip':        (0.02, 0.20, 'friction that does not take what it could out of the slip, as a part of mu p_n |u|'),
    'rebound':     (0.02, 0.30, 'speed of parting beyond the law of impact, over approach, free fall of a size and weight h'),
    'restitution': (0.02, 0.20, 'speed of parting that the law of impact asks for and is not there, over the approach'),
    'afar':        (0.02, 0.30, 'distance at which a contact pushes what does not reach it within the step, in sizes'),
    'snag':        (0.05, 0.30, 'part of its speed that a body loses at an edge of no height'),
    'joint':       (0.01, 0.10, 'joint error beyond that of the start, over the size of its bodies, or rad'),
    'limit':       (0.01, 0.10, 'coordinate beyond its limits and the start, likewise'),
    'effort':      (1e-3, 0.10, 'motor or dry friction beyond what it can do, over that'),
    'energy':      (0.02, 0.20, 'energy created so far, over kinetic at the start, weight times size, fall, work'),
    'energy step': (0.002, 0.20, 'energy created in one step, likewise'),
    'island':      (0.002, 0.20, 'energy created in one step by bodies that touch each other, over their own kinetic energy and weight times size'),
}


# Why a value between the two limits of a row proves nothing: what a right run of a coarse step shows as well.
UNDECIDED = {
    'start': 'starts may be mended', 'penetration': 'bodies that turn in a step overlap by the order of the scheme',
    'overlap': 'overlaps of the start may be worked off slowly', 'path': 'between two frames a line and a turn are guessed',
    'motion': 'digits of the recording', 'drive': 'digits of the recording', 'momentum': 'impulses between frames act where bodies have gone on',
    'turning': 'a body turns with one velocity a step: its angular momentum is off by the order of the scheme, step by step',
    'pull': 'digits of impulses', 'cone': 'digits of impulses', 'slip': 'directions of slip turn in the step', 'rebound': 'contacts of one step act on each other',
    'restitution': 'contacts of one step act on each other', 'afar': 'corners come round', 'snag': 'a corner may meet an edge within the depth of its fall',
    'joint': 'joints of bodies that turn open by the order of the scheme', 'limit': 'joints of bodies that turn open by the order of the scheme', 'effort': 'drives share what they carry',
    'energy': 'forces that change in a step, and arcs, gain or lose by the order of the scheme',
    'energy step': 'forces that change in a step, and arcs, gain or lose by the order of the scheme',
    'island': 'forces that change in a step, and arcs, gain or lose by the order of the scheme'}


class Rows:
    def __init__(self):
        self.worst, self.skipped = {}, {}

    def note(self, row, value, where):
        if not value == value:
            value = math.inf
        if row not in self.worst or value > self.worst[row][0]:
            self.worst[row] = (value, where)

    def skip(self, row, why):
        self.skipped.setdefault(row, why)

    def verdict(self):
        wrong = {r: v for r, v in self.worst.items() if v[0] > FACTORS[r][1]}
        grey = {r: v for r, v in self.worst.items() if FACTORS[r][0] < v[0] <= FACTORS[r][1]}
        return ('wrong' if wrong else 'cannot judge' if grey else 'right'), wrong, grey


class Judge(PlaceRows, ContactRows, StepRows):
    def __init__(self, text, folder, coordinates=None, theta=None):
        self.model = m = Model(text)
        with open(os.path.join(folder, 'summary.json')) as f:
            self.summary = json.load(f)
        s = m.scene
        self.stepper, self.h = self.summary['stepper'], self.summary['h']
        word = coordinates or s.get('coordinates', 'body')
        self.joint_coordinates = word == 'joint' or (word == 'auto' and self.few_rates())
        self.theta = {'moreau-jean': theta or float(s.get('theta', 0.5)), 'event': 0.5}.get(self.stepper, 1.0)
        self.euler = self.stepper in ('stewart-trinkle', 'anitescu-potra')
        self.rows, self.folder = Rows(), folder
        self.lessened = None   # intervals of steps that took less restitution, once they are read
        self.frames = read_frames(m, folder)
        self.every = len(self.frames) == self.summary['steps'] + 1
        try:
            self.frames = divided(m, folder, self.frames) if self.every else self.frames
        except ValueError as e:
            self.rows.note('finite', 1.0, str(e))
        self.g = max((norm(b.pull) for b in m.free), default=norm(m.gravity))
        self.until = max(self.frames[-1].t, self.h)
        self.pairs = self.judged_pairs()
        self.turns = {}

    def few_rates(self):
        """Whether `auto` means joint coordinates: a tree with at most 120 rates, and half as many as velocities with its loops' equations."""
        m = self.model
        leaves = {'weld': 0, 'revolute': 1, 'prismatic': 1, 'screw': 1, 'cylindrical': 2, 'universal': 2, 'spherical': 3, 'plane': 3}
        each = 3 if m.planar else 6
        held, rates, loops = set(), 0, 0
        for j in m.joints:
            if j.kind in leaves and j.b.free and j.b not in held:
                held.add(j.b)
                rates += leaves[j.kind]
            elif j.kind in leaves:
                loops += each - leaves[j.kind]
        rates += each * (len(m.free) - len(held))
        return rates <= 120 and 2 * (rates + loops) <= each * len(m.free)

    def run(self):
        m, rows = self.model, self.rows
        for f in self.frames:
            for b in m.bodies:
                s = f.states[b.index]
                if not all(map(math.isfinite, s.x + s.v + s.w + s.R[0])):
                    rows.note('finite', 1.0, 't = %g %s' % (f.t, b.name))
                    return rows.verdict()
        if not self.every:
            rows.skip('all rows of steps', 'not every step is recorded')
        self.start()
        self.driven()
        self.penetrations()
        self.joints()
        self.gears()
        self.impacts()
        if self.every:
            self.steps()
        return rows.verdict()

    def steps(self):
        self.created = self.work = self.low = 0.0
        self.spin_error = {b: ZERO3 for b in self.model.free}
        self.spin_scale = {b: 1e-300 for b in self.model.free}
        self.energy0 = None
        for f0, f1 in zip(self.frames, self.frames[1:]):
            h = f1.t - f0.t
            if f1.kind in ('impact', 'other'):
                self.speeds(f0, f1, self.h)
                self.impact(f0, f1)
                continue
            if f1.kind == 'close':
                self.closing(f0, f1)
                continue
            if f1.kind == 'smooth' and h < 1e-12 * self.until:
                self.same_momentum(f0, f1)
                continue
            if not h > 0:
                self.rows.note('motion', math.inf, 't = %g: time stands still' % f1.t)
                return
            self.speeds(f0, f1, h)
            self.moves(f0, f1, h)
            self.coordinates(f0, f1, h)
            self.contact_laws(f0, f1, h)
            if self.stepper != 'quasistatic':
                self.balance(f0, f1, h)
                self.islands(f0, f1, h)
                self.turning(f0, f1, h)


def judge(text, folder, coordinates=None, theta=None):
    """(verdict, {row: (value, where)} beyond the limit, rows judged, rows not judged)"""
    try:
        j = Judge(text, folder, coordinates, theta)
        verdict, wrong, grey = j.run()
    except Unknown as e:
        return 'cannot judge', {}, {}, {'scene': str(e)}
    return verdict, wrong or grey, j.rows.worst, j.rows.skipped


def main(args):
    options = {}
    while '--coordinates' in args or '--theta' in args:
        for k in ('--coordinates', '--theta'):
            if k in args:
                i = args.index(k)
                options[k[2:]] = args[i + 1] if k == '--coordinates' else float(args[i + 1])
                del args[i:i + 2]
    verdict, beyond, rows, skipped = judge(open(args[0]).read(), args[1], **options)
    print(verdict)
    for r in FACTORS:
        if r in rows:
            value, where = rows[r]
            mark = 'WRONG' if value > FACTORS[r][1] else 'unsure' if value > FACTORS[r][0] else ''
            print('  %-12s %10.3g  right to %g, wrong from %g  %s %s' % (r, value, FACTORS[r][0], FACTORS[r][1], where, mark))
    for r, why in skipped.items():
        print('  %-12s not judged: %s' % (r, why))
    return {'right': 0, 'wrong': 4, 'cannot judge': 5}[verdict]


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
