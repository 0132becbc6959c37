// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Strip charts below the stage with a common time axis. The list in the heading of each chooses what it shows: energies,
// residual, contact modes, distance to other runs, a sensor, an input, a joint, the speed of a body.
import { Chart } from "./charts.js";
import { Lanes } from "./lanes.js";

const ENERGY = [
  { label: "kinetic", color: (c) => c.accent },
  { label: "potential", color: (c) => c.stick },
  { label: "work", color: (c) => c.joint },
  { label: "dissipated", color: (c) => c.slip },
  { label: "total", color: (c) => c.ink, dash: [4, 3] },
];
// Components of a sensor with so many values.
const COMPONENTS = { 1: ["value"], 2: ["x", "y"], 3: ["x", "y", "z"], 4: ["w", "x", "y", "z"] };
const COLOR = { w: (c) => c.ink, x: (c) => c.axis[0], y: (c) => c.axis[1], z: (c) => c.axis[2], value: (c) => c.accent };
const SPEEDS = 200; // bodies whose speed is offered
const HEIGHT = 104;

/** @typedef {{id: string, name: string, group: string, unit?: string, series?: any[], log?: boolean, limit?: number,
 *   sensor?: number, least?: () => number, data?: () => [number[], (number | null)[][]]}} Kind */

export class Strips {
  constructor(host, run, theme, options) {
    this.run = run;
    this.theme = theme;
    this.host = host;
    this.seek = options.seek;
    this.choose = options.choose; // (sensor, or -1)
    this.ghosts = options.ghosts;
    this.kinds = this.allKinds();
    this.slots = [];
    this.ruler = null;
    const first = ["energy", "residual", "modes"];
    if (this.ghosts) first.push("distance");
    else if (run.sensors.length > 0) first.push("sensor:0");
    this.show(first);
    theme.onChange(() => this.slots.forEach((slot) => this.legend(slot)));
  }

  // ── what can be shown ──
  /** @returns {Kind[]} */
  allKinds() {
    const { run } = this;
    const one = (label) => [{ label, color: (c) => c.accent }];
    /** @type {Kind[]} */
    const out = [
      { id: "energy", name: "Energy", group: "Run", unit: "J", series: ENERGY, data: () => this.energies(), least: () => this.leastEnergy() },
      { id: "residual", name: "Residual", group: "Run", unit: "m/s", series: one("worst per frame"), log: true, limit: run.about.limits[6], data: () => this.residuals() },
      { id: "modes", name: "Contact modes", group: "Run" },
    ];
    if (this.ghosts) out.push({ id: "distance", name: "Distance to other runs", group: "Run", unit: "m", log: true, limit: this.ghosts.tolerance,
      series: this.ghosts.list.map((_, k) => ({ label: this.ghosts.label(k), color: () => this.ghosts.color(k) })), data: () => this.distances() });
    run.sensors.forEach((s, k) => out.push({ id: `sensor:${k}`, name: s.name, group: "Sensors", unit: s.unit, sensor: k,
      series: COMPONENTS[s.size].map((label) => ({ label, color: COLOR[label] })), data: () => this.byFrame(s.size, (frame) => run.sensor(k, frame)) }));
    run.inputs.forEach((input, k) => out.push({ id: `input:${k}`, name: input.name, group: "Inputs", unit: "", series: one("value"), data: () => this.byFrame(1, (frame) => [run.input(k, frame)]) }));
    run.joints.forEach((joint, k) => {
      const unit = run.jointUnit(k);
      out.push({ id: `joint:${k}`, name: joint.name, group: "Joint coordinates", unit, series: one("coordinate"), data: () => this.byFrame(1, (frame) => [run.joint(k, frame).coordinate]) });
    });
    run.joints.forEach((joint, k) => out.push({ id: `reaction:${k}`, name: joint.name, group: "Joint reactions", unit: "N", series: one("force"), data: () => this.byFrame(1, (frame) => [Math.hypot(...run.joint(k, frame).force)]) }));
    run.bodyOfRow.slice(0, SPEEDS).forEach((body) => out.push({ id: `speed:${body}`, name: run.bodies[body].name, group: "Speeds", unit: "m/s", series: one("speed"),
      data: () => this.byFrame(1, (frame) => [Math.hypot(...run.velocity(body, frame).v)]) }));
    return out;
  }
  // By its id, or by its name: "sensor:height".
  find(id) {
    const [kind, ...rest] = id.split(":");
    const name = rest.join(":");
    return this.kinds.find((k) => k.id === id) ?? this.kinds.find((k) => k.name === name && k.id.startsWith(`${kind}:`));
  }

  byFrame(size, values) {
    const { t } = this.run.poses;
    const rows = Array.from({ length: t.rows }, (_, frame) => values(frame));
    return /** @type {[number[], (number | null)[][]]} */ ([Array.from(t.data.subarray(0, t.rows)), Array.from({ length: size }, (_, i) => rows.map((v) => (Number.isFinite(v[i]) ? v[i] : null)))]);
  }
  energies() {
    const s = this.run.series;
    const n = s.t.rows;
    const e = s.energy.data;
    // In the live view, energies before the first step of a sim are unknown.
    let first = 0;
    while (first < n - 1 && Number.isNaN(e[4 * first + 1])) first++;
    const start = e[4 * first + 1] ?? 0;
    const pick = (f) => Array.from({ length: n }, (_, k) => (Number.isNaN(e[4 * k]) ? null : f(4 * k)));
    return /** @type {[number[], (number | null)[][]]} */ ([Array.from(s.t.data.subarray(0, n)),
      [pick((k) => e[k]), pick((k) => e[k + 1] - start), pick((k) => e[k + 2]), pick((k) => e[k + 3]), pick((k) => e[k] + e[k + 1] - start)]]);
  }
  // Rounding errors of a run at rest are not plotted.
  leastEnergy() {
    const { energy, t } = this.run.series;
    return 1e-10 * energy.data.subarray(0, 4 * t.rows).reduce((most, v) => Math.max(most, Math.abs(v) || 0), 0);
  }
  residuals() {
    const s = this.run.series;
    const n = s.t.rows;
    const floor = 1e-17;
    const values = Array.from({ length: n }, (_, k) => (k === 0 && n > 1 ? null : Math.max(floor, s.certificate.data[7 * k + 6])));
    return /** @type {[number[], (number | null)[][]]} */ ([Array.from(s.t.data.subarray(0, n)), [values]]);
  }
  // Each run ends at its own time; before the onset a distance may be 0, which has no logarithm.
  distances() {
    const { list } = this.ghosts;
    const longest = list.reduce((a, b) => (b.ts.length > a.ts.length ? b : a));
    return /** @type {[number[], (number | null)[][]]} */ ([longest.ts, list.map(({ distances }) => longest.ts.map((_, k) => (k < distances.length ? Math.max(1e-12, distances[k]) : null)))]);
  }

  // ── the strips ──
  show(ids) {
    for (const slot of this.slots) slot.view.destroy();
    this.slots = [];
    this.host.textContent = "";
    for (const id of ids.slice(0, 6)) {
      const kind = this.find(id);
      if (kind) this.add(kind);
    }
    this.host.style.setProperty("--strips", String(Math.max(1, this.slots.length)));
  }
  add(kind) {
    const box = document.createElement("section");
    box.className = "strip";
    box.innerHTML = `<h3><select aria-label="Plotted quantity"></select><span></span></h3><div class="plot"></div>`;
    this.host.append(box);
    const slot = { box, list: box.querySelector("select"), plot: /** @type {HTMLElement} */ (box.querySelector(".plot")), kind, view: null };
    const groups = new Map();
    for (const k of this.kinds) {
      if (!groups.has(k.group)) {
        const group = document.createElement("optgroup");
        group.label = k.group;
        groups.set(k.group, group);
        slot.list.append(group);
      }
      groups.get(k.group).append(new Option(k.name, k.id));
    }
    slot.list.onchange = () => {
      this.fill(slot, this.find(slot.list.value));
      if (slot.kind.sensor !== undefined) this.choose(slot.kind.sensor);
    };
    this.slots.push(slot);
    this.fill(slot, kind);
  }
  fill(slot, kind) {
    slot.view?.destroy();
    slot.plot.textContent = "";
    slot.kind = kind;
    slot.list.value = kind.id;
    slot.list.style.width = `${this.wide(kind.name)}px`; // not that of the longest name
    if (kind.id === "modes") slot.view = new Lanes(slot.plot, this.run, this.theme, this.seek);
    else slot.view = new Chart(slot.plot, this.theme, kind.series, { height: HEIGHT, log: kind.log, limit: kind.limit, seek: this.seek });
    this.legend(slot);
    this.load(slot);
  }
  wide(text) {
    this.ruler ??= document.createElement("canvas").getContext("2d");
    this.ruler.font = `600 12px ${this.theme.sans}`;
    return Math.min(190, Math.ceil(this.ruler.measureText(text).width) + 22);
  }
  load({ kind, view }) {
    if (!kind.data) {
      view.refresh();
      return;
    }
    if (kind.least) view.options.least = kind.least();
    const [ts, columns] = kind.data();
    view.set(ts, columns, this.run.t0, this.run.t1);
  }
  // Units and colours; names are those of the scene, and so texts.
  legend({ box, kind }) {
    const c = this.theme.color;
    const span = box.querySelector("span");
    span.textContent = kind.unit ? `[${kind.unit}] ` : "";
    const item = (color, text) => {
      const entry = document.createElement("em");
      const line = document.createElement("i");
      line.style.borderColor = color;
      entry.append(line, text);
      span.append(entry);
    };
    if (kind.id === "modes") for (const mode of ["open", "stick", "slip"]) item(c[mode], mode);
    else if (kind.series[0].label !== "value") for (const s of kind.series) item(s.color(c), s.label);
    if (kind.limit > 0) item(c.bad, kind.id === "residual" ? "limit" : "tolerance");
  }

  // Called when the data changes (live).
  refresh() {
    for (const slot of this.slots) this.load(slot);
  }
  // Shows a sensor in the last strip.
  plotSensor(k) {
    const slot = this.slots.find(({ kind }) => kind.sensor !== undefined) ?? this.slots[this.slots.length - 1];
    if (slot) this.fill(slot, this.find(`sensor:${k}`));
  }
  at(t) {
    if (!this.host.hidden) for (const { view } of this.slots) view.at(t);
  }
  resize() {
    for (const { view } of this.slots) view.resize();
  }
}
