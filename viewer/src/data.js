// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The data of a run, written into the page by src/replay/ (docs/viewer.md) or received live.
//
// Three sets of times: series (energy, certificate), poses (bodies, joints), snaps (contacts). All are tables that can
// grow.

export const MODES = ["open", "stick", "slip"];
export const CERTIFICATE = [
  ["gap", "Penetration", "m"],
  ["complementarity", "Complementarity", "J"],
  ["cone", "Friction cone", "N s"],
  ["joint", "Joints", "m"],
  ["momentum", "Momentum", "N s"],
  ["energy", "Energy created", "J"],
  ["residual", "Residual", "m/s"],
];
export const JOINT_WIDTH = 11;

const CELL = { f64: 8, f32: 4, b16: 2, q16: 2, n16: 2, u32: 4, u8: 1 };

// A table with rows of `width` numbers.
export class Table {
  constructor(width, Kind = Float32Array, data = null, rows = 0) {
    this.width = width;
    this.Kind = Kind;
    this.data = data ?? new Kind(width * 64);
    this.rows = rows;
  }
  push(values, from = 0) {
    const at = this.rows * this.width;
    if (at + this.width > this.data.length) {
      const data = new this.Kind(Math.max(2 * this.data.length, at + 64 * this.width));
      data.set(this.data.subarray(0, at));
      this.data = data;
    }
    for (let i = 0; i < this.width; i++) this.data[at + i] = values[from + i];
    this.rows++;
  }
  drop(rows) {
    this.data.copyWithin(0, rows * this.width, this.rows * this.width);
    this.rows -= rows;
  }
  clear() {
    this.rows = 0;
  }
}

function bytesOf(base64) {
  const text = atob(base64.trim());
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
  return bytes;
}

// Browsers are little-endian, like the columns.
function decode(bytes, column, range) {
  const n = column.width * column.rows;
  const raw = bytes.buffer.slice(column.at, column.at + n * CELL[column.type]);
  switch (column.type) {
    case "f64": return new Float64Array(raw);
    case "f32": return new Float32Array(raw);
    case "u32": return new Uint32Array(raw);
    case "u8": return new Uint8Array(raw);
    case "n16": return Float32Array.from(new Int16Array(raw), (v) => v / 32767);
    case "b16": return new Float32Array(Uint32Array.from(new Uint16Array(raw), (v) => v << 16).buffer);
    default: {
      const { width } = column;
      return Float32Array.from(new Uint16Array(raw), (v, k) => range.low[k % width] + range.step[k % width] * v);
    }
  }
}

export class Run {
  constructor(about, base64) {
    this.about = about;
    this.spatial = about.spatial;
    this.axes = about.spatial ? 3 : 2;
    this.turns = about.spatial ? 4 : 1;
    this.spins = about.spatial ? 3 : 1;
    this.bodies = about.bodies;
    this.shapes = about.shapes; // those that collide: contacts have their numbers
    this.visuals = about.visuals ?? [];
    this.solids = [...this.shapes, ...this.visuals];
    this.drawn = this.solids.filter((s) => !s.hidden);
    this.joints = about.joints;
    this.springs = about.springs;
    this.sites = about.sites ?? [];
    this.sensors = about.sensors ?? [];
    this.inputs = about.inputs ?? [];
    this.moving = about.bodies.filter((b) => b.row >= 0).length;
    this.bodyOfRow = [];
    about.bodies.forEach((b, k) => {
      if (b.row >= 0) this.bodyOfRow[b.row] = k;
    });
    this.load(bytesOf(base64));
    this.trackOf = new Map();
    for (let k = 0; k < this.tracks; k++) this.trackOf.set(this.trackKey(k), k);
    this.names();
  }

  load(bytes) {
    const column = Object.fromEntries(this.about.columns.map((c) => [c.name, c]));
    const raw = (name) => decode(bytes, column[name]);
    const table = (name) => {
      const c = column[name];
      if (!c) return new Table(0); // a page of an older perp
      const range =
        c.type === "q16" ? { low: raw(name + ".low"), step: raw(name + ".step") } : undefined;
      const data = decode(bytes, c, range);
      return new Table(c.width, /** @type {any} */ (data.constructor), data, c.rows);
    };
    this.start = raw("start");
    this.outline = raw("outline");
    this.corner = raw("corner");
    this.cornerEnd = raw("corner_end");
    this.series = {};
    for (const name of ["t", "step", "energy", "certificate", "flags", "solver"]) {
      this.series[name] = table("s." + name);
    }
    this.poses = {};
    for (const name of ["t", "h", "position", "rotation", "velocity", "omega", "joint", "sensor", "input"]) {
      this.poses[name] = table("p." + name);
    }
    this.snaps = {};
    for (const name of ["t", "h", "end", "track", "point", "normal", "values", "friction", "mode"]) {
      this.snaps[name] = table("c." + name);
    }
    this.trackShapes = table("t.shapes");
    this.trackFeature = table("t.feature");
    this.trackMu = table("t.mu");
    const c = column.events;
    this.events = new TextDecoder()
      .decode(bytes.subarray(c.at, c.at + c.rows))
      .split("\n")
      .flatMap((line) => {
        try {
          return line ? [JSON.parse(line)] : [];
        } catch {
          return [];
        }
      });
  }

  get tracks() {
    return this.trackShapes.rows;
  }
  trackKey(k) {
    const s = this.trackShapes.data;
    return `${s[2 * k]},${s[2 * k + 1]},${this.trackFeature.data[k]}`;
  }
  track(a, b, feature, mu) {
    const key = `${a},${b},${feature}`;
    let k = this.trackOf.get(key);
    if (k === undefined) {
      k = this.tracks;
      this.trackShapes.push([a, b]);
      this.trackFeature.push([feature]);
      this.trackMu.push([mu]);
      this.trackOf.set(key, k);
    }
    return k;
  }

  // "floor · block.left", with a number if the pair has several points.
  names() {
    this.shapeLabel = this.shapes.map((s) => {
      const body = this.bodies[s.body].name;
      return /(^|\.)shape\d+$/.test(s.name) ? body : s.name;
    });
  }
  trackName(k) {
    const s = this.trackShapes.data;
    return `${this.shapeLabel[s[2 * k]]} · ${this.shapeLabel[s[2 * k + 1]]}`;
  }

  get t0() {
    return this.poses.t.data[0] ?? 0;
  }
  get t1() {
    return this.poses.t.data[this.poses.t.rows - 1] ?? 0;
  }

  // The poses of all bodies at a time, interpolated linearly and along the shortest arc.
  makeState() {
    const n = this.bodies.length;
    const state = {
      t: NaN,
      frame: 0,
      snap: 0,
      point: 0,
      position: new Float64Array(3 * n),
      rotation: new Float64Array(4 * n),
      angle: new Float64Array(n),
    };
    for (let k = 0; k < n; k++) {
      for (let i = 0; i < 3; i++) state.position[3 * k + i] = this.start[7 * k + i];
      for (let i = 0; i < 4; i++) state.rotation[4 * k + i] = this.start[7 * k + 3 + i];
      const [w, , , z] = state.rotation.subarray(4 * k, 4 * k + 4);
      state.angle[k] = 2 * Math.atan2(z, w);
    }
    return state;
  }

  stateAt(t, state) {
    const k = lower(this.poses.t, t);
    const times = this.poses.t.data;
    const next = Math.min(k + 1, this.poses.t.rows - 1);
    const span = times[next] - times[k];
    const f = span > 0 ? Math.min(1, Math.max(0, (t - times[k]) / span)) : 0;
    state.t = t;
    state.frame = f > 0.5 ? next : k;
    state.snap = lower(this.snaps.t, t + 1e-9 * (1 + Math.abs(t)));
    state.point = lower(this.series.t, t + 1e-9 * (1 + Math.abs(t)));
    for (let row = 0; row < this.moving; row++) this.poseOf(row, k, next, f, state);
    return state;
  }

  poseOf(row, k, next, f, state) {
    const body = this.bodyOfRow[row];
    const { position, rotation } = this.poses;
    const a = k * position.width + row * this.axes;
    const b = next * position.width + row * this.axes;
    for (let i = 0; i < this.axes; i++) {
      state.position[3 * body + i] = position.data[a + i] * (1 - f) + position.data[b + i] * f;
    }
    const p = k * rotation.width + row * this.turns;
    const q = next * rotation.width + row * this.turns;
    if (this.turns === 1) {
      const angle = rotation.data[p] * (1 - f) + rotation.data[q] * f;
      state.angle[body] = angle;
      state.rotation.set([Math.cos(angle / 2), 0, 0, Math.sin(angle / 2)], 4 * body);
      return;
    }
    let dot = 0;
    for (let i = 0; i < 4; i++) dot += rotation.data[p + i] * rotation.data[q + i];
    const sign = dot < 0 ? -1 : 1;
    let norm = 0;
    for (let i = 0; i < 4; i++) {
      const c = rotation.data[p + i] * (1 - f) + sign * rotation.data[q + i] * f;
      state.rotation[4 * body + i] = c;
      norm += c * c;
    }
    norm = Math.sqrt(norm) || 1;
    for (let i = 0; i < 4; i++) state.rotation[4 * body + i] /= norm;
  }

  // Recorded velocities, or differences of positions if the page does not contain them.
  velocity(body, frame) {
    const row = this.bodies[body].row;
    if (row < 0) return { v: [0, 0, 0], w: [0, 0, 0] };
    const { velocity, omega, position, t } = this.poses;
    const v = [0, 0, 0];
    const w = [0, 0, 0];
    if (velocity.rows > frame) {
      for (let i = 0; i < this.axes; i++) v[i] = velocity.data[frame * velocity.width + row * this.axes + i];
      const from = frame * omega.width + row * this.spins;
      if (this.spins === 1) w[2] = omega.data[from];
      else for (let i = 0; i < 3; i++) w[i] = omega.data[from + i];
      return { v, w };
    }
    const a = Math.max(0, frame - 1);
    const dt = t.data[frame] - t.data[a];
    for (let i = 0; i < this.axes && dt > 0; i++) {
      const at = row * this.axes + i;
      v[i] = (position.data[frame * position.width + at] - position.data[a * position.width + at]) / dt;
    }
    if (this.spins === 1 && dt > 0) {
      const r = this.poses.rotation;
      w[2] = (r.data[frame * r.width + row] - r.data[a * r.width + row]) / dt;
    }
    return { v, w: this.spins === 1 ? w : null };
  }

  position(body, frame) {
    const row = this.bodies[body].row;
    const out = [0, 0, 0];
    if (row < 0) return [...this.start.subarray(7 * body, 7 * body + 3)];
    const { position } = this.poses;
    for (let i = 0; i < this.axes; i++) out[i] = position.data[frame * position.width + row * this.axes + i];
    return out;
  }

  // Contacts of a snap: rows [from, to).
  contactRange(snap) {
    const end = this.snaps.end.data;
    return [snap > 0 ? end[snap - 1] : 0, this.snaps.end.rows > 0 ? end[snap] : 0];
  }
  contact(row) {
    const s = this.snaps;
    const a = this.axes;
    const three = (table) => {
      const at = row * a;
      return [table.data[at], table.data[at + 1], a === 3 ? table.data[at + 2] : 0];
    };
    const v = s.values.data;
    const track = s.track.data[row];
    return {
      row,
      track,
      point: three(s.point),
      normal: three(s.normal),
      friction: three(s.friction),
      gap: v[4 * row],
      pn: v[4 * row + 1],
      rate: v[4 * row + 2],
      slip: v[4 * row + 3],
      mode: s.mode.data[row],
      mu: this.trackMu.data[track],
    };
  }
  rowOfTrack(snap, track) {
    const [from, to] = this.contactRange(snap);
    for (let row = from; row < to; row++) if (this.snaps.track.data[row] === track) return row;
    return -1;
  }

  // Contact forces on a body, summed [N], in the world, and how many there are.
  contactSum(body, snap) {
    const [from, to] = this.contactRange(snap);
    const shapes = this.trackShapes.data;
    const h = this.snaps.h.data[snap] || 1;
    const force = [0, 0, 0];
    let count = 0;
    for (let row = from; row < to; row++) {
      const track = this.snaps.track.data[row];
      const a = this.shapes[shapes[2 * track]].body === body;
      const b = this.shapes[shapes[2 * track + 1]].body === body;
      if (a === b) continue;
      const c = this.contact(row);
      for (let i = 0; i < 3; i++) force[i] += ((b ? 1 : -1) * (c.normal[i] * c.pn + c.friction[i])) / h;
      count++;
    }
    return { force, count };
  }

  joint(k, frame) {
    const { joint, h } = this.poses;
    const at = frame * joint.width + k * JOINT_WIDTH;
    const d = joint.data;
    const dt = h.data[frame] || 1;
    const force = (i) => d[at + i] / dt;
    return {
      coordinate: d[at],
      rate: d[at + 1],
      error: d[at + 2],
      force: [force(3), force(4), force(5)],
      torque: [force(6), force(7), force(8)],
      drive: force(9),
      limit: force(10),
    };
  }

  // What its coordinate is measured in.
  jointUnit(k) {
    return /prismatic|distance|line|cylindrical/.test(this.joints[k].kind) ? "m" : "rad";
  }
  // The value of an input over the step before a frame.
  input(k, frame) {
    const { input } = this.poses;
    return input.width > k ? input.data[frame * input.width + k] : NaN;
  }

  // The values of a sensor; none at the start if they are means over a step.
  sensor(k, frame) {
    const { first, size, mean } = this.sensors[k];
    const { sensor } = this.poses;
    const at = frame * sensor.width + first;
    return mean && frame === 0 && !this.about.live ? Array(size).fill(null) : Array.from(sensor.data.subarray(at, at + size));
  }
}

// The last row with time <= t; at least 0.
export function lower(times, t) {
  let a = 0;
  let b = times.rows;
  while (b - a > 1) {
    const m = (a + b) >> 1;
    if (times.data[m] <= t) a = m;
    else b = m;
  }
  return a;
}

export function rotate(q, at, v) {
  const [w, x, y, z] = [q[at], q[at + 1], q[at + 2], q[at + 3]];
  const tx = 2 * (y * v[2] - z * v[1]);
  const ty = 2 * (z * v[0] - x * v[2]);
  const tz = 2 * (x * v[1] - y * v[0]);
  return [
    v[0] + w * tx + y * tz - z * ty,
    v[1] + w * ty + z * tx - x * tz,
    v[2] + w * tz + x * ty - y * tx,
  ];
}

export function rotateBack(q, at, v) {
  return rotate([q[at], -q[at + 1], -q[at + 2], -q[at + 3]], 0, v);
}

// A point given in body coordinates, in the world.
export function toWorld(state, body, p) {
  const r = rotate(state.rotation, 4 * body, p);
  return [state.position[3 * body] + r[0], state.position[3 * body + 1] + r[1], state.position[3 * body + 2] + r[2]];
}
