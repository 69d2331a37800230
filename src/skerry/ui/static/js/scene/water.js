// @ts-check
// Surface of the sea: the waves of the physics on a mesh that follows the camera and reaches the horizon.

import {
  AddEquation,
  BufferAttribute,
  BufferGeometry,
  CustomBlending,
  DoubleSide,
  Mesh,
  OneFactor,
  OneMinusSrcAlphaFactor,
  ShaderMaterial,
  Vector2,
} from "../../vendor/three.module.js";
import { MEDIUM } from "./medium.js";
import { steepness } from "./sea.js";

const INNER = 0.35; // radius of the first ring, m
const OUTER = 9000; // radius of the last ring, m; beyond the horizon of a camera a few metres above the water
const HAZE = 1800; // distance at which haze hides most of the surface, m
const STILL = 0.0002; // slope variance of water without waves, so that the sun's reflection is not a point
const CAPILLARY = 0.003; // slope variance of ripples too short for a spectrum, in light wind (Cox & Munk 1954, eq. 5)

export class Water {
  /**
   * @param {import("./medium.js").Medium} medium
   * @param {import("./sea.js").Sea} sea
   * @param {import("./quality.js").Quality} quality
   */
  constructor(medium, sea, quality) {
    this.medium = medium;
    this.sea = sea;
    const count = sea.waves.length;
    const perPixel = Math.min(quality.waterComponents, count);
    // If only vertices sum the waves, the longest come first: a distant vertex stops after the waves that it can resolve.
    this.order = perPixel ? sea.waves : [...sea.waves].sort((one, other) => Math.hypot(one[1], one[2]) - Math.hypot(other[1], other[2]));
    this.waves = new Float32Array(4 * Math.max(count, 1));
    const rest = new Float32Array(Math.max(count, 1)); // slope variance of each wave and of all following waves
    for (let i = count - 1; i >= 0; i--) rest[i] = 0.5 * steepness(this.order[i]) ** 2 + (i + 1 < count ? rest[i + 1] : 0);
    this.uniforms = {
      ...medium.uniforms,
      waves: { value: this.waves },
      rest: { value: rest },
      centre: { value: new Vector2() },
      meanLevel: { value: sea.level },
      stretch: { value: 1 },
      ripples: { value: count ? CAPILLARY : STILL },
      horizonDistance: { value: HAZE },
    };
    const material = new ShaderMaterial({
      uniforms: this.uniforms,
      defines: { WAVES: count, SHADED: perPixel, SPOKES: quality.waterSpokes, ...medium.defines },
      side: DoubleSide,
      transparent: true,
      blending: CustomBlending,
      blendEquation: AddEquation,
      blendSrc: OneFactor,
      blendDst: OneMinusSrcAlphaFactor,
      depthWrite: true, // rings are drawn from near to far, so that a crest hides the water behind it
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
    });
    this.mesh = new Mesh(ringGeometry(quality.waterSpokes), material);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 5;
    this.mesh.name = "water";
  }

  /** @param {import("../../vendor/three.module.js").Vector3} camera */
  update(camera) {
    this.sea.phases(camera.x, camera.y, this.medium.uniforms.seconds.value, this.waves, this.order);
    this.uniforms.centre.value.set(camera.x, camera.y);
    this.uniforms.meanLevel.value = this.sea.level;
    // High above the water the mesh below the camera can be coarser.
    this.uniforms.stretch.value = Math.max(1, Math.abs(camera.z - this.sea.level) / 6);
  }

  dispose() {
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
  }
}

/**
 * Create rings whose width grows with their radius, so that all triangles have a similar size in the picture.
 * @param {number} spokes
 */
function ringGeometry(spokes) {
  const growth = 1 + (2 * Math.PI) / spokes;
  const places = [0, 0, 0];
  const triangles = [];
  let rings = 0;
  for (let radius = INNER; radius < OUTER * growth; radius *= growth) {
    const first = 1 + spokes * rings++;
    for (let spoke = 0; spoke < spokes; spoke++) {
      const angle = (2 * Math.PI * (spoke + (rings % 2) / 2)) / spokes;
      places.push(radius * Math.cos(angle), radius * Math.sin(angle), 0);
      const next = (spoke + 1) % spokes;
      if (rings === 1) {
        triangles.push(0, first + spoke, first + next);
        continue;
      }
      const inner = first - spokes;
      triangles.push(inner + spoke, first + spoke, inner + next, inner + next, first + spoke, first + next);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(places), 3));
  geometry.setIndex(triangles);
  return geometry;
}

// Fraction of a wave that points with this spacing can resolve: all below a fifth of its length, nothing at half of it.
const RESOLVED = /* glsl */ `
float resolved(float spacing, float wavenumber) {
  return 1.0 - smoothstep(0.2, 0.5, spacing * wavenumber / 6.2831853);
}`;

const VERTEX = /* glsl */ `
uniform vec4 waves[max(WAVES, 1)];
uniform float rest[max(WAVES, 1)];
uniform vec2 centre;
uniform float meanLevel, stretch;
varying vec3 place;
varying vec2 offset, slope;
varying float hidden; // slope variance of the waves that the mesh cannot show
${RESOLVED}
void main() {
  offset = position.xy * stretch;
  float spacing = length(offset) * 6.2831853 / float(SPOKES);
  float height = 0.0;
  slope = vec2(0.0);
  hidden = 0.0;
  for (int i = 0; i < WAVES; i++) {
    float k = length(waves[i].yz), share = resolved(spacing, k), amplitude = waves[i].x * share;
    #if SHADED == 0
      if (share <= 0.0) { hidden += rest[i]; break; }
    #endif
    float phase = dot(waves[i].yz, offset) + waves[i].w;
    height += amplitude * cos(phase);
    slope -= amplitude * sin(phase) * waves[i].yz;
    hidden += 0.5 * (1.0 - share * share) * pow(waves[i].x * k, 2.0);
  }
  place = vec3(centre + offset, meanLevel + height);
  gl_Position = projectionMatrix * viewMatrix * vec4(place, 1.0);
}`;

const FRAGMENT = /* glsl */ `
uniform vec4 waves[max(WAVES, 1)];
uniform float ripples, horizonDistance;
varying vec3 place;
varying vec2 offset, slope;
varying float hidden;
${MEDIUM}
${RESOLVED}

// Slopes of short ripples close to the camera: a visual effect for waves below the spectrum.
vec2 shortRipples(vec2 p) {
  vec2 sum = vec2(0.0);
  float angle = 0.4, k = 4.3, weight = 1.0;
  for (int i = 0; i < 7; i++) {
    vec2 along = vec2(cos(angle), sin(angle));
    sum += weight * along * cos(k * dot(along, p) + sqrt(9.81 * k) * seconds + 1.7 * float(i) + 2.0 * sin(0.37 * k * dot(along.yx, p)));
    angle += 2.4;
    k *= 1.31;
    weight *= 0.88;
  }
  return 0.42 * sum;
}

float fresnelInto(float cosine, float deviation) {
  // Mean over a rough surface: Bruneton, Neyret & Holzschuch 2010, Real-time realistic ocean lighting, eq. 21
  return 0.02 + 0.98 * pow(1.0 - cosine, 5.0 * exp(-2.69 * deviation)) / (1.0 + 22.7 * pow(deviation, 1.5));
}

void main() {
  vec2 tilt = slope;
  float variance = hidden + ripples;
  float range = distance(cameraPosition, place);
  #if SHADED > 0
    vec2 across = dFdx(offset), along = dFdy(offset);
    float footprint = sqrt(length(across) * length(along)) + 0.15 * max(length(across), length(along));
    tilt = vec2(0.0);
    variance = ripples;
    for (int i = 0; i < WAVES; i++) {
      float k = length(waves[i].yz);
      float share = i < SHADED ? resolved(footprint, k) : 0.0;
      tilt -= share * waves[i].x * sin(dot(waves[i].yz, offset) + waves[i].w) * waves[i].yz;
      variance += 0.5 * (1.0 - share * share) * pow(waves[i].x * k, 2.0);
    }
  #endif
  #ifdef FINE
    float close = exp(-range / 25.0);
    tilt += close * sqrt(ripples) * shortRipples(place.xy);
    variance -= 0.6 * close * ripples;
  #endif
  vec3 up = normalize(vec3(-tilt, 1.0)), view = (cameraPosition - place) / max(range, 1e-4);
  vec3 colour;
  float cover;
  if (cameraPosition.z > waterLevel) {
    float cosine = clamp(dot(up, view), 0.02, 1.0);
    cover = clamp(fresnelInto(cosine, sqrt(variance)), 0.0, 1.0);
    vec3 mirrored = reflect(-view, up);
    mirrored.z = abs(mirrored.z) + 0.5 * sqrt(variance);
    colour = cover * skyOf(normalize(mirrored));
    // Fraction of facets that reflect the sun, for a normal distribution of slopes (Cox & Munk 1954).
    vec3 half_ = normalize(view + sunDirection);
    vec2 off = -half_.xy / max(half_.z, 0.05) - tilt;
    float facets = exp(-0.5 * dot(off, off) / variance) / (6.2831853 * variance);
    float glitter = facets * (0.02 + 0.98 * pow(1.0 - clamp(dot(half_, view), 0.0, 1.0), 5.0));
    colour += sunColour * min(3.1416 * glitter / (4.0 * pow(max(half_.z, 0.2), 4.0) * max(cosine, 0.15)), 12.0) * step(0.0, sunDirection.z);
    float haze = 1.0 - exp(-pow(range / horizonDistance, 1.5));
    colour = mix(colour, horizon, haze);
    cover = mix(cover, 1.0, haze);
  } else {
    float cosine = clamp(-dot(up, view), 0.0, 1.0);
    float sine2 = 1.777 * (1.0 - cosine * cosine); // by Snell's law, 1.333²
    float mirror = 1.0;
    if (sine2 < 1.0) {
      float beyond = sqrt(1.0 - sine2);
      float s = (1.333 * cosine - beyond) / (1.333 * cosine + beyond), p = (1.333 * beyond - cosine) / (1.333 * beyond + cosine);
      mirror = 0.5 * (s * s + p * p); // Fresnel's equations, unpolarised light
    }
    mirror = mix(mirror, smoothstep(0.72, 0.60, cosine), min(1.0, 8.0 * sqrt(variance))); // a rough surface blurs the rim
    vec3 out_ = refract(-view, -up, 1.333);
    if (dot(out_, out_) < 0.5) out_ = vec3(-view.xy, 0.05);
    vec3 sky = skyOf(normalize(out_)) + sunColour * 5.0 * pow(max(dot(normalize(out_), sunDirection), 0.0), 160.0);
    vec3 down = reflect(-view, -up);
    vec3 below = scattered(0.0, vec3(down.xy, -abs(down.z)), 1e5);
    float through = 0.72; // the rest of the window shows the scene behind it without refraction
    colour = mirror * below + (1.0 - mirror) * through * sky;
    cover = mirror + (1.0 - mirror) * through;
    colour = colour * exp(-beam * range) + cover * scattered(waterLevel - cameraPosition.z, -view, range);
  }
  gl_FragColor = vec4(colour, cover);
}`;
