// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Builds the playground as plain files: node playground/build.mjs OUT MODULES WASM VIEWER
//
//   OUT/index.html, playground.css
//   OUT/engine.js        starts a Worker and gives it perp_page.wasm, compressed
//   OUT/playground.js    the application and the examples
//   OUT/editor.js, spatial.js, viewer.js   parts that are loaded later, compressed (src/parts.js): the editor once there is
//                        something to see, the stage of spatial scenes, the viewer as one page, for replays
//
// All are classic scripts without requests, so that the page also works from a folder (file://).
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { load } from "../wasm/js/perp.mjs";
import { examples } from "./examples.mjs";
import { toText } from "./src/share.js";

const here = path.dirname(fileURLToPath(import.meta.url));
const [out, modules, wasm, viewer] = process.argv.slice(2).map((p) => path.resolve(p));
const { build } = createRequire(path.join(modules, "here.js"))("esbuild");
const common = { absWorkingDir: here, nodePaths: [modules], bundle: true, minify: true, write: false, outdir: out, format: "iife", target: ["es2022"], charset: "utf8", legalComments: "none", logLevel: "warning" };
const bundle = async (file, more = {}) => (await build({ ...common, ...more, entryPoints: [path.join(here, file)] })).outputFiles;
const text = (files, ending) => files.find((file) => file.path.endsWith(ending)).text;

const worker = text(await bundle("src/worker.js"), ".js");
const main = await bundle("src/main.js");
const code = await readFile(wasm);
const perp = await load(code);

// What the Worker says about a scene (src/worker.js).
function foretell(scene) {
  if (perp.with(["scene", scene, ""], perp.x.js_live_open) !== 0) throw perp.error();
  const about = JSON.parse(perp.text(perp.x.js_live_about()));
  const data = perp.text(perp.x.js_live_data());
  perp.x.js_live_close();
  return { about, data };
}

// Scenes of the project by their files, and scenes made by rule with a slider. The first is shown before the Worker answers.
const list = [];
for (const e of examples) {
  if (e.scene && !existsSync(path.join(here, "../scenes", e.scene))) continue;
  const entry = { key: e.key, title: e.title, note: e.note };
  if (e.scene) entry.text = await readFile(path.join(here, "../scenes", e.scene), "utf8");
  else {
    const { name, value } = e.slider;
    Object.assign(entry, { rule: e.generator, options: e.options, slider: e.slider, text: perp.generate(e.generator, { ...e.options, [name]: value }) });
  }
  const opened = foretell(entry.text); // an example that does not open ends the build
  if (list.length === 0 && !opened.about.spatial) entry.opened = opened;
  list.push(entry);
}

const packed = (bytes) => JSON.stringify(toText(gzipSync(bytes, { level: 9 })));
const files = {
  "index.html": await readFile(path.join(here, "src/index.html"), "utf8"),
  "playground.css": text(main, ".css"),
  "engine.js": `"use strict";
window.perpEngine = (() => {
  const url = URL.createObjectURL(new Blob([${JSON.stringify(worker)}], { type: "text/javascript" }));
  const make = () => new Worker(url);
  const engine = { make, worker: make(), early: [], packed: ${packed(code)} };
  engine.worker.onmessage = (e) => engine.early.push(e);
  engine.worker.postMessage({ packed: engine.packed });
  return engine;
})();
`,
  "playground.js": `window.perpExamples=${JSON.stringify(list)};\n${text(main, ".js")}`,
};
const part = async (name, file) => {
  files[`${name}.js`] = `(window.perpParts ??= {}).${name} = ${packed(text(await bundle(file, { globalName: `perp_${name}` }), ".js"))};\n`;
};
await part("editor", "src/editor.js");
await part("spatial", "../viewer/src/spatial.js");
const size = Object.values(files).reduce((sum, file) => sum + file.length, 0);
files["viewer.js"] = `(window.perpParts ??= {}).viewer = ${packed(await readFile(viewer))};\n`;

await mkdir(out, { recursive: true });
for (const [name, file] of Object.entries(files)) await writeFile(path.join(out, name), file);
console.log(`playground: ${list.length} examples, ${(size / 1e6).toFixed(2)} MB to load`);
if (size > 2e6) throw new Error("more than 2 MB to load");
