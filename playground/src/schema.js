// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What the schema of scenes says about a place in a text: keys that may stand there, words, descriptions. The text may be
// unfinished, and has comments.

/** The keys and indices that lead to a place, and whether a key is expected there. */
export function placeAt(text, end) {
  const stack = []; // {list, key, keys}
  let expectKey = false;
  let word = null;
  for (let k = 0; k < end; k++) {
    const c = text[k];
    const top = stack[stack.length - 1];
    if (c === "/" && text[k + 1] === "/") {
      while (k < end && text[k] !== "\n") k++;
    } else if (c === '"') {
      const from = k + 1;
      for (k++; k < end && text[k] !== '"'; k++) if (text[k] === "\\") k++;
      word = text.slice(from, Math.min(k, end));
      if (k >= end) return { path: path(stack), object: top && !top.list, expectKey, inString: from, used: top?.keys ?? [] };
    } else if (c === "{" || c === "[") {
      stack.push({ list: c === "[", key: c === "[" ? 0 : null, keys: [] });
      expectKey = c === "{";
    } else if (c === "}" || c === "]") {
      stack.pop();
      expectKey = false;
    } else if (c === ":" && top && !top.list) {
      top.key = word;
      top.keys.push(word);
      expectKey = false;
    } else if (c === "," && top) {
      if (top.list) top.key++;
      else expectKey = true;
    }
  }
  const top = stack[stack.length - 1];
  return { path: path(stack), object: top && !top.list, expectKey, inString: -1, used: top?.keys ?? [] };
}

// The key of the innermost object is the one whose value stands at the place; for a place where a key stands it is left out.
function path(stack) {
  return stack.map((s) => s.key);
}

export class Schema {
  constructor(root) {
    this.root = root;
  }
  resolve(node) {
    let at = node;
    for (let k = 0; at?.$ref && k < 20; k++) {
      at = { ...at.$ref.replace(/^#\//, "").split("/").reduce((o, key) => o?.[key], this.root), ...without(at) };
    }
    return at ?? {};
  }
  /** All alternatives of a node, resolved. */
  forms(node) {
    const at = this.resolve(node);
    const more = [...(at.anyOf ?? []), ...(at.oneOf ?? []), ...(at.allOf ?? [])];
    return [at, ...more.flatMap((n) => this.forms(n))];
  }
  /** The nodes at the end of a path. */
  nodes(path) {
    let now = this.forms(this.root);
    for (const key of path) {
      now = now.flatMap((n) => {
        if (typeof key === "number") {
          const items = Array.isArray(n.prefixItems) ? (n.prefixItems[key] ?? n.items) : n.items;
          return items ? this.forms(items) : [];
        }
        const next = n.properties?.[key] ?? (typeof n.additionalProperties === "object" ? n.additionalProperties : null);
        return next ? this.forms(next) : [];
      });
    }
    return now;
  }
  /** Keys of an object: [name, description]. */
  keys(path) {
    const out = new Map();
    for (const n of this.nodes(path)) {
      for (const [name, value] of Object.entries(n.properties ?? {})) {
        if (!out.has(name)) out.set(name, this.resolve(value).description ?? "");
      }
    }
    return [...out];
  }
  /** Words that a value may be. */
  words(path) {
    const out = new Set();
    for (const n of this.nodes(path)) {
      for (const word of n.enum ?? []) out.add(word);
      if (n.const !== undefined) out.add(n.const);
      if (n.type === "boolean") out.add(true).add(false);
    }
    return [...out];
  }
}

function without(node) {
  const { $ref, ...rest } = node;
  return rest;
}
