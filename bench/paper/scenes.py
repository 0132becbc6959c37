# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""The scenes of published benchmarks, rebuilt from the constants their authors publish.

Every function returns a scene (docs/scene-format.md) as a dict. Constants are the authors' where they are published;
what is not published is a parameter or a comment that starts with "assumed".

[SCA]   Song et al., A Splitting Architecture for Exact Reduced Coulomb Friction, SCA 2026, and its public scenes
[RIPC]  ipc-sim/rigid-ipc, tools/meshes/large_arch.py: the arch of [SCA]
[SIMB]  leggedrobotics/SimBenchmark, benchmark/include, benchmark/res/yaml and benchmark/raiSim
[LOOP]  a report on closed loops in Newton Kamino and MuJoCo Warp: the four-bar
[WALL]  Genesis-Embodied-AI/genesis-world, pull request 2872
[PINCH] google-deepmind/mujoco, issue 3328
[BELT], [PILE]  the tests of the Anvil solver for PhysX: split conveyors, connected pile
"""
import math

G = 9.81  # [m/s^2]


def scene(name, step, until, bodies, shapes=(), **more):
    return {'name': name, 'step': step, 'until': until, 'shapes': list(shapes), 'bodies': bodies, **more}


def about(axis, angle_deg):
    return {'axis': axis, 'angle': math.radians(angle_deg)}


def box(size, density, mu, **more):
    return {'kind': 'box', 'size': size, 'density': density, 'mu': mu, **more}


def held(body, mass, until):
    """A force that carries a body until a time: in [SCA] it is kinematic until then, and touches nothing."""
    return {'kind': 'force', 'body': body, 'fz': f'{mass * G!r}*(t < {until!r})'}


# ── [SCA]: single bodies ─────────────────────────────────────────────────────────────────────────

H60 = 1.0 / 60.0
H240 = 1.0 / 240.0


def incline(mu):
    """A cube of 1 m starts 1 mm above a plank with slope 1/2: it sticks from mu = 0.5 on."""
    angle = math.atan(0.5)
    normal = (math.sin(angle), 0.0, math.cos(angle))
    turn = {'axis': [0, 1, 0], 'angle': angle}
    plank = box([10.0, 3.0, 0.1], 0, mu, position=[-0.05 * c for c in normal], rotation=turn, name='plank')
    cube = {'name': 'cube', 'kind': 'solid', 'position': [0.501 * c for c in normal], 'rotation': turn,
            'shapes': [box([1.0, 1.0, 1.0], 1000.0, mu)]}
    return scene(f'incline mu {mu}', H60, 2.0, [cube], [plank])


def backspin():
    """A ball slides forward with backspin, stops, and rolls back at v = (5 v0 + 2 r w0)/7."""
    radius = 0.25
    ball = {'name': 'ball', 'kind': 'solid', 'position': [0, 0, radius + 0.001], 'velocity': [4.0, 0, 0],
            'spin': [0, -200.0, 0],
            'shapes': [{'kind': 'sphere', 'radius': radius, 'density': 1.0 / (4.0 / 3.0 * math.pi * radius ** 3),
                        'mu': 0.5}]}
    ground = box([30.0, 1.0, 0.1], 0, 0.5, position=[0, 0, -0.05], name='ground')
    return scene('backspin', H60, 4.0, [ball], [ground])


def turntable(mu, omega):
    """A cube falls on a disc that starts to turn after 0.5 s, within 0.5 s: angle = integral of a cubic ramp."""
    ramp = f'0.5*{omega}*(clamp(2*t - 1, 0, 1)^3 - 0.5*clamp(2*t - 1, 0, 1)^4)'
    angle = f'{ramp} + {omega}*max(t - 1, 0)'
    disc = {'name': 'disc', 'kind': 'solid', 'position': [0, 0, 0.05], 'drive': {'rz': angle},
            'shapes': [{'kind': 'cylinder', 'radius': 2.0, 'length': 0.1, 'mu': mu}]}
    cube = {'name': 'cube', 'kind': 'solid', 'position': [1.0, 0, 0.1 + 0.15 + 0.005 + 0.2],
            'shapes': [box([0.3, 0.3, 0.3], 500.0, mu)]}
    return scene(f'turntable mu {mu} omega {omega}', H60, 6.0, [disc, cube])


def painleve(mu):
    """A box slides on its narrow side; it tips if mu > width / height = 0.5."""
    body = {'name': 'box', 'kind': 'solid', 'position': [0, 0, 0.3], 'velocity': [4.0, 0, 0],
            'shapes': [box([0.3, 1.2, 0.6], 200.0, mu)]}
    ground = box([10.0, 3.0, 0.1], 0, mu, position=[0, 0, -0.05], name='ground')
    return scene(f'painleve mu {mu}', H60, 2.0, [body], [ground])


# ── [SCA]: card houses and arches ────────────────────────────────────────────────────────────────

RELEASE = 1600 * H240  # cubes are released at frame 400, of four steps each


def card_house(levels, until, struck=True, **more):
    """Tents of two cards of 2.5 x 1.25 x 0.04 m, 25 kg, 25 degrees from the vertical, with bridges tilted by -1 degree.
    The authors' poses leave gaps (6.7 cm below the lowest cards); the house falls into place first."""
    mu, width = 0.8, 2.2
    height = 0.5 * width * (math.tan(math.radians(65.0)) + math.tan(math.radians(3.0)))
    bodies = []
    for level in range(levels):
        tents = levels - level
        for tent in range(tents):
            x = (tent - tents / 2.0 + 0.5) * width
            if level > 0:
                bodies.append({'name': f'bridge{level}-{tent}', 'kind': 'solid', 'position': [x, 0, level * height],
                               'rotation': about([0, 1, 0], -1.0), 'shapes': [box([2.5, 1.25, 0.04], 200.0, mu)]})
            for side, sign in (('left', -1.0), ('right', 1.0)):
                bodies.append({'name': f'{side}{level}-{tent}', 'kind': 'solid',
                               'position': [x + sign * 0.55, 0, (level + 0.5) * height],
                               'rotation': about([0, 1, 0], -sign * 25.0),
                               'shapes': [box([0.04, 1.25, 2.5], 200.0, mu)]})
    forces = []
    for k in range(4 if struck else 0):
        bodies.append({'name': f'cube{k}', 'kind': 'solid', 'position': [(k - 1.5) * 1.2, 0, levels * height + 1.0],
                       'shapes': [box([0.8, 0.8, 0.8], 500.0, mu)]})
        forces.append(held(f'cube{k}', 256.0, RELEASE - 0.25 * H240))
    return scene(f'cards {levels} levels', H240, until, bodies,
                 [{'name': 'floor', 'kind': 'halfspace', 'mu': mu}], forces=forces, **more)


def arch_sections(count, apart):
    """The stones of [RIPC]: a weighted catenary (60 high, 60 wide, area 100 to 49), cut into pieces of equal length;
    corners inner0, outer0, inner1, outer1 and width of each. `apart` keeps the gaps between them."""
    crown, base_area, crown_area, half = 60.0, 100.0, 49.0, 30.0
    a, c = crown / (base_area / crown_area - 1.0), math.acosh(base_area / crown_area)

    def height(x):
        return crown - a * (math.cosh(c * x / half) - 1.0)

    def slope(x):
        return -a * math.sinh(c * x / half) * c / half

    def length(x0, x1, n=40):  # Simpson
        s, d = 0.0, (x1 - x0) / n
        for k in range(n + 1):
            s += math.hypot(1.0, slope(x0 + k * d)) * (1 if k in (0, n) else 4 if k % 2 else 2)
        return s * d / 3.0

    piece = length(-half, half, 4000) / count
    stones, x0 = [], -half
    for index in range(count):
        low, high = x0, half * 1.0001
        for _ in range(60):  # bisection: the length grows with x
            middle = 0.5 * (low + high)
            low, high = (middle, high) if length(x0, middle) < piece else (low, middle)
        x1 = 0.5 * (low + high)
        # the width is constant in a stone: that of its lower end
        low_end = x0 if x0 < 0.0 else x1
        share = min(1.0, max(0.0, height(low_end) / crown))
        width = math.sqrt(base_area) + share * (math.sqrt(crown_area) - math.sqrt(base_area))
        shift = (0.0, 0.0)
        if apart:
            centred = index - count // 2
            shift = (0.1 * centred, 0.1 * (count // 2) - abs(0.1 * centred))
        ends = []
        for x in (x0, x1):
            n = math.hypot(slope(x), 1.0)
            nx, ny = -slope(x) / n, 1.0 / n
            px, py = x + shift[0], height(x) + shift[1]
            ends += [[px - 0.5 * width * nx, py - 0.5 * width * ny], [px + 0.5 * width * nx, py + 0.5 * width * ny]]
        stones.append((ends, width))
        x0 = x1
    # the outer corners of the springers are moved along their edges to the height of the inner ones
    for (ends, _), (outer, other, inner) in ((stones[0], (1, 3, 0)), (stones[-1], (3, 1, 2))):
        rise = (ends[outer][1] - ends[other][1]) / (ends[outer][0] - ends[other][0])
        y = ends[inner][1]
        ends[outer] = [ends[other][0] + (y - ends[other][1]) / rise, y]
    lift = 0.1 - min(corner[1] for ends, _ in stones for corner in ends)
    for ends, _ in stones:
        for corner in ends:
            corner[1] += lift
    return stones


def arch(count, until, apart=True, struck=True):
    """The arch of [RIPC], one unit as one metre (65 m high), density 2000, springers fixed; [SCA] drops three cubes of
    3 m from 10 m above the crown."""
    mu, bodies, forces, top = 0.8, [], [], 0.0
    for k, (ends, width) in enumerate(arch_sections(count, apart)):
        vertices = [[round(x, 6), side * round(0.5 * width, 6), round(y, 6)] for x, y in ends for side in (-1.0, 1.0)]
        top = max(top, max(v[2] for v in vertices))
        stone = {'name': f'stone{k}', 'kind': 'solid', 'recenter': True,
                 'shapes': [{'kind': 'hull', 'vertices': vertices, 'density': 2000.0, 'mu': mu}]}
        if k in (0, count - 1):
            stone['drive'] = 'fixed'
        bodies.append(stone)
    for k in range(3 if struck else 0):
        bodies.append({'name': f'cube{k}', 'kind': 'solid', 'position': [(k - 1) * 4.5, 0, top + 10.0],
                       'shapes': [box([3.0, 3.0, 3.0], 2000.0, mu)]})
        forces.append(held(f'cube{k}', 54000.0, RELEASE - 0.25 * H240))
    return scene(f'arch {count} stones', H240, until, bodies, [{'name': 'floor', 'kind': 'halfspace', 'mu': mu}],
                 forces=forces)


# ── [SIMB] ───────────────────────────────────────────────────────────────────────────────────────

def rolling(direction):
    """25 balls on a box that is pushed by 150 N: the box slips on the ground, the balls roll. The authors start 20 um
    deep in the ground; here everything starts in touch."""
    bodies = [{'name': 'box', 'kind': 'solid', 'position': [0, 0, 0.5],
               'shapes': [box([20.0, 20.0, 1.0], 10.0 / 400.0, 0.8, name='top')]}]
    pairs = [{'a': 'ground', 'b': 'box.top', 'mu': 0.4}]
    for i in range(5):
        for j in range(5):
            name = f'ball{i}-{j}'
            bodies.append({'name': name, 'kind': 'solid', 'position': [2.0 * i - 4.0, 2.0 * j - 4.0, 1.5],
                           'shapes': [{'name': 'ball', 'kind': 'sphere', 'radius': 0.5,
                                       'density': 6.0 / math.pi, 'mu': 1.0}]})
            pairs.append({'a': 'box.top', 'b': f'{name}.ball', 'mu': 0.8})
    push = {'kind': 'force', 'body': 'box', 'fx': 150.0 * direction[0], 'fy': 150.0 * direction[1]}
    return scene('rolling', 0.001, 4.0, bodies, [{'name': 'ground', 'kind': 'halfspace', 'mu': 0.5}],
                 pairs=pairs, forces=[push])


def rolling_speeds():
    """Accelerations of box and balls [m/s^2], from the equations of the benchmark."""
    f1 = 0.4 * (10.0 + 25.0) * G
    f2 = (150.0 - f1) / 10.0 / (3.5 + 2.5)
    return (150.0 - f1 - 25.0 * f2) / 10.0, f2


def ball_of_10kg(name, position, restitution):
    return {'name': name, 'kind': 'solid', 'position': position,
            'shapes': [{'kind': 'sphere', 'radius': 0.1, 'density': 10.0 / (4.0 / 3.0 * math.pi * 0.001), 'mu': 0,
                        'restitution': restitution}]}


def bouncing(step, stepper=None):
    """49 balls bounce without loss from 5 m."""
    bodies = [ball_of_10kg(f'ball{i}-{j}', [2.0 * i, 2.0 * j, 5.0], 1.0) for i in range(7) for j in range(7)]
    more = {'stepper': stepper} if stepper else {}
    return scene('bouncing', step, 20.0, bodies, [{'name': 'floor', 'kind': 'halfspace', 'mu': 0}], **more)


def balls_666(step, until, height, restitution, stepper=None):
    """216 frictionless balls in a cube with gaps of 1 cm, each displaced by up to 1 mm. The authors' random numbers
    come from their own generator; these are a linear congruential sequence (Numerical Recipes' constants)."""
    state, bodies = 42, []

    def uniform():
        nonlocal state
        state = (1664525 * state + 1013904223) % 2 ** 32
        return state / 2.0 ** 32

    for i in range(6):
        for j in range(6):
            for k in range(6):
                bodies.append(ball_of_10kg(f'ball{i}-{j}-{k}', [0.21 * i + 0.001 * uniform(), 0.21 * j + 0.001 * uniform(),
                                                               height + 0.21 * k + 0.001 * uniform()], restitution))
    more = {'stepper': stepper} if stepper else {}
    return scene('666', step, until, bodies, [{'name': 'floor', 'kind': 'halfspace', 'mu': 0}], **more)


def kapla(until):
    """A tower of 102 blocks of 10 kg in six storeys. Friction is that of each engine by default; assumed: 0.8."""
    mu, bodies = 0.8, []

    def block(name, size, position):
        bodies.append({'name': name, 'kind': 'solid', 'position': position,
                       'shapes': [box(size, 10.0 / (size[0] * size[1] * size[2]), mu)]})

    for i in range(6):
        for j in range(8):
            block(f'base{i}-{j}', [0.05, 0.25, 0.1], [0.2 * j, 0, 0.2 * i + 0.05])
        for j in range(4):
            block(f'right{i}-{j}', [0.2, 0.05, 0.1], [0.4 * j + 0.1, -0.1, 0.2 * i + 0.15])
        for j, x in enumerate([0.3, 0.7, 1.1, 0.1, 1.3]):
            block(f'left{i}-{j}', [0.2, 0.05, 0.1], [x, 0.1, 0.2 * i + 0.15])
    return scene('kapla', 0.01, until, bodies, [{'name': 'floor', 'kind': 'halfspace', 'mu': mu}])


# ── Others ───────────────────────────────────────────────────────────────────────────────────────

def four_bar(step, **more):
    """Ground 0.30 m, crank 0.10 m, coupler 0.30 m, rocker 0.25 m, 2 kg/m, crank released at -20 degrees, no damping.
    Assumed: slender rods, and the assembly with the coupler above."""
    ground, crank, coupler, rocker, start = 0.30, 0.10, 0.30, 0.25, math.radians(-20.0)
    a = (crank * math.cos(start), crank * math.sin(start))
    dx, dy = ground - a[0], -a[1]
    d = math.hypot(dx, dy)
    along = (coupler ** 2 - rocker ** 2 + d * d) / (2.0 * d)
    off = math.sqrt(coupler ** 2 - along ** 2)
    b = (a[0] + (along * dx - off * dy) / d, a[1] + (along * dy + off * dx) / d)

    def rod(name, p, q):
        length = math.hypot(q[0] - p[0], q[1] - p[1])
        return {'name': name, 'position': [0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1])],
                'angle': math.atan2(q[1] - p[1], q[0] - p[0]), 'mass': 2.0 * length, 'inertia': 2.0 * length ** 3 / 12.0}

    bodies = [rod('crank', (0.0, 0.0), a), rod('coupler', a, b), rod('rocker', (ground, 0.0), b)]
    joints = [{'name': 'A0', 'kind': 'revolute', 'b': 'crank', 'at': [0, 0]},
              {'name': 'A', 'kind': 'revolute', 'a': 'crank', 'b': 'coupler', 'at': list(a)},
              {'name': 'B', 'kind': 'revolute', 'a': 'coupler', 'b': 'rocker', 'at': list(b)},
              {'name': 'B0', 'kind': 'revolute', 'b': 'rocker', 'at': [ground, 0]}]
    return scene('four-bar', step, 5.0, bodies, joints=joints, **more)


def wall():
    """A cube of 1 kg is pressed to a wall by 20 N, mu = 1: half of what the wall can carry. Assumed: 0.1 m."""
    cube = {'name': 'cube', 'kind': 'solid', 'position': [-0.05, 0, 1.0], 'shapes': [box([0.1, 0.1, 0.1], 1000.0, 1.0)]}
    side = box([0.2, 2.0, 4.0], 0, 1.0, position=[0.1, 0, 1.0], name='wall')
    return scene('cube at a wall', 0.01, 10.0, [cube], [side], forces=[{'kind': 'force', 'body': 'cube', 'fx': 20.0}])


def pinch(force):
    """A lying capsule of 45 g and radius 4 mm between two pads that move along x only, mu = 0.7. Assumed: 50 mm long,
    pads of 20 x 40 x 40 mm and 0.1 kg, pressed by a constant force (the authors' pads are on position servos)."""
    radius, length, mu = 0.004, 0.05, 0.7
    volume = math.pi * radius ** 2 * length + 4.0 / 3.0 * math.pi * radius ** 3
    bodies = [{'name': 'capsule', 'kind': 'solid', 'position': [0, 0, 0.1], 'rotation': about([1, 0, 0], 90.0),
               'shapes': [{'kind': 'capsule', 'radius': radius, 'length': length, 'density': 0.045 / volume, 'mu': mu}]}]
    joints, forces = [], []
    for name, sign in (('left', -1.0), ('right', 1.0)):
        x = sign * (radius + 0.01)
        bodies.append({'name': name, 'kind': 'solid', 'position': [x, 0, 0.1],
                       'shapes': [box([0.02, 0.04, 0.04], 0.1 / 3.2e-5, mu)]})
        joints.append({'name': f'{name} slide', 'kind': 'prismatic', 'b': name, 'at': [x, 0, 0.1], 'axis': [1, 0, 0]})
        forces.append({'kind': 'force', 'body': name, 'fx': -sign * force})
    return scene(f'pinch {force} N', 0.002, 10.0, bodies, joints=joints, forces=forces)


def belts():
    """A case of 0.3 x 0.3 x 0.2 m and 10 kg on two belts at 0.6 and 0.4 m/s, half of its base on each, mu = 0.5."""
    mu = 0.5
    case = {'name': 'case', 'kind': 'solid', 'position': [-1.0, 0, 0.1], 'velocity': [0.5, 0, 0],
            'shapes': [box([0.3, 0.3, 0.2], 10.0 / 0.018, mu)]}
    shapes = [box([6.0, 0.6, 0.2], 0, mu, name=name, position=[0, y, -0.1], surface_velocity=[v, 0, 0])
              for name, y, v in (('fast', 0.3, 0.6), ('slow', -0.3, 0.4))]
    return scene('split belts', 0.01, 4.0, [case], shapes)


def pile(nx, ny, layers, until):
    """Cubes of 1 kg and 0.3 m in touch; every other layer is displaced by 75 mm in both directions, mu = 0.5. That
    neighbours in a layer touch follows from the published number of rows."""
    size, mu, bodies = 0.3, 0.5, []
    for k in range(layers):
        shift = 0.075 * (k % 2)
        for i in range(nx):
            for j in range(ny):
                bodies.append({'name': f'box{k}-{i}-{j}', 'kind': 'solid',
                               'position': [size * i + shift, size * j + shift, size * (k + 0.5)],
                               'shapes': [box([size, size, size], 1.0 / size ** 3, mu)]})
    return scene(f'pile {nx * ny * layers}', 0.01, until, bodies, [{'name': 'floor', 'kind': 'halfspace', 'mu': mu}])
