// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the tests find what was built; they skip, saying so, where nothing was.
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");

export function skip(reason) {
  console.log(`skipped: ${reason}`);
  process.exit(77);
}

/** A file of build/wasm. */
export function built(name) {
  const file = path.join(process.env.PERP_WASM ?? path.join(root, "build/wasm"), name);
  if (!existsSync(file)) skip(`no ${path.relative(root, file)}: make wasm`);
  return file;
}

let failures = 0;
export function check(good, what) {
  if (!good) {
    failures++;
    console.error(`FAILED: ${what}`);
  }
}
export function finish() {
  console.log(failures > 0 ? `${failures} failures` : "passed");
  process.exit(failures > 0 ? 1 : 0);
}
