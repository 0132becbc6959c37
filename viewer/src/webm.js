// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A WebM film: frames encoded by the browser (WebCodecs, VP9 or VP8), in a container written here (EBML, a part of
// Matroska: one video track, clusters of simple blocks, cues).

const CODECS = [["vp09.00.10.08", "V_VP9"], ["vp8", "V_VP8"]];
const KEY = 2; // seconds between frames that need no others

// A number as a length: as few bytes as hold it.
function lengthBytes(n) {
  for (let width = 1; width <= 8; width++) {
    if (n < 2 ** (7 * width) - 1) {
      const bytes = [];
      for (let k = width - 1; k >= 0; k--) bytes.push(Math.floor(n / 256 ** k) % 256);
      bytes[0] |= 1 << (8 - width);
      return bytes;
    }
  }
  throw new Error("a block is too long");
}
function unsigned(n) {
  const bytes = [];
  do bytes.unshift(n % 256);
  while ((n = Math.floor(n / 256)) > 0);
  return bytes;
}
function double(x) {
  return [...new Uint8Array(new Float64Array([x]).buffer)].reverse();
}
const text = (s) => [...new TextEncoder().encode(s)];

// An element: id, length, content (bytes, or parts of bytes).
function element(id, ...content) {
  const parts = content.map((c) => (c instanceof Uint8Array ? c : Uint8Array.from(c)));
  const size = parts.reduce((n, p) => n + p.length, 0);
  const head = [...unsigned(id), ...lengthBytes(size)];
  const out = new Uint8Array(head.length + size);
  out.set(head);
  let at = head.length;
  for (const p of parts) {
    out.set(p, at);
    at += p.length;
  }
  return out;
}

export function canFilm() {
  return typeof VideoEncoder !== "undefined";
}

export class WebmWriter {
  /** @param {number} width @param {number} height @param {number} fps */
  constructor(width, height, fps) {
    this.width = width;
    this.height = height;
    this.fps = fps;
    this.chunks = [];
    this.count = 0;
    this.fault = null;
  }
  async open() {
    if (!canFilm()) throw new Error("this browser cannot encode films; choose GIF");
    for (const [codec, name] of CODECS) {
      /** @type {any} */
      const config = { codec, width: this.width, height: this.height, framerate: this.fps, bitrate: Math.round(this.width * this.height * this.fps * 0.09) };
      const { supported } = await VideoEncoder.isConfigSupported(config);
      if (!supported) continue;
      this.codec = name;
      this.encoder = new VideoEncoder({
        output: (chunk) => {
          const data = new Uint8Array(chunk.byteLength);
          chunk.copyTo(data);
          this.chunks.push({ data, ms: Math.round(chunk.timestamp / 1000), key: chunk.type === "key" });
        },
        error: (e) => (this.fault = e),
      });
      this.encoder.configure(config);
      return;
    }
    throw new Error("this browser has no encoder of VP9 or VP8; choose GIF");
  }
  async add(canvas) {
    if (this.fault) throw this.fault;
    const frame = new VideoFrame(canvas, { timestamp: Math.round((this.count * 1e6) / this.fps), duration: Math.round(1e6 / this.fps) });
    this.encoder.encode(frame, { keyFrame: this.count % Math.round(KEY * this.fps) === 0 });
    frame.close();
    this.count++;
    while (this.encoder.encodeQueueSize > 4) await new Promise((done) => setTimeout(done, 2));
  }

  async bytes() {
    await this.encoder.flush();
    this.encoder.close();
    if (this.fault) throw this.fault;
    const head = element(0x1a45dfa3, element(0x4286, [1]), element(0x42f7, [1]), element(0x42f2, [4]), element(0x42f3, [8]),
      element(0x4282, text("webm")), element(0x4287, [4]), element(0x4285, [2]));
    const info = element(0x1549a966, element(0x2ad7b1, unsigned(1000000)), element(0x4d80, text("perp")), element(0x5741, text("perp")),
      element(0x4489, double((this.count * 1000) / this.fps)));
    const video = element(0xe0, element(0xb0, unsigned(this.width)), element(0xba, unsigned(this.height)));
    const track = element(0xae, element(0xd7, [1]), element(0x73c5, [1]), element(0x9c, [0]), element(0x83, [1]),
      element(0x86, text(this.codec)), element(0x23e383, unsigned(Math.round(1e9 / this.fps))), video);
    const parts = [info, element(0x1654ae6b, track)];
    let at = parts.reduce((n, p) => n + p.length, 0);
    const cues = [];
    for (const { ms, blocks } of this.clusters()) {
      const cluster = element(0x1f43b675, element(0xe7, unsigned(ms)), ...blocks);
      cues.push(element(0xbb, element(0xb3, unsigned(ms)), element(0xb7, element(0xf7, [1]), element(0xf1, unsigned(at)))));
      parts.push(cluster);
      at += cluster.length;
    }
    parts.push(element(0x1c53bb6b, ...cues));
    const segment = element(0x18538067, ...parts);
    const out = new Uint8Array(head.length + segment.length);
    out.set(head);
    out.set(segment, head.length);
    return out;
  }
  // A cluster begins with a frame that needs no others.
  clusters() {
    const out = [];
    for (const { data, ms, key } of this.chunks) {
      if (key || out.length === 0) out.push({ ms, blocks: [] });
      const { ms: start, blocks } = out[out.length - 1];
      const offset = ms - start;
      blocks.push(element(0xa3, [0x81, (offset >> 8) & 255, offset & 255, key ? 0x80 : 0], data));
    }
    return out;
  }
}
