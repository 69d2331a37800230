// @ts-check
// Panel with the robots: choice of the robot, its source of commands, its drive lock, and the status of the interfaces.
import { element, label, write } from "./elements.js";
import { Panel } from "./panel.js";

const SOURCE_LABELS = { external: "External", manual: "Manual", api: "API", mixed: "mixed" };

export class Robots extends Panel {
  static id = "robots";
  static title = "Robots";
  static about = "Choose a robot and the source of its commands: keys and sliders of this page, ROS, or one of its controllers.";

  build() {
    const robots = this.scene.robots;
    if (!robots.length) return this.empty("This scenario has no robots. Choose another scenario in the menu Scenario.");
    this.items = new Map(robots.map((robot, index) => [robot.name, this.item(robot, index)]));
    this.sources = element("div", { class: "segments", role: "radiogroup", "aria-label": "Source of the robot's commands" });
    this.keys = element("span", { testid: "lease" });
    this.take = element("button", { type: "button", class: "small", testid: "lease-take", on: { click: () => this.lease() } });
    this.interfaces = element("ul", { class: "interfaces", testid: "interfaces", "aria-label": "Interfaces" });
    const list = element("ul", { class: "robots", "aria-label": "Robots" }, ...this.items.values());
    const parts = [list];
    if (this.robot) {
      this.sources.append(...this.choices().map((choice) => this.source(choice)));
      parts.push(this.sources, element("p", { class: "row between note" }, this.keys, this.take));
    }
    this.body.replaceChildren(...parts, this.interfaces);
  }

  /** @param {import("./types.js").RobotScene} robot @param {number} index */
  item(robot, index) {
    const chosen = robot.name === this.store.get("robot");
    const key = index < 9 ? ` (key ${index + 1})` : "";
    const choose = element(
      "button",
      {
        type: "button",
        title: `Choose ${robot.name}${key}`,
        "aria-pressed": String(chosen),
        testid: `robot-${robot.name}`,
        on: { click: () => this.store.set("robot", robot.name) },
      },
      element("span", { class: "dot" }),
      element("span", { class: "name" }, robot.name),
      element("span", { class: "what" }, label(robot.vehicle)),
      element("span", { class: "source" }),
    );
    return element("li", {}, choose);
  }

  choices() {
    const controllers = (this.robot?.controllers ?? []).map(({ name }) => ({
      source: `controller/${name}`,
      label: label(name),
      does: `The controller ${name} commands the robot`,
    }));
    return [
      { source: "manual", label: "Manual", does: "Keys and sliders of this page command the robot" },
      { source: "external", label: "External", does: "ROS, Okoń, Husky and other external clients command the robot; keys are ignored" },
      ...controllers,
    ];
  }

  /** @param {{source: string, label: string, does: string}} choice */
  source({ source, label, does }) {
    const choose = () => this.command({ op: "source", robot: this.robot?.name, source });
    return element(
      "button",
      { type: "button", role: "radio", title: does, "data-source": source, testid: `source-${source.replace("/", "-")}`, on: { click: choose } },
      label,
    );
  }

  lease() {
    const mine = this.live?.lease === this.me;
    this.command({ op: "lease", robot: this.robot?.name, take: !mine });
  }

  get me() {
    return this.store.get("hello")?.client;
  }

  update() {
    for (const [name, item] of this.items ?? []) {
      const { control, controller } = this.state.robots[name] ?? {};
      item.dataset.control = control ?? "none";
      const source = control === "controller" ? label(controller ?? "controller") : SOURCE_LABELS[/** @type {keyof typeof SOURCE_LABELS} */ (control)];
      write(item.querySelector(".source"), source ?? "idle");
    }
    if (this.live) this.updateControl(this.live);
    this.updateInterfaces();
  }

  /** @param {import("./types.js").RobotState} live */
  updateControl({ control, controller, lease }) {
    const source = control === "controller" ? `controller/${controller}` : control;
    for (const choice of this.sources.children) choice.setAttribute("aria-checked", String(choice.dataset.source === source));
    const mine = lease !== null && lease === this.me;
    write(this.keys, mine ? "This page drives the robot" : lease ? `Page ${lease} drives the robot` : "No page drives the robot");
    write(this.take, mine ? "Release" : "Drive");
    this.take.title = mine ? "Let another page drive the robot" : "Drive the robot from this page; only one page at a time can drive it";
    this.take.disabled = lease !== null && !mine;
  }

  updateInterfaces() {
    const interfaces = this.state.interfaces;
    const text = JSON.stringify(interfaces);
    if (this.interfaces && this.interfaces.dataset.shown !== text) {
      this.interfaces.dataset.shown = text;
      const rows = interfaces.map(({ name, kind, status }) =>
        element("li", { title: `${kind}: ${status}` }, element("b", {}, label(name)), " ", element("span", {}, status)),
      );
      const none = element("li", { class: "empty" }, "No interfaces. Start with ", element("code", {}, "--ros endpoint"), " to connect ROS.");
      this.interfaces.replaceChildren(...(rows.length ? rows : [none]));
    }
  }
}
