// @ts-check
// Specks around a camera under water, which make its motion visible. The physics does not know them.

import { BufferAttribute, BufferGeometry, Points, ShaderMaterial, Vector2 } from "../../vendor/three.module.js";

const SPECKS = 700; // number of specks
const BOX = 9; // side of the cube around the camera, m; a speck that leaves it enters again on the other side

const VERTEX = /* glsl */ `
uniform vec2 resolution;
uniform float seconds, waterLevel;
varying float near;
void main() {
  vec3 sinking = vec3(0.02 * sin(0.3 * seconds + 40.0 * position.z), 0.02 * cos(0.27 * seconds + 40.0 * position.x), -0.012 * seconds);
  vec3 offset = mod(position * ${BOX.toFixed(1)} + sinking - cameraPosition, ${BOX.toFixed(1)}) - ${(BOX / 2).toFixed(1)};
  vec3 place = cameraPosition + offset;
  gl_Position = projectionMatrix * viewMatrix * vec4(place, 1.0);
  near = smoothstep(${(BOX / 2).toFixed(1)}, 0.6, length(offset)) * smoothstep(0.15, 0.6, length(offset)) * step(place.z, waterLevel);
  gl_PointSize = clamp(0.008 * projectionMatrix[1][1] * 0.5 * resolution.y / gl_Position.w, 1.0, 5.0);
}`;

const FRAGMENT = /* glsl */ `
varying float near;
uniform vec3 fade;
uniform float waterLevel;
void main() {
  float r = length(2.0 * gl_PointCoord - 1.0);
  vec3 light = exp(-fade * max(waterLevel - cameraPosition.z, 0.0));
  gl_FragColor = vec4(0.35 * light, near * 0.5 * smoothstep(1.0, 0.2, r));
}`;

export class Drift {
  /** @param {import("./medium.js").Medium} medium */
  constructor(medium) {
    this.medium = medium;
    this.resolution = { value: new Vector2(1, 1) };
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(Float32Array.from({ length: 3 * SPECKS }, Math.random), 3));
    const material = new ShaderMaterial({
      uniforms: { ...medium.uniforms, resolution: this.resolution },
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      transparent: true,
      depthWrite: false,
    });
    this.object = new Points(geometry, material);
    this.object.frustumCulled = false;
    this.object.renderOrder = 6;
    this.object.onBeforeRender = (renderer) => renderer.getDrawingBufferSize(this.resolution.value);
  }

  /** @param {import("../../vendor/three.module.js").Vector3} camera */
  update(camera) {
    this.object.visible = this.medium.sea !== null && camera.z < this.medium.uniforms.waterLevel.value;
  }
}
