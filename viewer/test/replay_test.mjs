// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// replay.html in a real browser, from file://: a planar run, a spatial one, one past its limits, one too long.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { check, cli, colours, csv, inked, near, openPage, perp, settled, shots, silent, withBrowser } from "./browser.mjs";

const url = (dir, hash = "paused") => `file://${path.join(dir, "replay.html")}#${hash}`;

async function positionShown(page) {
  const text = await page.locator("[data-id=position]").innerText();
  return text.match(/-?\d+(\.\d+)?(e[+-]?\d+)?/g).map(Number);
}

// The time slider, dragged to a moment; the panel's numbers are those of bodies.csv.
async function scrub(page, dir, body, axes) {
  const rows = csv(path.join(dir, "bodies.csv")).filter((r) => r.body === body);
  await page.evaluate((name) => window.perp.select({ body: window.perp.run.bodies.findIndex((b) => b.name === name) }), body);
  for (const f of [0.37, 0.82]) {
    const row = rows[Math.round(f * (rows.length - 1))];
    await page.evaluate((t) => {
      const { run } = window.perp;
      const slider = /** @type {HTMLInputElement} */ (document.querySelector(".scrub input"));
      slider.value = String(Math.round(((t - run.t0) / (run.t1 - run.t0)) * 10000));
      slider.dispatchEvent(new Event("input"));
      window.perp.player.seek(t);
    }, +row.t);
    await settled(page);
    const shown = await positionShown(page);
    axes.forEach((axis, k) => near(shown[k], +row[axis], 2e-5, `${body}.${axis} at ${row.t}`));
    const drawn = await page.evaluate((name) => {
      const k = window.perp.run.bodies.findIndex((b) => b.name === name);
      return [...window.perp.state.position.subarray(3 * k, 3 * k + 3)];
    }, body);
    axes.forEach((axis, k) => near(drawn[k], +row[axis], 1e-6, `drawn ${body}.${axis} at ${row.t}`));
  }
}

async function toggles(page) {
  const ink = async () => {
    await settled(page);
    return inked(page);
  };
  await page.locator("canvas.main").focus();
  const before = await ink();
  await page.click("[data-toggle=forces]");
  check((await page.getAttribute("[data-toggle=forces]", "aria-pressed")) === "false", "forces are off");
  const without = await ink();
  check(without < before, `fewer pixels without forces: ${without} < ${before}`);
  await page.click("[data-toggle=forces]");
  check((await ink()) === before, "as before with forces");
  for (const name of ["normals", "cones", "axes", "gaps", "trails"]) {
    const off = await ink();
    await page.click(`[data-toggle=${name}]`);
    check((await ink()) > off, `${name} draw something`);
    await page.click(`[data-toggle=${name}]`);
  }
}

// A click where a loaded contact is; the panel tells its mode, and has a plot.
async function clickContact(page) {
  const at = await page.evaluate(() => {
    const { run, state, stage } = window.perp;
    const [from, to] = run.contactRange(state.snap);
    for (let row = from; row < to; row++) {
      const c = run.contact(row);
      if (c.mode > 0) return { at: stage.project(c.point), track: c.track, name: run.trackName(c.track), mode: c.mode };
    }
    return null;
  });
  check(at, "there is a loaded contact");
  const box = await page.locator("canvas.main").boundingBox();
  await page.mouse.click(box.x + at.at[0], box.y + at.at[1]);
  await settled(page);
  check((await page.locator(".panel h2").innerText()).startsWith(at.name), "the panel names the contact");
  check((await page.locator("[data-id=mode]").innerText()) === ["open", "stick", "slip"][at.mode], "and its mode");
  check((await page.locator(".panel .uplot").count()) === 1, "and plots it");
  await page.keyboard.press("Escape");
  check(await page.locator(".panel").isHidden(), "Escape closes the panel");
}

async function keyboard(page) {
  const t = () => page.evaluate(() => window.perp.player.t);
  const playing = () => page.evaluate(() => window.perp.player.playing);
  await page.locator("canvas.main").focus();
  await page.keyboard.press("Home");
  const start = await t();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  const two = await page.evaluate(() => window.perp.run.poses.t.data[2]);
  check((await t()) === two && two > start, "two steps forward");
  await page.keyboard.press("ArrowLeft");
  check((await t()) < two, "a step back");
  await page.keyboard.press("End");
  check((await t()) === (await page.evaluate(() => window.perp.run.t1)), "the end");
  await page.keyboard.press(" ");
  check(await playing(), "space plays");
  await page.waitForFunction((end) => window.perp.player.t > window.perp.run.t0 && window.perp.player.t < end, await page.evaluate(() => window.perp.run.t1));
  await page.keyboard.press(" ");
  check(!(await playing()), "space pauses");
  await page.keyboard.press("?");
  check(await page.locator("dialog[open]").isVisible(), "? shows the keys");
  await page.keyboard.press("Escape");
  check((await page.locator("dialog[open]").count()) === 0, "Escape hides them");
  await page.keyboard.press("n");
  check(await page.locator(".panel").isVisible(), "n selects a body");
  await page.keyboard.press("f");
  check((await page.evaluate(() => window.perp.look.follow)) > 0, "f follows it");
  await page.keyboard.press("0");
  await page.keyboard.press("Escape");
  await page.keyboard.press("b");
  check(/Certified/.test(await page.locator("dialog[open] h2").innerText()), "b shows the certificate");
  await page.keyboard.press("Escape");
}

async function picture(page, name, prepare) {
  await page.evaluate(prepare);
  await settled(page);
  await page.waitForTimeout(300);
  await page.screenshot({ path: path.join(shots, `${name}.png`) });
}

async function scene(browser, folder, name, body, axes) {
  const dir = path.join(folder, name);
  perp("run", `scenes/${name}.json`, "-o", dir, "-q", "--no-figures");
  const page = await openPage(browser, url(dir));
  check((await page.title()).startsWith(name), "the title names the scene");
  check((await colours(page, "canvas.main")) > 12, "the stage is not blank");
  check(/equations solved to .* m\/s, error of the motion not estimated/.test(await page.locator("[data-badge]").innerText()), "the badge says what is known");
  await scrub(page, dir, body, axes);
  await picture(page, `${name}-light`, () => window.perp.player.seek(0.4 * window.perp.run.t1));
  await toggles(page);
  await clickContact(page);
  await keyboard(page);
  await picture(page, `${name}-dark`, () => {
    window.perp.theme.set("dark");
    window.perp.look.cones = window.perp.look.trails = true;
    window.perp.toggles();
    window.perp.player.seek(0.7 * window.perp.run.t1);
    window.perp.nextContact();
  });
  silent(page);
  await page.context().close();
}

// Where an accuracy was asked for, the badge says how far the motion may be off beside what its equations are solved to.
async function estimated(browser, folder) {
  const dir = path.join(folder, "estimated");
  perp("run", "scenes/pendulum.json", "--stepper", "implicit", "--accuracy", "1e-2", "--until", "0.3", "-o", dir, "-q", "--no-figures");
  const page = await openPage(browser, url(dir));
  const text = await page.locator("[data-badge]").innerText();
  check(/equations solved to .* m\/s, estimated error of the motion [0-9.]+e-[0-9]+ m/.test(text), `the badge has both errors: ${text}`);
  silent(page);
  await page.context().close();
}

// Where a limit was passed: a red badge, and marks on the timeline.
async function violated(browser, folder) {
  const dir = path.join(folder, "violated");
  let code = 0;
  try {
    execFileSync(cli, ["run", "scenes/spring-damper.json", "--step", "0.5", "-o", dir, "-q", "--no-figures"], { stdio: "ignore" });
  } catch (e) {
    code = e.status;
  }
  check(code === 4, `the run is past its limits, exit code ${code}`);
  const page = await openPage(browser, url(dir));
  check(/violated in/.test(await page.locator("[data-badge]").innerText()), "the badge shows the violation");
  check((await page.evaluate(() => window.perp.violations.length)) > 0, "there are marks");
  const red = await page.evaluate(() => {
    const c = /** @type {HTMLCanvasElement} */ (document.querySelector(".scrub canvas"));
    const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
    let n = 0;
    for (let k = 0; k < d.length; k += 4) n += d[k] > 140 && d[k + 1] < 80 && d[k + 3] > 200 ? 1 : 0;
    return n;
  });
  check(red > 0, "marks are red");
  await picture(page, "violated", () => window.perp.player.seek(0.9));
  silent(page);
  await page.context().close();
}

// A page that has to be small says what it left out, and plays.
async function small(browser, folder) {
  const dir = path.join(folder, "small");
  perp("run", "scenes/berard-4.6.json", "-o", dir, "-q", "--no-figures", "--no-replay");
  check(!existsSync(path.join(dir, "replay.html")), "no page was asked for");
  perp("view", dir, "--replay-mb", "0.75", "-q");
  const page = await openPage(browser, url(dir, ""), { calm: false });
  check(/frames, to fit 0.75 MB/.test(await page.locator(".note").innerText()), "the page says what it left out");
  const t = await page.evaluate(() => window.perp.player.t);
  await page.waitForFunction((was) => window.perp.player.t !== was, t);
  silent(page);
  await page.context().close();
}

// A thousand bodies without a GPU: the time that drawing takes is told, and must not be out of all reason.
async function crowd(browser, folder) {
  const dir = path.join(folder, "crowd");
  const scene = path.join(folder, "crowd.json");
  perp("scene", "pile3", "--bodies", "1000", "--cubes", "1", "-o", scene);
  try {
    execFileSync(cli, ["run", scene, "--until", "0.1", "--solver", "gs", "--tol", "1e-3", "-o", dir, "-q", "--no-figures"], { stdio: "ignore" });
  } catch (e) {
    check(e.status === 4, `the run ends, exit code ${e.status}`);
  }
  const page = await openPage(browser, url(dir));
  check(await page.evaluate(() => !!window.perp.stage.soft), "an emulated GPU is not used");
  const ms = await page.evaluate(async () => {
    const { perp } = window;
    const times = [];
    perp.player.play(true);
    for (let k = 0; k < 30; k++) {
      await new Promise((done) => requestAnimationFrame(done));
      const from = performance.now();
      perp.draw();
      times.push(performance.now() - from);
    }
    return times.sort((a, b) => a - b)[7];
  });
  console.log(`1000 bodies: ${ms.toFixed(1)} ms a frame`);
  check(ms < 250, `a frame of 1000 bodies takes ${ms} ms`);
  silent(page);
  await page.context().close();
}

// The same page by WebGL, which browsers with a GPU use.
async function webgl(browser, folder) {
  const page = await openPage(browser, url(path.join(folder, "trinkle-robot"), "t=0.6&render=gl"));
  check(await page.evaluate(() => !window.perp.stage.soft && !!window.perp.stage.renderer), "WebGL is used");
  check((await colours(page, "canvas.main")) > 12, "its stage is not blank");
  await page.screenshot({ path: path.join(shots, "trinkle-robot-webgl.png") });
  silent(page);
  await page.context().close();
}

// A spring is drawn between the points it acts on.
async function spring(browser, folder) {
  const dir = path.join(folder, "spring");
  perp("run", "scenes/spring-damper.json", "-o", dir, "-q", "--no-figures");
  const page = await openPage(browser, url(dir, "t=0.1"));
  await settled(page);
  await page.screenshot({ path: path.join(shots, "spring.png") });
  const inks = await page.evaluate(() => {
    const { run, overlay } = window.perp;
    const count = () => {
      window.perp.draw();
      const { width, height } = overlay.canvas;
      return overlay.ctx.getImageData(0, 0, width, height).data.reduce((n, v) => n + (v !== 0 ? 1 : 0), 0);
    };
    const { springs } = run;
    const all = count();
    run.springs = [];
    const none = count();
    run.springs = springs;
    return { springs: springs.length, all, none };
  });
  check(inks.springs > 0 && inks.all > inks.none, `springs are drawn: ${JSON.stringify(inks)}`);
  silent(page);
  await page.context().close();
}

// The strip of sensors has the numbers of sensors.csv; the frame of the chosen sensor is drawn on the stage.
async function sensors(browser, folder) {
  const dir = path.join(folder, "sensors");
  perp("run", "scenes/sensor-arm.json", "-o", dir, "-q", "--no-figures");
  const page = await openPage(browser, url(dir, "t=0.5"));
  const plain = await inked(page);
  const names = await page.locator(".strip:last-child optgroup[label=Sensors] option").allInnerTexts();
  check(names.length === 10 && names[3] === "wrist force", `all sensors are listed: ${names}`);
  await page.locator(".strip:last-child select").selectOption("sensor:3");
  await settled(page);
  check((await inked(page)) !== plain, "the frame of the sensor is drawn");
  check(/\[N\]/.test(await page.locator(".strip:last-child h3 span").innerText()), "the unit is shown");
  await page.screenshot({ path: path.join(shots, "sensors.png") });
  const rows = csv(path.join(dir, "sensors.csv"));
  const shown = await page.evaluate(() => [...window.perp.strips.slots[3].view.data].map((c) => c.length));
  check(shown.length === 4, "time and three components are plotted");
  for (const k of [1, 333, rows.length - 1]) {
    const got = await page.evaluate((frame) => window.perp.run.sensor(3, frame), k);
    ["x", "y", "z"].forEach((axis, i) => near(got[i], +rows[k][`wrist force.${axis} [N]`], 1e-5, `wrist force.${axis} in frame ${k}`));
  }
  check((await page.evaluate(() => window.perp.run.sensor(3, 0)))[0] === null, "a mean is not known at the start");
  silent(page);
  await page.context().close();
  const other = await openPage(browser, url(dir, "t=0.5&sensor=height"));
  check((await other.evaluate(() => window.perp.look.sensor)) === 8, "the address chooses a sensor");
  silent(other);
  await other.context().close();
}

await withBrowser(async (browser, folder) => {
  await scene(browser, folder, "berard-4.6", "block", ["x", "y"]);
  await scene(browser, folder, "trinkle-robot", "ball", ["x", "y", "z"]);
  await webgl(browser, folder);
  await crowd(browser, folder);
  await estimated(browser, folder);
  await violated(browser, folder);
  await small(browser, folder);
  await spring(browser, folder);
  await sensors(browser, folder);
});
