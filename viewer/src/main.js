// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Entry point: reads the data of the page and starts the application.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { App } from "./app.js";
import { Run } from "./data.js";
import { SpatialStage } from "./spatial.js";

function boot() {
  // One pair of blocks for each run; the first is the run that is shown, the others are compared with it.
  const abouts = [...document.querySelectorAll("script#perp-about")];
  const datas = [...document.querySelectorAll("script#perp-data")];
  const host = document.getElementById("app");
  if (abouts.length === 0 || abouts.length !== datas.length) {
    host.textContent = "This viewer contains no run. Create a replay with 'perp run' or 'perp view DIR'.";
    return;
  }
  const [run, ...others] = abouts.map((about, k) => {
    const made = new Run(JSON.parse(about.textContent), datas[k].textContent);
    datas[k].textContent = "";
    return made;
  });
  window.perp = new App(host, run, { others, spatial: SpatialStage });
}

boot();
