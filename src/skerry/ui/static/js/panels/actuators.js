// @ts-check
// Panel with a slider for every actuator of the chosen robot, in its own unit.
import { element, figure, label, write } from "./elements.js";
import { Panel } from "./panel.js";

const STEPS = 200; // steps of a slider between its ends
const HOLD_TIME = 600; // ms after the operator's last move during which the state does not move the slider

export class Actuators extends Panel {
  static id = "actuators";
  static title = "Actuators";
  static about = "Command each actuator with a slider. The command holds until the next one. A double click sets the value at rest.";

  build() {
    const actuators = (this.robot?.actuators ?? []).filter(({ kind }) => kind !== "winch");
    if (!actuators.length) return this.empty("This robot has no actuators.");
    this.sliders = new Map(actuators.map((actuator) => [actuator.name, this.slider(actuator)]));
    const rest = () => actuators.forEach((actuator) => this.actuate(actuator, actuator.reset));
    const all = element("button", { type: "button", class: "small", title: "Set every actuator to its value at rest", testid: "actuators-rest", on: { click: rest } }, "All to rest");
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
      "aria-label": `${label(name)}, ${unit}`,
      title: `${figure(low, 2)} to ${figure(high, 2)} ${unit}; double-click: ${figure(reset, 2)}`,
    });
    const slider = { row: element("label", { class: "slider" }, element("span", {}, label(name)), figures, input), input, figures, moved: 0 };
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
      if (performance.now() - moved > HOLD_TIME && document.activeElement !== input) input.value = String(live.target);
    }
  }
}
