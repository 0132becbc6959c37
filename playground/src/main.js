// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The playground: a scene is edited on one side and simulated on the other. Scenes from links are data: their names and texts are
// only ever set as texts, and the simulation has a Worker of its own, which the page ends when it takes too long.
import "uplot/dist/uPlot.min.css";
import "../../viewer/src/style.css";
import "./style.css";
import { App } from "../../viewer/src/app.js";
import { Run } from "../../viewer/src/data.js";
import { Explain } from "./explain.js";
import { PageLive } from "./live.js";
import { Pad } from "./pad.js";
import { part, partText } from "./parts.js";
import { fromHash, toHash } from "./share.js";

/** @type {any} */
const site = window; // perpExamples, perpEngine: made by build.mjs
const PATIENCE = 10000; // [ms] without an answer of the Worker, after which the page offers to end it

const $ = (name) => /** @type {any} */ (document.querySelector(name));

class Playground {
  constructor() {
    this.parameters = {}; // set by sliders
    this.written = {}; // what the text says about these
    this.first = {}; // their values before
    this.generator = null;
    this.waiting = null;
    this.serial = 0; // of the last scene that was opened
    this.drawn = 0; // and of the one that is shown
    this.taking = Promise.resolve();
    this.editor = new Pad($("#editor"), {
      changed: (byUser) => byUser && this.later(),
      run: () => this.open(),
    });
    this.explain = new Explain($("#explain"), (body) => this.app?.select({ body }));
    this.buttons();
    this.examples();
    if (!site.perpEngine) {
      this.say("this page is not complete: engine.js is missing", true);
      return;
    }
    this.start();
    this.fromAddress();
    window.addEventListener("hashchange", () => this.fromAddress());
    setInterval(() => this.watch(), 1000);
  }

  // ── the Worker ──
  // The first one is at work already (build.mjs); later ones get the module that it has compiled.
  start() {
    const { engine } = this;
    const first = !this.worker;
    this.worker?.terminate();
    const worker = first ? engine.worker : engine.make();
    this.worker = worker;
    this.asked = 0;
    const take = (e) => {
      if (worker !== this.worker) return;
      this.asked = 0;
      $("#slow").hidden = true;
      // In their order: a scene may wait for a part of the page.
      this.taking = this.taking.then(() => worker === this.worker && this.take(e.data)).catch((error) => this.say(String(error.message), true));
    };
    worker.onmessage = take;
    worker.onerror = (e) => this.say(`the simulation ended: ${e.message}`, true);
    if (first) engine.early.splice(0).forEach(take);
    else worker.postMessage(engine.module ? { module: engine.module } : { packed: engine.packed });
  }
  get engine() {
    return site.perpEngine;
  }
  post(message) {
    this.worker?.postMessage(message);
  }
  take(message) {
    if (message.ready) return this.ready(message.module);
    if (message.opened) return this.opened(message.opened, message.serial);
    if (message.error) return this.failed(message.error, message.serial);
    if (message.generated !== undefined) return this.generated(message.generated);
    if (message.finished) return this.finished(message.finished);
    if (message.broken) return this.broken(message.broken);
    // What is left is about the scene that is open there, which may be an older one than that of the page.
    if (this.drawn !== this.serial) return undefined;
    if (message.frame) return this.frame(message.frame);
    if (message.status) return this.status(message.status);
    if (message.explained) return this.explain.show(message.explained);
    if (message.state) return this.state(message.state);
    return undefined;
  }
  // A Worker that does not answer is in a long step, or lost.
  watch() {
    if (!this.worker || document.visibilityState !== "visible") return;
    if (this.asked === 0) {
      this.asked = performance.now();
      this.post({ ping: true });
    } else if (performance.now() - this.asked > PATIENCE) {
      $("#slow").hidden = false;
    }
  }
  stop() {
    $("#slow").hidden = true;
    this.broken("stopped");
  }
  broken(text) {
    this.close();
    this.say(text);
    this.start();
  }
  ready(module) {
    this.engine.module = module;
    this.engine.packed = null;
    document.documentElement.dataset.ready = "yes";
  }

  // ── scenes ──
  async fromAddress() {
    if (location.hash === this.ownHash) return;
    try {
      const asked = await fromHash(location.hash);
      this.generator = null;
      this.set(asked.parameters);
      if (asked.text !== undefined) {
        this.editor.text = asked.text;
        $("#example").value = "";
        this.note("");
        this.open();
      } else {
        const known = site.perpExamples.find((e) => e.key === asked.example) ?? site.perpExamples[0];
        this.example(known.key);
      }
    } catch (e) {
      this.say(`this link has no scene: ${e.message}`);
    }
  }
  examples() {
    const list = $("#example");
    const none = new Option("your own scene", "");
    none.hidden = true;
    list.append(none);
    for (const e of site.perpExamples) list.append(new Option(e.title, e.key));
    list.onchange = () => {
      this.set({});
      this.example(list.value);
    };
  }
  set(parameters) {
    this.parameters = parameters;
    this.written = {};
    this.first = {};
  }
  example(key) {
    const e = site.perpExamples.find((x) => x.key === key);
    if (!e) return;
    this.generator = e.slider ? { ...e.slider, rule: e.rule, options: e.options } : null;
    $("#example").value = key;
    this.editor.text = e.text;
    this.note(e.note);
    this.open();
    // What the Worker will say about it is known: it can be seen before the module is compiled.
    if (e.opened && !this.app && Object.keys(this.parameters).length === 0) this.show(e.opened);
  }
  note(text) {
    $("#note").textContent = text;
    $("#note").hidden = !text;
  }
  later() {
    $("#example").value = "";
    this.generator = null;
    this.note("");
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.open(), 600);
  }
  open() {
    clearTimeout(this.waiting);
    const text = this.editor.text;
    // Values of parameters that the text no longer has, or has changed since, are forgotten.
    for (const name of Object.keys(this.parameters)) {
      if (!text.includes(JSON.stringify(name)) || (name in this.written && this.written[name] !== written(text, name))) delete this.parameters[name];
    }
    this.post({ open: text, sets: this.parameters, serial: ++this.serial });
    this.foretold = false;
  }
  close() {
    this.app?.destroy();
    this.app = null;
  }
  failed(error, serial = this.serial) {
    if (serial !== this.serial) return;
    this.editor.showError(error);
    const where = error.line > 0 ? `line ${error.line}, column ${error.column}: ` : "";
    this.say(where + error.text, true);
  }
  async opened(scene, serial) {
    if (serial !== this.serial) return;
    this.editor.showError(null);
    this.say("");
    const stage = scene.about.spatial ? (await part("spatial")).SpatialStage : null;
    if (serial !== this.serial) return;
    if (!this.foretold) this.show(scene, stage);
    this.foretold = false;
    this.drawn = serial;
    if (!this.enriching) this.enriching = setTimeout(() => this.enrich(), 100);
  }
  // The page has something to show before the editor is loaded.
  async enrich() {
    try {
      await this.editor.enrich();
    } catch (e) {
      this.enriching = 0;
      this.say(`the editor is a plain one: ${e.message}`);
    }
  }
  show({ about, data }, stage = null) {
    this.about = about;
    const page = new DOMParser().parseFromString(data, "text/html");
    const view = JSON.parse(page.getElementById("perp-about").textContent);
    const run = new Run(view, page.getElementById("perp-data").textContent);
    const strips = this.app ? this.app.host.querySelector("[data-strips]")?.getAttribute("aria-pressed") : null;
    this.close();
    this.explain.run = run;
    this.explain.highlight(-1);
    this.app = new App($("#app"), run, {
      spatial: stage,
      selected: (body) => this.explain.highlight(body),
      live: (app, host) => new PageLive(app, host, { send: (command) => this.post({ command }), save: () => this.download("recording") }),
      keys: $("#view"),
      hash: strips === "false" || window.innerWidth <= 760 ? "#strips=0" : "",
      title: false,
    });
    this.sliders();
    this.foretold = true;
    document.title = `${about.name} · perp`;
  }
  frame(buffer) {
    this.app?.live?.take(buffer);
    if ($("#explain-box").open && performance.now() - (this.explained ?? 0) > 500) {
      this.explained = performance.now();
      this.post({ explain: "mcp" });
    }
  }
  status(s) {
    this.app?.live?.status(s);
    document.documentElement.dataset.started ??= performance.now().toFixed(0); // [ms] since the address was opened
    this.post({ state: true });
  }
  state(state) {
    document.documentElement.dataset.hash = state.hash;
    document.documentElement.dataset.steps = String(state.steps);
  }
  // ── parameters ──
  // Those of the scene, between zero and twice their values, and one of a scene that is made by rule. What is derived from
  // others is shown without a slider.
  sliders() {
    const host = $("#parameters");
    const focused = host.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
    host.textContent = "";
    for (const p of this.about.parameters) {
      if (p.derived) {
        this.derived(host, p);
        continue;
      }
      const start = (p.name in this.parameters ? this.first[p.name] : undefined) ?? p.value;
      const wide = Math.abs(start) || 1;
      this.slider(host, { name: p.name, value: p.value, low: start - wide, high: start + wide }, (value) => {
        this.parameters[p.name] = value;
        this.written[p.name] = written(this.editor.text, p.name);
        this.first[p.name] = start;
        this.open();
      });
    }
    const g = this.generator;
    if (g) {
      this.slider(host, g, (value) => {
        g.value = value;
        this.post({ generate: g.rule, options: { ...g.options, [g.name]: value } });
      }, g.step);
    }
    host.hidden = host.childElementCount === 0;
    if (focused !== null) [...host.querySelectorAll("input")].find((e) => e.getAttribute("aria-label") === focused)?.focus();
  }
  generated(text) {
    if (!this.generator) return; // another scene meanwhile
    this.editor.text = text;
    this.open();
  }
  derived(host, { name, value }) {
    const label = document.createElement("label");
    const shown = document.createElement("output");
    label.className = "derived";
    label.title = "computed from other parameters";
    shown.textContent = String(+value.toPrecision(5));
    label.append(`${name} =`, shown);
    host.append(label);
  }
  slider(host, { name, value, low, high }, give, step = (high - low) / 100) {
    const label = document.createElement("label");
    const range = document.createElement("input");
    const shown = document.createElement("output");
    label.append(name);
    Object.assign(range, { type: "range", min: String(low), max: String(high), step: String(step), value: String(value) });
    range.setAttribute("aria-label", name);
    shown.textContent = String(+value.toPrecision(5));
    range.oninput = () => (shown.textContent = String(+(+range.value).toPrecision(5)));
    range.onchange = () => give(+range.value);
    label.append(range, shown);
    host.append(label);
  }

  // ── buttons ──
  buttons() {
    $("#open").onclick = () => this.open();
    $("#stop").onclick = () => this.stop();
    $("#slow-stop").onclick = () => this.stop();
    $("#share").onclick = () => this.share();
    $("#download").onchange = (e) => {
      const what = e.target.value;
      e.target.value = "";
      this.download(what);
    };
    $("#explain-box").ontoggle = () => $("#explain-box").open && this.post({ explain: "mcp" });
    for (const tab of document.querySelectorAll("[data-tab]")) {
      /** @type {any} */ (tab).onclick = () => (document.body.dataset.shown = /** @type {any} */ (tab).dataset.tab);
    }
  }
  async share() {
    this.ownHash = await toHash(this.editor.text, this.parameters);
    history.replaceState(null, "", this.ownHash);
    const text = location.href;
    try {
      await navigator.clipboard.writeText(text);
      this.say("the link to this scene is in the clipboard and in the address");
    } catch {
      this.say("the link to this scene is in the address");
    }
  }
  async download(what) {
    if (what === "scene") this.save(`${this.fileName()}.json`, new TextEncoder().encode(this.editor.text));
    else if (what === "recording") this.post({ finish: "tables" });
    else if (what === "replay") this.post({ finish: "replay", page: await partText("viewer") });
  }
  finished({ files, error }) {
    if (error) this.say(error, true);
    for (const [name, bytes] of files ?? []) this.save(`${this.fileName()}-${name}`, bytes);
  }
  fileName() {
    return (this.about?.name ?? "scene").replace(/[^\w.-]+/g, "_").slice(0, 60) || "scene";
  }
  save(name, bytes) {
    const a = document.createElement("a");
    a.href = URL.createObjectURL(new Blob([bytes]));
    a.download = name;
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 10000);
  }
  say(text, bad = false) {
    const e = $("#message");
    e.textContent = text;
    e.className = bad ? "bad" : "";
    e.hidden = !text;
  }
}

// What a text has as the value of a parameter.
function written(text, name) {
  const at = text.indexOf(`${JSON.stringify(name)}:`);
  return at < 0 ? "" : text.slice(at).match(/^[^,}\n]*/)[0];
}

site.playground = new Playground();
