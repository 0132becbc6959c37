// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Parts of the page that are loaded when they are needed: the editor, the stage of spatial scenes, the page of replays. Each
// is a script NAME.js beside the page that leaves a compressed text in window.perpParts: works from a folder as well.
import { unpack } from "./share.js";

/** @type {any} */
const site = window;
site.perpParts ??= {};

/** @type {Map<string, Promise<any>>} */
const asked = new Map();

function once(name, get) {
  if (!asked.has(name)) {
    const made = get();
    asked.set(name, made);
    made.catch(() => asked.delete(name)); // may be tried again
  }
  return asked.get(name);
}

function run(url) {
  return new Promise((done, fail) => {
    const script = document.createElement("script");
    script.src = url;
    script.onload = () => done(script.remove());
    script.onerror = () => fail(new Error(`a part of this page is missing: ${url.slice(0, 60)}`));
    document.head.append(script);
  });
}

/** @param {string} name */
export function partText(name) {
  return once(`text of ${name}`, async () => {
    await run(`${name}.js`);
    const text = new TextDecoder().decode(await unpack(site.perpParts[name]));
    delete site.perpParts[name];
    return text;
  });
}

/** What the part exports. @param {string} name */
export function part(name) {
  return once(name, async () => {
    const url = URL.createObjectURL(new Blob([await partText(name)], { type: "text/javascript" }));
    await run(url);
    URL.revokeObjectURL(url);
    return site[`perp_${name}`];
  });
}
