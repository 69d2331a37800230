// @ts-check
// Terrain as meshes: tiles of a grid of heights, or a mesh, coloured by material.

import {
  BufferAttribute,
  BufferGeometry,
  Group,
  Mesh,
  MeshLambertMaterial,
  MeshStandardMaterial,
} from "../../vendor/three.module.js";
import { fetchBytes, meshGeometry } from "./assets.js";
import { Grid } from "./ground.js";
import { submerge } from "./medium.js";
import { NOISE } from "./noise.js";

const TILE = 64; // cells along the side of a tile; tiles outside the view are not drawn
const LINEAR = Uint8Array.from({ length: 256 }, (_, shade) => Math.round(255 * (shade / 255) ** 2.2)); // sRGB to linear light
const SKIRT = 60; // m by which the edges of the terrain are extended down, to hide the space below it

// Patches and grains, so that terrain of one material is not one flat colour.
const ALBEDO = /* glsl */ `
    float width = max(length(dFdx(place)), length(dFdy(place)));
    float sum = 0.0, weight = 0.34, size = 14.0;
    for (int i = 0; i < 6; i++) {
      float grain = smoothNoise((place.xy + vec2(0.37, 0.11) * place.z) / size + 7.0 * float(i)) - 0.5;
      sum += weight * grain * (1.0 - smoothstep(0.3, 1.0, width / size));
      size *= 0.38;
      weight *= 0.9;
    }
    diffuseColor.rgb *= (1.0 + sum) * (1.0 + vec3(0.35, 0.05, -0.2) * sum);`;

export class Terrain {
  group = new Group();
  /** @type {Grid[]} */
  grids = [];

  /**
   * @param {import("./medium.js").Medium} medium
   * @param {import("./quality.js").Quality} quality
   */
  constructor(medium, quality) {
    this.group.name = "terrain";
    this.quality = quality;
    this.material = quality.fine
      ? submerge(new MeshStandardMaterial({ vertexColors: true, roughness: 1 }), medium, { pars: NOISE, albedo: ALBEDO, soaks: true })
      : submerge(new MeshLambertMaterial({ vertexColors: true }), medium, { soaks: true });
  }

  /** @param {any[]} parts the scene's `terrain` */
  async load(parts) {
    for (const part of parts) {
      if (part.kind === "heightfield") await this.#addGrid(part);
      else this.#add(await meshGeometry(part.asset));
    }
  }

  /**
   * Return the height of the highest terrain, m; NaN where there is no terrain.
   * @param {number} x
   * @param {number} y
   */
  height(x, y) {
    return this.grids.reduce((highest, grid) => {
      const height = grid.height(x, y);
      return Number.isNaN(height) || height < highest ? highest : height;
    }, NaN);
  }

  dispose() {
    for (const mesh of this.group.children) if (mesh instanceof Mesh) mesh.geometry.dispose();
    this.material.dispose();
  }

  /** @param {any} part */
  async #addGrid(part) {
    const [heights, colours] = await Promise.all([
      fetchBytes(part.asset),
      part.colours ? fetchBytes(part.colours) : null,
    ]);
    const grid = new Grid(part, new Float32Array(heights));
    this.grids.push(grid);
    const stride = Math.max(1, Math.ceil((Math.max(grid.rows, grid.columns) - 1) / this.quality.terrainVertices));
    const shades = colours ? new Uint8Array(colours) : null;
    for (let row = 0; row < grid.rows - 1; row += TILE * stride) {
      for (let column = 0; column < grid.columns - 1; column += TILE * stride) {
        this.#add(tileGeometry(grid, shades, row, column, stride));
      }
    }
  }

  /** @param {BufferGeometry} geometry */
  #add(geometry) {
    const mesh = new Mesh(geometry, this.material);
    mesh.receiveShadow = true;
    mesh.castShadow = this.quality.level > 1;
    mesh.matrixAutoUpdate = false;
    this.group.add(mesh);
  }
}

/**
 * Create a tile of a grid from every `stride`-th node and the outermost nodes. The edges of the grid get a vertical skirt.
 * @param {Grid} grid
 * @param {Uint8Array | null} shades rgb per node, sRGB
 * @param {number} firstRow
 * @param {number} firstColumn
 * @param {number} stride
 */
function tileGeometry(grid, shades, firstRow, firstColumn, stride) {
  const rows = nodes(firstRow, grid.rows, stride);
  const columns = nodes(firstColumn, grid.columns, stride);
  const width = columns.length;
  const vertices = new Vertices(grid, shades, rows.length * width + 2 * (rows.length + width));
  for (const row of rows) for (const column of columns) vertices.add(row, column, 0);
  /** @type {number[]} */
  const triangles = [];
  const { heights } = vertices;
  const face = (/** @type {number} */ a, /** @type {number} */ b, /** @type {number} */ c) => {
    if (!Number.isNaN(heights[a] + heights[b] + heights[c])) triangles.push(a, b, c);
  };
  for (let j = 0; j + 1 < rows.length; j++) {
    for (let i = 0; i + 1 < width; i++) {
      const a = j * width + i;
      face(a, a + 1, a + width + 1); // the diagonal goes from south-west to north-east, as in the physics
      face(a, a + width + 1, a + width);
    }
  }
  const hang = (/** @type {number[]} */ edge) => {
    edge.forEach((node, i) => {
      const low = vertices.add(rows[Math.floor(node / width)], columns[node % width], SKIRT);
      if (i === 0) return;
      face(edge[i - 1], low - 1, node);
      face(node, low - 1, low);
    });
  };
  const last = rows.length - 1;
  if (rows[0] === 0) hang(columns.map((_, i) => width - 1 - i));
  if (rows[last] === grid.rows - 1) hang(columns.map((_, i) => last * width + i));
  if (columns[0] === 0) hang(rows.map((_, j) => j * width));
  if (columns[width - 1] === grid.columns - 1) hang(rows.map((_, j) => (last - j) * width + width - 1));
  return vertices.geometry(triangles);
}

/** Converts nodes of a grid to vertices of a mesh. */
class Vertices {
  /**
   * @param {Grid} grid
   * @param {Uint8Array | null} shades
   * @param {number} most largest number of vertices
   */
  constructor(grid, shades, most) {
    this.grid = grid;
    this.shades = shades;
    this.count = 0;
    this.positions = new Float32Array(3 * most);
    this.normals = new Float32Array(3 * most);
    this.colours = new Uint8Array(3 * most).fill(190);
    this.heights = new Float32Array(most); // heights of the nodes, m; NaN where there is no terrain
  }

  /**
   * @param {number} row
   * @param {number} column
   * @param {number} drop distance below the terrain, m
   * @returns {number} index of the vertex
   */
  add(row, column, drop) {
    const { grid, shades, positions, colours } = this;
    const node = row * grid.columns + column;
    const height = grid.heights[node];
    const i = this.count++;
    this.heights[i] = height;
    positions[3 * i] = grid.origin[0] + column * grid.spacing[0];
    positions[3 * i + 1] = grid.origin[1] + row * grid.spacing[1];
    positions[3 * i + 2] = Number.isNaN(height) ? 0 : height - drop; // a NaN would make the bounding sphere invalid
    this.normals.set(grid.normal(row, column), 3 * i);
    if (shades) for (let c = 0; c < 3; c++) colours[3 * i + c] = LINEAR[shades[3 * node + c]];
    return i;
  }

  /** @param {number[]} triangles */
  geometry(triangles) {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(this.positions.slice(0, 3 * this.count), 3));
    geometry.setAttribute("normal", new BufferAttribute(this.normals.slice(0, 3 * this.count), 3));
    geometry.setAttribute("color", new BufferAttribute(this.colours.slice(0, 3 * this.count), 3, true));
    geometry.setIndex(triangles);
    return geometry;
  }
}

/**
 * @param {number} first
 * @param {number} count
 * @param {number} stride
 */
function nodes(first, count, stride) {
  const found = [];
  for (let node = first; node < Math.min(first + TILE * stride, count - 1); node += stride) found.push(node);
  found.push(Math.min(first + TILE * stride, count - 1));
  return found;
}
