// @ts-check
// How much the 3-D view draws: three levels, and which one a machine gets.

/**
 * @typedef {object} Quality
 * @property {number} level 0…2
 * @property {number} pixelRatio device pixels per CSS pixel, at most
 * @property {boolean} antialias
 * @property {boolean} fine noise on the ground, caustics, clouds
 * @property {number} shadows side of the shadow map, pixels; 0 for none
 * @property {number} terrainVertices along the longer side, at most
 * @property {number} waterSpokes of the water's mesh
 * @property {number} waterComponents summed for each pixel; the rest shines as roughness. 0: normals come from the vertices
 * @property {number} cloudPoints of each cloud, at most
 */

/** @type {readonly Quality[]} */
export const QUALITIES = Object.freeze([
  {
    level: 0,
    pixelRatio: 0.55,
    antialias: false,
    fine: false,
    shadows: 0,
    terrainVertices: 160,
    waterSpokes: 56,
    waterComponents: 0,
    cloudPoints: 10_000,
  },
  {
    level: 1,
    pixelRatio: 1,
    antialias: true,
    fine: true,
    shadows: 1024,
    terrainVertices: 360,
    waterSpokes: 128,
    waterComponents: 16,
    cloudPoints: 60_000,
  },
  {
    level: 2,
    pixelRatio: 1.5,
    antialias: true,
    fine: true,
    shadows: 2048,
    terrainVertices: 1024,
    waterSpokes: 224,
    waterComponents: 64,
    cloudPoints: 250_000,
  },
]);

const SOFTWARE = /swiftshader|llvmpipe|software|basic render/i;

/**
 * The level asked for by `?q=`, or the one that suits the renderer: drawing in software is slow.
 * @param {string} search of the page's address
 * @param {string} renderer as WebGL names it
 * @returns {Quality}
 */
export function chooseQuality(search, renderer) {
  const asked = new URLSearchParams(search).get("q");
  const level = asked !== null && QUALITIES[Number(asked)] ? Number(asked) : SOFTWARE.test(renderer) ? 0 : 2;
  return QUALITIES[level];
}
