// @ts-check
// Overlay with bubbles behind turning propellers, from the speed of each propeller. The physics has no bubbles.

import { Quaternion, Vector3 } from "../../vendor/three.module.js";
import { PointCloud } from "./points.js";

const KINDS = new Set(["propeller", "thruster", "shaft"]);
const LIFE = 1.6; // lifetime of a bubble, s
const MAX_BUBBLES = 3000; // number of bubbles at the same time
const RATE = 90; // bubbles per second of a propeller at full speed
const FULL = 1500; // rpm above which the bubbles do not increase
const SPEED = 2.2; // initial speed of bubbles at full propeller speed, m/s
const SLOWING = 1.1; // decay rate of the speed of bubbles, 1/s
const RISING = 0.12; // speed at which bubbles rise, m/s

export class Wash {
  name = "wash";
  #cloud = new PointCloud({
    capacity: MAX_BUBBLES,
    metres: 0.09,
    least: 2,
    most: 14,
    life: LIFE,
    colour: 0xe8f6ff,
    soft: true,
  });
  object = this.#cloud.object;
  #velocities = new Float32Array(3 * MAX_BUBBLES);
  #owed = 0;
  #place = new Vector3();
  #turn = new Quaternion();
  #along = new Vector3();

  /** @param {import("./view.js").View} view */
  constructor(view) {
    this.view = view;
  }

  /** @param {number} seconds */
  update(seconds) {
    this.#cloud.tick(this.view.poses.time);
    if (seconds <= 0 || seconds > 1) return;
    this.#drift(seconds);
    const { scene, state, bodies } = this.view;
    for (const robot of scene?.robots ?? []) {
      for (const { name, kind, link, unit } of robot.actuators) {
        if (!KINDS.has(kind)) continue;
        const speed = state?.robots[robot.name]?.actuators[name]?.value ?? 0;
        const share = Math.max(-1, Math.min(1, unit === "rpm" ? speed / FULL : speed));
        const frame = robot.frames.find((/** @type {any} */ each) => each.name === link);
        if (Math.abs(share) < 0.02 || !frame || !bodies.locate(frame, this.#place, this.#turn)) continue;
        if (this.#isWet()) this.#blow(share, seconds);
      }
    }
  }

  clear() {
    this.#cloud.clear();
  }

  #isWet() {
    const { sea, uniforms } = this.view.viewport.medium;
    return sea !== null && this.#place.z < sea.height(this.#place.x, this.#place.y, uniforms.seconds.value);
  }

  /**
   * @param {number} share speed as a fraction of the full speed, negative for astern
   * @param {number} seconds
   */
  #blow(share, seconds) {
    this.#owed += RATE * Math.abs(share) * seconds;
    const count = Math.floor(this.#owed);
    this.#owed -= count;
    this.#along.set(-Math.sign(share), 0, 0).applyQuaternion(this.#turn);
    const first = this.#cloud.next;
    this.#cloud.add(
      count,
      (_, out, at) => {
        for (let c = 0; c < 3; c++) out[at + c] = this.#place.getComponent(c) + 0.08 * (Math.random() - 0.5);
      },
      () => this.view.poses.time - 0.2 * LIFE * Math.random(),
    );
    for (let n = 0; n < count; n++) {
      const at = 3 * ((first + n) % MAX_BUBBLES);
      const speed = SPEED * Math.abs(share) * (0.6 + 0.6 * Math.random());
      for (let c = 0; c < 3; c++) {
        this.#velocities[at + c] = speed * (this.#along.getComponent(c) + 0.35 * (Math.random() - 0.5));
      }
    }
  }

  /** @param {number} seconds */
  #drift(seconds) {
    const positions = this.#cloud.object.geometry.getAttribute("position");
    const slowed = Math.exp(-SLOWING * seconds);
    for (let at = 0; at < 3 * this.#cloud.filled; at += 3) {
      for (let c = 0; c < 3; c++) {
        positions.array[at + c] += this.#velocities[at + c] * seconds;
        this.#velocities[at + c] *= slowed;
      }
      positions.array[at + 2] += RISING * seconds;
    }
    positions.needsUpdate = true;
  }
}
