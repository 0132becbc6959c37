// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The 2D stage: drawn directly on a canvas, so that outlines are crisp.
import { bounds, endless, patchSize } from "./bounds.js";
import { CPU, shade, withAlpha } from "./theme.js";

// A convex outline rounded by a radius, as a path in the body's frame.
function outlinePath(run, shape) {
  const path = new Path2D();
  const r = shape.radius;
  const points = [];
  for (let k = 0; k < shape.vertices; k++) {
    const at = 3 * (shape.vertex + k);
    points.push([run.outline[at], run.outline[at + 1]]);
  }
  if (points.length === 1) {
    path.arc(points[0][0], points[0][1], r, 0, 2 * Math.PI);
  } else if (r <= 0) {
    points.forEach(([x, y], k) => (k ? path.lineTo(x, y) : path.moveTo(x, y)));
    path.closePath();
  } else {
    const n = points.length;
    for (let k = 0; k < n; k++) {
      const [x, y] = points[k];
      const [px, py] = points[(k + n - 1) % n];
      const [qx, qy] = points[(k + 1) % n];
      const into = Math.atan2(-(x - px), y - py) + Math.PI;
      const away = Math.atan2(-(qx - x), qy - y) + Math.PI;
      path.arc(x, y, r, into - Math.PI, away - Math.PI);
    }
    path.closePath();
  }
  return path;
}

export function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  const f = rough / power;
  return (f < 1.5 ? 1 : f < 3.5 ? 2 : f < 7.5 ? 5 : 10) * power;
}

export function lengthText(metres) {
  if (metres >= 1000) return `${+(metres / 1000).toPrecision(3)} km`;
  if (metres >= 1) return `${+metres.toPrecision(3)} m`;
  if (metres >= 0.01) return `${+(metres * 100).toPrecision(3)} cm`;
  if (metres >= 1e-3) return `${+(metres * 1e3).toPrecision(3)} mm`;
  return `${+(metres * 1e6).toPrecision(3)} µm`;
}

export class PlanarStage {
  constructor(host, run, theme, hooks) {
    this.run = run;
    this.theme = theme;
    this.hooks = hooks;
    this.canvas = document.createElement("canvas");
    this.canvas.className = "main";
    host.prepend(this.canvas);
    this.ctx = this.canvas.getContext("2d", CPU);
    this.all = run.solids.filter((s) => !endless(s)).map((s) => ({ shape: s, visual: run.visuals.includes(s), path: outlinePath(run, s) }));
    this.choose(false);
    this.planes = run.drawn.filter(endless);
    this.planes.sort((a, b) => run.bodies[b.body].row - run.bodies[a.body].row);
    this.view = { x: 0, y: 0, scale: 100 };
    this.tools = 190; // width of the display options [px]
    this.below = false;
    this.box = bounds(run);
    this.size = this.box.size;
    this.resize();
    this.fit();
    this.pointers();
  }

  resize() {
    const ratio = this.theme.ratio(3);
    const { clientWidth: w, clientHeight: h } = this.canvas.parentElement;
    const old = this.height ? { w: this.width, h: this.height } : null;
    this.width = Math.max(1, w);
    this.height = Math.max(1, h);
    this.ratio = ratio;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    if (old && this.fitted) this.fit();
  }

  // Leaves room for the tools and the scale bar.
  fit() {
    const { low, high } = this.box;
    const left = Math.min(this.tools, this.width * 0.2);
    const w = Math.max(50, this.width - left - 60);
    const h = Math.max(50, this.height - 110);
    const scale = Math.min(w / Math.max(high[0] - low[0], 1e-9), h / Math.max(high[1] - low[1], 1e-9));
    this.view.scale = Math.min(Math.max(scale, 1e-6), 1e9);
    this.view.x = (low[0] + high[0]) / 2 - (left - 30) / 2 / this.view.scale;
    this.view.y = (low[1] + high[1]) / 2 - 8 / this.view.scale;
    this.followed = this.box.anchor;
    this.fitted = true;
  }

  project(p) {
    return [
      this.width / 2 + (p[0] - this.view.x) * this.view.scale,
      this.height / 2 - (p[1] - this.view.y) * this.view.scale,
      1,
    ];
  }
  pixels() {
    return this.view.scale;
  }
  // The point looked at.
  aim() {
    return [this.view.x, this.view.y, 0];
  }
  // Of the 3D stage.
  setBelow() {}
  // x and y of the centre [m], zoom: of the scale at which all fits.
  /** @param {number[]} camera */
  view3([x, y, zoom = 1]) {
    this.fit();
    this.view = { x, y, scale: this.view.scale * zoom };
    this.fitted = false;
  }
  // Whether bodies cover a point: never in a plane.
  hidden() {
    return false;
  }
  world(x, y) {
    return [this.view.x + (x - this.width / 2) / this.view.scale, this.view.y - (y - this.height / 2) / this.view.scale, 0];
  }
  // Moves with a point, by as much as it moved since the last call; fresh: and puts it into the centre.
  follow(p, fresh) {
    const from = fresh ? this.aim() : (this.followed ?? p);
    this.view.x += p[0] - from[0];
    this.view.y += p[1] - from[1];
    this.fitted &&= p[0] === from[0] && p[1] === from[1];
    this.followed = [...p];
  }
  // Puts a box into the middle, with room around it.
  frame(low, high) {
    const room = 0.55;
    this.view.scale = Math.min((room * this.width) / Math.max(high[0] - low[0], 0.01 * this.size), (room * this.height) / Math.max(high[1] - low[1], 0.01 * this.size));
    this.view.x = (low[0] + high[0]) / 2;
    this.view.y = (low[1] + high[1]) / 2;
    this.fitted = false;
    this.hooks.changed();
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const before = this.world(x, y);
    this.view.scale = Math.min(1e9, Math.max(1e-6, this.view.scale * factor));
    const after = this.world(x, y);
    this.view.x += before[0] - after[0];
    this.view.y += before[1] - after[1];
    this.fitted = false;
    this.hooks.changed();
  }
  pan(dx, dy) {
    this.view.x -= dx / this.view.scale;
    this.view.y += dy / this.view.scale;
    this.fitted = false;
    this.hooks.changed();
  }

  pointers() {
    const c = this.canvas;
    let down = null;
    const at = (e) => {
      const box = c.getBoundingClientRect();
      return [e.clientX - box.left, e.clientY - box.top];
    };
    c.addEventListener("wheel", (e) => {
      e.preventDefault();
      const [x, y] = at(e);
      this.zoom(Math.exp(-e.deltaY * 0.0015), x, y);
    }, { passive: false });
    // One finger drags or pans, two zoom and pan, a double tap frames what is there.
    const fingers = new Map();
    const pinch = () => {
      const [a, b] = [...fingers.values()];
      return { x: (a[0] + b[0]) / 2, y: (a[1] + b[1]) / 2, d: Math.hypot(a[0] - b[0], a[1] - b[1]) };
    };
    c.addEventListener("pointerdown", (e) => {
      const [x, y] = at(e);
      c.setPointerCapture(e.pointerId);
      fingers.set(e.pointerId, [x, y]);
      if (fingers.size > 1) {
        if (down?.drag) this.hooks.dragEnd();
        down = { x, y, moved: true, drag: false };
      } else down = { x, y, moved: false, drag: this.hooks.dragStart(this.pick(x, y), this.world(x, y)) };
    });
    c.addEventListener("pointermove", (e) => {
      const [x, y] = at(e);
      if (!down || !fingers.has(e.pointerId)) return;
      const [px, py] = fingers.get(e.pointerId);
      if (fingers.size === 2) {
        const before = pinch();
        fingers.set(e.pointerId, [x, y]);
        const now = pinch();
        this.pan(now.x - before.x, now.y - before.y);
        if (before.d > 1) this.zoom(now.d / before.d, now.x, now.y);
        return;
      }
      fingers.set(e.pointerId, [x, y]);
      down.moved ||= Math.hypot(x - down.x, y - down.y) > 4;
      if (down.drag) this.hooks.dragMove(this.world(x, y));
      else if (down.moved) this.pan(x - px, y - py);
    });
    const up = (e) => {
      fingers.delete(e.pointerId);
      if (fingers.size > 0) return;
      if (down?.drag) this.hooks.dragEnd();
      if (down && !down.moved && e.type === "pointerup") this.hooks.click(...at(e));
      down = null;
    };
    c.addEventListener("pointerup", up);
    c.addEventListener("pointercancel", up);
    c.addEventListener("dblclick", (e) => this.hooks.frame?.(...at(e)));
  }

  // Shapes that collide, or what is shown in their place.
  choose(collision) {
    this.solids = this.all.filter(({ shape, visual }) => (collision ? !visual : !shape.hidden));
  }

  // The body under a pixel, topmost first.
  pick(x, y) {
    const [wx, wy] = this.world(x, y);
    const near = 5 / this.view.scale;
    for (let k = this.solids.length - 1; k >= 0; k--) {
      const { shape, path } = this.solids[k];
      const b = shape.body;
      const { position, angle } = this.state;
      const [dx, dy] = [wx - position[3 * b], wy - position[3 * b + 1]];
      const [c, s] = [Math.cos(angle[b]), Math.sin(angle[b])];
      const [lx, ly] = [c * dx + s * dy, -s * dx + c * dy];
      this.ctx.setTransform(1, 0, 0, 1, 0, 0);
      this.ctx.lineWidth = 2 * near;
      if (this.ctx.isPointInPath(path, lx, ly) || this.ctx.isPointInStroke(path, lx, ly)) return b;
    }
    return -1;
  }

  // What a pixel shows: a body, or -1, and the point.
  surface(x, y) {
    return { body: this.pick(x, y), point: this.world(x, y) };
  }

  draw(state, look) {
    this.state = state;
    this.choose(look.collision);
    const { ctx, ratio } = this;
    const colors = this.theme.color;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.fillStyle = colors.stage;
    ctx.fillRect(0, 0, this.width, this.height);
    if (look.grid) this.grid(ctx, colors);
    const fixed = (shape) => this.run.bodies[shape.body].row < 0;
    for (const shape of this.planes) if (fixed(shape)) this.plane(ctx, state, shape, colors);
    for (const solid of this.solids) this.solid(ctx, state, solid, look);
    for (const shape of this.planes) if (!fixed(shape)) this.side(ctx, state, shape);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.scaleBar(ctx, colors);
  }

  grid(ctx, colors) {
    const step = niceStep(80 / this.view.scale);
    const lines = (gap, color, width) => {
      const [x0, y1] = this.world(0, 0);
      const [x1, y0] = this.world(this.width, this.height);
      ctx.beginPath();
      for (let k = Math.ceil(x0 / gap); k * gap <= x1; k++) {
        const x = Math.round(this.project([k * gap, 0])[0]) + 0.5;
        ctx.moveTo(x, 0);
        ctx.lineTo(x, this.height);
      }
      for (let k = Math.ceil(y0 / gap); k * gap <= y1; k++) {
        const y = Math.round(this.project([0, k * gap])[1]) + 0.5;
        ctx.moveTo(0, y);
        ctx.lineTo(this.width, y);
      }
      ctx.strokeStyle = color;
      ctx.lineWidth = width;
      ctx.stroke();
    };
    lines(step / 5, withAlpha(colors.line, 0.35), 1);
    lines(step, withAlpha(colors.line, 0.85), 1);
  }

  transform(ctx, state, body) {
    const { scale, x, y } = this.view;
    const s = scale * this.ratio;
    const [c, n] = [Math.cos(state.angle[body]), Math.sin(state.angle[body])];
    const px = (this.width / 2) * this.ratio + (state.position[3 * body] - x) * s;
    const py = (this.height / 2) * this.ratio - (state.position[3 * body + 1] - y) * s;
    ctx.setTransform(c * s, -n * s, -n * s, -c * s, px, py);
  }

  hatch(color) {
    if (this.hatched?.color !== color) {
      const tile = document.createElement("canvas");
      tile.width = tile.height = 9;
      const t = tile.getContext("2d", CPU);
      t.strokeStyle = color;
      t.lineWidth = 1;
      t.beginPath();
      for (const d of [-9, 0, 9]) {
        t.moveTo(d - 1, 10);
        t.lineTo(d + 10, -1);
      }
      t.stroke();
      this.hatched = { color, tile };
    }
    return this.ctx.createPattern(this.hatched.tile, "repeat");
  }

  // The current half-plane: a point on its line, and its normal.
  lineOf(state, shape) {
    const at = 3 * shape.vertex;
    const o = this.run.outline;
    const b = shape.body;
    const [c, s] = [Math.cos(state.angle[b]), Math.sin(state.angle[b])];
    const p = [state.position[3 * b] + c * o[at] - s * o[at + 1], state.position[3 * b + 1] + s * o[at] + c * o[at + 1]];
    return { p, n: [c * o[at + 3] - s * o[at + 4], s * o[at + 3] + c * o[at + 4]] };
  }

  // A half-plane of a moving body: drawn as a line of the size of the body.
  side(ctx, state, shape) {
    const { p, n } = this.lineOf(state, shape);
    const b = shape.body;
    const half = patchSize(this.run, shape, this.size);
    const center = [state.position[3 * b], state.position[3 * b + 1]];
    const along = (center[0] - p[0]) * -n[1] + (center[1] - p[1]) * n[0];
    const foot = [p[0] - along * n[1], p[1] + along * n[0]];
    const from = this.project([foot[0] - half * n[1], foot[1] + half * n[0]]);
    const to = this.project([foot[0] + half * n[1], foot[1] - half * n[0]]);
    ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    ctx.strokeStyle = shade(this.theme.shape(shape, this.run.bodies[b].drive), this.theme.name === "dark" ? 1.45 : 0.55);
    ctx.lineWidth = 1.2;
    ctx.setLineDash([2, 4]);
    ctx.beginPath();
    ctx.moveTo(from[0], from[1]);
    ctx.lineTo(to[0], to[1]);
    ctx.stroke();
    ctx.setLineDash([]);
  }

  // Solid below a line: hatched near the line, and tinted.
  plane(ctx, state, shape, colors) {
    const { p, n } = this.lineOf(state, shape);
    const [x, y] = this.project(p);
    const far = 2 * (this.width + this.height) + Math.hypot(x, y);
    ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    ctx.save();
    ctx.translate(x, y);
    ctx.rotate(Math.atan2(-n[1], n[0]) + Math.PI / 2);
    ctx.fillStyle = shape.colour ?? (this.theme.name === "dark" ? "#262a32" : "#eeebe3");
    ctx.fillRect(-far, 0, 2 * far, far);
    ctx.fillStyle = this.hatch(this.theme.name === "dark" ? "#454b57" : "#cfcabd");
    ctx.fillRect(-far, 0, 2 * far, 18);
    ctx.fillStyle = colors.ink;
    ctx.fillRect(-far, -0.75, 2 * far, 1.5);
    ctx.restore();
  }

  solid(ctx, state, { shape, path }, look) {
    const body = this.run.bodies[shape.body];
    const color = this.theme.shape(shape, body.drive);
    const chosen = look.body === shape.body;
    const s = this.view.scale;
    this.transform(ctx, state, shape.body);
    if (shape.vertices === 1 && shape.radius * s < 3) {
      const at = 3 * shape.vertex;
      ctx.beginPath();
      ctx.arc(this.run.outline[at], this.run.outline[at + 1], 3.2 / s, 0, 2 * Math.PI);
      ctx.fillStyle = shade(color, 0.62);
      ctx.fill();
      return;
    }
    ctx.fillStyle = color;
    ctx.globalAlpha = this.theme.name === "dark" ? 0.92 : 0.88;
    if (shape.vertices !== 2 || shape.radius > 0) ctx.fill(path);
    ctx.globalAlpha = 1;
    ctx.lineJoin = "round";
    ctx.lineWidth = (chosen ? 3.2 : 1.6) / s;
    ctx.strokeStyle = chosen ? this.theme.color.accent : shade(color, this.theme.name === "dark" ? 1.45 : 0.55);
    if (body.drive === "driven" && !chosen) ctx.setLineDash([6 / s, 3 / s]);
    ctx.stroke(path);
    ctx.setLineDash([]);
    if (shape.vertices === 1) {
      const at = 3 * shape.vertex;
      ctx.beginPath();
      ctx.moveTo(this.run.outline[at], this.run.outline[at + 1]);
      ctx.lineTo(this.run.outline[at] + shape.radius, this.run.outline[at + 1]);
      ctx.lineWidth = 1.2 / s;
      ctx.stroke();
    }
  }

  // Quality control of the 3D stage, not needed here.
  pace() {}
  get remark() {
    return "";
  }

  scaleBar(ctx, colors) {
    drawScale(ctx, colors, this.theme, this.height, this.view.scale);
  }
}

export function drawScale(ctx, colors, theme, height, scale) {
  const length = niceStep(100 / scale);
  const px = length * scale;
  const [x, y] = [18, height - 20];
  ctx.strokeStyle = colors.ink;
  ctx.fillStyle = colors.ink;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  ctx.moveTo(x, y - 5);
  ctx.lineTo(x, y);
  ctx.lineTo(x + px, y);
  ctx.lineTo(x + px, y - 5);
  ctx.stroke();
  ctx.font = `12px ${theme.sans}`;
  ctx.textAlign = "center";
  ctx.fillText(lengthText(length), x + px / 2, y - 5);
}
