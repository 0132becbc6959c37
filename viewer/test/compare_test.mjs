// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Several runs in one view, the choice of strips, joints and inputs, measuring and names, in a real browser.
import path from "node:path";
import { check, cli, csv, inked, near, openPage, perp, settled, shots, silent, withBrowser } from "./browser.mjs";
import { spawnSync } from "node:child_process";

const url = (file, hash = "paused") => `file://${file}#${hash}`;

// Two runs with different steps: distances and onset as the recordings have them.
async function ghosts(browser, folder, name, body, other) {
  const [a, b, c] = ["a", "b", "c"].map((x) => path.join(folder, `${name}-${x}`));
  perp("run", `scenes/${name}.json`, "--until", "0.5", "-o", a, "-q", "--no-figures");
  perp("run", `scenes/${name}.json`, "--until", "0.5", ...other, "-o", b, "-q", "--no-figures");
  perp("run", `scenes/${name}.json`, "--until", "0.5", "-o", c, "-q", "--no-figures");
  perp("view", a, b, c, "-q");
  const page = await openPage(browser, url(path.join(a, "compare.html"), "t=0.5"));
  const got = await page.evaluate(() => {
    const { ghosts } = window.perp;
    return { tolerance: ghosts.tolerance, list: ghosts.list.map((g) => ({ onset: g.onset, pairs: g.pairs.length, last: g.distances[g.distances.length - 1], most: Math.max(...g.distances) })) };
  });
  const rows = [a, b].map((dir) => csv(path.join(dir, "bodies.csv")).filter((r) => r.body === body));
  const apart = rows[0].map((r) => {
    const s = rows[1].reduce((best, x) => (Math.abs(+x.t - +r.t) < Math.abs(+best.t - +r.t) ? x : best));
    return { t: +r.t, near: Math.abs(+s.t - +r.t) < 1e-9, d: Math.hypot(+r.x - +s.x, +r.y - +s.y, (+r.z || 0) - (+s.z || 0)) };
  }).filter((x) => x.near);
  check(got.list.length === 2 && got.list[0].pairs > 0, `two other runs: ${JSON.stringify(got)}`);
  check(got.list[1].onset === null && got.list[1].most < 1e-6, "a run repeated does not differ");
  check(got.list[0].last >= apart[apart.length - 1].d - 1e-6, `the distance at the end: ${got.list[0].last}, ${apart[apart.length - 1].d}`);
  const first = apart.find((x) => x.d > got.tolerance);
  check(got.list[0].onset !== null && (!first || got.list[0].onset <= first.t + 1e-9), `the onset is not after that of ${body}: ${got.list[0].onset}, ${first?.t}`);
  check(apart.filter((x) => x.t < got.list[0].onset).every((x) => x.d <= got.tolerance), "before the onset nothing differs");
  check(/runs differ by more than/.test(await page.locator(".note").innerText()), "the page says so");
  // Outlines are drawn where they differ, and not for the run that does not.
  const withAll = await inked(page);
  await page.keyboard.press("g");
  await settled(page);
  check((await inked(page)) < withAll, "outlines of the other run");
  await page.keyboard.press("g");
  await page.keyboard.press("Home");
  await page.keyboard.press("o");
  near(await page.evaluate(() => window.perp.player.t), got.list[0].onset, 1e-9, "O goes to the onset");
  check((await page.locator(".strip").count()) === 4, "a strip of the distances");
  const names = await page.evaluate(() => window.perp.ghosts.names);
  check(names.join() === `${name}-a,${name}-b,${name}-c`, `names of the runs, without their folders: ${names}`);
  const cut = await page.$$eval(".strip h3 em, .head h1", (list) => list.filter((e) => e.getBoundingClientRect().right > innerWidth || e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent));
  check(cut.length === 0, `no legend or title is cut off: ${cut}`);
  await page.screenshot({ path: path.join(shots, `compare-${name}.png`) });
  silent(page);
  await page.context().close();
}

function faults(folder) {
  const says = (text, ...words) => {
    const out = spawnSync(cli, words, { encoding: "utf8" });
    check(out.status === 2 && out.stderr.includes(text), `'${words.join(" ")}' says '${text}': ${out.status} ${out.stderr}`);
  };
  says("they cannot be shown together", "view", path.join(folder, "dominoes-a"), path.join(folder, "trinkle-robot-a"));
  says("one scene at a time", "view", "scenes/dominoes.json", path.join(folder, "dominoes-a"));
  says("missing file name", "view");
  says("missing file name", "render");
}

// Inputs and joints are those of the recording; any of them can be a strip.
async function inputs(browser, folder) {
  const dir = path.join(folder, "arm");
  perp("run", "scenes/arm-pushes.json", "--until", "1.5", "-o", dir, "-q", "--no-figures");
  const page = await openPage(browser, url(path.join(dir, "replay.html"), "t=1.4&strips=energy,joint:elbow,input:turn"));
  const strips = await page.locator(".strip select").evaluateAll((list) => list.map((e) => /** @type {HTMLSelectElement} */ (e).selectedOptions[0].textContent));
  check(strips.join() === "Energy,elbow,turn", `the address chooses strips: ${strips}`);
  const rows = csv(path.join(dir, "joints.csv")).filter((r) => r.joint === "elbow");
  const drawn = await page.evaluate(() => [...window.perp.strips.slots[1].view.data[1]]);
  near(drawn[drawn.length - 1], +rows[rows.length - 1].coordinate, 1e-5, "the last coordinate of the elbow");
  // The scene's own formula of an input, which is held over a step of 2 ms.
  for (const t of [0.3, 0.7]) {
    const lift = await page.evaluate((at) => window.perp.run.input(1, window.perp.run.poses.t.data.findIndex((x) => x >= at)), t);
    near(lift, 0.3 * Math.sin(Math.PI * t), 3e-3, `the input 'lift' at ${t} s`);
  }
  await page.keyboard.press("j");
  await settled(page);
  const table = await page.locator(".panel .list tbody tr").allInnerTexts();
  check(table.some((r) => r.startsWith("elbow")) && table.some((r) => r.startsWith("turn")), `joints and inputs are listed: ${table}`);
  await page.locator(".panel .list tbody tr", { hasText: "elbow" }).first().click();
  check((await page.locator(".panel h2").innerText()).startsWith("elbow"), "a click shows the joint");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  check(await page.locator(".panel").isHidden(), "J closes the list");
  await page.locator(".strip select").first().selectOption("residual");
  check((await page.evaluate(() => window.perp.strips.slots[0].kind.id)) === "residual", "a strip can be changed");
  await page.keyboard.press("d");
  check((await page.locator(".strip .uplot").count()) === 3, "a change of theme leaves one chart in each strip");
  silent(page);
  await page.context().close();
}

// Points on two bodies, whose distance the page shows, and which move with them.
async function measuring(browser, folder) {
  const page = await openPage(browser, url(path.join(folder, "trinkle-robot-a", "replay.html"), "t=0.1"));
  const plain = await inked(page);
  await page.keyboard.press("t");
  await settled(page);
  check((await inked(page)) > plain, "names are drawn");
  await page.keyboard.press("t");
  await page.keyboard.press("m");
  const box = await page.locator("canvas.main").boundingBox();
  const click = async (body) => {
    const at = await page.evaluate((name) => {
      const { run, state, stage } = window.perp;
      const k = run.bodies.findIndex((b) => b.name === name);
      return stage.project([...state.position.subarray(3 * k, 3 * k + 3)]);
    }, body);
    await page.mouse.click(box.x + at[0], box.y + at[1]);
    await page.waitForTimeout(350); // not a double click
  };
  await click("robot");
  await click("ball");
  const result = () => page.evaluate(() => window.perp.overlay.measure.result(window.perp.state));
  const before = await result();
  check(before && before.distance > 0.05 && before.distance < 2 && before.angle === null, `a distance: ${JSON.stringify(before)}`);
  near(before.distance, Math.hypot(...before.parts), 1e-12, "of its components");
  await page.evaluate(() => window.perp.player.seek(0.45));
  await settled(page);
  const after = await result();
  check(Math.abs(after.distance - before.distance) > 1e-4, "points move with their bodies");
  await page.mouse.click(box.x + 0.75 * box.width, box.y + 0.8 * box.height);
  await settled(page);
  const angle = (await result()).angle;
  check(angle > 0 && angle < Math.PI, `three points make an angle: ${angle}`);
  check(await page.locator(".panel").isHidden(), "measuring selects nothing");
  await page.keyboard.press("m");
  check((await page.evaluate(() => window.perp.overlay.measure.points.length)) === 0, "M ends it");
  silent(page);
  await page.context().close();
}

await withBrowser(async (browser, folder) => {
  await ghosts(browser, folder, "dominoes", "domino0", ["--step", "0.002"]);
  await ghosts(browser, folder, "trinkle-robot", "ball", ["--step", "0.02"]);
  faults(folder);
  await inputs(browser, folder);
  await measuring(browser, folder);
});
