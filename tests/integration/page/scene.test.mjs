// Calculations of the 3-D view: poses, camera, ground, normals, frames, arrows, quality.

import assert from "node:assert/strict";
import test from "node:test";

const scene = "../../../src/skerry/ui/static/js/scene";
const { Poses } = await import(`${scene}/poses.js`);
const { approach, eye, fly, pan, orbitOf, turn, zoom } = await import(`${scene}/orbit.js`);
const { Grid } = await import(`${scene}/ground.js`);
const { creasedNormals } = await import(`${scene}/normals.js`);
const { worldPoses } = await import(`${scene}/transforms.js`);
const { arrows } = await import(`${scene}/arrows.js`);
const { lastSegments } = await import(`${scene}/rope_ends.js`);
const { chooseQuality } = await import(`${scene}/quality.js`);
const { FIRST_VALUES, OVERLAYS } = await import(`${scene}/switches.js`);

const near = (actual, expected, tolerance = 1e-9) => {
  assert.equal(actual.length, expected.length);
  actual.forEach((value, i) =>
    assert.ok(Math.abs(value - expected[i]) <= tolerance, `${actual} is not near ${expected}`),
  );
};
const pose = (x, angle = 0) => new Float32Array([x, 0, 0, 0, 0, Math.sin(angle / 2), Math.cos(angle / 2)]);

test("poses are drawn half way after half the gap", () => {
  const poses = new Poses();
  poses.push({ time: 1, poses: pose(0) }, 1000);
  poses.sample(1000);
  poses.push({ time: 1.1, poses: pose(1, 0.2) }, 1100);
  poses.sample(1150);
  near([poses.time, poses.current[0]], [1.05, 0.5], 1e-6);
  near([2 * Math.atan2(poses.current[5], poses.current[6])], [0.1], 1e-4);
  poses.sample(9000);
  near([poses.time, poses.current[0]], [1.1, 1], 1e-6);
});

test("a teleported body is not interpolated", () => {
  const poses = new Poses();
  poses.push({ time: 1, poses: pose(0) }, 1000);
  poses.sample(1000);
  poses.push({ time: 1.1, poses: pose(100) }, 1100);
  poses.sample(1110);
  assert.equal(poses.current[0], 100);
});

test("a reset shows the first pose without interpolation", () => {
  const poses = new Poses();
  poses.push({ time: 50, poses: pose(3) }, 1000);
  poses.sample(1000);
  poses.push({ time: 0, poses: pose(1) }, 1100);
  poses.sample(1101);
  near([poses.time, poses.current[0]], [0, 1]);
});

test("the camera turns around its focus and pans around its own position", () => {
  const start = orbitOf([10, 0, 0], [0, 0, 0]);
  near(eye(turn(start, Math.PI / 2, 0)), [0, 10, 0], 1e-9);
  const panned = pan(start, 0.3, -0.2);
  near(eye(panned), [10, 0, 0], 1e-9);
  assert.ok(panned.focus[2] < 0, "panned down lowers the focus");
});

test("flying forward moves the camera along its view", () => {
  const start = orbitOf([10, 0, 0], [0, 0, 0]);
  near(eye(fly(start, 2, 1, 3)), [8, 1, 3], 1e-9);
});

test("zooming keeps its limits, and approaching takes the shorter rotation", () => {
  const start = orbitOf([10, 0, 0], [0, 0, 0]);
  assert.equal(zoom(start, 1e-9).distance, 0.4);
  const there = { ...start, yaw: 1.9 * Math.PI };
  near([approach(start, there, 0.5).yaw], [-0.05 * Math.PI], 1e-9);
});

const slope = new Grid(
  { rows: 3, columns: 4, origin: [-1, -2], spacing: [2, 1] },
  Float32Array.from({ length: 12 }, (_, i) => 0.5 * (-1 + 2 * (i % 4)) - 10), // z = x/2 − 10
);

test("heights between nodes lie on the plane of the nodes, and are NaN outside the grid", () => {
  near([slope.height(0.3, -1.2)], [0.15 - 10], 1e-6);
  assert.ok(Number.isNaN(slope.height(-1.1, 0)));
  near(slope.normal(1, 1), [-1 / Math.sqrt(5), 0, 2 / Math.sqrt(5)], 1e-6);
});

test("a ray meets the ground where it should, to a millimetre", () => {
  near([slope.intersect([1, -1, 5], [0, 0, -1])], [14.5], 2e-3);
  assert.ok(Number.isNaN(slope.intersect([1, -1, 5], [0, 0, 1])));
});

test("a box keeps its edges and a gentle bend is smooth", () => {
  const corner = new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]);
  const sharp = creasedNormals(corner, new Uint32Array([0, 1, 2, 0, 3, 1]));
  near(Array.from(sharp.slice(0, 3)), [0, 0, 1], 1e-6);
  const bent = new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0.1]);
  const smooth = creasedNormals(bent, new Uint32Array([0, 1, 2, 1, 3, 2]));
  near(Array.from(smooth.slice(3, 6)), Array.from(smooth.slice(9, 12)), 1e-6);
});

test("poses of frames are composed with their parents, in any order of the messages", () => {
  const quarter = [0, 0, Math.SQRT1_2, Math.SQRT1_2];
  const found = worldPoses([
    { parent: 1, child: 2, pose: [1, 0, 0, 0, 0, 0, 1] },
    { parent: 0, child: 1, pose: [5, 0, 0, ...quarter] },
  ]);
  near(found.get(2).slice(0, 3), [5, 1, 0], 1e-9);
  near(found.get(2).slice(3), quarter, 1e-9);
});

test("an arrow is a shaft and four barbs that end at its tip", () => {
  const [lines, shades] = arrows(new Float32Array([0, 0, 0, 0, 0, 2]), new Uint8Array([1, 2, 3, 4]));
  assert.equal(lines.length, 30);
  for (let i = 0; i < 5; i++) near(Array.from(lines.slice(6 * i + 3, 6 * i + 6)), [0, 0, 2], 1e-6);
  near(Array.from(shades.slice(16)), [1, 2, 3, 4]);
});

test("a software renderer gets the lowest quality, unless the address selects another", () => {
  assert.equal(chooseQuality("", "ANGLE (Google, Vulkan (SwiftShader Device))").level, 0);
  assert.equal(chooseQuality("", "NVIDIA GeForce").level, 2);
  assert.equal(chooseQuality("?q=1", "llvmpipe").level, 1);
  assert.equal(chooseQuality("?q=7", "llvmpipe").level, 0);
});

test("every overlay has a switch with an initial value", () => {
  for (const { name, shown } of OVERLAYS) assert.equal(FIRST_VALUES[`show:${name}`], shown);
});

test("a rope ends where the next segment does not continue it", () => {
  const segment = (from, to) => [from, 0, 0, to, 0, 0];
  assert.deepEqual(lastSegments(new Float32Array([...segment(0, 1), ...segment(1, 2), ...segment(5, 6)])), [1, 2]);
  assert.deepEqual(lastSegments(new Float32Array()), []);
});
