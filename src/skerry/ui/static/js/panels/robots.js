// @ts-check
// The robots: which is chosen, who commands it, who has its keys, and how the peers outside are.
import { element, words, write } from "./elements.js";
import { Panel } from "./panel.js";

const WHO = { external: "ROS", manual: "Manual", api: "API", mixed: "mixed" };

export class Robots extends Panel {
  static id = "robots";
  static title = "Robots";
  static about = "Choose a robot, and who commands it: keys and sliders here, ROS, or a controller that it carries.";

  build() {
    const robots = this.scene.robots;
    if (!robots.length) return this.empty("This scenario has no robots. Choose another in the menu Scenario.");
    this.items = new Map(robots.map((robot, index) => [robot.name, this.item(robot, index)]));
    this.sources = element("div", { class: "segments", role: "radiogroup", "aria-label": "Who commands the robot" });
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
      element("span", { class: "what" }, words(robot.vehicle)),
      element("span", { class: "who" }),
    );
    return element("li", {}, choose);
  }

  choices() {
    const controllers = (this.robot?.controllers ?? []).map(({ name }) => ({
      source: `controller/${name}`,
      label: words(name),
      does: `Its controller ${name} commands it`,
    }));
    return [
      { source: "manual", label: "Manual", does: "Keys and sliders of this page command it" },
      { source: "external", label: "ROS", does: "ROS and other peers outside command it; keys are ignored" },
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
      const who = control === "controller" ? words(controller ?? "controller") : WHO[/** @type {keyof typeof WHO} */ (control)];
      write(item.querySelector(".who"), who ?? "idle");
    }
    if (this.live) this.updateControl(this.live);
    this.updateInterfaces();
  }

  /** @param {import("./types.js").RobotState} live */
  updateControl({ control, controller, lease }) {
    const source = control === "controller" ? `controller/${controller}` : control;
    for (const choice of this.sources.children) choice.setAttribute("aria-checked", String(choice.dataset.source === source));
    const mine = lease !== null && lease === this.me;
    write(this.keys, mine ? "You have its keys" : lease ? `Page ${lease} has its keys` : "Nobody has its keys");
    write(this.take, mine ? "Release" : "Take keys");
    this.take.title = mine ? "Let another page drive it" : "Drive it from this page; one page at a time may";
    this.take.disabled = lease !== null && !mine;
  }

  updateInterfaces() {
    const interfaces = this.state.interfaces;
    const text = JSON.stringify(interfaces);
    if (this.interfaces && this.interfaces.dataset.shown !== text) {
      this.interfaces.dataset.shown = text;
      const rows = interfaces.map(({ name, kind, status }) =>
        element("li", { title: `${kind}: ${status}` }, element("b", {}, words(name)), " ", element("span", {}, status)),
      );
      const none = element("li", { class: "empty" }, "No peers outside. Start with ", element("code", {}, "--ros endpoint"), " to let ROS in.");
      this.interfaces.replaceChildren(...(rows.length ? rows : [none]));
    }
  }
}
