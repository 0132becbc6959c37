// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The application: display settings (look), time (player), and selection.
import { bodyReach, middle } from "./bounds.js";
import { Dialogs } from "./dialogs.js";
import { Exporter } from "./export.js";
import { Ghosts } from "./ghosts.js";
import { lower } from "./data.js";
import { Live } from "./live.js";
import { Overlay } from "./overlay.js";
import { Panel } from "./panel.js";
import { lengthText, PlanarStage } from "./planar.js";
import { Player, SPEEDS } from "./player.js";
import { Strips } from "./strips.js";
import { CPU, Theme } from "./theme.js";

// Name, label, key, icon.
export const TOGGLES = [
  ["contacts", "Contact points", "1", '<circle cx="8" cy="8" r="3.2"/><path d="M1.5 13.5h13"/>'],
  ["normals", "Normals", "2", '<path d="M2 13.5h12M8 13.5V3.5M5.5 6L8 3.5 10.5 6"/>'],
  ["forces", "Forces", "3", '<path d="M3 13L12.5 3.5M12.5 3.5H7.5M12.5 3.5v5"/>'],
  ["cones", "Friction cones", "4", '<path d="M8 14L3 3.5h10z"/>'],
  ["joints", "Joints and reactions", "5", '<circle cx="8" cy="8" r="3.5"/><path d="M8 4.5V1M8 15v-3.5"/>'],
  ["axes", "Centre-of-mass axes", "6", '<path d="M4 12V3M4 12h9M4 12l0 0"/><circle cx="4" cy="12" r="1.4"/>'],
  ["gaps", "Gaps", "7", '<path d="M2 4h12M2 12h12M8 5.800v4.400M6.7 7L8 5.7 9.3 7M6.7 9L8 10.3 9.3 9"/>'],
  ["trails", "Trails", "8", '<path d="M1.5 12c3 0 3-7 6-7s2 5 4.5 5"/><circle cx="13" cy="10" r="1.5"/>'],
  ["collision", "Collision shapes", "v", '<path d="M8 1.500l5.500 3v7L8 14.500l-5.500-3v-7z" stroke-dasharray="2 1.500"/>'],
  ["labels", "Names", "t", '<path d="M3 4.500v-1.500h10v1.500M8 3v10M6 13h4"/>'],
  ["measure", "Measure", "m", '<path d="M2 10.500L10.500 2l3.500 3.500L5.500 14zM5 7.500l1.500 1.500M7.500 5l1.500 1.500"/>'],
  ["others", "Other runs", "g", '<rect x="2" y="5" width="7" height="7"/><path d="M6 5V2.500h7.500V10H9" stroke-dasharray="2 1.500"/>'],
  ["grid", "Grid", "9", '<path d="M2 5.500h12M2 10.500h12M5.5 2v12M10.5 2v12"/>'],
];

const TRAVEL = -2; // look.follow: the scene as a whole

// options, for a page that embeds the viewer:
//   spatial the class of the stage of spatial runs (spatial.js), which is large
//   others runs to compare with, drawn as outlines
//   live   (app, host) => what controls a simulation that runs (live.js: Live, or a class derived from it)
//   keys   the element that listens to keys (default: the window)
//   hash   the initial view (default: that of the address)
//   selected  (body) => called when a body is selected (-1: none)
//   title  false: the title of the document stays
export class App {
  constructor(host, run, options = {}) {
    this.run = run;
    this.options = options;
    this.theme = new Theme();
    this.calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.dirty = true;
    this.exporting = false; // the stage belongs to the exporter
    this.hidden = false;
    this.size = [0, 0]; // of the stage [px]
    this.state = run.makeState();
    this.look = { contacts: true, normals: false, forces: true, cones: false, joints: run.joints.length <= 60, axes: false, gaps: false, trails: false, collision: false, labels: false, measure: false, others: true, grid: true, body: -1, track: -1, joint: -1, sensor: -1, follow: -1, drag: null, playing: false };
    this.player = new Player(run, () => (this.dirty = true));
    this.layout(host);
    const hooks = {
      changed: () => (this.dirty = true),
      click: (x, y) => this.click(x, y),
      frame: (x, y) => this.click(x, y) && this.frame(),
      drags: () => !!this.live,
      dragStart: (body, at) => this.live?.dragStart(body, at) ?? false,
      dragMove: (at) => this.live?.dragMove(at),
      dragEnd: () => this.live?.dragEnd(),
    };
    run.stateAt(run.t0, this.state);
    this.stage = run.spatial ? new options.spatial(this.stageHost, run, this.theme, hooks) : new PlanarStage(this.stageHost, run, this.theme, hooks);
    this.stage.canvas.tabIndex = 0;
    this.stage.canvas.setAttribute("role", "img");
    this.stage.canvas.setAttribute("aria-label", `${run.about.name}: ${run.moving} moving bodies. Arrow keys step through time.`);
    this.look.follow = this.stage.box.travel ? TRAVEL : -1;
    this.reach = bodyReach(run);
    this.overlay = new Overlay(this.stageHost, run, this.theme);
    this.panel = new Panel(host.querySelector(".panel"), this);
    if (options.others?.length > 0) this.ghosts = this.overlay.ghosts = new Ghosts(run, options.others, this.theme, this.stage.size);
    this.strips = new Strips(host.querySelector(".strips"), run, this.theme, { seek: (t) => this.seek(t), choose: (sensor) => this.showSensor(sensor), ghosts: this.ghosts });
    this.dialogs = new Dialogs(host, this);
    this.exporter = new Exporter(this);
    this.theme.onChange(() => {
      this.dirty = true;
      this.markTimeline();
    });
    this.badge();
    this.notes();
    const makeLive = options.live ?? ((app, at) => new Live(app, at));
    if (run.about.live) this.live = makeLive(this, host.querySelector(".live"));
    this.gone = new AbortController();
    (options.keys ?? window).addEventListener("keydown", (e) => this.key(e), { signal: this.gone.signal });
    // After a click, focus returns to the stage, so that Space plays instead of pressing the button again.
    host.addEventListener("click", (e) => {
      if (e.detail > 0 && e.target.closest("button") && !e.target.closest("dialog, .panel")) this.stage.canvas.focus({ preventScroll: true });
    });
    this.observer = new ResizeObserver(() => this.resized());
    this.observer.observe(this.stageHost);
    this.fromHash();
    this.resize();
    if (!run.about.live && !this.calm && !this.held) this.player.play(true);
    this.loop();
  }

  // Initial state from the address: #t=1.5&body=block&forces=0&theme=dark&paused
  fromHash() {
    const asked = new URLSearchParams((this.options.hash ?? location.hash).replace(/^#/, ""));
    for (const [name] of TOGGLES) if (asked.has(name)) this.look[name] = asked.get(name) !== "0";
    const strips = asked.get("strips");
    if (strips) this.setStrips(strips !== "0");
    if (strips && strips !== "0" && strips !== "1") this.strips.show(strips.split(","));
    this.held = asked.has("t") || asked.has("paused");
    if (asked.has("t")) this.player.seek(+asked.get("t"));
    const body = this.run.bodies.findIndex((b) => b.name === asked.get("body"));
    if (body >= 0) this.select({ body });
    if (asked.has("follow") && body >= 0) this.look.follow = body;
    this.fresh = this.look.follow >= 0;
    const camera = asked.get("camera")?.split(",").map(Number);
    if (camera && camera.length >= 2 && camera.every(Number.isFinite)) this.stage.view3(camera);
    if (asked.get("below") === "1") this.stage.setBelow(true);
    const sensor = this.run.sensors.findIndex((s) => s.name === asked.get("sensor"));
    if (sensor >= 0) {
      this.strips.plotSensor(sensor);
      this.showSensor(sensor);
    }
    this.toggles();
  }

  layout(host) {
    const a = this.run.about;
    const icon = (path, more = "") => `<svg viewBox="0 0 16 16" aria-hidden="true"${more}>${path}</svg>`;
    host.innerHTML = `
      <header class="head">
        <svg class="mark" viewBox="0 0 16 16" role="img" aria-label="perp"><rect width="16" height="16" rx="3.5" fill="currentColor"/><path d="M8 3.500v8M3.5 11.800h9" stroke="var(--card)" stroke-width="1.7" stroke-linecap="round"/></svg>
        <h1></h1><span class="method"></span><span class="space"></span>
        <button class="badge" data-badge></button>
        <button class="icon" data-fit aria-label="Show everything" title="Home: everything (0)">${icon('<path d="M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4"/>')}</button>
        <button class="icon" data-list aria-label="Joints and inputs" title="Joints and inputs (J)">${icon('<circle cx="4" cy="4" r="1.7"/><circle cx="12" cy="8" r="1.7"/><circle cx="4" cy="12" r="1.7"/><path d="M5.700 4.800l4.600 2.400M10.300 8.800l-4.600 2.400"/>')}</button>
        <button class="icon" data-export aria-label="Save a picture or film" title="Save a picture or film (E)">${icon('<path d="M8 2v8M4.5 7L8 10.500 11.5 7M2.5 13.500h11"/>')}</button>
        <button class="icon" data-strips aria-label="Strip charts" aria-pressed="true" title="Strip charts (S)">${icon('<path d="M2 4h12M2 8h12M2 12h12"/>')}</button>
        <button class="icon" data-theme-button aria-label="Light or dark theme" title="Light or dark theme (D)">${icon('<circle cx="8" cy="8" r="5.5"/><path class="solid" d="M8 2.500a5.5 5.5 0 010 11z"/>')}</button>
        <button class="icon" data-help aria-label="Keyboard shortcuts and help" title="Keyboard shortcuts (?)">${icon('<path d="M5.8 6a2.3 2.3 0 114 1.500C9 8.3 8 8.5 8 9.800M8 12.600v.1"/>')}</button>
      </header>
      <main class="middle">
        <div class="stage">
          <div class="tools" role="group" aria-label="Display options"></div>
          <div class="note"></div><div class="toast" role="status" hidden></div>
        </div>
        <aside class="panel" aria-label="Details" hidden></aside>
      </main>
      <footer class="foot">
        <div class="transport">
          <button class="icon" data-first aria-label="Go to start" title="Go to start (Home)">${icon('<path d="M4 3v10"/><path class="solid" d="M13 3v10L6 8z"/>')}</button>
          <button class="icon" data-back aria-label="Step back" title="Step back (←)">${icon('<path class="solid" d="M11 3v10L4 8z"/>')}</button>
          <button class="icon play" data-play aria-label="Play" title="Play or pause (Space)"></button>
          <button class="icon" data-forth aria-label="Step forward" title="Step forward (→)">${icon('<path class="solid" d="M5 3v10l7-5z"/>')}</button>
          <div class="scrub"><canvas aria-hidden="true"></canvas><input type="range" min="0" max="10000" value="0" step="1" aria-label="Time"></div>
          <span class="time num"></span>
          <select data-speed aria-label="Speed" title="Speed (+ and −)">${SPEEDS.map((s) => `<option value="${s}">${s}×</option>`).join("")}</select>
          <button class="icon" data-loop aria-label="Loop" aria-pressed="true" title="Loop (L)">${icon('<path d="M3 8.500V7a3 3 0 013-3h7M11 2l2 2-2 2M13 7.500V9a3 3 0 01-3 3H3M5 14l-2-2 2-2"/>')}</button>
        </div>
        <div class="live" hidden></div>
        <div class="strips"></div>
      </footer>
      <div class="hidden-text" aria-live="polite"></div>`;
    this.host = host;
    this.stageHost = host.querySelector(".stage");
    const $ = (s) => host.querySelector(s);
    $("h1").textContent = a.name || "run";
    if (this.options.title !== false) document.title = `${a.name || "run"} – perp`;
    $(".method").textContent = `${a.stepper} · ${a.form === "auto" ? "" : a.form + " · "}${a.solver || "auto"}${a.h > 0 ? ` · h = ${a.h} s` : ""}${a.remark ? " · " + a.remark : ""}`;
    $("[data-fit]").onclick = () => this.fit();
    $("[data-list]").onclick = () => this.panel.openList();
    $("[data-list]").hidden = this.run.joints.length + this.run.inputs.length === 0;
    $("[data-export]").onclick = () => this.dialogs.save();
    $("[data-strips]").onclick = () => this.setStrips();
    $("[data-theme-button]").onclick = () => this.theme.toggle();
    $("[data-help]").onclick = () => this.dialogs.help();
    $("[data-badge]").onclick = () => this.dialogs.certificate();
    $("[data-first]").onclick = () => this.first();
    $("[data-back]").onclick = () => this.back();
    $("[data-forth]").onclick = () => this.forth();
    $("[data-play]").onclick = () => this.playPause();
    $("[data-loop]").onclick = () => this.setLoop();
    $("[data-speed]").onchange = (e) => this.setSpeed(+e.target.value);
    this.slider = $(".scrub input");
    this.slider.oninput = () => {
      if (this.live) this.live.following = +this.slider.value >= 9990;
      const f = this.slider.value / 10000;
      this.player.seek(this.run.t0 + f * (this.run.t1 - this.run.t0));
    };
    $(".tools").innerHTML = TOGGLES.filter(([name]) => (name !== "joints" || this.run.joints.length > 0) && (name !== "others" || this.options.others?.length > 0) && (name !== "collision" || this.run.drawn.length !== this.run.shapes.length || this.run.visuals.length > 0))
      .map(([name, label, key, path]) => `<button data-toggle="${name}" title="${label} (${key})"><svg class="dot" viewBox="0 0 16 16" aria-hidden="true">${path}</svg><span>${label}</span></button>`)
      .join("");
    for (const button of host.querySelectorAll("[data-toggle]")) button.onclick = () => this.toggle(button.dataset.toggle);
  }

  // ── display options ──
  toggle(name) {
    this.look[name] = !this.look[name];
    if (name === "measure") {
      this.overlay.measure.clear();
      if (this.look.measure) this.toast("Click two points for a distance, three for an angle.");
    }
    this.toggles();
  }
  toggles() {
    for (const button of this.host.querySelectorAll("[data-toggle]")) {
      button.setAttribute("aria-pressed", String(!!this.look[button.dataset.toggle]));
    }
    this.dirty = true;
  }
  setStrips(on = this.host.querySelector(".strips").hidden) {
    this.host.querySelector(".strips").hidden = !on;
    this.host.querySelector("[data-strips]").setAttribute("aria-pressed", String(on));
    if (on) this.strips?.resize();
    this.dirty = true;
  }
  setLoop(on = !this.player.loop) {
    this.player.loop = on;
    this.host.querySelector("[data-loop]").setAttribute("aria-pressed", String(on));
  }
  setSpeed(speed) {
    this.player.speed = speed;
    this.live?.send({ speed });
    this.dirty = true;
  }
  playPause() {
    if (this.live) this.live.toggleRun();
    else this.player.play();
  }
  first() {
    if (this.live) this.live.reset();
    else this.player.seek(this.run.t0);
  }
  seek(t) {
    if (this.live) this.live.following = t >= this.run.t1;
    this.player.seek(t);
  }
  back(frames = 1) {
    if (this.live) this.live.following = false;
    this.player.step(-frames);
  }
  forth(frames = 1) {
    if (this.live?.atEnd()) {
      this.live.following = true;
      this.live.send({ step: frames });
    }
    else this.player.step(frames);
  }
  // Everything, as at the start.
  fit() {
    this.look.follow = this.stage.box.travel ? TRAVEL : -1;
    this.stage.fit();
    this.dirty = true;
  }

  // ── selection ──
  click(x, y) {
    if (this.look.measure) {
      this.measureAt(x, y);
      return false;
    }
    const spot = this.overlay.pick(x, y, this.look);
    if (spot) this.select(spot.track !== undefined ? { track: spot.track } : { joint: spot.joint });
    else {
      const body = this.stage.pick(x, y);
      this.select(body >= 0 ? { body } : null);
    }
    return this.selected;
  }
  // A point of a measurement: on a body, or on the floor.
  measureAt(x, y) {
    const hit = this.stage.surface(x, y);
    if (hit) this.overlay.measure.put(hit.body, hit.point, this.state);
    this.dirty = true;
  }
  get selected() {
    return this.look.body >= 0 || this.look.track >= 0 || this.look.joint >= 0;
  }
  // Zooms to what is selected; to everything if nothing is.
  frame() {
    const { run, look, state, stage } = this;
    const at = (body, r) => {
      const p = [...state.position.subarray(3 * body, 3 * body + 3)];
      stage.frame(p.map((v) => v - r), p.map((v) => v + r));
    };
    const row = look.track >= 0 ? run.rowOfTrack(state.snap, look.track) : -1;
    if (look.body >= 0) at(look.body, this.reach[look.body] || 0.1 * stage.size);
    else if (row >= 0) {
      const { point } = run.contact(row);
      stage.frame(point.map((v) => v - 0.05 * stage.size), point.map((v) => v + 0.05 * stage.size));
    } else if (look.joint >= 0) at(run.joints[look.joint].b, this.reach[run.joints[look.joint].b] || 0.1 * stage.size);
    else this.fit();
    this.dirty = true;
  }
  select(what) {
    this.look.body = what?.body ?? -1;
    this.look.track = what?.track ?? -1;
    this.look.joint = what?.joint ?? -1;
    if (!what) this.panel.close();
    else if (what.body !== undefined) this.panel.open("body", what.body);
    else if (what.track !== undefined) this.panel.open("contact", what.track);
    else this.panel.open("joint", what.joint);
    const say = this.host.querySelector("[aria-live]");
    say.textContent = what ? this.panel.about.title : "";
    this.options.selected?.(this.look.body);
    this.dirty = true;
  }
  // Its frame is drawn on the stage.
  showSensor(sensor) {
    this.look.sensor = sensor;
    this.dirty = true;
  }
  next(by) {
    const list = this.run.bodyOfRow;
    if (list.length === 0) return;
    const k = list.indexOf(this.look.body);
    this.select({ body: list[k < 0 ? 0 : (k + by + list.length) % list.length] });
  }
  // Cycles through the current contacts.
  nextContact() {
    const [from, to] = this.run.contactRange(this.state.snap);
    const tracks = Array.from(this.run.snaps.track.data.subarray(from, to));
    if (tracks.length > 0) this.select({ track: tracks[(tracks.indexOf(this.look.track) + 1) % tracks.length] });
  }
  // Whether the camera may go below the floor.
  toggleBelow() {
    if (!this.run.spatial) return;
    this.stage.setBelow(!this.stage.below);
    this.toast(this.stage.below ? "The camera may go below the floor." : "The camera stays above the floor.");
  }
  toggleFollow() {
    this.look.follow = this.look.follow >= 0 ? -1 : this.look.body;
    this.fresh = true;
    this.panel.update(this.state);
    this.dirty = true;
  }

  // ── keys ──
  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || /INPUT|SELECT|TEXTAREA/.test(e.target.tagName) && e.target !== this.slider) return;
    if (document.querySelector("dialog[open]")) return;
    const onButton = e.target.tagName === "BUTTON" && (e.key === " " || e.key === "Enter");
    const many = e.shiftKey ? 10 : 1;
    const toggle = TOGGLES.find(([, , key]) => key === e.key);
    const keys = {
      " ": () => this.playPause(),
      ArrowRight: () => this.forth(many),
      ArrowLeft: () => this.back(many),
      ArrowUp: () => this.stage.zoom(1.15),
      ArrowDown: () => this.stage.zoom(1 / 1.15),
      Home: () => this.first(),
      End: () => this.player.seek(this.run.t1),
      "+": () => this.faster(1),
      "=": () => this.faster(1),
      "-": () => this.faster(-1),
      l: () => this.setLoop(),
      f: () => this.toggleFollow(),
      z: () => this.frame(),
      u: () => this.toggleBelow(),
      n: () => this.next(1),
      p: () => this.next(-1),
      c: () => this.nextContact(),
      s: () => this.setStrips(),
      d: () => this.theme.toggle(),
      0: () => this.fit(),
      b: () => this.dialogs.certificate(),
      e: () => this.dialogs.save(),
      j: () => this.panel.openList(),
      o: () => this.ghosts && Number.isFinite(this.ghosts.onset) && this.seek(this.ghosts.onset),
      "?": () => this.dialogs.help(),
      h: () => this.dialogs.help(),
      Escape: () => this.select(null),
    };
    const act = toggle ? () => this.toggle(toggle[0]) : keys[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (!act || onButton) return;
    e.preventDefault();
    act();
  }
  faster(by) {
    this.player.faster(by);
    this.live?.send({ speed: this.player.speed });
  }

  // ── certificate ──
  worst() {
    const { certificate, flags, t } = this.run.series;
    const worst = new Float64Array(7);
    const when = new Float64Array(7);
    const passedAt = [];
    for (let k = 0; k < t.rows; k++) {
      if (!(flags.data[k] & 1)) passedAt.push(t.data[k]);
      for (let i = 0; i < 7; i++) {
        const v = certificate.data[7 * k + i];
        if (v > worst[i]) {
          worst[i] = v;
          when[i] = t.data[k];
        }
      }
    }
    return { worst, when, passedAt };
  }
  badge() {
    const { worst, passedAt } = this.worst();
    const badge = this.host.querySelector("[data-badge]");
    const residual = worst[6] > 0 ? worst[6].toExponential(1) : "0";
    const none = this.run.series.t.rows < 2;
    // Where an accuracy was asked for: equations that are solved are not yet a motion that is right.
    const off = this.run.about.motion_error || 0;
    const motion = off === 0 ? "" : `, estimated error of the motion ${off < 0 ? "unknown" : off.toExponential(1) + " m"}`;
    badge.className = "badge " + (none ? "none" : passedAt.length ? "bad" : "good");
    badge.textContent = none ? "no steps yet" : passedAt.length ? `✗ violated in ${passedAt.length} frame${passedAt.length > 1 ? "s" : ""} · residual ${residual} m/s${motion}` : off === 0 && this.run.about.stepper === "event" ? `✓ certified · residual ${residual} m/s` : `✓ equations solved to ${residual} m/s${motion || ", error of the motion not estimated"}`;
    badge.title = "Certificate: independent checks of every step (B)";
    this.violations = passedAt;
    this.markTimeline();
  }
  notes() {
    const a = this.run.about;
    const parts = [];
    if (!a.complete && !a.live) parts.push("the run did not finish");
    if (a.poses < a.frames) parts.push(`${a.poses.toLocaleString("en")} of ${a.frames.toLocaleString("en")} frames, to fit ${a.megabytes} MB`);
    if (a.snaps < a.poses) parts.push(`contacts at ${a.snaps.toLocaleString("en")} of them`);
    if (a.coarse) parts.push("16 bits per number");
    if (this.stage.remark) parts.push(this.stage.remark);
    if (this.ghosts) parts.push(this.differs());
    this.host.querySelector(".note").textContent = parts.join(" · ");
  }
  differs() {
    const { onset, tolerance } = this.ghosts;
    const apart = lengthText(tolerance);
    return Number.isFinite(onset) ? `runs differ by more than ${apart} from ${+onset.toPrecision(4)} s (O)` : `runs differ by less than ${apart}`;
  }
  toast(text) {
    const toast = this.host.querySelector(".toast");
    toast.textContent = text;
    toast.hidden = false;
    clearTimeout(this.toasting);
    this.toasting = setTimeout(() => (toast.hidden = true), 5000);
  }

  // Marks under the slider: violations (red, tall), impacts and other events (small).
  markTimeline() {
    const canvas = this.host.querySelector(".scrub canvas");
    const ratio = window.devicePixelRatio || 1;
    const w = canvas.clientWidth;
    const h = canvas.clientHeight;
    if (!w) return;
    canvas.width = w * ratio;
    canvas.height = h * ratio;
    const ctx = canvas.getContext("2d", CPU);
    ctx.scale(ratio, ratio);
    const c = this.theme.color;
    const x = (t) => 8 + ((t - this.run.t0) / (this.run.t1 - this.run.t0 || 1)) * (w - 16);
    ctx.fillStyle = c.line;
    ctx.beginPath();
    ctx.roundRect(4, h / 2 - 2.5, w - 8, 5, 2.5);
    ctx.fill();
    ctx.fillStyle = c.soft;
    const seen = new Set();
    for (const event of this.run.events) {
      const at = Math.round(x(event.t));
      if (seen.has(at)) continue;
      seen.add(at);
      ctx.fillRect(at, h / 2 + 6, 1, 5);
    }
    // The onset of difference: where another run leaves this one.
    this.ghosts?.list.forEach(({ onset }, k) => {
      if (onset === null) return;
      const at = x(onset);
      ctx.fillStyle = this.ghosts.color(k);
      ctx.beginPath();
      ctx.moveTo(at, h / 2 - 2);
      ctx.lineTo(at - 5, 1);
      ctx.lineTo(at + 5, 1);
      ctx.fill();
    });
    ctx.fillStyle = c.bad;
    seen.clear();
    for (const t of this.violations ?? []) {
      const at = Math.round(x(t));
      if (seen.has(at)) continue;
      seen.add(at);
      ctx.fillRect(at - 0.5, 1, 2, 9);
    }
  }

  // ── drawing ──
  // A stage that is hidden keeps its size. One that gets another size is drawn before the browser shows it: a canvas that
  // gets a size is empty.
  resized() {
    const { clientWidth: w, clientHeight: h } = this.stageHost;
    this.hidden = w === 0 || h === 0;
    if (this.hidden || (w === this.size[0] && h === this.size[1])) return;
    this.resize();
    if (!this.exporting) this.draw();
  }
  resize() {
    this.size = [this.stageHost.clientWidth, this.stageHost.clientHeight];
    this.stage.resize();
    this.overlay.resize();
    this.strips.resize();
    this.panel.chart?.resize();
    const tools = this.host.querySelector(".tools");
    // Icons alone where names would cover the stage; the scale bar below stays visible.
    tools.classList.toggle("small", this.stageHost.clientWidth < 620 || this.stageHost.clientHeight < 32 * tools.children.length + 90);
    this.markTimeline();
    this.dirty = true;
  }
  loop() {
    let before = 0; // loading time does not count
    let told = 0;
    const frame = (now) => {
      if (this.gone.signal.aborted) return;
      const dt = before > 0 ? now - before : 0;
      before = now;
      if (this.player.playing) {
        this.player.tick(Math.min(dt, 250) / 1000);
        this.dirty = true;
        if (document.visibilityState === "visible") this.stage.pace(dt);
      }
      this.live?.frame(now);
      if (this.dirty && !this.exporting && !this.hidden) {
        this.dirty = false;
        this.draw();
        // Numbers and strip charts are updated less often than the picture.
        if (now - told > 66 || !(this.player.playing || this.live?.running)) {
          told = now;
          this.tell();
        } else this.untold = true;
      } else if (this.untold) {
        this.untold = false;
        this.tell();
      }
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }
  // Takes the viewer out of its host, for another one.
  destroy() {
    this.gone.abort();
    this.observer.disconnect();
    this.live?.stop?.();
    this.panel.close();
    this.theme.listeners.length = 0;
    this.host.textContent = "";
  }
  draw() {
    const { run, state, look } = this;
    run.stateAt(this.player.t, state);
    look.playing = this.player.playing;
    const place = (body) => [...state.position.subarray(3 * body, 3 * body + 3)];
    if (look.follow >= 0) this.stage.follow(place(look.follow), this.fresh);
    else if (look.follow === TRAVEL) this.stage.follow(middle(run, this.stage.box.crew, place), false);
    this.fresh = false;
    this.stage.draw(state, look);
    this.overlay.draw(this.stage, state, look);
    this.drawn = (this.drawn ?? 0) + 1;
  }
  tell() {
    const { run, player } = this;
    const span = run.t1 - run.t0 || 1;
    const running = this.live ? this.live.running : player.playing;
    this.slider.value = String(Math.round(((player.t - run.t0) / span) * 10000));
    this.slider.setAttribute("aria-valuetext", `${player.t.toFixed(3)} seconds`);
    const digits = span < 0.1 ? 5 : span < 10 ? 3 : 2;
    const step = run.series.step.data[lower(run.series.t, player.t + 1e-9)] ?? 0;
    this.host.querySelector(".time").innerHTML = `${player.t.toFixed(digits)} s <small>/ ${run.t1.toFixed(digits)} · step ${step}</small>`;
    this.host.querySelector("[data-speed]").value = String(player.speed);
    const play = this.host.querySelector("[data-play]");
    if (play.dataset.on !== String(running)) {
      play.dataset.on = String(running);
      play.setAttribute("aria-label", running ? "Pause" : "Play");
      play.innerHTML = `<svg viewBox="0 0 16 16" aria-hidden="true"><path class="solid" d="${running ? "M4 3h3v10H4zM9 3h3v10H9z" : "M4.5 2.500v11l9-5.500z"}"/></svg>`;
    }
    this.panel.update(this.state);
    this.strips.at(player.t);
    this.notes();
  }
}
