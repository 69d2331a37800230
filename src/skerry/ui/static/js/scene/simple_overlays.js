// @ts-check
// Overlays that draw streams without changes: acoustic paths, GPS lines, goals, force arrows, particles, contacts.

import { Group } from "../../vendor/three.module.js";
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

/**
 * Show the points of a message, whose ages are fractions of the lifetime.
 * @param {PointCloud} points
 * @param {Message} message
 */
function showParticles(points, { count = 0, positions, ages, colours }) {
  if (!positions || !ages) return;
  points.replace(
    count,
    (i, out, at) => out.set(positions.subarray(3 * i, 3 * i + 3), at),
    (i) => Math.min(ages[i], 0.999),
    colours && ((i, out, at) => out.set(colours.subarray(4 * i, 4 * i + 3), at)),
  );
}

const FIELD_PARTICLES = 10_000; // largest number of particles of a scenario
const TRAILS = "particle_trails";

/** Overlay with the particles in force fields, as balls with trails. */
export class Field {
  name = "field";
  object = new Group();

  constructor() {
    this.points = new PointCloud({ capacity: FIELD_PARTICLES, metres: 0.2, least: 2.5, most: 200, byColour: true });
    this.trails = new Segments({ pixels: 1, metres: 0.1 });
    this.trails.object.material.depthWrite = false;
    this.object.add(this.points.object, this.trails.object);
  }

  /** @param {{name: string}} stream */
  accepts({ name }) {
    return name === "particles" || name === TRAILS;
  }

  /** @param {Message} message @param {{name: string, radius?: number, width?: number}} stream */
  receive(message, { name, radius = 0.1, width = 0.1 }) {
    if (name === TRAILS) {
      this.trails.object.material.uniforms.metres.value = width;
      if (message.ends) this.trails.set(message.ends, message.colours);
    } else {
      this.points.uniforms.metres.value = 2 * radius;
      showParticles(this.points, message);
    }
  }

  clear() {
    this.points.clear();
    this.trails.clear();
  }
}

/** Overlay with a mark at each contact. */
export class Contacts {
  name = "contacts";

  constructor() {
    this.points = new PointCloud({ capacity: 512, metres: 0.12, least: 6, most: 18, colour: PALETTE.vermilion });
    this.object = this.points.object;
  }

  /** @param {{name: string}} stream */
  accepts({ name }) {
    return name === "contacts";
  }

  /** @param {Message} message */
  receive(message) {
    showParticles(this.points, message);
  }

  clear() {
    this.points.clear();
  }
}
