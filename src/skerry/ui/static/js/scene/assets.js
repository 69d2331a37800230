// @ts-check
// Loader of meshes and grids. Their addresses contain a hash of their bytes, so that the browser caches them.

import { BufferAttribute, BufferGeometry } from "../../vendor/three.module.js";
import { creasedNormals } from "./normals.js";

/**
 * @param {string} path
 * @returns {Promise<ArrayBuffer>}
 */
export async function fetchBytes(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`${path}: the server returned status ${answer.status}; reload the page`);
  return answer.arrayBuffer();
}

/**
 * Decode a mesh: u32 vertices, u32 triangles, f32 xyz and u8 rgba per vertex, u32 × 3 per triangle.
 * @param {ArrayBuffer} buffer
 */
export function readMesh(buffer) {
  const [vertices, triangles] = new Uint32Array(buffer, 0, 2);
  return {
    positions: new Float32Array(buffer, 8, 3 * vertices),
    colours: new Uint8Array(buffer, 8 + 12 * vertices, 4 * vertices),
    triangles: new Uint32Array(buffer, 8 + 16 * vertices, 3 * triangles),
  };
}

/**
 * @param {string} path
 * @returns {Promise<BufferGeometry>}
 */
export async function meshGeometry(path) {
  const { positions, colours, triangles } = readMesh(await fetchBytes(path));
  const corners = triangles.length;
  const places = new Float32Array(3 * corners);
  const shades = new Uint8Array(3 * corners);
  triangles.forEach((vertex, corner) => {
    for (let c = 0; c < 3; c++) {
      places[3 * corner + c] = positions[3 * vertex + c];
      shades[3 * corner + c] = Math.round(255 * (colours[4 * vertex + c] / 255) ** 2.2); // sRGB to linear light
    }
  });
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(places, 3));
  geometry.setAttribute("normal", new BufferAttribute(creasedNormals(positions, triangles), 3));
  geometry.setAttribute("color", new BufferAttribute(shades, 3, true));
  return geometry;
}
