// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Colours of the style sheet and of the bodies.

// 2D canvases are drawn on the CPU: faster than an emulated GPU, and fast enough beside a real one.
/** @type {CanvasRenderingContext2DSettings} */
export const CPU = { willReadFrequently: true };

const BODY = {
  light: ["#7ea6d4", "#e2b56f", "#93c29e", "#d79391", "#af9cd2", "#78bdc2", "#d2bd5c", "#c19f85"],
  dark: ["#5d86b8", "#c39550", "#6ea37c", "#b87573", "#8e7bb5", "#559da3", "#ac9840", "#9c7d65"],
};

export class Theme {
  constructor() {
    const asked = new URLSearchParams(location.hash.slice(1)).get("theme");
    const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
    this.listeners = [];
    this.density = 0; // pixels of a canvas per pixel of the page; 0: those of the screen
    this.set(asked === "dark" || asked === "light" ? asked : dark ? "dark" : "light");
  }
  set(name) {
    this.name = name;
    document.documentElement.dataset.theme = name;
    document.documentElement.style.colorScheme = name;
    const style = getComputedStyle(document.documentElement);
    const get = (key) => style.getPropertyValue("--" + key).trim();
    this.color = {};
    for (const key of ["paper", "stage", "card", "line", "faint", "ink", "soft", "accent", "good", "bad", "stick", "slip", "open"]) {
      this.color[key] = get(key);
    }
    this.color.joint = name === "dark" ? "#d7a6ff" : "#7b3fa8";
    this.color.mode = [this.color.open, this.color.stick, this.color.slip];
    this.color.axis = name === "dark" ? ["#ff7b72", "#56d364", "#79b8ff"] : ["#c0392b", "#1e8449", "#2155c4"];
    this.color.ghost = name === "dark" ? ["#ff7eb6", "#c792ff", "#4dd0e1", "#ffd166"] : ["#c2185b", "#6a35b1", "#00778a", "#8a6100"];
    this.sans = get("sans");
    this.mono = get("mono");
    this.listeners.forEach((listen) => listen(this));
  }
  ratio(most) {
    return this.density || Math.min(most, window.devicePixelRatio || 1);
  }
  toggle() {
    this.set(this.name === "dark" ? "light" : "dark");
  }
  onChange(listen) {
    this.listeners.push(listen);
  }
  // The colour that the scene gives to a shape, or that of its body.
  shape(shape, drive) {
    return shape.colour ?? this.body(shape.body, drive);
  }
  body(k, drive) {
    if (drive === "fixed") return this.name === "dark" ? "#4a505c" : "#c9c6bd";
    const set = BODY[this.name];
    return set[(k - 1 + set.length) % set.length];
  }
}

export function withAlpha(hex, alpha) {
  const n = parseInt(hex.slice(1), 16);
  return `rgba(${n >> 16}, ${(n >> 8) & 255}, ${n & 255}, ${alpha})`;
}

export function shade(hex, factor) {
  const n = parseInt(hex.slice(1), 16);
  const part = (c) => Math.round(Math.min(255, c * factor));
  return `rgb(${part(n >> 16)}, ${part((n >> 8) & 255)}, ${part(n & 255)})`;
}
