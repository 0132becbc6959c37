// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Pictures and films of a run, from the page and by perp render, decoded by the browser and compared with what the page
// draws.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { check, cli, near, openPage, perp, settled, silent, withBrowser } from "./browser.mjs";

const url = (dir, hash = "paused") => `file://${path.join(dir, "replay.html")}#${hash}`;
const SIZE = { width: 160, height: 100 };

// What the page draws at a time, as RGBA.
function drawn(page, t, options) {
  return page.evaluate(([at, wish]) => {
    const { exporter } = window.perp;
    exporter.enter(wish);
    exporter.draw(at);
    const data = [...exporter.pixels()];
    exporter.leave();
    return data;
  }, [t, { format: "gif", ...SIZE, ...options }]);
}
function difference(a, b) {
  let sum = 0;
  for (let k = 0; k < a.length; k += 4) sum += Math.abs(a[k] - b[k]) + Math.abs(a[k + 1] - b[k + 1]) + Math.abs(a[k + 2] - b[k + 2]);
  return sum / (0.75 * a.length);
}

// A picture file decoded by the browser: frames and the pixels of one of them.
async function decode(page, file, type, frame) {
  return page.evaluate(async ([base64, kind, index]) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    // @ts-ignore: not in the types of TypeScript yet
    const decoder = new ImageDecoder({ data: bytes, type: kind });
    await decoder.tracks.ready;
    await decoder.completed;
    const { image } = await decoder.decode({ frameIndex: index });
    const canvas = document.createElement("canvas");
    canvas.width = image.displayWidth;
    canvas.height = image.displayHeight;
    const ctx = canvas.getContext("2d", { willReadFrequently: true });
    ctx.drawImage(image, 0, 0);
    const { duration } = image;
    image.close();
    const track = decoder.tracks.selectedTrack;
    return { frames: track.frameCount, repeats: track.repetitionCount, duration, width: canvas.width, height: canvas.height,
      data: [...ctx.getImageData(0, 0, canvas.width, canvas.height).data] };
  }, [readFileSync(file).toString("base64"), type, frame]);
}

// A film played by the browser: its size and length, and its picture at a time.
async function watch(browser, file, t) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const seen = await page.evaluate(async ([base64, at]) => {
    const video = document.createElement("video");
    video.src = `data:video/webm;base64,${base64}`;
    if (!(video.readyState >= 1)) await new Promise((done, fail) => {
      video.onloadedmetadata = done;
      video.onerror = () => fail(new Error(video.error.message));
    });
    video.currentTime = +at;
    await new Promise((done) => (video.onseeked = done));
    const canvas = document.createElement("canvas");
    canvas.width = video.videoWidth;
    canvas.height = video.videoHeight;
    const ctx = canvas.getContext("2d", { willReadFrequently: true });
    ctx.drawImage(video, 0, 0);
    return { width: video.videoWidth, height: video.videoHeight, duration: video.duration, data: [...ctx.getImageData(0, 0, canvas.width, canvas.height).data] };
  }, [readFileSync(file).toString("base64"), t]);
  await context.close();
  return seen;
}

async function files(browser, folder, name, camera) {
  const dir = path.join(folder, name);
  perp("run", `scenes/${name}.json`, "--until", "0.6", "-o", dir, "-q", "--no-figures");
  const page = await openPage(browser, url(dir));
  const options = { camera };
  const words = ["--size", "160x100", "--camera", camera.join(",")];
  const at = (ending) => path.join(folder, `${name}.${ending}`);
  const start = await drawn(page, 0, options);
  const middle = await drawn(page, 0.3, options);
  check(difference(start, middle) > 0.02, `${name}: something moves`);
  // A picture is what the page draws, to the bit.
  perp("render", dir, "-o", at("png"), "--at", "0.3", ...words, "-q");
  const png = await decode(page, at("png"), "image/png", 0);
  check(png.width === 160 && png.height === 100, "size of the picture");
  check(difference(png.data, middle) < 0.01, `${name}: the picture is what the page shows: ${difference(png.data, middle)}`);
  // A GIF: frames, times, colours.
  perp("render", dir, "-o", at("gif"), "--fps", "10", ...words, "-q");
  const gif = await decode(page, at("gif"), "image/gif", 3);
  check(gif.frames === 7, `frames of the GIF: ${gif.frames}`);
  check(gif.repeats === Infinity && gif.duration === 100000, `it repeats, at 10 frames per second: ${gif.repeats}, ${gif.duration}`);
  check(difference(gif.data, middle) < 3, `${name}: colours of the GIF: ${difference(gif.data, middle)}`);
  check(difference(gif.data, middle) < difference(gif.data, start), `${name}: frame 3 is that of 0.3 s`);
  // A film, half as fast.
  perp("render", dir, "-o", at("webm"), "--fps", "20", "--speed", "0.5", ...words, "-q");
  const film = await watch(browser, at("webm"), 0.6);
  check(film.width === 160 && film.height === 100, `size of the film: ${film.width} x ${film.height}`);
  near(film.duration, 25 / 20, 1e-3, "length of the film");
  check(difference(film.data, middle) < 6, `${name}: the film at 0.6 s shows 0.3 s: ${difference(film.data, middle)}`);
  // The page is as it was.
  check(await page.evaluate(() => !window.perp.exporting && window.perp.stage.width > 600), "the stage has its size again");
  silent(page);
  await page.context().close();
}

// The dialog saves a file, and stops when asked.
async function dialog(browser, folder) {
  const page = await openPage(browser, url(path.join(folder, "berard-4.6")));
  await page.locator("canvas.main").focus();
  await page.keyboard.press("e");
  check(await page.locator("dialog[open] [data-save]").isVisible(), "E opens the dialog");
  const save = async (format) => {
    await page.locator("[name=format]").selectOption(format);
    await page.locator("[name=size]").selectOption("640x360");
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator("[data-save]").click()]);
    const file = path.join(folder, `saved.${format}`);
    await download.saveAs(file);
    return { file, name: download.suggestedFilename() };
  };
  const png = await save("png");
  check(png.name === "berard-4.6.png", `name of the file: ${png.name}`);
  check((await decode(page, png.file, "image/png", 0)).width === 640, "a picture of the chosen size");
  check(await page.locator("[name=fps]").isHidden(), "a picture has no frames per second");
  await page.locator("[name=format]").selectOption("gif");
  await page.locator("[name=to]").fill("0.2");
  await page.locator("[name=fps]").fill("10");
  const gif = await save("gif");
  check((await decode(page, gif.file, "image/gif", 0)).frames === 3, "a film of the chosen length");
  await page.locator("[name=to]").fill("0.6");
  await page.locator("[name=speed]").fill("0.02");
  await page.locator("[data-save]").click();
  await page.waitForFunction(() => /frame [3-9]/.test(document.querySelector("dialog .state").textContent));
  await page.locator("[data-save]").click();
  await page.waitForFunction(() => document.querySelector("dialog .state").textContent === "Stopped.");
  await page.locator("[data-close]").click();
  await settled(page);
  silent(page);
  await page.context().close();
}

// What goes wrong is said, and nothing is left behind.
function faults(folder) {
  const dir = path.join(folder, "berard-4.6");
  const says = (code, text, words, env = {}) => {
    const out = spawnSync(cli, ["render", dir, ...words], { encoding: "utf8", env: { ...process.env, TMPDIR: folder, ...env } });
    check(out.status === code && out.stderr.includes(text), `'${words.join(" ")}' ends with ${code} and '${text}': ${out.status}, ${out.stderr}`);
  };
  const film = path.join(folder, "no.webm");
  says(2, "ends with .png, .gif or .webm", ["-o", "film.mp4"]);
  says(2, "is not of the form 1280x720", ["-o", film, "--size", "1280"]);
  says(2, "is not of the form 1280x720", ["-o", film, "--size", "9x9"]);
  says(2, "AZIMUTH,ELEVATION", ["-o", film, "--camera", "30"]);
  says(2, "AZIMUTH,ELEVATION", ["-o", film, "--camera", "30,nan"]);
  says(2, "--at is for pictures", ["-o", film, "--at", "1"]);
  says(2, "a picture has one time", ["-o", path.join(folder, "no.png"), "--fps", "3"]);
  says(2, "at most 60", ["-o", film, "--fps", "100"]);
  says(1, "there is nothing between 7 s", ["-o", film, "--from", "7"]);
  says(1, "there is no program", ["-o", film], { PERP_BROWSER: "/nonexistent" });
  says(1, "the browser ended", ["-o", film], { PERP_BROWSER: "/bin/false" });
  says(1, "'chromium'", ["-o", film], { PERP_BROWSER: "", PATH: "/nonexistent" });
  says(1, "cannot write", ["-o", path.join(folder, "missing", "no.webm")]);
  check(!existsSync(film), "no file");
  // A script in a name does not run; the hash goes to the page as data.
  const odd = path.join(folder, "odd.png");
  says(0, "", ["-o", odd, "--view", "body=</script><script>document.title='x'</script>&theme=dark\"'\n"]);
  check(existsSync(odd), "a picture in spite of an odd view");
  const left = readdirSync(folder).filter((name) => name.startsWith("perp-render-"));
  check(left.length === 0, `no folder is left: ${left}`);
}

// A signal ends the browser and its folder goes: while it starts, and one that never answers. Signals come in numbers, as
// from `timeout` or an impatient user; a second one once ended perp before it had cleaned up.
async function interrupted(folder) {
  const slow = path.join(folder, "slow");
  const temporary = path.join(folder, "temporary");
  writeFileSync(slow, "#!/bin/sh\nexec sleep 60\n", { mode: 0o755 });
  mkdirSync(temporary);
  const film = path.join(folder, "x.gif");
  for (const [browser, waitFor] of [[slow, "messages"], [process.env.PERP_BROWSER ?? "", "profile"]]) {
    const child = spawn(cli, ["render", path.join(folder, "berard-4.6"), "-o", film], { env: { ...process.env, TMPDIR: temporary, PERP_BROWSER: browser }, stdio: "ignore" });
    const ended = new Promise((done) => child.on("exit", (status, signal) => done(signal ?? status)));
    const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));
    const started = () => readdirSync(temporary).some((name) => existsSync(path.join(temporary, name, waitFor)));
    while (child.exitCode === null && !started()) await pause(0.01);
    while (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGINT");
      await pause(0);
    }
    check((await ended) === 130, `an interrupt ends it: ${await ended}`);
    check(!existsSync(film), "and leaves no film");
    const left = readdirSync(temporary, { recursive: true });
    check(left.length === 0, `no folder is left: ${left}`);
  }
}

await withBrowser(async (browser, folder) => {
  await files(browser, folder, "berard-4.6", [0.5, 0.3, 1.2]);
  await files(browser, folder, "trinkle-robot", [-60, 25]);
  await dialog(browser, folder);
  faults(folder);
  await interrupted(folder);
});
