// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the viewer share: a browser, a page that must stay silent, and checks.
//
// Environment: PERP_CLI (the command), PERP_MODULES (node_modules of the build), PERP_SHOTS (where screenshots go),
// PERP_BROWSER (default: chromium of the system). Exit code 77: there is no browser.
import { execFileSync } from "node:child_process";
import { accessSync, constants, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";

const modules = process.env.PERP_MODULES ?? path.resolve("viewer/node_modules");
const { chromium } = createRequire(path.join(modules, "here.js"))("playwright-core");
export const shots = process.env.PERP_SHOTS ?? path.resolve("build/viewer-shots");
export const cli = process.env.PERP_CLI ?? path.resolve("build/dev/cli/perp");
mkdirSync(shots, { recursive: true });

const SKIP = 77;
let checks = 0;

export function check(condition, what) {
  checks++;
  if (!condition) throw new Error(`not true: ${what}`);
}
export function near(a, b, tolerance, what) {
  check(Math.abs(a - b) <= tolerance, `${what}: ${a} is not ${b} to ${tolerance}`);
}

function findBrowser() {
  const names = [process.env.PERP_BROWSER, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  return names.find((name) => {
    try {
      accessSync(name, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

// Software rendering: what every machine has.
export async function withBrowser(test) {
  const executablePath = findBrowser();
  if (!executablePath) {
    console.log("skipped: no Chromium (tools/install_deps browser, or PERP_BROWSER=...)");
    process.exit(SKIP);
  }
  const args = ["--no-sandbox", "--disable-dev-shm-usage", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--hide-scrollbars"];
  const browser = await chromium.launch({ executablePath, args, timeout: 120000 });
  const folder = mkdtempSync(path.join(os.tmpdir(), "perp-viewer-"));
  try {
    await test(browser, folder);
    console.log(`${checks} checks passed`);
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

// Small, since every pixel is drawn by the processor: a frame of 1360 x 860 takes five times as long.
const SIZE = { width: 920, height: 600 };

// A page that may say nothing on the console and load nothing from anywhere.
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: options.size ?? SIZE, hasTouch: options.touch === true, reducedMotion: options.calm === false ? "no-preference" : "reduce", colorScheme: options.scheme ?? "light" });
  const page = await context.newPage();
  page.setDefaultTimeout(60000);
  page.complaints = [];
  page.on("console", (m) => {
    // Chromium tells how slow it reads back from an emulated GPU.
    if (m.type() !== "error" && !(m.type() === "warning" && !/GL Driver Message|swiftshader|software/i.test(m.text()))) return;
    page.complaints.push(`${m.type()}: ${m.text()}`);
  });
  page.on("pageerror", (e) => page.complaints.push(`exception: ${e.message}`));
  page.on("request", (r) => {
    const ours = url.startsWith("file:") ? /^(file|data|blob):/ : new RegExp(`^(data|blob):|^(http|ws)://${new URL(url).host}/`);
    if (!ours.test(r.url())) page.complaints.push(`a request to ${r.url()}`);
  });
  await page.goto(url, { timeout: 120000 });
  await page.waitForFunction(() => window.perp?.drawn > 0);
  return page;
}

export function silent(page) {
  check(page.complaints.length === 0, `the page is silent, but: ${page.complaints.join("; ")}`);
}

export function perp(...words) {
  return execFileSync(cli, words, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

// Rows of a CSV file as objects.
export function csv(file) {
  const [head, ...lines] = readFileSync(file, "utf8").trim().split("\n");
  const names = head.split(",");
  return lines.map((line) => Object.fromEntries(line.split(",").map((v, k) => [names[k], v])));
}

// How many colours a canvas has: what is blank has one.
export function colours(page, selector) {
  return page.evaluate((s) => {
    window.perp.draw();
    const from = document.querySelector(s);
    const copy = document.createElement("canvas");
    copy.width = 160;
    copy.height = 100;
    const ctx = copy.getContext("2d", { willReadFrequently: true });
    ctx.drawImage(from, 0, 0, 160, 100);
    const data = new Uint32Array(ctx.getImageData(0, 0, 160, 100).data.buffer);
    return new Set(data).size;
  }, selector);
}

// Pixels of the overlay that are drawn on.
export function inked(page) {
  return page.evaluate(() => {
    window.perp.draw();
    const c = /** @type {HTMLCanvasElement} */ (document.querySelector("canvas.over"));
    const data = new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer);
    return data.reduce((n, v) => n + (v !== 0 ? 1 : 0), 0);
  });
}

export async function settled(page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}
