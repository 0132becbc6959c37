// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Bundles src/ into one page without references to anything outside it.
//
//   node build.mjs OUT [MODULES]      OUT/page.html, and OUT/page.c that holds its bytes
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.resolve(process.argv[2] ?? path.join(here, "dist"));
const modules = path.resolve(process.argv[3] ?? path.join(here, "node_modules"));
const { build } = createRequire(path.join(modules, "here.js"))("esbuild");

const result = await build({
  entryPoints: [path.join(here, "src/main.js")],
  absWorkingDir: here,
  nodePaths: [modules],
  bundle: true,
  minify: true,
  write: false,
  outdir: out,
  format: "iife",
  target: ["es2020"],
  charset: "utf8",
  legalComments: "none",
  loader: { ".css": "css" },
  logLevel: "warning",
});
const text = (ending) => result.outputFiles.find((file) => file.path.endsWith(ending)).text;

// What ends a script or a style block must not stand inside one.
const script = text(".js").replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const style = text(".css");
const frame = await readFile(path.join(here, "src/page.html"), "utf8");
const page = frame.replace("/*style*/", () => style).replace("/*script*/", () => script);
if (page.split("<!--perp-data-->").length !== 2) {
  throw new Error("the page must hold the place for data exactly once");
}

// A C array: string literals are limited in length, numbers are not.
const bytes = Buffer.from(page, "utf8");
const lines = [];
for (let k = 0; k < bytes.length; k += 24) {
  lines.push([...bytes.subarray(k, k + 24)].join(","));
}
await mkdir(out, { recursive: true });
await writeFile(path.join(out, "page.html"), bytes);
await writeFile(
  path.join(out, "page.c"),
  `// Made by viewer/build.mjs: the viewer as one page.\n#include <stddef.h>\n\n` +
    `extern const unsigned char perp_viewer_page[];\nextern const size_t perp_viewer_page_size;\n` +
    `const unsigned char perp_viewer_page[] = {\n${lines.join(",\n")}};\n` +
    `const size_t perp_viewer_page_size = sizeof perp_viewer_page;\n`,
);
