// @ts-check
// Poses of frames in the world, from their poses in their parents. No drawing.

/**
 * @param {{parent: number, child: number, pose: ArrayLike<number>}[]} transforms pose of each child in its parent: xyz, xyzw
 * @returns {Map<number, number[]>} poses by frame, without the root frames, which are at the origin
 */
export function worldPoses(transforms) {
  const byChild = new Map(transforms.map((each) => [each.child, each]));
  /** @type {Map<number, number[]>} */
  const found = new Map();
  /** @type {(frame: number, seen: Set<number>) => number[] | undefined} */
  const resolve = (frame, seen) => {
    const known = found.get(frame);
    const own = byChild.get(frame);
    if (known || !own) return known;
    if (seen.has(frame)) return undefined; // a cycle of frames has no pose
    const parent = resolve(own.parent, seen.add(frame));
    const pose = parent ? compose(parent, own.pose) : Array.from(own.pose);
    found.set(frame, pose);
    return pose;
  };
  for (const frame of byChild.keys()) resolve(frame, new Set());
  return found;
}

/**
 * Compose two poses.
 * @param {ArrayLike<number>} outer
 * @param {ArrayLike<number>} inner
 * @returns {number[]}
 */
export function compose(outer, inner) {
  const [, , , qx, qy, qz, qw] = Array.from(outer);
  const [x, y, z, px, py, pz, pw] = Array.from(inner);
  // v + 2 w (q × v) + 2 q × (q × v)
  const [cx, cy, cz] = [2 * (qy * z - qz * y), 2 * (qz * x - qx * z), 2 * (qx * y - qy * x)];
  return [
    outer[0] + x + qw * cx + qy * cz - qz * cy,
    outer[1] + y + qw * cy + qz * cx - qx * cz,
    outer[2] + z + qw * cz + qx * cy - qy * cx,
    qw * px + qx * pw + qy * pz - qz * py,
    qw * py - qx * pz + qy * pw + qz * px,
    qw * pz + qx * py - qy * px + qz * pw,
    qw * pw - qx * px - qy * py - qz * pz,
  ];
}
