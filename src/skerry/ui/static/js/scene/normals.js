// @ts-check
// Normals of triangle meshes: smooth on round parts, sharp at edges.

/**
 * Compute the normal of each corner: the mean, weighted by area, of the adjacent faces whose normals are within an angle of
 * that of its own face.
 * @param {Float32Array} positions xyz per vertex
 * @param {Uint32Array} triangles three vertices each
 * @param {number} [crease] largest angle between the normals, rad
 * @returns {Float32Array} one normal per corner of a triangle
 */
export function creasedNormals(positions, triangles, crease = 0.6) {
  const faces = triangles.length / 3;
  const areas = new Float32Array(triangles.length); // normals of the faces, with a length of twice their area
  const lengths = new Float32Array(faces);
  for (let face = 0; face < faces; face++) {
    const [a, b, c] = [3 * triangles[3 * face], 3 * triangles[3 * face + 1], 3 * triangles[3 * face + 2]];
    const ux = positions[b] - positions[a],
      uy = positions[b + 1] - positions[a + 1],
      uz = positions[b + 2] - positions[a + 2];
    const vx = positions[c] - positions[a],
      vy = positions[c + 1] - positions[a + 1],
      vz = positions[c + 2] - positions[a + 2];
    areas[3 * face] = uy * vz - uz * vy;
    areas[3 * face + 1] = uz * vx - ux * vz;
    areas[3 * face + 2] = ux * vy - uy * vx;
    lengths[face] = Math.sqrt(areas[3 * face] ** 2 + areas[3 * face + 1] ** 2 + areas[3 * face + 2] ** 2);
  }
  const next = cornersInOnePlace(positions, triangles);
  const normals = new Float32Array(3 * triangles.length);
  const least = Math.cos(crease);
  for (let corner = 0; corner < triangles.length; corner++) {
    const own = 3 * Math.floor(corner / 3);
    const length = lengths[own / 3];
    let x = 0,
      y = 0,
      z = 0;
    let other = corner;
    do {
      const face = 3 * Math.floor(other / 3);
      const dot = areas[own] * areas[face] + areas[own + 1] * areas[face + 1] + areas[own + 2] * areas[face + 2];
      if (dot >= least * length * lengths[face / 3]) {
        x += areas[face];
        y += areas[face + 1];
        z += areas[face + 2];
      }
      other = next[other];
    } while (other !== corner);
    const norm = Math.sqrt(x * x + y * y + z * z) || 1;
    normals[3 * corner] = x / norm;
    normals[3 * corner + 1] = y / norm;
    normals[3 * corner + 2] = z / norm;
  }
  return normals;
}

/**
 * Link all corners at the same position in rings, also if the mesh has several vertices there.
 * @param {Float32Array} positions
 * @param {Uint32Array} triangles
 */
function cornersInOnePlace(positions, triangles) {
  const next = new Uint32Array(triangles.length);
  // Hash table with open addressing. A Map would need strings as keys, which is slow.
  const mask = 2 ** Math.ceil(Math.log2(2 * triangles.length + 2)) - 1;
  const heads = new Int32Array(mask + 1).fill(-1);
  const place = new Float32Array(3);
  const bits = new Int32Array(place.buffer);
  for (let corner = 0; corner < triangles.length; corner++) {
    const at = 3 * triangles[corner];
    for (let c = 0; c < 3; c++) place[c] = positions[at + c] + 0; // turns −0 into 0
    let hash = Math.imul(bits[0], 73856093) ^ Math.imul(bits[1], 19349663) ^ Math.imul(bits[2], 83492791);
    hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b); // round numbers differ only in their upper bits
    for (let slot = (hash ^ (hash >>> 16)) & mask; ; slot = (slot + 1) & mask) {
      const head = heads[slot];
      if (head < 0) {
        heads[slot] = next[corner] = corner;
        break;
      }
      const there = 3 * triangles[head];
      if (place.every((each, c) => each === positions[there + c])) {
        next[corner] = next[head];
        next[head] = corner;
        break;
      }
    }
  }
  return next;
}
