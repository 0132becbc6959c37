// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The 3D stage: three.js with an orbiting camera and one light that casts shadows. One draw call per kind of solid.
// If drawing is slow (no GPU), shadows are updated less often, then coarser, then not drawn.
import * as THREE from "three";
import { bounds, endless, patchSize } from "./bounds.js";
import { OrbitCamera } from "./camera.js";
import { solidOf } from "./geometry.js";
import { niceStep } from "./planar.js";
import { SoftRenderer } from "./soft.js";

// WebGL emulated on the CPU is slower than the software rasterizer. #render=gl or #render=soft overrides.
function emulated() {
  const asked = new URLSearchParams(location.hash.slice(1)).get("render");
  if (asked === "gl" || asked === "soft") return asked === "soft";
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return true;
  const about = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(about ? about.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

export class SpatialStage {
  constructor(host, run, theme, hooks) {
    this.run = run;
    this.theme = theme;
    this.hooks = hooks;
    this.box = bounds(run);
    this.size = this.box.size;
    this.scratch = new THREE.Vector3();
    this.canvas = document.createElement("canvas");
    this.canvas.className = "main";
    host.prepend(this.canvas);
    if (emulated()) this.soft = new SoftRenderer(this.canvas, theme);
    else this.openGl();
    this.scene = new THREE.Scene();
    this.orbit = new OrbitCamera(this.canvas, (x, y) => this.floorAt(x, y), () => this.hooks.changed());
    this.camera = this.orbit.lens;
    this.controls = this.orbit.controls;
    this.margin = { x: 0.14, y: 0.12 };
    this.tools = 190; // width of the display options [px]
    this.depths = null;
    this.gridLine = { value: new THREE.Color() };
    this.gridFar = { value: new THREE.Color() };
    this.gridOn = { value: 1 };
    this.quality = 0;
    this.slow = 0;
    this.frames = 0;
    this.lights();
    this.ground();
    this.reference();
    this.patches();
    this.solids();
    this.resize();
    this.fit();
    this.pointers();
    this.recolor();
    theme.onChange(() => this.recolor());
  }

  openGl() {
    this.renderer = new THREE.WebGLRenderer({ canvas: this.canvas, antialias: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
  }

  lights() {
    this.sky = new THREE.HemisphereLight(0xffffff, 0xb9b4a8, 1.75);
    this.sun = new THREE.DirectionalLight(0xffffff, 2.1);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.bias = -0.0006;
    this.sun.shadow.normalBias = 0.02 * this.size * 0.05;
    this.scene.add(this.sky, this.sun, this.sun.target);
    this.aimSun(this.center());
  }
  center() {
    const { low, high } = this.box;
    return new THREE.Vector3((low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2);
  }
  aimSun(at) {
    const s = this.size;
    this.sun.target.position.copy(at);
    this.sun.position.set(at.x - 1.15 * s, at.y - 0.3 * s, at.z + 2.1 * s);
    const c = this.sun.shadow.camera;
    c.left = c.bottom = -0.95 * s;
    c.right = c.top = 0.95 * s;
    c.near = 0.1 * s;
    c.far = 6 * s;
    c.updateProjectionMatrix();
  }

  // A half-space is a large disc with a grid that fades out; the first one has the grid of the scene.
  ground() {
    this.grounds = [];
    for (const shape of this.run.drawn.filter(endless)) {
      if (this.run.bodies[shape.body].row >= 0) continue;
      const mesh = new THREE.Mesh(new THREE.CircleGeometry(14 * this.size, 64), this.groundMaterial());
      mesh.receiveShadow = true;
      mesh.userData.shape = shape;
      this.scene.add(mesh);
      this.grounds.push(mesh);
    }
  }
  // Without a ground: a grid below everything, for orientation.
  reference() {
    if (this.grounds.length > 0) return;
    const step = niceStep(this.size / 8);
    const c = this.center();
    this.plane = new THREE.GridHelper(32 * step, 32);
    this.plane.material.transparent = true;
    this.plane.material.opacity = 0.6;
    this.plane.rotation.x = Math.PI / 2;
    this.plane.position.set(Math.round(c.x / step) * step, Math.round(c.y / step) * step, this.box.low[2]);
    this.scene.add(this.plane);
  }
  // A half-space of a moving body: drawn as a patch of the size of the body.
  patches() {
    this.sides = [];
    for (const shape of this.run.drawn.filter(endless)) {
      if (this.run.bodies[shape.body].row < 0) continue;
      const half = 0.4 * patchSize(this.run, shape, this.size);
      const material = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.18, side: THREE.DoubleSide, depthWrite: false });
      const mesh = new THREE.Mesh(new THREE.PlaneGeometry(2 * half, 2 * half), material);
      mesh.userData.shape = shape;
      this.scene.add(mesh);
      this.sides.push(mesh);
    }
  }
  groundMaterial() {
    const material = new THREE.MeshLambertMaterial({ side: THREE.FrontSide });
    const step = niceStep(this.size / 8);
    material.onBeforeCompile = (shader) => {
      shader.uniforms.gridStep = { value: step };
      shader.uniforms.gridFade = { value: 3.2 * this.size };
      shader.uniforms.gridLine = this.gridLine;
      shader.uniforms.gridFar = this.gridFar;
      shader.uniforms.gridOn = this.gridOn;
      shader.vertexShader = shader.vertexShader
        .replace("#include <common>", "#include <common>\nvarying vec2 vGrid;")
        .replace("#include <begin_vertex>", "#include <begin_vertex>\nvGrid = position.xy;");
      shader.fragmentShader = shader.fragmentShader
        .replace("#include <common>", `#include <common>
          varying vec2 vGrid; uniform float gridStep, gridFade, gridOn; uniform vec3 gridLine, gridFar;
          float gridAt(float s) { vec2 g = vGrid / s; vec2 w = fwidth(g) * 1.1; vec2 d = abs(fract(g - 0.5) - 0.5) / max(w, 1e-6);
            return (1.0 - min(min(d.x, d.y), 1.0)) * clamp(1.0 - max(w.x, w.y) * 2.5, 0.0, 1.0); }`)
        .replace("#include <opaque_fragment>", `#include <opaque_fragment>
          float grid = max(gridAt(gridStep), 0.45 * gridAt(gridStep / 5.0)) * gridOn;
          float fade = 1.0 - smoothstep(0.3 * gridFade, gridFade, length(vGrid));
          gl_FragColor.rgb = mix(gridFar, mix(gl_FragColor.rgb, gridLine, 0.55 * grid), fade);`);
    };
    return material;
  }

  // Instanced by geometry.
  solids() {
    const groups = new Map();
    const fine = this.run.solids.length <= 300;
    for (let k = 0; k < this.run.solids.length; k++) {
      const shape = this.run.solids[k];
      if (endless(shape)) continue;
      const solid = solidOf(this.run, shape, fine);
      if (!groups.has(solid.key)) groups.set(solid.key, { solid, items: [] });
      groups.get(solid.key).items.push({ shape, scale: new THREE.Vector3(...solid.scale), local: solid.local, index: k, visual: k >= this.run.shapes.length, shown: !shape.hidden });
    }
    this.groups = [];
    for (const { solid, items } of groups.values()) {
      const geometry = solid.make();
      const material = new THREE.MeshLambertMaterial({ vertexColors: true });
      const mesh = new THREE.InstancedMesh(geometry, material, items.length);
      mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
      mesh.frustumCulled = false;
      mesh.castShadow = mesh.receiveShadow = true;
      this.scene.add(mesh);
      const group = { mesh, items, base: [] };
      if (solid.edges && this.run.solids.length <= 60) this.edges(group, geometry);
      this.groups.push(group);
    }
  }
  edges(group, geometry) {
    const lines = new THREE.EdgesGeometry(geometry, 30);
    group.lines = group.items.map(() => {
      const line = new THREE.LineSegments(lines, new THREE.LineBasicMaterial({ transparent: true, opacity: 0.45 }));
      line.matrixAutoUpdate = false;
      this.scene.add(line);
      return line;
    });
  }

  recolor() {
    const dark = this.theme.name === "dark";
    const c = this.theme.color;
    this.background = new THREE.Color(c.stage);
    this.scene.background = this.background;
    this.sky.intensity = dark ? 1.35 : 1.95;
    this.sun.intensity = dark ? 1.7 : 1.75;
    this.gridLine.value.set(dark ? "#5c6371" : "#aaa493");
    this.gridFar.value.copy(this.background);
    for (const mesh of this.grounds) mesh.material.color.set(mesh.userData.shape.colour ?? (dark ? "#3a404b" : "#f1eee6"));
    if (this.plane) {
      const g = this.plane.geometry;
      const line = new THREE.Color(dark ? "#4a505c" : "#cfcabd");
      const colors = new Float32Array(g.attributes.position.count * 3);
      for (let k = 0; k < colors.length; k += 3) line.toArray(colors, k);
      g.setAttribute("color", new THREE.BufferAttribute(colors, 3));
    }
    for (const mesh of this.sides) mesh.material.color.set(this.theme.shape(mesh.userData.shape, "free"));
    for (const { mesh, items, lines, base } of this.groups) {
      items.forEach(({ shape }, k) => {
        base[k] = this.theme.shape(shape, this.run.bodies[shape.body].drive);
        mesh.setColorAt(k, new THREE.Color(base[k]));
        lines?.[k].material.color.set(dark ? "#0d0f13" : "#2a2d33");
      });
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
    this.chosen = undefined;
    this.hooks.changed();
  }

  resize() {
    const { clientWidth: w, clientHeight: h } = this.canvas.parentElement;
    this.width = Math.max(1, w);
    this.height = Math.max(1, h);
    this.camera.aspect = this.width / this.height;
    this.camera.updateProjectionMatrix();
    if (this.fitted) this.fit();
    if (this.soft) {
      this.soft.setSize(this.width, this.height);
      return;
    }
    const ratio = this.quality >= 2 ? 1 : this.theme.ratio(2);
    this.renderer.setPixelRatio(this.quality >= 4 ? 0.75 : ratio);
    this.renderer.setSize(this.width, this.height, false);
  }

  // The whole scene, from the same side.
  fit() {
    const wide = Math.min(0.5, this.margin.x + this.tools / this.width);
    this.orbit.fit(this.box, this.size, { x: wide, y: this.margin.y });
    this.followed = this.box.anchor;
    this.aimSun(this.center());
  }
  get fitted() {
    return this.orbit.fitted;
  }
  set fitted(on) {
    this.orbit.fitted = on;
  }
  // A box seen from where the camera is; what is followed stays followed.
  frame(low, high) {
    const size = Math.max(...high.map((h, i) => h - low[i]), 0.01 * this.size);
    this.orbit.fit({ low, high }, 1.6 * size, { x: 0.3, y: 0.3 }, this.orbit.toward);
    this.orbit.fitted = false;
    this.hooks.changed();
  }
  // Moves with a point, by as much as it moved since the last call; fresh: and puts it into the centre.
  follow(p, fresh) {
    const from = fresh ? this.aim() : (this.followed ?? p);
    const by = new THREE.Vector3(p[0] - from[0], p[1] - from[1], p[2] - from[2]);
    this.followed = [...p];
    if (by.lengthSq() === 0) return;
    this.orbit.move(by);
    this.aimSun(this.controls.target);
    this.fitted = false;
  }
  // Azimuth from x towards y and elevation [deg], zoom: of the distance at which all fits.
  /** @param {number[]} camera */
  view3([azimuth, elevation, zoom = 1]) {
    this.fit();
    this.orbit.view({ azimuth, elevation, zoom });
  }
  zoom(factor) {
    this.orbit.zoom(factor);
    this.hooks.changed();
  }
  get below() {
    return this.orbit.below;
  }
  setBelow(on) {
    this.orbit.below = on;
    this.orbit.keepAbove();
    this.hooks.changed();
  }
  // Height of the floor: the highest fixed half-space that faces up.
  floorAt(x, y) {
    let height = null;
    for (const mesh of this.grounds) {
      const n = new THREE.Vector3(0, 0, 1).applyQuaternion(mesh.quaternion);
      if (n.z < 0.5) continue;
      const p = mesh.position;
      const z = p.z - (n.x * (x - p.x) + n.y * (y - p.y)) / n.z;
      height = height === null ? z : Math.max(height, z);
    }
    return height;
  }

  // The point looked at.
  aim() {
    return this.controls.target.toArray();
  }
  // Whether bodies cover a point by more than a margin [m].
  hidden(p, margin) {
    const map = this.depthMap;
    if (!map) return false;
    const v = this.scratch.set(p[0], p[1], p[2]).project(this.camera);
    const x = Math.floor(((v.x + 1) / 2) * map.w);
    const y = Math.floor(((1 - v.y) / 2) * map.h);
    if (x < 0 || y < 0 || x >= map.w || y >= map.h) return false;
    return this.eyeDepth(v.z) - this.eyeDepth(map.depth[y * map.w + x]) > margin;
  }
  // The distance from the plane of the camera [m], of a depth between -1 and 1.
  eyeDepth(z) {
    const { near, far } = this.camera;
    return (2 * near * far) / (far + near - z * (far - near));
  }

  project(p) {
    const v = this.scratch;
    v.set(p[0], p[1], p[2]).project(this.camera);
    return [((v.x + 1) / 2) * this.width, ((1 - v.y) / 2) * this.height, v.z < 1 ? 1 : 0];
  }
  depthOf(p) {
    return p.clone().sub(this.camera.position).dot(this.camera.getWorldDirection(new THREE.Vector3()));
  }
  pixels(p) {
    const d = Math.hypot(p[0] - this.camera.position.x, p[1] - this.camera.position.y, p[2] - this.camera.position.z);
    return this.height / 2 / Math.tan(((this.camera.fov / 2) * Math.PI) / 180) / Math.max(d, 1e-9);
  }

  ray(x, y) {
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2((2 * x) / this.width - 1, 1 - (2 * y) / this.height), this.camera);
    return ray;
  }
  pickHit(x, y) {
    const ray = this.ray(x, y);
    let best = null;
    for (const { mesh, items } of this.groups) {
      mesh.computeBoundingSphere();
      for (const hit of ray.intersectObject(mesh)) {
        if (!items[hit.instanceId].shown) continue;
        if (!best || hit.distance < best.distance) {
          best = { body: items[hit.instanceId].shape.body, distance: hit.distance, point: hit.point };
        }
      }
    }
    return best;
  }
  // What a pixel shows: a body, or the floor (-1), and the point; null: nothing.
  surface(x, y) {
    const hit = this.pickHit(x, y);
    if (hit) return { body: hit.body, point: hit.point.toArray() };
    for (const mesh of this.grounds) {
      const [floor] = this.ray(x, y).intersectObject(mesh);
      if (floor) return { body: -1, point: floor.point.toArray() };
    }
    return null;
  }
  pick(x, y) {
    return this.pickHit(x, y)?.body ?? -1;
  }

  pointers() {
    const c = this.canvas;
    let down = null;
    const at = (e) => {
      const box = c.getBoundingClientRect();
      return [e.clientX - box.left, e.clientY - box.top];
    };
    // Dragging keeps the depth of the grabbed point.
    const inPlane = (x, y) => {
      const out = new THREE.Vector3();
      this.ray(x, y).ray.intersectPlane(down.plane, out);
      return [out.x, out.y, out.z];
    };
    c.addEventListener("pointerdown", (e) => {
      const [x, y] = at(e);
      const hit = this.hooks.drags() ? this.pickHit(x, y) : null;
      down = { x, y, moved: false, drag: false, plane: null };
      if (hit && this.hooks.dragStart(hit.body, [hit.point.x, hit.point.y, hit.point.z])) {
        const normal = this.camera.getWorldDirection(new THREE.Vector3());
        down.plane = new THREE.Plane().setFromNormalAndCoplanarPoint(normal, hit.point);
        down.drag = true;
        this.controls.enabled = false;
        c.setPointerCapture(e.pointerId);
      }
    }, { capture: true });
    c.addEventListener("pointermove", (e) => {
      const [x, y] = at(e);
      if (!down) return;
      down.moved ||= Math.hypot(x - down.x, y - down.y) > 4;
      if (down.drag) this.hooks.dragMove(inPlane(x, y));
    });
    const up = (e) => {
      if (down?.drag) this.hooks.dragEnd();
      if (down && !down.moved && e.type === "pointerup") this.hooks.click(...at(e));
      down = null;
      this.controls.enabled = true;
    };
    c.addEventListener("pointerup", up);
    c.addEventListener("pointercancel", up);
    c.addEventListener("dblclick", (e) => this.hooks.frame?.(...at(e)));
  }

  place(state, look) {
    const nothing = new THREE.Vector3(0, 0, 0);
    const p = new THREE.Vector3();
    const q = new THREE.Quaternion();
    const lp = new THREE.Vector3();
    const lq = new THREE.Quaternion();
    const m = new THREE.Matrix4();
    const set = (shape, scale, local) => {
      const b = shape.body;
      q.set(state.rotation[4 * b + 1], state.rotation[4 * b + 2], state.rotation[4 * b + 3], state.rotation[4 * b]);
      p.set(state.position[3 * b], state.position[3 * b + 1], state.position[3 * b + 2]);
      if (!local) {
        const s = shape.pose;
        lp.set(s[0], s[1], s[2]).applyQuaternion(q);
        p.add(lp);
        q.multiply(lq.set(s[4], s[5], s[6], s[3]));
      }
      return m.compose(p, q, scale);
    };
    for (const { mesh, items, lines } of this.groups) {
      items.forEach((item, k) => {
        item.shown = look.collision ? !item.visual : !item.shape.hidden;
        set(item.shape, item.shown ? item.scale : nothing, item.local);
        mesh.setMatrixAt(k, m);
        lines?.[k].matrix.copy(m);
      });
      mesh.instanceMatrix.needsUpdate = true;
    }
    const one = new THREE.Vector3(1, 1, 1);
    for (const mesh of this.sides) {
      set(mesh.userData.shape, one, false);
      m.decompose(mesh.position, mesh.quaternion, mesh.scale);
    }
    const center = this.controls.target;
    for (const mesh of this.grounds) {
      set(mesh.userData.shape, one, false);
      m.decompose(mesh.position, mesh.quaternion, mesh.scale);
      // Unbounded: the disc follows the view, in whole steps of its grid.
      const step = niceStep(this.size / 8);
      mesh.updateMatrixWorld();
      const local = mesh.worldToLocal(center.clone());
      lp.set(Math.round(local.x / step) * step, Math.round(local.y / step) * step, 0).applyQuaternion(mesh.quaternion);
      mesh.position.add(lp);
    }
  }

  highlight(body) {
    if (this.chosen === body) return;
    this.chosen = body;
    for (const { mesh, items, base } of this.groups) {
      items.forEach(({ shape }, k) => {
        const color = new THREE.Color(this.theme.shape(shape, this.run.bodies[shape.body].drive));
        if (shape.body === body) color.lerp(new THREE.Color(this.theme.color.accent), 0.55);
        base[k] = "#" + color.getHexString();
        mesh.setColorAt(k, color);
      });
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  draw(state, look) {
    this.state = state;
    this.place(state, look);
    this.highlight(look.body);
    if (this.soft) {
      this.soft.render(this, look);
      this.depthMap = this.soft.map;
      return;
    }
    if (look.contacts || look.forces) this.depthPass();
    this.gridOn.value = look.grid ? 1 : 0;
    if (this.plane) this.plane.visible = look.grid;
    const every = this.quality >= 1 ? 2 : 1;
    this.renderer.shadowMap.autoUpdate = false;
    this.renderer.shadowMap.needsUpdate = this.frames++ % every === 0 || !look.playing;
    this.renderer.render(this.scene, this.camera);
  }

  // With a GPU, what covers marks is found by a small picture of depths, drawn on the CPU; not for large meshes.
  depthPass() {
    const triangles = this.groups.reduce((n, { mesh, items }) => n + (mesh.geometry.attributes.position.count / 3) * items.length, 0);
    this.depthMap = null;
    if (triangles > 60000 || this.run.tracks === 0) return;
    this.depths ??= new SoftRenderer(document.createElement("canvas"), this.theme);
    this.depths.setSize(this.width, this.height);
    this.depthMap = this.depths.depthPass(this, Math.min(0.5, 400 / this.width));
  }

  // Called with the time of each frame while playing [ms].
  pace(ms) {
    this.slow = 0.85 * this.slow + 0.15 * (ms > 30 ? 1 : 0);
    if (this.soft) {
      if (this.slow > 0.75 && this.soft.scale > 0.5) {
        this.soft.scale = this.soft.scale > 0.75 ? 0.75 : 0.5;
        this.slow = 0;
      }
      return;
    }
    if (this.slow > 0.75 && this.quality < 4) {
      this.quality++;
      this.slow = 0;
      if (this.quality === 2) this.resize();
      if (this.quality === 3) {
        this.sun.castShadow = false;
        this.groups.forEach(({ mesh }) => (mesh.material.needsUpdate = true));
        this.grounds.forEach((mesh) => (mesh.material.needsUpdate = true));
      }
      if (this.quality === 4) this.resize();
      this.hooks.changed();
    }
  }
  get remark() {
    if (this.soft) return this.soft.scale < 1 ? "no GPU: lower resolution while playing" : "";
    return this.quality >= 3 ? "slow graphics: shadows are off" : "";
  }
}
