// @ts-check
// Overlays with ropes (red: taut, green: slack) and with winches: a hook at the end of the rope, its length and its tension.

import { Group, Mesh, MeshBasicMaterial, Quaternion, TorusGeometry, Vector3 } from "../../vendor/three.module.js";
import { PALETTE } from "./colours.js";
import { lastSegments } from "./rope_ends.js";
import { Segments } from "./segments.js";

export class Ropes {
  name = "ropes";
  hz = 30;

  /** @param {import("./view.js").View} view */
  constructor(view) {
    this.view = view;
    this.segments = new Segments({ pixels: 2, metres: 0.03, round: true });
    this.object = this.segments.object;
  }

  /** @param {{name: string}} stream */
  accepts({ name }) {
    return name === "ropes";
  }

  /** @param {import("../protocol.js").Message} message */
  receive({ ends, colours }) {
    if (!ends) return;
    this.segments.set(ends, colours);
    this.view.ropeEnds = ends;
  }

  clear() {
    this.segments.clear();
    this.view.ropeEnds = null;
  }
}

export class Winches {
  name = "winches";
  object = new Group();
  /** Hooks by rope. @type {Map<string, Mesh>} */
  #hooks = new Map();
  #place = new Vector3();
  #turn = new Quaternion();

  /** @param {import("./view.js").View} view */
  constructor(view) {
    this.view = view;
  }

  update() {
    const { scene, state, bodies, labels, chosen } = this.view;
    for (const robot of scene?.robots ?? []) {
      for (const winch of robot.winches) {
        this.#hang(robot.name, winch.rope);
        const link = robot.actuators.find((/** @type {any} */ each) => each.name === winch.name)?.link;
        const frame = robot.frames.find((/** @type {any} */ each) => each.name === link);
        const now = state?.robots[robot.name]?.winches[winch.name];
        const key = `winch-${robot.name}-${winch.name}`;
        if (robot !== chosen) labels.remove(key);
        if (robot !== chosen || !frame || !now || !bodies.locate(frame, this.#place, this.#turn)) continue;
        const detail = `${now.length.toFixed(1)} m · ${now.tension.toFixed(0)} N`;
        labels.set(key, this.#place, winch.name, { kind: "winch", lift: -34, detail });
      }
    }
  }

  clear() {
    this.view.labels.remove("winch-");
    for (const hook of this.#hooks.values()) {
      this.object.remove(hook);
      hook.geometry.dispose();
    }
    this.#hooks.clear();
  }

  /**
   * Draw a hook at the end of the rope of a winch.
   * @param {string} robot
   * @param {string | null} rope
   */
  #hang(robot, rope) {
    const { scene, ropeEnds } = this.view;
    if (!rope || !ropeEnds) return;
    const lasts = lastSegments(ropeEnds);
    for (const [number, each] of scene.ropes.entries()) {
      if (each.name !== rope && each.name !== `${robot}/${rope}`) continue;
      const last = lasts[number];
      if (last === undefined) return;
      let hook = this.#hooks.get(each.name);
      if (!hook) {
        const material = new MeshBasicMaterial({ color: PALETTE.orange });
        hook = new Mesh(new TorusGeometry(0.12, 0.03, 8, 24, 1.5 * Math.PI).rotateX(Math.PI / 2), material);
        this.#hooks.set(each.name, hook);
        this.object.add(hook);
      }
      hook.position.fromArray(ropeEnds, 6 * last + 3);
      return;
    }
  }
}
