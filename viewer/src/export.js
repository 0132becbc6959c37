// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The view as a picture or a film (PNG, GIF, WebM), made in the browser, frame by frame: as fast or slow as the machine
// is, the film is the same.
import { GifWriter } from "./gif.js";
import { WebmWriter, canFilm } from "./webm.js";

export const FORMATS = ["png", "gif", "webm"];
const SAMPLES = 9; // frames that the palette of a GIF is made from
const TYPES = { png: "image/png", gif: "image/gif", webm: "video/webm" };

/** @typedef {{format: string, width?: number, height?: number, fps?: number, from?: number, to?: number, at?: number,
 *   speed?: number, hold?: number, camera?: number[], progress?: (done: number, all: number) => boolean | void}} ExportOptions */

export class Exporter {
  constructor(app) {
    this.app = app;
    this.canvas = document.createElement("canvas");
    this.ctx = this.canvas.getContext("2d", { willReadFrequently: true });
  }
  formats() {
    return FORMATS.filter((name) => name !== "webm" || canFilm());
  }

  // The bytes of a file. at: the time of a picture; from, to: those of a film [s]; speed: of the film, 1 is real time;
  // hold: how long the last frame of a GIF stays [s]. progress returns false to give up.
  /** @param {ExportOptions} options @returns {Promise<Uint8Array | null>} */
  async render(options) {
    const { app } = this;
    const { run } = app;
    if (!FORMATS.includes(options.format)) throw new Error(`unknown format '${options.format}'`);
    const was = { t: app.player.t, playing: app.player.playing };
    app.player.playing = false;
    this.enter(options);
    try {
      if (options.format === "png") return await this.png(options.at ?? was.t);
      const [from, to] = [Math.max(run.t0, options.from ?? run.t0), Math.min(run.t1, options.to ?? run.t1)];
      if (!(to >= from)) throw new Error(`the run lasts from ${run.t0} s to ${run.t1} s: there is nothing between ${from} s and ${to} s`);
      const fps = options.fps ?? (options.format === "gif" ? 20 : 30);
      const speed = options.speed ?? 1;
      const count = Math.max(1, Math.floor(((to - from) / speed) * fps + 1e-6) + 1);
      const times = Array.from({ length: count }, (_, k) => from + (k * speed) / fps);
      return options.format === "gif" ? await this.gif(times, fps, options) : await this.webm(times, fps, options);
    } finally {
      this.leave();
      app.player.t = was.t;
      app.player.playing = was.playing;
      app.dirty = true;
    }
  }

  // The stage takes the size of the picture, without the tools around it; one pixel is one pixel.
  enter(options) {
    const { app } = this;
    const { stage, stageHost } = app;
    const even = options.format === "webm" ? 2 : 1;
    const size = (v) => Math.min(4096, Math.max(16, Math.round(v / even) * even));
    this.width = size(options.width ?? stage.width);
    this.height = size(options.height ?? stage.height);
    this.kept = { tools: stage.tools, fitted: stage.fitted };
    app.exporting = true;
    stageHost.classList.add("exporting");
    stageHost.style.width = `${this.width}px`;
    stageHost.style.height = `${this.height}px`;
    app.theme.density = 1;
    stage.tools = 0;
    app.resize();
    if (options.camera) stage.view3(options.camera);
    this.canvas.width = this.width;
    this.canvas.height = this.height;
  }
  leave() {
    const { app } = this;
    app.exporting = false;
    app.stageHost.classList.remove("exporting");
    app.stageHost.style.width = app.stageHost.style.height = "";
    app.theme.density = 0;
    app.stage.tools = this.kept.tools;
    app.resize();
  }

  draw(t) {
    const { app, ctx } = this;
    app.player.t = t;
    app.draw();
    ctx.drawImage(app.stage.canvas, 0, 0, this.width, this.height);
    ctx.drawImage(app.overlay.canvas, 0, 0, this.width, this.height);
  }
  pixels() {
    return this.ctx.getImageData(0, 0, this.width, this.height).data;
  }

  async png(t) {
    this.draw(t);
    const blob = await new Promise((done) => this.canvas.toBlob(done, TYPES.png));
    return new Uint8Array(await blob.arrayBuffer());
  }
  async gif(times, fps, options) {
    const samples = [];
    for (let k = 0; k < Math.min(SAMPLES, times.length); k++) {
      this.draw(times[Math.floor((k * (times.length - 1)) / Math.max(1, Math.min(SAMPLES, times.length) - 1))]);
      samples.push(this.pixels());
    }
    const writer = new GifWriter(this.width, this.height, samples, fps);
    for (let k = 0; k < times.length; k++) {
      if (!(await this.step(k, times.length, options))) return null;
      this.draw(times[k]);
      writer.add(this.pixels(), k === times.length - 1 ? (options.hold ?? 0.8) : 0);
    }
    return writer.bytes();
  }
  async webm(times, fps, options) {
    const writer = new WebmWriter(this.width, this.height, fps);
    await writer.open();
    for (let k = 0; k < times.length; k++) {
      if (!(await this.step(k, times.length, options))) {
        writer.encoder.close();
        return null;
      }
      this.draw(times[k]);
      await writer.add(this.canvas);
    }
    return writer.bytes();
  }
  async step(k, all, options) {
    await new Promise((done) => setTimeout(done));
    return options.progress?.(k, all) !== false;
  }

  // For a program that drives the page: the file as base64.
  /** @param {ExportOptions} options */
  async text(options) {
    const bytes = await this.render(options);
    let out = "";
    for (let k = 0; k < bytes.length; k += 0x8000) out += String.fromCharCode(...bytes.subarray(k, k + 0x8000));
    return btoa(out);
  }

  // Saves a file by the browser.
  async save(options) {
    const bytes = await this.render(options);
    if (!bytes) return;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([/** @type {any} */ (bytes)], { type: TYPES[options.format] }));
    link.download = `${(this.app.run.about.name || "run").replace(/[^\w.-]+/g, "-")}.${options.format}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }
}
