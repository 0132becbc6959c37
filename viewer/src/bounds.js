// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of the view: the moving bodies over the whole run, and fixed bodies near them.
import { rotate } from "./data.js";

// Half extents of a solid along its axes, with its radius.
function extent(shape) {
  const [x, y, z] = shape.half;
  const r = shape.radius;
  switch (shape.kind) {
    case "box":
    case "ellipsoid":
      return [x, y, z];
    case "capsule":
      return [r, r, z + r];
    case "cylinder":
    case "cone":
      return [r, r, z];
    default:
      return [r, r, r];
  }
}

// Largest distance of a shape from the origin of its body.
export function reach(run, shape) {
  let far = 0;
  for (let k = 0; k < shape.vertices; k++) {
    const at = 3 * (shape.vertex + k);
    far = Math.max(far, Math.hypot(run.outline[at], run.outline[at + 1], run.outline[at + 2]));
  }
  if (shape.vertices > 0) return far + shape.radius;
  const away = Math.hypot(shape.pose[0], shape.pose[1], shape.pose[2]);
  const e = extent(shape);
  return away + (shape.kind === "sphere" || shape.kind === "point" ? e[0] : Math.hypot(...e));
}

export function endless(shape) {
  return shape.kind === "half-plane" || shape.kind === "half-space";
}

export function bodyReach(run) {
  const out = new Float64Array(run.bodies.length);
  for (const shape of run.drawn) {
    if (!endless(shape)) out[shape.body] = Math.max(out[shape.body], reach(run, shape));
  }
  for (const joint of [...run.joints, ...run.springs]) {
    for (const [body, anchor] of [[joint.a, joint.anchor_a], [joint.b, joint.anchor_b]]) {
      if (run.bodies[body].row >= 0) out[body] = Math.max(out[body], Math.hypot(...anchor));
    }
  }
  return out;
}

// Points with radii, in the body frame, whose hull contains a shape: [x, y, z, r].
export function hullOf(run, shape) {
  if (shape.vertices > 64) return [[0, 0, 0, reach(run, shape)]];
  if (shape.vertices > 0) {
    return Array.from({ length: shape.vertices }, (_, v) => [...run.outline.subarray(3 * (shape.vertex + v), 3 * (shape.vertex + v) + 3), shape.radius]);
  }
  const e = extent(shape);
  const [x, y, z, ...q] = shape.pose;
  if (shape.kind === "sphere" || shape.kind === "point") return [[x, y, z, e[0]]];
  return Array.from({ length: 8 }, (_, k) => {
    const c = rotate(q, 0, [k & 1 ? e[0] : -e[0], k & 2 ? e[1] : -e[1], k & 4 ? e[2] : -e[2]]);
    return [x + c[0], y + c[1], z + c[2], 0];
  });
}

// Those of each body, with its centre and the ends of its joints and springs.
function hulls(run) {
  const out = run.bodies.map(() => [[0, 0, 0, 0]]);
  for (const shape of run.drawn) {
    if (!endless(shape) && run.bodies[shape.body].row >= 0) out[shape.body].push(...hullOf(run, shape));
  }
  for (const link of [...run.joints, ...run.springs]) {
    out[link.a].push([...link.anchor_a, 0]);
    out[link.b].push([...link.anchor_b, 0]);
  }
  return out;
}

function quantile(sorted, f) {
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.round(f * (sorted.length - 1))))];
}

// Extent of a body along each axis at one instant.
function spread(run, moment, row, points, all) {
  const { position, rotation } = run.poses;
  const at = moment * position.width + row * run.axes;
  const turn = moment * rotation.width + row * run.turns;
  const a = rotation.data[turn];
  const q = run.spatial ? rotation.data.subarray(turn, turn + 4) : [Math.cos(a / 2), 0, 0, Math.sin(a / 2)];
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (const p of points) {
    const c = rotate(q, 0, p);
    for (let i = 0; i < run.axes; i++) {
      low[i] = Math.min(low[i], c[i] - p[3]);
      high[i] = Math.max(high[i], c[i] + p[3]);
    }
  }
  for (let i = 0; i < run.axes; i++) {
    const x = position.data[at + i];
    if (!Number.isFinite(x + low[i] + high[i])) continue;
    all[i].lows.push(x + low[i]);
    all[i].highs.push(x + high[i]);
  }
}

const SPECK = 12; // a scene that travels by so many times its size is followed

// Box of each body at sampled instants: [instant][row] = {low, high}; NaN where a body is not a number.
function samples(run) {
  const rows = run.poses.t.rows;
  const stride = Math.max(1, Math.floor((rows * Math.max(1, run.moving)) / 12000));
  const points = hulls(run);
  const out = [];
  for (let k = 0; k < rows; k += stride) {
    const boxes = [];
    for (let row = 0; row < run.moving; row++) {
      const all = [0, 1, 2].map(() => ({ lows: [], highs: [] }));
      spread(run, k, row, points[run.bodyOfRow[row]], all);
      boxes.push({ low: all.map((a) => a.lows[0] ?? NaN), high: all.map((a) => a.highs[0] ?? NaN) });
    }
    out.push(boxes);
  }
  return out;
}

function union(boxes, axes) {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (const box of boxes) {
    for (let i = 0; i < axes; i++) {
      if (box.low[i] < low[i]) low[i] = box.low[i];
      if (box.high[i] > high[i]) high[i] = box.high[i];
    }
  }
  return { low, high };
}
const sizeOf = (box, axes) => Math.max(...box.high.slice(0, axes).map((h, i) => h - box.low[i]));

// The rows that count. A body that leaves the others so far behind that they would be a quarter of the picture or less
// does not; at most a third of the bodies. Of two bodies one is left out
// if it leaves and the other would be a speck.
function crew(run, moments) {
  const rows = Array.from({ length: run.moving }, (_, row) => row);
  const path = rows.map((row) => union(moments.map((boxes) => boxes[row]), run.axes));
  let kept = rows;
  const travels = (row) => sizeOf(path[row], run.axes) - sizeOf(moments[0][row], run.axes);
  const [most, share] = run.moving === 2 ? [1, 0.08] : [Math.floor(run.moving / 3), 0.25];
  for (let gone = 0; run.moving <= 50 && gone < most; gone++) {
    const whole = sizeOf(union(kept.map((row) => path[row]), run.axes), run.axes);
    const rest = kept.map((row) => sizeOf(union(kept.filter((other) => other !== row).map((other) => path[other]), run.axes), run.axes));
    const least = rest.indexOf(Math.min(...rest));
    if (!(rest[least] < share * whole) || (run.moving === 2 && !(travels(kept[least]) > 0.5 * whole))) break;
    kept = kept.filter((_, k) => k !== least);
  }
  return kept;
}

// Low and high corner of what to show. With many bodies 1 % are discarded at each end, to ignore those that fly away; a
// scene that travels far is shown at its size, and followed: `anchor` is where it is at the start.
export function bounds(run) {
  const far = bodyReach(run);
  const moments = samples(run);
  const kept = crew(run, moments);
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < run.axes; i++) {
    const lows = moments.flatMap((boxes) => kept.map((row) => boxes[row].low[i])).filter(Number.isFinite).sort((a, b) => a - b);
    const highs = moments.flatMap((boxes) => kept.map((row) => boxes[row].high[i])).filter(Number.isFinite).sort((a, b) => a - b);
    if (lows.length > 0) {
      low[i] = quantile(lows, lows.length > 200 ? 0.01 : 0);
      high[i] = quantile(highs, highs.length > 200 ? 0.99 : 1);
    }
  }
  const travel = follows(run, moments, kept, low, high);
  const size = Math.max(...high.slice(0, run.axes).map((h, i) => h - low[i]));
  widenByFixed(run, far, low, high, Number.isFinite(size) && size > 0 ? size : Infinity);
  for (let i = 0; i < 3; i++) {
    if (!(high[i] >= low[i])) [low[i], high[i]] = i < run.axes ? [-1, 1] : [0, 0];
  }
  const bodies = kept.map((row) => run.bodyOfRow[row]);
  const anchor = bodies.length > 0 && moments.length > 0 ? middle(run, bodies, (body) => run.position(body, 0)) : null;
  return { low, high, size: Math.max(0.05, ...high.map((h, i) => h - low[i])), crew: bodies, travel, anchor };
}

// Whether the view has to follow; low and high then become those of the start, with room around it. Heights do not count:
// what falls or bounces is seen better against a floor that stands still.
function follows(run, moments, kept, low, high) {
  const flat = run.spatial ? 2 : 1;
  const wide = (box) => Math.max(...[0, 1].slice(0, flat).map((i) => box.high[i] - box.low[i]));
  const sizes = moments.map((boxes) => wide(union(kept.map((row) => boxes[row]), run.axes))).filter(Number.isFinite).sort((a, b) => a - b);
  if (sizes.length === 0 || kept.length === 0) return false;
  const tall = high[run.axes - 1] - low[run.axes - 1];
  const size = Math.max(quantile(sizes, 0.5), 0.5 * tall);
  if (!(wide({ low, high }) > SPECK * size) || run.joints.some((j) => run.bodies[j.a].row < 0 || run.bodies[j.b].row < 0)) return false;
  const start = union(kept.map((row) => moments[0][row]), run.axes);
  for (let i = 0; i < flat; i++) {
    low[i] = start.low[i] - size;
    high[i] = start.high[i] + size;
  }
  return true;
}

// The middle of some bodies, by their places; its height is left out.
export function middle(run, bodies, place) {
  const low = [Infinity, Infinity, 0];
  const high = [-Infinity, -Infinity, 0];
  for (const body of bodies) {
    const p = place(body);
    for (let i = 0; i < (run.spatial ? 2 : 1); i++) {
      low[i] = Math.min(low[i], p[i]);
      high[i] = Math.max(high[i], p[i]);
    }
  }
  if (!run.spatial) low[1] = high[1] = 0;
  return low.map((v, i) => (v + high[i]) / 2);
}

// Fixed bodies count if they are not much larger than the moving ones.
function widenByFixed(run, far, low, high, size) {
  for (const joint of [...run.joints, ...run.springs]) {
    for (const [body, anchor] of [[joint.a, joint.anchor_a], [joint.b, joint.anchor_b]]) {
      if (run.bodies[body].row >= 0) continue;
      for (let i = 0; i < run.axes; i++) {
        low[i] = Math.min(low[i], run.start[7 * body + i] + anchor[i]);
        high[i] = Math.max(high[i], run.start[7 * body + i] + anchor[i]);
      }
    }
  }
  run.bodies.forEach((body, k) => {
    if (body.row >= 0 || !(far[k] > 0)) return;
    for (const shape of run.drawn) {
      if (shape.body !== k || endless(shape) || reach(run, shape) > 2 * size) continue;
      for (let i = 0; i < run.axes; i++) {
        const points = shape.vertices > 0
          ? Array.from({ length: shape.vertices }, (_, v) => run.outline[3 * (shape.vertex + v) + i])
          : [shape.pose[i] - Math.max(...extent(shape)), shape.pose[i] + Math.max(...extent(shape))];
        const x = run.start[7 * k + i];
        low[i] = Math.min(low[i], x + Math.min(...points) - (shape.vertices > 0 ? shape.radius : 0));
        high[i] = Math.max(high[i], x + Math.max(...points) + (shape.vertices > 0 ? shape.radius : 0));
      }
    }
  });
}

// Convex hull of points in 2D, counter-clockwise (Andrew's monotone chain).
export function outline(points) {
  points.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const out = [];
  const add = (p, least) => {
    while (out.length > least) {
      const a = out[out.length - 2];
      const b = out[out.length - 1];
      if ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0) break;
      out.pop();
    }
    out.push(p);
  };
  for (let k = 0; k < points.length; k++) add(points[k], 1);
  const half = out.length;
  for (let k = points.length - 2; k >= 0; k--) add(points[k], half);
  out.pop();
  return out;
}

// Size at which an unbounded side (half-plane, half-space) of a moving body is drawn.
export function patchSize(run, shape, size) {
  const far = bodyReach(run)[shape.body];
  return far > 0 ? far : 0.15 * size;
}
