// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Strip charts below the stage with a common time axis: energies, residual, contact modes, and a sensor if there are
// any.
import { Chart } from "./charts.js";
import { lower } from "./data.js";
import { escape } from "./panel.js";
import { CPU, withAlpha } from "./theme.js";

const ENERGY = [
  { label: "kinetic", color: (c) => c.accent },
  { label: "potential", color: (c) => c.stick },
  { label: "work", color: (c) => c.joint },
  { label: "dissipated", color: (c) => c.slip },
  { label: "total", color: (c) => c.ink, dash: [4, 3] },
];
// Components of a sensor with so many values.
const COMPONENTS = { 1: ["value"], 2: ["x", "y"], 3: ["x", "y", "z"], 4: ["w", "x", "y", "z"] };
const ROWS = 8; // contacts with a lane each; with more, the share of each mode is shown

export class Strips {
  constructor(host, run, theme, seek, choose) {
    this.run = run;
    this.theme = theme;
    this.seek = seek;
    this.host = host;
    const strip = (title) => {
      const box = document.createElement("section");
      box.className = "strip";
      box.innerHTML = `<h3>${title} <span></span></h3><div class="plot"></div>`;
      host.append(box);
      return box;
    };
    this.energyBox = strip("Energy");
    this.residualBox = strip("Residual");
    this.modesBox = strip("Contact modes");
    this.energy = new Chart(this.energyBox.querySelector(".plot"), theme, ENERGY, { height: 104, seek });
    this.residual = new Chart(this.residualBox.querySelector(".plot"), theme, [{ label: "residual", color: (c) => c.accent }], {
      height: 104,
      log: true,
      limit: run.about.limits[6],
      seek,
    });
    this.lanes = document.createElement("canvas");
    this.lanes.className = "lanes";
    this.lanes.setAttribute("role", "img");
    this.head = document.createElement("div");
    this.head.className = "playhead";
    this.modesBox.querySelector(".plot").append(this.lanes, this.head);
    if (run.sensors.length > 0) this.addSensors(strip("Sensor"), choose);
    const go = (e) => {
      const box = this.lanes.getBoundingClientRect();
      seek(this.timeAt(e.clientX - box.left));
    };
    this.lanes.addEventListener("pointerdown", (e) => {
      this.lanes.setPointerCapture(e.pointerId);
      go(e);
    });
    this.lanes.addEventListener("pointermove", (e) => e.buttons & 1 && go(e));
    theme.onChange(() => this.heads());
    this.heads();
    this.refresh();
  }

  // A list of all sensors in the heading. Choosing one also marks its place on the stage.
  addSensors(box, choose) {
    this.sensorBox = box;
    this.host.classList.add("four");
    this.sensorList = document.createElement("select");
    this.sensorList.setAttribute("aria-label", "Plotted sensor");
    for (const s of this.run.sensors) this.sensorList.add(new Option(s.name));
    box.querySelector("h3").firstChild.replaceWith(this.sensorList);
    this.sensorList.onchange = () => {
      this.plotSensor(this.sensorList.selectedIndex);
      choose(this.sensorList.selectedIndex);
    };
  }
  plotSensor(k) {
    const { run, theme } = this;
    const { size, unit } = run.sensors[k];
    const color = { w: (c) => c.ink, x: (c) => c.axis[0], y: (c) => c.axis[1], z: (c) => c.axis[2], value: (c) => c.accent };
    const series = COMPONENTS[size].map((label) => ({ label, color: color[label] }));
    const plot = this.sensorBox.querySelector(".plot");
    this.sensorList.selectedIndex = k;
    this.sensor?.destroy();
    plot.textContent = "";
    this.sensor = new Chart(plot, theme, series, { height: 104, seek: this.seek });
    this.setSensor();
    const line = (s) => (size > 1 ? `<i style="border-color:${s.color(theme.color)}"></i>${s.label}` : "");
    this.sensorBox.querySelector("span").innerHTML = `[${escape(unit)}] ` + series.map(line).join(" ");
  }

  setSensor() {
    const { run } = this;
    const k = this.sensorList.selectedIndex;
    const n = run.poses.t.rows;
    const values = Array.from({ length: n }, (_, frame) => run.sensor(k, frame));
    const columns = Array.from({ length: run.sensors[k].size }, (_, i) => values.map((v) => v[i]));
    this.sensor.set(Array.from(run.poses.t.data.subarray(0, n)), columns, run.t0, run.t1);
  }

  heads() {
    const line = (color, text) => `<i style="border-color:${color}"></i>${text}`;
    const c = this.theme.color;
    this.energyBox.querySelector("span").innerHTML = "[J] " + ENERGY.map((s) => line(s.color(c), s.label)).join(" ");
    this.residualBox.querySelector("span").innerHTML = "[m/s] worst per frame " + line(c.bad, "limit");
    this.modesBox.querySelector("span").innerHTML = ["open", "stick", "slip"].map((m) => line(c[m], m)).join(" ");
    if (this.sensorBox) this.plotSensor(this.sensorList.selectedIndex);
    this.painted = false;
  }

  // Called initially, and when the data changes (live).
  refresh() {
    const { run } = this;
    const s = run.series;
    const n = s.t.rows;
    const ts = Array.from(s.t.data.subarray(0, n));
    const e = s.energy.data;
    // In the live view, energies before the first step of a sim are unknown.
    let first = 0;
    while (first < n - 1 && Number.isNaN(e[4 * first + 1])) first++;
    const start = e[4 * first + 1] ?? 0;
    const pick = (f) => Array.from({ length: n }, (_, k) => (Number.isNaN(e[4 * k]) ? null : f(4 * k)));
    // Rounding errors of a run at rest are not plotted.
    this.energy.options.least = 1e-10 * e.subarray(0, 4 * n).reduce((most, v) => Math.max(most, Math.abs(v) || 0), 0);
    this.energy.set(
      ts,
      [pick((k) => e[k]), pick((k) => e[k + 1] - start), pick((k) => e[k + 2]), pick((k) => e[k + 3]), pick((k) => e[k] + e[k + 1] - start)],
      run.t0,
      run.t1,
    );
    const floor = 1e-17;
    if (this.sensor) this.setSensor();
    this.residual.set(ts, [Array.from({ length: n }, (_, k) => (k === 0 && n > 1 ? null : Math.max(floor, s.certificate.data[7 * k + 6])))], run.t0, run.t1);
    this.painted = false;
  }

  box() {
    return { left: this.wide ? 8 : Math.min(190, this.lanes.clientWidth * 0.4), right: 8, top: 6, bottom: 20 };
  }
  timeAt(x) {
    const b = this.box();
    const f = (x - b.left) / Math.max(1, this.lanes.clientWidth - b.left - b.right);
    return this.run.t0 + Math.min(1, Math.max(0, f)) * (this.run.t1 - this.run.t0);
  }

  // The lanes, drawn once per size and theme.
  paint() {
    const { run, theme } = this;
    const w = this.lanes.clientWidth;
    const h = this.lanes.clientHeight;
    const ratio = window.devicePixelRatio || 1;
    this.lanes.width = Math.round(w * ratio);
    this.lanes.height = Math.round(h * ratio);
    this.wide = run.tracks > ROWS;
    const ctx = this.lanes.getContext("2d", CPU);
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
    this.lanes.setAttribute("aria-label", `modes of ${run.tracks} contact points over time`);
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
    if (this.host.hidden) return;
    this.energy.at(t);
    this.residual.at(t);
    this.sensor?.at(t);
    if (!this.painted) this.paint();
    const b = this.box();
    const f = (t - this.run.t0) / (this.run.t1 - this.run.t0 || 1);
    const x = b.left + f * (this.lanes.clientWidth - b.left - b.right);
    this.head.style.transform = `translateX(${Math.round(2 * x) / 2}px)`;
  }
  resize() {
    this.energy.resize();
    this.residual.resize();
    this.sensor?.resize();
    this.painted = false;
  }
}
