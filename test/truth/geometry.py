# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Signed distances of rigid shapes, written for the judge and shared with nothing else.

A convex shape is a core (points, or a support function) and a radius about it. The signed distance of two convex sets is
the largest separation over all unit directions d,   s(d) = -max over a of d.x - max over b of -d.x,   positive when they are
apart and minus the least translation that parts them when they overlap. In the plane that is a finite search; in space the
distance comes from Gilbert, Johnson and Keerthi's method and the overlap from an expanding polytope.
"""
import math


def add(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def sub(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def mul(a, s):
    return (a[0] * s, a[1] * s, a[2] * s)


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def norm(a):
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


def unit(a, default=(1.0, 0.0, 0.0)):
    n = norm(a)
    return (a[0] / n, a[1] / n, a[2] / n) if n > 0 else default


def mat_vec(R, a):
    return (dot(R[0], a), dot(R[1], a), dot(R[2], a))


def mat_t_vec(R, a):
    return (R[0][0] * a[0] + R[1][0] * a[1] + R[2][0] * a[2],
            R[0][1] * a[0] + R[1][1] * a[1] + R[2][1] * a[2],
            R[0][2] * a[0] + R[1][2] * a[1] + R[2][2] * a[2])


def mat_mul(A, B):
    cols = list(zip(*B))
    return tuple(tuple(dot(r, c) for c in cols) for r in A)


def transpose(A):
    return tuple(zip(*A))


EYE = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def quat_matrix(q):
    n = math.sqrt(sum(c * c for c in q)) or 1.0
    w, x, y, z = (c / n for c in q)
    return ((1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)))


def rotation_about(u, angle):
    """Rodrigues' formula for the unit axis u."""
    c, s = math.cos(angle), math.sin(angle)
    x, y, z = u
    k = 1 - c
    return ((c + x * x * k, x * y * k - z * s, x * z * k + y * s),
            (y * x * k + z * s, c + y * y * k, y * z * k - x * s),
            (z * x * k - y * s, z * y * k + x * s, c + z * z * k))


def rotation_exp(w):
    a = norm(w)
    return EYE if a == 0 else rotation_about(mul(w, 1 / a), a)


def rotation_log(R):
    """The vector w, |w| <= pi, with exp(w) = R."""
    v = ((R[2][1] - R[1][2]) / 2, (R[0][2] - R[2][0]) / 2, (R[1][0] - R[0][1]) / 2)
    s, c = norm(v), (R[0][0] + R[1][1] + R[2][2] - 1) / 2
    a = math.atan2(s, c)
    if s > 1e-9:
        return mul(v, a / s)
    if c > 0:
        return v
    d = [math.sqrt(max(0.0, (R[i][i] + 1) / 2)) for i in range(3)]
    i = d.index(max(d))
    u = [0.0, 0.0, 0.0]
    for j in range(3):
        u[j] = d[i] if j == i else (R[i][j] + R[j][i]) / (4 * d[i])
    return mul(unit(tuple(u)), a)


# ── shapes ───────────────────────────────────────────────────────────────────────────────────────

class Shape:
    """Kind, place (x, R) in the body's frame, and sizes. `points`: core vertices in the shape's frame, or None."""

    def __init__(self, kind, planar, position=(0, 0, 0), R=EYE, **size):
        self.kind, self.planar, self.x, self.R = kind, planar, position, R
        self.radius, self.points, self.triangles = 0.0, None, None
        self.size = size
        getattr(self, '_' + kind)(**size)
        self.measure()

    def _point(self):
        self.points = [(0.0, 0.0, 0.0)]

    def _disc(self, radius):
        self.points, self.radius = [(0.0, 0.0, 0.0)], radius
    _sphere = _disc

    def _box(self, size):
        h = [s / 2 for s in size] + [0.0] * (3 - len(size))
        if self.planar:
            self.points = [(-h[0], -h[1], 0.0), (h[0], -h[1], 0.0), (h[0], h[1], 0.0), (-h[0], h[1], 0.0)]
        else:
            self.points = [(a * h[0], b * h[1], c * h[2]) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
        self.half = h

    def _polygon(self, vertices):
        self.points = [(v[0], v[1], 0.0) for v in vertices]

    def _capsule(self, length, radius):
        e = (length / 2, 0.0, 0.0) if self.planar else (0.0, 0.0, length / 2)
        self.points, self.radius = [mul(e, -1), e], radius

    def _segment(self, length):
        self._capsule(length, 0.0)

    def _halfplane(self):
        pass
    _halfspace = _halfplane

    def _cylinder(self, length, radius):
        self.rim, self.half_length = radius, length / 2
    _cone = _cylinder

    def _ellipsoid(self, radii):
        self.radii = tuple(radii)

    def _hull(self, vertices):
        self.points = [tuple(map(float, v)) for v in vertices]

    def _mesh(self, vertices, triangles):
        self.points = [tuple(map(float, v)) for v in vertices]
        self.triangles = triangles

    def _heightfield(self, size, heights):
        rows, cols = len(heights), len(heights[0])
        self.points = [(size[0] * (i / (cols - 1) - 0.5), size[1] * (j / (rows - 1) - 0.5), heights[j][i])
                       for j in range(rows) for i in range(cols)]
        self.triangles = []
        for j in range(rows - 1):
            for i in range(cols - 1):
                k = j * cols + i
                self.triangles += [[k, k + 1, k + cols + 1], [k, k + cols + 1, k + cols]]

    def infinite(self):
        return self.kind in ('halfplane', 'halfspace')

    def measure(self):
        """reach: largest distance from the body's origin; thick: least width; centre in the body's frame."""
        if self.infinite():
            self.reach = self.thick = math.inf
            self.ball = math.inf
            return
        if self.kind in ('cylinder', 'cone'):
            self.ball = math.hypot(self.rim, self.half_length)
            self.thick = min(2 * self.rim, 2 * self.half_length)
        elif self.kind == 'ellipsoid':
            self.ball, self.thick = max(self.radii), 2 * min(self.radii)
        else:
            self.ball = max(norm(p) for p in self.points) + self.radius
            self.thick = 2 * self.radius
            if self.triangles is None and len(self.points) > 2:
                self.thick += self._least_width()
        self.reach = norm(self.x) + self.ball

    def _least_width(self):
        if self.planar:
            dirs = [n for n in (edge_normal(p, q) for p, q in edges(self.points)) if n]
        elif self.kind == 'box':
            return 2 * min(self.half)
        else:
            P = self.points
            dirs = [(math.cos(a) * math.sin(b), math.sin(a) * math.sin(b), math.cos(b))
                    for a in [k * math.pi / 8 for k in range(16)] for b in [j * math.pi / 12 for j in range(7)]]
        return min(max(dot(d, p) for p in self.points) - min(dot(d, p) for p in self.points) for d in dirs)

    def support(self, d):
        """The core's point farthest along d, both in the shape's frame."""
        if self.points is not None:
            return max(self.points, key=lambda p: p[0] * d[0] + p[1] * d[1] + p[2] * d[2])
        if self.kind == 'ellipsoid':
            s = tuple(self.radii[i] * d[i] for i in range(3))
            n = norm(s) or 1.0
            return tuple(self.radii[i] * s[i] / n for i in range(3))
        n = math.hypot(d[0], d[1])
        e = (d[0] / n, d[1] / n) if n > 0 else (1.0, 0.0)
        if self.kind == 'cylinder':
            return (self.rim * e[0], self.rim * e[1], math.copysign(self.half_length, d[2]))
        apex = (0.0, 0.0, self.half_length)
        base = (self.rim * e[0], self.rim * e[1], -self.half_length)
        return apex if dot(d, apex) > dot(d, base) else base


class Placed:
    """A shape in the world: pose of its body (x, R)."""

    def __init__(self, shape, x, R, points=None):
        self.shape, self.planar = shape, shape.planar
        self.x = add(x, mat_vec(R, shape.x))
        self.R = mat_mul(R, shape.R)
        self.radius = shape.radius
        local = shape.points if points is None else points
        self.points = None if local is None or shape.infinite() else [add(self.x, mat_vec(self.R, p)) for p in local]

    def support(self, d):
        if self.points is not None:
            return max(self.points, key=lambda p: p[0] * d[0] + p[1] * d[1] + p[2] * d[2])
        return add(self.x, mat_vec(self.R, self.shape.support(mat_t_vec(self.R, d))))

    def moved(self, s):
        other = object.__new__(Placed)
        other.__dict__.update(self.__dict__)
        other.x = add(self.x, s)
        if self.points is not None:
            other.points = [add(p, s) for p in self.points]
        return other


def edges(points):
    return [(points[i], points[(i + 1) % len(points)]) for i in range(len(points))]


def edge_normal(p, q):
    d = (q[1] - p[1], p[0] - q[0], 0.0)
    n = norm(d)
    return mul(d, 1 / n) if n > 0 else None


def point_segment(p, a, b):
    d = sub(b, a)
    n = dot(d, d)
    t = 0.0 if n == 0 else min(1.0, max(0.0, dot(sub(p, a), d) / n))
    return norm(sub(p, add(a, mul(d, t))))


def planar_distance(A, B):
    """Cores of points in the plane: separating axes first, then corners against sides."""
    best = -math.inf
    for P, Q, s in ((A, B, 1), (B, A, -1)):
        if len(P) > 1:
            for p, q in edges(P):
                n = edge_normal(p, q)
                if n is None:
                    continue
                for m in ((n,) if len(P) > 2 else (n, mul(n, -1))):
                    best = max(best, min(dot(m, sub(x, p)) for x in Q))
    if len(A) == 1 and len(B) == 1:
        return norm(sub(A[0], B[0]))
    if best < 0 and (len(A) > 2 or len(B) > 2 or (len(A) == 2 and len(B) == 2)):
        # Two segments that cross overlap by a measure of zero; a point or segment inside a polygon by `best`.
        return best
    return min(min(point_segment(x, p, q) for x in Q for p, q in edges(P))
               for P, Q in ((A, B), (B, A)) if len(P) > 1)


# ── space: GJK and the expanding polytope ────────────────────────────────────────────────────────

def closest_on_simplex(S):
    """Nearest point to the origin of a simplex of 1 to 4 points, and the points that carry it."""
    best = None
    n = len(S)
    for mask in range(1, 1 << n):
        sub_ = [S[i] for i in range(n) if mask >> i & 1]
        lam = affine_nearest(sub_)
        if lam is None or min(lam) < -1e-14:
            continue
        v = (0.0, 0.0, 0.0)
        for l, p in zip(lam, sub_):
            v = add(v, mul(p, l))
        d = dot(v, v)
        if best is None or d < best[0]:
            best = (d, v, sub_)
    return best[1], best[2]


def affine_nearest(S):
    """Barycentric coordinates of the point of the affine hull of S nearest to the origin."""
    if len(S) == 1:
        return [1.0]
    E = [sub(p, S[0]) for p in S[1:]]
    k = len(E)
    A = [[dot(E[i], E[j]) for j in range(k)] + [-dot(E[i], S[0])] for i in range(k)]
    for c in range(k):
        r = max(range(c, k), key=lambda i: abs(A[i][c]))
        if abs(A[r][c]) <= 1e-14 * max(dot(e, e) for e in E):
            return None
        A[c], A[r] = A[r], A[c]
        for i in range(k):
            if i != c:
                f = A[i][c] / A[c][c]
                A[i] = [a - f * b for a, b in zip(A[i], A[c])]
    x = [A[i][k] / A[i][i] for i in range(k)]
    return [1 - sum(x)] + x


def core_distance(a, b, scale, start=None):
    """(distance, simplex): positive distance of two convex cores, or 0 and a simplex that may hold the origin."""
    d = start or sub(a.x, b.x)
    v = sub(a.support(mul(d, -1)), b.support(d))
    S = [v]
    for _ in range(64):
        n = norm(v)
        if n < 1e-12 * scale:
            return 0.0, S
        w = sub(a.support(mul(v, -1)), b.support(v))
        if n * n - dot(v, w) <= 1e-10 * n * n + 1e-14 * scale * n or w in S:
            return n, S
        S.append(w)
        v, S = closest_on_simplex(S)
        if len(S) == 4:
            return 0.0, S
    return norm(v), S


AXES = [(1.0, 0, 0), (-1.0, 0, 0), (0, 1.0, 0), (0, -1.0, 0), (0, 0, 1.0), (0, 0, -1.0)]


def core_depth(a, b, S, scale, accuracy=1e-3):
    """Least translation that parts two overlapping cores: expanding polytope of a - b about the origin."""
    def sup(d):
        return sub(a.support(d), b.support(mul(d, -1)))
    pts = list(S)
    for d in AXES:
        if len(pts) >= 4:
            break
        w = sup(d)
        if all(norm(sub(w, p)) > 1e-9 * scale for p in pts):
            if len(pts) == 2 and norm(cross(sub(pts[1], pts[0]), sub(w, pts[0]))) < 1e-12 * scale * scale:
                continue
            if len(pts) == 3 and abs(dot(cross(sub(pts[1], pts[0]), sub(pts[2], pts[0])), sub(w, pts[0]))) < 1e-15 * scale ** 3:
                continue
            pts.append(w)
    if len(pts) < 4:
        return 0.0  # flat: the cores touch along a set without inside
    faces = {}
    centre = mul(add(add(pts[0], pts[1]), add(pts[2], pts[3])), 0.25)

    def put(i, j, k):
        n = cross(sub(pts[j], pts[i]), sub(pts[k], pts[i]))
        size = norm(n)
        if size == 0:
            return
        n = mul(n, 1 / size)
        if dot(n, sub(pts[i], centre)) < 0:
            n, j, k = mul(n, -1), k, j
        faces[(i, j, k)] = (n, dot(n, pts[i]))
    for f in ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)):
        put(*f)
    depth = math.inf
    for _ in range(80):
        if not faces:
            break
        key = min(faces, key=lambda f: faces[f][1])
        n, low = faces[key]
        w = sup(n)
        high = dot(n, w)
        depth = min(depth, high)
        if high - low <= accuracy * max(abs(high), 1e-9 * scale):
            break
        seen = [f for f, (m, o) in faces.items() if dot(m, w) - o > 1e-13 * scale]
        if not seen:
            break
        rim = {}
        for f in seen:
            del faces[f]
            for e in ((f[0], f[1]), (f[1], f[2]), (f[2], f[0])):
                if (e[1], e[0]) in rim:
                    del rim[(e[1], e[0])]
                else:
                    rim[e] = True
        pts.append(w)
        for e in rim:
            put(e[0], e[1], len(pts) - 1)
    return max(0.0, depth)


def convex_distance(a, b):
    """Signed distance of two placed convex shapes."""
    scale = a.shape.ball + b.shape.ball
    d, S = core_distance(a, b, scale)
    if d > 0:
        return d - a.radius - b.radius
    # A ball about a single point is its own depth: the other core decides.
    return -core_depth(a, b, S, scale) - a.radius - b.radius


def flat_depth(h, b):
    """Signed distance of b from the half-space or half-plane h."""
    n = (h.R[0][1], h.R[1][1], h.R[2][1]) if h.shape.kind == 'halfplane' else (h.R[0][2], h.R[1][2], h.R[2][2])
    return dot(n, sub(b.support(mul(n, -1)), h.x)) - b.radius


def distance(a, b):
    """Signed distance of two placed shapes [m]; None where this program has no answer."""
    if a.shape.infinite() and b.shape.infinite():
        return None
    if a.shape.infinite() or b.shape.infinite():
        h, o = (a, b) if a.shape.infinite() else (b, a)
        return None if o.shape.triangles is not None else flat_depth(h, o)
    if a.planar:
        return planar_distance(a.points, b.points) - a.radius - b.radius
    if a.shape.triangles is not None or b.shape.triangles is not None:
        m, o = (a, b) if a.shape.triangles is not None else (b, a)
        return None if o.shape.triangles is not None else surface_distance(m, o)
    return convex_distance(a, b)


def surface_distance(m, o):
    """Of a surface of triangles: the least over its triangles, each a flat convex set (how deep it cuts into o)."""
    best = math.inf
    for t in m.shape.triangles:
        tri = object.__new__(Placed)
        tri.__dict__.update(m.__dict__)
        tri.points = [m.points[i] for i in t]
        tri.x = mul(add(add(tri.points[0], tri.points[1]), tri.points[2]), 1 / 3)
        if norm(sub(tri.x, o.x)) - max(norm(sub(p, tri.x)) for p in tri.points) - o.shape.ball > best:
            continue
        best = min(best, convex_distance(tri, o))
    return best


def separation(a, b, d):
    """Room between two placed shapes along the unit direction d from a to b."""
    return dot(d, sub(b.support(mul(d, -1)), a.support(d))) - a.radius - b.radius
