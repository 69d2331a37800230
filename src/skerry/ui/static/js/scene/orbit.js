// @ts-check
// Orbit of a camera around a focus: turn, pan, fly and zoom. No drawing.

/** @typedef {[number, number, number]} Vector */

const STEEPEST = 1.553; // largest pitch, rad (89°)
const CLOSEST = 0.4; // smallest distance, m
const FARTHEST = 4000; // largest distance, m

/**
 * Focus, and the position of the camera relative to it: yaw (anticlockwise from east), pitch (upwards), distance.
 * @typedef {{focus: Vector, yaw: number, pitch: number, distance: number}} Orbit
 */

/**
 * Return the unit vector from the focus to the camera.
 * @param {Orbit} orbit
 * @returns {Vector}
 */
export function wayOut({ yaw, pitch }) {
  return [Math.cos(pitch) * Math.cos(yaw), Math.cos(pitch) * Math.sin(yaw), Math.sin(pitch)];
}

/**
 * Return the position of the camera.
 * @param {Orbit} orbit
 * @returns {Vector}
 */
export function eye(orbit) {
  const out = wayOut(orbit);
  return /** @type {Vector} */ (orbit.focus.map((focus, i) => focus + orbit.distance * out[i]));
}

/**
 * @param {number[]} position position of the camera
 * @param {number[]} focus
 * @returns {Orbit}
 */
export function orbitOf(position, focus) {
  const [x, y, z] = position.map((each, i) => each - focus[i]);
  const distance = Math.hypot(x, y, z);
  return withinLimits({
    focus: /** @type {Vector} */ ([...focus]),
    yaw: Math.atan2(y, x),
    pitch: Math.asin(z / Math.max(distance, 1e-9)),
    distance,
  });
}

/**
 * Turn the camera around its focus.
 * @param {Orbit} orbit
 * @param {number} left rad
 * @param {number} up rad
 * @returns {Orbit}
 */
export function turn(orbit, left, up) {
  return withinLimits({ ...orbit, yaw: orbit.yaw + left, pitch: orbit.pitch + up });
}

/**
 * Turn the camera around its own position.
 * @param {Orbit} orbit
 * @param {number} left rad
 * @param {number} up rad
 * @returns {Orbit}
 */
export function pan(orbit, left, up) {
  const position = eye(orbit);
  const turned = turn(orbit, left, -up);
  const out = wayOut(turned);
  return { ...turned, focus: /** @type {Vector} */ (position.map((each, i) => each - turned.distance * out[i])) };
}

/**
 * Move camera and focus: forward along the view, right, and up in the world.
 * @param {Orbit} orbit
 * @param {number} forwards m
 * @param {number} right m
 * @param {number} up m
 * @returns {Orbit}
 */
export function fly(orbit, forwards, right, up) {
  const out = wayOut(orbit);
  const [x, y, z] = orbit.focus;
  const [sine, cosine] = [Math.sin(orbit.yaw), Math.cos(orbit.yaw)];
  return {
    ...orbit,
    focus: [x - forwards * out[0] - right * sine, y - forwards * out[1] + right * cosine, z - forwards * out[2] + up],
  };
}

/**
 * @param {Orbit} orbit
 * @param {number} factor factor on the distance
 * @returns {Orbit}
 */
export function zoom(orbit, factor) {
  return withinLimits({ ...orbit, distance: orbit.distance * factor });
}

/**
 * Interpolate between two orbits, along the shorter direction of yaw.
 * @param {Orbit} from
 * @param {Orbit} to
 * @param {number} share
 * @returns {Orbit}
 */
export function approach(from, to, share) {
  const turned = ((((to.yaw - from.yaw + Math.PI) % (2 * Math.PI)) + 2 * Math.PI) % (2 * Math.PI)) - Math.PI;
  return {
    focus: /** @type {Vector} */ (from.focus.map((each, i) => each + share * (to.focus[i] - each))),
    yaw: from.yaw + share * turned,
    pitch: from.pitch + share * (to.pitch - from.pitch),
    distance: from.distance * (to.distance / from.distance) ** share,
  };
}

/** @param {Orbit} orbit @returns {Orbit} */
function withinLimits({ focus, yaw, pitch, distance }) {
  return {
    focus,
    yaw,
    pitch: Math.max(-STEEPEST, Math.min(STEEPEST, pitch)),
    distance: Math.max(CLOSEST, Math.min(FARTHEST, distance)),
  };
}
