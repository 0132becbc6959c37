// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The overlay: contacts, forces, cones, joints, axes, trails. Always on top and crisp, and the same in 2D and 3D: a
// stage only has to project points to the screen.
import { endless, outline } from "./bounds.js";
import { add, arrow, ContactMarks, length } from "./contacts.js";
import { lower, rotate, toWorld } from "./data.js";
import { Measure } from "./measure.js";
import { drawScale } from "./planar.js";
import { CPU, withAlpha } from "./theme.js";

// A zigzag between two pixels.
function zigzag(ctx, p, q, turns, side) {
  const d = Math.hypot(q[0] - p[0], q[1] - p[1]);
  const [ux, uy] = [(q[0] - p[0]) / (d || 1), (q[1] - p[1]) / (d || 1)];
  ctx.moveTo(p[0], p[1]);
  for (let k = 1; k < 2 * turns; k++) {
    const [along, off] = [(k / (2 * turns)) * d, k % 2 ? side : -side];
    ctx.lineTo(p[0] + along * ux - off * uy, p[1] + along * uy + off * ux);
  }
  ctx.lineTo(q[0], q[1]);
}

// The place of a point that collides, in the frame of its body.
function tipOf(run, shape) {
  return shape.vertices > 0 ? [...run.outline.subarray(3 * shape.vertex, 3 * shape.vertex + 3)] : shape.pose.slice(0, 3);
}

export class Overlay {
  constructor(host, run, theme) {
    this.run = run;
    this.theme = theme;
    this.canvas = document.createElement("canvas");
    this.canvas.className = "over";
    this.canvas.setAttribute("aria-hidden", "true");
    host.append(this.canvas);
    this.ctx = this.canvas.getContext("2d", CPU);
    const solid = (s) => !endless(s) && (s.kind !== "point" || s.radius > 0);
    this.bare = run.bodyOfRow.filter((body) => !run.solids.some((s) => s.body === body && solid(s)));
    // Points of such bodies, in their frames: a rod may be given by the points at its ends.
    this.tips = new Map(this.bare.map((body) => [body, run.solids.filter((s) => s.body === body && !endless(s)).map((s) => tipOf(run, s))]));
    this.contacts = new ContactMarks(run, theme);
    this.measure = new Measure(theme);
    this.ghosts = null; // other runs
  }
  resize() {
    const { clientWidth: w, clientHeight: h } = this.canvas.parentElement;
    this.width = w;
    this.height = h;
    this.ratio = this.theme.ratio(2);
    this.canvas.width = Math.round(w * this.ratio);
    this.canvas.height = Math.round(h * this.ratio);
  }

  rescale() {
    this.contacts.rescale();
  }

  draw(stage, state, look) {
    const { ctx, theme } = this;
    ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    ctx.clearRect(0, 0, this.width, this.height);
    ctx.lineCap = "round";
    this.stage = stage;
    this.state = state;
    this.marks = [];
    this.contacts.measure(stage);
    if (look.trails) this.trails(look);
    this.springs();
    this.shapeless();
    this.spots = this.contacts.draw(ctx, stage, state, look);
    if (look.joints) this.joints(look);
    if (look.forces && look.body >= 0) this.contacts.sum(look.body, state, ctx, stage);
    if (look.axes) this.axes();
    if (look.sensor >= 0) this.sensorFrame(this.run.sensors[look.sensor]);
    if (look.drag) this.drag(look.drag);
    if (this.ghosts && look.others) this.ghosts.draw(ctx, stage, state);
    if (look.labels) this.labels(look);
    if (look.measure) this.measure.draw(ctx, stage, state);
    if (this.run.spatial) drawScale(ctx, theme.color, theme, this.height, stage.pixels(stage.aim()));
    if (this.run.tracks > 0 || this.run.about.live) this.contacts.legend(ctx, stage, look, this.width - 14);
    if (this.ghosts && look.others) this.ghosts.legend(ctx, this.width - 10, 44);
  }

  // Same width and number of turns at any length.
  springs() {
    const { run, ctx, stage, theme, state } = this;
    if (run.springs.length === 0) return;
    ctx.beginPath();
    for (const spring of run.springs) {
      const a = toWorld(state, spring.a, spring.anchor_a);
      const b = toWorld(state, spring.b, spring.anchor_b);
      const [p, q] = [stage.project(a), stage.project(b)];
      if (!p[2] || !q[2]) continue;
      const rest = (spring.rest || length(add(a, b, -1))) * stage.pixels(a);
      zigzag(ctx, p, q, rest > 500 ? 16 : rest > 60 ? 9 : 5, Math.min(11, Math.max(4, 0.03 * rest)));
      for (const end of [p, q]) {
        ctx.moveTo(end[0] + 2, end[1]);
        ctx.arc(end[0], end[1], 2, 0, 2 * Math.PI);
      }
    }
    ctx.strokeStyle = theme.color.soft;
    ctx.lineWidth = 1.8;
    ctx.lineJoin = "round";
    ctx.stroke();
  }

  // Bodies without shapes, or with points only: a ring at the centre of mass, and lines to joints and points.
  shapeless() {
    const { run, ctx, stage, theme, state } = this;
    if (this.bare.length === 0) return;
    ctx.beginPath();
    for (const body of this.bare) {
      const p = stage.project([...state.position.subarray(3 * body, 3 * body + 3)]);
      for (const joint of run.joints) {
        for (const [b, anchor] of [[joint.a, joint.anchor_a], [joint.b, joint.anchor_b]]) {
          if (b !== body) continue;
          const q = stage.project(toWorld(state, body, anchor));
          ctx.moveTo(p[0], p[1]);
          ctx.lineTo(q[0], q[1]);
        }
      }
      const tips = this.tips.get(body).map((tip) => stage.project(toWorld(state, body, tip)));
      if (tips.length > 2) {
        outline(tips.map((q) => [q[0], q[1]])).forEach((q, k) => (k ? ctx.lineTo(q[0], q[1]) : ctx.moveTo(q[0], q[1])));
        ctx.closePath();
      } else {
        for (const q of tips) {
          ctx.moveTo(p[0], p[1]);
          ctx.lineTo(q[0], q[1]);
        }
      }
      ctx.moveTo(p[0] + 5, p[1]);
      ctx.arc(p[0], p[1], 5, 0, 2 * Math.PI);
    }
    ctx.strokeStyle = theme.color.soft;
    ctx.lineWidth = 2;
    ctx.stroke();
  }

  joints(look) {
    const { run, ctx, stage, theme, state } = this;
    const color = theme.color.joint;
    run.joints.forEach((joint, k) => {
      if (joint.kind === "gear" || joint.kind === "coupling" || joint.kind === "angle") return;
      const a = toWorld(state, joint.a, joint.anchor_a);
      const b = toWorld(state, joint.b, joint.anchor_b);
      const [pa, pb] = [stage.project(a), stage.project(b)];
      if (!pa[2]) return;
      this.marks.push({ joint: k, x: pb[0], y: pb[1] });
      ctx.strokeStyle = color;
      ctx.fillStyle = theme.color.card;
      ctx.lineWidth = look.joint === k ? 3 : 1.8;
      ctx.beginPath();
      ctx.moveTo(pa[0], pa[1]);
      ctx.lineTo(pb[0], pb[1]);
      ctx.stroke();
      this.jointAxis(joint, a);
      ctx.beginPath();
      if (joint.kind === "weld") ctx.rect(pb[0] - 5, pb[1] - 5, 10, 10);
      else if (/prismatic|cylindrical|line|screw/.test(joint.kind)) {
        ctx.moveTo(pb[0], pb[1] - 7);
        ctx.lineTo(pb[0] + 7, pb[1]);
        ctx.lineTo(pb[0], pb[1] + 7);
        ctx.lineTo(pb[0] - 7, pb[1]);
        ctx.closePath();
      } else ctx.arc(pb[0], pb[1], 5.5, 0, 2 * Math.PI);
      ctx.fill();
      ctx.stroke();
      ctx.beginPath();
      ctx.arc(pb[0], pb[1], 1.6, 0, 2 * Math.PI);
      ctx.fillStyle = color;
      ctx.fill();
      this.reaction(k, b, pb, color);
    });
  }
  jointAxis(joint, at) {
    const { run, ctx, stage, state, theme } = this;
    if (joint.kind === "distance" || joint.kind === "spherical" || joint.kind === "weld") return;
    if (!run.spatial) return;
    const axis = rotate(state.rotation, 4 * joint.a, joint.axis);
    const size = 22 / stage.pixels(at);
    const p = stage.project(add(at, axis, size));
    const q = stage.project(add(at, axis, -size));
    ctx.beginPath();
    ctx.moveTo(q[0], q[1]);
    ctx.lineTo(p[0], p[1]);
    ctx.strokeStyle = withAlpha(theme.color.joint, 0.7);
    ctx.stroke();
    ctx.strokeStyle = theme.color.joint;
  }
  reaction(k, b, pb, color) {
    const { run, ctx, state } = this;
    const force = run.joint(k, state.frame).force;
    if (!(length(force) > 1e-9)) return;
    ctx.beginPath();
    this.contacts.vector(b, pb, force, 10, 2.2);
    ctx.fillStyle = color;
    ctx.fill();
  }

  // The frame of the chosen sensor, with its name.
  sensorFrame(sensor) {
    const { run, ctx, stage, theme, state } = this;
    if (sensor.body < 0) return;
    const pose = run.sites[sensor.site]?.pose ?? [0, 0, 0, 1, 0, 0, 0];
    const p = toWorld(state, sensor.body, pose);
    const from = stage.project(p);
    if (!from[2]) return;
    for (let i = 0; i < run.axes; i++) {
      const e = [0, 0, 0];
      e[i] = 20 / stage.pixels(p);
      ctx.beginPath();
      arrow(ctx, from, stage.project(toWorld(state, sensor.body, add(pose, rotate(pose, 3, e), 1))), 6);
      ctx.strokeStyle = ctx.fillStyle = theme.color.axis[i];
      ctx.lineWidth = 1.8;
      ctx.stroke();
      ctx.fill();
    }
    ctx.fillStyle = theme.color.ink;
    ctx.font = `11px ${theme.sans}`;
    ctx.textAlign = "left";
    ctx.fillText(sensor.name, from[0] + 6, from[1] + 14);
  }

  // Names of bodies at their centres. Where names would overlap, the later one is left out, so that each can be read.
  labels(look) {
    const { run, ctx, stage, theme, state } = this;
    ctx.font = `600 12px ${theme.sans}`;
    ctx.textAlign = "center";
    ctx.lineJoin = "round";
    const taken = [];
    const order = look.body >= 0 ? [look.body, ...run.bodyOfRow] : run.bodyOfRow;
    for (const body of order) {
      const [x, y, front] = stage.project([...state.position.subarray(3 * body, 3 * body + 3)]);
      const { name } = run.bodies[body];
      const half = ctx.measureText(name).width / 2 + 3;
      if (!front || taken.some((t) => Math.abs(t.x - x) < t.half + half && Math.abs(t.y - y) < 15)) continue;
      taken.push({ x, y, half });
      ctx.strokeStyle = withAlpha(theme.color.card, 0.85);
      ctx.lineWidth = 3.5;
      ctx.strokeText(name, x, y + 4);
      ctx.fillStyle = body === look.body ? theme.color.accent : theme.color.ink;
      ctx.fillText(name, x, y + 4);
    }
  }

  axes() {
    const { run, ctx, stage, theme, state } = this;
    const size = run.moving > 60 ? 10 : 24;
    for (let i = 0; i < run.axes; i++) {
      ctx.beginPath();
      for (const body of run.bodyOfRow) {
        const p = [state.position[3 * body], state.position[3 * body + 1], state.position[3 * body + 2]];
        const e = [0, 0, 0];
        e[i] = size / stage.pixels(p);
        const from = stage.project(p);
        if (from[2]) arrow(ctx, from, stage.project(toWorld(state, body, e)), 7);
      }
      ctx.strokeStyle = ctx.fillStyle = theme.color.axis[i];
      ctx.lineWidth = 1.8;
      ctx.stroke();
      ctx.fill();
    }
    ctx.beginPath();
    for (const body of run.bodyOfRow) {
      const p = stage.project([...state.position.subarray(3 * body, 3 * body + 3)]);
      ctx.moveTo(p[0] + 3, p[1]);
      ctx.arc(p[0], p[1], 3, 0, 2 * Math.PI);
    }
    ctx.fillStyle = theme.color.ink;
    ctx.fill();
  }

  // Trails of the centres of mass; with many bodies only that of the selected one.
  trails(look) {
    const { run, ctx, stage, theme, state } = this;
    const all = run.moving <= 40;
    const until = lower(run.poses.t, state.t);
    const stride = Math.max(1, Math.ceil(until / 1500));
    const { position } = run.poses;
    for (let row = 0; row < run.moving; row++) {
      const body = run.bodyOfRow[row];
      if (!all && look.body !== body) continue;
      ctx.beginPath();
      for (let k = 0; k <= until; k += stride) {
        const at = k * position.width + row * run.axes;
        const p = stage.project([position.data[at], position.data[at + 1], run.spatial ? position.data[at + 2] : 0]);
        if (k === 0) ctx.moveTo(p[0], p[1]);
        else ctx.lineTo(p[0], p[1]);
      }
      const now = stage.project([...state.position.subarray(3 * body, 3 * body + 3)]);
      ctx.lineTo(now[0], now[1]);
      ctx.strokeStyle = look.body === body ? theme.color.accent : withAlpha(theme.color.soft, 0.8);
      ctx.lineWidth = look.body === body ? 2.2 : 1.4;
      ctx.lineJoin = "round";
      ctx.stroke();
    }
  }

  drag({ body, anchor, to }) {
    const { ctx, stage, theme, state } = this;
    const p = stage.project(toWorld(state, body, anchor));
    const q = stage.project(to);
    const d = Math.hypot(q[0] - p[0], q[1] - p[1]);
    ctx.beginPath();
    zigzag(ctx, p, q, d > 40 ? 9 : 2, Math.min(6, d / 14));
    ctx.strokeStyle = theme.color.accent;
    ctx.lineWidth = 1.8;
    ctx.stroke();
  }

  // The contact or joint at a pixel.
  pick(x, y, look) {
    let best = null;
    const see = (item, near) => {
      const d = Math.hypot(item.x - x, item.y - y);
      if (d < near && (!best || d < best.d)) best = { ...item, d };
    };
    if (look.contacts || look.forces) this.spots.forEach((s) => see(s, 11));
    if (look.joints) this.marks.forEach((m) => see(m, 11));
    return best;
  }
}
