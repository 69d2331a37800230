// @ts-check
// Camera of the view: free, follow, chase, top, or through a sensor. All movements are smoothed.

import { Matrix4, Quaternion, Vector3 } from "../../vendor/three.module.js";
import { approach, eye, fly, pan, orbitOf, turn, zoom } from "./orbit.js";

/** @typedef {import("./orbit.js").Orbit} Orbit */

const SETTLING = 0.12; // time constant of the camera's smoothing, s
const TURNING = 0.005; // rotation by a drag, rad per pixel
const ZOOMING = 0.0012; // relative change of the distance per unit of the wheel
const FIELD_OF_VIEW = 55; // vertical field of view, degrees
const CHASE_PITCH = 0.3; // pitch of the chase view, rad
const CLEARANCE = 0.25; // smallest height of the camera above the terrain, m
/** Keys that fly the camera, by their position on the keyboard: forward, right, up. @type {Record<string, [number, number, number]>} */
const FLIGHT = {
  KeyW: [1, 0, 0],
  KeyS: [-1, 0, 0],
  KeyD: [0, 1, 0],
  KeyA: [0, -1, 0],
  KeyE: [0, 0, 1],
  KeyQ: [0, 0, -1],
};
/** Keys with Alt: drag of the mouse in x and y, pixels, and movement of the wheel that have the same effect. @type {Record<string, [number, number, number]>} */
const ALT_KEYS = {
  ArrowLeft: [40, 0, 0],
  ArrowRight: [-40, 0, 0],
  ArrowUp: [0, 40, 0],
  ArrowDown: [0, -40, 0],
  Equal: [0, 0, -200],
  NumpadAdd: [0, 0, -200],
  Minus: [0, 0, 200],
  NumpadSubtract: [0, 0, 200],
};
// A camera of three.js looks along −z with y up; a sensor looks along x with z up.
const SENSOR_TO_CAMERA = new Quaternion().setFromRotationMatrix(
  new Matrix4().makeBasis(new Vector3(0, -1, 0), new Vector3(0, 0, 1), new Vector3(-1, 0, 0)),
);

export class CameraRig {
  /** Target of the smoothing; `#now` is the present orbit. @type {Orbit} */
  #goal = orbitOf([-8, -8, 5], [0, 0, 0]);
  /** @type {Orbit} */
  #now = this.#goal;
  #last = new Vector3();
  #followed = "";
  #heading = NaN;
  #flying = false;
  /** @type {Set<string>} */
  #held = new Set();
  #speed = 6; // m/s

  /**
   * @param {{camera: import("../../vendor/three.module.js").PerspectiveCamera, store: import("../store.js").Store}} parts
   */
  constructor({ camera, store }) {
    this.camera = camera;
    this.store = store;
    this.focus = new Vector3();
    store.on("camera", ({ mode }) => this.#enter(mode));
    // In the capture phase, so that the keys of the camera do not reach the robot.
    addEventListener("keydown", (event) => this.#press(event), { capture: true });
    addEventListener("keyup", (event) => this.#held.delete(event.code), { capture: true });
    addEventListener("blur", () => this.#held.clear());
  }

  /**
   * @param {{position: number[], target: number[]} | null | undefined} view the scene's `start_view`
   * @param {{level?: number, size?: number}} [about] level of the water, m: a target below it is viewed from below
   *   it; and size of the robot, m
   */
  start(view, { level = -Infinity, size = 2 } = {}) {
    if (view) {
      const position = [...view.position];
      if (view.target[2] < level - 1) position[2] = Math.min(position[2], view.target[2] + 2);
      this.#now = this.#goal = { ...orbitOf(position, view.target), distance: Math.min(40, Math.max(2.5, 2.6 * size)) };
    }
    this.#enter(this.mode);
  }

  get mode() {
    return this.store.get("camera").mode;
  }

  /** Point the camera at a position, from its present position or from another one. @param {number[]} target @param {number[]} [position] */
  lookAt(target, position = eye(this.#goal)) {
    this.store.set("camera", { mode: "free" });
    this.#goal = orbitOf(position, target);
  }

  /** Skip the smoothing, for pictures. */
  settle() {
    this.#now = this.#goal;
  }

  /** @param {number} dx pixels @param {number} dy pixels */
  orbit(dx, dy) {
    if (this.mode === "top") {
      const metres = (2 * this.#goal.distance * Math.tan((FIELD_OF_VIEW * Math.PI) / 360)) / innerHeight;
      this.store.set("camera", { mode: "free" });
      this.#goal = {
        ...this.#goal,
        focus: [this.#goal.focus[0] - dx * metres, this.#goal.focus[1] + dy * metres, this.#goal.focus[2]],
      };
      return;
    }
    this.#goal = turn(this.#goal, -dx * TURNING, dy * TURNING);
  }

  /** @param {number} dx pixels @param {number} dy pixels */
  pan(dx, dy) {
    this.#free();
    this.#goal = pan(this.#goal, -0.6 * dx * TURNING, -0.6 * dy * TURNING);
    this.#now = { ...this.#goal, focus: [...this.#goal.focus] };
  }

  /** @param {number} amount movement of the wheel */
  zoom(amount) {
    if (this.#flying) this.#speed = Math.min(200, Math.max(0.3, this.#speed * Math.exp(-amount * ZOOMING)));
    else this.#goal = zoom(this.#goal, Math.exp(amount * ZOOMING));
  }

  /** @param {boolean} flying whether the right button is held */
  fly(flying) {
    this.#flying = flying;
    if (!flying) this.#held.clear();
  }

  /**
   * @param {number} seconds since the last frame
   * @param {{bodies: import("./bodies.js").Bodies, scene: any, terrain: import("./terrain.js").Terrain | null}} world
   */
  update(seconds, { bodies, scene, terrain }) {
    const { mode, robot: named, sensor } = this.store.get("camera");
    const robot =
      scene?.robots.find((/** @type {any} */ each) => each.name === (named ?? this.store.get("robot"))) ??
      scene?.robots[0];
    const body = robot ? bodies.bodies[robot.body] : null;
    if (
      mode === "sensor" &&
      this.#lookThrough(
        robot?.sensors.find((/** @type {any} */ each) => each.name === sensor),
        bodies,
      )
    )
      return;
    if (mode !== "free" && body?.visible) this.#track(robot.name, body, mode);
    if (this.#held.size) this.#flyOn(seconds);
    this.#stayAboveGround(terrain);
    this.#now = approach(this.#now, this.#goal, 1 - Math.exp(-seconds / SETTLING));
    this.#place();
  }

  /** @param {string} mode */
  #enter(mode) {
    this.#heading = NaN;
    if (mode === "top")
      this.#goal = { ...this.#goal, yaw: -Math.PI / 2, pitch: 1.553, distance: Math.max(this.#goal.distance, 40) };
    else if (this.#goal.pitch > 1.5)
      this.#goal = { ...this.#goal, pitch: 0.5, distance: Math.min(this.#goal.distance, 15) };
    if (mode === "chase")
      this.#goal = { ...this.#goal, pitch: CHASE_PITCH, distance: Math.min(this.#goal.distance, 12) };
    this.#followed = "";
  }

  #free() {
    if (this.mode === "free") return;
    // Start from the present view, also after the view through a sensor.
    const forwards = this.camera.getWorldDirection(new Vector3());
    const position = this.camera.position.toArray();
    const distance = this.#goal.distance;
    this.store.set("camera", { mode: "free" });
    this.#goal = this.#now = orbitOf(
      position,
      position.map((each, i) => each + distance * forwards.getComponent(i)),
    );
  }

  /**
   * Move with a robot, without smoothing, so that it does not move in the picture. Only a change of the robot is smoothed.
   * @param {string} name
   * @param {import("../../vendor/three.module.js").Group} body
   * @param {string} mode
   */
  #track(name, body, mode) {
    const { position } = body;
    const move = this.#followed === name ? position.clone().sub(this.#last) : new Vector3();
    const jumped = move.length() > 20;
    this.#goal = shifted(this.#goal, move);
    this.#now = shifted(this.#now, move);
    if (this.#followed !== name || jumped) this.#goal = { ...this.#goal, focus: position.toArray() };
    this.#followed = name;
    this.#last.copy(position);
    if (mode !== "chase") return;
    const forwards = new Vector3(1, 0, 0).applyQuaternion(body.quaternion);
    const heading = Math.atan2(forwards.y, forwards.x);
    const turned = Number.isNaN(this.#heading) ? heading + Math.PI - this.#goal.yaw : heading - this.#heading;
    this.#goal = { ...this.#goal, yaw: this.#goal.yaw + turned };
    this.#heading = heading;
  }

  /**
   * @param {any} sensor
   * @param {import("./bodies.js").Bodies} bodies
   */
  #lookThrough(sensor, bodies) {
    if (!sensor?.pose) return false;
    const { camera } = this;
    bodies.locate(sensor.pose, camera.position, camera.quaternion);
    camera.quaternion.multiply(SENSOR_TO_CAMERA);
    this.focus.set(0, 0, -5).applyQuaternion(camera.quaternion).add(camera.position);
    this.#open(sensor.display.find((/** @type {any} */ each) => each.vertical_fov_deg)?.vertical_fov_deg ?? FIELD_OF_VIEW);
    return true;
  }

  /** @param {number} seconds */
  #flyOn(seconds) {
    this.#free();
    const step = this.#speed * seconds;
    let [forwards, right, up] = [0, 0, 0];
    for (const key of this.#held) {
      forwards += step * FLIGHT[key][0];
      right += step * FLIGHT[key][1];
      up += step * FLIGHT[key][2];
    }
    this.#goal = fly(this.#goal, forwards, right, up);
  }

  /** @param {import("./terrain.js").Terrain | null} terrain */
  #stayAboveGround(terrain) {
    const [x, y, z] = eye(this.#goal);
    const buried = (terrain?.height(x, y) ?? NaN) + CLEARANCE - z;
    if (!(buried > 0)) return;
    const sine = Math.sin(this.#goal.pitch) + buried / this.#goal.distance;
    if (this.mode === "free" || sine > 1) this.#goal = fly(this.#goal, 0, 0, buried);
    else this.#goal = { ...this.#goal, pitch: Math.asin(sine) };
  }

  #place() {
    const { camera } = this;
    this.focus.fromArray(this.#now.focus);
    camera.position.fromArray(eye(this.#now));
    camera.up.set(0, 0, 1);
    camera.lookAt(this.focus);
    this.#open(FIELD_OF_VIEW);
  }

  /** @param {number} field vertical field of view, degrees */
  #open(field) {
    if (this.camera.fov === field) return;
    this.camera.fov = field;
    this.camera.updateProjectionMatrix();
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (event.altKey && event.code in ALT_KEYS) {
      const [across, down, wheel] = ALT_KEYS[event.code];
      if (wheel) this.zoom(wheel);
      else this.orbit(across, down);
    } else if (this.#flying && event.code in FLIGHT) {
      this.#held.add(event.code);
    } else {
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}

/**
 * @param {Orbit} orbit
 * @param {Vector3} move
 * @returns {Orbit}
 */
function shifted(orbit, { x, y, z }) {
  return { ...orbit, focus: [orbit.focus[0] + x, orbit.focus[1] + y, orbit.focus[2] + z] };
}
