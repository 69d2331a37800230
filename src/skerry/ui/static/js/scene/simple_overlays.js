// @ts-check
// Overlays that draw one stream without changes: acoustic paths, GPS lines, goals, force arrows, particles, contacts.

import { arrows } from "./arrows.js";
import { PALETTE } from "./colours.js";
import { PointCloud } from "./points.js";
import { Segments } from "./segments.js";

/** @typedef {import("../protocol.js").Message} Message */

/** Overlay with the lines of one stream. */
class Lines {
  /**
   * @param {string} name
   * @param {string} stream
   * @param {ConstructorParameters<typeof Segments>[0]} style
   */
  constructor(name, stream, style) {
    this.name = name;
    this.stream = stream;
    this.segments = new Segments(style);
    this.object = this.segments.object;
  }

  /** @param {{name: string}} stream */
  accepts({ name }) {
    return name === this.stream;
  }

  /** @param {Message} message */
  receive({ ends, colours }) {
    if (ends) this.segments.set(ends, colours);
  }

  clear() {
    this.segments.clear();
  }
}

export class Acoustics extends Lines {
  constructor() {
    super("acoustics", "acoustic", { pixels: 2, colour: PALETTE.green });
  }
}

export class Gps extends Lines {
  constructor() {
    super("gps", "gps", { pixels: 1.5, colour: PALETTE.sky, opacity: 0.7 });
  }
}

export class Waypoints extends Lines {
  constructor() {
    super("waypoints", "waypoints", { pixels: 2.5, metres: 0.06, colour: PALETTE.yellow });
  }
}

export class Forces extends Lines {
  chosenOnly = true;
  constructor() {
    super("forces", "", { pixels: 2.5, colour: PALETTE.purple });
  }

  /** @param {{name: string}} stream */
  accepts({ name }) {
    return name.startsWith("forces/");
  }

  /** @param {Message} message */
  receive({ ends, colours }) {
    if (ends) this.segments.set(...arrows(ends, colours));
  }
}

/** Overlay with the points of one stream, whose ages are fractions of the lifetime. */
class Particles {
  /**
   * @param {string} name
   * @param {string} stream
   * @param {ConstructorParameters<typeof PointCloud>[0]} style
   */
  constructor(name, stream, style) {
    this.name = name;
    this.stream = stream;
    this.points = new PointCloud(style);
    this.object = this.points.object;
  }

  /** @param {{name: string}} stream */
  accepts({ name }) {
    return name === this.stream;
  }

  /** @param {Message} message */
  receive({ count = 0, positions, ages }) {
    if (!positions || !ages) return;
    this.points.replace(
      count,
      (i, out, at) => out.set(positions.subarray(3 * i, 3 * i + 3), at),
      (i) => Math.min(ages[i], 0.999),
    );
  }

  clear() {
    this.points.clear();
  }
}

export class Field extends Particles {
  constructor() {
    super("field", "particles", { capacity: 8000, metres: 0.12, least: 2.5, most: 14, colour: PALETTE.sky });
  }
}

export class Contacts extends Particles {
  constructor() {
    super("contacts", "contacts", { capacity: 512, metres: 0.12, least: 6, most: 18, colour: PALETTE.vermilion });
  }
}
