# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""More families of random scenes, each after something that a simulator likes to get wrong; on top of those of scenes.py.

Scene k of a seed is `make(seed, k)`; campaign.py takes them with --hostile.
"""
import math

from scenes import Maker, joint_extras, up


def ratios(m):
    """Two or three boxes on each other, or a light one thrown against a heavy one: masses 1e-10 to 1e2 of each other's and more."""
    r, L = m.r, m.L
    m.floor()
    masses = [m.M, min(1e8, m.M * 10 ** r.uniform(4, 12)), max(1e-10, m.M * 10 ** r.uniform(-12, -4))]
    r.shuffle(masses)
    z, fast = 0.0, 0.0
    for i in range(r.choice([2, 2, 3])):
        side = L * r.uniform(0.3, 1)
        b = m.body('b%d' % i, up(m, L * r.uniform(-0.1, 0.1), 0, z + side / 2), side, ['box'], mass=min(1e8, max(1e-10, masses[i])))
        b['shapes'] = [m.surface({'kind': 'box', 'size': [side] * (2 if m.planar else 3)}, e=r.choice([0.0, 0.0, 0.5]))]
        z += side + L * r.choice([0.0, 0.0, 0.2])
        m.bodies.append(b)
    if r.random() < 0.5:
        fast = m.speed()
        m.bodies[-1]['velocity'] = m.v(*up(m, 0, 0, -fast))
    m.g = m.g or 9.81
    m.free_fall = math.sqrt(L / m.g)
    return m.finish(m.tau(fast))


def tumble(m):
    """Solids with different moments of inertia that turn up to several times a step, in flight and onto a floor."""
    m.planar = False
    r, L = m.r, m.L
    m.floor()
    b = m.body('b', (0, 0, L * r.uniform(0.8, 2)), L * 0.5, ['box', 'capsule', 'cylinder', 'ellipsoid'], **m.orientation())
    i = b['mass'] * L * L / 40
    b['inertia'] = [i, i * r.uniform(1.0, 1.8), i * r.uniform(1.0, 1.8)]
    b['inertia'][2] = min(b['inertia'][2], 0.95 * (b['inertia'][0] + b['inertia'][1]))
    m.put(b)
    s = m.finish(m.tau(), r.randint(20, 50))
    w = m.log(0.01, 6) / s['step']
    b['spin'] = [w * r.uniform(-1, 1) for _ in range(3)]
    return s


def rolling(m):
    """Balls and lying cylinders that slide, roll and spin with torsional, rolling and anisotropic friction."""
    m.planar = False
    r, L = m.r, m.L
    m.g = m.g or 9.81
    m.free_fall = math.sqrt(L / m.g)
    floor = m.floor(mu=r.uniform(0.1, 1), e=0.0)
    kind = r.choice(['sphere', 'sphere', 'cylinder', 'capsule'])
    mass = m.mass()
    if kind == 'sphere':
        shape, z, turn = {'kind': kind, 'radius': L / 2}, L / 2, {}
    else:
        shape, z, turn = {'kind': kind, 'length': L, 'radius': L / 4}, L / 4, {'rotation': {'axis': [1, 0, 0], 'angle': '90 deg'}}
    b = {'name': 'b', 'kind': 'solid', 'position': [0.0, 0.0, z], 'mass': mass, 'inertia': [mass * L * L / 10] * 3, 'shapes': [m.surface(shape, e=0.0)], **turn}
    for d in (floor, b['shapes'][0]):
        if r.random() < 0.6:
            d['mu_spin'] = L * m.log(0.001, 0.1)
        if r.random() < 0.6:
            d['mu_roll'] = L * m.log(0.001, 0.1)
    v = m.speed()
    b['velocity'] = [v * r.uniform(-1, 1), v * r.uniform(-1, 1), 0.0]
    b['spin'] = [v / L * r.uniform(-3, 3) for _ in range(3)]
    m.bodies.append(b)
    if r.random() < 0.5:
        m.pairs.append({'a': 'floor', 'b': 'b.shape0', 'mu': r.uniform(0, 1), 'mu_2': r.uniform(0, 1), 'tangent': [1.0, 0.0, 0.0]})
    return m.finish(m.tau(v))


def stops(m):
    """A link or slider thrown against its limits, which give back; motors and targets that drive it there."""
    r, L = m.r, m.L
    mass = m.mass()
    slide = r.random() < 0.4
    b = {'name': 'b', 'position': m.v(*up(m, L / 2, 0, 0)), 'mass': mass, 'inertia': m.inertia(mass, L)}
    if not m.planar:
        b['kind'] = 'solid'
    m.bodies.append(b)
    unit = L if slide else 1.0
    j = {'name': 'j', 'kind': 'prismatic' if slide else 'revolute', 'b': 'b', 'at': m.v(0, 0, 0), 'lower': -unit * r.uniform(0.05, 0.5),
         'upper': unit * r.uniform(0.05, 0.5), 'limit_restitution': r.choice([0.0, 0.5, 1.0])}
    if slide or not m.planar:
        j['axis'] = m.v(1, 0, 0) if slide else [0.0, 1.0, 0.0]
    force = mass * 9.81 * (1.0 if slide else L)
    kind = r.random()
    if kind < 0.4:
        j['rate'], j['rate_effort'] = r.uniform(-3, 3) * (math.sqrt(9.81 * L) if slide else math.sqrt(9.81 / L)), force * m.log(0.1, 30)
    elif kind < 0.6:
        j['friction'] = force * m.log(0.01, 3)
    elif kind < 0.8:
        j['stiffness'], j['damping'] = force / unit * m.log(0.1, 300), force / unit * math.sqrt(L / 9.81) * m.log(0.001, 1)
    m.joints.append(j)
    if slide:
        b['velocity'] = m.v(m.speed() * r.choice([-1, 1]), 0, 0)
    m.g = m.g or 9.81
    m.free_fall = math.sqrt(L / m.g)
    return m.finish(m.tau())


def loops(m):
    """Closed chains with more rows than they need: a table on legs, a ladder of bars, a door on three hinges with a stop."""
    r, L = m.r, m.L
    mass = m.mass()
    m.g = m.g or 9.81
    m.free_fall = math.sqrt(L / m.g)
    if m.planar:
        n = r.randint(2, 4)
        m.bodies.append({'name': 'top', 'position': [0.0, L], 'mass': mass, 'inertia': mass * L * L})
        for i in range(n):
            x = L * (2 * i / (n - 1) - 1)
            m.bodies.append({'name': 'leg%d' % i, 'position': [x, 0.5 * L], 'mass': mass * m.log(0.01, 1), 'inertia': mass * L * L * 0.05})
            m.joints.append({'name': 'foot%d' % i, 'kind': 'revolute', 'b': 'leg%d' % i, 'at': [x, 0.0]})
            m.joints.append({'name': 'head%d' % i, 'kind': 'revolute', 'a': 'top', 'b': 'leg%d' % i, 'at': [x, L]})
        joint_extras(m, m.joints[0], mass * 9.81 * L)
    else:
        m.bodies.append({'name': 'door', 'kind': 'solid', 'position': [0.5 * L, 0.0, L], 'mass': mass, 'inertia': [mass * L * L / 3, mass * L * L * 0.4, mass * L * L / 12]})
        t = r.uniform(-0.8, 0.8)
        axis = [math.sin(t), 0.0, math.cos(t)]
        for i in range(r.randint(2, 3)):
            z = (i - 1) * 0.8 * L
            m.joints.append({'name': 'hinge%d' % i, 'kind': 'revolute', 'b': 'door', 'at': [axis[0] * z, 0.0, L + axis[2] * z], 'axis': axis})
        joint_extras(m, m.joints[0], mass * 9.81 * L)
        m.bodies[0]['spin'] = [c * m.speed() / L * 0.2 for c in axis]
    return m.finish(m.tau(), r.randint(30, 80))


def as_given(m):
    """Overlaps that are kept, with friction, restitution and speed on top of them."""
    r, L = m.r, m.L
    m.floor()
    depth = L * r.choice([1e-4, 1e-3, 0.01, 0.1])
    b = m.body('b', up(m, 0, 0, L / 2 - depth), L, ['box'])
    b['shapes'] = [m.surface({'kind': 'box', 'size': [L] * (2 if m.planar else 3)})]
    if r.random() < 0.5:
        b['velocity'] = m.heading(m.speed())
    m.bodies.append(b)
    m.s['start'] = 'as given'
    m.s['stepper'] = r.choice(['stewart-trinkle', 'anitescu-potra', 'moreau-jean'])
    return m.finish(m.tau())


def press(m):
    """A driven plate presses a body against a wall: it stops being possible, or the body gets out of the way."""
    r, L = m.r, m.L
    v = m.speed() * r.choice([0.1, 1])
    m.floor(mu=r.uniform(0, 1), e=0.0)
    size = lambda w: [w, 2 * L] if m.planar else [w, 2 * L, 2 * L]
    m.add_ground(m.surface({'name': 'wall', 'kind': 'box', 'size': size(0.2 * L), 'position': m.v(*up(m, 2 * L, 0, L))}, e=0.0))
    m.bodies.append({'name': 'plate', 'position': m.v(*up(m, 0, 0, L)), 'drive': {'x': '%.6g*t' % v}, 'shapes': [m.surface({'kind': 'box', 'size': size(0.2 * L)}, e=0.0)],
                     **({} if m.planar else {'kind': 'solid'})})
    d = L * r.uniform(0.3, 0.8)
    kind = r.choice(['box', 'disc' if m.planar else 'sphere'])
    b = m.body('b', up(m, L, 0, d / 2), d, [kind])
    b['shapes'] = [m.surface({'kind': 'box', 'size': [d] * (2 if m.planar else 3)} if kind == 'box' else {'kind': kind, 'radius': d / 2}, e=0.0)]
    m.bodies.append(b)
    m.g = m.g or 9.81
    m.free_fall = math.sqrt(L / m.g)
    return m.finish(m.tau(v), r.randint(40, 100))


FAMILIES = [ratios, tumble, rolling, stops, loops, as_given, press]


def make(seed, k):
    m = Maker(seed, k)
    family = m.r.choice(FAMILIES)
    s = family(m)
    s['name'] = '%s-%d-%d' % (family.__name__, seed, k)
    if m.r.random() < 0.15:
        s['until'] = float('%.6g' % (s['until'] - 0.37 * s['step']))   # the last step is shorter
    return s
