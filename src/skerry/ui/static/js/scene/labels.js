// @ts-check
// Words over the 3-D view: names with a line to what they name, distances, frames. They are HTML, so they stay sharp.

import { Vector3 } from "../../vendor/three.module.js";

/** @typedef {{element: HTMLElement, text: string, place: Vector3, lift: number}} Label */

export class Labels {
  /** @param {HTMLElement} layer */
  constructor(layer) {
    this.layer = layer;
    /** @type {Map<string, Label>} */
    this.labels = new Map();
    this.projected = new Vector3();
  }

  /**
   * Put a label at a place; the same key is the same label.
   * @param {string} key
   * @param {Vector3} place
   * @param {string} text
   * @param {{kind?: "name" | "measure" | "frame" | "winch", lift?: number, selected?: boolean, detail?: string}} [more] `lift`: pixels above the place
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
      label = { element, text: "", place: new Vector3(), lift };
      this.labels.set(key, label);
    }
    label.place.copy(place);
    label.element.dataset.selected = String(selected);
    if (label.text !== text + detail) {
      label.text = text + detail;
      const more = document.createElement("small");
      more.textContent = detail;
      label.element.replaceChildren(text, ...(detail ? [more] : []));
    }
  }

  /** @param {string} prefix of the keys of the labels that go */
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
    for (const { element, place, lift } of this.labels.values()) {
      const { x, y, z } = this.projected.copy(place).project(camera);
      const seen = z < 1 && Math.abs(x) < 1.1 && Math.abs(y) < 1.1;
      element.style.display = seen ? "" : "none";
      if (!seen) continue;
      const left = (0.5 + 0.5 * x) * width;
      const top = (0.5 - 0.5 * y) * height - lift;
      element.style.transform = `translate(-50%, -100%) translate(${left.toFixed(1)}px, ${top.toFixed(1)}px)`;
      element.style.zIndex = String(Math.round(1e5 * (1 - z)));
    }
  }
}
