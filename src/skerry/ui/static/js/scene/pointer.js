// @ts-check
// Mouse input of the 3-D view: left drags turn the camera, right drags pan and fly, clicks choose. Tools can handle drags first.

const CLICK = 5; // pixels that the mouse may move during a click

export class Pointer {
  /**
   * @param {{canvas: HTMLCanvasElement, rig: import("./camera.js").CameraRig, tools: import("./tools.js").Tools}} parts
   */
  constructor({ canvas, rig, tools }) {
    this.canvas = canvas;
    this.rig = rig;
    this.tools = tools;
    this.moved = 0;
    /** Button that started the present drag. @type {number | null} */
    this.button = null;
    canvas.addEventListener("pointerdown", (event) => this.#press(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    canvas.addEventListener("pointerup", (event) => this.#release(event, true));
    canvas.addEventListener("pointercancel", (event) => this.#release(event, false));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        rig.zoom(event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1));
      },
      { passive: false },
    );
  }

  /** @param {PointerEvent} event */
  #press(event) {
    if (this.button !== null) return;
    this.button = event.button;
    this.moved = 0;
    this.canvas.setPointerCapture(event.pointerId);
    this.canvas.focus({ preventScroll: true });
    if (event.button === 2) this.rig.fly(true);
    this.dragging = event.button === 0 && this.tools.press(event);
  }

  /** @param {PointerEvent} event */
  #move(event) {
    if (this.button === null) return this.tools.hover(event);
    this.moved += Math.abs(event.movementX) + Math.abs(event.movementY);
    if (this.dragging) this.tools.drag(event);
    else if (this.button === 0 && this.moved > CLICK) this.rig.orbit(event.movementX, event.movementY);
    else if (this.button === 2) this.rig.pan(event.movementX, event.movementY);
  }

  /**
   * @param {PointerEvent} event
   * @param {boolean} done
   */
  #release(event, done) {
    if (event.button !== this.button && done) return;
    if (this.button === 2) this.rig.fly(false);
    if (this.dragging) this.tools.drop(done);
    else if (this.button === 0 && done && this.moved <= CLICK) this.tools.click(event);
    this.button = null;
    this.dragging = false;
  }
}
