// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The simulation of the playground, in a Worker of its own: the page stays alive whatever a scene does, and can end it.
//
// Messages to it: {packed} or {module}, then {open, sets, serial}, {command}, {generate, options}, {explain}, {finish, page},
// {state}, {ping}, obeyed in this order. From it: {ready, module}, {opened} or {error}, {frame}, {status}, {generated},
// {explained}, {finished}, {state}, {pong}.
import { Perp, SceneError, load } from "../../wasm/js/perp.mjs";
import { fromText } from "./share.js";

const FRAME = 1000 / 60; // [ms] between frames
const IDLE = 40; // the same while nothing moves

/** @type {Perp | null} */
let perp = null;
let open = false;
let timer = 0;
let texts = "";

const send = (message, transfer = []) => /** @type {any} */ (self).postMessage(message, transfer);
const trouble = (e) => ({ text: e.message, line: e instanceof SceneError ? e.line : 0, column: e instanceof SceneError ? e.column : 0 });

// What is left when WebAssembly itself ends: memory is out, or a defect.
function broken(e) {
  open = false;
  send({ broken: `the simulation ended: ${e.message}` });
}

function turn() {
  clearTimeout(timer);
  if (!open || !perp) return;
  let busy = 0;
  const began = performance.now();
  try {
    busy = perp.x.js_live_turn();
  } catch (e) {
    return broken(e);
  }
  timer = /** @type {any} */ (setTimeout(turn, busy ? Math.max(0, FRAME - (performance.now() - began)) : IDLE));
}

async function begin(module) {
  perp = await load(module, {
    frame: (bytes) => send({ frame: bytes.buffer }, [bytes.buffer]),
    status: (text) => send({ status: JSON.parse(text) }),
    print: (text) => (texts = (texts + text).slice(-4000)),
  });
  send({ ready: perp.version, module });
}

const actions = {
  module: ({ module }) => begin(module),
  // The module, compressed: compiled here, while the page draws.
  async packed({ packed }) {
    const stream = new Blob([fromText(packed)]).stream().pipeThrough(new DecompressionStream("gzip"));
    await begin(await WebAssembly.compileStreaming(new Response(stream, { headers: { "Content-Type": "application/wasm" } })));
  },
  open({ open: text, sets, serial }) {
    open = false;
    clearTimeout(timer);
    texts = "";
    const code = perp.with(["scene", text, Perp.sets(sets)], perp.x.js_live_open);
    if (code !== 0) {
      const e = perp.error();
      const read = perp.text(perp.x.js_error_text()) === "";
      send({ error: { text: read && texts ? texts.trim().replace(/^perp: scene: /, "") : e.message, line: e.line, column: e.column }, serial });
      return;
    }
    const about = JSON.parse(perp.text(perp.x.js_live_about()));
    const data = perp.text(perp.x.js_live_data());
    if (data === null) {
      send({ error: { text: texts.trim() || "not enough memory", line: 0, column: 0 }, serial });
      return;
    }
    open = true;
    send({ opened: { about, data }, serial });
    perp.x.js_live_tell();
    turn();
  },
  command({ command }) {
    if (!open) return;
    perp.with([JSON.stringify(command)], perp.x.js_live_obey);
    turn();
  },
  generate({ generate, options }) {
    send({ generated: perp.generate(generate, options) });
  },
  explain({ explain }) {
    if (!open) return;
    const text = perp.text(perp.x.js_live_explain(explain === "lcp" ? 1 : 0));
    send({ explained: text === null ? { error: perp.error().message } : JSON.parse(text) });
  },
  state() {
    if (!open) return;
    const hash = BigInt.asUintN(64, perp.x.js_live_hash()).toString(16).padStart(16, "0");
    send({ state: { hash, steps: perp.x.js_live_steps(), memory: perp.memory } });
  },
  // The recording so far: its tables, or a replay with the page of the viewer; a new one begins.
  finish({ finish, page }) {
    if (!open) return;
    const folder = perp.text(perp.x.js_live_finish());
    if (folder === null) {
      send({ finished: { error: "nothing has been recorded" } });
      return;
    }
    if (finish === "replay") {
      const text = perp.text(perp.with([page], perp.x.js_live_replay));
      send({ finished: text === null ? { error: perp.error().message } : { files: [["replay.html", new TextEncoder().encode(text)]] } });
    } else {
      const names = perp.wasi.list(folder).filter((name) => /\.(csv|jsonl|json)$/.test(name));
      send({ finished: { files: names.map((name) => [name, perp.wasi.read(`${folder}/${name}`)]) } });
    }
    perp.x.js_live_begin();
  },
  ping() {
    send({ pong: true });
  },
};

async function obey(message) {
  const kind = Object.keys(actions).find((name) => name in message);
  try {
    await actions[kind]?.(message);
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) broken(error);
    else send({ error: trouble(error) });
  }
}

// One after the other: what arrives while the module is compiled waits for it.
let last = Promise.resolve();
self.onmessage = (e) => {
  last = last.then(() => obey(e.data));
};
