// @ts-check
// Windows over the 3-D view with the pictures of the cameras that have a `preview`, of all robots.
import { drawPicture } from "./camera.js";
import { button, element } from "./elements.js";
import { Panel } from "./panel.js";

const RATE = 10; // Hz

export class Previews extends Panel {
  static id = "previews";
  static title = "Previews";
  static about = "Windows with the pictures of the cameras that have a preview.";

  prepare() {
    this.shown = true;
    /** Canvases of the open windows, by stream. @type {Map<string, HTMLCanvasElement>} */
    this.canvases = new Map();
  }

  build() {
    if (this.built === this.scene) return; // another robot was chosen; the windows stay
    this.built = this.scene;
    this.canvases.clear();
    const shown = this.scene.streams.filter(({ display }) => display?.kind === "image" && display.preview);
    this.body.replaceChildren(...shown.map((stream) => this.#open(stream)));
  }

  streamRates() {
    return Object.fromEntries([...(this.canvases?.keys() ?? [])].map((stream) => [stream, RATE]));
  }

  /** @param {string} stream @param {import("./types.js").Message} message */
  receive(stream, { jpeg }) {
    const canvas = this.canvases.get(stream);
    if (canvas) drawPicture(canvas, jpeg);
  }

  /**
   * Return the window of a stream. Its title bar moves it, and its lower right corner resizes it.
   * @param {import("./types.js").StreamScene} stream
   */
  #open({ name, title, display }) {
    const [left, top, width, height] = display?.preview;
    const canvas = element("canvas", { testid: "preview-picture", role: "img", "aria-label": `Preview of ${title}` });
    const picture = element("div", { class: "preview-picture" }, canvas);
    picture.style.cssText = `width: ${width}px; height: ${height}px`;
    const close = button("close", "Close the preview", { class: "icon-only", testid: "preview-close" });
    const bar = element("div", { class: "preview-bar" }, element("span", { class: "grow" }, title), close);
    const frame = element("section", { class: "preview", testid: "preview", "data-stream": name }, bar, picture);
    frame.style.cssText = `left: ${left}px; top: ${top}px`;
    close.addEventListener("click", () => {
      frame.remove();
      this.canvases.delete(name);
      this.subscribe();
    });
    bar.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
      if (event.target !== close && !close.contains(/** @type {Node} */ (event.target))) bar.setPointerCapture(event.pointerId);
    });
    bar.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
      if (!bar.hasPointerCapture(event.pointerId)) return;
      frame.style.left = `${frame.offsetLeft + event.movementX}px`;
      frame.style.top = `${frame.offsetTop + event.movementY}px`;
    });
    this.canvases.set(name, canvas);
    return frame;
  }
}
