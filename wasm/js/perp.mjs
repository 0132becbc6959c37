// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp for JavaScript: scenes are read, simulated and explained in WebAssembly. Works in browsers, Workers and Node.js.
//
//   import { load } from "./perp.mjs";
//   const perp = await load(fetch("perp_page.wasm"));
//   const sim = perp.open(text);              // throws SceneError with line and column
//   sim.step(100);
//   console.log(sim.time, sim.poses(), sim.contacts(), sim.certificate(), sim.hash);
//   sim.close();
import { host } from "./host.mjs";
import { MemoryWasi } from "./wasi.mjs";

/** Why a scene cannot be used, with the message of the perp command; line and column from 1 on, 0: none. */
export class SceneError extends Error {
  constructor(text, line, column) {
    super(text);
    this.name = "SceneError";
    this.line = line;
    this.column = column;
  }
}

/**
 * @param {BufferSource | Response | PromiseLike<Response> | WebAssembly.Module} source
 * @param {{ frame?: (bytes: Uint8Array) => void, status?: (text: string) => void, print?: (text: string) => void }} [to]
 *   what the live view hands out
 */
export async function load(source, to = {}) {
  const given = await source;
  const code = typeof Response !== "undefined" && given instanceof Response ? await given.arrayBuffer() : given;
  const module = code instanceof WebAssembly.Module ? code : await WebAssembly.compile(/** @type {any} */ (code));
  return new Perp(module, to);
}

const CONTACT_WIDTH = 17;
const MODES = ["open", "stick", "slip"];

export class Perp {
  constructor(module, to = {}) {
    const wasi = new MemoryWasi(to.print);
    const own = host();
    const bytes = (at, size) => new Uint8Array(this.x.memory.buffer, at, size).slice();
    const instance = new WebAssembly.Instance(module, {
      wasi_snapshot_preview1: wasi.imports,
      perp: {
        ...own.imports,
        frame: (at, size) => to.frame?.(bytes(at, size)),
        status: (at, size) => to.status?.(new TextDecoder().decode(bytes(at, size))),
      },
    });
    this.wasi = wasi;
    /** @type {any} */
    this.x = instance.exports;
    wasi.connect(instance);
    own.connect(instance);
    this.x._initialize();
  }

  // ── texts ──
  /** Calls f with the addresses of texts. */
  with(texts, f) {
    const at = [];
    try {
      for (const text of texts) {
        const bytes = new TextEncoder().encode(String(text).replaceAll("\0", " "));
        const place = this.x.js_alloc(bytes.length + 1);
        if (place === 0) throw new Error("not enough memory");
        at.push(place);
        const room = new Uint8Array(this.x.memory.buffer, place, bytes.length + 1);
        room.set(bytes);
        room[bytes.length] = 0;
      }
      return f(...at);
    } finally {
      for (const place of at) this.x.js_free(place);
    }
  }
  /** The text at an address; null: none. */
  text(at) {
    if (at === 0) return null;
    const bytes = new Uint8Array(this.x.memory.buffer, at);
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  }
  error() {
    return new SceneError(this.text(this.x.js_error_text()) || "not enough memory", this.x.js_error_line(), this.x.js_error_column());
  }
  /** Lines "name=value" for parameters that are set. */
  static sets(parameters) {
    return Object.entries(parameters ?? {})
      .map(([name, value]) => `${name}=${value}`)
      .join("\n");
  }
  /** Bytes of memory that the module has taken. */
  get memory() {
    return this.x.memory.buffer.byteLength;
  }
  get version() {
    return this.text(this.x.js_version());
  }

  // ── scenes ──
  /**
   * @param {string} text of a scene, or of a robot in MJCF or URDF
   * @param {Record<string, string | number>} [parameters] values that replace those of the scene
   */
  open(text, parameters, name = "scene") {
    const at = this.with([name, text, Perp.sets(parameters)], this.x.js_open);
    if (at === 0) throw this.error();
    return new Simulation(this, at);
  }
  /** The text of a scene made by rule, as `perp scene` makes it: "arch", { thickness: 0.11 } */
  generate(name, options = {}) {
    const text = this.text(this.with([name, Perp.sets(options)], this.x.js_generate));
    if (text === null) throw this.error();
    return text;
  }
}

export class Simulation {
  constructor(perp, at) {
    this.perp = perp;
    this.at = at;
    /** name, spatial, step, until, nq, nv, bodies, joints, parameters, inputs */
    this.about = JSON.parse(perp.text(perp.x.js_about(at)));
  }
  close() {
    this.perp.x.js_close(this.at);
    this.at = 0;
  }
  /** Makes steps of the scene's size, or of size h [s]; throws where one fails. */
  step(count = 1, h = 0) {
    if (this.perp.x.js_step(this.at, count, h) < count) throw this.perp.error();
  }
  get time() {
    return this.perp.x.js_time(this.at);
  }
  /** Of the state, as `perp run` prints it: 16 hexadecimal digits. */
  get hash() {
    return BigInt.asUintN(64, this.perp.x.js_hash(this.at)).toString(16).padStart(16, "0");
  }
  numbers(count, fill) {
    const { x } = this.perp;
    const at = x.js_alloc(8 * count + 8);
    if (at === 0) throw new Error("not enough memory");
    try {
      fill(at);
      return new Float64Array(x.memory.buffer, at, count).slice();
    } finally {
      x.js_free(at);
    }
  }
  /** Positions q and velocities nu. */
  state() {
    const { nq, nv } = this.about;
    const all = this.numbers(nq + nv, (at) => this.perp.x.js_state(this.at, at));
    return { q: all.subarray(0, nq), nu: all.subarray(nq) };
  }
  /** @param {{ q: ArrayLike<number>, nu: ArrayLike<number> }} state */
  setState(time, state) {
    const { nq, nv } = this.about;
    if (state.q.length !== nq || state.nu.length !== nv) throw new RangeError(`the state has ${nq} positions and ${nv} velocities`);
    let status = 0;
    this.numbers(nq + nv, (at) => {
      const room = new Float64Array(this.perp.x.memory.buffer, at, nq + nv);
      room.set(state.q);
      room.set(state.nu, nq);
      status = this.perp.x.js_state_set(this.at, time, at);
    });
    if (status < 0) throw this.perp.error();
  }
  /** Position and quaternion, scalar first, of each body: 7 numbers. */
  poses() {
    return this.numbers(7 * this.about.bodies.length, (at) => this.perp.x.js_poses(this.at, at));
  }
  /** The contacts of the last step; impulses in N s. */
  contacts() {
    const count = this.perp.x.js_contact_count(this.at);
    const n = this.numbers(CONTACT_WIDTH * count, (at) => this.perp.x.js_contacts(this.at, at));
    return Array.from({ length: count }, (_, k) => {
      const c = n.subarray(CONTACT_WIDTH * k, CONTACT_WIDTH * (k + 1));
      const [a, b, feature, mode, mu, gap, pn, rate] = c;
      return { a, b, feature, mode: MODES[mode], mu, gap, pn, rate, point: [...c.subarray(8, 11)], normal: [...c.subarray(11, 14)], friction: [...c.subarray(14, 17)] };
    });
  }
  /** Certificate, energies [J] and solver of the last step. */
  certificate() {
    return JSON.parse(this.perp.text(this.perp.x.js_certificate(this.at)));
  }
  /** The matrices of the last step, as `perp explain --json` prints them. */
  explain(form = "mcp") {
    const text = this.perp.text(this.perp.x.js_explain(this.at, form === "lcp" ? 1 : 0));
    if (text === null) throw this.perp.error();
    return JSON.parse(text);
  }
  /** Sets an input of the model by its name, from the next step on. */
  setInput(name, value) {
    const k = this.about.inputs.findIndex((input) => input.name === name);
    if (k < 0) throw new RangeError(`the scene has no input '${name}'`);
    if (this.perp.x.js_input(this.at, k, value) < 0) throw new RangeError(`${value} is outside the range of '${name}'`);
  }
}
