// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The library in WebAssembly beside the native command: messages about bad scenes with line and column, hashes, matrices,
// contacts; states in and out; memory that does not grow; hulls that qhull gives up on.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { SceneError, load } from "../js/perp.mjs";
import { built, check, finish, root, skip } from "./built.mjs";

const cli = process.env.PERP_CLI;
if (!cli) skip("PERP_CLI is not set");
const perp = await load(readFileSync(built("perp_page.wasm")));
const scene = (name) => readFileSync(path.join(root, "scenes", name), "utf8");
const folder = mkdtempSync(path.join(tmpdir(), "perp-wasm-"));

// ── messages ──
const bad = [
  "",
  "{",
  '{"bodies": [{"name": 3}]}',
  '{"bodies": [\n  {"name": "a", "mass": -1, "shapes": [{"circle": 1}]}]}',
  '{"step": 0.01,\n "bodis": []}',
  '{"bodies": [{"name": "a", "inertia": 1, "mass": 1, "shapes": [{"box": [1, 2]}]}], "joints": [{"hinge": "a", "to": "b"}]}',
  scene("box-slides.json").replace("}", ","),
  scene("arm-pushes.json").replace("reach", "<script>alert(1)</script>"),
  '{"bodies": [{"name": "a", "mass": 1, "position": ["1 +", 2], "shapes": [{"circle": 1}]}]}',
  // A hull of points in a plane: qhull gives up, and says so by longjmp.
  '{"dimension": 3, "bodies": [{"name": "a", "density": 1, "shapes": [{"hull": [[0,0,0],[1,0,0],[0,1,0],[1,1,0]]}]}]}',
  '{"dimension": 3, "bodies": [{"name": "a", "density": 1, "shapes": [{"hull": [[0,0,0],[1,0,0],[0,1,0],[1,1,1e-17]]}]}]}',
];
for (const text of bad) {
  const file = path.join(folder, "bad.json");
  writeFileSync(file, text);
  const native = spawnSync(cli, ["run", file, "-o", path.join(folder, "bad")], { encoding: "utf8" }).stderr.trim();
  let here = "nothing was wrong";
  try {
    perp.open(text, {}, file).close();
  } catch (e) {
    if (!(e instanceof SceneError)) throw e;
    here = e.line > 0 ? `${file}:${e.line}:${e.column}: ${e.message}` : `${file}: ${e.message}`;
  }
  const same = native === here || native === `perp: ${here}` || native.split("\n")[0] === here;
  check(same, `the message about ${JSON.stringify(text.slice(0, 60))}\n  native: ${native}\n  here:   ${here}`);
}

// A step that fails: a driven body squeezes another one against a wall. The command says the same, and writes the same.
{
  const file = path.join(folder, "squeeze.json");
  writeFileSync(file, `{"name": "squeeze", "step": 0.01, "until": 1, "gravity": [0, 0],
    "shapes": [{"name": "wall", "kind": "halfplane", "position": [0.5, 0], "angle": ${Math.PI / 2}}],
    "bodies": [{"name": "pusher", "kind": "particle", "drive": {"x": "t", "y": 0}, "shapes": [{"name": "tip", "kind": "disc", "radius": 0.1}]},
      {"name": "box", "position": [0.3, 0], "mass": 1, "inertia": 1, "shapes": [{"kind": "disc", "radius": 0.1}]}]}`);
  const fail = (program, ...before) => {
    const dir = path.join(folder, "squeeze");
    rmSync(dir, { recursive: true, force: true });
    const { status, stderr } = spawnSync(program, [...before, "run", file, "-o", dir, "-q", "--no-figures"], { encoding: "utf8" });
    return [String(status), stderr, readFileSync(path.join(dir, "bodies.csv"), "utf8"), readFileSync(path.join(dir, "events.jsonl"), "utf8")];
  };
  const native = fail(cli);
  const here = fail(process.execPath, built("package/cli.mjs"));
  check(native[0] === "3" && /jam: no velocity satisfies/.test(native[1]), `the squeezed body jams natively: ${native[0]} ${native[1]}`);
  ["exit code", "message", "bodies.csv", "events.jsonl"].forEach((what, k) => check(native[k] === here[k], `${what} of a step that fails\n  native: ${native[k]}\n  here:   ${here[k]}`));
}

// ── runs ──
const table = readFileSync(path.join(root, "test/golden/hashes.txt"), "utf8");
for (const name of ["arm-pushes.json", "berard-4.6.json", "painleve-rod.json"]) {
  const sim = perp.open(scene(name));
  const [, steps, hash] = table.match(new RegExp(`^scenes/${name} (\\d+) - ([0-9a-f]+)`, "m")) ?? [];
  sim.step(+steps);
  check(sim.hash === hash, `hash of ${name} after ${steps} steps: ${sim.hash}, natively ${hash}`);
  check(sim.certificate().passed, `certificate of ${name}`);
  const { q, nu } = sim.state();
  const before = sim.hash;
  sim.step(3);
  check(sim.hash !== before, `${name} moves`);
  const twin = perp.open(scene(name));
  twin.setState(sim.time, sim.state());
  check(twin.hash === sim.hash, `the state of ${name} goes in and out`);
  check(q.length === sim.about.nq && nu.length === sim.about.nv && sim.poses().length === 7 * sim.about.bodies.length, `sizes of ${name}`);
  sim.close();
  twin.close();
}

// The matrices of a step.
{
  const file = path.join(root, "scenes/trinkle-box.json");
  const native = JSON.parse(execFileSync(cli, ["explain", file, "--at", "0.01", "--json"], { encoding: "utf8" }));
  const sim = perp.open(readFileSync(file, "utf8"));
  while (sim.time < 0.01 - 1e-9) sim.step();
  sim.step();
  check(JSON.stringify(sim.explain()) === JSON.stringify(native), "explain has the matrices of the command");
  sim.close();
}

// Parameters and inputs.
{
  const near = perp.open(scene("arm-pushes.json"));
  const far = perp.open(scene("arm-pushes.json"), { reach: 0.45 });
  check(far.about.parameters.find((p) => p.name === "reach").value === 0.45, "a parameter is set");
  near.setInput("turn", 0.3);
  near.step(10);
  far.step(10);
  check(near.hash !== far.hash, "inputs and parameters act");
  let refused = false;
  try {
    near.setInput("none", 1);
  } catch {
    refused = true;
  }
  check(refused, "an unknown input is refused");
  near.close();
  far.close();
}

// ── the clock of the live view (cli/live_sim.c) ──
// Simulated time follows the clock at the speed that is asked for, to a step: also with steps longer than a frame, which
// once went ahead, and in slow motion with steps longer than what a delay may catch up, which once did not move.
{
  const own = performance.now;
  const began = own.call(performance);
  let now = began;
  performance.now = () => now;
  for (const [speed, h] of [[1, 0.01], [1, 0.05], [2, 0.05], [0.05, 0.02], [1, 0.3]]) {
    const text = JSON.stringify({ step: h, bodies: [{ name: "ball", mass: 1, inertia: 1, velocity: [1, 0] }] });
    check(perp.with(["clock", text, ""], perp.x.js_live_open) === 0, `a live view with steps of ${h} s`);
    perp.with([JSON.stringify({ speed, run: true })], perp.x.js_live_obey);
    for (let k = 0; k < 180; k++) {
      now += 1000 / 60;
      perp.x.js_live_turn();
    }
    const t = h * perp.x.js_live_steps();
    check(Math.abs(t - 3 * speed) <= h, `3 s at speed ${speed}, steps of ${h} s: ${t} s`);
    perp.x.js_live_close();
  }
  performance.now = own;
}

// ── memory ──
{
  const sim = perp.open(scene("arm-pushes.json"));
  sim.step(2000);
  const taken = perp.memory;
  const steps = +(process.env.PERP_STEPS ?? 10000);
  for (let k = 0; k < steps; k += 500) {
    sim.step(500);
    sim.contacts();
    sim.certificate();
  }
  check(perp.memory === taken, `${perp.memory - taken} bytes more after ${steps} steps`);
  sim.close();
  // A scene that is opened and closed leaves nothing either.
  const one = () => {
    const s = perp.open(scene("berard-4.6.json"));
    s.step(5);
    s.close();
  };
  for (let k = 0; k < 20; k++) one();
  const before = perp.memory;
  for (let k = 0; k < 200; k++) one();
  check(perp.memory === before, `${perp.memory - before} bytes more after 200 scenes`);
}

// ── the command ──
{
  const scenes = ["box-slides.json", "berard-4.6.json"];
  for (const name of scenes) {
    const file = path.join(root, "scenes", name);
    const [here, there] = [path.join(folder, "here"), path.join(folder, "there")];
    const command = spawnSync(process.execPath, [path.join(built("package"), "cli.mjs"), "run", file, "-o", here, "-q"], { encoding: "utf8" });
    check(command.status === 0, `perp run ${name}: ${command.stderr}`);
    execFileSync(cli, ["run", file, "-o", there, "-q"]);
    const csv = readdirSync(there).filter((f) => f.endsWith(".csv") || f.endsWith(".jsonl"));
    check(csv.length >= 3, `${name} has tables`);
    for (const table of csv) {
      check(readFileSync(path.join(here, table), "utf8") === readFileSync(path.join(there, table), "utf8"), `${table} of ${name}`);
    }
    rmSync(here, { recursive: true });
    rmSync(there, { recursive: true });
  }
}

rmSync(folder, { recursive: true });
finish();
