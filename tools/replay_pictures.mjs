// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Pictures of whole pages, with panel and strips; called by tools/pictures.
import path from "node:path";
import { openPage, perp, settled, silent, withBrowser } from "../viewer/test/browser.mjs";

const out = process.argv[2] ?? "docs/img";
const pictures = [
  { name: "viewer", file: "scenes/trinkle-robot.json", until: "1.5", t: 0.7, body: "ball" },
  { name: "replay-space", scene: ["pile3", "--bodies", "27", "--cubes", "1", "--step", "0.005"], until: "1.2", t: 0.62 },
  { name: "replay-plane", scene: ["arch", "--thickness", "0.109"], until: "1", t: 0.5, scheme: "dark" },
];

await withBrowser(async (browser, folder) => {
  for (const p of pictures) {
    const scene = path.join(folder, `${p.name}.json`), dir = path.join(folder, p.name);
    if (p.scene) perp("scene", ...p.scene, "-o", scene);
    perp("run", p.file ?? scene, "--until", p.until, "-o", dir, "-q", "--no-figures");
    const page = await openPage(browser, `file://${dir}/replay.html#paused${p.body ? `&body=${p.body}` : ""}`, { scheme: p.scheme });
    await page.evaluate((t) => window.perp.player.seek(t), p.t);
    await settled(page);
    await page.screenshot({ path: path.join(out, `${p.name}.png`) });
    silent(page);
    await page.close();
  }
});
