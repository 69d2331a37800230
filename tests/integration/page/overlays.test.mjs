// Overlays of the 3-D view read the settings of their streams: rays with their hits, and particles in force fields.

import assert from "node:assert/strict";
import test from "node:test";

const scene = "../../../src/skerry/ui/static/js/scene";
const { Rays } = await import(`${scene}/rays.js`);
const { Field } = await import(`${scene}/simple_overlays.js`);

const VIEWER = {
  draw_rays: true,
  draw_hits: true,
  ray_thickness: 0,
  hits_size: 0.1,
  hits_lifetime: 6,
  use_rainbow: true,
  min_height: null,
  max_height: null,
  max_particles_multiplier: 100,
};
const ends = new Float32Array([0, 0, 0, 1, 0, -5, 0, 0, 0, 0, 1, -9, 0, 0, 0, 9, 9, -9]);
const colours = new Uint8Array([255, 220, 80, 160, 255, 220, 80, 160, 120, 160, 200, 60]); // two hits and a miss

/** Show two readings of three rays with the given settings. */
function shown(viewer) {
  const rays = new Rays({ poses: { time: 2 } });
  for (const time of [1, 2])
    rays.receive({ ends, colours, count: 3, time }, { name: "rays/sam/mbes", viewer: { ...VIEWER, ...viewer } });
  rays.update();
  const lines = rays.object.children.find(({ isMesh }) => isMesh);
  return { rays, lines, hits: rays.hits.get("rays/sam/mbes") };
}

test("rays and hits are drawn with the settings of the viewer", () => {
  const { lines, hits } = shown({ ray_thickness: 0.05, hits_size: 0.4, hits_lifetime: 3 });
  assert.equal(lines.geometry.instanceCount, 3);
  assert.equal(lines.material.uniforms.metres.value, 0.05);
  assert.equal(hits.filled, 4);
  assert.equal(hits.uniforms.metres.value, 0.4);
  assert.equal(hits.uniforms.life.value, 3);
  assert.equal(hits.uniforms.clock.value, 2);
  assert.equal(hits.uniforms.most.value, 48);
});

test("rays and hits are drawn only if they are configured", () => {
  assert.equal(shown({ draw_rays: false }).lines, undefined);
  assert.ok(shown({ draw_rays: false }).hits);
  assert.equal(shown({ draw_hits: false }).hits, undefined);
  assert.ok(shown({ draw_hits: false }).lines);
});

test("hits are kept for as many readings as the multiplier says", () => {
  const { hits } = shown({ max_particles_multiplier: 1 });
  assert.equal(hits.capacity, 3);
  assert.equal(hits.filled, 3);
});

test("hits are coloured by height between the configured heights, or red", () => {
  const between = shown({ min_height: -20, max_height: 0 }).hits.uniforms;
  assert.equal(between.byHeight.value, true);
  assert.deepEqual(between.heights.value.toArray(), [-20, 0]);
  assert.deepEqual(shown({}).hits.uniforms.heights.value.toArray(), [-9, -5]);
  const red = shown({ use_rainbow: false }).hits.uniforms;
  assert.equal(red.byHeight.value, false);
  assert.equal(red.tint.value.getHex(), 0xff0000);
});

test("a cleared overlay of rays is empty", () => {
  const { rays } = shown({});
  rays.clear();
  assert.equal(rays.object.children.length, 0);
  assert.equal(rays.hits.size, 0);
});

test("particles of a field have their size, their colours and their trails", () => {
  const field = new Field();
  const particles = {
    count: 2,
    positions: new Float32Array([1, 2, 3, 4, 5, 6]),
    ages: new Float32Array([0.25, 0.5]),
    colours: new Uint8Array([230, 60, 40, 255, 70, 140, 255, 255]),
  };
  field.receive(particles, { name: "particles", radius: 0.3 });
  field.receive({ ends, colours, count: 3 }, { name: "particle_trails", width: 0.3 });
  const { geometry } = field.points.object;
  assert.equal(geometry.drawRange.count, 2);
  assert.deepEqual(Array.from(geometry.getAttribute("shade").array.slice(0, 6)), [230, 60, 40, 70, 140, 255]);
  assert.equal(field.points.uniforms.byColour.value, true);
  assert.equal(field.points.uniforms.metres.value, 0.6);
  assert.equal(field.trails.object.geometry.instanceCount, 3);
  assert.equal(field.trails.object.material.uniforms.metres.value, 0.3);
  field.clear();
  assert.equal(geometry.drawRange.count + field.trails.object.geometry.instanceCount, 0);
});
