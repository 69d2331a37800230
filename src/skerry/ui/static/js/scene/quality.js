// @ts-check
// Quality of the 3-D view: three levels, and the choice of the level.

/**
 * @typedef {object} Quality
 * @property {number} level 0…2
 * @property {number} pixelRatio device pixels per CSS pixel, at most
 * @property {boolean} antialias
 * @property {boolean} fine noise on the ground, caustics, clouds
 * @property {number} shadows side of the shadow map, pixels; 0 for none
 * @property {number} terrainVertices vertices along the longer side, at most
 * @property {number} waterSpokes spokes of the water's mesh
 * @property {number} waterComponents waves summed for each pixel; the others add roughness. 0: normals come from the vertices
 * @property {number} cloudPoints points of each cloud, at most
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
 * Return the level that `?q=` selects, or the default level for the renderer: the lowest for a software renderer.
 * @param {string} search query part of the page's address
 * @param {string} renderer name of the renderer from WebGL
 * @returns {Quality}
 */
export function chooseQuality(search, renderer) {
  const asked = new URLSearchParams(search).get("q");
  const level = asked !== null && QUALITIES[Number(asked)] ? Number(asked) : SOFTWARE.test(renderer) ? 0 : 2;
  return QUALITIES[level];
}
