// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The editor of scenes: CodeMirror with completion from the schema, and errors at their places.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, bracketMatching, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import schemaText from "../../scenes/scene.schema.json";
import { Schema, placeAt } from "./schema.js";

// JSON with comments.
const language = StreamLanguage.define({
  startState: () => ({}),
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/^\/\/.*/)) return "comment";
    if (stream.match(/^"(?:[^"\\]|\\.)*"(?=\s*:)/)) return "propertyName";
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return "string";
    if (stream.match(/^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/)) return "number";
    if (stream.match(/^(?:true|false|null)\b/)) return "bool";
    stream.next();
    return null;
  },
  languageData: { commentTokens: { line: "//" }, closeBrackets: { brackets: ["[", "{", '"'] } },
});

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.string, color: "var(--good)" },
  { tag: tags.number, color: "var(--slip)" },
  { tag: tags.bool, color: "var(--open)" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
]);

const look = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--card)", color: "var(--ink)", fontSize: "13px" },
  ".cm-scroller": { fontFamily: "var(--mono)" },
  ".cm-gutters": { backgroundColor: "var(--paper)", color: "var(--soft)", border: "none" },
  ".cm-activeLine": { backgroundColor: "var(--faint)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--line)" },
  ".cm-tooltip": { backgroundColor: "var(--card)", color: "var(--ink)", border: "1px solid var(--line)" },
});

/** @param {import("./schema.js").Schema} schema */
function complete(schema) {
  return (context) => {
    const text = context.state.doc.toString();
    const place = placeAt(text, context.pos);
    const from = place.inString >= 0 ? place.inString : context.pos;
    if (place.inString < 0 && !context.explicit) return null;
    if (place.expectKey) {
      const keys = schema.keys(place.path.slice(0, -1)).filter(([name]) => !place.used.includes(name));
      const quoted = place.inString >= 0;
      const closed = quoted && text[context.pos] === '"';
      return {
        from,
        options: keys.map(([label, info]) => ({ label, info: info || undefined, type: "property", apply: quoted ? label + (closed ? "" : '"') : `"${label}"` })),
        validFor: /^\w*$/,
      };
    }
    const words = schema.words(place.path).filter((w) => place.inString < 0 || typeof w === "string");
    if (words.length === 0) return null;
    return { from, options: words.map((w) => ({ label: String(w), type: "enum", apply: place.inString >= 0 || typeof w !== "string" ? String(w) : `"${w}"` })), validFor: /^[\w-]*$/ };
  };
}

export class Editor {
  constructor(host, text, { changed, run }) {
    this.changed = changed;
    const schema = new Schema(schemaText);
    this.view = new EditorView({
      parent: host,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(), history(), drawSelection(), bracketMatching(), closeBrackets(), highlightActiveLine(), lintGutter(),
          indentUnit.of(" "), language, syntaxHighlighting(colours), look,
          autocompletion({ override: [complete(schema)] }),
          keymap.of([{ key: "Mod-Enter", run: () => (run(), true) }, ...closeBracketsKeymap, ...completionKeymap, ...defaultKeymap, ...historyKeymap, indentWithTab]),
          EditorView.updateListener.of((u) => u.docChanged && this.changed(u.transactions.some((t) => t.isUserEvent("input") || t.isUserEvent("delete") || t.isUserEvent("undo") || t.isUserEvent("redo") || t.isUserEvent("move")))),
          EditorView.contentAttributes.of({ "aria-label": "Scene" }),
        ],
      }),
    });
  }
  focus(from, to) {
    this.view.focus();
    this.view.dispatch({ selection: { anchor: from, head: to } });
  }
  get text() {
    return this.view.state.doc.toString();
  }
  set text(value) {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: value } });
  }
  /** Columns of perp count bytes from 1 on. */
  showError(error) {
    const { doc } = this.view.state;
    if (!error || !(error.line > 0)) {
      this.view.dispatch(setDiagnostics(this.view.state, []));
      return;
    }
    const line = doc.line(Math.min(error.line, doc.lines));
    const before = new TextDecoder().decode(new TextEncoder().encode(line.text).slice(0, Math.max(0, error.column - 1)));
    const from = Math.min(line.from + before.length, line.to);
    const to = Math.max(from + 1, Math.min(line.to, from + (line.text.slice(before.length).match(/^"[^"]*"|^[\w.+-]+/)?.[0].length ?? 1)));
    const end = Math.min(to, doc.length);
    this.view.dispatch(setDiagnostics(this.view.state, [{ from: Math.min(from, end), to: end, severity: "error", message: error.text }]));
    this.view.dispatch({ effects: EditorView.scrollIntoView(from, { y: "center" }) });
  }
}
