// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Marks and camera in a real browser: a crowd of contacts does not bury the bodies, the camera stays above the floor,
// frames what matters, and obeys fingers.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { check, near, openPage, perp, settled, shots, silent, withBrowser } from "./browser.mjs";

const url = (dir, hash = "paused") => `file://${path.join(dir, "replay.html")}#${hash}`;

// Share of the picture of the bodies that the overlay covers.
function covered(page) {
  return page.evaluate(() => {
    const { stage, overlay } = window.perp;
    window.perp.draw();
    const { depth, w, h } = stage.depthMap;
    const { data, width, height } = overlay.ctx.getImageData(0, 0, overlay.canvas.width, overlay.canvas.height);
    let bodies = 0;
    let under = 0;
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        if (depth[Math.floor((y / height) * h) * w + Math.floor((x / width) * w)] >= 1) continue;
        bodies++;
        under += data[4 * (y * width + x) + 3] > 60 ? 1 : 0;
      }
    }
    return { bodies, share: under / bodies };
  });
}

// Bodies that nearer ones cover are skipped, and the picture is the same.
async function skips(browser, folder) {
  const [scene, dir] = [path.join(folder, "heap.json"), path.join(folder, "heap")];
  perp("scene", "heap3", "--bodies", "125", "--cubes", "1", "-o", scene);
  perp("run", scene, "--until", "0.02", "-o", dir, "-q", "--no-figures");
  const page = await openPage(browser, url(dir, "paused&render=soft"));
  const { with: fewer, without: all, differ, shaded, bare } = await page.evaluate(() => {
    const app = window.perp;
    const { soft } = app.stage;
    const paint = () => {
      const fill = soft.fill;
      let filled = 0;
      soft.fill = function (...args) {
        filled++;
        fill.apply(this, args);
      };
      app.draw();
      soft.fill = fill;
      return { filled, pixels: soft.pixels.slice(), depth: soft.depth.slice() };
    };
    const one = paint();
    soft.covered = () => false;
    const two = paint();
    delete soft.covered;
    const count = (test) => one.pixels.reduce((n, _, k) => n + (test(k) ? 1 : 0), 0);
    return {
      with: one.filled,
      without: two.filled,
      differ: count((k) => one.pixels[k] !== two.pixels[k] || one.depth[k] !== two.depth[k]),
      shaded: count((k) => one.depth[k] === 1 && one.pixels[k] !== 0),
      bare: count((k) => one.depth[k] === 1 && one.pixels[k] === 0),
    };
  });
  check(fewer < 0.8 * all, `${fewer} of ${all} bodies are drawn`);
  check(differ === 0, `${differ} pixels differ`);
  check(shaded > 1000 && bare > 1000, `shadows cover ${shaded} pixels of the ground, and not ${bare}`);
  await page.context().close();
}

async function crowd(browser, folder) {
  const [scene, dir] = [path.join(folder, "crowd.json"), path.join(folder, "crowd")];
  perp("scene", "pile3", "--bodies", "125", "--cubes", "1", "--step", "0.01", "-o", scene);
  perp("run", scene, "--until", "0.7", "-o", dir, "-q", "--no-figures");
  const page = await openPage(browser, url(dir, "t=0.7&render=soft"));
  await settled(page);
  const marks = await page.evaluate(() => {
    const { overlay, run, state } = window.perp;
    const [from, to] = run.contactRange(state.snap);
    return { contacts: to - from, drawn: overlay.spots.length, radius: overlay.contacts.radius, crowd: overlay.contacts.crowd };
  });
  check(marks.contacts > 200, `there is a crowd: ${JSON.stringify(marks)}`);
  check(marks.drawn > 10 && marks.drawn < 0.6 * marks.contacts, `marks behind bodies are left out: ${JSON.stringify(marks)}`);
  check(marks.radius < 4.2, `points shrink: ${marks.radius}`);
  const { bodies, share } = await covered(page);
  check(bodies > 20000 && share > 0.002 && share < 0.08, `marks cover ${share} of ${bodies} pixels of bodies`);
  await page.screenshot({ path: path.join(shots, "crowd-marks.png") });
  // Of a selected body every contact is drawn, with normals and cones; of the others neither.
  const [none, some] = await page.evaluate(() => {
    const { look, overlay, run, state } = window.perp;
    const ink = () => {
      window.perp.draw();
      const { width, height } = overlay.canvas;
      return overlay.ctx.getImageData(0, 0, width, height).data.reduce((n, v) => n + (v !== 0 ? 1 : 0), 0);
    };
    const gain = () => {
      look.cones = look.normals = false;
      const without = ink();
      look.cones = look.normals = true;
      return ink() - without;
    };
    const before = gain();
    const [from] = run.contactRange(state.snap);
    const busiest = run.contact(from).track;
    window.perp.select({ body: run.shapes[run.trackShapes.data[2 * busiest + 1]].body });
    return [before, gain()];
  });
  check(none === 0 && some > 0, `normals and cones of the selection only: ${none}, ${some}`);
  silent(page);
  await page.context().close();
}

// The sum of contact forces of a body at rest is its weight.
async function weight(browser, folder) {
  const dir = path.join(folder, "box");
  perp("run", "scenes/slope-sticks.json", "-o", dir, "-q", "--no-figures");
  const page = await openPage(browser, url(dir, "t=0.5"));
  const got = await page.evaluate(() => {
    const { run, state } = window.perp;
    const body = run.bodyOfRow[0];
    window.perp.select({ body });
    const { force, count } = run.contactSum(body, state.snap);
    return { force: Math.hypot(...force), count, weight: run.bodies[body].mass * 9.81 };
  });
  check(got.count > 0, "the block touches the slope");
  near(got.force, got.weight, 1e-3 * got.weight, "contact forces balance the weight");
  check((await page.locator("[data-id=contact-force]").count()) === 1, "the panel shows the sum");
  silent(page);
  await page.context().close();
}

async function floor(browser, folder) {
  const dir = path.join(folder, "robot");
  perp("run", "scenes/trinkle-robot.json", "--until", "0.3", "-o", dir, "-q", "--no-figures");
  for (const render of ["soft", "gl"]) {
    const page = await openPage(browser, url(dir, `t=0.2&render=${render}`));
    const height = () => page.evaluate(() => window.perp.stage.camera.position.z - window.perp.stage.floorAt(0, 0));
    const box = await page.locator("canvas.main").boundingBox();
    const [x, y] = [box.x + 0.7 * box.width, box.y + 0.3 * box.height];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 20, y - 400, { steps: 6 });
    await page.mouse.up();
    const low = await height();
    check(low > 0, `the camera stays above the floor: ${low} m`);
    await page.keyboard.press("u");
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x, y - 300, { steps: 6 });
    await page.mouse.up();
    check((await height()) < 0, "unless asked");
    await page.keyboard.press("u");
    check((await height()) > 0, "and comes back");
    await page.keyboard.press("0");
    await settled(page);
    const home = await page.evaluate(() => window.perp.stage.camera.position.toArray());
    await page.evaluate(() => window.perp.select({ body: window.perp.run.bodies.findIndex((b) => b.name === "ball") }));
    await page.keyboard.press("z");
    await settled(page);
    const framed = await page.evaluate(() => {
      const { stage, run, state, reach } = window.perp;
      const k = run.bodies.findIndex((b) => b.name === "ball");
      const p = [...state.position.subarray(3 * k, 3 * k + 3)];
      return { at: stage.project(p), r: reach[k] * stage.pixels(p), width: stage.width, height: stage.height };
    });
    near(framed.at[0], framed.width / 2, 2, "the ball is in the middle");
    check(framed.r > 0.15 * framed.height && framed.r < 0.5 * framed.height, `and large: ${framed.r} of ${framed.height} px`);
    await page.keyboard.press("Escape");
    await page.keyboard.press("0");
    const again = await page.evaluate(() => window.perp.stage.camera.position.toArray());
    check(again.every((v, i) => Math.abs(v - home[i]) < 0.3 * Math.abs(home[i]) + 0.3), `home again: ${home}, ${again}`);
    silent(page);
    await page.context().close();
  }
}

// Of two bodies one rolls away: the other one is not a speck, and its arrows are not many times its size.
async function leaves(browser, folder) {
  const [scene, dir] = [path.join(folder, "leaves.json"), path.join(folder, "leaves")];
  const box = { name: "box", kind: "solid", position: [0, 1, 0.25], shapes: [{ kind: "box", size: [0.5, 0.5, 0.5], density: 100, mu: 0.5 }] };
  const ball = { name: "ball", kind: "solid", position: [0, 0, 0.2], velocity: [3, 0, 0], shapes: [{ kind: "sphere", radius: 0.2, density: 100, mu: 0.5 }] };
  writeFileSync(scene, JSON.stringify({ step: 0.01, until: 8, shapes: [{ name: "floor", kind: "halfspace", mu: 0.5 }], bodies: [ball, box] }));
  perp("run", scene, "-o", dir, "-q", "--no-figures");
  const page = await openPage(browser, url(dir, "t=7"));
  const { side, arrow } = await page.evaluate(() => {
    const { stage, overlay, state } = window.perp;
    const scale = stage.pixels([...state.position.subarray(6, 9)]);
    return { side: 0.5 * scale, arrow: overlay.contacts.metresPerNewton * overlay.contacts.force * scale };
  });
  check(side > 40, `the box that stays is ${side} pixels wide`);
  check(arrow < 4 * side, `an arrow is ${arrow} pixels long`);
  silent(page);
  await page.context().close();
}

// A disc that rolls away stays in sight, and is not a speck.
async function travel(browser, folder) {
  const dir = path.join(folder, "rolls");
  perp("run", "scenes/disc-rolls.json", "--until", "3", "-o", dir, "-q", "--no-figures");
  const page = await openPage(browser, url(dir));
  for (const t of [0, 1.5, 3]) {
    await page.evaluate((at) => window.perp.player.seek(at), t);
    await settled(page);
    const { at, r, width } = await page.evaluate(() => {
      const { stage, state } = window.perp;
      return { at: stage.project([...state.position.subarray(3, 6)]), r: 0.1 * stage.pixels(), width: stage.width };
    });
    check(at[0] > 0.3 * width && at[0] < 0.8 * width && r > 0.05 * width, `the disc is seen at ${t} s: ${at[0]} of ${width}, ${r} px`);
  }
  // Moved by hand, it still follows.
  await page.evaluate(() => window.perp.stage.pan(-100, 0));
  const before = await page.evaluate(() => window.perp.stage.project([...window.perp.state.position.subarray(3, 6)])[0]);
  await page.evaluate(() => window.perp.player.seek(2));
  await settled(page);
  near(await page.evaluate(() => window.perp.stage.project([...window.perp.state.position.subarray(3, 6)])[0]), before, 1, "a view moved by hand follows");
  silent(page);
  await page.context().close();
}

// A ladder given by the points at its ends is drawn; so is a box given by its corners.
async function points(browser, folder) {
  for (const name of ["ladder-stands", "pusher"]) {
    const dir = path.join(folder, name);
    perp("run", `scenes/${name}.json`, "--until", "0.05", "-o", dir, "-q", "--no-figures");
    const page = await openPage(browser, url(dir, "t=0&contacts=0&forces=0&joints=0"));
    const ink = await page.evaluate(() => {
      const { overlay } = window.perp;
      const { width, height } = overlay.canvas;
      const count = () => {
        window.perp.draw();
        return overlay.ctx.getImageData(0, 0, width, height).data.reduce((n, v) => n + (v !== 0 ? 1 : 0), 0);
      };
      const all = count();
      const { bare } = overlay;
      overlay.bare = [];
      const without = count();
      overlay.bare = bare;
      return { all, without };
    });
    check(ink.all > ink.without + 500, `${name} is drawn: ${JSON.stringify(ink)}`);
    silent(page);
    await page.context().close();
  }
}

// Two fingers zoom, in a plane and in space.
async function fingers(browser, folder) {
  for (const name of ["rolls", "robot"]) {
    const page = await openPage(browser, url(path.join(folder, name), "t=0.1"), { touch: true });
    const scale = () => page.evaluate(() => window.perp.stage.pixels(window.perp.stage.aim()));
    const box = await page.locator("canvas.main").boundingBox();
    const [x, y] = [box.x + 0.6 * box.width, box.y + 0.5 * box.height];
    const session = await page.context().newCDPSession(page);
    const touch = (type, points) => session.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([px, py], id) => ({ x: px, y: py, id })) });
    const before = await scale();
    await touch("touchStart", [[x - 30, y], [x + 30, y]]);
    for (let k = 1; k <= 6; k++) await touch("touchMove", [[x - 30 - 12 * k, y], [x + 30 + 12 * k, y]]);
    await touch("touchEnd", []);
    await settled(page);
    const after = await scale();
    check(after > 1.5 * before, `${name}: two fingers zoom, ${before} to ${after} px/m`);
    silent(page);
    await page.context().close();
  }
}

await withBrowser(async (browser, folder) => {
  await crowd(browser, folder);
  await skips(browser, folder);
  await weight(browser, folder);
  await floor(browser, folder);
  await travel(browser, folder);
  await leaves(browser, folder);
  await fingers(browser, folder);
  await points(browser, folder);
});
