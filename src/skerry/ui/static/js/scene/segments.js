// @ts-check
// Many straight lines of any width in one draw call, as quads that face the camera. Water does not attenuate them.

import {
  BufferAttribute,
  DynamicDrawUsage,
  InstancedBufferAttribute,
  InstancedBufferGeometry,
  Mesh,
  ShaderMaterial,
  Vector2,
} from "../../vendor/three.module.js";

const VERTEX = /* glsl */ `
attribute vec3 start, end;
attribute vec4 shade;
uniform vec2 resolution; // CSS pixels
uniform float pixels, metres;
varying vec4 colour;
varying float across;
void main() {
  vec4 a = viewMatrix * vec4(start, 1.0), b = viewMatrix * vec4(end, 1.0);
  // A line that passes behind the camera is clipped in front of it.
  float near = -0.02;
  if (a.z > near && b.z > near) { gl_Position = vec4(0.0, 0.0, 2.0, 1.0); return; }
  if (a.z > near) a = mix(b, a, (near - b.z) / (a.z - b.z));
  if (b.z > near) b = mix(a, b, (near - a.z) / (b.z - a.z));
  vec4 from = projectionMatrix * a, to = projectionMatrix * b;
  vec2 direction = (to.xy / to.w - from.xy / from.w) * resolution;
  direction = length(direction) > 1e-6 ? normalize(direction) : vec2(1.0, 0.0);
  vec4 here = position.x < 0.5 ? from : to;
  float thick = max(pixels, metres * projectionMatrix[1][1] * 0.5 * resolution.y / here.w);
  vec2 aside = vec2(-direction.y, direction.x) * position.y * thick / resolution;
  gl_Position = here + vec4(aside * here.w, 0.0, 0.0);
  colour = shade;
  across = position.y;
}`;

const FRAGMENT = /* glsl */ `
uniform float round_, dimming;
varying vec4 colour;
varying float across;
void main() {
  vec3 linear = pow(colour.rgb, vec3(2.2));
  float lit = mix(1.0, 0.45 + 0.75 * sqrt(max(1.0 - across * across, 0.0)), round_);
  gl_FragColor = vec4(linear * lit * dimming, colour.a);
}`;

export class Segments {
  /**
   * @param {{pixels?: number, metres?: number, colour?: number, opacity?: number, round?: boolean}} [style]
   *   the width is the larger of `pixels` and `metres`; `round` shades the lines as ropes
   */
  constructor({ pixels = 1.5, metres = 0, colour = 0xffffff, opacity = 1, round = false } = {}) {
    this.capacity = 0;
    this.fallback = new Uint8Array([colour >> 16, (colour >> 8) & 255, colour & 255, Math.round(255 * opacity)]);
    const geometry = new InstancedBufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array([0, -1, 0, 1, -1, 0, 0, 1, 0, 1, 1, 0]), 3));
    geometry.setIndex([0, 1, 2, 2, 1, 3]);
    geometry.instanceCount = 0;
    const material = new ShaderMaterial({
      uniforms: {
        resolution: { value: new Vector2(1, 1) },
        pixels: { value: pixels },
        metres: { value: metres },
        round_: { value: round ? 1 : 0 },
        dimming: { value: 1 },
      },
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      transparent: true,
      // The lines are drawn before the water, which would otherwise cover lines in the air.
      depthWrite: true,
      toneMapped: false,
    });
    this.object = new Mesh(geometry, material);
    this.object.frustumCulled = false;
    this.object.renderOrder = 3;
    this.object.onBeforeRender = (renderer) => {
      renderer.getSize(material.uniforms.resolution.value);
      material.uniforms.dimming.value = 1 / renderer.toneMappingExposure; // the same brightness on the screen at every exposure
    };
  }

  /**
   * @param {Float32Array} ends xyz, xyz of each segment
   * @param {Uint8Array} [colours] rgba of each segment, sRGB
   */
  set(ends, colours) {
    const count = ends.length / 6;
    if (count === 0) return this.clear();
    const { geometry } = this.object;
    if (count > this.capacity) this.#grow(count);
    const starts = geometry.getAttribute("start");
    const stops = geometry.getAttribute("end");
    const shades = geometry.getAttribute("shade");
    for (let i = 0; i < count; i++) {
      starts.array.set(ends.subarray(6 * i, 6 * i + 3), 3 * i);
      stops.array.set(ends.subarray(6 * i + 3, 6 * i + 6), 3 * i);
      if (!colours) shades.array.set(this.fallback, 4 * i);
    }
    if (colours) shades.array.set(colours);
    for (const attribute of [starts, stops, shades]) attribute.needsUpdate = true;
    /** @type {InstancedBufferGeometry} */ (geometry).instanceCount = count;
  }

  clear() {
    /** @type {InstancedBufferGeometry} */ (this.object.geometry).instanceCount = 0;
  }

  dispose() {
    this.object.geometry.dispose();
    this.object.material.dispose();
  }

  /** @param {number} count */
  #grow(count) {
    this.capacity = Math.max(64, 2 ** Math.ceil(Math.log2(count)));
    const { geometry } = this.object;
    geometry.dispose(); // otherwise the old, shorter buffers would stay bound
    const dynamic = (/** @type {any} */ array, /** @type {number} */ size, normalized = false) =>
      new InstancedBufferAttribute(array, size, normalized).setUsage(DynamicDrawUsage);
    geometry.setAttribute("start", dynamic(new Float32Array(3 * this.capacity), 3));
    geometry.setAttribute("end", dynamic(new Float32Array(3 * this.capacity), 3));
    geometry.setAttribute("shade", dynamic(new Uint8Array(4 * this.capacity), 4, true));
  }
}
