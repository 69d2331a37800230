// @ts-check
// Figures over the 3-D view, for when the panels are hidden too; and the card that tells a newcomer how to drive.
import { button, element, figure, write } from "./elements.js";
import { Panel } from "./panel.js";

const LEARNT = "skerry.learnt";
const CARD_KEYS = 6;

export class HeadUp extends Panel {
  static id = "hud";
  static title = "Figures";
  static about = "The chosen robot's heading, depth, altitude and speed, over the view.";

  prepare() {
    this.shown = true;
    this.figures = element("p", { class: "hud-figures", testid: "hud" });
    this.body.append(this.figures);
  }

  update() {
    const live = this.live;
    this.figures.hidden = !live;
    if (!live) return;
    const parts = [
      this.robot?.name,
      `HDG ${figure(live.heading_deg, 0).padStart(3, "0")}°`,
      live.depth > 0 ? `DEP ${figure(live.depth, 1)} m` : `HGT ${figure(-live.depth, 1)} m`,
      live.altitude === null ? null : `ALT ${figure(live.altitude, 1)} m`,
      `SPD ${figure(live.speed, 2)} m/s`,
    ];
    write(this.figures, parts.filter(Boolean).join("   "));
  }
}

export class Welcome extends Panel {
  static id = "welcome";
  static title = "Welcome";
  static about = "The first steps.";

  prepare() {
    this.shown = true;
    this.card = element("section", { class: "welcome", testid: "welcome", "aria-label": "First steps" });
    this.body.append(this.card);
    this.store.on("held", (held) => {
      // Whoever has held keys for a while needs no card.
      clearTimeout(this.timer);
      if (held.length) this.timer = setTimeout(() => this.close(), 1500);
    });
  }

  build() {
    const robot = this.robot;
    this.card.hidden = !robot || localStorage.getItem(LEARNT) !== null;
    if (!robot) return;
    const keys = robot.keys.slice(0, CARD_KEYS).map(({ label, does }) => element("li", {}, element("kbd", {}, label), does));
    const how = keys.length
      ? [element("p", {}, "Hold a key to drive, let go to stop:"), element("ul", {}, ...keys)]
      : [element("p", {}, "It has no keys: send it to a place that you click on the map.")];
    this.card.replaceChildren(
      element("h2", {}, `Drive ${robot.name}`),
      ...how,
      element("p", { class: "note" }, "Drag to look around, wheel to come nearer. All keys are under Drive; ", element("kbd", {}, "?"), " explains the rest."),
      button("close", "Close this card", { testid: "welcome-close", on: { click: () => this.close() } }, "Got it"),
    );
  }

  close() {
    this.card.hidden = true;
    localStorage.setItem(LEARNT, "yes");
  }
}
