// @ts-check
// Any figure of the chosen robot over time.
import uPlot from "../../vendor/uPlot.esm.js";
import { button, element, figure } from "./elements.js";
import { Panel } from "./panel.js";

const SAMPLES = 1500; // kept of each figure
const HZ = 20;
/** Okabe and Ito's colours, which colour-blind eyes can tell apart (Nature Methods 8, 441, 2011); no yellow, no black. */
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7"];
const CHOSEN = ["depth", "speed"];

export class Plots extends Panel {
  static id = "plots";
  static title = "Plots";
  static about = "Any figure of the robot over time; add as many as you like.";

  build() {
    if (!this.robot) return this.empty("Choose a robot to plot its figures.");
    this.names ??= [...CHOSEN];
    /** The newest value of every figure. @type {Record<string, number>} */
    this.now = {};
    this.chooser = element("select", { "aria-label": "Figure to add", testid: "plots-choose" });
    const add = button("plus", "Plot this figure too", { testid: "plots-add", on: { click: () => this.add(this.chooser.value) } }, "Add");
    this.legend = element("ul", { class: "legend" });
    this.area = element("div", { class: "plot-area", testid: "plots-area" });
    this.body.replaceChildren(element("div", { class: "row wrap" }, this.chooser, add, this.legend), this.area);
    new ResizeObserver(() => this.fit()).observe(this.area);
    this.restart();
  }

  get stream() {
    return this.scene.streams.find(({ name }) => name === `scalars/${this.robot?.name}`);
  }

  wants() {
    return this.stream ? { [this.stream.name]: HZ } : {};
  }

  /** @param {string} name */
  add(name) {
    if (!name || this.names.includes(name)) return;
    this.names.push(name);
    this.restart();
  }

  /** @param {string} name */
  remove(name) {
    this.names = this.names.filter((one) => one !== name);
    this.restart();
  }

  /** Begins an empty plot of the figures that are chosen. */
  restart() {
    this.plot?.destroy();
    /** @type {number[][]} */
    this.data = [[], ...this.names.map(() => [])];
    const ink = () => getComputedStyle(this.area).color;
    const axis = { stroke: ink, grid: { stroke: "rgb(128 150 160 / 25%)", width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
    const options = {
      width: 400,
      height: 120,
      legend: { show: false },
      cursor: { show: true, drag: { x: false, y: false } },
      scales: { x: { time: false } },
      axes: [{ ...axis, size: 24 }, { ...axis, size: 48 }],
      series: [{}, ...this.names.map((label, index) => ({ label, stroke: COLOURS[index % COLOURS.length], width: 1.75 }))],
    };
    this.plot = new uPlot(options, this.data, this.area);
    this.outputs = this.names.map(() => element("output", {}, "–"));
    this.legend.replaceChildren(
      ...this.names.map((name, index) =>
        element(
          "li",
          { style: `--colour: ${COLOURS[index % COLOURS.length]}` },
          element("span", {}, name),
          this.outputs[index],
          button("close", `No longer plot ${name}`, { class: "icon-only", on: { click: () => this.remove(name) } }),
        ),
      ),
    );
    this.fit();
  }

  fit() {
    const { clientWidth: width, clientHeight: height } = this.area;
    if (width > 80 && height > 40) this.plot?.setSize({ width, height });
  }

  update() {
    const live = this.live;
    if (!live || !this.data) return;
    const { depth, altitude, speed, heading_deg, roll_deg, pitch_deg, battery_percent } = live;
    const own = { depth, altitude, speed, heading_deg, roll_deg, pitch_deg, battery_percent };
    const driven = Object.entries(live.actuators).map(([name, { value }]) => [name, value]);
    Object.assign(this.now, own, Object.fromEntries(driven), live.scalars);
    const names = Object.keys(this.now).filter((name) => typeof this.now[name] === "number");
    if (this.chooser.length !== names.length) {
      this.chooser.replaceChildren(...names.map((name) => element("option", { value: name }, name)));
    }
    if (!this.stream) this.sample(this.state.time);
  }

  /** @param {string} stream @param {import("./types.js").Message} message */
  receive(stream, { values, time }) {
    const fields = this.stream?.fields ?? [];
    fields.forEach((name, index) => (this.now[name] = /** @type {Float32Array} */ (values)[index]));
    this.sample(time);
  }

  /** @param {number} time */
  sample(time) {
    const [times, ...series] = this.data;
    const last = times.at(-1) ?? -Infinity;
    if (time === last) return; // paused
    if (time < last) this.data.forEach((column) => (column.length = 0)); // reset, restored or scrubbed back
    times.push(time);
    series.forEach((column, index) => column.push(this.now[this.names[index]] ?? null));
    if (times.length > SAMPLES) this.data.forEach((column) => column.shift());
    this.plot?.setData(this.data);
    this.names.forEach((name, index) => (this.outputs[index].textContent = figure(this.now[name], 2)));
  }
}
