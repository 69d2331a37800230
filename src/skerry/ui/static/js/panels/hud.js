// @ts-check
// Figures over the 3-D view, which stay visible without panels, and the welcome card with the first steps.
import { button, element, figure, write } from "./elements.js";
import { Panel } from "./panel.js";

const WELCOME_SEEN = "skerry.learnt";
const CARD_KEYS = 6; // keys that the welcome card lists

export class HeadUp extends Panel {
  static id = "hud";
  static title = "Figures";
  static about = "Heading, depth, altitude and speed of the chosen robot, shown over the view.";

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
      // Holding keys for a while shows that the user does not need the card.
      clearTimeout(this.timer);
      if (held.length) this.timer = setTimeout(() => this.close(), 1500);
    });
  }

  build() {
    const robot = this.robot;
    this.card.hidden = !robot || localStorage.getItem(WELCOME_SEEN) !== null;
    if (!robot) return;
    const keys = robot.keys.slice(0, CARD_KEYS).map(({ label, does }) => element("li", {}, element("kbd", {}, label), does));
    const how = keys.length
      ? [element("p", {}, "Hold a key to drive, and release it to stop:"), element("ul", {}, ...keys)]
      : [element("p", {}, "This robot has no keys. Click on the map to send it to a position.")];
    this.card.replaceChildren(
      element("h2", {}, `Drive ${robot.name}`),
      ...how,
      element("p", { class: "note" }, "Drag to turn the view, use the wheel to zoom. All keys are listed under Drive. The key ", element("kbd", {}, "?"), " opens the help."),
      button("close", "Close this card", { testid: "welcome-close", on: { click: () => this.close() } }, "Got it"),
    );
  }

  close() {
    this.card.hidden = true;
    localStorage.setItem(WELCOME_SEEN, "yes");
  }
}
