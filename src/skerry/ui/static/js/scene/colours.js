// @ts-check
// Colours of the 3-D view: a palette for colour-blind viewers, and a rainbow for heights.

/** Okabe & Ito 2008, Color Universal Design. */
export const PALETTE = Object.freeze({
  orange: 0xe69f00,
  sky: 0x56b4e9,
  green: 0x009e73,
  yellow: 0xf0e442,
  blue: 0x0072b2,
  vermilion: 0xd55e00,
  purple: 0xcc79a7,
  white: 0xffffff,
});

/** GLSL of `rainbow(x)`, x from 0 to 1: the published polynomial of Turbo (Mikhailov 2019), a rainbow without false edges. */
export const RAINBOW = /* glsl */ `
vec3 rainbow(float x) {
  x = clamp(x, 0.0, 1.0);
  vec4 a = vec4(1.0, x, x * x, x * x * x);
  vec2 b = a.zw * a.z;
  return clamp(vec3(
    dot(a, vec4(0.13572138, 4.61539260, -42.66032258, 132.13108234)) + dot(b, vec2(-152.94239396, 59.28637943)),
    dot(a, vec4(0.09140261, 2.19418839, 4.84296658, -14.18503333)) + dot(b, vec2(4.27729857, 2.82956604)),
    dot(a, vec4(0.10667330, 12.64194608, -60.58204836, 110.36276771)) + dot(b, vec2(-89.90310912, 27.34824973))), 0.0, 1.0);
}`;
