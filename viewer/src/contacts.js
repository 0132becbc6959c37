// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Marks of contacts: points, forces, normals, cones, gaps, and the legend. Their size follows the spacing of the
// contacts on the screen, marks behind bodies fade, and of a crowd only the strongest force of each patch of the screen
// gets a point and an arrow: 1500 contacts do not bury the bodies.
import { bodyReach } from "./bounds.js";
import { niceStep } from "./planar.js";
import { withAlpha } from "./theme.js";

const FEW = 40; // up to so many contacts every mark is drawn; above, marks thin out
const SOLO = 12; // up to so many, normals and cones need no selection
const REFERENCE = 0.2; // length of the arrow of the reference force, of the size of the scene
const BODIES = 3; // the same, at most so many times the reach of a body
const SHORT = 26; // [px] but no shorter than this
const CUT = 2.5; // of the reference: longer arrows are cut

export const add = (a, b, f = 1) => [a[0] + f * b[0], a[1] + f * b[1], a[2] + f * b[2]];
export const length = (a) => Math.hypot(a[0], a[1], a[2]);
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

export function arrow(ctx, from, to, head) {
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

// An arrow as an outline to fill: strokes of hundreds of arrows, with their round ends, take most of the time of a picture.
function dart(ctx, from, to, head, width) {
  const d = Math.hypot(to[0] - from[0], to[1] - from[1]);
  if (d < 1) return;
  const h = Math.min(head + width, 0.7 * d);
  const [ux, uy] = [(to[0] - from[0]) / d, (to[1] - from[1]) / d];
  const [x, y] = [to[0] - ux * h, to[1] - uy * h]; // the base of the head
  const [sx, sy] = [-uy * 0.5 * width, ux * 0.5 * width];
  const [hx, hy] = [-uy * 0.45 * h, ux * 0.45 * h];
  ctx.moveTo(from[0] + sx, from[1] + sy);
  ctx.lineTo(x + sx, y + sy);
  ctx.lineTo(x + hx, y + hy);
  ctx.lineTo(to[0], to[1]);
  ctx.lineTo(x - hx, y - hy);
  ctx.lineTo(x - sx, y - sy);
  ctx.lineTo(from[0] - sx, from[1] - sy);
}

// Two directions perpendicular to a unit vector.
function tangents(n) {
  const a = Math.abs(n[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
  const t = [a[1] * n[2] - a[2] * n[1], a[2] * n[0] - a[0] * n[2], a[0] * n[1] - a[1] * n[0]];
  const l = length(t) || 1;
  const u = t.map((c) => c / l);
  return [u, [n[1] * u[2] - n[2] * u[1], n[2] * u[0] - n[0] * u[2], n[0] * u[1] - n[1] * u[0]]];
}

export function forceText(newtons) {
  if (newtons >= 1e6) return `${+(newtons / 1e6).toPrecision(2)} MN`;
  if (newtons >= 1000) return `${+(newtons / 1000).toPrecision(2)} kN`;
  if (newtons >= 0.01) return `${+newtons.toPrecision(2)} N`;
  return `${+(newtons * 1000).toPrecision(2)} mN`;
}

export class ContactMarks {
  constructor(run, theme) {
    this.run = run;
    this.theme = theme;
    this.reach = bodyReach(run);
    const moving = run.bodyOfRow.map((body) => this.reach[body]).filter((r) => r > 0).sort((a, b) => a - b);
    this.typical = moving.length > 0 ? moving[moving.length >> 1] : Infinity;
    this.rescale();
  }

  // The reference force is the 95th percentile of the run; the crowd is the 90th percentile of the number of contacts at
  // an instant. Both hold for the whole run, so that scales do not flicker while it plays.
  rescale() {
    const { run } = this;
    const forces = [];
    const counts = [];
    const rows = run.snaps.mode.rows;
    const stride = Math.max(1, Math.floor(rows / 20000));
    for (let snap = 0; snap < run.snaps.end.rows; snap++) {
      const [from, to] = run.contactRange(snap);
      const h = run.snaps.h.data[snap] || 1;
      counts.push(to - from);
      for (let row = from; row < to; row++) {
        const pn = run.snaps.values.data[4 * row + 1];
        if (row % stride === 0 && pn > 0) forces.push(pn / h);
      }
    }
    const quantile = (list, f) => list.sort((a, b) => a - b)[Math.floor(f * (list.length - 1))] ?? 0;
    let weight = 0;
    for (const body of run.bodies) weight = body.row >= 0 ? Math.max(weight, body.mass * 9.81) : weight;
    this.force = quantile(forces, 0.95) || weight || 1;
    this.crowd = Math.max(1, quantile(counts, 0.9));
  }

  // Sizes in pixels for this view: `spacing` is that of the contacts if they fill the scene evenly.
  measure(stage) {
    // The two longest sides of the scene: contacts of a tall stack are closer than those of a heap of its size.
    const sides = stage.box.high.map((h, i) => Math.max(0, h - stage.box.low[i])).sort((a, b) => b - a);
    const apart = Math.sqrt((sides[0] * Math.max(sides[1], 0.1 * sides[0])) / this.crowd) || stage.size;
    const spacing = apart * stage.pixels(stage.aim());
    this.stage = stage;
    this.spacing = spacing;
    this.radius = clamp(0.13 * spacing, 1.6, 4.2);
    this.line = clamp(0.08 * spacing, 1.1, 2.6);
    this.head = clamp(0.36 * spacing, 4, 11);
    this.faded = this.crowd <= SOLO ? 0.55 : Math.min(0.3, (0.3 * FEW) / this.crowd);
    const pixel = 1 / stage.pixels(stage.aim());
    this.metresPerNewton = Math.min(REFERENCE * stage.size, 2.4 * apart, Math.max(BODIES * this.typical, SHORT * pixel)) / this.force;
  }

  // The contacts of this instant that are on the screen. weight: opacity of their marks.
  list(state, look) {
    const { run, stage } = this;
    const [from, to] = run.contactRange(state.snap);
    const chosen = look.body >= 0 || look.track >= 0;
    const out = [];
    const modes = run.snaps.mode.data;
    const tracks = run.snaps.track.data;
    for (let row = from; row < to; row++) {
      // Of a crowd most are open, and not drawn: they are left out before anything is computed.
      if (modes[row] === 0 && this.crowd > FEW && !this.isChosen(tracks[row], look)) continue;
      const c = run.contact(row);
      const at = stage.project(c.point);
      if (!at[2]) continue;
      c.at = at;
      const [a, b] = this.bodies(c.track);
      c.chosen = this.isChosen(c.track, look);
      const near = Math.min(this.reach[a] || Infinity, this.reach[b] || Infinity);
      const margin = Math.max(3 / stage.pixels(c.point), Number.isFinite(near) ? 0.2 * near : 0);
      c.weight = 1;
      if (!c.chosen && chosen && this.crowd > SOLO) c.weight = 0.35;
      if (!c.chosen && stage.hidden(c.point, margin)) c.weight = Math.min(c.weight, this.faded);
      if (c.weight >= 0.05) out.push(c);
    }
    return out;
  }
  isChosen(track, look) {
    return track === look.track || (look.body >= 0 && this.bodies(track).includes(look.body));
  }
  bodies(track) {
    const s = this.run.trackShapes.data;
    return [this.run.shapes[s[2 * track]].body, this.run.shapes[s[2 * track + 1]].body];
  }

  draw(ctx, stage, state, look) {
    const { run } = this;
    this.ctx = ctx;
    this.measure(stage);
    const list = this.list(state, look);
    this.h = run.snaps.h.data[state.snap] || 1;
    const some = look.body >= 0 || look.track >= 0 || this.crowd > SOLO ? list.filter((c) => c.chosen) : list;
    if (look.cones) for (const c of some) if (c.mode > 0 && c.mu > 0) this.cone(c);
    if (look.gaps) this.gaps(some.length > 0 ? some : list, some.length > 0 || this.crowd <= FEW);
    if (look.normals) this.normals(some);
    // Faded marks first, so that they do not cover the others.
    for (const weight of [...new Set(list.map((c) => c.weight))].sort((a, b) => a - b)) {
      ctx.globalAlpha = weight;
      const same = list.filter((c) => c.weight === weight);
      if (look.forces) this.forces(this.thinned(same, 0.8));
      if (look.contacts) this.points(this.thinned(same, 0.5), look);
    }
    ctx.globalAlpha = 1;
    if (look.track >= 0) this.ring(list.find((c) => c.track === look.track));
    return list.map((c) => ({ track: c.track, x: c.at[0], y: c.at[1] }));
  }

  // One mark for each patch of the screen, that of the largest force; all of what is selected. side: of a patch, in units of
  // the spacing. Heaps that are far away have more contacts than pixels.
  thinned(list, side) {
    if (this.crowd <= FEW) return list;
    const best = new Map();
    const cell = Math.max(9, side * this.spacing);
    const out = [];
    for (const c of list) {
      const key = Math.floor(c.at[0] / cell) + 65536 * Math.floor(c.at[1] / cell);
      if (c.chosen) out.push(c);
      else if (!(best.get(key)?.pn >= c.pn)) best.set(key, c);
    }
    return [...out, ...best.values()];
  }

  points(list, look) {
    const { ctx, theme } = this;
    const colors = theme.color.mode;
    for (let mode = 0; mode < 3; mode++) {
      ctx.beginPath();
      for (const c of list) {
        if (c.mode !== mode) continue;
        const r = c.track === look.track ? 6.5 : c.chosen ? Math.max(this.radius, 3.6) : this.radius;
        ctx.moveTo(c.at[0] + r, c.at[1]);
        ctx.arc(c.at[0], c.at[1], r, 0, 2 * Math.PI);
      }
      ctx.fillStyle = mode === 0 ? theme.color.stage : colors[mode];
      ctx.fill();
      ctx.strokeStyle = mode === 0 ? colors[0] : theme.color.card;
      ctx.lineWidth = (mode === 0 ? 0.38 : 0.28) * this.radius;
      ctx.stroke();
    }
  }
  ring(c) {
    if (!c) return;
    const { ctx } = this;
    ctx.beginPath();
    ctx.arc(c.at[0], c.at[1], 10, 0, 2 * Math.PI);
    ctx.strokeStyle = this.theme.color.accent;
    ctx.lineWidth = 2.4;
    ctx.stroke();
  }

  normals(list) {
    const { ctx, stage } = this;
    ctx.beginPath();
    for (const c of list) {
      const tip = stage.project(add(c.point, c.normal, 26 / stage.pixels(c.point)));
      ctx.moveTo(c.at[0], c.at[1]);
      ctx.lineTo(tip[0], tip[1]);
    }
    ctx.strokeStyle = this.theme.color.ink;
    ctx.lineWidth = 1.3;
    ctx.stroke();
  }

  // The force on body b [N], in the world.
  forceOf(c) {
    return add([c.normal[0] * c.pn / this.h, c.normal[1] * c.pn / this.h, c.normal[2] * c.pn / this.h], c.friction, 1 / this.h);
  }
  // The force on body b, from the contact point; beyond CUT times the reference it is cut and gets a second head.
  forces(list) {
    const { ctx, theme } = this;
    for (let mode = 0; mode < 3; mode++) {
      for (const strong of [false, true]) {
        ctx.beginPath();
        for (const c of list) {
          if (c.mode === mode && c.pn > 0 && c.chosen === strong) this.vector(c.point, c.at, this.forceOf(c), strong ? 11 : this.head, strong ? 2.6 : this.line);
        }
        ctx.fillStyle = theme.color.mode[mode];
        ctx.fill();
      }
    }
  }
  // A force as an arrow in the current path; too short a one is left out: the point is there.
  vector(from, at, force, head, width) {
    const { ctx, stage } = this;
    const size = length(force);
    const most = CUT * this.force;
    const shown = (this.metresPerNewton * Math.min(size, most)) / (size || 1);
    const tip = stage.project(add(from, force, shown));
    if (Math.hypot(tip[0] - at[0], tip[1] - at[1]) < this.radius + 1.5) return;
    dart(ctx, at, tip, head, width);
    if (size > most) dart(ctx, at, stage.project(add(from, force, 0.93 * shown)), head, width);
  }

  // Contact forces of a body summed, from its centre of mass.
  sum(body, state, ctx, stage) {
    const { force } = this.run.contactSum(body, state.snap);
    if (!(length(force) > 1e-9)) return;
    const p = [...state.position.subarray(3 * body, 3 * body + 3)];
    ctx.beginPath();
    this.vector(p, stage.project(p), force, 14, 4);
    ctx.fillStyle = this.theme.color.accent;
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

  gaps(list, texts) {
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
    if (!texts) return;
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

  // Colours of the modes, and the length of an arrow in newtons; right: where it ends [px].
  legend(ctx, stage, look, right) {
    const { theme } = this;
    const items = [];
    if (look.contacts || look.forces) {
      items.push(["stick", theme.color.stick], ["slip", theme.color.slip]);
      if (this.crowd <= FEW && look.contacts) items.push(["open", theme.color.open]);
    }
    ctx.font = `12.5px ${theme.sans}`;
    const px = this.metresPerNewton * stage.pixels(stage.aim());
    const newtons = niceStep(46 / px);
    const scale = look.forces ? newtons * px : 0;
    const text = forceText(newtons);
    let wide = 0;
    for (const [word] of items) wide += 30 + ctx.measureText(word).width;
    if (look.forces) wide += scale + 24 + ctx.measureText(text).width;
    if (wide === 0) return;
    let x = right - wide - 4;
    ctx.fillStyle = withAlpha(theme.color.stage, 0.85);
    ctx.beginPath();
    ctx.roundRect(x - 10, 12, wide + 14, 25, 8);
    ctx.fill();
    ctx.textAlign = "left";
    for (const [word, color] of items) {
      ctx.beginPath();
      ctx.arc(x + 5, 24.5, 5, 0, 2 * Math.PI);
      ctx.fillStyle = color;
      ctx.fill();
      ctx.fillStyle = theme.color.soft;
      ctx.fillText(word, x + 15, 29);
      x += 30 + ctx.measureText(word).width;
    }
    if (!look.forces) return;
    ctx.beginPath();
    arrow(ctx, [x, 24.5], [x + scale, 24.5], 9);
    ctx.strokeStyle = ctx.fillStyle = theme.color.ink;
    ctx.lineWidth = 2;
    ctx.stroke();
    ctx.fill();
    ctx.fillStyle = theme.color.soft;
    ctx.fillText(text, x + scale + 8, 29);
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
