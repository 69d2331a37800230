// @ts-check
// Panel with the keys that drive the chosen robot. Held keys are highlighted; a key can also be held by mouse or touch.
import { element } from "./elements.js";
import { Panel } from "./panel.js";

export class Keys extends Panel {
  static id = "keys";
  static title = "Drive";
  static about = "Hold a key to drive the chosen robot, and release it to stop. Keys can also be held with the mouse.";

  prepare() {
    this.store.on("held", () => this.updateIfShown());
  }

  build() {
    const keys = this.robot?.keys ?? [];
    if (!keys.length) return this.empty("This robot has no keys. Send it to a position on the map, or use its actuators.");
    this.caps = new Map(keys.map((key) => [key.key, this.cap(key)]));
    const rows = keys.map(({ key, does }) => element("li", {}, this.caps.get(key), element("span", {}, does)));
    this.body.replaceChildren(element("ul", { class: "keys" }, ...rows));
  }

  /** @param {import("./types.js").KeyScene} key */
  cap({ key, label, does }) {
    const release = () => this.context.driving.release(key);
    return element(
      "button",
      {
        type: "button",
        class: "key",
        title: `Hold: ${does}`,
        "aria-label": `${label}: ${does}`,
        testid: `key-${key}`,
        on: {
          pointerdown: (/** @type {PointerEvent} */ event) => {
            if (event.button === 0) this.context.driving.press(key);
          },
          pointerup: release,
          pointerleave: release,
          pointercancel: release,
          keydown: (/** @type {KeyboardEvent} */ event) => {
            if ((event.key === " " || event.key === "Enter") && !event.repeat) this.context.driving.press(key);
          },
          keyup: release,
          blur: release,
        },
      },
      label,
    );
  }

  update() {
    const held = new Set([...(this.store.get("held") ?? []), ...(this.live?.held ?? [])]);
    for (const [key, cap] of this.caps ?? []) cap.classList.toggle("held", held.has(key));
  }
}
