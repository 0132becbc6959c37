# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""A scene's text as bodies, shapes, joints and forces, from docs/scene-format.md alone.

Planar bodies are bodies in space that stay in the plane z = 0 and turn about z: one set of formulas serves both.
"""
import json
import math
import re

from geometry import (EYE, Shape, add, cross, dot, mat_mul, mat_t_vec, mat_vec, mul, norm, quat_matrix, rotation_about, sub,
                      transpose, unit)


class Unknown(Exception):
    """The scene has something that this program does not model: it cannot judge."""


# ── expressions ──────────────────────────────────────────────────────────────────────────────────

def spline(xs, ys):
    """Natural cubic spline, constant outside."""
    n = len(xs)
    m = [0.0] * n
    if n > 2:
        a, b, c, d = [0.0] * n, [1.0] * n, [0.0] * n, [0.0] * n
        for i in range(1, n - 1):
            h0, h1 = xs[i] - xs[i - 1], xs[i + 1] - xs[i]
            a[i], b[i], c[i] = h0, 2 * (h0 + h1), h1
            d[i] = 6 * ((ys[i + 1] - ys[i]) / h1 - (ys[i] - ys[i - 1]) / h0)
        for i in range(1, n):
            f = a[i] / b[i - 1]
            b[i] -= f * c[i - 1]
            d[i] -= f * d[i - 1]
        for i in range(n - 2, 0, -1):
            m[i] = (d[i] - c[i] * m[i + 1]) / b[i]

    def value(x):
        if x <= xs[0]:
            return ys[0]
        if x >= xs[-1]:
            return ys[-1]
        i = max(k for k in range(n - 1) if xs[k] <= x)
        h = xs[i + 1] - xs[i]
        u, v = (xs[i + 1] - x) / h, (x - xs[i]) / h
        return u * ys[i] + v * ys[i + 1] + ((u ** 3 - u) * m[i] + (v ** 3 - v) * m[i + 1]) * h * h / 6
    return value


def monotone(xs, ys):
    """Cubic with the slopes of Fritsch and Butland, constant outside."""
    n = len(xs)
    h = [xs[i + 1] - xs[i] for i in range(n - 1)]
    s = [(ys[i + 1] - ys[i]) / h[i] for i in range(n - 1)]

    def end(i, j):
        m = ((2 * h[i] + h[j]) * s[i] - h[i] * s[j]) / (h[i] + h[j])
        if m * s[i] <= 0:
            return 0.0
        return 3 * s[i] if s[i] * s[j] <= 0 and abs(m) > 3 * abs(s[i]) else m
    m = [s[0], s[0]] if n == 2 else [end(0, 1)] + [0.0] * (n - 2) + [end(n - 2, n - 3)]
    for i in range(1, n - 1):
        if s[i - 1] * s[i] > 0:
            a, b = 2 * h[i] + h[i - 1], h[i] + 2 * h[i - 1]
            m[i] = (a + b) / (a / s[i - 1] + b / s[i])

    def value(x):
        if x <= xs[0]:
            return ys[0]
        if x >= xs[-1]:
            return ys[-1]
        i = max(k for k in range(n - 1) if xs[k] <= x)
        u = (x - xs[i]) / h[i]
        v = 1 - u
        return (ys[i] * v * v * (1 + 2 * u) + ys[i + 1] * u * u * (1 + 2 * v) + h[i] * u * v * (m[i] * v - m[i + 1] * u))
    return value


def linear(xs, ys):
    """Straight lines, constant outside."""
    def value(x):
        k = max([k for k in range(len(xs)) if xs[k] <= x], default=-1)
        if k < 0 or k == len(xs) - 1:
            return ys[max(k, 0)]
        return ys[k] + (ys[k + 1] - ys[k]) * (x - xs[k]) / (xs[k + 1] - xs[k])
    return value


def hold(xs, ys):
    """The value of the last point at or before x."""
    return lambda x: ys[max([k for k in range(len(xs)) if xs[k] <= x], default=0)]


INTERPOLATIONS = dict(monotone=monotone, linear=linear, hold=hold, spline=spline)
NAMES = {k: getattr(math, k) for k in 'sin cos tan asin acos atan sinh cosh tanh exp log sqrt atan2 pi e'.split()}
NAMES.update(abs=abs, min=min, max=max, step=lambda x: 0.0 if x < 0 else 1.0,
             clamp=lambda x, a, b: min(max(x, a), b), table=lambda x, xs, ys, kind=monotone: kind(xs, ys)(x),
             if_=lambda c, a, b: a if c else b, **INTERPOLATIONS)


def expression(text):
    """A function of a dictionary of variables."""
    if not re.fullmatch(r'[\w\s.+\-*/^(),\[\]<>=!]*', text) or '__' in text:
        raise Unknown('expression ' + text)
    text = re.sub(r'\bif\s*\(', 'if_(', text.strip().replace('^', '**'))
    try:
        code = compile(text, '<expression>', 'eval')
    except SyntaxError:
        raise Unknown('expression ' + text)
    return lambda **variables: float(eval(code, {'__builtins__': {}}, {**NAMES, **variables}))


def motion(value):
    """A function of time: a number, an expression, or a table."""
    if isinstance(value, (int, float)):
        return lambda t: float(value)
    if isinstance(value, str):
        f = expression(value)
        return lambda t: f(t=t)
    kind = INTERPOLATIONS[value['table'].get('interpolation', 'monotone')]
    return kind([float(x) for x in value['table']['t']], [float(y) for y in value['table']['value']])


def angle(value):
    if isinstance(value, str):
        number, word = value.split()
        return float(number) * (math.pi / 180 if word == 'deg' else 1.0)
    return float(value)


def number(value):
    return float(value)


def vec(v):
    return (float(v[0]), float(v[1]), float(v[2]) if len(v) > 2 else 0.0)


def rotation(value):
    if isinstance(value, dict):
        return rotation_about(unit(vec(value['axis'])), angle(value['angle']))
    return quat_matrix([float(x) for x in value])


# ── mass ─────────────────────────────────────────────────────────────────────────────────────────

def shape_mass(s, density):
    """(mass, inertia 3x3 about its own centre in its own axes, centre in its frame) of a homogeneous shape."""
    z = s.size
    if s.planar:
        if s.kind == 'disc':
            m = density * math.pi * z['radius'] ** 2
            return m, m * z['radius'] ** 2 / 2, (0, 0, 0)
        if s.kind == 'box':
            w, h = z['size']
            m = density * w * h
            return m, m * (w * w + h * h) / 12, (0, 0, 0)
        if s.kind == 'capsule':
            L, r = z['length'], z['radius']
            m1, m2 = density * L * 2 * r, density * math.pi * r * r
            i1 = m1 * (L * L + 4 * r * r) / 12
            # Half discs: centre at 4r/3pi from their straight side.
            c = 4 * r / (3 * math.pi)
            i2 = m2 * (r * r / 2 - c * c) + m2 * (L / 2 + c) ** 2
            return m1 + m2, i1 + i2, (0, 0, 0)
        if s.kind == 'polygon':
            a = cx = cy = i0 = 0.0
            P = s.points
            for p, q in zip(P, P[1:] + P[:1]):
                c = p[0] * q[1] - p[1] * q[0]
                a += c / 2
                cx += c * (p[0] + q[0]) / 6
                cy += c * (p[1] + q[1]) / 6
                i0 += c * (p[0] ** 2 + p[0] * q[0] + q[0] ** 2 + p[1] ** 2 + p[1] * q[1] + q[1] ** 2) / 12
            c = (cx / a, cy / a, 0.0)
            m = density * a
            return m, density * i0 - m * dot(c, c), c
        return 0.0, 0.0, (0, 0, 0)
    d3 = lambda a, b, c: ((a, 0, 0), (0, b, 0), (0, 0, c))
    if s.kind == 'sphere':
        m = density * 4 / 3 * math.pi * z['radius'] ** 3
        i = 0.4 * m * z['radius'] ** 2
        return m, d3(i, i, i), (0, 0, 0)
    if s.kind == 'box':
        a, b, c = z['size']
        m = density * a * b * c
        return m, d3(m * (b * b + c * c) / 12, m * (a * a + c * c) / 12, m * (a * a + b * b) / 12), (0, 0, 0)
    if s.kind == 'ellipsoid':
        a, b, c = z['radii']
        m = density * 4 / 3 * math.pi * a * b * c
        return m, d3(m * (b * b + c * c) / 5, m * (a * a + c * c) / 5, m * (a * a + b * b) / 5), (0, 0, 0)
    if s.kind == 'cylinder':
        r, L = z['radius'], z['length']
        m = density * math.pi * r * r * L
        i = m * (3 * r * r + L * L) / 12
        return m, d3(i, i, m * r * r / 2), (0, 0, 0)
    if s.kind == 'cone':
        r, L = z['radius'], z['length']
        m = density * math.pi * r * r * L / 3
        i = m * (3 / 20 * r * r + 3 / 80 * L * L)
        return m, d3(i, i, 0.3 * m * r * r), (0, 0, -L / 4)
    if s.kind == 'capsule':
        r, L = z['radius'], z['length']
        m1, m2 = density * math.pi * r * r * L, density * 4 / 3 * math.pi * r ** 3
        c = 3 * r / 8
        i = m1 * (3 * r * r + L * L) / 12 + m2 * (0.4 * r * r - c * c + (L / 2 + c) ** 2)
        return m1 + m2, d3(i, i, m1 * r * r / 2 + 0.4 * m2 * r * r), (0, 0, 0)
    if s.kind in ('point', 'segment', 'halfspace', 'halfplane') or density == 0:
        return 0.0, d3(0, 0, 0), (0, 0, 0)
    raise Unknown('mass of a ' + s.kind)


def steiner(m, c):
    n = dot(c, c)
    return [[m * ((n if i == j else 0.0) - c[i] * c[j]) for j in range(3)] for i in range(3)]


# ── the model ────────────────────────────────────────────────────────────────────────────────────

class Body:
    pass


class Joint:
    pass


SIZES = {'disc': ['radius'], 'sphere': ['radius'], 'box': ['size'], 'polygon': ['vertices'], 'capsule': ['length', 'radius'],
         'segment': ['length'], 'cylinder': ['length', 'radius'], 'cone': ['length', 'radius'], 'ellipsoid': ['radii'],
         'hull': ['vertices'], 'mesh': ['vertices', 'triangles'], 'heightfield': ['size', 'heights']}


def strip_comments(text):
    out, i, inside = [], 0, False
    while i < len(text):
        c = text[i]
        if inside:
            if c == '\\':
                out.append(text[i:i + 2])
                i += 2
                continue
            inside = c != '"'
        elif c == '"':
            inside = True
        elif text.startswith('//', i):
            while i < len(text) and text[i] != '\n':
                i += 1
            continue
        out.append(c)
        i += 1
    return ''.join(out)


class Model:
    def __init__(self, text):
        try:
            self.scene = s = json.loads(strip_comments(text))
        except ValueError:
            raise Unknown('trailing commas')
        for key in ('parameters', 'include', 'assemblies', 'replicate', 'actuators', 'inputs'):
            if '"%s"' % key in text:
                raise Unknown(key)
        if any(j.get('kind') == 'coupling' for j in s.get('joints', [])):
            raise Unknown('couplings')
        kinds = {b.get('kind', 'body') for b in s.get('bodies', [])}
        self.planar = not kinds & {'solid', 'point_mass'}
        self.gravity = vec(s.get('gravity', [0, -9.81] if self.planar else [0, 0, -9.81]))
        self.friction = s.get('friction', 'coulomb')
        self.impact = s.get('impact', 'newton')
        self.bodies, self.by_name = [], {}
        self.shape_names = {}
        self.groups = s.get('groups', [])
        self._body({'name': 'ground', 'drive': 'fixed', 'shapes': s.get('shapes', [])}, 0)
        for k, b in enumerate(s.get('bodies', [])):
            self._body(b, k + 1)
        self.free = [b for b in self.bodies if b.free]
        given = list(enumerate(s.get('joints', [])))
        self.joints = [self._joint(j, k) for k, j in given if j['kind'] != 'gear']
        named = {j.name: j for j in self.joints}
        self.gears = [(j.get('name', 'joint%d' % k), named[j['joint_a']], named[j['joint_b']], float(j['ratio']))
                      for k, j in given if j['kind'] == 'gear']
        self.forces = [self._force(f) for f in s.get('forces', [])]
        self.pairs = {}
        for p in s.get('pairs', []):
            key = frozenset((self.shape(p['a']), self.shape(p['b'])))
            self.pairs[key] = p
        self.excluded = {frozenset((self.by_name[a], self.by_name[b])) for a, b in s.get('exclude', [])}
        self.contacts = {frozenset((self.shape(c['a']), self.shape(c['b']))): c for c in s.get('contacts', [])}
        self._sizes()

    # bodies and shapes

    def bits(self, value):
        return value if isinstance(value, int) else sum(1 << self.groups.index(name) for name in set(value))

    def apart(self, a, b):
        """Whether groups, masks or an excluded pair of bodies keep two shapes apart."""
        return not (a.group & b.mask or b.group & a.mask) or frozenset((a.body, b.body)) in self.excluded

    def _shape(self, d, body, k):
        kind = d['kind']
        size = {n: d[n] for n in SIZES.get(kind, [])}
        if kind in ('hull', 'mesh') and 'file' in d:
            raise Unknown('mesh files')
        if self.planar:
            R = rotation_about((0, 0, 1), angle(d.get('angle', 0)))
        else:
            R = rotation(d['rotation']) if 'rotation' in d else EYE
        s = Shape(kind, self.planar, vec(d.get('position', [0, 0, 0])), R, **size)
        s.name, s.body, s.mu, s.e = d.get('name', 'shape%d' % k), body, float(d.get('mu', 0.5)), float(d.get('restitution', 0))
        s.density, s.detect = float(d.get('density', 0)), d.get('detect', True)
        s.mu_spin, s.mu_roll, s.facets = float(d.get('mu_spin', 0)), float(d.get('mu_roll', 0)), int(d.get('facets', 0))
        s.combine, s.priority = d.get('combine', 'default'), int(d.get('priority', 0))
        s.group, s.mask = self.bits(d.get('group', 1)), self.bits(d.get('mask', 1))
        s.surface = None
        if 'surface_speed' in d:
            s.surface = motion(d['surface_speed'])
        if 'surface_velocity' in d or 'surface_spin' in d:
            v = [motion(m) for m in d.get('surface_velocity', [0, 0, 0])]
            w = motion(d.get('surface_spin', 0))
            s.surface = (v, w)
        return s

    def _body(self, d, k):
        b = Body()
        b.name, b.index = d.get('name', 'body%d' % k), len(self.bodies)
        b.kind = d.get('kind', 'body' if self.planar else 'solid')
        b.turns = b.kind in ('body', 'solid')
        b.pull = mul(self.gravity, float(d.get('gravity_scale', 1)))
        b.x0 = vec(d.get('position', [0, 0, 0]))
        b.R0 = (rotation_about((0, 0, 1), angle(d.get('angle', 0))) if self.planar
                else rotation(d['rotation']) if 'rotation' in d else EYE)
        b.angle0 = angle(d.get('angle', 0)) if self.planar else 0.0
        spin = d.get('spin', 0)
        b.v0, b.w0 = vec(d.get('velocity', [0, 0, 0])), (vec(spin) if isinstance(spin, list) else (0.0, 0.0, float(spin)))
        drive = d.get('drive', 'free')
        b.free, b.moves = drive == 'free', isinstance(drive, dict)
        b.motions = {key: motion(v) for key, v in drive.items()} if b.moves else {}
        b.shapes = [self._shape(x, b, i) for i, x in enumerate(d.get('shapes', []))]
        b.mass = b.shift = None
        b.shift = (0.0, 0.0, 0.0)
        if b.free:
            self._mass(b, d)
        if b.shift != (0.0, 0.0, 0.0):
            for s in b.shapes:
                s.x = sub(s.x, b.shift)
                s.measure()
            b.x0 = add(b.x0, mat_vec(b.R0, b.shift))
        self.bodies.append(b)
        self.by_name[b.name] = b
        for s in b.shapes:
            full = s.name if b.name == 'ground' else b.name + '.' + s.name
            s.full = full
            self.shape_names[full] = s
        return b

    def _mass(self, b, d):
        total, centre = 0.0, (0.0, 0.0, 0.0)
        parts = []
        for s in b.shapes:
            if s.density:
                m, I, c = shape_mass(s, s.density)
                c = add(s.x, mat_vec(s.R, c))
                parts.append((s, m, I, c))
                total += m
                centre = add(centre, mul(c, m))
        if d.get('recenter') and total > 0:
            b.shift = mul(centre, 1 / total)
        I = [[0.0] * 3 for _ in range(3)]
        for s, m, Is, c in parts:
            r = sub(c, b.shift)
            if self.planar:
                I[2][2] += Is + m * dot(r, r)
            else:
                W = mat_mul(mat_mul(s.R, Is), transpose(s.R))
                P = steiner(m, r)
                for i in range(3):
                    for j in range(3):
                        I[i][j] += W[i][j] + P[i][j]
        b.mass = float(d['mass']) if 'mass' in d else total
        if 'mass' in d and total > 0 and 'inertia' not in d:
            I = [[x * b.mass / total for x in row] for row in I]
        if 'inertia' in d:
            v = d['inertia']
            if self.planar:
                I[2][2] = float(v)
            else:
                v = list(map(float, v)) + [0.0] * (6 - len(v))
                I = [[v[0], v[3], v[4]], [v[3], v[1], v[5]], [v[4], v[5], v[2]]]
        b.J = tuple(map(tuple, I))
        if not b.mass > 0 or (b.turns and not (I[2][2] > 0)):
            raise Unknown('mass of ' + b.name)

    def shape(self, name):
        if name in self.shape_names:
            return self.shape_names[name]
        if name in self.by_name and len(self.by_name[name].shapes) == 1:
            return self.by_name[name].shapes[0]
        found = [s for s in self.shape_names.values() if s.name == name]
        if len(found) == 1:
            return found[0]
        raise Unknown('shape ' + name)

    # joints

    def _joint(self, d, k):
        j = Joint()
        j.name, j.kind = d.get('name', 'joint%d' % k), d['kind']
        j.a, j.b = self.by_name[d.get('a', 'ground')], self.by_name[d['b']]
        a, b = j.a, j.b
        if 'at' in d:
            p = vec(d['at'])
            j.ra, j.rb = mat_t_vec(a.R0, sub(p, a.x0)), mat_t_vec(b.R0, sub(p, b.x0))
        else:
            j.ra = sub(vec(d.get('anchor_a', [0, 0, 0])), a.shift)
            j.rb = sub(vec(d.get('anchor_b', [0, 0, 0])), b.shift)
        axis = d.get('axis', [1, 0] if self.planar else [0, 0, 1])
        if isinstance(axis, (str, int, float)):
            j.u = (math.cos(angle(axis)), math.sin(angle(axis)), 0.0)
        else:
            j.u = unit(vec(axis))
        j.ub = unit(vec(d['axis_b'])) if 'axis_b' in d else mat_t_vec(b.R0, mat_vec(a.R0, j.u))
        j.angle = angle(d.get('angle', 0))
        j.R0 = mat_mul(transpose(a.R0), b.R0)   # b's axes in a's, at the start
        j.length = number(d['length']) if 'length' in d else None
        if j.kind == 'distance' and j.length is None:
            j.length = norm(sub(add(b.x0, mat_vec(b.R0, j.rb)), add(a.x0, mat_vec(a.R0, j.ra))))
        j.pitch = number(d.get('pitch', 0))
        # Two directions across the axis, fixed in a; the first also as it lies in b at the start.
        other = (0.0, 0.0, 1.0) if self.planar else ((1.0, 0, 0) if abs(j.u[0]) < 0.8 else (0, 1.0, 0))
        j.vx = unit(cross(other, j.u) if not self.planar else (-j.u[1], j.u[0], 0.0))
        j.vy = cross(j.u, j.vx)
        j.vb = mat_t_vec(j.R0, j.vx)
        j.vb = unit(sub(j.vb, mul(j.ub, dot(j.vb, j.ub))), j.vb)
        j.lower = angle(d['lower']) if 'lower' in d else -math.inf
        j.upper = angle(d['upper']) if 'upper' in d else math.inf
        j.limit_e = float(d.get('limit_restitution', 0))
        j.friction = number(d.get('friction', 0))
        j.target = motion(d['target']) if 'target' in d else None
        j.rate = motion(d['rate']) if 'rate' in d else None
        j.effort = number(d.get('rate_effort', 'inf'))
        j.K, j.C, j.rest = number(d.get('stiffness', 0)), number(d.get('damping', 0)), angle(d.get('rest', 0))
        return j

    def _force(self, d):
        d = dict(d)
        if d['kind'] == 'force':
            for key in ('fx', 'fy', 'fz', 'torque', 'tx', 'ty', 'tz'):
                if key in d:
                    d[key] = expression(d[key]) if isinstance(d[key], str) else (lambda v: lambda **_: v)(float(d[key]))
        return d

    def _sizes(self):
        """size of a body [m]: the reach of its shapes, or of its anchors, or its radius of inertia."""
        for b in self.bodies:
            reach = [s.reach for s in b.shapes if not s.infinite()]
            for j in self.joints:
                reach += [norm(j.ra)] if j.a is b else [norm(j.rb)] if j.b is b else []
            if b.free and b.turns:
                reach.append(math.sqrt(max(b.J[i][i] for i in range(3)) / b.mass))
            b.size = max(reach, default=0.0)
        sizes = [b.size for b in self.free if b.size > 0]
        self.length = max(sizes, default=1.0)
        for b in self.bodies:
            if not b.size > 0:
                b.size = self.length

    def combined_mu(self, a, b):
        if a.priority != b.priority:
            return max(a, b, key=lambda s: s.priority).mu
        rules = {a.combine, b.combine}
        if 'max' in rules or 'min' in rules:
            return (max if 'max' in rules else min)(a.mu, b.mu)
        return math.sqrt(a.mu * b.mu)

    def coefficients(self, a, b):
        """(mu, restitution) of two shapes."""
        mu, e = self.combined_mu(a, b), max(a.e, b.e)
        for table in (self.pairs, self.contacts):
            p = table.get(frozenset((a, b)))
            if p:
                mu, e = max(float(p.get('mu', mu)), float(p.get('mu_2', 0))), float(p.get('restitution', e))
        return (0.0 if self.friction == 'none' else mu), e
