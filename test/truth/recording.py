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
    """One recorded instant. `apart`: the overlaps and joint errors of this program's own geometry, added up [m].

    Of a part of a step `kind` is `step`, `impact`, `other` or `smooth` and `h` how long it is; of a frame they are '' and None."""
    __slots__ = ('t', 'states', 'contacts', 'placed', 'apart', 'step', 'kind', 'h', 'parts')


def numbers(row, names):
    return tuple(float(row[n]) for n in names)


def unquoted(name):
    """Names that could be taken for formulas stand behind an apostrophe."""
    return name[1:] if name[:1] == "'" else name


def state_of(model, row):
    if model.planar:
        x, y, a, vx, vy, om = numbers(row, ('x', 'y', 'angle', 'vx', 'vy', 'omega'))
        R = rotation_about((0, 0, 1), a) if math.isfinite(a) else EYE
        return State((x, y, 0.0), R, (vx, vy, 0.0), (0.0, 0.0, om), a)
    x, q = numbers(row, 'xyz'), numbers(row, ('qw', 'qx', 'qy', 'qz'))
    return State(x, quat_matrix(q), numbers(row, ('vx', 'vy', 'vz')), numbers(row, ('wx', 'wy', 'wz')))


def read_table(model, folder, prefix, key):
    """Frames by key, in the order of the file."""
    def path(name):
        p = os.path.join(folder, name)
        return p if os.path.exists(p) else p + '.part'
    frames = {}
    if prefix and not os.path.exists(path(prefix + 'bodies.csv')):
        return frames
    fixed = {b.index: State(b.x0, b.R0, ZERO3, ZERO3, b.angle0) for b in model.bodies if not b.free}
    with open(path(prefix + 'bodies.csv'), newline='') as f:
        for row in csv.DictReader(f):
            body = model.by_name.get(row['body']) or model.by_name.get(unquoted(row['body']))
            if body is None:
                raise Unknown('body ' + row['body'])
            k = key(row)
            if k not in frames:
                fr = frames[k] = Frame()
                fr.t, fr.states, fr.contacts, fr.placed, fr.apart = float(row['t']), dict(fixed), [], {}, 0.0
                fr.step, fr.kind, fr.parts = int(row.get('step', -1)), row.get('kind', ''), []
                fr.h = float(row['h']) if 'h' in row else None
            frames[k].states[body.index] = state_of(model, row)
    if os.path.exists(path(prefix + 'contacts.csv')):
        with open(path(prefix + 'contacts.csv'), newline='') as f:
            for row in csv.DictReader(f):
                if key(row) in frames:
                    frames[key(row)].contacts.append(Contact(model, row))
    return frames


def read_frames(model, folder):
    """Frames in order; the parts of the last step before each are in its `parts`."""
    frames = sorted(read_table(model, folder, '', lambda row: row['t']).values(), key=lambda f: f.t)
    parts = read_table(model, folder, 'part_', lambda row: (row['step'], row['part']))
    by_end = {}
    for p in parts.values():
        by_end.setdefault(p.step, []).append(p)
    ends = {f.t: f for f in frames}
    for group in by_end.values():
        if group[-1].t in ends:
            ends[group[-1].t].parts = group
    return frames


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
