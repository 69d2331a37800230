// @ts-check
// Light in air and water: the uniforms and the GLSL that all materials of the scene share.

import { Color, Vector3 } from "../../vendor/three.module.js";
import { murkiness } from "./sea.js";

const DRY = -1e6; // water level of a scene without water, m
const VEIL = 0.12; // fraction of the daylight that open water scatters back, in its strongest colour; chosen by eye
const HUE = 0.6; // exponent that keeps the weak colours of deep water visible on a screen; chosen by eye

/**
 * Daylight as in the simulator's cameras: a white horizontal surface under a sun in the zenith has radiance 1.
 * @typedef {{direction: number[], sun: number[], ambient: number[], zenith: number[], horizon: number[], cloud: number}} Daylight
 */

/** Uniforms for materials: directions in the world frame, linear colours. */
export class Medium {
  uniforms = {
    sunDirection: { value: new Vector3(0.3, -0.5, 0.8).normalize() },
    sunColour: { value: new Color(1, 0.95, 0.86) },
    zenith: { value: new Color(0.09, 0.24, 0.62) },
    horizon: { value: new Color(0.62, 0.76, 0.9) },
    cloud: { value: 0.2 },
    seconds: { value: 0 },
    waterLevel: { value: DRY },
    beam: { value: new Vector3() },
    fade: { value: new Vector3() },
    veil: { value: new Color(0, 0, 0) },
  };
  /** @type {import("./sea.js").Sea | null} */
  sea = null;
  #clarity = 0;
  #strength = 1;

  /** @param {boolean} fine whether materials have caustics and light beams */
  constructor(fine) {
    /** Definitions for materials that use `MEDIUM`. @type {Record<string, number>} */
    this.defines = fine ? { FINE: 1 } : {};
  }

  /** @param {import("./sea.js").Sea | null} sea */
  setSea(sea) {
    this.sea = sea;
    this.#update();
  }

  /** @param {number} clarity 0: clarity of the real water, 1: as clear as air */
  setClarity(clarity) {
    this.#clarity = clarity;
    this.#update();
  }

  /** @param {Daylight} daylight */
  setDaylight({ direction, sun, ambient, zenith, horizon, cloud }) {
    const { uniforms } = this;
    uniforms.sunDirection.value.fromArray(direction).normalize();
    uniforms.sunColour.value.fromArray(sun);
    uniforms.zenith.value.fromArray(zenith);
    uniforms.horizon.value.fromArray(horizon);
    uniforms.cloud.value = cloud;
    this.#strength = Math.max(...sun.map((beam, i) => beam * Math.max(direction[2], 0) + ambient[i]));
    this.#update();
  }

  /**
   * Set the position of the camera. The water level is taken at the camera, to decide whether it is under water.
   * @param {Vector3} camera
   * @returns {boolean} whether the camera is under water
   */
  follow(camera) {
    if (!this.sea) return false;
    const { level } = this.sea;
    const surface = this.sea.height(camera.x, camera.y, this.uniforms.seconds.value);
    const under = camera.z < surface;
    const margin = 0.01;
    this.uniforms.waterLevel.value = under ? Math.max(level, camera.z + margin) : Math.min(level, camera.z - margin);
    return under;
  }

  #update() {
    const { waterLevel, beam, fade, veil } = this.uniforms;
    if (!this.sea) {
      waterLevel.value = DRY;
      return;
    }
    const { optics, level } = this.sea;
    const factor = murkiness(this.#clarity);
    waterLevel.value = level;
    beam.value.fromArray(optics.beam).multiplyScalar(factor);
    fade.value.fromArray(optics.daylight).multiplyScalar(factor);
    const hues = optics.returned.map((share) => share ** HUE);
    const strongest = Math.max(...hues, 1e-6);
    veil.value.fromArray(hues.map((hue) => (VEIL * this.#strength * hue) / strongest));
  }
}

/**
 * GLSL for the colour of the sky, the light under water, and the attenuation on the way to the camera. `FINE` adds caustics
 * and light beams. It is a definition and not a uniform, because a software renderer compiles them slowly.
 */
export const MEDIUM = /* glsl */ `
uniform vec3 sunDirection, sunColour, zenith, horizon, beam, fade, veil;
uniform float waterLevel, seconds;

vec3 skyOf(vec3 direction) {
  float height = max(direction.z, 0.0);
  vec3 sky = mix(horizon, zenith, 1.0 - exp(-3.2 * height));
  float near = max(dot(direction, sunDirection), 0.0);
  return sky + sunColour * (0.10 * pow(near, 6.0) + 0.28 * pow(near, 48.0));
}

// Direction to the sun under water, by Snell's law.
vec3 sunUnder() {
  return vec3(sunDirection.xy / 1.333, sqrt(1.0 - dot(sunDirection.xy, sunDirection.xy) / 1.777));
}

#ifdef FINE
// Light beams between the waves, as a factor around 1 on the sunlight at points of a ray. A visual effect without physical
// optics.
float beamsAlong(vec3 direction, float path) {
  vec3 sun = sunUnder();
  float grain = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
  float sum = 0.0;
  for (int i = 0; i < 5; i++) {
    vec3 p = cameraPosition + direction * min(path, 18.0) * (float(i) + grain) / 5.0;
    float depth = max(waterLevel - p.z, 0.0);
    vec2 q = p.xy + sun.xy / sun.z * depth;
    float b = sin(1.1 * q.x + 1.3 * sin(0.63 * q.y + 0.4 * seconds)) * sin(0.9 * q.y + 1.2 * sin(0.71 * q.x - 0.35 * seconds));
    sum += exp(-0.07 * depth) * (2.0 * max(b, 0.0) * max(b, 0.0) - 0.25);
  }
  return 1.0 + 0.22 * sum;
}
#endif

// Light scattered into a ray of a length that starts at a depth: ∫ c ω E₀ exp(−K(depth − s u)) exp(−c s) ds, u upwards. Water
// scatters forward, so it is brightest towards the refracted sun; the strength is chosen by eye.
vec3 scattered(float depth, vec3 direction, float path) {
  vec3 rate = max(beam - fade * direction.z, vec3(1e-6));
  float bright = 0.75 + 1.4 * pow(0.5 + 0.5 * dot(direction, sunUnder()), 3.0);
  #ifdef FINE
    if (depth > 0.0) bright *= beamsAlong(direction, path);
  #endif
  return veil * bright * exp(-fade * depth) * beam * (1.0 - exp(-rate * path)) / rate;
}

#ifdef FINE
// Caustics: a net of bright lines, from ripples that are distorted by larger ones. A visual effect without physical
// optics.
float bundled(vec2 place) {
  vec2 p = place * 1.3 + 0.8 * sin(place.yx * 0.23 + vec2(0.0, 1.7));
  float net = 0.0;
  for (int i = 0; i < 3; i++) {
    p += sin(p.yx * 1.3 + vec2(1.1, -0.9) * seconds + 2.1 * float(i)) * 0.75;
    net += pow(1.0 - abs(sin(p.x) * sin(p.y)), 9.0);
    p = mat2(0.8, 0.6, -0.6, 0.8) * p * 1.25;
  }
  return 0.5 * net;
}
#endif

// Daylight at a position as a fraction of that above the water.
vec3 daylightAt(vec3 place, float facing) {
  float depth = waterLevel - place.z;
  if (depth <= 0.0) return vec3(1.0);
  vec3 left = exp(-fade * depth);
  #ifdef FINE
  // The caustics are blurred from above the surface and from a distance.
  float sharp = exp(-distance(place, cameraPosition) / 35.0) * (cameraPosition.z > waterLevel ? 0.45 : 1.0);
  float pattern = clamp(facing, 0.0, 1.0) * exp(-0.12 * depth) * min(depth * 2.0, 1.0) * sharp;
  if (pattern > 0.01) left *= 1.0 + pattern * (1.5 * bundled(place.xy + sunUnder().xy / sunUnder().z * depth) - 0.35);
  #endif
  return left;
}

vec3 throughWater(vec3 colour, vec3 place) {
  vec3 ray = place - cameraPosition;
  float above = cameraPosition.z - waterLevel, over = place.z - waterLevel;
  if (above >= 0.0 && over >= 0.0) return colour;
  float share = above < 0.0 && over < 0.0 ? 1.0 : above < 0.0 ? above / (above - over) : over / (over - above);
  float range = max(length(ray), 1e-4);
  return colour * exp(-beam * range * share) + scattered(max(-above, 0.0), ray / range, range * share);
}
`;

// A uniform selects the materials that get darker when wet, so that terrain and bodies share one program: compiling is slow.
const WET = /* glsl */ `
  diffuseColor.rgb *= 1.0 - soaking * (1.0 - smoothstep(0.05, 0.5, place.z - waterLevel));`;

/**
 * Add the water to a material of three.js: daylight decreases with depth, and each colour of the ray to the camera decreases
 * by the law of Beer and Lambert. The calculation is in linear light, before tone mapping.
 * @template {import("../../vendor/three.module.js").Material} M
 * @param {M} material
 * @param {Medium} medium
 * @param {{pars?: string, albedo?: string, soaks?: boolean}} [more] GLSL that changes `diffuseColor` at `place`; `soaks`: darker when wet
 * @returns {M}
 */
export function submerge(material, medium, { pars = "", albedo = "", soaks = false } = {}) {
  material.defines = { ...material.defines, ...medium.defines };
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, medium.uniforms, { soaking: { value: soaks ? 0.28 : 0 } });
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nvarying vec3 place;")
      .replace(
        "#include <project_vertex>",
        `#include <project_vertex>
        #ifdef USE_INSTANCING
          place = (modelMatrix * instanceMatrix * vec4(transformed, 1.0)).xyz;
        #else
          place = (modelMatrix * vec4(transformed, 1.0)).xyz;
        #endif`,
      );
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>\nvarying vec3 place;\nuniform float soaking;\n${MEDIUM}\n${pars}`)
      .replace("#include <color_fragment>", `#include <color_fragment>\n${albedo}\n${WET}`)
      .replace(
        "#include <opaque_fragment>",
        `#include <opaque_fragment>
        vec3 facing = vec3(0.0);
        #ifdef FINE
          facing = normalize(cross(dFdx(place), dFdy(place)));
          facing *= sign(dot(facing, cameraPosition - place));
        #endif
        gl_FragColor.rgb = throughWater(gl_FragColor.rgb * daylightAt(place, facing.z), place);`,
      );
  };
  // three.js distinguishes programs by the text of this function, which is the same for all materials.
  material.customProgramCacheKey = () => `submerged ${pars}${albedo}`;
  return material;
}
