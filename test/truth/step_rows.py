# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of the judge for each step: positions against velocities, momentum of every body, energy, angular momentum of the run."""
import math

from geometry import add, cross, distance, dot, mat_mul, mat_vec, mul, norm, rotation_about, rotation_exp, rotation_log, sub, transpose
from kinematics import (State, ZERO3, element_energy, element_wrenches, gyroscopic_impulse, kinetic, least_squares, row_rate,
                        spin_momentum, spring_wrench, view, world_inertia)


class StepRows:
    def speeds(self, f0, f1, h):
        """speed of a body's fastest point before, and what weight gives it: the scale of velocities in this step."""
        self.speed = {}
        for b in self.model.bodies:
            s0 = f0.states[b.index]
            turning = norm(s0.w) * b.size if b.turns else 0.0
            least = 1e-9 * b.size / self.until   # what does not move a thousand-millionth of its size in the run stands still
            self.speed[b] = norm(s0.v) + turning + ((self.g + self.pushed(b, f0)) * h + least if b.free else 0.0)
        # What a heavy body has in rounded digits goes through all that it leans on, in parts as short as one likes [N s].
        self.noise = 1e-14 * max((b.mass * self.speed[b] for b in self.model.free), default=0.0)

    def pushed(self, b, f0):
        """Acceleration of the body's points by the scene's forces."""
        total = 0.0
        for body, p, q, _ in self.elements(f0, f0, 1.0):
            if body is b:
                total += norm(p) / b.mass
                if b.turns:
                    total += norm(q) * b.size / max(b.J[i][i] for i in range(3))
        return total

    def elements(self, f0, f1, h):
        if not self.model.forces:
            return []
        return element_wrenches(self.model, f0.t, f0.states, f1.states, h, self.theta, self.stepper == 'implicit')

    def moves(self, f0, f1, h):
        for b in self.model.free:
            s0, s1 = f0.states[b.index], f1.states[b.index]
            th, where = self.theta, 't = %g %s' % (f1.t, b.name)
            v = add(mul(s0.v, 1 - th), mul(s1.v, th))
            way = sub(s1.x, s0.x)
            scale = h * max(norm(s0.v), norm(s1.v), self.g * h) + 1e-6 * b.size
            rounding = 1e-14 * (norm(s0.x) + norm(s1.x))
            w = add(mul(s0.w, 1 - th), mul(s1.w, th)) if b.turns else ZERO3
            turn = h * norm(w)
            off = norm(sub(way, mul(v, h)))
            if self.stepper == 'event':
                # What flies goes h times the mean of its velocities. What touches or is linked cannot have gone much farther than
                # the speeds it is seen with, and what pushes it in a whole step, allow.
                push, step = self.g + max(self.pushed(b, f0), self.pushed(b, f1)), f1.whole or h
                fast = max(norm(s[b.index].v) + norm(s[b.index].w) * b.size for s in f1.seen or [f0.states, f1.states])
                limit = step * (2 * fast + push * step)
                touched = any(c.pn and b in (c.a.body, c.b.body) for c in f1.contacts) or self.linked(b)
                if touched and any(o.moves for o in self.model.bodies):
                    continue
                if self.linked(b):   # what hangs on it may drive it on and stop it again: no faster than all the energy in it
                    room = sum(max(kinetic(o, s) for s in (f0.states[o.index], f1.states[o.index])) + o.mass * self.g * self.chain(f0)
                               for o in self.model.free)
                    limit += h * math.sqrt(2 * (room + abs(element_energy(self.model, f0.states))) / b.mass)
                slack = limit if touched or not self.only_gravity(b) else 0.0
                self.rows.note('motion', max(0.0, off - slack - rounding) / scale, where)
                continue
            if self.joint_coordinates and self.linked(b):
                # Links move along arcs; their velocity is that of one end of the step.
                arc = max(h * norm(s.w) for s in list(f0.states.values()) + list(f1.states.values()))
                off -= min(arc, math.pi) * (0.75 * min(arc, math.pi) * self.chain(f0) + h * max(norm(s.v) for s in f1.states.values()))
            self.rows.note('motion', max(0.0, off - rounding) / scale, where)
            if not b.turns:
                continue
            if self.model.planar:
                off = abs(s1.angle - s0.angle - h * w[2])
                slack = 1e-14 * (abs(s0.angle) + abs(s1.angle))
            elif turn > 3:
                continue
            else:
                D = mat_mul(s1.R, transpose(s0.R))
                got = rotation_log(D)
                if self.stepper == 'moreau-jean':   # theory (S9)
                    w = add(mul(s0.w, 1 - th), mul(mat_vec(transpose(D), s1.w), th))
                off = norm(sub(got, mul(w, h)))
                slack = 1e-14
                if self.model.scene.get('rotation_update') == 'linear':
                    slack += turn ** 3 / 6
                if self.joint_coordinates and self.linked(b):
                    slack += 2 * max(h * norm(s.w) for s in list(f0.states.values()) + list(f1.states.values())) ** 2
            scale = max(h * norm(s0.w), h * norm(s1.w)) + 1e-6
            self.rows.note('motion', max(0.0, off - slack) / scale, where)

    def linked(self, b):
        return any(b in (j.a, j.b) for j in self.model.joints)

    def chain(self, f):
        """How far apart bodies on joints are, at most."""
        places = [f.states[j.b.index].x for j in self.model.joints] + [f.states[j.a.index].x for j in self.model.joints]
        return 2 * sum(b.size for b in self.model.free) + max(norm(sub(p, q)) for p in places for q in places)

    def coordinates(self, f0, f1, h):
        """Joint coordinates move by h times their rates, where joints make no loops and positions are linear: theory (J7)."""
        m = self.model
        if not self.joint_coordinates or self.stepper in ('event', 'implicit') or m.scene.get('positions') == 'exact' or self.loops():
            return
        for j in m.joints:
            if j.kind == 'spherical':   # a quaternion that follows the relative spin in the axes of b
                a0, b0, a1, b1 = (f.states[b.index] for f in (f0, f1) for b in (j.a, j.b))
                got = rotation_log(mat_mul(transpose(mat_mul(transpose(a0.R), b0.R)), mat_mul(transpose(a1.R), b1.R)))
                want = mul(mat_vec(transpose(b0.R), sub(b1.w, a1.w)), h)
                if norm(want) < 3:
                    self.rows.note('motion', norm(sub(got, want)) / (norm(want) + 1e-6), 't = %g %s' % (f1.t, j.name))
            if j.kind not in ('revolute', 'prismatic'):
                continue
            v0 = view(j, f0.states[j.a.index], f0.states[j.b.index], m.planar)
            v1 = view(j, f1.states[j.a.index], f1.states[j.b.index], m.planar, v0.coordinate)
            rate = row_rate(v0.coordinate_row, f1.states[j.a.index], f1.states[j.b.index])
            way = v1.coordinate - v0.coordinate
            turn = j.kind == 'revolute'
            if turn and not m.planar:   # turns are not counted here
                way += 2 * math.pi * round((h * rate - way) / (2 * math.pi))
            unit_ = 1.0 if turn else min(b.size for b in (j.a, j.b) if b.free)
            blur = 1e-14 * sum(abs(s.angle) if turn else norm(s.x) for s in f1.states.values())
            self.rows.note('motion', max(0.0, abs(way - h * rate) - blur) / (h * abs(rate) + 1e-6 * unit_), 't = %g %s' % (f1.t, j.name))

    def loops(self):
        group = {b: b for b in self.model.bodies}

        def root(b):
            while group[b] is not b:
                b = group[b]
            return b
        for j in self.model.joints:
            a, b = (root(x) if x.free else root(self.model.bodies[0]) for x in (j.a, j.b))
            if a is b:
                return True
            group[a] = b
        return False

    def acting(self, f0, f1):
        """Where impulses of contacts and joints act: at the end of the steps of `implicit`, theory (I1), else where steps start.
        Starts that are kept as given are worked off by the linear step, theory (K8)."""
        kept = self.model.scene.get('start') == 'as given' and f0.apart > 1e-9 * self.model.length
        return (f1 if self.stepper == 'implicit' and not kept else f0).states

    def external(self, f0, f1, h):
        """Impulse and moment on each free body of all that is known from states and recorded contacts."""
        m = self.model
        p = {b: [mul(b.pull, b.mass * h), ZERO3] for b in m.free}
        size = {b: [b.mass * self.g * h, 0.0] for b in m.free}

        def put(b, impulse, moment):
            if b.free:
                p[b][0], p[b][1] = add(p[b][0], impulse), add(p[b][1], moment)
                size[b][0] += norm(impulse)
                size[b][1] += norm(moment)
        work = 0.0
        for b, imp, mom, tag in self.elements(f0, f1, h):
            put(b, imp, mom)
            if tag == 'force' and b.free:
                s0, s1 = f0.states[b.index], f1.states[b.index]
                work += 0.5 * (dot(imp, add(s0.v, s1.v)) + dot(mom, add(s0.w, s1.w)))
        for f in m.forces:
            if f.get('stiffness'):   # a stiff spring multiplies the rounding of places
                a, b = m.by_name[f.get('a', 'ground')], m.by_name[f['b']]
                blur = h * f['stiffness'] * 1e-10 * (norm(f0.states[a.index].x) + norm(f0.states[b.index].x) + f.get('rest', 0))
                for body in (a, b):
                    if body.free:
                        size[body][0] += blur
        for c in f1.contacts:
            at = self.acting(f0, f1)
            sa, sb = at[c.a.body.index], at[c.b.body.index]
            put(c.b.body, c.impulse, add(cross(sub(c.p, sb.x), c.impulse), c.m))
            put(c.a.body, mul(c.impulse, -1), mul(add(cross(sub(c.p, sa.x), c.impulse), c.m), -1))
            work += self.contact_work(c, f0, f1)
        return p, size, work

    def contact_work(self, c, f0, f1):
        """What driven bodies and moving surfaces put into the others at a contact."""
        work = 0.0
        for shape, sign in ((c.b, 1), (c.a, -1)):
            b, s0 = shape.body, self.acting(f0, f1)[shape.body.index]
            if b.moves:
                for s in (f0.states[b.index], f1.states[b.index]):
                    v = add(s.v, cross(s.w, sub(c.p, s0.x)))
                    work -= 0.5 * sign * (dot(c.impulse, v) + dot(c.m, s.w))
            work -= sign * dot(c.impulse, self.surface(shape, s0, c.p, mul(c.n, -sign), f1.t))
        return work

    def islands(self, f0, f1, h):
        """Energy of bodies that touch each other and nothing else, in one step: a light pair beside a heavy body."""
        m = self.model
        if self.stepper == 'event' and any(b.moves for b in m.bodies):
            return
        group = {b: {b} for b in m.free}
        for c in f1.contacts:
            a, b = c.a.body, c.b.body
            if c.pn and a.free and b.free and group[a] is not group[b]:
                both = group[a] | group[b]
                for x in both:
                    group[x] = both
        for bodies in {id(g): g for g in group.values()}.values():
            contacts = [c for c in f1.contacts if c.pn and (c.a.body in bodies or c.b.body in bodies)]
            if not contacts or any(self.linked(b) or not self.only_gravity(b) for b in bodies):
                continue
            if self.stepper == 'event' and any(s.surface for c in contacts for s in (c.a, c.b)):
                continue
            gain = plain = scale = rounding = 0.0
            for b in bodies:
                s0, s1 = f0.states[b.index], f1.states[b.index]
                T0, T1 = kinetic(b, s0), kinetic(b, s1)
                fall = b.mass * dot(b.pull, sub(s1.x, s0.x))
                plain += T1 - T0 - fall
                gain += T1 - T0 - fall + (self.theta - 0.5) * h * b.mass * dot(b.pull, sub(s1.v, s0.v))
                scale += T0 + b.mass * self.g * b.size + abs(fall) + 0.5 * b.mass * (1e-3 * b.size / self.until) ** 2
                rounding += 1e-12 * (T0 + T1 + b.mass * self.g * norm(s1.x))
            work = sum(self.contact_work(c, f0, f1) for c in contacts)
            gain = min(gain, plain)   # as in energy()
            self.rows.note('island', max(0.0, gain - work - rounding) / (scale + abs(work)),
                           't = %g %s' % (f1.t, ', '.join(sorted(b.name for b in bodies))))

    def balance(self, f0, f1, h):
        m = self.model
        p, size, work = self.external(f0, f1, h)
        judged = self.stepper != 'event'
        middle = self.acting(f0, f1)
        if self.stepper == 'moreau-jean':
            middle = {b.index: self.halfway(b, f0, f1) for b in m.bodies}
        columns, rhs, tags, weights = [], [], [], {}
        for b in m.free:
            s0, s1 = f0.states[b.index], f1.states[b.index]
            dv = mul(sub(s1.v, s0.v), b.mass)
            dw = ZERO3
            if b.turns and self.stepper == 'moreau-jean':
                dw = sub(spin_momentum(b, s1), spin_momentum(b, s0))   # theory (S9)
            elif b.turns:
                dw = mat_vec(world_inertia(b, s0.R), sub(s1.w, s0.w))
                if not m.planar:
                    dw = sub(dw, self.gyro(b, s0, h))
            lack = (sub(dv, p[b][0]), sub(dw, p[b][1]))
            inertia = max(b.J[i][i] for i in range(3)) if b.turns else 0.0
            # The balance holds to rounding: it is measured by what changed, and little by what was there.
            lin = norm(dv) + b.mass * (1e-4 * (norm(s0.v) + norm(s1.v)) + 1e-9 * b.size / self.until) + size[b][0]
            ang = norm(dw) + inertia * 1e-4 * (norm(s0.w) + norm(s1.w)) + size[b][1]
            weights[b] = (max(lin, ang / b.size, 1e-300), max(ang, lin * b.size, 1e-300), lack)
        # A joint brings impulses of its heavier body to the lighter one: balances hold to rounding of these.
        for j in m.joints * 2:
            if j.a.free and j.b.free:
                heavy, light = sorted((j.a, j.b), key=lambda b: -weights[b][0])
                weights[light] = tuple(max(x, 1e-6 * y) for x, y in zip(weights[light][:2], weights[heavy][:2])) + (weights[light][2],)
        views = [(j, view(j, middle[j.a.index], middle[j.b.index], m.planar, self.turns.get(j))) for j in m.joints]
        for j, v in views:
            if j.K or j.C:
                self.joint_spring(j, v, f0, f1, h, weights)
        for j, v in views:
            for row in v.rows:
                columns.append(self.column(row, j, weights))
                tags.append((j, row, 'hold'))
            if v.coordinate_row and (j.target or j.rate or j.friction or j.lower > -math.inf or j.upper < math.inf):
                columns.append(self.column(v.coordinate_row, j, weights))
                tags.append((j, v.coordinate_row, 'drive'))
        for _, ja, jb, ratio in m.gears:
            rows = {j: v.coordinate_row for j, v in views}
            columns.append([ratio * p + q for p, q in zip(self.column(rows[ja], ja, weights), self.column(rows[jb], jb, weights))])
            tags.append((ja, None, 'gear'))
        rhs = [x for b in m.free for x in self.dofs(b, weights[b][2], weights[b])]
        if columns:
            x, rest, rank, n = least_squares(columns, rhs)
        else:
            x, rest, rank, n = [], rhs, 0, 0
        if judged:
            self.note_momentum(m, rest, columns, x, weights, f0, f1)
        linked = {b for j in m.joints for b in (j.a, j.b) if b.free}
        if self.stepper == 'event':
            for b in m.free:
                if b not in linked and self.only_gravity(b):
                    self.rows.note('momentum', norm(weights[b][2][0]) / weights[b][0], 't = %g %s' % (f1.t, b.name))
        full = rank == n
        for value, (j, row, tag) in zip(x, tags):
            # Dry friction may be a small part of what its joint exchanges, and is then known as well as that is.
            slack = 1e-7 * max([weights[b][1] for b in (j.a, j.b) if b.free], default=0.0)
            work += self.joint_work(j, row, tag, value, f0, f1, h, full, slack)
        driven = any(j.target or j.rate for j in m.joints) or any(j.a.moves or j.b.moves for j in m.joints)
        self.energy(f0, f1, h, work, driven and (not full or self.stepper == 'event'))

    def impact(self, f0, f1):
        """An impact of the event stepper: nothing moves; momentum of both kinds, the laws and energy hold at this instant."""
        m, where = self.model, 't = %g' % f1.t
        linked = {b for j in m.joints for b in (j.a, j.b) if b.free}
        gain = scale = work = 0.0
        for b in m.free:
            s0, s1 = f0.states[b.index], f1.states[b.index]
            self.rows.note('motion', norm(sub(s1.x, s0.x)) / b.size, '%s %s' % (where, b.name))
            gain += kinetic(b, s1) - kinetic(b, s0)
            scale += kinetic(b, s0) + 0.5 * b.mass * (1e-3 * b.size / self.until) ** 2
            if b in linked:
                continue
            p, q, size = ZERO3, ZERO3, 0.0
            for c in f1.contacts:
                for shape, sign in ((c.b, 1), (c.a, -1)):
                    if shape.body is b:
                        p = add(p, mul(c.impulse, sign))
                        q = add(q, mul(add(cross(sub(c.p, s0.x), c.impulse), c.m), sign))
                        size += norm(c.impulse)
            dv = mul(sub(s1.v, s0.v), b.mass)
            lin = norm(dv) + size + b.mass * (1e-4 * (norm(s0.v) + norm(s1.v)) + 1e-9 * b.size / self.until)
            self.rows.note('momentum', norm(sub(dv, p)) / lin, '%s %s' % (where, b.name))
            if b.turns:
                dw = mat_vec(world_inertia(b, s0.R), sub(s1.w, s0.w))
                spin = 1e-4 * max(b.J[i][i] for i in range(3)) * (norm(s0.w) + norm(s1.w))
                self.rows.note('momentum', norm(sub(dw, q)) / (norm(dw) + lin * b.size + spin), '%s %s turning' % (where, b.name))
        driven = any(b.moves for b in m.bodies) or any(j.target or j.rate for j in m.joints)
        for c in f1.contacts:
            work += self.contact_work(c, f0, f1)
            self.impact_law(c, f0, f1, linked)
        if not (driven and linked):
            self.rows.note('energy step', max(0.0, gain - work - 1e-12 * scale) / (scale + abs(work)), where + ' impact')

    def closing(self, f0, f1):
        """Places are put right at once: velocities stay, bodies move the least way in the metric of their masses, pushed by what overlapped
        or touches, and what that makes of the weights is energy created."""
        m, where = self.model, 't = %g closing' % f1.t
        for b in m.free:
            s0, s1 = f0.states[b.index], f1.states[b.index]
            self.rows.note('motion', norm(sub(s1.v, s0.v)) / (norm(s0.v) + norm(s1.v) + 1e-300), '%s %s' % (where, b.name))
            if self.linked(b):
                self.rows.skip('motion', 'ways of closings of bodies on joints')
                continue
            p, q, size = ZERO3, ZERO3, 0.0
            for c in f1.contacts:
                self.rows.note('pull', max(0.0, -c.pn) / (abs(c.pn) + 1e-300), where)
                for shape, sign in ((c.b, 1), (c.a, -1)):
                    if shape.body is b:
                        push = mul(c.n, sign * c.pn)
                        p, q, size = add(p, push), add(q, cross(sub(c.p, s1.x), push)), size + norm(push)
            way = mul(sub(s1.x, s0.x), b.mass)
            blur = b.mass * (1e-12 * norm(s1.x) + 1e-12 * b.size)
            self.rows.note('motion', max(0.0, norm(sub(way, p)) - blur) / (norm(way) + size + blur), '%s %s' % (where, b.name))
            if b.turns:
                turn = (0.0, 0.0, s1.angle - s0.angle) if m.planar else rotation_log(mat_mul(s1.R, transpose(s0.R)))
                spin = mat_vec(world_inertia(b, s0.R), turn)
                lack = sub(spin, q)
                lack = (0.0, 0.0, lack[2]) if m.planar else lack
                self.rows.note('motion', max(0.0, norm(lack) - blur * b.size) / (norm(spin) + (size + blur) * b.size), '%s %s turning' % (where, b.name))
        for c in f1.contacts:
            if c.pn and distance(self.place(c.a, f1), self.place(c.b, f1)) > self.skin(c.a, c.b) + 1e-6 * self.thickness(c.a, c.b):
                self.rows.note('afar', 1.0, where + ': pushed beyond where the shapes touch')
        if self.stepper != 'quasistatic':
            self.energy(f0, f1, 0.0, 0.0, False)

    def same_momentum(self, f0, f1):
        """A smooth part without length: velocities are what they were."""
        self.speeds(f0, f1, self.h)
        for b in self.model.free:
            s0, s1 = f0.states[b.index], f1.states[b.index]
            lin = norm(s0.v) + norm(s1.v) + 1e-6 * math.sqrt(self.g * b.size) + 1e-9 * b.size / self.until
            self.rows.note('momentum', max(0.0, norm(sub(s1.v, s0.v)) - self.noise / b.mass) / lin, 't = %g %s' % (f1.t, b.name))

    def arms(self, b, f0, f1):
        """Contacts of moreau-jean act where the step starts or in its middle: what that makes of their moments."""
        if self.stepper != 'moreau-jean':
            return 0.0
        way = 0.5 * norm(sub(f1.states[b.index].x, f0.states[b.index].x))
        return way * sum(norm(c.impulse) for c in f1.contacts if b in (c.a.body, c.b.body))

    def gyro(self, b, s0, h):
        if self.model.scene.get('gyroscopic') == 'explicit':
            return mul(cross(s0.w, mat_vec(world_inertia(b, s0.R), s0.w)), -h)
        return gyroscopic_impulse(b, s0, h)

    def only_gravity(self, b):
        return not any(b.name in (f.get('body'), f.get('a'), f.get('b')) for f in self.model.forces)

    def halfway(self, b, f0, f1):
        s0, s1 = f0.states[b.index], f1.states[b.index]
        if not b.free and not b.moves:
            return s0
        a = 0.5 * (s0.angle + s1.angle)
        R = (rotation_about((0, 0, 1), a) if self.model.planar
             else mat_mul(rotation_exp(mul(rotation_log(mat_mul(s1.R, transpose(s0.R))), 0.5)), s0.R))
        return State(mul(add(s0.x, s1.x), 0.5), R, s0.v, s0.w, a)

    def dofs(self, b, wrench, weight):
        lin, ang = mul(wrench[0], 1 / weight[0]), mul(wrench[1], 1 / weight[1])
        if self.model.planar:
            return [lin[0], lin[1]] + ([ang[2]] if b.turns else [])
        return list(lin) + (list(ang) if b.turns else [])

    def column(self, row, j, weights):
        out = []
        for b in self.model.free:
            w = ZERO3 + ZERO3
            if b is j.a:
                w = tuple(p + q for p, q in zip(w, row[0]))
            if b is j.b:
                w = tuple(p + q for p, q in zip(w, row[1]))
            out += self.dofs(b, (w[:3], w[3:]), weights[b])
        return out

    def joint_spring(self, j, v, f0, f1, h, weights):
        """Springs and dampers of a coordinate act as at the end of the step, or where moreau-jean has its places, theory (P5)."""
        th, first = self.theta, view(j, f0.states[j.a.index], f0.states[j.b.index], self.model.planar, self.turns.get(j))
        c = first.coordinate
        before, after = (row_rate(row, f.states[j.a.index], f.states[j.b.index])
                         for row, f in ((first.coordinate_row, f0), (v.coordinate_row, f1)))
        rate = (1 - th) * before + th * after
        end = v.coordinate if self.stepper == 'implicit' else c + th * h * rate
        p = -h * (j.K * (end - j.rest) + j.C * rate)
        for b, r in ((j.a, v.coordinate_row[0]), (j.b, v.coordinate_row[1])):
            if b.free:
                w = weights[b]
                lack = (sub(w[2][0], mul(r[:3], p)), sub(w[2][1], mul(r[3:], p)))
                # A stiff spring multiplies the rounding of places: a thousand units in the last place count as load.
                blur = h * j.K * 1e-9 * (norm(f0.states[j.a.index].x) + norm(f0.states[j.b.index].x) + abs(c) + abs(j.rest))
                weights[b] = (max(w[0], norm(mul(r[:3], p))) + blur, max(w[1], norm(mul(r[3:], p))) + blur * b.size, lack)

    def note_momentum(self, m, rest, columns, x, weights, f0, f1):
        # Least squares project: what arms may be off by grows by it no longer.
        slack = math.sqrt(sum((self.arms(b, f0, f1) / weights[b][1]) ** 2 for b in m.free))
        carried = [sum(abs(c[i] * v) for c, v in zip(columns, x)) for i in range(len(rest))]
        i = 0
        for b in m.free:
            n = len(self.dofs(b, (ZERO3, ZERO3), (1, 1)))
            off = max(max(0.0, abs(r) - slack) / (1 + k) for r, k in zip(rest[i:i + n], carried[i:i + n]))
            if self.stepper == 'moreau-jean' and columns:
                # Its joints are taken in the middle of the step, found by going round a few times.
                h, turn = f1.t - f0.t, 0.0
                for o in m.free:
                    turn = max(turn, h * norm(f1.states[o.index].w), h * norm(f1.states[o.index].v) / o.size)
                off = max(0.0, off - 0.1 * turn ** 2) / 20
            self.rows.note('momentum', off, 't = %g %s' % (f1.t, b.name))
            i += n

    def joint_work(self, j, row, tag, value, f0, f1, h, full, slack):
        """Work that drives do through a joint: of driven bodies, and of targets, rates and motors."""
        work = 0.0
        if tag == 'gear':
            return work
        for b, part in ((j.a, row[0]), (j.b, row[1])):
            if b.moves:
                for s in (f0.states[b.index], f1.states[b.index]):
                    work -= 0.5 * value * (dot(part[:3], s.v) + dot(part[3:], s.w))
        if tag != 'drive':
            return work
        r0 = row_rate(row, f0.states[j.a.index], f0.states[j.b.index])
        r1 = row_rate(row, f1.states[j.a.index], f1.states[j.b.index])
        if j.target or j.rate:
            work += max(0.0, 0.5 * value * (r0 + r1))
        elif full and j.lower == -math.inf and j.upper == math.inf and self.stepper != 'event' and j.friction > 0:
            if not (self.stepper == 'moreau-jean'):
                most = h * j.friction
                self.rows.note('effort', max(0.0, abs(value) - most - slack) / most, 't = %g %s' % (f1.t, j.name))
        return work

    def potential(self, f):
        m = self.model
        v = -sum(b.mass * dot(b.pull, f.states[b.index].x) for b in m.free)
        v += element_energy(m, f.states)
        for j in m.joints:
            if j.K:
                c = view(j, f.states[j.a.index], f.states[j.b.index], m.planar, self.turns.get(j)).coordinate
                self.turns[j] = c
                v += 0.5 * j.K * (c - j.rest) ** 2
        return v

    def resolved(self, e, h):
        """Whether steps of h are stable, and what they keep is an energy: h^2 K <= m."""
        ends = [self.model.by_name[e.get('a', 'ground')], self.model.by_name[e['b']]]
        soft = sum(1 / (b.mass if e['kind'] == 'spring' else b.J[2][2]) for b in ends if b.free)
        return h * h * float(e.get('stiffness', 0)) * soft <= 1

    def pull(self, f, h):
        """Power of explicit springs, without dampers: of a linear one (theta - 1/2) h F.v is in the energy that steps keep, as of weight."""
        total = 0.0
        for e in self.model.forces:
            if e['kind'] in ('spring', 'twist_spring') and not e.get('implicit') and self.resolved(e, h):
                for b, p, q, _ in spring_wrench(self.model, {**e, 'damping': 0.0}, f.states, f.states, 1.0, 1.0):
                    if b.free:
                        total += dot(p, f.states[b.index].v) + dot(q, f.states[b.index].w)
        return total

    def energy(self, f0, f1, h, work, unsure):
        m = self.model
        if unsure:
            self.rows.skip('energy', 'work of drives is not determined')
            return
        if any(f['kind'] == 'force' for f in m.forces) and self.stepper == 'event':
            self.rows.skip('energy', 'work of forces between frames')
            return
        if self.stepper == 'event' and (any(b.moves for b in m.bodies) or any(s.surface for b in m.bodies for s in b.shapes)):
            self.rows.skip('energy', 'work of driven bodies between frames')
            return
        T0 = sum(kinetic(b, f0.states[b.index]) for b in m.free)
        T1 = sum(kinetic(b, f1.states[b.index]) for b in m.free)
        V0, V1 = self.potential(f0), self.potential(f1)
        if self.energy0 is None:
            floor = sum(0.5 * b.mass * (1e-3 * b.size / self.until) ** 2 for b in m.free)
            springs = V0 + sum(b.mass * dot(b.pull, f0.states[b.index].x) for b in m.free)
            self.energy0 = T0 + sum(b.mass * self.g * b.size for b in m.free) + abs(springs) + floor
            self.V0 = V0
        # Free flight keeps T + V + (theta - 1/2) h F.v: the parabola through the points of the scheme.
        shadow = sum((self.theta - 0.5) * h * b.mass * dot(b.pull, sub(f1.states[b.index].v, f0.states[b.index].v))
                     for b in m.free)
        shadow += (self.theta - 0.5) * h * (self.pull(f1, h) - self.pull(f0, h))
        # A contact that takes what gravity adds in the step, while the body still moves away from it, works along the mean
        # velocity: T + V falls, the shadow rises. What is created raises both.
        pushed = any(c.pn for c in f1.contacts)
        gain = T1 - T0 + V1 - V0 + (min(0.0, shadow) if pushed else shadow) - work
        self.created += gain
        self.work += abs(work)
        rounding = 1e-12 * (T0 + T1 + sum(b.mass * self.g * norm(f1.states[b.index].x) for b in m.free))
        scale = self.energy0 + max(0.0, self.V0 - V1) + self.work
        where = 't = %g' % f1.t
        # Losses are allowed, and what was lost does not pay for what is created later.
        self.low = min(self.low, self.created)
        self.rows.note('energy', max(0.0, self.created - self.low - rounding) / scale, where)
        self.rows.note('energy step', max(0.0, gain - rounding) / scale, where)

    def nearest(self, error, shifts):
        """The least of error + sum of s shift, 0 <= s <= 1: contacts act where the step starts or in its middle."""
        share = [0.0] * len(shifts)
        for _ in range(10):
            for i, d in enumerate(shifts):
                n = dot(d, d)
                if n > 0:
                    new = min(1.0, max(0.0, share[i] - dot(error, d) / n))
                    error = add(error, mul(d, new - share[i]))
                    share[i] = new
        return error

    def turning(self, f0, f1, h):
        """Angular momentum of bodies that only contacts and gravity act on, summed over the run."""
        m = self.model
        if m.planar or self.stepper == 'event':
            return
        for b in m.free:
            if not b.turns or self.linked(b) or not self.only_gravity(b):
                continue
            s0, s1 = f0.states[b.index], f1.states[b.index]
            change = sub(spin_momentum(b, s1), spin_momentum(b, s0))
            error, shifts, terms = change, [], 0.0
            for c in f1.contacts:
                for shape, sign in ((c.b, 1), (c.a, -1)):
                    if shape.body is b:
                        arm = sub(c.p, self.acting(f0, f1)[b.index].x)
                        error = sub(error, mul(add(cross(arm, c.impulse), c.m), sign))
                        shifts.append(cross(mul(sub(s1.x, s0.x), 0.5 * sign), c.impulse))
                        terms += norm(arm) * norm(c.impulse)
            if self.stepper == 'moreau-jean':
                error = self.nearest(error, shifts)
            self.spin_error[b] = add(self.spin_error[b], error)
            # Moments are differences of places and impulses: what those have in their sixth figure counts as momentum.
            rounding = 1e-6 * (terms + b.mass * b.size * max(norm(s0.v), norm(s1.v)))
            # A body that nothing has touched yet may have rounding of what moves elsewhere.
            rounding += 1e-15 * b.mass * b.size * max(norm(s.v) for s in f0.states.values())
            self.spin_scale[b] = max(self.spin_scale[b], norm(spin_momentum(b, s0)), norm(spin_momentum(b, s1)), rounding)
            least = b.mass * b.size * math.sqrt(self.g * b.size) * 1e-2
            off = norm(self.spin_error[b]) / (self.spin_scale[b] + least)
            J = b.J
            if max(J[0][0], J[1][1], J[2][2]) - min(J[0][0], J[1][1], J[2][2]) < 1e-9 * J[0][0] and not any(
                    J[i][k] for i in range(3) for k in range(3) if i != k):
                off *= 4   # a body that is the same about all axes has no gyroscopic torque that a scheme could get wrong
            self.rows.note('turning', off, 't = %g %s' % (f1.t, b.name))
