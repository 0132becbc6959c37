// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Names from scenes are data: HTML, scripts, formulas and commands in them run nowhere. Every page (replay, comparison,
// live view, figures, figures of a sweep), every SVG, CSV and gnuplot script of scenes whose names attack them.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { check, cli, openPage, perp, settled, silent, withBrowser } from "./browser.mjs";

// No dots: a dot separates a body from its shape. Each would set window.hacked, or make a file 'pwned'.
const ATTACKS = [
  `<img src=x onerror="window['hacked']=1">`,
  `</script><script>window['hacked']=2</script>`,
  `"><svg onload=window['hacked']=3>`,
  `'onmouseover='window[String(/hacked/)]=4`,
  "`touch pwned`",
  `'; system("touch pwned"); '`,
  `=cmd|' /C touch pwned'!A0`,
  `@SUM(1+1)*cmd`,
  "a\u202eb\u2028c",
  "]]></text><script>window['hacked']=5</script>",
  "<!--perp-data--><script>window['hacked']=6",
  "\\Symbol_^%s%n\\",
];

// A scene with every name replaced by an attack, also where others refer to it.
function attack(file, shift) {
  const scene = JSON.parse(readFileSync(file, "utf8"));
  const names = new Map();
  const collect = (x) => {
    if (Array.isArray(x)) x.forEach(collect);
    else if (x && typeof x === "object") {
      if (typeof x.name === "string" && !names.has(x.name)) {
        const at = names.size + shift;
        const index = x.name.match(/\{\w+\}/)?.[0] ?? ""; // of a body that is repeated
        names.set(x.name, `${ATTACKS[at % ATTACKS.length]}${at >= ATTACKS.length ? at : ""}${index}`);
      }
      Object.values(x).forEach(collect);
    }
  };
  // Expressions refer to inputs, whose names are then those of variables: one more is attacked instead.
  const { inputs, ...others } = scene;
  collect(others);
  const KEEP = new Set(["kind", "$schema", "stepper"]);
  const swap = (x, key) => {
    if (Array.isArray(x)) return x.map((v) => swap(v, key));
    if (x && typeof x === "object") return Object.fromEntries(Object.entries(x).map(([k, v]) => [k, swap(v, k)]));
    if (typeof x !== "string" || KEEP.has(key)) return x;
    return names.get(x) ?? x.split(".").map((part) => names.get(part) ?? part).join(".");
  };
  const out = swap(others, "");
  if (inputs) out.inputs = [...inputs, { name: "<img src=x onerror=hacked=1>", value: 0 }];
  out.description = ATTACKS.join(" ");
  delete out.$schema;
  return { scene: out, count: names.size };
}

// Names with control characters, among them ends of lines, do not get into a model.
const REFUSED = ["x'\n! touch pwned", "a\u0001b", "\u001b]0;x\u0007"];

function refused(folder) {
  for (const name of REFUSED) {
    const file = path.join(folder, "refused.json");
    writeFileSync(file, JSON.stringify({ until: 0.01, bodies: [{ name, mass: 1, inertia: 1 }] }));
    const out = spawnSync(cli, ["run", file, "-o", path.join(folder, "refused"), "-q"], { encoding: "utf8" });
    check(out.status === 2 && /on one line/.test(out.stderr), `a name with control characters is refused: ${JSON.stringify(name)} ${out.status} ${out.stderr}`);
  }
}

const hacked = (page) => page.evaluate(() => /** @type {any} */ (window).hacked);

// Nothing of a name has become an element or an attribute.
async function clean(page, what, pictures) {
  const seen = await page.evaluate(() => ({
    pictures: document.querySelectorAll("img").length,
    handlers: [...document.querySelectorAll("*")].flatMap((e) => e.getAttributeNames()).filter((name) => name.startsWith("on")),
  }));
  check((await hacked(page)) === undefined, `${what}: no script runs (${await hacked(page)})`);
  check(seen.pictures === pictures && seen.handlers.length === 0, `${what}: no elements from names: ${JSON.stringify(seen)}`);
}

// A replay with everything opened that shows names.
async function replay(browser, file, what) {
  const page = await openPage(browser, `file://${file}#t=0.05&labels=1&trails=1`);
  const scripts = await page.evaluate(() => document.scripts.length);
  await page.evaluate(async () => {
    const { perp } = window;
    const wait = () => new Promise((done) => requestAnimationFrame(done));
    for (let body = 0; body < perp.run.bodies.length; body++) {
      perp.select({ body });
      await wait();
    }
    for (let joint = 0; joint < perp.run.joints.length; joint++) perp.select({ joint });
    for (let track = 0; track < Math.min(6, perp.run.tracks); track++) perp.select({ track });
    perp.panel.openList();
    for (const kind of perp.strips.kinds) {
      perp.strips.fill(perp.strips.slots[0], kind);
      await wait();
    }
    for (let k = 0; k < perp.run.sensors.length; k++) perp.showSensor(k);
    perp.theme.toggle();
    perp.toast(perp.run.about.name);
    perp.dialogs.certificate();
    perp.dialogs.help();
    perp.dialogs.save();
    await perp.exporter.render({ format: "png", width: 200, height: 120 });
  });
  await settled(page);
  await clean(page, what, 0);
  check((await page.evaluate(() => document.scripts.length)) === scripts, `${what}: no new scripts`);
  silent(page);
  await page.context().close();
}

// Figures: the page, and each picture opened by itself, where scripts would run.
async function figures(browser, dir, what) {
  const files = readdirSync(dir).filter((name) => name.endsWith(".svg"));
  const context = await browser.newContext();
  const page = await context.newPage();
  const requests = [];
  page.on("request", (r) => !r.url().startsWith("file:") && requests.push(r.url()));
  page.on("dialog", (d) => {
    requests.push(d.message());
    d.dismiss();
  });
  await page.goto(`file://${path.join(dir, "index.html")}`);
  await clean(page, `${what}: index.html`, files.length);
  check(files.length > 0, `${what}: there are figures`);
  for (const name of files) {
    await page.goto(`file://${path.join(dir, name)}`);
    const root = await page.evaluate(() => ({ tag: document.documentElement.tagName, scripts: document.getElementsByTagName("script").length, fault: document.getElementsByTagName("parsererror").length }));
    check(root.tag === "svg" && root.scripts === 0 && root.fault === 0 && (await hacked(page)) === undefined, `${what}: ${name} is a picture: ${JSON.stringify(root)}`);
  }
  check(requests.length === 0, `${what}: nothing is loaded: ${requests}`);
  await context.close();
}

// Every text on its page, whatever font the browser takes, and none on top of another in the same line; on a phone
// nothing sticks out and letters have at least 8 pixels.
async function readable(browser, dir, what) {
  const context = await browser.newContext({ viewport: { width: 390, height: 800 } });
  const page = await context.newPage();
  for (const name of readdirSync(dir).filter((file) => file.endsWith(".svg"))) {
    await page.goto(`file://${path.join(dir, name)}`);
    const faults = await page.evaluate(() => {
      const svg = /** @type {any} */ (document.documentElement);
      const box = svg.getBoundingClientRect();
      const texts = [...svg.querySelectorAll("text")].map((e) => ({ text: e.textContent, turned: /rotate/.test(e.getAttribute("transform") ?? ""), at: e.getBoundingClientRect() }));
      const out = texts.filter(({ at }) => at.left < box.left - 2 || at.right > box.right + 2).map(({ text }) => `outside: ${text}`);
      texts.forEach((a, i) => texts.slice(i + 1).forEach((b) => {
        if (a.turned || b.turned || Math.abs(a.at.bottom - b.at.bottom) > 1) return;
        const over = Math.min(a.at.right, b.at.right) - Math.max(a.at.left, b.at.left);
        if (over > 1) out.push(`'${a.text}' on '${b.text}'`);
      }));
      return out;
    });
    check(faults.length === 0, `${what}: ${name}: ${faults.join("; ")}`);
  }
  await page.goto(`file://${path.join(dir, "index.html")}`);
  const phone = await page.evaluate(() => ({
    wide: document.documentElement.scrollWidth,
    small: [...document.images].filter((image) => (7 * 4 / 3 * image.clientWidth) / image.naturalWidth < 8).map((image) => image.alt),
  }));
  check(phone.wide <= 390 && phone.small.length === 0, `${what}: readable on a phone: ${JSON.stringify(phone)}`);
  await context.close();
}

// Cells that a spreadsheet would take for formulas are marked; control characters are not there.
function tables(dir) {
  for (const name of readdirSync(dir).filter((file) => file.endsWith(".csv"))) {
    const text = readFileSync(path.join(dir, name), "utf8");
    check(!/[\u0000-\u0008\u000b-\u001f]/.test(text), `${name}: no control characters`);
    // Fields, quoted or not.
    const cells = text.match(/"(?:[^"]|"")*"|[^,\n"]+/g) ?? [];
    const bad = cells.map((cell) => cell.replace(/^"/, "")).filter((cell) => /^[=+@-]/.test(cell) && !/^[+-]?(\d|inf|nan)/i.test(cell));
    check(bad.length === 0, `${name}: no formulas: ${bad.slice(0, 3)}`);
  }
}

// gnuplot draws the figures and runs no command.
function scripts(dir) {
  if (spawnSync("gnuplot", ["--version"]).status !== 0) {
    console.log("gnuplot is missing: its scripts were not run");
    return;
  }
  for (const name of readdirSync(dir).filter((file) => file.endsWith(".gp"))) {
    const out = spawnSync("gnuplot", [name], { cwd: dir, encoding: "utf8", timeout: 60000 });
    check(out.status === 0, `gnuplot ${name}: ${out.stderr.slice(0, 300)}`);
    check(!existsSync(path.join(dir, "pwned")), `gnuplot ${name} runs no command`);
  }
}

async function live(browser, folder, scene) {
  const child = spawn(cli, ["view", scene, "-q", "--run", "-o", path.join(folder, "saved")], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((done) => child.on("exit", done));
  const url = await new Promise((done) => child.stdout.once("data", (part) => done(String(part).split("\n")[0])));
  try {
    const page = await openPage(browser, url);
    await page.waitForFunction(() => window.perp.live?.built && window.perp.run.poses.t.rows > 2);
    await page.keyboard.press("j");
    await page.keyboard.press("n");
    await page.keyboard.press("t");
    await settled(page);
    await clean(page, "the live view", 0);
    silent(page);
    await page.context().close();
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
}

async function sweep(browser, folder) {
  const dir = path.join(folder, "sweep");
  const file = path.join(folder, "sweep.json");
  const evil = `${ATTACKS[0]}${ATTACKS[1]}${ATTACKS[10]}`;
  writeFileSync(path.join(folder, "thrown.json"), JSON.stringify({ parameters: { v: 1 }, step: 0.01, until: 0.05,
    bodies: [{ name: ATTACKS[0], mass: 1, inertia: 1, velocity: ["v", 0] }] }));
  writeFileSync(file, JSON.stringify({
    name: evil, description: evil, scene: "thrown.json",
    parameters: { v: { from: 1, to: 3, count: 3, unit: ATTACKS[5] } },
    run: { until: 0.05 },
    outputs: { far: { final: "t", unit: ATTACKS[10] } },
    figures: [{ title: evil, x: "v", output: "far" }],
  }));
  const made = spawnSync(cli, ["sweep", file, "-o", dir, "-q"], { encoding: "utf8" });
  if (made.status !== 0) {
    // A unit that is no unit may be refused; then titles and names are what is left to attack with.
    const plain = JSON.parse(readFileSync(file, "utf8"));
    delete plain.parameters.v.unit;
    delete plain.outputs.far.unit;
    writeFileSync(file, JSON.stringify(plain));
    perp("sweep", file, "-o", dir, "-q");
  }
  await figures(browser, dir, "a sweep");
  tables(dir);
  scripts(dir);
}

await withBrowser(async (browser, folder) => {
  refused(folder);
  for (const [k, name] of ["sensor-arm", "arm-pushes", "berard-4.6"].entries()) {
    const { scene, count } = attack(`scenes/${name}.json`, 3 * k);
    const file = path.join(folder, `${name}.json`);
    const dir = path.join(folder, name);
    mkdirSync(dir);
    writeFileSync(file, JSON.stringify(scene));
    perp("run", file, "--until", "0.12", "-o", dir, "-q");
    check(count > 1, `${name}: names are replaced`);
    await replay(browser, path.join(dir, "replay.html"), name);
    await figures(browser, dir, name);
    tables(dir);
    if (k % 2 === 0) scripts(dir);
    if (k > 0) continue;
    perp("run", file, "--until", "0.12", "--step", "0.004", "-o", `${dir}-b`, "-q", "--no-figures");
    perp("view", dir, `${dir}-b`, "-q");
    await replay(browser, path.join(dir, "compare.html"), "a comparison");
    spawnSync(cli, ["compare", dir, `${dir}-b`, "-o", `${dir}-both`], { stdio: "ignore" });
    await figures(browser, `${dir}-both`, "figures of a comparison");
    scripts(`${dir}-both`);
    await live(browser, folder, file);
  }
  for (const name of ["arm-pushes", "dominoes", "trinkle-robot"]) {
    const dir = path.join(folder, `plain-${name}`);
    perp("run", `scenes/${name}.json`, "--until", "0.2", "-o", dir, "-q");
    await readable(browser, dir, name);
  }
  await sweep(browser, folder);
});
