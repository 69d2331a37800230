// @ts-check
// Many points in one draw call: round, with one colour or coloured by height, fading with age. Water does not attenuate them.

import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DynamicDrawUsage,
  Points,
  ShaderMaterial,
  Vector2,
} from "../../vendor/three.module.js";
import { RAINBOW } from "./colours.js";

const LEAST_HALF = 0.25; // smallest half of the height range, m, so that noise on flat terrain does not use all colours

const VERTEX = /* glsl */ `
attribute float born;
attribute vec3 shade;
uniform float metres, least, most, life, clock;
uniform vec2 heights, resolution;
uniform vec3 tint;
uniform bool byHeight, byColour;
varying vec4 colour;
${RAINBOW}
void main() {
  vec4 seen = viewMatrix * vec4(position, 1.0);
  gl_Position = projectionMatrix * seen;
  float age = life > 0.0 ? (clock - born) / life : born;
  if (age < 0.0 || age >= 1.0) gl_Position = vec4(0.0, 0.0, 2.0, 1.0);
  gl_PointSize = clamp(metres * projectionMatrix[1][1] * 0.5 * resolution.y / gl_Position.w, least, most);
  vec3 own = byColour ? pow(shade, vec3(2.2)) : tint;
  if (byHeight) own = pow(rainbow((position.z - heights.x) / max(heights.y - heights.x, 0.01)), vec3(2.2));
  colour = vec4(own, 1.0 - age * age);
}`;

const FRAGMENT = /* glsl */ `
uniform float dimming;
uniform bool soft;
varying vec4 colour;
void main() {
  vec2 off = 2.0 * gl_PointCoord - 1.0;
  float r = dot(off, off);
  if (r > 1.0) discard;
  gl_FragColor = vec4(colour.rgb * dimming * (1.05 - 0.35 * r), colour.a * (soft ? 0.45 * (1.0 - r) : 1.0));
}`;

export class PointCloud {
  /**
   * `life`: lifetime, simulated seconds. If it is 0, `born` is the age of a point as a fraction of its lifetime.
   * @param {{capacity: number, metres: number, least?: number, most?: number, life?: number, colour?: number, byHeight?: boolean,
   *   lowest?: number | null, highest?: number | null, byColour?: boolean, soft?: boolean}} style `lowest`, `highest`: ends of the scale of
   *   heights, m, by default those of the points; `byColour`: each point has its colour; `soft`: without sharp edges, like smoke
   */
  constructor({
    capacity,
    metres,
    least = 2,
    most = 24,
    life = 0,
    colour = 0xffffff,
    byHeight = false,
    lowest = null,
    highest = null,
    byColour = false,
    soft = false,
  }) {
    this.capacity = capacity;
    this.lowest = lowest;
    this.highest = highest;
    this.next = this.filled = 0;
    this.low = Infinity;
    this.high = -Infinity;
    const geometry = new BufferGeometry();
    geometry.setAttribute(
      "position",
      new BufferAttribute(new Float32Array(3 * capacity), 3).setUsage(DynamicDrawUsage),
    );
    geometry.setAttribute(
      "born",
      new BufferAttribute(new Float32Array(capacity).fill(-1e9), 1).setUsage(DynamicDrawUsage),
    );
    if (byColour) {
      geometry.setAttribute(
        "shade",
        new BufferAttribute(new Uint8Array(3 * capacity), 3, true).setUsage(DynamicDrawUsage),
      );
    }
    geometry.setDrawRange(0, 0);
    this.uniforms = {
      metres: { value: metres },
      least: { value: least },
      most: { value: most },
      life: { value: life },
      clock: { value: 0 },
      heights: { value: new Vector2(0, 1) },
      resolution: { value: new Vector2(1, 1) },
      tint: { value: new Color(colour) },
      byHeight: { value: byHeight },
      byColour: { value: byColour },
      dimming: { value: 1 },
      soft: { value: soft },
    };
    const material = new ShaderMaterial({
      uniforms: this.uniforms,
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      transparent: true,
      depthWrite: !soft,
      toneMapped: false,
    });
    this.object = new Points(geometry, material);
    this.object.frustumCulled = false;
    this.object.renderOrder = 2;
    this.object.onBeforeRender = (renderer) => {
      renderer.getDrawingBufferSize(this.uniforms.resolution.value);
      this.uniforms.dimming.value = 1 / renderer.toneMappingExposure; // the same brightness on the screen at every exposure
    };
  }

  /**
   * Add points, which replace the oldest ones.
   * @param {number} count
   * @param {(i: number, out: Float32Array, at: number) => void} place writes the position of a point
   * @param {(i: number) => number} born
   * @param {(i: number, out: Uint8Array, at: number) => void} [paint] writes the colour of a point, sRGB, of a cloud `byColour`
   */
  add(count, place, born, paint) {
    const { geometry } = this.object;
    const shades = paint && geometry.getAttribute("shade");
    const positions = geometry.getAttribute("position");
    const births = geometry.getAttribute("born");
    const shown = Math.min(count, this.capacity);
    const step = count / shown;
    for (let n = 0; n < shown; n++) {
      const i = Math.floor(n * step);
      const slot = this.next;
      place(i, /** @type {Float32Array} */ (positions.array), 3 * slot);
      births.array[slot] = born(i);
      if (shades) paint(i, /** @type {Uint8Array} */ (shades.array), 3 * slot);
      const z = positions.array[3 * slot + 2];
      this.low = Math.min(this.low, z);
      this.high = Math.max(this.high, z);
      this.next = (slot + 1) % this.capacity;
      this.filled = Math.max(this.filled, slot + 1);
    }
    positions.needsUpdate = births.needsUpdate = true;
    if (shades) shades.needsUpdate = true;
    geometry.setDrawRange(0, this.filled);
    const [middle, half] = [0.5 * (this.low + this.high), Math.max(0.5 * (this.high - this.low), LEAST_HALF)];
    this.uniforms.heights.value.set(this.lowest ?? middle - half, this.highest ?? middle + half);
  }

  /**
   * Replace all points.
   * @param {number} count
   * @param {(i: number, out: Float32Array, at: number) => void} place
   * @param {(i: number) => number} born
   * @param {(i: number, out: Uint8Array, at: number) => void} [paint]
   */
  replace(count, place, born, paint) {
    this.clear();
    this.add(count, place, born, paint);
  }

  /** @param {number} time simulated time, s, on the same clock as `born` */
  tick(time) {
    this.uniforms.clock.value = time;
  }

  clear() {
    this.next = this.filled = 0;
    this.low = Infinity;
    this.high = -Infinity;
    this.object.geometry.setDrawRange(0, 0);
  }

  dispose() {
    this.object.geometry.dispose();
    this.object.material.dispose();
  }
}
