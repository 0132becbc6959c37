// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The playground in a browser, from a folder: a scene is typed, an error shown at its place and fixed, the run has the hash
// of the native command; bodies are dragged, friction, step and parameters changed; matrices are explained; links hold the
// scene; scenes of strangers run nothing; a simulation that takes too long is ended; recordings and replays are saved.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { deflateRawSync } from "node:zlib";
import { check, cli, shots, withBrowser } from "../../viewer/test/browser.mjs";

const site = path.resolve(process.env.PERP_SITE ?? "build/playground/site", "index.html");
if (!existsSync(site)) {
  console.log("skipped: no build/playground/site: make playground");
  process.exit(77);
}
const url = `file://${site}`;

const scene = (more = {}) =>
  JSON.stringify({ name: "typed", step: 0.01, until: 1, shapes: [{ name: "floor", kind: "halfplane", mu: 0.5 }], bodies: [{ name: "ball", position: [0, 1.5], velocity: [1, 0], shapes: [{ kind: "disc", radius: 0.5, density: 1000, mu: 0.5 }] }], ...more }, null, 1);

async function open(browser, hash = "", options = {}) {
  const context = await browser.newContext({ viewport: options.viewport ?? { width: 1300, height: 850 }, reducedMotion: "reduce", acceptDownloads: true, hasTouch: options.touch === true });
  const page = await context.newPage();
  page.setDefaultTimeout(60000);
  page.complaints = [];
  page.on("console", (m) => m.type() === "error" && page.complaints.push(m.text()));
  page.on("pageerror", (e) => page.complaints.push(`exception: ${e.message}`));
  page.on("dialog", (d) => (page.complaints.push(`a dialog: ${d.message()}`), d.dismiss()));
  page.on("request", (r) => !/^(file|data|blob):/.test(r.url()) && page.complaints.push(`a request to ${r.url()}`));
  await page.goto(url + hash);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "yes");
  return page;
}
const opened = (page, name) => page.waitForFunction((n) => window.playground?.about?.name === n && window.playground.app?.live?.built, name);
const edited = (page) => page.waitForFunction(() => window.playground.editor.view);
const write = async (page, text) => {
  await edited(page);
  await page.evaluate((t) => {
    const { view } = window.playground.editor;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: t }, userEvent: "input.paste" });
  }, text);
};
// Waits until so many steps have been made.
const counted = (page, total) => page.waitForFunction((n) => (window.playground.post({ state: true }), document.documentElement.dataset.steps === String(n)), total);
// Controls that end beyond the right edge of the page.
const beyond = (page) => page.evaluate(() => [...document.querySelectorAll("button, select, .badge, .time, .state")].map((e) => ({ e, box: e.getBoundingClientRect() }))
  .filter(({ box }) => box.width > 0 && box.right > innerWidth + 1).map(({ e }) => e.outerHTML.slice(0, 80)));

// Makes steps of a simulation that stands; `before` have been made.
const steps = async (page, count, before = 0) => {
  await page.evaluate((n) => window.playground.app.live.send({ step: n }), count);
  await counted(page, before + count);
  return page.evaluate(() => document.documentElement.dataset.hash);
};
const silent = (page, what) => check(page.complaints.length === 0, `${what} is silent, but: ${page.complaints.join("; ")}`);

await withBrowser(async (browser, folder) => {
  // ── typing, errors, running ──
  const page = await open(browser);
  await opened(page, "arch");
  // Below a second of processor time; real time depends on what else the machine does.
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const { metrics } = await session.send("Performance.getMetrics");
  const spent = metrics.find((m) => m.name === "ProcessTime").value;
  console.log(`the first example can be run after ${await page.evaluate(() => document.documentElement.dataset.started)} ms, ${(1000 * spent).toFixed(0)} ms of processor time so far`);
  check(spent < 1, `the start takes ${spent} s of processor time`);
  await edited(page);
  await page.click("#editor .cm-content");
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText('{\n "name": "typed",\n "stp": 0.01\n}');
  await page.waitForFunction(() => /stp/.test(document.querySelector("#message").textContent));
  check(/line 3, column 2/.test(await page.textContent("#message")), `the place of the error: ${await page.textContent("#message")}`);
  await page.waitForSelector("#editor .cm-lintRange-error");
  check((await page.textContent("#editor .cm-lintRange-error")).includes("stp"), "the error is marked at its place");

  // Keys of the schema are offered.
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText('{\n "st"}');
  for (let k = 0; k < 2; k++) await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Control+Space");
  await page.waitForSelector(".cm-tooltip-autocomplete");
  const offered = await page.$$eval(".cm-completionLabel", (list) => list.map((e) => e.textContent));
  check(offered.includes("step") && offered.includes("stepper"), `completion offers step and stepper: ${offered}`);
  await page.keyboard.press("Escape");

  await write(page, scene());
  await opened(page, "typed");
  check(await page.isHidden("#message"), "no error is left");
  check((await page.$$("#editor .cm-lintRange-error")).length === 0, "no mark is left");
  const hash = await steps(page, 50);
  const file = path.join(folder, "typed.json");
  writeFileSync(file, scene());
  execFileSync(cli, ["run", file, "--until", "0.5", "-o", path.join(folder, "run"), "-q"]);
  const native = JSON.parse(readFileSync(path.join(folder, "run/summary.json"), "utf8")).hash;
  check(hash === native, `the hash of 50 steps: ${hash}, natively ${native}`);

  // A scene that can be read but not started: the message of the command, not that of an earlier error.
  const wedged = { name: "wedged", shapes: [{ name: "floor", kind: "halfplane" }, { name: "ceiling", kind: "halfplane", position: [0, 0.6], angle: "180 deg" }] };
  await write(page, scene(wedged));
  await page.waitForFunction(() => /overlap/.test(document.querySelector("#message").textContent));
  writeFileSync(file, scene(wedged));
  const { stderr } = spawnSync(cli, ["run", file, "-o", path.join(folder, "wedged"), "-q"], { encoding: "utf8" });
  check(stderr.trim().endsWith(`: ${await page.textContent("#message")}`), `${await page.textContent("#message")}, natively ${stderr}`);
  await write(page, scene());
  await page.waitForFunction(() => /** @type {HTMLElement} */ (document.querySelector("#message")).hidden);
  await steps(page, 50);

  // ── explain ──
  await page.click("#explain-box summary");
  await page.waitForSelector("#explain table");
  check(/size \d+/.test(await page.textContent("#explain")), "the problem has a size");
  await page.click("#explain th.name");
  check((await page.evaluate(() => window.playground.app.look.body)) >= 0, "a click on a row selects its body");
  // The rows and columns of the selected body are highlighted; of a contact as well, by the bodies it acts on.
  const marked = () => page.$$eval("#explain tr > th.of:first-child", (list) => list.map((e) => e.textContent));
  const names = await marked();
  check(names.includes("ball.vx") && names.some((n) => n.endsWith(".n")) && names.some((n) => n.endsWith(".sigma")), `rows of the ball are highlighted: ${names}`);
  await page.evaluate(() => window.playground.app.select(null));
  check((await marked()).length === 0, "nothing is highlighted without a selection");
  await page.click("#explain th.name:text-matches('\\.n$')");
  check((await marked()).includes("ball.vy"), "a click on a contact selects a body it acts on");

  // ── dragging and changes while it runs ──
  await page.evaluate(() => window.playground.app.live.toggleRun());
  await page.waitForFunction(() => window.playground.app.run.t1 > 0.8);
  const place = await page.evaluate(() => {
    const { app } = window.playground;
    app.run.stateAt(app.run.t1, app.state);
    const k = app.run.bodies.findIndex((b) => b.name === "ball");
    const at = [...app.state.position.subarray(3 * k, 3 * k + 3)];
    if (!app.live.dragStart(k, at)) return null;
    app.live.dragMove([at[0], at[1] + 3, 0]);
    return at;
  });
  check(place !== null, "the ball can be grabbed");
  await page.waitForFunction((y) => {
    const { app } = window.playground;
    app.run.stateAt(app.run.t1, app.state);
    return app.state.position[3 * app.run.bodies.findIndex((b) => b.name === "ball") + 1] > y + 0.5;
  }, place[1]);
  await page.evaluate(() => window.playground.app.live.dragEnd());
  await page.evaluate(() => window.playground.app.live.send({ mu: 0.1 }));
  await page.waitForFunction(() => window.playground.app.live.state.mu === 0.1);
  await page.evaluate(() => window.playground.app.live.send({ h: 0.002 }));
  await page.waitForFunction(() => window.playground.app.live.state.h === 0.002);
  await page.evaluate(() => window.playground.app.live.send({ stepper: "moreau-jean" }));
  await page.waitForFunction(() => window.playground.app.live.state.stepper === "moreau-jean");
  await page.evaluate(() => window.playground.app.live.send({ law: "none" }));
  await page.waitForFunction(() => window.playground.app.live.state.law === "none");
  // The matrices leave room for the view, and no button of its head is cut off, however long its badge is.
  const room = await page.evaluate(() => document.querySelector("#app .stage").getBoundingClientRect().height);
  check(room > 150, `the view beside the matrices is ${room} pixels high`);
  check((await beyond(page)).length === 0, `no control is cut off: ${await beyond(page)}`);
  await page.screenshot({ path: path.join(shots, "playground.png") });

  // ── parameters ──
  await write(page, scene({ parameters: { height: 2 }, name: "with-height" }).replace("1.5", '"height"'));
  await opened(page, "with-height");
  const y = () => page.evaluate(() => window.playground.app.state.position[3 * window.playground.app.run.bodies.findIndex((b) => b.name === "ball") + 1]);
  check((await y()) === 2, "the parameter acts");
  await page.evaluate(() => {
    const range = /** @type {HTMLInputElement} */ (document.querySelector("#parameters input"));
    range.value = "3";
    range.dispatchEvent(new Event("change"));
  });
  await page.waitForFunction(() => window.playground.about.parameters[0]?.value === 3);

  // ── links ──
  await page.click("#share");
  await page.waitForFunction(() => location.hash.startsWith("#s="));
  const link = await page.evaluate(() => location.hash);
  const other = await open(browser, link);
  await opened(other, "with-height");
  check((await other.evaluate(() => window.playground.editor.text)) === (await page.evaluate(() => window.playground.editor.text)), "the link holds the scene");
  check((await other.evaluate(() => window.playground.about.parameters[0].value)) === 3, "the link holds the parameter");
  const [a, b] = [await steps(other, 20), (await page.reload(), await opened(page, "with-height"), await steps(page, 20))];
  check(a === b, "the link has the same hash after a reload");
  silent(other, "a page from a link");
  await other.context().close();

  // ── downloads ──
  const saved = async (what, pattern) => {
    const [download] = await Promise.all([page.waitForEvent("download", (d) => pattern.test(d.suggestedFilename())), page.selectOption("#download", what)]);
    return readFileSync(await download.path(), "utf8");
  };
  check((await saved("scene", /\.json$/)).includes("with-height"), "the scene is saved");
  check((await saved("recording", /bodies\.csv$/)).split("\n").length >= 21, "the tables of the recording are saved");
  await steps(page, 40, 20);
  const replay = await saved("replay", /replay\.html$/);
  const replayFile = path.join(folder, "replay.html");
  writeFileSync(replayFile, replay);
  const player = await page.context().newPage();
  await player.goto(`file://${replayFile}`);
  await player.waitForFunction(() => window.perp?.drawn > 0);
  check((await player.evaluate(() => window.perp.run.poses.t.rows)) >= 15, "the replay plays the steps");
  await player.close();
  await page.bringToFront();
  silent(page, "the playground");

  // ── hostile scenes ──
  const evil = `<img src=x onerror=alert(1)>"><script>alert(2)</script>`;
  await write(page, scene({ name: "evil", description: evil, parameters: { p: 1 }, inputs: [{ name: "u<b>", value: 0, unit: evil.slice(0, 20) }] }).replace('"ball"', JSON.stringify(evil.slice(0, 50))));
  await page.waitForFunction(() => window.playground.about?.name === "evil" || !/** @type {HTMLElement} */ (document.querySelector("#message")).hidden);
  await opened(page, "evil");
  await steps(page, 30);
  await page.evaluate(() => window.playground.post({ explain: "mcp" }));
  await page.waitForTimeout(300);
  check((await page.$$("img[src=x], #explain script, #app script, #message *")).length === 0, "names stay texts");
  await write(page, `{"bodis": "${evil.replaceAll('"', "'")}"}`);
  await page.waitForFunction(() => /bodis/.test(document.querySelector("#message").textContent));
  await write(page, '{"name": "<script>alert(3)</script>"}');
  await page.waitForTimeout(900);
  silent(page, "a hostile scene");
  const bomb = `#s=${deflateRawSync(Buffer.alloc(2e7)).toString("base64url")}`;
  for (const [hash, says] of [["#s=AAAA&p=%3Cscript%3E=1", "damaged"], ["#s=%%%", "damaged"], ["#s=", "damaged"], [bomb, "larger than 4 MB"]]) {
    const broken = await open(browser, hash);
    await broken.waitForFunction(() => /no scene/.test(document.querySelector("#message").textContent));
    check((await broken.textContent("#message")).includes(says), `a broken link: ${await broken.textContent("#message")}`);
    silent(broken, "a broken link");
    await broken.context().close();
  }

  // ── rapid changes: the last one counts ──
  const hasty = await open(browser);
  for (const key of ["cards", "rattleback", "berard", "robot", "slip", "dominoes"]) await hasty.selectOption("#example", key);
  await opened(hasty, "dominoes");
  await steps(hasty, 5);
  check((await hasty.$$("#app canvas.main")).length === 1, "one view is left");
  silent(hasty, "a page in a hurry");

  // ── the house of cards in many steps, as natively: the view solves as 'perp run' does; derived parameters have no slider ──
  await hasty.selectOption("#example", "cards");
  await opened(hasty, "house-of-cards");
  execFileSync(cli, ["run", "scenes/house-of-cards.json", "--until", "0.1", "-o", path.join(folder, "cards"), "-q", "--no-figures"]);
  const cards = await steps(hasty, 100);
  check(cards === JSON.parse(readFileSync(path.join(folder, "cards/summary.json"), "utf8")).hash, `the hash of the house of cards: ${cards}`);
  const sliders = await hasty.$$eval("#parameters input", (list) => list.map((e) => e.getAttribute("aria-label")));
  const derived = await hasty.$$eval("#parameters .derived", (list) => list.map((e) => e.textContent.split(" ")[0]));
  check(sliders.join() === "length,thick,lean,grip" && derived.join() === "side,rise,wide,storey", `sliders ${sliders}, derived ${derived}`);

  // A value that the text gives anew replaces that of the slider.
  await hasty.evaluate(() => {
    const range = /** @type {HTMLInputElement} */ (document.querySelector('#parameters [aria-label="grip"]'));
    range.value = "0.2";
    range.dispatchEvent(new Event("change"));
  });
  const grip = (value) => hasty.waitForFunction((v) => window.playground.about.parameters.find((p) => p.name === "grip").value === v, value);
  await grip(0.2);
  await write(hasty, (await hasty.evaluate(() => window.playground.editor.text)).replace('"grip": 0.4', '"grip": 0.6'));
  await grip(0.6);
  await hasty.context().close();

  // ── stop ──
  await write(page, scene({ name: "again" }));
  await opened(page, "again");
  await page.click("#stop");
  await page.waitForFunction(() => /stopped/.test(document.querySelector("#message").textContent) && !window.playground.app);
  await page.click("#open");
  await opened(page, "again");
  await steps(page, 5);

  // ── every example opens and runs ──
  const keys = await page.$$eval("#example option", (list) => list.map((o) => o.value).filter(Boolean));
  check(keys.length >= 12, `${keys.length} examples`);
  for (const key of keys) {
    await page.selectOption("#example", key);
    await page.waitForFunction((k) => /** @type {HTMLSelectElement} */ (document.querySelector("#example")).value === k && window.playground.app?.live?.built && window.playground.app.run.poses.t.rows > 0, key);
    await page.waitForTimeout(150);
    await steps(page, 3);
    check(await page.isHidden("#message"), `${key}: ${await page.textContent("#message")}`);
  }
  silent(page, "the examples");
  await page.context().close();

  // ── a phone ──
  const phone = await open(browser, "#example=dominoes", { viewport: { width: 390, height: 780 }, touch: true });
  await opened(phone, "dominoes");
  const wide = await phone.evaluate(() => document.documentElement.scrollWidth);
  check(wide <= 390, `nothing is wider than a phone: ${wide}`);
  await steps(phone, 5);
  const cut = await beyond(phone);
  check(cut.length === 0, `no control is cut off on a phone: ${cut}`);
  const stage = await phone.evaluate(() => document.querySelector("#app .stage").getBoundingClientRect().height);
  check(stage > 150, `the picture is ${stage} pixels high`);
  await phone.tap('[data-tab="text"]');
  check(await phone.isVisible("#editor"), "the scene can be seen on a phone");
  // The picture is there in the first frame after a change of tabs: what a canvas had is gone once it gets a size.
  const shown = await phone.evaluate(() => new Promise((done) => {
    const stage = document.querySelector("#app .stage");
    const canvas = /** @type {HTMLCanvasElement} */ (stage.querySelector("canvas.main"));
    let sizes = 0;
    new ResizeObserver(() => {
      if (++sizes < 2) return; // the first is that of the hidden stage
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      done(new Set(new Uint32Array(data.buffer)).size);
    }).observe(stage);
    requestAnimationFrame(() => requestAnimationFrame(() => /** @type {HTMLElement} */ (document.querySelector('[data-tab="view"]')).click()));
  }));
  check(shown > 5, `the picture has ${shown} colours right after a change of tabs`);
  await phone.tap('[data-tab="view"]');
  await phone.screenshot({ path: path.join(shots, "playground-phone.png") });
  silent(phone, "the phone");
  await phone.context().close();
});
