# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of the judge for each contact: pull, cone, slip, impact, and whether there was anything to push against."""
import json
import math
import os
import re

from geometry import add, cross, distance, dot, mat_mul, mat_vec, mul, norm, rotation_exp, sub, unit
from kinematics import State, ZERO3, solve3, world_inertia


class ContactRows:
    def surface(self, shape, state, p, n, t):
        """Velocity of the shape's surface beyond its body's motion; n: outward normal of the shape."""
        if shape.surface is None:
            return ZERO3
        if self.model.planar:
            return mul((n[1], -n[0], 0.0), shape.surface(t))
        (v, w) = shape.surface
        R = mat_mul(state.R, shape.R)
        x = add(state.x, mat_vec(state.R, shape.x))
        spin = mul((R[0][2], R[1][2], R[2][2]), w(t))
        return add(mat_vec(R, tuple(m(t) for m in v)), cross(spin, sub(p, x)))

    def slip(self, c, states, places, t, surfaces=True):
        """Velocity of b less that of a at the contact, bodies placed as in `places`."""
        u = ZERO3
        for shape, sign in ((c.b, 1), (c.a, -1)):
            s, at = states[shape.body.index], places[shape.body.index]
            v = add(s.v, cross(s.w, sub(c.p, at.x)))
            if surfaces:
                for when in t:
                    v = add(v, mul(self.surface(shape, at, c.p, mul(c.n, -sign), when), 1 / len(t)))
            u = add(u, mul(v, sign))
        return u

    def over(self, f0, f1):
        """States at the end, where bodies that are not free have their mean velocity: what is driven, and
        moving surfaces, move what touches them over the step; laws of moreau-jean hold for the velocities of its end (P23)."""
        if self.stepper in ('moreau-jean', 'event'):
            return f1.states, (f1.t,)
        states = dict(f1.states)
        for b in self.model.bodies:
            if b.moves:
                s0, s1 = f0.states[b.index], f1.states[b.index]
                v, way = mul(add(s0.v, s1.v), 0.5), mul(sub(s1.x, s0.x), 1 / (f1.t - f0.t))
                if norm(sub(way, v)) < norm(s0.v) + norm(s1.v):   # or it jumps
                    v = way
                states[b.index] = State(s1.x, s1.R, v, mul(add(s0.w, s1.w), 0.5), s1.angle)
        return states, (f0.t, f1.t)

    def contact_laws(self, f0, f1, h):
        exact = self.stepper not in ('event', 'quasistatic')
        if self.model.impact == 'poisson' and any(c.e > 0 for c in f1.contacts):
            exact = False   # what is given back at one contact moves all others after their law was kept
        last, times = self.over(f0, f1)
        for c in f1.contacts:
            where = 't = %g %s %s' % (f1.t, c.a.full, c.b.full)
            free = [s.body for s in (c.a, c.b) if s.body.free]
            size = min(b.size for b in free)
            P = min(b.mass for b in free) * (sum(self.speed[s.body] for s in (c.a, c.b)) + self.g * h) + 1e-300
            load = abs(c.pn)
            self.rows.note('pull', max(0.0, -c.pn - self.noise) / (P + load), where)
            self.rows.note('cone', max(0.0, norm(c.pf) - c.mu * c.pn - self.noise) / (c.mu * load + 1e-3 * P), where)
            if not exact or load < 1e-3 * P:
                continue
            at = self.acting(f0, f1)
            u0, u1 = self.slip(c, f0.states, at, (f0.t,)), self.slip(c, last, at, times)
            r0, r1 = dot(c.n, u0), dot(c.n, u1)
            speed = norm(u0) + math.sqrt(self.g * size) + sum(self.speed[b] for b in free)
            # moreau-jean keeps the law where the step ends: how much the velocity of the point may differ from here to there.
            blur = 0.0
            if self.stepper == 'moreau-jean':
                for b in free:
                    t0, t1 = f0.states[b.index], f1.states[b.index]
                    blur += max(norm(t0.w), norm(t1.w)) * (norm(sub(t1.x, t0.x)) + h * norm(t1.w) * b.size)
            if self.stepper == 'implicit':
                u1 = add(u1, self.curved(c, f0, f1, h))
            if norm(u1) > 20 * blur and not self.carried_back(c, u1, f0, f1, h):
                self.slip_law(c, u1, speed, where)
            # Moving walls and gravity add what they add in a step; restitution gives back e of the approach.
            bound = max(0.0, c.e * max(0.0, -r0)) + 2 * h * sum(self.g + self.pushed(b, f0) for b in free)
            if self.model.impact == 'newton' and self.stepper != 'moreau-jean' or c.e == 0:
                self.rows.note('rebound', max(0.0, r1 - blur - bound) / speed, where)
            push = 2 * (f1.whole or h) * sum(self.g + self.pushed(b, f0) for b in free)
            closing = c.gap > 0 and abs(r1 + c.gap / h) < 1e-3 * abs(r0)   # it touches at the end of the step: not yet an impact
            if self.stepper == 'implicit':   # whose gaps are those of the end: it arrives as fast as it came
                closing = abs(c.gap) < 1e-3 * abs(r0) * h and abs(r1 - r0) < 1e-2 * abs(r0)
            if c.e > 0 and self.said_less(f1.t):
                self.rows.skip('restitution', 'steps that say that they took less of it')
            elif c.e > 0 and self.model.impact == 'newton' and -r0 > 10 * push and -r0 > 1e-3 * speed and not closing:
                self.rows.note('restitution', max(0.0, -c.e * r0 - r1 - blur - push) / -r0, where)
            self.reaches(c, f0, f1, h, r0, size, where)

    def said_less(self, t):
        """Whether the step that ends at t, or that a part which ends there belongs to, says that all of the restitution would
        have created energy, and how much was taken instead."""
        if self.lessened is None:
            self.lessened = []
            path = os.path.join(self.folder, 'events.jsonl')
            if os.path.exists(path):
                with open(path) as f:
                    said = [json.loads(line) for line in f if '"restitution-reduced"' in line]
                self.lessened = [(e['t'] - e['t'] / e['step'], e['t']) for e in said if e.get('event') == 'restitution-reduced']
        return any(start < t * (1 + 1e-12) and t <= end * (1 + 1e-9) for start, end in self.lessened)

    def share(self, e):
        """How much of the restitution an impact says that it took, where all of it would create energy: at most all."""
        said = re.search(r'([0-9.eE+-]+) of the restitution was used', e.get('remark', ''))
        if said:
            self.rows.skip('restitution', 'impacts that say how much of it they took')
        if "Poisson's was used instead" in e.get('remark', ''):
            self.rows.skip('restitution', "impacts that say that Poisson's law took the place of Newton's")
            return 0.0
        return min(1.0, max(0.0, float(said.group(1)))) if said else 1.0

    def impact_law(self, c, f0, f1, linked):
        """A contact in an impact: pull, cone, friction against the slip, and the law of restitution."""
        where = 't = %g %s %s impact' % (f1.t, c.a.full, c.b.full)
        free = [s.body for s in (c.a, c.b) if s.body.free]
        P = min(b.mass for b in free) * sum(self.speed[s.body] for s in (c.a, c.b)) + 1e-300
        load = abs(c.pn)
        self.rows.note('pull', max(0.0, -c.pn - self.noise) / (P + load), where)
        self.rows.note('cone', max(0.0, norm(c.pf) - self.friction(c) * c.pn - self.noise) / (self.friction(c) * load + 1e-3 * P), where)
        u0, u1 = self.slip(c, f0.states, f0.states, (f0.t,)), self.slip(c, f1.states, f0.states, (f1.t,))
        r0, r1 = dot(c.n, u0), dot(c.n, u1)
        speed = norm(u0) + math.sqrt(self.g * min(b.size for b in free)) + sum(self.speed[b] for b in free)
        # Whatever the law, nothing that touches goes on into the other body.
        self.rows.note('rebound', max(0.0, -r1) / speed, where)
        if self.model.impact == 'newton' and f1.kind == 'impact' and load > 1e-3 * P:
            self.rows.note('rebound', max(0.0, r1 - c.e * max(0.0, -r0)) / speed, where)
            self.slip_law(c, u1, speed, where)

    def friction(self, c):
        pair = self.model.contacts.get(frozenset((c.a, c.b)), {}) or self.model.pairs.get(frozenset((c.a, c.b)), {})
        return max(c.mu, float(pair.get('mu_2', 0.0)))

    def impacts(self):
        """Newton's law at the impacts of the event stepper, which lists the rates before and after."""
        if self.stepper != 'event' or self.model.impact != 'newton':
            return
        path = os.path.join(self.folder, 'events.jsonl')
        lines = [json.loads(l) for l in open(path)] if os.path.exists(path) else []
        for e in lines:
            if e['event'] != 'impact' or 'rate_before' not in e or any('law' in o['event'] and o['t'] == e['t'] for o in lines):
                continue
            if 'was used instead' in e.get('remark', ''):
                self.rows.skip('restitution', 'impacts that say that the other law took the place of the one asked for')
                continue
            a, b = (self.model.shape(n) for n in e['shapes'])
            before, after = e['rate_before'], e['rate_after']
            size = min(s.body.size for s in (a, b) if s.body.free)
            if -before > 1e-3 * math.sqrt(self.g * size) and -before > 1e-9 * size / self.until:
                law = self.model.coefficients(a, b)[1] * self.share(e)
                # Nothing moves while an impact lasts: ten times as sharp as for a step.
                self.rows.note('restitution', 10 * max(0.0, -law * before - after) / -before, 't = %g %s %s' % (e['t'], a.full, b.full))

    def carried_back(self, c, u1, f0, f1, h):
        """What stuck in the step before is brought back to where it stuck: bodies that turn left it by up to h^2 w^2 r, theory (P17).
        One of several contacts may be at its limit meanwhile."""
        left = sum(h * max(norm(f.states[s.body.index].w) for f in (f0, f1)) ** 2 * norm(sub(c.p, f0.states[s.body.index].x))
                   for s in (c.a, c.b) if not s.infinite())
        there = any({o.a, o.b} == {c.a, c.b} for o in f0.contacts)
        return there and norm(sub(u1, mul(c.n, dot(c.n, u1)))) <= left

    def curved(self, c, f0, f1, h):
        """Slip of `implicit` is what moved: velocities of two bodies that turn together miss the curve of their way, theory (I4)."""
        a0, b0, a1, b1 = (f.states[s.body.index] for f in (f0, f1) for s in (c.a, c.b))
        ta, tb = mul(a1.w, h), mul(b1.w, h)
        square = dot(ta, ta) + dot(tb, tb)
        if not dot(ta, tb) > 0:
            return ZERO3   # they do not turn together
        turn = mul(add(ta, tb), dot(ta, tb) / square)   # common turn, theory (P17)
        before, after = sub(b0.x, a0.x), sub(b1.x, a1.x)
        way = add(sub(before, mat_vec(rotation_exp(turn), before)), cross(turn, after))
        return mul(sub(way, mul(c.n, dot(c.n, way))), 1 / h)

    def slip_law(self, c, u1, speed, where):
        ut = sub(u1, mul(c.n, dot(c.n, u1)))
        s = norm(ut)
        pair = self.model.contacts.get(frozenset((c.a, c.b)), {}) or self.model.pairs.get(frozenset((c.a, c.b)), {})
        if c.mu == 0 or s < 1e-3 * speed or 'mu_2' in pair or (self.model.impact == 'poisson' and c.e > 0):
            return
        lost = 0.0
        if not self.model.planar and self.summary.get('law') == 'pyramid':
            nd = max(c.a.facets, c.b.facets, int(pair.get('facets', 0))) or int(self.model.scene.get('facets', 8))
            lost = 1 - math.cos(math.pi / nd)
            lost = 1.0 if nd < 4 and nd % 2 else lost
        elif not self.model.planar and max(c.a.facets, c.b.facets, int(pair.get('facets', 0))):
            return
        taken = -dot(c.pf, ut) / (c.mu * c.pn * s)
        self.rows.note('slip', max(0.0, 1 - lost - taken), where)

    def reaches(self, c, f0, f1, h, r0, size, where):
        """A contact that pushes must be one that would be passed, and not by a hair's breadth."""
        a, b = self.place(c.a, f0), self.place(c.b, f0)
        d = distance(a, b)
        if d is None:
            return
        # Velocity without this contact's impulse, along its normal.
        free = r0 - self.g * h * sum(s.free for s in (c.a.body, c.b.body))
        r1 = dot(c.n, self.slip(c, f1.states, self.acting(f0, f1), (f1.t,)))
        felt = self.mobility(c, f0)
        free = min(free, r1 - c.pn * felt)
        nearest = min(d, distance(self.place(c.a, f1), self.place(c.b, f1)))
        turn = h * max(max(norm(f.states[b.index].w) for f in (f0, f1)) for b in (c.a.body, c.b.body))
        reach = 1.5 * h * max(0.0, -free) + turn * max(s.reach for s in (c.a, c.b) if not s.infinite())
        self.rows.note('afar', max(0.0, nearest - reach - 1e-9 * size) / size, where)
        if turn > 0.3:
            return   # corners come round
        # What it loses is what is taken against its motion there: a push across it carries, and takes nothing.
        u0 = self.slip(c, f0.states, f0.states, (f0.t,), False)
        change = c.pn * felt * max(0.0, -dot(c.n, unit(u0, ZERO3)))
        speed = sum(self.speed[s] for s in (c.a.body, c.b.body) if s.free)
        if c.a.infinite() or c.b.infinite() or c.a.triangles or c.b.triangles or change < 0.02 * speed:
            return
        if c.a.thick == 0 and c.b.thick == 0:
            return   # a point and a segment: there is no inside to be in
        eps = 1e-5 * min(self.thickness(c.a, c.b), size)
        depth = min(max(h * -free, 50 * eps), 0.2 * self.thickness(c.a, c.b))
        across = (c.n[1], -c.n[0], 0.0) if self.model.planar else unit(cross(c.n, (0.6, 0.48, 0.64)))
        ways = [across, mul(across, -1)]
        if not self.model.planar:
            other = cross(c.n, across)
            ways += [other, mul(other, -1)]
        if distance(a, b.moved(mul(c.n, -depth - max(0.0, d)))) > 2 * eps:
            self.rows.note('snag', 0.0, where)
            return   # straight along the normal it passes: it comes from aside, and meets a corner
        for w in ways:
            if distance(a, b.moved(add(mul(c.n, -depth - max(0.0, d)), mul(w, 2 * eps)))) > -eps:
                self.rows.note('snag', min(1.0, change / (speed + 1e-300)), where)
                return
        self.rows.note('snag', 0.0, where)

    def mobility(self, c, f0):
        """Change of the normal rate per unit of normal impulse, the bodies by themselves."""
        k = 0.0
        for b in (c.a.body, c.b.body):
            if b.free:
                k += 1 / b.mass
                if b.turns:
                    s = f0.states[b.index]
                    m = cross(sub(c.p, s.x), c.n)
                    if self.model.planar:
                        k += m[2] ** 2 / b.J[2][2]
                    else:
                        k += dot(m, solve3(world_inertia(b, s.R), m))
        return k
