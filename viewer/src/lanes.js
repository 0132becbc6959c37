// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contact modes over time: a lane for each contact, or the share of each mode if there are many. The same interface as
// that of a chart.
import { lower } from "./data.js";
import { CPU, withAlpha } from "./theme.js";

const ROWS = 8; // contacts with a lane each

export class Lanes {
  constructor(host, run, theme, seek) {
    this.run = run;
    this.theme = theme;
    this.canvas = document.createElement("canvas");
    this.canvas.className = "lanes";
    this.canvas.setAttribute("role", "img");
    this.head = document.createElement("div");
    this.head.className = "playhead";
    host.append(this.canvas, this.head);
    this.painted = false;
    const go = (e) => {
      const box = this.canvas.getBoundingClientRect();
      seek(this.timeAt(e.clientX - box.left));
    };
    this.canvas.addEventListener("pointerdown", (e) => {
      this.canvas.setPointerCapture(e.pointerId);
      go(e);
    });
    this.canvas.addEventListener("pointermove", (e) => e.buttons & 1 && go(e));
    theme.onChange(() => (this.painted = false));
  }

  box() {
    return { left: this.wide ? 8 : Math.min(190, this.canvas.clientWidth * 0.4), right: 8, top: 6, bottom: 20 };
  }
  timeAt(x) {
    const b = this.box();
    const f = (x - b.left) / Math.max(1, this.canvas.clientWidth - b.left - b.right);
    return this.run.t0 + Math.min(1, Math.max(0, f)) * (this.run.t1 - this.run.t0);
  }

  // Drawn once per size and theme.
  paint() {
    const { run, theme } = this;
    const w = this.canvas.clientWidth;
    const h = this.canvas.clientHeight;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(w * ratio);
    this.canvas.height = Math.round(h * ratio);
    this.wide = run.tracks > ROWS;
    const ctx = this.canvas.getContext("2d", CPU);
    ctx.scale(ratio, ratio);
    const b = this.box();
    const span = Math.max(1, w - b.left - b.right);
    const cells = Math.max(1, Math.floor(span));
    if (this.wide) this.shares(ctx, b, cells, h);
    else this.rows(ctx, b, cells, h);
    ctx.fillStyle = theme.color.soft;
    ctx.font = `11px ${theme.sans}`;
    ctx.textAlign = "left";
    ctx.fillText(`${+run.t0.toPrecision(4)} s`, b.left, h - 5);
    ctx.textAlign = "right";
    ctx.fillText(`${+run.t1.toPrecision(4)} s`, w - b.right, h - 5);
    if (run.tracks === 0) {
      ctx.textAlign = "center";
      ctx.fillText("no contacts in this run", w / 2, h / 2);
    }
    this.painted = true;
    this.canvas.setAttribute("aria-label", `modes of ${run.tracks} contact points over time`);
  }
  snapOf(cell, cells) {
    const t = this.run.t0 + ((cell + 0.5) / cells) * (this.run.t1 - this.run.t0);
    return lower(this.run.snaps.t, t);
  }
  rows(ctx, b, cells, h) {
    const { run, theme } = this;
    const n = Math.max(1, run.tracks);
    const pitch = Math.min(20, (h - b.top - b.bottom) / n);
    ctx.font = `11px ${theme.sans}`;
    ctx.textBaseline = "middle";
    for (let track = 0; track < run.tracks; track++) {
      const y = b.top + track * pitch;
      ctx.fillStyle = theme.color.soft;
      ctx.textAlign = "right";
      let name = run.trackName(track);
      while (name.length > 4 && ctx.measureText(name).width > b.left - 12) name = "…" + name.slice(2);
      ctx.fillText(name, b.left - 8, y + pitch / 2);
      ctx.fillStyle = withAlpha(theme.color.line, 0.4);
      ctx.fillRect(b.left, y + pitch * 0.2, cells, Math.max(1, pitch * 0.6));
      for (let cell = 0; cell < cells; cell++) {
        const row = run.rowOfTrack(this.snapOf(cell, cells), track);
        if (row < 0) continue;
        ctx.fillStyle = theme.color.mode[run.snaps.mode.data[row]];
        ctx.fillRect(b.left + cell, y + pitch * 0.2, 1.5, Math.max(1, pitch * 0.6));
      }
    }
    ctx.textBaseline = "alphabetic";
  }
  shares(ctx, b, cells, h) {
    const { run, theme } = this;
    const counts = [];
    let most = 1;
    for (let cell = 0; cell < cells; cell++) {
      const [from, to] = run.contactRange(this.snapOf(cell, cells));
      const n = [0, 0, 0];
      for (let row = from; row < to; row++) n[run.snaps.mode.data[row]]++;
      counts.push(n);
      most = Math.max(most, to - from);
    }
    const tall = h - b.top - b.bottom;
    counts.forEach((n, cell) => {
      let y = h - b.bottom;
      for (const mode of [1, 2, 0]) {
        const part = (n[mode] / most) * tall;
        ctx.fillStyle = theme.color.mode[mode];
        ctx.fillRect(b.left + cell, y - part, 1.5, part);
        y -= part;
      }
    });
    const text = `${most} contacts`;
    ctx.font = `11px ${theme.sans}`;
    ctx.textAlign = "left";
    ctx.fillStyle = withAlpha(theme.color.card, 0.85);
    ctx.fillRect(b.left, b.top, ctx.measureText(text).width + 8, 14);
    ctx.fillStyle = theme.color.ink;
    ctx.fillText(text, b.left + 4, b.top + 11);
  }

  at(t) {
    if (!this.painted) this.paint();
    const b = this.box();
    const f = (t - this.run.t0) / (this.run.t1 - this.run.t0 || 1);
    const x = b.left + f * (this.canvas.clientWidth - b.left - b.right);
    this.head.style.transform = `translateX(${Math.round(2 * x) / 2}px)`;
  }
  refresh() {
    this.painted = false;
  }
  resize() {
    this.painted = false;
  }
  destroy() {
    this.canvas.remove();
    this.head.remove();
  }
}
