// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Measuring: two points give a distance, three an angle at the second. Points stay on the bodies they were put on.
import { add, length } from "./contacts.js";
import { rotateBack, toWorld } from "./data.js";
import { lengthText } from "./planar.js";
import { withAlpha } from "./theme.js";

export class Measure {
  constructor(theme) {
    this.theme = theme;
    this.points = []; // {body, at}: body -1 has its place in the world
  }
  clear() {
    this.points.length = 0;
  }
  // A fourth point begins anew.
  put(body, world, state) {
    if (this.points.length === 3) this.clear();
    if (body < 0) this.points.push({ body, at: world });
    else {
      const p = [...state.position.subarray(3 * body, 3 * body + 3)];
      this.points.push({ body, at: rotateBack(state.rotation, 4 * body, add(world, p, -1)) });
    }
  }
  places(state) {
    return this.points.map(({ body, at }) => (body < 0 ? at : toWorld(state, body, at)));
  }
  // {distance [m], parts: its components, angle [rad]}; null: not enough points.
  result(state) {
    const [p, q, r] = this.places(state);
    if (!q) return null;
    const a = add(p, q, -1);
    if (!r) return { distance: length(a), parts: a.map((v) => -v), angle: null };
    const b = add(r, q, -1);
    const cosine = (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / (length(a) * length(b) || 1);
    return { distance: length(a), parts: a.map((v) => -v), angle: Math.acos(Math.min(1, Math.max(-1, cosine))) };
  }
  text(state) {
    const got = this.result(state);
    if (!got) return "";
    return got.angle === null ? lengthText(got.distance) : `${((got.angle * 180) / Math.PI).toFixed(2)}°`;
  }

  draw(ctx, stage, state) {
    const { color, sans } = this.theme;
    const at = this.places(state).map((p) => stage.project(p));
    if (at.length === 0 || at.some((p) => !p[2])) return;
    ctx.strokeStyle = color.accent;
    ctx.fillStyle = color.accent;
    ctx.lineWidth = 2;
    ctx.beginPath();
    at.forEach((p, k) => (k ? ctx.lineTo(p[0], p[1]) : ctx.moveTo(p[0], p[1])));
    ctx.stroke();
    for (const p of at) {
      ctx.beginPath();
      ctx.arc(p[0], p[1], 3.5, 0, 2 * Math.PI);
      ctx.fill();
    }
    const text = this.text(state);
    if (!text) return;
    const [x, y] = at.length === 3 ? [at[1][0], at[1][1] - 14] : [(at[0][0] + at[1][0]) / 2, (at[0][1] + at[1][1]) / 2 - 10];
    ctx.font = `600 13px ${sans}`;
    ctx.textAlign = "center";
    const wide = ctx.measureText(text).width + 12;
    ctx.fillStyle = withAlpha(color.card, 0.9);
    ctx.beginPath();
    ctx.roundRect(x - wide / 2, y - 14, wide, 20, 5);
    ctx.fill();
    ctx.fillStyle = color.accent;
    ctx.fillText(text, x, y + 1);
  }
}
