// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Scenes in addresses: deflated, in the alphabet of base64 for URLs. #s=... is a scene, &p= values of its parameters.

const MOST = 4e6; // bytes of a scene from a link

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
      throw new Error(`the scene of this link is larger than ${most / 1e6} MB`);
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

export function fromBase64(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let k = 0; k < binary.length; k++) bytes[k] = binary.charCodeAt(k);
  return bytes;
}

export async function unpack(base64, kind = "gzip") {
  return through(new DecompressionStream(/** @type {any} */ (kind)), fromBase64(base64));
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
    const bytes = fromBase64(packed.replaceAll("-", "+").replaceAll("_", "/"));
    text = new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), bytes, MOST));
  }
  return { text, example: asked.get("example"), parameters };
}
