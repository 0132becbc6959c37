// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The camera of the 3D stage: orbits a point, fits a box, follows a point, and stays above the floor unless asked.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

const UP = new THREE.Vector3(0, 0, 1);
const HOME = new THREE.Vector3(0.62, -1, 0.5); // direction from the scene to the camera

export class OrbitCamera {
  // floorAt: (x, y) => height of the floor below a point, or null.
  constructor(canvas, floorAt, changed) {
    this.floorAt = floorAt;
    this.lens = new THREE.PerspectiveCamera(32, 1, 0.01, 1000);
    this.lens.up.copy(UP);
    this.below = false; // whether it may look from below the floor
    this.controls = new OrbitControls(this.lens, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener("change", () => {
      this.keepAbove();
      changed();
    });
    this.controls.addEventListener("start", () => {
      this.fitted = false;
    });
  }

  // The orbit ends a little above the floor; the point looked at does not sink into it.
  keepAbove() {
    const { controls, lens } = this;
    const { target } = controls;
    const floor = this.floorAt(target.x, target.y);
    controls.maxPolarAngle = Math.PI;
    if (this.below || floor === null) return;
    if (target.z < floor) {
      lens.position.z += floor - target.z;
      target.z = floor;
    }
    const offset = lens.position.clone().sub(target);
    const distance = offset.length();
    const least = 0.02 * distance + (this.floorAt(lens.position.x, lens.position.y) ?? floor);
    const most = Math.acos(Math.min(1, Math.max(-1, (least - target.z) / distance)));
    controls.maxPolarAngle = most;
    if (lens.position.z >= least) return;
    const turn = new THREE.Spherical().setFromVector3(new THREE.Vector3(offset.x, offset.z, -offset.y));
    turn.phi = Math.max(0.01, most);
    const [x, y, z] = new THREE.Vector3().setFromSpherical(turn).toArray();
    lens.position.copy(target).add(new THREE.Vector3(x, -z, y));
    lens.lookAt(target);
  }

  // As close as the corners of a box allow. margin: shares of the width and height that stay free.
  fit(box, size, margin, toward = HOME) {
    const { low, high } = box;
    const { lens, controls } = this;
    const center = new THREE.Vector3(...low).add(new THREE.Vector3(...high)).multiplyScalar(0.5);
    const back = toward.clone().normalize();
    const right = new THREE.Vector3().crossVectors(UP, back).normalize();
    if (!(right.lengthSq() > 0)) right.set(1, 0, 0); // from straight above
    const up = new THREE.Vector3().crossVectors(back, right);
    const tall = Math.tan(((lens.fov / 2) * Math.PI) / 180) * (1 - margin.y);
    const wide = tall * lens.aspect * (1 - margin.x);
    let distance = 0.8 * size;
    for (let k = 0; k < 8; k++) {
      const corner = new THREE.Vector3(k & 1 ? high[0] : low[0], k & 2 ? high[1] : low[1], k & 4 ? high[2] : low[2]).sub(center);
      const depth = corner.dot(back);
      distance = Math.max(distance, depth + Math.abs(corner.dot(right)) / wide, depth + Math.abs(corner.dot(up)) / tall);
    }
    this.clip(distance);
    lens.position.copy(center).addScaledVector(back, distance);
    controls.target.copy(center);
    controls.maxPolarAngle = Math.PI;
    controls.update();
    this.keepAbove();
    this.fitted = true;
  }
  clip(distance) {
    this.lens.near = distance / 200;
    this.lens.far = distance * 60;
    this.lens.updateProjectionMatrix();
  }
  // The direction from the point looked at to the camera.
  get toward() {
    return this.lens.position.clone().sub(this.controls.target);
  }
  // azimuth from x towards y, elevation above the horizon [deg]; zoom: of the distance at which all fits.
  view({ azimuth, elevation, zoom = 1 }) {
    const at = this.controls.target;
    const distance = this.toward.length() / zoom;
    const [a, e] = [(azimuth * Math.PI) / 180, (Math.min(89.9, Math.max(-89.9, elevation)) * Math.PI) / 180];
    this.below ||= elevation < 0;
    this.lens.position.set(at.x + distance * Math.cos(e) * Math.cos(a), at.y + distance * Math.cos(e) * Math.sin(a), at.z + distance * Math.sin(e));
    this.controls.maxPolarAngle = Math.PI;
    this.controls.update();
    this.keepAbove();
    this.fitted = false;
  }
  move(by) {
    this.controls.target.add(by);
    this.lens.position.add(by);
    this.keepAbove();
  }
  zoom(factor) {
    this.lens.position.sub(this.controls.target).divideScalar(factor).add(this.controls.target);
    this.keepAbove();
    this.fitted = false;
  }
}
