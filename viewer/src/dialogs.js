// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Two dialogs: the keys, and the certificate.
import { CERTIFICATE } from "./data.js";

const KEYS = [
  ["Space", "play, pause"],
  ["← →", "a step back, forward"],
  ["Shift ← →", "ten steps"],
  ["Home End", "start, end"],
  ["+ −", "faster, slower"],
  ["L", "loop"],
  ["N P", "next, previous body"],
  ["C", "next contact"],
  ["F", "follow the body"],
  ["1 … 9", "contacts, normals, forces, cones, joints, axes, gaps, trails, grid"],
  ["↑ ↓", "nearer, farther"],
  ["0", "show everything"],
  ["S", "strips"],
  ["B", "certificate"],
  ["D", "light or dark"],
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
    const mouse = this.app.run.spatial ? "Drag to turn, right button to move, wheel to zoom." : "Drag to move, wheel to zoom.";
    const live = this.app.live ? " Drag a body to pull it with a spring." : "";
    this.open(`<header><h2>Keys</h2>${close}</header><div class="keys">${rows}</div>
      <p>${mouse}${live} Click a body, a contact or a joint for its numbers; click a strip to go to that time.
      Arrows are contact forces on the second body, in proportion, coloured by mode. Add <kbd>#t=1.5&amp;cones=1</kbd> to the address to open the page at a moment.</p>`);
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
    this.open(`<header><h2>${passedAt.length ? "Past a limit" : "Certified"}</h2>${close}</header>
      <table><thead><tr><th>worst of all steps</th><th></th><th>limit</th><th>of the limit (log)</th><th>at</th></tr></thead><tbody>${rows}</tbody></table>
      <p>Found after each step by code that shares nothing with the solver. ${passedAt.length ? `${passedAt.length} recorded moments are past a limit; they are marked red above the time slider.` : "No step is past a limit."}</p>`);
    for (const button of this.box.querySelectorAll("[data-go]")) {
      button.addEventListener("click", () => {
        this.box.close();
        app.player.seek(Number(button.getAttribute("data-go")));
      });
    }
  }
}
