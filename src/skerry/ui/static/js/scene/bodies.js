// @ts-check
// Bodies with shapes: robots with their moving parts, movable objects, and static objects.

import {
  Box3,
  BufferAttribute,
  BoxGeometry,
  CapsuleGeometry,
  Color,
  CylinderGeometry,
  Group,
  Mesh,
  MeshLambertMaterial,
  MeshStandardMaterial,
  Quaternion,
  SphereGeometry,
  Vector3,
} from "../../vendor/three.module.js";
import { meshGeometry } from "./assets.js";
import { submerge } from "./medium.js";

const RPM = (2 * Math.PI) / 60; // rad/s

/**
 * @typedef {object} Spinner
 * @property {Group} pivot
 * @property {Vector3} axis
 * @property {string} robot
 * @property {string} actuator
 * @property {number} angle rad
 */

export class Bodies {
  group = new Group();
  /** Bodies by their index in the stream of poses. @type {Group[]} */
  bodies = [];
  /** @type {Spinner[]} */
  #spinners = [];
  /** @type {Map<string, Promise<import("../../vendor/three.module.js").BufferGeometry>>} */
  #geometries = new Map();
  /** @type {Map<string, MeshStandardMaterial | MeshLambertMaterial>} */
  #materials = new Map();

  /**
   * @param {import("./medium.js").Medium} medium
   * @param {import("./quality.js").Quality} quality
   */
  constructor(medium, quality) {
    this.medium = medium;
    this.quality = quality;
    this.group.name = "bodies";
  }

  /** @param {any} scene */
  async load(scene) {
    const owners = new Map(scene.objects?.map((/** @type {any} */ object) => [object.body, object.name]));
    const made = scene.bodies.map(async (/** @type {any} */ body) => {
      const group = await this.#make(body.shapes, body.robot);
      group.userData = { body: body.id, robot: body.robot, owner: body.robot ?? owners.get(body.id) ?? null };
      group.visible = false; // until its pose is known
      this.bodies[body.id] = group;
      this.group.add(group);
    });
    const still = scene.statics.map(async (/** @type {any} */ thing) => {
      const group = await this.#make(thing.shapes, null);
      group.position.fromArray(thing.position);
      group.quaternion.fromArray(thing.orientation);
      this.group.add(group);
    });
    await Promise.all([...made, ...still]);
  }

  /** Create a mesh with the usual material, to compile its shader in advance. */
  exampleMesh() {
    return new Mesh(whiten(new BoxGeometry(1, 1, 1)), this.#material({ colour: [1, 1, 1, 1] }));
  }

  /** @param {import("./poses.js").Poses} poses */
  place({ current }) {
    this.bodies.forEach((body, i) => {
      if (7 * i + 7 > current.length) return;
      body.position.fromArray(current, 7 * i);
      body.quaternion.fromArray(current, 7 * i + 3);
      body.visible = true;
    });
  }

  /**
   * Turn the parts that the physics does not turn, such as propellers, with the speed of their actuators.
   * @param {any} state latest state from the server
   * @param {number} seconds simulated time since the last call
   */
  spin(state, seconds) {
    for (const spinner of this.#spinners) {
      const speed = state?.robots[spinner.robot]?.actuators[spinner.actuator]?.value ?? 0;
      spinner.angle = (spinner.angle + speed * RPM * seconds) % (2 * Math.PI);
      spinner.pivot.quaternion.setFromAxisAngle(spinner.axis, spinner.angle);
    }
  }

  /**
   * Compute the present pose of a frame that is fixed to a body.
   * @param {{body: number, position: number[], orientation: number[]}} frame
   * @param {Vector3} position
   * @param {Quaternion} orientation
   */
  locate(frame, position, orientation) {
    const body = this.bodies[frame.body];
    if (!body) return false;
    position.fromArray(frame.position).applyQuaternion(body.quaternion).add(body.position);
    orientation.fromArray(frame.orientation).premultiply(body.quaternion);
    return body.visible;
  }

  /** Return the longest side of a body, m. @param {number | undefined} number */
  size(number) {
    const body = number === undefined ? undefined : this.bodies[number];
    return body ? Math.max(...new Box3().setFromObject(body).getSize(new Vector3()).toArray()) : undefined;
  }

  dispose() {
    for (const geometry of this.#geometries.values())
      geometry.then(
        (each) => each.dispose(),
        () => {},
      );
    for (const material of this.#materials.values()) material.dispose();
  }

  /**
   * @param {any[]} shapes
   * @param {string | null} robot
   */
  async #make(shapes, robot) {
    const group = new Group();
    const meshes = await Promise.all(shapes.map((shape) => this.#mesh(shape)));
    meshes.forEach((mesh, i) => group.add(this.#mount(mesh, shapes[i].spin, robot)));
    return group;
  }

  /**
   * Mount a turning part on a pivot.
   * @param {Mesh} mesh
   * @param {{actuator: string | null, axis: number[], origin: number[]} | undefined} spin
   * @param {string | null} robot
   */
  #mount(mesh, spin, robot) {
    if (!spin?.actuator || !robot) return mesh;
    const pivot = new Group();
    pivot.position.fromArray(spin.origin);
    mesh.position.sub(pivot.position);
    pivot.add(mesh);
    this.#spinners.push({
      pivot,
      axis: new Vector3().fromArray(spin.axis).normalize(),
      robot,
      actuator: spin.actuator,
      angle: 0,
    });
    return pivot;
  }

  /** @param {any} shape */
  async #mesh(shape) {
    const mesh = new Mesh(await this.#geometry(shape), this.#material(shape));
    mesh.position.fromArray(shape.position);
    mesh.quaternion.fromArray(shape.orientation);
    mesh.castShadow = mesh.receiveShadow = true;
    return mesh;
  }

  /** @param {any} shape */
  #geometry(shape) {
    const key = JSON.stringify([shape.kind, shape.asset, shape.size, shape.radius, shape.length]);
    let geometry = this.#geometries.get(key);
    if (!geometry) this.#geometries.set(key, (geometry = makeGeometry(shape, this.quality.level > 0 ? 40 : 20).then(whiten)));
    return geometry;
  }

  /** @param {any} shape */
  #material({ colour: [red, green, blue, opacity], glow = 0 }) {
    const key = [red, green, blue, opacity, glow].join();
    let material = this.#materials.get(key);
    if (!material) {
      const color = new Color().setRGB(red, green, blue, "srgb");
      const settings = {
        color,
        transparent: opacity < 1,
        opacity,
        vertexColors: true,
        emissive: color,
        emissiveIntensity: glow,
      };
      material = submerge(
        this.quality.fine
          ? new MeshStandardMaterial({ ...settings, roughness: 0.42, metalness: 0.04 })
          : new MeshLambertMaterial(settings),
        this.medium,
      );
      this.#materials.set(key, material);
    }
    return material;
  }
}

/**
 * Add white vertex colours to a geometry without colours, so that one shader program draws all bodies.
 * @param {import("../../vendor/three.module.js").BufferGeometry} geometry
 */
function whiten(geometry) {
  const { count } = geometry.getAttribute("position");
  if (!geometry.hasAttribute("color")) geometry.setAttribute("color", new BufferAttribute(new Uint8Array(3 * count).fill(255), 3, true));
  return geometry;
}

/**
 * Create the geometry of a shape. The axis of round shapes is z.
 * @param {any} shape
 * @param {number} around number of segments of a circle
 */
async function makeGeometry(shape, around) {
  switch (shape.kind) {
    case "box":
      return new BoxGeometry(...shape.size);
    case "sphere":
      return new SphereGeometry(shape.radius, around, Math.ceil(around / 2));
    case "cylinder":
      return new CylinderGeometry(shape.radius, shape.radius, shape.length, around).rotateX(Math.PI / 2);
    case "capsule":
      return new CapsuleGeometry(shape.radius, shape.length, Math.ceil(around / 4), around).rotateX(Math.PI / 2);
    default:
      return meshGeometry(shape.asset);
  }
}
