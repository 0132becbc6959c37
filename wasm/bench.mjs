// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Time of all steps of a run in WebAssembly beside the native build, on one thread: node wasm/bench.mjs PERP [GENERATOR...]
// Runs of 4 s warm the compiler of Node.js up; of three more the fastest counts, as of three native runs.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { load } from "./js/perp.mjs";
import { built } from "./test/built.mjs";

const [cli, ...asked] = process.argv.slice(2);
const names = asked.length > 0 ? asked : ["slide", "incline", "bounce", "stack3", "wall3", "chain3", "arch3", "stack", "arch"];
const folder = mkdtempSync(path.join(tmpdir(), "perp-bench-"));
const perp = await load(readFileSync(built("perp_page.wasm")));
const UNTIL = 0.5; // [s] of simulated time, at most
const WARM = 4; // [s]

function native(scene, until) {
  execFileSync(cli, ["run", scene, "-o", path.join(folder, "run"), "-q", "--threads", "1", "--no-figures", "--until", String(until)]);
  const { seconds } = JSON.parse(readFileSync(path.join(folder, "run/summary.json"), "utf8"));
  return seconds.stepping + seconds.certifying;
}
function here(text, steps) {
  const sim = perp.open(text);
  const began = performance.now();
  sim.step(steps);
  const time = performance.now() - began;
  sim.close();
  return time / 1000;
}
for (const name of names) {
  const scene = path.join(folder, `${name}.json`);
  execFileSync(cli, ["scene", name, "-o", scene]);
  const text = readFileSync(scene, "utf8");
  const probe = perp.open(text);
  const { step, until } = probe.about;
  probe.close();
  const end = Math.min(until, UNTIL);
  const steps = Math.round(end / step);
  for (const began = performance.now(); performance.now() - began < 1000 * WARM; ) here(text, steps);
  const times = [0, 1, 2].map(() => [native(scene, end), here(text, steps)]);
  const [a, b] = [0, 1].map((k) => Math.min(...times.map((t) => t[k])) / steps);
  console.log(`${name.padEnd(10)} native ${(1e6 * a).toFixed(1).padStart(9)} us   WebAssembly ${(1e6 * b).toFixed(1).padStart(9)} us a step   ${(b / a).toFixed(2)} x`);
}
rmSync(folder, { recursive: true });
