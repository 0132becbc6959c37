// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The overlay: contacts, forces, cones, joints, axes, trails. Always on top and crisp, and the same in 2D and 3D: a
// stage only has to project points to the screen.
import { lower, rotate, toWorld } from "./data.js";
import { drawScale, niceStep } from "./planar.js";
import { CPU, withAlpha } from "./theme.js";

const add = (a, b, f = 1) => [a[0] + f * b[0], a[1] + f * b[1], a[2] + f * b[2]];
const length = (a) => Math.hypot(a[0], a[1], a[2]);

function arrow(ctx, from, to, head) {
  const d = Math.hypot(to[0] - from[0], to[1] - from[1]);
  if (d < 1) return;
  const h = Math.min(head, 0.6 * d);
  const [ux, uy] = [(to[0] - from[0]) / d, (to[1] - from[1]) / d];
  ctx.moveTo(from[0], from[1]);
  ctx.lineTo(to[0] - ux * h * 0.7, to[1] - uy * h * 0.7);
  ctx.moveTo(to[0], to[1]);
  ctx.lineTo(to[0] - ux * h - uy * h * 0.42, to[1] - uy * h + ux * h * 0.42);
  ctx.lineTo(to[0] - ux * h + uy * h * 0.42, to[1] - uy * h - ux * h * 0.42);
  ctx.lineTo(to[0], to[1]);
}

// Two directions perpendicular to a unit vector.
function tangents(n) {
  const a = Math.abs(n[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
  const t = [a[1] * n[2] - a[2] * n[1], a[2] * n[0] - a[0] * n[2], a[0] * n[1] - a[1] * n[0]];
  const l = length(t) || 1;
  const u = t.map((c) => c / l);
  return [u, [n[1] * u[2] - n[2] * u[1], n[2] * u[0] - n[0] * u[2], n[0] * u[1] - n[1] * u[0]]];
}

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

export class Overlay {
  constructor(host, run, theme) {
    this.run = run;
    this.theme = theme;
    this.canvas = document.createElement("canvas");
    this.canvas.className = "over";
    this.canvas.setAttribute("aria-hidden", "true");
    host.append(this.canvas);
    this.ctx = this.canvas.getContext("2d", CPU);
    this.bare = run.bodyOfRow.filter((body) => !run.solids.some((s) => s.body === body));
    this.rescale();
  }
  resize() {
    const { clientWidth: w, clientHeight: h } = this.canvas.parentElement;
    this.width = w;
    this.height = h;
    this.ratio = Math.min(2, window.devicePixelRatio || 1);
    this.canvas.width = Math.round(w * this.ratio);
    this.canvas.height = Math.round(h * this.ratio);
  }

  // The force drawn with an arrow of a fifth of the scene: the 95th percentile.
  rescale() {
    const { run } = this;
    const forces = [];
    const rows = run.snaps.mode.rows;
    const stride = Math.max(1, Math.floor(rows / 20000));
    for (let snap = 0; snap < run.snaps.end.rows; snap++) {
      const [from, to] = run.contactRange(snap);
      const h = run.snaps.h.data[snap] || 1;
      for (let row = from; row < to; row++) {
        const pn = run.snaps.values.data[4 * row + 1];
        if (row % stride === 0 && pn > 0) forces.push(pn / h);
      }
    }
    forces.sort((a, b) => a - b);
    this.force = forces.length > 0 ? forces[Math.floor(0.95 * (forces.length - 1))] : 0;
    let weight = 0;
    for (const body of run.bodies) weight = body.row >= 0 ? Math.max(weight, body.mass * 9.81) : weight;
    this.force = this.force || weight || 1;
  }

  draw(stage, state, look) {
    const { ctx, theme } = this;
    ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    ctx.clearRect(0, 0, this.width, this.height);
    ctx.lineCap = "round";
    this.stage = stage;
    this.state = state;
    this.spots = [];
    this.marks = [];
    this.metresPerNewton = (0.2 * stage.size) / this.force;
    if (look.trails) this.trails(look);
    this.springs();
    this.shapeless();
    this.contacts(look);
    if (look.joints) this.joints(look);
    if (look.axes) this.axes();
    if (look.sensor >= 0) this.sensorFrame(this.run.sensors[look.sensor]);
    if (look.drag) this.drag(look.drag);
    if (this.run.spatial) drawScale(ctx, theme.color, theme, this.height, stage.pixels(stage.controls.target.toArray()));
    if (look.forces) this.forceScale();
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

  // Bodies without shapes: a ring at the centre of mass, and lines to their joints.
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
      ctx.moveTo(p[0] + 5, p[1]);
      ctx.arc(p[0], p[1], 5, 0, 2 * Math.PI);
    }
    ctx.strokeStyle = theme.color.soft;
    ctx.lineWidth = 2;
    ctx.stroke();
  }

  forceScale() {
    const { ctx, theme } = this;
    const target = this.run.spatial ? this.stage.controls.target.toArray() : [0, 0, 0];
    const px = this.metresPerNewton * this.stage.pixels(target);
    const newtons = niceStep(70 / px);
    const [x, y] = [18, this.height - 52];
    ctx.strokeStyle = ctx.fillStyle = theme.color.ink;
    ctx.lineWidth = 2;
    ctx.beginPath();
    arrow(ctx, [x, y], [x + newtons * px, y], 10);
    ctx.stroke();
    ctx.fill();
    ctx.font = `12px ${theme.sans}`;
    ctx.textAlign = "center";
    const text = newtons >= 1000 ? `${newtons / 1000} kN` : newtons >= 0.01 ? `${+newtons.toPrecision(2)} N` : `${+(newtons * 1000).toPrecision(2)} mN`;
    ctx.strokeStyle = theme.color.stage; // a halo, in case a line runs behind the text
    ctx.lineWidth = 3;
    ctx.strokeText(text, x + (newtons * px) / 2, y - 7);
    ctx.fillText(text, x + (newtons * px) / 2, y - 7);
  }

  contacts(look) {
    const { run, ctx, theme, stage } = this;
    const [from, to] = run.contactRange(this.state.snap);
    const h = run.snaps.h.data[this.state.snap] || 1;
    const colors = theme.color.mode;
    const few = to - from <= 40;
    const list = [];
    for (let row = from; row < to; row++) {
      const c = run.contact(row);
      const at = stage.project(c.point);
      if (!at[2]) continue;
      c.at = at;
      list.push(c);
      this.spots.push({ track: c.track, x: at[0], y: at[1] });
    }
    if (look.cones) for (const c of list) if (c.mode > 0 && c.mu > 0) this.cone(c);
    if (look.gaps) this.gaps(list, few);
    if (look.normals) {
      ctx.beginPath();
      for (const c of list) {
        const step = 26 / stage.pixels(c.point);
        const tip = stage.project(add(c.point, c.normal, step));
        ctx.moveTo(c.at[0], c.at[1]);
        ctx.lineTo(tip[0], tip[1]);
      }
      ctx.strokeStyle = theme.color.ink;
      ctx.lineWidth = 1.3;
      ctx.stroke();
    }
    for (let mode = 0; mode < 3; mode++) {
      const some = list.filter((c) => c.mode === mode);
      if (look.forces) this.forces(some, h, colors[mode]);
      if (look.contacts) {
        ctx.beginPath();
        for (const c of some) {
          const r = c.track === look.track ? 6.5 : few ? 4.2 : 2.6;
          ctx.moveTo(c.at[0] + r, c.at[1]);
          ctx.arc(c.at[0], c.at[1], r, 0, 2 * Math.PI);
        }
        ctx.fillStyle = mode === 0 ? theme.color.stage : colors[mode];
        ctx.fill();
        ctx.strokeStyle = mode === 0 ? colors[0] : theme.color.card;
        ctx.lineWidth = mode === 0 ? 1.6 : 1.2;
        ctx.stroke();
      }
    }
    const chosen = list.find((c) => c.track === look.track);
    if (chosen) {
      ctx.beginPath();
      ctx.arc(chosen.at[0], chosen.at[1], 10, 0, 2 * Math.PI);
      ctx.strokeStyle = theme.color.accent;
      ctx.lineWidth = 2.4;
      ctx.stroke();
    }
  }

  // The force on body b, from the contact point; beyond 2.5 times the reference it is cut and gets a second head.
  forces(list, h, color) {
    const { ctx, stage } = this;
    ctx.beginPath();
    for (const c of list) {
      if (!(c.pn > 0)) continue;
      const f = add([0, 0, 0], c.normal, c.pn / h);
      const full = add(f, c.friction, 1 / h);
      const size = length(full);
      const most = 2.5 * this.force;
      const shown = (this.metresPerNewton * Math.min(size, most)) / (size || 1);
      const tip = stage.project(add(c.point, full, shown));
      arrow(ctx, c.at, tip, 11);
      if (size > most) {
        const back = stage.project(add(c.point, full, 0.93 * shown));
        arrow(ctx, c.at, back, 11);
      }
    }
    ctx.strokeStyle = ctx.fillStyle = color;
    ctx.lineWidth = 2.6;
    ctx.lineJoin = "round";
    ctx.stroke();
    ctx.fill();
  }

  cone(c) {
    const { ctx, stage, theme, run } = this;
    const size = 46 / stage.pixels(c.point);
    const color = theme.color.mode[c.mode];
    ctx.fillStyle = withAlpha(color, 0.14);
    ctx.strokeStyle = withAlpha(color, 0.8);
    ctx.lineWidth = 1.1;
    const [t, o] = run.spatial ? tangents(c.normal) : [[-c.normal[1], c.normal[0], 0]];
    const top = add(c.point, c.normal, size);
    if (!run.spatial) {
      const p = stage.project(add(top, t, c.mu * size));
      const q = stage.project(add(top, t, -c.mu * size));
      ctx.beginPath();
      ctx.moveTo(p[0], p[1]);
      ctx.lineTo(c.at[0], c.at[1]);
      ctx.lineTo(q[0], q[1]);
      ctx.fill();
      ctx.stroke();
      return;
    }
    const ring = [];
    for (let k = 0; k < 28; k++) {
      const a = (k / 28) * 2 * Math.PI;
      ring.push(stage.project(add(add(top, t, c.mu * size * Math.cos(a)), o, c.mu * size * Math.sin(a))));
    }
    const middle = stage.project(top);
    const axis = Math.atan2(middle[1] - c.at[1], middle[0] - c.at[0]);
    const off = (p) => {
      const a = Math.atan2(p[1] - c.at[1], p[0] - c.at[0]) - axis;
      return Math.atan2(Math.sin(a), Math.cos(a));
    };
    const left = ring.reduce((a, b) => (off(b) < off(a) ? b : a));
    const right = ring.reduce((a, b) => (off(b) > off(a) ? b : a));
    ctx.beginPath();
    ring.forEach((p, k) => (k ? ctx.lineTo(p[0], p[1]) : ctx.moveTo(p[0], p[1])));
    ctx.closePath();
    ctx.fill();
    ctx.stroke();
    ctx.beginPath();
    ctx.moveTo(left[0], left[1]);
    ctx.lineTo(c.at[0], c.at[1]);
    ctx.lineTo(right[0], right[1]);
    ctx.fill();
    ctx.stroke();
  }

  gaps(list, few) {
    const { ctx, stage, theme } = this;
    ctx.beginPath();
    for (const c of list) {
      const tip = stage.project(add(c.point, c.normal, c.gap));
      ctx.moveTo(c.at[0], c.at[1]);
      ctx.lineTo(tip[0], tip[1]);
    }
    ctx.strokeStyle = theme.color.bad;
    ctx.lineWidth = 2;
    ctx.stroke();
    if (!few) return;
    ctx.font = `11.5px ${theme.mono}`;
    ctx.textAlign = "left";
    for (const c of list) {
      const text = gapText(c.gap);
      const w = ctx.measureText(text).width;
      ctx.fillStyle = withAlpha(theme.color.card, 0.85);
      ctx.fillRect(c.at[0] + 9, c.at[1] + 5, w + 6, 16);
      ctx.fillStyle = theme.color.ink;
      ctx.fillText(text, c.at[0] + 12, c.at[1] + 17);
    }
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
    const { run, ctx, stage, state } = this;
    const force = run.joint(k, state.frame).force;
    const size = length(force);
    if (!(size > 1e-9)) return;
    const shown = (this.metresPerNewton * Math.min(size, 2.5 * this.force)) / size;
    ctx.beginPath();
    arrow(ctx, pb, stage.project(add(b, force, shown)), 10);
    ctx.strokeStyle = ctx.fillStyle = color;
    ctx.lineWidth = 2.2;
    ctx.stroke();
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

export function gapText(gap) {
  const a = Math.abs(gap);
  if (a === 0) return "0";
  if (a >= 1) return `${gap.toPrecision(3)} m`;
  if (a >= 1e-3) return `${(gap * 1e3).toPrecision(3)} mm`;
  if (a >= 1e-6) return `${(gap * 1e6).toPrecision(3)} µm`;
  return gap.toExponential(0) + " m";
}
