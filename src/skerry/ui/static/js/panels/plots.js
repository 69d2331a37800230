// @ts-check
// Panel with plots of the chosen robot's numbers over time.
import { button, element, figure, write } from "./elements.js";
import { Panel } from "./panel.js";

const SAMPLES = 1500; // samples of each plotted number
const HZ = 20; // rate of the stream
/** Colours of Okabe and Ito for colour-blind viewers (Nature Methods 8, 441, 2011), without yellow and black. */
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7"];
const CHOSEN = ["depth", "speed"];

export class Plots extends Panel {
  static id = "plots";
  static title = "Plots";
  static about = "Plots of any number of the robot over time. Several can be added.";

  async build() {
    this.plotter ??= (await import("../../vendor/uPlot.esm.js")).default; // loaded when the plots are shown for the first time
    if (!this.stream) return this.empty("Choose a robot to plot its numbers.");
    /** @type {string[]} */
    this.names = (this.names ?? CHOSEN).filter((name) => this.fields.includes(name));
    this.chooser = element("select", { "aria-label": "Number to add", testid: "plots-choose" });
    this.chooser.append(...this.fields.map((name) => element("option", { value: name }, name)));
    const add = button("plus", "Add a plot of this number", { testid: "plots-add", on: { click: () => this.add(this.chooser.value) } }, "Add");
    this.legend = element("ul", { class: "legend" });
    this.area = element("div", { class: "plot-area", testid: "plots-area" });
    this.body.replaceChildren(element("div", { class: "row wrap" }, this.chooser, add, this.legend), this.area);
    new ResizeObserver(() => this.fit()).observe(this.area);
    this.restart();
  }

  get stream() {
    return this.scene.streams.find(({ name }) => name === `scalars/${this.robot?.name}`);
  }

  get fields() {
    return this.stream?.fields ?? [];
  }

  streamRates() {
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

  /** Start an empty plot of the chosen numbers. */
  restart() {
    this.plot?.destroy();
    /** @type {number[][]} */
    this.data = [[], ...this.names.map(() => /** @type {number[]} */ ([]))];
    const ink = () => getComputedStyle(this.area).color;
    const axis = { stroke: ink, grid: { stroke: "rgb(128 150 160 / 25%)", width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
    const options = {
      width: 400,
      height: 120,
      legend: { show: false },
      cursor: { show: true, drag: { x: false, y: false } },
      scales: { x: { time: false } },
      axes: [{ ...axis, size: 24 }, { ...axis, size: 48 }],
      series: [{}, ...this.names.map((label, index) => ({ label, stroke: COLOURS[index % COLOURS.length], width: 1.75, points: { show: false } }))],
    };
    /** @type {any} */
    this.plot = new /** @type {any} */ (this.plotter)(options, this.data, this.area);
    /** @type {HTMLElement[]} */
    this.outputs = this.names.map(() => element("output", {}, "–"));
    this.legend.replaceChildren(
      ...this.names.map((name, index) =>
        element(
          "li",
          { style: `--colour: ${COLOURS[index % COLOURS.length]}` },
          element("span", {}, name),
          this.outputs[index],
          element("small", {}, this.stream?.units?.[this.fields.indexOf(name)] ?? ""),
          button("close", `Remove ${name}`, { class: "icon-only", on: { click: () => this.remove(name) } }),
        ),
      ),
    );
    this.fit();
  }

  fit() {
    const { clientWidth: width, clientHeight: height } = this.area;
    if (width > 80 && height > 40) this.plot?.setSize({ width, height });
  }

  /** @param {string} stream @param {import("./types.js").Message} message */
  receive(stream, { values, time }) {
    if (!values || !this.plot) return;
    const fields = this.fields;
    this.sample(time, this.names.map((name) => values[fields.indexOf(name)] ?? NaN));
  }

  /** @param {number} time @param {number[]} values */
  sample(time, values) {
    const [times, ...series] = this.data;
    const last = times.at(-1) ?? -Infinity;
    if (time === last) return; // paused
    if (time < last) this.data.forEach((column) => (column.length = 0)); // time went back: a reset, a restored snapshot or a seek
    times.push(time);
    series.forEach((column, index) => column.push(Number.isFinite(values[index]) ? values[index] : null));
    if (times.length > SAMPLES) this.data.forEach((column) => column.shift());
    this.plot?.setData(this.data);
    this.outputs.forEach((output, index) => write(output, figure(values[index], 2)));
  }
}
