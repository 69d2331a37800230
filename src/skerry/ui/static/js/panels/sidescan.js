// @ts-check
// The waterfall of a side-scan sonar: the newest line above, port on the left; no line is left out.
import { KIND } from "../wire.js";
import { element, figure, paper, write } from "./elements.js";
import { COPPER, StreamPanel } from "./picture.js";

const LINES = 256; // that are kept in the picture

export class Sidescan extends StreamPanel {
  static id = "sidescan";
  static title = "Side-scan";
  static about = "The side-scan sonar as a waterfall: newest line above, port left, starboard right.";
  static prefix = "sonar/";
  static hz = 30;
  static none = "This robot has no side-scan sonar. SAM has one: choose the scenario sam in the bay.";

  /** @param {import("./types.js").StreamScene} stream */
  accepts({ kind }) {
    return kind === KIND.SONAR_LINES;
  }

  /** @param {HTMLElement} content */
  fill(content) {
    this.lines = 0;
    this.canvas = element("canvas", { class: "waterfall", width: 512, height: LINES, testid: "sidescan-picture", "data-lines": 0, role: "img", "aria-label": "Side-scan waterfall" });
    this.gain = element("input", { type: "range", min: 0.5, max: 20, step: 0.5, value: 4, "aria-label": "Gain", title: "Gain: how bright echoes are drawn", testid: "sidescan-gain" });
    this.count = element("span", { class: "note", testid: "sidescan-lines" }, "0 lines");
    const range = this.stream?.range_m ? element("span", { class: "note" }, `± ${figure(this.stream.range_m, 0)} m`) : null;
    content.replaceChildren(this.canvas, element("div", { class: "row between" }, this.count, range ?? "", element("label", { class: "row note" }, "Gain", this.gain)));
  }

  /** @param {import("./types.js").Message} message */
  draw({ count = 0, length = 0, rows }) {
    if (!rows || !count) return;
    const { canvas } = this;
    if (canvas.width !== length) canvas.width = length;
    const context = paper(canvas);
    const gain = Number(this.gain.value);
    const image = context.createImageData(length, count);
    const pixels = new Uint32Array(image.data.buffer);
    for (let line = 0; line < count; line += 1) {
      const start = (count - 1 - line) * length; // the newest comes last and is drawn first
      for (let i = 0; i < length; i += 1) pixels[line * length + i] = COPPER[Math.min(255, rows[start + i] * gain) | 0];
    }
    context.drawImage(canvas, 0, count);
    context.putImageData(image, 0, 0);
    this.lines += count;
    canvas.dataset.lines = String(this.lines);
    write(this.count, `${this.lines} lines`);
  }
}
