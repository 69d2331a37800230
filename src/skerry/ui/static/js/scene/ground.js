// @ts-check
// Grid of heights: interpolated height, normals, and intersection with a ray. No drawing.

export class Grid {
  /**
   * @param {{rows: number, columns: number, origin: number[], spacing: number[]}} description row 0 is the southernmost row
   * @param {Float32Array} heights heights row by row, m; NaN where there is no terrain
   */
  constructor({ rows, columns, origin, spacing }, heights) {
    this.rows = rows;
    this.columns = columns;
    this.origin = origin;
    this.spacing = spacing;
    this.heights = heights;
  }

  /** Distance between opposite edges, m. */
  get size() {
    return [(this.columns - 1) * this.spacing[0], (this.rows - 1) * this.spacing[1]];
  }

  /**
   * Return the height by bilinear interpolation, m; NaN outside the grid.
   * @param {number} x
   * @param {number} y
   */
  height(x, y) {
    const u = (x - this.origin[0]) / this.spacing[0];
    const v = (y - this.origin[1]) / this.spacing[1];
    if (!(u >= 0 && v >= 0 && u <= this.columns - 1 && v <= this.rows - 1)) return NaN;
    const i = Math.min(Math.floor(u), this.columns - 2);
    const j = Math.min(Math.floor(v), this.rows - 2);
    const [s, t] = [u - i, v - j];
    const at = j * this.columns + i;
    const south = this.heights[at] * (1 - s) + this.heights[at + 1] * s;
    const north = this.heights[at + this.columns] * (1 - s) + this.heights[at + this.columns + 1] * s;
    return south * (1 - t) + north * t;
  }

  /**
   * Return the upward normal at a node, by central differences.
   * @param {number} row
   * @param {number} column
   * @returns {[number, number, number]}
   */
  normal(row, column) {
    const { rows, columns, heights, spacing } = this;
    const [west, east] = [Math.max(column - 1, 0), Math.min(column + 1, columns - 1)];
    const [south, north] = [Math.max(row - 1, 0), Math.min(row + 1, rows - 1)];
    const dx = (heights[row * columns + east] - heights[row * columns + west]) / ((east - west) * spacing[0]);
    const dy = (heights[north * columns + column] - heights[south * columns + column]) / ((north - south) * spacing[1]);
    const norm = Math.hypot(dx, dy, 1);
    return Number.isFinite(norm) ? [-dx / norm, -dy / norm, 1 / norm] : [0, 0, 1];
  }

  /**
   * Return the distance to the terrain along a ray, m. Marches in steps of at least half a cell, then bisects to 1 mm.
   * @param {number[]} from
   * @param {number[]} direction unit vector
   * @param {number} [longest] largest distance, m
   * @returns {number} NaN if the ray misses
   */
  intersect(from, direction, longest = 3000) {
    const above = (/** @type {number} */ range) =>
      from[2] + range * direction[2] - this.height(from[0] + range * direction[0], from[1] + range * direction[1]);
    const least = 0.5 * Math.min(...this.spacing);
    let last = 0;
    let lastAbove = above(0);
    for (let range = least; range <= longest;) {
      const now = above(range);
      if (now <= 0 && lastAbove > 0) return this.#refine(above, last, range);
      [last, lastAbove] = [range, now];
      // Steps may be larger high above the terrain, because slopes are assumed to be below about 60°.
      range += Math.max(least, Number.isNaN(now) ? 0.005 * range : 0.4 * Math.abs(now));
    }
    return NaN;
  }

  /**
   * @param {(range: number) => number} above
   * @param {number} low
   * @param {number} high
   */
  #refine(above, low, high) {
    while (high - low > 1e-3) {
      const middle = 0.5 * (low + high);
      if (above(middle) > 0) low = middle;
      else high = middle;
    }
    return high;
  }
}
