// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a command in WebAssembly under Node.js: files by WASI, which Node.js has itself.
import { readFile } from "node:fs/promises";
import { host } from "./host.mjs";

// Node.js calls its WASI experimental; that is no news for users of perp.
const warn = process.emitWarning;
process.emitWarning = (warning, ...rest) => {
  if (!/WASI/.test(String(warning))) warn.call(process, warning, ...rest);
};

/**
 * The exit code of the command in `file`. Folders: names inside, paths outside; without them the whole file system is
 * seen, as natively.
 * @param {string | URL} file
 * @param {string[]} args
 * @param {Record<string, string>} [folders]
 */
export async function runCommand(file, args, folders) {
  const { WASI } = await import("node:wasi");
  const wasi = new WASI({
    version: "preview1",
    args,
    env: { ...process.env, PWD: process.cwd() },
    preopens: folders ?? { "/": "/" },
    returnOnExit: true,
  });
  const own = host();
  const module = await WebAssembly.compile(await readFile(file));
  const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport, perp: own.imports });
  own.connect(instance);
  return wasi.start(instance);
}
