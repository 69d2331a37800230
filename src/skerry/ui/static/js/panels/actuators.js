// @ts-check
// A slider for every actuator of the chosen robot, in its own unit.
import { element, figure, words, write } from "./elements.js";
import { Panel } from "./panel.js";

const STEPS = 200; // of a slider, from one end to the other
const PATIENCE = 600; // ms after the last move in which the slider is the hand's, not the state's

export class Actuators extends Panel {
  static id = "actuators";
  static title = "Actuators";
  static about = "Command each actuator by a slider; it holds until the next command. Double-click goes back to rest.";

  build() {
    const actuators = (this.robot?.actuators ?? []).filter(({ kind }) => kind !== "winch");
    if (!actuators.length) return this.empty("This robot has no actuators.");
    this.sliders = new Map(actuators.map((actuator) => [actuator.name, this.slider(actuator)]));
    const rest = () => actuators.forEach((actuator) => this.actuate(actuator, actuator.reset));
    const all = element("button", { type: "button", class: "small", title: "Every actuator to its value at rest", testid: "actuators-rest", on: { click: rest } }, "All to rest");
    this.body.replaceChildren(...[...this.sliders.values()].map(({ row }) => row), element("p", { class: "row end" }, all));
  }

  /** @param {import("./types.js").ActuatorScene} actuator */
  slider(actuator) {
    const { name, unit, low, high, reset } = actuator;
    const figures = element("output", {}, "–");
    const input = element("input", {
      type: "range",
      min: low,
      max: high,
      step: (high - low) / STEPS,
      value: reset,
      testid: `actuator-${name}`,
      "aria-label": `${words(name)}, ${unit}`,
      title: `${figure(low, 2)} to ${figure(high, 2)} ${unit}; double-click: ${figure(reset, 2)}`,
    });
    const slider = { row: element("label", { class: "slider" }, element("span", {}, words(name)), figures, input), input, figures, moved: 0 };
    input.addEventListener("input", () => {
      slider.moved = performance.now();
      this.actuate(actuator, Number(input.value));
    });
    input.addEventListener("dblclick", () => {
      input.value = String(reset);
      this.actuate(actuator, reset);
    });
    return slider;
  }

  /** @param {import("./types.js").ActuatorScene} actuator @param {number} value */
  actuate({ name, keyword }, value) {
    return this.command({ op: "actuate", robot: this.robot?.name, actuator: name, value: { [keyword]: value } });
  }

  update() {
    for (const [name, { input, figures, moved }] of this.sliders ?? []) {
      const live = this.live?.actuators[name];
      if (!live) continue;
      const digits = Number(input.max) - Number(input.min) > 50 ? 0 : 2;
      write(figures, `${figure(live.value, digits)} ${live.unit}`);
      if (performance.now() - moved > PATIENCE && document.activeElement !== input) input.value = String(live.target);
    }
  }
}
