// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Robots in a real browser: visuals, colours and hidden shapes in the replay, collision shapes on demand; actuators of
// an imported model as sliders in the live view.
import { spawn } from "node:child_process";
import path from "node:path";
import { check, cli, openPage, perp, settled, shots, silent, withBrowser } from "./browser.mjs";

const robot = (name) => path.resolve("examples/robots", name);

// Colours of the middle of the stage, counted: how many pixels are near the given one.
function pixelsNear(page, colour) {
  return page.evaluate((want) => {
    const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector(".stage canvas.main"));
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const hue = ([r, g, b]) => {
      const [low, high] = [Math.min(r, g, b), Math.max(r, g, b)];
      return high - low < 25 ? null : [(r - low) / (high - low), (g - low) / (high - low), (b - low) / (high - low)];
    };
    const aim = hue(want);
    let count = 0;
    for (let k = 0; k < data.length; k += 4) {
      const h = hue([data[k], data[k + 1], data[k + 2]]);
      if (h && Math.hypot(h[0] - aim[0], h[1] - aim[1], h[2] - aim[2]) < 0.12) count++;
    }
    return count;
  }, colour);
}

async function replay(browser, folder) {
  const dir = path.join(folder, "quadruped");
  perp("run", robot("quadruped.xml"), "--until", "0.1", "-o", dir, "-q", "--no-figures");
  const page = await openPage(browser, `file://${dir}/replay.html#paused&render=soft&joints=0&forces=0&contacts=0`);
  await settled(page);
  const about = await page.evaluate(() => {
    const { run } = window.perp;
    return { visuals: run.visuals.length, meshes: run.visuals.filter((v) => v.kind === "mesh").length,
      hidden: run.shapes.filter((s) => s.hidden).length, colours: [...new Set(run.visuals.map((v) => v.colour))], size: window.perp.stage.size };
  });
  check(about.visuals === 18 && about.meshes === 9, `visuals and meshes reach the page: ${about.visuals}, ${about.meshes}`);
  check(about.hidden === 9, `shapes that visuals stand for are hidden: ${about.hidden}`);
  check(about.colours.includes("#ed8c29"), `colours of materials: ${about.colours}`);
  check(about.size < 0.9, `the view fits the robot: ${about.size} m`);
  const orange = [237, 140, 41];
  const shown = await pixelsNear(page, orange);
  check(shown > 2000, `the trunk is orange: ${shown} pixels`);
  await page.screenshot({ path: path.join(shots, "robot-visuals.png") });
  await page.keyboard.press("v");
  await settled(page);
  const bare = await pixelsNear(page, orange);
  check(bare < 0.2 * shown, `collision shapes have other colours: ${bare} of ${shown} pixels`);
  check(await page.evaluate(() => window.perp.look.collision), "V shows collision shapes");
  await page.screenshot({ path: path.join(shots, "robot-collision.png") });
  await page.keyboard.press("v");
  await settled(page);
  check((await pixelsNear(page, orange)) > 0.9 * shown, "and visuals again");
  silent(page);
  await page.close();
}

// A scene without visuals has no button for them.
async function plain(browser, folder) {
  const dir = path.join(folder, "plain");
  perp("run", path.resolve("scenes/box-slides.json"), "--until", "0.05", "-o", dir, "-q", "--no-figures");
  const page = await openPage(browser, `file://${dir}/replay.html#paused`);
  check((await page.locator('[data-toggle="collision"]').count()) === 0, "no button without visuals");
  silent(page);
  await page.close();
}

async function live(browser, folder) {
  const child = spawn(cli, ["view", robot("gripper.xml"), "-q", "-o", path.join(folder, "saved")], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((done) => child.on("exit", done));
  const url = await new Promise((done, fail) => {
    let text = "";
    child.stdout.on("data", (part) => {
      text += part;
      if (text.includes("\n")) done(text.split("\n")[0]);
    });
    ended.then((code) => fail(new Error(`perp view ended with ${code}`)));
  });
  try {
    const page = await openPage(browser, url);
    await page.waitForFunction(() => window.perp.run.visuals.length === 6);
    await page.locator('.live input[type="range"]').first().waitFor({ state: "attached" });
    const names = await page.locator('.live input[type="range"]').evaluateAll((list) => list.map((e) => e.getAttribute("aria-label") ?? e.name));
    check(names.some((name) => /close/.test(name)), `the actuator 'close' has a slider: ${names}`);
    await page.screenshot({ path: path.join(shots, "robot-live.png") });
    silent(page);
    await page.close();
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
}

await withBrowser(async (browser, folder) => {
  await replay(browser, folder);
  await plain(browser, folder);
  await live(browser, folder);
});
