#!/usr/bin/env python3
# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Robots that perp imports from MJCF and URDF, compared with what MuJoCo makes of the same files.

    import_test.py PERP [--all | MODEL...]

Models and reference values are read from PERP_DATA_DIR/robots, or ../shared/robots beside the project; without them
the test is skipped. --all: no model of the folder may be refused, and collections are not counted. Each model is imported once. Masses, poses, shapes, limits, actuators and pairs of the scene are
compared; then each state is put into the scene, whose equations `perp explain --coordinates joint --json` prints.
Limits: poses 1e-12, masses and inertias 1e-10, numbers that are only read 1e-12, M, forces and accelerations 1e-9 in
units of the diagonal of M."""
import glob
import json
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', '..', 'bench', 'robots'))
from scene_of import add, cross, inverse, joints_of, matrix, motion_of, rotate, series_of, tensor, times, turned, unit, weigh  # noqa: E402,E501

DATA = os.environ.get('PERP_DATA_DIR') or os.path.join(HERE, '..', '..', '..', 'shared')
ROBOTS = os.path.join(DATA, 'robots')
STATES = 3  # of each robot: the start and two random ones
LIMITS = {'pose': 1e-12, 'mass': 1e-10, 'read': 1e-12, 'shape': 1e-12, 'M': 1e-9, 'force': 1e-9, 'qacc': 1e-9,
          'sensor': 1e-9}
# Bodies with the mass of small meshes: MuJoCo finds their principal axes to 1e-12 m^5, which is this much of them.
MESHES = {'google_robot': 1e-8, 'robotstudio_so101': 1e-8}


# What is not used of a model without a change of its motion; everything else that is not used makes it incomplete.
IDLE = ('looks:', 'softness:', "settings of MuJoCo's solver", '<size>', '<custom>', 'user data', 'noise and cutoff',
        'sensors of kind', 'defaults that no element uses', 'tendons without effect', 'inactive equalities',
        'equalities within a rigid group', 'shapes that do not collide', 'names of attached models', '<mesh content_type>',
        '<mesh maxhullvert>', 'parts of attached models', 'act, mpos and mquat', 'shapes that are only shown',
        'further meshes that are only shown')
MEDIUM = '<option density, viscosity>'
COLLECTIONS = (('Menagerie', lambda m: m.startswith('mjcf/') and m.split('/')[1] not in ('dm_control', 'gymnasium'), 0.95),
               ('dm_control', lambda m: m.startswith('mjcf/dm_control/'), 0.9),
               ('Gymnasium', lambda m: m.startswith('mjcf/gymnasium/'), 0.9),
               ('URDF', lambda m: m.startswith('urdf/'), 0.95))


class Unfit(Exception):
    """The scene cannot express the robot."""


class Repaired(Exception):
    """The scene has a mass that the file does not give: it cannot be compared."""


class Differs(Exception):
    pass


def label(thing, kind):
    return thing.get('name', f"{kind}{thing['id']}")[:60].replace('.', '_')


def roots(robot):
    root = {}
    for body in robot['bodies']:
        fixed = body.get('fixed_to')
        root[body['id']] = root[fixed] if fixed is not None else body['id']
        if body.get('mocap'):
            root[body['id']] = 0
    return root


def far(a, b):
    return max((abs(x - y) for x, y in zip(a, b)), default=0.0)


def relative(a, b):
    return abs(a - b) / max(abs(b), 1e-300) if a != b else 0.0


def turn_gap(p, q):
    """Largest difference of the entries of two rotation matrices."""
    return max(far(x, y) for x, y in zip(matrix(unit(p)), matrix(unit(q))))


# Sensors that a state alone determines.
READ = ('jointpos', 'jointvel', 'gyro', 'actuatorpos', 'actuatorvel', 'framepos', 'framequat', 'framelinvel', 'frameangvel',
        'tendonpos', 'tendonvel', 'velocimeter')
FLAT = ('halfspace', 'heightfield', 'mesh')  # two of them have no distance


class Case:
    def __init__(self, robot, scene, notes):
        self.robot, self.scene, self.notes = robot, scene, notes
        self.worst = {key: 0.0 for key in LIMITS}
        self.where = {}
        self.body = {b['name']: b for b in scene['bodies']}
        self.joint = {j['name']: j for j in scene['joints']}
        self.root = roots(robot)
        self.joints = joints_of(robot)
        self.urdf = robot['kind'] == 'urdf'
        self.sensors = 0  # readings that were compared
        self.irregular = bool(robot.get('irregular'))  # masses or inertias that the import repairs

    def check_sensors(self, perp, state):
        """Readings of positions and velocities; means over a step and rays need one, and shapes."""
        run = subprocess.run([perp, 'info', '-', '--json', '--max-mb', '1000'], input=json.dumps(self.at_state(state)),
                             capture_output=True, text=True)
        if run.returncode != 0:
            raise Differs(f'perp info: {run.stderr[:100]}')
        mine = json.loads(run.stdout)['readings']
        for sensor in self.robot['sensors']:
            own, at = mine.get(label(sensor, 'sensor')), sensor['at']
            if own is None or sensor['type'] not in READ:
                continue
            given = state['sensordata'][at:at + sensor['size']]
            size = max([1.0] + [abs(x) for x in given])
            if sensor['type'] == 'framequat' and sum(x * y for x, y in zip(own, given)) < 0:
                given = [-x for x in given]
            self.note('sensor', far(own, given) / size, label(sensor, 'sensor'))
            self.sensors += 1

    def check_pairs(self, perp):
        """The number of pairs of shapes that may collide."""
        scene = dict(self.scene, start='as given')
        run = subprocess.run([perp, 'info', '-', '--json', '--max-mb', '1000'], input=json.dumps(scene),
                             capture_output=True, text=True)
        if run.returncode != 0:
            raise Differs(f'perp info: {run.stderr[:100]}')
        owner = [(None, s['kind']) for s in scene['shapes']]
        owner += [(k, s['kind']) for k, b in enumerate(scene['bodies']) for s in b.get('shapes', [])]
        pairs = sum(1 for k, (a, x) in enumerate(owner) for b, y in owner[:k]
                    if a != b and not (x in FLAT and y in FLAT))
        mine = pairs - sum(json.loads(run.stdout)['left_out'].values())
        off = {'contact', 'constraint'}.intersection(self.robot['option'].get('disabled', []))
        theirs = 0 if off else self.robot['collidable']['geom_pairs']
        # mounts that overlap in all positions, one shape each: the report has them
        theirs -= sum(n['kind'] == 'repaired' and 'they do not collide' in n['what'] for n in self.notes)
        if mine != theirs:
            raise Differs(f'{mine} pairs of shapes may collide, not {theirs}')

    def note(self, key, error, where):
        if not error <= self.worst[key]:
            self.worst[key], self.where[key] = error, where

    def poses(self, state):
        return {b['id']: (state['xpos'][b['id']], unit(state['xquat'][b['id']])) for b in self.robot['bodies']}

    def check_bodies(self):
        """Mass, inertia and pose at the start of every rigid group."""
        pose = self.poses(self.robot['states'][0])
        self.offset = {}
        for body in self.robot['bodies'][1:]:
            at = body['id']
            if self.root[at] != at:
                continue
            p, q = pose[at]
            parts = []
            for other in self.robot['bodies']:
                if self.root[other['id']] == at and other.get('mass', 0) > 0:
                    po, qo = pose[other['id']]
                    turn = times(inverse(q), qo)
                    c = add(rotate(inverse(q), add(po, p, -1.0)), rotate(turn, other['com']))
                    parts.append((other['mass'], c, turned(matrix(turn), tensor(other))))
            name = label(body, 'body')
            if not parts and self.body.get(name, {}).get('massless'):
                self.offset[at] = [0, 0, 0]
                continue
            if not parts:
                raise Repaired(f'body {name} gets a mass')
            mass, centre, I = weigh(parts)
            if name not in self.body:
                raise Differs(f'no body {name}')
            mine = self.body[name]
            self.offset[at] = centre
            if self.irregular:
                continue
            size = max(1.0, max(abs(x) for x in p))
            self.note('pose', far(mine['position'], add(p, rotate(q, centre))) / size, name)
            self.note('pose', turn_gap(mine['rotation'], q), name)
            self.note('mass', relative(mine['mass'], mass), name)
            six = [I[0][0], I[1][1], I[2][2], I[0][1], I[0][2], I[1][2]]
            self.note('mass', far(mine['inertia'], six) / max(six[:3]), name)
        stages = sum(len(own) - 1 for own in self.joints.values())
        if len(self.scene['bodies']) - stages != max(1, len(self.offset)):  # a scene has at least one, which rests
            raise Differs('number of bodies')

    def check_links(self):
        """Shapes of URDF files, which have no names: each has a partner of its kind at its place."""
        pose = self.poses(self.robot['states'][0])
        for geom in self.robot['geoms']:
            at = self.root[geom['body']]
            owner = self.scene if at == 0 else self.body[label(self.robot['bodies'][at], 'body')]
            frame = ([0, 0, 0], [1, 0, 0, 0]) if at == 0 else (owner['position'], owner['rotation'])
            p, q = pose[geom['body']]
            p, q = add(p, rotate(q, geom['pos'])), times(q, unit(geom.get('quat', [1, 0, 0, 0])))
            size = max(1.0, max(abs(x) for x in p))
            best = math.inf
            for mine in owner.get('shapes', []):
                if mine['kind'] == {'mesh': 'hull'}.get(geom['type'], geom['type']):
                    error = max(far(add(frame[0], rotate(frame[1], mine['position'])), p) / size,
                                turn_gap(times(frame[1], mine['rotation']), q))
                    if geom['type'] != 'mesh':  # boxes of meshes in the reference values of URDF files are not theirs
                        own = {'sphere': lambda: [mine['radius']], 'box': lambda: [x / 2 for x in mine['size']]}.get(
                            geom['type'], lambda: [mine['radius'], mine['length'] / 2])()
                        error += max(relative(a, b) for a, b in zip(own, geom['size']))
                    best = min(best, error)
            self.note('shape', best, f"{geom['type']} {geom['id']} of {owner.get('name')}")

    def check_shapes(self):
        pose = self.poses(self.robot['states'][0])
        count = 0
        for geom in self.robot['geoms']:
            if geom['type'] == 'sdf' or (geom['type'] == 'mesh' and 'box' not in geom):
                continue
            at = self.root[geom['body']]
            owner = self.scene if at == 0 else self.body[label(self.robot['bodies'][at], 'body')]
            name = label(geom, 'geom')
            mine = next((s for s in owner['shapes'] if s['name'] == name), None)
            if mine is None:
                if geom['type'] == 'mesh' and any(name in n['what'] or 'mesh' in n['what'] for n in self.notes):
                    continue
                raise Differs(f'no shape {name}')
            count += 1
            frame = ([0, 0, 0], [1, 0, 0, 0]) if at == 0 else (owner['position'], owner['rotation'])
            p, q = pose[geom['body']]
            gq = unit(geom.get('quat', [1, 0, 0, 0]))
            p, q = add(p, rotate(q, geom['pos'])), times(q, gq)
            mp = add(frame[0], rotate(frame[1], mine['position']))
            size = max(1.0, max(abs(x) for x in p))
            self.note('shape', far(mp, p) / size, name)
            self.note('shape', turn_gap(times(frame[1], mine['rotation']), q), name)
            s = geom.get('size', [])
            kind = geom['type']
            own = {'sphere': lambda: [mine['radius']], 'capsule': lambda: [mine['radius'], mine['length'] / 2],
                   'cylinder': lambda: [mine['radius'], mine['length'] / 2],
                   'box': lambda: [x / 2 for x in mine['size']], 'ellipsoid': lambda: mine['radii']}.get(kind)
            if own:
                self.note('read', max(relative(a, b) for a, b in zip(own(), s)), name)
            elif kind == 'mesh':
                low, high = geom['box']
                points = list(zip(*mine['vertices']))
                self.note('shape', max(0.0, max(far(map(min, points), low), far(map(max, points), high)) - 2e-6), name)
            if (mine['group'], mine['mask']) != (geom.get('contype', 1), geom.get('conaffinity', 1)):
                raise Differs(f'masks of {name}')
            if mine.get('priority', 0) != geom.get('priority', 0):
                raise Differs(f'priority of {name}')
            mu = geom['friction'][0] if geom['condim'] > 1 else 0
            self.note('read', abs(mine['mu'] - mu), name)

    def check_joints(self):
        off = set(self.robot.get('option', {}).get('disabled', []))
        for joint in self.robot['joints']:
            if joint['type'] == 'free':
                continue
            name = label(joint, 'joint')
            if name not in self.joint:
                raise Differs(f'no joint {name}')
            mine = self.joint[name]
            if joint['type'] == 'ball':
                continue
            for key, own, flags in (('damping', 'damping', ('passive', 'damper')), ('armature', 'armature', ()),
                                    ('stiffness', 'stiffness', ('passive', 'spring')),
                                    ('frictionloss', 'friction', ('constraint', 'frictionloss'))):
                given = 0 if off.intersection(flags) else joint.get(key, 0)
                self.note('read', relative(mine.get(own, 0), given), name)
            if off.intersection(('constraint', 'limit')):
                if 'lower' in mine:
                    raise Differs(f'limits of {name}, which the model switches off')
                continue
            if ('range' in joint) != ('lower' in mine):
                raise Differs(f'limits of {name}')
            for own, value in zip(('lower', 'upper'), joint.get('range', [])):
                self.note('read', abs(mine[own] - value) / max(1.0, abs(value)), name)

    def actuators(self):
        """Of each actuator of the robot its name in the scene; None: not there, which the report says."""
        names = {a['name'] for a in self.scene['actuators']} | {f['name'] for f in self.scene['forces']}
        out = [label(a, 'actuator') for a in self.robot['actuators']]
        missing = [n for n in out if n not in names]
        if missing and not any('actuators' in n['what'] for n in self.notes if n['kind'] == 'not used'):
            raise Differs(f'actuator {missing[0]} is dropped without a note')
        return [n if n in names else None for n in out]

    def at_state(self, state):
        """The scene with its bodies, velocities and controls as in the state."""
        scene = json.loads(json.dumps(self.scene))
        pose = self.poses(state)
        motion = motion_of(self.robot, state, pose)
        for body in scene['bodies']:
            body['shapes'] = []
        by_name = {b['name']: b for b in scene['bodies']}
        joint_of = {j['name']: j for j in scene['joints']}
        for at, centre in self.offset.items():
            p, q = pose[at]
            if self.irregular:  # where the import has its centre of mass
                p0, q0 = self.poses(self.robot['states'][0])[at]
                centre = rotate(inverse(q0), add(self.body[label(self.robot['bodies'][at], 'body')]['position'], p0, -1.0))
            mine = by_name[label(self.robot['bodies'][at], 'body')]
            mine['position'], mine['rotation'] = add(p, rotate(q, centre)), q
            v, w = motion[at][-1]
            mine['velocity'], mine['spin'] = add(v, cross(w, rotate(q, centre))), w
            own = self.joints.get(at, [])
            for k, (fp, fq) in enumerate(series_of(own, state, pose[at])[:-1] if own else []):
                stage = by_name[joint_of[label(own[k], 'joint')]['b']]
                stage['position'], stage['rotation'] = fp, fq
                stage['velocity'], stage['spin'] = motion[at][k]
        for joint in self.robot['joints']:
            mine = joint_of.get(label(joint, 'joint'), {})
            if joint['type'] == 'hinge':
                mine['angle'] = -state['qpos'][joint['qpos']]
        known = {label(x, kind) for kind in ('joint', 'tendon') for x in self.robot[kind + 's']}
        paths = [label(x, 'tendon') for x in self.robot['tendons']]
        scene['joints'] = [j for j in scene['joints'] if j['name'] in known or  # no loops
                           any(j['name'].startswith(p + ' part ') or j['name'] == p + ' spring' for p in paths)]
        for mine in scene['joints']:
            for key in ('lower', 'upper', 'friction'):
                mine.pop(key, None)
        for value, name in zip(state.get('ctrl', []), self.actuators()):
            for entry in scene['inputs']:
                if entry['name'] == name:
                    low, high = entry.get('range', [-math.inf, math.inf])
                    entry['value'] = min(max(value, low), high)
        scene.update(listed_only=True, start='as given', shapes=[], exclude=[], pairs=[])
        return scene


def places(case, names):
    """For each velocity of MuJoCo its place among perp's; None: another machine."""
    at = {name: k for k, name in enumerate(names)}
    order = []
    for joint in case.robot['joints']:
        name = label(joint, 'joint')
        body = label(case.robot['bodies'][joint['body']], 'body')
        if joint['type'] == 'free':
            order += [at.get(f'{body}.{x}') for x in ('vx', 'vy', 'vz', 'wx', 'wy', 'wz')]
        elif joint['type'] == 'ball':
            order += [at.get(f'{name}.{x}') for x in ('wx', 'wy', 'wz')]
        else:
            order.append(at.get(f"{name}.{'speed' if joint['type'] == 'slide' else 'rate'}"))
    return None if None in order or len(order) != len(names) else order


def transform(case, state, n):
    """T with v_perp = T v_mujoco: the centre of mass of a free body moves with v + R (w x c)."""
    T = [[float(i == j) for j in range(n)] for i in range(n)]
    for joint in case.robot['joints']:
        if joint['type'] == 'free':
            R, c, at = matrix(unit(state['xquat'][joint['body']])), case.offset[joint['body']], joint['dof']
            for k in range(3):
                wc = cross([float(i == k) for i in range(3)], c)
                for i in range(3):
                    T[at + i][at + 3 + k] = sum(R[i][j] * wc[j] for j in range(3))
    return T


def accelerations(case, state, T):
    """T qacc + T' qvel: the centre of mass of a free body, at R c from its origin, has R (w x (w x c)) as well."""
    qacc = [sum(t * a for t, a in zip(row, state['qacc'])) for row in T]
    for joint in case.robot['joints']:
        if joint['type'] == 'free':
            R, c, at = matrix(unit(state['xquat'][joint['body']])), case.offset[joint['body']], joint['dof']
            w = state['qvel'][at + 3:at + 6]
            turned_twice = cross(w, cross(w, c))
            for i in range(3):
                qacc[at + i] += sum(R[i][j] * turned_twice[j] for j in range(3))
    return qacc


def product(A, B):
    columns = list(zip(*B))
    return [[sum(a * b for a, b in zip(row, column) if a and b) for column in columns] for row in A]


def check_dynamics(case, state, printed, unlike):
    n = case.robot['size']['nv']
    order = places(case, printed['names'])
    if order is None:
        raise Unfit('another tree of joints')
    T = transform(case, state, n)
    H = [[printed['H'][order[i]][order[j]] for j in range(n)] for i in range(n)]
    H = product([list(row) for row in zip(*T)], product(H, T))
    forces = [printed['Bu'][order[i]] for i in range(n)]
    forces = [sum(T[k][i] * forces[k] for k in range(n)) for i in range(n)]
    M = [[0.0] * n for _ in range(n)]
    for i, row in enumerate(state['M']):
        for j, x in enumerate(row):
            M[i][j] = M[j][i] = x
    d = [math.sqrt(M[i][i]) for i in range(n)]
    for i in range(n):
        for j in range(n):
            case.note('M', abs(H[i][j] - M[i][j]) / (d[i] * d[j]), f'{i} {j}')
    if unlike:
        return
    # Compensation of gravity is part of the weight in a scene, and of the passive forces in MuJoCo.
    none = [0.0] * n
    parts = zip(state.get('passive', none), state.get('actuator', none), state.get('gravcomp', none))
    given = [passive + actuator - lifted for passive, actuator, lifted in parts]
    size = max([abs(f) / s for f, s in zip(given, d)] + [max(d)])
    for i in range(n):
        case.note('force', abs(forces[i] - given[i]) / d[i] / size, str(i))
    if 'qacc' not in state:
        return
    qacc = accelerations(case, state, T)
    size = max([abs(a) * s for a, s in zip(qacc, d)] + [max(d)])
    for i in range(n):
        case.note('qacc', abs(printed['qdd'][order[i]] - qacc[i]) * d[i] / size, str(i))


def unlike(case):
    """Why forces cannot be compared; None: they can."""
    for joint in case.robot['joints']:
        if joint['type'] == 'free' and (joint.get('damping') or joint.get('stiffness')):
            return 'springs and dampers of free joints'
        if joint['type'] == 'ball' and (joint.get('armature') or joint.get('stiffness')):
            return 'armature and springs of ball joints'
    for tendon in case.robot['tendons']:
        if (tendon.get('stiffness') or tendon.get('damping')) and label(tendon, 'tendon') not in case.joint:
            return 'springs and dampers of tendons that wrap'
    if None in case.actuators():
        return 'some actuators'
    if any(a['dynamics'] != 'none' for a in case.robot['actuators']):
        return 'filters of actuators'
    count = {}
    for a in case.robot['actuators']:
        if a['transmission'] == 'joint':
            count[a.get('target')] = count.get(a.get('target'), 0) + 1
    if any(n > 1 and 'actuator_force_range' in case.robot['joints'][k] for k, n in count.items() if k is not None):
        return 'limits of several actuators on a joint'
    return None


def lacks(notes):
    """What of the motion of the model is not in the scene."""
    return sorted({n['what'] for n in notes if n['kind'] == 'not used' and not n['what'].startswith(IDLE)})


def count(name, models, outcome, share):
    """One line of the table: loaded, complete, complete but for the medium. False: fewer than the share."""
    loaded = [m for m in models if outcome[m] is not None]
    whole = [m for m in loaded if not outcome[m]]
    dry = [m for m in loaded if outcome[m] == [MEDIUM]]
    print(f'{name:12} {len(models):4} models, {len(loaded):4} loaded, {len(whole):4} complete, {len(dry):2} but for the medium')
    good = len(loaded) if name == 'URDF' else len(whole) + len(dry)
    return good >= share * len(models)


def judge(perp, model):
    with open(os.path.join(ROBOTS, 'oracle', model + '.json')) as file:
        robot = json.load(file)
    path = os.path.join(ROBOTS, model + ('.xml' if model.startswith('mjcf') else '.urdf'))
    for key in ('actuators', 'tendons', 'sites'):
        robot.setdefault(key, [])
    report = f'/tmp/perp-import-{os.getpid()}.json'
    try:
        run = subprocess.run([perp, 'import', path, '--allow-outside', '--report', report], capture_output=True, text=True)
        if run.returncode != 0:
            raise Unfit(run.stderr.strip().split(os.path.basename(path), 1)[-1].lstrip(': ')[:160])
        if 'error' in robot:
            raise Differs(f"accepted, in spite of: {robot['error']}")
        with open(report) as file:
            notes = json.load(file)
    finally:
        if os.path.exists(report):
            os.remove(report)
    case = Case(robot, json.loads(run.stdout), notes)
    case.check_bodies()
    case.check_links() if case.urdf else case.check_shapes()
    case.check_joints()
    if not case.urdf:
        case.check_pairs(perp)
    why = unlike(case)
    judged = 0
    for state in robot['states'] if robot['size']['nv'] <= 80 and not case.irregular else []:
        if 'M' not in state:
            continue
        if any(j['type'] == 'hinge' and abs(state['qpos'][j['qpos']]) > math.pi for j in robot['joints']):
            continue
        judged += 1
        if judged > STATES:
            break
        run = subprocess.run([perp, 'explain', '-', '--coordinates', 'joint', '--json', '--max-mb', '1000'],
                             input=json.dumps(case.at_state(state)), capture_output=True, text=True)
        if run.returncode != 0:
            raise Differs(run.stderr.strip()[-160:])
        check_dynamics(case, state, json.loads(run.stdout), why)
        if robot.get('sensors') and 'sensordata' in state:
            case.check_sensors(perp, state)
    return case, why, judged


def main():
    perp = sys.argv[1]
    base = os.path.join(ROBOTS, 'oracle')
    every = sys.argv[2:] == ['--all']
    stride = int(sys.argv[3]) if sys.argv[2:3] == ['--stride'] else 1
    named = [] if every or stride > 1 else sys.argv[2:]
    found = sorted(os.path.relpath(p, base)[:-5] for p in glob.glob(base + '/**/*.json', recursive=True))
    models = named or found[::stride]
    if not models:
        print('skipped: %s is not here: set PERP_DATA_DIR' % base)
        return 77
    agreed, failed, refused, readings, outcome = 0, 0, 0, 0, {}
    for model in models:
        try:
            case, why, judged = judge(perp, model)
        except Unfit as reason:
            refused += 1
            outcome[model] = None
            print(f'refused   {model}: {reason}')
            continue
        except Repaired as reason:
            outcome[model] = ['repaired masses']
            print(f'repaired  {model}: not compared: {reason}')
            continue
        except Differs as reason:
            failed += 1
            outcome[model] = None
            print(f'DIFFERS   {model}: {reason}')
            continue
        limits = dict(LIMITS, mass=MESHES.get(os.path.basename(os.path.dirname(model)), LIMITS['mass']))
        outcome[model] = lacks(case.notes)
        readings += case.sensors
        good = all(case.worst[key] <= limit for key, limit in limits.items())
        agreed += good
        failed += not good
        off = ''.join(
            f'  {k} {v:.1e}' + ('' if v <= limits[k] else f' ({case.where[k]})') for k, v in case.worst.items())
        print(('agrees    ' if good else 'DIFFERS   ') + model + off + (f'  forces not compared: {why}' if why else '') +
              ('' if judged else '  dynamics not compared'))
    print(f'{agreed} models agree, {failed} differ, {refused} are refused; {readings} readings of sensors')
    if sys.argv[2:]:
        return 1 if failed or (every and refused) else 0
    for model in models:
        if outcome[model] and not model.startswith('urdf/'):
            print(f"incomplete  {model}: {'; '.join(outcome[model])}")
    reached = [count(name, [m for m in models if has(m)], outcome, share) for name, has, share in COLLECTIONS]
    return 1 if failed or not all(reached) else 0


if __name__ == '__main__':
    sys.exit(main())
