// @ts-check
// Panel with the winches of the chosen robot: length, speed, tension, release.
import { button, element, figure, label, write } from "./elements.js";
import { Panel } from "./panel.js";

export class Winch extends Panel {
  static id = "winch";
  static title = "Winch";
  static about = "Pay out and take in rope, read its tension, and release the load.";

  build() {
    const winches = this.robot?.winches ?? [];
    if (!winches.length) return this.empty("This robot has no winch. The drone in the scenario drone recovers sam has one.");
    this.rows = new Map(winches.map((winch) => [winch.name, this.winch(winch)]));
    this.body.replaceChildren(...[...this.rows.values()].map(({ whole }) => whole));
  }

  /** @param {import("./types.js").WinchScene} winch */
  winch({ name, low, high }) {
    const robot = this.robot?.name;
    const figures = element("p", { class: "note", testid: `winch-${name}-figures` }, "–");
    const shown = element("output", {}, "–");
    const target = element("input", { type: "range", min: low, max: high, step: 0.05, value: low, testid: `winch-${name}-target`, "aria-label": "Target length, m", title: "Target length of the rope, m" });
    const speed = element("input", { type: "number", min: 0.01, step: 0.05, value: 0.3, testid: `winch-${name}-speed`, "aria-label": "Speed, m/s", title: "Speed of the rope, m/s" });
    const wind = () => this.command({ op: "winch", robot, winch: name, target: Number(target.value), speed: Number(speed.value) });
    target.addEventListener("input", () => write(shown, `${figure(Number(target.value), 2)} m`));
    target.addEventListener("change", wind);
    speed.addEventListener("change", wind);
    const release = button("close", "Release the load at the hook", { testid: `winch-${name}-release` }, "Release");
    release.addEventListener("click", () => this.command({ op: "winch", robot, winch: name, release: true }));
    const whole = element(
      "section",
      { class: "winch" },
      element("h3", {}, label(name)),
      element("label", { class: "slider" }, element("span", {}, "Length"), shown, target),
      element("div", { class: "row between" }, element("label", { class: "row note" }, "Speed", speed, "m/s"), release),
      figures,
    );
    return { whole, figures, target, shown };
  }

  update() {
    for (const [name, { figures, target, shown }] of this.rows ?? []) {
      const live = this.live?.winches[name];
      if (!live) continue;
      const load = live.loaded ? "loaded" : "empty hook";
      write(figures, `${figure(live.length, 2)} m out · ${figure(live.tension, 0)} N · ${load}`);
      if (document.activeElement !== target) {
        target.value = String(live.target);
        write(shown, `${figure(live.target, 2)} m`);
      }
    }
  }
}
