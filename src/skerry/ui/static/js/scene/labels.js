// @ts-check
// Labels over the 3-D view: names with a line to their object, distances, frames. They are HTML elements, so they are sharp.

import { Vector3 } from "../../vendor/three.module.js";

const LINE = 24; // pixels by which a name is raised to clear another name
const HIGHEST = 5 * LINE; // pixels by which a name is raised at most

/** @typedef {{element: HTMLElement, kind: string, text: string, width: number, place: Vector3, lift: number, stem: number}} Label */

export class Labels {
  /** @param {HTMLElement} layer */
  constructor(layer) {
    this.layer = layer;
    /** @type {Map<string, Label>} */
    this.labels = new Map();
    this.projected = new Vector3();
  }

  /**
   * Create or move the label with a key.
   * @param {string} key
   * @param {Vector3} place
   * @param {string} text
   * @param {{kind?: "name" | "measure" | "frame" | "winch", lift?: number, selected?: boolean, detail?: string}} [more] `lift`: pixels above the position
   */
  set(key, place, text, { kind = "name", lift = 24, selected = false, detail = "" } = {}) {
    let label = this.labels.get(key);
    if (!label) {
      const element = document.createElement("div");
      element.className = "scene-label";
      element.dataset.kind = kind;
      element.dataset.testid = `label-${key}`;
      element.style.setProperty("--stem", `${lift}px`);
      this.layer.append(element);
      label = { element, kind, text: "", width: 0, place: new Vector3(), lift, stem: lift };
      this.labels.set(key, label);
    }
    label.place.copy(place);
    label.element.dataset.selected = String(selected);
    if (label.text !== text + detail) {
      label.text = text + detail;
      const more = document.createElement("small");
      more.textContent = detail;
      label.element.replaceChildren(text, ...(detail ? [more] : []));
      label.width = label.element.offsetWidth || label.width;
    }
  }

  /** Remove labels. @param {string} prefix prefix of their keys */
  remove(prefix) {
    for (const [key, { element }] of this.labels) {
      if (!key.startsWith(prefix)) continue;
      element.remove();
      this.labels.delete(key);
    }
  }

  /** @param {import("../../vendor/three.module.js").PerspectiveCamera} camera */
  draw(camera) {
    const { clientWidth: width, clientHeight: height } = this.layer;
    /** Names that have their positions already, the nearest first. @type {{left: number, top: number, width: number}[]} */
    const placed = [];
    const range = (/** @type {Label} */ { place }) => place.distanceToSquared(camera.position);
    for (const label of [...this.labels.values()].sort((one, other) => range(one) - range(other))) {
      const { element } = label;
      const { x, y, z } = this.projected.copy(label.place).project(camera);
      const seen = z < 1 && Math.abs(x) < 1.1 && Math.abs(y) < 1.1;
      element.style.display = seen ? "" : "none";
      if (!seen) continue;
      const left = (0.5 + 0.5 * x) * width;
      const bottom = Math.max((0.5 - 0.5 * y) * height, label.lift + LINE); // a name at the upper edge stays visible
      const lift = label.kind === "name" ? free(placed, label, left, bottom) : label.lift;
      if (lift !== label.stem) element.style.setProperty("--stem", `${(label.stem = lift)}px`);
      element.style.transform = `translate(-50%, -100%) translate(${left.toFixed(1)}px, ${(bottom - lift).toFixed(1)}px)`;
      element.style.zIndex = String(Math.round(1e5 * (1 - z)));
    }
  }
}

/**
 * Return how far a name must be raised to cover no other name, at most `HIGHEST`, pixels.
 * @param {{left: number, top: number, width: number}[]} placed
 * @param {Label} label
 * @param {number} left
 * @param {number} bottom
 */
function free(placed, label, left, bottom) {
  let lift = label.lift;
  const hidden = () =>
    placed.some(
      (other) =>
        Math.abs(other.left - left) < 0.5 * (other.width + label.width) + 2 &&
        Math.abs(other.top - bottom + lift) < LINE - 2,
    );
  while (lift < label.lift + HIGHEST && hidden()) lift += LINE;
  placed.push({ left, top: bottom - lift, width: label.width });
  return lift;
}
