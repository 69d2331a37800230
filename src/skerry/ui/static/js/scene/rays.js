// @ts-check
// Overlay with the rays of the chosen robot's sonars and lidars, and with their hits, coloured by height.

import { Group } from "../../vendor/three.module.js";
import { PALETTE } from "./colours.js";
import { PointCloud } from "./points.js";
import { Segments } from "./segments.js";

const HIT = 128; // smallest opacity of a ray that has hit something; other rays have a smaller one
const DRAWN = 28; // largest number of rays of a reading that are drawn; more would hide the hits
const FAINT = 0.4; // factor on the opacity of rays
const USUAL_SIZE = 0.1; // size of hits for which their size on the screen is limited to `MOST`, m
const MOST = 12; // pixels
const RED = 0xff0000; // colour of hits without the rainbow

/**
 * Settings of the display of a sensor's rays; see docs/rays.md.
 * @typedef {{draw_rays: boolean, draw_hits: boolean, ray_thickness: number, hits_size: number, hits_lifetime: number, use_rainbow: boolean,
 *   min_height: number | null, max_height: number | null, max_particles_multiplier: number}} Viewer
 */

export class Rays {
  name = "rays";
  chosenOnly = true;
  hz = 12;
  object = new Group();
  /** Lines by stream. @type {Map<string, Segments>} */
  #lines = new Map();
  /** Hits by stream. @type {Map<string, PointCloud>} */
  hits = new Map();

  /** @param {import("./view.js").View} view */
  constructor(view) {
    this.view = view;
  }

  /** @param {{display?: {kind: string}}} stream */
  accepts({ display }) {
    return display?.kind === "rays";
  }

  /**
   * @param {import("../protocol.js").Message} message
   * @param {{name: string, viewer: Viewer}} stream
   */
  receive({ ends, colours, count = 0, time }, { name, viewer }) {
    if (!ends) return;
    if (viewer.draw_rays) this.#linesOf(name, viewer).set(...some(ends, colours, Math.ceil(count / DRAWN)));
    if (!viewer.draw_hits || count === 0) return;
    /** @type {number[]} */
    const hit = [];
    for (let i = 0; i < count; i++) if (!colours || colours[4 * i + 3] >= HIT) hit.push(i);
    this.#hitsOf(name, viewer, count).add(
      hit.length,
      (i, out, at) => out.set(ends.subarray(6 * hit[i] + 3, 6 * hit[i] + 6), at),
      () => time,
    );
  }

  update() {
    for (const hits of this.hits.values()) hits.tick(this.view.poses.time);
  }

  clear() {
    for (const parts of [this.hits, this.#lines]) {
      for (const part of parts.values()) {
        this.object.remove(part.object);
        part.dispose();
      }
      parts.clear();
    }
  }

  /** @param {string} name @param {Viewer} viewer */
  #linesOf(name, { ray_thickness }) {
    let lines = this.#lines.get(name);
    if (!lines) {
      lines = new Segments({ pixels: 1, metres: ray_thickness, colour: PALETTE.yellow, opacity: 0.3 });
      this.#lines.set(name, lines);
      this.object.add(lines.object);
      lines.object.material.depthWrite = false;
    }
    return lines;
  }

  /**
   * Return the hits of a stream, with space for `max_particles_multiplier` readings of `count` rays.
   * @param {string} name
   * @param {Viewer} viewer
   * @param {number} count
   */
  #hitsOf(name, viewer, count) {
    let hits = this.hits.get(name);
    const capacity = viewer.max_particles_multiplier * count;
    if (hits && hits.capacity >= capacity) return hits;
    if (hits) {
      this.object.remove(hits.object);
      hits.dispose();
    }
    hits = new PointCloud({
      capacity,
      metres: viewer.hits_size,
      least: 2.5,
      most: MOST * Math.max(1, viewer.hits_size / USUAL_SIZE),
      life: viewer.hits_lifetime,
      colour: RED,
      byHeight: viewer.use_rainbow,
      lowest: viewer.min_height,
      highest: viewer.max_height,
    });
    this.hits.set(name, hits);
    this.object.add(hits.object);
    return hits;
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
