// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a command in WebAssembly under Node.js.
import { readFile } from "node:fs/promises";
import { host } from "./host.mjs";
import { NodeWasi } from "./node_wasi.mjs";
import { Exit } from "./wasi.mjs";

/**
 * The exit code of the command in `file`. root: the folder that is "/" for it; without one the file system is seen as
 * natively, and relative paths are those of this process.
 * @param {string | URL} file
 * @param {string[]} args
 * @param {string} [root]
 */
export async function runCommand(file, args, root) {
  const wasi = new NodeWasi(args, { ...process.env, PWD: root ? "/" : process.cwd() }, root ?? "/");
  const own = host();
  const module = await WebAssembly.compile(new Uint8Array(await readFile(file)));
  const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.imports, perp: own.imports });
  wasi.connect(instance);
  own.connect(instance);
  try {
    /** @type {any} */ (instance.exports)._start();
  } catch (e) {
    if (!(e instanceof Exit)) throw e;
    return e.code;
  }
  return 0;
}
