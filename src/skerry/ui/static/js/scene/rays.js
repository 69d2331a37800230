// @ts-check
// Rays of sonars and lidars of the chosen robot, and what they hit, coloured by height for as long as a hit lasts.

import { Group } from "../../vendor/three.module.js";
import { PALETTE } from "./colours.js";
import { PointCloud } from "./points.js";
import { Segments } from "./segments.js";

const HITS_LIFE = 6; // s, simulated
const HIT = 128; // opacity from which a ray has hit something; those that did not are fainter
const FAINT = 0.35; // by which opacities are multiplied, as rays are many

export class Rays {
  name = "rays";
  chosenOnly = true;
  hz = 12;
  object = new Group();
  /** Lines by stream. @type {Map<string, Segments>} */
  #lines = new Map();

  /** @param {import("./view.js").View} view */
  constructor(view) {
    this.view = view;
    this.hits = new PointCloud({ capacity: 20_000, metres: 0.09, least: 2.5, most: 12, life: HITS_LIFE, byHeight: true });
    this.object.add(this.hits.object);
  }

  /** @param {{name: string}} stream */
  wants({ name }) {
    return name.startsWith("rays/");
  }

  /**
   * @param {import("../wire.js").Message} message
   * @param {{name: string}} stream
   */
  receive({ ends, colours, count = 0, time }, { name }) {
    if (!ends) return;
    let lines = this.#lines.get(name);
    if (!lines) {
      lines = new Segments({ pixels: 1, colour: PALETTE.yellow, opacity: 0.3 });
      this.#lines.set(name, lines);
      this.object.add(lines.object);
      lines.object.material.depthWrite = false;
    }
    const faint = colours?.map((value, i) => (i % 4 === 3 ? FAINT * value : value));
    lines.set(ends, faint);
    const hit = [];
    for (let i = 0; i < count; i++) if (!colours || colours[4 * i + 3] >= HIT) hit.push(i);
    this.hits.add(hit.length, (i, out, at) => out.set(ends.subarray(6 * hit[i] + 3, 6 * hit[i] + 6), at), () => time);
  }

  update() {
    this.hits.tick(this.view.poses.time);
  }

  clear() {
    this.hits.clear();
    for (const lines of this.#lines.values()) {
      this.object.remove(lines.object);
      lines.dispose();
    }
    this.#lines.clear();
  }
}
