// @ts-check
// Normals of triangle meshes: smooth over round parts, sharp over edges.

/**
 * Each corner gets the mean normal of the faces around its place that lie within an angle of its own face, weighted by
 * their area.
 * @param {Float32Array} positions xyz per vertex
 * @param {Uint32Array} triangles three vertices each
 * @param {number} [crease] rad
 * @returns {Float32Array} one normal per corner of a triangle
 */
export function creasedNormals(positions, triangles, crease = 0.6) {
  const faces = triangles.length / 3;
  const areas = new Float32Array(triangles.length); // normals of faces, as long as twice their area
  for (let face = 0; face < faces; face++) {
    const [a, b, c] = [3 * triangles[3 * face], 3 * triangles[3 * face + 1], 3 * triangles[3 * face + 2]];
    const ux = positions[b] - positions[a], uy = positions[b + 1] - positions[a + 1], uz = positions[b + 2] - positions[a + 2];
    const vx = positions[c] - positions[a], vy = positions[c + 1] - positions[a + 1], vz = positions[c + 2] - positions[a + 2];
    areas[3 * face] = uy * vz - uz * vy;
    areas[3 * face + 1] = uz * vx - ux * vz;
    areas[3 * face + 2] = ux * vy - uy * vx;
  }
  const around = cornersByPlace(positions, triangles);
  const normals = new Float32Array(3 * triangles.length);
  const least = Math.cos(crease);
  for (const corners of around.values()) {
    for (const corner of corners) {
      const own = 3 * Math.floor(corner / 3);
      const length = Math.hypot(areas[own], areas[own + 1], areas[own + 2]);
      let x = 0, y = 0, z = 0;
      for (const other of corners) {
        const face = 3 * Math.floor(other / 3);
        const dot = areas[own] * areas[face] + areas[own + 1] * areas[face + 1] + areas[own + 2] * areas[face + 2];
        if (dot < least * length * Math.hypot(areas[face], areas[face + 1], areas[face + 2])) continue;
        x += areas[face];
        y += areas[face + 1];
        z += areas[face + 2];
      }
      const norm = Math.hypot(x, y, z) || 1;
      normals[3 * corner] = x / norm;
      normals[3 * corner + 1] = y / norm;
      normals[3 * corner + 2] = z / norm;
    }
  }
  return normals;
}

/**
 * Corners of faces that lie in one place, whether or not the mesh knows them as one vertex.
 * @param {Float32Array} positions
 * @param {Uint32Array} triangles
 */
function cornersByPlace(positions, triangles) {
  /** @type {Map<string, number[]>} */
  const found = new Map();
  triangles.forEach((vertex, corner) => {
    const key = `${positions[3 * vertex]},${positions[3 * vertex + 1]},${positions[3 * vertex + 2]}`;
    const corners = found.get(key);
    if (corners) corners.push(corner);
    else found.set(key, [corner]);
  });
  return found;
}
