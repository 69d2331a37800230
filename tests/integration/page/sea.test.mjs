// The page's sea compared with the simulator's sea: SEA is the path of a file that the Python test wrote.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { MAX_WAVES, murkiness, Sea } from "../../../src/skerry/ui/static/js/scene/sea.js";

const { water, samples, optics } = JSON.parse(readFileSync(process.env.SEA, "utf8"));
const sea = new Sea(water);

test("the waves have the same height as in the physics at every position and time", () => {
  // Both sum the same cosines; the physics takes them from a polynomial that is right to 1e-7 or better.
  for (const { x, y, time, height } of samples) {
    assert.ok(
      Math.abs(sea.height(x, y, time) - height) < 1e-5,
      `${sea.height(x, y, time)} is not ${height} at ${x}, ${y}, ${time} s`,
    );
  }
});

test("the phases for the shader give the same height as the sum of waves", () => {
  // The numbers are single precision: 32 waves of at most half a metre, each right to 1e-6 of its phase.
  const [x, y, time] = [812.5, -433.25, 86_400];
  const numbers = new Float32Array(4 * sea.waves.length);
  sea.phases(x, y, time, numbers);
  let height = water.level;
  for (let i = 0; i < sea.waves.length; i++) height += numbers[4 * i] * Math.cos(numbers[4 * i + 3]);
  assert.ok(Math.abs(height - sea.height(x, y, time)) < 1e-5);
});

test("daylight decreases with depth as in the simulator's cameras", () => {
  // K_d from a and b by the same formula of Kirk's; rounding alone differs.
  optics.daylight.forEach((value, i) => assert.ok(Math.abs(sea.optics.daylight[i] - value) < 1e-9 + 1e-6 * value));
  optics.returned.forEach((value, i) => assert.ok(Math.abs(sea.optics.returned[i] - value) < 1e-9 + 1e-6 * value));
});

test("the largest waves of a sea with many waves are drawn", () => {
  const waves = Array.from({ length: 100 }, (_, i) => [i, 0.1, 0, 1, 0]);
  const rich = new Sea({ ...water, waves });
  assert.equal(rich.waves.length, MAX_WAVES);
  assert.equal(Math.min(...rich.waves.map(([amplitude]) => amplitude)), 100 - MAX_WAVES);
});

test("the clarity slider goes from real water to air", () => {
  assert.equal(murkiness(0), 1);
  assert.equal(murkiness(1), 0);
});

test("the water level approaches the level of the state without overshoot", () => {
  const tidal = new Sea({ ...water, level: 0 });
  for (let i = 0; i < 40; i++) tidal.approach(0.5, 0.05);
  assert.ok(Math.abs(tidal.level - 0.5) < 1e-4 && tidal.level <= 0.5);
  tidal.approach(-2, 10); // a page that slept
  assert.ok(Math.abs(tidal.level + 2) < 1e-12);
});
