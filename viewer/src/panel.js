// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The panel: values of the selected object, and a plot of one of them over time.
import { Chart } from "./charts.js";
import { lower, MODES } from "./data.js";

export function show(x) {
  if (!Number.isFinite(x)) return "–";
  const a = Math.abs(x);
  if (a !== 0 && (a >= 1e6 || a < 1e-4)) return x.toExponential(3);
  return x.toFixed(a >= 1000 ? 2 : a >= 10 ? 4 : 5);
}
// Four digits, for tables with many columns.
function short(x) {
  if (!Number.isFinite(x)) return "–";
  if (x !== 0 && Math.abs(x) < 1e-3) return x.toExponential(1);
  return String(+x.toPrecision(4));
}
const vector = (v, axes) => v.slice(0, axes).map(show).join("  ");
const norm = (v) => Math.hypot(...v);

export function escape(text) {
  return text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
}

const CLOSE = '<button class="icon" data-close aria-label="Close the panel" title="Close (Esc)"><svg viewBox="0 0 16 16"><path d="M3.5 3.5l9 9M12.5 3.5l-9 9"/></svg></button>';
const AXES = [
  { label: "x", color: (c) => c.axis[0] },
  { label: "y", color: (c) => c.axis[1] },
  { label: "z", color: (c) => c.axis[2] },
];
const one = (label) => [{ label, color: (c) => c.accent }];

/** @typedef {{label: string, color: (c: any) => string}} Series */
/** @typedef {[name: string, unit: string, series: Series[], values: (k: number) => number[]]} Curve */

export class Panel {
  constructor(host, app) {
    this.host = host;
    this.app = app;
    this.run = app.run;
  }

  open(kind, index) {
    this.kind = kind;
    this.index = index;
    this.choice = 0;
    this.build();
  }
  // All joints and inputs; a click on a joint shows it alone.
  openList() {
    if (this.kind === "list" || this.run.joints.length + this.run.inputs.length === 0) {
      this.app.select(null);
      return;
    }
    this.app.select(null);
    this.kind = "list";
    this.host.hidden = false;
    this.host.innerHTML = `
      <header><h2>Joints and inputs<span class="kind">at the time of the slider</span></h2>${CLOSE}</header>
      <table class="list"><thead><tr><th>joint</th><th>coordinate</th><th>rate [1/s]</th><th>drive</th></tr></thead><tbody></tbody></table>
      <table class="list inputs"><thead><tr><th>input</th><th>value</th></tr></thead><tbody></tbody></table>`;
    this.host.querySelector("[data-close]").addEventListener("click", () => this.app.select(null));
    const [joints, inputs] = this.host.querySelectorAll("table");
    joints.hidden = this.run.joints.length === 0;
    inputs.hidden = this.run.inputs.length === 0;
    const row = (table, name, cells, act) => {
      const tr = table.querySelector("tbody").insertRow();
      tr.insertCell().textContent = name;
      for (let k = 0; k < cells; k++) tr.insertCell().className = "num";
      if (act) tr.addEventListener("click", act);
    };
    this.run.joints.forEach((joint, k) => row(joints, joint.name, 3, () => this.app.select({ joint: k })));
    this.run.inputs.forEach((input) => row(inputs, input.name, 1));
    this.update(this.app.state);
  }
  updateList(state) {
    const [joints, inputs] = this.host.querySelectorAll("table");
    [...joints.tBodies[0].rows].forEach((tr, k) => {
      const j = this.run.joint(k, state.frame);
      const unit = this.run.jointUnit(k);
      const still = /weld|spherical|gear|coupling/.test(this.run.joints[k].kind);
      tr.cells[1].textContent = still ? "–" : `${short(j.coordinate)} ${unit}`;
      tr.cells[2].textContent = still ? "–" : short(j.rate);
      tr.cells[3].textContent = `${short(j.drive)} ${unit === "m" ? "N" : "N\u202fm"}`;
    });
    [...inputs.tBodies[0].rows].forEach((tr, k) => (tr.cells[1].textContent = show(this.run.input(k, state.frame))));
  }
  close() {
    this.kind = null;
    this.host.hidden = true;
    this.chart?.destroy();
    this.chart = null;
  }

  // Title, subtitle, and the quantities that can be plotted.
  /** @returns {{title: string, what: string, curves: Curve[], clock: any}} */
  describe() {
    const { run, kind, index } = this;
    if (kind === "body") {
      const body = run.bodies[index];
      const { axes, spatial } = run;
      return {
        title: body.name,
        what: `${body.drive === "free" ? "" : body.drive + " "}${body.kind}`,
        curves: body.row < 0 ? [] : [
          ["Position", "m", AXES.slice(0, axes), (k) => run.position(index, k).slice(0, axes)],
          ["Velocity", "m/s", AXES.slice(0, axes), (k) => run.velocity(index, k).v.slice(0, axes)],
          ["Speed", "m/s", one("speed"), (k) => [norm(run.velocity(index, k).v)]],
          ...(spatial ? [] : [/** @type {Curve} */ (["Angle", "rad", one("angle"), (k) => [run.poses.rotation.data[k * run.poses.rotation.width + body.row]]])]),
          ["Spin", "rad/s", spatial ? AXES : one("spin"), (k) => { const { w } = run.velocity(index, k); return spatial ? (w ?? [null, null, null]) : [w[2]]; }],
          ["Kinetic energy", "J", one("energy"), (k) => [this.kinetic(index, k)]],
          ["Contact force, sum", "N", AXES.slice(0, axes), (k) => run.contactSum(index, lower(run.snaps.t, run.poses.t.data[k])).force.slice(0, axes)],
        ],
        clock: run.poses.t,
      };
    }
    if (kind === "joint") {
      const joint = run.joints[index];
      const turning = /revolute|universal|angle|screw|plane/.test(joint.kind);
      return {
        title: joint.name,
        what: `${joint.kind} joint · ${run.bodies[joint.a].name} – ${run.bodies[joint.b].name}`,
        curves: [
          ["Reaction force", "N", AXES.slice(0, run.axes), (k) => run.joint(index, k).force.slice(0, run.axes)],
          ["Coordinate", turning ? "rad" : "m", one("coordinate"), (k) => [run.joint(index, k).coordinate]],
          ["Rate", turning ? "rad/s" : "m/s", one("rate"), (k) => [run.joint(index, k).rate]],
          ["Error", "m", one("error"), (k) => [run.joint(index, k).error]],
        ],
        clock: run.poses.t,
      };
    }
    const s = run.trackShapes.data;
    const name = (k) => `${run.bodies[run.shapes[k].body].name}`;
    const force = (c, k) => c / (run.snaps.h.data[k] || 1);
    const of = (f) => (k) => {
      const row = run.rowOfTrack(k, index);
      return row < 0 ? null : f(run.contact(row), k);
    };
    const series = [{ label: "normal", color: (c) => c.accent }, { label: "friction", color: (c) => c.slip }];
    return {
      title: run.trackName(index),
      what: `contact · ${name(s[2 * index])} – ${name(s[2 * index + 1])}`,
      curves: [
        ["Force", "N", series, of((c, k) => [force(c.pn, k), force(norm(c.friction), k)])],
        ["Gap", "m", one("gap"), of((c) => [c.gap])],
        ["Slip speed", "m/s", one("slip"), of((c) => [Math.abs(c.slip)])],
        ["Cone used", "–", one("use"), of((c) => [c.mu * c.pn > 0 ? norm(c.friction) / (c.mu * c.pn) : null])],
      ],
      clock: run.snaps.t,
    };
  }

  // Kinetic energy; for a spatial body, the angular velocity is rotated into body axes.
  kinetic(body, frame) {
    const { run } = this;
    const b = run.bodies[body];
    const { v, w } = run.velocity(body, frame);
    let e = 0.5 * b.mass * (v[0] ** 2 + v[1] ** 2 + v[2] ** 2);
    if (!run.spatial) return e + 0.5 * (b.inertia[0] || 0) * w[2] ** 2;
    if (!w) return null;
    const r = run.poses.rotation;
    const at = frame * r.width + 4 * b.row;
    const [qw, qx, qy, qz] = r.data.subarray(at, at + 4);
    const t = [2 * (-qy * w[2] + qz * w[1]), 2 * (-qz * w[0] + qx * w[2]), 2 * (-qx * w[1] + qy * w[0])];
    const l = [
      w[0] + qw * t[0] + -qy * t[2] + qz * t[1],
      w[1] + qw * t[1] + -qz * t[0] + qx * t[2],
      w[2] + qw * t[2] + -qx * t[1] + qy * t[0],
    ];
    const [xx, yy, zz, xy, xz, yz] = b.inertia;
    e += 0.5 * (xx * l[0] ** 2 + yy * l[1] ** 2 + zz * l[2] ** 2) + xy * l[0] * l[1] + xz * l[0] * l[2] + yz * l[1] * l[2];
    return e;
  }

  build() {
    const d = (this.about = this.describe());
    this.chart?.destroy();
    this.chart = null;
    this.host.hidden = false;
    const options = d.curves.map((c, k) => `<option value="${k}"${k === this.choice ? " selected" : ""}>${c[0]} [${c[1]}]</option>`).join("");
    const follow = this.kind === "body" && this.run.bodies[this.index].row >= 0;
    this.host.innerHTML = `
      <header><h2>${escape(d.title)}<span class="kind">${escape(d.what)}</span></h2>
        ${CLOSE}</header>
      <table><tbody></tbody></table>
      ${d.curves.length ? `<div class="row"><select aria-label="Plotted quantity">${options}</select>
        ${follow ? `<button data-follow aria-pressed="${this.app.look.follow === this.index}" title="Keep centred (F)">Follow</button>` : ""}<button data-frame title="Zoom to it (Z)">Frame</button></div>
      <div class="row legend-row"></div><div class="chart"></div>` : ""}`;
    this.host.querySelector("[data-close]").onclick = () => this.app.select(null);
    const frameButton = this.host.querySelector("[data-frame]");
    if (frameButton) frameButton.onclick = () => this.app.frame();
    const followButton = this.host.querySelector("[data-follow]");
    if (followButton) followButton.onclick = () => this.app.toggleFollow();
    const select = this.host.querySelector("select");
    if (select) {
      select.onchange = () => {
        this.choice = +select.value;
        this.plot();
      };
      this.plot();
    }
    this.update(this.app.state);
  }

  plot() {
    const { run, about } = this;
    const [, unit, series, values] = about.curves[this.choice];
    const n = about.clock.rows;
    const stride = Math.max(1, Math.floor(n / 20000));
    const ts = [];
    const columns = series.map(() => []);
    for (let k = 0; k < n; k += stride) {
      const v = values(k);
      ts.push(about.clock.data[k]);
      columns.forEach((c, i) => c.push(v && Number.isFinite(v[i]) ? v[i] : null));
    }
    const host = this.host.querySelector(".chart");
    this.chart?.destroy();
    host.textContent = "";
    const c = this.app.theme.color;
    this.host.querySelector(".legend-row").innerHTML = series.length > 1
      ? series.map((s) => `<span style="color:${s.color(c)}">━ <span style="color:var(--soft)">${s.label} [${unit}]</span></span>`).join("")
      : "";
    this.chart = new Chart(host, this.app.theme, series, { height: 150, seek: (t) => this.app.seek(t) });
    this.chart.set(ts, columns, run.t0, run.t1);
    this.chart.at(this.app.player.t);
  }

  rows(state) {
    const { run, kind, index } = this;
    const a = run.axes;
    if (kind === "body") {
      const body = run.bodies[index];
      const p = [...state.position.subarray(3 * index, 3 * index + 3)];
      const { v, w } = run.velocity(index, state.frame);
      const q = [...state.rotation.subarray(4 * index, 4 * index + 4)];
      return [
        ["position", vector(p, a), "m", "position"],
        run.spatial ? ["quaternion", vector(q, 4), ""] : ["angle", show(state.angle[index]), "rad"],
        ["velocity", vector(v, a), "m/s"],
        ["spin", run.spatial ? (w ? vector(w, 3) : "–") : show(w[2]), "rad/s"],
        ...(body.row >= 0 && body.mass > 0 ? [
          ["kinetic energy", show(this.kinetic(index, state.frame) ?? NaN), "J"],
          ["mass", show(body.mass), "kg"],
          ["inertia", run.spatial ? body.inertia.slice(0, 3).map(show).join("  ") : show(body.inertia[0]), "kg m²"],
        ] : []),
        ...this.contactRows(index, state),
        ["friction μ", [...new Set(run.shapes.filter((s) => s.body === index).map((s) => show(s.mu)))].join(", ") || "–", ""],
      ];
    }
    if (kind === "joint") {
      const j = run.joint(index, state.frame);
      return [
        ["coordinate", show(j.coordinate), ""],
        ["rate", show(j.rate), ""],
        ["error", show(j.error), "m, rad"],
        ["reaction", vector(j.force, a), "N"],
        ["|reaction|", show(norm(j.force)), "N"],
        ["moment", run.spatial ? vector(j.torque, 3) : show(j.torque[2]), "N m"],
        ["drive", show(j.drive), "N, N m"],
        ["limit", show(j.limit), "N, N m"],
      ];
    }
    const row = run.rowOfTrack(state.snap, index);
    if (row < 0) return [["mode", "no contact at this time", ""], ["friction μ", show(run.trackMu.data[index]), ""]];
    const c = run.contact(row);
    const h = run.snaps.h.data[state.snap] || 1;
    const f = norm(c.friction);
    return [
      ["mode", `<span class="pill ${MODES[c.mode]}">${MODES[c.mode]}</span>`, "", "mode"],
      ["gap", show(c.gap), "m"],
      ["normal force", show(c.pn / h), "N"],
      ["friction", show(f / h), "N"],
      ["cone used", c.mu * c.pn > 0 ? show((100 * f) / (c.mu * c.pn)) : "–", "%"],
      ["friction μ", show(c.mu), ""],
      ["normal impulse", show(c.pn), "N s"],
      ["slip", show(Math.abs(c.slip)), "m/s"],
      ["normal rate", show(c.rate), "m/s"],
      ["point", vector(c.point, a), "m"],
      ["normal", vector(c.normal, a), ""],
    ];
  }

  // The contact forces on a body, summed.
  contactRows(index, state) {
    const { run } = this;
    const { force, count } = run.contactSum(index, state.snap);
    if (count === 0) return [["contacts", "0", ""]];
    return [
      ["contacts", String(count), ""],
      ["contact force", vector(force.map((f) => (Math.abs(f) > 1e-9 * norm(force) ? f : 0)), run.axes), "N", "contact-force"],
    ];
  }

  update(state) {
    if (!this.kind) return;
    if (this.kind === "list") {
      this.updateList(state);
      return;
    }
    const body = this.host.querySelector("tbody");
    body.innerHTML = this.rows(state)
      .map(([name, value, unit, id]) => `<tr><th scope="row">${name}</th><td class="num"${id ? ` data-id="${id}"` : ""}>${value}${unit ? `<small>${unit}</small>` : ""}</td></tr>`)
      .join("");
    this.chart?.at(state.t);
    const button = this.host.querySelector("[data-follow]");
    if (button) button.setAttribute("aria-pressed", String(this.app.look.follow === this.index));
  }
}
