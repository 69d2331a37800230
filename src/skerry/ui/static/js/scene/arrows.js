// @ts-check
// Geometry of arrows as line segments: a shaft and four barbs. No drawing.

const BARB = 0.18; // length of a barb as a fraction of the shaft
const LONGEST_BARB = 0.35; // largest length of a barb, m
const SPREAD = 0.45; // sideways offset of a barb as a fraction of its length

/**
 * Compute five segments for each arrow.
 * @param {Float32Array} ends xyz of tail, xyz of tip
 * @param {Uint8Array} [colours] rgba of each
 * @returns {[Float32Array, Uint8Array | undefined]} ends and colours of the segments
 */
export function arrows(ends, colours) {
  const count = ends.length / 6;
  const lines = new Float32Array(30 * count);
  for (let i = 0; i < count; i++) {
    const [ax, ay, az, bx, by, bz] = ends.subarray(6 * i, 6 * i + 6);
    lines.set([ax, ay, az, bx, by, bz], 30 * i);
    const length = Math.hypot(bx - ax, by - ay, bz - az) || 1e-9;
    const [x, y, z] = [(bx - ax) / length, (by - ay) / length, (bz - az) / length];
    const barb = Math.min(BARB * length, LONGEST_BARB);
    // Two directions perpendicular to the shaft and to each other.
    const [sx, sy, sz] = Math.abs(z) < 0.9 ? unit(y, -x, 0) : unit(0, z, -y);
    const [tx, ty, tz] = [y * sz - z * sy, z * sx - x * sz, x * sy - y * sx];
    [
      [sx, sy, sz],
      [-sx, -sy, -sz],
      [tx, ty, tz],
      [-tx, -ty, -tz],
    ].forEach(([ox, oy, oz], j) => {
      const root = [bx - barb * (x - SPREAD * ox), by - barb * (y - SPREAD * oy), bz - barb * (z - SPREAD * oz)];
      lines.set([...root, bx, by, bz], 30 * i + 6 * (j + 1));
    });
  }
  if (!colours) return [lines, undefined];
  const shades = new Uint8Array(20 * count);
  for (let i = 0; i < 5 * count; i++)
    shades.set(colours.subarray(4 * Math.floor(i / 5), 4 * Math.floor(i / 5) + 4), 4 * i);
  return [lines, shades];
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} z
 */
function unit(x, y, z) {
  const norm = Math.hypot(x, y, z) || 1;
  return [x / norm, y / norm, z / norm];
}
