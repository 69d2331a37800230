// @ts-check
// Panel with the waterfall of a side-scan sonar: newest line at the top, port on the left. Every line is shown.
import { element, figure, context2d, write } from "./elements.js";
import { COPPER, StreamPanel } from "./picture.js";

const LINES = 256; // lines in the picture
const ZOOMS = [1, 2, 4, 8]; // zoom factors: the whole range, half of it, …
const GAIN = 4; // initial gain
const SETTLED = 20; // lines after which range and gain are fitted to the echoes, unless the user has chosen them

export class Sidescan extends StreamPanel {
  static id = "sidescan";
  static title = "Side-scan";
  static about = "The side-scan sonar as a waterfall: newest line at the top, port left, starboard right.";
  static displays = ["sonar_lines"];
  static hz = 30;
  static none = "This robot has no side-scan sonar. SAM in the scenario sam in the bay has one.";

  /** @param {HTMLElement} content */
  fill(content) {
    this.lines = 0;
    /** @type {{ count: number, length: number, rows: Uint8Array }[]} lines before range and gain were fitted */
    this.early = [];
    this.canvas = element("canvas", { class: "waterfall", width: 512, height: LINES, testid: "sidescan-picture", "data-lines": 0, role: "img", "aria-label": "Side-scan waterfall" });
    this.gain = element("input", { type: "range", min: 0.5, max: 20, step: 0.5, value: GAIN, "aria-label": "Gain", title: "Gain: brightness of the echoes", testid: "sidescan-gain" });
    this.count = element("span", { class: "note", testid: "sidescan-lines" }, "0 lines");
    this.range = 0;
    this.zoom = element("select", { "aria-label": "Range", title: "Range that is shown to each side", testid: "sidescan-range", class: "whole", hidden: true });
    this.chosen = false;
    this.zoom.addEventListener("change", () => {
      this.chosen = true;
      this.crop();
    });
    const screen = element("div", { class: "waterfall-screen" }, this.canvas);
    content.replaceChildren(screen, element("div", { class: "row between" }, this.count, this.zoom, element("label", { class: "row note" }, "Gain", this.gain)));
    this.crop();
  }

  /** Fill the list of ranges. @param {number} range of the lines */
  offer(range) {
    const chosen = this.zoom.value;
    const texts = ZOOMS.map((zoom) => `± ${figure(range / zoom, range / zoom < 20 ? 1 : 0)} ${this.unit("bin_size")}`);
    this.zoom.replaceChildren(...ZOOMS.map((zoom, index) => element("option", { value: zoom }, texts[index])));
    this.zoom.hidden = false;
    this.range = range;
    if (chosen) this.zoom.value = chosen;
  }

  /** Show the middle of the picture, as wide as the chosen range. */
  crop() {
    const zoom = Number(this.zoom.value) || 1;
    this.canvas.style.width = `${100 * zoom}%`;
    this.canvas.style.marginLeft = `${-50 * (zoom - 1)}%`;
  }

  /** Choose the smallest range that contains all but the faintest echoes, and a gain that does not saturate them. */
  fit() {
    const { length } = this.early[0];
    const middle = (length - 1) / 2;
    const levels = this.early.flatMap(({ rows }) => [...rows]);
    const most = levels.reduce((high, level) => Math.max(high, level), 1);
    const furthest = levels.reduce((far, level, i) => (level > most / 4 ? Math.max(far, Math.abs((i % length) - middle)) : far), 0);
    if (!this.chosen) this.zoom.value = String(ZOOMS.findLast((zoom) => furthest * zoom < 0.8 * middle) ?? 1);
    if (Number(this.gain.value) === GAIN) this.gain.value = String(Math.min(255 / most, 20));
    this.crop();
    context2d(this.canvas).clearRect(0, 0, this.canvas.width, this.canvas.height);
    for (const message of this.early) this.paint(message);
    this.early = [];
  }

  /** @param {import("./types.js").Message} message */
  draw({ count = 0, length = 0, range = 0, rows }) {
    if (!rows || !count) return;
    if (range !== this.range) this.offer(range);
    if (this.canvas.width !== length) this.canvas.width = length;
    this.paint({ count, length, rows });
    if (this.lines < SETTLED) this.early.push({ count, length, rows: rows.slice() });
    this.lines += count;
    if (this.lines >= SETTLED && this.early.length) this.fit();
    this.canvas.dataset.lines = String(this.lines);
    write(this.count, `${this.lines} lines`);
  }

  /** Draw new lines at the top. @param {{ count: number, length: number, rows: Uint8Array }} message */
  paint({ count, length, rows }) {
    const context = context2d(this.canvas);
    const gain = Number(this.gain.value);
    const image = context.createImageData(length, count);
    const pixels = new Uint32Array(image.data.buffer);
    for (let line = 0; line < count; line += 1) {
      const start = (count - 1 - line) * length; // the last line is the newest, and is drawn at the top
      for (let i = 0; i < length; i += 1) pixels[line * length + i] = COPPER[Math.min(255, rows[start + i] * gain) | 0];
    }
    context.drawImage(this.canvas, 0, count);
    context.putImageData(image, 0, 0);
  }
}
