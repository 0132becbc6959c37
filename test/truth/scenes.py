#!/usr/bin/env python3
# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Random hostile scenes, the same for the same seed.

    scenes.py SEED COUNT DIR     writes DIR/00000.json, ...

Scene k of a seed is `make(seed, k)`. Families are drawn first, then scales: lengths from 1e-6 to 1e6 m, masses from 1e-10 to
1e8 kg, speeds up to 1000 m/s, and a step that suits the motion, or not.
"""
import json
import math
import os
import random
import sys

from geometry import EYE, Placed, Shape, distance, quat_matrix, rotation_about

STEPPERS = ['stewart-trinkle'] * 8 + ['anitescu-potra'] * 3 + ['moreau-jean'] * 4 + ['event'] * 4


class Maker:
    def __init__(self, seed, k):
        self.r = random.Random('%d/%d' % (seed, k))
        r = self.r
        self.planar = r.random() < 0.5
        self.L = 10 ** r.choice([0.0, r.uniform(-1, 1), r.uniform(-6, 6)])     # [m]
        self.M = 10 ** r.choice([0.0, r.uniform(-2, 3), r.uniform(-9, 7)])     # [kg]
        self.g = r.choice([9.81, 9.81, 9.81, 0.0, 1.6])
        self.s = {'stepper': r.choice(STEPPERS)}
        self.bodies, self.ground, self.joints, self.forces, self.pairs = [], [], [], [], []
        self.placed = []
        self.free_fall = math.sqrt(self.L / self.g) if self.g else math.inf

    # numbers

    def log(self, a, b):
        return math.exp(self.r.uniform(math.log(a), math.log(b)))

    def v(self, *c):
        return [float(x) for x in (c[:2] if self.planar else c)]

    def speed(self):
        """Of the order of a fall through a size, or fast: up to 1000 m/s or 1000 sizes a second."""
        r = self.r
        base = math.sqrt(9.81 * self.L)
        kind = r.random()
        if kind < 0.5:
            return base * r.uniform(0, 2)
        if kind < 0.8:
            return base * self.log(1, 30)
        return min(1000.0, base * self.log(10, 1000))

    def heading(self, speed, up=True):
        r = self.r
        a = r.uniform(0, 2 * math.pi)
        if self.planar:
            return self.v(speed * math.cos(a), speed * math.sin(a), 0)
        z = r.uniform(-1, 1)
        k = math.sqrt(1 - z * z)
        return [speed * k * math.cos(a), speed * k * math.sin(a), speed * z]

    def mu(self):
        return self.r.choice([0.0, 0.3, 0.5, 1.0, round(self.r.uniform(0, 2), 3)])

    def e(self):
        return self.r.choice([0.0, 0.0, 0.0, 0.5, 1.0, round(self.r.random(), 3)])

    def mass(self):
        """Most bodies near the scene's mass; some far off."""
        m = self.M * self.log(0.3, 3)
        if self.r.random() < 0.15:
            m *= 10 ** self.r.uniform(-5, 5)
        return min(1e8, max(1e-10, m))

    def orientation(self):
        r = self.r
        if self.planar:
            return {'angle': r.choice([0.0, 0.0, r.uniform(-3.1, 3.1)])}
        if r.random() < 0.4:
            return {}
        q = [r.gauss(0, 1) for _ in range(4)]
        n = math.sqrt(sum(c * c for c in q))
        return {'rotation': [c / n for c in q]}

    # things

    def shape(self, size, kinds=None):
        """A shape about `size` across, with its friction and restitution."""
        r = self.r
        if self.planar:
            kind = r.choice(kinds or ['disc', 'disc', 'box', 'box', 'polygon', 'capsule', 'segment', 'points'])
        else:
            kind = r.choice(kinds or ['sphere', 'sphere', 'box', 'box', 'capsule', 'cylinder', 'cone', 'ellipsoid', 'hull'])
        d = {'kind': kind}
        if kind in ('disc', 'sphere'):
            d['radius'] = size / 2
        elif kind == 'box':
            d['size'] = [size * r.uniform(0.3, 1) for _ in range(2 if self.planar else 3)]
        elif kind == 'polygon':
            n = r.randint(3, 7)
            a0 = r.uniform(0, 6)
            d['vertices'] = [[size / 2 * math.cos(a0 + 2 * math.pi * i / n), size / 2 * math.sin(a0 + 2 * math.pi * i / n)] for i in range(n)]
        elif kind in ('capsule', 'cylinder', 'cone'):
            d['length'], d['radius'] = size * r.uniform(0.4, 1), size * r.uniform(0.1, 0.4)
        elif kind == 'segment':
            d['length'] = size
        elif kind == 'ellipsoid':
            d['radii'] = [size / 2 * r.uniform(0.4, 1) for _ in range(3)]
        elif kind == 'hull':
            pts = []
            for _ in range(r.randint(6, 10)):
                q = [r.gauss(0, 1) for _ in range(3)]
                n = math.sqrt(sum(c * c for c in q))
                pts.append([size / 2 * c / n for c in q])
            m = [sum(p[i] for p in pts) / len(pts) for i in range(3)]
            d['vertices'] = [[p[i] - m[i] for i in range(3)] for p in pts]
        return d

    def surface(self, d, mu=None, e=None):
        d['mu'] = self.mu() if mu is None else mu
        e = self.e() if e is None else e
        if e:
            d['restitution'] = e
        if not self.planar and self.r.random() < 0.06:
            d[self.r.choice(['mu_spin', 'mu_roll'])] = self.L * self.log(0.001, 0.1)
        if not self.planar and self.r.random() < 0.04:
            d['facets'] = self.r.choice([3, 4, 6, 16])
        return d

    def inertia(self, mass, size):
        i = mass * size * size / self.r.uniform(8, 16)
        if self.planar:
            return i
        a = [i * self.r.uniform(0.7, 1.0) for _ in range(3)]
        return a

    def body(self, name, x, size, kinds=None, mass=None, **keys):
        """A free body; refused (None) where it would start inside another."""
        mass = self.mass() if mass is None else mass
        shape = self.shape(size, kinds)
        if shape['kind'] == 'points':
            shapes = [self.surface({'kind': 'point', 'position': [size / 2 * math.cos(a), size / 2 * math.sin(a)]}, 0.5, 0.0)
                      for a in (0.3, 1.9, 3.5, 5.1)]
        else:
            shapes = [self.surface(shape)]
        b = {'name': name, 'position': self.v(*x), 'mass': mass, 'inertia': self.inertia(mass, size), 'shapes': shapes, **keys}
        if not self.planar:
            b['kind'] = 'solid'
        return b

    def put(self, b, clear=0.0):
        """Adds a body unless it overlaps one that is there."""
        mine = list(placed_shapes(b, self.planar))
        for p in mine:
            for q in self.placed:
                d = distance(p, q)
                if d is not None and d < clear:
                    return False
        self.placed += mine
        self.bodies.append(b)
        return True

    def floor(self, mu=None, e=None):
        d = self.surface({'name': 'floor', 'kind': 'halfplane' if self.planar else 'halfspace'}, mu, e)
        self.add_ground(d)
        return d

    def add_ground(self, d):
        self.ground.append(d)
        self.placed += placed_shapes({'shapes': [d]}, self.planar)

    def spun(self, b, speed, size):
        r = self.r
        if r.random() < 0.5:
            w = r.uniform(-1, 1) * speed / size * r.choice([1, 1, 5])
            b['spin'] = w if self.planar else [w * r.uniform(-1, 1) for _ in range(3)]
        return b

    def finish(self, tau, steps=None):
        """Step and end: `tau` is the time in which something happens [s]."""
        r, s = self.r, self.s
        if self.g != 9.81:
            s['gravity'] = self.v(0, -self.g, 0) if self.planar else [0, 0, -self.g]
        kind = r.random()
        h = tau * self.log(0.004, 0.04) if kind < 0.7 else tau * self.log(0.04, 0.4) if kind < 0.9 else r.choice([0.001, 0.01])
        h = float('%.3g' % h)
        steps = steps or r.randint(20, 80)
        if s['stepper'] == 'event':
            steps = min(steps, 30)
        s['step'], s['until'] = h, float('%.6g' % (h * steps))
        if r.random() < 0.6 and s['stepper'] != 'event':
            s['form'] = r.choice(['mcp', 'lcp', 'cone'])
        if r.random() < (0.5 if self.joints else 0.05) and s['stepper'] != 'moreau-jean':
            s['coordinates'] = 'joint'
        if r.random() < 0.15 and self.joints and s['stepper'] == 'stewart-trinkle':
            s['positions'] = 'exact'
        if r.random() < 0.2:
            s['impact'] = 'poisson'
        if r.random() < 0.1 and not self.planar:
            s['friction'] = 'pyramid'
        if s['stepper'] == 'moreau-jean' and r.random() < 0.4:
            s['theta'] = r.choice([0.5, 0.6, 1.0])
        for key, value in (('shapes', self.ground), ('bodies', self.bodies), ('joints', self.joints), ('forces', self.forces),
                           ('pairs', self.pairs)):
            if value:
                s[key] = value
        return s

    def tau(self, speed=0.0):
        return min(self.free_fall, self.L / speed if speed > 0 else math.inf, 1.0 if not self.g and not speed else math.inf)


def placed_shapes(b, planar):
    x = b.get('position', [0, 0, 0])
    x = (x[0], x[1], x[2] if len(x) > 2 else 0.0)
    R = EYE
    if planar:
        R = rotation_about((0, 0, 1), b.get('angle', 0.0))
    elif 'rotation' in b:
        R = quat_matrix(b['rotation'])
    names = ('radius', 'size', 'vertices', 'length', 'radii', 'triangles', 'heights')
    out = []
    for d in b.get('shapes', []):
        p = d.get('position', [0, 0, 0])
        Rs = rotation_about((0, 0, 1), d.get('angle', 0.0)) if planar else (quat_matrix(d['rotation']) if 'rotation' in d else EYE)
        s = Shape(d['kind'], planar, (p[0], p[1], p[2] if len(p) > 2 else 0.0), Rs, **{n: d[n] for n in names if n in d})
        out.append(Placed(s, x, R))
    return out


def up(m, x, y, z):
    """Sideways x (and y), height z."""
    return (x, z, 0.0) if m.planar else (x, y, z)


# ── families ─────────────────────────────────────────────────────────────────────────────────────

def drop(m):
    """Bodies above a floor, thrown about."""
    r, L = m.r, m.L
    m.floor()
    fast = 0.0
    n = r.choice([1, 1, 2, 3, 5])
    for i in range(40):
        if len(m.bodies) == n:
            break
        size = L * r.uniform(0.4, 1)
        b = m.body('b%d' % len(m.bodies), up(m, L * r.uniform(-1, 1), L * r.uniform(-1, 1), L * r.uniform(0.5, 2.5)), size, **m.orientation())
        if r.random() < 0.7:
            v = m.speed()
            b['velocity'] = m.heading(v)
            m.spun(b, v, size)
            fast = max(fast, v)
        m.put(b, 0.0)
    if not m.planar and m.bodies and r.random() < 0.1:
        m.pairs.append({'a': 'floor', 'b': m.bodies[0]['name'] + '.shape0', 'mu': r.uniform(0, 1), 'mu_2': r.uniform(0, 1), 'tangent': [1.0, 0.0, 0.0]})
    return m.finish(m.tau(fast))


def rest(m):
    """Boxes and balls stacked on a floor, with any masses."""
    r, L = m.r, m.L
    m.floor(e=0.0)
    z = 0.0
    for i in range(r.randint(1, 4)):
        side = [L * r.uniform(0.5, 1) for _ in range(2 if m.planar else 3)]
        b = m.body('b%d' % i, up(m, L * r.uniform(-0.15, 0.15), L * r.uniform(-0.15, 0.15), z + side[-1] / 2), L, ['box'],
                   mass=m.mass() * 10 ** r.choice([0, 0, r.uniform(-3, 3)]))
        b['shapes'] = [m.surface({'kind': 'box', 'size': side}, e=0.0)]
        z += side[-1]
        m.bodies.append(b)
    if r.random() < 0.3:
        m.bodies[-1]['velocity'] = m.v(m.speed(), 0, 0)
    m.g = m.g or 9.81
    m.free_fall = math.sqrt(L / m.g)
    return m.finish(m.tau())


def container(m):
    """Fast bodies between thin walls."""
    r, L = m.r, m.L
    t = L * m.log(0.003, 0.2)
    W = 2 * L
    mu, e = m.mu(), m.e()
    ends = [(-1, 0), (1, 0)]
    for axis in range(2 if m.planar else 3):
        for sign in (-1, 1):
            size = [2 * W + 4 * t] * (2 if m.planar else 3)
            size[axis] = t
            x = [0.0] * (2 if m.planar else 3)
            x[axis] = sign * (W + t / 2)
            m.add_ground(m.surface({'name': 'wall%d%s' % (axis, 'ab'[sign > 0]), 'kind': 'box', 'size': size, 'position': x}, mu, e))
    fast = 0.0
    for i in range(20):
        if len(m.bodies) >= r.choice([1, 2, 3]):
            break
        v = min(1000.0, m.speed() * 2)
        size = L * r.uniform(0.1, 0.6)
        b = m.body('b%d' % len(m.bodies), tuple(r.uniform(-1, 1) * L for _ in range(3)), size, velocity=m.heading(v), **m.orientation())
        m.spun(b, v, size)
        fast = max(fast, v)
        m.put(b)
    return m.finish(m.tau(fast))


def chain(m):
    """Links on pins from the ground, a heavy one at the end, released level or hanging."""
    r, L = m.r, m.L
    n = r.randint(1, 5)
    level = r.random() < 0.6
    heavy = 10 ** r.uniform(0, 5)
    d = (1.0, 0.0, 0.0) if level else ((0.0, -1.0, 0.0) if m.planar else (0.0, 0.0, -1.0))
    last = 'ground'
    base = m.mass()
    for i in range(n):
        x = tuple(c * L * (i + 0.5) for c in d)
        mass = base * (heavy if i == n - 1 else 1)
        mass = min(mass, 1e8)
        b = {'name': 'l%d' % i, 'position': m.v(*x), 'mass': mass, 'inertia': mass * L * L / 12 if m.planar else [mass * L * L / 12] * 3}
        if not m.planar:
            b['kind'] = 'solid'
        m.bodies.append(b)
        j = {'name': 'p%d' % i, 'kind': 'revolute' if m.planar else r.choice(['revolute', 'spherical', 'revolute']), 'a': last,
             'b': b['name'], 'at': m.v(*tuple(c * L * i for c in d))}
        if not m.planar and j['kind'] == 'revolute':
            j['axis'] = [0.0, 1.0, 0.0]
        if j['kind'] == 'revolute':
            joint_extras(m, j, base * 9.81 * L)
        m.joints.append(j)
        last = b['name']
    if r.random() < 0.15:
        m.bodies[-1]['position'][0] += 0.03 * L     # an open joint
        m.joints[-1].pop('at')
        m.joints[-1]['anchor_a'] = m.v(*tuple(c * (L / 2 if n > 1 else 0) for c in d))
        m.joints[-1]['anchor_b'] = m.v(*tuple(-c * L / 2 for c in d))
    if r.random() < 0.3:
        m.bodies[-1]['velocity'] = m.heading(m.speed() * 0.3)
    m.g = m.g or 9.81
    m.free_fall = math.sqrt(L / m.g)
    return m.finish(m.tau(), r.randint(40, 100))


def joint_extras(m, j, torque):
    r = m.r
    kind = r.random()
    if kind < 0.15:
        j['lower'], j['upper'] = -r.uniform(0.05, 0.6), r.uniform(0.05, 0.6)
    elif kind < 0.3:
        j['friction'] = torque * m.log(0.01, 10)
    elif kind < 0.4:
        j['stiffness'], j['damping'] = torque * m.log(0.1, 1000), torque * m.log(0.001, 1)
    elif kind < 0.5:
        j['rate'] = r.uniform(-2, 2)
        j['rate_effort'] = torque * m.log(0.1, 10)
    elif kind < 0.55:
        j['rate'] = r.uniform(-1, 1)


def limb(m):
    """A rod hinged to the ground that swings onto a floor."""
    r, L = m.r, m.L
    m.floor()
    height = L * r.uniform(0.3, 0.9)
    shape = {'kind': 'capsule', 'length': L, 'radius': 0.05 * L}
    mass = m.mass()
    b = {'name': 'rod', 'position': m.v(*up(m, L / 2, 0, height)), 'mass': mass,
         'inertia': mass * L * L / 12 if m.planar else [mass * L * L / 12, mass * L * L / 12, mass * L * L / 100]}
    if not m.planar:
        b['kind'] = 'solid'
        shape['rotation'] = {'axis': [0, 1, 0], 'angle': '90 deg'}
    b['shapes'] = [m.surface(shape)]
    m.bodies.append(b)
    m.joints.append({'name': 'pin', 'kind': 'revolute', 'b': 'rod', 'at': m.v(*up(m, 0, 0, height)), **({} if m.planar else {'axis': [0.0, 1.0, 0.0]})})
    m.g = m.g or 9.81
    m.free_fall = math.sqrt(L / m.g)
    s = m.finish(m.tau(), 60)
    s['step'] = float('%.3g' % (m.free_fall * 0.04))
    s['until'] = 60 * s['step']
    return s


def conveyor(m):
    r, L = m.r, m.L
    d = m.floor(mu=r.uniform(0.1, 1), e=0.0)
    v = m.speed() * r.choice([-1, 1])
    if m.planar:
        d['surface_speed'] = v
    else:
        d['surface_velocity'] = [v, v * r.uniform(-1, 1), 0.0]
    size = L
    b = m.body('box', up(m, 0, 0, L / 2), L, ['box'])
    b['shapes'] = [m.surface({'kind': 'box', 'size': [L] * (2 if m.planar else 3)}, mu=0.5, e=0.0)]
    if r.random() < 0.5:
        b['velocity'] = m.v(m.speed(), 0, 0)
    m.bodies.append(b)
    m.g = m.g or 9.81
    m.free_fall = math.sqrt(L / m.g)
    return m.finish(m.tau())


def pusher(m):
    """A driven body pushes others over a floor, or jumps."""
    r, L = m.r, m.L
    if r.random() < 0.25:
        m.s['stepper'] = 'quasistatic'
    m.floor(mu=r.uniform(0.1, 0.8), e=0.0)
    v = m.speed() * r.choice([0.2, 1])
    motion = r.choice(['%.6g*t' % v, '%.6g*sin(%.6g*t)' % (L, v / L), '%.6g*step(t - %.6g)' % (r.uniform(1, 6) * L, 0.3 * L / (v + 1e-9 * L))])
    d = {'name': 'wall', 'position': m.v(*up(m, 0, 0, L / 2)), 'drive': {'x': motion},
         'shapes': [m.surface({'kind': 'box', 'size': [0.2 * L, L] if m.planar else [0.2 * L, L, L]}, e=0.0)]}
    if not m.planar:
        d['kind'] = 'solid'
    m.bodies.append(d)
    x = 0.1 * L
    for i in range(r.randint(1, 3)):
        side = L * r.uniform(0.3, 0.8)
        x += side / 2 + L * r.choice([0.0, 0.1, 0.5])
        b = m.body('b%d' % i, up(m, x, 0, side / 2), side, ['box'])
        b['shapes'] = [m.surface({'kind': 'box', 'size': [side] * (2 if m.planar else 3)}, e=0.0)]
        x += side / 2
        m.bodies.append(b)
    m.g = m.g or 9.81
    m.free_fall = math.sqrt(L / m.g)
    return m.finish(m.tau(v))


def overlap(m):
    """Bodies that start inside each other or the floor."""
    r, L = m.r, m.L
    m.floor(e=0.0)
    depth = L * r.choice([0.001, 0.01, 0.05, 0.1])
    b = m.body('b0', up(m, 0, 0, L / 2 - depth), L, ['box'])
    b['shapes'] = [m.surface({'kind': 'box', 'size': [L] * (2 if m.planar else 3)}, e=0.0)]
    m.bodies.append(b)
    if r.random() < 0.5:
        c = m.body('b1', up(m, 0.1 * L, 0, 1.5 * L - 2 * depth), L, ['box'])
        c['shapes'] = [m.surface({'kind': 'box', 'size': [L] * (2 if m.planar else 3)}, e=0.0)]
        m.bodies.append(c)
    m.s['stepper'] = r.choice(['stewart-trinkle', 'anitescu-potra', 'moreau-jean'])
    return m.finish(m.tau())


def tiles(m):
    """A body that slides over flush tiles."""
    r, L = m.r, m.L
    n = 6
    mu = r.choice([0.0, 0.1, 0.3])
    for i in range(n):
        size = [L, 0.2 * L] if m.planar else [L, 4 * L, 0.2 * L]
        m.ground.append({'name': 'tile%d' % i, 'kind': 'box', 'size': size, 'position': m.v(*up(m, (i - 0.5) * L, 0, -0.1 * L)), 'mu': mu})
    b = m.body('b', up(m, 0, 0, 0.25 * L), L / 2, ['box'])
    kind = r.choice(['box', 'box', 'disc' if m.planar else 'sphere'])
    shape = {'kind': 'box', 'size': [L / 2] * (2 if m.planar else 3)} if kind == 'box' else {'kind': kind, 'radius': L / 4}
    b['shapes'] = [m.surface(shape, mu, 0.0)]
    m.g = m.g or 9.81
    m.free_fall = math.sqrt(L / m.g)
    v = math.sqrt(9.81 * L) * r.uniform(0.5, 3)
    b['velocity'] = m.v(v, 0, 0)
    m.bodies.append(b)
    s = m.finish(m.tau(v))
    steps = int(min(100, max(20, 2.5 * L / (v * s['step']))))
    s['until'] = float('%.6g' % (steps * s['step']))
    return s


def springs(m):
    """Springs, dampers, drag and forces on bodies without contact."""
    r, L = m.r, m.L
    for i in range(r.randint(1, 3)):
        mass = m.mass()
        b = {'name': 'b%d' % i, 'position': m.v(*up(m, L * (i + 1), 0, 0)), 'mass': mass, 'inertia': m.inertia(mass, L)}
        if not m.planar:
            b['kind'] = 'solid'
        b['velocity'] = m.heading(m.speed() * 0.3)
        m.bodies.append(b)
        w = 10 ** r.uniform(-0.5, 1.5) * math.sqrt(9.81 / L)
        f = {'kind': 'spring', 'a': 'ground' if i == 0 else 'b%d' % (i - 1), 'b': 'b%d' % i, 'anchor_b': m.v(0.1 * L, 0, 0),
             'stiffness': mass * w * w, 'damping': mass * w * r.choice([0, 0.1, 1]), 'rest': L * r.uniform(0.5, 1.2)}
        if r.random() < 0.5:
            f['implicit'] = True
        m.forces.append(f)
        if r.random() < 0.3:
            m.forces.append({'kind': 'force', 'body': b['name'], 'fx': '%.4g*cos(%.4g*t)' % (mass * 9.81, w)})
        if r.random() < 0.3:
            m.forces.append({'kind': 'drag', 'body': b['name'], 'damping': mass * w * r.choice([0.1, 1])})
    return m.finish(m.tau())


def fast(m):
    """One or two balls at high speed against a wall, a thin plate or each other."""
    r, L = m.r, m.L
    m.g = r.choice([0.0, 9.81])
    m.free_fall = math.sqrt(L / m.g) if m.g else math.inf
    v = min(1000.0, m.speed() * m.log(1, 30))
    ball = 'disc' if m.planar else 'sphere'
    e = m.e()
    b = m.body('ball', up(m, 0, 0, 0), L, [ball], velocity=m.v(*up(m, v, 0, v * r.uniform(-0.2, 0.2))))
    b['shapes'][0]['restitution'] = e
    m.put(b)
    kind = r.random()
    gap = L * r.uniform(0.6, 10)
    if kind < 0.5:
        t = L * m.log(0.01, 1)
        m.add_ground(m.surface({'name': 'plate', 'kind': 'box', 'size': [t, 8 * L] if m.planar else [t, 8 * L, 8 * L],
                                'position': m.v(*up(m, gap + t / 2, 0, 0))}, e=e))
    else:
        c = m.body('other', up(m, gap + L, 0, L * r.uniform(-0.4, 0.4)), L, [r.choice([ball, 'box'])], **m.orientation())
        m.put(c)
    s = m.finish(m.tau(v))
    h = L / v * m.log(0.02, 20)
    s['step'] = float('%.3g' % h)
    steps = int(min(100, max(10, 3 * gap / (v * h))))
    s['until'] = float('%.6g' % (steps * s['step']))
    return s


def mechanism(m):
    """A four-bar, a door on two hinges, a drawer, a driven crank."""
    r, L = m.r, m.L
    mass = m.mass()
    m.g = m.g or 9.81
    m.free_fall = math.sqrt(L / m.g)
    if m.planar and r.random() < 0.3:
        for i in range(2):
            one = mass * m.log(0.1, 10)
            m.bodies.append({'name': 'wheel%d' % i, 'position': [(2 * i + 0.1) * L, 0.0], 'mass': one, 'inertia': one * L * L / 2})
            m.joints.append({'name': 'axle%d' % i, 'kind': 'revolute', 'b': 'wheel%d' % i, 'at': [2 * i * L, 0.0]})
        joint_extras(m, m.joints[0], mass * 9.81 * L)
        m.joints.append({'name': 'gear', 'kind': 'gear', 'joint_a': 'axle0', 'joint_b': 'axle1', 'ratio': r.choice([-1, 1]) * m.log(0.2, 5)})
    elif m.planar:
        pts = [(0, 0), (0, 0.5), (1.2, 1.1), (1.0, 0)]
        pts = [(x * L, y * L) for x, y in pts]
        for i in range(3):
            p, q = pts[i], pts[i + 1]
            l = math.dist(p, q)
            m.bodies.append({'name': 'bar%d' % i, 'position': [(p[0] + q[0]) / 2, (p[1] + q[1]) / 2], 'mass': mass * l / L,
                             'inertia': mass * l / L * l * l / 12})
        names = ['ground', 'bar0', 'bar1', 'bar2', 'ground']
        for i in range(4):
            a, b = (names[i], names[i + 1]) if i < 3 else ('ground', 'bar2')
            m.joints.append({'name': 'p%d' % i, 'kind': 'revolute', 'a': a, 'b': b, 'at': list(pts[i])})
        joint_extras(m, m.joints[0], mass * 9.81 * L)
    else:
        m.bodies.append({'name': 'door', 'kind': 'solid', 'position': [0.5 * L, 0, L], 'mass': mass,
                         'inertia': [mass * L * L / 3, mass * L * L * 0.4, mass * L * L / 12]})
        tilt = r.choice([0.0, r.uniform(-0.5, 0.5)])
        axis = [math.sin(tilt), 0.0, math.cos(tilt)]
        kind = r.choice(['revolute', 'revolute', 'cylindrical', 'prismatic'])
        for i, z in enumerate((0.2, 1.8)[:r.choice([1, 2])]):
            p = [axis[0] * (z - 1) * L, 0.0, L + axis[2] * (z - 1) * L]
            m.joints.append({'name': 'hinge%d' % i, 'kind': kind, 'b': 'door', 'at': p, 'axis': axis})
        m.bodies[0]['velocity'] = [0.0, 0.0, 0.0]
        if kind == 'revolute' and len(m.joints) == 1:
            joint_extras(m, m.joints[0], mass * 9.81 * L)
    return m.finish(m.tau(), r.randint(30, 80))


def pairs_of_joints(m):
    """One or two bodies on any joint there is, with limits, motors, springs, friction, a shape and a floor now and then."""
    r, L = m.r, m.L
    m.g = m.g or 9.81
    m.free_fall = math.sqrt(L / m.g)
    kinds = (['revolute', 'prismatic', 'weld', 'distance', 'point_on_line'] if m.planar else
             ['revolute', 'prismatic', 'spherical', 'cylindrical', 'universal', 'plane', 'screw', 'weld', 'distance', 'point_on_line'])
    last = 'ground'
    for i in range(r.randint(1, 2)):
        mass = m.mass()
        x = [L * (i + 0.5), 0.0, 0.0]
        b = {'name': 'b%d' % i, 'position': m.v(*x), 'mass': mass, 'inertia': m.inertia(mass, L)}
        if not m.planar:
            b['kind'] = 'solid'
        m.bodies.append(b)
        kind = r.choice(kinds)
        j = {'name': 'j%d' % i, 'kind': kind, 'a': last, 'b': b['name']}
        if kind == 'distance':
            j['anchor_a'] = m.v(0.5 * L if i else 0, L, 0)
            j['length'] = math.hypot(0.5 * L if i == 0 else L - 0.5 * L, L) if i == 0 else math.hypot(0.5 * L, L)
        else:
            j['at'] = m.v(L * i, 0, 0)
        if not m.planar and kind in ('revolute', 'cylindrical', 'universal', 'plane', 'screw', 'prismatic', 'point_on_line'):
            a = [r.gauss(0, 1) for _ in range(3)]
            n = math.sqrt(sum(c * c for c in a))
            j['axis'] = [c / n for c in a]
            if kind == 'universal':
                c = [a[1], -a[0], 0.0]
                k = math.hypot(c[0], c[1])
                j['axis_b'] = [c[0] / k, c[1] / k, 0.0]
        elif m.planar and kind in ('prismatic', 'point_on_line'):
            t = r.uniform(0, math.pi)
            j['axis'] = [math.cos(t), math.sin(t)]
        if kind == 'screw':
            j['pitch'] = L * r.uniform(0.02, 0.2)
        if kind in ('revolute', 'screw'):
            joint_extras(m, j, mass * 9.81 * L)
        elif kind in ('prismatic', 'cylindrical', 'point_on_line'):
            line_extras(m, j, mass * 9.81)
        m.joints.append(j)
        last = b['name']
    if not m.planar and r.random() < 0.15:
        m.s['rotation_update'] = 'linear'
    if not m.planar and r.random() < 0.1:
        m.s['gyroscopic'] = 'explicit'
    return m.finish(m.tau())


def line_extras(m, j, force):
    r, L = m.r, m.L
    kind = r.random()
    if kind < 0.25:
        j['lower'], j['upper'] = -L * r.uniform(0.05, 0.6), L * r.uniform(0.05, 0.6)
    elif kind < 0.4:
        j['friction'] = force * m.log(0.01, 10)
    elif kind < 0.55:
        j['stiffness'], j['damping'] = force / L * m.log(0.1, 1000), force / math.sqrt(9.81 * L) * m.log(0.001, 1)
    elif kind < 0.65:
        j['target'] = '%.5g*sin(%.5g*t)' % (0.3 * L * r.random(), math.sqrt(9.81 / L) * r.uniform(0.2, 3))
    elif kind < 0.75:
        j['rate'], j['rate_effort'] = r.uniform(-1, 1) * math.sqrt(9.81 * L), force * m.log(0.1, 10)


def terrain(m):
    """Bodies over a mesh, a height field or a slab, in space; over a slope of boxes in the plane."""
    r, L = m.r, m.L
    m.g = m.g or 9.81
    m.free_fall = math.sqrt(L / m.g)
    if m.planar:
        for i in range(3):
            m.add_ground(m.surface({'name': 'step%d' % i, 'kind': 'box', 'size': [2 * L, L], 'position': [2 * L * (i - 1), -0.5 * L - 0.2 * L * i]}))
    elif r.random() < 0.5:
        n = 4
        m.add_ground(m.surface({'name': 'field', 'kind': 'heightfield', 'size': [6 * L, 6 * L],
                                'heights': [[0.1 * L * r.random() for _ in range(n)] for _ in range(n)]}))
    else:
        c = 3 * L
        v = [[x, y, z] for x in (-c, c) for y in (-c, c) for z in (-c, 0.0)]
        t = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
        m.add_ground(m.surface({'name': 'block', 'kind': 'mesh', 'vertices': v, 'triangles': t}))
    fast = 0.0
    for i in range(20):
        if len(m.bodies) >= r.choice([1, 2]):
            break
        size = L * r.uniform(0.4, 1)
        b = m.body('b%d' % len(m.bodies), up(m, L * r.uniform(-1, 1), L * r.uniform(-1, 1), L * r.uniform(0.7, 1.5)), size, **m.orientation())
        if r.random() < 0.5:
            v = m.speed() * 0.5
            b['velocity'] = m.heading(v)
            fast = max(fast, v)
        m.put(b)
    return m.finish(m.tau(fast))


FAMILIES = [(drop, 8), (rest, 4), (container, 5), (chain, 5), (limb, 2), (conveyor, 2), (pusher, 3), (overlap, 3), (tiles, 3),
            (springs, 2), (fast, 4), (mechanism, 3), (pairs_of_joints, 5), (terrain, 3)]


def make(seed, k):
    m = Maker(seed, k)
    family = m.r.choices([f for f, _ in FAMILIES], [w for _, w in FAMILIES])[0]
    s = family(m)
    s['name'] = '%s-%d-%d' % (family.__name__, seed, k)
    if not m.planar and not s.get('bodies'):
        return make(seed, k + 1000000)
    return s


def text(scene):
    return json.dumps(scene, indent=1)


if __name__ == '__main__':
    seed, count, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    os.makedirs(folder, exist_ok=True)
    for k in range(count):
        with open(os.path.join(folder, '%05d.json' % k), 'w') as f:
            f.write(text(make(seed, k)))
