// @ts-check
// Overlay with the rays of the chosen robot's sonars and lidars, and with their hits, coloured by height.

import { Group } from "../../vendor/three.module.js";
import { PALETTE } from "./colours.js";
import { PointCloud } from "./points.js";
import { Segments } from "./segments.js";

const HITS_LIFE = 6; // simulated time for which hits are shown, s
const HIT = 128; // smallest opacity of a ray that has hit something; other rays have a smaller one
const DRAWN = 28; // largest number of rays of a reading that are drawn; more would hide the hits
const FAINT = 0.4; // factor on the opacity of rays

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
    this.hits = new PointCloud({
      capacity: 20_000,
      metres: 0.09,
      least: 2.5,
      most: 12,
      life: HITS_LIFE,
      byHeight: true,
    });
    this.object.add(this.hits.object);
  }

  /** @param {{display?: {kind: string}}} stream */
  accepts({ display }) {
    return display?.kind === "rays";
  }

  /**
   * @param {import("../protocol.js").Message} message
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
    lines.set(...some(ends, colours, Math.ceil(count / DRAWN)));
    /** @type {number[]} */
    const hit = [];
    for (let i = 0; i < count; i++) if (!colours || colours[4 * i + 3] >= HIT) hit.push(i);
    this.hits.add(
      hit.length,
      (i, out, at) => out.set(ends.subarray(6 * hit[i] + 3, 6 * hit[i] + 6), at),
      () => time,
    );
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

/**
 * Return every `step`-th segment with a lower opacity.
 * @param {Float32Array} ends
 * @param {Uint8Array | undefined} colours
 * @param {number} step
 * @returns {[Float32Array, Uint8Array | undefined]}
 */
function some(ends, colours, step) {
  const chosen = [];
  for (let i = 0; 6 * i < ends.length; i += step) chosen.push(i);
  const lines = new Float32Array(6 * chosen.length);
  chosen.forEach((i, n) => lines.set(ends.subarray(6 * i, 6 * i + 6), 6 * n));
  if (!colours) return [lines, undefined];
  const shades = new Uint8Array(4 * chosen.length);
  chosen.forEach((i, n) => {
    shades.set(colours.subarray(4 * i, 4 * i + 3), 4 * n);
    shades[4 * n + 3] = FAINT * colours[4 * i + 3];
  });
  return [lines, shades];
}
