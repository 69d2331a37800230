// @ts-check
// Sky: a sphere around the camera with haze, sun and clouds. Below the horizon it has the colour of open water.

import { BackSide, Mesh, ShaderMaterial, SphereGeometry } from "../../vendor/three.module.js";
import { MEDIUM } from "./medium.js";
import { NOISE } from "./noise.js";

const BILLOWS = /* glsl */ `
float billows(vec2 p) {
  float sum = 0.0, weight = 0.5;
  for (int i = 0; i < 5; i++) { sum += weight * smoothNoise(p); p = p * 2.03 + 17.0; weight *= 0.5; }
  return sum;
}`;

/**
 * @param {import("./medium.js").Medium} medium
 * @param {import("./quality.js").Quality} quality
 */
export function makeSky(medium, quality) {
  const material = new ShaderMaterial({
    uniforms: medium.uniforms,
    defines: medium.defines,
    side: BackSide,
    depthWrite: false,
    depthTest: true,
    vertexShader: /* glsl */ `
      varying vec3 direction;
      void main() {
        direction = position;
        gl_Position = (projectionMatrix * vec4(mat3(viewMatrix) * position, 1.0)).xyww; // behind everything
      }`,
    fragmentShader: /* glsl */ `
      varying vec3 direction;
      uniform float cloud;
      ${MEDIUM}
      ${NOISE}
      ${BILLOWS}
      void main() {
        vec3 ray = normalize(direction);
        vec3 colour = skyOf(ray);
        ${quality.fine ? CLOUDS : ""}
        float disc = smoothstep(0.99990, 0.99997, dot(ray, sunDirection));
        colour += sunColour * 40.0 * disc * step(0.0, ray.z);
        float under = waterLevel - cameraPosition.z;
        if (under > 0.0) {
          float path = ray.z > 0.0 ? under / max(ray.z, 1e-4) : 1e5;
          colour = colour * exp(-beam * path) + scattered(under, ray, path);
          if (ray.z <= 0.0 && beam.g <= 0.0) colour = horizon;
        } else if (ray.z < 0.0 && waterLevel > -1e5) {
          colour = mix(horizon, scattered(0.0, ray, 1e5), smoothstep(0.0, 0.02, -ray.z));
        } else if (ray.z < 0.0) {
          colour = mix(horizon, horizon * 0.55, smoothstep(0.0, 0.3, -ray.z));
        }
        gl_FragColor = vec4(colour, 1.0);
      }`,
  });
  const mesh = new Mesh(new SphereGeometry(1, 32, 24), material);
  mesh.frustumCulled = false;
  mesh.renderOrder = -1;
  mesh.name = "sky";
  return mesh;
}

// Flat clouds at one height, thinner towards the horizon. Thick clouds are grey at the bottom.
const CLOUDS = /* glsl */ `
  if (ray.z > 0.015 && cloud > 0.0) {
    vec2 p = ray.xy / (ray.z + 0.12) * 1.6 + seconds * 0.002;
    float thick = billows(p + 0.5 * billows(p * 1.7));
    float cover = smoothstep(1.0 - 0.62 * pow(cloud, 0.4), 1.12 - 0.5 * pow(cloud, 0.4), thick + 0.24);
    float lit = 1.0 - 0.45 * smoothstep(0.55, 0.85, thick);
    float glow = pow(max(dot(ray, sunDirection), 0.0), 8.0);
    vec3 white = (horizon * 0.75 + sunColour * (0.42 + 0.7 * glow)) * lit;
    colour = mix(colour, white, cover * smoothstep(0.015, 0.16, ray.z) * 0.9);
  }`;
