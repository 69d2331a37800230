// @ts-check
// Overlay with the tree of frames: arrows from parents to children, axes, and names for the chosen robot.

import { Group, Quaternion, Vector3 } from "../../vendor/three.module.js";
import { arrows } from "./arrows.js";
import { Segments } from "./segments.js";
import { worldPoses } from "./transforms.js";

const AXIS = 0.25; // length of an axis, m
const AXES = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];
const SHADES = [
  [240, 80, 60, 255],
  [60, 200, 90, 255],
  [80, 140, 255, 255],
]; // x red, y green, z blue
const ARROW = [240, 228, 66, 200];
const FAR = 20; // m; longer arrows, such as those from the map to the robots, are not drawn
const READABLE = 8; // largest distance from the camera at which names are drawn, m

export class Frames {
  name = "tf";
  hz = 15;
  object = new Group();
  #axes = new Segments({ pixels: 2 });
  #tree = new Segments({ pixels: 1.5 });

  /** @param {import("./view.js").View} view */
  constructor(view) {
    this.view = view;
    this.object.add(this.#axes.object, this.#tree.object);
  }

  /** @param {{name: string}} stream */
  accepts({ name }) {
    return name === "tf";
  }

  /** @param {import("../protocol.js").Message} message */
  receive({ transforms = [] }) {
    const names = this.view.store.get("tf_names")?.names ?? this.view.scene?.tf_names ?? [];
    const poses = worldPoses(transforms);
    const prefix = `${this.view.chosen?.name}/`;
    /** @type {number[]} */ const axes = [];
    /** @type {number[]} */ const shades = [];
    /** @type {number[]} */ const links = [];
    const turn = new Quaternion();
    const tip = new Vector3();
    const place = new Vector3();
    for (const { parent, child } of transforms) {
      const pose = poses.get(child);
      if (!pose) continue;
      place.fromArray(pose);
      turn.fromArray(pose, 3);
      AXES.forEach((axis, i) => {
        tip.fromArray(axis).multiplyScalar(AXIS).applyQuaternion(turn).add(place);
        axes.push(...place.toArray(), ...tip.toArray());
        shades.push(...SHADES[i]);
      });
      const from = poses.get(parent) ?? [0, 0, 0];
      if (place.distanceTo(tip.fromArray(from)) < FAR) links.push(from[0], from[1], from[2], ...place.toArray());
      const name = names[child];
      if (!name?.startsWith(prefix)) continue;
      if (place.distanceTo(this.view.viewport.camera.position) > READABLE) this.view.labels.remove(`frame-${name}`);
      else this.view.labels.set(`frame-${name}`, place, name.slice(prefix.length), { kind: "frame", lift: 4 });
    }
    this.#axes.set(new Float32Array(axes), new Uint8Array(shades));
    const colours = new Uint8Array((4 * links.length) / 6).map((_, i) => ARROW[i % 4]);
    this.#tree.set(...arrows(new Float32Array(links), colours));
  }

  clear() {
    this.#axes.clear();
    this.#tree.clear();
    this.view.labels.remove("frame-");
  }
}
