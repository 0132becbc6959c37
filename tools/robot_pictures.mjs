// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the pictures of docs/gallery.md from runs of the robots of examples/robots, with Chromium:
//
//   PERP_CLI=$PWD/build/release/cli/perp PERP_MODULES=$PWD/build/release/viewer/node_modules \
//   node tools/robot_pictures.mjs docs/img
//
// In the repository they have 200 colours, which halves their size: convert NAME.png +dither -colors 200 PNG8:NAME.png
import path from "node:path";
import { openPage, perp, settled, silent, withBrowser } from "../viewer/test/browser.mjs";

const out = process.argv[2] ?? "docs/img";
// near: of the distance at which everything fits; from: direction of the camera.
const pictures = [
  { name: "robot-quadruped", robot: "quadruped.xml", t: 0.5, near: 1.15, look: { joints: false } },
  { name: "robot-quadruped-collision", robot: "quadruped.xml", t: 0.5, near: 1.15, look: { joints: false, collision: true } },
  { name: "robot-arm", robot: "arm.xml", t: 0.5, near: 1.2, look: { joints: false } },
  { name: "robot-gripper", robot: "gripper.xml", t: 0.5, near: 2.1, from: [0.35, -1, 0.15], look: { joints: false } },
  { name: "robot-hand", robot: "hand.xml", t: 1, near: 1.15, from: [-0.5, -1, 0.7], look: { joints: false } },
  { name: "robot-swing", robot: "arm.urdf", t: 0.4, near: 1.2, look: { joints: false, trails: true }, body: "hand" },
];

await withBrowser(async (browser, folder) => {
  for (const p of pictures) {
    const dir = path.join(folder, p.name);
    perp("run", path.resolve("examples/robots", p.robot), "--until", String(Math.max(1, p.t)), "-o", dir, "-q", "--no-figures");
    const page = await openPage(browser, `file://${dir}/replay.html#paused&render=soft`, { width: 900, height: 640 });
    await page.addStyleTag({ content: ".tools, .legend, .note { display: none !important }" });
    await page.evaluate(({ t, near, from, look }) => {
      const { stage, player } = window.perp;
      Object.assign(window.perp.look, look);
      const { target } = stage.controls;
      const offset = stage.camera.position.clone().sub(target).multiplyScalar(near);
      if (from) offset.set(...from).setLength(stage.camera.position.distanceTo(target) * near);
      stage.camera.position.copy(target).add(offset);
      stage.controls.update();
      stage.fitted = false;
      player.seek(t);
      window.perp.dirty = true;
    }, p);
    await settled(page);
    const box = await page.locator(".stage").boundingBox();
    const [width, height] = [480, 340];
    await page.screenshot({ path: path.join(out, `${p.name}.png`), clip: { x: box.x + (box.width - width) / 2, y: box.y + (box.height - height) / 2, width, height } });
    silent(page);
    await page.close();
  }
});
