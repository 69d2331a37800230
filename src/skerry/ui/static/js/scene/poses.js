// @ts-check
// Interpolation of poses between the last two messages, for smooth motion.

const JUMP = 5; // m between two messages above which a body was teleported and is not interpolated
const LONGEST_GAP = 500; // ms without a message after which the newest pose is shown without interpolation

export class Poses {
  /** Poses of the bodies at the last `sample`: xyz, xyzw each. */
  current = new Float32Array(0);
  /** Simulated time at the last `sample`, s. */
  time = 0;

  /** @type {{time: number, poses: Float32Array, arrived: number} | null} */
  #before = null;
  /** @type {{time: number, poses: Float32Array, arrived: number} | null} */
  #last = null;

  get count() {
    return this.current.length / 7;
  }

  clear() {
    this.#before = this.#last = null;
    this.current = new Float32Array(0);
  }

  /**
   * @param {{time: number, poses: Float32Array}} message
   * @param {number} now ms
   */
  push({ time, poses }, now) {
    const last = this.#last;
    const continues = last !== null && time >= last.time && poses.length === last.poses.length;
    // Interpolate from the poses that are drawn now, so that bodies do not jump when messages arrive unevenly.
    this.#before = continues ? { time: this.time, poses: this.current.slice(), arrived: last.arrived } : null;
    if (this.#before && this.#before.poses.length !== poses.length) this.#before = null;
    this.#last = { time, poses, arrived: now };
    if (this.current.length !== poses.length) this.current = new Float32Array(poses.length);
  }

  /**
   * Interpolate `current` and `time` for the present frame.
   * @param {number} now ms
   * @returns {boolean} whether there are poses
   */
  sample(now) {
    const before = this.#before;
    const last = this.#last;
    if (last === null) return false;
    const gap = before === null ? 0 : last.arrived - before.arrived;
    const share = before === null || gap <= 0 || gap > LONGEST_GAP ? 1 : Math.min(1, (now - last.arrived) / gap);
    if (before === null || share === 1) {
      this.current.set(last.poses);
      this.time = last.time;
      return true;
    }
    this.time = before.time + share * (last.time - before.time);
    for (let i = 0; i < last.poses.length; i += 7) between(before.poses, last.poses, i, share, this.current);
    return true;
  }
}

/**
 * Interpolate positions linearly, and orientations by the normalised mean along the shorter arc. Over a thirtieth of a second
 * the difference from spherical interpolation is invisible.
 * @param {Float32Array} from
 * @param {Float32Array} to
 * @param {number} i offset of the pose in the arrays
 * @param {number} share
 * @param {Float32Array} out
 */
function between(from, to, i, share, out) {
  const jump = Math.hypot(to[i] - from[i], to[i + 1] - from[i + 1], to[i + 2] - from[i + 2]) > JUMP;
  const s = jump ? 1 : share;
  for (let j = i; j < i + 3; j++) out[j] = from[j] + s * (to[j] - from[j]);
  let dot = 0;
  for (let j = i + 3; j < i + 7; j++) dot += from[j] * to[j];
  const sign = dot < 0 ? -1 : 1;
  let norm = 0;
  for (let j = i + 3; j < i + 7; j++) {
    out[j] = (1 - s) * from[j] + s * sign * to[j];
    norm += out[j] * out[j];
  }
  norm = Math.sqrt(norm) || 1;
  for (let j = i + 3; j < i + 7; j++) out[j] /= norm;
}
