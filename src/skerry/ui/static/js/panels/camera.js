// @ts-check
// Panel with the ray-traced picture of a camera of the chosen robot.
import { element, context2d } from "./elements.js";
import { StreamPanel } from "./picture.js";

export class Camera extends StreamPanel {
  static id = "camera";
  static title = "Camera";
  static about = "The ray-traced picture of a camera on the robot, as clients receive it.";
  static displays = ["image"];
  static none = "This robot has no camera.";

  /** @param {HTMLElement} content */
  fill(content) {
    this.canvas = element("canvas", { class: "picture", width: 320, height: 240, testid: "camera-picture", role: "img", "aria-label": "Camera picture" });
    content.replaceChildren(this.canvas);
  }

  /** @param {import("./types.js").Message} message */
  draw({ jpeg }) {
    drawPicture(this.canvas, jpeg);
  }
}

/** Canvases whose picture is being decoded. @type {WeakSet<HTMLCanvasElement>} */
const decoding = new WeakSet();

/**
 * Draw a picture on a canvas, whose size becomes that of the picture. A picture that arrives while another is decoded is skipped.
 * @param {HTMLCanvasElement} canvas
 * @param {Uint8Array | undefined} jpeg
 */
export async function drawPicture(canvas, jpeg) {
  if (decoding.has(canvas) || !jpeg) return;
  decoding.add(canvas);
  try {
    const picture = await createImageBitmap(new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (jpeg)], { type: "image/jpeg" }));
    if (canvas.width !== picture.width) canvas.width = picture.width;
    if (canvas.height !== picture.height) canvas.height = picture.height;
    context2d(canvas).drawImage(picture, 0, 0);
    picture.close();
  } finally {
    decoding.delete(canvas);
  }
}
