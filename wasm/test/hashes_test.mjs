// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// test/golden/hashes_test.c in WebAssembly: the same state hashes as natively, for all scenes and generators.
import { runCommand } from "../js/node.mjs";
import { built, root } from "./built.mjs";

const file = built("hashes.wasm");
process.exitCode = await runCommand(file, ["hashes"], root);
