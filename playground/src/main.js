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
import schemaText from "../../scenes/scene.schema.json";
import { Editor } from "./editor.js";
import { Explain } from "./explain.js";
import { PageLive } from "./live.js";
import { Schema } from "./schema.js";
import { fromHash, toHash, unpack } from "./share.js";

/** @type {any} */
const site = window; // perpExamples, perpWorker, perpModule: made by build.mjs
const PATIENCE = 10000; // [ms] without an answer of the Worker, after which the page offers to end it

const $ = (name) => /** @type {any} */ (document.querySelector(name));

class Playground {
  constructor() {
    this.parameters = {};
    this.generator = null;
    this.waiting = null;
    this.editor = new Editor($("#editor"), new Schema(schemaText), {
      changed: (byUser) => byUser && this.later(),
      run: () => this.open(),
    });
    this.explain = new Explain($("#explain"), (body) => this.app?.select({ body }));
    this.buttons();
    this.examples();
    this.start();
    window.addEventListener("hashchange", () => this.fromAddress());
    setInterval(() => this.watch(), 1000);
  }

  // ── the Worker ──
  async start() {
    const module = await site.perpModule;
    this.worker?.terminate();
    const url = URL.createObjectURL(new Blob([site.perpWorker], { type: "text/javascript" }));
    this.worker = new Worker(url);
    URL.revokeObjectURL(url);
    this.asked = 0;
    this.worker.onmessage = (e) => this.take(e.data);
    this.worker.onerror = (e) => this.say(`the simulation ended: ${e.message}`);
    this.worker.postMessage({ module });
  }
  post(message) {
    this.worker?.postMessage(message);
  }
  take(message) {
    this.asked = 0;
    $("#slow").hidden = true;
    if (message.ready) this.ready();
    else if (message.opened) this.opened(message.opened);
    else if (message.error) this.failed(message.error);
    else if (message.frame) this.frame(message.frame);
    else if (message.status) this.status(message.status);
    else if (message.explained) this.explain.show(message.explained);
    else if (message.finished) this.finished(message.finished);
    else if (message.state) this.state(message.state);
    else if (message.broken) this.broken(message.broken);
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
  async stop() {
    $("#slow").hidden = true;
    this.close();
    this.say("stopped");
    this.stopped = true;
    await this.start();
  }
  async broken(text) {
    this.close();
    this.say(text);
    this.stopped = true;
    await this.start();
  }
  ready() {
    document.documentElement.dataset.ready = "yes";
    if (this.stopped) this.stopped = false;
    else if (this.loaded) this.open();
    else this.fromAddress();
  }

  // ── scenes ──
  async fromAddress() {
    if (location.hash === this.ownHash) return;
    try {
      const asked = await fromHash(location.hash);
      this.loaded = true;
      this.generator = null;
      this.parameters = asked.parameters;
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
      this.parameters = {};
      this.example(list.value);
    };
  }
  example(key) {
    const e = site.perpExamples.find((x) => x.key === key);
    if (!e) return;
    this.loaded = true;
    this.generator = e.slider ?? null;
    $("#example").value = key;
    this.editor.text = e.text;
    this.note(e.note);
    this.open();
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
    this.loaded = true;
    const text = this.editor.text;
    // Values of parameters that the text no longer has are forgotten.
    for (const name of Object.keys(this.parameters)) if (!text.includes(JSON.stringify(name))) delete this.parameters[name];
    this.post({ open: text, sets: this.parameters });
  }
  close() {
    this.app?.destroy();
    this.app = null;
  }
  failed(error) {
    this.editor.showError(error);
    const where = error.line > 0 ? `line ${error.line}, column ${error.column}: ` : "";
    this.say(where + error.text, true);
  }
  opened({ about, data }) {
    this.editor.showError(null);
    this.say("");
    this.about = about;
    const page = new DOMParser().parseFromString(data, "text/html");
    const view = JSON.parse(page.getElementById("perp-about").textContent);
    const run = new Run(view, page.getElementById("perp-data").textContent);
    const strips = this.app ? this.app.host.querySelector("[data-strips]")?.getAttribute("aria-pressed") : null;
    this.close();
    this.explain.run = run;
    this.explain.highlight(-1);
    this.app = new App($("#app"), run, {
      selected: (body) => this.explain.highlight(body),
      live: (app, host) => new PageLive(app, host, { send: (command) => this.post({ command }), save: () => this.download("recording") }),
      keys: $("#view"),
      hash: strips === "false" || window.innerWidth <= 760 ? "#strips=0" : "",
      title: false,
    });
    this.sliders();
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
    this.post({ state: true });
  }
  state(state) {
    document.documentElement.dataset.hash = state.hash;
    document.documentElement.dataset.steps = String(state.steps);
  }
  // ── parameters ──
  // Those of the scene, between a half and twice their values, and one of a scene that is made by rule.
  sliders() {
    const host = $("#parameters");
    host.textContent = "";
    for (const p of this.about.parameters) {
      const start = this.first?.[p.name] ?? p.value;
      const wide = Math.abs(start) || 1;
      this.slider(host, { name: p.name, value: p.value, low: start - wide, high: start + wide }, (value) => {
        this.parameters[p.name] = value;
        this.first = { ...this.first, [p.name]: start };
        this.open();
      });
    }
    const g = this.generator;
    if (g) {
      this.slider(host, { name: g.name, value: g.value, low: g.low, high: g.high }, (value) => {
        g.value = value;
        this.editor.text = g.texts[g.values.indexOf(value)] ?? nearest(g, value);
        this.open();
      }, g.step);
    }
    host.hidden = host.childElementCount === 0;
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
    else if (what === "replay") this.post({ finish: "replay", page: await viewerPage() });
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

function nearest(g, value) {
  let best = 0;
  g.values.forEach((v, k) => {
    if (Math.abs(v - value) < Math.abs(g.values[best] - value)) best = k;
  });
  return g.texts[best];
}

// The viewer as a page of its own is loaded when a replay is asked for.
function viewerPage() {
  if (site.perpViewer) return unpackText(site.perpViewer);
  return new Promise((done, fail) => {
    const script = document.createElement("script");
    script.src = "viewer.js";
    script.onload = () => done(unpackText(site.perpViewer));
    script.onerror = () => fail(new Error("viewer.js is missing"));
    document.head.append(script);
  });
}
async function unpackText(base64) {
  return new TextDecoder().decode(await unpack(base64));
}

site.playground = new Playground();
