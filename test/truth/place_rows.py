# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of the judge that need places alone: overlaps, paths, starts, driven bodies, joints and their limits."""
import math

from geometry import (Placed, add, cross, distance, dot, mat_mul, mul, norm, rotation_about, rotation_exp, rotation_log, sub,
                      transpose)
from kinematics import COORDINATE, State, ZERO3, view
from recording import Frame


class PlaceRows:
    def judged_pairs(self):
        m = self.model
        listed = m.scene.get('listed_only', False)
        linked = {frozenset((j.a, j.b)) for j in m.joints if j.kind not in ('angle',)}
        out = []
        shapes = [s for b in m.bodies for s in b.shapes]
        first = self.frames[0]
        for i, a in enumerate(shapes):
            for b in shapes[i + 1:]:
                key = frozenset((a, b))
                if a.body is b.body or not (a.body.free or b.body.free):
                    continue
                if key not in m.contacts and (listed or not (a.detect and b.detect)):
                    continue
                if m.pairs.get(key, {}).get('ignore'):
                    continue
                if key not in m.contacts and key not in m.pairs and m.apart(a, b):
                    continue
                d = self.gap(a, b, first)
                if d is None:
                    self.rows.skip('penetration', 'no distance of %s and %s' % (a.kind, b.kind))
                    continue
                thick = self.thickness(a, b)
                if frozenset((a.body, b.body)) in linked and key not in m.contacts:
                    # Bodies that a joint connects overlap at the joint by design; a limb and the ground that start apart do not.
                    if (a.body.free and b.body.free) or d < 0.05 * thick:
                        continue
                out.append((a, b, min(0.0, d), thick))
        return out

    def thickness(self, a, b):
        for s, other in ((a, b), (b, a)):
            if s.infinite() and 0 < other.thick < math.inf:   # nothing passes through a half-space: its partner's width counts as well
                return math.sqrt(other.thick * 2 * other.ball)
        t = [s.thick for s in (a, b) if 0 < s.thick < math.inf]
        if not t:
            t = [0.2 * s.ball for s in (a, b) if 0 < s.ball < math.inf] or [0.2 * s.body.size for s in (a, b) if s.body.free]
        return min(t)

    def skin(self, a, b):
        """What keeps two shapes without an inside apart: a millionth of the longest segment of the model, docs/theory.md (P21)."""
        if not (a.thick == 0 and b.thick == 0):
            return 0.0
        return 1e-6 * max([2 * s.ball for x in self.model.bodies for s in x.shapes if s.kind == 'segment'] or [0.0])

    def place(self, shape, frame):
        if shape not in frame.placed:
            s = frame.states[shape.body.index]
            frame.placed[shape] = Placed(shape, s.x, s.R)
        return frame.placed[shape]

    def gap(self, a, b, frame):
        return distance(self.place(a, frame), self.place(b, frame))

    def start(self):
        m, f = self.model, self.frames[0]
        given = Frame()
        given.t, given.contacts, given.placed = 0.0, [], {}
        given.states = {b.index: State(b.x0, b.R0, ZERO3, ZERO3, b.angle0) for b in m.bodies}
        if any(self.gap(a, b, given) < 0 for a, b, _, _ in self.pairs):
            return
        for j in m.joints:
            v = view(j, given.states[j.a.index], given.states[j.b.index], m.planar)
            size = max(j.a.size, j.b.size) or 1.0
            worst = max((abs(e) / (size if u == 'm' else 1.0) for e, u in v.errors), default=0.0)
            c = v.coordinate
            if worst > 1e-12 or (c is not None and not j.lower - 1e-12 <= c <= j.upper + 1e-12) or j.target or j.rate:
                return
        for b in m.free:
            s = f.states[b.index]
            off = norm(sub(s.x, b.x0)) + b.size * norm(rotation_log(mat_mul(s.R, transpose(b.R0))))
            rounding = 1e-12 * norm(b.x0)
            self.rows.note('start', max(0.0, off - rounding) / b.size, b.name)
            if not any(b in (j.a, j.b) for j in m.joints) and b.shift == ZERO3:
                off = norm(sub(s.v, b.v0)) + b.size * norm(sub(s.w, b.w0))
                self.rows.note('start', off / (norm(b.v0) + b.size * (norm(b.w0) + 1e-6 / self.until)), b.name + ' (velocity)')

    def driven(self):
        for b in self.model.bodies:
            if not b.moves:
                continue
            for f in self.frames:
                s = f.states[b.index]
                for k, key in enumerate('xyz'):
                    if key in b.motions:
                        want = b.motions[key](f.t)
                        self.rows.note('drive', abs(s.x[k] - want) / (b.size + abs(want)), 't = %g %s' % (f.t, b.name))
                if 'angle' in b.motions:
                    want = b.motions['angle'](f.t)
                    self.rows.note('drive', abs(s.angle - want) / (1 + abs(want)), 't = %g %s' % (f.t, b.name))

    def penetrations(self):
        for a, b, start, thick in self.pairs:
            last = None
            for k, f in enumerate(self.frames):
                where = 't = %g %s %s' % (f.t, a.full, b.full)
                reach = self.quick_gap(a, b, f)
                d = reach if reach is not None and reach > 0.1 * thick else self.gap(a, b, f)
                rounding = 1e-13 * (norm(f.states[a.body.index].x) + norm(f.states[b.body.index].x))
                f.apart += max(0.0, -d - rounding)
                self.rows.note('penetration', max(0.0, start - d - rounding) / thick, where)
                if last is not None:
                    self.path(a, b, thick, start, self.frames[k - 1], f, last, d)
                last = d
            for mesh, o in ((a, b), (b, a)):
                if mesh.kind == 'mesh' and o.kind != 'mesh':
                    first = self.inside(mesh, o, self.frames[0])
                    for f in self.frames[1:]:
                        if self.inside(mesh, o, f) != first:
                            self.rows.note('path', 1.0, 't = %g %s is on the other side of %s' % (f.t, o.full, mesh.full))
                            break
            if start < 0:
                self.rows.note('overlap', max(0.0, -last) / thick, '%s %s' % (a.full, b.full))

    def quick_gap(self, a, b, f):
        """A lower bound from bounding balls, where both are bounded and convex."""
        if a.infinite() or b.infinite() or a.triangles or b.triangles:
            return None
        pa, pb = self.place(a, f), self.place(b, f)
        return norm(sub(pa.x, pb.x)) - a.ball - b.ball

    def path(self, a, b, thick, start, f0, f1, d0, d1):
        """Looks along the way between two frames so closely that a tenth of the thinner shape is not skipped."""
        motion = 0.0
        for s in (a, b):
            s0, s1 = f0.states[s.body.index], f1.states[s.body.index]
            turn = abs(s1.angle - s0.angle) if self.model.planar else max(norm(s0.w), norm(s1.w)) * (f1.t - f0.t)
            way = norm(sub(s1.x, s0.x))
            if s.body.moves:
                way = max(way, sum(self.ways(s.body, f0, f1)))
            elif self.stepper == 'event':
                way = max(way, (f1.t - f0.t) * max(norm(s0.v), norm(s1.v)))
            motion += way + (min(turn, 20) * s.reach if not s.infinite() else 0.0)
        if motion < 0.25 * thick or d0 - motion > 0:
            return
        if self.stepper == 'event':
            # Between frames bodies may bounce: a chord is no path where anything else pushed them.
            touched = {c.a.body for c in f1.contacts if c.pn} | {c.b.body for c in f1.contacts if c.pn}
            held = {j.a for j in self.model.joints} | {j.b for j in self.model.joints}
            if any(s.body.free and (s.body in touched or s.body in held) for s in (a, b)):
                self.rows.skip('path', 'event: bodies that others push between frames')
                return
        if abs(max(norm(f1.states[s.body.index].w) for s in (a, b)) * (f1.t - f0.t)) > 3 and not self.model.planar:
            self.rows.skip('path', 'more than half a turn in a step')
            return
        # A motion that jumps goes through everything between its ends.
        jumps = {s.body for s in (a, b) if s.body.moves and self.jumps(s.body, f0, f1)}
        # No distance changes faster than the bodies move: what is far needs no look.
        u, low = 0.0, min(start, d0, d1)
        for _ in range(1000):
            near = distance(self.between(a, f0, f1, u, jumps), self.between(b, f0, f1, u, jumps))
            off = max(0.0, low - near) / thick
            self.rows.note('path', off, 't = %g %s %s' % (f0.t + u * (f1.t - f0.t), a.full, b.full))
            u += max(near, 0.1 * thick) / motion
            if u >= 1 or off > 0.45:
                break

    def ways(self, b, f0, f1):
        """Lengths of 64 pieces of the way of a driven body."""
        times = [f0.t + (f1.t - f0.t) * i / 64 for i in range(65)]
        places = [tuple(b.motions[k](t) if k in b.motions else 0.0 for k in 'xyz') for t in times]
        return [norm(sub(p, q)) for p, q in zip(places, places[1:])]

    def jumps(self, b, f0, f1):
        ways = self.ways(b, f0, f1)
        return max(ways) > 0.5 * sum(ways) > 0

    def inside(self, mesh, shape, f):
        """Whether the centre of a shape is inside a closed mesh: the sum of the solid angles of its triangles."""
        m, x = self.place(mesh, f), self.place(shape, f).x
        total = 0.0
        for t in mesh.triangles:
            p, q, r = (sub(m.points[i], x) for i in t)
            np, nq, nr = norm(p), norm(q), norm(r)
            total += 2 * math.atan2(dot(p, cross(q, r)), np * nq * nr + dot(p, q) * nr + dot(q, r) * np + dot(r, p) * nq)
        return abs(total) > 2 * math.pi

    def between(self, shape, f0, f1, u, jumps=()):
        b = shape.body
        s0, s1 = f0.states[b.index], f1.states[b.index]
        h = f1.t - f0.t
        if b.moves and b not in jumps and any(k in b.motions for k in 'xyz'):
            t = f0.t + u * h
            x = tuple(b.motions[k](t) if k in b.motions else s0.x[i] for i, k in enumerate('xyz'))
        elif self.stepper == 'event' and b.free:   # cubic with the velocities of both ends
            p, q = u * u * (3 - 2 * u), u * (1 - u)
            x = add(add(mul(s0.x, 1 - p), mul(s1.x, p)), add(mul(s0.v, h * q * (1 - u)), mul(s1.v, -h * q * u)))
        else:
            x = add(mul(s0.x, 1 - u), mul(s1.x, u))
        if self.model.planar:
            R = rotation_about((0, 0, 1), s0.angle + u * (s1.angle - s0.angle))
        else:
            R = mat_mul(rotation_exp(mul(rotation_log(mat_mul(s1.R, transpose(s0.R))), u)), s0.R)
        return Placed(shape, x, R)

    def joints(self):
        m = self.model
        for j in m.joints:
            size = min(s for s in (j.a.size if j.a.free else math.inf, j.b.size if j.b.free else math.inf) if s > 0)
            size = size if size < math.inf else m.length
            first, last, beyond0 = None, None, 0.0
            for f in self.frames:
                v = view(j, f.states[j.a.index], f.states[j.b.index], m.planar, last)
                last = v.coordinate
                errors = [abs(e) / (size if u == 'm' else 1.0) for e, u in v.errors]
                beyond = 0.0
                if v.coordinate is not None:
                    unit_ = 1.0 if COORDINATE.get(j.kind) == 'angle' else size
                    beyond = max(0.0, j.lower - v.coordinate, v.coordinate - j.upper) / unit_
                    if j.target and f is not self.frames[0]:
                        errors.append(abs(v.coordinate - j.target(f.t)) / unit_)
                where = 't = %g %s' % (f.t, j.name)
                f.apart += sum(abs(e) * (1.0 if u == 'm' else m.length) for e, u in v.errors)
                rounding = 1e-13 * (norm(f.states[j.a.index].x) + norm(f.states[j.b.index].x)) / size
                if first is None:
                    first, beyond0 = max(errors, default=0.0), beyond
                elif errors:
                    self.rows.note('joint', max(0.0, max(errors) - first - rounding), where)
                if j.lower > -math.inf or j.upper < math.inf:
                    self.rows.note('limit', max(0.0, beyond - beyond0 - rounding), where)

    def gears(self):
        m = self.model
        for name, ja, jb, ratio in m.gears:
            last, first = {ja: None, jb: None}, None
            size = 1.0 if COORDINATE.get(jb.kind) == 'angle' else min(b.size for b in (jb.a, jb.b) if b.free)
            for f in self.frames:
                for j in (ja, jb):
                    last[j] = view(j, f.states[j.a.index], f.states[j.b.index], m.planar, last[j]).coordinate
                sum_ = ratio * last[ja] + last[jb]
                first = sum_ if first is None else first
                self.rows.note('joint', abs(sum_ - first) / size, 't = %g %s' % (f.t, name))
