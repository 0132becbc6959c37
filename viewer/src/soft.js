// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The 3D stage without a GPU: a software rasterizer with a depth buffer, several times faster than emulated WebGL.
// Per-vertex lighting; shadows are outlines on the ground. While playing the resolution may be reduced; at rest the
// picture is supersampled.
import * as THREE from "three";
import { niceStep } from "./planar.js";
import { CPU, withAlpha } from "./theme.js";

const LEVELS = 128; // brightness levels, from none to TOP
const TOP = 1.3;

// Convex hull of points in 2D, counter-clockwise (Andrew's monotone chain).
function outline(points) {
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

// A geometry prepared for rasterization: positions, normals, dark triangles, and a few points that represent its
// outline.
function prepare(geometry, instances) {
  const p = geometry.attributes.position.array;
  const n = geometry.attributes.normal.array;
  const c = geometry.attributes.color.array;
  const seen = new Map();
  for (let k = 0; k < p.length; k += 3) seen.set(`${p[k].toFixed(5)},${p[k + 1].toFixed(5)},${p[k + 2].toFixed(5)}`, [p[k], p[k + 1], p[k + 2]]);
  let corners = [...seen.values()];
  const most = instances > 100 ? 30 : 400;
  if (corners.length > most) corners = corners.filter((_, k) => k % Math.ceil(corners.length / most) === 0);
  return { p, n, dark: (t) => c[9 * t] < 0.9, corners, screen: new Float32Array((p.length / 3) * 4), count: p.length / 9 };
}

export class SoftRenderer {
  constructor(canvas, theme) {
    this.canvas = canvas;
    this.ctx = canvas.getContext("2d", CPU);
    this.theme = theme;
    this.layer = document.createElement("canvas");
    this.layerCtx = this.layer.getContext("2d", CPU);
    this.scale = 1; // resolution while playing
    this.palettes = new Map();
    this.prepared = new Map();
  }
  setSize(width, height) {
    this.width = width;
    this.height = height;
    this.ratio = this.theme.ratio(2);
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
  }

  buffers(scale) {
    const w = Math.max(1, Math.round(this.width * scale));
    const h = Math.max(1, Math.round(this.height * scale));
    if (this.layer.width !== w || this.layer.height !== h || !this.image) {
      this.layer.width = w;
      this.layer.height = h;
      this.image = this.layerCtx.createImageData(w, h);
      this.pixels = new Uint32Array(this.image.data.buffer);
      this.depth = new Float32Array(w * h);
    }
    this.pixels.fill(0);
    this.depth.fill(1);
    return [w, h];
  }

  // Pixel colours of a body from dark to bright; the second half is for dark sectors.
  palette(hex) {
    let out = this.palettes.get(hex);
    if (out) return out;
    out = new Uint32Array(2 * LEVELS);
    const n = parseInt(hex.slice(1), 16);
    for (let half = 0; half < 2; half++) {
      for (let k = 0; k < LEVELS; k++) {
        const light = ((k + 0.5) / LEVELS) * TOP * (half ? 0.8 : 1);
        const part = (v) => Math.min(255, Math.round(v * light));
        out[half * LEVELS + k] = (255 << 24) | (part(n & 255) << 16) | (part((n >> 8) & 255) << 8) | part(n >> 16);
      }
    }
    this.palettes.set(hex, out);
    return out;
  }

  render(stage, look) {
    const { ctx } = this;
    const { camera } = stage;
    camera.updateMatrixWorld();
    const view = new THREE.Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
    this.sun = stage.sun.position.clone().sub(stage.sun.target.position).normalize();
    ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    ctx.fillStyle = this.theme.color.stage;
    ctx.fillRect(0, 0, this.width, this.height);
    // Walls first, then the floor with its grid and shadows.
    const height = (mesh) => new THREE.Vector3(0, 0, 1).applyQuaternion(mesh.quaternion).z;
    const grounds = [...stage.grounds].sort((a, b) => height(a) - height(b));
    grounds.forEach((mesh, k) => this.ground(stage, mesh, look, view, k === grounds.length - 1));
    if (stage.plane && look.grid) this.ground(stage, stage.plane, look, view, false);
    const scale = look.playing ? this.scale : this.ratio < 1.5 ? 2 : this.ratio;
    const [w, h] = this.buffers(scale);
    for (const group of stage.groups) this.solids(group, view, w, h);
    this.map = { depth: this.depth, w, h };
    this.layerCtx.putImageData(this.image, 0, 0);
    ctx.imageSmoothingEnabled = true;
    ctx.imageSmoothingQuality = look.playing ? "low" : "high";
    ctx.drawImage(this.layer, 0, 0, this.width, this.height);
  }

  // Depths alone, at a part of the resolution.
  depthPass(stage, scale) {
    const { camera } = stage;
    camera.updateMatrixWorld();
    this.sun = stage.sun.position;
    const [w, h] = this.buffers(scale);
    const view = new THREE.Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
    for (const group of stage.groups) this.solids(group, view, w, h);
    return { depth: this.depth, w, h };
  }

  // ── solids ──

  solids({ mesh, items, base }, view, w, h) {
    const g = this.prepared.get(mesh.geometry) ?? prepare(mesh.geometry, items.length);
    this.prepared.set(mesh.geometry, g);
    const m = new THREE.Matrix4();
    const all = new THREE.Matrix4();
    const turn = new THREE.Matrix3();
    for (let k = 0; k < items.length; k++) {
      if (!items[k].shown) continue;
      m.fromArray(mesh.instanceMatrix.array, 16 * k);
      all.multiplyMatrices(view, m);
      turn.getNormalMatrix(m);
      if (this.project(g, all.elements, turn.elements, w, h)) this.fill(g, this.palette(base[k]), w, h);
    }
  }

  // x, y, depth and brightness of every vertex; false: entirely off screen.
  project(g, e, r, w, h) {
    const { p, n, screen } = g;
    const { x: sx, y: sy, z: sz } = this.sun;
    let seen = false;
    for (let k = 0, s = 0; k < p.length; k += 3, s += 4) {
      const x = p[k];
      const y = p[k + 1];
      const z = p[k + 2];
      const c = e[3] * x + e[7] * y + e[11] * z + e[15];
      if (c <= 1e-6) {
        screen[s + 2] = 2; // behind the camera: its triangles are skipped
        continue;
      }
      const X = ((e[0] * x + e[4] * y + e[8] * z + e[12]) / c + 1) * 0.5 * w;
      const Y = (1 - (e[1] * x + e[5] * y + e[9] * z + e[13]) / c) * 0.5 * h;
      screen[s] = X;
      screen[s + 1] = Y;
      screen[s + 2] = (e[2] * x + e[6] * y + e[10] * z + e[14]) / c;
      seen ||= X > -w && X < 2 * w && Y > -h && Y < 2 * h;
      let nx = r[0] * n[k] + r[3] * n[k + 1] + r[6] * n[k + 2];
      let ny = r[1] * n[k] + r[4] * n[k + 1] + r[7] * n[k + 2];
      let nz = r[2] * n[k] + r[5] * n[k + 1] + r[8] * n[k + 2];
      const l = 1 / (Math.sqrt(nx * nx + ny * ny + nz * nz) || 1);
      nx *= l;
      ny *= l;
      nz *= l;
      const sun = nx * sx + ny * sy + nz * sz;
      screen[s + 3] = (0.62 + 0.12 * nz + (sun > 0 ? 0.44 * sun : 0)) * (LEVELS / TOP);
    }
    return seen;
  }

  fill(g, palette, w, h) {
    const { screen } = g;
    for (let t = 0, s = 0; t < g.count; t++, s += 12) {
      if (screen[s + 2] > 1 || screen[s + 6] > 1 || screen[s + 10] > 1) continue;
      const area = (screen[s + 4] - screen[s]) * (screen[s + 9] - screen[s + 1]) - (screen[s + 8] - screen[s]) * (screen[s + 5] - screen[s + 1]);
      if (area < -1e-6) this.triangle(screen, s, area, palette, g.dark(t) ? LEVELS : 0, w, h);
    }
  }

  // Fills scan lines between the edges; depth and brightness are linear on the screen.
  triangle(v, s, area, palette, shift, w, h) {
    const { pixels, depth } = this;
    const ax = v[s], ay = v[s + 1], bx = v[s + 4], by = v[s + 5], cx = v[s + 8], cy = v[s + 9];
    const az = v[s + 2], al = v[s + 3];
    const zx = ((v[s + 6] - az) * (cy - ay) - (v[s + 10] - az) * (by - ay)) / area;
    const zy = ((v[s + 10] - az) * (bx - ax) - (v[s + 6] - az) * (cx - ax)) / area;
    const lx = ((v[s + 7] - al) * (cy - ay) - (v[s + 11] - al) * (by - ay)) / area;
    const ly = ((v[s + 11] - al) * (bx - ax) - (v[s + 7] - al) * (cx - ax)) / area;
    const top = Math.max(0, Math.ceil(Math.min(ay, by, cy) - 0.5));
    const end = Math.min(h - 1, Math.ceil(Math.max(ay, by, cy) - 0.5) - 1);
    for (let y = top; y <= end; y++) {
      const f = y + 0.5;
      let from = Infinity;
      let to = -Infinity;
      if ((ay <= f) !== (by <= f)) {
        const x = ax + ((f - ay) / (by - ay)) * (bx - ax);
        if (x < from) from = x;
        if (x > to) to = x;
      }
      if ((by <= f) !== (cy <= f)) {
        const x = bx + ((f - by) / (cy - by)) * (cx - bx);
        if (x < from) from = x;
        if (x > to) to = x;
      }
      if ((cy <= f) !== (ay <= f)) {
        const x = cx + ((f - cy) / (ay - cy)) * (ax - cx);
        if (x < from) from = x;
        if (x > to) to = x;
      }
      const first = Math.max(0, Math.ceil(from - 0.5));
      const last = Math.min(w - 1, Math.ceil(to - 0.5) - 1);
      let z = az + (first + 0.5 - ax) * zx + (f - ay) * zy;
      let l = al + (first + 0.5 - ax) * lx + (f - ay) * ly;
      for (let at = y * w + first, stop = y * w + last; at <= stop; at++, z += zx, l += lx) {
        if (z < depth[at]) {
          depth[at] = z;
          pixels[at] = palette[shift + (l < 0 ? 0 : l >= LEVELS ? LEVELS - 1 : l | 0)];
        }
      }
    }
  }

  // ── the ground ──

  // A half-space facing the camera: a tint that fades out, a grid, and shadows.
  ground(stage, mesh, look, view, first) {
    const { ctx } = this;
    const size = stage.size;
    const own = mesh !== stage.plane;
    const turn = own ? mesh.quaternion : new THREE.Quaternion();
    const normal = new THREE.Vector3(0, 0, 1).applyQuaternion(turn);
    const toEye = stage.camera.position.clone().sub(mesh.position);
    if (own && normal.dot(toEye) <= 0) return;
    const at = (x, y) => {
      const p = new THREE.Vector3(x, y, 0).applyQuaternion(turn).add(mesh.position);
      return { p, s: stage.project([p.x, p.y, p.z]), front: stage.depthOf(p) > stage.camera.near };
    };
    const far = 3.2 * size;
    if (own) this.tint(at, far);
    // Walls overlap on the screen, so their grids are not drawn.
    if (look.grid && normal.z > 0.5) this.grid(at, far, niceStep(size / 8));
    if (first) this.shadows(stage, mesh.position, normal, view);
    ctx.globalAlpha = 1;
  }
  // Rings from far to near, each adding some of the ground colour.
  tint(at, far) {
    const { ctx, theme } = this;
    ctx.fillStyle = withAlpha(theme.name === "dark" ? "#2c3139" : "#e9e5da", 0.2);
    for (let ring = 0; ring < 8; ring++) {
      const r = far * (1 - 0.085 * ring);
      const points = [];
      for (let k = 0; k < 48; k++) {
        const p = at(r * Math.cos((k / 48) * 2 * Math.PI), r * Math.sin((k / 48) * 2 * Math.PI));
        if (p.front) points.push(p.s);
      }
      if (points.length < 3) continue;
      // If the camera is inside the ring, the ring extends below the screen.
      const hull = outline([...points.map((s) => [s[0], s[1]]), ...(points.length < 48 ? [[-this.width, 2 * this.height], [2 * this.width, 2 * this.height]] : [])]);
      ctx.beginPath();
      hull.forEach((p, k) => (k ? ctx.lineTo(p[0], p[1]) : ctx.moveTo(p[0], p[1])));
      ctx.fill();
    }
  }
  grid(at, far, step) {
    const { ctx, theme } = this;
    const color = theme.name === "dark" ? "#5c6371" : "#aaa493";
    const buckets = [0.12, 0.24, 0.38, 0.55].map((alpha) => ({ alpha, path: new Path2D() }));
    const n = Math.floor(far / step);
    const cut = 10;
    const line = (a, b) => {
      const d = Math.hypot((a.x + b.x) / 2, (a.y + b.y) / 2) / far;
      if (d > 1) return;
      const p = at(a.x, a.y);
      const q = at(b.x, b.y);
      if (!p.front || !q.front) return;
      const { path } = buckets[Math.min(3, Math.floor((1 - d) * 4.6))];
      path.moveTo(p.s[0], p.s[1]);
      path.lineTo(q.s[0], q.s[1]);
    };
    for (let k = -n; k <= n; k++) {
      for (let c = -cut; c < cut; c++) {
        const [u, v] = [(c / cut) * far, ((c + 1) / cut) * far];
        line({ x: k * step, y: u }, { x: k * step, y: v });
        line({ x: u, y: k * step }, { x: v, y: k * step });
      }
    }
    ctx.strokeStyle = color;
    ctx.lineWidth = 1;
    for (const { alpha, path } of buckets) {
      ctx.globalAlpha = alpha;
      ctx.stroke(path);
    }
    ctx.globalAlpha = 1;
  }
  // One path of all outlines, filled once, so that shadows do not accumulate. The projection along the light onto the
  // ground and from there to the screen is one matrix.
  shadows(stage, origin, normal, view) {
    const { ctx, sun } = this;
    const slope = sun.dot(normal);
    if (slope < 0.1) return;
    const [nx, ny, nz] = [normal.x / slope, normal.y / slope, normal.z / slope];
    const d = origin.x * nx + origin.y * ny + origin.z * nz;
    const fall = new THREE.Matrix4().set(
      1 - sun.x * nx, -sun.x * ny, -sun.x * nz, sun.x * d,
      -sun.y * nx, 1 - sun.y * ny, -sun.y * nz, sun.y * d,
      -sun.z * nx, -sun.z * ny, 1 - sun.z * nz, sun.z * d,
      0, 0, 0, 1,
    );
    const down = new THREE.Matrix4().multiplyMatrices(view, fall);
    const m = new THREE.Matrix4();
    const path = new Path2D();
    for (const { mesh, items } of stage.groups) {
      const g = this.prepared.get(mesh.geometry) ?? prepare(mesh.geometry, items.length);
      this.prepared.set(mesh.geometry, g);
      for (let k = 0; k < items.length; k++) {
        if (!items[k].shown) continue;
        m.fromArray(mesh.instanceMatrix.array, 16 * k).premultiply(down);
        this.shadow(g, m.elements, path);
      }
    }
    ctx.fillStyle = this.theme.name === "dark" ? "rgba(0, 0, 0, .42)" : "rgba(70, 64, 50, .30)";
    ctx.fill(path, "nonzero");
  }
  shadow(g, e, path) {
    const points = [];
    for (const [x, y, z] of g.corners) {
      const c = e[3] * x + e[7] * y + e[11] * z + e[15];
      if (c <= 1e-6) return;
      points.push([((e[0] * x + e[4] * y + e[8] * z + e[12]) / c + 1) * 0.5 * this.width, (1 - (e[1] * x + e[5] * y + e[9] * z + e[13]) / c) * 0.5 * this.height]);
    }
    if (points.length < 3) return;
    // fill() closes outlines implicitly; closePath() would be slow because it scans the whole path.
    outline(points).forEach((p, i) => (i ? path.lineTo(p[0], p[1]) : path.moveTo(p[0], p[1])));
  }
}
