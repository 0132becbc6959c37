#!/usr/bin/env python3
# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""A compiled robot (JSON, from the folder of reference robots) as a scene of perp.

    scene_of.py ROBOT.json [--hold] >scene.json

The robot starts where its first keyframe is. --hold: position servos hold every joint there. What a scene cannot
express is listed in its description. Between the joints of a body that has several there are massless bodies.

test/truth/robots_test.py takes the dynamics of a robot from here: any state, with its own actuators."""
import json
import math
import sys


def rotate(q, v):
    w, x, y, z = q
    t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])]
    return [
        v[0] + w * t[0] + y * t[2] - z * t[1],
        v[1] + w * t[1] + z * t[0] - x * t[2],
        v[2] + w * t[2] + x * t[1] - y * t[0],
    ]


def times(a, b):
    return [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]


def inverse(q):
    return [q[0], -q[1], -q[2], -q[3]]


def unit(q):
    n = math.sqrt(sum(x * x for x in q))
    return [x / n for x in q]


def add(a, b, s=1.0):
    return [x + s * y for x, y in zip(a, b)]


def matrix(q):
    columns = [rotate(q, e) for e in ([1, 0, 0], [0, 1, 0], [0, 0, 1])]
    return [[columns[j][i] for j in range(3)] for i in range(3)]


def tensor(body):
    xx, yy, zz, xy, xz, yz = body["inertia"]
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def turned(R, I):
    return [
        [sum(R[i][k] * I[k][l] * R[j][l] for k in range(3) for l in range(3)) for j in range(3)]
        for i in range(3)
    ]


def weigh(parts):
    """Mass, centre and inertia of (mass, centre, inertia about it) in common axes."""
    mass = sum(p[0] for p in parts)
    centre = [sum(p[0] * p[1][k] for p in parts) / mass for k in range(3)]
    I = [[0.0] * 3 for _ in range(3)]
    for m, c, own in parts:
        r = add(c, centre, -1.0)
        square = sum(x * x for x in r)
        for i in range(3):
            for j in range(3):
                I[i][j] += own[i][j] + m * ((square if i == j else 0.0) - r[i] * r[j])
    return mass, centre, I


class Unfit(Exception):
    """The robot has something that no scene can say."""


class Beyond(Exception):
    """A state has."""


def name_of(thing, kind):
    return thing.get("name", f"{kind} {thing['id']}")[:60]


def shape_of(geom, left_out):
    size = geom.get("size", [])
    kind = geom["type"]
    if kind == "sphere":
        return {"kind": "sphere", "radius": size[0]}
    if kind == "capsule":
        return {"kind": "capsule", "radius": size[0], "length": 2 * size[1]}
    if kind == "cylinder":
        return {"kind": "cylinder", "radius": size[0], "length": 2 * size[1]}
    if kind == "box":
        return {"kind": "box", "size": [2 * x for x in size[:3]]}
    if kind == "ellipsoid":
        return {"kind": "ellipsoid", "radii": size[:3]}
    if kind == "plane":
        return {"kind": "halfspace"}
    if kind == "mesh" and "box" in geom:
        low, high = geom["box"]
        left_out.add("meshes collide as their boxes")
        return {
            "kind": "box",
            "size": [max(h - l, 1e-4) for l, h in zip(low, high)],
            "centre": [0.5 * (l + h) for l, h in zip(low, high)],
        }
    left_out.add(f"shapes of kind {kind}")
    return None


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def joints_of(robot):
    """The joints of each body, in the order in which they move it."""
    out = {}
    for joint in robot["joints"]:
        out.setdefault(joint["body"], []).append(joint)
    return out


def turn_of(joint, state):
    """Rotation of a joint in the axes of its body."""
    at = joint["qpos"]
    if joint["type"] == "ball":
        return unit(state["qpos"][at:at + 4])
    half = 0.5 * (state["qpos"][at] - joint.get("ref", 0))
    return [math.cos(half)] + [math.sin(half) * x for x in joint["axis"]]


def undone(joint, state, p, q):
    """Pose of the body frame before the joint moved it."""
    if joint["type"] == "slide":
        return add(p, rotate(q, joint["axis"]), joint.get("ref", 0) - state["qpos"][joint["qpos"]]), q
    before = unit(times(q, inverse(turn_of(joint, state))))
    pos = joint.get("pos", [0, 0, 0])
    return add(add(p, rotate(q, pos)), rotate(before, pos), -1.0), before


def series_of(joints, state, pose):
    """Poses of the body frame after each of its joints; the last is the body's own."""
    out = [pose]
    for joint in reversed(joints[1:]):
        out.insert(0, undone(joint, state, *out[0]))
    return out


def motion_of(robot, state, pose):
    """Velocity of the origin and angular velocity of every body after each of its joints, in world axes."""
    joints = joints_of(robot)
    motion = {0: [([0.0] * 3, [0.0] * 3)]}
    for body in robot["bodies"][1:]:
        at, parent = body["id"], body["parent"]
        own = joints.get(at, [])
        p = pose[at][0] if not own or own[0]["type"] == "free" else undone(
            own[0], state, *series_of(own, state, pose[at])[0])[0]
        v, w = motion[parent][-1]
        v = add(v, cross(w, add(p, pose[parent][0], -1.0)))  # as if rigid with the parent
        motion[at] = [] if own else [(v, w)]
        for joint, (end, q) in zip(own, series_of(own, state, pose[at])):
            qd = state["qvel"][joint["dof"]:]
            if joint["type"] == "free":
                v, w = qd[:3], rotate(q, qd[3:6])
            elif joint["type"] == "slide":
                v = add(add(v, cross(w, add(end, p, -1.0))), rotate(q, joint["axis"]), qd[0])
            else:
                anchor = add(end, rotate(q, joint.get("pos", [0, 0, 0])))
                v = add(v, cross(w, add(anchor, p, -1.0)))
                w = add(w, rotate(q, qd[:3] if joint["type"] == "ball" else [qd[0] * x for x in joint["axis"]]))
                v = add(v, cross(w, add(end, anchor, -1.0)))
            p = end
            motion[at].append((v, w))
    return motion


def sum_of(path, made_joint):
    """A fixed tendon as the coordinate of a coupling."""
    terms = [f"{step['coef']!r}*q[{made_joint[step['joint']][0]}]" for step in path if step["coef"]]
    return " + ".join(terms)


def polynomial_of(equality, x, y):
    """y - y0 = sum a_k (x - x0)^k, as an expression that must vanish; x NULL: y - y0 = a_0."""
    a = equality["polynomial"]
    powers = [repr(a[0])] + ([f"{c!r}*({x})^{k}" for k, c in enumerate(a) if k and c] if x else [])
    return f"{y} - ({' + '.join(powers)})"


def actuator_of(actuator, target, control):
    """The actuator as it is, with a number as its control; None where perp has no such actuator."""
    label, _, joint = target
    if actuator["dynamics"] not in ("none", "filter", "filterexact") or actuator["gain"] != "fixed" or actuator["bias"] not in ("none", "affine"):
        return None
    low, high = actuator.get("control_range", [-math.inf, math.inf])
    if actuator["dynamics"] != "none":  # what the filter holds is not clamped
        low, high = -math.inf, math.inf
    bias = (actuator.get("bias_prm", []) + [0, 0, 0])[:3] if actuator["bias"] == "affine" else [0, 0, 0]
    to = {"name": name_of(actuator, "actuator"), "kind": "general", "joint": label, "gear": actuator["gear"][0],
          "gain": actuator["gain_prm"][0], "bias": bias, "control": min(max(control, low), high)}
    effort = actuator.get("force_range", [-math.inf, math.inf])
    if "actuator_force_range" in joint:  # of the sum of all actuators of the joint: right where there is one
        sides = sorted(x / to["gear"] for x in joint["actuator_force_range"])
        effort = [max(effort[0], sides[0]), min(effort[1], sides[1])]
    if math.isfinite(effort[0]):
        to["effort"] = effort
    return to


def scene_of(robot, hold=False, state=None):
    """state: one of the robot's states, for its smooth dynamics: no contacts, limits, loops or dry friction."""
    dynamics = state is not None
    state = state if dynamics else robot["states"][0]
    for joint in robot["joints"] if dynamics else []:
        if joint["type"] == "ball" and (joint.get("damping") or joint.get("stiffness") or joint.get("armature")):
            raise Unfit("a ball joint with damping, stiffness or armature")
        if joint["type"] == "hinge" and abs(state["qpos"][joint["qpos"]]) > math.pi:
            raise Beyond("a start beyond half a turn")
    bodies = robot["bodies"]
    left_out = set()
    root = {}  # body: the one that carries it rigidly, or itself
    for body in bodies:
        at = body["id"]
        fixed = body.get("fixed_to")
        root[at] = root[fixed] if fixed is not None else at
    joints = joints_of(robot)
    pose = {
        b["id"]: (state["xpos"][b["id"]], unit(state["xquat"][b["id"]])) for b in bodies
    }
    # Frames of the scene: at the centre of mass of each rigid group, with the axes of its root.
    frame, name = {0: ([0, 0, 0], [1, 0, 0, 0])}, {0: "ground"}
    out = {"bodies": [], "shapes": [], "joints": [], "actuators": []}
    for body in bodies:
        at = body["id"]
        if root[at] != at or at == 0:
            continue
        p, q = pose[at]
        parts = []
        for other in bodies:
            if root[other["id"]] == at and other.get("mass", 0) > 0:
                po, qo = pose[other["id"]]
                relative = times(inverse(q), qo)
                c = add(rotate(inverse(q), add(po, p, -1.0)), rotate(relative, other["com"]))
                parts.append((other["mass"], c, turned(matrix(relative), tensor(other))))
        if not parts:
            raise Unfit(f"body '{name_of(body, 'body')}' has no mass")
        mass, centre, I = weigh(parts)
        frame[at] = (add(p, rotate(q, centre)), q)
        name[at] = name_of(body, "body")
        for joint, (fp, fq) in zip(joints.get(at, [])[:-1], series_of(joints.get(at, []), state, pose[at])):
            frame[at, joint["id"]] = (fp, fq)
            name[at, joint["id"]] = f"{name[at]} after {name_of(joint, 'joint')}"[:60]
            out["bodies"].append({"name": name[at, joint["id"]], "kind": "solid", "massless": True, "position": fp,
                                  "rotation": fq})
        out["bodies"].append(
            {
                "name": name[at],
                "kind": "solid",
                "position": frame[at][0],
                "rotation": q,
                "mass": mass,
                "inertia": [I[0][0], I[1][1], I[2][2], I[0][1], I[0][2], I[1][2]],
                "shapes": [],
            }
        )
    by_name = {b["name"]: b for b in out["bodies"]}
    if dynamics:
        motion = motion_of(robot, state, pose)
        for at, label in name.items():
            if isinstance(at, tuple):
                stage = [joint["id"] for joint in joints[at[0]]].index(at[1])
                by_name[label]["velocity"], by_name[label]["spin"] = motion[at[0]][stage]
            elif at:
                v, w = motion[at][-1]
                by_name[label]["velocity"] = add(v, cross(w, add(frame[at][0], pose[at][0], -1.0)))
                by_name[label]["spin"] = w
                weight = 1.0 - bodies[at].get("gravcomp", 0)
                if weight != 1.0:
                    by_name[label]["gravity_scale"] = weight
    floor = False
    for geom in [] if dynamics else robot["geoms"]:
        made = shape_of(geom, left_out)
        if not made:
            continue
        at = root[geom["body"]]
        p, q = pose[geom["body"]]
        gq = unit(geom.get("quat", [1, 0, 0, 0]))
        centre = made.pop("centre", [0, 0, 0])
        world = add(p, rotate(q, add(geom["pos"], rotate(gq, centre))))
        fp, fq = frame[at]
        made["name"] = f"g{geom['id']}"
        made["position"] = rotate(inverse(fq), add(world, fp, -1.0))
        made["rotation"] = unit(times(inverse(fq), times(q, gq)))
        made["mu"] = geom["friction"][0]
        made["combine"] = "max"
        made["group"], made["mask"] = geom.get("contype", 1), geom.get("conaffinity", 1)
        floor = floor or made["kind"] == "halfspace"
        (out["shapes"] if at == 0 else by_name[name[at]]["shapes"]).append(made)
    if not dynamics and not floor and any(j["type"] == "free" for j in robot["joints"]):
        out["shapes"].append({"name": "floor", "kind": "halfspace", "mu": 1, "combine": "max"})
    made_joint = {}
    for joint in robot["joints"]:
        if joint["type"] == "free":
            continue
        own = joints[joint["body"]]
        stage = own.index(joint)
        at = joint["body"] if joint is own[-1] else (joint["body"], joint["id"])
        parent = (joint["body"], own[stage - 1]["id"]) if stage else root[bodies[joint["body"]]["parent"]]
        p, q = series_of(own, state, pose[joint["body"]])[stage]
        point = add(p, rotate(q, joint.get("pos", [0, 0, 0])))
        a, b = frame[parent], frame[at]
        value = state["qpos"][joint["qpos"]]
        label = name_of(joint, "joint")
        to = {"name": label, "a": name[parent], "b": name[at], "collide": False if parent else True}
        if joint["type"] == "ball":
            to.update(kind="spherical", at=point)
        else:
            axis = rotate(q, joint["axis"])
            to["axis"] = rotate(inverse(a[1]), axis)
            slide = joint["type"] == "slide"
            start = add(point, axis, -value) if slide else point
            to["anchor_a"] = rotate(inverse(a[1]), add(start, a[0], -1.0))
            to["anchor_b"] = rotate(inverse(b[1]), add(point, b[0], -1.0))
            to["kind"] = "prismatic" if slide else "revolute"
            if not slide:
                to["angle"] = -value
            for key, mine in (("damping", "damping"), ("stiffness", "stiffness"),
                              ("frictionloss", "friction"), ("armature", "armature")):
                if joint.get(key, 0) > 0:
                    to[mine] = joint[key]
            if joint.get("stiffness", 0) > 0:
                to["rest"] = joint.get("springref", 0)
            if dynamics:
                to.pop("friction", None)
            elif "range" in joint:
                to["lower"], to["upper"] = joint["range"]
            made_joint[joint["id"]] = (label, value, joint)
        out["joints"].append(to)
    made_tendon = {}
    for tendon in robot["tendons"]:
        if tendon["type"] != "fixed" or any(step["joint"] not in made_joint for step in tendon["path"]):
            left_out.add("tendons over pulleys")
            continue
        label = f"tendon {name_of(tendon, 'tendon')}"[:60]
        to = {"name": label, "kind": "coupling", "coordinate": sum_of(tendon["path"], made_joint)}
        value = sum(step["coef"] * made_joint[step["joint"]][1] for step in tendon["path"])
        for key in ("damping", "stiffness"):
            if tendon.get(key, 0) > 0:
                to[key] = tendon[key]
        if to.get("stiffness"):
            to["rest"] = tendon.get("springlength", [tendon["length0"]])[0]
        if not dynamics and tendon.get("frictionloss", 0) > 0:
            to["friction"] = tendon["frictionloss"]
        if not dynamics and "range" in tendon:
            to["lower"], to["upper"] = tendon["range"]
        made_tendon[tendon["id"]] = (label, value, {}, to)
        out["joints"].append(to)
    for equality in [] if dynamics else robot["equalities"]:
        kind = equality.get("type")
        known = {"joint": made_joint, "tendon": made_tendon}.get(kind)
        if known is not None and equality["a"] in known and equality.get("b", equality["a"]) in known:
            if kind == "joint":
                y = f"q[{known[equality['a']][0]}]"
                x = f"q[{known[equality['b']][0]}]" if "b" in equality else None
            else:
                y = known[equality["a"]][3]["coordinate"]
                x = known[equality["b"]][3]["coordinate"] if "b" in equality else None
            out["joints"].append({"name": f"equality {equality['id']}", "kind": "coupling", "target": 0,
                                  "coordinate": polynomial_of(equality, x, y)})
            continue
        if equality.get("type") != "connect" or "anchor_a" not in equality:
            left_out.add(f"equalities of kind {equality.get('type')}")
            continue
        ia, ib = equality["a"], equality["b"]
        ends = []
        for i, anchor in ((ia, equality["anchor_a"]), (ib, equality["anchor_b"])):
            p, q = pose[i]
            fp, fq = frame[root[i]]
            ends.append(rotate(inverse(fq), add(add(p, rotate(q, anchor)), fp, -1.0)))
        out["joints"].append(
            {"kind": "spherical", "name": f"loop {equality['id']}", "a": name[root[ia]],
             "b": name[root[ib]], "anchor_a": ends[0], "anchor_b": ends[1], "collide": True})
    if dynamics:
        for actuator in robot["actuators"]:
            known = {"joint": made_joint, "tendon": made_tendon}.get(actuator.get("transmission"), {})
            target = known.get(actuator.get("target"))
            made = None
            if target:
                control = state["ctrl"][actuator["id"]]
                if actuator["dynamics"] != "none":  # the state of the filter
                    control = state["act"][sum(a["dynamics"] != "none" for a in robot["actuators"][:actuator["id"]])]
                made = actuator_of(actuator, target[:3], control)
            if made is None:
                raise Unfit(f"actuator '{name_of(actuator, 'actuator')}'")
            out["actuators"].append(made)
    if hold:
        for actuator in robot["actuators"]:
            known = {"joint": made_joint, "tendon": made_tendon}.get(actuator.get("transmission"), {})
            target = known.get(actuator.get("target"))
            if not target:
                left_out.add("actuators that act on neither a joint nor a fixed tendon")
                continue
            label, value, joint = target[:3]
            servo = actuator["kind"] == "position"
            to = {"name": name_of(actuator, "actuator"), "kind": "position", "joint": label, "control": value}
            if servo:
                gear = actuator["gear"][0]
                to["kp"] = actuator["gain_prm"][0] * gear * gear
                bias = actuator.get("bias_prm", [0, 0, 0])
                to["kv"] = -bias[2] * gear * gear if len(bias) > 2 else 0
            else:
                to.update(kp=100.0, kv=5.0) if "tendon" in label else to.update(kp=100.0, damping_ratio=1.0)
            if "force_range" in actuator:
                to["effort"] = actuator["force_range"]
            out["actuators"].append(to)
    scene = {
        "name": robot["model"].replace("/", " ")[:60],
        "description": "; ".join(["A robot"] + sorted(f"left out: {x}" for x in left_out)),
        "step": 0.002,
        "until": 0.5,
        "gravity": robot["option"]["gravity"],
        "coordinates": "auto",
    }
    if dynamics:
        scene.update(listed_only=True, start="as given")
    if "contact" in robot["option"].get("disabled", []):
        scene["listed_only"] = True
    ids = {b.get("name"): b["id"] for b in bodies}
    exclude = []
    for pair in [] if dynamics else robot["excludes"]:
        a, b = (root[ids[x]] for x in (pair if isinstance(pair, list) else (pair["a"], pair["b"])))
        if a != b:
            exclude.append([name[a], name[b]])
    # MuJoCo leaves out contacts of a body with the one that carries it; massless bodies may be between them.
    for at, own in joints.items():
        parent = root[bodies[at]["parent"]]
        if not dynamics and len(own) > 1 and parent:
            exclude.append([name[parent], name[at]])
    if exclude:
        scene["exclude"] = exclude
    scene.update(out)
    return scene


def main():
    args = [a for a in sys.argv[1:] if a != "--hold"]
    with open(args[0]) as file:
        robot = json.load(file)
    try:
        json.dump(scene_of(robot, hold="--hold" in sys.argv), sys.stdout, indent=1)
    except Unfit as why:
        print(f"{args[0]}: {why}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
