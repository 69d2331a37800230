// @ts-check
// GLSL of smooth noise, for clouds and patterns of the terrain.

/** GLSL function `smoothNoise(p)`, 0…1, with features of size 1. */
export const NOISE = /* glsl */ `
float hashOf(vec2 p) { return fract(sin(dot(p, vec2(127.1, 311.7))) * 43758.5453); }
float smoothNoise(vec2 p) {
  vec2 i = floor(p), f = fract(p);
  f = f * f * (3.0 - 2.0 * f);
  float south = mix(hashOf(i), hashOf(i + vec2(1, 0)), f.x), north = mix(hashOf(i + vec2(0, 1)), hashOf(i + vec2(1, 1)), f.x);
  return mix(south, north, f.y);
}`;
