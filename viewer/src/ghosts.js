// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Other runs in the same view: outlines of their bodies where they differ, and since when they do.
import { bodyReach, endless, hullOf, outline } from "./bounds.js";
import { toWorld } from "./data.js";
import { niceStep } from "./planar.js";
import { withAlpha } from "./theme.js";

const SAMPLES = 2000; // of the distance between two runs
const SEEN = 0.6; // outlines nearer than so many pixels are not drawn

// How far a body is from the same body of another run: of its centre and by its turn at its reach [m].
function distance(state, body, other, twin, reach) {
  let place = 0;
  let dot = 0;
  for (let i = 0; i < 3; i++) place += (state.position[3 * body + i] - other.position[3 * twin + i]) ** 2;
  for (let i = 0; i < 4; i++) dot += state.rotation[4 * body + i] * other.rotation[4 * twin + i];
  return Math.sqrt(place) + reach * 2 * Math.acos(Math.min(1, Math.abs(dot)));
}

class Ghost {
  constructor(run, other, reach) {
    this.run = other;
    this.state = other.makeState();
    const names = new Map(run.bodies.map((b, k) => [b.name, k]));
    // Bodies of both runs that move: [in the first run, in this one].
    this.pairs = other.bodyOfRow.map((twin) => [names.get(other.bodies[twin].name) ?? -1, twin]).filter(([body]) => body >= 0 && run.bodies[body].row >= 0);
    this.alone = other.bodyOfRow.filter((twin) => !this.pairs.some(([, b]) => b === twin));
    this.hulls = other.bodies.map(() => []);
    for (const shape of other.drawn) {
      if (!endless(shape) && other.bodies[shape.body].row >= 0) this.hulls[shape.body].push(hullOf(other, shape));
    }
    this.reach = reach;
  }
  // The largest distance of a body at times of the first run, and the first time at which it exceeds `tolerance`.
  measure(run, tolerance) {
    const state = run.makeState();
    const n = run.poses.t.rows;
    const stride = Math.max(1, Math.ceil(n / SAMPLES));
    this.ts = [];
    this.distances = [];
    this.onset = null;
    const end = Math.min(run.t1, this.run.t1);
    for (let k = 0; k < n && run.poses.t.data[k] <= end; k += stride) {
      const t = run.poses.t.data[k];
      run.stateAt(t, state);
      this.run.stateAt(t, this.state);
      let most = 0;
      for (const [body, twin] of this.pairs) most = Math.max(most, distance(state, body, this.state, twin, this.reach[body]));
      this.ts.push(t);
      this.distances.push(most);
      if (this.onset === null && most > tolerance) this.onset = t;
    }
  }
}

// Names without the folders that all of them begin with.
export function shortened(names) {
  const [first] = names;
  let common = 0;
  for (let at = first.indexOf("/"); at >= 0 && names.every((name) => name.startsWith(first.slice(0, at + 1))); at = first.indexOf("/", at + 1)) common = at + 1;
  return names.map((name) => name.slice(common) || name);
}

export class Ghosts {
  constructor(run, others, theme, size) {
    this.theme = theme;
    this.reach = bodyReach(run);
    this.tolerance = niceStep(1e-3 * size); // [m]
    this.list = others.filter((other) => other.spatial === run.spatial).map((other) => new Ghost(run, other, this.reach));
    for (const ghost of this.list) ghost.measure(run, this.tolerance);
    // Of the run itself, then of the others.
    this.names = shortened([run, ...this.list.map((ghost) => ghost.run)].map(({ about }, k) => about.remark || about.name || `run ${k + 1}`));
  }
  color(k) {
    const set = this.theme.color.ghost;
    return set[k % set.length];
  }
  label(k) {
    return this.names[k + 1];
  }
  // The first time at which a run differs; NaN: none does.
  get onset() {
    const all = this.list.map((ghost) => ghost.onset).filter((t) => t !== null);
    return all.length > 0 ? Math.min(...all) : NaN;
  }

  draw(ctx, stage, state) {
    this.list.forEach((ghost, k) => {
      ghost.run.stateAt(state.t, ghost.state);
      const path = new Path2D();
      for (const [body, twin] of ghost.pairs) {
        const p = [...ghost.state.position.subarray(3 * twin, 3 * twin + 3)];
        if (distance(state, body, ghost.state, twin, this.reach[body]) * stage.pixels(p) > SEEN) this.trace(ghost, twin, stage, path);
      }
      for (const twin of ghost.alone) this.trace(ghost, twin, stage, path);
      ctx.fillStyle = withAlpha(this.color(k), 0.13);
      ctx.fill(path);
      ctx.strokeStyle = this.color(k);
      ctx.lineWidth = ghost.pairs.length > 60 ? 1 : 1.6;
      ctx.setLineDash([5, 3]);
      ctx.stroke(path);
      ctx.setLineDash([]);
    });
  }
  trace(ghost, body, stage, path) {
    for (const hull of ghost.hulls[body]) {
      const points = [];
      for (const p of hull) {
        const at = toWorld(ghost.state, body, p);
        const [x, y, front] = stage.project(at);
        if (!front) return;
        const r = p[3] * stage.pixels(at);
        if (!(r > 0.5)) points.push([x, y]);
        else for (let k = 0; k < 16; k++) points.push([x + r * Math.cos((k * Math.PI) / 8), y + r * Math.sin((k * Math.PI) / 8)]);
      }
      if (points.length < 2) continue;
      outline(points).forEach((p, k) => (k ? path.lineTo(p[0], p[1]) : path.moveTo(p[0], p[1])));
      path.closePath();
    }
  }

  // Names of the runs, below the legend of the contacts.
  legend(ctx, right, top) {
    const { theme } = this;
    ctx.font = `12.5px ${theme.sans}`;
    const rows = [[this.names[0], theme.color.ink], ...this.list.map((_, k) => [this.label(k), this.color(k)])];
    const wide = Math.min(320, Math.max(...rows.map(([name]) => ctx.measureText(name).width)) + 34);
    ctx.fillStyle = withAlpha(theme.color.stage, 0.85);
    ctx.beginPath();
    ctx.roundRect(right - wide, top, wide, 19 * rows.length + 8, 8);
    ctx.fill();
    ctx.textAlign = "left";
    rows.forEach(([name, color], k) => {
      const y = top + 18 + 19 * k;
      ctx.strokeStyle = color;
      ctx.lineWidth = 2;
      ctx.setLineDash(k > 0 ? [4, 2] : []);
      ctx.beginPath();
      ctx.moveTo(right - wide + 9, y - 4);
      ctx.lineTo(right - wide + 25, y - 4);
      ctx.stroke();
      ctx.setLineDash([]);
      ctx.fillStyle = theme.color.soft;
      ctx.fillText(name, right - wide + 31, y, 280);
    });
  }
}
