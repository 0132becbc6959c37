# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Joints, forces and inertia of recorded states, for the judge: what must be zero, its rates, and least squares."""
import math

from geometry import (add, cross, dot, mat_mul, mat_t_vec, mat_vec, mul, norm, rotation_log, sub, transpose)

ZERO3 = (0.0, 0.0, 0.0)


class State:
    """Place and velocity of one body: x, R, v, w; in the plane also the angle, which counts turns."""
    __slots__ = ('x', 'R', 'v', 'w', 'angle')

    def __init__(self, x, R, v, w, angle=0.0):
        self.x, self.R, self.v, self.w, self.angle = x, R, v, w, angle


def point_velocity(s, p):
    return add(s.v, cross(s.w, sub(p, s.x)))


def world_inertia(b, R):
    return mat_mul(mat_mul(R, b.J), transpose(R))


def spin_momentum(b, s):
    return mat_vec(s.R, mat_vec(b.J, mat_t_vec(s.R, s.w))) if b.turns else ZERO3


def kinetic(b, s):
    return 0.5 * b.mass * dot(s.v, s.v) + 0.5 * dot(s.w, spin_momentum(b, s))


def gyroscopic_impulse(b, s, h):
    """Euler's equations of the free body over h by the midpoint rule, theory (S2); turns above 1/4 rad divided."""
    J, w0 = b.J, mat_t_vec(s.R, s.w)
    n = max(1, math.ceil(h * norm(w0) / 0.25))
    w, k = w0, h / n
    for _ in range(min(n, 400)):
        new = w
        for _ in range(60):
            m = mul(add(w, new), 0.5)
            nxt = sub(w, mul(solve3(J, cross(m, mat_vec(J, m))), k))
            if norm(sub(nxt, new)) <= 1e-15 * (norm(w) + 1e-300):
                new = nxt
                break
            new = nxt
        w = new
    return mat_vec(s.R, mat_vec(J, sub(w, w0)))


def solve3(A, b):
    d = dot(A[0], cross(A[1], A[2]))
    c = (cross(A[1], A[2]), cross(A[2], A[0]), cross(A[0], A[1]))
    return tuple((c[0][i] * b[0] + c[1][i] * b[1] + c[2][i] * b[2]) / d for i in range(3))


# ── joints ───────────────────────────────────────────────────────────────────────────────────────

class JointView:
    """Of one joint in one state: errors [(value, 'm' or 'rad')], rows [(J_a, J_b)], and the coordinate with its row."""
    __slots__ = ('errors', 'rows', 'coordinate', 'coordinate_row', 'length')


def point_row(d, p, sa, sb):
    ra, rb = sub(p, sa.x), sub(p, sb.x)
    return (mul(d, -1) + mul(cross(ra, d), -1), d + cross(rb, d))


def spin_row(d):
    return (ZERO3 + mul(d, -1), ZERO3 + d)


AXES3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
HOLDS = {'revolute': 'CA', 'prismatic': 'LN', 'spherical': 'C', 'cylindrical': 'LA', 'universal': 'CX', 'plane': 'PA',
         'screw': 'LAT', 'weld': 'CN', 'point_on_line': 'L', 'distance': 'D', 'angle': ''}
COORDINATE = {'revolute': 'angle', 'prismatic': 'along', 'cylindrical': 'along', 'plane': 'angle', 'screw': 'angle',
              'point_on_line': 'along', 'distance': 'distance', 'angle': 'angle'}


def view(j, sa, sb, planar, last=None):
    o = JointView()
    pa, pb = add(sa.x, mat_vec(sa.R, j.ra)), add(sb.x, mat_vec(sb.R, j.rb))
    delta = sub(pb, pa)
    u, x = mat_vec(sa.R, j.u), mat_vec(sa.R, j.vx)
    y = mat_vec(sa.R, j.vy)
    ub = mat_vec(sb.R, j.ub)
    o.errors, o.rows, o.length = [], [], norm(delta)
    if planar:
        turn = sb.angle - sa.angle - j.angle
    else:
        vb = mat_vec(sb.R, j.vb)
        turn = math.atan2(dot(y, vb), dot(x, vb)) - j.angle
        if last is not None:
            turn += 2 * math.pi * round((last - turn) / (2 * math.pi))

    def hold(value, unit_, row):
        o.errors.append((value, unit_))
        o.rows.append(row)
    for c in HOLDS[j.kind]:
        if c == 'C':
            # the axes turn with body a in space, so that force and reaction act at the point of b: theory (S5)
            at = pa if planar else pb
            for d in (AXES3[:2] if planar else AXES3):
                hold(dot(d, delta), 'm', (mul(d, -1) + mul(cross(sub(at, sa.x), d), -1), d + cross(sub(pb, sb.x), d)))
        elif c == 'L':
            for d in ((x,) if planar else (x, y)):
                hold(dot(d, delta), 'm', point_row(d, pb, sa, sb))
        elif c == 'A' and not planar:
            for d in (x, y):
                hold(dot(d, ub), 'rad', spin_row(cross(ub, d)))
        elif c == 'X':
            hold(dot(u, ub), 'rad', spin_row(cross(ub, u)))
        elif c == 'N':
            if planar:
                hold(turn, 'rad', spin_row(AXES3[2]))
            else:
                w = rotation_log(mat_mul(mat_mul(sb.R, transpose(j.R0)), transpose(sa.R)))
                for d in AXES3:
                    hold(dot(d, w), 'rad', spin_row(d))
        elif c == 'P':
            hold(dot(u, delta), 'm', point_row(u, pb, sa, sb))
        elif c == 'T':
            if j.pitch:   # frames may be more than half a turn apart: the way along the axis has the number of turns
                turn += 2 * math.pi * round((dot(u, delta) / j.pitch - turn) / (2 * math.pi))
            p, s = point_row(u, pb, sa, sb), spin_row(u)
            row = tuple(tuple(p[k][i] - j.pitch * s[k][i] for i in range(6)) for k in (0, 1))
            hold(dot(u, delta) - j.pitch * turn, 'm', row)
        elif c == 'D':
            d = mul(delta, 1 / o.length) if o.length > 0 else AXES3[0]
            hold(o.length - j.length, 'm', point_row(d, pb, sa, sb))
    kind = COORDINATE.get(j.kind)
    o.coordinate = o.coordinate_row = None
    if kind == 'angle':
        o.coordinate, o.coordinate_row = turn, spin_row(AXES3[2] if planar else u)
    elif kind == 'along':
        o.coordinate, o.coordinate_row = dot(u, delta), point_row(u, pb, sa, sb)
    elif kind == 'distance':
        d = mul(delta, 1 / o.length) if o.length > 0 else AXES3[0]
        o.coordinate = o.length
        o.coordinate_row = (mul(d, -1) + mul(cross(sub(pa, sa.x), d), -1), d + cross(sub(pb, sb.x), d))
    return o


def row_rate(row, sa, sb):
    return (dot(row[0][:3], sa.v) + dot(row[0][3:], sa.w) + dot(row[1][:3], sb.v) + dot(row[1][3:], sb.w))


# ── forces of elements ───────────────────────────────────────────────────────────────────────────

def anchor(model, f, which, states):
    b = model.by_name[f.get(which, 'ground')]
    s = states[b.index]
    local = f.get('anchor_' + which, [0, 0])
    local = (float(local[0]), float(local[1]), float(local[2]) if len(local) > 2 else 0.0)
    return b, s, add(s.x, mat_vec(s.R, sub(local, b.shift)))


def element_wrenches(model, t, states, after, h, theta=1.0, at_end=False):
    """Impulses over h of explicit forces at `states` and of implicit ones at the end: [(body, impulse, moment, tag)].

    theta: share of the end in the rates of implicit ones, theory (P5)."""
    out = []
    for f in model.forces:
        if f['kind'] == 'force':
            b = model.by_name[f['body']]
            s = states[b.index]
            var = dict(t=t, x=s.x[0], y=s.x[1], z=s.x[2], vx=s.v[0], vy=s.v[1], vz=s.v[2], wx=s.w[0], wy=s.w[1], wz=s.w[2],
                       angle=s.angle, omega=s.w[2], qx=0.0, qy=0.0, qz=0.0)
            F = tuple(f[k](**var) if k in f else 0.0 for k in ('fx', 'fy', 'fz'))
            T = (0.0, 0.0, f['torque'](**var) if 'torque' in f else 0.0)
            if not model.planar:
                T = tuple(f[k](**var) if k in f else 0.0 for k in ('tx', 'ty', 'tz'))
            if f.get('body_axes'):
                F, T = mat_vec(s.R, F), mat_vec(s.R, T)
            a = f.get('anchor', [0, 0])
            r = mat_vec(s.R, sub((float(a[0]), float(a[1]), float(a[2]) if len(a) > 2 else 0.0), b.shift))
            out.append((b, mul(F, h), mul(add(T, cross(r, F)), h), 'force'))
        elif f['kind'] == 'drag':
            b = model.by_name[f['body']]
            end = theta if f.get('implicit') else 0.0
            s0, s1 = states[b.index], after[b.index]
            v, w = (add(mul(p, 1 - end), mul(q, end)) for p, q in ((s0.v, s1.v), (s0.w, s1.w)))
            out.append((b, mul(v, -h * f.get('damping', 0)), mul(w, -h * f.get('damping_w', 0)), 'drag'))
        elif f['kind'] in ('spring', 'twist_spring'):
            out += spring_wrench(model, f, states, after, h, theta, at_end)
    return out


def spring_wrench(model, f, states, after, h, theta, at_end=False):
    """at_end: implicit springs have length and direction where the step ends, theory (I1), not linearised where it starts."""
    if at_end and f.get('implicit'):
        return spring_wrench(model, {**f, 'implicit': False}, after, after, h, theta)
    end = theta if f.get('implicit') else 0.0   # share of the end in the rate
    K, C, L0 = float(f.get('stiffness', 0)), float(f.get('damping', 0)), float(f.get('rest', 0))
    if f['kind'] == 'twist_spring':
        a, b = model.by_name[f.get('a', 'ground')], model.by_name[f['b']]
        sa, sb = states[a.index], states[b.index]
        rate = (1 - end) * (sb.w[2] - sa.w[2]) + end * (after[b.index].w[2] - after[a.index].w[2])
        value = sb.angle - sa.angle + end * h * rate
        T = (0.0, 0.0, -h * (K * (value - L0) + C * rate))
        return [(a, ZERO3, mul(T, -1), 'spring'), (b, ZERO3, T, 'spring')]
    a, sa, pa = anchor(model, f, 'a', states)
    b, sb, pb = anchor(model, f, 'b', states)
    d = sub(pb, pa)
    L = norm(d)
    n = mul(d, 1 / L) if L > 0 else ZERO3
    va = State(sa.x, sa.R, after[a.index].v, after[a.index].w)
    vb = State(sb.x, sb.R, after[b.index].v, after[b.index].w)
    rel = add(mul(sub(point_velocity(sb, pb), point_velocity(sa, pa)), 1 - end), mul(sub(point_velocity(vb, pb), point_velocity(va, pa)), end))
    rate = dot(n, rel)
    F = mul(n, -K * (L + end * h * rate - L0))
    F = add(F, mul(rel, -C) if f.get('isotropic') else mul(n, -C * rate))
    p = mul(F, h)
    return [(a, mul(p, -1), mul(cross(sub(pa, sa.x), p), -1), 'spring'), (b, p, cross(sub(pb, sb.x), p), 'spring')]


def element_energy(model, states):
    total = 0.0
    for f in model.forces:
        K, L0 = float(f.get('stiffness', 0)) if f['kind'] in ('spring', 'twist_spring') else 0.0, float(f.get('rest', 0))
        if f['kind'] == 'spring':
            total += 0.5 * K * (norm(sub(anchor(model, f, 'b', states)[2], anchor(model, f, 'a', states)[2])) - L0) ** 2
        elif f['kind'] == 'twist_spring':
            a, b = model.by_name[f.get('a', 'ground')], model.by_name[f['b']]
            total += 0.5 * K * (states[b.index].angle - states[a.index].angle - L0) ** 2
    return total


# ── least squares ────────────────────────────────────────────────────────────────────────────────

def least_squares(columns, rhs):
    """x, residual, rank of min |sum x_j c_j - rhs|: Gram and Schmidt's process with pivoting, twice for accuracy."""
    n = len(columns)
    work = [list(c) for c in columns]
    size = [math.sqrt(sum(v * v for v in c)) for c in work]
    left = [j for j in range(n) if size[j] > 0]
    Q, order, R = [], [], []
    r = list(rhs)
    while left:
        j = max(left, key=lambda i: sum(v * v for v in work[i]) / size[i] ** 2)
        c = work[j]
        for q in Q:
            s = sum(a * b for a, b in zip(q, c))
            if s:
                c = [a - s * b for a, b in zip(c, q)]
        m = math.sqrt(sum(v * v for v in c))
        left.remove(j)
        if m <= 1e-9 * size[j]:
            continue
        q = [v / m for v in c]
        Q.append(q)
        order.append(j)
        for i in left:
            s = sum(a * b for a, b in zip(q, work[i]))
            if s:
                work[i] = [a - s * b for a, b in zip(work[i], q)]
    y = []
    for q in Q:
        s = sum(a * b for a, b in zip(q, r))
        y.append(s)
        r = [a - s * b for a, b in zip(r, q)]
    for k, q in enumerate(Q):
        s = sum(a * b for a, b in zip(q, r))
        y[k] += s
        r = [a - s * b for a, b in zip(r, q)]
    # Back substitution with R = Q'A of the chosen columns.
    x = [0.0] * n
    k = len(order)
    R = [[sum(a * b for a, b in zip(Q[i], columns[order[l]])) if l >= i else 0.0 for l in range(k)] for i in range(k)]
    for i in range(k - 1, -1, -1):
        x[order[i]] = (y[i] - sum(R[i][l] * x[order[l]] for l in range(i + 1, k))) / R[i][i]
    return x, r, k, sum(1 for s in size if s > 0)
