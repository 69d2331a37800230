// @ts-check
// Base class of panels that show one of several streams: a list to choose from, the time of the last message, a large view.
import { button, element, figure, write } from "./elements.js";
import { Panel } from "./panel.js";

/** Panel that shows one stream of the chosen robot. The stream is chosen from a list. */
export class StreamPanel extends Panel {
  /** Display kinds of sensors that the panel shows. @type {string[]} */
  static displays = [];
  /** Rate of the subscription, Hz. */
  static hz = 10;
  /** Text for a robot without such a sensor. */
  static none = "";

  /** @returns {typeof StreamPanel} */
  get kind() {
    return /** @type {typeof StreamPanel} */ (this.constructor);
  }

  /** Streams of the chosen robot that the panel can show. */
  get streams() {
    const robot = this.robot?.name;
    return this.scene.streams.filter((stream) => stream.robot === robot && this.kind.displays.includes(stream.display?.kind ?? ""));
  }

  /** Unit of a field of the display of the shown stream. @param {string} field */
  unit(field) {
    const display = this.stream?.display;
    return display?.units[display[field]] ?? "";
  }

  prepare() {
    this.body.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Escape") this.body.classList.remove("large");
    });
  }

  build() {
    const streams = this.streams;
    this.stream = streams[0];
    if (!streams.length) return this.empty(this.kind.none);
    const options = streams.map(({ name, sensor, title }) => element("option", { value: name }, title ?? sensor));
    const choose = element("select", { "aria-label": `${this.kind.title} of`, testid: `${this.kind.id}-choose` }, ...options);
    choose.addEventListener("change", () => {
      this.stream = streams.find(({ name }) => name === choose.value);
      this.fill(this.content);
      this.subscribe();
    });
    this.stamp = element("span", { class: "note grow right", testid: `${this.kind.id}-stamp`, "data-count": 0 }, "waiting …");
    const large = button("expand", "Switch the large view on or off (Escape)", { class: "icon-only", testid: `${this.kind.id}-large` });
    large.addEventListener("click", () => this.body.classList.toggle("large"));
    this.content = element("div", { class: "content" });
    this.body.replaceChildren(element("div", { class: "row" }, choose, this.stamp, large), this.content);
    this.fill(this.content);
  }

  streamRates() {
    return this.stream ? { [this.stream.name]: this.kind.hz } : {};
  }

  /** @param {string} stream @param {import("./types.js").Message} message */
  receive(stream, message) {
    this.draw(message);
    this.stamp.dataset.count = String(Number(this.stamp.dataset.count) + 1);
    write(this.stamp, `${figure(message.time, 1)} s`);
  }

  /** Create the elements that show a stream. @param {HTMLElement} content */
  fill(content) {}

  /** Draw a message. @param {import("./types.js").Message} message */
  draw(message) {}
}

/** Colours of sonar images from dark brown to pale gold: 256 RGBA values as numbers in the byte order of ImageData. */
export const COPPER = new Uint32Array(256).map((_, level) => {
  const share = level / 255;
  const [red, green, blue] = [Math.min(1, 1.9 * share), 0.82 * share ** 1.15, Math.max(0, 1.6 * share - 0.75)].map((part) => Math.round(255 * part));
  return (255 << 24) | (blue << 16) | (green << 8) | red;
});
