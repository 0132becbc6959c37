// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Live view: frames from the server of this page (cli/live_frame.c). The page requests a frame, gets the newest, and
// requests the next one when it is done; it keeps the frames received, so that they can be replayed.
import { bounds } from "./bounds.js";
import { JOINT_WIDTH, rotateBack } from "./data.js";

const HEAD = 40;
const KEEP = 6000; // frames; beyond that the oldest sixth is dropped

const escape = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

export class Live {
  constructor(app, host) {
    this.app = app;
    this.run = app.run;
    this.host = host;
    this.running = false;
    this.following = true;
    this.generation = 0;
    this.told = 0;
    this.frames = 0;
    host.hidden = false;
    app.host.querySelector("[data-loop]").hidden = true;
    app.host.querySelector("[data-first]").title = "Reset";
    app.host.querySelector("[data-first]").setAttribute("aria-label", "Reset");
    this.clear();
    this.connect();
  }

  connect() {
    const key = new URLSearchParams(location.search).get("k") ?? "";
    this.socket = new WebSocket(`ws://${location.host}/live?k=${encodeURIComponent(key)}`);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => this.socket.send("next");
    this.socket.onmessage = (e) => {
      if (typeof e.data === "string") this.status(JSON.parse(e.data));
      else this.take(e.data);
      if (this.socket.readyState === WebSocket.OPEN) this.socket.send("next");
    };
    this.socket.onclose = () => {
      this.running = false;
      this.closed = true;
      this.app.dirty = true;
      this.app.toast("The simulation has ended; the frames received can still be replayed.");
      for (const e of this.host.querySelectorAll("input, select, button")) e.disabled = true;
    };
  }
  stop() {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send("stop");
  }
  send(command) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(command));
  }

  // ── controls ──
  status(s) {
    if (!s.solvers) return;
    if (!this.built) this.build(s);
    const set = (name, value) => {
      const e = this.host.querySelector(`[name=${name}]`);
      if (e && document.activeElement !== e) e.value = value;
    };
    set("solver", s.solver);
    set("stepper", s.stepper);
    set("law", s.law);
    set("h", s.h);
    if (s.mu >= 0) {
      set("mu", s.mu);
      set("mu-number", s.mu);
    }
    s.inputs.forEach((input, k) => {
      set(`input-${k}`, input.value);
      set(`input-number-${k}`, input.value);
    });
    // Whether it runs is in the frames: this status comes before the frame with the last steps of a run that pauses.
    this.state = s;
    this.app.player.speed = s.speed;
    this.app.host.querySelector(".method").textContent = `${s.stepper} · ${s.solver} · h = ${s.h} s · live`;
    if (s.message) this.app.toast(s.message);
    this.app.dirty = true;
  }
  build(s) {
    this.built = true;
    const options = (list) => list.map((v) => `<option>${v}</option>`).join("");
    const mus = this.run.shapes.map((x) => x.mu);
    const mu = mus.length ? mus[0] : 0.5;
    this.host.innerHTML = `
      <label>friction μ <input type="range" name="mu" min="0" max="1.5" step="0.01" value="${mu}" aria-label="Friction"><input type="number" name="mu-number" min="0" max="100" step="0.05" value="${mu}" aria-label="Friction coefficient"></label>
      <label>step <input type="number" name="h" min="0" max="1" step="any" value="${s.h}"> s</label>
      <label>solver <select name="solver">${options(s.solvers)}</select></label>
      <label>law <select name="law">${options(s.laws)}</select></label>
      <label>method <select name="stepper">${options(s.steppers)}</select></label>
      <button name="save" title="Save the recording since the last change or reset">Save recording</button>
      <button name="stop" title="Stop the simulation and its server">Stop</button>
      <span class="state"></span>
      <div class="inputs">${s.inputs.map((input, k) => this.slider(input, k)).join("")}</div>`;
    const on = (name, event, act) => {
      this.host.querySelector(`[name=${name}]`)["on" + event] = (e) => act(e.target.value);
    };
    const friction = (v) => Number.isFinite(+v) && this.send({ mu: +v });
    on("mu", "change", friction);
    on("mu", "input", (v) => (this.host.querySelector("[name=mu-number]").value = v));
    on("mu-number", "change", friction);
    on("h", "change", (v) => +v > 0 && this.send({ h: +v }));
    on("solver", "change", (solver) => this.send({ solver }));
    on("law", "change", (law) => this.send({ law }));
    on("stepper", "change", (stepper) => this.send({ stepper }));
    s.inputs.forEach((_, k) => {
      const give = (v) => Number.isFinite(+v) && v !== "" && this.send({ input: k, value: +v });
      on(`input-${k}`, "input", (v) => {
        this.host.querySelector(`[name=input-number-${k}]`).value = v;
        give(v);
      });
      on(`input-number-${k}`, "change", give);
      on(`release-${k}`, "click", () => this.send({ input: k }));
    });
    on("save", "click", () => this.send({ save: true }));
    on("stop", "click", () => this.stop());
  }
  // Range, default and unit are those of the scene; without a range, twice the default to either side, at least 1.
  slider(input, k) {
    const wide = Math.max(1, 2 * Math.abs(input.default));
    const low = input.lower ?? input.default - wide;
    const high = input.upper ?? input.default + wide;
    const name = escape(input.name);
    const unit = input.unit ? ` ${escape(input.unit)}` : "";
    const about = `default ${input.default}${unit}, range ${input.lower ?? "−∞"} to ${input.upper ?? "∞"}${unit}`;
    return `<label title="${about}">${name} <input type="range" name="input-${k}" min="${low}" max="${high}" step="${(high - low) / 200 || "any"}" value="${input.value}" aria-label="${name}"><input type="number" name="input-number-${k}" min="${input.lower ?? ""}" max="${input.upper ?? ""}" step="any" value="${input.value}" aria-label="Value of ${name}">${unit}</label><button name="release-${k}" title="Follow the scene again: ${about}">↺</button>`;
  }
  toggleRun() {
    this.following = true;
    this.send({ run: !this.running });
  }
  reset() {
    this.following = true;
    this.send({ reset: true });
  }
  atEnd() {
    return this.app.player.t >= this.run.t1;
  }

  // ── dragging ──
  dragStart(body, at) {
    if (body < 1 || this.run.bodies[body]?.drive !== "free" || this.closed) return false;
    this.following = true;
    const { position, rotation } = this.app.state;
    const r = [0, 1, 2].map((i) => at[i] - position[3 * body + i]);
    this.app.look.drag = { body, anchor: rotateBack(rotation, 4 * body, r), to: at };
    return true;
  }
  dragMove(to) {
    const drag = this.app.look.drag;
    if (!drag) return;
    drag.to = to;
    this.send({ drag });
    this.app.dirty = true;
  }
  dragEnd() {
    this.app.look.drag = null;
    this.send({ drag: null });
    this.app.dirty = true;
  }

  // ── frames ──
  clear() {
    for (const clock of [this.run.series, this.run.poses, this.run.snaps]) {
      for (const table of Object.values(clock)) table.clear();
    }
    this.run.events.length = 0;
  }
  take(buffer) {
    const { run } = this;
    const head = new Float64Array(buffer, 0, HEAD);
    const [, generation, running, , t, h, rate, step, moving, joints, contacts] = head;
    if (generation !== this.generation || t < run.t1) {
      this.generation = generation;
      this.clear();
    }
    this.running = running === 1;
    this.rate = rate;
    this.frames++;
    if (run.poses.t.rows > 0 && t === run.t1) this.forget();
    this.append(buffer, { t, h, step, moving, joints, contacts, head });
    if (this.following || this.app.player.t > run.t1) this.app.player.t = run.t1;
    this.app.dirty = true;
    this.fresh = true;
  }
  // Removes the last frame, which is sent again after a change while paused.
  forget() {
    for (const table of [...Object.values(this.run.series), ...Object.values(this.run.poses)]) table.rows--;
    const { snaps } = this.run;
    const from = this.run.contactRange(snaps.end.rows - 1)[0];
    for (const name of ["t", "h", "end"]) snaps[name].rows--;
    for (const name of ["track", "point", "normal", "values", "friction", "mode"]) snaps[name].rows = from;
  }
  append(buffer, { t, h, step, moving, joints, contacts, head }) {
    const { run } = this;
    const { series, poses, snaps } = run;
    const a = run.axes;
    series.t.push([t]);
    series.step.push([step]);
    series.energy.push(head, 11);
    series.flags.push([head[15]]);
    series.certificate.push(head, 16);
    series.solver.push([contacts, head[25], head[26], head[27]]);
    const f = new Float32Array(buffer, 8 * HEAD);
    const u = new Uint32Array(buffer, 8 * HEAD);
    let at = 0;
    poses.t.push([t]);
    poses.h.push([h]);
    for (const [name, n] of [["position", a], ["rotation", run.turns], ["velocity", a], ["omega", run.spins]]) {
      poses[name].push(f, at);
      at += moving * n;
    }
    poses.joint.push(f, at);
    at += joints * JOINT_WIDTH;
    poses.sensor.push(f, at);
    at += poses.sensor.width;
    poses.input.push(f, at);
    at += poses.input.width;
    for (let k = 0; k < contacts; k++, at += 9 + 3 * a) {
      const mu = f[at + 4];
      const track = run.track(u[at], u[at + 1], u[at + 2], mu);
      run.trackMu.data[track] = mu;
      snaps.track.push([track]);
      snaps.mode.push([u[at + 3]]);
      snaps.values.push(f, at + 5);
      snaps.point.push(f, at + 9);
      snaps.normal.push(f, at + 9 + a);
      snaps.friction.push(f, at + 9 + 2 * a);
    }
    snaps.t.push([t]);
    snaps.h.push([h]);
    snaps.end.push([snaps.mode.rows]);
    if (poses.t.rows > KEEP || snaps.mode.rows > 2e6) this.drop(Math.ceil(poses.t.rows / 6));
  }
  drop(rows) {
    const { series, poses, snaps } = this.run;
    for (const table of [...Object.values(series), ...Object.values(poses)]) table.drop(rows);
    const gone = snaps.end.data[rows - 1];
    for (const name of ["t", "h", "end"]) snaps[name].drop(rows);
    for (const name of ["track", "point", "normal", "values", "friction", "mode"]) snaps[name].drop(gone);
    for (let k = 0; k < snaps.end.rows; k++) snaps.end.data[k] -= gone;
  }

  // Enlarges the view with the motion, unless the user has moved it or is dragging a body.
  widen() {
    const { stage } = this.app;
    if (this.app.look.drag) return;
    const now = bounds(this.run);
    const out = now.low.some((v, i) => v < stage.box.low[i] - 0.02 * stage.size) || now.high.some((v, i) => v > stage.box.high[i] + 0.02 * stage.size);
    if (!out) return;
    const margin = 0.15 * now.size;
    for (let i = 0; i < this.run.axes; i++) {
      if (now.low[i] < stage.box.low[i]) stage.box.low[i] = now.low[i] - margin;
      if (now.high[i] > stage.box.high[i]) stage.box.high[i] = now.high[i] + margin;
    }
    if (stage.fitted) stage.fit();
  }

  // Sliders show what the source of an input gave, unless the user holds them.
  follow() {
    const { input } = this.run.poses;
    for (let k = 0; k < input.width && input.rows > 0; k++) {
      const value = Number(input.data[(input.rows - 1) * input.width + k].toPrecision(6));
      for (const name of [`input-${k}`, `input-number-${k}`]) {
        const e = this.host.querySelector(`[name=${name}]`);
        if (e && document.activeElement !== e) e.value = value;
      }
    }
  }

  // Strip charts, badge, sliders and force scale are updated four times a second.
  frame(now) {
    const { app } = this;
    this.following = this.following || (this.running && this.atEnd());
    if (!this.fresh || now - this.told < 250) return;
    this.told = now;
    this.fresh = false;
    this.widen();
    this.follow();
    app.strips.refresh();
    app.overlay.rescale();
    app.badge();
    app.toggles();
    const state = this.host.querySelector(".state");
    if (state) {
      const from = this.state?.recorded_from ?? 0;
      state.innerHTML = `${this.running ? `<b>${this.rate.toFixed(2)}×</b> real time` : "<b>paused</b>"} · ${this.state?.recording ? `recorded from ${+from.toFixed(3)} s` : "not recorded"}`;
    }
    app.dirty = true;
  }
}
