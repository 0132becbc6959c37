// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The problem of the last step, beside the view: matrices with the names of their rows and columns. A click on a row or column
// selects the body it belongs to. All texts are set as texts.

const MATRICES = ["M", "W_b", "W_m", "W_n", "W_f", "U", "E", "A", "b"];
const MOST = 60; // rows and columns that are shown

const element = (name, text = "", className = "") => {
  const e = document.createElement(name);
  e.textContent = text;
  if (className) e.className = className;
  return e;
};
const short = (x) => (x === 0 ? "·" : Math.abs(x) >= 1e-3 && Math.abs(x) < 1e5 ? String(+x.toPrecision(4)) : x.toExponential(2));

export class Explain {
  /** @param {(name: string) => void} select a body by the name of a row */
  constructor(host, select) {
    this.host = host;
    this.select = select;
    this.chosen = "A";
  }
  show(problem) {
    this.problem = problem;
    this.host.textContent = "";
    if (problem.error) {
      this.host.append(element("p", problem.error, "soft"));
      return;
    }
    const blocks = Object.entries(problem.blocks).map(([name, size]) => `${name} ${size}`).join(", ");
    this.host.append(element("p", `w = A z + b, form ${problem.form}, size ${problem.size}: ${blocks}. Motion ${word(problem.motion)}, impulses ${word(problem.impulses)}.`, "soft"));
    const tabs = element("div", "", "tabs");
    for (const name of [...MATRICES.filter((m) => rows(problem[m]) > 0), "z, w"]) {
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
  name(k) {
    const names = this.problem.names?.z ?? this.problem.names ?? [];
    return Array.isArray(names) ? (names[k] ?? String(k)) : String(k);
  }
  matrix(key) {
    const m = this.problem[key] ?? [];
    const list = Array.isArray(m[0]) ? m : m.map((x) => [x]);
    const table = element("table");
    const named = key === "A" || key === "b";
    if (key === "A") {
      const head = element("tr");
      head.append(element("th"));
      list[0]?.slice(0, MOST).forEach((_, j) => head.append(this.header(j)));
      table.append(head);
    }
    list.slice(0, MOST).forEach((row, i) => {
      const tr = element("tr");
      tr.append(named ? this.header(i) : element("th", String(i)));
      row.slice(0, MOST).forEach((x) => tr.append(element("td", short(x), x === 0 ? "zero" : "")));
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
  header(k) {
    const name = this.name(k);
    const th = element("th", name, "name");
    th.tabIndex = 0;
    th.onclick = () => this.select(name);
    th.onkeydown = (e) => e.key === "Enter" && this.select(name);
    return th;
  }
}

const rows = (m) => (Array.isArray(m) ? m.length : 0);
const word = (u) => (typeof u === "string" ? u : (u?.unique ?? "unknown"));
