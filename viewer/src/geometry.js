// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Solids as triangles. Unit solids are shared and scaled, so that each kind is drawn in one call; round ones have
// darker sectors to make their rotation visible.
import * as THREE from "three";

function sectors(geometry, by) {
  const p = geometry.attributes.position;
  const colors = new Float32Array(3 * p.count);
  for (let k = 0; k < p.count; k += 3) {
    const x = (p.getX(k) + p.getX(k + 1) + p.getX(k + 2)) / 3;
    const y = (p.getY(k) + p.getY(k + 1) + p.getY(k + 2)) / 3;
    const z = (p.getZ(k) + p.getZ(k + 1) + p.getZ(k + 2)) / 3;
    const c = by(x, y, z) ? 0.76 : 1;
    colors.fill(c, 3 * k, 3 * k + 9);
  }
  geometry.setAttribute("color", new THREE.BufferAttribute(colors, 3));
  return geometry;
}

function plain(geometry) {
  const n = geometry.attributes.position.count;
  geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(3 * n).fill(1), 3));
  return geometry;
}

const wedge = (x, y) => Math.floor((Math.atan2(y, x) / Math.PI) * 2 + 4) % 2 === 0;
const octant = (x, y, z) => wedge(x, y) === z > 0;

// The axis of round solids is y in three.js, z in perp.
const upright = (geometry) => geometry.rotateX(Math.PI / 2);

// Sectors need separate faces.
const faceted = (geometry) => geometry.toNonIndexed();

function ball(detail) {
  return sectors(faceted(new THREE.SphereGeometry(1, detail, detail / 2).rotateX(Math.PI / 2)), octant);
}

export function fan(run, shape) {
  const index = [];
  let from = 0;
  for (let f = 0; f < shape.faces; f++) {
    const to = run.cornerEnd[shape.face + f];
    const c = (k) => run.corner[shape.corner + k];
    for (let k = from + 1; k + 1 < to; k++) index.push(c(from), c(k), c(k + 1));
    from = to;
  }
  return index;
}

function hull(run, shape) {
  const geometry = new THREE.BufferGeometry();
  const points = run.outline.slice(3 * shape.vertex, 3 * (shape.vertex + shape.vertices));
  geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(points), 3));
  geometry.setIndex(fan(run, shape));
  const flat = geometry.toNonIndexed();
  flat.computeVertexNormals();
  return plain(flat);
}

// {key, geometry, scale, local}: shapes with the same key share a geometry; local: the outline is already in the
// body frame.
export function solidOf(run, shape, fine) {
  const { half, radius } = shape;
  const round = fine ? 32 : 14;
  switch (shape.kind) {
    case "sphere":
      return { key: "ball", make: () => ball(round), scale: [radius, radius, radius] };
    case "ellipsoid":
      return { key: "ball", make: () => ball(round), scale: half };
    case "box":
      return { key: "box", make: () => plain(new THREE.BoxGeometry(2, 2, 2).toNonIndexed()), scale: half, edges: true };
    case "cylinder":
      return {
        key: "cylinder",
        make: () => sectors(faceted(upright(new THREE.CylinderGeometry(1, 1, 2, round))), wedge),
        scale: [radius, radius, half[2]],
        edges: true,
      };
    case "cone":
      return {
        key: "cone",
        make: () => sectors(faceted(upright(new THREE.ConeGeometry(1, 2, round))), wedge),
        scale: [radius, radius, half[2]],
        edges: true,
      };
    case "capsule":
      return {
        key: `capsule ${radius} ${half[2]}`,
        make: () => sectors(faceted(upright(new THREE.CapsuleGeometry(radius, 2 * half[2], fine ? 8 : 4, round))), wedge),
        scale: [1, 1, 1],
      };
    case "hull":
    case "mesh":
    case "heightfield":
      return { key: `own ${shape.vertex}`, make: () => hull(run, shape), scale: [1, 1, 1], local: true, edges: shape.kind === "hull" };
    default: {
      const r = Math.max(radius, fine ? 0.004 : 0.002);
      return { key: "dot", make: () => plain(faceted(new THREE.SphereGeometry(1, 8, 6))), scale: [r, r, r] };
    }
  }
}
