// @ts-check
// The 3-D view: connects viewport, world, camera, overlays and tools, and draws the frames.

import { Bodies } from "./bodies.js";
import { CameraRig } from "./camera.js";
import { Drift } from "./drift.js";
import { Labels } from "./labels.js";
import { Overlays } from "./overlays.js";
import { Pointer } from "./pointer.js";
import { Poses } from "./poses.js";
import { Sea } from "./sea.js";
import { Viewport } from "./viewport.js";
import { Terrain } from "./terrain.js";
import { Tools } from "./tools.js";
import { Water } from "./water.js";

const POSES_HZ = 30; // rate of the stream of poses

export class View {
  /** Description of the present scene from the server. @type {any} */
  scene = null;
  /** The latest state. @type {any} */
  state = null;
  poses = new Poses();
  /** Latest segments of all ropes. @type {Float32Array | null} */
  ropeEnds = null;
  /** @type {Terrain | null} */
  terrain = null;
  /** @type {Water | null} */
  water = null;

  /** Fixed simulated time of the sea, s, for reproducible pictures. @type {number | null} */
  #frozen = null;
  #lastDrawn = 0;
  #lastTime = 0;
  #loading = 0;

  /**
   * @param {object} parts
   * @param {import("../store.js").Store} parts.store
   * @param {import("../net.js").Net} parts.net
   * @param {HTMLCanvasElement} parts.canvas
   * @param {HTMLElement} parts.labels
   * @param {(text: string | null) => void} parts.showNotice shows an error to the operator; null removes it
   */
  constructor({ store, net, canvas, labels, showNotice }) {
    this.store = store;
    this.net = net;
    this.viewport = new Viewport(canvas, showNotice);
    this.labels = new Labels(labels);
    this.drift = new Drift(this.viewport.medium);
    if (this.viewport.quality.fine) this.viewport.scene.add(this.drift.object);
    this.bodies = new Bodies(this.viewport.medium, this.viewport.quality);
    this.rig = new CameraRig({ camera: this.viewport.camera, store });
    this.tools = new Tools(this);
    this.pointer = new Pointer({ canvas, rig: this.rig, tools: this.tools });
    this.overlays = new Overlays(this);
    this.viewport.warmUp(this.bodies.exampleMesh());
    const frozen = new URLSearchParams(location.search).get("freeze");
    if (frozen !== null) this.#frozen = Number(frozen);
    net.subscribe("pose", POSES_HZ);
    store.on("stream:pose", (message) => this.poses.push(message, performance.now()));
    store.on("state", (state) => (this.state = state));
    store.on("clarity", (clarity) => this.viewport.medium.setClarity(clarity));
    store.on("show:water", () => this.#showWater());
  }

  /** Robot that the operator has chosen. */
  get chosen() {
    const name = this.store.get("robot");
    return this.scene?.robots.find((/** @type {any} */ robot) => robot.name === name) ?? null;
  }

  /**
   * Load a scene in place of the present one.
   * @param {any} scene
   */
  async load(scene) {
    const number = ++this.#loading;
    const { viewport } = this;
    const terrain = new Terrain(viewport.medium, viewport.quality);
    const bodies = new Bodies(viewport.medium, viewport.quality);
    const sea = scene.water ? new Sea(scene.water) : null;
    const water = sea ? new Water(viewport.medium, sea, viewport.quality) : null;
    const meshes = Promise.all([terrain.load(scene.terrain), bodies.load(scene)]);
    if (!this.scene && water) viewport.warmUp(water.mesh); // while the meshes are loading
    await meshes;
    if (number !== this.#loading) return water?.dispose(); // another scene arrived in the meantime
    this.#clear();
    viewport.light(scene.daylight);
    viewport.medium.setSea(sea);
    viewport.medium.setClarity(this.store.get("clarity"));
    this.scene = scene;
    this.terrain = terrain;
    this.bodies = bodies;
    viewport.scene.add(terrain.group, bodies.group);
    this.water = water;
    if (water) viewport.scene.add(water.mesh);
    this.#showWater();
    if (!this.chosen) this.store.set("robot", scene.robots[0]?.name ?? null);
    this.rig.start(scene.start_view, { level: scene.water?.level, size: bodies.size(scene.robots[0]?.body) });
    this.overlays.load();
  }

  /**
   * @param {number} now ms
   * @returns {boolean} whether a scene has been drawn
   */
  draw(now) {
    if (!this.scene) return false;
    const seconds = Math.min(0.25, (now - this.#lastDrawn) / 1000);
    this.#lastDrawn = now;
    const { viewport } = this;
    if (this.poses.sample(performance.now())) this.bodies.place(this.poses);
    const passed = this.#frozen === null ? Math.max(0, this.poses.time - this.#lastTime) : 0;
    this.#lastTime = this.poses.time;
    viewport.medium.uniforms.seconds.value = this.#frozen ?? this.poses.time;
    if (this.state) viewport.medium.sea?.approach(this.state.water_level, seconds);
    this.bodies.spin(this.state, passed);
    this.rig.update(seconds, this);
    this.overlays.update(passed);
    this.water?.update(viewport.camera.position);
    this.drift.update(viewport.camera.position);
    viewport.draw(this.rig.focus, seconds);
    this.labels.draw(viewport.camera);
    return true;
  }

  #showWater() {
    if (this.water) this.water.mesh.visible = this.store.get("show:water");
  }

  #clear() {
    const { viewport } = this;
    viewport.scene.remove(this.bodies.group);
    this.bodies.dispose();
    if (this.terrain) {
      viewport.scene.remove(this.terrain.group);
      this.terrain.dispose();
    }
    if (this.water) {
      viewport.scene.remove(this.water.mesh);
      this.water.dispose();
      this.water = null;
    }
    this.poses.clear();
    this.#lastTime = 0;
  }
}
