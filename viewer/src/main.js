// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The page: reads its numbers, makes stage, strips and panel, and draws when something changed.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { App } from "./app.js";
import { Run } from "./data.js";

function boot() {
  const about = document.getElementById("perp-about");
  const data = document.getElementById("perp-data");
  const host = document.getElementById("app");
  if (!about || !data) {
    host.textContent = "This page is the viewer without a run: perp run, or perp view DIR, puts one in.";
    return;
  }
  const run = new Run(JSON.parse(about.textContent), data.textContent);
  data.textContent = "";
  window.perp = new App(host, run);
}

boot();
