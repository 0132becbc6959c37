// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What a view should hold: everything that moves, all the time it is near, and what stands beside it.

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

// How far a shape reaches from its body's origin.
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
  for (const shape of run.shapes) {
    if (!endless(shape)) out[shape.body] = Math.max(out[shape.body], reach(run, shape));
  }
  for (const joint of run.joints) {
    for (const [body, anchor] of [[joint.a, joint.anchor_a], [joint.b, joint.anchor_b]]) {
      if (run.bodies[body].row >= 0) out[body] = Math.max(out[body], Math.hypot(...anchor));
    }
  }
  return out;
}

function quantile(sorted, f) {
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.round(f * (sorted.length - 1))))];
}

// Low and high corner. What flies off for good does not count: 2 % are left out at each end.
export function bounds(run) {
  const far = bodyReach(run);
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  const rows = run.poses.t.rows;
  const stride = Math.max(1, Math.floor((rows * Math.max(1, run.moving)) / 40000));
  for (let i = 0; i < run.axes; i++) {
    const lows = [];
    const highs = [];
    for (let k = 0; k < rows; k += stride) {
      for (let row = 0; row < run.moving; row++) {
        const x = run.poses.position.data[k * run.poses.position.width + row * run.axes + i];
        const r = far[run.bodyOfRow[row]];
        if (Number.isFinite(x)) {
          lows.push(x - r);
          highs.push(x + r);
        }
      }
    }
    lows.sort((a, b) => a - b);
    highs.sort((a, b) => a - b);
    if (lows.length > 0) {
      low[i] = quantile(lows, lows.length > 200 ? 0.01 : 0);
      high[i] = quantile(highs, highs.length > 200 ? 0.99 : 1);
    }
  }
  const size = Math.max(...high.slice(0, run.axes).map((h, i) => h - low[i]));
  widenByFixed(run, far, low, high, Number.isFinite(size) && size > 0 ? size : Infinity);
  for (let i = 0; i < 3; i++) {
    if (!(high[i] >= low[i])) [low[i], high[i]] = i < run.axes ? [-1, 1] : [0, 0];
  }
  return { low, high, size: Math.max(0.05, ...high.map((h, i) => h - low[i])) };
}

// Fixed things count where they are not much larger than what moves.
function widenByFixed(run, far, low, high, size) {
  for (const joint of run.joints) {
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
    for (const shape of run.shapes) {
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

// How far the side of a moving body is drawn that is endless for the solver.
export function patchSize(run, shape, size) {
  const far = bodyReach(run)[shape.body];
  return far > 0 ? far : 0.15 * size;
}
