// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Curves over time (uPlot), with a playhead; a click seeks to that time.
import uPlot from "uplot";
import { withAlpha } from "./theme.js";

const MOST = 4000; // points of a curve; longer ones are thinned, keeping extremes

// Minimum and maximum of each interval, so that peaks are kept.
export function thin(xs, columns) {
  if (xs.length <= MOST) return [xs, ...columns];
  const parts = MOST / 2;
  const out = [[], ...columns.map(() => [])];
  for (let p = 0; p < parts; p++) {
    const from = Math.floor((p * xs.length) / parts);
    const to = Math.floor(((p + 1) * xs.length) / parts);
    out[0].push(xs[from], xs[to - 1]);
    columns.forEach((column, c) => {
      let low = Infinity;
      let high = -Infinity;
      for (let k = from; k < to; k++) {
        const v = column[k];
        if (v !== null && v < low) low = v;
        if (v !== null && v > high) high = v;
      }
      const rising = column[from] <= column[to - 1];
      const pair = rising ? [low, high] : [high, low];
      out[c + 1].push(...pair.map((v) => (Number.isFinite(v) ? v : null)));
    });
  }
  return out;
}

function tick(v) {
  if (v === 0) return "0";
  const a = Math.abs(v);
  if (a >= 1e5 || a < 1e-3) return v.toExponential(0).replace("e+", "e");
  return String(+v.toPrecision(4));
}

// At most five powers of ten.
function decades(lo, hi) {
  const [a, b] = [Math.ceil(Math.log10(lo) - 1e-9), Math.floor(Math.log10(hi) + 1e-9)];
  const step = Math.max(1, Math.ceil((b - a) / 4));
  const out = [];
  for (let e = a; e <= b; e += step) out.push(10 ** e);
  return out;
}

export class Chart {
  // series: [{label, color, dash}], options: {height, log, seek, limit}
  constructor(host, theme, series, options) {
    this.host = host;
    this.theme = theme;
    this.series = series;
    this.options = options;
    this.now = 0;
    this.gone = false;
    this.data = [[], ...series.map(() => [])];
    this.make();
    theme.onChange(() => !this.gone && this.host.isConnected && this.make());
  }
  colorOf(s) {
    return typeof s.color === "function" ? s.color(this.theme.color) : s.color;
  }
  make() {
    const c = this.theme.color;
    const font = `11px ${this.theme.sans}`;
    const o = this.options;
    const axis = (size, more) => ({
      stroke: c.soft,
      font,
      grid: { stroke: withAlpha(c.line, 0.6), width: 1 },
      ticks: { stroke: c.line, width: 1, size: 4 },
      size,
      ...more,
    });
    this.plot?.destroy();
    this.plot = new uPlot(
      {
        width: Math.max(80, this.host.clientWidth),
        height: o.height,
        padding: [6, 16, 0, 0],
        legend: { show: false },
        cursor: { points: { show: false }, drag: { x: false, y: false }, y: false },
        scales: { x: { time: false }, y: o.log ? { distr: 3, log: 10, range: (_u, lo, hi) => this.logRange(lo, hi) } : { range: (_u, lo, hi) => this.range(lo, hi) } },
        axes: [
          axis(24, { space: 60, values: (_u, vs) => vs.map(tick) }),
          axis(o.log ? 46 : 50, { space: 17, ...(o.log ? { splits: (_u, _i, lo, hi) => decades(lo, hi), filter: (_u, splits) => splits } : {}), values: (_u, vs) => vs.map((v) => (v === null ? "" : o.log ? this.logTick(v) : tick(v))) }),
        ],
        series: [{}, ...this.series.map((s) => ({ stroke: this.colorOf(s), width: 1.6, dash: s.dash, pxAlign: 0, points: { show: false }, spanGaps: false }))],
        hooks: { draw: [(u) => this.limit(u)], setSize: [() => this.at(this.now)], setScale: [() => this.at(this.now)] },
      },
      this.data,
      this.host,
    );
    const over = this.plot.over;
    this.head = document.createElement("div");
    this.head.className = "playhead";
    over.append(this.head);
    over.style.cursor = "crosshair";
    const seek = (e) => {
      const x = e.clientX - over.getBoundingClientRect().left;
      o.seek?.(this.plot.posToVal(x, "x"));
    };
    over.addEventListener("pointerdown", (e) => {
      over.setPointerCapture(e.pointerId);
      seek(e);
    });
    over.addEventListener("pointermove", (e) => e.buttons & 1 && seek(e));
  }
  logTick(v) {
    const e = Math.log10(v);
    return Math.abs(e - Math.round(e)) < 1e-6 ? `1e${Math.round(e)}` : "";
  }
  /** @returns {[number, number]} */
  logRange(lo, hi) {
    if (!(hi > 0)) return [1e-12, 1];
    const low = 10 ** Math.floor(Math.log10(Math.max(lo, 1e-18)));
    return [low, 10 ** Math.ceil(Math.log10(Math.max(hi, low * 10)) + 1e-9)];
  }
  /** @returns {[number, number]} */
  range(lo, hi) {
    if (lo === null || !Number.isFinite(lo)) return [0, 1];
    const flat = hi - lo < Math.max(1e-12 * Math.max(1, Math.abs(hi)), this.options.least ?? 0);
    const pad = flat ? Math.max(Math.abs(hi) * 0.1, 1e-6) : 0.06 * (hi - lo);
    return [lo - pad, hi + pad];
  }
  limit(u) {
    const ctx = u.ctx;
    const { left, top, width, height } = u.bbox;
    if (!(this.options.limit > 0)) return;
    const y = u.valToPos(this.options.limit, "y", true);
    if (y < top || y > top + height) return;
    ctx.save();
    ctx.strokeStyle = this.theme.color.bad;
    ctx.setLineDash([5, 4]);
    ctx.lineWidth = 1.2;
    ctx.beginPath();
    ctx.moveTo(left, y);
    ctx.lineTo(left + width, y);
    ctx.stroke();
    ctx.restore();
  }
  set(xs, columns, t0, t1) {
    this.data = thin(xs, columns);
    this.plot.setData(this.data, true);
    this.plot.setScale("x", { min: t0, max: t1 > t0 ? t1 : t0 + 1 });
  }
  // The playhead is a separate element, so that curves are not redrawn while playing.
  at(t) {
    this.now = t;
    if (!this.head || !this.plot) return;
    const x = this.plot.valToPos(t, "x");
    this.head.hidden = !(x >= -1 && x <= this.plot.over.clientWidth + 1);
    this.head.style.transform = `translateX(${Math.round(x * 2) / 2}px)`;
  }
  resize() {
    const w = this.host.clientWidth;
    if (w > 0) this.plot.setSize({ width: w, height: this.options.height });
  }
  destroy() {
    this.gone = true;
    this.plot.destroy();
  }
}
