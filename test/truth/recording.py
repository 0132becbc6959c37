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
    `whole`: the step that ends here, or that the part which ends here belongs to [s]; None: what is since the frame before.
    `seen`: of a part, all states of its step.
    `kind`: of a part, `step`, `impact` (an instant), `other` (an impact by the law that was not asked for), `smooth` or `close` (places
    move at once, velocities do not); '' of a frame."""
    __slots__ = ('t', 'states', 'contacts', 'placed', 'apart', 'whole', 'kind', 'seen')


def numbers(row, names):
    return tuple(float(row[n]) for n in names)


def unquoted(name):
    """Names that could be taken for formulas stand behind an apostrophe."""
    return name[1:] if name[:1] == "'" else name


def read_table(model, folder, prefix, key):
    """Frames by key(row): of the bodies' lines, with the contacts of the same key."""
    def path(name):
        p = os.path.join(folder, prefix + name)
        return p if os.path.exists(p) else p + '.part'
    frames = {}
    fixed = {b.index: State(b.x0, b.R0, ZERO3, ZERO3, b.angle0) for b in model.bodies if not b.free}
    if prefix and not os.path.exists(path('bodies.csv')):
        return frames
    with open(path('bodies.csv'), newline='') as f:
        for row in csv.DictReader(f):
            body = model.by_name.get(row['body']) or model.by_name.get(unquoted(row['body']))
            if body is None:
                raise Unknown('body ' + row['body'])
            k = key(row)
            if k not in frames:
                fr = frames[k] = Frame()
                fr.t, fr.states, fr.contacts, fr.placed, fr.apart = float(row['t']), dict(fixed), [], {}, 0.0
                fr.whole, fr.kind, fr.seen = None, row.get('kind', ''), None
            if model.planar:
                x, y, a, vx, vy, om = numbers(row, ('x', 'y', 'angle', 'vx', 'vy', 'omega'))
                R = rotation_about((0, 0, 1), a) if math.isfinite(a) else EYE
                s = State((x, y, 0.0), R, (vx, vy, 0.0), (0.0, 0.0, om), a)
            else:
                x, q = numbers(row, 'xyz'), numbers(row, ('qw', 'qx', 'qy', 'qz'))
                s = State(x, quat_matrix(q), numbers(row, ('vx', 'vy', 'vz')), numbers(row, ('wx', 'wy', 'wz')))
            frames[k].states[body.index] = s
    if not os.path.exists(path('contacts.csv')):
        return frames
    with open(path('contacts.csv'), newline='') as f:
        for row in csv.DictReader(f):
            if key(row) in frames:
                frames[key(row)].contacts.append(Contact(model, row))
    return frames


def read_frames(model, folder):
    """The frames of a run, one a step."""
    return sorted(read_table(model, folder, '', lambda row: row['t']).values(), key=lambda f: f.t)


def divided(model, folder, frames):
    """The same with the parts of steps that were divided in place of the frames that have their sums. A frame whose state
    or impulses are not those of its parts is not of this run."""
    def key(row):
        return int(row['step']), int(row['part']), row['kind']
    steps = {}
    for (step, part, kind), f in sorted(read_table(model, folder, 'part_', key).items()):
        steps.setdefault(step, []).append(f)
    out, ends = frames[:1], {parts[-1].t: parts for parts in steps.values()}
    for f0, f1 in zip(frames, frames[1:]):
        parts = ends.pop(f1.t, None)
        if parts is None:
            out.append(f1)
            continue
        # impulses of a closing are multipliers of places
        sums = [sum(c.pn for f in of if f.kind != 'close' for c in f.contacts) for of in (parts, [f1])]
        same = all(parts[-1].states[i].x == s.x and parts[-1].states[i].v == s.v and parts[-1].states[i].w == s.w
                   for i, s in f1.states.items())
        if not same or abs(sums[0] - sums[1]) > 1e-9 * (abs(sums[0]) + abs(sums[1])):
            raise ValueError('t = %g: the parts of the step do not make the step' % f1.t)
        for f in parts:
            f.whole, f.seen = f1.t - f0.t, [p.states for p in [f0] + parts]
        out += parts
    if ends:
        raise ValueError('t = %g: parts of no step' % min(ends))
    return out


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
