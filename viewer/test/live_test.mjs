// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp view in a real browser: run, step, reset, drag, change, save, two pages, a page that does not read, strangers,
// and the end.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import path from "node:path";
import { check, cli, colours, near, openPage, perp, settled, shots, silent, withBrowser } from "./browser.mjs";

// ── the server ──

async function serve(folder, scene, ...words) {
  const child = spawn(cli, ["view", scene, "-q", "-o", path.join(folder, "saved"), ...words], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((done) => child.on("exit", (code, signal) => done({ code, signal })));
  const url = await new Promise((done, fail) => {
    let text = "";
    child.stdout.on("data", (part) => {
      text += part;
      if (text.includes("\n")) done(text.split("\n")[0]);
    });
    ended.then(({ code }) => fail(new Error(`perp view ended with ${code}`)));
  });
  return Object.assign(child, { ended, url: new URL(url) });
}

// Servers whose pages were closed: they wait some seconds for another page, and end.
const closed = [];

async function allEnd() {
  for (const child of closed) {
    const { code } = await child.ended;
    check(code === 0, `closing the page ends the server: ${code}`);
  }
}

function memory(child) {
  return +readFileSync(`/proc/${child.pid}/status`, "utf8").match(/VmRSS:\s+(\d+)/)[1];
}

// ── strangers ──

function statusOf(url, headers, target) {
  return new Promise((done, fail) => {
    http.get({ host: "127.0.0.1", port: url.port, path: target, headers }, (answer) => {
      answer.resume();
      done(answer.statusCode);
    }).on("error", fail);
  });
}

// The first line of the answer to a websocket handshake, and the socket.
function shake(url, { origin = "", key = url.searchParams.get("k"), host = url.host }) {
  return new Promise((done, fail) => {
    const socket = net.connect(+url.port, "127.0.0.1", () => {
      socket.write(`GET /live?k=${key} HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}\r\nSec-WebSocket-Version: 13\r\n${origin ? `Origin: ${origin}\r\n` : ""}\r\n`);
    });
    const give = (line) => done({ line, socket });
    socket.once("data", (data) => give(data.toString("latin1").split("\r\n")[0]));
    socket.once("end", () => give("closed"));
    socket.on("error", fail);
  });
}

function maskedText(text) {
  const data = Buffer.from(text);
  return Buffer.concat([Buffer.from([0x81, 0x80 | data.length, 0, 0, 0, 0]), data]);
}

async function strangers(url) {
  const key = url.searchParams.get("k");
  check(/^[0-9a-f]{32}$/.test(key) && url.hostname === "127.0.0.1", "the address is local and holds a key");
  check((await statusOf(url, {}, `/?k=${key}`)) === 200, "who knows the key gets the page");
  check((await statusOf(url, {}, "/")) === 403, "without the key nobody");
  check((await statusOf(url, {}, `/?k=${key.slice(1)}0`)) === 403, "nor with another");
  check((await statusOf(url, { Host: "evil.example" }, `/?k=${key}`)) === 403, "nor under another name");
  check((await statusOf(url, { Origin: "http://evil.example" }, `/?k=${key}`)) === 403, "nor from another site");
  check((await statusOf(url, {}, `/etc/passwd?k=${key}`)) === 404, "there are no files");
  const here = url.origin;
  for (const wish of [{ origin: "http://evil.example" }, {}, { origin: here, key: "0" }, { origin: here, host: "evil.example" }]) {
    const { line, socket } = await shake(url, wish);
    check(!/101/.test(line), `no websocket for ${JSON.stringify(wish)}: ${line}`);
    socket.destroy();
  }
}

// A page that asks and never reads: the run goes on, memory stays.
async function deaf(child, page) {
  const { line, socket } = await shake(child.url, { origin: child.url.origin });
  check(/101/.test(line), "a websocket for who belongs here");
  socket.pause();
  const before = memory(child);
  const t = await time(page);
  for (let k = 0; k < 3000; k++) socket.write(maskedText("next"));
  await page.waitForFunction((from) => window.perp.run.t1 > from + 0.4, t);
  check(memory(child) - before < 20000, `memory stays: ${before} and then ${memory(child)} kB`);
  socket.destroy();
}

// ── the page ──

const time = (page) => page.evaluate(() => window.perp.run.t1);
const steps = (page) => page.evaluate(() => window.perp.run.series.step.data[window.perp.run.series.step.rows - 1]);
const running = (page, on) => page.waitForFunction((want) => window.perp.live.running === want, on);
const place = (page, name) => page.evaluate((n) => window.perp.state.position[3 * window.perp.run.bodies.findIndex((b) => b.name === n)], name);

async function set(page, name, value) {
  await page.locator(`.live [name=${name}]`).evaluate((e, v) => {
    e.value = v;
    e.dispatchEvent(new Event("change"));
  }, value);
}

async function control(page) {
  await page.click("[data-forth]");
  await page.waitForFunction(() => window.perp.run.series.step.data[window.perp.run.series.step.rows - 1] === 1);
  near(await time(page), 0.01, 1e-12, "one step");
  await page.keyboard.press(" ");
  await running(page, true);
  await page.waitForFunction(() => window.perp.run.t1 > 0.3);
  await page.keyboard.press(" ");
  await running(page, false);
  await settled(page);
  const held = await time(page);
  await page.waitForTimeout(200);
  check((await time(page)) === held, "paused");
  check((await colours(page, "canvas.main")) > 12, "the stage is not blank");
  await page.click("[data-first]");
  await page.waitForFunction(() => window.perp.run.t1 === 0);
  check((await steps(page)) === 0, "reset");
}

// Pulled to the right with the pointer.
async function drag(page) {
  await settled(page);
  const at = await page.evaluate(() => {
    const { run, state, stage } = window.perp;
    const k = run.bodies.findIndex((b) => b.name === "box");
    return { at: stage.project([...state.position.subarray(3 * k, 3 * k + 3)]), px: stage.pixels([0, 0, 0]) };
  });
  const box = await page.locator("canvas.main").boundingBox();
  const x = await place(page, "box");
  await page.click("[data-play]");
  await running(page, true);
  await page.mouse.move(box.x + at.at[0], box.y + at.at[1]);
  await page.mouse.down();
  for (let k = 1; k <= 8; k++) await page.mouse.move(box.x + at.at[0] + (k / 8) * 2.5 * at.px, box.y + at.at[1] - (k / 8) * 0.5 * at.px);
  await page.waitForFunction((from) => window.perp.state.position[3] > from + 0.5, x);
  await page.screenshot({ path: path.join(shots, "live-drag.png") });
  await page.mouse.up();
  check((await page.evaluate(() => window.perp.look.drag)) === null, "let go");
}

async function change(page) {
  await set(page, "mu-number", "0.25");
  await page.waitForFunction(() => {
    const { run } = window.perp;
    const [from, to] = run.contactRange(run.snaps.end.rows - 1);
    return to > from && Math.abs(run.contact(from).mu - 0.25) < 1e-6;
  });
  await set(page, "solver", "lemke");
  await page.waitForFunction(() => window.perp.live.state.solver === "lemke");
  await set(page, "law", "none");
  await page.waitForFunction(() => window.perp.live.state.law === "none");
  await set(page, "stepper", "moreau-jean");
  await page.waitForFunction(() => window.perp.live.state.stepper === "moreau-jean");
  await set(page, "h", "0.004");
  await page.waitForFunction(() => window.perp.live.state.h === 0.004);
  await page.waitForFunction(() => window.perp.run.poses.h.data[window.perp.run.poses.h.rows - 1] === Math.fround(0.004));
}

// From the start again, with Stewart-Trinkle: moreau-jean may leave what falls a step's way inside the floor.
async function save(page, folder) {
  await set(page, "law", "coulomb");
  await page.waitForFunction(() => window.perp.live.state.law === "coulomb");
  await set(page, "stepper", "stewart-trinkle");
  await page.waitForFunction(() => window.perp.live.state.stepper === "stewart-trinkle");
  await page.click("[data-play]");
  await running(page, false);
  await page.click("[data-first]");
  await page.waitForFunction(() => window.perp.run.t1 === 0);
  await page.click("[data-play]");
  await running(page, true);
  await page.waitForFunction(() => window.perp.run.t1 > 0.7);
  await page.click(".live [name=save]");
  await page.waitForFunction(() => /^saved/.test(window.perp.live.state.message));
  const saved = path.join(folder, "saved-1");
  check(existsSync(path.join(saved, "run.h5")) && existsSync(path.join(saved, "replay.html")), "the recording is there");
  check(!/VIOLATED|violated/.test(perp("check", saved)), "and is judged well");
}

const SCENE = { name: "live", step: 0.01, until: 10, gravity: [0, -9.81], shapes: [{ name: "floor", kind: "halfplane", mu: 0.6 }],
  bodies: [{ name: "box", position: [0, 0.5], mass: 2, inertia: 0.33, shapes: [{ kind: "box", size: [1, 1], mu: 0.6 }] },
    { name: "ball", position: [2, 1.2], mass: 1, inertia: 0.03, shapes: [{ kind: "disc", radius: 0.3, mu: 0.6 }] }] };

const SPACE = { name: "lift", step: 0.01, until: 10, shapes: [{ name: "floor", kind: "halfspace", mu: 0.6 }],
  bodies: [{ name: "box", kind: "solid", position: [0, 0, 0.5], shapes: [{ kind: "box", size: [1, 1, 1], density: 2, mu: 0.6 }] }] };

// In space: taken with the pointer a box leaves the floor; let go it falls. The camera stays.
async function lift(browser, folder) {
  const child = await serve(folder, write(folder, SPACE));
  try {
    const page = await openPage(browser, child.url.href);
    await page.waitForFunction(() => window.perp.live.built);
    await page.click("[data-play]");
    await running(page, true);
    const camera = () => page.evaluate(() => window.perp.stage.camera.matrixWorld.elements.join());
    const at = await page.evaluate(() => {
      const { stage } = window.perp;
      return { at: stage.project([0, 0, 0.5]), px: stage.pixels([0, 0, 0.5]) };
    });
    const box = await page.locator("canvas.main").boundingBox();
    await page.mouse.move(box.x + at.at[0], box.y + at.at[1]);
    await page.mouse.down();
    const before = await camera();
    for (let k = 1; k <= 8; k++) await page.mouse.move(box.x + at.at[0], box.y + at.at[1] - (k / 8) * 0.9 * at.px);
    await page.waitForFunction(() => window.perp.state.position[5] > 0.7);
    await page.screenshot({ path: path.join(shots, "live-lift.png") });
    check((await camera()) === before, "the camera stays while a body is pulled");
    await page.mouse.up();
    await page.waitForFunction(() => window.perp.state.position[5] < 0.6);
    silent(page);
    await page.context().close();
    closed.push(child);
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}

// Sensors follow the run, and their strip shows the last frames.
async function sensors(browser, folder) {
  const child = await serve(folder, "scenes/sensor-arm.json");
  try {
    const page = await openPage(browser, child.url.href);
    await page.waitForFunction(() => window.perp.live.built);
    await page.click("[data-play]");
    await page.waitForFunction(() => window.perp.run.t1 > 0.1);
    await page.click("[data-play]");
    await running(page, false);
    await settled(page);
    const seen = await page.evaluate(() => {
      const { run } = window.perp;
      const last = run.poses.t.rows - 1;
      const imu = run.sensor(5, last);
      return { same: run.poses.sensor.rows === run.poses.t.rows, up: Math.hypot(...imu), height: run.sensor(8, last)[0] };
    });
    check(seen.same && Math.abs(seen.up - 9.81) < 2 && seen.height > 0.019 && seen.height < 0.07, `sensors are live: ${JSON.stringify(seen)}`);
    silent(page);
    await page.context().close();
    closed.push(child);
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}

const MOTOR = { name: "motor", step: 0.01, until: 10, gravity: [0, 0],
  inputs: [{ name: "torque <x>", value: 0.5, range: [-2, 3], unit: "N m" }, { name: "free", value: 0 }, { name: "wave", value: "t" }],
  bodies: [{ name: "wheel", position: [0, 0], mass: 1, inertia: 1, shapes: [{ kind: "disc", radius: 0.3 }] }],
  joints: [{ name: "axle", kind: "revolute", b: "wheel", at: [0, 0], damping: 5 }],
  actuators: [{ name: "drive", kind: "motor", joint: "axle", control: "u[torque <x>]" }] };

// Sliders have range, default and unit of their inputs; moving one drives the joint, whose coordinate is shown.
async function inputs(browser, folder) {
  const child = await serve(folder, write(folder, MOTOR));
  try {
    const page = await openPage(browser, child.url.href);
    await page.waitForFunction(() => window.perp.live.built);
    const slider = page.locator(".live [name=input-0]");
    check((await slider.getAttribute("min")) === "-2" && (await slider.getAttribute("max")) === "3", "the range of an input");
    check((await slider.inputValue()) === "0.5", "and its value at the start");
    const label = await slider.evaluate((e) => ({ text: e.parentElement.textContent, title: e.parentElement.title }));
    check(/torque <x>/.test(label.text) && /N m/.test(label.text), `name and unit: ${label.text}`);
    check(/default 0.5 N m, range -2 to 3 N m/.test(label.title), `default and range: ${label.title}`);
    check((await page.locator(".live [name=input-1]").getAttribute("max")) === "1", "a range where there is none");
    await page.click("[data-play]");
    await running(page, true);
    await slider.evaluate((e) => {
      e.value = "2.5";
      e.dispatchEvent(new Event("input"));
    });
    await page.waitForFunction(() => window.perp.live.state.inputs[0].value === 2.5);
    // the rate goes to torque / damping
    await page.waitForFunction(() => {
      const { data, rows, width } = window.perp.run.poses.joint;
      return Math.abs(data[(rows - 1) * width + 1] - 0.5) < 0.01;
    });
    // An input that follows its expression: its slider and its curve do as well.
    await page.waitForFunction(() => {
      const { t, input } = window.perp.run.poses;
      const at = (input.rows - 1) * input.width;
      const field = document.querySelector(".live [name=input-number-2]");
      const shown = field instanceof HTMLInputElement ? +field.value : 0;
      // the value is that of the start of the step, the page looks four times a second
      return input.width === 3 && input.data[at] === 2.5 && Math.abs(input.data[at + 2] - (t.data[t.rows - 1] - 0.01)) < 1e-5 && shown > 0.5;
    });
    await page.keyboard.press("j");
    await page.waitForFunction(() => /^axle\s*\d+\.\d+ rad/.test(document.querySelector(".panel .list tbody tr").textContent));
    await set(page, "input-number-0", "99");
    await page.waitForFunction(() => window.perp.live.state.inputs[0].value === 3);
    // a change of the method keeps what was set, a reset does not
    await set(page, "law", "none");
    await page.waitForFunction(() => window.perp.live.state.law === "none");
    check((await page.evaluate(() => window.perp.live.state.inputs[0].value)) === 3, "a value stays when the sim is replaced");
    await page.screenshot({ path: path.join(shots, "live-inputs.png") });
    await page.click("[data-first]");
    await page.waitForFunction(() => window.perp.live.state.inputs[0].value === 0.5);
    silent(page);
    await page.context().close();
    closed.push(child);
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}

function write(folder, scene) {
  const file = path.join(folder, `${scene.name}.json`);
  writeFileSync(file, JSON.stringify(scene));
  return file;
}

await withBrowser(async (browser, folder) => {
  await lift(browser, folder);
  await inputs(browser, folder);
  await sensors(browser, folder);
  const child = await serve(folder, write(folder, SCENE));
  try {
    await strangers(child.url);
    const page = await openPage(browser, child.url.href);
    await page.waitForFunction(() => window.perp.live.built);
    await control(page);
    await drag(page);
    await change(page);
    const other = await openPage(browser, child.url.href);
    await other.waitForFunction(() => window.perp.live.built && window.perp.live.running);
    await page.keyboard.press(" ");
    await Promise.all([running(page, false), running(other, false)]);
    await settled(page);
    await settled(other);
    check((await time(page)) === (await time(other)), "two pages see the same run");
    await other.context().close();
    await page.click("[data-play]");
    await running(page, true);
    await deaf(child, page);
    await save(page, folder);
    await page.waitForTimeout(300);
    await page.screenshot({ path: path.join(shots, "live.png") });
    silent(page);
    await page.context().close();
    closed.push(child);
    await allEnd();
    check(!readdirSync(folder).some((name) => name.includes(".part-")), "nothing is left behind");
  } finally {
    [child, ...closed].forEach((server) => server.kill("SIGKILL"));
  }
});
