// @ts-check
// Background of the map: the terrain with colours by height, shaded from the north-west.
import { context2d } from "./elements.js";

const MAX_SIZE = 512; // pixels of the longer side of the picture

/** Heights above the water, m, and their colours. @type {[number, [number, number, number]][]} */
const TINTS = [
  [-100, [10, 32, 58]],
  [-30, [18, 58, 92]],
  [-10, [32, 94, 128]],
  [-3, [62, 134, 158]],
  [0, [112, 172, 178]],
  [0.01, [122, 128, 92]],
  [8, [104, 112, 80]],
  [40, [132, 122, 104]],
];

const STEP = 0.1; // m between two precomputed colours
const [LOWEST, HIGHEST] = [TINTS[0][0], TINTS[TINTS.length - 1][0]];
/** Precomputed red, green and blue from `LOWEST` to `HIGHEST`. */
const COLOURS = Float32Array.from(
  Array.from({ length: Math.round((HIGHEST - LOWEST) / STEP) + 1 }, (_, i) => tint(LOWEST + (i + 0.5) * STEP)).flat(),
);

/** @param {number} height @returns {[number, number, number]} */
function tint(height) {
  const above = TINTS.findIndex(([level]) => height < level);
  if (above === 0) return TINTS[0][1];
  if (above < 0) return TINTS[TINTS.length - 1][1];
  const [low, from] = TINTS[above - 1];
  const [high, to] = TINTS[above];
  const share = (height - low) / (high - low);
  return [from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1]), from[2] + share * (to[2] - from[2])];
}

export class Relief {
  /** @type {{canvas: HTMLCanvasElement, west: number, north: number, east: number, south: number} | null} */
  #picture = null;

  /** @param {import("./types.js").Scene} scene */
  async load(scene) {
    this.#picture = null;
    const ground = scene.terrain.find(({ kind }) => kind === "heightfield");
    if (!ground) return;
    const answer = await fetch(ground.asset);
    if (answer.ok) this.#picture = this.#paint(ground, new Float32Array(await answer.arrayBuffer()), scene.water?.level ?? 0);
  }

  /** @param {any} ground @param {Float32Array} heights rows from the south @param {number} level height of the water, m */
  #paint({ rows, columns, origin, spacing }, heights, level) {
    const stride = Math.max(1, Math.ceil(Math.max(rows, columns) / MAX_SIZE));
    const [wide, high] = [Math.floor((columns - 1) / stride) + 1, Math.floor((rows - 1) / stride) + 1];
    const canvas = document.createElement("canvas");
    canvas.width = wide;
    canvas.height = high;
    const context = context2d(canvas);
    const image = context.createImageData(wide, high);
    for (let y = 0; y < high; y += 1) {
      for (let x = 0; x < wide; x += 1) {
        const [row, column] = [(high - 1 - y) * stride, x * stride];
        const here = heights[row * columns + column];
        const west = heights[row * columns + Math.max(0, column - stride)];
        const north = heights[Math.min(rows - 1, row + stride) * columns + column];
        const slope = (here - west) / (stride * spacing[0]) + (here - north) / (stride * spacing[1]);
        const light = Math.min(1.35, Math.max(0.65, 1 - 0.5 * slope));
        const colour = 3 * Math.floor((Math.min(Math.max(here - level, LOWEST), HIGHEST) - LOWEST) / STEP);
        const pixel = 4 * (y * wide + x);
        for (let c = 0; c < 3; c += 1) image.data[pixel + c] = light * COLOURS[colour + c];
        image.data[pixel + 3] = 255;
      }
    }
    context.putImageData(image, 0, 0);
    const [west, south] = origin;
    return { canvas, west, south, east: west + (columns - 1) * spacing[0], north: south + (rows - 1) * spacing[1] };
  }

  /** @param {CanvasRenderingContext2D} context @param {(point: number[]) => [number, number]} at */
  draw(context, at) {
    if (!this.#picture) return;
    const { canvas, west, north, east, south } = this.#picture;
    const [left, top] = at([west, north]);
    const [right, bottom] = at([east, south]);
    context.drawImage(canvas, left, top, right - left, bottom - top);
  }
}
