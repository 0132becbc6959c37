// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the animated picture of README.md: a ball strikes a wall of bricks, drawn by replay.html.
//
//   PERP_CLI=$PWD/build/release/cli/perp PERP_MODULES=$PWD/build/release/viewer/node_modules \
//   node tools/replay_movie.mjs docs/img
//
// Needs Chromium, ffmpeg and gifsicle (Debian packages of these names). The frames stay in build/movie.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { openPage, perp, settled, silent, withBrowser } from "../viewer/test/browser.mjs";

const out = process.argv[2] ?? "docs/img";
const frames = path.resolve("build/movie");
const FPS = 20, SLOWER = 2, START = 0.2, END = 1.7, HOLD = 0.8;  // [1/s], [-], [s], [s], [s]

// A wall by `perp scene`, and a ball thrown at it.
function writeScene(file) {
  perp("scene", "wall3", "--rows", "5", "--columns", "4", "--step", "0.005", "--until", String(END), "-o", file);
  const scene = JSON.parse(readFileSync(file, "utf8"));
  scene.name = "wall struck by a ball";
  const shape = { kind: "sphere", radius: 0.5, density: 12, mu: 0.5 };
  scene.bodies.push({ name: "ball", kind: "solid", position: [0.3, -4, 1.5], velocity: [0, 8, 2], shapes: [shape] });
  writeFileSync(file, JSON.stringify(scene));
}

// Only the stage is kept: bodies, shadows, contact points and forces.
async function frameStage(page) {
  await page.addStyleTag({ content: ".head, .foot, .tools, .note { display: none !important } .middle { position: fixed !important; inset: 0 }" });
  await page.setViewportSize({ width: 960, height: 540 });
  await settled(page);
  await page.evaluate(() => {
    const { camera, controls } = window.perp.stage;
    window.perp.stage.fitted = false;
    controls.target.set(0.35, 0.5, 1.05);
    camera.position.set(5.6, -6.4, 3.9);
    controls.update();
  });
}

await withBrowser(async (browser, folder) => {
  const scene = path.join(folder, "struck.json"), dir = path.join(folder, "struck");
  writeScene(scene);
  perp("run", scene, "-o", dir, "-q", "--no-figures");  // ends with an error when a certificate is violated
  const page = await openPage(browser, `file://${dir}/replay.html#render=gl&paused&strips=0`);
  await frameStage(page);
  rmSync(frames, { recursive: true, force: true });
  mkdirSync(frames, { recursive: true });
  const count = Math.round((END - START) * SLOWER * FPS);
  for (let k = 0; k <= count; k++) {
    await page.evaluate((t) => window.perp.player.seek(t), START + k / (SLOWER * FPS));
    await settled(page);
    await page.screenshot({ path: path.join(frames, `${String(k).padStart(3, "0")}.png`) });
  }
  silent(page);
});
// One palette for all frames, no dithering: moving noise does not compress.
const gif = path.join(out, "wall-struck.gif");
const palette = "split[a][b];[a]palettegen=max_colors=128[p];[b][p]paletteuse=dither=none";
execFileSync("ffmpeg", [
  "-y", "-loglevel", "error", "-framerate", String(FPS), "-i", path.join(frames, "%03d.png"),
  "-vf", `scale=640:-1:flags=lanczos,tpad=stop_mode=clone:stop_duration=${HOLD},${palette}`, "-loop", "0", gif,
]);
execFileSync("gifsicle", ["-O3", "--lossy=20", "--batch", gif]);
