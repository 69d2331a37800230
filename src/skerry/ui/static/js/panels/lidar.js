// @ts-check
// Panel with the ranges of a lidar around the robot. Ahead is up.
import { element, figure, context2d } from "./elements.js";
import { StreamPanel } from "./picture.js";

const SIZE = 320; // pixels
const RINGS = 4;

export class Lidar extends StreamPanel {
  static id = "lidar";
  static title = "Lidar";
  static about = "Ranges of a lidar around the robot. Ahead is up, port is left.";
  static displays = ["polar"];
  static none = "This robot has no lidar. The rover in the scenario husky yard has one.";

  /** @param {HTMLElement} content */
  fill(content) {
    this.canvas = element("canvas", { class: "polar", width: SIZE, height: SIZE, testid: "lidar-picture", role: "img", "aria-label": "Ranges around the robot" });
    content.replaceChildren(this.canvas);
  }

  /** @param {import("./types.js").Message} message */
  draw({ values }) {
    if (!values) return;
    const context = context2d(this.canvas);
    const { first_angle: first, last_angle: last, max_range: far } = this.stream?.display ?? {};
    const scale = (SIZE / 2 - 6) / far;
    context.clearRect(0, 0, SIZE, SIZE);
    context.strokeStyle = "rgb(130 160 175 / 45%)";
    context.fillStyle = "rgb(130 160 175)";
    context.font = "11px system-ui, sans-serif";
    for (let ring = 1; ring <= RINGS; ring += 1) {
      const range = (ring / RINGS) * far;
      context.beginPath();
      context.arc(SIZE / 2, SIZE / 2, range * scale, 0, 2 * Math.PI);
      context.stroke();
      context.fillText(`${figure(range, far < 8 ? 1 : 0)} ${this.unit("ranges")}`, SIZE / 2 + 3, SIZE / 2 - range * scale + 12);
    }
    context.fillStyle = "#e69f00";
    values.forEach((range, index) => {
      if (!(range > 0 && range <= far)) return; // no echo
      const bearing = first + ((last - first) * index) / Math.max(1, values.length - 1); // positive to port
      context.fillRect(SIZE / 2 - range * scale * Math.sin(bearing) - 1, SIZE / 2 - range * scale * Math.cos(bearing) - 1, 2.5, 2.5);
    });
    context.fillStyle = "#56b4e9";
    context.beginPath();
    context.moveTo(SIZE / 2, SIZE / 2 - 7);
    context.lineTo(SIZE / 2 + 5, SIZE / 2 + 6);
    context.lineTo(SIZE / 2 - 5, SIZE / 2 + 6);
    context.fill();
  }
}
