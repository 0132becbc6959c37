// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The 3D stage without a GPU: a software rasterizer with a depth buffer, several times faster than emulated WebGL.
// Per-vertex lighting; shadows are outlines on the ground. Solids are drawn from near to far, and those that nearer ones
// cover are skipped: of a heap most are. While playing the resolution may be reduced; at rest the picture is supersampled.
import * as THREE from "three";
import { outline } from "./bounds.js";
import { niceStep } from "./planar.js";
import { CPU, withAlpha } from "./theme.js";

const LEVELS = 128; // brightness levels, from none to TOP
const TOP = 1.3;
const TILE = 8; // [px] sides of the squares whose largest depths are kept

// Vectors that occur, each once, and for each entry of the array the number of its vector.
function unique(array) {
  const seen = new Map();
  const values = [];
  const index = new Uint32Array(array.length / 3);
  for (let k = 0; k < array.length; k += 3) {
    const key = `${array[k].toFixed(5)},${array[k + 1].toFixed(5)},${array[k + 2].toFixed(5)}`;
    let at = seen.get(key);
    if (at === undefined) {
      at = values.length / 3;
      seen.set(key, at);
      values.push(array[k], array[k + 1], array[k + 2]);
    }
    index[k / 3] = at;
  }
  return { values: Float32Array.from(values), index };
}

// A geometry prepared for rasterization: points and normals, each once (a cube has 8 and 6, not 36), triangles by their
// numbers, dark triangles, and a few points that represent its outline.
function prepare(geometry, instances) {
  const points = unique(geometry.attributes.position.array);
  const normals = unique(geometry.attributes.normal.array);
  const colours = geometry.attributes.color.array;
  const count = points.index.length / 3;
  const n = points.values.length / 3;
  let corners = Array.from({ length: n }, (_, k) => [...points.values.subarray(3 * k, 3 * k + 3)]);
  const most = instances > 100 ? 30 : 400;
  if (corners.length > most) corners = corners.filter((_, k) => k % Math.ceil(corners.length / most) === 0);
  return {
    points: points.values,
    normals: normals.values,
    point: points.index,
    normal: normals.index,
    dark: Uint8Array.from({ length: count }, (_, t) => (colours[9 * t] < 0.9 ? 1 : 0)),
    corners,
    count,
    x: new Float32Array(n),
    y: new Float32Array(n),
    z: new Float32Array(n),
    light: new Float32Array(normals.values.length / 3),
  };
}

export class SoftRenderer {
  constructor(canvas, theme) {
    this.canvas = canvas;
    this.ctx = canvas.getContext("2d", CPU);
    this.theme = theme;
    this.layer = document.createElement("canvas");
    this.layerCtx = this.layer.getContext("2d", CPU);
    this.back = document.createElement("canvas"); // the ground, which changes with the camera only
    this.backCtx = this.back.getContext("2d", CPU);
    this.backKey = "";
    this.inked = null; // the part of the picture with bodies: [x0, y0, x1, y1]
    this.scale = 1; // resolution while playing
    this.palettes = new Map();
    this.prepared = new Map();
    this.order = null; // what is drawn, from near to far in the last picture
  }
  setSize(width, height) {
    this.width = width;
    this.height = height;
    this.ratio = this.theme.ratio(2);
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
  }

  // Only what was drawn on is cleared.
  buffers(scale) {
    const w = Math.max(1, Math.round(this.width * scale));
    const h = Math.max(1, Math.round(this.height * scale));
    if (this.layer.width !== w || this.layer.height !== h || !this.image) {
      this.layer.width = w;
      this.layer.height = h;
      this.image = this.layerCtx.createImageData(w, h);
      this.pixels = new Uint32Array(this.image.data.buffer);
      this.depth = new Float32Array(w * h).fill(1);
      this.inked = null;
      this.across = Math.ceil(w / TILE);
      this.farthest = new Float32Array(this.across * Math.ceil(h / TILE));
      this.stale = new Uint8Array(this.farthest.length);
      this.edges = new Int16Array((w + 1) * h); // of shadows: how many begin at a pixel, less those that end
      this.from = new Float32Array(h);
      this.to = new Float32Array(h);
    }
    this.farthest.fill(1);
    this.stale.fill(0);
    this.wiped = this.inked;
    if (this.wiped) {
      const [x0, y0, x1, y1] = this.wiped;
      for (let at = y0 * w; at < y1 * w; at += w) {
        this.pixels.fill(0, at + x0, at + x1);
        this.depth.fill(1, at + x0, at + x1);
      }
    }
    this.inked = null;
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
    const floor = this.ground(stage, look, view);
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.drawImage(this.back, 0, 0);
    ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    const scale = look.playing ? this.scale : this.ratio < 1.5 ? 2 : this.ratio;
    const [w, h] = this.buffers(scale);
    this.solids(stage.groups, view, w, h);
    if (floor) this.shadows(floor.position, floor.normal, view, w, h);
    this.map = { depth: this.depth, w, h };
    this.copy(w, h, look);
  }
  // What has changed, from the buffer to the canvas.
  copy(w, h, look) {
    const { ctx, wiped, inked } = this;
    for (const part of [wiped, inked]) {
      if (part) this.layerCtx.putImageData(this.image, 0, 0, part[0], part[1], part[2] - part[0], part[3] - part[1]);
    }
    if (!inked) return;
    ctx.imageSmoothingEnabled = true;
    ctx.imageSmoothingQuality = look.playing ? "low" : "high";
    const [x, y, wide, tall] = [inked[0], inked[1], inked[2] - inked[0], inked[3] - inked[1]];
    const [fx, fy] = [this.width / w, this.height / h];
    ctx.drawImage(this.layer, x, y, wide, tall, x * fx, y * fy, wide * fx, tall * fy);
  }

  // Depths alone, at a part of the resolution.
  depthPass(stage, scale) {
    const { camera } = stage;
    camera.updateMatrixWorld();
    this.sun = stage.sun.position;
    const [w, h] = this.buffers(scale);
    const view = new THREE.Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
    this.solids(stage.groups, view, w, h);
    return { depth: this.depth, w, h };
  }

  // ── solids ──

  solids(groups, view, w, h) {
    const m = new THREE.Matrix4();
    const all = new THREE.Matrix4();
    const turn = new THREE.Matrix3();
    for (const { g, mesh, items, base, k } of this.sorted(groups, view.elements)) {
      if (!items[k].shown) continue;
      m.fromArray(mesh.instanceMatrix.array, 16 * k);
      all.multiplyMatrices(view, m);
      const box = this.project(g, all.elements, w, h);
      if (!box || this.covered(box, g.nearest)) continue;
      turn.getNormalMatrix(m);
      this.shine(g, turn.elements);
      this.fill(g, this.palette(base[k]), w, h);
      this.ink(box);
      this.changed(box);
    }
  }
  // By the distances of their centres from the camera. Little changes from one picture to the next, so that the list is
  // nearly in order when it is sorted.
  sorted(groups, e) {
    this.order ??= groups.flatMap(({ mesh, items, base }) => items.map((_, k) => ({ g: this.shape(mesh, items), mesh, items, base, k, far: 0 })));
    for (const item of this.order) {
      const a = item.mesh.instanceMatrix.array;
      const at = 16 * item.k + 12;
      item.far = e[3] * a[at] + e[7] * a[at + 1] + e[11] * a[at + 2];
    }
    return this.order.sort((a, b) => a.far - b.far);
  }
  shape(mesh, items) {
    const g = this.prepared.get(mesh.geometry) ?? prepare(mesh.geometry, items.length);
    this.prepared.set(mesh.geometry, g);
    return g;
  }
  ink(box) {
    const all = this.inked;
    this.inked = all ? [Math.min(all[0], box[0]), Math.min(all[1], box[1]), Math.max(all[2], box[2]), Math.max(all[3], box[3])] : box;
  }

  // Whether everything in a box of pixels is nearer than a depth. Depths only decrease, so that the largest one of a tile
  // that was drawn on since is still a bound; it is computed again only if the bound does not decide.
  /** @param {number[]} box @param {number} nearest */
  covered([x0, y0, x1, y1], nearest) {
    const { farthest, stale, across } = this;
    for (let y = (y0 / TILE) | 0; y * TILE < y1; y++) {
      for (let x = (x0 / TILE) | 0; x * TILE < x1; x++) {
        const t = y * across + x;
        if (farthest[t] > nearest && stale[t]) this.refresh(t, x, y);
        if (farthest[t] > nearest) return false;
      }
    }
    return true;
  }
  refresh(t, x, y) {
    const { width: w, height: h } = this.layer;
    const right = Math.min(w, (x + 1) * TILE);
    const below = Math.min(h, (y + 1) * TILE);
    let far = -1;
    for (let row = y * TILE; row < below; row++) {
      for (let at = row * w + x * TILE, end = row * w + right; at < end; at++) if (this.depth[at] > far) far = this.depth[at];
    }
    this.farthest[t] = far;
    this.stale[t] = 0;
  }
  // Their largest depths are to be computed again.
  /** @param {number[]} box */
  changed([x0, y0, x1, y1]) {
    for (let y = (y0 / TILE) | 0; y * TILE < y1; y++) {
      const row = y * this.across;
      this.stale.fill(1, row + ((x0 / TILE) | 0), row + Math.ceil(x1 / TILE));
    }
  }

  // Place on the screen and depth of every point, and the smallest depth. Returns the box of pixels; null: off screen.
  project(g, e, w, h) {
    const { points, x: sx, y: sy, z: sz } = g;
    let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
    g.nearest = Infinity;
    for (let k = 0, p = 0; k < sx.length; k++, p += 3) {
      const x = points[p];
      const y = points[p + 1];
      const z = points[p + 2];
      const c = e[3] * x + e[7] * y + e[11] * z + e[15];
      if (c <= 1e-6) {
        sz[k] = 2; // behind the camera: its triangles are skipped
        continue;
      }
      const X = ((e[0] * x + e[4] * y + e[8] * z + e[12]) / c + 1) * 0.5 * w;
      const Y = (1 - (e[1] * x + e[5] * y + e[9] * z + e[13]) / c) * 0.5 * h;
      sx[k] = X;
      sy[k] = Y;
      const Z = (e[2] * x + e[6] * y + e[10] * z + e[14]) / c;
      sz[k] = Z;
      if (Z < g.nearest) g.nearest = Z;
      if (X < x0) x0 = X;
      if (X > x1) x1 = X;
      if (Y < y0) y0 = Y;
      if (Y > y1) y1 = Y;
    }
    if (!(x1 > 0 && y1 > 0 && x0 < w && y0 < h)) return null;
    return [Math.max(0, Math.floor(x0)), Math.max(0, Math.floor(y0)), Math.min(w, Math.ceil(x1) + 1), Math.min(h, Math.ceil(y1) + 1)];
  }
  // Brightness of every normal.
  shine(g, r) {
    const { normals: n, light } = g;
    const { x: sx, y: sy, z: sz } = this.sun;
    for (let k = 0, p = 0; k < light.length; k++, p += 3) {
      const nx = r[0] * n[p] + r[3] * n[p + 1] + r[6] * n[p + 2];
      const ny = r[1] * n[p] + r[4] * n[p + 1] + r[7] * n[p + 2];
      const nz = r[2] * n[p] + r[5] * n[p + 1] + r[8] * n[p + 2];
      const l = 1 / (Math.sqrt(nx * nx + ny * ny + nz * nz) || 1);
      const sun = (nx * sx + ny * sy + nz * sz) * l;
      light[k] = (0.62 + 0.12 * nz * l + (sun > 0 ? 0.44 * sun : 0)) * (LEVELS / TOP);
    }
  }

  fill(g, palette, w, h) {
    const { point, x, y, z } = g;
    for (let t = 0, s = 0; t < g.count; t++, s += 3) {
      const a = point[s];
      const b = point[s + 1];
      const c = point[s + 2];
      const area = (x[b] - x[a]) * (y[c] - y[a]) - (x[c] - x[a]) * (y[b] - y[a]);
      if (area < -1e-6 && z[a] <= 1 && z[b] <= 1 && z[c] <= 1) this.triangle(g, s, area, palette, w, h);
    }
  }

  // Fills scan lines between the edges; depth and brightness are linear on the screen.
  triangle(g, s, area, palette, w, h) {
    const { pixels, depth } = this;
    const { point, normal, light } = g;
    const a = point[s], b = point[s + 1], c = point[s + 2];
    const ax = g.x[a], ay = g.y[a], bx = g.x[b], by = g.y[b], cx = g.x[c], cy = g.y[c];
    const az = g.z[a], bz = g.z[b], cz = g.z[c];
    const al = light[normal[s]], bl = light[normal[s + 1]], cl = light[normal[s + 2]];
    const shift = g.dark[s / 3] ? LEVELS : 0;
    const zx = ((bz - az) * (cy - ay) - (cz - az) * (by - ay)) / area;
    const zy = ((cz - az) * (bx - ax) - (bz - az) * (cx - ax)) / area;
    const flat = al === bl && al === cl;
    const lx = flat ? 0 : ((bl - al) * (cy - ay) - (cl - al) * (by - ay)) / area;
    const ly = flat ? 0 : ((cl - al) * (bx - ax) - (bl - al) * (cx - ax)) / area;
    const even = palette[shift + (al < 0 ? 0 : al >= LEVELS ? LEVELS - 1 : al | 0)]; // of a flat triangle
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
      if (flat) {
        for (let at = y * w + first, stop = y * w + last; at <= stop; at++, z += zx) {
          if (z < depth[at]) {
            depth[at] = z;
            pixels[at] = even;
          }
        }
        continue;
      }
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

  // Background, walls, then the floor with its grid; drawn again if the camera, the ground or the theme has changed.
  // Returns the floor that shadows fall on.
  ground(stage, look, view) {
    const height = (mesh) => new THREE.Vector3(0, 0, 1).applyQuaternion(mesh.quaternion).z;
    const grounds = [...stage.grounds].sort((a, b) => height(a) - height(b));
    const places = grounds.map((mesh) => [...mesh.position.toArray(), ...mesh.quaternion.toArray()]);
    const key = [this.width, this.height, this.ratio, this.theme.name, look.grid, ...view.elements, ...places.flat()].join();
    if (key !== this.backKey) {
      this.backKey = key;
      this.back.width = this.canvas.width;
      this.back.height = this.canvas.height;
      this.backCtx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
      this.backCtx.fillStyle = this.theme.color.stage;
      this.backCtx.fillRect(0, 0, this.width, this.height);
      for (const mesh of grounds) this.side(stage, mesh, look);
      if (stage.plane && look.grid) this.side(stage, stage.plane, look);
    }
    const floor = grounds[grounds.length - 1];
    if (!floor) return null;
    const normal = new THREE.Vector3(0, 0, 1).applyQuaternion(floor.quaternion);
    return normal.dot(stage.camera.position.clone().sub(floor.position)) > 0 ? { position: floor.position, normal } : null;
  }
  // A half-space facing the camera: a tint that fades out, and a grid.
  side(stage, mesh, look) {
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
  }
  // Rings from far to near, each adding some of the ground colour.
  tint(at, far) {
    const { backCtx: ctx, theme } = this;
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
    const { backCtx: ctx, theme } = this;
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
  // Pixels without a body that one outline or more covers: shadows do not accumulate. The projection along the light onto
  // the ground and from there to the screen is one matrix.
  shadows(origin, normal, view, w, h) {
    const { sun } = this;
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
    for (const { g, mesh, items, k } of this.order) {
      if (!items[k].shown) continue;
      m.fromArray(mesh.instanceMatrix.array, 16 * k).premultiply(down);
      this.shadow(g, m.elements, w, h);
    }
    this.shade(w, h);
  }
  // Adds the outline of a shadow to the edges.
  shadow(g, e, w, h) {
    const points = [];
    for (const [x, y, z] of g.corners) {
      const c = e[3] * x + e[7] * y + e[11] * z + e[15];
      if (c <= 1e-6) return;
      points.push([((e[0] * x + e[4] * y + e[8] * z + e[12]) / c + 1) * 0.5 * w, (1 - (e[1] * x + e[5] * y + e[9] * z + e[13]) / c) * 0.5 * h]);
    }
    if (points.length < 3) return;
    const hull = outline(points);
    const ys = hull.map((p) => p[1]);
    const top = Math.max(0, Math.ceil(Math.min(...ys) - 0.5));
    const end = Math.min(h - 1, Math.ceil(Math.max(...ys) - 0.5) - 1);
    if (end < top) return;
    const { from, to, edges } = this;
    from.fill(Infinity, top, end + 1);
    to.fill(-Infinity, top, end + 1);
    hull.forEach((p, k) => this.rows(p, hull[(k + 1) % hull.length], top, end));
    for (let y = top; y <= end; y++) {
      const first = Math.min(w, Math.max(0, Math.ceil(from[y] - 0.5)));
      const last = Math.min(w, Math.max(0, Math.ceil(to[y] - 0.5)));
      if (last <= first) continue;
      edges[y * (w + 1) + first]++;
      edges[y * (w + 1) + last]--;
    }
    // The leftmost and rightmost corners bound all rows.
    const xs = hull.map((p) => p[0]);
    const box = [Math.max(0, Math.floor(Math.min(...xs))), top, Math.min(w, Math.ceil(Math.max(...xs)) + 1), end + 1];
    if (box[2] > box[0]) this.ink(box);
  }
  // Where rows of pixels cross an edge.
  rows([ax, ay], [bx, by], top, end) {
    const { from, to } = this;
    const slope = (bx - ax) / (by - ay);
    const first = Math.max(top, Math.ceil(Math.min(ay, by) - 0.5));
    const last = Math.min(end, Math.ceil(Math.max(ay, by) - 0.5) - 1);
    for (let y = first; y <= last; y++) {
      const x = ax + (y + 0.5 - ay) * slope;
      if (x < from[y]) from[y] = x;
      if (x > to[y]) to[y] = x;
    }
  }
  // The sums of the edges along each row are the numbers of shadows.
  shade(w, h) {
    if (!this.inked) return;
    const { edges, depth, pixels } = this;
    const colour = this.theme.name === "dark" ? 107 << 24 : ((77 << 24) | (50 << 16) | (64 << 8) | 70) >>> 0;
    const [x0, y0, x1, y1] = this.inked;
    for (let y = y0; y < Math.min(y1, h); y++) {
      let many = 0;
      for (let x = x0, at = y * w + x0, edge = y * (w + 1) + x0; x < x1; x++, at++, edge++) {
        many += edges[edge];
        if (many > 0 && depth[at] === 1) pixels[at] = colour;
      }
      edges.fill(0, y * (w + 1) + x0, y * (w + 1) + x1 + 1);
    }
  }
}
