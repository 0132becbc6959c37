// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The problem of the last step, beside the view: matrices with the names of their rows and columns. A click on a row or column
// selects the body it belongs to, and the rows and columns of the selected body are highlighted. All texts are set as texts.

// The blocks of z that name the rows and columns of a matrix (perp explain); z: all.
const MATRICES = {
  M: ["nu", "nu"],
  W_b: ["nu", "p_b"],
  W_m: ["nu", "p_m"],
  W_n: ["nu", "p_n"],
  W_f: ["nu", "p_f"],
  U: ["sigma", "p_n"],
  E: ["p_f", "sigma"],
  A: ["z", "z"],
  b: ["z", null],
};
const MOST = 60; // rows and columns that are shown

const element = (name, text = "", className = "") => {
  const e = document.createElement(name);
  e.textContent = text;
  if (className) e.className = className;
  return e;
};
const short = (x) => (x === 0 ? "·" : Math.abs(x) >= 1e-3 && Math.abs(x) < 1e5 ? String(+x.toPrecision(4)) : x.toExponential(2));

// The name of a row without what its component adds: "ball.vx", "shoulder.1", "floor/ball:0.spin+t".
export function owner(name) {
  return name.replace(/(?:\.(?:spin|roll))?(?:\.(?:v[xyz]|w[xyz]|omega|rate|n|sigma|d?\d+)|[+-]t)$/, "");
}

export class Explain {
  /** @param {(body: number) => void} select */
  constructor(host, select) {
    this.host = host;
    this.select = select;
    this.chosen = "A";
    this.run = null; // of the viewer: names of bodies and joints
    this.body = -1; // the selected one
  }
  /** @param {number} body */
  highlight(body) {
    if (body === this.body) return;
    this.body = body;
    if (this.problem && !this.problem.error) this.show(this.problem);
  }

  // Where each block of z begins, and its size.
  block(name) {
    if (name === "z") return [0, this.problem.size];
    let at = 0;
    for (const [key, size] of Object.entries(this.problem.blocks)) {
      if (key === name) return [at, size];
      at += size;
    }
    return [at, 0];
  }
  // The moving bodies of each row of z. A velocity is that of a body, or of a joint; other rows belong to the bodies whose
  // velocities they act on, and rows that act on none (sigma) to those of the contact they are named after.
  findBodies() {
    const { names, A } = this.problem;
    const [, velocities] = this.block("nu");
    const bodies = new Map((this.run?.bodies ?? []).map((b, k) => [b.name, k]));
    const joints = new Map((this.run?.joints ?? []).map((j) => [j.name, j.b]));
    const of = names.map((name, k) => {
      if (k >= velocities) return new Set(A[k].slice(0, velocities).flatMap((x, j) => (x !== 0 ? [bodies.get(owner(names[j])) ?? joints.get(owner(names[j]))] : [])));
      return new Set([bodies.get(owner(name)) ?? joints.get(owner(name))]);
    });
    const named = new Map();
    names.forEach((name, k) => k >= velocities && of[k].size > 0 && named.set(owner(name), of[k]));
    return of.map((set, k) => [...(set.size > 0 ? set : (named.get(owner(names[k])) ?? []))].filter((body) => body !== undefined));
  }
  show(problem) {
    this.problem = problem;
    this.host.textContent = "";
    if (problem.error) {
      this.host.append(element("p", problem.error, "soft"));
      return;
    }
    this.bodies = this.findBodies();
    const blocks = Object.entries(problem.blocks).map(([name, size]) => `${name} ${size}`).join(", ");
    this.host.append(element("p", `w = A z + b, form ${problem.form}, size ${problem.size}: ${blocks}. Motion ${word(problem.motion)}, impulses ${word(problem.impulses)}.`, "soft"));
    const tabs = element("div", "", "tabs");
    for (const name of [...Object.keys(MATRICES).filter((m) => rows(problem[m]) > 0), "z, w"]) {
      const tab = /** @type {HTMLButtonElement} */ (element("button", name));
      tab.setAttribute("aria-pressed", String(name === this.chosen));
      tab.onclick = () => {
        this.chosen = name;
        this.show(this.problem);
      };
      tabs.append(tab);
    }
    this.host.append(tabs, this.chosen === "z, w" ? this.solution() : this.matrix(this.chosen));
  }
  matrix(key) {
    const m = this.problem[key] ?? [];
    const list = Array.isArray(m[0]) ? m : m.map((x) => [x]);
    const table = element("table");
    const [down, across] = MATRICES[key].map((name) => (name ? this.block(name)[0] : -1));
    if (across >= 0) {
      const head = element("tr");
      head.append(element("th"));
      list[0]?.slice(0, MOST).forEach((_, j) => head.append(this.header(across + j)));
      table.append(head);
    }
    list.slice(0, MOST).forEach((row, i) => {
      const tr = element("tr");
      tr.append(this.header(down + i));
      const mine = this.isOf(down + i);
      row.slice(0, MOST).forEach((x, j) => {
        const td = element("td", short(x), x === 0 ? "zero" : "");
        td.classList.toggle("of", mine || (across >= 0 && this.isOf(across + j)));
        tr.append(td);
      });
      table.append(tr);
    });
    const box = element("div", "", "matrix");
    box.append(table);
    if (list.length > MOST) box.append(element("p", `the first ${MOST} of ${list.length} rows; 'perp explain' prints all`, "soft"));
    return box;
  }
  solution() {
    const table = element("table");
    const head = element("tr");
    for (const t of ["", "z", "w"]) head.append(element("th", t));
    table.append(head);
    this.problem.z.slice(0, 4 * MOST).forEach((z, k) => {
      const tr = element("tr");
      tr.append(this.header(k), element("td", short(z)), element("td", short(this.problem.w[k])));
      table.append(tr);
    });
    const box = element("div", "", "matrix");
    box.append(table);
    return box;
  }
  isOf(k) {
    return this.body >= 0 && this.bodies[k].includes(this.body);
  }
  header(k) {
    const th = element("th", this.problem.names[k], "name");
    th.classList.toggle("of", this.isOf(k));
    th.tabIndex = 0;
    // A second click on a row of two bodies selects the other one.
    const next = () => {
      const list = this.bodies[k];
      if (list.length > 0) this.select(list[(list.indexOf(this.body) + 1) % list.length]);
    };
    th.onclick = next;
    th.onkeydown = (e) => e.key === "Enter" && next();
    return th;
  }
}

const rows = (m) => (Array.isArray(m) ? m.length : 0);
const word = (u) => (typeof u === "string" ? u : (u?.unique ?? "unknown"));
