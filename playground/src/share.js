// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Scenes in addresses: deflated, in the alphabet of base64 for URLs. #s=... is a scene, &p= values of its parameters.

const MOST = 4e6; // bytes of a scene from a link

class TooLarge extends Error {}

async function through(stream, bytes, most = Infinity) {
  const parts = [];
  let size = 0;
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) {
      await reader.cancel();
      throw new TooLarge(`it is larger than ${most / 1e6} MB`);
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function fromBase64(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let k = 0; k < binary.length; k++) bytes[k] = binary.charCodeAt(k);
  return bytes;
}

// Bytes in scripts: five characters for four bytes, from # to y without the backslash, after a digit that says how many of the
// last bytes are none. A quarter more than the bytes, base64 has a third.
const [FIRST, SKIPPED] = [35, 92];

/** @param {Uint8Array} bytes */
export function toText(bytes) {
  const none = (4 - (bytes.length % 4)) % 4;
  let text = String(none);
  for (let k = 0; k < bytes.length; k += 4) {
    let word = 0;
    for (let i = 0; i < 4; i++) word = 256 * word + (bytes[k + i] ?? 0);
    const digits = [];
    for (let i = 0; i < 5; i++, word = Math.floor(word / 85)) digits.push(FIRST + (word % 85));
    text += String.fromCharCode(...digits.reverse().map((c) => (c < SKIPPED ? c : c + 1)));
  }
  return text;
}
/** @param {string} text */
export function fromText(text) {
  const size = ((text.length - 1) / 5) * 4;
  const words = new DataView(new ArrayBuffer(size));
  for (let at = 1, k = 0; k < size; k += 4) {
    let word = 0;
    for (const end = at + 5; at < end; at++) {
      const c = text.charCodeAt(at);
      word = 85 * word + (c > SKIPPED ? c - 1 : c) - FIRST;
    }
    words.setUint32(k, word);
  }
  return new Uint8Array(words.buffer, 0, size - +text[0]);
}

/** @param {string} text of toText, compressed */
export async function unpack(text) {
  return through(new DecompressionStream("gzip"), fromText(text));
}

export async function toHash(text, parameters) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(text));
  let binary = "";
  for (const b of bytes) binary += String.fromCharCode(b);
  const hash = new URLSearchParams();
  hash.set("s", btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, ""));
  for (const [name, value] of Object.entries(parameters)) hash.append("p", `${name}=${value}`);
  return "#" + hash;
}

/** Scene, example and parameters of an address; text undefined: it has none. */
export async function fromHash(hash) {
  const asked = new URLSearchParams(hash.replace(/^#/, ""));
  const packed = asked.get("s");
  const parameters = {};
  for (const p of asked.getAll("p")) {
    const at = p.indexOf("=");
    const value = Number(p.slice(at + 1));
    if (at > 0 && Number.isFinite(value)) parameters[p.slice(0, at)] = value;
  }
  let text;
  if (packed !== null) {
    try {
      const bytes = fromBase64(packed.replaceAll("-", "+").replaceAll("_", "/"));
      text = new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), bytes, MOST));
    } catch (e) {
      throw e instanceof TooLarge ? e : new Error("it is damaged or not complete");
    }
  }
  return { text, example: asked.get("example"), parameters };
}
