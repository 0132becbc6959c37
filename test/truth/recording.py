# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Reading the tables of a recording: bodies.csv and contacts.csv as docs/recording-format.md has them."""
import csv
import math
import os

from geometry import EYE, add, mul, quat_matrix, rotation_about
from kinematics import State, ZERO3
from model import Unknown


class Frame:
    """One recorded instant. `apart`: the overlaps and joint errors of this program's own geometry, added up [m]."""
    __slots__ = ('t', 'states', 'contacts', 'placed', 'apart')


def numbers(row, names):
    return tuple(float(row[n]) for n in names)


def unquoted(name):
    """Names that could be taken for formulas stand behind an apostrophe."""
    return name[1:] if name[:1] == "'" else name


def read_frames(model, folder):
    def path(name):
        p = os.path.join(folder, name)
        return p if os.path.exists(p) else p + '.part'
    frames = {}
    fixed = {b.index: State(b.x0, b.R0, ZERO3, ZERO3, b.angle0) for b in model.bodies if not b.free}
    with open(path('bodies.csv'), newline='') as f:
        for row in csv.DictReader(f):
            body = model.by_name.get(row['body']) or model.by_name.get(unquoted(row['body']))
            if body is None:
                raise Unknown('body ' + row['body'])
            k = row['t']
            if k not in frames:
                fr = frames[k] = Frame()
                fr.t, fr.states, fr.contacts, fr.placed, fr.apart = float(k), dict(fixed), [], {}, 0.0
            if model.planar:
                x, y, a, vx, vy, om = numbers(row, ('x', 'y', 'angle', 'vx', 'vy', 'omega'))
                R = rotation_about((0, 0, 1), a) if math.isfinite(a) else EYE
                s = State((x, y, 0.0), R, (vx, vy, 0.0), (0.0, 0.0, om), a)
            else:
                x, q = numbers(row, 'xyz'), numbers(row, ('qw', 'qx', 'qy', 'qz'))
                s = State(x, quat_matrix(q), numbers(row, ('vx', 'vy', 'vz')), numbers(row, ('wx', 'wy', 'wz')))
            frames[k].states[body.index] = s
    with open(path('contacts.csv'), newline='') as f:
        for row in csv.DictReader(f):
            if row['t'] in frames:
                frames[row['t']].contacts.append(Contact(model, row))
    return sorted(frames.values(), key=lambda f: f.t)


class Contact:
    def __init__(self, model, row):
        names = model.shape_names
        self.a = names.get(row['shape_a']) or model.shape(unquoted(row['shape_a']))
        self.b = names.get(row['shape_b']) or model.shape(unquoted(row['shape_b']))
        z = [] if model.planar else ['z']
        self.p = numbers(row, ['x', 'y'] + z) + ((0.0,) if model.planar else ())
        self.n = numbers(row, ['nx', 'ny'] + ['nz' for _ in z]) + ((0.0,) if model.planar else ())
        self.pf = numbers(row, ['pfx', 'pfy'] + ['pfz' for _ in z]) + ((0.0,) if model.planar else ())
        self.m = ZERO3 if model.planar else numbers(row, ('mx', 'my', 'mz'))
        self.gap, self.pn, self.mode = float(row['gap']), float(row['pn']), row['mode']
        self.impulse = add(mul(self.n, self.pn), self.pf)
        self.mu, self.e = model.coefficients(self.a, self.b)
