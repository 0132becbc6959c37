// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The text of the scene: a plain text area until the editor, which is large, is there, and where it cannot be loaded.
import { part } from "./parts.js";

export class Pad {
  /** @param {{ changed: (byUser: boolean) => void, run: () => void }} hooks */
  constructor(host, hooks) {
    this.host = host;
    this.hooks = hooks;
    this.error = null;
    this.editor = null;
    this.area = document.createElement("textarea");
    this.area.spellcheck = false;
    this.area.setAttribute("aria-label", "Scene");
    this.area.oninput = () => hooks.changed(true);
    this.area.onkeydown = (e) => e.key === "Enter" && (e.ctrlKey || e.metaKey) && hooks.run();
    host.append(this.area);
  }
  async enrich() {
    if (this.editor) return;
    const { Editor } = await part("editor");
    if (this.editor) return;
    const { value, selectionStart, selectionEnd } = this.area;
    const focused = document.activeElement === this.area;
    this.area.remove();
    this.editor = new Editor(this.host, value, this.hooks);
    this.editor.showError(this.error);
    if (focused) this.editor.focus(selectionStart, selectionEnd);
  }
  /** Of the editor, for who looks inside; null: it is not there yet. */
  get view() {
    return this.editor?.view ?? null;
  }
  get text() {
    return this.editor ? this.editor.text : this.area.value;
  }
  set text(value) {
    if (this.editor) this.editor.text = value;
    else this.area.value = value;
  }
  showError(error) {
    this.error = error;
    this.editor?.showError(error);
  }
}
