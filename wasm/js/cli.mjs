#!/usr/bin/env node
// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The perp command without anything native: npx perp run scene.json -o DIR
import { runCommand } from "./node.mjs";

process.exitCode = await runCommand(new URL("./perp.wasm", import.meta.url), ["perp", ...process.argv.slice(2)]);
