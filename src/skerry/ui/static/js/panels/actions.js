// @ts-check
// Panel with actions on the chosen robot: send it to a waypoint, move it, trigger a leak.
import { button, element } from "./elements.js";
import { Panel } from "./panel.js";

export class Actions extends Panel {
  static id = "actions";
  static title = "Send, move, leak";
  static about = "Send the robot to a waypoint, move it to another position immediately, or trigger its leak sensor.";

  prepare() {
    // A place that is clicked on the map before this panel was built is filled in later.
    this.store.on("place", (place) => (this.fields ? this.fill(place) : (this.asked = place)));
  }

  build() {
    const robot = this.robot;
    if (!robot) return this.empty("Choose a robot first.");
    this.fields = { east: this.field("east", "East, m", 0), north: this.field("north", "North, m", 0), up: this.field("up", "Up, m", 0) };
    const here = button("target", "Fill in the present position of the robot", { testid: "place-here", class: "icon-only", on: { click: () => this.fill(this.live?.position) } });
    const send = button("send", "Send the robot to this position with its controller", { testid: "waypoint-send", on: { click: () => this.send() } }, "Go there");
    const stop = button("pause", "Stop the controller of the robot", { testid: "waypoint-stop", on: { click: () => this.command({ op: "stop", robot: robot.name }) } }, "Stop");
    const move = button("target", "Move the robot to this position immediately, at rest", { testid: "teleport", on: { click: () => this.teleport() } }, "Move");
    const able = robot.controllers.some(({ waypoints }) => waypoints);
    send.disabled = stop.disabled = !able;
    if (!able) send.title = stop.title = "This robot has no controller that accepts waypoints";
    const leaks = robot.sensors.some((sensor) => sensor.can_be_triggered);
    const leak = button("warning", "Trigger the leak sensor of the robot", { testid: "leak", on: { click: () => this.command({ op: "leak", robot: robot.name }) } }, "Leak");
    leak.disabled = !leaks;
    if (!leaks) leak.title = "This robot has no leak sensor or other alarm";
    this.body.replaceChildren(
      element("div", { class: "place" }, ...Object.values(this.fields).map((input) => input.parentElement), here),
      element("div", { class: "row wrap" }, send, stop, move, leak),
      element("p", { class: "note" }, "Or click on the map to fill in a position."),
    );
    this.touched = false;
    this.fill(this.asked);
    this.asked = undefined;
  }

  /** @param {string} id @param {string} title @param {number} value */
  field(id, title, value) {
    const input = element("input", { type: "number", step: 0.1, value, testid: `place-${id}`, on: { input: () => (this.touched = true) } });
    element("label", { class: "field" }, element("span", {}, title), input);
    return input;
  }

  /** @param {number[] | undefined} place */
  fill(place) {
    if (!place || !this.fields) return;
    Object.values(this.fields).forEach((input, index) => {
      if (place[index] !== undefined) input.value = place[index].toFixed(1);
    });
    this.touched = true;
  }

  get place() {
    return Object.values(this.fields ?? {}).map((input) => Number(input.value));
  }

  send() {
    return this.command({ op: "waypoint", robot: this.robot?.name, position: this.place, tolerance: 2 });
  }

  teleport() {
    return this.command({ op: "teleport", name: this.robot?.name, position: this.place });
  }

  update() {
    if (!this.touched && this.live) {
      this.fill(this.live.position);
      this.touched = true;
    }
  }
}
