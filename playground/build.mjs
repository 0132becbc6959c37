// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Builds the playground as plain files: node playground/build.mjs OUT MODULES WASM VIEWER
//
//   OUT/index.html, playground.css
//   OUT/playground.js    a few lines that unpack the rest: the application, the Worker and perp_page.wasm, compressed
//   OUT/viewer.js        the viewer as one page, for replays; loaded when one is asked for
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

const here = path.dirname(fileURLToPath(import.meta.url));
const [out, modules, wasm, viewer] = process.argv.slice(2).map((p) => path.resolve(p));
const { build } = createRequire(path.join(modules, "here.js"))("esbuild");
const common = { absWorkingDir: here, nodePaths: [modules], bundle: true, minify: true, write: false, outdir: out, format: "iife", target: ["es2022"], charset: "utf8", legalComments: "none", logLevel: "warning" };
const bundle = async (file) => (await build({ ...common, entryPoints: [path.join(here, "src", file)] })).outputFiles;
const text = (files, ending) => files.find((file) => file.path.endsWith(ending)).text;

const worker = text(await bundle("worker.js"), ".js");
const main = await bundle("main.js");
const code = await readFile(wasm);
const perp = await load(code);

// Scenes of the project by their files; scenes made by rule with a value for each place of their slider.
const list = [];
for (const e of examples) {
  if (e.scene && !existsSync(path.join(here, "../scenes", e.scene))) continue;
  const entry = { key: e.key, title: e.title, note: e.note };
  if (e.scene) entry.text = await readFile(path.join(here, "../scenes", e.scene), "utf8");
  else {
    const { name, low, high, step, value } = e.slider;
    const values = Array.from({ length: Math.round((high - low) / step) + 1 }, (_, k) => +(low + k * step).toFixed(6));
    const texts = values.map((v) => perp.generate(e.generator, { ...e.options, [name]: v }));
    entry.text = texts[values.indexOf(value)];
    entry.slider = { name, low, high, step, value, values, texts };
  }
  perp.open(entry.text).close(); // an example that does not open ends the build
  list.push(entry);
}

const packed = (bytes) => JSON.stringify(gzipSync(bytes, { level: 9 }).toString("base64"));
const application = `window.perpExamples=${JSON.stringify(list)};window.perpWorker=${JSON.stringify(worker)};${text(main, ".js")}`;
const loader = `"use strict";
(async () => {
  const unpack = (base64, type) => {
    const text = atob(base64), bytes = new Uint8Array(text.length);
    for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")), { headers: { "Content-Type": type } });
  };
  // Compiled while the page itself is unpacked and starts.
  window.perpModule = WebAssembly.compileStreaming(unpack(${packed(code)}, "application/wasm"));
  const code = await unpack(${packed(Buffer.from(application))}, "text/javascript").blob();
  const script = document.createElement("script");
  script.src = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  document.head.append(script);
})();
`;
await mkdir(out, { recursive: true });
await writeFile(path.join(out, "playground.js"), loader);
await writeFile(path.join(out, "playground.css"), text(main, ".css"));
await writeFile(path.join(out, "viewer.js"), `window.perpViewer = ${packed(await readFile(viewer))};\n`);
const page = await readFile(path.join(here, "src/index.html"));
await writeFile(path.join(out, "index.html"), page);
const size = loader.length + text(main, ".css").length + page.length;
console.log(`playground: ${list.length} examples, ${(size / 1e6).toFixed(2)} MB to load`);
if (size > 2e6) throw new Error("more than 2 MB to load");
