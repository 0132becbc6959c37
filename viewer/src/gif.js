// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Animated GIF (GIF89a): one palette for all frames, found by median cut, and of each frame only what changed. No
// dithering: moving noise does not compress.

const COLOURS = 255; // the last index stands for "as before"
const SAME = 3; // largest change of a channel, of 255, that counts as none

// Six bits of each channel.
const keyOf = (r, g, b) => ((r >> 2) << 12) | ((g >> 2) << 6) | (b >> 2);

// Colours that occur, with their number: [red, green, blue, count], merged if six bits do not tell them apart.
function coloursOf(samples) {
  const sums = new Float64Array(4 << 18);
  for (const rgba of samples) {
    for (let k = 0; k < rgba.length; k += 4) {
      const at = 4 * keyOf(rgba[k], rgba[k + 1], rgba[k + 2]);
      sums[at] += rgba[k];
      sums[at + 1] += rgba[k + 1];
      sums[at + 2] += rgba[k + 2];
      sums[at + 3]++;
    }
  }
  const out = [];
  for (let at = 0; at < sums.length; at += 4) {
    const n = sums[at + 3];
    if (n > 0) out.push([sums[at] / n, sums[at + 1] / n, sums[at + 2] / n, n]);
  }
  return out;
}

// A box of colours, with its longest side and what it weighs: smooth shades get more colours than rare ones.
function boxOf(colours) {
  let [axis, span] = [0, 0];
  for (let i = 0; i < 3; i++) {
    let [low, high] = [Infinity, -Infinity];
    for (const c of colours) {
      if (c[i] < low) low = c[i];
      if (c[i] > high) high = c[i];
    }
    if (high - low > span) [axis, span] = [i, high - low];
  }
  const count = colours.reduce((n, c) => n + c[3], 0);
  return { colours, axis, count, weight: colours.length > 1 ? span * Math.sqrt(count) : 0 };
}

// Boxes are cut at the median of their longest side until there are enough; each gives its mean.
export function medianCut(colours, most) {
  const boxes = [boxOf(colours)];
  while (boxes.length < most) {
    let pick = 0;
    boxes.forEach((box, k) => {
      if (box.weight > boxes[pick].weight) pick = k;
    });
    const box = boxes[pick];
    if (!(box.weight > 0)) break;
    box.colours.sort((a, b) => a[box.axis] - b[box.axis]);
    let cut = 1;
    for (let n = box.colours[0][3]; cut < box.colours.length - 1 && n + box.colours[cut][3] <= box.count / 2; cut++) n += box.colours[cut][3];
    boxes.splice(pick, 1, boxOf(box.colours.slice(0, cut)), boxOf(box.colours.slice(cut)));
  }
  return boxes.map((box) => [0, 1, 2].map((i) => Math.round(box.colours.reduce((sum, c) => sum + c[i] * c[3], 0) / box.count)));
}

// Bytes that grow.
class Bytes {
  constructor() {
    this.data = new Uint8Array(1 << 16);
    this.used = 0;
  }
  put(...bytes) {
    for (const b of bytes) {
      if (this.used === this.data.length) {
        const more = new Uint8Array(2 * this.data.length);
        more.set(this.data);
        this.data = more;
      }
      this.data[this.used++] = b;
    }
  }
  word(v) {
    this.put(v & 255, (v >> 8) & 255);
  }
}

// LZW with codes of 9 to 12 bits, in blocks of 255 bytes.
function compress(out, indices) {
  const CLEAR = 256;
  const END = 257;
  const table = new Int32Array(1 << 14); // hashed: prefix code, next index, code + 1
  const codes = new Uint16Array(1 << 14);
  const block = new Uint8Array(255);
  let filled = 0;
  let bits = 0;
  let held = 0;
  let width = 9;
  let next = 258;
  const flush = () => {
    if (filled > 0) out.put(filled, ...block.subarray(0, filled));
    filled = 0;
  };
  const emit = (code) => {
    held |= code << bits;
    for (bits += width; bits >= 8; bits -= 8, held >>>= 8) {
      block[filled++] = held & 255;
      if (filled === 255) flush();
    }
  };
  const clear = () => {
    emit(CLEAR);
    table.fill(-1);
    width = 9;
    next = 258;
  };
  out.put(8);
  clear();
  let prefix = indices[0];
  for (let k = 1; k < indices.length; k++) {
    const key = (prefix << 8) | indices[k];
    let slot = (Math.imul(key, 0x9e3779b1) >>> 18) & 0x3fff;
    while (table[slot] !== -1 && table[slot] !== key) slot = (slot + 1) & 0x3fff;
    if (table[slot] === key) {
      prefix = codes[slot];
      continue;
    }
    emit(prefix);
    prefix = indices[k];
    if (next === 4096) {
      clear();
      continue;
    }
    table[slot] = key;
    codes[slot] = next;
    if (next === 1 << width) width++;
    next++;
  }
  emit(prefix);
  emit(END);
  if (bits > 0) block[filled++] = held & 255;
  flush();
  out.put(0);
}

export class GifWriter {
  // samples: some frames, RGBA; the palette is made from them.
  constructor(width, height, samples, fps) {
    this.width = width;
    this.height = height;
    this.fps = fps;
    this.count = 0;
    this.clock = 0; // hundredths of a second written so far
    this.palette = medianCut(coloursOf(samples), COLOURS);
    this.nearest = new Int16Array(1 << 18).fill(-1);
    this.shown = null;
    this.out = new Bytes();
    this.head();
  }
  head() {
    const { out } = this;
    out.put(...new TextEncoder().encode("GIF89a"));
    out.word(this.width);
    out.word(this.height);
    out.put(0xf7, 0, 0); // 256 colours for all frames
    for (let k = 0; k < 256; k++) out.put(...(this.palette[k] ?? [0, 0, 0]));
    out.put(0x21, 0xff, 11, ...new TextEncoder().encode("NETSCAPE2.0"), 3, 1, 0, 0, 0); // for ever
  }
  index(r, g, b) {
    const key = keyOf(r, g, b);
    let best = this.nearest[key];
    if (best >= 0) return best;
    let least = Infinity;
    this.palette.forEach(([pr, pg, pb], k) => {
      const d = 2 * (pr - r) ** 2 + 4 * (pg - g) ** 2 + 3 * (pb - b) ** 2;
      if (d < least) [least, best] = [d, k];
    });
    this.nearest[key] = best;
    return best;
  }
  // hold: seconds beyond the usual ones, for the last frame.
  add(rgba, hold = 0) {
    const { width, height, out } = this;
    const fresh = new Uint8Array(width * height).fill(COLOURS);
    const before = this.shown;
    this.shown ??= new Uint8Array(width * height);
    let [x0, y0, x1, y1] = [width, height, -1, -1];
    for (let p = 0, k = 0; p < fresh.length; p++, k += 4) {
      if (before) {
        const [r, g, b] = this.palette[before[p]];
        if (Math.abs(r - rgba[k]) <= SAME && Math.abs(g - rgba[k + 1]) <= SAME && Math.abs(b - rgba[k + 2]) <= SAME) continue;
      }
      const colour = this.index(rgba[k], rgba[k + 1], rgba[k + 2]);
      if (before && before[p] === colour) continue;
      fresh[p] = this.shown[p] = colour;
      const [x, y] = [p % width, Math.floor(p / width)];
      x0 = Math.min(x0, x);
      x1 = Math.max(x1, x);
      y0 = Math.min(y0, y);
      y1 = Math.max(y1, y);
    }
    if (x1 < 0) [x0, y0, x1, y1] = [0, 0, 0, 0]; // nothing changed: a frame of one pixel keeps the time
    this.count++;
    const until = Math.round(((this.count) / this.fps + hold) * 100);
    const delay = Math.max(2, until - this.clock);
    this.clock += delay;
    out.put(0x21, 0xf9, 4, 0x05);
    out.word(delay);
    out.put(COLOURS, 0, 0x2c);
    for (const v of [x0, y0, x1 - x0 + 1, y1 - y0 + 1]) out.word(v);
    out.put(0);
    const part = new Uint8Array((x1 - x0 + 1) * (y1 - y0 + 1));
    for (let y = y0, at = 0; y <= y1; y++, at += x1 - x0 + 1) part.set(fresh.subarray(y * width + x0, y * width + x1 + 1), at);
    compress(out, part);
  }
  bytes() {
    this.out.put(0x3b);
    return this.out.data.slice(0, this.out.used);
  }
}
