// @ts-check
// Right half of the bar: camera, overlays, clarity and tools of the 3-D view; theme, panels, help.
import { CAMERAS, OVERLAYS, TOOLS } from "../scene/switches.js";
import { button, element, figure, label, write } from "./elements.js";
import { menu } from "./menu.js";
import { Panel } from "./panel.js";
import { toggleTheme } from "./theme.js";

export class Viewing extends Panel {
  static id = "viewing";
  static title = "View";
  static about = "Camera, overlays, clarity of the water, tools, and the theme of the page.";

  prepare() {
    this.shown = true;
    this.cameras = element("select", { title: "Camera of the 3-D view", "aria-label": "View", testid: "view" });
    this.cameras.addEventListener("change", () => {
      const [mode, robot, sensor] = this.cameras.value.split("|");
      this.store.set("camera", robot ? { mode, robot, sensor } : { mode });
    });
    this.store.on("camera", ({ mode, robot, sensor }) => (this.cameras.value = [mode, robot, sensor].filter(Boolean).join("|")));
    const help = button("help", "Help (key ?)", { class: "icon-only", testid: "help", on: { click: () => this.store.notify("help", true) } });
    const hide = button("panels", "Hide or show all panels (key P)", { class: "icon-only", testid: "hide", on: { click: () => this.store.set("hidden", !this.store.get("hidden")) } });
    const theme = button("theme", "Light or dark", { class: "icon-only", testid: "theme", on: { click: toggleTheme } });
    this.body.append(this.cameras, this.overlayMenu(), this.toolMenu(), theme, hide, help);
  }

  build() {
    const chosen = this.cameras.value;
    const plain = CAMERAS.filter(({ mode }) => mode !== "sensor").map(({ mode, title, does }) => element("option", { value: mode, title: does }, title));
    const sensors = this.scene.robots.flatMap(({ name, sensors }) =>
      sensors
        .filter((sensor) => sensor.display.some(({ kind }) => kind === "image"))
        .map((sensor) => element("option", { value: `sensor|${name}|${sensor.name}` }, `${name}: ${label(sensor.name)}`)),
    );
    this.cameras.replaceChildren(...plain, ...(sensors.length ? [element("optgroup", { label: "Through a camera" }, ...sensors)] : []));
    this.cameras.value = chosen || this.store.get("camera").mode;
  }

  overlayMenu() {
    const switches = OVERLAYS.map(({ name, title, does }) => {
      const box = element("input", { type: "checkbox", testid: `show-${name}` });
      box.addEventListener("change", () => this.store.set(`show:${name}`, box.checked));
      this.store.on(`show:${name}`, (shown) => (box.checked = shown));
      return element("label", { class: "switch", title: does }, box, title);
    });
    const clarity = element("input", { type: "range", min: 0, max: 1, step: 0.02, testid: "clarity", title: "Clarity of the water in this view. It does not change the cameras of the robots" });
    clarity.addEventListener("input", () => this.store.set("clarity", Number(clarity.value)));
    this.store.on("clarity", (value) => (clarity.value = String(value)));
    return menu(
      "overlays",
      "layers",
      "Show",
      "Overlays of the view, and clarity of the water",
      element("div", { class: "switches" }, ...switches),
      element("label", { class: "slider" }, element("span", {}, "Clarity of the water"), clarity),
    );
  }

  toolMenu() {
    const tools = TOOLS.map(({ name, title, does }) => {
      const choose = element("button", { type: "button", class: "tool", "aria-pressed": "false", testid: `tool-${name}` }, element("b", {}, title), element("span", {}, does));
      choose.addEventListener("click", () => this.store.set("tool", this.store.get("tool") === name ? null : name));
      this.store.on("tool", (tool) => choose.setAttribute("aria-pressed", String(tool === name)));
      return choose;
    });
    const measured = element("p", { class: "note", testid: "measured" }, "Nothing measured yet.");
    this.store.on("measure", (measure) => {
      if (measure?.distance !== undefined) write(measured, `Distance: ${figure(measure.distance, 2)} m`);
    });
    return menu("tools", "ruler", "Tools", "Measure, move objects, or send a robot with a click in the view", ...tools, measured);
  }
}
