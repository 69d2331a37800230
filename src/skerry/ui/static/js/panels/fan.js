// @ts-check
// Panel with the fan of a forward-looking or scanning sonar. Ahead is up.
import { element, figure, context2d } from "./elements.js";
import { COPPER, StreamPanel } from "./picture.js";

const WIDTH = 480; // pixels
const MARGIN = 4;

export class Fan extends StreamPanel {
  static id = "fan";
  static title = "Forward sonar";
  static about = "The picture of an imaging or scanning sonar. The sonar is at the bottom, the largest range at the top.";
  static displays = ["sonar_fan", "sonar_scan"];
  static none = "This robot has no imaging sonar.";

  /** @param {HTMLElement} content */
  fill(content) {
    this.layout = "";
    this.canvas = element("canvas", { class: "fan", width: WIDTH, height: WIDTH / 2, testid: "fan-picture", role: "img", "aria-label": "Sonar fan" });
    content.replaceChildren(this.canvas);
  }

  /** @param {import("./types.js").Message} message */
  draw({ beams = 0, bins = 0, angles, ranges, intensity }) {
    if (!angles || !ranges || !intensity) return;
    const layout = [beams, bins, ...angles, ...ranges].join();
    if (layout !== this.layout) this.arrange(beams, bins, angles, ranges, layout);
    const { image, cells } = this;
    const pixels = new Uint32Array(image.data.buffer);
    for (let i = 0; i < cells.length; i += 1) if (cells[i] >= 0) pixels[i] = COPPER[intensity[cells[i]]];
    const context = context2d(this.canvas);
    context.putImageData(image, 0, 0);
    this.drawRings(context, angles, ranges);
  }

  /**
   * Compute once which beam and bin each pixel shows.
   * @param {number} beams @param {number} bins @param {[number, number]} angles @param {[number, number]} ranges @param {string} layout
   */
  arrange(beams, bins, angles, ranges, layout) {
    this.layout = layout;
    const widest = Math.max(Math.abs(angles[0]), Math.abs(angles[1]));
    const half = WIDTH / 2 - MARGIN;
    const radius = widest < Math.PI / 2 ? half / Math.sin(widest) : half;
    this.radius = radius;
    const below = widest > Math.PI / 2 ? -radius * Math.cos(widest) : 0;
    this.canvas.height = Math.ceil(Math.min(radius + below, 1.2 * WIDTH)) + 2 * MARGIN;
    this.top = this.canvas.height - MARGIN - below; // y of the sonar itself
    this.image = context2d(this.canvas).createImageData(WIDTH, this.canvas.height);
    this.cells = new Int32Array(WIDTH * this.canvas.height).fill(-1);
    for (let i = 0; i < this.cells.length; i += 1) {
      const right = (i % WIDTH) - WIDTH / 2;
      const ahead = this.top - Math.floor(i / WIDTH);
      const bearing = Math.atan2(-right, ahead); // positive to port, as in the body frame
      const beam = Math.floor(((bearing - angles[0]) / (angles[1] - angles[0])) * beams);
      const range = (Math.hypot(right, ahead) / radius) * ranges[1];
      const bin = Math.floor(((range - ranges[0]) / (ranges[1] - ranges[0])) * bins);
      if (beam >= 0 && beam < beams && bin >= 0 && bin < bins) this.cells[i] = beam * bins + bin;
    }
  }

  /** @param {CanvasRenderingContext2D} context @param {[number, number]} angles @param {[number, number]} ranges */
  drawRings(context, angles, ranges) {
    context.strokeStyle = "rgb(160 190 200 / 45%)";
    context.fillStyle = "rgb(200 215 220 / 90%)";
    context.font = "11px system-ui, sans-serif";
    const [low, high] = [Math.min(...angles), Math.max(...angles)];
    for (const share of [0.25, 0.5, 0.75, 1]) {
      context.beginPath();
      context.arc(WIDTH / 2, this.top, share * this.radius, -Math.PI / 2 - high, -Math.PI / 2 - low);
      context.stroke();
      context.fillText(`${figure(share * ranges[1], 0)} ${this.unit("bin_size")}`, WIDTH / 2 + 3, this.top - share * this.radius + 12);
    }
  }
}
