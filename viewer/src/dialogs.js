// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The dialogs: keyboard shortcuts, and the certificate.
import { CERTIFICATE } from "./data.js";

const KEYS = [
  ["Space", "play, pause"],
  ["← →", "step back, forward"],
  ["Shift ← →", "ten steps"],
  ["Home End", "start, end"],
  ["+ −", "faster, slower"],
  ["L", "loop"],
  ["N P", "next, previous body"],
  ["C", "next contact"],
  ["F", "follow the body"],
  ["1 … 9", "contacts, normals, forces, cones, joints, axes, gaps, trails, grid"],
  ["V", "collision shapes in place of visuals"],
  ["T", "names of bodies"],
  ["M", "measure a distance or an angle"],
  ["J", "joints and inputs"],
  ["G O", "other runs: show, onset of difference"],
  ["↑ ↓", "zoom in, out"],
  ["0", "home: everything"],
  ["Z", "zoom to the selection"],
  ["U", "camera below the floor"],
  ["S", "strip charts"],
  ["E", "save a picture or film"],
  ["B", "certificate"],
  ["D", "light or dark theme"],
  ["Esc", "close, deselect"],
];

const close = '<button class="icon" data-close aria-label="Close"><svg viewBox="0 0 16 16"><path d="M3.5 3.500l9 9M12.5 3.500l-9 9"/></svg></button>';

export class Dialogs {
  constructor(host, app) {
    this.app = app;
    this.box = document.createElement("dialog");
    host.append(this.box);
    this.box.addEventListener("click", (e) => e.target === this.box && this.box.close());
  }
  open(html) {
    this.box.innerHTML = html;
    this.box.querySelector("[data-close]").addEventListener("click", () => this.box.close());
    if (!this.box.open) this.box.showModal();
  }

  help() {
    const rows = KEYS.map(([keys, what]) => `<div><span>${what}</span><span>${keys.split(" ").map((k) => (k === "…" ? "…" : `<kbd>${k}</kbd>`)).join(" ")}</span></div>`).join("");
    const mouse = this.app.run.spatial ? "Drag to rotate, right-drag to pan, scroll to zoom; with two fingers pan and zoom. A double click zooms to a body." : "Drag to pan, scroll or pinch to zoom. A double click zooms to a body.";
    const live = this.app.live ? " Drag a body to pull it with a spring." : "";
    this.open(`<header><h2>Keyboard shortcuts</h2>${close}</header><div class="keys">${rows}</div>
      <p>${mouse}${live} Click a body, contact or joint to see its values; click a strip chart to go to that time.
      Arrows show the contact forces on the second body, to scale and coloured by mode. Add <kbd>#t=1.5&amp;cones=1</kbd> to the address to open the page at a given time.</p>`);
  }

  // A picture or film of the view, made here and saved by the browser.
  save() {
    const { app } = this;
    const { run, stage } = app;
    const formats = app.exporter.formats().map((name) => `<option value="${name}">${{ png: "Picture (PNG)", gif: "Film (GIF)", webm: "Film (WebM)" }[name]}</option>`).join("");
    const sizes = [[Math.round(stage.width), Math.round(stage.height), "as shown"], [640, 360, ""], [1280, 720, ""], [1920, 1080, ""]]
      .map(([w, h, what]) => `<option value="${w}x${h}">${w} × ${h}${what ? ` (${what})` : ""}</option>`).join("");
    this.open(`<header><h2>Save a picture or film</h2>${close}</header>
      <form method="dialog" class="save">
        <label>Format <select name="format">${formats}</select></label>
        <label>Size <select name="size">${sizes}</select></label>
        <label data-film>From <input name="from" type="number" step="any" value="${+run.t0.toFixed(4)}"> s</label>
        <label data-film>To <input name="to" type="number" step="any" value="${+run.t1.toFixed(4)}"> s</label>
        <label data-film>Frames per second <input name="fps" type="number" min="1" max="60" value="25"></label>
        <label data-film>Speed <input name="speed" type="number" min="0.001" step="any" value="${app.player.speed}"> ×</label>
        <p class="state">The picture shows the stage at this moment. Nothing leaves this machine.</p>
        <div class="row"><button type="button" data-save>Save</button></div>
      </form>`);
    const form = this.box.querySelector("form");
    const field = (name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name)).value;
    const state = form.querySelector(".state");
    const button = form.querySelector("[data-save]");
    const films = () => form.querySelectorAll("[data-film]").forEach((e) => /** @type {HTMLElement} */ (e).hidden = field("format") === "png");
    form.addEventListener("change", films);
    films();
    let busy = false;
    button.addEventListener("click", async () => {
      if (busy) {
        busy = false;
        return;
      }
      const [width, height] = field("size").split("x").map(Number);
      const number = (name) => (Number.isFinite(parseFloat(field(name))) ? parseFloat(field(name)) : undefined);
      busy = true;
      button.textContent = "Stop";
      try {
        const progress = (k, all) => {
          state.textContent = `frame ${k + 1} of ${all}`;
          return busy && this.box.open;
        };
        await app.exporter.save({ format: field("format"), width, height, from: number("from"), to: number("to"), fps: Math.min(60, Math.max(1, number("fps") ?? 25)), speed: Math.max(1e-3, number("speed") ?? 1), progress });
        state.textContent = busy ? "Saved." : "Stopped.";
      } catch (e) {
        state.textContent = e.message;
      }
      busy = false;
      button.textContent = "Save";
    });
  }

  certificate() {
    const { app } = this;
    const { worst, when, passedAt } = app.worst();
    const limits = app.run.about.limits;
    const rows = CERTIFICATE.map(([, name, unit], i) => {
      const share = app.run.about.shares?.[i] ?? 0;
      const wide = share > 0 ? Math.max(2, Math.min(100, (100 * (Math.log10(share) + 9)) / 9)) : 2;
      return `<tr class="${share > 1 ? "bad" : ""}"><td>${name}</td><td class="num">${worst[i] ? worst[i].toExponential(2) : "0"} ${unit}</td>
        <td class="num">${limits[i] > 0 ? limits[i].toExponential(0) : "relative"}</td><td><span class="bar" style="width:${wide}px"></span></td>
        <td><button data-go="${when[i]}">${+when[i].toFixed(4)} s</button></td></tr>`;
    }).join("");
    this.open(`<header><h2>${passedAt.length ? "Violated" : "Certified"}</h2>${close}</header>
      <table><thead><tr><th>worst value of all steps</th><th></th><th>limit</th><th>value / limit (log)</th><th>at</th></tr></thead><tbody>${rows}</tbody></table>
      <p>Computed after each step by code that is independent of the solver. ${passedAt.length ? `${passedAt.length} recorded frame${passedAt.length > 1 ? "s exceed" : " exceeds"} a limit, marked red above the time slider.` : "All steps are within the limits."}</p>`);
    for (const button of this.box.querySelectorAll("[data-go]")) {
      button.addEventListener("click", () => {
        this.box.close();
        app.player.seek(Number(button.getAttribute("data-go")));
      });
    }
  }
}
