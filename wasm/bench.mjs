// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Time of all steps of a run in WebAssembly beside the native build, on one thread: node wasm/bench.mjs PERP [GENERATOR...]
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { built } from "./test/built.mjs";

const [cli, ...asked] = process.argv.slice(2);
const names = asked.length > 0 ? asked : ["slide", "incline", "bounce", "stack3", "wall3", "pile3", "chain3", "arch3", "wall", "stack"];
const folder = mkdtempSync(path.join(tmpdir(), "perp-bench-"));
const script = path.join(built("package"), "cli.mjs");
const seconds = (command, scene) => {
  const runs = [0, 1].map(() => {
    execFileSync(command[0], [...command.slice(1), "run", scene, "-o", path.join(folder, "run"), "-q", "--threads", "1"], { env: { ...process.env, OMP_NUM_THREADS: "1" } });
    const summary = JSON.parse(readFileSync(path.join(folder, "run/summary.json"), "utf8"));
    return summary.seconds.stepping;
  });
  return Math.min(...runs);
};
for (const name of names) {
  const scene = path.join(folder, `${name}.json`);
  execFileSync(cli, ["scene", name, "-o", scene]);
  const native = seconds([cli], scene);
  const here = seconds([process.execPath, script], scene);
  console.log(`${name.padEnd(10)} native ${(1e3 * native).toFixed(1).padStart(9)} ms   WebAssembly ${(1e3 * here).toFixed(1).padStart(9)} ms   ${(here / native).toFixed(2)} x`);
}
rmSync(folder, { recursive: true });
