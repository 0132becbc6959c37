// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The examples of the playground: scenes of the project, and scenes made by rule with a slider.
export const examples = [
  {
    key: "arch",
    title: "Arch: how thin can it be?",
    note: "A semicircular arch of wedges with dry joints. Theory: with enough friction it stands down to a thickness of 0.1075 times its radius (Milankovitch, 1907). Move the slider across that value.",
    generator: "arch",
    options: { blocks: 20, until: 20 },
    slider: { name: "thickness", low: 0.1, high: 0.13, step: 0.001, value: 0.11 },
  },
  { key: "cards", title: "House of cards", scene: "house-of-cards.json", note: "Cards that lean against each other, held by friction alone. Lower μ until it falls." },
  { key: "dominoes", title: "Dominoes", scene: "dominoes.json", note: "One push runs through the row. Drag a domino." },
  { key: "berard", title: "Bérard, figure 4.6", scene: "berard-4.6.json", note: "A planar mechanism with contact from the thesis of S. Bérard." },
  { key: "pusher", title: "A pushed box", scene: "trinkle-pusher.json", note: "A finger pushes a box across a table." },
  { key: "arm", title: "A robot pushes", scene: "arm-pushes.json", note: "Inputs of the arm have sliders below the view." },
  { key: "robot", title: "A robot pushes a ball", scene: "trinkle-robot.json", note: "Joint limits, motors and contact in one problem." },
  { key: "rattleback", title: "Rattleback", scene: "rattleback.json", note: "Spun one way, the stone begins to rattle and turns back." },
  { key: "euler", title: "Euler's disc", scene: "euler-disc.json", note: "A coin that rolls on its rim, tilted: its precession is the faster the lower it lies. Without rolling friction it goes on for ever." },
  { key: "slip", title: "From slip to rolling", scene: "disc-backspin.json", note: "A disc with backspin slips, then rolls: the mode strip shows when." },
  { key: "linkage", title: "Andrews' squeezer", scene: "andrews-squeezer.json", note: "Seven bodies in three loops, a benchmark of linkages." },
  { key: "sensors", title: "A robot arm with sensors", scene: "sensor-arm.json", note: "Motors follow their targets; strips show what sensors read." },
  { key: "painleve", title: "Painlevé's rod", scene: "painleve-rod.json", note: "A rod that slides into friction so large that rigid contact has no smooth continuation: the step ends in an impact." },
];
