// @ts-check
// Overlay with the point clouds of the chosen robot's lidars and sonars, coloured by height.

import { Group } from "../../vendor/three.module.js";
import { PointCloud } from "./points.js";

const LINE = 2048; // largest number of points of a single line or fan; such clouds are kept for a while
const LIFE = 60; // simulated time for which lines are kept, s

export class Clouds {
  name = "clouds";
  chosenOnly = true;
  hz = 8;
  object = new Group();
  /** Clouds by stream. @type {Map<string, PointCloud>} */
  #clouds = new Map();

  /** @param {import("./view.js").View} view */
  constructor(view) {
    this.view = view;
  }

  /** @param {{display?: {kind: string}}} stream */
  accepts({ display }) {
    return display?.kind === "cloud";
  }

  /**
   * @param {import("../protocol.js").Message} message
   * @param {{name: string}} stream
   */
  receive({ count = 0, scale = 1, origin, offsets, time }, { name }) {
    if (!origin || !offsets) return;
    let cloud = this.#clouds.get(name);
    if (!cloud) {
      const capacity = this.view.viewport.quality.cloudPoints;
      cloud = new PointCloud({ capacity, metres: 0.06, least: 1.5, most: 8, life: LIFE, byHeight: true });
      this.#clouds.set(name, cloud);
      this.object.add(cloud.object);
    }
    const place = (/** @type {number} */ i, /** @type {Float32Array} */ out, /** @type {number} */ at) => {
      for (let c = 0; c < 3; c++) out[at + c] = origin[c] + scale * offsets[3 * i + c];
    };
    if (count <= LINE) cloud.add(count, place, () => time);
    else cloud.replace(count, place, () => time);
  }

  update() {
    for (const cloud of this.#clouds.values()) cloud.tick(this.view.poses.time);
  }

  clear() {
    for (const cloud of this.#clouds.values()) {
      this.object.remove(cloud.object);
      cloud.dispose();
    }
    this.#clouds.clear();
  }
}
