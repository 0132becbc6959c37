// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Entry point: reads the data of the page and starts the application.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { App } from "./app.js";
import { Run } from "./data.js";

function boot() {
  const about = document.getElementById("perp-about");
  const data = document.getElementById("perp-data");
  const host = document.getElementById("app");
  if (!about || !data) {
    host.textContent = "This viewer contains no run. Create a replay with 'perp run' or 'perp view DIR'.";
    return;
  }
  const run = new Run(JSON.parse(about.textContent), data.textContent);
  data.textContent = "";
  window.perp = new App(host, run);
}

boot();
